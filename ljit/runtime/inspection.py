"""What a Function shows of itself: graphs, code, LLVM IR, assembly, and the explanation of each line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ljit.analysis.pycode import graph_to_python
from ljit.errors import UserError
from ljit.interp import run
from ljit.ir import Effect, Graph, Node
from ljit.ops.control import DEOPTIMIZE, GUARD
from ljit.runtime.baseline import Baseline
from ljit.runtime.binding import bind_arguments
from ljit.runtime.executor import Plan, ProfilingExecutor
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.native import NativeUnit, is_boxed_call, specialized_graph
from ljit.types import Type, type_of

__all__ = [
    "SpecializationInfo",
    "assembly",
    "bytecode",
    "explain",
    "graph_for",
    "inlined",
    "llvm_text",
    "python_text",
    "run_interpreted",
    "script",
    "specializations",
]


@dataclass(frozen=True, slots=True)
class SpecializationInfo:
    """One plan of a function: argument types, state, and what happened to it."""

    types: tuple[Type, ...]
    state: str  # "native", "profiling" or "CPython: reason"
    runs: int
    compiles: int
    seconds: float
    bailouts: int

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.types))
        return (
            f"({inside}): {self.state}, {self.compiles} compiles in {self.seconds * 1e3:.1f} ms, "
            f"{self.bailouts} bailouts"
        )


def _baseline(executor: ProfilingExecutor) -> Baseline:
    baseline = executor.baseline
    if baseline is None:
        raise UserError(f"{executor.fn.__qualname__} is left to CPython: {executor.refused}")
    return baseline


def script(executor: ProfilingExecutor) -> Graph:
    return _baseline(executor).script


def inlined(executor: ProfilingExecutor) -> Graph:
    return _baseline(executor).graph


def python_text(executor: ProfilingExecutor) -> str:
    return graph_to_python(_baseline(executor).script, executor.fn.__name__)


def bytecode(executor: ProfilingExecutor) -> str:
    return _baseline(executor).code.dump()


def _values(
    executor: ProfilingExecutor, args: Sequence[object], kwargs: Mapping[str, object]
) -> Sequence[object]:
    values = bind_arguments(executor.fn, args, kwargs)
    if values is None:
        executor.fn(*args, **kwargs)  # raises CPython's TypeError
        raise UserError(f"{executor.fn.__qualname__}: these arguments do not fit its parameters")
    return values


def graph_for(
    executor: ProfilingExecutor, args: Sequence[object], kwargs: Mapping[str, object]
) -> Graph:
    """Specialise for the types of the arguments, with the profile that there is for them."""
    baseline = _baseline(executor)
    types_ = tuple(map(type_of, _values(executor, args, kwargs)))
    plan = executor.plans.get(types_)
    feedback = plan.feedback if plan is not None else PlanFeedback()
    return specialized_graph(baseline, types_, feedback).graph


def run_interpreted(
    executor: ProfilingExecutor, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    return run(_baseline(executor).code, _values(executor, args, kwargs), _NoHooks())


class _NoHooks:
    """Interpret and nothing else."""

    hot_loop_threshold = 2**62

    def on_profile(self, node_id: int, value: object) -> None:
        pass

    def on_hot_loop(
        self, code: object, loop_id: int, trip: int, registers: Sequence[object]
    ) -> None:
        return None


def _unit(executor: ProfilingExecutor, args: Sequence[object]) -> NativeUnit:
    """The native code for these arguments, or the latest; the function must have been called."""
    _baseline(executor)
    if args:
        plan = executor.plan_for(_values(executor, args, {}))
        units = [executor.unit_for(plan)] if plan is not None else []
    else:
        units = [plan.unit for plan in reversed(executor.plans.values())]
    for unit in units:
        if unit is not None:
            return unit
    name = executor.fn.__qualname__
    raise UserError(f"{name} has no native code yet: call it twice with such arguments first")


def llvm_text(executor: ProfilingExecutor, args: Sequence[object], *, optimized: bool) -> str:
    code = _unit(executor, args).code
    return code.optimized_ir() if optimized else code.ir


def assembly(executor: ProfilingExecutor, args: Sequence[object]) -> str:
    return _unit(executor, args).code.asm()


def specializations(executor: ProfilingExecutor) -> list[SpecializationInfo]:
    return [_info(plan) for plan in executor.plans.values()]


def _info(plan: Plan) -> SpecializationInfo:
    units = [*plan.retired, *([plan.unit] if plan.unit is not None else [])]
    if plan.refused is not None:
        state = f"CPython: {plan.refused}"
    else:
        state = "native" if plan.unit is not None else "profiling"
    return SpecializationInfo(
        plan.types,
        state,
        plan.runs,
        plan.compiles,
        sum(unit.seconds for unit in units),
        sum(unit.bailouts.total() for unit in units),
    )


def explain(executor: ProfilingExecutor) -> str:
    """Say of each source line whether it runs natively, and of each guard how often it failed."""
    name = executor.fn.__qualname__
    if executor.baseline is None:
        return f"{name}: left to CPython\n  {executor.refused}"
    parts = [f"{name}: {len(executor.plans)} specialisations"]
    for plan in executor.plans.values():
        parts.append(f"\n{_info(plan)}")
        if plan.unit is not None:
            parts.extend(_lines(executor, plan.unit))
            parts.extend(_sites(plan.unit))
    for (loop_id, types_), loop in executor.loops.items():
        if loop.unit is not None:
            where = executor.baseline.node(loop_id).range
            inside = ", ".join(map(str, types_))
            parts.append(
                f"\nloop at {where.short() if where else loop_id} outlined for ({inside}): "
                f"{loop.compiles} compiles, {loop.unit.seconds * 1e3:.1f} ms"
            )
    return "\n".join(parts)


def _lines(executor: ProfilingExecutor, unit: NativeUnit) -> list[str]:
    """The source lines of the function, each with how it runs."""
    notes: dict[int, set[str]] = defaultdict(set)
    source = None
    for node in unit.graph.walk():
        where = node.range
        while where is not None and where.caller is not None:
            where = where.caller
        if where is None:
            continue
        source = where.source
        notes[where.line].add(_note(node))
    if source is None:
        return []
    lines = []
    for line in range(min(notes), max(notes) + 1):
        remarks = sorted(notes[line] - {""})
        state = "; ".join(remarks) if remarks else ("native" if line in notes else "")
        lines.append(f"  {line:5} {source.lines[line - 1]:60} {'| ' + state if state else ''}")
    return lines


def _note(node: Node) -> str:
    """What is worth saying about how a node runs; "" for native code."""
    if node.op is DEOPTIMIZE:
        return f"interpreted: {node.attrs['reason']}"
    if is_boxed_call(node) or node.op.effects_of(node) & Effect.CALL:
        return f"calls Python: {node.op.name}"
    if node.op is GUARD:
        return f"guard: {node.attrs['type']}"
    return ""


def _sites(unit: NativeUnit) -> list[str]:
    lines = [f"  {len(unit.sites)} guards"]
    for index, count in sorted(unit.bailouts.items()):
        site = unit.sites[index]
        where = site.range.short() if site.range is not None else "?"
        lines.append(f"    {site.reason} at {where}: failed {count} times")
    return lines
