"""Dominators of blocks, which are looked for by way of blocks further up."""

from __future__ import annotations

import random

from ljit.codegen.llvm.basic_blocks import BlockRef


def chain_of(block: BlockRef) -> list[BlockRef]:
    """A block and all that dominate it."""
    found = [block]
    while found[-1].dominator is not None:
        found.append(found[-1].dominator)
    return found


def test_the_nearest_dominator_is_the_first_block_that_is_on_both_ways():
    choose = random.Random(7)
    blocks = [BlockRef.entry()]
    for number in range(600):
        block = BlockRef(f"b{number}")
        block.predecessors += choose.choices(blocks[-40:], k=choose.choice((1, 1, 1, 2, 3)))
        block.settle(None)
        ways = [chain_of(p) for p in block.predecessors]
        assert block.dominator is next(b for b in ways[0] if all(b in way for way in ways))
        assert block.depth == len(chain_of(block)) - 1
        blocks.append(block)
    for block in blocks[::7]:
        above = chain_of(block)
        assert all(block.is_dominated_by(other) == (other in above) for other in blocks)


def test_a_deep_block_finds_its_dominators_in_a_few_steps():
    looked = []

    class Counted(BlockRef):
        @property
        def depth(self) -> int:
            looked.append(self)
            return self._depth

        @depth.setter
        def depth(self, value: int) -> None:
            self._depth = value

    entry = block = Counted.entry()
    for number in range(5000):
        following = Counted(f"b{number}")
        following.predecessors.append(block)
        following.settle(None)
        block = following
    looked.clear()
    assert block.is_dominated_by(entry)
    assert len(looked) < 100
