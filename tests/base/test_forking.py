"""Children forked while a thread imports or compiles can do both themselves."""

import os
import subprocess
import sys

import pytest

from helpers import optional

# A child that waits for a lock nobody holds any more is ended by its alarm.
_FORK = """
import os, signal, sys, threading, time, warnings
import secant
from importlib import import_module
from importlib.util import spec_from_loader

warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
begun = threading.Event()

def forked(work, there):
    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(0 if there() else 3)
    thread.join()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
_IMPORT = """
class Slow:
    def find_spec(self, name, *_):
        return spec_from_loader(name, self) if name == "secant.slow" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        begun.set()
        time.sleep(0.2)
        {end}

secant.ecce_r
sys.meta_path.insert(0, Slow())
def imported():
    try:
        return import_module("secant.slow").done
    except ZeroDivisionError:
        return True
forked(imported, imported)
"""
_COMPILE = """
from secant._blocks import kernels
whole = kernels._dispatcher
def slowly(*arguments):
    begun.set()
    time.sleep(0.2)
    return whole(*arguments)
kernels._dispatcher = slowly
compiled = kernels.compiled
forked(lambda: compiled(kernels.select, "<f8 C"), lambda: compiled(kernels.fold))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("script", ["import", "import that fails", "compile"])
def test_a_child_waits_for_no_thread_of_its_parent(script):
    if script == "compile":
        optional("numba")
    end = "module.done = True" if script == "import" else "1 / 0"
    code = _FORK + (_COMPILE if script == "compile" else _IMPORT.replace("{end}", end))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
