"""What the pattern ``cls(x, name=y)`` takes out of an instance of a class that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.layouts.instances import TYPE_VERSION, find_in_class, type_version
from ljit.codegen.llvm.builder import NULL, FunctionBuilder, address
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.objects import call_function, read_attribute
from ljit.types import ANY, BOOL

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["match_class"]

_FORGIVE = "forgive.missing"


def match_class(
    e: Emitter, function: object, subject: Native, cls: Native, count: int, names: tuple[str, ...]
) -> Native:
    """A tuple of the attributes of an instance, None if one is missing; as the function of both does.

    `count` of the attributes are the first that the class names in ``__match_args__``, as long as that is as it is now.
    """

    def call() -> Native:
        return call_function(e, function, [subject, cls])

    node = e.bailout.node
    known = node.inputs[1].constant if node is not None and node.inputs[1].is_constant else None
    wanted = _attributes(known, count, names) if type(known) is type else None
    if wanted is None or not subject.type.is_boxed:
        return call()
    if not count:
        return _take(e, subject, wanted, [])
    version = e.f.load("i32", address(id(known) + TYPE_VERSION))
    is_same = e.f.icmp("eq", version, type_version(known))  # type: ignore[arg-type]
    return e.branch(Native(BOOL, (is_same,)), lambda: _take(e, subject, wanted, []), call)


def _attributes(cls: type, count: int, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names of the attributes; None: it takes a look at the class each time to know, or it is an error."""
    found = find_in_class(cls, "__match_args__") if count else ()
    if type(found) is not tuple or len(found) < count or (count and not type_version(cls)):
        return None
    wanted = (*found[:count], *names)
    are_names = all(type(name) is str for name in wanted)
    return wanted if are_names and len(set(wanted)) == len(wanted) else None


def _take(e: Emitter, subject: Native, names: Sequence[str], taken: list[Native]) -> Native:
    if not names:
        return e.widen(e.tuple_make(taken), ANY)
    found = read_attribute(e, subject, subject.ref, names[0])
    e.ownership.acquire(found)
    more = [*taken, Native(ANY, (found,))]
    return e.branch(
        Native(BOOL, (e.f.icmp("ne", found, NULL),)),
        lambda: _take(e, subject, names[1:], more),
        lambda: _none(e),
    )


def _none(e: Emitter) -> Native:
    """None if the error is that there is no such attribute."""
    forgiven = e.f.call("i1", _forgiver(e.f), ())
    e.bailout.error_if(e.f.bool_not(forgiven))
    return e.object_const(None)


def _forgiver(f: FunctionBuilder) -> str:
    """The function that unsets an AttributeError; whether it was one."""
    f.module.declare("PyErr_ExceptionMatches", "i32", ["ptr"])
    f.module.declare("PyErr_Clear", "void", [])
    return f.module.define(
        _FORGIVE,
        f"""define internal i1 @{_FORGIVE}() cold noinline nounwind {{
  %is.missing = call i32 @PyErr_ExceptionMatches({address(id(AttributeError)).typed})
  %other = icmp eq i32 %is.missing, 0
  br i1 %other, label %keep, label %clear
keep:
  ret i1 false
clear:
  call void @PyErr_Clear()
  ret i1 true
}}""",
    )
