"""At most so many rows leave an engine, and groups share their queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from makers import MAKERS, arguments
from secant import InputError
from secant._inference import choose

optional("narwhals")

from secant.sources.engines import budget, filters, queries  # noqa: E402  (they load narwhals)
from secant.sources.engines.source import EngineGroups  # noqa: E402  (the same)

# A limit that small tables reach, and what else scales with it.
LEAVE = 2000


@pytest.fixture
def answers(monkeypatch):
    """Return a list that gets the number of rows of each answer."""
    seen = []

    def collect(frame, collect=queries.collect):
        answer = collect(frame)
        seen.append(len(answer))
        return answer

    monkeypatch.setattr(queries, "collect", collect)
    return seen


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setattr(budget, "LEAVE", LEAVE)
    monkeypatch.setattr(budget, "LEAST", 300)
    monkeypatch.setattr(budget, "CELL_BITS", 8)
    monkeypatch.setattr(budget, "FIRST_CELLS", 500)


def table(n, *, weights=None, groups=None, scores=None, seed=1):
    rng = np.random.default_rng([seed, n])
    p = rng.random(n) if scores is None else scores(rng, n)
    made = {"happened": (rng.random(n) < p).astype(np.int64), "forecast": p}
    if weights is not None:
        made["weight"] = weights(rng, n)
    if groups is not None:
        made["segment"] = rng.integers(0, groups, n)
    return made


def heavy(rng, n):
    return 1 + rng.pareto(1.1, n)


def lognormal(rng, n):
    return rng.lognormal(size=n)


def assess(made, engine="duckdb", **options):
    function = secant.assess_by if "segment" in made else secant.assess
    return function(**arguments(made, MAKERS[engine](made, None)), **options)


def same(found, wanted):
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-12)
    assert found.ecce_mad.value == pytest.approx(wanted.ecce_mad.value, abs=1e-12)
    assert found.sigma == pytest.approx(wanted.sigma, rel=1e-12)


# Weights ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [heavy, lognormal])
def test_weighted_rows_stay_in_the_engine(weights, answers):
    made = table(300_000, weights=weights)
    found = assess(made)
    assert sum(answers) <= budget.LEAVE
    assert found.ecce_r.method == "large-sample"
    same(found, secant.assess(**arguments(made, None), method="asymptotic"))
    untrusted = weights is heavy
    assert any("may leave an engine" in line for line in found.warnings) is untrusted


def test_few_weighted_rows_are_fetched_once(answers):
    made = table(20_000, weights=lognormal)
    found = assess(made)
    assert len(answers) == 2
    assert sum(answers) <= budget.LEAVE
    assert found.ecce_r.pvalue == secant.assess(**arguments(made, None)).ecce_r.pvalue


@pytest.mark.parametrize("groups", [3, 150])
def test_weighted_groups_share_their_queries(groups, answers):
    made = table(6000, weights=lognormal, groups=groups)
    found = assess(made)
    assert len(answers) == 3  # the sizes, the cells, the rows
    assert sum(answers) <= budget.LEAVE
    wanted = secant.assess_by(**arguments(made, None))
    assert {key: result.ecce_r.pvalue for key, result in found.items()} == {
        key: result.ecce_r.pvalue for key, result in wanted.items()
    }


def test_small_groups_get_their_rows_first(answers, small_limit):
    made = table(6000, weights=lognormal)
    made["segment"] = np.repeat([0, 1, 2], [300, 400, 5300])
    found = assess(made)
    drawn = {key: result.ecce_r.draws is not None for key, result in found.items()}
    assert drawn == {0: True, 1: True, 2: False}
    told = {key: any("may leave" in line for line in it.warnings) for key, it in found.items()}
    assert told == {0: False, 1: False, 2: True}
    assert sum(answers) <= LEAVE


# Distinct scores ----------------------------------------------------------------------------------

SPREADS = {
    "uniform": None,
    "rare": lambda rng, n: rng.beta(1, 200, n),
    "very rare": lambda rng, n: 1e-5 * rng.random(n),
    "log-spread": lambda rng, n: 10 ** -(300 * rng.random(n)),
    "near one": lambda rng, n: 1 - rng.beta(0.05, 1, n),
    "clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
}


@pytest.mark.parametrize("spread", SPREADS)
def test_one_table_brings_no_more_than_the_limit(spread, answers):
    made = table(1_000_000, scores=SPREADS[spread])
    found = assess(made)
    assert sum(answers) <= budget.LEAVE
    assert len(answers) <= 6
    same(found, secant.assess(**arguments(made, None), method="asymptotic"))


def test_few_events_among_many_scores_take_cuts_of_pools(answers):
    made = table(500_000, scores=SPREADS["very rare"])
    found = assess(made)
    wanted = secant.assess(**arguments(made, None))
    for one, other in ((found.ecce_r, wanted.ecce_r), (found.ecce_mad, wanted.ecce_mad)):
        assert one.method == other.method == "upper bound"
        assert one.log10_pvalue == pytest.approx(other.log10_pvalue, abs=1e-6)
    assert not any("may leave an engine" in line for line in found.warnings)
    assert sum(answers) <= budget.LEAVE


def test_few_distinct_scores_are_found_to_be_few(answers):
    made = table(500_000, scores=lambda rng, n: 1e-5 * rng.integers(1, 1000, n) / 1000)
    found = assess(made)
    assert found.ecce_r.method != "large-sample"
    assert found.ecce_r.pvalue == pytest.approx(
        secant.assess(**arguments(made, None)).ecce_r.pvalue, rel=1e-9
    )
    assert sum(answers) <= budget.LEAVE


def test_groups_of_equal_weights_need_no_rows(answers):
    made = table(200_000, groups=40)
    found = assess(made)
    assert len(answers) <= 6
    assert sum(answers) <= budget.LEAVE
    wanted = secant.assess_by(**arguments(made, None))
    for key, result in wanted.items():
        same(found[key], result)
        for one, other in zip(found[key].statistics, result.statistics, strict=True):
            assert one[1].method == other[1].method == "large-sample"
            assert one[1].log10_pvalue == pytest.approx(other[1].log10_pvalue, abs=1e-5)
        assert found[key].warnings == result.warnings


@pytest.mark.parametrize("engine", ["polars lazy", "sqlite", "postgres"])
def test_a_thousand_groups_take_a_handful_of_queries(engine, answers):
    made = table(20_000, groups=1000)
    found = assess(made, engine, method="asymptotic")
    assert len(answers) <= 6
    wanted = secant.assess_by(**arguments(made, None), method="asymptotic")
    for key, result in wanted.items():
        same(found[key], result)


@pytest.mark.parametrize("engine", ["duckdb", "polars lazy", "sqlite"])
def test_small_groups_bring_their_scores_at_once(engine, answers):
    made = table(20_000, groups=1000)
    found = assess(made, engine)
    assert answers == [1000, 20_000]  # the sizes, the scores
    wanted = secant.assess_by(**arguments(made, None))
    for key, result in wanted.items():
        same(found[key], result)
        assert found[key].ecce_r.pvalue == result.ecce_r.pvalue


@pytest.mark.parametrize("sizes", [[300, 301], [10, 300, 301, 5000], [1, 1, 1, 9000, 2]])
def test_large_groups_beside_small_ones_are_cut_into_cells(sizes, answers):
    made = table(sum(sizes))
    made["segment"] = np.repeat(np.arange(len(sizes)), sizes)
    small = sum(size for size in sizes if size <= budget.TIES_UP_TO)
    found = assess(made)
    assert small < answers[1] < sum(sizes)
    wanted = secant.assess_by(**arguments(made, None))
    for key, result in wanted.items():
        same(found[key], result)
        # Large samples are tilted by blocks, which differ.
        near = 1e-9 if result.n <= budget.TIES_UP_TO else 1e-5
        assert found[key].ecce_r.log10_pvalue == pytest.approx(result.ecce_r.log10_pvalue, abs=near)


# Asked for by name --------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [lognormal, None])
@pytest.mark.parametrize("groups", [None, 3])
def test_draws_asked_for_by_name_are_refused_beyond_the_limit(
    weights, groups, answers, small_limit
):
    made = table(8000, weights=weights, groups=groups)
    with pytest.raises(InputError, match=r"method='monte-carlo' needs more rows .*'asymptotic'"):
        assess(made, method="monte-carlo")
    assert sum(answers) <= LEAVE
    assess(made, method="asymptotic")


@pytest.mark.parametrize("groups", [None, 3])
def test_scores_beyond_those_of_exact_pvalues_stay_in_the_engine(
    groups, answers, small_limit, monkeypatch
):
    monkeypatch.setattr(choose, "MOST_STEPS", 700)
    made = table(8000, groups=groups)
    with pytest.raises(InputError, match=r"method='exact' takes at most 700 distinct scores"):
        assess(made, method="exact")
    assert sum(answers) < 8000


# Shares -------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=50), st.integers(0, 200_000))
def test_rows_of_groups_never_exceed_what_is_left(sizes, brought):
    spent = budget.Budget()
    spent.brought = brought
    left = max(budget.LEAVE - brought, 0)
    fitting = spent.fitting(dict(enumerate(sizes)))
    assert sum(sizes[number] for number in fitting) <= left
    others = [size for number, size in enumerate(sizes) if number not in fitting]
    if others:  # the smallest come first, and one more would not have fitted
        assert sum(sizes) > left
        chosen = [sizes[number] for number in fitting]
        assert max(chosen, default=0) <= min(others)
        assert sum(chosen) + min(others) > 0.6 * left


# Queries just below and just above each limit -----------------------------------------------------

A_FEW_ENGINES = pytest.mark.parametrize("engine", ["duckdb", "polars lazy", "ibis"])


@pytest.fixture
def asked(monkeypatch):
    """Return a list that gets what had come back, and what was wanted, before each second look."""
    seen = []
    look_again = EngineGroups._look_again

    def look(self, unseen):
        wanted = sum(int(blocks.n.sum()) for blocks in unseen.values())
        seen.append((self._table.budget.brought, wanted))
        return look_again(self, unseen)

    monkeypatch.setattr(EngineGroups, "_look_again", look)
    return seen


@A_FEW_ENGINES
@pytest.mark.parametrize("beyond", [0, 1])
def test_scores_come_back_up_to_the_limit_and_cells_beyond(
    engine, beyond, answers, asked, monkeypatch
):
    made = table(20_000)
    monkeypatch.setattr(budget, "CELL_BITS", 5)
    monkeypatch.setattr(budget, "LEAST", 1)
    monkeypatch.setattr(budget, "LEAVE", 10**9)
    wanted = assess(made, engine, method="asymptotic")
    (first, rows) = asked[0]
    assert len(asked) == 1
    assert answers[0] == first
    assert len(answers) == 2
    monkeypatch.setattr(budget, "LEAVE", first + rows - beyond)
    answers.clear()
    same(assess(made, engine, method="asymptotic"), wanted)
    # Beyond it cells come first, then the scores in a few of them: one more query, far fewer rows.
    assert len(answers) == 2 + beyond
    assert sum(answers[1:]) <= rows
    assert not beyond or sum(answers[1:]) < rows / 2


@A_FEW_ENGINES
@pytest.mark.parametrize("beyond", [0, 1])
def test_rows_leave_up_to_the_limit_and_not_beyond(engine, beyond, answers, monkeypatch):
    made = table(1000, weights=heavy)
    monkeypatch.setattr(budget, "CELL_BITS", 5)
    monkeypatch.setattr(budget, "LEAST", 1)
    assess(made, engine, method="asymptotic")
    first = answers[0]
    monkeypatch.setattr(budget, "LEAVE", first + 1000 - beyond)
    answers.clear()
    found = assess(made, engine)
    fetched = not beyond
    assert (found.ecce_r.method == "large-sample") is not fetched
    assert any("may leave an engine" in line for line in found.warnings) is not fetched
    if fetched:
        assert answers == [first, 1000]
    else:
        assert len(answers) == 2
        assert sum(answers) < budget.LEAVE


@A_FEW_ENGINES
def test_ranges_are_named_up_to_a_number_and_listed_beyond(engine, answers, monkeypatch):
    made = table(20_000)
    monkeypatch.setattr(budget, "CELL_BITS", 9)
    monkeypatch.setattr(filters, "WHOLE_UP_TO", 0)
    monkeypatch.setattr(filters, "SPARE_ROWS", 0)
    named = []
    in_ranges = filters._in_ranges

    def counted(table, keys, ranges):
        named.append(len(ranges))
        return in_ranges(table, keys, ranges)

    monkeypatch.setattr(filters, "_in_ranges", counted)

    def error():
        result = assess(made, engine, method="asymptotic")
        answers.clear()
        named.clear()
        return result.ece(n_bins=23).value

    wanted = error()
    (most,) = named
    assert most > 10
    for limit, ways in ((most, [most]), (most - 1, [])):
        monkeypatch.setattr(filters, "RANGES_A_QUERY", limit)
        assert error() == pytest.approx(wanted, abs=1e-12)
        assert named == ways  # beyond, cells are listed
        assert len(answers) == 1
    # Lists that would bring too many other rows are no way out, while few queries do.
    monkeypatch.setattr(filters, "_in_lists", lambda *_: [])
    assert error() == pytest.approx(wanted, abs=1e-12)
    assert named == [most - 1, 1]
    assert len(answers) == 2


@A_FEW_ENGINES
@pytest.mark.parametrize("beyond", [0, 1])
def test_small_groups_are_looked_at_whole_up_to_a_size(engine, beyond, answers, monkeypatch):
    n = 4000
    made = table(n)
    made["happened"][made["forecast"] < 0.5] = 0  # so that few cells could hold an extreme
    monkeypatch.setattr(budget, "CELL_BITS", 8)
    monkeypatch.setattr(filters, "SPARE_ROWS", 0)
    monkeypatch.setattr(filters, "WHOLE_UP_TO", n - beyond)
    found = secant.ecce_r(**arguments(made, MAKERS[engine](made, None)))
    assert len(answers) == 2
    # All distinct scores where rows are few enough, else those of a few cells.
    assert (answers[1] == n) is not bool(beyond)
    assert found == pytest.approx(secant.ecce_r(**arguments(made, None)), abs=1e-12)
