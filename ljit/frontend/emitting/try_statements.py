"""``try`` and ``with``: bodies with handlers, and what is to be done on every way out of them.

A body with handlers is a `prim::Try`. Block 1 of it is the chain of ``except`` clauses, which ends in `prim::Reraise`.
``finally`` and ``with`` are written twice, as in CPython's own code: in a handler for all exceptions, and behind a
Region around the Try, for all other ways out. A ``return``, ``break`` or ``continue`` in the body notes which one it
is and leaves that Region; behind the ``finally`` clause it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ljit.frontend.emitting.attempts import attempt
from ljit.frontend.emitting.conditions import truth
from ljit.frontend.emitting.emission import Cleanup, Emission, emits
from ljit.frontend.emitting.targets import assign
from ljit.frontend.error_places import manager_has_place
from ljit.frontend.trees import tree
from ljit.ir import Value, get_op
from ljit.ops.control import RERAISE
from ljit.source import SourceRange

__all__: list[str] = []

_Emit = Callable[[], None]


@emits(tree.Try)
def _try(e: Emission, statement: tree.Try) -> None:
    _refuse_inlined(e, "try", statement.range)
    if not statement.final:
        _with_handlers(e, statement)
        return

    def final() -> None:
        e.statements(statement.final)

    _with_final(e, statement.range, lambda: _with_handlers(e, statement), lambda _: final(), final)


@emits(tree.With)
def _with(e: Emission, statement: tree.With) -> None:
    call = get_op("py::call")
    _refuse_inlined(e, "with", statement.range)
    where = statement.manager.range if manager_has_place() else statement.range
    manager = e.expression(statement.manager)
    methods = e.emit("prim::context_methods", manager, where=where)
    attrs = {"count": 2, "star": None}
    enter, leave = e.node(get_op("prim::Unpack"), (methods,), where, attrs, outputs=2).outputs
    value = e.emit("py::call", enter, where=where, kwnames=())

    def body() -> None:
        for target in statement.targets:
            assign(e, target, value)
        e.statements(statement.body)

    def left_with(*operands: Value) -> Value:
        return e.node(call, (leave, *operands), where, {"kwnames": ()}).output

    with e.left_by_break(where) as end:

        def on_error(error: Value) -> None:
            kind = e.emit("py::call", e.constant(type, where), error, where=where, kwnames=())
            traceback = e.emit("py::getattr", error, where=where, name="__traceback__")
            is_done = truth(e, left_with(kind, error, traceback), where)
            e.branch(is_done, partial(_filled, e.leave, end, where), tuple, where)

        nothing = e.constant(None, where)
        _with_final(e, where, body, on_error, lambda: _drop(left_with(nothing, nothing, nothing)))


def _drop(_value: Value) -> None:
    """What ``__exit__`` gives counts only if there is an exception."""


def _refuse_inlined(e: Emission, what: str, where: SourceRange) -> None:
    if e.inlining:
        message = f"{what} in a nested function is not translated; define it at module level"
        raise e.refused(message, where, e.find(e.inlining[0].name))  # as a value it is CPython's


# -- handlers --------------------------------------------------------------------------------------


def _with_handlers(e: Emission, statement: tree.Try) -> None:
    """Emit all but ``finally``."""
    where = statement.range
    if not statement.handlers:
        e.statements(statement.body)
        return

    def body() -> None:
        e.statements(statement.body)

    if not statement.orelse:
        attempt(e, where, body, lambda error: _choose(e, statement.handlers, error))
        return
    with e.left_by_break(where) as end:

        def handle(error: Value) -> None:
            _choose(e, statement.handlers, error)
            if not e.block.is_terminated:
                e.leave(end, where)

        attempt(e, where, body, handle)
        e.statements(statement.orelse)


def _choose(e: Emission, handlers: Sequence[tree.Handler], error: Value) -> None:
    """Emit the ``except`` clauses: each but the last has the next ones in its other branch."""
    if not handlers:
        return
    first, *others = handlers
    if first.classes is None:
        _handle(e, first, error)
        return

    def go_on() -> None:
        _choose(e, others, error)
        if not others:
            e.terminate(RERAISE, (), first.range)

    classes = e.expression(first.classes)
    is_caught = e.emit("prim::is_caught_by", error, classes, where=first.range)
    handle = partial(_filled, _handle, e, first, error)
    e.branch(is_caught, handle, partial(_filled, go_on), first.range)


def _handle(e: Emission, handler: tree.Handler, error: Value) -> None:
    """Emit the body of one clause; its variable is unbound behind it, on all ways."""
    where = handler.range
    if not handler.name:
        e.statements(handler.body)
        return
    found = e.find(handler.name)
    if found is None:
        message = f"except as {handler.name}, a global or nonlocal variable, is not translated"
        raise e.unsupported(f"{message}; take a local one", where)
    slot = found[1]
    e.store_name(handler.name, error, where)

    def body() -> None:
        e.cleanups.append(Cleanup(slot))
        e.statements(handler.body)
        e.cleanups.pop()

    if e.attempts:  # a handler around this one may look

        def unbind(_error: Value) -> None:
            e.unbind(slot, where)
            e.terminate(RERAISE, (), where)

        attempt(e, where, body, unbind)
    else:
        body()
    if not e.block.is_terminated:
        e.unbind(slot, where)


# -- ways out --------------------------------------------------------------------------------------


def _with_final(
    e: Emission, where: SourceRange, body: _Emit, on_error: Callable[[Value], None], final: _Emit
) -> None:
    """Emit a body with what is done behind it: `on_error` if it raised, which it does again then, else `final`."""
    cleanup = Cleanup(e.fresh_slot(), e.fresh_slot())
    e.store(cleanup.slot, e.constant(0, where), where)

    def protected() -> None:
        e.cleanups.append(cleanup)
        body()
        e.cleanups.pop()

    def handle(error: Value) -> None:
        on_error(error)
        if not e.block.is_terminated:
            e.terminate(RERAISE, (), where)

    with e.left_by_break(where) as cleanup.exit:
        attempt(e, where, protected, handle)
    if e.block.is_terminated:
        return
    final()
    for number, go_on in enumerate(cleanup.ways.values(), start=1):
        if e.block.is_terminated:
            return
        chosen = e.load(cleanup.slot, where)
        is_way = e.emit("py::eq", chosen, e.constant(number, where), where=where)
        e.branch(truth(e, is_way, where), partial(_filled, go_on, cleanup.result), tuple, where)


def _filled(emit: Callable[..., None], *operands: object) -> Sequence[Value]:
    """Fill a block that gives no values."""
    emit(*operands)
    return ()
