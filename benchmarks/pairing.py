"""Paired measurements: two functions take turns, so that a change of the machine's speed hits both."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_CALLS = 10_000_000
CALLS_OF_CONTEST = 200
CACHE_LINE = 64


@dataclass(frozen=True, slots=True)
class Pair:
    """Median CPU seconds a call of two functions, and the median of the ratios of the pairs."""

    first: float
    second: float
    ratio: float  # first / second
    spread: float  # interquartile range of the ratios over their median

    def __str__(self) -> str:
        return f"{seconds(self.first)}  {seconds(self.second)}  {self.ratio:8.2f}x (+-{100 * self.spread / 2:.0f} %)"


def copies(args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments for one more call; their arrays begin at cache lines.

    Elsewhere each access of a vector of 64 bytes takes two lines, and malloc decides: a third of a product's time.
    """
    return tuple([_at_cache_line(x) if _is_dense(x) else copy.deepcopy(x) for x in args])


def _is_dense(x: object) -> bool:
    return isinstance(x, np.ndarray) and x.flags.c_contiguous and not x.dtype.hasobject


def _at_cache_line(x: np.ndarray) -> np.ndarray:
    memory = np.empty(x.nbytes + CACHE_LINE, np.uint8)
    made = np.ndarray(x.shape, x.dtype, memory, -memory.ctypes.data % CACHE_LINE)
    made[...] = x
    return made


def settle(function: Any, call: Callable[[], Any]) -> None:
    """Call an ljit function until all its native code has been optimised, and its contests with NumPy are over."""
    _ = function.specializations  # who looks at them has small functions compiled as well
    call()
    for _ in range(MOST_CALLS):
        call()
        if not any(info.is_quick for info in function.specializations):
            for _ in range(CALLS_OF_CONTEST):
                call()
            return
    raise RuntimeError(f"{function.__name__} is not optimised after {MOST_CALLS} calls")


def seconds(t: float) -> str:
    for unit, factor in (("s ", 1.0), ("ms", 1e3), ("us", 1e6)):
        if t * factor >= 1.0:
            return f"{t * factor:8.2f} {unit}"
    return f"{t * 1e9:8.2f} ns"


def measure(
    first: Callable[[], Any],
    second: Callable[[], Any],
    rounds: int,
    calls: tuple[int, int] = (1, 1),
) -> Pair:
    """Time `first` and `second` in turn; `calls` says how often each is called within a round."""
    times: list[tuple[float, float]] = []
    for number in range(rounds):
        order = ((0, first), (1, second)) if number % 2 == 0 else ((1, second), (0, first))
        taken = [0.0, 0.0]
        for which, function in order:
            taken[which] = time_calls(function, calls[which])
        times.append((taken[0], taken[1]))
    ratios = [a / b for a, b in times]
    low, middle, high = statistics.quantiles(ratios, n=4) if rounds > 2 else (0, ratios[0], 0)
    return Pair(
        statistics.median(a for a, _ in times),
        statistics.median(b for _, b in times),
        middle,
        (high - low) / middle,
    )


def time_calls(function: Callable[[], Any], calls: int) -> float:
    start = time.process_time()  # not the time that other processes take
    for _ in range(calls):
        function()
    return (time.process_time() - start) / calls
