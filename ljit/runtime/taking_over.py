"""Calls that CPython began and the interpreter goes on with, at the header of a loop whose trips were counted.

The variables of the function are what the live values of the graph stand for there, as `Graph.variables` says. What the
loops around go through is asked of their iterators (`ljit.ops.containers.running_iterators`). A loop that has other
live values cannot be entered so: then CPython goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING

from ljit.cpython.own_frames import drop_own_frames
from ljit.cpython.own_time import OwnTime
from ljit.cpython.parameters import has_keywords, has_rest, named_parameters
from ljit.frontend.counted_trips import CountedLoop
from ljit.interp.machine import NO_HOOKS, InterpreterState
from ljit.ir import Node, Value
from ljit.ops.containers.iteration import HAS_NEXT, NEXT, RELEASE
from ljit.ops.containers.running_iterators import view_of_iterator
from ljit.ops.control import CATCH, LOOP, PROFILE
from ljit.ops.names import CHECK_BOUND, UNBOUND_VALUE
from ljit.records import Record
from ljit.runtime.hooks import Hooks

if TYPE_CHECKING:
    from ljit.runtime.baseline import Baseline
    from ljit.runtime.executor import ProfilingExecutor

__all__ = ["Entrance", "entrance", "take_over"]


class _Around(Record):
    """A loop that is in progress: the keys of its trip index and of what it goes through, and who has the iterator."""

    trip: str
    view: str | None
    iterator: str | None


class Entrance(Record):
    """The header of a loop, and which variables the values are by their keys that are live there."""

    at: str
    variables: Mapping[str, str]
    loops: tuple[_Around, ...]  # the outermost one first


def entrance(baseline: Baseline, place: CountedLoop) -> Entrance | None:
    """Find where the interpreter can go on for a counted loop; None: it cannot."""
    nodes = [_loop_at(baseline, *where) for where in place.places]
    loop = nodes[-1]
    if loop is None or list(reversed([n for n in loop.owners() if n.op is LOOP])) != nodes[:-1]:
        return None
    around: list[_Around] = []
    for node, iterator in zip(nodes, place.iterators, strict=True):
        assert node is not None
        view = _view_of(node)
        if (view is None) != (iterator is None) or (view is not None and not _is_own(view, node)):
            return None
        trip = node.blocks[0].params[0].key
        around.append(_Around(trip, None if view is None else view.key, iterator))
    variables = baseline.graph.variables.get(loop, {})
    names = {same: name for name, value in variables.items() for same in _replacements(value)}
    known = {key for each in around for key in (each.trip, each.view)}
    live = [v for v in baseline.liveness.live_at_header(loop) if v.key not in known]
    found = {value.key: _variable(value, names) for value in live}
    named = {key: name for key, name in found.items() if name is not None}
    return Entrance(f"header:{loop.id}", named, tuple(around)) if named == found else None


def _loop_at(baseline: Baseline, line: int, column: int) -> Node | None:
    """The one loop of the function's own statements there."""
    found = [
        node for node in baseline.graph.walk() if node.op is LOOP and _is_at(node, line, column)
    ]
    return found[0] if len(found) == 1 else None


def _is_at(node: Node, line: int, column: int) -> bool:
    where = node.range
    if where is None or where.caller is not None or where.line != line:
        return False
    return where.source.byte_column(line, where.column) == column


def _view_of(loop: Node) -> Value | None:
    test = next(node for node in loop.blocks[0] if node.op is not CATCH)
    return test.inputs[0] if test.op is HAS_NEXT else None


def _is_own(view: Value, loop: Node) -> bool:
    """Whether nobody but the loop looks at the view: then one of the items that are left is as good."""
    return all(
        user.op is RELEASE or (user.op in (HAS_NEXT, NEXT) and loop in user.owners())
        for user, _ in view.uses
    )


def _replacements(value: Value) -> list[Value]:
    """The value, and what passes have put in its place."""
    found = [value]
    while value.replacement is not None and value.replacement not in found:
        value = value.replacement
        found.append(value)
    return found


def _variable(value: Value, names: Mapping[Value, str]) -> str | None:
    while value not in names:
        node = value.made_by(PROFILE) or value.made_by(CHECK_BOUND)
        if node is None:
            return None
        value = node.inputs[0]
    return names[value]


def take_over(
    executor: ProfilingExecutor, fn: FunctionType, place: Entrance, variables: dict[str, object]
) -> object:
    """Run the rest of a call, given the variables."""
    baseline = executor.baseline
    assert baseline is not None
    count = len(named_parameters(fn.__code__)) + has_rest(fn.__code__) + has_keywords(fn.__code__)
    plan = executor.table.plan_for([variables.get(n) for n in fn.__code__.co_varnames[:count]])
    state = {key: variables.get(name, UNBOUND_VALUE) for key, name in place.variables.items()}
    for around in place.loops:
        state[around.trip] = 0
        if around.iterator is not None and around.view is not None:
            state[around.view], following = view_of_iterator(variables.pop(around.iterator))
            is_over = around is place.loops[-1]  # of the others, one is in progress
            state[around.trip] = following if is_over else following - 1
    variables.clear()
    begun = InterpreterState.at_position(baseline.code, place.at, state)
    state.clear()  # what variables held dies when they are bound again
    if plan is None:
        return begun.run(NO_HOOKS)
    stretch = OwnTime()
    try:
        return begun.run(Hooks(executor, plan, is_earned=True))
    except BaseException as error:
        drop_own_frames(error)
        raise
    finally:
        executor.pay(plan, stretch.end())
