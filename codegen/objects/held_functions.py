"""Functions that variables and attributes hold, and methods: which ones they are, and what they give in front."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from types import FunctionType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Any

from ljit.codegen.layouts.callable_layout import (
    DICT_USED,
    FUNCTION_CLOSURE,
    FUNCTION_GLOBALS,
    METHOD_FUNCTION,
    METHOD_SELF,
    PARTIAL_ARGUMENTS,
    PARTIAL_FUNCTION,
    PARTIAL_KEYWORDS,
)
from ljit.codegen.layouts.instances import TYPE_VERSION, find_in_class, member_offset, type_version
from ljit.codegen.layouts.layout import (
    CELL_CONTENT,
    FUNCTION_CODE,
    FUNCTION_DEFAULTS,
    OB_TYPE,
    TUPLE_ITEMS,
    VAR_SIZE,
)
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, BlockRef, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.attribute_dicts import reader_of_dict
from ljit.codegen.objects.attributes import class_test, method_test, own_getter_of
from ljit.held import (
    BoundMethods,
    HeldKind,
    HeldMethod,
    KnownFunction,
    MadeFunctions,
    Partials,
    Receivers,
)
from ljit.ops.python.types import NO_ATTRIBUTE, class_of
from ljit.types import ANY, BOOL

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "check_in_class",
    "check_kind",
    "check_members",
    "check_method",
    "check_super",
    "given_value",
    "is_kind",
    "own_attribute",
]

_WORD = 8


def check_method(e: Emitter, x: Native, name: str, function: object) -> None:
    """Leave unless ``x.name`` is the function as a method of `x`."""
    _check_method(e, x, name, function, None)


def check_super(e: Emitter, x: Native, above: type, name: str, function: object) -> None:
    """Leave unless ``super(above, x).name`` is the function as a method of `x`."""
    _check_method(e, x, name, function, above)


def _check_method(e: Emitter, x: Native, name: str, function: object, above: type | None) -> None:
    keep = e.context.keep
    test = method_test(e.f.module, class_of(x.type), keep(name), (name, function, above), keep)
    same = e.f.call("i1", test, (x.ref,))
    e.bailout.bail_if(e.f.bool_not(same), f"{name} is another method")


def check_in_class(e: Emitter, x: Native, name: str, value: object) -> None:
    """Leave unless the class of `x`, which looks attributes up as usual, has the value; `NO_ATTRIBUTE`: nothing."""
    keep = e.context.keep
    test = class_test(e.f.module, class_of(x.type), keep(name), (name, value), keep)
    same = e.f.call("i1", test, (x.ref,))
    e.bailout.bail_if(e.f.bool_not(same), f"{name} is another one in the class")


def check_members(e: Emitter, cls: type, members: Sequence[tuple[str, object]]) -> None:
    """Leave unless a class has the values under their names; `NO_ATTRIBUTE`: it has nothing there.

    What it has stays the same as long as its version does.
    """
    f, keep = e.f, e.context.keep
    find_in_class(cls, members[0][0])  # gives the class a version, mostly
    version = integer("i32", type_version(cls))
    changed, same = f.new_block("changed"), f.new_block("same")
    now = f.load("i32", f.gep("i8", keep(cls), TYPE_VERSION))
    f.condbr(f.icmp("ne", now, version), changed, same, unlikely=True)
    f.start(changed, cold=True)
    for name, value in members:
        found = f.call_external("ptr", "_PyType_Lookup", (keep(cls), keep(name)))
        wanted = NULL if value is NO_ATTRIBUTE else keep(value)
        e.bailout.bail_if(f.icmp("ne", found, wanted), f"{name} of {cls.__name__} has changed")
    f.br(same)
    f.start(same)


def own_attribute(e: Emitter, x: Native, name: str) -> Native:
    """``x.name`` that the object itself has; leave if it has none."""
    keep = e.context.keep
    getter = own_getter_of(e.f.module, class_of(x.type), keep(name), name, keep)
    found = e.f.call("ptr", getter, (x.ref,))
    e.bailout.bail_if(e.f.icmp("eq", found, NULL), f"{name} is no attribute of the object itself")
    e.ownership.acquire(found)
    return Native(ANY, (found,))


_NOT_THERE = "a variable that is not bound, or other defaults"

#: tests, one after the other, each of which says of an object that it is none of a kind, or has not got a value
_Differences = Iterator[Ref]
#: the same; gives the value in the end
_Reading = Generator[Ref, None, Ref]


def check_kind(e: Emitter, x: Native, kind: HeldKind, reason: str) -> None:
    """Leave unless the object is a callable of the kind."""
    for differs in _DIFFERENCES[type(kind)](e, x, kind):
        e.bailout.bail_if(differs, reason)


def is_kind(e: Emitter, x: Native, kind: HeldKind, used: tuple[int, ...]) -> Native:
    """Whether the object is a callable of the kind, and gives values of its classes where these are `used`."""
    f = e.f
    done, ends = f.new_block("kind"), list[tuple[Ref, BlockRef | None]]()
    for differs in _all_differences(e, x, kind, used):
        following = f.new_block("same")
        left = f.condbr(differs, done, following)
        if differs.constant != 0:
            ends.append((FALSE, left))
        f.start(following)
    ends.append((TRUE, f.br(done)))
    f.start(done)
    result = f.phi("i1")
    for value, block in ends:
        if block is not None:
            result.add(value, block)
    return Native(BOOL, (result,))


def _all_differences(e: Emitter, x: Native, kind: HeldKind, used: tuple[int, ...]) -> _Differences:
    yield from _DIFFERENCES[type(kind)](e, x, kind)
    for index in used:
        found = yield from _GIVEN[type(kind)](e, x.ref, index, kind)
        yield _differs(e, found, OB_TYPE, kind.classes[index])


def given_value(e: Emitter, x: Native, kind: HeldKind, index: int) -> Native:
    """What a callable of the kind gives in front of arguments; leave if that is not there."""
    reading = _GIVEN[type(kind)](e, x.ref, index, kind)
    while True:
        try:
            missing = next(reading)
        except StopIteration as end:
            found: Ref = end.value
            break
        e.bailout.bail_if(missing, _NOT_THERE)
    e.ownership.retain(found)
    e.ownership.acquire(found)
    return Native(ANY, (found,))


def _of_known(e: Emitter, x: Native, kind: KnownFunction | HeldMethod) -> _Differences:
    yield e.f.icmp("ne", x.ref, e.context.keep(kind.function))


def _of_made(e: Emitter, x: Native, kind: MadeFunctions) -> _Differences:
    yield from _of_class(e, x, kind.decorated or FunctionType)
    function = _plain(e, x.ref, kind)
    yield _differs(e, function, FUNCTION_CODE, kind.code)
    yield _differs(e, function, FUNCTION_GLOBALS, kind.variables)


def _plain(e: Emitter, function: Ref, kind: MadeFunctions) -> Ref:
    """The plain function of a decorated one."""
    if kind.decorated is None:
        return function
    member = find_in_class(kind.decorated, "_plain")
    offset = member_offset(member) if isinstance(member, MemberDescriptorType) else None
    assert offset is not None
    return _pointer_at(e, function, offset)


def _of_bound(e: Emitter, x: Native, kind: BoundMethods) -> _Differences:
    yield from _of_class(e, x, MethodType)
    yield _differs(e, x.ref, METHOD_FUNCTION, kind.bound)


def _of_partial(e: Emitter, x: Native, kind: Partials) -> _Differences:
    f = e.f
    yield from _of_class(e, x, partial)
    yield _differs(e, x.ref, PARTIAL_FUNCTION, kind.bound)
    count = f.load("i64", f.gep("i8", _pointer_at(e, x.ref, PARTIAL_ARGUMENTS), VAR_SIZE))
    yield f.icmp("ne", count, len(kind.given))
    named = f.load("i64", f.gep("i8", _pointer_at(e, x.ref, PARTIAL_KEYWORDS), DICT_USED))
    yield f.icmp("ne", named, len(kind.names))
    for name in kind.names:
        yield f.icmp("eq", _keyword(e, x.ref, name), NULL)


def _of_receivers(e: Emitter, x: Native, kind: Receivers) -> _Differences:
    (cls,) = kind.classes
    assert cls is not None
    yield from _of_class(e, x, cls)


def _keyword(e: Emitter, fixed: Ref, name: str) -> Ref:
    """What a `functools.partial` gives under a name; null: nothing."""
    keywords = _pointer_at(e, fixed, PARTIAL_KEYWORDS)
    reader = reader_of_dict(e.f.module).removeprefix("@")
    return e.f.call("ptr", reader, (keywords, e.context.keep(name)))


_DIFFERENCES: dict[type, Callable[[Emitter, Native, Any], _Differences]] = {
    KnownFunction: _of_known,
    HeldMethod: _of_known,
    MadeFunctions: _of_made,
    BoundMethods: _of_bound,
    Partials: _of_partial,
    Receivers: _of_receivers,
}


def _given_by_made(e: Emitter, function: Ref, index: int, kind: MadeFunctions) -> _Reading:
    """What is in a cell, or a default."""
    f, function = e.f, _plain(e, function, kind)
    if index < len(kind.given):
        cell = _item_at(e, function, FUNCTION_CLOSURE, index)
        found = _pointer_at(e, cell, CELL_CONTENT)
        yield f.icmp("eq", found, NULL)
        return found
    defaults = _pointer_at(e, function, FUNCTION_DEFAULTS)
    yield f.icmp("eq", defaults, NULL)
    count = f.load("i64", f.gep("i8", defaults, VAR_SIZE))
    yield f.icmp("ne", count, len(kind.defaults))
    return _item_at(e, function, FUNCTION_DEFAULTS, index - len(kind.given))


def _given_by_bound(e: Emitter, method: Ref, _index: int, _kind: BoundMethods) -> _Reading:
    yield from ()
    return _pointer_at(e, method, METHOD_SELF)


def _given_by_partial(e: Emitter, fixed: Ref, index: int, kind: Partials) -> _Reading:
    if index < len(kind.given):
        return _item_at(e, fixed, PARTIAL_ARGUMENTS, index)
    found = _keyword(e, fixed, kind.names[index - len(kind.given)])
    yield e.f.icmp("eq", found, NULL)
    return found


_GIVEN: dict[type, Callable[[Emitter, Ref, int, Any], _Reading]] = {
    MadeFunctions: _given_by_made,
    BoundMethods: _given_by_bound,
    Partials: _given_by_partial,
}


def _of_class(e: Emitter, x: Native, cls: type) -> _Differences:
    if class_of(x.type) is not cls:
        yield _differs(e, x.ref, OB_TYPE, cls)


def _differs(e: Emitter, object_: Ref, offset: int, wanted: object) -> Ref:
    return e.f.icmp("ne", _pointer_at(e, object_, offset), e.context.keep(wanted))


def _item_at(e: Emitter, object_: Ref, offset: int, index: int) -> Ref:
    """An item of a tuple that an object has."""
    return _pointer_at(e, _pointer_at(e, object_, offset), TUPLE_ITEMS + _WORD * index)


def _pointer_at(e: Emitter, object_: Ref, offset: int) -> Ref:
    return e.f.load("ptr", e.f.gep("i8", object_, offset))
