"""Groups, classes and segments in words: how many are off, and how each is."""

import numpy as np
import pytest

import secant
from helpers import optional
from secant._results import group_words


@pytest.mark.parametrize(
    ("key", "name"), [(None, "(missing)"), ("", "(empty)"), ("a\tb", "a\\tb"), (3, "3")]
)
def test_every_key_can_be_read(key, name):
    assert group_words.name(key) == name


def test_both_directions_of_a_group_are_named():
    rng = np.random.default_rng(0)
    p = rng.random(6000)
    y, hot = rng.random(6000) < p, 1 / (1 + ((1 - p) / p) ** 2)
    groups = secant.assess_by(y, hot, np.repeat(["a", "b"], 3000))
    segments = secant.assess_segments(y, hot, features={"half": np.repeat(["a", "b"], 3000)})
    assert len(segments)
    for results in (groups, segments):
        for ranges in (True, False):
            for *_, words in group_words.table(results, ranges=ranges).rows:
                assert words.startswith("too extreme: too low by ")
                assert ", then too high by " in words
                assert words.count(" over ") == 2 * ranges


def test_words_say_why_segments_were_not_drawn(tmp_path):
    optional("pyarrow")
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y, half = (rng.random(2000) < p).astype(int), np.repeat(["a", "b"], 1000)
    options = {"features": {"half": half}}
    said = "Westfall and Young's correction, which takes all rows in memory"
    assert said not in str(secant.assess_segments(y, p, **options))
    file = tmp_path / "a.csv"
    lines = [f"{a},{b!r},{c}" for a, b, c in zip(y, p.tolist(), half, strict=True)]
    file.write_text("\n".join(["y,p,half", *lines]))
    asked = {"data": file, "features": ["half"]}
    assert said in str(secant.assess_segments("y", "p", **asked))
    assert said not in str(secant.assess_segments("y", "p", **asked, adjust="holm"))
