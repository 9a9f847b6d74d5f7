"""A comparison of groups: what is found, and in which direction."""

from dataclasses import replace

import numpy as np
import pytest

from samples import compare_groups
from secant._api.compare_groups import _other_way
from secant._results.base import say
from secant._results.wording import limits, metric


def test_words_say_the_direction():
    rng = np.random.default_rng(3)
    p, member = rng.random(4000), rng.random(4000) < 0.2
    more = compare_groups(rng.random(4000) < np.where(member, p**0.6, p), p, member)
    assert (more.found, more.worst.direction) == (True, "more often")
    assert more.worst.direction in more.verdict
    assert more.to_dict()["verdict"] == more.verdict
    assert str(more.worst.n) in str(more.worst)
    none = compare_groups(rng.random(4000) < p, p, member)
    assert not none.found
    assert metric(none.detectable) in say(none).then


def test_words_for_the_opposite_event_differ_in_the_direction_alone():
    rng = np.random.default_rng(3)
    p, member = np.round(rng.random(2000), 1), rng.random(2000) < 0.3
    y = rng.random(2000) < np.where(member, p**0.5, p)
    more, less = (str(compare_groups(z, p, member)).splitlines()[0] for z in (y, ~y))
    assert "more often" in more
    assert more.replace("more often", "less often") == less


def test_a_group_that_differs_both_ways_is_not_said_to_differ_one_way():
    rng = np.random.default_rng(0)
    p, member = rng.random(6000), rng.random(6000) < 0.4
    chance = np.where(member, np.clip(p + np.where(p < 0.5, 0.2, -0.2), 0, 1), p)
    y = rng.random(6000) < chance
    result = compare_groups(y, p, member)
    assert (result.worst.direction, result.opposite.direction) == ("more often", "less often")
    assert result.opposite.certain
    for opposite in (y, ~y):
        found = compare_groups(opposite, p, member)
        ranges = sorted((found.worst, found.opposite), key=lambda each: each.low)
        verdict, where = found.verdict, say(found).then
        for said in (verdict, where):
            assert 0 <= said.find(ranges[0].direction) < said.find(ranges[1].direction)
        for each in ranges:
            assert limits(each.ci, each.difference) in where
    assert result.to_dict()["opposite"]["direction"] == "less often"


def test_the_other_way_is_the_largest_of_all_ranges_that_go_that_way():
    rng = np.random.default_rng(1)
    for _ in range(50):
        p, member = np.round(rng.random(40), 1), rng.random(40) < 0.5
        y = rng.random(40) < p
        result = compare_groups(y, p, member)
        path = result.curve.difference
        gains = [path[j] - path[i] for j in range(len(path)) for i in range(j)]
        way = 1 if result.worst.difference < 0 else -1
        first, last = _other_way(path)
        assert way * (path[last] - path[first]) == pytest.approx(max(way * np.array([0, *gains])))


def test_where_limits_reach_beyond_zero_no_direction_is_claimed():
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(200):
        p, member = rng.random(60), rng.random(60) < 0.3
        result = compare_groups(rng.random(60) < np.where(member, p**0.6, p), p, member)
        if result.found and not result.worst.certain:
            found += 1
            assert "often" not in result.verdict
            assert "not show for certain" in say(result).then
    assert found > 5


def test_words_for_a_group_that_can_show_nothing():
    result = compare_groups([1, 0, 0, 0], [0.5] * 4, [True, False, False, False])
    assert result.detectable == 1
    assert "next to nothing" in say(result).then


@pytest.mark.parametrize("level", [0.3, 0.1, 0.05, 0.01, 0.001])
def test_a_pvalue_at_the_level_is_found_and_one_above_is_not(level):
    """Also where 1 - (1 - level) is a little less than the level, as for 0.1."""
    result = compare_groups([1, 0, 0, 0], [0.5] * 4, [True, False, False, False])

    def at(pvalue):
        r, mad = replace(result.ecce_r, pvalue=pvalue), replace(result.ecce_mad, pvalue=1.0)
        return replace(result, ecce_r=r, ecce_mad=mad, confidence_level=1 - level)

    assert at(level).found
    assert not at(level * (1 + 1e-9)).found
    assert at(level).verdict != at(level * (1 + 1e-9)).verdict


def test_scores_that_do_not_overlap_cannot_be_compared():
    rng = np.random.default_rng(0)
    member = rng.random(1000) < 0.3
    p = np.where(member, 0.6 + 0.4 * rng.random(1000), 0.4 * rng.random(1000))
    y = rng.random(1000) < p
    for who in (member, ~member):
        result = compare_groups(y, p, who)
        assert not result.overlap
        assert not result.comparable
        assert not result.found
        assert "points" not in str(result)
        assert "do not overlap" in say(result).then
        assert result.to_dict()["comparable"] is False
    p[member.argmax()] = 0.2
    assert compare_groups(y, p, member).overlap


def test_a_difference_that_the_scores_themselves_make_is_none():
    """One of the others lies above all members and the rest far below: what differs is scores."""
    member = np.arange(2000) % 2 == 0
    p = np.where(member, 0.9, np.where(np.arange(2000) == 1, 0.95, 0.1))
    y = np.where(member, np.arange(2000) % 10 != 0, np.arange(2000) % 10 == 1).astype(int)
    result = compare_groups(y, p, member)
    assert result.overlap
    assert not result.comparable
    assert result.ecce_r.pvalue < 1e-6
    assert not result.found
    assert "cannot be compared" in result.verdict


def test_members_alone_and_single_rows_stay_as_they_are():
    assert compare_groups([1, 0], [0.2, 0.4], [True, True]).comparable
    assert compare_groups([1, 0], [0.3, 0.3], [True, False]).comparable
