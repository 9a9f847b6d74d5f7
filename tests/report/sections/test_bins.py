"""What moves with the bins, and what does not."""

import pickle

import numpy as np
import pytest

import secant
from pages import chosen, drag


def test_the_slider_moves_the_ece_and_not_the_ecce(visit, paper, paper_page):
    with visit(paper_page) as page:
        assert page.inner_text("dd.ecce") == "0.0229"
        assert page.inner_text("dd.ece") == f"{paper.ece(n_bins=15).value:.3g}"
        page.focus("#bins-slider")
        page.keyboard.press("End")
        assert page.inner_text("#bins-count") == "4096"
        assert page.inner_text("dd.ece") == f"{paper.ece(n_bins=4096).value:.3g}"
        page.check("[value=quantile]")
        many = paper.ece(n_bins=4096, strategy="quantile")
        assert page.inner_text("dd.ece") == f"{many.value:.3g}"
        assert page.inner_text("dd.noise_floor") == f"{many.noise_floor:.3g}"
        assert page.get_attribute(".dots", "d").count("M") == 4096
        assert page.inner_text("dd.ecce") == "0.0229"


def test_dots_stand_where_bins_are(visit, paper, paper_page):
    with visit(paper_page) as page:
        bins = paper.reliability(n_bins=15)
        drawn = [each.split() for each in page.get_attribute(".dots", "d").split("M")[1:]]
        x, y = np.array([[float(a), float(b.removesuffix("h0"))] for a, b in drawn]).T
        low, high = (float(page.get_attribute(".square", f"data-{end}")) for end in ("low", "high"))
        assert low + x / 1000 * (high - low) == pytest.approx(bins.mean_score, abs=1e-4)
        assert high - y / 1000 * (high - low) == pytest.approx(bins.mean_response, abs=1e-4)


def test_rare_events_start_with_bins_of_equal_count(visit, tmp_path):
    rng = np.random.default_rng(1)
    scores = rng.beta(1, 200, 20_000)
    secant.assess(rng.random(20_000) < scores, scores).report(tmp_path / "rare.html")
    with visit(tmp_path / "rare.html") as page:
        assert page.is_checked("[value=quantile]")
        assert page.get_attribute(".dots", "d").count("M") == 15


def test_few_predictions_have_no_bins_of_equal_count(visit, tmp_path):
    secant.assess([0, 1, 1], [0.2, 0.4, 0.6]).report(tmp_path / "few.html")
    with visit(tmp_path / "few.html") as page:
        assert page.is_disabled("[value=quantile]")
        assert page.inner_text("dd.ece") == "0.400"  # (0.2 + 0.6 + 0.4) / 3


def test_without_predictions_it_says_so(visit, tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.random(100_000)
    result = secant.assess(rng.random(100_000) < scores, scores)
    path = tmp_path / "gone.html"
    pickle.loads(pickle.dumps(result)).report(path)  # noqa: S301  (our own)
    with visit(path) as page:
        assert "no longer has its predictions" in page.inner_text("#bins")
        assert page.locator("#bins-slider").count() == 0
        drag(page, 0.2, 0.4)
        assert chosen(page)["n"] == pytest.approx(20_000, rel=0.02)
