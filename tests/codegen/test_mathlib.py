"""Elementary functions: their error, special values, and the same bits in loops and outside."""

from __future__ import annotations

import ctypes
import functools
import operator

import numpy as np
import pytest

import ljit
from ljit.codegen import mathlib
from ljit.codegen.mathlib import registry, shared, tables
from ljit.ops.ufuncs import ufuncs
from ljit.testing import elementary
from ljit.testing.elementary import BINARY, NUMPY, errors_in_ulp, evaluate, exact

if not mathlib.is_available():
    pytest.skip("the C library's functions serve", allow_module_level=True)

DTYPES = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}
DECLARED = mathlib.declared()
IDS = [f"{name}-{type_}" for name, type_ in DECLARED]
COUNT = 300  # random operands of each kind

_SPECIAL = [0.0, 5e-324, 1e-310, 2.0**-1022, 1e-300, 2.0**-149, 1e-40, 2.0**-126, 2.0**-54, 1e-20, 1e-9, 0.3, 0.5,
            1 - 2.0**-53, 1.0, 1 + 2.0**-52, 1.5, 2.0, 3.0, 8.0, 10.0, 20.0, 40.0, 88.7, 88.73, 89.5, 100.0, 104.1,
            127.9, 128.0, 149.5, 354.9, 708.0, 709.78, 709.79, 710.5, 711.0, 744.9, 745.2, 746.0, 1000.0, 1023.9,
            1024.0, 1074.5, 1075.5, 1e5, 1e10, 1e22, 1e38, 3.5e38, 1e300, 1.7976931348623157e308,
            np.inf, np.nan]  # fmt: skip


def reference(name):
    return NUMPY.get(name) or getattr(np, name)


def specials(name, dtype):
    with np.errstate(over="ignore"):
        values = np.array(_SPECIAL).astype(dtype)
    values = np.concatenate([values, -values])
    if name not in BINARY:
        return (values,)
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


def randoms(name, dtype):
    """Operands of any size, of moderate size, near 1 and near 0, in the function's domain."""
    rng = np.random.default_rng(sum(map(ord, name)))
    kinds = []
    limits = np.finfo(dtype)
    for _ in range(2 if name in BINARY else 1):
        sign = rng.choice([-1.0, 1.0], COUNT)
        exponents = rng.uniform(limits.minexp + 1, limits.maxexp - 1, COUNT)
        kinds.append(
            np.concatenate([
                sign * 2.0**exponents, rng.uniform(-1, 1, COUNT), rng.uniform(-20, 20, COUNT),
                rng.uniform(-limits.maxexp * 0.75, limits.maxexp * 0.75, COUNT),
                1 + rng.uniform(-1, 1, COUNT) * 2.0 ** rng.uniform(-limits.nmant, 0, COUNT),
                sign * 2.0 ** rng.uniform(-2 * limits.nmant, 0, COUNT),
            ])
        )  # fmt: skip
    if name in BINARY:
        kinds[0] = rng.permutation(kinds[0])
    operands = tuple(x.astype(dtype) for x in kinds)
    with np.errstate(all="ignore"):
        results = reference(name)(*operands)
    usable = np.isfinite(results) & (results != 0)
    return tuple(x[usable] for x in operands)


@pytest.mark.parametrize(("name", "type_"), DECLARED, ids=IDS)
def test_the_error_is_less_than_one_unit_in_the_last_place(name, type_):
    operands = randoms(name, DTYPES[type_])
    assert len(operands[0]) > COUNT
    errors = errors_in_ulp(evaluate(name, *operands), exact(name, *operands))
    worst = errors.argmax()
    assert errors[worst] < 1, [x[worst] for x in operands]


@pytest.mark.parametrize(("name", "type_"), DECLARED, ids=IDS)
def test_special_operands_give_what_numpy_gives(name, type_):
    operands = specials(name, DTYPES[type_])
    found = evaluate(name, *operands)
    with np.errstate(all="ignore"):
        wanted = reference(name)(*operands)
    assert found.dtype == wanted.dtype
    errors = errors_in_ulp(found, wanted.astype(np.longdouble))
    worst = errors.argmax()
    # NumPy's own vectors err by more than two units: arctan2 of float32 with AVX-512
    assert errors[worst] <= 4, ([x[worst] for x in operands], found[worst], wanted[worst])


@pytest.fixture
def no_tables(monkeypatch):
    """The functions of other machines, in a process that has compiled those with tables, maybe."""
    monkeypatch.setattr(registry, "has_tables", lambda: False)
    for module, name in ((shared, "source"), (shared, "_compiled"), (elementary, "compiled_loop")):
        monkeypatch.setattr(module, name, functools.cache(getattr(module, name).__wrapped__))


@pytest.mark.skipif(not tables.has_tables(), reason="these are the functions tested above")
@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize(("name", "type_"), mathlib.declared(with_tables=True))
def test_machines_without_tables_have_functions_as_good(name, type_):
    dtype = DTYPES[type_]
    assert "avx512" not in shared.source(name, type_, 8).text
    operands = randoms(name, dtype)
    assert errors_in_ulp(evaluate(name, *operands), exact(name, *operands)).max() < 1
    operands = specials(name, dtype)
    with np.errstate(all="ignore"):
        wanted = reference(name)(*operands).astype(np.longdouble)
    assert errors_in_ulp(evaluate(name, *operands), wanted).max() <= 4


@pytest.fixture
def own_loops(monkeypatch):
    """No loop of NumPy's is taken for arrays, however wide this machine's vectors are."""
    monkeypatch.setattr(ufuncs, "has_wide_vectors", lambda function, loop: False)


@pytest.mark.usefixtures("own_loops")
@pytest.mark.parametrize(("name", "type_"), DECLARED, ids=IDS)
def test_functions_give_the_same_bits_in_loops_and_outside(name, type_):
    function = reference(name)
    operands = [x[:40] for x in randoms(name, DTYPES[type_])]
    if name in BINARY:

        def alone(x, y):
            return function(x, y)
    else:

        def alone(x):
            return function(x)

    compiled = ljit.jit(alone)
    words = f"i{operands[0].dtype.itemsize}"
    for scalars in zip(*operands, strict=True):
        compiled(*scalars)
    outside = np.array([compiled(*scalars) for scalars in zip(*operands, strict=True)])
    for _ in range(4):
        inside = compiled(*operands)
    assert inside.dtype == outside.dtype == operands[0].dtype
    assert (evaluate(name, *operands).view(words) == outside.view(words)).all()
    assert (inside.view(words) == outside.view(words)).all()


@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "log"])
@pytest.mark.parametrize(("dtype", "type_"), [(np.float64, "double"), (np.float32, "float")])
def test_functions_of_rows_give_the_same_bits_for_any_count_and_steps(name, dtype, type_):
    row = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(mathlib.row_function(name, type_))

    def run(x, out):
        places = np.array([x.ctypes.data, out.ctypes.data])
        sizes, steps = np.array([x.size]), np.array([*x.strides, *out.strides])
        row(places.ctypes.data, sizes.ctypes.data, steps.ctypes.data, None)

    numbers = np.random.default_rng(5).uniform(0.1, 9, 600).astype(dtype)
    numbers[:3] = np.inf, np.nan, 1e30
    wanted = evaluate(name, numbers)
    for count in (0, 1, 7, 8, 9, 31, 33, 64, 100, 131, 300):
        for step, out_step in ((1, 1), (2, 1), (1, 2), (-1, -1), (0, 1)):
            first = 599 if step < 0 else 0
            places = first + step * np.arange(count)
            x = np.lib.stride_tricks.as_strided(
                numbers[first:], (count,), (step * numbers.itemsize,)
            )
            memory = np.full(601, -7, dtype)
            out = memory[1:-1:out_step][:count] if out_step > 0 else memory[-2:0:-1][:count]
            run(x, out)
            assert out.tobytes() == wanted[places].tobytes()
            assert (memory == -7).sum() == 601 - count
    run(numbers, numbers)
    assert numbers.tobytes() == wanted.tobytes()


def of_array(a):
    return np.exp(a)


def one_by_one(a):
    b = np.empty_like(a)
    for i in range(len(a)):
        b[i] = np.exp(a[i]) + 1.0
    return b


def test_loops_that_sum_in_order_call_them_too():
    def summed(a):
        total = 0.0
        for x in a:
            total += np.exp(x)
        return total

    a = np.random.default_rng(3).uniform(-3, 3, 5001)
    compiled = ljit.jit(summed)
    for _ in range(4):
        found = compiled(a)
    assert found == functools.reduce(
        operator.add, evaluate("exp", a).tolist()
    )  # `sum` may round better
    assert "shared.exp.double.x" in compiled.dump_asm()


@pytest.mark.usefixtures("own_loops")
@pytest.mark.parametrize("function", [of_array, one_by_one])
@pytest.mark.parametrize(("dtype", "type_"), [(np.float64, "double"), (np.float32, "float")])
def test_loops_call_the_functions_for_vectors(function, dtype, type_):
    compiled = ljit.jit(function)
    for _ in range(4):
        compiled(np.linspace(-1.0, 1.0, 5000).astype(dtype))
    assert f"shared.exp.{type_}.x" in compiled.dump_asm()
    assert "@exp" not in compiled.dump_llvm()


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_trigonometric_functions_are_right_near_multiples_of_a_quarter_turn_and_for_any_size(
    name, dtype
):
    rng = np.random.default_rng(7)
    multiples = rng.integers(1, 2**40, COUNT) >> rng.integers(0, 40, COUNT)
    near = (multiples * (np.pi / 2)).astype(dtype)
    largest = np.finfo(dtype).maxexp
    huge = (2.0 ** rng.uniform(30, largest, COUNT)).astype(dtype)
    worst_of_all = (
        np.array([6381956970095103 * 2.0**797], np.float64).astype(dtype)
        if dtype == np.float64
        else near[:1]
    )
    x = np.concatenate(
        [near, np.nextafter(near, dtype(0)), huge, -huge, worst_of_all, -worst_of_all]
    )
    assert errors_in_ulp(evaluate(name, x), exact(name, x)).max() < 1


def test_a_huge_operand_does_not_change_the_results_beside_it():
    x = np.linspace(-3.0, 3.0, 64)
    alone = evaluate("sin", x)
    x[5::8] = 1e300
    beside = evaluate("sin", x)
    assert (alone[x != 1e300] == beside[x != 1e300]).all()
    assert (beside[5::8] == evaluate("sin", np.array([1e300]))).all()


def test_functions_with_rare_branches_are_called_with_vectors():
    def f(a):
        return np.sin(a) + 1.0

    compiled = ljit.jit(f)
    for _ in range(4):
        compiled(np.linspace(-1.0, 1.0, 100))
    assert "shared.sin.double.x" in compiled.dump_asm()


def test_python_s_own_functions_keep_the_bits_of_the_c_library():
    import math

    def f(x):
        return math.exp(x), math.sin(x), math.erf(x), math.atan(x), math.cbrt(x)

    compiled = ljit.jit(f)
    for x in np.random.default_rng(0).uniform(-700, 700, 1000).tolist():
        assert compiled(x) == f(x)
