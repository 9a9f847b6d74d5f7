"""The two functions: what they take, what they refuse, and the file they write."""

import json

import pytest

import secant
import secant.report
from pages import Outline
from secant.errors import InputError


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before", encoding="utf-8")
    result = secant.assess([0, 1], [0.2, 0.7])

    def fails(file, content):
        raise OSError("no room")

    monkeypatch.setattr("secant.report.write_whole", fails)
    with pytest.raises(OSError, match="no room"):
        result.report(path)
    assert path.read_text(encoding="utf-8") == "before"
    monkeypatch.undo()
    result.report(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


def test_half_a_surrogate_pair_can_be_written(tmp_path):
    path = tmp_path / "report.html"
    secant.assess([0, 1], [0.2, 0.7]).report(path, title="\ud800")
    assert "&#55296;" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("results", "groups", "message"),
    [
        (None, None, "results"),
        ([], None, "holds no Calibration"),
        ([0.5], None, r"results\[0\] is a float"),
        (None, {"a": 1}, "groups must be Assessments"),
    ],
)
def test_what_cannot_be_reported(results, groups, message):
    with pytest.raises(InputError, match=message):
        secant.report.render(results, groups=groups)


def test_the_page_says_whose_groups_it_shows():
    happened, scores = [0, 1, 0, 1, 1], [0.2, 0.7, 0.4, 0.5, 0.6]
    groups = secant.assess_by(happened, scores, ["a", "a", "b", "b", "b"])
    models = {each: secant.assess(happened, scores) for each in ("old", "<i>new")}
    page = secant.report.render(models, groups={"<i>new": groups})
    assert "<h2>Groups of <bdi>&lt;i&gt;new</bdi></h2>" in page
    (shown,) = json.loads(Outline(page).blocks["numbers"])["groups"]
    assert shown["model"] == "<i>new"
    assert "<h2>Groups</h2>" in secant.report.render(models["old"], groups=groups)
    with pytest.raises(secant.InputError, match="groups are of 'newer', which is not the name"):
        secant.report.render(models, groups={"newer": groups})
    with pytest.raises(secant.InputError, match="groups must be Assessments, as assess_by"):
        secant.report.render(models, groups={"old": models["old"]})
