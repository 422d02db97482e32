"""The digits that a ``sum`` of floats loses, which CPython 3.12 and later add at its end.

Neumaier's sum (1974) keeps the rounding errors of its additions in a float of their own. CPython's ``sum`` does so as
long as the sum is a float and the items are floats and small ints. What comes before is a sum of small ints; with the
first item of another kind it adds what was lost so far, and no more is kept from then on. The state of these three is
in the sum's type and the lost digits: NaN where no more are kept, which is also what overflow makes of them.

The sum itself is `py::add`, so that a sum of ints is nothing but that.
"""

from __future__ import annotations

import math
import sys

from ljit.ir import UNKNOWN, Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.python.numbers import condition_and, is_finite
from ljit.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    STR,
    ArrayType,
    ListType,
    ObjectType,
    ScalarType,
    TupleType,
    Type,
)

__all__ = ["COMPENSATES", "first_lost", "lost_by_adding", "with_lost"]

COMPENSATES = sys.version_info >= (3, 12)

_INTS = (BOOL, INT)
_OTHERS = (ArrayType, ListType, ObjectType, ScalarType, TupleType)
_LONGS = range(-(2**63), 2**63)


def first_lost(start: object) -> float:
    """The lost digits before the first item; NaN: what ``sum`` starts with is no float or small int."""
    is_small = type(start) is int and start in _LONGS
    return 0.0 if is_small or type(start) is float else math.nan


def _is_small(x: object) -> bool:
    return isinstance(x, int) and int(x) in _LONGS


def _is_other(type_: Type) -> bool:
    """Whether the values of a type are neither ints nor exactly floats."""
    return type_ in (COMPLEX, STR) or isinstance(type_, _OTHERS)


# -- before an item is added -----------------------------------------------------------------------


def _settle(total: object, lost: float, x: object) -> object:
    return total if type(x) is float or _is_small(x) else _with_lost(total, lost)


def _settles_nothing(total: Type, lost: Type, x: Type) -> bool:
    return x == FLOAT or x in _INTS or total in _INTS or _is_other(total)


declare(
    OpDef(
        "prim::settled_sum",
        Schema("(total, lost, x)"),
        "The sum so far to which ``sum`` adds `x`: with what was lost, if no more is kept from here on.",
        infer=lambda total, lost, x: total,
        evaluate=_settle,
        keeps=_settles_nothing,
        lower=lambda e, total, lost, x: with_lost(e, total, lost),
        can_lower=lambda total, lost, x: total == FLOAT and _is_other(x),
        effects=Effect.PURE,
        samples=(
            *((1.5, 2.0**-60, 1.0), (1.5, 0.25, 2**70), (1.5, 0.25, 1j), (3, 0.0, 1j)),
            *((1.5, math.nan, 1j), (-0.0, 0.0, 1j), (1.5, 0.25, True), (2**70, math.nan, 1.5)),
        ),
    )
)

# -- behind ----------------------------------------------------------------------------------------


def _lose(lost: float, total: object, x: object, new: object) -> float:
    match total, x, new:
        case float(), float(), float() if type(total) is type(x) is float:
            larger, smaller = (total, x) if abs(total) >= abs(x) else (x, total)
            return lost + ((larger - new) + smaller)
        case float(), int(), float() if type(total) is float and _is_small(x):
            return lost
        case int(), int(), int() if type(total) is int and type(x) in (int, bool):
            return lost if _is_small(total) and _is_small(x) and _is_small(new) else math.nan
        case int(), _, float() if type(total) is int and type(new) is float:
            return lost
    return math.nan


def _loses_nothing(lost: Type, total: Type, x: Type, new: Type) -> bool:
    if total == FLOAT:
        return x in _INTS
    return total == INT and ((x in _INTS and new == INT) or new == FLOAT)


def _fold_lost(types: tuple[Type, ...], _constants: object) -> object:
    _, total, x, new = types
    keeps_none = _is_other(total) or (total in (INT, FLOAT) and _is_other(new) and _is_other(x))
    return math.nan if keeps_none or (total == FLOAT and _is_other(x)) else UNKNOWN


def lost_by_adding(e: Emitter, lost: V, total: V, x: V, new: V) -> V:
    """Add what the sum `new` of two floats lost to what was lost before."""
    if e.fastmath or not total.type == x.type == FLOAT:
        return lost
    is_larger = e.compare("ge", e.intrinsic("fabs", total), e.intrinsic("fabs", x))
    larger, smaller = e.select(is_larger, total, x), e.select(is_larger, x, total)
    return e.add(lost, e.add(e.sub(larger, new), smaller))


declare(
    OpDef(
        "prim::lost_digits",
        Schema("(lost, total, x, new)"),
        "What a ``sum`` has lost once `x` was added to `total`, which is `new`; NaN: no more is kept.",
        infer=lambda lost, total, x, new: FLOAT,
        evaluate=_lose,
        keeps=_loses_nothing,
        fold=_fold_lost,
        lower=lost_by_adding,
        can_lower=lambda lost, total, x, new: (
            total == x == new == FLOAT or _loses_nothing(lost, total, x, new)
        ),
        effects=Effect.PURE,
        samples=(
            *((0.0, 1e16, 1.0, 1e16), (0.5, 1.0, 1e16, 1e16), (0.0, 0.1, 0.2, 0.1 + 0.2)),
            *((0.0, math.inf, 1.0, math.inf), (0.0, 1.5, 2, 3.5), (0.0, 1.5, True, 2.5)),
            *((0.0, 1, 2, 3), (0.0, 1, 2.5, 3.5), (0.0, 2**62, 2**62, 2**63), (0.0, 0, 1j, 1j)),
            *((0.5, 1.5, 1j, 1.5 + 1j), (math.nan, 1.5, 0.1, 1.6), (0.0, 2**70, 1, 2**70 + 1)),
        ),
    )
)

# -- at the end ------------------------------------------------------------------------------------


def _with_lost(total: object, lost: float) -> object:
    return total + lost if type(total) is float and lost and math.isfinite(lost) else total


def with_lost(e: Emitter, total: V, lost: V) -> V:
    """Add what was lost to a float; nothing to -0.0, and no NaN."""
    if total.type != FLOAT:
        return total
    is_added = condition_and(e, is_finite(e, lost), e.compare("ne", lost, 0.0))
    return e.select(is_added, e.add(total, lost), total)


declare(
    OpDef(
        "prim::sum_with_lost",
        Schema("(total, lost)"),
        "What ``sum`` gives: the sum with what was lost.",
        infer=lambda total, lost: total,
        evaluate=_with_lost,
        keeps=lambda total, lost: total in _INTS or _is_other(total),
        lower=with_lost,
        can_lower=lambda total, lost: total == FLOAT or total in _INTS or _is_other(total),
        effects=Effect.PURE,
        samples=(
            *((1.5, 2.0**-52), (1.5, 0.0), (-0.0, 0.0), (1.5, math.nan), (math.inf, math.nan)),
            *((3, 0.0), (1j, math.nan), (2**70, math.nan), (1e308, math.inf)),
        ),
    )
)
