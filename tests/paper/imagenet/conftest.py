"""A tree of digits, and predictions made up for classes of ImageNet."""

import numpy as np
import pytest

import digits
from helpers import optional
from secant.paper import imagenet
from secant.paper.imagenet import Predictions


@pytest.fixture(scope="session")
def tree_folder(tmp_path_factory):
    return digits.write_tree(tmp_path_factory.mktemp("digits") / "images")


@pytest.fixture
def tree(tree_folder):
    return imagenet.list_images(tree_folder)


@pytest.fixture
def whole(tree, tmp_path):
    """Return the bytes of a file that was written without interruption."""
    out = tmp_path / "whole.parquet"
    optional("pyarrow")
    imagenet.score_to_file(tree, digits.classifier(), out, batch_size=8)
    assert not imagenet.parts_folder(out).exists()
    return out.read_bytes()


@pytest.fixture(scope="session")
def predictions():
    """Return a way to make up predictions."""

    def make(sizes, seed=0, **changes):
        """Make up predictions for some numbers of images of some true classes."""
        rng = np.random.default_rng(seed)
        true_class = np.repeat(list(sizes), list(sizes.values()))
        score = rng.beta(2, 0.7, len(true_class))
        right = rng.random(len(score)) < score**1.3
        predicted = np.where(right, true_class, rng.permutation(true_class))
        columns = {
            "score": score,
            "response": (predicted == true_class).astype(np.int8),
            "true_class": true_class,
            "predicted_class": predicted,
            **changes,
        }
        return Predictions(**columns)

    return make
