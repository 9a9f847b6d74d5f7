"""How P-values are written."""

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from samples import ORDINARY, RELATIVE, miscalibrated
from secant import null
from secant._results.parts import Statistic
from secant._results.wording import between, pvalue, scores

WORDS = ("exact", "upper bound", "large-sample", "simulated")


def written(p, method, log10=None):
    log10 = math.log10(p) if log10 is None else log10
    return pvalue(Statistic(0.1, 1, p, log10, method, None, (0, 1)))


@pytest.mark.parametrize(
    ("p", "exactly", "at_most"),
    [
        (1.0, "= 1", "= 1"),
        (0.996, "= 1", "<= 1"),
        (0.14, "= 0.14", "<= 0.14"),
        (0.1401, "= 0.14", "<= 0.15"),
        (0.0534, "= 0.0534", "<= 0.0534"),
        (0.05004, "= 0.05", "<= 0.0501"),
        (0.09996, "= 0.1", "<= 0.1"),
        (1e-4, "= 1.0e-04", "<= 1.0e-04"),
        (3.21e-168, "= 3.2e-168", "<= 3.3e-168"),
    ],
)
def test_an_upper_bound_is_one_as_it_is_written(p, exactly, at_most):
    assert [written(p, word) for word in WORDS[:3]] == [exactly, at_most, exactly]


@given(st.floats(1e-290, 1, exclude_max=True))
def test_no_upper_bound_is_rounded_down(p):
    shown = float(written(p, "upper bound").removeprefix("<= "))
    assert p * (1 - 1e-8) <= shown <= 1.1 * p + 1e-300


def test_a_simulated_p_value_has_no_digits_that_draws_do_not_know():
    assert [written(p, "simulated") for p in (0.0478, 0.0504)] == ["= 0.048", "= 0.0504"]


def test_words_for_pvalues_beyond_doubles():
    result = secant.assess(np.ones(5000, int), np.linspace(0.4, 0.6, 5000), method="asymptotic")
    assert result.ecce_r.pvalue == 0
    assert math.isfinite(result.ecce_r.log10_pvalue)
    mantissa, exponent = re.search(r"; P = (\d\.\d)e(-\d+), ", str(result)).groups()
    shown = math.log10(float(mantissa)) + int(exponent)
    assert shown == pytest.approx(result.ecce_r.log10_pvalue, rel=0, abs=0.05)
    assert result.ecce_r.log10_pvalue == pytest.approx(
        null.range.logsf(result.ecce_r.normalized) / math.log(10), **RELATIVE
    )


@pytest.mark.parametrize("log10", [-400.0, -400.0001, -400.02, -400.5, -399.99, -2711.3])
def test_a_mantissa_has_one_digit_before_the_point(log10):
    shown = pvalue(
        dataclasses.replace(secant.assess(*ORDINARY).ecce_r, pvalue=0.0, log10_pvalue=log10)
    )
    assert re.fullmatch(r"= [1-9]\.\de-\d+", shown)


def test_an_upper_bound_beyond_doubles_is_rounded_up_too():
    assert written(0.0, "upper bound", -400.5) == "<= 3.2e-401"
    assert written(0.0, "upper bound", -400.51) == "<= 3.1e-401"
    assert written(0.0, "upper bound", -400.0001) == "<= 1.0e-400"
    assert written(0.0, "exact", -math.inf) == "= 0"


@pytest.mark.parametrize(("power", "method"), [(0.9, "simulated"), (1.2, "upper bound")])
def test_details_and_the_statistic_itself_say_from_how_many_draws_a_p_value_comes(power, method):
    y, p = miscalibrated(300, power=power)
    result = secant.assess(y, p, sample_weight=np.linspace(1, 40, 300))
    r = result.ecce_r
    assert r.method == method
    assert (r.draws is not None) == (method == "simulated")
    words = method if r.draws is None else f"{method}, {r.draws:,} draws"
    assert words in result.details
    assert words in str(r)
    assert f", {r.method})." in str(result)
    assert result.to_dict()["ecce_r"]["draws"] == r.draws


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "asymptotic"},
        {"method": "monte-carlo"},
        {"clusters": np.arange(3000) // 20},
        {"sample_weight": np.linspace(1, 9, 3000)},
    ],
)
def test_how_a_p_value_was_obtained_is_one_of_four_words(options):
    y, p = miscalibrated(3000, power=1.1)
    for result in (
        secant.assess(y, p, **options),
        secant.assess_by(y, p, np.arange(3000) % 2, **options).rows[0].calibration,
    ):
        for _, each in result.statistics:
            assert each.method in WORDS
            assert each.draws is None or each.method in {"simulated", "upper bound"}
            assert each.draws or each.method != "simulated"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.16, 0.999, "scores 0.160 to 0.999"),
        (0.22, 0.22, "scores of 0.220"),
        (0.22, 0.2203, "scores of 0.220"),
        (1.0, 1.0, "scores of 1.000"),
        (0.999999, 0.999999, "scores of 0.999999"),
        (0.9996, 1.0, "scores 0.9996 to 1"),
        (0.5, 0.99999, "scores 0.500 to 0.99999"),  # others lie above
        (0.5, 0.9998765, "scores 0.500 to 0.9999"),
        (0.5, 1 - 2**-53, "scores 0.500 to 0.9999999999999999"),
    ],
)
def test_a_range_of_one_score_is_that_score(low, high, words):
    worst = secant.assess(*ORDINARY).worst
    written = dataclasses.replace(worst, low=low, high=high)
    assert scores(written) == words
    assert ("1.000 to" in between(written)) == (low == 1)


def test_a_range_up_to_the_highest_score_needs_no_decimals():
    y, p = [0, 0, 1, 0], [0.3, 0.5, 0.6, 0.99999]
    result = secant.assess(y, p)
    assert scores(result.between(0.5, 1)) == "scores 0.500 to 1.000"
    above = secant.assess([*y, 1], [*p, 0.999995])  # a fifth of all predictions
    assert scores(above.between(0.5, 0.99999)) == "scores 0.500 to 0.99999"


def test_a_pvalue_that_is_only_bounded_is_not_called_exact():
    """Two rare events side by side: which are as extreme turns on differences below the grid."""
    n = 1000
    p = (np.arange(n) + 0.5) / n * 0.1 / n
    r = secant.assess(np.isin(np.arange(n), [333, 334]), p).ecce_r
    assert r.method == "upper bound"
    assert re.search(r"\(P <= [\d.e-]+, upper bound;", str(r))
