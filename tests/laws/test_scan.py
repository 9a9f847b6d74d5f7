"""The multiscale scan: written down once more, laws, enumeration, size, and inputs at the edge."""

import itertools
import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from datasets import datasets
from helpers import optional
from secant._api import scan as _scan
from secant._inference import multiscale as _multiscale
from secant._inference.binomial import clopper_pearson
from secant._input.observations import observations


def family(y, p, w=None):
    ties = _scan._ties(observations(y, p, w))
    return ties, (_multiscale.ranges(ties) if len(ties.score) else None)


def oracle(y, p, w=None):
    """The statistic and its range of scores, one range after the other."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    keep = (p > 0) & (p < 1) & (w > 0)
    y, p, w = y[keep], p[keep], w[keep] / w[keep].mean()
    s = np.maximum(p, 1e-150)
    v = s * (1 - s)
    total = (w**2 * v).sum()
    unit = (w**3 * v).sum() / total
    scores = np.unique(p)
    ends = np.array([(w**2 * v)[p <= score].sum() for score in scores]) / total
    begins = np.concatenate([[0], ends[:-1]])
    best = (-math.inf, 0, 0)
    chosen = {(scores[0], scores[-1])}
    for scale in range(1, 13):
        if 2**scale > 2 * total / unit**2:
            break
        for first, length in itertools.product(range(2**scale), (2, 3)):
            a, b = first / 2**scale, (first + length) / 2**scale
            if b <= 1:
                met = scores[(ends > a + 1e-9) & (begins < b - 1e-9)]
                chosen.add((met[0], met[-1]))
    for low, high in chosen:
        i = (p >= low) & (p <= high)
        variance, third = (w[i] ** 2 * v[i]).sum(), (w[i] ** 3 * v[i]).sum()
        c = third / variance
        a = (w[i] ** 3 * v[i] * s[i]).sum() / third
        b = (w[i] ** 3 * v[i] * (1 - s[i])).sum() / third
        m = variance / (c**2 * a * b)
        x = (w[i] * (y[i] - p[i])).sum() / (c * m)
        terms = [(min(max(a + x, 0), 1), a), (min(max(b - x, 0), 1), b)]
        entropy = sum(t * math.log(t / u) for t, u in terms if t > 0)
        value = math.sqrt(max(2 * m * entropy, 0)) - math.sqrt(
            2 * math.log(math.e * total / variance)
        )
        best = max(best, (value, low, high))
    return best, len(chosen)


@given(datasets(most=120))
def test_it_equals_the_loop(data):
    y, p, w = data
    result = secant.scan(y, p, sample_weight=w, draws=1)
    if not result.n_ranges:
        assert ((p == 0) | (p == 1))[np.ones(len(p), bool) if w is None else w > 0].all()
        return
    (value, _, _), count = oracle(y, p, w)
    assert result.statistic == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert result.n_ranges == count


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_the_range_the_loop_finds(seed):
    rng = np.random.default_rng(seed)
    p = rng.random(2000)
    y = rng.random(2000) < p + 0.5 * ((p > 0.3) & (p < 0.33))
    (value, low, high), count = oracle(y, p)
    result = secant.scan(y, p, draws=1)
    assert (result.worst.low, result.worst.high, result.n_ranges) == (low, high, count)
    assert result.statistic == pytest.approx(value, rel=1e-9)


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


def test_with_one_score_it_is_the_binomial_likelihood_ratio():
    n, k, s = 50, 21, 0.3
    result = secant.scan(np.arange(n) < k, np.full(n, s), draws=1)
    rate = k / n
    ratio = 2 * n * (rate * math.log(rate / s) + (1 - rate) * math.log((1 - rate) / (1 - s)))
    assert result.statistic == pytest.approx(math.sqrt(ratio) - math.sqrt(2))
    assert result.n_ranges == 1


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


@given(datasets(), st.integers(0, 2**32))
def test_row_order_does_not_matter(data, seed):
    y, p, w = data
    order = np.random.default_rng(seed).permutation(len(p))
    a = secant.scan(y, p, sample_weight=w, draws=19)
    b = secant.scan(y[order], p[order], sample_weight=None if w is None else w[order], draws=19)
    assert a.statistic == pytest.approx(b.statistic, rel=1e-6, abs=1e-6)
    assert (a.pvalue, a.n_ranges) == (b.pvalue, b.n_ranges)


@given(datasets(), st.integers(-9, 9))
def test_the_scale_of_weights_does_not_matter(data, exponent):
    y, p, w = data
    w = np.ones(len(p)) if w is None else w
    a = secant.scan(y, p, sample_weight=w, draws=19)
    b = secant.scan(y, p, sample_weight=w * 2.0**exponent, draws=19)
    assert a.to_dict() == b.to_dict()


@given(datasets(weighted=False), st.floats(1e-3, 1e3))
def test_equal_weights_are_no_weights(data, weight):
    y, p, _ = data
    plain = secant.scan(y, p, draws=19).to_dict()
    weighed = secant.scan(y, p, sample_weight=np.full(len(p), weight), draws=19).to_dict()
    share = plain["worst"].pop("weight"), weighed["worst"].pop("weight")
    assert share[0] == pytest.approx(share[1])
    assert plain == weighed


@given(datasets())
def test_turning_events_round_mirrors_the_statistic(data):
    y, p, w = data
    p = 1 - (1 - p.astype(float))
    a, b = (secant.scan(*rows, sample_weight=w, draws=1) for rows in ((y, p), (1 - y, 1 - p)))
    assert a.n_ranges == b.n_ranges
    assert a.statistic == pytest.approx(b.statistic, rel=1e-6, abs=1e-6)


@given(datasets())
def test_the_range_found_is_described_by_its_rows(data):
    y, p, w = data
    result = secant.scan(y, p, sample_weight=w, draws=1)
    if not result.n_ranges:
        return
    worst, weight = result.worst, np.ones(len(p)) if w is None else w
    rows = (p >= worst.low) & (p <= worst.high) & (weight > 0)
    assert worst.n == rows.sum()
    assert worst.weight == pytest.approx(weight[rows].sum() / weight.sum())
    assert worst.mean_score == pytest.approx(np.average(p[rows], weights=weight[rows]))
    assert worst.mean_response == pytest.approx(np.average(y[rows], weights=weight[rows]))
    gap = worst.mean_response - worst.mean_score
    assert worst.miscalibration == pytest.approx(gap, abs=1e-9)
    assert worst.ci[0] - 1e-9 <= gap <= worst.ci[1] + 1e-9


@pytest.mark.parametrize("w", [None, [1.0, 2.0, 1.5, 0.5, 1.0, 3.0, 1.0, 0.7]])
def test_the_pvalue_is_the_enumerated_one(w):
    """All 256 outcomes of eight rows; the Monte Carlo error of 9,999 draws is below .005."""
    p = np.array([0.1, 0.1, 0.3, 0.45, 0.6, 0.6, 0.8, 0.95])
    outcomes = np.array(list(itertools.product([0, 1], repeat=8)))
    chance = np.prod(np.where(outcomes, p, 1 - p), axis=1)
    results = [secant.scan(y, p, sample_weight=w, draws=9999) for y in outcomes]
    value = np.array([result.statistic for result in results])
    assert len(np.unique(value.round(6))) > 5
    for result in results:
        exact = min(1.0, chance[value >= result.statistic - 1e-9].sum())
        error = 5 * math.sqrt(exact * (1 - exact) / 9999) + 2e-4
        assert result.pvalue == pytest.approx(exact, abs=error)


@pytest.mark.parametrize("kind", ["uniform", "rare", "ten values"])
def test_size_is_not_above_nominal(kind):
    """The P-value is exact, so 400 null data sets are a check on the code, cheap and binomial."""
    rng = np.random.default_rng(7)
    p = {
        "uniform": rng.random(150),
        "rare": rng.beta(1, 50, 150),
        "ten values": rng.integers(0, 10, 150) / 10 + 0.05,
    }[kind]
    pvalues = [secant.scan(rng.random(150) < p, p).pvalue for _ in range(400)]
    for level, most in ((0.05, 38), (0.01, 13)):  # scipy.stats.binom.isf(1e-4, 400, level)
        assert np.sum(np.array(pvalues) <= level) <= most


def test_the_thresholds_of_the_size_test_are_binomial():
    stats = optional("scipy.stats")
    assert [stats.binom.isf(1e-4, 400, level) for level in (0.05, 0.01)] == [38, 13]


def test_limits_hold_for_all_ranges_at_once():
    """The exact probability that a range's limits miss, added up over all ranges, is below 5%."""
    rng = np.random.default_rng(4)
    p = np.sort(rng.random(60))
    truth = p ** rng.uniform(0.5, 2)
    seen = observations(rng.random(60) < truth, p)
    ties, ranges = family(seen.labels, p)
    missed = []
    for i, share in enumerate(ranges.share()):
        rows = slice(ranges.start[i], ranges.stop[i])
        n, mean = rows.stop - rows.start, truth[rows].mean()
        low, high = clopper_pearson(np.arange(n + 1), n, 1 - 0.05 * share)
        count = np.ones(1)  # the law of the number of events, one coin after the other
        for chance in truth[rows]:
            count = np.convolve(count, [1 - chance, chance])
        missed.append(count[(mean < low) | (mean > high)].sum())
        happened = int(seen.labels[rows].sum())
        shown = np.array(_scan._interval(seen, ties, ranges, i, 0.95).ci) + p[rows].mean()
        assert shown == pytest.approx([low[happened], high[happened]], abs=1e-9)
    assert len(missed) > 20
    assert (np.array(missed) <= 0.05 * ranges.share()).all()
    assert 0 < sum(missed) <= 0.05


def test_weighted_limits_are_hoeffdings():
    rng = np.random.default_rng(4)
    p, w = np.sort(rng.random(60)), rng.lognormal(0, 1, 60)
    seen = observations(rng.random(60) < p, p, w)
    ties, ranges = family(seen.labels, p, w)
    for i, share in enumerate(ranges.share()):
        found = _scan._interval(seen, ties, ranges, i, 0.95)
        rows = (p >= found.low) & (p <= found.high)
        scale = math.sqrt((w[rows] ** 2).sum()) / w[rows].sum()
        half = scale * math.sqrt(math.log(2 / (0.05 * share)) / 2)
        rate, score = found.mean_response, found.mean_score
        expected = max(rate - half, 0) - score, min(rate + half, 1) - score
        assert found.ci == pytest.approx(expected, abs=1e-9)


def test_a_narrow_defect_is_found_where_ecce_finds_nothing():
    rng = np.random.default_rng(0)
    p = rng.random(10_000)
    y = rng.random(10_000) < p + 0.3 * ((p > 0.5) & (p < 0.515))
    result = secant.scan(y, p)
    assert result.pvalue == 0.001
    assert 0.48 < result.worst.low < result.worst.high < 0.53
    assert result.worst.ci[0] > 0
    assert secant.assess(y, p).ecce_r.pvalue > 0.05
    assert str(result).startswith("A range of scores is off. Over scores 0.5")
    assert "twice the smaller P-value" in str(result)


def test_the_critical_value_and_the_pvalue_agree():
    rng = np.random.default_rng(3)
    p = rng.random(200)
    results = [secant.scan(rng.random(200) < p**1.2, p) for _ in range(100)]
    assert len({result.critical for result in results}) == 1
    assert {result.found for result in results} == {True, False}
    for result in results:
        assert result.found == (result.statistic > result.critical)
    few = secant.scan(rng.random(200) < p, p, draws=9)
    assert few.critical == math.inf
    assert not few.found


def test_draws_are_kept_for_the_same_scores(monkeypatch):
    calls = []
    draw = _multiscale._draw

    def counting(*args):
        calls.append(args)
        return draw(*args)

    monkeypatch.setattr(_multiscale, "_draw", counting)
    monkeypatch.setattr(_multiscale, "_KEPT", {})
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
    assert len(_multiscale._KEPT) == 16


def test_a_generator_decides_the_draws():
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = rng.random(300) < p
    seeded = [secant.scan(y, p, rng=seed, draws=99).critical for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]
    assert secant.scan(y, p, rng=np.random.default_rng(1), draws=99).critical == seeded[0]
    with pytest.raises(secant.InputError, match="rng must be"):
        secant.scan(y, p, rng="x")


@pytest.mark.parametrize("cells", [1, 300, 10_000])
def test_memory_does_not_matter(monkeypatch, cells):
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = rng.random(300) < p
    expected = secant.scan(y, p, rng=5, draws=50)
    monkeypatch.setattr(_multiscale, "_CELLS", cells)
    assert secant.scan(y, p, rng=5, draws=50) == expected


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


def test_results_are_plain_json():
    numbers = secant.scan([0, 1, 1, 0], [0.1, 0.4, 0.6, 0.7], draws=9).to_dict()
    assert numbers["verdict"] == "No range of scores stands out"
    assert numbers["critical"] is None
    assert numbers["worst"]["direction"] in {"too high", "too low", "even"}


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_the_critical_value_is_what_a_finding_exceeds(level):
    """With 1,000 - 1 draws P is at most 1 - level when fewer than that share of them exceed it."""
    rng = np.random.default_rng(4)
    p = rng.random(400)
    results = [secant.scan(rng.random(400) < p, p, confidence_level=level) for _ in range(30)]
    for result in results:
        assert result.found == (result.statistic > result.critical)
    ties = _scan._ties(observations(np.zeros(400), p))
    drawn = _multiscale.null_draws(ties, _multiscale.ranges(ties), draws=999, rng=None)
    (critical,) = {result.critical for result in results}
    assert np.count_nonzero(drawn >= critical) >= round(1000 * (1 - level))
    assert np.count_nonzero(drawn > critical) < round(1000 * (1 - level))


def test_draws_are_kept_for_threads_alike(monkeypatch):
    monkeypatch.setattr(_multiscale, "_KEPT", {})
    monkeypatch.setattr(_multiscale, "_KEEP", 2)
    monkeypatch.setattr(_multiscale, "_draw", lambda ties, *_: np.array([float(len(ties.score))]))
    sizes = [3, 4, 5, 6]
    ties = {n: _scan._ties(observations(np.zeros(n), np.linspace(0.1, 0.9, n))) for n in sizes}
    wrong = []

    def ask(offset):
        for k in range(3000):
            n = sizes[(k + offset) % len(sizes)]
            drawn = _multiscale.null_draws(ties[n], None, draws=9, rng=None)
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
    assert len(_multiscale._KEPT) == 2


def test_no_range_that_could_be_the_largest_is_passed_over():
    """Where no event happened the likelihood ratio is more than the standardised sum."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 30, 2000)
    ties = _scan._ties(observations(np.zeros(2000), p))
    family = _multiscale.ranges(ties)
    (path,) = ties.model(family.at).paths(rng, 200)
    sums = family.sums(path)
    every = [family.judged(row, np.arange(len(family))).max() for row in sums]
    assert family.largest(sums) == pytest.approx(every, rel=1e-12)


def test_one_range_is_no_ranges():
    assert "1 prediction, 1 range of scores. This" in str(secant.scan([1], [0.3]))
