"""Loops and comprehensions over calls of generator functions: the generator's body runs in the loop's place.

``for x in pairs(n): work(x)`` becomes the body of ``pairs`` with ``x = value; work(x)`` in the place of each
``yield value``::

    prim::Region            # ``break`` leaves it
        prim::Region        # ``return`` of the generator leaves it
            ...             # the generator's statements
            prim::Region    # for each yield; ``continue`` leaves it
                ...         # the loop's body
        ...                 # the else clause

That is what happens in CPython, in the same order: a generator runs from one yield to the next while the loop waits for
it, and the other way round (`generator_bodies` says of which bodies). The function is a nested one, or the one that a
global name stood for at first; the graph asks in each call whether it still does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import CO_GENERATOR
from types import FunctionType

from ljit.analysis.assumptions import python_function
from ljit.cpython.parameters import defaults_of, has_keywords, has_rest
from ljit.errors import UserError
from ljit.frontend.emitting.attempts import fails
from ljit.frontend.emitting.emission import Emission, NestedFunction, NotInlinedError, emits
from ljit.frontend.emitting.functions import inlined_function
from ljit.frontend.emitting.iteration import ItemLoop
from ljit.frontend.emitting.known_names import known_value
from ljit.frontend.emitting.nested import function_scope
from ljit.frontend.trees import tree
from ljit.frontend.trees.build import build_def
from ljit.frontend.trees.generator_bodies import can_run_in_place, yields_of
from ljit.frontend.trees.scopes import names_of
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.records import Record
from ljit.source import SourceRange
from ljit.types import BOOL

__all__ = [
    "GeneratorCall",
    "called_generator",
    "evaluate_call",
    "loop_over_generator",
    "plain_call",
]

_MOST_INLINED = 4  # generators within one another
_MOST_COPIES = 8  # of a loop's body, by the yields of all the generators around it
#: builtins that make what can be gone through
_MAKERS = (enumerate, filter, list, map, range, reversed, set, sorted, tuple, zip)
_DELEGATED = "yield from"  # a variable for what is yielded on
#: what `Emission` knows of the frame whose code is emitted
_OF_A_FRAME = "scope caller loop region function inlining consume generators on_stop".split()


class CalledGenerator(Record):
    """A call of a generator function, and the tree of that.

    `called`: the object that the name stood for; None: it is `nested`, which nothing else stands for.
    """

    call: tree.Apply
    definition: tree.Def
    called: object = None
    nested: NestedFunction | None = None

    @property
    def identity(self) -> object:
        """What tells the generator function from others."""
        return self.definition if self.nested is not None else python_function(self.called)


def _function_of(generator: CalledGenerator) -> FunctionType:
    function = python_function(generator.called)
    assert function is not None
    return function


def called_generator(e: Emission, iterable: Tree) -> CalledGenerator | None:
    """Give the generator function that is called, if its body can run in the place of the call."""
    if not isinstance(iterable, tree.Apply) or iterable.keywords:
        return None
    if any(isinstance(argument, tree.Starred) for argument in iterable.arguments):
        return None
    found = _nested_generator(e, iterable) or _outer_generator(e, iterable)
    if found is None or len(e.generators) >= _MOST_INLINED:
        return None
    if any(found.identity is other for other in (*e.generators, *e.kept_generators)):
        return None
    if e.copies * len(yields_of(found.definition)) > _MOST_COPIES:
        return None
    return found


def _nested_generator(e: Emission, call: tree.Apply) -> CalledGenerator | None:
    place = e.find(call.function.name) if isinstance(call.function, tree.Var) else None
    if place is None or not isinstance(call.function, tree.Var) or place[1] not in e.bound:
        return None
    scope, name = place[0], call.function.name
    nested = scope.functions.get(name) if name in scope.generators else None
    if nested is None or nested.definition in e.inlining:
        return None
    params = nested.definition.decl.params
    is_plain = all(p.has_name and not p.keyword_only for p in params)
    required = [p for p in params if p.name not in nested.defaults]
    if not is_plain or not len(required) <= len(call.arguments) <= len(params):
        return None
    return CalledGenerator(call, nested.definition, nested=nested)


def _outer_generator(e: Emission, call: tree.Apply) -> CalledGenerator | None:
    called = known_value(e, call.function) if e.inlines_generators else None
    function = python_function(called)
    if function is None or not function.__code__.co_flags & CO_GENERATOR:
        return None
    if function is e.function or not _takes(function, len(call.arguments)):
        return None
    try:
        definition = build_def(function)
    except UserError:
        return None
    return CalledGenerator(call, definition, called) if can_run_in_place(definition) else None


def _takes(function: FunctionType, count: int) -> bool:
    """Whether so many arguments by position fit the function's parameters."""
    code = function.__code__
    if code.co_kwonlyargcount or has_rest(code) or has_keywords(code):
        return False
    required = code.co_argcount - len(function.__defaults__ or ())
    return required <= count <= code.co_argcount


# -- the loop --------------------------------------------------------------------------------------


class GeneratorCall(Record):
    """A call of a known generator function, evaluated: the function (None: a nested one) and its arguments."""

    generator: CalledGenerator
    function: Value | None
    arguments: Sequence[Value]


def evaluate_call(e: Emission, generator: CalledGenerator) -> GeneratorCall:
    """Emit what a call of a generator function does at once."""
    is_nested = generator.nested is not None
    function = None if is_nested else e.expression(generator.call.function)
    arguments = [e.expression(argument) for argument in generator.call.arguments]
    return GeneratorCall(generator, function, arguments)


def loop_over_generator(e: Emission, call: GeneratorCall, loop: ItemLoop) -> None:
    """Emit the loop, with the generator's body in it where the function is the known one."""
    if call.function is None:
        _inline(e, call, loop)
        return
    function = call.function

    def inline() -> Sequence[Value]:
        _inline(e, call, loop)
        return ()

    def over_view() -> Sequence[Value]:
        outer, e.inlines_generators = e.inlines_generators, False
        place = call.generator.call.range
        loop.iterate(e.emit("prim::iter_call", function, *call.arguments, where=place))
        e.inlines_generators = outer
        return ()

    e.branch(_is_still(e, call.generator, function), inline, over_view, loop.where)


def plain_call(e: Emission, generator: CalledGenerator) -> Value:
    """Emit the call of a generator function whose generator is used up at once."""
    call = generator.call
    if generator.nested is None:
        return e.expression(call)
    assert isinstance(call.function, tree.Var)
    function = inlined_function(e, call.function.name, is_kept=False)
    if function is None:  # a value as well, or one that cannot be made here
        function = e.expression(call.function)
    operands = [e.expression(argument) for argument in call.arguments]
    return e.emit("py::call", function, *operands, where=call.range, kwnames=())


def _is_still(e: Emission, generator: CalledGenerator, function: Value) -> Value:
    """Ask whether the function, and the defaults that are taken, are those that are known."""
    call, where = generator.call, generator.call.range
    is_same = e.emit("py::is", function, e.constant(generator.called, where), where=where)
    if len(call.arguments) == len(generator.definition.decl.params):
        return is_same
    wanted = _function_of(generator)

    def ask() -> Sequence[Value]:
        defaults = tuple(_defaults_taken(generator))
        return (e.emit("prim::has_defaults", where=where, function=wanted, defaults=defaults),)

    (result,) = e.branch(is_same, ask, lambda: (is_same,), where, outputs=(BOOL,))
    return result


def _without_argument(generator: CalledGenerator) -> Sequence[tree.Param]:
    return generator.definition.decl.params[len(generator.call.arguments) :]


def _defaults_taken(generator: CalledGenerator) -> Iterator[tuple[str, object]]:
    """The parameters without an argument, and their defaults."""
    defaults = defaults_of(_function_of(generator))
    return ((param.name, defaults[param.name]) for param in _without_argument(generator))


def _defaults(e: Emission, generator: CalledGenerator, where: SourceRange) -> list[Value]:
    """Emit what parameters without an argument are."""
    if generator.nested is None:
        return [e.constant(x, where) for _, x in _defaults_taken(generator)]
    slots = generator.nested.defaults
    return [e.load(slots[p.name], p.range) for p in _without_argument(generator)]


def _inline(e: Emission, call: GeneratorCall, loop: ItemLoop) -> None:
    around = _frame_of(e)
    yields = len(yields_of(call.generator.definition))
    with e.left_by_break(loop.where) as whole:

        def consume(value: Value) -> None:
            with _frame(e, around), e.left_by_break(loop.where) as trip:
                whole.trip = trip
                e.loop = whole
                e.copies *= yields
                loop.use(whole, value)
                e.copies //= yields

        _generate(e, call.generator, call.arguments, loop.place, consume)
        loop.behind()


def _generate(
    e: Emission,
    generator: CalledGenerator,
    arguments: Sequence[Value],
    where: SourceRange,
    consume: Callable[[Value], None],
) -> None:
    """Emit the generator's body with its parameters bound; `consume` emits what is done with each value."""
    definition, nested = generator.definition, generator.nested
    names = names_of(definition)
    slots = {name: e.fresh_slot(name) for name in names.bound} | {_DELEGATED: e.fresh_slot()}
    values = [*arguments, *_defaults(e, generator, where)]
    scope = function_scope(e, nested.scope if nested is not None else None, names, slots)
    on_stop = fails(e, where)
    with _frame(e, _frame_of(e)), e.new_scope(scope, where):
        e.on_stop, e.consume = on_stop, consume
        e.generators = (*e.generators, generator.identity)
        if nested is None:
            e.function = _function_of(generator)
        else:
            e.inlining = (*e.inlining, definition)
        for param, value in zip(definition.decl.params, values, strict=True):
            e.store_name(param.name, value, param.range)
        with e.inlined_region(definition.range):
            e.statements(definition.body)


def _frame_of(e: Emission) -> dict[str, object]:
    return {name: getattr(e, name) for name in _OF_A_FRAME}


@contextmanager
def _frame(e: Emission, state: dict[str, object]) -> Iterator[None]:
    """Emit code of another frame meanwhile."""
    before = _frame_of(e)
    for name, value in state.items():
        setattr(e, name, value)
    yield
    for name, value in before.items():
        setattr(e, name, value)


@emits(tree.Yield)
def _yield(e: Emission, expression: tree.Yield) -> Value:
    assert e.consume is not None  # or the function would have been refused
    if expression.is_from:
        _delegate(e, expression)
    else:
        e.consume(e.expression(expression.value))
    return e.constant(None, expression.range)


def _delegate(e: Emission, expression: tree.Yield) -> None:
    """Emit a loop that yields; what is not made here is closed with a generator, which a loop would not do."""
    where, source = expression.range, expression.value
    if not _is_made_here(e, source) and called_generator(e, source) is None:
        message = "yield from something that may be in use is not translated"
        message = f"{message}; yield its items in a loop"
        raise NotInlinedError(message, where, e.generators[-1])
    item = tree.Var(where, _DELEGATED)
    body = tree.ExprStmt(where, tree.Yield(where, item, is_from=False))
    e.statements([tree.For(where, (item,), (source,), (body,), (), is_delegation=True)])


def _is_made_here(e: Emission, source: Tree) -> bool:
    """Whether evaluating it makes an object of a builtin class, which nobody else has."""
    if not isinstance(source, tree.Apply):
        return isinstance(source, tree.TupleLiteral | tree.ListLiteral | tree.Comprehension)
    called = known_value(e, source.function)
    return any(called is function for function in _MAKERS)
