"""Where the specialiser writes to: the new graph, the place in it, its constants and assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ljit.analysis.alias import holds_array
from ljit.analysis.assumptions import Assumption, is_stable_constant
from ljit.ir import Block, Effect, Graph, Node, OpDef, Value, get_op
from ljit.ops.control import (
    ASSUME,
    BREAK,
    CONSTANT,
    CONTINUE,
    DEOPTIMIZE,
    GUARD,
    IF,
    REGION,
    RETURN,
    SNAPSHOT,
    TYPE_IS,
    UNREACHABLE,
    YIELD,
)
from ljit.ops.objects import WHOLE
from ljit.ops.python.types import class_of
from ljit.passes.containers.identities import (
    as_whole_object,
    asks_for_identities,
    is_identity_asked,
)
from ljit.passes.specializing.whole_tuples import as_whole
from ljit.types import ANY, INT, NEVER, UINT, ScalarType, Type, UnionType, join

__all__ = ["GraphWriter", "erase", "has_snapshot", "is_left"]


class GraphWriter:
    """A graph in the making. New nodes go to the end of `block`.

    `effects` collects the effects of new nodes since it was last cleared. `dirty` says that unknown code may have run:
    assumptions checked at the entry may not hold any more, so they are checked again where they are made.
    `catches`: the place is in the body of a Try; `handled` are the exceptions of the handlers around,
    inner ones last (`passes/specializing/specialize_handlers.py`).
    `keeps_apart`: whether ints and uints that meet at a baseline node, by its id, must stay a Union.
    `asks_for_identities`: whether the baseline graph asks which objects values are (`passes/containers/identities.py`).
    `narrowed` has the types that Unions are known to have at the place (`passes/specializing/narrowing.py`).
    """

    def __init__(
        self, baseline: Graph, keeps_apart: Callable[[int], bool] = lambda _: False
    ) -> None:
        self.graph = Graph(baseline.name)
        self.asks_for_identities = asks_for_identities(baseline)
        self.keeps_apart = keeps_apart
        self.block = self.graph.block
        self.assumptions: list[Assumption] = []
        self._assumed: set[tuple[int, str, int]] = set()  # what they are about
        self.effects = Effect.PURE
        self.dirty = False
        self.catches = False
        self.handled: tuple[Value, ...] = ()
        self.narrowed: dict[Value, Type] = {}
        self._constants: dict[tuple[int, bool], Value] = {}

    def append(
        self,
        op: OpDef,
        inputs: Sequence[Value] = (),
        attrs: Mapping[str, object] | None = None,
        *,
        like: Node | None = None,
        outputs: Sequence[Type] | None = None,
    ) -> Node:
        node = self.block.create(op, inputs, attrs, outputs=outputs, like=like)
        if not node.blocks:
            effect = op.effects_of(node)
            self.effects |= effect
            if effect & Effect.CALL:
                self.dirty = True
        return node

    def constant(self, value: object, *, boxed: bool = False) -> Value:
        """A constant, made once at the start of the graph."""
        key = (id(value), boxed)  # the node keeps the object alive
        if key not in self._constants:
            node = self.graph.create(CONSTANT, (), {"value": value})
            if boxed:
                node.output.type = ANY
            body = self.graph.block
            if body.first is not None:
                node.insert_before(body.first)
            else:
                body.append(node)
            self._constants[key] = node.output
        return self._constants[key]

    def snapshot(
        self, at: str, pairs: Iterable[tuple[str, Value]], effects: Effect = Effect.PURE
    ) -> None:
        """Put a Snapshot of named values here, instead of one that directly precedes.

        If `effects` (of what ran before) is unknown code, it may have changed shapes: check the arrays.
        """
        pairs = list(pairs)
        last = self.block.last
        if last is not None and last.op is SNAPSHOT:
            last.erase()
        names = tuple(key for key, _ in pairs)
        values = [value for _, value in pairs]
        attrs: dict[str, object] = {"at": at, "names": names}
        if self.catches:
            attrs["catches"] = True
        if self.handled:
            attrs["handles"] = len(self.handled)
        self.append(SNAPSHOT, (*values, *self.handled), attrs)
        arrays = [v for v in values if holds_array(v.type)] if effects & Effect.CALL else ()
        if arrays:
            self.append(get_op("prim::check_arrays"), arrays)

    def as_whole(self, type_: Type, old: Value) -> Type:
        """The type for a baseline value that native code knows as `type_`: any object, if it has to stay that."""
        return as_whole(type_, old, may_be_asked=self.asks_for_identities)

    def whole(self, value: Value, old: Value, like: Node) -> Value:
        """A value that is made; as an object, if the baseline value is asked which one it is."""
        if not self.asks_for_identities or value.is_constant:
            return value
        if not is_identity_asked(old, value.type):
            return value
        made, type_ = self.append(WHOLE, (value,), like=like), as_whole_object(value.type)
        if type_ != ANY:
            made = self.append(GUARD, made.outputs, {"type": type_}, like=like)
        return made.output

    def deoptimize(self, reason: str, like: Node) -> bool:
        """End the block here; gives False: control does not go on."""
        self.append(DEOPTIMIZE, (), {"reason": reason}, like=like)
        return False

    def in_branch(self, branch: Node, emit: Callable[[], list[Value] | None]) -> list[Value] | None:
        """Run `emit` with a new block of `branch` as the place for new nodes."""
        with self.inside(branch):
            results = emit()
            if results is not None:
                self.append(YIELD, results)
            return results

    @contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """Write to a new block of `node`."""
        outer, self.block = self.block, node.add_block()
        narrowed, self.narrowed = self.narrowed, dict(self.narrowed)
        try:
            yield
        finally:
            self.block, self.narrowed = outer, narrowed

    def when_all(
        self, wanted: Sequence[tuple[Value, Type]], emit: Callable[[], None], like: Node
    ) -> None:
        """Run `emit`, which leaves the block, if all Unions have the types; else go on here."""
        (union, type_), *rest = wanted
        test = self.append(TYPE_IS, (union,), {"type": type_}, like=like)
        branch = self.append(IF, (test.output,), like=like)
        with self.inside(branch):
            if rest:
                self.when_all(rest, emit, like)
                self.append(YIELD)
            else:
                emit()
        with self.inside(branch):
            self.append(YIELD)

    def merge(
        self, branch: Node, ends: Sequence[Sequence[Value] | None], node: Node
    ) -> list[Value] | None:
        """Give an If its outputs: the join of the values that its branches end with."""
        reached = [end for end in ends if end is not None]
        if not reached:
            self.append(UNREACHABLE, like=node)
            return None
        ways = [
            block.terminator
            for block, end in zip(branch.blocks, ends, strict=True)
            if end is not None
        ]
        for index, values in enumerate(zip(*reached, strict=True)):
            joined = self.joined([v.type for v in values], node)
            self.agree(ways, index, joined, node)
            branch.add_output(joined, values[0].name)
        return list(branch.outputs)

    def joined(self, types: Iterable[Type], like: Node) -> Type:
        """Give the least type that holds values of all; ints and uints are uints, as which `as_uint` gives ints."""
        found = dict.fromkeys(types)
        found.pop(NEVER, None)
        if found.keys() == {INT, UINT} and not self.keeps_apart(like.id):
            return UINT
        result: Type = NEVER
        for type_ in found:
            result = join(result, type_)
        return result

    def joined_each(self, a: Sequence[Type], b: Sequence[Type], like: Node) -> list[Type]:
        return [self.joined(pair, like) for pair in zip(a, b, strict=True)]

    def as_met(self, types: Sequence[Type], others: Sequence[Type], like: Node) -> list[Type]:
        """Give the types as which values are taken where they meet others: ints beside uints are uints."""
        pairs = zip(types, others, self.joined_each(types, others, like), strict=True)
        return [met if met == other == UINT else type_ for type_, other, met in pairs]

    def finish(self, made: Node, types_: Sequence[Type], like: Node) -> dict[Value, Value]:
        """Give a Loop or Region the outputs of the baseline node `like`; says which these are.

        `types_`: of all that gets there.
        """
        ends = [n for block in made.blocks for n in block.walk() if n.target is made]
        ends = [n for n in ends if n.op is BREAK]
        last = made.blocks[-1].terminator
        if last.op is YIELD and (made.op is REGION or len(made.blocks) > 1):
            ends.append(last)
        outputs = {}
        for index, (old, type_) in enumerate(zip(like.outputs, types_, strict=True)):
            joined = self.joined((end.inputs[index].type for end in ends), like)
            if join(joined, type_) == joined:  # else the end of the trips gives others as they are
                self.agree(ends, index, joined, like)
                type_ = joined
            outputs[old] = made.add_output(self.as_whole(type_, old), old.name)
        return outputs

    def agree(self, ends: Iterable[Node], index: int, type_: Type, like: Node) -> None:
        """Let terminators give ints as uints, if that is what they are to give."""
        for end in ends:
            value = end.inputs[index]
            if type_ == UINT and value.type == INT:
                made = end.create_before(get_op("wide::from_int"), (value,), like=like)
                end.set_input(index, made.output)

    def as_type(self, value: Value, type_: Type, like: Node) -> Value:
        """Give an int as a uint, if that is the type; a negative one leaves native code."""
        if type_ != UINT or value.type != INT:
            return value
        return self.append(get_op("wide::from_int"), (value,), like=like).output

    def assume(self, assumption: Assumption, node: Node) -> None:
        """Let the entry check the assumption; check it here too if unknown code has run since."""
        about = id(assumption.holder), assumption.key, id(assumption.value)
        if about not in self._assumed:
            self._assumed.add(about)
            self.assumptions.append(assumption)
        if self.dirty:
            self.append(ASSUME, (), {"assumption": assumption}, like=node)

    def constant_object(self, value: object) -> Value:
        """A constant that stands for an object; mutable ones stay boxed and are guarded when used."""
        return self.constant(value, boxed=not is_stable_constant(value))

    def narrow(self, value: Value, like: Node) -> Value:
        """Give a Union as the narrower type that it is known to have here."""
        type_ = self.narrowed.get(value, value.type)
        if type_ in (value.type, NEVER):
            return value
        return self.append(GUARD, (value,), {"type": type_}, like=like).output

    def as_number(self, value: Value, type_: Type, like: Node) -> Value:
        """Give a number, one of NumPy's or Python's own, as one of a class."""
        while is_classed(value):
            value = value.node.inputs[0]  # type: ignore[union-attr]  # such a value has one
        if value.type == type_:
            return value
        if value.is_constant:
            return self.constant(class_of(type_)(value.constant))  # type: ignore[misc]  # numbers have one
        return self.append(get_op("np::number"), (value,), {"type": type_}, like=like).output

    def classed(self, number: Value, unions: Iterable[Value], like: Node) -> Value:
        """Give one of Python's numbers the class of those it was computed of: NumPy's if one of them is."""
        is_plain = self.are_members([(v, _plain_member(v)) for v in dict.fromkeys(unions)], like)
        return self.append(get_op("np::classed"), (number, is_plain), like=like).output

    def are_members(self, pairs: Iterable[tuple[Value, Type]], like: Node) -> Value:
        """Whether each of the Unions, of which there is one, holds a value of the member beside it."""
        first, *others = dict.fromkeys(self._is_member(*pair, like) for pair in pairs)
        for test in others:
            first = self.append(get_op("py::and"), (first, test), like=like).output
        return first

    def as_member(self, union: Value, member: Type, like: Node) -> Value:
        """Give a Union as one of a member, where it is known to hold one."""
        if is_classed(union):
            return self.as_number(union, member, like)
        return self.append(GUARD, (union,), {"type": member}, like=like).output

    def _is_member(self, union: Value, member: Type, like: Node) -> Value:
        """Whether the Union holds a value of that member."""
        if is_classed(union) and member == _plain_member(union):
            return union.node.inputs[1]  # type: ignore[union-attr]  # such a value has one
        return self.append(TYPE_IS, (union,), {"type": member}, like=like).output

    def split_union(
        self, union: Value, emit: Callable[[Value], list[Value] | None], like: Node
    ) -> list[Value] | None:
        """Branch on the tag of a Union and run `emit` with the value as each member type."""
        assert isinstance(union.type, UnionType)
        return self._split(union, union.type.members, emit, like)

    def _split(
        self,
        union: Value,
        members: tuple[Type, ...],
        emit: Callable[[Value], list[Value] | None],
        like: Node,
    ) -> list[Value] | None:
        def as_member() -> list[Value] | None:
            return emit(self.as_member(union, members[0], like))

        if len(members) == 1:
            return as_member()
        test = self._is_member(union, members[0], like)
        branch = self.append(IF, (test,), like=like)
        ends = [
            self.in_branch(branch, as_member),
            self.in_branch(branch, lambda: self._split(union, members[1:], emit, like)),
        ]
        choice = self._choice(branch, ends)
        return [choice] if choice is not None else self.merge(branch, ends, like)

    def _choice(self, branch: Node, ends: Sequence[Sequence[Value] | None]) -> Value | None:
        """Give the condition of an If, or its opposite, in place of an If that gives True and False."""
        results = [end[0] for end in ends if end is not None and len(end) == 1]
        if len(results) != 2 or not all(v.is_constant for v in results):
            return None
        inside = [n for block in branch.blocks for n in block.walk()]
        if not all(n.op in (GUARD, YIELD) or n.effects.is_removable for n in inside):
            return None
        (test,), (first, second) = branch.inputs, (v.constant for v in results)
        if results[0] is not results[1] and (type(first), type(second)) != (bool, bool):
            return None
        for block in branch.blocks:
            block.clear()
        branch.erase()
        if results[0] is results[1]:
            return results[0]
        return test if first else self.append(get_op("py::not"), (test,)).output


def is_classed(value: Value) -> bool:
    """Whether it is one of Python's numbers in the class of others."""
    return value.made_by(get_op("np::classed")) is not None


def _plain_member(union: Value) -> Type:
    """Python's of two classes of numbers."""
    assert isinstance(union.type, UnionType)
    return next(t for t in union.type.members if not isinstance(t, ScalarType))


def has_snapshot(node: Node) -> bool:
    return any(n.op is SNAPSHOT for block in node.blocks for n in block.walk())


def is_left(node: Node) -> bool:
    """Whether any Break, or the Yield of the last block of a Region, leaves the node normally."""
    if any(n.target is node and n.op is BREAK for block in node.blocks for n in block.walk()):
        return True
    last = node.blocks[-1].last
    return node.op is REGION and last is not None and last.op is YIELD


def goes_on(block: Block) -> bool:
    """Whether control may get out of a block and stay in native code."""
    last = block.last
    is_left = last is None or last.op not in (DEOPTIMIZE, UNREACHABLE, RETURN)
    return is_left or any(n.op in (BREAK, CONTINUE) for n in block.walk())


def erase(node: Node) -> None:
    """Take back a node with all that is in it."""
    for block in node.blocks:
        block.clear()
    node.erase()
