"""The only code that sees what users pass in: it checks once and says what is wrong, and where.

Everything behind this module may rely on an :class:`Observations`: two arrays of one length, scores
in [0, 1], labels 0 or 1, weights positive or absent. The caller's arrays are never written to and,
where their type allows, never copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from secant.errors import InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._types import FloatArray, IntArray

__all__ = ["Chunk", "Observations", "check_choice", "check_level", "observations"]

WeightKind = Literal["sampling", "frequency"]

# Outside this range squares of weights leave the range of doubles; nobody means such weights.
_LARGEST_WEIGHT = 1e100
_SMALLEST_WEIGHT = 1e-100
# Frequency weights are summed as doubles, which are exact for integers up to here.
_LARGEST_COUNT = 2**53


class Chunk(NamedTuple):
    """Some consecutive rows: contiguous float64 scores, 0/1 integers, float64 weights."""

    scores: FloatArray
    labels: IntArray
    weights: FloatArray | None


@dataclass(frozen=True, slots=True)
class Observations:
    """Checked predictions in memory, still in the caller's arrays.

    Attributes
    ----------
    labels, scores, weights
        One-dimensional arrays of one length; ``weights`` is None when every row counts once.
    weight_kind
        ``"sampling"`` or ``"frequency"``.
    n
        Number of observations: rows of positive weight, or the sum of frequency weights.
    lowest, highest
        The smallest and the largest score.
    forbidden
        Rows of positive weight whose score rules out what happened (0 and yes, 1 and no).
    """

    labels: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any] | None
    weight_kind: WeightKind
    n: int
    lowest: float
    highest: float
    forbidden: tuple[int, ...]
    has_zero_weights: bool

    @property
    def rows(self) -> int:
        """Length of the arrays, rows of weight zero included."""
        return int(self.scores.shape[0])

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weights is not None and self.weight_kind == "sampling"

    @property
    def forbidden_copies(self) -> int:
        """Number of observations in the forbidden rows."""
        if self.weights is None or self.sampling:
            return len(self.forbidden)
        return int(self.weights[list(self.forbidden)].sum())

    def recheck(self) -> None:
        """Make sure that the arrays still hold what they held when they were checked.

        Raises
        ------
        SecantError
            If a value is unusable now, or the range of scores is another one.
        """
        try:
            _binary(self.labels, self.scores, None)
            same = _check_scores(self.scores) == (self.lowest, self.highest)
            if self.weights is not None:
                _, n, zeros = _check_weights(self.weights, self.rows, self.weight_kind)
                same &= (n, zeros) == (self.n, self.has_zero_weights)
        except InputError as error:
            msg = f"the arrays were changed after they were assessed: {error}"
            raise SecantError(msg) from error
        if not same:
            msg = "the arrays were changed after they were assessed: assess them again"
            raise SecantError(msg)

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Walk over the rows in pieces small enough to stay in cache, skipping weight zero.

        The arrays handed out are views of the input or of a buffer that is used again for the
        next piece: read them, do not keep them.
        """
        size = min(size, self.rows)
        score_buffer = np.empty(size)
        label_buffer = np.empty(size, np.int64)
        weight_buffer = np.empty(size)
        for start in range(0, self.rows, size):
            piece = slice(start, start + size)
            scores = _native(self.scores[piece], score_buffer)
            labels = _native(self.labels[piece], label_buffer)
            if self.weights is None:
                yield Chunk(scores, labels, None)
                continue
            weights = _native(self.weights[piece], weight_buffer)
            if self.has_zero_weights:
                counted = weights > 0
                scores, labels, weights = scores[counted], labels[counted], weights[counted]
            yield Chunk(scores, labels, weights)


def observations(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any = None,
    *,
    weight_kind: str = "sampling",
    pos_label: Any = None,
) -> Observations:
    """Check what the user passed and stand it in one shape.

    Raises
    ------
    InputError
        Naming the argument, the offending value and its index.
    """
    kind: WeightKind = "frequency" if weight_kind == "frequency" else "sampling"
    if weight_kind != kind:
        check_choice("weight_kind", weight_kind, ("sampling", "frequency"))
    scores = _real_array("y_prob", y_prob, keep=(np.float32, np.float64))
    raw_labels = _one_dimensional("y_true", y_true)
    _check_lengths(raw_labels, scores)
    labels = _binary(raw_labels, scores, pos_label)
    lowest, highest = _check_scores(scores)
    if sample_weight is None:
        weights, n, zeros = None, scores.shape[0], False
    else:
        weights, n, zeros = _check_weights(sample_weight, scores.shape[0], kind)
    forbidden: tuple[int, ...] = ()
    if lowest == 0 or highest == 1:
        forbidden = _forbidden_rows(labels, scores, weights)
    return Observations(labels, scores, weights, kind, n, lowest, highest, forbidden, zeros)


def check_choice(argument: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the words an argument takes."""
    if value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        msg = f"{argument} must be one of {words}; got {value!r}"
        raise InputError(msg)


def check_level(value: Any) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        msg = f"confidence_level must lie strictly between 0 and 1; got {value!r}"
        raise InputError(msg)


# Arrays -------------------------------------------------------------------------------------------


def _native(piece: np.ndarray[Any, Any], buffer: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the piece itself if it has the buffer's type and is contiguous, else a copy."""
    if piece.dtype == buffer.dtype and piece.flags.c_contiguous:
        return piece
    copy = buffer[: piece.shape[0]]
    np.copyto(copy, piece, casting="unsafe")
    return copy


def _one_dimensional(argument: str, value: Any) -> np.ndarray[Any, Any]:
    """Turn anything array-like into a one-dimensional array, or say why not."""
    if isinstance(value, (str, bytes)):
        msg = f"{argument} must be an array of values; got the text {value!r}"
        raise InputError(msg)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        first = int(np.flatnonzero(np.ma.getmaskarray(value))[0])
        msg = f"{argument}[{first}] is masked; secant does not drop rows, leave them out yourself"
        raise InputError(msg)
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            if item is np.ma.masked:
                msg = f"{argument}[{index}] is masked; secant does not drop rows"
                raise InputError(msg)
    if hasattr(value, "detach"):  # a tensor that carries a gradient refuses to become an array
        value = value.detach()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        msg = f"{argument} cannot be read as an array: {error}"
        raise InputError(msg) from error
    if array.ndim == 1:
        return array
    if array.ndim == 0:
        msg = f"{argument} must be one-dimensional; got a single {type(value).__name__}"
    else:
        msg = f"{argument} must be one-dimensional; its shape is {array.shape}{_shape_hint(array)}"
    raise InputError(msg)


def _shape_hint(array: np.ndarray[Any, Any]) -> str:
    """Suggest what a two-dimensional array was probably meant to be."""
    if array.ndim != 2:
        return ""
    if array.shape[1] == 1:
        return "; pass its single column"
    if array.shape[1] == 2:
        return "; pass the probabilities of the positive class alone, probs[:, 1]"
    return ""


def _real_array(
    argument: str, value: Any, keep: tuple[type[np.floating[Any]], ...]
) -> np.ndarray[Any, Any]:
    """Turn anything array-like into a one-dimensional array of real numbers."""
    array = _one_dimensional(argument, value)
    if array.dtype.type in keep:
        return array
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        return _from_objects(argument, array)
    raise _wrong_type(argument, array, "real numbers")


def _wrong_type(argument: str, array: np.ndarray[Any, Any], wanted: str) -> InputError:
    what = "text" if array.dtype.kind in "UST" else f"values of type {array.dtype}"
    first = f"; the first is {_shown(array[0])}" if array.shape[0] else ""
    return InputError(f"{argument} must hold {wanted}; got {what}{first}")


def _from_objects(argument: str, array: np.ndarray[Any, Any]) -> FloatArray:
    """Read a column of Python objects as doubles, naming the first that is not a number."""
    numbers = np.empty(array.shape[0])
    for index, item in enumerate(array):
        try:
            numbers[index] = _number(item)
        except (TypeError, ValueError, OverflowError) as error:
            msg = f"{argument}[{index}] is {item!r}, not a number a double can hold"
            raise InputError(msg) from error
    return numbers


def _number(item: Any) -> float:
    if isinstance(item, (str, bytes)):  # "0.3" would convert, but a column of texts is a mistake
        raise TypeError
    return float(item)


def _check_lengths(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> None:
    if labels.shape[0] != scores.shape[0]:
        msg = (
            f"y_true and y_prob must have one length; y_true has {labels.shape[0]:,} values, "
            f"y_prob {scores.shape[0]:,}"
        )
        raise InputError(msg)
    if not labels.shape[0]:
        msg = "y_true and y_prob are empty; there is nothing to assess"
        raise InputError(msg)


# Scores -------------------------------------------------------------------------------------------


def _check_scores(scores: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the smallest and the largest score, both within [0, 1]."""
    lowest, highest = float(scores.min()), float(scores.max())
    if lowest >= 0 and highest <= 1:  # False for NaN, which min and max pass on
        return lowest, highest
    first = int(np.flatnonzero(~((scores >= 0) & (scores <= 1)))[0])
    msg = f"y_prob[{first}] is {scores[first].item()!r}; "
    if np.isnan(scores[first]):
        msg += "a missing score cannot be assessed, and secant drops no rows"
    else:
        msg += f"a score must lie in [0, 1]{_scale_hint(lowest, highest)}"
    raise InputError(msg)


def _scale_hint(lowest: float, highest: float) -> str:
    """Suggest what scores outside [0, 1] probably are."""
    if lowest >= 0 and 1.5 < highest <= 100:
        return " (these look like percentages: divide by 100)"
    if lowest < -1e-3 and np.isfinite(lowest) and np.isfinite(highest):
        return " (these look like logits: apply a sigmoid or softmax first)"
    return ""


def _forbidden_rows(
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


# Labels -------------------------------------------------------------------------------------------


def _binary(
    labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any], pos_label: Any
) -> np.ndarray[Any, Any]:
    """Return labels whose values are 0 and 1 (or False and True)."""
    if pos_label is not None:
        return _against_pos_label(labels, pos_label)
    if labels.dtype.kind == "b":
        return labels
    if labels.dtype.kind == "O":
        labels = _label_objects(labels)
    if labels.dtype.kind in "iuf":
        return _zero_one(labels, scores)
    if labels.dtype.kind in "UST":
        _refuse_text_labels(labels)
    raise _wrong_type("y_true", labels, "0 and 1")


def _label_objects(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Read a column of Python objects as text or as numbers, naming the first that is neither."""
    if all(isinstance(item, str) for item in labels):
        return labels.astype(str)
    return _from_objects("y_true", labels)


def _zero_one(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Accept 0/1 as they are, turn -1/1 into False/True, refuse the rest."""
    if labels.dtype.kind != "f" and np.bitwise_or.reduce(labels) in (0, 1):  # 0 and 1 alone
        return labels
    lowest, highest = labels.min(), labels.max()
    if lowest == -1 and highest <= 1:
        bad = (labels != -1) & (labels != 1)
    else:
        bad = (labels != 0) & (labels != 1)
    if not bad.any():
        return labels > 0 if lowest == -1 else labels
    first = int(np.flatnonzero(bad)[0])
    value = labels[first].item()
    if value != value:  # noqa: PLR0124
        raise _missing_outcome(first, value)
    msg = f"y_true[{first}] is {value!r}; "
    if _looks_swapped(labels, scores):
        msg += (
            "y_prob holds only 0 and 1 and y_true fractions: the two arguments look swapped, "
            "the outcomes come first"
        )
    else:
        msg += "outcomes must be 0 and 1 (or -1 and 1, or any two values with pos_label)"
    raise InputError(msg)


def _looks_swapped(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> bool:
    fractions = bool(((labels >= 0) & (labels <= 1)).all())
    return fractions and bool(((scores == 0) | (scores == 1)).all())


def _refuse_text_labels(labels: np.ndarray[Any, Any]) -> None:
    missing = _first_missing(labels)
    if missing is not None:
        raise _missing_outcome(missing, labels[missing])
    words = sorted({_plain(word) for word in labels[:10_000]})
    shown = ", ".join(repr(word) for word in words[:3])
    msg = (
        f"y_true holds text ({shown}{', ...' if len(words) > 3 else ''}); "
        f"say which word is the event, e.g. pos_label={words[-1]!r}"
    )
    raise InputError(msg)


def _against_pos_label(labels: np.ndarray[Any, Any], pos_label: Any) -> np.ndarray[Any, Any]:
    """Mark the rows equal to ``pos_label``; the others must all share one other value."""
    if np.ndim(pos_label) or isinstance(pos_label, (set, frozenset, dict)):
        msg = f"pos_label must be one value; got {pos_label!r}"
        raise InputError(msg)
    missing = _first_missing(labels)
    if missing is not None:
        raise _missing_outcome(missing, labels[missing])
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
        if third.size and not positive.any():
            _pos_label_absent(labels, pos_label)
        if third.size:
            first = int(third[0])
            msg = (
                f"y_true[{first}] is {_plain(labels[first])!r}; outcomes must take two values, and "
                f"{_plain(negative)!r} and pos_label={pos_label!r} are two already"
            )
            raise InputError(msg)
    return positive


def _first_missing(labels: np.ndarray[Any, Any]) -> int | None:
    """Return the first row that has no outcome: None, NaN, pandas.NA."""
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind in "OT":
        # What is missing is not equal to itself, or not equal to anything in particular.
        missing = np.array([item is None or _is_true(item != item) for item in labels], bool)  # noqa: PLR0124
    else:
        return None
    return int(np.flatnonzero(missing)[0]) if missing.any() else None


def _is_true(answer: Any) -> bool:
    return bool(answer) if isinstance(answer, (bool, np.bool_)) else True


def _missing_outcome(index: int, value: Any) -> InputError:
    return InputError(
        f"y_true[{index}] is {_plain(value)!r}; a missing outcome cannot be assessed, "
        "and secant drops no rows"
    )


def _pos_label_absent(labels: np.ndarray[Any, Any], pos_label: Any) -> None:
    distinct = dict.fromkeys(_plain(item) for item in labels[:10_000])
    shown = ", ".join(repr(item) for item in list(distinct)[:3])
    more = ", ..." if len(distinct) > 3 else ""
    msg = f"pos_label={pos_label!r} does not occur in y_true, which holds {shown}{more}"
    raise InputError(msg)


def _shown(value: Any) -> str:
    """Return a value as users write it: 'a' rather than np.str_('a'), a date as a date."""
    return repr(_plain(value)) if isinstance(value, (str, bytes, np.number)) else str(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


# Weights ------------------------------------------------------------------------------------------


def _check_weights(
    value: Any, rows: int, kind: WeightKind
) -> tuple[np.ndarray[Any, Any], int, bool]:
    """Return the weights, the number of observations they make, and whether some are zero."""
    weights = _real_array("sample_weight", value, keep=(np.float32, np.float64))
    if weights.shape[0] != rows:
        msg = f"sample_weight must have one value a row; it has {weights.shape[0]:,}, not {rows:,}"
        raise InputError(msg)
    lowest, highest = float(weights.min()), float(weights.max())
    if not (lowest >= 0 and highest <= _LARGEST_WEIGHT):
        _refuse_weight(weights, ~((weights >= 0) & (weights <= _LARGEST_WEIGHT)))
    if highest == 0:
        msg = "sample_weight is zero in every row; there is nothing to assess"
        raise InputError(msg)
    if lowest < _SMALLEST_WEIGHT:
        tiny = (weights > 0) & (weights < _SMALLEST_WEIGHT)
        if tiny.any():
            _refuse_weight(weights, tiny)
    if kind == "frequency":
        return weights, _count_copies(weights), lowest == 0
    n = int(np.count_nonzero(weights)) if lowest == 0 else rows
    return weights, n, lowest == 0


def _refuse_weight(weights: np.ndarray[Any, Any], bad: np.ndarray[Any, Any]) -> None:
    first = int(np.flatnonzero(bad)[0])
    value = weights[first].item()
    msg = f"sample_weight[{first}] is {value!r}; "
    if 0 < value < np.inf:
        msg += (
            f"positive weights must lie between {_SMALLEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}: "
            "divide them by their mean, no result depends on their scale"
        )
    else:
        msg += "a weight must be a finite number, zero or positive"
    raise InputError(msg)


def _count_copies(weights: np.ndarray[Any, Any]) -> int:
    """Sum frequency weights, which must be whole numbers: they stand for copies of rows."""
    fractional = weights != np.floor(weights)
    if fractional.any():
        first = int(np.flatnonzero(fractional)[0])
        msg = (
            f"sample_weight[{first}] is {weights[first].item()!r}; frequency weights count copies "
            "of a row and must be whole numbers (weight_kind='sampling' takes any)"
        )
        raise InputError(msg)
    total = float(weights.sum(dtype=np.float64))
    if total > _LARGEST_COUNT:
        msg = f"sample_weight sums to {total:.3g} copies of rows; at most 2**53 can be counted"
        raise InputError(msg)
    return int(total)
