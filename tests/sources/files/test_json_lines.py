"""Lines of JSON: types and nulls are looked after as in every other format."""

import json
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional

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
        ({"p": [*P[1:], "x"]}, "a.jsonl cannot be read: JSON parse error: Column(/p) changed"),
        ({"p": [[0.5]] * N}, "a.jsonl: y_prob must hold real numbers; column 'p' holds list<"),
        ({"p": ["0.5"] * N}, "a.jsonl: y_prob must hold real numbers; column 'p' holds text"),
        ({"y": ["yes", "no"] * 150}, "a.jsonl, rows 0 to 299: y_true holds text"),
    ],
)
def test_what_cannot_be_used_is_named(columns, told):
    write(**columns)
    assert refusal().startswith(told)


@pytest.mark.parametrize("end", ['{"y": 1, "p": 0.5', "[1, 2]\n", "x\n", '{"y": 1, "p": 1e999}\n'])
def test_lines_that_are_no_objects(end):
    path = Path(write())
    path.write_text(path.read_text() + end)
    assert refusal().startswith("a.jsonl cannot be read: JSON parse error: ")
