"""Files are written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place and move it there, so that no reader ever sees half of it.

    A link stays a link; what is no file, such as /dev/stdout, is written to and not replaced.
    """
    from pathlib import Path  # noqa: PLC0415  (not what `import secant` pays for)

    path = Path(path)
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path = Path(os.path.realpath(path))
    beside = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # nobody knows of the one beside it
        raise
