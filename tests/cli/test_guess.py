"""Which column is which, where a file leaves no doubt."""

import json

import pytest

import secant
from commands import NAMED, assess, write
from helpers import optional

optional("click")
optional("rich")
optional("pyarrow")


def test_columns_are_guessed_where_there_is_no_doubt(tmp_path, columns):
    named = {key: columns[key] for key in ("happened", "forecast", "segment")}
    shown = assess(write(tmp_path / "a.parquet", named))
    assert shown.exit_code == 0, shown.output
    assert "Guessed: --y-prob forecast, --y-true happened" in shown.output
    only = {"outcome_2024": named["happened"], "model": named["forecast"]}
    for suffix in ("parquet", "csv"):
        shown = assess(write(tmp_path / f"b.{suffix}", only))
        assert "Guessed: --y-prob model, --y-true outcome_2024" in shown.output


@pytest.mark.parametrize("option", [("--quiet",), ("--json", "-"), ("--json", "-", "--quiet")])
def test_guesses_go_to_stderr_where_stdout_is_for_a_reader(tmp_path, columns, option):
    named = {key: columns[key] for key in ("happened", "forecast")}
    shown = assess(write(tmp_path / "a.parquet", named), *option)
    assert shown.stderr == "Guessed: --y-prob forecast, --y-true happened\n"
    if "--json" in option:
        found = json.loads(shown.stdout)
        assert found["guessed"] == {"y_prob": "forecast", "y_true": "happened"}
    else:
        assert len(shown.stdout.splitlines()) == 1


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
