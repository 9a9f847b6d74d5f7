"""scikit-learn's digits as a tree of PNG files, and a small real classifier of them.

In the ImageNet tests the classifier stands in for ResNet-18. Digits can be given the numbers of any
classes, so that figures of ImageNet classes can be drawn from them.
"""

from functools import cache

import numpy as np

from helpers import optional
from secant.paper.imagenet.scoring import Classifier

# Places of the ten digits among a thousand classes; the paper's five are among them.
IMAGENET_PLACES = (60, 68, 248, 342, 837, 1, 2, 3, 998, 999)


@cache
def _fitted():
    """Return a classifier fitted to the first 300 digits, and the other images and labels."""
    data = optional("sklearn.datasets").load_digits()
    linear_model = optional("sklearn.linear_model")
    model = linear_model.LogisticRegression(C=0.01, max_iter=500)
    model.fit(data.data[:300], data.target[:300])
    return model, data.images[300:].astype(np.uint8) * 15, data.target[300:]


def write_tree(root, *, count=60, classes=10, places=range(10)):
    """Write images as PNG files into a folder for each class; many folders may stay empty."""
    image = optional("PIL.Image")
    for number in range(classes):
        (root / f"class{number:03d}").mkdir(parents=True)
    _, images, labels = _fitted()
    for index in range(count):
        folder = root / f"class{places[labels[index]]:03d}"
        image.fromarray(images[index]).save(folder / f"digit{index:04d}.png")
    return root


def classifier(*, classes=10, places=range(10), weights="the usual ones", logits=None):
    """Return the classifier; ``logits`` replaces its network."""
    model, _, _ = _fitted()

    def network(images):
        spread = np.full((len(images), classes), -np.inf)
        spread[:, list(places)] = model.decision_function(np.stack(images))
        return spread

    def prepare(image):
        assert image.mode == "RGB"
        return np.asarray(image)[:, :, 0].ravel() / 15

    return Classifier(logits or network, prepare, {"network": "digits", "weights": weights})


def expected(root, *, classes=10, places=range(10)):
    """Predict the classes of a tree once more, one image after the other, with the model itself."""
    image = optional("PIL.Image")
    model, _, _ = _fitted()
    rows = []
    for path in sorted(root.rglob("*.png")):
        pixels = np.asarray(image.open(path)).reshape(1, -1) / 15
        [probabilities] = model.predict_proba(pixels)
        best = places[int(probabilities.argmax())]
        true_class = int(path.parent.name.removeprefix("class"))
        rows.append((path.relative_to(root).as_posix(), true_class, best, probabilities.max()))
    return rows


def counting(classifier, *, stop_after=None, error=KeyboardInterrupt):
    """Count the images a classifier sees; stop after some batches as if interrupted."""
    seen = []

    def logits(images):
        if stop_after is not None and len(seen) == stop_after:
            raise error
        seen.append(len(images))
        return classifier.logits(images)

    return Classifier(logits, classifier.prepare, classifier.identity), seen


def touch(root, *names):
    """Write files that are no images, in folders where their names say so."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
