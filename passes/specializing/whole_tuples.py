"""Tuples of objects that a function only hands on, as a tree's node does its children: they stay the objects they are.
So do those, and other values, whose identity is asked.

Taken apart, they would be made again where they are returned. Those with items of precise types are taken apart all the
same, as their items are numbers then in whoever gets them.
"""

from __future__ import annotations

from ljit.ir import Value
from ljit.ops.containers.tuples import TUPLE_CONSTRUCT
from ljit.ops.control import RETURN
from ljit.passes.containers.carried import handed_on
from ljit.passes.containers.identities import is_identity_asked
from ljit.passes.observations import is_precise
from ljit.types import ANY, ItemsType, Type

__all__ = ["as_whole"]


def as_whole(t: Type, value: Value, *, may_be_asked: bool) -> Type:
    """Give the type for a baseline value that native code knows as `t`: any object, if it is such a one."""
    is_of_objects = isinstance(t, ItemsType) and not is_precise(t)
    if is_of_objects and _is_handed_on(value):
        return ANY
    return ANY if may_be_asked and is_identity_asked(value, t) else t


def _is_handed_on(value: Value) -> bool:
    """Whether it is only returned, or put into tuples that are."""
    names = [value]
    for name in names:  # grows
        for user, position in name.uses:
            given = user.outputs if user.op is TUPLE_CONSTRUCT else handed_on(user, position)
            if not given and user.op is not RETURN:
                return False
            names += [other for other in given if other not in names]
    return True
