"""What an exit hands over, and how the interpreter's side puts the values of a Snapshot together from it.

An exit is one call, and hardly ever run: what it costs is compile time, by the number of its calls and operands. So
native code hands over each number and each object once, and a `Recipe` says for each value what it is made of.
What is known while compiling is not handed over at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ljit.ops.containers.iteration_views import VIEW_CLASSES
from ljit.records import Record
from ljit.types import (
    BOOL,
    COMPLEX,
    NamedTupleType,
    RangeType,
    ScalarType,
    SliceType,
    Type,
    ViewType,
)

__all__ = ["Known", "Parts", "Recipe", "put_together"]


class Known(Record, eq=True):
    """A value that is the same each time."""

    value: object


class Parts(Record, eq=True):
    """A value of a type, made of others; a number of NumPy's, or one of two numbers, of the machine's numbers."""

    type: Type
    items: tuple[Recipe, ...]


#: an int: the place of what was handed over, which is the value
Recipe = int | Known | Parts


def put_together(recipe: Recipe, given: Sequence[Any]) -> Any:
    """Make a value of what was handed over."""
    if isinstance(recipe, int):
        return given[recipe]
    if isinstance(recipe, Known):
        return recipe.value
    items = [put_together(item, given) for item in recipe.items]
    match (
        recipe.type
    ):  # with names: CPython 3.11 makes, and keeps, a str to look for those of patterns without
        case ScalarType(dtype=dtype):
            return _number(dtype, items)
        case RangeType():
            return range(*items)
        case SliceType():
            return slice(*items)
        case ViewType(kind=kind):
            return VIEW_CLASSES[kind](items)
        case NamedTupleType(named=named):
            return tuple.__new__(named.cls, items)
    if recipe.type == COMPLEX:
        return complex(*items)
    return bool(items[0]) if recipe.type == BOOL else tuple(items)


def _number(dtype: np.dtype, items: Sequence[Any]) -> Any:
    """Make a number of NumPy's; floats of less than eight bytes come as their bits."""
    if dtype.kind in "biu" or dtype == np.float64:
        return dtype.type(items[0])
    if dtype == np.complex128:
        return dtype.type(complex(*items))
    return np.array(items, f"u{dtype.itemsize // len(items)}").view(dtype)[0]
