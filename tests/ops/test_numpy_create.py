"""Creation, scalar constructors and astype: types and native results against NumPy."""

import itertools
import warnings

import numpy as np
import pytest

import ljit
import ljit.ops  # noqa: F401
from ljit.interp import has_type
from ljit.ir import REGISTRY, Effect
from ljit.testing.scalar_emitter import run_lowering
from ljit.types import ANY, FLOAT, INT, NATIVE_KINDS, ArrayType, ListType, ScalarType
from ljit.value_types import type_of
from tests.ops.lowerings import compared

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = sorted(NATIVE_KINDS, key=lambda d: d.num)
DTYPE_ARGUMENTS = (
    None,
    float,
    int,
    bool,
    complex,
    "f4",
    "int16",
    *DTYPES,
    *(d.type for d in DTYPES),
)


def check(name, *operands, **attrs):
    """Compare an op with NumPy: its type always, and its lowering if it has one; tell what was done."""
    done, found, wanted = compared(name, *operands, **attrs)
    if done == "ran" and "empty" in name:
        assert found.shape == wanted.shape
        assert found.dtype == wanted.dtype
    elif done == "ran":
        np.testing.assert_array_equal(found, wanted, strict=True)
    return done


@pytest.mark.parametrize("name", ["empty", "zeros", "ones"])
def test_filled_arrays_are_made_natively_for_any_constant_dtype(name):
    for dtype in DTYPE_ARGUMENTS:
        for shape in (0, 3, (), (2, 3), (np.int64(2), 0, 1)):
            assert check(name, shape, dtype=dtype) == "ran"
    assert check(name, (2, 3), order="F") == "typed"
    assert check(name, -1) == "raised"
    assert check(name, [2, 3]) == "unknown"
    assert check(name, 3, dtype="S4") == "unknown"
    assert check(name, 3, dtype="no such dtype") == "raised"
    assert check(name, 3, dtype=">f8") == "unknown"
    assert check(name, 3, dtype=np.longlong) == "unknown"  # equals int64, but is another dtype
    assert REGISTRY[f"np::{name}"].effects(INT) == Effect.ALLOC | Effect.RAISE
    assert REGISTRY[f"np::{name}"].effects(ANY) == Effect.CALL


@pytest.mark.parametrize(
    "fill", [True, 3, 2.5, 1j, np.float32(1.5), np.uint8(200), 300, -1, float("nan")]
)
def test_full_converts_the_fill_value(fill):
    assert check("full", (2, 3), fill) == "ran"
    outcomes = {check("full", 4, fill, dtype=d) for d in DTYPES}
    assert "ran" in outcomes
    assert outcomes <= {"ran", "bailed", "typed", "raised"}


def test_full_of_an_array_is_numpys_own():
    row = np.arange(3.0)
    assert check("full", (2, 3), row, dtype=row.dtype) == "typed"
    assert check("full", (2, 3), row[:1], dtype=complex) == "typed"
    assert check("full", (2, 3), row) == "unknown"


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like"])
def test_like_keeps_dtype_and_shape(name):
    for dtype in DTYPES:
        assert check(name, np.ones((2, 3), dtype)) == "ran"
        assert check(name, np.ones(4), dtype=dtype) == "ran"
        assert check(name, dtype.type(1)) == "typed"
    assert check(name, np.ones((2, 3)).T) == "typed"
    assert check(name, np.ones((2, 3)).T, order="C") == "ran"
    assert check(name, np.ones(6)[::-2]) == "ran"
    assert check(name, np.ones(6), subok=False) == "ran"
    assert check(name, np.ones(6), subok=None) == "raised"
    assert check(name, [1, 2]) == "unknown"


def test_full_like_converts_the_fill_value():
    assert check("full_like", np.arange(3), 2) == "ran"
    assert check("full_like", np.arange(3), 2.75) == "ran"
    assert check("full_like", np.arange(3), 2.75, dtype=float) == "ran"
    bytes_ = np.arange(3, dtype=np.int8)
    with warnings.catch_warnings():  # NumPy 2.0 warns and wraps, later ones raise
        warnings.simplefilter("ignore", DeprecationWarning)
        outcome = check("full_like", bytes_, 300)
        try:
            np.full_like(bytes_, 300)
        except OverflowError:
            assert outcome == "raised"
        else:
            assert outcome in ("bailed", "typed")
    assert check("full_like", np.arange(3), 1j) == "typed"


def test_arange_of_ints_and_floats():
    outcomes = [check("arange", *args) for args in itertools.product((0, 1, -3, 7), repeat=3)]
    outcomes += [check("arange", n) for n in (0, 5, -1, 2.5, 1e-300)]
    floats = (0.0, 1.0, -0.7, 0.1, 3.3, float("nan"), float("inf"))
    outcomes += [
        check("arange", *args) for args in itertools.product(floats, repeat=3) if 1e9 not in args
    ]
    outcomes += [check("arange", 0, 1, 0.1), check("arange", 0.5, 7), check("arange", 2, 3.5)]
    assert outcomes.count("ran") > 150
    assert check("arange", -(2**63), 2**62) == "raised"
    assert check("arange", 1, None, None) == "ran"
    assert check("arange", 5, dtype=np.float32) == check("arange", np.int64(3)) == "ran"
    assert check("arange", np.int8(3)) == check("arange", np.float32(3)) == "typed"
    assert check("arange", np.uint64(3), np.float16(4)) == "typed"
    assert check("arange", 3, 1j) in ("unknown", "raised")


def test_linspace_eye_and_identity():
    scalars = (0, 1.0, 2j, *(d.type(1) for d in DTYPES if d.kind != "b"))
    native = (int, float, np.int64, np.float64)
    for start, stop in itertools.product(scalars, repeat=2):
        is_native = type(start) in native and type(stop) in native
        assert check("linspace", start, stop) == ("ran" if is_native else "typed")
    assert check("linspace", 0, 1, 5, endpoint=False) == check("linspace", 1.5, 2, 1) == "ran"
    assert check("linspace", 0, 1, 5, dtype=np.float32, endpoint=False) == "ran"
    assert check("linspace", 0, 1, 5, retstep=True) == "unknown"
    assert check("linspace", 0, 1, -1) == "raised"
    assert check("eye", 3) == check("eye", 3, 4, 1) == check("eye", 3, dtype=np.int8) == "ran"
    assert check("identity", 3) == check("identity", 2, dtype=complex) == "ran"
    assert check("eye", 3, dtype=np.float16) == "typed"


def zeros_like_another(a):
    return np.zeros(3, dtype=a.dtype), np.empty((2, len(a)), a.dtype).dtype, a.astype(a.dtype)


def test_the_dtype_of_an_array_is_the_object_that_numpy_has():
    other = np.dtype(np.uint16).newbyteorder("=")
    assert other is not np.dtype(np.uint16)
    compiled = ljit.jit(zeros_like_another)
    for _ in range(3):
        compiled(np.ones(4, other))
    assert compiled(np.ones(4, np.uint16))[1] is np.dtype(np.uint16)


def test_the_dtype_of_an_array_is_a_constant():
    for dtype in (np.float64, np.int8, np.complex64):
        compiled, a = ljit.jit(zeros_like_another), np.ones(4, dtype)
        for _ in range(3):
            found = compiled(a)
            wanted = zeros_like_another(a)
            assert found[1] is wanted[1]
            for x, y in ((found[0], wanted[0]), (found[2], wanted[2])):
                np.testing.assert_array_equal(x, y)
                assert x.dtype == y.dtype
        assert "calls Python" not in compiled.explain()


@pytest.mark.parametrize("name", ["array", "asarray"])
def test_arrays_of_scalars_and_tuples_are_made_natively(name):
    values = [True, 2, 2.5, 1j, *(d.type(1) for d in DTYPES if d != np.float16)]
    for x, y in itertools.product(values, repeat=2):
        assert check(name, (x, y)) == "ran"
    assert check(name, 2.5) == "ran"
    assert check(name, ((1, 2.5), (3, 4))) == "ran"
    assert check(name, (1, 2), dtype=np.float32) == "ran"
    assert check(name, (1, 300), dtype=np.int8) == "raised"
    assert check(name, (1, (2, 3))) == "raised"
    assert check(name, ()) == "unknown"
    assert check(name, [1, 2]) == "unknown"
    assert REGISTRY[f"np::{name}"].is_profiled


@pytest.mark.parametrize("name", ["array", "asarray"])
@pytest.mark.parametrize("made_from", [(1.5, 2), 3, np.arange(3), (np.zeros(2), np.ones(2))])
@pytest.mark.parametrize("copy", ["always", 0, False, 1.0])
def test_only_known_values_of_copy_are_native(name, made_from, copy):
    """Texts raise, and so does what does not allow the copy that is needed."""
    op = REGISTRY[f"np::{name}"]
    assert op.infer(type_of(made_from), copy=copy) == ANY


def test_effects_tell_views_from_copies():
    a = np.arange(6.0).reshape(2, 3)
    copies = Effect.ALLOC | Effect.READ | Effect.RAISE
    for operand, name, attrs, effect in (
        (a, "asarray", {}, Effect.RAISE),
        (a.T, "asarray", {}, Effect.RAISE),
        (a, "asarray", {"dtype": np.float32}, copies),
        (a.T, "asarray", {"order": "C"}, Effect.CALL),
        ((1, 2), "asarray", {}, copies),
        (a, "array", {}, copies),
        (a, "ascontiguousarray", {}, Effect.RAISE),
        (a.T, "ascontiguousarray", {}, Effect.CALL),
        (np.array(1.0), "ascontiguousarray", {}, Effect.CALL),
        (a, "astype", {"dtype": float}, copies),
        (a, "astype", {"dtype": float, "copy": False}, Effect.RAISE),
        (a, "astype", {"dtype": int, "copy": False}, copies),
        (a, "ravel", {}, Effect.RAISE),
        (a.T, "ravel", {}, Effect.CALL),
        (a, "transpose", {}, Effect.PURE),
        (a, "flip", {}, Effect.RAISE),
        (a, "sum", {}, Effect.READ | Effect.RAISE),
        (a, "sum", {"axis": 0}, copies),
    ):
        op = REGISTRY[f"np::{name}"]
        assert op.effects(type_of(operand), **attrs) == effect, (name, attrs)
        result = op.evaluate(operand, **attrs)
        if effect == copies:
            assert not np.may_share_memory(result, operand)
        elif effect in (Effect.RAISE, Effect.PURE):
            assert np.may_share_memory(result, operand)


def test_asarray_of_an_array_is_the_array():
    op, a = REGISTRY["np::asarray"], np.arange(6).reshape(2, 3)
    assert run_lowering(op, a) is a
    assert run_lowering(op, a.T[:1]) is not None
    assert run_lowering(op, a, dtype=np.int64) is a
    assert not op.can_lower(type_of(a), dtype=float)
    assert not REGISTRY["np::array"].can_lower(type_of(a))


def layouts():
    a = np.arange(6.0).reshape(2, 3)
    readonly = a.copy()
    readonly.flags.writeable = False
    return (a, a.T, a[:, ::-1], a[0, ::2], readonly, readonly.T, np.array(1.5))


@pytest.mark.parametrize("name", ["array", "asarray", "ascontiguousarray", "copy", "copy_method"])
def test_copies_have_the_layout_that_numpy_gives(name):
    for a in layouts():
        assert check(name, a) in ("typed", "ran")
        if name not in ("copy_method", "ascontiguousarray"):
            assert check(name, a, order="C") in ("typed", "ran")
        if name in ("array", "asarray", "ascontiguousarray"):
            assert check(name, a, dtype=np.float32) == "typed"
    assert check("copy_method", np.float32(2)) == "typed"


def test_flattened_arrays_are_fresh_vectors():
    for a in (*layouts(), np.arange(24.0).reshape(2, 3, 4)[::-1], np.zeros((0, 3), np.int8)):
        assert check("flatten", a) in ("typed", "ran")
    compiled = ljit.jit(lambda a: a.flatten())
    for a in (np.arange(60).reshape(6, 10), np.arange(60).reshape(6, 10).T):
        for _ in range(3):
            found = compiled(a)
            assert found.flags.owndata
            assert found.base is None
            found[0] = 7
            assert a[0, 0] == 0
    assert "calls Python" not in compiled.explain()
    assert all(s.state == "native" and not s.bailouts for s in compiled.specializations)


NUMBERS = (
    False, True, 0, 5, -5, 127, 128, 300, 2**31, -(2**62), 0.0, 2.75, -2.75, 1e10, -1e300, float("nan"), float("inf"),
    1.5 + 2j, *(d.type(1) for d in DTYPES), np.int64(300), np.int64(-1), np.uint64(2**64 - 1), np.float32(-7.5),
    np.float64("nan"), np.float64(1e300), np.complex64(1j),
)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scalar_constructors_convert_as_numpy_does(dtype):
    outcomes = [check(dtype.name, x) for x in NUMBERS]
    op = REGISTRY[f"np::{dtype.name}"]
    if dtype != np.float16:
        assert outcomes.count("ran") > 15
    for x, outcome in zip(NUMBERS, outcomes, strict=True):
        if outcome in ("bailed", "raised"):
            assert op.effects(type_of(x)) == Effect.RAISE, x
    assert op.infer() == ScalarType(dtype)
    assert op.infer(type_of("1")) == ANY
    assert op.infer(type_of(np.ones(2))) == ANY
    assert op.effects(type_of("1")) == Effect.CALL


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_astype_converts_as_numpy_does(dtype):
    outcomes = [check("astype", x, dtype=dtype) for x in NUMBERS if isinstance(x, np.generic)]
    assert outcomes.count("ran") >= 14
    op = REGISTRY["np::astype"]
    for a in layouts():
        assert has_type(a.astype(dtype), op.infer(type_of(a), dtype=dtype))
        assert has_type(a.astype(dtype, order="C"), op.infer(type_of(a), dtype=dtype, order="C"))
        assert has_type(a.astype(dtype, copy=False), op.infer(type_of(a), dtype=dtype, copy=False))
    array = type_of(np.ones(3))
    assert op.can_lower(array, dtype=dtype)
    assert not op.can_lower(type_of(np.array(1.5)), dtype=dtype)


def test_astype_is_pure_for_scalars_that_always_fit():
    op = REGISTRY["np::astype"]
    f8 = ScalarType(np.dtype(float))
    assert op.effects(f8, dtype=np.float32) == Effect.PURE
    assert op.effects(f8, dtype=np.int32) == Effect.RAISE
    assert (
        op.effects(ArrayType(f8.dtype, (None,)), dtype=np.float32)
        == Effect.ALLOC | Effect.READ | Effect.RAISE
    )
    assert (
        op.infer(f8, dtype=None)
        == op.infer(FLOAT, dtype=float)
        == op.infer(ListType(INT), dtype=float)
        == ANY
    )


@pytest.mark.parametrize("kind", [np.longlong, np.ulonglong])
def test_what_is_made_of_a_dtype_that_equals_a_native_one_has_that_dtype(kind):
    def made(xs):
        a = np.zeros(4, dtype=kind)
        a[:] = 1
        return (
            a,
            np.ones(3, kind),
            xs.astype(kind),
            np.full((2, 2), 7, dtype=kind),
            xs.sum(dtype=kind),
        )

    compiled = ljit.jit(made)
    for xs in (np.arange(3.0),) * 4:
        for got, wanted in zip(compiled(xs), made(xs), strict=True):
            assert got.dtype.num == wanted.dtype.num == np.dtype(kind).num
            np.testing.assert_array_equal(got, wanted, strict=True)
