"""Options: which values are refused, and in which words."""

import random
import re

import numpy as np
import pytest

import secant
from doors import NAN, P, W, Y
from secant import InputError
from secant._input.options import Reading, check_whole


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("weight_kind", "freq"),
        ("weight_kind", None),
        ("method", "exact?"),
        ("method", 1),
        ("ties", "keep"),
        ("confidence_level", 0),
        ("confidence_level", 1),
        ("confidence_level", 95),
        ("confidence_level", -0.5),
        ("confidence_level", NAN),
        ("confidence_level", "0.95"),
        ("confidence_level", None),
        ("confidence_level", True),
    ],
)
def test_options_of_assess(option, value):
    with pytest.raises(InputError, match=rf"^{option} must .*{re.escape(repr(value))}"):
        secant.assess(Y, P, **{option: value})


@pytest.mark.parametrize("level", [0.9, np.float64(0.9), np.float32(0.9)], ids=repr)
def test_confidence_level_of_any_number_type(level):
    result = secant.assess(Y, P, confidence_level=level)
    assert type(result.confidence_level) is float
    assert result.confidence_level == float(level)


@pytest.mark.parametrize("rng", [None, "seed", -1, 1.5, random])
def test_rng_for_random_ties(rng):
    with pytest.raises(InputError, match=r"\brng\b"):
        secant.assess(Y, P, ties="random", rng=rng)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("n_bins", 0),
        ("n_bins", -3),
        ("n_bins", 2.0),
        ("n_bins", True),
        ("n_bins", "10"),
        ("n_bins", None),
        ("n_bins", 2**24 + 1),  # sums of every bin, which would fill the memory
        ("n_bins", 10**30),
        ("strategy", "equal"),
        ("norm", "l3"),
        ("norm", None),
        ("weighting", "counts"),
    ],
)
def test_options_of_ece(option, value):
    result = secant.assess(Y, P)
    for call in (lambda **o: secant.ece(Y, P, **o), result.ece):
        with pytest.raises(InputError, match=rf"^{option} must .*{re.escape(repr(value))}"):
            call(**{option: value})
    if option in ("n_bins", "strategy"):
        with pytest.raises(InputError, match=rf"^{option} must "):
            result.reliability(**{option: value})


def test_options_of_ece_that_do_not_go_together():
    for call in (lambda **o: secant.ece(Y, P, **o), secant.assess(Y, P).ece):
        with pytest.raises(InputError, match=r"squared=True.*norm='l1'"):
            call(squared=True)
        with pytest.raises(InputError, match=r"n_bins=9\b.*\b8\b"):
            call(strategy="quantile", n_bins=9)
    with pytest.raises(InputError, match=r"^limits must .*'wald'"):
        secant.assess(Y, P).reliability(limits="wald")


def test_options_are_keyword_only():
    for door in (secant.ecce_r, secant.ecce_mad, secant.ece, secant.assess):
        with pytest.raises(TypeError, match="positional"):
            door(Y, P, W)


def test_a_generator_that_cannot_be_split():
    legacy = np.random.Generator(np.random.RandomState(0)._bit_generator)
    with pytest.raises(InputError, match="rng must be a generator that can be split"):
        secant.assess(Y, P, rng=legacy)
    with pytest.raises(InputError, match="rng must be"):
        secant.assess(Y, P, rng=np.random.RandomState(0))


def test_a_generator_given_is_the_only_one_used():
    rng = np.random.default_rng(5)
    secant.assess(Y, P, rng=rng)  # ties are collapsed: nothing is random
    assert rng.bit_generator.state == np.random.default_rng(5).bit_generator.state
    secant.assess(Y, P, ties="random", rng=rng)
    assert rng.bit_generator.state != np.random.default_rng(5).bit_generator.state


@pytest.mark.parametrize("value", ["ab", 3, (1,), (1, 2, 3), (True, 2), ("1", 2), {1: 2, 3: 4}])
def test_outcome_weights_are_two_numbers(value):
    says = rf"^outcome_weights must be two numbers.*got {re.escape(repr(value))}"
    with pytest.raises(InputError, match=says):
        Reading(outcome_weights=value)


@pytest.mark.parametrize("value", [(0, 1), (1, -1), (NAN, 1), (1, float("inf")), (1, 1.1e9)])
def test_outcome_weights_are_positive_and_of_one_order(value):
    with pytest.raises(InputError, match="outcome_weights must be positive, and neither more") as e:
        Reading(outcome_weights=value)
    assert "1 / rate" in str(e.value)


@pytest.mark.parametrize(("one", "other"), [((20, 1), (1, 0.05)), ((3, 7), (3e-200, 7e-200))])
def test_the_scale_of_outcome_weights_says_nothing(one, other):
    first, second = (Reading(outcome_weights=pair).outcome_weights for pair in (one, other))
    assert first == pytest.approx(second, rel=1e-15)
    assert first[0] / first[1] == one[0] / one[1]
    assert max(first) <= 1
    assert Reading(outcome_weights=(one[0], one[0])).outcome_weights is None


@pytest.mark.parametrize("value", [0, 11, 2.0, True, "3", None])
def test_whole_numbers_within_limits(value):
    check_whole("draws", 1, 1, 10)
    check_whole("draws", np.int8(10), 1, 10)
    check_whole("draws", 10**12, 1)
    with pytest.raises(InputError, match=r"^draws must be a whole number from 1 to 10; got "):
        check_whole("draws", value, 1, 10)
    if value != 11:
        with pytest.raises(InputError, match=r"^draws must be a whole number, 1 or more; got "):
            check_whole("draws", value, 1)
