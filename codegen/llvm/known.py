"""What is known of the values of a function while it is written: of conditions, and of sizes and strides."""

from __future__ import annotations

from typing import Protocol, Self

from ljit.codegen.llvm.refs import FALSE, TRUE, Ref

__all__ = ["KnownConditions", "KnownNumbers"]


class _Block(Protocol):
    def is_dominated_by(self, other: Self) -> bool: ...


class KnownConditions:
    """The conditions of one function whose values are known in some blocks, and in all that these dominate.

    Branches and checks say so; in the code behind them these are not asked again.

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


class KnownNumbers:
    """The integers of one function that are known not to be negative, to be few, or to be multiples; what is chosen."""

    __slots__ = ("_at_most_one", "_factors", "_factors_of", "_nonnegative", "choices")

    def __init__(self) -> None:
        self._nonnegative: set[str] = set()
        self._at_most_one: set[str] = set()
        self.choices: set[str] = set()  # names of numbers of any type that are one of several
        self._factors: dict[str, int] = {}  # constant ones, as their product
        self._factors_of: dict[str, tuple[str, str]] = {}

    def note_nonnegative(self, x: Ref) -> None:
        """Remember that an integer is at least 0, such as a size."""
        self._nonnegative.add(x.text)

    def are_nonnegative(self, *integers: Ref) -> bool:
        return all(
            x.constant >= 0 if x.constant is not None else x.text in self._nonnegative
            for x in integers
        )

    def are_at_most_one(self, *sizes: Ref) -> bool:
        """Whether sizes are known to be 0 or 1."""
        return all(
            x.constant <= 1 if x.constant is not None else x.text in self._at_most_one
            for x in sizes
        )

    def note_choice(self, chosen: Ref, x: Ref, y: Ref) -> None:
        """Remember that a number is one of two."""
        self.choices.add(chosen.text)
        if x.type == "i64" and self.are_nonnegative(x, y):
            self.note_nonnegative(chosen)
            if self.are_at_most_one(x, y):
                self._at_most_one.add(chosen.text)

    def note_product(self, product: Ref, x: Ref, y: Ref) -> None:
        self._factors[product.text] = self._factor(x) * self._factor(y)
        self._factors_of[product.text] = x.text, y.text

    def is_multiple(self, x: Ref, factor: int) -> bool:
        """Whether a product that does not overflow is known to be a multiple of a number."""
        return self._factor(x) % factor == 0

    def is_product_of(self, x: Ref, y: Ref) -> bool:
        """Whether a number is known to be another one, or a product of it and others."""
        return self._has_factor(x.text, y.text)

    def _has_factor(self, x: str, y: str) -> bool:
        return x == y or any(self._has_factor(part, y) for part in self._factors_of.get(x, ()))

    def _factor(self, x: Ref) -> int:
        return int(x.constant) if x.constant is not None else self._factors.get(x.text, 1)
