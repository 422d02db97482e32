"""Ops that make, read and change tuples, lists, sets, dicts and slices."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from ljit.ir import Effect, OpDef, Schema, any_result, declare
from ljit.types import BOOL

__all__: list[str] = []


def _container_op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    fields.setdefault("infer", any_result)
    fields.setdefault("effects", Effect.CALL)
    return declare(OpDef(name, Schema.parse(schema), doc, **fields))


def _nothing(*_types: object, **_attrs: object) -> tuple[()]:
    """Infer rule of ops without an output."""
    return ()


def _make_tuple(*items: object) -> tuple[object, ...]:
    return items


def _make_list(*items: object) -> list[object]:
    return list(items)


def _make_set(*items: object) -> set[object]:
    return set(items)


def _make_dict(*pairs: object) -> dict[object, object]:
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _list_append(target: list[object], value: object) -> None:
    target.append(value)


def _list_extend(target: list[object], values: Iterable[object]) -> None:
    target[len(target) :] = [*values]


def _dict_update(target: dict[object, object], values: Any) -> None:
    target |= {**values}


def _not_in(item: object, container: Any) -> bool:
    return item not in container


def _in(item: object, container: Any) -> bool:
    return item in container


def _item_of_tuple(x: tuple[object, ...], *, index: int) -> object:
    return x[index]


TUPLE_CONSTRUCT = _container_op(
    "prim::TupleConstruct", "(*items)", "``(a, b)``", evaluate=_make_tuple
)
TUPLE_INDEX = _container_op(
    "prim::TupleIndex",
    "(x, *, index)",
    "Item of a tuple at a fixed place.",
    evaluate=_item_of_tuple,
)
LIST_CONSTRUCT = _container_op("prim::ListConstruct", "(*items)", "``[a, b]``", evaluate=_make_list)
SET_CONSTRUCT = _container_op("prim::SetConstruct", "(*items)", "``{a, b}``", evaluate=_make_set)
DICT_CONSTRUCT = _container_op(
    "prim::DictConstruct", "(*pairs)", "``{k: v}``: operands k, v, k, v ...", evaluate=_make_dict
)
SLICE_CONSTRUCT = _container_op(
    "prim::SliceConstruct", "(start, stop, step)", "``start:stop:step``", evaluate=slice
)
LIST_APPEND = _container_op(
    "prim::list_append",
    "(target!, value)",
    "Append, as a list comprehension does.",
    infer=_nothing,
    evaluate=_list_append,
)
SET_ADD = _container_op(
    "prim::set_add",
    "(target!, value)",
    "Add to a set, as a set comprehension does.",
    infer=_nothing,
    evaluate=set.add,
)
DICT_SET = _container_op(
    "prim::dict_set",
    "(target!, key, value)",
    "Set in a dict, as a dict comprehension does.",
    infer=_nothing,
    evaluate=operator.setitem,
)
LIST_EXTEND = _container_op(
    "prim::list_extend",
    "(target!, values)",
    "Extend, as ``[*values]`` does.",
    infer=_nothing,
    evaluate=_list_extend,
)
DICT_UPDATE = _container_op(
    "prim::dict_update",
    "(target!, values)",
    "Update, as ``{**values}`` does.",
    infer=_nothing,
    evaluate=_dict_update,
)
LIST_TO_TUPLE = _container_op(
    "prim::list_to_tuple", "(x)", "The tuple of a list's items.", evaluate=tuple
)
GETITEM = _container_op(
    "py::getitem",
    "(x, index)",
    "``x[index]``",
    evaluate=operator.getitem,
    numpy="np::getitem",
    is_profiled=True,
)
SETITEM = _container_op(
    "py::setitem",
    "(x!, index, value)",
    "``x[index] = value``",
    infer=_nothing,
    evaluate=operator.setitem,
    numpy="np::setitem",
)
DELITEM = _container_op(
    "py::delitem", "(x!, index)", "``del x[index]``", infer=_nothing, evaluate=operator.delitem
)
CONTAINS = _container_op(
    "py::contains",
    "(item, container)",
    "``item in container``",
    infer=lambda item, container: BOOL,
    evaluate=_in,
)
NOT_CONTAINS = _container_op(
    "py::not_contains",
    "(item, container)",
    "``item not in container``",
    infer=lambda item, container: BOOL,
    evaluate=_not_in,
)
