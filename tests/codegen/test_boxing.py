"""Objects go in and come out: exact values, exact classes, flat reference counts."""

from __future__ import annotations

import math
import pickle
import struct
import sys

import numpy as np
import pytest

from ljit.codegen.llvm.builder import NULL, Ref, integer
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.references import boxing
from ljit.ops.containers.iteration_views import EnumerateView, ReversedView, ZipView
from ljit.ops.names import UNBOUND_VALUE
from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    UNBOUND,
    ArrayType,
    ListType,
    ObjectType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    ViewType,
)
from ljit.value_types import type_of
from tests.codegen.entry_harness import build, identity

F8 = np.dtype(np.float64)
_functions: dict[Type, object] = {}


def through(type_: Type, value: object) -> object:
    """Unbox `value` as the type and box it again."""
    if type_ not in _functions:
        _functions[type_] = identity(type_)
    return _functions[type_](value)


def is_taken(type_: Type, value: object) -> bool:
    result = through(type_, value)
    return not (isinstance(result, tuple) and result[:1] == ("slow",))


def same(a: object, b: object) -> bool:
    """Equal values of equal classes, NaNs and signed zeros by their bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float | complex | np.generic):
        return pickle.dumps(a) == pickle.dumps(b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000001234))[0]
INTS = [0, 1, -1, 5, -5, 256, 257, -6, 2**30 - 1, 2**30, -(2**30), 2**31, -(2**45), 2**60,
        2**62 - 1, 2**63 - 1, -(2**63), -(2**63) + 1, 12345678901234567]  # fmt: skip


@pytest.mark.parametrize("n", INTS)
def test_ints_that_fit_go_through(n):
    assert same(through(INT, n), n)


@pytest.mark.parametrize("x", [2**63, -(2**63) - 1, 2**64, 2**200, True, 1.0, np.int64(1), None])
def test_other_objects_are_not_taken_for_ints(x):
    assert not is_taken(INT, x)


class _IntSubclass(int):
    pass


class _FloatSubclass(float):
    pass


class _ArraySubclass(np.ndarray):
    pass


class _ListSubclass(list):
    pass


@pytest.mark.parametrize(
    ("type_", "x"),
    [
        (INT, _IntSubclass(3)),
        (FLOAT, _FloatSubclass(3.0)),
        (FLOAT, np.float64(3.0)),
        (FLOAT, 3),
        (COMPLEX, 3.0),
        (COMPLEX, np.complex128(1)),
        (BOOL, 1),
        (BOOL, np.True_),
        (STR, b"x"),
        (NONE, False),
        (UNBOUND, None),
        (ScalarType(F8), 3.0),
        (ScalarType(F8), np.float32(3)),
        (ScalarType(np.dtype(np.int64)), np.longlong(3)),
        (RANGE, slice(1, 2, 3)),
        (RANGE, range(2**70)),
        (SLICE, slice(1, 2, 3)),
        (SLICE, slice(1, None)),
        (SLICE, range(3)),
        (ListType(INT), (1,)),
        (ListType(INT), _ListSubclass()),
        (ObjectType(dict), []),
        (TupleType((INT,)), (1, 2)),
        (TupleType((INT,)), ()),
        (TupleType((INT, FLOAT)), (1, 2)),
        (TupleType((INT, TupleType((FLOAT,)))), (1, (2,))),
        (UnionType((FLOAT, INT)), "1"),
    ],
)
def test_objects_of_other_types_are_not_taken(type_, x):
    assert not is_taken(type_, x)


@pytest.mark.parametrize(
    "x",
    [True, False, 1.5, -0.0, math.inf, NAN, 1 - 2j, complex(-0.0, NAN), None, "text", (), (1,),
     (1, 2.5, (True, None, "s")), [1, 2], {"a": 1}, range(3, 10, 2), range(-(2**63), 2**63 - 1),
     slice(1, 2), slice(None), slice(5, None, -1), slice(2**62, -3, 7)],
)  # fmt: skip
def test_values_go_through_as_their_own_type(x):
    assert same(through(type_of(x), x), x)
    assert same(through(ANY, x), x)


DTYPES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
          "float16 float32 float64 complex64 complex128").split()  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_scalars_of_each_dtype_go_through(name):
    dtype = np.dtype(name)
    raw = np.random.default_rng(1).bytes(dtype.itemsize * 20)
    values = np.frombuffer(raw, dtype) if name != "bool" else np.array([True, False])
    for x in values:
        result = through(ScalarType(dtype), x)
        assert type(result) is type(x)
        assert result.tobytes() == x.tobytes()
    assert through(ScalarType(np.dtype(bool)), np.True_) is np.True_


def test_unbound_goes_through():
    assert through(UNBOUND, UNBOUND_VALUE) is UNBOUND_VALUE


@pytest.mark.parametrize("x", [1, 2.5, None, True, 3j, np.float32(1.5), -(2**63)])
def test_members_of_a_union_keep_their_class(x):
    members = (COMPLEX, NONE, BOOL, FLOAT, INT, ScalarType(np.dtype(np.float32)))
    assert same(through(UnionType(tuple(sorted(members, key=str))), x), x)


# -- arrays --------------------------------------------------------------------------------------------


def array_type(a: np.ndarray, **changes: object) -> ArrayType:
    fields = {"shape": (None,) * a.ndim, "layout": "C", "writeable": True, **changes}
    return ArrayType(a.dtype, **fields)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 4)])
def test_arrays_go_through_as_the_same_object(name, shape):
    a = np.zeros(shape, name)
    assert through(array_type(a), a) is a
    assert through(array_type(a, layout="strided"), a) is a


def _unaligned() -> np.ndarray:
    return np.zeros(33, np.uint8)[1:].view(np.float64)


def _readonly(n: int) -> np.ndarray:
    a = np.zeros(n)
    a.flags.writeable = False
    return a


D1 = ArrayType(F8, (None,))


@pytest.mark.parametrize(
    "a",
    [np.zeros(3, np.float32), np.zeros((3, 1)), np.zeros(()), np.zeros(6)[::2], np.zeros(3)[::-1],
     np.zeros(3, ">f8"), _readonly(3), _unaligned(), np.zeros(3).view(_ArraySubclass), [1.0],
     np.zeros(3, np.int64), np.ma.zeros(3), np.zeros(3, "m8[s]"), np.zeros(3, object)],
)  # fmt: skip
def test_other_arrays_are_not_taken(a):
    assert not is_taken(D1, a)


def test_readonly_type_takes_both_and_strided_type_takes_all_strides():
    readonly = ArrayType(F8, (None,), "C", writeable=False)
    assert is_taken(readonly, _readonly(3))
    assert is_taken(readonly, np.zeros(3))
    strided = ArrayType(F8, (None,), "strided")
    for a in (np.zeros(6)[::2], np.zeros(3)[::-1], np.broadcast_to(np.zeros(()), 3).copy()):
        assert through(strided, a) is a
    assert not is_taken(strided, np.broadcast_to(1.0, 3))  # not writeable


def test_fixed_sizes_are_checked():
    fixed = ArrayType(F8, (2, None, 3))
    assert is_taken(fixed, np.zeros((2, 7, 3)))
    assert not is_taken(fixed, np.zeros((3, 7, 3)))
    assert not is_taken(fixed, np.zeros((2, 7, 2)))


def test_equal_descriptors_that_are_other_objects_are_taken_without_metadata():
    copied = pickle.loads(pickle.dumps(np.zeros(3)))
    assert copied.dtype is not F8
    assert through(D1, copied) is copied
    tagged = np.zeros(3, np.dtype(F8, metadata={"a": 1}))
    assert not is_taken(D1, tagged)  # results would lose the metadata
    assert not is_taken(D1, copied.view(F8.newbyteorder()))
    longlong = np.zeros(3, np.longlong)
    assert not is_taken(ArrayType(np.dtype(np.int64), (None,)), longlong)


def _forget_object(f, value: Native, keep) -> None:
    """Box the array as if it were a view that has no object yet."""
    parts = list(value.parts)
    parts[0] = NULL
    f.ret(boxing.box(f, Native(value.type, parts), keep))


@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.parametrize("layout", ["C", "strided"])
def test_views_become_objects_with_owner_and_flags(layout, writeable):
    type_ = ArrayType(np.dtype(np.int32), (None, 4), layout, writeable)
    make = build([type_], lambda f, arguments, keep: _forget_object(f, arguments[0], keep))
    owner = np.arange(12, dtype=np.int32).reshape(3, 4).copy()
    owner.flags.writeable = writeable  # which is what a view takes it from
    references = sys.getrefcount(owner), sys.getrefcount(owner.dtype)
    view = make(owner)
    assert type(view) is np.ndarray
    assert view is not owner
    assert view.base is owner
    assert view.tolist() == owner.tolist()
    assert (view.dtype, view.strides, view.shape) == (owner.dtype, owner.strides, owner.shape)
    assert (view.flags.c_contiguous, view.flags.aligned) == (True, True)
    assert (view.flags.writeable, view.flags.owndata) == (writeable, False)
    del view
    assert (sys.getrefcount(owner), sys.getrefcount(owner.dtype)) == references


def test_view_with_negative_stride_and_offset():
    type_ = ArrayType(F8, (None,), "strided")

    def reverse(f, arguments, keep):
        parts = array_parts(arguments[0])
        (size,), (stride,) = parts.sizes, parts.strides
        last = f.mul(f.add(size, integer("i64", -1)), stride)
        data = f.gep("i8", parts.data, last)
        backwards = f.mul(stride, integer("i64", -1))
        value = Native(type_, (NULL, parts.owner, data, size, backwards))
        f.ret(boxing.box(f, value, keep))

    a = np.arange(8.0)[::2]
    view = build([type_], reverse)(a)
    assert view.tolist() == [6.0, 4.0, 2.0, 0.0]
    assert view.strides == (-16,)
    assert view.base is a.base  # NumPy shortens chains of views
    assert not view.flags.c_contiguous


def test_array_whose_object_may_be_there_is_told_apart_at_run_time():
    type_ = ArrayType(F8, (None,))

    def choose(f, arguments, keep):
        flag, array = arguments
        known = f.select(flag.ref, array.parts[0], NULL)
        hidden = Ref("ptr", f.emit("ptr", f"getelementptr i8, ptr {known}, i64 0").text)
        f.ret(boxing.box(f, Native(type_, (hidden, *array.parts[1:])), keep))

    call = build([BOOL, type_], choose)
    a = np.zeros(3)
    assert call(True, a) is a
    assert call(False, a).base is a


# -- iteration views -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        EnumerateView(([1, 2], 5)),
        ReversedView(([1, 2], 2)),
        ZipView(([1, 2], np.zeros(2), (1.5,))),
        EnumerateView((ZipView(((), range(3))), 2**63 - 1)),
    ],
)
def test_iteration_views_go_through_as_objects_of_their_class(view):
    type_ = type_of(view)
    assert isinstance(type_, ViewType)
    through(type_, view)  # compiles
    before = sys.getrefcount(type(view)), sys.getrefcount(view[0])
    result = through(type_, view)
    assert type(result) is type(view)
    assert all(a is b or a == b for a, b in zip(result, view, strict=True))
    assert result[0] is view[0] or type(view[0]) is ZipView
    del result
    assert (sys.getrefcount(type(view)), sys.getrefcount(view[0])) == before
    assert not is_taken(type_, tuple(view))


# -- reference counts ----------------------------------------------------------------------------------


def _counts(*objects: object) -> list[int]:
    return [sys.getrefcount(x) for x in objects]


@pytest.mark.parametrize(
    "x",
    [3, 10**15, 2.5, 1j, True, None, "s", np.float64(2), np.True_, np.complex64(1), np.zeros(3),
     (1.5, (2.5, "x"), np.zeros(2)), [1], {}, range(5, 1000, 7), slice(1000, 2000)],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_no_reference_is_lost_or_leaked(x):
    type_ = type_of(x)
    inner = x if isinstance(x, tuple) else ()
    watched = (x, type(x), None, True, np.True_, type_, *inner)
    through(type_, x)
    before = _counts(*watched)
    for _ in range(1000):
        through(type_, x)
    # Some are shared with the threads of the test runner; a reference lost or leaked is one a call.
    assert all(abs(a - b) < 100 for a, b in zip(_counts(*watched), before, strict=True))


def test_rejected_arguments_keep_their_references():
    x = (1.5, "not a float")
    type_ = TupleType((FLOAT, FLOAT))
    is_taken(type_, x)
    before = _counts(x, x[0], x[1])
    for _ in range(1000):
        is_taken(type_, x)
    after = _counts(x, x[0], x[1])  # outside of the assert, which holds references
    assert after == before


def test_slices_of_mixed_parts_go_through():
    type_ = SliceType(NONE, INT, NONE)
    assert through(type_, slice(None, 7)) == slice(None, 7)
    assert not is_taken(type_, slice(0, 7))
