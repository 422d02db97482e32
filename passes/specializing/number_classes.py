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
- one of what `min` or `max` chooses from, all other ones being of its dtype; the chosen one is handed on;
- an operand beside another one whose class makes the result NumPy's, and which cannot be of another class in the
  interpreter: it is computed, without a guard, of what is older than the loop and of elements of older arrays;
- an operand behind the loop, beside an element of an array of the number's dtype that is older than the loop;
- anything behind a loop that has a first trip for certain (``for k in range(3)``) and does one of these in each trip:
  what comes out of it is NumPy's anyway.

`plausible` looks before the loop is walked, `is_unseen` when it was walked with such numbers. No unknown code runs in
the loop, and all of it was run before, as was what variables hold that are called in it. Cost: linear in the loop and
the uses of the number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from ljit.analysis.dominance import is_visible_at
from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.arrays.rules import dtype_of
from ljit.ops.containers.iteration import HAS_NEXT, ITER_CALL, NEXT
from ljit.ops.containers.tuples import TUPLE_INDEX
from ljit.ops.control import BREAK, DEOPTIMIZE, IF, LOOP, PROFILE
from ljit.ops.members import CHECK_KIND
from ljit.ops.objects import CALL, UNPACK
from ljit.passes.containers.carried import carried_values, handed_on
from ljit.types import ANY, FLOAT, INT, RANGE, ArrayType, ScalarType, TupleType, Type, ViewType

__all__ = ["has_few_trips", "is_unseen", "known_trips", "plausible"]

_FEW = 5  # trips

_Values = Mapping[Value, Value]  # of the baseline graph, and what they became
_Use = tuple[Node, int]
_Test = Callable[[Node], bool]  # of a loop of the baseline graph


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
    if any(_may_run_other_code(n, made) for n in made.blocks[0].walk()):
        return False
    inside = {made.blocks[0], *(block for n in made.blocks[0].walk() for block in n.blocks)}
    has_trip = partial(_has_trip, values=values)
    for index, number in numbers.items():
        uses = _uses(loop, index, has_trip)
        if any(not u.outputs and _type_in_array((u, i), loop, values) is None for u, i in uses):
            return False
        choices = [use for use in uses if _may_choose(*use)]
        if not all(_chooses_one_of(use, number, inside, values) for use in choices):
            return False
        operations = [
            (u, values.get(u.outputs[0]), i)
            for u, i in uses
            if u.outputs
            and (u, i) not in choices
            and not _meets_element((u, i), loop, number, values)
        ]
        types_ = (initial[index].type, number)
        if made.blocks[0].params[1 + index].type != number or not all(
            _gives_the_same(*operation, types_, inside) for operation in operations
        ):
            return False
    return True


def _may_run_other_code(node: Node, loop: Node) -> bool:
    """Whether it runs unknown code, or leaves for code that was not run before.

    A check of what a variable from in front of the loop holds goes there (`hoist_guards`).
    """
    if node.op is CHECK_KIND:
        return node.inputs[0].is_inside(loop)
    return node.op is DEOPTIMIZE or bool(node.op.effects_of(node) & Effect.CALL)


# -- uses ------------------------------------------------------------------------------------------


def _uses(loop: Node, index: int, has_trip: _Test) -> list[_Use]:
    """What is done with the first value that a loop carries, wherever it is handed on to.

    `has_trip`: whether a loop has a first trip, so that nothing leaves it as it came there at the end of its trips.
    """
    uses = []
    todo = _entered(loop, index, has_trip)
    seen = set(todo)
    while todo:
        for user, position in todo.pop().uses:
            if _ends_trips(user, position, has_trip):
                continue
            is_entry = user.op is LOOP and position >= 2 and len(user.blocks) == 1
            following = (
                _entered(user, position - 2, has_trip) if is_entry else handed_on(user, position)
            )
            if not following:
                uses.append((user, position))
            if _may_choose(user, position):
                following = user.outputs
            todo += [value for value in following if value not in seen]
            seen.update(following)
    return uses


def _entered(loop: Node, index: int, has_trip: _Test) -> list[Value]:
    """The values that an operand of a loop becomes where it is entered."""
    carried = carried_values(loop, index)
    return carried[:1] if has_trip(loop) else carried


def _ends_trips(user: Node, position: int, has_trip: _Test) -> bool:
    """Whether it leaves a loop, one with a trip, with what that carries, because there is no next item."""
    loop, block = user.target, user.block
    if user.op is not BREAK or loop is None or block is None:
        return False
    choice = _first_choice(loop)
    return (
        choice is not None
        and block is choice.blocks[1]
        and user.inputs[position] is loop.blocks[0].params[1 + position]
        and has_trip(loop)
    )


def _first_choice(loop: Node) -> Node | None:
    """The If that goes on while there is a next item, if the loop begins with it."""
    test = loop.blocks[0].first
    if test is None or test.op is not HAS_NEXT or test.next is None:
        return None
    return test.next if test.next.op is IF and test.next.inputs == [test.output] else None


def _view(loop: Node) -> Value | None:
    """What a loop goes through, if only constants say how far, as in ``for k in range(-1, 2)``."""
    choice = _first_choice(loop)
    if choice is None or not loop.inputs[0].is_constant:
        return None
    test = choice.inputs[0].node
    assert test is not None
    view = test.inputs[0]
    made = view.node
    if made is None or view.is_constant:
        return view if view.is_constant else None
    given = made.inputs[1:] if made.op is ITER_CALL else ()
    return view if given and all(v.is_constant for v in given) else None


def _may_have_trip(loop: Node) -> bool:
    """Whether one may be told, behind the walk of the loop, to have a first trip."""
    return _view(loop) is not None


def _has_trip(loop: Node, values: _Values) -> bool:
    """Whether a loop that was walked has a first trip for certain."""
    view, evaluate = _view(loop), HAS_NEXT.evaluate
    known = values.get(view) if view is not None else None
    assert evaluate is not None
    return known is not None and known.is_constant and bool(evaluate(known.constant, 0))


def has_few_trips(loop: Node, values: _Values) -> bool:
    """Whether a loop whose head was walked has but a few trips for certain: it will be written out."""
    return _view(loop) is not None and known_trips(loop, values, _FEW) is not None


def known_trips(loop: Node, values: _Values, most: int) -> int | None:
    """How many trips a loop whose head was walked has for certain; None if that is not known, or there are more."""
    choice, evaluate = _first_choice(loop), HAS_NEXT.evaluate
    test = choice.inputs[0].node if choice is not None else None
    known = values.get(test.inputs[0]) if test is not None else None
    assert evaluate is not None
    if known is None or not known.is_constant:
        return None
    return next((k for k in range(most + 1) if not evaluate(known.constant, k)), None)


def _number_type(first: Value, loop: Node, index: int, values: _Values) -> ScalarType | None:
    """The type as which a number is stored, or the one of its dtype; None if it cannot begin as one of that."""
    uses = _uses(loop, index, _may_have_trip)
    own = dtype_of(first.type)
    assert own is not None
    stored = {t for t in (_type_in_array(use, loop, values) for use in uses) if t is not None}
    number = stored.pop() if stored else ScalarType(own)
    if stored or not any(user.outputs for user, _ in uses):
        return None
    if number.dtype != own and not _may_begin(number, first):
        return None
    is_known = (
        _type_in_array(use, loop, values)
        or _is_operand(use, loop, number, values)
        or _is_chosen_from(use, loop, number, values)
        or _meets_element(use, loop, number, values)
        for use in uses
    )
    return number if all(is_known) else None


def _may_begin(number: ScalarType, first: Value) -> bool:
    """Whether NumPy takes a constant for one of the type where it meets another one of that."""
    if not first.is_constant:
        return False
    assert isinstance(first.constant, int | float)
    return np.can_cast(np.min_scalar_type(first.constant), number.dtype)


def _may_choose(user: Node, position: int) -> bool:
    """Whether it may be `min` or `max` of some numbers."""
    return (
        user.op is CALL and position > 0 and len(user.inputs) > 2 and not user.attrs.get("kwnames")
    )


def _is_chosen_from(use: _Use, loop: Node, number: ScalarType, values: _Values) -> bool:
    """Whether it may be chosen in the loop, among others of the type."""
    user, position = use
    others = [v for i, v in enumerate(user.inputs[1:], 1) if i != position]
    return (
        _may_choose(user, position)
        and user.is_inside(loop)
        and all(_older_type(v, loop, values) in (None, number) for v in others)
    )


def _is_operand(use: _Use, loop: Node, number: ScalarType, values: _Values) -> bool:
    """Whether it is used in the loop by an operator that is NumPy's if the other operand is."""
    user, position = use
    others = [v for i, v in enumerate(user.inputs) if i != position]
    return (
        len(user.outputs) == 1
        and user.is_inside(loop)
        and all(_older_type(v, loop, values) in (None, number) for v in others)
        and user.op.numpy is not None
        and get_op(user.op.numpy).elementwise
    )


def _meets_element(use: _Use, loop: Node, number: ScalarType, values: _Values) -> bool:
    """Whether it is used behind the loop by an operator that gives the same of the element beside it and either class.

    That is one of an older array whose elements have the number's type. Parts of such arrays do as well.
    """
    user, position = use
    if user.is_inside(loop) or user.op.numpy is None or len(user.inputs) != 2:
        return False
    read = _seen(user.inputs[1 - position]).node
    if read is None or read.op.numpy is None or not get_op(read.op.numpy).reads_part:
        return False
    array, op = _older_type(read.inputs[0], loop, values), get_op(user.op.numpy)
    if not isinstance(array, ArrayType) or array.element != number or not op.elementwise:
        return False
    plain = FLOAT if number.dtype.kind == "f" else INT
    pairs = [(t, number) if position == 0 else (number, t) for t in (plain, number)]
    return op.infer_types(pairs[0], user.attrs) == op.infer_types(pairs[1], user.attrs)


def _seen(value: Value) -> Value:
    """What a profile looks at."""
    while (made := value.made_by(PROFILE)) is not None:
        value = made.inputs[0]
    return value


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


def _chooses_one_of(use: _Use, number: ScalarType, inside: set[Block], values: _Values) -> bool:
    """Whether a call chooses among numbers of the type, all others of which are so in the interpreter, too."""
    user, position = use
    result = values.get(user.outputs[0])
    node = result.node if result is not None else None
    if node is None or node.block not in inside or not node.op.gives_operand:
        return False
    others = [v for i, v in enumerate(node.inputs, 1) if i != position]
    return all(v.type == number for v in node.inputs) and all(_is_sure(v, inside) for v in others)


def _gives_the_same(
    user: Node, result: Value | None, position: int, types_: tuple[Type, Type], inside: set[Block]
) -> bool:
    """Whether an operator of Python's, `user`, gives the same of a number of either class, in the interpreter, too."""
    node = result.node if result is not None else None
    if node is None or node.block not in inside or not _makes_new(node):
        return False
    results = []
    for type_ in types_:
        operands = [type_ if i == position else v.type for i, v in enumerate(node.inputs)]
        plain = user.op.infer_types(operands, user.attrs)  # Any: it is NumPy's
        results.append(node.op.infer_types(operands, node.attrs) if plain == (ANY,) else plain)
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
        source = node.inputs[0]
        if source.is_constant and isinstance(source.type, TupleType):
            return True
        return _is_of_arrays(source.type) and _is_sure(source, inside)
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
