"""Several models on the same outcomes: what may be passed, and in which order they come."""

import numpy as np
import pytest

import secant

Y = [0, 1, 1, 0, 1]
GOOD, BAD = [0.1, 0.8, 0.9, 0.3, 0.7], [0.9, 0.2, 0.1, 0.8, 0.3]


def test_columns_are_named_as_they_are():
    data = {"y": Y, "good": GOOD, "bad": BAD}
    by_column = secant.assess_models("y", ["bad", "good"], data=data)
    assert list(by_column) == ["good", "bad"]
    renamed = secant.assess_models("y", {"A": "bad", "B": "good"}, data=data)
    assert list(renamed) == ["B", "A"]
    by_array = secant.assess_models(Y, {"bad": BAD, "good": GOOD})
    assert str(by_array) == str(by_column)


def test_one_model_is_compared_with_nobody():
    alone = secant.assess_models(Y, {"good": GOOD})
    assert alone.comparisons == {}
    assert str(alone).startswith("model")


def test_each_model_is_assessed_as_by_itself():
    found = secant.assess_models(Y, {"good": GOOD, "bad": BAD}, confidence_level=0.9)
    for name, scores in (("good", GOOD), ("bad", BAD)):
        alone = secant.assess(Y, scores, confidence_level=0.9)
        assert found[name].to_dict() == alone.to_dict()
    assert found.confidence_level == 0.9


@pytest.mark.parametrize(
    ("y_probs", "options", "complaint"),
    [
        ({}, {}, "y_probs names no model"),
        ([GOOD, BAD], {}, "y_probs must be a mapping"),
        (["good"], {}, "y_probs must be a mapping"),
        (["good", "good"], {"data": {"y": Y, "good": GOOD}}, "different columns"),
        ({"one": [0.1, 2, 0.3, 0.4, 0.5]}, {}, r"y_probs\['one'\]\[1\] is 2"),
    ],
)
def test_complaints(y_probs, options, complaint):
    with pytest.raises(secant.InputError, match=complaint):
        secant.assess_models("y" if options else Y, y_probs, **options)


def test_the_truth_is_never_last_and_mostly_first():
    """Beside itself rounded and the base rate, which have the smaller ECCE-R, 100 sets of 1,000.

    By Brier score the truth is first in some 87 of 100: fewer than 75 is 3.5 standard errors away.
    """
    first = by_ecce_r = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = rng.random(1000)
        y = rng.random(1000) < truth
        base = np.full(1000, y.mean())
        models = secant.assess_models(
            y, {"base": base, "rounded": np.round(truth, 1), "truth": truth}
        )
        assert list(models)[-1] == "base"
        assert "base" not in models.not_worse
        first += next(iter(models)) == "truth"
        by_ecce_r += min(models, key=lambda name: models[name].ecce_r.value) == "truth"
    assert first >= 75
    assert by_ecce_r <= 10


def test_infinite_log_losses_come_last_by_name():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = rng.random(500) < p
    sure = np.where(p > 0.5, 1.0, 0.0)
    models = {"z": sure, "m": sure, "other": np.full(500, 0.5), "p": p}
    found = secant.assess_models(y, models, score="log_loss")
    assert list(found) == ["p", "other", "m", "z"]
    assert found.not_worse == ["p"]
    assert found.behind["z"].difference == np.inf
    assert "has the smallest log loss" in str(found)
    both = secant.assess_models(y, {"z": sure, "m": sure}, score="log_loss")
    assert both.not_worse == ["m", "z"]
    with pytest.raises(secant.InputError, match="score must be one of"):
        secant.assess_models(y, models, score="ecce_r")


def test_copies_of_rows_and_clusters_are_not_tested_in_pairs():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = rng.random(400) < p
    models = {"a": p, "b": p**1.5}
    copies = secant.assess_models(y, models, sample_weight=np.full(400, 2), weight_kind="frequency")
    assert next(iter(copies.comparisons.values())).pvalue is None
    together = secant.assess_models(y, models, clusters=np.arange(400) // 4)
    assert together.comparisons == {}
    assert "clusters are not compared" in str(together)
