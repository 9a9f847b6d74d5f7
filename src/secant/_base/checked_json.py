"""JSON from a file that may come from anywhere: checked field by field before it is believed.

A check takes a value as JSON has it, and returns it in the type that everything else counts on. A
schema has a check for each field.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Check = Callable[[Any], Any]
    Schema = Mapping[str, Check]

__all__ = [
    "MakesNoSenseError",
    "amount",
    "anything",
    "array",
    "boolean",
    "number",
    "optional",
    "parse",
    "read_fields",
    "require",
    "whole",
]


# A list takes twenty times the memory of the three bytes that an empty one is written in. So many
# bytes there are for each list, at least, in what is saved: all but a few are long, or stand in
# an object with many names.
_BYTES_OF_A_LIST = 32
_FEW_LISTS = 64
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class MakesNoSenseError(ValueError):
    """Something in a file cannot be what was saved."""


def require(holds: object) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise MakesNoSenseError


def parse(text: str | bytes, checked: Callable[[dict[str, Any]], Any] = dict) -> Any:
    """Return what a text says; each object of fields as ``checked`` makes it, as soon as it ends.

    Raises
    ------
    ValueError
        If it is no JSON, has a name twice, or NaN or Infinity, which JSON does not have; if it has
        more lists than anything that is saved, for its length.
    """
    content = text.encode() if isinstance(text, str) else text
    lists = _STRING.sub(b"", content).count(b"[")
    require(lists <= _FEW_LISTS + len(content) // _BYTES_OF_A_LIST)

    def once(pairs: list[tuple[str, Any]]) -> Any:
        fields = dict(pairs)
        require(len(fields) == len(pairs))
        return checked(fields)

    def none(_: str) -> Any:
        raise MakesNoSenseError

    return json.loads(text, object_pairs_hook=once, parse_constant=none)


def read_fields(schema: Schema, fields: Any) -> dict[str, Any]:
    """Return the fields of an object, which are those of a schema and no other, each checked."""
    require(isinstance(fields, dict) and fields.keys() == schema.keys())
    return {name: check(fields[name]) for name, check in schema.items()}


def anything(value: Any) -> Any:
    """Check nothing: for what is looked at elsewhere."""
    return value


def boolean(value: Any) -> bool:
    """Require true or false."""
    require(isinstance(value, bool))
    return bool(value)


def whole(least: int, most: int) -> Check:
    """Require a whole number between two others."""

    def check(value: Any) -> int:
        require(type(value) is int and least <= value <= most)
        return int(value)

    return check


def number(value: Any) -> float:
    """Require a number that is finite as a double."""
    require(type(value) in {int, float} and abs(value) <= sys.float_info.max)
    return float(value)


def amount(value: Any) -> float:
    """Require a number that is no less than zero, and has no sign."""
    found = number(value)
    require(math.copysign(1, found) > 0)
    return found


def array(item: Check, size: int | range, kind: type) -> Check:
    """Require a list of some size, each item of which passes a check; make an array of it."""
    sizes = range(size, size + 1) if isinstance(size, int) else size

    def check(values: Any) -> np.ndarray[Any, Any]:
        require(isinstance(values, list) and len(values) in sizes)
        return np.array([item(value) for value in values], kind)

    return check


def optional(check: Check) -> Check:
    """Let null pass, and what passes a check."""
    return lambda value: None if value is None else check(value)
