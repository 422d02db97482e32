"""The ufunc ops against NumPy: result types over all pairs of dtypes, and scalar bodies by value."""

import itertools
import operator

import numpy as np
import pytest

import ljit.ops  # noqa: F401
from ljit.ir import REGISTRY, Effect
from ljit.ops.ufuncs.ufuncs import UFUNCS
from ljit.testing.scalar_emitter import Bailed, run_lowering, to_number
from ljit.types import ANY, INT, NATIVE_KINDS, ArrayType, ListType, ScalarType
from ljit.value_types import type_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OPS = sorted((op for op in REGISTRY.values() if op.name in UFUNCS), key=lambda op: op.name)
DTYPES = sorted(NATIVE_KINDS, key=lambda d: d.num)
TRANSCENDENTAL = set(
    "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh "
    "arcsinh arccosh arctanh arctan2 hypot logaddexp logaddexp2 power float_power".split()
)


def arity(op):
    return len(op.schema.positional)


def attempt(function, *args):
    try:
        return function(*args)
    except (TypeError, ValueError, OverflowError) as error:
        return error


def operands_of(dtype):
    return dtype.type(1), np.ones(2, dtype), np.ones((), dtype)


PYTHON_SCALARS = (True, 1, 1.0, 1j)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_infer_gives_the_type_of_what_numpy_computes(op):
    values = [x for d in DTYPES for x in operands_of(d)[: 2 if arity(op) > 1 else 3]]
    values += PYTHON_SCALARS
    if arity(op) == 3:
        values = values[::5] + list(PYTHON_SCALARS)
    checked = 0
    for operands in itertools.product(values, repeat=arity(op)):
        if op.evaluate is operator.pow and not hasattr(operands[0], "dtype"):
            continue  # of Python's numbers, and of them with their subclass np.float64, it is Python's own
        found = op.infer(*map(type_of, operands))
        result = attempt(op.evaluate, *operands)
        if isinstance(result, Exception):
            continue
        if found != ANY:
            checked += 1
            assert found == type_of_without_layout(result), (operands, found)
        elif op.evaluate not in (np.power, operator.pow) or not is_odd_power(*operands):
            assert type_of(result) == type_of(object()) or not is_native(result), operands
    assert checked


LOOKS_AT_NUMBERS = (np.ones(1, np.float32) ** np.float64(2)).dtype == np.float32  # until NumPy 2.2


def is_odd_power(base, exponent):
    """Whether the dtype may depend on the exponent: ``a ** 2`` of bools is of int8, ``a ** 3`` of int64."""
    is_one = hasattr(exponent, "dtype") and not exponent.ndim
    return base.dtype == bool or (LOOKS_AT_NUMBERS and isinstance(base, np.ndarray) and is_one)


def is_native(result):
    results = result if isinstance(result, tuple) else (result,)
    return all(getattr(r, "dtype", np.dtype(object)) in NATIVE_KINDS for r in results)


def type_of_without_layout(result):
    return type_of(result)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_infer_is_any_for_operands_that_are_no_numbers(op):
    others = (ANY, ListType(INT), type_of("text"), type_of(None))
    for t in others:
        assert op.infer(*[t] * arity(op)) == ANY
        assert op.effects(*[t] * arity(op)) == Effect.CALL
        assert not op.can_lower(*[t] * arity(op))


INTEGERS = (0, 1, -1, 2, 3, -3, 7, 63, 64, 100, "min", "max")
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 2.0, 1e-310, 1e300, 7.25, "inf", "-inf", "nan")
COMPLEX_PARTS = (0.0, -0.0, 1.5, -3.0, float("inf"), float("nan"))


def values_of(dtype):
    if dtype.kind == "b":
        return [np.False_, np.True_]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        ends = {"min": limits.min, "max": limits.max}
        numbers = [ends.get(x, x) for x in INTEGERS]
        return [dtype.type(x) for x in numbers if limits.min <= x <= limits.max]
    if dtype.kind == "f":
        return [dtype.type(x) for x in FLOATS]
    return [dtype.type(complex(a, b)) for a in COMPLEX_PARTS for b in COMPLEX_PARTS[:4]]


def same(found, wanted, op):
    """Equal type and bits; transcendentals, and roots of complex numbers, nearly; any NaN is any NaN."""
    if isinstance(wanted, tuple):
        return all(same(f, w, op) for f, w in zip(found, wanted, strict=True))
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, np.complexfloating):
        units = 4 if op.evaluate.__name__ in TRANSCENDENTAL | {"sqrt"} else 0
        parts = ((found.real, wanted.real), (found.imag, wanted.imag))
        return all(_same_float(x, y, units) for x, y in parts)
    if isinstance(wanted, np.floating):
        units = 2 if op.evaluate.__name__ in TRANSCENDENTAL | {"absolute", "angle"} else 0
        return _same_float(found, wanted, units)
    return found == wanted


def _same_float(found, wanted, units):
    if np.isnan(wanted):
        return bool(np.isnan(found))
    if units and np.isfinite(wanted):
        return abs(found - wanted) <= units * np.spacing(abs(wanted))
    return found == wanted and np.signbit(found) == np.signbit(wanted)


def check_bodies(op, operand_lists):
    ran = bailed = 0
    for operands in operand_lists:
        if not op.can_lower(*map(type_of, operands)):
            continue
        try:
            found = run_lowering(op, *operands)
        except Bailed:
            bailed += 1
            continue
        ran += 1
        wanted = op.evaluate(*operands)
        assert same(found, wanted, op), (operands, found, wanted)
    return ran, bailed


LOWERED = [op for op in OPS if op.lower is not None]
SIGN_OF_ZERO_IS_OPEN = {"np::fmax", "np::fmin", "np::clip"}
# of 0.5: `np.power` and ``**`` of arrays choose among them (test_numpy_powers.py)
WITHOUT_ROOT = {
    *("np::power_by_few", "np::power_of_array", "np::power_operator", "np::power_by_scalar")
}


@pytest.mark.parametrize("op", [op for op in LOWERED if arity(op) < 3], ids=lambda op: op.name)
def test_body_computes_what_numpy_computes(op):
    ran = bailed = 0
    for dtype in DTYPES:
        values = values_of(dtype)
        if op.name in SIGN_OF_ZERO_IS_OPEN:
            values = [
                x for x in values if not (x == 0 and np.signbit(x) if dtype.kind == "f" else 0)
            ]
        pairs = itertools.product(values, repeat=arity(op))
        if op.name in WITHOUT_ROOT:
            pairs = ((x, y) for x, y in pairs if not (y == 0.5 and x in (0, -np.inf)))
        counts = check_bodies(op, pairs)
        ran, bailed = ran + counts[0], bailed + counts[1]
    assert ran > 20
    assert bailed == 0 or op.name in ("np::power", "np::power_operator", "np::reciprocal")


@pytest.mark.parametrize("op", [op for op in LOWERED if arity(op) == 2], ids=lambda op: op.name)
def test_body_takes_operands_of_different_dtypes(op):
    pairs = [(x.type(3), y.type(2)) for x in DTYPES for y in DTYPES if x != y]
    check_bodies(op, pairs)
    mixed = [(d.type(3), p) for d in DTYPES for p in (True, 2, 2.5, 2j)]
    check_bodies(op, mixed + [(p, x) for x, p in mixed])


def test_clip_bounds_and_spreads_nan():
    op = REGISTRY["np::clip"]
    floats = [np.float64(x) for x in (1.5, -2.0, 7.0, float("inf"), float("nan"))]
    assert check_bodies(op, itertools.product(floats, repeat=3)) == (125, 0)
    integers = [np.int16(x) for x in (1, -2, 7)]
    assert check_bodies(op, itertools.product(integers, repeat=3)) == (27, 0)


COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison_with_a_python_int_outside_of_the_dtype_is_exact(name):
    op = REGISTRY[f"np::{name}"]
    integers = [d for d in DTYPES if d.kind in "iu"]
    values = [v for d in integers for v in values_of(d)]
    outside = (300, -1, 70000, -(2**62), 2**62)
    pairs = [p for v in values for n in outside for p in ((v, n), (n, v))]
    assert check_bodies(op, pairs) == (len(pairs), 0)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison_of_int64_with_uint64_is_exact(name):
    op = REGISTRY[f"np::{name}"]
    signed, unsigned = values_of(np.dtype(np.int64)), values_of(np.dtype(np.uint64))
    pairs = [p for x in signed for y in unsigned for p in ((x, y), (y, x))]
    assert check_bodies(op, pairs) == (len(pairs), 0)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "bitwise_and"])
def test_python_int_that_does_not_fit_bails_where_numpy_raises(name):
    op = REGISTRY[f"np::{name}"]
    assert op.effects(ScalarType(np.dtype(np.int8)), INT) & Effect.RAISE
    with pytest.raises(OverflowError):
        op.evaluate(np.int8(1), 300)
    with pytest.raises(Bailed):
        run_lowering(op, np.int8(1), 300)
    assert op.effects(ScalarType(np.dtype(np.int64)), INT) == Effect.PURE


def test_negative_integer_power_bails():
    op = REGISTRY["np::power"]
    with pytest.raises(ValueError, match="negative integer powers"):
        op.evaluate(np.int64(2), np.int64(-1))
    with pytest.raises(Bailed):
        run_lowering(op, np.int64(2), np.int64(-1))
    with pytest.raises(Bailed):
        run_lowering(op, np.int64(2), np.int64(64))


def test_integer_powers_wrap():
    op = REGISTRY["np::power"]
    pairs = [(np.int64(x), np.int64(y)) for x in (0, 1, -1, 3, -7) for y in (0, 1, 2, 13, 62, 63)]
    assert check_bodies(op, pairs) == (len(pairs), 0)


SHAPES = ((), (1,), (3,), (2, 3), (2, 1), (4, 2, 3))


@pytest.mark.parametrize("shapes", list(itertools.product(SHAPES, repeat=2)), ids=str)
def test_infer_broadcasts_as_numpy_does(shapes):
    op = REGISTRY["np::add"]
    arrays = [np.ones(shape) for shape in shapes]
    known = [ArrayType(a.dtype, a.shape) for a in arrays]
    result = attempt(np.add, *arrays)
    if isinstance(result, Exception):
        assert op.infer(*known) == ANY
        return
    expected = ArrayType(result.dtype, result.shape) if result.ndim else ScalarType(result.dtype)
    assert op.infer(*known) == expected
    assert op.infer(*map(type_of, arrays)) == type_of(result)


def strided_operands():
    base = np.arange(24.0).reshape(2, 3, 4)
    yield base
    yield base.T
    yield base[:, ::-1]
    yield base[..., 0]
    yield base[0, 0, ::-1]
    yield np.arange(4.0)
    yield base[:, :, :1]


def test_infer_never_claims_contiguity_that_numpy_does_not_give():
    op = REGISTRY["np::add"]
    claimed = 0
    for x, y in itertools.product(strided_operands(), repeat=2):
        result = attempt(np.add, x, y)
        if isinstance(result, Exception):
            continue
        if op.infer(type_of(x), type_of(y)).layout == "C":
            claimed += 1
            assert result.flags.c_contiguous
    assert claimed > 5


def test_where_of_scalars_is_a_rank_zero_array_and_select_its_element():
    where, select = REGISTRY["np::where"], REGISTRY["np::select"]
    for operands in itertools.product(
        (True, np.False_, 3), (1, np.float32(2), 1j), (2.5, np.int8(3))
    ):
        types = list(map(type_of, operands))
        assert where.infer(*types) == type_of(np.where(*operands))
        assert not where.can_lower(*types)
        found = run_lowering(select, *operands)
        wanted = np.where(*operands)[()]
        assert type(found) is type(wanted)
        assert found == wanted


def test_where_of_arrays_infers_as_numpy_does():
    where = REGISTRY["np::where"]
    condition = np.array([True, False])
    for x, y in itertools.product([d.type(1) for d in DTYPES] + [1, 1.5, 1j], repeat=2):
        assert where.infer(*map(type_of, (condition, x, y))) == type_of(np.where(condition, x, y))


def test_body_of_an_array_op_takes_elements():
    op = REGISTRY["np::multiply"]
    array = type_of(np.ones(3, np.float32))
    assert op.can_lower(array, type_of(2.0))
    assert op.elementwise
    assert op.effects(array, type_of(2.0)) == Effect.READ | Effect.ALLOC
    assert to_number(np.float32(1)).type == array.element
