"""Keys of groups: plain values, one for all that is missing, in a fixed order."""

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant._input.keys import coded, group_order, grouped, key_order, plain_key
from secant._input.observations import observations, split
from secant._input.options import Reading


def test_what_is_missing_is_one_group():
    missing = [None, math.nan, float("nan"), np.float64("nan"), np.datetime64("NaT", "s")]
    pandas = optional("pandas")
    missing += [pandas.NA, pandas.NaT]
    by = np.array([*missing, "a", "a"], object)
    result = secant.assess_by([0, 1] * 4 + [1], [0.5] * 9, by)
    assert set(result) == {None, "a"}
    assert result[None].n == len(missing)
    assert "(missing)" in str(result)


@pytest.mark.parametrize("values", [[-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0]])
@pytest.mark.parametrize("kind", [float, object])
def test_zero_has_one_name(values, kind):
    keys, codes = grouped(np.array(values, kind), 2)
    assert repr(keys) == "[0.0]"
    assert codes.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ([3, 1, 1], {1, 3}),
        ([True, False, False], {True, False}),
        (np.array([0.5, math.nan, math.nan]), {0.5, None}),
        (
            np.array(["2024-01-01", "NaT", "2024-01-01"], "M8[ns]"),
            {dt.datetime(2024, 1, 1), None},  # noqa: DTZ001  (numpy has no time zones)
        ),
        (np.array(["b", "a", "a"]), {"a", "b"}),
        ([("b"), 1, None], {"b", 1, None}),
        ([None, "b", "b"], {"b", None}),
        ([dt.date(2024, 1, 1), None, None], {dt.date(2024, 1, 1), None}),
        ([np.float64(2), np.float64(1), np.float64(1)], {1.0, 2.0}),
        ([["b", "a", "a"], [1, 2, 2]], {("b", 1), ("a", 2)}),
        ([np.array(["b", "a", "a"]), [1, 2, 3]], {("b", 1), ("a", 2), ("a", 3)}),
        (["nan", math.nan, math.nan], {"nan", None}),
        (["1", 1, b"1"], {"1", 1, b"1"}),
        ([2**60, 2**60 + 1, math.nan], {2**60, 2**60 + 1, None}),
        ([2**60, 2**60 + 1, 0.5], {2**60, 2**60 + 1, 0.5}),
        ([["nan", math.nan, "a"], [1, "1", "1"]], {("nan", 1), (None, "1"), ("a", "1")}),
        (np.array([2, 1, math.nan], np.longdouble), {1.0, 2.0, None}),
        (np.array([np.longdouble(2), 1, np.longdouble("nan")], object), {1.0, 2.0, None}),
    ],
)
def test_keys_are_plain_values(by, keys):
    result = secant.assess_by([0, 1, 1], [0.4, 0.5, 0.6], by)
    assert set(result) == keys
    assert sum(each.n for each in result.values()) == 3
    json.dumps(result.to_dict())
    assert len(result.by) == (2 if isinstance(next(iter(keys)), tuple) else 1)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from([None, 1.5])),
        min_size=1,
        max_size=30,
    )
)
def test_several_columns_make_tuples(rows):
    parts = [list(part) for part in zip(*rows, strict=True)]
    keys, codes = grouped([np.array(part, object) for part in parts], len(rows))
    assert [keys[code] for code in codes] == rows
    assert len(set(keys)) == len(keys) == codes.max() + 1


def test_keys_sort_by_kind_with_the_missing_last():
    keys = ["b", None, 2, "a", 1.5, ("a", None), ("a", 1), True]
    order = [keys[number] for number in key_order(keys)]
    assert order[-1] is None
    assert order.index(True) < order.index(1.5) < order.index(2) < order.index("a")
    assert order.index(("a", 1)) < order.index(("a", None))
    assert plain_key(("a", np.float64("nan"))) == ("a", None)


NS = np.timedelta64(1, "ns")
BERLIN = dt.timezone(dt.timedelta(hours=2))


@given(
    st.sampled_from(["D", "h", "s", "ms", "us", "ns"]),
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=9),
)
def test_different_times_are_different_keys_whatever_their_unit(unit, counts):
    by = np.array(counts, np.int64).view(f"M8[{unit}]")
    keys, codes = grouped(by, len(by))
    assert len(set(keys)) == len(set(counts)) == len(keys)
    for time, code in zip(by, codes, strict=True):
        key = keys[code]
        if isinstance(key, str):  # as ISO 8601 has it
            assert key == str(time)
        else:
            assert type(key) is (dt.date if unit == "D" else dt.datetime)
            assert np.datetime64(key) == time
    order = key_order(keys)
    assert sorted(order) == list(range(len(keys)))
    json.dumps([str(key) for key in keys])


def test_times_finer_than_python_has_them_stay_apart():
    start = np.datetime64("2026-01-01", "ns")
    keys, _ = grouped(np.array([start, start + NS, start + 999 * NS]), 3)
    assert keys == [
        dt.datetime(2026, 1, 1),  # noqa: DTZ001  (numpy has no time zones)
        "2026-01-01T00:00:00.000000001",
        "2026-01-01T00:00:00.000000999",
    ]
    keys, _ = grouped(np.array([1, 999, 1000], "m8[ns]"), 3)
    assert keys == ["1 nanoseconds", "999 nanoseconds", dt.timedelta(microseconds=1)]


def test_a_zone_is_a_meaning_of_its_own():
    here = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001
    there = dt.datetime(2026, 1, 1, 14, tzinfo=BERLIN)
    noon = here.replace(tzinfo=dt.UTC)
    keys, codes = grouped(np.array([here, there, noon, here.date()], object), 4)
    assert keys == [here, noon, here.date()]
    assert codes.tolist() == [0, 1, 1, 2]
    assert keys[1].tzinfo is dt.UTC
    edge = dt.datetime.min.replace(tzinfo=BERLIN)  # whose time in UTC is before the first year
    assert plain_key(edge) == edge


def test_times_of_every_library_are_the_same_keys():
    pandas, polars, pa = optional("pandas"), optional("polars"), optional("pyarrow")
    noon = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001
    zoned = noon.replace(tzinfo=dt.UTC)
    stamps = pandas.Series(pandas.to_datetime([noon]))
    for by, key in [
        (stamps, noon),
        (stamps.to_list(), noon),
        (stamps.dt.tz_localize("UTC"), zoned),
        (stamps.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"), zoned),
        (stamps + pandas.Timedelta(1, "ns"), "2026-01-01T12:00:00.000000001"),
        (
            stamps.dt.tz_localize("UTC") + pandas.Timedelta(1, "ns"),
            "2026-01-01T12:00:00.000000001+00:00",
        ),
        (polars.Series([noon]), noon),
        (polars.Series([noon]).dt.replace_time_zone("UTC"), zoned),
        (polars.Series([noon.date()]), noon.date()),
        (pa.array([noon]), noon),
        (pa.array([noon], pa.timestamp("ms", "Asia/Tokyo")), zoned),
        (pa.array([noon.date()], pa.date32()), noon.date()),
        (pa.array([noon.date()], pa.date64()), noon.date()),
    ]:
        keys, _ = grouped(by, 1)
        assert keys == [key]
        assert type(keys[0]) is type(key)


class PutBack(dt.tzinfo):
    """A zone whose clocks are put back by an hour."""

    def utcoffset(self, when):
        return dt.timedelta(hours=2 - when.fold)

    def dst(self, when):
        return dt.timedelta(hours=1 - when.fold)


def test_the_hour_that_a_clock_shows_twice_is_two_hours():
    """Python takes both for equal, being in one zone."""
    hours = [dt.datetime(2026, 10, 25, 2, 30, tzinfo=PutBack(), fold=fold) for fold in (0, 1)]
    keys, codes = grouped([*hours, hours[1].astimezone(dt.UTC)], 3)
    assert codes.tolist() == [0, 1, 1]
    assert keys[1] - keys[0] == dt.timedelta(hours=1)
    naive = [hour.replace(tzinfo=None) for hour in hours]
    assert len(grouped(naive, 2)[0]) == 1


def test_whole_numbers_stay_whole_where_one_is_missing():
    """As doubles, which numpy makes of them, the first two would be one group."""
    pandas, polars, pa = optional("pandas"), optional("polars"), optional("pyarrow")
    ids = [2**60, 2**60 + 1, None, 5]
    arrow = pa.array(ids)
    for by in (
        pandas.Series(ids, dtype="Int64"),
        pandas.Series(arrow.to_pylist(), dtype="int64[pyarrow]"),
        pandas.array(ids, dtype="UInt64"),
        pandas.Categorical(pandas.array(ids, dtype="Int64")),
        pandas.CategoricalIndex(ids, categories=[5, 2**60, 2**60 + 1]),
        polars.Series(ids),
        arrow,
        pa.chunked_array([arrow]),
        arrow.dictionary_encode(),
    ):
        keys, codes = grouped(by, 4)
        assert [keys[code] for code in codes] == ids
        assert all(type(key) is int for key in keys if key is not None)
    frame = pandas.DataFrame({"y": [0, 1, 1, 0], "p": [0.2, 0.4, 0.6, 0.8]})
    frame["id"] = pandas.array(ids, dtype="Int64")
    assert set(secant.assess_by("y", "p", "id", data=frame)) == set(ids)


@pytest.mark.parametrize("key", [None, dt.date(2026, 1, 1), np.datetime64("2026-01-01"), b"a", 1])
def test_a_list_of_keys_is_one_column_whatever_comes_first(key):
    found = secant.assess_by([0, 1, 0], [0.2, 0.5, 0.9], [key, "b", key])
    assert found.by == ("group",)
    assert sorted(found[each].n for each in found) == [1, 2]


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_groups_are_their_rows_alone(kind):
    """With what is forbidden among them, and none where nothing has weight."""
    rng = np.random.default_rng(0)
    p = np.append(rng.random(60), [0.0, 1.0, 0.0, 1.0])
    y = np.append(rng.integers(0, 2, 60), [1, 0, 0, 0])
    w = rng.integers(0, 3, 64).astype(float)
    w[60:] = 1
    codes = rng.integers(0, 4, 64)
    w[codes == 2] = 0
    reading = Reading(kind)
    seen = observations(y, p, w, reading)
    for number, group in enumerate(split(seen, codes, 4)):
        mine = codes == number
        if number == 2:
            assert group is None
            continue
        alone = observations(y[mine], p[mine], w[mine], reading)
        assert (group.n, group.has_zero_weights) == (alone.n, alone.has_zero_weights)
        assert (group.lowest, group.highest) == (alone.lowest, alone.highest)
        assert group.scores.tolist() == p[mine].tolist()
        # Rows are numbered as they were before.
        assert group.forbidden == tuple(np.flatnonzero(mine)[list(alone.forbidden)].tolist())
    assert len(seen.forbidden) == np.count_nonzero(w[[60, 61, 63]])


def test_one_key_a_row():
    with pytest.raises(secant.InputError, match="by must have one value a row"):
        secant.assess_by([0, 1, 1], [0.2, 0.5, 0.7], ["a", "b"])


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int32", "int64", "uint64"])
@given(st.data())
def test_whole_numbers_are_told_apart_as_a_sort_tells_them(kind, data):
    least, most = (0, 1) if kind == "bool" else (np.iinfo(kind).min, np.iinfo(kind).max)
    first = data.draw(st.sampled_from([least, most - 1, 0]))
    near = st.integers(max(first - 5, least), min(first + 5, most))
    values = data.draw(st.lists(near | st.integers(least, most), max_size=20))
    column = np.array(values, kind)
    distinct, codes = coded(column)
    expected, numbers = np.unique(column, return_inverse=True)
    assert distinct.dtype == expected.dtype
    assert distinct.tolist() == expected.tolist()
    assert codes.tolist() == numbers.tolist()


@given(st.lists(st.integers(0, 3) | st.integers(0, 2**20) | st.integers(0, 2**40), max_size=30))
def test_rows_of_a_group_stay_in_their_order(codes):
    codes = np.array(codes, np.int64)
    assert group_order(codes).tolist() == np.argsort(codes, kind="stable").tolist()
