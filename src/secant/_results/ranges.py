"""Ranges of scores, or of another axis: which predictions lie in one, and its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from secant import null
from secant._blocks.looking import resolve
from secant._inference.limits import half_width, range_limits
from secant._results.parts import Interval
from secant.errors import InputError

if TYPE_CHECKING:
    from secant._base.types import BoolArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks, Totals
    from secant._inference.clusters import Flips
    from secant._input.axis import Axis
    from secant._results.parts import Kind

__all__ = ["Ranges"]

# A range beyond which lies no more than this share of all weight ends where the scores end.
_NEXT_TO_NOTHING = 0.01


@dataclass(frozen=True, slots=True)
class Ranges:
    """What there is to know about ranges of some predictions, beside the blocks in them."""

    totals: Totals
    confidence_level: float
    flips: Flips | None
    axis: Axis | None
    every: Blocks

    def half_width(self, share: float) -> float:
        """Return the half-width of simultaneous limits for a range with this share of weight."""
        return half_width(null.range, self.totals, 1 - self.confidence_level, self.flips) / share

    def of(self, blocks: Blocks, *, fixed_in_advance: bool = False) -> Interval:
        """Describe consecutive blocks, of which there is one at least."""
        weight = float(blocks.weight.sum())
        share = weight / self.totals.weight
        gap = float(blocks.gain.sum()) / weight
        mean_score = min(max(float(blocks.scored.sum()) / weight, 0.0), 1.0)
        method: Kind = "simultaneous"
        if fixed_in_advance and not self.totals.equal_weights:
            limits = range_limits(blocks, self.totals, self.confidence_level)
            method = "normal"
        elif fixed_in_advance:
            low, high = _binomial_limits(blocks, self.confidence_level)
            limits = low - mean_score, high - mean_score
            method = "clopper-pearson"
        else:
            half = self.half_width(share)
            # The truth lies between nothing and everything happening, whatever the noise.
            limits = max(gap - half, -mean_score), min(gap + half, 1 - mean_score)
        return Interval(
            low=self._value(blocks.low[0]),
            high=self._value(blocks.high[-1]),
            n=int(blocks.n.sum()),
            weight=share,
            mean_score=mean_score,
            mean_response=float(blocks.w1.sum()) / weight,
            miscalibration=gap,
            ci=limits,
            limits=method,
            _axis=self.axis,
            _last=self._is_last(blocks.high[-1]),
        )

    def _is_last(self, high: Any) -> bool:
        """Tell whether next to nothing lies above a score."""
        above = self.every.weight[self.every.low > high] if self.axis is None and high < 1 else []
        return float(np.sum(above)) <= _NEXT_TO_NOTHING * self.totals.weight

    def nothing(self, low: Any, high: Any) -> Interval:
        """Describe a range between two values that holds no prediction."""
        ends = [float(end) if self.axis is None else self.axis.exact(end) for end in (low, high)]
        unknown = (math.nan, math.nan)
        numbers = (0, 0.0, math.nan, math.nan, math.nan, unknown)
        return Interval(ends[0], ends[1], *numbers, _axis=self.axis)

    def keys(self, a: Any, b: Any, kind: np.dtype[Any]) -> tuple[Any, Any]:
        """Return the first and the last key, of this type, between two values, both included."""
        if self.axis is None:
            if not (isinstance(a, Real) and isinstance(b, Real) and a <= b):
                raise _descending("numbers", a, b)
            low, high = float(a), float(b)
            if high < 0 or low > 1:
                needs = f"between(a, b) needs scores, from 0 to 1; got a={low:g}, b={high:g}"
                percent = f" (percentages? between({low / 100:g}, {high / 100:g}))"
                raise InputError(needs, hint=percent if 1 < low <= high <= 100 else "")
            return low, high
        low, high = self.axis.key(a), self.axis.key(b)
        if low > high:
            raise _descending("values", a, b)
        if kind.kind == "f":
            return float(low), float(high)
        # Whole keys beyond 2^53 are compared as such.
        most, least = int(np.iinfo(kind).max), int(np.iinfo(kind).min)
        low = most if low == math.inf else max(math.ceil(max(low, least)), least)
        high = least if high == -math.inf else min(math.floor(min(high, most)), most)
        return np.array(min(low, most), kind)[()], np.array(max(high, least), kind)[()]

    def inside(self, blocks: Blocks, a: Any, b: Any, refine: Refine | None) -> Blocks:
        """Return the blocks between two keys, cut at both where that can be done.

        Raises
        ------
        InputError
            If they cannot be cut, and would have to be.
        """

        def at_either_end(blocks: Blocks) -> BoolArray:
            ends = np.zeros(len(blocks), bool)
            first, last = np.searchsorted(blocks.high, a), np.searchsorted(blocks.low, b, "right")
            if first < last:  # the first and the last block that meet [a, b]
                ends[[first, last - 1]] = True
            return ends

        blocks = resolve(blocks, at_either_end, refine)
        if refine is None:
            self._refuse_to_cut(blocks, a, b)
        return blocks.select((blocks.high >= a) & (blocks.low <= b))

    def _value(self, key: Any) -> Any:
        """Return the score, or what a key along another axis stands for."""
        return float(key) if self.axis is None else self.axis.value(key)

    def _refuse_to_cut(self, blocks: Blocks, a: Any, b: Any) -> None:
        """Refuse limits inside a block of which only sums are left; name the nearest not so."""
        first = int(np.searchsorted(blocks.high, a))
        last = int(np.searchsorted(blocks.low, b, "right")) - 1
        if first > last or (blocks.low[first] >= a and blocks.high[last] <= b):
            return
        low, high = blocks.low[first], blocks.high[last]
        # Outward, or inward where that is nearer and leaves something.
        starts, ends = blocks.low[first : last + 1], blocks.high[first : last + 1]
        start = a if low >= a else starts[np.argmin(np.abs(starts - a))]
        end = b if high <= b else ends[np.argmin(np.abs(ends - b))]
        if start > end:
            start, end = low, high
        asked, nearest = (
            ", ".join(repr(self._value(key)) for key in keys) for keys in ((a, b), (start, end))
        )
        raise InputError(
            f"the predictions are gone, and between({asked}) would cut what was kept of them; "
            f"the nearest that can be answered is between({nearest})"
        )


def _descending(what: str, a: Any, b: Any) -> InputError:
    return InputError(f"between(a, b) needs two {what} in ascending order; got a={a!r}, b={b!r}")


def _binomial_limits(blocks: Blocks, confidence_level: float) -> tuple[float, float]:
    """Return limits for how often the event happens in some blocks."""
    from secant._inference.binomial import clopper_pearson  # noqa: PLC0415  (not what `import secant` pays for)

    n, n1 = (np.array([float(count.sum())]) for count in (blocks.n, blocks.n1))
    low, high = clopper_pearson(n1, n, confidence_level)
    return float(low[0]), float(high[0])
