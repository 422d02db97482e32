"""What a user can set for one function."""

from __future__ import annotations

from ljit.records import Record

__all__ = ["Options"]


class Options(Record, eq=True):
    """The options of `ljit.jit`; see there."""

    strict: bool = False
    fastmath: bool = False
    num_profiled_runs: int = 1
