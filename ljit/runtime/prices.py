"""What a compile takes, before it is made: the seconds that are to be spent on a plan until then.

Code that was compiled before for the same types tells best: the next compile takes 0.8 to 1.4 times as long. Optimising
takes four times as long as quick code (2.6 to 5 times, from ten nodes to a thousand). Without code the baseline graph
has to tell, and how right it was so far: on another machine, or for another kind of program, all take longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.runtime.plans import Plan, quick_runs
from ljit.runtime.waiting import is_within_most, seconds_of_program

if TYPE_CHECKING:
    from ljit.runtime.baseline import Baseline
    from ljit.runtime.native import NativeUnit

__all__ = ["OPTIMISING", "is_optimising_due", "note_compile", "price"]

_SECONDS_OF_COMPILE = 0.008  # of whatever is small
_SECONDS_OF_NODE = 1e-4  # of the baseline graph, to compile it
OPTIMISING = 4  # times as long as quick code
_SECONDS_OF_DOUBT = 0.2  # of compiles, as which what is estimated without any counts
_LEAST_TIMES, _MOST_TIMES = 0.25, 8.0  # as much as at first, that quick code may run once more


class _Compiles:
    """The first ones of all plans: what they were estimated to take, and took."""

    estimated = taken = 0.0


def price(plan: Plan, baseline: Baseline) -> float:
    """The seconds that must have been spent before the plan's next compile."""
    is_quick = quick_runs(plan.feedback) > 0
    units = plan.units
    if units:
        last = units[-1]
        return _of_other_kind(last.seconds, was_quick=last.code.is_quick, is_quick=is_quick)
    seconds = _estimate(baseline) * _correction()
    return _of_other_kind(seconds, was_quick=True, is_quick=is_quick)


def is_optimising_due(unit: NativeUnit) -> bool:
    """Whether quick code, which has run as often as it should, may have taken as long as optimising takes.

    What it counts says nothing of how long its compile took: large code is hardly there when it is used up. If it can
    not have run so long, it goes on, for as much as is missing if nothing else runs.
    """
    needed = OPTIMISING * unit.seconds
    seconds = seconds_of_program() - unit.begun
    if seconds >= needed and is_within_most(needed):
        return True
    times = needed / max(seconds, needed / _MOST_TIMES) - 1.0
    unit.code.go_on_quick(max(times, _LEAST_TIMES))
    return False


def note_compile(unit: NativeUnit, baseline: Baseline) -> None:
    """Learn from the first compile of a plan."""
    was_quick = unit.code.is_quick
    _Compiles.estimated += _estimate(baseline)
    _Compiles.taken += _of_other_kind(unit.seconds, was_quick=was_quick, is_quick=True)


def _estimate(baseline: Baseline) -> float:
    return _SECONDS_OF_COMPILE + baseline.size * _SECONDS_OF_NODE


def _correction() -> float:
    """How much longer compiles took so far than they were estimated to; none were shorter by so much that it counts."""
    taken = _Compiles.taken + _SECONDS_OF_DOUBT
    return max(taken / (_Compiles.estimated + _SECONDS_OF_DOUBT), 1.0)


def _of_other_kind(seconds: float, *, was_quick: bool, is_quick: bool) -> float:
    if was_quick == is_quick:
        return seconds
    return seconds * OPTIMISING if was_quick else seconds / OPTIMISING
