"""HTML and SVG for the page, with every value escaped.

render   a template of this folder, filled in
part     a macro of a template, called
element  one element of a drawing
join     pieces one after the other
read     a file of this folder

What they give is Markup, which is put into other markup as it is; any other text is escaped there. Templates are for
prose and tables, `element` for drawings, where Python works out every number.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["Markup", "element", "join", "part", "read", "render"]


def read(name: str) -> str:
    """The text of a file that lies beside this module."""
    return (files("gyro.report") / name).read_text(encoding="utf-8")


def render(template: str, **values: object) -> Markup:
    """A whole template with these values; one that is missing is an error."""
    return Markup(_environment().get_template(template).render(values))


def part(template: str, macro: str, **values: object) -> Markup:
    """One macro of a template with these values."""
    return Markup(getattr(_environment().get_template(template).module, macro)(**values))


def element(name: str, content: str = "", **attributes: object) -> Markup:
    """An element; `class_` is the attribute class, and data_tip is data-tip.

    >>> element("text", "R & D", class_="name", x=4)
    Markup('<text class="name" x="4">R &amp; D</text>')
    """
    named = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    written = join(Markup(' {}="{}"').format(key, value) for key, value in named)
    if not content:
        return Markup("<{}{}/>").format(name, written)
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, content)


def join(pieces: Iterable[str], between: str = "") -> Markup:
    """All pieces as one, those that are no markup escaped."""
    return Markup(between).join(pieces)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
