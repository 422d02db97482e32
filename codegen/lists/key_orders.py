"""In which order keys stand: numbers, strs, and tuples of them, as records of what they are compared by, and a place.

Of a str that is the number that its first bytes are, and the str itself where these are equal. If there are strs with
characters of more than a byte, the number is 0 for all.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ljit.codegen.layouts import text_layout
from ljit.codegen.lists import private_lists
from ljit.codegen.lists.list_sorts import sort_items
from ljit.codegen.llvm.builder import FALSE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native, split
from ljit.codegen.references.characters import function_of, latin_items, leave_if
from ljit.types import BOOL, CHARACTER, FLOAT, INT, STR, ListType, TupleType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["order"]

_WORD = 8  # each field of a record is as large
_PREFIX = "{i64, i1}"  # and whether there is none

#: what a part of a key is compared by: LLVM types, and comparisons of numbers
_FIELDS: dict[Type, tuple[tuple[str, str], ...]] = {
    INT: (("i64", "icmp slt"),),
    FLOAT: (("double", "fcmp olt"),),
    CHARACTER: (("i64", "icmp slt"),),
    STR: (("i64", "icmp ult"), ("ptr", "")),
}


def order(e: Emitter, keys: Native, *, is_falling: bool) -> Native:
    """A private list of the places of the keys in a list in their order; equal ones stand as they did."""
    assert isinstance(keys.type, ListType)
    types = _parts_of(keys.type.item)
    fields = [*(field for type_ in types for field, _ in _FIELDS[type_]), "i64"]
    f, count, width = e.f, e.list_size(keys), _WORD * len(fields)
    result = e.list_make([], ListType(INT, is_private=True))
    e.list_resize(result, e.mul(count, Native(INT, (integer("i64", 2 * len(fields)),))))
    start = private_lists.start(f, result)
    store = partial(_store, e, keys, start, width)
    is_wide = e.fold(count, Native(BOOL, (FALSE,)), store, len(fields))
    if STR in types:
        trips = f.select(is_wide.ref, count.ref, integer("i64", 0))
        e.loop(Native(INT, (trips,)), lambda k: _forget_prefixes(e, _at(f, start, k, width), types))
    room = _at(f, start, count, width)
    name = f"order_{'_'.join(map(str, types))}_{'falling' if is_falling else 'rising'}"
    record = f"{{ {', '.join(fields)} }}"
    _define_test(f, f"{name}.before", record, types, "%y, %x" if is_falling else "%x, %y")
    is_before = f"@{name}.before"
    sort_items(f, name, record, width, is_before, (start, room, count.ref))
    e.loop(count, lambda k: _put_place(e, result, k, _at(f, start, k, width), width))
    e.list_resize(result, count)
    return result


def _parts_of(key: Type) -> list[Type]:
    return [p for t in key.items for p in _parts_of(t)] if isinstance(key, TupleType) else [key]


def _leaves(value: Native) -> list[Native]:
    is_tuple = isinstance(value.type, TupleType)
    return [leaf for item in split(value) for leaf in _leaves(item)] if is_tuple else [value]


def _at(f: FunctionBuilder, start: Ref, k: Native, width: int) -> Ref:
    return f.gep("i8", start, f.mul(k.ref, integer("i64", width)))


def _store(e: Emitter, keys: Native, start: Ref, width: int, k: Native, is_wide: Native) -> Native:
    """Write the record of a key; gives whether a str had no number up to here."""
    f, record, place = e.f, _at(e.f, start, k, width), 0
    for leaf in _leaves(e.list_load(keys, k)):
        fields = [leaf.ref]
        if leaf.type == FLOAT:
            e.bail_if(e.compare("ne", leaf, leaf), "NaN is sorted")
        elif leaf.type == CHARACTER:
            fields = [f.convert("sext", leaf.ref, "i64")]
        elif leaf.type == STR:
            number, has_none = _prefix(f, leaf.ref)
            is_wide = e.bit_or(is_wide, Native(BOOL, (has_none,)))
            fields = [number, leaf.ref]
        for field in fields:
            f.store(field, f.gep("i8", record, place))
            place += _WORD
    f.store(k.ref, f.gep("i8", record, place))
    return is_wide


def _forget_prefixes(e: Emitter, record: Ref, types: list[Type]) -> None:
    place = 0
    for type_ in types:
        if type_ == STR:
            e.f.store(integer("i64", 0), e.f.gep("i8", record, place))
        place += _WORD * len(_FIELDS[type_])


def _put_place(e: Emitter, result: Native, k: Native, record: Ref, width: int) -> None:
    """The place in a record, behind those of the records before: no record is written over that is still read."""
    place = e.f.load("i64", e.f.gep("i8", record, width - _WORD))
    private_lists.store(e, result, k, Native(INT, (place,)))


# -- strs ------------------------------------------------------------------------------------------


def _prefix(f: FunctionBuilder, text: Ref) -> tuple[Ref, Ref]:
    """The number of a str, and whether it has none."""
    name = function_of(f, "text.prefix", _PREFIX, _write_prefix, ["ptr"], reads=True)
    found = f.call(_PREFIX, name, (text,))
    return f.extract("i64", found, 0), f.extract("i1", found, 1)


def _write_prefix(f: FunctionBuilder) -> None:
    """The first bytes, the first one on top; of a short str what lies in front of it in memory is pushed out."""
    (text,) = f.params
    wide, short = f.new_block("wide"), f.new_block("short")
    if text_layout.is_known():
        items = latin_items(f, text, wide)
        size = f.load("i64", f.gep("i8", text, text_layout.TEXT_SIZE))
        leave_if(f, f.icmp("ult", size, _WORD), short)
        _return_number(f, f.load("i64", items, 1))
        f.start(short)
        last = f.load("i64", f.gep("i8", items, f.binary("sub", size, _WORD)), 1)
        half = f.binary(
            "mul", f.binary("sub", integer("i64", _WORD), size), _WORD // 2
        )  # of up to 64 bits
        _return_number(f, f.binary("lshr", f.binary("lshr", last, half), half))
    else:
        f.br(wide)
    f.start(wide)
    f.ret(Ref(_PREFIX, "{i64 0, i1 true}"))


def _return_number(f: FunctionBuilder, little: Ref) -> None:
    number = f.call_external("i64", "llvm.bswap.i64", (little,), "")
    f.ret(f.emit(_PREFIX, f"insertvalue {_PREFIX} zeroinitializer, {number.typed}, 0"))


# -- comparisons -----------------------------------------------------------------------------------


def _define_test(f: FunctionBuilder, name: str, record: str, types: list[Type], given: str) -> None:
    """The function that says whether one record comes before another; `given`: both, in the order of its operands."""
    first, second = given.split(", ")
    lines = [f"define internal i1 @{name}({record} {first}, {record} {second}) nounwind {{"]
    fields = [field for type_ in types for field in _FIELDS[type_]]
    for k, (type_, is_less) in enumerate(fields):
        lines += [f"%{v}.{k} = extractvalue {record} %{v}, {k}" for v in "xy"]
        lines += _field_test(k, type_, is_less)
        lines += [f"br i1 %less.{k}, label %yes, label %other.{k}", f"other.{k}:"]
        lines += [f"br i1 %more.{k}, label %no, label %next.{k}", f"next.{k}:"]
    lines += ["br label %no", "yes:", "ret i1 true", "no:", "ret i1 false", "}"]
    if STR in types:
        f.module.declare("PyUnicode_Compare", "i32", ["ptr", "ptr"], "nounwind")
    f.module.define(name, "\n".join(lines))


def _field_test(k: int, type_: str, is_less: str) -> list[str]:
    """Two conditions: that the field of x is less than that of y, and that it is more."""
    if type_ != "ptr":
        return [
            f"%less.{k} = {is_less} {type_} %x.{k}, %y.{k}",
            f"%more.{k} = {is_less} {type_} %y.{k}, %x.{k}",
        ]
    return [
        f"%same.{k} = icmp eq ptr %x.{k}, %y.{k}",
        f"br i1 %same.{k}, label %next.{k}, label %compare.{k}",
        f"compare.{k}:",
        f"%order.{k} = call i32 @PyUnicode_Compare(ptr %x.{k}, ptr %y.{k})",
        f"%less.{k} = icmp slt i32 %order.{k}, 0",
        f"%more.{k} = icmp sgt i32 %order.{k}, 0",
    ]
