"""``secant completion``: the shell completes commands and options."""

import re

import pytest

from commands import command
from helpers import optional

optional("click")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    shown = command("completion", shell)
    assert shown.exit_code == 0
    assert "_SECANT_COMPLETE" in shown.output


def test_the_script_asks_what_the_command_answers():
    asked = re.search(r"(\w+)=bash_complete", command("completion", "bash").output)[1]
    for typed, found in (
        ("secant as", {"assess"}),
        ("secant assess --y-", {"--y-true", "--y-prob"}),
    ):
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
        shown = command(env={asked: "bash_complete", **words})
        assert {line.partition(",")[2] for line in shown.output.splitlines()} == found


def test_other_shells_are_refused():
    shown = command("completion", "tcsh")
    assert shown.exit_code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in shown.output
