"""Expressions that every engine computes alike.

An engine may know no cast from truth values to numbers, no NaN, no infinity, and call it an error
when a product is too small for a double (PostgreSQL), so there is none of that here: conditions
choose between numbers, comparisons find what is not a number, and products that vanish are zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw

from secant._blocks.score_cells import ZONES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from secant._base.types import FloatArray

__all__ = [
    "BITS",
    "END",
    "END_BITS",
    "FAR_END",
    "LABEL",
    "SCORE",
    "VANISHING",
    "WEIGHT",
    "any_of",
    "cell",
    "floor",
    "grid",
    "is_nan",
    "leading_bits",
    "number_if",
    "plain",
    "rounded",
    "square",
    "times",
    "zero_or_one",
]

SCORE, LABEL, WEIGHT = nw.col("score"), nw.col("label"), nw.col("weight")

# From here on a product with a weight is not too small for a double.
VANISHING = 1e-207
# Significant bits of a double.
BITS = 53

# Scores closer to 0 or 1 than 2^-5 are cut by leading bits: the closer, the finer. Beyond 2^-21
# fewer bits will do, so that scores spread over hundreds of powers of ten fill few cells.
END_BITS = 5
END = 2.0**-END_BITS
FAR_END = 2.0**-21
_FEWER_BITS = 6
# Factors from which on no product with a weight, or its square, is too small for a double.
_SMALL = 1e-100
_SMALL_SQUARE = 1e-50
# What lifts a small factor so far that its product neither vanishes nor becomes infinite, and the
# product that vanishes when taken down again.
_LIFT = 2.0**690
_LIFTED_VANISHING = 2.0**-310


# Whole numbers, since 1.0 is a decimal to PostgreSQL, and a cast to what it seems to be is no cast.
_ONE, _ZERO = nw.lit(1), nw.lit(0)


def number_if(condition: nw.Expr, value: nw.Expr | None = None) -> nw.Expr:
    """Return a number, one if none is given, where a condition holds, and else zero."""
    if value is None:
        return nw.when(condition).then(_ONE).otherwise(_ZERO).cast(nw.Float64)
    return nw.when(condition).then(value).otherwise(nw.lit(0.0))


def zero_or_one(is_zero: nw.Expr, is_one: nw.Expr) -> nw.Expr:
    """Return 0 and 1 where conditions hold, and null elsewhere."""
    return nw.when(is_one).then(_ONE).when(is_zero).then(_ZERO).cast(nw.Float64)


def plain(schema: nw.Schema, name: str) -> nw.Expr:
    """Return a column of values that can be compared: categories and the like as texts."""
    column = nw.col(name)
    special = schema[name] in (nw.Categorical, nw.Enum, nw.Unknown)
    return column.cast(nw.String) if special else column


def is_nan(value: nw.Expr) -> nw.Expr:
    """Tell whether a double is not a number, which some engines sort above all and others do not.

    Whatever it is, a number is at most zero or above its negative.
    """
    found: nw.Expr = ~((value <= 0) | (-value < value))
    return found


def times(weight: nw.Expr, distance: nw.Expr) -> nw.Expr:
    """Multiply a weight, or its square, with a number in [-1, 1]; what vanishes is zero."""
    lifted = weight * (distance * _LIFT)
    small = number_if(lifted.abs() >= _LIFTED_VANISHING, lifted / _LIFT)
    return nw.when(distance.abs() >= _SMALL).then(weight * distance).otherwise(small)


def square(distance: nw.Expr, weight: nw.Expr | None = None) -> nw.Expr:
    """Square a distance, and multiply it with a weight; small squares are zero beside it."""
    product = distance * distance
    return number_if(
        distance.abs() >= _SMALL_SQUARE, product if weight is None else weight * product
    )


def floor(value: nw.Expr) -> nw.Expr:
    """Round a double down to a double: of integers some engines make decimals of few digits."""
    return value.floor().cast(nw.Float64)


def grid(bits: int) -> nw.Expr:
    """Anchor scores in cells 2^-bits wide, and ever narrower ones near 0 and 1.

    Rare events and confident classifiers crowd their scores there. Multiplying by a power of two is
    exact, and so is dividing by one, and 1 - s for scores above one half.
    """
    inner = floor(SCORE * 2.0**bits) / 2.0**bits
    if bits < END_BITS + 2:
        return inner
    from_one = 1 - SCORE
    upper = nw.when(from_one < END).then(1 - _by_leading_bits(from_one, bits)).otherwise(inner)
    return nw.when(SCORE < END).then(_by_leading_bits(SCORE, bits)).otherwise(upper)


def leading_bits(bits: int) -> tuple[int, int]:
    """Return how many leading bits a grid keeps of scores near the ends, and very near."""
    return bits - END_BITS, max(2, bits - END_BITS - _FEWER_BITS)


def _by_leading_bits(distance: nw.Expr, bits: int) -> nw.Expr:
    near, far = (rounded(distance, BITS - kept) for kept in leading_bits(bits))
    return nw.when(distance < FAR_END).then(far).otherwise(near)


def rounded(value: nw.Expr, dropped: int) -> nw.Expr:
    """Round doubles to so many fewer significant bits, by arithmetic alone (Veltkamp)."""
    scaled = value * (2.0**dropped + 1)
    return scaled - (scaled - value)


def cell(bits: int, known: FloatArray | None = None) -> nw.Expr:
    """Return the anchor of a row's cell, as :func:`secant._blocks.score_cells.anchors` does.

    Where all anchors are ``known``, nothing is asked about zones that hold none of them.
    """
    low, high = (0.0, 1.0) if known is None else (float(known[0]), float(known[-1]))
    from_one = 1 - SCORE
    inner = floor(SCORE * 2.0**bits) * 2.0**-bits
    least = ZONES[-1][1]
    found = nw.when(inner < least).then(nw.lit(least)).otherwise(inner)
    for start, stop, more in reversed(ZONES):
        unit = 2.0 ** (bits + more)
        sides = ((SCORE, False), (from_one, True))
        for distance, upper in sides:
            if not (high > 1 - stop if upper else low < stop):
                continue
            end = floor(distance * unit) * (1 / unit)
            end = nw.when(end < start).then(nw.lit(start)).otherwise(end)
            found = nw.when(distance < stop).then(1 - end if upper else end).otherwise(found)
    return found


def any_of(conditions: Iterable[nw.Expr]) -> nw.Expr:
    """Return the disjunction as a balanced tree, because engines recurse into expressions."""
    level = list(conditions)
    while len(level) > 1:
        rest = [level.pop()] if len(level) % 2 else []
        level = [a | b for a, b in zip(level[::2], level[1::2], strict=True)] + rest
    return level[0]
