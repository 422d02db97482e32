"""What a user can set for one function, and what holds for twins (`twins.py`)."""

from __future__ import annotations

from ljit.records import Record

__all__ = ["TWIN_OPTIONS", "Options"]


class Options(Record, eq=True):
    """The options of `ljit.jit`; see there."""

    strict: bool = False
    fastmath: bool = False
    num_profiled_runs: int = 1


#: a few calls show more branches than one, and most functions that are called in loops are called often
TWIN_OPTIONS = Options(num_profiled_runs=8)
