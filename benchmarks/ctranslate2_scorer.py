"""The same model in CTranslate2, where that package is installed: another runtime with wheels on PyPI.

BATCHES      sizes of batches to try
open_scorer  a function from strings of pieces, marks included, to their costs; None where it cannot be had

Models with biases, norms of heads or norms after a part are not written for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.neural.weights import Checkpoint, Layer, Matrix

BATCHES = (128, 512, 2048)  # tokens that it scores together: which is best depends on precision and machine

Scorer = Callable[[Sequence[Sequence[int]]], NDArray[np.float64]]


def open_scorer(checkpoint: Checkpoint, folder: Path, precision: str, batch: int) -> Scorer | None:
    """Write the model as CTranslate2 wants it and open it in "float32" or "int8", on one thread."""
    layer = checkpoint.read_weights().layers[0]
    others = (layer.query_bias, layer.query_norm, layer.attention_post_norm, layer.feed_post_norm)
    if checkpoint.shape.activation != "silu" or any(part is not None for part in others):
        return None
    try:
        import ctranslate2
    except ImportError:
        return None
    if not (folder / "model.bin").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(checkpoint, folder)
    generator = ctranslate2.Generator(str(folder), compute_type=precision, intra_threads=1, inter_threads=1)

    def score(strings: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        tokens = [[str(piece) for piece in string] for string in strings]
        found = generator.score_batch(tokens, max_batch_size=batch, batch_type="tokens")
        return np.array([-sum(each.log_probs) for each in found])

    return score


def _write(checkpoint: Checkpoint, folder: Path) -> None:
    from ctranslate2.specs import common_spec, transformer_spec

    shape, weights = checkpoint.shape, checkpoint.read_weights()
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(
        shape.layers,
        shape.heads,
        activation=common_spec.Activation.SWISH,
        pre_norm=True,
        ffn_glu=True,
        rms_norm=True,
        rotary_dim=0,
        rotary_interleave=False,
        rotary_base=shape.frequencies[0][1] ** (-shape.head_width / 2),
        num_heads_kv=shape.key_heads,
    )
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = weights.embedding
    decoder.layer_norm.gamma = weights.norm
    decoder.projection.weight = weights.head
    for target, layer in zip(decoder.layer, weights.layers, strict=True):
        _fill(target, layer)
    spec.register_vocabulary([str(piece) for piece in range(shape.vocabulary)])
    spec.config.bos_token = spec.config.unk_token = str(checkpoint.start)
    spec.config.eos_token = str(checkpoint.end)
    spec.config.layer_norm_epsilon = shape.epsilon
    spec.validate()
    spec.save(str(folder))


def _fill(target: object, layer: Layer) -> None:
    fused = np.concatenate([layer.query, layer.key, layer.value])
    parts: dict[str, Matrix] = {
        "self_attention.layer_norm.gamma": layer.attention_norm,
        "self_attention.linear.0.weight": fused,
        "self_attention.linear.1.weight": layer.output,
        "ffn.layer_norm.gamma": layer.feed_norm,
        "ffn.linear_0.weight": layer.gate,
        "ffn.linear_0_noact.weight": layer.up,
        "ffn.linear_1.weight": layer.down,
    }
    for path, matrix in parts.items():
        *names, last = path.split(".")
        place = target
        for name in names:
            place = place[int(name)] if name.isdigit() else getattr(place, name)  # type: ignore[index]
        setattr(place, last, matrix)
