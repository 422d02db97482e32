"""Draws from the random streams of NumPy and Python, in the memory where they keep them.

NumPy's generators are asked through their bit generator, by the C functions that `numpy.random` itself calls.
`random.Random` is a Mersenne Twister whose words are read in place (`codegen/draws/mersenne.py`).

Another thread may be filling an array from a NumPy stream without the GIL: it holds the stream's lock then, and
native code leaves for the interpreter, which waits. It also leaves for bit generators that are not NumPy's.
What other threads can change between two trips of a loop is volatile: LLVM does not know when they run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.draws.mersenne import GAUSS, MERSENNE_FUNCTIONS
from ljit.codegen.layouts.random_layout import (
    NEXT_DOUBLE,
    NEXT_WORD,
    Stream,
    known_sources,
    lock_layout,
    random_function,
    stream_of,
)
from ljit.codegen.llvm.builder import FunctionBuilder, Ref, address
from ljit.codegen.llvm.forms import Native, array_parts, components, undef_of
from ljit.errors import InternalError
from ljit.ops.python.types import class_of
from ljit.types import Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["draw", "draw_all"]

#: What a draw reads and writes nothing else in native code looks at.
_DRAWS = "nounwind memory(inaccessiblemem: readwrite)"
_WORD = 32  # bits that a bit generator gives at once
_FILLS = "nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"


def draw(e: Emitter, x: Native, function: str, args: Sequence[Native], type_: Type) -> Native:
    """Call a function of `numpy.random`, or of those written here, on a stream.

    Leaves, always, if the installed NumPy or Python keeps its streams in a way that is not known.
    """
    try:
        return _draw(e, x, function, args, type_)
    except InternalError as error:
        e.bail(str(error))
        return undef_of(type_)


def _draw(e: Emitter, x: Native, function: str, args: Sequence[Native], type_: Type) -> Native:
    f = e.f
    (result,) = components(type_)
    operands = [part for arg in args for part in arg.parts]
    if function in MERSENNE_FUNCTIONS:
        MERSENNE_FUNCTIONS[function](f.module)
        if function == "mersenne.gauss":
            return Native(type_, (_gauss(e, x.ref, function),))
        return Native(type_, (f.call(result, function, [x.ref, *operands]),))
    cls = class_of(x.type)
    assert cls is not None
    stream = stream_of(cls)
    own = _FUNCTIONS.get(function)
    callee = address(random_function(function)).text if own is None else ""
    ready = _ready(e, cls, stream)
    e.bailout.bail_if(f.bool_not(f.call("i1", ready, [x.ref])), "the stream is not free")
    bitgen = f.gep("i8", x.ref, stream.bitgen)
    if own is not None:
        return Native(type_, (own(f, x.ref, bitgen, stream, operands),))
    return Native(type_, (f.call(result, callee, [bitgen, *operands], _DRAWS),))


def draw_all(
    e: Emitter,
    x: Native,
    function: str,
    args: tuple[Sequence[Native], Sequence[Native]],
    into: Native,
    count: Native,
) -> None:
    """Fill a new array by the function of `numpy.random` that fills NumPy's; other threads wait."""
    cls = class_of(x.type)
    assert cls is not None
    try:
        stream, callee = stream_of(cls), address(random_function(function)).text
        ready = _ready(e, cls, stream)
    except InternalError as error:
        e.bail(str(error))
        return
    e.bailout.bail_if(e.f.bool_not(e.f.call("i1", ready, [x.ref])), "the stream is not free")
    before, behind = ([part for arg in some for part in arg.parts] for some in args)
    bitgen, data = e.f.gep("i8", x.ref, stream.bitgen), array_parts(into).data
    e.f.call("void", callee, [bitgen, *before, count.ref, *behind, data], _FILLS)


def _ready(e: Emitter, cls: type, stream: Stream) -> str:
    """The function that says whether a stream of the class may be asked."""
    return e.f.module.define(f"{cls.__name__}.is_ready", _is_ready(cls.__name__, stream))


def _gauss(e: Emitter, x: Ref, function: str) -> Ref:
    pair = e.f.call(GAUSS, function, [x])
    e.bailout.error_if(e.f.extract("i1", pair, 1))
    return e.f.extract("double", pair, 0)


def _is_ready(name: str, stream: Stream) -> str:
    """Whether the stream is one of NumPy's and its lock is free."""
    lock = lock_layout()
    sources = known_sources()
    tests = [
        f"  %is.{i} = icmp eq ptr %source, {address(source)}" for i, source in enumerate(sources)
    ]
    tests += [
        f"  %or.{i} = or i1 %is.{i}, %{'or' if i > 1 else 'is'}.{i - 1}"
        for i in range(1, len(sources))
    ]
    return "\n".join(
        [
            f"define internal i1 @{name}.is_ready(ptr %stream) nounwind {{",
            f"  %source.at = getelementptr i8, ptr %stream, i64 {stream.bitgen + NEXT_DOUBLE}",
            "  %source = load ptr, ptr %source.at",
            *tests,
            f"  %lock.at = getelementptr i8, ptr %stream, i64 {stream.lock}",
            "  %lock = load ptr, ptr %lock.at",
            "  %class.at = getelementptr i8, ptr %lock, i64 8",
            "  %class = load ptr, ptr %class.at",
            f"  %is.lock = icmp eq ptr %class, {address(id(lock.cls))}",
            "  br i1 %is.lock, label %look, label %no",
            "look:",
            f"  %held.at = getelementptr i8, ptr %lock, i64 {lock.offset}",
            f"  %held = load volatile {lock.type}, ptr %held.at",
            f"  %is.free = icmp eq {lock.type} %held, 0",
            f"  %ready = and i1 %is.free, %{'or' if len(sources) > 1 else 'is'}.{len(sources) - 1}",
            "  ret i1 %ready",
            "no:",
            "  ret i1 false",
            "}",
        ]
    )


def _next_double(
    f: FunctionBuilder, _stream: Ref, bitgen: Ref, _layout: Stream, _operands: Sequence[Ref]
) -> Ref:
    state = f.load("ptr", bitgen)
    source = f.load("ptr", f.gep("i8", bitgen, NEXT_DOUBLE))
    return f.call("double", source.text, [state], _DRAWS)


def _legacy_gauss(
    f: FunctionBuilder, stream: Ref, bitgen: Ref, layout: Stream, _operands: Sequence[Ref]
) -> Ref:
    f.module.declare("log", "double", ("double",), "nounwind memory(none)")
    f.module.declare("llvm.sqrt.f64", "double", ("double",))
    f.module.define("random.legacy_gauss", _LEGACY_GAUSS)
    kept = f.gep("i8", stream, layout.gauss)
    return f.call("double", "random.legacy_gauss", (bitgen, kept))


#: Marsaglia's polar method, which makes two numbers: the first is put by for the next draw.
_LEGACY_GAUSS = f"""define internal double @random.legacy_gauss(ptr %bitgen, ptr %has) nounwind {{
  %kept.at = getelementptr i8, ptr %has, i64 8
  %flag = load volatile i32, ptr %has
  %is.kept = icmp ne i32 %flag, 0
  br i1 %is.kept, label %take, label %make
take:
  %kept = load volatile double, ptr %kept.at
  store volatile i32 0, ptr %has
  store volatile double 0.0, ptr %kept.at
  ret double %kept
make:
  %state = load ptr, ptr %bitgen
  %source.at = getelementptr i8, ptr %bitgen, i64 {NEXT_DOUBLE}
  %source = load ptr, ptr %source.at
  br label %again
again:
  %u = call double %source(ptr %state) {_DRAWS}
  %v = call double %source(ptr %state) {_DRAWS}
  %u.2 = fmul double %u, 2.0
  %v.2 = fmul double %v, 2.0
  %x = fsub double %u.2, 1.0
  %y = fsub double %v.2, 1.0
  %xx = fmul double %x, %x
  %yy = fmul double %y, %y
  %r = fadd double %xx, %yy
  %outside = fcmp oge double %r, 1.0
  %centre = fcmp oeq double %r, 0.0
  %bad = or i1 %outside, %centre
  br i1 %bad, label %again, label %found
found:
  %log = call double @log(double %r)
  %log.2 = fmul double %log, -2.0
  %square = fdiv double %log.2, %r
  %scale = call double @llvm.sqrt.f64(double %square)
  %first = fmul double %scale, %x
  %second = fmul double %scale, %y
  store volatile i32 1, ptr %has
  store volatile double %first, ptr %kept.at
  ret double %second
}}"""


def _bounded(
    f: FunctionBuilder, _stream: Ref, bitgen: Ref, _layout: Stream, operands: Sequence[Ref]
) -> Ref:
    """A number of [low, low + span], both unsigned; the last operand: by masks, not by multiplication."""
    low, span, is_masked = operands
    bits = int(low.type[1:])
    name = f"random.bounded.{bits}"
    if bits >= _WORD:
        f.module.declare("llvm.ctlz.i32", "i32", ("i32", "i1"))
        f.module.define("random.up.to", _UP_TO)
        f.module.define(f"{name}.filled", _filled(f"{name}.filled", bits, "cold noinline"))
        f.module.define(name, _of_a_word(name, bits))
    else:
        f.module.define(name, _filled(name, bits))
    return f.call(low.type, name, (bitgen, low, span, is_masked))


def _begin_bounded(name: str, bits: int, attributes: str = "") -> str:
    given = f"ptr %bitgen, i{bits} %low, i{bits} %span, i1 %masked"
    return f"define internal i{bits} @{name}({given}) nounwind {attributes} {{"


def _filled(name: str, bits: int, attributes: str = "") -> str:
    """A function that has NumPy fill an array of one number."""
    fill = address(random_function(f"random_bounded_uint{bits}_fill"))
    given = f"i{bits} %low, i{bits} %span, i64 1, i1 zeroext %masked, ptr %place"
    return f"""{_begin_bounded(name, bits, attributes)}
  %place = alloca i{bits}
  call void {fill}(ptr readonly %bitgen, {given}) {_FILLS}
  %result = load i{bits}, ptr %place
  ret i{bits} %result
}}"""


def _of_a_word(name: str, bits: int) -> str:
    """The same, without NumPy's function where one word does."""
    shortened, widened = ("trunc", "zext") if bits > _WORD else ("bitcast", "bitcast")
    return f"""{_begin_bounded(name, bits)}
  %less = sub i{bits} %span, 1
  %is.short = icmp ult i{bits} %less, {2**_WORD - 2 - (2**_WORD if bits == _WORD else 0)}
  br i1 %is.short, label %short, label %any
short:
  %most = {shortened} i{bits} %span to i32
  %word = call i32 @random.up.to(ptr %bitgen, i32 %most, i1 %masked)
  %wide = {widened} i32 %word to i{bits}
  %sum = add i{bits} %low, %wide
  ret i{bits} %sum
any:
  %filled = call i{bits} @{name}.filled(ptr %bitgen, i{bits} %low, i{bits} %span, i1 %masked)
  ret i{bits} %filled
}}"""


#: A word of [0, most] for ``0 < most < 2**32 - 1``: the low bits of words, until they are no larger, or the high halves
#: of products with ``most + 1`` (D. Lemire, "Fast random integer generation in an interval", 2019).
_UP_TO = f"""define internal i32 @random.up.to(ptr %bitgen, i32 %most, i1 %masked) nounwind {{
entry:
  %state = load ptr, ptr %bitgen
  %source.at = getelementptr i8, ptr %bitgen, i64 {NEXT_WORD}
  %source = load ptr, ptr %source.at
  %count = add nuw i32 %most, 1
  %factor = zext i32 %count to i64
  %zeros = call i32 @llvm.ctlz.i32(i32 %most, i1 true)
  %mask = lshr i32 -1, %zeros
  br i1 %masked, label %mask.it, label %scale.it
mask.it:
  %word = call i32 %source(ptr %state) {_DRAWS}
  %bits = and i32 %word, %mask
  %is.over = icmp ugt i32 %bits, %most
  br i1 %is.over, label %mask.it, label %done
scale.it:
  %number = call i32 %source(ptr %state) {_DRAWS}
  %number.wide = zext i32 %number to i64
  %product = mul nuw i64 %number.wide, %factor
  %rest = trunc i64 %product to i32
  %upper = lshr i64 %product, {_WORD}
  %scaled = trunc i64 %upper to i32
  %is.low = icmp ult i32 %rest, %count
  br i1 %is.low, label %look, label %done
look:
  %negated = sub i32 0, %count
  %least = urem i32 %negated, %count
  %is.refused = icmp ult i32 %rest, %least
  br i1 %is.refused, label %scale.it, label %done
done:
  %result = phi i32 [ %bits, %mask.it ], [ %scaled, %scale.it ], [ %scaled, %look ]
  ret i32 %result
}}"""


_Draw = Callable[[FunctionBuilder, Ref, Ref, Stream, Sequence[Ref]], Ref]
_FUNCTIONS: dict[str, _Draw] = {
    "next_double": _next_double,
    "legacy_gauss": _legacy_gauss,
    "bounded": _bounded,
}
