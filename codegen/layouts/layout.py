"""Where things lie in CPython's and NumPy's objects, and at which addresses their functions are.

All that native code assumes about memory is here. `check` reads known objects through these offsets
before the first compile and raises `InternalError` when one does not hold (another interpreter, a
free-threaded build): then everything stays interpreted.
"""

from __future__ import annotations

import ctypes
import sys
import types
import weakref
from collections.abc import Callable
from functools import cache

import numpy as np

from ljit.errors import InternalError
from ljit.ops.arrays.float_settings import SETTINGS

__all__ = [
    "ARRAY_BASE",
    "ARRAY_DATA",
    "ARRAY_DESCR",
    "ARRAY_DIMENSIONS",
    "ARRAY_FLAGS",
    "ARRAY_HANDLER",
    "ARRAY_NDIM",
    "ARRAY_STRIDES",
    "ARRAY_WEAKREFS",
    "BYTEARRAY_ALLOCATED",
    "BYTEARRAY_EXPORTS",
    "BYTEARRAY_START",
    "BYTES_ITEMS",
    "CELL_CONTENT",
    "COMPLEX_IMAG",
    "COMPLEX_REAL",
    "DESCR_BYTEORDER",
    "DESCR_CLASS",
    "DESCR_FIELDS",
    "DESCR_METADATA",
    "DESCR_NAMES",
    "DESCR_TYPE_NUM",
    "DICT_VERSION",
    "FLAGS_OF_NEW",
    "FLAG_ALIGNED",
    "FLAG_C_CONTIGUOUS",
    "FLAG_F_CONTIGUOUS",
    "FLAG_OWNDATA",
    "FLAG_WARN_ON_WRITE",
    "FLAG_WRITEABLE",
    "FLOAT_SETTINGS",
    "FLOAT_VALUE",
    "FUNCTION_CODE",
    "FUNCTION_DEFAULTS",
    "FUNCTION_KEYWORD_DEFAULTS",
    "IS_IMMORTAL_AWARE",
    "LEAST_SMALL_INT",
    "LIST_ALLOCATED",
    "LIST_ITEMS",
    "LONG_DIGIT",
    "LONG_TAG",
    "LONG_TAG_IS_SIZE",
    "LOUD_SETTINGS",
    "MANAGED_DICT",
    "METHOD_DEF",
    "METHOD_FASTCALL",
    "METHOD_KEYWORDS",
    "METHOD_NOARGS",
    "METHOD_O",
    "OB_REFCNT",
    "OB_TYPE",
    "RANGE_START",
    "RANGE_STEP",
    "RANGE_STOP",
    "SCALAR_VALUE",
    "SLICE_START",
    "SLICE_STEP",
    "SLICE_STOP",
    "SMALL_INTS",
    "SMALL_INT_SIZE",
    "SWAPPED_BYTEORDER",
    "TUPLE_ITEMS",
    "TYPE_ITER",
    "VAR_SIZE",
    "attributes_offset",
    "check",
    "default_handler",
    "has_dict_versions",
    "int32_at",
    "method_function",
    "numpy_function",
    "numpy_symbols",
    "python_function",
    "type_alloc",
    "type_iter",
    "type_new",
    "ufunc_loop",
    "word_at",
]

_WORD = 8

OB_REFCNT = 0
OB_TYPE = _WORD
VAR_SIZE = 2 * _WORD  # of tuples, lists and bytes
FLOAT_VALUE = 2 * _WORD
COMPLEX_REAL = 2 * _WORD
COMPLEX_IMAG = 3 * _WORD
TUPLE_ITEMS = 3 * _WORD  # the items themselves
LIST_ITEMS = 3 * _WORD  # pointer to the items
BYTES_ITEMS = 4 * _WORD  # the items themselves
LIST_ALLOCATED = 4 * _WORD  # for how many items there is room
BYTEARRAY_ALLOCATED = 3 * _WORD  # of bytes, one of which is not used
BYTEARRAY_START = 5 * _WORD  # pointer to the first byte
BYTEARRAY_EXPORTS = 6 * _WORD  # how many others use the memory
RANGE_START, RANGE_STOP, RANGE_STEP = 2 * _WORD, 3 * _WORD, 4 * _WORD
SLICE_START, SLICE_STOP, SLICE_STEP = 2 * _WORD, 3 * _WORD, 4 * _WORD
DICT_VERSION = 3 * _WORD
CELL_CONTENT = 2 * _WORD  # null: an empty cell
FUNCTION_CODE = 6 * _WORD
FUNCTION_DEFAULTS, FUNCTION_KEYWORD_DEFAULTS = 7 * _WORD, 8 * _WORD  # null: None

METHOD_DEF = 5 * _WORD  # of a method descriptor; its name, function and flags follow one another
METHOD_KEYWORDS, METHOD_NOARGS, METHOD_O, METHOD_FASTCALL = 0x2, 0x4, 0x8, 0x80

#: Since 3.12 some objects are immortal: their reference count must not be written.
IS_IMMORTAL_AWARE = sys.version_info >= (3, 12)
#: An int's tag: up to 3.11 the number of digits, negative for negative ints; later ``count << 3 | 1 - sign``.
LONG_TAG = 2 * _WORD
LONG_TAG_IS_SIZE = sys.version_info < (3, 12)
LONG_DIGIT = 3 * _WORD  # the lowest 30 bits of the magnitude, in an i32
LEAST_SMALL_INT, SMALL_INTS = -5, 262  # those that exist once, side by side in memory
SMALL_INT_SIZE = 4 * _WORD

# numpy/_core/include/numpy/ndarraytypes.h, arrayscalars.h
ARRAY_DATA = 16
ARRAY_NDIM = 24  # i32
ARRAY_DIMENSIONS = 32
ARRAY_STRIDES = 40
ARRAY_BASE = 48
ARRAY_DESCR = 56
ARRAY_FLAGS = 64  # i32
ARRAY_WEAKREFS = 72
ARRAY_HANDLER = 88  # of its memory; see `default_handler`
FLAG_C_CONTIGUOUS = 0x1
FLAG_F_CONTIGUOUS = 0x2
FLAG_OWNDATA = 0x4
FLAG_ALIGNED = 0x100
FLAG_WRITEABLE = 0x400
FLAG_WARN_ON_WRITE = -(2**31)
FLAGS_OF_NEW = FLAG_C_CONTIGUOUS | FLAG_ALIGNED | FLAG_WRITEABLE | FLAG_OWNDATA
DESCR_CLASS = 16  # of elements
DESCR_BYTEORDER = 26  # i8
DESCR_TYPE_NUM = 28  # i32
DESCR_METADATA = 56  # null: nothing was attached to the dtype
DESCR_FIELDS = 96  # a dict: of each name a tuple that begins with the dtype
DESCR_NAMES = 104  # of its fields
SWAPPED_BYTEORDER = ord(">" if sys.byteorder == "little" else "<")
SCALAR_VALUE = 16  # of NumPy scalars

# numpy/_core/include/numpy/__multiarray_api.h: places in the table of the C API
_NUMPY_API = {
    "PyArray_GetNDArrayCVersion": 0,
    "PyArray_Scalar": 60,
    "PyArray_UpdateFlags": 92,
    "PyArray_NewFromDescr": 94,
    "PyArray_Zeros": 183,
    "PyArray_Empty": 184,
    "PyArray_SetBaseObject": 282,
    "PyDataMem_SetHandler": 304,
    "PyDataMem_GetHandler": 305,
}
_NUMPY_ARRAY_TYPE = 2
_NUMPY_DESCR_TYPE = 3
_NUMPY_ABI = 0x02000000
_NUMPY_DEFAULT_HANDLER = 306

TYPE_ITER = 216  # tp_iter
TYPE_NEW = 312  # tp_new
_TYPE_ALLOC = 304  # tp_alloc
MANAGED_DICT = -3 * _WORD  # pointer to the dict of an object's attributes, if it has one

# numpy/_core/include/numpy/ufuncobject.h
_UFUNC_LOOPS = 32
_UFUNC_DATA = 40  # null: none of the loops has any
_UFUNC_NTYPES = 48  # i32
_UFUNC_NAME = 56

# numpy/_core/src/umath/extobj.h: what each kind of error does is a number of three bits
FLOAT_SETTINGS = b"numpy.ufunc.extobj"  # the name of the capsules
LOUD_SETTINGS = 0o6666  # the bits of all but to ignore (0) and to warn (1)


def word_at(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def int32_at(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def method_function(method: types.MethodDescriptorType) -> tuple[int, int]:
    """Give the address of the C function of a built-in class's method, and how it takes its arguments."""
    definition = word_at(id(method) + METHOD_DEF)
    return word_at(definition + _WORD), int32_at(definition + 2 * _WORD)


def python_function(name: str) -> int:
    """Address of a function of CPython's C API."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def type_alloc(cls: type) -> int:
    """Address of the type's allocator, ``PyObject *alloc(type, nitems)``."""
    return word_at(id(cls) + _TYPE_ALLOC)


def type_new(cls: type) -> int:
    """Address of what makes the type's objects, ``PyObject *new(type, args, kwargs)``."""
    return word_at(id(cls) + TYPE_NEW)


def type_iter(cls: type) -> int:
    """Address of what ``iter(x)`` calls for instances; that of a base class if the class has no own ``__iter__``."""
    return word_at(id(cls) + TYPE_ITER)


def _capsule_pointer(capsule: object, name: bytes | None) -> int:
    function = ctypes.pythonapi.PyCapsule_GetPointer
    function.argtypes = (ctypes.py_object, ctypes.c_char_p)
    function.restype = ctypes.c_void_p
    address: int = function(capsule, name)
    return address


@cache
def _numpy_table() -> int:
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]  # not in the stubs
    return _capsule_pointer(capsule, None)


@cache
def numpy_function(name: str) -> int:
    """Address of a function of NumPy's C API (those listed in this file)."""
    return word_at(_numpy_table() + _NUMPY_API[name] * _WORD)


@cache
def numpy_symbols() -> dict[str, int]:
    """Name and address of each function of NumPy's C API that native code may call."""
    return {name: numpy_function(name) for name in _NUMPY_API}


@cache
def ufunc_loop(ufunc: np.ufunc, dtypes: tuple[np.dtype, ...]) -> tuple[int, int]:
    """Give the inner loop of a ufunc for operands and results of these dtypes: function, and what it is given."""
    for index, signature in enumerate(ufunc.types):
        if tuple(map(np.dtype, signature.replace("->", ""))) == dtypes:
            data = word_at(id(ufunc) + _UFUNC_DATA)
            place = index * _WORD
            return word_at(word_at(id(ufunc) + _UFUNC_LOOPS) + place), word_at(
                data + place
            ) if data else 0
    message = f"{ufunc} has no loop for {dtypes}"
    raise InternalError(message)


@cache
def default_handler() -> int:
    """Address of the handler of memory that arrays have by default; 0 if they do not say so where it is expected."""
    found = word_at(word_at(_numpy_table() + _NUMPY_DEFAULT_HANDLER * _WORD))
    probe = np.empty(3)
    return found if word_at(id(probe) + ARRAY_HANDLER) == found else 0


class _Probe:
    """A class whose objects have attributes of their own."""


def attributes_offset(cls: type) -> int | None:
    """Where an object of the class has the dict of its attributes, once there is one; None: not known.

    As long as there is none the word is null or odd.
    """
    return (cls.__dictoffset__ or None) if cls.__dictoffset__ >= 0 else _managed_offset()


@cache
def _managed_offset() -> int | None:
    """Where the interpreter keeps the dict of attributes itself."""
    probe = _Probe()
    attributes = vars(probe)
    return MANAGED_DICT if word_at(id(probe) + MANAGED_DICT) == id(attributes) else None


@cache
def has_dict_versions() -> bool:
    """Whether each change of a dict gives it another version tag (3.11 to 3.13 do)."""
    probe: dict[str, object] = {"a": 1}
    seen = [word_at(id(probe) + DICT_VERSION)]
    changes: tuple[Callable[[], object], ...] = (
        lambda: probe.update(a=2),
        lambda: probe.update(b=2),
        lambda: probe.pop("a"),
        probe.clear,
    )
    for change in changes:
        change()
        seen.append(word_at(id(probe) + DICT_VERSION))
    return len(set(seen)) == len(seen) and word_at(id(probe) + DICT_VERSION) == seen[-1]


# -- the check -----------------------------------------------------------------------------------------


def _expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        message = f"unknown object layout: {what} reads {found!r} where {wanted!r} was written"
        raise InternalError(message)


def _check_numbers() -> None:
    value = 1.5
    _expect(ctypes.c_double.from_address(id(value) + FLOAT_VALUE).value, 1.5, "float")
    number = complex(2.5, -3.5)
    _expect(ctypes.c_double.from_address(id(number) + COMPLEX_REAL).value, 2.5, "complex.real")
    _expect(ctypes.c_double.from_address(id(number) + COMPLEX_IMAG).value, -3.5, "complex.imag")
    for n in (0, 1, -1, 12345, -(2**29), 2**30 - 1):
        tag = ctypes.c_int64.from_address(id(n) + LONG_TAG).value
        sign = tag if LONG_TAG_IS_SIZE else 1 - (tag & 3)
        digit = int32_at(id(n) + LONG_DIGIT)
        _expect(sign * digit if sign else 0, n, "int")
        _expect(abs(tag) <= 1 if LONG_TAG_IS_SIZE else tag < 16, True, "int tag")
    least, most = LEAST_SMALL_INT, LEAST_SMALL_INT + SMALL_INTS - 1
    _expect(id(most) - id(least), (SMALL_INTS - 1) * SMALL_INT_SIZE, "places of small ints")
    big = 2**30
    tag = ctypes.c_int64.from_address(id(big) + LONG_TAG).value
    _expect(tag, 2 if LONG_TAG_IS_SIZE else 16, "int tag of two digits")


def _check_containers() -> None:
    items = (object(), object())
    for container, start in ((items, id(items) + TUPLE_ITEMS), (list(items), 0)):
        _expect(word_at(id(container) + VAR_SIZE), 2, f"size of {type(container).__name__}")
        start = start or word_at(id(container) + LIST_ITEMS)
        _expect(word_at(start + _WORD), id(items[1]), f"item of {type(container).__name__}")
    text = b"ab"
    _expect(word_at(id(text) + VAR_SIZE), 2, "size of bytes")
    _expect(ctypes.string_at(id(text) + BYTES_ITEMS), text, "items of bytes")
    buffer = bytearray(text)
    _expect(word_at(id(buffer) + VAR_SIZE), 2, "size of a bytearray")
    room = sys.getsizeof(buffer) - sys.getsizeof(bytearray())
    _expect(word_at(id(buffer) + BYTEARRAY_ALLOCATED), room, "room of a bytearray")
    _expect(ctypes.string_at(word_at(id(buffer) + BYTEARRAY_START)), text, "bytearray")
    used = memoryview(buffer)
    _expect(word_at(id(buffer) + BYTEARRAY_EXPORTS), 1, "uses of a bytearray")
    used.release()
    grown = [1, 2, 3]
    grown.append(4)
    room = (sys.getsizeof(grown) - sys.getsizeof([])) // _WORD
    _expect(word_at(id(grown) + LIST_ALLOCATED), room, "room of list")
    _expect(word_at(id(items) + OB_TYPE), id(tuple), "type")
    append = vars(list)["append"]
    name = ctypes.string_at(word_at(word_at(id(append) + METHOD_DEF)))
    _expect(name, b"append", "name of a method")
    _expect(method_function(append)[1], METHOD_O, "flags of a method")
    cell = types.CellType(items)
    _expect(word_at(id(cell) + CELL_CONTENT), id(items), "cell")
    _expect(word_at(id(_expect) + FUNCTION_DEFAULTS), 0, "defaults")
    _expect(word_at(id(_expect) + FUNCTION_CODE), id(_expect.__code__), "code")
    maker = types.new_class
    _expect(word_at(id(maker) + FUNCTION_DEFAULTS), id(maker.__defaults__), "defaults")
    known = types.FunctionType(maker.__code__, {})
    known.__kwdefaults__ = {}
    place = id(known) + FUNCTION_KEYWORD_DEFAULTS
    _expect(word_at(place), id(known.__kwdefaults__), "defaults of keyword-only parameters")
    parts = (1000003, 2000003, 7)
    for triple, offsets in (
        (range(*parts), (RANGE_START, RANGE_STOP, RANGE_STEP)),
        (slice(*parts), (SLICE_START, SLICE_STOP, SLICE_STEP)),
    ):
        for part, offset in zip((triple.start, triple.stop, triple.step), offsets, strict=True):
            _expect(word_at(id(triple) + offset), id(part), type(triple).__name__)
    other = type("_Other", (tuple,), {"__iter__": lambda _self: iter(())})
    inherits = [
        type_iter(cls) == type_iter(tuple) for cls in (type("_Same", (tuple,), {}), other, list)
    ]
    _expect(inherits, [True, False, False], "tp_iter")


def _check_numpy() -> None:
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(numpy_function("PyArray_GetNDArrayCVersion"))()
    _expect(version & 0xFF000000, _NUMPY_ABI, "NumPy's ABI version")
    table = _numpy_table()
    _expect(word_at(table + _NUMPY_ARRAY_TYPE * _WORD), id(np.ndarray), "ndarray in NumPy's C API")
    _expect(word_at(table + _NUMPY_DESCR_TYPE * _WORD), id(np.dtype), "dtype in NumPy's C API")
    array = np.zeros((3, 5), np.float32)[:, ::2]
    array.flags.writeable = False
    at = id(array)
    _expect(word_at(at + ARRAY_DATA), array.ctypes.data, "array data")
    _expect(int32_at(at + ARRAY_NDIM), 2, "ndim")
    for offset, wanted in ((ARRAY_DIMENSIONS, array.shape), (ARRAY_STRIDES, array.strides)):
        pointer = word_at(at + offset)
        _expect((word_at(pointer), word_at(pointer + _WORD)), wanted, "shape or strides")
    _expect(word_at(at + ARRAY_BASE), id(array.base), "base")
    _expect(word_at(at + ARRAY_DESCR), id(array.dtype), "dtype")
    known = FLAG_C_CONTIGUOUS | FLAG_ALIGNED | FLAG_WRITEABLE
    _expect(int32_at(at + ARRAY_FLAGS) & known, FLAG_ALIGNED, "flags of a strided array")
    plain = np.zeros(2)
    known = FLAGS_OF_NEW
    _expect(int32_at(id(plain) + ARRAY_FLAGS) & known, known, "flags of a plain array")
    warns = np.broadcast_arrays(plain, [[1], [2]])[0]
    known = FLAG_WARN_ON_WRITE | FLAG_WRITEABLE
    _expect(int32_at(id(warns) + ARRAY_FLAGS) & known, known, "flags of an array that warns")
    _expect(word_at(id(plain) + ARRAY_WEAKREFS), 0, "no weak references")
    weak = weakref.ref(plain)
    _expect(word_at(id(plain) + ARRAY_WEAKREFS), id(weak), "weak references")
    swapped = np.dtype(np.int16).newbyteorder()
    _expect(int32_at(id(swapped) + DESCR_TYPE_NUM), swapped.num, "type number")
    order = ctypes.c_uint8.from_address(id(swapped) + DESCR_BYTEORDER).value
    _expect(order, SWAPPED_BYTEORDER, "byte order")
    _expect(word_at(id(swapped) + DESCR_METADATA), 0, "no metadata of a dtype")
    named = np.dtype([("x", np.int16), ("y", np.int8)])
    _expect(word_at(id(named) + DESCR_NAMES), id(named.names), "names of fields")
    _expect(word_at(id(named) + DESCR_CLASS), id(named.type), "the class of a dtype")
    fields = ctypes.cast(word_at(id(named) + DESCR_FIELDS), ctypes.py_object).value
    _expect(fields["x"], (named["x"], 0), "fields")
    marked = np.dtype(np.int16, metadata={"mark": 1})
    _expect(word_at(id(marked) + DESCR_METADATA) != 0, True, "metadata of a dtype")
    for ufunc in (np.add, np.matmul):
        name = ctypes.string_at(word_at(id(ufunc) + _UFUNC_NAME))
        _expect(name.decode(), ufunc.__name__, "name of a ufunc")
        _expect(int32_at(id(ufunc) + _UFUNC_NTYPES), ufunc.ntypes, "number of a ufunc's loops")


def _check_numpy_scalars() -> None:
    value = np.complex128(1.25 - 2j)
    parts = (ctypes.c_double * 2).from_address(id(value) + SCALAR_VALUE)
    _expect(tuple(parts), (1.25, -2.0), "np.complex128")
    small = np.int8(-7)
    _expect(ctypes.c_int8.from_address(id(small) + SCALAR_VALUE).value, -7, "np.int8")
    for cls in (np.int8, np.float64, np.complex128):
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_ssize_t)
        made = make(type_alloc(cls))(cls, 0)
        _expect(type(made), cls, "tp_alloc")
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    _expect(type(new(type_new(object))(object, (), None)), object, "tp_new")


def _check_float_settings() -> None:
    known = np.errstate(divide="raise", over="call", under="print", invalid="warn")
    for settings, wanted in ((known, 0o1432), (np.errstate(all="log"), 0o5555)):
        with settings:
            found = int32_at(_capsule_pointer(SETTINGS.get(), FLOAT_SETTINGS))
        _expect(found, wanted, "settings of floats")


@cache
def check() -> None:
    """Read known objects through the offsets; raise `InternalError` if one reads wrong."""
    _expect(sys.implementation.name, "cpython", "the interpreter's name")
    _expect(ctypes.sizeof(ctypes.c_void_p), _WORD, "the size of a pointer")
    if hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled():
        message = "unknown object layout: the free-threaded build"
        raise InternalError(message)
    probe = object()
    _expect(word_at(id(probe) + OB_REFCNT) & 0xFFFFFFFF, sys.getrefcount(probe) - 1, "refcount")
    if IS_IMMORTAL_AWARE:
        _expect(int32_at(id(None) + OB_REFCNT), -1, "refcount of an immortal object")
    _check_numbers()
    _check_containers()
    _check_numpy()
    _check_numpy_scalars()
    _check_float_settings()
