"""Probabilities of several classes, checked once: a row a prediction, a column a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.arraylike import one_dimensional, plain_value, real_matrix
from secant._input.keys import plain_key
from secant._input.labels import refuse_missing
from secant._input.observations import check_alignment
from secant._input.rules import missing
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray, IntArray

__all__ = ["ANY_SUM", "ClassPredictions", "class_predictions", "largest"]

ANY_SUM = Argument("sum_to_one", False)  # noqa: FBT003  (a value that a message shows)
# How far a row may sum from 1. A float32 softmax over thousands of classes stays within 1e-5, half
# precision within 5e-4.
_TOLERANCE = 1e-3
# Values looked at together, so that checks need little memory beside the input.
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ClassPredictions:
    """Checked predictions of several classes.

    Attributes
    ----------
    probs
        Shape (n, k), float32 or float64, every value in [0, 1]; the caller's own array where its
        type allows.
    truth
        The column of the class that came true, for every row.
    names
        What the columns are called: the numbers 0 to k - 1 where they have no names.
    """

    probs: np.ndarray[Any, Any]
    truth: IntArray
    names: tuple[Any, ...]


def class_predictions(
    y_true: Any, probs: Any, classes: Any, *, sum_to_one: bool = True
) -> ClassPredictions:
    """Check what the user passed and stand it in one shape.

    Raises
    ------
    InputError
        Naming the argument, the offending value and its place.
    """
    matrix = real_matrix("probs", probs)
    _check_shape(matrix)
    _check_values(matrix)
    if sum_to_one:
        _check_sums(matrix)
    names = _names(classes, probs, matrix.shape[1])
    _check_rows(y_true, matrix)
    check_alignment(y_true=y_true, probs=probs)
    return ClassPredictions(matrix, _columns_of(one_dimensional("y_true", y_true), names), names)


# Probabilities ------------------------------------------------------------------------------------


def _check_shape(matrix: np.ndarray[Any, Any]) -> None:
    n, k = matrix.shape
    if not n:
        both = Argument("y_true"), " and ", Argument("probs")
        raise InputError(*both, " are empty; there is nothing to assess")
    if k < 2:
        raise InputError(
            Argument("probs"),
            f" has {k} column{'s' if k != 1 else ''}, and there must be one for each of two or "
            "more classes; the probabilities of one event go to secant.assess",
        )


def _pieces(matrix: np.ndarray[Any, Any]) -> list[slice]:
    rows = max(1, _PIECE // matrix.shape[1])
    return [slice(start, start + rows) for start in range(0, matrix.shape[0], rows)]


def _check_values(matrix: np.ndarray[Any, Any]) -> None:
    """Refuse what is no probability, suggesting what it probably is."""
    lowest, highest = float(matrix.min()), float(matrix.max())
    if lowest >= 0 and highest <= 1:  # False for NaN, which min and max pass on
        return
    row, column = np.argwhere(~((matrix >= 0) & (matrix <= 1)))[0].tolist()
    value = matrix[row, column].item()
    wrong, hint = "; a probability must lie in [0, 1]", _scale_hint(matrix, lowest, highest)
    if np.isnan(value):
        error = missing("probs", repr(value), row)
        wrong, hint = error.complaint, error.hint
    what = Argument("probs"), f"[{row}, {column}] is {value!r}", wrong
    raise InputError(*what, value=repr(value), row=row, hint=hint)


def _scale_hint(matrix: np.ndarray[Any, Any], lowest: float, highest: float) -> str:
    if not (np.isfinite(lowest) and np.isfinite(highest)):
        return ""
    first = matrix[0].astype(np.float64)
    if highest <= 0 and abs(np.exp(first).sum() - 1) < 0.01:
        return " (these look like logarithms of probabilities: take exp first)"
    if lowest >= 0 and abs(first.sum() - 100) < 1:
        return " (these look like percentages: divide by 100)"
    if lowest < -1e-3 or highest > 1 + 1e-3:
        return " (these look like logits: apply a softmax over the classes first)"
    return ""


def _check_sums(matrix: np.ndarray[Any, Any]) -> None:
    for piece in _pieces(matrix):
        sums = matrix[piece].sum(axis=1, dtype=np.float64)
        wrong = np.flatnonzero(np.abs(sums - 1) > _TOLERANCE)
        if wrong.size:
            row = int(wrong[0])
            raise InputError(
                Argument("probs", index=piece.start + row),
                f" sums to {sums[row]:.6g}, and the probabilities of all classes must sum to 1 "
                f"within {_TOLERANCE:g} (apply a softmax if they are scores; probabilities made "
                "class by class are for ",
                Argument("kind", "one-vs-rest"),
                " with ",
                ANY_SUM,
                ")",
                row=piece.start + row,
            )


# Classes ------------------------------------------------------------------------------------------


def _names(classes: Any, probs: Any, k: int) -> tuple[Any, ...]:
    """Return what the columns are called: as told, else as in the data frame, else numbers."""
    where: tuple[str, ...]
    if classes is None:
        found = getattr(probs, "column_names", getattr(probs, "columns", None))
        if found is None or not hasattr(probs, "__array__"):
            return tuple(range(k))
        names = tuple(plain_key(name) for name in found)
        where = Argument("probs"), " has columns"
    else:
        if isinstance(classes, (str, bytes)) or not hasattr(classes, "__iter__"):
            wanted = f" must name the {k} columns of probs, in their order; got {classes!r}"
            raise InputError(Argument("classes"), wanted)
        names = tuple(plain_key(name) for name in classes)
        where = Argument("classes"), " has names"
    if len(names) != k:
        wanted = f" must name the {k:,} columns of probs, one each; it has {len(names):,} names"
        raise InputError(Argument("classes"), wanted)
    try:
        distinct = dict.fromkeys(names)
    except TypeError as error:
        raise InputError(*where, f" that cannot be looked up: {error}") from error
    if None in distinct or len(distinct) < k:
        odd = next(name for i, name in enumerate(names) if name is None or name in names[:i])
        what = "a missing one" if odd is None else f"{odd!r} twice"
        raise InputError(*where, f" that must differ from each other; got {what}")
    return names


def _check_rows(y_true: Any, matrix: np.ndarray[Any, Any]) -> None:
    """Compare the number of outcomes, if it can be seen, with the number of rows."""
    shape = np.shape(y_true) if hasattr(y_true, "shape") or isinstance(y_true, list) else None
    if shape == matrix.shape:
        hint = " (one-hot? pass y_true.argmax(axis=1))"
        must = f" must hold one class a row; its shape is {shape}"
        raise InputError(Argument("y_true"), must, hint=hint)
    if shape is not None and len(shape) == 1 and shape[0] != matrix.shape[0]:
        raise InputError(
            Argument("y_true"),
            " and ",
            Argument("probs"),
            f" must have one length; y_true has {shape[0]:,} values, probs "
            f"{matrix.shape[0]:,} rows",
            hint=" (is probs transposed?)" if shape[0] == matrix.shape[1] else "",
        )


def _columns_of(labels: np.ndarray[Any, Any], names: Sequence[Any]) -> IntArray:
    """Return the column of each row's class, looking its name up, or taking its number."""
    refuse_missing(labels)
    if labels.dtype.kind in "biufUS":
        distinct, inverse = np.unique(labels, return_inverse=True)
        values = distinct.tolist()
    else:
        numbers: dict[Any, int] = {}
        found = [numbers.setdefault(plain_value(item), len(numbers)) for item in labels.tolist()]
        values, inverse = list(numbers), np.array(found, np.int64)
    numeric = all(isinstance(value, (bool, int, float)) for value in values)
    column = {name: number for number, name in enumerate(names)}
    if numeric and all(isinstance(name, str) for name in names):
        _refuse_names_like_numbers(names)
        column = {number: number for number in range(len(names))}
    columns = np.array([column.get(value, -1) for value in values], np.int64)[inverse]
    if columns.min() < 0:
        row = int(np.flatnonzero(columns < 0)[0])
        raise _unknown_class(row, values[inverse[row]], values, column)
    return columns


def _refuse_names_like_numbers(names: Sequence[Any]) -> None:
    """Refuse to guess whether 1 means the class called '1' or the second column."""
    if list(names) == [str(number) for number in range(len(names))]:
        return  # the same column either way
    for name in names:
        try:
            float(name)
        except ValueError:
            continue
        raise InputError(
            Argument("y_true"),
            f" holds numbers and a class is called {name!r}",
            hint=": pass y_true as text, or name the classes by numbers in classes=",
        )


def _unknown_class(
    row: int, value: Any, values: Sequence[Any], column: dict[Any, int]
) -> InputError:
    k, hint = len(column), ""
    if list(column) != list(range(k)):
        known = ", ".join(repr(name) for name in list(column)[:5])
        there_are = f"there are {known}{', ...' if k > 5 else ''}"
    elif isinstance(value, str):
        there_are = "say what the columns of probs are called, classes=[...]"
        hint = " (in scikit-learn: model.classes_)"
    else:
        there_are = f"with {k:,} columns class numbers run from 0 to {k - 1:,}"
        if min(values) == 1 and max(values) == k:
            hint = f" (numbered from 1? pass classes=range(1, {k + 1}))"
    complaint = f", which is no class: {there_are}"
    return InputError(complaint, argument="y_true", value=repr(value), row=row, hint=hint)


def largest(probs: np.ndarray[Any, Any]) -> tuple[FloatArray, IntArray]:
    """Return the largest probability of each row and its column, the first where several tie."""
    column = probs.argmax(axis=1)
    return np.take_along_axis(probs, column[:, None], axis=1)[:, 0], column
