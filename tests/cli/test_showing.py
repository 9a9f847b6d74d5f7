"""How the command says what it found: nothing is lost between terminal, JSON, picture and page."""

import json
from pathlib import Path

from commands import found
from helpers import optional

optional("click")
optional("rich")

from secant.cli._showing import (  # noqa: E402  (with what follows)
    as_json,
    draw,
    printed,
    write_json,
    write_report,
)


def test_what_is_not_asked_for_is_not_written():
    outcome = found()
    assert draw(outcome, None) is None
    assert write_report(outcome, {"html": None}) is None
    assert write_json(outcome, None) is None
    assert write_json(outcome, Path("-")) is None


def test_json_is_what_was_found(tmp_path):
    outcome = found()
    path = write_json(outcome, tmp_path / "numbers.json")
    assert path.read_text() == as_json(outcome)
    assert json.loads(as_json(outcome))["columns"] == outcome.columns.to_dict()


def test_asides_come_first_and_every_model_is_named():
    shown = printed(found(), ["Guessed: happened."], quiet=False, details=False)
    assert shown.startswith("Guessed: happened.")
    assert all(name in shown for name in ("forecast", "better"))
    quiet = printed(found(), [], quiet=True, details=False).splitlines()
    assert [line.split(":")[0] for line in quiet] == ["forecast", "better"] * 2
