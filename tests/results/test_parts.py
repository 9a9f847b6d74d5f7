"""Results are plain frozen numbers all the way down, and strict JSON."""

import contextlib
import dataclasses
import json

import numpy as np
import pytest

import secant
from helpers import ROOT
from samples import ORDINARY, assert_plain, every_case, miscalibrated, public


@every_case
def test_numbers_are_plain(data, options):
    result = secant.assess(*data, **options)
    assert_plain(result)
    assert_plain(result.worst)
    assert_plain(result.between(0.1, 0.9))
    for function in (secant.ecce_r, secant.ecce_mad, secant.ece):
        assert type(function(*data)) is float
    error = result.ece(n_bins=np.int64(2), norm="l2")
    assert [type(getattr(error, name)) for name in public(error) if name != "bins"] == (
        [float, float, float, int, int, str, str, bool, str]
    )


def test_results_are_frozen():
    result = secant.assess(*ORDINARY)
    parts = [result, result.ecce_r, result.worst, result.curve, result.ece(), result.reliability()]
    for part in parts:
        for name in public(part):
            with pytest.raises(AttributeError):
                setattr(part, name, 0)
        with pytest.raises((AttributeError, TypeError)):
            part.something_new = 1


def test_changing_the_curve_does_not_change_the_result():
    result = secant.assess(*ORDINARY)
    with contextlib.suppress(ValueError):  # refusing is as good
        result.curve.difference[:] = 7
    assert result.curve.difference[0] == 0


def test_results_can_be_compared():
    one, two = secant.assess(*ORDINARY), secant.assess(*ORDINARY)
    assert one.ecce_r == two.ecce_r
    assert one.worst == two.worst
    for part in (lambda r: r.curve, lambda r: r.ece(), lambda r: r.reliability()):
        assert (part(one) == part(two)) in (True, False)  # an answer, not an error


@every_case
def test_to_dict_is_strict_json(data, options):
    result = secant.assess(*data, **options)
    nothing = result.between(0.4999, 0.49991)
    parts = [result, result.ecce_r, result.worst, nothing, result.reliability(n_bins=3)]
    parts += [result.ece(norm=norm, n_bins=3) for norm in ("l1", "l2", "max")]
    parts += [result.ece(n_bins=1, norm="l2", squared=True, strategy="quantile")]
    for part in parts:
        plain = part.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_options_of_numpy_types_are_plain_json_too():
    error = secant.assess(*ORDINARY).ece(n_bins=np.int8(3), norm="l2", squared=np.True_)
    json.dumps(error.to_dict(), allow_nan=False)


def test_to_dict_has_every_number_in_full():
    result = secant.assess(*ORDINARY)
    told = result.to_dict()
    for name in public(result):
        value = getattr(result, name)
        if dataclasses.is_dataclass(value):
            value = value.to_dict()
        assert told[name] == (list(value) if isinstance(value, tuple) else value), name
    assert told["worst"] == result.worst.to_dict()
    assert told["worst"]["miscalibration"] == result.worst.miscalibration
    assert told["ecce_r"]["value"] == secant.ecce_r(*ORDINARY)
    assert told["verdict"] in str(result)


def test_what_is_not_finite_becomes_none():
    told = secant.assess([1, 0, 1], [0.0, 1.0, 1.0]).to_dict()
    assert told["ecce_r"]["normalized"] is None
    assert told["ecce_r"]["log10_pvalue"] is None
    assert told["ecce_r"]["pvalue"] == 0.0
    bins = secant.assess([0, 1], [0.1, 0.9]).reliability(n_bins=3).to_dict()
    assert bins["mean_score"][1] is bins["low"][1] is None
    assert bins["count"] == [1, 0, 1]


# --- the keys that programs read ------------------------------------------------------------------

INTERVAL = ["at_least", "ci", "direction", "high", "limits", "low", "mean_response", "mean_score"]
INTERVAL += ["miscalibration", "n", "weight"]
STATISTIC = ["ci", "draws", "log10_pvalue", "method", "name", "normalized", "pvalue", "value"]
SCORE = ["dsc", "dsc_bounds", "mcb", "mcb_bounds", "name", "unc", "value"]
MEAN = ["ci", "draws", "expected", "log10_pvalue", "method", "observed", "pvalue", "ratio"]
MEAN += ["ratio_ci", "value"]
BRIDGE = ["direction", "draws", "log10_pvalue", "method", "pvalue", "value", "where"]
COX = ["exact", "intercept", "intercept_error", "left_out", "pvalue", "slope", "slope_error"]
# Keys are added here and in docs/json.md. One that goes or changes its meaning raises SCHEMA.
KEYS = {
    "axis": None,
    "base_rate": None,
    "bridge": BRIDGE,
    "brier": SCORE,
    "confidence_level": None,
    "cox": COX,
    "direction": None,
    "ecce_mad": STATISTIC,
    "ecce_r": STATISTIC,
    "forbidden": None,
    "intervals": INTERVAL,
    "log10_pvalue": None,
    "log_loss": SCORE,
    "mean": MEAN,
    "mean_score": None,
    "n": None,
    "n_clusters": None,
    "n_forbidden": None,
    "n_left_out": None,
    "outcome_weights": None,
    "pvalue": None,
    "pvalue_method": None,
    "schema": None,
    "sigma": None,
    "spiegelhalter": ["exact", "pvalue", "z"],
    "steepest": INTERVAL,
    "top_label": None,
    "verdict": None,
    "warnings": None,
    "where": None,
    "worst": INTERVAL,
}
ALL_GROUPS = ["adjust", "by", "confidence_level", "draws", "empty", "groups", "n_left_out"]
ALL_GROUPS += ["schema", "verdict"]
ALL_MODELS = ["behind", "comparisons", "confidence_level", "models", "not_worse", "schema"]
ALL_MODELS += ["score", "verdict"]
COMPARISON = ["better", "ci", "confidence_level", "difference", "ecce_r_a", "ecce_r_b", "mcb_a"]
COMPARISON += ["mcb_b", "mcb_ci", "mcb_difference", "n", "names", "pvalue", "untested", "verdict"]


def test_the_keys_of_json_are_those_of_schema_2():
    y, p = miscalibrated(2000, power=2)
    found = secant.assess(y, p).to_dict()
    assert found["schema"] == 2
    assert sorted(found) == list(KEYS)
    for name, inner in KEYS.items():
        if inner is not None:
            value = found[name][0] if name == "intervals" else found[name]
            assert sorted(value) == inner, name
    groups = secant.assess_by(y, p, np.arange(2000) % 2).to_dict()
    assert sorted(groups) == ALL_GROUPS
    assert groups["schema"] == 2
    models = secant.assess_models(y, {"one": p, "two": p**2}).to_dict()
    assert sorted(models) == ALL_MODELS
    assert sorted(models["behind"]["one"]) == ["ci", "difference", "pvalue"]
    assert sorted(models["comparisons"]["one"]) == COMPARISON


def test_every_key_is_documented():
    documented = (ROOT / "docs" / "json.md").read_text()
    for key in {*KEYS, *INTERVAL, *STATISTIC, *MEAN, *BRIDGE, *SCORE, *ALL_GROUPS, *COMPARISON}:
        assert f"`{key}`" in documented, key


def test_a_metric_is_shown_with_its_name_and_what_chance_gives_in_words():
    result = secant.assess(*miscalibrated(2000, power=2))
    assert str(result.ecce_r).startswith("ECCE-R 0.")
    assert str(result.ecce_mad).startswith("ECCE-MAD 0.")
    assert repr(result.expected).startswith("Calibrated predictions with these scores give about")
    assert repr(result.expected) in result.expected._repr_html_()
