"""The kernels on a real device: `make test-cuda` where there is one, skipped elsewhere."""

import numpy as np
import pytest

import secant
from helpers import optional
from plain_passes import SCORES
from secant.sources.tensors import gpu
from secant.sources.tensors.opening import open_tensors
from secant.sources.tensors.source import TensorSource

torch = optional("torch")
pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here"),
]
N = 300_003

TYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(gpu, "_COLLECT_AT_LEAST", 1 << 14)
    monkeypatch.setattr(gpu, "SORT_UP_TO", 0)


@pytest.mark.parametrize("weighted", [None, torch.float32, torch.float64])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("power", [1.05, 1])
@pytest.mark.parametrize("scores", SCORES)
def test_answers_are_the_arrays_bit_for_bit_the_same(monkeypatch, scores, power, kind, weighted):
    monkeypatch.setattr(gpu, "_COLLECT_SHARE", 0.5 if power > 1 else 0.05)
    rng = np.random.default_rng(3)
    tensor = torch.tensor(SCORES[scores](rng, N)).to(kind)
    p = tensor.double().numpy()
    y = rng.random(N) < p**power
    w = there = None
    if weighted is not None:
        there = torch.tensor(rng.lognormal(size=N) * (rng.random(N) < 0.8)).to(weighted)
        w, there = there.double().numpy(), there.cuda()
    expected = secant.assess(y, p, sample_weight=w, method="asymptotic")
    labels = torch.tensor(y).cuda()
    found, again = (
        secant.assess(labels, tensor.cuda(), sample_weight=there, method="asymptotic")
        for _ in range(2)
    )
    assert isinstance(found._source, gpu.GpuSource)
    assert found.to_dict() == again.to_dict()
    for name in ("ecce_r", "ecce_mad"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        assert mine.value == pytest.approx(theirs.value, abs=1e-13)
        # The tilt of the limit takes scores for the mean of their cell, and these are other cells.
        assert mine.log10_pvalue == pytest.approx(theirs.log10_pvalue, rel=1e-6)
    assert found.sigma == pytest.approx(expected.sigma, rel=1e-12)
    assert (found.n, found.forbidden) == (expected.n, expected.forbidden)
    mine, theirs = found.between(0.1234, 0.71), expected.between(0.1234, 0.71)
    assert mine.n == theirs.n
    assert mine.miscalibration == pytest.approx(theirs.miscalibration, nan_ok=True)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("scores", SCORES)
def test_not_too_many_rows_are_sorted(monkeypatch, scores, kind):
    monkeypatch.setattr(gpu, "SORT_UP_TO", N)
    rng = np.random.default_rng(3)
    tensor = torch.tensor(SCORES[scores](rng, N)).to(kind)
    p = tensor.double().numpy()
    y = rng.random(N) < p
    expected = secant.assess(y, p, method="asymptotic")
    labels = torch.tensor(y).cuda()
    found, again = (secant.assess(labels, tensor.cuda(), method="asymptotic") for _ in range(2))
    assert found.to_dict() == again.to_dict()
    assert found.ecce_r.value == pytest.approx(expected.ecce_r.value, abs=1e-13)
    assert found.sigma == pytest.approx(expected.sigma, rel=1e-12)
    assert found.forbidden == expected.forbidden


@pytest.mark.parametrize(
    "labels", [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float32, torch.float16]
)
def test_labels_of_every_kind(labels):
    rng = np.random.default_rng(3)
    p = rng.random(N)
    y = rng.random(N) < p
    there = torch.tensor(y).to(labels).cuda()
    assert secant.ecce_r(there, torch.tensor(p).cuda()) == pytest.approx(secant.ecce_r(y, p))


def test_slices_and_steps_are_read():
    rng = np.random.default_rng(3)
    p, y = torch.tensor(rng.random(N)).cuda(), torch.tensor(rng.random(N) < 0.5).cuda()
    for piece in (slice(1, None), slice(3, -5), slice(None, None, 2)):
        found = secant.ecce_r(y[piece], p[piece])
        expected = secant.ecce_r(y[piece].cpu(), p[piece].cpu())
        assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("fault", [float("nan"), 1.5, -0.1, float("inf")])
@pytest.mark.parametrize("kind", TYPES)
def test_faults_are_told_as_of_arrays(kind, fault):
    p = torch.full((N,), 0.5, dtype=kind)
    p[66_000] = fault
    y = torch.zeros(N, dtype=torch.uint8)
    messages = []
    for device in ("cpu", "cuda"):
        with pytest.raises(secant.InputError) as caught:
            secant.ecce_r(y.to(device), p.to(device))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    y[70_000] = 2
    with pytest.raises(secant.InputError, match=r"y_true\[70000\] is 2"):
        secant.ecce_r(y.cuda(), torch.full((N,), 0.5).cuda())
    weights = torch.ones(N)
    weights[7] = -1
    with pytest.raises(secant.InputError, match=r"sample_weight\[7\] is -1"):
        secant.ecce_r((y == 1).cuda(), torch.full((N,), 0.5).cuda(), sample_weight=weights.cuda())


def test_devices_must_be_one():
    with pytest.raises(secant.InputError, match="y_true is on cpu and y_prob on cuda:0"):
        secant.ecce_r(torch.zeros(3), torch.zeros(3).cuda())


def test_plain_operations_agree_on_the_device():
    from secant._input.options import Reading
    from secant._metrics.ecce import extremes

    rng = np.random.default_rng(3)
    p = torch.tensor(rng.random(N)).cuda()
    y = torch.tensor(rng.random(N)).cuda() < p
    fast = open_tensors(y, p, None, Reading())
    plain = TensorSource(fast._given)
    found = []
    for source in (fast, plain):
        blocks, totals = source.blocks()
        found.append(extremes(blocks, totals.weight, source.refine)[1])
    assert found[0].ecce_r == pytest.approx(found[1].ecce_r, abs=1e-14)
    (rows,) = fast.in_order()()
    assert rows.scores[0] == float(p.min())


def test_other_libraries_enter_by_dlpack():
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(3)
    p = rng.random(N)
    y = rng.random(N) < p
    expected = secant.ecce_r(y, p)
    found = secant.ecce_r(cupy.asarray(y.astype(np.uint8)), cupy.asarray(p))
    assert found == pytest.approx(expected, abs=1e-14)
    jax = pytest.importorskip("jax")
    single = jax.numpy.asarray(p.astype(np.float32))
    found = secant.ecce_r(jax.numpy.asarray(y.astype(np.uint8)), single)
    assert found == pytest.approx(secant.ecce_r(y, p.astype(np.float32)), abs=1e-14)


def test_cells_the_metric_and_logits():
    from secant.torch import CalibrationError, from_logits

    rng = np.random.default_rng(3)
    p = torch.tensor(rng.random(N)).cuda()
    y = torch.tensor(rng.random(N)).cuda() < p
    state, there = secant.Cells(), secant.Cells()
    state.update(y.cpu(), p.cpu())
    there.update(y, p)
    assert there.bounds().ecce_r == pytest.approx(state.bounds().ecce_r, abs=1e-13)
    metric = CalibrationError().cuda()
    for start in range(0, N, 50_000):
        metric.update(p[start : start + 50_000].requires_grad_(), y[start : start + 50_000])
    found = metric.compute()
    assert found["ecce_r"].is_cuda
    assert found["ecce_r_bounds"].tolist() == pytest.approx(state.bounds().ecce_r, abs=1e-12)
    logits = torch.randn(400, 100_000, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, 100_000, (400,), device="cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    correct, confidence = from_logits(logits, labels)
    assert torch.cuda.max_memory_allocated() - before < 2 * logits.nbytes
    expected = logits.double().softmax(1).max(1)
    torch.testing.assert_close(confidence, expected.values)
    assert bool((correct == (expected.indices == labels)).all())
