import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import DATA, optional
from secant import null
from secant.errors import InputError

GOLDEN = json.loads((DATA / "pvalues.json").read_text(encoding="utf-8"))
LAWS = (null.mad, null.range)
METHODS = ("cdf", "sf", "logsf", "isf")
SMALLEST_NORMAL = np.finfo(float).smallest_normal

each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)


def oracle(law, x):
    """Return cdf and sf at x in 60-digit arithmetic, from whichever series converges fast."""
    mpmath = optional("mpmath")
    x, pi = mpmath.mpf(x), mpmath.pi

    def tail(z):
        return mpmath.erfc(z / mpmath.sqrt(2)) / 2

    odd = range(1, 60, 2)
    if x < 2.5:
        if law is null.mad:
            terms = [(-1) ** (m // 2) * mpmath.exp(-((m * pi / x) ** 2) / 8) / m for m in odd]
            cdf = 4 / pi * mpmath.fsum(terms)
        else:
            heads = [8 / x**2 + 8 / (m * pi) ** 2 for m in odd]
            decays = [mpmath.exp(-((m * pi / x) ** 2) / 2) for m in odd]
            cdf = mpmath.fdot(heads, decays)
        return cdf, 1 - cdf
    if law is null.mad:
        sf = 4 * mpmath.fsum((-1) ** (m // 2) * tail(m * x) for m in odd)
    else:
        sf = 8 * mpmath.fsum((-1) ** (k - 1) * k * tail(k * x) for k in range(1, 30))
    return 1 - sf, sf


@each_law
@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["x"])
def test_golden(law, row):
    x = float(row["x"])
    expected = float(row[f"{law.name}_sf"])
    if expected >= SMALLEST_NORMAL:
        assert law.sf(x) == pytest.approx(expected, rel=1e-12, abs=0)
    log10_sf = float(row.get(f"{law.name}_log10_sf", 0.0))
    assert law.logsf(x) / math.log(10) == pytest.approx(log10_sf, rel=0, abs=1e-10)


@each_law
def test_sixty_digits(law):
    mpmath = optional("mpmath")
    grid = np.concatenate(
        [np.linspace(0.05, 1, 77), np.linspace(1, 3, 81), np.linspace(3, 38, 106)]
    )
    with mpmath.workdps(60):
        for x in grid.tolist():
            cdf, sf = oracle(law, x)
            log_sf = float(mpmath.log1p(-cdf) if x < 2.5 else mpmath.log(sf))
            assert law.cdf(x) == pytest.approx(float(cdf), rel=1e-12, abs=SMALLEST_NORMAL)
            assert law.sf(x) == pytest.approx(float(sf), rel=1e-12, abs=SMALLEST_NORMAL)
            assert law.logsf(x) == pytest.approx(log_sf, rel=1e-12, abs=SMALLEST_NORMAL)


@each_law
def test_log_survival_far_out(law):
    mpmath = optional("mpmath")
    with mpmath.workdps(60):
        for x in (29.999, 30.0, 30.001, 40.0, 111.7, 1e3, 1e5):
            _, sf = oracle(law, x)
            assert law.logsf(x) == pytest.approx(float(mpmath.log(sf)), rel=1e-15, abs=0)
    # Beyond, the exponent of the leading term is all that fits into a double.
    assert law.logsf(1e8) == pytest.approx(-5e15, rel=1e-14)
    assert law.logsf(1e150) == pytest.approx(-5e299, rel=1e-15)
    assert law.logsf(1e200) == -math.inf


@each_law
def test_series_agree_around_the_switch(law):
    for x in np.linspace(law._switch - 0.02, law._switch + 0.02, 41).tolist():
        assert law._lower_cdf(x) + law._upper_sf(x) == pytest.approx(1.0, rel=0, abs=1e-15)


@each_law
def test_monotone(law):
    x = np.linspace(0.03, 45, 20_001)
    assert np.all(np.diff(law.cdf(x)) >= 0)
    assert np.all(np.diff(law.sf(x)) <= 0)
    log_sf = law.logsf(x)
    assert np.all(np.diff(log_sf) <= 0)
    assert np.all(np.diff(log_sf[x > 0.3]) < 0)
    near = law._switch + np.arange(-200, 201) * 1e-14
    assert np.all(np.diff(law.sf(near)) <= 2e-16)


@each_law
def test_ends(law):
    for x in (-math.inf, -1.0, -1e-300, -0.0, 0, 5e-324, 1e-200, 0.03):
        assert (law.cdf(x), law.sf(x), law.logsf(x)) == (0.0, 1.0, 0.0)
        assert math.copysign(1.0, law.logsf(x)) == 1.0
    assert (law.cdf(math.inf), law.sf(math.inf), law.logsf(math.inf)) == (1.0, 0.0, -math.inf)
    assert (law.isf(0.0), law.isf(1.0)) == (math.inf, 0.0)
    assert (law.isf(0), law.isf(1)) == (math.inf, 0.0)


@each_law
def test_nan_propagates(law):
    for method in (law.cdf, law.sf, law.logsf):
        assert math.isnan(method(math.nan))
        assert np.array_equal(np.isnan(method([1.0, math.nan])), [False, True])


def test_critical_values():
    assert null.mad.isf(0.05) == pytest.approx(2.24140, abs=5e-6)
    assert null.range.isf(0.05) == pytest.approx(2.49767, abs=5e-6)


def test_mean_is_the_integral_of_the_survival_function():
    assert null.mad.mean == pytest.approx(math.sqrt(math.pi / 2), rel=1e-15)
    assert null.range.mean == pytest.approx(2 * math.sqrt(2 / math.pi), rel=1e-15)
    # The trapezoid rule on [0, 12] is exact but for exp(-large): all odd derivatives vanish there.
    x = np.linspace(0, 12, 1201)
    for law in LAWS:
        assert np.trapezoid(law.sf(x), x) == pytest.approx(law.mean, rel=1e-12)


@each_law
@given(st.floats(0.9, 37.4))
def test_isf_inverts_sf(law, x):
    # Down to here sf still moves with x; for smaller x it tends to 1 and forgets where it was.
    assert law.isf(law.sf(x)) == pytest.approx(x, rel=1e-14, abs=0)


@each_law
@given(st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
def test_sf_inverts_isf(law, p):
    x = law.isf(p)
    if p < 0.5:
        assert law.logsf(x) == pytest.approx(math.log(p), rel=1e-14, abs=0)
    else:
        # An error of eps in x is one of up to 80 eps in the cdf.
        assert law.cdf(x) == pytest.approx(1 - p, rel=4e-14, abs=0)


@each_law
def test_isf_sixty_digits(law):
    mpmath = optional("mpmath")
    few = [5e-324, 1e-310, SMALLEST_NORMAL, 1e-200, 1e-30, 1e-5, 0.01, 0.05, 0.1, 0.3]
    many = [math.nextafter(0.5, 0), 0.5, 0.6, 0.9, 0.999, 1 - 1e-9, math.nextafter(1, 0)]
    with mpmath.workdps(60):
        for p in few + many:
            x = law.isf(p)

            def gap(at, p=p):
                cdf, sf = oracle(law, at)
                exact = mpmath.mpf(p)
                return mpmath.log(sf / exact) if p < 0.5 else mpmath.log(cdf / (1 - exact))

            step = mpmath.mpf("1e-20") * x
            slope = (gap(x + step) - gap(x - step)) / (2 * step)
            assert abs(gap(mpmath.mpf(x)) / slope / x) < 2e-15  # one exact Newton step away


@each_law
def test_isf_is_monotone_where_its_branches_meet(law):
    p = np.concatenate([np.geomspace(5e-324, 1e-3, 500)[:-1], np.linspace(1e-3, 1, 2001)])
    assert np.all(np.diff(law.isf(p)) < 0)
    near_half = 0.5 + np.arange(-50, 51) * 1e-13
    assert np.all(np.diff(law.isf(near_half)) < 0)


@each_law
@pytest.mark.parametrize("p", [-1e-300, math.nextafter(1, 2), 2, -1, math.inf, math.nan])
def test_isf_refuses_what_is_no_probability(law, p):
    with pytest.raises(InputError, match=r"p must lie in \[0, 1\]"):
        law.isf(p)
    with pytest.raises(InputError, match="at index 2"):
        law.isf([0.5, 0.1, p])
    with pytest.raises(InputError, match=r"at index \(1, 0\)"):
        law.isf(np.array([[0.5, 0.1], [p, 0.2]]))


@each_law
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x", ["0.5", None, 1j, ["a"], [None], np.array([1j])])
def test_refuses_what_is_no_number(law, method, x):
    with pytest.raises(InputError, match="must be numeric"):
        getattr(law, method)(x)


@each_law
@pytest.mark.parametrize("method", METHODS)
def test_scalars_and_arrays(law, method):
    function = getattr(law, method)
    grid = np.linspace(0, 1, 24).reshape(2, 3, 4)
    values = function(grid)
    assert values.dtype == np.float64
    assert values.shape == grid.shape
    assert values.tolist() == [[[function(x) for x in b] for b in a] for a in grid.tolist()]
    assert np.array_equal(function(grid.T), values.T)
    assert np.array_equal(function(grid[0, 0].tolist()), values[0, 0])
    for scalar in (1, True, 1.0, np.float64(1), np.float32(1), np.int8(1), np.array(1)):
        assert type(function(scalar)) is float
        assert function(scalar) == function(1.0)
    for empty in ([], np.empty((0, 3))):
        assert function(empty).shape == np.shape(empty)
        assert function(empty).dtype == np.float64


@each_law
def test_input_is_left_alone(law):
    x = np.array([0.1, 0.5, 1.0])
    x.flags.writeable = False
    for method in METHODS:
        getattr(law, method)(x)
    assert x.tolist() == [0.1, 0.5, 1.0]


@each_law
def test_laws_are_constants(law):
    assert repr(law) == f"secant.null.{law.name}"
    assert copy.deepcopy(law).sf(2.0) == law.sf(2.0)
    assert pickle.loads(pickle.dumps(law)).isf(0.1) == law.isf(0.1)  # noqa: S301 (our own bytes)
    with pytest.raises(AttributeError):
        law.mean = 0.0
