"""The extremes of the path, found on a device from end to end."""

import itertools

import numpy as np
import pytest

import secant
from helpers import optional
from plain_passes import SCORES, PlainPasses
from secant._input.options import Reading
from secant._metrics.ecce import Heights
from secant.sources.tensors import direct, gpu
from secant.sources.tensors.reading import columns

torch = optional("torch")
N = 300_003
FLOAT, DOUBLE = torch.float32, torch.float64
CASES = list(itertools.product((1.05, 1), (FLOAT, DOUBLE), (None, FLOAT, DOUBLE)))
on_a_device = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here"),
]


def rows(scores, power, kind, weighted, n=N):
    rng = np.random.default_rng(3)
    p = torch.tensor(SCORES[scores](rng, n)).to(kind)
    y = torch.tensor((rng.random(n) < p.double().numpy() ** power).astype(np.uint8))
    if weighted is None:
        return p, y, None
    return p, y, torch.tensor(rng.lognormal(size=n) * (rng.random(n) < 0.8)).to(weighted)


@pytest.mark.parametrize("weighted", [None, torch.float64])
@pytest.mark.parametrize("scores", SCORES)
def test_a_source_that_finds_the_extremes_is_not_asked_for_blocks(monkeypatch, scores, weighted):
    p, y, w = rows(scores, 1.05, torch.float64, weighted, 70_000)
    passes = PlainPasses(p, y, w)
    source = gpu.GpuSource(columns(y, p, w, Reading()), passes)
    arrays = [each if each is None else each.numpy() for each in (y, p, w)]
    expected = secant.assess(*arrays[:2], sample_weight=arrays[2], method="asymptotic")
    monkeypatch.setattr("secant._api.assess.open_source", lambda *_, **__: source)
    assert secant.ecce_r(y, p) == pytest.approx(expected.ecce_r.value, abs=1e-13)
    assert secant.ecce_mad(y, p) == pytest.approx(expected.ecce_mad.value, abs=1e-13)
    assert passes.calls == ["heights", "heights"]


def test_blocks_tell_where_the_extremes_are_not_found(monkeypatch):
    p, y, _ = rows("uniform", 1, torch.float64, None, 70_000)
    expected = secant.ecce_r(y.numpy(), p.numpy())
    passes = PlainPasses(p, y)
    monkeypatch.setattr(passes, "heights", lambda: None)
    source = gpu.GpuSource(columns(y, p, None, Reading()), passes)
    monkeypatch.setattr("secant._api.assess.open_source", lambda *_, **__: source)
    assert secant.ecce_r(y, p) == pytest.approx(expected, abs=1e-14)
    p[7] = np.nan
    source = gpu.GpuSource(columns(y, p, None, Reading()), PlainPasses(p, y))
    with pytest.raises(secant.InputError, match=r"y_prob\[7\] is nan"):
        secant.ecce_r(y, p)


def test_the_metrics_of_extremes():
    assert Heights(0.2, -0.3).ecce_r == 0.5
    assert Heights(0.2, -0.3).ecce_mad == 0.3


class TestOnADevice:
    """The kernels themselves, against a path in the order of a sort."""

    pytestmark = on_a_device

    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch):
        monkeypatch.setattr(direct, "TAKE_AT_LEAST", 1 << 14)

    @pytest.mark.parametrize("case", CASES, ids=str)
    @pytest.mark.parametrize("scores", SCORES)
    @pytest.mark.parametrize("route", ["sort", "cells, few rows taken", "cells, many"])
    def test_heights(self, monkeypatch, route, scores, case):
        for limit in ("SORT_UP_TO", "SORT_LONG_UP_TO"):
            monkeypatch.setattr(direct, limit, N if route == "sort" else 0)
        monkeypatch.setattr(direct, "TAKE_SHARE", 0.5 if route.endswith("many") else 0.03)
        p, y, w = rows(scores, *case)
        expected = PlainPasses(p, y, w).heights()
        there = [each if each is None else each.cuda() for each in (p, y, w)]
        found, again = (direct.DirectPasses(*there).heights() for _ in range(2))
        assert found == again
        assert found.maximum / N == pytest.approx(expected.maximum / N, abs=1e-12)
        assert found.minimum / N == pytest.approx(expected.minimum / N, abs=1e-12)
        assert found.weight == pytest.approx(expected.weight, rel=1e-12)
        assert found.variance == pytest.approx(expected.variance, rel=1e-12)

    @pytest.mark.parametrize("sort", [False, True])
    @pytest.mark.parametrize("fault", [float("nan"), 1.5, -0.1, float("inf")])
    def test_faults_are_left_to_others(self, monkeypatch, fault, sort):
        for limit in ("SORT_UP_TO", "SORT_LONG_UP_TO"):
            monkeypatch.setattr(direct, limit, N if sort else 0)
        p, y, w = (each.cuda() for each in rows("uniform", 1, torch.float32, torch.float32))
        assert direct.DirectPasses(p, y, w).heights() is not None
        assert direct.DirectPasses(p, y + 2, w).heights() is None
        assert direct.DirectPasses(p, y, 0 * w).heights() is None
        assert direct.DirectPasses(p, y, w - 1).heights() is None
        p[N - 2] = fault
        assert direct.DirectPasses(p, y, w).heights() is None
        assert direct.DirectPasses(p, y, None).heights() is None

    def test_weights_far_above_those_of_the_sample(self, monkeypatch):
        for limit in ("SORT_UP_TO", "SORT_LONG_UP_TO"):
            monkeypatch.setattr(direct, limit, 0)
        p, y, w = rows("uniform", 1.05, torch.float32, torch.float32)
        w[[5, 70_001]] = 1e9
        expected = PlainPasses(p, y, w).heights()
        found = direct.DirectPasses(p.cuda(), y.cuda(), w.cuda()).heights()
        assert found.maximum / found.weight == pytest.approx(
            expected.maximum / expected.weight, abs=1e-12
        )
