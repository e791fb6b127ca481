"""Damaged input: what the program does with a changed file of each kind. It reads it, or refuses it in one line.

KINDS  the kinds: which file is changed, and what is done with it then
run    many changed files of some kinds, one after the other; what is neither read nor refused is told

    python -m tests.damage FOLDER SEED COUNT KIND…

It is run in a process of its own, because a reader in C++ may take the whole process with it: before each case its
number is on standard output, so that the last one tells what killed it.
"""

from __future__ import annotations

import json
import random
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gyro.errors import GyroError
from tests.damage.mutation import mutate


class Kind(NamedTuple):
    """The file that is changed and the work on it; both get the folder of the material."""

    file: str
    work: Callable[[Path], object]


def _work(name: str) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
    """Decorator: this work is done on the file, or one of several files separated by blanks, of this name."""

    def enter(work: Callable[[Path], object]) -> Callable[[Path], object]:
        for file in name.split():
            KINDS[file] = Kind(file, work)
        return work

    return enter


KINDS: dict[str, Kind] = {}


@_work("run/bags.jsonl run/results.jsonl run/run.json run/times.jsonl run/best.txt run/checksums.xxh128")
def _read_run(folder: Path) -> object:
    from gyro.report.data import read_groups
    from gyro.run.checksum import verify_run
    from gyro.run.folder import open_run
    from gyro.text.bag_file import read_bags
    from rescoring.source import open_lattices

    for work in (
        lambda: list(read_bags(folder / "run" / "bags.jsonl")),
        lambda: open_run(folder / "run").best(),
        lambda: open_lattices(folder / "run")[0].lattice(),
        lambda: read_groups([(folder / "run", None)]),
        lambda: verify_run(folder / "run"),
    ):
        try:
            work()
        except GyroError:
            continue
    return None


@_work("halfway/journal halfway/run.json halfway/results.jsonl halfway/bags.jsonl")
def _go_on(folder: Path) -> object:
    from gyro.run.folder import RunFolder
    from gyro.run.journal import Journal

    run = RunFolder(folder / "halfway")
    with run.locked():
        bags = len(list(run.read_bags()))
        with Journal(run.journal, bags) as journal:
            records = [journal.read(number) for number in range(bags) if journal.knows(number)]
        return records, list(run.entries())


@_work("text.gz text.xz text.bz2 text.zst")
def _read_text(folder: Path) -> object:
    from gyro.text.corpus import read_lines

    for name in ("gz", "xz", "bz2", "zst"):
        for _ in read_lines(folder / f"text.{name}"):
            pass
    return None


@_work("plain.fst packed.fst.gz")
def _read_lattice(folder: Path) -> object:
    from gyro.lattice.lattice import Lattice

    for name in ("plain.fst", "packed.fst.gz"):
        lattice = Lattice.read(folder / name)
        lattice.nbest(5)
        lattice.determinised()
    return None


@_work("tuples.fst pairs.fst words.map")
def _read_foreign(folder: Path) -> object:
    from gyro.lattice.file_format import LatticeFormat
    from gyro.lattice.lattice import Lattice

    for name in ("tuples.fst", "pairs.fst"):
        format = LatticeFormat(scales=(1.0, 0.5), project="input", wordmap=str(folder / "words.map"))
        Lattice.read(folder / name, format).nbest(5)
    return None


@_work("moses.txt run/nbest.txt run/nbest.jsonl mt.jsonl list.tsv posteriors.tsv")
def _read_lists(folder: Path) -> object:
    from gyro.lattice.nbest import read_jsonl
    from gyro.pipeline.reference import read_references
    from gyro.text.corpus import Normalisation
    from rescoring.posterior_file import read_posteriors
    from rescoring.source import open_lattices
    from rescoring.string_evidence import read_nbest, read_outputs

    split = Normalisation("none")
    read_posteriors(folder / "posteriors.tsv")
    for name in ("moses.txt", "run/nbest.txt", "list.tsv"):
        read_nbest(folder / name, split)
        for item in open_lattices(folder / name):
            item.lattice()
    read_outputs(folder / "mt.jsonl", split)
    list(read_references([folder / "mt.jsonl"], split, json_field="id"))
    return list(read_jsonl(folder / "run" / "nbest.jsonl"))


@_work("judgements.jsonl")
def _read_judgements(folder: Path) -> object:
    from gyro.judge.judgement import read_judgements
    from gyro.judge.tally import tally

    found = tally(read_judgements([folder / "judgements.jsonl"]))
    return found.text(), found.to_json()


@_work("header/index.json")
def _read_header(folder: Path) -> object:
    """With the checksum of the header set right: else no change gets beyond it."""
    from gyro.index.reader import HEADER, header_checksum, open_index

    path = folder / "header" / HEADER
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**header, "checksum": header_checksum(header)}), encoding="utf-8")
    except (ValueError, TypeError, RecursionError):
        pass
    return open_index(folder / "header").info()


@_work("index/words.npy index/offsets.npy index/counts.1.npy index/keys.2.npy index/counts.3.npy index/keys.5.npy")
def _read_index(folder: Path) -> object:
    from gyro.index.phrase import find_phrases
    from gyro.index.reader import open_index
    from gyro.text.bag import Bag
    from lm.stupid_backoff.model import StupidBackoff

    index = open_index(folder / "index")
    bag = Bag(("the", "people", "of", "the", "nation", "."))
    phrases = find_phrases(index, bag, 5)
    StupidBackoff(index).acceptor(sorted(set(bag.tokens)))
    list(index.words())
    index.verify()
    return phrases


@_work("bare.lm known.lm.json small.arpa")
def _read_model(folder: Path) -> object:
    from lm.kenlm.model import load_model

    for name in ("bare.lm", "known.lm", "small.arpa"):
        model = load_model(folder / name)
        model.score(["the", "people", "a"])
        model.acceptor(["a", "people", "the"])
        model.verify()
    return None


@_work("trees.conllu trees.auto config.toml")
def _read_trees(folder: Path) -> object:
    from grammars.ccg.derivation import read_auto
    from grammars.conllu import read_conllu
    from gyro.pipeline.config import load_config
    from gyro.pipeline.reference import read_references
    from gyro.text.corpus import Normalisation

    list(read_conllu(folder / "trees.conllu"))
    list(read_references([folder / "trees.conllu"], Normalisation("none")))
    for entry in read_auto(folder / "trees.auto"):
        str(entry)
    return load_config(folder / "config.toml")


@_work("best-first/model.json best-first/grammar.json best-first/weights.npz tagger/tagger.json tagger/weights.npz")
def _read_trained(folder: Path) -> object:
    from comparison.best_first.model import load_model
    from grammars.ccg.tagger import load_tagger

    load_tagger(folder / "tagger")
    return load_model(folder / "best-first")


@_work("ngram-beam/model.json ngram-beam/counts.tsv")
def _read_unigrams(folder: Path) -> object:
    """The table without its signature too: else no change of it gets to its reader."""
    from comparison.ngram_beam.unigram_model import COUNTS, parse_counts, read_unigrams

    path = folder / "ngram-beam"
    with suppress(GyroError):
        parse_counts((path / COUNTS).read_bytes(), path / COUNTS)
    return read_unigrams(path).cost("a")


@_work("text.tok text.tok.tokens.json")
def _read_tokenized(folder: Path) -> object:
    from gyro.text.corpus import Normalisation, read_sentences
    from gyro.text.tokenized import read_record

    record = read_record(folder / "text.tok")
    return record, list(read_sentences([folder / "text.tok"], Normalisation("none")))


@_work("transition/model.json transition/grammar.json transition/weights.npz")
def _read_transition(folder: Path) -> object:
    from comparison.transition.model import load_model

    return load_model(folder / "transition")


@_work("wan/model.json wan/vocabulary.json wan/counts.npz")
def _read_wan(folder: Path) -> object:
    from comparison.wan.model import read_wan_model

    return read_wan_model(folder / "wan")


@_work("neural/llama.gguf neural/tinyllama.gguf")
def _read_gguf(folder: Path) -> object:
    return _use_neural([folder / "neural" / f"{kind}.gguf" for kind in ("llama", "tinyllama")])


@_work("neural/llama/config.json neural/llama/tokenizer.json neural/llama/model.safetensors")
def _read_neural_folder(folder: Path) -> object:
    return _use_neural([folder / "neural" / "llama"])


@_work(
    "neural/tinyllama/config.json neural/tinyllama/tokenizer.json neural/tinyllama/model.safetensors.index.json "
    "neural/tinyllama/model-00001-of-00002.safetensors"
)
def _read_neural_shards(folder: Path) -> object:
    return _use_neural([folder / "neural" / "tinyllama"])


def _use_neural(paths: list[Path]) -> object:
    import numpy as np

    from lm.neural.checkpoint import open_checkpoint
    from lm.neural.plain import string_cost

    costs = []
    for path in paths:
        model = open_checkpoint(path)
        pieces, ends = model.tokenizer.encode(["the cat sat on <|endoftext|> na\u00efve"])[0]
        assert len(ends) == len(pieces)
        assert all(0 <= piece < model.shape.vocabulary for piece in pieces)
        with np.errstate(all="ignore"):  # damaged weights may be of any size
            costs.append(string_cost(model.read_weights(), [model.start, *pieces[: model.shape.longest], model.end]))
    return costs


# ---- the work


def run(folder: Path, seed: int, count: int, kinds: list[str]) -> int:
    """Print each case, and after it what went wrong; return how many did."""
    faults = 0
    for name in kinds:
        kind = KINDS[name]
        path = folder / kind.file
        sound = path.read_bytes()
        kind.work(folder)
        for case in range(count):
            print(f"{name} {seed} {case}", flush=True)
            path.write_bytes(mutate(sound, random.Random(f"{name} {seed} {case}")))
            try:
                kind.work(folder)
            except GyroError as error:
                faults += "\n" in str(error)
            except Exception:
                faults += 1
                print("fault", traceback.format_exc().replace("\n", "\n  "), flush=True)
        path.write_bytes(sound)
    return faults
