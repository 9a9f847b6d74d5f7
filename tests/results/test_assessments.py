"""The table of groups: what it says of each, as text, page and frame."""

import json
import math
import re

import numpy as np
import pytest

import secant
from helpers import optional
from secant._results.base import say
from secant._results.wording import points


def small():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(500), rng.random(500), [0.3]])
    y = np.concatenate([rng.random(500) < p[:500] ** 2, rng.random(500) < p[500:1000], [1]])
    return secant.assess_by(y, p, ["off"] * 500 + ["fine"] * 500 + ["<b>one</b>"])


def test_groups_too_small_are_marked_not_dropped():
    result = small()
    assert [(row.key, row.status) for row in result.rows] == [
        ("off", "miscalibrated"), ("<b>one</b>", "too few"), ("fine", "none found"),
    ]  # fmt: skip
    assert result.failing == ("off",)
    assert result.too_few == ("<b>one</b>",)
    assert say(result).lines[0].startswith("1 group ")


def test_the_numbers_of_a_group_hold_one_verdict_the_adjusted_one():
    """Alone a group may be found miscalibrated, and not be among ten."""
    rng = np.random.default_rng(4)
    p = rng.random(3000)
    y = rng.random(3000) < p
    result = secant.assess_by(y, p, rng.integers(0, 10, 3000))
    told = result.rows[0].to_dict()
    assert told["pvalue"] < 0.05 < told["adjusted_pvalue"]
    assert told["status"] == "none found"
    assert "verdict" not in told
    assert result[told["key"]].found


def test_where_is_not_named_for_a_group_if_it_is_not_certain():
    result = secant.assess_by([1, 1, 0] * 2, [0.01, 0.4, 0.6] * 2, ["a", "b", "b"] * 2)
    row = result.rows[0]
    assert row.status == "miscalibrated"
    assert row.calibration.intervals == ()
    line = next(line for line in str(result).splitlines() if line.startswith("a"))
    assert line.endswith("miscalibrated, not certain where")


def test_the_printed_table_reads_well():
    result = small()
    (table,) = say(result).tables
    assert table.head[0] == "group"
    assert [row[0] for row in table.rows] == [str(row.key) for row in result.rows]
    off = table.rows[0][-1]
    assert result["off"].direction in off
    assert points(abs(result["off"].intervals[0].miscalibration)) in off
    assert max(map(len, str(result).splitlines())) < 120


def test_p_values_beyond_doubles_have_digits():
    """What doubles do not hold of a walk is that of large samples."""
    y, p, group = [1] * 4000, [0.4, 0.6] * 2000, ["a"] * 2000 + ["b"] * 2000
    result = secant.assess_by(y, p, group)
    asymptotic = secant.assess_by(y, p, group, method="asymptotic")
    for table in (result, asymptotic):
        exponents = re.findall(r"  [1-9]\.\de-(\d+)  too low", str(table))
        assert len(exponents) == 2  # digits like those of the whole, however small
        for row in table.rows:
            assert row.calibration.pvalue_method in {"large-sample", "upper bound"}
            assert row.adjusted_pvalue == 0
            twice = row.calibration.log10_pvalue + math.log10(2)
            assert row.log10_pvalue == pytest.approx(twice, rel=1e-12)


def test_a_long_table_says_how_many_more():
    result = secant.assess_by([0, 1] * 50, [0.5] * 100, np.repeat(np.arange(50), 2))
    assert str(result).splitlines()[-1] == "... and 20 more groups"
    assert "... and 20 more groups" in result._repr_html_()


def test_html_shows_names_as_text():
    html = small()._repr_html_()
    assert "<b>one" not in html
    assert "&lt;b&gt;one" in html


def test_conversions():
    pandas, polars = optional("pandas"), optional("polars")
    result = small()
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["group"]) == list(result)
    assert list(frame["adjusted_pvalue"]) == [row.adjusted_pvalue for row in result.rows]
    assert isinstance(result.to_polars(), polars.DataFrame)
    assert result.to_polars().columns == list(frame.columns) == list(result.table)
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_column_named_like_one_of_ours_keeps_both():
    result = secant.assess_by("y", "p", "n", data={"y": [0, 1], "p": [0.2, 0.7], "n": [10, 20]})
    assert sorted(result.table["n"]) == [10, 20]
    assert result.table["n_"] == [1, 1]


def test_one_group_and_none_found():
    result = secant.assess_by([0, 1], [0.4, 0.6], ["a", "a"])
    found = secant.assess_by([0] * 20, [0.6] * 20, ["a"] * 20)
    assert (result.failing, found.failing) == ((), ("a",))
    for each in (result, found):
        assert each.to_dict()["verdict"] == each.verdict == say(each).headline
        assert ("not found" in each.verdict) == (not each.failing)


def test_hundreds_of_numbers_as_groups_get_a_word_of_advice():
    rng = np.random.default_rng(0)
    p = rng.random(1200)
    y = rng.random(1200) < p
    ages = np.repeat(np.arange(120) / 4, 10)
    told = secant.assess_by(y, p, ages, method="asymptotic")
    assert len(told) == 120  # nothing is binned unasked
    assert str(told).count("Every number in group is a group of its own.") == 1
    ids = np.repeat(np.arange(120), 10)  # whole numbers name things
    text = np.array([f"p{age}" for age in ages])
    for few in (ages // 2, text, ids, ids.astype(float), np.where(ids, ids, np.nan)):
        assert "of its own" not in str(secant.assess_by(y, p, few, method="asymptotic"))
