"""Calibrated, and found guilty: what rows that belong together do to a test
=========================================================================

::

    python examples/clusters_questions.py

Four hundred questions, each put to a language model in ten wordings. The model's confidence is
right on average. But whether it knows the answer is a matter of the question, not of the wording:
the ten rows of a question are right together or wrong together. Taken for 4,000 independent
predictions they look miscalibrated; taken for 400 questions they do not.

Needs nothing but secant.
"""

# sphinx_gallery_thumbnail_path = "gallery/reading-2.png"

from __future__ import annotations

import numpy as np

import secant


def answers(questions: int = 400, wordings: int = 10, seed: int = 11) -> dict[str, np.ndarray]:
    """Make up confidences, and whether the answers were right."""
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(questions), wordings)
    # A question has about one confidence, which its wordings move a little.
    level = rng.uniform(0.3, 0.9, questions)[question]
    confidence = level + rng.uniform(-0.1, 0.1, question.size)
    # One number decides a question, now and then another one a single wording.
    decides = np.where(
        rng.random(question.size) < 0.8, rng.random(questions)[question], rng.random(question.size)
    )
    return {
        "question": question,
        "confidence": confidence,
        "right": decides < confidence,
    }


def main() -> None:
    """Assess the rows as if they were independent, then as what they are."""
    data = answers()
    print("As 4,000 independent rows:\n")
    print(secant.assess("right", "confidence", data=data))
    print("\nAs 400 questions:\n")
    print(secant.assess("right", "confidence", data=data, clusters="question"))


if __name__ == "__main__":
    main()
