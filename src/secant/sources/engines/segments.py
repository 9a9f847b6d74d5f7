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
from secant._blocks.segment_sums import Searchable, Sums
from secant._blocks.table import changed
from secant._input.features import Levels, Spans, levels_of_counts, levels_of_spans
from secant._input.keys import plain_key
from secant.errors import Argument, InputError
from secant.sources.engines import answers
from secant.sources.engines.budget import CELL_BITS
from secant.sources.engines.expressions import WEIGHT, cell, grid, is_nan
from secant.sources.engines.queries import Ask, Table, doubles
from secant.sources.engines.source import check, open_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secant._base.types import FloatArray, NumberArray
    from secant._blocks.segment_sums import Conditions, Grouping
    from secant._input.columns import Columns
    from secant.sources.engines.queries import Answer
    from secant.sources.engines.source import EngineSource

__all__ = ["EngineSegments"]

# Group-bys that are asked for in one question.
TOGETHER = 40
# How finely scores are cut at first; finer only where that gives few cells.
_FIRST_BITS = (12, 20, BITS[0])


class EngineSegments(Searchable):
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
        self._columns = columns
        self._table = table = Table(frame, columns)
        self.sampling, self.counted = columns.sampling, columns.weights == "frequency"
        answer = table.sums("summing cells", Ask(cells=grid(CELL_BITS), checks=True))[0]
        check(answer, table, columns)
        # What the values of features are compared as, where it is not themselves: digits of texts.
        self._written: list[dict[Any, str]] = [{} for _ in columns.by]
        self._schema = frame.collect_schema()
        self._features = [
            _numeric(self._schema[name], nw.col(f"by{i}")) for i, name in enumerate(columns.by)
        ]
        self.levels = self._learn(bins, most)
        self._find_cells()
        # The level of each row in every feature, counted from 1 on; 0 for values not searched.
        coded = {
            f"f{i}": self._code(i, nw.col(name), nw.col(table.digits.get(name, name))) + 1
            for i, name in enumerate(table.by)
        }
        table.rows = table.rows.with_columns(**coded)
        self.heaviest = 1.0
        if self.sampling:
            heaviest = self._collect(self._table.rows.select(w=WEIGHT.max()))
            self.heaviest = float(heaviest["w"][0])

    def _collect(self, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        with self._table.engine.asked("summing segments"):
            return self._table.collected(frame)

    # Levels ---------------------------------------------------------------------------------------

    def _learn(self, bins: int, most: int) -> list[Levels]:
        """Find the levels of all features."""
        asked: dict[str, nw.Expr] = {"rows": nw.len()}
        for i, number in enumerate(self._features):
            if number is not None:
                asked[f"known{i}"] = number.count()
                if self._table.engine.has_quantiles:
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
            if self._table.engine.has_quantiles:
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
            self._table.rows.select(x=number, feature=nw.lit(i))
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
        ordered = self._table.rows.select(x=number).filter(~nw.col("x").is_null())
        ordered = ordered.with_row_index("place", order_by="x")
        answer = self._collect(ordered.filter(nw.col("place").is_in(wanted.tolist())))
        found = doubles(answer["x"])[np.argsort(doubles(answer["place"]))]
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
        names, number = self._table.told_apart([f"by{i}"]), self._features[i]
        grouped = self._table.rows.select(*names, **({} if number is None else {"x": number}))
        each = names if number is None else [*names, "x"]
        counted = self._collect(grouped.group_by(*each).agg(nw.len().alias("rows")))
        keys = [plain_key(key) for key in counted[f"by{i}"].to_list()]
        if len(names) > 1:
            self._written[i] = dict(zip(keys, counted[names[-1]].to_list(), strict=True))
        counts: dict[Any, int] = {}
        for key, rows in zip(keys, counted["rows"].to_list(), strict=True):
            counts[key] = counts.get(key, 0) + int(rows)
        if number is None:
            return levels_of_counts(name, counts, most=most)
        ends = sorted(key for key in counts if key is not None)
        values = doubles(counted["x"])
        upper = np.unique(values[~np.isnan(values)])[: max(len(ends) - 1, 0)]
        return levels_of_spans(name, Spans(upper, ends, ends), missing=None in counts)

    def _find_cells(self) -> None:
        for bits in _FIRST_BITS:
            answer = self._collect(
                self._table.rows.select(cell=cell(bits))
                .group_by("cell")
                .agg(nw.len().alias("rows"))
            )
            seen = doubles(answer["cell"])
            finder = CellFinder(MOST_CELLS, bits)
            finder.add(seen)
            if finder.bits < bits or bits == _FIRST_BITS[-1]:
                break
        self._bits, self._anchors = finder.bits, finder.anchors

    # Sums -----------------------------------------------------------------------------------------

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
            met = met & (nw.col(f"f{feature}") == level + 1)
        return met

    def _sums(self, groupings: Sequence[Grouping], where: nw.Expr | None) -> list[Sums]:
        asks = [
            Ask(
                tuple(f"f{feature}" for feature in grouping),
                cell(self._bits, self._anchors),
                where=where,
                third=self.sampling,
                sizes=tuple(len(self.levels[feature]) + 1 for feature in grouping),
            )
            for grouping in groupings
        ]
        found: list[Sums] = []
        with reporting("Searching segments") as report:
            for start in range(0, len(asks), TOGETHER):
                some = asks[start : start + TOGETHER]
                answers = self._table.sums("summing segments", *some)
                found += [
                    self._read(ask, answer) for ask, answer in zip(some, answers, strict=True)
                ]
                report(start + len(some), len(asks))
        return found

    def _read(self, ask: Ask, answer: Answer) -> Sums:
        """Return the sums of one grouping, less the values not searched."""
        code = answer.columns["code"].astype(np.int64)
        searched = np.all(np.unravel_index(code, ask.sizes), axis=0)
        kind = self._table.weight_kind
        sums = answers.Sums(answer.columns, np.where(searched, code, -1), kind)
        blocks, moments = sums.blocks(), sums.blocks().moments
        assert moments is not None  # noqa: S101
        codes = np.unravel_index(np.repeat(sums.numbers, np.diff(sums.bounds)), ask.sizes)
        at = (*(code - 1 for code in codes), np.searchsorted(self._anchors, sums.anchors))
        size = (*(each - 1 for each in ask.sizes), len(self._anchors))

        def table(column: NumberArray) -> FloatArray:
            found = np.zeros(size)
            np.add.at(found, at, column)
            return found

        third = sums.columns["third"] if self.sampling else moments.variance
        n1, wwv, wwwv = (table(each).sum(axis=-1) for each in (blocks.n1, moments.variance, third))
        n = table(blocks.n).astype(np.int64)
        return Sums(n, table(blocks.weight), table(blocks.gain), n1.astype(np.int64), wwv, wwwv)

    def _ask(self, asked: dict[str, nw.Expr]) -> dict[str, nw.Series[Any]]:
        answer = self._collect(self._table.rows.select(**asked))
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
