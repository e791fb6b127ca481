from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from gyro.report.markup import Markup, element, join, part, render


def test_elements_are_escaped() -> None:
    made = element("text", "<&>", class_="a b", data_tip="\"]]>'", x=0.5)
    assert made == '<text class="a b" data-tip="&#34;]]&gt;&#39;" x="0.5">&lt;&amp;&gt;</text>'
    assert element("g", made + element("path", d="M0 0")) == f'<g>{made}<path d="M0 0"/></g>'


def test_markup_is_not_escaped_twice() -> None:
    assert join(["<", Markup("<b>"), element("i", "&")], " ") == "&lt; <b> <i>&amp;</i>"


def test_templates_escape_what_they_are_given() -> None:
    made = part("tables.html", "plain_table", caption="'<c>'", head=["<h>", "b"], rows=[["<r>", Markup("<i>1</i>")]])
    assert "<caption>&#39;&lt;c&gt;&#39;</caption>" in made
    assert '<th scope="col">&lt;h&gt;</th>' in made
    assert '<tr><th scope="row">&lt;r&gt;</th><td><i>1</i></td></tr>' in made


def test_what_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'title' is undefined"):
        render("page.html", facts=[], sections=[], style="", script="", shapes=[], today="")
