"""The example of recalibration does what its page says."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import secant
from helpers import PACKAGE, ROOT, optional


def test_the_shape_says_what_helps_and_it_does():
    optional("sklearn")
    pytest.importorskip("sklearn", "1.8", reason="scales temperatures since 1.8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "recalibrate.py")],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    before, temperature, isotonic, compared = run.stdout.split("\n\n")
    assert before.startswith("as it is: Miscalibrated: too extreme. ")
    assert "What usually helps: temperature or beta scaling" in before
    assert temperature.startswith("temperature: Miscalibrated: alternating, 3 times. ")
    assert "What usually helps: isotonic regression" in temperature
    assert isotonic.startswith("isotonic: No miscalibration found. ")
    assert "Model B is closer to calibration than model A." in compared
    # The table of the page.
    page = (ROOT / "docs" / "recalibrate.md").read_text(encoding="utf-8")
    for text in (before, temperature, isotonic):
        for number in re.search(
            r"ECCE-R ([\d.]+) .*Brier score ([\d.]+)[,;] .*log loss ([\d.]+)\.", text, re.DOTALL
        ).groups():
            assert f"| {number} |" in page


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
    assert secant.assess(y[test], extreme[test]).shape == "too extreme"
    beta = linear_model.LogisticRegression(C=np.inf).fit(two(extreme[fit]), y[fit])
    assert helps(extreme[test], beta.predict_proba(two(extreme[test]))[:, 1])

    high = special.expit(logits + 0.7)
    assert secant.assess(y[test], high[test]).shape == "too high"
    recent = special.logit(high[fit])
    shift = optimize.brentq(lambda a: special.expit(recent + a).mean() - y[fit].mean(), -20, 20)
    assert helps(high[test], special.expit(special.logit(high[test]) + shift))
