"""The state of turning one tree into a graph, and the steps that all emitters share.

Local variables are `prim::Load` and `prim::Store` of a *slot*: the variable's name, or ``name@N`` for the locals of
an inlined function or a comprehension. `bound` holds the slots that are bound on every path to
the current place. The emitters of the tree views register themselves with `emits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CellType, FunctionType
from typing import Any

from ljit.errors import UnsupportedSyntaxError
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import ENDLESS, Block, Graph, Node, OpDef, Value, get_op
from ljit.ops.control import (
    BREAK,
    CONSTANT,
    IF,
    LOAD,
    LOOP,
    REGION,
    STORE,
    UNINITIALIZED,
    UNREACHABLE,
    YIELD,
)
from ljit.records import Record, made_by
from ljit.source import SourceRange
from ljit.types import ANY, BOOL, INT, Type

__all__ = [
    "Cleanup",
    "Emission",
    "Exit",
    "NeedsCellError",
    "NestedFunction",
    "NotInlinedError",
    "Scope",
    "emits",
]

_MAX_NODES = 20_000
_MAX_NESTING = 200  # blocks in one another: compiles have room for ten frames each


class NeedsCellError(UnsupportedSyntaxError):
    """Nested functions share a variable of the function: it is translated if it is in a cell as well."""

    def __init__(self, message: str, where: SourceRange, variable: str) -> None:
        super().__init__(message, where)
        self.variable = variable


class NotInlinedError(UnsupportedSyntaxError):
    """The body of a generator function cannot run in the place of its call: it is translated if that stays a call."""

    def __init__(self, message: str, where: SourceRange, generator: object) -> None:
        super().__init__(message, where)
        self.generator = generator


_Emitter = Callable[["Emission", Any], Any]  # each takes the tree class that it is listed under
_EMITTERS: dict[type[Tree], _Emitter] = {}


def emits(*classes: type[Tree]) -> Callable[[_Emitter], _Emitter]:
    """Register the decorated function as the emitter of tree views of these classes."""

    def register(function: _Emitter) -> _Emitter:
        for cls in classes:
            _EMITTERS[cls] = function
        return function

    return register


class Scope(Record, frozen=False):
    """The local variables of a function or comprehension: slots by name.

    `inlinable` are the names of nested functions that are inlined, `generators` those of generator functions that may
    be, whether they are values as well or not; `functions` are those of both that are defined so far.
    `unsure` collects slots that were read where they may be unbound, `settled` are variables that are bound once,
    `rebound` those that nested functions declare ``nonlocal``.
    """

    parent: Scope | None
    slots: Mapping[str, str]
    deleted: frozenset[str] = frozenset()
    inlinable: frozenset[str] = frozenset()
    generators: frozenset[str] = frozenset()
    escapes: Mapping[str, SourceRange] = made_by(factory=dict)
    functions: dict[str, NestedFunction] = made_by(factory=dict)
    unsure: dict[str, None] = made_by(factory=dict)
    settled: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()
    has_frame: bool = True


class NestedFunction(Record):
    """A nested function: where it was defined, and the slots of its parameters' defaults."""

    definition: tree.Def
    scope: Scope
    defaults: Mapping[str, str]


class Exit(Record, frozen=False):
    """A Loop or Region that can be left, with what is bound at each of its Breaks so far.

    `trip` is what ``continue`` leaves, where the loop is not a Loop of its own. `cleanups`: how many are around it.
    """

    node: Node
    cleanups: int = 0
    bound: frozenset[str] | None = None  # None: nothing has left it yet
    trip: Exit | None = None

    def leave(self, bound: frozenset[str]) -> None:
        self.bound = bound if self.bound is None else self.bound & bound


class Cleanup(Record, frozen=False):
    """What is to be done on the way out of a part of the program: a variable to unbind, or a ``finally`` clause.

    For a loop, the operands of the `prim::release` that a way out must not miss are `released`; if there are handlers
    around, they find the view in `slot`.
    For a clause (there is a `result`), a way out leaves through `exit` with its number in `slot`, and the value of a
    ``return`` in `result`; `ways` then do what is left to do.
    """

    slot: str = ""
    result: str = ""
    released: Sequence[Value] = ()
    exit: Exit | None = None
    ways: dict[str, Callable[[str], None]] = made_by(factory=dict)


class Emission:
    """Where nodes go and what is known there."""

    def __init__(
        self,
        function: FunctionType,
        graph: Graph,
        *,
        inlines_generators: bool = False,
        kept_generators: tuple[object, ...] = (),
    ) -> None:
        self.function = function
        self.inlines_generators = inlines_generators
        self.kept_generators = kept_generators  # functions and trees of those that are not inlined
        self.graph = graph
        self.block = graph.block
        self.scope = Scope(None, {})
        # by the slots of the function's own variables: those of their cells
        self.cells: dict[str, str] = {}
        self.shared: set[str] = set()  # those of them that nested functions bind again
        self.bound: frozenset[str] = frozenset()
        self.likely: dict[str, object] = {}  # by slots: what imports and other names give
        self.loop: Exit | None = None
        self.region: Exit | None = None
        self.caller: SourceRange | None = None
        self.cleanups: list[Cleanup] = []
        self.attempts = 0  # bodies of Trys around
        self.views: list[str] = []  # slots of those whose loops are in the innermost of them
        self.handlers = 0  # handlers around
        self.inlining: tuple[tree.Def, ...] = ()
        # functions and trees of those that are being inlined
        self.generators: tuple[object, ...] = ()
        # of the code that is being emitted: one for each yield of generators around it
        self.copies = 1
        # what becomes of a value that is yielded
        self.consume: Callable[[Value], None] | None = None
        # what becomes of a StopIteration, if that is not an exception as any
        self.on_stop: Callable[[Value], None] | None = None
        self._count = 0
        self._nesting = 0  # blocks around

    # -- trees -------------------------------------------------------------------------------------

    def expression(self, expression: Tree) -> Value:
        """Emit an expression; give its value."""
        value = _EMITTERS[type(expression)](self, expression)
        assert isinstance(value, Value)
        return value

    def statements(self, statements: Sequence[Tree]) -> None:
        """Emit statements up to one that never falls through."""
        for statement in statements:
            if self.block.is_terminated:
                return
            _EMITTERS[type(statement)](self, statement)

    def unsupported(self, message: str, where: SourceRange) -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(message, where)

    # -- nodes -------------------------------------------------------------------------------------

    def place(self, where: SourceRange) -> SourceRange:
        """Give `where` with the calls that led there, if it is in an inlined function."""
        return where if self.caller is None else where.called_from(self.caller)

    def node(
        self,
        op: OpDef,
        inputs: Sequence[Value],
        where: SourceRange,
        attrs: Mapping[str, object] | None = None,
        *,
        outputs: int | Sequence[Type] | None = None,
    ) -> Node:
        """Append a node; what it gives is `Any` unless a bool, a constant or stated."""
        node = self.graph.create(op, inputs, attrs, outputs=outputs, range=self.place(where))
        if outputs is None and not op.is_constant:
            for value in node.outputs:
                value.type = value.type if value.type == BOOL else ANY
        if node.id > _MAX_NODES:
            message = "the function is too large with its nested ones inlined"
            raise self.unsupported(f"{message}; define some at module level", where)
        return self.block.append(node)

    def emit(self, op: str, *inputs: Value, where: SourceRange, **attrs: object) -> Value:
        """Append a node with one output; give that."""
        return self.node(get_op(op), inputs, where, attrs).output

    def effect(self, op: str, *inputs: Value, where: SourceRange, **attrs: object) -> None:
        """Append a node without outputs."""
        self.node(get_op(op), inputs, where, attrs)

    def constant(self, value: object, where: SourceRange) -> Value:
        return self.node(CONSTANT, (), where, {"value": value}).output

    def terminate(self, op: OpDef, inputs: Sequence[Value], where: SourceRange) -> Node:
        """End the block."""
        return self.node(op, inputs, where)

    # -- variables ---------------------------------------------------------------------------------

    def fresh_slot(self, name: str = "") -> str:
        """Make up a slot that no variable has."""
        self._count += 1
        return f"{name}@{self._count}"

    def find(self, name: str) -> tuple[Scope, str] | None:
        """Find the scope in which a name is local, and its slot; None: not a local of the function."""
        scope: Scope | None = self.scope
        while scope is not None:
            slot = scope.slots.get(name)
            if slot is not None:
                return scope, slot
            scope = scope.parent
        return None

    def is_free(self, name: str) -> bool:
        """Whether a name that is not local is one of a function around the whole function."""
        return name in self.function.__code__.co_freevars

    def is_own(self, scope: Scope) -> bool:
        """Whether a variable of `scope` belongs to the frame that runs the current code."""
        current: Scope | None = self.scope
        while current is not None and current is not scope and not current.has_frame:
            current = current.parent
        return current is scope

    def load(
        self, slot: str, where: SourceRange, *, free: bool = False, optional: bool = False
    ) -> Value:
        """Read a variable; `free` if it belongs to another frame, which matters if it is not bound.

        `optional`: one that is not bound is read as `prim::Uninitialized`.
        """
        attrs: dict[str, object] = {"name": slot}
        attrs |= {"free": True} if free else {}
        if slot in self.shared and not optional:
            return self.emit(
                "prim::load_cell", self.load(self.cells[slot], where), where=where, **attrs
            )
        attrs |= {"optional": True} if optional else {}
        return self.node(LOAD, (), where, attrs, outputs=1).output

    def store(self, slot: str, value: Value, where: SourceRange) -> None:
        self.node(STORE, (value,), where, {"name": slot})
        self.bound |= {slot}

    def store_name(self, name: str, value: Value, where: SourceRange) -> None:
        """Bind a variable of the user's."""
        found = self.find(name)
        if found is None:  # declared global or nonlocal
            op = "prim::store_closure" if self.is_free(name) else "prim::store_global"
            self.effect(op, value, where=where, name=name, scope=self.function)
            return
        scope, slot = found
        self.store(slot, value, where)
        if slot in self.cells:
            self._store_cell(slot, value, where)
        if name in scope.deleted:
            self.bound -= {slot}

    def make_cells(self, variables: Iterable[str], where: SourceRange) -> None:
        """Give variables of the function cells that nested functions share with it.

        It reads those that nested functions bind again there, too.
        """
        for variable in variables:
            self.shared |= {variable} & self.scope.rebound
            self.cells[variable] = self.fresh_slot()
            cell = self.emit("py::call", self.constant(CellType, where), where=where, kwnames=())
            self.store(self.cells[variable], cell, where)

    def _store_cell(self, slot: str, value: Value, where: SourceRange) -> None:
        cell = self.load(self.cells[slot], where)
        if value.made_by(UNINITIALIZED) is not None:
            self.effect("prim::clear_cell", cell, where=where)
        else:
            self.effect("prim::store_cell", cell, value, where=where)

    def refused(
        self, message: str, where: SourceRange, found: tuple[Scope, str] | None
    ) -> UnsupportedSyntaxError:
        """Give the error for a variable that cannot be translated as it is: with a cell it may be."""
        if found is None or found[1] not in found[0].slots or found[0].parent is not None:
            return self.unsupported(message, where)
        if found[1] in self.cells:
            return self.unsupported(message, where)
        return NeedsCellError(message, where, found[1])

    # -- control flow ------------------------------------------------------------------------------

    def branch(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]],
        where: SourceRange,
        *,
        outputs: Sequence[Type] = (),
    ) -> Sequence[Value]:
        """Append an If; the functions fill its blocks and give the values of its outputs.

        When neither block falls through, the current block ends too.
        """
        node = self.node(IF, (condition,), where, outputs=outputs)
        before, joined = self.bound, None
        for fill in (then, otherwise):
            self.bound = before
            with self.inside(node.add_block()):
                values = fill()
                if not self.block.is_terminated:
                    self.terminate(YIELD, values, where)
                    joined = self.bound if joined is None else joined & self.bound
        self.bound = before if joined is None else joined
        if joined is None:
            self.terminate(UNREACHABLE, (), where)
        return node.outputs

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Append to `block` meanwhile."""
        outer, self.block = self.block, block
        self._nesting += 1
        if self._nesting > _MAX_NESTING and block.owner is not None:
            message = "what is inside here is nested too deeply; split the function up"
            raise UnsupportedSyntaxError(message, block.owner.range)
        yield
        self._nesting -= 1
        self.block = outer

    @contextmanager
    def endless_loop(self, where: SourceRange) -> Iterator[tuple[Exit, Value]]:
        """Append a Loop that only a Break leaves, and fill its body meanwhile.

        Gives its Exit and the trip index. Behind it that is bound which every Break had bound.
        """
        limits = (self.constant(0, where), self.constant(ENDLESS, where))
        node = self.node(LOOP, limits, where)
        block = node.add_block([("", INT)])
        outer, self.loop = self.loop, Exit(node, len(self.cleanups))
        loop, before = self.loop, self.bound
        with self.inside(block):
            yield loop, block.params[0]
            if not self.block.is_terminated:
                self.terminate(YIELD, (), where)
        self.loop = outer
        self.bound = before if loop.bound is None else loop.bound
        if loop.bound is None:
            self.terminate(UNREACHABLE, (), where)

    def leave(self, target: Exit, where: SourceRange, *values: Value) -> None:
        """Append a Break."""
        self.terminate(BREAK, values, where).target = target.node
        target.leave(self.bound)

    def goes_through_cleanup(
        self,
        target: Exit | None,
        way: str,
        go_on: Callable[[str], None],
        where: SourceRange,
        value: Value | None = None,
    ) -> bool:
        """Do what is to be done on the way to `target` (None: out of the function).

        True: it ends in a ``finally`` clause, behind which `go_on` emits the rest, given the slot with `value`.
        """
        around = target.cleanups if target is not None else 0
        for cleanup in reversed(self.cleanups[around:]):
            if cleanup.released:
                self.release(cleanup, where)
                continue
            if cleanup.exit is None:
                self.unbind(cleanup.slot, where)
                continue
            cleanup.ways.setdefault(way, go_on)
            number = [*cleanup.ways].index(way) + 1
            self.store(cleanup.slot, self.constant(number, where), where)
            if value is not None:
                self.store(cleanup.result, value, where)
            self.leave(cleanup.exit, where)
            return True
        return False

    def release(self, cleanup: Cleanup, where: SourceRange) -> None:
        """Let go of what a loop runs over."""
        self.effect("prim::release", *cleanup.released, where=where)
        if cleanup.slot:
            self.unbind(cleanup.slot, where)

    def unbind(self, slot: str, where: SourceRange) -> None:
        nothing = self.node(UNINITIALIZED, (), where).output
        self.store(slot, nothing, where)
        if slot in self.cells:
            self._store_cell(slot, nothing, where)
        self.bound -= {slot}

    @contextmanager
    def left_by_break(self, where: SourceRange) -> Iterator[Exit]:
        """Append a Region without outputs, and fill its body meanwhile; Breaks may leave it before its end."""
        node = self.node(REGION, (), where)
        region, before = Exit(node, len(self.cleanups)), self.bound
        with self.inside(node.add_block()):
            yield region
            if not self.block.is_terminated:
                self.terminate(YIELD, (), where)
                region.leave(self.bound)
        self.bound = before if region.bound is None else region.bound
        if region.bound is None:
            self.terminate(UNREACHABLE, (), where)

    @contextmanager
    def new_scope(self, scope: Scope, caller: SourceRange | None) -> Iterator[None]:
        """Emit code of another scope meanwhile, called from `caller` (None: in the same frame).

        Each run starts with the scope's variables unbound, also when the code is in a loop.
        """
        outer_scope, outer_caller = self.scope, self.caller
        block, last = self.block, self.block.last
        self.scope = scope
        if caller is not None:
            self.caller = self.place(caller)
        yield
        self.scope, self.caller = outer_scope, outer_caller
        self.bound -= frozenset(scope.slots.values())
        for slot in scope.unsure:
            _unbind_at(block, last, slot)

    @contextmanager
    def inlined_region(self, where: SourceRange) -> Iterator[Node]:
        """Append a Region whose output is what the code emitted meanwhile returns."""
        node = self.node(REGION, (), where, outputs=1)
        outer = self.loop, self.region
        self.loop, self.region = None, Exit(node, len(self.cleanups))
        region, before = self.region, self.bound
        with self.inside(node.add_block()):
            yield node
            if not self.block.is_terminated:
                self.terminate(YIELD, (self.constant(None, where),), where)
                region.leave(self.bound)
        self.loop, self.region = outer
        self.bound = before if region.bound is None else region.bound


def _unbind_at(block: Block, last: Node | None, slot: str) -> None:
    """Unbind a variable behind the node `last` of the block (None: at its start)."""
    graph = block.graph
    unbound = graph.create(UNINITIALIZED)
    store = graph.create(STORE, (unbound.output,), {"name": slot})
    if last is not None:
        unbound.insert_after(last)
    elif block.first is not None:
        unbound.insert_before(block.first)
    else:
        block.append(unbound)
    store.range = unbound.range = last.range if last is not None else None
    store.insert_after(unbound)
