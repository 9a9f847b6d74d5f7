"""Every source gives the arrays' answers, within 1e-12."""

import hashlib
import math
from typing import NamedTuple

import numpy as np
import pytest

import secant
from makers import arguments
from secant.sources import rows
from secant.sources.files import held


def columns(p, seed, *, weights=None, segment=None):
    """Put a data set together; what happened depends a little on the score in another way."""
    rng = np.random.default_rng([seed, len(p)])
    made = {"happened": (rng.random(len(p)) < p**1.1).astype(np.int64), "forecast": p}
    if weights is not None:
        made["weight"] = weights(rng, len(p))
    if segment is not None:
        made["segment"] = segment(rng, len(p))
    return made


def skewed(rng, n):
    """98% of the scores below 1e-4."""
    return np.where(rng.random(n) < 0.98, 1e-4 * rng.random(n), rng.random(n))


def clusters(rng, n):
    return rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n)


SCORES = {
    "plain": lambda rng, n: rng.random(n),
    "ties": lambda rng, n: rng.integers(0, 11, n) / 10,
    "certain": lambda rng, n: np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), rng.random(n)),
    "skewed": skewed,
    "clusters": clusters,
    "one value": lambda rng, n: np.full(n, 0.3),
}


def rare(rng, n):
    """So few events that finite-sample P-values look at every distinct score."""
    return rng.random(n) * (100 / n)


WEIGHTS = {
    "none": None,
    "sampling": lambda rng, n: np.append(rng.lognormal(size=n - 1) * (rng.random(n - 1) < 0.8), 1),
    "frequency": lambda rng, n: np.append(rng.integers(0, 4, n - 1), 1),
}


def segments(rng, n):
    """Three groups and rows without one; the last row is a group by itself."""
    keys = np.array(["north", "south", "it's", None], dtype=object)
    drawn = keys[rng.integers(0, 4, n)]
    drawn[-1] = "alone"
    return drawn


def numbered(rng, n):
    return rng.integers(-2, 3, n)


# These P-values are read from mean scores of cells, which are the source's own.
OF_CELLS = "large-sample", "upper bound"


def statistic(found):
    large = f" {found.method}" if found.method in OF_CELLS else ""
    return {
        "value": found.value,
        "normalized": found.normalized,
        f"pvalue{large}": found.pvalue,
        f"log10{large}": found.log10_pvalue,
        "method": found.method,
        "draws": found.draws,
        "ci": found.ci,
    }


def interval(found):
    shown = ("low", "high", "n", "weight", "mean_score", "mean_response", "miscalibration", "ci")
    return {name: getattr(found, name) for name in shown}


def binned(found):
    return {
        "value": found.value,
        "noise floor": found.noise_floor,
        "counts": found.bins.count.tolist(),
        "means": found.bins.mean_response.tolist(),
    }


class Decided(NamedTuple):
    """The P-value that decides, and those of its parts."""

    methods: tuple
    logs: tuple


def decided(result):
    parts = result._decided.pvalue, result.mean, result.bridge
    logs = result.log10_pvalue, result.mean.log10_pvalue, result.bridge.log10_pvalue
    return Decided(tuple(part.method for part in parts), logs)


def assert_decided(found, wanted, where):
    """Ties give the same P-values within 1e-9; from sums each part is an upper bound by 1%."""
    for method, other, log10, known in zip(
        found.methods, wanted.methods, found.logs, wanted.logs, strict=True
    ):
        if "exact" in {method, other}:
            within = 1e-9 if method == other else 2.1 * math.log10(1.01)
        else:
            within = 1e-5 * max(1, -known)
        assert log10 == known or abs(log10 - known) <= within, (where, found, wanted)


def answers(result, *, later=True):
    """Everything a result can be asked; ``later`` includes what takes another look at the data."""
    told = {
        "n": result.n,
        "sigma": result.sigma,
        "mean score": result.mean_score,
        "base rate": result.base_rate,
        "r": statistic(result.ecce_r),
        "mad": statistic(result.ecce_mad),
        "worst": interval(result.worst),
        "forbidden": result.n_forbidden,
        "warnings": len(result.warnings),
        "decided": decided(result),
    }
    if later:
        told |= {
            "between": interval(result.between(0.15, 0.62)),
            "low end": interval(result.between(0, 0.00005)),
            "uniform": binned(result.ece(n_bins=7)),
            "quantile": binned(result.ece(n_bins=1, strategy="quantile")),
        }
    return told


def assert_same(found, wanted, where=""):
    """Compare answers: what is counted or said exactly, numbers within 1e-12."""
    if isinstance(wanted, Decided):
        assert_decided(found, wanted, where)
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for name in wanted:
            assert_same(found[name], wanted[name], f"{where} {name}")
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), where
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other, where)
    elif isinstance(wanted, float) and math.isfinite(wanted):
        # Numbers larger than one (in units of sigma, logarithms) are as good in proportion.
        within = 1e-6 if where.endswith(OF_CELLS) else 1e-12
        assert abs(found - wanted) <= within * max(1.0, abs(wanted)), (where, found, wanted)
    else:
        assert found == wanted or (found != found and wanted != wanted), (where, found, wanted)  # noqa: PLR0124


@pytest.fixture
def few_rows_are_many(monkeypatch):
    """Lower the limits from which rows are cut into cells, collected, and read in chunks."""
    monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    monkeypatch.setattr(rows, "CHUNK", 500)
    monkeypatch.setattr(rows, "COLLECT_UP_TO", 100)
    monkeypatch.setattr(rows, "PIECES", 64)
    monkeypatch.setattr(held, "HOLD", 64)


_BY_ARRAYS = {}


def by_arrays(assess, made, **options):
    """Return the arrays' answer, which every source is compared with and which is had once."""
    values = [value.tolist() for value in made.values()]
    key = repr((assess.__name__, options, list(made), [v.dtype for v in made.values()], values))
    key = hashlib.sha256(key.encode()).digest()
    if key not in _BY_ARRAYS:
        _BY_ARRAYS[key] = assess(**arguments(made, None), **options)
    return _BY_ARRAYS[key]


def assess_same(source, made, **options):
    wanted = by_arrays(secant.assess, made, **options)
    assert_same(
        answers(secant.assess(**source(made), **options)),
        answers(wanted),
    )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_few_rows(source, scores, weights):
    p = SCORES[scores](np.random.default_rng(1), 300)
    kind = "sampling" if weights == "none" else weights
    assess_same(source, columns(p, 2, weights=WEIGHTS[weights]), weight_kind=kind)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_the_way_of_many_rows(source, scores, weights, few_rows_are_many, monkeypatch):
    p = SCORES[scores](np.random.default_rng(3), 3000)
    made = columns(p, 4, weights=WEIGHTS[weights])
    options = {"weight_kind": "sampling" if weights == "none" else weights}
    found = answers(secant.assess(**source(made), **options))
    monkeypatch.undo()
    assert_same(found, answers(by_arrays(secant.assess, made, **options)))


@pytest.mark.parametrize("weights", ["none", "frequency"])
@pytest.mark.parametrize("scores", ["plain", "skewed", "ties", "certain"])
def test_the_steepest_range(source, scores, weights, few_rows_are_many, monkeypatch):
    """It holds the same rows, and is off by as much at least."""
    p = SCORES[scores](np.random.default_rng(23), 3000)
    made = columns(p, 24, weights=WEIGHTS[weights])
    low = 2e-5 if scores == "skewed" else 0.25
    made["happened"][(p > low) & (p < 1.5 * low)] = 1
    options = {"weight_kind": "sampling" if weights == "none" else weights}
    result = secant.assess(**source(made), **options)
    found, beyond = result.steepest, result.pvalue_beyond(0.1)
    monkeypatch.undo()
    wanted = by_arrays(secant.assess, made, **options)
    assert wanted.steepest.at_least > 0.1
    assert beyond == pytest.approx(wanted.pvalue_beyond(0.1), rel=1e-7)
    for name in ("n", "weight", "mean_score", "mean_response", "ci", "at_least"):
        assert_same(getattr(found, name), getattr(wanted.steepest, name), name)
    # Where the next score is outside is not known everywhere.
    assert wanted.between(found.low, found.high).n == found.n


@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_of_outcomes(source, weights, few_rows_are_many, monkeypatch):
    p = SCORES["certain"](np.random.default_rng(7), 600)
    made = columns(p, 8, weights=WEIGHTS[weights])
    kind = "sampling" if weights == "none" else weights
    options = {"weight_kind": kind, "outcome_weights": (20, 1)}
    given = source(made)
    found = answers(secant.assess(**given, **options))
    asymptotic = secant.assess(**given, **options, method="asymptotic")
    monkeypatch.undo()
    assert_same(found, answers(by_arrays(secant.assess, made, **options)))
    wanted = by_arrays(secant.assess, made, **options, method="asymptotic")._totals
    sums = asymptotic._totals
    for name in ("weight", "ww", "ww1", "variance", "squares", "third", "squared_error"):
        assert getattr(sums, name) == pytest.approx(getattr(wanted, name), rel=1e-12), name
    # An engine bounds what it cannot return: limits are never narrower.
    for one, other in zip(sums.steps, wanted.steps, strict=True):
        assert one >= other * (1 - 1e-12)


def test_weights_of_outcomes_in_groups(source, monkeypatch, few_rows_are_many):
    p = SCORES["plain"](np.random.default_rng(7), 600)
    made = columns(p, 8, weights=WEIGHTS["sampling"], segment=segments)
    options = {"outcome_weights": (1, 5)}
    found = secant.assess_by(**source(made), **options)
    told = {key: answers(result, later=False) for key, result in found.items()}
    losses = {key: result.log_loss.value for key, result in found.items()}
    monkeypatch.undo()
    for key, result in by_arrays(secant.assess_by, made, **options).items():
        assert_same(told[key], answers(result, later=False))
        assert losses[key] == pytest.approx(result.log_loss.value, rel=1e-12)


@pytest.mark.parametrize("scores", ["plain", "skewed", "ties", "rare"])
def test_many_rows(source, scores):
    p = (SCORES | {"rare": rare})[scores](np.random.default_rng(5), rows.SORT_UP_TO + 1000)
    assess_same(source, columns(p, 6))


def test_rare_events_in_large_groups(source):
    """Groups of more rows than are sorted whole, whose ties are pooled for the walk."""
    p = 0.3 * rare(np.random.default_rng(21), rows.SORT_UP_TO + 1500)
    made = columns(p, 22, segment=lambda _, n: np.arange(n) >= 1000)
    wanted = secant.assess_by(**arguments(made, None))
    assert wanted.rows[0].calibration.ecce_mad.method == "upper bound"
    groups_same(secant.assess_by(**source(made)), wanted)


@pytest.mark.parametrize(("scores", "weights"), [("skewed", "sampling"), ("certain", "none")])
def test_proper_scores(source, scores, weights, few_rows_are_many, monkeypatch):
    """The scores are the same everywhere; what they are made of lies between its bounds."""
    p = SCORES[scores](np.random.default_rng(19), 3000)
    made = columns(p, 20, weights=WEIGHTS[weights])
    options = {"weight_kind": "sampling" if weights == "none" else weights}
    result = secant.assess(**source(made), **options)
    found = result.brier, result.log_loss
    monkeypatch.undo()
    wanted = by_arrays(secant.assess, made, **options)
    for one, other in zip(found, (wanted.brier, wanted.log_loss), strict=True):
        assert_same([one.value, one.unc], [other.value, other.unc])
        for name in ("mcb", "dsc"):
            low, high = getattr(one, f"{name}_bounds")
            exact = getattr(other, name)
            assert low - 1e-12 <= exact <= high + 1e-12 or low == exact
            assert low <= getattr(one, name) <= high


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("happened", [0, 1])
def test_one_row(source, score, happened):
    assess_same(source, {"happened": np.array([happened]), "forecast": np.array([score])})


@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "float64", "minus one"])
def test_outcomes_of_every_type(source, kind):
    made = columns(np.random.default_rng(7).random(200), 8)
    happened = made["happened"]
    made["happened"] = 2 * happened - 1 if kind == "minus one" else happened.astype(kind)
    assess_same(source, made)


def test_outcomes_in_words(source):
    made = columns(np.random.default_rng(9).random(200), 10)
    made["happened"] = np.where(made["happened"] == 1, "yes", "no").astype(object)
    assess_same(source, made, pos_label="yes")


def test_single_precision(source):
    made = columns(np.random.default_rng(11).random(300), 12)
    made["forecast"] = made["forecast"].astype(np.float32)
    assess_same(source, made)


@pytest.mark.parametrize("method", ["exact", "asymptotic", "monte-carlo"])
def test_every_method(source, method):
    made = columns(np.random.default_rng(13).random(150), 14)
    assess_same(source, made, method=method)


def groups_same(found, wanted):
    assert [group.key for group in found.rows] == [group.key for group in wanted.rows]
    assert found.empty == wanted.empty
    assert found.by in {("segment",), ("group",)}
    for one, other in zip(found.rows, wanted.rows, strict=True):
        method = other.calibration.ecce_r.method
        assert_same(one.adjusted_pvalue, other.adjusted_pvalue, f"{one.key} {method}")
        assert one.status == other.status
        assert_same(answers(one.calibration), answers(other.calibration), f"{one.key}")


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("segment", [segments, numbered])
def test_groups(source, segment, weights):
    p = np.random.default_rng(15).random(1200)
    made = columns(p, 16, weights=WEIGHTS[weights], segment=segment)
    options = {"weight_kind": "sampling" if weights == "none" else weights}
    wanted = by_arrays(secant.assess_by, made, **options)
    groups_same(secant.assess_by(**source(made), **options), wanted)


@pytest.mark.parametrize("scores", ["plain", "skewed", "ties"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_groups_the_way_of_many_rows(source, scores, weights, few_rows_are_many, monkeypatch):
    p = SCORES[scores](np.random.default_rng(17), 3000)
    made = columns(p, 18, weights=WEIGHTS[weights], segment=segments)
    options = {"weight_kind": "sampling" if weights == "none" else weights}
    found = secant.assess_by(**source(made), **options)
    told = {group.key: answers(group.calibration) for group in found.rows}
    monkeypatch.undo()
    wanted = by_arrays(secant.assess_by, made, **options)
    assert found.empty == wanted.empty
    assert_same(told, {group.key: answers(group.calibration) for group in wanted.rows})


@pytest.mark.parametrize("assess", [secant.assess, secant.assess_by])
def test_a_kind_of_weights_that_does_not_exist_is_refused(source, assess):
    rng = np.random.default_rng(0)
    made = columns(rng.random(20), 0, weights=lambda rng, n: rng.integers(1, 5, n))
    if assess is secant.assess_by:
        made["segment"] = np.array(["a", "b"] * 10)
    with pytest.raises(secant.InputError, match=r"weight_kind must be one of .*; got 'Sampling'"):
        assess(**source(made), weight_kind="Sampling")


def test_groups_without_weight_are_named(source):
    made = {
        "happened": np.array([0, 1, 1, 0]),
        "forecast": np.array([0.2, 0.4, 0.6, 0.8]),
        "weight": np.array([0.0, 0.0, 1.0, 2.0]),
        "segment": np.array(["a", "a", "b", None], dtype=object),
    }
    found = secant.assess_by(**source(made))
    assert found.empty == ("a",)
    assert {group.key for group in found.rows} == {"b", None}


# Rows that belong together ------------------------------------------------------------------------


def patients(kind, rng, n):
    """Return about 60 clusters of unequal size, whose ids are of some type."""
    numbers = (60 * rng.random(n) ** 2).astype(np.int64)
    if kind == "text":
        return np.array([f"patient {number}" for number in numbers], dtype=object)
    return numbers


def flips(result):
    return {"clusters": result.n_clusters, "ranges": result._flips.ranges[::90].tolist()}


@pytest.mark.parametrize(
    ("scores", "weights", "kind", "n"),
    [
        ("plain", "none", "text", 5000),  # more distinct scores than paths are read at
        ("ties", "sampling", "whole", 2000),
        ("skewed", "frequency", "whole", 2000),
    ],
)
def test_clusters(source, scores, weights, kind, n):
    rng = np.random.default_rng(7)
    made = columns(SCORES[scores](rng, n), 7, weights=WEIGHTS[weights])
    made["patient"] = patients(kind, rng, n)
    how = {} if weights == "none" else {"weight_kind": weights}
    found = secant.assess(**source(made), **how)
    wanted = by_arrays(secant.assess, made, **how)
    assert wanted.n_clusters == np.unique(made["patient"]).size
    assert wanted.ecce_r.draws or weights != "none"
    assert_same(
        answers(found, later=False) | flips(found), answers(wanted, later=False) | flips(wanted)
    )


@pytest.mark.parametrize("missing", [False, True])
def test_clusters_of_several_columns(source, missing):
    rng = np.random.default_rng(10)
    made = columns(rng.random(2000), 10)
    made["patient"], made["site"] = patients("text", rng, 2000), rng.integers(0, 3, 2000)
    both = np.array(
        [f"{one}/{other}" for one, other in zip(made["patient"], made["site"], strict=True)]
    )
    wanted = secant.assess(made["happened"], made["forecast"], clusters=both)
    if missing:
        made["patient"][17] = None
    given = source(made)
    arrays = [made["patient"], made["site"]]
    given["clusters"] = ["patient", "site"] if "data" in given else arrays
    if missing:
        with pytest.raises(secant.InputError, match=r"clusters") as refused:
            secant.assess(**given)
        assert "site" not in str(refused.value)
        return
    found = secant.assess(**given)
    assert found.n_clusters == np.unique(both).size
    assert_same(
        answers(found, later=False) | flips(found), answers(wanted, later=False) | flips(wanted)
    )


def test_clusters_in_groups(source):
    rng = np.random.default_rng(8)
    made = columns(rng.random(4000), 8, segment=segments)
    made["patient"] = patients("whole", rng, 4000)  # a patient has rows in several segments
    found = secant.assess_by(**source(made))
    wanted = by_arrays(secant.assess_by, made)
    assert [row.key for row in found.rows] == [row.key for row in wanted.rows]
    assert wanted.too_few == ("alone",)
    for row, other in zip(found.rows, wanted.rows, strict=True):
        assert row.status == other.status
        ours, theirs = (
            answers(each.calibration, later=False) | flips(each.calibration)
            for each in (row, other)
        )
        assert_same(ours, theirs)


def test_a_row_without_a_cluster(source):
    rng = np.random.default_rng(9)
    made = columns(rng.random(200), 9)
    made["patient"] = patients("text", rng, 200)
    made["patient"][17] = None  # an empty field of a CSV file
    with pytest.raises(secant.InputError) as refused:
        secant.assess(**source(made))
    assert "clusters" in {each.name for each in refused.value.message.arguments}
    # Rows of an engine have no numbers, and those of several files start anew in each.
    assert refused.value.row in (17, None) or refused.value.place
