"""Operands for the registry-wide tests: the values on which arithmetic goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

__all__ = [
    "BOOLS",
    "COMPLEXES",
    "FLOATS",
    "INTS",
    "INT_PAIRS",
    "NUMBERS",
    "NUMBER_PAIRS",
    "REALS",
    "REAL_PAIRS",
    "TRUTH_SAMPLES",
    "each",
    "is_huge_power",
]

INF, NAN = float("inf"), float("nan")
BOOLS = (False, True)
INTS = (0, 1, -1, 2, -2, 3, 7, -10, 63, 64, 2**31, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, -7.3, 0.1),
    *(2.0**53, 2.0**63, -(2.0**63), 1e308, -1e308, 5e-324, INF, -INF, NAN),
)
COMPLEXES = (
    *(0j, complex(-0.0, -0.0), 1 + 0j, 1j, 1.5 - 2j, -3 + 4j, complex(1e308, 1e308)),
    *(complex(INF, 1), complex(0, -INF), complex(NAN, 0), complex(INF, NAN), 1e-200 + 1e-200j),
)
REALS = (*BOOLS, *INTS, *FLOATS)
NUMBERS = (*REALS, *COMPLEXES)


def each(values: Sequence[object]) -> tuple[tuple[object], ...]:
    """Make samples of ops with one operand."""
    return tuple((x,) for x in values)


INT_PAIRS = tuple(product((*BOOLS, *INTS), repeat=2))
REAL_PAIRS = tuple(product(REALS, repeat=2))
NUMBER_PAIRS = tuple(
    product((*BOOLS, *INTS[:9:2], *INTS[-4:], *FLOATS[1::2], *COMPLEXES), repeat=2)
)

TRUTH_SAMPLES = each(
    (
        *NUMBERS,
        None,
        "",
        "a",
        (),
        (0,),
        [],
        [0],
        range(0),
        range(5, 1),
        range(1, 5, 2),
        *map(np.float32, (0, -0.0, np.nan)),
        np.False_,
        np.True_,
        np.int8(0),
        np.uint64(2**63),
        np.complex64(0),
        np.complex64(1j),
        np.float16(1e-7),
    )
)


def is_huge_power(x: Any, y: Any) -> bool:
    """Whether CPython would compute a number of millions of digits."""
    return isinstance(x, int) and isinstance(y, int) and abs(x) > 1 and y > 10**4
