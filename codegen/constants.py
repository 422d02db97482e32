"""Python objects that are known while compiling, as native values, and checks that they are still what they were."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.analysis.assumptions import Assumption
from ljit.characters import code_of
from ljit.codegen.emitter import Emitter
from ljit.codegen.functions.assumptions import field_of, wanted_by
from ljit.codegen.layouts.layout import DICT_VERSION, has_dict_versions
from ljit.codegen.llvm.builder import Ref, integer
from ljit.codegen.llvm.forms import Native, is_scalar
from ljit.codegen.scalars.casts import number_parts
from ljit.ir import Node
from ljit.types import CHARACTER, INT, ItemsType, RangeType, SliceType, Type

__all__ = ["check_assumption", "constant"]


def constant(e: Emitter, value: object, type_: Type) -> Native:
    """Give a Python object as a value of that type."""
    made = _parts_of(e, value, type_)
    made.constant = e.context.keep(value)
    return made


def _parts_of(e: Emitter, value: object, type_: Type) -> Native:
    if is_scalar(type_):
        return Native(type_, number_parts(type_, value))
    if type_.is_boxed:
        return Native(type_, (e.context.keep(value),))
    if type_ == CHARACTER:
        assert isinstance(value, str)
        return Native(type_, (integer("i32", code_of(value)),))
    match type_:
        case ItemsType():
            assert isinstance(value, tuple)
            return _constant_items(e, type_, type_.items, value)
        case RangeType():
            assert isinstance(value, range)
            items = (value.start, value.stop, value.step)
            return _constant_items(e, type_, (INT, INT, INT), items)
        case SliceType():
            assert isinstance(value, slice)
            kinds = (type_.start, type_.stop, type_.step)
            return _constant_items(e, type_, kinds, (value.start, value.stop, value.step))
    return Native(type_, ())


def _constant_items(
    e: Emitter, type_: Type, kinds: Sequence[Type], items: Sequence[object]
) -> Native:
    parts: list[Ref] = []
    for kind, item in zip(kinds, items, strict=True):
        parts += constant(e, item, kind).parts
    return Native(type_, parts)


def check_assumption(e: Emitter, node: Node) -> None:
    """Emit the check of an assumption; of a dict, only when its version is not that of the last look."""
    assumption = node.attrs["assumption"]
    assert isinstance(assumption, Assumption)
    f, keep = e.f, e.context.keep
    holder = keep(assumption.holder)
    wanted = wanted_by(assumption, keep)
    reason = f"{assumption.key} has changed"
    if not isinstance(assumption.holder, dict):
        found = field_of(f, assumption, keep)
        e.bailout.bail_if(f.icmp("ne", found, wanted), reason)
        return
    look, known = f.new_block("look"), f.new_block("known")
    place = f.gep("i8", holder, DICT_VERSION)
    seen = f.module.global_variable(f"seen.{node.id}", "i64", "0")
    if has_dict_versions():
        version = f.load("i64", place)
        is_other = f.icmp("ne", version, f.load("i64", seen))
        f.condbr(is_other, look, known, unlikely=True)
    else:
        version = integer("i64", 0)
        f.br(look)
    f.start(look)
    found = f.call_external("ptr", "PyDict_GetItem", (holder, keep(assumption.key)))
    e.bailout.bail_if(f.icmp("ne", found, wanted), reason)
    f.store(version, seen)
    f.br(known)
    f.start(known)
