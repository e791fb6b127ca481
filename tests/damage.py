"""Damaged input: files that are changed at random, and the readers that must refuse them in one line or read them.

mutate    a changed copy of a file's bytes
material  a folder with one small, sound file of each kind that the program reads
KINDS     the kinds: which file is changed, and what is done with it then
run       many changed files of some kinds, one after the other; what is neither read nor refused is told

    python -m tests.damage FOLDER SEED COUNT KIND…

It is run in a process of its own, because a reader in C++ may take the whole process with it: before each case its
number is on standard output, so that the last one tells what killed it.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import resource
import shutil
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gyro.errors import GyroError

NUMBER = re.compile(rb"\d+(?:\.\d+)?")
LARGE = (b"9" * 400, b"9" * 5000, b"1e999", b"-1", b"0", b"NaN", b"4294967296", b"9223372036854775808")
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**25, 1.5, 1e308, "", "x", "\x1b[2J", "\ud800", "a b", [], {}, [[]], {"a": None}),
    [0, "a", None],
)
DEEP = b"[" * 100_000
# Of the memory that a damaged size may ask for, no more than this is given.
MOST_MEMORY = 6 << 30


def mutate(data: bytes, dice: random.Random) -> bytes:
    """One or two changes: flipped bits, a cut, bytes put in or taken out or doubled, numbers, JSON values."""
    for _ in range(dice.choice((1, 1, 2))):
        data = dice.choice(CHANGES)(data, dice)
    return data


def _flip(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 4, 50)) if data else 0):
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    new = dice.choice((dice.randbytes(dice.randrange(1, 9)), b"\0", b"\n", b"\xff", b"\x1b[2J", b'"', b" ", b"\t"))
    return data[:at] + new + data[at:]


def _remove_or_double(data: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(data) + 1)
    end = min(len(data), start + dice.randrange(1, 40))
    return data[:start] + (data[start:end] * 2 if dice.random() < 0.5 else b"") + data[end:]


def _number(data: bytes, dice: random.Random) -> bytes:
    found = list(NUMBER.finditer(data[:100_000]))
    if not found:
        return data
    match = dice.choice(found)
    return data[: match.start()] + dice.choice(LARGE) + data[match.end() :]


def _json_value(data: bytes, dice: random.Random) -> bytes:
    """Another value somewhere in the JSON of the file or of one of its lines."""
    lines = [data] if data.startswith(b"{\n") else data.split(b"\n")
    at = dice.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    if dice.random() < 0.05:
        lines[at] = DEEP
    else:
        lines[at] = json.dumps(_replaced(value, dice)).encode()
    return b"\n".join(lines)


def _replaced(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(sorted(value))
        return {**value, key: _replaced(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        return [*value[:place], _replaced(value[place], dice), *value[place + 1 :]]
    return dice.choice(VALUES)


CHANGES = (_flip, _cut, _insert, _remove_or_double, _number, _json_value, _json_value)


# ---- what is read


def material(folder: Path, run: Path, index: Path, model: Path) -> None:
    """Sound files of all kinds, from a run with references and the index and model that it was made with."""
    import bz2
    import lzma

    import zstandard

    shutil.copytree(run, folder / "run")
    shutil.copytree(index, folder / "index")
    shutil.copytree(index, folder / "header")
    shutil.copy(model, folder / "bare.lm")
    shutil.copy(model, folder / "known.lm")
    shutil.copy(f"{model}.json", folder / "known.lm.json")
    text = (run / "bags.jsonl").read_bytes()
    packers = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": zstandard.compress}
    for name, pack in packers.items():
        (folder / f"text.{name}").write_bytes(pack(text * 20))
    lattice = sorted((run / "lattices").rglob("*.fst*"))[0].read_bytes()
    (folder / "plain.fst").write_bytes(lattice)
    (folder / "packed.fst.gz").write_bytes(gzip.compress(lattice))
    _write_foreign(folder)
    _write_journal(folder / "run", folder / "halfway")
    for name, content in TEXTS.items():
        (folder / name).write_text(content, encoding="utf-8")
    _write_tokenized(folder / "text.tok")
    write_trained(folder)
    _write_neural(folder / "neural")


def _write_foreign(folder: Path) -> None:
    """Lattices of other tools, whose labels are words of words.map."""
    from tests.gyro.lattice.foreign import INFINITE, NOTHING, pair, tuple_of, vector_file

    tuples = [(tuple_of(INFINITE), [(1, 1, tuple_of(0.0, {1: 0.5, 2: 1.0}), 1)]), (tuple_of(0.0), [])]
    pairs = [(NOTHING["tropical_LT_tropical"], [(2, 1, pair(0.5, 0.25), 1)]), (pair(0, 0), [])]
    (folder / "tuples.fst").write_bytes(vector_file("tropicalsparsetuple", tuples))
    (folder / "pairs.fst").write_bytes(vector_file("tropical_LT_tropical", pairs))


def _write_tokenized(path: Path) -> None:
    from gyro.text.corpus import Normalisation
    from gyro.text.tokenized import write_tokenized

    write_tokenized([["she", "did", "n't", "go", "."], ["why", "?"]], path, Normalisation())


def _write_neural(folder: Path) -> None:
    from tests.lm.neural.tiny import tiny_model, write_folder, write_gguf

    folder.mkdir()
    for kind in ("llama", "tinyllama"):
        write_gguf(tiny_model(kind), folder / f"{kind}.gguf", "Q8_0")
        write_folder(tiny_model(kind), folder / kind, "BF16", shards=1 if kind == "llama" else 2)


def _write_journal(run: Path, halfway: Path) -> None:
    from gyro.run.journal import Journal

    shutil.copytree(run, halfway)
    (halfway / "times.jsonl").unlink()
    results = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    with Journal(halfway / "journal", len(results)) as journal:
        for number, line in enumerate(results):
            journal.append(number, json.loads(line), 0.5, 10, 1, (b"a b\n", b"0 ||| a b\n", b"{}\n"))
        journal.commit()


def write_trained(folder: Path) -> None:
    """A model of each system of the comparison."""
    (folder / "trees.conllu").write_text(TEXTS["trees.conllu"], encoding="utf-8")
    _write_best_first(folder)
    _write_unigrams(folder / "ngram-beam")
    _write_wan(folder / "wan", folder / "trees.conllu")
    _write_transition(folder / "transition")


def _write_best_first(folder: Path) -> None:
    import numpy as np

    from comparison.best_first.dependency_grammar import DependencyGrammar
    from comparison.best_first.model import ModelSettings, save_model
    from comparison.learning.tag_dictionary import TagDictionary
    from grammars.ccg.derivation import Leaf, Node
    from grammars.ccg.tagger import train_tagger

    dictionary = TagDictionary({"dog": ("NN",)}, {"a": ("NN", "VB")}, ("NN",))
    grammar = DependencyGrammar(("NN", "VB"), ("nsubj",), dictionary, {("VB", "NN", "left"): ("nsubj",)})
    weights = np.zeros(1 << 12, np.float32)
    weights[[1, 7]] = 0.5, -2.0
    save_model(folder / "best-first", grammar, weights, ModelSettings(bits=12), {})
    leaves = (Leaf.plain("NP", "she", "PRP"), Leaf.plain("S[dcl]\\NP", "sings", "VBZ"))
    train_tagger([Node("S[dcl]", "ba", 0, leaves)], epochs=1, bits=10).save(folder / "tagger")


def _write_unigrams(folder: Path) -> None:
    from comparison.ngram_beam.unigram_model import count_words, write_unigrams
    from gyro.text.corpus import Normalisation

    write_unigrams(count_words([["a", "dog", "a"]], Normalisation("none")), folder, {})


def _write_wan(folder: Path, treebank: Path) -> None:
    from comparison.wan.model import WanSettings, train_model, write_wan_model

    write_wan_model(folder, *train_model([treebank], WanSettings()))


def _write_transition(folder: Path) -> None:
    import numpy as np

    from comparison.learning.tag_dictionary import TagDictionary
    from comparison.transition.grammar import Features, TransitionGrammar
    from comparison.transition.model import TransitionSettings, save_model

    dictionary = TagDictionary({"dog": ("NN",)}, {"a": ("NN", "VB")}, ("NN",))
    weights = np.zeros(1 << 12, np.float32)
    weights[[3, 5]] = 1.5, -1.0
    save_model(
        folder, TransitionGrammar(dictionary, ("NN", "VB"), Features()), weights, TransitionSettings(bits=12), {}
    )


TEXTS = {
    "trees.conllu": "# sent_id = 1\n"
    + "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    + "1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\t_\n"
    + "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    + "3\tgo\tgo\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_\n"
    + "3.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
    "trees.auto": "ID=1 PARSER=GOLD NUMPARSE=1\n(<T S[dcl] ba 1 2> (<L NP PRP PRP she NP>) "
    + "(<T S[dcl]\\NP fa 0 2> (<L (S[dcl]\\NP)/NP VBZ VBZ sees (S[dcl]\\NP)/NP>) (<L NP PRP PRP her NP>) ) )\n",
    "mt.jsonl": '{"id": "s0", "outputs": {"A": "a b c", "B": "c b a"}}\n{"id": "s1", "outputs": {"A": "d"}}\n',
    "moses.txt": "0 ||| a b ||| LM= -1.5 SB= -2 ||| -3.5\n0 ||| b a ||| LM= -2.5 SB= -2 ||| -4.5\n"
    + "1 ||| c ||| LM= -1 ||| -1\n",
    "list.tsv": "a b\t3.5\nb a\t4.5\n\nc\t1\n",
    "posteriors.tsv": "1\ta\t1.0\n1\ta b\t0.25\n2\n3\tc\t1e-05\n",
    "config.toml": '[run]\nfolder = "out"\njobs = 2\nnbest = 10\n[text]\nfiles = ["sotu:1961-1963"]\nlowercase = true\n'
    + "[index]\norder = 5\n[lm]\norder = 3\n[generate]\nbeta = 6.0\nrules = '3-5'\n[bags]\n"
    + 'references = ["sotu:1964-1967"]\nlongest = 9\n',
    "judgements.jsonl": "".join(
        '{"judge": "ann", "bag": "1", "systems": ["a", "b"], "sides": ["b", "a"], "orders": ["x y", "y x"], '
        f'"verdict": "{verdict}", "reference": true, "seed": 1, "page": "0123", "gyro": "0.1.0"}}\n'.replace(
            "ann", judge
        )
        for judge, verdict in (("ann", "first"), ("bob", "equal"), ("eve", "second"))
    ),
    "words.map": "<eps> 0\na 1\nb 2\n",
    "small.arpa": "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n"
    + "-1.0\t<unk>\n-99\t<s>\t-0.3\n-0.5\t</s>\n-0.7\ta\t-0.2\n\n"
    + "\\2-grams:\n-0.4\t<s> a\n-0.6\ta </s>\n\n\\end\\\n",
}


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


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    sys.exit(1 if run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]) else 0)
