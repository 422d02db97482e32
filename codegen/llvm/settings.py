"""What LLVM is told that it knows as settings of the process only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import llvmlite.binding as llvm

__all__ = ["settings_of_module", "tell_process"]

# Passes behind the optimiser that take 40 % of the time there; loops are as fast without them (with the first, some are
# much slower: it counts addresses of unrolled loops in registers that there are not).
_NOT_WORTH_IT = ("disable-lsr", "disable-copyprop", "disable-post-ra", "disable-constant-hoisting")
# Innermost loops begin at 32 bytes if at most 16 bytes of nothing lead there: short ones do not lie across lines of the
# cache then (a knapsack takes 0.83 of the time). With all that it takes, Floyd and Warshall's loops take 1.1 of theirs.
_WHERE_LOOPS_BEGIN = (
    "x86-experimental-pref-innermost-loop-alignment=5",  # the logarithm
    "max-bytes-for-alignment=16",
)
# These processors decode 32 bytes of code anew each time if a jump touches their end (Intel's erratum SKX102, since the
# microcode that mends it): where a loop happened to lie was up to a fourth of its time. LLVM puts the jumps elsewhere.
_WITH_JUMPS_ERRATUM = ("skylake", "skylake-avx512", "cascadelake")
_JUMPS_WITHIN = "x86-branches-within-32B-boundaries"


def tell_process(cpu: str) -> None:
    """Give the settings that all code of the process has."""
    # Checks that arrays do not overlap stay with the loop that they are made for: widened to the loop around it they
    # fail for rows of one array.
    _set("hoist-runtime-checks=false")
    for option in _NOT_WORTH_IT:
        _set(option)
    if llvm.get_process_triple().startswith("x86_64"):  # others do not know these options
        for option in _WHERE_LOOPS_BEGIN:
            _set(option)
    if cpu in _WITH_JUMPS_ERRATUM:
        _set(_JUMPS_WITHIN)


@contextmanager
def settings_of_module(*, calls_copies: bool, unit_steps: bool) -> Iterator[None]:
    """Give those for the passes over one module.

    `calls_copies`: of functions that have copies for vectors. `unit_steps`: see `Passes`.
    """
    # A sum of floats in a fixed order must not keep such functions from being called so. Of other loops this made a
    # convolution take half as long again.
    _set(f"force-ordered-reductions={str(calls_copies).lower()}")
    if unit_steps:
        yield
        return
    _set("enable-mem-access-versioning=false")
    try:
        yield
    finally:
        _set("enable-mem-access-versioning=true")  # for others that use LLVM


def _set(option: str) -> None:
    llvm.set_option("ljit", f"-{option}")
