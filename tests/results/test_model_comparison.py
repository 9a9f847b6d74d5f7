"""A comparison of models in words."""

import numpy as np

from samples import compare_models


def test_words():
    rng = np.random.default_rng(0)
    p = rng.random(5000)
    y = rng.random(5000) < p
    apart = compare_models(y, p**1.5, p)
    assert apart.better == "B"
    assert str(apart).startswith("Model B is closer to calibration than model A.\nECCE-R 0.")
    assert "calibration alone" in str(apart)
    together = compare_models(y, p, p**1.02)
    assert together.better is None
    assert "cannot be told apart" in str(together)
    numbers = together.to_dict()
    assert numbers["better"] is None
    assert numbers["ci"] == list(together.ci)
    assert numbers["verdict"] in str(together)
