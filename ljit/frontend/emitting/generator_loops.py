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
it, and the other way round. It differs where somebody could tell that a generator was given up: so a body with other
statements than those of `_STATEMENTS` (``try``, ``with``) is left to the generator. The function is the one that the
name stood for at first; the graph asks in each call whether it still does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import CO_GENERATOR
from types import FunctionType

from ljit.analysis.assumptions import python_function
from ljit.errors import UserError
from ljit.frontend.emitting.attempts import fails
from ljit.frontend.emitting.emission import Emission, emits
from ljit.frontend.emitting.iteration import ItemLoop
from ljit.frontend.emitting.known_names import known_value
from ljit.frontend.emitting.nested import function_scope
from ljit.frontend.trees import tree
from ljit.frontend.trees.build import build_def
from ljit.frontend.trees.scopes import names_of
from ljit.frontend.trees.tree import Tree
from ljit.frontend.trees.tree_base import parts_of
from ljit.frontend.trees.tree_patterns import Match
from ljit.ir import Value
from ljit.parameters import defaults_of, has_keywords, has_rest
from ljit.records import Record
from ljit.source import SourceRange
from ljit.types import BOOL

__all__ = ["GeneratorCall", "called_generator", "evaluate_call", "loop_over_generator"]

_MOST_YIELDS = 3  # the loop's body is written as often
_MOST_INLINED = 4  # generators within one another
_MOST_COPIES = 8  # of a loop's body, by the yields of all the generators around it
_DELEGATED = "yield from"  # a variable for what is yielded on
#: what `Emission` knows of the frame whose code is emitted
_OF_A_FRAME = "scope caller loop region function inlining consume generators on_stop".split()
_STATEMENTS = (
    (tree.Assert | tree.Assign | tree.AugAssign | tree.Break | tree.Continue | tree.Delete)
    | (tree.ExprStmt | tree.For | tree.If | Match | tree.Pass | tree.Raise | tree.Return)
    | tree.While
)


class CalledGenerator(Record):
    """A call of a generator function: the object that is called, and the tree of its function."""

    called: object
    definition: tree.Def
    call: tree.Apply


def _function_of(generator: CalledGenerator) -> FunctionType:
    function = python_function(generator.called)
    assert function is not None
    return function


def called_generator(e: Emission, iterable: Tree) -> CalledGenerator | None:
    """Give the generator function that is called, if its body can run in the place of the call."""
    if not e.inlines_generators or not isinstance(iterable, tree.Apply) or iterable.keywords:
        return None
    called = known_value(e, iterable.function)
    function = python_function(called)
    if function is None or not function.__code__.co_flags & CO_GENERATOR:
        return None
    if not _takes(function, iterable.arguments) or len(e.generators) >= _MOST_INLINED:
        return None
    if function in e.generators or function is e.function:
        return None
    try:
        definition = build_def(function)
    except UserError:
        return None
    if not _is_plain(definition) or e.copies * len(_yields(definition)) > _MOST_COPIES:
        return None
    return CalledGenerator(called, definition, iterable)


def _takes(function: FunctionType, arguments: Sequence[Tree]) -> bool:
    """Whether the arguments, all by position, fit the function's parameters."""
    code, count = function.__code__, len(arguments)
    if code.co_kwonlyargcount or has_rest(code) or has_keywords(code):
        return False
    required = code.co_argcount - len(function.__defaults__ or ())
    is_starred = any(isinstance(argument, tree.Starred) for argument in arguments)
    return required <= count <= code.co_argcount and not is_starred


def _is_plain(definition: tree.Def) -> bool:
    statements = list(_statements(definition.body))
    yields = _yields(definition)
    alone = [s.value for s in statements if isinstance(s, tree.ExprStmt)]
    return (
        len(yields) <= _MOST_YIELDS
        and all(isinstance(statement, _STATEMENTS) for statement in statements)
        and all(any(part is value for value in alone) for part in yields)
    )


def _yields(definition: tree.Def) -> list[tree.Yield]:
    return [part for part in _parts(definition) if isinstance(part, tree.Yield)]


def _parts(definition: tree.Def) -> Iterator[Tree]:
    return (part for statement in definition.body for part in parts_of(statement))


def _statements(body: Sequence[Tree]) -> Iterator[Tree]:
    for statement in body:
        yield statement
        if isinstance(statement, tree.If | tree.For | tree.While):
            yield from _statements((*statement.body, *statement.orelse))
        elif isinstance(statement, Match):
            for case in statement.cases:
                yield from _statements(case.body)


# -- the loop --------------------------------------------------------------------------------------


class GeneratorCall(Record):
    """A call of a known generator function, evaluated: the function and its arguments."""

    generator: CalledGenerator
    function: Value
    arguments: Sequence[Value]


def evaluate_call(e: Emission, generator: CalledGenerator) -> GeneratorCall:
    """Emit what a call of a generator function does at once."""
    function = e.expression(generator.call.function)
    arguments = [e.expression(argument) for argument in generator.call.arguments]
    return GeneratorCall(generator, function, arguments)


def loop_over_generator(e: Emission, call: GeneratorCall, loop: ItemLoop) -> None:
    """Emit the loop, with the generator's body in it where the function is the known one."""

    def inline() -> Sequence[Value]:
        _inline(e, call, loop)
        return ()

    def over_view() -> Sequence[Value]:
        outer, e.inlines_generators = e.inlines_generators, False
        place = call.generator.call.range
        loop.iterate(e.emit("prim::iter_call", call.function, *call.arguments, where=place))
        e.inlines_generators = outer
        return ()

    e.branch(_is_still(e, call.generator, call.function), inline, over_view, loop.where)


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


def _defaults_taken(generator: CalledGenerator) -> Iterator[tuple[str, object]]:
    """The parameters without an argument, and their defaults."""
    defaults = defaults_of(_function_of(generator))
    missing = generator.definition.decl.params[len(generator.call.arguments) :]
    return ((param.name, defaults[param.name]) for param in missing)


def _inline(e: Emission, call: GeneratorCall, loop: ItemLoop) -> None:
    around = _frame_of(e)
    yields = len(_yields(call.generator.definition))
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
    definition = generator.definition
    names = names_of(definition)
    slots = {name: e.fresh_slot(name) for name in names.bound} | {_DELEGATED: e.fresh_slot()}
    values = [*arguments, *(e.constant(x, where) for _, x in _defaults_taken(generator))]
    on_stop = fails(e, where)
    with _frame(e, _frame_of(e)), e.new_scope(function_scope(None, names, slots), where):
        e.on_stop = on_stop
        e.function, e.consume = _function_of(generator), consume
        e.generators = (*e.generators, e.function)
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
    is_literal = isinstance(source, tree.TupleLiteral | tree.ListLiteral)
    if not is_literal and called_generator(e, source) is None:
        message = "yield from something that may be in use is not translated"
        raise e.unsupported(f"{message}; yield its items in a loop", where)
    item = tree.Var(where, _DELEGATED)
    body = tree.ExprStmt(where, tree.Yield(where, item, is_from=False))
    e.statements([tree.For(where, (item,), (source,), (body,), (), is_delegation=True)])
