"""Which ints of a baseline graph may be beyond int64 and asked for all their bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ljit.ir import Node, Value, get_op
from ljit.ops.control import PROFILE

__all__ = ["long_ones"]


def long_ones(nodes: Mapping[int, Node]) -> dict[int, int]:
    """Give the ids of those nodes, under the same keys. `nodes` has all that are another op on ints beyond int64.

    These are sums, products and the like of which more is taken than masks. Masks are remainders of powers of two, too.
    What `drop_high_bits` may let wrap is no such node, as far as anybody can tell before the types are known.
    """
    todo = [node for node in nodes.values() if _is_modular(node) and _is_taken_whole(node.output)]
    found: set[Node] = set()
    while todo:  # a chain of sums may be as long as the function
        node = todo.pop()
        if node in found:
            continue
        found.add(node)
        if node.op.asks_low_bits is None:
            made = (value.node for value in node.inputs)
            todo += [operand for operand in made if operand is not None and _is_modular(operand)]
    return {key: node.id for key, node in nodes.items() if node in found}


def _is_modular(node: Node) -> bool:
    return node.op.wide is not None and get_op(node.op.wide).is_modular


def _is_taken_whole(value: Value) -> bool:
    """Whether something besides masks, sums and the like takes a number, or nothing does."""
    return not value.uses or any(
        not _masks(user, index) and (user.op.asks_low_bits is not None or not _is_modular(user))
        for user, index in value.uses
    )


def _masks(user: Node, index: int) -> bool:
    if user.op.asks_low_bits is None:
        return False
    if user.op.is_modular:  # a mask, whatever it is
        return True
    return index == 0 and _may_be_power(user.inputs[1], user.op.asks_low_bits)


def _may_be_power(divisor: Value, is_power: Callable[[int], bool]) -> bool:
    """Whether it is a power of two, or a variable from outside of the function, which may be one."""
    if divisor.is_constant:
        return type(divisor.constant) is int and is_power(divisor.constant)
    made = divisor.node
    if made is not None and made.op is PROFILE:
        made = made.inputs[0].node
    return made is not None and not made.inputs
