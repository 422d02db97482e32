"""Float arithmetic that native code computes in another way than CPython: bit for bit the same."""

import math
import random

import pytest

import ljit
from ljit.ir import get_op
from ljit.types import COMPLEX, FLOAT, INT
from tests.ops.python_harness import NativeBailed, PythonEmitter, attempt, compile_op, run_lowering


def numbers(seed, count=700):
    """Random floats of all sizes, near whole numbers, and powers of two."""
    random.seed(seed)
    for _ in range(count):
        yield random.uniform(-10, 10)
        yield math.ldexp(random.uniform(-1, 1), random.randint(-1070, 1020))
        yield random.randint(-50, 50) * random.choice([1.0, 0.1, 0.5, 1 / 3])
        yield math.ldexp(random.choice([-1, 1]), random.randint(-1074, 1023))


def pairs(seed):
    return zip(numbers(seed), numbers(seed + 1), strict=True)


def check(name, types, operands, at_least=0.9):
    """Compare; an op may bail out, but rarely where Python gives a result."""
    op = get_op(name)
    native = compile_op(op, types)
    done = defined = 0
    for values in operands:
        expected = attempt(op.evaluate, values)
        found = attempt(native, values)
        defined += expected.error is None
        if isinstance(found.error, NativeBailed):
            continue
        done += 1
        assert found.text == expected.text, values
    assert done >= at_least * defined


@pytest.mark.parametrize("name", ["py::mod", "py::floordiv", "py::divmod", "math::fmod"])
def test_remainders_of_floats(name):
    check(name, (FLOAT, FLOAT), pairs(1))


def test_remainders_of_multiples():
    random.seed(2)
    multiples = [
        (random.randint(-(2**30), 2**30) * y, y)
        for y in (0.1, 0.3, 3.0, 1e-5, -0.7)
        for _ in range(500)
    ]
    check("py::mod", (FLOAT, FLOAT), multiples)
    check("py::floordiv", (FLOAT, FLOAT), multiples)


@pytest.mark.parametrize("exponent", [2, 0.5, -1, 3, 1.5, -2.0])
def test_powers_of_floats(exponent):
    bases = [abs(x) if exponent != int(exponent) else x for x in numbers(3)]
    types = (FLOAT, INT if isinstance(exponent, int) else FLOAT)
    check("py::pow", types, [(x, exponent) for x in bases])


def test_squares_and_roots_use_the_c_library_where_rounding_is_close():
    random.seed(4)
    close = [x for x in (random.uniform(1, 4) for _ in range(100_000)) if x**2 != x * x]
    assert close, "the C library rounds all squares correctly: the detour can go"
    check("py::pow", (FLOAT, INT), [(x, 2) for x in close])
    roots = [x for x in (random.uniform(1, 4) for _ in range(100_000)) if x**0.5 != math.sqrt(x)]
    assert roots, "the C library rounds all roots correctly: the detour can go"
    check("py::pow", (FLOAT, FLOAT), [(x, 0.5) for x in roots])


def test_few_squares_need_the_c_library(monkeypatch):
    calls = []
    power = PythonEmitter.math
    monkeypatch.setattr(PythonEmitter, "math", lambda *args: calls.append(args) or power(*args))
    square = get_op("py::pow")
    for x in (0.0, -0.0, 1.5, -3e44):
        assert repr(run_lowering(square, x, 2)) == repr(x**2)
    assert not calls
    for x in (1e-60, 1e60, -1e-200, math.inf, math.nan):
        assert repr(run_lowering(square, x, 2)) == repr(x**2)
    assert len(calls) == 5
    random.seed(9)
    for _ in range(1000):
        run_lowering(square, random.uniform(-4, 4), 2)
    assert 5 < len(calls) < 80  # one in 21


@pytest.mark.parametrize("exponent", [-2, -1, 3, 4, 5, 6])
def test_few_whole_powers_need_the_c_library(exponent, monkeypatch):
    op, calls = get_op("py::pow"), []
    power = PythonEmitter.math
    monkeypatch.setattr(PythonEmitter, "math", lambda *args: calls.append(args) or power(*args))
    for x in (0.0, -0.0, 1.5, -2.0) if exponent > 0 else (1.0, -2.0):
        assert repr(run_lowering(op, x, exponent)) == repr(x**exponent)
    assert not calls
    far = 1e100 ** (1 / exponent)
    for x in (far, -1 / far, math.inf, -math.inf, math.nan):
        assert repr(run_lowering(op, x, exponent)) == repr(x**exponent)
    assert len(calls) == 5
    random.seed(exponent)
    for _ in range(1000):
        x = random.choice([-1, 1]) * 10 ** random.uniform(-10, 10)
        assert run_lowering(op, x, exponent) == x**exponent
    assert 5 < len(calls) < 80  # one in 21


def whole_powers(xs):
    return [(x**2, x**3, x**4, x**5, x**6, x**-1, x**-2, x**7) for x in xs]


def test_constant_powers_have_the_bits_of_the_c_library():
    random.seed(12)
    xs = [random.choice([-1, 1]) * 10 ** random.uniform(-40, 40) for _ in range(5000)]
    xs += [random.uniform(-4, 4) for _ in range(5000)]
    xs += [k / 8 for k in range(-100, 100) if k]
    native = ljit.jit(whole_powers)
    for _ in range(3):
        assert list(map(repr, native(xs))) == list(map(repr, whole_powers(xs)))
    for x in (0.0, -0.0, 1e200, -1e-200, 5e-324):
        assert attempt(native, ([x],)).text == attempt(whole_powers, ([x],)).text


def test_hypot_has_the_bits_of_the_c_library():
    check("math::hypot", (FLOAT, FLOAT), pairs(5))
    triples = zip(numbers(6), numbers(7), numbers(8), strict=True)
    check("math::hypot", (FLOAT,) * 3, triples)


def test_hypot_of_numbers_of_all_sizes_has_the_bits_of_the_c_library():
    random.seed(15)
    edges = [2.0**k * (1 + step * 2.0**-52) for k in (-1022, -1021, 1021, 1022) for step in (0, 1)]
    sizes = edges + [math.ldexp(random.uniform(1, 2), k) for k in range(-1074, 1024, 7)]
    small = [0.0, 5e-324, math.ldexp(1.0, -1022)]
    operands = [(x, y) for x in sizes for y in (*small, x * 0.7, x * 1e-8, x * 1e-16, math.nan)]
    check("math::hypot", (FLOAT, FLOAT), operands, at_least=0.9)
    check("math::hypot", (FLOAT, FLOAT), [(y, x) for x, y in operands], at_least=0.9)
    check("math::hypot", (FLOAT,) * 3, [(y, x, x) for x, y in operands], at_least=0.9)


def test_quotients_and_products_of_complex_numbers():
    operands = [(complex(*p), complex(*q)) for p, q in zip(pairs(9), pairs(11), strict=True)]
    check("py::truediv", (COMPLEX, COMPLEX), operands)
    check("py::mul", (COMPLEX, COMPLEX), operands)
    check("py::abs", (COMPLEX,), [(z,) for z, _ in operands], at_least=0.75)  # squares must fit


@pytest.mark.parametrize("exponent", [2, 3])
def test_small_powers_of_complex_numbers(exponent):
    operands = [(complex(*p), exponent) for p in pairs(13)]
    check("py::pow", (COMPLEX, INT), operands, at_least=0.5)


@pytest.mark.parametrize("name", ["py::truediv", "py::floordiv", "py::mod", "py::pow"])
def test_operators_of_random_ints(name):
    random.seed(14)
    sizes = [4, 20, 40, 53, 63]
    operands = [
        (
            random.randint(-(2**a), 2**a - 1),
            random.randint(-(2**b), 2**b - 1) % (80 if "pow" in name else 2**64),
        )
        for a in sizes
        for b in sizes
        for _ in range(200)
    ]
    operands = [(x, y - 2**64 if y >= 2**63 else y) for x, y in operands]
    check(name, (INT, INT), operands, at_least=0.1)


def same(x):
    return x is x  # noqa: PLR0124


def other(x, y):
    return x is y, x is not y


def among(x, y):
    return x in (x, y), x in (y, x), (x, y) == (x, y)


@pytest.mark.parametrize("x", [5, 2**40, 1.5, math.nan, 1j, True, None, "ab", (1, 2), [1], 2**70])
def test_a_value_is_itself_in_compiled_code(x):
    compiled = ljit.jit(same)
    assert [compiled(x) for _ in range(4)] == [True] * 4


@pytest.mark.parametrize(
    ("x", "y"), [(5, 6), (1.5, 2.5), (None, 5), (True, False), (True, 1), ("a", None), (1, 1.0)]
)
def test_different_values_are_not_identical_in_compiled_code(x, y):
    compiled = ljit.jit(other)
    assert [compiled(x, y) for _ in range(4)] == [(False, True)] * 4


@pytest.mark.parametrize("y", [5, 1.5, None, "text"])
def test_nan_is_in_a_tuple_that_it_was_put_into(y):
    compiled = ljit.jit(among)
    for x in (math.nan, complex(0, math.nan), 5.0, 5):
        for _ in range(3):
            assert compiled(x, y) == among(x, y)


@pytest.mark.parametrize("name", ["py::lt", "py::le", "py::gt", "py::ge", "py::eq", "py::ne"])
def test_ints_next_to_floats_compare_exactly(name):
    floats = [math.ldexp(m, e) for m in (1.0, -1.0, 1.5) for e in (52, 53, 54, 61, 62, 63)]
    floats += [math.nextafter(x, s) for x in floats for s in (math.inf, -math.inf)]
    near = {x: {min(max(int(x) + d, -(2**63)), 2**63 - 1) for d in range(-3, 4)} for x in floats}
    middle = {min(max(int(x), -(2**63)), 2**63 - 1) for x in floats}  # one near each float
    pairs = [(n, x) for x in floats for n in near[x] | middle]
    check(name, (INT, FLOAT), pairs, at_least=1)
    check(name, (FLOAT, INT), [(x, n) for n, x in pairs], at_least=1)
