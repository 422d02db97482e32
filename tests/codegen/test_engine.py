"""Compile IR text: calls, errors, freeing, floating-point rules."""

from __future__ import annotations

import ctypes
import gc
import math
import signal
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from ljit.codegen.llvm import engine, settings
from ljit.codegen.llvm.engine import compile_ir
from ljit.errors import CodegenError

_DOUBLE_UNARY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def _double_function(body: str, declarations: str = ""):
    compiled = compile_ir(
        f"{declarations}\ndefine double @f(double %x) {{\n{body}\nret double %r\n}}", "f"
    )
    return _DOUBLE_UNARY(compiled.address), compiled


def test_function_of_the_c_library_is_found():
    call, compiled = _double_function(
        "%r = call double @erf(double %x)", "declare double @erf(double)"
    )
    assert call(0.5) == math.erf(0.5)
    assert compiled.times.total > 0
    assert compiled.size > 0


def test_further_exports_and_given_symbols_are_linked():
    called = []
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda n: called.append(n) or n + 1)
    compiled = compile_ir(
        "@counter = global i64 41\n"
        "declare i64 @given(i64)\n"
        "define i64 @f() {\n%c = load i64, ptr @counter\n%r = call i64 @given(i64 %c)\nret i64 %r\n}",
        "f",
        exports=("counter",),
        find=lambda images: {"given": ctypes.cast(callback, ctypes.c_void_p).value},
    )
    call = ctypes.CFUNCTYPE(ctypes.c_int64)(compiled.symbol("f"))
    assert call() == 42
    ctypes.c_int64.from_address(compiled.symbol("counter")).value = 7
    assert call() == 8
    assert called == [41, 7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define i64 @f() { ret i32 0 }", "value doesn't match function result type"),
        ("define i64 @f() {\na:\nret i64 %y\nb:\n%y = add i64 1, 1\nret i64 0\n}", "dominate"),
        ("define i64 @f() { syntax }", "expected instruction opcode"),
        ("declare void @ljit_nowhere()\ndefine i64 @f() {\ncall void @ljit_nowhere()\nret i64 0 }",
         "does not link"),
    ],
)  # fmt: skip
def test_malformed_modules_raise_codegen_errors(text, message):
    with pytest.raises(CodegenError, match=message):
        compile_ir(text, "f")


def test_error_shows_the_lines_around_the_fault():
    text = "\n".join(f"declare void @d{i}()" for i in range(50)) + "\ndefine i64 @f() { ret i32 0 }"
    with pytest.raises(CodegenError) as caught:
        compile_ir(text, "f")
    assert "@d49" in str(caught.value)
    assert "@d20" not in str(caught.value)


def test_multiplication_and_addition_are_not_contracted():
    _, compiled = _double_function("%m = fmul double %x, %x\n%r = fadd double %m, %x")
    assert "fma" not in compiled.asm()
    _, compiled = _double_function(
        "%m = fmul contract double %x, %x\n%r = fadd contract double %m, %x"
    )
    if engine.vector_bytes() >= 32:
        assert "fmadd" in compiled.asm()


def test_loops_are_vectorised_at_full_width():
    loop = """
define void @f(ptr noalias %o, ptr noalias %a, i64 %n) {
entry:
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %j, %l ]
  %p = getelementptr double, ptr %a, i64 %i
  %q = getelementptr double, ptr %o, i64 %i
  %v = load double, ptr %p
  %w = fmul double %v, %v
  store double %w, ptr %q
  %j = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %l, label %x
x:
  ret void
}"""
    compiled = compile_ir(loop, "f")
    width = engine.vector_bytes() // 8
    assert f"fmul <{width} x double>" in compiled.optimized_ir()
    a, o = np.arange(103.0), np.zeros(103)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    call(compiled.address)(o.ctypes.data, a.ctypes.data, 103)
    assert o.tolist() == (a * a).tolist()


def test_avx512_machines_use_their_full_vectors():
    assert engine._feature_string(_Features({"avx512f": True})) == "+avx512f,-prefer-256-bit"
    assert "prefer-256-bit" not in engine._feature_string(_Features({"avx2": True}))


def test_elements_at_places_are_loaded_one_by_one():
    text = engine._feature_string(_Features({"avx512f": True, "avx2": True}))
    assert text.endswith(",+prefer-no-gather,+prefer-no-scatter")
    assert engine._feature_string(_Features({"sse2": True})) == "+sse2"


@pytest.mark.skipif(
    engine._host().cpu not in settings._WITH_JUMPS_ERRATUM,
    reason="the processor has no such erratum",
)
def test_jumps_do_not_touch_the_end_of_32_bytes():
    steps = 64
    text = "define i64 @f(i64 %x) {\n"
    for i in range(steps):
        text += f"br label %b{i}\nb{i}:\n%c{i} = icmp eq i64 %x, {i * 7 % 61}\n"
        text += f'br i1 %c{i}, label %out, label %n{i}\nn{i}:\ncall void asm sideeffect "", ""()\n'
    incoming = ", ".join(f"[{i}, %b{i}]" for i in range(steps))
    text += f"ret i64 -1\nout:\n%r = phi i64 {incoming}\nret i64 %r\n}}"
    host = engine._host()
    with settings.settings_of_code(host.cpu), host.parsed(text) as module:
        padded = len(host.machine.emit_object(module))
    with host.parsed(text) as module:
        plain = len(host.machine.emit_object(module))
    assert padded > plain


class _Features(dict):
    def flatten(self):
        return ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(self.items()))


def test_free_gives_the_code_back_and_can_be_repeated():
    _, compiled = _double_function("%r = fadd double %x, 1.0")
    assert not compiled.is_free
    compiled.free()
    compiled.free()
    assert compiled.is_free
    assert "fadd" in compiled.ir


def _resident_kilobytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_compiling_and_freeing_leaks_little():
    for _ in range(30):
        _double_function("%r = fadd double %x, 1.0")
    gc.collect()
    before = _resident_kilobytes()
    for _ in range(100):
        _double_function("%r = fadd double %x, 1.0")
    gc.collect()
    # LLVM keeps about 10 KB of each library that was unloaded.
    assert _resident_kilobytes() - before < 100 * 30


@pytest.fixture(scope="module")
def half_conversions():
    compiled = engine._half_conversions()
    narrow = ctypes.CFUNCTYPE(ctypes.c_int16, ctypes.c_double)
    wrapper = compile_ir(
        "define i16 @f(double %x) {\n%h = fptrunc double %x to half\n"
        "%r = bitcast half %h to i16\nret i16 %r\n}",
        "f",
    )
    return compiled, narrow(wrapper.address), wrapper


def test_doubles_become_halves_as_in_numpy(half_conversions):
    _, convert, _ = half_conversions
    values = np.random.default_rng(0)
    doubles = [0.0, -0.0, math.inf, -math.inf, 65519.99, 65520.0, 65504.0, 1e300, 5e-324, 2**-25,
               2**-24, 1.5 * 2**-24, 2.5 * 2**-24, 2**-14, 2**-14 - 2**-25, 2**-14 - 2**-26, 1 + 2**-11,
               1 + 3 * 2**-11, 1 + 2**-11 + 2**-52]  # fmt: skip
    doubles += [-x for x in doubles]
    doubles += np.ldexp(values.standard_normal(3000), values.integers(-30, 20, 3000)).tolist()
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.array(doubles).astype(np.float16).view(np.int16).tolist()
    assert [convert(x) for x in doubles] == wanted
    assert np.isnan(np.int16(convert(math.nan)).view(np.float16))


def test_halves_and_floats_convert_as_in_numpy_without_cpu_support(half_conversions):
    compiled, _, _ = half_conversions
    wrapper = compile_ir(
        "declare float @widen(half)\ndeclare half @narrow(float)\n"
        "define i32 @f(i16 %x) {\n%h = bitcast i16 %x to half\n%v = call float @widen(half %h)\n"
        "%r = bitcast float %v to i32\nret i32 %r\n}\n"
        "define i16 @g(i32 %x) {\n%v = bitcast i32 %x to float\n%h = call half @narrow(float %v)\n"
        "%r = bitcast half %h to i16\nret i16 %r\n}",
        "f",
        exports=("g",),
        find=lambda images: {
            "widen": compiled.symbol("__extendhfsf2"),
            "narrow": compiled.symbol("__truncsfhf2"),
        },
    )
    widen = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint16)(wrapper.symbol("f"))
    narrow = ctypes.CFUNCTYPE(ctypes.c_uint16, ctypes.c_uint32)(wrapper.symbol("g"))
    halves = np.arange(2**16, dtype=np.uint16)
    halves = halves[~np.isnan(halves.view(np.float16))]
    floats = halves.view(np.float16).astype(np.float32).view(np.uint32)
    assert [widen(int(h)) for h in halves] == floats.tolist()
    assert [narrow(int(x)) for x in floats] == halves.tolist()


class _InterruptError(BaseException):
    pass


def test_a_compile_that_is_interrupted_leaves_nothing_that_crashes_the_garbage_collector(
    monkeypatch,
):
    def interrupted(*_args, **_options):
        raise _InterruptError

    monkeypatch.setattr(engine._Host, "run_passes", interrupted)
    for _ in range(20):
        with pytest.raises(_InterruptError) as caught:
            compile_ir("define i64 @f() {\nret i64 20\n}", "f")  # no object file of it is kept
        error = caught.value
        error.cycle = error  # only the collector can free the frames of the traceback
        del caught, error
    assert gc.collect() > 0
    monkeypatch.undo()
    assert compile_ir("define i64 @f() {\nret i64 1\n}", "f").address


def test_conversions_of_half_are_compiled_for_code_that_has_the_type_only(monkeypatch):
    asked = []
    real = engine._half_conversions
    monkeypatch.setattr(engine, "_half_conversions", lambda: asked.append(1) or real())
    compile_ir("define i64 @f(i64 %x) {\n%half = lshr i64 %x, 1\nret i64 %half\n}", "f")
    assert not asked
    compile_ir("define i16 @f(half %x) {\n%r = bitcast half %x to i16\nret i16 %r\n}", "f")
    assert asked


class Stop(BaseException):
    """What the handler of a signal raises."""


@pytest.mark.parametrize("place", ["parse_assembly", "verify", "close", "_dispose"])
def test_a_context_outlives_its_module_whatever_a_signal_interrupts(monkeypatch, place):
    text = "define i64 @f(i64 %x) {\nret i64 %x\n}"
    owner = llvm if place == "parse_assembly" else llvm.ModuleRef
    function, was_called = getattr(owner, place), []

    def interrupted(*args):
        result = function(*args)  # it would be in the traceback
        if not was_called:
            was_called.append(result)
            raise Stop
        return result

    monkeypatch.setattr(owner, place, interrupted)
    before = set(engine._contexts)
    with pytest.raises(Stop), engine._host().parsed(text):
        pass
    monkeypatch.undo()
    assert was_called
    left = engine._contexts - before
    assert len(left) == (0 if place == "verify" else 1)
    was_called.clear()
    gc.collect()
    assert not any(context.closed for context in left)
    with engine._host().parsed(text):
        pass
    assert engine._contexts - before == left


def test_what_a_handler_raises_while_llvm_parses_is_no_fault_of_the_module(monkeypatch):
    def handler(*_):
        raise RuntimeError("of the user")

    def interrupted(*args):
        monkeypatch.undo()
        signal.raise_signal(signal.SIGUSR1)
        return parse(*args)

    parse = engine.llvm.parse_assembly
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        monkeypatch.setattr(engine.llvm, "parse_assembly", interrupted)
        with pytest.raises(RuntimeError, match="^of the user$"):
            compile_ir("define void @f() { ret void }", "f")
    finally:
        signal.signal(signal.SIGUSR1, before)
