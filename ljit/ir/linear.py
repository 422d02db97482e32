"""Exact integer polynomials over unknown ints: the language of the range analysis.

An `Atom` is an int that nothing more is known of than bounds and facts: a value of the graph, or a part of one (a size
of an array, the start of a range). A `Linear` is ``c0 + c1*x + c2*x*y ...``, computed with Python's ints, so nothing
in it ever overflows. A *fact* is a Linear that is known to be at least 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ljit.ir.graph import Value

__all__ = ["Atom", "Linear", "Path", "weakest"]

Path = tuple[str | int, ...]
Monomial = tuple["Atom", ...]  # by ascending order; an atom may occur twice


class Atom:
    """An unknown int within [low, high].

    `facts` are those known now in which it is a plain term and no factor of others, each with its coefficient.
    """

    __slots__ = ("facts", "high", "low", "order", "path", "value")

    def __init__(self, order: int, value: Value, path: Path, low: int, high: int) -> None:
        self.order = order  # younger atoms have larger numbers
        self.value = value
        self.path = path
        self.low = low
        self.high = high
        self.facts: list[tuple[int, Linear]] = []

    def __repr__(self) -> str:
        path = "".join(f".{step}" for step in self.path)
        return f"{self.value.name or '?'}{self.order}{path}"


class Linear:
    """A polynomial with integer coefficients. Immutable; equal if all coefficients are."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int = 0, terms: Mapping[Monomial, int] | None = None) -> None:
        self.constant = constant
        self.terms: Mapping[Monomial, int] = terms or {}

    @staticmethod
    def of(atom: Atom) -> Linear:
        return Linear(0, {(atom,): 1})

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.constant + other, self.terms)
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            total = terms.get(monomial, 0) + factor
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return Linear(self.constant + other.constant, terms)

    __radd__ = __add__

    def __neg__(self) -> Linear:
        return Linear(-self.constant, {m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.constant - other, self.terms)
        return self.less(1, other)

    def __rsub__(self, other: int) -> Linear:
        return -self + other

    def __mul__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            if other == 1:
                return self
            if not other:
                return Linear()
            return Linear(self.constant * other, {m: c * other for m, c in self.terms.items()})
        if not self.terms:
            return other * self.constant
        result = self * other.constant
        for monomial, factor in other.terms.items():
            result = result + self._times(monomial, factor)
        return result

    __rmul__ = __mul__

    def _times(self, monomial: Monomial, factor: int) -> Linear:
        terms = {monomial: self.constant * factor} if self.constant else {}
        for own, c in self.terms.items():
            product = tuple(sorted((*own, *monomial), key=_order))
            terms[product] = terms.get(product, 0) + c * factor
        return Linear(0, terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Linear):
            return NotImplemented
        return self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms.items())))

    def less(self, factor: int, other: Linear, own: int = 1) -> Linear:
        """``own * self - factor * other``; `own` is not 0."""
        terms = dict(self.terms) if own == 1 else {m: c * own for m, c in self.terms.items()}
        for monomial, c in other.terms.items():
            total = terms.get(monomial, 0) - c * factor
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Linear(self.constant * own - other.constant * factor, terms)

    @property
    def degree(self) -> int:
        return max(map(len, self.terms), default=0)

    def atoms(self) -> Iterator[Atom]:
        """Iterate over the atoms, youngest first, each once."""
        if len(self.terms) == 1:
            (monomial,) = self.terms
            if len(monomial) == 1:
                return iter(monomial)
        found = {atom for monomial in self.terms for atom in monomial}
        return iter(sorted(found, key=_order, reverse=True))

    def reduced(self) -> Linear:
        """Divide by the common divisor of the terms: the strongest fact with the same meaning."""
        factors = self.terms.values()
        if 1 in factors or -1 in factors:  # most often
            return self
        divisor = gcd(*factors)
        if divisor < 2:
            return self
        return Linear(self.constant // divisor, {m: c // divisor for m, c in self.terms.items()})

    def cofactor(self, atom: Atom) -> Linear | None:
        """What `atom` is multiplied with; None if it occurs in a power."""
        terms = {}
        for monomial, c in self.terms.items():
            if len(monomial) == 1 or atom not in monomial:
                continue
            if monomial.count(atom) > 1:
                return None
            terms[tuple(other for other in monomial if other is not atom)] = c
        return Linear(self.terms.get((atom,), 0), terms)

    def factors(self) -> tuple[Linear, ...]:
        """Give an atom and what it is multiplied with, if all terms have it and one has another: ``3 * x * x - x``."""
        if self.constant or self.degree < 2:
            return ()
        shared = set.intersection(*map(set, self.terms))
        atom = min(shared, key=_order, default=None)
        if atom is None:
            return ()
        rest = Linear()
        for monomial, c in self.terms.items():
            at = monomial.index(atom)
            left = (*monomial[:at], *monomial[at + 1 :])
            rest += Linear(0, {left: c}) if left else c
        return Linear.of(atom), rest

    def substitute(self, known: Mapping[Atom, Linear]) -> Linear:
        """Replace atoms by polynomials."""
        result = Linear(self.constant)
        for monomial, c in self.terms.items():
            product = Linear(c)
            for atom in monomial:
                product = product * known.get(atom, Linear.of(atom))
            result = result + product
        return result

    def bounds(self) -> tuple[int, int]:
        """Give the least and the greatest value that the bounds of the atoms allow."""
        low = high = self.constant
        for monomial, c in self.terms.items():
            if len(monomial) == 1:
                (atom,) = monomial
                a, b = atom.low, atom.high
            else:
                a, b = _product_bounds(monomial)
            if c > 0:
                low += c * a
                high += c * b
            else:
                low += c * b
                high += c * a
        return low, high

    def __repr__(self) -> str:
        parts = [str(self.constant)] if self.constant or not self.terms else []
        for monomial, c in self.terms.items():
            parts.append("*".join([str(c), *map(repr, monomial)]))
        return " + ".join(parts)


_order = attrgetter("order")


def _product_bounds(monomial: Monomial) -> tuple[int, int]:
    first = monomial[0]
    low, high = first.low, first.high
    for atom in monomial[1:]:
        corners = (low * atom.low, low * atom.high, high * atom.low, high * atom.high)
        is_square = atom is first and len(monomial) == 2
        low, high = max(min(corners), 0) if is_square else min(corners), max(corners)
    return low, high


def weakest(x: Linear, others: Iterable[Linear]) -> Linear:
    """Of a polynomial, and those that differ from it by a constant, the one that is at least 0 most often."""
    return max([x, *(y for y in others if not (y - x).terms)], key=lambda y: y.constant)
