"""What an engine is asked: one group-by, and again for the few ranges of scores that matter.

Everything is an expression of narwhals, which DuckDB, Polars, Dask, Spark and Ibis each run in
their own way; only sums come back. They must not depend on how an engine adds up:

- A cell is named by its *anchor*, a score that every machine computes alike, and what is summed is
  distances from it. Equal terms added a million times drift; tiny ones drift by a tiny amount.
- Weights are added in two parts, 24 leading bits and the rest, for the same reason.
- The limits of a cell are the smallest and the largest score found in it. Where they are equal
  the cell is a tie, and its sums follow from counts alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from secant._input.keys import combined, factorized
from secant._input.rules import ALL_MISSING
from secant.errors import Argument, InputError
from secant.sources.engines.budget import Budget
from secant.sources.engines.engine import engine_of, with_digits, with_logarithm, with_strays
from secant.sources.engines.expressions import (
    LABEL,
    SCORE,
    WEIGHT,
    floor,
    is_nan,
    number_if,
    plain,
    zero_or_one,
)
from secant.sources.engines.faults import Faults, missing
from secant.sources.engines.outcomes import outcomes
from secant.sources.engines.terms import SAID, USABLE, shifted, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant._input.columns import Columns

    Key = tuple[Any, ...]

__all__ = ["Answer", "Ask", "Table", "collect", "doubles"]

# More rows than there are: a limit, which keeps databases from merging a query into the next.
_ALL = 1 << 62
_NO_TIME = np.iinfo(np.int64).min  # what NaT is as a whole number


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Let the engine work: what this returns is all that ever leaves it."""
    return frame.collect()


class Ask(NamedTuple):
    """One question about the rows: which of them, told apart by what, and what is summed.

    Attributes
    ----------
    keys
        The columns that tell rows apart: those of groups, of clusters, of places along an axis.
    cells
        The anchor of the cell that a row's score lies in; by default every score is a cell. None
        where scores are not told apart: distances are then those from the outcomes.
    within
        Anchors of wider cells, whose limits cells must not cross.
    where
        Which rows; all if None.
    moments
        Whether squares of weights and of distances are summed too.
    checks
        Whether it is counted what no row should be, or not all.
    totals
        Whether log loss is summed, and the largest possible step found.
    third
        Whether third moments are summed, where rows or outcomes have weights.
    shift
        How far logits s are shifted to become those of q, of which sums come too; not if 0.
    sizes
        How many values each key has, if they are whole numbers from 0 on. Such keys are one column
        of the answer, ``code``, and only such may differ among questions that are asked together.
    """

    keys: tuple[str, ...] = ()
    cells: nw.Expr | None = SCORE
    within: Sequence[nw.Expr] = ()
    where: nw.Expr | None = None
    moments: bool = True
    checks: bool = False
    totals: bool = False
    third: bool = False
    shift: float = 0.0
    sizes: tuple[int, ...] = ()

    @property
    def ties(self) -> bool:
        """Whether every score is a cell, so that counts tell all there is."""
        return self.cells is SCORE


class Answer(NamedTuple):
    """Sums that came back, a row for every key and cell.

    ``anchor`` is a cell's, or the code of a fault, ``low`` and ``high`` are the ends of its scores,
    ``rows`` and ``n1`` count its rows and those that happened. ``w`` and ``w1`` sum their weights;
    followed by ``d`` or ``dd``, multiplied by the distance from the anchor or its square. ``ww...``
    are the same for squares of weights. None of these knows what outcomes weigh; ``third``,
    ``largest`` (step) and ``log_loss`` do.
    """

    frame: nw.DataFrame[Any]
    columns: dict[str, FloatArray]

    def coded(self, names: Sequence[str]) -> tuple[list[Key], IntArray]:
        """Return the distinct keys in some columns, and the number of each row's."""
        if not names or not len(self.frame):
            return [()] * min(1, len(self.frame)), np.zeros(len(self.frame), np.int64)
        return combined([_coded(self.frame[name]) for name in names])


class Table:
    """Predictions in an engine's table.

    Parameters
    ----------
    frame
        The user's table.
    columns
        Which columns to read, and how.

    Raises
    ------
    InputError
        If a column is missing, or holds no numbers where numbers are needed.
    """

    def __init__(self, frame: nw.LazyFrame[Any], columns: Columns) -> None:
        self.engine = engine_of(frame)
        self.budget = Budget()
        self.weight_kind = columns.weights
        self.outcome_weights = columns.reading.outcome_weights
        self.by = tuple(f"by{i}" for i in range(len(columns.by)))
        self._names: dict[Key, str] = {}
        with self.engine.asked("reading the types of its columns"):
            schema = frame.collect_schema()
            columns.check(schema.names(), Argument("data"))
        self.engine.check_names(columns.names)
        taken = schema.names()
        # Columns that tell which rows belong together, by what they are called here.
        self.clusters = {f"cluster{i}": name for i, name in enumerate(columns.clusters or ())}
        keys = dict(zip(self.by, columns.by, strict=True)) | self.clusters
        # Texts are told apart by their digits wherever they are compared or grouped.
        named = {**keys, "label": columns.y_true} if self.engine.collates else {}
        texts = {ours: name for ours, name in named.items() if schema[name] == nw.String}
        self.marks = {ours: _unused(f"{ours}_digits", taken) for ours in texts}
        if texts:
            frame = with_digits(frame, {self.marks[ours]: name for ours, name in texts.items()})
        self.marked = frame
        self.digits = {name: f"{name}_digits" for name in keys if name in texts}
        wanted = {"score": _number(schema, "y_prob", columns.y_prob)}
        if columns.sample_weight is not None:
            wanted["weight"] = _number(schema, "sample_weight", columns.sample_weight)
        with self.engine.asked("finding the distinct outcomes"):
            told = nw.col(self.marks["label"]) if texts.get("label") else None
            wanted["label"] = outcomes(
                frame, columns, self.collected, typed=self.engine.typed, digits=told
            )
        for ours, theirs in keys.items():
            wanted[ours] = _key(schema, theirs, "by" if ours in self.by else "clusters")
        if columns.order_by is not None:
            wanted["order"] = _place(schema, columns.order_by)
        wanted |= {ours: nw.col(self.marks[name]) for name, ours in self.digits.items()}
        # Keys that can be written in a query as they are; others are compared as texts.
        self._literal = not self.digits and all(
            schema[name].is_integer() or schema[name] in (nw.String, nw.Boolean)
            for name in columns.by
        )
        strays: dict[str, str] = {}
        if not self.engine.typed:
            declared = {"score": columns.y_prob, "weight": columns.sample_weight}
            if columns.reading.pos_label is None:
                declared["label"] = columns.y_true
            strays = {f"{ours}_stray": name for ours, name in declared.items() if name is not None}
            marks = {stray: _unused(stray, taken) for stray in strays}
            frame = with_strays(frame, {marks[stray]: name for stray, name in strays.items()})
            for ours in declared.keys() & wanted.keys():
                mark = nw.col(marks[f"{ours}_stray"])
                wanted |= {f"{ours}_stray": mark, ours: nw.when(~mark).then(wanted[ours])}
        self._faults = Faults(columns, strays)
        # -0.0 and 0.0 are one score, which no engine is asked to know.
        score = nw.when(SCORE == 0).then(nw.lit(0.0)).otherwise(SCORE)
        with self.engine.asked("reading its columns"):
            self.rows = frame.select(**wanted).with_columns(score=score)
        self.left_out = self._leave_out(strays) if columns.reading.drops else 0

    def _leave_out(self, strays: Iterable[str]) -> int:
        """Leave out the rows that have no score or no outcome, and count them: one more pass."""
        without = missing(SCORE) | missing(LABEL)
        for stray in strays:  # which is no number, and not missing
            without = without & ~nw.col(stray)
        with self.engine.asked("counting rows without a score or an outcome"):
            counted = self.rows.select(without=number_if(without))
            answer = self.collected(counted.select(rows=nw.len(), without=nw.col("without").sum()))
        rows, left_out = int(answer["rows"][0]), int(answer["without"][0] or 0)
        if 0 < rows == left_out:
            raise InputError(ALL_MISSING)
        self.rows = self.rows.filter(~without)
        return left_out

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weight_kind == "sampling"

    @property
    def equal_weights(self) -> bool:
        """Whether every observation weighs the same."""
        return not self.sampling and self.outcome_weights is None

    # Questions ------------------------------------------------------------------------------------

    def sums(self, what: str, *asks: Ask) -> list[Answer]:
        """Sum up the rows, or some of them, by key and cell: one pass over the data.

        Rows that cannot be used are counted at anchors below zero, the codes of their faults.

        Parameters
        ----------
        what
            What the engine is doing, should it fail.
        asks
            The questions; all about the same cells and the same sums.
        """
        ask, names = asks[0], list(dict.fromkeys(key for each in asks for key in each.keys))
        with self.engine.asked(what):
            measured, sums = self._measured(ask, self.told_apart(names))
            questions = [self._question(i, each, measured, sums) for i, each in enumerate(asks)]
            frame = self.collected(questions[0] if len(asks) == 1 else nw.concat(questions))
            columns = {name: doubles(frame[name]) for name in ("anchor", "rows", *sums)}
        if ask.ties:
            columns["low"] = columns["high"] = columns["anchor"]
        if not ask.sizes:
            return [Answer(frame, columns)]
        columns["code"], number = doubles(frame["code"]), doubles(frame["ask"])
        return [
            Answer(frame, {name: column[number == i] for name, column in columns.items()})
            for i in range(len(asks))
        ]

    def _measured(
        self, ask: Ask, keys: Sequence[str]
    ) -> tuple[nw.LazyFrame[Any], dict[str, nw.Expr]]:
        """Return rows with what is told apart and summed, and how sums are made of it."""
        rows = self.rows if ask.where is None else self.rows.filter(ask.where)
        found = self._once(rows.with_columns(fault=self._faults.code()))
        cells = nw.lit(0).cast(nw.Float64) if ask.cells is None else ask.cells
        placed = nw.when(USABLE).then(cells).otherwise(nw.col("fault"))
        wider = {f"wider{i}": expression for i, expression in enumerate(ask.within)}
        measured = self._once(self._usable(found.with_columns(anchor=placed, **wider)))
        each = terms(ask, self.weight_kind, self.outcome_weights)
        sums = {name: nw.col(name).sum() for name in each if name != "step"}
        if not ask.ties:
            from_ = nw.col("anchor") if ask.cells is not None else number_if(LABEL == 1)
            distances = {"d": SCORE - from_}
            if ask.shift:
                distances["dq"] = shifted(SCORE, ask.shift) - shifted(from_, ask.shift)
            distances = {name: number_if(USABLE, each) for name, each in distances.items()}
            measured = measured.with_columns(**distances)
            sums |= {"low": SCORE.min(), "high": SCORE.max()}
        if ask.totals:
            measured = with_logarithm(measured.with_columns(said=SAID), "said")
        if "step" in each:
            sums["largest"] = nw.col("step").max()
        return measured.select(*keys, *wider, "anchor", "score", **each), sums

    def _question(
        self, number: int, ask: Ask, measured: nw.LazyFrame[Any], sums: dict[str, nw.Expr]
    ) -> nw.LazyFrame[Any]:
        keys = self.told_apart(ask.keys)
        if ask.sizes:
            code = nw.lit(0)
            for key, size in zip(ask.keys, ask.sizes, strict=True):
                code = code * size + nw.col(key)
            measured = measured.with_columns(ask=nw.lit(number), code=code.cast(nw.Int64))
            keys = ["ask", "code"]
        by = [*keys, *(f"wider{i}" for i in range(len(ask.within))), "anchor"]
        asked = {"rows": nw.len(), **sums}
        return measured.group_by(*by).agg(*(each.alias(name) for name, each in asked.items()))

    def sizes(self) -> dict[Key, int]:
        """Count the rows of every group, and learn how the engine writes their keys."""
        with self.engine.asked("counting groups"):
            keys = self.told_apart(self.by)
            named = self.rows.select(*keys, name=self._name()).group_by(*keys, "name")
            answer = Answer(self.collected(named.agg(nw.len().alias("rows"))), {})
            found, codes = answer.coded(self.by)
            names = dict(zip(codes.tolist(), answer.frame["name"].to_list(), strict=True))
            self._names = {key: names[number] for number, key in enumerate(found)}
            rows = np.bincount(codes, doubles(answer.frame["rows"]))
            return dict(zip(found, rows.astype(np.int64).tolist(), strict=True))

    def observations(self, keys: Sequence[Key] = ()) -> Answer:
        """Fetch the rows of groups, of all if none are named, with their places and clusters.

        ``score``, ``label`` and ``weight``, which is positive, are columns of the answer.
        """
        with self.engine.asked("fetching rows"):
            rows = self.rows if self.weight_kind is None else self.rows.filter(WEIGHT > 0)
            if keys and self.by:
                rows = rows.filter(self.members(keys))
            have = self.rows.collect_schema().names()
            numbers = [name for name in ("score", "label", "weight") if name in have]
            beside = [name for name in ("order", *self.clusters) if name in have]
            frame = self.collected(rows.select(*self.by, *numbers, *beside))
            return Answer(frame, {name: doubles(frame[name]) for name in numbers})

    def distinct_places(self) -> int:
        """Count the distinct places along the axis, of each group."""
        with self.engine.asked("counting places"):
            keys = [*self.told_apart(self.by), "order"]
            places = self.rows.group_by(*keys).agg(nw.len().alias("rows")).select(places=nw.len())
            return int(self.collected(places)["places"][0])

    def refuse(self, found: dict[int, int]) -> None:
        """Raise an error about faults found, if any: the number of rows by code."""
        with self.engine.asked("finding unusable rows"):
            self._faults.refuse(self.rows, found, self.collected)

    def told_apart(self, names: Iterable[str]) -> list[str]:
        """Return names of columns to group by, those of the digits of texts among them."""
        return [each for name in names for each in (name, self.digits.get(name)) if each]

    def collected(self, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """Return what comes back, which counts as brought."""
        answer = collect(frame)
        self.budget.brought += len(answer)
        return answer

    def _once(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Let an engine compute columns once, not again wherever they are used."""
        return rows.head(_ALL) if self.engine.inlines else rows

    def _usable(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Blank the numbers of unusable rows, which their codes tell of: some cannot be squared."""
        names = ["score"] if self.weight_kind is None else ["score", "weight"]
        return rows.with_columns(**{name: number_if(USABLE, nw.col(name)) for name in names})

    def member(self, key: tuple[Any, ...]) -> nw.Expr:
        """Tell whether a row is in a group; what is written alike may be found too."""
        return self.members([key])

    def members(self, keys: Sequence[tuple[Any, ...]]) -> nw.Expr:
        """Tell whether a row is in one of several groups, as :meth:`member` does."""
        if not self._literal or len(self.by) > 1:
            return self._name().is_in([self._names[key] for key in keys])
        named = [key for (key,) in keys if key is not None]
        column = nw.col(self.by[0])
        if not named:
            return column.is_null()
        # "No", not "unknown", where there is no key.
        listed: nw.Expr = ~column.is_null() & column.is_in(named)
        return listed if len(named) == len(keys) else column.is_null() | listed

    def alike(self, these: Sequence[tuple[Any, ...]], others: Sequence[tuple[Any, ...]]) -> bool:
        """Tell whether a group is written as another one is."""
        names = [self._names.get(key) for key in others]
        return not {self._names.get(key) for key in these}.isdisjoint(names)

    def in_cells(self, wanted: Sequence[tuple[tuple[Any, ...], float]], bits: int) -> nw.Expr:
        """Tell whether a row is in one of many cells, each of one group, 2^-bits wide.

        Groups and cells are written as one text, because engines find a text in a list of thousands
        at once; what is written alike may be found too.
        """
        cell = floor(SCORE * 2.0**bits)
        if not self.by:
            return cell.is_in([number for _, number in wanted])
        texts = [f"{self._names[key]}:{number:.0f}" for key, number in wanted]
        number = cell.cast(nw.Int64).cast(nw.String)
        return nw.concat_str(self._name(), number, separator=":").is_in(texts)

    def _name(self) -> nw.Expr:
        """Write a group's key as a text."""

        def text(name: str) -> nw.Expr:
            # Joined to nothing, lest an enumeration of PostgreSQL's be asked for a value "null".
            shown = nw.col(self.digits.get(name, name)).cast(nw.String)
            written = nw.concat_str(nw.lit(""), shown, separator="")
            return nw.when(nw.col(name).is_null()).then(nw.lit("null")).otherwise(written)

        return nw.concat_str(*(text(name) for name in self.by), separator=",")


def _unused(name: str, names: Iterable[str]) -> str:
    """Return a name that no column has, in whatever case."""
    taken = {each.casefold() for each in names}
    while name in taken:
        name += "_"
    return name


def _number(schema: nw.Schema, argument: str, name: str) -> nw.Expr:
    dtype = schema[name]
    if dtype == nw.Boolean:
        return zero_or_one(~nw.col(name), nw.col(name))
    if not (dtype.is_numeric() or dtype == nw.Unknown):
        what = "text" if dtype == nw.String else f"values of type {dtype}"
        must = f") must hold real numbers; it holds {what}"
        hint = "; cast it to numbers first"
        raise InputError(f"column {name!r} (", Argument(argument), must, column=name, hint=hint)
    # What is not known to be a number is written as a text and read as one, or refused.
    return plain(schema, name).cast(nw.Float64)


def _key(schema: nw.Schema, name: str, argument: str = "by") -> nw.Expr:
    """Return what tells groups, or clusters, apart; not a number is no key, like null."""
    if schema[name].is_nested():
        units = "groups" if argument == "by" else argument
        what = f") holds values of type {schema[name]}, which cannot name {units}"
        raise InputError(f"column {name!r} (", Argument(argument), what, column=name)
    column = plain(schema, name)
    return nw.when(~is_nan(column)).then(column) if schema[name].is_float() else column


def _place(schema: nw.Schema, name: str) -> nw.Expr:
    """Return what rows are put along: a number or a time."""
    dtype, column = schema[name], nw.col(name)
    if dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Boolean:
        return column
    kinds = {nw.String: "text", nw.Categorical: "categories", nw.Enum: "categories"}
    what = next(
        (words for kind, words in kinds.items() if dtype == kind), f"values of type {dtype}"
    )
    must = f") must hold numbers or times, which have an order; it holds {what}"
    raise InputError(f"column {name!r} (", Argument("order_by"), must, column=name)


def doubles(column: nw.Series[Any]) -> FloatArray:
    """Return a column of an answer in double precision."""
    return np.asarray(column.to_numpy(), np.float64)


def _coded(column: nw.Series[Any]) -> tuple[list[Any], IntArray]:
    """Return the distinct keys in a column of an answer, and the number of each row's.

    They are plain values: one type, one meaning. A date is a ``datetime.date``, a time without a
    zone a ``datetime.datetime`` without one, and a time with a zone one in UTC. Times that a
    ``datetime`` cannot hold, finer than microseconds or beyond its years, are the text that ISO
    8601 has for them, as everywhere.
    """
    dtype, zoned = column.dtype, False
    values = np.empty(len(column), object)
    if isinstance(dtype, nw.Datetime):
        # Engines' own objects round to microseconds, or wrap.
        unit = "ns" if dtype.time_unit == "ns" else "us"
        ticks = column.dt.timestamp("ns" if unit == "ns" else "us").to_list()
        missing = column.is_null().to_list()
        whole = [_NO_TIME if gone else int(tick) for tick, gone in zip(ticks, missing, strict=True)]
        values, zoned = np.array(whole, np.int64).view(f"M8[{unit}]"), bool(dtype.time_zone)
    else:
        values[:] = column.to_list()
    return factorized(values, zoned=zoned)
