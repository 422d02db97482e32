"""What profiled runs have seen, and which guarded type follows from it."""

from __future__ import annotations

from typing import Protocol

from ljit.ir import Value
from ljit.ops.arrays.rules import dtype_of, is_scalar
from ljit.profile import Observation
from ljit.types import ANY, FLOAT, INT, UINT, ItemsType, ListType, Type, UnionType, join

__all__ = ["Observations", "guarded_type", "is_precise"]

#: a negative int among these was hardly seen: they are taken for uints
_INT_OR_UINT = join(INT, UINT)
_INT_OR_FLOAT = join(INT, FLOAT)


class Observations(Protocol):
    """What profiled runs have seen."""

    def observed(self, node_id: int) -> Type | None:
        """The join of the types seen by a `prim::profile` node; None: never run."""

    def observation(self, node_id: int) -> Observation | None:
        """All that was seen by a `prim::profile` node; None: never run."""

    def held(self, node_id: int) -> Observation | None:
        """What a `py::call_method` was seen to call: attributes of objects themselves, and methods of which classes."""


def is_precise(t: Type) -> bool:
    """Whether native code needs to know no more about a value of type `t`."""
    if isinstance(t, ItemsType):
        return all(map(is_precise, t.items))
    if isinstance(t, ListType):
        return is_precise(t.item)
    return t != ANY


def guarded_type(value: Value, seen: Type | None, *, has_failed: bool = False) -> Type | None:
    """Give the type that a guard on `value` should check; None if a guard would tell nothing.

    A Union was seen: the value stays boxed, but for numbers of Python's own (``Vector(0, 0.5)``) and those of one
    dtype, Python's and NumPy's (items of ``stack = [0]``, to which elements of arrays are added).

    `has_failed`: a guard has failed there before.
    """
    if is_precise(value.type) or seen is None:
        return None
    if seen == _INT_OR_UINT:
        return None if has_failed else UINT
    if isinstance(seen, UnionType) and not _is_number(seen):
        return None
    told = _told(value.type, seen)
    return None if told in (ANY, value.type) else told


def _told(known: Type, seen: Type) -> Type:
    """What was seen where no precise type is known; where there is one, which need not be checked, that.

    So it is of a tuple whose items are known one by one, where objects that are no less were seen.

    >>> from ljit.types import tuple_of
    >>> print(_told(tuple_of((ANY, UINT)), tuple_of((INT, join(INT, UINT)))))
    (int, uint)
    """
    if isinstance(known, ItemsType) and known.is_like(seen):
        return known.with_items(map(_told, known.items, seen.items))  # type: ignore[attr-defined]
    return known if is_precise(known) or isinstance(known, ItemsType) else seen


def _is_number(union: UnionType) -> bool:
    """Whether its members are an int and a float, or numbers which differ in their classes alone."""
    if union == _INT_OR_FLOAT:
        return True
    return all(map(is_scalar, union.members)) and len(set(map(dtype_of, union.members))) == 1
