"""Running sums per cell of rows with weights in whole numbers, filled by compiled passes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from secant._blocks import kernels
from secant._blocks.fixed_sums import FixedSums, Weights
from secant._blocks.kernels import (
    COPIES,
    FRACTIONS,
    HALF_BITS,
    HEAVIEST,
    LIGHTEST,
    NEGATIVE,
    SUM_BITS,
    WEIGHED,
    WEIGHED_SUMS,
    ZEROS,
)
from secant._blocks.table import FIXED_BITS, Fixed, Totals, from_sums, largest_steps
from secant._input.rules import LARGEST_WEIGHT, SMALLEST_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from secant._base.types import FloatArray
    from secant._blocks.table import Blocks
    from secant._input.observations import Chunk

__all__ = ["CopiedSums", "WeighedSums", "surveyed"]

# A sum to which each row adds fewer units than this, on average, is left to doubles; and so are
# weights half of which are this much lighter than the heaviest, where that is bound to happen.
_FEWEST_UNITS = 1 << 40
_LIGHT = 2.0**-30
# Rows whose upper halves a word holds; weights are scaled down further where there are more.
_ROWS_BITS = 26
# Copies of rows whose sums two halves of a whole number hold.
_MOST_COPIES = 1 << 36
# Weights that tell what is usual.
_SOME = 1 << 10
_LOW = (1 << FIXED_BITS) - 1
_HALF = (1 << HALF_BITS) - 1
# How often the weight is a factor of each sum.
_POWERS = {"third": 3, "squared_error": 1}


def surveyed(weights: np.ndarray[Any, Any]) -> Weights | None:
    """Look at weights with compiled code; None where something is wrong with them."""
    rows = weights.shape[0]
    survey = kernels.compiled(kernels.survey_weights, kernels.kind_of(weights))
    most = kernels.threads()
    facts = [kernels.no_weight_facts() for _ in range(most)]

    def work(number: int, chunks: Iterator[slice]) -> None:
        for chunk in chunks:
            survey(weights[chunk], facts[number])

    kernels.share_out(rows, work, most)
    every = np.array(facts)
    lightest = float(every[:, LIGHTEST].min().view(np.float64))
    heaviest = float(every[:, HEAVIEST].max().view(np.float64))
    if every[:, NEGATIVE].any() or not 0 < heaviest <= LARGEST_WEIGHT:
        return None
    if lightest < SMALLEST_WEIGHT:
        return None
    countable = not every[:, FRACTIONS].any() and heaviest * rows <= _MOST_COPIES << 20
    copies = int(every[:, COPIES].sum()) if countable else None
    if copies is not None and copies > _MOST_COPIES:
        copies = None
    some = weights[:: -(-rows // _SOME)]
    some = some[some > 0]
    usual = float(np.median(some)) if some.size else heaviest
    return Weights(usual, heaviest, int(every[:, ZEROS].sum()), copies)


class CopiedSums(FixedSums):
    """Sums per cell over counted copies of rows: those of the rows repeated, bit for bit.

    There are at most 2^36 copies in all.
    """

    _words = 3

    @staticmethod
    def suit_weights(weights: Weights) -> bool:
        """Tell whether weights are counts, and few enough."""
        return weights.copies is not None

    @property
    def n(self) -> int:
        """How many observations there are."""
        self._fold()
        return int(self._count.sum())

    @property
    def suffice(self) -> bool:
        """Whether units are fine enough for these scores, and copies few enough for words."""
        return super().suffice and self.n <= _MOST_COPIES

    def _fold(self) -> None:
        if not self._since:
            return
        count, high, low = np.ascontiguousarray(self._open.sum(axis=0).T)
        start = np.repeat(self._start, 2)
        self._count += count
        self._fixed.high[:] += high - count * (start >> FIXED_BITS)
        self._fixed.low[:] += low - count * (start & _LOW)
        self._open = np.zeros_like(self._open[:0])
        self._since = 0


class WeighedSums(FixedSums):
    """Sums per cell over observations with sampling weights.

    The heaviest weight so far decides what is a unit. Where it is known beforehand, sums are the
    same in any order of rows.
    """

    _words = 5

    @staticmethod
    def suit_weights(weights: Weights) -> bool:
        """Tell whether units look fine enough for most weights beside the heaviest."""
        return weights.usual >= _LIGHT * weights.heaviest

    def __init__(
        self,
        sample: FloatArray,
        rows: int,
        n_cells: int,
        *,
        log_loss: bool = False,
        weights: Weights | None = None,
    ) -> None:
        self._exponent, self._is_scaled = 0, False
        self._room = max(rows.bit_length() - _ROWS_BITS, 0)
        super().__init__(sample, rows, n_cells, log_loss=log_loss, weights=weights)
        self._fold_at = 1 << _ROWS_BITS
        if weights is not None:
            self._make_room(weights)

    def clear(self) -> None:
        """Begin anew, with nothing added up."""
        super().clear()
        self._sums = dict.fromkeys(WEIGHED_SUMS, 0)
        self._words_of = np.zeros(self._open.shape[1:], np.int64)
        self._steps: list[FloatArray] = []

    def join(self, other: Self) -> None:
        """Add what another thread has added up."""
        if not other._is_scaled:  # it has seen no row
            return
        other._fold()
        self._reach(other._exponent)
        other._reach(self._exponent)
        self._words_of += other._words_of
        for name, units in other._sums.items():
            self._sums[name] += units
        self._steps += other._steps
        super().join(other)

    def _make_room(self, weights: Weights) -> None:
        """Make room for weights."""
        self._reach(math.frexp(weights.heaviest)[1] + self._room)

    def _reach(self, exponent: int) -> None:
        """Make units that suit weights below a power of two, if they are not coarser already."""
        if self._is_scaled and exponent > self._exponent:
            self._coarsen(exponent - self._exponent)
        if not self._is_scaled or exponent > self._exponent:
            self._exponent, self._is_scaled = exponent, True

    def add_unchecked(self, chunk: Chunk) -> bool:
        """Add some observations; False if any so far could not be used, nor what was added."""
        if not chunk.scores.size:
            return True
        assert chunk.weights is not None  # noqa: S101
        weights = surveyed(chunk.weights)
        if weights is None:
            return False
        self._make_room(weights)
        return super().add_unchecked(chunk)

    @property
    def _unit(self) -> float:
        """What brings weights below 1."""
        return 2.0**-self._exponent

    @property
    def _scale(self) -> FloatArray:
        return np.array([self._unit])

    def _keep(self, steps: FloatArray) -> None:
        self._steps += list(steps)

    def _fold(self) -> None:
        """Move open sums to where they cannot overflow."""
        if not self._since:
            return
        self._words_of += self._open.sum(axis=0)
        for upper, lower in ((1, 2), (3, 4)):
            self._words_of[:, upper] += self._words_of[:, lower] >> HALF_BITS
            self._words_of[:, lower] &= _HALF
        for name, three in zip(
            WEIGHED_SUMS, self.facts[WEIGHED:].reshape(-1, 3).tolist(), strict=True
        ):
            upper, lower, rest = three
            units = (upper << 26) + lower
            self._sums[name] += (units << (SUM_BITS - 52)) + rest
        self.facts[WEIGHED:] = 0
        self._steps = [np.array(largest_steps(*self._steps)[::-1])]
        self._open = np.zeros_like(self._open[:0])
        self._since = 0

    def _coarsen(self, bits: int) -> None:
        """Bring sums to units that are larger by a power of two."""
        self._fold()
        for name in WEIGHED_SUMS:
            self._sums[name] >>= bits * _POWERS.get(name, 2)
        self._steps = [steps * 2.0**-bits for steps in self._steps]
        words = self._words_of
        while bits > 0:
            step = min(bits, HALF_BITS)
            for upper, lower in ((1, 2), (3, 4)):
                words[:, lower] += (words[:, upper] & ((1 << step) - 1)) << HALF_BITS
                words[:, lower] >>= step
                words[:, upper] >>= step
            bits -= step

    @property
    def suffice(self) -> bool:
        """Whether units are fine enough for these weights and scores."""
        self._fold()
        n, upper = self._words_of.reshape(-1, 2, self._words)[:, :, :2].sum(axis=1).T
        if (upper < n * (_FEWEST_UNITS >> HALF_BITS)).any():
            return False
        fewest = self.n * _FEWEST_UNITS
        sums = {name: units for name, units in self._sums.items() if name != "ww1" or units}
        return all(units >= fewest for units in sums.values())

    @property
    def n(self) -> int:
        """How many observations there are."""
        self._fold()
        return int(self._words_of[:, 0].sum())

    def blocks(self) -> Blocks:
        """Return the non-empty cells as blocks."""
        self._fold()
        sums = self._words_of.reshape(-1, 2, self._words)
        filled = np.flatnonzero(sums[:, 0, 0] + sums[:, 1, 0])
        sums = sums[filled]
        (n0, h0, l0, p0, q0), (n1, h1, l1, p1, q1) = np.ascontiguousarray(sums.transpose(1, 2, 0))
        scale = self._unit
        up = Fixed(h1 - p1, l1 - q1, scale)
        return from_sums(
            *self._ends(filled),
            (n0, n1),
            (Fixed(p0, q0, scale).rounded(), np.maximum(up.rounded(), 0)),
            weights=(Fixed(h0, l0, scale).rounded(), Fixed(h1, l1, scale).rounded()),
            fixed=Fixed(up.high - p0, up.low - q0, scale),
        )

    def totals(self) -> Totals:
        """Return the sums over everything, each rounded once."""
        self._fold()
        n, upper, lower = (int(self._words_of[:, word].sum()) for word in range(3))
        steps = largest_steps(*self._steps)[:n]
        weight = math.ldexp(float((upper << HALF_BITS) + lower), self._exponent - 2 * HALF_BITS)
        sums: dict[str, Any] = {
            name: math.ldexp(float(units), self._exponent * _POWERS.get(name, 2) - SUM_BITS)
            for name, units in self._sums.items()
        }
        return Totals(
            n=n,
            weight=weight,
            **sums,
            log_loss=None if self._log_loss is None else math.fsum(self._log_loss),
            steps=tuple(math.ldexp(step, self._exponent) for step in steps),
        )

    @property
    def variance(self) -> float:
        """Sum of w^2 s(1 - s)."""
        return self.totals().variance
