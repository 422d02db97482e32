"""What a user can set for one function."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `ljit.jit`; see there."""

    strict: bool = False
    fastmath: bool = False
    num_profiled_runs: int = 1
