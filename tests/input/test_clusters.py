"""Ids of clusters: any type that tells units apart; and columns that look like such ids."""

import datetime as dt

import numpy as np
import pytest

from helpers import optional
from secant._input.clusters import cluster_codes, repeated, telling
from secant.errors import InputError


def same_partition(codes, ids):
    """Tell whether rows have one number exactly where they have one id."""
    pairs = set(zip(codes.tolist(), ids, strict=True))
    return len(pairs) == len(set(codes.tolist())) == len(set(ids))


IDS = {
    "whole": [3, 1, 3, -7, 1],
    "floats": [1.0, 2.5, 1.0, -0.0, 0.0],
    "text": ["a", "b", "a", "é", "a "],
    "mixed": ["1", 1, "1", None.__class__, 2],
    "numbers among texts": ["1", 1, "a", "a", 2.5],
    "long": [np.longdouble(1), np.longdouble(2), 1.0, 2.0, 3.0],
    "truths": [True, False, True, True, False],
    "dates": [dt.date(2026, 1, 1), dt.date(2026, 1, 2)] * 2 + [dt.date(2025, 1, 1)],
    "times": list(
        np.array(["2026-01-01T00:00", "2026-01-02", "2026-01-01"] + ["2025"] * 2, "M8[s]")
    ),
    "tuples": [(1, "a"), (1, "b"), (1, "a"), (2, "a"), (2, "a")],
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_any_type_tell_rows_apart(kind):
    ids = IDS[kind]
    given = np.empty(len(ids), object)
    given[:] = ids
    assert same_partition(cluster_codes(given, 5), ids)
    if kind != "tuples":
        assert same_partition(cluster_codes(ids, 5), ids)
    if kind not in ("mixed", "numbers among texts", "tuples"):
        assert same_partition(cluster_codes(np.array(ids), 5), ids)


def test_categories_and_nullable_columns_of_pandas():
    pandas = optional("pandas")
    ids = ["a", "b", "a"]
    assert same_partition(cluster_codes(pandas.Series(ids, dtype="category"), 3), ids)
    assert same_partition(cluster_codes(pandas.Series([1, 2, 1], dtype="Int64"), 3), ids)
    with pytest.raises(InputError, match=r"clusters\[1\] is (nan|<NA>)"):
        cluster_codes(pandas.Series([1, None, 1], dtype="Int64"), 3)


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        ([1.0, np.nan, 2.0], "nan"),
        (["a", None, "b"], "None"),
        (["a", "", "b"], "''"),
        ([dt.date(2026, 1, 1), None, dt.date(2026, 1, 1)], "None"),
        (np.array(["2026", "NaT", "2026"], "M8[D]"), "NaT"),
        (["a", float("nan"), "b"], "nan"),
    ],
)
def test_a_missing_id_is_refused_with_its_place(ids, shown):
    with pytest.raises(InputError) as refused:
        cluster_codes(ids, 3)
    assert (refused.value.argument, refused.value.row) == ("clusters", 1)
    assert str(refused.value).startswith(f"clusters[1] is {shown}, and every row needs")


def test_several_columns_tell_apart_what_differs_in_any():
    person, site = ["a", "a", "b", "b", "a"], [1, 2, 1, 1, 1]
    codes = cluster_codes([person, np.array(site)], 5)
    assert same_partition(codes, list(zip(person, site, strict=True)))
    with pytest.raises(InputError, match=r"^clusters\[1\]\[2\] is None, and every row needs"):
        cluster_codes([person, [1, 2, None, 4, 5]], 5)
    with pytest.raises(
        InputError, match=r"clusters\[1\] must have one value a row; it has 2, not 5"
    ):
        cluster_codes([person, [1, 2]], 5)


def test_ids_that_are_no_column_are_refused():
    with pytest.raises(InputError, match="clusters must have one value a row; it has 2, not 3"):
        cluster_codes([1, 2], 3)
    with pytest.raises(InputError, match="clusters must be one-dimensional"):
        cluster_codes(np.ones((3, 2)), 3)
    with pytest.raises(InputError, match="clusters must hold values that can name"):
        cluster_codes(np.array([{}, {}, {}], object), 3)


def test_names_that_tell_of_units():
    units = ["id", "ID", "user_id", "UserID", "patient", "Customer", "question", "session_key"]
    assert telling(units) == units
    assert telling([0, None, ("id", "id"), "id"]) == ["id"]  # names in pandas may be anything
    assert not telling(["paid", "grid", "valid", "score", "region", "turkey", "humid", "y"])


@pytest.mark.parametrize(
    ("units", "rows", "told"),
    [(19, 100, False), (20, 100, True), (20, 29, False), (20, 30, True), (1000, 1000, False)],
)
def test_values_that_repeat_are_told_of(units, rows, told):
    found = repeated("user_id", np.arange(rows) % units, all_rows=True)
    assert (found is not None) == told


def test_what_is_told_of_repeated_values():
    found = repeated("user_id", np.repeat(np.arange(50), 40), all_rows=True)
    assert found.startswith("user_id has 40 rows each: if rows of one user_id belong together")
    assert found.endswith("use clusters='user_id'.")
    part = repeated("user_id", np.repeat(np.arange(50), 40), all_rows=False)
    assert "2,000 rows hold 50" in part
    assert "1.5 rows each" in repeated("user_id", np.arange(30) % 20, all_rows=True)
    assert repeated("id", np.array([{}] * 100, object), all_rows=True) is None
    assert repeated("id", [], all_rows=True) is None
