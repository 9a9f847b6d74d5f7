"""Errors say what is wrong in fields, and their words remember which of them are arguments."""

import pickle

import pytest

import secant
from secant.errors import Argument, InputError, Message, SecantError


def test_one_value_of_an_array():
    error = InputError("; too large", argument="y_prob", value="1.5", row=3, hint=" (halve it)")
    assert str(error) == "y_prob[3] is 1.5; too large (halve it)"
    assert (error.argument, error.value, error.row, error.column) == ("y_prob", "1.5", 3, None)
    assert error.hint == " (halve it)"


def test_the_same_value_in_a_file():
    error = InputError("; too large", argument="y_prob", value="1.5", row=3, hint=" (halve it)")
    placed = error.but(place="a.csv", row=1003, column="p")
    assert str(placed) == "a.csv, row 1,003, column 'p': y_prob is 1.5; too large (halve it)"
    assert (placed.row, placed.column, placed.place) == (1003, "p", "a.csv")
    assert error.row == 3


def test_the_first_argument_named_is_the_one():
    error = InputError(Argument("y_true"), " and ", Argument("y_prob"), " differ")
    assert error.argument == "y_true"
    assert InputError("there is no file").argument is None


def test_arguments_can_be_called_something_else():
    error = InputError(
        "; ", Argument("y_prob", 1), " would do", argument="y_prob", value="2", row=0
    )
    renamed = error.renamed({"y_prob": "y_prob_a"})
    assert str(renamed) == "y_prob_a[0] is 2; y_prob_a=1 would do"
    assert renamed.argument == "y_prob_a"


def test_what_the_complaint_says_already_is_said_once():
    error = InputError(Argument("probs"), "[1, 2] is masked", value="masked", row=1)
    assert str(error.but(place="a.csv")) == "a.csv: probs[1, 2] is masked"
    assert str(error.renamed({"probs": "p"})) == "p[1, 2] is masked"
    assert error.renamed({"probs": "p"}).argument == "p"


def test_only_arguments_are_worded_anew():
    message = Message("y_true in ", Argument("y_true"), Message(": ", Argument("by", index=2)))
    assert message == "y_true in y_true: by[2]"
    assert message.worded(lambda argument: argument.name.upper()) == "y_true in Y_TRUE: BY"
    assert [argument.name for argument in message.arguments] == ["y_true", "by"]


@pytest.mark.parametrize(
    "error",
    [
        SecantError("changed"),
        InputError(Argument("method", "exact"), " will not do", hint="; use another"),
        InputError("; odd", argument="y_true", value="3", row=1, column="y", place="a.csv"),
    ],
)
def test_errors_survive_another_process(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own)
    assert type(again) is type(error)
    assert str(again) == str(error)
    for field in ("argument", "value", "row", "column", "place"):
        assert getattr(again, field, None) == getattr(error, field, None)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (([0, 1], [0.5, 1.5]), ("y_prob", "1.5", 1)),
        (([0, 3], [0.5, 0.5]), ("y_true", "3", 1)),
        (([0, float("nan")], [0.5, 0.5]), ("y_true", "nan", 1)),
        (([0, 1, 1], [0.5, 0.5]), ("y_true", None, None)),
        ((["a", "b"], [0.5, 0.5]), ("y_true", None, None)),
    ],
)
def test_what_the_library_refuses_is_in_fields(arguments, fields):
    with pytest.raises(InputError) as caught:
        secant.assess(*arguments)
    assert (caught.value.argument, caught.value.value, caught.value.row) == fields
