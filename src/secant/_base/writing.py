"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from secant._base.ending import end_if_asked
from secant._base.leftovers import beginning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["check_place", "write_whole"]

# Every step is a call of os, so that tests can make each of them fail.


def check_place(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Say what is in the place of a file that is to be written; None for nothing.

    Parameters
    ----------
    path
        Where the file is to go.

    Raises
    ------
    OSError
        If nothing can go there: a name too long, a link that leads nowhere or in circles, a folder,
        a file that is read-only, or one whose owner a new file could not have.
    """
    try:
        old = os.stat(path)  # noqa: PTH116  (as above; so below)
    except FileNotFoundError:
        os.stat(os.path.dirname(os.path.realpath(path)))  # noqa: PTH116, PTH120
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, "that is a folder", os.fspath(path))
    # The superuser may write to any file, and yet means it when a file may not be written to.
    if not old.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "that file is read-only", os.fspath(path))
    if stat.S_ISREG(old.st_mode) and hasattr(os, "geteuid") and os.geteuid() not in {0, old.st_uid}:
        raise _not_ours(path)
    return old


def write_whole(
    path: str | os.PathLike[str], content: bytes, check: Callable[[], None] | None = None
) -> None:
    """Write a file beside its place and move it there, so that no reader ever sees half of it.

    What was there before gives its owner and its permissions to the new file. A link stays a link;
    what is no file, such as /dev/stdout, is written to and not replaced.

    Parameters
    ----------
    path, content
        Where to, and what.
    check
        Called right before the file is moved to its place, while nobody else who checks may put one
        there; raises where what is there must not be lost.

    Raises
    ------
    OSError
        As :func:`check_place`, and if the file cannot be written. What was there is there still.
    """
    end_if_asked()
    try:
        old = check_place(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            _write(os.open(path, os.O_WRONLY), content)
            return
        place = os.path.realpath(path)
        # A short name, because the long one may be as long as names can be.
        folder = os.path.dirname(place)  # noqa: PTH120
        beside = os.path.join(folder, beginning(folder) + os.urandom(8).hex())  # noqa: PTH118
        try:
            _create(beside, content, old)
            end_if_asked()
            if check is None:
                os.replace(beside, place)  # noqa: PTH105
            elif old is None:
                _put_first(beside, place, check)
            else:
                with _locked(place):
                    check()
                    os.replace(beside, place)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)  # noqa: PTH108
            raise
    except OSError as error:
        error.filename = os.fspath(path)  # nobody knows of the one beside it
        del error.filename2
        raise


@contextmanager
def _locked(place: str) -> Iterator[None]:
    """Lock the file that is to be replaced, where the file system has locks, until it is.

    Whoever comes later finds another file in its place, and ``check`` sees that. A process that
    ends in whatever way gives the lock back. Without locks, as on some network file systems, only
    the moment between the check and the replacement is left open.
    """
    handle = os.open(place, os.O_RDWR)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                error.strerror = "another process is writing that file; repeat the run"
                raise
            except OSError:
                pass
        yield
    finally:
        os.close(handle)


def _put_first(beside: str, place: str, check: Callable[[], None]) -> None:
    """Move a file to a place that is free, and to no other."""
    check()
    try:
        os.link(beside, place)  # which fails where something is by now
    except FileExistsError:
        check()
        raise
    except OSError:  # a file system without links
        os.replace(beside, place)  # noqa: PTH105
    else:
        os.unlink(beside)  # noqa: PTH108


def _create(beside: str, content: bytes, old: os.stat_result | None) -> None:
    """Write a new file with the owner and the permissions of an old one, or the usual ones."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # What was not for everybody's eyes never is, not for a moment.
    handle = os.open(beside, flags, 0o666 if old is None else 0o600)
    try:
        if old is not None:
            _take_after(handle, beside, old)
    except BaseException:
        os.close(handle)
        raise
    _write(handle, content, sync=True)


def _take_after(handle: int, beside: str, old: os.stat_result) -> None:
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.chown(beside, old.st_uid, old.st_gid)
        except PermissionError as error:
            raise _not_ours(beside) from error
    os.chmod(beside, stat.S_IMODE(old.st_mode))  # noqa: PTH101


def _write(handle: int, content: bytes, *, sync: bool = False) -> None:
    """Write everything and close."""
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
        if sync:
            os.fsync(handle)
    except BaseException:
        with suppress(OSError):
            os.close(handle)
        raise
    os.close(handle)  # which may be when a full disk is noticed


def _not_ours(path: str | os.PathLike[str]) -> PermissionError:
    why = "that file belongs to somebody else, and a new one in its place would not"
    return PermissionError(errno.EPERM, why, os.fspath(path))
