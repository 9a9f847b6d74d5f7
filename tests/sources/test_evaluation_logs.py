"""Logs of language models, in the formats of two harnesses, become columns of predictions."""

import importlib
import json

import numpy as np
import pytest

import secant
from helpers import ROOT


@pytest.fixture
def logs(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("evaluation_logs")


def lines(path, *samples):
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    return path


def choice(*likelihoods, acc, **more):
    said = [[str(value), "False"] for value in likelihoods]
    return {"doc_id": 3, "filtered_resps": said, "acc": acc, **more}


def test_the_share_of_the_choice_that_was_picked(logs, tmp_path):
    path = lines(
        tmp_path / "samples_a.jsonl",
        choice(-3.0, -3.0, acc=1.0, doc_hash="x"),
        choice(-900.0, -900.0 - np.log(3), acc=0.0, doc_hash="y"),
        choice(-2000.0, -1.0, -1500.0, acc=1.0),
    )
    found = logs.read_lm_eval(path, path)
    assert found["right"] == [True, False, True] * 2
    np.testing.assert_allclose(found["confidence"], [0.5, 0.75, 1] * 2, rtol=0, atol=1e-12)
    assert found["question"] == ["x", "y", f"{path} 3"] * 2


def test_text_may_hold_what_ends_a_line_elsewhere(logs, tmp_path):
    path = tmp_path / "samples_a.jsonl"
    question = "a\N{LINE SEPARATOR}b\N{PARAGRAPH SEPARATOR}c\N{NEXT LINE}d"
    sample = choice(-3.0, -3.0, acc=1.0, doc_hash="x", doc={"question": question})
    path.write_text(f"{json.dumps(sample, ensure_ascii=False)}\r\n" * 2, encoding="utf-8")
    assert logs.read_lm_eval(path)["right"] == [True, True]


@pytest.mark.parametrize(
    "sample",
    [
        {"doc_id": 0, "filtered_resps": ["some text", "more"], "acc": 1.0},
        {"doc_id": 0, "filtered_resps": [["-1.5", "True"]], "acc": 1.0},
        {"doc_id": 0, "filtered_resps": [["-1", "True"], ["-2", "False"]], "exact_match": 1.0},
    ],
)
def test_answers_without_choices_are_refused(logs, tmp_path, sample):
    with pytest.raises(ValueError, match="line 1: not an answer to a multiple-choice question"):
        logs.read_lm_eval(lines(tmp_path / "a.jsonl", sample))


def inspect(path, *scores):
    samples = [
        {"id": number // 2, "epoch": 1 + number % 2, **score} for number, score in enumerate(scores)
    ]
    path.write_text(json.dumps({"version": 2, "samples": samples}), encoding="utf-8")
    return path


def score(value, confidence=0.7):
    return {"scores": {"match": {"value": value, "metadata": {"confidence": confidence}}}}


def test_epochs_are_one_question(logs, tmp_path):
    path = inspect(tmp_path / "a.json", score("C"), score("I", 0.2), score(1), score(0.0))
    assert logs.read_inspect(path, scorer="match") == {
        "right": [True, False, True, False],
        "confidence": [0.7, 0.2, 0.7, 0.7],
        "question": ["0", "0", "1", "1"],
    }


def test_samples_that_failed_are_left_out_and_nothing_else_is(logs, tmp_path):
    failed = {"error": {"message": "out of time"}, "scores": {}}
    found = logs.read_inspect(inspect(tmp_path / "a.json", failed, score("C")), scorer="match")
    assert found["right"] == [True]
    with pytest.raises(KeyError, match="another"):
        logs.read_inspect(inspect(tmp_path / "a.json", score("C")), scorer="another")
    for value in ("P", "N", 0.5):
        with pytest.raises(ValueError, match=r"sample 0: .* is neither right nor wrong"):
            logs.read_inspect(inspect(tmp_path / "a.json", score(value)), scorer="match")


def test_clusters_are_what_keeps_repeated_questions_from_looking_wrong(logs, tmp_path):
    logs.write_inspect(tmp_path / "a.json")
    answers = logs.read_inspect(tmp_path / "a.json", scorer="match")
    assert secant.assess("right", "confidence", data=answers, clusters="question").n_clusters == 300
