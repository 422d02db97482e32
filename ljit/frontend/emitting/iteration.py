"""What loops and comprehensions share: what they run over, and how they end.

An iterator that a loop alone has dies where the loop is left, as in CPython: a generator is closed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ljit.frontend.emitting.emission import Cleanup, Emission, Exit
from ljit.frontend.emitting.known_names import known_value
from ljit.frontend.error_places import iterator_has_place
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.frontend.trees.tree_base import parts_of
from ljit.ir import Value
from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["ItemLoop", "leave_unless", "place_of_iterator", "released"]

_EAGER = (range, list, tuple, sorted)  # whose results have no state of their own
_THROUGH = (enumerate, zip, reversed)  # of which the arguments count


def _loops_otherwise(_: Value) -> None:
    """Never called: the code is known."""


class ItemLoop(Record):
    """A loop over a call whose code may run in its place. Each field emits a part of it.

    `use`: what is done with an item, given the loop. `behind`: what follows the last one. `iterate`: the loop over what
    the call gives, for a function that may not be the known one. `place`: where tracebacks say that items are made.
    """

    where: SourceRange
    place: SourceRange
    use: Callable[[Exit, Value], None]
    behind: Callable[[], None]
    iterate: Callable[[Value], None] = _loops_otherwise


def place_of_iterator(iterable: Tree, around: SourceRange) -> SourceRange:
    """Where errors of the iterator stand."""
    return iterable.range if iterator_has_place() else around


def leave_unless(
    e: Emission,
    loop: Exit,
    outer: Exit | None,
    more: Value,
    orelse: Sequence[Tree],
    where: SourceRange,
) -> None:
    """Leave the loop through its `else` clause, which belongs to the loop around it."""

    def leave() -> Sequence[Value]:
        e.loop = outer
        e.statements(orelse)
        e.loop = loop
        if not e.block.is_terminated:
            e.leave(loop, where)
        return ()

    e.branch(more, tuple, leave, where)


@contextmanager
def released(e: Emission, iterable: Tree, view: Value, where: SourceRange) -> Iterator[None]:
    """Emit a loop over `view`, made of `iterable`, and let go of the view behind it and on all ways out of it.

    A handler that the loop may be left for, by an exception, finds the view in a variable.
    The variables that `iterable` reads live on: CPython has them, too, and one of them may have the iterator.
    """
    if not _makes_iterator(e, iterable):
        yield
        return
    kept = [e.load(slot, where) for slot in _variables_in(e, iterable)]
    cleanup = Cleanup(released=(view, *kept))
    if e.attempts:
        cleanup.slot = e.fresh_slot()
        e.store(cleanup.slot, view, where)
        e.views.append(cleanup.slot)
    e.cleanups.append(cleanup)
    yield
    e.cleanups.pop()
    if not e.block.is_terminated:
        e.release(cleanup, where)


def _makes_iterator(e: Emission, iterable: Tree) -> bool:
    """Whether evaluating it may make an iterator that ends with the loop."""
    if not isinstance(iterable, tree.Apply):
        return isinstance(iterable, tree.Comprehension) and iterable.container == "generator"
    called = known_value(e, iterable.function)
    if any(called is function for function in _THROUGH):
        return any(_makes_iterator(e, argument) for argument in iterable.arguments)
    return not any(called is function for function in _EAGER)


def _variables_in(e: Emission, iterable: Tree) -> list[str]:
    """The slots of the local variables that are read in it."""
    names = {part.name: None for part in parts_of(iterable) if isinstance(part, tree.Var)}
    found = {name: e.find(name) for name in names}
    return [
        place[1]
        for name, place in found.items()
        if place is not None and place[1] in e.bound and name not in place[0].inlinable
    ]
