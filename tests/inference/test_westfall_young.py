"""P-values of several classes adjusted jointly, by labels drawn again."""

from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import pytest

from samples import simulate
from secant._base.progress import showing
from secant._inference import westfall_young as joint
from secant._inference.westfall_young import westfall_young


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("off", [-5e-7, 0, 5e-7])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 9])
def test_labels_are_drawn_by_probabilities_divided_by_their_sum(k, off, dtype, monkeypatch):
    """Class c covers what lies between c and c + 1 of the cumulative shares, in exact numbers."""
    monkeypatch.setattr(joint, "_TABLE", 48)  # the rows come in several pieces
    probs = (np.random.default_rng(k).dirichlet(np.ones(k), 7) * (1 + off)).astype(dtype)
    row = np.repeat(np.arange(7), [1, 2, 1, 1, 3, 1, 1])
    sums = [list(accumulate(Fraction(float(p)) for p in probs[i])) for i in row]
    edges = np.array([[float(part / whole[-1]) for part in whole[:-1]] for whole in sums]).T
    labels = joint._Labels(probs, row)
    lowest, highest = np.zeros((1, row.size)), np.full((1, row.size), np.nextafter(1.0, 0.0))
    below = labels.draw(np.concatenate([edges - 1e-10, highest]))
    above = labels.draw(np.concatenate([lowest, edges + 1e-10]))
    assert below.tolist() == above.tolist() == [[c] * row.size for c in range(k)]


@pytest.mark.parametrize("whole", [1 - 5e-7, 1, 1 + 5e-7])
def test_a_class_of_probability_zero_is_never_drawn(whole):
    """Nor by a uniform number that is exactly where its share begins and ends."""
    labels = joint._Labels(whole * np.array([[0, 0.5, 0, 0.5, 0]]), np.zeros(1, int))
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
    found = westfall_young(probs, truth, weights=weight, rng=rng, draws=draws, enough=None)
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
    monkeypatch.setattr(joint, "_CELLS", cells)
    rng = np.random.default_rng(seed)
    n, k, tenths = 3, 3, 10
    probs = (rng.multinomial(tenths - k, np.full(k, 1 / k), n) + 1) / tenths
    truth = rng.integers(0, k, n)
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    every = EveryDraw((np.arange(tenths) + 0.5) / tenths, n)
    found = westfall_young(probs, truth, weights=weight, rng=every, draws=tenths**n, enough=None)
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
        monkeypatch.setattr(joint, "_CELLS", cells)
        rng = np.random.default_rng(0)
        pvalues, draws = westfall_young(p, y, rng=rng, draws=400, enough=enough)
        answers.append((pvalues.tolist(), draws))
    assert answers[0] == answers[1] == answers[2]
    assert len(set(answers[0][0])) > 1  # classes of several P-values


def test_stopping_early_takes_the_same_draws():
    y, p = simulate(60, 4)
    whole = westfall_young(p, y, rng=np.random.default_rng(0), draws=3000, enough=None)
    early = westfall_young(p, y, rng=np.random.default_rng(0), draws=3000, enough=50)
    assert early.draws < whole.draws
    first = np.argmin(whole.pvalues)
    assert early.pvalues[first] == early.pvalues.min() == 50 / early.draws
    # Drawing on cannot change what the first has settled: recompute from that many draws.
    again = westfall_young(p, y, rng=np.random.default_rng(0), draws=early.draws, enough=None)
    assert again.pvalues[first] == pytest.approx(51 / (early.draws + 1))


@pytest.mark.parametrize("k", [5, 20])
def test_family_wise_error_of_calibrated_predictions(k):
    families, n, alpha, alarms = 300, 60, 0.1, 0
    for seed in range(families):
        y, p = simulate(n, k, seed, sharpness=0.3)
        rng = np.random.default_rng([seed, 1])
        alarms += westfall_young(p, y, rng=rng, draws=99, enough=None).pvalues.min() <= alpha
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
        adjusted = westfall_young(told, y, rng=rng, draws=99, enough=None).pvalues
        found += adjusted[:2].max() <= alpha
        alarms += adjusted[2:].min() <= alpha
    assert found > 0.9 * families
    error = np.sqrt(alpha * (1 - alpha) / families)
    assert alarms / families < alpha + 3 * error
    assert (
        alarms / families > alpha - 4 * error
    )  # stepping down, they are compared among themselves


def test_progress_is_reported():
    y, p = simulate(60, 4)
    seen = []
    with showing(lambda *pair: seen.append(pair)):
        found = westfall_young(p, y, rng=np.random.default_rng(0), draws=300, enough=None)
    made = [done for done, _ in seen]
    assert made == sorted(set(made))
    assert (made[-1], {whole for _, whole in seen}) == (found.draws, {300})
