"""Text of functions that look for the values of an object, ``%x``, where its kind of class has them.

It ends in one of three blocks, which whoever asks writes: ``there`` has the address of the first value in ``%values``,
``in.dict`` the dict that the object has instead in ``%dict``; ``slow`` knows neither.
"""

from __future__ import annotations

from ljit.codegen.layouts.instances import (
    ARE_VALUES_INSIDE,
    INSIDE_CAPACITY,
    INSIDE_IS_VALID,
    INSIDE_NUMBER,
    INSIDE_VALUES,
    INSTANCE_VALUES,
    IS_DICT_OR_VALUES,
    VALUES_NUMBER,
)
from ljit.codegen.layouts.layout import MANAGED_DICT

__all__ = ["NOTE_ORDER", "VALUES_OR_DICT"]

_TWO_POINTERS = f"""%values.place = getelementptr i8, ptr %x, i64 {INSTANCE_VALUES}
  %values = load ptr, ptr %values.place
  %is.dict = icmp eq ptr %values, null
  br i1 %is.dict, label %no.values, label %there
no.values:
  %dict.place = getelementptr i8, ptr %x, i64 {MANAGED_DICT}
  %dict = load ptr, ptr %dict.place
  %unknown = icmp eq ptr %dict, null
  br i1 %unknown, label %slow, label %in.dict
"""
_ONE_POINTER = f"""%dict.place = getelementptr i8, ptr %x, i64 {MANAGED_DICT}
  %dict = load ptr, ptr %dict.place
  %values = getelementptr i8, ptr %dict, i64 1
  %bits = ptrtoint ptr %dict to i64
  %are.values = trunc i64 %bits to i1
  br i1 %are.values, label %there, label %no.values
no.values:
  %unknown = icmp eq ptr %dict, null
  br i1 %unknown, label %slow, label %in.dict
"""
_INSIDE = f"""%dict.place = getelementptr i8, ptr %x, i64 {MANAGED_DICT}
  %dict = load ptr, ptr %dict.place
  %values = getelementptr i8, ptr %x, i64 {INSIDE_VALUES}
  %no.dict = icmp eq ptr %dict, null
  br i1 %no.dict, label %inside, label %in.dict
inside:
  %valid.place = getelementptr i8, ptr %x, i64 {INSIDE_IS_VALID}
  %valid = load i8, ptr %valid.place
  %unknown = icmp eq i8 %valid, 0
  br i1 %unknown, label %slow, label %there
"""

#: CPython notes in which order an object got its values, backwards in front of them: their number, then which they are
_NOTE_IN_FRONT = f"""
  %number.place = getelementptr i8, ptr %values, i64 {VALUES_NUMBER}
  %number = load i8, ptr %number.place
  %more = add i8 %number, 1
  store i8 %more, ptr %number.place
  %places = zext i8 %more to i64
  %place.back = sub i64 0, %places
  %order.place = getelementptr i8, ptr %number.place, i64 %place.back
  store i8 {{index}}, ptr %order.place"""
#: or behind as many as there may be
_NOTE_BEHIND = f"""
  %capacity.place = getelementptr i8, ptr %x, i64 {INSIDE_CAPACITY}
  %capacity = load i8, ptr %capacity.place
  %most = zext i8 %capacity to i64
  %behind = getelementptr ptr, ptr %values, i64 %most
  %number.place = getelementptr i8, ptr %x, i64 {INSIDE_NUMBER}
  %number = load i8, ptr %number.place
  %more = add i8 %number, 1
  store i8 %more, ptr %number.place
  %places = zext i8 %number to i64
  %order.place = getelementptr i8, ptr %behind, i64 %places
  store i8 {{index}}, ptr %order.place"""

VALUES_OR_DICT = (
    _INSIDE if ARE_VALUES_INSIDE else _ONE_POINTER if IS_DICT_OR_VALUES else _TWO_POINTERS
)
NOTE_ORDER = _NOTE_BEHIND if ARE_VALUES_INSIDE else _NOTE_IN_FRONT
