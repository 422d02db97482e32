"""Lengths, characters and comparisons of strs, read where they lie.

That holds for strs whose characters take one byte each. CPython does it for others, and for all of them where their
layout is not known.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

from ljit.codegen import text_layout as layout
from ljit.codegen.builder import FALSE, TRUE, FunctionBuilder, Ref, address, integer
from ljit.codegen.forms import Native
from ljit.codegen.refcounts import change_count
from ljit.types import BOOL, INT, STR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ljit.codegen.builder import BlockRef
    from ljit.codegen.emitter import Emitter

__all__ = [
    "character_of",
    "equal_texts",
    "function_of",
    "has_character",
    "lacks_character",
    "str_char",
    "str_code",
    "str_compare",
    "str_equal",
    "str_is_among",
    "str_number",
    "str_size",
]


def str_size(e: Emitter, x: Native) -> Native:
    if not layout.is_known():
        return Native(INT, (e.f.call_external("i64", "PyUnicode_GetLength", (x.ref,)),))
    return Native(INT, (_call(e.f, "text.size", "i64", _write_size, (x.ref,)),))


def str_code(e: Emitter, x: Native, index: Native) -> Native:
    operands = (x.ref, index.ref)
    if layout.is_known():
        code = _call(e.f, "text.code", "i32", _write_code, operands)
    else:
        code = e.f.call_external("i32", "PyUnicode_ReadChar", operands)
    return Native(INT, (e.f.convert("zext", code, "i64"),))


def str_char(e: Emitter, code: Native) -> Native:
    short = e.f.convert("trunc", code.ref, "i32")
    if layout.is_known():
        made = _call(e.f, "text.character", "ptr", _write_character, (short,), reads=False)
    else:
        made = e.f.call_external("ptr", "PyUnicode_FromOrdinal", (short,))
    return Native(STR, e.owned_result(made).parts)


def str_compare(e: Emitter, x: Native, y: Native) -> Native:
    operands = (x.ref, y.ref)
    if layout.is_known():
        order = _call(e.f, "text.order", "i32", _write_order, operands)
    else:
        order = e.f.call_external("i32", "PyUnicode_Compare", operands)
    return Native(INT, (e.f.convert("sext", order, "i64"),))


def str_equal(e: Emitter, x: Native, y: Native) -> Native:
    if not layout.is_known():
        return e.compare("eq", str_compare(e, x, y), e.const(INT, 0))
    return Native(BOOL, (equal_texts(e.f, x.ref, y.ref),))


def str_number(e: Emitter, x: Native) -> tuple[Native, Native]:
    if not layout.is_known():
        return e.const(INT, 0), e.const(BOOL, False)
    read = _call(e.f, "text.number", _NUMBER_OR_NOT, _write_number, (x.ref,))
    return Native(INT, (e.f.extract("i64", read, 0),)), Native(BOOL, (e.f.extract("i1", read, 1),))


def equal_texts(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    """Whether two strs have the same characters, where the layout is known."""
    return _call(f, "text.equal", "i1", _write_equal, (x, y))


# -- characters of ASCII ---------------------------------------------------------------------------

_ASCII, _WORD = 128, 64


def str_is_among(e: Emitter, x: Native, characters: str, otherwise: Callable[[], Native]) -> Native:
    def has_code() -> Native:
        code = str_code(e, x, e.const(INT, 0))
        is_ascii = e.compare("lt", code, e.const(INT, _ASCII))
        return e.branch(is_ascii, lambda: _is_code_of(e, code, characters), otherwise)

    return e.branch(e.compare("eq", str_size(e, x), e.const(INT, 1)), has_code, otherwise)


def _is_code_of(e: Emitter, code: Native, characters: str) -> Native:
    """Look the code up in two words with a bit for each character."""
    low, high = (integer("i64", _bits(characters, first)) for first in (0, _WORD))
    word = e.f.select(e.f.icmp("ult", code.ref, integer("i64", _WORD)), low, high)
    place = e.f.binary("and", code.ref, integer("i64", _WORD - 1))
    bit = e.f.binary("and", e.f.binary("lshr", word, place), integer("i64", 1))
    return Native(BOOL, (e.f.icmp("ne", bit, integer("i64", 0)),))


def _bits(characters: str, first: int) -> int:
    """A bit for each of 64 characters, as an int64."""
    bits = sum(1 << k for k in range(_WORD) if chr(first + k) in characters)
    return bits - 2**_WORD if bits >= 2 ** (_WORD - 1) else bits


def has_character(
    e: Emitter, with_objects: Callable[[], Native], item: Native, container: Native
) -> Native | None:
    """``item in "aeiou"``; None: the container is no such constant."""
    node = e.bailout.node
    assert node is not None
    wanted = node.inputs[1]
    if item.type != STR or container.type != STR or not wanted.is_constant:
        return None
    text = wanted.constant
    assert isinstance(text, str)
    return str_is_among(e, item, text, with_objects) if text.isascii() else None


def lacks_character(
    e: Emitter, with_objects: Callable[[], Native], item: Native, container: Native
) -> Native | None:
    """``item not in "aeiou"``; `with_objects` gives the same."""

    def is_there() -> Native:
        return Native(BOOL, (e.f.bool_not(with_objects().ref),))

    found = has_character(e, is_there, item, container)
    return None if found is None else Native(BOOL, (e.f.bool_not(found.ref),))


# -- functions of a module -------------------------------------------------------------------------

_READS = "nounwind willreturn memory(read)"


def _call(
    f: FunctionBuilder,
    name: str,
    result: str,
    write: Callable[[FunctionBuilder], None],
    operands: Sequence[Ref],
    *,
    reads: bool = True,
) -> Ref:
    """Call a function of the module; `reads`: it changes nothing."""
    types = [operand.type for operand in operands]
    return f.call(result, function_of(f, name, result, write, types, reads=reads), operands)


def function_of(
    f: FunctionBuilder,
    name: str,
    result: str,
    write: Callable[[FunctionBuilder], None],
    types: Sequence[str],
    *,
    reads: bool = False,
) -> str:
    """The name of a function that `write` writes into the module when it is first needed."""
    if all(function.name != name for function in f.module.functions):
        function = f.module.function(name, result, types, "internal")
        function.attributes = _READS if reads else "nounwind"
        write(function)
    return name


def _field(f: FunctionBuilder, type_: str, text: Ref, offset: int) -> Ref:
    return f.load(type_, f.gep("i8", text, integer("i64", offset)))


def _write_size(f: FunctionBuilder) -> None:
    """Up to 3.11 there are strs whose characters, and length, CPython puts into their places when they are needed."""
    (text,) = f.params
    raw = f.new_block("raw")
    kind = f.binary("and", _state(f, text), integer("i32", layout.TEXT_KIND))
    _leave_if(f, f.icmp("eq", kind, integer("i32", 0)), raw)
    f.ret(_field(f, "i64", text, layout.TEXT_SIZE))
    if f.start(raw, cold=True):
        f.ret(f.call_external("i64", "PyUnicode_GetLength", (text,)))


def _write_code(f: FunctionBuilder) -> None:
    text, index = f.params
    wide = f.new_block("wide")
    items = _latin_items(f, text, wide)
    f.ret(f.convert("zext", f.load("i8", f.gep("i8", items, index)), "i32"))
    if f.start(wide):
        f.ret(f.call_external("i32", "PyUnicode_ReadChar", (text, index)))


def _write_character(f: FunctionBuilder) -> None:
    """CPython has one object for each character of one byte."""
    (code,) = f.params
    wide = f.new_block("wide")
    _leave_if(f, f.icmp("ugt", code, integer("i32", 255)), wide)
    f.ret(character_of(f, f.convert("zext", code, "i64")))
    if f.start(wide):
        f.ret(f.call_external("ptr", "PyUnicode_FromOrdinal", (code,)))


def character_of(f: FunctionBuilder, code: Ref) -> Ref:
    """A new reference to the str of a character of one byte."""
    made = f.load("ptr", f.gep("ptr", address(_characters()[1]), code))
    change_count(f, made, "retain", in_line=True)
    return made


def _write_order(f: FunctionBuilder) -> None:
    """The first characters tell mostly; an empty str has a zero in the place of one."""
    x, y = f.params
    wide = f.new_block("wide")
    first, second = (
        f.convert("zext", f.load("i8", _latin_items(f, text, wide)), "i32") for text in (x, y)
    )
    _leave_if(f, f.icmp("eq", first, second), wide)
    f.ret(f.binary("sub", first, second))
    f.start(wide)
    f.ret(f.call_external("i32", "PyUnicode_Compare", (x, y)))


def _write_equal(f: FunctionBuilder) -> None:
    """Most equal strs, and all equal characters of one byte, are one object; most others differ in the first one."""
    x, y = f.params
    same, other, wide = f.new_block("same"), f.new_block("other"), f.new_block("wide")
    _leave_if(f, f.icmp("eq", x, y), same)
    first, second = (_latin_items(f, text, wide) for text in (x, y))
    _leave_if(f, f.icmp("ne", f.load("i8", first), f.load("i8", second)), other)
    size, length = (_field(f, "i64", text, layout.TEXT_SIZE) for text in (x, y))
    _leave_if(f, f.icmp("ne", size, length), other)
    differ = f.call_external("i32", "memcmp", (first, second, size), _READS)
    f.ret(f.icmp("eq", differ, integer("i32", 0)))
    if f.start(same):
        f.ret(TRUE)
    if f.start(other):
        f.ret(FALSE)
    if f.start(wide):
        order = f.call_external("i32", "PyUnicode_Compare", (x, y))
        f.ret(f.icmp("eq", order, integer("i32", 0)))


_NUMBER_OR_NOT = "{i64, i1}"
_MOST_DIGITS = 18  # of which no number is beyond int64


def _write_number(f: FunctionBuilder) -> None:
    """Read decimal digits, with a minus sign or without; all else is none."""
    (text,) = f.params
    other, digits, done = f.new_block("other"), f.new_block("digits"), f.new_block("done")
    items = _latin_items(f, text, other)
    sign = f.icmp("eq", f.load("i8", items), integer("i8", ord("-")))
    start = f.convert("zext", sign, "i64")
    size = _field(f, "i64", text, layout.TEXT_SIZE)
    count = f.binary("sub", size, start)
    less = f.binary("sub", count, integer("i64", 1))
    _leave_if(f, f.icmp("uge", less, integer("i64", _MOST_DIGITS)), other)
    entered = f.block
    f.br(digits)
    f.start(digits)
    place, number = f.phi("i64"), f.phi("i64")
    place.add(start, entered)
    number.add(integer("i64", 0), entered)
    code = f.convert("zext", f.load("i8", f.gep("i8", items, place)), "i64")
    digit = f.binary("sub", code, integer("i64", ord("0")))
    _leave_if(f, f.icmp("ugt", digit, integer("i64", 9)), other)
    more = f.binary("add", f.binary("mul", number, integer("i64", 10)), digit)
    following = f.binary("add", place, integer("i64", 1))
    left = f.condbr(f.icmp("eq", following, size), done, digits)
    place.add(following, left)
    number.add(more, left)
    f.start(done)
    signed = f.select(sign, f.binary("sub", integer("i64", 0), more), more)
    found = f"insertvalue {_NUMBER_OR_NOT} {{i64 0, i1 true}}, i64 {signed}, 0"
    f.ret(f.emit(_NUMBER_OR_NOT, found))
    if f.start(other):
        f.ret(Ref(_NUMBER_OR_NOT, "zeroinitializer"))


def _leave_if(f: FunctionBuilder, condition: Ref, target: BlockRef) -> None:
    following = f.new_block("next")
    f.condbr(condition, target, following)
    f.start(following)


def _state(f: FunctionBuilder, text: Ref) -> Ref:
    return _field(f, "i32", text, layout.TEXT_STATE)


def _latin_items(f: FunctionBuilder, text: Ref, wide: BlockRef) -> Ref:
    """Where the characters of a str are, if each takes one byte."""
    state = _state(f, text)
    mask, value = (integer("i32", flags) for flags in layout.has_bytes())
    _leave_if(f, f.icmp("ne", f.binary("and", state, mask), value), wide)
    ascii_ = f.binary("and", state, integer("i32", layout.IS_ASCII))
    is_ascii = f.icmp("ne", ascii_, integer("i32", 0))
    places = (integer("i64", place) for place in (layout.ASCII_ITEMS, layout.LATIN_ITEMS))
    return f.gep("i8", text, f.select(is_ascii, *places))


@cache
def _characters() -> tuple[list[str], int, object]:
    """The strs of one character of one byte, the address of a table of them, and that table."""
    texts = [chr(code) for code in range(256)]
    table = (ctypes.c_void_p * len(texts))(*map(id, texts))
    return texts, ctypes.addressof(table), table
