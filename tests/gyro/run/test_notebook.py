from __future__ import annotations

from xml.etree import ElementTree

from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.run.notebook import ordering_to_html
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag

BAG = Bag(("<b>", "&", "dog"), id="7")
STRINGS = [
    Hypothesis(("dog", "&", "<b>"), 1.5),
    Hypothesis(("dog", "<b>", "&"), 2.25),
    Hypothesis(("&", "dog", "<b>"), 3.0),
    Hypothesis(("&", "<b>", "dog"), 4.0),
    Hypothesis(("<b>", "dog", "&"), 5.0),
    Hypothesis(("<b>", "&", "dog"), 6.0),
]


def ordering(proved: bool, strings: list[Hypothesis] = STRINGS) -> Ordering:
    outcome = Outcome.ordered(BAG, 1.5, proved=proved, beta=10.0)
    return Ordering(Lattice.from_strings(BAG.words, strings), outcome)


def test_an_ordering_shows_its_best_strings_and_its_lattice() -> None:
    html = ordering(proved=True)._repr_html_()
    root = ElementTree.fromstring(f"<div>{html}</div>")  # whatever words there are, they are text
    rows = [[cell.text for cell in row] for row in root.iter("tr")]
    assert rows[0] == ["cost", "order"]
    assert rows[1:] == [[f"{h.cost:.2f}", " ".join(h.tokens)] for h in STRINGS[:5]]
    assert [element.tag for element in root.iter() if element.tag.endswith("}svg")] == [
        "{http://www.w3.org/2000/svg}svg"
    ]
    assert "The first is the optimum, proved. 3 tokens; " in html
    assert "within β = 10." in html


def test_what_is_not_proved_is_not_called_the_optimum() -> None:
    assert "The first is the best that was found." in ordering(proved=False)._repr_html_()


def test_of_a_large_lattice_it_says_what_is_drawn() -> None:
    words = tuple(f"w{n}" for n in range(40))
    strings = [Hypothesis(words, 1.0), Hypothesis(words[::-1], 2.0)]
    html = Ordering(Lattice.from_strings(words, strings), Outcome.ordered(Bag(words), 1.0))._repr_html_()
    assert " Drawn: the 10 best orders." in html
    assert "Drawn" not in ordering(proved=True)._repr_html_()


def test_a_bag_without_an_order_says_why() -> None:
    empty = Lattice.from_strings((), [])
    assert ordering_to_html(Ordering(empty, Outcome.failed(BAG, "a < b"))) == "<p>no order: a &lt; b</p>"
    assert "the lattice is empty" in ordering_to_html(Ordering(empty, Outcome.ordered(BAG, 0.0)))


def test_the_empty_string_is_an_order() -> None:
    html = Ordering(Lattice.from_strings((), [Hypothesis((), 0.5)]), Outcome.ordered(Bag(()), 0.5))._repr_html_()
    assert "0 tokens" in html
