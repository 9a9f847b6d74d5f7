"""Every way into secant, and predictions to bring: ``from doors import every_door``."""

import re

import numpy as np
import pytest

import secant

# Scores that every floating type has, so that all types must give the very same numbers.
Y = [0, 1, 0, 1, 1, 0, 1, 0]
P = [0.125, 0.25, 0.25, 0.5, 0.875, 0.625, 1.0, 0.0]
W = [1, 2, 3, 1, 0, 4, 1, 2]
NAN, INF = float("nan"), float("inf")


def update(y_true, y_prob, **options):
    cells = secant.Cells(64)
    cells.update(y_true, y_prob, **options)
    return cells


# Every way in. They share one check, and a way that goes round it would show here.
DOORS = {
    "ecce_r": secant.ecce_r,
    "ecce_mad": secant.ecce_mad,
    "ece": secant.ece,
    "assess": secant.assess,
    "update": update,
}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
wide_door = pytest.mark.parametrize("door", [secant.assess, update], ids=["assess", "update"])


def answers(y, p, w=None, *, method="auto", **options):
    """Return all that secant has to say about some predictions."""
    result = secant.assess(y, p, sample_weight=w, method=method, **options)
    told = [result.to_dict(), result.ece().to_dict()]
    told.append(update(y, p, sample_weight=w, **options).bounds())
    if not options:
        metrics = secant.ecce_r, secant.ecce_mad, secant.ece
        told += [metric(y, p, sample_weight=w) for metric in metrics]
    return told


def names(argument, index, value):
    """Return the pattern of a message that names the argument, its index and the value there."""
    return rf"\b{argument}\[{index}\] is {re.escape(value)}(?![\w.])"


def with_item(values, index, item, dtype=None):
    changed = list(values)
    changed[index] = item
    return changed if dtype is None else np.array(changed, dtype)


def bad(values):
    return pytest.mark.parametrize(
        ("item", "shown"), values, ids=[shown[:20] for _, shown in values]
    )


def many_told(y, p, w=None):
    return answers(y, p, w, method="asymptotic")  # others take long for many rows
