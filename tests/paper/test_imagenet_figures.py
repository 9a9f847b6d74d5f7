"""Figures 11 to 34 and the fair table, from real and from made-up predictions."""

import csv
import json
from itertools import pairwise

import numpy as np
import pytest

import digits
import secant
from helpers import optional
from secant import InputError
from secant._inference.adjust import benjamini_hochberg, holm
from secant.paper import imagenet
from secant.paper.imagenet import Predictions, subsets
from secant.paper.imagenet.classes import by_predicted_class, to_csv
from secant.paper.imagenet.figures import NUMBERS, assess_subsets, imagenet_figures
from secant.paper.imagenet.subsets import PAPER_IMAGES, SUBSETS


def predictions(sizes, seed=0, **changes):
    """Make up predictions for some numbers of images of some true classes."""
    rng = np.random.default_rng(seed)
    true_class = np.repeat(list(sizes), list(sizes.values()))
    score = rng.beta(2, 0.7, len(true_class))
    right = rng.random(len(score)) < score**1.3
    predicted = np.where(right, true_class, rng.permutation(true_class))
    columns = {
        "score": score,
        "response": (predicted == true_class).astype(np.int8),
        "true_class": true_class,
        "predicted_class": predicted,
        **changes,
    }
    return Predictions(**columns)


# --- what the paper shows -------------------------------------------------------------------------


def test_the_figures_are_eleven_to_thirty_four():
    numbers = [number for subset in SUBSETS for number in subset.figures]
    assert numbers == list(NUMBERS) == list(range(11, 35))
    assert [subset.true_class for subset in SUBSETS] == [60, 68, 248, 342, 837, None]


@pytest.mark.parametrize(
    ("n", "of_a_class", "of_all"),
    [
        (3, [], []),
        (4, [4], [4]),
        (50, [4, 8, 16, 32], [4, 8, 16, 32]),
        (1300, [2**k for k in range(2, 11)], [2**k for k in range(2, 11)]),
        (PAPER_IMAGES, [2**k for k in range(2, 11)], [2**k for k in range(2, 13)]),
    ],
)
def test_numbers_of_bins(n, of_a_class, of_all):
    assert SUBSETS[0].bin_counts(n) == of_a_class
    assert SUBSETS[-1].bin_counts(n) == of_all


def test_metrics_are_those_of_the_images_of_the_true_class():
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


def test_our_numbers_stand_beside_those_of_the_paper():
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


# --- few images -----------------------------------------------------------------------------------


def test_few_images_are_drawn_as_far_as_they_go(tmp_path):
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


# --- the fair table -------------------------------------------------------------------------------


def test_the_table_assesses_every_predicted_class_once():
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
        assert row["pvalue"] == result.ecce_r.pvalue
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


def test_the_table_as_csv_keeps_every_digit():
    classes = ("plain", 'with "quotes", and comma', "<b>")
    table = by_predicted_class(predictions({0: 30, 1: 30, 2: 30}, classes=classes))
    rows = list(csv.DictReader(to_csv(table).splitlines()))
    assert [int(row["predicted_class"]) for row in rows] == [
        row["predicted_class"] for row in table
    ]
    assert [float(row["pvalue"]) for row in rows] == [row["pvalue"] for row in table]
    assert [float(row["holm"]) for row in rows] == [row["holm"] for row in table]
    assert {row["name"] for row in rows} == set(classes)


def test_the_table_needs_predicted_classes(tmp_path):
    optional("matplotlib")
    without = predictions({60: 20}, predicted_class=None)
    with pytest.raises(InputError, match="no column predicted_class"):
        by_predicted_class(without)
    report = imagenet_figures(without, tmp_path, only=[14], formats=["png"])
    assert report.table is None
    assert not (tmp_path / "imagenet_classes.csv").exists()
    assert "does not say which class" in report.page.read_text(encoding="utf-8")


# --- the page -------------------------------------------------------------------------------------


def test_names_from_data_are_escaped(tmp_path):
    optional("matplotlib")
    evil = "<script>alert('x')</script>"
    made_up = predictions(
        {0: 30, 1: 30},
        classes=(evil, "b"),
        made={"weights": evil, "unreadable": [{"path": evil, "reason": evil}]},
    )
    report = imagenet_figures(made_up, tmp_path, only=[34], formats=["png"])
    page = report.page.read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4


def test_the_page_warns_and_shows_what_was_drawn(tmp_path):
    optional("matplotlib")
    report = imagenet_figures(predictions({60: 40}), tmp_path, only=[14, 34], formats=["png"])
    page = report.page.read_text(encoding="utf-8")
    assert "selects on the outcome" in page
    assert [name for name in ("figure14.png", "figure34.png") if f'src="{name}"' in page] == [
        path.name for path in sorted(tmp_path.glob("*.png"))
    ]
    assert not list(tmp_path.glob(".*"))  # nothing is left of what was drawn elsewhere first


def test_an_unknown_figure_is_refused(tmp_path):
    with pytest.raises(InputError, match="Figures 11 to 34 are of ImageNet; got 7"):
        imagenet_figures(predictions({60: 5}), tmp_path, only=[7, 11])


# --- from images to figures -----------------------------------------------------------------------


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


def test_artists_show_the_numbers():
    optional("matplotlib")
    made_up = predictions({60: 300})
    first, diagrams, equal_count, cumulative = (
        figure.draw(None) for figure in next(assess_subsets(made_up)).figures
    )
    each = next(assess_subsets(made_up))
    observed, floor = first.axes[0].lines
    rows = [row for row in each.ece if row["bins"] == "equispaced"]
    np.testing.assert_array_equal(
        observed.get_xydata(), [(row["n_bins"], row["ece1"]) for row in rows]
    )
    np.testing.assert_array_equal(floor.get_ydata(), [row["floor1"] for row in rows])
    assert [ax.get_title("left") for ax in diagrams.axes] == [
        "8 equispaced bins",
        "32 equispaced bins",
    ]
    assert [ax.get_title("left") for ax in equal_count.axes] == [
        "8 equal-count bins",
        "32 equal-count bins",
    ]
    assert "selected by outcome" in cumulative.get_suptitle()
    words = " ".join(text.get_text() for text in cumulative.axes[0].texts)
    assert "95% limits" not in words  # which would not hold


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
