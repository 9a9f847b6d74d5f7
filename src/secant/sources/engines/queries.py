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

from secant._input.rules import ALL_MISSING
from secant.errors import Argument, InputError
from secant.sources.engines.budget import Budget
from secant.sources.engines.engine import engine_of, with_digits, with_logarithm, with_strays
from secant.sources.engines.expressions import (
    BITS,
    LABEL,
    SCORE,
    VANISHING,
    WEIGHT,
    floor,
    is_nan,
    number_if,
    plain,
    rounded,
    square,
    times,
    zero_or_one,
)
from secant.sources.engines.faults import Faults, missing
from secant.sources.engines.keys import plain_keys
from secant.sources.engines.outcomes import outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._base.types import FloatArray
    from secant._input.columns import Columns

__all__ = ["Answer", "Table", "collect"]

_HAPPENED = LABEL == 1
_USABLE = nw.col("fault") == 0
_IMPOSSIBLE = ((SCORE == 0) & _HAPPENED) | ((SCORE == 1) & ~_HAPPENED)
# What was said of the outcome; 1 where its logarithm is not wanted, since an engine may refuse to
# compute one that it does not use.
_SAID = (
    nw.when(_USABLE & ~_IMPOSSIBLE)
    .then(nw.when(_HAPPENED).then(SCORE).otherwise(1 - SCORE))
    .otherwise(nw.lit(1.0))
)

# More rows than there are: a limit, which keeps databases from merging a query into the next.
_ALL = 1 << 62
# Leading bits of a weight: the sum of up to 2^29 such numbers of about one size is exact.
_WEIGHT_BITS = 24
# No score that is not 0 has a larger logarithm.
_MOST_LOSS = 745.2
_LEAST_LOSS = 1e-290


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Let the engine work: what this returns is all that ever leaves it."""
    return frame.collect()


# Questions ----------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """Sums that came back: for every row the key of its group, and columns by name.

    ``anchor``, ``low`` and ``high`` are a cell's, ``rows`` and ``n1`` count its rows and those that
    happened. ``w`` and ``w1`` sum their weights; followed by ``d`` or ``dd``, multiplied by the
    distance from the anchor or its square. ``ww...`` are the same for squares of weights. None of
    these knows what outcomes weigh; ``third``, ``largest`` (step) and ``log_loss`` do.
    """

    keys: list[tuple[Any, ...]]
    columns: dict[str, FloatArray]


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
        self._engine = engine_of(frame)
        self.budget = Budget()
        self.weight_kind = columns.weights
        self.outcome_weights = columns.reading.outcome_weights
        self.by = [f"by{i}" for i in range(len(columns.by))]
        self._names: dict[tuple[Any, ...], str] = {}
        with self._engine.asked("reading the types of its columns"):
            schema = frame.collect_schema()
            columns.check(schema.names(), Argument("data"))
        self._engine.check_names(columns.names)
        taken = schema.names()
        # Texts are told apart by their digits wherever they are compared or grouped.
        texts: dict[str, str] = {}
        if self._engine.collates:
            named = [*zip(self.by, columns.by, strict=True), ("label", columns.y_true)]
            named += [("cluster", columns.clusters)] if columns.clusters is not None else []
            texts = {ours: name for ours, name in named if schema[name] == nw.String}
        self.marks = {ours: _unused(f"{ours}_digits", taken) for ours in texts}
        if texts:
            frame = with_digits(frame, {self.marks[ours]: name for ours, name in texts.items()})
        self.marked = frame
        self.digits = {name: f"{name}_digits" for name in (*self.by, "cluster") if name in texts}
        wanted = {"score": _number(schema, "y_prob", columns.y_prob)}
        if columns.sample_weight is not None:
            wanted["weight"] = _number(schema, "sample_weight", columns.sample_weight)
        with self._engine.asked("finding the distinct outcomes"):
            told = nw.col(self.marks["label"]) if texts.get("label") else None
            wanted["label"] = outcomes(
                frame, columns, self._collect, typed=self._engine.typed, digits=told
            )
        for ours, theirs in zip(self.by, columns.by, strict=True):
            wanted[ours] = _key(schema, theirs)
        if columns.clusters is not None:
            wanted["cluster"] = _key(schema, columns.clusters, "clusters")
        if columns.order_by is not None:
            wanted["order"] = _place(schema, columns.order_by)
        wanted |= {ours: nw.col(self.marks[name]) for name, ours in self.digits.items()}
        # Keys that can be written in a query as they are; others are compared as texts.
        self._literal = not self.digits and all(
            schema[name].is_integer() or schema[name] in (nw.String, nw.Boolean)
            for name in columns.by
        )
        strays: dict[str, str] = {}
        if not self._engine.typed:
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
        with self._engine.asked("reading its columns"):
            self._rows = frame.select(**wanted).with_columns(score=score)
        self.left_out = self._leave_out(strays) if columns.reading.drops else 0

    def _leave_out(self, strays: Iterable[str]) -> int:
        """Leave out the rows that have no score or no outcome, and count them: one more pass."""
        without = missing(SCORE) | missing(LABEL)
        for stray in strays:  # which is no number, and not missing
            without = without & ~nw.col(stray)
        with self._engine.asked("counting rows without a score or an outcome"):
            counted = self._rows.select(without=number_if(without))
            answer = self._collect(counted.select(rows=nw.len(), without=nw.col("without").sum()))
        rows, left_out = int(answer["rows"][0]), int(answer["without"][0] or 0)
        if 0 < rows == left_out:
            raise InputError(ALL_MISSING)
        self._rows = self._rows.filter(~without)
        return left_out

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weight_kind == "sampling"

    def with_digits(self, names: Iterable[str]) -> list[str]:
        """Return names of columns to group by, those of the digits of texts among them."""
        return [each for name in names for each in (name, self.digits.get(name)) if each]

    def sizes(self) -> dict[tuple[Any, ...], int]:
        """Count the rows of every group, and learn how the engine writes their keys."""
        with self._engine.asked("counting groups"):
            keys = self.with_digits(self.by)
            named = self._rows.select(*keys, name=self._name()).group_by(*keys, "name")
            counted = self._collect(named.agg(nw.len().alias("rows")))
            found = self._keys(counted)
            self._names = dict(zip(found, counted["name"].to_list(), strict=True))
            return dict(zip(found, counted["rows"].to_list(), strict=True))

    def sums(
        self, anchor: nw.Expr, within: Sequence[nw.Expr] = (), where: nw.Expr | None = None
    ) -> Answer:
        """Sum up the rows, or some of them, by group and cell: one pass over the data.

        Rows that cannot be used are counted at anchors below zero, the codes of their faults.

        Parameters
        ----------
        anchor
            The anchor of a row's cell.
        within
            Anchors of wider cells, whose limits cells must not cross.
        where
            Which rows.
        """
        again = anchor is SCORE or within
        with self._engine.asked("looking into cells" if again else "summing cells"):
            rows = self._rows if where is None else self._rows.filter(where)
            groups = self.with_digits(self.by)
            wider = {f"wider{i}": expression for i, expression in enumerate(within)}
            terms = self._terms()
            found = self._once(rows.with_columns(fault=self._faults.code()))
            placed = nw.when(_USABLE).then(anchor).otherwise(nw.col("fault"))
            measured = self._once(self._usable(found.with_columns(anchor=placed, **wider)))
            measured = with_logarithm(
                measured.with_columns(d=number_if(_USABLE, SCORE - nw.col("anchor")), said=_SAID),
                "said",
            ).select(*groups, *wider, "anchor", "score", **terms)
            asked = {
                "rows": nw.len(),
                "low": SCORE.min(),
                "high": SCORE.max(),
                **{name: nw.col(name).sum() for name in terms},
                **({"largest": nw.col("step").max()} if "step" in terms else {}),
            }
            asked.pop("step", None)
            keys = [*groups, *wider, "anchor"]
            answer = self._collect(
                measured.group_by(*keys).agg(*(sums.alias(name) for name, sums in asked.items()))
            )
            sums = {name: _doubles(answer[name]) for name in ("anchor", *asked)}
            return Answer(self._keys(answer), sums)

    def observations(self, keys: Sequence[tuple[Any, ...]]) -> Answer:
        """Fetch the rows of groups: ``score``, ``label`` and ``weight``, which is positive."""
        with self._engine.asked("fetching rows"):
            weighted = self.weight_kind is not None
            rows = self._rows.filter(WEIGHT > 0) if weighted else self._rows
            if self.by:
                rows = rows.filter(self.members(keys))
            names = ["score", "label", *(["weight"] if weighted else [])]
            answer = self._collect(rows.select(*self.by, *names))
            return Answer(self._keys(answer), {name: _doubles(answer[name]) for name in names})

    def by_cluster(self, place: nw.Expr, terms: dict[str, nw.Expr]) -> tuple[Answer, list[Any]]:
        """Sum up terms by group, cluster and a function of the score; the clusters' ids come along.

        Parameters
        ----------
        place
            What scores are told apart by; ``place`` in the answer, whose ``rows`` counts rows.
        terms
            What is summed, by name.
        """
        with self._engine.asked("summing clusters"):
            keys = self.with_digits([*self.by, "cluster"])
            measured = self._once(self._rows.select(*keys, place=place, **terms))
            sums = [nw.col(name).sum() for name in terms]
            answer = self._collect(
                measured.group_by(*keys, "place").agg(nw.len().alias("rows"), *sums)
            )
            columns = {name: _doubles(answer[name]) for name in ("place", "rows", *terms)}
            return Answer(self._keys(answer), columns), plain_keys(answer["cluster"])

    def with_places(self) -> tuple[nw.DataFrame[Any], list[tuple[Any, ...]]]:
        """Fetch all rows of positive weight with their places along the axis, and their groups."""
        with self._engine.asked("fetching rows"):
            weighted = self.weight_kind is not None
            rows = self._rows.filter(WEIGHT > 0) if weighted else self._rows
            have = self._rows.collect_schema().names()
            more = [name for name in ("weight", "cluster") if name in have]
            answer = self._collect(rows.select(*self.by, "score", "label", "order", *more))
            return answer, self._keys(answer)

    def distinct_places(self) -> int:
        """Count the distinct places along the axis."""
        with self._engine.asked("counting places"):
            places = (
                self._rows.group_by("order").agg(nw.len().alias("rows")).select(places=nw.len())
            )
            return int(self._collect(places)["places"][0])

    def by_place(self, terms: dict[str, nw.Expr]) -> nw.DataFrame[Any]:
        """Sum up terms by place along the axis; ``least`` and ``most`` are scores there."""
        with self._engine.asked("summing places"):
            measured = self._once(self._rows.select("order", "score", **terms))
            sums = [nw.col(name).sum() for name in terms]
            ends = SCORE.min().alias("least"), SCORE.max().alias("most")
            return self._collect(measured.group_by("order").agg(*ends, *sums))

    def refuse(self, found: dict[int, int]) -> None:
        """Raise an error about faults found, if any: the number of rows by code."""
        with self._engine.asked("finding unusable rows"):
            self._faults.refuse(self._rows, found, self._collect)

    def _collect(self, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        answer = collect(frame)
        self.budget.brought += len(answer)
        return answer

    def _once(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Let an engine compute columns once, not again wherever they are used."""
        return rows.head(_ALL) if self._engine.inlines else rows

    def _usable(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Blank the numbers of unusable rows, which their codes tell of: some cannot be squared."""
        names = ["score"] if self.weight_kind is None else ["score", "weight"]
        return rows.with_columns(**{name: number_if(_USABLE, nw.col(name)) for name in names})

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

    def _terms(self) -> dict[str, nw.Expr]:
        """Return what is summed in every cell."""
        d = nw.col("d")
        terms = {
            "forbidden": number_if(_IMPOSSIBLE),
            "minus": number_if(LABEL == -1),
            "n1": number_if(_HAPPENED),
        }
        by_outcome = self.outcome_weights is not None
        if self.weight_kind is None:
            terms |= {"wd": d, "w1d": number_if(_HAPPENED, d), "wdd": square(d)}
            terms |= {"w1dd": number_if(_HAPPENED, square(d))} if by_outcome else {}
        else:
            terms |= _weighed("w", WEIGHT, by_outcome=by_outcome)
        if self.sampling:
            terms |= _weighed("ww", WEIGHT * WEIGHT, by_outcome=by_outcome)
        terms["log_loss"] = self._log_loss()
        return terms if not (self.sampling or by_outcome) else {**terms, **self._tail_terms()}

    def _log_loss(self) -> nw.Expr:
        """Minus the logarithm of what was said of the outcome, where that was not impossible."""
        loss = 0 - nw.col("log_said")
        # What rounding took from 1 - s is all there is of a score of 1e-20; what is near
        # the smallest doubles cannot be divided, which an engine may refuse.
        is_little = _USABLE & ~_HAPPENED & (SCORE >= _LEAST_LOSS)
        loss = loss + number_if(is_little, SCORE - (1 - (1 - SCORE)))
        o0, o1 = self.outcome_weights or (1.0, 1.0)
        loss = loss * _either(o0, o1) if o0 != o1 else loss
        return loss if self.weight_kind is None else times(WEIGHT, loss / _MOST_LOSS) * _MOST_LOSS

    def _tail_terms(self) -> dict[str, nw.Expr]:
        """Return what the tails of weighted sums are judged by."""
        o0, o1 = self.outcome_weights or (1.0, 1.0)
        third = SCORE * (1 - SCORE)
        up, down = (1 - SCORE) * o1, times(nw.lit(o0), SCORE)
        if o0 != o1:
            # In units of the larger weight, so that it stays within [0, 1] as times() asks.
            third = times((o0 + o1 - o0 * o1 / (up + down)) / max(o0, o1), third)
        step = nw.when(up >= down).then(up).otherwise(down)
        if self.sampling:
            step = step * WEIGHT
            twice = times(WEIGHT * WEIGHT, third)
            third = number_if(twice >= VANISHING, twice * WEIGHT)
        elif self.weight_kind is not None:
            third = times(WEIGHT, third)
        return {"third": third, "step": step}

    def _keys(self, answer: nw.DataFrame[Any]) -> list[tuple[Any, ...]]:
        if not self.by:
            return [()] * len(answer)
        columns = [plain_keys(answer[name]) for name in self.by]
        return list(zip(*columns, strict=True))


def _either(failure: float, event: float) -> nw.Expr:
    return nw.when(_HAPPENED).then(nw.lit(event)).otherwise(nw.lit(failure))


def _weighed(mass: str, weight: nw.Expr, *, by_outcome: bool) -> dict[str, nw.Expr]:
    """Return a weight in two parts, and its products with distances."""
    d = nw.col("d")
    leading = rounded(weight, BITS - _WEIGHT_BITS)
    more = {f"{mass}1dd": number_if(_HAPPENED, square(d, weight))} if by_outcome else {}
    return {
        mass: leading,
        f"{mass}_rest": weight - leading,
        f"{mass}1": number_if(_HAPPENED, leading),
        f"{mass}1_rest": number_if(_HAPPENED, weight - leading),
        f"{mass}d": times(weight, d),
        f"{mass}1d": number_if(_HAPPENED, times(weight, d)),
        f"{mass}dd": square(d, weight),
        **more,
    }


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


def _doubles(column: nw.Series[Any]) -> FloatArray:
    return np.asarray(column.to_numpy(), np.float64)
