"""Branches in loops that go the same way in all trips: LLVM's O3 writes such a loop once for each way.

Whether there are any is looked up in the text of a loop that may have vectors, while its blocks are known: that of a
function of a nest when it is made. What reads memory, or calls, counts as the same in all trips if its operands are, as
LLVM may find that it is. A loop with a call that must not be duplicated, as those that look for signals have it, stays
as it is.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ljit.codegen.llvm.basic_blocks import BlockRef
from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.instructions import operand_names
from ljit.codegen.llvm.partition import QUICK, is_apart

__all__ = ["has_steady_branches", "may_have_steady_branches"]


def may_have_steady_branches(module: ModuleBuilder) -> bool:
    """Whether there may be such branches in what is optimised of a module that is not rendered yet."""
    known = module.scalar_sources | module.plain_sources
    others = (text for x, text in module.sources.items() if x not in known)
    functions = (f for f in module.functions if QUICK not in f.attributes)
    return not all(map(is_apart, others)) or any(has_steady_branches(f.blocks) for f in functions)


def has_steady_branches(blocks: Sequence[BlockRef]) -> bool:
    """Whether there are any in a function; `blocks` are all of it, in the order of the text."""
    for header in blocks:
        if header.is_loop and header.has_vectors:
            inside = _blocks_of(header)
            if _are_some_in([block for block in blocks if block in inside]):
                return True
    return False


def _blocks_of(header: BlockRef) -> set[BlockRef]:
    """The blocks of a loop: from where its trips end back to its first one."""
    found = {header}
    todo = [block for block in header.predecessors if block.is_dominated_by(header)]
    while todo:
        block = todo.pop()
        if block not in found:
            found.add(block)
            todo += block.predecessors
    return found


def _are_some_in(loop: Sequence[BlockRef]) -> bool:
    varying = {phi.text for block in loop for phi in block.phis}
    for block in loop:
        for line in block.lines:
            if line.endswith(" noduplicate"):
                return False
            if not varying.isdisjoint(operand_names(line)) or " volatile " in line:
                varying.add(line.partition(" = ")[0])
    return any(_is_steady(block.lines[-1], varying) for block in loop)


def _is_steady(end: str, varying: Container[str]) -> bool:
    """Whether a block that ends so goes one of several ways, which does not depend on what varies."""
    return not end.startswith("br label") and operand_names(end)[0] not in varying
