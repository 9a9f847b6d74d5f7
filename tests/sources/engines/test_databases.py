"""Databases behind Ibis are asked every question, of scores at 0, at 1 and next to nothing."""

from datetime import date, timedelta

import numpy as np
import pytest

import secant
from helpers import optional
from makers import MAKERS
from secant.sources.engines import budget

optional("narwhals")

DATABASES = ["sqlite", "postgres", "mariadb"]
every_database = pytest.mark.parametrize("database", DATABASES)
FEATURES = ["region", "age", "rooms", "vip", "day", "income", "half"]


def predictions(n=3000):
    rng = np.random.default_rng(0)
    forecast = rng.uniform(0.15, 0.85, n)
    forecast[:60] = np.repeat([0.0, 1.0, 5e-324, 1e-300, 1e-160, 1 - 2**-53], 10)
    region = rng.choice(np.array(["north", "south", "Süd"], object), n)
    region[rng.random(n) < 0.05] = None
    age = rng.integers(18, 68, n)
    young = (region == "north") & (age < 28)
    chance = np.where(young, np.maximum(forecast - 0.4, 0), forecast)
    half = rng.normal(size=n).astype(object)
    half[::2] = None
    return {
        "y": (rng.random(n) < chance).astype(np.int64),
        "p": forecast,
        "w": rng.choice([0.5, 1.0, 3.0, 1e-100, 0.0], n),
        "copies": rng.integers(0, 3, n),
        "word": np.where(rng.random(n) < chance, "yes", "no").astype(object),
        "region": region,
        "age": age,
        "rooms": rng.integers(1, 4, n),
        "vip": rng.random(n) < 0.3,
        "day": np.array([date(2026, 1, 1) + timedelta(int(i)) for i in rng.integers(0, 90, n)]),
        "income": rng.exponential(1, n),
        "half": half,
        "who": rng.integers(0, 200, n),
        "name": np.array([f"patient {i % 200}" for i in range(n)], object),
    }


COLUMNS = predictions()
QUESTIONS = {
    "scores": {},
    "weights": {"sample_weight": "w"},
    "copies": {"sample_weight": "copies", "weight_kind": "frequency"},
    "outcome weights": {"outcome_weights": (2.0, 0.25)},
    "outcome weights and weights": {"outcome_weights": (0.1, 1.0), "sample_weight": "w"},
    "outcome weights and copies": {
        "outcome_weights": (0.1, 1.0),
        "sample_weight": "copies",
        "weight_kind": "frequency",
    },
    "clusters": {"clusters": "who"},
    "clusters by name": {"clusters": "name"},
    "clusters and weights": {"clusters": "name", "sample_weight": "w"},
    "order": {"order_by": "day"},
    "order and weights": {"order_by": "day", "sample_weight": "w"},
    "words": {"y_true": "word", "pos_label": "yes"},
    "truth": {"y_true": "vip"},
}
GROUPS = ["region", "age", "vip", "day", ["region", "rooms"]]


def same(found, wanted):
    """Compare what every source must know to a dozen digits."""
    assert (found.n, found.n_forbidden) == (wanted.n, wanted.n_forbidden)
    for metric in ("ecce_r", "ecce_mad"):
        one, other = getattr(found, metric), getattr(wanted, metric)
        assert one.value == pytest.approx(other.value, rel=1e-12, abs=1e-300)
        assert one.log10_pvalue == pytest.approx(other.log10_pvalue, rel=1e-6, abs=1e-9)
    assert found.sigma == pytest.approx(wanted.sigma, rel=1e-12)
    assert found.brier.value == pytest.approx(wanted.brier.value, rel=1e-12)
    assert found.log_loss.value == pytest.approx(wanted.log_loss.value, rel=1e-12)


@pytest.fixture(scope="module")
def tables():
    """Return a function from the name of a database to the predictions in it."""
    made = {}

    def table(database):
        if database not in made:
            made[database] = MAKERS[database](COLUMNS, None)
        return made[database]

    return table


@every_database
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question(database, question, tables):
    asked = {"y_true": "y", "y_prob": "p", **QUESTIONS[question]}
    same(secant.assess(data=tables(database), **asked), secant.assess(data=COLUMNS, **asked))


@every_database
@pytest.mark.parametrize("weights", [{}, {"sample_weight": "w"}, {"outcome_weights": (0.1, 1.0)}])
def test_sums_along_an_order(database, weights, tables, monkeypatch):
    asked = {"order_by": "day", "method": "asymptotic", **weights}
    wanted = secant.assess("y", "p", data=COLUMNS, **asked)
    monkeypatch.setattr(budget, "LEAVE", 100)
    same(secant.assess("y", "p", data=tables(database), **asked), wanted)


@every_database
@pytest.mark.parametrize("by", GROUPS, ids=str)
def test_groups(database, by, tables):
    found = secant.assess_by("y", "p", by, data=tables(database), sample_weight="w")
    wanted = secant.assess_by("y", "p", by, data=COLUMNS, sample_weight="w")
    assert list(found) == list(wanted)
    for key in wanted:
        same(found[key], wanted[key])


@every_database
@pytest.mark.parametrize("weight", [None, "w", "copies"])
def test_segments(database, weight, tables):
    options = {"features": FEATURES, "min_rows": 100, "adjust": "holm", "sample_weight": weight}
    if weight == "copies":
        options["weight_kind"] = "frequency"
    columns = dict(COLUMNS)
    if database == "mariadb":  # which knows no truth values
        columns["vip"] = columns["vip"].astype(np.int64)
    found = secant.assess_segments("y", "p", data=tables(database), **options)
    wanted = secant.assess_segments("y", "p", data=columns, **options)
    assert wanted.failing
    assert found.searched == wanted.searched
    assert found.not_searched == wanted.not_searched
    assert found.failing == wanted.failing
    assert len(found.rows) == len(wanted.rows)
    for one, other in zip(found.rows, wanted.rows, strict=True):
        assert one.conditions == other.conditions
        assert one.adjusted_pvalue == pytest.approx(other.adjusted_pvalue, rel=1e-9)
        assert one.calibration.n == other.calibration.n
