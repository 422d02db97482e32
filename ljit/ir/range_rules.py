"""What an op tells the range analysis: `OpDef.ranges`.

All rules get the analysis (`Symbolic`) and the node. A rule speaks of ints as Python has them: of values of type int,
bool and NumPy's integer scalars. An op whose result may wrap has no `value` rule that gives one where it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from ljit.records import Record

if TYPE_CHECKING:
    from ljit.ir.graph import Node, Value
    from ljit.ir.linear import Linear

__all__ = ["Bounds", "FloatBounds", "FloatLimit", "RangeRules", "Refused", "Symbolic"]

Bounds = tuple[int, int]  # the least and the greatest value
FloatBounds = tuple[float, float, bool]  # the same of numbers, and whether it may be NaN instead
FloatLimit = tuple["Value", FloatBounds]
#: an int, how far it may be from what an int64 can be at most, or at least, and checks that see to it
Refused = tuple["Value", "Linear", tuple[str, ...]]


class Symbolic(Protocol):
    """Ints of a graph as polynomials."""

    def value(self, value: Value) -> Linear:
        """Give a number."""

    def item(self, value: Value, index: int) -> Linear:
        """Give an item of a tuple; start, stop and step of a range."""

    def size(self, array: Value, axis: int) -> Linear:
        """Give a size of an array, or that of bytes."""

    def bounds(self, value: Value) -> Bounds:
        """Give the least and the greatest value of a number, whatever else is known."""

    def floats(self, value: Value) -> FloatBounds:
        """Give what a float, or another number as one, is between here."""

    @property
    def has_exact_floats(self) -> bool:
        """Whether floats are computed as the program says, so that they are within these bounds."""

    def constant(self, value: int) -> Linear: ...

    def sign(self, x: Linear) -> int:
        """1: at least 1; -1: at most -1; 0: neither is known."""

    def proves(self, goal: Linear) -> bool:
        """Whether a number is surely at least 0."""

    def implied(self, condition: Value, *, holds: bool) -> Iterable[Linear]:
        """Give what is known where a bool holds, or does not hold."""

    def limits(self, condition: Value, *, holds: bool) -> Iterable[FloatLimit]:
        """Give what floats are between where a bool holds, or does not hold."""

    def below(self, x: Linear, limit: Value) -> Iterable[Linear]:
        """Give what is known where ``x < limit``."""


class RangeRules(Record):
    """The rules of one op; each is optional.

    - `value(s, node, index)`: output `index`, exactly, or None.
    - `unwrapped(s, node)`: the output, a NumPy integer that may wrap, as it is where it does not wrap, or None.
    - `item(s, node, index)`: item of the output, a tuple or range, or None.
    - `size(s, node, axis)`: size of the output, an array, or None.
    - `bounds(s, node)`: of the output, an int of ints, by `Symbolic.bounds` of the operands; or a float that has some
      wherever it is used.
    - `floats(s, node)`: bounds, that hold here, of the output, a float, or None.
    - `facts(s, node)`: polynomials that are at least 0 once the node has run to its end.
    - `implies(s, node, holds)`: those that are at least 0 where the output, a bool, is true (or false).
    - `limits(s, node, holds)`: floats, and what they are between where the output, a bool, is true (or false).
    - `below(s, node, x)`: those that are at least 0 where `x` is less than the output.
    - `checks(s, node)`: names of checks in the lowering, each with a polynomial: if all polynomials of a name are
      at least 0 whenever the node runs, the check cannot fail, and `Node.proven` tells the lowering.
    - `float_checks`: names of those that depend on how large floats are.
    - `refused(s, node)`: ints that are not nearly the least or the greatest int64 behind the node, each with how near
      they are not, and with checks that see to it as long as none of them is proven.
    - `refusal(node)`: the name under which the lowering learns that such checks of another node follow at once, so that
      its own is needless: where that would fail, the output is the least int64, or that of a sum, which wraps. None if
      it has no such check.
    - `is_complete(node)`: whether the checks that are proven are all that the node's lowering has.
    """

    value: Callable[[Symbolic, Node, int], Linear | None] | None = None
    unwrapped: Callable[[Symbolic, Node], Linear | None] | None = None
    item: Callable[[Symbolic, Node, int], Linear | None] | None = None
    size: Callable[[Symbolic, Node, int], Linear | None] | None = None
    bounds: Callable[[Symbolic, Node], Bounds] | None = None
    floats: Callable[[Symbolic, Node], FloatBounds | None] | None = None
    facts: Callable[[Symbolic, Node], Iterable[Linear]] | None = None
    implies: Callable[[Symbolic, Node, bool], Iterable[Linear]] | None = None
    limits: Callable[[Symbolic, Node, bool], Iterable[FloatLimit]] | None = None
    below: Callable[[Symbolic, Node, Linear], Iterable[Linear]] | None = None
    checks: Callable[[Symbolic, Node], Iterable[tuple[str, Linear]]] | None = None
    float_checks: tuple[str, ...] = ()
    refused: Callable[[Symbolic, Node], Iterable[Refused]] | None = None
    refusal: Callable[[Node], str | None] | None = None
    is_complete: Callable[[Node], bool] | None = None
