"""The table of predictions, ours and those of others."""

import numpy as np
import pytest

import digits
from digits import touch
from helpers import optional
from secant import InputError
from secant.paper import imagenet


def test_the_file_has_the_promised_columns(tree, tree_folder, tmp_path):
    pa, pq = optional("pyarrow"), optional("pyarrow.parquet")
    out = tmp_path / "preds.parquet"
    made = imagenet.score_to_file(tree, digits.classifier(), out, batch_size=32)
    table = pq.read_table(out)
    assert dict(zip(table.column_names, table.schema.types, strict=True)) == {
        "path": pa.string(),
        "true_class": pa.int32(),
        "true_name": pa.string(),
        "predicted_class": pa.int32(),
        "score": pa.float64(),
        "response": pa.int8(),
    }
    assert table["path"].to_pylist() == list(tree.paths)
    assert table["true_name"].to_pylist() == [path.partition("/")[0] for path in tree.paths]
    found = imagenet.read_predictions(out)
    for name in ("score", "response", "true_class", "predicted_class"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name))
    assert found.classes == tree.classes
    assert found.made == made.made
    assert found.made["weights"] == "the usual ones"
    assert found.made["batch size"] == 32
    assert found.made["unreadable"] == []


def table_file(folder, **columns):
    pa, pq = optional("pyarrow"), optional("pyarrow.parquet")
    usual = {"score": [0.5, 0.6], "response": [0, 1], "true_class": [1, 2]}
    columns = {name: column for name, column in {**usual, **columns}.items() if column is not None}
    pq.write_table(pa.table(columns), folder / "table.parquet")
    return folder / "table.parquet"


def test_tables_of_others_are_read(tmp_path):
    found = imagenet.read_predictions(
        table_file(
            tmp_path, true_class=None, group=np.array([3, 4], np.int16), metaclass=["a", "b"]
        )
    )
    assert found.true_class.tolist() == [3, 4]
    assert found.true_class.dtype == np.int64
    assert found.predicted_class is None
    assert found.classes == ()
    assert len(found) == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"score": None}, "no column score; it has response, true_class"),
        ({"true_class": None}, "no column true_class or group"),
        ({"response": [1, None]}, "column response is empty in row 1"),
        ({"true_class": ["cat", "dog"]}, "column true_class must hold the numbers of classes"),
        ({"true_class": None, "group": [1.0, 2.0]}, "column group must hold the numbers"),
        ({"predicted_class": [4, -1]}, "column predicted_class holds -1 in row 1"),
    ],
)
def test_unusable_tables_are_refused(tmp_path, columns, message):
    with pytest.raises(InputError, match=message):
        imagenet.read_predictions(table_file(tmp_path, **columns))


def test_what_is_no_table_is_refused(tmp_path):
    optional("pyarrow")
    with pytest.raises(InputError, match="there is no file"):
        imagenet.read_predictions(tmp_path / "absent.parquet")
    touch(tmp_path, "text.parquet")
    with pytest.raises(InputError, match="not a Parquet file"):
        imagenet.read_predictions(tmp_path / "text.parquet")
