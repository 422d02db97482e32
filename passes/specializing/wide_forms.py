"""Operations on ints that may be beyond int64: which op, of `ljit/ops/python/wide_ints.py` or of int64, computes them.

    x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF     # wide::and(wide::mul(%x, %8192), %mask), then wide::xor
    k = x & 1023                            # an int64 again: py::and of the low bits

What is known to fit in int64 is of type int, so that indices, counts and differences are what they always are. An
operation whose result was once outside of [0, 2**64) is one of objects in the next compile, as are all that have no
native code for such ints; one whose result was beyond int64 is taken for one of these ints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Protocol

from ljit.ir import Node, OpDef, Value, get_op
from ljit.ops.members import METHOD
from ljit.ops.python.types import UINT64
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.requests import Request
from ljit.passes.specializing.wide_products import ProductFailures, WideProducts
from ljit.types import ANY, BOOL, FLOAT, INT, UINT

__all__ = ["WideFailures", "WideForms"]

_MASK = 2**64 - 1
_MOST_DIVISOR = 2**512  # whose reciprocal makes no subnormal quotient of an int of 64 bits
_INTS = (BOOL, INT, UINT)


class WideFailures(ProductFailures, Protocol):
    """Where ints were outside of what native code takes."""

    def is_widened(self, node_id: int) -> bool:
        """Whether native code failed at this node."""


class WideForms:
    """Finds the forms of operations, and writes what their operands need in front of them."""

    def __init__(self, out: GraphWriter, failures: WideFailures) -> None:
        self.out = out
        self.failures = failures
        self.products = WideProducts(out, failures)

    def form(self, request: Request, node: Node) -> Request:
        """Give the operation with operands that the op takes; the same if no int may be beyond int64."""
        product = self.products.form(request, node)
        if product is not None and product.op is not request.op:
            return product
        inputs = (request := product or request).inputs
        is_wide = any(v.type == UINT for v in inputs)
        if not is_wide and not self._may_outgrow(request, node):
            return request
        if request.op.keeps_unions or request.op is METHOD:
            return request
        failed = self.failures.was_no_uint(node.id)
        if not all(v.is_constant for v in inputs):
            operation = _Operation(self.out, request, node)
            found = operation.form() if not failed else operation.form_of_any()
            if found is not None:
                return found
        if is_wide and not failed and (found := self._of_uints(request, node)) is not None:
            return found
        return self._plain(request, node, failed=failed) if is_wide else request

    def _of_uints(self, request: Request, node: Node) -> Request | None:
        """The operation on uints alone, as ``min(x, y)``, if it takes these."""
        inputs = request.inputs
        types = [UINT if v.type == INT else v.type for v in inputs]
        if set(types) != {UINT} or not request.op.has_lowering(types, request.attrs):
            return None
        operands = (self.out.as_type(v, UINT, node) for v in inputs)
        return Request(request.op, tuple(operands), request.attrs)

    def _may_outgrow(self, request: Request, node: Node) -> bool:
        """Whether a result was beyond int64 before, or it is the remainder of 2**64."""
        wide = request.op.wide
        if wide is None or not all(v.type in _INTS or _is_long(v) for v in request.inputs):
            return False
        if any(map(_is_long, request.inputs)):
            return True
        return self.failures.is_widened(node.id) and get_op(wide).is_modular

    def _plain(self, request: Request, node: Node, *, failed: bool) -> Request:
        """The operation on objects, or on int64s if it has native code for these only."""
        op, attrs = request.op, request.attrs
        with_objects, with_ints = (
            [t if v.type == UINT else v.type for v in request.inputs] for t in (ANY, INT)
        )
        wanted = op.number_type(*with_ints) if op.number_type is not None else None
        if wanted == UINT64:  # stored in an array of such numbers
            inputs = (
                self.out.as_number(v, UINT64, node) if v.type == UINT else v for v in request.inputs
            )
            return Request(op, tuple(inputs), attrs)
        takes_ints = not failed and op.has_lowering(with_ints, attrs)
        if takes_ints and not op.has_lowering(with_objects, attrs):
            narrow = self._as_int
        else:
            narrow = self._as_object
        inputs = (narrow(v, node) if v.type == UINT else v for v in request.inputs)
        return Request(op, tuple(inputs), attrs)

    def _as_int(self, value: Value, node: Node) -> Value:
        if value.is_constant:
            return self._as_object(value, node)
        return self.out.append(get_op("wide::to_int"), (value,), like=node).output

    def _as_object(self, value: Value, node: Node) -> Value:
        if value.is_constant:
            return self.out.constant(value.constant, boxed=True)
        return self.out.append(get_op("wide::object"), (value,), like=node).output


class _Operation:
    """One operation, at a node of the baseline graph."""

    def __init__(self, out: GraphWriter, request: Request, node: Node) -> None:
        self.out, self.node = out, node
        self.op, self.inputs = request.op, request.inputs

    def form(self) -> Request | None:
        """Give the operation as one of native code; None: there is none."""
        types = [v.type for v in self.inputs]
        if self.op.wide is None:
            return None
        if FLOAT in types:
            return self._of_floats()
        if not all(t in _INTS or _is_long(v) for t, v in zip(types, self.inputs, strict=True)):
            return None
        rule = _rules().get(self.op)
        found = rule(self, *self.inputs) if rule is not None else None
        return found if found is not None else self._usual()

    def form_of_any(self) -> Request | None:
        """Give the operation as one that takes negative ints as well."""
        is_and = self.op.wide is not None and _rules().get(self.op) is _Operation.conjunction
        return self.signed_mask(*self.inputs) if is_and else None

    def _usual(self) -> Request | None:
        assert self.op.wide is not None
        operands = [self.uint(v) for v in self.inputs]
        if None in operands:
            return None
        return Request(get_op(self.op.wide), tuple(operands), {})  # type: ignore[arg-type]

    def _of_floats(self) -> Request | None:
        """Beside a float arithmetic takes an int as the nearest float; a comparison does not."""
        if not {v.type for v in self.inputs} <= {FLOAT, UINT}:
            return None
        if self.op.infer_types([FLOAT] * len(self.inputs), {}) != (FLOAT,):
            return None
        return Request(self.op, tuple(map(self._float, self.inputs)), {})

    def _float(self, value: Value) -> Value:
        if value.type == FLOAT:
            return value
        if value.is_constant:
            return self.out.constant(float(value.constant))  # type: ignore[arg-type]
        return self.made("wide::float", value)

    # -- operands ----------------------------------------------------------------------------------

    def made(self, op: str, *operands: Value, **attrs: object) -> Value:
        return self.out.append(get_op(op), operands, attrs, like=self.node).output

    def uint(self, value: Value, *, wraps: bool = False) -> Value | None:
        """Give an int as one in [0, 2**64), with a check if need be; None: it is known not to be."""
        if value.type == UINT:
            return value
        if value.type == BOOL:
            value = self.made("py::pos", value)
        if value.type != INT:
            return None
        if value.is_constant and not wraps and _number(value) < 0:
            return None
        return self.made("wide::from_int", value, **({"wraps": True} if wraps else {}))

    def as_int(self, value: Value) -> Request:
        """An int in [0, 2**64) that is known to fit in int64, as one of these."""
        return Request(get_op("wide::to_int"), (value,), {"wraps": True})

    # -- operators ---------------------------------------------------------------------------------

    def conjunction(self, x: Value, y: Value) -> Request | None:
        """``x & y``: an int64 if one of them is a constant of that kind, unless that is negative."""
        for value, mask in ((x, y), (y, x)):
            if value.type == UINT and _is_int64(mask):
                if _number(mask) >= 0:
                    return self.masked(value, _number(mask))
                return self.signed_mask(value, mask)
            if mask.is_constant and mask.type == UINT and value.type == INT:
                return self.masked(value, _number(mask))
        return None

    def signed_mask(self, x: Value, y: Value) -> Request | None:
        """``x & y`` of one in [0, 2**64) and an int64 that may be negative."""
        number, mask = (x, y) if x.type == UINT else (y, x)
        if (number.type, mask.type) != (UINT, INT):
            return None
        return Request(get_op("wide::mask"), (number, mask), {})

    def masked(self, x: Value, mask: int) -> Request:
        if mask > _MASK // 2:
            low = self.uint(x, wraps=True)
            assert low is not None
            return Request(get_op("wide::and"), (low, self.out.constant(mask)), {})
        low = self.made("wide::to_int", x, wraps=True) if x.type == UINT else x
        return Request(get_op("py::and"), (low, self.out.constant(mask)), {})

    def left_shift(self, x: Value, count: Value) -> Request | None:
        """``x << count``: a product, if the count is known."""
        number = self.uint(x)
        if number is None or count.type == UINT:
            return None
        if _is_int64(count) and 0 <= _number(count) < 64:
            factor = self.uint(self.out.constant(1 << _number(count)))
            assert factor is not None
            return Request(get_op("wide::mul"), (number, factor), {})
        return Request(get_op("wide::lshift"), (number, self._plain_int(count)), {})

    def right_shift(self, x: Value, count: Value) -> Request | None:
        """``x >> count``: an int64, if the count is known."""
        if x.type != UINT or count.type == UINT:
            return None
        if _is_int64(count) and 0 < _number(count) < 64:
            return Request(get_op("wide::high_bits"), (x,), {"count": _number(count)})
        return Request(get_op("wide::rshift"), (x, self._plain_int(count)), {})

    def _plain_int(self, value: Value) -> Value:
        return self.made("py::pos", value) if value.type == BOOL else value

    def quotient(self, x: Value, y: Value) -> Request | None:
        """``x // y``: an int64, if the divisor is known to be more than 1."""
        divisor = _number(y) if _is_int64(y) else 0
        if x.type != UINT or divisor < 2:
            return None
        if not divisor & (divisor - 1):
            return Request(get_op("wide::high_bits"), (x,), {"count": divisor.bit_length() - 1})
        number = self.uint(y)
        assert number is not None
        return self.as_int(self.made("wide::floordiv", x, number))

    def remainder(self, x: Value, y: Value) -> Request | None:
        """``x % y``: less than the divisor. Of a power of two it is a mask."""
        if y.is_constant and type(y.constant) is int:
            divisor = _number(y)
            if 0 < divisor <= _MASK + 1 and not divisor & (divisor - 1):
                return self.masked(self._plain_int(x), divisor - 1)
        number, divided = self.uint(x), self.uint(y)
        if number is None or divided is None:
            return None
        if y.type == UINT:
            return Request(get_op("wide::mod"), (number, divided), {})
        return self.as_int(self.made("wide::mod", number, divided))

    def sum(self, x: Value, y: Value) -> Request | None:
        """``x + -3`` is ``x - 3``, as a negative number is none of these."""
        return self._with_opposite("wide::sub", x, y) or self._with_opposite("wide::sub", y, x)

    def difference(self, x: Value, y: Value) -> Request | None:
        """``x - -3`` is ``x + 3``."""
        return self._with_opposite("wide::add", x, y)

    def _with_opposite(self, op: str, x: Value, y: Value) -> Request | None:
        if not _is_int64(y) or _number(y) >= 0:
            return None
        number, other = self.uint(x), self.out.constant(-_number(y))
        operands = number, self.uint(other)
        return None if None in operands else Request(get_op(op), operands, {})  # type: ignore[arg-type]

    def true_quotient(self, x: Value, y: Value) -> Request | None:
        """``x / 2**64``: a power of two divides floats exactly, the nearest one of `x`, too."""
        divisor = _number(y) if y.is_constant and type(y.constant) is int else 0
        if x.type != UINT or not 0 < divisor < _MOST_DIVISOR or divisor & (divisor - 1):
            return None
        return Request(get_op("py::mul"), (self._float(x), self.out.constant(1.0 / divisor)), {})


@cache
def _rules() -> dict[OpDef, Callable[..., Request | None]]:
    """By operator, plain or in place: what it has beside the usual form."""
    plain = {
        "and": _Operation.conjunction,
        "lshift": _Operation.left_shift,
        "rshift": _Operation.right_shift,
        "floordiv": _Operation.quotient,
        "mod": _Operation.remainder,
        "add": _Operation.sum,
        "sub": _Operation.difference,
        "truediv": _Operation.true_quotient,
    }
    return {get_op(f"py::{i}{name}"): rule for name, rule in plain.items() for i in ("", "i")}


def _is_int64(value: Value) -> bool:
    return value.is_constant and value.type == INT


def _is_long(value: Value) -> bool:
    """Whether it is a constant int beyond 64 bits."""
    return value.is_constant and type(value.constant) is int and value.type == ANY


def _number(value: Value) -> int:
    assert isinstance(value.constant, int)
    return value.constant
