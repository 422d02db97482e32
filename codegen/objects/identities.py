"""``==`` and ``!=`` of objects whose classes define neither: they are equal if they are the same one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import FunctionBuilder, Ref, address
from ljit.codegen.llvm.forms import Native
from ljit.ops.python.types import class_of
from ljit.types import ANY, BOOL, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["identity_test"]

_TYPE_COMPARE = 200  # tp_richcompare


def identity_test(
    predicate: str,
) -> Callable[[Emitter, Callable[[], Native], Native, Native], Native | None]:
    """Give what compares two objects by their addresses, if the classes that they have then let it."""

    def test(e: Emitter, with_objects: Callable[[], Native], x: Native, y: Native) -> Native | None:
        if not (_may_be_compared(x.type, y.type) and _is_layout_known()):
            return None
        f = e.f
        is_plain = f.binary("and", _compares_as_object(f, x.ref), _compares_as_object(f, y.ref))

        def compare() -> Native:
            truth = f.icmp(predicate, x.ref, y.ref)
            return Native(ANY, (f.select(truth, e.context.keep(True), e.context.keep(False)),))

        return e.branch(Native(BOOL, (f.bool_not(is_plain),)), with_objects, compare)

    return test


def _may_be_compared(x: Type, y: Type) -> bool:
    """Whether one of two objects is of a class known to compare as object does, and the other one may be."""
    if not (x.is_boxed and y.is_boxed):
        return False
    classes = [class_of(t) for t in (x, y) if t != ANY]
    known = [cls is not None and _compare_of(cls) == _compare_of(object) for cls in classes]
    return bool(known) and all(known)


def _compare_of(cls: type) -> int:
    """Address of what compares instances; that of a base class if the class has no ``__eq__`` and the like."""
    return layout.word_at(id(cls) + _TYPE_COMPARE)


def _compares_as_object(f: FunctionBuilder, pointer: Ref) -> Ref:
    """Whether the class of an object, as it is now, compares as object does."""
    cls = f.load("ptr", f.gep("i8", pointer, layout.OB_TYPE))
    compare = f.load("ptr", f.gep("i8", cls, _TYPE_COMPARE))
    return f.icmp("eq", compare, address(_compare_of(object)))


@functools.cache
def _is_layout_known() -> bool:
    """Whether the field is where it is looked for."""
    plain, other = type("_Plain", (), {}), type("_Other", (), {"__eq__": lambda _x, _y: True})
    equal = [_compare_of(cls) == _compare_of(object) for cls in (plain, other, int)]
    return equal == [True, False, False]
