"""Outcomes of every code as 0 and 1: numbers, texts, -1 and 1, any two values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.arraylike import from_objects, is_missing, plain_value, wrong_type
from secant._input.rules import OUTCOME, WHICH_EVENT, missing
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from secant._base.types import BoolArray

__all__ = ["Outcomes", "are_missing", "binary", "refuse_missing"]


def binary(
    labels: np.ndarray[Any, Any],
    scores: np.ndarray[Any, Any],
    pos_label: Any,
    known: Any = None,
) -> np.ndarray[Any, Any]:
    """Return labels whose values are 0 and 1 (or False and True).

    ``known`` is what stood for "did not happen" in rows before these, which is not to blame.
    """
    if pos_label is not None:
        return _against_pos_label(labels, pos_label, known)
    if labels.dtype.kind == "b":
        return labels
    if labels.dtype.kind == "O":
        labels = _label_objects(labels)
    if labels.dtype.kind in "iuf":
        return _zero_one(labels, scores, known)
    if labels.dtype.kind in "UST":
        _refuse_text_labels(labels)
    raise wrong_type("y_true", labels, "0 and 1")


class Outcomes:
    """Outcomes that come in batches, all of which must keep to one code."""

    def __init__(self, pos_label: Any) -> None:
        self._pos_label = pos_label
        self._negative: Any = None  # what stands for "did not happen", once a batch has had it

    def read(
        self, labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        """Return the labels of a batch as 0 and 1 (or False and True)."""
        happened = binary(labels, scores, self._pos_label, self._negative)
        first = int(np.argmin(happened))
        if happened[first]:  # a batch of nothing but events
            return happened
        negative = labels[first]
        if self._negative is None:
            self._negative = negative
        elif negative != self._negative:
            if self._pos_label is not None:
                raise _third_value(first, negative, self._negative, self._pos_label)
            before = repr(plain_value(self._negative))
            raise _refused(first, negative, f"; rows before it have {before} for the same outcome")
        return happened


def _label_objects(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Read a column of Python objects as text or as numbers, naming the first that is neither."""
    if all(isinstance(item, str) for item in labels):
        return labels.astype(str)
    refuse_missing(labels)
    return from_objects("y_true", labels)


def _zero_one(
    labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any], known: int | None
) -> np.ndarray[Any, Any]:
    """Accept 0/1 as they are, turn -1/1 into False/True, refuse the rest."""
    if labels.dtype.kind != "f" and np.bitwise_or.reduce(labels) in (0, 1):  # 0 and 1 alone
        return labels
    negative = -1 if labels.min() == -1 else 0
    bad = _other_than(labels, negative)
    if not bad.any():
        return labels > 0 if negative else labels
    # The odd one out is to blame, so the code is that of most rows, or that of the rows before.
    negative = _negative_of_most(labels) if known is None else known
    bad = _other_than(labels, negative)
    first = int(np.flatnonzero(bad)[0])
    value = labels[first].item()
    if value != value:  # noqa: PLR0124
        raise _missing_outcome(first, value)
    if _looks_swapped(labels, scores):
        fractions = Argument("y_prob"), " holds only 0 and 1 and ", Argument("y_true"), " fractions"
        raise _refused(first, value, "; ", *fractions, ": the two look swapped")
    beside = f" where other rows have {negative}" if value in (-1, 0) else ""
    raise _refused(first, value, beside, OUTCOME.one)


def _other_than(labels: np.ndarray[Any, Any], negative: int) -> np.ndarray[Any, Any]:
    """Mark the labels that are neither 1 nor what stands for the other outcome."""
    found: np.ndarray[Any, Any] = (labels != negative) & (labels != 1)
    return found


def _negative_of_most(labels: np.ndarray[Any, Any]) -> int:
    """Return which of 0 and -1 stands for the other outcome in more rows, or does so first."""
    zero, minus = (np.flatnonzero(labels == each) for each in (0, -1))
    if zero.size and zero.size == minus.size:
        return 0 if zero[0] < minus[0] else -1
    return -1 if minus.size > zero.size else 0


def _looks_swapped(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> bool:
    fractions = bool(((labels >= 0) & (labels <= 1)).all())
    return fractions and bool(((scores == 0) | (scores == 1)).all())


def _refuse_text_labels(labels: np.ndarray[Any, Any]) -> None:
    refuse_missing(labels)
    words = sorted({plain_value(word) for word in labels[:10_000]})
    words_shown = ", ".join(repr(word) for word in words[:3])
    text = f" holds text ({words_shown}{', ...' if len(words) > 3 else ''})"
    raise InputError(Argument("y_true"), text, hint=WHICH_EVENT)


def _against_pos_label(
    labels: np.ndarray[Any, Any], pos_label: Any, known: Any
) -> np.ndarray[Any, Any]:
    """Mark the rows equal to ``pos_label``; the others must all share one other value."""
    if np.ndim(pos_label) or isinstance(pos_label, (set, frozenset, dict)):
        raise InputError(Argument("pos_label"), f" must be one value; got {pos_label!r}")
    refuse_missing(labels)
    text = {"U": str, "T": str, "S": bytes}.get(labels.dtype.kind)
    if text is not None and not isinstance(pos_label, text):
        _pos_label_absent(labels, pos_label)
    positive = np.asarray(labels == pos_label, dtype=bool)
    if positive.shape != labels.shape:
        _pos_label_absent(labels, pos_label)
    others = np.flatnonzero(~positive)
    if others.size:
        negative = labels[others[0]]
        third = others[np.asarray(labels[others] != negative, dtype=bool)]
        if third.size and known is None and not positive.any():
            _pos_label_absent(labels, pos_label)
        if third.size:  # the odd one out is to blame, as above
            if known is None:
                ((known, _),) = Counter(labels[others].tolist()).most_common(1)
            first = int(others[np.asarray(labels[others] != known, dtype=bool)][0])
            raise _third_value(first, labels[first], known, pos_label)
    return positive


def refuse_missing(labels: np.ndarray[Any, Any]) -> None:
    """Refuse rows that have no outcome, naming the first."""
    without = are_missing(labels)
    if without.any():
        first = int(np.argmax(without))
        raise _missing_outcome(first, labels[first])


def are_missing(labels: np.ndarray[Any, Any]) -> BoolArray:
    """Mark the rows that have no outcome: None, NaN, pandas.NA."""
    if labels.dtype.kind == "f":
        without: BoolArray = np.isnan(labels)
        return without
    if labels.dtype.kind in "OT":
        return np.array([is_missing(item) for item in labels], bool)
    return np.zeros(labels.shape, bool)


def _refused(index: int, value: Any, *complaint: str) -> InputError:
    shown = repr(plain_value(value))
    return InputError(*complaint, argument="y_true", value=shown, row=index)


def _missing_outcome(index: int, value: Any) -> InputError:
    return missing("y_true", repr(plain_value(value)), index)


def _third_value(index: int, value: Any, negative: Any, pos_label: Any) -> InputError:
    two = f"; outcomes must take two values, and {plain_value(negative)!r} and "
    return _refused(index, value, two, Argument("pos_label", pos_label), " are two already")


def _pos_label_absent(labels: np.ndarray[Any, Any], pos_label: Any) -> None:
    distinct = dict.fromkeys(plain_value(item) for item in labels[:10_000])
    words_shown = ", ".join(repr(item) for item in list(distinct)[:3])
    more = ", ..." if len(distinct) > 3 else ""
    raise InputError(
        Argument("pos_label", pos_label),
        " does not occur in ",
        Argument("y_true"),
        f", which holds {words_shown}{more}",
    )
