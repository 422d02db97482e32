"""Attack a function: equal outcomes on all calls, and the proof that native code ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ljit
from tests.programs.harness import Factory, check_calls

__all__ = ["CALLS", "assert_native", "attack", "native_calls"]

CALLS = 5


def native_calls(compiled: Any) -> int:
    """Count the calls that went into native code."""
    return sum(found.calls for found in compiled.specializations)


def assert_native(compiled: Any) -> None:
    assert native_calls(compiled) > 0, compiled.explain()


def attack(
    function: Callable[..., Any], ordinary: Factory, *hostile: Factory, fresh: bool = True
) -> None:
    """Compare with CPython: calls 1 to 5 on ordinary arguments, then hostile ones on that native code.

    `fresh`: also calls 1 to 5 on each hostile factory with code that is made for it.
    """
    trained = ljit.jit(function)
    check_calls(function, trained, [ordinary] * CALLS)
    assert_native(trained)
    check_calls(function, trained, [*hostile, *hostile, ordinary])
    for factory in hostile if fresh else ():
        check_calls(function, ljit.jit(function), [factory] * CALLS)
