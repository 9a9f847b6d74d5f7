"""Several models in words: who forecasts better, and is better calibrated, beyond chance."""

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
    forecasts, calibrated = words
    assert forecasts.startswith(f"Better forecasts: {best} has the smallest Brier score")
    assert "of the others only" in forecasts
    for name in others:
        assert (name in forecasts) == (name in models.not_worse)
        told = models.comparisons[name].better == "A"
        assert (name in calibrated) == told
    assert f"{best} is better calibrated than hot" in calibrated
    assert models.to_dict()["verdict"] == models.verdict == " ".join(words)
    (table,) = say(models).tables
    assert [row[0] for row in table.rows] == list(models)


def test_words_when_none_is_worse_all_are_and_the_first_is_less_calibrated():
    rng = np.random.default_rng(1)
    chance = rng.random(2000)
    happened = rng.random(2000) < chance

    def words(**models):
        return " ".join(model_words.words_of(secant.assess_models(happened, models)))

    alike = words(a=chance, b=chance.copy())
    assert "b cannot be told apart from it at 5%. None is better calibrated than a" in alike
    assert "b is worse, beyond chance at 5%." in words(a=chance, b=np.full(2000, 0.5))
    few = secant.assess_models([0, 1, 1, 0], {"a": [0.2, 0.8, 0.6, 0.4], "b": [0.5] * 4})
    forecasts, untested, *_ = model_words.words_of(few)
    assert forecasts == "Better forecasts: a has the smallest Brier score."
    assert untested == "Not tested in pairs: b."
    off = words(a=chance**1.3, b=np.full(2000, happened.mean()))
    assert "a has the smallest Brier score" in off
    assert "b is better calibrated than a" in off


def test_one_model_alone_is_not_compared():
    models = secant.assess_models([0, 1, 1, 0], {"only": [0.2, 0.8, 0.6, 0.4]})
    assert model_words.words_of(models) == []
    table = model_words.table(models)
    ((name, *_, words),) = table.rows
    assert (table.head[0], name, words) == ("model", "only", "no miscalibration found")
