"""The part of a loop's body that makes its checks, to be done in front of the rest.

    out[i] = int(x[i] * 16.0)        np::as_element(py::int(x[i] * 16.0))        # what it gives is not used

Checks that may wait (`OpDef.may_be_checked_late`), and those of stores of numbers that may not fit
(`OpDef.checked_by`), are made under the conditions that the program asks, with all that they need
(`passes/distribute_checks`, `passes/unroll_and_jam`). What is computed behind a check that failed is not used, but it
is computed: so no element is read at a place that such a number says (`reads_behind`).
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

from ljit.ir import Block, Effect, Node, Value, copy_node, get_op
from ljit.ops.control import IF, YIELD
from ljit.types import ScalarType, is_number

__all__ = ["CheckSlice", "conversion_of", "made_of", "may_wait", "reads_behind"]


class CheckSlice:
    """What some nodes of a block, the `body`, need for the checks of those in them."""

    def __init__(self, body: Sequence[Node], checks: Iterable[Node]) -> None:
        self._body = body
        self._checks = list(checks)
        self._within = {inner for node in body for inner in node.walk()}
        self.nodes: dict[Node, None] = {}
        self._stores: set[Node] = set()  # whose checks other ops make
        self._choices: set[Node] = set()  # Ifs of which the outputs are needed
        self._todo: list[Value] = []
        for node in self._checks:
            if may_wait(node):
                self._add(node)
            else:
                self._stores.add(node)
                self._add_around(node)
                self._todo.append(node.inputs[-1])
        while self._todo:
            self._need(self._todo.pop())

    def _need(self, value: Value) -> None:
        node = value.node
        if node is None or node not in self._within:
            return
        if node.op is IF and node not in self._choices:
            self._choices.add(node)
            ends = [block.terminator for block in node.blocks]
            self._todo += [v for end in ends if end.op is YIELD for v in end.inputs]
        self._add(node)

    def _add(self, node: Node) -> None:
        if node not in self.nodes:
            self.nodes[node] = None
            self._todo += node.inputs
            self._add_around(node)

    def _add_around(self, node: Node) -> None:
        """A node is needed where the program has it."""
        if node.block is not None and node not in self._body:
            assert node.block.owner is not None
            self._add(node.block.owner)

    @property
    def is_safe(self) -> bool:
        """Whether it may be done to its end, whichever of its checks fail."""
        return not reads_behind(self._checks, self.nodes)

    def copy(self, into: Block, values: dict[Value, Value], blamed: int) -> None:
        """Write it at the end of a block, for `values` of the body's; `blamed`: an origin, if a store fails."""
        self._copy(self._body, into, values, blamed)

    def _copy(
        self, source: Iterable[Node], into: Block, values: dict[Value, Value], blamed: int
    ) -> None:
        for node in source:
            if node in self._stores:
                conversion = conversion_of(node)
                assert conversion is not None
                number = values.get(node.inputs[-1], node.inputs[-1])
                made = into.create(get_op(conversion[0]), (number,), conversion[1], like=node)
                made.origin = blamed
            elif node in self.nodes and node.op is IF:
                self._copy_choice(node, into, values, blamed)
            elif node in self.nodes:
                into.append(copy_node(node, into.graph, values, {}))

    def _copy_choice(
        self, choice: Node, into: Block, values: dict[Value, Value], blamed: int
    ) -> None:
        outputs = choice.outputs if choice in self._choices else []
        condition = values.get(choice.inputs[0], choice.inputs[0])
        types = [value.type for value in outputs]
        made = into.create(IF, (condition,), outputs=types, like=choice)
        for block in choice.blocks:
            inner = made.add_block()
            self._copy(block, inner, values, blamed)
            end = block.terminator
            given = [values.get(v, v) for v in end.inputs] if outputs else []
            inner.create(YIELD, given, like=end)
        values.update(zip(outputs, made.outputs, strict=True))


def conversion_of(node: Node) -> tuple[str, Mapping[str, object]] | None:
    """The op of a stored number that makes the checks of the store, if these may wait."""
    found = node.op.checked_by(node) if node.op.checked_by is not None else None
    is_late = found is not None and get_op(found[0]).may_be_checked_late
    return found if is_late and _is_number(node.inputs[-1]) else None


def may_wait(node: Node) -> bool:
    """Whether the checks of a node on numbers may be looked at after its result was used."""
    is_plain = node.op.effects_of(node) & ~Effect.RAISE == Effect.PURE
    return is_plain and node.op.may_be_checked_late and all(map(_is_number, node.inputs))


def _is_number(value: Value) -> bool:
    return is_number(value.type) or isinstance(value.type, ScalarType)


def reads_behind(checks: Iterable[Node], nodes: Collection[Node]) -> bool:
    """Whether one of the nodes reads where it might not, had one of the checks, which wait, not passed.

    That is at a place made of what such a check is about; or at one that was read itself, under a condition on it.
    """
    unsure, choices = made_of((v for node in checks for v in node.outputs), nodes)
    reads = [node for node in nodes if not node.blocks and node.op.effects_of(node) & Effect.READ]
    read, _ = made_of((v for node in reads for v in node.outputs), nodes)
    for node in reads:
        places = node.inputs[1:]
        if not unsure.isdisjoint(places):
            return True
        is_chosen = any(choice in choices for choice in _owners(node))
        if is_chosen and not read.isdisjoint(places):
            return True
    return False


def made_of(values: Iterable[Value], nodes: Container[Node]) -> tuple[set[Value], set[Node]]:
    """What the nodes make of values, these among it, and the Ifs that depend on them."""
    made, choices = set(values), set[Node]()
    todo = [*made]
    while todo:
        for user, index in todo.pop().uses:
            owner = user.block.owner if user.block is not None else None
            if user.op is YIELD and owner in nodes and owner is not None and owner.op is IF:
                following = owner.outputs[index : index + 1]
            elif user in nodes:
                following = user.outputs
                choices |= {user} if user.op is IF else set()
            else:
                continue
            todo += [value for value in following if value not in made]
            made.update(following)
    return made, choices


def _owners(node: Node) -> Iterator[Node]:
    """The nodes in which a node lies."""
    while node.block is not None and node.block.owner is not None:
        node = node.block.owner
        yield node
