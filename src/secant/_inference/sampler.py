r"""P-values of ECCE-R and ECCE-MAD by simulation, where weights differ, and on request.

Under perfect calibration every row is a coin: with chance q it moves the path of cumulative
differences up by (1 - q) j, else down by q j; j is its weight and q its score, unless outcomes
have weights of their own. Outcomes are drawn again and again, the weights stay.

Only rarer outcomes are drawn: they are the points of a Poisson process, so that a row which hardly
ever happens costs hardly anything. While that is cheap all rows are drawn as they are, and the path
is looked at wherever a tie ends. Otherwise the heavy rows are: those whose jump is large beside the
standard deviation of the whole path. All others together move the path as Brownian motion does, and
enter as one normal step for each of a thousand cells. Cells share the variance fairly, and the
observed path is looked at where they end, like all others. But where the heavy rows hardly ever
happen it is the others that decide, and the standard deviation of the whole is no measure of them:
light is only what is light beside its own standard deviation.

Where no draw is as extreme as the observed path its probability has a bound all the same,
Chernoff's: with I the rate of a rise, or a fall, to c (:mod:`secant._inference.tilt`)

.. math:: P(\max |C| \ge c) \le e^{-I_+} + e^{-I_-}.

That of the range is taken to be at most twice as large. The P-value is the bound where that is
below what draws can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._inference.draws import DRAWS, ENOUGH, FEWEST_DRAWS, Estimate, count
from secant._inference.path import compensated_sum, thresholds
from secant._inference.tilt import Jumps, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray

__all__ = ["SortedRows", "pvalues"]

# Jumps are heavy beyond this share of the standard deviation of the path, and beyond that share of
# what is left, unless heavy rows expect so many points that draws without any do not matter.
_HEAVY = 1 / 50
_LIGHT = 1 / 25
_OFTEN = 20.0
# Cells of the path. Half of them share its variance fairly, and half of them that of light rows.
_CELLS = 1024
# Numbers up to which all rows are drawn as they are, and up to which draws are made, but for the
# fewest; a point takes as long as so many.
_WORK = 50_000_000
_MOST = 200_000_000
_POINT = 8
# Rows looked at together.
_TOGETHER = 1 << 16
# Bits of a number that tell its size, to one part in 16: all but so many.
_BITS = 48
_SIZES = 1 << (64 - _BITS - 1)
# Light rows are told apart for the tail by so many sizes, and by so many chances.
_KINDS = 16 * 20, 64


class SortedRows(NamedTuple):
    """Consecutive rows in the order of the path, in which those of a tie are ordered by contents.

    ``ends`` are the last rows of ties, which no piece cuts; equal scores are ties without it.
    Frequency weights are rows repeated.
    """

    scores: FloatArray
    labels: np.ndarray[Any, Any]
    weights: FloatArray | None = None
    ends: IntArray | None = None


def pvalues(
    rows: Callable[[], Iterable[SortedRows]],
    *,
    outcome_weights: tuple[float, float] | None = None,
    rng: np.random.Generator,
    draws: int = DRAWS,
    enough: int | None = ENOUGH,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Estimate, Estimate]:
    """Return the P-values of ECCE-R and ECCE-MAD by simulation.

    Parameters
    ----------
    rows
        Walks over all rows, some at a time; it is called twice.
    outcome_weights
        What responses 0 and 1 weigh on top of weights: rows were kept with chances in proportion to
        1 / o0 and 1 / o1. A row of weight a and score s that was kept is an event with the chance
        q = o0 s / D, where D = o1 (1 - s) + o0 s, and its jump is a D.
    rng, draws, enough, progress
        As in :func:`secant._inference.draws.count`; fewer draws are made where each takes long.

    Notes
    -----
    Jumps are rounded to multiples of a unit, 2^-52 of their sum or less. All sums of jumps are then
    exact, so that two draws with the same events have the same path to the last bit, and so has the
    observed path where every row is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> rows = SortedRows(np.array([0.5, 0.6]), np.array([0, 0]), np.array([1.0, 3.0]))
    >>> r, mad = pvalues(lambda: [rows], rng=np.random.default_rng(1))  # two failures: P = 0.2
    >>> round(10**r.log10, 2), round(10**mad.log10, 2)
    (0.2, 0.2)
    """

    def steps() -> Iterator[_Steps]:
        return (_steps(block, outcome_weights) for block in _blocks(rows()))

    paths = _paths(steps(), _plan(steps(), draws))
    cost = len(paths.noise) + _POINT * paths.points
    found = count(
        paths.draw,
        paths.limits,
        rng=rng,
        cost=cost,
        draws=min(draws, max(FEWEST_DRAWS, int(_MOST / cost))),
        enough=enough,
        progress=progress,
    )
    bounds = zip(found, paths.limits, (2.0, 1.0), strict=True)
    r, mad = (_bounded(paths.jumps, *each) for each in bounds)
    return r, mad


def _bounded(jumps: Jumps, estimate: Estimate, limit: float, factor: float) -> Estimate:
    """Return the bound of the tail where no draw is as extreme and that is less."""
    if estimate.exceedances:
        return estimate
    rise, fall = (rate(jumps, limit, sign) for sign in (1, -1))
    tail = (math.log(factor) + float(np.logaddexp(-rise, -fall))) / math.log(10)
    return estimate._replace(log10=tail, bounded=True) if tail < estimate.log10 else estimate


# What rows are ------------------------------------------------------------------------------------


class _Steps(NamedTuple):
    """What rows do to the path: with chance ``rare`` it jumps, by less than that otherwise.

    ``size`` is a whole number that tells the size of the jump, ``turned`` whether it is the failure
    that is rarer and jumps downwards, and ``happened`` whether the rarer outcome was observed.
    """

    rare: FloatArray
    jump: FloatArray
    size: IntArray
    turned: BoolArray
    happened: BoolArray
    ends: BoolArray


def _steps(
    block: tuple[np.ndarray[Any, Any], ...], outcome_weights: tuple[float, float] | None
) -> _Steps:
    chance, happened, jump, ends = block
    if outcome_weights is not None:
        o0, o1 = outcome_weights
        longer = o1 * (1.0 - chance) + o0 * chance
        chance, jump = o0 * chance / longer, jump * longer
    turned = chance > 0.5
    rare = np.where(turned, 1.0 - chance, chance)
    return _Steps(rare, jump, jump.view(np.int64) >> _BITS, turned, happened != turned, ends)


def _blocks(pieces: Iterable[SortedRows]) -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
    """Cut rows anew, every so many, so that no sum depends on where pieces end."""
    held: list[np.ndarray[Any, Any]] = []
    for scores, labels, weights, ends in pieces:
        last = np.zeros(len(scores), bool)
        if ends is None:
            last[-1:], last[:-1] = True, scores[1:] != scores[:-1]
        else:
            last[ends] = True
        jump = np.ones(len(scores)) if weights is None else np.asarray(weights, np.float64)
        columns = [np.asarray(scores, np.float64), labels == 1, jump, last]
        held = [*map(np.concatenate, zip(held, columns, strict=True))] if held else columns
        while len(held[0]) > _TOGETHER:
            yield tuple(column[:_TOGETHER] for column in held)
            held = [column[_TOGETHER:] for column in held]
    yield tuple(held)


# What is drawn ------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """From which size on rows are heavy, the exponent of jumps in units, and cells.

    ``share`` are the cells that each unit of variance makes, and each of that of light rows; none
    where every tie is looked at.
    """

    heavy: int
    shift: int
    share: tuple[float, float] = (0.0, 0.0)


def _plan(steps: Iterator[_Steps], draws: int) -> _Plan:
    """Decide what to draw, from how much there is of each size of jumps."""
    rows, points, spread = np.zeros((3, _SIZES))
    ties = 0
    for each in steps:
        rows += np.bincount(each.size, minlength=_SIZES)
        points += np.bincount(each.size, -np.log1p(-each.rare), _SIZES)
        spread += np.bincount(each.size, each.rare * (1.0 - each.rare), _SIZES)
        ties += int(np.count_nonzero(each.ends))
    size = np.flatnonzero(rows)
    # Weights add up to less than 2^52 units, and so do outcomes.
    exponent = math.frexp(_up_to(size[-1]))[1]
    jump = np.ldexp(_up_to(size), -exponent)
    shift = 52 - exponent - math.frexp(float((rows[size] * jump).sum()))[1]
    if (float(points.sum()) * _POINT + ties) * draws <= _WORK:
        return _Plan(0, shift)
    variance = spread[size] * np.ldexp(jump, exponent + shift) ** 2
    light = np.append(0.0, np.cumsum(variance))
    heavy_points = np.append(np.cumsum(points[size][::-1])[::-1], 0.0)
    largest = np.append(0.0, np.ldexp(jump, exponent + shift))
    well = (largest <= _LIGHT * np.sqrt(light)) | (heavy_points >= _OFTEN)
    cut = int(np.flatnonzero(well & (largest <= _HEAVY * math.sqrt(light[-1])))[-1])
    heavy = int(np.append(size, size[-1] + 1)[cut])
    half = 0.5 * _CELLS
    return _Plan(heavy, shift, (half / light[-1], half / light[cut] if light[cut] else 0.0))


def _up_to(size: Any) -> Any:
    """Return what jumps of a size are below."""
    return np.asarray((np.asarray(size, np.int64) + 1) << _BITS).view(np.float64)


@dataclass(frozen=True, slots=True)
class _Paths:
    """Draws paths of heavy rows and of normal steps.

    Attributes
    ----------
    noise
        The standard deviation of the normal step up to each look.
    expected
        What is taken off the sum of drawn jumps at each look.
    reached, jump, look
        Of each heavy row: -log(1 - chance) of its rarer outcome, summed up to it; what that adds to
        the path; and the look that sees it first.
    limits
        What the range of a path, and its largest absolute value, must reach.
    jumps
        All rows; light ones at least as likely to go far.
    """

    noise: FloatArray
    expected: FloatArray
    reached: FloatArray
    jump: FloatArray
    look: IntArray
    limits: tuple[float, float]
    jumps: Jumps

    @property
    def points(self) -> float:
        """How many points a draw has."""
        return float(self.reached[-1]) if self.reached.size else 0.0

    def draw(self, rng: np.random.Generator, draws: int) -> FloatArray:
        """Draw some paths, a row each.

        Points fall on the line of ``reached`` at random, one for each unit of length on average. A
        row is missed by all of them with probability exp(log(1 - chance)) = 1 - chance, and rows
        are so independently: those hit are those whose rarer outcome happens.
        """
        shape = draws, len(self.noise)
        noisy = self.noise.any()
        steps = rng.standard_normal(shape) * self.noise if noisy else np.zeros(shape)
        if hits := rng.poisson(draws * self.points):
            place = np.cumsum(rng.standard_exponential(hits + 1))
            place = place[:-1] * (draws / place[-1])
            draw = np.minimum(place.astype(np.int64), draws - 1)
            row = np.searchsorted(self.reached, (place - draw) * self.points, side="right")
            row = np.minimum(row, len(self.reached) - 1)
            once = np.append(True, (row[1:] != row[:-1]) | (draw[1:] != draw[:-1]))
            row, draw = row[once], draw[once]
            at = draw * shape[1] + self.look[row]
            steps.ravel()[:] += np.bincount(at, self.jump[row], minlength=steps.size)
        paths: FloatArray = np.cumsum(steps, axis=1)
        paths -= self.expected
        return paths


def _paths(steps: Iterator[_Steps], plan: _Plan) -> _Paths:
    """Keep heavy rows, and sums over all up to where the path is looked at."""
    carried = [0.0] * 5
    heavy: list[FloatArray] = []
    looks: list[FloatArray] = []
    light = np.zeros((2, math.prod(_KINDS)))
    before = 0
    for each in steps:
        size = np.ldexp(each.jump, plan.shift)
        jump = np.where(each.turned, -np.rint(size), np.rint(size))
        is_heavy = (each.size >= plan.heavy) & (each.rare > 0.0)
        mean, variance = jump * each.rare, jump * jump * (each.rare * (1.0 - each.rare))
        noise = np.where(is_heavy, 0.0, variance)
        terms = (
            variance * plan.share[0] + noise * plan.share[1],
            noise,
            jump * each.happened,
            mean,
            np.where(is_heavy, mean, 0.0),
        )
        sums = [
            compensated_sum(np.append(sum_, term))[1:]
            for sum_, term in zip(carried, terms, strict=True)
        ]
        carried = [float(column[-1]) for column in sums]
        row = before + np.arange(len(jump))
        looks.append(_thinned(np.array([row, *sums])[:, each.ends], plan))
        heavy.append(np.array([row, each.rare, jump])[:, is_heavy])
        if not is_heavy.all():
            chance = np.where(each.turned, 1.0 - each.rare, each.rare)
            kind = np.clip(plan.heavy - 1 - each.size, 0, _KINDS[0] - 1) * _KINDS[1]
            kind += np.minimum((chance * _KINDS[1]).astype(np.int64), _KINDS[1] - 1)
            size = np.where(is_heavy | (each.rare == 0.0), 0.0, size)
            light += [np.bincount(kind, by, light.shape[1]) for by in (size, size * chance)]
        before += len(jump)
    at, _, noise, path, mean, expected = _thinned(np.hstack(looks), plan)
    row, rare, jump = np.hstack(heavy)
    path = path - mean
    deviation, span = thresholds(path.max(), path.min(), float(np.abs(mean).max()))
    return _Paths(
        noise=np.sqrt(np.diff(noise, prepend=0.0)),
        expected=expected,
        reached=np.cumsum(-np.log1p(-rare)),
        jump=jump,
        look=np.searchsorted(at, row),
        limits=(span, deviation),
        jumps=_jumps(rare, jump, light, plan),
    )


def _thinned(looks: FloatArray, plan: _Plan) -> FloatArray:
    """Leave out looks, a column each, after which others are in the same cell."""
    if not plan.share[0]:
        return looks
    cell = np.floor(looks[1])
    return looks[:, np.append(cell[1:] != cell[:-1], True)[: len(cell)]]


def _jumps(rare: FloatArray, jump: FloatArray, light: FloatArray, plan: _Plan) -> Jumps:
    """Return heavy rows, and light ones in kinds that are at least as likely to go far.

    K is concave in the chance and convex in the size of a jump, and 0 without one: rows of a kind
    are put at the mean of their chances, and in part at the largest size that any has.
    """
    some = np.flatnonzero(light[0])
    size = np.ldexp(_up_to(plan.heavy - 1 - some // _KINDS[1]), plan.shift)
    chance = np.append(np.where(jump < 0.0, 1.0 - rare, rare), light[1][some] / light[0][some])
    return Jumps(
        np.append(np.ones(len(rare)), light[0][some] / size),
        np.clip(chance, np.finfo(float).tiny, 1.0 - 2.0**-53),
        np.append(np.abs(jump), size),
    )
