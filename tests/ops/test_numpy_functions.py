"""Attributes, shapes, reductions and other functions: types against NumPy, and the native ones by value."""

import itertools

import numpy as np
import pytest

import ljit
import ljit.ops  # noqa: F401
from ljit.interp import has_type
from ljit.ir import REGISTRY, UNKNOWN, Effect
from ljit.testing.scalar_emitter import Bailed, run_lowering
from ljit.types import ANY, BOOL, INT, NATIVE_KINDS, NONE, ArrayType, ListType, UnionType
from ljit.value_types import type_of
from tests.ops.lowerings import attempt, compared

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = sorted(NATIVE_KINDS, key=lambda d: d.num)
OTHERS = (ANY, ListType(INT), type_of("text"), NONE)


def arrays(dtype=np.float64):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    readonly = a[0].copy()
    readonly.flags.writeable = False
    return (
        a,
        a[0],
        a.T,
        a[..., ::2],
        a[0, 0],
        a[0, 0, ::-1],
        readonly,
        readonly.T,
        np.array(1, dtype),
        a[:0],
    )


def check(name, *operands, **attrs):
    """Compare the inferred type, and the lowering if there is one, with NumPy; tell what was done."""
    done, found, wanted = compared(name, *operands, **attrs)
    if done == "ran":
        assert_same(found, wanted)
    return done


def assert_same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(found, wanted, strict=True)
        assert found.strides == wanted.strides or wanted.size == 0
    elif isinstance(wanted, tuple):
        for x, y in zip(found, wanted, strict=True):
            assert_same(x, y)
    else:
        assert found == wanted


# -- attributes ------------------------------------------------------------------------------------

ATTRIBUTES = "shape strides size ndim itemsize nbytes dtype transpose real imag item".split()


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_arrays_and_scalars(name):
    for dtype in DTYPES:
        for x in (*arrays(dtype), dtype.type(1)):
            outcome = check(name, x)
            allowed = {"ran", "raised"} if name == "item" else {"ran"}
            if name == "imag" and dtype.kind != "c" and isinstance(x, np.ndarray):
                allowed = {"typed"}
            elif name == "strides":  # of a contiguous array without elements they do not follow
                allowed = {"ran", "typed"}
            assert outcome in allowed, (dtype, x)
    for t in OTHERS:
        assert REGISTRY[f"np::{name}"].infer(t) == ANY
        assert REGISTRY[f"np::{name}"].effects(t) == Effect.CALL


def test_len_is_the_first_size():
    for a in arrays():
        assert check("len", a) == ("ran" if a.ndim else "raised")
    assert REGISTRY["np::len"].infer(type_of(np.float64(1))) == ANY


def test_facts_that_the_type_holds_fold():
    a, x = type_of(np.ones((2, 3), np.float32)), type_of(np.int8(1))
    for name, of_array, of_scalar in (
        ("ndim", 2, 0),
        ("itemsize", 4, 1),
        ("dtype", a.dtype, x.dtype),
    ):
        fold = REGISTRY[f"np::{name}"].fold
        assert fold([a], [UNKNOWN]) == of_array
        assert fold([x], [UNKNOWN]) == of_scalar
        assert fold([ANY], [UNKNOWN]) is UNKNOWN


def test_item_of_a_large_uint64_bails():
    with pytest.raises(Bailed):
        run_lowering(REGISTRY["np::item"], np.uint64(2**63))
    with pytest.raises(Bailed):
        run_lowering(REGISTRY["np::item"], np.arange(3))


# -- shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [(24,), (4, 6), (-1,), (2, -1), (-1, 0), (0, 3), (5, 5), (-1, -1), (-2, 3), (2, 3, 4, 1), ()],
    ids=str,
)
def test_reshapes_are_inferred_as_numpy_makes_them(shape):
    ran = 0
    for a in arrays():
        outcomes = {check("reshape", a, shape), check("reshape_to", a, shape)}
        if shape:
            outcomes.add(check("reshape", a, *shape))
        assert outcomes <= {"ran", "typed"} or outcomes == {"raised"} or shape == (-2, 3)
        ran += "ran" in outcomes
    assert ran or shape in ((5, 5), (-1, -1), (-2, 3), (-1, 0))


def test_reshape_needs_sizes():
    op = REGISTRY["np::reshape"]
    a = type_of(np.arange(6))
    assert (
        op.infer(a) == op.infer(a, type_of([2, 3])) == op.infer(ANY, INT) == op.infer(a, ANY) == ANY
    )


def test_ravel_flatten_and_axes():
    for a in arrays():
        assert check("ravel", a) in ("ran", "typed")
        assert check("flatten", a) in ("ran", "typed")
        assert check("flip", a) in (("ran", "typed") if a.ndim else ("unknown",))
        assert check("swapaxes", a, 0, 1) in ("ran", "raised")
        assert check("broadcast_to", a, (5, *a.shape)) in ("ran", "typed")
    assert check("broadcast_to", 2.5, (3,)) == "unknown"


def test_joined_arrays_are_inferred_as_numpy_makes_them():
    pool = [a for d in (np.float64, np.int8, np.complex64) for a in arrays(d)]
    known = 0
    for x, y in itertools.product(pool, repeat=2):
        for name, axis in itertools.product(("concatenate", "stack"), (0, 1, -1)):
            known += check(name, (x, y), axis=axis) in ("ran", "typed")
        check("concatenate", (x, y), axis=None)
    assert known > 200
    for name in ("concatenate", "stack"):
        for t in (*OTHERS, type_of(()), type_of(np.ones((2, 2)))):
            assert REGISTRY[f"np::{name}"].infer(t) == ANY
    assert check("stack", (1, 2)) == "typed"  # of an op that is taken apart first
    assert check("concatenate", (1, 2)) == "raised"


# -- reductions ------------------------------------------------------------------------------------

REDUCTIONS = "sum prod mean std var min max argmin argmax any all nansum nanprod nanmean amin amax nanmin nanmax ptp median".split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_dtypes_and_axes(name):
    typed = 0
    for dtype in DTYPES:
        for a in (*arrays(dtype), dtype.type(1)):
            for axis in (None, 0, -1, 1, 5):
                typed += check(name, a, axis=axis) in ("typed", "ran")
                typed += check(name, a, axis=axis, keepdims=True) == "typed"
            if "arg" not in name:
                typed += check(name, a, axis=(0, -1)) == "typed"
    assert typed > 400
    for x in (True, 3, 2.5, 1j):
        assert check(name, x) in ("typed", "raised", "unknown")
    for t in OTHERS:
        assert REGISTRY[f"np::{name}"].infer(t) == ANY
    assert REGISTRY[f"np::{name}"].infer(type_of(arrays()[0]), keepdims=None) == ANY


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_reductions_take_a_constant_dtype(name):
    for dtype in (np.float32, int, "f8", complex):
        assert check(name, arrays()[0], axis=0, dtype=dtype) == "typed"
    assert check(name, arrays()[0], dtype=object) == "unknown"


def test_scans_and_orders():
    typed = 0
    for dtype in DTYPES:
        for a in arrays(dtype):
            for axis in (None, 0, -1, 7):
                outcomes = [
                    check(n, a, axis=axis) for n in ("cumsum", "cumprod", "sort", "argsort")
                ]
                assert "bailed" not in outcomes
                typed += outcomes.count("typed") + outcomes.count("ran")
            for axis in (0, -1):
                typed += check("diff", a, axis=axis) == "typed"
            assert check("count_nonzero", a) == "typed"
    assert typed > 1000
    assert check("diff", np.arange(5.0), n=2) == "typed"


def test_verdicts_are_python_bools():
    for a in arrays():
        assert check("array_equal", a, a) == check("allclose", a, 1) == "typed"
        assert REGISTRY["np::allclose"].infer(type_of(a), INT) == BOOL


# -- products and linear algebra -------------------------------------------------------------------


def operands(dtype):
    return [np.ones(shape, dtype) for shape in ((), (3,), (3, 3), (2, 3), (3, 2), (2, 3, 3))] + [
        np.ones((3, 3), dtype).T
    ]


@pytest.mark.parametrize("name", ["matmul", "dot", "vdot", "inner", "outer"])
def test_products_are_inferred_as_numpy_makes_them(name):
    typed = 0
    for d1, d2 in itertools.product(
        (np.float64, np.int32, np.bool, np.complex64, np.float16, np.uint8), repeat=2
    ):
        for x, y in itertools.product(operands(d1), operands(d2)):
            typed += check(name, x, y) in ("typed", "ran")
        assert check(name, operands(d1)[1], 2.0) in ("unknown", "raised")
    assert typed >= 36
    known = ArrayType(np.dtype(float), (2, 3))
    if name in ("matmul", "dot"):
        assert REGISTRY[f"np::{name}"].infer(known, known) == ANY


def test_matmul_in_place_gives_the_target():
    op = REGISTRY["np::imatmul"]
    for dtype in (np.float64, np.int32):
        a, b = np.ones((2, 3), dtype), np.eye(3)
        found = op.infer(type_of(a), type_of(b))
        result = attempt(op.evaluate, a, b)
        assert found == (ANY if isinstance(result, Exception) else type_of(a))
    assert op.infer(type_of(np.ones(3)), type_of(np.ones(3))) == ANY


def test_linear_algebra_is_inferred_as_numpy_makes_it():
    for dtype in DTYPES:
        matrix = (np.arange(9).reshape(3, 3) % 4 + 3 * np.eye(3)).astype(dtype)
        for x in (matrix, matrix.T, matrix[0], matrix[:2], dtype.type(1)):
            outcomes = {check(f"linalg.{name}", x) for name in ("norm", "inv", "det")}
            assert outcomes <= {"typed", "raised", "unknown", "ran"}
            assert check("linalg.solve", matrix, x) in ("typed", "raised", "unknown", "ran")
    m = np.eye(3)
    assert check("linalg.norm", m) == check("linalg.norm", m[0], 1) == "typed"
    assert check("linalg.inv", m) == check("linalg.cholesky", m) == "ran"
    assert check("linalg.det", m) == check("linalg.solve", m, m[0]) == "ran"


def test_other_functions_are_inferred_as_numpy_makes_them():
    v, typed = np.arange(4.0), []
    for dtype in DTYPES:
        for a in arrays(dtype):
            outcomes = [check("nonzero", a), check("flatnonzero", a), check("roll", a, 1)]
            assert "bailed" not in outcomes
            typed += [o for o in outcomes if o in ("typed", "ran")]
            assert check("searchsorted", v, a) != "bailed"
            assert check("interp", a, v, v) != "bailed"
        assert check("round", dtype.type(1)) != "bailed"
        assert check("searchsorted", v, dtype.type(1)) in ("typed", "ran")
    assert len(typed) > 300
    for name, operands in (("searchsorted", (v, 1.5)), ("interp", (1.5, v, v))):
        assert check(name, *operands) in ("typed", "ran")  # where NumPy rounds once less: typed


# -- the tables ------------------------------------------------------------------------------------

NUMPY_OPS = [op for op in REGISTRY.values() if op.name.startswith("np::")]


@pytest.mark.parametrize("op", NUMPY_OPS, ids=lambda op: op.name)
def test_samples_have_the_inferred_type(op):
    for operands in op.operand_samples():
        try:
            result = op.evaluate(*operands)
        except IndexError:  # there is none
            continue
        inferred = op.infer(*map(type_of, operands))
        members = inferred.members if isinstance(inferred, UnionType) else (inferred,)
        assert any(t == ANY or has_type(result, t) for t in members), operands


def test_every_numpy_form_of_an_operator_is_declared():
    names = {op.numpy for op in REGISTRY.values() if op.numpy is not None}
    assert len(names) > 30
    assert names <= REGISTRY.keys()
    elements = {op.element_op for op in REGISTRY.values() if op.element_op is not None}
    assert elements <= REGISTRY.keys()


def test_numpy_functions_are_found_by_identity():
    plain = [op for op in NUMPY_OPS if not op.name.endswith("_into")]
    table = {(id(f), op.name) for op in plain for f in op.callables}
    for function, name in (
        (np.sqrt, "np::sqrt"),
        (np.abs, "np::absolute"),
        (np.zeros, "np::zeros"),
        (np.float32, "np::float32"),
        (np.clip, "np::clip"),
        (np.where, "np::where"),
    ):
        assert (id(function), name) in table


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.add, np.multiply, np.subtract])
def test_what_a_ufunc_accumulates(ufunc):
    def accumulated(a, axis):
        return ufunc.accumulate(a), ufunc.accumulate(a, axis=-1), ufunc.accumulate(a, axis)

    def outcome(function, *args):
        try:
            return [(type(x), x.dtype, x.strides, x.tolist()) for x in function(*args)]
        except (ValueError, TypeError) as error:
            return type(error), str(error)

    rng = np.random.default_rng(6)
    a = rng.integers(-9, 9, (7, 11)).astype(float)
    zeros = np.array([-1.0, -0.0, 0.0, -0.0, 0.0, 0.0, -0.0, 1.0, 0.0, -2.0, -0.0] * 3)
    cases = [
        (a, 0), (a, 1), (a[0], 0), (a.T, 1), (a[:, ::2], 1), (a[:0], 0), (a[:, :0], 1), (a.astype(int), 0), (zeros, 0),
        (a.astype(np.int8), 1), (a > 0, 0), (a.astype("f4"), -2), (a + 1j, 0), (a, None), (a, 2), (a[0, 0], 0),
    ]  # fmt: skip
    compiled = ljit.jit(accumulated)
    for case in cases[:1] + cases * 2:
        assert repr(outcome(compiled, *case)) == repr(outcome(accumulated, *case)), case
    if ufunc is not np.subtract:
        assert "_accumulate" in str(compiled.graph_for(a, 0))


def test_extrema_so_far_keep_what_is_no_number():
    def highest(a):
        return np.maximum.accumulate(a)

    a = np.random.default_rng(7).normal(size=40)
    a[[9, 23]] = np.nan
    compiled = ljit.jit(highest)
    for x in (a, a, a[10:], a[::-1]):
        assert compiled(x).tobytes() == highest(x).tobytes()
