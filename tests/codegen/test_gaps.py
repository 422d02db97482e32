"""Elements with gaps between them: what is done with a few at a time is what is done with each."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 2.5, -2.5, 0.5, 1e300, 5e-324]
FUNCTIONS = {
    "sqrt": lambda a, b: np.sqrt(a),
    "divide": lambda a, b: a / b,
    "reciprocal": lambda a, b: np.reciprocal(a),
    "floor": lambda a, b: np.floor(a),
    "rint": lambda a, b: np.rint(a),
    "round": lambda a, b: np.round(a, 1),
    "sign": lambda a, b: np.sign(a),
    "conjugate": lambda a, b: (a + 1j * b).conj(),
    "equal": lambda a, b: a == b,
    "narrow": lambda a, b: np.floor(b).astype(np.int8),
    "astype": lambda a, b: np.floor(b).astype(np.int64),
}


def operands(count: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(count).uniform(-9, 9, 2 * count).astype(dtype)
    with np.errstate(over="ignore"):
        special = np.resize(np.array(SPECIAL, dtype), 3 * count)
    return special[::3], numbers[::-2]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_number_of_elements_with_gaps(name, dtype):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    for count in (8, 8, *range(10), 1030):
        a, b = operands(count, dtype)
        for x, y in ((a, b), (b, a)) if name not in ("astype", "narrow") else ((a, b),):
            found, wanted = f(x, y), function(x, y)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(wanted.real))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_quotients_of_complex_numbers(dtype):
    kind, numbers = f"float{np.dtype(dtype).itemsize * 4}", np.array([*SPECIAL, -1e-30, 3e30])
    parts = np.stack(np.meshgrid(numbers, numbers), axis=-1).astype(kind).reshape(-1)
    every = np.stack(np.meshgrid(parts.view(dtype), parts.view(dtype))).reshape(2, -1)
    f = ljit.jit(FUNCTIONS["divide"])
    for x, y in (every, every.repeat(2, axis=1)[:, ::2], every[:, ::-1]) * 2:
        found, wanted = f(x, y).view(kind), (x / y).view(kind)
        np.testing.assert_array_equal(found, wanted)
        signs = [np.signbit(z) & ~np.isnan(z) for z in (found, wanted)]
        np.testing.assert_array_equal(*signs)
    assert any(s.state == "native" for s in f.specializations)


@pytest.mark.parametrize("name", ["sqrt", "divide", "rint"])
def test_a_few_elements_with_gaps_become_a_vector(name):
    f = ljit.jit(FUNCTIONS[name])
    a, b = operands(1000, "float64")
    for _ in range(2):
        f(abs(a)[::2], b[::2])
    assert re.search(r"insertelement <\d+ x double>", f.dump_llvm(optimized=True))


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float16", "int32", "bool"])
def test_products_of_columns(dtype):
    f = ljit.jit(lambda a: a[:, 1] * a[:, 0])
    a = (np.arange(3000) % 7).reshape(1000, 3).astype(dtype)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            np.testing.assert_array_equal(f(a), a[:, 1] * a[:, 0])
    assert [s.state for s in f.specializations] == ["native"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_roots_of_a_column_are_not_taken_of_whole_rows(dtype):
    f = ljit.jit(lambda a: np.sqrt(a[:, 1]))
    a = np.arange(3000.0).reshape(1000, 3).astype(dtype)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            np.testing.assert_array_equal(f(a), np.sqrt(a[:, 1]))
    widths = re.findall(r"@llvm\.sqrt\.v(\d+)f", f.dump_llvm(optimized=True))
    assert widths
    assert all(int(width) % 3 for width in widths)


VIEWS = {
    "every second": lambda x: x[:, ::2],
    "rows backwards": lambda x: x[:, ::-1],
    "every second row": lambda x: x[::2],
    "the other way around": lambda x: x.T[:, ::2],
    "one column": lambda x: x[:, 3:4],
    "all backwards": lambda x: x[::-1, ::-1],
    "as they lie": lambda x: x,
}


@pytest.mark.parametrize("name", ["sqrt", "divide"])
def test_rows_with_gaps_become_vectors_too(name):
    f, function = ljit.jit(FUNCTIONS[name]), FUNCTIONS[name]
    a, b = (abs(x[: 21 * 30].reshape(21, 30)) + 1 for x in operands(1000, "float64"))
    with config.overridden(quick_runs=0):
        for view in (VIEWS["every second"], *VIEWS.values()):
            for x, y in ((a, b), (view(a), b), (b, view(a)), (view(a), view(b))):
                if x.shape == y.shape:
                    found, wanted = f(x, y), function(x, y)
                    assert found.strides == wanted.strides
                    np.testing.assert_array_equal(found, wanted)
    assert "store <4 x double>" in f.dump_llvm(optimized=True)


@pytest.mark.parametrize("dtype", ["float64", "int64", "int16", "complex128"])
@pytest.mark.parametrize("width", [1, 32, 33, 300, 1100])
def test_columns_that_only_a_run_finds_to_be_broadcast(width, dtype):
    def compared(x, c):
        return x == c, c == x, x - c

    def subtracted(x, c):
        x -= c
        return x.sum()

    with config.overridden(quick_runs=0):
        native, in_place = ljit.jit(compared), ljit.jit(subtracted)
        for height in (3, width, 3):
            x = (np.arange(height * width) % 7).astype(dtype).reshape(height, width)
            for c in (
                x[:, :1].copy(),
                x[:, width // 2 :][:, :1],
                x[:1, :1].copy(),
                x[0, :1].copy(),
            ):
                for found, wanted in zip(native(x, c), compared(x, c), strict=True):
                    assert found.dtype == wanted.dtype
                    np.testing.assert_array_equal(found, wanted)
            y, z = x.copy(), x.copy()
            assert in_place(y, y[:, :1]) == subtracted(z, z[:, :1])
            np.testing.assert_array_equal(y, z)


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128"])
def test_rows_beside_arrays_that_lie_the_other_way_around(dtype):
    def added(x, r):
        return x + r, r * x, (x - r).sum(axis=1), (x * r).sum()

    with config.overridden(quick_runs=0):
        f = ljit.jit(added)
        for height, width in ((5, 70), (70, 5), (1, 40), (40, 1), (0, 3), (300, 200)):
            x = (np.arange(height * width) % 7).astype(dtype).reshape(width, height).T
            for y in (x, x.copy(order="C"), x[::-1], x[:, ::-1], np.repeat(x, 2, axis=1)[:, ::2]):
                for r in (x[-1:], x[-1:].copy(), x.sum(axis=0, dtype=dtype), x[-1:, :1].copy()):
                    for found, wanted in zip(f(y, r), added(y, r), strict=True):
                        assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
                        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("is_column", [True, False])
def test_what_only_a_run_finds_to_be_broadcast_is_loaded_in_front_of_the_row(is_column):
    with config.overridden(quick_runs=0):
        f = ljit.jit(lambda x, c: x - c)
        x = np.ones((40, 50), order="C" if is_column else "F")
        for _ in range(2):
            f(x, x[:, :1].copy() if is_column else x[0].copy())
        assert re.search(
            r"shufflevector <\d+ x double> .* zeroinitializer", f.dump_llvm(optimized=True)
        )


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float64", "complex128"])
def test_views_that_nobody_may_write_to_are_mostly_broadcast(dtype):
    def functions(c, x):
        return c == 1, c * x, -c if c.dtype.kind != "b" else ~c

    with config.overridden(quick_runs=0):
        f, inverted = ljit.jit(functions), ljit.jit(lambda c: c ^ c.dtype.type(1))
        for height, width in ((7, 100), (100, 7), (1, 300), (300, 1)):
            x = (np.arange(height * width) % 5).astype(dtype).reshape(height, width)
            still = x.copy()[:, ::-1]
            still.flags.writeable = False
            for c in (
                np.broadcast_to(x[:, :1], x.shape),
                np.broadcast_to(x[0], x.shape),
                np.broadcast_to(x[:1, :1], x.shape)[::-1],
                still,
                still.T.copy().T,
            ):
                for found, wanted in zip(f(c, x), functions(c, x), strict=True):
                    assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
                    np.testing.assert_array_equal(found, wanted)
                if dtype == "uint8":
                    np.testing.assert_array_equal(inverted(c), c ^ np.uint8(1))
        if dtype == "uint8":
            text = inverted.dump_llvm(np.broadcast_to(x[:, :1], (300, 40)), optimized=True)
            assert "@llvm.memset" in text  # what LLVM makes of rows of one element


REDUCTIONS = {
    "sum": lambda a, b: a.sum(),
    "product": lambda a, b: (a * b).sum(),
    "max": lambda a, b: a.max(initial=0),
    "any": lambda a, b: (a > b).any(),
    "rows": lambda a, b: (a + b).sum(axis=-1),
    "least and greatest": lambda a, b: a.min(initial=9) * 10 + a.max(initial=0),
}


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_any_number_of_elements_with_gaps_is_combined(name, dtype):
    function = REDUCTIONS[name]
    if dtype == "complex128" and name != "sum":
        function = lambda a, b: (a * b).sum(axis=-1)  # noqa: E731
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for count in (8, *range(10), 255, 256, 257, 1030):
            a, b = (np.arange(start, start + 9 * count) % 11 for start in (3, 7))
            a, b = a.reshape(3, -1).astype(dtype)[:, ::3], b.reshape(3, -1).astype(dtype)[:, ::-3]
            found, wanted = f(a, b), function(a, b)  # of ints: exact
            assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_are_none_are_found_among_gaps():
    with config.overridden(quick_runs=0):
        f = ljit.jit(lambda a: (a.max(), a.min(), a.sum()))
        for place in range(13):
            a = np.arange(39.0)
            a[3 * place] = np.nan
            assert all(map(np.isnan, f(a[::3])))
            a[3 * place] = np.inf
            assert f(a[::3])[0] == f(a[::3])[2] == np.inf


def test_sums_with_gaps_have_several_chains():
    with config.overridden(quick_runs=0):
        f = ljit.jit(REDUCTIONS["sum"])
        for _ in range(2):
            f(np.ones((100, 20))[:, ::2], None)
        text = f.dump_llvm(optimized=True)
    sums = [set(re.findall(r"%[\w.]+ = fadd reassoc double", x)) for x in text.split("\n\n")]
    assert max(map(len, sums)) >= 4


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("step", [2, -1, 3, -2, 5])
def test_elements_with_smaller_results_are_put_side_by_side(dtype, step):
    f = ljit.jit(FUNCTIONS["equal"])
    a, b = (np.arange(8000, dtype=dtype)[::step] // divisor for divisor in (1, 2))
    a, b = (np.repeat(x, abs(step))[::step] for x in (a, b))
    for _ in range(3):
        np.testing.assert_array_equal(f(a, b), np.equal(a, b))
    assert f.dump_llvm().count("zext i1") == 1


def test_what_rows_are_combined_with_is_put_side_by_side_once():
    f = ljit.jit(lambda a: a.max(axis=0))
    planes = np.arange(4200.0).reshape(10, 20, 21)[:, ::2, ::3]
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for a in (planes, planes, planes.T, planes[::-1]):
            np.testing.assert_array_equal(f(a), a.max(axis=0))
        text = f.dump_llvm()
    several = max(text.split("\ndefine "), key=lambda part: part.count("; rows.gather8"))
    assert several.count("; rows.gather8") == (4 + 1) + (
        1 + 1
    )  # four rows and what is left, with a result each
    waits = several.split("; rows.gather8")[0].splitlines()[-8:]
    assert any(" br i1 " in line for line in waits)  # not where they lie side by side


def test_loops_over_blocks_are_not_written_twice():
    f = ljit.jit(lambda a: a.max(axis=0))
    a = np.arange(4200.0).reshape(10, 20, 21)[:, ::2, ::3]
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for _ in range(2):
            np.testing.assert_array_equal(f(a), a.max(axis=0))
        counts = [f.dump_llvm(optimized=x).count("rows.gather8") for x in (False, True)]
    assert counts[0] == counts[1]


COLUMNS = {
    "exp": lambda a: np.exp(a[:, 1:2]),
    "sqrt": lambda a: np.sqrt(a[:, :1]),
    "copy": lambda a: a[:, -1:].copy(),
    "product": lambda a: a[:, 1:2] * a[:, -1:],
    "all of a row": lambda a: a - a[:, 2:3],
    "comparison": lambda a: a[:, 1:2] > a[:, :1],
    "sum": lambda a: a[:, 2:3].sum(axis=1),
    "sums": lambda a: a[:, :1].sum(axis=0, keepdims=True),
    "max": lambda a: a[:, 1:2].max(axis=-1, initial=-5.0),
    "halves": lambda a: a[::2, 1:2].astype(np.float16),
    "three axes": lambda a: a[:, None, 1:2] + a[:, 2:3, None],
}


@pytest.mark.parametrize("width", [3, 40, 0, 1, 2])
@pytest.mark.parametrize("name", COLUMNS)
def test_single_columns_as_in_numpy(name, width):
    function = COLUMNS[name]
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for count in (1000, 1000, 3, 1, 0):
            a = np.random.default_rng(count).integers(-3, 4, (count, max(width, 3))) * -1.0
            a = abs(a) if name in ("sqrt", "exp") else a
            for x in (a[:, :width], np.asfortranarray(a)[:, :width], a[::-1, :width]):
                try:
                    wanted = function(x)
                except ValueError as error:
                    with pytest.raises(ValueError, match=re.escape(str(error))):
                        f(x)
                    continue
                found = f(x)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                assert found.flags.c_contiguous == wanted.flags.c_contiguous
                np.testing.assert_array_equal(found, wanted)
                np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


CUBES = {
    "exp": lambda a: np.exp(a[..., 1:2]),
    "one column": lambda a: np.sqrt(a[..., 1:2]),
    "middle": lambda a: a[:, -1:] * 2,
    "two": lambda a: a[:, 1:2, :1] + a[:, :1, :1],
    "sum": lambda a: a[:, :1].sum(axis=-1),
    "sum of ones": lambda a: (a[..., :1] * 1).sum(axis=2),
    "sums": lambda a: a[:, 1:2].sum(axis=(0, 1)),
    "max": lambda a: a[..., 1:2].max(initial=0),
    "by rows": lambda a: a - a[..., 1:2].sum(axis=0),
    "copy": lambda a: a[:, 1:2].copy(),
    "four": lambda a: a[:, None, :, 1:2] + a[:, :, :1, None],
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", CUBES)
def test_axes_of_single_elements_of_cubes(name, order):
    function = CUBES[name]
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for shape in ((9, 20, 30), (9, 20, 30), (40, 2, 2), (3, 1, 5), (0, 2, 3), (2, 3, 1)):
            a = np.arange(np.prod(shape)).reshape(shape, order=order) % 7.0
            found, wanted = f(a), function(a)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            assert found.flags.c_contiguous == wanted.flags.c_contiguous
            np.testing.assert_array_equal(found, wanted)


def test_axes_of_single_elements_in_place():
    def store(a):
        a[:, :1] += a[:, 1:2]
        a[:, 1:2, :, None] = a[:, :1, ::-1, None] * 2
        a[1:, 1:2] = a[:-1, 1:2] + 1

    f = ljit.jit(store)
    with config.overridden(quick_runs=0):
        for shape in ((9, 20, 30), (9, 20, 30), (4, 2, 7), (3, 2, 600)):
            found, wanted = (np.arange(np.prod(shape)).reshape(shape) % 7.0 for _ in "ab")
            f(found)
            store(wanted)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("function", "shape"),
    [(COLUMNS[name], (1000, 3)) for name in ("sqrt", "product", "comparison")]
    + [(CUBES["one column"], (20, 30, 3))],
)
def test_single_columns_are_gone_down(function, shape):
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(np.ones(shape))
    assert "[24 x i8]" in f.dump_llvm()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("step", [2, -1, 3])
def test_elements_with_gaps_are_put_side_by_side_for_results_in_place(dtype, step):
    def into(a, b, out):
        return np.greater(a, b, out=out)

    f = ljit.jit(into)
    a, b = (np.random.default_rng(k).integers(0, 50, 9000).astype(dtype) for k in (1, 2))
    with config.overridden(quick_runs=0):
        for count in (3000, 3000, 700, 1):
            x, y, out = a[::step][:count], b[::step][:count], np.zeros(count + 1, bool)
            result = f(x, y, out[:count])
            assert result.base is out
            np.testing.assert_array_equal(result, np.greater(x, y))
            assert not out[count]
    if dtype.startswith("float"):
        assert len(re.findall(r"fcmp ogt (?:float|double) ", f.dump_llvm())) == 1


@pytest.mark.parametrize("step", [2, -1])
def test_bools_that_are_stored_over_operands_with_gaps_wait_for_them(step):
    f = ljit.jit(lambda a, b, out: np.logical_and(a, b, out=out))
    with config.overridden(quick_runs=0):
        for first in (0, 1, 7, 100, 600, 1500):
            memories = [np.random.default_rng(first).integers(0, 2, 4000) > 0 for _ in "ab"]
            results = []
            for call, memory in zip((f, np.logical_and), memories, strict=True):
                a, b = memory[:2400][::step][:1100], memory[2000:3100]
                call(a, b, memory[first : first + len(a)])
                results.append(memory)
            np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("dtype", [bool, np.float16])
def test_elements_that_are_moved_keep_their_bits(dtype, step):
    """Bools that were other bytes, and NaNs of all kinds: as numbers they would need more instructions, too."""

    def move(a, b):
        a[:] = b

    bits = np.random.default_rng(1).integers(0, 2**16, 1000).astype(f"u{np.dtype(dtype).itemsize}")
    f = ljit.jit(move)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            a, b = np.zeros(1000, dtype), bits.view(dtype)
            f(a[::step], b[::step])
            assert (a[::step].view(bits.dtype) == bits[::step]).all()
    assert "load half" not in f.dump_llvm()
