"""The ops of ``for``: ``prim::has_next(it, k)`` and ``prim::next(it, k)`` over the views of `iteration_views`.

Over types of fixed length `prim::view_size` gives the number of trips; the loop can then count instead of asking.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, Value, any_result, declare
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ir.parts import Parts
from ljit.ops.containers import iteration_views as views
from ljit.ops.containers.iteration_rules import (
    can_lower_next,
    has_fixed_size,
    has_guarded_items,
    has_next,
    holds_cursor,
    holds_list,
    is_view,
    item_at,
    item_type,
    make_cursor,
    reads_memory,
    release,
    size_of,
)
from ljit.ops.ranges.int_ranges import SAME_ITEMS
from ljit.ops.ranges.iteration_ranges import NEXT_RANGES, VIEW_SIZE_RANGES
from ljit.types import ANY, BOOL, INT, UNBOUND, ListType, ObjectType, TupleType, Type, ViewType

__all__ = ["HAS_NEXT", "ITER", "ITER_CALL", "NEXT", "RELEASE", "VIEW_SIZE"]


def _view_type(t: Type) -> Type:
    """The type of the view of an iterable: itself, or a cursor, which any object has."""
    return t if is_view(t) else views.CURSOR


def _view(e: Emitter, x: V) -> V:
    return x if is_view(x.type) else make_cursor(e, x)


def _infer_enumerate(iterable: Type, start: Type = INT) -> Type:
    if start not in (BOOL, INT):
        return ANY
    return ViewType("enumerate", (_view_type(iterable), INT))


def _infer_zip(*iterables: Type) -> Type:
    parts = _zip_parts(iterables)
    return ViewType("zip", parts) if parts else TupleType(())


def _zip_parts(iterables: Sequence[Type]) -> tuple[Type, ...]:
    """What can change is asked for its item by a cursor if one comes behind it, which may run code that changes it."""
    parts = list(map(_view_type, iterables))
    last = max((k for k, part in enumerate(parts) if _runs_code(part, iterables[k])), default=0)
    for k, part in enumerate(parts[:last]):
        if reads_memory(part) and not _is_private(part):
            parts[k] = views.CURSOR
    return tuple(parts)


def _runs_code(part: Type, iterable: Type) -> bool:
    """Whether asking the part for an item may run code of a user's."""
    is_quiet = isinstance(iterable, ObjectType) and iterable.cls in views.QUIET
    return holds_cursor(part) and not is_quiet


def _is_private(t: Type) -> bool:
    return isinstance(t, ListType) and t.is_private


def _can_lower_zip(*iterables: Type) -> bool:
    """A view is no object that a cursor could go through."""
    parts = _zip_parts(iterables)
    return bool(parts) and not any(
        part == views.CURSOR != t and isinstance(t, ViewType)
        for t, part in zip(iterables, parts, strict=True)
    )


def _infer_reversed(sequence: Type) -> Type:
    part = _view_type(sequence)
    if part == views.CURSOR:
        return part
    return ANY if isinstance(sequence, ViewType) else ViewType("reversed", (part, INT))


def _lower_enumerate(e: Emitter, iterable: V, start: V | None = None) -> V:
    first = e.const(INT, 0) if start is None else start
    first = e.cast(first, INT) if first.type == BOOL else first
    return e.view_make(_infer_enumerate(iterable.type), [_view(e, iterable), first])


def _lower_zip(e: Emitter, *iterables: V) -> V:
    parts = _zip_parts([x.type for x in iterables])
    made = [
        x if x.type == part else make_cursor(e, x) for x, part in zip(iterables, parts, strict=True)
    ]
    return e.view_make(ViewType("zip", parts), made)


def _lower_reversed(e: Emitter, sequence: V) -> V:
    type_ = _infer_reversed(sequence.type)
    if type_ == views.CURSOR:
        return make_cursor(e, e.call_function(reversed, [sequence]))
    return e.view_make(type_, [sequence, size_of(e, sequence)])


def _effect_of_maker(*types: Type) -> Effect:
    """Views are made of known types without running any code; reversed reads the size."""
    if not all(is_view(t) or t in (BOOL, INT) for t in types) or any(map(holds_cursor, types)):
        return Effect.CALL
    return Effect.READ if any(map(reads_memory, types)) else Effect.PURE


def _effect_of_has_next(view: Type, k: Type) -> Effect:
    if not is_view(view) or holds_cursor(view):
        return Effect.CALL
    return Effect.PURE if has_fixed_size(view) else Effect.READ


def _effect_of_next(view: Type, k: Type) -> Effect:
    if not is_view(view):
        return Effect.CALL
    if has_guarded_items(view):  # the type of the item relies on it, even if nobody reads the item
        return Effect.READ | Effect.RAISE
    return Effect.READ if reads_memory(view) else Effect.PURE


def _lower_release(e: Emitter, view: V, *_kept: V) -> tuple[()]:
    release(e, view)
    return ()


def _effect_of_release(view: Type, *_kept: Type) -> Effect:
    if view == UNBOUND:  # for a handler: the loop has not been entered
        return Effect.PURE
    return Effect.CALL if not is_view(view) or holds_cursor(view) else Effect.PURE


def _next_of_parts(p: Parts, view: Value, k: Value) -> Value | None:
    """Give the items of ``enumerate`` and ``zip`` of lists one by one: more is known of iterations over lists alone."""
    made = view.node
    if made is None or not holds_list(view.type) or item_type(view.type) != p.type:
        return None
    if made.op is ZIP_VIEW:
        return p.apply("prim::TupleConstruct", *(p.apply("prim::next", x, k) for x in made.inputs))
    if made.op is not ENUMERATE_VIEW:
        return None
    x, *start = made.inputs
    number = p.apply("py::add", start[0] if start else p.constant(0), k)
    return p.apply("prim::TupleConstruct", number, p.apply("prim::next", x, k))


def _iteration_op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    return declare(OpDef(f"prim::{name}", Schema(schema), doc, **fields))


_ARRAYS = (np.arange(3.0), np.ones((2, 2), np.int8), np.zeros((0, 3)))
_SEQUENCES: tuple[Any, ...] = (
    range(3),
    range(5, -5, -3),
    (1, 2),
    (1, 2.5),
    [1.5, 2.5],
    [],
    b"a\xff",
    bytearray(b"a\xff"),
    array("f", [0.5, -2.5]),
    array("I", [0, 2**32 - 1, 7]),
    *_ARRAYS,
)

ITER = _iteration_op(
    "iter",
    "(x)",
    "The view that ``for v in x`` runs over.",
    takes_records=True,
    infer=_view_type,
    ranges=SAME_ITEMS,
    evaluate=views.make_view,
    lower=_view,
    list_use=ListUse(gives_list=True),
    effects=lambda x: Effect.PURE if is_view(x) else Effect.CALL,
    samples=tuple((x,) for x in _SEQUENCES),
)
ITER_CALL = _iteration_op(
    "iter_call",
    "(f, *args)",
    "The view that ``for v in f(*args)`` runs over.",
    infer=any_result,
    evaluate=views.view_of_call,
    effects=Effect.CALL,
    samples=((range, 3), (enumerate, "ab"), (zip, [1], "a"), (zip,), (reversed, [1]), (iter, "a")),
)
ENUMERATE_VIEW = _iteration_op(
    "enumerate_view",
    "(iterable, start=0)",
    "``for v in enumerate(iterable, start)``",
    takes_records=True,
    infer=_infer_enumerate,
    evaluate=views.enumerate_view,
    lower=_lower_enumerate,
    effects=_effect_of_maker,
    iter_callables=(enumerate,),
    list_use=ListUse(gives_view=True, leading=1),
    samples=(*((x,) for x in _SEQUENCES), ([1], 5), ((1, 2), True), ("ab",)),
)
ZIP_VIEW = _iteration_op(
    "zip_view",
    "(*iterables)",
    "``for v in zip(*iterables)``",
    takes_records=True,
    infer=_infer_zip,
    evaluate=views.zip_view,
    lower=_lower_zip,
    can_lower=_can_lower_zip,
    effects=_effect_of_maker,
    iter_callables=(zip,),
    list_use=ListUse(gives_view=True),
    samples=(*((x, range(9)) for x in _SEQUENCES), (), ([1],), ("ab", [1])),
)
REVERSED_VIEW = _iteration_op(
    "reversed_view",
    "(sequence, /)",
    "``for v in reversed(sequence)``",
    takes_records=True,
    infer=_infer_reversed,
    evaluate=views.reversed_view,
    lower=_lower_reversed,
    effects=_effect_of_maker,
    iter_callables=(reversed,),
    list_use=ListUse(gives_list=True),
    samples=(*((x,) for x in _SEQUENCES), ("ab",)),
)
_VIEWS = (
    *_SEQUENCES,
    *(views.enumerate_view([1, 2], 7), views.enumerate_view(range(2), 2**63 - 1)),
    *(views.zip_view([1, 2], (1.5,)), views.zip_view(np.arange(2), range(2, 9))),
    *(views.reversed_view(x) for x in ([1, 2, 3], (1, 2), range(9), np.arange(4.0))),
    *(views.product_view(range(1, 3), (1.5, 2)), views.ndindex_view(1, 3, 2)),
    *(views.ndenumerate_view(a) for a in (np.arange(6).reshape(2, 3).T, np.arange(3.0))),
)
HAS_NEXT = _iteration_op(
    "has_next",
    "(view, k)",
    "Whether trip k of a loop over the view takes place.",
    takes_records=True,
    infer=lambda view, k: BOOL,
    evaluate=views.has_next,
    in_line=(views.form_of, ("{1} < len({0})", "{1} < len({0}[0])")),
    lower=has_next,
    can_lower=lambda view, k: is_view(view),
    list_use=ListUse(),
    effects=_effect_of_has_next,
    samples=tuple((view, k) for view in _VIEWS for k in (0, 1, 2, 3, 4)),
)
NEXT = _iteration_op(
    "next",
    "(view, k)",
    "The item of trip k; only after `prim::has_next` gave true for it.",
    takes_records=True,
    infer=lambda view, k: item_type(view),
    ranges=NEXT_RANGES,
    evaluate=views.next_item,
    in_line=(views.form_of, ("{0}[{1}]", "({0}[1] + {1}, {0}[0][{1}])")),
    lower=item_at,
    can_lower=lambda view, k: can_lower_next(view),
    decompose=_next_of_parts,
    list_use=ListUse(gives_item=True),
    effects=_effect_of_next,
    is_profiled=True,
    samples=tuple((view, k) for view in _VIEWS for k in range(3) if views.has_next(view, k)),
)
RELEASE = _iteration_op(
    "release",
    "(view, *kept)",
    """Let go of the iterators in a view, behind its loop; the variables that are `kept` have lived until then.

    Where a variable has the iterator as well, or what it runs over, that must not be lost here.""",
    takes_records=True,
    infer=lambda view, *kept: (),
    evaluate=views.release,
    lower=_lower_release,
    can_lower=lambda view, *kept: view == UNBOUND or is_view(view),
    list_use=ListUse(),
    effects=_effect_of_release,
    samples=(*((view,) for view in _VIEWS), (views.make_view("ab"), 1), (range(3), [1], 2.5)),
)
VIEW_SIZE = _iteration_op(
    "view_size",
    "(view)",
    "How many trips a loop over the view takes, where that cannot change while it runs.",
    takes_records=True,
    infer=lambda view: INT,
    ranges=VIEW_SIZE_RANGES,
    evaluate=views.size_of,
    lower=size_of,
    can_lower=has_fixed_size,
    effects=lambda view: Effect.PURE if has_fixed_size(view) else Effect.CALL,
    samples=tuple((view,) for view in _VIEWS if not isinstance(view, list)),
)
