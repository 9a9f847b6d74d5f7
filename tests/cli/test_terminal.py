"""What is printed: the three answers, tables that fit, and names that are only names."""

import numpy as np
import pytest

import secant
from commands import NAMED, assess, write
from helpers import optional
from secant._results import wording

optional("click")
optional("rich")
pyarrow = optional("pyarrow")

from secant.cli._terminal import show_groups, sparkline, terminal  # noqa: E402  (it imports click)


def test_the_three_answers(file, columns):
    result = secant.assess(columns["happened"], columns["forecast"])
    shown = assess(file, *NAMED)
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.split())
    for line in str(result).splitlines():  # the same words as the library's
        assert line in words
    assert "ECCE-MAD" not in words
    more = " ".join(assess(file, *NAMED, "--details").output.split())
    for line in str(result.details).splitlines():
        assert line in more
    assert "▁" in shown.output
    assert "█" in shown.output


def test_significant_intervals_are_shown(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    off = np.where((p > 0.1) & (p < 0.4), 0.15, 0) - np.where((p > 0.6) & (p < 0.9), 0.15, 0)
    columns = {"y": (rng.random(6000) < p + off).astype(int), "p": p}
    result = secant.assess(columns["y"], columns["p"])
    assert len(result.intervals) == 2
    shown = assess(write(tmp_path / "a.parquet", columns)).output
    for each in result.intervals:
        assert f"{each.low:.3f} to {each.high:.3f}" in shown
        assert f"{each.n:,}" in shown


def test_groups_are_sorted_counted_and_shown_literally(file, columns):
    shown = assess(file, *NAMED, "--by", "segment")
    assert shown.exit_code == 0, shown.output
    assert "1 of 3 groups is miscalibrated at 5% after Holm's correction." in shown.output
    table_of_groups = shown.output[shown.output.index("1 of 3 groups") :]
    assert "[red]west" in table_of_groups
    assert table_of_groups.index("south") < table_of_groups.index("north")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_no_line_is_longer_than_the_terminal_and_no_number_is_cut(file, columns, width):
    shown = assess(file, *NAMED, "--by", "segment", env={"COLUMNS": str(width)}).output
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    result = secant.assess(columns["happened"], columns["forecast"])
    if width >= 60:
        more = assess(file, *NAMED, "--details", env={"COLUMNS": str(width)}).output
        for number in (result.ecce_r.value, result.ecce_mad.value, *result.ecce_r.ci):
            assert wording.metric(number) in more
        for each in secant.assess_by(
            columns["happened"], columns["forecast"], columns["segment"]
        ).rows:
            assert wording.metric(each.calibration.ecce_r.value) in shown


def test_names_with_markup_show_literally(tmp_path, columns):
    columns["[bold]x[/bold]"] = columns.pop("forecast")
    file = write(tmp_path / "a.parquet", columns)
    arguments = ("--y-true", "happened", "--y-prob", "[bold]x[/bold]", "--y-prob", "better")
    for more in ((), ("--quiet",), ("--alpha", "0.01")):
        assert "[bold]x[/bold]: " in assess(file, *arguments, *more).output


def test_names_cannot_steer_the_terminal(tmp_path, columns):
    columns["seg\x1b[2Jment"] = np.where(columns["segment"] == "south", "\x1b]0;title\x07", "a\nb")
    columns["fore\x1bcast"] = columns["forecast"]
    file = write(tmp_path / "a.parquet", columns)
    arguments = (*NAMED, "--y-prob", "fore\x1bcast", "--by", "seg\x1b[2Jment", "--alpha", "0.01")
    for more in ((), ("--quiet",)):
        shown = assess(file, *arguments, *more).output
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "fore\\x1bcast: " in shown
        assert "\\x1b]0;title\\x07" in shown


def test_a_group_without_a_name_is_told_from_a_missing_one(tmp_path, columns):
    columns["segment"] = pyarrow.array(["", None] * 2000)
    shown = assess(write(tmp_path / "a.parquet", columns), *NAMED, "--by", "segment").output
    assert "(empty)" in shown
    assert "(missing)" in shown


def test_a_line_of_bars_is_the_curve():
    p = np.full(400, 0.5)
    y = np.arange(400) % 2 == 0
    off = np.where(np.arange(400) < 200, 0, 0.4) + p
    scores = off + np.linspace(0, 1e-6, 400)
    drawn = sparkline(secant.assess(y, scores), 41, "01234567")
    assert len(drawn) == 41
    assert drawn[0] == drawn[20] == "7"  # flat, then downhill to the end
    assert drawn[-1] == "0"
    assert list(drawn[20:]) == sorted(drawn[20:], reverse=True)


@pytest.mark.parametrize(("too_high", "heights"), [(0, range(2, 6)), (0.1, [8])])
def test_noise_looks_small(too_high, heights):
    rng = np.random.default_rng(0)
    p = rng.random(5000)
    result = secant.assess(rng.random(5000) < np.clip(p - too_high, 0, 1), p)
    assert result.found == (too_high > 0)
    assert len(set(sparkline(result, 72, "01234567"))) in heights


@pytest.mark.parametrize("width", [1, 72])
def test_nothing_to_see_is_a_flat_line(width):
    assert sparkline(secant.assess([0, 1], [0.0, 1.0]), width, "_#") == "_" * width


@pytest.mark.parametrize(("told", "width"), [("57", 57), ("", 120), ("wide", 120)])
def test_a_log_is_as_wide_as_it_is_told(monkeypatch, told, width):
    monkeypatch.setenv("COLUMNS", told)
    assert terminal().width == width


def test_of_many_groups_the_first_are_shown(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    names = [f"group{number:02d}" for number in range(23)]
    groups = secant.assess_by([0, 1] * 23, [0.3, 0.7] * 23, np.repeat(names, 2))
    show_groups(terminal(), None, groups)
    shown = capsys.readouterr().out
    assert sum(name in shown for name in names) == 20
    assert "... and 3 more groups; --json and --html show all" in shown


@pytest.mark.parametrize("width", [60, 80, 100, 120, 300])
def test_what_a_table_has_no_room_for_is_named(file, width):
    models = ("--y-prob", "better")
    for options, columns in (
        (models, ["miscalibration", "discrimination", "log loss", "P", "Brier"]),
        (("--by", "segment"), ["predictions", "forecast", "outcome", "ECCE-R", "sigma"]),
    ):
        shown = assess(file, *NAMED, *options, env={"COLUMNS": str(width)}).output
        lines = shown.splitlines()
        table = next(n for n, line in enumerate(lines) if line.startswith(("model ", "segment ")))
        header = lines[table].split()
        words = " ".join(shown.split())
        lacking = words.partition("No room for ")[2].partition(": a wider terminal")[0].split(", ")
        for column in columns:
            assert (column.split()[-1] in header) != (column in lacking)
        if width in (60, 300):
            assert ("No room for" in words) == (width == 60)
