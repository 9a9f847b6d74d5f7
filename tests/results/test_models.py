"""Several models in one table, and in words."""

import json
import pickle

import numpy as np
import pytest

import secant
from helpers import HOSTILE, optional


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    happened = rng.random(3000) < chance
    scores = {"old": chance**1.5, HOSTILE: chance, "twin": np.round(chance, 3)}
    return secant.assess_models(happened, scores)


def test_the_smallest_brier_score_comes_first(models):
    values = [models[name].brier.value for name in models]
    assert values == sorted(values)
    assert list(models)[-1] == "old"
    assert len(models) == 3


def test_comparisons_account_for_all_pairs(models):
    assert [each.confidence_level for each in models.comparisons.values()] == [
        pytest.approx(1 - 0.05 / 3)
    ] * 2
    for name, each in models.comparisons.items():
        assert each.names == (next(iter(models)), name)
        assert each.names[0] in str(each)


def test_what_others_lose_more_is_the_difference_of_scores(models):
    best = next(iter(models))
    for name, each in models.behind.items():
        assert each.difference == pytest.approx(models[name].brier.value - models[best].brier.value)
        assert each.ci[0] < each.difference < each.ci[1]
        assert (name in models.not_worse) == (each.pvalue > 0.05)
    assert best in models.not_worse
    assert "old" not in models.not_worse
    assert models.to_dict()["not_worse"] == models.not_worse


def test_table_and_json(models):
    frame = optional("pandas").DataFrame(models.table)
    assert models.to_pandas().equals(frame)
    assert models.to_polars().height == 3
    assert frame["mcb"].tolist() == [each.brier.mcb for each in models.values()]
    stored = json.loads(json.dumps(models.to_dict(), allow_nan=False))
    assert stored["schema"] == 2
    assert list(stored["models"]) == list(models)


def test_names_are_never_markup(models):
    shown = models._repr_html_()
    assert HOSTILE not in shown
    assert "&lt;img" in shown


def test_stored_models_answer_as_before(models):
    stored = pickle.loads(pickle.dumps(models))  # noqa: S301
    assert str(stored) == str(models)
    assert stored.table == models.table


def test_pictures_and_pages(models, tmp_path):
    optional("matplotlib")
    assert len(models.plot().lines_) == 3
    models.report(tmp_path / "models.html")
    assert (tmp_path / "models.html").stat().st_size > 10_000
