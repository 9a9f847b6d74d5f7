"""The only code that sees what users pass in: it checks once and says what is wrong, and where.

Everything behind this module may rely on an :class:`Observations`: two arrays of one length, scores
in [0, 1], labels 0 or 1, weights positive or absent. The caller's arrays are never written to and,
where their type allows, never copied.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base.types import Forbidden
from secant._input.arraylike import of_rows, one_dimensional, real_array, without_mask
from secant._input.keys import group_order
from secant._input.labels import are_missing, binary
from secant._input.options import AS_USUAL
from secant._input.rules import (
    ALL_MISSING,
    NO_WEIGHT,
    check_weights,
    copies,
    forbidden_rows,
    score_range,
)
from secant.errors import Argument, InputError, SecantError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray
    from secant._input.axis import Axis
    from secant._input.options import Reading

__all__ = [
    "Chunk",
    "Observations",
    "aligned",
    "as_observations",
    "check_alignment",
    "check_lengths",
    "join",
    "numbered_as",
    "observations",
    "pick",
    "seen_before",
    "split",
    "weights_of",
]


class Chunk(NamedTuple):
    """Some rows: contiguous float64 scores, 0/1 or booleans, float64 weights, and whose they are.

    Attributes
    ----------
    group
        The number of each row's group, or of its level in each of several features.
    cluster
        The number of each row's cluster.
    place
        Each row's place along another order than that of scores.
    """

    scores: FloatArray
    labels: np.ndarray[Any, Any]
    weights: FloatArray | None = None
    group: IntArray | None = None
    cluster: IntArray | None = None
    place: NumberArray | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """Checked predictions in memory, still in the caller's arrays.

    Attributes
    ----------
    labels, scores, weights
        One-dimensional arrays of one length; ``weights`` is None when every row counts once.
    counted
        Whether weights count copies of rows.
    n
        Number of observations: rows of positive weight, or the sum of frequency weights.
    lowest, highest
        The smallest and the largest score.
    forbidden
        Rows of positive weight whose score rules out what happened (0 and yes, 1 and no).
    outcome_weights
        What the outcomes 0 and 1 weigh, on top of ``weights``; None where they weigh the same.
    clusters
        The number of each row's cluster; None where rows are independent.
    keys, axis
        Each row's place along another order than that of scores, and what it means; None where
        there is no other.
    kept, left_out
        Which of the rows that were passed these are, and how many lacked a score or an outcome;
        None and 0 where these are all.
    """

    labels: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any] | None
    counted: bool
    n: int
    lowest: float
    highest: float
    forbidden: tuple[int, ...]
    has_zero_weights: bool
    outcome_weights: tuple[float, float] | None = None
    clusters: IntArray | None = None
    keys: NumberArray | None = None
    axis: Axis | None = None
    kept: IntArray | None = None
    left_out: int = 0

    @property
    def rows(self) -> int:
        """Length of the arrays, rows of weight zero included."""
        return int(self.scores.shape[0])

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weights is not None and not self.counted

    @property
    def refused(self) -> Forbidden:
        """The forbidden rows, numbered as they were passed, and their number."""
        rows = self.forbidden
        if self.kept is not None:
            rows = tuple(self.kept[list(rows)].tolist())
        return Forbidden(len(rows), rows)

    def of_rows(self, argument: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the values of these rows in a column that has one for each row passed."""
        return of_rows(argument, values, self.rows + self.left_out, self.kept)

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
            binary(self.labels, self.scores, None)
            same = score_range(self.scores) == (self.lowest, self.highest)
            if self.weights is not None:
                n, zeros = _check_weights(self.weights, counted=self.counted)
                same &= (n, zeros) == (self.n, self.has_zero_weights)
        except InputError as error:
            msg = f"the arrays were changed after they were assessed: {error}"
            raise SecantError(msg) from error
        if not same:
            msg = "the arrays were changed after they were assessed: assess them again"
            raise SecantError(msg)

    def sample(self, size: int) -> FloatArray:
        """Return about so many of the scores, from everywhere, in ascending order."""
        return np.sort(self.scores[:: -(-self.rows // size)].astype(np.float64) + 0.0)

    def chunks(self, size: int, *, clusters: bool = False) -> Generator[Chunk]:
        """Walk over the rows in pieces small enough to stay in cache, skipping weight zero.

        Their clusters come along if asked for, and their places where there are any. The arrays
        handed out are views of the input or of a buffer that is used again for the next piece: read
        them, do not keep them.
        """
        size = min(size, self.rows)
        score_buffer = np.empty(size)
        label_buffer = np.empty(size, np.int64)
        whole = np.can_cast(self.labels.dtype, np.int64)  # can be added as they are
        weight_buffer = np.empty(size)
        for start in range(0, self.rows, size):
            piece = slice(start, start + size)
            scores = _native(self.scores[piece], score_buffer)
            labels = self.labels[piece]
            if not whole:
                labels = _native(labels, label_buffer)
            weights = None if self.weights is None else _native(self.weights[piece], weight_buffer)
            cluster = self.clusters[piece] if clusters and self.clusters is not None else None
            place = None if self.keys is None else self.keys[piece]
            chunk = Chunk(scores, labels, weights, cluster=cluster, place=place)
            if self.has_zero_weights and weights is not None:
                chunk = pick(chunk, weights > 0)
            yield chunk


def pick(chunk: Chunk, index: IntArray | BoolArray | slice) -> Chunk:
    """Return the rows at an index, mask or slice."""
    columns: list[Any] = [None if column is None else column[index] for column in chunk]
    return Chunk(*columns)


def join(chunks: list[Chunk]) -> Chunk:
    """Put chunks one after the other."""
    if len(chunks) == 1:
        return chunks[0]
    columns: list[Any] = [
        None if column[0] is None else np.concatenate(column)
        for column in zip(*chunks, strict=True)
    ]
    return Chunk(*columns)


def observations(
    y_true: Any, y_prob: Any, sample_weight: Any = None, reading: Reading = AS_USUAL
) -> Observations:
    """Check what the user passed and stand it in one shape.

    Raises
    ------
    InputError
        Naming the argument, the offending value and its index.
    """
    labels, scores = aligned(y_true, y_prob, sample_weight, drops=reading.drops)
    weights = None if sample_weight is None else weights_of(sample_weight, scores.shape[0])
    kept = _complete(labels, scores) if reading.drops else None
    if kept is None:
        return _checked(labels, scores, weights, reading)
    weights = None if weights is None else weights[kept]
    with numbered_as(kept):
        seen = _checked(labels[kept], scores[kept], weights, reading)
    return replace(seen, kept=kept, left_out=scores.shape[0] - kept.shape[0])


def _complete(labels: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> IntArray | None:
    """Return the rows that have a score and an outcome; None where all have."""
    without = np.isnan(scores) | are_missing(labels)
    if not without.any():
        return None
    if without.all():
        raise InputError(ALL_MISSING)
    return np.flatnonzero(~without)


@contextmanager
def numbered_as(kept: IntArray | None) -> Iterator[None]:
    """Give rows in errors the numbers that they had among all that were passed."""
    try:
        yield
    except InputError as error:
        if kept is None or error.row is None:
            raise
        raise error.but(row=int(kept[error.row])) from error


def _checked(
    raw_labels: np.ndarray[Any, Any],
    scores: np.ndarray[Any, Any],
    weights: np.ndarray[Any, Any] | None,
    reading: Reading,
) -> Observations:
    labels = binary(raw_labels, scores, reading.pos_label)
    lowest, highest = score_range(scores)
    n, zeros = scores.shape[0], False
    if weights is not None:
        n, zeros = _check_weights(weights, counted=reading.counts)
    forbidden: tuple[int, ...] = ()
    if lowest == 0 or highest == 1:
        forbidden = forbidden_rows(labels, scores, weights)
    return Observations(
        labels,
        scores,
        weights,
        counted=reading.counts,
        n=n,
        lowest=lowest,
        highest=highest,
        forbidden=forbidden,
        has_zero_weights=zeros,
        outcome_weights=reading.outcome_weights,
    )


def aligned(
    y_true: Any, y_prob: Any, sample_weight: Any = None, *, drops: bool = False
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return outcomes and scores as arrays of one length; what they hold is not checked yet.

    ``drops`` says that rows without either are going to be left out.

    Raises
    ------
    InputError
        As :func:`observations`.
    """
    if drops:
        y_true, y_prob = without_mask(y_true), without_mask(y_prob)
    scores = real_array("y_prob", y_prob, keep=(np.float32, np.float64), drops=drops)
    labels = one_dimensional("y_true", y_true)
    check_lengths(labels, scores)
    check_alignment(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    return labels, scores


def seen_before(
    labels: np.ndarray[Any, Any],
    scores: np.ndarray[Any, Any],
    weights: np.ndarray[Any, Any] | None,
    extent: tuple[float, float],
    *,
    counted: bool,
    n: int,
    zeros: bool,
    refused: bool,
) -> Observations:
    """Return rows that were checked already, between ``extent``.

    ``refused`` tells whether some have a score that rules out what happened, ``zeros`` whether some
    have no weight.
    """
    return Observations(
        labels,
        scores,
        weights,
        counted=counted,
        n=n,
        lowest=extent[0],
        highest=extent[1],
        forbidden=forbidden_rows(labels, scores, weights) if refused else (),
        has_zero_weights=zeros,
    )


def as_observations(
    rows: Chunk,
    reading: Reading,
    extent: tuple[float, float] | None = None,
    *,
    axis: Axis | None = None,
    left_out: int = 0,
) -> Observations:
    """Return rows of positive weight that were checked as they came.

    Parameters
    ----------
    rows
        The rows, with their clusters and places if they have any.
    reading
        How they were read.
    extent
        The smallest and the largest score, where these are known.
    axis, left_out
        As of observations.
    """
    scores, labels, weights, _, clusters, keys = rows
    n = scores.shape[0]
    if weights is not None and reading.counts:
        n = int(sum(float(part.sum()) for part in np.array_split(weights, 64)))
    lowest, highest = extent or (float(scores.min()), float(scores.max()))
    return Observations(
        labels,
        scores,
        weights,
        counted=reading.counts,
        n=n,
        lowest=lowest,
        highest=highest,
        forbidden=(),
        has_zero_weights=False,
        outcome_weights=reading.outcome_weights,
        clusters=clusters,
        keys=keys,
        axis=axis,
        left_out=left_out,
    )


def split(seen: Observations, codes: IntArray, n_groups: int) -> list[Observations | None]:
    """Return the observations of each group; None for a group without weight.

    Rows are put in the order of their groups once, so that every group is a slice.
    """
    in_order = bool((codes[1:] >= codes[:-1]).all())
    order: Any = slice(None) if in_order else group_order(codes)
    edges = np.append(0, np.cumsum(np.bincount(codes, minlength=n_groups)))
    labels, scores = seen.labels[order], seen.scores[order]
    weights = None if seen.weights is None else seen.weights[order]
    clusters = None if seen.clusters is None else seen.clusters[order]
    keys = None if seen.keys is None else seen.keys[order]
    refused: dict[int, list[int]] = {}
    for row, number in zip(seen.forbidden, seen.refused.rows, strict=True):
        refused.setdefault(int(codes[row]), []).append(number)
    lowest = np.minimum.reduceat(scores, edges[:-1]).tolist()
    highest = np.maximum.reduceat(scores, edges[:-1]).tolist()
    bounds = edges.tolist()

    def one(number: int) -> Observations | None:
        piece = slice(bounds[number], bounds[number + 1])
        group = replace(
            seen,
            labels=labels[piece],
            scores=scores[piece],
            weights=None if weights is None else weights[piece],
            n=piece.stop - piece.start,
            lowest=lowest[number],
            highest=highest[number],
            forbidden=tuple(refused.get(number, ())),
            clusters=None if clusters is None else clusters[piece],
            keys=None if keys is None else keys[piece],
            kept=None,
            left_out=0,
        )
        if group.weights is not None:
            if not group.weights.any():
                return None
            positive = int(np.count_nonzero(group.weights))
            n = positive if seen.sampling else int(group.weights.sum(dtype=np.float64))
            group = replace(group, n=n, has_zero_weights=positive < group.rows)
        return group

    return [one(number) for number in range(n_groups)]


def check_alignment(*several: tuple[str, Any], **columns: Any) -> None:
    """Refuse pandas objects whose indexes say that their rows do not belong together.

    An index that counts from 0 says nothing: predictions of a model have it, whatever rows they
    are for. Columns of an argument that has several come as pairs of its name and each of them.
    """
    known: list[tuple[str, Any]] = []
    for name, column in (*columns.items(), *several):
        index = getattr(column, "index", None)
        # Columns of one frame share their index, and may be many.
        if hasattr(index, "equals") and not any(index is other for _, other in known):
            known.append((name, index))
    for (first_name, first), (name, index) in itertools.combinations(known, 2):
        if index.equals(first):
            continue
        if _reordered(index, first):
            differ = "the same index in different orders"
        elif _counts(index) or _counts(first):
            continue
        else:
            differ = "different indexes"
        raise InputError(
            Argument(first_name),
            " and ",
            Argument(name),
            f" have {differ}, so their rows may not belong together",
            hint="; put them in one order, or pass .to_numpy() if they do",
        )


def _reordered(index: Any, other: Any) -> bool:
    if index.dtype != other.dtype:
        return False
    try:
        return bool(index.sort_values().equals(other.sort_values()))
    except TypeError:  # labels that cannot be compared
        return False


def _counts(index: Any) -> bool:
    """Tell whether an index numbers its rows from 0."""
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


# Arrays -------------------------------------------------------------------------------------------


def _native(piece: np.ndarray[Any, Any], buffer: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the piece itself if it has the buffer's type and is contiguous, else a copy."""
    if piece.dtype == buffer.dtype and piece.flags.c_contiguous:
        return piece
    copy = buffer[: piece.shape[0]]
    np.copyto(copy, piece, casting="unsafe")
    return copy


def check_lengths(labels: Any, scores: Any) -> None:
    """Refuse arrays or tensors that have several lengths, or nothing in them."""
    y_true, y_prob = Argument("y_true"), Argument("y_prob")
    both = y_true, " and ", y_prob
    if labels.shape[0] != scores.shape[0]:
        raise InputError(
            *both,
            " must have one length; ",
            y_true,
            f" has {labels.shape[0]:,} values, ",
            y_prob,
            f" {scores.shape[0]:,}",
        )
    if not labels.shape[0]:
        raise InputError(*both, " are empty; there is nothing to assess")


# Weights ------------------------------------------------------------------------------------------


def weights_of(value: Any, rows: int) -> np.ndarray[Any, Any]:
    """Return weights as an array with one for each row; what they hold is not checked yet."""
    weights = real_array("sample_weight", value, keep=(np.float32, np.float64))
    return of_rows("sample_weight", weights, rows)


def _check_weights(weights: np.ndarray[Any, Any], *, counted: bool) -> tuple[int, bool]:
    """Return the number of observations that weights make, and whether some are zero."""
    lowest, highest = check_weights(weights)
    if highest == 0:
        raise InputError(NO_WEIGHT)
    if counted:
        return copies(weights), lowest == 0
    return int(np.count_nonzero(weights)) if lowest == 0 else weights.shape[0], lowest == 0
