"""Give operators the op that their operand types call for.

Contract: an operator of Python with a NumPy array or scalar among its operands becomes the op that
`OpDef.numpy` names, and an in-place operator on an immutable left operand becomes the plain one
(`OpDef.plain_op`), where `infer` knows the result type and it is the same (or nothing was known). A constant int
beside an array of narrower ints, or one of NumPy's, becomes a number of that dtype, which need not be checked.
Changes no value. A list that is made for one read at an int becomes a tuple: where the read fails, native
code leaves before it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.analysis.alias import is_immutable
from ljit.errors import LjitError
from ljit.ir import Effect, Graph, Node, OpDef, get_op
from ljit.ops.arrays.rules import element_of
from ljit.ops.python.types import numpy_decides
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, is_tried, replace_value
from ljit.types import ANY, BOOL, INT, ArrayType, ScalarType, Type

__all__ = ["normalize_ops"]

NAME = "normalize_ops"


@graph_pass(NAME)
def normalize_ops(graph: Graph) -> bool:
    """Rewrite operators; whether any was."""
    changed = False
    for node in list(graph.walk()):
        changed |= _read_tuple(node) or _give_dtypes(node)
        op = _wanted_op(node)
        if op is not node.op and is_allowed(NAME, node):
            new = node.create_before(op, node.inputs, node.attrs, like=node)
            for old, value in zip(node.outputs, new.outputs, strict=True):
                replace_value(old, value)
            node.erase()
            changed = True
    return changed


def _read_tuple(node: Node) -> bool:
    """Let a read of a list that is made for it read a tuple; whether it did."""
    if node.op is not get_op("py::getitem") or node.inputs[1].type not in (INT, BOOL):
        return False
    made = node.inputs[0].made_by(get_op("prim::ListConstruct"))
    if made is None or not made.inputs:
        return False
    # CPython may read it: its message tells a list from a tuple.
    if node.output.type == ANY or is_tried(node):
        return False
    if len(made.output.uses) > 1 or not is_allowed(NAME, node):
        return False
    items = node.graph.create(get_op("prim::TupleConstruct"), made.inputs, like=made)
    node.set_input(0, items.insert_before(made).output)
    made.erase()
    return True


def _give_dtypes(node: Node) -> bool:
    """Let constant ints of an elementwise op have the dtype of the others, where they fit; whether any was changed."""
    op = node.op
    types = [v.type for v in node.inputs]
    if not op.elementwise or INT not in types:
        return False
    operands = op.element_operands(types)
    dtypes = {t.dtype for t in operands if isinstance(t, ArrayType)}
    dtypes = dtypes or {t.dtype for t in operands if isinstance(t, ScalarType)}
    if len(dtypes) != 1:
        return False
    (dtype,) = dtypes
    if dtype.kind not in "iu" or dtype == np.int64:
        return False
    limits, changed = np.iinfo(dtype), False
    for index, value in enumerate(node.inputs):
        is_int = value.type == INT and value.is_constant
        if not is_int or not limits.min <= value.constant <= limits.max:  # type: ignore[operator]
            continue
        before, types[index] = [*types], ScalarType(dtype)
        results = op.infer_types(types, node.attrs)
        is_same = results == op.result_types(node) and ANY not in results
        is_checked = _is_checked(node, before) and not _is_checked(node, types)
        if is_same and is_checked and is_allowed(NAME, node):
            number = dtype.type(value.constant)  # type: ignore[call-overload]
            node.set_input(index, insert_constant(number, node))
            changed = True
    return changed


def _is_checked(node: Node, types: Sequence[Type]) -> bool:
    """Whether an elementwise op on operands of the types has a check for each element."""
    op = get_op(node.op.element_op) if node.op.element_op is not None else node.op
    elements = [*map(element_of, node.op.element_operands(types))]
    return bool(op.effects_on(elements, node.attrs) & Effect.RAISE)


def _wanted_op(node: Node) -> OpDef:
    op = node.op
    if op.numpy is not None and _are_numpys(node):
        op = _if_same_result(node, get_op(op.numpy), op)
    if op.schema.written and op.element_op is not None and not op.is_terminator:
        target = node.inputs[op.schema.positional.index(op.schema.written[0])]
        if is_immutable(target.type) and node.effects.is_repeatable:
            op = _if_same_result(node, get_op(op.plain_op or op.element_op), op)
    return op


def _are_numpys(node: Node) -> bool:
    """Whether NumPy decides what the operator does: an unknown object could have its own say."""
    types = [v.type for v in node.inputs]
    return numpy_decides(types) and not any(t.is_boxed for t in types)


def _if_same_result(node: Node, better: OpDef, op: OpDef) -> OpDef:
    """Give `better` if it infers what the node's outputs have, else `op`."""
    if better.infer is None:
        return op
    try:
        types = better.infer_types([v.type for v in node.inputs], node.attrs)
    except (LjitError, TypeError, ValueError):
        return op
    if len(types) != len(node.outputs) or ANY in types:  # unknown: may raise, and say who did
        return op
    fits = all(out.type in (ANY, t) for out, t in zip(node.outputs, types, strict=True))
    return better if fits else op
