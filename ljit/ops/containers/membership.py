"""``in`` and ``not in``."""

from __future__ import annotations

import operator
from typing import Any

from ljit.ir import OpDef, Schema, declare
from ljit.ir.list_uses import ListUse
from ljit.ir.special_methods import SpecialMethods
from ljit.ops.python import compare
from ljit.types import BOOL, Type

__all__ = ["is_in", "is_not_in"]


def _membership_op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    return declare(OpDef(name, Schema(schema), doc, **fields))


def is_not_in(item: object, container: Any) -> bool:
    """Give ``item not in container``."""
    return item not in container


def is_in(item: object, container: Any) -> bool:
    """Give ``item in container``."""
    return item in container


def _infer_in(_item: Type, _container: Type) -> Type:
    return BOOL


_IN_SAMPLES = (
    *((x, (1, 2.5, 2**53 + 1)) for x in (1, 1.0, True, 2.5, 2.0**53, 3, 1 + 0j)),
    *((x, range(3, 30, 9)) for x in (3, 12, 13, 30, True, 3.0, -(2**63), 2**63 - 1)),
    *((x, range(9, -9, -4)) for x in (9, 5, -7, -11, 0)),
    *(
        (None, (None, 1)),
        (1, ()),
        (1, [1]),
        ("a", "abc"),
        (1, {1: 2}),
        (1, 5),
        (float("nan"), (1.0,)),
    ),
)

_membership_op(
    "py::contains",
    "(item, container)",
    "``item in container``",
    syntax="{0} in {1}",
    infer=_infer_in,
    takes_characters=compare.are_texts_in,
    evaluate=is_in,
    special=SpecialMethods("__contains__", operand=1, result=BOOL, check=operator.truth),
    list_use=ListUse(operand=1),
    lower=compare.lower_in,
    can_lower=compare.can_lower_in,
    effects=compare.effect_of_in,
    samples=_IN_SAMPLES,
)
_membership_op(
    "py::not_contains",
    "(item, container)",
    "``item not in container``",
    syntax="{0} not in {1}",
    infer=_infer_in,
    takes_characters=compare.are_texts_in,
    evaluate=is_not_in,
    special=SpecialMethods(
        "__contains__", operand=1, result=BOOL, check=operator.not_, is_negated=True
    ),
    list_use=ListUse(operand=1),
    lower=compare.lower_not_in,
    can_lower=compare.can_lower_in,
    effects=compare.effect_of_in,
    samples=_IN_SAMPLES,
)
