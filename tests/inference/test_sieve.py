"""Heavy rows drawn as they are, light ones as normal steps: what goes in comes out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
from helpers import optional
from samples import EXACT
from secant._blocks.cell_sums import row_totals
from secant._inference import choose, sieve
from secant._inference.montecarlo import count_exceedances
from secant._inference.path import thresholds
from secant._inference.sieve import Sieve
from secant._input.observations import Chunk
from secant.sources import rows as row_source
from ties import enumerated


def sifted(score, weight, response, *, ends=None, cut=None):
    """Sift rows that are in order, all at once or in two parts."""
    rows = Chunk(np.asarray(score, float), np.asarray(response), np.asarray(weight, float))
    totals = row_totals(
        rows,
        rows.scores * (1 - rows.scores),
        sampling=True,
        outcome_weights=None,
        log_loss=False,
    )
    through = Sieve(totals)
    if cut is None:
        through.add_all(*rows, ends)
    else:
        through.add(Chunk(*(column[:cut] for column in rows)))
        through.add(Chunk(*(column[cut:] for column in rows)))
    return through.sifted()


def rng(seed=0):
    return np.random.default_rng(seed)


def path_at(score, weight, response, rows):
    """Return the path after so many rows."""
    terms = np.asarray(weight) * (np.asarray(response) - np.asarray(score))
    return np.array([math.fsum(terms[:count]) for count in rows])


# Against enumeration ------------------------------------------------------------------------------

ALL_HEAVY = [
    ([0.1, 0.3, 0.35, 0.6, 0.8], [1.0, 3.0, 0.5, 2.0, 1.0], [1, 0, 1, 1, 0]),
    ([0.2, 0.2, 0.2, 0.7, 0.7], [1.0, 2.0, 4.0, 1.0, 9.0], [1, 1, 0, 0, 0]),
    ([0.0, 0.2, 0.5, 0.5, 1.0], [5.0, 1.0, 0.1, 0.2, 7.0], [0, 1, 1, 1, 1]),
    ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0.1] * 4 + [0.3] * 4, [0, 0, 1, 0, 0, 0, 1, 0]),
    ([1e-6, 1e-3, 0.999, 0.9999], [900.0, 2.0, 3.0, 40.0], [0, 1, 1, 1]),
    ([0.0, 0.5, 1.0], [1.0, 2.0, 3.0], [1, 1, 0]),  # forbidden outcomes
]


@pytest.mark.parametrize(("score", "weight", "response"), ALL_HEAVY)
def test_enumeration_where_every_row_is_heavy(score, weight, response):
    """Few rows are all heavy, and drawn as they are; what ties with the observed path counts."""
    model = sifted(score, weight, response)
    assert not model.noise.any()
    found = count_exceedances(model, model.limits, rng=rng(1), draws=40_000, enough=None)
    score, weight, response = map(np.array, (score, weight, response))
    ends = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    for estimate, p in zip(found, enumerated(score, ends, response, weight), strict=True):
        error = math.sqrt(max(p * (1 - p), 1e-5) / estimate.draws)
        assert abs(estimate.pvalue - p) <= 4.5 * error + 1 / estimate.draws


def test_steps_of_several_scores_are_looked_at_where_they_end():
    score, weight, response = [0.6, 0.1, 0.4, 0.2], [1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0]
    model = sifted(score, weight, response, ends=np.array([1, 3]))
    assert model.rows.tolist() == [2, 4]
    found = count_exceedances(model, model.limits, rng=rng(2), draws=40_000, enough=None)
    truth = enumerated(*map(np.array, (score, [1, 3], response, weight)))
    for estimate, p in zip(found, truth, strict=True):
        assert estimate.pvalue == pytest.approx(p, abs=4.5 * math.sqrt(0.25 / 40_000))


# What is kept -------------------------------------------------------------------------------------


@st.composite
def weighted_rows(draw):
    n = draw(st.integers(1, 60))

    def column(kind):
        return draw(st.lists(kind, min_size=n, max_size=n))

    score = column(st.sampled_from([0.0, 1e-6, 0.01, 0.3, 0.5, 0.97, 1.0]))
    weight = column(st.sampled_from([1e-9, 0.5, 1.0, 40.0, 1e6]))
    response = column(st.integers(0, 1))
    order = np.lexsort((weight, score))
    return [np.array(column)[order] for column in (score, weight, response)]


@given(weighted_rows())
def test_variance_is_kept_and_the_path_is_read_at_the_ends_of_cells(rows):
    score, weight, response = rows
    if not ((score > 0) & (score < 1)).any():
        return
    model = sifted(*rows)
    ends = model.rows - 1
    unit = np.ldexp(1.0, 52 - math.frexp(float(weight.sum()))[1])
    assert ends[-1] == len(score) - 1
    assert all(score[end] != score[end + 1] for end in ends[:-1])  # no tie is cut
    path = path_at(score, weight, response, model.rows)
    limits = thresholds(path.max(), path.min(), float((weight * score).sum()))
    # Weights are rounded to units.
    assert np.allclose(np.array(model.limits) / unit, limits, rtol=1e-9, atol=len(score) * 4 / unit)
    chance = -np.expm1(-np.diff(model.reached, prepend=0.0))
    heavy = (model.step / unit) ** 2 * chance * (1 - chance)
    variance = weight**2 * score * (1 - score)
    light = (model.noise / unit) ** 2
    assert heavy.sum() + light.sum() == pytest.approx(variance.sum(), rel=1e-9)


def test_light_rows_are_small_beside_the_whole_path():
    """Just above a fiftieth of its standard deviation a row is heavy."""
    n = 20_000
    score, response = np.linspace(0.2, 0.8, n), np.arange(n) % 2
    weight = np.ones(n)
    whole = math.sqrt((score * (1 - score)).sum())
    for factor, heavy in ((1.0, 0), (1.001, 1)):
        weight[5000] = factor * 0.02 * whole  # adds next to nothing to that
        assert len(sifted(score, weight, response).step) == heavy


def test_cells_share_the_variance_of_light_rows_beside_heavy_ones():
    """Sixty rows have nearly all of the variance; the others are not pooled for that."""
    score, weight = rng().random(20_000), np.ones(20_000)
    score[:60], weight[:60] = 0.001, 1e6
    order = np.lexsort((weight, score))
    model = sifted(score[order], weight[order], np.zeros(20_000, int))
    assert 4096 <= len(model.noise) <= 3 * 8192
    assert (model.noise**2).max() <= (model.noise**2).sum() / 2048


@given(weighted_rows(), st.integers(0, 60))
def test_where_chunks_are_cut_does_not_matter(rows, cut):
    score = rows[0]
    if not ((score > 0) & (score < 1)).any():
        return
    cuts = np.flatnonzero(np.diff(score)) + 1
    if not cuts.size:
        return
    one, two = sifted(*rows), sifted(*rows, cut=int(cuts[cut % len(cuts)]))
    assert one.rows.tolist() == two.rows.tolist()
    assert np.allclose(one.limits, two.limits, rtol=1e-12, atol=0)
    assert np.allclose(one.noise, two.noise, rtol=1e-12, atol=0)
    assert one.cell.tolist() == two.cell.tolist()


def test_many_chunks_are_one(monkeypatch):
    generator = rng(5)
    score = np.sort(np.round(generator.random(5000), 3))
    rows = score, np.ones(5000), (generator.random(5000) < score).astype(int)
    whole = sifted(*rows)
    monkeypatch.setattr(sieve, "_TOGETHER", 100)
    parts = sifted(*rows)
    assert whole.rows.tolist() == parts.rows.tolist()
    assert np.allclose(whole.limits, parts.limits, rtol=1e-12, atol=0)


# Drawn paths --------------------------------------------------------------------------------------


def test_paths_have_the_variance_of_the_rows_and_no_drift():
    generator = rng(7)
    score = np.sort(np.concatenate([generator.random(2000), np.full(50, 0.01), np.full(50, 0.99)]))
    weight = np.where((score == 0.01) | (score == 0.99), 60.0, 1.0)
    model = sifted(score, weight, np.zeros(len(score), int))
    assert len(model.step) == 100
    unit = np.ldexp(1.0, 52 - math.frexp(float(weight.sum()))[1])
    drawn = (path[:, -1] for _ in range(40) for path in model.paths(generator, 100))
    ends = np.concatenate(list(drawn)) / unit
    variance = float((weight**2 * score * (1 - score)).sum())
    assert abs(ends.mean()) < 4.5 * math.sqrt(variance / 4000)
    assert ends.var() == pytest.approx(variance, rel=0.2)


def test_without_a_single_event_there_are_paths():
    model = sifted([1e-200, 0.5], [1e50, 1.0], [0, 1])
    (paths,) = model.paths(rng(), 3)
    assert paths.shape == (3, len(model.noise))


def test_a_draw_costs_no_more_than_the_cells_and_ten_thousand_outcomes():
    """However many rows there are: 2 x 50^2 rarer outcomes, and log 4 for how they are drawn."""
    score, weight = np.full(40_000, 0.5), np.full(40_000, 1.0)
    weight[:9000] = 1.05 * 0.02 * math.sqrt(10_000)
    model = sifted(score, weight, np.zeros(40_000, int))
    assert model.cells <= 3 * 8192 + 8 * 5000 * math.log(4) + 1


# In assess ----------------------------------------------------------------------------------------


def heavy_rows(n, seed=0):
    generator = rng(seed)
    p, w = generator.random(n), np.where(np.arange(n) < 60, 600.0, 1.0)
    p[:60] = 0.002
    return (generator.random(n) < p).astype(int), p, w


@pytest.mark.parametrize(("n", "way"), [(100_100, "_monte_carlo"), (100_101, "_of_heavy_rows")])
def test_up_to_a_hundred_million_coins_every_row_is_drawn(n, way, monkeypatch):
    taken = []

    def record(name):
        return lambda *_: taken.append(name) or (choose.PValue(0.0, "", None),) * 2

    for name in ("_monte_carlo", "_of_heavy_rows"):
        monkeypatch.setattr(choose, name, record(name))
    y, p, w = heavy_rows(n)
    secant.assess(y, p, sample_weight=w)
    assert taken == [way]


def test_the_order_of_rows_changes_nothing(monkeypatch):
    monkeypatch.setattr(choose, "_COINS", 20_000_000)
    y, p, w = heavy_rows(30_000)
    p = np.round(p, 4)  # ties, of heavy and of light rows
    w[1000:2000] *= 3
    order = rng(4).permutation(30_000)
    one = secant.assess(y, p, sample_weight=w)
    two = secant.assess(y[order], p[order], sample_weight=w[order])
    assert one.ecce_r.method == two.ecce_r.method
    assert one.ecce_r.pvalue == pytest.approx(two.ecce_r.pvalue, **EXACT)
    assert one.ecce_mad.pvalue == pytest.approx(two.ecce_mad.pvalue, **EXACT)


def test_a_file_sorted_in_runs_gives_what_arrays_give(tmp_path, monkeypatch):
    pa, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    monkeypatch.setattr(choose, "_COINS", 999 * 69_999)
    monkeypatch.setattr(row_source, "RUN", 20_000)
    y, p, w = heavy_rows(70_000)
    p = np.round(p, 4)
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"y": y, "p": p, "w": w}), path)
    arrays = secant.assess(y, p, sample_weight=w)
    files = secant.assess("y", "p", sample_weight="w", data=path)
    assert arrays.ecce_r.method == files.ecce_r.method
    assert arrays.ecce_r.pvalue == pytest.approx(files.ecce_r.pvalue, **EXACT)


def test_copies_of_rows_kept_by_outcome_are_rows(monkeypatch):
    """Frequency weights with outcome weights: counted rows, or each copy by itself."""
    monkeypatch.setattr(choose, "_COINS", 0)
    y, p, _ = heavy_rows(3000)
    copies = np.arange(3000) % 4
    asked = {"outcome_weights": (50.0, 1.0)}
    counted = secant.assess(y, p, sample_weight=copies, weight_kind="frequency", **asked)
    each = secant.assess(np.repeat(y, copies), np.repeat(p, copies), **asked)
    assert counted.ecce_r.method == each.ecce_r.method
    assert counted.ecce_r.pvalue == pytest.approx(each.ecce_r.pvalue, **EXACT)


@pytest.mark.parametrize("outcome_weights", [None, (5.0, 1.0)])
@pytest.mark.parametrize("along", [False, True])
def test_pvalues_are_those_of_drawing_every_row(outcome_weights, along, monkeypatch):
    y, p, w = heavy_rows(12_000, seed=2)
    if outcome_weights is not None:
        kept = (y == 1) | (rng(9).random(len(y)) < 1 / outcome_weights[0])
        y, p, w = y[kept], p[kept], w[kept]
    asked = {"sample_weight": w, "outcome_weights": outcome_weights, "rng": 3}
    if along:
        asked["order_by"] = rng(8).integers(0, 3000, len(p))
    full = secant.assess(y, p, **asked)
    monkeypatch.setattr(choose, "_COINS", 999 * len(p) - 1)
    sifted_ = secant.assess(y, p, **asked)
    for one, two in ((full.ecce_r, sifted_.ecce_r), (full.ecce_mad, sifted_.ecce_mad)):
        assert one.value == two.value
        # Draws stop at the hundredth as extreme: a tenth of either is chance.
        assert math.log(one.pvalue / two.pvalue) == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("expected", [0.009, 0.05, 0.1])
def test_a_heavy_row_that_hardly_ever_happens_makes_no_other_light(expected):
    """All others decide then: half of their single events are as extreme as the observed one."""
    n = 100_200
    place = np.arange(n) / n
    p, w = expected / (n - 1) * (1 + 1e-3 * place), 1 + 0.01 * place
    p[-1], w[-1] = 1e-5, 17_000
    y = np.zeros(n, int)
    y[n // 2] = 1
    result = secant.assess(y, p, sample_weight=w)
    for found in (result.ecce_r, result.ecce_mad):
        assert 0.4 * expected < found.pvalue < 0.62 * expected + 1e-3


def test_rows_are_sifted_until_what_is_left_is_light():
    n = 5000
    score, response = np.full(n, 1e-4), np.zeros(n, int)
    score[0] = 1e-9
    for others in (1.0, 1e-3):  # of one size, or of many
        weight = others ** (np.arange(n) % 7 / 6)
        weight[0] = 1e9
        rows = Chunk(score, response, weight)
        options = {"sampling": True, "outcome_weights": None, "log_loss": False}
        totals = row_totals(rows, score * (1 - score), **options)
        through, looks = Sieve(totals), 1
        through.add_all(*rows)
        while (lower := through.too_coarse()) is not None:
            through, looks = Sieve(totals, lower), looks + 1
            through.add_all(*rows)
        assert looks == 2
        model = through.sifted()
        # All that could decide is drawn as it is, for about half an event is expected.
        assert len(model.step) > n / 2
