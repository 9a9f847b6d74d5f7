"""Files of some million rows are read once; what is in memory then is given back."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional
from secant.sources import rows
from secant.sources.files import held
from secant.sources.files.arrow import Parquet
from secant.sources.files.held import collected
from secant.sources.files.predictions import Predictions

pa = optional("pyarrow")
csv = optional("pyarrow.csv")
parquet = optional("pyarrow.parquet")

N = 3000
rng = np.random.default_rng(0)
P = np.concatenate([[0.0, 1.0, 0.0], rng.random(N - 3)])
Y = np.concatenate([[1, 0, 0], rng.random(N - 3) < P[3:]]).astype(np.int64)
W = np.where(np.arange(N) % 10 == 7, 0.0, rng.lognormal(0, 0.3, N))
C = np.concatenate([[1, 1, 1], rng.integers(0, 4, N - 3)])
ASKED = {
    "none": {},
    "sampling": {"sample_weight": "w"},
    "frequency": {"sample_weight": "c", "weight_kind": "frequency"},
    "outcomes": {"sample_weight": "w", "outcome_weights": (3, 1)},
    "words": {"y_true": "word", "pos_label": "yes"},
}


@pytest.fixture(autouse=True)
def few_rows_are_many(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    monkeypatch.setattr(rows, "CHUNK", 500)
    monkeypatch.setattr(held, "HOLD", N)


@pytest.fixture
def walks(monkeypatch):
    """How often a Parquet file was read from its beginning."""
    count = []
    batches = Parquet.batches

    def counted(self, path, *asked):
        if asked[3:] in {(), (None,)}:  # no section alone
            count.append(path)
        return batches(self, path, *asked)

    monkeypatch.setattr(Parquet, "batches", counted)
    return count


def write(n=N, name="a.parquet"):
    words = np.where(Y == 1, "yes", "no")
    table = pa.table({"y": Y, "p": P, "w": W, "c": C, "word": words}).slice(0, n)
    (csv.write_csv if name.endswith(".csv") else parquet.write_table)(table, name)
    return name


def assess(data, **asked):
    return secant.assess(**{"y_true": "y", "y_prob": "p"} | asked, data=data)


def test_rows_are_read_once_up_to_a_limit_and_more_often_beyond(walks, monkeypatch):
    assess(write(), method="asymptotic")
    assert len(walks) == 1
    monkeypatch.setattr(held, "HOLD", N - 1)
    walks.clear()
    assess("a.parquet", method="asymptotic")
    assert len(walks) > 1


@pytest.mark.parametrize("most", [N, N - 1])
def test_few_rows_are_sorted_as_they_come(walks, most, monkeypatch):
    monkeypatch.setattr(rows, "SORT_UP_TO", most)
    read = []
    monkeypatch.setattr(held, "collected", lambda *_: read.append(1))
    result = assess(write(), method="asymptotic")
    assert len(walks) == 1
    assert result._source._observations is result._source._files


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_held_has_the_answers_of_what_is_read_again(asked, monkeypatch):
    asked = ASKED[asked]
    found = assess(write(), **asked)
    monkeypatch.setattr(held, "HOLD", 0)
    wanted = assess("a.parquet", **asked)
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-14)
    assert found.ecce_mad.value == pytest.approx(wanted.ecce_mad.value, abs=1e-14)
    assert found.ecce_r.log10_pvalue == pytest.approx(wanted.ecce_r.log10_pvalue, rel=1e-12)
    assert found.sigma == pytest.approx(wanted.sigma, rel=1e-13)
    assert (found.n, found.forbidden, found.warnings) == (
        wanted.n,
        wanted.forbidden,
        wanted.warnings,
    )
    assert found.forbidden[:2] == (0, 1)
    assert found.log_loss.value == wanted.log_loss.value == np.inf
    one, other = found.between(0.2, 0.7), wanted.between(0.2, 0.7)
    assert one.n == other.n
    assert one.miscalibration == pytest.approx(other.miscalibration, abs=1e-14)


def test_a_result_keeps_none_of_the_rows(walks):
    result = assess(write(), method="asymptotic")
    assert not result._source.is_in_memory
    assert len(walks) == 1
    before = result.between(0.2, 0.7)
    result.ece()
    assert len(walks) > 1
    assert not result._source.is_in_memory  # nor after it was asked
    assert before.n == np.count_nonzero((P >= 0.2) & (P <= 0.7))
    Path("a.parquet").unlink()
    with pytest.raises(secant.SecantError, match="changed"):
        result.between(0.25, 0.7)


def test_the_log_loss_is_summed_while_rows_are_at_hand(walks, monkeypatch):
    monkeypatch.setattr(rows.kernels, "should_use_numba", lambda *_, **__: True)
    optional("numba")
    table = pa.table({"y": Y[3:], "p": P[3:]})
    parquet.write_table(table, "a.parquet")
    result = assess("a.parquet", method="asymptotic")
    chance = np.where(Y == 1, P, 1 - P)[3:]
    assert result.log_loss.value == pytest.approx(-np.log(chance).mean(), rel=1e-13)
    assert len(walks) == 1


@pytest.mark.parametrize("estimate", [N, 10])
def test_rows_that_are_more_than_they_seemed_are_read_again(estimate, monkeypatch):
    """How many rows a CSV file has is guessed from its size."""
    wanted = secant.assess(Y, P, method="asymptotic")
    monkeypatch.setattr(Predictions, "estimated_rows", lambda _: max(estimate, 65))
    monkeypatch.setattr(held, "HOLD", estimate + 65)
    found = assess(write(name="a.csv"), method="asymptotic")
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-14)
    assert found.n == N


def test_collected_rows_are_those_that_came():
    def chunks(weights):
        for start in range(0, N, 700):
            part = slice(start, start + 700)
            yield rows.Chunk(P[part], Y[part], None if weights is None else weights[part])

    for weights in (None, W):
        for room in (N, N + 1000):
            found = collected(chunks(weights), room)
            np.testing.assert_array_equal(found.scores, P)
            np.testing.assert_array_equal(found.labels, Y)
            assert (found.weights is None) == (weights is None)
            assert weights is None or (found.weights == W).all()
        assert collected(chunks(weights), N - 1) is None
    assert collected([], 5).scores.shape == (0,)


@pytest.mark.parametrize("weighted", [False, True])
def test_bytes_that_rows_take(weighted, monkeypatch):
    """Scores and weights in eight bytes each, outcomes in one, and as much as a sort of them."""
    n = 1 << 18
    monkeypatch.setattr(held, "HOLD", n)
    p = np.random.default_rng(1).random(n)
    parquet.write_table(pa.table({"y": p > 0.4, "p": p, "w": p + 1}), "a.parquet")
    asked = {"sample_weight": "w"} if weighted else {}

    def peak():
        tracemalloc.start()
        try:
            assess("a.parquet", method="asymptotic", **asked)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with_rows = peak()
    monkeypatch.setattr(held, "HOLD", n - 1)
    without = peak()
    taken = (17 if weighted else 9) * n
    assert with_rows - without < taken * 1.1
    assert with_rows - without > taken * 0.5
