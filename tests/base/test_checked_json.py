"""JSON that may come from anywhere: what it says is checked before it is believed."""

import json
import sys

import numpy as np
import pytest

from secant._base import checked_json
from secant._base.checked_json import MakesNoSenseError


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1, "a": 1}', '{"a": NaN}', '{"a": {"b": -Infinity}}', "[Infinity]"]
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  (its words are for no one)
        checked_json.parse(text)


def test_short_lists_may_not_be_many():
    for one in ("[]", "[0]", '["[[["]'):
        for many in (1_000, 100_000):
            with pytest.raises(MakesNoSenseError):
                checked_json.parse(f"[{', '.join([one] * many)}]")
    assert checked_json.parse(f"[{', '.join(['[]'] * 60)}]") == [[]] * 60
    long = [list(range(20))] * 1000
    assert checked_json.parse(str(long)) == long
    words = ["[[", '"[', "\\", "["] * 1000
    assert checked_json.parse(json.dumps(words)) == words


def test_objects_are_checked_as_they_end():
    seen = []
    assert checked_json.parse(b'{"a": {"b": 1}, "c": [{}]}', seen.append) is None
    assert seen == [{"b": 1}, {}, {"a": None, "c": [None]}]


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (checked_json.anything, "x", "x"),
        (checked_json.boolean, True, True),
        (checked_json.whole(-1, 3), 3, 3),
        (checked_json.whole(-1, 3), -1, -1),
        (checked_json.number, 2, 2.0),
        (checked_json.number, -sys.float_info.max, -sys.float_info.max),
        (checked_json.amount, 0, 0.0),
        (checked_json.optional(checked_json.boolean), None, None),
        (checked_json.optional(checked_json.boolean), False, False),
    ],
)
def test_what_may_stand_in_a_file_passes(check, value, expected):
    found = check(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (checked_json.boolean, 1),
        (checked_json.boolean, None),
        (checked_json.whole(0, 3), 4),
        (checked_json.whole(0, 3), -1),
        (checked_json.whole(0, 3), True),
        (checked_json.whole(0, 3), 1.0),
        (checked_json.whole(0, 3), "1"),
        (checked_json.number, True),
        (checked_json.number, "1"),
        (checked_json.number, float("inf")),
        (checked_json.number, float("nan")),
        pytest.param(checked_json.number, 10**400, id="number-huge"),
        (checked_json.amount, -0.0),
        (checked_json.amount, -1),
        (checked_json.amount, None),
        (checked_json.optional(checked_json.boolean), 0),
        (checked_json.array(checked_json.number, 2, float), [1.0]),
        (checked_json.array(checked_json.number, range(2), float), [1.0, 2.0]),
        (checked_json.array(checked_json.number, 2, float), "12"),
        (checked_json.array(checked_json.number, 2, float), {"a": 1, "b": 2}),
        (checked_json.array(checked_json.number, 2, float), [1.0, None]),
        (checked_json.array(checked_json.whole(0, 9), 2, np.int64), [1, True]),
    ],
)
def test_anything_else_is_refused(check, value):
    with pytest.raises(MakesNoSenseError):
        check(value)


@pytest.mark.parametrize("values", [[], [1, 2], [3, 0.5]])
def test_lists_become_arrays_of_one_type(values):
    found = checked_json.array(checked_json.number, range(3), np.float64)(values)
    assert found.dtype == np.float64
    assert found.tolist() == values


def test_an_object_has_the_fields_of_its_schema_and_no_other():
    schema = {"a": checked_json.boolean, "b": checked_json.number}
    found = checked_json.read_fields(schema, {"b": 1, "a": True})
    assert list(found.items()) == [("a", True), ("b", 1.0)]
    for wrong in ({"a": True}, {"a": True, "b": 1, "c": 1}, {"a": 1, "b": 1}, ["a", "b"], None):
        with pytest.raises(MakesNoSenseError):
            checked_json.read_fields(schema, wrong)
