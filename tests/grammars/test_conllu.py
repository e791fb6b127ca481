from __future__ import annotations

import io
import lzma
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.conllu import (
    ConlluSentence,
    ConlluToken,
    conllu_text,
    is_projective,
    is_usable,
    read_conllu,
    tree_to_conllu,
    write_conllu,
)
from gyro.errors import InputError
from gyro.text.corpus import ROOT
from gyro.text.parsing import ParsedTree
from tests.outside import TREEBANK, needs_treebank

# A range, a range over one token, empty nodes before the first token and within a range, a missing head.
EXAMPLE = """\
# newdoc
# sent_id = a-1
# text = I don't
0.1\tnobody\t_\t_\t_\t_\t_\t_\t0:root\t_
1\tI\tI\tPRON\tPRP\tCase=Nom|Number=Sing\t2\tnsubj\t2:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t0:root\t_
2.1\tgo\tgo\tVERB\t_\t_\t_\t_\t_\t_
2.2\taway\t_\t_\t_\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t2:advmod\t_

1-1\tyes\t_\t_\t_\t_\t_\t_\t_\t_
1\tyes\t_\t_\t_\t_\t_\t_\t_\t_

"""

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=5).filter(
    lambda text: not text.startswith("\ufeff")
)


def test_the_parts_of_an_example(tmp_path: Path) -> None:
    (tmp_path / "trees").write_text(EXAMPLE, encoding="utf-8")
    first, second = read_conllu(tmp_path / "trees")
    assert first.forms == ("I", "do", "n't")
    assert first.heads == (1, ROOT, 1)
    assert first.sent_id == "a-1"
    assert first.comments == ("# newdoc", "# sent_id = a-1", "# text = I don't")
    assert [(place, line.split("\t")[0]) for place, line in first.others] == [
        (0, "0.1"),
        (1, "2-3"),
        (2, "2.1"),
        (2, "2.2"),
    ]
    assert first.tokens[0] == ConlluToken("I", "I", "PRON", "PRP", "Case=Nom|Number=Sing", 1, "nsubj", "2:nsubj", "_")
    assert (second.heads, second.sent_id, second.comments) == ((None,), "", ())


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_reading_and_writing_is_lossless(tmp_path: Path, end: str) -> None:
    (tmp_path / "trees").write_text(EXAMPLE.rstrip("\n") + end, encoding="utf-8")
    assert "".join(map(conllu_text, read_conllu(tmp_path / "trees"))) == EXAMPLE


@needs_treebank
@pytest.mark.parametrize("path", sorted(TREEBANK.glob("*.conllu.xz")), ids=lambda path: path.name)
def test_the_treebank_comes_out_byte_by_byte(path: Path) -> None:
    file = io.StringIO()
    write_conllu(file, read_conllu(path))
    assert file.getvalue().encode() == lzma.decompress(path.read_bytes())


@st.composite
def sentences(draw: st.DrawFn) -> ConlluSentence:
    random = draw(st.randoms(use_true_random=False))
    heads = [head if random.random() < 0.9 else None for head in random_heads(draw(st.integers(1, 8)), random)]
    others: list[tuple[int, str]] = []
    columns = "\t".join(draw(st.lists(TEXT, min_size=9, max_size=9)))
    for place in range(len(heads) + 1):
        nodes = draw(st.integers(0, 2))
        others += [(place, f"{place}.{node}\t{columns}") for node in range(1, nodes + 1)]
        covered = max(
            (int(line.split("\t")[0].split("-")[1]) for _, line in others if "-" in line.split("\t")[0]), default=0
        )
        if covered <= place < len(heads) and draw(st.booleans()):
            others.append((place, f"{place + 1}-{draw(st.integers(place + 1, len(heads)))}\t{columns}"))
    tokens = [
        ConlluToken(*draw(st.lists(TEXT, min_size=5, max_size=5)), head, *draw(st.lists(TEXT, min_size=3, max_size=3)))
        for head in heads
    ]
    comments = ["#" + text for text in draw(st.lists(TEXT, max_size=2))]
    return ConlluSentence(tuple(tokens), tuple(comments), tuple(others))


def random_heads(size: int, random: Random) -> list[int]:
    """Any tree: each token in some order hangs on an earlier one."""
    order = random.sample(range(size), size)
    heads = [ROOT] * size
    for number, place in enumerate(order[1:], 1):
        heads[place] = order[random.randrange(number)]
    return heads


@given(given_sentences=st.lists(sentences(), max_size=3))
def test_any_sentence_comes_back(
    tmp_path_factory: pytest.TempPathFactory, given_sentences: list[ConlluSentence]
) -> None:
    path = tmp_path_factory.mktemp("any") / "trees"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        write_conllu(file, given_sentences)
    assert list(read_conllu(path)) == given_sentences


def rows(*starts: str) -> str:
    """Lines of ten columns that start so: id, form and perhaps a head."""
    lines = []
    for start in starts:
        name, form, *head = start.split()
        lines.append("\t".join([name, form, "_", "_", "_", "_", *(head or ["_"]), "_", "_", "_"]))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1\ta\t_", 1, "found 3 columns; 10 separated by tabs are allowed"),
        ("1 a _ _ _ _ _ _ _ _", 1, "found 1 columns"),
        (rows("1 a").replace("a", ""), 1, "found column 2 empty"),
        (rows("2 a"), 1, "found the id 2; 1 is allowed here"),
        (rows("1 a", "1 b"), 2, "found the id 1; 2 is allowed here"),
        (rows("1 a", "01 b"), 2, "found the id 01"),
        (rows("1 a", "x b"), 2, "found the id 'x'; a number, a range"),
        (rows("1 a", "-1 b"), 2, "found the id '-1'"),
        (rows("1 a x"), 1, "found the head 'x'; a number or _ is allowed"),
        (rows("1 a 01"), 1, "found the head '01'"),
        (rows("1 a 0", "2 b 3"), 1, "found the head 3 of token 2; 0 to 2 is allowed"),
        (rows("1 a 0", "2 b 0"), 1, "found 2 roots"),
        (rows("1 a 0", "2 b 0", "3 c"), 1, "found 2 roots"),
        (rows("1 a 2", "2 b 1"), 1, "found 0 roots"),
        (rows("1 a 0", "2 b 3", "3 c 2"), 1, "found a cycle"),
        (rows("1 a 0", "2 b 2"), 1, "found a cycle"),
        (rows("1 a 2", "2 b 1", "3 c"), 1, "found a cycle"),
        (rows("2-3 ab", "1 a"), 1, "found the range 2-3"),
        (rows("1-3 ab", "1 a", "2-3 b", "2 b", "3 c"), 3, "found the range 2-3"),
        (rows("1-2 ab", "1 a"), 1, "found the range 1-2; the last token is 1"),
        (rows("1 a", "1.2 b"), 2, "found the empty node 1.2; 1.1 is allowed here"),
        (rows("1 a", "2-3 b", "1.1 b", "2 b", "3 c"), 3, "found the empty node 1.1"),
        ("# only a comment", 2, "found a sentence without tokens"),
        (rows("1 a") + "\n# late", 2, "found a comment after a token"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "trees.conllu"
    path.write_text(rows("1 good 0") + "\n\n" + text + "\n\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_conllu(path))
    assert str(caught.value).startswith(f"{path}:{line + 2}: {message}")


def test_projective_trees_against_the_definition() -> None:
    """A tree is projective if every token between a head and its dependent is under that head."""
    for size in range(1, 6):
        for heads in product(range(ROOT, size), repeat=size):
            ways = [way_up(heads, place) for place in range(size)]
            if heads.count(ROOT) != 1 or any(way is None for way in ways):
                continue
            expected = all(
                head in (ways[between] or ()) or head == ROOT
                for place, head in enumerate(heads)
                for between in range(min(place, head) + 1, max(place, head))
            ) and not any(min(p, h) < heads.index(ROOT) < max(p, h) for p, h in enumerate(heads) if h != ROOT)
            assert is_projective(heads) == expected


def way_up(heads: tuple[int, ...], place: int) -> list[int] | None:
    way = [place]
    while heads[way[-1]] != ROOT:
        way.append(heads[way[-1]])
        if len(way) > len(heads):
            return None
    return way


def test_missing_heads_cross_nothing() -> None:
    assert is_projective([2, None, ROOT, 2])
    assert not is_projective([2, 3, None, None])


def test_forms_with_blanks_and_reserved_words_are_not_usable() -> None:
    for form, usable in (("dog", True), ("10 000", False), ("</s>", False), ("10\u00a0000", False)):
        assert is_usable(ConlluSentence((ConlluToken("a"), ConlluToken(form)))) is usable


def test_a_tree_of_spacys() -> None:
    tree = ParsedTree(("Dogs", "bark"), (1, ROOT), ("nsubj", "ROOT"), ("NNS", ""), ("NOUN", "VERB"), ("dog", ""))
    sentence = tree_to_conllu(tree, "7")
    assert sentence.sent_id == "7"
    assert sentence.tokens == (
        ConlluToken("Dogs", "dog", "NOUN", "NNS", "_", 1, "nsubj"),
        ConlluToken("bark", "_", "VERB", "_", "_", ROOT, "root"),
    )
