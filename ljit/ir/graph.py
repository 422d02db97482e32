"""The SSA graph: Graph, Block, Node, Value.

Control flow is structured: `prim::If`, `prim::Loop` and `prim::Region` own blocks. Every block ends in
one terminator node; `prim::Yield` falls through to the owning node's outputs, the others
(`prim::Continue`, `prim::Break`, `prim::Return`, `prim::Unreachable`) leave the block for the enclosing
node that `node.target` names (None: the graph). So a `for` with `break` keeps its trip count and early
returns need no flags.

A value is visible in the rest of its block and in the blocks nested there. All mutation goes through
the methods here, which keep the use lists right and count `graph.version` up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

from ljit.ir.effects import Effect
from ljit.ir.opdef import OpDef
from ljit.source import SourceRange
from ljit.types import ANY, Type

__all__ = ["ENDLESS", "Block", "Graph", "Node", "Value"]

ENDLESS = 2**63 - 1  # the `stop` of a Loop that is left by Break alone


class Value:
    """One SSA value: an output of a node or a parameter of a block."""

    __slots__ = ("index", "name", "owner", "replacement", "type", "uses")

    def __init__(self, owner: Node | Block, index: int, type_: Type, name: str = "") -> None:
        self.owner = owner
        self.index = index
        self.type = type_
        self.name = name  # the user's variable name, or ""; printing makes it unique
        self.uses: dict[tuple[Node, int], None] = {}  # insertion ordered: (user, operand index)
        self.replacement: Value | None = None  # what all its users use in its place

    @property
    def node(self) -> Node | None:
        """The defining node, or None for a block parameter."""
        return self.owner if isinstance(self.owner, Node) else None

    @property
    def block(self) -> Block:
        """The block in which the value is defined."""
        if isinstance(self.owner, Block):
            return self.owner
        assert self.owner.block is not None
        return self.owner.block

    def made_by(self, op: OpDef) -> Node | None:
        """Give the node that gives the value, if it is one of that op."""
        owner = self.owner
        return owner if isinstance(owner, Node) and owner.op is op else None

    @property
    def is_constant(self) -> bool:
        """Whether the value is the output of a `prim::Constant`."""
        return isinstance(self.owner, Node) and self.owner.op.is_constant

    @property
    def constant(self) -> object:
        """The Python object of a constant value."""
        assert isinstance(self.owner, Node) and self.owner.op.is_constant
        return self.owner.attrs["value"]

    @property
    def is_endless(self) -> bool:
        """Whether it is the `stop` of a Loop that is left by Break alone."""
        return self.is_constant and self.constant == ENDLESS

    def is_inside(self, outer: Node) -> bool:
        """Whether the value is defined (at any depth) in the blocks of `outer`."""
        owner = self.block.owner
        return owner is not None and (owner is outer or owner.is_inside(outer))

    @property
    def key(self) -> str:
        """A name that stays the same in clones: ``n12.0`` (node, output), ``b12.0.1`` (node, block, parameter)
        or ``p0`` (parameter of the graph). Snapshots name baseline values by it.
        """
        if isinstance(self.owner, Node):
            return f"n{self.owner.id}.{self.index}"
        node = self.owner.owner
        if node is None:
            return f"p{self.index}"
        return f"b{node.id}.{node.blocks.index(self.owner)}.{self.index}"

    def replace_all_uses_with(self, other: Value) -> None:
        """Make every user of this value use `other`; the name hint moves along."""
        if other is self:
            return
        for user, index in list(self.uses):
            user.set_input(index, other)
        self.replacement = other
        if not other.name:
            other.name = self.name

    def __repr__(self) -> str:
        return f"<Value {self.name or '?'} : {self.type}>"


class Details(TypedDict, total=False):
    """What `Graph.create` may be told of a new node."""

    outputs: int | Sequence[Type] | None
    range: SourceRange | None
    like: Node | None


class Node:
    """One operation: an op, operands, attributes, blocks, results and a source range.

    `id` is unique in the graph and kept by `clone`, so that a node of a specialised graph can be
    traced to the baseline node that it came from. Nodes made by a rewrite take the `id` of the node
    they replace through `origin`.
    """

    __slots__ = (
        "attrs",
        "block",
        "blocks",
        "graph",
        "id",
        "inputs",
        "is_fast",
        "next",
        "op",
        "origin",
        "outputs",
        "prev",
        "proven",
        "range",
        "target",
    )

    def __init__(self, graph: Graph, op: OpDef) -> None:
        self.graph = graph
        self.op = op
        self.id = graph._take_id()
        self.origin = self.id
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.attrs: dict[str, object] = {}
        self.blocks: tuple[Block, ...] = ()
        self.range: SourceRange | None = None
        self.proven: tuple[str, ...] = ()  # checks of the lowering that cannot fail here
        self.is_fast = False  # floats are computed as `fastmath` allows, in a graph that does not
        self.target: Node | None = None  # of Continue, Break and Catch: the node they are about
        self.block: Block | None = None
        self.prev: Node | None = None
        self.next: Node | None = None

    # -- structure ---------------------------------------------------------------------------------

    @property
    def output(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    def add_block(self, params: Iterable[tuple[str, Type]] = ()) -> Block:
        """Append an empty block with parameters of the given names and types."""
        block = Block(self.graph, self)
        for name, type_ in params:
            block.add_param(name, type_)
        self.blocks = (*self.blocks, block)
        return block

    def add_output(self, type_: Type, name: str = "") -> Value:
        value = Value(self, len(self.outputs), type_, name)
        self.outputs.append(value)
        self.graph.version += 1
        return value

    def remove_output(self, index: int) -> None:
        """Remove an output without uses; the later ones move up."""
        assert not self.outputs[index].uses
        del self.outputs[index]
        for i, value in enumerate(self.outputs):
            value.index = i
        self.graph.version += 1

    def add_input(self, value: Value) -> None:
        value.uses[self, len(self.inputs)] = None
        self.inputs.append(value)
        self.graph.version += 1

    def add_inputs(self, values: Sequence[Value]) -> None:
        for index, value in enumerate(values, len(self.inputs)):
            value.uses[self, index] = None
        self.inputs += values
        self.graph.version += 1

    def set_input(self, index: int, value: Value) -> None:
        del self.inputs[index].uses[self, index]
        self.inputs[index] = value
        value.uses[self, index] = None
        self.graph.version += 1

    def remove_input(self, index: int) -> None:
        """Remove one operand; the later ones move up."""
        for i in range(index, len(self.inputs)):
            del self.inputs[i].uses[self, i]
        del self.inputs[index]
        for i in range(index, len(self.inputs)):
            self.inputs[i].uses[self, i] = None
        self.graph.version += 1

    def set_inputs(self, values: Sequence[Value]) -> None:
        for i, value in enumerate(self.inputs):
            del value.uses[self, i]
        self.inputs = []
        self.add_inputs(values)

    def erase(self) -> None:
        """Take the node out of its block and destroy it. Its outputs must be unused."""
        for out in self.outputs:
            assert not out.uses, f"{self.op.name} still has uses"
        for block in self.blocks:
            block.clear()
            block.params = []
        self.set_inputs(())
        self.unlink()
        self.outputs, self.blocks = [], ()  # which know the node: nothing else would free it

    def unlink(self) -> None:
        """Take the node out of its block, keeping its operands: insert it elsewhere."""
        block = self.block
        if block is None:
            return
        if self.prev is not None:
            self.prev.next = self.next
        else:
            block.first = self.next
        if self.next is not None:
            self.next.prev = self.prev
        else:
            block.last = self.prev
        self.block = self.prev = self.next = None
        self.graph.version += 1

    def insert_before(self, anchor: Node) -> Node:
        """Link this (unlinked) node in front of `anchor`."""
        block = anchor.block
        assert block is not None and self.block is None
        self.block, self.prev, self.next = block, anchor.prev, anchor
        if anchor.prev is not None:
            anchor.prev.next = self
        else:
            block.first = self
        anchor.prev = self
        self.graph.version += 1
        return self

    def create_before(
        self,
        op: OpDef,
        inputs: Sequence[Value] = (),
        attrs: Mapping[str, object] | None = None,
        **details: Unpack[Details],
    ) -> Node:
        """Make a node in front of this one, as `Graph.create` does."""
        return self.graph.create(op, inputs, attrs, **details).insert_before(self)

    def insert_after(self, anchor: Node) -> Node:
        """Link this (unlinked) node behind `anchor`."""
        if anchor.next is not None:
            return self.insert_before(anchor.next)
        assert anchor.block is not None
        return anchor.block.append(self)

    def move_before(self, anchor: Node) -> None:
        self.unlink()
        self.insert_before(anchor)

    def replace_with(self, values: Sequence[Value]) -> None:
        """Replace each output by the value of the same position and erase the node."""
        for old, new in zip(self.outputs, values, strict=True):
            old.replace_all_uses_with(new)
        self.erase()

    # -- facts -------------------------------------------------------------------------------------

    @property
    def effects(self) -> Effect:
        """What the op may do given the operand types; of nodes with blocks, the union over them."""
        effect = self.op.effects_of(self)
        for block in self.blocks:
            for node in block.walk():
                effect |= node.op.effects_of(node)
        return effect

    def walk(self) -> Iterator[Node]:
        """Iterate over this node and all nodes in its blocks, at any depth, in textual order."""
        yield self
        for block in self.blocks:
            yield from block.walk()

    def blocks_around(self) -> Iterator[Block]:
        """Iterate over the blocks that the node lies in, from the inside to the outside."""
        block = self.block
        while block is not None:
            yield block
            block = block.owner.block if block.owner is not None else None

    def owners(self) -> Iterator[Node]:
        """Iterate over the nodes that the node lies in, from the inside to the outside."""
        return (block.owner for block in self.blocks_around() if block.owner is not None)

    def is_before(self, other: Node) -> bool:
        """Whether this node stands in front of `other` in the same block."""
        following = self.next
        while following is not None and following is not other:
            following = following.next
        return following is not None

    def is_inside(self, outer: Node | Block) -> bool:
        """Whether this node lies (at any depth) in `outer`."""
        return any(block is outer or block.owner is outer for block in self.blocks_around())

    def __repr__(self) -> str:
        return f"<Node {self.id} {self.op.name}>"


class Block:
    """A list of nodes with parameters, ended by a terminator. `owner` is None for the graph's body."""

    __slots__ = ("first", "graph", "last", "owner", "params")

    def __init__(self, graph: Graph, owner: Node | None) -> None:
        self.graph = graph
        self.owner = owner
        self.params: list[Value] = []
        self.first: Node | None = None
        self.last: Node | None = None

    def __iter__(self) -> Iterator[Node]:
        """Iterate over the nodes, terminator included; the current node may be erased."""
        node = self.first
        while node is not None:
            following = node.next
            yield node
            node = following

    def __reversed__(self) -> Iterator[Node]:
        node = self.last
        while node is not None:
            before = node.prev
            yield node
            node = before

    @property
    def terminator(self) -> Node:
        assert self.last is not None and self.last.op.is_terminator, "block has no terminator"
        return self.last

    @property
    def is_terminated(self) -> bool:
        return self.last is not None and self.last.op.is_terminator

    def add_param(self, name: str = "", type_: Type = ANY) -> Value:
        value = Value(self, len(self.params), type_, name)
        self.params.append(value)
        self.graph.version += 1
        return value

    def remove_param(self, index: int) -> None:
        """Remove a parameter without uses; the later ones move up."""
        assert not self.params[index].uses
        del self.params[index]
        for i, value in enumerate(self.params):
            value.index = i
        self.graph.version += 1

    def append(self, node: Node) -> Node:
        """Link an (unlinked) node at the end."""
        assert node.block is None
        node.block, node.prev, node.next = self, self.last, None
        if self.last is not None:
            self.last.next = node
        else:
            self.first = node
        self.last = node
        self.graph.version += 1
        return node

    def create(
        self,
        op: OpDef,
        inputs: Sequence[Value] = (),
        attrs: Mapping[str, object] | None = None,
        **details: Unpack[Details],
    ) -> Node:
        """Make a node at the end, as `Graph.create` does."""
        return self.append(self.graph.create(op, inputs, attrs, **details))

    def clear(self) -> None:
        """Erase all nodes, last first."""
        for node in reversed(self):
            for out in node.outputs:
                out.uses.clear()
            node.erase()

    def walk(self) -> Iterator[Node]:
        """Iterate over all nodes at any depth, each before the nodes of its blocks; the current one may be erased."""
        pending: list[Node | Block] = [self]  # where to go on behind the blocks of a node
        while pending:
            item = pending.pop()
            node = item.first if isinstance(item, Block) else item
            while node is not None:
                following = node.next
                yield node
                if node.blocks:
                    pending += [] if following is None else [following]
                    pending += reversed(node.blocks)
                    break
                node = following


class Graph:
    """A function in SSA form.

    `block` is its body: the parameters are the function's, the terminator is a `prim::Return`.
    `name` is the function's name as printed, `next_id` the `id` of the next node that is made. `variables` says what
    the function's own variables are at the header of a Loop, as far as they are needed there.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.version = 0
        self.next_id = 0
        self.variables: dict[Node, dict[str, Value]] = {}
        self.block = Block(self, None)

    def _take_id(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    @property
    def params(self) -> list[Value]:
        return self.block.params

    def walk(self) -> Iterator[Node]:
        """Iterate over all nodes at any depth in textual order."""
        return self.block.walk()

    def create(
        self,
        op: OpDef,
        inputs: Sequence[Value] = (),
        attrs: Mapping[str, object] | None = None,
        *,
        outputs: int | Sequence[Type] | None = None,
        range: SourceRange | None = None,
        like: Node | None = None,
    ) -> Node:
        """Make an unlinked node; output types come from the op's `infer` unless given.

        `like` gives source range, origin and `is_fast` of the node that the new one stands for.
        """
        node = Node(self, op)
        if attrs:
            node.attrs.update(attrs)
        node.add_inputs(inputs)
        node.range = range
        if like is not None:
            node.range = range or like.range
            node.origin = like.origin
            node.is_fast = like.is_fast
        if outputs is None:
            outputs = op.result_types(node)
        elif isinstance(outputs, int):
            outputs = (ANY,) * outputs
        node.outputs += [Value(node, index, type_) for index, type_ in enumerate(outputs)]
        return node

    def __str__(self) -> str:
        from ljit.ir.printer import print_graph  # printer needs the classes of this module

        return print_graph(self)
