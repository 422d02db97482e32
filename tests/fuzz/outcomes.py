"""What outcomes of the same call may differ in: rounding, and which names for a view are one object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.programs.harness import Outcome, mutable_parts

__all__ = ["largest_number", "numbers_of", "sharing"]


def numbers_of(outcome: Outcome) -> list[np.ndarray]:
    """The numbers and arrays of numbers that a call gave, and those that it was given, behind it."""
    return list(_numbers_in((outcome.value, outcome.args.positional)))


def _numbers_in(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _numbers_in(item)
    elif isinstance(value, np.ndarray | np.generic | float | complex):
        if np.asarray(value).dtype.kind in "biufc":
            yield np.asarray(value)


def largest_number(outcome: Outcome) -> float:
    """The largest finite float of them, 1 at least."""
    floats = [np.abs(x) for x in numbers_of(outcome) if x.dtype.kind in "fc"]
    return max((float(x[np.isfinite(x)].max(initial=1.0)) for x in floats), default=1.0)


def sharing(outcome: Outcome) -> object:
    """Give which results are arguments and which arrays share memory.

    Two names for a view that the function made may be two objects.
    """
    parts = list(mutable_parts((outcome.value, outcome.args.positional)))
    given = list(mutable_parts(outcome.args.positional))
    arrays = [x for x in parts if isinstance(x, np.ndarray)]
    shared = [np.may_share_memory(x, y) for x in arrays for y in arrays]
    return shared, [[x is y for y in given] for x in parts]
