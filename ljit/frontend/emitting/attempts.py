"""Code whose exceptions are handled: Trys, and what becomes of StopIteration where no generator runs.

The body of a generator, and what `map` calls, may be emitted in the place where their items are used. There a
StopIteration is not what it would be in a loop: a generator makes a RuntimeError of it, and it ends a `map`. So each
call in such code that may raise one stands in a Try.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.frontend.emitting.emission import Cleanup, Emission, Exit
from ljit.frontend.emitting.known_names import known_value
from ljit.frontend.trees import tree
from ljit.ir import Block, Value
from ljit.ops.control import RERAISE, TRY, UNREACHABLE, YIELD
from ljit.source import SourceRange
from ljit.types import ANY

__all__ = ["attempt", "ends", "fails", "guarded", "handle_stop", "runs_no_code"]

_NUMBERS_AND_TEXTS: tuple[object, ...] = (
    *(int, float, complex, bool, str, abs, round, len, ord, chr),
)
_MODULES = ("math", "cmath")
_STOPPED = "generator raised StopIteration"


def attempt(
    e: Emission, where: SourceRange, body: Callable[[], None], handle: Callable[[Value], None]
) -> None:
    """Append a Try; behind it goes on what comes to the end of the body or of the handler."""
    node = e.node(TRY, (), where)
    before = e.bound

    def fill(block: Block, emit: Callable[[], None]) -> frozenset[str] | None:
        e.bound = before
        with e.inside(block):
            emit()
            if e.block.is_terminated:
                return None
            e.terminate(YIELD, (), where)
        return e.bound

    def release_and_handle() -> None:
        for slot in reversed(views):
            e.release(Cleanup(slot, released=(e.load(slot, where, optional=True),)), where)
        handle(block.params[0])

    around, e.views = e.views, []
    e.attempts += 1
    ends = [fill(node.add_block(), body)]
    e.attempts -= 1
    views, e.views = e.views, around
    e.handlers += 1
    block = node.add_block([("", ANY)])
    ends.append(fill(block, release_and_handle))
    e.handlers -= 1
    falling = [bound for bound in ends if bound is not None]
    e.bound = frozenset.intersection(*falling) if falling else before
    if not falling:
        e.terminate(UNREACHABLE, (), where)


# -- StopIteration -----------------------------------------------------------------------------------


def runs_no_code(function: object) -> bool:
    """Whether it is a builtin function that makes numbers or characters of numbers and texts."""
    if any(function is known for known in _NUMBERS_AND_TEXTS):
        return True
    return getattr(function, "__module__", None) in _MODULES and callable(function)


def guarded(
    e: Emission, call: tree.Apply | tree.UseOfGenerator, emit: Callable[[], Value]
) -> Value:
    """Emit a call, whose StopIteration is handled as the code around wants it."""
    if e.on_stop is None or runs_no_code(known_value(e, call.function)):
        return emit()
    slot, where = e.fresh_slot(), call.range
    handle_stop(e, lambda: e.store(slot, emit(), where), where)
    return e.load(slot, where)


def handle_stop(e: Emission, emit: Callable[[], None], where: SourceRange) -> None:
    """Emit code, with a handler for StopIteration if one is wanted."""
    stop = e.on_stop
    if stop is None:
        emit()
        return

    def handle(error: Value) -> None:
        def stopped() -> Sequence[Value]:
            stop(error)
            return ()

        def other() -> Sequence[Value]:
            e.terminate(RERAISE, (), where)
            return ()

        classes = e.constant(StopIteration, where)
        is_stop = e.emit("prim::is_caught_by", error, classes, where=where)
        e.branch(is_stop, stopped, other, where)

    e.on_stop = None
    attempt(e, where, emit, handle)
    e.on_stop = stop


def fails(e: Emission, where: SourceRange) -> Callable[[Value], None]:
    """Give what becomes of it in a generator that is used here: a RuntimeError, which has no place in the generator."""
    scope, caller = e.scope, e.caller

    def fail(error: Value) -> None:
        inner = e.scope, e.caller
        e.scope, e.caller = scope, caller
        operands = e.constant(RuntimeError, where), e.constant(_STOPPED, where)
        failure = e.emit("py::call", *operands, where=where, kwnames=())
        e.effect("prim::raise", failure, error, where=where, has_cause=True)
        e.terminate(UNREACHABLE, (), where)
        e.scope, e.caller = inner

    return fail


def ends(e: Emission, loop: Callable[[], Exit], where: SourceRange) -> Callable[[Value], None]:
    """Give what becomes of it in what a `map` calls, whose items are those of a loop: that is done."""

    def end(_error: Value) -> None:
        e.goes_through_cleanup(loop(), "stopped", lambda _: None, where)
        e.leave(loop(), where)

    return end
