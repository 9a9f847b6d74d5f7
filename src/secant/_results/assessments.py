"""The results of many groups, read together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from secant._results import group_words
from secant._results.base import SCHEMA, Result, Said, Tabular

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from secant._input.options import ClassAdjust
    from secant._results.calibration import Calibration
    from secant.plot.assessments import AssessmentsDisplay

__all__ = ["Assessments", "Group"]

# What is known of segments beside what is of groups.
_SEARCH = ("searched", "standing_out", "not_searched")

Status = Literal["miscalibrated", "none found", "too few"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Group(Result):
    """One group among others.

    Attributes
    ----------
    key : object
        The group's value in the data; None where it is missing, a tuple for several columns.
    calibration : Calibration
        The assessment of the group by itself.
    adjusted_pvalue : float
        The P-value that decides, adjusted for the number of groups; of segments, and of Westfall
        and Young's draws, that of ECCE-R.
    status : {"miscalibrated", "none found", "too few"}
        Whether miscalibration was found after adjustment; ``"too few"`` if nothing that could
        have happened to these predictions would have had a P-value at the level.
    log10_pvalue : float
        Decimal logarithm of the adjusted P-value, which never underflows.
    """

    __module__ = "secant"

    key: Any
    calibration: Calibration
    adjusted_pvalue: float
    status: Status
    log10_pvalue: float = -math.inf

    def _facts(self) -> dict[str, Any]:
        # Of the ranges that are off only the worst is given: more would take further looks at the
        # data, for each group. The verdict is ``status``; that of the group by itself, which knows
        # nothing of the other groups, is left out.
        return {
            "key": plain_name(self.key),
            "adjusted_pvalue": self.adjusted_pvalue,
            "status": self.status,
            **self.calibration.summary(),
        }

    def _say(self) -> Said:
        return Said(group_words.sentence(self))


@dataclass(frozen=True, eq=False, repr=False)
class Assessments(Tabular, Mapping[Any, "Calibration"]):
    """Assessments of many groups: a table, and a mapping from a group's key to its result.

    Print it to read which groups are miscalibrated. ``assessments["north"]`` is the
    :class:`Calibration` of one group as if it were the only one: it may well say "Miscalibrated"
    of a group that is not found to be so among many, of which some are off by chance.

    Attributes
    ----------
    rows : tuple of Group
        The groups, smallest adjusted P-value first; segments in the order in which they were
        found.
    by : tuple of str
        What the groups are: names of columns, ``"group"``, ``"class"``, ``"predicted class"`` or
        ``"segment"``.
    adjust : {"holm", "benjamini-hochberg", "westfall-young"}
        How P-values were adjusted for the number of groups.
    confidence_level : float
        Level of all intervals; findings are at one minus it, after adjustment.
    empty : tuple
        Keys of groups all of whose weights are zero, and of classes that were never predicted:
        there is nothing to assess.
    what : {"group", "class", "segment"}
        What one of them is called.
    draws : int or None
        How many times all labels were drawn for Westfall and Young's adjustment.
    searched : int or None
        Of segments, how many were searched for those in ``rows``; else None.
    standing_out : int
        How many of them have an adjusted P-value at the level. Those in ``rows`` account for all.
    not_searched : tuple of str
        What was not searched, a line each.
    why_holm : str
        Of segments, why Holm's adjustment was chosen; empty where it was asked for, or was not.
    n_left_out : int
        How many rows lacked a score or an outcome, where ``missing="drop"`` left them out.
    """

    __module__ = "secant"

    rows: tuple[Group, ...]
    by: tuple[str, ...]
    adjust: ClassAdjust
    confidence_level: float
    empty: tuple[Any, ...] = ()
    what: str = "group"
    draws: int | None = None
    searched: int | None = None
    standing_out: int = 0
    not_searched: tuple[str, ...] = ()
    why_holm: str = ""
    n_left_out: int = 0

    def __getitem__(self, key: Any) -> Calibration:
        """Return the result of one group by itself; its P-values are not adjusted."""
        return self._by_key[key]

    def __iter__(self) -> Iterator[Any]:
        return (row.key for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def failing(self) -> tuple[Any, ...]:
        """Keys of the groups found to be miscalibrated, worst first."""
        return tuple(row.key for row in self.rows if row.status == "miscalibrated")

    @property
    def too_few(self) -> tuple[Any, ...]:
        """Keys of the groups too small to say anything."""
        return tuple(row.key for row in self.rows if row.status == "too few")

    @cached_property
    def table(self) -> dict[str, list[Any]]:
        """The numbers as columns, one value a group: what ``to_pandas`` and ``to_polars`` hold."""
        columns: dict[str, list[Any]] = {}
        several = len(self.by) > 1
        for place, name in enumerate(self.by):
            columns[name] = [row.key[place] if several else row.key for row in self.rows]
        for row in self.rows:
            for name, value in _numbers(row).items():
                # A column of the data may have the name of one of ours.
                columns.setdefault(f"{name}_" if name in self.by else name, []).append(value)
        return columns

    @property
    def verdict(self) -> str:
        """How many groups are miscalibrated."""
        return group_words.headline(self)

    def _facts(self) -> dict[str, Any]:
        search = {name: getattr(self, name) for name in _SEARCH if self.searched is not None}
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            **{name: getattr(self, name) for name in ("by", "adjust", "draws", "confidence_level")},
            "groups": self.rows,
            "empty": [plain_name(key) for key in self.empty],
            "n_left_out": self.n_left_out,
            **search,
        }

    def _say(self) -> Said:
        headline, *others = group_words.words_of(self)
        return Said(headline, lines=others, tables=group_words.tables(self))

    def plot(self, ax: Any = None, *, most: int = 9) -> AssessmentsDisplay:
        """Draw the graphs of cumulative differences of the worst groups: flat is good.

        Each has a panel in a new figure, all on the same scale; grey is what could be noise once
        the number of groups is accounted for.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw all of them together instead.
        most : int
            How many groups to draw at most; the picture says how many are left out.

        Returns
        -------
        AssessmentsDisplay
            The picture and its parts.

        Raises
        ------
        InputError
            If there is no group, or ``most`` is not a whole number of at least 1.
        MissingExtraError
            If matplotlib is not installed.
        """
        from secant.plot.assessments import AssessmentsDisplay  # noqa: PLC0415  (as report below)

        return AssessmentsDisplay(self, most=most).plot(ax)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report of all groups: one HTML file that works offline.

        Parameters
        ----------
        path : path-like
            Where to, ending in .html or .htm; the file appears whole or not at all.
        title : str, optional
            Title of the page.

        See Also
        --------
        secant.report.write : The same together with the predictions of all groups.
        """
        from secant.report import write  # noqa: PLC0415  (pages stand above numbers)

        if self.searched is None:
            write(path, groups=self, title=title)
        else:
            write(path, segments=self, title=title)

    @cached_property
    def _by_key(self) -> dict[Any, Calibration]:
        return {row.key: row.calibration for row in self.rows}


def plain_name(key: Any) -> Any:
    """Return a group's key as JSON knows it: dates, infinity and the like become text."""
    if isinstance(key, tuple):
        return [plain_name(part) for part in key]
    if isinstance(key, float) and not math.isfinite(key):
        return str(key)
    return key if key is None or isinstance(key, (bool, int, float, str)) else str(key)


def _numbers(row: Group) -> dict[str, Any]:
    result, worst = row.calibration, row.calibration.worst
    return {
        "n": result.n,
        "mean_score": result.mean_score,
        "base_rate": result.base_rate,
        "ecce_r": result.ecce_r.value,
        "normalized": result.ecce_r.normalized,
        "pvalue": result.pvalue,
        "adjusted_pvalue": row.adjusted_pvalue,
        "method": result.pvalue_method,
        "ecce_r_pvalue": result.ecce_r.pvalue,
        "status": row.status,
        "worst_low": worst.low,
        "worst_high": worst.high,
        "miscalibration": worst.miscalibration,
        "ci_low": worst.ci[0],
        "ci_high": worst.ci[1],
    }
