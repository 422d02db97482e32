"""How a NumPy ufunc becomes an op: one declaration from the ufunc and the body of its inner loop.

Everything but the body follows from the ufunc itself: result dtypes from ``resolve_dtypes``, shapes
from broadcasting. Native code gives NumPy's values, for scalars and arrays alike, but not its
RuntimeWarnings (overflow, division by zero). float16 is computed as NumPy does it: in float32, and rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.convert import as_numpy_bool, convert
from ljit.ops.arrays.rules import (
    Kind,
    element_of,
    elementwise_result,
    kinds_of,
    loop_dtypes,
    strong_kind,
)
from ljit.records import Record
from ljit.types import ANY, BOOL, FLOAT, INT, ArrayType, ScalarType, TupleType, Type

__all__ = [
    "UFUNCS",
    "Blocks",
    "Body",
    "Limits",
    "UfuncRule",
    "declare_boxed_ufunc",
    "declare_ufunc",
]

Body = Callable[..., V]
#: NumPy's inner loop for these dtypes; or ljit's own for rows of an elementary function, by C's name of that
RowLoop = tuple[np.ufunc | str, tuple[np.dtype, ...]]
#: the least and the greatest number for each operand; none: any
Limits = tuple[tuple[float, float], ...]
#: by the dtype: where NumPy's loop is good, or the name of ljit's own
Blocks = Mapping[str, Limits | str]

_PARAMETERS = {1: "(x, /)", 2: "(x1, x2, /)", 3: "(x1, x2, x3, /)"}
_FLOAT16 = np.dtype(np.float16)
_FLOAT32 = ScalarType(np.dtype(np.float32))
_WIDE = ("X86_V4", "AVX512_SKX")  # what NumPy calls machines with vectors of 64 bytes

#: Which rule implements an op, by the op's name; the in-place ops are made of these.
UFUNCS: dict[str, UfuncRule] = {}


class UfuncRule(Record):
    """Infer rule, effects and lowering of one ufunc; its body takes the dtype kinds `kinds`.

    The body gets operands of the loop's dtypes, or, unless `converts`, the operands as they are (then no
    Python int is too large for it). Python scalars among the first `strong` operands are not weak.
    """

    function: np.ufunc
    body: Body | None
    kinds: str
    raising: str = ""  # dtype kinds for which the body may bail for some values
    converts: bool = True
    strong: int = 0
    widens: bool = True  # whether float16 may be computed in float32
    #: computes float16 (in float32) where NumPy does otherwise than for wider numbers
    halves: Body | None = None
    wide: str = ""  # dtypes whose loops are NumPy's best ones where those have vectors of 64 bytes
    #: those of them that ljit has better functions of rows for, by name
    rows: Mapping[str, str] = MappingProxyType({})
    #: those for which nests go through blocks, as a loop for rows of the function is so much better
    blocks: Blocks = MappingProxyType({})

    def loop(self, types: Sequence[Type]) -> tuple[np.dtype, ...] | None:
        kinds = kinds_of(types)
        if kinds is None:
            return None
        if self.strong:
            kinds = (*map(strong_kind, kinds[: self.strong]), *kinds[self.strong :])
        return self.loop_of_kinds(kinds)

    def loop_of_kinds(self, kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...] | None:
        return loop_dtypes(self.function, kinds)

    def may_raise(self, loop: Sequence[np.dtype]) -> bool:
        """Whether the body of this loop may bail."""
        return loop[0].kind in self.raising

    def infer(self, *types: Type) -> Type:
        loop = self.loop(types)
        if loop is None:
            return ANY
        results = tuple(elementwise_result(types, d) for d in loop[len(types) :])
        if ANY in results:
            return ANY
        return results[0] if len(results) == 1 else TupleType(results)

    def effects(self, *types: Type) -> Effect:
        loop = self.loop(types)
        if loop is None:
            return Effect.CALL
        overflows = self.converts and _may_overflow(types, loop)
        effect = Effect.RAISE if self.may_raise(loop) or overflows else Effect.PURE
        arrays = [t for t in types if isinstance(t, ArrayType)]
        if arrays:
            effect |= Effect.READ
        if any(t.ndim for t in arrays):
            effect |= Effect.ALLOC
        if len(arrays) > 1:
            effect |= Effect.RAISE  # the shapes may not broadcast
        return effect

    def row_loop(self, *types: Type) -> RowLoop | None:
        """The loop for arrays of its own dtypes, if it is faster on this machine than what the body becomes.

        One of two operands may be a number.
        """
        loop = self.loop(types)
        if loop is None or loop[0].char not in self.wide:
            return None
        arrays = [t for t in types if isinstance(t, ArrayType)]
        if not arrays or any(t.dtype != loop[0] for t in arrays):
            return None
        if not has_wide_vectors(self.function, loop):
            return None
        return self.rows.get(loop[0].char, self.function), loop

    def block_loop(self, *types: Type) -> tuple[RowLoop, Limits] | None:
        """The loop for numbers of its own dtypes, if it is much faster on this machine than the body."""
        loop = self.loop(types)
        way = self.blocks.get(loop[0].char) if loop is not None else None
        if loop is None or way is None or any(t not in (ScalarType(loop[0]), FLOAT) for t in types):
            return None
        if not has_wide_vectors(self.function, loop):
            return None
        return ((way, loop), ()) if isinstance(way, str) else ((self.function, loop), way)

    def can_lower(self, *types: Type) -> bool:
        loop = self.loop(types)
        if loop is None or self.body is None or (_FLOAT16 in loop and not self.widens):
            return False
        if len(loop) > len(types) + 1 and (
            _FLOAT16 in loop or any(isinstance(t, ArrayType) for t in types)
        ):
            return False  # several results
        return all(d.kind in self.kinds for d in loop[: len(types)])

    def lower(self, e: Emitter, *xs: V) -> V:
        loop = self.loop([element_of(x.type) for x in xs])
        assert loop is not None
        assert self.body is not None
        if self.converts:
            xs = tuple(_widened(e, convert(e, x, d)) for x, d in zip(xs, loop, strict=False))
        if loop[-1] == _FLOAT16:
            return e.cast((self.halves or self.body)(e, *xs), ScalarType(_FLOAT16))
        result = self.body(e, *xs)
        return _numpy_result(e, result)


def _may_overflow(types: Sequence[Type], loop: Sequence[np.dtype]) -> bool:
    """Whether a Python int operand is narrowed to the loop's dtype."""
    narrow = (t == INT and d.kind in "iu" and d != np.int64 for t, d in zip(types, loop))
    return any(narrow)


def _widened(e: Emitter, x: V) -> V:
    """The number that bodies compute with: rounding their float32 once is rounding exactly."""
    return e.cast(x, _FLOAT32) if x.type == ScalarType(_FLOAT16) else x


def _numpy_result(e: Emitter, x: V) -> V:
    """Turn a condition into ``np.bool``; other results of a body are NumPy scalars already."""
    return as_numpy_bool(e, x) if x.type == BOOL else x


@cache
def has_wide_vectors(function: np.ufunc, loop: tuple[np.dtype, ...]) -> bool:
    """Whether NumPy chose a loop with vectors of 64 bytes for this machine; old versions do not tell."""
    introspect = getattr(np.lib, "introspect", None)
    if introspect is None:
        return False
    name, signature = function.__name__, "".join(dtype.char for dtype in loop)
    found = introspect.opt_func_info(func_name=f"^{name}$")
    return found.get(name, {}).get(signature, {}).get("current") in _WIDE


def declare_ufunc(
    function: np.ufunc,
    body: Body | None,
    kinds: str = "fc",
    *,
    raising: str = "",
    converts: bool = True,
    strong: int = 0,
    widens: bool = True,
    halves: Body | None = None,
    wide: str = "",
    rows: Mapping[str, str] = MappingProxyType({}),
    blocks: Blocks = MappingProxyType({}),
    **fields: Any,
) -> OpDef:
    """Declare the ufunc as an op; `body(e, *xs)` computes on scalars of the loop's dtypes."""
    rule = UfuncRule(
        function, body, kinds, raising, converts, strong, widens, halves, wide, rows, blocks
    )
    name = fields.pop("name", f"np::{function.__name__}")
    UFUNCS[name] = rule
    fields.setdefault("samples", partial(_samples, rule, function))
    return declare(
        OpDef(
            name,
            Schema(fields.pop("schema", _PARAMETERS[function.nin])),
            fields.pop("doc", f"``np.{function.__name__}``"),
            infer=fields.pop("infer", rule.infer),
            evaluate=fields.pop("evaluate", function),
            lower=rule.lower if body is not None else None,
            can_lower=rule.can_lower,
            effects=fields.pop("effects", rule.effects),
            callables=fields.pop("callables", (function,)),
            elementwise=True,
            row_loop=rule.row_loop if wide else None,
            block_loop=rule.block_loop if blocks else None,
            **fields,
        )
    )


def declare_boxed_ufunc(function: np.ufunc) -> OpDef:
    """Declare a ufunc without a native body: typed results, NumPy's own code."""
    return declare_ufunc(function, None)


def _samples(rule: UfuncRule, function: np.ufunc) -> tuple[tuple[object, ...], ...]:
    """Operands for the registry-wide tests: those of a few dtypes that the ufunc takes."""
    candidates: tuple[Any, ...] = (
        np.float64(0.75),
        np.int32(3),
        np.bool(True),
        np.array([0.25, 0.5, 1.0]),
        np.array([[1, 2], [3, 4]], np.int64),
        np.complex128(1 + 2j),
    )
    taken = [x for x in candidates if rule.loop_of_kinds((x.dtype,) * function.nin) is not None]
    return tuple((x,) * function.nin for x in taken)


def scalar_type_of(x: V) -> ScalarType:
    """Give the type of a NumPy scalar inside a body."""
    assert isinstance(x.type, ScalarType)
    return x.type


def kind(x: V) -> str:
    """Give the dtype's kind of a number inside a body: i u f c b."""
    return scalar_type_of(x).dtype.kind


def constant(e: Emitter, like: V, value: float) -> V:
    """Give a number of the type of another one."""
    return e.const(like.type, value)


def is_zero(e: Emitter, x: V) -> V:
    """Give the condition that a number is 0."""
    return e.compare("eq", x, constant(e, x, 0))
