"""What was decided, and whether weights count, is on the result itself."""

import numpy as np
import pytest

import secant


def test_weights_are_weights_only_if_they_differ():
    y, p = [0, 1, 0, 1, 1, 0], [0.2, 0.7, 0.4, 0.6, 0.9, 0.1]
    counts = [1, 2, 1, 3, 1, 1]
    assert secant.assess(y, p, sample_weight=counts).weighted
    assert not secant.assess(y, p, sample_weight=counts, weight_kind="frequency").weighted
    assert not secant.assess(y, p).weighted
    equal = secant.assess(y, p, sample_weight=[2.0] * 6)
    assert not equal.weighted
    # What needs counts, not weights, is then answered as without any.
    plain = secant.assess(y, p).between(0.3, 0.8, fixed_in_advance=True)
    np.testing.assert_allclose(equal.between(0.3, 0.8, fixed_in_advance=True).ci, plain.ci)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_decisions_are_on_the_result(level):
    rng = np.random.default_rng(4)
    p = rng.random(3000)
    y = rng.random(3000) < p**1.3
    result = secant.assess(y, p, confidence_level=level)
    assert result.found == (result.ecce_r.pvalue <= 1 - level)
    low, high = result.worst.ci
    assert result.located == (result.found and not low <= 0 <= high)
    assert [metric.name for metric, _ in result.statistics] == ["ECCE-R", "ECCE-MAD"]


@pytest.mark.parametrize("ends", [(20, 40), (1.5, 2), (-3, -1)])
def test_ranges_beyond_all_scores_are_refused(ends):
    result = secant.assess([0, 1, 1], [0.2, 0.3, 0.9])
    with pytest.raises(secant.InputError, match="from 0 to 1; got a=") as caught:
        result.between(*ends)
    assert ("between(0.2, 0.4)" in str(caught.value)) == (ends == (20, 40))
    assert result.between(-3, 20).n == 3
