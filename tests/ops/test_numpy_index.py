"""Indexing and assignment: types and native results against NumPy on real arrays."""

import itertools

import numpy as np
import pytest

import ljit.ops  # noqa: F401
from ljit.interp import has_type
from ljit.ir import REGISTRY, Effect
from ljit.testing.scalar_emitter import Bailed, run_lowering
from ljit.types import ANY, FLOAT, INT, NATIVE_KINDS, ArrayType, ListType, ScalarType
from ljit.value_types import type_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

GETITEM, SETITEM = REGISTRY["np::getitem"], REGISTRY["np::setitem"]
ASSIGN = REGISTRY["np::assign"]


def arrays():
    base = np.arange(60.0).reshape(3, 4, 5)
    readonly = np.arange(6)
    readonly.flags.writeable = False
    return [
        np.array(1.5),
        np.arange(7, dtype=np.int16),
        np.arange(7.0)[::-1],
        np.arange(12, dtype=np.complex64).reshape(3, 4),
        np.arange(12).reshape(3, 4).T,
        base,
        base[::2, ::-1],
        np.zeros((0, 3)),
        readonly,
    ]


ITEMS = (
    0, -1, 2, 100, np.int32(1), np.uint64(0), None, ..., slice(None), slice(1, None), slice(None, -1),
    slice(None, None, 2), slice(None, None, -1), slice(4, 0, -2), slice(2, 2), slice(-100, 100, 3),
    slice(1, 3, None), slice(None, None, -(2**63)), slice(2**62, -(2**63), -1), slice(0, 2**63 - 1, 2**62),
)  # fmt: skip


def indices():
    yield ()
    for n in (1, 2, 3):
        for items in itertools.islice(
            itertools.product(ITEMS, repeat=n), 0, None, (1, 1, 7)[n - 1]
        ):
            yield items[0] if n == 1 else items


def outcome(function, *args):
    try:
        return function(*args)
    except (IndexError, ValueError) as error:
        return error


def as_known(a):
    """The array's type with all sizes known."""
    t = type_of(a)
    return ArrayType(t.dtype, a.shape, t.layout, t.writeable)


@pytest.mark.parametrize("a", arrays(), ids=lambda a: f"{a.dtype}{a.shape}{a.strides}")
def test_basic_index_gives_what_numpy_gives(a):
    checked = bailed = 0
    for index in indices():
        wanted = outcome(lambda: a[index])
        index_type = type_of(index)
        found_type = GETITEM.infer(type_of(a), index_type)
        if isinstance(wanted, Exception):
            if GETITEM.can_lower(type_of(a), index_type):
                bailed += 1
                with pytest.raises(Bailed):
                    run_lowering(GETITEM, a, index)
            continue
        checked += 1
        assert has_type(wanted, found_type), (index, found_type)
        assert getattr(found_type, "writeable", False) == wanted.flags.writeable
        assert has_type(wanted, GETITEM.infer(as_known(a), index_type)), index
        found = run_lowering(GETITEM, a, index)
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted)
        if isinstance(wanted, np.ndarray) and wanted.size:
            assert found.__array_interface__["data"] == wanted.__array_interface__["data"]
    assert checked >= 3
    assert bailed or a.ndim == 0


def test_index_of_too_many_items_or_of_other_types_is_left_to_numpy():
    array = type_of(np.zeros((2, 3)))
    for index in ((0, 0, 0), (0, ..., ...), True, [0, 1], (0, [1]), 1.5, "x", np.array(0)):
        assert GETITEM.infer(array, type_of(index)) == ANY
        assert not GETITEM.can_lower(array, type_of(index))
        assert GETITEM.effects(array, type_of(index)) == Effect.CALL


def test_index_of_what_is_no_array_is_not_inferred():
    assert GETITEM.infer(ListType(INT), ScalarType(np.dtype(np.int64))) == ANY
    assert GETITEM.infer(ANY, INT) == ANY
    assert SETITEM.infer(ListType(INT), ScalarType(np.dtype(np.int64)), INT) == ANY


@pytest.mark.parametrize(
    "a", [x for x in arrays() if x.ndim and len(x)], ids=lambda a: str(a.strides)
)
def test_index_arrays_have_the_type_of_numpys_copy(a):
    picks = [
        np.array([0, 1]),
        np.array([[0, 1]]).T,
        np.array([[0, 1], [1, 1]], np.uint8).T,
        a > 1 if a.dtype.kind != "c" else a != 1,
    ]
    for index in picks:
        found = GETITEM.infer(type_of(a), type_of(index))
        assert has_type(a[index], found), (index, found, a[index].flags)
        if GETITEM.can_lower(type_of(a), type_of(index)):
            assert np.array_equal(run_lowering(GETITEM, a, index), a[index])


VALUES = (
    True, 1, -1, 300, 2**40, 1.5, -0.5, -1.5, 1e10, 1e300, float("nan"), 2j,
    *(d.type(1) for d in NATIVE_KINDS), np.int64(300), np.int64(-1), np.uint64(2**64 - 1), np.float32(2.75),
    np.float64("inf"), np.complex64(1 + 2j),
)  # fmt: skip


def test_storing_an_element_converts_as_numpy_does():
    stored = bailed = 0
    for dtype in sorted(NATIVE_KINDS, key=str):
        for value in VALUES:
            wanted, found = np.zeros((2, 3), dtype), np.zeros((2, 3), dtype)
            types = (type_of(found), type_of((1, -1)), type_of(value))
            if not SETITEM.can_lower(*types):
                continue
            assert SETITEM.effects(*types) == Effect.READ | Effect.WRITE | Effect.RAISE
            try:
                assert run_lowering(SETITEM, found, (1, -1), value) is None
            except Bailed:
                bailed += 1
                assert not found.any()
                continue
            stored += 1
            wanted[1, -1] = value
            np.testing.assert_array_equal(found, wanted, strict=True)
    assert stored > 150
    assert bailed > 20


def test_storing_bails_where_numpy_raises():
    for dtype, index, value in (
        (np.int8, 0, 300), (np.uint8, 0, -1), (np.uint8, 0, -1.0), (np.int64, 0, float("nan")),
        (np.float64, 3, 1.0), (np.float64, -4, 1.0),
    ):  # fmt: skip
        a = np.zeros(3, dtype)
        with pytest.raises((OverflowError, ValueError, IndexError)):
            a[index] = value
        with pytest.raises(Bailed):
            run_lowering(SETITEM, a, index, value)


def test_what_cannot_be_stored_natively_has_no_lowering():
    a, c = type_of(np.zeros(3)), type_of(np.zeros(3, np.complex128))
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    assert not SETITEM.can_lower(type_of(readonly), INT, FLOAT)
    assert not SETITEM.can_lower(a, INT, c.element)
    assert not SETITEM.can_lower(a, INT, a)
    assert not SETITEM.can_lower(a, type_of(slice(None)), type_of([1.0]))
    assert SETITEM.effects(a, INT, type_of([1.0])) == Effect.CALL
    assert SETITEM.can_lower(c, INT, a.element)


SOURCES = (
    2, 2.5, np.float32(1.5), np.array(4.0), np.arange(1.0, 2.0), np.arange(4.0), np.arange(4)[::-1],
    np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3).T, np.arange(3.0).reshape(3, 1),
    np.arange(8.0).reshape(2, 4),
)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.complex64, np.bool])
@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        ...,
        (slice(None, None, -1), slice(None)),
        1,
        (slice(None), 2),
        slice(1, 1),
        (slice(0, 2),),
    ],
    ids=str,
)
def test_assigning_to_a_view_does_what_numpy_does(dtype, index):
    ran = 0
    for source in SOURCES:
        wanted, found = np.ones((3, 4), dtype), np.ones((3, 4), dtype)
        types = (type_of(found), type_of(index), type_of(source))
        result = outcome(wanted.__setitem__, index, source)
        if not SETITEM.can_lower(*types):
            continue
        if isinstance(result, Exception):
            with pytest.raises(Bailed):
                run_lowering(SETITEM, found, index, source)
            continue
        ran += 1
        run_lowering(SETITEM, found, index, source)
        np.testing.assert_array_equal(found, wanted, strict=True)
    assert ran > 4


def test_assignment_between_overlapping_views_is_as_if_all_were_read_first():
    a = np.arange(8.0)
    run_lowering(SETITEM, a, slice(1, None), a[:-1])
    np.testing.assert_array_equal(a, [0.0, *np.arange(7.0)])


def test_assignment_of_a_view_to_itself_changes_nothing():
    a = np.arange(8.0)
    assert run_lowering(SETITEM, a, slice(1, None, 2), a[1::2]) is None
    np.testing.assert_array_equal(a, np.arange(8.0))


def test_assignment_of_a_value_that_does_not_fit_bails_before_it_writes():
    a = np.zeros(3, np.int64)
    with pytest.raises(Bailed):
        run_lowering(SETITEM, a, slice(None), np.array([1.0, 2.0, np.nan]))
    np.testing.assert_array_equal(a, np.zeros(3, np.int64))


def test_assign_fills_the_whole_target():
    a = np.zeros((2, 3))
    assert run_lowering(ASSIGN, a, np.arange(3)) is None
    np.testing.assert_array_equal(a, [[0, 1, 2], [0, 1, 2]])
    assert ASSIGN.evaluate(a, 7) is None
    assert (a == 7).all()
    assert not ASSIGN.can_lower(type_of(a), type_of(np.zeros((1, 2, 3))))
