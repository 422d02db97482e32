"""How branches went: whether the processor can foretell them.

A branch that is foretold is faster than a choice between two numbers, which waits for its condition. One that is not
costs fifteen to twenty cycles each time that it goes the other way. LLVM cannot know which is which. So the
interpreter and quick code note the last outcomes of branches that might be choices. Optimised code chooses where
nothing in them tells what comes next, and branches where they were the same and a choice would wait for long.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable

from ljit.ir import Node, Value
from ljit.ops.control import IF, LOOP, YIELD

__all__ = ["BranchHistories", "is_erratic", "may_become_choice", "only_decides", "usual_outcome"]

_MOST_WRITTEN = 10  # nodes of both sides, as the program says it; fewer are left in the end
_MOST = 64  # outcomes that are kept; a word has a bit less
_LEAST = 32  # outcomes that tell something
_RARE = 2  # outcomes of the kept ones
_LONGEST = 8  # outcomes that are looked for among the earlier ones
_NONE = 1  # a word without outcomes: the highest bit that is set stands in front of the oldest one


class BranchHistories:
    """The last outcomes of branches, by the origins of their Ifs.

    Native code has a word for each, with the newest outcome in the lowest bit. Threads may lose some, and add branches
    while others read.
    """

    __slots__ = ("_seen", "_words")

    def __init__(self) -> None:
        self._seen: dict[int, deque[bool]] = {}
        self._words: dict[int, ctypes.c_uint64] = {}

    def recorder_of(self, origin: int) -> Callable[[bool], None]:
        """What the interpreter tells each outcome of a branch."""
        return self._seen.setdefault(origin, deque(maxlen=_MOST)).append

    def address_of(self, origin: int) -> int:
        """Where a branch's word is: it must stay alive as long as code that writes there."""
        word = self._words.setdefault(origin, ctypes.c_uint64(_NONE))
        return ctypes.addressof(word)

    @property
    def names(self) -> dict[int, str]:
        """What the words are, by their addresses."""
        words = self._words.copy()
        return {ctypes.addressof(word): f"outcomes of {n}" for n, word in words.items()}

    def erratic(self) -> set[int]:
        """Origins of branches whose last outcomes tell nothing of the next one."""
        return {origin for origin, outcomes in self._texts() if is_erratic(outcomes)}

    def steady(self) -> set[tuple[int, bool]]:
        """Origins of branches that nearly always went one way, and which; if it was both in turn, with both."""
        found = ((origin, usual_outcome(outcomes)) for origin, outcomes in self._texts())
        return {(origin, usual) for origin, usual in found if usual is not None}

    def _texts(self) -> list[tuple[int, str]]:
        """Origins and outcomes as text, of quick code and of the interpreter."""
        texts = [(n, f"{word.value:b}"[1:]) for n, word in self._words.copy().items()]
        return texts + [
            (n, "".join("01"[x] for x in seen.copy())) for n, seen in self._seen.copy().items()
        ]


def may_become_choice(node: Node) -> bool:
    """Whether it may matter to an If in a loop that it goes either way: a few nodes give values on both sides."""
    inner = [n for block in node.blocks for n in block if n is not block.last]
    return (
        bool(node.outputs)
        and len(inner) <= _MOST_WRITTEN
        and not any(n.blocks for n in inner)
        and any(owner.op is LOOP for owner in node.owners())
    )


def only_decides(node: Node) -> bool:
    """Whether an If gives nothing but conditions of others (``x and y``): as a choice it would leave a branch there."""
    return all(_is_condition(out) for out in node.outputs)


def _is_condition(value: Value) -> bool:
    return bool(value.uses) and all(_is_asked(user, at) for user, at in value.uses)


def _is_asked(user: Node, at: int) -> bool:
    """Whether an If asks for the operand, or for what its block gives with it."""
    owner = user.block.owner if user.block is not None else None
    gives = user.op is YIELD and owner is not None and owner.op is IF
    return user.op is IF or (gives and owner is not None and _is_condition(owner.outputs[at]))


def usual_outcome(outcomes: str) -> bool | None:
    """The outcome that there nearly always was; None if there was not."""
    count = outcomes.count("1")
    rare = min(count, len(outcomes) - count)
    return count > rare if len(outcomes) >= _LEAST and rare <= _RARE else None


def is_erratic(outcomes: str) -> bool:
    """Whether a quarter of the outcomes (``"01101..."``) was not what followed on the same outcomes before.

    This is what a processor's predictor does, on a small scale: it looks for the longest run of outcomes that there
    was before, and foretells what came then.
    """
    rare = min(outcomes.count("0"), outcomes.count("1"))
    if len(outcomes) < _LEAST or rare * 8 < len(outcomes):
        return False
    start = len(outcomes) // 4  # until then there is little to look for
    missed = sum(_foretold(outcomes, at) != outcomes[at] for at in range(start, len(outcomes)))
    return missed * 4 >= len(outcomes) - start


def _foretold(outcomes: str, at: int) -> str:
    """What came after the outcomes before `at` when they came last."""
    for length in range(_LONGEST, 0, -1):
        found = outcomes.rfind(outcomes[at - length : at], 0, at - 1)
        if found >= 0:
            return outcomes[found + length]
    return outcomes[at - 1]
