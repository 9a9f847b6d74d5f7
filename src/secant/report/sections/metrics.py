"""The table of all numbers, each with its definition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from secant._results.wording import how, level, metric, percent, plain_pvalue, pvalue
from secant._results.words import words_of
from secant.report._definitions import definitions
from secant.report._html import Markup, name, row, table, tag
from secant.report._parts import term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._results.calibration import Calibration

__all__ = ["section"]

_USUAL_BINS = 15


def section(
    names: Sequence[str], results: Sequence[Calibration], numbers: Sequence[dict[str, Any]]
) -> Markup:
    """Return every number of every model."""
    columns = [_column(*each) for each in zip(results, numbers, strict=True)]
    meaning = definitions(results[0])
    heads = [name(each) for each in names] if len(names) > 1 else ["Value"]
    body = [
        row(
            [each.get(label, "\N{EN DASH}") for each in columns],
            ["number"] * len(columns),
            head=term(label, meaning[label]),
        )
        for label in dict.fromkeys(label for each in columns for label in each)
    ]
    return tag(
        "section",
        tag("h2", "All numbers"),
        tag("p", "Point at a name, or tap it, for its definition.", class_="lead screen"),
        table([("Metric", ""), *((each, "number") for each in heads)], body),
        id="metrics",
    )


def _column(result: Calibration, numbers: dict[str, Any]) -> dict[str, str]:
    """Return the numbers of one model, rounded for reading."""
    metrics = {
        **_statistics(result),
        "Sigma": metric(result.sigma),
        # No ECCE-R exceeds 1.
        "Detectable ECCE-R": metric(result.detectable) if result.detectable < 1 else "none",
    }
    if words_of(result).coverage:  # intervals, which have one score, the level
        return {
            "Intervals": f"{result.n:,}",
            **_clusters(result),
            "Promised": level(result.mean_score),
            "Covered": percent(result.base_rate),
            **metrics,
        }
    return {
        "Predictions": f"{result.n:,}",
        **_clusters(result),
        "Mean forecast": percent(result.mean_score),
        "Mean outcome": percent(result.base_rate),
        **metrics,
        **_scores(result),
        **_for_reviewers(result),
        **_eces(numbers["bins"] or {}),
        **(
            {"Scores of 0 or 1 that were wrong": f"{result.n_forbidden:,}"}
            if result.n_forbidden
            else {}
        ),
    }


def _clusters(result: Calibration) -> dict[str, str]:
    return {} if result.n_clusters is None else {"Clusters": f"{result.n_clusters:,}"}


def _statistics(result: Calibration) -> dict[str, str]:
    written: dict[str, str] = {}
    for named, value in result.statistics:
        low, high = value.ci
        by_chance = result.by_chance(named)
        written |= {
            named.name: metric(value.value),
            f"{named.name}, limits": f"{metric(low)} to {metric(high)}",
            f"{named.name}, in sigma": f"{metric(value.normalized)} (by chance {by_chance:.2g})",
            f"{named.name}, P-value": f"{pvalue(value).removeprefix('= ')} ({how(value)})",
        }
    return written


def _scores(result: Calibration) -> dict[str, str]:
    """Return the proper scores, each with what it is made of."""
    written = {}
    for label, each in zip(("Brier score", "Log loss"), result.proper_scores, strict=True):
        if each is not None:
            finite = math.isfinite(each.value)
            written[label] = metric(each.value) if finite else "infinite"
            if finite:
                lost, gained, left = map(metric, (each.mcb, each.dsc, each.unc))
                written[f"{label}, parts"] = f"{lost} \N{MINUS SIGN} {gained} + {left}"
    return written


def _for_reviewers(result: Calibration) -> dict[str, str]:
    """Return the older tests, where they can be had."""
    cox, test = result.cox, result.spiegelhalter
    written = {}
    if math.isfinite(cox.slope):
        known = math.isfinite(cox.pvalue)
        fits = ((cox.intercept, cox.intercept_error), (cox.slope, cox.slope_error))
        told = [
            f"{metric(a)} \N{PLUS-MINUS SIGN} {metric(b)}" if known else metric(a) for a, b in fits
        ]
        told += [f"P {plain_pvalue(cox.pvalue)}"] if known else []
        written["Cox's intercept and slope"] = "; ".join(told)
    if math.isfinite(test.z):
        written["Spiegelhalter's Z"] = f"{metric(test.z)}; P {plain_pvalue(test.pvalue)}"
    return written


def _eces(bins: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    labels = {"uniform": "ECE, 15 equal widths", "quantile": "ECE, 15 equal counts"}
    return {
        labels[strategy]: f"{metric(row['ece'])} (noise floor {metric(row['noise_floor'])})"
        for strategy, rows in bins.items()
        for row in rows
        if row["n_bins"] == _USUAL_BINS
    }
