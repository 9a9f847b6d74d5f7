"""Many groups, one assessment each, read together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._api.calibrations import calibrations
from secant._inference.adjust import JOINT, adjusted, adjusted_logs
from secant._inference.clusters import FEWEST
from secant._inference.limits import at_level, least_log_pvalue
from secant._input.combinations import check_combination
from secant._input.options import (
    Adjust,
    Method,
    Missing,
    Reading,
    check_choice,
    check_level,
    generator,
)
from secant._results.assessments import Assessments, Group
from secant.sources.open import open_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import FloatArray
    from secant._blocks.table import Blocks
    from secant._input.options import ClassAdjust, WeightKind
    from secant._results.calibration import Calibration

__all__ = ["assess_by", "ranked"]


def assess_by(
    y_true: Any,
    y_prob: Any,
    by: Any,
    *,
    data: Any = None,
    adjust: Adjust = "holm",
    sample_weight: Any = None,
    weight_kind: WeightKind = "sampling",
    outcome_weights: tuple[float, float] | None = None,
    clusters: Any = None,
    order_by: Any = None,
    pos_label: Any = None,
    method: Method = "auto",
    confidence_level: float = 0.95,
    missing: Missing = "refuse",
    rng: Any = None,
) -> Assessments:
    """Assess the calibration of every group, with P-values adjusted for their number.

    It tells which groups are miscalibrated. Testing twenty calibrated groups at 5% each finds
    one by chance; adjusted P-values do not.

    Parameters
    ----------
    y_true, y_prob, sample_weight, weight_kind, outcome_weights, pos_label, method
        As in :func:`assess`.
    by : array-like of shape (n,), or a list or a dict of them
        The group of each prediction, or one in each respect, by name in a dict; with ``data``, the
        name of a column or a list of names. A missing value is a group of its own, with key None.
        The outcomes cannot be groups: among rows chosen by what happened, even perfect forecasts
        look wrong.
    data : optional
        Where the predictions are, if not in arrays; as in :func:`assess`. All groups are
        assessed in the same passes over the data.
    adjust : {"holm", "benjamini-hochberg"}
        ``"holm"`` keeps the chance of any false finding at most 1 - ``confidence_level``;
        ``"benjamini-hochberg"`` the expected share of false ones among the findings.
    clusters : array-like of shape (n,), or a list of them, optional
        Which rows belong together, as in :func:`assess`; a cluster may have rows in several
        groups. A group with fewer than 20 clusters is ``"too few"`` to say anything.
    order_by : array-like of shape (n,), optional
        What to put the predictions of each group along, as in :func:`assess`.
    confidence_level : float
        As in :func:`assess`.
    missing : {"refuse", "drop"}
        As in :func:`assess`; rows left out are counted for all groups together.
    rng : int or numpy.random.Generator, optional
        Randomness for simulated P-values, which are the same in every run without it.

    Returns
    -------
    Assessments
        A table, smallest adjusted P-value first, and a mapping from group to result.

    Raises
    ------
    InputError
        If anything in the input is unusable; the message names the argument, the value and
        its place.

    References
    ----------
    .. [1] S. Holm (1979). "A simple sequentially rejective multiple test procedure." Scandinavian
       Journal of Statistics 6(2). https://www.jstor.org/stable/4615733
    .. [2] Y. Benjamini, Y. Hochberg (1995). "Controlling the false discovery rate." Journal of the
       Royal Statistical Society B 57(1). https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> import numpy as np
    >>> import secant
    >>> rng = np.random.default_rng(0)
    >>> forecast = rng.random(3000)
    >>> segment = rng.choice(["north", "south", "west"], 3000)
    >>> chance = np.where(segment == "west", forecast**2, forecast)
    >>> happened = rng.random(3000) < chance
    >>> result = secant.assess_by(happened, forecast, segment)
    >>> result.failing
    ('west',)
    >>> result["west"].worst.direction
    'too high'
    """
    check_choice("method", method, Method)
    check_choice("adjust", adjust, Adjust)
    check_level(confidence_level)
    check_combination(clusters=clusters, method=method, outcome_weights=outcome_weights)
    draws = generator(rng)
    reading = Reading(weight_kind, pos_label, outcome_weights, missing)
    groups = open_groups(
        y_true,
        y_prob,
        by,
        data=data,
        sample_weight=sample_weight,
        clusters=clusters,
        order_by=order_by,
        reading=reading,
    )
    results = calibrations(
        groups,
        method=method,
        confidence_level=confidence_level,
        rng=draws,
        clustered=clusters is not None,
    )
    pvalues = adjusted(adjust, [result.pvalue for result in results])
    return ranked(
        groups.keys,
        results,
        pvalues,
        adjust=adjust,
        by=groups.by,
        empty=groups.empty,
        left_out=groups.left_out,
    )


def ranked(
    keys: Sequence[Any],
    results: Sequence[Calibration],
    pvalues: FloatArray,
    *,
    adjust: ClassAdjust,
    by: tuple[str, ...],
    empty: tuple[Any, ...] = (),
    what: str = "group",
    draws: int | None = None,
    left_out: int = 0,
) -> Assessments:
    """Put groups in order, the smallest adjusted P-value first."""
    level = results[0].confidence_level

    def rank(number: int) -> tuple[float, ...]:
        """Return what to sort by, less the last digits, which depend on the order of rows."""
        result = results[number]
        numbers = float(pvalues[number]), result.log10_pvalue, -result.ecce_r.normalized
        return *(float(f"{value:.9g}") for value in numbers), number

    order = sorted(range(len(results)), key=rank)
    alone = [each.ecce_r if adjust == JOINT else each for each in results]
    logs = adjusted_logs(adjust, pvalues, [each.log10_pvalue for each in alone])
    rows = (_group(keys[i], results[i], float(pvalues[i]), logs[i], 1 - level) for i in order)
    return Assessments(tuple(rows), by, adjust, level, empty, what, draws, n_left_out=left_out)


def _group(key: Any, result: Calibration, pvalue: float, log10: float, alpha: float) -> Group:
    if at_level(pvalue, alpha):
        return Group(key, result, pvalue, "miscalibrated", log10)
    too_few = (result.n_clusters or FEWEST) < FEWEST or _nothing_could_be_found(result, alpha)
    return Group(key, result, pvalue, "too few" if too_few else "none found", log10)


def _nothing_could_be_found(result: Calibration, alpha: float) -> bool:
    """Tell whether no outcome of a group has a P-value as small as alpha."""
    blocks = result._blocks  # noqa: SLF001  (made here)
    equal = result._totals.equal_weights and blocks.least is None  # noqa: SLF001
    if equal and blocks.low[0] > 0.0 and blocks.high[-1] < 1.0:
        # That nothing happens, or everything, is most likely where all have the same score.
        mean, n = result.mean_score, result.n
        if _decided(mean**n + (1.0 - mean) ** n, blocks) <= alpha:
            return False
    least = float(np.exp(least_log_pvalue(blocks)))
    return not at_level(_decided(least, blocks) if equal else least, alpha)


def _decided(least: float, blocks: Blocks) -> float:
    """Return the least P-value that decides, given that of ECCE-R."""
    return least * (1.0 - math.log(least)) if len(blocks) > 1 and least > 0.0 else least
