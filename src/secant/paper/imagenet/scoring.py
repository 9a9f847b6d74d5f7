"""The paper's ImageNet experiment: how sure a classifier is of its best guess, and if it is right.

Everything here takes the classifier as a plain callable; the paper's is made of torch and
torchvision by :mod:`secant.paper.imagenet.network`, which nothing else needs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._base.progress import reporting
from secant._input.options import is_whole
from secant.errors import Argument, InputError
from secant.paper.imagenet.finished import FinishedBatch, FinishedBatches
from secant.paper.imagenet.images import Unreadable, check_reader, read_ahead
from secant.paper.imagenet.predictions import Predictions, check_parquet, write_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from secant._base.types import FloatArray, IntArray
    from secant.paper.imagenet.images import ImageTree

__all__ = ["Classifier", "parts_folder", "score_images", "score_to_file", "top_one"]


@dataclass(frozen=True, slots=True)
class Classifier:
    """A network as a plain callable, and how to feed it.

    Attributes
    ----------
    logits : callable
        Takes a list of prepared images and returns an array of shape (images, classes): logits,
        that is log-probabilities up to a constant for each image.
    prepare : callable
        Makes from an RGB image (``PIL.Image.Image``) what ``logits`` takes a list of. It is called
        in several threads at once.
    identity : mapping from str to str
        What the numbers depend on: the weights, the device, versions of libraries. An interrupted
        run is not taken up again with a classifier of another identity.
    """

    logits: Callable[[Sequence[Any]], Any]
    prepare: Callable[[Any], Any]
    identity: Mapping[str, str]


def score_images(
    tree: ImageTree,
    classifier: Classifier,
    *,
    parts: str | Path,
    batch_size: int = 256,
    workers: int = 4,
    skip_unreadable: bool = False,
) -> Predictions:
    """Predict the class of every image.

    Every finished batch is kept. After an interruption, of whatever kind, the same call goes on
    with the first batch that is missing and returns what it would have returned at once.

    Parameters
    ----------
    tree : ImageTree
        What :func:`secant.paper.imagenet.list_images` returned.
    classifier : Classifier
        What predicts: :func:`secant.paper.imagenet.resnet18`, or anything of that form.
    parts : str or Path
        A folder for finished batches. It stays; see :func:`score_to_file`, which removes it.
    batch_size : int
        How many images the network gets at a time.
    workers : int
        How many threads read images.
    skip_unreadable : bool
        Leave out images that cannot be read, and list them in ``made["unreadable"]``.

    Returns
    -------
    Predictions
        In the order of the tree.

    Raises
    ------
    InputError
        If an option is unusable, an image cannot be read, the network does not have an output for
        each class folder or gives NaN, or the folder was left by a run that differs from this one.
    MissingExtraError
        If Pillow is not installed.
    """
    _check_count("batch_size", batch_size)
    _check_count("workers", workers)
    check_reader()
    run = _run(tree, classifier, batch_size)
    kept = FinishedBatches(Path(parts), run)
    count = len(tree.paths)
    batches = {
        number: tree.paths[start : start + batch_size]
        for number, start in enumerate(range(0, count, batch_size))
    }
    done = {
        number: batch
        for number, paths in batches.items()
        if (batch := kept.load(number, len(paths))) is not None
    }
    to_do = {number: paths for number, paths in batches.items() if number not in done}
    with reporting("Scoring") as report:
        finished = sum(len(batch.score) for batch in done.values())
        report(finished, count)  # those of an earlier run come first
        for number, images in read_ahead(tree.root, to_do, classifier.prepare, workers=workers):
            done[number] = _score(
                images, to_do[number], classifier, tree, skip_unreadable=skip_unreadable
            )
            kept.save(number, done[number])
            finished += len(images)
            report(finished, count)
    return _assemble(
        tree, run, [done[number] for number in batches], skip_unreadable=skip_unreadable
    )


def score_to_file(
    tree: ImageTree,
    classifier: Classifier,
    out: str | Path,
    *,
    overwrite: bool = False,
    restart: bool = False,
    **options: Any,
) -> Predictions:
    """Predict the class of every image and write a Parquet file, whole or not at all.

    Finished batches are kept in a folder beside the file, named after it with ``.parts`` at the
    end, until the file is there.

    Parameters
    ----------
    tree, classifier
        As in :func:`score_images`.
    out : str or Path
        The file.
    overwrite : bool
        Replace a file that is there already, which is refused otherwise.
    restart : bool
        Throw away what an interrupted run left behind.
    **options
        As in :func:`score_images`.

    Returns
    -------
    Predictions
        What was written.

    Raises
    ------
    InputError
        As :func:`score_images`; also if the file is there already.
    MissingExtraError
        If pyarrow or Pillow are not installed.
    """
    check_parquet()
    out = Path(out)
    if out.exists() and not overwrite:
        there = f"{out} is there already; remove it, or allow it to be replaced ("
        raise InputError(there, Argument("overwrite"), ")")
    folder = parts_folder(out)
    if restart:
        FinishedBatches.discard(folder)
    predictions = score_images(tree, classifier, parts=folder, **options)
    write_predictions(predictions, out)
    FinishedBatches.discard(folder)
    return predictions


def parts_folder(out: str | Path) -> Path:
    """Return where finished batches are kept until a file is written."""
    out = Path(out)
    return out.with_name(f"{out.name}.parts")


def top_one(logits: Any) -> tuple[FloatArray, IntArray]:
    r"""Return the probability and the number of the most probable class.

    Parameters
    ----------
    logits : array-like of shape (n, classes)
        Log-probabilities up to a constant in each row.

    Returns
    -------
    score : ndarray of float64
        Softmax probability of the arg-max.
    predicted_class : ndarray of int64
        The arg-max; the first where several are equal.

    Notes
    -----
    The score is computed in float64 from the logits as they are,

    .. math:: s = 1 / \sum_j \exp(l_j - \max_k l_k),

    so that a very sure network does not say exactly 1: in float32 every score above
    1 - 3e-8 is 1, which would tie such images and rule out that they are wrong.

    Examples
    --------
    >>> score, predicted_class = top_one([[0.0, 20.0, 0.0]])
    >>> 1 - score
    array([4.12e-09])
    >>> predicted_class
    array([1])
    """
    exact = np.asarray(logits, np.float64)
    predicted_class = exact.argmax(axis=1)
    highest = exact[np.arange(len(exact)), predicted_class]
    return 1 / np.exp(exact - highest[:, None]).sum(axis=1), predicted_class.astype(np.int64)


def _check_count(name: str, value: Any) -> None:
    if not is_whole(value, 1, sys.maxsize):
        msg = f"{name} must be a whole number of at least 1; got {value!r}"
        raise InputError(msg)


def _run(tree: ImageTree, classifier: Classifier, batch_size: int) -> dict[str, str | int]:
    """Name everything the results depend on."""
    return {
        "images": f"{len(tree.paths)} files in {len(tree.classes)} classes, sha256 {tree.digest}",
        **classifier.identity,
        "batch size": int(batch_size),
    }


def _score(
    images: Sequence[Any],
    paths: Sequence[str],
    classifier: Classifier,
    tree: ImageTree,
    *,
    skip_unreadable: bool,
) -> FinishedBatch:
    """Predict the classes of one batch."""
    unreadable = [image for image in images if isinstance(image, Unreadable)]
    if unreadable and not skip_unreadable:
        raise _cannot_read(unreadable[0], tree)
    score = np.full(len(images), np.nan)
    predicted_class = np.full(len(images), -1)
    readable = [row for row, image in enumerate(images) if not isinstance(image, Unreadable)]
    if readable:
        logits = np.asarray(classifier.logits([images[row] for row in readable]))
        _check_logits(logits, [paths[row] for row in readable], tree)
        score[readable], predicted_class[readable] = top_one(logits)
    problems = (image.reason if isinstance(image, Unreadable) else "" for image in images)
    return FinishedBatch(score, predicted_class, tuple(problems))


def _check_logits(logits: np.ndarray[Any, Any], paths: Sequence[str], tree: ImageTree) -> None:
    if logits.ndim != 2 or len(logits) != len(paths):
        msg = f"the network returned shape {logits.shape} for a batch of {len(paths)} images"
        raise InputError(msg)
    if logits.shape[1] != len(tree.classes):
        msg = (
            f"the network tells {logits.shape[1]:,} classes apart and {tree.root} has folders for "
            f"{len(tree.classes):,}; a class without images needs an empty folder, so that the "
            "numbers of the others are right"
        )
        raise InputError(msg)
    # Minus infinity is a class ruled out; no row may rule out all of them.
    wrong = np.isnan(logits).any(axis=1) | ~np.isfinite(logits.max(axis=1))
    if wrong.any():
        msg = f"the network returned no usable numbers for {tree.root / paths[int(wrong.argmax())]}"
        raise InputError(msg)


def _assemble(
    tree: ImageTree,
    run: Mapping[str, Any],
    batches: Sequence[FinishedBatch],
    *,
    skip_unreadable: bool,
) -> Predictions:
    """Put batches together and leave out what could not be read."""
    problems = [problem for batch in batches for problem in batch.problem]
    unreadable = [
        Unreadable(path, problem)
        for path, problem in zip(tree.paths, problems, strict=True)
        if problem
    ]
    if unreadable and not skip_unreadable:  # an earlier run was told to skip them
        raise _cannot_read(unreadable[0], tree)
    if len(unreadable) == len(tree.paths):
        msg = f"none of the images could be read; the first is {tree.root / unreadable[0].path}"
        raise InputError(msg)
    kept = np.asarray([not problem for problem in problems])
    predicted_class = np.concatenate([batch.predicted_class for batch in batches])[kept]
    true_class = tree.true_class[kept]
    return Predictions(
        score=np.concatenate([batch.score for batch in batches])[kept],
        response=(predicted_class == true_class).astype(np.int8),
        true_class=true_class,
        predicted_class=predicted_class,
        classes=tree.classes,
        paths=tuple(path for path, good in zip(tree.paths, kept, strict=True) if good),
        made={**run, "unreadable": [entry._asdict() for entry in unreadable]},
    )


def _cannot_read(image: Unreadable, tree: ImageTree) -> InputError:
    return InputError(
        f"cannot read {tree.root / image.path} ({image.reason}); leave such images out to go on "
        "from here (",
        Argument("skip_unreadable"),
        "), or repair it and start again",
    )
