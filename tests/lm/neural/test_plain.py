"""The forward pass: against loops over single numbers, transformers where it is there, and what must hold of any."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lm.neural.checkpoint import open_checkpoint
from lm.neural.gguf_file import read_gguf
from lm.neural.plain import hidden_states, log_probabilities, string_cost
from lm.neural.weights import Weights
from tests.lm.neural.tiny import FAMILIES, TinyModel, needs_default, tiny_model, write_folder, write_gguf

IDS = [0, 17, 290, 35, 35, 120, 301, 9, 64, 2]


def _weights(model: TinyModel, folder: Path) -> Weights:
    return read_gguf(write_gguf(model, folder / "tiny.gguf")).read_weights()


@pytest.mark.parametrize("kind", FAMILIES)
def test_rows_are_distributions_and_the_cost_is_their_sum(kind: str, tmp_path: Path) -> None:
    weights = _weights(tiny_model(kind), tmp_path)
    rows = log_probabilities(weights, IDS)
    assert rows.shape == (len(IDS), weights.shape.vocabulary)
    assert rows.dtype == np.float32
    assert np.allclose(np.exp(rows.astype(np.float64)).sum(axis=-1), 1, atol=1e-5)
    expected = -math.fsum(float(rows[place, piece]) for place, piece in enumerate(IDS[1:]))
    assert math.isclose(string_cost(weights, IDS), expected, rel_tol=1e-5)
    assert string_cost(weights, IDS[:1] + IDS[:1]) == -float(log_probabilities(weights, IDS[:1])[0, IDS[0]])


@pytest.mark.parametrize("kind", FAMILIES)
def test_what_comes_later_does_not_change_what_was_before(kind: str, tmp_path: Path) -> None:
    weights = _weights(tiny_model(kind), tmp_path)
    whole = log_probabilities(weights, IDS, np.float64)
    other = log_probabilities(weights, [*IDS[:5], 100, 200, 3], np.float64)
    assert np.allclose(whole[:5], other[:5], atol=1e-12)
    assert np.abs(whole[5:8] - other[5:]).max() > 1e-3


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_order_counts(kind: str, tmp_path: Path) -> None:
    """Without positions the last row of a one-layer model would only see a bag."""
    weights = _weights(tiny_model(kind, num_hidden_layers=1), tmp_path)
    one, other = (log_probabilities(weights, ids)[-1] for ids in ([0, 11, 12, 13], [0, 12, 11, 13]))
    assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("kind", FAMILIES)
def test_float32_agrees_with_float64(kind: str, tmp_path: Path) -> None:
    weights = _weights(tiny_model(kind), tmp_path)
    exact = log_probabilities(weights, IDS, np.float64)
    assert exact.dtype == np.float64
    assert np.abs(exact - log_probabilities(weights, IDS)).max() < 1e-4
    assert np.allclose(exact, _from_states(weights), atol=1e-9)


def _from_states(weights: Weights) -> Any:
    logits = hidden_states(weights, IDS, np.float64) @ weights.head.T.astype(np.float64)
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_folder_and_a_gguf_file_give_the_same_numbers(kind: str, tmp_path: Path) -> None:
    model = tiny_model(kind, seed=2, tied=False)
    folder = open_checkpoint(write_folder(model, tmp_path / "folder")).read_weights()
    assert np.allclose(log_probabilities(folder, IDS), log_probabilities(_weights(model, tmp_path), IDS), atol=1e-5)


# ---- loops over single numbers, out of the tensors as Hugging Face names them


def _dot(row: list[float], vector: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(row, vector, strict=True))


def _times(matrix: Any, vector: list[float], bias: Any = None) -> list[float]:
    rows = [_dot([float(x) for x in row], vector) for row in matrix]
    return rows if bias is None else [value + float(more) for value, more in zip(rows, bias, strict=True)]


class _Loops:
    """The forward pass of one position after the other, with keys and values kept."""

    def __init__(self, model: TinyModel, pairs: list[list[float]]) -> None:
        self.model, self.config, self.tensors = model, model.config, model.tensors
        self.gemma = model.family == "gemma3"
        self.pairs = pairs  # by layer, how much a position turns each pair
        layers = self.config["num_hidden_layers"]
        self.keys: list[list[list[float]]] = [[] for _ in range(layers)]
        self.values: list[list[list[float]]] = [[] for _ in range(layers)]

    def norm(self, vector: list[float], name: str) -> list[float]:
        scale = math.sqrt(_dot(vector, vector) / len(vector) + self.config["rms_norm_eps"])
        weights = [float(weight) + (1.0 if self.gemma else 0.0) for weight in self.tensors[name]]
        return [value / scale * weight for value, weight in zip(vector, weights, strict=True)]

    def norm_if(self, vector: list[float], name: str) -> list[float]:
        return self.norm(vector, name) if name in self.tensors else vector

    def turned(self, head: list[float], place: int, layer: int) -> list[float]:
        half = len(head) // 2
        found = [0.0] * len(head)
        for pair, turn in enumerate(self.pairs[layer]):
            # A pair is a complex number, and a position turns it.
            number = complex(head[pair], head[pair + half]) * complex(math.cos(place * turn), math.sin(place * turn))
            found[pair], found[pair + half] = number.real, number.imag
        return found

    def project(self, vector: list[float], layer: int, part: str) -> list[float]:
        name = f"model.layers.{layer}.self_attn.{part}_proj"
        return _times(self.tensors[f"{name}.weight"], vector, self.tensors.get(f"{name}.bias"))

    def heads(self, vector: list[float], layer: int, part: str, place: int) -> list[float]:
        """Queries or keys: projected, normalised and turned, head by head."""
        size, found = self.config["head_dim"], []
        flat = self.project(vector, layer, part)
        for start in range(0, len(flat), size):
            head = self.norm_if(flat[start : start + size], f"model.layers.{layer}.self_attn.{part}_norm.weight")
            found += self.turned(head, place, layer)
        return found

    def attend(self, vector: list[float], layer: int, place: int) -> list[float]:
        size, heads = self.config["head_dim"], self.config["num_attention_heads"]
        share = heads // self.config["num_key_value_heads"]
        queries = self.heads(vector, layer, "q", place)
        self.keys[layer].append(self.heads(vector, layer, "k", place))
        self.values[layer].append(self.project(vector, layer, "v"))
        found: list[float] = []
        for head in range(heads):
            mine = queries[head * size : (head + 1) * size]
            theirs = slice(head // share * size, (head // share + 1) * size)
            products = [math.exp(_dot(mine, keys[theirs]) / math.sqrt(size)) for keys in self.keys[layer]]
            for item in range(size):
                values = [one[theirs][item] for one in self.values[layer]]
                found.append(_dot(products, values) / math.fsum(products))
        return self.project(found, layer, "o")

    def feed(self, vector: list[float], layer: int) -> list[float]:
        name = f"model.layers.{layer}.mlp"
        gates = _times(self.tensors[f"{name}.gate_proj.weight"], vector)
        if self.gemma:
            root = math.sqrt(2 / math.pi)
            gates = [0.5 * gate * (1 + math.tanh(root * (gate + 0.044715 * gate**3))) for gate in gates]
        else:
            gates = [gate / (1 + math.exp(-gate)) for gate in gates]
        ups = _times(self.tensors[f"{name}.up_proj.weight"], vector)
        inner = [gate * up for gate, up in zip(gates, ups, strict=True)]
        return _times(self.tensors[f"{name}.down_proj.weight"], inner)

    def step(self, piece: int, place: int) -> list[float]:
        """The log-probabilities after one more piece."""
        embedding = self.tensors["model.embed_tokens.weight"]
        scale = math.sqrt(self.config["hidden_size"]) if self.gemma else 1.0
        stream = [float(value) * scale for value in embedding[piece]]
        for layer in range(self.config["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            before = f"{name}.{'pre_feedforward' if self.gemma else 'post_attention'}_layernorm.weight"
            added = self.attend(self.norm(stream, f"{name}.input_layernorm.weight"), layer, place)
            if self.gemma:
                added = self.norm(added, f"{name}.post_attention_layernorm.weight")
            stream = [a + b for a, b in zip(stream, added, strict=True)]
            added = self.feed(self.norm(stream, before), layer)
            added = self.norm_if(added, f"{name}.post_feedforward_layernorm.weight")
            stream = [a + b for a, b in zip(stream, added, strict=True)]
        logits = _times(self.tensors.get("lm_head.weight", embedding), self.norm(stream, "model.norm.weight"))
        total = math.log(math.fsum(math.exp(logit) for logit in logits))
        return [logit - total for logit in logits]


def _turns(model: TinyModel) -> list[list[float]]:
    """How much a position turns each pair, by layer, as the papers and config.json have it."""
    config, half = model.config, model.config["head_dim"] // 2
    found = []
    for layer in range(config["num_hidden_layers"]):
        local = model.family == "gemma3" and layer % 6 != 5
        base = 10_000.0 if local else config["rope_theta"]
        turns = [base ** (-pair / half) for pair in range(half)]
        if "rope_scaling" in config:
            turns = [_llama3(turn, config["rope_scaling"]) for turn in turns]
        found.append(turns)
    return found


def _llama3(turn: float, scaling: dict[str, float]) -> float:
    """Llama 3.1's rule by cases, as its authors wrote it in terms of wave lengths."""
    wave, old = 2 * math.pi / turn, scaling["original_max_position_embeddings"]
    if wave < old / scaling["high_freq_factor"]:
        return turn
    if wave > old / scaling["low_freq_factor"]:
        return turn / scaling["factor"]
    smooth = (old / wave - scaling["low_freq_factor"]) / (scaling["high_freq_factor"] - scaling["low_freq_factor"])
    return (1 - smooth) * turn / scaling["factor"] + smooth * turn


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_numbers_are_those_of_loops(kind: str, tmp_path: Path) -> None:
    model = tiny_model(kind, seed=9, tied=kind != "qwen3")
    loops = _Loops(model, _turns(model))
    expected = [loops.step(piece, place) for place, piece in enumerate(IDS[:6])]
    found = log_probabilities(_weights(model, tmp_path), IDS[:6], np.float64)
    assert np.allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_the_numbers_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="compares with transformers where torch is installed")
    transformers = pytest.importorskip("transformers", reason="compares with transformers where it is installed")
    model = tiny_model(kind, seed=9)
    folder = write_folder(model, tmp_path / "folder")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = theirs(torch.tensor([IDS])).logits[0]
    expected = torch.log_softmax(logits.double(), -1).numpy()
    assert np.abs(log_probabilities(open_checkpoint(folder).read_weights(), IDS) - expected).max() < 1e-3


@needs_default
def test_the_embedded_model_prefers_english_to_shuffled_english() -> None:
    checkpoint = open_checkpoint("default")
    weights = checkpoint.read_weights()
    weights = replace(weights, layers=list(weights.layers))
    text = "The government said on Tuesday that it would not raise taxes before the next election."
    words = text.split(" ")
    shuffled = random.Random(1).sample(words, len(words))
    costs = []
    for order in (words, shuffled):
        pieces, _ = checkpoint.tokenizer.encode([" ".join(order)])[0]
        costs.append(string_cost(weights, [checkpoint.start, *pieces, checkpoint.end]) / len(words))
    assert 4 < costs[0] < 6
    assert costs[1] > costs[0] + 3
