"""What the systems of a comparison have in common: text, language models, an index, treebanks, bags.

Material       its files in their folders, and how each is made
NamedTreebank  what is known of one of [[treebanks]] when it is made

Text, index, bags and the models of the whole of it are the same for every size of sample; treebanks are smaller for a
small sample. Bags are written in a random order, so that the first ones are a sample, and part of every larger one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from experiments.comparison_description import HALVES, ComparisonExperiment
from experiments.comparison_entry import ALL, Condition, LanguageModelTable, SetTable, TreebankTable, parse_condition
from experiments.comparison_trees import attachment, move_heads
from experiments.experiment import folder_name
from grammars.annotation import sentence_to_bag, tree_to_sentence
from grammars.conllu import ConlluSentence, is_projective, is_usable, read_conllu, tree_to_conllu, write_conllu
from gyro.errors import InputError
from gyro.files import read_json, write_atomically, write_json
from gyro.index.build import build_index
from gyro.notation import parse_size, parse_span
from gyro.pipeline.stamp import fingerprint, make_once
from gyro.run.folder import to_line
from gyro.text.bag_file import bag_to_record
from gyro.text.corpus import Normalisation, read_sentences
from gyro.text.parsing import parse_trees, parser_name
from lm.kenlm.estimate import estimate_model

SPLIT = Normalisation("none", False)  # of our own text files, whose tokens are made


@dataclass(frozen=True)
class NamedTreebank:
    """Sentences and words; the shares of heads as in the treebank, and as before some were moved; projective trees."""

    sentences: int
    words: int
    uas: float
    kept: float
    projective: int


class Material:
    """Files of an experiment; `folder` is that of the sample, `shared` that of all samples."""

    def __init__(self, experiment: ComparisonExperiment, shared: Path, folder: Path, jobs: int) -> None:
        self.experiment, self.shared, self.folder, self.jobs = experiment, shared, folder, jobs
        self.text, self.index = shared / "text.tok", shared / "index"
        self.held_out = shared / "held-out.tok"
        self.train_text = shared / "train.tok"
        self.half = shared / "dev-a.conllu"
        self._seed = experiment.seed

    # ---- where things are

    def language_model(self, name: str) -> Path:
        table = next(table for table in self.experiment.language_models if table.name == name)
        place = self.shared if table.treebank in ("", ALL) else self.folder
        return place / "lm" / f"{folder_name(name)}.lm"

    def treebank(self, name: str) -> Path:
        return self.folder / "treebanks" / f"{folder_name(name)}.conllu"

    def treebank_facts(self, name: str) -> NamedTreebank | None:
        """None before it is made."""
        path = self.treebank(name).with_suffix(".json")
        return NamedTreebank(**read_json(path)) if path.exists() else None

    def trees(self, set_name: str) -> Path:
        """The sentences of a set, in the order of its bags."""
        return self.shared / "bags" / f"{folder_name(set_name)}.conllu"

    def bags(self, set_name: str, given: str) -> Path:
        return self.shared / "bags" / f"{folder_name(set_name)}-{folder_name(given)}.jsonl"

    def seconds(self, name: str) -> float:
        """How long the estimation of a language model took; 0 when that is not known."""
        path = self.language_model(name).with_suffix(".json")
        return float(read_json(path)["seconds"]) if path.exists() else 0.0

    # ---- text

    def make_text(self) -> None:
        """The tokens of all files but for the sentences held out; those are in a file of their own."""
        table = self.experiment.text
        files = [Path(name) for name in table.files]
        facts = {"files": [fingerprint(path) for path in files], "seed": self._seed}
        facts |= {"held out": table.held_out, "tokens": table.held_out_tokens}

        def make() -> None:
            chosen = self._choose_held_out(files[0]) if table.held_out else []
            with write_atomically(self.held_out, "w") as file:
                file.writelines(line + "\n" for line in chosen)
            unseen = set(chosen)
            with write_atomically(self.text, "w") as file:
                for line in map(" ".join, read_sentences(files, Normalisation(), jobs=self.jobs)):
                    if line not in unseen:
                        file.write(line + "\n")

        make_once("text", self.text, facts, make)

    def _choose_held_out(self, path: Path) -> list[str]:
        table = self.experiment.text
        low, high = parse_span(table.held_out_tokens)
        sentences = read_sentences([path], Normalisation(), jobs=self.jobs)
        lines = sorted({" ".join(sentence) for sentence in sentences if low <= len(sentence) <= high})
        if len(lines) < table.held_out:
            raise InputError(f"found {len(lines)} sentences of that length; {table.held_out} are held out", path=path)
        return random.Random(self._seed).sample(lines, table.held_out)

    def make_train_text(self) -> None:
        """The words of the whole of train."""

        def make() -> None:
            with write_atomically(self.train_text, "w") as file:
                file.writelines(" ".join(tree.forms) + "\n" for tree in _read(self.experiment.treebank.train))

        make_once("words of the treebank", self.train_text, {"files": _prints(self.experiment.treebank.train)}, make)

    def make_index(self) -> None:
        table = self.experiment.text
        files = [self.text, self.train_text]
        options: dict[str, Any] = {"order": table.index_order, "normalisation": SPLIT}

        def make() -> None:
            build_index(read_sentences(files, SPLIT), self.index, memory=parse_size(table.memory), **options)

        make_once("index", self.index, {"text": _prints(files), "order": table.index_order}, make)

    def make_language_model(self, table: LanguageModelTable) -> None:
        """Estimate it, and write down how long that took."""
        target = self.language_model(table.name)
        files = [self.text] if table.text else []
        banks = [self.treebank(table.treebank)] if table.treebank not in ("", ALL) else []
        files += [self.train_text] if table.treebank == ALL else []

        def make() -> None:
            began = time.monotonic()
            trees = (list(tree.forms) for path in banks for tree in read_conllu(path))
            sentences = chain(read_sentences(files, SPLIT) if files else (), trees)
            options: dict[str, Any] = {"order": table.order, "normalisation": SPLIT}
            estimate_model(sentences, target, memory=parse_size(self.experiment.text.memory), **options)
            write_json(target.with_suffix(".json"), {"seconds": round(time.monotonic() - began, 2)})

        make_once(f"model {table.name}", target, {"text": _prints([*files, *banks]), "order": table.order}, make)

    # ---- treebanks

    def make_treebank(self, table: TreebankTable) -> None:
        """Some of the projective sentences of train, with the heads that are asked for."""
        target = self.treebank(table.name)
        facts = {**asdict(table), "files": _prints(self.experiment.treebank.train), "seed": self._seed}
        facts |= {"with": parser_name()} if table.parser else {}

        def make() -> None:
            gold = self._choose_trees(table.sentences)
            before = list(self._parsed(gold)) if table.parser else gold
            after = list(self._moved(before, table.moved)) if table.moved else before
            with write_atomically(target, "w") as file:
                write_conllu(file, after)
            heads = [[tree.heads for tree in trees] for trees in (gold, before, after)]
            uas, kept = attachment(heads[0], heads[2]), attachment(heads[1], heads[2])
            made = NamedTreebank(len(after), sum(map(len, heads[0])), uas, kept, sum(map(is_projective, heads[2])))
            write_json(target.with_suffix(".json"), asdict(made))

        make_once(f"treebank {table.name}", target, facts, make)

    def _choose_trees(self, count: int) -> list[ConlluSentence]:
        """So many of the projective ones at random, in the order of the files; a smaller choice is part of a larger."""
        trees = [tree for tree in _read(self.experiment.treebank.train) if is_projective(tree.heads)]
        order = list(range(len(trees)))
        random.Random(self._seed).shuffle(order)
        return [trees[place] for place in sorted(order[: count or len(order)])]

    def _parsed(self, trees: Sequence[ConlluSentence]) -> Iterator[ConlluSentence]:
        """The same sentences and tags with the parser's heads and relations."""
        for tree, parsed in zip(trees, parse_trees((tree.forms for tree in trees), jobs=self.jobs), strict=True):
            rows = zip(tree.tokens, tree_to_conllu(parsed, "").tokens, strict=True)
            yield replace(tree, tokens=tuple(replace(old, head=new.head, deprel=new.deprel) for old, new in rows))

    def _moved(self, trees: Sequence[ConlluSentence], share: float) -> Iterator[ConlluSentence]:
        """Trees that are not projective, as a parser may make them, stay as they are."""
        whole = [tree for tree in trees if is_projective(tree.heads)]
        heads = ([head if head is not None else 0 for head in tree.heads] for tree in whole)
        moved = dict(zip(map(id, whole), move_heads(heads, share, self._seed), strict=True))
        for tree in trees:
            rows = zip(tree.tokens, moved.get(id(tree), tree.heads), strict=True)
            yield replace(tree, tokens=tuple(replace(token, head=head) for token, head in rows))

    # ---- bags

    def make_half(self) -> None:
        """The first, third … sentence of dev, for trainings."""
        self._write_trees(self.half, self.experiment.treebank.dev, lambda: self._dev(0))

    def make_bags(self, set_name: str) -> None:
        """The trees of a set, and its bags under all conditions that are asked for."""
        table, files = self._set_source(set_name)
        trees_of: dict[str, Callable[[], list[ConlluSentence]]] = {
            "test": lambda: list(_read(self.experiment.treebank.test)),
            "dev": lambda: self._dev(1),
        }
        read = trees_of.get(set_name) or (lambda: self._read_text(files, table))

        def make() -> list[ConlluSentence]:
            trees = read()
            random.Random(self._seed).shuffle(trees)
            return trees

        self._write_trees(self.trees(set_name), files, make)
        conditions = {run.given: parse_condition(run.given) for run in self.experiment.decodes() if run.set == set_name}
        for given, condition in conditions.items():
            self._write_bags(set_name, given, condition)

    def _set_source(self, set_name: str) -> tuple[SetTable | None, Sequence[str | Path]]:
        if set_name in HALVES:
            return None, getattr(self.experiment.treebank, set_name)
        table = self.experiment.sets.get(set_name)
        return table, table.references if table else [self.held_out]

    def _dev(self, half: int) -> list[ConlluSentence]:
        return list(_read(self.experiment.treebank.dev))[half::2]

    def _read_text(self, files: Sequence[str | Path], table: SetTable | None) -> list[ConlluSentence]:
        """Sentences as spaCy parses and tags them; the same sentence counts once."""
        how = SPLIT if table is None else Normalisation()
        field = "" if table is None else table.json_field
        paths = [Path(path) for path in files]
        lines = dict.fromkeys(tuple(s) for s in read_sentences(paths, how, jobs=self.jobs, json_field=field))
        parsed = parse_trees(lines, jobs=self.jobs)
        return [tree_to_conllu(tree, str(number)) for number, tree in enumerate(parsed, 1)]

    def _write_trees(self, target: Path, files: Sequence[str | Path], make: Callable[[], list[ConlluSentence]]) -> None:
        def write() -> None:
            trees = make()
            if not trees:
                raise InputError("found no sentence that can be used", path=files[0])
            with write_atomically(target, "w") as file:
                write_conllu(file, trees)

        make_once(target.stem, target, {"files": _prints(files), "seed": self._seed}, write)

    def _write_bags(self, set_name: str, given: str, condition: Condition) -> None:
        target, source = self.bags(set_name, given), self.trees(set_name)

        def write() -> None:
            annotation = condition.annotation(self._seed)
            with write_atomically(target, "w") as file:
                for number, tree in enumerate(read_conllu(source), 1):
                    sentence = tree_to_sentence(tree, tree.sent_id or str(number))
                    file.write(to_line(bag_to_record(sentence_to_bag(sentence, annotation))))

        make_once(target.stem, target, {"trees": fingerprint(source), "given": given, "seed": self._seed}, write)


def _read(files: Sequence[str]) -> Iterator[ConlluSentence]:
    """The sentences that every system can use."""
    return (tree for path in files for tree in read_conllu(path) if is_usable(tree))


def _prints(files: Sequence[str | Path]) -> list[dict[str, Any]]:
    return [fingerprint(Path(path)) for path in files]
