"""The commands as a whole: how they are found, started and left."""

import subprocess
import sys

import pytest

import secant
from commands import NAMED, assess, command
from helpers import PACKAGE, optional
from secant._api import together

optional("click")
optional("rich")
optional("pyarrow")


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag):
    result = command(flag)
    assert result.exit_code == 0
    assert result.output == f"secant {secant.__version__}\n"


def test_the_list_of_commands_cuts_no_sentence():
    from secant.cli import cli

    shown = command("--help").output
    commands = shown[shown.index("Commands:") :].splitlines()[1:]
    assert len(commands) == len(cli.commands)
    assert all(line.endswith(".") and not line.endswith("..") for line in commands)


def test_without_a_command_the_help_is_shown_and_it_is_no_success():
    shown = command()
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert shown.stderr == command("--help").stdout


@pytest.mark.parametrize("name", ["asess", "[sic]"])  # click may take the second for an option
def test_what_is_no_command_is_refused(name):
    shown = command(name)
    assert shown.exit_code == 2
    assert shown.stdout == ""


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (ZeroDivisionError, 3)])
def test_only_the_gate_exits_with_1(file, monkeypatch, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(together, "assess_together", fail)
    shown = assess(file, *NAMED)
    assert shown.exit_code == code
    assert ("Interrupted." if code == 130 else "ZeroDivisionError") in shown.stderr


def python(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_click_the_message_names_what_to_install():
    script = """
import sys
sys.path.insert(0, sys.argv.pop(1))
sys.modules["click"] = None  # as if it were not installed
from secant.__main__ import main
main()
"""
    done = python(script, PACKAGE.parent, "paper")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "secant's command line needs click, which is not installed: pip install 'secant[cli]'\n"
    )


def test_as_a_module():
    script = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
sys.argv[1:] = ["--version"]
runpy.run_module("secant", run_name="__main__")
"""
    done = python(script, PACKAGE.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"secant {secant.__version__}\n"


def test_help_loads_neither_matplotlib_nor_rich():
    script = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from secant.cli import cli
cli(["paper", "--help"], standalone_mode=False)
print(*(name for name in ("matplotlib", "rich", "torch", "pyarrow") if name in sys.modules))
"""
    done = python(script, PACKAGE.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == ""
