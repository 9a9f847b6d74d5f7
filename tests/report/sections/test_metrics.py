"""The table of all numbers."""

import re

import numpy as np

import secant
import secant.report
from secant.report import _numbers
from secant.report._definitions import DEFINITIONS
from secant.report.sections import metrics


def test_what_is_detectable_is_possible():
    few = secant.report.render(secant.assess([1], [0.3]))
    row = re.search(r"Detectable ECCE-R.*?</tr>", few)[0]
    assert ">none</td>" in row


def test_every_number_has_its_definition():
    # What has none would not be shown.
    result = secant.assess([1, *[0, 1] * 20], [0.0, *[0.4, 0.6] * 20])
    column = metrics._column(result, _numbers.model(result, most=100))
    assert set(column) <= set(DEFINITIONS)
    assert {"ECE, 15 equal widths", "Scores of 0 or 1 that were wrong"} <= set(column)


def test_what_one_model_lacks_is_a_dash():
    results = [secant.assess([0, 1, 0], p) for p in ([0.0, 0.5, 0.6], [0.0, 0.0, 0.6])]
    numbers = [_numbers.model(each, most=100) for each in results]
    table = metrics.section(["a", "b"], results, numbers)
    row = re.search(r"Scores of 0 or 1 that were wrong.*?</tr>", table)[0]
    assert re.findall(r"<td[^>]*>(.*?)</td>", row) == ["\N{EN DASH}", "1"]
    assert "<bdi>a</bdi>" in table
    assert ">Value</th>" in metrics.section(["a"], results[:1], numbers[:1])


def test_what_chance_gives_is_said_for_these_rows_and_their_clusters():
    rng = np.random.default_rng(0)
    cluster, score = np.repeat(np.arange(60), 20), np.repeat(rng.random(60), 20)
    happened = rng.random(60)[cluster] < score
    one = secant.assess(happened, np.full(1200, 0.4))
    together = secant.assess(happened, score, clusters=cluster)
    shown = [metrics._column(each, _numbers.model(each, most=100)) for each in (one, together)]
    assert shown[0]["ECCE-R, in sigma"].endswith(" (by chance 0.79)")
    known = together.by_chance(together.statistics[0][0])
    assert known > 4  # rows of one cluster are all alike: the variance is 20 times as large
    assert shown[1]["ECCE-R, in sigma"].endswith(f" (by chance {known:.2g})")
    assert [each.get("Clusters") for each in shown] == [None, "60"]
    assert set(shown[1]) <= set(DEFINITIONS)
