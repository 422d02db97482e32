"""The entry behind the last specialisation, as text: it calls ``self._slow_call(args, kwargs)`` in Python.

It is granted frames beyond the recursion limit. When it gives a `Raised`, its exception is raised with its traceback.
"""

from __future__ import annotations

import sys

from ljit.codegen.functions.stack_bounds import stack_check
from ljit.codegen.layouts import layout
from ljit.cpython.frame_count import GRANTED
from ljit.errors import Raised

__all__ = ["SLOW_ENTRY"]

_SLOW_NAME = sys.intern("_slow_call")

SLOW_ENTRY = f"""
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
  {stack_check("%stack", "start")}
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
  call void @count_frames(i32 {GRANTED})
  %result = call ptr @PyObject_VectorcallMethod(ptr %name, ptr %first, i64 {3 - 2**63}, ptr null)
  call void @count_frames(i32 {-GRANTED})
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
