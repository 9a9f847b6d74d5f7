"""A subpopulation against the full population: a loop as oracle, laws, and inputs at the edge."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from datasets import datasets
from secant import null
from secant._inference.permutation import exchanged
from secant._metrics.subgroup import compared_rows, stretches

EXACT = {"rel": 0, "abs": 1e-12}


def oracle(y, p, member, w=None):
    """ECCE-R, ECCE-MAD and sigma, one stretch after the other, as the definition reads."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    y, p, member, w = (column[w > 0] for column in (y, p, np.asarray(member), w))
    points = sorted(set(p[member]))
    path, variance = [0.0], 0.0
    for k, point in enumerate(points):
        rows = p == point
        if not (rows & ~member).any():  # nobody else has this score: take the nearest
            low = (points[k - 1] + point) / 2 if k else -math.inf
            high = (point + points[k + 1]) / 2 if k + 1 < len(points) else math.inf
            rows = ((p > low) & (p <= high) & ~np.isin(p, points)) | (p == point)
        mine = rows & member & (p == point)
        a = np.where(rows, w, 0) / w[rows].sum()
        b = np.where(mine, w, 0) / w[mine].sum()
        rate = (a * y).sum()
        path.append(path[-1] + w[mine].sum() * ((b * y).sum() - rate))
        if 0 < y[rows].sum() < rows.sum():
            factor = ((b - a) ** 2).sum() / (1 - (a**2).sum())
            variance += w[mine].sum() ** 2 * rate * (1 - rate) * factor
    path = np.array(path) / w[member].sum()
    return np.ptp(path), np.abs(path).max(), math.sqrt(variance) / w[member].sum()


@st.composite
def with_members(draw, **kwargs):
    y, p, w = draw(datasets(**kwargs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    member = rng.random(len(p)) < draw(st.sampled_from([0.05, 0.3, 0.9]))
    member[len(p) - 1] = True  # the last row never has weight zero
    return y, p, member, w


def compare(y, p, member, w=None, **kwargs):
    return secant.compare_groups(y, p, member, sample_weight=w, **kwargs)


@given(with_members(most=80))
def test_it_equals_the_loop(data):
    y, p, member, w = data
    result = compare(y, p, member, w)
    r, mad, sigma = oracle(y, p, member, w)
    assert (result.ecce_r.value, result.ecce_mad.value) == pytest.approx((r, mad), **EXACT)
    assert result.sigma == pytest.approx(sigma, rel=1e-9, abs=1e-12)


@given(with_members(weighted=False, most=80))
def test_the_variance_factor_is_one_for_single_members_without_weights(data):
    _, p, member, _ = data
    p = p.astype(float)
    once = np.isin(p, p[member], invert=True)  # others anywhere, members each at their own score
    once[np.flatnonzero(member)[np.unique(p[member], return_index=True)[1]]] = True
    p, member = p[once], member[once]
    half = np.arange(len(p)) % 2 == 0
    sums = stretches(compared_rows(p, half, member, None))
    rate = (sums.members1 + sums.others1) / sums.everybody
    expected = np.where(sums.others > 0, rate * (1 - rate), 0)
    assert sums.variance == pytest.approx(expected, **EXACT)


@given(with_members(), st.integers(0, 2**32))
def test_row_order_does_not_matter(data, seed):
    y, p, member, w = data
    order = np.random.default_rng(seed).permutation(len(p))
    a = compare(y, p, member, w)
    b = compare(y[order], p[order], member[order], None if w is None else w[order])
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, rel=0, abs=1e-13)
    assert a.ecce_mad.value == pytest.approx(b.ecce_mad.value, rel=0, abs=1e-13)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)
    assert a.mismatch == pytest.approx(b.mismatch, rel=0, abs=1e-13)


@given(with_members(), st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_matter(data, scale):
    y, p, member, w = data
    w = np.ones(len(p)) if w is None else w
    a, b = compare(y, p, member, w), compare(y, p, member, w * scale)
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, rel=1e-9, abs=1e-13)
    assert a.ecce_r.ci == pytest.approx(b.ecce_r.ci, rel=1e-9, abs=1e-13)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)


@given(with_members(weighted=False))
def test_unit_weights_change_nothing(data):
    y, p, member, _ = data
    assert compare(y, p, member).to_dict() == compare(y, p, member, np.ones(len(p))).to_dict()


@given(with_members(weighted=False), st.integers(0, 2**32))
def test_rows_of_weight_zero_are_not_there(data, seed):
    y, p, member, _ = data
    w = np.random.default_rng(seed).integers(0, 3, len(p)) * 1.0
    w[-1] = 1.0
    a, b = compare(y, p, member, w), compare(*(c[w > 0] for c in (y, p, member, w)))
    assert a.to_dict() == b.to_dict()


@given(with_members())
def test_naming_the_other_outcome_turns_the_path_over(data):
    y, p, member, w = data
    a, b = compare(y, p, member, w), compare(1 - y, p, member, w)
    assert a.curve.difference == pytest.approx(-b.curve.difference, **EXACT)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, **EXACT)


@given(with_members())
def test_predicting_the_opposite_mirrors_everything(data):
    """With 1 - p for the opposite outcome; scores halfway between members have to choose a side."""
    y, p, member, w = data
    p = 1 - (1 - p.astype(float))
    counted = member if w is None else member & (w > 0)  # a member of no weight is no point
    points = np.unique(p[counted])
    halfway = np.isclose(p[:, None], (points[:-1] + points[1:])[None, :] / 2, rtol=0, atol=1e-15)
    keep = counted | ~halfway.any(axis=1)
    y, p, member = y[keep], p[keep], member[keep]
    w = None if w is None else w[keep]
    a, b = compare(y, p, member, w), compare(1 - y, 1 - p, member, w)
    assert a.ecce_r.value == pytest.approx(b.ecce_r.value, **EXACT)
    assert a.sigma == pytest.approx(b.sigma, rel=1e-9, abs=1e-13)
    assert a.mismatch == pytest.approx(b.mismatch, **EXACT)


@given(with_members())
def test_laws_of_the_two_metrics_and_of_the_worst_range(data):
    y, p, member, w = data
    result = compare(y, p, member, w)
    r, mad = result.ecce_r.value, result.ecce_mad.value
    assert 0 <= mad <= r <= min(1, 2 * mad)
    assert np.ptp(result.curve.difference) == r
    for statistic, law in ((result.ecce_r, null.range), (result.ecce_mad, null.mad)):
        low, high = statistic.ci
        assert 0 <= low <= statistic.value <= high <= 1
        if result.sigma > 0:
            limit = compare(y, p, member, w, method="asymptotic")
            limit = limit.ecce_r if law is null.range else limit.ecce_mad
            assert limit.pvalue == pytest.approx(law.sf(statistic.value / result.sigma))
    worst = result.worst
    if worst.n:
        assert abs(worst.difference) * worst.weight == pytest.approx(r, **EXACT)
        counts = member & (p >= worst.low) & (p <= worst.high) & (True if w is None else w > 0)
        assert worst.n == counts.sum()
        assert worst.ci[0] <= worst.difference <= worst.ci[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_are_those_of_the_steps_themselves(weighted):
    """Sigma hat is what the squared steps amount to, where that is more than sigma."""
    rng = np.random.default_rng(0)
    p, member = rng.random(800), rng.random(800) < 0.3
    y = rng.random(800) < np.where(member & (p > 0.5), 0.2 * p, p)
    result = compare(y, p, member, rng.lognormal(size=800) if weighted else None)
    steps = np.diff(result.curve.difference)
    sigma_hat = math.sqrt((steps**2).sum())
    assert sigma_hat > result.sigma
    half = null.range.isf(0.05) * sigma_hat
    r, worst = result.ecce_r, result.worst
    assert r.ci == pytest.approx((max(r.value - half, 0), r.value + half))
    assert worst.weight < 0.8
    assert worst.ci == pytest.approx(
        (max(worst.difference - half / worst.weight, -1), worst.difference + half / worst.weight)
    )


def test_everybody_a_member():
    y, p = [0, 1, 1, 0, 1], [0.1, 0.1, 0.5, 0.6, 0.9]
    result = compare(y, p, [True] * 5)
    assert (result.ecce_r.value, result.ecce_r.pvalue, result.sigma) == (0, 1, 0)
    assert result.ecce_r.ci == (0, 0)
    assert result.worst.n == 0
    assert result.detectable == 1
    assert "nobody else" in str(result)


def test_one_member():
    """Against two others at the same score: R = 1, Rt = 2/3, V = (2/3)(1/3)."""
    result = compare([1, 1, 0, 0], [0.4, 0.4, 0.4, 0.9], [True, False, False, False])
    assert result.ecce_r.value == result.ecce_mad.value == pytest.approx(1 / 3)
    assert result.sigma == pytest.approx(math.sqrt(2) / 3)
    assert result.worst.direction == "more often"
    assert result.population_rate == pytest.approx(2 / 3)


@pytest.mark.parametrize("outcome", [0, 1])
@pytest.mark.parametrize("w", [None, [0.1, 0.3, 0.7, 0.2]])
def test_all_responses_equal(outcome, w):
    result = compare([outcome] * 4, [0.1, 0.2, 0.3, 0.4], [True, False, True, False], w)
    assert (result.ecce_r.value, result.ecce_r.pvalue, result.sigma) == (0, 1, 0)
    assert result.ecce_r.ci[1] > 0.5  # nothing was seen to vary, much may have been missed
    assert "something else happened" in str(result)


def test_members_with_one_score_share_a_stretch():
    y, p = [1, 0, 0, 1], [0.3, 0.3, 0.3, 0.3]
    result = compare(y, p, [True, True, False, False])
    # R = Rt = 1/2; the variance is that of 1/2 - 2 of 4: 4 * 1/4 * (1/2 - 1/4) / (1 - 1/4).
    assert result.ecce_r.value == 0
    assert result.sigma == pytest.approx(math.sqrt(1 / 3) / 2)


def test_equal_scores_come_before_near_ones():
    """No member has the score .9; those who do are not compared with members at .7."""
    y = [1, 0, 1, 0, 1, 1, 1, 1]
    p = [0.7, 0.7, 0.7, 0.7, 0.9, 0.9, 0.9, 0.9]
    member = [True, True, False, False, False, False, False, False]
    assert compare(y, p, member).ecce_r.value == 0
    assert compare(y, p, member).mismatch == 0


def test_neighbouring_doubles_are_told_apart():
    a, b = 0.5, np.nextafter(0.5, 1)
    result = compare([1, 0, 0, 1], [a, a, b, b], [True, False, True, False])
    assert result.curve.difference.tolist() == [0, 0.25, 0]


def test_huge_and_tiny_weights():
    y, p = [1, 0, 1, 0], [0.2, 0.2, 0.8, 0.8]
    result = compare(y, p, [True, False, True, False], [1e20, 1.0, 1.0, 1e20])
    assert 0 < result.sigma < 1
    assert math.isfinite(result.ecce_r.normalized)


def test_scores_that_are_not_equal_enough_are_named():
    rng = np.random.default_rng(1)
    p = np.append(rng.random(20_000), np.full(500, 0.3))
    member = np.arange(len(p)) >= 20_000
    y = rng.random(len(p)) < p
    result = compare(y, p, member)
    assert result.mismatch == pytest.approx(0.2, abs=0.02)
    assert any("not equal enough" in warning for warning in result.warnings)


def test_few_events_are_named():
    rng = np.random.default_rng(1)
    p = rng.beta(1, 500, 2000)
    result = compare(rng.random(2000) < p, p, rng.random(2000) < 0.1)
    assert any("approximate" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("member", "complaint"),
    [
        ([True], "member must have one value a row; it has 1, not 3"),
        ([True, "yes", False], r"member\[\d\] is"),
        ([1, 2, 0], r"member\[1\] is 2"),
        ([1.0, math.nan, 0.0], r"member\[1\] is nan"),
        ([True, None, False], r"member\[1\] is None"),
        ([False, False, False], "nobody to compare"),
        ([[True], [True], [False]], "member must be one-dimensional"),
    ],
)
def test_bad_membership_is_refused(member, complaint):
    with pytest.raises(secant.InputError, match=complaint):
        compare([0, 1, 1], [0.1, 0.2, 0.3], member)


def test_members_of_weight_zero_are_nobody():
    with pytest.raises(secant.InputError, match="nobody to compare"):
        compare([0, 1], [0.1, 0.2], [True, False], [0, 1])


def test_other_arguments_are_checked_like_everywhere():
    with pytest.raises(secant.InputError, match="confidence_level"):
        compare([0, 1], [0.1, 0.2], [True, False], confidence_level=2)
    with pytest.raises(secant.InputError, match=r"y_prob\[1\]"):
        compare([0, 1], [0.1, 1.2], [True, False])
    named = compare(["no", "yes"], [0.1, 0.2], [True, False], pos_label="yes")
    assert named.to_dict() == compare([0, 1], [0.1, 0.2], [1, 0]).to_dict()


def test_words_say_the_direction():
    rng = np.random.default_rng(3)
    p, member = rng.random(4000), rng.random(4000) < 0.2
    more = compare(rng.random(4000) < np.where(member, p**0.6, p), p, member)
    assert str(more).startswith("At equal scores the event happens more often among members than")
    assert more.to_dict()["verdict"] in str(more)
    assert "more often by" in str(more)
    assert str(more.worst.n) in str(more.worst)
    none = compare(rng.random(4000) < p, p, member)
    assert str(none).startswith("No difference found")
    assert "would almost surely have shown" in str(none)


def test_words_for_the_opposite_event_differ_in_the_direction_alone():
    rng = np.random.default_rng(3)
    p, member = np.round(rng.random(2000), 1), rng.random(2000) < 0.3
    y = rng.random(2000) < np.where(member, p**0.5, p)
    more, less = (str(compare(z, p, member)).splitlines()[0] for z in (y, ~y))
    assert "more often" in more
    assert more.replace("more often", "less often") == less


def test_words_for_a_group_that_can_show_nothing():
    result = compare([1, 0, 0, 0], [0.5] * 4, [True, False, False, False])
    assert result.detectable > 1
    assert "everybody at equal scores. 1 member can show next to nothing.\n" in str(result)


def test_exchanges_stop_when_enough_are_as_extreme():
    """At 9,999 draws, or the hundredth that is as extreme."""
    member = np.arange(200) < 50
    far, near = (
        compare(y, np.full(200, 0.5), member, method="monte-carlo")
        for y in (member, np.arange(200) % 2)
    )
    assert far.ecce_r.method == "Monte Carlo, 9,999 draws"
    assert far.ecce_r.pvalue == pytest.approx(1e-4)
    draws = int(near.ecce_r.method.split()[2].replace(",", ""))
    assert near.ecce_r.pvalue == pytest.approx(100 / draws)


@pytest.mark.parametrize(
    ("members", "few"),
    [(79, True), (80, False)],  # variances of 79^2 / (4 * 157) = 9.94 and 80^2 / (4 * 159) = 10.06
)
def test_a_variance_below_ten_is_little(members, few):
    """As many others, and half of everybody: m / 2 * m^2 / (2m (2m - 1)) is the variance."""
    y, member = np.arange(2 * members) % 2, np.arange(2 * members) < members
    result = compare(y, np.full(2 * members, 0.5), member)
    assert result.ecce_r.method.startswith("Monte Carlo") == few
    assert any(line.startswith("Few events") for line in result.warnings) == few


@pytest.mark.parametrize(("apart", "worth_a_word"), [(0.95, False), (1.05, True)])
def test_scores_apart_by_half_a_sigma_are_worth_a_word(apart, worth_a_word):
    y, member = np.arange(200) % 2, np.arange(200) < 100
    sigma = math.sqrt(100**2 / (4 * 199)) / 100
    # Members are half of everybody, so the mean score of all is half as far from theirs.
    result = compare(y, np.where(member, 0.5, 0.5 + apart * sigma), member)
    assert result.sigma == pytest.approx(sigma)
    assert result.mismatch == pytest.approx(apart * sigma / 2)
    assert any("not equal enough" in line for line in result.warnings) == worth_a_word


@pytest.mark.parametrize(
    ("alone", "members", "worth_a_word"), [(5, 10, False), (6, 11, True), (9, 9, False)]
)
def test_more_than_half_of_the_members_alone_are_worth_a_word(alone, members, worth_a_word):
    """Those with a score of 0.1 are nearest to nobody else."""
    p = np.concatenate([np.full(alone, 0.1), np.full(members - alone, 0.9), [0.9] * 5])
    member = np.arange(len(p)) < members
    if alone == members:
        p, member = p[member], member[member]
    warnings = compare(np.arange(len(p)) % 2, p, member).warnings
    assert any("had nobody else" in line for line in warnings) == worth_a_word


def test_minus_zero_is_zero():
    result = compare([1, 0, 0], [-0.0, 0.0, -0.0], [True, False, False])
    assert (str(result.worst.low), str(result.worst.high)) == ("0.0", "0.0")
    assert not np.signbit(result.curve.score).any()


@pytest.mark.parametrize("level", [0.3, 0.1, 0.05, 0.01, 0.001])
def test_a_pvalue_at_the_level_is_found_and_one_above_is_not(level):
    """Also where 1 - (1 - level) is a little less than the level, as for 0.1."""
    result = compare([1, 0, 0, 0], [0.5] * 4, [True, False, False, False])

    def headline(pvalue):
        r, mad = replace(result.ecce_r, pvalue=pvalue), replace(result.ecce_mad, pvalue=1.0)
        return str(replace(result, ecce_r=r, ecce_mad=mad, confidence_level=1 - level))

    assert headline(level).startswith("At equal scores the event happens more often")
    assert headline(level * (1 + 1e-9)).startswith("No difference found")


def test_size_is_not_above_nominal():
    """200 data sets without any difference: at most what 5% can be, at 1 in 10,000 (binomial)."""
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(200):
        p = np.round(rng.random(600), 2)
        member = rng.random(600) < 0.2 * p
        found += compare(rng.random(600) < p**2, p, member).ecce_r.pvalue <= 0.05
    assert found <= 23  # scipy.stats.binom.isf(1e-4, 200, 0.05)


# P-values from exchanged responses ----------------------------------------------------------------


def arrangements(y, member, stretch):
    """Every way to deal the responses of each stretch out to its rows."""
    rows = [np.flatnonzero(stretch == k) for k in np.unique(stretch)]
    dealt = [itertools.combinations(place, int(y[place].sum())) for place in rows]
    for parts in itertools.product(*dealt):
        outcome = np.zeros(len(y), int)
        outcome[list(itertools.chain(*parts))] = 1
        yield outcome


@pytest.mark.parametrize("w", [None, [1.0, 2.0, 1.5, 0.5, 1.0, 3.0, 1.0, 0.7, 1.2, 0.9]])
def test_exchanged_pvalues_are_the_enumerated_ones(w):
    """Three stretches of ten rows; all arrangements are equally likely."""
    p = np.array([0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.4, 0.9, 0.9, 0.9])
    member = np.array([1, 0, 0, 1, 1, 0, 0, 1, 0, 0], bool)
    y = np.array([1, 0, 0, 1, 1, 0, 0, 1, 0, 1])
    dealt = [
        compare(outcome, p, member, w, method="asymptotic")
        for outcome in arrangements(y, member, p)
    ]
    assert len(dealt) == 3 * 6 * 3
    result = compare(y, p, member, w, method="monte-carlo")
    for name in ("ecce_r", "ecce_mad"):
        value = np.array([getattr(other, name).value for other in dealt])
        found = getattr(result, name)
        exact = np.mean(value >= found.value - 1e-9)
        draws = int(found.method.split()[2].replace(",", ""))
        # Early stopping makes p = h / l, whose relative error is about 1 / sqrt(h).
        assert found.method.startswith("Monte Carlo")
        error = 5 * max(exact / 10, math.sqrt(exact * (1 - exact) / draws)) + 2e-4
        assert found.pvalue == pytest.approx(exact, abs=error)


class EveryOrder:
    """Deals in every possible way, one after the other, where a generator would draw one."""

    def hypergeometric(self, good, bad, taken, size):
        hands = [
            [sum(card < g for card in hand) for hand in itertools.combinations(range(g + b), t)]
            for g, b, t in zip(good, bad, taken, strict=True)
        ]
        return np.array(list(itertools.product(*hands))).reshape(size)

    def random(self, size):
        return np.array(list(itertools.permutations(np.arange(size[1]) / size[1]))).reshape(size)


@st.composite
def few_rows(draw, most):
    """One to three scores, each with members and others; both outcomes at the lowest score."""
    scores = draw(st.sampled_from([(0.4,), (0.1, 0.4), (0.1, 0.4, 0.9)]))
    sizes = [draw(st.integers(2, most // len(scores))) for _ in scores]
    member = np.concatenate([np.arange(size) < draw(st.integers(1, size - 1)) for size in sizes])
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=len(member), max_size=len(member))))
    y[sizes[0] - 1] = 1 - y[0]
    return y, np.repeat(scores, sizes), member


def check_every_exchange(data, w, ways):
    y, p, member = data
    rows = compared_rows(p, y == 1, member, w)
    found = exchanged(rows, stretches(rows), rng=EveryOrder(), draws=ways)
    observed = oracle(y, p, member, w)[:2]
    dealt = np.array([oracle(other, p, member, w)[:2] for other in arrangements(y, member, p)])
    share = (dealt > np.array(observed) - 1e-9).mean(axis=0)
    for estimate, expected in zip(found, share, strict=True):
        assert estimate.exceedances == round(expected * ways)
        assert estimate.pvalue == (1 + estimate.exceedances) / (1 + ways)


@given(few_rows(most=8))
def test_every_exchange_is_counted_as_it_should_be(data):
    """No randomness is left: those as extreme are counted one by one, ties with the data too."""
    y, p, member = data
    groups = [p == score for score in np.unique(p) if 0 < y[p == score].mean() < 1]
    ways = math.prod(math.comb(rows.sum(), member[rows].sum()) for rows in groups)
    check_every_exchange(data, None, ways)


@given(few_rows(most=6), st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=6, max_size=6))
def test_every_exchange_of_weighted_rows_is_counted_as_it_should_be(data, weights):
    y, p, _ = data
    mixed = sum((p == score).sum() for score in np.unique(p) if 0 < y[p == score].mean() < 1)
    check_every_exchange(data, np.array(weights)[: len(y)], math.factorial(mixed))


@given(with_members(most=60), st.integers(0, 2**32))
def test_exchanged_pvalues_do_not_depend_on_row_order(data, seed):
    y, p, member, w = data
    order = np.random.default_rng(seed).permutation(len(p))
    a = compare(y, p, member, w, method="monte-carlo")
    b = compare(
        y[order], p[order], member[order], None if w is None else w[order], method="monte-carlo"
    )
    assert a.ecce_r.pvalue == b.ecce_r.pvalue
    assert a.ecce_mad.pvalue == b.ecce_mad.pvalue


def test_auto_exchanges_where_events_are_few():
    rng = np.random.default_rng(1)
    p, member = rng.random(500), rng.random(500) < 0.3
    often, seldom = (compare(rng.random(500) < c * p, p, member) for c in (1, 0.02))
    assert often.ecce_r.method == "asymptotic"
    assert seldom.ecce_r.method.startswith("Monte Carlo")
    seeds = [compare(rng.random(500) < 0.02, p, member, rng=3, method="monte-carlo") for _ in "ab"]
    assert {result.ecce_r.method[:11] for result in seeds} == {"Monte Carlo"}
    with pytest.raises(secant.InputError, match="method must be one of"):
        compare([0, 1], [0.1, 0.2], [1, 0], method="exact")
    with pytest.raises(secant.InputError, match="rng must be"):
        compare([0, 1], [0.1, 0.2], [1, 0], rng="x")


def test_size_is_not_above_nominal_where_events_are_few():
    """At most what 5% and 1% can be among 300 data sets, at 1 in 10,000 (binomial)."""
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(300):
        p, member = rng.beta(1, 300, 2000), rng.random(2000) < 0.1
        pvalues.append(compare(rng.random(2000) < p, p, member).ecce_r.pvalue)
    assert np.sum(np.array(pvalues) <= 0.05) <= 31  # scipy.stats.binom.isf(1e-4, 300, 0.05)
    assert np.sum(np.array(pvalues) <= 0.01) <= 11  # scipy.stats.binom.isf(1e-4, 300, 0.01)
