"""Rows without a score or an outcome, left out where users say so: on every source."""

import numpy as np
import pytest

import secant
from helpers import optional
from makers import arguments
from secant import InputError
from secant._results.wording import left_out
from secant.sources import rows
from secant.sources.files import held
from test_same_answers import WEIGHTS, answers, assert_same, columns, segments

NAN = float("nan")


def gappy(n, seed, **more):
    """Return predictions some of which lack a score or an outcome, and those that lack nothing.

    A certain score that was wrong is among the rows, after some that are left out.
    """
    rng = np.random.default_rng([seed, n])
    made = columns(rng.random(n), seed, **more)
    made["happened"] = made["happened"].astype(float)
    made["forecast"][n // 2], made["happened"][n // 2] = 1.0, 0.0
    if "weight" in made:
        made["weight"][n // 2] = 1
    without = rng.random((2, n)) < 0.05
    without[:, n // 2] = False
    without[:, 1] = True, False
    made["forecast"][without[0]], made["happened"][without[1]] = NAN, NAN
    whole = ~without.any(axis=0)
    return made, {name: column[whole] for name, column in made.items()}, int((~whole).sum())


@pytest.mark.parametrize("weights", WEIGHTS)
def test_left_out_and_counted(source, weights):
    made, whole, gone = gappy(600, 1, weights=WEIGHTS[weights])
    kind = "sampling" if weights == "none" else weights
    found = secant.assess(**source(made), weight_kind=kind, missing="drop")
    wanted = secant.assess(**arguments(whole, None), weight_kind=kind)
    assert found.n_left_out == found.to_dict()["n_left_out"] == gone
    assert str(found).splitlines()[-1].endswith(left_out(gone))
    assert found.warnings == (*wanted.warnings, left_out(gone))
    assert_same({**answers(found), "warnings": 0}, {**answers(wanted), "warnings": 0})
    if found.forbidden:  # numbered as they were passed
        assert 300 in found.forbidden
        assert wanted.forbidden != found.forbidden


def test_left_out_of_many_rows(source, monkeypatch):
    made, whole, gone = gappy(3000, 2, weights=WEIGHTS["sampling"])
    wanted = answers(secant.assess(**arguments(whole, None)))
    for name, limit in (("SORT_UP_TO", 64), ("CHUNK", 500), ("COLLECT_UP_TO", 100), ("PIECES", 64)):
        monkeypatch.setattr(rows, name, limit)
    monkeypatch.setattr(held, "HOLD", 64)
    found = secant.assess(**source(made), missing="drop")
    assert found.n_left_out == gone
    assert_same({**answers(found), "warnings": 0}, {**wanted, "warnings": 0})


def test_left_out_of_groups(source):
    made, whole, gone = gappy(600, 3, segment=segments)
    found = secant.assess_by(**source(made), missing="drop")
    wanted = secant.assess_by(**arguments(whole, None))
    assert found.n_left_out == found.to_dict()["n_left_out"] == gone
    assert left_out(gone) in str(found).splitlines()
    assert set(found) == set(wanted)
    for key, result in wanted.items():
        assert found[key].n_left_out == 0
        assert_same(answers(found[key]), answers(result))


def test_left_out_beside_clusters_and_another_order(source):
    """What else is missing in such a row is not looked at."""
    made, whole, gone = gappy(600, 4)
    rng = np.random.default_rng(5)
    made["patient"], made["day"] = rng.integers(0, 60, 600), rng.integers(0, 40, 600) / 4
    kept = ~(np.isnan(made["forecast"]) | np.isnan(made["happened"]))
    made["day"][~kept] = NAN
    given = source(made)
    order, wanted_order = ("day" if "data" in given else made["day"]), made["day"][kept]
    whole["patient"] = made["patient"][kept]
    found = secant.assess(**given, order_by=order, missing="drop")
    wanted = secant.assess(**arguments(whole, None), order_by=wanted_order)
    assert found.n_left_out == gone
    for one, other in ((found.ecce_r, wanted.ecce_r), (found.ecce_mad, wanted.ecce_mad)):
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.pvalue == other.pvalue
    assert found.n_clusters == wanted.n_clusters


@pytest.mark.parametrize("column", ["forecast", "happened"])
def test_nothing_left_is_refused(source, column):
    made, _, _ = gappy(30, 6)
    made[column][:] = NAN
    with pytest.raises(InputError, match="y_true or y_prob is missing in every row"):
        secant.assess(**source(made), missing="drop")


def test_a_missing_weight_stays_refused(source):
    made, _, _ = gappy(60, 7, weights=WEIGHTS["sampling"])
    made["weight"][30] = NAN
    with pytest.raises(InputError, match="sample_weight") as refused:
        secant.assess(**source(made), missing="drop")
    if refused.value.row is not None and not refused.value.place:
        assert refused.value.row == 30


def test_refused_unless_asked(source):
    made, _, _ = gappy(60, 8)
    given = source(made)
    for how in ({}, {"missing": "refuse"}):
        with pytest.raises(InputError, match=r"y_prob|y_true"):
            secant.assess(**given, **how)
    with pytest.raises(InputError, match="missing must be one of 'refuse', 'drop'; got 'ignore'"):
        secant.assess(**given, missing="ignore")


def test_nothing_missing_changes_nothing(source):
    made = columns(np.random.default_rng(9).random(200), 10)
    given = source(made)
    assert str(secant.assess(**given, missing="drop")) == str(secant.assess(**given))


def test_models_leave_out_rows_of_their_own(source):
    made, whole, gone = gappy(300, 11)
    made["rival"] = np.where(np.arange(300) % 10 == 0, NAN, 0.5)
    given = source(made)
    if "data" in given:
        models = {"forecast": "forecast", "rival": "rival"}
        found = secant.assess_models("happened", models, data=given["data"], missing="drop")
    else:
        models = {name: made[name] for name in ("forecast", "rival")}
        found = secant.assess_models(made["happened"], models, missing="drop")
    assert found["forecast"].n_left_out == gone
    wanted = secant.assess(**arguments(whole, None))
    assert found["forecast"].ecce_r.value == pytest.approx(wanted.ecce_r.value, rel=1e-12)
    absent = np.isnan(made["rival"]) | np.isnan(made["happened"])
    assert found["rival"].n_left_out == absent.sum()


# What is missing, whatever it is ------------------------------------------------------------------


@pytest.mark.parametrize("nothing", [None, NAN, "pandas.NA", "masked"])
@pytest.mark.parametrize("yes", [1, "yes"])
def test_whatever_is_missing(nothing, yes):
    no = 0 if yes == 1 else "no"
    y, p = [yes, no, yes, no, yes], [0.9, 0.2, 0.6, 0.4, 0.7]
    wanted = secant.assess([1, 0, 1], [0.9, 0.2, 0.7]).ecce_r.value
    if nothing == "masked":
        y = np.ma.array(y, mask=[0, 0, 1, 0, 0])
        p = np.ma.array(p, mask=[0, 0, 0, 1, 0])
    else:
        gone = optional("pandas").NA if nothing == "pandas.NA" else nothing
        y[2], p[3] = gone, gone
    found = secant.assess(y, p, pos_label=None if yes == 1 else yes, missing="drop")
    assert (found.n, found.n_left_out, found.ecce_r.value) == (3, 2, wanted)


def test_what_is_wrong_keeps_its_place():
    y, p = np.array([NAN, 1, 0, 1, 0]), np.array([0.5, 0.5, NAN, 1.5, 0.5])
    with pytest.raises(InputError, match=r"y_prob\[3\] is 1\.5"):
        secant.assess(y, p, missing="drop")
    with pytest.raises(InputError, match=r"clusters\[4\] is ''"):
        secant.assess(y, p / 2, clusters=["", "a", "b", "c", ""], missing="drop")
    with pytest.raises(InputError, match=r"order_by\[4\] is NaN"):
        secant.assess(y, p / 2, order_by=[NAN, 1, 2, 3, NAN], missing="drop")
    with pytest.raises(InputError, match="by must have one value a row; it has 3, not 5"):
        secant.assess_by(y, p / 2, [1, 2, 3], missing="drop")


def test_rows_of_files_keep_their_numbers(tmp_path):
    optional("pyarrow")
    path = tmp_path / "a.csv"
    path.write_text("y,p,w\n,0.5,1\n1,0.5,1\n0,,1\n1,1.5,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.csv, row 3, column 'p': y_prob is 1\.5"):
        secant.assess("y", "p", data=path, missing="drop")
    path.write_text("y,p,w\n,0.5,1\n1,0.5,1\n0,,\n1,0.5,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.csv, row 3, column 'w': sample_weight is null"):
        secant.assess("y", "p", data=path, sample_weight="w", missing="drop")


def test_a_file_of_rows_that_are_left_out_entirely(tmp_path):
    """As those of days whose outcomes are not known yet."""
    parquet, pyarrow = optional("pyarrow.parquet"), optional("pyarrow")
    rng = np.random.default_rng(12)
    p, y = rng.random(90), rng.integers(0, 2, 90)
    table = pyarrow.table({"y": y, "p": p, "g": ["a", "b", "c"] * 30})
    none = pyarrow.array([None] * 90, pyarrow.int64())
    for number, each in enumerate((table, table.set_column(0, "y", none), table)):
        parquet.write_table(each, tmp_path / f"{number}.parquet")
    found = secant.assess("y", "p", data=tmp_path, missing="drop")
    assert (found.n, found.n_left_out) == (180, 90)
    groups = secant.assess_by("y", "p", "g", data=tmp_path, missing="drop")
    assert ([each.n for each in groups.values()], groups.n_left_out) == ([60] * 3, 90)
    along = secant.assess("y", "p", data=tmp_path, order_by="p", missing="drop")
    assert (along.n, along.n_left_out) == (180, 90)


def test_tensors_leave_out_rows_on_their_device():
    torch = optional("torch")
    from secant._input.options import Reading
    from secant.sources.tensors.reading import columns as tensors

    y, p = torch.tensor([1.0, NAN, 0, 0, 1]), torch.tensor([0.9, 0.5, NAN, 1, 0.6])
    given = tensors(y, p, torch.ones(5), Reading(missing="drop"))
    assert (given.rows, given.left_out, given.kept.tolist()) == (3, 2, [0, 3, 4])
    assert given.checked().refused.rows == (3,)
    seen = given.refuse()
    assert (seen.left_out, seen.refused.rows) == (2, (3,))
    assert tensors(y[3:], p[3:], None, Reading(missing="drop")).kept is None
    with pytest.raises(InputError, match="missing in every row"):
        tensors(y, p * NAN, None, Reading(missing="drop"))
