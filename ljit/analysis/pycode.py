"""`Function.code`: a graph as Python-like text.

Straight-line values that are used once are written into their use where that keeps the order of effects;
what joins at the end of a branch or a loop is assigned there. An exit that leaves more than the innermost loop
says so in a comment (Python has no word for it); otherwise the text is Python.
"""

from __future__ import annotations

import ast
import operator
from keyword import iskeyword

from ljit.ir import Block, Graph, Node, Value
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, REGION, RETURN, YIELD

__all__ = ["graph_to_python"]


def graph_to_python(graph: Graph, name: str) -> str:
    """Print `graph` as a Python function called `name`."""
    return _Printer(graph).function(name)


class _Printer:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.inlined: dict[Value, str] = {}
        self.conditions: dict[Value, str] = {}  # the same where only the truth is asked for
        self.lines: list[str] = []

    def function(self, name: str) -> str:
        params = ", ".join(self.name(p) for p in self.graph.params)
        self.lines.append(f"def {name}({params}):")
        self.block(self.graph.block, 1, [])
        return "\n".join(self.lines) + "\n"

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def name(self, value: Value) -> str:
        """A unique identifier for the value, made from its variable's name."""
        found = self.names.get(value)
        if found is None:
            hint = value.name if value.name.isidentifier() else "_"
            found, number = hint, 0
            while found in self.taken or found == "_":
                found, number = f"{hint.rstrip('_')}_{number}", number + 1
            self.taken.add(found)
            self.names[value] = found
        return found

    def use(self, value: Value) -> str:
        """The text of an operand."""
        if value.is_constant:
            return _literal(value.constant)
        return self.inlined.pop(value, None) or self.name(value)

    def block(self, block: Block, depth: int, outputs: list[str]) -> None:
        """Print the nodes; the values of a Yield are assigned to `outputs`."""
        before = len(self.lines)
        for node in block:
            if node.op.is_terminator:
                self.terminator(node, depth, outputs)
            elif node.blocks:
                self.structure(node, depth)
            elif not node.op.is_constant:
                self.plain(node, depth)
        if len(self.lines) == before:
            self.put(depth, "pass")

    def plain(self, node: Node, depth: int) -> None:
        if node.op.statement:
            self.statement(node, depth)
            return
        operands = [self.use(v) for v in node.inputs]
        text = self.expression(node, operands)
        if len(node.outputs) == 1 and self.can_inline(node):
            self.inlined[node.output] = f"({text})"
            if node.op.evaluate is operator.truth:
                self.conditions[node.output] = operands[0]
        elif node.outputs and any(out.uses for out in node.outputs):
            targets = ", ".join(map(self.name, node.outputs))
            self.put(depth, f"{targets} = {_tidy(text)}")
        else:
            self.put(depth, _tidy(text))

    def statement(self, node: Node, depth: int) -> None:
        """``x += y`` on a name of its own: the value of `x` before is another one."""
        operands = [self.use(v) for v in node.inputs]
        if node.outputs:
            target = self.name(node.output)
            self.put(depth, f"{target} = {_tidy(operands[0])}")
            operands[0] = target
        self.put(depth, _tidy(node.op.statement.format(*operands, **node.attrs)))

    def can_inline(self, node: Node) -> bool:
        """Whether the only use is an operand of the next node that prints."""
        if len(node.output.uses) != 1 or node.output.name:
            return False
        ((user, _),) = node.output.uses
        following = node.next
        while following is not None and following.op.is_constant:
            following = following.next
        return following is user and (not user.blocks or user.op is IF)

    def expression(self, node: Node, operands: list[str]) -> str:
        if node.op.syntax:
            return node.op.text_of(operands, node.attrs)
        attrs = [f"{key}={_literal(value)}" for key, value in node.attrs.items()]
        name = node.op.name.replace("::", ".")
        return (
            f"{name}{'_' * iskeyword(node.op.name.split('::')[-1])}({', '.join(operands + attrs)})"
        )

    def structure(self, node: Node, depth: int) -> None:
        outputs = [self.name(out) for out in node.outputs]
        if node.op is LOOP:
            self.loop(node, depth, outputs)
        elif node.op is REGION:
            self.put(depth, "for _ in (0,):  # an inlined call")
            self.block(node.blocks[0], depth + 1, outputs)
        elif node.op is IF:
            self.branch(node, depth, outputs)

    def branch(self, node: Node, depth: int, outputs: list[str]) -> None:
        (value,), (first, second) = node.inputs, node.blocks
        text = self.use(value)
        condition = self.conditions.pop(value, text)
        if _is_empty(first) and not outputs:
            condition, first, second = f"not {condition}", second, first
        self.put(depth, f"if {_tidy(condition)}:")
        self.block(first, depth + 1, outputs)
        if outputs or not _is_empty(second):
            self.put(depth, "else:")
            self.block(second, depth + 1, outputs)

    def loop(self, node: Node, depth: int, outputs: list[str]) -> None:
        body = node.blocks[0]
        index, *carried = map(self.name, body.params)
        start, stop, *initial = node.inputs
        for target, value in zip(carried, initial, strict=True):
            self.put(depth, f"{target} = {self.use(value)}")
        if stop.is_endless:
            first = self.use(start)
            counter = "itertools.count()" if first == "0" else f"itertools.count({first})"
            self.put(depth, f"for {index} in {counter}:" if body.params[0].uses else "while True:")
        else:
            self.put(depth, f"for {index} in range({self.use(start)}, {self.use(stop)}):")
        self.block(body, depth + 1, carried)
        if len(node.blocks) > 1:
            self.put(depth, "else:")
            for param, source in zip(node.blocks[1].params, carried, strict=True):
                self.names[param] = source
            self.block(node.blocks[1], depth + 1, outputs)
        elif not stop.is_endless:
            if outputs:
                self.put(depth, "else:")
                self.assign(outputs, carried, depth + 1)

    def terminator(self, node: Node, depth: int, outputs: list[str]) -> None:
        values = [_tidy(self.use(v)) for v in node.inputs]
        if node.op is YIELD:
            self.assign(outputs, values, depth)
        elif node.op is RETURN:
            self.put(depth, f"return {values[0]}")
        elif node.op in (BREAK, CONTINUE):
            assert node.target is not None
            joined = node.target.outputs
            if node.op is CONTINUE:
                joined = node.target.blocks[0].params[1:]
            self.assign(list(map(self.name, joined)), values, depth)
            remark = "  # of the loop further out" if _loops_out(node) else ""
            self.put(depth, ("break" if node.op is BREAK else "continue") + remark)

    def assign(self, targets: list[str], values: list[str], depth: int) -> None:
        pairs = [(t, v) for t, v in zip(targets, values, strict=True) if t != v]
        if pairs:
            left, right = zip(*pairs, strict=True)
            self.put(depth, f"{', '.join(left)} = {', '.join(right)}")


def _is_empty(block: Block) -> bool:
    return block.first is block.terminator and block.terminator.op is YIELD


def _loops_out(node: Node) -> int:
    """How many Loops and Regions lie between an exit and its target."""
    count = 0
    block = node.block
    while block is not None and block.owner is not None and block.owner is not node.target:
        count += block.owner.op.is_exit_target
        block = block.owner.block
    return count


def _tidy(text: str) -> str:
    """Drop the parentheses that are not needed."""
    try:
        return ast.unparse(ast.parse(text))
    except SyntaxError:  # objects without a name that is Python
        return text


def _literal(value: object) -> str:
    if isinstance(value, int | float) and value < 0:
        return f"({value!r})"
    if isinstance(value, bool | int | float | complex | str | bytes | type(None) | tuple):
        return repr(value)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return str(name) if name is not None else repr(value)
