"""Comprehensions, which are loops, and the loops of generator expressions that a builtin or another loop uses up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ljit.frontend.emitting.attempts import ends, fails
from ljit.frontend.emitting.calls import iteration_view
from ljit.frontend.emitting.conditions import condition
from ljit.frontend.emitting.emission import Emission, Exit, Scope, emits
from ljit.frontend.emitting.functions import generator_value
from ljit.frontend.emitting.generator_loops import (
    GeneratorCall,
    called_generator,
    evaluate_call,
    loop_over_generator,
)
from ljit.frontend.emitting.iteration import ItemLoop, leave_unless, place_of_iterator, released
from ljit.frontend.emitting.targets import assign
from ljit.frontend.trees import tree
from ljit.frontend.trees.scopes import bound_in_target
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.ops.control import CONTINUE
from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["LoopOver", "collect", "is_generator", "loop_over_items", "loops_over", "run"]

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
    _run(e, _evaluate(e, comprehension), begin, use, caller=caller)


class _Items(Record):
    """A comprehension of which the first iterable is evaluated."""

    comprehension: tree.Comprehension
    first: _Source


def _evaluate(e: Emission, comprehension: tree.Comprehension) -> _Items:
    """Emit what a comprehension does at once: it makes what its first loop runs over."""
    iterable = comprehension.generators[0].iterable
    return _Items(comprehension, _source(e, iterable, _place_of_first(comprehension)))


def _run(
    e: Emission,
    items: _Items,
    begin: Callable[[], None],
    use: Callable[..., None],
    *,
    caller: SourceRange | None,
) -> None:
    comprehension, first = items.comprehension, items.first
    has_frame = _has_frame(comprehension)
    names = [n for g in comprehension.generators for n in bound_in_target(g.target)]
    slots = {name: e.fresh_slot(name) for name in names}
    scope = Scope(e.scope, slots, has_frame=has_frame)
    if caller is not None:
        begin()
        use_outside, on_stop, run = (
            _in_present_frame(e, use),
            e.on_stop,
            _Run(e, comprehension, use),
        )
        run.use = use_outside
        e.on_stop = fails(e, caller) if has_frame else ends(e, run.loop, comprehension.inner)
        with e.new_scope(scope, caller if has_frame else None):
            run.generator(0, first)
        e.on_stop = on_stop
        return
    with e.new_scope(scope, comprehension.range if has_frame else None):
        begin()
        _Run(e, comprehension, use).generator(0, first)


def is_generator(e: Emission, iterable: Tree) -> bool:
    """Whether it is a generator expression whose loops can take the place of the loop over it."""
    is_one = isinstance(iterable, tree.Comprehension) and iterable.container == "generator"
    return is_one and e.inlines_generators


def loop_over_items(e: Emission, comprehension: tree.Comprehension, loop: ItemLoop) -> None:
    """Emit a loop over what a generator expression gives."""
    _loop_over(e, _evaluate(e, comprehension), loop)


def _loop_over(e: Emission, items: _Items, loop: ItemLoop) -> None:
    outer = e.loop
    with e.left_by_break(loop.where) as whole:

        def trip(_: Exit, value: Value) -> None:
            inner = e.loop
            with e.left_by_break(loop.where) as region:
                whole.trip = region
                e.loop = whole
                loop.use(whole, value)
            e.loop = inner

        _run(e, items, _nothing, trip, caller=loop.place)
        e.loop = outer
        loop.behind()


def _place_of_first(comprehension: tree.Comprehension) -> SourceRange:
    """Where errors of making the first iterator stand: in a call of `map` if that is what was written."""
    generator = comprehension.generators[0]
    if generator.range is not generator.iterable.range:
        return generator.range
    return place_of_iterator(generator.iterable, comprehension.range)


def _has_frame(comprehension: tree.Comprehension) -> bool:
    """Whether CPython runs it in a frame of its own."""
    return comprehension.inner is not comprehension.range


class _View(Record):
    """What a loop runs over: the view, and what it was made of."""

    view: Value
    iterable: Tree


class LoopOver(Record):
    """What a loop runs over, a call that is evaluated as far as it is before the loop, and what emits the loop."""

    iterable: Tree
    loop: Callable[[ItemLoop], None]


_Source = _View | GeneratorCall | LoopOver | _Items
_Maker = Callable[[Emission, Tree, SourceRange], LoopOver | None]
_loops: list[_Maker] = []


def loops_over(maker: _Maker) -> _Maker:
    """Let `maker` give the loops over calls that it knows, None for others."""
    _loops.append(maker)
    return maker


def _source(e: Emission, iterable: Tree, place: SourceRange) -> _Source:
    """Emit the making of what a loop runs over."""
    if isinstance(iterable, tree.Comprehension) and is_generator(e, iterable):
        return _evaluate(e, iterable)
    generator = called_generator(e, iterable)
    if generator is not None:
        return evaluate_call(e, generator)
    for maker in _loops:
        if (found := maker(e, iterable, place)) is not None:
            return found
    return _View(iteration_view(e, iterable, place), iterable)


def _in_present_frame(e: Emission, use: Callable[..., None]) -> Callable[..., None]:
    """Let `use` emit code of the present scope, whatever the scope is then."""
    frame = e.scope, e.caller, e.on_stop

    def use_there(loop: Exit, *values: Value) -> None:
        inner = e.scope, e.caller, e.on_stop
        e.scope, e.caller, e.on_stop = frame
        use(loop, *values)
        e.scope, e.caller, e.on_stop = inner

    return use_there


class _Run:
    """The loops of one comprehension."""

    def __init__(
        self, e: Emission, comprehension: tree.Comprehension, use: Callable[..., None]
    ) -> None:
        self.e = e
        self.comprehension = comprehension
        self.use = use
        self.outermost: Exit | None = None

    def loop(self) -> Exit:
        """The outermost loop."""
        assert self.outermost is not None
        return self.outermost

    def generator(self, i: int, source: _Source) -> None:
        """Emit the loop of generator `i` and all that is in it."""
        e, where = self.e, self.comprehension.inner
        if isinstance(source, _View):
            self._over_view(i, source)
            return
        trip = partial(self._trip, i)
        if isinstance(source, _Items):
            place = self._place(source.comprehension)
            _loop_over(e, source, ItemLoop(where, place, trip, _nothing))
            return
        call = source.iterable if isinstance(source, LoopOver) else source.generator.call

        def iterate(view: Value) -> None:
            self._over_view(i, _View(view, call))

        loop = ItemLoop(where, self._place(call), trip, _nothing, iterate)
        if isinstance(source, LoopOver):
            source.loop(loop)
        else:
            loop_over_generator(e, source, loop)

    def _over_view(self, i: int, source: _View) -> None:
        e, where, view = self.e, self.comprehension.inner, source.view
        place = self._place(source.iterable)
        with released(e, source.iterable, view, place), e.endless_loop(where) as (loop, k):
            more = e.emit("prim::has_next", view, k, where=place)
            leave_unless(e, loop, None, more, (), where)
            self._trip(i, loop, e.emit("prim::next", view, k, where=place))

    def _place(self, iterable: Tree) -> SourceRange:
        """Where errors of an iterator stand: at the call of a builtin that goes through it by itself."""
        comprehension, where = self.comprehension, self.comprehension.inner
        is_builtin_s = comprehension.container == "generator" and not _has_frame(comprehension)
        return where if is_builtin_s else place_of_iterator(iterable, where)

    def _trip(self, i: int, loop: Exit, value: Value) -> None:
        """Emit one trip of the loop of generator `i`."""
        e, where = self.e, self.comprehension.inner
        self.outermost = self.outermost if i else loop
        generator = self.comprehension.generators[i]
        assign(e, generator.target, value)
        for test in generator.conditions:
            _skip_unless(e, loop, condition(e, test, where), where)
        if i + 1 < len(self.comprehension.generators):
            iterable = self.comprehension.generators[i + 1].iterable
            self.generator(i + 1, _source(e, iterable, place_of_iterator(iterable, where)))
        else:
            self._use()

    def _use(self) -> None:
        element = self.comprehension.element
        if isinstance(element, tree.DictEntry):
            values = [self.e.expression(element.key), self.e.expression(element.value)]
        else:
            values = [self.e.expression(element)]
        self.use(self.outermost, *values)


def _nothing() -> None:
    """Nothing follows the last element."""


def _skip_unless(e: Emission, loop: Exit, wanted: Value, where: SourceRange) -> None:
    def skip() -> Sequence[Value]:
        if loop.trip is not None:
            e.leave(loop.trip, where)
        else:
            e.terminate(CONTINUE, (), where).target = loop.node
        return ()

    e.branch(wanted, tuple, skip, where)
