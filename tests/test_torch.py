"""secant.torch: the metric for training loops, and confidences from logits."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import secant
from helpers import PACKAGE, ROOT, optional

torch = optional("torch")
optional("torchmetrics")
from secant.torch import CalibrationError, from_logits  # noqa: E402

KEYS = {"ecce_r", "ecce_mad", "sigma", "pvalue", "ecce_r_bounds", "ecce_mad_bounds"}


def drawn(n=20_000, seed=0, power=1.1):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    p[: n // 10] = rng.integers(0, 2, n // 10)
    return torch.tensor(p), torch.tensor(rng.random(n) < p**power)


def fed(metric, preds, target, size=997):
    for start in range(0, len(preds), size):
        metric.update(preds[start : start + size], target[start : start + size])
    return metric


def numbers(metric):
    metric._computed = None
    return {name: value.tolist() for name, value in metric.compute().items()}


def test_it_is_what_cells_say():
    p, y = drawn()
    metric = fed(CalibrationError(), p, y)
    cells = secant.Cells()
    cells.update(y, p)
    found, bounds = metric.compute(), cells.bounds()
    assert set(found) == KEYS
    for name in ("ecce_r", "ecce_mad"):
        assert found[f"{name}_bounds"].tolist() == pytest.approx(getattr(bounds, name), abs=1e-14)
        low, high = found[f"{name}_bounds"].tolist()
        assert low <= float(found[name]) <= high
        assert low <= getattr(secant, name)(y, p) <= high
    assert float(found["sigma"]) == pytest.approx(bounds.sigma, rel=1e-14)
    low, high = bounds.ecce_r_pvalue
    assert low <= float(found["pvalue"]) <= high


def test_the_state_is_cells(tmp_path):
    p, y = drawn()
    metric = fed(CalibrationError(), p, y)
    cells = secant.Cells()
    cells.update(y, p)
    state = metric.cells
    for name, column in cells._sums.columns().items():
        np.testing.assert_allclose(state._sums.columns()[name], column, atol=1e-12, err_msg=name)
    assert (state.n, state.forbidden) == (cells.n, cells.forbidden)
    state.save(tmp_path / "state")
    again = secant.Cells.load(tmp_path / "state")
    assert again.bounds() == state.bounds()
    assert (again + cells).n == 2 * cells.n


@pytest.mark.parametrize("scale", [1e-5, 1e-9, 1e-14, 1e-25])
def test_a_state_of_tiny_scores_can_be_stored(tmp_path, scale):
    p, y = drawn()
    metric = fed(CalibrationError(), p * scale, torch.zeros_like(y))
    metric.cells.save(tmp_path / "state")
    assert secant.Cells.load(tmp_path / "state").n == len(p)
    expected = secant.assess(torch.zeros_like(y), p * scale, method="asymptotic").sigma
    assert float(metric.compute()["sigma"]) == pytest.approx(
        expected, rel=1e-4 if scale < 1e-20 else 1e-8
    )


def test_order_pieces_and_merging_change_no_bit():
    p, y = drawn()
    whole = fed(CalibrationError(), p, y)
    order = torch.randperm(len(p), generator=torch.Generator().manual_seed(1))
    first = fed(CalibrationError(), p[order[:7000]], y[order[:7000]], 64)
    second = fed(CalibrationError(), p[order[7000:]], y[order[7000:]], 5000)
    if hasattr(first, "merge_state"):  # since torchmetrics 1.6
        first.merge_state(second)
    else:
        first.update(p[order[7000:]], y[order[7000:]])
    for name in ("counts", "places", "remainders", "squares", "forbidden"):
        assert torch.equal(getattr(first, name), getattr(whole, name)), name
    assert first.compute()["ecce_r"] == whole.compute()["ecce_r"]


def test_top_label_is_what_assess_classes_finds():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([0.5] * 5, 4000)
    truth = rng.integers(0, 5, 4000)
    metric = CalibrationError(task="top-label")
    metric.update(torch.tensor(probs), torch.tensor(truth))
    expected = secant.ecce_r(probs.argmax(1) == truth, probs.max(1))
    low, high = metric.compute()["ecce_r_bounds"].tolist()
    assert low <= expected <= high


def test_a_fault_changes_nothing_and_names_the_argument():
    p, y = drawn(1000)
    metric = fed(CalibrationError(), p, y)
    before = numbers(metric)
    for preds, target, words in [
        (p * 8 - 4, y, r"preds\[0\].*logits"),
        (p.index_fill(0, torch.tensor([7]), float("nan")), y, r"preds\[7\] is nan"),
        (p, y.double() + 0.5, r"target\[0\] is"),
        (p[:5], y, "preds must have the shape of target"),
        (torch.stack([p, 1 - p], 1), y, "preds must have the shape of target"),
    ]:
        with pytest.raises(secant.InputError, match=words):
            metric.update(preds, target)
    assert numbers(metric) == before
    with pytest.raises(secant.InputError, match=r"target\[100\] .* the two look swapped"):
        metric.update(y, p)
    with pytest.raises(secant.InputError, match="column a class"):
        CalibrationError(task="top-label").update(p, y)
    with pytest.raises(secant.InputError, match="task must be one of 'binary', 'top-label'"):
        CalibrationError(task="multiclass")
    with pytest.raises(secant.InputError, match="power of two"):
        CalibrationError(n_cells=1000)


@pytest.mark.parametrize("wrong", [3, -1, -100, 0.5, float("nan")])
def test_a_target_that_is_no_class_is_refused(wrong):
    """It would count as a prediction that was wrong."""
    metric = CalibrationError(task="top-label")
    probs = torch.full((2, 2, 3), 1 / 3)
    with pytest.raises(secant.InputError, match=rf"target\[1, 0\] is {wrong}; .* from 0 to 2"):
        metric.update(probs, torch.tensor([[0, 1], [wrong, 2]]))
    probs[0, 1] = torch.tensor([-2.0, 0.1, 0.9])  # whose highest could be a probability
    with pytest.raises(secant.InputError, match=r"preds\[0, 1, 0\] is below 0.*logits"):
        metric.update(probs, torch.zeros(2, 2, dtype=torch.long))
    assert not metric.counts.any()


@pytest.mark.filterwarnings("ignore:The ``compute`` method:UserWarning")  # as torchmetrics says
def test_nothing_seen_is_refused():
    metric = CalibrationError()
    metric.update(torch.zeros(0), torch.zeros(0))
    with pytest.raises(secant.InputError, match="empty"):
        metric.compute()


def test_gradients_shapes_and_short_floats():
    p, y = drawn(1000)
    metric, flat = CalibrationError(), CalibrationError()
    metric.update(p.reshape(10, 100).clone().requires_grad_(), y.reshape(10, 100))
    flat.update(p, y.long())
    assert numbers(metric) == numbers(flat)
    half = p.bfloat16()
    metric.reset()
    metric.update(half, y)
    low, high = metric.compute()["ecce_r_bounds"].tolist()
    assert low <= secant.ecce_r(y, half.double()) <= high


def test_certain_scores():
    metric = CalibrationError()
    metric.update(torch.tensor([0.0, 1.0, 1.0]), torch.tensor([0, 1, 0]))
    found = metric.compute()
    assert float(found["ecce_r"]) == pytest.approx(1 / 3)
    assert (float(found["sigma"]), float(found["pvalue"])) == (0, 0)
    assert metric.cells.forbidden == 1
    metric.reset()
    metric.update(torch.tensor([0.0, 1.0]), torch.tensor([0, 1]))
    assert float(metric.compute()["pvalue"]) == 1


PROCESS = """
import json, sys
import torch.distributed as dist
from test_torch import CalibrationError, drawn, fed
rank, address = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
p, y = drawn()
metric = fed(CalibrationError(), p[rank::2], y[rank::2])
together = {name: value.tolist() for name, value in metric.compute().items()}
print(json.dumps([together, metric.cells.n]))
dist.destroy_process_group()
"""


def test_two_processes_are_one(tmp_path):
    address = (tmp_path / "meeting").as_uri()
    path = os.pathsep.join([str(PACKAGE.parent), str(ROOT / "tests")])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(rank), address],
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        results = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
    p, y = drawn()
    whole = fed(CalibrationError(), p, y)
    expected = {name: value.tolist() for name, value in whole.compute().items()}
    for together, alone in results:
        assert together["ecce_r"] == expected["ecce_r"]
        assert together["sigma"] == pytest.approx(expected["sigma"], rel=1e-14)
        assert alone == len(p) // 2  # what a process has seen stays its own


# Confidences ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("label", [None, 3])
def test_confidences_are_the_softmax(monkeypatch, kind, label):
    monkeypatch.setattr("secant.torch._CHUNK", 700)  # 7 rows at a time
    torch.manual_seed(0)
    logits = (torch.randn(4, 25, 100) * 8).to(kind)
    labels = torch.randint(0, 100, (4, 25))
    labels[2, 3] = -100
    correct, confidence = from_logits(logits.requires_grad_(), labels, label=label)
    probs = logits.detach().double().softmax(-1).reshape(-1, 100)
    kept = labels.ravel() != -100
    found = probs.argmax(1) if label is None else torch.full((100,), label)
    torch.testing.assert_close(confidence, probs.gather(1, found[:, None])[kept, 0])
    assert torch.equal(correct, (found == labels.ravel())[kept])
    assert not confidence.requires_grad


def test_large_logits_do_not_overflow():
    correct, confidence = from_logits(torch.tensor([[1e4, 0, -1e4]]), torch.tensor([1]))
    assert (correct.tolist(), confidence.tolist()) == ([False], [1.0])
    masked = torch.tensor([[0.0, 0.0, -torch.inf]])
    assert from_logits(masked, torch.tensor([0]))[1].tolist() == [0.5]


def test_one_logit_each():
    correct, confidence = from_logits(torch.tensor([0.0, 2.0]), torch.tensor([0, 1]))
    assert correct.tolist() == [False, True]
    assert confidence.tolist() == pytest.approx([0.5, 1 / (1 + np.exp(-2))])


def test_logits_that_cannot_be_used_are_refused():
    logits = torch.zeros(3, 4)
    for spoilt in (float("nan"), float("inf")):
        wrong = logits.clone()
        wrong[1, 2] = spoilt
        with pytest.raises(secant.InputError, match=r"logits\[1\] has no softmax"):
            from_logits(wrong, torch.zeros(3, dtype=torch.long))
    with pytest.raises(secant.InputError, match="column a class for each label"):
        from_logits(logits, torch.zeros(5))
    with pytest.raises(secant.InputError, match="label must be a whole number from 0 to 3"):
        from_logits(logits, torch.zeros(3), label=4)


@pytest.mark.parametrize("wrong", [4, -1, 1.5, float("nan")])
def test_labels_that_are_no_class_are_refused(wrong):
    """They would count as predictions that were wrong."""
    labels = torch.tensor([[-100, 0, 1], [3, wrong, 0]])
    with pytest.raises(secant.InputError, match=rf"labels\[1, 1\] is {wrong}; .* from 0 to 3"):
        from_logits(torch.zeros(2, 3, 4), labels)
    with pytest.raises(secant.InputError, match=rf"labels\[1\] is {wrong}; .* from 0 to 1"):
        from_logits(torch.zeros(2), torch.tensor([1, wrong]))
    assert from_logits(torch.zeros(2), torch.tensor([True, False]))[0].tolist() == [True, False]


def test_a_place_counts_the_rows_that_are_left_out():
    labels = torch.tensor([-100, -100, 1])
    logits = torch.tensor([[0.0, 1.0], [0.0, 1.0], [float("nan"), 1.0]])
    with pytest.raises(secant.InputError, match=r"logits\[2\] has no softmax"):
        from_logits(logits, labels)
    with pytest.raises(secant.InputError, match=r"logits\[2\] has no sigmoid"):
        from_logits(logits[:, 0], labels)


def test_no_second_copy_of_the_logits(monkeypatch):
    monkeypatch.setattr("secant.torch._CHUNK", 1000)
    largest = []
    double = torch.Tensor.double

    def watched(self):
        largest.append(self.numel())
        return double(self)

    monkeypatch.setattr(torch.Tensor, "double", watched)
    from_logits(torch.randn(500, 100), torch.zeros(500, dtype=torch.long))
    assert max(largest) <= 1000
