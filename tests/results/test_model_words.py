"""Several models in words: who is closer to calibration, beyond chance or not."""

import numpy as np

import secant
from secant._results import model_words
from secant._results.base import say


def test_words_tell_who_is_better_beyond_chance():
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    happened = rng.random(3000) < chance
    scores = {"hot": chance**1.5, "new": chance, "twin": np.round(chance, 3)}
    models = secant.assess_models(happened, scores)
    words = model_words.words_of(models)
    best, *others = models
    for name in others:
        told = models.comparisons[name].better == "A"
        (sentence,) = [each for each in words if name in each]
        assert ("cannot be told apart" in sentence) == (not told)
        assert best in sentence
    assert models.to_dict()["verdict"] == models.verdict == " ".join(words)
    (table,) = say(models).tables
    assert [row[0] for row in table.rows] == list(models)


def test_one_model_alone_is_not_compared():
    models = secant.assess_models([0, 1, 1, 0], {"only": [0.2, 0.8, 0.6, 0.4]})
    assert model_words.words_of(models) == []
    table = model_words.table(models)
    ((name, *_, words),) = table.rows
    assert (table.head[0], name, words) == ("model", "only", "no miscalibration found")
