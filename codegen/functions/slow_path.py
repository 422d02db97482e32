"""What native code needs once a process: the slow path of calls, and the check of the stack's depth.

`slow_entry` is the entry behind the last specialisation: it calls ``self._slow_call(args, kwargs)`` in Python.
`leave(helper, units, ...)` is what an exit calls: it calls the helper with what `Py_BuildValue` makes of the rest, and
makes of a `Raised` that it gives the error that this holds.
`choose_side(cell, elements)` says who runs a call (`choice.py`), and `call_plainly(function, args, nargsf, kwnames)`
calls a plain function, unless the stack is nearly full.
`take_error()` gives the exception that is set, with its traceback, and unsets it. `add_context(handled)` gives the one
that is set the context that it gets where `handled` is being handled.
`are_same(table, count)` looks up variables that code takes for granted. `is_array(object, ...)` says whether an object
is an array of some kind.
`enter_recursive_call` guards code that can come back to itself: CPython's recursion limit holds in it, and the
machine's stack does not overflow however high that limit was set. The functions of `gil.py` and `float_settings.py` are
in the same module.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

from ljit.codegen.functions.float_settings import settings_text
from ljit.codegen.functions.gil import SUPPORT_NAMES, support_text
from ljit.codegen.functions.granted_frames import GRANT_NAMES, grant_text
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import FALSE, NULL, BlockRef, FunctionBuilder, Ref, address, integer
from ljit.codegen.llvm.engine import CompiledModule, compile_ir
from ljit.errors import Raised

__all__ = ["check_stack", "enter_recursive_call", "leave_recursive_call", "slow_entry", "support"]

# -- recursion -----------------------------------------------------------------------------------------

#: lowest usable address and size of the stack that the last check found; at first no stack, so that it looks
_stack = (ctypes.c_uint64 * 2)(0, 0)
_STACK_RESERVE = 512 * 1024  # left for what runs between two checks; of a small stack, half
_RECURSION_ERROR = "maximum recursion depth exceeded"

# glibc tells where the stack of a thread lies; elsewhere any address is taken as good.
_FIND_STACK = """
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
define internal void @find_stack(ptr %bounds) noinline {
  %attributes = alloca [16 x i64], align 8
  %low.place = alloca i64, align 8
  %size.place = alloca i64, align 8
  %thread = call i64 @pthread_self()
  %status = call i32 @pthread_getattr_np(i64 %thread, ptr %attributes)
  %found = icmp eq i32 %status, 0
  br i1 %found, label %read, label %unknown
read:
  %ignored = call i32 @pthread_attr_getstack(ptr %attributes, ptr %low.place, ptr %size.place)
  %ignored.too = call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load i64, ptr %low.place
  %size = load i64, ptr %size.place
  %half = lshr i64 %size, 1
  %is.small = icmp ult i64 %half, RESERVE
  %reserve = select i1 %is.small, i64 %half, i64 RESERVE
  %usable.low = add i64 %low, %reserve
  %usable.size = sub i64 %size, %reserve
  br label %store
unknown:
  br label %store
store:
  %new.low = phi i64 [ %usable.low, %read ], [ 0, %unknown ]
  %new.size = phi i64 [ %usable.size, %read ], [ -1, %unknown ]
  store i64 %new.low, ptr %bounds
  %second = getelementptr i64, ptr %bounds, i64 1
  store i64 %new.size, ptr %second
  ret void
}
""".replace("RESERVE", str(_STACK_RESERVE))
_NO_STACK = """
define internal void @find_stack(ptr %bounds) {
  store i64 0, ptr %bounds
  %second = getelementptr i64, ptr %bounds, i64 1
  store i64 -1, ptr %second
  ret void
}
"""

# The bounds are those of the thread that looked last: an address outside of them may be good.
_CHECK_STACK = """
declare void @PyErr_SetString(ptr, ptr)
@PyExc_RecursionError = external global ptr
@message = private constant [MESSAGE_SIZE x i8] c"MESSAGE\\00"
define i32 @check_stack(i64 %here) noinline {
  %bounds = inttoptr i64 BOUNDS to ptr
  call void @find_stack(ptr %bounds)
  %second = getelementptr i64, ptr %bounds, i64 1
  %low = load i64, ptr %bounds
  %size = load i64, ptr %second
  %offset = sub i64 %here, %low
  %good = icmp ult i64 %offset, %size
  br i1 %good, label %done, label %overflow
done:
  ret i32 0
overflow:
  %class = load ptr, ptr @PyExc_RecursionError
  call void @PyErr_SetString(ptr %class, ptr @message)
  ret i32 -1
}
"""


def _check_stack_text() -> str:
    text = _CHECK_STACK.replace("MESSAGE_SIZE", str(len(_RECURSION_ERROR) + 1))
    text = text.replace("MESSAGE", _RECURSION_ERROR)
    text = text.replace("BOUNDS", str(ctypes.addressof(_stack)))
    has_glibc = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "pthread_getattr_np")
    return (_FIND_STACK if has_glibc else _NO_STACK) + text


def check_stack(f: FunctionBuilder, failed: BlockRef, is_full: Ref = FALSE) -> None:
    """Go to `failed` with RecursionError near the end of the machine's stack, or if `is_full`."""
    here = f.convert("ptrtoint", f.alloca("i8"), "i64")
    here = f.select(is_full, integer("i64", -1), here)
    low = f.load("i64", address(ctypes.addressof(_stack)))
    size = f.load("i64", address(ctypes.addressof(_stack) + 8))
    look, good = f.new_block("look"), f.new_block("stack")
    outside = f.icmp("uge", f.binary("sub", here, low), size)
    f.condbr(outside, look, good, unlikely=True)
    if f.start(look, cold=True):
        status = f.call("i32", support("check_stack"), (here,))
        f.condbr(f.icmp("ne", status, 0), failed, good, unlikely=True)
    f.start(good)


def _stack_check(place: str, following: str) -> str:
    """The same as text: from the stack memory at `place` to the block `following`, or to one that is named ``fail``."""
    return f"""%here = ptrtoint ptr {place} to i64
  %bounds = inttoptr i64 {ctypes.addressof(_stack)} to ptr
  %bounds.size = getelementptr i64, ptr %bounds, i64 1
  %low = load i64, ptr %bounds
  %size = load i64, ptr %bounds.size
  %offset = sub i64 %here, %low
  %inside = icmp ult i64 %offset, %size
  br i1 %inside, label %{following}, label %look
look:
  %overflow = call i32 @check_stack(i64 %here)
  %is.full = icmp ne i32 %overflow, 0
  br i1 %is.full, label %fail, label %{following}"""


def enter_recursive_call(f: FunctionBuilder) -> None:
    """Count a nested call as CPython does; at the limit, or near the end of the stack, return.

    RecursionError is set then.
    """
    overflow = f.new_block("overflow")
    check_stack(f, overflow)
    status = f.call_external("i32", "Py_EnterRecursiveCall", (f.module.string(""),))
    entered = f.new_block("entered")
    f.condbr(f.icmp("ne", status, 0), overflow, entered, unlikely=True)
    if f.start(overflow, cold=True):
        f.ret(NULL)
    f.start(entered)


def leave_recursive_call(f: FunctionBuilder) -> None:
    """The counterpart, before each return of a function that has entered."""
    f.call_external("void", "Py_LeaveRecursiveCall", ())


# -- the slow path -------------------------------------------------------------------------------------

_SLOW_NAME = sys.intern("_slow_call")

_SLOW_ENTRY = f"""
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)

define ptr @slow_entry(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames) nounwind {{
entry:
  %stack = alloca [4 x ptr], align 8
  {_stack_check("%stack", "start")}
start:
  %count = and i64 %nargsf, {2**63 - 1}
  %tuple = call ptr @PyTuple_New(i64 %count)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %fail, label %items
items:
  %i = phi i64 [ 0, %start ], [ %next.i, %item ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %item, label %keywords
item:
  %place = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %place
  call void @Py_IncRef(ptr %arg)
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %i, ptr %arg)
  %next.i = add i64 %i, 1
  br label %items
keywords:
  %positional.only = icmp eq ptr %kwnames, null
  br i1 %positional.only, label %none, label %dict
none:
  %none.object = inttoptr i64 {id(None)} to ptr
  call void @Py_IncRef(ptr %none.object)
  br label %call
dict:
  %names = call i64 @PyTuple_Size(ptr %kwnames)
  %new = call ptr @PyDict_New()
  %no.dict = icmp eq ptr %new, null
  br i1 %no.dict, label %fail.tuple, label %pairs
pairs:
  %k = phi i64 [ 0, %dict ], [ %next.k, %pair ]
  %more.k = icmp ult i64 %k, %names
  br i1 %more.k, label %pair, label %call
pair:
  %key = call ptr @PyTuple_GetItem(ptr %kwnames, i64 %k)
  %index = add i64 %count, %k
  %value.place = getelementptr ptr, ptr %args, i64 %index
  %value = load ptr, ptr %value.place
  %status = call i32 @PyDict_SetItem(ptr %new, ptr %key, ptr %value)
  %next.k = add i64 %k, 1
  %bad = icmp slt i32 %status, 0
  br i1 %bad, label %fail.dict, label %pairs
call:
  %kwargs = phi ptr [ %none.object, %none ], [ %new, %pairs ]
  %first = getelementptr ptr, ptr %stack, i64 1
  %second = getelementptr ptr, ptr %stack, i64 2
  %third = getelementptr ptr, ptr %stack, i64 3
  store ptr %self, ptr %first
  store ptr %tuple, ptr %second
  store ptr %kwargs, ptr %third
  %name = inttoptr i64 {id(_SLOW_NAME)} to ptr
  %result = call ptr @PyObject_VectorcallMethod(ptr %name, ptr %first, i64 {3 - 2**63}, ptr null)
  call void @Py_DecRef(ptr %tuple)
  call void @Py_DecRef(ptr %kwargs)
  %left = call ptr @helper_result(ptr %result)
  ret ptr %left
fail.dict:
  call void @Py_DecRef(ptr %new)
  br label %fail.tuple
fail.tuple:
  call void @Py_DecRef(ptr %tuple)
  br label %fail
fail:
  ret ptr null
}}

define internal ptr @helper_result(ptr %result) nounwind {{
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %done, label %check
check:
  %class.place = getelementptr i8, ptr %result, i64 {layout.OB_TYPE}
  %class = load ptr, ptr %class.place
  %raised = inttoptr i64 {id(Raised)} to ptr
  %is.raised = icmp eq ptr %class, %raised
  br i1 %is.raised, label %raise, label %done
done:
  ret ptr %result
raise:
  %error.place = getelementptr i8, ptr %result, i64 {layout.TUPLE_ITEMS}
  %error = load ptr, ptr %error.place
  %trace.place = getelementptr i8, ptr %result, i64 {layout.TUPLE_ITEMS + 8}
  %trace = load ptr, ptr %trace.place
  %error.class.place = getelementptr i8, ptr %error, i64 {layout.OB_TYPE}
  %error.class = load ptr, ptr %error.class.place
  %none.value = inttoptr i64 {id(None)} to ptr
  %no.trace = icmp eq ptr %trace, %none.value
  %trace.or.null = select i1 %no.trace, ptr null, ptr %trace
  call void @Py_IncRef(ptr %error.class)
  call void @Py_IncRef(ptr %error)
  call void @Py_IncRef(ptr %trace.or.null)
  call void @Py_DecRef(ptr %result)
  call void @PyErr_Restore(ptr %error.class, ptr %error, ptr %trace.or.null)
  ret ptr null
}}
"""

# All in one: what each exit calls is in the code of all programs.
_LEAVE = """
declare void @llvm.va_start(ptr)
declare void @llvm.va_end(ptr)
declare ptr @Py_VaBuildValue(ptr, ptr)
declare ptr @PyObject_CallObject(ptr, ptr)
define ptr @leave(ptr %helper, ptr %units, ...) nounwind {
entry:
  %rest = alloca [3 x i64], align 16
  %granted = call i32 @grant_frames()
  call void @llvm.va_start(ptr %rest)
  %operands = call ptr @Py_VaBuildValue(ptr %units, ptr %rest)
  call void @llvm.va_end(ptr %rest)
  %failed = icmp eq ptr %operands, null
  br i1 %failed, label %done, label %call
call:
  %given = call ptr @PyObject_CallObject(ptr %helper, ptr %operands)
  call void @Py_DecRef(ptr %operands)
  br label %done
done:
  %result = phi ptr [ null, %entry ], [ %given, %call ]
  call void @withdraw_frames(i32 %granted)
  %left = call ptr @helper_result(ptr %result)
  ret ptr %left
}
"""

_TAKE_ERROR = """
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
define ptr @take_error() nounwind {
  %class.place = alloca ptr
  %error.place = alloca ptr
  %trace.place = alloca ptr
  call void @PyErr_Fetch(ptr %class.place, ptr %error.place, ptr %trace.place)
  call void @PyErr_NormalizeException(ptr %class.place, ptr %error.place, ptr %trace.place)
  %class = load ptr, ptr %class.place
  %error = load ptr, ptr %error.place
  %trace = load ptr, ptr %trace.place
  call void @Py_DecRef(ptr %class)
  %no.trace = icmp eq ptr %trace, null
  br i1 %no.trace, label %done, label %set
set:
  %status = call i32 @PyException_SetTraceback(ptr %error, ptr %trace)
  call void @Py_DecRef(ptr %trace)
  br label %done
done:
  ret ptr %error
}
"""


_ADD_CONTEXT = f"""
declare ptr @PyErr_GetHandledException()
declare void @PyErr_SetHandledException(ptr)
declare void @PyErr_SetObject(ptr, ptr)
define void @add_context(ptr %handled) nounwind {{
  %error = call ptr @take_error()
  %before = call ptr @PyErr_GetHandledException()
  call void @PyErr_SetHandledException(ptr %handled)
  %class.place = getelementptr i8, ptr %error, i64 {layout.OB_TYPE}
  %class = load ptr, ptr %class.place
  call void @PyErr_SetObject(ptr %class, ptr %error)
  call void @PyErr_SetHandledException(ptr %before)
  call void @Py_DecRef(ptr %before)
  call void @Py_DecRef(ptr %error)
  ret void
}}
"""


# Of a `ChoiceCell`, by the elements of the largest array: 0 for native code, 1 for CPython, 2 for neither.
_CHOOSE_SIDE = """
declare i64 @llvm.ctlz.i64(i64, i1)
define i64 @choose_side(ptr %cell, i64 %elements) nounwind {
  %calls.place = getelementptr i64, ptr %cell, i64 2
  %calls = load i64, ptr %calls.place
  %left = sub i64 %calls, 1
  store i64 %left, ptr %calls.place
  %some = or i64 %elements, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %some, i1 true)
  %magnitude = xor i64 %zeros, 63
  %native.bits = load i64, ptr %cell
  %plain.place = getelementptr i64, ptr %cell, i64 1
  %plain.bits = load i64, ptr %plain.place
  %native = lshr i64 %native.bits, %magnitude
  %plain = lshr i64 %plain.bits, %magnitude
  %is.native = trunc i64 %native to i1
  %is.plain = trunc i64 %plain to i1
  %other = select i1 %is.plain, i64 1, i64 2
  %side = select i1 %is.native, i64 0, i64 %other
  %is.over = icmp slt i64 %left, 0
  %result = select i1 %is.over, i64 2, i64 %side
  ret i64 %result
}
"""

# What an entry does with calls for CPython: near the end of the stack they raise RecursionError.
_CALL_PLAINLY = f"""
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
define ptr @call_plainly(ptr %function, ptr %args, i64 %nargsf, ptr %kwnames) nounwind {{
entry:
  %place = alloca i8
  {_stack_check("%place", "call")}
call:
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %args, i64 %nargsf, ptr %kwnames)
  ret ptr %result
fail:
  ret ptr null
}}
"""

# The table has a dict, a key and what should be there for it (null: nothing) for each variable.
_ARE_SAME = """
declare ptr @PyDict_GetItem(ptr, ptr)
define i1 @are_same(ptr %table, i64 %count) nounwind {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %following, %look ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %done
look:
  %dict.place = getelementptr [3 x ptr], ptr %table, i64 %i
  %key.place = getelementptr ptr, ptr %dict.place, i64 1
  %wanted.place = getelementptr ptr, ptr %dict.place, i64 2
  %dict = load ptr, ptr %dict.place
  %key = load ptr, ptr %key.place
  %wanted = load ptr, ptr %wanted.place
  %found = call ptr @PyDict_GetItem(ptr %dict, ptr %key)
  %same = icmp eq ptr %found, %wanted
  %following = add i64 %i, 1
  br i1 %same, label %next, label %done
done:
  %all = phi i1 [ true, %next ], [ false, %look ]
  ret i1 %all
}
"""

# Its class, its descriptor (the usual one, or another one of the same number, in native byte order, without metadata),
# flags and rank.
_IS_ARRAY = f"""
define i1 @is_array(ptr %object, ptr %usual, i32 %number, i32 %needed, i32 %ndim) nounwind {{
  %class.place = getelementptr i8, ptr %object, i64 {layout.OB_TYPE}
  %class = load ptr, ptr %class.place
  %wanted.class = inttoptr i64 {id(np.ndarray)} to ptr
  %is.array = icmp eq ptr %class, %wanted.class
  br i1 %is.array, label %dtype, label %other
dtype:
  %descr.place = getelementptr i8, ptr %object, i64 {layout.ARRAY_DESCR}
  %descr = load ptr, ptr %descr.place
  %is.usual = icmp eq ptr %descr, %usual
  br i1 %is.usual, label %flags, label %descr.found
descr.found:
  %number.place = getelementptr i8, ptr %descr, i64 {layout.DESCR_TYPE_NUM}
  %its.number = load i32, ptr %number.place
  %order.place = getelementptr i8, ptr %descr, i64 {layout.DESCR_BYTEORDER}
  %order = load i8, ptr %order.place
  %is.number = icmp eq i32 %its.number, %number
  %is.native = icmp ne i8 %order, {layout.SWAPPED_BYTEORDER}
  %metadata.place = getelementptr i8, ptr %descr, i64 {layout.DESCR_METADATA}
  %metadata = load ptr, ptr %metadata.place
  %is.bare = icmp eq ptr %metadata, null
  %is.such.number = and i1 %is.number, %is.native
  %is.same = and i1 %is.such.number, %is.bare
  br i1 %is.same, label %flags, label %other
flags:
  %flags.place = getelementptr i8, ptr %object, i64 {layout.ARRAY_FLAGS}
  %all.flags = load i32, ptr %flags.place
  %told = or i32 %needed, {layout.FLAG_WARN_ON_WRITE}
  %its.flags = and i32 %all.flags, %told
  %has.flags = icmp eq i32 %its.flags, %needed
  %ndim.place = getelementptr i8, ptr %object, i64 {layout.ARRAY_NDIM}
  %its.ndim = load i32, ptr %ndim.place
  %has.rank = icmp eq i32 %its.ndim, %ndim
  %is.such = and i1 %has.flags, %has.rank
  ret i1 %is.such
other:
  ret i1 false
}}
"""


@cache
def _support() -> CompiledModule:
    """All of these functions, compiled once and never freed."""
    text = (
        "declare ptr @PyThreadState_Get()\n"
        + _SLOW_ENTRY
        + _CALL_PLAINLY
        + _CHOOSE_SIDE
        + _LEAVE
        + _TAKE_ERROR
        + _ADD_CONTEXT
        + _ARE_SAME
        + _IS_ARRAY
        + _check_stack_text()
    )
    text += settings_text() + support_text() + grant_text()
    exports = ["add_context", "are_same", "are_settings_quiet", "call_plainly", "check_stack"]
    exports += ["choose_side", "leave", "is_array", "take_error", *SUPPORT_NAMES, *GRANT_NAMES]
    return compile_ir(text, "slow_entry", exports=exports, optimize=False)


def support(name: str) -> str:
    """The address of one of these functions, as native code calls it."""
    return address(_support().symbol(name)).text


def slow_entry() -> int:
    """Address of the entry that calls ``self._slow_call(args, kwargs)``, with `kwargs` None or a dict.

    When that returns a `Raised`, its exception is raised with its traceback.
    """
    return _support().address
