r"""P-values by simulation, where weights differ, and on request.

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
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._inference.draws import DRAWS, ENOUGH, FEWEST_DRAWS, PValue, PValues, count
from secant._inference.mean_and_shape import surprises
from secant._inference.path import Coins, coins, compensated_sum, guarded, r_and_mad
from secant._inference.tilt import Jumps, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from secant._base.types import BoolArray, FloatArray, IntArray
    from secant._blocks.sorting import PathRows

__all__ = ["Drawn", "drawn", "pvalues"]

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
# Bits of a number that do not tell its size to one part in 16, and as many ranges of chances.
_BITS = 48
_CHANCES = 64


class Drawn(NamedTuple):
    """What drawn paths tell: P-values of ECCE-R and ECCE-MAD, and those of mean and shape.

    ``both`` is the rank of the surprise at both, ``mean`` and ``shape`` those of their sizes, as
    :func:`secant._inference.mean_and_shape.surprises` has them.
    """

    r: PValue
    mad: PValue
    both: PValue
    mean: PValue
    shape: PValue


def pvalues(rows: Callable[[], Iterable[PathRows]], **options: Any) -> PValues:
    """Return the P-values of ECCE-R and ECCE-MAD alone, as :func:`drawn` has them."""
    return PValues(*drawn(rows, **options)[:2])


def drawn(
    rows: Callable[[], Iterable[PathRows]],
    *,
    outcome_weights: tuple[float, float] | None = None,
    rng: np.random.Generator,
    draws: int = DRAWS,
    enough: int | None = ENOUGH,
) -> Drawn:
    """Return P-values by simulation.

    Parameters
    ----------
    rows
        Walks over all rows, some at a time; it is called twice.
    outcome_weights
        What outcomes 0 and 1 weigh on top of weights.
    rng, draws, enough
        As in :func:`secant._inference.draws.count`; fewer draws are made where each takes long.

    Notes
    -----
    Jumps are rounded to multiples of a unit, 2^-52 of their sum or less. All sums of jumps are then
    exact, so that two draws with the same events have the same path to the last bit, and so has the
    observed path where every row is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from secant._blocks.sorting import PathRows
    >>> rows = PathRows(np.array([0.5, 0.6]), np.array([0, 0]), np.array([1.0, 3.0]))
    >>> found = drawn(lambda: [rows], rng=np.random.default_rng(1))  # two failures: P = 0.2
    >>> round(10**found.r.log10, 2), round(10**found.mad.log10, 2)
    (0.2, 0.2)
    """
    plan = _plan(_steps(rows(), outcome_weights), draws)
    paths = _paths(_steps(rows(), outcome_weights), plan)
    cost = len(paths.noise) + _POINT * paths.points
    draws = min(draws, max(FEWEST_DRAWS, int(_MOST / cost)))
    found = count(
        paths.draw,
        paths.limits,
        rng=rng,
        cost=cost,
        draws=draws,
        enough=enough,
        statistics=paths.statistics,
    )
    each = zip(found, paths.limits[:2].tolist(), (2.0, 1.0), strict=False)
    return Drawn(*(_bounded(paths.jumps, *of_metric) for of_metric in each), *found[2:])


def _bounded(jumps: Jumps, drawn: PValue, limit: float, factor: float) -> PValue:
    """Return the bound of the tail where no draw is as extreme and that is less."""
    if drawn.method == "simulated":
        return drawn
    rise, fall = (rate(jumps, limit, sign) for sign in (1, -1))
    tail = (math.log(factor) + float(np.logaddexp(-rise, -fall))) / math.log(10)
    return drawn._replace(log10=min(drawn.log10, tail))


# What rows are ------------------------------------------------------------------------------------


class _Steps(NamedTuple):
    """What some rows do to the path: a jump, with a chance, less its mean.

    ``turned`` tells whether the failure is drawn instead, being rarer, ``rare`` how likely what is
    drawn is, and ``happened`` whether it was observed.
    """

    chance: FloatArray
    rare: FloatArray
    jump: FloatArray
    turned: BoolArray
    happened: BoolArray
    ends: BoolArray

    @property
    def size(self) -> IntArray:
        """The size of the jump to one part in 16, a whole number."""
        return self.jump.view(np.int64) >> _BITS


def _steps(
    pieces: Iterable[PathRows], outcome_weights: tuple[float, float] | None
) -> Iterator[_Steps]:
    """Cut rows anew, every so many, so that no sum depends on where pieces end."""
    for chance, jump, happened, ends in _together(coins(each, outcome_weights) for each in pieces):
        turned = chance > 0.5
        rare = np.where(turned, 1.0 - chance, chance)
        yield _Steps(chance, rare, jump, turned, happened != turned, ends)


def _together(pieces: Iterable[Coins]) -> Iterator[Coins]:
    held: list[np.ndarray[Any, Any]] = []
    for piece in pieces:
        held = [*map(np.concatenate, zip(held, piece, strict=True))] if held else [*piece]
        while len(held[0]) > _TOGETHER:
            yield Coins(*(column[:_TOGETHER] for column in held))
            held = [column[_TOGETHER:] for column in held]
    yield Coins(*held)


# What is drawn ------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """From which size on rows are heavy, the exponent of jumps in units, cells, and light rows.

    ``share`` are the cells that each unit of variance makes, and each of that of light rows; none
    where every tie is looked at. The columns of ``light`` are those of :class:`tilt.Jumps`.
    """

    heavy: int
    shift: int
    share: tuple[float, float]
    light: FloatArray


def _plan(steps: Iterator[_Steps], draws: int) -> _Plan:
    """Decide what to draw.

    Rows of about the same size and chance are one kind. The cumulants K of their jumps are concave
    in the chance, convex in the size, and 0 for no jump: a kind is at least as likely to go far if
    its chance is the mean and so many jumps as the sizes add up to are the largest there are.
    """
    kinds, ties = np.zeros((3, 0)), 0
    for each in steps:
        kind = each.size * _CHANCES + np.minimum(each.chance * _CHANCES, _CHANCES - 1).astype(int)
        jump = np.where(each.rare > 0.0, each.jump, 0.0)
        kinds = np.hstack([kinds, [kind, jump, jump * each.chance]])
        kind, which = np.unique(kinds[0], return_inverse=True)
        kinds = np.array([kind, *(np.bincount(which, column) for column in kinds[1:])])
        ties += int(np.count_nonzero(each.ends))
    kind, total, happening = kinds[:, kinds[1] > 0.0]
    shift = 52 - math.frexp(float(total.sum()))[1]  # jumps add up to less than 2^52 units
    size = kind.astype(np.int64) // _CHANCES
    jump = np.ldexp(((size + 1) << _BITS).view(np.float64), shift)
    chance, number = _inside(happening / total), np.ldexp(total, shift) / jump
    points = -number * np.log1p(-np.minimum(chance, 1.0 - chance))
    if (float(points.sum()) * _POINT + ties) * draws <= _WORK:
        return _Plan(0, shift, (0.0, 0.0), np.zeros((3, 0)))
    # By how many kinds are light, of which those of a size go together.
    largest = np.append(0.0, jump)
    variance = np.cumsum(np.append(0.0, number * jump**2 * chance * (1.0 - chance)))
    others = points.sum() - np.cumsum(np.append(0.0, points))
    well = (largest <= _LIGHT * np.sqrt(variance)) | (others >= _OFTEN)
    well &= largest <= _HEAVY * math.sqrt(variance[-1])
    well[1:-1] &= size[1:] != size[:-1]
    light = int(np.flatnonzero(well)[-1])
    share = [0.5 * _CELLS / each if each else 0.0 for each in variance[[-1, light]].tolist()]
    some = np.array([number, chance, jump])[:, :light]
    return _Plan(int(np.append(size, 1 << 16)[light]), shift, (share[0], share[1]), some)


def _inside(chance: FloatArray) -> FloatArray:
    """Keep rounding from making anything certain."""
    return np.clip(chance, np.finfo(float).tiny, 1.0 - 2.0**-53)


@dataclass(frozen=True)
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
    share, deviation
        The share of the variance up to each look, and the standard deviation of the end.
    observed
        The observed path.
    rounding
        How much is expected at most, in the same units.
    jumps
        All rows; light ones at least as likely to go far.
    """

    noise: FloatArray
    expected: FloatArray
    reached: FloatArray
    jump: FloatArray
    look: IntArray
    share: FloatArray
    deviation: float
    observed: FloatArray
    rounding: float
    jumps: Jumps

    @cached_property
    def limits(self) -> FloatArray:
        """What the statistics of a path must reach to be as extreme as those observed."""
        seen = self.statistics(self.observed)
        return np.append(guarded(seen[:2], self.rounding), seen[2:] * (1.0 - 1e-12))

    def statistics(self, paths: FloatArray) -> FloatArray:
        """Return range, largest absolute value, and surprises of paths, a row each."""
        more = surprises(paths, self.share, self.deviation)
        return np.concatenate([r_and_mad(paths), more], axis=-1)

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
    last = [0.0] * 6
    heavy, looks, before = [], [], 0
    for each in steps:
        jump = np.rint(np.ldexp(each.jump, plan.shift)) * np.where(each.turned, -1.0, 1.0)
        is_heavy = (each.size >= plan.heavy) & (each.rare > 0.0)
        mean, variance = jump * each.rare, jump * jump * (each.rare * (1.0 - each.rare))
        noise = np.where(is_heavy, 0.0, variance)
        cell = variance * plan.share[0] + noise * plan.share[1]
        heavy_mean = np.where(is_heavy, mean, 0.0)
        terms = cell, noise, jump * each.happened, mean, heavy_mean, variance
        sums = [compensated_sum(np.append(*both))[1:] for both in zip(last, terms, strict=True)]
        last = [float(column[-1]) for column in sums]
        row = before + np.arange(len(jump))
        looks.append(_thinned(np.array([row, *sums])[:, each.ends], plan))
        heavy.append(np.array([row, each.chance, each.rare, jump])[:, is_heavy])
        before += len(jump)
    at, _, noise, path, mean, expected, variance = _thinned(np.hstack(looks), plan)
    row, chance, rare, jump = np.hstack(heavy)
    whole = max(float(variance[-1]), 1e-300)  # 0 where rounding leaves nothing to chance
    return _Paths(
        noise=np.sqrt(np.diff(noise, prepend=0.0)),
        expected=expected,
        reached=np.cumsum(-np.log1p(-rare)),
        jump=jump,
        look=np.searchsorted(at, row),
        share=variance / whole,
        deviation=math.sqrt(whole),
        observed=path - mean,
        rounding=float(np.abs(mean).max()),
        jumps=Jumps(*np.hstack([[np.ones(len(row)), _inside(chance), np.abs(jump)], plan.light])),
    )


def _thinned(looks: FloatArray, plan: _Plan) -> FloatArray:
    """Leave out looks, a column each, after which others are in the same cell."""
    if not plan.share[0]:
        return looks
    cell = np.floor(looks[1])
    return looks[:, np.append(cell[1:] != cell[:-1], True)[: len(cell)]]
