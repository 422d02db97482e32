"""The text of `Function.explain()`: how each source line runs, and what happened to each specialisation.

For each tuple of argument types: whether native code, the interpreter or CPython runs it and why; compiles and
their time, calls, and each source line with what keeps it from being native; then the checks that failed.
The same for outlined loops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ljit.codegen.layouts.instances import writes_as_object
from ljit.codegen.objects.attributes import place_of
from ljit.ir import Node
from ljit.ops.control import CALL_NATIVE, DEOPTIMIZE, GUARD, PLANNED_EXITS
from ljit.ops.objects import GETATTR, SETATTR
from ljit.ops.python.types import class_of
from ljit.records import Record
from ljit.runtime.executor import ProfilingExecutor
from ljit.runtime.native import NativeUnit
from ljit.runtime.plans import LoopPlan, Plan, types_text
from ljit.runtime.worth import runs_boxed
from ljit.source import Source
from ljit.types import Type

__all__ = ["SpecializationInfo", "explain", "specialization_info"]

_WIDTH = 60
_NATIVE = ("native", "")
_QUICK = "native, not optimised yet"


class SpecializationInfo(Record, eq=True):
    """One plan of a function: argument types, state, and what happened to it."""

    types: tuple[Type, ...]
    state: str  # "native", "native, not optimised yet", "profiling" or "CPython: reason"
    runs: int  # in the interpreter
    compiles: int
    seconds: float  # of all compiles
    calls: int  # of native code
    bailouts: int

    def __str__(self) -> str:
        return f"{types_text(self.types)}: {self.state}; {self.history}"

    @property
    def is_quick(self) -> bool:
        """Whether the native code is to be optimised when it has run often."""
        return self.state == _QUICK

    @property
    def history(self) -> str:
        compiles = f"{_count(self.compiles, 'compile')} in {self.seconds * 1e3:.1f} ms"
        calls = _count(self.calls, "native call")
        return f"{_count(self.runs, 'profiled run')}, {compiles}, {calls}, {_count(self.bailouts, 'bailout')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def specialization_info(plan: Plan) -> SpecializationInfo:
    """Sum up one plan."""
    unit = plan.unit
    if plan.refused is not None:
        state = f"CPython: {plan.refused}"
    elif unit is not None:
        state = _QUICK if unit.code.is_quick else "native"
    else:
        state = "profiling"
    return SpecializationInfo(
        plan.types,
        state,
        plan.runs,
        plan.compiles,
        sum(unit.seconds for unit in plan.units),
        plan.native_calls,
        sum(unit.bailouts.total() for unit in plan.units),
    )


def explain(executor: ProfilingExecutor) -> str:
    """Say of each source line how it runs, and of each check how often it failed."""
    name = executor.fn.__qualname__
    if executor.baseline is None:
        return f"{name}: left to CPython\n  {executor.refused}"
    return "\n".join(_parts(executor, name))


def _parts(executor: ProfilingExecutor, name: str) -> Iterator[str]:
    yield (
        f"{name}: {_count(len(executor.plans), 'specialisation')}, "
        f"{_count(len(executor.loops), 'outlined loop')}"
    )
    if not executor.plans:
        yield (
            "  not called yet"
            if not executor.cold.calls
            else "  left to CPython so far: a compile would not pay yet"
        )
    if executor.table.evictions:
        yield f"  {_count(executor.table.evictions, 'specialisation')} given up for newer ones"
    for plan in list(executor.plans.values()):
        info = specialization_info(plan)
        yield f"\n{plan}: {info.state}"
        yield f"  {info.history}"
        unit, units, contest = plan.unit, plan.units, plan.contest
        if unit is not None:
            yield from contest.losses() if contest is not None else ()
            yield from _lines(unit, executor.fn.__code__.co_firstlineno)
        for number, unit in enumerate(units, start=1):
            yield from _failed_checks(unit, number, is_last=unit is units[-1])
    for (loop_id, types_), loop in list(executor.loops.items()):
        yield from _loop(executor, loop_id, types_, loop)


def _loop(
    executor: ProfilingExecutor, loop_id: int, types_: tuple[Type, ...], loop: LoopPlan
) -> Iterator[str]:
    assert executor.baseline is not None
    where = executor.baseline.node(loop_id).range
    unit, units = loop.unit, loop.units
    state = "native" if unit is not None else "interpreted"
    if loop.refused is not None:
        state = f"interpreted: {loop.refused}"
    yield f"\nloop at {where.short() if where is not None else loop_id} for {types_text(types_)}: {state}"
    seconds = sum(x.seconds for x in units)
    calls = sum(x.code.calls for x in units)
    yield (
        f"  {_count(loop.compiles, 'compile')} in {seconds * 1e3:.1f} ms, "
        f"entered {_count(calls, 'time')} in the middle of a run"
    )
    if unit is not None:
        yield from _lines(unit, None)
    for number, each in enumerate(units, start=1):
        yield from _failed_checks(each, number, is_last=each is units[-1])


def _lines(unit: NativeUnit, first: int | None) -> Iterator[str]:
    """The source lines, each with how it runs; those from `first` on, else those of the unit."""
    remarks: dict[int, set[tuple[str, str]]] = defaultdict(set)
    source: Source | None = None
    for node in unit.graph.walk():
        where = node.range
        while where is not None and where.caller is not None:
            where = where.caller
        if where is not None:
            source = where.source
            remarks[where.line].add(_remark(node))
    if source is None:
        return
    start = min(remarks) if first is None else min(first, *remarks)
    for number in range(start, max(remarks) + 1):
        text = source.lines[number - 1].expandtabs()
        state = _state(remarks[number]) if number in remarks and text.strip() else ""
        yield f"  {number:5}  {text:{_WIDTH}}{'  | ' + state if state else ''}".rstrip()


def _state(remarks: set[tuple[str, str]]) -> str:
    details: dict[str, list[str]] = defaultdict(list)
    for kind, detail in sorted(remarks - {_NATIVE}):
        details[kind].append(detail)
    return "; ".join(f"{kind}: {', '.join(d)}" for kind, d in details.items()) or _NATIVE[0]


def _remark(node: Node) -> tuple[str, str]:
    """How a node runs, and what is worth saying about it."""
    if node.op is DEOPTIMIZE:
        reason = str(node.attrs["reason"])
        return _NATIVE if reason in PLANNED_EXITS else ("interpreted", reason)
    if node.op is GUARD:
        return "native behind a guard", str(node.attrs["type"])
    if node.op is CALL_NATIVE:
        return _NATIVE  # what its callee does, the explanation of that tells
    if runs_boxed(node) and not _is_at_known_place(node):
        return "calls Python", _snippet(node)
    return _NATIVE


def _is_at_known_place(node: Node) -> bool:
    """Whether it reads or writes an attribute at the place where objects of its class have it."""
    if node.op is not GETATTR and node.op is not SETATTR:
        return False
    cls = class_of(node.inputs[0].type)
    if cls is None or place_of(cls, str(node.attrs["name"])) is None:
        return False
    return node.op is GETATTR or writes_as_object(cls)


def _snippet(node: Node) -> str:
    """What the node is in the source."""
    where = node.range
    if where is None or where.line != where.end_line:
        return node.op.doc.partition(";")[0].strip("`.")
    text = where.source.lines[where.line - 1][where.column : where.end_column]
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _failed_checks(unit: NativeUnit, number: int, *, is_last: bool) -> Iterator[str]:
    head = f"  compile {number}: {_count(len(unit.sites), 'check')}"
    failed = [
        (unit.sites[index], count)
        for index, count in unit.bailouts.most_common()
        if unit.sites[index].reason not in PLANNED_EXITS
    ]
    if not failed:
        yield f"{head}, none failed"
        return
    yield f"{head}, of which failed:"
    for site, count in failed:
        where = site.range.short() if site.range is not None else "the entry"
        yield f"    {_count(count, 'time')} at {where}: {site.reason}"
    yield f"    the interpreter went on from there{'' if is_last else '; then it was compiled again'}"
