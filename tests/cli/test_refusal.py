"""Messages of the library name arguments; those of the command name options."""

import inspect
import re

import pytest

import secant
from commands import assess
from helpers import optional
from secant.errors import Argument, Message

optional("click")
optional("rich")
pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (Message("e.g. ", Argument("pos_label", "yes"), "."), "e.g. --pos-label yes."),
        (Message(Argument("pos_label", "it's")), "--pos-label 'it'\"'\"'s'"),
        (Message(Argument("pos_label", "not yet")), "--pos-label 'not yet'"),
        (
            Message(Argument("pos_label", 9), " does not occur in ", Argument("y_true")),
            "--pos-label 9 does not occur in --y-true",
        ),
        (Message("use ", Argument("method", "monte-carlo")), "use --method monte-carlo"),
        (Message(Argument("sample_weight"), " is 0.5"), "--weight is 0.5"),
        (Message("which ", Argument("by", index=1), " names"), "which --by names"),
        (Message(Argument("data"), " names 'a.csv'"), "FILES names 'a.csv'"),
        (Message("y_true.csv: ", Argument("y_true"), " is 2"), "y_true.csv: --y-true is 2"),
        (Message("the data has y_true in it"), "the data has y_true in it"),
        ("what is no message of ours: y_true", "what is no message of ours: y_true"),
    ],
)
def test_arguments_become_options(message, told):
    from secant.cli._refusal import in_options

    assert in_options(message) == told


ROWS = {
    "y": [0, 1, 0, 1],
    "p": [0.2, 0.6, 0.7, 0.9],
    "w": [0.5, 1.0, 2.0, 3.0],
    "c": ["no", "yes"] * 2,
}
ARGUMENTS = set(inspect.signature(secant.assess_by).parameters) - {"by", "data", "adjust", "method"}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--y-true c --y-prob p", "which is the event? Name it with --pos-label"),
        ("--y-true c --y-prob p --pos-label maybe", "--pos-label maybe does not occur in --y-true"),
        ("--y-true y --y-prob p --pos-label 9", "--pos-label 9 does not occur in --y-true"),
        ("--y-true w --y-prob p", "any two values with --pos-label)"),
        ("--y-true y --y-prob y", "--y-true and --y-prob are both column 'y'"),
        ("--y-true p --y-prob y", "--y-prob holds only 0 and 1 and --y-true fractions"),
        ("--y-true y --y-prob w", "--y-prob is 2.0"),
        ("--y-true y --y-prob c", "--y-prob "),
        ("--y-true z --y-prob p", "no column 'z', which --y-true names"),
        ("--y-true y --y-prob p --weight y", "--weight names 'y', the column of outcomes"),
        ("--y-true y --y-prob p --weight c", "--weight "),
        ("--y-true y --y-prob p --weight w --weight-kind frequency", "--weight-kind sampling"),
        ("--y-true y --y-prob p --weight w --method exact", "use --method monte-carlo"),
        ("--y-true y --y-prob p --by z", "no column 'z', which --by names"),
        ("--y-true y --y-prob p --by c --by c", "--by must name one column"),
        ("--y-true y --y-prob p --by c --by y", "--by y is the column of outcomes"),
    ],
)
def test_no_message_of_the_command_names_an_argument(tmp_path, monkeypatch, ending, options, words):
    monkeypatch.chdir(tmp_path)
    table = pyarrow.table(ROWS)
    if ending == "csv":
        optional("pyarrow.csv").write_csv(table, "a.csv")
    else:
        parquet.write_table(table, "a.parquet")
    shown = assess(f"a.{ending}", *options.split())
    assert shown.exit_code == 2, shown.output
    assert words in " ".join(shown.output.split())
    assert not ARGUMENTS & set(re.findall(r"\w+", shown.output))


def test_notes_name_options_too(tmp_path):
    file = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"y": [0, 1] * 200, "p": [0.4, 0.6] * 200}), file)
    shown = assess(file, "--method", "asymptotic")
    assert "use --method exact." in " ".join(shown.output.split())
