"""Probabilities of several classes: what is refused, and in which words."""

import numpy as np
import pytest

import secant
from helpers import optional
from samples import NAMES, simulate
from secant import InputError
from secant._input.class_probs import class_predictions

# Top label ----------------------------------------------------------------------------------------


def test_top_label_is_the_largest_probability():
    y, p = simulate(200, 4)
    correct, confidence, predicted = secant.top_label(y, p)
    np.testing.assert_array_equal(predicted, p.argmax(axis=1))
    np.testing.assert_array_equal(confidence, p.max(axis=1))
    np.testing.assert_array_equal(correct, predicted == y)


def test_the_first_of_equal_probabilities_is_predicted():
    top = secant.top_label(["b", "a"], [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]], classes=["a", "b", "c"])
    assert top.predicted.tolist() == ["a", "b"]
    assert top.correct.tolist() == [False, False]


# Names --------------------------------------------------------------------------------------------


def test_whole_floats_and_booleans_are_class_numbers():
    p = [[0.7, 0.3], [0.2, 0.8]]
    for y in ([0, 1], [0.0, 1.0], [False, True], np.array([0, 1], np.uint8)):
        assert secant.top_label(y, p).correct.all()


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 2, 1], NAMES),  # by their numbers
        ([0, 2, 1], ["0", "1", "2"]),  # the same column either way
        (["cat", "eel", "dog"], NAMES),
        (np.array(["cat", "eel", "dog"], object), NAMES),
        (np.array(["cat", 7, "dog"], object), ["cat", "dog", 7]),
        ([10, 30, 20], [10, 20, 30]),
    ],
)
def test_classes_are_found_by_name_or_by_number(y, classes):
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])
    found = secant.top_label(y, p, classes=classes)
    by_name = isinstance(y[0], str) or classes == [10, 20, 30]
    names = classes if by_name else range(3)
    wanted = [list(names).index(each) for each in y]
    assert found.correct.tolist() == (p.argmax(axis=1) == wanted).tolist()


def test_columns_of_a_frame_are_the_classes():
    pandas = optional("pandas")
    y, p = simulate(50, 3)
    frame = pandas.DataFrame(p, columns=NAMES)
    named = secant.top_label([NAMES[k] for k in y], frame)
    assert named.correct.tolist() == secant.top_label(y, p).correct.tolist()
    assert named.predicted.tolist() == [NAMES[k] for k in p.argmax(axis=1)]
    with pytest.raises(InputError, match=r"probs has columns that must differ .* 'cat' twice"):
        secant.top_label(y, frame.set_axis(["cat", "dog", "cat"], axis=1))


def test_chances_class_by_class_need_not_add_up_to_one():
    p = np.array([[0.9, 0.8], [0.1, 0.2]])
    found = class_predictions([0, 1], p, None, sum_to_one=False)
    assert found.probs.tolist() == p.tolist()
    with pytest.raises(InputError, match="probs"):
        class_predictions([0, 1], p, None)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0, 3, 1], {}, r"y_true\[1\] is 3, which is no class: with 3 columns .* 0 to 2$"),
        ([0, -1, 1], {}, r"y_true\[1\] is -1, which is no class"),
        ([1, 3, 2], {}, r"numbered from 1\? pass classes=range\(1, 4\)"),
        ([0.5, 1, 2], {}, r"y_true\[0\] is 0.5, which is no class"),
        ([0, np.nan, 1], {}, r"y_true\[1\] is nan; a missing outcome"),
        (["cat", "dog", None], {"classes": NAMES}, r"y_true\[2\] is None; a missing outcome"),
        (
            ["cat", "dog", "eel"],
            {},
            r"y_true\[0\] is 'cat', which is no class: say what .*classes_",
        ),
        (["cat", "dog", "elk"], {"classes": NAMES}, r"y_true\[2\] is 'elk'.* 'cat', 'dog', 'eel'$"),
        ([0, 1, 2], {"classes": ["10", "11", "12"]}, r"a class is called '10'"),
        ([0, 1, 2], {"classes": ["a", "b"]}, r"name the 3 columns of probs, one each; it has 2"),
        ([0, 1, 2], {"classes": "abc"}, r"classes must name the 3 columns .* got 'abc'"),
        ([0, 1, 2], {"classes": ["a", "b", "a"]}, r"got 'a' twice"),
        ([0, 1, 2], {"classes": ["a", None, "b"]}, r"got a missing one"),
        ([0, 1, 2], {"classes": ["a", ["b"], "c"]}, r"classes has names that cannot be looked up"),
        ([0, 1, 2], {"classes": ["a", "1", "c"]}, r"a class is called '1'"),
        ([0, 1], {}, r"y_true has 2 values, probs 3 rows$"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], {}, r"one-hot\? pass y_true.argmax\(axis=1\)"),
        ("yes", {}, r"y_true must be an array of values; got the text 'yes'"),
    ],
)
def test_unusable_labels_are_refused(y, options, message):
    p = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]
    for kind in ("top-label", "one-vs-rest"):
        with pytest.raises(InputError, match=message):
            secant.assess_classes(y, p, kind=kind, **options)
    with pytest.raises(InputError, match=message):
        secant.top_label(y, p, **options)


@pytest.mark.parametrize(
    ("probs", "message"),
    [
        ([[0.5, 0.5], [np.nan, 0.5]], r"probs\[1, 0\] is nan; a missing probability"),
        ([[0.5, 0.5], [1.2, -0.2]], r"probs\[1, 0\] is 1.2; .* logits: apply a softmax"),
        ([[0.5, 0.5], [0.5, 0.502]], r"probs\[1\] sums to 1.002, .* within 0.001"),
        ([[0.5, 0.5], [0.5, 0.4]], r"probs\[1\] sums to 0.9, .*sum_to_one=False"),
        ([[2.0, -1.0], [0.3, 4.0]], r"probs\[0, 0\] is 2.0; .*softmax"),
        ([[40.0, 60.0], [50.0, 50.0]], r"probs\[0, 0\] is 40.0; .*percentages: divide by 100"),
        (np.log([[0.4, 0.6], [0.5, 0.5]]), r"logarithms of probabilities: take exp"),
        ([[0.5, 0.5], [0.5, np.inf]], r"probs\[1, 1\] is inf; a probability must lie in \[0, 1\]$"),
        ([[0.5, 0.5], [0.0, 1.0000001]], r"probs\[1, 1\] is 1.0000001; .* in \[0, 1\]$"),
        ([[1.0], [1.0]], r"probs has 1 column, .*secant.assess"),
        ([0.5, 0.5], r"its shape is \(2,\)"),
        (np.zeros((0, 2)), r"probs are empty"),
        ([["a", "b"], ["c", "d"]], r"probs must hold real numbers; got text; the first is 'a'"),
        (
            np.array([[0.5, 0.5], [0.5, None]]),
            r"probs\[1\]\[1\] is None; a missing probability cannot",
        ),
        (
            np.ma.masked_array([[0.5, 0.5], [0.5, 0.5]], [[0, 0], [0, 1]]),
            r"probs\[1, 1\] is masked",
        ),
        ("high", r"probs must be an array of values; got the text 'high'"),
    ],
)
def test_unusable_probabilities_are_refused(probs, message):
    for kind in ("top-label", "one-vs-rest"):
        with pytest.raises(InputError, match=message):
            secant.assess_classes([0, 1], probs, kind=kind)


def test_transposed_probabilities_are_noticed():
    with pytest.raises(InputError, match=r"is probs transposed\?"):
        secant.top_label(np.zeros(5, int), np.full((2, 5), 0.2))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_sums_may_be_off_by_rounding(kind):
    rng = np.random.default_rng(0)
    logits = 3 * rng.standard_normal((200, 1000)).astype(np.float32)
    probs = np.exp(logits)
    probs = (probs / probs.sum(axis=1, keepdims=True)).astype(kind)
    secant.top_label(rng.integers(0, 1000, 200), probs)
