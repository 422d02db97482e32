"""Objects put into containers: small ints are found without a call, numbers that nobody else has are overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import new_object
from ljit.codegen.layouts.layout import (
    FLOAT_VALUE,
    LEAST_SMALL_INT,
    LONG_DIGIT,
    LONG_TAG,
    LONG_TAG_IS_SIZE,
    OB_REFCNT,
    OB_TYPE,
    SMALL_INT_SIZE,
    SMALL_INTS,
)
from ljit.codegen.llvm.builder import BlockRef, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.boxing import incref
from ljit.types import BOOL, FLOAT, INT

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["item_object", "store_item"]

#: ints from here on are objects of their own
_OWN_INTS = LEAST_SMALL_INT + SMALL_INTS


def store_item(e: Emitter, place: Ref, value: Native) -> None:
    """Put a value where another object lies, which is given back."""
    f = e.f
    old = f.load("ptr", place)
    if value.type == BOOL:
        _replace_bool(e, place, old, value)
        return
    if value.type not in (FLOAT, INT):
        _replace(e, place, old, value)
        return
    replace, done = f.new_block("replace"), f.new_block("stored")
    _overwrite(e, old, value, replace)
    f.br(done)
    f.start(replace)
    _replace(e, place, old, value)
    f.br(done)
    f.start(done)


def _replace(e: Emitter, place: Ref, old: Ref, value: Native) -> None:
    e.f.store(item_object(e, value), place)
    e.ownership.release(old)


def item_object(e: Emitter, value: Native) -> Ref:
    """A new reference to the boxed item; small ints are found without a call."""
    if value.type != INT or e.ownership.object_of(value) is not None:
        return new_object(e, value)
    f = e.f
    position = f.binary("sub", value.ref, LEAST_SMALL_INT)
    small, other, done = f.new_block("small"), f.new_block("large"), f.new_block("item")
    f.condbr(f.icmp("ult", position, SMALL_INTS), small, other)
    f.start(small)
    offset = f.binary("mul", position, SMALL_INT_SIZE)
    shared = f.gep("i8", e.context.keep(LEAST_SMALL_INT), offset)
    incref(f, shared)
    left_small = f.br(done)
    f.start(other)
    made = new_object(e, value)
    left_other = f.br(done)
    f.start(done)
    item = f.phi("ptr")
    item.add(shared, left_small)
    item.add(made, left_other)
    return item


def _replace_bool(e: Emitter, place: Ref, old: Ref, value: Native) -> None:
    """There are but two of them: often the list has the right one, and no counter is touched."""
    f = e.f
    wanted = f.select(value.ref, e.context.keep(True), e.context.keep(False))
    replace, done = f.new_block("replace"), f.new_block("stored")
    f.condbr(f.icmp("eq", old, wanted), done, replace)
    f.start(replace)
    _replace(e, place, old, value)
    f.br(done)
    f.start(done)


def _overwrite(e: Emitter, old: Ref, value: Native, otherwise: BlockRef) -> None:
    """Write a number into the object that it replaces, if only the container knows that object.

    With a reference count of 1 nobody can tell it from a new object. Ints must have one positive
    digit and be beyond the small ones, which exist once.
    """
    f, number = e.f, value.ref
    cls = float if value.type == FLOAT else int
    class_ = f.load("ptr", f.gep("i8", old, OB_TYPE))
    count = f.load("i64", f.gep("i8", old, OB_REFCNT))
    fits = f.icmp("eq", class_, e.context.keep(cls))
    fits = f.binary("and", fits, f.icmp("eq", count, 1))
    if value.type == INT:
        above_small = f.binary("sub", number, _OWN_INTS)
        one_digit = f.icmp("ult", above_small, 2**30 - _OWN_INTS)
        fits = f.binary("and", fits, one_digit)
    write = f.new_block("overwrite")
    f.condbr(fits, write, otherwise)
    f.start(write)
    if value.type == FLOAT:
        f.store(number, f.gep("i8", old, FLOAT_VALUE))
        return
    tag = integer("i64", 1 if LONG_TAG_IS_SIZE else 8)
    f.store(tag, f.gep("i8", old, LONG_TAG))
    digit = f.convert("trunc", number, "i32")
    f.store(digit, f.gep("i8", old, LONG_DIGIT))
