"""Tests in front of loops, at the ends of int64."""

from __future__ import annotations

import itertools
import math

import pytest

from tests.codegen.harness import Bailed, Compiled

LEAST, MOST = -(2**63), 2**63 - 1
VALUES = (LEAST, LEAST + 1, -3, -1, 0, 1, 2, 3, MOST - 1, MOST)

#: each term: a factor, then the positions of the operands that it multiplies
SUMS = [
    ((1, 0), (-1, 1)),
    ((-1,), (1, 0), (-1, 1)),
    ((1,), (1, 0), (-1, 1)),
    ((-3,), (1, 0)),
    ((3,), (-1, 1)),
    ((2, 0), (-1, 1)),
    ((1, 0), (1, 1)),
    ((-5,), (1, 0, 1)),
    ((-1,), (-2, 0), (-1, 1)),
]

GRAPH = """graph(%x : int, %y : int):
  prim::Snapshot[at='before:0', names=('x', 'y')](%x, %y)
  prim::predicate[given=(), test={test}](%x, %y)
  return (%x)
"""


@pytest.mark.parametrize("terms", SUMS, ids=str)
def test_a_test_passes_exactly_if_the_sum_is_not_below_zero(terms):
    function = Compiled(GRAPH.format(test=terms))
    for operands in itertools.product(VALUES, VALUES):
        total = sum(factor * math.prod(operands[p] for p in places) for factor, *places in terms)
        try:
            function(*operands)
            passed = True
        except Bailed:
            passed = False
        assert passed == (total >= 0), operands
