"""What a Parquet file says of its columns leaves NaN out, and an engine may believe it."""

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError

duckdb = optional("duckdb")
pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")

RNG = np.random.default_rng(0)
N = 3000
P = RNG.random(N)
ROWS = {
    "y": (RNG.random(N) < P).astype(int),
    "p": P,
    "w": RNG.uniform(0.5, 2, N),
    "k": RNG.choice([1.0, 2.0], N),
}


def with_nan(tmp_path, name):
    columns = {key: values.copy() for key, values in ROWS.items()}
    columns[name][[5, 77]] = np.nan
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    return duckdb.read_parquet(str(path))


@pytest.mark.parametrize("name", ["p", "w"])
def test_numbers_that_are_none_are_refused(tmp_path, name):
    role = {"p": "y_prob", "w": "sample_weight"}[name]
    with pytest.raises(InputError, match=rf"column '{name}' \({role}\) holds .*drops no rows"):
        secant.assess("y", "p", sample_weight="w", data=with_nan(tmp_path, name))


def test_keys_that_are_none_are_one_group(tmp_path):
    found = secant.assess_by("y", "p", "k", data=with_nan(tmp_path, "k"))
    assert {key: found[key].n for key in found}[None] == 2
    assert sum(result.n for result in found.values()) == N
