"""Strips of a loop, so that what a nest reads again and again stays in the cache.

    for i in range(n):                        for strip in range(0, m, size):
        for k in range(m):                        for i in range(n):
            for j in range(p):                        for k in range(strip, min(strip + size, m)):
                c[i, j] += a[i, k] * b[k, j]              for j in range(p):
                                                              c[i, j] += a[i, k] * b[k, j]

All of `b` is read in each trip of `i`. Where it is larger than the cache, it is read from memory as often; a strip is
read from there once. What depends on `i` and not on `k` is gone through once a strip instead, so strips are as large as
the cache allows: their size is computed in front of the nest. A small array is one strip, and costs nothing but that.

Legal if the loop in strips could also stand where the loop over the strips does (`analysis.dependence`): trips that
depend on each other are of one strip, or their strips are in the same order as they.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.analysis.dependence import Access, Distances, is_legal
from ljit.ir import Block, Node, Value, get_op
from ljit.ops.control import IF, LOOP, YIELD
from ljit.ops.int_ranges import FITS, NONZERO, POSITIVE
from ljit.passes.rewriting import insert_constant
from ljit.types import INT, ArrayType

__all__ = ["Strips", "reread"]

_CACHE = 1 << 18  # bytes of an array that stay in the cache of a core
_LEAST = 8  # trips of a strip
_PROVEN = {"py::floordiv": (NONZERO, POSITIVE), "py::add": (FITS,), "py::mul": (FITS,)}


def reread(
    accesses: Sequence[Access], order: Sequence[int], dependences: Sequence[Distances]
) -> Access | None:
    """An access that goes through the same elements in each trip of the last loop but two, if strips can help."""
    if len(order) < 3:
        return None
    again, strip, inside = order[-3:]
    if not is_legal(dependences, [*order[:-3], strip, again, inside]):
        return None
    return next((a for a in accesses if _uses(a, again, strip, inside) == (0, 1, 1)), None)


def _uses(access: Access, *positions: int) -> tuple[bool, ...] | None:
    """Whether the elements depend on the loops; None if that is not known."""
    factors = [s.factors for s in access.subscripts if s.factors is not None]
    if len(factors) != len(access.subscripts):
        return None
    return tuple(any(f[position] for f in factors) for position in positions)


class Strips:
    """The loop over the strips of `loop`, for an array of which `inside` goes through a row in each trip of it."""

    def __init__(self, before: Node, again: Node, loop: Node, inside: Node, array: Value) -> None:
        assert isinstance(array.type, ArrayType)
        self.before = before
        self.within: Block | None = None  # where to write; None: in front of the nest
        self.stop = loop.inputs[1]
        zero, one, least = (insert_constant(number, before) for number in (0, 1, _LEAST))
        elements = insert_constant(_CACHE // array.type.dtype.itemsize, before)
        fitting = self._op("py::floordiv", elements, self._larger(inside.inputs[1], one))
        self.size = self._larger(fitting, least)
        # the last one may be empty; there is none if nothing would be done in them
        count = self._op("py::add", self._op("py::floordiv", self.stop, self.size), one)
        count = self._choose(self._op("py::gt", again.inputs[1], zero), count, zero)
        attrs = {"reordered": True}
        self.loop = before.graph.create(LOOP, (zero, count), attrs, outputs=(), like=before)
        self.loop.add_block([("", INT)])

    def bounds(self) -> tuple[Value, Value]:
        """The bounds of one strip, computed in the loop over the strips."""
        self.within = self.loop.blocks[0]
        (strip,) = self.within.params
        start = self._op("py::mul", strip, self.size)
        end = self._op("py::add", start, self.size)
        return start, self._choose(self._op("py::lt", end, self.stop), end, self.stop)

    def _larger(self, x: Value, y: Value) -> Value:
        return self._choose(self._op("py::gt", x, y), x, y)

    def _choose(self, condition: Value, x: Value, y: Value) -> Value:
        graph = self.before.graph
        choice = graph.create(IF, (condition,), outputs=(INT,), like=self.before)
        for value in (x, y):
            end = graph.create(YIELD, (value,), outputs=0, like=self.before)
            choice.add_block().append(end)
        return self._place(choice)

    def _op(self, name: str, *operands: Value) -> Value:
        node = self.before.graph.create(get_op(name), operands, like=self.before)
        node.proven = _PROVEN.get(name, ())
        return self._place(node)

    def _place(self, node: Node) -> Value:
        made = node.insert_before(self.before) if self.within is None else self.within.append(node)
        return made.output
