"""Functions whose loops count their trips while CPython runs them, and can be left at the end of each.

A function is compiled again from its syntax tree with some statements more. At the end of a trip (and in front of a
``continue``) a number is counted down; where it is 0, `Watcher.look` says how far to count next, or that the rest of
the call is to be run elsewhere. Then `Watcher.go_on` gets the variables, and what it gives is the call's result::

    try:
        for x in (.it0 := iter(xs)):          for x in xs:
            total += x                            total += x
            .n -= 1
            if not .n:
                .n, .clock = look(.clock, 0, .it0)
                if not .n:
                    .variables = locals()
                    x = xs = total = None     what is not used any more may die
                    try: return go_on(.variables, 0)
                    except: drop(); raise     this frame is not to be in the traceback twice
    finally:
        .it0 = None

The names that begin with a dot cannot be a program's; functions that ask for the names of their variables are left as
they are, and so are those that call what looks at frames. So are loops within ``try`` and ``with``: leaving them there
would run their handlers. Loops in expressions are, too.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from opcode import opmap
from types import CodeType, FunctionType
from typing import Any, Protocol, TypeVar, cast

from ljit.cpython.frames import calls_for_frames
from ljit.errors import SourceUnavailableError
from ljit.frontend.sources import FunctionSource, compile_alone, find_source
from ljit.records import Record

__all__ = ["CountedLoop", "Watcher", "counted_function", "has_loop_statement"]

_FIRST_TRIPS = 4  # before the first look
_COUNT, _CLOCK, _VARIABLES, _ITERATOR = ".n", ".clock", ".variables", ".it"
_ITER, _LOCALS, _LOOK, _GO_ON, _DROP = ("\0iter", "\0locals", "\0look", "\0go_on", "\0drop")
_OTHERS = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)
_SHOW_VARIABLES = frozenset(("locals", "vars", "dir", "eval", "exec", "breakpoint"))
_ERROR_IS_AT_LOOP = sys.version_info < (3, 13)  # that nothing can be gone through
_BLOCKS = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.AsyncFor)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")

_Loop = ast.For | ast.While
_Node = TypeVar("_Node", bound=ast.AST)


class CountedLoop(Record):
    """Where a loop stands, and the variables with the iterators of those around it and its own; None: a ``while``.

    `places`: line and column in bytes, those of the outermost loop first. `at`: those of what counts the trips.
    """

    places: tuple[tuple[int, int], ...]
    iterators: tuple[str | None, ...]
    at: tuple[int, int]


class Watcher(Protocol):
    """Who is asked at the end of a trip, by the number of the loop."""

    def look(self, clock: Any, loop: int, *iterators: object) -> tuple[int, object]:
        """How many trips to count next, 0: none, and what to give to the next look of the call; None: it is the first.

        `iterators`: those of the loops around that have one.
        """

    def go_on(self, variables: dict[str, object], loop: int) -> object:
        """Run the rest of the call, given the variables, and give its result."""

    def drop(self) -> None:
        """Take the caller's frame off the traceback of what is being handled."""


def counted_function(
    fn: FunctionType, watcher: Watcher
) -> tuple[FunctionType, Sequence[CountedLoop]] | None:
    """Give the function with counted loops, and these; None: some of its loops could not be left."""
    code = fn.__code__
    if code.co_flags & _OTHERS or _shares_variables(code) or _shows_variables(fn):
        return None
    try:
        source = find_source(fn)
    except SourceUnavailableError:
        return None
    writer = _Writer(code)
    node = writer.function(source)
    compiled = compile_alone(node, source.class_name, code) if node is not None else None
    if compiled is None or not writer.loops:
        return None
    counted = _finished(compiled, code, watcher, writer.iterators)
    if counted is None:
        return None
    closure = dict(zip(code.co_freevars, fn.__closure__ or (), strict=True))
    cells = tuple(closure[name] for name in counted.co_freevars)
    made = FunctionType(counted, fn.__globals__, fn.__name__, fn.__defaults__, cells)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made, writer.loops


def has_loop_statement(fn: FunctionType) -> bool:
    """Whether calls of the function have loops other than those of expressions."""
    if fn.__code__.co_flags & _OTHERS:
        return False
    try:
        return any(map(_has_loop, getattr(find_source(fn).node, "body", ())))
    except (SourceUnavailableError, TypeError):  # a lambda has an expression
        return False


def _shares_variables(code: CodeType) -> bool:
    """Whether functions in it that may outlive the loop have variables of its own."""
    nested = (c for c in code.co_consts if isinstance(c, CodeType))
    return any(c.co_freevars and c.co_name not in _COMPREHENSIONS for c in nested)


def _shows_variables(fn: FunctionType) -> bool:
    """Whether it may ask for the variables of its frame, or for the code."""
    named = _SHOW_VARIABLES.intersection(fn.__code__.co_names)
    return not all(_is_programs_own(name, fn) for name in named) or calls_for_frames(fn)


def _is_programs_own(name: str, fn: FunctionType) -> bool:
    """Whether the name of a builtin stands for a global variable of the program's, or the function binds it so."""
    code, variables = fn.__code__, fn.__globals__
    if name in variables:
        return variables[name] is not getattr(builtins, name, None)
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return (opmap["STORE_GLOBAL"], code.co_names.index(name)) in pairs


class _CannotLeaveError(Exception):
    """A loop is within a statement that would notice it, and in no loop that can be left."""


class _Writer:
    """Writes the statements of one function anew."""

    def __init__(self, code: CodeType) -> None:
        self.loops: list[CountedLoop] = []
        self.iterators = 0  # loops with one
        self._variables = [name for name in code.co_varnames if name not in code.co_cellvars]
        self._around: list[tuple[_Loop, str | None]] = []

    def function(self, source: FunctionSource) -> ast.FunctionDef | None:
        node = source.node
        if not isinstance(node, ast.FunctionDef):
            return None
        try:
            body = self._statements(node.body)
        except _CannotLeaveError:
            return None
        # Both at once: CPython 3.11 makes one instruction of a store and a load, which would fail at the store's place.
        both: list[ast.expr] = [_name(name, node.body[0], ast.Store()) for name in (_COUNT, _CLOCK)]
        values = ast.Tuple([ast.Constant(_FIRST_TRIPS), ast.Constant(None)], ast.Load())
        start = ast.Assign([ast.Tuple(both, ast.Store())], values)
        made = _with_fields(node, body=[_placed(start, node.body[0]), *body])
        return cast(ast.FunctionDef, made)

    def _statements(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in statements for made in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        match statement:
            case ast.For() | ast.While():
                yield from self._loop(statement)
            case ast.If(body=body, orelse=orelse):
                yield _with_fields(
                    statement, body=self._statements(body), orelse=self._statements(orelse)
                )
            case ast.Match(cases=cases):
                made = [_with_fields(c, body=self._statements(c.body)) for c in cases]
                yield _with_fields(statement, cases=made)
            case ast.Continue() if self._around:
                yield from self._look(statement)
                yield statement
            case _:
                if isinstance(statement, _BLOCKS) and not self._around and _has_loop(statement):
                    raise _CannotLeaveError
                yield statement

    def _loop(self, loop: _Loop) -> Iterator[ast.stmt]:
        iterator, changes = None, {}
        if isinstance(loop, ast.For):
            iterator = f"{_ITERATOR}{self.iterators}"
            self.iterators += 1
            where = loop if _ERROR_IS_AT_LOOP else loop.iter
            call = _call(_ITER, [_folded(loop.iter)], where)
            named = ast.NamedExpr(_name(iterator, where, ast.Store()), call)
            changes["iter"] = ast.copy_location(named, where)
        self._around.append((loop, iterator))
        body = [*self._statements(loop.body), *self._look(loop)]
        self._around.pop()
        made = _with_fields(loop, body=body, orelse=self._statements(loop.orelse), **changes)
        if iterator is None:
            yield made
        else:  # the iterator dies where the loop ends, also by an exception
            end = _assign(iterator, ast.Constant(None), loop)
            yield _placed(ast.Try([made], [], [], [end]), loop)

    def _look(self, where: ast.stmt) -> Iterator[ast.stmt]:
        """What stands at the end of a trip."""
        number = ast.Constant(len(self.loops))
        places = tuple((loop.lineno, loop.col_offset) for loop, _ in self._around)
        names = tuple(name for _, name in self._around)
        self.loops.append(CountedLoop(places, names, (where.lineno, where.col_offset)))
        one = ast.Constant(1)
        yield _placed(ast.AugAssign(_name(_COUNT, where, ast.Store()), ast.Sub(), one), where)
        pair: list[ast.expr] = [_name(name, where, ast.Store()) for name in (_COUNT, _CLOCK)]
        iterators = [name for _, name in self._around if name is not None]
        look = _call(
            _LOOK, [_name(_CLOCK, where), number, *(_name(i, where) for i in iterators)], where
        )
        unused = [*self._variables, *iterators]
        nothing: list[ast.expr] = [_name(name, where, ast.Store()) for name in unused]
        result = _call(_GO_ON, [_name(_VARIABLES, where), number], where)
        drop = [ast.Expr(_call(_DROP, [], where)), ast.Raise()]
        leave: list[ast.stmt] = [
            _assign(_VARIABLES, _call(_LOCALS, [], where), where),
            *([ast.Assign(nothing, ast.Constant(None))] if nothing else []),
            ast.Try([ast.Return(result)], [ast.ExceptHandler(None, None, drop)], [], []),
        ]
        is_due = ast.UnaryOp(ast.Not(), _name(_COUNT, where))
        next_ones = ast.Assign([ast.Tuple(pair, ast.Store())], look)
        made = ast.If(is_due, [next_ones, ast.If(is_due, leave, [])], [])
        yield _placed(made, where)


def _folded(iterable: ast.expr) -> ast.expr:
    """What a loop goes through: of a set of constants CPython's compiler makes one that does not change."""
    if not isinstance(iterable, ast.Set):
        return iterable
    try:
        items = frozenset(ast.literal_eval(iterable))
    except (ValueError, TypeError):  # no constants, or none that a set may have
        return iterable
    return ast.copy_location(ast.Constant(items), iterable)  # type: ignore[arg-type]  # typeshed


def _has_loop(statement: ast.AST) -> bool:
    """Whether there is a loop in it, but for those of functions and expressions."""
    children = ast.iter_child_nodes(statement)
    return isinstance(statement, _Loop) or any(
        _has_loop(c) for c in children if not isinstance(c, (*_NESTED, ast.expr))
    )


def _with_fields(node: Any, **changes: object) -> Any:
    """A copy of a node with other fields."""
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    made = type(node)(**{**fields, **changes})
    return ast.copy_location(made, node)


def _name(name: str, where: ast.AST, context: ast.expr_context | None = None) -> ast.Name:
    return _placed(ast.Name(name, context or ast.Load()), where)


def _assign(name: str, value: ast.expr, where: ast.AST) -> ast.stmt:
    return _placed(ast.Assign([_name(name, where, ast.Store())], value), where)


def _call(function: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
    return _placed(ast.Call(ast.Constant(function), arguments, []), where)


def _placed(node: _Node, where: ast.AST) -> _Node:
    """The node, and those in it that have no place yet, at the place of another."""
    if isinstance(node, ast.expr | ast.stmt | ast.excepthandler) and not hasattr(node, "lineno"):
        ast.copy_location(node, where)
        for child in ast.iter_child_nodes(node):
            _placed(child, where)
    return node


def _finished(
    compiled: CodeType, code: CodeType, watcher: Watcher, iterators: int
) -> CodeType | None:
    """The code with what it calls as constants, with the very codes of nested functions, and one iterator a loop."""
    calls: dict[object, Callable[..., object]] = {
        _ITER: iter,
        _LOCALS: locals,
        _LOOK: watcher.look,
        _GO_ON: watcher.go_on,
        _DROP: watcher.drop,
    }
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]

    def constant(value: object) -> object:
        if isinstance(value, CodeType):
            return next((c for c in nested if c == value), value)
        return calls.get(value, value) if type(value) is str else value

    instructions = bytearray(compiled.co_code)
    store, get, nop = opmap["STORE_FAST"], opmap["GET_ITER"], opmap["NOP"]
    found = 0
    for place in range(2, len(instructions), 2):
        if instructions[place] == get and instructions[place - 2] == store:
            variable = compiled.co_varnames[instructions[place - 1]]
            if variable.startswith(_ITERATOR):  # ``for`` asks what `iter` gave for no further one
                instructions[place] = nop
                found += 1
    if found != iterators:  # more than 256 variables
        return None
    constants = tuple(map(constant, compiled.co_consts))
    return compiled.replace(co_code=bytes(instructions), co_consts=constants)
