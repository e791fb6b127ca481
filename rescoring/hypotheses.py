"""What other systems say as the strings to choose from, as a source of lattices.

open_hypotheses  outputs of several systems, or an n-best list, tokenised as evidence is
only_ids         the lattices of a source that have given ids

A string that several systems say is one path, with the sum of their weights: it costs minus the logarithm of its share
of all, so that at a scale of 1 the posteriors of such a lattice are those of the same file as evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from gyro.checksum import file_checksum
from gyro.errors import InputError
from gyro.lattice.lattice import Hypothesis, Lattice
from gyro.text.corpus import Normalisation, tokenize
from rescoring.source import LatticeItem, LatticeSource, id_places, open_lattices
from rescoring.string_evidence import Tokens, Weights, read_outputs


def open_hypotheses(
    path: str,
    format: str,
    normalisation: Normalisation,
    *,
    field: str = "outputs",
    weights: Weights | None = None,
) -> LatticeSource:
    """The strings of each sentence as a lattice; the format is "outputs" or "nbest"."""
    if format == "outputs":
        return _open_outputs(path, normalisation, field, weights)
    if format != "nbest":
        raise InputError(f"found the format {format!r} of hypotheses; outputs and nbest are allowed")
    if weights:
        raise InputError("found weights of systems for an n-best list; they are for outputs")
    if Path(path).is_dir() or path.removesuffix(".gz").endswith(".fst"):
        raise InputError("found lattices; an n-best list is needed", path=path)
    source = open_lattices(path)
    items = [LatticeItem(item.id, partial(_tokenised, item, normalisation)) for item in source]
    return LatticeSource(path, items, _signature(source.signature, normalisation))


def _open_outputs(path: str, normalisation: Normalisation, field: str, weights: Weights | None) -> LatticeSource:
    said = read_outputs(path, normalisation, field=field, weights=weights)
    rows = zip(said.ids, said.strings, said.weights, strict=True)
    items = [LatticeItem(id, partial(_lattice_of_shares, strings, shares)) for id, strings, shares in rows]
    chosen = f"{file_checksum(path)} {field} {sorted((weights or {}).items())}"
    words = {token for strings in said.strings for string in strings for token in string}
    return LatticeSource(path, items, _signature(chosen, normalisation), words)


def _lattice_of_shares(strings: Sequence[Tokens], weights: Sequence[float]) -> Lattice:
    shares: dict[Tokens, float] = {}
    for tokens, weight in zip(strings, weights, strict=True):
        shares[tokens] = shares.get(tokens, 0.0) + weight
    total = sum(shares.values())
    return _lattice([Hypothesis(tokens, math.log(total / share)) for tokens, share in shares.items() if share > 0])


def _tokenised(item: LatticeItem, normalisation: Normalisation) -> Lattice:
    lattice = item.lattice()
    found = [] if lattice is None else lattice.strings()
    return _lattice([Hypothesis(tuple(tokenize(" ".join(h.tokens), normalisation)), h.cost) for h in found])


def _lattice(strings: Sequence[Hypothesis]) -> Lattice:
    return Lattice.from_strings(sorted({token for string in strings for token in string.tokens}), strings)


def only_ids(source: LatticeSource, ids: Iterable[str]) -> LatticeSource:
    """The lattices with these ids, in their order."""
    seen: set[str] = set()
    for item in source:
        if item.id in seen:
            raise InputError(
                f"found the id {item.id!r:.60} twice; to choose by id each may come once", path=source.path
            )
        seen.add(item.id)
    wanted = list(ids)
    known = id_places([item.id for item in source], wanted)
    for id in wanted:
        if id not in known:
            raise InputError(f"found no lattice with the id {id!r:.60} among {len(known)}", path=source.path)
    signature = sha256("\n".join((source.signature, *wanted)).encode()).hexdigest()[:12]
    return LatticeSource(source.path, [source[known[id]] for id in wanted], signature)


def _signature(contents: str, normalisation: Normalisation) -> str:
    chosen = f"{contents} {normalisation.tokenizer} {normalisation.lowercase}"
    return sha256(chosen.encode()).hexdigest()[:12]
