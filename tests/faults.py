"""Faults injected into the steps of writing files, each in turn."""

import contextlib
import errno
import os
from unittest import mock

# Everything that writing.py asks of the system.
STEPS = ("stat", "open", "fstat", "chown", "chmod", "write", "fsync", "close", "replace")
ERRORS = (OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), SystemExit(143))


class Counting:
    """Stand in for ``os`` in writing.py, count its steps, and let one of them fail."""

    def __init__(self, failing=None, error=None, **others):
        self.steps, self._failing, self._error = [], failing, error
        self.__dict__.update(others)

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def step(*arguments, **options):
            self.steps.append(name)
            if len(self.steps) - 1 == self._failing:
                if name == "close":  # it is closed, and yet not everything was written
                    real(*arguments, **options)
                raise self._error
            if name == "write":  # as the system may: less than was asked for
                handle, content = arguments
                return real(handle, content[: max(1, len(content) // 2)])
            return real(*arguments, **options)

        return step


@contextlib.contextmanager
def counting(failing=None, error=None, **others):
    """Count the steps of writing; ``others`` are done in place of what the system would do."""
    steps = Counting(failing, error, **others)
    with mock.patch("secant._base.writing.os", steps):
        yield steps


def content_of(folder):
    """Return every file in a folder, with what is in it."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
