from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree

import pytest
from matplotlib.figure import Figure

from gyro.report.svg import adapt_to_dark, figure_to_svg
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


def test_a_drawing_of_matplotlib_on_dark_pages() -> None:
    """Each of its colours has another there; a drawing that has them is left as it is."""
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#0b62a8")
    axes.fill_between([0, 1], [0, 1], color="#b45309")
    drawing = io.BytesIO()
    figure.savefig(drawing, format="svg")
    adapted = adapt_to_dark(drawing.getvalue())
    style = ElementTree.fromstring(adapted)[0].text or ""
    assert '[style*="stroke: #0b62a8"]{stroke:#57aef4!important}' in style
    assert '[style*="fill: #b45309"]' in style
    assert '[style*="fill: #ffffff"]{fill:#1b2127!important}' in style
    assert adapt_to_dark(adapted) == adapted
    assert adapted.replace(f"<style>{style}</style>".encode(), b"") == drawing.getvalue()
