"""Methods of objects that have attributes of their own: what is known of them, and what has to be checked.

An object of a class like `random.Random` may have an attribute that hides a method. So a method that is taken for
the class's comes with a `prim::no_attributes`.
"""

from __future__ import annotations

from functools import partial
from types import BuiltinMethodType, MethodDescriptorType, MethodType

from ljit.held import HeldKind, held_kind
from ljit.ir import Effect, Emitter, OpDef, Schema, any_operands, declare
from ljit.ir.emitter import V
from ljit.ops.control import OTHER_CALLABLE, OUT_OF_RANGE
from ljit.ops.python.types import own_attribute
from ljit.types import ANY, BOOL, ObjectType, Type

__all__ = [
    "CHECK_IN_CLASS",
    "CHECK_KIND",
    "CHECK_MEMBERS",
    "CHECK_METHOD",
    "CHECK_SUPER",
    "GIVEN_VALUE",
    "IS_KIND",
    "MEMBER",
    "METHOD",
    "NEW_OBJECT",
    "NO_ATTRIBUTES",
    "OWN_ATTRIBUTE",
    "SUPER",
    "SUPER_METHOD",
    "refuse_result",
]


def refuse_result(value: object) -> None:
    """Raise what `type.__call__` does if ``__init__`` gives something."""
    if value is not None:
        raise TypeError(f"__init__() should return None, not '{type(value).__name__}'")


def _infer_method(x: Type, *, name: str) -> Type:
    assert isinstance(x, ObjectType)
    is_c = isinstance(getattr(x.cls, name), MethodDescriptorType)
    return ObjectType(BuiltinMethodType if is_c else MethodType)


def _lower_no_attributes(e: Emitter, x: V, *, names: tuple[str, ...]) -> tuple[V, ...]:
    e.check_no_attributes(x, names)
    return ()


def _lower_check_method(e: Emitter, x: V, *, name: str, function: object) -> tuple[V, ...]:
    e.check_method(x, name, function)
    return ()


def _lower_check_in_class(e: Emitter, x: V, *, name: str, value: object) -> tuple[V, ...]:
    e.check_in_class(x, name, value)
    return ()


def _lower_check_super(
    e: Emitter, x: V, *, above: type, name: str, function: object
) -> tuple[V, ...]:
    e.check_super(x, above, name, function)
    return ()


def _lower_check_members(
    e: Emitter, *, cls: type, members: tuple[tuple[str, object], ...]
) -> tuple[V, ...]:
    e.check_members(cls, members)
    return ()


def _member(name: str, cls: object) -> object:
    return getattr(cls, name)


def _super_method(above: type, name: str, x: object) -> object:
    return getattr(super(above, x), name)


def _lower_check_kind(e: Emitter, x: V, *, kind: HeldKind, in_front: bool = False) -> tuple[V, ...]:
    e.check_kind(x, kind, OUT_OF_RANGE if in_front else OTHER_CALLABLE)
    return ()


def _is_object(x: Type, **_attrs: object) -> bool:
    return x.is_boxed


def _is_kind(x: object, *, kind: HeldKind, used: tuple[int, ...]) -> bool:
    found = held_kind(x)
    return found is not None and kind.joined(found) is not None


METHOD = declare(
    OpDef(
        "prim::method",
        Schema("(x, *, name)"),
        "The bound method ``x.name`` of the class of `x`, which nothing hides.",
        infer=_infer_method,
        evaluate=lambda x, *, name: getattr(x, name),
        lower=lambda e, x, *, name: e.getattr(x, name),
        effects=Effect.ALLOC,
    )
)
OWN_ATTRIBUTE = declare(
    OpDef(
        "prim::own_attribute",
        Schema("(x, *, name)"),
        "``x.name`` that the object itself has, not its class; leave native code if it has none.",
        infer=lambda x, *, name: ANY,
        evaluate=lambda x, *, name: own_attribute(x, name),
        lower=lambda e, x, *, name: e.own_attribute(x, name),
        can_lower=any_operands,
        effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
    )
)
NO_ATTRIBUTES = declare(
    OpDef(
        "prim::no_attributes",
        Schema("(x, *, names)"),
        "Leave native code if an object has one of the attributes as its own.",
        infer=lambda x, *, names: (),
        evaluate=lambda x, *, names: None,
        lower=_lower_no_attributes,
        effects=Effect.READ | Effect.RAISE,
    )
)
NEW_OBJECT = declare(
    OpDef(
        "prim::new_object",
        Schema("(*, cls)"),
        "What `object.__new__` makes of the class; leave native code if that has another ``__new__``.",
        infer=lambda *, cls: ObjectType(cls),
        evaluate=lambda *, cls: object.__new__(cls),
        lower=lambda e, *, cls: e.new_object(cls),
        can_lower=any_operands,
        effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
    )
)
CHECK_METHOD = declare(
    OpDef(
        "prim::check_method",
        Schema("(x, *, name, function)"),
        "Leave native code unless ``x.name`` is the function, bound to `x`.",
        infer=lambda x, *, name, function: (),
        evaluate=lambda x, *, name, function: None,
        lower=_lower_check_method,
        effects=Effect.READ | Effect.RAISE,
    )
)
CHECK_IN_CLASS = declare(
    OpDef(
        "prim::check_in_class",
        Schema("(x, *, name, value)"),
        "Leave native code unless the class of `x` has the value under the name; `NO_ATTRIBUTE`: nothing.",
        infer=lambda x, *, name, value: (),
        evaluate=lambda x, *, name, value: None,
        lower=_lower_check_in_class,
        effects=Effect.READ | Effect.RAISE,
    )
)
SUPER = declare(
    OpDef(
        "prim::super",
        Schema("(x, *, above)"),
        "``super(above, x)`` of an object of a class that is derived from `above`.",
        infer=lambda x, *, above: ObjectType(super),
        evaluate=lambda x, *, above: super(above, x),
        lower=lambda e, x, *, above: e.made_of(x, partial(super, above)),
        effects=Effect.ALLOC,
    )
)
CHECK_SUPER = declare(
    OpDef(
        "prim::check_super",
        Schema("(x, *, above, name, function)"),
        "Leave native code unless ``super(above, x).name`` is the function, bound to `x`.",
        infer=lambda x, *, above, name, function: (),
        evaluate=lambda x, *, above, name, function: None,
        lower=_lower_check_super,
        effects=Effect.READ | Effect.RAISE,
    )
)
SUPER_METHOD = declare(
    OpDef(
        "prim::super_method",
        Schema("(x, *, above, name)"),
        "The bound method ``super(above, x).name``, which is known to be one.",
        infer=lambda x, *, above, name: ObjectType(MethodType),
        evaluate=lambda x, *, above, name: _super_method(above, name, x),
        lower=lambda e, x, *, above, name: e.made_of(x, partial(_super_method, above, name)),
        effects=Effect.ALLOC,
    )
)
MEMBER = declare(
    OpDef(
        "prim::member",
        Schema("(x, *, name, type)"),
        "``x.name`` of a class, which is known to be a function or a bound method: one of the type.",
        infer=lambda x, *, name, type: type,
        evaluate=lambda x, *, name, type: _member(name, x),
        lower=lambda e, x, *, name, type: e.made_of(x, partial(_member, name)),
        effects=Effect.ALLOC,
    )
)
CHECK_MEMBERS = declare(
    OpDef(
        "prim::check_members",
        Schema("(*, cls, members)"),
        "Leave native code unless the class, or what it is derived from, has these values under their names.",
        infer=lambda *, cls, members: (),
        evaluate=lambda *, cls, members: None,
        lower=_lower_check_members,
        can_lower=any_operands,
        effects=Effect.READ | Effect.RAISE,
    )
)
CHECK_KIND = declare(
    OpDef(
        "prim::check_kind",
        Schema("(x, *, kind, in_front=False)"),
        "Leave native code unless the object is a callable of the kind; `in_front`: of a loop that may not call it.",
        infer=lambda x, *, kind, in_front=False: (),
        evaluate=lambda x, *, kind, in_front=False: None,
        lower=_lower_check_kind,
        effects=Effect.READ | Effect.RAISE,
    )
)
IS_KIND = declare(
    OpDef(
        "prim::is_kind",
        Schema("(x, *, kind, used)"),
        "Whether the object is a callable of the kind, and those of its values that are `used` are of the classes.",
        infer=lambda x, *, kind, used: BOOL,
        evaluate=_is_kind,
        lower=lambda e, x, *, kind, used: e.is_kind(x, kind, used),
        can_lower=_is_object,
        effects=Effect.READ,
    )
)
GIVEN_VALUE = declare(
    OpDef(
        "prim::given_value",
        Schema("(x, *, kind, index)"),
        "What a callable of the kind gives of its own, one of its types; leave native code if that is not there.",
        infer=lambda x, *, kind, index: ANY,
        evaluate=lambda x, *, kind, index: kind.value(x, index),
        lower=lambda e, x, *, kind, index: e.given_value(x, kind, index),
        can_lower=_is_object,
        effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
        is_profiled=True,
    )
)
