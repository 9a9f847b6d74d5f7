"""A signal that was received is not forgotten."""

import signal

import pytest

from secant._base import ending


def test_a_process_that_was_asked_to_ends(monkeypatch):
    monkeypatch.setattr(ending, "_received", [])
    ending.end_if_asked()
    ending.note(signal.SIGTERM)
    ending.note(signal.SIGINT)
    for _ in range(2):
        with pytest.raises(SystemExit) as caught:
            ending.end_if_asked()
        assert caught.value.code == 128 + signal.SIGTERM
