"""Assessing one set of predictions: ties in random order."""

import numpy as np
import pytest

import secant
from samples import EXACT, N_MANY, RELATIVE, statistics
from secant import InputError


def test_random_ties_and_draws_for_weights_do_not_go_together():
    rng = np.random.default_rng(0)
    scores, weights = rng.choice([0.2, 0.5], 50), 1 + rng.random(50)
    options = {"ties": "random", "method": "monte-carlo", "rng": 0}
    with pytest.raises(InputError, match="do not go together where weights differ"):
        secant.assess(scores > 0.3, scores, sample_weight=weights, **options)
    assert secant.assess(scores > 0.3, scores, **options).ecce_r.draws


def test_random_ties_are_reproducible():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 500), rng.integers(0, 5, 500) / 4
    assess = [secant.assess(y, p, ties="random", rng=seed).to_dict() for seed in (1, 1, 2, 3)]
    assert assess[0] == assess[1]
    assert len({told["ecce_r"]["value"] for told in assess}) == 3
    generator = secant.assess(y, p, ties="random", rng=np.random.default_rng(1)).to_dict()
    assert generator == assess[0]
    # Within a tie the path can only go further than between ties.
    collapsed = secant.assess(y, p)
    assert min(told["ecce_r"]["value"] for told in assess) >= collapsed.ecce_r.value - 1e-12
    assert assess[0]["sigma"] == pytest.approx(collapsed.sigma, **RELATIVE)


@pytest.mark.parametrize("n", [1, 2, 300, N_MANY])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_ties_change_nothing_where_scores_are_distinct(n, weighted):
    rng = np.random.default_rng(n)
    p = rng.permutation(np.linspace(0, 1, n + 2)[1:-1])
    y = rng.random(n) < p
    w = rng.random(n) + 0.5 if weighted else None
    options = {"sample_weight": w, "method": "asymptotic"}
    shuffled = secant.assess(y, p, ties="random", rng=0, **options)
    collapsed = secant.assess(y, p, **options)
    for one, other in zip(statistics(shuffled), statistics(collapsed), strict=True):
        assert one.value == pytest.approx(other.value, **EXACT)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-9)
    worst = shuffled.worst, collapsed.worst
    assert [(w.low, w.high, w.n) for w in worst[:1]] == [(w.low, w.high, w.n) for w in worst[1:]]
    assert shuffled.ece(n_bins=1).value == pytest.approx(collapsed.ece(n_bins=1).value, **EXACT)
