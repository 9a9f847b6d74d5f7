"""Names of columns."""

import pytest

import secant
from doors import P, W, Y
from helpers import optional
from secant import InputError
from secant._input.columns import named_columns
from secant._input.options import AS_USUAL
from secant.errors import Argument


@pytest.mark.parametrize("names", [("y", P), (Y, "p"), ("y", "p")])
def test_names_of_columns_of_nothing(names):
    argument = "y_true" if names[0] == "y" else "y_prob"
    says = rf"^{argument} must be an array of values; got the text '[yp]' .*then pass data= as well"
    with pytest.raises(InputError, match=says):
        secant.assess(*names)
    with pytest.raises(InputError, match=says):
        secant.assess_by(*names, W)


def columns(y_true="y", y_prob="p", sample_weight=None, by=None):
    return named_columns(y_true, y_prob, sample_weight, by, reading=AS_USUAL)


def test_each_column_is_read_once():
    named = columns(sample_weight="w", by=["g", "w"])
    assert named.names == ["y", "p", "w", "g"]
    assert named.roles["by[1]"] == "w"
    assert named.sampling


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"y_true": 3}, "with data=, y_true must be the name of a column; got int"),
        ({"y_prob": "y"}, "y_true and y_prob are both column 'y'"),
        ({"sample_weight": "y"}, "sample_weight names 'y', the column of outcomes"),
        ({"by": []}, "by must name one column or several different ones"),
        ({"by": ["g", "g"]}, "by must name one column or several different ones"),
    ],
)
def test_names_that_are_refused(arguments, says):
    with pytest.raises(InputError, match=says):
        columns(**arguments)


@pytest.mark.parametrize(
    ("available", "says"),
    [
        (["y", "P"], "'p', which y_prob names; did you mean 'P'"),
        (["y", "other"], "it has 'y', 'other'$"),
        (["0.3", "1"], r"it has '0.3', '1' \(is the line of names missing\?\)"),
        ([], "it has no columns"),
        ([0, None, ("a", "p"), 2.5], r"it has 0, None, \('a', 'p'\), 2.5$"),
        (["y", 0, "P"], "did you mean 'P'"),
        (["y", *"abcdefghijkl"], "and 5 more"),
    ],
)
def test_a_column_that_is_not_there(available, says):
    columns().check(["p", "y", "x"], "data")
    with pytest.raises(InputError, match=rf"^data has no column .*{says}"):
        columns().check(available, "data")


@pytest.mark.parametrize(("name", "kind"), [(0, "int"), (0.5, "float")])
def test_a_name_that_is_no_text_is_told_of(name, kind):
    frame = optional("pandas").DataFrame({"y": Y, name: P})
    says = rf"data has no column '{name}', .*; its column {name} has a name of type {kind}: call it"
    for data in (frame, {"y": Y, name: P}):
        with pytest.raises(InputError, match=says):
            secant.assess("y", str(name), data=data)


def test_an_error_about_one_value_is_told_its_place():
    error = InputError("; too large", argument="y_prob", value="1.5", row=3)
    told = columns().explain(error, "a.csv", first=1000)
    assert str(told) == "a.csv, row 1,003, column 'p': y_prob is 1.5; too large"


def test_only_the_arguments_named_are_told_their_columns():
    # Words of English and names of columns are not arguments.
    error = InputError(Argument("y_true"), " must not be sorted by y_prob, or by 'sample_weight'")
    told = columns(sample_weight="w", by="g").explain(error)
    assert str(told) == f"{error} (y_true is column 'y')"
    assert told.argument == "y_true"
    both = InputError(Argument("y_true"), " and ", Argument("y_prob"), " differ")
    assert str(columns().explain(both, "a.csv")) == (
        "a.csv: y_true and y_prob differ (y_true is column 'y', y_prob is column 'p')"
    )


def test_the_order_of_scores_is_no_other_order():
    named = named_columns("y", "p", order_by="p", reading=AS_USUAL)
    assert named == columns()
    assert named_columns("y", "p", order_by="t", reading=AS_USUAL).order_by == "t"
