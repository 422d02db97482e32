"""Tests in front of loops: `prim::predicate` nodes made of polynomials."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from math import prod

from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value, get_op
from ljit.ir.linear import Atom, Linear
from ljit.ops.containers.tuples import TUPLE_INDEX
from ljit.ops.control import LOOP, PREDICATE
from ljit.records import Record
from ljit.types import BYTES, INT, RANGE, UnionType

__all__ = ["Outside", "Predicate", "assume_predicates", "insert_predicates"]

_RANGE_PARTS = ("py::start", "py::stop", "py::step")


class Predicate(Record):
    """`test` is at least 0 if all of `given` are: to be checked in front of `loop`, for the sake of `node`."""

    loop: Node
    node: Node
    given: tuple[Linear, ...]
    test: Linear


class Outside:
    """What is known in front of a loop."""

    def __init__(self, loop: Node) -> None:
        self.blocks = set(loop.blocks_around())

    def lacks(self, atom: Atom) -> bool:
        return atom.value.block not in self.blocks


def assume_predicates(known: Ranges, loop: Node) -> None:
    """Take for granted what tests in front of a loop, and of those around it, have shown where its body runs."""
    around = [loop, *(owner for owner in loop.owners() if owner.op is LOOP)]
    for place in around:
        start, stop = place.inputs[:2]
        for fact in [] if stop.is_endless else known.below(known.value(start), stop):
            known.assume(fact)
    for node in itertools.chain.from_iterable(map(_predicates_before, around)):
        given, test = node.attrs["given"], node.attrs["test"]
        assert isinstance(given, tuple)
        assert isinstance(test, tuple)
        operands = [known.value(v) for v in node.inputs]
        if all(known.proves(_read(x, operands)) for x in given):
            known.assume(_read(test, operands))


def _predicates_before(place: Node) -> Iterable[Node]:
    before = itertools.takewhile(lambda node: node is not place, place.block or ())
    return [node for node in before if node.op is PREDICATE]


def _read(terms: Sequence[Sequence[int]], operands: Sequence[Linear]) -> Linear:
    """The polynomial that `_as_attribute` wrote."""
    products = (prod((operands[i] for i in at), start=Linear(c)) for c, *at in terms)
    return sum(products, start=Linear(0))


def insert_predicates(predicates: Sequence[Predicate]) -> bool:
    """Put the tests into the graph, but those that others make needless; whether there were any."""
    parts: dict[tuple[Node, Atom], Value] = {}
    for predicate in _strongest(predicates):
        _insert(predicate, parts)
    return bool(predicates)


def _strongest(predicates: Sequence[Predicate]) -> Iterable[Predicate]:
    """Of tests of one loop that differ by a constant the one that fails first: ``a[i, 2]`` wants more than ``a[i, 0]``.

    Loops side by side in that loop may ask for the same.
    """
    found: dict[tuple[object, ...], Predicate] = {}
    for predicate in predicates:
        test = predicate.test
        given = tuple((_terms(x), x.constant) for x in predicate.given)
        key = (predicate.loop, given, _terms(test))
        if key not in found or test.constant < found[key].test.constant:
            found[key] = predicate
    return found.values()


def _terms(x: Linear) -> frozenset[object]:
    """What is the same for terms of the same numbers, whichever walk over the graph has met them."""
    return frozenset(
        (c, tuple(sorted((id(atom.value), str(atom.path)) for atom in m)))
        for m, c in x.terms.items()
    )


def _insert(predicate: Predicate, parts: dict[tuple[Node, Atom], Value]) -> None:
    loop = predicate.loop
    sums = [*predicate.given, predicate.test]
    atoms = list({atom: None for x in sums for atom in x.atoms()})
    inputs = []
    for atom in atoms:
        if (loop, atom) not in parts:
            parts[loop, atom] = _value_of(atom, loop)
        inputs.append(parts[loop, atom])
    *given, test = (_as_attribute(x, atoms) for x in sums)
    attrs = {"given": tuple(given), "test": test}
    loop.create_before(PREDICATE, inputs, attrs, outputs=0, like=predicate.node)


def _as_attribute(x: Linear, atoms: Sequence[Atom]) -> tuple[tuple[int, ...], ...]:
    """Each term as its factor and the positions of the operands that it multiplies."""
    constant = [(x.constant,)] if x.constant or not x.terms else []
    return (*constant, *((c, *map(atoms.index, m)) for m, c in x.terms.items()))


def _value_of(atom: Atom, before: Node) -> Value:
    """The atom as a value of the graph."""
    graph = before.graph
    match atom.path:
        case ():
            if not isinstance(atom.value.type, UnionType):
                return atom.value
            attrs = {"type": INT}
            made = graph.create(get_op("np::number"), [atom.value], attrs, like=before)
        case ("size", _) if atom.value.type == BYTES:
            made = graph.create(get_op("py::len"), [atom.value], like=before)
        case ("size", int(axis)):
            shape = before.create_before(get_op("np::shape"), [atom.value], like=before)
            made = graph.create(TUPLE_INDEX, [shape.output], {"index": axis}, like=before)
        case ("item", int(index)) if atom.value.type == RANGE:
            made = graph.create(get_op(_RANGE_PARTS[index]), [atom.value], like=before)
        case ("item", int(index)):
            made = graph.create(TUPLE_INDEX, [atom.value], {"index": index}, like=before)
        case _:
            raise AssertionError(atom.path)
    return made.insert_before(before).output
