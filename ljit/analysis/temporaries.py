"""Temporaries: what a call gives to the expression around it alone, and CPython forgets behind that.

An object that the program has in a variable, or in a list that was taken apart, lives on; so it is the places in the
source that tell: all users stand around the call. They are calls themselves, not tuples and the like that have it.
"""

from __future__ import annotations

from ljit.ir import Effect, Node, Value
from ljit.ops.control import GUARD, PROFILE, SNAPSHOT
from ljit.ops.members import CHECK_METHOD, IS_KIND, METHOD
from ljit.source import SourceRange

__all__ = ["is_look", "is_temporary", "users_of_object"]

_SAME = (GUARD, PROFILE, METHOD)  # they give their operand, or what has it


def is_temporary(value: Value) -> bool:
    """Whether only calls around the node that makes the value use it, Snapshots aside; something does."""
    made = value.node.range if value.node is not None else None
    users = [user for user in users_of_object(value) if not is_look(user)]
    is_named = any(same.name for same in _same_objects(value))
    return bool(users) and not is_named and all(_is_used_around(user, made) for user in users)


def is_look(user: Node) -> bool:
    """Whether a user of an object is not for the program: the state, or a check of what the object is."""
    return user.op in (SNAPSHOT, CHECK_METHOD, IS_KIND)


def users_of_object(value: Value) -> set[Node]:
    """The nodes that use the object of a value, under whatever name."""
    users = {user for same in _same_objects(value) for user, _ in same.uses}
    return {user for user in users if user.op not in _SAME}


def _same_objects(value: Value) -> list[Value]:
    found = [value]
    for same in found:
        found += [user.output for user, _ in same.uses if user.op in _SAME]
    return found


def _is_used_around(user: Node, inner: SourceRange | None) -> bool:
    outer = user.range if user.effects & Effect.CALL else None
    if outer is None or inner is None:
        return False
    if outer.source is not inner.source or outer.caller != inner.caller:
        return False
    begin, end = (inner.line, inner.column), (inner.end_line, inner.end_column)
    return (outer.line, outer.column) <= begin and end <= (outer.end_line, outer.end_column)
