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
    assert "Over scores 0.292 to 1.000 predictions are too high by 2.51 points" in " ".join(
        shown.output.split()
    )
    assert "1 of 3 groups is miscalibrated" in shown.output
