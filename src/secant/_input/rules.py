"""What scores and weights must be like, whether they come in one array or in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from secant.errors import Argument, InputError, Message

__all__ = [
    "ALL_MISSING",
    "DROP_OR_FILL",
    "LARGEST_COUNT",
    "LARGEST_WEIGHT",
    "NO_ROWS",
    "NO_WEIGHT",
    "SMALLEST_WEIGHT",
    "WHICH_EVENT",
    "check_weights",
    "copies",
    "counted",
    "forbidden_rows",
    "missing",
    "scale_hint",
    "score_range",
]

NO_ROWS = Message("there are no rows; there is nothing to assess")
ALL_MISSING = Message(
    Argument("y_true"),
    " or ",
    Argument("y_prob"),
    " is missing in every row; there is nothing to assess",
)
NO_WEIGHT = Message(Argument("sample_weight"), " is zero in every row; there is nothing to assess")
# Outside this range squares of weights leave the range of doubles; nobody means such weights.
LARGEST_WEIGHT = 1e100
SMALLEST_WEIGHT = 1e-100
# Frequency weights are summed as doubles, which are exact for integers up to here.
LARGEST_COUNT = 2**53

# What to do about rows that lack something: with this such a message ends.
DROP_OR_FILL = ": drop such rows first, or fill them in"
# Of outcomes that are two words: neither is suggested, since either may be meant.
WHICH_EVENT = Message("; which is the event? Name it with ", Argument("pos_label"))
_CALLED = {
    "y_true": "outcome",
    "y_prob": "score",
    "sample_weight": "weight",
    "clusters": "id of a cluster",
    "probs": "probability",
}


def missing(argument: str, value: str, row: int, *, more: str = "") -> InputError:
    """Return the error about a value that is not there; ``more`` is said of the others."""
    what = _CALLED.get(argument.partition("[")[0], "value")
    return InputError(
        f"; a missing {what} cannot be assessed, and secant drops no rows{more}",
        argument=argument,
        value=value,
        row=row,
        # Nobody fills in what happened.
        hint=": drop such rows first" if what == "outcome" else DROP_OR_FILL,
    )


# Scores -------------------------------------------------------------------------------------------


def score_range(scores: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the smallest and the largest score, both within [0, 1]."""
    lowest, highest = float(scores.min()), float(scores.max())
    if lowest >= 0 and highest <= 1:  # False for NaN, which min and max pass on
        return lowest, highest
    first = int(np.flatnonzero(~((scores >= 0) & (scores <= 1)))[0])
    shown = repr(scores[first].item())
    if np.isnan(scores[first]):
        raise missing("y_prob", shown, first)
    must, hint = "; a score must lie in [0, 1]", scale_hint(lowest, highest)
    raise InputError(must, argument="y_prob", value=shown, row=first, hint=hint)


def scale_hint(lowest: float, highest: float) -> str:
    """Suggest what scores outside [0, 1] probably are."""
    if lowest >= 0 and 1.5 < highest <= 100:
        return " (these look like percentages: divide by 100)"
    if lowest < -1e-3 and np.isfinite(lowest) and np.isfinite(highest):
        return " (these look like logits: apply a sigmoid or softmax first)"
    return ""


def forbidden_rows(
    labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None
) -> tuple[int, ...]:
    """Find the rows whose score says impossible of what happened."""
    found: list[int] = []
    size = 1 << 17
    for start in range(0, scores.shape[0], size):
        piece = slice(start, start + size)
        certain = np.flatnonzero((scores[piece] == 0) | (scores[piece] == 1)) + start
        if certain.size:
            wrong = certain[labels[certain] != scores[certain]]
            if weights is not None:
                wrong = wrong[weights[wrong] > 0]
            found.extend(wrong.tolist())
    return tuple(found)


# Weights ------------------------------------------------------------------------------------------


def check_weights(weights: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the smallest and the largest weight, all of them usable."""
    lowest, highest = float(weights.min()), float(weights.max())
    if not (lowest >= 0 and highest <= LARGEST_WEIGHT):
        # As doubles: the limit is beyond what shorter floats hold.
        _refuse_weight(weights, ~((weights >= 0) & (weights <= np.float64(LARGEST_WEIGHT))))
    if lowest < SMALLEST_WEIGHT:
        tiny = (weights > 0) & (weights < SMALLEST_WEIGHT)
        if tiny.any():
            _refuse_weight(weights, tiny)
    return lowest, highest


def _refuse_weight(weights: np.ndarray[Any, Any], bad: np.ndarray[Any, Any]) -> None:
    first = int(np.flatnonzero(bad)[0])
    value = weights[first].item()
    if np.isnan(value):
        raise missing("sample_weight", repr(value), first)
    complaint, hint = "; a weight must be a finite number, zero or positive", ""
    if 0 < value < np.inf:
        between = f"{SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
        complaint = f"; positive weights must lie between {between}"
        hint = ": divide sampling weights by their mean, no result depends on their scale"
    raise InputError(complaint, argument="sample_weight", value=repr(value), row=first, hint=hint)


def copies(weights: np.ndarray[Any, Any]) -> int:
    """Sum frequency weights, which must be whole numbers: they stand for copies of rows."""
    fractional = weights != np.floor(weights)
    if fractional.any():
        first = int(np.flatnonzero(fractional)[0])
        raise InputError(
            "; frequency weights count copies of a row and must be whole numbers",
            argument="sample_weight",
            value=repr(weights[first].item()),
            row=first,
            hint=Message(" (", Argument("weight_kind", "sampling"), " takes any)"),
        )
    return counted(float(weights.sum(dtype=np.float64)))


def counted(total: float) -> int:
    """Return the number of copies, unless it is too large to be exact."""
    if total > LARGEST_COUNT:
        many = f" sums to {total:.3g} copies of rows; at most 2**53 can be counted"
        raise InputError(Argument("sample_weight"), many)
    return int(total)
