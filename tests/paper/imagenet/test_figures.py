"""Figures 11 to 34, from real and from made-up predictions."""

import json

import numpy as np
import pytest

import digits
import secant
from helpers import optional
from secant import InputError
from secant.paper import imagenet
from secant.paper.imagenet import Predictions, subsets
from secant.paper.imagenet.figures import assess_subsets, imagenet_figures
from secant.paper.imagenet.subsets import PAPER_IMAGES


def test_metrics_are_those_of_the_images_of_the_true_class(predictions):
    made_up = predictions({60: 700, 68: 9, 5: 300})
    by_class = {each.subset.true_class: each for each in assess_subsets(made_up)}
    for number, each in by_class.items():
        rows = slice(None) if number is None else made_up.true_class == number
        y, p = made_up.response[rows], made_up.score[rows]
        if not len(p):
            assert each.result is None
            continue
        assert each.result.ecce_r.value == pytest.approx(secant.ecce_r(y, p), abs=1e-15)
        for row in each.ece:
            strategy = {"equispaced": "uniform", "equal-count": "quantile"}[row["bins"]]
            options = {"n_bins": row["n_bins"], "strategy": strategy, "weighting": "width"}
            assert row["ece1"] == pytest.approx(secant.ece(y, p, **options), abs=1e-15)
            squared = secant.ece(y, p, norm="l2", squared=True, **options)
            assert row["ece2"] == pytest.approx(squared, abs=1e-15)
            assert 0 < row["floor2"] <= row["floor1"]
    assert len(by_class[60].ece) == 2 * 8  # 4 to 512, both kinds


def test_our_numbers_stand_beside_those_of_the_paper(predictions):
    [*_, full] = assess_subsets(predictions({1: 100}))
    assert [row.theirs for row in full.comparisons] == ["0.03306", "111.7", "0.03306", "111.7"]
    assert not any(row.agrees for row in full.comparisons)
    assert all("other predictions" in row.note for row in full.comparisons)


def test_as_many_images_as_in_the_paper_are_judged():
    # One wrong answer at a time moves the metric from what the paper prints by 1e-6.
    score = np.full(PAPER_IMAGES, 0.75)
    response = np.zeros(PAPER_IMAGES, np.int8)
    response[: round(PAPER_IMAGES * (0.75 - 0.03306))] = 1
    [full] = assess_subsets(Predictions(score, response, np.zeros(PAPER_IMAGES, int), None), {34})
    assert [row.agrees for row in full.comparisons] == [True, False, True, False]
    assert [row.note for row in full.comparisons] == [""] * 4


def test_few_images_are_drawn_as_far_as_they_go(predictions, tmp_path):
    optional("matplotlib")
    made_up = predictions({60: 1, 68: 3, 248: 5, 342: 9})
    report = imagenet_figures(
        made_up, tmp_path, only=[11, 13, 15, 19, 21, 25, 26, 27], formats=["png"]
    )
    drawn = [figure.number for each in report.subsets for figure in each.figures]
    assert drawn == [19, 25, 26]
    notes = "\n".join(note for each in report.subsets for note in each.notes)
    assert "Figure 11 needs at least 4 images; there are 1." in notes
    assert "Figure 13: 1 image cannot fill 8 or 32 bins." in notes
    assert "Figure 15 needs at least 4 images; there are 3." in notes
    assert "Figure 21: 5 images cannot fill 8 or 32 bins." in notes
    assert "Figure 25: 9 images cannot fill 32 bins." in notes
    assert "There is no image of true class 837" in notes
    page = report.page.read_text(encoding="utf-8")
    for note in notes.splitlines():
        assert note in page
    assert sorted(path.name for path in tmp_path.glob("figure*")) == [
        "figure19.png",
        "figure25.png",
        "figure26.png",
    ]


def test_sure_and_right_predictions_can_be_drawn(tmp_path):
    optional("matplotlib")
    sure = Predictions(np.ones(40), np.ones(40, np.int8), np.full(40, 60), np.full(40, 60))
    report = imagenet_figures(sure, tmp_path, only=range(11, 15), formats=["png"])
    assert [figure.number for figure in report.subsets[0].figures] == [11, 12, 13, 14]
    assert report.table[0]["pvalue"] == 1
    assert json.loads((tmp_path / "imagenet.json").read_text(encoding="utf-8"))["subsets"]


def test_an_unknown_figure_is_refused(predictions, tmp_path):
    with pytest.raises(InputError, match="Figures 11 to 34 are of ImageNet; got 7"):
        imagenet_figures(predictions({60: 5}), tmp_path, only=[7, 11])


def test_from_images_to_figures(tmp_path):
    optional("matplotlib")
    optional("pyarrow")
    options = {"classes": 1000, "places": digits.IMAGENET_PLACES}
    root = digits.write_tree(tmp_path / "images", count=400, **options)
    classifier = digits.classifier(**options)
    out = tmp_path / "preds.parquet"
    imagenet.score_to_file(imagenet.list_images(root), classifier, out, batch_size=64)
    told = []
    wanted = [11, 12, 13, 14, 31, 34]
    report = imagenet_figures(
        out,
        tmp_path / "paper",
        only=wanted,
        formats=["png"],
        progress=lambda share, doing: told.append((share, doing)),
    )
    drawn = [figure.number for each in report.subsets for figure in each.figures]
    assert drawn == wanted
    doing = list(dict.fromkeys(doing for _, doing in told))
    assert doing == [*(f"Figure {number}" for number in wanted), "Predicted classes", "Written"]
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-2:] == [1, 1]
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    assert names == {f"figure{number}.png" for number in wanted} | {
        "imagenet.html",
        "imagenet.json",
        "imagenet_classes.csv",
    }
    rows = digits.expected(root, **options)
    y = [int(true == best) for _, true, best, _ in rows]
    p = [score for *_, score in rows]
    numbers = json.loads((tmp_path / "paper" / "imagenet.json").read_text(encoding="utf-8"))
    full = numbers["subsets"][-1]
    assert full["n"] == 400
    assert full["ecce_r"] == pytest.approx(secant.ecce_r(y, p), abs=1e-12)
    night_snakes = [row for row in rows if row[1] == 60]
    assert numbers["subsets"][0]["n"] == len(night_snakes) > 30
    assert {row["name"] for row in report.table} <= {
        f"class{place:03d}" for place in digits.IMAGENET_PLACES
    }
    assert sum(row["n"] for row in report.table) == 400


def test_real_predictions_of_the_validation_set(shared_data, tmp_path):
    optional("pyarrow")
    optional("matplotlib")
    report = imagenet_figures(
        shared_data / "imagenet_val_resnet50_top1.parquet", tmp_path, only=[14, 34], formats=["png"]
    )
    night_snake, full = report.subsets
    assert night_snake.result.n == 50
    assert full.result.n == 50_000
    assert full.result.worst.direction == "too high"
    assert len(report.table) == 1000
    found = sum(row["holm"] <= 0.05 for row in report.table)
    alone = sum(row["pvalue"] <= 0.05 for row in report.table)
    assert 10 < found < alone / 2
    assert not report.as_in_the_paper
    assert subsets.PAPER_IMAGES == 1_281_167
