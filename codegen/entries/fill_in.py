"""An entry for calls with keywords, without some arguments or with any number: it puts all in their places.

Entries of specialisations take exactly one positional argument for each parameter. This one, made for one
function, builds such a call from keywords and from the defaults as they are now, makes a tuple of what
``*args`` takes and a dict of what ``**kwargs`` takes, and hands it to the first of those entries. What
cannot be bound, or none of them takes, goes to the `last` entry as it came; CPython says what is wrong.

Where a function has keyword-only parameters, ``*args`` or ``**kwargs``, nothing else may call its specialisations
(they would take those by position). Their chain then ends in the *end entry*, which tells by null without an
error that none of them took the call.
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Iterator
from string import Template

from ljit.codegen.llvm.engine import compile_ir
from ljit.cpython.parameters import has_keywords, has_rest, named_parameters

__all__ = ["FillIn"]

_ENTRY, _END = "ljit_fill_in", "ljit_end"
_SIGNATURE = "ptr %self, ptr %args, i64 %nargsf, ptr %kwnames"

_DECLARATIONS = """
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyDict_GetItem(ptr, ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare i32 @PySequence_Contains(ptr, ptr)
declare i64 @PySequence_Index(ptr, ptr)
declare void @PyErr_Clear()
declare ptr @PyFunction_GetDefaults(ptr)
declare ptr @PyFunction_GetKwDefaults(ptr)
declare ptr @PyErr_Occurred()
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
"""

_HEAD = f"""
define ptr @{_END}({_SIGNATURE}) nounwind {{
  %is.owner = icmp eq ptr %self, inttoptr (i64 $OWNER to ptr)
  br i1 %is.owner, label %none, label %slow
none:
  ret ptr null
slow:
  %result = musttail call ptr inttoptr (i64 $SLOW to ptr)({_SIGNATURE})
  ret ptr %result
}}
define ptr @{_ENTRY}({_SIGNATURE}) nounwind {{
entry:
  %slots = alloca [$COUNT x ptr], align 8
$BEGIN_OTHERS
  %given = and i64 %nargsf, {2**63 - 1}
  %too.many = icmp ugt i64 %given, $POSITIONAL
  %by.position = call i64 @llvm.umin.i64(i64 %given, i64 $POSITIONAL)
  %no.keywords = icmp eq ptr %kwnames, null
$NOT_MINE
  br i1 %not.mine, label %slow, label %clear
slow:
$DROP_OTHERS
  %slow.result = musttail call ptr inttoptr (i64 $SLOW to ptr)({_SIGNATURE})
  ret ptr %slow.result
clear:
  call void @llvm.memset.p0.i64(ptr %slots, i8 0, i64 $BYTES, i1 false)
  %given.bytes = shl i64 %by.position, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %slots, ptr %args, i64 %given.bytes, i1 false)
$MAKE_OTHERS
  br i1 %no.keywords, label %defaults, label %keywords
keywords:
  %named = call i64 @PyTuple_Size(ptr %kwnames)
  br label %keyword
keyword:
  %k = phi i64 [ 0, %keywords ], [ %next.k, %taken ]
  %more = icmp slt i64 %k, %named
  br i1 %more, label %find, label %defaults
find:
  %name = call ptr @PyTuple_GetItem(ptr %kwnames, i64 %k)
  %from.index = add i64 %given, %k
  %from = getelementptr ptr, ptr %args, i64 %from.index
  %value = load ptr, ptr %from
$FIND
  %unknown = icmp slt i64 %found.object, 0
  br i1 %unknown, label %compare, label %place
compare:
  %has.equal = call i32 @PySequence_Contains(ptr inttoptr (i64 $BY_KEYWORD to ptr), ptr %name)
  switch i32 %has.equal, label %odd [ i32 0, label %other
                                      i32 1, label %equal ]
equal:
  %equal.index = call i64 @PySequence_Index(ptr inttoptr (i64 $BY_KEYWORD to ptr), ptr %name)
  %found.equal = add i64 %equal.index, $FIRST_BY_KEYWORD
  %is.found = icmp sge i64 %equal.index, 0
  br i1 %is.found, label %place, label %odd
other:
$OTHER
odd:
  call void @PyErr_Clear()
  br label %slow
place:
  %found = phi i64 [ %found.object, %find ], [ %found.equal, %equal ]
  %to = getelementptr ptr, ptr %slots, i64 %found
  %there = load ptr, ptr %to
  %is.free = icmp eq ptr %there, null
  br i1 %is.free, label %take, label %slow
take:
  store ptr %value, ptr %to
  br label %taken
taken:
  %next.k = add i64 %k, 1
  br label %keyword
defaults:
  %tuple = call ptr @PyFunction_GetDefaults(ptr inttoptr (i64 $FUNCTION to ptr))
  %has.tuple = icmp ne ptr %tuple, null
  br i1 %has.tuple, label %count, label %fill
count:
  %size = call i64 @PyTuple_Size(ptr %tuple)
  br label %fill
fill:
  %known = phi i64 [ 0, %defaults ], [ %size, %count ]
  %first = sub i64 $POSITIONAL, %known
  %dict = call ptr @PyFunction_GetKwDefaults(ptr inttoptr (i64 $FUNCTION to ptr))
  br label %check0
"""

_WITHOUT_REST = """
  %is.full = icmp eq i64 %given, $COUNT
  %is.plain = and i1 %is.full, %no.keywords
  %not.mine = or i1 %too.many, %is.plain
"""
_WITH_REST = """
  %not.mine = icmp slt i64 %given, 0
"""

# Where keywords may have names that no parameter has.
_BEGIN_OTHERS = """
  %others = alloca ptr, align 8
  store ptr null, ptr %others
"""
_DROP_OTHERS = """
  %dropped = load ptr, ptr %others
  call void @Py_DecRef(ptr %dropped)
"""
_MAKE_OTHERS = """
  %new.others = call ptr @PyDict_New()
  %no.others = icmp eq ptr %new.others, null
  br i1 %no.others, label %fail, label %made
fail:
  ret ptr null
made:
  store ptr %new.others, ptr %others
"""
_OTHER = """
  %kept = load ptr, ptr %others
  %status = call i32 @PyDict_SetItem(ptr %kept, ptr %name, ptr %value)
  %is.kept = icmp eq i32 %status, 0
  br i1 %is.kept, label %taken, label %odd
"""
_NO_OTHER = "  br label %slow"
_OTHERS = """
  %arg${LAST} = load ptr, ptr %others
  store ptr null, ptr %others
  %others.place = getelementptr ptr, ptr %slots, i64 $LAST
  store ptr %arg${LAST}, ptr %others.place
"""

# Behind the last parameter that has a name: the tuple of the other positional arguments.
_REST = """
  %size.of.rest = sub i64 %given, %by.position
  %arg${LAST} = call ptr @PyTuple_New(i64 %size.of.rest)
  %no.rest = icmp eq ptr %arg${LAST}, null
  br i1 %no.rest, label %no.memory, label %items
no.memory:
  ret ptr null
items:
  %item = phi i64 [ 0, %check${LAST} ], [ %next.item, %add ]
  %more.items = icmp ult i64 %item, %size.of.rest
  br i1 %more.items, label %add, label %whole
add:
  %item.index = add i64 %item, $POSITIONAL
  %item.place = getelementptr ptr, ptr %args, i64 %item.index
  %item.object = load ptr, ptr %item.place
  call void @Py_IncRef(ptr %item.object)
  %item.status = call i32 @PyTuple_SetItem(ptr %arg${LAST}, i64 %item, ptr %item.object)
  %next.item = add i64 %item, 1
  br label %items
whole:
  %rest.place = getelementptr ptr, ptr %slots, i64 $LAST
  store ptr %arg${LAST}, ptr %rest.place
"""


class FillIn:
    """The entry of one function, with the word that names the entry that it calls."""

    def __init__(self, fn: types.FunctionType, owner: object, last: int) -> None:
        self._fn = fn
        self._first = ctypes.c_uint64(last)
        self._names = tuple([sys.intern(name) for name in named_parameters(fn.__code__)])
        self._by_keyword = self._names[fn.__code__.co_posonlyargcount :]
        by_keyword = id(self._by_keyword)
        text = _text(fn, self._names, by_keyword, id(owner), ctypes.addressof(self._first), last)
        self._compiled = compile_ir(text, _ENTRY, exports=(_END,))

    @property
    def address(self) -> int:
        """Address of the entry."""
        return self._compiled.address

    @property
    def end_address(self) -> int:
        """Address of the end of a chain that only this entry calls."""
        return self._compiled.symbol(_END)

    def set_first(self, address: int) -> None:
        """Say which entry gets the calls with all arguments in their places."""
        self._first.value = address


def _text(
    fn: types.FunctionType,
    names: tuple[str, ...],
    by_keyword: int,
    owner: int,
    first: int,
    last: int,
) -> str:
    code = fn.__code__
    count = len(names) + has_rest(code) + has_keywords(code)
    not_mine = Template(_WITH_REST if has_rest(code) else _WITHOUT_REST)
    head = Template(_HEAD).substitute(
        _words_of_keywords(code),
        NOT_MINE=not_mine.substitute(COUNT=count),
        FIRST_BY_KEYWORD=code.co_posonlyargcount,
        BY_KEYWORD=by_keyword,
        SLOW=last,
        OWNER=owner,
        FUNCTION=id(fn),
        POSITIONAL=code.co_argcount,
        COUNT=count,
        BYTES=8 * count,
        FIND="\n".join(_find(names, code.co_posonlyargcount)),
    )
    checks = "\n".join(
        line for j in range(len(names)) for line in _check(j, code.co_argcount, id(names[j]))
    )
    end = f"check{len(names)}:\n"
    if has_rest(code):
        end += Template(_REST).substitute(POSITIONAL=code.co_argcount, LAST=len(names))
    if has_keywords(code):
        end += Template(_OTHERS).substitute(LAST=count - 1)
    call = "\n".join(_call(count, len(names), first))
    return f"{_DECLARATIONS}{head}{checks}\n{end}{call}\n}}\n"


def _words_of_keywords(code: types.CodeType) -> dict[str, str]:
    """What is done with keywords that no parameter is named after."""
    if not has_keywords(code):
        return {"BEGIN_OTHERS": "", "DROP_OTHERS": "", "MAKE_OTHERS": "", "OTHER": _NO_OTHER}
    return {
        "BEGIN_OTHERS": _BEGIN_OTHERS,
        "DROP_OTHERS": _DROP_OTHERS,
        "MAKE_OTHERS": _MAKE_OTHERS,
        "OTHER": _OTHER,
    }


def _find(names: tuple[str, ...], positional_only: int) -> Iterator[str]:
    """Names in calls are mostly interned, as those of parameters are: the same objects."""
    found = "-1"
    for j in range(positional_only, len(names)):
        yield f"  %same{j} = icmp eq ptr %name, inttoptr (i64 {id(names[j])} to ptr)"
        yield f"  %at{j} = select i1 %same{j}, i64 {j}, i64 {found}"
        found = f"%at{j}"
    yield f"  %found.object = add i64 {found}, 0"


def _check(j: int, positional: int, name: int) -> Iterator[str]:
    """Take the default of parameter `j` if it has no argument."""
    yield f"check{j}:"
    yield f"  %slot{j} = getelementptr ptr, ptr %slots, i64 {j}"
    yield f"  %old{j} = load ptr, ptr %slot{j}"
    yield f"  %has{j} = icmp ne ptr %old{j}, null"
    yield f"  br i1 %has{j}, label %check{j + 1}, label %default{j}"
    yield f"default{j}:"
    if j < positional:
        yield f"  %index{j} = sub i64 {j}, %first"
        yield f"  %none{j} = icmp slt i64 %index{j}, 0"
        yield f"  br i1 %none{j}, label %slow, label %read{j}"
        yield f"read{j}:"
        yield f"  %new{j} = call ptr @PyTuple_GetItem(ptr %tuple, i64 %index{j})"
        yield f"  br label %fill{j}"
    else:
        yield f"  %none{j} = icmp eq ptr %dict, null"
        yield f"  br i1 %none{j}, label %slow, label %read{j}"
        yield f"read{j}:"
        yield f"  %new{j} = call ptr @PyDict_GetItem(ptr %dict, ptr inttoptr (i64 {name} to ptr))"
        yield f"  %missing{j} = icmp eq ptr %new{j}, null"
        yield f"  br i1 %missing{j}, label %slow, label %fill{j}"
    yield f"fill{j}:"
    yield f"  store ptr %new{j}, ptr %slot{j}"
    yield f"  br label %check{j + 1}"


def _call(count: int, named: int, first: int) -> Iterator[str]:
    """Call with all arguments, which the function's own code could otherwise drop meanwhile.

    Those behind the first `named` are new references.
    """
    for j in range(named):
        yield f"  %arg{j} = load ptr, ptr %slot{j}"
        yield f"  call void @Py_IncRef(ptr %arg{j})"
    yield f"  %target = load ptr, ptr inttoptr (i64 {first} to ptr)"
    yield f"  %result = call ptr %target(ptr %self, ptr %slots, i64 {count}, ptr null)"
    yield from (f"  call void @Py_DecRef(ptr %arg{j})" for j in range(count))
    yield "  %done = icmp ne ptr %result, null"
    yield "  br i1 %done, label %return, label %failed"
    yield "failed:"
    yield "  %error = call ptr @PyErr_Occurred()"
    yield "  %has.error = icmp ne ptr %error, null"
    yield "  br i1 %has.error, label %return, label %slow"
    yield "return:"
    yield "  ret ptr %result"
