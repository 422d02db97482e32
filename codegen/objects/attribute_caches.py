"""Attributes of objects of unknown classes: each place in a program notes where the last classes that it saw have them.

As CPython's instructions do. A place has a few words of memory: two entries, each the version tag of a class with where
its objects have the attribute, and how often neither was right. Then Python looks, the first few times, and notes the
place in one of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from ljit.codegen.functions.support import support
from ljit.codegen.layouts.instances import TYPE_VERSION
from ljit.codegen.layouts.layout import OB_TYPE
from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref, address
from ljit.codegen.objects.attribute_dicts import reader_of_dict
from ljit.codegen.objects.attributes import place_of
from ljit.codegen.objects.instance_values import VALUES_OR_DICT
from ljit.codegen.references.refcounts import counter
from ljit.records import Record, made_by

__all__ = ["read_cached"]

_ENTRIES = 2
_MOST_LOOKS = 8
_NO_VERSION = 2**32 - 1  # of no class
_IS_SLOT = 2**31
_WORDS = ctypes.c_uint64 * (_ENTRIES + 1)
_LOOK = "PyObject_CallFunctionObjArgs"


class _Cache(Record, frozen=False):
    """What one place in a program knows of one attribute."""

    name: str
    words: ctypes.Array[ctypes.c_uint64] = made_by(
        factory=lambda: _WORDS(*[_NO_VERSION] * _ENTRIES, 0)
    )

    def look(self, x: object) -> None:
        """Note where objects of this class have the attribute, if that can be told."""
        found = place_of(type(x), self.name)
        entry = self.words[_ENTRIES] % _ENTRIES
        self.words[_ENTRIES] += 1
        if found is not None and found.offset is not None:
            where = found.offset | (_IS_SLOT if found.is_slot else 0)
            self.words[entry] = where << 32 | found.version


def read_cached(f: FunctionBuilder, keep: Callable[[object], Ref], x: Ref, name: str) -> Ref:
    """Read an attribute of an object: a new reference; null: an error."""
    cache = _Cache(name)
    operands = (x, keep(name), address(ctypes.addressof(cache.words)), keep(cache.look))
    return f.call("ptr", _getter(f.module), operands)


def _getter(module: ModuleBuilder) -> str:
    module.declare("PyObject_GetAttr", "ptr", ["ptr", "ptr"])
    module.declared[_LOOK] = f"declare ptr @{_LOOK}(ptr, ...) nounwind"
    retain, release = counter(module, "retain"), counter(module, "release")
    return module.define(_GETTER, _source(retain, release, reader_of_dict(module)))


_GETTER = "get.cached"


def _source(retain: str, release: str, reader: str) -> str:
    return f"""define internal ptr @{_GETTER}(ptr %x, ptr %name, ptr %words, ptr %look) noinline nounwind {{
entry:
  %type.place = getelementptr i8, ptr %x, i64 {OB_TYPE}
  %type = load ptr, ptr %type.place
  %version.place = getelementptr i8, ptr %type, i64 {TYPE_VERSION}
  %version = load i32, ptr %version.place
  %first = load i64, ptr %words
  %first.version = trunc i64 %first to i32
  %is.first = icmp eq i32 %version, %first.version
  br i1 %is.first, label %known, label %other
other:
  %second.place = getelementptr i64, ptr %words, i64 1
  %second = load i64, ptr %second.place
  %second.version = trunc i64 %second to i32
  %is.second = icmp eq i32 %version, %second.version
  br i1 %is.second, label %known, label %missed
known:
  %entry.now = phi i64 [ %first, %entry ], [ %second, %other ]
  %where = lshr i64 %entry.now, 32
  %is.slot = icmp uge i64 %where, {_IS_SLOT}
  br i1 %is.slot, label %slot, label %look.in.values
slot:
  %offset = xor i64 %where, {_IS_SLOT}
  %in.object = getelementptr i8, ptr %x, i64 %offset
  br label %read
look.in.values:
  {VALUES_OR_DICT}there:
  %in.values = getelementptr i8, ptr %values, i64 %where
  br label %read
read:
  %place = phi ptr [ %in.object, %slot ], [ %in.values, %there ]
  %value = load ptr, ptr %place
  %none = icmp eq ptr %value, null
  br i1 %none, label %slow, label %take
take:
  call void @{retain}(ptr %value)
  ret ptr %value
{_look_up(release)}in.dict:
  %item = call ptr {reader}(ptr %dict, ptr %name)
  %no.item = icmp eq ptr %item, null
  br i1 %no.item, label %slow, label %take.item
take.item:
  call void @{retain}(ptr %item)
  ret ptr %item
slow:
  %made = call ptr @PyObject_GetAttr(ptr %x, ptr %name)
  ret ptr %made
}}"""


def _look_up(release: str) -> str:
    """The blocks that note where objects of another class have the attribute, if few were looked up so far."""
    return f"""missed:
  %misses.place = getelementptr i64, ptr %words, i64 {_ENTRIES}
  %misses = load i64, ptr %misses.place
  %are.few = icmp ult i64 %misses, {_MOST_LOOKS}
  br i1 %are.few, label %look.up, label %slow
look.up:
  %granted = call i32 {support("grant_frames")}()
  %looked = call ptr (ptr, ...) @{_LOOK}(ptr %look, ptr %x, ptr null)
  call void {support("withdraw_frames")}(i32 %granted)
  %failed = icmp eq ptr %looked, null
  br i1 %failed, label %fail, label %looked.up
fail:
  ret ptr null
looked.up:
  call void @{release}(ptr %looked)
  br label %slow
"""
