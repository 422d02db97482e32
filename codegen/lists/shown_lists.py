"""Private lists that become lists of Python's: one function for all lists of a type.

Rows of a list of lists become one list each, however often a row is in there: as long as that takes, the storage of a
row has the list that was made of it where a `bytearray` counts the uses of its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.layouts.layout import BYTEARRAY_EXPORTS, LIST_ITEMS, VAR_SIZE
from ljit.codegen.lists.private_lists import count, item_at
from ljit.codegen.llvm.builder import NULL, BlockRef, FunctionBuilder, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.boxing import Keep, box, incref
from ljit.types import ListType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.functions.context import Context

__all__ = ["shown"]


def shown(e: Emitter, x: Native, type_: Type) -> Native:
    """Give the list of Python's that a private list of numbers, or of lists of numbers, is."""
    made = e.f.call("ptr", _function(e.f, e.context, x.type), (x.ref,))
    e.bailout.error_if_null(made)
    e.ownership.acquire(made)
    return Native(type_, (made,))


def _function(f: FunctionBuilder, context: Context, type_: Type) -> str:
    """The function that gives a new list, or null: there is no memory."""
    assert isinstance(type_, ListType)
    name = context.boxers.get(type_)
    if name is None:
        row = _function(f, context, type_.item) if isinstance(type_.item, ListType) else ""
        name = context.boxers[type_] = f"list.{len(context.boxers)}"
        inner = f.module.function(name, "ptr", ["ptr"], "internal")
        inner.attributes = "nounwind noinline"
        x = Native(type_, inner.params)
        if row:
            _write_list_of_rows(inner, x, row)
        else:
            _write_list(inner, x, context.keep)
    return name


def _write_list(f: FunctionBuilder, x: Native, keep: Keep) -> None:
    failed = f.new_block("failed")

    def item(k: Ref) -> Ref:
        return _checked(f, box(f, item_at(f, x, k), keep), failed)

    made = _filled(f, count(f, x), item)
    f.ret(made)
    f.start(failed)
    _give_up(f, made)


def _write_list_of_rows(f: FunctionBuilder, x: Native, row: str) -> None:
    size = f.load("i64", f.gep("i8", x.ref, VAR_SIZE))
    rows = f.load("ptr", f.gep("i8", x.ref, LIST_ITEMS))
    failed = f.new_block("failed")

    def shown_in(k: Ref) -> Ref:
        storage = f.load("ptr", f.gep("ptr", rows, k))
        return f.gep("i8", storage, BYTEARRAY_EXPORTS)

    def item(k: Ref) -> Ref:
        place = shown_in(k)
        again, first, done = f.new_block("again"), f.new_block("first"), f.new_block("row")
        known = f.load("ptr", place)
        f.condbr(f.icmp("eq", known, NULL), first, again)
        f.start(again)
        incref(f, known)
        left_again = f.br(done)
        f.start(first)
        made = _checked(f, f.call("ptr", row, (f.load("ptr", f.gep("ptr", rows, k)),)), failed)
        f.store(made, place)
        left_first = f.br(done)
        f.start(done)
        result = f.phi("ptr")
        result.add(known, left_again)
        result.add(made, left_first)
        return result

    def forget() -> None:
        _trips(f, size, lambda k: f.store(NULL, shown_in(k)))

    made = _filled(f, size, item)
    forget()
    f.ret(made)
    f.start(failed)
    forget()
    _give_up(f, made)


def _filled(f: FunctionBuilder, size: Ref, item: Callable[[Ref], Ref]) -> Ref:
    """A new list of Python's; leaves the function with null if there is no memory for it."""
    made = f.call_external("ptr", "PyList_New", (size,))
    none, some = f.new_block("none"), f.new_block("some")
    f.condbr(f.icmp("eq", made, NULL), none, some, unlikely=True)
    f.start(none)
    f.ret(NULL)
    f.start(some)
    items = f.load("ptr", f.gep("i8", made, LIST_ITEMS))
    _trips(f, size, lambda k: f.store(item(k), f.gep("ptr", items, k)))
    return made


def _checked(f: FunctionBuilder, pointer: Ref, failed: BlockRef) -> Ref:
    following = f.new_block("made")
    f.condbr(f.icmp("eq", pointer, NULL), failed, following, unlikely=True)
    f.start(following)
    return pointer


def _give_up(f: FunctionBuilder, made: Ref) -> None:
    """Give the unfinished list back, and null."""
    f.call_external("void", "Py_DecRef", (made,))
    f.ret(NULL)


def _trips(f: FunctionBuilder, size: Ref, body: Callable[[Ref], None]) -> None:
    turn, inside, done = f.new_block("turn"), f.new_block("inside"), f.new_block("done")
    entry = f.br(turn)
    f.start(turn)
    k = f.phi("i64")
    f.condbr(f.icmp("eq", k, size), done, inside)
    f.start(inside)
    body(k)
    following = f.add(k, 1)
    k.add(0, entry)
    k.add(following, f.br(turn))
    f.start(done)
