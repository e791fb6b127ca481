from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyro.errors import InputError
from gyro.judge.judgement import Judgement, read_judgements
from tests.gyro.judge.samples import as_lines, said


def write(path: Path, *judgements: Judgement) -> Path:
    path.write_text(as_lines(judgements), encoding="utf-8")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    ann, bob = said("ann", 1, "beam", turned=True), said("bób", 1, None)
    assert read_judgements([write(tmp_path / "a", ann), write(tmp_path / "b", bob)]) == [ann, bob]
    assert (ann.verdict, ann.winner, ann.item) == ("first", "beam", ("1", ("beam", "exact")))


def test_fields_of_others_are_passed_over(tmp_path: Path) -> None:
    line = json.loads(as_lines([said("ann", 1, "beam")]))
    (tmp_path / "a").write_text(json.dumps({**line, "remark": "hard to say"}))
    assert read_judgements([tmp_path / "a"]) == [said("ann", 1, "beam")]


def test_saved_twice_counts_once(tmp_path: Path) -> None:
    """Also where the sides are the other way round, as on a page of another seed."""
    path = write(tmp_path / "a", said("ann", 1, "beam"), said("ann", 1, "beam"), said("ann", 1, "beam", turned=True))
    assert len(read_judgements([path, path])) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "best"}, "found no judgement: verdict: Input should be 'first', 'equal' or 'second'"),
        ({"sides": ["exact", "other"]}, "sides are two systems, the same as in systems"),
        ({"systems": ["exact", "exact"], "sides": ["exact", "exact"]}, "sides are two systems"),
        ({"systems": ["exact"]}, "found no judgement: systems"),
        ({"judge": ""}, "found no judgement: judge: Value error, a line of 1 to 200"),
        ({"judge": "a\nb"}, "judge: Value error, a line of 1 to 200 characters is allowed"),
        ({"seed": "1"}, "seed: Input should be a valid integer"),
    ],
)
def test_bad_lines(tmp_path: Path, change: dict[str, object], message: str) -> None:
    good = json.loads(as_lines([said("ann", 1, "exact")]))
    path = tmp_path / "j.jsonl"
    path.write_text(json.dumps(good) + "\n\n" + json.dumps({**good, "bag": "2", **change}) + "\n")
    with pytest.raises(InputError) as caught:
        read_judgements([path])
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_contradictions(tmp_path: Path) -> None:
    first = write(tmp_path / "a", said("ann", 1, "exact"))
    second = write(tmp_path / "b", said("bob", 1, "beam"), said("ann", 1, "beam"))
    with pytest.raises(InputError, match=r"b:2: found another verdict of 'ann' on bag '1' than in .*a:1$"):
        read_judgements([first, second])
    other = said("bob", 1, "exact").model_copy(update={"orders": ("exact on 1", "something else")})
    with pytest.raises(InputError, match=r"c:1: found another order of bag '1' by 'beam' than in .*a:1$"):
        read_judgements([first, write(tmp_path / "c", other)])


def test_files_without_judgements(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\n")
    with pytest.raises(InputError, match="found no judgement in"):
        read_judgements([tmp_path / "a"])
    with pytest.raises(InputError, match="cannot read"):
        read_judgements([tmp_path / "b"])
    (tmp_path / "c").write_text("{}\nx\n")
    with pytest.raises(InputError, match="c:1: found no judgement: judge: Field required"):
        read_judgements([tmp_path / "c"])
