"""What the paper says, to put beside what we compute.

Two sources: the numbers the paper prints, and values that its published code computes (kept in
``reference.json``), which nobody printed but which its figures show.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from itertools import product
from typing import TYPE_CHECKING, Any

from secant.paper import experiments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from secant.paper.experiments import FixedRow, Statistics

__all__ = ["CLOSE", "LABELS", "Comparison", "agreement", "compare", "printed"]

CLOSE = 1e-12
"""Relative difference up to which a value of the paper's code counts as ours."""

LABELS = {
    "ece1": "ECE\N{SUPERSCRIPT ONE}",
    "ece2": "ECE\N{SUPERSCRIPT TWO}",
    "ecce_mad": "ECCE-MAD",
    "ecce_r": "ECCE-R",
    "ecce_mad_normalized": "ECCE-MAD / \N{GREEK SMALL LETTER SIGMA}",
    "ecce_r_normalized": "ECCE-R / \N{GREEK SMALL LETTER SIGMA}",
}
"""What the metrics are called."""

_BELOW_ROUNDING = (
    "The paper subtracts a distribution function from one, which leaves nothing below about 1e-16. "
    "We add up the tail itself."
)
_MISPLACED = (
    "After an empty bin the paper\N{RIGHT SINGLE QUOTATION MARK}s code moves on by one bin only, "
    "which puts {} of 32,768 rows in a wrong bin. Our bins are genuine."
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number, or many of a kind, as computed here and as given by the paper.

    Attributes
    ----------
    what : str
        What is compared.
    ours, theirs : str
        As they are to be read.
    agrees : bool
        Whether they are the same, to the digits printed or to a relative 1e-12.
    note : str
        Why they differ, or how closely they agree.
    """

    what: str
    ours: str
    theirs: str
    agrees: bool
    note: str = ""


def printed(what: str, ours: float, theirs: str, *, note: str = "") -> Comparison:
    """Compare a number with one printed in the paper, to the digits printed.

    Examples
    --------
    >>> printed("ECCE-MAD", 0.0124308, "0.01243").agrees
    True
    >>> printed("ECCE-MAD", 0.0124380, "0.01243").agrees
    False
    """
    mantissa = theirs.lower().partition("e")[0]
    digits = max(1, len(mantissa.replace(".", "").lstrip("0")))
    agrees = float(f"{ours:.{digits - 1}e}") == float(theirs)
    return Comparison(what, f"{ours:.{digits + 2}g}", theirs, agrees, note)


def agreement(what: str, pairs: list[tuple[float, float]]) -> Comparison:
    """Compare many of our values with those of the paper's code.

    Examples
    --------
    >>> agreement("two sums", [(0.1, 0.1), (0.2, 0.2)]).note
    'Largest relative difference 0.'
    """
    apart = max(abs(ours - theirs) / abs(theirs) for ours, theirs in pairs)
    agrees = apart <= CLOSE
    count = f"{len(pairs)} values"
    note = f"Largest relative difference {apart:.1g}."
    return Comparison(what, count, f"{count}, by its code", agrees, note)


def compare(found: Statistics) -> dict[int, list[Comparison]]:
    """Put our numbers beside the paper's, figure by figure.

    Figures of which the paper gives no number that is known to us are left out.
    """
    code = json.loads(
        resources.files("secant.paper").joinpath("reference.json").read_text(encoding="utf-8")
    )
    rows = {(row["n"], row["scores"]): row for row in found["synthetic"]}
    pairs = [
        (rows[known["n"], known["scores"]], known)
        for known in code["synthetic"]
        if (known["n"], known["scores"]) in rows
    ]
    compared = {1: list(_binned(pairs)), 7: list(_cumulative(pairs))}
    metrics = {
        8: ("ece1", "ece2"),
        9: ("ecce_mad", "ecce_r"),
        10: ("ecce_mad_normalized", "ecce_r_normalized"),
    }
    for figure, names in metrics.items():
        compared[figure] = list(_convergence(found, code["convergence"], names))
    return {figure: rows for figure, rows in compared.items() if rows}


def _binned(pairs: list[tuple[FixedRow, Any]]) -> Iterator[Comparison]:
    """Compare ECE at n = 32768 for every number of bins."""
    every = [
        (row["scores"], ours, theirs)
        for row, known in pairs
        for ours, theirs in zip(row["ece"], known["ece"], strict=True)
    ]
    if not every:
        return
    for name, bins in product(("ece1", "ece2"), ("equispaced", "equal-count")):
        same: list[tuple[float, float]] = [
            (ours[name], theirs[name])  # type: ignore[literal-required]
            for _, ours, theirs in every
            if ours["bins"] == bins and "misplaced" not in theirs
        ]
        yield agreement(f"{LABELS[name]}, {bins} bins", same)
    for family, ours, theirs in every:
        if "misplaced" in theirs:
            yield Comparison(
                f"{LABELS['ece1']}, {ours['n_bins']} equispaced bins, {family} scores",
                f"{ours['ece1']:#.4g}",
                f"{theirs['ece1']:#.4g}, by its code",
                agrees=abs(ours["ece1"] / theirs["ece1"] - 1) <= CLOSE,
                note=_MISPLACED.format(theirs["misplaced"]),
            )


def _cumulative(pairs: list[tuple[FixedRow, Any]]) -> Iterator[Comparison]:
    """Compare ECCE of the square-rooted scores at n = 32768 with what the paper prints."""
    for row, known in pairs:
        if row["scores"] != "square rooted":
            continue
        yield printed(LABELS["ecce_mad"], row["ecce_mad"], "0.01243")
        yield printed(LABELS["ecce_mad_normalized"], row["ecce_mad_normalized"], "5.512")
        yield printed("P-value of ECCE-MAD", row["ecce_mad_pvalue"], "7.1e-8")
        yield printed(LABELS["ecce_r"], row["ecce_r"], "0.02291")
        yield printed(LABELS["ecce_r_normalized"], row["ecce_r_normalized"], "10.16")
        pvalue = f"{row['ecce_r_pvalue']:.2g}"
        yield Comparison("P-value of ECCE-R", pvalue, "0", agrees=False, note=_BELOW_ROUNDING)
        exact = experiments.expected_curve(row["n"], row["scores"]).difference
        expected = [
            (float(abs(exact).max()), known["exact_ecce_mad"]),
            (float(exact.max() - exact.min()), known["exact_ecce_r"]),
        ]
        yield agreement("ECCE-MAD and ECCE-R of the exact expectations", expected)
    names = ("sigma", "ecce_mad", "ecce_r", "ecce_mad_normalized", "ecce_r_normalized")
    values: list[tuple[float, float]] = [
        (row[name], known[name])  # type: ignore[literal-required]
        for row, known in pairs
        for name in names
    ]
    if values:
        what = "\N{GREEK SMALL LETTER SIGMA} and both ECCE, raw and normalised, all three families"
        yield agreement(what, values)


def _convergence(
    found: Statistics, code: list[Any], names: tuple[str, ...]
) -> Iterator[Comparison]:
    """Compare averages over realisations at the sample sizes known of the paper's code."""
    rows: Mapping[Any, Any] = {_case(row): row for row in found["convergence"]}
    known = [row for row in code if _case(row) in rows]
    if not known:
        return
    low, high = min(row["n"] for row in known), max(row["n"] for row in known)
    for name in names:
        values = [(rows[_case(row)][name], row[name]) for row in known]
        yield agreement(f"{LABELS[name]}, n = {low:,} to {high:,}", values)


def _case(row: Any) -> tuple[int, str, bool]:
    return row["n"], row["scores"], row["calibrated"]
