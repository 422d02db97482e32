"""Temporaries: what a call gives to the expression around it alone, and CPython forgets behind that.

An object that the program has in a variable, or in a list that was taken apart, lives on; so it is the places in the
source that tell: all users stand around the call. They are calls themselves, not tuples and the like that have it.
"""

from __future__ import annotations

from ljit.ir import Effect, Node, Value
from ljit.ops.control import GUARD, PROFILE, SNAPSHOT
from ljit.source import SourceRange

__all__ = ["is_temporary", "users_of_object"]

_SAME = (GUARD, PROFILE)  # they give their operand


def is_temporary(value: Value) -> bool:
    """Whether only calls around the node that makes the value use it; something does."""
    made = value.node.range if value.node is not None else None
    users = users_of_object(value)
    return bool(users) and all(
        user.effects & Effect.CALL and _is_around(user.range, made) for user in users
    )


def users_of_object(value: Value) -> list[Node]:
    """The nodes that use the object; none if a variable has it."""
    found: list[Node] = []
    same = [value]
    for each in same:
        if each.name:
            return []
        for user, _ in each.uses:
            if user.op in _SAME:
                same.append(user.output)
            elif user.op is not SNAPSHOT:
                found.append(user)
    return found


def _is_around(outer: SourceRange | None, inner: SourceRange | None) -> bool:
    if outer is None or inner is None or outer is inner:
        return False
    if outer.source is not inner.source or outer.caller != inner.caller:
        return False
    begin, end = (inner.line, inner.column), (inner.end_line, inner.end_column)
    return (outer.line, outer.column) <= begin and end <= (outer.end_line, outer.end_column)
