"""Scoring a tree of images: what is computed, and what survives an interruption."""

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
from digits import counting, touch
from helpers import PACKAGE, ROOT, optional
from secant import InputError, MissingExtraError
from secant._base.progress import showing
from secant.paper import imagenet

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
