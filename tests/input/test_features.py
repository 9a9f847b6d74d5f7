"""Columns of features as levels."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secant._input.features import (
    Spans,
    check_features,
    column_of,
    level_numbers,
    levels_of,
    levels_of_counts,
    levels_of_spans,
)
from secant.errors import InputError


def levels(values, *, bins=5, most=20):
    column = column_of("x", values, len(values))
    found = levels_of("x", column, bins=bins, most=most)
    return found, found.codes(column)


# --- numbers --------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(-50, 50) | st.floats(-9, 9, allow_nan=False), min_size=1, max_size=60),
    st.integers(2, 6),
)
def test_ranges_of_numbers_hold_what_their_words_say(values, bins):
    values = np.array(values, float)
    found, codes = levels(values, bins=bins)
    assert (codes >= 0).all()
    assert (codes < len(found)).all()
    assert len(set(found.words)) == len(found)
    # levels are in the order of values, none is empty, and equal values stay together
    order = np.argsort(values)
    assert (np.diff(codes[order]) >= 0).all()
    assert set(codes) == set(range(len(found)))
    for value in values:
        assert len(set(codes[values == value])) == 1


@given(st.lists(st.floats(-5, 5, allow_nan=False), min_size=1, max_size=40))
def test_a_monotone_transform_moves_no_row(values):
    values = np.array(values).round(3)  # distinct numbers stay distinct
    assert (levels(values)[1] == levels(np.exp(values))[1]).all()


def test_ranges_hold_about_equally_many_rows():
    rng = np.random.default_rng(0)
    found, codes = levels(rng.exponential(size=1003))
    assert len(found) == 5
    assert np.ptp(np.bincount(codes)) <= 2


def test_few_values_have_a_level_each():
    found, codes = levels(np.array([3, 1, 1, 2, 3, 3]))
    assert found.words == ("= 1", "= 2", "= 3")
    assert codes.tolist() == [2, 0, 0, 1, 2, 2]


def test_words_of_ranges():
    assert levels(np.arange(18, 68))[0].words[0] == "18 to 27"
    assert levels(np.arange(18, 68) / 100 + 1e-4)[0].words[0] == "0.1801 to 0.2701"
    close = 1 + np.arange(50) / 1e7
    assert len(set(levels(close)[0].words)) == 5


def test_infinity_is_a_number():
    found, codes = levels(np.array([-np.inf, *range(20), np.inf]))
    assert codes[0] == 0
    assert codes[-1] == len(found) - 1
    assert "-inf" in found.words[0]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, np.nan, 3.0]),
        np.array([1, None, 3], object),
        np.array([Decimal(1), None, Decimal(3)], object),
    ],
    ids=["nan", "None", "decimal"],
)
def test_missing_numbers_are_a_level_and_say_so(values):
    found, codes = levels(values)
    assert found.words == ("= 1", "= 3", "is missing")
    assert codes.tolist() == [0, 2, 1]


# --- dates ----------------------------------------------------------------------------------------

DAYS = [date(2026, 1, 1) + timedelta(days=i) for i in range(20)]


@pytest.mark.parametrize(
    "values",
    [np.array(DAYS, "M8[D]"), np.array(DAYS, object), np.array(DAYS, "M8[ns]")],
    ids=["days", "objects", "nanoseconds"],
)
def test_dates_are_cut_at_quantiles_too(values):
    found, codes = levels(values)
    assert found.words[0] == "2026-01-01 to 2026-01-04"
    assert np.bincount(codes).tolist() == [4] * 5


def test_times_are_written_with_the_time_of_day():
    found, _ = levels(np.datetime64("2026-01-01") + np.arange(20).astype("m8[h]"))
    assert found.words[0] == "2026-01-01 00:00 to 2026-01-01 03:00"


def test_a_missing_date():
    found, codes = levels(np.array([*DAYS, "NaT"], "M8[D]"))
    assert found.words[-1] == "is missing"
    assert codes[-1] == 5


def test_texts_that_are_dates():
    values, dates = level_numbers({"2026-01-02": 2, None: 1, "2026-01-01 12:30": 1})
    assert dates
    assert values.size == 3
    assert (np.diff(values) >= 0).all()
    assert level_numbers({"2026-02-31": 1}) is None
    assert level_numbers({"north": 1, "2026-01-01": 1}) is None


# --- everything else ------------------------------------------------------------------------------


def test_values_with_names():
    found, codes = levels(np.array(["b", "a", None, "b", ""], object))
    assert found.words == ('= ""', "= a", "= b", "is missing")
    assert codes.tolist() == [2, 1, 3, 2, 0]


def test_booleans():
    found, codes = levels(np.array([True, False, True]))
    assert found.words == ("= False", "= True")
    assert codes.tolist() == [1, 0, 1]


def test_one_value_is_one_level():
    assert len(levels(np.zeros(5))[0]) == 1
    assert len(levels(np.array(["a", "a"]))[0]) == 1
    assert len(levels(np.array([np.nan, np.nan]))[0]) == 1


def test_of_many_values_the_most_frequent_are_kept_and_the_rest_is_said():
    values = np.repeat([f"v{i:04d}" for i in range(1000)], np.arange(1, 1001))
    found, codes = levels(values, most=20)
    assert found.words[-1] == "= v0999"
    assert len(found) == 20
    assert set(codes) == {-1, *range(20)}
    assert "980 of 1,000 values" in found.left_out
    left = (codes < 0).mean()
    assert f"{100 * left:.3g}% of the rows" in found.left_out


def test_missing_values_are_kept_beside_the_most_frequent():
    values = np.array(["a", "a", "b", None], object)
    found, codes = levels(values, most=1)
    assert found.words == ("= a", "is missing")
    assert codes.tolist() == [0, 0, -1, 1]


def test_names_do_not_decide_which_values_are_kept_unless_frequencies_tie():
    found = levels_of_counts("x", {"c": 2, "b": 5, "a": 2}, most=2)
    assert found.words == ("= a", "= b")


def test_a_text_and_a_number_that_look_alike():
    assert levels_of_counts("x", {"1": 2, 1: 5, "b": 1}, most=3).words == ("= 1", "= '1'", "= b")


def test_ranges_that_an_engine_found():
    spans = Spans(np.array([2.0]), [date(2026, 1, 1), date(2026, 2, 1)], [date(2026, 1, 9)] * 2)
    found = levels_of_spans("x", spans, missing=True)
    assert found.words[0] == "2026-01-01 to 2026-01-09"
    assert found.words[-1] == "is missing"

    numbers = levels_of_spans("x", Spans(np.array([2.0]), [0.0, 3.0], [2.0, 9.0]), missing=False)
    assert numbers.words == ("0 to 2", "3 to 9")


def test_numbers_as_texts_are_in_the_levels_of_the_numbers():
    values = np.random.default_rng(0).normal(size=200).round(2)
    found, codes = levels(np.append(values, np.nan))
    texts = column_of("x", np.array([*map(str, values), None], object), 201)
    assert texts.numbers is None
    assert found.codes(texts).tolist() == codes.tolist()


def test_moments_are_microseconds_since_1970():
    """Without a zone they are in UTC, and a date is its midnight."""
    wanted = float(np.datetime64("2026-03-03T01:30", "us").astype(np.int64))
    east = timezone(timedelta(hours=2))
    moments = [
        datetime(2026, 3, 3, 1, 30),  # noqa: DTZ001
        datetime(2026, 3, 3, 1, 30, tzinfo=UTC),
        datetime(2026, 3, 3, 3, 30, tzinfo=east),
        date(2026, 3, 3),
        None,
    ]
    found = column_of("x", moments, 5)
    assert found.dates
    assert found.numbers[:4].tolist() == [wanted] * 3 + [wanted - 90 * 60e6]
    assert np.isnan(found.numbers[4])


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [[], ["a", "a"]])
def test_no_feature_or_one_twice(names):
    with pytest.raises(InputError, match="features must name one feature or several"):
        check_features(names)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (np.zeros((3, 2)), "one-dimensional"),
        (np.zeros(2), "features"),
        (np.array([[1], [2], {}], object), "features"),
    ],
)
def test_what_cannot_be_a_feature(values, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        column_of("weird", values, 3)
    assert "'weird'" in str(caught.value)
    assert caught.value.argument == "features"
