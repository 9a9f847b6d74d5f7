"""Tensors give the arrays' answers; on a device they stay there.

There is no device here: plain operations of torch run in the host's memory, and a fixture has
tensors taken for ones that lie elsewhere.
"""

import numpy as np
import pytest

import secant
from helpers import optional
from secant._blocks.key_sums import Ask
from secant._input.observations import observations
from secant._input.options import Reading
from secant._metrics.ecce import extremes
from secant.sources.rows import RowSource
from secant.sources.tensors import source as tensors
from secant.sources.tensors.dyadic import add_to, rows_of
from secant.sources.tensors.reading import columns

torch = optional("torch")
N = 70_000

SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "grid": lambda rng, n: rng.integers(0, 101, n) / 100,
    "half at one score": lambda rng, n: np.where(rng.random(n) < 0.5, 0.3, rng.random(n)),
    "one score but for a few": lambda rng, n: np.where(np.arange(n) < n - 3, 0.3, 0.7),
    "skewed": lambda rng, n: rng.random(n) ** 30,
    "certain": lambda rng, n: np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), rng.random(n)),
    "negative zero": lambda rng, n: np.where(rng.random(n) < 0.3, -0.0, rng.random(n)),
    "clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
}
WEIGHTS = {
    "none": None,
    "sampling": lambda rng, n: np.append(rng.lognormal(size=n - 1) * (rng.random(n - 1) < 0.8), 1),
    "frequency": lambda rng, n: np.append(rng.integers(0, 4, n - 1), 1),
}
TYPES = {"double": torch.float64, "single": torch.float32, "brain": torch.bfloat16}


def drawn(scores, seed=0, n=N, power=1.05, kind=torch.float64):
    """Return labels, scores and the same scores as a tensor."""
    rng = np.random.default_rng(seed)
    tensor = torch.tensor(SCORES[scores](rng, n)).to(kind)
    p = tensor.double().numpy()
    return rng.random(n) < p**power, p, tensor


@pytest.fixture
def elsewhere(monkeypatch):
    """Have tensors in the host's memory taken for ones on a device."""

    def somewhere(*columns):
        return any(isinstance(column, torch.Tensor) for column in columns)

    monkeypatch.setattr("secant.sources.open.on_a_device", somewhere)
    monkeypatch.setattr("secant._api.cells.on_a_device", somewhere)


def opened(y, p, weights=None, kind="sampling"):
    weights = None if weights is None else torch.tensor(weights)
    return tensors.TensorSource(columns(torch.tensor(y), p, weights, Reading(kind)))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("scores", SCORES)
def test_plain_operations_give_the_arrays_numbers(scores, kind, weights):
    y, p, tensor = drawn(scores, kind=TYPES[kind])
    w = WEIGHTS[weights] and WEIGHTS[weights](np.random.default_rng(5), N)
    what = "frequency" if weights == "frequency" else "sampling"
    expected = secant.assess(y, p, sample_weight=w, weight_kind=what, method="asymptotic")
    source = opened(y, tensor, w, what)
    blocks, totals = source.blocks()
    _, found = extremes(blocks, totals.weight, source.refine)
    assert found.ecce_r == pytest.approx(expected.ecce_r.value, abs=1e-14)
    assert found.ecce_mad == pytest.approx(expected.ecce_mad.value, abs=1e-14)
    names = ("n", "weight", "ww", "variance", "squares", "ww1", "third", "squared_error", "steps")
    for name in names:
        theirs = getattr(expected._totals, name)
        assert getattr(totals, name) == pytest.approx(theirs, rel=1e-11), name
    assert source.forbidden == expected._source.forbidden


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_whole_result_is_the_arrays(elsewhere, weights):
    y, p, tensor = drawn("certain")
    w = WEIGHTS[weights] and WEIGHTS[weights](np.random.default_rng(5), N)
    options = {"weight_kind": "frequency" if weights == "frequency" else "sampling", "rng": 0}
    options["method"] = "auto" if weights != "sampling" else "asymptotic"
    expected = secant.assess(y, p, sample_weight=w, **options)
    here = None if w is None else torch.tensor(w)
    found = secant.assess(torch.tensor(y), tensor, sample_weight=here, **options)
    assert isinstance(found._source, tensors.TensorSource)
    for metric in ("ecce_r", "ecce_mad"):
        mine, theirs = getattr(found, metric), getattr(expected, metric)
        assert (mine.method, mine.value) == (theirs.method, pytest.approx(theirs.value, abs=1e-12))
        # The tilt of the limit takes scores for the mean of their cell, and these are other cells.
        assert mine.log10_pvalue == pytest.approx(theirs.log10_pvalue, rel=1e-6)
    assert (found.n, found.forbidden) == (expected.n, expected.forbidden)
    assert str(found.worst) == str(expected.worst)
    assert found.ece().value == pytest.approx(expected.ece().value, abs=1e-12)
    assert found.ece().noise_floor == pytest.approx(expected.ece().noise_floor, rel=1e-9)
    mine, theirs = found.between(0.1234, 0.71), expected.between(0.1234, 0.71)
    assert (mine.n, mine.miscalibration) == (theirs.n, pytest.approx(theirs.miscalibration))


@pytest.mark.parametrize("shift", [0.0, 1.2, -30.0])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", ["uniform", "certain", "grid"])
@pytest.mark.parametrize("resolved", [False, True])
def test_shifted_sums_are_those_of_arrays(scores, weights, shift, resolved):
    y, p, tensor = drawn(scores)
    w = WEIGHTS[weights] and WEIGHTS[weights](np.random.default_rng(5), N)
    what = "frequency" if weights == "frequency" else "sampling"
    source = opened(y, tensor, w, what)
    blocks, totals = source.blocks()
    if resolved:
        blocks, _ = extremes(blocks, totals.weight, source.refine)
    ask = Ask(blocks, shift=shift)
    (found,) = source.sums([ask])
    (wanted,) = RowSource(observations(y, p, w, Reading(what))).sums([ask])
    for name in ("key", "cell", "n"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    heaviest = 1.0 if w is None else float(np.max(w)) ** 2
    for name in ("gain", "shifted", "spread"):
        mine, theirs = getattr(found, name), getattr(wanted, name)
        if theirs is None:
            assert mine is None
        else:
            np.testing.assert_allclose(
                mine, theirs, rtol=1e-11, atol=1e-13 * heaviest, err_msg=name
            )
    (joined,) = source.sums([ask._replace(most=300)])
    (other,) = RowSource(observations(y, p, w, Reading(what))).sums([ask._replace(most=300)])
    np.testing.assert_array_equal(joined.cell, other.cell)
    np.testing.assert_allclose(joined.gain, other.gain, rtol=0, atol=1e-10 * heaviest)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_of_outcomes(weights):
    y, p, tensor = drawn("certain")
    w = WEIGHTS[weights] and WEIGHTS[weights](np.random.default_rng(5), N)
    kind = "frequency" if weights == "frequency" else "sampling"
    reading = Reading(kind, outcome_weights=(3, 1))
    there = None if w is None else torch.tensor(w)
    found = tensors.TensorSource(columns(torch.tensor(y), tensor, there, reading))
    expected = RowSource(observations(y, p, w, reading))
    numbers = []
    for source in (found, expected):
        blocks, totals = source.blocks(moments=True)
        path = extremes(blocks, totals.weight, source.refine)[1]
        sums = [totals.variance, totals.third, totals.ww1, totals.squared_error, *totals.steps]
        sums += source.score_sums()
        moments = [column.sum() for column in vars(blocks.moments).values()]
        numbers.append([path.ecce_r, path.ecce_mad, totals.n, *sums, *moments[:4]])
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-11)


def test_proper_scores_are_the_arrays(elsewhere):
    y, p, tensor = drawn("uniform")
    expected, found = secant.assess(y, p), secant.assess(torch.tensor(y), tensor)
    for mine, theirs in zip(found.proper_scores, expected.proper_scores, strict=True):
        assert mine.value == pytest.approx(theirs.value, rel=1e-12)


def test_metric_functions_and_mappings_take_tensors(elsewhere):
    y, p, tensor = drawn("uniform")
    labels = torch.tensor(y)
    assert secant.ecce_r(labels, tensor) == pytest.approx(secant.ecce_r(y, p), abs=1e-14)
    data = {"y": labels, "p": tensor}
    assert secant.ecce_mad("y", "p", data=data) == secant.ecce_mad(labels, tensor)
    assert secant.ece(labels, tensor) == pytest.approx(secant.ece(y, p), abs=1e-14)
    minus = labels.long() * 2 - 1
    assert secant.ecce_r(minus, tensor) == secant.ecce_r(labels, tensor)
    named = torch.where(labels, 7, 3)
    assert secant.ecce_r(named, tensor, pos_label=7) == secant.ecce_r(labels, tensor)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_cells", [1, 64, 65536])
def test_cells_are_the_arrays(n_cells, weights):
    y, p, tensor = drawn("certain", n=20_000)
    w = WEIGHTS[weights] and WEIGHTS[weights](np.random.default_rng(5), 20_000)
    reading = Reading("frequency" if weights == "frequency" else "sampling")
    there = None if w is None else torch.tensor(w)
    rows = rows_of(torch.tensor(y), tensor, there, reading)
    state = secant.Cells(n_cells)
    sums = state._like(sampling=rows.sampling)
    add_to(sums, rows)
    state.update(y, p, w, weight_kind=reading.weight_kind)
    assert rows.forbidden_copies == state.forbidden
    for name, column in state._sums.columns().items():
        scale = max(1.0, float(np.abs(column).max()))
        np.testing.assert_allclose(sums.columns()[name], column, atol=1e-11 * scale, err_msg=name)


def test_cells_take_tensors(elsewhere, tmp_path):
    y, p, tensor = drawn("uniform", n=5000)
    mixed, arrays = secant.Cells(), secant.Cells()
    mixed.update(torch.tensor(y[:2000]), tensor[:2000])
    mixed.update(y[2000:], p[2000:])
    arrays.update(y, p)
    assert mixed.n == arrays.n
    assert mixed.bounds().ecce_r == pytest.approx(arrays.bounds().ecce_r, abs=1e-14)
    mixed.save(tmp_path / "state")
    assert secant.Cells.load(tmp_path / "state").bounds() == mixed.bounds()


def spoil(column, row, value):
    column = column.astype(float)
    column[row] = value
    return column


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("y_prob", np.nan),
        ("y_prob", np.inf),
        ("y_prob", 1.0000001),
        ("y_prob", -3.5),
        ("y_prob", 80.0),
        ("y_true", np.nan),
        ("y_true", 2),
        ("y_true", 0.5),
        ("sample_weight", np.nan),
        ("sample_weight", -1),
        ("sample_weight", np.inf),
        ("sample_weight", 1e-200),
    ],
)
def test_faults_are_told_as_of_arrays(elsewhere, argument, value):
    y, p, _ = drawn("uniform")
    given = {"y_true": y.astype(float), "y_prob": p, "sample_weight": np.ones(N)}
    given[argument] = spoil(given[argument], 60_123, value)

    def refused(**arguments):
        with pytest.raises(secant.InputError) as caught:
            secant.ecce_r(arguments.pop("y_true"), arguments.pop("y_prob"), **arguments)
        error = caught.value
        return str(error), error.argument, error.value, error.row, str(error.hint)

    there = {name: torch.tensor(column) for name, column in given.items()}
    assert refused(**there) == refused(**given)


def test_frequencies_and_names_that_cannot_be_are_told_as_of_arrays(elsewhere):
    y, p, tensor = drawn("uniform")
    halves = np.full(N, 1.5)

    def refused(y, p, w=None, **options):
        with pytest.raises(secant.InputError) as caught:
            secant.assess(y, p, sample_weight=w, **options)
        return str(caught.value)

    labels = torch.tensor(y)
    for w in (halves, np.full(N, 2.0**50), np.zeros(N)):
        mine = refused(labels, tensor, torch.tensor(w), weight_kind="frequency")
        assert mine == refused(y, p, w, weight_kind="frequency")
    for name in ("yes", 3):
        assert refused(labels, tensor, pos_label=name) == refused(y, p, pos_label=name)
    three = np.arange(N) % 3
    assert refused(torch.tensor(three), tensor, pos_label=1) == refused(three, p, pos_label=1)


def test_shapes_devices_and_kinds_are_refused(elsewhere):
    y, p = torch.zeros(5), torch.full((5,), 0.5)
    for labels, scores, words in [
        (
            y,
            p.reshape(5, 1),
            "y_prob must be one-dimensional; its shape is .5, 1.; pass its single",
        ),
        (y, torch.tensor(0.5), "got a single Tensor"),
        (y[:3], p, "y_true has 3 values, y_prob 5"),
        (y[:0], p[:0], "are empty"),
        (y, p.to(torch.complex64), "must hold real numbers; got values of type torch.complex64"),
        (y, p.to_sparse(), "must be a dense tensor"),
        (y.to("meta"), p.to("meta"), "must be a dense tensor that holds its values"),
        (y.to("meta"), p, "y_true is on meta and y_prob on cpu; put them on one device"),
    ]:
        with pytest.raises(secant.InputError, match=words):
            secant.ecce_r(labels, scores)
    with pytest.raises(secant.InputError, match="sample_weight must have one value a row"):
        secant.ecce_r(y, p, sample_weight=p[:2])


def test_what_is_on_a_device_and_needs_all_rows_is_refused():
    y, p = torch.zeros(5).to("meta"), torch.full((5,), 0.5).to("meta")
    with pytest.raises(secant.InputError, match="cannot be read as an array"):
        secant.scan(y, p)
    with pytest.raises(secant.InputError, match="cannot be read as an array"):
        secant.assess_by(y, p, [1, 2, 3, 4, 5])


def test_tensors_in_memory_are_read_where_they_are():
    y, p, tensor = drawn("uniform", n=1000, kind=torch.float32)
    expected = secant.ecce_r(y, p)
    assert secant.ecce_r(torch.tensor(y), tensor) == expected
    graded = torch.nn.Parameter(tensor)
    assert secant.ecce_r(torch.tensor(y), graded) == expected
    assert graded.requires_grad
    half = tensor.bfloat16()
    assert secant.ecce_r(y, half) == secant.ecce_r(y, half.double().numpy())
    source = secant.assess(torch.tensor(y), tensor)._source
    assert np.shares_memory(source._observations.scores, tensor.numpy())


def test_few_rows_come_to_the_host(elsewhere):
    y, p, tensor = drawn("uniform", n=500, kind=torch.float16)
    here, there = secant.assess(y, p), secant.assess(torch.tensor(y), tensor)
    assert there.to_dict() == here.to_dict()


class OnlyDlpack:
    """An array that speaks dlpack and nothing else, as CuPy's and JAX's do on a device."""

    def __init__(self, tensor, device=None):
        self.tensor, self.device = tensor, device

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device or self.tensor.__dlpack_device__()


def test_what_speaks_dlpack_is_read():
    y, p, tensor = drawn("uniform")
    given = columns(OnlyDlpack(torch.tensor(y).byte()), OnlyDlpack(tensor), None, Reading())
    source = tensors.TensorSource(given)
    blocks, totals = source.blocks()
    _, found = extremes(blocks, totals.weight, source.refine)
    assert found.ecce_r == pytest.approx(secant.ecce_r(y, p), abs=1e-14)


def test_arrays_on_another_device_are_seen():
    from secant._input.arraylike import device_of

    tensor = torch.zeros(3)
    assert device_of(tensor) is None
    assert device_of(np.zeros(3)) is None
    assert device_of([1, 2]) is None
    assert device_of(tensor.to("meta")) == "meta"
    assert device_of(OnlyDlpack(tensor, (2, 1))) == "cuda:1"
    assert device_of(OnlyDlpack(tensor, (3, 0))) is None  # pinned memory of the host
    assert device_of(OnlyDlpack(tensor, (14, 0))) == "device 14:0"
    with pytest.raises(secant.InputError, match="on cuda:1 and y_prob on cpu"):
        secant.ecce_r(OnlyDlpack(tensor, (2, 1)), np.zeros(3))


def test_a_tensor_written_to_is_noticed(elsewhere):
    y, _, tensor = drawn("uniform")
    result = secant.assess(torch.tensor(y), tensor)
    result.between(0.2, 0.3)
    tensor[0] = 0.5
    with pytest.raises(secant.SecantError, match="tensors were changed after they were assessed"):
        result.between(0.4, 0.5)
    with torch.inference_mode():
        quiet = tensor.clone()
        secant.assess(torch.tensor(y), quiet).between(0.2, 0.3)


def test_rows_come_in_order():
    y, p, tensor = drawn("grid", n=N)
    w = WEIGHTS["sampling"](np.random.default_rng(5), N)
    alike = secant.assess(y, p, sample_weight=w, method="asymptotic")._source
    (found,), (expected,) = opened(y, tensor, w).in_order()(), alike.in_order()()
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_many_pieces_are_added_up_as_one(monkeypatch):
    y, _, tensor = drawn("half at one score")
    w = WEIGHTS["sampling"](np.random.default_rng(5), N)
    at_once = opened(y, tensor, w).blocks(moments=True)[0]
    monkeypatch.setattr("secant.sources.tensors.sorted.PIECE", 777)
    in_pieces = opened(y, tensor, w).blocks(moments=True)[0]
    for name in ("n0", "n1", "w0", "w1", "down", "up"):
        np.testing.assert_array_equal(getattr(in_pieces, name), getattr(at_once, name))
    np.testing.assert_array_equal(in_pieces.moments.variance, at_once.moments.variance)


def test_random_ties_need_rows_in_memory(elsewhere):
    y, _, tensor = drawn("grid")
    with pytest.raises(secant.InputError, match=r"ties='random'.*\.cpu\(\)"):
        secant.assess(torch.tensor(y), tensor, ties="random", rng=0)
