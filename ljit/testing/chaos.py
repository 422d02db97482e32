"""Chaos: make each check of native code fail in turn. A bailout that was never forced does not work.

`fail_each_guard` compiles the function's present native code, and that of functions which it calls natively,
once more with switchable checks, and leaves what the executors have learnt alone. `eager_loops` makes the
interpreter outline loops at once, so that small inputs run through outlined loops too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ljit.analysis.signatures import NativeLink
from ljit.codegen import NativeCode, compile_unit
from ljit.cpython.own_frames import drop_own_frames
from ljit.ops.control import CALL_NATIVE
from ljit.runtime import hooks as hooks_module
from ljit.runtime.bailouts import Bailout, on_bailout
from ljit.runtime.executor import Plan, ProfilingExecutor
from ljit.runtime.links import connect
from ljit.runtime.native import NativeUnit, link_entries, make_unit

__all__ = [
    "eager_loops",
    "fail_each_guard",
    "fail_each_loop_guard",
    "has_native_code",
    "native_graphs",
]

Helper = Callable[[int, int, tuple[object, ...]], object]


def fail_each_guard(function: Any) -> Iterator[str]:
    """Force each check of the function's native code to fail, one after the other.

    While the generator stands at a check, calls of `function` with the types that it was compiled
    for leave native code there. Yields a description of the check. ValueError if the function has no native code:
    nothing would be tested.
    """
    _ = function.specializations  # who looks has it compiled
    if not has_native_code(function):
        raise ValueError(f"{function} has no native code")
    for executor, plan, unit in _native_units(function):
        yield from _fail_each_site_of_plan(executor, plan, unit)


def has_native_code(function: Any) -> bool:
    """Whether any of the function's calls were compiled and not left to CPython."""
    return any(plan.unit is not None for plan in function._executor.plans.values())


def native_graphs(function: Any) -> tuple[str, ...]:
    """The graphs of all native code whose checks `fail_each_guard` makes fail."""
    return tuple(str(unit.graph) for _executor, _plan, unit in _native_units(function))


def _native_units(function: Any) -> Iterator[tuple[ProfilingExecutor, Plan, NativeUnit]]:
    for executor in _with_callees(function._executor):
        for plan in list(executor.plans.values()):
            if plan.unit is not None:
                yield executor, plan, plan.unit


def _with_callees(executor: ProfilingExecutor) -> list[ProfilingExecutor]:
    """The executor and those of the functions that its native code calls."""
    found = [executor]
    for each in found:
        for plan in each.plans.values():
            for node in plan.unit.graph.walk() if plan.unit is not None else ():
                link = node.attrs["callee"] if node.op is CALL_NATIVE else None
                callee: Any = link.callee if isinstance(link, NativeLink) else None
                if callee is not None and callee._executor not in found:
                    found.append(callee._executor)
    return found


def _fail_each_site_of_plan(
    executor: ProfilingExecutor, plan: Plan, original: NativeUnit
) -> Iterator[str]:
    def leave(exit_index: int, site_index: int, values: tuple[object, ...]) -> object:
        try:
            return on_bailout(executor, plan, Bailout(unit, exit_index, site_index, values))
        except BaseException as error:
            _drop_first_frame(error)
            drop_own_frames(error)
            raise

    unit = _switchable(original, leave)
    link_entries(executor.owner, [unit])
    linked = [link for link in plan.links.values() if link.address]
    for link in linked:
        link.address = unit.code.native_address
    try:
        yield from _each_site(unit.code)
    finally:
        executor.link_entries()
        for link in linked:
            link.address = 0
        if plan.unit is not None:
            connect(plan)


def fail_each_loop_guard(function: Any) -> Iterator[str]:
    """Force each check of the function's outlined loops to fail, as `fail_each_guard` does."""
    executor: ProfilingExecutor = function._executor
    for found in list(executor.loops.values()):
        original = found.unit
        if original is None:
            continue
        found.unit = unit = _switchable_loop(original)
        try:
            yield from _each_site(unit.code)
        finally:
            found.unit = original


def _switchable_loop(original: NativeUnit) -> NativeUnit:
    def leave(exit_index: int, site_index: int, values: tuple[object, ...]) -> object:
        return Bailout(unit, exit_index, site_index, values).loop_exit()

    unit = _switchable(original, leave)
    return unit


def _switchable(original: NativeUnit, leave: Helper) -> NativeUnit:
    """Compile the unit again with checks that can be made to fail."""
    specialization = original.specialization
    options = original.code.options.with_changes(chaos=True, helper=leave)
    code = compile_unit(specialization.graph, name=f"{original.code.name}.chaos", options=options)
    return make_unit(specialization, code, 0.0)


def _drop_first_frame(error: BaseException) -> None:
    entry = error.__traceback__
    error.__traceback__ = entry.tb_next if entry is not None else None


def _each_site(code: NativeCode) -> Iterator[str]:
    try:
        for index, site in enumerate(code.sites):
            code.chaos_site = index
            yield f"{site.reason} ({site.range.short() if site.range is not None else 'entry'})"
    finally:
        code.chaos_site = -1


@contextmanager
def eager_loops(threshold: int = 2) -> Iterator[None]:
    """Outline a loop after `threshold` back-edges for the length of a ``with`` block."""
    hooks = hooks_module.Hooks
    before = hooks.trips_until_hot
    setattr(hooks, "trips_until_hot", lambda _hooks, _loop: threshold)  # noqa: B010
    try:
        yield
    finally:
        setattr(hooks, "trips_until_hot", before)  # noqa: B010
