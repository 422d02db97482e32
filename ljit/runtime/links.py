"""Links: how native code of one function calls that of another, without objects in between.

A caller's code is made for what the callee gives now; where it is called has a cell that its *link* shows to the
callers. The cell is empty while the callee has no native code; callers pass objects then, by way of the callee's
executor. A callee whose new code is another kind of function than its callers take it for makes them stale: they
are compiled again when they are called next.

Functions that call one another are compiled within one another: the code of one that is being compiled is guessed
to give what calls of it were seen to give, and to run no unknown code. If it calls itself and turns out otherwise, it
is specialised again at once. Where there was native code before, the next one is guessed to be of the kind of the last.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ljit.analysis.signatures import NativeLink, Signature, as_parameter, native_result
from ljit.cpython.parameters import has_keywords, has_rest, keyword_only, named_parameters
from ljit.ir import Effect
from ljit.ops.control import CALL_NATIVE
from ljit.records import made_by
from ljit.runtime.native import NativeUnit
from ljit.runtime.options import TWIN_OPTIONS
from ljit.runtime.plans import NO_GAIN, Plan
from ljit.runtime.replaced_code import up_to_date
from ljit.types import ANY, NEVER, Type, join

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize import Specialization
    from ljit.runtime.executor import ProfilingExecutor

__all__ = [
    "connect",
    "disconnect",
    "drop_callers",
    "is_as_guessed",
    "link_to",
    "note_callers",
    "renew_callees",
]


class Link(NativeLink, frozen=False):
    """A link with the units that call through it."""

    callers: weakref.WeakSet[NativeUnit] = made_by(factory=weakref.WeakSet)


def link_to(callee: object, given: tuple[Type, ...], seen: Type) -> NativeLink | None:
    """Give the link to a decorated function for arguments of the types; None: it is called with objects."""
    executor = up_to_date(callee._executor)  # type: ignore[attr-defined]
    params = tuple(map(as_parameter, given))
    if None in params or not _takes(executor, params):  # type: ignore[arg-type]
        return None
    assert executor.baseline is not None
    params = executor.baseline.known_as(params)  # type: ignore[arg-type]
    if ANY in params:
        return None
    executor.warm_up()
    with executor.lock:
        plan = _plan(executor, params)  # type: ignore[arg-type]
        if plan is not None and plan.refused == NO_GAIN and not plan.is_called:
            plan.refused = None  # for callers of CPython's; a native one gains by the call
        if plan is None or plan.refused is not None:
            return None
        unit = _native_unit(executor, plan)
        if plan.refused is not None:
            return None
        if unit is None and plan.retired:
            unit = plan.retired[-1]
        if unit is not None:
            result, is_clean = unit.specialization.result, unit.is_clean
        else:
            result, is_clean = plan.found or (native_result(seen), plan.is_compiling)
        return None if result == NEVER else _make_link(executor, plan, result, is_clean)


def is_as_guessed(plan: Plan, made: Specialization) -> bool:
    """Whether calls of the function by itself, in code that is being made, rely on what it is; else learn from it."""
    is_clean = not any(node.op.effects_of(node) & Effect.CALL for node in made.graph.walk())
    signature, own = Signature(plan.types, made.result), list(plan.links.values())
    links = [node.attrs["callee"] for node in made.graph.walk() if node.op is CALL_NATIVE]
    if all(link.fits(signature, is_clean=is_clean) for link in own if link in links):
        return True
    plan.found = made.result, is_clean
    return False


def _takes(executor: ProfilingExecutor, params: tuple[Type, ...]) -> bool:
    if executor.baseline is None:
        return False
    code = executor.fn.__code__
    return not (has_rest(code) or has_keywords(code)) and Signature(params, NEVER).takes(params)


def _plan(executor: ProfilingExecutor, params: tuple[Type, ...]) -> Plan | None:
    plan = executor.plans.get(params)
    if plan is None and len(params) == len(named_parameters(executor.fn.__code__)):
        plan = executor.table.plan_of(params)
    return plan


def _native_unit(executor: ProfilingExecutor, plan: Plan) -> NativeUnit | None:
    """The unit that can be called natively, compiled now if need be; None if that is for later.

    The first compile is a part of the caller's, which gains by its calls.
    """
    if plan.is_compiling:
        return None
    is_part = not plan.compiles or executor.options is TWIN_OPTIONS
    if plan.unit is not None and not plan.unit.code.native_address:
        executor.retire(plan, "native code calls it")
        is_part = True
    plan.is_called = True
    _borrow_profile(executor, plan)
    return executor.unit_for(plan, runs=1 if is_part else None)


def _borrow_profile(executor: ProfilingExecutor, plan: Plan) -> None:
    """Let a plan that never ran use the profile of one for narrower types: of an array whose layout is known."""
    if plan.runs:
        return
    for other in executor.plans.values():
        if other.runs and all(
            join(a, b) == b for a, b in zip(other.types, plan.types, strict=True)
        ):
            plan.feedback, plan.runs = other.feedback, other.runs
            return


def _make_link(executor: ProfilingExecutor, plan: Plan, result: Type, is_clean: bool) -> NativeLink:
    link = plan.links.get((result, is_clean))
    if link is None:
        by_name = keyword_only(executor.fn.__code__)
        link = Link(executor.owner, Signature(plan.types, result), is_clean, by_name)
        plan.links[result, is_clean] = link
        if plan.unit is not None:
            connect(plan)
    return link


def renew_callees(unit: NativeUnit) -> None:
    """Have code that the unit calls, and that is used up, optimised: calls with objects may never reach it."""
    for node in list(unit.graph.walk()):
        link = node.attrs["callee"] if node.op is CALL_NATIVE else None
        if not isinstance(link, Link) or not hasattr(link.callee, "_executor"):
            continue
        executor: ProfilingExecutor = link.callee._executor
        plan = executor.plans.get(link.signature.params)
        called = plan.unit if plan is not None else None
        if plan is not None and called is not None and called.code.is_hot:
            executor.unit_for(plan)


def note_callers(unit: NativeUnit) -> None:
    """Note that the unit calls through its links."""
    for node in unit.graph.walk():
        if node.op is CALL_NATIVE and node.attrs["callee"] is not None:
            link = node.attrs["callee"]
            assert isinstance(link, Link)
            link.callers.add(unit)
            if link.is_stale:
                unit.retire("a callee has changed")


def connect(plan: Plan) -> None:
    """Show the plan's native code to its callers; those that it does not fit are to be compiled again."""
    unit = plan.unit
    if unit is None:  # what it calls has changed while it was compiled
        return
    signature = Signature(plan.types, unit.specialization.result)
    for link in list(plan.links.values()):
        if unit.code.native_address and link.fits(signature, is_clean=unit.is_clean):
            link.address = unit.code.native_address
            link.is_stale = False
        else:
            _drop(link)


def disconnect(plan: Plan) -> None:
    """Let calls go through the executor until there is native code again."""
    for link in plan.links.values():
        link.address = 0


def drop_callers(plan: Plan) -> None:
    """Have the callers compiled again: the plan is given up."""
    for link in list(plan.links.values()):
        _drop(link)


def _drop(link: NativeLink) -> None:
    assert isinstance(link, Link)
    link.address, link.is_stale = 0, True
    for unit in list(link.callers):
        unit.retire("a callee has changed")
