"""Every public result is short where it is shown, escaped in a notebook, and tells all once."""

import dataclasses
import io
import pickle
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import secant
from pages import EDGES
from samples import miscalibrated
from secant._results.base import Result, Said, Table, say, to_width


@pytest.fixture(scope="module")
def several():
    y, p = miscalibrated(3000, power=1.3)
    cells = secant.Cells()
    cells.update(y, p)
    monitor = secant.Monitor()
    monitor.add(y, p, time="<b>monday")
    result = secant.assess(y, p)
    members = secant.compare_groups(y, p, np.arange(3000) % 3 == 0)
    groups = secant.assess_by(y, p, np.where(np.arange(3000) % 2, "<b>one", "two"))
    return {
        "calibration": result,
        "statistic": result.ecce_r,
        "interval": result.between(0.2, 0.4),
        "nothing between": result.between(-1, 0),
        "intervals": result.intervals,
        "no intervals": secant.assess([0, 1], [0.4, 0.6]).intervals,
        "steepest": result.steepest,
        "ece": result.ece(),
        "many bins": result.ece(n_bins=100, strategy="quantile", norm="l2"),
        "reliability": result.reliability(),
        "curve": result.curve,
        "brier": result.brier,
        "log loss": secant.assess([0, 1], [1.0, 0.5]).log_loss,
        "recalibrated": result.recalibrated,
        "scan": secant.scan(y, p),
        "models": secant.compare_models(y, p, p**1.2),
        "members": members,
        "contrast": members.worst,
        "groups": groups,
        "group": groups.rows[0],
        "cells": cells,
        "bounds": cells.bounds(),
        "monitor": monitor,
        "history": monitor.history,
        "period": monitor.history[0],
        "where": monitor.history.where,
    }


def test_it_is_short_and_says_the_same_twice(several):
    for name, shown in several.items():
        assert len(repr(shown).splitlines()) <= 35, name
        assert max(map(len, repr(shown).splitlines())) < 320, name
        assert "array(" not in repr(shown), name
        assert not any(f"{field}=" in repr(shown) for field in ("ci", "mean_score", "n")), name
        if name != "cells":
            assert repr(shown) == str(shown), name
            page = shown._repr_html_()
            assert "<b>one" not in page, name
            assert "<b>monday" not in page, name


@pytest.mark.parametrize("name", EDGES)
def test_edges_can_be_shown_too(name):
    result = secant.assess(*EDGES[name])
    for shown in (result.ecce_r, result.worst, result.intervals, result.steepest, result.curve,
                  result.brier, result.log_loss, result.recalibrated, result.ece(),
                  result.reliability(), result.details):  # fmt: skip
        assert "nan" not in repr(shown)
        assert "\n\n" not in repr(shown)


def test_values_are_compared_and_pickled_as_before(several):
    for name in ("statistic", "interval", "intervals", "brier", "models"):
        assert pickle.loads(pickle.dumps(several[name])) == several[name]  # noqa: S301  (our own)
    assert isinstance(several["intervals"], tuple)
    assert dataclasses.replace(several["statistic"], value=1.0).value == 1


def test_a_text_of_one_line_is_its_headline():
    class Answer(Result):
        def _say(self):
            return Said("Fine & <well>")

    assert repr(Answer()) == "Fine & <well>"
    assert "<b>Fine &amp; &lt;well&gt;</b>" in Answer()._repr_html_()


def test_a_notebook_shows_all_that_is_said(several):
    for name, shown in several.items():
        if name in {"cells", "monitor", "no intervals"}:
            continue
        page = Words()
        page.feed(shown._repr_html_())
        said = say(shown)
        parts = [said.first, *said.lines, *said.notes]
        parts += [cell for table in said.tables for row in table.rows for cell in row]
        for part in parts:
            assert " ".join(part.split()) in page.text(), name


class Words(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_data(self, data):
        self.found.append(data)

    def text(self):
        return " ".join(" ".join(self.found).split())


TABLE = Table(["who", "n", "what"], [["north", "1,000", "off"], ["<b>", "9", ""]], left={0, 2})


def test_columns_stand_below_each_other():
    lines = TABLE.text().splitlines()
    assert lines == ["who        n  what", "north  1,000  off", "<b>        9"]
    assert Table(TABLE.head, []).text() == "who  n  what"


def test_a_page_shows_the_cells_of_a_table_as_they_are():
    page = Words()
    page.feed(TABLE.html())
    assert page.found == [*TABLE.head, "north", "1,000", "off", "<b>", "9"]
    assert TABLE.html().count('style="text-align:left"') == 6


def test_a_table_without_columns_keeps_its_sides():
    assert TABLE.without({1}) == Table(["who", "what"], [["north", "off"], ["<b>", ""]], {0, 1})
    assert TABLE.without({0}).left == {1}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("columns", [40, 80])
def test_sentences_end_lines_where_the_terminal_does(several, columns, monkeypatch):
    several = {name: each for name, each in several.items() if name != "cells"}  # shown as code
    plain = {name: str(shown) for name, shown in several.items()}
    monkeypatch.setenv("COLUMNS", str(columns))
    assert {name: str(shown) for name, shown in several.items()} == plain  # a pipe has no width
    pages = {name: each._repr_html_() for name, each in several.items()}
    monkeypatch.setattr("sys.stdout", Terminal())
    for name, shown in several.items():
        lines = str(shown).split("\n")
        assert str(shown).split() == plain[name].split(), name
        assert repr(shown) == str(shown), name
        assert all(len(line) <= columns for line in lines if "  " not in line), name
        tables = [line for line in plain[name].split("\n") if "  " in line]
        assert [line for line in lines if "  " in line] == tables, name
        assert shown._repr_html_() == pages[name], name  # which is no terminal's
    sys.stdout.write(str(several["calibration"].details))
    assert max(map(len, sys.stdout.getvalue().split("\n"))) <= columns
    assert several["history"].to_dict()["text"] == plain["history"]


def test_words_wider_than_the_terminal_stay_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setattr("sys.stdout", Terminal())
    assert to_width("see https://doi.org/10.1093/biomet/26.4.404 and others") == (
        "see\nhttps://doi.org/10.1093/biomet/26.4.404\nand others"
    )
    assert to_width("") == ""
    monkeypatch.setattr("sys.stdout", None)
    assert to_width("x " * 99) == "x " * 99
