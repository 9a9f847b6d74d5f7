"""A fork while a thread computes: what the thread had begun to load neither hangs nor breaks.

A fork copies locks as they are: one that another thread holds while it imports a module, or has
numba compile, is never released in the child, which would wait for it for ever. So a fork waits
for both; what a thread begins to import just then is begun anew in the child.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  (has hooks of its own, to be there before ours)
import logging  # noqa: F401  (as well)
import os
import sys
from contextlib import suppress
from importlib import import_module
from threading import RLock, get_ident
from typing import Any

__all__ = ["COMPILING"]

# Held while numba compiles, or loads what it has compiled.
COMPILING = RLock()
# What a thread may import while it computes, which waits for no lock but those of imports.
_OURS = {"secant", "numpy", "numba", "llvmlite", "narwhals", "pyarrow"}


def _is_begun(module: Any) -> bool:
    """Tell whether a module is being imported."""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _wait() -> None:
    """Wait for what other threads compile and import."""
    COMPILING.acquire()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _OURS and _is_begun(module):
            with suppress(Exception):  # it is another thread that is told what is wrong with it
                import_module(name)


def _begin_anew() -> None:
    """Forget what threads of the parent had begun to import."""
    COMPILING.release()
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, reference in list(locks.items()):
        if getattr(reference(), "owner", None) not in {None, get_ident()}:
            del locks[name]
            if _is_begun(sys.modules.get(name)):
                del sys.modules[name]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=COMPILING.release, after_in_child=_begin_anew)
