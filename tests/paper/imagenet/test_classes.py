"""The fair table: every predicted class assessed once."""

import csv
from itertools import pairwise

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError
from secant._inference.adjust import benjamini_hochberg, holm
from secant.paper import imagenet
from secant.paper.imagenet import Predictions
from secant.paper.imagenet.classes import by_predicted_class, to_csv
from secant.paper.imagenet.figures import imagenet_figures


def test_the_table_assesses_every_predicted_class_once(predictions):
    made_up = predictions(dict.fromkeys(range(30), 40), seed=1)
    table = by_predicted_class(made_up)
    assert sum(row["n"] for row in table) == len(made_up)
    assert (
        sorted(row["predicted_class"] for row in table)
        == np.unique(made_up.predicted_class).tolist()
    )
    assert all(a["pvalue"] <= b["pvalue"] for a, b in pairwise(table))
    for row in table:
        rows = made_up.predicted_class == row["predicted_class"]
        result = secant.assess(made_up.response[rows], made_up.score[rows])
        # Walks that are run together are added up in another order.
        assert row["pvalue"] == pytest.approx(result.ecce_r.pvalue, rel=1e-12)
        assert row["method"] == result.ecce_r.method
        assert row["accuracy"] == pytest.approx(made_up.response[rows].mean(), abs=1e-15)
        assert row["miscalibration"] == result.worst.miscalibration
    pvalues = [row["pvalue"] for row in table]
    np.testing.assert_array_equal([row["holm"] for row in table], holm(pvalues))
    adjusted = benjamini_hochberg(pvalues)
    np.testing.assert_array_equal([row["benjamini_hochberg"] for row in table], adjusted)


def test_splitting_by_the_true_class_selects_on_the_outcome():
    # A perfectly calibrated classifier of 50 classes, some more common than others.
    rng = np.random.default_rng(2)
    count, classes = 20_000, 50
    logits = rng.normal(0, 2, (count, classes)) + rng.normal(0, 1, classes)
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    true_class = (probabilities.cumsum(axis=1)[:, :-1] < rng.random((count, 1))).sum(axis=1)
    score, predicted = imagenet.top_one(logits)
    response = (predicted == true_class).astype(np.int8)
    fair = by_predicted_class(Predictions(score, response, true_class, predicted))
    assert min(row["holm"] for row in fair) > 0.05
    assert np.mean([row["pvalue"] <= 0.05 for row in fair]) < 0.15
    as_published = by_predicted_class(Predictions(score, response, predicted, true_class))
    assert np.mean([row["pvalue"] <= 0.05 for row in as_published]) > 0.5


def test_the_table_as_csv_keeps_every_digit(predictions):
    classes = ("plain", 'with "quotes", and comma', "<b>")
    table = by_predicted_class(predictions({0: 30, 1: 30, 2: 30}, classes=classes))
    rows = list(csv.DictReader(to_csv(table).splitlines()))
    assert [int(row["predicted_class"]) for row in rows] == [
        row["predicted_class"] for row in table
    ]
    assert [float(row["pvalue"]) for row in rows] == [row["pvalue"] for row in table]
    assert [float(row["holm"]) for row in rows] == [row["holm"] for row in table]
    assert {row["name"] for row in rows} == set(classes)


def test_the_table_needs_predicted_classes(predictions, tmp_path):
    optional("matplotlib")
    without = predictions({60: 20}, predicted_class=None)
    with pytest.raises(InputError, match="no column predicted_class"):
        by_predicted_class(without)
    report = imagenet_figures(without, tmp_path, only=[14], formats=["png"])
    assert report.table is None
    assert not (tmp_path / "imagenet_classes.csv").exists()
    assert "does not say which class" in report.page.read_text(encoding="utf-8")
