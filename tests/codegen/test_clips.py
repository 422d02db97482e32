"""Clips: LLVM must not make another number of a NaN or of -0.0; and what it does not misread stays as it is."""

from __future__ import annotations

import ctypes
import itertools
import math

import numpy as np
import pytest

from ljit.codegen.llvm.clips import plain_clips
from ljit.codegen.llvm.engine import compile_ir
from ljit.codegen.llvm.refs import float_constant

_WIDTHS = {"float": np.float32, "double": np.float64}
_PREDICATES = ("olt", "ole", "ogt", "oge")
_NUMBERS = [0.0, -0.0, 0.5, -0.5, 1.0, 2.0, 5e-324, -1e-45, math.inf, -math.inf, math.nan]
_LIMITS = (0.0, 1.0, -0.0)


def _text(limit: float) -> str:
    return float_constant("double", limit).text


def _is_true(predicate: str, x: float, limit: float) -> bool:
    return {"olt": x < limit, "ole": x <= limit, "ogt": x > limit, "oge": x >= limit}[predicate]


def _clip(name, x, predicate, limit, is_kept, *, type_="double"):
    """Lines that choose the limit, where the comparison holds (or where not: `is_kept`)."""
    arms = [f"{type_} {_text(limit)}", f"{type_} {x}"]
    first, second = reversed(arms) if is_kept else arms
    return [
        f"%{name}.c = fcmp {predicate} {type_} {x}, {_text(limit)}",
        f"%{name} = select i1 %{name}.c, {first}, {second}",
    ]


def _clipped(x, predicate, limit, is_kept):
    return x if _is_true(predicate, x, limit) == is_kept else limit


def _functions(bodies, given, result):
    """Compile functions of one number; gives them in order."""
    text = "\n".join(
        f"define {result} @f{i}({given} %x) {{\n" + "\n".join(body) + f"\nret {result} %r\n}}"
        for i, body in enumerate(bodies)
    )
    compiled = compile_ir(text, "f0", exports=[f"f{i}" for i in range(len(bodies))])
    c_types = {"float": ctypes.c_float, "double": ctypes.c_double}
    type_ = ctypes.CFUNCTYPE(c_types[result], c_types[given])
    return [type_(compiled.symbol(f"f{i}")) for i in range(len(bodies))], compiled


def test_of_two_clips_at_one_limit_both_count():
    clips = list(itertools.product(_PREDICATES, (False, True)))
    cases = [(*pair, limit) for pair in itertools.product(clips, clips) for limit in (0.0, 1.0)]
    bodies = [
        [
            *_clip("v", "%x", first[0], limit, first[1]),
            *_clip("r", "%v", second[0], limit, second[1]),
        ]
        for first, second, limit in cases
    ]
    functions, _held = _functions(bodies, "double", "double")
    for (first, second, limit), function in zip(cases, functions, strict=True):
        for x in _NUMBERS:
            v = _clipped(x, first[0], limit, first[1])
            wanted = _clipped(v, second[0], limit, second[1])
            assert repr(function(x)) == repr(wanted), (first, second, limit, x)


@pytest.mark.parametrize(
    ("given", "result", "cast"), [("double", "float", "fptrunc"), ("float", "double", "fpext")]
)
def test_a_clip_of_what_is_converted_keeps_signs_of_zeros(given, result, cast):
    cases = list(itertools.product(_PREDICATES, _LIMITS, (False, True)))
    bodies = []
    for predicate, limit, is_kept in cases:
        arms = [f"{result} {_text(limit)}", f"{result} %t"]
        first, second = reversed(arms) if is_kept else arms
        bodies.append(
            [
                f"%c = fcmp {predicate} {given} %x, {_text(limit)}",
                f"%t = {cast} {given} %x to {result}",
                f"%r = select i1 %c, {first}, {second}",
            ]
        )
    functions, _held = _functions(bodies, given, result)
    for (predicate, limit, is_kept), function in zip(cases, functions, strict=True):
        for number in _NUMBERS:
            x = float(_WIDTHS[given](number))
            wanted = float(_WIDTHS[result](_clipped(x, predicate, limit, is_kept)))
            assert repr(function(x)) == repr(wanted), (predicate, limit, is_kept, x)


def test_a_clip_in_a_function_that_is_put_in_the_place_of_its_call():
    lines = "\n".join(_clip("r", "%v", "oge", 1.0, True))
    inner = f"define internal double @clip(double %v) {{\n{lines}\nret double %r\n}}\n"
    body = [*_clip("v", "%x", "olt", 1.0, False), "%r = call double @clip(double %v)"]
    text = inner + "define double @f(double %x) {\n" + "\n".join(body) + "\nret double %r\n}\n"
    compiled = compile_ir(text, "f")
    f = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(compiled.address)
    assert f(math.nan) == 1.0
    assert f(3.0) == 3.0


def _function(*lines: str) -> str:
    return "define double @f(double %x, double %y, ptr %p) {\n" + "\n".join(lines) + "\n}\n"


@pytest.mark.parametrize(
    "lines",
    [
        [*_clip("v", "%x", "olt", 0.0, False), *_clip("w", "%v", "ogt", 1.0, False)],
        [*_clip("v", "%x", "olt", 1.0, False), *_clip("w", "%v", "ole", 1.0, False)],
        [*_clip("v", "%x", "olt", 1.0, False), *_clip("w", "%y", "ogt", 1.0, False)],
        [*_clip("v", "%x", "olt", 0.0, False), "%w = fptrunc double %y to float"],
        [*_clip("v", "%x", "olt", 1.0, False), "%w = fptrunc double %v to float"],
    ],
    ids=["two limits", "one kind", "two values", "another is converted", "no zero"],
)
def test_what_is_not_misread_stays(lines):
    text = _function(*lines, "ret double %v")
    assert plain_clips(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fcmp olt double %x, 0x0000000000000000", "fcmp ole double %x, 0x8000000000000001"),
        ("fcmp ole double %x, 0x0000000000000000", "fcmp olt double %x, 0x0000000000000001"),
        ("fcmp ogt double 0x8000000000000000, %x", "fcmp ole double %x, 0x8000000000000001"),
        (
            "fcmp nnan uge double %x, 0x8000000000000000",
            "fcmp nnan ugt double %x, 0x8000000000000001",
        ),
        ("fcmp ogt half %x, 0xH8000", "fcmp oge half %x, 0xH0001"),
    ],
)
def test_a_comparison_with_the_neighbour_is_the_same(before, after):
    text = _function(f"%c = {before}", "%w = fptrunc double %x to float")
    assert plain_clips(text) == text.replace(before, after)


def test_infinity_has_no_neighbour_beyond_it():
    limit = "0x7FF0000000000000"
    lines = [f"%a = fcmp oge double %x, {limit}", f"%b = fcmp ole double %x, {limit}"]
    text = _function(*lines, "ret double %x")
    assert plain_clips(text) == text
