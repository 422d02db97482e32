"""Elements of arrays that a loop reads again and again, as it found them: the weights of a filter."""

from __future__ import annotations

import numpy as np

from ljit.analysis.alias import AliasInfo, is_immutable, written_operands
from ljit.analysis.uniformity import Varying
from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.control import OUT_OF_RANGE
from ljit.passes.rewriting import leave_in_front
from ljit.types import ArrayType, ListType, ScalarType

__all__ = ["RepeatedElements"]

_DTYPES = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.uint32)))
_MAX_WRITTEN = 4


class RepeatedElements:
    """What is asked about loops of one graph, which must not change meanwhile."""

    def __init__(self) -> None:
        self._varying: dict[Node, Varying] = {}
        self._written: dict[tuple[Node, Value], list[Value] | None] = {}
        self._aliases: AliasInfo | None = None

    def array_of(self, loop: Node, value: Value) -> Value | None:
        """The array from outside of the loop of which `value` is an element, one of the same in all trips.

        None if it is none, or if the loop may write to the array.
        """
        node = value.node
        if node is None or not node.op.reads_part or not isinstance(value.type, ScalarType):
            return None
        array = node.inputs[0]
        if any(v in self._differs(loop) for v in node.inputs):
            return None
        return array if self.is_only_read(loop, array) else None

    def is_only_read(self, loop: Node, array: Value) -> bool:
        """Whether it is an array of numbers from outside of the loop, which writes to other arrays only."""
        if not isinstance(array.type, ArrayType) or array.type.dtype not in _DTYPES:
            return False
        return not array.is_inside(loop) and self._written_in(loop, array) is not None

    def leave_if_written(self, loop: Node, array: Value, blamed: Node) -> None:
        """Leave in front of the loop if what it writes to overlaps the array."""
        for other in self._written_in(loop, array) or ():
            operands = other, array
            overlap = loop.create_before(get_op("np::may_share_memory"), operands, like=blamed)
            leave_in_front(loop, overlap.output, OUT_OF_RANGE, like=blamed)

    def _differs(self, loop: Node) -> Varying:
        if loop not in self._varying:
            self._varying[loop] = Varying(loop)
        return self._varying[loop]

    def _written_in(self, loop: Node, array: Value) -> list[Value] | None:
        """The arrays from outside to which the loop writes, that may overlap one; None if there may be others."""
        key = loop, array
        if key not in self._written:
            self._written[key] = self._find_written(loop, array)
        return self._written[key]

    def _find_written(self, loop: Node, array: Value) -> list[Value] | None:
        if self._aliases is None:
            self._aliases = AliasInfo(loop.graph)
        found: dict[Value, None] = {}
        for node in loop.blocks[0].walk():
            effects = node.effects
            if effects & Effect.CALL:
                return None
            if not effects & Effect.WRITE or node.blocks:
                continue  # what a node does whose blocks do it, is found there
            targets = written_operands(node)
            if not targets:
                return None
            for target in targets:
                if is_immutable(target.type) or _is_private_list(target):
                    continue
                if not isinstance(target.type, ArrayType):
                    return None
                if self._aliases.may_alias(target, array):
                    found[target] = None
        is_simple = len(found) <= _MAX_WRITTEN and not any(v.is_inside(loop) for v in found)
        return list(found) if is_simple else None


def _is_private_list(value: Value) -> bool:
    return isinstance(value.type, ListType) and value.type.is_private
