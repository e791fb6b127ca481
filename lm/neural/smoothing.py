"""Scales that make a model fit for eight bits (SmoothQuant, Xiao et al. 2023).

smooth     the same model, its large activations moved into the weights behind them
SENTENCES  text to see the activations on

A few channels of the activations are a hundred times as large as the others, and a scale for a whole row leaves nothing
of those. Dividing a channel by s and multiplying the weights that read it by s changes no result; the division is free,
for it goes into the weights that made the channel: a norm, the values of attention, one side of the feed-forward part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from lm.neural.weights import Layer, Matrix, Shape, Weights

ALPHA = 0.7  # how much of a large activation goes over to the weights (equation 4)
_LEAST = 1e-5

SENTENCES = (
    "The council met on Tuesday evening to discuss the new bridge across the river.",
    "She said that nobody had told her about the change of plans until it was too late.",
    "Prices rose by 3.4 percent in the first quarter, more than most economists had expected.",
    '"We will not give up," the coach told reporters after the match in Madrid.',
    "In 1969, two astronauts walked on the moon while a third stayed in orbit above them.",
    "If you mix the flour with warm water and a little salt, the dough should rest for an hour.",
    "Why did the train to Hamburg leave eleven minutes early?",
    "The report, which was published last week, describes the state of roads and schools in the north.",
    "My grandmother's garden had apples, plums, pears and a very old walnut tree.",
    "Police have arrested three men in connection with the robbery of a jewellery shop.",
    "Although it was raining, thousands of people waited outside the theatre for tickets.",
    "The company plans to open 20 new shops in Spain, Portugal and France by the end of 2027.",
    "He can't remember where he put the keys, and he doesn't want to ask his brother again.",
    "Scientists at the university found that the birds return to the same island every spring.",
    "Members of Congress, fellow citizens: the work that lies before us is hard, and it is ours to do.",
    "A small boat was seen drifting near the coast (its engine had failed during the storm).",
    "Please send the documents to the office before Friday; otherwise the application will be refused.",
    "The museum is open daily from 10 a.m. to 6 p.m., except on Mondays.",
    "After years of talks, both governments signed an agreement on trade, fishing and energy.",
    "There is no evidence that the medicine helps patients under the age of twelve.",
    "the quickly of a road yesterday which green never under the seven , house",
    "minister . to the said week next and talks energy of new the for",
    "It was the best season the club had had since the war, and everyone in town knew it.",
    "Her first novel sold a million copies; her second was hardly noticed at all.",
    "Turn left at the church, walk past the bakery, and you will see the station on your right.",
    "The court ruled that the law of 2011 had been applied to cases for which it was never meant.",
    "Temperatures of more than 40 °C were measured in parts of Italy, Greece and Turkey.",
    "What began as a joke among students has become one of the largest festivals in the country.",
    "The minister thanked the nurses, doctors and volunteers who had worked through the night.",
    "Nothing in the letter explained how the money had been lost, or who had known about it.",
)


@dataclass(frozen=True)
class _SmoothLayers(Sequence[Layer]):
    """The layers, each smoothed when it is asked for."""

    shape: Shape
    layers: Sequence[Layer]
    ranges: Mapping[str, Matrix]

    def __len__(self) -> int:
        return len(self.layers)

    @overload
    def __getitem__(self, number: int) -> Layer: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Layer]: ...
    def __getitem__(self, number: int | slice) -> Layer | Sequence[Layer]:
        if isinstance(number, slice):
            return _SmoothLayers(self.shape, self.layers[number], self.ranges)
        if not 0 <= number < len(self):
            raise IndexError(number)
        return _smooth_layer(self.shape, self.layers[number], self._of(number))

    def _of(self, number: int) -> dict[str, Matrix]:
        parts = ("attention", "output", "feed", "down")
        return {part: self.ranges[f"{number}.{part}"] for part in parts}


def smooth(weights: Weights, ranges: Mapping[str, Matrix], head_range: Matrix) -> Weights:
    """`ranges` are the largest activations that lm.neural.graph observes; `head_range` those of the last norm."""
    scale = _scale(head_range, weights.head)
    return replace(
        weights,
        layers=_SmoothLayers(weights.shape, weights.layers, ranges),
        norm=weights.norm / scale,
        head=weights.head * scale,
    )


def _smooth_layer(shape: Shape, layer: Layer, largest: Mapping[str, Matrix]) -> Layer:
    readers = np.concatenate([layer.query, layer.key, layer.value])
    attention = _scale(largest["attention"], readers)
    value, value_bias, output = layer.value * attention, layer.value_bias, layer.output
    # A value is read by all query heads of its key head, so these share its scale.
    grouped = (shape.key_heads, shape.heads // shape.key_heads, shape.head_width)
    by_head = np.abs(output).reshape(len(output), *grouped).max(axis=2).reshape(len(output), -1)
    mixed = _scale(largest["output"].reshape(grouped).max(axis=1).ravel(), by_head)
    spread = np.repeat(mixed.reshape(shape.key_heads, 1, -1), grouped[1], axis=1).ravel()
    feed = _scale(largest["feed"], np.concatenate([layer.gate, layer.up]))
    down = _scale(largest["down"], layer.down)
    return replace(
        layer,
        attention_norm=layer.attention_norm / attention,
        query=layer.query * attention,
        key=layer.key * attention,
        value=value / mixed[:, None],
        value_bias=None if value_bias is None else value_bias / mixed,
        output=output * spread,
        feed_norm=layer.feed_norm / feed,
        gate=layer.gate * feed,
        up=layer.up * feed / down[:, None],
        down=layer.down * down,
    )


def _scale(activation: Matrix, readers: Matrix) -> Matrix:
    """What the channels are divided by; its geometric mean is 1."""
    weight = np.maximum(np.abs(readers).max(axis=0), _LEAST)
    scale = np.maximum(activation, _LEAST) ** ALPHA / weight ** (1 - ALPHA)
    return np.asarray(scale / np.exp(np.log(scale).mean()), np.float32)
