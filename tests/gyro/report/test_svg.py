from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from gyro.report.svg import figure_to_svg
from tests.gyro.report.samples import charts


@pytest.mark.parametrize("name", charts())
def test_charts_as_files(name: str) -> None:
    """The same drawing with the same names, and nothing from elsewhere."""
    chart = charts()[name]
    file = ElementTree.fromstring(figure_to_svg(chart))
    space = "{http://www.w3.org/2000/svg}"
    assert file.tag == f"{space}svg"
    page = ElementTree.fromstring(chart.to_html())
    drawn = page.find("svg")
    assert drawn is not None
    assert [e.attrib for e in file.find(f"{space}g") or []] == [e.attrib for e in drawn]
    texts = [text.text for text in file.iter(f"{space}text")]
    assert texts[0] == chart.title
    names = [each.name for each in chart.series] if len(chart.series) > 1 else []
    assert [text.text for text in file.findall(f"{space}text[@class='name']")] == names
    style = file.find(f"{space}style")
    assert style is not None
    assert style.text is not None
    assert "prefers-color-scheme: dark" in style.text
    assert "url(" not in style.text
    used = {name for e in file.iter() for name in (e.get("class") or "").split() if re.fullmatch(r"[sq]\d", name)}
    assert all(f".{name} " in style.text for name in used)
