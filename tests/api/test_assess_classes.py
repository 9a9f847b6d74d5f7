"""Predictions of several classes: their input, their laws, and P-values adjusted jointly."""

from fractions import Fraction
from functools import partial
from itertools import accumulate, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from helpers import optional
from secant import InputError
from secant._api import assess_classes, calibrate
from secant._inference import westfall_young as _joint
from secant._inference.westfall_young import _bennett, westfall_young

NAMES = ["cat", "dog", "eel"]


def simulate(n, k, seed=0, sharpness=1.0, power=1.0):
    """Draw probabilities and labels; the model reports the chances raised to ``power``."""
    rng = np.random.default_rng(seed)
    chance = rng.dirichlet(np.full(k, sharpness), n)
    y = draw(chance, rng)
    told = chance**power
    return y, told / told.sum(axis=1, keepdims=True)


def draw(chance, rng):
    return (
        (chance.cumsum(axis=1) < rng.random((len(chance), 1)))
        .sum(axis=1)
        .clip(max=chance.shape[1] - 1)
    )


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
    assert adjusted[0] == pytest.approx(adjusted[1], rel=0.05)  # of P-values certified to 1%


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
    drawn = _joint.Joint(np.array([1, 2, 2]) / 100, 99)
    monkeypatch.setattr(_joint, "westfall_young", lambda *_, **__: drawn)
    seen = assess_classes.class_predictions([0, 1, 2], np.full((3, 3), 1 / 3), None)
    rows = assess_classes.observations([1, 0, 0], [0.5] * 3)
    raw = np.array([1e-9, 1e-9, 0.03])
    adjusted, draws = assess_classes._jointly(seen, rows, raw, draws=99, rng=None, progress=None)
    assert adjusted == pytest.approx([3e-9, 0.02, 0.03])
    assert draws == 99


def test_no_adjusted_pvalue_is_below_the_class_alone_and_tiny_ones_are_holms():
    y, p = simulate(3000, 4, power=2)
    joint = secant.assess_classes(y, p, kind="one-vs-rest", draws=99)
    holm = secant.assess_classes(y, p, kind="one-vs-rest", adjust="holm")
    for row in joint.rows:
        assert row.adjusted_pvalue >= row.calibration.ecce_r.pvalue
    tiny = {row.key: row.adjusted_pvalue for row in holm.rows if row.adjusted_pvalue < 1e-6}
    assert tiny
    assert {row.key: row.adjusted_pvalue for row in joint.rows if row.key in tiny} == tiny


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
    assert calibrate.thinned(full[0], 10**6) is full[0]


def test_probabilities_made_class_by_class():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 200), rng.random((200, 3))
    with pytest.raises(InputError, match=r"probs\[0\] sums to"):
        secant.assess_classes(y, p, kind="one-vs-rest")
    result = secant.assess_classes(y, p, kind="one-vs-rest", sum_to_one=False)
    assert result.adjust == "holm"
    assert result[2].ecce_r == secant.assess(y == 2, p[:, 2]).ecce_r


# Joint redraws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("off", [-5e-7, 0, 5e-7])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 9])
def test_labels_are_drawn_by_probabilities_divided_by_their_sum(k, off, dtype, monkeypatch):
    """Class c covers what lies between c and c + 1 of the cumulative shares, in exact numbers."""
    monkeypatch.setattr(_joint, "_TABLE", 48)  # the rows come in several pieces
    probs = (np.random.default_rng(k).dirichlet(np.ones(k), 7) * (1 + off)).astype(dtype)
    row = np.repeat(np.arange(7), [1, 2, 1, 1, 3, 1, 1])
    sums = [list(accumulate(Fraction(float(p)) for p in probs[i])) for i in row]
    edges = np.array([[float(part / whole[-1]) for part in whole[:-1]] for whole in sums]).T
    labels = _joint._Labels(probs, row)
    lowest, highest = np.zeros((1, row.size)), np.full((1, row.size), np.nextafter(1.0, 0.0))
    below = labels.draw(np.concatenate([edges - 1e-10, highest]))
    above = labels.draw(np.concatenate([lowest, edges + 1e-10]))
    assert below.tolist() == above.tolist() == [[c] * row.size for c in range(k)]


@pytest.mark.parametrize("whole", [1 - 5e-7, 1, 1 + 5e-7])
def test_a_class_of_probability_zero_is_never_drawn(whole):
    """Nor by a uniform number that is exactly where its share begins and ends."""
    labels = _joint._Labels(whole * np.array([[0, 0.5, 0, 0.5, 0]]), np.zeros(1, int))
    uniform = np.array([[0.0], [np.nextafter(0.5, 0)], [0.5], [np.nextafter(1.0, 0)]])
    assert labels.draw(uniform).ravel().tolist() == [1, 1, 3, 3]


def exact(probs, truth, weight=None):
    """Return Westfall and Young's adjusted P-values by going through all labels."""
    n, k = probs.shape
    w = np.ones(n) if weight is None else weight
    v = (w**2 * (probs * (1 - probs)).T).T.sum(axis=0)
    unit = (w**3 * (probs * (1 - probs)).T).T.sum(axis=0) / v

    def statistic(labels):
        values = np.empty(k)
        for c in range(k):
            scores, tie = np.unique(probs[:, c], return_inverse=True)
            gains = np.bincount(tie, w * (labels == c)) - np.bincount(tie, w) * scores
            u = np.ptp(np.concatenate([[0], np.cumsum(gains)])) * unit[c] / v[c]
            values[c] = v[c] / unit[c] ** 2 * ((1 + u) * np.log(1 + u) - u)
        return values

    observed = statistic(truth)
    order = np.argsort(-observed)
    p = np.zeros(k)
    for labels in product(range(k), repeat=n):
        chance = np.prod(probs[np.arange(n), labels])
        for place in range(k):
            rest = order[place:]
            as_extreme = statistic(np.array(labels))[rest].max() >= observed[order[place]] - 1e-9
            p[order[place]] += chance * as_extreme
    p[order] = np.maximum.accumulate(p[order])
    return p


@pytest.mark.parametrize(
    ("n", "k", "tied", "weighted", "seed"),
    [(5, 3, 0, 0, 0), (6, 3, 1, 0, 1), (4, 4, 1, 0, 2), (8, 2, 0, 0, 3), (5, 3, 1, 1, 4)],
)
def test_joint_pvalues_equal_going_through_all_labels(n, k, tied, weighted, seed):
    rng = np.random.default_rng(seed)
    probs, truth = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n)
    if tied:
        probs[1::2] = probs[0]
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    draws = 40_000
    found = westfall_young(probs, truth, weights=weight, rng=rng, draws=draws)
    expected = exact(probs, truth, weight)
    assert found.draws == draws
    error = 4 * np.sqrt(np.maximum(expected * (1 - expected), 1 / draws) / draws) + 2 / draws
    assert (np.abs(found.pvalues - expected) < error).all()


class EveryDraw:
    """Gives every combination of a few uniform numbers, one after the other, instead of random."""

    def __init__(self, uniform, rows):
        self._left = iter(product(uniform, repeat=rows))

    def random(self, size):
        return np.array([next(self._left) for _ in range(size[0])]).reshape(size)


@pytest.mark.parametrize("cells", [100, 1 << 19])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_every_draw_of_labels_is_counted_as_it_should_be(seed, weighted, cells, monkeypatch):
    """No randomness is left: those as extreme are counted one by one, ties with the data too."""
    monkeypatch.setattr(_joint, "_CELLS", cells)
    rng = np.random.default_rng(seed)
    n, k, tenths = 3, 3, 10
    probs = (rng.multinomial(tenths - k, np.full(k, 1 / k), n) + 1) / tenths
    truth = rng.integers(0, k, n)
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    every = EveryDraw((np.arange(tenths) + 0.5) / tenths, n)
    found = westfall_young(probs, truth, weights=weight, rng=every, draws=tenths**n)
    as_extreme = exact(probs, truth, weight) * tenths**n
    assert as_extreme == pytest.approx(as_extreme.round(), abs=1e-6)
    assert found.pvalues.tolist() == ((1 + as_extreme.round()) / (1 + tenths**n)).tolist()


def test_classes_that_are_almost_as_common_are_told_apart():
    """Else the order in which they come would choose what is drawn for them."""
    rng = np.random.default_rng(0)
    probs = 0.25 + 1e-7 * rng.random((20, 4))
    probs /= probs.sum(axis=1, keepdims=True)
    truth, place = rng.integers(0, 4, 20), np.array([2, 0, 3, 1])
    one = westfall_young(probs, truth, rng=np.random.default_rng(1), draws=99)
    other = westfall_young(
        probs[:, place], place.argsort()[truth], rng=np.random.default_rng(1), draws=99
    )
    assert other.pvalues.tolist() == one.pvalues[place].tolist()


@pytest.mark.parametrize("enough", [None, 20])
def test_memory_does_not_change_joint_pvalues(enough, monkeypatch):
    """Draws come one by one, a few at a time or all at once."""
    y, p = simulate(30, 4, seed=1, power=1.5)
    answers = []
    for cells in (1, 300, 1 << 19):
        monkeypatch.setattr(_joint, "_CELLS", cells)
        rng = np.random.default_rng(0)
        pvalues, draws = westfall_young(p, y, rng=rng, draws=400, enough=enough)
        answers.append((pvalues.tolist(), draws))
    assert answers[0] == answers[1] == answers[2]
    assert len(set(answers[0][0])) > 1  # classes of several P-values


def test_stopping_early_takes_the_same_draws():
    y, p = simulate(60, 4)
    whole = westfall_young(p, y, rng=np.random.default_rng(0), draws=3000)
    early = westfall_young(p, y, rng=np.random.default_rng(0), draws=3000, enough=50)
    assert early.draws < whole.draws
    first = np.argmin(whole.pvalues)
    assert early.pvalues[first] == early.pvalues.min() == 50 / early.draws
    # Drawing on cannot change what the first has settled: recompute from that many draws.
    again = westfall_young(p, y, rng=np.random.default_rng(0), draws=early.draws)
    assert again.pvalues[first] == pytest.approx(51 / (early.draws + 1))


@pytest.mark.parametrize("k", [5, 20])
def test_family_wise_error_of_calibrated_predictions(k):
    families, n, alpha, alarms = 300, 60, 0.1, 0
    for seed in range(families):
        y, p = simulate(n, k, seed, sharpness=0.3)
        rng = np.random.default_rng([seed, 1])
        alarms += westfall_young(p, y, rng=rng, draws=99).pvalues.min() <= alpha
    error = np.sqrt(alpha * (1 - alpha) / families)
    assert alarms / families < alpha + 3 * error  # never above
    assert alarms / families > alpha - 4 * error  # and not far below


def test_classes_that_are_off_do_not_make_others_fail():
    # The model gives most of what belongs to class 1 to class 0; all other classes are calibrated.
    families, n, alpha, found, alarms = 300, 100, 0.1, 0, 0
    for seed in range(families):
        y, p = simulate(n, 5, seed)
        told = p.copy()
        told[:, 0] += 0.8 * p[:, 1]
        told[:, 1] *= 0.2
        rng = np.random.default_rng([seed, 2])
        adjusted = westfall_young(told, y, rng=rng, draws=99).pvalues
        found += adjusted[:2].max() <= alpha
        alarms += adjusted[2:].min() <= alpha
    assert found > 0.9 * families
    error = np.sqrt(alpha * (1 - alpha) / families)
    assert alarms / families < alpha + 3 * error
    assert (
        alarms / families > alpha - 4 * error
    )  # stepping down, they are compared among themselves


def test_a_class_that_cannot_vary():
    p = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    right = secant.assess_classes([0, 1, 1], p, kind="one-vs-rest")
    assert right[2].ecce_r.pvalue == 1
    assert {row.key: row.adjusted_pvalue for row in right.rows}[2] == 1
    wrong = secant.assess_classes([0, 1, 2], p, kind="one-vs-rest")
    assert wrong.rows[0].key == 2
    assert wrong.rows[0].adjusted_pvalue == 0
    assert wrong[2].forbidden == (2,)


def test_bennetts_function_has_no_seam_and_no_cancellation():
    u = np.array([0.0, 1e-9, 1e-4, 0.0099999, 0.0100001, 0.1, 0.4, 0.5, 30.0])
    mpmath = optional("mpmath")
    with mpmath.workdps(50):
        expected = [float((1 + mpmath.mpf(x)) * mpmath.log(1 + mpmath.mpf(x)) - x) for x in u]
    np.testing.assert_allclose(_bennett(u), expected, rtol=2e-13)


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


def test_whole_floats_and_booleans_are_class_numbers():
    p = [[0.7, 0.3], [0.2, 0.8]]
    for y in ([0, 1], [0.0, 1.0], [False, True], np.array([0, 1], np.uint8)):
        assert secant.top_label(y, p).correct.all()


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
        (np.array([[0.5, 0.5], [0.5, None]]), r"probs\[1\]\[1\] is None, not a number"),
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
