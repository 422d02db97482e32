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
from ljit.ir import Node, Value
from ljit.ops.control import LOOP
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.types import INT, ArrayType

__all__ = ["Strips", "reread"]

_CACHE = 1 << 18  # bytes of an array that stay in the cache of a core
_LEAST = 8  # trips of a strip


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
        self.write = write = BoundWriter(before)
        self.stop = loop.inputs[1]
        zero, one, least = (write.constant(number) for number in (0, 1, _LEAST))
        elements = write.constant(_CACHE // array.type.dtype.itemsize)
        row = write.largest((inside.inputs[1], one))
        self.size = write.largest((write.op("py::floordiv", elements, row), least))
        # the last one may be empty; there is none if nothing would be done in them
        count = write.op("py::add", write.op("py::floordiv", self.stop, self.size), one)
        count = write.choose(write.op("py::gt", again.inputs[1], zero), count, zero)
        attrs = {"reordered": True}
        self.loop = before.graph.create(LOOP, (zero, count), attrs, outputs=(), like=before)
        self.loop.add_block([("", INT)])

    def bounds(self) -> tuple[Value, Value]:
        """The bounds of one strip, computed in the loop over the strips."""
        write = self.write
        write.within = self.loop.blocks[0]
        (strip,) = write.within.params
        start = write.op("py::mul", strip, self.size)
        return start, write.smallest((write.op("py::add", start, self.size), self.stop))
