"""Draws are the same in every run unless somebody brings a generator."""

import numpy as np

from secant._inference.draws import DRAWS, ENOUGH, FEWEST_DRAWS, by_draws, same_every_time


def test_without_a_generator_draws_are_the_same():
    assert same_every_time(None).random() == same_every_time(None).random()


def test_a_generator_given_is_used():
    ours = np.random.default_rng(5)
    assert same_every_time(ours) is ours


def test_the_method_says_how_many():
    assert by_draws(9999) == "Monte Carlo, 9,999 draws"


def test_early_stopping_leaves_a_valid_pvalue_at_every_number():
    # (1 + b) / (1 + B) reaches the usual levels exactly.
    assert ENOUGH < FEWEST_DRAWS < DRAWS
    assert (1 + FEWEST_DRAWS) % 1000 == (1 + DRAWS) % 1000 == 0
