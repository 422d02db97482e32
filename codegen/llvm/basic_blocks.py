"""Basic blocks of a function that is being written: their lines, phis and dominators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ljit.codegen.llvm.refs import Ref, operand

__all__ = ["BlockRef", "Phi", "part"]


class Phi(Ref):
    """A phi whose incoming edges are added while the predecessors are written."""

    __slots__ = ("incoming",)

    def __init__(self, type_: str, text: str) -> None:
        super().__init__(type_, text)
        self.incoming: list[tuple[Ref, BlockRef]] = []

    def add(self, value: Ref | int, block: BlockRef | None) -> None:
        """Add an edge; `block` is None (nothing is added) when the edge cannot be reached."""
        if block is not None:
            value = operand(self.type, value)
            assert value.type == self.type, f"{value.typed} into {self.typed}"
            self.incoming.append((value, block))

    def render(self) -> str:
        edges = ", ".join(f"[ {value}, %{block.name} ]" for value, block in self.incoming)
        return f"{self.text} = phi {self.type} {edges}"


class BlockRef:
    """A basic block: a label, and its lines once it was started.

    `dominator` is its immediate dominator, `depth` how many blocks dominate it (0: not started). `is_loop`: it is the
    first one of a loop, which `has_vectors` unless it is known that LLVM makes none of it. `notes` are comments, by
    the number of the line that they stand in front of.
    """

    __slots__ = (
        "depth",
        "dominator",
        "far",
        "has_vectors",
        "is_loop",
        "lines",
        "name",
        "notes",
        "phis",
        "predecessors",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.predecessors: list[BlockRef] = []
        self.dominator: BlockRef | None = None
        self.depth = 0
        #: a dominator further up, once started: any one is found in a few steps, however deep the block
        self.far: BlockRef
        self.phis: list[Phi] = []
        self.lines: list[str] = []
        self.notes: dict[int, int] = {}
        self.is_loop, self.has_vectors = False, True

    @classmethod
    def entry(cls) -> Self:
        """The first block of a function."""
        block = cls("entry")
        block.far = block
        return block

    def note(self, number: int) -> None:
        """Say something about the lines to come, in a comment; `Context.notes` has the words for it."""
        self.notes[len(self.lines)] = number

    def text(self) -> list[str]:
        """Its lines with all that stands around them."""
        parts, start = [f"{self.name}:", *(phi.render() for phi in self.phis)], 0
        for at, number in self.notes.items():
            parts += self.lines[start:at]
            parts.append(f";{number}")
            start = at
        return parts + self.lines[start:]

    def add_edge(self, block: BlockRef) -> None:
        """Note that a block, which is written, goes on here."""
        self.predecessors.append(block)
        if self.depth and block.is_dominated_by(self):
            self.is_loop = True

    def settle(self, known: BlockRef | None) -> None:
        """Find the immediate dominator, or take `known`. Branches back to the block may still follow."""
        dominator = known or self.predecessors[0]
        for other in self.predecessors if known is None else ():
            dominator = _nearest_dominator(dominator, other)
        self.dominator = dominator
        self.depth = dominator.depth + 1
        far = dominator.far
        is_pair = dominator.depth - far.depth == far.depth - far.far.depth
        self.far = far.far if is_pair else dominator

    def is_dominated_by(self, other: BlockRef) -> bool:
        return _dominator_at(self, other.depth) is other


def part(blocks: Iterable[BlockRef]) -> None:
    """Have blocks that are not needed any more not know one another, which only the garbage collector would undo."""
    for block in blocks:
        del block.far
        for phi in block.phis:
            phi.incoming.clear()
        block.predecessors.clear()


def _dominator_at(block: BlockRef, depth: int) -> BlockRef:
    """The block of this depth that dominates a block, or the block if it is not as deep."""
    while block.depth > depth:
        assert block.dominator is not None
        block = block.far if block.far.depth >= depth else block.dominator
    return block


def _nearest_dominator(a: BlockRef, b: BlockRef) -> BlockRef:
    """The nearest block that dominates both."""
    a, b = _dominator_at(a, b.depth), _dominator_at(b, a.depth)
    while a is not b:
        if a.far is not b.far:  # both are as far away
            a, b = a.far, b.far
        else:
            assert a.dominator is not None and b.dominator is not None
            a, b = a.dominator, b.dominator
    return a
