"""Attributes of objects of known classes, read and written where they lie, and their methods.

As CPython's own specialised instructions do: an object whose type has the version tag that was seen at compile
time has the attribute in the same slot, or at the same index among its values, or in its dict. Whatever is
different goes to `PyObject_GetAttr` and `PyObject_SetAttr`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MemberDescriptorType, MethodType

from ljit.analysis.assumptions import python_function
from ljit.codegen.functions.support import support
from ljit.codegen.layouts.instances import (
    TYPE_GETATTRO,
    TYPE_VERSION,
    find_in_class,
    has_values,
    member_offset,
    names_of_values,
    place_of_bases,
    reads_as_object,
    type_version,
    value_index,
    writes_as_object,
)
from ljit.codegen.layouts.layout import OB_TYPE
from ljit.codegen.layouts.layout import python_function as python_address
from ljit.codegen.llvm.builder import NULL, ModuleBuilder, Ref, address
from ljit.codegen.objects.attribute_dicts import reader_of_dict, writer_of_dict
from ljit.codegen.objects.instance_values import NOTE_ORDER, VALUES_OR_DICT
from ljit.codegen.references.refcounts import counter
from ljit.ops.python.types import NO_ATTRIBUTE, find_behind, has_plain_lookup, own_attribute
from ljit.records import Record

__all__ = [
    "Place",
    "caller_of",
    "class_test",
    "getter_of",
    "method_test",
    "own_getter_of",
    "place_of",
    "setter_of",
]


_NOWHERE = """entry:
  br label %slow
"""
_GET = """  %value = load ptr, ptr %place
  %none = icmp eq ptr %value, null
  br i1 %none, label %slow, label %take
take:
  call void @{retain}(ptr %value)
  ret ptr %value
"""
_SET = """  %old = load ptr, ptr %place
  %none = icmp eq ptr %old, null
  br i1 %none, label %first, label %change
first:{note}
  call void @{retain}(ptr %value)
  store ptr %value, ptr %place
  ret i32 0
change:
  call void @{retain}(ptr %value)
  store ptr %value, ptr %place
  call void @{release}(ptr %old)
  ret i32 0
"""
_GET_IN_DICT = """in.dict:
  %item = call ptr {reader}(ptr %dict, {name})
  %missing = icmp eq ptr %item, null
  br i1 %missing, label %slow, label %take.item
take.item:
  call void @{retain}(ptr %item)
  ret ptr %item
"""
_SET_IN_DICT = """in.dict:
  %done.status = call i32 {writer}(ptr %dict, {name}, ptr %value)
  ret i32 %done.status
"""


class Place(Record):
    """Where objects of a class have an attribute, if not in a dict."""

    version: int  # of the type
    #: in the object, or among its values; None: those that have values have it not (yet)
    offset: int | None
    is_slot: bool


def getter_of(module: ModuleBuilder, cls: type | None, name: Ref, text: str) -> str | None:
    """The function that takes an object and gives a new reference to its attribute; null: an error.

    `name` is `text` as a Python object. None: nobody knows where the attribute is.
    """
    place = place_of(cls, text)
    if place is None:
        return None
    module.declare("PyObject_GetAttr", "ptr", ["ptr", "ptr"])
    symbol = module.symbol("get", id(cls), name.text)
    source = f"""define internal ptr @{symbol}(ptr %x) noinline nounwind {{
{_get(module, place, name)}slow:
  %made = call ptr @PyObject_GetAttr(ptr %x, {name.typed})
  ret ptr %made
}}"""
    return module.define(symbol, source)


def own_getter_of(
    module: ModuleBuilder, cls: type | None, name: Ref, text: str, keep: Callable[[object], Ref]
) -> str:
    """The function that gives a new reference to what an object itself has as an attribute; null: nothing.

    It runs no code of the class, whatever becomes of that.
    """
    module.declared[_CALL] = f"declare ptr @{_CALL}(ptr, ...) nounwind"
    module.declare("PyObject_GetAttr", "ptr", ["ptr", "ptr"])
    place, begin = place_of(cls, text), _NOWHERE
    if place is not None and cls is not None:
        found = find_in_class(cls, text)
        still = _still_in_class(module, name, NULL if found is None else keep(found))
        begin = _get(module, place, name, _check_class(cls, still))
    keep(cls)
    symbol = module.symbol("own", id(cls), name.text)
    source = f"""define internal ptr @{symbol}(ptr %x) noinline nounwind {{
{begin}slow:
  %has = call ptr (ptr, ...) @{_CALL}({keep(_has_own).typed}, ptr %x, {name.typed}, ptr null)
  %is.own = icmp eq ptr %has, {keep(True).text}
  br i1 %is.own, label %look, label %nothing
look:
  %made = call ptr @PyObject_GetAttr(ptr %x, {name.typed})
  ret ptr %made
nothing:
  ret ptr null
}}"""
    return module.define(symbol, source)


def _has_own(x: object, name: str) -> bool:
    return own_attribute(x, name) is not NO_ATTRIBUTE


def _get(module: ModuleBuilder, place: Place, name: Ref, check: str | None = None) -> str:
    """The beginning of a function that gives an attribute; it goes to ``slow`` if there is none."""
    retain, reader = counter(module, "retain"), reader_of_dict(module)
    in_dict = _GET_IN_DICT.format(name=name.typed, retain=retain, reader=reader)
    return _find(place, _GET.format(retain=retain), in_dict, check)


def setter_of(module: ModuleBuilder, cls: type | None, name: Ref, text: str) -> str | None:
    """The function that takes an object and the value that its attribute is to have; -1: an error."""
    place = place_of(cls, text)
    if place is None or cls is None or not writes_as_object(cls):
        return None
    module.declare("PyObject_SetAttr", "i32", ["ptr", "ptr", "ptr"])
    retain, release = (counter(module, change, in_line=False) for change in ("retain", "release"))
    symbol = module.symbol("set", id(cls), name.text)
    is_value = not place.is_slot and place.offset is not None
    note = NOTE_ORDER.format(index=(place.offset or 0) // 8) if is_value else ""
    there = _SET.format(retain=retain, release=release, note=note)
    in_dict = _SET_IN_DICT.format(name=name.typed, writer=writer_of_dict(module))
    source = f"""define internal i32 @{symbol}(ptr %x, ptr %value) noinline nounwind {{
{_find(place, there, in_dict)}slow:
  %status = call i32 @PyObject_SetAttr(ptr %x, {name.typed}, ptr %value)
  ret i32 %status
}}"""
    return module.define(symbol, source)


def caller_of(
    module: ModuleBuilder, cls: type | None, name: Ref, text: str, keep: Callable[[object], Ref]
) -> str | None:
    """The function that calls a method of an object: like `PyObject_VectorcallMethod`, without looking it up.

    None: nobody knows which one it is.
    """
    method = find_in_class(cls, text) if cls is not None else None
    is_function = python_function(method) is not None
    test = _test_of_method(module, cls, name, text, keep) if is_function else None
    if cls is None or test is None:
        return None
    for other in ("PyObject_Vectorcall", "PyObject_VectorcallMethod"):
        module.declare(other, "ptr", ["ptr", "ptr", "i64", "ptr"])
    keep(cls)
    symbol = module.symbol("call", id(cls), name.text)
    arguments = "ptr %args, i64 %count, ptr %names"
    source = f"""define internal ptr @{symbol}(ptr %name, {arguments}) noinline nounwind {{
entry:
  %x = load ptr, ptr %args
  {test}
  %made = call ptr @PyObject_Vectorcall({keep(method).typed}, {arguments})
  ret ptr %made
slow:
  %found = call ptr @PyObject_VectorcallMethod(ptr %name, {arguments})
  ret ptr %found
}}"""
    return module.define(symbol, source)


def method_test(
    module: ModuleBuilder,
    cls: type | None,
    name: Ref,
    wanted: tuple[str, object, type | None],
    keep: Callable[[object], Ref],
) -> str:
    """The function that tells whether an attribute of an object is a function of its class, as a method.

    `wanted`: the name, the function, and the class behind which it is looked for, as by `super`; None: behind none.
    """
    text, method, above = wanted
    test = None
    if above is not None and cls is not None:
        if type_version(cls) and find_behind(cls, above, text) is method:
            test = _check_class(cls, _still_behind(module, cls, above, name, keep(method)))
    elif cls is not None and find_in_class(cls, text) is method:
        test = _test_of_method(module, cls, name, text, keep)
    keep((cls, cls.__mro__) if cls is not None else None)
    symbol = module.symbol("is.method", id(cls), id(method), name.text, id(above))
    return _define_test(module, symbol, test, (keep(_is_method), name, keep(method), keep(above)))


def class_test(
    module: ModuleBuilder,
    cls: type | None,
    name: Ref,
    wanted: tuple[str, object],
    keep: Callable[[object], Ref],
) -> str:
    """The function that tells whether the class of an object has a value, and looks attributes up as usual.

    `wanted`: the name and the value; `NO_ATTRIBUTE`: the class has nothing under the name.
    """
    _, value = wanted
    test = None
    if cls is not None and _has_in_class(cls, *wanted) and type_version(cls):
        test = _check_class(
            cls, _still_in_class(module, name, NULL if value is NO_ATTRIBUTE else keep(value))
        )
    keep((cls, cls.__mro__) if cls is not None else None)
    symbol = module.symbol("in.class", id(cls), id(value), name.text)
    return _define_test(module, symbol, test, (keep(_is_in_class), name, keep(value)))


def _define_test(
    module: ModuleBuilder, symbol: str, test: str | None, slow: tuple[Ref, Ref, *tuple[Ref, ...]]
) -> str:
    """A function of ``%x`` that does the test; what leaves that asks a function of ours, with other operands."""
    module.declared[_CALL] = f"declare ptr @{_CALL}(ptr, ...) nounwind"
    function, *others = slow
    operands = ", ".join(ref.typed for ref in (function, Ref("ptr", "%x"), *others))
    source = f"""define internal i1 @{symbol}(ptr %x) nounwind {{
entry:
  {test or "br label %slow"}
  ret i1 true
slow:
  %granted = call i32 {support("grant_frames")}()
  %found = call ptr (ptr, ...) @{_CALL}({operands}, ptr null)
  call void {support("withdraw_frames")}(i32 %granted)
  %is.right = icmp eq ptr %found, {address(id(True)).text}
  ret i1 %is.right
}}"""
    return module.define(symbol, source if test else source.replace("  ret i1 true\n", ""))


_CALL = "PyObject_CallFunctionObjArgs"


def _is_method(x: object, name: str, function: object, above: type | None) -> bool:
    """Whether ``x.name`` is the function of its class, or ``super(above, x).name``, without running code of either."""
    cls = type(x)
    if above is not None:
        return find_behind(cls, above, name) is function
    if not has_plain_lookup(cls) or find_in_class(cls, name) is not function:
        return False
    found = getattr(x, name)  # a function of the class hides no attribute of the object
    if isinstance(function, staticmethod):
        return found is function.__func__
    inner, bound = (function.__func__, cls) if isinstance(function, classmethod) else (function, x)
    return type(found) is MethodType and found.__func__ is inner and found.__self__ is bound


def _is_in_class(x: object, name: str, value: object) -> bool:
    return _has_in_class(type(x), name, value)


def _has_in_class(cls: type, name: str, value: object) -> bool:
    has_none = value is NO_ATTRIBUTE
    found = find_in_class(cls, name)
    is_it = found is value or (
        has_none and found is None and not any(name in vars(c) for c in cls.__mro__)
    )
    return is_it and has_plain_lookup(cls)


def _test_of_method(
    module: ModuleBuilder, cls: type | None, name: Ref, text: str, keep: Callable[[object], Ref]
) -> str | None:
    """Go to ``slow`` if a name of ``%x`` may be anything else than what the class has now.

    The class has it as long as its version is the same, or it is found there again, and the object has no attribute of
    the name as long as no object of the class has got one of a new name, or its dict has none. None: nobody knows that.
    """
    if cls is None or not type_version(cls) or not reads_as_object(cls):
        return None
    check = _check_class(cls, _still_in_class(module, name, keep(find_in_class(cls, text))))
    names = names_of_values(cls)
    if names is None:
        may_have_dict = has_values(cls) or cls.__dictoffset__ != 0
        return None if may_have_dict else check
    if value_index(cls, text) is not None:
        return None
    return f"{check}\n  {_check_names(reader_of_dict(module), name, *names)}"


def _check_names(reader: str, name: Ref, place: int, count: int) -> str:
    """Go to ``slow`` if an object of the class may have an attribute that none had."""
    return f"""{VALUES_OR_DICT}in.dict:
  %item = call ptr {reader}(ptr %dict, {name.typed})
  %free = icmp eq ptr %item, null
  br i1 %free, label %right, label %slow
there:
  %now = load i64, {address(place).typed}
  %are.same = icmp eq i64 %now, {count}
  br i1 %are.same, label %right, label %slow
right:"""


def _check_type(version: int, otherwise: str = "slow\nknown:") -> str:
    """Go to ``slow`` if the type of ``%x`` is another."""
    return f"""%type.place = getelementptr i8, ptr %x, i64 {OB_TYPE}
  %type = load ptr, ptr %type.place
  %version.place = getelementptr i8, ptr %type, i64 {TYPE_VERSION}
  %version = load i32, ptr %version.place
  %same = icmp eq i32 %version, {version}
  br i1 %same, label %known, label %{otherwise}"""


def _check_class(cls: type, still: str) -> str:
    """Go to ``slow`` if the type of ``%x`` is another, or has changed, and not in that respect which `still` looks at.

    Classes that count something change all the time.
    """
    again = f"""%is.class = icmp eq ptr %type, {address(id(cls)).text}
  br i1 %is.class, label %again, label %slow
again:
  {still}
  br i1 %is.still, label %known, label %slow
known:"""
    return _check_type(type_version(cls), otherwise=f"changed\nchanged:\n  {again}")


def _still_in_class(module: ModuleBuilder, name: Ref, method: Ref) -> str:
    """Whether ``%type``, which looks attributes up as usual, has the function under the name."""
    module.declare("_PyType_Lookup", "ptr", ["ptr", "ptr"])
    generic = address(python_address("PyObject_GenericGetAttr")).text
    return f"""%lookup.place = getelementptr i8, ptr %type, i64 {TYPE_GETATTRO}
  %lookup = load ptr, ptr %lookup.place
  %is.generic = icmp eq ptr %lookup, {generic}
  %now.found = call ptr @_PyType_Lookup(ptr %type, {name.typed})
  %is.found = icmp eq ptr %now.found, {method.text}
  %is.still = and i1 %is.generic, %is.found"""


def _still_behind(module: ModuleBuilder, cls: type, above: type, name: Ref, method: Ref) -> str:
    """Whether the classes behind another have the function, and are the same ones."""
    module.declare("_PyType_Lookup", "ptr", ["ptr", "ptr"])
    bases, place = cls.__mro__, place_of_bases()
    following = bases[bases.index(above) + 1]
    if place is None or following.__mro__ != bases[bases.index(following) :]:
        return "%is.still = icmp ne ptr %type, %type"
    return f"""%bases.place = getelementptr i8, ptr %type, i64 {place}
  %bases = load ptr, ptr %bases.place
  %are.same = icmp eq ptr %bases, {address(id(bases)).text}
  %now.found = call ptr @_PyType_Lookup({address(id(following)).typed}, {name.typed})
  %is.found = icmp eq ptr %now.found, {method.text}
  %is.still = and i1 %are.same, %is.found"""


def _find(place: Place, there: str, in_dict: str, check: str | None = None) -> str:
    """The beginning of a function: `there` has the address of the reference in ``%place``, `in_dict` is that block.

    `check` is how the class is looked at, if not by its version alone.

    It goes to ``slow`` if it is in neither.
    """
    source = f"entry:\n  {check or _check_type(place.version)}\n"
    if place.is_slot:
        return f"{source}  %place = getelementptr i8, ptr %x, i64 {place.offset}\n{there}"
    if place.offset is None:
        return f"{source}  {VALUES_OR_DICT}there:\n  br label %slow\n{in_dict}"
    address_ = f"  %place = getelementptr i8, ptr %values, i64 {place.offset}\n"
    return f"{source}  {VALUES_OR_DICT}there:\n{address_}{there}{in_dict}"


def place_of(cls: type | None, name: str) -> Place | None:
    if cls is None or not reads_as_object(cls):
        return None
    found = find_in_class(cls, name)
    version = type_version(cls)
    if not version:
        return None
    if isinstance(found, MemberDescriptorType):
        offset = member_offset(found)
        return None if offset is None else Place(version, offset, is_slot=True)
    if found is not None and not isinstance(found, FunctionType | int | float | str | tuple):
        return None  # it may say itself what becomes of the attribute
    if not has_values(cls):
        return None
    index = value_index(cls, name)
    return Place(version, None if index is None else 8 * index, is_slot=False)
