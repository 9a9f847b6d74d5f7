"""What displays are made from: results of one model or more, and estimators."""

from types import SimpleNamespace

import numpy as np
import pytest

import secant
from samples import ORDINARY
from secant import Calibration, InputError
from secant._drawing import models

RESULT = secant.assess(*ORDINARY)


def test_results_and_their_names():
    assert models.named(RESULT, Calibration) == ((None,), (RESULT,))
    assert models.named(RESULT, Calibration, "a") == (("a",), (RESULT,))
    assert models.named([RESULT, RESULT], Calibration, ["a", 2])[0] == ("a", "2")
    assert models.named({1: RESULT}, Calibration) == (("1",), (RESULT,))


@pytest.mark.parametrize(
    ("results", "name", "says"),
    [
        ({"a": RESULT}, "a", "these are named by their mapping"),
        ([RESULT, 3], None, r"results\[1\] is a int, not a Calibration"),
        ([], None, "results holds no Calibration"),
        (3, None, "results must be a Calibration, a sequence of them, or a mapping"),
        ([RESULT], ["a", "b"], "got 2 for 1"),
    ],
)
def test_what_is_no_model_is_refused(results, name, says):
    with pytest.raises(InputError, match=says):
        models.named(results, Calibration, name)


def test_several_models_are_assessed_on_the_same_outcomes():
    y, p = ORDINARY
    found = models.assess_models(y, {"a": p, 2: p[::-1]}, None)
    assert list(found) == ["a", "2"]
    assert found["a"].ecce_r == RESULT.ecce_r == models.assess_models(y, p, None).ecce_r
    with pytest.raises(InputError, match="named by the keys of y_prob"):
        models.assess_models(y, {"a": p}, "b")


PROBS = np.array([[0.9, 0.1], [0.3, 0.7]])


def estimator(probs, **attributes):
    return SimpleNamespace(predict_proba=lambda _: probs, **attributes)


@pytest.mark.parametrize(
    ("made", "pos_label", "column", "label"),
    [
        (estimator(PROBS), None, 1, None),
        (estimator(PROBS, classes_=["no", "yes"]), None, 1, "yes"),
        (estimator(PROBS, classes_=["no", "yes"]), "no", 0, "no"),
    ],
)
def test_an_estimator_says_what_its_probabilities_are_of(made, pos_label, column, label):
    scores, found = models.predict(made, None, pos_label)
    assert (scores.tolist(), found) == (PROBS[:, column].tolist(), label)


@pytest.mark.parametrize(
    ("made", "pos_label", "says"),
    [
        (object(), None, "object has no predict_proba"),
        (estimator(np.ones((2, 3))), None, r"shape \(2, 3\); a display needs two classes"),
        (estimator(PROBS, classes_=[0, 1]), 2, "pos_label=2 is not a class"),
    ],
)
def test_estimators_that_are_refused(made, pos_label, says):
    with pytest.raises(InputError, match=says):
        models.predict(made, None, pos_label)
