"""Scalar code: arithmetic, casts, control flow and the ways out."""

import math
import operator
import struct

import numpy as np
import pytest

from tests.codegen.harness import Bailed, Compiled, Mismatch

SUM_TO = """
graph(%n : int):
  prim::Snapshot[at='before:0', names=('p0',)](%n)
  %0 : int = prim::Constant[value=0]()
  %s.1 : int = prim::Loop(%0, %n, %0)
    block0(%i : int, %s : int):
      prim::Snapshot[at='header:1', names=('i', 's')](%i, %s)
      %s.2 : int = py::add(%s, %i)
      -> (%s.2)
  return (%s.1)
"""


def test_a_loop_sums_integers():
    f = Compiled(SUM_TO)
    assert f(10) == 45
    assert type(f(10)) is int
    assert f(0) == 0
    assert f(-5) == 0


def test_an_overflow_leaves_at_the_loop_header_with_the_carried_values():
    f = Compiled(
        SUM_TO.replace(
            "%0 : int = prim::Constant[value=0]()",
            "%0 : int = prim::Constant[value=0]()\n"
            "  %b : int = prim::Constant[value=9223372036854775805]()",
        ).replace("Loop(%0, %n, %0)", "Loop(%0, %n, %b)")
    )
    with pytest.raises(Bailed) as caught:
        f(5)
    assert caught.value.at == "header:1"
    assert caught.value.values == {"i": 2, "s": 2**63 - 2}


def test_other_argument_types_go_to_the_next_entry():
    f = Compiled(SUM_TO)
    for args in [(1.0,), (True,), (2**70,), (), (1, 2)]:
        with pytest.raises(Mismatch):
            f(*args)


BREAKS = """
graph(%n : int, %x : float):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%n, %x)
  %0 : int = prim::Constant[value=0]()
  %end : int = prim::Constant[value=9223372036854775807]()
  %r.1 : float, %found : Union[None, int] = prim::Loop(%0, %end, %x, %0)
    block0(%i : int, %r : float, %_ : int):
      %done : bool = py::ge(%i, %n)
      prim::If(%done)
        block0():
          %none : None = prim::Constant[value=None]()
          prim::Break[depth=0](%r, %none)
        block1():
          -> ()
      %r.2 : float = py::mul(%r, %x)
      %big : bool = py::gt(%r.2, %n)
      prim::If(%big)
        block0():
          prim::Break[depth=0](%r.2, %i)
        block1():
          -> ()
      -> (%r.2, %i)
  %t : (float, Union[None, int]) = prim::TupleConstruct(%r.1, %found)
  return (%t)
"""


def test_breaks_give_the_outputs_of_a_while_loop_and_unions_box():
    f = Compiled(BREAKS)
    assert f(100, 2.0) == (128.0, 5)
    result = f(3, 1.0)
    assert result == (1.0, None)
    assert [type(x) for x in result] == [float, type(None)]


CONVERT = """
graph(%x : {source}):
  %y : {target} = {op}(%x)
  return (%y)
"""

CALL = """
graph(%x : {a}, %y : {b}):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %r : {r} = {op}(%x, %y)
  return (%r)
"""


def bits(x):
    return struct.pack("d", x)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "floordiv", "mod"])
@pytest.mark.parametrize(
    ("x", "y"), [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-0.0, 3.0), (1e308, 1e-5), (0.1, 0.2)]
)
def test_float_operators_give_the_bits_of_python(op, x, y):
    f = Compiled(CALL.format(a="float", b="float", r="float", op=f"py::{op}"))
    wanted = getattr(operator, op)(x, y)
    assert bits(f(x, y)) == bits(wanted)


def test_division_by_zero_leaves_before_the_operation():
    f = Compiled(CALL.format(a="float", b="float", r="float", op="py::truediv"))
    with pytest.raises(Bailed) as caught:
        f(1.0, 0.0)
    assert caught.value.values == {"p0": 1.0, "p1": 0.0}


def test_integer_overflow_leaves():
    f = Compiled(CALL.format(a="int", b="int", r="int", op="py::mul"))
    assert f(3037000499, -3037000499) == 3037000499 * -3037000499
    with pytest.raises(Bailed):
        f(2**32, 2**32)


@pytest.mark.parametrize("op", ["mul", "truediv"])
def test_complex_products_and_quotients_are_those_of_python(op):
    f = Compiled(CALL.format(a="complex", b="complex", r="complex", op=f"py::{op}"))
    for x, y in [(1 + 2j, 3 - 4j), (-1.5j, 2.25 + 1e-3j), (1e200 + 1j, 1e-200 + 1e200j)]:
        got, wanted = f(x, y), getattr(operator, op)(x, y)
        assert bits(got.real) + bits(got.imag) == bits(wanted.real) + bits(wanted.imag)


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64".split()


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", [*DTYPES, "complex128"])
def test_array_casts_are_those_of_astype(source, target):
    values = [
        0,
        1,
        2,
        -1,
        127,
        128,
        255,
        256,
        -129,
        2**15,
        2**31 - 1,
        2**31,
        -(2**31),
        2**32,
        2**53 + 1,
        2**62,
        0.5,
        -0.5,
        2.75,
        -2.75,
        1e10,
        1e19,
        1.5e19,
    ]
    text = f"""
graph(%a : {source.capitalize()}(*), %b : {target.capitalize()}(*)):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %b)
  prim::Map[into=1](%b, %a)
    block0(%x : np.{source}):
      -> (%x)
  %none : None = prim::Constant[value=None]()
  return (%none)
"""
    f = Compiled(text)
    with np.errstate(all="ignore"):
        a = np.array(values).astype(source)
        if np.dtype(source).kind != "c" or np.dtype(target).kind in "cb":
            wanted = a.astype(target)
        else:
            wanted = a.real.astype(target)
        b = np.zeros(len(a), target)
        f(a, b)
    fits = np.ones(len(a), bool)
    if np.dtype(source).kind in "fc" and np.dtype(target).kind in "iu":
        info = np.iinfo(target)
        fits = (a.real >= info.min) & (a.real <= info.max)
        if np.dtype(target).itemsize == 8:
            fits &= a.real < 2.0**63
    np.testing.assert_array_equal(b[fits], wanted[fits])
    assert b.dtype == target


def test_nan_and_infinity_reach_the_result():
    f = Compiled(CALL.format(a="float", b="float", r="float", op="py::sub"))
    assert math.isnan(f(math.inf, math.inf))
    assert f(math.inf, 1.0) == math.inf


def test_a_modulus_is_compared_exactly_also_next_to_the_bound():
    text = """
graph(%z : complex, %r : float):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%z, %r)
  %h : float = py::abs(%z)
  %a : bool = py::{op}(%h, %r)
  return (%a)
"""
    values = [0.0, 1e-200, 5e-324, 0.6, math.nextafter(0.6, 1), 0.8, 1.2, 1.6, 3.0, 1e200, 1e307]
    values += [math.inf, math.nan]
    for op in ("lt", "le", "gt", "ge"):
        f = Compiled(text.format(op=op))
        for x in values:
            for y in values:
                z = complex(x, -y)
                if math.isfinite(x) and math.isfinite(y) and max(x, y) > 1e150:
                    continue  # may be an OverflowError: left to the interpreter
                for r in (2.0, 1.0, abs(z), math.nextafter(abs(z), 9), math.nextafter(abs(z), -9)):
                    assert f(z, r) is getattr(operator, op)(abs(z), r), (op, z, r)
