from __future__ import annotations

import numpy as np
import pytest

from gyro.errors import InputError
from gyro.lattice.arc_weight import ArcWeight

INF = float("inf")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("standard", (1, False, False)),
        ("log", (1, False, False)),
        ("log64", (1, True, False)),
        ("tropical_LT_tropical", (2, False, False)),
        ("tropical64_LT_tropical64", (2, True, False)),
        ("tropical_^3", (3, False, False)),
        ("log64_^12", (12, True, False)),
        ("tropical_^n", (0, False, False)),
        ("tropicalsparsetuple", (0, False, True)),
        ("tropicalsparsetuple64", (0, True, True)),
    ],
)
def test_types(name: str, expected: tuple[int, bool, bool]) -> None:
    weight = ArcWeight.of_type(name)
    assert (weight.count, weight.double, weight.adds_default) == expected
    assert weight.is_sparse == (expected[0] == 0)


@pytest.mark.parametrize(
    "name",
    ["", "real", "tropical_LT_log", "tropical_LT_tropical64", "tropical_^0", "tropical_^99999", "tropical_^n_64"],
)
def test_other_types_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"found .*arcs; standard, log, .* are allowed"):
        ArcWeight.of_type(name)


@pytest.mark.parametrize(
    ("name", "scales", "message"),
    [
        ("standard", (1.0, 2.0), "standard arcs, with one cost each, and 2 scales; as many of both are needed"),
        ("tropical_LT_tropical", (1.0,), "2 costs each, and 1 scales"),
        ("tropical_^3", (), "3 costs each; as many scales are needed: --scales"),
        ("tropical_^3", (1.0, 1.0), "3 costs each, and 2 scales"),
        ("tropical_^n", (), "sparse tuples of costs; the scales of their components are needed: --scales"),
        ("tropicalsparsetuple", (), "--scales"),
    ],
)
def test_scales_that_do_not_fit(name: str, scales: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ArcWeight.of_type(name).check_scales(scales)


@pytest.mark.parametrize(
    ("numbers", "scales", "cost"),
    [
        ((1.5, 0.25), (), 1.5),
        ((1.5, 0.25), (1.0, 0.0), 1.5),
        ((1.5, 0.25), (1.0, -1.0), 1.25),
        ((1.5, 0.25), (0.5, 4.0), 1.75),
        ((1.5, INF), (2.0, 0.0), 3.0),
        ((1.5, INF), (2.0, 1.0), INF),
        ((INF, INF), (0.0, -1.0), INF),
    ],
)
def test_the_cost_is_the_sum_of_scaled_numbers(
    numbers: tuple[float, float], scales: tuple[float, ...], cost: float
) -> None:
    found = ArcWeight.of_type("tropical_LT_tropical").costs(np.array([numbers], np.float32), scales)
    assert found.tolist() == [cost]
    assert found.dtype == np.float32


def test_a_cost_beyond_single_precision_is_refused() -> None:
    with pytest.raises(InputError, match="too large"):
        ArcWeight.of_type("log64").costs(np.array([[1e300]]), ())
