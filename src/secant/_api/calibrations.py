"""From groups of observations to their results, all groups in one go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from secant import null
from secant._base.progress import reporting
from secant._blocks.key_sums import Ask
from secant._blocks.looking import resolve_all
from secant._blocks.table import merge
from secant._inference import choose, clusters, deciding, tolerance
from secant._inference.design import refuse_outcome_weights
from secant._inference.limits import across_pools, half_width, interval, normalize, pooled
from secant._input.combinations import check_combination
from secant._metrics.ecce import METRICS, could_hold_an_extreme, extremes
from secant._metrics.shape import could_turn
from secant._results.calibration import Calibration
from secant._results.parts import Statistic, power_of_ten
from secant._results.predictions import Predictions
from secant._results.wording import left_out
from secant._results.words import words_along
from secant.errors import Argument, InputError, Message, SecantError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from secant._base.types import BoolArray
    from secant._blocks.looking import Groups, RowsInOrder, Source
    from secant._blocks.table import Blocks, Totals
    from secant._inference.clusters import Flips
    from secant._inference.draws import PValue, PValues
    from secant._inference.mean_and_shape import MeanAndShape
    from secant._input.axis import Axis
    from secant._input.options import Method
    from secant._metrics.ecce import Extremes, Metric

__all__ = ["calibration_of", "calibrations", "case_of", "thinned"]

# Chance of so small an ECCE-R below which predictions are taken for fitted to their outcomes.
_NEXT_TO_IMPOSSIBLE = 1e-4
# Groups in files or engines up to which rows are looked at for the steepest range of each.
_SHARP_GROUPS = 128
# Distinct scores below which the path is too coarse for the Brownian limit.
_FEW_SCORES = 50
# Times that an outcome is expected, from which on it is missed if it never was: exp(-3) is 5%.
_MISSED = 3.0


def calibrations(
    groups: Groups,
    *,
    method: Method,
    confidence_level: float,
    rng: np.random.Generator | None = None,
    clustered: bool = False,
    also: Callable[[int, Blocks, Totals], BoolArray] | None = None,
) -> list[Calibration]:
    """Assess every group by itself, looking at the data for all of them together.

    ``also`` marks further blocks of a group to look into in the same looks, because somebody will
    ask for them.

    Raises
    ------
    InputError
        If rows are ``clustered`` and no group has enough clusters.
    """
    looks = groups.blocks()
    totals = [sums for _, sums in looks]
    # Where signs of clusters do not decide alone, or there are none.
    alone = [not (clustered and clusters.suffice(sums)) for sums in totals]
    asked = [i for i in np.flatnonzero(alone).tolist() if choose.needs_rows(*looks[i], method)]
    rows = groups.in_order(asked) if asked else {}
    # Groups whose rows cannot be had.
    short = set(asked) - rows.keys()
    if _lacks_rows(groups, totals, method, short):
        raise _too_many_rows(method)
    totals = _with_steps(totals, groups, rows)
    sharp = {
        number: tolerance.AtQuantiles(looks[number][0], totals[number], confidence_level)
        for number in ([] if clustered else _looked_at_once(groups, len(looks)))
    }

    def matters(number: int, blocks: Blocks) -> BoolArray:
        sums = totals[number]
        found = _shown_by(blocks, sums, confidence_level)
        if alone[number]:
            found |= choose.needed(blocks, sums, method)
            found |= deciding.needed(blocks, sums, groups.source(number))
        if clustered:
            found |= clusters.needed(blocks)
        if also is not None:
            found |= also(number, blocks, sums)
        return sharp[number].marked(blocks, found) if number in sharp else found

    tables = resolve_all([blocks for blocks, _ in looks], matters, groups.refine)
    cells: dict[int, Blocks | None] = {}
    for number, quantiles in sharp.items():
        tables[number], cells[number] = quantiles.taken(tables[number])
    rngs = [None] * len(tables) if rng is None else rng.spawn(len(tables))
    flips = _flipped(groups, tables, totals, confidence_level, rngs) if clustered else {}
    cases = [
        case_of(blocks, sums, groups.source(number), rows=rows.get(number), rng=rngs[number])
        for number, (blocks, sums) in enumerate(zip(tables, totals, strict=True))
    ]
    numbers = [i for i, each in enumerate(alone) if each]
    independent = dict(
        zip(numbers, choose.pvalues([cases[i] for i in numbers], method), strict=True)
    )
    tested = deciding.decide({i: cases[i] for i in numbers}, independent, method, groups.sums)

    def one(number: int) -> Calibration:
        case, of_case = cases[number], flips.get(number)
        pvalues = clusters.pvalues(of_case, case.totals, independent.get(number))
        decided = clusters.decided(of_case, case.totals, tested.get(number))
        if of_case is not None and decided.place >= 0:  # so many rows are before it
            reached = np.searchsorted(np.cumsum(case.blocks.n), decided.place)
            decided = decided._replace(place=int(reached))
        result = calibration_of(
            case, pvalues, decided, confidence_level, flips=of_case, short=number in short
        )
        return replace(result, _cells=cells.get(number)) if result.found else result

    results = [one(0)] if len(tables) == 1 else list(_in_turn(one, len(tables)))
    groups.release()  # so that a result does not keep rows
    return results


def _with_steps(
    totals: Sequence[Totals], groups: Groups, rows: Mapping[int, RowsInOrder]
) -> list[Totals]:
    """Return totals with the largest possible steps, where walks over rows know them better."""
    known = {number: groups.source(number).steps() for number in rows}
    return [
        each if (steps := known.get(number)) is None else replace(each, steps=steps)
        for number, each in enumerate(totals)
    ]


def _shown_by(blocks: Blocks, totals: Totals, confidence_level: float) -> BoolArray:
    """Mark the blocks that decide what a printed result says."""
    found = could_hold_an_extreme(blocks, totals.weight)
    # Looked at now, the shape takes no look of its own when the result is printed.
    found |= could_turn(blocks, totals.weight, half_width(null.range, totals, 1 - confidence_level))
    if totals.outcome_weights is not None:
        found |= across_pools(blocks)
    return found


def _looked_at_once(groups: Groups, count: int) -> list[int]:
    """Return the groups whose steepest range is found in the looks of the assessment, if at all.

    Where rows do not stay at hand nobody reads them again for it.
    """
    if count > _SHARP_GROUPS:
        return []
    return [number for number in range(count) if not groups.source(number).at_hand]


def _flipped(
    groups: Groups,
    tables: Sequence[Blocks],
    totals: Sequence[Totals],
    confidence_level: float,
    rngs: Sequence[np.random.Generator | None],
) -> dict[int, Flips]:
    """Flip the signs of clusters, group by group."""
    if any(each.outcome_weights is not None for each in totals):
        check_combination(outcome_weights=True, clusters=True)
    families = groups.families
    plans = [clusters.plan(len(tables[family]), confidence_level) for family in families]
    found = groups.sums(
        [
            Ask(
                tables[number],
                number,
                clusters=True,
                most=planned.limit,
                shift=deciding.UNSHIFTED,
            )
            for family, planned in zip(families, plans, strict=True)
            for number in range(family.start, family.stop)
        ]
    )
    if sum(int(each.n.sum()) for each in found) != sum(each.n for each in totals):
        msg = "the data were changed while they were assessed: assess them again"
        raise SecantError(msg)
    flips = {}
    for family, planned in zip(families, plans, strict=True):
        most = max(np.unique(each.key).size for each in found[family])
        if most < clusters.FEWEST:
            raise _too_few_clusters(most, len(tables[family]))
        for number in range(family.start, family.stop):
            weight = totals[number].weight
            flips[number] = clusters.flip(found[number], weight, planned, rngs[number])
    return flips


def _too_few_clusters(most: int, groups: int) -> InputError:
    inside = "" if groups == 1 else f" in any of {groups:,} groups"
    return InputError(
        Argument("clusters"),
        f" makes {most:,} cluster{'' if most == 1 else 's'}{' at most' if groups > 1 else ''}"
        f"{inside}; fewer than {clusters.FEWEST} cannot tell chance from miscalibration, since "
        "what happens by chance is seen from cluster to cluster",
        hint="; take smaller units if these hold independent ones, or gather more",
    )


def _in_turn(one: Callable[[int], Calibration], count: int) -> Iterator[Calibration]:
    """Assess groups one after the other, and say how far that is."""
    with reporting("Assessing groups") as report:
        for number in range(count):
            yield one(number)
            report(number + 1, count)


def case_of(
    blocks: Blocks,
    totals: Totals,
    source: Source,
    *,
    rows: RowsInOrder | None = None,
    rng: np.random.Generator | None = None,
) -> choose.Case:
    """Return observations whose blocks are resolved as far as needed, with what they reach."""
    blocks, found = extremes(blocks, totals.weight)
    if totals.outcome_weights is not None:
        totals = replace(totals, pooled=pooled(blocks))
    return choose.Case(blocks, totals, found, source, rows, rng)


def calibration_of(
    case: choose.Case,
    pvalues: PValues,
    decided: MeanAndShape,
    confidence_level: float,
    *,
    flips: Flips | None = None,
    short: bool = False,
) -> Calibration:
    """Put together the result for observations.

    ``decided`` is the test that decides, ``flips`` is what the signs of clusters have shown;
    ``short`` says that rows for another P-value could not be had.
    """
    blocks, totals, found, source = case.blocks, case.totals, case.found, case.source
    sigma = totals.sigma

    def statistic(metric: Metric, p: PValue) -> Statistic:
        value = getattr(found, metric.attribute)
        return Statistic(
            value=value,
            normalized=normalize(value, sigma),
            pvalue=power_of_ten(p.log10),
            log10_pvalue=p.log10,
            method=p.method,
            draws=p.draws,
            ci=interval(value, metric.law, totals, 1 - confidence_level, flips),
            name=metric.name,
        )

    happened, forbidden = float(blocks.w1.sum()), source.forbidden
    axis = source.axis
    return Calibration(
        n=totals.n,
        sigma=sigma,
        ecce_r=statistic(METRICS[0], pvalues[0]),
        ecce_mad=statistic(METRICS[1], pvalues[1]),
        mean_score=_share(happened - blocks.total_gain, totals),
        base_rate=_share(happened, totals),
        confidence_level=float(confidence_level),
        forbidden=forbidden.rows,
        n_forbidden=forbidden.count,
        warnings=(
            *refuse_outcome_weights(blocks, totals),
            *_warnings(blocks, totals, found, pvalues[0].method, short=short, axis=axis),
            *clusters.warnings(flips),
            *([left_out(source.left_out)] if source.left_out else ()),
        ),
        n_clusters=None if flips is None else flips.n_clusters,
        _predictions=Predictions(
            blocks, totals, source, float(confidence_level), axis, flips, forbidden.count
        ),
        _extremes=found,
        _decided=decided,
        _where=deciding.place_of(case, decided),
        axis=axis,
        n_left_out=source.left_out,
    )


def _fits_too_well(blocks: Blocks, totals: Totals, found: Extremes) -> bool:
    """Tell whether ECCE-R is so small as to be next to impossible for calibrated predictions."""
    if not 0 < totals.sigma >= found.ecce_r or totals.third is None:
        return False
    from secant._inference.expected import (  # noqa: PLC0415  (seldom asked)
        chance_of_less,
        chance_of_so_little,
    )

    if totals.equal_weights:
        total = found.ecce_r * totals.weight
        if chance_of_so_little(blocks, total) < _NEXT_TO_IMPOSSIBLE:
            return True
    if not choose.limit_is_trusted(totals):
        return False
    return chance_of_less(blocks, found.ecce_r / totals.sigma) < _NEXT_TO_IMPOSSIBLE


def _share(weight: float, totals: Totals) -> float:
    """Return a share of all weight, which rounding moves neither below nothing nor beyond all."""
    return min(max(weight / totals.weight, 0.0), 1.0)


def thinned(result: Calibration, most: int) -> Calibration:
    """Return a result that keeps about so many blocks, to take less memory.

    Nothing that it says changes: its source is asked again for what is no longer kept.
    """
    blocks, found = result._blocks, result._extremes  # noqa: SLF001  (made here)
    if len(blocks) <= most:
        return result
    # The ties on both sides of an extreme stay, so that the scores there are exact.
    beside = [end + step for end in (found.argmin, found.argmax) for step in (-1, 0, 1)]
    even = np.linspace(0, len(blocks), most, endpoint=False).astype(np.int64)
    starts = np.unique(np.concatenate([even, beside]))
    starts = starts[(starts >= 0) & (starts < len(blocks))]
    argmin, argmax = np.searchsorted(starts, [found.argmin, found.argmax]).tolist()
    return replace(
        result,
        _predictions=replace(result._predictions, blocks=merge(blocks, starts)),  # noqa: SLF001
        _extremes=replace(found, argmin=argmin, argmax=argmax),
    )


def _lacks_rows(
    groups: Groups, totals: Sequence[Totals], method: Method, short: Collection[int]
) -> bool:
    """Tell whether P-values asked for by name take rows that cannot be had."""
    if method == "exact":
        return any(
            sums.equal_weights and source.axis is not None and not source.has_pairs
            for sums, source in zip(totals, map(groups.source, range(len(totals))), strict=True)
        )
    return bool(short) and method != "auto"


def _too_many_rows(method: Method) -> InputError:
    return InputError(
        Argument("method", method),
        " needs more rows than may leave an engine, 100,000",
        hint=Message(
            "; fetch the rows first (.collect(), .compute(), .df(), .toPandas()), or use ",
            Argument("method", "asymptotic"),
        ),
    )


def _is_missed(blocks: Blocks, *, always: bool) -> bool:
    """Tell whether the outcome that never was is one that scores made likely: 19 times in 20."""
    chance = 1.0 - blocks.mean_score if always else blocks.mean_score
    return float((blocks.n * chance).sum()) >= _MISSED


def _warnings(
    blocks: Blocks,
    totals: Totals,
    found: Extremes,
    method: str,
    *,
    short: bool,
    axis: Axis | None,
) -> Iterator[str]:
    """Say what to keep in mind when reading the numbers, a line each."""
    events, words = int(blocks.n1.sum()), words_along(axis)
    if events in (0, totals.n) and _is_missed(blocks, always=bool(events)):
        yield words.always if events else words.never
    heavy = not totals.equal_weights and not choose.limit_is_trusted(totals)
    if totals.few_events:
        yield words.few
    elif heavy and totals.sigma > 0:
        yield "Few rows carry most of the weighted variance: confidence limits are approximate."
    if _fits_too_well(blocks, totals, found):
        yield (
            "The outcomes are closer to these scores than chance leaves those of held-out "
            "predictions: were the scores fitted to them? Then the P-value says nothing."
        )
    if method != "large-sample":
        return
    if short:
        yield (
            "The P-value is the large-sample one: another takes more rows than may leave an "
            "engine, 100,000. Fetch the rows first to get it."
        )
    if heavy and not short:
        yield Message(
            "With such weights the large-sample P-value is not to be trusted; use ",
            Argument("method", "monte-carlo"),
            ".",
        )
    few = len(blocks) < _FEW_SCORES and totals.n > 2 * _FEW_SCORES
    if few and not (short or blocks.open.any()):
        better = "exact" if totals.equal_weights else "monte-carlo"
        what = "score" if axis is None else f"value of {axis.title}"
        many = what.replace("value", "values") if axis is not None else "scores"
        yield Message(
            f"Only {len(blocks)} distinct {many if len(blocks) > 1 else what}: the "
            "large-sample P-value is rough; use ",
            Argument("method", better),
            ".",
        )
