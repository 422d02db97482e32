"""Basic blocks of a function that is being written: their lines, phis and dominators."""

from __future__ import annotations

from ljit.codegen.refs import Ref

__all__ = ["BlockRef", "Phi"]


class Phi(Ref):
    """A phi whose incoming edges are added while the predecessors are written."""

    __slots__ = ("incoming",)

    def __init__(self, type_: str, text: str) -> None:
        super().__init__(type_, text)
        self.incoming: list[tuple[Ref, BlockRef]] = []

    def add(self, value: Ref, block: BlockRef | None) -> None:
        """Add an edge; `block` is None (nothing is added) when the edge cannot be reached."""
        if block is not None:
            assert value.type == self.type, f"{value.typed} into {self.typed}"
            self.incoming.append((value, block))

    def render(self) -> str:
        edges = ", ".join(f"[ {value}, %{block.name} ]" for value, block in self.incoming)
        return f"{self.text} = phi {self.type} {edges}"


class BlockRef:
    """A basic block: a label, and its lines once it was started.

    `dominator` is its immediate dominator, `depth` how many blocks dominate it.
    """

    __slots__ = ("depth", "dominator", "lines", "name", "phis", "predecessors")

    def __init__(self, name: str) -> None:
        self.name = name
        self.predecessors: list[BlockRef] = []
        self.dominator: BlockRef | None = None
        self.depth = 0
        self.phis: list[Phi] = []
        self.lines: list[str] = []

    def settle(self, known: BlockRef | None) -> None:
        """Find the immediate dominator, or take `known`. Branches back to the block may still follow."""
        dominator = known or self.predecessors[0]
        for other in self.predecessors if known is None else ():
            dominator = _nearest_dominator(dominator, other)
        self.dominator = dominator
        self.depth = dominator.depth + 1

    def is_dominated_by(self, other: BlockRef) -> bool:
        block: BlockRef | None = self
        while block is not None and block.depth > other.depth:
            block = block.dominator
        return block is other


def _nearest_dominator(a: BlockRef, b: BlockRef) -> BlockRef:
    """The nearest block that dominates both."""
    while a is not b:
        deeper, other = (a, b) if a.depth >= b.depth else (b, a)
        assert deeper.dominator is not None
        a, b = deeper.dominator, other
    return a
