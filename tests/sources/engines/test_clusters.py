"""Clusters in tables of engines: one more query, and not every row comes back."""

import numpy as np
import pytest

import secant
from helpers import optional

optional("narwhals")

from secant.sources.engines import clusters, queries  # noqa: E402  (they load narwhals)


def table(n, seed=0, **changed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    who = rng.integers(0, 80, n)
    columns = {"y": (rng.random(n) < p).astype(np.int64), "p": p, "who": who, **changed}
    return optional("polars").DataFrame(columns)


@pytest.fixture
def asked(monkeypatch):
    """Return the rows that came back, question by question."""
    brought, collect = [], queries.collect

    def noted(frame):
        answer = collect(frame)
        brought.append(len(answer))
        return answer

    monkeypatch.setattr(queries, "collect", noted)
    return brought


def assess(frame, **how):
    return secant.assess("y", "p", data=frame.lazy(), clusters="who", **how)


def test_one_more_query(asked):
    frame = table(3000)
    secant.assess("y", "p", data=frame.lazy(), method="asymptotic")
    alone = len(asked)
    assess(frame)
    assert len(asked) - alone <= alone + 1 + 1  # the scores themselves, and the clusters


@pytest.mark.parametrize("most", [3000, 2999])
def test_above_what_may_leave_sums_come_back_by_fixed_cells(most, monkeypatch, asked):
    monkeypatch.setattr(clusters, "LEAVE", most)
    frame = table(3000)
    found = assess(frame)
    wanted = secant.assess(*(frame[name].to_numpy() for name in ("y", "p")), clusters=frame["who"])
    if most == 3000:
        assert found._flips.r == wanted._flips.r
        return
    assert max(asked[-1:]) <= 3000
    assert found.n_clusters == wanted.n_clusters
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-12)
    assert found._predictions.half_width(1.0) == pytest.approx(
        wanted._predictions.half_width(1.0), rel=0.1
    )
    assert found.ecce_r.pvalue == pytest.approx(wanted.ecce_r.pvalue, abs=0.1)


def test_few_scores_of_many_rows_come_back_as_they_are(monkeypatch):
    monkeypatch.setattr(clusters, "LEAVE", 10)
    frame = table(3000)
    frame = frame.with_columns(p=frame["p"].round(2))
    wanted = secant.assess(*(frame[name].to_numpy() for name in ("y", "p")), clusters=frame["who"])
    found = assess(frame)
    assert found._flips.r == wanted._flips.r
    np.testing.assert_allclose(found._flips.ranges, wanted._flips.ranges, rtol=1e-9)


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_missing_ids_are_counted(missing):
    kind = float if isinstance(missing, float) else str
    who = [kind(each) for each in range(200)]
    who[3] = who[5] = missing
    with pytest.raises(
        secant.InputError, match=r"'who' \(clusters\) holds 2 values that are missing"
    ):
        assess(table(200, who=who))


def test_ids_that_tell_nothing_apart_are_refused():
    with pytest.raises(secant.InputError, match="which cannot name clusters"):
        assess(table(200, who=[[1]] * 200))
