"""The documentation is true to the program: commands parse, links and names of modules lead somewhere, TOML has known
tables and keys."""

from __future__ import annotations

import argparse
import dataclasses
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import pytest

from gyro import cli
from gyro.notation import from_table
from gyro.pipeline import config

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ALL_PAGES = [*PAGES, ROOT / "CONTRIBUTING.md"]
# A line of an indented or fenced block, with a prompt or not.
COMMAND = re.compile(r"^\s*(?:\$ )?gyro ((?!COMMAND)[a-z-]+(?: .*)?)$")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PACKAGES = "gyro|grammars|lm|rescoring|comparison|experiments|benchmarks|tests"
# A file or folder of the packages, perhaps with a star: gyro/text/bag.py, gyro/text/, comparison/best_first/*_edge.py.
SOURCE = re.compile(rf"(?<![\w./-])(?:{PACKAGES})(?:/[\w*]+)*(?:/|\.py)(?!\w)")
# A module or what is in it: gyro.text.bag, gyro.text.bag.Bag; not the file lm.md.
DOTTED = re.compile(rf"(?<![\w./-])(?:{PACKAGES})(?:\.(?!md\b|json\b|toml\b)[A-Za-z_]\w*)+")
# A row of the table of keys in formats.md: names in code, then the default.
TABLE_ROW = re.compile(r"^\| \*\*`\[(\w+)\]`\*\* \|", re.MULTILINE)
KEY_ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The `gyro …` lines of indented and fenced blocks, with their line numbers."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif (fenced or line.startswith("    ")) and (match := COMMAND.match(line)):
            yield number, match[1]


def shown_commands() -> list[tuple[str, str]]:
    return [(f"{name_of(p)}:{n}", line) for p in PAGES for n, line in commands(p.read_text(encoding="utf-8"))]


def words_of(line: str) -> list[str]:
    """The arguments of a shown line; what stands after `#` or three blanks is a remark."""
    words = shlex.split(re.split(r"\s{3,}", line)[0], comments=True)
    return list(takewhile(lambda word: word not in ("|", ">"), words))


def parse(words: list[str]) -> argparse.Namespace:
    """As `gyro` does it, without running anything; a mistake ends in SystemExit."""
    return cli._parser(words).parse_args(words)


@pytest.mark.parametrize(("place", "line"), shown_commands(), ids=[place for place, _ in shown_commands()])
def test_shown_commands_parse(place: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        arguments = parse(words_of(line))
    except SystemExit:
        pytest.fail(f"{place}: gyro {line}\n{capsys.readouterr().err}")
    assert callable(arguments.command)


def test_the_tutorial_shows_commands() -> None:
    names = {words_of(line)[0] for place, line in shown_commands() if place.startswith("docs/tutorial.md")}
    assert names >= {"index", "lm", "bags", "generate", "rescore", "dependency-lm", "tune", "mbr", "score", "report"}


@pytest.mark.parametrize("words", [["indexes", "text"], ["index", "text", "-o", "x", "--ordr", "5"], ["lm", "text"]])
def test_a_wrong_command_would_be_seen(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(words)


def anchor(heading: str) -> str:
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_links_and_images_exist(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, part = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if part:
            anchors = {anchor(heading) for heading in HEADING.findall(target.read_text(encoding="utf-8"))}
            assert part in anchors, f"{name_of(page)} links to {link}; there are {sorted(anchors)}"


def is_known(name: str) -> bool:
    """Is it a module, or a name in one?"""
    try:
        if find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        pass
    owner, _, rest = name.rpartition(".")
    return bool(owner) and is_known(owner) and hasattr(value_of(owner), rest)


def value_of(name: str) -> object:
    """The module of this name, or what it names in one."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        owner, _, rest = name.rpartition(".")
        if not owner:
            raise
        return getattr(value_of(owner), rest)


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_named_modules_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [path for path in SOURCE.findall(text) if not any(ROOT.glob(path.rstrip("/")))] == []
    assert [name for name in DOTTED.findall(text) if not is_known(name)] == []


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("gyro.text.bag", True),
        ("gyro.text.bag.Bag", True),
        ("gyro.order", True),
        ("gyro.Lattice.read", True),
        ("gyro.Lattice.red", False),
        ("gyro.text.sack", False),
        ("gyro.text.bag.Sack", False),
        ("gyro.bag", False),
    ],
)
def test_a_wrong_name_would_be_seen(name: str, known: bool) -> None:
    assert DOTTED.findall(f"as in `{name}`, which") == [name]
    assert is_known(name) is known


def test_which_words_name_a_file() -> None:
    text = "`gyro/text/bag.py`, gyro/cli/, [here](lm.md), runs/gyro/x.py, ../lm/kenlm.py, lm/*/model.py"
    assert SOURCE.findall(text) == ["gyro/text/bag.py", "gyro/cli/", "lm/*/model.py"]
    assert DOTTED.findall("see [the model](lm.md) or news.lm.json") == []


def toml_blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        found += [(name_of(page), source) for language, source in blocks if language == "toml"]
    return found


def keys_of(kind: type) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.metadata.get("key", True)]


@pytest.mark.parametrize(("place", "source"), toml_blocks(), ids=[place for place, _ in toml_blocks()])
def test_toml_is_a_configuration(place: str, source: str, tmp_path: Path) -> None:
    tables = tomllib.loads(source)
    assert set(tables) <= set(config.known_tables()), place
    if {"run", "text", "bags"} <= set(tables):
        (tmp_path / "shown.toml").write_text(source, encoding="utf-8")
        config.load_config(tmp_path / "shown.toml")
        return
    for name, table in tables.items():
        assert set(table) <= set(keys_of(config.known_tables()[name])), f"{place}: [{name}]"


def test_formats_lists_every_key() -> None:
    """The table of keys in formats.md has all tables and keys, and no others."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    parts = TABLE_ROW.split(text)[1:]
    listed = {}
    for name, rows in zip(parts[::2], parts[1::2], strict=True):
        listed[name] = [key for row in KEY_ROW.findall(rows) for key in re.findall(r"\w+", row)]
    assert listed == {name: keys_of(kind) for name, kind in config.known_tables().items()}


def test_the_built_in_configuration_has_known_keys() -> None:
    for name, table in tomllib.loads(config.BUILT_IN).items():
        from_table(config.known_tables()[name], table, f"[{name}]")
