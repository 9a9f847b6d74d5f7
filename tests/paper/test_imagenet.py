"""Scoring a tree of images: what is read, what is computed, and what survives an interruption."""

import io
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import digits
from helpers import PACKAGE, ROOT, optional
from secant import InputError, MissingExtraError
from secant._base.progress import showing
from secant.paper import imagenet


@pytest.fixture(scope="module")
def tree_folder(tmp_path_factory):
    return digits.write_tree(tmp_path_factory.mktemp("digits") / "images")


@pytest.fixture
def tree(tree_folder):
    return imagenet.list_images(tree_folder)


def counting(classifier, *, stop_after=None, error=KeyboardInterrupt):
    """Count the images a classifier sees; stop after some batches as if interrupted."""
    seen = []

    def logits(images):
        if stop_after is not None and len(seen) == stop_after:
            raise error
        seen.append(len(images))
        return classifier.logits(images)

    return imagenet.Classifier(logits, classifier.prepare, classifier.identity), seen


# --- the tree -------------------------------------------------------------------------------------


def touch(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())


def test_a_tree_is_read_as_image_folder_does(tmp_path):
    touch(tmp_path, "b/2.JPG", "b/10.jpeg", "b/sub/1.png", "a/x.webp", "a/notes.txt", "readme.png")
    (tmp_path / "aa").mkdir()
    tree = imagenet.list_images(tmp_path)
    assert tree.classes == ("a", "aa", "b")
    assert tree.paths == ("a/x.webp", "b/10.jpeg", "b/2.JPG", "b/sub/1.png")
    assert tree.true_class.tolist() == [0, 2, 2, 2]


def test_the_digest_changes_with_anything_but_the_place(tmp_path):
    touch(tmp_path / "t", "a/1.png", "b/2.png")
    digest = imagenet.list_images(tmp_path / "t").digest
    changes = {
        "same": lambda t: None,
        "a class more": lambda t: (t / "c").mkdir(),
        "an image more": lambda t: touch(t, "a/0.png"),
        "an image less": lambda t: (t / "a/1.png").unlink(),
        "another name": lambda t: (t / "a/1.png").rename(t / "a/3.png"),
        "another class": lambda t: (t / "a/1.png").rename(t / "b/1.png"),
        "another size": lambda t: (t / "a/1.png").write_bytes(b"longer than before"),
        "another time": lambda t: os.utime(t / "a/1.png", (1, 1)),
    }
    found = {}
    for name, change in changes.items():
        copy = shutil.copytree(tmp_path / "t", tmp_path / name)  # keeps times
        change(copy)
        found[name] = imagenet.list_images(copy).digest
    assert found.pop("same") == digest
    assert len({digest, *found.values()}) == len(changes)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "is not a folder"),
        (["loose.png"], "holds no folder"),
        (["a/notes.txt"], "hold no images"),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path, names, message):
    touch(tmp_path / "t", *names)
    with pytest.raises(InputError, match=message):
        imagenet.list_images(tmp_path / "t")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_name_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with open(os.fsencode(tmp_path) + b"/a/\xff.png", "wb"):  # noqa: PTH123  (bytes in the name)
        pass
    with pytest.raises(InputError, match=r"not text.*udcff\.png"):
        imagenet.list_images(tmp_path)


# --- the numbers ----------------------------------------------------------------------------------


LOGITS = arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 7)),
    elements=st.floats(-100, 100, width=32),
)


@given(LOGITS)
def test_top_one_is_the_largest_softmax_probability(logits):
    score, predicted_class = imagenet.top_one(logits)
    for row, (found, number) in enumerate(zip(score, predicted_class, strict=True)):
        powers = np.exp(logits[row].astype(np.longdouble))
        np.testing.assert_allclose(found, float(powers.max() / powers.sum()), rtol=1e-13)
        assert number == min(np.flatnonzero(logits[row] == logits[row].max()))
    assert score.dtype == np.float64


def test_a_very_sure_network_is_not_certain():
    logits = np.zeros((1, 1000), np.float32)
    logits[0, 7] = 25
    [score], [number] = imagenet.top_one(logits)
    assert number == 7
    assert 1 - score == pytest.approx(999 * np.exp(-25), rel=1e-4)
    assert np.float32(score) == 1


@pytest.mark.parametrize(("batch_size", "workers"), [(1, 3), (7, 1), (16, 2), (1000, 2)])
def test_every_image_is_scored_in_its_place(tree, tree_folder, tmp_path, batch_size, workers):
    found = imagenet.score_images(
        tree, digits.classifier(), parts=tmp_path, batch_size=batch_size, workers=workers
    )
    path, true_class, predicted, score = zip(*digits.expected(tree_folder), strict=True)
    assert found.paths == path
    assert found.true_class.tolist() == list(true_class)
    assert found.predicted_class.tolist() == list(predicted)
    np.testing.assert_allclose(found.score, score, rtol=1e-12)
    right = np.equal(true_class, predicted)
    assert found.response.tolist() == right.astype(int).tolist()
    assert 0.5 < right.mean() < 1  # a real classifier: neither guessing nor perfect


def test_progress_adds_up(tree, tmp_path):
    told = []
    with showing(lambda *report: told.append(report)):
        imagenet.score_images(tree, digits.classifier(), parts=tmp_path, batch_size=25)
    assert told == [(0, 60), (25, 60), (50, 60), (60, 60)]
    told.clear()
    with showing(lambda *report: told.append(report)):
        imagenet.score_images(tree, digits.classifier(), parts=tmp_path, batch_size=25)
    assert told == [(60, 60)]


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (lambda images: np.zeros((len(images), 9)), "9 classes apart and .* folders for 10"),
        (lambda images: np.zeros((len(images) + 1, 10)), r"shape \(11, 10\) for a batch of 10"),
        (lambda images: np.zeros(len(images)), r"shape \(10,\)"),
        (lambda images: np.full((len(images), 10), np.nan), "no usable numbers for .*digit"),
        (lambda images: np.full((len(images), 10), -np.inf), "no usable numbers"),
        (lambda images: np.full((len(images), 10), np.inf), "no usable numbers"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(tree, tmp_path, logits, message):
    with pytest.raises(InputError, match=message):
        imagenet.score_images(tree, digits.classifier(logits=logits), parts=tmp_path, batch_size=10)


@pytest.mark.parametrize("name", ["batch_size", "workers"])
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "4"])
def test_counts_are_whole_numbers(tree, tmp_path, name, value):
    with pytest.raises(InputError, match=f"{name} must be a whole number"):
        imagenet.score_images(tree, digits.classifier(), parts=tmp_path, **{name: value})


# --- interruptions --------------------------------------------------------------------------------


@pytest.fixture
def whole(tree, tmp_path):
    """Return the bytes of a file that was written without interruption."""
    out = tmp_path / "whole.parquet"
    optional("pyarrow")
    imagenet.score_to_file(tree, digits.classifier(), out, batch_size=8)
    assert not imagenet.parts_folder(out).exists()
    return out.read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, MemoryError])
def test_an_interrupted_run_goes_on_and_writes_the_same_bytes(tree, tmp_path, whole, error):
    out = tmp_path / "preds.parquet"
    for stop_after in (3, 2):
        stopping, seen = counting(digits.classifier(), stop_after=stop_after, error=error)
        with pytest.raises(error):
            imagenet.score_to_file(tree, stopping, out, batch_size=8)
        assert seen == [8] * stop_after
        assert not out.exists()
    last, seen = counting(digits.classifier())
    imagenet.score_to_file(tree, last, out, batch_size=8)
    assert seen == [8, 8, 4]
    assert out.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["preds.parquet", "whole.parquet"]


KILLED = """
    import sys
    sys.path[:0] = sys.argv[3:]
    import digits
    from secant.paper import imagenet

    usual = digits.classifier()

    def logits(images):
        print("batch", flush=True)
        if sys.stdin.readline() != "go\\n":
            raise SystemExit("nobody is there")
        return usual.logits(images)

    imagenet.score_to_file(
        imagenet.list_images(sys.argv[1]),
        imagenet.Classifier(logits, usual.prepare, usual.identity),
        sys.argv[2],
        batch_size=8,
    )
"""


def test_a_killed_run_goes_on_and_writes_the_same_bytes(tree, tmp_path, whole):
    out = tmp_path / "preds.parquet"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tree.root), str(out)]
    command += [str(PACKAGE.parent), str(ROOT / "tests")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as child:
        for _ in range(3):  # when the fourth batch is begun, three are finished
            assert child.stdout.readline() == "batch\n"
            child.stdin.write("go\n")
            child.stdin.flush()
        assert child.stdout.readline() == "batch\n"
        child.kill()
    assert child.returncode == -signal.SIGKILL
    assert not out.exists()
    last, seen = counting(digits.classifier())
    imagenet.score_to_file(tree, last, out, batch_size=8)
    assert seen == [8, 8, 8, 8, 4]
    assert out.read_bytes() == whole


def interrupted(tree, out, **options):
    stopping, _ = counting(digits.classifier(), stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        imagenet.score_to_file(tree, stopping, out, batch_size=8, **options)


def test_a_changed_run_is_refused_and_can_be_started_anew(tree_folder, tmp_path, whole):
    root = shutil.copytree(tree_folder, tmp_path / "images")
    tree = imagenet.list_images(root)
    out = tmp_path / "preds.parquet"
    interrupted(tree, out)

    def again(tree=tree, classifier=None, **options):
        imagenet.score_to_file(
            tree, classifier or digits.classifier(), out, **{"batch_size": 8, **options}
        )

    with pytest.raises(InputError, match="weights was 'the usual ones' and is 'others'"):
        again(classifier=digits.classifier(weights="others"))
    with pytest.raises(InputError, match="batch size was 8 and is 9"):
        again(batch_size=9)
    os.utime(root / tree.paths[-1], (1, 1))
    changed = imagenet.list_images(root)
    with pytest.raises(InputError, match=r"images was '60 files.*restart"):
        again(changed)
    assert not out.exists()
    again(workers=3)  # which changes nothing
    assert out.read_bytes() == whole

    interrupted(tree, out, overwrite=True)
    again(changed, restart=True, overwrite=True)
    found = imagenet.read_predictions(out)
    assert changed.digest in found.made["images"]
    score = [score for *_, score in digits.expected(root)]
    np.testing.assert_allclose(found.score, score, rtol=1e-12)


def saved(**columns):
    content = io.BytesIO()
    np.savez(content, **columns)
    return content.getvalue()


SHORT = {"score": np.ones(3), "predicted_class": np.ones(3, int), "problem": [""] * 3}


@pytest.mark.parametrize(
    "damage", [b"", b"PK half of a zip file", saved(**SHORT), saved(score=np.ones(8))]
)
def test_a_damaged_batch_is_scored_again(tree, tmp_path, whole, damage):
    out = tmp_path / "preds.parquet"
    interrupted(tree, out)
    kept = sorted(imagenet.parts_folder(out).glob("batch-*"))
    assert len(kept) == 2
    kept[0].write_bytes(damage)
    last, seen = counting(digits.classifier())
    imagenet.score_to_file(tree, last, out, batch_size=8)
    assert len(seen) == 7
    assert out.read_bytes() == whole


def test_a_folder_of_something_else_is_left_alone(tree, tmp_path):
    out = tmp_path / "preds.parquet"
    touch(imagenet.parts_folder(out), "thesis.txt", "batch-0000001.npz")
    for restart in (False, True):
        with pytest.raises(InputError, match="in the way"):
            imagenet.score_to_file(tree, digits.classifier(), out, restart=restart)
    assert len(list(imagenet.parts_folder(out).iterdir())) == 2


def test_a_run_without_a_finished_batch_is_forgotten(tree, tmp_path):
    out = tmp_path / "preds.parquet"
    stopping, _ = counting(digits.classifier(), stop_after=0, error=RuntimeError)
    with pytest.raises(RuntimeError):
        imagenet.score_to_file(tree, stopping, out, batch_size=8)
    imagenet.score_to_file(tree, digits.classifier(weights="others"), out, batch_size=9)
    assert imagenet.read_predictions(out).made["weights"] == "others"


def test_an_illegible_note_of_the_run_is_refused(tree, tmp_path):
    imagenet.score_images(tree, digits.classifier(), parts=tmp_path)
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="does not say which run left it"):
        imagenet.score_images(tree, digits.classifier(), parts=tmp_path)


def test_a_file_that_is_there_is_not_replaced_by_accident(tree, tmp_path, whole):
    out = tmp_path / "preds.parquet"
    out.write_bytes(b"precious")
    idle, seen = counting(digits.classifier())
    with pytest.raises(InputError, match="is there already"):
        imagenet.score_to_file(tree, idle, out, batch_size=8)
    assert not seen
    assert out.read_bytes() == b"precious"
    imagenet.score_to_file(tree, idle, out, batch_size=8, overwrite=True)
    assert out.read_bytes() == whole


def test_a_file_that_cannot_be_written_is_not_half_there(tree, tmp_path, whole, monkeypatch):
    out = tmp_path / "preds.parquet"
    imagenet.score_images(tree, digits.classifier(), parts=imagenet.parts_folder(out), batch_size=8)

    def full(*_):
        raise OSError(28, "No space left on device")

    idle, seen = counting(digits.classifier())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            imagenet.score_to_file(tree, idle, out, batch_size=8)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["whole.parquet"]
    imagenet.score_to_file(tree, idle, out, batch_size=8)
    assert not seen  # every batch was kept
    assert out.read_bytes() == whole


# --- images that cannot be read -------------------------------------------------------------------


@pytest.fixture
def damaged(tree_folder, tmp_path):
    root = shutil.copytree(tree_folder, tmp_path / "damaged")
    first = imagenet.list_images(root).paths[5]
    (root / first).write_bytes((root / first).read_bytes()[:60])  # cut off
    (root / "class003" / "text.png").write_text("not an image", encoding="utf-8")
    return imagenet.list_images(root), first


def test_an_unreadable_image_is_named(damaged, tmp_path):
    tree, first = damaged
    with pytest.raises(InputError, match=rf"cannot read .*{first} \(.*Error.*skip_unreadable"):
        imagenet.score_images(tree, digits.classifier(), parts=tmp_path / "p", batch_size=4)


def test_unreadable_images_can_be_left_out_and_are_listed(damaged, tree_folder, tmp_path):
    tree, first = damaged
    optional("pyarrow")
    out = tmp_path / "preds.parquet"
    with pytest.raises(InputError, match="cannot read"):
        imagenet.score_to_file(tree, digits.classifier(), out, batch_size=4)
    imagenet.score_to_file(tree, digits.classifier(), out, batch_size=4, skip_unreadable=True)
    found = imagenet.read_predictions(out)
    skipped = [entry["path"] for entry in found.made["unreadable"]]
    assert skipped == [first, "class003/text.png"]
    scores = {path: score for path, *_, score in digits.expected(tree_folder) if path != first}
    np.testing.assert_allclose(found.score, list(scores.values()), rtol=1e-12)


def test_what_an_earlier_run_left_out_is_not_forgotten(damaged, tmp_path):
    tree, first = damaged
    options = {"parts": tmp_path / "p", "batch_size": 4}
    imagenet.score_images(tree, digits.classifier(), **options, skip_unreadable=True)
    with pytest.raises(InputError, match=f"cannot read .*{first}"):
        imagenet.score_images(tree, digits.classifier(), **options)


def test_a_tree_of_nothing_readable_is_refused(tmp_path):
    touch(tmp_path / "t", "class000/1.png", "class001/2.png")
    tree = imagenet.list_images(tmp_path / "t")
    with pytest.raises(InputError, match="none of the images"):
        imagenet.score_images(tree, digits.classifier(), parts=tmp_path / "p", skip_unreadable=True)


# --- the file -------------------------------------------------------------------------------------


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


# --- libraries that are not there -----------------------------------------------------------------


@pytest.mark.parametrize("missing", ["torch", "torchvision"])
def test_a_missing_network_names_the_extra(monkeypatch, missing):
    if missing == "torchvision":
        monkeypatch.setitem(sys.modules, "torch", sys)  # anything that can be imported
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"{missing}.*pip install 'secant\[imagenet\]'"):
        imagenet.resnet18()


@pytest.mark.parametrize("missing", ["PIL.Image", "pyarrow.parquet"])
def test_a_missing_library_names_the_extra_before_any_work(tree, tmp_path, monkeypatch, missing):
    idle, seen = counting(digits.classifier())
    if missing == "PIL.Image":
        optional("pyarrow")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'secant\[imagenet\]'"):
        imagenet.score_to_file(tree, idle, tmp_path / "preds.parquet")
    assert not seen
    assert not list(tmp_path.iterdir())
