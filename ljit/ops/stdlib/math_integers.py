"""The functions of the module `math` on integers: isqrt, gcd, lcm, factorial, comb.

Native code has those whose results are int64; CPython goes on from the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from ljit.ir import Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.python.int_divisors import greatest_divisor, magnitude
from ljit.ops.python.numbers import at_most, plain_effect, to_float, to_type
from ljit.ops.python.samples import INTS, each
from ljit.ops.ranges.whole_parts import ROOT
from ljit.types import ANY, BOOL, INT, Type

__all__: list[str] = []

_LARGE = "an int that is no int64"
_FACTORIALS = tuple(math.factorial(n) for n in range(21))  # those that are int64
_PAIRS = (
    *((12, 18), (0, 5), (0, 0), (-12, 18), (7, -3), (True, 4), (2**62, 2**40), (-(2**63), 0)),
    *((-(2**63), -(2**63)), (-(2**63), 6), (2**63 - 1, 2**31 - 1), (3, 2.0)),
)


def _math(name: str, schema: str, doc: str, lower: Callable[..., V], **fields: Any) -> OpDef:
    function = getattr(math, name)
    return declare(
        OpDef(
            f"math::{name}",
            Schema(schema),
            doc,
            infer=_infer,
            evaluate=function,
            lower=lower,
            can_lower=lambda *types: _infer(*types) == INT,
            effects=plain_effect,
            callables=(function,),
            **fields,
        )
    )


def _infer(*types: Type) -> Type:
    return INT if types and all(t in (BOOL, INT) for t in types) else ANY


def _lower_isqrt(e: Emitter, n: V) -> V:
    """Correct the float root, which is off by one at most, by exact squares."""
    n = to_type(e, n, INT)
    largest = e.const(INT, math.isqrt(2**63 - 1))
    e.bail_if(e.compare("lt", n, 0), "root of a negative number")
    root = e.cast(e.intrinsic("sqrt", to_float(e, n)), INT)
    root = at_most(e, root, largest)
    root = e.select(e.compare("gt", e.mul(root, root), n), e.sub(root, 1), root)
    above = e.add(root, 1)
    fits = e.bit_and(e.compare("le", above, largest), e.compare("le", e.mul(above, above), n))
    return e.select(fits, above, root)


def _lower_of_sizes(combine: Callable[..., V], e: Emitter, *numbers: V) -> V:
    """Combine the absolute values of the numbers."""
    sizes = [magnitude(e, to_type(e, n, INT)) for n in numbers]
    found = e.retype(reduce(partial(combine, e), sizes), INT)
    e.bail_if(e.compare("lt", found, 0), _LARGE)
    return found


def _common_multiple(e: Emitter, x: V, y: V) -> V:
    divisor = greatest_divisor(e, x, y)
    is_none = e.compare("eq", divisor, 0)  # both are 0
    found, overflows = e.mul_overflow(e.div(x, e.select(is_none, 1, divisor)), y)
    e.bail_if(overflows, _LARGE)
    return found


def _lower_factorial(e: Emitter, n: V) -> V:
    n = to_type(e, n, INT)
    last = e.const(INT, len(_FACTORIALS) - 1)
    e.bail_if(e.compare("lt", n, 0), "factorial of a negative number")
    e.bail_if(e.compare("gt", n, last), _LARGE)
    return e.item_at([e.const(INT, x) for x in _FACTORIALS], n)


def _lower_comb(e: Emitter, n: V, k: V) -> V:
    """Multiply and divide in turn: each quotient is a number of ways, too."""
    n, k = to_type(e, n, INT), to_type(e, k, INT)
    one = e.const(INT, 1)
    is_negative = e.bit_or(e.compare("lt", n, 0), e.compare("lt", k, 0))
    e.bail_if(is_negative, "ways to choose of a negative number")
    rest = e.sub(n, k)
    taken = at_most(e, rest, k)

    def step(i: V, ways: V) -> V:
        product, overflows = e.mul_overflow(ways, e.sub(n, i))
        e.bail_if(overflows, _LARGE)
        return e.div(product, e.add(i, one))

    is_none = e.compare("lt", taken, 0)  # more than there are
    trips = e.select(is_none, 0, taken)
    return e.fold(trips, e.select(is_none, 0, one), step, length=4)


_math(
    "isqrt", "(n, /)", "Square root rounded down to an int.", _lower_isqrt, ranges=ROOT,
    samples=each((*INTS, 15, 16, 17, 3037000499**2 - 1, 3037000499**2, 2**62 - 1, 2.0)),
)  # fmt: skip
_math(
    "gcd", "(*integers)", "Greatest common divisor.",
    partial(_lower_of_sizes, greatest_divisor),
    is_profiled=True, samples=(*_PAIRS, (12, 18, 27), (), (-9,), (-(2**63),), ("a", 3)),
)  # fmt: skip
_math(
    "lcm", "(*integers)", "Least common multiple.",
    partial(_lower_of_sizes, _common_multiple),
    is_profiled=True, samples=(*_PAIRS, (4, 6, 10), (), (-9,), (2**40, 3**30), (0, -(2**63), 3)),
)  # fmt: skip
_math(
    "factorial", "(n, /)", "``n!``", _lower_factorial,
    is_profiled=True, samples=each((0, 1, 5, 20, 21, -1, True, 2.0, 2**63)),
)  # fmt: skip
_math(
    "comb", "(n, k, /)", "Ways to choose k of n.", _lower_comb, is_profiled=True,
    samples=((5, 2), (5, 0), (5, 5), (3, 7), (0, 0), (61, 30), (70, 35), (-1, 2), (4, -1), (True, 1)),
)  # fmt: skip
