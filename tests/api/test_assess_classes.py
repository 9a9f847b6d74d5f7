"""Predictions of several classes: their input, their laws, and P-values adjusted jointly."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from helpers import optional
from samples import NAMES, simulate
from secant import InputError
from secant._api import assess_classes, calibrations
from secant._inference import westfall_young as joint
from secant._inference.adjust import Adjusted, holm


@st.composite
def predictions(draw, max_rows=12, weighted=False):
    """Draw a few predictions on a coarse grid, so that scores are tied and some are 0 or 1."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(2, 4))
    cuts = st.lists(st.integers(0, 4), min_size=k - 1, max_size=k - 1).map(sorted)
    rows = draw(st.lists(cuts, min_size=n, max_size=n))
    probs = np.diff(np.array(rows) / 4, prepend=0, append=1, axis=1)
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    weights = st.lists(st.sampled_from([0.5, 1.0, 2.5]), min_size=n, max_size=n)
    return y, probs, np.array(draw(weights)) if weighted else None


def numbers(result):
    """Return the numbers of all classes by name."""
    return {
        row.key: (
            row.adjusted_pvalue, row.calibration.n,
            row.calibration.ecce_r.value, row.calibration.ecce_r.pvalue,
            row.calibration.worst.low, row.calibration.worst.high,
        )
        for row in result.rows
    }  # fmt: skip


def assert_same(one, two):
    assert {row.key: row.status for row in one.rows} == {row.key: row.status for row in two.rows}
    one, two = numbers(one), numbers(two)
    assert one.keys() == two.keys()
    for key, values in one.items():
        assert values == pytest.approx(two[key], rel=1e-9, abs=1e-12), key


# Top label ----------------------------------------------------------------------------------------


def test_input_is_kept_in_its_type_and_not_written_to():
    y, p = simulate(50, 3)
    p = p.astype(np.float32)
    p.flags.writeable = y.flags.writeable = False
    assert secant.top_label(y, p).confidence.dtype == np.float32
    for kind in ("top-label", "one-vs-rest"):
        secant.assess_classes(y, p, kind=kind, draws=19)


def test_top_label_by_class_is_assess_by_the_predicted_class():
    y, p = simulate(600, 3, power=2)
    weight = np.random.default_rng(1).integers(0, 3, 600).astype(float)
    for options in (
        {},
        {"sample_weight": weight},
        {"sample_weight": weight, "weight_kind": "frequency", "adjust": "benjamini-hochberg"},
    ):
        result = secant.assess_classes(y, p, classes=NAMES, **options)
        top = secant.top_label(y, p, classes=NAMES)
        assert_same(result, secant.assess_by(top.correct, top.confidence, top.predicted, **options))
    assert result.adjust == "benjamini-hochberg"
    assert result.by == ("predicted class",)


def test_classes_never_predicted_are_listed():
    probs = [[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]
    result = secant.assess_classes([0, 2, 1], probs, classes=NAMES)
    assert result.empty == ("eel",)
    assert set(result) == {"cat", "dog"}
    assert "1 class was never predicted." in str(result)
    without = secant.assess_classes([0, 2, 1], probs, classes=NAMES, sample_weight=[1, 1, 0])
    assert without.empty == ("dog", "eel")
    assert "2 classes were never predicted." in str(without)


def test_a_class_predicted_with_certainty_and_wrong():
    result = secant.assess_classes([1, 0, 1], [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    assert result[0].forbidden == (0, 2)


# One against the rest -----------------------------------------------------------------------------


def test_each_class_is_assessed_as_an_event():
    y, p = simulate(500, 4, power=1.5)
    weight = np.random.default_rng(2).random(500)
    for options in ({}, {"sample_weight": weight, "method": "asymptotic"}):
        result = secant.assess_classes(y, p, kind="one-vs-rest", draws=99, **options)
        assert set(result) == {0, 1, 2, 3}
        for c in range(4):
            alone = secant.assess(y == c, p[:, c], **options)
            assert result[c].ecce_r == alone.ecce_r
            assert result[c].ecce_mad == alone.ecce_mad
            assert result[c].n == 500


@given(predictions())
def test_two_classes_are_one_event_seen_from_both_sides(data):
    y, p, _ = data
    p = np.stack([1 - p[:, 0], p[:, 0]], axis=1)
    y = (y == 0).astype(int)
    result = secant.assess_classes(y, p, kind="one-vs-rest", draws=99)
    event = secant.assess(y, p[:, 1])
    assert result[1].ecce_r == event.ecce_r
    assert result[0].ecce_r.value == pytest.approx(event.ecce_r.value, abs=1e-12)
    adjusted = {row.key: row.adjusted_pvalue for row in result.rows}
    assert adjusted[0] == pytest.approx(adjusted[1], rel=0.05)  # of P-values that draws decide


@pytest.mark.parametrize("kind", ["top-label", "one-vs-rest"])
@given(data=predictions(weighted=True), random=st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_the_order_of_rows_does_not_matter(kind, data, random):
    y, p, w = data
    order = list(range(len(y)))
    random.shuffle(order)
    assess = partial(secant.assess_classes, kind=kind, draws=99, method="asymptotic")
    assert_same(assess(y[order], p[order]), assess(y, p))
    assert_same(assess(y[order], p[order], sample_weight=w[order]), assess(y, p, sample_weight=w))


@pytest.mark.parametrize("kind", ["top-label", "one-vs-rest"])
def test_permuting_the_classes_permutes_the_answer(kind):
    y, p = simulate(300, 5, sharpness=0.5, power=1.3)
    names = np.array(["a", "b", "c", "d", "e"])
    order = np.array([3, 1, 4, 0, 2])
    assess = partial(secant.assess_classes, kind=kind, draws=199, rng=5)
    named = assess(names[y], p, classes=names)
    assert_same(assess(names[y], p[:, order], classes=names[order]), named)
    numbered = assess(np.argsort(order)[y], p[:, order])  # without names it is a matter of numbers
    assert {names[order[row.key]]: row.adjusted_pvalue for row in numbered.rows} == pytest.approx(
        {row.key: row.adjusted_pvalue for row in named.rows}
    )


@given(predictions())
def test_copies_of_rows_are_frequency_weights(data):
    y, p, _ = data
    copies = np.arange(len(y)) % 3
    if not copies.any():
        copies[:] = 2
    assess = partial(secant.assess_classes, kind="one-vs-rest", draws=49)
    counted = assess(y, p, sample_weight=copies, weight_kind="frequency")
    assert_same(counted, assess(np.repeat(y, copies), np.repeat(p, copies, axis=0)))


@given(predictions(weighted=True))
def test_rows_of_weight_zero_are_absent_and_scale_does_not_matter(data):
    y, p, w = data
    w[1::2] = 0
    assess = partial(secant.assess_classes, kind="one-vs-rest", draws=49, method="asymptotic")
    weighted = assess(y, p, sample_weight=w)
    assert_same(weighted, assess(y[w > 0], p[w > 0], sample_weight=8 * w[w > 0]))


def test_equal_weights_are_no_weights():
    y, p = simulate(100, 3, power=1.5)
    plain = secant.assess_classes(y, p, kind="one-vs-rest", draws=199)
    assert_same(
        secant.assess_classes(y, p, kind="one-vs-rest", draws=199, sample_weight=np.full(100, 0.3)),
        plain,
    )


def test_draws_are_the_same_in_every_run_and_differ_by_rng():
    y, p = simulate(80, 3, power=1.4)
    assess = partial(secant.assess_classes, y, p, kind="one-vs-rest", draws=499)
    assert numbers(assess()) == numbers(assess())
    assert numbers(assess(rng=3)) == numbers(assess(rng=np.random.default_rng(3)))
    assert numbers(assess(rng=3)) != numbers(assess(rng=4))


def test_the_result_says_how_many_draws():
    y, p = simulate(400, 3, power=3)
    calls = []
    result = secant.assess_classes(
        y, p, kind="one-vs-rest", draws=299, progress=lambda *call: calls.append(call)
    )
    assert result.draws == 299
    assert "after Westfall and Young's correction (299 draws)." in str(result)
    assert result.to_dict()["draws"] == 299
    assert calls[-1] == (299, 299)
    assert secant.assess_classes(y, p, kind="one-vs-rest", adjust="holm").draws is None


def test_holms_adjustment_only_counts_below_what_draws_can_tell(monkeypatch):
    """Else the smaller of two adjustments would be taken, which keeps the promise of neither."""
    drawn = Adjusted(np.array([1, 2, 2]) / 100, 99)
    monkeypatch.setattr(joint, "westfall_young", lambda *_, **__: drawn)
    seen = assess_classes.class_predictions([0, 1, 2], np.full((3, 3), 1 / 3), None)
    rows = assess_classes.observations([1, 0, 0], [0.5] * 3)
    raw = np.array([1e-9, 1e-9, 0.03])
    adjusted, draws = assess_classes._jointly(seen, rows, raw, draws=99, rng=None)
    assert adjusted == pytest.approx([3e-9, 0.02, 0.03])
    assert draws == 99


def test_no_adjusted_pvalue_is_below_the_class_alone_and_tiny_ones_are_holms():
    y, p = simulate(3000, 4, power=2)
    jointly = secant.assess_classes(y, p, kind="one-vs-rest", draws=99)
    for row in jointly.rows:
        assert row.adjusted_pvalue >= row.calibration.ecce_r.pvalue
    alone = holm([row.calibration.ecce_r.pvalue for row in jointly.rows])
    pairs = zip(jointly.rows, alone.tolist(), strict=True)
    tiny = {row.key: pvalue for row, pvalue in pairs if pvalue < 1e-6}
    assert tiny
    assert {row.key: row.adjusted_pvalue for row in jointly.rows if row.key in tiny} == tiny


def test_many_rows_are_kept_in_less_memory_and_nothing_changes(monkeypatch):
    y, p = simulate(3000, 3, power=1.3)
    options = {"kind": "one-vs-rest", "adjust": "holm"}
    full = secant.assess_classes(y, p, **options)
    monkeypatch.setattr(assess_classes, "_ROWS", 1)  # one class at a time, 1,024 stretches each
    thin = secant.assess_classes(y, p, **options)
    assert_same(thin, full)
    for c in range(3):
        assert len(thin[c]._blocks) < 1100 < len(full[c]._blocks)
        assert thin[c].between(0.123, 0.345).n == full[c].between(0.123, 0.345).n
        assert thin[c].ece().value == pytest.approx(full[c].ece().value, abs=1e-12)
        assert str(thin[c]) == str(full[c])
    assert calibrations.thinned(full[0], 10**6) is full[0]


def test_probabilities_made_class_by_class():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 200), rng.random((200, 3))
    with pytest.raises(InputError, match=r"probs\[0\] sums to"):
        secant.assess_classes(y, p, kind="one-vs-rest")
    result = secant.assess_classes(y, p, kind="one-vs-rest", sum_to_one=False)
    assert result.adjust == "holm"
    assert result[2].ecce_r == secant.assess(y == 2, p[:, 2]).ecce_r


def test_a_class_that_cannot_vary():
    p = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    right = secant.assess_classes([0, 1, 1], p, kind="one-vs-rest")
    assert right[2].ecce_r.pvalue == 1
    assert {row.key: row.adjusted_pvalue for row in right.rows}[2] == 1
    wrong = secant.assess_classes([0, 1, 2], p, kind="one-vs-rest")
    assert wrong.rows[0].key == 2
    assert wrong.rows[0].adjusted_pvalue == 0
    assert wrong[2].forbidden == (2,)


# Names --------------------------------------------------------------------------------------------


def test_names_numbers_and_frames_say_the_same():
    y, p = simulate(300, 3, power=2)
    names = np.array(NAMES)
    by_number = secant.assess_classes(y, p)
    by_name = secant.assess_classes(names[y], p, classes=NAMES)
    assert {NAMES[key]: values for key, values in numbers(by_number).items()} == numbers(by_name)
    assert_same(secant.assess_classes(y, p, classes=NAMES), by_name)
    assert_same(secant.assess_classes(y.tolist(), p.tolist(), classes=tuple(NAMES)), by_name)
    assert_same(secant.assess_classes(names[y].astype(object), p, classes=names), by_name)
    shifted = secant.assess_classes(y + 1, p, classes=range(1, 4))
    assert {NAMES[key - 1]: values for key, values in numbers(shifted).items()} == numbers(by_name)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_frame_are_the_classes(library):
    y, p = simulate(100, 3, power=2)
    frame = optional(library).DataFrame(dict(zip(NAMES, p.T, strict=True)))
    expected = secant.assess_classes(y, p, classes=NAMES)
    assert_same(secant.assess_classes(np.array(NAMES)[y], frame), expected)
    assert_same(secant.assess_classes(y, frame), expected)
    text = optional(library).Series(np.array(NAMES)[y].tolist())
    assert_same(secant.assess_classes(text, frame), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "true-class"}, r"kind must be one of 'top-label', 'one-vs-rest'"),
        ({"adjust": "bonferroni"}, r"adjust must be one of 'holm', .* got 'bonferroni'"),
        ({"adjust": "westfall-young"}, r"is for kind='one-vs-rest'"),
        ({"sum_to_one": False}, r"sum_to_one=False is for kind='one-vs-rest'"),
        (
            {"kind": "one-vs-rest", "sum_to_one": False, "adjust": "westfall-young"},
            r"must sum to 1; with sum_to_one=False use adjust='holm'",
        ),
        ({"method": "quick"}, r"method must be one of"),
        ({"draws": 0}, r"draws must be a whole number, 1 or more; got 0"),
        ({"draws": 9.5}, r"draws must be a whole number"),
        ({"confidence_level": 95}, r"confidence_level"),
        ({"sample_weight": [1, 2, 3]}, r"sample_weight must have one value a row; it has 3, not 2"),
        ({"rng": "x"}, r"rng must be"),
    ],
)
def test_unusable_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        secant.assess_classes([0, 1], [[0.5, 0.5], [0.4, 0.6]], **options)


# Real predictions ---------------------------------------------------------------------------------


def test_a_network_on_cifar_10(shared_data):
    with np.load(shared_data / "cifar10_vgg16_probs_labels.npz") as data:
        y, p = data["labels"], data["probs"]
    correct, confidence, predicted = secant.top_label(y, p)
    published = optional("pyarrow.parquet").read_table(
        shared_data / "cifar10_vgg16_verified.parquet"
    )
    np.testing.assert_array_equal(correct, published["response"].to_numpy())
    np.testing.assert_array_equal(confidence, published["score"].to_numpy())
    top = secant.assess_classes(y, p)
    assert len(top.failing) == 10
    assert sum(result.n for result in top.values()) == 10_000
    for c in range(10):
        assert top[c].ecce_r.value == pytest.approx(
            secant.ecce_r(correct[predicted == c], confidence[predicted == c]), abs=1e-12
        )
    rest = secant.assess_classes(y, p, kind="one-vs-rest", draws=199)
    assert len(rest.failing) == 10
    for c in range(10):
        assert rest[c].ecce_r.value == pytest.approx(secant.ecce_r(y == c, p[:, c]), abs=1e-12)


def test_top_labels_are_assessed_as_a_whole_in_the_words_for_confidences():
    top = secant.top_label([1] * 60 + [0] * 30, [[0.95, 0.05]] * 90)
    result, plain = top.assess(), secant.assess(top.correct, top.confidence)
    assert result.ecce_r == plain.ecce_r
    assert str(result).startswith("Miscalibrated: overconfident. ")
    assert str(plain).startswith("Miscalibrated: too high. ")
    assert top.assess(confidence_level=0.9).confidence_level == 0.9
    assert repr(top).startswith("90 predictions: 33.3% right, mean confidence 95.0%. ")
    assert repr(top) in top._repr_html_()
