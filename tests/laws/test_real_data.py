"""Real predictions: ties by the hundred thousand, survey weights, certain forecasts that failed.

The files stay outside the repository; where they are not, these tests are skipped.
"""

import numpy as np
import pytest

import secant
from helpers import optional

EXACT = {"rel": 0, "abs": 1e-12}
FILES = {
    "cifar10_vgg16_verified": 10_000,
    "fivethirtyeight": 1_224_752,
    "imagenet_val_resnet50_top1": 50_000,
    "llm_mcqa_plaut": 597_861,
    "nhanes_cholesterol_weighted": 3_911,
    "precip_niamey_2016": 368,
}


@pytest.fixture(scope="module")
def read(shared_data):
    """Return a function that reads labels, scores and weights (or None) of a file."""
    parquet, cache = optional("pyarrow.parquet"), {}

    def columns(name):
        if name not in cache:
            table = parquet.read_table(shared_data / f"{name}.parquet")
            names = [name for name in ("response", "score", "weight") if name in table.column_names]
            cache[name] = [table[name].to_numpy() for name in names] + [None] * (3 - len(names))
        return cache[name]

    return columns


@pytest.fixture(params=FILES)
def data(request, read):
    y, p, w = read(request.param)
    assert len(y) == FILES[request.param]
    return y, p, w


def by_sorting(y, p, w=None):
    """Return ECCE-R, ECCE-MAD and sigma from the definition, ties summed from counts."""
    w = np.ones(len(p)) if w is None else w
    score, tie = np.unique(p, return_inverse=True)
    gains = np.bincount(tie, w * y) - np.bincount(tie, w) * score
    path = np.concatenate([[0], np.cumsum(gains)]) / w.sum()
    return np.ptp(path), np.abs(path).max(), np.sqrt((w**2 * p * (1 - p)).sum()) / w.sum()


def numbers(result):
    """Return every number of a result that must not depend on the order of rows."""
    worst, mad = result.worst, result.ecce_mad
    return [
        result.n, result.sigma, result.mean_score, result.base_rate, len(result.forbidden),
        result.ecce_r.value, *result.ecce_r.ci, mad.value, *mad.ci,
        worst.low, worst.high, worst.n, worst.weight, worst.miscalibration, *worst.ci,
    ]  # fmt: skip


def test_metrics_equal_sorting(data):
    y, p, w = data
    for weights in (None, w):
        result = secant.assess(y, p, sample_weight=weights)
        found = result.ecce_r.value, result.ecce_mad.value, result.sigma
        assert found == pytest.approx(by_sorting(y, p, weights), **EXACT)
        # A P-value may need finer blocks than the metric alone: the same sum, in another order.
        alone = [f(y, p, sample_weight=weights) for f in (secant.ecce_r, secant.ecce_mad)]
        assert alone == pytest.approx(found[:2], rel=0, abs=1e-15)


def test_the_order_of_rows_does_not_matter(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    shuffled = np.random.default_rng(0).permutation(len(y))
    for order in (shuffled, np.argsort(y, kind="stable"), np.arange(len(y))[::-1]):
        other = secant.assess(y[order], p[order], sample_weight=None if w is None else w[order])
        assert numbers(other) == pytest.approx(numbers(result), **EXACT)
        assert other.ecce_r.pvalue == pytest.approx(result.ecce_r.pvalue, rel=1e-9)
        for options in ({"norm": "l2"}, {"strategy": "quantile", "n_bins": 40}):
            one, two = other.ece(**options), result.ece(**options)
            assert one.value == pytest.approx(two.value, **EXACT)
            assert one.noise_floor == pytest.approx(two.noise_floor, **EXACT)
            assert one.bins.mean_response == pytest.approx(
                two.bins.mean_response, nan_ok=True, **EXACT
            )


def test_the_worst_range_is_what_it_says(data):
    y, p, w = data
    worst = (result := secant.assess(y, p, sample_weight=w)).worst
    w = np.ones(len(y)) if w is None else w
    inside = (worst.low <= p) & (p <= worst.high)
    assert worst.low in p
    assert worst.high in p
    assert worst.n == np.count_nonzero(inside)
    difference = (w * (y - p))[inside].sum() / w.sum()
    assert worst.miscalibration * worst.weight == pytest.approx(difference, **EXACT)
    assert abs(difference) == pytest.approx(result.ecce_r.value, **EXACT)


def test_ranges_equal_counting(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    w = np.ones(len(y)) if w is None else w
    rng = np.random.default_rng(1)
    for a, b in [sorted(rng.choice(p, 2)) for _ in range(5)] + [
        sorted(rng.random(2)) for _ in range(5)
    ]:
        inside = (a <= p) & (p <= b)
        part = result.between(a, b)
        assert part.n == np.count_nonzero(inside)
        assert part.weight == pytest.approx(w[inside].sum() / w.sum(), **EXACT)
        if part.n:
            difference = (w * (y - p))[inside].sum() / w.sum()
            assert part.miscalibration * part.weight == pytest.approx(difference, **EXACT)


@pytest.mark.parametrize("n_cells", [256, 65536])
def test_cells_fed_in_pieces(data, n_cells):
    y, p, w = data
    whole, pieces = secant.Cells(n_cells), secant.Cells(n_cells)
    whole.update(y, p, w)
    for rows in np.array_split(np.random.default_rng(2).permutation(len(y)), 17):
        pieces.merge(part := secant.Cells(n_cells))
        part.update(y[rows], p[rows], None if w is None else w[rows])
        pieces.merge(part)
    one, two = whole.bounds(), pieces.bounds()
    assert two.ecce_r == pytest.approx(one.ecce_r, **EXACT)
    assert two.ecce_mad == pytest.approx(one.ecce_mad, **EXACT)
    ecce_r, ecce_mad, sigma = by_sorting(y, p, w)
    assert one.ecce_r[0] - 1e-12 <= ecce_r <= one.ecce_r[1] + 1e-12  # the oracle rounds too
    assert one.ecce_mad[0] - 1e-12 <= ecce_mad <= one.ecce_mad[1] + 1e-12
    assert one.sigma == pytest.approx(sigma, **EXACT)
    assert (
        pieces.forbidden == whole.forbidden == len(secant.assess(y, p, sample_weight=w).forbidden)
    )


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("name", ["imagenet_val_resnet50_top1", "cifar10_vgg16_verified"])
def test_bins_equal_those_of_scikit_learn(read, name, strategy):
    calibration = optional("sklearn.calibration")
    y, p, _ = read(name)
    if strategy == "quantile":  # where scores are distinct and bins of one size the two agree
        p, first = np.unique(p, return_index=True)
        p, y = p[: len(p) // 10 * 10], y[first][: len(p) // 10 * 10]
    bins = secant.assess(y, p).reliability(n_bins=10, strategy=strategy)
    response, score = calibration.calibration_curve(y, p, n_bins=10, strategy=strategy)
    filled = bins.count > 0
    assert bins.mean_response[filled] == pytest.approx(response, **EXACT)
    assert bins.mean_score[filled] == pytest.approx(score, **EXACT)


def test_forecasts_that_were_certain(data):
    y, p, w = data
    result = secant.assess(y, p, sample_weight=w)
    assert result.forbidden == tuple(np.flatnonzero(np.abs(y - p) == 1).tolist())
    assert ("of exactly 0 or 1 w" in str(result)) == bool(result.forbidden)


def test_survey_weights(read):
    y, p, w = read("nhanes_cholesterol_weighted")
    result = secant.assess(y, p, sample_weight=w)
    scaled = secant.assess(y, p, sample_weight=w / w.mean())
    assert numbers(scaled) == pytest.approx(numbers(result), **EXACT)
    assert scaled.ecce_r.pvalue == pytest.approx(result.ecce_r.pvalue, rel=1e-9)
    # Weights rounded to whole numbers as copies of rows, and the rows themselves repeated.
    copies = np.round(w / w.mean() * 10).astype(int)
    counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency")
    repeated = secant.assess(np.repeat(y, copies), np.repeat(p, copies))
    assert numbers(counted) == pytest.approx(numbers(repeated), **EXACT)
    assert counted.n == copies.sum()
    assert result.n == len(y)


def test_brier_scores_are_taken_apart_as_scikit_learn_would(shared_data):
    """Rain forecasts of four methods, many of them tied."""
    isotonic = optional("sklearn.isotonic").isotonic_regression
    table = optional("pyarrow.parquet").read_table(shared_data / "precip_niamey_2016.parquet")
    y, p, who = (np.array(table[name]) for name in ("response", "score", "group"))
    for name in np.unique(who):
        happened, scores = y[who == name], p[who == name]
        _, tie = np.unique(scores, return_inverse=True)
        count = np.bincount(tie).astype(float)
        fitted = isotonic(np.bincount(tie, happened) / count, sample_weight=count)[tie]
        value, best, whole = (
            float(np.mean((happened - each) ** 2)) for each in (scores, fitted, happened.mean())
        )
        brier = secant.assess(happened, scores).brier
        found = brier.value, brier.mcb, brier.dsc, brier.unc
        assert found == pytest.approx((value, value - best, whole - best, whole), **EXACT)
