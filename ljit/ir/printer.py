"""Graphs as text, in the form that `ljit.ir.parser` reads back; docs/ir.md describes it.

Names are given in textual order: a value with the hint ``x`` is ``%x``, the next one ``%x.1`` and
so on; values without a hint are numbered. So the text does not depend on how the graph was made.
"""

from __future__ import annotations

import re

from ljit.ir.graph import Block, Graph, Node, Value
from ljit.ir.literals import object_path, print_literal
from ljit.source import SourceRange
from ljit.types import ListType, NamedTupleType, ObjectType, TupleType, Type, UnionType, ViewType

__all__ = ["Names", "contents", "format_node", "format_range", "print_graph"]

_NOT_IN_NAMES = re.compile(r"\W")


def print_graph(graph: Graph, objects: list[object] | None = None, *, ranges: bool = True) -> str:
    """Write `graph` as text. Objects that have no text are appended to `objects`."""
    printer = _Printer(Names(), [] if objects is None else objects, ranges=ranges)
    printer.graph(graph)
    return "\n".join(printer.lines) + "\n"


def contents(graph: Graph) -> list[object]:
    """Give what the text of a graph says as a list: equal if the texts are, and made in less time."""
    numbers: dict[Value | Node, int] = {}
    objects: list[object] = []
    parts: list[object] = []

    def define(values: list[Value]) -> None:
        parts.append(len(values))
        for value in values:
            numbers[value] = len(numbers)
            parts.extend((value.name, value.type))

    define(graph.params)
    for node in graph.walk():
        numbers[node] = len(numbers)
        parts += node.op, node.range, node.proven, node.is_fast, len(node.blocks)
        parts.append([numbers.get(value) for value in node.inputs])
        parts.append(numbers.get(node.target) if node.target is not None else None)
        parts += [(name, print_literal(value, objects)) for name, value in node.attrs.items()]
        define(node.outputs)
        for block in node.blocks:
            define(block.params)
    return parts


def format_node(node: Node, names: Names | None = None) -> str:
    """Write one node on one line, without its blocks."""
    if names is None:
        names = Names.of_graph(node.graph)
    return _Printer(names, [], ranges=True).head(node)


def format_range(where: SourceRange) -> str:
    """Give ``file.py:line:column``, then `` <- `` and the place of the call for inlined code."""
    text = where.short()
    return text if where.caller is None else f"{text} <- {format_range(where.caller)}"


class Names:
    """The printed names of the values of one graph, each without its ``%``."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._next: dict[str, int] = {}

    @staticmethod
    def of_graph(graph: Graph) -> Names:
        """Name all values of the graph, exactly as the printed graph does."""
        names = Names()
        printer = _Printer(names, [], ranges=False)
        printer.graph(graph)
        return names

    def __getitem__(self, value: Value) -> str:
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = self._new_name(_base_name(value.name))
        return name

    def _new_name(self, base: str) -> str:
        count = self._next.get(base, 0)
        self._next[base] = count + 1
        if not base:
            return str(count)
        return f"{base}.{count}" if count else base


def _base_name(hint: str) -> str:
    """Give the hint in the form in which it can be part of a name; "" for none."""
    head, dot, tail = hint.rpartition(".")
    base = _NOT_IN_NAMES.sub("_", head if dot and tail.isdecimal() else hint)
    return "" if base[:1].isdecimal() else base


class _Printer:
    def __init__(self, names: Names, objects: list[object], *, ranges: bool) -> None:
        self.names = names
        self.objects = objects
        self.ranges = ranges
        self.lines: list[str] = []

    def graph(self, graph: Graph) -> None:
        name = "" if graph.name == "graph" else f" {graph.name}"
        self.lines.append(f"graph{name}({self._typed(graph.params)}):")
        self._nodes(graph.block, 1)

    def _nodes(self, block: Block, depth: int) -> None:
        for node in block:
            self.lines.append("  " * depth + self.head(node))
            for i, inner in enumerate(node.blocks):
                self.lines.append(f"{'  ' * (depth + 1)}block{i}({self._typed(inner.params)}):")
                self._nodes(inner, depth + 2)

    def head(self, node: Node) -> str:
        """Give the line of a node."""
        inputs = ", ".join(f"%{self.names[v]}" for v in node.inputs)
        if node.op.keyword:
            text = f"{node.op.keyword} ({inputs})"
        else:
            results = self._typed(node.outputs)
            equals = " = " if results else ""
            text = f"{results}{equals}{node.op.name}{self._attributes(node)}({inputs})"
        if self.ranges and node.range is not None:
            text += f"   # {format_range(node.range)}"
        return text

    def _typed(self, values: list[Value]) -> str:
        for v in values:
            self._register_classes(v.type)
        return ", ".join(f"%{self.names[v]} : {v.type}" for v in values)

    def _attributes(self, node: Node) -> str:
        parts = []
        if node.target is not None:
            parts.append(f"depth={_depth_of(node)}")
        for name, value in node.attrs.items():
            if isinstance(value, Type):
                self._register_classes(value)
            parts.append(f"{name}={print_literal(value, self.objects)}")
        if node.proven:
            parts.append(f"proven={print_literal(node.proven, self.objects)}")
        if node.is_fast:
            parts.append("fast=True")
        return f"[{', '.join(parts)}]" if parts else ""

    def _register_classes(self, type_: Type) -> None:
        """Put the classes in `type_` that cannot be imported into the list of objects."""
        match type_:
            case ObjectType(cls):
                if object_path(cls) is None:
                    print_literal(cls, self.objects)
            case NamedTupleType(named, parts):
                for part in (named, *parts):
                    self._register_classes(part)
            case TupleType(parts) | UnionType(parts) | ViewType(_, parts):
                for part in parts:
                    self._register_classes(part)
            case ListType(item):
                self._register_classes(item)


def _depth_of(node: Node) -> str:
    """Count the nodes that an exit can target from the inside outwards, up to `node.target`."""
    depth = 0
    block = node.block
    while block is not None and block.owner is not None:
        if block.owner is node.target:
            return str(depth)
        depth += block.owner.op.is_exit_target
        block = block.owner.block
    return "?"  # only in graphs that the verifier rejects
