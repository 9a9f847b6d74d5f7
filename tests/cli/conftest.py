"""A file of predictions for the command to read."""

import pytest

import commands


@pytest.fixture
def columns():
    return commands.table()


@pytest.fixture
def file(tmp_path, columns):
    return commands.write(tmp_path / "preds.parquet", columns)
