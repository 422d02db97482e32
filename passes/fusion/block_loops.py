"""Write the loop over blocks of elements or rows that `fuse_rows` has planned: scans go on from block to block.

    c = np.cumsum(x * y)        for k in range(blocks):
    r = np.sqrt(c)                  part = slice(k * BLOCK, (k + 1) * BLOCK)
                                    t = x[part] * y[part]; c = scan(t, before); before = c[-1]
                                    r[part] = np.sqrt(c)

A block is of several rows if these are short; scans of rows are as they were. What a reduction makes of a block is
kept in an array, and the reduction of these is the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce

from ljit.ir import Block, Node, OpDef, Value, get_op
from ljit.ops.arrays.boxed import scanned_axis
from ljit.ops.control import LOOP, YIELD
from ljit.ops.indexing.index import FROM_START, INSIDE
from ljit.passes.loops.loop_fronts import LoopFront, Rows
from ljit.passes.rewriting import insert_constant
from ljit.types import INT, ArrayType, ScalarType, Type

__all__ = ["build_blocks"]

BLOCK = 2048  # elements: some arrays of them fit into the cache next to the processor


def build_blocks(rows: Rows, targets: set[Value]) -> Block:
    """Put the loop in the place of the last node; gives its body."""
    return _Builder(rows, targets).run()


class _Builder:
    def __init__(self, rows: Rows, targets: set[Value]) -> None:
        self.rows = rows
        self.front = LoopFront(rows, targets)
        self.graph = self.front.graph
        self.scans = [n for n in rows.nodes if n.op.scan is not None and not scanned_axis(n)]
        self.blocks_of: dict[Value, Value] = {}

    def run(self) -> Block:
        front = self.front
        sizes = front.open()
        step, count = self._blocks(sizes)
        totals = [v for v in front.wanted() if isinstance(v.type, ScalarType)]
        made = {v: front.target(v, sizes) for v in front.wanted() if v not in totals}
        parts = {v: self._array_of_parts(v, count) for v in totals}
        carried = [_element(node.output.type) for node in self.scans]
        operands = [front.constant(0), count, *map(self._start, self.scans)]
        loop = self.graph.create(LOOP, operands, outputs=carried, like=front.first)
        front.place = loop.insert_before(front.place)
        body = loop.add_block([("", INT), *(("", t) for t in carried)])
        self._fill(body, step, made, parts)
        behind = {v: self._total(v, array) for v, array in parts.items()}
        front.replace({**made, **behind})
        return body

    def _blocks(self, sizes: Sequence[Value]) -> tuple[Value, Value]:
        """How many rows a block has, and how many blocks there are."""
        one, step = self.front.constant(1), self.front.constant(BLOCK)
        if len(sizes) > 1:
            length = reduce(partial(self._int, "py::mul"), sizes[1:])
            some = self._int("py::floordiv", step, self._int("py::max", one, length))
            step = self._int("py::max", one, some)
        last = self._int("py::sub", sizes[0], one)  # there are some
        return step, self._int("py::add", self._int("py::floordiv", last, step), one)

    def _int(self, op: str, x: Value, y: Value) -> Value:
        return self.front.add(get_op(op), [x, y]).output

    def _array_of_parts(self, total: Value, count: Value) -> Value:
        assert isinstance(total.type, ScalarType)
        type_ = ArrayType(total.type.dtype, (None,))
        return self.front.add(get_op("prim::new_array"), [count], type=type_).output

    def _total(self, value: Value, parts: Value) -> Value:
        """The reduction of what it made of the blocks, behind the loop."""
        node = value.node
        assert node is not None
        new = self.graph.create(node.op, [parts], node.attrs, like=node)
        return new.insert_before(self.front.last).output

    def _start(self, node: Node) -> Value:
        assert node.op.scan is not None
        element = _element(node.output.type)
        return insert_constant(node.op.scan.start(element.dtype), self.front.place, element)

    # -- the body ----------------------------------------------------------------------------------

    def _fill(
        self, body: Block, step: Value, made: Mapping[Value, Value], parts: Mapping[Value, Value]
    ) -> None:
        k, *before = body.params
        index = self._index(body, k, step)
        following = list[Value]()
        last = insert_constant(-1, self.front.place)
        for node in self.rows.nodes:
            operands = [self._block(body, v, index) for v in node.inputs]
            if node not in self.scans:
                result = self._append(body, node.op, operands, node, node.attrs).output
            else:
                assert node.op.scan is not None
                operands = [operands[-1], before[len(following)]]
                by = {"by": node.op.scan.combine}
                result = self._append(body, get_op("np::scan"), operands, node, by).output
                end = self._append(body, get_op("np::getitem"), [result, last], node)
                end.proven = (f"{INSIDE}.0",)
                following.append(end.output)
            result.name = node.output.name
            self.blocks_of[node.output] = result
        store = get_op("np::setitem")
        for value, array in made.items():
            self._append(body, store, [array, index, self.blocks_of[value]], value.node)
        for value, array in parts.items():
            part = self._append(body, store, [array, k, self.blocks_of[value]], value.node)
            part.proven = (f"{FROM_START}.0", f"{INSIDE}.0")
        body.create(YIELD, following)

    def _index(self, body: Block, k: Value, step: Value) -> Value:
        like, none = self.front.first, self.front.constant(None)
        first = self._append(body, get_op("py::mul"), [k, step], like).output
        stop = self._append(body, get_op("py::add"), [first, step], like).output
        return self._append(body, get_op("prim::SliceConstruct"), [first, stop, none], like).output

    def _block(self, body: Block, value: Value, index: Value) -> Value:
        """The block of an operand; what has no elements along the axis is the same for all."""
        if value not in self.blocks_of and self.rows.inputs.get(value, ())[:1] == (0,):
            view = self._append(body, get_op("np::getitem"), [value, index], self.front.first)
            self.blocks_of[value] = view.output
        return self.blocks_of.get(value, value)

    def _append(
        self,
        body: Block,
        op: OpDef,
        inputs: Sequence[Value],
        like: Node | None,
        attrs: Mapping[str, object] | None = None,
    ) -> Node:
        return body.create(op, inputs, attrs or {}, like=like)


def _element(type_: Type) -> ScalarType:
    assert isinstance(type_, ArrayType)
    return ScalarType(type_.dtype)
