"""The page of the ImageNet figures."""

import math

import pytest

from helpers import optional
from secant.paper.imagenet.figures import imagenet_figures
from secant.paper.imagenet.page import _power


def test_names_from_data_are_escaped(predictions, tmp_path):
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


def test_the_page_warns_and_shows_what_was_drawn(predictions, tmp_path):
    optional("matplotlib")
    report = imagenet_figures(predictions({60: 40}), tmp_path, only=[14, 34], formats=["png"])
    page = report.page.read_text(encoding="utf-8")
    assert "selects on the outcome" in page
    assert [name for name in ("figure14.png", "figure34.png") if f'src="{name}"' in page] == [
        path.name for path in sorted(tmp_path.glob("*.png"))
    ]
    assert not list(tmp_path.glob(".*"))  # nothing is left of what was drawn elsewhere first


@pytest.mark.parametrize(
    ("value", "log10", "words"),
    [(0.0123, -1.91, "0.012"), (0.0, -400.4, "1e-401"), (0.0, -math.inf, "0")],
)
def test_a_pvalue_too_small_for_a_number_keeps_its_power(value, log10, words):
    assert _power(value, log10) == words
