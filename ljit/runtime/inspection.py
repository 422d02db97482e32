"""What a Function shows of itself: graphs, code, LLVM IR and assembly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.analysis.pycode import graph_to_python
from ljit.errors import NotTranslatedError, UserError
from ljit.interp import NoHooks, run
from ljit.ir import Graph
from ljit.runtime import explanation
from ljit.runtime.baseline import Baseline
from ljit.runtime.binding import bind_arguments
from ljit.runtime.executor import ProfilingExecutor
from ljit.runtime.explanation import SpecializationInfo, specialization_info
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.native import NativeUnit, specialized_graph
from ljit.sizes import sized_types
from ljit.value_types import type_of

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


def _baseline(executor: ProfilingExecutor) -> Baseline:
    baseline = executor.baseline
    if baseline is None:
        name = executor.fn.__qualname__
        raise NotTranslatedError(f"{name} is left to CPython: {executor.refused}")
    return baseline


def _show(executor: ProfilingExecutor) -> None:
    """Make native, without a profile, what was left to CPython so far: somebody looks at it."""
    types_ = executor.cold.last_types
    executor.warm_up()
    executor.cold.may_wait = False
    wanted = executor.options.num_profiled_runs
    for watched in list(executor.plans.values()):
        # more often than anybody asked for, calls that were left to CPython included
        is_due = watched.runs >= wanted + (types_ is None)
        if is_due and not watched.compiles:
            executor.unit_for(watched, wanted)
    if types_ is None or executor.plans or executor.baseline is None:
        return
    plan = executor.table.start(types_, types_)
    if plan is not None and executor.unit_for(plan, runs=0) is None:
        executor.table.drop(plan)  # a profile may show what gains


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
    _show(executor)
    baseline = _baseline(executor)
    values = _values(executor, args, kwargs)
    general = baseline.known_as(tuple(map(type_of, values)))
    types_ = sized_types(general, values)
    plan = executor.plans.get(types_) or executor.plans.get(general)
    feedback = plan.feedback if plan is not None else PlanFeedback()
    feedback.fastmath = executor.options.fastmath
    return specialized_graph(baseline, types_, feedback, executor.link_to).graph


def run_interpreted(
    executor: ProfilingExecutor, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    return run(_baseline(executor).code, _values(executor, args, kwargs), NoHooks())


def _unit(executor: ProfilingExecutor, args: Sequence[object]) -> NativeUnit:
    """The optimised code for these arguments, or the latest; the function must have been called."""
    _show(executor)
    _baseline(executor)
    if args:
        plan = executor.table.plan_for(_values(executor, args, {}))
        plans = [plan] if plan is not None else []
    else:
        plans = [plan for plan in reversed(list(executor.plans.values())) if plan.compiles]
    for plan in plans:
        executor.optimize(plan)
        runs = 0 if plan.compiles else executor.options.num_profiled_runs
        unit = executor.unit_for(plan, runs)
        if unit is not None:
            return unit
    name = executor.fn.__qualname__
    message = f"{name} has no native code yet: call it twice with such arguments first"
    raise UserError(f"{message}; if that changes nothing, {name}.explain() says what became of it")


def llvm_text(executor: ProfilingExecutor, args: Sequence[object], *, optimized: bool) -> str:
    code = _unit(executor, args).code
    return code.shown(code.optimized_ir() if optimized else code.ir)


def assembly(executor: ProfilingExecutor, args: Sequence[object]) -> str:
    code = _unit(executor, args).code
    return code.shown(code.asm())


def explain(executor: ProfilingExecutor) -> str:
    _show(executor)
    return explanation.explain(executor)


def specializations(executor: ProfilingExecutor) -> list[SpecializationInfo]:
    """What was compiled so far. Who asks wants native code."""
    _show(executor)
    return [specialization_info(plan) for plan in list(executor.plans.values())]
