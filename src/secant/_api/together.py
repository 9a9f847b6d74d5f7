"""Several models in the same files, and their groups, assessed in the passes that one takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from secant._api.assess_by import ranked
from secant._api.calibrations import calibrations
from secant._inference.adjust import adjusted
from secant._input.combinations import check_combination
from secant._input.options import Adjust, Method, Missing, Reading, check_choice, check_level
from secant.sources.open import open_side_by_side
from secant.sources.repeated import repeated_units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from secant._base.types import BoolArray
    from secant._blocks.table import Blocks, Totals
    from secant._input.options import WeightKind
    from secant._results.assessments import Assessments
    from secant._results.calibration import Calibration

__all__ = ["Together", "assess_together"]


class Together(NamedTuple):
    """What was found: each model by itself, and the groups of each where there are any."""

    models: dict[str, Calibration]
    groups: dict[str, Assessments]


def assess_together(
    y_true: str,
    y_probs: Mapping[str, str],
    by: list[str] | None = None,
    *,
    data: Any,
    called: str = "y_prob",
    adjust: Adjust = "holm",
    sample_weight: str | None = None,
    weight_kind: WeightKind = "sampling",
    outcome_weights: tuple[float, float] | None = None,
    clusters: str | None = None,
    order_by: Any = None,
    pos_label: Any = None,
    method: Method = "auto",
    confidence_level: float = 0.95,
    missing: Missing = "refuse",
    also: Callable[[Blocks, Totals], BoolArray] | None = None,
) -> Together | None:
    """Return what :func:`assess` and :func:`assess_by` do of several models in the same files.

    Parameters
    ----------
    y_true, by, data, sample_weight, clusters
        As in :func:`assess_by`; without ``by`` there are no groups.
    y_probs
        The columns of scores by the names of the models.
    called
        What messages call the argument that names a column of scores; ``{}`` is the model there.
    also
        Marks blocks of all rows that somebody will ask for, so that no further pass is needed.
    order_by
        Another order than that of scores, which is not read like this.
    adjust, weight_kind, outcome_weights, pos_label, method, confidence_level, missing
        As in :func:`assess_by`.

    Returns
    -------
    Together or None
        None where the data are not in files, or are to be in another order.

    Raises
    ------
    InputError
        As :func:`assess_by`.
    """
    if order_by is not None:
        return None
    check_choice("method", method, Method)
    check_choice("adjust", adjust, Adjust)
    check_level(confidence_level)
    check_combination(clusters=clusters, method=method, outcome_weights=outcome_weights)
    looks = open_side_by_side(
        y_true,
        [(called.format(repr(name)), column) for name, column in y_probs.items()],
        by,
        data=data,
        sample_weight=sample_weight,
        clusters=clusters,
        reading=Reading(weight_kind, pos_label, outcome_weights, missing),
        moments=also is not None,
    )
    if looks is None:
        return None

    def asked(number: int, blocks: Blocks, totals: Totals) -> BoolArray:
        if also is None or number >= len(y_probs):
            return blocks.open & False
        return also(blocks, totals)

    results = calibrations(
        looks,
        method=method,
        confidence_level=confidence_level,
        clustered=clusters is not None,
        also=asked,
    )
    models = dict(zip(y_probs, results, strict=False))
    if clusters is None:
        for name, column in y_probs.items():
            hint = repeated_units(data, {y_true, column, sample_weight})
            if hint is not None:
                models[name] = replace(models[name], warnings=(*models[name].warnings, hint))
    groups = {}
    of_groups = zip(looks.looks[len(y_probs) :], looks.families[len(y_probs) :], strict=True)
    for name, (look, family) in zip(y_probs, of_groups, strict=False):
        found = results[family]
        pvalues = adjusted(adjust, [result.pvalue for result in found])
        groups[name] = ranked(
            look.keys,
            found,
            pvalues,
            adjust=adjust,
            by=look.by,
            empty=look.empty,
            left_out=look.left_out,
        )
    return Together(models, groups)
