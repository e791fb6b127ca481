"""What `import gyro` gives: its names, what README and docs/python.md show, and short texts for people at a prompt."""

from __future__ import annotations

import argparse
import ast
import re
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gyro
from gyro.pipeline.neural_generator import NeuralGenerator
from gyro.pipeline.options import add_arguments, open_system
from gyro.search.many import stream_orders
from lm.stupid_backoff.model import StupidBackoff
from tests.conftest import World

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMISES = ["we", "must", "keep", "our", "promises", "."]


# ---- names


def test_type_checkers_and_python_see_the_same_names() -> None:
    tree = ast.parse(Path(gyro.__file__).read_text(encoding="utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in branch.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(gyro.__all__)
    for node in branch.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert getattr(gyro, alias.name) is getattr(import_module(str(node.module)), alias.name)


def test_dir_has_the_names_and_none_that_serve_inside() -> None:
    assert set(gyro.__all__) <= set(dir(gyro))
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(gyro))
    with pytest.raises(AttributeError, match="module 'gyro' has no attribute 'oder'"):
        _ = gyro.oder  # type: ignore[attr-defined]


def test_the_import_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'pywrapfst', 'kenlm', 'spacy', 'numba', 'matplotlib', 'pydantic'}"
    code = f"import gyro, sys; dir(gyro); assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- what people type


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "the dog barks",
            "found the string 'the dog barks'; a list of tokens is allowed, like 'the dog barks'.split()",
        ),
        ("", "found the string ''; a list of tokens is allowed, like ''.split()"),
        (["the dog", "barks"], "found the token 'the dog'; a token is Unicode text without white space"),
        ([3], "found the token 3; a token is Unicode text without white space"),
        (3, "found 3 as tokens; a list of strings is allowed"),
        (None, "found None as tokens; a list of strings is allowed"),
    ],
)
def test_what_is_no_list_of_tokens_is_refused_in_a_line(world: World, given: Any, message: str) -> None:
    for make in (lambda: gyro.order(given, index=world.index, model=world.model), lambda: gyro.Bag(given)):
        with pytest.raises(gyro.InputError) as raised:
            make()
        assert str(raised.value).startswith(message)


def test_a_long_string_is_not_repeated_whole() -> None:
    with pytest.raises(gyro.InputError) as raised:
        gyro.Bag("word " * 1000)  # type: ignore[arg-type]
    assert len(str(raised.value)) < 200


def test_tokens_may_come_from_any_iterable(world: World) -> None:
    expected = gyro.Bag(tuple(PROMISES))
    assert gyro.Bag(list(PROMISES)) == gyro.Bag(iter(PROMISES)) == expected  # type: ignore[arg-type]
    one = gyro.order(iter(PROMISES), index=world.index, model=world.model)
    assert one.nbest(9) == gyro.order(expected, index=world.index, model=world.model).nbest(9)


def test_a_setting_that_there_is_not_is_refused_in_a_line(world: World) -> None:
    with pytest.raises(gyro.InputError, match="found the setting 'bema'; allowed are algorithm, grammar"):
        gyro.order(PROMISES, index=world.index, model=world.model, bema=3)  # type: ignore[call-arg]


def test_changes_are_changes_of_the_settings_given(world: World) -> None:
    settings = gyro.Settings(algorithm="beam", beam=2)
    ordering = gyro.order(PROMISES, index=world.index, model=world.model, settings=settings, beta=0.0)
    assert (ordering.outcome.beta, ordering.proved, settings.beta) == (0.0, False, 10.0)


# ---- what people read


def test_reprs_are_short_and_say_what_it_is(world: World) -> None:
    generator = gyro.Generator(world.index, world.model, gyro.Settings(beta=4.0))
    ordering = generator.order(gyro.Bag(tuple(PROMISES)))
    best, lattice = ordering.best(), ordering.lattice
    assert repr(world.index) == (
        f"TextIndex({str(world.index_path)!r}, order 5, {world.index.num_tokens:,} tokens, "
        f"{world.index.num_sentences:,} sentences)"
    )
    assert repr(generator) == f"Generator({world.index!r}, {world.model!r}, Settings(beta=4.0))"
    assert repr(lattice) == f"Lattice({lattice.num_states} states, {lattice.num_arcs} arcs, 6 words)"
    assert repr(ordering) == f"Ordering({best.text!r}, cost {best.cost:.4f}, proved, {lattice.num_arcs} arcs)"
    assert repr(ordering.outcome).startswith("Outcome(rung='rules', proved=True, tokens=6, cost=")
    assert "None" not in repr(ordering.outcome)
    long = gyro.Bag(tuple(f"word{n}" for n in range(1000)), id="7")
    assert repr(long).startswith("Bag('7', 1000 tokens: word0 word1 word10 ")
    automaton = world.model.acceptor(tuple(f"word{n}" for n in range(50)))
    assert repr(automaton) == f"WordAutomaton(50 words, {automaton.num_states} states)"
    for shown in (world.index, world.model, StupidBackoff(world.index), lattice, ordering, ordering.outcome, long):
        assert len(repr(shown)) < 300
        assert "object at 0x" not in repr(shown)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (gyro.Bag(()), "Bag(0 tokens)"),
        (gyro.Bag(("b", "a", "a")), "Bag(3 tokens: a a b)"),
        (gyro.Bag(("x" * 500,)), f"Bag(1 token: {'x' * 60}…)"),
        (gyro.Bag(("a\x1b[2J",)), "Bag(1 token: a\\x1b[2J)"),
        (gyro.AnnotatedBag(("a", "b"), order=((1, 0),)), "AnnotatedBag(2 tokens with order: a b)"),
        (gyro.AnnotatedBag(("a",), optional=(0,), count_limits=(3,)), "AnnotatedBag(1 token with counts, optional: a)"),
        (gyro.Settings(), "Settings()"),
        (gyro.Settings(algorithm="beam", rules="3-5"), "Settings(algorithm='beam', rules='3-5')"),
        (
            gyro.Ordering(
                gyro.Lattice.from_strings((), []), gyro.Outcome.failed(gyro.Bag(("a",), id="7"), "time limit reached")
            ),
            "Ordering(no order: time limit reached)",
        ),
    ],
)
def test_reprs(shown: object, text: str) -> None:
    assert repr(shown) == text


def test_a_string_of_a_lattice_prints_as_text() -> None:
    best = gyro.Hypothesis(("the", "dog"), 1.5)
    assert (str(best), f"{best}", best.text) == ("the dog",) * 3
    assert repr(best) == "Hypothesis(tokens=('the', 'dog'), cost=1.5)"
    tokens, cost = best
    assert (tokens, cost) == (("the", "dog"), 1.5)


# ---- what the documentation shows


def run(source: str) -> dict[str, Any]:
    """The names that there are when this has run as a file in the current folder."""
    Path("shown.py").write_text(source, encoding="utf-8")
    return runpy.run_path("shown.py", run_name="shown")


@pytest.fixture
def news(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of somebody who has made news.index, news.lm and some bags."""
    for name, target in (
        ("news.index", world.index_path),
        ("news.lm", world.model_path),
        ("news.lm.json", Path(f"{world.model_path}.json")),
        ("news.txt", world.text),
    ):
        (tmp_path / name).symlink_to(target)
    lines = [" ".join(sentence) for sentence in world.held_out if len(sentence) <= 9][:20]
    for name in ("bags.txt", "bags.jsonl"):  # each line is read as what it looks like
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_readme_shows_of_python_is_true(news: Path) -> None:
    (source,) = blocks("README.md")
    names = run(source)
    orders = names["orders"]
    assert isinstance(orders, gyro.Ordering)
    best = orders.best()
    assert sorted(best.text.split()) == [".", "cat", "dog", "saw", "the", "the"]
    assert best == orders.nbest(10)[0]
    assert best.cost == pytest.approx(names["model"].score(best.tokens), abs=1e-4)
    assert orders.proved is True
    assert orders.outcome.proved is True
    assert gyro.Lattice.read("bag.fst").best().tokens == best.tokens
    assert "<svg" in orders._repr_html_()


def blocks(page: str = "docs/python.md") -> list[str]:
    """The Python of a page, a block each."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def test_all_pages_with_python_are_run_here() -> None:
    pages = [page.relative_to(ROOT).as_posix() for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))]
    assert sorted(page for page in pages if blocks(page)) == ["README.md", "docs/python.md", "docs/tutorial.md"]


def test_what_the_tutorial_shows_of_python_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (source,) = blocks("docs/tutorial.md")
    run(source)
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [str(path) for path in written] == [
        f"text/sotu-{years}.txt" for years in ("1790-2019", "1960-2019", "2020-2022", "2023-2026")
    ]
    assert all(path.stat().st_size > 10_000 for path in written)


def test_what_the_page_on_python_shows_is_true(news: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of it, from top to bottom, but for the neural model, which has a test of its own."""
    shown = [block for block in blocks() if "neural" not in block]
    assert len(shown) == len(blocks()) - 1
    names = run("\n".join(shown))
    bags = len(names["run"])
    assert repr(names["run"]) == f"Run('run', {bags} bags)"
    assert repr(names["summary"]) == f"Summary('run', {bags} bags ordered, 0 failed)"
    printed = capsys.readouterr().out
    best, cost = names["best"], names["cost"]
    assert f"{best.text}\n{cost:8.3f}  {best.text}\n" in printed
    assert "found the string 'the dog saw the cat .'; a list of tokens is allowed" in printed
    assert names["svg"].startswith(b"<svg")
    assert names["again"].nbest(20) == names["orders"].nbest(20)
    assert names["narrow"].outcome.to_json() == names["narrow"].outcome.model_copy(update={"proved": False}).to_json()
    assert names["bag"].constraints == ("units", "positions")
    sentences = Path("bags.txt").read_text(encoding="utf-8").splitlines()
    one_by_one = [
        gyro.order(line.split(), index=names["index"], model=names["model"], beta=4.0).best() for line in sentences
    ]
    assert "".join(f"{number} {best}\n" for number, best in enumerate(one_by_one, 1)) in printed
    wide = [names["generator"].order(gyro.Bag(tuple(line.split()))).best().text for line in sentences]
    assert names["run"].best() == wide
    assert gyro.open_index("own.index").num_sentences == len(names["sentences"])
    tokens = names["rescored"].best().tokens
    total = names["model"].score(tokens) + 0.4 * names["sb5"].score(tokens)
    assert names["rescored"].best().cost == pytest.approx(total, abs=1e-3)


@pytest.mark.slow
def test_what_the_page_on_python_shows_of_the_neural_model_is_true(
    news: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (news / "bags.txt").write_text("of the world people\n.\nwe will we must\n", encoding="utf-8")
    options = argparse.ArgumentParser()
    add_arguments(options)
    arguments = ["--index", "news.index", "--lm", "news.lm", "--neural", "default", "--search"]
    system = open_system(options.parse_args(arguments))
    shown = [block for block in blocks() if "open_index" in block or "neural" in block]
    neural = run("\n".join(shown))["neural"]
    assert isinstance(system, NeuralGenerator)
    assert neural.signature() == system.signature()
    assert repr(neural) == f"NeuralGenerator({neural.generator!r}, {neural.rescorer.model!r})"
    one_by_one = [neural.order(bag) for bag in gyro.read_bags("bags.txt")]
    assert capsys.readouterr().out == "".join(f"{ordering.best()}\n" for ordering in one_by_one)
    many = list(stream_orders(neural, gyro.read_bags("bags.txt"), jobs=2))
    assert [(o.outcome, o.lattice.to_bytes()) for o in many] == [(o.outcome, o.lattice.to_bytes()) for o in one_by_one]


def test_index_and_model_may_be_used_by_several_threads(world: World) -> None:
    bags = [gyro.Bag(tuple(sentence)) for sentence in world.held_out if len(sentence) <= 10][:24]
    generator = gyro.Generator(world.index, world.model)
    expected = [generator.order(bag).lattice.to_bytes() for bag in bags]
    with ThreadPoolExecutor(4) as pool:
        assert [o.lattice.to_bytes() for o in pool.map(generator.order, bags)] == expected
