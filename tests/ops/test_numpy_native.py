"""Machine code of the NumPy ops, on arrays that hold every pair of odd values, against NumPy."""

import itertools

import numpy as np
import pytest

from ljit.ir import REGISTRY
from ljit.ops.ufuncs.ufuncs import UFUNCS
from ljit.types import ANY
from ljit.value_types import type_of
from tests.ops.python_harness import NativeBailed, compile_graph, compile_op, graph_of

pytestmark = pytest.mark.filterwarnings("ignore")

LOWERED = [REGISTRY[n] for n in sorted(UFUNCS) if REGISTRY[n].lower is not None]
RAISING = ("np::power", "np::power_operator", "np::reciprocal")
TRANSCENDENTAL = set(
    "cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "arctan2 hypot logaddexp power pow float_power absolute".split()
)
INFINITY = float("inf")
VALUES = {
    np.dtype(bool): [False, True],
    np.dtype(np.int8): [0, 1, -1, 3, -128, 127, 7],
    np.dtype(np.uint64): [0, 1, 2, 65, 2**64 - 1],
    np.dtype(np.int64): [0, 1, -1, 3, -(2**63), 2**63 - 1, 64],
    np.dtype(np.float32): [
        0.5,
        1.0,
        -2.5,
        3.0,
        1e-40,
        1e38,
        INFINITY,
        -INFINITY,
        float("nan"),
        0.0,
    ],
    np.dtype(np.float64): [
        0.5,
        1.0,
        -2.5,
        3.0,
        1e-310,
        1e300,
        INFINITY,
        -INFINITY,
        float("nan"),
        0.0,
    ],
    np.dtype(np.complex128): [0j, 1.1 + 2.3j, -0.7j, 1e300 + 1j, complex(INFINITY, 1)],
}


def arity(op):
    return len(op.schema.positional)


def columns(op, dtypes):
    """One array an operand; together the rows are all combinations of values."""
    rows = itertools.product(*(VALUES[d] for d in dtypes))
    if op.name in ("np::power", "np::power_operator"):
        rows = [r for r in rows if not (dtypes[1].kind in "iu" and not 0 <= r[1] < 64)]
    if op.name == "np::reciprocal" and dtypes[0].kind in "biu":
        rows = [r for r in rows if r[0] != 0]
    return [np.array(column, d) for column, d in zip(zip(*rows), dtypes)]


def assert_same(found, wanted, op):
    assert type(found) is type(wanted)
    assert found.dtype == wanted.dtype
    is_complex = wanted.dtype.kind == "c"
    if (
        op.evaluate.__name__ in TRANSCENDENTAL | ({"sqrt"} if is_complex else set())
        and wanted.dtype.kind in "fc"
    ):
        if is_complex:
            found, wanted = (np.stack([x.real, x.imag]) for x in (found, wanted))
        assert np.array_equal(np.isfinite(found), np.isfinite(wanted))
        finite = np.isfinite(wanted)
        limit = (4 if is_complex else 2) * np.spacing(np.abs(np.where(finite, wanted, 1)))
        assert (np.abs(np.where(finite, found - wanted, 0)) <= limit).all(), (found, wanted)
    else:
        np.testing.assert_array_equal(found, wanted, strict=True)


def dtype_lists(op):
    same = [(d,) * arity(op) for d in VALUES]
    mixed = [
        ("int8", "int64"),
        ("int64", "uint64"),
        ("uint64", "int8"),
        ("float32", "int64"),
        ("bool", "float64"),
    ]
    if arity(op) == 2:
        same += [tuple(map(np.dtype, pair)) for pair in mixed]
    return same


@pytest.mark.parametrize("op", LOWERED, ids=lambda op: op.name)
def test_arrays_give_what_numpy_gives(op):
    ran = 0
    for dtypes in dtype_lists(op):
        if arity(op) == 3 and dtypes[0].itemsize < 8:
            continue
        operands = columns(op, dtypes)
        types = tuple(map(type_of, operands))
        if not op.can_lower(*types):
            continue
        ran += 1
        assert_same(compile_op(op, types)(*operands), op.evaluate(*operands), op)
    assert ran or op.name == "np::divmod"  # gives two arrays


@pytest.mark.parametrize("op", LOWERED, ids=lambda op: op.name)
def test_scalars_give_what_numpy_gives(op):
    for name in ("int64", "float64", "complex128", "bool"):
        dtype = np.dtype(name)
        operands = [column[-1] for column in columns(op, (dtype,) * arity(op))]
        types = tuple(map(type_of, operands))
        if op.can_lower(*types) and op.name != "np::multiply_element":
            found, wanted = compile_op(op, types)(*operands), op.evaluate(*operands)
            assert type(found) is type(wanted)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["add", "less", "floor_divide", "maximum", "left_shift"])
def test_python_scalars_are_weak(name):
    op = REGISTRY[f"np::{name}"]
    array = np.array([1, 2, 100], np.int8)
    native = compile_op(op, (type_of(array), type_of(1)))
    for n in (0, 1, 7, 127):
        assert_same(native(array, n), op.evaluate(array, n), op)
    if name == "less":
        assert_same(native(array, 300), array < 300, op)
    else:
        with pytest.raises(NativeBailed):
            native(array, 300)


LOOPS = [
    op
    for op in REGISTRY.values()
    if op.name.startswith("np::i") and op.schema.written and op.elementwise
]


@pytest.mark.parametrize("op", LOOPS, ids=lambda op: op.name)
def test_in_place_operators_write_into_their_target(op):
    ran = 0
    for target_dtype, value_dtype in itertools.product(
        map(np.dtype, ("int8", "int64", "float32")), repeat=2
    ):
        target = np.array([[0, 1, 5], [7, 9, 100]], target_dtype)
        value = np.array([1, 2, 3], value_dtype)
        types = (type_of(target), type_of(value))
        if not op.can_lower(*types):
            continue
        ran += 1
        wanted = op.evaluate(target.copy(), value)
        found = compile_op(op, types)(target, value)
        assert found is target
        np.testing.assert_array_equal(found, wanted, strict=True)
    assert ran or op.name == "np::ipow"


def test_products_of_complex_arrays_round_as_numpy_does():
    rng = np.random.default_rng(7)
    for dtype in (np.complex64, np.complex128):
        x, y = (rng.normal(size=(2, 500)) + 1j * rng.normal(size=(2, 500))).astype(dtype)
        for op, operands in (
            (REGISTRY["np::multiply"], (x, y)),
            (REGISTRY["np::square"], (x,)),
            (REGISTRY["np::divide"], (x, y)),
        ):
            found = compile_op(op, tuple(map(type_of, operands)))(*operands)
            np.testing.assert_array_equal(found, op.evaluate(*operands), strict=True)
        op = REGISTRY["np::multiply"]
        native = compile_op(op, (type_of(x[0]),) * 2)
        for a, b in zip(x, y):
            assert native(a, b) == a * b
            assert type(native(a, b)) is dtype


STATIC = [
    op
    for op in REGISTRY.values()
    if op.name.startswith("np::")
    and op.lower is not None
    and op.name not in UFUNCS
    and op.operand_samples()
]


@pytest.mark.parametrize("op", STATIC, ids=lambda op: op.name)
def test_samples_run_natively(op):
    for operands in op.operand_samples():
        types = tuple(map(type_of, operands))
        try:
            wanted = op.evaluate(*operands)
        except IndexError:  # native code leaves
            continue
        found = compile_op(op, types)(*operands)
        assert type(found) is type(wanted)
        if getattr(wanted, "dtype", np.dtype(object)).names:  # NaN in a record differs from itself
            assert found.tobytes() == wanted.tobytes()
        else:
            np.testing.assert_array_equal(found, wanted)
        if isinstance(wanted, np.ndarray):
            assert found.dtype == wanted.dtype
            assert found.flags.writeable == wanted.flags.writeable


GETITEM, SETITEM = REGISTRY["np::getitem"], REGISTRY["np::setitem"]
INDICES = (
    1, -1, (1, 2), (-1, -1), slice(1, None), slice(None, None, -1), (slice(None), 1), (..., 0), (None, 1), (0, slice(2, 0, -1)),
    (slice(0, 2), slice(None, -1)), np.int32(1), (slice(5, 1), 0), ...,
)  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_runs_natively(index):
    for a in (np.arange(12.0).reshape(3, 4), np.arange(12, dtype=np.int16).reshape(4, 3).T):
        found = compile_op(GETITEM, (type_of(a), type_of(index)))(a, index)
        wanted = a[index]
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted, strict=True)
        if isinstance(wanted, np.ndarray):
            steps = [
                (x, y) for x, y, n in zip(found.strides, wanted.strides, wanted.shape) if n > 1
            ]
            assert all(x == y for x, y in steps) or wanted.size == 0
            assert np.may_share_memory(found, a) or wanted.size == 0


DTYPES_OF_TARGETS = (np.float64, np.int8, np.complex64)


@pytest.mark.parametrize("k", range(len(INDICES)), ids=lambda k: str(INDICES[k]))
def test_assignment_runs_natively(k):
    """Each index meets each source and each dtype; which go together, the next index changes."""
    index = INDICES[k]
    sources = (3, 2.5, np.float32(7), np.array([5.0]), np.ones((3, 4))[index])
    for i, value in enumerate(sources):
        dtype = DTYPES_OF_TARGETS[(i + k) % 3]
        found, wanted = np.zeros((3, 4), dtype), np.zeros((3, 4), dtype)
        types = (type_of(found), type_of(index), type_of(value))
        if not SETITEM.can_lower(*types):
            continue
        wanted[index] = value
        compile_op(SETITEM, types)(found, index, value)
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_assignment_of_a_view_to_itself_stays_native():
    a = np.arange(12.0).reshape(3, 4)
    for index in (1, (slice(None), slice(1, 3)), slice(None, None, 2)):
        value = a[index]
        compile_op(SETITEM, tuple(map(type_of, (a, index, value))))(a, index, value)
    np.testing.assert_array_equal(a, np.arange(12.0).reshape(3, 4))


def test_indexing_out_of_bounds_bails_and_overlap_does_not():
    a = np.arange(4.0)
    native = compile_op(GETITEM, (type_of(a), type_of(0)))
    for index in (4, -5, 2**62):
        with pytest.raises(NativeBailed):
            native(a, index)
    assign = compile_op(SETITEM, (type_of(a), type_of(slice(1, None)), type_of(a)))
    assign(a, slice(1, None), a[:3])
    np.testing.assert_array_equal(a, [0.0, 0.0, 1.0, 2.0])


def test_a_widened_op_does_not_bail_where_its_lowering_would():
    op = REGISTRY["np::reciprocal"]
    zero = np.array([0, 1])
    with pytest.raises(NativeBailed):
        compile_op(op, (type_of(zero),))(zero)
    graph = graph_of(op, (type_of(zero),), {})
    (node,) = (n for n in graph.walk() if n.op is op)
    node.output.type = ANY
    np.testing.assert_array_equal(compile_graph(graph)(zero), np.reciprocal(zero), strict=True)


def order_operands():
    a = np.arange(48.0).reshape(6, 8)
    yield from (
        a[:4, :4],
        a[:4, :4].T,
        a[::2, ::2][:3, :4],
        a[:4, :4].T[::-1],
        a[:4, :1],
        a[:1, :4].T,
        a[0, :4],
    )
    yield from (
        a[0, :4][None],
        a[:4, 0][:, None],
        a[:1, :1],
        a[:0, :4],
        np.asfortranarray(a[:4, :4]),
        a[::2, ::2][:1],
    )


def test_results_lie_in_memory_as_numpys_do():
    op, compiled, checked = REGISTRY["np::add"], {}, 0
    cube = np.arange(60.0).reshape(3, 4, 5)
    cubes = (cube, cube.T.copy().T, cube[::-1], np.asfortranarray(cube)[::-1])
    for x, y in (
        *itertools.product(order_operands(), repeat=2),
        *itertools.product(cubes, repeat=2),
    ):
        try:
            wanted = x + y
        except ValueError:
            continue
        types = (type_of(x), type_of(y))
        if types not in compiled:
            compiled[types] = compile_op(op, types)
        found = compiled[types](x, y)
        np.testing.assert_array_equal(found, wanted)
        assert found.strides == wanted.strides or not wanted.size
        checked += wanted.strides != np.ascontiguousarray(wanted).strides
    assert checked > 20


def test_a_result_in_mixed_order_lies_as_numpys():
    cube = np.arange(60.0).reshape(3, 5, 4).transpose(0, 2, 1)
    expected = cube + cube
    assert not expected.flags.forc
    found = compile_op(REGISTRY["np::add"], (type_of(cube),) * 2)(cube, cube)
    assert np.array_equal(found, expected)
    assert (found.strides, found.flags.forc) == (expected.strides, False)
