"""Are language models right as often as they are sure? From the logs of two harnesses
===================================================================================

::

    python examples/evaluation_logs.py

Two functions to copy: ``read_lm_eval`` for the samples that lm-evaluation-harness writes with
``--log_samples`` (multiple choice), ``read_inspect`` for the logs of Inspect. Each returns three
columns: whether the answer was right, how sure the model was, and which question it was. A question
that was asked several times is a cluster.

Needs nothing but secant. The logs here are made up, in the formats of the harnesses.
"""

# sphinx_gallery_thumbnail_path = "gallery/reliability.png"

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import secant


def read_lm_eval(*paths: str | Path) -> dict[str, list[Any]]:
    """Read ``samples_*.jsonl``: the choice with the largest log-likelihood, and its share."""
    columns: dict[str, list[Any]] = {"right": [], "confidence": [], "question": []}
    for path in paths:
        # Not str.splitlines, which also splits at characters that questions may hold.
        with Path(path).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                sample = json.loads(line)
                # A choice has its log-likelihood, and whether the model would have written it;
                # both are stored as text. Where text was generated there is a string instead.
                choices = sample["filtered_resps"]
                if "acc" not in sample or len(choices) < 2 or isinstance(choices[0], str):
                    msg = f"{path}, line {number}: not an answer to a multiple-choice question"
                    raise ValueError(msg)
                likelihoods = np.array([float(choice[0]) for choice in choices])
                columns["right"].append(float(sample["acc"]) == 1)
                columns["confidence"].append(1 / np.exp(likelihoods - likelihoods.max()).sum())
                columns["question"].append(sample.get("doc_hash", f"{path} {sample['doc_id']}"))
    return columns


def read_inspect(
    *paths: str | Path, scorer: str, confidence: str = "confidence"
) -> dict[str, list[Any]]:
    """Read logs in JSON: the score of one scorer, and a number that it left in its metadata.

    ``inspect log convert --to json --output-dir DIR LOG`` makes one of an ``.eval`` file, whose
    compression Python can read from 3.14 on.
    """
    columns: dict[str, list[Any]] = {"right": [], "confidence": [], "question": []}
    for path in paths:
        for sample in json.loads(Path(path).read_text(encoding="utf-8"))["samples"]:
            if sample.get("error"):  # it has no answer
                continue
            score = sample["scores"][scorer]
            value = score["value"]
            if value not in ("C", "I", 0, 1):
                msg = f"{path}, sample {sample['id']}: {value!r} is neither right nor wrong"
                raise ValueError(msg)
            columns["right"].append(value in ("C", 1))
            columns["confidence"].append(float(score["metadata"][confidence]))
            columns["question"].append(str(sample["id"]))
    return columns


# Logs to try it on ------------------------------------------------------------------------------


def write_lm_eval(path: Path, questions: int = 2000, seed: int = 0) -> None:
    """Write answers to questions with four choices, by a model that is too sure of itself."""
    rng = np.random.default_rng(seed)
    lines = []
    for question in range(questions):
        belief = rng.normal(0, 1.5, 4)
        share = np.exp(belief) / np.exp(belief).sum()
        truth = int(rng.choice(4, p=share))
        said = 2 * belief - 20  # twice as sure as it should be
        logged = [[str(value), str(bool(value == said.max()))] for value in said.tolist()]
        lines.append(
            {
                "doc_id": question,
                "doc": {"question": f"Question {question}?"},
                "target": str(truth),
                "resps": [[answer] for answer in logged],
                "filtered_resps": logged,
                "filter": "none",
                "metrics": ["acc"],
                "doc_hash": f"{question:064x}",
                "acc": float(said.argmax() == truth),
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def write_inspect(path: Path, questions: int = 300, epochs: int = 5, seed: int = 1) -> None:
    """Write answers to questions asked five times, by a model that is sure of the right things."""
    rng = np.random.default_rng(seed)
    samples = []
    for question in range(questions):
        level, decides = rng.uniform(0.3, 0.95), rng.random()
        for epoch in range(1, epochs + 1):
            said = round(level + rng.uniform(-0.05, 0.05), 2)
            value = "C" if decides < said else "I"
            samples.append(
                {
                    "id": question,
                    "epoch": epoch,
                    "input": f"Question {question}?",
                    "scores": {"match": {"value": value, "metadata": {"confidence": said}}},
                }
            )
    log = {"version": 2, "status": "success", "samples": samples}
    path.write_text(json.dumps(log), encoding="utf-8")


def main() -> None:
    """Write both logs, read and assess them."""
    with tempfile.TemporaryDirectory() as folder:
        samples, log = Path(folder) / "samples_made_up.jsonl", Path(folder) / "made_up.json"
        write_lm_eval(samples)
        write_inspect(log)
        print("lm-evaluation-harness, 2,000 questions:\n")
        print(secant.assess("right", "confidence", data=read_lm_eval(samples)))
        answers = read_inspect(log, scorer="match")
        print("\nInspect, 300 questions asked five times:\n")
        print(secant.assess("right", "confidence", data=answers, clusters="question"))


if __name__ == "__main__":
    main()
