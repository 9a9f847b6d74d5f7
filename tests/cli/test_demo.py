"""``secant demo``: predictions to try things on, assessed."""

from commands import command
from helpers import optional

optional("click")
optional("rich")
optional("pyarrow")


def test_demo(tmp_path):
    shown = command("demo", "--out", tmp_path / "demo")
    assert shown.exit_code == 0, shown.output
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {"predictions.parquet", "stations.parquet", "report.html", "stations.html"}
    assert "scores 0.292 to 1.000 too high by 2.51 points" in " ".join(shown.output.split())
    assert "1 of 3 groups is miscalibrated" in shown.output


def test_a_folder_that_cannot_be_is_refused_in_one_line(tmp_path):
    (tmp_path / "taken").touch()
    shown = command("demo", "--out", tmp_path / "taken" / "below")
    assert shown.exit_code == 2
    assert shown.output.startswith("Error: ")
    assert shown.output.count("\n") == 1


def test_the_commands_shown_are_the_ones_that_ran(tmp_path, monkeypatch):
    from secant.cli import assess

    ran = []
    monkeypatch.setattr(assess.command, "callback", lambda **options: ran.append(options))
    shown = command("demo", "--out", tmp_path).output
    told = [line.split()[3:] for line in shown.splitlines() if line.startswith("$ secant assess")]
    assert len(told) == 2
    assert ran == [assess.command.make_context("assess", arguments).params for arguments in told]
