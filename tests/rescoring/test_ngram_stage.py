from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gyro.errors import InputError
from gyro.index.build import build_index
from gyro.index.reader import open_index
from gyro.lattice.lattice import Hypothesis
from gyro.lattice.nbest import read_jsonl, read_moses
from gyro.run.batch import Summary, run_batch, write_nbest
from gyro.run.folder import open_run
from gyro.run.outcome import Ordering, Outcome
from gyro.text.bag import Bag
from gyro.text.corpus import Normalisation
from lm.model import LanguageModel
from lm.stupid_backoff.model import StupidBackoff
from rescoring.ngram_stage import ReadyNgrams, name_scales
from rescoring.source import open_lattices
from rescoring.stage import run_ready
from tests.orders import failed, ordered

if TYPE_CHECKING:
    from tests.rescoring.conftest import Models

STRINGS: dict[tuple[str, ...], float] = {("a", "b", "c"): 1.0, ("b", "a", "c"): 2.0, ("c", "b", "a"): 4.5}
BAGS = [Bag(("a", "b", "c"), id="1", reference=("b", "a", "c")), Bag(("fail",), id="2"), Bag(("d", "a"), id="3")]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    def work(_number: int, bag: Bag) -> Ordering | Outcome:
        strings = STRINGS if len(bag) == 3 else {bag.tokens: 0.5}
        return failed(bag) if "fail" in bag.words else ordered(bag, [Hypothesis(*pair) for pair in strings.items()])

    run_batch(BAGS, tmp_path / "first", work, settings={}, log=io.StringIO())
    return tmp_path / "first"


def run(models: Models, path: Path, folder: Path, *, keep: float = 0.0, **options: Any) -> Summary:
    scales, source = name_scales([models.fivegram, models.backoff], [0.5, 0.25]), open_lattices(path)
    return run_ready(ReadyNgrams(scales, keep), source, folder, log=io.StringIO(), **options)


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "times.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize("keep", [0.0, 1.0])
def test_every_model_has_its_column(models: Models, source: Path, tmp_path: Path, keep: float) -> None:
    summary = run(models, source, tmp_path / "run", keep=keep)
    assert (summary.ok, summary.failures) == (2, (("2", "there is no lattice: the bag failed before"),))
    assert "proved" not in summary.text()
    entries = list(read_moses(tmp_path / "run" / "nbest.txt"))
    assert [entry.sentence for entry in entries] == [0, 0, 0, 2]
    assert {entry.tokens for entry in entries[:3]} == set(STRINGS)
    for entry in entries[:3]:
        assert list(entry.features) == ["LATTICE", "LM5", "SB5"]
        lattice, kenlm, backoff = (entry.features[name][0] for name in entry.features)
        assert lattice == pytest.approx(-STRINGS[entry.tokens])
        assert kenlm == pytest.approx(-models.fivegram.score(entry.tokens), abs=1e-5)
        assert backoff == pytest.approx(-models.backoff.score(entry.tokens), abs=1e-5)
        assert -entry.cost == pytest.approx(keep * lattice + 0.5 * kenlm + 0.25 * backoff, abs=1e-4)
    assert [e.features for e in read_jsonl(tmp_path / "run" / "nbest.jsonl")] == [e.features for e in entries]
    assert open_run(tmp_path / "run").bags[0].reference == BAGS[0].reference
    assert not (tmp_path / "run" / "references.txt").exists()


def test_stopped_parallel_and_repeated_runs_give_the_same_bytes(models: Models, source: Path, tmp_path: Path) -> None:
    run(models, source, tmp_path / "one")
    run(models, source, tmp_path / "two", jobs=2)
    expected = contents(tmp_path / "one")
    assert contents(tmp_path / "two") == expected
    (tmp_path / "two" / "lattices" / "000001.fst").unlink()
    run(models, source, tmp_path / "two")
    assert contents(tmp_path / "two") == expected
    run(models, source, tmp_path / "two", nbest=1)
    run(models, source, tmp_path / "fresh", nbest=1)
    assert contents(tmp_path / "two") == contents(tmp_path / "fresh")


def test_another_weight_is_another_run(models: Models, source: Path, tmp_path: Path) -> None:
    run(models, source, tmp_path / "run")
    with pytest.raises(InputError, match=r"the folder holds another run: settings.keep is 0.0 there and 1.0 here"):
        run(models, source, tmp_path / "run", keep=1.0)


def test_models_of_texts_made_in_different_ways_are_not_mixed(models: Models, source: Path, tmp_path: Path) -> None:
    build_index([["a"]], tmp_path / "index", normalisation=Normalisation("none", lowercase=True))
    scales = name_scales([models.trigram, StupidBackoff(open_index(tmp_path / "index"))])
    with pytest.raises(InputError, match=r"LM3 .* and SB5 .* were made from text in different ways"):
        ReadyNgrams(scales)


def test_lattices_without_bags(models: Models, source: Path, tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    for number in (1, 3):
        (source / "lattices" / f"00000{number}.fst").rename(tmp_path / "foreign" / f"s{number}.fst")
    assert run(models, tmp_path / "foreign", tmp_path / "run").ok == 2
    result = open_run(tmp_path / "run")
    assert [bag.id for bag in result.bags] == ["s1", "s3"]
    words = (tmp_path / "run" / "words.syms").read_text().split()[::2]
    assert words == ["<eps>", "a", "b", "c", "d"]
    again = open_lattices(tmp_path / "run")
    assert again.words() == {"a", "b", "c", "d"}
    assert [item.bag for item in again] == [None, None]


def test_lists_of_a_rescored_run_by_command(models: Models, source: Path, tmp_path: Path) -> None:
    run(models, source, tmp_path / "run", nbest=2)
    file = io.StringIO()
    write_nbest(open_run(tmp_path / "run"), 2, "moses", file)
    assert file.getvalue() == (tmp_path / "run" / "nbest.txt").read_text()
    with pytest.raises(InputError, match="have the scores LATTICE, LM5, SB5 and 2 strings a bag; for 3, start"):
        write_nbest(open_run(tmp_path / "run"), 3, "moses", io.StringIO())


def test_names_and_weights(models: Models) -> None:
    three: list[LanguageModel] = [models.trigram, models.trigram, models.backoff]
    assert [(s.name, s.weight) for s in name_scales(three)] == [("LM3", 1.0), ("LM3.2", 1.0), ("SB5", 1.0)]
    assert [s.weight for s in name_scales(three, [0.5])] == [0.5] * 3
    with pytest.raises(InputError, match="found 2 weights for 3 models"):
        name_scales(three, [1.0, 2.0])
