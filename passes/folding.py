"""Compute an operation at compile time, where types and constants decide its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ljit.analysis.alias import is_immutable
from ljit.characters import constant_type
from ljit.cpython.frames import is_raised_by_handler
from ljit.ir import UNKNOWN, Effect, OpDef
from ljit.types import ANY, INT, UINT, Type, join
from ljit.value_types import type_of

__all__ = ["fold"]

_SMALL = 4096  # no op makes something huge of two ints below
_BITS = 128  # of ints that do not fit in 64 bits, as CPython does
_LONGEST = 64  # of strings and tuples
_SIZED = (str, bytes, tuple)


def fold(
    op: OpDef,
    types: Sequence[Type],
    constants: Sequence[object],
    attrs: Mapping[str, object],
    expected: Type,
) -> object:
    """Give the only result of the operation, or `UNKNOWN`.

    `constants` has `UNKNOWN` for operands that are no constants; `expected` is the inferred type. What raises or
    warns is left to the run.
    """
    if op.fold is not None:
        result = op.fold(types, constants, **attrs)
        if result is not UNKNOWN:
            return result if is_immutable(type_of(result)) else UNKNOWN
    if any(c is UNKNOWN for c in constants):
        return UNKNOWN
    # an int that does not fit in 64 bits is `Any`, but what it does is known
    types = [INT if type(c) is int else t for c, t in zip(constants, types, strict=True)]
    if not _can_evaluate(op, types, constants, attrs):
        return UNKNOWN
    result = _evaluate(op, constants, attrs)
    if result is UNKNOWN:
        return UNKNOWN
    type_ = constant_type(result)
    if isinstance(result, int) and type_ in (UINT, ANY):  # it does not fit in 64 bits
        return result if expected in (INT, UINT, ANY) and result.bit_length() <= _BITS else UNKNOWN
    is_expected = expected == ANY or join(expected, type_) == expected
    return result if is_expected and is_immutable(type_) else UNKNOWN


def _can_evaluate(
    op: OpDef, types: Sequence[Type], constants: Sequence[object], attrs: Mapping[str, object]
) -> bool:
    effect = op.effects_on(types, attrs)
    if op.evaluate is None or effect & ~Effect.RAISE or not all(map(is_immutable, types)):
        return False
    if len(constants) < 2 or op.is_commutative or op.is_modular:
        return True
    first, *others = constants
    is_moderate = type(first) is int and first.bit_length() <= _BITS
    return (is_moderate or _is_small(first)) and all(map(_is_small, others))


def _is_small(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= _SMALL
    return len(value) <= _LONGEST if isinstance(value, _SIZED) else True


def _evaluate(op: OpDef, constants: Sequence[object], attrs: Mapping[str, object]) -> object:
    assert op.evaluate is not None
    if any(isinstance(c, _SIZED) for c in constants):
        if not all(map(_is_small, constants)):
            return UNKNOWN
    try:
        with np.errstate(all="raise"):
            return op.evaluate(*constants, **attrs)
    except Exception as error:  # whatever the user's operation raises, it raises when it runs
        if is_raised_by_handler(error):
            raise
        return UNKNOWN
