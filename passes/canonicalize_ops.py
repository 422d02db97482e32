"""Write what means the same in one way, so that other passes see fewer forms.

Contract: exact for all values. A constant operand of a commutative op on numbers goes to the right
(not a NaN: which of two NaNs comes out depends on the order). ``not (a is b)`` is ``a is not b``,
``not (a in b)`` is ``a not in b``, and the other way round, where the inner result has no other
use.
"""

from __future__ import annotations

from functools import cache

from ljit.ir import Graph, Node, OpDef, get_op
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import replace_value
from ljit.types import ScalarType, Type, is_number, is_numpy

__all__ = ["canonicalize_ops"]

NAME = "canonicalize_ops"
_OPPOSITES = (("py::is", "py::is_not"), ("py::contains", "py::not_contains"))


@cache
def _opposites() -> dict[OpDef, OpDef]:
    pairs = [(get_op(a), get_op(b)) for a, b in _OPPOSITES]
    return dict([*pairs, *((b, a) for a, b in pairs)])


@graph_pass(NAME)
def canonicalize_ops(graph: Graph) -> bool:
    """Rewrite to the canonical forms; whether anything changed."""
    before = graph.version
    for node in list(graph.walk()):
        if _has_constant_left(node) and is_allowed(NAME, node):
            node.set_inputs([node.inputs[1], node.inputs[0]])
        elif node.op is get_op("py::not") and _is_negatable(node) and is_allowed(NAME, node):
            _negate(node)
    return graph.version != before


def _has_constant_left(node: Node) -> bool:
    if not node.op.is_commutative or len(node.inputs) != 2:
        return False
    left, right = node.inputs
    if not left.is_constant or right.is_constant:
        return False
    is_nan = bool(left.constant != left.constant) if _is_scalar(left.type) else True
    return not is_nan and (is_number(right.type) or is_numpy(right.type))


def _is_scalar(type_: Type) -> bool:
    return is_number(type_) or isinstance(type_, ScalarType)


def _is_negatable(node: Node) -> bool:
    inner = node.inputs[0].node
    return inner is not None and inner.op in _opposites() and len(inner.outputs[0].uses) == 1


def _negate(node: Node) -> None:
    inner = node.inputs[0].node
    assert inner is not None
    op = _opposites()[inner.op]
    opposite = inner.create_before(op, inner.inputs, inner.attrs, like=inner)
    replace_value(node.output, opposite.output)
    node.erase()
    inner.erase()
