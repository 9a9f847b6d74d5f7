"""What a monitor has found: the same numbers as attributes, in JSON and in a notebook."""

import json
import math
import re

import numpy as np
import pytest

from helpers import HOSTILE
from monitors import watched
from secant import Monitor, MonitorHistory, Period, Where
from secant._inference.evalues import FINE


@pytest.fixture(scope="module")
def off():
    return watched().history


@pytest.fixture(scope="module")
def calm():
    return watched(change=99).history


def test_it_is_a_sequence_of_periods(off):
    assert isinstance(off, MonitorHistory)
    assert len(off) == 30
    assert all(isinstance(each, Period) for each in off)
    assert off[0] is off.periods[0]
    assert off[-2:] == off.periods[-2:]
    assert off.n == sum(each.n for each in off)


def test_pvalues_only_fall_and_belong_to_the_largest_evidence(off):
    pvalues = [each.pvalue for each in off]
    assert pvalues == sorted(pvalues, reverse=True)
    largest = np.maximum.accumulate([each.evidence for each in off])
    assert pvalues == pytest.approx(np.minimum(1 / largest, 1))
    assert [each.alarm for each in off] == [p <= off.alpha for p in pvalues]
    assert off.pvalue == pvalues[-1]
    first = next(each for each in off if each.alarm)
    assert first.time == off.alarm_time


def test_evidence_beyond_doubles():
    monitor = Monitor()
    for _ in range(3):
        monitor.add(np.ones(5000), np.full(5000, 0.2))
    history = monitor.history
    assert history[-1].evidence == math.inf
    assert history.pvalue == 0
    assert history.log10_pvalue < -1000
    said = re.search(r"\(P = (\d\.\d)e(-\d+), valid", str(history))
    shown = math.log10(float(said[1])) + int(said[2])
    assert shown == pytest.approx(history.log10_pvalue, rel=0, abs=0.05)
    assert json.dumps(history.to_dict(), allow_nan=False)


def test_where_tells_what_happened_since(off):
    where = off.where
    assert isinstance(where, Where)
    since = [each for each in off if each.time >= off.since]
    assert where.n == sum(each.n for each in since)
    assert where.mean_response == pytest.approx(sum(each.events for each in since) / where.n)
    assert str(where) == "all scores are too high"
    assert str(Where(0.1, 0.25, "too low", 5, 0.2, 0.3)) == "scores 0.100 to 0.250 are too low"


def test_stretches_hold_all_predictions(off, calm):
    before, since = off.episodes
    assert before.name == f"Before {off.since}"
    assert since.name == f"Since {off.since}"
    assert before.n.sum() + since.n.sum() == off.n
    assert before.batches + since.batches == len(off)
    [everything] = calm.episodes
    assert everything.n.sum() == calm.n
    assert len(everything.n) == FINE
    curve = everything.curve
    assert (curve.score[0], curve.score[-1], curve.fraction[-1]) == (0, 1, 1)
    gap = sum(each.events - each.n * each.mean_score for each in calm) / calm.n
    assert curve.difference[-1] == pytest.approx(gap, abs=1e-12)
    assert everything.noise == pytest.approx(math.sqrt(1 / 6 / calm.n), rel=0.01)
    assert not everything.weighted


def test_few_predictions_are_one_stretch():
    monitor = Monitor()
    monitor.add([0, 1], [0.2, 0.4])
    monitor.add([], [])
    [everything] = monitor.history.episodes
    assert (everything.n.sum(), everything.events.sum()) == (2, 1)
    assert everything.scored.sum() == pytest.approx(0.6)
    assert "Fewer than 160 predictions so far" in str(monitor)


def test_json_has_every_number_and_a_version(off):
    found = json.loads(json.dumps(off.to_dict(), allow_nan=False))
    assert found["schema"] == 1
    assert found["since"] == str(off.since)
    assert found["where"]["direction"] == "too high"
    assert len(found["history"]) == 30
    assert set(found["history"][0]) >= {"time", "n", "events", "evidence", "pvalue", "alarm"}
    assert found["history"][3]["time"] == "2026-01-04"
    empty = Monitor()
    empty.add([], [])
    assert (
        json.loads(json.dumps(empty.to_dict(), allow_nan=False))["history"][0]["mean_score"] is None
    )


def test_in_a_notebook(off):
    html = off._repr_html_()
    assert html.startswith("<div><div><b>Alarm at ")
    assert "<svg" in html
    hostile = watched(days=2, change=9, name=lambda day: f"{HOSTILE}{day}")
    assert HOSTILE not in hostile._repr_html_()
    assert "&lt;img" in hostile._repr_html_()
    assert "<svg" not in Monitor()._repr_html_()
