"""What an interrupted run leaves behind, so that the next one goes on from there."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from secant._base.writing import write_whole
from secant.errors import Argument, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from secant._base.types import FloatArray, IntArray

__all__ = ["FinishedBatch", "FinishedBatches"]

_RUN = "run.json"
_BATCHES = "batch-*.npz"


class FinishedBatch(NamedTuple):
    """The results of one batch, a row an image.

    Attributes
    ----------
    score : ndarray of float64
        NaN where the image could not be read.
    predicted_class : ndarray of int64
        -1 where the image could not be read.
    problem : tuple of str
        Why it could not; empty where it could.
    """

    score: FloatArray
    predicted_class: IntArray
    problem: tuple[str, ...]


class FinishedBatches:
    """A folder of finished batches, and of what they are batches of.

    Parameters
    ----------
    folder : Path
        Made where it is not there yet.
    run : mapping from str to str or int
        Everything the results depend on. A folder left by a run that differs in anything is
        refused.

    Raises
    ------
    InputError
        If the folder belongs to another run, or holds something else.
    """

    def __init__(self, folder: Path, run: Mapping[str, str | int]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / _RUN
        if file.exists() and any(folder.glob(_BATCHES)):
            _compare(folder, _read(file), dict(run))
            return
        self.discard(folder)  # a run that finished no batch left nothing worth keeping
        folder.mkdir(exist_ok=True)
        if any(not each.name.startswith(f".{_RUN}.") for each in folder.iterdir()):
            msg = f"{folder} is in the way: it was not left by an interrupted run"
            raise InputError(msg)
        write_whole(file, json.dumps(run, indent=1).encode())

    def load(self, number: int, size: int) -> FinishedBatch | None:
        """Return a finished batch; None where it is missing, damaged or of another size."""
        try:
            with np.load(self._file(number), allow_pickle=False) as saved:
                batch = FinishedBatch(
                    score=saved["score"],
                    predicted_class=saved["predicted_class"],
                    problem=tuple(map(str, saved["problem"])),
                )
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return None
        return batch if {len(column) for column in batch} == {size} else None

    def save(self, number: int, batch: FinishedBatch) -> None:
        """Keep a finished batch."""
        content = io.BytesIO()
        np.savez(
            content,
            score=batch.score,
            predicted_class=batch.predicted_class,
            problem=np.asarray(batch.problem, dtype=np.str_),
        )
        write_whole(self._file(number), content.getvalue())

    @staticmethod
    def discard(folder: Path) -> None:
        """Remove what this class put into a folder, and the folder where that was all.

        A folder that does not say which run it is of is left as it is.
        """
        if not (folder / _RUN).exists():
            return
        for pattern in (_BATCHES, f".{_BATCHES}.*", f".{_RUN}.*", _RUN):
            for file in folder.glob(pattern):
                file.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()

    def _file(self, number: int) -> Path:
        return self.folder / f"batch-{number:07d}.npz"


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        msg = f"{file} does not say which run left it; remove {file.parent} to start anew"
        raise InputError(msg)
    return found


def _compare(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    changed = [
        f"{key} was {before.get(key)!r} and is {now.get(key)!r}"
        for key in {**before, **now}
        if before.get(key) != now.get(key)
    ]
    if changed:
        raise InputError(
            f"{folder} was left by an interrupted run that differs from this one: "
            f"{'; '.join(changed)}. Go back to what it was, or throw its results away (",
            Argument("restart"),
            ")",
        )
