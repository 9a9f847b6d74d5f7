"""What users pass in on a device, checked there; a fault is told as it is told of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.extras import require
from secant._base.types import Forbidden
from secant._blocks.looking import ScoreSums
from secant._input.arraylike import device_of, one_value_a_row, wrong_shape
from secant._input.observations import check_lengths, numbered_as, observations
from secant._input.rules import (
    ALL_MISSING,
    COUNT,
    LARGEST_COUNT,
    NO_WEIGHT,
    are_scores,
    are_weights,
    ends,
)
from secant.errors import Argument, InputError, SecantError
from secant.sources.tensors.sorted import PIECE, sort_rows

if TYPE_CHECKING:
    from secant._input.observations import Observations
    from secant._input.options import Reading
    from secant.sources.tensors.sorted import SortedRows

__all__ = ["Columns", "TensorRows", "columns", "on_host"]


@dataclass(frozen=True)
class Columns:
    """Three tensors of one length on one device, of real numbers, their values not yet checked.

    ``kept`` and ``left_out`` are as those of :class:`Observations`.
    """

    labels: Any
    scores: Any
    weights: Any
    reading: Reading
    kept: np.ndarray[Any, np.dtype[np.int64]] | None = None
    left_out: int = 0

    @property
    def rows(self) -> int:
        """Length of the tensors."""
        return int(self.scores.shape[0])

    def refuse(self) -> Observations:
        """Raise what arrays of the same values raise; return them as arrays if nothing does."""
        labels, scores, weights = map(on_host, (self.labels, self.scores, self.weights))
        with numbered_as(self.kept):
            seen = observations(labels, scores, weights, self.reading)
        return replace(seen, kept=self.kept, left_out=self.left_out)

    def complete(self) -> Columns:
        """Return the rows that have a score and an outcome, where others are to be left out."""
        if not self.reading.drops:
            return self
        without = self.scores.isnan() | self.labels.isnan()
        if not without.any():
            return self
        if without.all():
            raise InputError(ALL_MISSING)
        kept = (~without).nonzero().ravel()
        labels, scores = self.labels[kept], self.scores[kept]
        weights = None if self.weights is None else self.weights[kept]
        left_out = self.rows - kept.shape[0]
        return Columns(labels, scores, weights, self.reading, kept.cpu().numpy(), left_out)

    def bytes_of_labels(self) -> Any:
        """Return labels as bytes, 0 and 1 unless they were bytes already.

        Raises
        ------
        InputError
            As :meth:`checked`.
        """
        torch = require("torch", "torch", "tensors need")
        if self.labels.dtype == torch.uint8 and self.reading.pos_label is None:
            return self.labels.contiguous()
        happened = _happened(torch, self.labels, self.reading.pos_label)
        if happened is None:
            self.refuse()
        return happened

    def checked(self) -> TensorRows:
        """Return the rows of positive weight, all of whose values are usable.

        Raises
        ------
        InputError
            As arrays of the same values would.
        """
        torch = require("torch", "torch", "tensors need")
        scores, weights, counted = self.scores, self.weights, self.reading.counts
        happened = _happened(torch, self.labels, self.reading.pos_label)
        if happened is None or not are_scores(*ends(scores)):
            self.refuse()
        if weights is not None and not _usable(weights, counted=counted):
            self.refuse()
        if weights is not None and not _all(weights > 0):
            counts = weights > 0
            if not counts.any():
                raise InputError(NO_WEIGHT)
            scores, happened, weights = scores[counts], happened[counts], weights[counts]
        return TensorRows(self, scores, happened, weights)


@dataclass(frozen=True)
class TensorRows:
    """Checked rows of positive weight: float32 or float64 scores, labels 0 and 1 in bytes."""

    columns: Columns
    scores: Any
    labels: Any
    weights: Any

    @property
    def counted(self) -> bool:
        """Whether weights count copies of rows."""
        return self.columns.reading.counts

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weights is not None and not self.counted

    @property
    def outcome_weights(self) -> tuple[float, float] | None:
        """What the outcomes 0 and 1 weigh, on top of the weights of rows."""
        return self.columns.reading.outcome_weights

    @property
    def forbidden_copies(self) -> int:
        """Number of observations in the forbidden rows."""
        if self.weights is None or self.sampling:
            return self.refused.count
        return int(self.columns.weights[list(self.refused.rows)].sum())

    def in_order(self) -> SortedRows:
        """Return the rows in the order of their scores."""
        return sort_rows(
            self.scores,
            self.labels,
            self.weights,
            counted=self.counted,
            outcome_weights=self.outcome_weights,
        )

    def score_sums(self) -> ScoreSums:
        """Return the sums of w|r - s| and of w times the log loss."""
        parts = []
        o0, o1 = self.outcome_weights or (1.0, 1.0)
        for start in range(0, self.scores.shape[0], PIECE):
            piece = slice(start, start + PIECE)
            scores, labels = self.scores[piece].double(), self.labels[piece].double()
            weights = o0 + (o1 - o0) * labels
            if self.weights is not None:
                weights = weights * self.weights[piece]
            log_loss = (-scores.log()).where(labels == 1, -(-scores).log1p())
            columns = ((labels - scores).abs(), log_loss)
            parts.append([float((weights * column).sum()) for column in columns])
        return ScoreSums(*map(math.fsum, zip(*parts, strict=True)))

    @cached_property
    def refused(self) -> Forbidden:
        """The rows whose score rules out what happened, numbered as the user has them."""
        given = self.columns
        wrong = ((self.scores == 0) & (self.labels == 1)) | (
            (self.scores == 1) & (self.labels == 0)
        )
        rows = wrong.nonzero().ravel()
        if rows.shape[0] and self.scores.shape[0] < given.rows:
            rows = (given.weights > 0).nonzero().ravel()[rows]
        numbers = rows.tolist() if given.kept is None else given.kept[rows.tolist()].tolist()
        return Forbidden(len(numbers), tuple(numbers))


def columns(y_true: Any, y_prob: Any, sample_weight: Any, reading: Reading) -> Columns:
    """Return what the user passed as tensors on one device.

    Raises
    ------
    InputError
        If they are not on one device, not of one length, or not of real numbers.
    """
    torch = require("torch", "torch", "arrays that lie on a device need")
    passed = {"y_true": y_true, "y_prob": y_prob, "sample_weight": sample_weight}
    given = {argument: value for argument, value in passed.items() if value is not None}
    _check_one_device(given)
    read = {argument: _tensor(torch, argument, value) for argument, value in given.items()}
    check_lengths(read["y_true"], read["y_prob"])
    weights = read.get("sample_weight")
    if weights is not None and weights.shape != read["y_prob"].shape:
        raise one_value_a_row("sample_weight", weights.shape[0], read["y_prob"].shape[0])
    return Columns(
        read["y_true"],
        _real(torch, "y_prob", read["y_prob"]),
        None if weights is None else _real(torch, "sample_weight", weights),
        reading,
    ).complete()


def on_host(tensor: Any) -> np.ndarray[Any, Any] | None:
    """Return a tensor as an array in the host's memory, its values exactly."""
    if tensor is None:
        return None
    tensor = tensor.detach()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    array: np.ndarray[Any, Any] = tensor.cpu().numpy()
    return array


def _check_one_device(given: dict[str, Any]) -> None:
    places = {argument: device_of(value) or "cpu" for argument, value in given.items()}
    (first, place), *others = places.items()
    for other, elsewhere in others:
        if elsewhere != place:
            raise InputError(
                Argument(first),
                f" is on {place} and ",
                Argument(other),
                f" on {elsewhere}; put them on one device",
                hint=" (to have one in memory, pass it as .cpu())",
            )


def _tensor(torch: Any, argument: str, value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        try:
            value = torch.from_dlpack(value)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            unread = f" cannot be read as a tensor: {error}"
            raise InputError(Argument(argument), unread) from error
    if value.device.type == "meta" or value.layout is not torch.strided or value.is_quantized:
        raise InputError(Argument(argument), " must be a dense tensor that holds its values")
    if value.ndim != 1:
        raise wrong_shape(argument, tuple(value.shape), "Tensor")
    return value.detach()


def _real(torch: Any, argument: str, tensor: Any) -> Any:
    """Return a tensor of real numbers as float32 or float64, each value exactly."""
    if tensor.dtype in {torch.float32, torch.float64}:
        return tensor.contiguous()
    if tensor.is_floating_point():
        return tensor.float()
    if tensor.is_complex():
        must = f" must hold real numbers; got values of type {tensor.dtype}"
        raise InputError(Argument(argument), must)
    return tensor.double()


def _all(*conditions: Any) -> bool:
    return all(bool(condition.all()) for condition in conditions)


def _happened(torch: Any, labels: Any, pos_label: Any) -> Any:
    """Return labels as bytes 0 and 1, or None where they keep to no code."""
    if pos_label is not None:
        if not isinstance(pos_label, (bool, int, float, np.bool_, np.number)):
            return None
        positive = labels == pos_label
        others = labels[~positive]
        alike = not others.shape[0] or _all(others == others[0])
        return positive.view(torch.uint8) if alike else None
    if labels.dtype == torch.bool:
        return labels.contiguous().view(torch.uint8)
    if labels.is_complex():
        return None
    minus = labels == -1
    if bool(minus.any()):
        return (labels > 0).view(torch.uint8) if _all(minus | (labels == 1)) else None
    return labels.to(torch.uint8).contiguous() if _all((labels == 0) | (labels == 1)) else None


def _usable(weights: Any, *, counted: bool) -> bool:
    """Tell whether weights are what they must be; whole numbers where they count copies."""
    if not are_weights(weights, *ends(weights)):
        return False
    if not counted:
        return True
    return not COUNT.broken(weights).any() and float(weights.double().sum()) <= LARGEST_COUNT


class Unchanged:
    """Remembers how often tensors have been written to, where they count that."""

    def __init__(self, given: Columns) -> None:
        self._tensors = [
            each for each in (given.labels, given.scores, given.weights) if each is not None
        ]
        self._versions = self._now()

    def recheck(self) -> None:
        """Raise SecantError if a tensor has been written to."""
        if self._now() != self._versions:
            msg = "the tensors were changed after they were assessed: assess them again"
            raise SecantError(msg)

    def _now(self) -> list[int]:
        # A tensor made in inference mode does not count.
        return [0 if each.is_inference() else each._version for each in self._tensors]  # noqa: SLF001
