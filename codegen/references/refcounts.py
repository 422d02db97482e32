"""Counting a reference that may be null: in line within loops, by a call elsewhere (less to compile)."""

from __future__ import annotations

from ljit.codegen.layouts.layout import IS_IMMORTAL_AWARE
from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref

__all__ = ["change_count", "counter", "releaser_of_slots"]

_CALLS = {"retain": "Py_IncRef", "release": "Py_DecRef"}
#: From CPython 3.12 on, objects whose count is negative in its lower half are immortal, and it must stay. It is read
#: and written as a whole all the same: what was written in parts cannot be read at once.
_IF_MORTAL = """
  %low = trunc i64 %count to i32
  %is.immortal = icmp slt i32 %low, 0
  br i1 %is.immortal, label %done, label %mortal
mortal:"""
_COUNT = "%count = load i64, ptr %object" + (_IF_MORTAL if IS_IMMORTAL_AWARE else "")
_SOURCES = {
    "retain": f"""define internal void @retain(ptr %object) alwaysinline nounwind {{
  %none = icmp eq ptr %object, null
  br i1 %none, label %done, label %some
some:
  {_COUNT}
  %more = add i64 %count, 1
  store i64 %more, ptr %object
  br label %done
done:
  ret void
}}""",
    "release": f"""define internal void @release(ptr %object) alwaysinline nounwind {{
  %none = icmp eq ptr %object, null
  br i1 %none, label %done, label %some
some:
  {_COUNT}
  %less = sub i64 %count, 1
  store i64 %less, ptr %object
  %dead = icmp eq i64 %less, 0
  br i1 %dead, label %free, label %done
free:
  call void @_Py_Dealloc(ptr %object)
  br label %done
done:
  ret void
}}""",
}


def change_count(f: FunctionBuilder, pointer: Ref, change: str, *, in_line: bool) -> None:
    """Take ("retain") or give back ("release") a reference to an object, or to none."""
    f.call("void", counter(f.module, change, in_line=in_line), (pointer,))


def counter(module: ModuleBuilder, change: str, *, in_line: bool = True) -> str:
    """The name of the function that does it."""
    if not in_line:
        return module.declare(_CALLS[change], "void", ["ptr"])
    module.declare("_Py_Dealloc", "void", ["ptr"])
    return module.define(change, _SOURCES[change])


def releaser_of_slots(module: ModuleBuilder, count: int) -> str:
    """The name of a function that gives back the references in so many slots.

    It is not internal: LLVM would hand it their values instead of their addresses.
    """
    release = counter(module, "release", in_line=False)
    params = ", ".join(f"ptr %slot{i}" for i in range(count))
    lines = [
        f"  %object{i} = load ptr, ptr %slot{i}\n  call void @{release}(ptr %object{i})"
        for i in range(count)
    ]
    head = f"define void @release.{count}({params}) noinline nounwind {{"
    return module.define(f"release.{count}", "\n".join((head, *lines, "  ret void", "}")))
