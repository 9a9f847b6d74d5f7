"""What scores and weights must be like, whether they come in one array or in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant.errors import Argument, InputError, Message

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ALL_MISSING",
    "COUNT",
    "DROP_OR_FILL",
    "LARGEST_COUNT",
    "LARGEST_WEIGHT",
    "NO_ROWS",
    "NO_WEIGHT",
    "OUTCOME",
    "SCALE",
    "SCORE",
    "SMALLEST_WEIGHT",
    "WEIGHT",
    "WHICH_EVENT",
    "Rule",
    "are_scores",
    "are_weights",
    "check_weights",
    "copies",
    "counted",
    "ends",
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
# What is larger than this is infinite, or of no use.
_HUGE = 1e308
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


# Rules of values ----------------------------------------------------------------------------------


class Rule(NamedTuple):
    """What the values of a column must not be.

    Attributes
    ----------
    argument
        What the column is.
    broken
        Marks values that are so; comparisons, ``|`` and ``&`` mean the same of arrays, tensors and
        columns of engines.
    one, hint
        What is wrong, going on where "y_prob[3] is 1.5" ends, and what probably helps.
    many
        The same where "column 'p' (y_prob) holds 3 values" ends.
    """

    argument: str
    broken: Callable[[Any], Any]
    one: Message
    many: Message
    hint: Message = Message("")


_BETWEEN = f"between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
_MEAN = "divide sampling weights by their mean, no result depends on their scale"
_TAKES_ANY = Message(" (", Argument("weight_kind", "sampling"), " takes any)")

SCORE = Rule(
    "y_prob",
    lambda scores: (scores < 0) | (scores > 1),
    Message("; a score must lie in [0, 1]"),
    Message("outside [0, 1]"),
)
OUTCOME = Rule(
    "y_true",
    lambda labels: (labels != 0) & (labels != 1) & (labels != -1),
    Message(
        "; outcomes must be 0 and 1 (or -1 and 1, or any two values with ",
        Argument("pos_label"),
        ")",
    ),
    Message("other than 0 and 1 (or -1 and 1; any two values go with ", Argument("pos_label"), ")"),
)
WEIGHT = Rule(
    "sample_weight",
    lambda weights: (weights < 0) | (weights > _HUGE),
    Message("; a weight must be a finite number, zero or positive"),
    Message("that are not finite numbers, zero or positive"),
)
SCALE = Rule(
    "sample_weight",
    lambda weights: (weights > LARGEST_WEIGHT) | ((weights > 0) & (weights < SMALLEST_WEIGHT)),
    Message(f"; positive weights must lie {_BETWEEN}"),
    Message(f"that are positive but not {_BETWEEN} ({_MEAN})"),
    Message(f": {_MEAN}"),
)
COUNT = Rule(
    "sample_weight",
    lambda weights: weights != weights.round(),
    Message("; frequency weights count copies of a row and must be whole numbers"),
    Message("that are not whole numbers, as counts of copies must be", _TAKES_ANY),
    _TAKES_ANY,
)


def ends(values: Any) -> tuple[float, float]:
    """Return the smallest and the largest value of an array or a tensor; NaN if one is."""
    return float(values.min()), float(values.max())


def are_scores(lowest: float, highest: float) -> bool:
    """Tell whether scores between two ends can be used."""
    return lowest >= 0 and highest <= 1  # False for NaN


def are_weights(weights: Any, lowest: float, highest: float) -> bool:
    """Tell whether weights of an array or a tensor, between two ends, can be used."""
    if not (lowest >= 0 and highest <= LARGEST_WEIGHT):
        return False
    return lowest >= SMALLEST_WEIGHT or not ((weights > 0) & (weights < SMALLEST_WEIGHT)).any()


def _refuse(values: np.ndarray[Any, Any], *rules: Rule, hint: str = "") -> None:
    """Raise the error about the first value that is missing or breaks a rule."""
    doubles = values.astype(np.float64)  # limits of weights are beyond what shorter floats hold
    wrong = np.isnan(doubles)
    for rule in rules:
        wrong |= rule.broken(doubles)
    row = int(np.argmax(wrong))
    shown = repr(values[row].item())
    if np.isnan(doubles[row]):
        raise missing(rules[0].argument, shown, row)
    rule = next(rule for rule in rules if rule.broken(doubles[row]))
    hint = hint or rule.hint
    raise InputError(rule.one, argument=rule.argument, value=shown, row=row, hint=hint)


# Scores -------------------------------------------------------------------------------------------


def score_range(scores: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the smallest and the largest score, both within [0, 1]."""
    lowest, highest = ends(scores)
    if not are_scores(lowest, highest):
        _refuse(scores, SCORE, hint=scale_hint(lowest, highest))
    return lowest, highest


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
    lowest, highest = ends(weights)
    if not are_weights(weights, lowest, highest):
        _refuse(weights, WEIGHT, SCALE)
    return lowest, highest


def copies(weights: np.ndarray[Any, Any]) -> int:
    """Sum frequency weights, which must be whole numbers: they stand for copies of rows."""
    if COUNT.broken(weights).any():
        _refuse(weights, COUNT)
    return counted(float(weights.sum(dtype=np.float64)))


def counted(total: float) -> int:
    """Return the number of copies, unless it is too large to be exact."""
    if total > LARGEST_COUNT:
        many = f" sums to {total:.3g} copies of rows; at most 2**53 can be counted"
        raise InputError(Argument("sample_weight"), many)
    return int(total)
