"""What the paper shows of ImageNet."""

import pytest

from secant.paper.imagenet.subsets import NUMBERS, PAPER_IMAGES, SUBSETS


def test_the_figures_are_eleven_to_thirty_four():
    numbers = [number for subset in SUBSETS for number in subset.figures]
    assert numbers == list(NUMBERS) == list(range(11, 35))
    assert [subset.true_class for subset in SUBSETS] == [60, 68, 248, 342, 837, None]


@pytest.mark.parametrize(
    ("n", "of_a_class", "of_all"),
    [
        (3, [], []),
        (4, [4], [4]),
        (50, [4, 8, 16, 32], [4, 8, 16, 32]),
        (1300, [2**k for k in range(2, 11)], [2**k for k in range(2, 11)]),
        (PAPER_IMAGES, [2**k for k in range(2, 11)], [2**k for k in range(2, 13)]),
    ],
)
def test_numbers_of_bins(n, of_a_class, of_all):
    assert SUBSETS[0].bin_counts(n) == of_a_class
    assert SUBSETS[-1].bin_counts(n) == of_all
