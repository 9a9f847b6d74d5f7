"""Scanning: inputs at the edge, and options."""

import math

import numpy as np
import pytest

import secant
from secant._base.progress import showing


def test_a_generator_decides_the_draws():
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = rng.random(300) < p
    seeded = [secant.scan(y, p, rng=seed, draws=99).critical for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]
    assert secant.scan(y, p, rng=np.random.default_rng(1), draws=99).critical == seeded[0]
    with pytest.raises(secant.InputError, match="rng must be"):
        secant.scan(y, p, rng="x")


def test_certain_scores():
    right = secant.scan([0, 1, 1], [0, 1, 1])
    assert (right.pvalue, right.statistic, right.n_ranges, right.found) == (1, 0, 0, False)
    assert "no range to scan" in str(right)
    wrong = secant.scan([0, 0, 1], [0, 1, 1])
    assert (wrong.pvalue, wrong.n_forbidden, wrong.found) == (0, 1, True)
    assert "refutes" in str(wrong)
    mixed = secant.scan([0, 1, 0, 1], [0, 0, 0.5, 0.5])
    assert (mixed.n, mixed.worst.n, mixed.n_forbidden) == (4, 2, 1)


def test_an_event_of_the_smallest_chance_is_noticed():
    p = np.append(np.full(50, 0.5), 5e-324)
    result = secant.scan(np.append(np.arange(50) % 2, 1), p)
    assert math.isfinite(result.statistic)


def test_one_row():
    assert secant.scan([1], [0.3], draws=9999).pvalue == pytest.approx(0.3, abs=0.03)
    assert secant.scan([0], [0.3]).pvalue == 1


@pytest.mark.parametrize("draws", [0, 2.5, "many", None, True])
def test_bad_draws_are_refused(draws):
    with pytest.raises(secant.InputError, match="draws must be a whole number"):
        secant.scan([0, 1], [0.1, 0.2], draws=draws)


def test_long_work_says_how_far_it_is():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    told = []
    with showing(lambda done, total: told.append((done, total))):
        secant.scan(rng.random(3000) < p, p, draws=500, rng=1)
    assert told == sorted(told)
    assert told[-1] == (500, 500)
    assert len(told) > 1
