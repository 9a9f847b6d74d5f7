"""What the page on recalibration says of its forms is so."""

import numpy as np

import secant
from helpers import optional


def test_the_two_forms_that_have_to_be_written_do_help():
    linear_model = optional("sklearn.linear_model")
    optimize, special = optional("scipy.optimize"), optional("scipy.special")
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1.5, 20_000)
    y = rng.random(20_000) < special.expit(logits)
    fit, test = slice(10_000), slice(10_000, None)

    def two(s):
        return np.column_stack([np.log(s), -np.log1p(-s)])

    def helps(before, after):
        return 4 * secant.ecce_r(y[test], after) < secant.ecce_r(y[test], before)

    extreme = special.expit(2 * logits)
    assert secant.assess(y[test], extreme[test]).direction == "too extreme"
    beta = linear_model.LogisticRegression(C=np.inf).fit(two(extreme[fit]), y[fit])
    assert helps(extreme[test], beta.predict_proba(two(extreme[test]))[:, 1])

    high = special.expit(logits + 0.7)
    assert secant.assess(y[test], high[test]).direction == "too high"
    recent = special.logit(high[fit])
    shift = optimize.brentq(lambda a: special.expit(recent + a).mean() - y[fit].mean(), -20, 20)
    assert helps(high[test], special.expit(special.logit(high[test]) + shift))
