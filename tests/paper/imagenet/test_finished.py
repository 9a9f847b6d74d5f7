"""What an interrupted run leaves behind, and what the next one makes of it."""

import io
import os
import shutil

import numpy as np
import pytest

import digits
from digits import counting, touch
from secant import InputError
from secant.paper import imagenet
from secant.paper.imagenet.finished import FinishedBatch, FinishedBatches


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


RUN = {"weights": "w", "batch size": 2}


def test_a_batch_comes_back_as_it_was_kept(tmp_path):
    batch = FinishedBatch(np.asarray([0.25, np.nan]), np.asarray([7, -1]), ("", "\N{BLACK STAR}"))
    FinishedBatches(tmp_path / "p", RUN).save(3, batch)
    kept = FinishedBatches(tmp_path / "p", dict(reversed(RUN.items())))
    found = kept.load(3, 2)
    np.testing.assert_array_equal(found.score, batch.score)
    np.testing.assert_array_equal(found.predicted_class, batch.predicted_class)
    assert found.problem == batch.problem
    assert kept.load(3, 1) is None  # a batch of another size
    assert kept.load(4, 2) is None


@pytest.mark.parametrize("others", [(), ("thesis.txt",)])
def test_only_what_is_ours_is_thrown_away(tmp_path, others):
    folder = tmp_path / "p"
    FinishedBatches(folder, RUN).save(0, FinishedBatch(np.ones(1), np.ones(1, int), ("",)))
    touch(folder, *others)
    FinishedBatches.discard(folder)
    assert folder.exists() is bool(others)
    assert not others or [path.name for path in folder.iterdir()] == list(others)
