"""Products beyond 64 bits of which remainders and halves are taken, without objects.

    x = (x * x + c) % n         # wide::product_mod(%x, %x, %c, 0, %n)
    t = a[i] * k + carry        # wide::product, which nobody reads:
    carry = t >> 64             #   wide::product_high
    a[i] = t & 0xFFFFFFFFFFFFFFFF   # wide::mul and wide::add, which wrap

A sum or product that was beyond 64 bits, and never negative, becomes a `wide::product` if its users in the baseline
graph are such as these. Each of them looks for it behind its operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ljit.ir import Node, OpDef, Value, get_op
from ljit.ops.control import PROFILE
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.requests import Request
from ljit.types import INT, UINT

__all__ = ["ProductFailures", "WideProducts"]

_MASK = 2**64 - 1
_SHIFTS = range(64, 128)


class ProductFailures(Protocol):
    """Where ints were outside of what native code takes."""

    def was_no_uint(self, node_id: int) -> bool:
        """Whether an int there was outside of [0, 2**64)."""

    def was_negative(self, node_id: int) -> bool:
        """Whether the result there was seen to be negative."""


class WideProducts:
    """Writes products, and what is asked of them."""

    def __init__(self, out: GraphWriter, failures: ProductFailures) -> None:
        self.out = out
        self.failures = failures

    def form(self, request: Request, node: Node) -> Request | None:
        """Give the operation as one on, or of, a product of 128 bits; None: it is none."""
        if len(request.inputs) != 2 or request.op.wide is None:
            return None
        if all(v.is_constant for v in request.inputs):
            return None
        first, second = request.inputs
        failed = self.failures.was_no_uint(node.id)
        if request.op.is_modular and failed and not self.failures.was_negative(node.id):
            return self._product(request, node) if _is_taken_apart(node) else None
        product = _terms(first)
        if product is not None and not failed:
            if request.op.asks_low_bits is not None and not request.op.is_modular:
                return self._remainder(product, second, node)
            if _is_number(second, _SHIFTS) and _part(request.op) == "high bits":
                attrs = {"count": second.constant}
                return Request(get_op("wide::product_high"), tuple(product), attrs)
        return self._mask(request, node)

    # -- products ----------------------------------------------------------------------------------

    def _product(self, request: Request, node: Node) -> Request | None:
        find = _TERMS.get(_part(request.op))
        x, y = request.inputs
        terms = find(self, x, y, node) if find is not None else None
        return Request(get_op("wide::product"), tuple(terms), {}) if terms is not None else None

    def _factors(self, x: Value, y: Value, node: Node) -> list[Value] | None:
        if not (_is_int(x) and _is_int(y)):
            return None
        return [self._uint(x, node), self._uint(y, node), *(self._constant(0, node) for _ in "cd")]

    def _summands(self, x: Value, y: Value, node: Node) -> list[Value] | None:
        """A sum of two, or one more in a product that has room for it."""
        for whole, more in ((x, y), (y, x)):
            terms = _terms(whole)
            if terms is None or not _is_int(more):
                continue
            for k in (2, 3):
                if _is_zero(terms[k]):
                    return [*terms[:k], self._uint(more, node), *terms[k + 1 :]]
        if not (_is_int(x) and _is_int(y)):
            return None
        one, none = self._constant(1, node), self._constant(0, node)
        return [self._uint(x, node), one, self._uint(y, node), none]

    # -- what is asked of them -----------------------------------------------------------------------

    def _remainder(self, product: list[Value], divisor: Value, node: Node) -> Request | None:
        if not _is_int(divisor):
            return None
        op, operands = get_op("wide::product_mod"), (*product, self._uint(divisor, node))
        if divisor.type == UINT:
            return Request(op, operands, {})
        rest = self.out.append(op, operands, like=node).output
        return Request(get_op("wide::to_int"), (rest,), {"wraps": True})

    def _mask(self, request: Request, node: Node) -> Request | None:
        """The low bits of a product under a constant mask."""
        if request.op.asks_low_bits is None or not request.op.is_modular:
            return None
        for whole, mask in (request.inputs, request.inputs[::-1]):
            terms = _terms(whole)
            if terms is not None and _is_number(mask, range(_MASK + 1)):
                return Request(request.op, (self._low(terms, node), mask), request.attrs)
        return None

    def _low(self, terms: list[Value], node: Node) -> Value:
        low = terms[0]
        for op, term in zip(("wide::mul", "wide::add", "wide::add"), terms[1:], strict=True):
            low = self.out.append(get_op(op), (low, term), {"wraps": True}, like=node).output
        return low

    # -- operands ----------------------------------------------------------------------------------

    def _uint(self, value: Value, node: Node) -> Value:
        if value.type == UINT:
            return value
        return self.out.append(get_op("wide::from_int"), (value,), like=node).output

    def _constant(self, value: int, node: Node) -> Value:
        return self._uint(self.out.constant(value), node)


#: how a product is made of the operands of an op
_TERMS: dict[str | None, Callable[[WideProducts, Value, Value, Node], list[Value] | None]] = {
    "factors": WideProducts._factors,
    "summands": WideProducts._summands,
}


def _part(op: OpDef) -> str | None:
    """What an operator of Python's does with products."""
    return get_op(op.wide).in_products if op.wide is not None else None


def _terms(value: Value) -> list[Value] | None:
    made = value.node
    is_product = made is not None and made.op.in_products == "product"
    return list(made.inputs) if made is not None and is_product else None


def _is_zero(term: Value) -> bool:
    made = term.made_by(get_op("wide::from_int"))
    if made is None:
        return False
    return _is_number(made.inputs[0], range(1))


def _is_int(value: Value) -> bool:
    is_negative = value.is_constant and type(value.constant) is int and value.constant < 0
    return value.type in (INT, UINT) and not is_negative


def _is_number(value: Value, numbers: range) -> bool:
    return value.is_constant and type(value.constant) is int and value.constant in numbers


def _is_taken_apart(node: Node) -> bool:
    """Whether remainders and halves of the result are taken, at once, and no more."""
    uses = list(node.output.uses)
    if not uses or not all(_takes_part(user, index) for user, index in uses):
        return False
    return _are_next(node, {user for user, _ in uses})


def _are_next(node: Node, users: set[Node]) -> bool:
    """Whether no Snapshot comes before the last of the users: it would need the whole product, as an object."""
    left, following = set(users), node.next
    while left and following is not None:
        left.discard(following)
        is_quiet = following.op.wide is not None or following.op is PROFILE
        if left and following.inputs and not is_quiet:
            return False
        following = following.next
    return not left


def _takes_part(user: Node, index: int) -> bool:
    if user.op.asks_low_bits is not None:
        return user.op.is_modular or index == 0
    if _part(user.op) == "high bits":
        return index == 0 and _is_number(user.inputs[1], _SHIFTS)
    return _part(user.op) == "summands" and _is_taken_apart(user)
