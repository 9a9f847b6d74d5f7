"""The table of groups: sorted, searched, and each row opening its own curve."""

import json

import numpy as np

import secant
import secant.report
from helpers import HOSTILE
from pages import Outline, agrees, drag, names_shown
from secant._results import wording
from secant.report.sections import groups as section


def test_groups_are_sorted_searched_and_opened(visit, groups, full_page):
    with visit(full_page) as page:
        assert names_shown(page)[0] == "north"  # worst first
        page.locator("th button", has_text="predictions").click()
        shown = page.locator(".groups tbody td.number:nth-child(3)").all_inner_texts()
        counts = [int(text.replace(",", "")) for text in shown]
        assert counts == sorted(row.calibration.n for row in groups.rows)
        page.locator("th button", has_text="predictions").click()
        assert page.locator("th[aria-sort=descending]").count() == 1
        page.locator("th button", has_text="group").click()
        assert names_shown(page)[-1] == "(missing)"
        page.fill(".groups [type=search]", "OUTH")
        assert names_shown(page) == ["south"]
        assert page.inner_text(".search-count") == "1 of 5 shown"
        # Every row has such a number, and no group such a name.
        page.fill(".groups [type=search]", "0.")
        assert all("0." in row.text_content() for row in page.locator(".groups tbody tr").all())
        verdicts = page.locator(".groups tbody tr:not([hidden]) td:last-child").all_inner_texts()
        assert all("0." in verdict for verdict in verdicts)
        assert len(verdicts) < 5
        page.fill(".groups [type=search]", "")
        assert len(names_shown(page)) == 5
        assert not page.locator("#read-alone").is_visible()
        page.locator("[data-group]", has_text="north").click()
        assert "Among 5 groups some are off by chance" in page.inner_text("#read-alone")
        chance = wording.adjusted_pvalue(groups.rows[0])
        sign = "" if chance.startswith("<") else "= "
        assert f"adjusted for that, P {sign}{chance}: too" in page.inner_text("#read-alone")
        agrees(page, groups["north"])
        assert page.locator("#group-curve").is_visible()
        drag(page, 0.2, 0.7)
        agrees(page, groups["north"])
        page.locator("#series button", has_text="other").click()
        assert not page.locator("#group-curve").is_visible()
        assert not page.locator("#read-alone").is_visible()


def test_groups_of_two_models(visit, tmp_path):
    rng = np.random.default_rng(4)
    scores, region = rng.random(3000), rng.choice(["north", "south", "west"], 3000)
    happened = rng.random(3000) < scores
    forecasts = {"old": scores**1.3, HOSTILE: scores}
    models = {name: secant.assess(happened, each) for name, each in forecasts.items()}
    groups = {name: secant.assess_by(happened, each, region) for name, each in forecasts.items()}
    secant.report.write(tmp_path / "two.html", models, groups=groups)
    with visit(tmp_path / "two.html") as page:
        assert page.locator("section.groups h2").all_inner_texts() == [
            "Groups of old", f"Groups of {HOSTILE}"
        ]  # fmt: skip
        first, second = page.locator("section.groups").all()
        second.locator("[type=search]").fill("south")
        assert second.locator(".search-count").inner_text() == "1 of 3 shown"
        assert first.locator("tbody tr:not([hidden])").count() == 3
        second.locator("th button", has_text="group").click()
        assert first.locator("th[aria-sort=ascending]").count() == 0
        second.locator("[data-group]", has_text="south").click()
        agrees(page, groups[HOSTILE]["south"])
        assert page.locator("#series button").last.inner_text() == f"Group south of {HOSTILE}"
        first.locator("[data-group]", has_text="south").click()
        agrees(page, groups["old"]["south"])
        page.locator(".groups-verdict a").last.click()
        assert page.evaluate("location.hash") == f"#{second.get_attribute('id')}"


def test_groups_of_two_columns_and_numbers(visit, tmp_path):
    rng = np.random.default_rng(8)
    data = {
        "happened": rng.random(2000) < 0.5,
        "forecast": rng.random(2000),
        "year": rng.integers(2, 12, 2000),
        "site": np.where(rng.random(2000) < 0.5, "a", HOSTILE),
    }
    groups = secant.assess_by("happened", "forecast", ["site", "year"], data=data)
    groups.report(tmp_path / "groups.html")
    with visit(tmp_path / "groups.html") as page:
        page.locator("th button", has_text="year").click()
        years = [
            int(year) for year in page.locator(".groups tbody td:nth-child(2)").all_inner_texts()
        ]
        assert years == sorted(row.key[1] for row in groups.rows)
        page.locator(".groups tbody tr").first.click()
        assert page.inner_text("#series button").endswith(", 2")
        assert page.evaluate("document.activeElement.id") == "whole"
        opened = page.locator(".groups tbody [aria-pressed=true]")
        agrees(page, groups[opened.inner_text(), 2])


def test_keys_that_are_numbers():
    keys = [1.5, 1.5, np.inf, np.inf, np.nan]
    groups = secant.assess_by([0, 1, 0, 1, 1], [0.2, 0.7, 0.4, 0.5, 0.6], keys)
    page = Outline(secant.report.render(groups=groups))
    rows = json.loads(page.blocks["numbers"])["groups"][0]["rows"]
    assert sorted(row["name"] for row in rows) == ["(missing)", "1.5", "inf"]
    assert {row["name"]: row["key"] for row in rows} == {
        "1.5": 1.5,
        "inf": "inf",
        "(missing)": None,
    }


def test_every_model_may_have_groups(monkeypatch):
    monkeypatch.setattr(section, "_MOST_GROUPS", 4)
    happened, scores = [0, 1, 0, 1, 1, 0], [0.2, 0.7, 0.4, 0.5, 0.6, 0.1]
    groups = secant.assess_by(happened, scores, ["a", "a", "b", "b", "c", "c"])
    models = {each: secant.assess(happened, scores) for each in ("old", "new")}
    page = Outline(secant.report.render(models, groups=dict.fromkeys(models, groups)))
    tables = json.loads(page.blocks["numbers"])["groups"]
    assert [table["model"] for table in tables] == ["old", "new"]
    assert [len(table["rows"]) for table in tables] == [2, 2]  # the room is shared
    assert len(json.loads(page.blocks["views"])["groups"]) == 4
    buttons = [each["data-group"] for _, each in page.elements if "data-group" in each]
    assert buttons == ["0", "1", "2", "3"]
    ids = [each["id"] for _, each in page.elements if "id" in each]
    assert len(ids) == len(set(ids))
