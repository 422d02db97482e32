"""How near to 0 numbers have to be for products of them to fit: polynomials of degree 1 instead of higher ones.

What is linear can be tested in front of the outermost loop, where a sum of products has to do with all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from ljit.ir.linear import Atom, Linear

__all__ = ["limits_of_atoms"]

_NEAR = (2**31, 2**30, 2**28, 2**26, 2**20, 2**19)


def limits_of_atoms(goals: Sequence[Linear], near: Sequence[int] = _NEAR) -> list[Linear]:
    """Polynomials of degree 1 that, where they are at least 0, show that the goals are: ``x * x + y * y`` fits.

    Of each atom, those of 32 bits only if need be, they say that it is not far from 0. None, if that shows nothing.
    """
    atoms = list(dict.fromkeys(atom for goal in goals for atom in goal.atoms()))
    wide = [atom for atom in atoms if max(atom.high, -atom.low) > 2**31]
    for limited, most in product((wide, atoms) if wide else (atoms,), near):
        if all(_least_near(goal, dict.fromkeys(limited, most)) >= 0 for goal in goals):
            above = [most - Linear.of(atom) for atom in limited if atom.high > most]
            return above + [Linear.of(atom) + most for atom in limited if atom.low < -most]
    return []


def _least_near(goal: Linear, limits: Mapping[Atom, int]) -> int:
    """The least value of a polynomial some of whose atoms are at most so far from 0."""
    least = goal.constant
    for monomial, factor in goal.terms.items():
        corners = [factor]
        for atom in monomial:
            most = limits.get(atom, max(atom.high, -atom.low))
            corners = [c * e for c in corners for e in (max(atom.low, -most), min(atom.high, most))]
        least += min(corners)
    return least
