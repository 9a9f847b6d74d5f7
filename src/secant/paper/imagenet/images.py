"""A folder of images for each class, and reading them ahead of the network."""

from __future__ import annotations

import hashlib
import math
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base.extras import require
from secant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from secant._base.types import IntArray

__all__ = ["ImageTree", "Unreadable", "check_reader", "list_images", "read_ahead"]

# What torchvision's ImageFolder takes for an image.
_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


@dataclass(frozen=True, slots=True, eq=False)
class ImageTree:
    """Images in a folder for each class, as torchvision's ``ImageFolder`` sees them.

    Attributes
    ----------
    root : Path
        The folder that holds the folders of classes.
    classes : tuple of str
        Their names in ascending order: the place of a name is the number of the class.
    paths : tuple of str
        The images, by class and then by name, relative to the root and with forward slashes.
    true_class : ndarray of int64
        The class of each image.
    digest : str
        Changes when a class or an image is added, removed, renamed or rewritten; does not when
        the whole tree is moved.
    """

    root: Path
    classes: tuple[str, ...]
    paths: tuple[str, ...]
    true_class: IntArray
    digest: str


class Unreadable(NamedTuple):
    """An image that could not be read."""

    path: str
    reason: str


def list_images(root: str | Path) -> ImageTree:
    """List the images of a tree.

    Parameters
    ----------
    root : str or Path
        A folder of class folders. Images may lie in subfolders of those. A class folder may be
        empty, so that the numbers of the other classes stay what they are.

    Returns
    -------
    ImageTree
        Classes and images.

    Raises
    ------
    InputError
        If there is no such folder, it holds no class folders or no images, or a name is not text.
    """
    root = Path(root)
    if not root.is_dir():
        msg = f"IMAGES must be a folder that holds a folder for each class; {root} is not a folder"
        raise InputError(msg)
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    if not classes:
        msg = f"IMAGES must hold a folder for each class; {root} holds no folder"
        raise InputError(msg)
    seen = hashlib.sha256()
    paths: list[str] = []
    true_class: list[int] = []
    for number, name in enumerate(classes):
        seen.update(_bytes(name) + b"\0\0")
        for path in _files(root / name):
            relative = path.relative_to(root).as_posix()
            status = path.stat()
            seen.update(_bytes(relative) + b"\0%d %d\0" % (status.st_size, status.st_mtime_ns))
            paths.append(relative)
            true_class.append(number)
    if not paths:
        msg = f"the class folders of {root} hold no images ({', '.join(_SUFFIXES)})"
        raise InputError(msg)
    return ImageTree(
        root=root,
        classes=tuple(classes),
        paths=tuple(paths),
        true_class=np.asarray(true_class, np.int64),
        digest=seen.hexdigest(),
    )


def check_reader() -> None:
    """Make sure that images can be read at all.

    Raises
    ------
    MissingExtraError
        If Pillow is not installed.
    """
    require("PIL.Image", "imagenet", "reading images needs")


def read_ahead(
    root: Path,
    batches: Mapping[int, Sequence[str]],
    prepare: Callable[[Any], Any],
    *,
    workers: int,
) -> Iterator[tuple[int, list[Any]]]:
    """Read and prepare the images of batches in threads, a few batches ahead of their use.

    Decoding and resizing leave the interpreter to other threads, so threads are enough to use
    every core, and they share memory with the network.

    Parameters
    ----------
    root : Path
        What paths are relative to.
    batches : mapping from int to sequence of str
        Paths of images by the number of the batch.
    prepare : callable
        Makes from an RGB image (``PIL.Image.Image``) what the network takes.
    workers : int
        How many threads.

    Yields
    ------
    number : int
        Number of the batch, in the order given.
    images : list
        What ``prepare`` returned for each path; an :class:`Unreadable` where that failed.
    """

    def load(path: str) -> Any:
        try:
            return prepare(_rgb(root / path))
        except Exception as error:  # noqa: BLE001  (a damaged file makes decoders raise anything)
            return Unreadable(path, f"{type(error).__name__}: {error}")

    waiting: deque[tuple[int, list[Future[Any]]]] = deque()

    def oldest() -> tuple[int, list[Any]]:
        number, futures = waiting.popleft()
        return number, [future.result() for future in futures]

    pool = ThreadPoolExecutor(workers, thread_name_prefix="secant-images")
    try:
        for number, paths in batches.items():
            waiting.append((number, [pool.submit(load, path) for path in paths]))
            if len(waiting) > 1 + math.ceil(2 * workers / len(paths)):
                yield oldest()
        while waiting:
            yield oldest()
    finally:
        pool.shutdown(cancel_futures=True)


def _files(folder: Path) -> Iterator[Path]:
    """Walk over the images of a class in the order of ``ImageFolder``."""
    for parent, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            if name.lower().endswith(_SUFFIXES):
                yield Path(parent, name)


def _rgb(path: Path) -> Any:
    """Read an image as torchvision does."""
    from PIL import Image  # noqa: PLC0415  (only where images are read)

    with path.open("rb") as file, Image.open(file) as image:
        return image.convert("RGB")


def _bytes(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError:
        msg = f"the name of a class or an image is not text that can be stored: {name!r}"
        raise InputError(msg) from None
