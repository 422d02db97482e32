"""The functions that native code needs once a process, in one module: compiled with the first program, never freed.

- `leave(helper, units, ...)` is what an exit calls: it calls the helper with what `Py_BuildValue` makes of the rest,
  and makes of a `Raised` that it gives the error that this holds.
- `choose_side(cell, elements)` says who runs a call (`choice.py`), `call_plainly(function, args, nargsf, kwnames)`
  calls a plain function, unless the stack is nearly full.
- `take_error()` gives the exception that is set, with its traceback, and unsets it; `add_context(handled)` gives the
  one that is set the context that it gets where `handled` is being handled.
- `are_same(table, count)` looks up variables that code takes for granted, `is_array(object, ...)` says whether an
  object is an array of some kind.
- Those of `slow_path.py`, `stack_bounds.py`, `gil.py`, `float_settings.py` and `granted_frames.py`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ljit.codegen.functions.float_settings import settings_text
from ljit.codegen.functions.gil import SUPPORT_NAMES, support_text
from ljit.codegen.functions.granted_frames import GRANT_NAMES, grant_text
from ljit.codegen.functions.slow_path import SLOW_ENTRY
from ljit.codegen.functions.stack_bounds import stack_check, stack_text
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import address
from ljit.codegen.llvm.engine import CompiledModule, compile_ir
from ljit.cpython.frame_count import GRANTED

__all__ = ["slow_entry", "support"]

# All in one: what each exit calls is in the code of all programs.
_CALLED_TO_LEAVE = """
declare void @llvm.va_start(ptr)
declare void @llvm.va_end(ptr)
declare ptr @Py_VaBuildValue(ptr, ptr)
declare ptr @PyObject_CallObject(ptr, ptr)
"""
_LEAVE = """
define ptr @NAME(ptr %helper, ptr %units, ...) nounwind {
entry:
  %rest = alloca [3 x i64], align 16
  call void @llvm.va_start(ptr %rest)
  %operands = call ptr @Py_VaBuildValue(ptr %units, ptr %rest)
  call void @llvm.va_end(ptr %rest)
  %failed = icmp eq ptr %operands, null
  br i1 %failed, label %done, label %call
call:
  call void @count_frames(i32 FRAMES)
  %given = call ptr @PyObject_CallObject(ptr %helper, ptr %operands)
  call void @count_frames(i32 -FRAMES)
  call void @Py_DecRef(ptr %operands)
  br label %done
done:
  %result = phi ptr [ null, %entry ], [ %given, %call ]
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
  {stack_check("%place", "call")}
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
        + SLOW_ENTRY
        + _CALL_PLAINLY
        + _CHOOSE_SIDE
        + _CALLED_TO_LEAVE
        + _LEAVE.replace("NAME", "leave").replace("FRAMES", str(GRANTED))
        + _LEAVE.replace("NAME", "leave_entry").replace("FRAMES", str(GRANTED and GRANTED - 1))
        + _TAKE_ERROR
        + _ADD_CONTEXT
        + _ARE_SAME
        + _IS_ARRAY
        + stack_text()
    )
    text += settings_text() + support_text() + grant_text()
    exports = ["add_context", "are_same", "are_settings_quiet", "call_plainly", "check_stack"]
    exports += [
        "choose_side",
        "leave",
        "leave_entry",
        "is_array",
        "take_error",
        *SUPPORT_NAMES,
        *GRANT_NAMES,
    ]
    return compile_ir(text, "slow_entry", exports=exports, optimize=False)


def support(name: str) -> str:
    """The address of one of these functions, as native code calls it."""
    return address(_support().symbol(name)).text


def slow_entry() -> int:
    """Address of the entry that calls ``self._slow_call(args, kwargs)``, with `kwargs` None or a dict.

    When that returns a `Raised`, its exception is raised with its traceback.
    """
    return _support().address
