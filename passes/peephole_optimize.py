"""Local rewrites that need a look at a node and its operands only.

Contract: every rule is exact for all values of the types that it is valid for, result type
included; the tests hold each against `evaluate`. Rules about numbers are data: an op, the constant
on its right that changes nothing, and a validity class. ``x + 0.0`` is not among them (``-0.0 +
0.0`` is ``0.0``).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import cache

from ljit.ir import Graph, Node, OpDef, Value, get_op
from ljit.ops.control import IF, YIELD
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import replace_value
from ljit.records import Record
from ljit.types import BOOL, FLOAT, INT, ScalarType, Type

__all__ = ["IDENTITIES", "INVOLUTIONS", "Identity", "Valid", "peephole_optimize"]

NAME = "peephole_optimize"


class Valid(enum.Enum):
    """For which type of the operand that is kept a rule holds."""

    INTEGERS = "int and NumPy's integers"
    NUMBERS = "also float and NumPy's floats"


class Identity(Record):
    """``op(x, right)`` is ``x``, if both have the same type."""

    name: str
    op: str
    right: int
    valid: Valid


IDENTITIES = (
    Identity("add_zero", "py::add", 0, Valid.INTEGERS),
    Identity("sub_zero", "py::sub", 0, Valid.NUMBERS),
    Identity("mul_one", "py::mul", 1, Valid.NUMBERS),
    Identity("div_one", "py::truediv", 1, Valid.NUMBERS),
    Identity("floordiv_one", "py::floordiv", 1, Valid.INTEGERS),
    Identity("pow_one", "py::pow", 1, Valid.INTEGERS),
    Identity("shift_left_none", "py::lshift", 0, Valid.INTEGERS),
    Identity("shift_right_none", "py::rshift", 0, Valid.INTEGERS),
    Identity("or_none", "py::or", 0, Valid.INTEGERS),
    Identity("xor_none", "py::xor", 0, Valid.INTEGERS),
    Identity("and_all", "py::and", -1, Valid.INTEGERS),
    Identity("np_add_zero", "np::add", 0, Valid.INTEGERS),
    Identity("np_sub_zero", "np::subtract", 0, Valid.NUMBERS),
    Identity("np_mul_one", "np::multiply", 1, Valid.NUMBERS),
    Identity("np_div_one", "np::divide", 1, Valid.NUMBERS),
    Identity("np_floordiv_one", "np::floor_divide", 1, Valid.INTEGERS),
    Identity("np_or_none", "np::bitwise_or", 0, Valid.INTEGERS),
    Identity("np_xor_none", "np::bitwise_xor", 0, Valid.INTEGERS),
    Identity("np_and_all", "np::bitwise_and", -1, Valid.INTEGERS),
)

#: ops that undo themselves, with the operand types for which they do
INVOLUTIONS: dict[str, tuple[Type, ...]] = {
    "py::neg": (INT, FLOAT),
    "py::invert": (INT,),
    "py::not": (BOOL,),
}


@graph_pass(NAME)
def peephole_optimize(graph: Graph) -> bool:
    """Apply the rules to each node once, in textual order; whether any applied."""
    changed = False
    for node in list(graph.walk()):
        if node.block is None:
            continue
        if node.op is IF:
            changed |= _simplify_if(node)
            continue
        value = _simpler(node)
        if value is not None and is_allowed(NAME, node):
            replace_value(node.output, value)
            node.erase()
            changed = True
    return changed


@cache
def _rules() -> dict[OpDef, Callable[[Node], Value | None]]:
    return {
        **{get_op(rule.op): _without_identity for rule in IDENTITIES},
        **{get_op(name): _without_double for name in INVOLUTIONS},
        get_op("py::truth"): _without_truth,
        get_op("py::pos"): _without_pos,
    }


@cache
def _identities() -> dict[OpDef, Identity]:
    return {get_op(rule.op): rule for rule in IDENTITIES}


def _simpler(node: Node) -> Value | None:
    rule = _rules().get(node.op)
    return rule(node) if rule is not None else None


def _without_identity(node: Node) -> Value | None:
    rule = _identities()[node.op]
    kept, right = node.inputs
    if not right.is_constant or not _is_number_equal(right.constant, rule.right):
        return None
    if not _is_valid(kept.type, rule.valid) or node.op.result_types(node) != (kept.type,):
        return None
    return kept


def _is_number_equal(value: object, wanted: int) -> bool:
    return isinstance(value, int | float) and value == wanted and str(value)[0] == str(wanted)[0]


def _is_valid(type_: Type, valid: Valid) -> bool:
    if isinstance(type_, ScalarType):
        return type_.dtype.kind in ("iu" if valid is Valid.INTEGERS else "iuf")
    return type_ == INT or (valid is Valid.NUMBERS and type_ == FLOAT)


def _without_double(node: Node) -> Value | None:
    inner = node.inputs[0].node
    if inner is None or inner.op is not node.op:
        return None
    value = inner.inputs[0]
    return value if value.type in INVOLUTIONS[node.op.name] else None


def _without_truth(node: Node) -> Value | None:
    return node.inputs[0] if node.inputs[0].type == BOOL else None


def _without_pos(node: Node) -> Value | None:
    return node.inputs[0] if node.inputs[0].type in (INT, FLOAT) else None


def _simplify_if(node: Node) -> bool:
    """Replace outputs that are the same value on both sides, or the condition itself."""
    ends = [block.terminator for block in node.blocks]
    if any(end.op is not YIELD for end in ends):
        return False
    changed = False
    for out, then, otherwise in zip(node.outputs, ends[0].inputs, ends[1].inputs, strict=True):
        if not out.uses:
            continue
        value = None
        if then is otherwise:
            value = then
        elif _is_constant_bool(then, wanted=True) and _is_constant_bool(otherwise, wanted=False):
            value = node.inputs[0]
        if value is not None and is_allowed(NAME, node):
            replace_value(out, value)
            changed = True
    return changed


def _is_constant_bool(value: Value, *, wanted: bool) -> bool:
    return value.is_constant and value.constant is wanted
