"""Carry from trip to trip a power whose exponent goes up by a fixed step, as a product.

    for i in range(n + 1):                          p, q = u ** -n, u ** 2
        x[i] = s * u ** (2 * i - n)                 for i in range(n + 1):
                                                        x[i] = s * p
                                                        p = p * q

The nodes of a binomial tree, discounted payments, polynomials: C's pow takes as long as ten products. The power is
carried as the sum of two floats (`ops/python/carried_powers.py`), so that what it is rounded to is what pow gives;
where that is not sure, pow is called.

Contract: a counted loop that only ends with its trips; the base is the same in all of them, the exponent an int of
which the range analysis knows that each trip adds the same constant, both computed by nodes without checks. These are
done once more in front of the loop, those of the exponent if it has trips.

Reference: Cocke, Kennedy, An Algorithm for Reduction of Operator Strength, Communications of the ACM 20, 1977.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.analysis.ranges import Ranges
from ljit.analysis.uniformity import is_steady
from ljit.ir import Graph, Node, Value, copy_node, get_op
from ljit.ops.control import IF, LOOP, YIELD
from ljit.ops.python.carried_powers import BASES, POWER_BEGINS, POWER_ENDS, POWER_GOES_ON
from ljit.ops.ranges.int_ranges import POWER
from ljit.passes.loops.trip_blocks import only_counts
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, nodes_making
from ljit.records import Record
from ljit.types import INT

__all__ = ["carry_powers"]

NAME = "carry_powers"
_MAX_POWERS = 4  # of a loop
_MAX_STEP = 2**10
_MAX_NODES = 10  # that make an exponent
_NOT_KNOWN = (0.0, 0.0)  # C's pow is called then


@graph_pass(NAME)
def carry_powers(graph: Graph) -> bool:
    """Rewrite the powers for which it is legal; whether there were any."""
    ranges, changed = Ranges(), False
    for loop in [node for node in graph.walk() if node.op is LOOP and only_counts(node)]:
        inside = [node for node in loop.blocks[0].walk() if _is_power(node, loop)]
        found = [power for node in inside if (power := _power_of(loop, node, ranges)) is not None]
        for power in found[:_MAX_POWERS]:
            if is_allowed(NAME, power.node):
                power.carry()
                changed = True
    return changed


class _Power(Record):
    """A power in a loop, what its exponent is made of there, and what each trip adds to that."""

    loop: Node
    node: Node
    base: Sequence[Node]
    exponent: Sequence[Node]
    step: int

    def carry(self) -> None:
        """Let the loop carry the power, and each trip multiply it."""
        loop, node = self.loop, self.node
        base, n = node.inputs
        values: dict[Value, Value] = {}
        for made in self.base:
            copy_node(made, loop.graph, values, {}).insert_before(loop)
        base_in_front = values.get(base, base)
        first = self._begin(base_in_front)
        step = insert_constant(self.step, loop)
        factor = loop.create_before(POWER_BEGINS, (base_in_front, step), like=node).output
        body = loop.blocks[0]
        loop.add_input(first)
        parts = body.add_param("", first.type)
        made = node.create_before(POWER_ENDS, (parts, base, n), like=node)
        node.replace_with([made.output])
        end = body.terminator
        end.add_input(end.create_before(POWER_GOES_ON, (parts, factor), like=node).output)
        loop.add_output(first.type)

    def _begin(self, base: Value) -> Value:
        """The power of the first trip, in front of the loop, if there is one."""
        loop, node = self.loop, self.node
        n = node.inputs[1]
        start, stop = loop.inputs[:2]
        condition = loop.create_before(get_op("py::lt"), (start, stop), like=node).output
        unknown = insert_constant(_NOT_KNOWN, loop)
        choice = loop.create_before(IF, (condition,), outputs=[unknown.type], like=node)
        values = {loop.blocks[0].params[0]: start}
        inside = choice.add_block()
        for made in self.exponent:
            inside.append(copy_node(made, loop.graph, values, {}))
        power = inside.create(POWER_BEGINS, (base, values[n]), like=node)
        inside.create(YIELD, (power.output,), like=node)
        choice.add_block().create(YIELD, (unknown,), like=node)
        return choice.output


def _is_power(node: Node, loop: Node) -> bool:
    """Whether a node of a loop, but of none in it, is a power of a float to an int."""
    types = [v.type for v in node.inputs]
    is_float = node.op.ranges is POWER and types in [[base, INT] for base in BASES]
    around = next((owner for owner in node.owners() if owner.op is LOOP), None)
    return is_float and node.output.type == types[0] and around is loop


def _power_of(loop: Node, node: Node, ranges: Ranges) -> _Power | None:
    base, n = node.inputs
    if not is_steady(base, loop) or not n.is_inside(loop):
        return None
    (monomial,) = ranges.value(loop.blocks[0].params[0]).terms
    (trip,) = monomial
    exponent = ranges.value(n)
    step = exponent.cofactor(trip)
    if step is None or step.terms or not 0 < abs(step.constant) <= _MAX_STEP:
        return None
    if any(atom.value.is_inside(loop) for atom in exponent.atoms() if atom is not trip):
        return None
    of_base, of_exponent = (nodes_making(v, loop, _MAX_NODES) for v in (base, n))
    if of_base is None or of_exponent is None:
        return None
    return _Power(loop, node, of_base, of_exponent, step.constant)
