"""Ufuncs with ``out``: result types, and what NumPy refuses."""

import numpy as np
import pytest

import ljit
import ljit.ops.library
from ljit.ir import REGISTRY, Effect
from ljit.testing.chaos import eager_loops
from ljit.types import ANY, NATIVE_KINDS, ArrayType
from ljit.value_types import type_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DTYPES = sorted(NATIVE_KINDS, key=lambda d: d.num)


@pytest.mark.parametrize("function", [np.add, np.sqrt, np.greater, np.left_shift, np.divide])
def test_infer_gives_the_array_where_numpy_allows_the_cast(function):
    op = REGISTRY[f"np::{function.__name__}_into"]
    allowed = 0
    for dtype in DTYPES:
        for value in [y for d in DTYPES for y in (d.type(1), np.ones(3, d), np.ones(1, d))] + [
            1,
            1.0,
        ]:
            out, xs = np.ones(3, dtype), (value,) * function.nin
            types = type_of(out), *map(type_of, xs)
            found = op.infer(*types)
            try:
                assert function(*xs, out=out) is out
            except (TypeError, ValueError):
                assert found == ANY, (dtype, value)
                assert not op.can_lower(*types)
                assert op.effects(*types) == Effect.CALL
                continue
            allowed += 1
            assert found == type_of(out), (dtype, value)
            assert op.effects(*types) & Effect.WRITE
            assert not op.effects(*types) & Effect.ALLOC
    assert allowed > 50


def test_the_array_must_be_writeable_and_as_large_as_the_operands():
    op, f8 = REGISTRY["np::add_into"], np.dtype(float)
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    assert op.infer(type_of(readonly), type_of(1.0), type_of(1.0)) == ANY
    assert op.infer(ArrayType(f8, (None,)), ArrayType(f8, (1, 3)), type_of(1.0)) == ANY
    assert op.infer(ArrayType(f8, (1,)), ArrayType(f8, (3,)), type_of(1.0)) == ANY
    larger = ArrayType(f8, (2, 3))
    assert op.infer(larger, ArrayType(f8, (3,)), type_of(1.0)) == larger
    assert op.infer(type_of((np.zeros(3),)), type_of(1.0), type_of(1.0)) == ANY


@pytest.mark.parametrize("shape", [(4,), (1,), (), (5,), (1, 4), (2, 4), (3, 1)])
def test_infer_gives_the_array_where_a_mask_broadcasts_to_it(shape):
    op = REGISTRY["np::negative_where"]
    out, mask, x = np.zeros(4), np.ones(shape, bool), np.float64(2)
    found = op.infer(ArrayType(out.dtype, (4,)), ArrayType(mask.dtype, shape), type_of(x))
    try:
        np.negative(x, out=out, where=mask)
    except ValueError:
        assert found == ANY
    else:
        assert found == ArrayType(out.dtype, (4,))


def test_a_mask_of_another_size_raises_as_numpy_does_in_native_handlers_too():
    def messages(a, b, n):
        seen = []
        for _ in range(n):
            try:
                np.negative(a[1], out=b[1:], where=a > 0)
            except ValueError as error:
                seen.append(str(error))
        return seen

    expected = messages(np.arange(5.0), np.zeros(5), 3)
    compiled = ljit.jit(messages)
    with eager_loops(2):
        for _ in range(4):
            assert compiled(np.arange(5.0), np.zeros(5), 3) == expected


def safe_quotient(a, b, mask):
    return np.divide(a, b, out=np.zeros_like(a), where=mask)


def kept_where_not(a, b, mask):
    old = a.copy()
    result = np.subtract(a, b, a, where=mask)
    np.sqrt(b, out=a[..., :2], where=mask[..., :2])
    np.multiply(a[..., 1:], 2, out=a[..., :-1], where=mask[..., 1:])
    return result is a, old


def outcome_and_arrays(function, *args):
    args = [x.copy(order="K") if isinstance(x, np.ndarray) else x for x in args]
    try:
        x = function(*args)
    except (TypeError, ValueError) as error:
        x = (type(error), str(error))
    shown = [y for y in (*(x if isinstance(x, tuple) else (x,)), *args)]
    return [(type(y), getattr(y, "strides", 0), getattr(y, "dtype", 0), repr(y)) for y in shown]


@pytest.mark.parametrize("function", [safe_quotient, kept_where_not])
def test_a_mask_says_which_results_the_array_takes(function):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(3, 5)), rng.integers(-1, 2, (3, 5)) * 1.5
    mask = b != 0
    cases = [
        (a, b, mask), (a, b[0], mask), (a, b, mask[0]), (a.T, b.T, mask.T), (a[:, ::-1], b, mask),
        (a.astype("f4"), b.astype("f4"), mask), (a.astype("f4"), b, mask), (a, b.astype(int), mask),
        (a.astype(int), b.astype(int) + 2, mask), (a + 1j, b, mask), (a[0], b, mask), (a, b, mask[:2]),
        (a, b, mask.astype(int)), (a, 0.0, mask), (a[:0], b[:0], mask[:0]), (a[0], b[0], mask[0]),
    ]  # fmt: skip
    compiled = ljit.jit(function)
    for case in cases[:2] * 2 + cases * 2:
        assert outcome_and_arrays(compiled, *case) == outcome_and_arrays(function, *case)


def test_masked_results_are_part_of_a_nest():
    compiled = ljit.jit(safe_quotient)
    a = np.arange(4.0)
    for _ in range(3):
        assert compiled(a, a, a > 1).tolist() == [0.0, 0.0, 1.0, 1.0]
    text = str(compiled.graph_for(a, a, a > 1))
    assert "np::select" in text
    assert "py::call" not in text


def exponentials(a, out):
    return np.exp(a, out=out)


def moduli(a, out):
    return np.abs(a, out=out)


def power_of_array(a, out):
    out **= a
    return out


@pytest.mark.parametrize(
    ("function", "dtype", "target"),
    [
        *((exponentials, d, d) for d in ("f8", "f4", "f2")),
        *((exponentials, "f4", "f8"), (exponentials, "f8", "f4")),
        *((moduli, "c16", "f8"), (moduli, "c8", "f4"), (moduli, "c16", "c16")),
        *((power_of_array, d, d) for d in ("f8", "f4")),
    ],
)
def test_targets_may_overlap_operands_and_have_gaps(function, dtype, target):
    """As in NumPy's own loops, where these are taken."""

    def memory():
        return np.linspace(0.1, 2.0, 6000).astype(dtype), np.ones(6000, target)

    def views(a, b):
        matrix = a[:3000].reshape(60, 50)
        yield from ((a[:9], b[:9]), (a[::2], b[::2]), (a[::-1], b), (a[:900], b[3:903]))
        yield from ((matrix, b[:3000].reshape(50, 60).T), (matrix.T, b[:6000:2].reshape(50, 60)))
        if dtype == target:
            yield from ((a, a), (a[:-1], a[1:]), (a[1:], a[:-1]), (a, a[::-1]), (a[:3000], a[::2]))
            yield from ((matrix, matrix[::-1]), (matrix[:, :-1], matrix[:, 1:]))

    compiled = ljit.jit(function)
    tolerance = 100 * float(max(np.finfo(x).eps for x in (dtype, target)))
    for case in [0, 0, *range(len(list(views(*memory()))))]:
        found, wanted = memory(), memory()
        args, expected = (list(views(*both))[case] for both in (found, wanted))
        ends = [outcome(f, xs) for f, xs in ((compiled, args), (function, expected))]
        assert ends[0] == ends[1]
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=tolerance, equal_nan=True)


def outcome(function, args):
    try:
        return function(*args) is args[1]
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
@pytest.mark.parametrize("result", ["same", "float64"])
def test_a_constant_that_fits_is_no_reason_to_leave(dtype, result):
    """It has the arrays' dtype, or each element would be checked, and results kept in rows until all are."""

    def doubled(a, out):
        return np.multiply(a, 2, out=out)

    def shifted(a, out):
        return np.add(a, 300, out=out)

    result = dtype if result == "same" else result
    for function, is_known in ((doubled, True), (shifted, np.iinfo(dtype).max >= 300)):
        f = ljit.jit(function)
        for _ in range(3):
            a = np.arange(40).astype(dtype)
            found, wanted = (np.arange(40).astype(result) for _ in range(2))
            try:
                function(a, wanted)
            except OverflowError as error:
                with pytest.raises(OverflowError, match=str(error)):
                    f(a, found)
            else:
                assert f(a, found) is found
            np.testing.assert_array_equal(found, wanted, strict=True)
        if is_known:
            assert f"np.{dtype}" in str(f.graph_for(a, found))
