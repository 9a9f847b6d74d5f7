"""Several models in words: who is closer to calibration, beyond chance or not."""

import numpy as np

import secant
from secant._results import model_words


def test_words_tell_who_is_better_beyond_chance():
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    happened = rng.random(3000) < chance
    scores = {"old": chance**1.5, "new": chance, "twin": np.round(chance, 3)}
    models = secant.assess_models(happened, scores)
    text = str(models)
    assert " is closer to calibration than old, beyond chance at 5%." in text
    assert " cannot be told apart at 5%." in text
    assert "calibration alone" in text
    assert models.to_dict()["verdict"].split(".")[0] in text
    header = next(line for line in text.splitlines() if line.startswith("model"))
    for column in ("ECCE-R", "95% limits", "Brier", "miscalibration", "log loss", "verdict"):
        assert column in header


def test_one_model_alone_is_not_compared():
    models = secant.assess_models([0, 1, 1, 0], {"only": [0.2, 0.8, 0.6, 0.4]})
    assert model_words.words_of(models) == []
    table = model_words.table(models)
    ((name, *_, words),) = table.rows
    assert (table.head[0], name, words) == ("model", "only", "no miscalibration found")
