"""``min`` and ``max`` of what a loop gives, by the elements or by keys of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.frontend.emitting.conditions import truth
from ljit.frontend.emitting.emission import Emission, Exit
from ljit.ir import Value
from ljit.source import SourceRange

__all__ = ["emit_extremum"]

_COMPARISONS: dict[object, str] = {min: "py::lt", max: "py::gt"}

_Run = Callable[[Callable[[], None], Callable[..., None]], None]


def emit_extremum(
    e: Emission,
    known: object,
    function: Value,
    run_loop: _Run,
    where: SourceRange,
    default: str = "",
) -> Value:
    """Give the first of the elements that no other one is beyond, or that whose key is so.

    `known`: `min` or `max`, which `function` is. ``run_loop(begin, use)`` emits the loop: ``use(exit, element)``, or
    ``use(exit, item, key)``. `default`: the slot of what there is if there are no elements; else it is an error.
    """
    best, best_key, has_best = e.fresh_slot(), e.fresh_slot(), e.fresh_slot()

    def begin() -> None:
        for slot, value in ((best, 0), (best_key, 0), (has_best, False)):
            e.store(slot, e.constant(value, where), where)

    def compare(_: Exit, item: Value, key: Value | None = None) -> None:
        compared, kept = (item, best) if key is None else (key, best_key)

        def take() -> Sequence[Value]:
            e.store(best, item, where)
            if key is not None:
                e.store(best_key, key, where)
            return ()

        def first() -> Sequence[Value]:
            e.store(has_best, e.constant(True, where), where)
            return take()

        def later() -> Sequence[Value]:
            is_beyond = e.emit(_COMPARISONS[known], compared, e.load(kept, where), where=where)
            e.branch(truth(e, is_beyond, where), take, _nothing, where)
            return ()

        e.branch(truth(e, e.load(has_best, where), where), later, first, where)

    def without_elements() -> Sequence[Value]:
        nothing = e.constant((), where)
        complain = (
            e.emit("py::call", function, nothing, where=where, kwnames=()) if not default else None
        )
        e.store(best, complain or e.load(default, where), where)
        return ()

    run_loop(begin, compare)
    e.branch(truth(e, e.load(has_best, where), where), _nothing, without_elements, where)
    return e.load(best, where)


def _nothing() -> Sequence[Value]:
    return ()
