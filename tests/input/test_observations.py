"""What secant takes, what it refuses and in which words, and that it leaves everything as it was.

Warnings are errors in this suite, so every test here also states that secant emits none.
"""

import array
import pickle
import random
import re
import subprocess
import sys
import textwrap
import warnings
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from secant import InputError
from secant.sources import rows as row_source

# Scores that every floating type has, so that all types must give the very same numbers.
Y = [0, 1, 0, 1, 1, 0, 1, 0]
P = [0.125, 0.25, 0.25, 0.5, 0.875, 0.625, 1.0, 0.0]
W = [1, 2, 3, 1, 0, 4, 1, 2]
NAN, INF = float("nan"), float("inf")


def _update(y_true, y_prob, **options):
    cells = secant.Cells(64)
    cells.update(y_true, y_prob, **options)
    return cells


# Every way in. They share one check, and a way that goes round it would show here.
DOORS = {
    "ecce_r": secant.ecce_r,
    "ecce_mad": secant.ecce_mad,
    "ece": secant.ece,
    "assess": secant.assess,
    "update": _update,
}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
wide_door = pytest.mark.parametrize("door", [secant.assess, _update], ids=["assess", "update"])


def answers(y, p, w=None, *, method="auto", **options):
    """Return all that secant has to say about some predictions."""
    result = secant.assess(y, p, sample_weight=w, method=method, **options)
    told = [result.to_dict(), result.ece().to_dict()]
    told.append(_update(y, p, sample_weight=w, **options).bounds())
    if not options:
        metrics = secant.ecce_r, secant.ecce_mad, secant.ece
        told += [metric(y, p, sample_weight=w) for metric in metrics]
    return told


def names(argument, index, value):
    """Return the pattern of a message that names the argument, its index and the value there."""
    return rf"\b{argument}\[{index}\] is {re.escape(value)}(?![\w.])"


def with_item(values, index, item, dtype=None):
    changed = list(values)
    changed[index] = item
    return changed if dtype is None else np.array(changed, dtype)


# --- single values that are refused ---------------------------------------------------------------

ABOVE = np.nextafter(1.0, 2.0)
BAD_SCORES = [
    (NAN, "nan"),
    (INF, "inf"),
    (-INF, "-inf"),
    (1 + 1e-7, "1.0000001"),
    (ABOVE, "1.0000000000000002"),
    (-1e-9, "-1e-09"),
    (-5e-324, "-5e-324"),
    (2, "2.0"),
    (-1, "-1.0"),
    (None, "None"),
    ("0.3", "'0.3'"),
    (1j, "1j"),
]
BAD_LABELS = [
    (2, "2"),
    (-1, "-1"),
    (0.5, "0.5"),
    (1 + 1e-7, "1.0000001"),
    (-1e-300, "-1e-300"),
    (NAN, "nan"),
    (INF, "inf"),
    (-INF, "-inf"),
    (None, "None"),
]
BAD_WEIGHTS = [
    (-1, "-1.0"),
    (-1e-300, "-1e-300"),
    (NAN, "nan"),
    (INF, "inf"),
    (-INF, "-inf"),
    (1.01e100, "1.01e+100"),
    (9.9e-101, "9.9e-101"),
    (None, "None"),
    ("1", "'1'"),
]


def bad(values):
    return pytest.mark.parametrize(
        ("item", "shown"), values, ids=[shown[:20] for _, shown in values]
    )


@every_door
@bad(BAD_SCORES)
def test_bad_score(door, item, shown):
    # Beside numbers a text would make a column of texts, a complex number one of complex numbers.
    column = with_item(P, 3, item, object if isinstance(item, str | complex) else None)
    with pytest.raises(InputError, match=names("y_prob", 3, shown)):
        door(Y, column)


def test_a_whole_number_beyond_all_doubles():
    with pytest.raises(InputError, match=r"^y_prob\[1\] is "):
        secant.ecce_r([0, 1], [0.5, 10**400])
    with pytest.raises(InputError, match=r"^y_true\[1\] is "):
        secant.ecce_r([0, 10**400], [0.5, 0.5])


@every_door
@bad(BAD_LABELS)
def test_bad_label(door, item, shown):
    if item == -1:  # beside zeros; the first value that does not fit either reading is named
        labels, index, shown = [0, 1, -1, 1, 1, 0, 1, 0], 0, "0"
    else:
        labels, index = with_item(Y, 3, item), 3
    with pytest.raises(InputError, match=names("y_true", index, shown)):
        door(labels, P)


@every_door
@bad(BAD_WEIGHTS)
def test_bad_weight(door, item, shown):
    column = with_item(W, 3, item, object if isinstance(item, str) else None)
    with pytest.raises(InputError, match=names("sample_weight", 3, shown)):
        door(Y, P, sample_weight=column)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "O"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, "above", -0.5])
def test_bad_score_of_any_type(dtype, value):
    one = np.ones((), dtype if dtype != "O" else "f8")
    value = np.nextafter(one, one + one) if value == "above" else value
    column = with_item(P, 5, value, dtype)
    with pytest.raises(InputError, match=names("y_prob", 5, repr(float(value)))):
        secant.ecce_r(Y, column)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", ">i4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("value", [2, 127])
def test_bad_label_of_any_type(dtype, value):
    shown = repr(np.dtype(dtype).type(value).item())
    with pytest.raises(InputError, match=names("y_true", 4, shown)):
        secant.ecce_r(with_item(Y, 4, value, dtype), P)


@pytest.mark.parametrize("labels", [[1, 2, 1, 2], [-1, 0, -1, 0], [-1, 0, 1, 1], [3, 3, 3, 3]])
def test_labels_of_another_code(labels):
    with pytest.raises(InputError, match=r"y_true\[\d\] is \S+; .*pos_label"):
        secant.ecce_r(labels, P[:4])


@given(st.data())
def test_the_first_fault_is_named_wherever_it_is(data):
    n = data.draw(st.integers(1, 40))
    arguments = {
        "y_true": [i % 2 for i in range(n)],
        "y_prob": [i / n for i in range(n)],
        "sample_weight": [1.0] * n,
    }
    argument = data.draw(st.sampled_from(sorted(arguments)))
    places = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    for place in places:
        arguments[argument][place] = data.draw(st.sampled_from([NAN, INF, -7.5, 1e101]))
    value = arguments[argument][places[0]]
    # Labels that are all -1 and 1 would be a code of their own, but -7.5 never is.
    with pytest.raises(InputError, match=names(argument, places[0], repr(value))):
        secant.ecce_r(
            arguments["y_true"], arguments["y_prob"], sample_weight=arguments["sample_weight"]
        )


@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
def test_a_fault_in_the_last_of_many_rows(argument):
    n = 200_001
    given_arrays = {
        "y_true": np.zeros(n),
        "y_prob": np.linspace(0, 1, n),
        "sample_weight": np.ones(n),
    }
    given_arrays[argument][-1] = NAN
    with pytest.raises(InputError, match=names(argument, n - 1, "nan")):
        secant.assess(**given_arrays)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_object_columns_with_something_missing(position):
    pandas = optional("pandas")
    for missing in (None, pandas.NA, NAN, pandas.NaT):
        arguments = [list(Y), list(P), list(W)]
        arguments[position][2] = missing
        arguments[position] = np.array(arguments[position], dtype=object)
        argument = ("y_true", "y_prob", "sample_weight")[position]
        with pytest.raises(InputError, match=names(argument, 2, repr(missing))):
            secant.ecce_r(*arguments[:2], sample_weight=arguments[2])


# --- whole arguments that are refused -------------------------------------------------------------


@every_door
@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.3, "one-dimensional; got a single float"),
        (np.array(0.3), "one-dimensional"),
        ("0.3", "'0.3'"),
        (b"01", "b'01'"),
        ({0.1: 1}, "one-dimensional; got a single dict"),
        ({0.1, 0.2}, "one-dimensional; got a single set"),
        ((x for x in P), "one-dimensional; got a single generator"),
        ([[1], [2, 3]], "cannot be read as an array"),
        (np.zeros((8, 1)), r"\(8, 1\).*column"),
        (np.zeros((8, 2)), r"\(8, 2\)"),
        (np.zeros((8, 3)), r"\(8, 3\)"),
        (np.zeros((1, 8)), r"\(1, 8\)"),
        (np.zeros((8, 2, 2)), r"\(8, 2, 2\)"),
        (np.zeros((0, 2)), r"\(0, 2\)"),
    ],
)
def test_not_one_dimensional(door, argument, value, says):
    arguments = {"y_true": Y, "y_prob": P, "sample_weight": W, argument: value}
    with pytest.raises(InputError, match=rf"^{argument}\b.*{says}"):
        door(arguments["y_true"], arguments["y_prob"], sample_weight=arguments["sample_weight"])


def test_two_columns_of_probabilities():
    both = np.column_stack([1 - np.array(P), P])
    with pytest.raises(InputError, match=r"y_prob.*\(8, 2\).*positive class.*probs\[:, 1\]"):
        secant.assess(Y, both)


@pytest.mark.parametrize(
    ("argument", "columns", "advice"),
    [
        ("y_prob", 2, r"probs\[:, 1\]$"),
        ("y_prob", 3, "assess_classes$"),
        ("y_true", 2, r"one-hot\? pass y_true.argmax\(axis=1\)\)$"),
        ("y_true", 3, r"one-hot\? pass y_true.argmax\(axis=1\), .* assess_classes\)$"),
        ("sample_weight", 2, r"\(8, 2\)$"),
    ],
)
def test_the_advice_on_several_columns_is_for_the_argument(argument, columns, advice):
    arguments = {"y_true": Y, "y_prob": P, argument: np.eye(columns)[np.arange(8) % columns]}
    with pytest.raises(InputError, match=rf"^{argument} .*{advice}"):
        secant.assess(**arguments)


@pytest.mark.parametrize("argument", ["y_true", "y_prob"])
def test_none_in_place_of_an_array(argument):
    with pytest.raises(InputError, match=rf"^{argument}\b.*None"):
        secant.assess(**{"y_true": Y, "y_prob": P, argument: None})


@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.array(P, complex), "0.125"),
        (np.array(["2024-01-31"] * 8, "M8[D]"), "2024-01-31"),
        (np.arange(8).astype("m8[s]") + np.timedelta64(7, "s"), "7"),
        (np.array([(0.5,)] * 8, [("p", float)]), "0.5"),
        (["0.5"] * 8, "'0.5'"),
        (np.array([b"0.5"] * 8), "b'0.5'"),
        (np.array(["0.5"] * 8, np.dtypes.StringDType()), "'0.5'"),
    ],
    ids=["complex", "datetime", "timedelta", "structured", "text", "bytes", "StringDType"],
)
def test_not_numbers(argument, values, shown):
    arguments = {"y_true": Y, "y_prob": P, "sample_weight": W, argument: values}
    with pytest.raises(InputError, match=rf"^{argument}\b.*{re.escape(shown)}"):
        secant.ecce_r(**arguments)


@pytest.mark.parametrize("argument", ["y_prob", "sample_weight"])
def test_values_are_shown_as_users_write_them(argument):
    with pytest.raises(InputError, match=r"^\w+\b.* '0\.5'$"):
        secant.ecce_r(**{"y_true": Y, "y_prob": P, argument: ["0.5"] * 8})


@every_door
@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
def test_complex_numbers(door, argument):
    arguments = {"y_true": Y, "y_prob": P, "sample_weight": W, argument: np.array(P, complex)}
    y, p, w = arguments.values()
    with pytest.raises(InputError, match=rf"^{argument}\b.*complex"):
        door(y, p, sample_weight=w)


@every_door
def test_unequal_lengths(door):
    with pytest.raises(InputError, match=r"y_true has 8 values, y_prob 7\b"):
        door(Y, P[:-1])
    with pytest.raises(InputError, match=r"y_true has 1,234 values, y_prob 8\b"):
        door([0] * 1234, P)
    with pytest.raises(InputError, match=r"^sample_weight\b.*\b3\b.*\b8\b"):
        door(Y, P, sample_weight=[1, 2, 3])
    with pytest.raises(InputError, match=r"^sample_weight\b.*\b0\b.*\b8\b"):
        door(Y, P, sample_weight=[])


@every_door
@pytest.mark.parametrize("nothing", [[], (), np.empty(0), np.empty(0, object), np.empty(0, "i8")])
def test_empty(door, nothing):
    with pytest.raises(InputError, match="y_true and y_prob are empty"):
        door(nothing, nothing)


@every_door
@pytest.mark.parametrize("zero", [0, 0.0, -0.0, False])
def test_all_weights_zero(door, zero):
    with pytest.raises(InputError, match="sample_weight is zero in every row"):
        door(Y, P, sample_weight=[zero] * 8)


@every_door
@pytest.mark.parametrize("position", [0, 1, 2])
def test_masked_arrays(door, position):
    arguments = [np.array(Y), np.array(P), np.array(W)]
    arguments[position] = np.ma.array(arguments[position], mask=np.arange(8) == 6)
    argument = ("y_true", "y_prob", "sample_weight")[position]
    with pytest.raises(InputError, match=rf"{argument}\[6\] is masked"):
        door(*arguments[:2], sample_weight=arguments[2])


def test_a_masked_value_in_a_list():
    with pytest.raises(InputError, match=r"y_prob\b"):
        secant.ecce_r(Y, [*P[:-1], np.ma.masked])


def test_a_mask_that_hides_nothing():
    assert answers(np.ma.array(Y), np.ma.array(P, mask=False)) == answers(Y, P)


class OnAnotherDevice:
    """A tensor that cannot become an array, and says so as torch does."""

    def detach(self):
        return self

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


@every_door
@pytest.mark.parametrize("argument", ["y_true", "y_prob", "sample_weight"])
def test_an_object_that_refuses_to_become_an_array(door, argument):
    y, p, w = (
        {"y_true": Y, "y_prob": P, "sample_weight": W} | {argument: OnAnotherDevice()}
    ).values()
    with pytest.raises(InputError, match=rf"^{argument}\b.*cuda:0"):
        door(y, p, sample_weight=w)


# --- likely mistakes, recognised ------------------------------------------------------------------


@every_door
@pytest.mark.parametrize("outcomes", [Y, np.array(Y, bool), np.array(Y, float), [0] * 8, [1] * 8])
def test_swapped_arguments(door, outcomes):
    with pytest.raises(InputError, match=names("y_true", 0, "0.125") + r".*swapped"):
        door(P, outcomes)


def test_swapped_is_not_said_when_both_are_fractions():
    with pytest.raises(InputError, match=names("y_true", 0, "0.125")) as caught:
        secant.ecce_r(P, P)
    assert "swapped" not in str(caught.value)


@pytest.mark.parametrize(
    ("scores", "hint"),
    [
        ([12.5, 25, 25, 50, 87.5, 62.5, 100, 0], "percent.*divide by 100"),
        ([-2.1, 0.3, 1.7, -0.4, 3.2, 0.1, -5.5, 0.9], "logits.*sigmoid"),
        ([0.5, 1.2, 0.3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
        ([0.5, 250, 0.3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
        ([0.5, -1e-9, 0.3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
        ([0.5, INF, -3, 0.1, 0.9, 0.4, 0.2, 0.7], None),
    ],
)
def test_hints_about_the_scale(scores, hint):
    first = next(i for i, score in enumerate(scores) if not 0 <= score <= 1)
    expected = names("y_prob", first, repr(float(scores[first])))
    with pytest.raises(InputError, match=expected + (f".*{hint}" if hint else "")) as caught:
        secant.ecce_r(Y, scores)
    if hint is None:
        assert not re.search("percent|logit", str(caught.value))


@every_door
@pytest.mark.parametrize("container", [list, np.array, lambda x: np.array(x, object)])
def test_text_labels_need_pos_label(door, container):
    words = container(["no", "yes", "no", "yes", "yes", "no", "yes", "no"])
    with pytest.raises(InputError, match=r"y_true holds text \('no', 'yes'\).*pos_label='yes'"):
        door(words, P)


def test_the_advice_about_text_labels_works():
    """Whatever pos_label the message suggests can be passed as it stands."""
    for words in (["a", "b"], ["it's", 'a "no"'], [b"a", b"b"]):
        with pytest.raises(InputError) as caught:
            secant.assess(np.array(words), [0.2, 0.7])
        advice = re.search(r"pos_label=(.+)$", str(caught.value))[1]
        pos_label = words[[repr(word) for word in words].index(advice)]
        assert secant.assess(np.array(words), [0.2, 0.7], pos_label=pos_label).base_rate == 0.5


@pytest.mark.parametrize("names", [("y", P), (Y, "p"), ("y", "p")])
def test_names_of_columns_of_nothing(names):
    argument = "y_true" if names[0] == "y" else "y_prob"
    says = rf"^{argument} must be an array of values; got the text '[yp]' .*then pass data= as well"
    with pytest.raises(InputError, match=says):
        secant.assess(*names)
    with pytest.raises(InputError, match=says):
        secant.assess_by(*names, W)


# --- pos_label ------------------------------------------------------------------------------------


@wide_door
@pytest.mark.parametrize(
    ("zero", "one", "dtype"),
    [
        ("no", "yes", None),
        ("no", "yes", object),
        ("no", "yes", np.dtypes.StringDType()),
        (b"no", b"yes", None),
        (1, 2, None),
        (-1, 1, None),
        (1, 0, None),
        (0, 1, bool),
        (False, True, object),
        (0.25, 0.75, None),
        ("no", 1, object),
    ],
)
def test_pos_label(door, zero, one, dtype):
    labels = np.empty(8, object)
    labels[:] = [one if label else zero for label in Y]
    if dtype is not object:
        labels = np.array(labels.tolist(), dtype)
    coded, plain = door(labels, P, pos_label=one), door(Y, P)
    if door is secant.assess:
        assert coded.to_dict() == plain.to_dict()
        assert coded.ece().to_dict() == plain.ece().to_dict()
    else:
        assert coded.bounds() == plain.bounds()


def test_minus_one_and_one_need_no_pos_label():
    for dtype in (int, np.int8, np.int64, float, np.float32, object):
        signs = np.array([2 * label - 1 for label in Y], dtype)
        assert answers(signs, P) == answers(Y, P)
    assert secant.assess([-1, -1], [0.2, 0.3]).base_rate == 0


@wide_door
@pytest.mark.parametrize(
    ("labels", "pos_label", "says"),
    [
        (["a", "b", "c", "a"], "a", names("y_true", 2, "'c'") + ".*'b'.*pos_label='a'"),
        ([0, 1, 2, 1], 1, names("y_true", 2, "2") + ".*0.*pos_label=1"),
        (["a", "b", "b", "a"], "z", "pos_label='z' does not occur in y_true.*'a', 'b'"),
        (["0", "1", "1", "0"], 1, "pos_label=1 does not occur in y_true.*'0', '1'"),
        ([0, 1, 1, 0], "1", "pos_label='1' does not occur in y_true.*0, 1"),
        ([0, 1, 1, 0], NAN, "pos_label=nan does not occur in y_true.*0, 1"),
        ([0.0, NAN, 1.0, 0.0], 1, names("y_true", 1, "nan")),
        (["a", None, "b", "a"], "a", names("y_true", 1, "None")),
        (["a", NAN, "b", "a"], "a", names("y_true", 1, "nan")),
    ],
    ids=str,
)
def test_pos_label_refused(door, labels, pos_label, says):
    mixed = any(item is None or item != item for item in labels) and "a" in labels  # noqa: PLR0124
    labels = np.array(labels, object) if mixed else labels
    with pytest.raises(InputError, match=says):
        door(labels, P[:4], pos_label=pos_label)


@pytest.mark.parametrize("pos_label", [[0, 1, 0, 1], np.array([1]), (0, 1, 0, 1), {0: 1}, {1}])
def test_pos_label_is_one_value(pos_label):
    """A list would be compared row by row, and every row would match its own value."""
    with pytest.raises(InputError, match="pos_label"):
        secant.assess([0, 1, 0, 1], P[:4], pos_label=pos_label)


@pytest.mark.parametrize("missing", [None, NAN], ids=str)
def test_missing_text_is_not_a_second_value(missing):
    labels = np.array(["a", missing, "a", "a"], np.dtypes.StringDType(na_object=missing))
    with pytest.raises(InputError, match=r"y_true\[1\]"):
        secant.assess(labels, P[:4], pos_label="a")
    with pytest.raises(InputError) as caught:
        secant.assess(labels, P[:4])
    assert f"pos_label='{missing}'" not in str(caught.value)


def test_a_pos_label_that_never_happened_among_equal_labels():
    # All rows are "no": "yes" may simply never have happened.
    assert secant.assess(["no"] * 4, P[:4], pos_label="yes").base_rate == 0


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("weight_kind", "freq"),
        ("weight_kind", None),
        ("method", "exact?"),
        ("method", 1),
        ("ties", "keep"),
        ("confidence_level", 0),
        ("confidence_level", 1),
        ("confidence_level", 95),
        ("confidence_level", -0.5),
        ("confidence_level", NAN),
        ("confidence_level", "0.95"),
        ("confidence_level", None),
        ("confidence_level", True),
    ],
)
def test_options_of_assess(option, value):
    with pytest.raises(InputError, match=rf"^{option} must .*{re.escape(repr(value))}"):
        secant.assess(Y, P, **{option: value})


@pytest.mark.parametrize("level", [0.9, np.float64(0.9), np.float32(0.9)], ids=repr)
def test_confidence_level_of_any_number_type(level):
    result = secant.assess(Y, P, confidence_level=level)
    assert type(result.confidence_level) is float
    assert result.confidence_level == float(level)


@pytest.mark.parametrize("rng", [None, "seed", -1, 1.5, random])
def test_rng_for_random_ties(rng):
    with pytest.raises(InputError, match=r"\brng\b"):
        secant.assess(Y, P, ties="random", rng=rng)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("n_bins", 0),
        ("n_bins", -3),
        ("n_bins", 2.0),
        ("n_bins", True),
        ("n_bins", "10"),
        ("n_bins", None),
        ("strategy", "equal"),
        ("norm", "l3"),
        ("norm", None),
        ("weighting", "counts"),
    ],
)
def test_options_of_ece(option, value):
    result = secant.assess(Y, P)
    for call in (lambda **o: secant.ece(Y, P, **o), result.ece):
        with pytest.raises(InputError, match=rf"^{option} must .*{re.escape(repr(value))}"):
            call(**{option: value})
    if option in ("n_bins", "strategy"):
        with pytest.raises(InputError, match=rf"^{option} must "):
            result.reliability(**{option: value})


def test_options_of_ece_that_do_not_go_together():
    for call in (lambda **o: secant.ece(Y, P, **o), secant.assess(Y, P).ece):
        with pytest.raises(InputError, match=r"squared=True.*norm='l1'"):
            call(squared=True)
        with pytest.raises(InputError, match=r"n_bins=9\b.*\b8\b"):
            call(strategy="quantile", n_bins=9)
    with pytest.raises(InputError, match=r"^limits must .*'wald'"):
        secant.assess(Y, P).reliability(limits="wald")


def test_options_are_keyword_only():
    for door in (secant.ecce_r, secant.ecce_mad, secant.ece, secant.assess):
        with pytest.raises(TypeError, match="positional"):
            door(Y, P, W)


def test_a_generator_that_cannot_be_split():
    legacy = np.random.Generator(np.random.RandomState(0)._bit_generator)
    with pytest.raises(InputError, match="rng must be a generator that can be split"):
        secant.assess(Y, P, rng=legacy)
    with pytest.raises(InputError, match="rng must be"):
        secant.assess(Y, P, rng=np.random.RandomState(0))


# --- weights --------------------------------------------------------------------------------------


@wide_door
def test_frequency_weights_must_be_whole(door):
    with pytest.raises(InputError, match=names("sample_weight", 4, "1.5") + ".*whole.*sampling"):
        door(Y, P, sample_weight=with_item(W, 4, 1.5), weight_kind="frequency")
    with pytest.raises(InputError, match=r"sample_weight\b.*\be?\+?\d+.*2\*\*53"):
        door(Y, P, sample_weight=[2.0**52] * 8, weight_kind="frequency")
    # The same weights are fine as sampling weights.
    door(Y, P, sample_weight=with_item(W, 4, 1.5))
    door(Y, P, sample_weight=[2.0**52] * 8)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_weights_at_the_ends_of_the_allowed_range(scale):
    assert secant.ecce_r(Y, P, sample_weight=[scale] * 8) == pytest.approx(
        secant.ecce_r(Y, P), rel=0, abs=1e-12
    )


@every_door
def test_a_row_of_weight_zero_is_absent(door):
    kept = [i for i, w in enumerate(W) if w]
    y, p, w = ([column[i] for i in kept] for column in (Y, P, W))
    for zero in (0, -0.0):
        with_zero, without = (
            door(Y, P, sample_weight=with_item(W, 4, zero)),
            door(y, p, sample_weight=w),
        )
        if door is secant.assess:
            with_zero, without = with_zero.to_dict(), without.to_dict()
            # Row numbers of forbidden rows are those of the caller's arrays.
            assert [kept[i] for i in without.pop("forbidden")] == with_zero.pop("forbidden")
        elif door is _update:
            with_zero, without = with_zero.bounds(), without.bounds()
        assert with_zero == without


# --- what is taken --------------------------------------------------------------------------------

FLOATS = ["f2", "f4", "f8", "g", ">f2", ">f4", ">f8", "O"]
LABELS = ["?", "i1", "u1", "i2", ">i2", "i4", ">u4", "i8", ">i8", "u8", *FLOATS]


@pytest.mark.parametrize("dtype", FLOATS)
def test_types_of_scores(dtype):
    assert answers(Y, np.array(P, dtype)) == answers(Y, P)
    assert answers(Y, P, np.array(W, dtype)) == answers(Y, P, W)


@pytest.mark.parametrize("dtype", LABELS)
def test_types_of_labels(dtype):
    assert answers(np.array(Y, dtype), P) == answers(Y, P)
    # Scores of 0 and 1 may be whole numbers or booleans too.
    certain = [0, 1, 1, 1, 0, 0, 1, 0]
    assert answers(Y, np.array(certain, dtype)) == answers(Y, [float(x) for x in certain])


@pytest.mark.parametrize("number", [Decimal, Fraction, np.float32, np.float64])
def test_columns_of_number_objects(number):
    scores = np.empty(8, object)
    scores[:] = [number(score) for score in P]
    assert answers(Y, scores) == answers(Y, P)
    assert answers(Y, list(scores)) == answers(Y, P)


class HasArray:
    """The least that numpy reads: no dtype, no copy."""

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class Tensor:
    """A tensor with a gradient: like torch's, it becomes an array only once detached."""

    def __init__(self, values, *, requires_grad=True):
        self.values, self.requires_grad = np.array(values), requires_grad

    def detach(self):
        return Tensor(self.values, requires_grad=False)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values if dtype is None else self.values.astype(dtype)


def _read_only(values):
    copy = np.array(values)
    copy.flags.writeable = False
    return copy


def _every_third(values):
    return np.repeat(values, 3)[1::3]


def _reversed_in_memory(values):
    return np.array(values)[::-1].copy()[::-1]


def _column(order):
    return lambda values: np.array([values, values, values], order=order).T[:, 1]


def _unaligned(values):
    values = np.array(values)
    raw = np.frombuffer(b"\0" + values.tobytes(), np.uint8)
    return np.ndarray(values.shape, values.dtype, raw, offset=1)


def _memoryview(values):
    return memoryview(np.array(values))


LAYOUTS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "read-only": _read_only,
    "strided": _every_third,
    "negative stride": _reversed_in_memory,
    "column of rows": _column("C"),
    "column of columns": _column("F"),
    "unaligned": _unaligned,
    "big-endian": lambda values: (a := np.array(values)).astype(a.dtype.newbyteorder(">")),
    "memoryview": _memoryview,
    "subclass": lambda values: np.array(values).view(np.recarray),
    "__array__": HasArray,
    "tensor": Tensor,
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@every_layout
def test_containers(layout):
    assert answers(layout(Y), layout(P)) == answers(Y, P)
    assert answers(layout(Y), layout(P), layout(W)) == answers(Y, P, W)
    assert answers(layout(Y), layout(P), layout(W), weight_kind="frequency") == answers(
        Y, P, W, weight_kind="frequency"
    )


def test_more_containers():
    assert answers(range(2), [0.25, 0.5]) == answers([0, 1], [0.25, 0.5])
    assert answers(array.array("b", Y), array.array("d", P)) == answers(Y, P)
    assert answers(bytearray(Y), P) == answers(Y, P)
    constant = np.broadcast_to(0.25, 8)
    assert answers(Y, constant) == answers(Y, [0.25] * 8)


@pytest.fixture(scope="module", params=["spread out", "skewed", "tied"])
def many(request):
    """Return enough rows that they are cut into cells and not sorted, with scores of float32."""
    rng = np.random.default_rng(7)
    n = row_source.SORT_UP_TO + 5000
    scores = {
        "spread out": rng.random(n),
        "skewed": rng.beta(0.05, 5, n),
        "tied": rng.integers(0, 101, n) / 128,
    }[request.param]
    scores = scores.astype(np.float32).astype(np.float64)
    labels = (rng.random(n) < scores**1.1).astype(np.int64)
    weights = rng.integers(0, 5, n).astype(np.float64)
    return labels, scores, weights


def many_told(y, p, w=None):
    return answers(y, p, w, method="asymptotic")  # others take long for many rows


@pytest.fixture(scope="module")
def expected(many):
    """Return what secant says about these rows as plain arrays, without and with their weights."""
    labels, scores, weights = many
    return many_told(labels, scores), many_told(labels, scores, weights)


@pytest.mark.parametrize("layout", list(LAYOUTS.values())[3:], ids=list(LAYOUTS)[3:])
def test_containers_of_many_rows(layout, many, expected):
    labels, scores, weights = many
    assert many_told(layout(labels), layout(scores)) == expected[0]
    assert many_told(layout(labels), layout(scores), layout(weights)) == expected[1]


@pytest.mark.parametrize("dtype", ["f4", ">f4", "g", ">f8"])
def test_types_of_many_scores(dtype, many, expected):
    labels, scores, weights = many
    assert many_told(labels, scores.astype(dtype)) == expected[0]
    assert many_told(labels, scores.astype(dtype), weights.astype(dtype)) == expected[1]


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", ">i4", "f2", "f4"])
def test_types_of_many_labels(dtype, many, expected):
    labels, scores, _ = many
    assert many_told(labels.astype(dtype), scores) == expected[0]


# --- other libraries ------------------------------------------------------------------------------


def test_pandas_series():
    pandas = optional("pandas")
    y, p, w = pandas.Series(Y), pandas.Series(P), pandas.Series(W)
    assert answers(y, p, w) == answers(Y, P, W)
    # Positions count, not an index: columns of different tables are paired by place.
    y.index, p.index = list(range(10, 18))[::-1], list("hgfedcba")
    assert answers(y, p, w) == answers(Y, P, W)
    p.index = [1, "a", None, 2.5, 3, 4, 5, 6]  # labels that cannot be sorted
    assert answers(y, p, w) == answers(Y, P, W)
    frame = pandas.DataFrame({"y": Y, "p": P, "other": "x"})
    assert answers(frame["y"], frame.p) == answers(Y, P)
    assert answers(frame["y"][::2], frame["p"][::2]) == answers(Y[::2], P[::2])


def test_rows_of_one_table_in_two_orders_are_refused():
    pandas = optional("pandas")
    frame = pandas.DataFrame({"y": Y, "p": P, "w": W}, index=list("abcdefgh"))
    with pytest.raises(InputError, match="y_true and y_prob have the same index in different"):
        secant.assess(frame["y"][::-1], frame["p"])
    with pytest.raises(InputError, match="y_true and sample_weight have the same index"):
        secant.ecce_r(frame["y"], frame["p"], sample_weight=frame["w"].sort_values())
    assert answers(frame["y"][::-1], frame["p"][::-1]) == answers(Y[::-1], P[::-1])
    assert answers(frame["y"], frame["p"].to_numpy()) == answers(Y, P)


@pytest.mark.parametrize(
    "labels", ["Int64", "Int8", "UInt8", "boolean", "Float64", "category", "object"]
)
@pytest.mark.parametrize("scores", ["Float64", "Float32", "float32", "object", "category"])
def test_pandas_types(labels, scores):
    pandas = optional("pandas")
    assert answers(pandas.Series(Y).astype(labels), pandas.Series(P).astype(scores)) == answers(
        Y, P
    )


@pytest.mark.parametrize("dtype", ["string", "str", "object", "category"])
def test_pandas_text(dtype):
    pandas = optional("pandas")
    words = pandas.Series(["yes" if label else "no" for label in Y], dtype=dtype)
    assert answers(words, P, pos_label="yes") == answers(Y, P, pos_label=1)
    with pytest.raises(InputError, match=r"y_true holds text.*pos_label='yes'"):
        secant.ecce_r(words, P)
    words[2] = None
    with pytest.raises(InputError, match=r"y_true\[2\] is (None|nan|<NA>)"):
        secant.assess(words, P, pos_label="yes")


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "float64", "object", "category"])
def test_pandas_missing(dtype):
    pandas = optional("pandas")
    column = pandas.Series([0, 1, None, 1], dtype=dtype)
    with pytest.raises(InputError, match=r"y_true\[2\] is (None|nan|<NA>)"):
        secant.ecce_r(column, P[:4])
    with pytest.raises(InputError, match=r"y_prob\[2\] is (None|nan|<NA>)"):
        secant.ecce_r(Y[:4], column)
    with pytest.raises(InputError, match=r"sample_weight\[2\] is (None|nan|<NA>)"):
        secant.ecce_r(Y[:4], P[:4], sample_weight=column)


def test_pandas_frame_of_one_column():
    pandas = optional("pandas")
    with pytest.raises(InputError, match=r"^y_prob .*\(8, 1\)"):
        secant.assess(Y, pandas.DataFrame({"p": P}))


def test_polars():
    polars = optional("polars")
    y, p, w = polars.Series(Y), polars.Series(P), polars.Series(W)
    assert answers(y, p, w) == answers(Y, P, W)
    assert answers(y.cast(polars.Boolean), p.cast(polars.Float32)) == answers(Y, P)
    assert answers(y.cast(polars.Int8)[1:6], p[1:6]) == answers(Y[1:6], P[1:6])
    pieces = polars.concat([p[:3], p[3:]], rechunk=False)
    assert pieces.n_chunks() == 2
    assert answers(y, pieces) == answers(Y, P)
    words = polars.Series(["yes" if label else "no" for label in Y])
    for column in (words, words.cast(polars.Categorical), words.cast(polars.Enum(["no", "yes"]))):
        assert answers(column, P, pos_label="yes") == answers(Y, P, pos_label=1)
    frame = polars.DataFrame({"y": Y, "p": P})
    assert answers(frame["y"], frame["p"]) == answers(Y, P)


def test_polars_missing():
    polars = optional("polars")
    for dtype in (polars.Float64, polars.Int64, polars.Boolean):
        column = polars.Series([0, 1, None, 1]).cast(dtype)
        with pytest.raises(InputError, match=r"y_true\[2\] is (None|nan)"):
            secant.ecce_r(column, P[:4])
        with pytest.raises(InputError, match=r"y_prob\[2\] is (None|nan)"):
            secant.ecce_r(Y[:4], column)
    words = polars.Series(["a", None, "b", "a"])
    with pytest.raises(InputError, match=names("y_true", 1, "None")):
        secant.assess(words, P[:4], pos_label="a")


def test_pyarrow():
    pyarrow = optional("pyarrow")
    y, p, w = pyarrow.array(Y), pyarrow.array(P), pyarrow.array(W)
    assert answers(y, p, w) == answers(Y, P, W)
    assert answers(pyarrow.array([bool(label) for label in Y]), p.cast("float")) == answers(Y, P)
    assert answers(y[1:6], p[1:6]) == answers(Y[1:6], P[1:6])
    assert answers(
        pyarrow.chunked_array([Y[:3], Y[3:]]), pyarrow.chunked_array([P[:5], P[5:]])
    ) == (answers(Y, P))
    words = pyarrow.array(["yes" if label else "no" for label in Y])
    for column in (words, words.dictionary_encode(), pyarrow.chunked_array([words[:2], words[2:]])):
        assert answers(column, P, pos_label="yes") == answers(Y, P, pos_label=1)
    table = pyarrow.table({"y": Y, "p": P})
    assert answers(table["y"], table["p"]) == answers(Y, P)
    for column in (
        pyarrow.array([0, None, 1, 1]),
        pyarrow.chunked_array([[0.0], [None, 1.0, 1.0]]),
    ):
        with pytest.raises(InputError, match=r"y_true\[1\] is (None|nan)"):
            secant.ecce_r(column, P[:4])
        with pytest.raises(InputError, match=r"y_prob\[1\] is (None|nan)"):
            secant.ecce_r(Y[:4], column)


def test_scikit_learn_hands_over_what_it_makes():
    linear_model = optional("sklearn.linear_model")
    features = np.linspace(-1, 1, 8)[:, None]
    words = np.array(["no", "yes"])[Y]
    probs = linear_model.LogisticRegression().fit(features, words).predict_proba(features)
    result = secant.assess(words, probs[:, 1], pos_label="yes")
    assert result.to_dict() == secant.assess(Y, probs[:, 1].tolist()).to_dict()
    with pytest.raises(InputError, match=r"probs\[:, 1\]"):
        secant.assess(words, probs, pos_label="yes")


def test_no_other_library_is_loaded_by_using_secant(tmp_path):
    script = f"""
        import sys
        import secant
        y, p = [0, 1, 0, 1], [0.1, 0.4, 0.4, 0.9]
        result = secant.assess(y, p, sample_weight=[1, 2, 3, 4])
        print(result); result._repr_html_(); result.to_dict(); result.between(0, 1); result.curve
        result.ece(norm="l2"), result.reliability(strategy="quantile", n_bins=2, limits="wilson")
        secant.assess(["a", "b", "a", "b"], p, pos_label="a", ties="random", rng=0)
        secant.ecce_r(y, p), secant.ecce_mad(y, p), secant.ece(y, p)
        many = secant.assess([0, 1] * 50_000, [i / 1e5 for i in range(100_000)])
        many.between(0.1234567, 0.7)
        cells = secant.Cells(); cells.update(y, p); cells.save(r"{tmp_path / "state"}")
        secant.Cells.load(r"{tmp_path / "state"}").bounds()
        try:
            secant.ecce_r(y, [0.1, None, 0.2, 0.3])
        except secant.InputError:
            pass
        heavy = "pandas polars pyarrow torch scipy sklearn narwhals matplotlib".split()
        assert not set(heavy) & set(sys.modules), sorted(sys.modules)
    """
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(script)], check=True)


# --- nothing is changed ---------------------------------------------------------------------------


@st.composite
def predictions(draw):
    """Return labels, scores and weights as numpy arrays of many types."""
    n = draw(st.integers(1, 30))
    scores = draw(
        st.lists(
            st.one_of(st.floats(0, 1), st.integers(0, 4).map(lambda k: k / 4)),
            min_size=n,
            max_size=n,
        )
    )
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(0, 3), min_size=n - 1, max_size=n - 1))
    return (
        np.array(labels, draw(st.sampled_from(["?", "i1", "i8", "f4", "f8", "O", "U1", ">i4"]))),
        np.array(scores, draw(st.sampled_from(["f4", "f8", "O", ">f8"]))),
        np.array([1, *weights], draw(st.sampled_from(["f4", "f8", "i8", "O"]))),
    )


def use_everything(labels, scores, weights, options):
    """Call every public function that sees data, and every method of its result."""
    few = len(labels) < 1000
    chosen = {**options, "method": "auto" if few else "asymptotic"}
    result = secant.assess(labels, scores, sample_weight=weights, **chosen)
    result.worst, result.curve, str(result), result._repr_html_(), result.to_dict()
    result.between(0.2, 0.6), result.ece(norm="l2"), result.reliability(limits="wilson")
    result.ece(strategy="quantile", n_bins=1, weighting="width")
    pickle.loads(pickle.dumps(result)).between(0.2, 0.6)  # noqa: S301
    secant.assess(labels, scores, sample_weight=weights, ties="random", rng=3, **chosen)
    secant.Cells(16).update(labels, scores, weights, **options)
    if options["pos_label"] is None:
        secant.ecce_r(labels, scores, sample_weight=weights)
        secant.ecce_mad(labels, scores, sample_weight=weights)
        secant.ece(labels, scores, sample_weight=weights)
        secant.ece(labels, scores, strategy="quantile", n_bins=1, norm="max")


def snapshot(columns):
    return [
        (pickle.dumps(c.tolist()), c.tobytes() if c.dtype != object else b"", c.dtype, c.flags.num)
        for c in columns
    ]


@given(predictions(), st.sampled_from(["sampling", "frequency"]), st.booleans(), st.booleans())
def test_inputs_are_bit_identical_after_every_call(columns, kind, as_views, cut_into_cells):
    if as_views:  # of a larger array, so that writing beside the view would show as well
        bases = [np.repeat(column, 2) for column in columns]
        columns = tuple(base[::2] for base in bases)
    else:
        bases = columns
    before = snapshot(bases)
    text = columns[0].dtype.kind == "U"
    options = {"weight_kind": kind, "pos_label": "1" if text else None}
    # The limit for sorting is lowered so that few rows take the way of many.
    with mock.patch.object(
        row_source, "SORT_UP_TO", 0 if cut_into_cells else row_source.SORT_UP_TO
    ):
        use_everything(*columns, options)
    assert snapshot(bases) == before


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_many_rows_are_bit_identical_after_every_call(many, kind):
    before = snapshot(many)
    use_everything(*many, {"weight_kind": kind, "pos_label": None})
    assert snapshot(many) == before


def test_lists_are_not_changed():
    y, p, w = list(Y), list(P), list(W)
    use_everything(y, p, w, {"weight_kind": "sampling", "pos_label": None})
    assert (y, p, w) == (Y, P, W)


def test_global_state_is_not_changed(many):
    def world():
        name, keys, *rest = np.random.get_state()  # noqa: NPY002
        return (
            (name, keys.tobytes(), rest),
            random.getstate(),
            np.geterr(),
            np.get_printoptions(),
            list(warnings.filters),
        )

    before = world()
    use_everything(Y, P, W, {"weight_kind": "sampling", "pos_label": None})
    use_everything(*many, {"weight_kind": "frequency", "pos_label": None})
    with pytest.raises(InputError):
        secant.ecce_r(Y, [NAN] * 8)
    assert world() == before


def test_a_generator_given_is_the_only_one_used():
    rng = np.random.default_rng(5)
    secant.assess(Y, P, rng=rng)  # ties are collapsed: nothing is random
    assert rng.bit_generator.state == np.random.default_rng(5).bit_generator.state
    secant.assess(Y, P, ties="random", rng=rng)
    assert rng.bit_generator.state != np.random.default_rng(5).bit_generator.state
