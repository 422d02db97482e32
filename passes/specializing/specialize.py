"""Clone the baseline graph for concrete types: the step from generic Python to native code.

The walk visits the baseline graph in program order and writes a new graph, in which

- each value has the type that follows from the types of the parameters (`OpDef.infer`); where inference
  does not know, the observed type from the profile stands behind a `prim::guard`;
- calls, methods, attributes and operators are the ops that they stand for (`passes/specializing/resolve.py`);
- global and closure variables that do not change are constants, listed in `assumptions` for the entry to check;
- branches on known conditions are gone, loops have the carried types of a fixpoint;
- operands of Union type are split into branches on the tag;
- a `prim::Snapshot` stands at the entry, behind each effect that must not be repeated, at the start of each
  loop trip and behind each loop: a failing guard goes back to the last one.
Where no type was ever seen (code that did not run) and where an op always raises, the block ends in `prim::Deoptimize`.
Cost: linear in the graph times the height of the type lattice for loops.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ljit.analysis.assumptions import Assumption, is_stable_constant
from ljit.analysis.liveness import Liveness
from ljit.analysis.signatures import native_result
from ljit.ir import UNKNOWN, Block, Effect, Graph, Node, OpDef, Value, get_op
from ljit.ir.trials import with_known_sizes
from ljit.ops.arrays.float_settings import is_under_settings
from ljit.ops.containers.tuples import TUPLE_CONSTRUCT
from ljit.ops.control import (
    CONSTANT,
    GUARD,
    LOOP,
    NOT_RUN,
    PROFILE,
    RAISES,
    UNCOUNTED_TRIPS,
    UNINITIALIZED,
    YIELD,
)
from ljit.ops.members import NO_ATTRIBUTES
from ljit.passes.folding import fold
from ljit.passes.observations import guarded_type, is_precise
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.iterations import Iterations
from ljit.passes.specializing.native_calls import MAX_WALKS, LinkTo, NativeCalls, no_link, result_of
from ljit.passes.specializing.requests import Request
from ljit.passes.specializing.resolve import resolve
from ljit.passes.specializing.seen_items import Failures, is_loose, seen_items, widen_range
from ljit.passes.specializing.specialize_calls import Calls
from ljit.passes.specializing.specialize_control import ControlFlow
from ljit.passes.specializing.specialize_handlers import is_in_try
from ljit.passes.specializing.specialize_names import Changes, Names
from ljit.passes.specializing.union_operands import (
    first_union,
    keeps_unions,
    number_type,
    numpys_type,
    plain_type,
    with_member,
)
from ljit.passes.specializing.wide_forms import WideFailures, WideForms
from ljit.records import Record, made_by
from ljit.types import ANY, INT, NEVER, UINT, ArrayType, ListType, ScalarType, Type, UnionType, join

__all__ = ["Feedback", "Given", "Specialization", "specialize", "specialize_loop"]


class Feedback(Failures, Changes, WideFailures, Protocol):
    """What earlier runs have shown about baseline nodes, by node id."""


class Given(Record):
    """What is specialised, and what is known of it whatever the types are."""

    baseline: Graph
    liveness: Liveness
    feedback: Feedback
    link_to: LinkTo = no_link


class Specialization(Record, frozen=False):
    """A specialised graph and what must hold at its entry."""

    graph: Graph
    assumptions: list[Assumption] = made_by(factory=list)
    result: Type = ANY  # as which native code gives the result to native callers
    lacks_profiles: bool = False  # nobody looked at the results of operators that are such methods
    is_under_settings: bool = False  # of NumPy's; passes may use its integers for Python's own


def specialize(
    given: Given, param_types: Sequence[Type], function: types.FunctionType | None
) -> Specialization:
    """Specialise a whole function for parameters of the given types; `function`: which one it is."""
    calls = NativeCalls(function, param_types, given.link_to)
    for _ in range(MAX_WALKS):
        made = _specialize(given, param_types, calls)
        if calls.are_right(made.graph):
            return made
    calls.give_up()
    return _specialize(given, param_types, calls)


def _specialize(given: Given, param_types: Sequence[Type], calls: NativeCalls) -> Specialization:
    walk, body = _Specializer(given, calls), given.baseline.block
    for param, type_ in zip(body.params, param_types, strict=True):
        walk.values[param] = walk.out.graph.block.add_param(param.name, type_)
    first = body.first
    assert first is not None
    walk.snapshot(f"before:{first.id}", walk.liveness.live_before(first))
    walk.visit_block(body)
    out = walk.end()
    result = calls.result if calls.is_used else native_result(result_of(out.graph))
    if result is None or result == NEVER:
        result = ANY
    return Specialization(
        out.graph,
        out.assumptions,
        result,
        calls.lacks_profiles,
        is_under_settings(out.graph.walk()),
    )


def specialize_loop(
    given: Given, loop: Node, live: Sequence[Value], live_types: Sequence[Type]
) -> Specialization:
    """Specialise one loop of the baseline graph, entered at its header.

    The parameters of the new graph are the baseline values `live` at the header (trip index and
    carried values among them, constants not). The graph leaves by `prim::Deoptimize` at the places
    behind the loop where the interpreter goes on.
    """
    calls = NativeCalls(None, (), given.link_to)
    walk = _Specializer(given, calls, outlined=loop)
    for value, type_ in zip(live, live_types, strict=True):
        walk.values[value] = walk.out.graph.block.add_param(value.name, type_)
    for node in given.baseline.walk():
        if node.op is CONSTANT:
            walk.visit_constant(node)
        elif node.op is UNINITIALIZED:
            walk.visit(node)
    header = loop.blocks[0].params
    walk.out.catches = is_in_try(loop)
    walk.snapshot(f"header:{loop.id}", live)
    entry = [walk.values[param] for param in header]
    if walk.control.loops.visit_loop(loop, entry[0], entry[1:]):
        walk.leave(loop)
    out = walk.end()
    return Specialization(
        out.graph,
        out.assumptions,
        lacks_profiles=calls.lacks_profiles,
        is_under_settings=is_under_settings(out.graph.walk()),
    )


def _results(made: Node) -> list[Value]:
    """Give what the node computes; an operator that writes into an array gives that very array."""
    is_in_place = made.op.elementwise and made.op.schema.written and made.outputs
    if is_in_place and isinstance(made.inputs[0].type, ArrayType):
        return [made.inputs[0]]
    return list(made.outputs)


def _is_place(value: Value) -> bool:
    is_signed = isinstance(value.type, ScalarType) and value.type.dtype.kind == "i"
    return value.type == INT or is_signed


class _Constants:
    """The specialiser as `resolve` sees it, at one node."""

    def __init__(self, walk: _Specializer, node: Node) -> None:
        self.walk = walk
        self.node = node

    def constant(self, value: object) -> Value:
        return self.walk.out.constant(value)

    def is_widened(self) -> bool:
        return self.walk.feedback.is_widened(self.node.id)

    def module_attribute(self, module: types.ModuleType, name: str) -> Value | None:
        return self.walk.names.module_attribute(module, name, self.node)

    def items_of(self, value: Value) -> Value | None:
        made = self._just_made(value, "prim::ListConstruct")
        return self._tuple_of(made) if made is not None and not value.uses else None

    def places_of(self, index: Value) -> Value | None:
        made = self._just_made(index, TUPLE_CONSTRUCT.name)
        if made is None:
            return self.array_of(index, _is_place) if not index.uses else None
        items = [
            self.array_of(item, _is_place) if len(item.uses) == 1 else None for item in made.inputs
        ]
        if index.uses or not any(items):
            return None
        pairs = zip(items, made.inputs, strict=True)
        parts = [array or item for array, item in pairs]
        return self.walk.out.append(TUPLE_CONSTRUCT, parts, like=made).output

    def array_of(self, value: Value, accepts: Callable[[Value], bool]) -> Value | None:
        made = self._just_made(value, "prim::ListConstruct")
        if made is None or not made.inputs or not all(map(accepts, made.inputs)):
            return None
        items = self._tuple_of(made)
        return self.walk.out.append(get_op("np::array"), [items], like=made).output

    def _just_made(self, value: Value, op: str) -> Node | None:
        made = value.made_by(get_op(op))
        return made if made is not None and made.block is self.walk.out.block else None

    def _tuple_of(self, made: Node) -> Value:
        """Also of the lists that are items."""
        items = []
        for item in made.inputs:
            inner = self._just_made(item, made.op.name) if len(item.uses) == 1 else None
            items.append(self._tuple_of(inner) if inner is not None else item)
        return self.walk.out.append(TUPLE_CONSTRUCT, items, like=made).output

    def assume(self, assumption: Assumption) -> bool:
        if self.walk.feedback.is_unstable(assumption.key):
            return False
        self.walk.out.assume(assumption, self.node)
        return True

    def check_no_attributes(self, value: Value, names: tuple[str, ...]) -> None:
        self.walk.out.append(NO_ATTRIBUTES, (value,), {"names": names}, like=self.node)


def _is_mere_count(value: Value) -> bool:
    """Whether the value is the index of trips of a loop that is left by Break alone, and nothing reads it."""
    block = value.owner
    if not isinstance(block, Block) or value.index or value.uses or block.owner is None:
        return False
    return block.owner.op is LOOP and block.owner.inputs[1].is_endless


def _is_int(value: Value) -> bool:
    """Whether it is an int, if only as an object that is seldom made."""
    is_product = value.node is not None and value.node.op.in_products == "product"
    return is_product or value.type in (INT, UINT)


class _Specializer:
    """The state of one walk. `block` is where new nodes go; `values` maps baseline values to new ones."""

    def __init__(self, given: Given, calls: NativeCalls, outlined: Node | None = None) -> None:
        self.out = GraphWriter(given.baseline, given.feedback.was_no_uint)
        self.calls = Calls(self, calls)
        self.feedback = given.feedback
        self.liveness = given.liveness
        self.values: dict[Value, Value] = {}
        self.outlined = outlined
        self.iterations = Iterations(self, self.calls.named)
        self.names = Names(self, given.baseline)
        self.wide = WideForms(self.out, self.feedback)
        self.control = ControlFlow(self)
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            CONSTANT: self.visit_constant,
            PROFILE: self.visit_profile,
            get_op("prim::ListConstruct"): self.visit_list,
            **self.iterations.handlers,
            **self.calls.handlers,
            **self.names.handlers,
            **self.control.handlers,
        }

    def end(self) -> GraphWriter:
        """Give what was written. The walk and its parts know one another: nothing else would free them."""
        out = self.out
        for part in (self.calls, self.iterations, self.names, self.control, self):
            vars(part).clear()
        return out

    def snapshot(self, at: str, live: Iterable[Value], effects: Effect = Effect.PURE) -> None:
        """Put a Snapshot of baseline values here."""
        self.out.snapshot(at, [(v.key, self.saved(v)) for v in live if not v.is_constant], effects)

    def saved(self, value: Value) -> Value:
        return self.out.constant(UNCOUNTED_TRIPS) if _is_mere_count(value) else self.values[value]

    def leave(self, loop: Node) -> None:
        """End an outlined loop that has run to its end."""
        self.snapshot(f"after:{loop.id}", self.liveness.live_after(loop))
        self.out.deoptimize("loop done", loop)

    # -- straight-line nodes -----------------------------------------------------------------------

    def visit_block(self, block: Block) -> bool:
        """Walk a block; False if control does not reach its end by a Yield."""
        for node in block:
            if not self.visit(node):
                return node.op is YIELD
        return True

    def visit(self, node: Node) -> bool:
        """Walk one node; False if control does not go on behind it."""
        handler = self.handlers.get(node.op)
        if handler is None:
            handler = self.calls.visit_operator if node.op.special else self.visit_operation
        return handler(node)

    def visit_operation(self, node: Node) -> bool:
        self.out.effects = Effect.PURE
        operands = tuple(self.out.narrow(self.values[v], node) for v in node.inputs)
        results = self.apply(Request(node.op, operands, node.attrs), node)
        if results is not None:
            self.finish(node, results)
        return results is not None

    def visit_list(self, node: Node) -> bool:
        """A list: what it holds later was seen, too."""
        items = [self.values[v] for v in node.inputs]
        item = seen_items(node.output, self.feedback, [v.type for v in items])
        if item == NEVER or (item == UINT and self.feedback.was_no_uint(node.origin)):
            return self.visit_operation(node)
        self.out.effects = Effect.PURE
        self.finish(node, self.out.append(node.op, items, {"item": item}, like=node).outputs)
        return True

    def finish(self, node: Node, results: Sequence[Value]) -> None:
        """Note what a baseline node became; a Snapshot if it must not run twice."""
        for old, new in zip(node.outputs, results, strict=True):
            self.values[old] = new
            new.name = new.name or old.name
            if isinstance(new.type, ListType):
                widen_range(old, new, self.feedback)
        effects = self.out.effects
        are_ints = bool(results) and all(map(_is_int, results))
        may_warn = self.feedback.is_widened(node.id) and not are_ints
        if may_warn or not effects.is_repeatable:
            self.snapshot(f"after:{node.id}", self.liveness.live_after(node), effects)
        for old, new in zip(node.outputs, results, strict=True):
            self.values[old] = self.out.whole(new, old, node)

    def resolved(self, request: Request, node: Node) -> Request:
        """Give the op that an operation stands for, with its operands."""
        return resolve(request, _Constants(self, node))

    def apply(self, request: Request, node: Node) -> list[Value] | None:
        """Emit one operation for the operand types at hand; None if it never comes to an end."""
        known = self.resolved(request, node)
        union = first_union(known.op, request.inputs)
        if union is not None and not keeps_unions(known.op, known.inputs):
            return self.apply_to_members(request, known, union, node)
        given, request = request.inputs, self.wide.form(known, node)
        types_ = self.result_types(request, node)
        if NEVER in types_:
            self.out.deoptimize(RAISES, node)
            return None
        folded = self.fold(request, types_)
        if folded is not None:
            return [folded]

        def append() -> Node:
            op, inputs, attrs = request.op, request.inputs, request.attrs
            return self.out.append(op, inputs, attrs, like=node, outputs=types_)

        if not set(given).issuperset(request.inputs):
            return _results(append())  # what it raises may speak of another object
        return _results(self.control.trys.tried(node, append))

    def result_types(self, request: Request, node: Node) -> tuple[Type, ...]:
        if request.op.infer is None:
            return (ANY,) * len(node.outputs)
        known = request.op.infer_types([v.type for v in request.inputs], request.attrs)
        if known == (UINT,):  # where that failed before, the operands are objects
            return known
        if not known or not is_loose(node, known[0], self.feedback):
            if len(known) == 1 and request.op.symbolic:
                return (with_known_sizes(request.op, request.inputs, request.attrs, known[0]),)
            return known
        loose = request.op.types_of_any_items([v.type for v in request.inputs], request.attrs)
        if loose is not None:
            return loose[1]
        loosest = request.op.infer_types([ANY] * len(request.inputs), request.attrs)
        # of another object, the view is another one
        return tuple(x if join(x, y) == x else ANY for x, y in zip(loosest, known, strict=True))

    def fold(self, request: Request, types_: tuple[Type, ...]) -> Value | None:
        """Give the result as a constant if it is known now."""
        if len(types_) != 1:
            return None
        known = [v.constant if v.is_constant else UNKNOWN for v in request.inputs]
        given = [v.type for v in request.inputs]
        result = fold(request.op, given, known, request.attrs, types_[0])
        return self.out.constant(result) if result is not UNKNOWN else None

    def apply_to_members(
        self, request: Request, known: Request, union: Value, node: Node
    ) -> list[Value] | None:
        """Emit the operation for each member of a Union operand, or for all as one type of numbers."""
        op = known.op

        def emit(narrow: Value) -> list[Value] | None:
            inputs = with_member(self.out, op, request.inputs, union, narrow)
            return self.apply(Request(request.op, inputs, request.attrs), node)

        number = number_type(op, known.inputs, union)
        if number is not None:
            return emit(self.out.as_number(union, number, node))
        plain = plain_type(op, known.inputs)
        if plain is None or self.feedback.is_widened(node.id):
            return self.out.split_union(union, emit, node)
        return self.apply_to_numbers(known, plain, node)

    def apply_to_numbers(self, request: Request, plain: Type, node: Node) -> list[Value] | None:
        """Emit an operation on numbers that are Python's or NumPy's once for both."""
        of_numpy = numpys_type(plain)
        is_plain = all(v.type != of_numpy for v in request.inputs)
        taken = plain if is_plain else of_numpy
        unions = [v for v in request.inputs if isinstance(v.type, UnionType)]
        inputs = [self.out.as_number(v, taken, node) if v in unions else v for v in request.inputs]
        results = self.apply(Request(request.op, tuple(inputs), request.attrs), node)
        if results is None or not is_plain or request.op.numpy is None:
            return results
        return [self.out.classed(result, unions, node) for result in results]

    # -- constants, profiles --------------------------------------------------------------

    def visit_constant(self, node: Node) -> bool:
        self.values[node.output] = self.out.constant(node.attrs["value"])
        return True

    def visit_profile(self, node: Node) -> bool:
        """Trust inference; where it does not know, guard what was observed."""
        value = self.out.narrow(self.values[node.inputs[0]], node)
        seen = self.feedback.observed(node.id)
        is_known = value.is_constant and is_stable_constant(value.constant)
        if seen is None and not is_known and not is_precise(value.type):
            return self.out.deoptimize(NOT_RUN, node)
        has_failed = self.feedback.is_widened(node.id)
        type_ = None if is_known else guarded_type(value, seen, has_failed=has_failed)
        if type_ is not None and self.out.as_whole(type_, node.output) != ANY:
            value = self.out.append(GUARD, (value,), {"type": type_}, like=node).output
        self.values[node.output] = value
        return True
