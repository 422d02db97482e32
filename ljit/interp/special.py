"""What only specialised graphs contain, interpreted: guards, Snapshots, Deoptimize, Map.

The interpreter runs baseline graphs; that it runs specialised ones too makes it the oracle of the
passes behind `specialize` without any code generation. A failing guard raises `Deoptimized`, which
holds the state to resume the baseline graph with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ljit.characters import constant_type
from ljit.errors import InternalError
from ljit.ops.control import OTHER_SHAPES
from ljit.record_types import RecordType, UnalignedType
from ljit.records import Record
from ljit.types import UINT, ArrayType, ItemsType, Type, UnionType, ViewType, join
from ljit.value_types import type_of

__all__ = [
    "Deoptimized",
    "MapBody",
    "check_assumption",
    "check_guard",
    "deoptimize",
    "has_type",
    "is_type",
    "snapshot",
    "unreachable",
]


class Deoptimized(InternalError):  # noqa: N818 - the name of what happened, not of a fault
    """A specialised graph left for the baseline graph: go on there at `at` with `values` by key.

    In front of any Snapshot `at` is "".
    """

    def __init__(self, reason: str, at: str, values: dict[str, object]) -> None:
        self.reason = reason
        self.at = at
        self.values = values
        super().__init__(f"{reason} (resume at {at or 'no snapshot'})")


class _Assumption(Protocol):
    def holds(self) -> bool: ...


def has_type(value: object, type_: Type) -> bool:
    """Whether `value` belongs to `type_`.

    >>> from ljit.types import FLOAT, INT
    >>> has_type(1, INT), has_type(1, FLOAT), has_type(np.zeros(3), ArrayType(np.dtype("f8"), (4,)))
    (True, False, False)
    """
    if isinstance(type_, ViewType):
        return True  # views are made by ops that infer them, type_of does not look into them
    if isinstance(type_, RecordType):
        return type(value) is np.void and value.dtype == type_.dtype
    if isinstance(type_, UnalignedType):
        return type(value) is np.ndarray and (value.dtype, value.ndim) == (type_.dtype, type_.ndim)
    if type_ == UINT:
        return type(value) is int and 0 <= value < 2**64
    if isinstance(type_, UnionType):
        return any(has_type(value, member) for member in type_.members)
    if isinstance(type_, ItemsType):
        has_items = type(value) is type_.cls and len(value) == len(type_.items)  # type: ignore[arg-type]
        return has_items and all(map(has_type, value, type_.items))  # type: ignore[call-overload]
    return join(_exact_type(value), type_) == type_


def _exact_type(value: object) -> Type:
    """The type of a value with the sizes of arrays."""
    found = type_of(value)
    if isinstance(found, ArrayType):
        assert isinstance(value, np.ndarray)
        return ArrayType(found.dtype, value.shape, found.layout, found.writeable)
    return constant_type(value)


# The functions below are bound to all but the register file at compile time.


def snapshot(
    at: str, names: Sequence[str], sources: Sequence[int], registers: list[object]
) -> object:
    """Keep what a bailout behind this Snapshot goes back to; exceptions that are handled have no names."""
    return at, dict(zip(names, [registers[i] for i in sources], strict=False))


def deoptimize(reason: str, snapshot_register: int | None, registers: list[Any]) -> object:
    """Leave for the last Snapshot."""
    at, values = "", {}
    if snapshot_register is not None and isinstance(registers[snapshot_register], tuple):
        at, values = registers[snapshot_register]
    raise Deoptimized(reason, at, values)


def check_guard(
    type_: Type, source: int, snapshot_register: int | None, registers: list[object]
) -> object:
    """Give the guarded value if it has the type."""
    value = registers[source]
    if not has_type(value, type_):
        deoptimize(f"guard: {type_of(value)} is not {type_}", snapshot_register, registers)
    return value


def check_assumption(
    assumption: _Assumption, snapshot_register: int | None, registers: list[object]
) -> object:
    """Check what is taken for granted about a variable."""
    if not assumption.holds():
        deoptimize("assumption", snapshot_register, registers)
    return None


def is_type(type_: Type, source: int, registers: list[object]) -> object:
    """Whether a Union holds a value of the member `type_`."""
    return has_type(registers[source], type_)


def unreachable(_registers: list[object]) -> object:
    """Report that an op which always raises came back."""
    raise InternalError("control reached prim::Unreachable")


def _with_axes(x: Any) -> Any:
    return np.array(x) if isinstance(x, range) else x


class MapBody(Record):
    """A `prim::Map`: where its block starts, the registers of targets, inputs and parameters."""

    start: int
    targets: tuple[int, ...]
    inputs: tuple[int, ...]
    parameters: tuple[int, ...]
    dtypes: tuple[np.dtype, ...]
    reductions: tuple[Callable[[Any], Any] | None, ...]
    covers: Sequence[Sequence[int]]
    snapshot_register: int | None

    def run(
        self, registers: list[Any], block: Callable[[list[Any]], tuple[object, ...]]
    ) -> tuple[object, ...]:
        """Run `block` for each element, in C order; all is computed before anything is stored."""
        targets = [registers[i] for i in self.targets]
        inputs = [_with_axes(registers[i]) for i in self.inputs]
        arrays = [x for x in (*targets, *inputs) if isinstance(x, np.ndarray)]
        shape = targets[0].shape if targets else np.broadcast_shapes(*(a.shape for a in arrays))
        for positions in self.covers:
            if np.broadcast_shapes(*(inputs[i].shape for i in positions)) != shape:
                deoptimize(OTHER_SHAPES, self.snapshot_register, registers)
        elements = [np.broadcast_to(x, shape) if isinstance(x, np.ndarray) else x for x in inputs]
        fresh = [np.empty(shape, dtype) for dtype in self.dtypes]
        results = [np.empty(shape, target.dtype) for target in targets] + fresh
        for index in np.ndindex(shape):
            for parameter, x in zip(self.parameters, elements, strict=True):
                registers[parameter] = x[index] if isinstance(x, np.ndarray) else x
            for result, value in zip(results, block(registers), strict=True):
                result[index] = value
        for target, result in zip(targets, results, strict=False):
            target[...] = result
        pairs = zip(fresh, self.reductions, strict=True)
        return tuple(x if reduce is None else reduce(x) for x, reduce in pairs)
