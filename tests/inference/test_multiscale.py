"""The ranges that a scan looks at, and the draws they are judged by."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given

import secant
from datasets import datasets
from secant._api import scan
from secant._inference import multiscale
from secant._input.observations import observations
from ties import family


@given(datasets(most=200))
def test_ranges_cover_everything_and_cut_no_tie(data):
    y, p, w = data
    ties, ranges = family(y, p, w)
    if ranges is None:
        return
    assert (ranges.start < ranges.stop).all()
    assert (ranges.start[0], ranges.stop.max()) == (0, len(ties.score))
    assert ranges.share().sum() == pytest.approx(1)
    # A tie that holds more than a few steps of the finest scale is a range by itself.
    spans = set(zip(ranges.start.tolist(), ranges.stop.tolist(), strict=True))
    share = np.diff(np.concatenate([[0], np.cumsum(ties.total(2) * ties.score * (1 - ties.score))]))
    heavy = np.flatnonzero(share >= 4 * ranges.variance.min())
    assert all((int(tie), int(tie) + 1) in spans for tie in heavy)


def test_yardsticks_have_the_first_three_cumulants_of_what_they_measure():
    rng = np.random.default_rng(2)
    p, w = rng.random(300), rng.lognormal(0, 1, 300)
    _, ranges = family(rng.random(300) < p, p, w)
    order = np.argsort(p)
    s, w = p[order], w[order] / w.max()
    for i in range(len(ranges)):
        rows = slice(ranges.start[i], ranges.stop[i])
        v = s[rows] * (1 - s[rows])
        m, a, b, c = (getattr(ranges, name)[i] for name in ("trials", "p", "q", "unit"))
        assert a + b == pytest.approx(1)
        assert c**2 * m * a * b == pytest.approx((w[rows] ** 2 * v).sum())
        third = (w[rows] ** 3 * v * (1 - 2 * s[rows])).sum()
        assert c**3 * m * a * b * (b - a) == pytest.approx(third, abs=1e-12)


def test_draws_are_kept_for_the_same_scores(monkeypatch):
    calls = []
    draw = multiscale._draw

    def counting(*args):
        calls.append(args)
        return draw(*args)

    monkeypatch.setattr(multiscale, "_draw", counting)
    monkeypatch.setattr(multiscale, "_KEPT", {})
    rng = np.random.default_rng(1)
    p = rng.random(50)
    first = secant.scan(rng.random(50) < p, p, draws=99)
    again = secant.scan(rng.random(50) < p, p[::1], draws=99)
    assert (len(calls), first.critical) == (1, again.critical)
    secant.scan(rng.random(50) < p, p, draws=98)
    secant.scan(rng.random(50) < p, p, draws=99, sample_weight=rng.random(50))
    secant.scan(rng.random(50) < p, p, draws=99, rng=0)
    assert len(calls) == 4
    for _ in range(40):
        secant.scan([0, 1], rng.random(2), draws=1)
    assert len(multiscale._KEPT) == 16


@pytest.mark.parametrize("cells", [1, 300, 10_000])
def test_memory_does_not_matter(monkeypatch, cells):
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = rng.random(300) < p
    expected = secant.scan(y, p, rng=5, draws=50)
    monkeypatch.setattr(multiscale, "_CELLS", cells)
    assert secant.scan(y, p, rng=5, draws=50) == expected


def test_draws_are_kept_for_threads_alike(monkeypatch):
    monkeypatch.setattr(multiscale, "_KEPT", {})
    monkeypatch.setattr(multiscale, "_KEEP", 2)
    monkeypatch.setattr(multiscale, "_draw", lambda ties, *_: np.array([float(len(ties.score))]))
    sizes = [3, 4, 5, 6]
    ties = {n: scan._ties(observations(np.zeros(n), np.linspace(0.1, 0.9, n))) for n in sizes}
    wrong = []

    def ask(offset):
        for k in range(3000):
            n = sizes[(k + offset) % len(sizes)]
            drawn = multiscale.null_draws(ties[n], None, draws=9, rng=None)
            if drawn[0] != n:
                wrong.append(n)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(ask, range(4)))  # an error in a thread is raised here
    finally:
        sys.setswitchinterval(before)
    assert not wrong
    assert len(multiscale._KEPT) == 2


def test_no_range_that_could_be_the_largest_is_passed_over():
    """Where no event happened the likelihood ratio is more than the standardised sum."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 30, 2000)
    ties = scan._ties(observations(np.zeros(2000), p))
    family = multiscale.ranges(ties)
    path = ties.paths(rng, 200, family.at)
    sums = family.sums(path)
    every = [family.judged(row, np.arange(len(family))).max() for row in sums]
    assert family.largest(sums) == pytest.approx(every, rel=1e-12)


def test_one_range_is_no_ranges():
    assert "1 prediction, 1 range of scores. This" in str(secant.scan([1], [0.3]))
