"""What the profiled runs have seen: types, counts and constants by node id.

`Profile.record` is called by the interpreter for each `prim::profile` node that it runs, so it must
cost little: where the class of an object decides its type, a class seen before is a comparison.
What else a plan has learnt is in `ljit.runtime.feedback`.
"""

from __future__ import annotations

import builtins
import enum
import types
from array import array
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ljit.cpython.classes import is_open, is_plain_class
from ljit.held import HeldKind, KnownFunction, Receivers, count_as_function, held_kind, with_kind
from ljit.records import Record
from ljit.sizes import small_sizes
from ljit.types import (
    INT,
    NEVER,
    ArrayType,
    ItemsType,
    ListType,
    NamedTupleType,
    ScalarType,
    Type,
    UnionType,
    join,
)
from ljit.value_types import type_of

__all__ = ["NO_CONSTANT", "NativeInts", "Observation", "Profile", "is_new", "keep_objects_of"]


def keep_objects_of(
    cls: builtins.type, plain_of: Callable[[Any], types.FunctionType | None]
) -> None:
    """Have profiles keep objects of a class of functions that were the same in each run."""
    _kept_too.add(cls)
    count_as_function(cls, plain_of)


class _Marker(enum.Enum):
    """`NO_CONSTANT`: what a node gave differed from run to run, or cannot be kept."""

    NO_CONSTANT = "no constant"


NO_CONSTANT = _Marker.NO_CONSTANT

#: Classes whose objects differ in type, or whose type takes a closer look.
_LOOKED_INTO = frozenset((int, tuple, list, range, slice, array, np.ndarray, types.ModuleType))
#: of these: after 64 looks a run takes one for all that follow, as native code would
_SETTLING = frozenset((tuple, list, range, slice))
#: Classes whose objects may be kept for as long as the profile lives.
_KEPT = (
    *(type, np.dtype, np.ufunc, enum.Enum),
    *(types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType),
)
_KEPT_IF_BUILTIN = (bool, int, float, complex, type(None), type(Ellipsis), np.generic)
_kept_too = set[type]()
_NESTED = (tuple, list)
LOOKS_INTO_ALL, LOOKS_INTO_EACH = 64, 16  # so many containers are looked into, then one of so many
_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1


class NativeInts:
    """Says that nothing new can come of ints of 64 bits; after 64 of them the class is settled, as of containers."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = LOOKS_INTO_ALL


def is_new(value: object, settled: object) -> bool:
    """Whether a value tells something new where nothing new can come of what is `settled`, which is not its class."""
    if type(settled) is not NativeInts:
        return value is not settled
    if type(value) is not int or not _INT_MIN <= value <= _INT_MAX:
        return True
    settled.left -= 1
    return settled.left < 0


class Observation(Record, frozen=False):
    """All that was seen at one node. `constant` is the object if it was the same one each time.

    `count` counts what was looked at: the machine does not report objects of a class about which
    there is nothing new to learn.
    """

    type: Type = NEVER
    count: int = 0
    saw_none: bool = False
    beside_none: Type = NEVER  # the type of what was not None
    constant: object = NO_CONSTANT
    kinds: tuple[HeldKind, ...] | None = ()  # of callables; None: too many, or other objects, too
    #: objects of this class, and arrays of this layout, change nothing any more
    _class: builtins.type | None = None
    _layout: object = None
    _ints: NativeInts | None = None
    sizes: tuple[int | None, ...] = ()  # of small arrays
    elements: int = 0  # of the largest array
    _shape: tuple[int, ...] | None = None  # the last one

    def __init__(self) -> None:
        """Nothing was seen yet: the defaults."""

    def see(self, value: object) -> object:
        """Join the type of `value` in; gives what nothing new can come of (see `Profile.record`)."""
        self.count += 1
        cls = type(value)
        kinds = self.kinds
        if kinds is not None:
            self.kinds = with_kind(held_kind(value), kinds)
        if cls is self._class or (
            cls is int and self.type is INT and _INT_MIN <= value <= _INT_MAX  # type: ignore[operator]
        ):
            if value is not self.constant:
                self.constant = NO_CONSTANT
        else:
            self._look_at(value, cls)
        if self.constant is not NO_CONSTANT:
            return self.constant
        if self.kinds is not None and self.count < LOOKS_INTO_EACH:
            return None  # the value has objects that would live on
        if cls is int and self.type is INT:
            self._ints = self._ints or NativeInts()
            return int if self._ints.left < 0 else self._ints
        is_settled = cls is self._class or (self.count > LOOKS_INTO_ALL and _settles(cls))
        return cls if is_settled else None

    def see_receiver(self, value: object, method: str) -> None:
        """Count in an object of a user's class, of which a method is called."""
        self.count += 1
        kinds = self.kinds
        if kinds is not None:
            found = Receivers((type_of(value),), (type(value),), method)
            self.kinds = with_kind(found, kinds)

    def _look_at(self, value: object, cls: builtins.type) -> None:
        if self.count == 1:
            if _may_be_kept(cls) and not _is_made(self.kinds):
                self.constant = value
        elif value is not self.constant:
            self.constant = NO_CONSTANT
        if (
            issubclass(cls, _NESTED)
            and self.count > LOOKS_INTO_ALL
            and self.count % LOOKS_INTO_EACH
        ):
            return
        if cls is np.ndarray:
            self._see_sizes(value.shape)  # type: ignore[attr-defined]
            dtype, flags = value.dtype, value.flags.num  # type: ignore[attr-defined]
            # dtypes that differ in their metadata alone are equal
            layout = (dtype, dtype.metadata is None, value.ndim, flags)  # type: ignore[attr-defined]
            if layout == self._layout:
                return
            self._layout = layout
        found = type_of(value)
        self.type = join(self.type, found)
        if value is None:
            self.saw_none = True
        else:
            self.beside_none = join(self.beside_none, found)
        is_looked_into = is_plain_class(cls) and cls in _LOOKED_INTO
        is_named = isinstance(self.type, NamedTupleType)
        self._class = None if is_looked_into or is_named else cls

    def _see_sizes(self, shape: tuple[int, ...]) -> None:
        """Note the sizes of a small array; those that differ from run to run are unknown."""
        if shape == self._shape:
            return
        self.elements = max(self.elements, prod(shape))
        sizes = small_sizes(shape)
        if self._shape is not None:
            seen = zip(self.sizes, sizes, strict=False)
            sizes = tuple(m if m == n else None for m, n in seen)
        self._shape, self.sizes = shape, sizes

    def summary_of_kinds(self) -> object:
        """The kinds, to be compared with what is known later."""
        kinds = self.kinds
        if kinds is None:
            return None
        return tuple((*map(id, (*k.key, *k.classes)), k.types) for k in kinds)

    def sized_type(self) -> Type:
        """The type, with the sizes of a small array if they were always the same."""
        if not isinstance(self.type, ArrayType) or len(self.sizes) != self.type.ndim:
            return self.type
        return ArrayType(self.type.dtype, self.sizes, self.type.layout, self.type.writeable)


def _settles(cls: builtins.type) -> bool:
    """Whether objects of the class, which differ in type, are looked into no more after a while."""
    return is_plain_class(cls) and (cls in _SETTLING or issubclass(cls, tuple))


def _may_be_kept(cls: type) -> bool:
    """Whether an object of the class may live as long as the profile: a user's numbers may have finalizers."""
    if issubclass(cls, (*_KEPT, *_kept_too)):
        return True
    return issubclass(cls, _KEPT_IF_BUILTIN) and not is_open(cls)


def _is_made(kinds: tuple[HeldKind, ...] | None) -> bool:
    """Whether it is a callable that may be made anew for each use."""
    return any(not isinstance(kind, KnownFunction) for kind in kinds or ())


def _is_of_numpy(type_: Type) -> bool:
    if isinstance(type_, UnionType):
        return any(map(_is_of_numpy, type_.members))
    if isinstance(type_, ItemsType):
        return any(map(_is_of_numpy, type_.items))
    if isinstance(type_, ListType):
        return _is_of_numpy(type_.item)
    return isinstance(type_, ArrayType | ScalarType)


class Profile:
    """Observations by the id of the `prim::profile` node, joined over all runs.

    Other threads, and handlers of signals, may record while it is read.
    """

    __slots__ = ("_held", "_observations")

    def __init__(self) -> None:
        self._observations: dict[int, Observation] = {}
        self._held: dict[int, Observation] = {}  # by `py::call_method`

    def record(self, node_id: int, value: object) -> object:
        """See `value` at the node; gives its class if nothing new can come of objects of it, or the very object."""
        found = self._observations.get(node_id)
        if found is None:
            found = self._observations[node_id] = Observation()
        return found.see(value)

    def record_held(self, node_id: int, function: object) -> None:
        """See what a `py::call_method` is about to call, which is no method but an attribute of the object."""
        self._observation_of_call(node_id).see(function)

    def record_receiver(self, node_id: int, receiver: object, method: str) -> None:
        """See an object of which a `py::call_method` is about to call a method that its class has."""
        self._observation_of_call(node_id).see_receiver(receiver, method)

    def _observation_of_call(self, node_id: int) -> Observation:
        found = self._held.get(node_id)
        if found is None:
            found = self._held[node_id] = Observation()
        return found

    def observation(self, node_id: int) -> Observation | None:
        """Give all that was seen at the node; None: it never ran."""
        return self._observations.get(node_id)

    def kinds_at(self, node_id: int) -> tuple[HeldKind, ...]:
        """Give the kinds of callables that came to the node; none if other objects came, or too many kinds."""
        found = self._observations.get(node_id)
        return (found.kinds or ()) if found is not None else ()

    def observed(self, node_id: int, *, with_sizes: bool = False) -> Type | None:
        """Give the join of the types seen at the node; None: it never ran."""
        found = self._observations.get(node_id)
        if found is None:
            return None
        return found.sized_type() if with_sizes else found.type

    def summary(self) -> dict[int, object]:
        """What code that is made for the observations depends on, by node."""
        held = ((-n, found) for n, found in self._held.copy().items())
        seen = (*self._observations.copy().items(), *held)
        return {
            node_id: (
                found.type,
                found.sizes,
                found.saw_none,
                found.beside_none,
                id(found.constant),
                found.summary_of_kinds(),
            )
            for node_id, found in seen
        }

    @property
    def has_sizes(self) -> bool:
        """Whether small arrays of known sizes were seen."""
        return any(set(found.sizes) - {None} for found in list(self._observations.values()))

    @property
    def elements(self) -> int:
        """How many elements the largest array had."""
        return max((found.elements for found in list(self._observations.values())), default=0)

    @property
    def has_arrays(self) -> bool:
        """Whether arrays or numbers of NumPy's were seen."""
        return any(_is_of_numpy(found.type) for found in list(self._observations.values()))

    def held(self, node_id: int) -> Observation | None:
        """Give what is known of what a `py::call_method` called, attributes or methods of receivers; None: nothing."""
        return self._held.get(node_id)

    def clear(self) -> None:
        """Forget all."""
        self._observations.clear()
        self._held.clear()

    def __len__(self) -> int:
        return len(self._observations)

    def __str__(self) -> str:
        """One line a node, for the log."""
        lines = []
        for node_id, seen in sorted(self._observations.items()):
            constant = "" if seen.constant is NO_CONSTANT else f", always {seen.constant!r:.60}"
            lines.append(f"{node_id}: {seen.type} ({seen.count} times{constant})")
        return "\n".join(lines)
