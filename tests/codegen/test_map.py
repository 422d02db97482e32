"""Loop nests: broadcasting, strides, in-place stores, overlap, references."""

import gc
import sys

import numpy as np
import pytest

from tests.codegen.harness import Bailed, Compiled

TWO = """
graph(%a : {a}, %b : {b}):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %b)
  %r : {r} = np::{op}(%a, %b)
  return (%r)
"""


def two(a, b, r, op="add"):
    return Compiled(TWO.format(a=a, b=b, r=r, op=op))


def check(got, wanted):
    assert type(got) is type(wanted)
    assert got.dtype == wanted.dtype
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("n", [0, 1, 7, 64, 1000])
def test_equal_shapes_run_as_one_loop(n):
    f = two("Float64(*)", "Float64(*)", "Float64(*)")
    a, b = np.arange(n) / 3, np.arange(n) * 7.1
    check(f(a, b), a + b)
    g = two("Float64(*, *)", "Float64(*, *)", "Float64(*, *)")
    a, b = np.ones((n, 3)) / 3, np.ones((n, 3))
    check(g(a, b), a + b)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((4, 5), (4, 5)),
        ((4, 1), (1, 5)),
        ((1, 5), (4, 5)),
        ((1, 1), (3, 2)),
        ((4, 0), (4, 1)),
        ((0, 5), (1, 5)),
        ((4, 5), (4, 1)),
    ],
)
def test_sizes_of_one_broadcast_at_run_time(x, y):
    f = two("Float64(*, *)", "Int32(*, *)", "Float64(*, *)")
    a = np.arange(np.prod(x), dtype=float).reshape(x)
    b = np.arange(np.prod(y), dtype=np.int32).reshape(y)
    check(f(a, b), a + b)


def test_shapes_that_do_not_broadcast_leave():
    f = two("Float64(*, *)", "Float64(*, *)", "Float64(*, *)")
    with pytest.raises(Bailed) as caught:
        f(np.ones((2, 3)), np.ones((2, 4)))
    assert caught.value.reason == "shapes do not broadcast"


def test_ranks_may_differ_and_known_sizes_of_one_broadcast():
    f = two("Float64(*)", "Float64(*, *)", "Float64(*, *)")
    a, b = np.arange(5.0), np.arange(20.0).reshape(4, 5)
    check(f(a, b), a + b)
    g = two("Float64(*, 1)", "Float64(1, *)", "Float64(*, *)", "multiply")
    check(g(a[:, None], a[None]), a[:, None] * a)


def test_strided_operands_take_the_general_loop():
    f = two("Float64(*, *, strided)", "Float64(*, *, strided)", "Float64(*, *)")
    base = np.arange(120.0).reshape(10, 12)
    for a, b in [
        (base[::2, ::3], base[1::2, ::-3]),
        (base.T[:, :5], base[:, :5].copy()[:10].T.copy().T[:10]),
        (base[:, :1], base[:1]),
        (base, base),
    ]:
        if a.shape[0] == 12:
            b = np.ones((12, 5))
        check(f(a, b), a + b)


def test_scalars_are_the_same_for_each_element():
    f = two("Float32(*)", "float", "Float32(*)", "multiply")
    a = np.arange(9, dtype=np.float32)
    check(f(a, 0.1), a * 0.1)


def test_bool_and_complex_elements():
    f = two("Float64(*)", "Float64(*)", "Bool(*)", "less")
    a = np.array([1.0, np.nan, -0.0, 3.0])
    check(f(a, a[::-1].copy()), a < a[::-1])
    g = two("Complex64(*)", "Complex64(*)", "Complex64(*)", "multiply")
    z = (np.arange(5) + 1j).astype(np.complex64)
    check(g(z, z), z * z)


INTO = """
graph(%a : {a}, %b : {b}):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %b)
  prim::Map[into=1](%a, %a, %b)
    block0(%x : np.float64, %y : np.float64):
      %z : np.float64 = np::add(%x, %y)
      -> (%z)
  return (%a)
"""


def test_stores_into_an_operand_are_seen_by_the_caller():
    f = Compiled(INTO.format(a="Float64(*)", b="Float64(*)"))
    a, b = np.arange(10.0), np.ones(10)
    wanted = a + b
    assert f(a, b) is a
    np.testing.assert_array_equal(a, wanted)
    wanted = a + a
    f(a, a)
    np.testing.assert_array_equal(a, wanted)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 2])
def test_an_overlapping_destination_gets_its_values_through_a_temporary(shift):
    f = Compiled(INTO.format(a="Float64(*, strided)", b="Float64(*, strided)"))
    for step in (1, 2, -1):
        base = np.arange(40.0)
        expected = base.copy()
        a, b = base[10:20:step][:5], base[10 + shift : 20 + shift : step][:5]
        x, y = expected[10:20:step][:5], expected[10 + shift : 20 + shift : step][:5]
        if step < 0:
            a, b = base[20:10:step], base[20 + shift : 10 + shift : step]
            x, y = expected[20:10:step], expected[20 + shift : 10 + shift : step]
        x += y
        f(a, b)
        np.testing.assert_array_equal(base, expected)


@pytest.mark.parametrize("shift", [0, 1, 7, 511, 512, 1023, 1024, 1025, 2047, 2900])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_a_long_vector_that_overlaps_an_operand_is_filled_block_by_block(shift, step):
    f = Compiled(INTO.format(a="Float64(*, strided)", b="Float64(*, strided)"))
    for is_ahead in (False, True):
        found, expected = (np.arange(9000.0)[::step] for _ in range(2))
        for base, add in ((found, f), (expected, np.ndarray.__iadd__)):
            parts = (base[shift:], base[: len(base) - shift])
            add(*(reversed(parts) if is_ahead else parts))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("width", [1, 3])
def test_many_rows_of_few_elements_with_one_that_is_broadcast(width):
    f = Compiled(INTO.format(a="Float64(*, *)", b="Float64(*, *)"))
    for shape in ((3000, width), (3000, 1), (1, width), (1, 1)):
        found, other = np.ones((3000, width)), np.arange(float(np.prod(shape))).reshape(shape)
        f(found, other)
        np.testing.assert_array_equal(found, other + np.ones((3000, width)))


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 20])
@pytest.mark.parametrize("width", [1, 3, 5, 300])
def test_rows_of_views_of_any_number_and_width(rows, width):
    f = Compiled(INTO.format(a="Float64(*, *, strided)", b="Float64(*, *, strided)"))
    views = {
        "side by side": lambda x: x[:rows, :width],
        "one row on": lambda x: x[1 : rows + 1, :width],
        "one element on": lambda x: x[:rows, 1 : width + 1],
        "backwards": lambda x: x[:rows, :width][::-1],
        "with gaps": lambda x: x[:rows, : 2 * width : 2],
        "the other way around": lambda x: x.reshape(-1)[: width * rows].reshape(width, rows).T,
    }
    for a in views.values():
        for b in views.values():
            for other in (0, 1):  # memory of its own, or the same
                found, expected = (np.arange(2.0 * 21 * 601).reshape(2, 21, 601) for _ in range(2))
                np.add(a(expected[0]), b(expected[other]), out=a(expected[0]))
                f(a(found[0]), b(found[other]))
                np.testing.assert_array_equal(found, expected)


def test_a_destination_does_not_grow():
    f = Compiled(INTO.format(a="Float64(*)", b="Float64(*)"))
    with pytest.raises(Bailed):
        f(np.ones(1), np.ones(3))
    a = np.arange(3.0)
    f(a, np.ones(1))
    np.testing.assert_array_equal(a, [1, 2, 3])


FUSED = """
graph(%a : Float64(*, *), %b : Float64(*), %k : float):
  prim::Snapshot[at='before:0', names=('p0',)](%a)
  %r : Float64(*, *), %s : Bool(*, *) = prim::Map(%a, %b, %k)
    block0(%x : np.float64, %y : np.float64, %c : float):
      %0 : np.float64 = np::multiply(%x, %y)
      %1 : np.float64 = np::add(%0, %c)
      %2 : np.bool = np::greater(%1, %x)
      -> (%1, %2)
  %t : (Float64(*, *), Bool(*, *)) = prim::TupleConstruct(%r, %s)
  return (%t)
"""


def test_a_map_has_several_ops_and_results():
    f = Compiled(FUSED)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    r, s = f(a, b, 0.5)
    check(r, a * b + 0.5)
    check(s, a * b + 0.5 > a)


def test_calls_leave_reference_counts_as_they_were():
    f = Compiled(FUSED)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    counts = [sys.getrefcount(x) for x in (a, b, a.dtype)]
    for _ in range(100):
        f(a, b, 0.5)
    assert [sys.getrefcount(x) for x in (a, b, a.dtype)] == counts
    g = two("Float64(*)", "Float64(*)", "Float64(*)")
    result = g(b, b)
    assert sys.getrefcount(result) == 2
    for _ in range(10):
        with pytest.raises(Bailed):
            g(b, np.ones(3))
    gc.collect()  # exceptions and their frames refer to each other
    assert [sys.getrefcount(x) for x in (a, b)] == counts[:2]


@pytest.mark.parametrize("n", [0, 2, 7, 64])
def test_columns_that_are_broadcast_are_done_side_by_side(n):
    f = two("Float64(*, 3)", "Float64(3)", "Float64(*, 3)")
    a, b = np.arange(n * 3.0).reshape(n, 3) / 3, np.array([0.5, 2.0, 4.0])
    check(f(a, b), a + b)
    text = f.code.optimized_ir()
    assert " x double>" in text
    assert "vector.memcheck" not in text
    g = two("Float64(*, 1, 3)", "Float64(1, *, 3)", "Float64(*, *, 3)")
    check(g(a[:, None], a[None]), a[:, None] + a[None])
    h = two("Float64(*, 3)", "Float64(*, 1)", "Float64(*, 3)")
    check(h(a, a[:, :1].copy()), a + a[:, :1])
    with pytest.raises(Bailed):
        h(a, np.ones((n + 2, 1)))


def test_the_contiguous_loop_is_vectorised_without_alias_checks():
    text = two("Float64(*)", "Float64(*)", "Float64(*)").code.optimized_ir()
    assert " x double>" in text
    assert "vector.memcheck" not in text
    assert "fadd fast" not in text
