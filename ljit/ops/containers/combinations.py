"""Loops over all combinations: ``itertools.product``, ``np.ndindex`` and ``np.ndenumerate``.

The items of trip k are found by divisions, so that a loop over such a view has one counter, as any other; those of
trips that follow one another, without (`passes/carry_places`). Loops over combinations of lists have loops in one
another (`frontend/emitting/mapped.py`) over what `prim::pool` gives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, Value, declare, get_op
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ir.parts import Parts
from ljit.ops.containers import iteration_views as views
from ljit.ops.containers.iteration_rules import size_of
from ljit.ops.python.types import UINT64
from ljit.ops.ranges.int_ranges import FROM_START, INSIDE
from ljit.types import BYTES, INT, RANGE, STR, ArrayType, ObjectType, TupleType, Type, ViewType

__all__: list[str] = []

_Apply = Callable[..., Value]
_Combined = tuple[list[Value], Callable[[_Apply, Sequence[Value]], Value]]


def _declare(
    function: Any,
    module: str,
    schema: str,
    make: Callable[..., object],
    infer: Callable[..., Type],
    lower: Callable[..., V],
    samples: tuple[Any, ...],
    effects: Effect,
    combined: Callable[..., _Combined],
) -> None:
    """Declare what a call gives as an object, and the view that a loop goes through in its place.

    `effects`: of making the view of known types; `combined`: see `OpDef.combined`.
    """
    name = function.__name__

    def is_known(*types: Type) -> bool:
        return infer(*types) != views.CURSOR

    declare(
        OpDef(
            f"{module}::{name}",
            Schema(schema),
            f"``{name}{schema}`` as an object",
            infer=lambda *types: ObjectType(function),
            evaluate=function,
            effects=lambda *types: effects | Effect.ALLOC if is_known(*types) else Effect.CALL,
            callables=(function,),
            iterated=f"prim::{name}_view",
            samples=samples,
        )
    )
    declare(
        OpDef(
            f"prim::{name}_view",
            Schema(schema),
            f"``for v in {name}{schema}``",
            infer=infer,
            evaluate=make,
            lower=lower,
            can_lower=is_known,
            effects=lambda *types: effects if is_known(*types) else Effect.CALL,
            iter_callables=(function,),
            combined=combined,
            samples=samples,
        )
    )


def _infer_product(*iterables: Type) -> Type:
    """A view of what stays as it is: Python copies what may change."""
    are_fixed = all(t in (RANGE, STR, BYTES) or _has_items(t) for t in iterables)
    return ViewType("product", iterables) if iterables and are_fixed else views.CURSOR


def _has_items(t: Type) -> bool:
    return isinstance(t, TupleType) and bool(t.items)


def _combine_iterables(apply: _Apply, *iterables: Value) -> _Combined:
    def item(apply: _Apply, places: Sequence[Value]) -> Value:
        items = (apply("prim::next", *at) for at in zip(iterables, places, strict=True))
        return apply("prim::TupleConstruct", *items)

    return [apply("prim::view_size", x) for x in iterables], item


def _lower_product(e: Emitter, *iterables: V) -> V:
    for part in iterables:
        _refuse_more(e, size_of(e, part), views.most_of_a_part(len(iterables)))
    return e.view_make(_infer_product(*(x.type for x in iterables)), iterables)


def _refuse_more(e: Emitter, size: V, most: int) -> None:
    e.bail_if(e.compare("gt", e.cast(size, UINT64), most), "less than no items, or very many")


def _infer_ndindex(*shape: Type) -> Type:
    sizes = shape[0].items if len(shape) == 1 and isinstance(shape[0], TupleType) else shape
    are_ints = sizes and all(t == INT for t in sizes)
    return ViewType("product", (RANGE,) * len(sizes)) if are_ints else views.CURSOR


def _combine_indices(apply: _Apply, *shape: Value) -> _Combined:
    sizes = list(shape)
    if isinstance(shape[0].type, TupleType):
        sizes = _items(apply, shape[0])
    return sizes, lambda apply, places: apply("prim::TupleConstruct", *places)


def _items(apply: _Apply, x: Value) -> list[Value]:
    assert isinstance(x.type, TupleType)
    return [apply("prim::TupleIndex", x, index=i) for i in range(len(x.type.items))]


def _lower_ndindex(e: Emitter, *shape: V) -> V:
    sizes = e.tuple_items(shape[0]) if isinstance(shape[0].type, TupleType) else shape
    for size in sizes:
        _refuse_more(e, size, views.most_of_a_part(len(sizes)))
    zero, one = e.const(INT, 0), e.const(INT, 1)
    ranges = [e.range_make(zero, size, one) for size in sizes]
    return e.view_make(_infer_ndindex(*(x.type for x in shape)), ranges)


def _infer_ndenumerate(arr: Type) -> Type:
    has_axes = isinstance(arr, ArrayType) and arr.ndim > 0
    return ViewType("ndenumerate", (arr,)) if has_axes else views.CURSOR


def _combine_elements(apply: _Apply, arr: Value) -> _Combined:
    def item(apply: _Apply, places: Sequence[Value]) -> Value:
        index = apply("prim::TupleConstruct", *places)
        element = apply("np::getitem", arr, index)
        assert element.node is not None
        checks = [
            f"{check}.{axis}" for axis in range(len(places)) for check in (FROM_START, INSIDE)
        ]
        element.node.proven = tuple(checks)
        return apply("prim::TupleConstruct", index, element)

    return _items(apply, apply("np::shape", arr)), item


def _lower_ndenumerate(e: Emitter, arr: V) -> V:
    return e.view_make(_infer_ndenumerate(arr.type), [arr])


_ARRAYS = (np.arange(3.0), np.arange(6).reshape(2, 3)[:, ::-1], np.zeros((2, 0, 3)), np.array(1.5))
_declare(
    itertools.product,
    "itertools",
    "(*iterables)",
    views.product_view,
    _infer_product,
    _lower_product,
    ((range(3),), (range(2), (1.5, 2)), ("ab", b"xyz", range(5, 0, -2)), ([1, 2], "a"), (), (5,)),
    Effect.RAISE,
    _combine_iterables,
)
_declare(
    np.ndindex,
    "np",
    "(*shape)",
    views.ndindex_view,
    _infer_ndindex,
    _lower_ndindex,
    ((3,), (2, 3), ((2, 3, 1),), (0, 2), (), ((),)),
    Effect.RAISE,
    _combine_indices,
)
_declare(
    np.ndenumerate,
    "np",
    "(arr)",
    views.ndenumerate_view,
    _infer_ndenumerate,
    _lower_ndenumerate,
    (*((a,) for a in _ARRAYS), ([1, 2],)),
    Effect.READ,
    _combine_elements,
)


# -- items that are combined ---------------------------------------------------------------------------


def _infer_pool(x: Type) -> Type:
    return x if x in _RANGES else get_op("py::list").infer_types([x], {})[0]


def _pool_of(parts: Parts, x: Value) -> Value | None:
    return None if x.type in _RANGES else parts.apply("py::list", x)


_RANGES = (RANGE, ObjectType(range))
declare(
    OpDef(
        "prim::pool",
        Schema("(x)"),
        "The items of `x` as they are now: a range itself, a list of others.",
        infer=_infer_pool,
        evaluate=lambda x: x if type(x) is range else list(x),
        lower=lambda e, x: x,
        can_lower=lambda x: x in _RANGES,
        decompose=_pool_of,
        effects=lambda x: Effect.PURE if x in _RANGES else get_op("py::list").effects_on([x], {}),
        list_use=ListUse(copies="prim::private_section"),
        is_profiled=True,
        samples=((range(3),), ([1, 2],), ((1, 2.5),), (np.arange(3.0),), ("ab",), (5,)),
    )
)
