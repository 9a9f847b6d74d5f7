import json
import math
import random

import numpy as np
import pytest

from helpers import ROOT
from secant.errors import InputError
from secant.paper.synthetic import FAMILIES, responses, scores, success_probabilities

each_family = pytest.mark.parametrize("family", FAMILIES)


def golden(name):
    return json.loads((ROOT / "tests" / "data" / f"{name}.json").read_text(encoding="utf-8"))


def same(value):
    return pytest.approx(value, rel=1e-12, abs=0)


def cumulative(observed, expected):
    """Return ECCE-MAD and ECCE-R for ascending scores, from the definition."""
    path = np.concatenate([[0.0], np.cumsum(observed - expected)]) / expected.size
    return np.max(np.abs(path)), np.ptp(path)


def sigma(expected):
    return math.sqrt(math.fsum(expected * (1 - expected))) / expected.size


@pytest.mark.parametrize("row", golden("synthetic"), ids=lambda row: row["scores"])
def test_fixed_size_experiment(row):
    n, family = row["n"], row["scores"]
    (observed,) = responses(n, family)
    expected = scores(n, family)

    assert observed.sum() == row["n_success"]
    assert "".join(map(str, observed[:32])) == row["first_responses"]
    assert "".join(map(str, observed[-32:])) == row["last_responses"]

    assert sigma(expected) == same(row["sigma"])
    mad, spread = cumulative(observed, expected)
    assert mad == same(row["ecce_mad"])
    assert spread == same(row["ecce_r"])
    assert mad / sigma(expected) == same(row["ecce_mad_normalized"])
    assert spread / sigma(expected) == same(row["ecce_r_normalized"])

    mad, spread = cumulative(success_probabilities(n, family), expected)
    assert mad == same(row["exact_ecce_mad"])
    assert spread == same(row["exact_ecce_r"])


@pytest.mark.parametrize(
    "row",
    golden("convergence"),
    ids=lambda row: f"{row['n']} {row['scores']} {'' if row['calibrated'] else 'mis'}calibrated",
)
def test_convergence_experiment(row):
    n, family = row["n"], row["scores"]
    expected = scores(n, family)
    drawn = responses(n, family, calibrated=row["calibrated"], realizations=row["realizations"])
    mad, spread = np.mean([cumulative(observed, expected) for observed in drawn], axis=0)
    assert mad == same(row["ecce_mad"])
    assert spread == same(row["ecce_r"])
    assert mad / sigma(expected) == same(row["ecce_mad_normalized"])
    assert spread / sigma(expected) == same(row["ecce_r_normalized"])


@each_family
def test_word_for_word(family):
    """Follow the paper's recipe one observation at a time."""
    n = 512
    power = {"equispaced": 1.0, "squared": 2.0, "square rooted": 0.5}[family]
    expected = [((k - 0.5) / n) ** power for k in range(1, n + 1)]
    stairs = []
    for j in range(n):
        octal = f"{round(j * 8**7 / n):07o}"
        binary = "".join("0" if digit == "0" else "1" for digit in octal)
        stairs.append(int(binary, 2) / 2**7 / (1 - 2**-7))
    stairs.sort()
    chances = [
        s + a - 1 + math.exp(-math.exp(2) * j / n)
        for j, (s, a) in enumerate(zip(expected, stairs, strict=True))
    ]
    assert np.allclose(scores(n, family), expected, rtol=1e-15, atol=0)
    assert np.allclose(success_probabilities(n, family), chances, rtol=0, atol=1e-15)

    for calibrated, probabilities in ((True, expected), (False, chances)):
        generator = random.Random(987654321)
        drawn = [[int(generator.random() <= p) for p in probabilities] for _ in range(3)]
        assert responses(n, family, calibrated=calibrated, realizations=3).tolist() == drawn


@each_family
def test_scores_ascend_in_the_unit_interval(family):
    for n in (1, 2, 64, 2**21):
        values = scores(n, family)
        assert values.shape == (n,)
        assert values[0] > 0
        assert values[-1] < 1
        assert np.all(np.diff(values) > 0)


@each_family
def test_calibrated_probabilities_are_the_scores(family):
    assert np.array_equal(success_probabilities(256, family, calibrated=True), scores(256, family))


def test_probabilities_are_not_clipped():
    assert success_probabilities(32768, "squared").min() < -0.1


def test_largest_size_of_the_paper():
    drawn = responses(2**21, "square rooted", calibrated=True, realizations=9)
    assert drawn.shape == (9, 2**21)
    assert drawn.dtype == np.int8
    assert np.array_equal(np.unique(drawn), [0, 1])
    # The mean score is 2/3; nine realisations of two million pin it down to 1e-4 each.
    assert np.allclose(drawn.mean(axis=1), 2 / 3, rtol=0, atol=4 * 0.36 / math.sqrt(2**21))
    assert np.array_equal(drawn[:1], responses(2**21, "square rooted", calibrated=True))


def test_no_global_random_state_is_touched():
    before, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002 (to see it unchanged)
    first = responses(64, "equispaced")
    assert random.getstate() == before
    after = np.random.get_state()  # noqa: NPY002 (the same)
    assert all(np.array_equal(a, b) for a, b in zip(legacy, after, strict=True))
    assert np.array_equal(responses(64, "equispaced"), first)


@pytest.mark.parametrize("n", [0, -4, 3, 1000, 2**22])
@pytest.mark.parametrize("function", [scores, success_probabilities, responses])
def test_sizes_are_powers_of_two(function, n):
    with pytest.raises(InputError, match=f"n must be a power of 2 from 1 to 2097152, but is {n}"):
        function(n, "equispaced")


@pytest.mark.parametrize("function", [scores, success_probabilities, responses])
def test_unknown_family(function):
    with pytest.raises(InputError, match=r"family must be one of 'equispaced', .* but is 'cubed'"):
        function(8, "cubed")


def test_at_least_one_realization():
    with pytest.raises(InputError, match="realizations must be at least 1, but is 0"):
        responses(8, "squared", realizations=0)
