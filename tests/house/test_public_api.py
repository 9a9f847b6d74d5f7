"""The names users import. Names are added, never renamed; each addition is a line here."""

import pickle
import types

import pytest

import secant

FROZEN = [
    "ECE",
    "Assessments",
    "Bounds",
    "Bridge",
    "Calibration",
    "Cells",
    "Contrast",
    "Cox",
    "CumulativeDisplay",
    "Curve",
    "Group",
    "GroupComparison",
    "InputError",
    "Interval",
    "IsotonicFit",
    "MeanDifference",
    "MissingExtraError",
    "ModelComparison",
    "Models",
    "Monitor",
    "MonitorDisplay",
    "MonitorHistory",
    "Period",
    "Reliability",
    "ReliabilityDisplay",
    "Scan",
    "Score",
    "SecantError",
    "Segment",
    "Spiegelhalter",
    "Statistic",
    "TopLabel",
    "Where",
    "__version__",
    "assess",
    "assess_by",
    "assess_classes",
    "assess_coverage",
    "assess_models",
    "assess_segments",
    "compare_groups",
    "compare_models",
    "detectable",
    "ecce_mad",
    "ecce_r",
    "ece",
    "null",
    "predictions_needed",
    "scan",
    "top_label",
]


def test_all_is_frozen():
    assert list(secant.__all__) == FROZEN


def test_all_is_sorted_and_has_no_repeats():
    # Constants, classes, the rest: the order in which ruff sorts names (RUF022).
    def place(name):
        return not name.isupper(), not name[0].isupper(), name

    assert list(secant.__all__) == sorted(set(secant.__all__), key=place)


def test_every_name_exists():
    missing = [name for name in secant.__all__ if not hasattr(secant, name)]
    assert not missing


def test_public_objects_say_where_they_come_from_and_what_they_do():
    for name in secant.__all__:
        thing = getattr(secant, name)
        if isinstance(thing, type | types.FunctionType | types.ModuleType):
            assert thing.__doc__, f"secant.{name} has no docstring"


def test_dir_shows_nothing_else():
    for name in dir(secant):
        thing = getattr(secant, name)
        if isinstance(thing, types.ModuleType):
            # Importing a submodule makes it an attribute; another library must not appear.
            assert thing.__name__.startswith("secant."), f"secant.{name} is {thing.__name__}"
        elif not name.startswith("_") and name != "annotations":
            assert name in secant.__all__, f"secant.{name} is visible and not in __all__"


def test_version_looks_like_one():
    major, minor, patch = secant.__version__.split(".")[:3]
    assert major.isdigit()
    assert minor.isdigit()
    assert patch[:1].isdigit()


@pytest.mark.parametrize("name", [n for n in FROZEN if isinstance(getattr(secant, n), type)])
def test_public_classes_are_called_as_users_import_them(name):
    # So that what was pickled can be read after a class has moved to another room.
    public = getattr(secant, name)
    assert f"{public.__module__}.{public.__qualname__}" == f"secant.{name}"
    assert pickle.loads(pickle.dumps(public)) is public  # noqa: S301  (our own)
