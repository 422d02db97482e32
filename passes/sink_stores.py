"""Store behind an If what its blocks store at one place, where it goes either way or does nothing else.

    if a[i] <= b[j]:                      chosen = a[i] if a[i] <= b[j] else b[j]
        out[k] = a[i]                     i, j = (i + 1, j) if a[i] <= b[j] else (i, j + 1)
        i += 1                            out[k] = chosen
    else:
        out[k] = b[j]
        j += 1

What is left of the If are choices between numbers, without a branch that the processor would have to foretell.

So it is where the If does nothing else than to choose what is stored: there are vectors of choices, but none of stores
in some trips only (`out[y, x] = 255 if a[y, x] > t else 0`, written as an If).

Contract: the If `is_erratic`, or has no outputs and stores numbers that surely fit; a Snapshot is behind it. Each block
has one node with effects, of the same op and on operands from in front of the If, but for one number, which may differ.
All else in the blocks may be done again: if a check fails there, or the store's own, nothing is stored yet, and the
interpreter goes on in front of the If.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Block, Effect, Graph, Node, Value
from ljit.ops.control import IF, SNAPSHOT, YIELD
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import FLOAT, ArrayType, ListType, ScalarType, Type, is_number

__all__ = ["sink_stores"]

NAME = "sink_stores"
_REPEATABLE = (Effect.PURE, Effect.RAISE)
_STORES = Effect.WRITE | Effect.READ | Effect.RAISE | Effect.ALLOC


@graph_pass(NAME)
def sink_stores(graph: Graph) -> bool:
    """Move what blocks of Ifs store; whether there was any."""
    changed = False
    for choice in reversed(list(graph.walk())):  # inner ones first
        if choice.op is not IF or not (choice.attrs.get("is_erratic") or not choice.outputs):
            continue
        stores = [store for block in choice.blocks if (store := _store_in(block)) is not None]
        is_erratic = choice.attrs.get("is_erratic")
        if not is_erratic and not all(map(_surely_fits, stores)):
            continue
        if len(stores) == 2 and _is_one_place(choice, *stores) and is_allowed(NAME, choice):
            _sink(choice, *stores)
            changed = True
    return changed


def _store_in(block: Block) -> Node | None:
    """The only node of a block that may not be done again; None: there is none, or it is no store."""
    found = None
    for node in block:
        if (node.op is SNAPSHOT and node.prev is found is not None) or node is block.last:
            continue
        if node.op is IF and all(map(_is_repeatable, node.walk())):
            continue
        if node.blocks or node.op is SNAPSHOT or node.op.is_terminator:
            return None
        effects = node.op.effects_of(node)
        if effects not in _REPEATABLE:
            is_store = effects & Effect.WRITE and not effects & ~_STORES
            if found is not None or not is_store or any(out.uses for out in node.outputs):
                return None
            found = node
    return found if block.terminator.op is YIELD else None


def _surely_fits(store: Node) -> bool:
    """Whether a number is stored that is one of the array's dtype, or a constant: nothing has to be asked of it."""
    array, value = store.inputs[0].type, store.inputs[-1]
    if not isinstance(array, ArrayType):
        return False
    is_double = value.type == FLOAT and array.dtype == np.float64
    return value.is_constant or is_double or value.type == array.element


def _is_repeatable(node: Node) -> bool:
    """Whether a node, an If or in one, may be done again."""
    return node.op in (IF, YIELD) or not (node.blocks or node.effects not in _REPEATABLE)


def _is_one_place(choice: Node, store: Node, other: Node) -> bool:
    is_like = (store.op, store.attrs, len(store.inputs), store.is_fast) == (
        *(other.op, other.attrs, len(other.inputs)),
        other.is_fast,
    )
    if not is_like or choice.next is None or choice.next.op is not SNAPSHOT:
        return False
    pairs = list(zip(store.inputs, other.inputs, strict=True))
    differ = [(x, y) for x, y in pairs if x is not y]
    is_from_outside = not any(x.is_inside(choice) for x, y in pairs if x is y)
    is_certain = is_from_outside and _holds_numbers(store.inputs[0].type)
    return is_certain and len(differ) <= 1 and all(map(_are_numbers, differ))


def _holds_numbers(t: Type) -> bool:
    """Whether numbers are stored as such: lists of objects take the objects that were read, a choice has none."""
    return isinstance(t, ArrayType) or (isinstance(t, ListType) and t.is_private)


def _are_numbers(pair: tuple[Value, Value]) -> bool:
    type_ = pair[0].type
    return pair[1].type == type_ and (is_number(type_) or isinstance(type_, ScalarType))


def _sink(choice: Node, store: Node, other: Node) -> None:
    """Store behind the If, which chooses what."""
    operands = []
    for x, y in zip(store.inputs, other.inputs, strict=True):
        if x is y:
            operands.append(x)
            continue
        operands.append(choice.add_output(x.type, x.name))
        for block, value in zip(choice.blocks, (x, y), strict=True):
            block.terminator.add_input(value)
    assert choice.next is not None
    types_ = [out.type for out in store.outputs]
    made = choice.next.create_before(store.op, operands, store.attrs, outputs=types_, like=store)
    made.proven = tuple(proof for proof in store.proven if proof in other.proven)
    for node in (store, other):
        if node.next is not None and node.next.op is SNAPSHOT:
            node.next.erase()
        node.erase()
