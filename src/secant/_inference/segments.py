r"""Which segments of the data are off, with the search accounted for.

A segment is a conjunction of levels of features. It is off by its ECCE-R, read at the ends of cells
of scores and put on the scale of Bennett's inequality (docs/decisions/006), so that large and
small segments compare.

Two ways account for how many segments were searched. All outcomes are drawn anew, again and again,
and every segment is computed from the same draw: the step-down maximum (Westfall and Young). Or
each segment gets a P-value of its own, that of the range of Brownian motion at x, and Holm adjusts
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant import null
from secant._inference.adjust import StepDown, holm, or_beyond, surprise
from secant._inference.draws import ENOUGH
from secant._inference.limits import at_level
from secant._inference.path import guarded, r_and_mad

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray
    from secant._blocks.segment_sums import Grouping, Sums

__all__ = ["Catalogue", "Conditions", "Redraw", "Segments", "Verdicts", "by_holm", "reported"]

# A level of a feature, both by number; the conditions of a segment.
Conditions = tuple[tuple[int, int], ...]

# At most so many segments are reported.
_MOST = 10
# Segments that share so much of their weight, and are nearly as much off, say the same.
_SHARED = 0.8
_NEARLY = 0.9
# Bytes up to which it is remembered which rows of all segments a reported one holds.
_REMEMBER = 1 << 24
# sum w^3 v / (sum w^2 v)^1.5 up to which weighted sums are nearly normal.
_SKEW = 1 / 20


# What is searched ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Segments:
    """The segments searched, one a row: their conditions, and their sums in cells of scores.

    Attributes
    ----------
    conditions
        Of each segment.
    n, n1
        Observations, and events among them.
    w, gain
        Weight and sum of w(r - s) in each cell.
    variance, unit
        V, the variance of the sum of gains under perfect calibration, and the weight it has.
    """

    conditions: tuple[Conditions, ...]
    n: IntArray
    n1: IntArray
    w: FloatArray
    gain: FloatArray
    variance: FloatArray
    unit: FloatArray

    def __len__(self) -> int:
        return len(self.conditions)

    @cached_property
    def places(self) -> dict[Grouping, tuple[IntArray, tuple[IntArray, ...]]]:
        """For each grouping the rows that are its segments, and their levels."""
        rows: dict[Grouping, list[int]] = {}
        for row, conditions in enumerate(self.conditions):
            rows.setdefault(tuple(feature for feature, _ in conditions), []).append(row)
        found = {}
        for grouping, several in rows.items():
            levels = np.array([[level for _, level in self.conditions[row]] for row in several])
            found[grouping] = np.array(several), tuple(levels.T)
        return found

    def pick(self, tables: Mapping[Grouping, FloatArray]) -> FloatArray:
        """Return what belongs to each segment from tables by the levels of groupings."""
        picked = np.empty_like(self.gain)
        for grouping, (rows, levels) in self.places.items():
            picked[rows] = tables[grouping][levels]
        return picked

    def surprise(self, span: FloatArray) -> FloatArray:
        """Put ranges of cumulative gains on the scale of Bennett's inequality."""
        return surprise(span, self.variance, self.unit)

    def tails(self, span: FloatArray, heaviest: float) -> FloatArray:
        """Return a P-value of each segment by itself.

        Bennett's inequality supposes that no step exceeds the unit. Where weights are so unlike
        that an average one will not do, it is the heaviest of all.
        """
        skewed = self.unit > _SKEW * np.sqrt(self.variance)
        weighted = self.unit != 1
        unit = np.where(skewed & weighted, np.maximum(self.unit, heaviest), self.unit)
        x = surprise(span, self.variance, unit)
        return np.where(np.isinf(x), 0.0, np.where(x > 0, null.range.sf(np.where(x > 0, x, 1)), 1))


def spans(gain: FloatArray) -> FloatArray:
    """Return the range of the cumulative gains, which start at 0."""
    span: FloatArray = r_and_mad(np.cumsum(gain, axis=-1))[..., 0]
    return span


class Catalogue:
    """Collects the segments to search, from sums that come one grouping after the other.

    A conjunction that holds the very rows of one with fewer conditions is the same segment, and so
    is a level that holds the very rows of another feature's: each is searched once.

    Parameters
    ----------
    min_rows
        Observations that a segment has at least.
    most
        How many segments there may be.
    """

    def __init__(self, min_rows: int, most: int) -> None:
        self._min_rows, self._most = min_rows, most
        self._conditions: list[Conditions] = []
        self._parts: list[tuple[Any, ...]] = []
        self._counts: dict[Grouping, IntArray] = {}
        self._copy: dict[tuple[int, int], tuple[int, int]] = {}
        self.small = self.same = self.beyond = 0

    def add(self, grouping: Grouping, sums: Sums) -> None:
        """Take in one grouping; those of fewer features come first."""
        counts = sums.n.sum(axis=-1)
        self._counts[grouping] = counts
        if len(grouping) == 2:
            self._note_copies(grouping, counts)
        large = counts >= self._min_rows
        self.small += int(((counts > 0) & ~large).sum())
        new = large & ~self._repeats(grouping, counts)
        self.same += int((large & ~new).sum())
        places = np.argwhere(new)
        room = max(self._most - len(self._conditions), 0)
        self.beyond += max(len(places) - room, 0)
        places = places[:room]
        at = tuple(places.T)
        self._conditions += [tuple(zip(grouping, place, strict=True)) for place in places.tolist()]
        cells = (each[at].reshape(-1, sums.n.shape[-1]) for each in (sums.w, sums.gain))
        self._parts.append((counts[at], sums.n1[at], *cells, sums.wwv[at], sums.wwwv[at]))

    def segments(self) -> Segments:
        """Return what is searched."""
        none = np.empty(0, np.int64)
        rows = self._parts or [(none, none, np.empty((0, 1)), np.empty((0, 1)), none, none)]
        columns = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
        kept = [self._copy.keys().isdisjoint(each) for each in self._conditions]
        self.same += kept.count(False)
        n, n1, w, gain, wwv, wwwv = (column[np.array(kept, bool)] for column in columns)
        unit = np.divide(wwwv, wwv, out=np.ones(wwv.shape), where=wwv > 0)
        return Segments(tuple(compress(self._conditions, kept)), n, n1, w, gain, wwv, unit)

    def _repeats(self, grouping: Grouping, counts: IntArray) -> BoolArray:
        """Mark conjunctions that hold as many rows as one of their parts: all of its rows."""
        repeats = np.zeros(counts.shape, bool)
        if len(grouping) > 1:
            for axis in range(len(grouping)):
                part = self._counts[grouping[:axis] + grouping[axis + 1 :]]
                repeats |= counts == np.expand_dims(part, axis)
        return repeats

    def _note_copies(self, grouping: Grouping, counts: IntArray) -> None:
        """Note levels of the second feature that hold the very rows of one of the first."""
        first, second = grouping
        same = (counts > 0) & (counts == self._counts[first,][:, None])
        same &= counts == self._counts[second,][None, :]
        for a, b in np.argwhere(same).tolist():
            self._copy.setdefault((second, b), (first, a))


# Accounting for the search ------------------------------------------------------------------------


class Verdicts(NamedTuple):
    """Adjusted P-values, the surprise that a finding exceeds, and the draws, if there were any."""

    pvalues: FloatArray
    critical: float
    draws: int | None


def by_holm(segments: Segments, alpha: float, heaviest: float) -> Verdicts:
    """Adjust by Holm; a finding has a P-value of at most alpha over their number."""
    raw = segments.tails(spans(segments.gain), heaviest)
    critical = null.range.isf(max(alpha / max(len(segments), 1), 1e-300))
    return Verdicts(holm(raw), float(critical), None)


@dataclass(frozen=True)
class Redraw:
    """Draws all outcomes anew, and computes every segment from each draw.

    Attributes
    ----------
    segments
        What is searched.
    scores, weights, copies
        The rows; in an order that their contents determine, for answers that do not depend on it.
    place
        For each row (an axis) and each grouping (another) the cell of its segment, numbered through
        all segments; one more than there are for a row in none.
    """

    segments: Segments
    scores: FloatArray
    place: np.ndarray[Any, Any]
    weights: FloatArray | None = None
    copies: IntArray | None = None

    @cached_property
    def _mass(self) -> NumberArray | None:
        return self.copies if self.weights is None else self.weights

    @cached_property
    def _expected(self) -> FloatArray:
        mass = self.scores if self._mass is None else self._mass * self.scores
        return self._table(np.arange(self.scores.size), mass)

    def observed(self, labels: np.ndarray[Any, Any]) -> FloatArray:
        """Return the ranges of all segments for outcomes as they were."""
        return spans(self._table(np.flatnonzero(labels), self._mass) - self._expected)

    def verdicts(
        self,
        labels: np.ndarray[Any, Any],
        *,
        alpha: float,
        rng: np.random.Generator,
        draws: int,
        enough: int = ENOUGH,
        heaviest: float = 1.0,
    ) -> Verdicts:
        """Adjust P-values by the step-down maximum; stop when the largest is found often enough.

        As for classes (docs/decisions/006): below 1/(1 + draws), where no draw was as extreme,
        the adjusted P-value is Holm's if that is smaller.
        """
        span = self.observed(labels)
        reach = guarded(span, self._expected.sum(axis=1))
        observed, limit = (self.segments.surprise(np.maximum(each, 0.0)) for each in (span, reach))
        tally = StepDown(observed, limit, enough)
        largest: list[float] = []

        def statistics(_: int) -> FloatArray:
            drawn = self.segments.surprise(spans(self._draw(rng) - self._expected))
            largest.append(float(drawn.max()))
            return drawn[None, :]

        tally.fill(statistics, draws=draws, batch=1)
        adjusted = tally.result()
        single = by_holm(self.segments, alpha, heaviest)
        critical = single.critical
        # Of the draws and the data themselves.
        allowed = int(alpha * (1 + 1e-12) * (1 + adjusted.draws))
        if allowed and not tally.enough:
            critical = float(np.sort(largest)[-allowed])
        return Verdicts(or_beyond(adjusted, single.pvalues), critical, adjusted.draws)

    def _draw(self, rng: np.random.Generator) -> FloatArray:
        if self.copies is not None:
            counts = rng.binomial(self.copies, self.scores)
            return self._table(np.flatnonzero(counts), counts)
        happened = rng.random(self.scores.size) < self.scores
        return self._table(np.flatnonzero(happened), self._mass)

    def _table(self, rows: IntArray, mass: NumberArray | None) -> FloatArray:
        """Add up the mass of some rows, one each if None, in the cells of all segments."""
        shape = self.segments.gain.shape
        bins = shape[0] * shape[1] + 1
        total = np.zeros(bins)
        step = max(1, (1 << 22) // self.place.shape[1])
        for start in range(0, rows.size, step):
            piece = slice(start, start + step)
            place = self.place[rows[piece]]
            each = None if mass is None else np.repeat(mass[rows[piece]], place.shape[1])
            total += np.bincount(place.ravel(), each, minlength=bins)
        return total[:-1].reshape(shape)


# What is reported ---------------------------------------------------------------------------------


def reported(
    segments: Segments,
    verdicts: Verdicts,
    alpha: float,
    inside: Callable[[Conditions], Mapping[Grouping, FloatArray]],
) -> list[int]:
    """Return the segments that are off, each only for what those before it do not say.

    The strongest is taken, its miscalibration at each score is taken off its rows, and all are
    computed again. One that was taken before and stands out again, because a part of it has been
    taken off since, is taken off once more and not reported twice. Of segments that are nearly the
    same, the one with fewer conditions is taken.

    Parameters
    ----------
    segments, verdicts, alpha
        What was searched, and what was found at that level.
    inside
        For some conditions, by grouping the weight of the rows that meet them, in the levels and
        cells of all groupings.
    """
    gain = segments.gain.copy()
    weight = segments.w.sum(axis=1)
    length = np.array([len(each) for each in segments.conditions])
    open_ = np.array([at_level(float(p), alpha) for p in verdicts.pvalues], bool)
    found: list[int] = []
    known: dict[int, FloatArray] = {}

    def shared_with(chosen: int) -> FloatArray:
        if chosen in known:
            return known[chosen]
        shared = segments.pick(inside(segments.conditions[chosen]))
        if chosen in found and gain.nbytes <= _REMEMBER:
            known[chosen] = shared
        return shared

    for _ in range(3 * _MOST):
        # The last digits depend on the order in which numbers were added up.
        strength = _rounded(segments.surprise(spans(gain)))
        eligible = open_ & (strength > verdicts.critical * (1 - 1e-9))
        if not eligible.any():
            break
        chosen = _strongest(strength, length, eligible)
        shared = shared_with(chosen)
        common = shared.sum(axis=1)
        alike = common >= _SHARED * (weight + weight[chosen] - common)
        alike &= eligible & (strength >= _NEARLY * strength[chosen]) & (length < length[chosen])
        if alike.any():
            chosen = _strongest(strength, length, alike & (length == length[alike].min()))
            shared = shared_with(chosen)
        if chosen not in found and len(found) == _MOST:
            break
        gain -= taken_off(gain[chosen], segments.w[chosen]) * shared
        if chosen not in found:
            found.append(chosen)
    return found


def _rounded(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(values)) - 8)
        return np.where(np.isfinite(values) & (values > 0), np.round(values / unit) * unit, values)


def _strongest(strength: FloatArray, length: IntArray, among: BoolArray) -> int:
    places = np.flatnonzero(among)
    return int(places[np.lexsort((length[places], -strength[places]))[0]])


def taken_off(gain: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the miscalibration of a segment in each cell of scores (docs/decisions/012).

    Taking off its mean alone would leave the rest of a miscalibration that varies with the score,
    which would then be reported again under other names.
    """
    return np.divide(gain, weight, out=np.zeros(gain.size), where=weight > 0)
