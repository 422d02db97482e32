"""What LLVM is told that it knows as settings of the process only.

They hold while our code is compiled; others that use LLVM in this process find what they would find without us.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import llvmlite.binding as llvm

from ljit.records import Record

__all__ = ["settings_of_code", "settings_of_passes"]


class Setting(Record, eq=True):
    """An option of LLVM: its value for our code, and the one that it has by itself."""

    name: str
    ours: str
    default: str

    def give(self, value: str) -> None:
        llvm.set_option("ljit", f"-{self.name}={value}")


# Checks that arrays do not overlap stay with the loop that they are made for: widened to the loop around it they
# fail for rows of one array.
_HOIST_CHECKS = Setting("hoist-runtime-checks", "false", "true")
# Passes behind the optimiser that take 40 % of the time there; loops are as fast without them (with the first, some are
# much slower: it counts addresses of unrolled loops in registers that there are not).
_NOT_WORTH_IT = ("disable-lsr", "disable-copyprop", "disable-post-ra", "disable-constant-hoisting")
# Innermost loops begin at 32 bytes if at most 16 bytes of nothing lead there: short ones do not lie across lines of the
# cache then (a knapsack takes 0.83 of the time). With all that it takes, Floyd and Warshall's loops take 1.1 of theirs.
_WHERE_LOOPS_BEGIN = (
    Setting("x86-experimental-pref-innermost-loop-alignment", "5", "4"),  # the logarithm
    Setting("max-bytes-for-alignment", "16", "0"),  # 0: all that it takes
)
# These processors decode 32 bytes of code anew each time if a jump touches their end (Intel's erratum SKX102, since the
# microcode that mends it): where a loop happened to lie was up to a fourth of its time. LLVM puts the jumps elsewhere.
_WITH_JUMPS_ERRATUM = ("skylake", "skylake-avx512", "cascadelake")
_JUMPS_WITHIN = Setting("x86-branches-within-32B-boundaries", "true", "false")

# A sum of floats in a fixed order must not keep functions that have copies for vectors from being called so. Of other
# loops this made a convolution take half as long again.
_ORDERED_SUMS = Setting("force-ordered-reductions", "true", "false")
# See `Passes.unit_steps`.
_NO_UNIT_STEPS = Setting("enable-mem-access-versioning", "false", "true")

_count = threading.RLock()
_compiling = 0  # pieces of code, by all threads


@cache
def _of_code(cpu: str) -> tuple[Setting, ...]:
    settings = [_HOIST_CHECKS, *(Setting(name, "true", "false") for name in _NOT_WORTH_IT)]
    if llvm.get_process_triple().startswith("x86_64"):  # others do not know these options
        settings += _WHERE_LOOPS_BEGIN
    if cpu in _WITH_JUMPS_ERRATUM:
        settings.append(_JUMPS_WITHIN)
    return tuple(settings)


@contextmanager
def settings_of_code(cpu: str) -> Iterator[None]:
    """Give the settings that all our code has that is to be fast.

    No lock is held meanwhile: the garbage collector may run anybody's code, and that wait for another thread. Two
    threads that begin and end at once may miss some settings, which cost speed only.
    """
    settings = _of_code(cpu)
    if _count_compiling(1) == 1:
        for x in settings:
            x.give(x.ours)
    try:
        yield
    finally:
        if _count_compiling(-1) == 0:
            for x in settings:
                x.give(x.default)


def _count_compiling(change: int) -> int:
    global _compiling
    with _count:
        _compiling += change
        return _compiling


@contextmanager
def settings_of_passes(*, calls_copies: bool, unit_steps: bool) -> Iterator[None]:
    """Give those for the passes over one module.

    `calls_copies`: of functions that have copies for vectors. `unit_steps`: see `Passes`.
    """
    wanted = ((_ORDERED_SUMS, calls_copies), (_NO_UNIT_STEPS, not unit_steps))
    settings = [x for x, is_wanted in wanted if is_wanted]
    for x in settings:
        x.give(x.ours)
    try:
        yield
    finally:
        for x in settings:
            x.give(x.default)
