"""A small task of each part of the program, which makes it compile what the part uses.

PARTS    the parts, the long ones first
Part     what it is, the commands of its task, and whether these need the text's index and models
prepare  write the text and the treebank of all tasks into a folder
perform  do the task of a part there; which modules' code it used

The commands are those that people type, so the compiled functions get arguments of the same types.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gyro.errors import GyroError
from gyro.files import write_text

if TYPE_CHECKING:
    from gyro.compilation import Used

# form/lemma/tag/feature/head/label of each token
_TREES = (
    "the/the/DET:DT/_/2/det dog/dog/NOUN:NN/Number=Sing/3/nsubj saw/see/VERB:VBD/Tense=Past|VerbForm=Fin/0/root"
    " the/the/DET:DT/_/6/det old/old/ADJ:JJ/_/6/amod cat/cat/NOUN:NN/Number=Sing/3/obj ././PUNCT:./_/3/punct",
    "she/she/PRON:PRP/Case=Nom/2/nsubj sees/see/VERB:VBZ/Number=Sing|Person=3|Tense=Pres|VerbForm=Fin/0/root"
    " a/a/DET:DT/_/4/det dog/dog/NOUN:NN/Number=Sing/2/obj in/in/ADP:IN/_/7/case the/the/DET:DT/_/7/det"
    " park/park/NOUN:NN/Number=Sing/2/obl ././PUNCT:./_/2/punct",
    "old/old/ADJ:JJ/_/2/amod dogs/dog/NOUN:NNS/Number=Plur/3/nsubj sleep/sleep/VERB:VBP/Tense=Pres|VerbForm=Fin/0/root"
    " ././PUNCT:./_/3/punct",
)
_TOKENIZED = "--tokenized"
_ORDER = "generate bags.jsonl --index index --lm model.lm --jobs 1"
_CONSTRAINED = "order the old dog --optional old --index index --lm model.lm"
# So many orders that a row of the search outgrows its first room.
_MANY = "order the dog saw old cat she sees a in park dogs sleep . --rules 1 --lm model.lm --beta 40"
# With such costs each way to cut an order into phrases is a path of its own, as it is where phrases are many.
_CUTTINGS = "order the old dog sleep . --index index --lm model.lm --phrase-cost phrase=2000000000"
_BOUNDED = f"{_ORDER} --rules 1-3 --first-row 2"
_LEARN = "trees.conllu --iterations 1"
_BEST_FIRST = f"train best-first {_LEARN} --bits 16 --dev trees.conllu --dev-sample 1"


@dataclass(frozen=True)
class Part:
    """What is compiled, the commands that do it, and whether they need what `text` makes."""

    about: str
    commands: tuple[str, ...]
    needs_text: bool = False
    needs_neural: bool = False


PARTS = {
    "text": Part(
        "indexes, and the models that the others need",
        (
            f"index text.tok -o index {_TOKENIZED} --order 5",
            "index --merge index index -o merged",
            f"lm text.tok -o model.lm {_TOKENIZED} --order 4 --memory 64M",
            f"bags text.tok -o bags.jsonl {_TOKENIZED}",
        ),
    ),
    "best-first": Part(
        "best-first search with dependency trees",
        (
            f"{_BEST_FIRST} -o best-first",
            "annotate trees.conllu -o tagged.jsonl",
            "generate tagged.jsonl --system best-first --model best-first -o best-first-run",
        ),
    ),
    "ccg": Part(
        "best-first search with CCG, and its tagger",
        (
            f"{_BEST_FIRST} --grammar ccg --tagger-cutoff 0.01 -o ccg",
            "ccg trees.conllu -o trees.auto",
            "annotate trees.auto -o categories.jsonl --categories ccg",
            "generate categories.jsonl --system best-first --model ccg -o ccg-run",
        ),
    ),
    "trees": Part(
        "best-first search where trees are given",
        (
            f"{_BEST_FIRST} --lemmas -o trees",
            "annotate trees.conllu -o lemmas.jsonl --lemmas",
            "generate lemmas.jsonl --system best-first --model trees -o trees-run",
        ),
    ),
    "search": Part(
        "the exact search and the beam",
        (
            f"{_ORDER} -o exact",
            f"{_ORDER} --algorithm beam -o beam",
            f"{_ORDER} --overlap 1 --phrase-cost phrase=1 -o overlap",
            f"{_ORDER} --rules 3-5 -o rules",
            _CONSTRAINED,
            f"{_CONSTRAINED} --algorithm beam",
            f"{_CONSTRAINED} --keep 'the dog'",
            _MANY,
            _CUTTINGS,
            "score exact",
        ),
        needs_text=True,
    ),
    "published": Part(
        "the published algorithms",
        (
            f"{_BOUNDED} --algorithm pruned-parsing --grammar binary -o binary",
            f"{_BOUNDED} --algorithm pruned-parsing --grammar binary --cell-start anywhere -o anywhere",
            f"{_BOUNDED} --algorithm pruned-parsing -o linear",
            f"{_BOUNDED} --algorithm pruned-parsing --phrase-cost phrase=1 -o costs",
            f"{_BOUNDED} --algorithm pruned-expansion -o expansion",
            f"{_BOUNDED} --algorithm full -o full",
        ),
        needs_text=True,
    ),
    "rescoring": Part(
        "rescoring, minimum Bayes risk, tuning and scores",
        (
            f"{_ORDER} --algorithm beam -o first",
            "rescore first -o second --lm stupid-backoff:index:5 --add --weight 0.4",
            "rescore first -o third --lm model.lm --beta 5",
            "mbr first -o mbr",
            "posteriors first -o posteriors.tsv.gz",
            "mbr second -o evidence --mt posteriors.tsv.gz --mt-format posteriors",
            "oracle first",
            "tune second -o tuned.toml --restarts 1",
            "tune first --mbr -o mbr.toml --scale 0.4 --precision 0.7 --ratio 0.5 --prune 5",
            "convert first -o lattices/%d.fst.gz",
            "mbr lattices -o lattices-mbr",
            "convert first -o tuples/%d.fst.gz --arc-type tropical_LT_tropical",
            "mbr tuples -o tuples-mbr",
            "score second",
        ),
        needs_text=True,
    ),
    "neural": Part(
        "the neural model, and the search with it",
        (
            f"{_ORDER} --algorithm beam --neural default --search 20 -n 5 -o neural",
            "rescore neural -o neural-second --neural default --search 20 -n 5 --guide model.lm",
        ),
        needs_text=True,
        needs_neural=True,
    ),
    "transition": Part(
        "transition-based linearisation, and with a language model",
        (
            f"train transition {_LEARN} --bits 16 --dev trees.conllu --dev-sample 1 -o transition",
            f"train transition {_LEARN} --bits 16 --lm model.lm -o combined",
            "annotate trees.conllu -o tags.jsonl",
            "generate tags.jsonl --system transition --model transition -o transition-run",
            "generate tags.jsonl --system transition --model combined --lm model.lm -o combined-run",
        ),
        needs_text=True,
    ),
    "ngram-beam": Part(
        "the beam over an n-gram model",
        (
            f"train ngram-beam text.tok {_TOKENIZED} -o unigrams",
            "generate bags.jsonl --system ngram-beam --model unigrams --lm model.lm -o ngram-run",
        ),
        needs_text=True,
    ),
    "wan": Part(
        "Viterbi, spanning trees and argument assignment",
        (
            "train wan trees.conllu -o wan",
            "annotate trees.conllu -o phrases.jsonl --units base-np",
            *(
                f"generate phrases.jsonl --system wan --model wan --lm model.lm --method {name} -o wan-{name}"
                for name in ("viterbi", "lmo", "cle", "ab")
            ),
        ),
        needs_text=True,
    ),
}


def prepare(folder: Path) -> None:
    """Write the text and the treebank of all tasks."""
    rows, text = [], []
    for number, tree in enumerate(_TREES, 1):
        rows.append(f"# sent_id = {number}")
        tokens = [token.split("/") for token in tree.split()]
        for place, (form, lemma, tags, features, head, label) in enumerate(tokens, 1):
            rows.append("\t".join((str(place), form, lemma, *tags.split(":"), features, head, label, "_", "_")))
        rows.append("")
        text.append(" ".join(token[0] for token in tokens))
    write_text(folder / "trees.conllu", "\n".join([*rows, ""]))
    write_text(folder / "text.tok", "\n".join([*text, *text, ""]))


def perform(name: str, folder: Path) -> list[Used]:
    """Do the task of a part; the modules whose compiled code it used."""
    from gyro.cli import main
    from gyro.compilation import used_modules

    os.chdir(folder)
    for command in PARTS[name].commands:
        if code := main(shlex.split(command)):
            raise GyroError(f"gyro {command} ended with {code}")
    return used_modules()
