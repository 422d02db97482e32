"""Which ints of a baseline graph may be beyond int64 and asked for all their bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ljit.ir import Node, Value, get_op
from ljit.ops.control import PROFILE

__all__ = ["long_ones"]


def long_ones(nodes: Mapping[int, Node]) -> dict[int, int]:
    """Give the ids of those nodes, under the same keys."""
    return {key: node.id for key, node in nodes.items() if _may_be_long(node)}


def _may_be_long(node: Node) -> bool:
    """Whether a node is a sum, a product or the like, and more is taken of it than masks.

    Masks are remainders of powers of two, too. What `drop_high_bits` may let wrap is no such node, as far as anybody
    can tell before the types are known.
    """
    return _is_modular(node) and not _is_masked(node.output)


def _is_modular(node: Node) -> bool:
    return node.op.wide is not None and get_op(node.op.wide).is_modular


def _is_masked(value: Value) -> bool:
    return bool(value.uses) and all(_masks(user, index) for user, index in value.uses)


def _masks(user: Node, index: int) -> bool:
    if user.op.asks_low_bits is None:
        return _is_modular(user) and _is_masked(user.output)
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
