"""How P-values are written."""

import dataclasses
import math
import re

import numpy as np
import pytest

import secant
from samples import ORDINARY, RELATIVE
from secant import null
from secant._results.parts import Statistic
from secant._results.wording import between, pvalue, scores


def test_a_p_value_between_limits_is_one_number():
    def written(*bracket):
        return pvalue(Statistic(0.1, 1, bracket[1], 0, "certified", bracket, (0, 1)))

    assert written(0.7213, 1.0) == "= 1"
    assert written(0.0481, 0.0534) == "= 0.0534"
    assert written(3.04e-168, 3.28e-168) == "= 3.3e-168"
    assert written(0.0, 0.31) == "<= 0.31"
    assert written(0.01, 0.0125) == "= 0.0125"
    assert written(0.01, 0.0126) == "<= 0.0126"


def test_words_for_pvalues_beyond_doubles():
    result = secant.assess(np.ones(5000, int), np.linspace(0.4, 0.6, 5000), method="asymptotic")
    assert result.ecce_r.pvalue == 0
    assert math.isfinite(result.ecce_r.log10_pvalue)
    mantissa, exponent = re.search(r"\(P = (\d\.\d)e(-\d+), ", str(result)).groups()
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


@pytest.mark.parametrize("method", ["Monte Carlo, 9,999 draws", "sign flips, 9,999 draws"])
def test_the_smallest_p_value_that_draws_can_give_is_an_upper_limit(method):
    def written(p):
        return pvalue(Statistic(0.1, 1, p, math.log10(p), method, None, (0, 1)))

    assert written(1 / 10_000) == "<= 1.0e-04"
    assert written(2 / 10_000) == "= 2.0e-04"
    exact = Statistic(0.1, 1, 1e-4, -4, "exact", None, (0, 1))
    assert pvalue(exact) == "= 1.0e-04"


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
    r = secant.assess(np.isin(np.arange(n), [333, 334]), p, method="exact").ecce_r
    low, high = r.bracket
    assert 1.25 * low < high
    assert f"(P <= {high:.2g}, upper limit;" in str(r)
    # Of a single one it is known: one event has a lower score, or two happen.
    alone = secant.assess(np.arange(n) == n // 3, 6 * p, method="exact").ecce_r
    assert "(P = 0.0617, exact;" in str(alone)
    close = secant.assess([0, 1] * 500, np.linspace(0.01, 0.99, n)).ecce_r
    assert close.method == "certified"
    assert "exact" in str(close)
