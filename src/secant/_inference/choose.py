"""Which P-value: known, exact, by a walk over pools or jumps, of large samples, or simulated.

=========================================  ================================  ===============
what is known of the rows                  P-value                           ``method``
=========================================  ================================  ===============
nothing can vary, or nothing is off        0 or 1                            exact
equal weights, at most 300 steps           walk (:mod:`walk`)                exact
the same, but of ties so large that it     walk on wider cells               upper bound
would take minutes                         (:mod:`pooled_walk`)
equal weights, few events expected, or     walk over pools                   upper bound
a few scores with most of the variance     (:mod:`pooled_walk`)
equal weights, all else                    tilted limit (:mod:`tilt`)        large-sample
unequal, neither rows nor steps stand out  tilted limit                      large-sample
unequal, at most 5,000 rows                walk (:mod:`weighted_walk`), or   upper bound
                                           draws where P is above a tenth    simulated
unequal, all else                          draws (:mod:`sampler`)            simulated
=========================================  ================================  ===============

What is taken depends on the data alone, so the same data give the same P-value on every machine.
``method="exact"`` walks whatever it takes, ``"monte-carlo"`` draws, ``"asymptotic"`` takes the
Brownian limit as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._inference import pooled_walk, sampler, walk, weighted_walk
from secant._inference.draws import PValues, same_every_time
from secant._inference.tilt import Bounded, Jumps, log_pvalue
from secant._metrics.ecce import METRICS
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from secant._base.types import BoolArray
    from secant._blocks.looking import RowsInOrder, Source
    from secant._blocks.table import Blocks, Totals
    from secant._inference.tilt import Steps
    from secant._input.options import Method
    from secant._metrics.ecce import Extremes

__all__ = [
    "FEW_EVENTS",
    "LARGE_STEPS",
    "MOST_STEPS",
    "Case",
    "limit_is_trusted",
    "needed",
    "needs_rows",
    "pvalues",
]

# rho3 up to which the Brownian limit is good where weights differ.
_MOST_RHO3 = 1 / 20
# Steps up to which nothing is pooled, and for method="exact"; nanoseconds in numpy up to which a
# walk is exact otherwise.
FEW_STEPS = 300
MOST_STEPS = 1 << 16
_BUDGET = 2e8
# Below this variance, or beyond this concentration of it, pools are walked over.
FEW_EVENTS = 30.0
LARGE_STEPS = 1 / 20
# From the variance of few events on, P-values below this one are those of the tilted limit.
_TINY = math.log(1e-12)
# Below this one nothing that doubles hold is left of a walk.
_NOTHING = -640.0
# Rows of unequal weight up to which jumps are walked over, and few large steps a reason to draw;
# draws settle P-values with a larger decimal logarithm.
_FEW_ROWS, _MANY_ROWS = 5_000, 100_000
_SETTLED = -1.0
# Pairs of a place and a score up to which the steps of another order are exact.
_MANY_PAIRS = 5_000


@dataclass(frozen=True)
class Case:
    """What P-values are asked of: observations in blocks, which :func:`needed` marks no more.

    Attributes
    ----------
    blocks, totals, found
        The observations, the sums over them, and the extremes of their path.
    source
        Where they come from.
    rows
        Walks over them in the order of the path; None where they cannot be had.
    rng
        Where draws come from.
    """

    blocks: Blocks
    totals: Totals
    found: Extremes
    source: Source
    rows: RowsInOrder | None = None
    rng: np.random.Generator | None = None

    @property
    def along(self) -> Any:
        """The source, where it is in another order than that of scores."""
        return self.source if self.source.axis is not None else None

    @property
    def reach(self) -> tuple[float, float]:
        """Range and largest absolute value of the path, in events."""
        r, mad = (getattr(self.found, name) * self.totals.n for _, name, _ in METRICS)
        return r, mad

    @cached_property
    def ties(self) -> walk.Table | None:
        """Scores, observations and events where each block is one score; None where it is not."""
        blocks = self.blocks
        alike = blocks.least is None or (blocks.lowest == blocks.highest).all()
        return (blocks.lowest, blocks.n, blocks.n1) if alike and not blocks.open.any() else None

    @cached_property
    def tilted(self) -> PValues:
        """The P-values of large samples."""
        totals = self.totals
        steps: Steps
        if totals.equal_weights:
            steps, unit = _jumps(self), totals.weight / totals.n
        elif totals.third is not None and totals.steps:
            unit = math.sqrt(totals.variance)  # so that powers of it neither overflow nor vanish
            steps = Bounded(1.0, totals.rho3, totals.steps[0] / unit)
        else:
            return _brownian(self)
        reach = ((law, getattr(self.found, name) * totals.weight) for _, name, law in METRICS)
        logs = (log_pvalue(law, steps, total / unit) / math.log(10) for law, total in reach)
        return PValues.of(logs, "large-sample")

    def is_drawn(self, method: Method) -> bool:
        """Tell whether P-values are drawn, or walked to where rows are few and weights differ."""
        return self.rows is not None and needs_rows(self.blocks, self.totals, method)

    @cached_property
    def drawn(self) -> sampler.Drawn:
        """What draws tell."""
        assert self.rows is not None  # noqa: S101
        return sampler.drawn(
            self.rows,
            outcome_weights=self.totals.outcome_weights,
            rng=same_every_time(self.rng),
        )

    @property
    def log_p(self) -> float:
        """About the logarithm of the smaller P-value."""
        return min(self.tilted).log10 * math.log(10)


def limit_is_trusted(totals: Totals) -> bool:
    """Tell whether the Brownian limit can be relied on."""
    return totals.rho3 <= _MOST_RHO3 * (1 + 1e-12)


def _variance(totals: Totals) -> float:
    """Return the sum of s(1 - s) over observations of equal weight."""
    return totals.variance * totals.n / totals.ww


def _way(blocks: Blocks, totals: Totals, method: Method) -> Callable[[Case], PValues]:  # noqa: PLR0911  (a row each)
    """Return what computes P-values: the table on top of this module."""
    if totals.sigma == 0:
        return _known
    if method == "asymptotic":
        return _brownian
    if method == "monte-carlo":
        return _draw
    if method == "exact" or (totals.equal_weights and len(blocks) <= FEW_STEPS):
        return _walk
    large_steps = pooled_walk.concentration(pooled_walk.steps_of(blocks, totals)) > LARGE_STEPS
    if totals.equal_weights:
        return _pool if large_steps or _variance(totals) < FEW_EVENTS else _large_sample
    if limit_is_trusted(totals) and not (large_steps and totals.n <= _MANY_ROWS):
        return _large_sample
    return _jump if totals.n <= _FEW_ROWS else _draw


def needed(blocks: Blocks, totals: Totals, method: Method) -> BoolArray:
    """Mark the blocks that must be resolved into ties before :func:`pvalues` is asked.

    Whether there are few steps is asked of how many distinct scores there are, not of how they
    happen to be stored: blocks are marked until that is known.
    """
    way = _way(blocks, totals, method)
    if way is _walk and totals.equal_weights and len(blocks) <= MOST_STEPS:
        return blocks.open
    if way is _pool:
        return pooled_walk.cuts(blocks, totals)
    return np.zeros(len(blocks), bool)


def needs_rows(blocks: Blocks, totals: Totals, method: Method) -> bool:
    """Tell whether :func:`pvalues` asks for the rows themselves."""
    return _way(blocks, totals, method) in {_jump, _draw}


def pvalues(cases: Sequence[Case], method: Method) -> list[PValues]:
    """Return the P-values of ECCE-R and ECCE-MAD of each case.

    Raises
    ------
    InputError
        If exact P-values are asked for but rows carry unequal sampling weights, or there are more
        than 65,536 steps.
    """
    found: dict[int, PValues] = {}
    walks = {}
    for i, case in enumerate(cases):
        way = _way(case.blocks, case.totals, method) if case.found.ecce_r > 0 else _known
        if way is _walk:
            if method == "exact":
                _check_exact(case)
            walks[i] = case
        elif case.rows is None and way in {_jump, _draw}:  # they could not be had
            found[i] = _large_sample(case)
        else:
            found[i] = way(case)
    found |= _walked(walks, method)
    return [found[i] for i in range(len(cases))]


def _check_exact(case: Case) -> None:
    asked = Argument("method", "exact")
    if not case.totals.equal_weights:
        instead = Argument("method", "monte-carlo")
        raise InputError(asked, " knows no weights that differ from row to row; use ", instead)
    if len(case.blocks) > MOST_STEPS:
        what = "scores" if case.along is None else f"values of {case.along.axis.title}"
        most = f" takes at most {MOST_STEPS:,} distinct {what}; use "
        raise InputError(asked, most, Argument("method", "auto"))


# --- one way each ---------------------------------------------------------------------------------


def _known(case: Case) -> PValues:
    return PValues.of([-math.inf if case.found.ecce_r > 0 else 0.0] * 2, "exact")


def _brownian(case: Case) -> PValues:
    """Return the P-values of the limit of many observations as it is."""
    sigma = case.totals.sigma
    logs = (law.logsf(getattr(case.found, name) / sigma) for _, name, law in METRICS)
    return PValues.of((log / math.log(10) for log in logs), "large-sample")


def _large_sample(case: Case) -> PValues:
    return case.tilted


def _walk(case: Case) -> PValues:
    """Return the exact P-values along an order in which steps hold several scores."""
    pairs = case.along.pairs
    ties = pairs.ties
    path = walk.observe_along(ties.low, ties.n, ties.n1, pairs.ends)
    return _never_beyond_doubles(case, *walk.log10_of_one(path))


def _walked(cases: dict[int, Case], method: Method) -> dict[int, PValues]:
    """Return the exact P-values of cases, all tables in one go, or what costs less."""
    tables = {i: ties for i, case in cases.items() if (ties := case.ties) is not None}
    if method != "exact":
        costs = dict(zip(tables, walk.costs([*tables.values()]).tolist(), strict=True))
        tables = {i: table for i, table in tables.items() if costs[i] <= _BUDGET}
    numbers = list(tables)
    logs = walk.log10_pvalues([*tables.values()], lambda k: -cases[numbers[k]].log_p)
    found = {
        i: _never_beyond_doubles(cases[i], *pair)
        for i, pair in zip(numbers, logs.tolist(), strict=True)
    }
    for i in cases.keys() - tables.keys():
        case = cases[i]
        few_pairs = case.along is not None and case.along.has_pairs and case.totals.n <= _MANY_PAIRS
        exact = method == "exact" or (few_pairs and case.ties is None)
        found[i] = _walk(case) if exact else _pool(case)
    return found


def _never_beyond_doubles(case: Case, *logs: float) -> PValues:
    """Take what is possible but beyond what doubles hold for as likely as in large samples."""
    found = PValues.of(logs, "exact")
    if -math.inf not in logs:
        return found
    possible = max(_jumps(case).most(sign) for sign in (1, -1)) * (1.0 + 1e-12)
    return PValues(
        *(
            tilted if exact.log10 == -math.inf and reach <= possible else exact
            for exact, tilted, reach in zip(found, case.tilted, case.reach, strict=True)
        )
    )


def _pool(case: Case) -> PValues:
    """Return upper bounds; from some variance on the tilted limit is one as well."""
    blocks, totals = case.blocks, case.totals
    enough = _variance(totals) >= FEW_EVENTS
    if case.log_p < (_TINY if enough else _NOTHING):
        return _large_sample(case)
    steps = pooled_walk.steps_of(blocks, totals)
    r, mad = pooled_walk.log10_pvalues(steps, ~blocks.open, case.reach, case.log_p)
    walked = PValues.of([min(r, pooled_walk.of_one_event(blocks)), mad], "upper bound")
    pairs = zip(walked, case.tilted, strict=True)
    return PValues(*(min(each, key=lambda p: p.log10) for each in pairs)) if enough else walked


def _jump(case: Case) -> PValues:
    """Return upper bounds; or draws, which are quicker, where they soon tell that P is large."""
    assert case.rows is not None  # noqa: S101
    drawn = PValues(*case.drawn[:2])
    if min(drawn).log10 > _SETTLED:
        return drawn
    logs = weighted_walk.log10_pvalues(list(case.rows()), case.totals.outcome_weights)
    if logs is None:
        return drawn
    return PValues.of(logs, "upper bound")


def _draw(case: Case) -> PValues:
    return PValues(*case.drawn[:2])


def _jumps(case: Case) -> Jumps:
    """Return the observations of equal weight: the scores of ties, and mean scores of cells."""
    blocks = case.blocks
    n, score = blocks.n, blocks.mean_score
    if case.along is not None:
        n, score = case.along.score_counts()
    random = (score > 0.0) & (score < 1.0)
    n, score = n[random], score[random]
    if case.ties is not None:
        return Jumps(n, score)
    variance = _variance(case.totals)
    narrower = float((n * score * (1.0 - score)).sum()) - variance
    # Where cells are so narrow that rounding shows, nothing is taken off for it.
    return Jumps(n, score, narrower=max(narrower - 1e-12 * variance, 0.0))
