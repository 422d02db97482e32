"""How near to 0 numbers have to be for products of them to fit: polynomials of degree 1 instead of higher ones.

What is linear can be tested in front of the outermost loop, where a sum of products has to do with all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir.linear import Linear

__all__ = ["limits_of_atoms"]

_NEAR = (2**31, 2**30, 2**28, 2**20)


def limits_of_atoms(goals: Sequence[Linear], near: Sequence[int] = _NEAR) -> list[Linear]:
    """Polynomials of degree 1 that, where they are at least 0, show that the goals are: ``x * x + y * y`` fits.

    Of each atom they say that it is not far from 0. None, if that shows nothing.
    """
    atoms = list(dict.fromkeys(atom for goal in goals for atom in goal.atoms()))
    for most in near:
        if all(_least_near(goal, most) >= 0 for goal in goals):
            above = [most - Linear.of(atom) for atom in atoms if atom.high > most]
            return above + [Linear.of(atom) + most for atom in atoms if atom.low < -most]
    return []


def _least_near(goal: Linear, most: int) -> int:
    """The least value of a polynomial whose atoms are at most so far from 0."""
    least = goal.constant
    for monomial, factor in goal.terms.items():
        corners = [factor]
        for atom in monomial:
            corners = [c * e for c in corners for e in (max(atom.low, -most), min(atom.high, most))]
        least += min(corners)
    return least
