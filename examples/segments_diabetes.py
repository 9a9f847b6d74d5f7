"""Which patients does a small model get wrong? The diabetes data that come with scikit-learn
==========================================================================================

::

    python examples/segments_diabetes.py

A logistic regression predicts whether the disease progresses fast from the body mass index and the
blood pressure alone; each forecast is made by a model that has not seen its patient. Overall the
forecasts are calibrated. Searching the measurements that the model was not given tells for whom
they are not, with limits and P-values that account for the search.

Needs ``pip install scikit-learn``.
"""

# sphinx_gallery_thumbnail_path = "gallery/reading-3.png"

from __future__ import annotations

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import secant

# What the data set calls its blood measurements, and what they are.
MEASURED = {"s1": "cholesterol", "s3": "HDL", "s5": "log triglycerides", "s6": "glucose"}


def main() -> None:
    """Forecast, then assess the whole and its segments."""
    patients = load_diabetes(scaled=False)
    columns = dict(zip(patients.feature_names, patients.data.T, strict=True))
    fast = patients.target > 150
    model = make_pipeline(StandardScaler(), LogisticRegression())
    known = patients.data[:, [patients.feature_names.index(name) for name in ("bmi", "bp")]]
    forecast = cross_val_predict(model, known, fast, cv=10, method="predict_proba")[:, 1]
    print(secant.assess(fast, forecast))
    print()
    features = {"age": columns["age"], "sex": columns["sex"]}
    features |= {name: columns[short] for short, name in MEASURED.items()}
    print(secant.assess_segments(fast, forecast, features=features, bins=3, min_rows=40))


if __name__ == "__main__":
    main()
