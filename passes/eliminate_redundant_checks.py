"""Find checks of lowerings that cannot fail, and put tests in front of loops that make more of them so.

Contract: `Node.proven` names the checks (`RangeRules.checks`) whose polynomials are at least 0 whenever the node runs;
the lowering leaves them out. Where a check in a loop depends only on values from outside of the loop and on values
that facts bound (induction variables), `prim::predicate` in front of the loop tests the worst case and leaves for the
last Snapshot if it fails. The interpreter then raises the exception in the right trip, or finds that there is none:
feedback names such a node (`failed`), which keeps its check from then on. A loop without trips never fails the test.

One walk in program order with `analysis.ranges`, in which facts live as long as the block they were found in. For
variables that a loop carries, both directions are assumed (it never falls below, or rises above, its first value) and
checked on the way; what does not hold is dropped and the loop walked again, with less facts: a check that could not
be shown to hold is not tried again. Where a product is not known to fit, tests that its factors are near 0 do. Numbers
that an If gives are looked at case by case. Of what loops and regions give on several ways out, only whether it is
below 0 is asked. An If whose condition facts decide is marked, too: the other block stays, since facts may come of
checks of nodes that only that block needs. Cost: a bounded search for each check and condition, times
`_MAX_WALKS` at worst for each enclosing loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence
from functools import partial

from ljit.analysis.limits import limits_of_atoms
from ljit.analysis.ranges import Ranges, is_integer
from ljit.ir import Block, Graph, Node, Value
from ljit.ir.linear import Atom, Linear
from ljit.ir.range_rules import FloatLimit
from ljit.ops.control import BREAK, CONTINUE, FAILS, HOLDS, IF, LOOP, MAP, REGION, YIELD
from ljit.ops.ranges.int_ranges import FITS
from ljit.passes.loops.carried_sums import with_room_for_sums
from ljit.passes.loops.element_tests import ElementTests
from ljit.passes.loops.float_tests import FloatTests
from ljit.passes.loops.induction import Induction, inductions
from ljit.passes.loops.lost_bits import MOST_TRIPS, LostBits, lost_bits
from ljit.passes.loops.near_arrays import look_at_arrays
from ljit.passes.loops.near_numbers import inserted, near_numbers
from ljit.passes.loops.predicates import Outside, Predicate, insert_predicates
from ljit.passes.loops.refusals import note_refused
from ljit.passes.loops.trip_limits import (
    MANY,
    Measure,
    behind_test,
    falling,
    goes_on,
    head_of,
    measures,
    most_trips,
    note_most,
    remaining,
    trips_of,
)
from ljit.passes.loops.unwrapped_numbers import Test, Unwrapped
from ljit.passes.manager import graph_pass, is_allowed
from ljit.records import Record, made_by
from ljit.types import INT_MAX

__all__ = ["eliminate_redundant_checks"]

NAME = "eliminate_redundant_checks"
_MAX_PREDICATES = 40
_MAX_WALKS = 6  # through a loop with guesses of how its variables move; then there are none


@graph_pass(NAME)
def eliminate_redundant_checks(
    graph: Graph, failed: Container[int] = (), *, fastmath: bool = False
) -> bool:
    """Mark checks and insert tests; whether there were any. `failed`: origins of nodes whose test failed."""
    fastmath, elements = fastmath or any(n.is_fast for n in graph.walk()), ElementTests()
    walked = partial(_walked, graph, failed, elements, fastmath=fastmath)
    walk = walked()
    limited = [x for x, most in walk.limits.items() if is_allowed(NAME, x) and note_most(x, most)]
    ends = {loop: end for loop, end in walk.ends.items() if is_allowed(NAME, loop)}
    changed, tests = bool(limited or ends), []
    for loop, (most, made) in ends.items():
        loop.attrs["ends_after"] = most
        tests += made
    if walk.counting.intersection((*limited, *ends)):  # how far they count is known now
        if ends:  # how they end may rest on these
            tests += walk.predicates
        walk = walked()
    found = near_numbers(graph, walk.proven, walk.unfit, failed)
    numbers = [number for number in found if is_allowed(NAME, number.conversion)]
    if numbers:
        walk = inserted(numbers, walked)
        changed |= any(number.is_inserted for number in numbers)
    for node, names in walk.proven.items():
        if names and names != node.proven and is_allowed(NAME, node):
            node.proven, changed = names, True
    look_at_arrays(numbers, failed)
    elements.put_into(walk.float_tests)
    changed |= walk.float_tests.insert()
    return insert_predicates([made for _, made in (*tests, *walk.predicates)]) or changed


def _walked(
    graph: Graph, failed: Container[int], elements: ElementTests, *, fastmath: bool
) -> _Walk:
    known, walk = -1, None
    while walk is None or known != elements.changes:
        known, walk = elements.changes, _Walk(failed, elements, fastmath=fastmath)
        walk.block(graph.block)
    return walk


class _OpenLoop(Record, frozen=False):
    """A loop around the place where the walk stands. `given` is at least 0 if its body runs at all."""

    node: Node
    scope: int
    given: list[Linear]
    inductions: list[Induction]
    k: Linear
    measures: list[Measure]
    failures: set[Induction] = made_by(factory=set)
    lost: set[Induction] = made_by(factory=set)  # where the loop is left before its end


class _Walk:
    def __init__(self, failed: Container[int], elements: ElementTests, *, fastmath: bool) -> None:
        self.s = Ranges(has_exact_floats=not fastmath)
        self.failed = failed
        self.elements = elements
        elements.assume(self.s)
        self.proven: dict[Node, tuple[str, ...]] = {}
        self.unfit: set[Node] = set()  # what has to check that its result fits
        self.predicates: list[Test] = []
        self.loops: list[_OpenLoop] = []
        self.refuted: set[tuple[Node, int, int, Linear]] = set()  # inductions that do not hold
        #: of loops and regions: the outputs that no way out has shown to be below 0
        self.natural: dict[Node, set[Value]] = {}
        #: what was not to be shown; when a loop is walked again, there are less facts
        self.hopeless: set[tuple[Node, tuple[Linear, ...]]] = set()
        self.float_tests = FloatTests(self.s)
        self.unwrapped = Unwrapped(self.s)
        self.limits: dict[Node, int] = {}  # of the trips of loops
        #: about how many trips others have at most, with the tests that see to it
        self.ends: dict[Node, tuple[int, list[Test]]] = {}
        self.counting: set[Node] = set()  # loops that move a variable by bounded steps

    # -- the walk ----------------------------------------------------------------------------------

    def block(self, block: Block) -> bool:
        """Walk a block in the present scope; whether its end is reached by a Yield."""
        for node in block:
            if node.op is IF:
                self.branch(node)
            elif node.op is LOOP:
                self.loop(node)
            elif node.op.is_terminator:
                self.exit(node)
            elif node.op is REGION:
                self.region(node)
            elif node.op is not MAP:
                for inner in node.blocks:
                    self.scoped(inner)
                self.operation(node)
        return block.last is not None and block.last.op is YIELD

    def scoped(
        self, block: Block, facts: Sequence[Linear] = (), limits: Sequence[FloatLimit] = ()
    ) -> bool:
        self.s.open()
        self.s.assume_limits(limits)
        for fact in facts:
            self.s.assume(fact)
        reached = self.block(block)
        self.s.close()
        return reached

    def operation(self, node: Node) -> None:
        rules = node.op.ranges
        if rules is None:
            return
        if rules.checks is not None:
            self.checks(node, list(rules.checks(self.s, node)))
        if rules.refused is not None:
            note_refused(self.s, self.proven, node)
        if rules.facts is not None:
            for fact in rules.facts(self.s, node):
                self.s.assume(fact)
        if rules.unwrapped is not None:
            self.unwrapped.note(node, rules.unwrapped(self.s, node))

    def branch(self, node: Node) -> None:
        """An If: each block knows what the condition says; behind it, so does the only one that gets there.

        A block that cannot run, because its condition is out of the bounds of what it is about, is not looked at.
        """
        sides = [list(self.s.implied(node.inputs[0], holds=holds)) for holds in (True, False)]
        reachable = [not any(self.s.proves_by_cases(-1 - f) for f in facts) for facts in sides]
        self.proven[node] = ()
        if reachable[0] != reachable[1]:
            self.proven[node] = (HOLDS if reachable[0] else FAILS,)
            self.scoped(node.blocks[reachable[1]])
            return
        limits = [list(self.s.limits(node.inputs[0], holds=holds)) for holds in (True, False)]
        first, second = map(self.scoped, node.blocks, sides, limits)
        if first != second:
            for fact in sides[second]:
                self.s.assume(fact)
            self.s.assume_limits(limits[second])

    # -- loops -------------------------------------------------------------------------------------

    def loop(self, node: Node) -> None:
        start, stop = node.inputs[:2]
        body, s = node.blocks[0], self.s
        k = s.value(body.params[0])
        is_endless = stop.is_endless
        given = self.head_facts(node) if is_endless else list(s.below(s.value(start), stop))
        found = inductions(s, node, given)
        for walks in itertools.count(1):
            known = [i for i in found if not self.is_refuted(node, i)]
            self.natural[node] = _ints(node)
            mark = len(self.predicates)
            s.open()
            measured = measures(s, node, behind_test(s, node)) if is_endless else []
            open_loop = _OpenLoop(node, s.depth, given, known, k, measured)
            self.loops.append(open_loop)
            s.assume(k - s.value(start))
            for fact in self.last_trip(node, k) if is_endless else s.below(k, stop):
                s.assume(fact)
            for induction in known:
                for fact in induction.facts(s.value(body.params[1 + induction.index]), k):
                    s.assume(fact)
            if not is_endless:
                self.leave(node, body.params[1:])
            self.block(body)
            self.loops.pop()
            s.close()
            if not open_loop.failures:
                break
            self.drop(mark)
            dropped = open_loop.failures if walks < _MAX_WALKS else known
            self.refuted |= {_key(node, i) for i in dropped}
        self.limit(open_loop)
        if len(node.blocks) > 1:
            self.scoped(node.blocks[1])
        self.after(open_loop)

    def is_refuted(self, node: Node, induction: Induction) -> bool:
        return not induction.is_certain and _key(node, induction) in self.refuted

    def last_trip(self, node: Node, k: Linear) -> list[Linear]:
        """What is known of the trips of a ``while``."""
        most = most_trips(node)
        if most is None:
            return [INT_MAX - 1 - k]
        return [self.s.value(node.inputs[0]) + most - 1 - k]

    def limit(self, loop: _OpenLoop) -> None:
        """Note how many trips it has at most."""
        self.limits.pop(loop.node, None)
        self.ends.pop(loop.node, None)
        head = head_of(loop.node) if loop.node.inputs[1].is_endless else None
        most = trips_of(loop.measures)
        if most is None and head is not None:
            condition, holds = goes_on(head)
            found = lost_bits(loop.node, condition) if holds else None
            if found is not None:
                most = MOST_TRIPS
                self.test_sign(loop.node, found)
        if most is not None:
            self.limits[loop.node] = most
        elif self.loops:
            self.note_end(loop)
        if any(induction.rate for induction in loop.inductions):
            self.counting.add(loop.node)

    def test_sign(self, loop: Node, bits: LostBits) -> None:
        """Test in front of a loop that a number which it takes bits off is not below 0."""
        nodes = [node for node in bits.differences if FITS not in self.proven.get(node, ())]
        test = self.s.value(bits.first) if nodes else Linear()
        if test.terms and not any(node.origin in self.failed for node in nodes):
            self.predicates.append((self.s.depth, Predicate(loop, nodes[0], (), test)))
            for node in nodes:
                self.proven[node] = (*self.proven.get(node, ()), FITS)

    def note_end(self, loop: _OpenLoop) -> None:
        """Note how soon a ``while`` in another loop ends by what falls in each trip, if need be with a test."""
        for amount in falling(loop.measures):
            first = amount.substitute(self.first_values(loop.node))
            made = self.tests(loop.node, [MANY - 2 - first])
            if made is not None:
                self.ends[loop.node] = MANY, made
                return

    def drop(self, mark: int) -> None:
        """Take back the tests made since `mark`, with what follows from them in scopes that are still open."""
        for scope, predicate in self.predicates[mark:]:
            if scope <= self.s.depth:
                self.s.retract(predicate.test, scope)
        del self.predicates[mark:]

    def after(self, loop: _OpenLoop) -> None:
        """What held in each trip holds behind a loop, if it holds where this is left before its trips are used up."""
        node = loop.node
        if len(node.blocks) > 1:
            return
        for out in self.natural[node]:
            self.s.assume(self.s.value(out))
        is_left = any(n.op is BREAK and n.target is node for n in node.blocks[0].walk())
        start, stop = map(self.s.value, node.inputs[:2])
        is_counted = not is_left and self.s.proves(stop - start)
        for induction in loop.inductions:
            out = node.outputs[induction.index]
            if not is_integer(out.type):
                continue
            distance = induction.distance(self.s.value(out))
            if not (induction.wavers or induction.in_trips or induction in loop.lost):
                self.s.assume(distance)
            if induction.rate is not None and is_counted:
                self.s.assume((stop - start) * induction.rate - distance)

    def region(self, node: Node) -> None:
        self.natural[node] = _ints(node)
        self.scoped(node.blocks[0])
        for out in self.natural[node]:
            self.s.assume(self.s.value(out))

    def leave(self, node: Node, values: Sequence[Value]) -> None:
        """One of the ways out of a loop or region, with what it gives: which of it is not below 0?"""
        natural = self.natural[node]
        for out, value in zip(node.outputs, values, strict=True):
            if out in natural and not self.s.proves_by_cases(self.s.value(value)):
                natural.discard(out)
        for loop in self.loops:
            for induction in loop.inductions if loop.node is node else ():
                value = values[induction.index]  # may be no int, where the loop gives either
                if not is_integer(value.type) or not self.s.proves_by_cases(
                    induction.distance(self.s.value(value))
                ):
                    loop.lost.add(induction)

    def head_facts(self, node: Node) -> list[Linear]:
        """What has to hold of the first values, for the body of a ``while`` to run at all."""
        head = head_of(node)
        if head is None:
            return []
        first, (condition, holds) = self.first_values(node), goes_on(head)
        return [f.substitute(first) for f in self.s.implied(condition, holds=holds)]

    def first_values(self, node: Node) -> dict[Atom, Linear]:
        """What a loop begins with."""
        s = self.s
        return {
            atom: s.value(value)
            for param, value in zip(
                node.blocks[0].params, [node.inputs[0], *node.inputs[2:]], strict=True
            )
            if is_integer(param.type)
            for atom in s.value(param).atoms()
        }

    def exit(self, node: Node) -> None:
        """A Yield or Continue that starts the next trip: do the inductions still hold? And a Break."""
        assert node.block is not None
        owner = node.block.owner
        left = node.target if node.op is BREAK else owner
        if left is not None and (node.op is BREAK or (node.op is YIELD and left.op is REGION)):
            self.leave(left, node.inputs)
        is_back_edge = node.op is CONTINUE or (
            node.op is YIELD
            and owner is not None
            and owner.op is LOOP
            and node.block is owner.blocks[0]
        )
        if not is_back_edge:
            return
        target = node.target if node.op is CONTINUE else owner
        found = next(loop for loop in self.loops if loop.node is target)
        for induction in found.inductions:
            if not induction.is_certain:
                following = self.s.value(node.inputs[induction.index])
                if not self.s.proves_by_cases(induction.distance(following)):
                    found.failures.add(induction)
        if not found.failures:  # else the loop is walked again
            found.measures = remaining(self.s, found.node, found.measures, node)

    # -- checks ------------------------------------------------------------------------------------

    def checks(self, node: Node, checks: Sequence[tuple[str, Linear]]) -> None:
        wanted: dict[str, list[Linear]] = {}
        for name, polynomial in checks:
            wanted.setdefault(name, []).append(polynomial)
        done = node.proven  # by the pass that made the node
        names = [name for name, parts in wanted.items() if name in done or self.holds(node, parts)]
        if self.loops and node.origin not in self.failed:
            names += self.float_tests.more_proven(node, names, [loop.node for loop in self.loops])
        self.proven[node] = tuple(names)
        (self.unfit.add if FITS in wanted and FITS not in names else self.unfit.discard)(node)

    def holds(self, node: Node, parts: Sequence[Linear]) -> bool:
        """Whether all parts are at least 0, if need be by tests in front of loops."""
        key = node, tuple(parts)
        if key in self.hopeless:
            return False
        made = self.tests(node, parts)
        if made is None:
            made = self.tests_without_wrapping(node, parts)
        if made is None:
            self.hopeless.add(key)
            if node.origin not in self.failed:
                self.elements.find(node, parts, [loop.node for loop in self.loops])
            return False
        for scope, predicate in made:
            self.predicates.append((scope, predicate))
            self.s.assume(predicate.test, scope)
        return True

    def tests(self, node: Node, parts: Sequence[Linear]) -> list[Test] | None:
        """The tests that make all parts at least 0; None if there are no such."""
        for goals in filter(None, (with_room_for_sums(node, parts), parts)):
            made = self.plain_tests(node, goals)
            if made is None and any(part.degree > 1 for part in goals):
                limits = limits_of_atoms(goals)
                made = self.plain_tests(node, limits) if limits else None
                if made and any(predicate.test.constant < 0 for _, predicate in made):
                    return None  # it would fail for small numbers
            if made is not None:
                return made
        return None

    def plain_tests(self, node: Node, parts: Sequence[Linear]) -> list[Test] | None:
        made = []
        for part in parts:
            if self.s.proves_by_cases(part):
                continue
            test = self.predicate(node, part)
            if test is None:
                return None
            made.append(test)
        return made

    def tests_without_wrapping(self, node: Node, parts: Sequence[Linear]) -> list[Test] | None:
        """The same, with others that show that NumPy's integers are what they are in Python: ``a[starts[i] + j]``."""
        around = [fact for loop in self.loops for fact in loop.given]
        with self.unwrapped.assumed(partial(self.plain_tests, node), parts, around) as (
            exact_parts,
            made,
        ):
            rest = self.tests(node, exact_parts) if exact_parts else None
        if rest is not None:
            # not facts for other proofs: bounds that far away make tests that always fail
            self.predicates += [test for test in made if not self.is_made(test[1])]
        return rest

    def is_made(self, test: Predicate) -> bool:
        found = (other for _, other in self.predicates if other.loop is test.loop)
        return any(other.given == test.given and other.test == test.test for other in found)

    def predicate(self, node: Node, goal: Linear) -> Test | None:
        """A test in front of the outermost loop possible that makes `goal` hold within."""
        if node.origin in self.failed or len(self.predicates) >= _MAX_PREDICATES:
            return None
        for position, loop in enumerate(self.loops):
            outside = Outside(loop.node)
            test = self.s.least_without(goal, outside.lacks)
            if test is None:
                continue
            scope, given = self.conditions(position, outside)
            if not self.is_futile(test, given):
                return scope, Predicate(loop.node, node, given, test)
        return None

    def is_futile(self, test: Linear, given: Sequence[Linear]) -> bool:
        """Whether the test fails whenever the loops have two trips, or all numbers are 1 (``-i - k >= 0``)."""
        factors = test.terms.values()
        if all(factor < 0 for factor in factors) and test.constant + sum(factors) < 0:
            return True
        self.s.open()
        for fact in given:
            self.s.assume(fact - 1)
        fails = self.s.proves(-1 - test)
        self.s.close()
        return fails

    def conditions(self, position: int, outside: Outside) -> tuple[int, tuple[Linear, ...]]:
        """What says in front of a loop that its body and those within run; and the scope in which that is so."""
        scope = self.loops[position].scope
        given = []
        for loop in self.loops[position:]:
            known = [f for f in loop.given if f.terms and not any(map(outside.lacks, f.atoms()))]
            given += known
            scope = loop.scope if known else scope
        return scope, tuple(dict.fromkeys(given))


def _ints(node: Node) -> set[Value]:
    return {out for out in node.outputs if is_integer(out.type)}


def _key(loop: Node, induction: Induction) -> tuple[Node, int, int, Linear]:
    return loop, induction.index, induction.sign, induction.first
