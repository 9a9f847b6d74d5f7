"""Rows that belong together, asked through the functions people call."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant import null
from secant._api.calibrations import calibrations
from secant._blocks import key_sums
from secant._inference import clusters as flipping
from secant._inference import limits
from secant._input.options import Reading
from secant.sources.apart import Apart
from secant.sources.open import open_source
from secant.testing import assert_calibrated


def shocked(n_clusters, rows, shock, seed, *, truth=lambda s: s):
    """Rows whose outcomes share a shock within clusters, each right on average."""
    rng = np.random.default_rng([seed, n_clusters, rows])
    cluster = np.repeat(np.arange(n_clusters), rows)
    # Sharing a coin with probability `shock` keeps every chance as it is.
    shared = rng.random(cluster.size) < shock
    coin = np.where(shared, rng.random(n_clusters)[cluster], rng.random(cluster.size))
    scores = rng.random(cluster.size)
    return coin < truth(scores), scores, cluster


def test_rows_that_go_together_are_not_taken_for_miscalibration():
    """Of 40 sets of calibrated predictions in clusters: how many are found to be miscalibrated."""
    alone = together = 0
    for seed in range(40):
        y, p, who = shocked(60, 20, 0.7, seed)
        alone += secant.assess(y, p, method="asymptotic").found
        together += secant.assess(y, p, clusters=who).found
    assert alone >= 10  # a quarter or more
    assert together <= 6  # 2 expected; 7 or more once in 200


def test_what_is_off_is_found_and_limits_hold_it():
    y, p, who = shocked(200, 20, 0.3, 1, truth=lambda s: s**1.5)
    result = secant.assess(y, p, clusters=who)
    assert result.found
    assert result.direction == "too high"
    assert (result.ecce_r.method, result.ecce_r.draws) == ("upper bound", 999)
    truth = np.mean(p - p**1.5)
    assert result.ecce_r.ci[0] <= truth <= result.ecce_r.ci[1]
    everything = result.between(0, 1)
    assert everything.ci[0] <= -truth <= everything.ci[1]
    assert result.steepest.at_least <= np.max(p - p**1.5)
    alone = secant.assess(y, p)
    assert result.ecce_r.value == alone.ecce_r.value
    assert result.sigma == alone.sigma
    wide, narrow = (np.ptp(each.between(0.2, 0.6).ci) for each in (result, alone))
    assert wide > narrow
    assert result.detectable > alone.detectable
    bins = result.reliability(), alone.reliability()
    assert (np.subtract(bins[0].high, bins[0].low) > np.subtract(bins[1].high, bins[1].low)).all()


def same(one, other):
    assert (one.n, one.n_clusters, one.warnings) == (other.n, other.n_clusters, other.warnings)
    assert one.ecce_r.pvalue == other.ecce_r.pvalue
    assert one.ecce_r.ci == pytest.approx(other.ecce_r.ci, rel=1e-9)
    assert one.worst.ci == pytest.approx(other.worst.ci, rel=1e-9)
    np.testing.assert_allclose(one._flips.ranges, other._flips.ranges, rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, "sampling", "frequency"]), st.booleans())
def test_neither_order_nor_names_matter(seed, kind, ties):
    rng = np.random.default_rng(seed)
    n = 200
    p, who = rng.random(n), rng.integers(0, 30, n)
    p = p.round(1) if ties else p
    y = rng.random(n) < p
    w = None if kind is None else rng.integers(0, 4, n) + 0.0
    order, names = rng.permutation(n), rng.permutation(30)
    how = {} if kind is None else {"weight_kind": kind}
    first = secant.assess(y, p, clusters=who, sample_weight=w, **how)
    w = None if w is None else w[order]
    again = secant.assess(y[order], p[order], clusters=names[who][order], sample_weight=w, **how)
    assert first.ecce_r == again.ecce_r or first.ecce_r.pvalue == pytest.approx(
        again.ecce_r.pvalue, rel=1e-9
    )
    np.testing.assert_allclose(first._flips.ranges, again._flips.ranges, atol=1e-12)


def test_ids_of_other_types_and_lists_are_the_same_clusters():
    y, p, who = shocked(30, 5, 0.5, 3)
    wanted = secant.assess(y, p, clusters=who)
    for ids in (who / 4, who.astype(str), [f"u{each}" for each in who], who.astype("M8[D]")):
        same(secant.assess(y, p, clusters=ids), wanted)


def test_frequency_weights_are_copies_within_clusters():
    y, p, who = shocked(30, 20, 0.5, 3)
    copies = np.random.default_rng(0).integers(0, 4, p.size)
    weighted = secant.assess(y, p, clusters=who, sample_weight=copies, weight_kind="frequency")
    repeated = (np.repeat(each, copies) for each in (y, p, who))
    y, p, who = repeated
    same(weighted, secant.assess(y, p, clusters=who))


def test_copying_every_row_leaves_the_flips_as_they_are():
    y, p, who = shocked(40, 60, 0.5, 4)
    once = secant.assess(y, p, clusters=who)
    thrice = secant.assess(*(np.tile(each, 3) for each in (y, p)), clusters=np.tile(who, 3))
    assert once.ecce_r.pvalue == thrice.ecce_r.pvalue
    np.testing.assert_allclose(once._flips.ranges, thrice._flips.ranges, rtol=1e-9)
    assert secant.assess(np.tile(y, 3), np.tile(p, 3)).ecce_r.pvalue < 0.5 * once.ecce_r.pvalue


def test_the_scale_of_sampling_weights_does_not_matter():
    y, p, who = shocked(40, 30, 0.5, 5)
    w = np.random.default_rng(0).lognormal(size=p.size)
    one, other = (secant.assess(y, p, clusters=who, sample_weight=k * w) for k in (1, 1024))
    assert one.ecce_r.pvalue == other.ecce_r.pvalue
    assert one.ecce_r.ci == pytest.approx(other.ecce_r.ci, rel=1e-9)


def test_a_row_of_weight_zero_is_no_row_and_makes_no_cluster():
    y, p, who = shocked(30, 20, 0.5, 6)
    keep = who != 7
    w = keep.astype(float)
    weighted = secant.assess(y, p, clusters=who, sample_weight=w, weight_kind="frequency")
    left = secant.assess(y[keep], p[keep], clusters=who[keep])
    assert weighted.n_clusters == left.n_clusters == 29
    same(weighted, left)


def test_every_row_a_cluster_is_about_independence():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    y = rng.random(3000) < p
    single = secant.assess(y, p, clusters=np.arange(3000))
    alone = secant.assess(y, p)
    assert single.ecce_r.pvalue == pytest.approx(alone.ecce_r.pvalue, abs=0.08)
    assert single._predictions.half_width(1.0) == pytest.approx(
        alone._predictions.half_width(1.0), rel=0.1
    )
    assert single._predictions.half_width(1.0) >= alone._predictions.half_width(1.0)


def test_rare_events_have_at_least_the_pvalue_of_independent_rows():
    rng = np.random.default_rng(0)
    p = 0.002 * rng.random(2000)
    y = np.zeros(2000, int)
    y[:9] = 1
    result = secant.assess(y, p, clusters=np.arange(2000) // 20)
    alone = secant.assess(y, p)
    assert alone.ecce_r.pvalue < result.ecce_r.pvalue  # all in one cluster: flips tell little
    assert (result.ecce_r.method, alone.ecce_r.draws) == ("simulated", None)


@pytest.mark.parametrize("count", [1, 19])
def test_too_few_clusters_are_refused_with_the_reason(count):
    y, p, who = shocked(count, 30, 0.5, 7)
    with pytest.raises(secant.InputError, match="fewer than 20 cannot tell chance") as refused:
        secant.assess(y, p, clusters=who)
    assert refused.value.argument == "clusters"
    assert f"makes {count} cluster" in str(refused.value)


@pytest.mark.parametrize("count", [20, 49, 50])
def test_few_clusters_are_called_approximate(count):
    y, p, who = shocked(count, 40, 0.5, 7)
    result = secant.assess(y, p, clusters=who)
    assert any("approximate below 50" in line for line in result.warnings) == (count < 50)
    assert result.n_clusters == count


def test_the_verdict_says_how_many_clusters():
    y, p, who = shocked(412, 5, 0.2, 8)
    result = secant.assess(y, p, clusters=who)
    assert "2,060 predictions among 412 clusters" in str(result)
    assert "clusters" not in str(secant.assess(y, p))
    assert result.to_dict()["n_clusters"] == 412
    assert json.loads(json.dumps(result.to_dict()))["n_clusters"] == 412
    assert secant.assess(y, p).to_dict()["n_clusters"] is None


def test_a_pickled_result_keeps_its_limits():
    y, p, who = shocked(60, 20, 0.4, 9)
    result = secant.assess(y, p, clusters=who)
    again = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    assert again.worst == result.worst
    assert again.n_clusters == 60
    assert again._predictions.half_width(0.5) == result._predictions.half_width(0.5)


def test_impossible_outcomes_refute_in_clusters_too():
    p = np.repeat([0.0, 1.0], 50)
    y = np.repeat([0, 1], 50)
    who = np.arange(100) % 25
    right = secant.assess(y, p, clusters=who)
    assert (right.ecce_r.value, right.ecce_r.pvalue) == (0, 1)
    y[3] = 1
    assert secant.assess(y, p, clusters=who).ecce_r.pvalue == 0


def test_the_same_draws_unless_a_generator_is_given():
    y, p, who = shocked(60, 20, 0.4, 10)
    first, second = (secant.assess(y, p, clusters=who) for _ in range(2))
    assert (first._flips.ranges == second._flips.ranges).all()
    third, fourth = (secant.assess(y, p, clusters=who, rng=3) for _ in range(2))
    assert (third._flips.ranges == fourth._flips.ranges).all()
    assert (third._flips.ranges != first._flips.ranges).any()


# What goes together with what ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "asymptotic", "monte-carlo"])
def test_methods_for_independent_rows_are_refused_by_name(method):
    y, p, who = shocked(30, 5, 0.5, 3)
    for ask in (
        lambda: secant.assess(y, p, clusters=who, method=method),
        lambda: secant.assess_by(y, p, who % 2, clusters=who, method=method),
    ):
        with pytest.raises(secant.InputError, match=f"method='{method}' does not go"):
            ask()


def test_weights_by_outcome_are_refused_by_name():
    y, p, who = shocked(30, 5, 0.5, 3)
    source = open_source(y, p, clusters=who, reading=Reading(outcome_weights=(20, 1)))
    with pytest.raises(secant.InputError, match="outcome_weights does not go together with clust"):
        calibrations(Apart([None], [source]), method="auto", confidence_level=0.95, clustered=True)


def test_random_ties_and_ranges_fixed_in_advance_are_refused_by_name():
    y, p, who = shocked(30, 5, 0.5, 3)
    with pytest.raises(secant.InputError, match="ties='random' does not go"):
        secant.assess(y, p, clusters=who, ties="random", rng=1)
    with pytest.raises(secant.InputError, match="fixed_in_advance=True knows no clusters"):
        secant.assess(y, p, clusters=who).between(0, 0.5, fixed_in_advance=True)


def test_outcomes_and_names_are_no_clusters():
    y, p, who = shocked(30, 5, 0.5, 3)
    with pytest.raises(secant.InputError, match="clusters holds the outcomes"):
        secant.assess(y, p, clusters=y)
    with pytest.raises(
        secant.InputError, match="clusters must be an array of values; got the text"
    ):
        secant.assess(y, p, clusters="patient")
    data = {"y": y, "p": p, "who": who}
    with pytest.raises(secant.InputError, match="has no column 'whom', which clusters names"):
        secant.assess("y", "p", data=data, clusters="whom")
    with pytest.raises(secant.InputError, match="clusters names 'y', the column of outcomes"):
        secant.assess("y", "p", data=data, clusters="y")
    with pytest.raises(secant.InputError, match="clusters must be the name of a column"):
        secant.assess("y", "p", data=data, clusters=who)


def test_an_index_in_another_order_is_refused():
    pandas = optional("pandas")
    y, p, who = shocked(30, 5, 0.5, 3)
    scores, ids = pandas.Series(p), pandas.Series(who)
    same(secant.assess(y, scores, clusters=ids), secant.assess(y, p, clusters=who))
    with pytest.raises(secant.InputError, match="clusters have the same index in different orders"):
        secant.assess(y, scores, clusters=ids.sample(frac=1, random_state=1))


# Groups and gates ---------------------------------------------------------------------------------


def test_groups_have_clusters_of_their_own():
    y, p, who = shocked(90, 20, 0.4, 11)
    region = np.where(who < 40, "north", np.where(who < 80, "south", "west"))
    result = secant.assess_by(y, p, region, clusters=who)
    assert {row.key: row.calibration.n_clusters for row in result.rows} == {
        "north": 40,
        "south": 40,
        "west": 10,
    }
    assert result.too_few == ("west",)
    assert "too small to say anything" in str(result)
    west = result["west"]
    assert (west.ecce_r.pvalue, west.ecce_r.ci) == (1.0, (0.0, 1.0))
    assert (west.ecce_r.method, west.ecce_r.draws) == ("exact", None)
    assert west.worst.direction in {"too high", "too low"}
    assert not west.worst.certain
    assert json.dumps(result.to_dict())


def test_clusters_may_cross_groups():
    y, p, who = shocked(60, 20, 0.4, 12)
    half = np.arange(p.size) % 2
    result = secant.assess_by(y, p, half, clusters=who)
    for key in (0, 1):
        alone = secant.assess(y[half == key], p[half == key], clusters=who[half == key])
        assert result[key].n_clusters == alone.n_clusters == 60
        assert result[key].ecce_r.value == alone.ecce_r.value


def test_groups_all_of_which_are_too_small_are_refused():
    y, p, who = shocked(30, 5, 0.5, 3)
    with pytest.raises(secant.InputError, match="10 clusters at most in any of 3 groups"):
        secant.assess_by(y, p, who % 3, clusters=who)


def test_many_groups_take_more_draws():
    y, p, who = shocked(400, 10, 0.0, 13, truth=lambda s: s**3)
    result = secant.assess_by(y, p, who % 8, clusters=who)
    assert {row.calibration.ecce_r.draws for row in result.rows} == {3200}
    assert len(result.failing) == 8


def test_the_gate_knows_clusters():
    y, p, who = shocked(60, 20, 0.9, 0)
    with pytest.raises(AssertionError):
        assert_calibrated(y, p, alpha=0.05)
    passed = assert_calibrated(y, p, clusters=who, alpha=0.05)
    assert passed.n_clusters == 60
    assert assert_calibrated(y, p, by=who % 2, clusters=who).rows[0].calibration.n_clusters == 30


def test_tolerances_are_judged_by_the_same_limits():
    y, p, who = shocked(150, 20, 0.6, 20, truth=lambda s: s**1.4)
    result, alone = secant.assess(y, p, clusters=who), secant.assess(y, p)
    assert alone.pvalue_beyond(0.05) < result.pvalue_beyond(0.05)
    assert result.ecce_r_interval(0.95) == result.ecce_r.ci
    assert result.ecce_r.ci[1] > alone.ecce_r.ci[1]
    upper = secant.assess(y, p, clusters=who, confidence_level=0.99).ecce_r.ci[1]
    assert_calibrated(y, p, clusters=who, within=upper + 1e-9)
    with pytest.raises(AssertionError):
        assert_calibrated(y, p, clusters=who, within=alone.ecce_r_interval(0.99)[1] + 1e-9)


# Constants ----------------------------------------------------------------------------------------


def test_just_above_the_budget_cells_are_fewer(monkeypatch):
    y, p, who = shocked(100, 20, 0.3, 14)
    fine = secant.assess(y, p, clusters=who)
    monkeypatch.setattr(flipping, "BUDGET", 999 * 2000)
    assert (secant.assess(y, p, clusters=who)._flips.ranges == fine._flips.ranges).all()
    monkeypatch.setattr(flipping, "BUDGET", 999 * 2000 - 1)
    coarse = secant.assess(y, p, clusters=who)
    assert (coarse._flips.ranges != fine._flips.ranges).any()
    # Fewer ends see a little less of a path's range, observed or drawn.
    assert coarse._flips.mean(null.range) == pytest.approx(fine._flips.mean(null.range), rel=0.1)
    assert coarse.ecce_r.value == fine.ecce_r.value
    assert coarse.ecce_r.pvalue == pytest.approx(fine.ecce_r.pvalue, abs=0.1)


def test_many_rows_are_read_at_cells_of_equal_weight(monkeypatch):
    """Above 65,536 rows blocks are cells, and more scores than ends are not resolved."""
    y, p, who = shocked(200, 400, 0.1, 15)
    result = secant.assess(y, p, clusters=who)
    assert result.n == 80_000
    assert result._blocks.open.any()
    monkeypatch.setattr("secant.sources.rows.SORT_UP_TO", 1 << 20)
    exact = secant.assess(y, p, clusters=who)
    assert not exact._blocks.open.any()
    error = math.sqrt(0.25 / min(result.ecce_r.draws, exact.ecce_r.draws))
    assert result.ecce_r.pvalue == pytest.approx(exact.ecce_r.pvalue, abs=3 * math.sqrt(2) * error)
    assert result._predictions.half_width(1.0) == pytest.approx(
        exact._predictions.half_width(1.0), rel=0.1
    )


def test_few_scores_of_many_rows_are_all_ends():
    rng = np.random.default_rng(0)
    p = rng.integers(0, 101, 70_000) / 100
    y = rng.random(70_000) < p
    result = secant.assess(y, p, clusters=rng.integers(0, 60, 70_000))
    assert not result._blocks.open.any()
    assert len(result._blocks) == 101
    assert key_sums.ENDS >= 101


def test_limits_at_another_level_are_those_of_an_assessment_at_it():
    y, p, who = shocked(80, 20, 0.4, 16)
    at90 = secant.assess(y, p, clusters=who, confidence_level=0.9)
    at95 = secant.assess(y, p, clusters=who)
    assert at90._predictions.half_width(1.0) == limits.half_width(
        null.range, at95._totals, 1 - 0.9, at95._flips
    )
    assert at90._predictions.half_width(1.0) < at95._predictions.half_width(1.0)


@pytest.mark.parametrize("alpha", [1e-6, 0.001, 0.01, 0.0371, 0.05, 0.5, 0.9])
def test_the_level_of_a_half_width_is_the_level_it_was_asked_for(alpha):
    y, p, who = shocked(80, 20, 0.4, 16)
    result = secant.assess(y, p, clusters=who)
    for flips in (None, result._flips):
        half = limits.half_width(null.range, result._totals, alpha, flips)
        found = flipping.tail(null.range, half, result._totals, flips)
        # Drawn ranges are steps: a smaller level may have the same half-width.
        again = limits.half_width(null.range, result._totals, found, flips)
        assert found <= alpha * (1 + 1e-6)
        assert again == pytest.approx(half, rel=1e-6)
    assert limits.half_width(null.range, result._totals, alpha) <= half


# A column that looks like ids ---------------------------------------------------------------------


def with_ids(**changed):
    y, p, who = shocked(60, 10, 0.0, 17)
    return {"y": y, "p": p, "user_id": who, **changed}


def hints(data):
    return [line for line in secant.assess("y", "p", data=data).warnings if "clusters" in line]


def test_ids_in_a_table_are_told_of_in_one_line():
    (line,) = hints(with_ids())
    assert line.startswith("user_id has 10 rows each")
    assert not secant.assess("y", "p", data=with_ids(), clusters="user_id").warnings
    pandas, polars = optional("pandas"), optional("polars")
    optional("narwhals")
    for frame in (pandas.DataFrame(with_ids()), polars.DataFrame(with_ids())):
        assert hints(frame) == [line]
    assert not hints(polars.DataFrame(with_ids()).lazy())  # an engine is not asked


@pytest.mark.parametrize(
    "other",
    [{"nested": 1}, np.ones((600, 2)), "text", None, object(), np.arange(600), ["a"] * 600, []],
)
def test_whatever_else_a_mapping_holds_is_no_reason_to_fail(other):
    assert not hints(with_ids(user_id=other))


def test_many_rows_are_looked_at_in_part(tmp_path):
    """A file of which the first rows are read; and one of which a column cannot be read at all."""
    pa, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    y, p, who = shocked(10_000, 7, 0.0, 18)
    path = tmp_path / "many.parquet"
    parquet.write_table(pa.table({"y": y, "p": p, "user_id": who}), path)
    (line,) = hints(path)
    assert line.startswith("user_id repeats itself (65,536 rows hold 9,363)")
    bad = tmp_path / "bad.csv"
    lines = [b"y,p,user_id", *(b"%d,0.5,\xff\xfe%d" % (i % 2, i % 30) for i in range(90))]
    bad.write_bytes(b"\n".join(lines) + b"\n")
    assert not hints(bad)


def test_what_chance_gives_is_that_of_such_clusters():
    y, p, who = shocked(100, 20, 0.9, 21)
    result, alone = secant.assess(y, p, clusters=who), secant.assess(y, p)
    r, mad = (metric for metric, _ in result.statistics)
    assert alone.by_chance(r) == alone.expected.ecce_r
    assert result.by_chance(r) > 1.5 * null.range.mean
    assert result.by_chance(mad) < result.by_chance(r) < 2 * result.by_chance(mad)
    assert f"predictions in such clusters average {result.by_chance(r):.2g}" in str(result)
    assert "calibrated predictions average 1.6" in str(alone)
