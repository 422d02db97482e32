"""Maps with reduced results: several in one pass, beside arrays, in compiled code and in the interpreter."""

import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.interp import compile_graph, run
from ljit.ir.parser import parse
from tests.codegen.harness import Bailed, Compiled

MAP = """
graph(%a : {a}):
  prim::Snapshot[at='before:0', names=('p0',)](%a)
  {outputs} = prim::Map[into=0, reduce=({reduce}), axes=({axes}), keepdims={keepdims}](%a)
    block0(%x : np.float64):
      %y : np.float64 = np::multiply(%x, %x)
      -> ({results})
  %t : ({types}) = prim::TupleConstruct({values})
  return (%t)
"""


def texts(a, results, axes, keepdims=False):
    """The text of a Map: `results` are (value, op or None, type)."""
    names = [f"%r{i}" for i in range(len(results))]
    outputs = ", ".join(f"{name} : {r[2]}" for name, r in zip(names, results, strict=True))
    types = ", ".join(r[2] for r in results) + ("," if len(results) == 1 else "")
    return MAP.format(
        a=a,
        outputs=outputs,
        reduce="".join(f"{r[1]!r}, " for r in results),
        axes="".join(f"{axis}, " for axis in axes),
        keepdims=keepdims,
        results=", ".join(r[0] for r in results),
        types=types,
        values=", ".join(names),
    )


def check(text, wanted, *arrays):
    compiled, code = Compiled(text), compile_graph(parse(text))
    for a in arrays:
        for found in (compiled(a), run(code, (a,))):
            for mine, other in zip(found, wanted(a), strict=True):
                assert type(mine) is type(other)
                assert mine.dtype == other.dtype
                np.testing.assert_allclose(mine, other, rtol=1e-13)


A = np.random.default_rng(3).standard_normal((6, 7, 9))


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)])
def test_an_array_its_sum_and_its_largest_square_in_one_pass(axes):
    left = "Float64(*, *, strided)" if len(axes) == 1 else "Float64(*)"
    results = [
        ("%y", None, "Float64(*, *, *, strided)"),
        ("%x", "np::add", left),
        ("%y", "np::maximum", left),
    ]
    text = texts("Float64(*, *, *, strided)", results, axes)

    def wanted(a):
        return a * a, a.sum(axis=axes), (a * a).max(axis=axes)

    check(text, wanted, A, A[::2, ::-1], A.T, A[:, :1], A[:1, :, :1])


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_short_last_axis_of_known_size(count, axes):
    left = "Float64(*)"
    if len(axes) == 1:
        left = "Float64(*, *)" if axes == (2,) else f"Float64(*, {count})"
    array = f"Float64(*, *, {count})"
    results = [("%y", None, array), ("%x", "np::add", left), ("%y", "np::maximum", left)]

    def wanted(a):
        return a * a, a.sum(axis=axes), (a * a).max(axis=axes)

    rows = np.ascontiguousarray(np.abs(A[:, :, :count]))
    long = np.ones((2, 1500, count)) / 3
    check(texts(array, results, axes), wanted, rows, rows[:1], rows[:, :1].copy(), long)


@pytest.mark.parametrize("op", ["np::add", "np::maximum"])
def test_columns_of_a_broadcast_shape_are_reduced_along_the_first_axis(op):
    text = f"""
graph(%a : Float64(*, 1, 3), %b : Float64(1, *, 3)):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %b)
  %r : Float64(*, 3) = prim::Map[into=0, reduce=({op!r},), axes=(0,), keepdims=False](%a, %b)
    block0(%x : np.float64, %y : np.float64):
      %z : np.float64 = np::multiply(%x, %y)
      -> (%z)
  return (%r)
"""
    a, b = A[:, :1, :3].copy(), A[:1, :, 3:6].copy()
    wanted = (a * b).sum(axis=0) if op == "np::add" else (a * b).max(axis=0)
    rtol = 1e-12 if op == "np::add" else 0  # sums may be made in another order
    np.testing.assert_allclose(Compiled(text)(a, b), wanted, rtol=rtol)


def test_scalars_of_several_dtypes_in_one_pass():
    results = [
        ("%x", "np::add", "np.complex128"),
        ("%x", "np::minimum", "np.float64"),
        ("%y", "np::add", "np.float64"),
        ("%x", "np::logical_and", "np.bool"),
        ("%x", "np::logical_or", "np.bool"),
    ]
    text = texts("Float64(*, *)", results, (0, 1))

    def wanted(a):
        return a.sum(dtype=complex), a.min(), (a * a).sum(), a.all(), a.any()

    check(text, wanted, A[0], np.zeros((3, 4)), np.eye(50), np.ones((60, 50)))


def test_kept_axes_have_one_element():
    results = [("%x", "np::add", "Float64(*, 1)"), ("%y", "np::multiply", "Float64(*, 1)")]
    text = texts("Float64(*, *)", results, (1,), keepdims=True)

    def wanted(a):
        return a.sum(axis=1, keepdims=True), (a * a).prod(axis=1, keepdims=True)

    check(text, wanted, A[0], A[0, :1], np.ones((3, 0)), np.ones((0, 3)))


def test_an_extremum_of_nothing_leaves():
    f = Compiled(texts("Float64(*, *)", [("%x", "np::maximum", "Float64(*)")], (0,)))
    assert f(np.empty((2, 0)))[0].shape == (0,)
    with pytest.raises(Bailed) as caught:
        f(np.empty((0, 2)))
    assert caught.value.reason == "no elements"


COLUMN_SHAPES = [(3000, 1), (7, 1), (1, 1), (40, 30, 1), (300, 1, 1), (30, 1, 20), (1, 300, 1)]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float64"])
def test_columns_are_combined_as_rows_are(dtype):
    def combined(a, b):
        both = a & b if dtype == "bool" else a * b
        found = both.sum(axis=0), both.max(axis=0), both.any(axis=0), both.all(axis=0)
        return (
            *found,
            a.mean(axis=0),
            a.max(axis=-1),
            both.sum(axis=(0, -1)),
            both.min(axis=0, keepdims=True),
        )

    with config.overridden(quick_runs=0):
        f = ljit.jit(combined)
        for shape in COLUMN_SHAPES:
            a = (np.arange(np.prod(shape)) % 7 % 3).astype(dtype).reshape(shape)
            for x in (a, a[::-1], np.repeat(a, 2, axis=0)[::2], np.asfortranarray(a)):
                for _ in range(2):
                    for found, wanted in zip(f(x, a), combined(x, a), strict=True):
                        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                        np.testing.assert_array_equal(found, wanted)


def test_all_of_a_column_is_combined_in_registers():
    a = np.ones((3000, 1))
    with config.overridden(quick_runs=0):
        f = ljit.jit(lambda a: (a * a).max(axis=0))
        for _ in range(3):
            f(a)
    loads = re.findall(r"load double, .*access", f.dump_llvm(a, optimized=False))
    assert len(loads) == 1  # the element; what is there is no row that waits in memory


@pytest.mark.parametrize("kept", ["", "%s : Float64(*, *, *)"])
def test_a_map_whose_reduced_results_nobody_needs_reduces_nothing(kept):
    entries, results = ("None,", "%x") if kept else ("", "")
    text = f"""
graph(%a : Float64(*, *, *, strided)):
  {kept}{" = " if kept else ""}prim::Map[into=0, reduce=({entries}), axes=(0,), keepdims=False](%a)
    block0(%x : np.float64):
      -> ({results})
  return ({"%s" if kept else "%a"})
"""
    f = Compiled(text)
    for a in (A, A[::2, ::-1], A.T, np.zeros((0, 2, 3))):
        np.testing.assert_array_equal(f(a), a)


def test_a_sum_that_nobody_needs_is_no_fault():
    def unused(a):
        a.sum(axis=0)
        return a.shape

    with config.overridden(check=1, cold_calls=False):
        f = ljit.jit(unused)
        for _ in range(3):
            assert f(A[:, ::2]) == (6, 4, 9)
