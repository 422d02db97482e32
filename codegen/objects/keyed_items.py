"""Dicts and sets by keys that need no object: what is done in line, and in which cases CPython does it.

A value of a dict is overwritten where it lies if it is a number, a bool, a str or None: then neither the dict's keys
nor what the garbage collector knows of it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import convert
from ljit.codegen.lists.stored_items import store_item
from ljit.codegen.llvm.builder import NULL, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.attribute_dicts import is_watched, renew_version
from ljit.codegen.objects.hash_tables import UNKNOWN, find_key
from ljit.ops.containers.keys import is_dict
from ljit.ops.python.types import class_of
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, STR

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

    WithObjects = Callable[[], Native]

__all__ = [
    "add_key",
    "has_key",
    "item_of_dict",
    "item_or_default",
    "lacks_key",
    "set_default",
    "store_in_dict",
]

_STORED = (INT, FLOAT, BOOL, STR, NONE)
_NOTHING = Native(NONE, ())


def _is_unknown(e: Emitter, place: Ref) -> Native:
    return Native(BOOL, (e.f.icmp("eq", place, UNKNOWN),))


def _is_missing(e: Emitter, place: Ref) -> Native:
    return Native(BOOL, (e.f.icmp("eq", place, NULL),))


def _is_not_found(e: Emitter, place: Ref) -> Native:
    return Native(BOOL, (e.f.icmp("ule", place, UNKNOWN),))


def _item_at(e: Emitter, place: Ref) -> Native:
    item = Native(ANY, (e.f.load("ptr", place),))
    if not e.result_is_used_up:
        e.ownership.share(item)
    return item


# -- in --------------------------------------------------------------------------------------------


def _contains(
    e: Emitter, with_objects: WithObjects, key: Native, table: Native, predicate: str
) -> Native | None:
    place = find_key(e, table, key)
    if place is None:
        return None
    return e.branch(
        _is_unknown(e, place),
        with_objects,
        lambda: Native(BOOL, (e.f.icmp(predicate, place, NULL),)),
    )


def has_key(e: Emitter, with_objects: WithObjects, key: Native, table: Native) -> Native | None:
    """``key in table``"""
    return _contains(e, with_objects, key, table, "ne")


def lacks_key(e: Emitter, with_objects: WithObjects, key: Native, table: Native) -> Native | None:
    """``key not in table``"""
    return _contains(e, with_objects, key, table, "eq")


# -- sets ------------------------------------------------------------------------------------------


def add_key(e: Emitter, with_objects: WithObjects, table: Native, key: Native) -> Native | None:
    """``table.add(key)``: nothing is done for a key that is there."""
    place = find_key(e, table, key) if e.ownership.object_of(key) is None else None
    if place is None:
        return None
    return e.branch(_is_not_found(e, place), with_objects, lambda: _NOTHING)


# -- dicts -----------------------------------------------------------------------------------------


def item_of_dict(e: Emitter, with_objects: WithObjects, x: Native, key: Native) -> Native | None:
    """``x[key]``; what happens without the key is the class's affair."""
    place = find_key(e, x, key) if is_dict(x.type) else None  # sets have no items
    if place is None:
        return None
    return e.branch(_is_not_found(e, place), with_objects, lambda: _item_at(e, place))


def set_default(
    e: Emitter, with_objects: WithObjects, x: Native, key: Native, *_default: Native
) -> Native | None:
    """``x.setdefault(key, default)``"""
    return item_of_dict(e, with_objects, x, key)


def item_or_default(
    e: Emitter, with_objects: WithObjects, x: Native, key: Native, default: Native = _NOTHING
) -> Native | None:
    """``x.get(key, default)``"""
    place = find_key(e, x, key)
    if place is None:
        return None
    return e.branch(
        _is_unknown(e, place),
        with_objects,
        lambda: e.branch(
            _is_missing(e, place), lambda: _kept_object(e, default), lambda: _item_at(e, place)
        ),
    )


def _kept_object(e: Emitter, value: Native) -> Native:
    """An operand that is the result: what made it for this call alone gives its own reference back behind it."""
    e.ownership.share(value)
    return convert(e, value, ANY)


def store_in_dict(
    e: Emitter, with_objects: WithObjects, x: Native, key: Native, value: Native
) -> Native | None:
    """``x[key] = value`` of a key that is there."""
    setter = getattr(class_of(x.type), "__setitem__", None)
    if value.type not in _STORED or setter is not dict.__setitem__:
        return None
    place = find_key(e, x, key)
    if place is None:
        return None
    is_new = _is_not_found(e, place).ref
    is_new = e.f.binary("or", is_new, is_watched(e.f, x.ref))

    def store() -> Native:
        renew_version(e.f, x.ref)  # first: what the old value's end runs looks for the new one
        store_item(e, place, value)
        return _NOTHING

    return e.branch(Native(BOOL, (is_new,)), with_objects, store)
