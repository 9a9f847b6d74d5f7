"""``secant paper``: the paper reproduced."""

import json

import pytest

from commands import command
from helpers import optional

optional("click")
optional("rich")
optional("matplotlib")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_has_examples(flag):
    assert "secant paper --out paper" in command(flag).output
    text = command("paper", flag).output
    for words in ("--out DIR", "--only NUMBERS", "--imagenet FILE", "--format FORMATS", "Examples"):
        assert words in text
    assert "      secant paper --out paper --only 1,7\n".lstrip() in text


def test_a_subset_is_drawn_and_named(tmp_path):
    result = command("paper", "--out", tmp_path / "out", "--only", "2", "--format", "png")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Drew Figure 2 in ")
    assert f"Open {tmp_path / 'out' / 'index.html'}" in result.stdout
    assert result.stderr == ""  # no progress bar where there is no terminal
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["figure02.png", "index.html", "statistics.json"]
    text = (tmp_path / "out" / "statistics.json").read_text(encoding="utf-8")
    assert list(json.loads(text)) == ["synthetic", "convergence"]


def test_a_terminal_gets_a_progress_bar(tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    result = command("paper", "--out", tmp_path, "--only", "2", "--format", "png")
    assert result.exit_code == 0, result.output
    assert "Computing" in result.stderr
    assert "%" in result.stderr


def test_comparisons_are_counted(tmp_path):
    result = command("paper", "--out", tmp_path, "--only", "7", "--format", "pdf")
    assert "7 of 8 comparisons match the paper; 1 differs, and the page says why." in result.stdout


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ("1,99", "there is no figure 99; there are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 35, 36"),
        ("37-39", "there is no figure 37, 38, 39;"),
        ("0", "there is no figure 0;"),
        ("11-14", "11, 12, 13, 14 of 11-34 need --imagenet"),
        ("one", "'one' is not a number or a range such as 3-6"),
        ("6-3", "'6-3' is not an ascending range"),
        ("1,", "'' is not a number"),
        ("-1", "'-1' is not a number"),
    ],
)
def test_wrong_figures(tmp_path, only, message):
    result = command("paper", "--out", tmp_path / "out", f"--only={only}")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()


def test_ranges_and_spaces(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "secant.cli.paper._synthetic", lambda _out, only, *_rest: asked.append(sorted(only))
    )
    result = command("paper", "--out", tmp_path, "--only", " 3 - 5, 36,1")
    assert result.exit_code == 0
    assert asked == [[1, 3, 4, 5, 36]]


def test_figures_of_imagenet_go_their_own_way(tmp_path, monkeypatch):
    file = tmp_path / "predictions.parquet"
    file.touch()
    asked = []
    for name in ("_synthetic", "_imagenet"):
        monkeypatch.setattr(
            f"secant.cli.paper.{name}",
            lambda *arguments, name=name: asked.append((name, arguments)),
        )
    formats, page = ("pdf", "png"), {"imagenet.html": "Figures 11 to 34: ImageNet"}
    options = ("--out", tmp_path, "--imagenet", file, "--workers", 1)

    assert command("paper", *options, "--only", "7,11").exit_code == 0
    assert asked == [
        ("_imagenet", (file, tmp_path, {11}, formats)),
        ("_synthetic", (tmp_path, {7}, formats, 1, page)),
    ]
    asked.clear()
    assert command("paper", *options, "--only", "11-34").exit_code == 0
    assert [name for name, _ in asked] == ["_imagenet"]
    asked.clear()
    assert command("paper", *options).exit_code == 0
    assert asked == [
        ("_imagenet", (file, tmp_path, None, formats)),
        ("_synthetic", (tmp_path, None, formats, 1, page)),
    ]
    result = command("paper", *options, "--only", "7")
    assert result.exit_code == 2
    assert "none of 11-34 was chosen" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "svg"], "'svg' is not one of pdf, png"),
        (["--workers", "0"], "0 is not in the range"),
        (["--imagenet", "nowhere.parquet"], "'nowhere.parquet' does not exist"),
    ],
)
def test_wrong_options(tmp_path, arguments, message):
    result = command("paper", "--out", tmp_path, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_the_folder_is_needed():
    result = command("paper")
    assert result.exit_code == 2
    assert "--out" in result.output


def test_what_cannot_be_written_is_said_in_one_line(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    result = command("paper", "--out", tmp_path / "taken" / "below", "--only", "2")
    assert result.exit_code == 2
    assert result.output.startswith("Error: cannot write to ")
    assert "Traceback" not in result.output
