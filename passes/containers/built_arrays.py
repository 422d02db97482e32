"""Do away with small arrays that nobody else sees: their elements become values of their own.

Contract: a `prim::Build` goes away if all its uses are

- reads and writes of single elements (`np::element`, `np::put_element`);
- Snapshots: there the array is made of the elements it has at that time, in the exits only;
- carried values and outputs of loops and branches, which carry the elements instead, if the array is never written to
  and no two of them are the same array at one time;
- at the end of the function: whatever stands in a block that ends in Return. There a new array is made, once.

Elements that are written to become variables, and `convert_to_ssa` does the rest. A parameter of the function that is
carried along (``state``, until the first trip is done) keeps being the same object: `prim::Build[kept]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.control import (
    BREAK,
    BUILD,
    CALL_NATIVE,
    CONTINUE,
    IF,
    LOAD,
    LOOP,
    REGION,
    SNAPSHOT,
    STORE,
    TRY,
    YIELD,
)
from ljit.passes.containers.carried_arrays import expand_carried_arrays
from ljit.passes.containers.last_blocks import end_around, find_ends
from ljit.passes.convert_to_ssa import convert_to_ssa
from ljit.records import Record, made_by
from ljit.sizes import small_shape
from ljit.types import ANY, UNBOUND, ArrayType, Type

__all__ = ["dissolve_built_arrays"]

_STRUCTURES = (IF, LOOP, REGION)


def dissolve_built_arrays(graph: Graph) -> None:
    """Take apart what can be; the graph's other nodes stay as they are.

    Native handlers are not given variables: where there are some, arrays that are written to stay.
    """
    has_handlers = any(node.op is TRY for node in graph.walk())
    expand_carried_arrays(graph)
    has_variables = False
    for node in list(graph.walk()):
        uses = _uses(node) if node.op is BUILD else None
        if uses is not None and not (has_handlers and uses.writes):
            has_variables |= _take_apart(node, uses)
    if has_variables:
        known = {value for node in graph.walk() for value in _carried(node)}
        convert_to_ssa(graph)
        _type_elements(graph, known)


def _carried(node: Node) -> list[Value]:
    """The outputs of a structure, and the values that it carries."""
    if node.op not in _STRUCTURES:
        return []
    return [*node.outputs, *(param for block in node.blocks for param in block.params)]


class _Uses(Record, frozen=False):
    """How an array is used, by nodes."""

    reads: list[Node] = made_by(factory=list)
    writes: list[Node] = made_by(factory=list)
    snapshots: list[tuple[Node, int]] = made_by(factory=list)
    checks: list[Node] = made_by(factory=list)
    #: from there on there is an array
    ends: dict[Node, list[tuple[Node, int]]] = made_by(factory=dict)


def _uses(made: Node) -> _Uses | None:
    """Sort the uses; None if the array is needed."""
    uses = _Uses()
    ends = find_ends(made.output, lambda *use: not _sort(_Uses(), *use))
    for node, index in list(made.output.uses):
        end = end_around(node, ends)
        if end is not None:
            uses.ends.setdefault(end, []).append((node, index))
        elif not _sort(uses, node, index):
            return None
    seen = [node for node, _ in uses.snapshots]
    return None if len(set(seen)) < len(seen) else uses


def _sort(uses: _Uses, node: Node, index: int) -> bool:
    if node.op is get_op("np::element"):
        uses.reads.append(node)
    elif node.op is get_op("np::put_element") and index == 0:
        uses.writes.append(node)
    elif node.op is SNAPSHOT:
        uses.snapshots.append((node, index))
    elif node.op is get_op("prim::check_arrays"):
        uses.checks.append(node)
    else:
        return False
    return True


# -- rewriting -------------------------------------------------------------------------------------


def _take_apart(made: Node, uses: _Uses) -> bool:
    """Replace the array by its elements; whether they are variables now."""
    for node in uses.checks:
        _drop_operand(node, made.output)
    if made.attrs.get("kept"):
        if uses.writes:
            return False
    elements = _elements(made)
    if uses.writes:
        _use_variables(made, uses)
        return True
    for node in uses.reads:
        node.replace_with([elements[_place(node)]])
    for end, places in uses.ends.items():
        again = _copy(made, made.inputs).insert_before(end)
        again.output.name = made.output.name
        for node, index in places:
            node.set_input(index, again.output)
    if not made.output.uses:
        made.erase()
    return False


def _elements(made: Node) -> list[Value]:
    return made.inputs[2:] if made.attrs.get("kept") else made.inputs


def _drop_operand(node: Node, value: Value) -> None:
    kept = [v for v in node.inputs if v is not value]
    if kept:
        node.set_inputs(kept)
    else:
        node.erase()


def _place(node: Node) -> int:
    """The place of the element that a node reads or writes, in C order."""
    place = 0
    at = node.attrs["at"]
    assert isinstance(at, tuple)
    for index, size in zip(at, small_shape(node.inputs[0].type), strict=True):
        place = place * size + index
    return place


def _copy(made: Node, inputs: list[Value]) -> Node:
    types = [made.output.type]
    return made.graph.create(BUILD, inputs, made.attrs, outputs=types, like=made)


def _use_variables(made: Node, uses: _Uses) -> None:
    variables = _Variables(made)
    for end, places in uses.ends.items():
        again = variables.build(end)
        for node, index in places:
            node.set_input(index, again)
    for node in uses.reads:
        node.replace_with([variables.load(_place(node), node)])
    for node, index in uses.snapshots:
        node.set_input(index, variables.build(_in_front_of_state(node)))
    for node in uses.writes:
        variables.store(_place(node), node.inputs[1], node)
        node.erase()
    for k, value in enumerate(list(made.inputs)):
        variables.store(k, value, made)
    made.erase()


def _in_front_of_state(snapshot: Node) -> Node:
    """Where to make what a Snapshot needs: a native call, which writes to none, has its state right behind it."""
    call = snapshot.prev
    return call if call is not None and call.op is CALL_NATIVE else snapshot


class _Variables:
    """The variables of an array's elements."""

    def __init__(self, made: Node) -> None:
        self.made = made
        assert isinstance(made.output.type, ArrayType)
        self.type: Type = made.output.type.element

    def _attrs(self, k: int) -> dict[str, object]:
        return {"name": f"@array{self.made.id}.{k}"}

    def load(self, k: int, before: Node) -> Value:
        node = before.graph.create(LOAD, (), self._attrs(k), outputs=[self.type], like=before)
        return node.insert_before(before).output

    def store(self, k: int, value: Value, before: Node) -> None:
        before.create_before(STORE, [value], self._attrs(k), outputs=0, like=before)

    def build(self, before: Node) -> Value:
        """Make an array of the elements."""
        elements = [self.load(k, before) for k in range(len(self.made.inputs))]
        made = _copy(self.made, elements).insert_before(before)
        made.output.name = self.made.output.name
        return made.output


def _type_elements(graph: Graph, known: set[Value]) -> None:
    """Give the new carried values and outputs the types of what flows into them."""
    new = {value for node in graph.walk() for value in _carried(node)} - known
    while new:
        typed = {value for value, source in _flows(graph) if value in new and _type(value, source)}
        if not typed:
            break
        new -= typed


def _type(value: Value, source: Value) -> bool:
    if source.type in (ANY, UNBOUND):
        return False
    value.type = source.type
    return True


def _flows(graph: Graph) -> Iterator[tuple[Value, Value]]:
    """Carried values and outputs, each with a value that it may be."""
    for node in graph.walk():
        if node.op is LOOP:
            params = node.blocks[0].params[1:]
            yield from zip(params, node.inputs[2:], strict=True)
            yield from zip(node.outputs, params, strict=True)
            for block in node.blocks[1:]:
                yield from zip(block.params, params, strict=True)
        owner = node.target or (node.block.owner if node.block is not None else None)
        if node.op not in (YIELD, CONTINUE, BREAK) or owner is None:
            continue
        if owner.op is LOOP and node.op is not BREAK and node.block not in owner.blocks[1:]:
            yield from zip(owner.blocks[0].params[1:], node.inputs, strict=True)
        elif owner.op in _STRUCTURES:
            yield from zip(owner.outputs, node.inputs, strict=True)
