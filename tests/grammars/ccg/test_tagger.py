from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars.ccg.derivation import Derivation, Leaf, Node, leaves, read_auto
from grammars.ccg.tagger import MINIMUM_COUNT, PENALTY, RATE, MultiTagger, features_of, load_tagger, train_tagger
from gyro.errors import InputError
from tests.outside import SICK, needs_sick

BITS = 16
IV, TV = "S[dcl]\\NP", "(S[dcl]\\NP)/NP"
# "saw" has three categories here, and its neighbours tell which.
SENTENCES = [
    "the/DT/NP[nb]/N saw/NN/N",
    f"they/PRP/NP saw/VBD/{TV} the/DT/NP[nb]/N cat/NN/N",
    f"they/PRP/NP saw/VBD/{IV}",
    f"the/DT/NP[nb]/N cat/NN/N saw/VBD/{TV} the/DT/NP[nb]/N old/JJ/N/N saw/NN/N",
    f"the/DT/NP[nb]/N old/NN/N saw/VBD/{IV}",
]
ALPHABET = st.sampled_from(["a", "the", "Cat", "U.S.", "1984", "été", "x-y"])
ROWS = st.lists(st.tuples(ALPHABET, st.sampled_from(["DT", "NN", "VB"])), min_size=1, max_size=8)


def tree(sentence: str) -> Derivation:
    """A derivation of no linguistic worth over the given leaves."""
    derivation: Derivation | None = None
    for token in sentence.split():
        word, pos, category = token.split("/", 2)
        leaf = Leaf.plain(category, word, pos)
        derivation = leaf if derivation is None else Node("S", "", 0, (derivation, leaf))
    assert derivation is not None
    return derivation


TREES = [tree(sentence) for sentence in SENTENCES]


@pytest.fixture(scope="module")
def tagger() -> MultiTagger:
    return train_tagger(TREES, epochs=30, seed=1, cutoff=2, bits=BITS)


def score(tagger: MultiTagger, row: np.ndarray, category: str) -> float:
    """The sum of weights by the definition in the module's first lines."""
    number = sorted(tagger.lexicon.categories).index(category)
    return float(sum(tagger.weights[(int(feature) + number) % len(tagger.weights)] for feature in row))


@given(ROWS)
def test_probabilities_are_the_softmax_over_the_candidates(tagger: MultiTagger, rows: list[tuple[str, str]]) -> None:
    words, pos = [word for word, _ in rows], [tag for _, tag in rows]
    for row, word, tag, found in zip(features_of(words, pos), words, pos, tagger.tag(words, pos, 0.0), strict=True):
        candidates = tagger.lexicon.categories_of(word, tag)
        powers = np.exp([score(tagger, row, category) for category in candidates])
        wanted = dict(zip(candidates, powers / powers.sum(), strict=True))
        assert dict(found) == pytest.approx(wanted, abs=1e-6)
        assert [p for _, p in found] == sorted(dict(found).values(), reverse=True)


@given(ROWS, st.floats(0, 1))
def test_the_cutoff_keeps_what_is_at_least_beta_times_the_best(
    tagger: MultiTagger, rows: list[tuple[str, str]], beta: float
) -> None:
    words, pos = [word for word, _ in rows], [tag for _, tag in rows]
    for everything, kept in zip(tagger.tag(words, pos, 0.0), tagger.tag(words, pos, beta), strict=True):
        best = max(p for _, p in everything)
        assert kept == [(category, p) for category, p in everything if p >= beta * best]
        assert kept


def test_the_neighbours_decide(tagger: MultiTagger) -> None:
    for derivation in TREES:
        row = leaves(derivation)
        tagged = tagger.tag([leaf.word for leaf in row], [leaf.pos for leaf in row], 1.0)
        assert [found[0][0] for found in tagged] == [leaf.category for leaf in row]
    assert len(tagger.tag(["they", "saw"], ["PRP", "VBD"], 0.0)[1]) == 3  # seen five times: all that the word had
    assert dict(tagger.tag(["dog"], ["JJ"], 0.0)[0]) == {"N/N": 1.0}  # never seen: what its tag had
    assert len(tagger.tag(["dog"], ["?"], 0.0)[0]) > 1


def test_training_is_adagrad_on_the_log_likelihood() -> None:
    """The weights of a plain Python loop with dictionaries, in double precision."""
    epochs, seed = 3, 7
    tagger = train_tagger(TREES, epochs=epochs, seed=seed, cutoff=2, bits=BITS)
    examples = []
    for derivation in TREES:
        row = leaves(derivation)
        examples += list(zip(features_of([x.word for x in row], [x.pos for x in row]), row, strict=True))
    counts = Counter(int(feature) for features, _ in examples for feature in features)
    names = tagger.lexicon.categories
    weights, squares = np.zeros(1 << BITS), np.zeros(1 << BITS)
    random = np.random.default_rng(seed)
    for example in itertools.chain(*(random.permutation(len(examples)) for _ in range(epochs))):
        features, leaf = examples[example]
        known = [int(feature) for feature in features if counts[int(feature)] >= MINIMUM_COUNT]
        candidates = tagger.lexicon.categories_of(leaf.word, leaf.pos)
        places = [[(feature + names.index(c)) % (1 << BITS) for feature in known] for c in candidates]
        powers = np.exp([sum(weights[place] for place in own) for own in places])
        for c, probability, own in zip(candidates, powers / powers.sum(), places, strict=True):
            for place in own if len(candidates) > 1 else ():
                slope = probability - (c == leaf.category) + PENALTY * weights[place]
                squares[place] += slope**2
                weights[place] -= RATE * slope / squares[place] ** 0.5
    assert np.count_nonzero(weights) > 50
    np.testing.assert_allclose(tagger.weights, weights, atol=1e-4)


def test_the_same_seed_gives_the_same_tagger() -> None:
    one, same, other = (train_tagger(TREES, epochs=2, seed=seed, cutoff=2, bits=BITS).weights for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@given(ROWS, st.integers(0, 7), ALPHABET)
def test_features_see_two_words_to_either_side(rows: list[tuple[str, str]], place: int, word: str) -> None:
    place %= len(rows)
    words, pos = [word for word, _ in rows], [tag for _, tag in rows]
    changed = [*words[:place], word, *words[place + 1 :]]
    before, after = features_of(words, pos), features_of(changed, pos)
    different = {i - place: int(n) for i, n in enumerate((before != after).sum(axis=1)) if n}
    if changed == words:
        assert different == {}
    else:
        near = {i - place for i in range(len(words)) if abs(i - place) <= 2}
        assert set(different) == near
        assert all(different[i] == 3 - abs(i) for i in near if i)  # at 1 the word and a pair, at 2 the word


def test_a_saved_tagger_is_the_same(tagger: MultiTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "new" / "tagger")
    loaded = load_tagger(tmp_path / "new" / "tagger")
    assert np.array_equal(loaded.weights, tagger.weights)
    assert loaded.lexicon == tagger.lexicon
    words, pos = ["the", "saw", "dog"], ["DT", "NN", "NN"]
    assert loaded.tag(words, pos, 0.0001) == tagger.tag(words, pos, 0.0001)
    loaded.save(tmp_path / "again")
    for name in ("tagger.json", "weights.npz"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "new" / "tagger" / name).read_bytes()


def change_setting(name: str, value: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "tagger.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))

    return change


def put_pickle(folder: Path) -> None:
    np.savez(folder / "weights.npz", weights=np.array([{}], dtype=object))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: shutil.rmtree(folder), "tagger.json: cannot read"),
        (lambda folder: (folder / "weights.npz").unlink(), "weights.npz: not the weights of a tagger"),
        (
            lambda folder: (folder / "weights.npz").write_bytes(b"PK\x03\x04"),
            "weights.npz: not the weights of a tagger",
        ),
        (lambda folder: (folder / "weights.npz").write_bytes(b""), "weights.npz: not the weights of a tagger"),
        (
            lambda folder: np.savez(folder / "weights.npz", other=np.zeros(4)),
            "weights.npz: not the weights of a tagger",
        ),
        (put_pickle, "weights.npz: not the weights of a tagger"),
        (lambda folder: np.savez(folder / "weights.npz", weights=np.zeros(4)), "not the weights of a tagger"),
        (lambda folder: np.savez(folder / "weights.npz", weights=np.zeros(4, np.float32)), "not the weights that"),
        (change_setting("format", "other"), "tagger.json: found 'other' version 1; "),
        (change_setting("version", 99), "version 99; 'gyro CCG multi-tagger' version 1 is allowed"),
        (change_setting("lexicon", None), "found a lexicon without a cut-off"),
    ],
)
def test_damaged_taggers_are_refused(
    tagger: MultiTagger, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    folder = tmp_path / "tagger"
    tagger.save(folder)
    damage(folder)
    with pytest.raises(InputError, match=message):
        load_tagger(folder)


def test_what_cannot_be_tagged_is_refused(tagger: MultiTagger, tmp_path: Path) -> None:
    assert tagger.tag([], [], 0.5) == []
    with pytest.raises(InputError, match="found 1 parts of speech for 2 words"):
        tagger.tag(["a", "b"], ["DT"], 0.5)
    for beta in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match=r"found β = .*; 0 to 1 is allowed"):
            tagger.tag(["a"], ["DT"], beta)
    with pytest.raises(InputError, match="found no derivations"):
        train_tagger([], epochs=1, seed=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        tagger.save(tmp_path / "file")


@needs_sick
def test_a_real_file_is_learnt_from_words_alone() -> None:
    trees = [entry.derivation for entry in read_auto(SICK)][:200]
    tagger = train_tagger(trees[:160], epochs=5, seed=0, bits=20)
    right = recalled = kept = everything = 0
    for row in map(leaves, trees[160:]):
        for leaf, found in zip(row, tagger.tag([x.word for x in row], [x.pos for x in row], 0.01), strict=True):
            right += found[0][0] == leaf.category
            recalled += leaf.category in dict(found)
            kept += len(found)
            everything += 1
    assert right > 0.85 * everything  # the file has no parts of speech
    assert recalled > right
    assert kept < 5 * everything
