"""Lengths, characters and comparisons of strs, read where they lie.

That holds for strs whose characters take one byte each. CPython does it for others, and for all of them where their
layout is not known.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

from ljit.characters import EMPTY, is_text
from ljit.codegen.layouts import text_layout as layout
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, FunctionBuilder, Ref, address, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.refcounts import change_count
from ljit.types import BOOL, CHARACTER, INT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import BlockRef

__all__ = [
    "IS_LONGER",
    "READS",
    "character_object",
    "character_of",
    "equal_texts",
    "field_of",
    "function_of",
    "has_character",
    "lacks_character",
    "latin_items",
    "leave_if",
    "new_character",
    "only_character",
    "str_char",
    "str_code",
    "str_compare",
    "str_equal",
    "str_is_among",
    "str_number",
    "str_size",
    "text_code",
]


def str_size(e: Emitter, x: Native) -> Native:
    return Native(INT, (_length(e.f, x.ref),))


def str_code(e: Emitter, x: Native, index: Native) -> Native:
    return Native(INT, (e.f.convert("zext", _code(e.f, x.ref, index.ref), "i64"),))


def str_char(e: Emitter, code: Native) -> Native:
    return Native(CHARACTER, (e.f.convert("trunc", code.ref, "i32"),))


def text_code(e: Emitter, x: Native) -> Native:
    code = x.ref if x.type == CHARACTER else only_character(e.f, x.ref)
    return Native(INT, (e.f.convert("sext", code, "i64"),))


def str_compare(e: Emitter, x: Native, y: Native) -> Native:
    operands = (x.ref, y.ref)
    if layout.is_known():
        order = _call(e.f, "text.order", "i32", _write_order, operands)
    else:
        order = e.f.call_external("i32", "PyUnicode_Compare", operands)
    return Native(INT, (e.f.convert("sext", order, "i64"),))


def str_equal(e: Emitter, x: Native, y: Native) -> Native:
    if not layout.is_known():
        return e.compare("eq", str_compare(e, x, y), 0)
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
    code = text_code(e, x)
    is_ascii = Native(BOOL, (e.f.icmp("ult", code.ref, _ASCII),))
    return e.branch(is_ascii, lambda: _is_code_of(e, code, characters), otherwise)


def _is_code_of(e: Emitter, code: Native, characters: str) -> Native:
    """Look the code up in two words with a bit for each character."""
    low, high = (integer("i64", _bits(characters, first)) for first in (0, _WORD))
    word = e.f.select(e.f.icmp("ult", code.ref, _WORD), low, high)
    place = e.f.binary("and", code.ref, _WORD - 1)
    bit = e.f.binary("and", e.f.binary("lshr", word, place), 1)
    return Native(BOOL, (e.f.icmp("ne", bit, 0),))


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
    if not (is_text(item.type) and is_text(container.type)) or not wanted.is_constant:
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

READS = "nounwind willreturn memory(read)"
IS_LONGER = -2  # in the place of a character's code


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
        function.attributes = READS if reads else "nounwind"
        write(function)
    return name


def _length(f: FunctionBuilder, text: Ref) -> Ref:
    if not layout.is_known():
        return f.call_external("i64", "PyUnicode_GetLength", (text,), READS)
    return _call(f, "text.size", "i64", _write_size, (text,))


def _code(f: FunctionBuilder, text: Ref, index: Ref) -> Ref:
    if not layout.is_known():
        return f.call_external("i32", "PyUnicode_ReadChar", (text, index), READS)
    return _call(f, "text.code", "i32", _write_code, (text, index))


def field_of(f: FunctionBuilder, type_: str, text: Ref, offset: int) -> Ref:
    """A field of a str."""
    return f.load(type_, f.gep("i8", text, offset))


def _write_size(f: FunctionBuilder) -> None:
    """Up to 3.11 there are strs whose characters, and length, CPython puts into their places when they are needed."""
    (text,) = f.params
    raw = f.new_block("raw")
    kind = f.binary("and", _state(f, text), layout.TEXT_KIND)
    leave_if(f, f.icmp("eq", kind, 0), raw)
    f.ret(field_of(f, "i64", text, layout.TEXT_SIZE))
    if f.start(raw, cold=True):
        f.ret(f.call_external("i64", "PyUnicode_GetLength", (text,), READS))


def _write_code(f: FunctionBuilder) -> None:
    text, index = f.params
    wide = f.new_block("wide")
    items = latin_items(f, text, wide)
    f.ret(f.convert("zext", f.load("i8", f.gep("i8", items, index)), "i32"))
    if f.start(wide):
        f.ret(f.call_external("i32", "PyUnicode_ReadChar", (text, index), READS))


def only_character(f: FunctionBuilder, text: Ref) -> Ref:
    """The code of the only character of a str; `EMPTY`: it has none, `IS_LONGER`: more."""
    return _call(f, "text.only", "i32", _write_only, (text,))


def _write_only(f: FunctionBuilder) -> None:
    (text,) = f.params
    longer, some = f.new_block("longer"), f.new_block("some")
    size = _length(f, text)
    leave_if(f, f.icmp("ugt", size, 1), longer)
    empty = f.new_block("empty")
    f.condbr(f.icmp("eq", size, 0), empty, some)
    f.start(some)
    f.ret(_code(f, text, integer("i64", 0)))
    if f.start(empty):
        f.ret(integer("i32", EMPTY))
    if f.start(longer):
        f.ret(integer("i32", IS_LONGER))


# -- characters as objects -------------------------------------------------------------------------

_LATIN = 256
_HELD = "{ptr, ptr}"


def character_object(
    f: FunctionBuilder, code: Ref, keep: Callable[[object], Ref]
) -> tuple[Ref, Ref]:
    """The str of a character: an object, and a reference to it that is given back once, or null.

    CPython has one object for each character of one byte. Both null: an error is set.
    """
    if code.constant is not None:
        return keep(chr(code.constant) if code.constant != EMPTY else ""), NULL
    held = _call(f, "text.character", _HELD, _write_character, (code,), reads=False)
    return f.extract("ptr", held, 0), f.extract("ptr", held, 1)


def new_character(f: FunctionBuilder, code: Ref, keep: Callable[[object], Ref]) -> Ref:
    """A new reference to the str of a character; null: an error is set."""
    made, held = character_object(f, code, keep)
    is_kept = f.icmp("eq", held, NULL)
    change_count(f, f.select(is_kept, made, NULL), "retain", in_line=True)
    return made


def _write_character(f: FunctionBuilder) -> None:
    (code,) = f.params
    wide = f.new_block("wide")
    place = f.binary("add", code, 1)
    leave_if(f, f.icmp("ugt", place, _LATIN), wide)
    made = f.load("ptr", f.gep("ptr", address(_characters()[1]), f.convert("zext", place, "i64")))
    f.ret(f.emit(_HELD, f"insertvalue {_HELD} zeroinitializer, ptr {made}, 0"))
    if f.start(wide):
        made = f.call_external("ptr", "PyUnicode_FromOrdinal", (code,))
        pair = f.emit(_HELD, f"insertvalue {_HELD} zeroinitializer, ptr {made}, 0")
        f.ret(f.emit(_HELD, f"insertvalue {_HELD} {pair}, ptr {made}, 1"))


def character_of(f: FunctionBuilder, code: Ref) -> Ref:
    """A new reference to the str of a character of one byte."""
    place = f.binary("add", code, 1)
    made = f.load("ptr", f.gep("ptr", address(_characters()[1]), place))
    change_count(f, made, "retain", in_line=True)
    return made


def _write_order(f: FunctionBuilder) -> None:
    """The first characters tell mostly; an empty str has a zero in the place of one."""
    x, y = f.params
    wide = f.new_block("wide")
    first, second = (
        f.convert("zext", f.load("i8", latin_items(f, text, wide)), "i32") for text in (x, y)
    )
    leave_if(f, f.icmp("eq", first, second), wide)
    f.ret(f.binary("sub", first, second))
    f.start(wide)
    f.ret(f.call_external("i32", "PyUnicode_Compare", (x, y), READS))


def _write_equal(f: FunctionBuilder) -> None:
    """Most equal strs, and all equal characters of one byte, are one object; most others differ in the first one."""
    x, y = f.params
    same, other, wide = f.new_block("same"), f.new_block("other"), f.new_block("wide")
    leave_if(f, f.icmp("eq", x, y), same)
    first, second = (latin_items(f, text, wide) for text in (x, y))
    leave_if(f, f.icmp("ne", f.load("i8", first), f.load("i8", second)), other)
    size, length = (field_of(f, "i64", text, layout.TEXT_SIZE) for text in (x, y))
    leave_if(f, f.icmp("ne", size, length), other)
    differ = f.call_external("i32", "memcmp", (first, second, size), READS)
    f.ret(f.icmp("eq", differ, 0))
    if f.start(same):
        f.ret(TRUE)
    if f.start(other):
        f.ret(FALSE)
    if f.start(wide):
        order = f.call_external("i32", "PyUnicode_Compare", (x, y), READS)
        f.ret(f.icmp("eq", order, 0))


_NUMBER_OR_NOT = "{i64, i1}"
_MOST_DIGITS = 18  # of which no number is beyond int64


def _write_number(f: FunctionBuilder) -> None:
    """Read decimal digits, with a minus sign or without; all else is none."""
    (text,) = f.params
    other, digits, done = f.new_block("other"), f.new_block("digits"), f.new_block("done")
    items = latin_items(f, text, other)
    sign = f.icmp("eq", f.load("i8", items), ord("-"))
    start = f.convert("zext", sign, "i64")
    size = field_of(f, "i64", text, layout.TEXT_SIZE)
    count = f.binary("sub", size, start)
    less = f.binary("sub", count, 1)
    leave_if(f, f.icmp("uge", less, _MOST_DIGITS), other)
    entered = f.block
    f.br(digits)
    f.start(digits)
    place, number = f.phi("i64"), f.phi("i64")
    place.add(start, entered)
    number.add(0, entered)
    code = f.convert("zext", f.load("i8", f.gep("i8", items, place)), "i64")
    digit = f.binary("sub", code, ord("0"))
    leave_if(f, f.icmp("ugt", digit, 9), other)
    more = f.binary("add", f.binary("mul", number, 10), digit)
    following = f.binary("add", place, 1)
    left = f.condbr(f.icmp("eq", following, size), done, digits)
    place.add(following, left)
    number.add(more, left)
    f.start(done)
    signed = f.select(sign, f.binary("sub", integer("i64", 0), more), more)
    found = f"insertvalue {_NUMBER_OR_NOT} {{i64 0, i1 true}}, i64 {signed}, 0"
    f.ret(f.emit(_NUMBER_OR_NOT, found))
    if f.start(other):
        f.ret(Ref(_NUMBER_OR_NOT, "zeroinitializer"))


def leave_if(f: FunctionBuilder, condition: Ref, target: BlockRef) -> None:
    """Go to another block if the condition holds."""
    following = f.new_block("next")
    f.condbr(condition, target, following)
    f.start(following)


def _state(f: FunctionBuilder, text: Ref) -> Ref:
    return field_of(f, "i32", text, layout.TEXT_STATE)


def latin_items(f: FunctionBuilder, text: Ref, wide: BlockRef) -> Ref:
    """Where the characters of a str are, if each takes one byte."""
    state = _state(f, text)
    mask, value = (integer("i32", flags) for flags in layout.flags_of_bytes())
    leave_if(f, f.icmp("ne", f.binary("and", state, mask), value), wide)
    ascii_ = f.binary("and", state, layout.IS_ASCII)
    is_ascii = f.icmp("ne", ascii_, 0)
    places = (integer("i64", place) for place in (layout.ASCII_ITEMS, layout.LATIN_ITEMS))
    return f.gep("i8", text, f.select(is_ascii, *places))


@cache
def _characters() -> tuple[list[str], int, object]:
    """The empty str and those of one character of one byte, the address of a table of them, and that table."""
    texts = ["", *map(chr, range(_LATIN))]
    table = (ctypes.c_void_p * len(texts))(*map(id, texts))
    return texts, ctypes.addressof(table), table
