"""What is declared of reductions and scans: how an op combines two elements, and which op they combine with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.records import Record

__all__ = ["Accumulation", "Reduction", "Scan"]


class Accumulation(Record):
    """How an elementwise op of two operands makes one result of many elements, in any order.

    - `start(dtype)` is the value to begin with: combined with an element of the dtype it gives the element (but for the
      sign of a zero).
    - `has_identity`: of no elements the result is `start`; else there must be some.
    - `flags`: what LLVM may do with the floats of a step (``reassoc``), so that several run side by side.
    - `step(e, x, y)` combines what there is with an element, where the op's own lowering is not the best way.
    - `is_compensated`: floats are added up in blocks, and what rounding takes from the sums of blocks is kept.
    - `is_wider_for_halves`: NumPy combines elements of float16 in float32, as a Map does not.
    - `saturated`: the bool that stays what it is, whatever is combined with it: ``True or x``.
    """

    start: Callable[[np.dtype], Any]
    has_identity: bool = True
    flags: str = ""
    step: Callable[..., Any] | None = None
    is_compensated: bool = False
    is_wider_for_halves: bool = False
    saturated: bool | None = None


class Reduction(Record):
    """A reduction of an array over axes: its elements, cast to the dtype of the result, are combined by an op."""

    combine: str


class Scan(Record):
    """A scan of an array, the last operand, along ``axis``: each element is combined with all before it.

    `start(dtype)` is combined with the first element without changing it, not even the sign of a zero. `has_parts`:
    elements may be combined with each other before they are with what is in front of them.
    """

    combine: str
    start: Callable[[np.dtype], Any]
    has_parts: bool = True
