"""Scores below the axis: the right score at every place, and labels that have room."""

import numpy as np
import pytest
from hypothesis import given

import secant
from datasets import datasets
from secant._drawing.order import score_labels
from secant._drawing.style import text_width
from secant._drawing.ticks import divide, each_score, equal_fractions, equal_steps, score_at


def share_up_to(p, w, score, *, inclusive=True):
    counted = np.ones(len(p)) if w is None else w
    inside = p <= score if inclusive else p < score
    return counted[inside].sum() / counted.sum()


@given(datasets(most=60))
def test_a_score_stands_where_the_weight_reaches_it(data):
    y, p, w = data
    curve = secant.assess(y, p, sample_weight=w).curve
    places = np.linspace(0, 1, 11)
    p = p.astype(np.float64)
    for place, score in zip(places, score_at(curve, places), strict=True):
        assert share_up_to(p, w, score, inclusive=False) <= place + 1e-8
        assert share_up_to(p, w, score) >= place - 1e-8


@given(datasets(most=60))
def test_small_ticks_stand_at_the_share_of_scores_below(data):
    y, p, w = data
    curve = secant.assess(y, p, sample_weight=w).curve
    step, places = equal_steps(curve)
    assert len(places) <= 102
    assert (np.diff(places) > 0).all()
    if step > 1e-6:
        counted = np.ones(len(p), bool) if w is None else w > 0
        p, w = p[counted].astype(np.float64), None if w is None else w[counted]
        per_unit = round(1 / step)
        first, last = np.ceil(p.min() * per_unit), np.floor(p.max() * per_unit)
        scores = np.arange(first, last + 1) / per_unit
        shares = {round(share_up_to(p, w, score), 9) for score in scores}
        assert {round(place, 9) for place in places.tolist()} == shares


def test_uniform_scores_have_even_ticks():
    p = (np.arange(1000) + 0.5) / 1000
    step, places = equal_steps(secant.assess(p > 0.5, p).curve)
    assert step == 0.01
    assert places == pytest.approx(np.arange(1, 100) / 100, abs=1e-12)


def test_the_step_is_round_and_suits_the_range():
    p = np.linspace(0.001, 0.034, 500)
    step, places = equal_steps(secant.assess(p > 0.02, p).curve)
    assert step == pytest.approx(0.0005)
    assert 50 <= len(places) <= 100


def test_each_of_few_scores_is_written_in_the_middle_of_its_part():
    curve = secant.assess([0, 1, 0, 1], [0.2, 0.2, 0.2, 0.8]).curve
    places, labels = each_score(curve, width=5, size=10)
    assert places == pytest.approx([0.375, 0.875])
    assert labels == ["0.20", "0.80"]


@pytest.mark.parametrize("width", [0.5, 1, 2, 4, 8])
def test_labels_have_room(width):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 200, 500)
    curve = secant.assess(rng.random(500) < p, p).curve
    places, labels = equal_fractions(curve, width, size=10)
    half = np.asarray([text_width(label, 10) / 2 for label in labels])
    assert len(labels) >= 2
    assert len(labels) == 2 or (half[1:] + half[:-1] < width * np.diff(places)).all()
    few = secant.assess([0, 1] * 6, np.linspace(0.05, 0.95, 12)).curve
    places, labels = each_score(few, width, size=10)
    assert len(labels) >= 1
    assert len(labels) == 1 or text_width(labels[0], 10) <= width * np.diff(places).min() + 1e-9


@pytest.mark.parametrize(
    ("shares", "labels"),
    [
        # Shares of scores that are 0, spread over the unit interval, and 1.
        ((0.35, 0.65, 0), {0: "0", 0.4: "0.08", 0.5: "0.23", 0.9: "0.85", 1: "1.00"}),
        ((0, 0.65, 0.35), {0: "0.0008", 0.1: "0.15", 0.6: "0.92", 1: "1"}),
        ((0.45, 0.1, 0.45), {0: "0", 0.5: "0.49", 1: "1"}),
        ((0.48, 0.04, 0.48), {0: "0", 0.5: "0.49", 1: "1"}),
    ],
)
def test_a_score_is_written_once(shares, labels):
    below, between, above = (round(1000 * share) for share in shares)
    spread = (np.arange(between) + 0.5) / max(between, 1)
    p = np.concatenate([np.zeros(below), spread, np.ones(above)])
    places, written = equal_fractions(secant.assess(p > 0.5, p).curve, width=9, size=9)
    found = dict(zip(places.round(9).tolist(), written, strict=True))
    assert len({float(text) for text in written}) == len(written)
    assert found | labels == found


def test_one_score_in_nearly_every_place_is_written_once():
    p = np.concatenate([np.full(10_000, 0.5), 0.5 + 1e-7 * np.arange(20)])
    places, labels = equal_fractions(secant.assess(p > 0.5, p).curve, width=5, size=10)
    assert (places.tolist(), labels) == ([0.0], ["0.50"])


def test_an_axis_is_divided_evenly():
    assert divide(["0.00"], 6, 10) == 10
    assert divide(["0.000000"], 4, 10) == 5
    assert divide(["a very long label"], 0.1, 10) == 1


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0, 0.5, 1], ["0", "0.50", "1"]),
        ([0.05, 0.15, 0.25], ["0.05", "0.15", "0.25"]),
        ([0.121, 0.123, 0.5], ["0.121", "0.123", "0.500"]),
        ([0.12, 0.12, 0.5], ["0.12", "0.12", "0.50"]),
        ([5e-324, 2e-8, 0.5], ["5e-324", "2e-8", "0.50"]),
        ([0.00012, 0.5], ["0.0001", "0.5000"]),
        ([], []),
    ],
)
def test_scores_are_written_with_the_digits_that_tell_them_apart(scores, labels):
    assert score_labels(scores) == labels


def curve_of(scores):
    return secant.assess([0, 1] * (len(scores) // 2), scores).curve


def test_the_score_that_ends_a_fraction_stands_there():
    found = score_at(curve_of([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 0.25, 0.26, 0.5, 1.0]))
    assert found.tolist() == [0.1, 0.1, 0.2, 0.2, 0.4]


def test_one_score_has_no_steps():
    step, places = equal_steps(curve_of([0.3, 0.3]))
    assert (step, places.size) == (0, 0)


@pytest.mark.parametrize(("width", "parts"), [(0.1, 1), (1.0, 2), (2.0, 4), (9.0, 10)])
def test_a_wider_axis_is_cut_into_more_parts(width, parts):
    assert divide(["0.25"], width, 9) == parts
