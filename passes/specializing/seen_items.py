"""What lists (``[]``, comprehensions, ``[0]``) hold later: what was seen of items that are read.

This is a guess, as all types of items are: reading checks them. Only numbers, tuples of numbers and lists of those
are guessed, which `passes/unbox_lists.py` looks for. Cost: linear in the uses of the list.
"""

from __future__ import annotations

import builtins
from collections.abc import Container, Iterator, Sequence
from typing import Protocol

from ljit.ir import Node, OpDef, Value, get_op
from ljit.ir.list_uses import ListUse
from ljit.ops.control import PROFILE
from ljit.ops.python.private_items import number_codes
from ljit.ops.python.types import join_all
from ljit.passes.containers.carried import handed_on
from ljit.passes.containers.list_groups import is_range
from ljit.passes.observations import Observations
from ljit.passes.specializing.library import op_named
from ljit.passes.specializing.resolve import callable_op, method_op
from ljit.types import INT, NEVER, ListType, TupleType, Type, join, join_items

__all__ = ["Failures", "is_loose", "seen_items", "widen_range"]

_Places = tuple[int, ...]


class Failures(Observations, Protocol):
    """Where native code failed before."""

    @property
    def failed_tests(self) -> Container[int]:
        """Nodes whose check in front of a loop failed."""

    def is_widened(self, node_id: int) -> bool:
        """Whether it failed at this node, so that the result must stay boxed."""

    def had_other_items(self, node_id: int) -> bool:
        """Whether it read items of another type than expected there, so that the result must be of a wider one."""


def is_loose(node: Node, known: Type, failures: Failures) -> bool:
    """Whether the result of a node must be boxed, of which native code knows the type, but not for certain."""
    if failures.is_widened(node.id) or not failures.had_other_items(node.id):
        return failures.is_widened(node.id)
    seen = [failures.observed(user.id) for user, _ in node.outputs[0].uses if user.op is PROFILE]
    is_held = bool(seen) and all(t is not None and join(known, t) == known for t in seen)
    return not (is_held and _is_of_numbers(known))


def seen_items(made: Value, observations: Observations, first: Sequence[Type]) -> Type:
    """Give the type of the items of a list of the baseline graph, as far as they were read.

    `first`: the types of those with which it begins. Never: these are all, or there are not only numbers.
    """
    given = join_all(first)
    if first and not _is_of_numbers(given):
        return NEVER
    seen: Type = given
    for item, places in _items_read(made):
        for user, _ in item.uses:
            if user.op is PROFILE:
                seen = join_items(seen, _part(observations.observed(user.id) or NEVER, places))
    return seen if seen != given and _is_of_numbers(seen) else NEVER


def widen_range(old: Value, made: Value, observations: Observations) -> None:
    """Let ``list(range(n))``, which is `old` in the baseline graph, be a list of what it holds later, too."""
    if made.node is not None and is_range(made.node):
        seen = seen_items(old, observations, [INT])
        made.type = made.type if seen == NEVER else ListType(seen)


def _items_read(made: Value) -> Iterator[tuple[Value, _Places]]:
    """Give what was read of the list, under all its names, and of its copies; `_Places`: where in tuples that is."""
    todo: list[tuple[Value, _Places]] = [(made, ())]
    names = {made}
    while todo:
        value, places = todo.pop()
        for user, index in value.uses:
            use, position = _use(user, index)
            others = handed_on(user, index)
            if use is not None and use.gives_view:
                todo.append((user.output, (use.leading + position, *places)))
            elif use is not None and (use.gives_list or use.copies or _is_slice(user)):
                others = user.outputs
            elif use is not None and (use.gives_item or use.combines):
                yield user.output, places
            todo += [(value, places) for value in others if value not in names]
            names.update(others)


def _part(seen: Type, places: _Places) -> Type:
    for place in places:
        seen = seen.items[place] if isinstance(seen, TupleType) else NEVER
    return seen


def _use(user: Node, index: int) -> tuple[ListUse | None, int]:
    """What is done with the list, also by the function or the method that is called, and as which operand."""
    if user.op in (get_op("py::call"), get_op("prim::iter_call")):
        op, index = _function_op(user), index - 1
    elif user.op is get_op("py::call_method") and index > 0:
        op, index = op_named(str(user.attrs["name"])), index - 1  # of a module
    elif user.op is get_op("py::call_method"):
        op = method_op(ListType(NEVER), str(user.attrs["name"]))
    else:
        op = user.op
    use = op.list_use if op is not None else None
    is_used = use is not None and (
        index == use.operand
        or (use.gives_view and index >= 0)
        or (bool(use.copies) and index == use.other)
    )
    return (use if is_used else None), index


def _function_op(call: Node) -> OpDef | None:
    """The op of a builtin function, or one of the library, as a guess: something may hide its name."""
    node = call.inputs[0].node
    if node is not None and node.op is PROFILE:
        node = node.inputs[0].node
    if node is None or node.op not in (get_op("prim::load_global"), get_op("py::getattr")):
        return None
    name = str(node.attrs["name"])
    function = getattr(builtins, name, None)
    if function is None or node.inputs:
        return op_named(name)
    return callable_op(function, "callables" if call.op is get_op("py::call") else "iter_callables")


def _is_slice(node: Node) -> bool:
    """Whether it is a part of a list, for a slice."""
    if node.op is not get_op("py::getitem"):
        return False
    index = node.inputs[1]
    if index.is_constant:
        return isinstance(index.constant, slice)
    return index.node is not None and index.node.op is get_op("prim::SliceConstruct")


def _is_of_numbers(item: Type) -> bool:
    return _is_of_numbers(item.item) if isinstance(item, ListType) else bool(number_codes(item))
