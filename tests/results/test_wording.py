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
from secant._results.wording import pvalue


def test_a_p_value_between_limits_is_one_number():
    def written(*bracket):
        return pvalue(Statistic(0.1, 1, bracket[1], 0, "certified", bracket, (0, 1)))

    assert written(0.7213, 1.0) == "= 1"
    assert written(0.0481, 0.0534) == "= 0.0534"
    assert written(3.04e-168, 3.28e-168) == "= 3.3e-168"
    assert written(0.0, 0.31) == "= 0.31"


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
