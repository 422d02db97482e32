"""Memory of large arrays that native code makes: blocks that are kept and used again.

The first touch of fresh memory costs several times as much as computing what is written to it. So blocks come from a
cache that is bounded in bytes and count, and go back to it whoever frees the array: each array has a handler of its
memory (NEP 49) whose functions are these, compiled once, when the first large array was made, and never unmapped.
Blocks are aligned to 64 bytes; large ones lie on huge pages. To the program they are arrays that own their memory;
arrays of a program with a handler of its own, small ones, and all of them where memory is not had by `mmap`, are made
by NumPy alone.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

from ljit import config
from ljit.codegen.arrays.array_compare import compare
from ljit.codegen.arrays.block_cache import CACHE, LEAST
from ljit.codegen.layouts.layout import (
    ARRAY_DATA,
    ARRAY_DIMENSIONS,
    ARRAY_FLAGS,
    ARRAY_HANDLER,
    ARRAY_NDIM,
    FLAG_ALIGNED,
    FLAG_C_CONTIGUOUS,
    FLAG_F_CONTIGUOUS,
    FLAG_OWNDATA,
    FLAG_WRITEABLE,
    LIST_ITEMS,
    OB_TYPE,
    TUPLE_ITEMS,
    VAR_SIZE,
    default_handler,
)
from ljit.codegen.llvm import engine
from ljit.codegen.llvm.builder import Ref, address

__all__ = [
    "array_maker",
    "array_renewer",
    "array_taker",
    "call_on_blocks",
    "kept_bytes",
    "release_memory",
    "set_limit",
]

_LAZY_ZEROS = 1 << 24  # above, zeros are fresh memory: the program may never touch most of it
#: arguments of a call, and items of each that is a tuple or list: one large array will do
_LOOKED_AT = 4
_TRACE_DOMAIN = 389047  # NumPy's, of tracemalloc

_DECLARATIONS = """declare i32 @PyTraceMalloc_Track(i32, i64, i64)
declare ptr @PyDataMem_GetHandler()
declare ptr @PyDataMem_SetHandler(ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
"""

_PLAIN = """declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyArray_Empty(i32, ptr, ptr, i32)
declare ptr @PyArray_Zeros(i32, ptr, ptr, i32)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
define ptr @plain_array(i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i32 %fortran, i1 %zero) {
  call void @Py_IncRef(ptr %descriptor)
  br i1 %zero, label %zeros, label %empty
zeros:
  %cleared = call ptr @PyArray_Zeros(i32 %ndim, ptr %dims, ptr %descriptor, i32 %fortran)
  ret ptr %cleared
empty:
  %raw = call ptr @PyArray_Empty(i32 %ndim, ptr %dims, ptr %descriptor, i32 %fortran)
  ret ptr %raw
}
"""

_PARAMS = "i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i32 %fortran, i1 %zero"
_CARRAY = FLAG_C_CONTIGUOUS | FLAG_ALIGNED | FLAG_WRITEABLE
_FARRAY = FLAG_F_CONTIGUOUS | FLAG_ALIGNED | FLAG_WRITEABLE


def _new_array() -> str:
    """The function that makes an array; NumPy checks its sizes, also that their product does not overflow."""
    return f"""define ptr @new_array({_PARAMS}) {{
  %is.small = icmp ult i64 %bytes, {LEAST}
  br i1 %is.small, label %plain, label %ask
ask:
  %handler = call ptr @PyDataMem_GetHandler()
  call void @Py_DecRef(ptr %handler)
  %is.usual = icmp eq ptr %handler, {address(default_handler())}
  br i1 %is.usual, label %choose, label %plain
choose:
  %is.large = icmp ugt i64 %bytes, {_LAZY_ZEROS}
  %is.lazy = and i1 %is.large, %zero
  br i1 %is.lazy, label %fresh, label %get
fresh:
  %length = call i64 @length_for(i64 %bytes)
  %zeros = call ptr @fresh(i64 %length)
  br label %got
get:
  %block = call ptr @get(i64 %bytes)
  br label %got
got:
  %data = phi ptr [ %zeros, %fresh ], [ %block, %get ]
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %plain, label %make
make:
  call void @Py_IncRef(ptr %descriptor)
  %is.fortran = icmp ne i32 %fortran, 0
  %order = select i1 %is.fortran, i32 {_FARRAY}, i32 {_CARRAY}
  %array = call ptr @PyArray_NewFromDescr(ptr {address(id(np.ndarray))}, ptr %descriptor, i32 %ndim, ptr %dims,
    ptr null, ptr %data, i32 %order, ptr null)
  %is.refused = icmp eq ptr %array, null
  br i1 %is.refused, label %drop, label %own
drop:
  call void @put(ptr %data)
  ret ptr null
own:
  %flags.at = getelementptr i8, ptr %array, i64 {ARRAY_FLAGS}
  %flags = load i32, ptr %flags.at
  %owning = or i32 %flags, {FLAG_OWNDATA}
  store i32 %owning, ptr %flags.at
  %capsule = load ptr, ptr @capsule
  call void @Py_IncRef(ptr %capsule)
  %capsule.at = getelementptr i8, ptr %array, i64 {ARRAY_HANDLER}
  store ptr %capsule, ptr %capsule.at
  %place = ptrtoint ptr %data to i64
  %traced = call i32 @PyTraceMalloc_Track(i32 {_TRACE_DOMAIN}, i64 %place, i64 %bytes)
  br i1 %zero, label %clear, label %done
clear:
  call void @clear_used(ptr %data, i64 %bytes)
  ret ptr %array
done:
  ret ptr %array
plain:
  %made = call ptr @plain_array(i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i32 %fortran, i1 %zero)
  ret ptr %made
}}
"""


def _is_large() -> str:
    """Whether an object is an array of many elements."""
    return f"""define internal i1 @is_large(ptr %x) {{
  %class.at = getelementptr i8, ptr %x, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is.array = icmp eq ptr %class, {address(id(np.ndarray))}
  br i1 %is.array, label %array, label %no
no:
  ret i1 false
array:
  %ndim.at = getelementptr i8, ptr %x, i64 {ARRAY_NDIM}
  %sizes.at = getelementptr i8, ptr %x, i64 {ARRAY_DIMENSIONS}
  %ndim = load i32, ptr %ndim.at
  %sizes = load ptr, ptr %sizes.at
  br label %axis
axis:
  %k = phi i32 [ 0, %array ], [ %following, %next ]
  %count = phi i64 [ 1, %array ], [ %product, %next ]
  %is.end = icmp eq i32 %k, %ndim
  br i1 %is.end, label %end, label %next
next:
  %size.at = getelementptr i64, ptr %sizes, i32 %k
  %size = load i64, ptr %size.at
  %product = mul i64 %count, %size
  %following = add i32 %k, 1
  br label %axis
end:
  %is.large = icmp uge i64 %count, {LEAST // 8}
  ret i1 %is.large
}}
"""


def _has_large() -> str:
    """Whether one of some objects, or of the items of one that is a tuple or list, is an array of many elements."""
    return f"""define internal i1 @has_large(ptr %items, i64 %all, i1 %looks.inside) {{
entry:
  %is.few = icmp ult i64 %all, {_LOOKED_AT}
  %count = select i1 %is.few, i64 %all, i64 {_LOOKED_AT}
  br label %item
item:
  %k = phi i64 [ 0, %entry ], [ %following, %next ]
  %is.end = icmp eq i64 %k, %count
  br i1 %is.end, label %no, label %look
no:
  ret i1 false
look:
  %item.at = getelementptr ptr, ptr %items, i64 %k
  %x = load ptr, ptr %item.at
  %following = add i64 %k, 1
  %is.large = call i1 @is_large(ptr %x)
  br i1 %is.large, label %yes, label %more
yes:
  ret i1 true
more:
  %class.at = getelementptr i8, ptr %x, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is.tuple = icmp eq ptr %class, {address(id(tuple))}
  %is.list = icmp eq ptr %class, {address(id(list))}
  %is.either = or i1 %is.tuple, %is.list
  %is.outer = and i1 %is.either, %looks.inside
  br i1 %is.outer, label %inside, label %next
inside:
  %size.at = getelementptr i8, ptr %x, i64 {VAR_SIZE}
  %size = load i64, ptr %size.at
  %list.at = getelementptr i8, ptr %x, i64 {LIST_ITEMS}
  %list = load ptr, ptr %list.at
  %tuple = getelementptr i8, ptr %x, i64 {TUPLE_ITEMS}
  %inner = select i1 %is.list, ptr %list, ptr %tuple
  %is.inner = call i1 @has_large(ptr %inner, i64 %size, i1 false)
  br i1 %is.inner, label %yes, label %next
next:
  br label %item
}}
"""


def _call() -> str:
    """A call of a function of NumPy's. If an operand is large, the arrays that it makes get blocks as well."""
    usual = address(default_handler())
    return f"""{_is_large()}{_has_large()}define ptr @call_on_blocks(ptr %callee, ptr %args, i64 %count, ptr %names) {{
  %few = and i64 %count, {(1 << 63) - 1}
  %is.large = call i1 @has_large(ptr %args, i64 %few, i1 true)
  br i1 %is.large, label %ask, label %plain
plain:
  %made = call ptr @PyObject_Vectorcall(ptr %callee, ptr %args, i64 %count, ptr %names)
  ret ptr %made
ask:
  %handler = call ptr @PyDataMem_GetHandler()
  call void @Py_DecRef(ptr %handler)
  %is.usual = icmp eq ptr %handler, {usual}
  br i1 %is.usual, label %set, label %plain
set:
  %capsule = load ptr, ptr @capsule
  %old = call ptr @PyDataMem_SetHandler(ptr %capsule)
  %failed = icmp eq ptr %old, null
  br i1 %failed, label %error, label %go
error:
  ret ptr null
go:
  call void @Py_DecRef(ptr %old)
  %result = call ptr @PyObject_Vectorcall(ptr %callee, ptr %args, i64 %count, ptr %names)
  %class = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %class, ptr %value, ptr %trace)
  %own = call ptr @PyDataMem_SetHandler(ptr {usual})
  call void @Py_DecRef(ptr %own)
  %class.set = load ptr, ptr %class
  %value.set = load ptr, ptr %value
  %trace.set = load ptr, ptr %trace
  call void @PyErr_Restore(ptr %class.set, ptr %value.set, ptr %trace.set)
  ret ptr %result
}}
"""


def _entries() -> str:
    """What units call: it works without the functions above until the first large array, which asks for them."""
    return _ask() + _MAKE_ARRAY + _REUSE_ARRAY + _is_large() + _CALL_FUNCTION


def _ask() -> str:
    """Have CPython compile the functions above when it comes to it."""
    asks = f"call i32 @Py_AddPendingCall(ptr {address(_when_asked())}, ptr null)"
    return f"""@asked = internal global i8 0
declare i32 @Py_AddPendingCall(ptr, ptr)
define internal void @ask() {{
  %was = load i8, ptr @asked
  %is.new = icmp eq i8 %was, 0
  store i8 1, ptr @asked
  br i1 %is.new, label %now, label %done
now:
  %pending = {asks if _has_blocks() else "or i1 false, false"}
  br label %done
done:
  ret void
}}
"""


_MAKE_ARRAY = f"""@maker = global ptr null
define ptr @make_array({_PARAMS}) {{
  %is.small = icmp ult i64 %bytes, {LEAST}
  br i1 %is.small, label %plain, label %look
look:
  %maker = load ptr, ptr @maker
  %none = icmp eq ptr %maker, null
  br i1 %none, label %ask, label %call
call:
  %made = call ptr %maker({_PARAMS})
  ret ptr %made
ask:
  call void @ask()
  br label %plain
plain:
  %own = call ptr @plain_array({_PARAMS})
  ret ptr %own
}}
"""

_REUSE_ARRAY = f"""declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define ptr @take_array(ptr %slot, i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i32 %fortran) {{
  %old = load ptr, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %make, label %compare
{compare("1")}reuse:
  store ptr null, ptr %slot
  ret ptr %old
make:
  %new = call ptr @make_array(i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i32 %fortran, i1 false)
  ret ptr %new
}}
define ptr @renew_array(ptr %slot, {_PARAMS}, ptr %spent) {{
  %old = load ptr, ptr %slot
  %is.spent = icmp eq ptr %old, %spent
  %ours = select i1 %is.spent, i64 2, i64 1
  %none = icmp eq ptr %old, null
  br i1 %none, label %make, label %compare
{compare("%ours")}reuse:
  br i1 %zero, label %clear, label %done
clear:
  %data.at = getelementptr i8, ptr %old, i64 {ARRAY_DATA}
  %data = load ptr, ptr %data.at
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  ret ptr %old
done:
  ret ptr %old
make:
  %new = call ptr @make_array({_PARAMS})
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %keep
keep:
  store ptr %new, ptr %slot
  call void @Py_DecRef(ptr %old)
  br label %end
end:
  ret ptr %new
}}
"""

_CALL_FUNCTION = """@caller = global ptr null
define ptr @call_function(ptr %callee, ptr %args, i64 %count, ptr %names) {
  %caller = load ptr, ptr @caller
  %none = icmp eq ptr %caller, null
  br i1 %none, label %plain, label %call
call:
  %result = call ptr %caller(ptr %callee, ptr %args, i64 %count, ptr %names)
  ret ptr %result
plain:
  %made = call ptr @PyObject_Vectorcall(ptr %callee, ptr %args, i64 %count, ptr %names)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %look
look:
  %is.large = call i1 @is_large(ptr %made)
  br i1 %is.large, label %ask, label %done
ask:
  call void @ask()
  br label %done
done:
  ret ptr %made
}
"""


@cache
def _when_asked() -> int:
    """Address of a function ``int f(void *)`` that compiles what is missing, for CPython to call in between."""

    def load(_argument: object) -> int:
        _module()
        return 0

    function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(load)
    engine.keep_forever(function)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def _entry_module() -> engine.CompiledModule:
    """What units call, compiled before the first of them."""
    text = _PLAIN + _entries()
    exports = ("take_array", "renew_array", "call_function", "maker", "caller")
    compiled = engine.compile_ir(text, "make_array", exports=exports, optimize=False)
    engine.keep_forever(compiled)
    return compiled


@cache
def _has_blocks() -> bool:
    return sys.platform == "linux" and default_handler() != 0


@cache
def _module() -> engine.CompiledModule:
    """The compiled functions. Arrays may be freed when all modules are gone: they stay for ever."""
    text = _DECLARATIONS + _PLAIN + CACHE + _new_array() + _call()
    exports = (
        "call_on_blocks",
        "release_all",
        "kept",
        "limit",
        "capsule",
        "capsule_name",
        "handler",
    )
    compiled = engine.compile_ir(text, "new_array", exports=exports, optimize=False)
    engine.keep_forever(compiled)
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    make_capsule.restype = ctypes.py_object
    capsule = make_capsule(compiled.symbol("handler"), compiled.symbol("capsule_name"), None)
    engine.keep_forever(capsule)
    ctypes.c_uint64.from_address(compiled.symbol("capsule")).value = id(capsule)
    limit = config.settings().kept_memory << 20
    ctypes.c_int64.from_address(compiled.symbol("limit")).value = limit
    for word, name in (("maker", "new_array"), ("caller", "call_on_blocks")):
        ctypes.c_uint64.from_address(_entry_module().symbol(word)).value = compiled.symbol(name)
    return compiled


def array_maker() -> Ref:
    """The native function ``(i32 ndim, ptr dims, ptr descriptor, i64 bytes, i32 fortran, i1 zero)``.

    It gives a fresh contiguous array, or null and an error. It takes no reference to the descriptor.
    """
    return address(_entry_module().address)


def array_taker() -> Ref:
    """The native function ``(ptr slot, i32 ndim, ptr dims, ptr descriptor, i64 bytes, i32 fortran)``.

    It takes the array in the slot if it is alike and nobody else has it, else makes one as above.
    """
    return address(_entry_module().symbol("take_array"))


def array_renewer() -> Ref:
    """The native function ``(ptr slot, ..., ptr spent)``, with the operands of `array_maker` in between.

    It leaves the array in the slot there if it is as above, else puts another one there; it gives the array borrowed.
    The array `spent` (or null) may have another reference, which nobody needs any more.
    """
    return address(_entry_module().symbol("renew_array"))


def call_on_blocks() -> str | None:
    """What to call instead of `PyObject_Vectorcall` for a function of NumPy's; None: nothing."""
    return address(_entry_module().symbol("call_function")).text if _has_blocks() else None


def release_memory() -> None:
    """Give all memory that is kept for further arrays back to the system."""
    if _has_blocks() and _module.cache_info().currsize:
        ctypes.CFUNCTYPE(None)(_module().symbol("release_all"))()


def kept_bytes() -> int:
    """How much memory is kept now."""
    if not _has_blocks() or not _module.cache_info().currsize:
        return 0
    return ctypes.c_int64.from_address(_module().symbol("kept")).value


def set_limit(count: int) -> None:
    """Keep at most so many bytes from now on."""
    if _has_blocks():
        ctypes.c_int64.from_address(_module().symbol("limit")).value = count
        release_memory()
