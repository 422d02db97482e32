"""Python's operators: arithmetic, bits, comparisons, truth and identity."""

from __future__ import annotations

import operator
from typing import Any

from ljit.ir import Effect, OpDef, Schema, any_result, declare
from ljit.types import BOOL, Type

__all__: list[str] = []


def _operator(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    fields.setdefault("infer", any_result)
    fields.setdefault("effects", Effect.CALL)
    return declare(OpDef(f"py::{name}", Schema.parse(schema), doc, **fields))


def _bool_result(*_types: Type) -> Type:
    return BOOL


_BINARY = {
    "add": ("+", operator.add, "np::add"),
    "sub": ("-", operator.sub, "np::subtract"),
    "mul": ("*", operator.mul, "np::multiply"),
    "truediv": ("/", operator.truediv, "np::divide"),
    "floordiv": ("//", operator.floordiv, "np::floor_divide"),
    "mod": ("%", operator.mod, "np::remainder"),
    "pow": ("**", operator.pow, "np::power"),
    "lshift": ("<<", operator.lshift, "np::left_shift"),
    "rshift": (">>", operator.rshift, "np::right_shift"),
    "and": ("&", operator.and_, "np::bitwise_and"),
    "or": ("|", operator.or_, "np::bitwise_or"),
    "xor": ("^", operator.xor, "np::bitwise_xor"),
    "matmul": ("@", operator.matmul, "np::matmul"),
    "lt": ("<", operator.lt, "np::less"),
    "le": ("<=", operator.le, "np::less_equal"),
    "gt": (">", operator.gt, "np::greater"),
    "ge": (">=", operator.ge, "np::greater_equal"),
    "eq": ("==", operator.eq, "np::equal"),
    "ne": ("!=", operator.ne, "np::not_equal"),
}
for _name, (_sign, _function, _numpy) in _BINARY.items():
    _operator(
        _name, "(x, y)", f"``x {_sign} y``", evaluate=_function, numpy=_numpy, is_profiled=True
    )

_IN_PLACE = {
    "iadd": ("+=", operator.iadd),
    "isub": ("-=", operator.isub),
    "imul": ("*=", operator.imul),
    "itruediv": ("/=", operator.itruediv),
    "ifloordiv": ("//=", operator.ifloordiv),
    "imod": ("%=", operator.imod),
    "ipow": ("**=", operator.ipow),
    "ilshift": ("<<=", operator.ilshift),
    "irshift": (">>=", operator.irshift),
    "iand": ("&=", operator.iand),
    "ior": ("|=", operator.ior),
    "ixor": ("^=", operator.ixor),
    "imatmul": ("@=", operator.imatmul),
}
for _name, (_sign, _function) in _IN_PLACE.items():
    _operator(
        _name,
        "(x!, y)",
        f"``x {_sign} y``: gives the new x",
        evaluate=_function,
        numpy=f"np::{_name}",
        is_profiled=True,
    )

_UNARY = {
    "neg": ("-", operator.neg, "np::negative"),
    "pos": ("+", operator.pos, "np::positive"),
    "invert": ("~", operator.invert, "np::invert"),
}
for _name, (_sign, _function, _numpy) in _UNARY.items():
    _operator(_name, "(x)", f"``{_sign}x``", evaluate=_function, numpy=_numpy, is_profiled=True)

TRUTH = _operator("truth", "(x)", "``bool(x)``", infer=_bool_result, evaluate=operator.truth)
NOT = _operator("not", "(x)", "``not x``", infer=_bool_result, evaluate=operator.not_)
IS = _operator(
    "is", "(x, y)", "``x is y``", infer=_bool_result, evaluate=operator.is_, effects=Effect.PURE
)
IS_NOT = _operator(
    "is_not",
    "(x, y)",
    "``x is not y``",
    infer=_bool_result,
    evaluate=operator.is_not,
    effects=Effect.PURE,
)
