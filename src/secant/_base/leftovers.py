"""What processes that were killed have left beside the files that they were writing.

A name says which process on which machine it belongs to. What a living process of this machine, any
process of another one (whose processes cannot be seen from here) or another user has is left alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from contextlib import suppress
from functools import cache

__all__ = ["beginning"]

_BEGINNING = ".secant-"


def beginning(folder: str | os.PathLike[str]) -> str:
    """Return how names in a folder begin that only this process uses, having tidied up there."""
    if hasattr(os, "geteuid"):  # elsewhere processes cannot be asked whether they live
        with suppress(OSError):
            _tidy(os.fspath(folder) or os.curdir)
    return f"{_BEGINNING}{_machine()}-{os.getpid()}-{_started(os.getpid())}-"


def _tidy(folder: str) -> None:
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name.startswith(f"{_BEGINNING}{_machine()}-")]
    for entry in found:
        with suppress(OSError, ValueError):
            pid, started, _ = entry.name.removeprefix(f"{_BEGINNING}{_machine()}-").split("-")
            about = entry.stat(follow_symlinks=False)
            if about.st_uid != os.geteuid() or _lives(int(pid), started):
                continue
            if stat.S_ISDIR(about.st_mode):
                shutil.rmtree(entry.path, ignore_errors=True)
            elif stat.S_ISREG(about.st_mode):
                os.unlink(entry.path)  # noqa: PTH108


@cache
def _machine() -> str:
    """Return what tells this machine, and the processes seen from here, from others."""
    known = [getattr(os, "uname", lambda: ("", ""))()[1]]
    with suppress(OSError):
        known.append(str(os.stat("/proc/self/ns/pid").st_ino))  # noqa: PTH116  (a container has its own)
    with suppress(OSError), open("/etc/machine-id", encoding="utf-8") as file:  # noqa: PTH123
        known.append(file.read())
    return hashlib.sha256("\n".join(known).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _lives(pid: int, started: str) -> bool:
    """Tell whether a process lives, and is not a later one with the same number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it lives, and is somebody else's
        pass
    return "0" in {started, _started(pid)} or _started(pid) == started


def _started(pid: int) -> str:
    """Return when a process was started, in ticks of its machine; 0 where that is not told."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return "0"
