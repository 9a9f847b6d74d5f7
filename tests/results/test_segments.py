"""A segment that was found, in words."""

import dataclasses

import numpy as np
import pytest

import secant
from secant._results.segments import Segment
from secant._results.wording import adjusted_pvalue


def segment(ci, miscalibration=None, **fields):
    result = secant.assess([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.8])
    usual = {"key": "x = a", "calibration": result, "adjusted_pvalue": 0.01}
    middle = sum(ci) / 2 if miscalibration is None else miscalibration
    return Segment(**{**usual, **fields}, status="miscalibrated", miscalibration=middle, ci=ci)


@pytest.mark.parametrize(
    ("ci", "direction"),
    [((0.1, 0.2), "too low"), ((-0.2, -0.1), "too high"), ((-0.1, 0.2), "mixed")],
)
def test_a_direction_is_told_only_where_limits_exclude_zero(ci, direction):
    assert segment(ci).direction == direction


def test_plain_numbers():
    told = segment((-0.2, -0.1), conditions=(("x", "= a"),), parent="y = b").to_dict()
    assert told["ci"] == [-0.2, -0.1]
    assert told["conditions"] == [["x", "= a"]]
    assert told["parent"] == "y = b"
    assert told["direction"] == "too high"
    assert "verdict" not in told


def found(shape, n=8000):
    rng = np.random.default_rng(0)
    p, x = rng.uniform(0.1, 0.9, n), rng.choice(list("ab"), n)
    y = rng.random(n) < np.where(x == "a", shape(p), p)
    return secant.assess_segments(y, p, features={"x": x}, adjust="holm")


def test_words_say_how_far_off_with_limits():
    text = str(found(lambda p: p - 0.08))
    assert text.startswith(
        "1 of 2 segments searched is miscalibrated at 5% after Holm's correction.\n"
    )
    assert "too high by" in text
    assert "Not searched: conjunctions of more than 2 conditions." in text


def test_words_count_all_that_are_off_and_say_what_the_rest_is():
    result = found(lambda p: p - 0.08)
    for off, rest in ((2, "this one explains the other"), (3, "this one explains the rest")):
        text = str(dataclasses.replace(result, searched=40, standing_out=off))
        assert text.startswith(f"{off} of 40 segments searched are miscalibrated")
        assert f"correction; {rest}." in text


def test_a_p_value_too_small_to_be_adjusted_is_not_called_nothing():
    result = found(lambda p: p - 0.5, n=40_000)
    assert result.rows[0].adjusted_pvalue == 0
    assert " < 1e-300 " in str(result)


def test_a_segment_that_chance_cannot_reach_at_all_has_zero():
    y, p = np.ones(600, int), np.repeat([0.0, 0.5], 300)
    y[300::2] = 0
    rows = secant.assess_segments(y, p, features={"x": p}, adjust="holm").rows
    assert [adjusted_pvalue(row) for row in rows] == ["0"]


def test_a_segment_that_is_off_both_ways_says_where():
    row = found(lambda p: 0.5 + 0.5 * (p - 0.5)).rows[0]
    assert row.direction == "mixed"
    text = str(found(lambda p: 0.5 + 0.5 * (p - 0.5)))
    assert " over 0." in text
