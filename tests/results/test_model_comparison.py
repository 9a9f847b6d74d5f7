"""A comparison of models: which is closer, and what decides that."""

import numpy as np

from samples import compare_models
from secant._results.base import say
from secant._results.model_comparison import ModelComparison


def test_the_verdict_names_the_better_one():
    rng = np.random.default_rng(0)
    p = rng.random(5000)
    y = rng.random(5000) < p
    apart = compare_models(y, p**1.5, p)
    assert apart.better == "B"
    swapped = compare_models(y, p, p**1.5)
    assert swapped.better == "A"
    assert swapped.verdict == apart.verdict.translate(str.maketrans("AB", "BA"))
    together = compare_models(y, p, p**1.02)
    assert together.better is None
    assert together.verdict not in {apart.verdict, swapped.verdict}
    numbers = together.to_dict()
    assert numbers["better"] is None
    assert numbers["ci"] == list(together.ci)
    assert say(together).headline == f"{numbers['verdict']}."


def test_the_paired_test_decides_where_there_is_one():
    numbers = {"n": 9, "ecce_r_a": 0.1, "ecce_r_b": 0.2, "difference": -0.1, "ci": (-0.2, -0.01)}
    limits = ModelComparison(**numbers, confidence_level=0.95)
    assert limits.better == "A"
    assert "Brier" not in str(limits)
    for pvalue, difference, better in ((0.2, -0.1, None), (0.01, 0.1, "B"), (0.01, -0.1, "A")):
        tested = ModelComparison(
            **numbers,
            confidence_level=0.95,
            mcb_a=0.1,
            mcb_b=0.2,
            mcb_difference=difference,
            mcb_ci=(difference - 0.01, difference + 0.01),
            pvalue=pvalue,
        )
        assert tested.better == better
        assert f"P = {pvalue}, paired" in str(tested)


def test_a_pvalue_too_small_for_a_double_is_below_something():
    p = np.full(20_000, 0.5)
    told = compare_models(np.arange(20_000) % 2, p, p * 1.9)
    assert "; P < 1e-300, paired" in str(told)
