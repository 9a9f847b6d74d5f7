"""Outcomes of every code, and those that are none."""

import re

import numpy as np
import pytest

import secant
from doors import INF, NAN, P, Y, answers, bad, every_door, names, wide_door, with_item
from secant import InputError
from secant._input.labels import Outcomes

# --- single values that are refused ---------------------------------------------------------------


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


@every_door
@bad(BAD_LABELS)
def test_bad_label(door, item, shown):
    with pytest.raises(InputError, match=names("y_true", 3, shown)):
        door(with_item(Y, 3, item), P)


@pytest.mark.parametrize(
    ("labels", "index", "shown"),
    [
        ([0, 1, -1, 1, 1, 0, 1, 0], 2, "-1"),
        ([-1, 1, -1, 1, 0, -1, 1, 1], 4, "0"),
        ([-1, 0, -1, 0, -1, 0, -1, 0], 1, "0"),
        ([0, -1, 0, -1, 0, -1, 0, -1], 1, "-1"),
        ([-1, 1, -1, 1, 2, -1, 1, 1], 4, "2"),
        ([-1, 1, -1, 1, NAN, -1, 1, 1], 4, "nan"),
        ([-1, 1, -1, 1, -7, -1, 0, 1], 4, "-7"),
        ([0, 1, 0, 1, -1, 2, 1, 1], 4, "-1"),
        ([-1, 1, 0, 0.5, 0, 1, 1, 0], 0, "-1.0"),
    ],
)
def test_the_odd_one_out_is_blamed(labels, index, shown):
    with pytest.raises(InputError, match=names("y_true", index, shown)):
        secant.assess(labels, P)


def test_what_rows_before_had_is_not_to_blame():
    """Also in a batch in which it is the rarer one."""
    outcomes = Outcomes(None)
    outcomes.read(np.array([0, 1, 0, 1]), np.full(4, 0.5))
    with pytest.raises(InputError, match=r"y_true\[0\] is -1 where other rows have 0;"):
        outcomes.read(np.array([-1, -1, 0, 1]), np.full(4, 0.5))
    words = Outcomes("yes")
    words.read(np.array(["yes", "no"]), np.full(2, 0.5))
    with pytest.raises(InputError, match=r"y_true\[0\] is 'maybe'.* and 'no' and pos_label='yes'"):
        words.read(np.array(["maybe", "maybe", "no"]), np.full(3, 0.5))


@pytest.mark.parametrize("dtype", [str, object])
def test_a_third_word_is_blamed_wherever_it_stands(dtype):
    words = np.array(["maybe", "no", "yes", "no", "yes"], dtype)
    with pytest.raises(InputError, match=r"y_true\[0\] is 'maybe'; .* and 'no' and pos_label"):
        secant.assess(words, P[:5], pos_label="yes")


@every_door
@pytest.mark.parametrize("missing", [None, NAN, np.float32(NAN)], ids=repr)
def test_a_missing_outcome_among_words_is_no_second_word(door, missing):
    """numpy makes the text "nan" of it, which would stand for what did not happen."""
    with pytest.raises(InputError, match=r"y_true\[1\] is .*; a missing outcome"):
        door(["a", missing, "a"], P[:3], pos_label="a")
    with pytest.raises(InputError, match=r"y_true\[1\] is .*; a missing outcome"):
        door(["a", missing, "a"], P[:3])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", ">i4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("value", [2, 127])
def test_bad_label_of_any_type(dtype, value):
    shown = repr(np.dtype(dtype).type(value).item())
    with pytest.raises(InputError, match=names("y_true", 4, shown)):
        secant.ecce_r(with_item(Y, 4, value, dtype), P)


@pytest.mark.parametrize("labels", [[1, 2, 1, 2], [-1, 0, -1, 0], [-1, 0, 1, 1], [3, 3, 3, 3]])
def test_labels_of_another_code(labels):
    with pytest.raises(InputError, match=r"y_true\[\d\] is .*; .*pos_label"):
        secant.ecce_r(labels, P[:4])


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


@every_door
@pytest.mark.parametrize("container", [list, np.array, lambda x: np.array(x, object)])
def test_text_labels_need_pos_label(door, container):
    words = container(["no", "yes", "no", "yes", "yes", "no", "yes", "no"])
    with pytest.raises(
        InputError,
        match=r"y_true holds text \('no', 'yes'\); which is the event\? Name it with pos_label$",
    ):
        door(words, P)


def test_the_refusal_of_text_labels_shows_them_as_they_can_be_passed():
    for words in (["a", "b"], ['a "no"', "it's"], [b"a", b"b"]):
        with pytest.raises(InputError, match=re.escape(f"text ({words[0]!r}, {words[1]!r})")):
            secant.assess(np.array(words), [0.2, 0.7])
        for word in words:
            assert secant.assess(np.array(words), [0.2, 0.7], pos_label=word).base_rate == 0.5


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
    for given in (labels, np.array(labels, object)) if mixed else (labels,):
        with pytest.raises(InputError, match=says):
            door(given, P[:4], pos_label=pos_label)


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


class Unlike:
    """What numpy leaves the comparison to, and which is like nothing."""

    __array_ufunc__ = None
    __hash__ = None

    def __eq__(self, other):
        return False


def test_a_pos_label_that_cannot_be_compared_is_absent():
    with pytest.raises(InputError, match="pos_label"):
        secant.assess(np.array([1.5, 2.5, 2.5]), [0.2, 0.5, 0.7], pos_label=Unlike())


def test_every_row_may_be_the_event():
    found = secant.assess(["yes"] * 3, [0.2, 0.5, 0.7], pos_label="yes")
    assert found.to_dict() == secant.assess([1, 1, 1], [0.2, 0.5, 0.7]).to_dict()
