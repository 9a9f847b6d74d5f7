"""Predictions of many kinds, and what holds for their results: ``from samples import MANY``."""

import contextlib
import dataclasses
import math
import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import strategies as st

import secant
from secant.sources import rows as row_source

EXACT = {"rel": 0, "abs": 1e-12}
RELATIVE = {"rel": 1e-12, "abs": 0}
scores = st.one_of(
    st.floats(0, 1),
    st.integers(0, 8).map(lambda k: k / 8),
    st.tuples(st.sampled_from([0.25, 0.7]), st.integers(-9, 9).map(lambda k: k * 1e-10)).map(sum),
)


@st.composite
def predictions(draw, most=40):
    """Return labels, scores, weights (or None) and the kind of weights."""
    rows = draw(st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=most))
    y, p = (np.array(column) for column in zip(*rows, strict=True))
    kind = draw(st.sampled_from([None, "sampling", "frequency"]))
    if kind is None:
        return y, p, None, "sampling"
    weight = st.integers(1, 4) if kind == "frequency" else st.floats(0.01, 100)
    return y, p, np.array(draw(st.lists(weight, min_size=len(y), max_size=len(y)))), kind


def as_many(on):
    """Send a few rows through the code for many: cut into cells, collected a few at a time."""
    limits = {"SORT_UP_TO": 0, "CHUNK": 16, "COLLECT_UP_TO": 8, "PIECES": 64}
    return mock.patch.multiple(row_source, **limits) if on else contextlib.nullcontext()


N_MANY = 200_000
MANY = {
    "spread out": lambda rng: rng.random(N_MANY),
    "skewed": lambda rng: rng.beta(0.05, 5, N_MANY),
    "tied": lambda rng: rng.integers(0, 101, N_MANY) / 100,
    "half tied": lambda rng: np.where(rng.random(N_MANY) < 0.5, 0.3, rng.random(N_MANY)),
    "clusters": lambda rng: rng.choice([0.2, 0.7], N_MANY) + 1e-9 * rng.random(N_MANY),
}


def copies(y, p, w, kind):
    """Return rows with their weights, copies written out."""
    if w is None:
        w = np.ones(len(y))
    if kind == "frequency":
        return np.repeat(y, w), np.repeat(p, w), np.ones(int(w.sum()))
    return y, p, w


def assert_covers(interval, y, p, w, inside):
    """Assert that an interval says what is true of the rows inside."""
    y, p, w, total = y[inside], p[inside], w[inside], w.sum()
    assert interval.n == len(y)
    assert interval.weight == pytest.approx(w.sum() / total, **EXACT)
    if not len(y):
        values = (interval.mean_score, interval.mean_response, interval.miscalibration)
        assert all(map(math.isnan, (*values, *interval.ci)))
        return
    # Sums of w s are known to 1e-12 of all the weight, averages to that over the share.
    tight = {"rel": 0, "abs": 1e-12 / min(1, interval.weight)}
    assert interval.mean_score == pytest.approx((w * p).sum() / w.sum(), **tight)
    assert interval.mean_response == pytest.approx((w * y).sum() / w.sum(), **tight)
    assert interval.miscalibration == pytest.approx((w * (y - p)).sum() / w.sum(), **tight)


ORDINARY = ([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.6, 0.8, 0.8, 0.1])
DEGENERATE = {
    "ordinary": (ORDINARY, {}),
    "weighted": (ORDINARY, {"sample_weight": [1, 2, 0.5, 3, 1, 1]}),
    "copies": (ORDINARY, {"sample_weight": [1, 2, 0, 3, 1, 1], "weight_kind": "frequency"}),
    "numpy types": (
        (np.array([0, 1, 1], np.int8), np.array([0.2, 0.3, 0.9], np.float32)),
        {"sample_weight": np.array([1, 2, 3], np.float32), "confidence_level": np.float64(0.9)},
    ),
    "one row": (([1], [0.3]), {}),
    "one score": (([0, 1, 1], [0.5, 0.5, 0.5]), {}),
    "certain and right": (([0, 1, 1], [0.0, 1.0, 1.0]), {}),
    "certain and wrong": (([1, 0, 1], [0.0, 1.0, 1.0]), {}),
    "forbidden": (([1, 0, 1, 0], [0.0, 0.2, 0.8, 1.0]), {}),
    "never": (([0, 0, 0], [0.1, 0.2, 0.3]), {}),
    "always": (([1, 1, 1], [0.1, 0.2, 0.3]), {}),
    "no difference at all": (([0, 1], [0.5, 0.5]), {}),
    "smallest double": (([0, 1], [5e-324, 1 - 2**-53]), {}),
    "far beyond doubles": ((np.ones(5000, int), np.linspace(0.4, 0.6, 5000)), {}),
    "random ties": (ORDINARY, {"ties": "random", "rng": 1}),
}
every_case = pytest.mark.parametrize(("data", "options"), DEGENERATE.values(), ids=DEGENERATE)


def public(result):
    return [field.name for field in dataclasses.fields(result) if not field.name.startswith("_")]


def assert_plain(value):
    """Assert that a result is made of Python's own numbers, texts and tuples all the way down."""
    if dataclasses.is_dataclass(value):
        for name in public(value):
            assert_plain(getattr(value, name))
    elif type(value) is tuple:
        for item in value:
            assert_plain(item)
    else:
        assert type(value) in (int, float, str, bool, type(None)), (type(value), value)


def miscalibrated(n=4000, seed=0, power=1.3):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


def statistics(result):
    return result.ecce_r, result.ecce_mad


def gone(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301


NAMES = ["cat", "dog", "eel"]


def simulate(n, k, seed=0, sharpness=1.0, power=1.0):
    """Draw probabilities and labels; the model reports the chances raised to ``power``."""
    rng = np.random.default_rng(seed)
    chance = rng.dirichlet(np.full(k, sharpness), n)
    y = draw(chance, rng)
    told = chance**power
    return y, told / told.sum(axis=1, keepdims=True)


def draw(chance, rng):
    return (
        (chance.cumsum(axis=1) < rng.random((len(chance), 1)))
        .sum(axis=1)
        .clip(max=chance.shape[1] - 1)
    )


def stepped(n=6000, seed=0, high=0.12):
    """Return outcomes that are off in two separate ranges of scores, in opposite directions."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    chance = (
        p + np.where((p > 0.1) & (p < 0.35), high, 0) - np.where((p > 0.6) & (p < 0.9), high, 0)
    )
    return (rng.random(n) < chance).astype(int), p


def compare_groups(y, p, member, w=None, **kwargs):
    return secant.compare_groups(y, p, member, sample_weight=w, **kwargs)


def compare_models(y, a, b, w=None, **kwargs):
    return secant.compare_models(y, a, b, sample_weight=w, **kwargs)
