"""Which P-value: exact, certified, Monte Carlo or asymptotic, and the name of the one taken.

``"auto"`` takes finite-sample P-values while a count of operations stays within a budget. The count
depends on the data alone, so the same data give the same P-value on every machine. Beyond it the
limit of many observations is good where the variance is large, tilted so that it holds far in the
tail too (:mod:`secant._inference.tilt`); random draws decide where it is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from secant._blocks import grains as _grains
from secant._blocks.looking import Orderly
from secant._inference.draws import DRAWS, ENOUGH, FEWEST_DRAWS, by_draws, same_every_time
from secant._inference.enumeration import MOST, log10_pvalues
from secant._metrics.ecce import METRICS
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import BoolArray, FloatArray, IntArray, NumberArray
    from secant._blocks.grains import Grains, Ties
    from secant._blocks.looking import Source
    from secant._blocks.ordered_sums import Pairs
    from secant._blocks.table import Blocks, Totals
    from secant._inference.finite import Bracket
    from secant._inference.montecarlo import Estimate
    from secant._inference.sieve import Sifted
    from secant._inference.tilt import Jumps, Steps
    from secant._input.options import Method
    from secant._metrics.ecce import Extremes, Metric

    # Scores, observations and successes in the order of the path, and where steps end.
    _Table = tuple[FloatArray, IntArray, IntArray, IntArray | None]

__all__ = [
    "Along",
    "PValue",
    "along",
    "asks_for_more",
    "grain_size",
    "limit_is_trusted",
    "needed",
    "needs_rows",
    "of_few",
    "pvalues",
    "takes_grains",
    "work",
]

# rho3 up to which the Brownian limit is good wherever the finite-sample methods are too slow; with
# equal weights that is a variance of 400.
_MOST_RHO3 = 1 / 20
# Observations, and distinct scores among them, beyond which "auto" takes the limit if it is good.
_MANY_ROWS = 1 << 16
_MANY_SCORES = 4096
# Steps of grains that are not drawn for instead.
_MANY_GRAINS = 3 << 15
# Observations of few places along another order up to which their scores are sorted all the same.
_MANY_PAIRS = 1 << 20
# Coins tossed (rows times draws) up to which "auto" draws for weighted rows: about a second.
_COINS = 100_000_000
# Observations up to which that never takes more operations than it may.
_FEW_ROWS = 256
# How many budgets a finite-sample P-value may cost where only Monte Carlo could replace it.
_PATIENCE = 8
# Where certified limits of ECCE-R's P-value leave its second digit open a number between them is
# estimated, if the upper one is at least so large: no decision hangs on it. Coins tossed for it,
# about and at most; where the fewest draws take more, the upper limit stays.
_UNDECIDED = 0.3
_FEW_COINS = 3_000_000
_MOST_COINS = 20_000_000
# The same in events, where these are rare.
_FEW_POINTS = 200_000


class PValue(NamedTuple):
    """A decimal logarithm, how it was obtained, and the limits certified for it."""

    log10: float
    method: str
    bracket: tuple[float, float] | None


def needed(blocks: Blocks, totals: Totals, method: Method) -> BoolArray:
    """Mark the blocks that must be resolved into ties before :func:`pvalues` is asked.

    Whether to resolve is asked of how many distinct scores there are, not of how they happen to be
    stored: blocks are marked until that is known.
    """
    nothing = np.zeros(len(blocks), bool)
    if method == "asymptotic" or totals.sigma == 0 or not totals.equal_weights:
        return nothing
    if _beyond_any_budget(totals, method) and len(blocks) > _MANY_SCORES:
        return nothing
    if blocks.least is not None:  # along another order rows are asked for by score as well
        return nothing
    return blocks.open


def takes_grains(totals: Totals, method: Method) -> bool:
    """Tell whether :func:`pvalues` does without resolved blocks if it is given grains instead."""
    if totals.n <= _MANY_ROWS or method != "auto" or totals.sigma == 0:
        return False
    return totals.equal_weights and not limit_is_trusted(totals)


def grain_size(totals: Totals) -> float:
    """Return the size of grains for observations of equal weight."""
    return _grains.grain_size(_variance(totals))


def _variance(totals: Totals) -> float:
    """Return the sum of s(1 - s) over observations of equal weight."""
    return totals.variance * totals.n / totals.ww


def needs_rows(totals: Totals, method: Method) -> bool:
    """Tell whether :func:`pvalues` asks for the rows themselves, to draw outcomes for them."""
    if method not in {"auto", "monte-carlo"} or totals.sigma == 0 or totals.equal_weights:
        return False
    return not (method == "auto" and _are_many_coins(totals) and limit_is_trusted(totals))


def _are_many_coins(totals: Totals) -> bool:
    """Tell whether even the fewest draws take more coins than "auto" tosses."""
    return totals.n * FEWEST_DRAWS > _COINS


def _affordable_draws(cells: int) -> int:
    """Return how many draws "auto" makes of so many numbers each."""
    return min(DRAWS, max(FEWEST_DRAWS, _COINS // cells))


def asks_for_more(totals: Totals, method: Method) -> bool:
    """Tell whether the limit is not what :func:`pvalues` would take anyway, as a rule."""
    return needs_rows(totals, method) or not _beyond_any_budget(totals, method)


def pvalues(
    blocks: Blocks,
    totals: Totals,
    found: Extremes,
    *,
    source: Source,
    method: Method,
    rng: np.random.Generator | None,
    fast: bool | None = None,
    short: bool = False,
    grains: Ties | Grains | None = None,
    listed: tuple[PValue, PValue] | None = None,
) -> tuple[PValue, PValue]:
    """Return the P-values of ECCE-R and ECCE-MAD.

    The blocks are those that :func:`needed` marks no more, ``grains`` take their place where
    :func:`takes_grains` says so, or ``short`` says that ``"auto"`` must do with them as they are.
    ``fast`` says whether compiled code is worth its compilation, which many small calls together
    may be; ``listed`` is what :func:`of_few` found, asked for many tables at once.

    Raises
    ------
    InputError
        If exact P-values are asked for but rows carry unequal sampling weights.
    """
    if totals.sigma == 0 or found.ecce_r == 0:
        how = "asymptotic" if method == "asymptotic" else "exact"
        certain = PValue(-math.inf if found.ecce_r > 0 else 0.0, how, None)
        return certain, certain
    if listed is None and not short:
        listed = of_few([blocks], [totals], method, [source], fast=fast).get(0)
    if method == "asymptotic" or listed is not None:
        return listed or _brownian(found, totals)
    equal = totals.equal_weights
    if method == "exact" and not equal:
        raise InputError(
            Argument("method", "exact"),
            " knows no weights that differ from row to row; use ",
            Argument("method", "monte-carlo"),
        )
    large = equal and _beyond_any_budget(totals, method) and _are_many(blocks, totals, source)
    if large or short or (not equal and not needs_rows(totals, method)):
        return _large_sample(blocks, totals, found, source)
    rng = same_every_time(rng)
    if method == "monte-carlo" or not (equal or (method == "auto" and _are_many_coins(totals))):
        draws = _affordable_draws(totals.n) if method == "auto" else DRAWS
        return _monte_carlo(blocks, totals, source, rng, draws)
    steps = _in_steps(blocks, totals, source, method, grains) if equal else None
    if steps is None:
        return _of_heavy_rows(totals, source, rng)
    return _finite_sample(
        steps,
        blocks,
        totals,
        found,
        source=source,
        method=method,
        rng=rng,
        fast=fast,
    )


def _are_many(blocks: Blocks, totals: Totals, source: Source) -> bool:
    """Tell whether steps are too many for a finite-sample P-value to be worth asking for."""
    if len(blocks) > _MANY_SCORES:
        return True
    # In another order few places may hold many scores, which are sorted to be told apart.
    return along(source) is not None and bool(blocks.open.any() or totals.n > _MANY_PAIRS)


def _in_steps(
    blocks: Blocks, totals: Totals, source: Source, method: Method, grains: Ties | Grains | None
) -> _Table | Grains | None:
    """Return the steps of the path, pooled into grains where these take the place of ties.

    None if they are still very many: along another order, with scores near 0 and near 1 in turns.
    """
    if grains is None and takes_grains(totals, method):
        other, size = along(source), grain_size(totals)
        if other is not None:
            grains = other.grains_along(size)
        else:
            grains = _grains.grind(_grains.Ties(blocks.low, blocks.n, blocks.n1), size)
    if isinstance(grains, _grains.Grains):
        steps = grains.n if grains.ends is None else grains.ends
        return grains if len(steps) <= _MANY_GRAINS else None
    return _table(blocks, source) if grains is None else (*grains, None)


def of_few(
    tables: Sequence[Blocks],
    totals: Sequence[Totals],
    method: Method,
    sources: Sequence[Source | None],
    *,
    fast: bool | None = None,
) -> dict[int, tuple[PValue, PValue]]:
    """Return the exact P-values of tables with few observations, by their numbers."""
    if method not in {"auto", "exact"}:
        return {}
    known = [
        i
        for i, each in enumerate(totals)
        if each.n <= _FEW_ROWS and each.equal_weights and _are_ties(tables[i], sources[i])
    ]
    numbers = [i for i in known if totals[i].n <= MOST]
    found = log10_pvalues([_table(tables[i], sources[i]) for i in numbers])
    if len(numbers) < len(known):
        from secant._inference import many  # noqa: PLC0415  (not for `import secant`)

        more = [
            i
            for i in known
            if totals[i].n > MOST and tables[i].least is None and many.suit(tables[i].n)
        ]
        found += many.log10_pvalues([_table(tables[i], None)[:3] for i in more], fast=bool(fast))
        numbers += more
    return {
        i: (PValue(logs[0], "exact", None), PValue(logs[1], "exact", None))
        for i, logs in zip(numbers, found, strict=True)
        if logs is not None
    }


def _are_ties(blocks: Blocks, source: Source | None) -> bool:
    """Tell whether ties are known: each block is one, or rows along another order are at hand."""
    known = blocks.least is None or along(source) is not None
    return known and not blocks.open.any()


def work(blocks: Blocks, totals: Totals, method: Method, source: Source | None = None) -> int:
    """Return the operations that finite-sample P-values take, 0 where none are computed."""
    finite = totals.n > MOST and method in {"auto", "exact"} and totals.sigma > 0
    if not finite or not totals.equal_weights or blocks.open.any():
        return 0
    if blocks.least is not None and _beyond_any_budget(totals, method):
        return 0
    if totals.n <= _FEW_ROWS and blocks.least is None:
        from secant._inference.many import work_of  # noqa: PLC0415  (as in _finite_sample)

        return work_of(len(blocks), totals.n)
    from secant._inference.finite import BUDGET, operations  # noqa: PLC0415  (as in _finite_sample)

    score, n, n1, ends = _table(blocks, source)
    return sum(operations(score, n, n1, which, ends, budget=BUDGET) for which in ("r", "mad"))


class Along(Protocol):
    """A source whose observations are in another order than that of scores."""

    @property
    def pairs(self) -> Pairs:
        """The observations by key and score."""
        ...

    @property
    def ends(self) -> IntArray:
        """Where ties along the order end among the sorted rows."""
        ...

    def grains_along(self, size: float) -> Grains | None:
        """Return the observations pooled along the order; None if there are few of them."""
        ...

    def score_counts(self) -> tuple[NumberArray, FloatArray]:
        """Return how many observations there are of each score, or in narrow cells of scores."""
        ...


def along(source: object) -> Along | None:
    """Return a source that is in another order than that of scores; None if it is not."""
    other: Any = source
    return other if getattr(source, "axis", None) is not None else None


def _table(ties: Blocks, source: Source | None) -> _Table:
    """Return scores, observations and successes in the order of the path, and where steps end."""
    other = along(source)
    if other is None:
        return ties.low, ties.n, ties.n1, None
    pairs = other.pairs
    return pairs.score, pairs.n0 + pairs.n1, pairs.n1, pairs.ends


def _beyond_any_budget(totals: Totals, method: Method) -> bool:
    """Tell whether there are too many observations, unless they have few distinct scores."""
    return method == "auto" and limit_is_trusted(totals) and totals.n > _MANY_ROWS


def _finite_sample(
    table: _Table | Grains,
    blocks: Blocks,
    totals: Totals,
    found: Extremes,
    *,
    method: Literal["auto", "exact"],
    rng: np.random.Generator,
    source: Source,
    fast: bool | None,
) -> tuple[PValue, PValue]:
    """Compute what the budget allows; exact methods asked for by name have none."""
    from secant._inference import finite, montecarlo  # noqa: PLC0415  (not for `import secant`)

    if isinstance(table, _grains.Grains):  # too many distinct scores to look at each
        r, mad = map(
            _certified, finite.of_grains(table, tables=lambda: _all_ties(source), fast=fast)
        )
        return _estimated(table, r), mad
    score, n, n1, ends = table
    trusted = limit_is_trusted(totals)
    # Where the limit is not to be trusted certainty is worth some patience.
    budget = finite.BUDGET * (1 if trusted else _PATIENCE)

    def affordable(which: str) -> bool:
        if method == "exact" or totals.n <= _FEW_ROWS:
            return True
        return finite.operations(score, n, n1, which, ends, budget=budget) <= budget

    can_r, can_mad = affordable("r"), affordable("mad")
    instead: tuple[PValue, ...] = ()
    if not (can_r and can_mad):
        if trusted:
            instead = _large_sample(blocks, totals, found, source)
        else:
            drawing = montecarlo.draw_ties(*table, rng=rng, draws=FEWEST_DRAWS, enough=ENOUGH)
            instead = tuple(map(_drawn, drawing))
    compute = finite.exact_mad if method == "exact" else finite.certified_mad
    r = _certified(finite.certified_r(*table, fast=fast)) if can_r else instead[0]
    if can_r and method == "auto":
        r = _one_number(blocks, table, r, found.ecce_r / totals.sigma, trusted=trusted)
    mad = _certified(compute(*table, fast=fast)) if can_mad else instead[1]
    return r, mad


def _all_ties(source: Source) -> Iterator[_Table]:
    """Go through the ties of observations of equal weight in order, some steps at a time."""
    if isinstance(source, Orderly):
        for rows in source.in_order():
            yield *_grains.ties_of(rows), None
        return
    other = along(source)
    score, happened, _ = source.sorted_rows()
    ends = np.arange(len(score)) if other is None else other.ends
    yield score, np.ones(len(score), np.int64), happened.astype(np.int64), ends


def _one_number(
    blocks: Blocks, table: _Table, certified: PValue, normalized: float, *, trusted: bool
) -> PValue:
    """Return ECCE-R's P-value between certified limits: the upper one if they are close.

    Draws are the same whatever generator was given, so that what is certified but for its second
    digit depends on no other group's draws.
    """
    from secant._inference import expected, finite, montecarlo  # noqa: PLC0415  (as above)

    if certified.bracket is None or not finite.too_wide(*certified.bracket):
        return certified
    low, high = certified.bracket
    coins = min(int(table[1].sum()), montecarlo.FEW * len(table[0]))
    if high < _UNDECIDED:
        return certified
    if trusted and expected.steps_are_small(blocks):
        pvalue, method = 1.0 - expected.chance_of_less(blocks, normalized), "asymptotic"
    elif coins * FEWEST_DRAWS <= _MOST_COINS:
        draws = min(DRAWS, max(FEWEST_DRAWS, _FEW_COINS // coins))
        rng = same_every_time(None)
        estimate, _ = montecarlo.draw_ties(*table, rng=rng, draws=draws)
        pvalue, method = estimate.pvalue, by_draws(estimate.draws)
    else:
        return certified
    return PValue(math.log10(min(max(pvalue, low), high)), method, certified.bracket)


def _estimated(grains: Grains, certified: PValue) -> PValue:
    """Return ECCE-R's P-value between limits that come from grains, as :func:`_one_number` does."""
    from secant._inference import finite, path, rare_draws  # noqa: PLC0415  (as above)

    if certified.bracket is None or not finite.too_wide(*certified.bracket):
        return certified
    low, high = certified.bracket
    steps, _, span = path.observe_grains(grains)
    points = rare_draws.events(steps) if high >= _UNDECIDED else None
    if points is None:
        return certified
    draws = min(DRAWS, max(FEWEST_DRAWS, int(_FEW_POINTS / (points + 1.0))))
    rng = same_every_time(None)
    pvalue = rare_draws.share_as_extreme(steps, span, rng=rng, draws=draws)
    return PValue(math.log10(min(max(pvalue, low), high)), by_draws(draws), certified.bracket)


def _monte_carlo(
    blocks: Blocks, totals: Totals, source: Source, rng: np.random.Generator, draws: int
) -> tuple[PValue, PValue]:
    from secant._base.progress import reporting  # noqa: PLC0415
    from secant._inference.montecarlo import draw_rows, draw_ties  # noqa: PLC0415  (as above)

    with reporting("Drawing outcomes") as progress:
        drawing: dict[str, Any] = {
            "rng": rng,
            "draws": draws,
            "enough": ENOUGH,
            "progress": progress,
        }
        if totals.equal_weights:
            estimates = draw_ties(*_table(blocks, source), **drawing)
        else:
            scores, labels, weights = source.sorted_rows()
            drawing["outcome_weights"] = totals.outcome_weights
            other = along(source)
            drawing["ends"] = None if other is None else other.ends
            estimates = draw_rows(scores, weights, labels, **drawing)
    r, mad = estimates
    return _drawn(r), _drawn(mad)


def _of_heavy_rows(
    totals: Totals, source: Source, rng: np.random.Generator
) -> tuple[PValue, PValue]:
    """Draw rows whose steps are large as they are, and all others as normal steps."""
    from secant._base.progress import reporting  # noqa: PLC0415
    from secant._inference.montecarlo import count_exceedances  # noqa: PLC0415  (as above)

    model = _sifted(totals, source)
    draws = _affordable_draws(model.cells)
    with reporting("Drawing outcomes") as progress:
        r, mad = count_exceedances(
            model, model.limits, rng=rng, draws=draws, enough=ENOUGH, progress=progress
        )
    return _drawn(r), _drawn(mad)


def _sifted(totals: Totals, source: Source, heavy: float | None = None) -> Sifted:
    """Sift all rows in order, and again where rows heavy beside all others hardly ever happen."""
    from secant._inference.sieve import Sieve  # noqa: PLC0415  (as above)

    sieve = Sieve(totals, heavy)
    if isinstance(source, Orderly):
        for rows in source.in_order():
            sieve.add(rows)
    else:
        other = along(source)
        sieve.add_all(*source.sorted_rows(), None if other is None else other.ends)
    lower = sieve.too_coarse()
    return sieve.sifted() if lower is None else _sifted(totals, source, lower)


def limit_is_trusted(totals: Totals) -> bool:
    """Tell whether the Brownian limit can be relied on."""
    return totals.rho3 <= _MOST_RHO3 * (1 + 1e-12)


def _brownian(found: Extremes, totals: Totals) -> tuple[PValue, PValue]:
    """Return the P-values of the limit of many observations as it is."""
    logs = (law.logsf(getattr(found, name) / totals.sigma) for _, name, law in METRICS)
    r, mad = (PValue(log / math.log(10), "asymptotic", None) for log in logs)
    return r, mad


def _large_sample(
    blocks: Blocks, totals: Totals, found: Extremes, source: Source
) -> tuple[PValue, PValue]:
    """Return the P-values of the limit of many observations, tilted."""
    from secant._inference.tilt import Bounded, log_pvalue  # noqa: PLC0415  (not for `import secant`)

    steps: Steps
    if totals.equal_weights:
        other = along(source)
        steps = _jumps(blocks, totals) if other is None else _narrow(*other.score_counts(), totals)
        unit = totals.weight / totals.n
    elif totals.third is None or not totals.steps:
        return _brownian(found, totals)
    else:
        unit = math.sqrt(totals.variance)  # so that powers of it neither overflow nor vanish
        steps = Bounded(1.0, totals.rho3, totals.steps[0] / unit)

    def tilted(metric: Metric) -> PValue:
        total = getattr(found, metric.attribute) * totals.weight / unit
        return PValue(log_pvalue(metric.law, steps, total) / math.log(10), "asymptotic", None)

    r, mad = map(tilted, METRICS)
    return r, mad


def _jumps(blocks: Blocks, totals: Totals) -> Jumps:
    """Return the observations of equal weight: the scores of ties, and mean scores of cells."""
    from secant._inference.tilt import Jumps  # noqa: PLC0415  (as above)

    mean = blocks.scored / blocks.weight
    score = np.where(blocks.open, np.clip(mean, blocks.low, blocks.high), blocks.low)
    random = (score > 0.0) & (score < 1.0)
    if not blocks.open.any():
        return Jumps(blocks.n[random], score[random])
    return _narrow(blocks.n, score, totals)


def _narrow(n: NumberArray, score: FloatArray, totals: Totals) -> Jumps:
    """Return the observations of cells of scores at their means."""
    from secant._inference.tilt import Jumps  # noqa: PLC0415  (as above)

    random = (score > 0.0) & (score < 1.0)
    n, score = n[random], score[random]
    variance = _variance(totals)
    narrower = float((n * score * (1.0 - score)).sum()) - variance
    # Where cells are so narrow that rounding shows, nothing is taken off for it.
    return Jumps(n, score, narrower=max(narrower - 1e-12 * variance, 0.0))


def _certified(bracket: Bracket) -> PValue:
    limits = 10**bracket.low, 10**bracket.high
    exact = bracket.low == bracket.high
    return PValue(bracket.high, "exact" if exact else "certified", None if exact else limits)


def _drawn(estimate: Estimate) -> PValue:
    return PValue(math.log10(estimate.pvalue), by_draws(estimate.draws), None)
