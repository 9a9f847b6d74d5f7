"""At home in scikit-learn: scorers, routed weights, text labels, several classes, searches."""

import pickle

import numpy as np
import pytest

import secant
from helpers import optional

sklearn = optional("sklearn")
METRICS = [secant.ecce_r, secant.ecce_mad, secant.ece]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = (rng.random(400) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    return X, y, rng.uniform(0.2, 3, 400)


def scorer(metric, **options):
    return optional("sklearn.metrics").make_scorer(
        metric, response_method="predict_proba", greater_is_better=False, **options
    )


def model():
    return optional("sklearn.linear_model").LogisticRegression()


@pytest.mark.parametrize("event", ["churn", "stay"])
@pytest.mark.parametrize("metric", METRICS)
def test_weights_are_routed_to_the_metric_of_text_labels(rows, metric, event):
    X, y, weight = rows
    words = np.where(y == 1, "churn", "stay")
    with sklearn.config_context(enable_metadata_routing=True):
        found = optional("sklearn.model_selection").cross_validate(
            model().set_fit_request(sample_weight=False),
            X,
            words,
            scoring=scorer(metric, pos_label=event).set_score_request(sample_weight=True),
            params={"sample_weight": weight},
            cv=3,
            return_estimator=True,
            return_indices=True,
        )
    for value, fitted, test in zip(
        found["test_score"], found["estimator"], found["indices"]["test"], strict=True
    ):
        probs = fitted.predict_proba(X[test])[:, list(fitted.classes_).index(event)]
        assert value == -metric(words[test] == event, probs, sample_weight=weight[test])
        assert value != -metric(words[test] == event, probs)


@pytest.mark.parametrize("metric", METRICS)
def test_a_search_takes_the_smallest(rows, metric):
    X, y, _ = rows
    search = optional("sklearn.model_selection").GridSearchCV(
        model(), {"C": [1e-4, 1.0]}, scoring=scorer(metric), cv=3
    )
    search.fit(X, y)
    values = -search.cv_results_["mean_test_score"]
    assert 0 < values.min() < values.max()
    assert search.best_index_ == values.argmin()
    assert search.score(X, y) == -metric(y, search.predict_proba(X)[:, 1])


def test_weights_reach_a_search(rows):
    X, y, weight = rows
    splits = [(np.arange(200), np.arange(200, 400))]
    with sklearn.config_context(enable_metadata_routing=True):
        search = optional("sklearn.model_selection").GridSearchCV(
            model().set_fit_request(sample_weight=True),
            {"C": [1.0]},
            scoring=scorer(secant.ecce_r).set_score_request(sample_weight=True),
            cv=splits,
        )
        search.fit(X, y, sample_weight=weight)
    fitted = model().fit(X[:200], y[:200], sample_weight=weight[:200])
    probs = fitted.predict_proba(X[200:])[:, 1]
    assert search.best_score_ == -secant.ecce_r(y[200:], probs, sample_weight=weight[200:])


def test_a_scorer_can_be_sent_to_another_process():
    sent = pickle.loads(pickle.dumps(scorer(secant.ece, n_bins=10)))  # noqa: S301  (our own)
    assert repr(sent) == repr(scorer(secant.ece, n_bins=10))


def test_text_labels_without_an_event_are_refused_in_the_words_of_scikit_learn(rows):
    X, y, _ = rows
    words = np.where(y == 1, "churn", "stay")
    with pytest.raises(secant.InputError, match=r"'churn', 'stay'\); which is the event\?"):
        scorer(secant.ecce_r)(model().fit(X, words), X, words)


def test_a_fold_without_events_has_a_score(rows):
    X, y, _ = rows
    fitted = model().fit(X, np.where(y == 1, "churn", "stay"))
    score = scorer(secant.ecce_r, pos_label="churn")
    stayed = y == 0
    probs = fitted.predict_proba(X[stayed])[:, 0]
    assert score(fitted, X[stayed], np.full(stayed.sum(), "stay")) == pytest.approx(
        -probs.sum() / stayed.sum(), abs=1e-12
    )


def test_the_index_of_a_frame_means_nothing(rows):
    X, y, _ = rows
    pd = optional("pandas")
    fitted, score = model().fit(X, y), scorer(secant.ecce_r)
    frame = pd.Series(y, index=np.arange(400)[::-1] * 7)
    assert score(fitted, X, frame) == score(fitted, X, y)
