"""Which column is which, where a file leaves no doubt."""

import json
import re
from functools import partial

import numpy as np
import pytest

import secant
from commands import NAMED, assess, command, wide, write
from helpers import optional

click = optional("click")
optional("rich")
pa = optional("pyarrow")

from secant.cli._guess import guess, guessed_words, notes  # noqa: E402  (it imports click)


def none(names):
    """Return that no column holds two words."""
    return []


def test_columns_are_guessed_where_there_is_no_doubt(tmp_path, columns):
    named = {key: columns[key] for key in ("happened", "forecast", "segment")}
    shown = wide(write(tmp_path / "a.parquet", named))
    assert shown.exit_code == 0, shown.output
    first, *_ = shown.stdout.splitlines()
    assert first.endswith("Guessed: --y-prob forecast, --y-true happened.")


def test_a_column_is_not_the_outcome_for_being_the_only_one_of_whole_numbers(tmp_path, columns):
    only = {"weekend": columns["happened"], "score": columns["forecast"]}
    for late in ({}, {"late": np.where(columns["happened"] == 1, "yes", "no")}):
        for suffix in ("parquet", "csv"):
            for run in (assess, partial(command, "monitor")):
                shown = run(write(tmp_path / f"2026-01-01.{suffix}", only | late))
                assert shown.exit_code == 2
                assert "say --y-true COLUMN" in shown.output


def test_beside_a_column_of_two_words_no_outcome_is_guessed(tmp_path, columns):
    named = {"label": columns["happened"], "score": columns["forecast"]}
    words = np.where(columns["happened"] == 1, "yes", "no").astype(object)
    words[3] = None
    for late in (words, pa.array(words).dictionary_encode()):
        file = write(tmp_path / "2026-01-01.parquet", named | {"late": late})
        for run in (assess, partial(command, "monitor")):
            shown = run(file)
            assert shown.exit_code == 2
            said = " ".join(shown.output.split())
            assert "late holds no more than two different words and may be the outcome too" in said
            assert run(file, "--y-true", "label").exit_code < 2
    three = np.where(columns["forecast"] < 0.1, "maybe", words)
    assert assess(write(tmp_path / "b.parquet", named | {"late": three})).exit_code == 0
    assert (
        assess(
            write(tmp_path / "c.parquet", {"label": words[4:], "p": columns["forecast"][4:]}),
            "--pos-label",
            "yes",
        ).exit_code
        == 0
    )


def test_whole_numbers_are_not_guessed_to_be_probabilities(tmp_path, columns):
    hard = {"label": columns["happened"], "prediction": columns["happened"]}
    shown = assess(write(tmp_path / "a.parquet", hard))
    assert shown.exit_code == 2
    assert "does not hold decimals alone; say --y-prob prediction to see where" in shown.output


def test_the_page_and_the_json_say_what_was_guessed(tmp_path, columns):
    named = {key: columns[key] for key in ("happened", "forecast")}
    file = write(tmp_path / "2026-01-01.parquet", named)
    for run in (assess, partial(command, "monitor")):
        page, numbers = tmp_path / "a.html", tmp_path / "a.json"
        assert (
            run(file, "--html", page, "--json", numbers).exit_code < 2
        )  # a monitor raises an alarm
        assert "happened (guessed by its name)" in page.read_text()
        found = json.loads(numbers.read_text())
        assert found["guessed"] == {"y_prob": "forecast", "y_true": "happened"}


@pytest.mark.parametrize("option", [("--quiet",), ("--json", "-"), ("--json", "-", "--quiet")])
def test_guesses_stand_in_the_one_line_or_beside_the_json(tmp_path, columns, option):
    named = {key: columns[key] for key in ("happened", "forecast")}
    shown = assess(write(tmp_path / "a.parquet", named), *option)
    said = "Guessed: --y-prob forecast, --y-true happened."
    assert shown.stderr == (f"{said}\n" if "--json" in option else "")
    if "--json" in option:
        found = json.loads(shown.stdout)
        assert found["guessed"] == {"y_prob": "forecast", "y_true": "happened"}
    else:
        (line,) = shown.stdout.splitlines()
        assert line.endswith(said)


def test_a_forgotten_column_of_weights_is_mentioned_and_not_used(tmp_path, columns):
    columns["Sample_Weight"] = columns.pop("days")
    file = write(tmp_path / "a.parquet", columns)
    words = "Not used: the column Sample_Weight. If it holds weights, say --weight Sample_Weight."
    shown = assess(file, *NAMED)
    assert words in " ".join(shown.stdout.split())
    shown = assess(file, *NAMED, "--json", "-")
    assert shown.stderr == f"{words}\n"
    found = json.loads(shown.stdout)
    assert found["columns"]["weight"] is None
    assert found["guessed"] == {}
    result = secant.assess(columns["happened"], columns["forecast"])
    assert found["models"]["forecast"]["ecce_r"]["value"] == result.ecce_r.value
    for used in (("--weight", "Sample_Weight"), ("--by", "Sample_Weight")):
        assert "Not used" not in assess(file, *NAMED, *used).output


def test_a_column_of_words_is_no_column_of_weights(tmp_path, columns):
    columns["w"] = columns["segment"]
    assert "Not used" not in assess(write(tmp_path / "a.parquet", columns), *NAMED).output


def test_doubt_is_an_error_that_lists_the_columns(file, tmp_path, columns):
    shown = assess(file, "--y-true", "happened")
    # "forecast" is a name people use; "better" is not.
    assert shown.exit_code == 0, shown.output
    two = {"score": columns["forecast"], "probability": columns["better"], "y": columns["happened"]}
    shown = assess(write(tmp_path / "c.parquet", two))
    assert shown.exit_code == 2
    assert "say --y-prob COLUMN" in shown.output
    assert "score, probability, y" in shown.output
    three = {"p": columns["forecast"], "a": columns["happened"], "b": columns["happened"]}
    shown = assess(write(tmp_path / "d.parquet", three))
    assert shown.exit_code == 2
    assert "say --y-true COLUMN" in shown.output


def test_a_row_is_not_taken_for_names(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("1,0.5\n0,0.3\n1,0.6\n")
    shown = assess(file)
    assert shown.exit_code == 2
    assert "called 1, 0.5: is the line of names missing?" in " ".join(shown.output.split())
    shown = assess(file, "--y-true", "1", "--y-prob", "0.5", "--json", "-")
    assert json.loads(shown.stdout)["models"]["0.5"]["n"] == 2
    shown = assess(write(tmp_path / "a.parquet", {}))
    assert shown.exit_code == 2
    assert "line of names" not in shown.output


@pytest.mark.parametrize(
    ("kinds", "named", "found"),
    [
        ("Y_True other, SCORE float, x float, k whole", {}, ("Y_True", ("SCORE",))),
        ("a whole, label text, p float", {}, ("label", ("p",))),
        ("y whole, pred whole, p float", {}, ("y", ("p",))),
        ("y whole, p float, prob float", {"taken": {"p"}}, ("y", ("prob",))),
        ("y whole, label whole, p float", {"y_true": "y"}, ("y", ("p",))),
        ("y whole, p float, prob float", {"y_prob": ("prob", "p")}, ("y", ("prob", "p"))),
        ("0 whole, 1 float", {"y_true": "0", "y_prob": ("1",)}, ("0", ("1",))),
    ],
)
def test_a_telling_name(kinds, named, found):
    columns = dict(each.split() for each in kinds.split(", "))
    asked = {"y_true": None, "y_prob": (), "taken": set(), **named}
    y_true, y_prob, guessed = guess(columns, **asked, two_valued=none)
    assert (y_true, y_prob) == found
    assert guessed == {
        **({} if named.get("y_prob") else {"y_prob": found[1][0]}),
        **({} if named.get("y_true") else {"y_true": found[0]}),
    }


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ("y whole, p float, prob float", "the predicted probabilities is not clear"),
        ("y whole, k whole", "the predicted probabilities is not clear"),
        ("y whole, label other, p float", "the outcomes is not clear"),
        ("p float, x float", "the outcomes is not clear"),
        ("a whole, p float", "the outcomes is not clear"),
        ("y whole, b float", "the predicted probabilities is not clear"),
        ("y whole, p whole", "p is called as predicted probabilities are, but does not hold deci"),
        ("0 whole, 1 float", "The columns are called 0, 1: is the line of names missing?"),
    ],
)
def test_what_is_in_doubt_is_not_guessed(kinds, words):
    columns = dict(each.split() for each in kinds.split(", "))
    with pytest.raises(click.UsageError, match=re.escape(words)):
        guess(columns, None, (), set(), none)


def test_of_many_columns_some_are_listed():
    with pytest.raises(click.UsageError) as caught:
        guess(dict.fromkeys("abcdefghijklmno", "other"), None, (), set(), none)
    assert caught.value.message.endswith("a, b, c, d, e, f, g, h, i, j, k, l, ....")


def test_notes_can_be_typed_and_cannot_steer_the_terminal():
    kinds = {"y": "whole", "p\x1b": "float", "Weights": "float", "w": "other", "weight": "whole"}
    assert guessed_words({"y_prob": "p\x1b"}) == "Guessed: --y-prob p\\x1b."
    assert guessed_words({}) == ""
    assert notes(kinds, {"y", "weight"}) == [
        "Not used: the column Weights. If it holds weights, say --weight Weights.",
    ]
