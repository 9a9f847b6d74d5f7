"""What test modules share: ``from helpers import optional``."""

import gzip
import importlib
import os
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "secant"
DATA = ROOT / "tests" / "data"

# Real predictions that are too large for the repository and live beside it. Use the fixture
# `shared_data`, which skips where they are absent.
SHARED_DATA = ROOT.parent / "shared" / "data"

# Names from data that must be shown as they are and never become markup.
HOSTILE = "<img src=x onerror=alert(1)>"
CLOSING = "</script><script>alert(2)</script>\N{LINE SEPARATOR}"

# gzip writes the time of day into what it packs, unless it is told another.
packed = partial(gzip.compress, mtime=0)

REQUIRE_ALL = os.environ.get("SECANT_REQUIRE_ALL", "0") == "1"


def optional(name: str) -> ModuleType:
    """Import a library that the tests can do without, such as scipy.

    Where it is missing the caller is skipped: one test when called inside a test, the whole file
    when called at its top. With ``SECANT_REQUIRE_ALL=1`` (as in ``make test``) it fails instead,
    so that nothing is skipped by accident. A library that is there but broken always fails.
    """
    if REQUIRE_ALL:
        return importlib.import_module(name)
    return pytest.importorskip(name)
