"""Python's operators: arithmetic, bits, comparisons, truth and identity.

Each operator is declared once, with its in-place form; the rules are in the `python_*` modules.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.characters import grows_by_character, is_text
from ljit.ir import Effect, Neutral, OpDef, Schema, Value, declare
from ljit.ir.list_uses import ListUse
from ljit.ir.opdef import any_result
from ljit.ir.parts import Parts
from ljit.ir.special_methods import SpecialMethods
from ljit.ops.python import arithmetic, bits, compare, powers
from ljit.ops.python.numbers import plain_effect
from ljit.ops.python.samples import (
    INT_PAIRS,
    INTS,
    NUMBER_PAIRS,
    NUMBERS,
    REAL_PAIRS,
    TRUTH_SAMPLES,
    each,
    is_huge_power,
)
from ljit.ops.python.special_methods import truth_given, untruth_given
from ljit.ops.ranges import int_quotients
from ljit.ops.ranges import int_ranges as ranges
from ljit.ops.ranges.int_products import MUL
from ljit.types import BOOL, FLOAT, INT, ListType, Type

__all__ = ["NOT", "TRUTH"]

BinaryFunction = Callable[[Any, Any], Any]


def _operator(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    """Declare an operator, which the functions of the module `operator` are as well."""
    callables = (fields["evaluate"],)
    return declare(OpDef(f"py::{name}", Schema(schema), doc, callables=callables, **fields))


def _bool_result(*_types: Type) -> Type:
    return BOOL


def _binary(
    name: str,
    sign: str,
    functions: tuple[BinaryFunction, BinaryFunction],
    numpy: str,
    *,
    in_place_effects: Callable[..., Effect] | None = None,
    in_place_decompose: Callable[..., Value | None] | None = None,
    in_place_characters: Callable[..., bool] | None = None,
    list_use: ListUse | None = None,
    is_commutative: bool = False,
    neutral: Neutral | None = None,
    **fields: Any,
) -> None:
    """Declare ``x sign y`` and ``x sign= y``."""
    plain, in_place = functions
    _operator(
        name,
        "(x, y, /)",
        f"``x {sign} y``",
        syntax=f"{{0}} {sign} {{1}}",
        evaluate=plain,
        special=SpecialMethods(f"__{name}__", f"__r{name}__"),
        numpy=numpy,
        is_commutative=is_commutative,
        neutral=neutral,
        list_use=list_use,
        **fields,
    )
    fields["effects"] = in_place_effects or fields["effects"]
    fields["decompose"] = in_place_decompose or fields.get("decompose")
    fields["takes_characters"] = in_place_characters
    _operator(
        f"i{name}",
        "(x!, y, /)",
        f"``x {sign}= y``; gives what x is bound to then",
        statement=f"{{0}} {sign}= {{1}}",
        evaluate=in_place,
        special=SpecialMethods(f"__{name}__", f"__r{name}__", f"__i{name}__"),
        numpy=f"np::i{name}",
        list_use=None if list_use is None else ListUse(gives_list=True, other=list_use.other),
        **fields,
    )


def _extended(p: Parts, x: Value, y: Value) -> Value | None:
    """Give a list, extended by another."""
    if not (isinstance(x.type, ListType) and isinstance(y.type, ListType) and x.type == p.type):
        return None
    p.apply("py::list_extend", x, y)
    return x


_binary(
    "add",
    "+",
    (operator.add, operator.iadd),
    "np::add",
    neutral=Neutral(0),
    wide="wide::add",
    infer=arithmetic.infer_add,
    lower=arithmetic.lower_add,
    can_lower=arithmetic.can_lower_add,
    effects=arithmetic.effect_of_add,
    in_place_effects=arithmetic.effect_of_add_in_place,
    in_place_decompose=_extended,
    in_place_characters=grows_by_character,
    list_use=ListUse(copies="prim::private_joined", other=1),
    ranges=ranges.ADD,
    is_modular=True,
    is_speculatable=True,
    ignores_class=(INT, FLOAT),
    makes_floats=True,
    samples=(*NUMBER_PAIRS, ("ab", "c"), ((1, 2.5), (None,)), ([1], [2.5]), ("a", 1)),
)
_binary(
    "sub",
    "-",
    (operator.sub, operator.isub),
    "np::subtract",
    neutral=Neutral(0, holds_for_floats=True),
    wide="wide::sub",
    infer=arithmetic.infer_sub,
    lower=arithmetic.lower_sub,
    can_lower=arithmetic.can_lower_number,
    effects=arithmetic.effect_of_sub,
    ranges=ranges.SUB,
    is_modular=True,
    is_speculatable=True,
    ignores_class=(INT, FLOAT),
    makes_floats=True,
    samples=NUMBER_PAIRS,
)
_binary(
    "mul",
    "*",
    (operator.mul, operator.imul),
    "np::multiply",
    neutral=Neutral(1, holds_for_floats=True),
    wide="wide::mul",
    infer=arithmetic.infer_mul,
    lower=arithmetic.lower_mul,
    can_lower=arithmetic.can_lower_number,
    effects=arithmetic.effect_of_mul,
    in_place_effects=arithmetic.effect_of_mul_in_place,
    list_use=ListUse(copies="prim::private_product"),
    ranges=MUL,
    is_modular=True,
    is_speculatable=True,
    ignores_class=(INT, FLOAT),
    makes_floats=True,
    samples=(*NUMBER_PAIRS, ("ab", 2), (3, "c"), ([1, 2], 2), (True, [0.0]), ((1, 2), 2)),
)
_binary(
    "truediv",
    "/",
    (operator.truediv, operator.itruediv),
    "np::divide",
    neutral=Neutral(1, holds_for_floats=True),
    wide="wide::truediv",
    infer=arithmetic.infer_truediv,
    lower=arithmetic.lower_truediv,
    ranges=int_quotients.TRUE_QUOTIENT,
    can_lower=arithmetic.can_lower_number,
    effects=plain_effect,
    checks_can_wait=True,
    ignores_class=(FLOAT,),
    makes_floats=True,
    samples=(*NUMBER_PAIRS, (1 + 2j, np.float64(0.5)), (1j, np.float64(0.0))),
)
_binary(
    "floordiv",
    "//",
    (operator.floordiv, operator.ifloordiv),
    "np::floor_divide",
    neutral=Neutral(1),
    wide="wide::floordiv",
    infer=arithmetic.infer_real_division,
    lower=arithmetic.lower_floordiv,
    ranges=int_quotients.FLOORDIV,
    can_lower=arithmetic.can_lower_real,
    effects=plain_effect,
    ignores_class=(INT,),
    samples=REAL_PAIRS,
)
_binary(
    "mod",
    "%",
    (operator.mod, operator.imod),
    "np::remainder",
    wide="wide::mod",
    infer=arithmetic.infer_mod,
    lower=arithmetic.lower_mod,
    ranges=int_quotients.MOD,
    can_lower=arithmetic.can_lower_real,
    effects=arithmetic.effect_of_mod,
    asks_low_bits=lambda divisor: divisor > 0 and divisor & (divisor - 1) == 0,
    ignores_class=(INT,),
    samples=(*REAL_PAIRS, ("%d", 3), ("%s-%s", (1, 2.5))),
)
_binary(
    "pow",
    "**",
    (operator.pow, operator.ipow),
    "np::power_operator",
    neutral=Neutral(1),
    infer=arithmetic.infer_sub,
    lower=powers.lower_pow,
    can_lower=powers.can_lower_pow,
    ranges=ranges.POWER,
    effects=plain_effect,
    is_profiled=True,
    ignores_class=(INT, FLOAT),
    makes_floats=True,
    samples=lambda: tuple(pair for pair in NUMBER_PAIRS if not is_huge_power(*pair)),
)
_binary(
    "lshift",
    "<<",
    (operator.lshift, operator.ilshift),
    "np::left_shift",
    neutral=Neutral(0),
    wide="wide::lshift",
    infer=bits.infer_shift,
    lower=bits.lower_lshift,
    decompose=bits.product_for_shift,
    can_lower=bits.can_lower_bits,
    effects=plain_effect,
    samples=tuple(pair for pair in INT_PAIRS if pair[1] < 2**31),
)
_binary(
    "rshift",
    ">>",
    (operator.rshift, operator.irshift),
    "np::right_shift",
    neutral=Neutral(0),
    wide="wide::rshift",
    infer=bits.infer_shift,
    lower=bits.lower_rshift,
    ranges=ranges.RSHIFT,
    can_lower=bits.can_lower_bits,
    effects=plain_effect,
    ignores_class=(INT,),
    samples=INT_PAIRS,
)
_binary(
    "and",
    "&",
    (operator.and_, operator.iand),
    "np::bitwise_and",
    neutral=Neutral(-1),
    wide="wide::and",
    infer=bits.infer_bits,
    lower=bits.lower_and,
    ranges=ranges.BITS_AND,
    can_lower=bits.can_lower_bits,
    effects=bits.effect_of_bits,
    asks_low_bits=lambda mask: mask >= 0,
    is_modular=True,
    is_commutative=True,
    ignores_class=(INT,),
    samples=INT_PAIRS,
)
_binary(
    "or",
    "|",
    (operator.or_, operator.ior),
    "np::bitwise_or",
    neutral=Neutral(0),
    wide="wide::or",
    infer=bits.infer_bits,
    lower=bits.lower_or,
    ranges=ranges.BITS_OR,
    can_lower=bits.can_lower_bits,
    effects=bits.effect_of_bits,
    is_modular=True,
    is_commutative=True,
    ignores_class=(INT,),
    samples=INT_PAIRS,
)
_binary(
    "xor",
    "^",
    (operator.xor, operator.ixor),
    "np::bitwise_xor",
    neutral=Neutral(0),
    wide="wide::xor",
    infer=bits.infer_bits,
    lower=bits.lower_xor,
    ranges=ranges.BITS_XOR,
    can_lower=bits.can_lower_bits,
    effects=bits.effect_of_bits,
    is_modular=True,
    is_commutative=True,
    ignores_class=(INT,),
    samples=INT_PAIRS,
)
_binary(
    "matmul",
    "@",
    (operator.matmul, operator.imatmul),
    "np::matmul",
    infer=any_result,
    effects=Effect.CALL,
    samples=((1, 2),),
)

for _name, _reflected, _sign, _function, _numpy, _ranges in (
    ("lt", "gt", "<", operator.lt, "np::less", ranges.LESS),
    ("le", "ge", "<=", operator.le, "np::less_equal", ranges.LESS_EQUAL),
    ("gt", "lt", ">", operator.gt, "np::greater", ranges.GREATER),
    ("ge", "le", ">=", operator.ge, "np::greater_equal", ranges.GREATER_EQUAL),
):
    _operator(
        _name,
        "(x, y, /)",
        f"``x {_sign} y``",
        syntax=f"{{0}} {_sign} {{1}}",
        evaluate=_function,
        special=SpecialMethods(f"__{_name}__", f"__{_reflected}__", result=BOOL),
        numpy=_numpy,
        wide=f"wide::{_name}",
        ranges=_ranges,
        infer=compare.infer_order,
        takes_characters=compare.are_characters,
        lower=compare.lower_order(_name),
        can_lower=compare.can_lower_order,
        effects=compare.effect_of_comparison,
        ignores_class=(INT, FLOAT),
        samples=(*REAL_PAIRS, ("a", "b"), ((1, 2), (1, 2.5)), ("a", 1), (None, None)),
    )

_EQUAL_SAMPLES = (
    *(*NUMBER_PAIRS, *REAL_PAIRS, ("a", "a"), ("a", 1), (None, None), (None, 0), ((), ())),
    *(((1, 2.0), (True, 2)), ((1,), (1, 2)), ((None, (1j,)), (None, (2j,))), ([1], [1.0])),
    *(((float("nan"),), (float("nan"),)), ((1.0, "a"), (1, "a")), ((0,), None)),
)
_EQ = SpecialMethods("__eq__", "__eq__", result=BOOL)
_NE = SpecialMethods("__ne__", "__ne__", opposite="py::eq", result=BOOL, check=operator.not_)
for _name, _sign, _function, _special, _numpy, _lower, _ranges in (
    ("eq", "==", operator.eq, _EQ, "np::equal", compare.lower_equal, ranges.EQUAL),
    ("ne", "!=", operator.ne, _NE, "np::not_equal", compare.lower_not_equal, ranges.NOT_EQUAL),
):
    _operator(
        _name,
        "(x, y, /)",
        f"``x {_sign} y``",
        syntax=f"{{0}} {_sign} {{1}}",
        evaluate=_function,
        special=_special,
        numpy=_numpy,
        wide=f"wide::{_name}",
        infer=compare.infer_equal,
        takes_characters=compare.are_texts,
        lower=_lower,
        ranges=_ranges,
        can_lower=compare.can_lower_equal,
        effects=compare.effect_of_comparison,
        list_use=ListUse(other=1),
        ignores_class=(INT, FLOAT),
        samples=_EQUAL_SAMPLES,
    )

_operator(
    "neg",
    "(x, /)",
    "``-x``",
    syntax="-{0}",
    undoes_itself=(INT, FLOAT),
    evaluate=operator.neg,
    special=SpecialMethods("__neg__"),
    numpy="np::negative",
    wide="wide::neg",
    infer=arithmetic.infer_sign,
    lower=arithmetic.lower_neg,
    ranges=ranges.NEG,
    is_speculatable=True,
    can_lower=arithmetic.can_lower_number,
    effects=arithmetic.effect_of_sign,
    ignores_class=(INT, FLOAT),
    samples=each(NUMBERS),
)
_operator(
    "pos",
    "(x, /)",
    "``+x``",
    syntax="+{0}",
    keeps=(INT, FLOAT),
    evaluate=operator.pos,
    special=SpecialMethods("__pos__"),
    numpy="np::positive",
    wide="wide::same",
    infer=arithmetic.infer_sign,
    lower=arithmetic.lower_pos,
    can_lower=arithmetic.can_lower_number,
    effects=arithmetic.effect_of_sign,
    samples=each(NUMBERS),
)
_operator(
    "invert",
    "(x, /)",
    "``~x``",
    syntax="~{0}",
    undoes_itself=(INT,),
    evaluate=operator.invert,
    special=SpecialMethods("__invert__"),
    numpy="np::invert",
    wide="wide::invert",
    infer=bits.infer_invert,
    lower=bits.lower_invert,
    can_lower=bits.can_lower_invert,
    effects=bits.effect_of_invert,
    samples=each((*INTS, 1.5)),
)

TRUTH = _operator(
    "truth",
    "(x, /)",
    "``bool(x)``",
    syntax="bool({0})",
    keeps=(BOOL,),
    wide="wide::truth",
    infer=_bool_result,
    evaluate=operator.truth,
    special=SpecialMethods("__bool__", result=BOOL, check=truth_given),
    list_use=ListUse(),
    takes_characters=is_text,
    lower=compare.lower_truth,
    ranges=ranges.TRUTH,
    can_lower=compare.can_lower_truth,
    effects=compare.effect_of_truth,
    fold=compare.fold_truth,
    ignores_class=(BOOL, INT, FLOAT),
    samples=TRUTH_SAMPLES,
)
NOT = _operator(
    "not",
    "(x, /)",
    "``not x``",
    syntax="not {0}",
    undoes_itself=(BOOL,),
    wide="wide::not",
    infer=_bool_result,
    evaluate=operator.not_,
    special=SpecialMethods("__bool__", result=BOOL, check=untruth_given, is_negated=True),
    list_use=ListUse(),
    takes_characters=is_text,
    lower=compare.lower_not,
    ranges=ranges.NOT,
    can_lower=compare.can_lower_truth,
    effects=compare.effect_of_truth,
    fold=compare.fold_not,
    ignores_class=(BOOL, INT, FLOAT),
    samples=TRUTH_SAMPLES,
)

_IS_SAMPLES = ((None, None), (None, 0), (True, True), (False, True), (1, True), (1, 2), (1.0, None))
_operator(
    "is",
    "(x, y, /)",
    "``x is y``",
    syntax="{0} is {1}",
    wide="py::is",
    infer=_bool_result,
    evaluate=operator.is_,
    takes_characters=compare.are_characters,
    lower=compare.lower_is,
    can_lower=compare.can_lower_is,
    effects=compare.effect_of_is,
    fold=compare.fold_is,
    samples=_IS_SAMPLES,
)
_operator(
    "is_not",
    "(x, y, /)",
    "``x is not y``",
    syntax="{0} is not {1}",
    wide="py::is_not",
    infer=_bool_result,
    evaluate=operator.is_not,
    takes_characters=compare.are_characters,
    lower=compare.lower_is_not,
    can_lower=compare.can_lower_is,
    effects=compare.effect_of_is,
    fold=compare.fold_is_not,
    samples=_IS_SAMPLES,
)
