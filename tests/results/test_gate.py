"""The gate: crossed only by what is beyond chance and beyond the tolerance."""

import math
import re

import numpy as np
import pytest

import secant
from secant._results.gate import Gate
from secant._results.wording import decided, metric, signed_pvalue

TOLERATED = "Gate passed: miscalibrated, but by less than you tolerate."


def predictions(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.2, 0.8, n)
    return rng.random(n) < p + shift, p


@pytest.mark.parametrize(
    ("n", "shift", "alpha", "max_ecce_r", "fails"),
    [
        (20_000, 0.05, 0.01, 0.02, True),  # beyond both
        (20_000, 0.05, 0.01, 0.2, False),  # beyond chance, tolerated
        (30, 0.05, 0.01, 0.02, False),  # beyond the tolerance, may be chance
        (20_000, 0.0, 0.01, 0.0, False),  # neither
    ],
)
def test_both_limits_must_be_crossed(n, shift, alpha, max_ecce_r, fails):
    y, p = predictions(n, shift)
    result = secant.assess(y, p)
    beyond_chance, beyond_tolerance = (
        result.ecce_r.pvalue <= alpha,
        result.ecce_r.value > max_ecce_r,
    )
    assert (beyond_chance and beyond_tolerance) == fails
    assert Gate(alpha, max_ecce_r).crossed(result) == fails


def test_at_a_limit_chance_is_ruled_out_and_the_deviation_tolerated():
    result = secant.assess([1], [0.25])  # ECCE-R 0.75, P = 0.25
    assert Gate(0.3, 0.74).crossed(result, pvalue=0.3)
    assert Gate(0.3, 0.74).crossed(result, pvalue=0.1 + 0.2)  # a rounding error above
    assert not Gate(0.3, 0.74).crossed(result, pvalue=0.3 + 1e-9)
    assert not Gate(0.3, 0.75).crossed(result)


def test_words_when_detectable_and_within_tolerance():
    y, p = predictions(200_000, 0.005)
    words = Gate(0.01, 0.02).judge(secant.assess(y, p)).words
    assert words.startswith(f"{TOLERATED} P = ")
    assert "ECCE-R 0.00" in words
    assert "n = 200,000" in words
    assert (
        Gate(0.01, 0.02).judge(secant.assess([0, 1], [0.4, 0.6])).words.startswith("Gate passed:")
    )


def test_groups_pass_or_fail_by_adjusted_pvalues():
    y, p = predictions(6000, 0.0)
    bad, q = predictions(2000, -0.1, seed=1)
    g = np.repeat(["a", "b", "<c>", "off"], 2000)
    y, p = np.concatenate([y, bad]), np.concatenate([p, q])
    gate = Gate(0.01, 0.02)
    assert gate.judge_groups(secant.assess_by(y, p, g)).words.startswith(
        "Gate failed by 1 of 4 groups: off (tolerance 0.02"
    )
    keep = g != "off"
    results = secant.assess_by(y[keep], p[keep], g[keep])
    assert "Gate passed by all 3 groups" in gate.judge_groups(results).words
    # A P-value that passes unadjusted limits need not pass adjusted ones.
    row = results.rows[0]
    gate = Gate((row.calibration.ecce_r.pvalue + row.adjusted_pvalue) / 2, 0)
    assert gate.crossed(row.calibration)
    assert gate.judge_groups(results).crossing == ()


def certain_and_right():
    """Return calibrated predictions, some of which rule the event out."""
    y, p = predictions(400, 0.0)
    return np.append(y, np.zeros(200)), np.append(p, np.zeros(200))


def with_an_impossible_event():
    """Return the same, where one of those events happened."""
    y, p = certain_and_right()
    y[-1] = 1
    return y, p


@pytest.mark.parametrize(
    ("max_ecce_r", "crossed", "stands"),
    [(0.0, True, "Gate failed:"), (0.5, False, TOLERATED)],
)
def test_an_impossible_outcome_is_beyond_chance_whatever_the_pvalue(max_ecce_r, crossed, stands):
    y, p = certain_and_right()
    gate = Gate(0.01, max_ecce_r)
    before = secant.assess(y, p)
    assert before.n_forbidden == 0
    assert not gate.crossed(before)
    y, p = with_an_impossible_event()
    result = secant.assess(y, p)
    assert result.n_forbidden == 1
    assert result.ecce_r.pvalue > 0.01
    assert gate.crossed(result) is crossed
    words = gate.judge(result).words
    assert words.startswith(f"{stands} P = ")
    assert "ECCE-R 0.0" in words
    assert words.endswith(
        "; 1 wrong score of exactly 0 or 1 rules out chance, whatever the P-value."
    )
    # Where the P-value is small enough it is the reason that is given.
    assert "wrong score" not in Gate(0.999, max_ecce_r).judge(result).words


def test_several_impossible_outcomes_are_counted():
    y, p = with_an_impossible_event()
    y[-3:] = 1
    words = Gate(1e-12).judge(secant.assess(y, p)).words
    assert words.endswith(
        "; 3 wrong scores of exactly 0 or 1 rule out chance, whatever the P-value."
    )


def test_a_row_without_weight_refutes_nothing():
    y, p = with_an_impossible_event()
    weights = np.append(np.ones(len(y) - 1), 0.0)
    assert not Gate(0.01).crossed(secant.assess(y, p, sample_weight=weights))


def test_a_group_may_be_refuted_by_impossible_outcomes():
    y, p = certain_and_right()
    off, q = predictions(2000, -0.15, seed=1)
    bad_y, bad_p = with_an_impossible_event()
    groups = ["fine"] * len(y) + ["off"] * 2000 + ["refuted"] * len(bad_y)
    results = secant.assess_by(
        np.concatenate([y, off, bad_y]), np.concatenate([p, q, bad_p]), groups
    )
    gate = Gate(0.01, 0)
    assert gate.judge_groups(results).crossing == ("off", "refuted")
    assert results.failing == ("off",)
    assert gate.judge_groups(results).words == (
        "Gate failed by 2 of 3 groups: off, refuted (tolerance 0, level 0.01, adjusted P-values). "
        "In refuted wrong scores of exactly 0 or 1 rule out chance, whatever the P-value."
    )
    row = next(line for line in str(results).splitlines() if line.startswith("refuted"))
    assert row.endswith("  1 score of exactly 0 or 1 was wrong")


def test_one_group_is_the_only_one():
    y, p = predictions(500, 0.0)
    fine = secant.assess_by(y, p, ["a"] * 500)
    assert (
        Gate(0.01)
        .judge_groups(fine)
        .words.startswith("Gate passed by the only group (tolerance 0.02,")
    )
    off = secant.assess_by(np.ones(500), p, ["a"] * 500)
    assert (
        Gate(0.01).judge_groups(off).words.startswith("Gate failed by the only group: a (tolerance")
    )


def test_many_names_are_cut_short():
    groups = secant.assess_by(np.ones(1400), np.full(1400, 0.2), np.repeat(np.arange(7), 200))
    assert ": 0, 1, 2, 3, 4 and 2 more (tolerance" in Gate(0.01).judge_groups(groups).words


@pytest.mark.parametrize("alpha", [0.3, 0.01, 1e-12, 1e-17, 1e-300])
def test_the_level_of_the_verdict_is_one_minus_alpha_as_far_as_numbers_go(alpha):
    level = Gate(alpha).confidence_level
    assert 0 < level < 1
    assert level == pytest.approx(1 - alpha, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    "limits",
    [(0, 0.1), (1, 0.1), ("a", 0), (0.05, -0.1), (0.05, 1), (math.nan, 0), (0.05, math.nan)]
    + [(0.05, None, bad) for bad in (-0.1, 1, math.nan, "a")]
    + [(0.05, None, None, bad) for bad in (0, -0.1, 1, math.nan, "a")],
)
def test_limits_out_of_range_are_refused(limits):
    names = "alpha", "max_ecce_r", "max_miscalibration", "within"
    bad = names[len(limits) - 1] if limits[0] == 0.05 else "alpha"
    with pytest.raises(secant.InputError, match=f"^{bad} must lie"):
        Gate(*limits)


def narrow(n=20_000, by=0.4, seed=0):
    """Return predictions of which three in a hundred are far too high."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return rng.random(n) < np.where((p > 0.6) & (p < 0.63), p - by, p), p


def wave(n=50_000, by=0.1, seed=0):
    """Return predictions that are off by ten points, one way and the other."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, n)
    return rng.random(n) < p + by * np.sign(np.sin(10 * np.pi * p)), p


@pytest.mark.parametrize(("make", "tolerance"), [(narrow, 0.1), (wave, 0.05)])
def test_what_the_whole_tolerates_a_range_need_not(make, tolerance):
    result = secant.assess(*make(), confidence_level=0.99)
    assert not Gate(0.01, max_ecce_r=0.02).crossed(result)
    (judged,) = Gate(0.01, max_miscalibration=tolerance).judge(result).judgements
    assert (judged.answer, judged.fails) == ("crossed", True)
    assert judged.pvalue == result.pvalue_beyond(tolerance) <= 0.01
    steepest = result.steepest
    assert f"are {steepest.direction} by at least" in judged.words
    assert f"where {100 * tolerance:#.3g} points are tolerated" in judged.words
    lax = Gate(0.01, max_miscalibration=0.5).judge(result)
    assert not lax.crossed
    assert lax.words.startswith("Gate passed: no range of scores is shown to be off by more than")


def test_a_range_fails_exactly_where_pvalue_or_limits_are_beyond():
    for seed in range(20):
        result = secant.assess(*narrow(4000, 0.25, seed), method="asymptotic")
        for tolerance in (0.02, 0.05, 0.1, 0.15):
            at_least = 0.0 if result.steepest is None else result.steepest.at_least
            fails = Gate(0.05, max_miscalibration=tolerance).crossed(result)
            assert fails >= (at_least > tolerance)
            assert fails <= result.found


def test_a_tolerance_of_nothing_is_the_test_of_calibration():
    y, p = with_an_impossible_event()
    refuted = secant.assess(y, p)
    assert Gate(0.01, max_miscalibration=0).crossed(refuted)
    assert not Gate(0.01, max_miscalibration=0.3).crossed(refuted)
    for shift in (0.0, 0.05):
        result = secant.assess(*predictions(2000, shift))
        assert result.pvalue_beyond(0) == max(result.pvalue, result.ecce_r.pvalue)
        assert Gate(0.05, max_miscalibration=0).crossed(result) == result.found_in_ranges


@pytest.mark.parametrize(
    ("n", "shift", "within", "answer"),
    [
        (20_000, 0.0, 0.02, "within"),
        (300, 0.0, 0.02, "not enough data"),
        (20_000, 0.05, 0.02, "beyond"),
        (20_000, 0.02, 0.02, "not enough data"),
        (1, 0.0, 0.5, "not enough data"),
    ],
)
def test_within_has_three_answers_and_passes_by_one(n, shift, within, answer):
    result = secant.assess(*predictions(n, shift), confidence_level=0.5)  # another level
    stand = Gate(0.05, within=within).judge(result)
    (judged,) = stand.judgements
    assert judged.answer == answer
    assert stand.crossed == (answer != "within")
    again = secant.assess(*predictions(n, shift), confidence_level=0.95)
    assert judged.interval == again.ecce_r.ci
    assert judged.to_dict()["interval"] == list(again.ecce_r.ci)
    low, high = map(metric, again.ecce_r.ci)
    words = {
        "within": f"Gate passed: ECCE-R is at most {high} (95% limit), {within:g} is allowed.",
        "beyond": f"Gate failed: ECCE-R is at least {low} (95% limit), {within:g} is allowed.",
        "not enough data": f"Gate failed: too few predictions to show that ECCE-R is at most "
        f"{within:g}; it is between {low} and {high} (95% limits).",
    }
    assert judged.words == words[answer]


def test_a_limit_that_is_not_given_is_not_judged():
    assert Gate().limits == {"max_ecce_r": 0.02}
    assert Gate(0.05, within=0.1).limits == {"within": 0.1}
    everything = Gate(0.05, 0.1, 0.2, 0.3)
    assert everything.limits == {"max_ecce_r": 0.1, "max_miscalibration": 0.2, "within": 0.3}
    result = secant.assess(*predictions(2000, 0.3))
    limits = [each.limit for each in everything.judge(result).judgements]
    assert limits == list(everything.limits)
    # One of several is enough.
    assert Gate(0.05, max_ecce_r=0.9, within=0.1).crossed(result)


def test_models_are_judged_together():
    result = secant.assess(*predictions(3000, 0.03))
    level = 1.5 * result.pvalue
    assert Gate(level).crossed(result)
    fine = secant.assess(*predictions(3000, 0.0))
    stands = Gate(level).judge_models({"a": result, "b": fine})
    assert not stands["a"].crossed
    adjusted = signed_pvalue(2 * result.pvalue).removeprefix("= ")
    words = f"({adjusted} after Holm's correction for 2 models, level {level:g})"
    assert f"P {decided(result)} {words}" in stands["a"].words
    gate = Gate(1.5 * max(result.pvalue, result.ecce_r.pvalue), max_miscalibration=0)
    assert not gate.judge_models({"a": result, "b": fine})["a"].crossed
    assert gate.judge_models({"a": result})["a"].crossed
    rare = secant.assess(*predictions(3000, 0.1), clusters=np.arange(3000) // 4, rng=0)
    assert rare.pvalue_method == "upper bound"
    words = Gate(level).judge_models({"a": rare, "b": fine})["a"].words
    assert re.search(r"P <= \S+ \(<= \S+ after Holm", words)  # an upper bound, adjusted, is one
    # Of two refuted by impossible outcomes neither makes it harder for the other.
    refuted = secant.assess(*with_an_impossible_event())
    both = Gate(0.01, 0).judge_models({"a": refuted, "b": refuted})
    assert all(stand.crossed for stand in both.values())


def test_groups_are_judged_by_every_limit():
    y, p = narrow()
    few, q = predictions(100, 0.0, seed=2)
    groups = np.append(np.where(p < 0.5, "low", "high"), ["few"] * 100)
    y, p = np.append(y, few), np.append(p, q)
    results = secant.assess_by(y, p, groups)
    stands = Gate(0.01, max_miscalibration=0.1, within=0.05).judge_groups(results)
    by_key = dict(zip(stands.keys, stands.stands, strict=True))
    answers = {key: [each.answer for each in by_key[key].judgements] for key in by_key}
    assert answers == {
        "high": ["crossed", "within"],
        "low": ["passed", "within"],
        "few": ["passed", "not enough data"],
    }
    assert set(stands.crossing) == {"high", "few"}
    assert stands.words == (
        "Gate failed by 1 of 3 groups: high (10.0 points over any range, level 0.01, adjusted "
        "P-values). Gate failed: 1 of 3 groups is not shown to be within 0.05, few (level 0.01); "
        "it has too few predictions."
    )


def test_groups_pay_for_their_number_and_for_that_of_models():
    y, p = narrow(6000, 0.3)
    results = secant.assess_by(y, p, np.where(p < 0.5, "low", "high"))
    alone = results["high"].pvalue_beyond(0.05)
    for level, models, crossed in (
        (1.5 * alone, 1, ()),
        (2.5 * alone, 1, ("high",)),
        (2.5 * alone, 2, ()),
        (4.5 * alone, 2, ("high",)),
    ):
        gate = Gate(level, max_miscalibration=0.05)
        assert gate.judge_groups(results, models).crossing == crossed


def test_segments_pay_for_all_that_were_searched_and_need_not_be_within():
    rng = np.random.default_rng(0)
    region, p = rng.choice(["north", "south"], 8000), rng.uniform(0.2, 0.8, 8000)
    y = rng.random(8000) < np.where(region == "north", p - 0.15, p)
    table = {"y": y, "p": p, "region": region, "other": rng.integers(0, 3, 8000)}
    found = secant.assess_segments("y", "p", data=table, features=["region", "other"])
    gate = Gate(0.01, max_miscalibration=0.05, within=1e-9)
    assert gate.judge_groups(found).crossing == ("region = north",)
    assert Gate(0.01, within=1e-9).judge_groups(found).crossing == ()
    alone = found["region = north"].pvalue_beyond(0.1)
    searched = found.searched
    assert searched > 1
    for level, crossed in ((0.9 * searched * alone, False), (1.1 * searched * alone, True)):
        judged = Gate(min(level, 0.999), max_miscalibration=0.1).judge_groups(found)
        assert bool(judged.crossing) == crossed


def test_a_p_value_that_is_only_bounded_is_written_so():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y, clusters = rng.random(20_000) < p / 4, np.arange(20_000) // 20
    gate = Gate(0.01, None, max_miscalibration=0.1)
    for options, written in (({}, "P < 1e-300 if"), ({"clusters": clusters}, "P <= 5.0e-04 if")):
        result = secant.assess(y, p, confidence_level=0.99, **options)
        assert f"({written} no range were off" in gate.judge_models({"m": result})["m"].words
