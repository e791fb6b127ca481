"""The documentation is true to the program: commands parse, links lead somewhere, TOML has known tables and keys."""

from __future__ import annotations

import argparse
import dataclasses
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gyro import cli, config
from gyro.settings import from_table

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# A line of an indented or fenced block, with a prompt or not.
COMMAND = re.compile(r"^\s*(?:\$ )?gyro ((?!COMMAND)[a-z-]+(?: .*)?)$")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
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
    return words[: words.index("|")] if "|" in words else words


def parse(words: list[str]) -> argparse.Namespace:
    """As `gyro` does it, without running anything; a mistake ends in SystemExit."""
    return cli._parser(words[0]).parse_args(words)


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


@pytest.mark.parametrize("page", PAGES, ids=name_of)
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


def toml_blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        found += [(name_of(page), source) for language, source in blocks if language == "toml"]
    return found


@pytest.mark.parametrize(("place", "source"), toml_blocks(), ids=[place for place, _ in toml_blocks()])
def test_toml_is_a_configuration(place: str, source: str, tmp_path: Path) -> None:
    tables = tomllib.loads(source)
    assert set(tables) <= set(config._TABLES), place
    if {"run", "text", "bags"} <= set(tables):
        (tmp_path / "shown.toml").write_text(source, encoding="utf-8")
        config.load_config(tmp_path / "shown.toml")
        return
    for name, table in tables.items():
        known = {field.name for field in dataclasses.fields(config._TABLES[name])}
        assert set(table) <= known, f"{place}: [{name}]"


def test_formats_lists_every_key() -> None:
    """The table of keys in formats.md has all tables and keys, and no others."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    parts = TABLE_ROW.split(text)[1:]
    listed = {}
    for name, rows in zip(parts[::2], parts[1::2], strict=True):
        listed[name] = [key for row in KEY_ROW.findall(rows) for key in re.findall(r"\w+", row)]
    fields = {name: [field.name for field in dataclasses.fields(kind)] for name, kind in config._TABLES.items()}
    assert listed == fields


def test_the_built_in_configuration_has_known_keys() -> None:
    for name, table in tomllib.loads(config.BUILT_IN).items():
        from_table(config._TABLES[name], table, f"[{name}]")
