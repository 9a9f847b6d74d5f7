"""Recalibrate a model with scikit-learn, and check that it helped
===============================================================

::

    python examples/recalibrate.py

A naive Bayes classifier is far too sure of itself. Every probability here is that of a row which
neither the model nor its calibrator has seen: `cross_val_predict` sees to that, with the calibrator
inside the folds. The direction that `assess` names says what to try; `compare_models` says whether
it is better than before beyond chance.

Needs scikit-learn (1.8 or newer, for temperature scaling).
"""

# sphinx_gallery_thumbnail_path = "gallery/bins.png"

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import secant

if TYPE_CHECKING:
    import numpy as np


def held_out(model: object, features: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """Return for every row the chance of a 1, from a model that was fitted without that row."""
    return cross_val_predict(model, features, happened, cv=5, method="predict_proba")[:, 1]


def main() -> None:
    """Assess, recalibrate in two ways, assess again, compare."""
    features, happened = make_classification(
        8000, n_informative=4, n_redundant=8, class_sep=0.6, flip_y=0.05, random_state=0
    )
    model = GaussianNB()
    forecasts = {"as it is": held_out(model, features, happened)}
    for method in ("temperature", "isotonic"):
        calibrated = CalibratedClassifierCV(model, method=method, cv=5)
        # Isotonic regression gives scores of exactly 0 and 1, which claim to be certain.
        forecasts[method] = held_out(calibrated, features, happened).clip(0.001, 0.999)
    for name, forecast in forecasts.items():
        print(f"{name}: {secant.assess(happened, forecast)}\n")
    print("as it is (A) or isotonic (B)?", end=" ")
    print(secant.compare_models(happened, forecasts["as it is"], forecasts["isotonic"]))


if __name__ == "__main__":
    main()
