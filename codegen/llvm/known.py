"""What branches and checks say of conditions in the code behind them, where these are not asked again."""

from __future__ import annotations

from typing import Protocol, Self

from ljit.codegen.llvm.refs import FALSE, TRUE, Ref

__all__ = ["KnownConditions"]


class _Block(Protocol):
    def is_dominated_by(self, other: Self) -> bool: ...


class KnownConditions:
    """The conditions of one function whose values are known in some blocks, and in all that these dominate.

    A block may be told of only if no other branch will ever lead to it.
    """

    __slots__ = ("_facts", "_negations")

    def __init__(self) -> None:
        self._facts: dict[str, list[tuple[bool, _Block]]] = {}
        self._negations: dict[str, Ref] = {}

    def opposite(self, of: Ref) -> Ref | None:
        """What a condition was made of by negating it."""
        return self._negations.get(of.text)

    def negation(self, of: Ref, made: Ref) -> Ref:
        """Remember that `made` is the opposite of `of`; gives it."""
        if made.constant is None:
            self._negations[made.text] = of
        return made

    def note(self, condition: Ref, block: _Block | None, *, truth: bool) -> None:
        """Remember the value of a condition in a block."""
        opposite = self.opposite(condition)
        if opposite is not None:
            condition, truth = opposite, not truth
        if block is not None and condition.constant is None:
            self._facts.setdefault(condition.text, []).append((truth, block))

    def look_up(self, condition: Ref, block: _Block | None) -> Ref:
        """Give the constant that a condition is in the block, else itself."""
        opposite = self.opposite(condition)
        asked = condition if opposite is None else opposite
        for truth, where in self._facts.get(asked.text, ()) if block is not None else ():
            if block is not None and block.is_dominated_by(where):
                return TRUE if truth is (opposite is None) else FALSE
        return condition
