"""Which values in a loop differ from trip to trip of it.

Divergence analysis: a value varies if it depends on the loop's variable, through data or through which way control
takes. Assumes that nothing is written in the meantime, so that a load varies with its operands only.
"""

from __future__ import annotations

from ljit.ir import Block, Effect, Node, Value
from ljit.ops.control import IF, LOOP, REGION, YIELD

__all__ = ["Varying", "has_steady_operands", "is_steady"]


class Varying:
    """The values in `loop` that may be other ones in another trip."""

    def __init__(self, loop: Node) -> None:
        self._values: set[Value] = set(loop.blocks[0].params)
        self._divergent: set[Node] = set()
        while self._visit(loop.blocks[0]):
            pass

    def __contains__(self, value: Value) -> bool:
        return value in self._values

    def _visit(self, block: Block) -> bool:
        """Look at all nodes once; whether to look again, as what inner loops carry may have changed behind them."""
        before = len(self._values)
        has_loops = False
        for node in block.walk():
            if node.op is LOOP:
                has_loops = True
                for param, value in zip(
                    node.blocks[0].params, (node.inputs[0], *node.inputs[2:]), strict=True
                ):
                    self._depends(param, value)
                for param, out in zip(node.blocks[0].params[1:], node.outputs, strict=True):
                    self._depends(out, param)
                    self._depends(param, out)  # one slot, that is in both or in neither
            if node.op.is_terminator:
                self._hand_over(node)
            elif node.op is IF and node.inputs[0] in self._values:
                self._values.update(node.outputs)
                self._leave(node)
            elif node.op not in (IF, LOOP, REGION) and not self._values.isdisjoint(node.inputs):
                self._values.update(node.outputs)
                for inner in node.blocks:
                    self._values.update(inner.params)
        return has_loops and len(self._values) > before

    def is_divergent(self, loop: Node) -> bool:
        """Whether some trips leave an inner loop earlier than others."""
        return loop in self._divergent

    def _leave(self, node: Node) -> None:
        """Exits under a condition that varies: what their target carries and gives depends on the trip."""
        for inner in (n for block in node.blocks for n in block.walk()):
            target = inner.target
            if target is not None:
                self._divergent.add(target)
                self._values.update(target.outputs)
                if target.op is LOOP:
                    self._values.update(target.blocks[0].params[1:])

    def _depends(self, target: Value, source: Value) -> None:
        if source in self._values:
            self._values.add(target)

    def _hand_over(self, node: Node) -> None:
        """What a terminator gives to the outputs of its target, or to the next trip."""
        assert node.block is not None
        owner = node.target if node.target is not None else node.block.owner
        if owner is None:
            return
        for position, value in enumerate(node.inputs):
            if position < len(owner.outputs):
                self._depends(owner.outputs[position], value)
            if owner.op is LOOP and (node.op is not YIELD or node.block is owner.blocks[0]):
                params = owner.blocks[0].params[1:]
                if position < len(params):
                    self._depends(params[position], value)


def is_steady(value: Value, loop: Node, depth: int = 4) -> bool:
    """Whether a value is from outside of a loop, or computed in a few steps of nothing else than such values."""
    if not value.is_inside(loop):
        return True
    node = value.node
    if node is None or not depth or node.blocks or node.effects & ~Effect.RAISE:
        return False
    return all(is_steady(v, loop, depth - 1) for v in node.inputs)


def has_steady_operands(node: Node) -> bool:
    """Whether a node is in loops, and works on nothing but what is the same in all their trips."""
    loops = [owner for owner in node.owners() if owner.op is LOOP]
    return bool(loops) and all(is_steady(v, loops[-1]) for v in node.inputs)
