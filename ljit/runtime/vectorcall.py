"""The type behind `ljit.Function`: a Python class plus machine words, the last of which holds a vectorcall entry.

`make_function_type` builds the type at run time from an ordinary Python class, so that no C extension
is needed. As long as an object's word is NULL, CPython calls the class's ``__call__``; after
`set_vectorcall` it jumps straight to the given address, for every kind of call.

The entry lives in memory that somebody else owns: whoever sets an address keeps the code alive for as
long as a call may be inside it. So it is with the plain function in the first word, to which an entry that all objects
share hands as many calls as the second word says (`ljit/runtime/passing.py`).
"""

from __future__ import annotations

import ctypes
from types import FunctionType

from ljit.errors import InternalError, Raised

__all__ = [
    "TYPE_OF_OBJECT",
    "TYPE_VECTORCALL_OFFSET",
    "Raised",
    "calls_left",
    "get_vectorcall",
    "make_function_type",
    "place_of_calls_left",
    "set_passed_calls",
    "set_vectorcall",
    "vectorcall_place",
]

_POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)
_WORDS = 3  # the plain function, how many calls it gets, the vectorcall entry

# Include/object.h, typeslots.h and structmember.h: part of the stable ABI.
# HAVE_VERSION_TAG; the other bits of the default are inherited or unused
_TPFLAGS_DEFAULT = 1 << 18
_TPFLAGS_HAVE_VECTORCALL = 1 << 11
_TPFLAGS_METHOD_DESCRIPTOR = 1 << 17
_TPFLAGS_IMMUTABLETYPE = 1 << 8
# where a type has its flags, and where its objects have what calls of them jump to; where objects have their type
_TYPE_FLAGS = 168
TYPE_VECTORCALL_OFFSET = 56
TYPE_OF_OBJECT = 8
_TP_DESCR_GET = 54
_TP_MEMBERS = 72
_T_PYSSIZET = 19
_READONLY = 1


class _MemberDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


_from_spec = ctypes.pythonapi.PyType_FromSpecWithBases
_from_spec.argtypes = (ctypes.POINTER(_Spec), ctypes.py_object)
_from_spec.restype = ctypes.py_object
_get_slot = ctypes.pythonapi.PyType_GetSlot
_get_slot.argtypes = (ctypes.py_object, ctypes.c_int)
_get_slot.restype = ctypes.c_void_p

# CPython keeps pointers into the name and the members of a type made from a spec (up to 3.11).
_specs: list[object] = []


def make_function_type(base: type, *, module: str | None = None) -> type:
    """Derive a type from `base` whose instances have a vectorcall slot and two more words, zero at first.

    `base` is an ordinary Python class with ``__call__`` (the slow path); the new type takes its name and documentation,
    and its module unless another one is given. Its objects bind as functions do, by the very C function that binds
    those, and ``obj.f(x)`` goes through CPython's fast path for methods: no bound method is made. The type cannot be
    subclassed.
    """
    name = f"{module or base.__module__}.{base.__qualname__}".encode()
    members = (_MemberDef * 2)(
        _MemberDef(
            b"__vectorcalloffset__",
            _T_PYSSIZET,
            base.__basicsize__ + (_WORDS - 1) * _POINTER_SIZE,
            _READONLY,
            None,
        )
    )
    slots = (_Slot * 3)(
        _Slot(_TP_MEMBERS, ctypes.addressof(members)),
        _Slot(_TP_DESCR_GET, _get_slot(FunctionType, _TP_DESCR_GET)),
    )
    flags = _TPFLAGS_DEFAULT | _TPFLAGS_HAVE_VECTORCALL | _TPFLAGS_METHOD_DESCRIPTOR
    size = base.__basicsize__ + _WORDS * _POINTER_SIZE
    spec = _Spec(name, size, 0, flags, slots)
    _specs.append((name, members, slots, spec))
    made: type = _from_spec(ctypes.byref(spec), (base,))
    made.__doc__ = base.__doc__
    _make_immutable(made)
    if made.__basicsize__ != spec.basicsize:
        raise InternalError(f"a type of {spec.basicsize} bytes was made with {made.__basicsize__}")
    return made


def _make_immutable(made: type) -> None:
    """Let nobody set attributes of the type: CPython's instructions rely on how its objects bind only then.

    The flag is set afterwards, since a spec may not have it where bases are mutable.
    """
    flags = ctypes.c_ulong.from_address(id(made) + _TYPE_FLAGS)
    if flags.value != made.__flags__:
        raise InternalError("a type has its flags elsewhere")
    flags.value |= _TPFLAGS_IMMUTABLETYPE


def _slot(obj: object) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(id(obj) + type(obj).__basicsize__ - _POINTER_SIZE)


def set_vectorcall(obj: object, address: int) -> None:
    """Make calls of `obj` (of a type made here) jump to `address`; 0: back to ``__call__``."""
    _slot(obj).value = address or None


def get_vectorcall(obj: object) -> int:
    """Give the address that calls of `obj` jump to, 0 if that is ``__call__``."""
    return _slot(obj).value or 0


def _words_of(cls: type) -> int:
    return cls.__basicsize__ - _WORDS * _POINTER_SIZE


def vectorcall_place(cls: type) -> int:
    """Where objects of a type have the address that calls of them jump to."""
    return ctypes.c_ssize_t.from_address(id(cls) + TYPE_VECTORCALL_OFFSET).value


def set_passed_calls(obj: object, function: FunctionType, calls: int) -> None:
    """Say to which plain function an entry may hand how many calls of `obj`; the caller keeps the function alive."""
    ctypes.c_void_p.from_address(id(obj) + _words_of(type(obj))).value = id(function)
    ctypes.c_int64.from_address(place_of_calls_left(obj)).value = calls


def calls_left(obj: object) -> int:
    """How many calls of those set are left; negative when one more came."""
    return ctypes.c_int64.from_address(place_of_calls_left(obj)).value


def place_of_calls_left(obj: object) -> int:
    """The address of that number."""
    return id(obj) + _words_of(type(obj)) + _POINTER_SIZE
