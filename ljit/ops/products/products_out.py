"""Products that are stored into a given array: ``np.matmul(a, b, out=c)``, ``np.dot(a, b, c)``, ``a @= b``.

They are computed and then stored, as the array may be one of the operands. An array that takes them otherwise than
element by element, in its own dtype, is left to NumPy.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.types import ANY, ArrayType, Type

__all__: list[str] = []

_EFFECT = Effect.READ | Effect.WRITE | Effect.RAISE


class _Into:
    """The rules of a product with an array for its results."""

    def __init__(self, name: str, *, is_strict: bool) -> None:
        self.name = name
        self.is_strict = is_strict  # whether the array has to be in C order

    @property
    def plain(self) -> OpDef:
        return get_op(self.name)

    def infer(self, out: Type, x: Type, y: Type) -> Type:
        made = self.plain.infer_types([x, y], {})[0]
        if not isinstance(out, ArrayType) or not isinstance(made, ArrayType) or not out.writeable:
            return ANY
        if (out.dtype, out.ndim) != (made.dtype, made.ndim) or out.dtype.kind not in "iufc":
            return ANY
        if any(None not in sizes and len(set(sizes)) > 1 for sizes in zip(out.shape, made.shape)):
            return ANY
        return ANY if self.is_strict and out.layout != "C" else out

    def decompose(self, parts: Parts, out: Value, x: Value, y: Value) -> Value | None:
        """The product, which is stored if the array has just its sizes."""
        is_native = self.plain.has_lowering([x.type, y.type])
        if not is_native or self.infer(out.type, x.type, y.type) == ANY:
            return None
        made = parts.apply(self.name, x, y)
        shapes = [parts.apply("np::shape", a) for a in (out, made)]
        for axis in range(made.type.ndim):  # type: ignore[attr-defined]
            sizes = [parts.apply("prim::TupleIndex", shape, index=axis) for shape in shapes]
            parts.apply("np::unless", parts.constant(1.0), parts.apply("py::ne", *sizes))
        return parts.apply("np::positive_into", out, made)


def _samples(function: Any) -> tuple[tuple[object, ...], ...]:
    """An array for the results, and operands."""
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    pairs = [(a, b), (a.astype(np.int64), b.astype(np.int64)), (a, b[:, 1])]
    return tuple((np.zeros_like(function(x, y)), x, y) for x, y in pairs)


def _declare(name: str, function: Any, operands: tuple[str, str], **fields: Any) -> None:
    rules = _Into(f"np::{name}", is_strict=fields.pop("is_strict"))
    x, y = operands
    declare_function(
        f"{name}_into",
        f"(out!, {x}, {y})",
        rules.infer,
        function,
        doc=f"``np.{name}`` with ``out``, an array that takes the results.",
        evaluate=lambda out, x, y: function(x, y, out=out),
        effect=_EFFECT,
        decompose=rules.decompose,
        samples=_samples(function),
        **fields,
    )


# -- a product in place ----------------------------------------------------------------------------


_IN_PLACE = _Into("np::matmul", is_strict=False)


def _infer_in_place(target: Type, value: Type) -> Type:
    made = get_op("np::matmul").infer_types([target, value], {})[0]
    if not (isinstance(target, ArrayType) and isinstance(made, ArrayType)):
        return ANY
    fits = made.ndim == target.ndim and np.can_cast(made.dtype, target.dtype, "same_kind")
    return target if fits and target.writeable else ANY


def _in_place(parts: Parts, target: Value, value: Value) -> Value | None:
    return _IN_PLACE.decompose(parts, target, target, value)


_declare("matmul", np.matmul, ("x1", "x2"), is_strict=False, parameters=("x1", "x2", "/", "out"))
_declare(
    "dot",
    np.dot,
    ("a", "b"),
    is_strict=True,
    parameters=("a", "b", "out"),
    methods=("ndarray.dot",),
)
declare_function(
    "imatmul",
    "(a!, b)",
    _infer_in_place,
    operator.imatmul,
    doc="``a @= b``",
    callables=(),
    effect=_EFFECT,
    decompose=_in_place,
    samples=((np.eye(3) + 1.0, np.arange(9.0).reshape(3, 3)),),
)
