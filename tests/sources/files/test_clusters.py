"""Clusters in files: one more walk, and a row without one is named with its place."""

import numpy as np
import pytest

import secant
from helpers import optional


def columns(n=300, **changed):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    made = {"y": (rng.random(n) < p).astype(np.int64), "p": p, "who": rng.integers(0, 40, n)}
    return {**made, **changed}


def parquet(path, made):
    pa, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    parquet.write_table(pa.table(made), path)
    return path


def assess(path, **how):
    return secant.assess("y", "p", data=path, clusters="who", **how)


@pytest.mark.parametrize(
    ("missing", "told"), [(None, "is null"), (float("nan"), "is NaN"), ("", "is ''")]
)
def test_a_missing_id_is_refused_with_its_file_and_row(tmp_path, missing, told):
    kind = str if isinstance(missing, str) else float
    who = [kind(each) for each in range(300)]
    who[250] = missing
    path = parquet(tmp_path / "one.parquet", columns(who=who))
    with pytest.raises(secant.InputError, match=r"every row needs|a missing id") as refused:
        assess(path)
    error = refused.value
    assert (error.argument, error.row, error.column) == ("clusters", 250, "who")
    assert error.place == str(path)
    assert told in str(error)


def test_types_that_tell_nothing_apart_are_refused(tmp_path):
    path = parquet(tmp_path / "one.parquet", columns(who=[[1]] * 300))
    with pytest.raises(secant.InputError, match="which cannot name clusters"):
        assess(path)


def test_a_folder_may_be_a_cluster(tmp_path):
    """As where every patient has a folder."""
    made = columns()
    pa, dataset = optional("pyarrow"), optional("pyarrow.dataset")
    dataset.write_dataset(
        pa.table(made),
        tmp_path / "set",
        format="parquet",
        partitioning=dataset.partitioning(pa.schema([("who", pa.int64())]), flavor="hive"),
    )
    found = assess(tmp_path / "set")
    wanted = secant.assess(made["y"], made["p"], clusters=made["who"])
    assert found._flips.r == wanted._flips.r
    assert found.n_clusters == wanted.n_clusters


def test_rows_in_many_chunks_are_the_same_clusters(tmp_path, monkeypatch):
    made = columns(2000)
    wanted = secant.assess(made["y"], made["p"], clusters=made["who"])
    monkeypatch.setattr("secant.sources.rows.CHUNK", 64)
    found = assess(parquet(tmp_path / "one.parquet", made))
    assert found._flips.r == wanted._flips.r
    np.testing.assert_allclose(found._flips.ranges, wanted._flips.ranges, rtol=1e-9)


def test_ids_are_read_when_they_are_asked_for_alone(tmp_path):
    """A column of ids that nobody names may hold anything."""
    who = [None] * 300
    path = parquet(tmp_path / "one.parquet", columns(who=who))
    assert secant.assess("y", "p", data=path).n_clusters is None
