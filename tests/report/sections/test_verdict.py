"""The answer on the page: a headline, a sentence and figures; or a table of models."""

import re

import numpy as np

import secant
import secant.report
from secant._results import model_words
from secant._results import verdict as words
from secant._results.verdict import what_now, where
from secant._results.wording import decided, metric, points, pvalue
from secant.report import Provenance
from secant.report.sections import verdict


def plain(markup: str) -> str:
    """Return the text of some HTML, without what is shown on hovering."""
    markup = re.sub(r'<span role="tooltip">.*?</span>', "", markup)
    return re.sub("<[^>]*>", " ", markup)


def test_the_words_are_those_of_the_printed_verdict(paper, paper_page):
    text = paper_page.read_text(encoding="utf-8")
    headline, _, rest = str(paper).split("\n")[0].partition(". ")
    assert f"<strong>{headline}.</strong> {rest}" in text
    assert f"<li>{what_now(paper)}</li>" in text
    # The P-value that decides, and those of both parts.
    assert str(paper).split("\n")[1] in text


def test_a_headline_that_a_gate_gives_takes_the_place_of_the_result_s(paper):
    about = Provenance(headlines={"a": "Calibrated within 0.5, as far as 95% goes"})
    shown = verdict.verdicts(["a"], [paper], [], about=about)
    assert "<strong>Calibrated within 0.5, as far as 95% goes.</strong>" in shown
    assert words.headline(paper) not in shown


def test_the_strip_has_four_figures_and_prose_repeats_none(paper):
    shown = verdict.verdicts(["a"], [paper], [])
    values = re.findall(r"<dd>(.*?)</dd>", shown)
    assert values == ["0.0229", "\N{GREATER-THAN OR EQUAL TO} 11.5 points", "0.180", "66.7%"]
    below = " ".join(re.findall(r'<dd class="small">(.*?)</dd>', shown))
    assert "23 events in 1,000" in below
    assert "too low, scores 0.004 to 0.213" in below
    assert "0.00268 is miscalibration; log loss 0.539" in below
    assert "mean outcome 65.4%" in below
    prose = plain(re.sub("<dl.*?</dl>", "", shown))
    for number in ("0.0229", "11.5", "0.180", "66.7", "65.4", "0.539"):
        assert number not in prose


def test_the_steepest_place_stands_in_the_strip_alone():
    rng = np.random.default_rng(2)
    scores = rng.random(20_000)
    narrow = (scores > 0.5) & (scores < 0.53)
    result = secant.assess(rng.random(20_000) < np.where(narrow, 0.02, 0.98 * scores), scores)
    assert "Somewhere predictions are" in where(result)
    shown = plain(verdict.verdicts(["a"], [result], []))
    assert shown.count(f"{points(result.steepest.at_least)} points") == 1


def test_where_nothing_was_found_no_place_is_the_steepest():
    shown = plain(verdict.verdicts(["a"], [secant.assess([0, 1], [0.4, 0.5])], []))
    assert "none shown" in shown
    wrong = secant.assess([1, *[0, 1] * 20], [0.0, *[0.4, 0.6] * 20])
    assert "log loss infinite" in plain(verdict.verdicts(["a"], [wrong], []))


def test_several_models_are_a_table_best_first():
    rng = np.random.default_rng(5)
    scores = rng.random(3000)
    happened = rng.random(3000) < scores
    results = [secant.assess(happened, scores**power) for power in (2, 1, 1.3)]
    shown = verdict.verdicts(["a", "b", "c"], results, [])
    rows = [plain(row).split() for row in re.findall("<tr>.*?</tr>", shown)][1:]
    assert [row[0] for row in rows] == ["b", "c", "a"]
    for row, result in zip(rows, (results[1], results[2], results[0]), strict=True):
        assert metric(result.ecce_r.value) in row
        assert metric(result.brier.value) in row
        assert metric(result.log_loss.value) in row
    assert "2 of 3 models are found to be miscalibrated at 5%." in shown
    assert rows[0][1:4] == ["nothing", "found", "beyond"]


def test_several_kinds_of_intervals_have_what_was_promised_and_no_losses():
    rng = np.random.default_rng(5)
    y = rng.normal(size=1500)
    results = [secant.assess_coverage(y, y * 0 - end, y * 0 + end, 0.9) for end in (1, 9)]
    shown = plain(verdict.verdicts(["a", "b"], results, []))
    for each in ("promised", "covered", "90%", "100%", "Coverage of 2 of 2 models is off at 5%."):
        assert each in shown
    for each in ("Brier", "log loss", "miscalibrat"):
        assert each not in shown
    right = secant.assess_coverage(y, y * 0 - 1.645, y * 0 + 1.645, 0.9)
    shown = plain(verdict.verdicts(["a", "b"], [right, right], []))
    assert "No fault in coverage found at 5%." in shown


def test_several_models_keep_hints_comparison_and_p_values():
    rng = np.random.default_rng(5)
    scores = rng.random(3000)
    happened = rng.random(3000) < scores
    models = secant.assess_models(
        happened, {"good": scores, "inv": 1 - scores, "hard": (scores > 0.5).astype(float)}
    )
    shown = plain(secant.report.render(models))
    for result in models.values():
        assert what_now(result) in shown
        assert decided(result).removeprefix("= ").replace("<", "&lt;") in shown
        assert pvalue(result.ecce_r).removeprefix("= ").replace("<", "&lt;") in shown
    for sentence in model_words.words_of(models):
        assert sentence in shown
    assert " good  has the smallest Brier score." in plain(secant.report.render(dict(models)))


def test_the_gate_stands_beside_the_headline():
    results = [secant.assess([0, 1], [0.4, 0.5])] * 2
    about = Provenance(gate=["Gate failed: <b>."])
    for names in ([], ["a"], ["a", "b"]):
        shown = verdict.verdicts(names, results[: len(names)], [], about=about)
        assert '<p class="verdict gate">Gate failed: &lt;b&gt;.</p>' in shown
        assert len(names) != 1 or shown.index("Gate failed") < shown.index("<dl")


def test_wrong_certainties_are_not_called_noise():
    happened = np.r_[[1], np.tile([0, 1, 1, 0], 10)]
    result = secant.assess(happened, np.r_[[0.0], np.tile([0.4, 0.6, 0.4, 0.6], 10)])
    assert result.n_forbidden == 1
    assert not result.found
    shown = plain(verdict.verdicts(["a"], [result], []))
    assert "but for 1 wrong score of exactly 0 or 1, nothing is off beyond noise" in shown


def test_one_score_is_not_written_as_a_range():
    result = secant.assess([1] * 63 + [0] * 37, [0.3] * 100)
    assert "too low, scores of 0.300" in plain(verdict.verdicts(["a"], [result], []))
