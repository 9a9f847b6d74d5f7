"""Tables of engines searched for segments: rows stay where they are, only sums come back.

A handful of questions: one that checks the rows, one for quantiles and one for what the ranges
between them hold, one for the values of each feature that is not numeric, one or two for cells of
scores; then the sums by levels and cells of many groupings at once, as one union of group-bys.
Taking the miscalibration of a reported segment off its rows asks for those sums again, of its rows
alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from secant._base.progress import reporting
from secant._blocks.score_cells import BITS, MOST_CELLS, CellFinder
from secant._blocks.segment_sums import Sums
from secant._blocks.table import changed
from secant._input.features import Levels, Spans, levels_of_counts, levels_of_spans
from secant._input.keys import plain_key
from secant.errors import Argument, InputError
from secant.sources.engines.engine import engine_of
from secant.sources.engines.expressions import (
    LABEL,
    SCORE,
    VANISHING,
    WEIGHT,
    cell,
    is_nan,
    number_if,
    times,
)
from secant.sources.engines.queries import Table, _doubles, collect
from secant.sources.engines.source import open_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import FloatArray
    from secant._blocks.segment_sums import Grouping
    from secant._input.columns import Columns
    from secant.sources.engines.source import EngineSource
    from secant.sources.segments import Conditions

__all__ = ["EngineSegments"]

# Group-bys that are asked for in one question.
TOGETHER = 40
# How finely scores are cut at first; finer only where that gives few cells.
_FIRST_BITS = (12, 20, BITS[0])


class EngineSegments:
    """The rows of an engine's table.

    Parameters
    ----------
    frame
        The table.
    columns
        The columns to read; those of groups are the features.
    bins, most
        How many ranges a numeric feature is cut into, and how many values are kept of another.
    """

    def __init__(self, frame: nw.LazyFrame[Any], columns: Columns, *, bins: int, most: int) -> None:
        columns.check(frame.collect_schema().names(), Argument("data"))
        self._frame, self._columns, self._engine = frame, columns, engine_of(frame)
        open_engine(frame, columns._replace(by=()))  # which checks all rows
        self._table = Table(frame, columns)
        # What the values of features are compared as, where it is not themselves: digits of texts.
        self._written: list[dict[Any, str]] = [{} for _ in columns.by]
        self._schema = frame.collect_schema()
        self._features = [
            _numeric(self._schema[name], nw.col(f"by{i}")) for i, name in enumerate(columns.by)
        ]
        self.levels = self._learn(bins, most)
        coded = {
            f"f{i}": self._code(
                i, nw.col(f"by{i}"), nw.col(self._table.with_digits([f"by{i}"])[-1])
            )
            for i in range(len(columns.by))
        }
        self._find_cells()
        self._rows = self._all.select(
            "score", cell=cell(self._bits, self._anchors), **coded, **self._terms()
        )
        self.heaviest = 1.0
        if self.sampling:
            heaviest = self._collect(self._rows.select(w=nw.col("w").max()))
            self.heaviest = float(heaviest["w"][0])

    def _collect(self, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        with self._engine.asked("summing segments"):
            return collect(frame)

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self._columns.sampling

    @property
    def counted(self) -> bool:
        """Whether weights count copies of rows."""
        return self._columns.weights == "frequency"

    @property
    def _all(self) -> nw.LazyFrame[Any]:
        return self._table._rows  # noqa: SLF001  (the same package's)

    # Levels ---------------------------------------------------------------------------------------

    def _learn(self, bins: int, most: int) -> list[Levels]:
        """Find the levels of all features."""
        asked: dict[str, nw.Expr] = {"rows": nw.len()}
        for i, number in enumerate(self._features):
            if number is not None:
                asked[f"known{i}"] = number.count()
                if self._engine.has_quantiles:
                    for k in range(1, bins):
                        asked[f"q{i}_{k}"] = number.quantile(k / bins, interpolation="linear")
        try:
            told = {name: column[0] for name, column in self._ask(asked).items()}
        except NotImplementedError as error:
            raise InputError(
                Argument("data"),
                " is a table of an engine that computes no quantiles, which numeric features need",
                hint="; cut them into ranges there, or fetch the rows first",
            ) from error
        self.rows = int(told["rows"])
        cuts: dict[int, FloatArray] = {}
        for i in self._of_many_values(bins + 1):
            if self._engine.has_quantiles:
                quantiles = np.array([told[f"q{i}_{k}"] for k in range(1, bins)], np.float64)
            else:
                quantiles = self._quantiles(i, int(told[f"known{i}"]), bins)
            cuts[i] = np.unique(quantiles)
        spans = self._spans(cuts)
        return [
            levels_of_spans(name, spans[i], missing=told[f"known{i}"] < self.rows)
            if i in spans
            else self._counted(i, name, most)
            for i, name in enumerate(self._columns.by)
        ]

    def _of_many_values(self, few: int) -> list[int]:
        """Return the numeric features that have more than a few values."""
        each = [
            self._all.select(x=number, feature=nw.lit(i))
            .filter(~nw.col("x").is_null())
            .group_by("feature", "x")
            .agg(nw.len().alias("rows"))
            for i, number in enumerate(self._features)
            if number is not None
        ]
        if not each:
            return []
        counted = nw.concat(each).group_by("feature").agg(nw.len().alias("values"))
        answer = self._collect(counted)
        counts = zip(answer["feature"].to_list(), answer["values"].to_list(), strict=True)
        return sorted(int(i) for i, values in counts if values > few)

    def _quantiles(self, i: int, known: int, bins: int) -> FloatArray:
        """Interpolate quantiles of a feature between values at their places in its order."""
        number = self._features[i]
        assert number is not None  # noqa: S101
        place = (known - 1) * np.arange(1, bins) / bins
        below = np.floor(place).astype(np.int64)
        wanted = np.unique([below, below + 1])
        ordered = self._all.select(x=number).filter(~nw.col("x").is_null())
        ordered = ordered.with_row_index("place", order_by="x")
        answer = self._collect(ordered.filter(nw.col("place").is_in(wanted.tolist())))
        found = _doubles(answer["x"])[np.argsort(_doubles(answer["place"]))]
        low, high = (found[np.searchsorted(wanted, each)] for each in (below, below + 1))
        return low + (high - low) * (place - below)

    def _spans(self, cuts: dict[int, FloatArray]) -> dict[int, Spans]:
        """Ask what the ranges between quantiles hold, and leave out those that hold nothing."""
        asked: dict[str, nw.Expr] = {}
        for i, limits in cuts.items():
            number, value = self._features[i], nw.col(f"by{i}")
            assert number is not None  # noqa: S101
            for k, limit in enumerate(limits.tolist()):
                asked[f"high{i}_{k}"] = nw.when(number <= limit).then(value).max()
                asked[f"low{i}_{k}"] = nw.when(number > limit).then(value).min()
            asked[f"min{i}"], asked[f"max{i}"] = value.min(), value.max()
        if not asked:
            return {}
        told = {name: plain_key(column[0]) for name, column in self._ask(asked).items()}
        found = {}
        for i, limits in cuts.items():
            places = [k for k in range(len(limits)) if told[f"low{i}_{k}"] is not None]
            # Two limits may separate the same values.
            places = [
                k
                for number, k in enumerate(places)
                if not number or told[f"high{i}_{k}"] != told[f"high{i}_{places[number - 1]}"]
            ]
            low = [told[f"min{i}"], *(told[f"low{i}_{k}"] for k in places)]
            high = [*(told[f"high{i}_{k}"] for k in places), told[f"max{i}"]]
            found[i] = Spans(limits[places], low, high)
        return found

    def _counted(self, i: int, name: str, most: int) -> Levels:
        """Count the values of a feature that is not numeric, or has few of them."""
        names = self._table.with_digits([f"by{i}"])
        counted = self._collect(
            self._all.select(*names).group_by(*names).agg(nw.len().alias("rows"))
        )
        keys = [plain_key(key) for key in counted[f"by{i}"].to_list()]
        if len(names) > 1:
            self._written[i] = dict(zip(keys, counted[names[-1]].to_list(), strict=True))
        counts: dict[Any, int] = {}
        for key, rows in zip(keys, counted["rows"].to_list(), strict=True):
            counts[key] = counts.get(key, 0) + int(rows)
        if self._features[i] is None:
            return levels_of_counts(name, counts, most=most)
        ends = sorted(key for key in counts if key is not None)
        missing = None in counts
        if len(ends) < 2:
            return levels_of_spans(name, Spans(np.empty(0), ends, ends), missing=missing)
        upper = self._limits(i, len(ends))
        return levels_of_spans(name, Spans(upper, ends, ends), missing=missing)

    def _limits(self, i: int, distinct: int) -> FloatArray:
        """Return the values of a feature that has few, less the largest."""
        number = self._features[i]
        assert number is not None  # noqa: S101
        answer = self._collect(self._all.select(x=number).group_by("x").agg(nw.len().alias("rows")))
        values = _doubles(answer["x"])
        return np.sort(values[~np.isnan(values)])[: distinct - 1]

    def _find_cells(self) -> None:
        for bits in _FIRST_BITS:
            answer = self._collect(
                self._all.select(cell=cell(bits)).group_by("cell").agg(nw.len().alias("rows"))
            )
            seen = _doubles(answer["cell"])
            finder = CellFinder(MOST_CELLS, bits)
            finder.add(seen)
            if finder.bits < bits or bits == _FIRST_BITS[-1]:
                break
        self._bits, self._anchors = finder.bits, finder.anchors

    # Sums -----------------------------------------------------------------------------------------

    def _terms(self) -> dict[str, nw.Expr]:
        """Return what is summed."""
        happened = number_if(LABEL == 1)
        gain, v = happened - SCORE, SCORE * (1 - SCORE)
        if self._columns.sample_weight is None:
            return {"n1": happened, "gain": gain, "wwv": v}
        one = number_if(SCORE >= 0)
        copies, square = (WEIGHT, WEIGHT) if self.counted else (one, WEIGHT * WEIGHT)
        wwv = times(square, v)
        return {
            "w": WEIGHT,
            "n": copies,
            "n1": number_if(LABEL == 1, copies),
            "gain": times(WEIGHT, gain),
            "wwv": wwv,
            "wwwv": wwv if self.counted else number_if(wwv >= VANISHING, wwv * WEIGHT),
        }

    def sums(self, groupings: Sequence[Grouping]) -> Iterator[Sums]:
        """Return the sums of groupings, from few questions."""
        return iter(self._sums(groupings, None))

    def inside(
        self, conditions: Conditions, groupings: Sequence[Grouping]
    ) -> dict[Grouping, FloatArray]:
        """Return the weight of the rows that meet conditions, by levels and cells."""
        found = self._sums(groupings, self._met(conditions))
        return {grouping: sums.w for grouping, sums in zip(groupings, found, strict=True)}

    def source(self, conditions: Conditions, n: int) -> EngineSource:
        """Return the rows that meet conditions, for which the engine is asked again."""
        schema, columns = self._schema, self._columns
        met = None
        for feature, level in conditions:
            name = columns.by[feature]
            value = nw.col(name)
            if schema[name].is_float():
                value = nw.when(~is_nan(value)).then(value)
            elif schema[name] in (nw.Categorical, nw.Enum):
                value = value.cast(nw.String)
            told = nw.col(self._table.marks.get(f"by{feature}", name))
            is_met = self._code(feature, value, told) == level
            met = is_met if met is None else met & is_met
        assert met is not None  # noqa: S101
        source = open_engine(self._table.marked.filter(met), columns._replace(by=()))
        found = int(source.blocks()[0].n.sum())
        if found != n:
            raise changed(found, n)
        return source

    def _code(self, feature: int, value: nw.Expr, told: nw.Expr) -> nw.Expr:
        """Return the level of a row in a feature, -1 for values not searched.

        ``told`` is what tells a value that is no number from others.
        """
        levels, written = self.levels[feature], self._written[feature]
        last = nw.lit(len(levels) - 1)
        if levels.cuts is not None:
            number = _numeric(self._schema[self._columns.by[feature]], value)
            assert number is not None  # noqa: S101
            found = nw.lit(0)
            for limit in levels.cuts.tolist():
                found = found + nw.when(number > limit).then(nw.lit(1)).otherwise(nw.lit(0))
            return nw.when(number.is_null()).then(last).otherwise(found)
        found = nw.lit(-1)
        told = told if written else value
        for place, key in enumerate(levels.keys):
            if key is not None:
                is_key = told == written.get(key, key)
                found = nw.when(is_key).then(nw.lit(place)).otherwise(found)
        return nw.when(value.is_null()).then(last).otherwise(found) if levels.missing else found

    def _met(self, conditions: Conditions) -> nw.Expr:
        met = nw.lit(value=True)
        for feature, level in conditions:
            met = met & (nw.col(f"f{feature}") == level)
        return met

    def _sums(self, groupings: Sequence[Grouping], where: nw.Expr | None) -> list[Sums]:
        rows = self._rows.filter(nw.col("w") > 0) if self._columns.sample_weight else self._rows
        if where is not None:
            rows = rows.filter(where)
        found: list[Sums] = []
        with reporting("Searching segments") as report:
            for start in range(0, len(groupings), TOGETHER):
                some = groupings[start : start + TOGETHER]
                answer = self._collect(
                    nw.concat([self._question(rows, i, g) for i, g in enumerate(some)])
                )
                found += self._answers(answer, some)
                report(start + len(some), len(groupings))
        return found

    def _question(self, rows: nw.LazyFrame[Any], number: int, grouping: Grouping) -> Any:
        place = nw.lit(0)
        for feature in grouping:
            # One more than levels, for the values not searched.
            place = place * (len(self.levels[feature]) + 1) + (nw.col(f"f{feature}") + 1)
        asked = rows.select(
            "cell", *self._terms(), grouping=nw.lit(number), code=place.cast(nw.Int64)
        )
        sums = [nw.col(name).sum() for name in self._terms()]
        if "n" not in self._terms():
            sums.append(nw.len().alias("n"))
        return asked.group_by("grouping", "code", "cell").agg(*sums)

    def _answers(self, answer: nw.DataFrame[Any], groupings: Sequence[Grouping]) -> list[Sums]:
        columns = {name: _doubles(answer[name]) for name in answer.columns}
        # Without weights every row counts once.
        columns = {"w": columns["n"], "wwwv": columns["wwv"], **columns}
        place = np.searchsorted(self._anchors, columns["cell"])
        found = []
        for number, grouping in enumerate(groupings):
            ours = columns["grouping"] == number
            shape = [len(self.levels[feature]) + 1 for feature in grouping]
            codes = np.array(np.unravel_index(columns["code"][ours].astype(np.int64), shape))
            searched = (codes > 0).all(axis=0)
            rows = np.flatnonzero(ours)[searched]
            at = (*(codes[:, searched] - 1), place[rows])
            size = (*(each - 1 for each in shape), len(self._anchors))
            tables = {}
            for name in ("n", "w", "gain", "n1", "wwv", "wwwv"):
                table = np.zeros(size)
                np.add.at(table, at, columns[name][rows])
                tables[name] = table
            found.append(
                Sums(
                    n=tables["n"].astype(np.int64),
                    w=tables["w"],
                    gain=tables["gain"],
                    n1=tables["n1"].sum(axis=-1).astype(np.int64),
                    wwv=tables["wwv"].sum(axis=-1),
                    wwwv=tables["wwwv"].sum(axis=-1),
                )
            )
        return found

    def _ask(self, asked: dict[str, nw.Expr]) -> dict[str, nw.Series[Any]]:
        answer = self._collect(self._all.select(**asked))
        return {name: answer[name] for name in asked}


def _numeric(dtype: Any, value: nw.Expr) -> nw.Expr | None:
    """Return a number that is in the order of the values; None where they have none to cut."""
    if dtype.is_numeric():
        return value.cast(nw.Float64)
    if dtype not in (nw.Date, nw.Datetime):
        return None
    number = (value.dt.year() * 12 + value.dt.month()) * 31 + value.dt.day()
    if dtype == nw.Datetime:
        for part, size in ((value.dt.hour(), 24), (value.dt.minute(), 60), (value.dt.second(), 60)):
            number = number.cast(nw.Int64) * size + part
    return number.cast(nw.Float64)
