"""``min`` and ``max`` of Python's and NumPy's numbers: the first of the best, as it was."""

from __future__ import annotations

import numpy as np

import ljit
from ljit import config


def test_neighbours_of_one_class_of_ints_are_compared_with_each_other_first():
    @ljit.jit
    def score(a, b, c):
        return max(0, a, b, c)

    given = [(3, -5, 7), (-3, -5, -1), (0, 0, -1), (9, 9, 2)]
    with config.overridden(cold_calls=False):
        for _ in range(3):
            for numbers in given:
                a, b, c = map(np.int64, numbers)
                found, expected = score(a, b, c), max(0, a, b, c)
                assert (found, type(found)) == (expected, type(expected))
        text = score.dump_llvm()
    assert 0 < text.count("icmp sgt") + text.count("icmp slt") <= 4
