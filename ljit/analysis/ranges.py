"""What is known of the ints of a graph at one place: polynomials, facts, proofs.

`Ranges` gives each number of the graph as a `Linear` and keeps the facts that hold at the place where a walk over the
graph stands; the walk opens and closes scopes and says what it learns (`assume`). `analysis.proofs` looks for proofs.

Python's ints never wrap: where a result does not fit 64 bits, native code leaves. So a polynomial of ints is exact
wherever it was computed. NumPy's integers wrap: such results are atoms of which the bounds of their dtype are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from ljit.analysis.cases import bounds_of_cases, told
from ljit.analysis.float_ranges import FloatRanges
from ljit.analysis.proofs import Proofs
from ljit.ir import Block, Value
from ljit.ir.linear import Atom, Linear, Path
from ljit.ir.range_rules import FloatBounds, FloatLimit
from ljit.ops.control import IF, REGION, YIELD
from ljit.ops.ranges import int_bounds
from ljit.types import (
    BOOL,
    BYTES,
    INT,
    INT_MAX,
    INT_MIN,
    ArrayType,
    ScalarType,
    TupleType,
    Type,
    UnionType,
)

__all__ = ["INT_MAX", "INT_MIN", "Ranges", "is_integer"]

_LONGEST_CHAIN = 20  # of operations that bounds are computed through
_CASES = 3  # Ifs in one another that a proof looks into
_MAX_TERMS = 8  # larger results of operations are new atoms
_MAX_DEGREE = 3


def is_integer(t: Type) -> bool:
    """Whether values of type `t` are ints to the analysis."""
    if isinstance(t, UnionType):
        return int_bounds.is_either_int(t)
    return t in (INT, BOOL) or (isinstance(t, ScalarType) and t.dtype.kind in "biu")


class Ranges:
    """The ints of one graph, and the facts that hold now. Implements `ljit.ir.range_rules.Symbolic`."""

    def __init__(self, *, has_exact_floats: bool = True) -> None:
        self.has_exact_floats = has_exact_floats
        self._floats = FloatRanges()
        self._values: dict[Value, Linear] = {}
        self._items: dict[tuple[Value, int], Linear] = {}
        self._atoms: dict[tuple[Value, Path], Atom] = {}
        self._bounds: dict[Value, tuple[int, int]] = {}
        self._scopes: list[list[Callable[[], object]]] = [[]]  # what to undo at the end of each
        self._waiting: list[Value] = []  # numbers whose bounds wait for those of their operands
        self._settled: set[Block] = set()
        self.proofs = Proofs()

    # -- ints as polynomials -----------------------------------------------------------------------

    def value(self, value: Value) -> Linear:
        """Give a number of the graph."""
        found = self._values.get(value)
        if found is not None:
            return found
        todo = [value]  # operands first, without recursion: a chain may be as long as the function
        while todo:
            missing = (v for v in _operands(todo[-1]) if v not in self._values)
            operand = next(missing, None)
            if operand is not None:
                todo.append(operand)
            else:
                last = todo.pop()
                self._values[last] = self._value(last)
        return self._values[value]

    def _value(self, value: Value) -> Linear:
        if value.is_constant and isinstance(value.constant, int | np.integer | np.bool):
            return Linear(int(value.constant))
        node = value.node
        if node is not None and node.op.ranges is not None and node.op.ranges.value is not None:
            found = node.op.ranges.value(self, node, value.index)
            if found is not None and self._is_small(found):
                return found
        return self._atom(value, (), *self.bounds(value))

    def bounds(self, value: Value) -> tuple[int, int]:
        """Give bounds of a number that hold wherever it is known: nothing is assumed."""
        found = self._bounds.get(value)
        if found is None:
            # within itself, and deep down
            self._bounds[value] = found = int_bounds.of_type(value.type)
            if len(self._waiting) < _LONGEST_CHAIN:
                self._waiting.append(value)
                self._note_bounds(value, *self._computed_bounds(value, *found))
                self._waiting.pop()
                if value.node is None:
                    self._settle(value.block)
                found = self._bounds[value]
        return found

    def note_limit(self, value: Value, most: int) -> None:
        """Take for granted of a number, wherever it is known, that it is no further than that away from 0."""
        low, high = int_bounds.of_type(value.type)
        self._bounds[value] = max(low, -most), min(high, most)

    def _computed_bounds(self, value: Value, low: int, high: int) -> tuple[int, int]:
        node = value.node
        if value.is_constant and isinstance(value.constant, int | np.integer | np.bool):
            return int(value.constant), int(value.constant)
        if node is None or node.op in (IF, REGION):
            least, most = bounds_of_cases(self, value) or (low, high)
            return max(low, least), min(high, most)
        if node.op.ranges is None or node.op.ranges.bounds is None:
            return low, high
        least, most = node.op.ranges.bounds(self, node)
        return max(low, least), min(high, most)

    def _note_bounds(self, value: Value, low: int, high: int) -> None:
        """Let an atom that was made while its bounds were being computed have them, too."""
        self._bounds[value] = low, high
        atom = self._atoms.get((value, ()))
        if atom is not None:
            atom.low, atom.high = max(atom.low, low), min(atom.high, high)

    def _settle(self, body: Block) -> None:
        """Look again at what a loop carries that was computed of a variable whose bounds were not yet known."""
        if body in self._settled or any(v.node is None and v.block is body for v in self._waiting):
            return
        self._settled.add(body)
        for param in body.params[1:]:
            if is_integer(param.type) and self.bounds(param) == int_bounds.of_type(param.type):
                self._note_bounds(param, *self._computed_bounds(param, *self.bounds(param)))

    def _is_small(self, x: Linear) -> bool:
        return len(x.terms) <= _MAX_TERMS and x.degree <= _MAX_DEGREE

    def _atom(self, value: Value, path: Path, low: int, high: int) -> Linear:
        atom = self._atoms.get((value, path))
        if atom is None:
            atom = self._atoms[value, path] = Atom(len(self._atoms), value, path, low, high)
        return Linear.of(atom)

    def item(self, value: Value, index: int) -> Linear:
        """Give an item of a tuple, or start, stop or step of a range."""
        found = self._items.get((value, index))
        if found is None:
            self._items[value, index] = found = self._item(value, index)
        return found

    def _item(self, value: Value, index: int) -> Linear:
        if value.is_constant:
            constant = value.constant
            if isinstance(constant, range):
                constant = (constant.start, constant.stop, constant.step)
            if isinstance(constant, tuple) and isinstance(constant[index], int):
                return Linear(int(constant[index]))
        node = value.node
        if node is not None and node.op.ranges is not None and node.op.ranges.item is not None:
            found = node.op.ranges.item(self, node, index)
            if found is not None and self._is_small(found):
                return found
        item = value.type.items[index] if isinstance(value.type, TupleType) else INT
        return self._atom(value, ("item", index), *int_bounds.of_type(item))

    def size(self, array: Value, axis: int) -> Linear:
        """Give a size of an array, or that of bytes.

        An array of one axis has less bytes than 2**63; one of more axes can be empty and have any sizes.
        """
        t = array.type
        if t == BYTES:
            return self._atom(array, ("size", 0), 0, INT_MAX)
        assert isinstance(t, ArrayType)
        known = t.shape[axis]
        if known is not None:
            return Linear(known)
        node = array.node
        if node is not None and node.op.ranges is not None and node.op.ranges.size is not None:
            found = node.op.ranges.size(self, node, axis)
            if found is not None and self._is_small(found):
                return found
        most = INT_MAX // max(t.dtype.itemsize, 1) if t.ndim == 1 else INT_MAX
        return self._atom(array, ("size", axis), 0, most)

    def constant(self, value: int) -> Linear:
        return Linear(value)

    def is_int(self, value: Value) -> bool:
        return is_integer(value.type)

    def floats(self, value: Value) -> FloatBounds:
        """Give what a number is between here, as a float."""
        return self._floats.bounds(self, value)

    def unknown_floats(self, value: Value) -> list[Value]:
        """Give the numbers of which a float is made that may be NaN, and of which no more is known."""
        return self._floats.unknown(self, value)

    def implied(self, condition: Value, *, holds: bool) -> Iterable[Linear]:
        """Give what is known where a bool holds, or does not hold."""
        found: list[Linear] = []
        for node, is_so in told(condition, holds=holds):
            if node.op.ranges is not None and node.op.ranges.implies is not None:
                found += node.op.ranges.implies(self, node, is_so)
        return found

    def limits(self, condition: Value, *, holds: bool) -> Iterable[FloatLimit]:
        """Give what floats are between where a bool holds, or does not hold."""
        found: list[FloatLimit] = []
        for node, is_so in told(condition, holds=holds):
            if node.op.ranges is not None and node.op.ranges.limits is not None:
                found += node.op.ranges.limits(self, node, is_so)
        return found

    def below(self, x: Linear, limit: Value) -> Iterable[Linear]:
        """Give what is known where ``x < limit``."""
        node = limit.node
        if node is not None and node.op.ranges is not None and node.op.ranges.below is not None:
            found = list(node.op.ranges.below(self, node, x))
            if found:
                return found
        return [self.value(limit) - 1 - x]

    # -- facts -------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many scopes are open: the name of the innermost one."""
        return len(self._scopes) - 1

    def open(self) -> None:
        """Begin a scope: facts that are assumed from now on are forgotten at its end."""
        self._scopes.append([])

    def close(self) -> None:
        """End the innermost scope."""
        for undo in reversed(self._scopes.pop()):
            undo()

    def assume(self, fact: Linear, scope: int = -1) -> None:
        """Take for granted that `fact` is at least 0, to the end of a scope (default: the innermost)."""
        fact = fact.reduced()
        if scope == -1 and (fact.bounds()[0] >= 0 or (len(fact.terms) == 1 and self._narrow(fact))):
            return
        undo = self._scopes[scope]
        for atom in fact.atoms():
            factor = fact.cofactor(atom)
            if factor is None or factor.terms:
                continue
            known = (factor.constant, fact)
            if scope != -1 or known not in atom.facts:
                atom.facts.append(known)
                undo.append(_Removal(atom, known))

    def assume_limits(self, limits: Iterable[FloatLimit], *, in_all_trips: bool = False) -> bool:
        """Take for granted to the end of the innermost scope what floats are between; False if that cannot be."""
        for name in ("limits", "of_all_trips"):
            undo = partial(setattr, self._floats, name, getattr(self._floats, name))
            self._scopes[-1].append(undo)
        return self._floats.assume(limits, in_all_trips=in_all_trips)

    def retract(self, fact: Linear, scope: int) -> None:
        """Forget what was assumed for an open scope."""
        fact = fact.reduced()
        undo = self._scopes[scope]
        for removal in [u for u in undo if isinstance(u, _Removal) and u.known[1] == fact]:
            undo.remove(removal)
            removal()

    def _narrow(self, fact: Linear) -> bool:
        """Keep a fact about a single atom as its bounds."""
        ((monomial, factor),) = fact.terms.items()
        if len(monomial) > 1:
            return False
        (atom,) = monomial
        before = atom.low, atom.high
        if factor > 0:
            atom.low = max(atom.low, -(fact.constant // factor))
        else:
            atom.high = min(atom.high, fact.constant // -factor)
        self._scopes[-1].append(_Bounds(atom, *before))
        return True

    # -- proofs ------------------------------------------------------------------------------------

    def sign(self, x: Linear) -> int:
        """1: at least 1; -1: at most -1; 0: neither is known."""
        if self.proves(x - 1):
            return 1
        return -1 if self.proves(-x - 1) else 0

    def proves(self, goal: Linear) -> bool:
        """Whether `goal` is surely at least 0 here."""
        if goal.bounds()[0] >= 0 or self.proofs.finds(goal):
            return True
        factors = goal.factors()
        return bool(factors) and all(map(self.proves, factors))

    def proves_by_cases(self, goal: Linear, depth: int = _CASES) -> bool:
        """The same; what an If gives is looked at where either of its blocks ran."""
        if self.proves(goal):
            return True
        chosen = next((atom for atom in goal.atoms() if _is_choice(atom)), None)
        if chosen is None or not depth:
            return False
        return all(self._proves_in_case(goal, chosen, depth, side) for side in (True, False))

    def _proves_in_case(self, goal: Linear, chosen: Atom, depth: int, side: bool) -> bool:
        choice = chosen.value.node
        assert choice is not None
        end = choice.blocks[0 if side else 1].last
        if end is None or end.op is not YIELD:
            return True
        facts = list(self.implied(choice.inputs[0], holds=side))
        if any(fact.bounds()[1] < 0 for fact in facts):  # it does not come to that
            return True
        self.open()
        for fact in facts:
            self.assume(fact)
        given = {
            atom: self.value(end.inputs[atom.value.index])
            for atom in goal.atoms()
            if atom.value.node is choice and not atom.path
        }
        proven = self.proves_by_cases(goal.substitute(given), depth - 1)
        self.close()
        return proven

    def least_without(self, goal: Linear, is_gone: Callable[[Atom], bool]) -> Linear | None:
        """Give a polynomial without certain atoms that, where it is at least 0, shows that `goal` is."""
        return self.proofs.least_without(goal, is_gone)


def _is_choice(atom: Atom) -> bool:
    """Whether it is a number that an If gives."""
    node = atom.value.node
    return node is not None and node.op is IF and not atom.path


def _operands(value: Value) -> list[Value]:
    """The ints from which the number may be computed."""
    node = value.node
    if node is None or node.op.ranges is None or node.op.ranges.value is None:
        return []
    return [v for v in node.inputs if is_integer(v.type)]


class _Removal:
    """Takes a fact from an atom that may have got others since."""

    __slots__ = ("atom", "known")

    def __init__(self, atom: Atom, known: tuple[int, Linear]) -> None:
        self.atom = atom
        self.known = known

    def __call__(self) -> None:
        self.atom.facts.remove(self.known)


class _Bounds:
    """Gives an atom the bounds that it had."""

    __slots__ = ("atom", "high", "low")

    def __init__(self, atom: Atom, low: int, high: int) -> None:
        self.atom = atom
        self.low = low
        self.high = high

    def __call__(self) -> None:
        self.atom.low, self.atom.high = self.low, self.high
