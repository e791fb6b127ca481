"""Functions that only compiled code calls, compiled for tests by themselves."""

from __future__ import annotations

from comparison.best_first import chart, feature, score, update
from comparison.best_first.compilation import outer

find_equivalent = outer(chart.find_equivalent)
score_edge = outer(score.score_edge)
ending_of = outer(score.ending_of)
features = outer(score.features)
rate = outer(score.rate)
lowest_gold = outer(update.lowest_gold)
mend = outer(update.mend)
next_item = outer(update.next_item)
take_up = outer(update.take_up)
update_weights = outer(update.update)
write_features = outer(feature.write_features)
sum_weights = outer(feature.sum_weights)
