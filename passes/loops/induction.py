"""Variables that a loop carries: how they move from trip to trip.

An `Induction` says that a variable never falls below (sign 1) or rises above (sign -1) what it was at first; with a
rate, also how far it can get in k trips. It is certain where the sum of the steps on each way through the body has a
known sign; otherwise a guess, which whoever uses it has to check on each way to the next trip. It is another guess that
a variable that begins at 0 or above and may fall stays there, or falls one step below it (``while j >= 0: j -= 1``),
and that one which is set to the number of a trip, or one that follows it (``if a[i] < a[best]: best = i``), does not
get beyond the last trip. Of one that goes up and down by bounded steps only the rates are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ljit.analysis.ranges import Ranges, is_integer
from ljit.ir import Node, Value
from ljit.ir.linear import Linear
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, YIELD
from ljit.passes.loops.trip_limits import MANY, most_trips
from ljit.records import Record

__all__ = ["Induction", "inductions"]

_FAR = 2**62  # steps of which nothing is known
_MUCH = MANY // 2  # what inner loops may add that have no few trips
_MAX_RATE = 2**31  # that any number of trips may have
_MAX_WAY = 2**61  # that a variable may come otherwise
_MOST_FALL = 16  # in a trip, of what may fall below 0 once
_CASES = 6  # Ifs in one another that are looked into


class Induction(Record):
    """``sign * (x - first) >= 0`` in each trip, unless it `wavers`; ``sign * (x - first) <= rate * (k - start)``.

    The latter if there is a rate. `in_trips`: the former need not hold of a loop without trips.
    """

    index: int  # of the carried variable
    sign: int
    first: Linear
    start: Linear
    rate: int | None
    is_certain: bool
    wavers: bool = False
    in_trips: bool = False

    def distance(self, x: Linear) -> Linear:
        """How far the variable has come: never less than 0 unless it wavers."""
        return (x - self.first) * self.sign

    def facts(self, x: Linear, k: Linear) -> Iterator[Linear]:
        """What holds at the start of trip k, where the variable is `x`."""
        distance = self.distance(x)
        if not self.wavers:
            yield distance
        if self.rate is not None:
            yield (k - self.start) * self.rate - distance


def inductions(s: Ranges, loop: Node, given: Iterable[Linear]) -> list[Induction]:
    """Find those of one loop; `given` is at least 0 if its body runs at all."""
    found: list[Induction] = []
    start, body, ends = s.value(loop.inputs[0]), loop.blocks[0], _ends(loop)
    max_rate = max(_MAX_RATE, _MAX_WAY // max(_most_trips(s, loop), 1))
    for index, param in enumerate(body.params[1:]):
        first = loop.inputs[2 + index]
        if not (is_integer(param.type) and is_integer(first.type)):
            continue
        low, high = _steps(s, loop, index, ends)
        begin = s.value(first)
        for sign, least, most in ((1, low, high), (-1, -high, -low)):
            rate = most if most <= max_rate else None
            if least >= 0:
                found.append(Induction(index, sign, begin, start, rate, True))
                continue
            if most > 0 and rate:
                found.append(Induction(index, sign, begin, start, rate, True, True))
            if most > 0 and -least >= _MUCH:
                found.append(Induction(index, sign, begin, start, None, False))
        if low < 0 and begin != Linear() and s.proves_by_cases(begin):
            found.append(Induction(index, 1, Linear(), start, None, False))
            if low >= -_MOST_FALL:
                found.append(Induction(index, 1, Linear(low), start, None, False))
        limit = _limit(s, loop, index) if low <= -_MUCH or high >= _MUCH else None
        if limit is not None and _holds_if(s, given, limit - begin):
            found.append(Induction(index, -1, limit, start, None, False, in_trips=True))
    return found


def _holds_if(s: Ranges, given: Iterable[Linear], goal: Linear) -> bool:
    """Whether a polynomial is surely at least 0 where others are."""
    s.open()
    for fact in given:
        s.assume(fact)
    proven = s.proves_by_cases(goal)
    s.close()
    return proven


def _limit(s: Ranges, loop: Node, index: int) -> Linear | None:
    """The greatest number that a variable is set to which all ways leave as it is or set to ``k + n``, with one n."""
    body, stop = loop.blocks[0], loop.inputs[1]
    if stop.is_endless or body.last is None or body.last.op is not YIELD:
        return None
    k, limits = s.value(body.params[0]), set[Linear]()
    for value in _chosen(body.last.inputs[index], _CASES):
        if value.node is None and value.block is body and value is not body.params[0]:
            continue  # as it was, or another such variable
        rest = s.value(value) - k if is_integer(value.type) else None
        if rest is None or any(atom.value.is_inside(loop) for atom in rest.atoms()):
            return None
        limits |= {fact + k + rest for fact in s.below(k, stop)}
    is_clear = len(limits) == 1 and not any(
        atom.value.is_inside(loop) for x in limits for atom in x.atoms()
    )
    return limits.pop() if is_clear else None


def _chosen(value: Value, depth: int) -> Iterator[Value]:
    """The numbers of which Ifs give one."""
    node = value.node
    if node is None or node.op is not IF or not depth:
        yield value
        return
    for block in node.blocks:
        if block.last is not None and block.last.op is YIELD:
            yield from _chosen(block.last.inputs[value.index], depth - 1)


def _ends(loop: Node) -> list[Node]:
    """The nodes that go on to the next trip."""
    body = loop.blocks[0]
    ends = [node for node in body.walk() if node.op is CONTINUE and node.target is loop]
    return [*ends, *(end for end in (body.last,) if end is not None and end.op is YIELD)]


def _steps(s: Ranges, loop: Node, index: int, ends: Iterable[Node]) -> tuple[int, int]:
    """Bounds of what one trip adds to a carried variable."""
    param = loop.blocks[0].params[1 + index]
    steps = [_difference(s, end.inputs[index], param, 8) for end in ends]
    return min((low for low, _ in steps), default=0), max((high for _, high in steps), default=0)


def _difference(s: Ranges, value: Value, base: Value, depth: int) -> tuple[int, int]:
    """Bounds of ``value - base``, by the way in which `value` is computed."""
    if value is base:
        return 0, 0
    if not (is_integer(value.type) and is_integer(base.type)):  # an int may come of floats
        return -_FAR, _FAR
    whole = s.value(value)
    low, high = (whole - s.value(base)).bounds()
    if depth == 0 or (low > -_FAR and high < _FAR):
        return _clip(low, high)
    # x + rest, where x is chosen or changed by the control flow of the body
    for atom in whole.atoms():
        node = atom.value.node
        if node is None or node.op not in (IF, LOOP) or atom.path or whole.terms.get((atom,)) != 1:
            continue
        rest = whole - Linear.of(atom)
        if atom not in rest.atoms():
            least, most = rest.bounds()
            low, high = _difference_of_result(s, atom.value, base, depth - 1)
            return _plus((low, high), _clip(least, most))
    return _clip(low, high)


def _difference_of_result(s: Ranges, value: Value, base: Value, depth: int) -> tuple[int, int]:
    """The same for an output of an If or Loop."""
    node = value.node
    assert node is not None
    if node.op is IF:
        ends = [b.last.inputs[value.index] for b in node.blocks if b.last and b.last.op is YIELD]
        parts = [_difference(s, end, base, depth) for end in ends]
        return min(p[0] for p in parts), max(p[1] for p in parts)
    if len(node.blocks) > 1:
        return -_FAR, _FAR
    low, high = _difference(s, node.inputs[2 + value.index], base, depth)
    least, most = _travel(s, node, value.index)
    nearest, furthest = _last_steps(s, node, value.index, depth)
    return _plus(_plus((low, high), (least, most)), (nearest, furthest))


def _travel(s: Ranges, loop: Node, index: int) -> tuple[int, int]:
    """Bounds of what all trips add to a carried variable."""
    low, high = _steps(s, loop, index, _ends(loop))
    trips = _most_trips(s, loop)
    return _clip(min(low * trips, 0), max(high * trips, 0))


def _most_trips(s: Ranges, loop: Node) -> int:
    trips = most_trips(loop)
    if trips is not None:
        return trips
    start, stop = loop.inputs[:2]
    return _FAR if stop.is_endless else max((s.value(stop) - s.value(start)).bounds()[1], 0)


def _last_steps(s: Ranges, loop: Node, index: int, depth: int) -> tuple[int, int]:
    """Bounds of what the ways out of a loop add to a carried variable."""
    param = loop.blocks[0].params[1 + index]
    ways = [] if loop.inputs[1].is_endless else [(0, 0)]
    for node in loop.blocks[0].walk():
        if node.op is BREAK and node.target is loop:
            ways.append(_difference(s, node.inputs[index], param, depth))
    return min((w[0] for w in ways), default=0), max((w[1] for w in ways), default=0)


def _plus(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    """Bounds of a sum; nothing is known of it on the side where nothing is known of a part."""
    low = -_FAR if min(x[0], y[0]) <= -_FAR else x[0] + y[0]
    high = _FAR if max(x[1], y[1]) >= _FAR else x[1] + y[1]
    return _clip(low, high)


def _clip(low: int, high: int) -> tuple[int, int]:
    return max(low, -_FAR), min(high, _FAR)
