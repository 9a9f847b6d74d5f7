"""The code of the pages on other libraries runs, and what the pages say of it is so."""

import importlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import secant
from documents import Page, read
from helpers import ROOT, optional


def run(page: str) -> dict:
    """Run a page, and return the names it leaves behind."""
    document = Page(page, read(page))
    assert not document.run()
    return document.names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class MLflow:
    """What the page uses of MLflow, with the arguments MLflow takes."""

    def __init__(self):
        self.logged = {}

    def start_run(self):
        return __import__("contextlib").nullcontext()

    def log_metrics(self, metrics):
        assert all(type(value) is float for value in metrics.values())
        self.logged |= metrics

    def set_tag(self, key, value):
        self.logged[key] = value

    def log_dict(self, dictionary, artifact_file):
        __import__("json").dumps(dictionary, allow_nan=False)
        self.logged[artifact_file] = dictionary

    def log_figure(self, figure, artifact_file):
        figure.savefig(artifact_file)
        self.logged[artifact_file] = figure

    def log_artifact(self, local_path):
        self.logged[Path(local_path).name] = Path(local_path).read_text(encoding="utf-8")


def test_scikit_learn(folder):
    for library in ("sklearn", "matplotlib", "pandas", "polars", "narwhals"):
        optional(library)
    names = run("sklearn.md")
    assert (folder / "before_and_after.png").exists()
    assert (names["same"]["test_score"] == names["folds"]["test_ecce_r"]).all()
    assert (names["routed"]["test_score"] != names["folds"]["test_ecce_r"]).all()
    page = read("sklearn.md")
    found = names["search"].cv_results_
    table = zip(
        names["search"].param_grid["var_smoothing"],
        -found["mean_test_ecce_r"],
        -found["mean_test_log_loss"],
        strict=True,
    )
    for smoothing, ecce_r, log_loss in table:
        assert f"| {smoothing:g} | {ecce_r:.3g} | {log_loss:.3g} |".replace("1e-09", "1e-9") in page
    assert names["search"].best_params_ == {"var_smoothing": 1}
    before, after = names["before"], names["after"]
    assert str(before).startswith("Miscalibrated: too low on average, and too extreme")
    assert str(after).startswith("No miscalibration found")
    for result in (before, after):
        assert f"({'ECCE-R ' if result is before else ''}{result.ecce_r.value:#.3g})" in page
    assert secant.compare_models(names["y"], names["held_out"], names["recalibrated"]).better == "B"
    base_rate = optional("sklearn.dummy").DummyClassifier()
    scores = optional("sklearn.model_selection").cross_validate(
        base_rate, names["X"], names["y"], scoring=names["ecce_r"]
    )["test_score"]
    assert f"(`DummyClassifier`: {-scores.mean():.1g})" in page
    top = names["confidence"](names["fitted"], names["X"], names["y"])
    assert -1 < top < 0


def test_other_tools(folder, monkeypatch):
    for library in ("duckdb", "pandas", "narwhals", "matplotlib"):
        optional(library)
    tracker = MLflow()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)
    monkeypatch.syspath_prepend(ROOT / "examples")
    logs = importlib.import_module("evaluation_logs")
    logs.write_lm_eval(folder / "samples_arc_easy_2026-01-01T00-00-00.jsonl")
    logs.write_inspect(folder / "2026-01-01T00-00-00+00-00_arc.json")
    names = run("tools.md")
    assert tracker.logged["ecce_r"] == names["result"].ecce_r.value
    assert tracker.logged["calibration"] == "Miscalibrated: too extreme"
    assert tracker.logged["calibration.json"]["n"] == 5000
    assert "Miscalibrated: too extreme" in tracker.logged["calibration.html"]
    assert {"calibration.html", "calibration.png"} <= {path.name for path in folder.iterdir()}
    for limit, fails in ((0.1, False), (0.01, True)):
        built = SimpleNamespace(config=lambda **_: None, ref=names["warehouse"].table)
        code = re.search(r"def model.*?to_pandas\(\)\n", read("tools.md"), re.DOTALL)[0]
        exec(code.replace("0.1)", f"{limit})"), scope := {})  # noqa: S102
        if fails:
            with pytest.raises(AssertionError, match="Gate failed"):
                scope["model"](built, names["warehouse"])
        else:
            table = scope["model"](built, names["warehouse"])
            assert sorted(table["region"]) == ["north", "south"]
