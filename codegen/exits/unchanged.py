"""Whether an object still is what native code takes it for.

Unknown code may resize an array in place, reshape it, give it another dtype or make it read-only: then
data pointer, sizes and strides in registers are out of date, and the old memory may be gone. An object may get an
attribute that hides a method of its class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.exits.bailout import known_object
from ljit.codegen.functions.support import support
from ljit.codegen.layouts.layout import DICT_VERSION, attributes_offset, has_dict_versions
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, ModuleBuilder, Ref
from ljit.codegen.llvm.forms import Native, array_parts, components, split
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.references.unboxing import unbox
from ljit.ops.control import LOUD
from ljit.ops.python.types import class_of
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_check", "check_no_attributes", "settings_check"]

_REASON = "an array was resized or reshaped"


def array_check(e: Emitter, x: Native) -> None:
    """Leave if the object of an array in `x` has other parts by now; views without an object have none."""
    if not isinstance(x.type, ArrayType):
        for item in split(x):
            array_check(e, item)
        return
    f, parts = e.f, known_object(e.f, x).parts
    made = array_parts(x).object if not x.memos else parts[0]
    if made.constant is not None or not f.is_reachable:
        return
    same = f.call("i1", _same_array(f.module, x.type), (made, *parts[2:]))
    e.bailout.bail_if(f.bool_not(same), _REASON)


def settings_check(e: Emitter) -> None:
    """Leave while NumPy is set to do more than warn."""
    e.bailout.bail_if(e.f.bool_not(e.f.call("i1", support("are_settings_quiet"), ())), LOUD)


def _same_array(module: ModuleBuilder, type_: ArrayType) -> str:
    """The function that says whether an object, if there is one, is an array with these parts."""
    name = "same." + re.sub(r"\W+", "_", str(type_).replace("*", "n"))
    if all(function.name != name for function in module.functions):
        f = module.function(name, "i1", ("ptr", *components(type_)[2:]), "internal")
        f.attributes = f"nounwind noinline {QUICK}"
        none, some, other = f.new_block("none"), f.new_block("some"), f.new_block("other")
        f.condbr(f.icmp("eq", f.params[0], NULL), none, some)
        f.start(some)
        found = unbox(f, f.params[0], type_, other, by_call=True).parts
        same = TRUE
        for new, old in zip(found[2:], f.params[1:], strict=True):
            same = f.binary("and", same, f.icmp("eq", new, old))
        f.ret(same)
        f.start(none)
        f.ret(TRUE)
        f.start(other)
        f.ret(FALSE)
    return name


def check_no_attributes(e: Emitter, x: Native, names: Sequence[str]) -> None:
    """Leave if the object has one of the attributes.

    Its dict is searched when it has another version than the last one. Two dicts never have the same version.
    """
    f, cls = e.f, class_of(x.type)
    offset = attributes_offset(cls) if cls is not None else None
    if offset is None:
        e.bail("attributes of an object in an unknown place")
        return
    if not f.is_reachable:
        return
    look, there, known = f.new_block("look"), f.new_block("there"), f.new_block("known")
    word = f.load("i64", f.gep("i8", x.ref, offset))
    is_dict = f.icmp("ne", word, 0)
    is_even = f.icmp("eq", f.binary("and", word, 1), 0)
    f.condbr(f.binary("and", is_dict, is_even), there, look)
    f.start(there)
    seen = f.module.global_variable(f"attributes.{f.name}.{known.name}", "i64", "0")
    version = _version(e, f.convert("inttoptr", word, "ptr"))
    is_other = f.icmp("ne", version, f.load("i64", seen)) if has_dict_versions() else TRUE
    f.condbr(is_other, look, known, unlikely=True)
    f.start(look)
    attributes = f.call_external("ptr", "PyObject_GenericGetDict", (x.ref, NULL))
    e.bailout.error_if_null(attributes)
    f.call_external("void", "Py_DecRef", (attributes,))  # the object holds it
    for name in names:
        found = f.call_external("ptr", "PyDict_GetItem", (attributes, e.context.keep(name)))
        e.bailout.bail_if(f.icmp("ne", found, NULL), f"an attribute {name}")
    f.store(_version(e, attributes), seen)
    f.br(known)
    f.start(known)


def _version(e: Emitter, attributes: Ref) -> Ref:
    return e.f.load("i64", e.f.gep("i8", attributes, DICT_VERSION))
