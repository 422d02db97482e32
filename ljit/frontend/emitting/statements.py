"""Statements with control flow."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.frontend.emitting.attempts import handle_stop
from ljit.frontend.emitting.calls import iteration_view
from ljit.frontend.emitting.comprehensions import is_generator, loop_over_items
from ljit.frontend.emitting.conditions import condition
from ljit.frontend.emitting.emission import Emission, Exit, emits
from ljit.frontend.emitting.generator_loops import (
    called_generator,
    evaluate_call,
    loop_over_generator,
)
from ljit.frontend.emitting.iteration import ItemLoop, leave_unless, place_of_iterator, released
from ljit.frontend.emitting.mapped import loop_over_mapped, mapped_items
from ljit.frontend.emitting.targets import assign
from ljit.frontend.error_places import AssertPlace, assert_place
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.ops.control import CONTINUE, RERAISE, UNREACHABLE
from ljit.source import SourceRange

__all__: list[str] = []


@emits(tree.ExprStmt)
def _expression_statement(e: Emission, statement: tree.ExprStmt) -> None:
    if not isinstance(statement.value, tree.Const):
        e.expression(statement.value)


@emits(tree.Pass)
def _pass(e: Emission, statement: tree.Pass) -> None:
    """Nothing to emit."""


@emits(tree.Assert)
def _assert(e: Emission, statement: tree.Assert) -> None:
    if not __debug__:
        return

    def fail() -> Sequence[Value]:
        where = _failing_part(statement).range
        error = e.constant(AssertionError, where)
        if statement.message is not None:
            message = e.expression(statement.message)
            error = e.emit("py::call", error, message, where=where, kwnames=())
        e.effect("prim::raise", error, where=where, has_cause=False)
        e.terminate(UNREACHABLE, (), where)
        return ()

    where = statement.range
    e.branch(condition(e, statement.condition, where), tuple, fail, where)


def _failing_part(statement: tree.Assert) -> Tree:
    """What the error of a failing assert stands at."""
    match assert_place():
        case AssertPlace.CONDITION:
            return statement.condition
        case AssertPlace.LAST_COMPARISON:
            return _last_comparison(statement.condition) or statement
        case AssertPlace.STATEMENT:
            return statement


def _last_comparison(test: Tree) -> tree.Compare | None:
    """The last comparison among the parts of a condition that decide it."""
    parts: tuple[Tree, ...] = ()
    match test:
        case tree.Compare():
            return test
        case tree.BoolOp():
            parts = test.operands
        case tree.UnaryOp(operator="not"):
            parts = (test.operand,)
        case tree.TernaryIf():
            parts = (test.condition, test.then, test.otherwise)
    return next(filter(None, map(_last_comparison, reversed(parts))), None)


@emits(tree.Raise)
def _raise(e: Emission, statement: tree.Raise) -> None:
    if statement.exception is None:
        if not e.handlers or e.inlining:
            message = "raise without an exception is translated in except clauses only"
            raise e.unsupported(f"{message}; name the exception", statement.range)
        e.terminate(RERAISE, (), statement.range)
        return
    parts = [statement.exception, *([statement.cause] if statement.cause is not None else [])]

    def throw() -> None:
        operands = map(e.expression, parts)
        e.effect("prim::raise", *operands, where=statement.range, has_cause=len(parts) > 1)
        e.terminate(UNREACHABLE, (), statement.range)

    handle_stop(e, throw, statement.range)


@emits(tree.If)
def _if(e: Emission, statement: tree.If) -> None:
    if isinstance(statement.condition, tree.Const):
        e.statements(statement.body if statement.condition.value else statement.orelse)
        return

    def fill(body: Sequence[Tree]) -> Sequence[Value]:
        e.statements(body)
        return ()

    e.branch(
        condition(e, statement.condition, statement.range),
        lambda: fill(statement.body),
        lambda: fill(statement.orelse),
        statement.range,
    )


# -- loops -----------------------------------------------------------------------------------------


@emits(tree.While)
def _while(e: Emission, statement: tree.While) -> None:
    where, test = statement.range, statement.condition
    outer = e.loop
    with e.endless_loop(where) as (loop, _):
        if not (isinstance(test, tree.Const) and test.value):
            leave_unless(e, loop, outer, condition(e, test, where), statement.orelse, where)
        e.statements(statement.body)


@emits(tree.For)
def _for(e: Emission, statement: tree.For) -> None:
    iterable = statement.iterables[0]
    place = _place_of_iterator(statement)

    def use(_: Exit, value: Value) -> None:
        assign(e, statement.targets[0], value)
        e.statements(statement.body)

    loop = ItemLoop(
        statement.range,
        place,
        use,
        behind=lambda: e.statements(statement.orelse),
        iterate=lambda view: _loop(e, statement, view),
    )
    if (mapped := mapped_items(e, iterable, place)) is not None:
        loop_over_mapped(e, mapped, loop)
    elif isinstance(iterable, tree.Comprehension) and is_generator(e, iterable):
        loop_over_items(e, iterable, loop)
    elif (generator := called_generator(e, iterable)) is not None:
        loop_over_generator(e, evaluate_call(e, generator), loop)
    else:
        loop.iterate(iteration_view(e, iterable, place))


def _loop(e: Emission, statement: tree.For, view: Value) -> None:
    """Emit the loop over what `view` stands for."""
    (target,), (iterable,) = statement.targets, statement.iterables
    where = _place_of_iterator(statement)
    outer = e.loop
    with released(e, iterable, view, where), e.endless_loop(statement.range) as (loop, k):
        more = e.emit("prim::has_next", view, k, where=where)
        leave_unless(e, loop, outer, more, statement.orelse, where)
        assign(e, target, e.emit("prim::next", view, k, where=where))
        e.statements(statement.body)


def _place_of_iterator(statement: tree.For) -> SourceRange:
    """Where errors of the iterator stand: those of a ``yield from`` at all of it, in each version."""
    where = statement.range
    return where if statement.is_delegation else place_of_iterator(statement.iterables[0], where)


@emits(tree.Break)
def _break(e: Emission, statement: tree.Break) -> None:
    assert e.loop is not None
    if not e.goes_through_cleanup(e.loop, "break", lambda _: _break(e, statement), statement.range):
        e.leave(e.loop, statement.range)


@emits(tree.Continue)
def _continue(e: Emission, statement: tree.Continue) -> None:
    assert e.loop is not None
    trip = e.loop.trip
    if e.goes_through_cleanup(
        trip or e.loop, "continue", lambda _: _continue(e, statement), statement.range
    ):
        return
    if trip is not None:
        e.leave(trip, statement.range)
    else:
        e.terminate(CONTINUE, (), statement.range).target = e.loop.node
