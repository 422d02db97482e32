"""Numbers that a loop carries, of which nobody can tell whether they are Python's or NumPy's.

    for i in range(n):
        s = 0.0
        for k in range(m):
            s += a[i, k] * x[k]       # a float in the first trip, an np.float64 in all others
        y[i] = s

Such a number is one of NumPy's from the beginning: the loop is written once, for one type. The interpreter goes on
with it as well where native code is left, so this asks of all that the *baseline* graph does with the number. It may be

- handed on, through branches and loops;
- stored in an array whose elements are of its dtype (`OpDef.number_type`);
- an operand beside another one whose class makes the result NumPy's, and which cannot be of another class in the
  interpreter: it is computed, without a guard, of what is older than the loop and of elements of older arrays.

`plausible` looks before the loop is walked, `is_unseen` when it was walked with such numbers. No unknown code runs in
the loop, and all of it was run before. Cost: linear in the loop and the uses of the number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ljit.analysis.dominance import is_visible_at
from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.containers import TUPLE_INDEX
from ljit.ops.control import DEOPTIMIZE
from ljit.ops.numpy_rules import dtype_of
from ljit.ops.objects import UNPACK
from ljit.ops.python_iteration import NEXT
from ljit.passes.carried import carried_values, handed_on
from ljit.types import ANY, FLOAT, INT, RANGE, ArrayType, ScalarType, Type, ViewType

__all__ = ["is_unseen", "plausible"]

_Values = Mapping[Value, Value]  # of the baseline graph, and what they became
_Use = tuple[Node, int]


def plausible(loop: Node, initial: Sequence[Value], values: _Values) -> dict[int, ScalarType]:
    """Give the carried values of a baseline loop that could be NumPy's from the beginning, with their types then."""
    found = {}
    for index, value in enumerate(initial):
        number = _number_type(value, loop, index, values) if value.type in (FLOAT, INT) else None
        if number is not None:
            found[index] = number
    return found


def is_unseen(
    loop: Node,
    made: Node,
    initial: Sequence[Value],
    numbers: Mapping[int, ScalarType],
    values: _Values,
) -> bool:
    """Whether `made`, the loop written with such numbers, gives what it gives with the initial values."""
    if any(n.op is DEOPTIMIZE or n.op.effects_of(n) & Effect.CALL for n in made.blocks[0].walk()):
        return False
    inside = {made.blocks[0], *(block for n in made.blocks[0].walk() for block in n.blocks)}
    for index, number in numbers.items():
        results = [(values.get(u.outputs[0]), i) for u, i in _uses(loop, index) if u.outputs]
        types_ = (initial[index].type, number)
        if made.blocks[0].params[1 + index].type != number or not all(
            _gives_the_same(result, position, types_, inside) for result, position in results
        ):
            return False
    return True


# -- uses ------------------------------------------------------------------------------------------


def _uses(loop: Node, index: int) -> Iterator[_Use]:
    """What is done with a carried value, wherever it is handed on to."""
    todo = carried_values(loop, index)
    seen = set(todo)
    while todo:
        for user, position in todo.pop().uses:
            following = handed_on(user, position)
            if not following:
                yield user, position
            todo += [value for value in following if value not in seen]
            seen.update(following)


def _number_type(first: Value, loop: Node, index: int, values: _Values) -> ScalarType | None:
    """The type as which a number is stored, or the one of its dtype; None if it cannot begin as one of that."""
    uses = list(_uses(loop, index))
    own = dtype_of(first.type)
    assert own is not None
    stored = {t for t in (_type_in_array(use, loop, values) for use in uses) if t is not None}
    number = stored.pop() if stored else ScalarType(own)
    if stored or not any(user.outputs for user, _ in uses):
        return None
    if number.dtype != own and not _may_begin(number, first):
        return None
    is_known = (
        _type_in_array(use, loop, values) or _is_operand(use, loop, number, values) for use in uses
    )
    return number if all(is_known) else None


def _may_begin(number: ScalarType, first: Value) -> bool:
    """Whether NumPy takes a constant for one of the type where it meets another one of that."""
    if not first.is_constant:
        return False
    assert isinstance(first.constant, int | float)
    return np.can_cast(np.min_scalar_type(first.constant), number.dtype)


def _is_operand(use: _Use, loop: Node, number: ScalarType, values: _Values) -> bool:
    """Whether it is used in the loop by an operator that is NumPy's if the other operand is."""
    user, position = use
    others = [v for i, v in enumerate(user.inputs) if i != position]
    return (
        len(user.outputs) == 1
        and any(block.owner is loop for block in user.blocks_around())
        and all(_older_type(v, loop, values) in (None, number) for v in others)
        and user.op.numpy is not None
        and get_op(user.op.numpy).elementwise
    )


def _type_in_array(use: _Use, loop: Node, values: _Values) -> ScalarType | None:
    """As which it is stored in an array that is older than the loop, to which its class makes no difference."""
    user, position = use
    if user.op.numpy is None or user.outputs or position != len(user.inputs) - 1:
        return None
    op = get_op(user.op.numpy)
    if op.number_type is None:
        return None
    type_ = op.number_type(*[_older_type(v, loop, values) or ANY for v in user.inputs])
    return type_ if isinstance(type_, ScalarType) else None


def _older_type(value: Value, loop: Node, values: _Values) -> Type | None:
    """The type of what is there in front of the loop."""
    return values[value].type if value in values and is_visible_at(value, loop) else None


# -- what became of them -----------------------------------------------------------------------------


def _gives_the_same(
    result: Value | None, position: int, types_: tuple[Type, Type], inside: set[Block]
) -> bool:
    """Whether an operator gives the same of a number of either class, in the interpreter, too."""
    node = result.node if result is not None else None
    if node is None or node.block not in inside or not _makes_new(node):
        return False
    results = []
    for type_ in types_:
        operands = [type_ if i == position else v.type for i, v in enumerate(node.inputs)]
        results.append(node.op.infer_types(operands, node.attrs))
    others = [v for i, v in enumerate(node.inputs) if i != position]
    is_there = position < len(node.inputs) and node.inputs[position].type == types_[1]
    return is_there and results[0] == results[1] and all(_is_sure(v, inside) for v in others)


def _is_sure(value: Value, inside: set[Block]) -> bool:
    """Whether the interpreter computes a value of the same type, wherever in the loop it goes on."""
    node = value.node
    if value.block not in inside:
        return True
    if node is None:
        return False
    if node.op.reads_part or node.op is NEXT:
        return _is_of_arrays(node.inputs[0].type) and _is_sure(node.inputs[0], inside)
    is_item = node.op is UNPACK or node.op is TUPLE_INDEX
    return (is_item or _makes_new(node)) and all(_is_sure(v, inside) for v in node.inputs)


def _is_of_arrays(t: Type) -> bool:
    """Whether the type says of which types all elements are, whatever becomes of them."""
    if isinstance(t, ViewType):
        return all(map(_is_of_arrays, t.parts))
    return isinstance(t, ArrayType) or t in (INT, RANGE)


def _makes_new(node: Node) -> bool:
    """Whether an operator computes something new, and does not change an array."""
    is_written = bool(node.op.schema.written) and isinstance(node.inputs[0].type, ArrayType)
    return node.op.elementwise and not is_written
