"""``str(i)`` of an int: its digits are written where the new str has its characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.layouts import text_layout as layout
from ljit.codegen.llvm.builder import NULL, FunctionBuilder, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.characters import character_of, function_of
from ljit.types import INT, STR

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import Phi, Ref

__all__ = ["field_of_int", "text_of_int"]

_ROOM = 24  # for the digits of any int64, and a sign


def text_of_int(e: Emitter, _with_objects: Callable[[], Native], x: Native) -> Native | None:
    """Give the decimal digits; None: it is no int."""
    if x.type != INT or not layout.is_known():
        return None
    name = function_of(e.f, "text.of.int", "ptr", _write, ("i64",))
    return Native(STR, e.owned_result(e.f.call("ptr", name, (x.ref,))).parts)


def field_of_int(
    e: Emitter, with_objects: Callable[[], Native], x: Native, *_spec: Native
) -> Native | None:
    """``format(x, "")``, as in f-strings; None: it is no int, or there is something in the second text."""
    node = e.bailout.node
    assert node is not None
    spec = node.inputs[1] if len(node.inputs) > 1 else None
    is_plain = spec is None or (spec.is_constant and spec.constant == "")
    return text_of_int(e, with_objects, x) if is_plain else None


def _write(f: FunctionBuilder) -> None:
    """Digits are made from the last one on, in a buffer; CPython has one str for each digit alone."""
    (x,) = f.params
    single, longer = f.new_block("single"), f.new_block("longer")
    f.condbr(f.icmp("ult", x, 10), single, longer)
    f.start(single)
    f.ret(character_of(f, f.binary("add", x, ord("0"))))
    f.start(longer)
    buffer = f.alloca("i8", _ROOM)
    is_negative = f.icmp("slt", x, 0)
    size = f.select(is_negative, f.binary("sub", integer("i64", 0), x), x)
    place = _write_digits(f, buffer, size)
    before = f.binary("sub", place, 1)
    f.store(integer("i8", ord("-")), f.gep("i8", buffer, before))
    _make(f, buffer, f.select(is_negative, before, place))


def _write_digits(f: FunctionBuilder, buffer: Ref, size: Ref) -> Phi | Ref:
    """Give the place of the first digit in the buffer."""
    digit, done = f.new_block("digit"), f.new_block("written")
    entered = f.br(digit)
    f.start(digit)
    rest, end = f.phi("i64"), f.phi("i64")
    rest.add(size, entered)
    end.add(_ROOM, entered)
    place = f.binary("sub", end, 1)
    last = f.binary("urem", rest, 10)
    code = f.binary("add", last, ord("0"))
    f.store(f.convert("trunc", code, "i8"), f.gep("i8", buffer, place))
    left = f.binary("udiv", rest, 10)
    back = f.condbr(f.icmp("eq", left, 0), done, digit)
    rest.add(left, back)
    end.add(place, back)
    f.start(done)
    return place


def _make(f: FunctionBuilder, buffer: Ref, first: Ref) -> None:
    """Make a str of what is in the buffer from the first place on."""
    size = f.binary("sub", integer("i64", _ROOM), first)
    made = f.call_external("ptr", "PyUnicode_New", (size, integer("i32", 127)))
    failed, good = f.new_block("failed"), f.new_block("good")
    f.condbr(f.icmp("eq", made, NULL), failed, good, unlikely=True)
    f.start(good)
    items = f.gep("i8", made, layout.ASCII_ITEMS)
    f.call_external("ptr", "memcpy", (items, f.gep("i8", buffer, first), size))
    f.ret(made)
    if f.start(failed, cold=True):
        f.ret(NULL)
