"""What an engine is asked: one group-by, and again for the few stretches of scores that matter.

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

from secant._input.groups import plain_key
from secant.errors import Argument, InputError
from secant.sources.engines.faults import coded, refuse
from secant.sources.engines.outcomes import outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from secant._base.types import FloatArray
    from secant._input.columns import Columns

__all__ = ["SCORE", "Answer", "Table", "any_of", "collect", "grid", "rounded"]

SCORE = nw.col("score")
_LABEL, _WEIGHT = nw.col("label"), nw.col("weight")

# Scores closer to 0 or 1 than 2^-5 are cut by leading bits: the closer, the finer.
_END_BITS = 5
_END = 2.0**-_END_BITS
# Significant bits of a double.
_BITS = 53
# Leading bits of a weight: the sum of up to 2^29 such numbers of about one size is exact.
_WEIGHT_BITS = 24


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Let the engine work: what this returns is all that ever leaves it."""
    return frame.collect()


# Expressions --------------------------------------------------------------------------------------


def grid(bits: int) -> nw.Expr:
    """Anchor scores in cells 2^-bits wide, and ever narrower ones near 0 and 1.

    Rare events and confident classifiers crowd their scores there. Multiplying by a power of two is
    exact, and so is 1 - s for scores above one half.
    """
    inner = (SCORE * 2.0**bits).floor() * 2.0**-bits
    if bits < _END_BITS + 2:
        return inner
    dropped = _BITS - (bits - _END_BITS)
    from_one = 1 - SCORE
    upper = nw.when(from_one < _END).then(1 - rounded(from_one, dropped)).otherwise(inner)
    return nw.when(SCORE < _END).then(rounded(SCORE, dropped)).otherwise(upper)


def rounded(value: nw.Expr, dropped: int) -> nw.Expr:
    """Round doubles to so many fewer significant bits, by arithmetic alone (Veltkamp)."""
    scaled = value * (2.0**dropped + 1)
    return scaled - (scaled - value)


def any_of(conditions: Iterable[nw.Expr]) -> nw.Expr:
    """Return the disjunction as a balanced tree, because engines recurse into expressions."""
    level = list(conditions)
    while len(level) > 1:
        rest = [level.pop()] if len(level) % 2 else []
        level = [a | b for a, b in zip(level[::2], level[1::2], strict=True)] + rest
    return level[0]


# Questions ----------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """Sums that came back: for every row the key of its group, and columns by name.

    ``anchor``, ``low`` and ``high`` are a cell's, ``rows`` and ``n1`` count its rows and those that
    happened. ``w`` and ``w1`` sum their weights; followed by ``d`` or ``dd``, multiplied by the
    distance from the anchor or its square. ``ww...`` are the same for squares of weights.
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
        schema = frame.collect_schema()
        columns.check(schema.names(), Argument("data"))
        self._columns = columns
        self.weight_kind = columns.weights
        wanted = {
            "score": _number(schema, "y_prob", columns.y_prob),
            "label": outcomes(frame, columns, collect),
        }
        if columns.sample_weight is not None:
            wanted["weight"] = _number(schema, "sample_weight", columns.sample_weight)
        self.by = [f"by{i}" for i in range(len(columns.by))]
        self._names: dict[tuple[Any, ...], str] = {}
        for ours, theirs in zip(self.by, columns.by, strict=True):
            wanted[ours] = _key(schema, theirs)
        # -0.0 and 0.0 are one score, which no engine is asked to know.
        score = nw.when(SCORE == 0).then(nw.lit(0.0)).otherwise(SCORE)
        self._rows = frame.select(**wanted).with_columns(score=score)

    @property
    def sampling(self) -> bool:
        """Whether rows carry sampling weights."""
        return self.weight_kind == "sampling"

    def sizes(self) -> dict[tuple[Any, ...], int]:
        """Count the rows of every group, and learn how the engine writes their keys."""
        named = self._rows.select(*self.by, name=self._name()).group_by(*self.by, "name")
        counted = collect(named.agg(nw.len().alias("rows")))
        keys = self._keys(counted)
        self._names = dict(zip(keys, counted["name"].to_list(), strict=True))
        return dict(zip(keys, counted["rows"].to_list(), strict=True))

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
        rows = self._rows if where is None else self._rows.filter(where)
        wider = {f"wider{i}": expression for i, expression in enumerate(within)}
        happened = (_LABEL == 1).cast(nw.Float64)
        terms = self._terms()
        measured = (
            rows.with_columns(anchor=coded(anchor, self.weight_kind), r=happened, **wider)
            .with_columns(d=SCORE - nw.col("anchor"))
            .select(*self.by, *wider, "anchor", "score", **terms)
        )
        answer = collect(
            measured.group_by(*self.by, *wider, "anchor").agg(
                nw.len().alias("rows"),
                SCORE.min().alias("low"),
                SCORE.max().alias("high"),
                *(nw.col(name).sum() for name in terms),
                *([nw.col("wwv").max().alias("largest")] if self.sampling else []),
            )
        )
        sums = {
            name: _doubles(answer[name])
            for name in ("anchor", "rows", "low", "high", *terms, *(["largest"] * self.sampling))
        }
        return Answer(self._keys(answer), sums)

    def observations(
        self, where: nw.Expr | None
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Fetch rows themselves: their scores, labels and weights."""
        rows = self._rows if where is None else self._rows.filter(where)
        if self.weight_kind is None:
            answer = collect(rows.select("score", "label"))
            return _doubles(answer["score"]), _doubles(answer["label"]), None
        answer = collect(rows.filter(_WEIGHT > 0).select("score", "label", "weight"))
        return _doubles(answer["score"]), _doubles(answer["label"]), _doubles(answer["weight"])

    def refuse(self, found: dict[int, int]) -> None:
        """Raise an error about faults found, if any: the number of rows by code."""
        refuse(self._rows, self.weight_kind, self._columns, found, collect)

    def member(self, key: tuple[Any, ...]) -> nw.Expr:
        """Tell whether a row is in a group."""
        parts = [
            nw.col(name).is_null() if part is None else _is(nw.col(name), part)
            for name, part in zip(self.by, key, strict=True)
        ]
        condition = parts[0]
        for part in parts[1:]:
            condition &= part
        return condition

    def members(self, keys: Sequence[tuple[Any, ...]]) -> nw.Expr:
        """Tell whether a row is in one of several groups."""
        if len(self.by) > 1 or len(keys) == 1:
            return any_of(self.member(key) for key in keys)
        named = [key for (key,) in keys if key is not None]
        column = nw.col(self.by[0])
        listed = ~column.is_null() & column.is_in(named)
        return listed if len(named) == len(keys) else column.is_null() | listed

    def in_cells(self, wanted: Sequence[tuple[tuple[Any, ...], float]], bits: int) -> nw.Expr:
        """Tell whether a row is in one of many cells, each of one group, 2^-bits wide.

        Groups and cells are written as one text, because engines find a text in a list of thousands
        at once. What is written alike may be found too.
        """
        cell = (SCORE * 2.0**bits).floor()
        if not self.by:
            return cell.is_in([number for _, number in wanted])
        texts = [f"{self._names[key]}:{number:.0f}" for key, number in wanted]
        number = cell.cast(nw.Int64).cast(nw.String)
        return nw.concat_str(self._name(), number, separator=":").is_in(texts)

    def _name(self) -> nw.Expr:
        """Write a group's key as a text."""
        return nw.concat_str(
            *(
                nw.when(nw.col(name).is_null())
                .then(nw.lit("null"))
                .otherwise(nw.col(name).cast(nw.String))
                for name in self.by
            ),
            separator=",",
        )

    def _terms(self) -> dict[str, nw.Expr]:
        """Return what is summed in every cell."""
        r, d = nw.col("r"), nw.col("d")
        impossible = ((SCORE == 0) & (_LABEL == 1)) | ((SCORE == 1) & (_LABEL != 1))
        terms = {
            "forbidden": impossible.cast(nw.Float64),
            "minus": (_LABEL == -1).cast(nw.Float64),
            "n1": r,
        }
        if self.weight_kind is None:
            return {**terms, "wd": d, "w1d": r * d, "wdd": d * d}
        terms |= _weighed("w", _WEIGHT)
        if self.sampling:
            square = _WEIGHT * _WEIGHT
            terms |= _weighed("ww", square)
            terms["wwv"] = square * (SCORE * (1 - SCORE))
        return terms

    def _keys(self, answer: nw.DataFrame[Any]) -> list[tuple[Any, ...]]:
        if not self.by:
            return [()] * len(answer)
        columns = [[plain_key(key) for key in answer[name].to_list()] for name in self.by]
        return list(zip(*columns, strict=True))


def _is(column: nw.Expr, key: Any) -> nw.Expr:
    """Compare with a key, and say no, not "unknown", where there is none."""
    found: nw.Expr = ~column.is_null() & (column == key)
    return found


def _weighed(mass: str, weight: nw.Expr) -> dict[str, nw.Expr]:
    """Return a weight in two parts, and its products with distances."""
    r, d = nw.col("r"), nw.col("d")
    leading = rounded(weight, _BITS - _WEIGHT_BITS)
    return {
        mass: leading,
        f"{mass}_rest": weight - leading,
        f"{mass}1": r * leading,
        f"{mass}1_rest": r * (weight - leading),
        f"{mass}d": weight * d,
        f"{mass}1d": r * weight * d,
        f"{mass}dd": weight * d * d,
    }


def _number(schema: nw.Schema, argument: str, name: str) -> nw.Expr:
    dtype = schema[name]
    if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Unknown)):
        what = "text" if dtype == nw.String else f"values of type {dtype}"
        must = f") must hold real numbers; it holds {what}"
        raise InputError(f"column {name!r} (", Argument(argument), must, column=name)
    return nw.col(name).cast(nw.Float64)


def _key(schema: nw.Schema, name: str) -> nw.Expr:
    """Return what tells groups apart; not a number is no key, like null."""
    column = nw.col(name)
    if schema[name].is_nested():
        what = f") holds values of type {schema[name]}, which cannot name groups"
        raise InputError(f"column {name!r} (", Argument("by"), what, column=name)
    if schema[name].is_float():
        return nw.when(~column.is_nan()).then(column)
    if schema[name] in (nw.Categorical, nw.Enum):
        return column.cast(nw.String)
    return column


def _doubles(column: nw.Series[Any]) -> FloatArray:
    return np.asarray(column.to_numpy(), np.float64)
