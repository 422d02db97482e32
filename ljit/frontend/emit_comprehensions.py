"""Comprehensions, which are loops, and the loops of generator expressions that a builtin uses up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ljit.frontend import tree
from ljit.frontend.emission import Emission, Exit, Scope, emits
from ljit.frontend.emit_calls import iteration_view
from ljit.frontend.emit_conditions import condition
from ljit.frontend.emit_functions import generator_value
from ljit.frontend.emit_iteration import leave_unless, place_of_iterator, released
from ljit.frontend.emit_targets import assign
from ljit.frontend.scopes import bound_in_target
from ljit.ir import Value
from ljit.ops.control import CONTINUE
from ljit.source import SourceRange

__all__ = ["collect", "run"]

_CONTAINERS = {
    "list": ("prim::ListConstruct", "prim::list_append"),
    "set": ("prim::SetConstruct", "prim::set_add"),
    "dict": ("prim::DictConstruct", "prim::dict_set"),
}


@emits(tree.Comprehension)
def _comprehension(e: Emission, comprehension: tree.Comprehension) -> Value:
    if comprehension.container == "generator":
        return generator_value(e, comprehension)
    return collect(e, comprehension, comprehension.container)


def collect(
    e: Emission,
    comprehension: tree.Comprehension,
    container: str,
    caller: SourceRange | None = None,
) -> Value:
    """Put all elements into a new container."""
    where = caller or comprehension.inner
    maker, adder = _CONTAINERS[container]
    made: list[Value] = []

    def begin() -> None:
        made.append(e.emit(maker, where=where))

    def add(loop: Exit, *values: Value) -> None:
        e.effect(adder, made[0], *values, where=where)

    run(e, comprehension, begin, add, caller=caller)
    return made[0]


def run(
    e: Emission,
    comprehension: tree.Comprehension,
    begin: Callable[[], None],
    use: Callable[..., None],
    *,
    caller: SourceRange | None = None,
) -> None:
    """Emit the loops of a comprehension; ``use(loop, *values)`` emits what becomes of an element.

    `begin` emits what comes between the making of the first iterator and the loops; `loop` is the outermost one.
    `caller` is the place of the call that uses a generator up: `begin` and `use` belong to the frame around.
    """
    has_frame = comprehension.inner is not comprehension.range
    iterable = comprehension.generators[0].iterable
    place = place_of_iterator(iterable, comprehension.range)
    first = iteration_view(e, iterable, place)
    names = [n for g in comprehension.generators for n in bound_in_target(g.target)]
    slots = {name: e.fresh_slot(name) for name in names}
    scope = Scope(e.scope, slots, has_frame=has_frame)
    if caller is not None:
        begin()
        use_outside = _in_present_frame(e, use)
        with released(e, iterable, first, place), e.new_scope(scope, caller):
            _Run(e, comprehension, use_outside).generator(0, first)
        return
    with e.new_scope(scope, comprehension.range if has_frame else None):
        begin()
        _Run(e, comprehension, use).generator(0, first)


def _in_present_frame(e: Emission, use: Callable[..., None]) -> Callable[..., None]:
    """Let `use` emit code of the present scope, whatever the scope is then."""
    scope, caller = e.scope, e.caller

    def use_there(loop: Exit, *values: Value) -> None:
        with _frame(e, scope, caller):
            use(loop, *values)

    return use_there


@contextmanager
def _frame(e: Emission, scope: Scope, caller: SourceRange | None) -> Iterator[None]:
    before = e.scope, e.caller
    e.scope, e.caller = scope, caller
    yield
    e.scope, e.caller = before


class _Run:
    """The loops of one comprehension."""

    def __init__(
        self, e: Emission, comprehension: tree.Comprehension, use: Callable[..., None]
    ) -> None:
        self.e = e
        self.comprehension = comprehension
        self.use = use
        self.outermost: Exit | None = None

    def generator(self, i: int, view: Value) -> None:
        """Emit the loop of generator `i` and all that is in it."""
        e, where = self.e, self.comprehension.inner
        generator = self.comprehension.generators[i]
        place = place_of_iterator(generator.iterable, where)
        with e.endless_loop(where) as (loop, k):
            self.outermost = self.outermost or loop
            more = e.emit("prim::has_next", view, k, where=place)
            leave_unless(e, loop, None, more, (), where)
            assign(e, generator.target, e.emit("prim::next", view, k, where=place))
            for test in generator.conditions:
                _skip_unless(e, loop, condition(e, test, where), where)
            if i + 1 < len(self.comprehension.generators):
                iterable = self.comprehension.generators[i + 1].iterable
                self.generator(
                    i + 1, iteration_view(e, iterable, place_of_iterator(iterable, where))
                )
            else:
                self._use()

    def _use(self) -> None:
        element = self.comprehension.element
        if isinstance(element, tree.DictEntry):
            values = [self.e.expression(element.key), self.e.expression(element.value)]
        else:
            values = [self.e.expression(element)]
        self.use(self.outermost, *values)


def _skip_unless(e: Emission, loop: Exit, wanted: Value, where: SourceRange) -> None:
    def skip() -> Sequence[Value]:
        e.terminate(CONTINUE, (), where).target = loop.node
        return ()

    e.branch(wanted, tuple, skip, where)
