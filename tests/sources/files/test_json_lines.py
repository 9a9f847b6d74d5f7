"""Lines of JSON: types and nulls are looked after as in every other format."""

import json
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional
from secant.sources.files import json_lines
from secant.sources.files.source import column_kinds

optional("pyarrow")

N = 300
P = np.random.default_rng(2).random(N)
Y = (P > 0.4).astype(np.int64)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name="a.jsonl", **columns):
    columns = {"y": Y.tolist(), "p": P.tolist()} | columns
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def refusal(**options):
    with pytest.raises(secant.InputError) as caught:
        secant.assess("y", "p", data="a.jsonl", **options)
    return str(caught.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson"])
def test_rows_are_those_that_were_written(name):
    found = secant.assess("y", "p", data=write(name))
    assert found.ecce_r.value == pytest.approx(secant.assess(Y, P).ecce_r.value, abs=1e-14)


@pytest.mark.parametrize(
    "keys",
    [["a", "b", None], [1, 2, 3], [True, False, None], ["2026-01-01", "2026-01-02", "1"], [0.5, 2]],
)
def test_keys_have_the_types_of_json(keys):
    by = [keys[i % len(keys)] for i in range(N)]
    found = secant.assess_by("y", "p", "g", data=write(g=by))
    wanted = secant.assess_by(Y, P, np.array(by, object))
    assert {key: found[key].n for key in found} == {key: wanted[key].n for key in wanted}
    kinds = {float} if float in map(type, keys) else {type(key) for key in keys}
    assert {type(key) for key in found} == kinds


def test_whole_numbers_before_fractions_and_truths():
    write(p=[1] * 100 + [0.5] * 200, y=[True, False] * 150)
    assert secant.assess("y", "p", data="a.jsonl").n == N


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"p": [None, *P[1:]]}, "a.jsonl, row 0, column 'p': y_prob is null; a missing score"),
        ({"p": [*P[1:], None]}, "a.jsonl, row 299, column 'p': y_prob is null; a missing score"),
        (
            {"p": [*P[1:], "x"]},
            "a.jsonl, row 299, column 'p': y_prob is 'x', not a number, as",
        ),
        (
            {"p": [*P[1:], list(range(99))]},
            "a.jsonl, row 299, column 'p': y_prob is [0, 1, 2, 3, 4, 5, ...], not a number",
        ),
        ({"p": [[0.5]] * N}, "a.jsonl: y_prob must hold real numbers; column 'p' holds list<"),
        ({"p": ["0.5"] * N}, "a.jsonl: y_prob must hold real numbers; column 'p' holds text"),
        ({"y": ["yes", "no"] * 150}, "a.jsonl, rows 0 to 299: y_true holds text"),
    ],
)
def test_what_cannot_be_used_is_named(columns, told):
    write(**columns)
    assert refusal().startswith(told)


NO_OBJECT = "JSON parse error: it is no object, {...}"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"y": 1, "p": 0.5', NO_OBJECT),
        (b"[1, 2]", NO_OBJECT),
        (b"x", NO_OBJECT),
        (b"null", NO_OBJECT),
        (b'{"y": 1, "p": 1e999}', "JSON parse error: Number too big to be stored in double."),
        (b'{"y": 1, "p": 0.5} {"y": 1, "p": 0.5}', "JSON parse error: "),
        (b'{"y": 1, "p": 0.5, "p": 0.5}', "JSON parse error: Column(/p) was specified twice"),
        (b'{"y": 1, "p": 0.5, "x"}', "JSON parse error: "),
        (b'{"y": 1, "p": 0.5, "x": %s}' % (b"[" * 100 + b"]" * 100), "values are nested deeper"),
    ],
)
@pytest.mark.parametrize("place", [0, N])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n \n"])
def test_lines_that_are_not_one_object_are_named(line, why, place, end, monkeypatch):
    monkeypatch.setattr(json_lines, "BLOCK", 1 << 12)
    monkeypatch.setattr(json_lines, "_START", 1 << 12)
    path = Path(write())
    lines = path.read_bytes().splitlines()
    path.write_bytes(end.join([*lines[:place], line, *lines[place:]]))
    number = place * (2 if end == b"\n \n" else 1) + 1
    assert refusal().startswith(f"a.jsonl cannot be read: line {number}: {why}")


@pytest.mark.parametrize(
    "note",
    [
        "{[" * 200,
        '\\"[{' * 200,
        "\\",
        {"a": [{"b": ["}]"] * 300}] * 99},
        [[]] * 300,
        "\u2028",
        "\x85",
    ],
)
def test_what_other_columns_hold_is_passed_over(note):
    assert secant.assess("y", "p", data=write(note=[note] * N)).n == N


def test_a_line_with_many_quotes_that_are_not_closed_takes_no_time_with_the_square():
    Path("a.jsonl").write_bytes(b'{"y": 1, "p": 0.5, "x": "' + b'\\"[' * (1 << 20) + b"}")
    assert refusal().startswith("a.jsonl cannot be read: line 1: ")


def test_types_may_differ_where_nobody_asks():
    """A column of a kind in one line and of another in the next is of no matter to others."""
    notes = [[1, "x", None, {"a": 1}, [2]][i % 5] for i in range(N)]
    assert secant.assess("y", "p", data=write(note=notes)).n == N


def test_a_file_that_begins_with_a_mark_and_has_blank_lines():
    path = Path(write())
    path.write_bytes(b"\xef\xbb\xbf\n \r\n" + path.read_bytes().replace(b"\n", b"\r\n\t\n"))
    assert secant.assess("y", "p", data="a.jsonl").n == N


@pytest.mark.parametrize("content", [b"\n", b" \n\n", b"{}\n"])
def test_no_objects(content):
    Path("a.jsonl").write_bytes(content)
    assert refusal().startswith("a.jsonl has no column 'y', which y_true names")


def keyed(lines):
    """Write lines that have a key of their own each."""
    rows = (f'{{"y": {y}, "p": {p}, "k{i}": 1}}\n' for i, y, p in lines)
    Path("a.jsonl").write_text("".join(rows))


def test_a_key_of_its_own_in_each_line(monkeypatch):
    keyed((i, i % 2, 0.5) for i in range(9_990))
    read, names = json_lines._table, set()

    def table(*arguments):
        made = read(*arguments)
        names.update(made.column_names)
        return made

    monkeypatch.setattr(json_lines, "_table", table)
    assert secant.assess("y", "p", data="a.jsonl").n == 9_990
    assert names == {"y", "p"}
    keyed((i, i % 2, 0.5) for i in range(10_000))
    many = "the lines up to it have more than 10,000 keys, and each is a column"
    assert refusal() == f"a.jsonl cannot be read: line 9,999: {many}"


@pytest.mark.parametrize("value", [{"k": 1}, [{"k": 1}], [[], {"k": 1}], [[[{"k": 1}]]]])
def test_arrow_sees_no_keys_of_objects_in_columns(value, monkeypatch):
    """It takes memory with the square of those that differ, in whatever they are."""
    read, seen = json_lines._table, []

    def table(*arguments):
        made = read(*arguments)
        seen.extend(map(str, made.schema.types))
        return made

    monkeypatch.setattr(json_lines, "_table", table)
    write(note=[value] * N, word=["a"] * N)
    assert secant.assess("y", "p", data="a.jsonl").n == N
    assert column_kinds("a.jsonl") == {"y": "whole", "p": "float", "note": "other", "word": "text"}
    assert set(seen) == {"double", "string"}
    write(p=[value] * N)
    assert refusal().startswith("a.jsonl: y_prob must hold real numbers; column 'p' holds ")
    assert set(seen) == {"double", "string"}


def test_all_columns_are_told_without_a_row_of_each():
    keyed((i, i % 2, 0.5) for i in range(2_000))
    assert column_kinds("a.jsonl") == {
        "y": "whole",
        "p": "float",
        **{f"k{i}": "whole" for i in range(2_000)},
    }
