"""Add what an If chooses, instead of choosing between sums.

    if x[i] > 0.0:                          s += x[i] if x[i] > 0.0 else -0.0
        s += x[i]

Trips wait for each other's sums. As it is written, each waits for the addition and for the choice behind it; the choice
of a term waits for nothing. Adding -0.0 gives every float itself, -0.0 and 0.0 among them (and a NaN); so does
subtracting 0.0.

Contract: an output of an If that is a carried sum in one block, and that sum or another one of the same float in the
other, becomes a sum behind the If. Only where both blocks are a few additions, products and comparisons, of which LLVM
computes both sides anyway: elsewhere a branch that is foretold leaves the addition out. Inner Ifs come first. A
``continue`` that leaves out nothing but that is the other side of its If.
"""

from __future__ import annotations

from ljit.analysis.float_sums import is_carried
from ljit.ir import Block, Graph, Node, Value
from ljit.ops.control import CONSTANT, CONTINUE, IF, LOOP, YIELD
from ljit.ops.ranges import float_bounds
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import BOOL, FLOAT, ScalarType, Type

__all__ = ["choose_terms"]

NAME = "choose_terms"
_MAX_NODES = 5  # of a block, without those in it
_MAX_SUMS = 8  # one behind the other
_NEUTRAL: dict[object, float] = {float_bounds.total: -0.0, float_bounds.difference: 0.0}
_CHEAP = (*_NEUTRAL, float_bounds.product)


@graph_pass(NAME)
def choose_terms(graph: Graph) -> bool:
    """Rewrite the Ifs for which it pays; whether there were any."""
    changed = False
    for loop in [node for node in graph.walk() if node.op is LOOP and len(node.blocks) == 1]:
        changed |= _join_next_trip(loop)
    for choice in reversed([node for node in graph.walk() if node.op is IF]):
        if not (_is_in_loop(choice) and all(map(_is_cheap, choice.blocks))):
            continue
        for out in [*choice.outputs]:
            sums = _sums(out)
            if sums is not None and is_allowed(NAME, choice):
                _add_choice(out, sums)
                changed = True
    return changed


def _join_next_trip(loop: Node) -> bool:
    """Let the last If of a trip give what the next one begins with, where one block goes on to that; whether it did."""
    end, behind = loop.blocks[0].terminator, list[Node]()
    choice = end.prev
    while choice is not None and choice.op is not IF and len(behind) < _MAX_NODES:
        behind.insert(0, choice)
        choice = choice.prev
    if choice is None or choice.op is not IF or choice.outputs or end.op is not YIELD:
        return False
    ends = [block.terminator for block in choice.blocks]
    going_on = next((n for n in ends if n.op is CONTINUE and n.target is loop), None)
    staying = next((n for n in ends if n.op is YIELD), None)
    if going_on is None or staying is None or not all(map(_is_quick, behind)):
        return False
    if not is_allowed(NAME, choice):
        return False
    for node in behind:
        node.unlink()
        node.insert_before(staying)
    staying.add_inputs(end.inputs)
    going_on.create_before(YIELD, going_on.inputs, outputs=(), like=end)
    going_on.erase()
    end.set_inputs([choice.add_output(param.type) for param in loop.blocks[0].params[1:]])
    return True


def _is_in_loop(choice: Node) -> bool:
    return any(b.owner is not None and b.owner.op is LOOP for b in choice.blocks_around())


def _is_cheap(block: Block) -> bool:
    nodes = [node for node in block if node.op is not CONSTANT]
    return len(nodes) <= _MAX_NODES + 1 and all(map(_is_quick, nodes))


def _is_quick(node: Node) -> bool:
    if node.op in (IF, YIELD):
        return all(map(_is_cheap, node.blocks))
    if node.op.can_leave(node) or not node.effects.is_removable:
        return False
    return _rule(node) in _CHEAP or all(map(_is_bool, (v.type for v in node.outputs)))


def _is_bool(t: Type) -> bool:
    return t == BOOL or (isinstance(t, ScalarType) and t.dtype.kind == "b")


def _rule(node: Node) -> object:
    return node.op.ranges.floats if node.op.ranges is not None else None


def _sums(out: Value) -> list[Node | None] | None:
    """The additions of which an If gives one, None for a block that gives what the other one adds to."""
    choice = out.node
    assert choice is not None
    ends = [block.terminator for block in choice.blocks]
    if any(end.op is not YIELD for end in ends):
        return None
    values = [end.inputs[out.index] for end in ends]
    sums = [_sum_of(value, choice) for value in values]
    made = [node for node in sums if node is not None]
    if not made:
        return None
    base, term = made[0].inputs
    is_same = all(
        node.op is made[0].op and node.inputs[0] is base and node.inputs[1].type == term.type
        for node in made
    )
    is_kept = all(value is base for value, node in zip(values, sums, strict=True) if node is None)
    fits = base.type == out.type and _is_float(base.type) and _is_float(term.type)
    return sums if is_same and is_kept and fits and _is_carried_sum(base) else None


def _sum_of(value: Value, choice: Node) -> Node | None:
    """The addition in a block of an If that makes a value."""
    node = value.node
    is_inside = node is not None and node.block is not None and node.block.owner is choice
    return node if node is not None and is_inside and _rule(node) in _NEUTRAL else None


def _is_float(t: Type) -> bool:
    return t == FLOAT or (isinstance(t, ScalarType) and t.dtype.kind == "f")


def _is_carried_sum(value: Value) -> bool:
    """Whether a value is what a trip begins with, or a sum of that."""
    for _ in range(_MAX_SUMS):
        if value.node is None:
            return is_carried(value)
        if _rule(value.node) not in _NEUTRAL:
            return False
        value = value.node.inputs[0]
    return False


def _add_choice(out: Value, sums: list[Node | None]) -> None:
    choice = out.node
    assert choice is not None and choice.next is not None
    like = next(node for node in sums if node is not None)
    base, term = like.inputs
    chosen = choice.add_output(term.type, term.name)
    for block, node in zip(choice.blocks, sums, strict=True):
        end = block.terminator
        end.add_input(node.inputs[1] if node is not None else _neutral(like, end))
    made = choice.next.create_before(like.op, (base, chosen), outputs=(out.type,), like=like)
    made.attrs, made.proven = dict(like.attrs), like.proven
    made.output.name = out.name
    out.replace_all_uses_with(made.output)


def _neutral(like: Node, end: Node) -> Value:
    """What changes no float that it is added to, or subtracted from."""
    number, t = _NEUTRAL[_rule(like)], like.inputs[1].type
    return insert_constant(t.dtype.type(number) if isinstance(t, ScalarType) else number, end)
