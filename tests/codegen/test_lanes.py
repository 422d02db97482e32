"""Vectors in quick code: the same results for any number of elements, and loops that have none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm import lanes
from ljit.codegen.llvm.basic_blocks import Phi
from ljit.codegen.llvm.builder import ModuleBuilder, Ref
from ljit.codegen.llvm.engine import compile_ir, vector_bytes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SIZES = [600, *range(17, 36), 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2100]
VECTORS = re.compile(r"= load <(\d+) x \w+>, ptr")


@pytest.fixture(autouse=True)
def quick_for_ever() -> Iterator[None]:
    with config.overridden(quick_runs=10**12):
        yield


def shifted_in_place(x, y):
    x[1:] = x[:-1] + y[1:]
    return x


def counted(x, y):
    return np.arange(x.size) * 2 + x


def of_two_dimensions(x, y):
    m = x[: x.size // 4 * 4].reshape(4, -1)
    return m.sum(axis=0), m.sum(axis=1), (m - m.mean(axis=0)) * m.max(axis=1)[:, None]


ELEMENTWISE = {
    "arithmetic": lambda x, y: (x + y) * x - y * 3,
    "quotient": lambda x, y: x / y,
    "floor quotient": lambda x, y: x // y,
    "where": lambda x, y: np.where(x > y, x - y, y + 1),
    "comparison": lambda x, y: (x < y) | (x == 7),
    "logic": lambda x, y: ~((x > 3) & (y > 5)),
    "extrema": lambda x, y: np.maximum(np.minimum(x, y), 4),
    "absolute": lambda x, y: np.abs(x - y),
    "negative": lambda x, y: -x,
    "casts": lambda x, y: x.astype(np.float64) * y.astype(np.float32) + y.astype(np.int16),
    "square": lambda x, y: np.sqrt(x * x + y * y),
    "one number": lambda x, y: x * x[3] + y[-1],
    "two results": lambda x, y: (x + y, (x + y) * x),
    "shifted in place": shifted_in_place,
    "counted": counted,
    "half": lambda x, y: x.astype(np.float16) + y.astype(np.float16),
    "complex": lambda x, y: (x + 1j * y) * (x - 2j * y),
    "cube root": lambda x, y: np.cbrt(x) * 2,
    "gaps": lambda x, y: x[::2] + y[::2],
}
BITS = {"masks": lambda x, y: (x & 12) ^ (y | 3), "shifts": lambda x, y: (x << 2) + (y >> 1)}
COMBINED = {
    "sum": lambda x, y: (x * y).sum(),
    "two sums": lambda x, y: ((x + y).sum(), (x - y).sum()),
    "product": lambda x, y: (x % 3 + 1)[:12].prod(),
    "extrema": lambda x, y: (x.max(), y.min(), (x + y).max()),
    "any": lambda x, y: ((x > 126).any(), (y >= 0).all()),
    "mean": lambda x, y: x - x.mean(),
    "count": lambda x, y: np.count_nonzero(x > y),
    "two dimensions": of_two_dimensions,
}
DTYPES = ["float64", "float32", "int64", "int32", "uint8", "int16"]


def operands(dtype: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    x, y = rng.integers(0, 128, (2, size))
    parts = (0.25, 0.5) if dtype[0] == "f" else (0, 0)
    return (x + parts[0]).astype(dtype), (y + 1 + parts[1]).astype(dtype)


def assert_same(got, wanted, places: int) -> None:
    """Equal types, shapes and values; floats up to so many units in the last place."""
    if isinstance(wanted, tuple):
        assert type(got) is tuple and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other, places)
        return
    assert type(got) is type(wanted)
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    if places and got.dtype.kind in "fc":
        scale = np.max(np.abs(wanted), initial=1.0)
        assert np.max(np.abs(got - wanted), initial=0.0) <= places * np.finfo(got.dtype).eps * scale
    else:
        np.testing.assert_array_equal(got, wanted)


def compiled(function, dtype: str) -> ljit.Function:
    """Quick code, made for arrays of some hundred elements."""
    f = ljit.jit(function)
    for _ in range(2):
        f(*operands(dtype, SIZES[0]))
    return f


def text_of(f: ljit.Function) -> str:
    (info,) = f.specializations
    assert info.is_quick
    (plan,) = f._executor.plans.values()
    return plan.unit.code.ir


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*ELEMENTWISE, *BITS, *COMBINED])
def test_results_are_those_of_numpy_for_any_number_of_elements(name, dtype):
    if dtype[0] == "f" and name in BITS:
        pytest.skip("floats have no bits")
    function = {**ELEMENTWISE, **BITS, **COMBINED}[name]
    f = compiled(function, dtype)
    exact = name in ELEMENTWISE or name in BITS
    for size in SIZES:
        given, wanted = operands(dtype, size), operands(dtype, size)
        places = 0 if exact and name not in ("complex", "cube root") else 64
        assert_same(f(*given), function(*wanted), places)
        for one, other in zip(given, wanted, strict=True):
            np.testing.assert_array_equal(one, other)  # arguments that were written to


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *[(name, "float64") for name in ("arithmetic", "where", "square", "one number")],
        *[(name, "int64") for name in ("arithmetic", "comparison", "absolute", "masks", "casts")],
        *[(name, "float64") for name in ("sum", "two sums", "extrema", "two dimensions")],
        ("sum", "int16"),
    ],
)
def test_loops_over_elements_side_by_side_have_vectors(name, dtype):
    f = compiled({**ELEMENTWISE, **BITS, **COMBINED}[name], dtype)
    assert VECTORS.search(text_of(f))


def test_vectors_are_as_wide_as_registers():
    sizes = {"float64": 8, "float32": 4, "int16": 2}
    for dtype, size in sizes.items():
        text = text_of(compiled(lambda x, y: x + y, dtype))
        assert set(VECTORS.findall(text)) == {str(vector_bytes() // size)}


def test_elementary_functions_are_those_for_vectors():
    f = compiled(lambda x, y: np.exp(x / 64) + np.sin(y), "float64")
    assert re.search(r"call <\d+ x double> @shared\.exp\.double\.x\d+\(<", text_of(f))
    for size in SIZES:
        x, y = operands("float64", size)
        assert_same(f(x, y), np.exp(x / 64) + np.sin(y), 4)


@pytest.mark.parametrize("name", ["half", "complex", "gaps"])
def test_what_has_no_vectors_leaves_its_loop_as_it_is(name):
    f = compiled(ELEMENTWISE[name], "float64")
    assert not re.search(r"= load <\d+ x (?:double|half)>, ptr %\w+, align \d+, !llvm", text_of(f))


def test_code_for_short_arrays_has_none():
    f = ljit.jit(lambda x, y: x * 2 + y)
    for _ in range(2):
        f(*operands("float64", 100))
    assert not VECTORS.search(text_of(f))


def calls_until_optimised(f: ljit.Function, size: int) -> int:
    given = operands("float64", size)
    calls = 0
    while f.specializations[0].is_quick:
        f(*given)
        calls += 1
    return calls


def test_code_with_vectors_stays_in_use_for_longer():
    counts = []
    with config.overridden(quick_runs=50_000):
        for size_at_first in (100, 600):
            f = ljit.jit(lambda x, y: (x + y) * x - y * 3)
            for _ in range(2):
                f(*operands("float64", size_at_first))
            counts.append(calls_until_optimised(f, 8000))
    numbers, vectors = counts
    assert vectors > 2 * numbers * vector_bytes() // 8


def test_negative_zeros_infinities_and_nans_are_kept():
    def function(x):
        return x.sum(), x.max(), x.min(), np.abs(x), -x, x * 0.0

    f = ljit.jit(function)
    special = np.array([np.nan, np.inf, -np.inf, -0.0])
    for size in (600, 17, 24, 31):
        for value in special:
            for place in (0, 7, size - 1):
                x = np.full(size, -0.0)
                x[place] = value
                for got, wanted in zip(f(x), function(x), strict=True):
                    np.testing.assert_array_equal(got, wanted)
                    assert (np.signbit(got) == np.signbit(wanted)).all() or np.isnan(value)


CARRIED = {
    "looked at": ("%s = fadd reassoc double %c, %x", "%z = fmul double %c, %x"),
    "in order": ("%s = fadd double %c, %x",),
    "two ways": ("%t = fadd reassoc double %c, %x", "%s = fmul reassoc double %t, %x"),
    "not combined": ("%s = fsub reassoc double %c, %x",),
    "its own operand": ("%s = fadd reassoc double %c, %c",),
    "looked at behind": ("%s = fadd reassoc double %c, %x", "%z = fmul double %s, %x"),
}


@pytest.mark.parametrize("lines", CARRIED.values(), ids=CARRIED)
def test_what_is_not_combined_in_any_order_has_no_vectors(lines):
    f = ModuleBuilder("test").function("entry", "void", ["ptr"])
    loads = (
        "%p = getelementptr inbounds [8 x i8], ptr %a0, i64 %k",
        "%x = load double, ptr %p, align 8",
    )
    carried, passed = Phi("double", "%c"), Ref("double", "%s")
    trip = lanes.Trip(Phi("i64", "%k"), [carried], [passed], [*loads, *lines])
    assert lanes.lanes_of(f, trip) is None
    good = lanes.Trip(trip.number, [carried], [passed], [*loads, CARRIED["looked at"][0]])
    assert lanes.lanes_of(f, good) is not None


REFUSED = {
    "an element with gaps": "%x = load double, ptr %p, align 8",
    "the number of the trip": "%x = add i64 %k, 1",
    "an address": "%x = ptrtoint ptr %p to i64",
    "half": "%x = fptrunc float 1.0 to half",
    "a call of C": "%x = call double @cbrt(double 1.0)",
    "a shared function without vectors": "%x = call double @shared.cbrt.double(double 1.0)",
    "a load of what stays": "%x = load double, ptr %a0, align 8",
    "a pointer": "%x = select i1 true, ptr %a0, ptr %a0",
    "an atomic store": "store atomic i64 0, ptr %p seq_cst, align 8",
}


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED)
def test_lines_that_have_no_vectors(line):
    f = ModuleBuilder("test").function("entry", "void", ["ptr"])
    block = f.block
    place = "%p = getelementptr inbounds [16 x i8], ptr %a0, i64 %k"
    trip = lanes.Trip(Phi("i64", "%k"), [], [], [place, line])
    assert lanes.lanes_of(f, trip) is None
    assert f.block is block and not block.lines  # nothing was written
    f.ret()
    compile_ir(f.module.render(), "entry").free()
