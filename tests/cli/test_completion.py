"""``secant completion``: the shell completes commands and options."""

import pytest

from commands import command
from helpers import optional

optional("click")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    shown = command("completion", shell)
    assert shown.exit_code == 0
    assert "_SECANT_COMPLETE" in shown.output
