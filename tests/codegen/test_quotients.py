"""Quotients of integers in loops of vectors: those of NumPy for every pair where rounding could go wrong."""

from __future__ import annotations

import itertools
import linecache
import re
from collections.abc import Iterator

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.engine import has_avx512, vector_bytes
from ljit.codegen.scalars import quotients
from tests.codegen.harness import Compiled

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FUNCTIONS = {
    "quotient": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "fmod": lambda a, b: np.fmod(a, b),
    "fused": lambda a, b: (a // b) * b + a % b,
}


DIVISORS = [0, 1, 3, 7, 10, 641, 2**31 + 1, 2**62 + 1, 2**63 - 1, 2**63 + 1, -1, -2, -7, -(2**63)]
CONSTANTS = [
    (dtype, divisor)
    for dtype in ("int64", "uint64", "int16")
    for divisor in DIVISORS
    if np.iinfo(dtype).min <= divisor <= np.iinfo(dtype).max
]


@pytest.fixture(autouse=True)
def optimized() -> Iterator[None]:
    with config.overridden(quick_runs=0):
        yield


def hard_pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of bytes; of others multiples of divisors and their neighbours, small to extreme."""
    limits = np.iinfo(dtype)
    if limits.bits == 8:
        every = np.arange(limits.min, limits.max + 1)
        return tuple(x.astype(dtype).ravel() for x in np.meshgrid(every, every))
    low, high = int(limits.min), int(limits.max)
    powers = [2**k + i for k in range(limits.bits) for i in (-1, 0, 1)]
    divisors = [*powers, 3, 5, 7, 10, 641, 65521, high - 2, high // 3, *(-x for x in powers)]
    pairs = []
    for divisor in [x for x in divisors if low <= x <= high] + [low, high, 0]:
        whole = abs(divisor or 1)
        quotients = {high // whole, high // whole // 2, high // whole // 3 * 2, 1, 2, 3, 1000}
        near = [sign * q * whole + i for q in quotients for i in (-1, 0, 1) for sign in (1, -1)]
        pairs += [(x, divisor) for x in (*near, low, high, 0) if low <= x <= high]
    a, b = zip(*pairs, strict=True)
    return np.array(a, dtype), np.array(b, dtype)


@pytest.mark.parametrize(
    "dtype", [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_quotients_are_those_of_numpy(name, dtype):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    a, b = hard_pairs(dtype)
    wanted = function(a, b)
    for _ in range(3):
        found = f(a, b)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    gaps = np.repeat(a, 2)[::2], np.repeat(b, 3)[::3]
    np.testing.assert_array_equal(f(*gaps), wanted)
    np.testing.assert_array_equal(f(*gaps), wanted)


@pytest.mark.parametrize(
    "dtype", [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_quotients_by_one_number_are_those_of_numpy(name, dtype):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    numbers, divisors = hard_pairs(dtype)
    for divisor in np.unique(divisors):
        a = np.unique(numbers[divisors == divisor])
        wanted = function(a, divisor)
        found = f(a, divisor)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted, err_msg=str(divisor))
    assert f.specializations


@pytest.mark.parametrize(("dtype", "divisor"), CONSTANTS)
def test_quotients_by_constants_are_those_of_numpy(dtype, divisor):
    scope: dict[str, object] = {}
    file = f"<by {divisor} of {dtype}>"
    source = f"def function(a):\n    return a // {divisor}, a % {divisor}\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), scope)
    f = ljit.jit(scope["function"])
    numbers, _ = hard_pairs(dtype)
    for _ in range(3):
        for found, wanted in zip(f(numbers), scope["function"](numbers), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
    assert f.specializations


def test_quotients_of_64_bits_by_one_number_are_vectors():
    f = ljit.jit(FUNCTIONS["quotient"])
    a, _ = hard_pairs("int64")
    for divisor in (3, 5):
        f(a, np.int64(divisor))
    has_products = re.search(r"mul nuw <\d+ x i64>", f.dump_llvm(optimized=True)) is not None
    assert has_products == (vector_bytes() >= 32)  # two numbers are divided one by one


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_quotients_of_64_bits_by_numbers_of_all_lengths(dtype):
    rng = np.random.default_rng(3)
    a, b, rest = (
        rng.integers(0, 2**64, 50_000, dtype="uint64")
        >> rng.integers(0, 64, 50_000, dtype="uint64")
        for _ in "abc"
    )
    near = a // np.maximum(b, 1) * b + rest % 5 - np.uint64(2)  # next to a multiple of b
    divmod_of = ljit.jit(lambda x, y: (x // y, x % y))
    for x, y in itertools.product((a, near), (b, np.uint64(0) - b)):
        pair = x.view(dtype), y.view(dtype)
        for _ in range(2):
            found = divmod_of(*pair)
        for part, wanted in zip(found, np.divmod(*pair), strict=True):
            np.testing.assert_array_equal(part, wanted)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_quotients_of_64_bits_are_vectors_where_conversions_are(dtype):
    f = ljit.jit(FUNCTIONS["quotient"])
    a, b = hard_pairs(dtype)
    for _ in range(2):
        f(a, b)
    has_vectors = re.search(r"fdiv <\d+ x double>", f.dump_llvm(optimized=True)) is not None
    assert has_vectors == has_avx512()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_narrow_quotients_by_one_number_are_high_halves_of_products(dtype):
    f = ljit.jit(FUNCTIONS["quotient"])
    a, _ = hard_pairs(dtype)
    for divisor in (3, 5):
        f(a, np.dtype(dtype).type(divisor))
    text = f.dump_llvm(optimized=True)
    assert re.search(r"call <\d+ x i16> @llvm.umul.fix", text)
    assert not re.search(r"fdiv <", text)


def test_quotients_are_the_same_where_vectors_are_short(monkeypatch):
    monkeypatch.setattr(quotients, "vector_bytes", lambda: 16)
    f = ljit.jit(FUNCTIONS["fused"])
    numbers, _ = hard_pairs("int64")
    for divisor in (0, 7, -7, -(2**63)):
        wanted = FUNCTIONS["fused"](numbers, np.int64(divisor))
        np.testing.assert_array_equal(f(numbers, np.int64(divisor)), wanted)
    assert "sdiv i64" in f.dump_llvm()


def test_quotients_of_two_numbers_are_the_same_where_vectors_are_short(monkeypatch):
    monkeypatch.setattr(quotients, "vector_bytes", lambda: 32)
    f = ljit.jit(FUNCTIONS["fused"])
    a, b = hard_pairs("int64")
    for _ in range(2):
        np.testing.assert_array_equal(f(a, b), FUNCTIONS["fused"](a, b))
    assert "sdiv i64" in f.dump_llvm()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32"])
def test_narrow_quotients_are_vectors(dtype):
    f = ljit.jit(FUNCTIONS["quotient"])
    a, b = hard_pairs(dtype)
    for _ in range(2):
        f(a, b)
    text = f.dump_llvm(optimized=True)
    assert re.search(r"fdiv <\d+ x (float|double)>", text)
    assert not re.search(r"[su]div i(8|16|32) ", text)


DIVIDED = """
graph(%x : int, %y : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %q : int = py::floordiv[proven=(PROVEN)](%x, %y)
  %r : int = py::mod[proven=(PROVEN)](%x, %y)
  %s : int = py::sub(%q, %r)
  return (%s)
"""


@pytest.mark.parametrize(
    ("proven", "opcodes"),
    [
        ("'nonzero', 'positive'", {"sdiv", "srem"}),
        ("'nonzero', 'positive', 'nonnegative'", {"udiv", "urem"}),
    ],
)
def test_what_is_not_negative_is_divided_without_signs(proven, opcodes):
    f = Compiled(DIVIDED.replace("PROVEN", proven))
    assert set(re.findall(r"[su](?:div|rem)", f.code.ir)) == opcodes
    for x in (0, 1, 7, 12345, 2**63 - 1):
        for y in (1, 2, 7, 10**12, 2**63 - 1):
            assert f(x, y) == x // y - x % y
