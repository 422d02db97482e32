"""Read a graph from the text that the printer writes: ``str(parse(text)) == text``.

Lines may be indented by any amount, as long as a block's label stands deeper than its node and its
nodes deeper than its label. Blank lines and lines that start with ``//`` are skipped. In text
written by hand a result may lack its type: then `infer` gives it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ljit.errors import ParseError
from ljit.ir.graph import Block, Graph, Node, Value
from ljit.ir.opdef import OpDef
from ljit.ir.registry import REGISTRY
from ljit.ir.scanner import Scanner, parse_literal, parse_type
from ljit.source import Source, SourceRange
from ljit.types import ANY, Type

__all__ = ["parse", "parse_literal", "parse_type"]

_HEAD = re.compile(r"graph(?:[ ]+(?P<name>\S.*?))?\((?=%|\):)")
_LABEL = re.compile(r"block(\d+)\(")
_VALUE = re.compile(r"%([\w.]+)")
_OP = re.compile(r"[A-Za-z_]\w*::\w+")
_ATTRIBUTE = re.compile(r"(\w+)=")
_COMMENT = re.compile(r"#\s*(.*?)\s*$")
_PLACE = re.compile(r"(.*):(\d+):(\d+)$")


def parse(text: str, objects: Sequence[object] = ()) -> Graph:
    """Read one graph; `objects` are what ``<@N>`` stands for. ParseError says what is wrong."""
    return _Parser(text, objects).graph()


class _Parser:
    def __init__(self, text: str, objects: Sequence[object]) -> None:
        self.lines: list[tuple[int, Scanner]] = []
        for number, line in enumerate(text.split("\n"), start=1):
            stripped = line.strip()
            if stripped and not stripped.startswith("//"):
                indent = len(line) - len(line.lstrip())
                self.lines.append((indent, Scanner(stripped, number, objects)))
        self.next = 0
        self.values: dict[str, Value] = {}
        # the Loops, Regions and Trys around the line, outermost first
        self.targets: list[Node] = []
        self.sources: dict[str, Source] = {}
        self.keywords = {op.keyword: op for op in REGISTRY.values() if op.keyword}

    def graph(self) -> Graph:
        if not self.lines:
            raise ParseError("a graph wanted, found nothing", 1)
        indent, scanner = self.lines[0]
        found = scanner.skip(_HEAD)
        if found is None:
            raise scanner.error("'graph(' wanted")
        graph = Graph(found.group("name") or "graph")
        self._params(scanner, graph.block)
        self.next = 1
        self._nodes(graph.block, indent)
        if self.next < len(self.lines):
            raise self.lines[self.next][1].error("the end of the graph wanted")
        return graph

    def _params(self, scanner: Scanner, block: Block) -> None:
        for name, type_ in scanner.list_of(lambda: self._typed(scanner), ")"):
            value = block.add_param("", ANY if type_ is None else type_)
            self._define(scanner, name, value)
        scanner.expect(":")

    def _typed(self, scanner: Scanner) -> tuple[str, Type | None]:
        found = scanner.skip(_VALUE)
        if found is None:
            raise scanner.error("a value's name wanted")
        return found.group(1), scanner.type() if scanner.take(":") else None

    def _define(self, scanner: Scanner, name: str, value: Value) -> None:
        if name in self.values:
            raise scanner.error(f"%{name} is defined twice")
        head, dot, tail = name.rpartition(".")
        hint = head if dot and tail.isdecimal() else name
        value.name = "" if hint.isdecimal() else hint
        self.values[name] = value

    def _nodes(self, block: Block, outer_indent: int) -> None:
        """Read the lines of a block: all that stand deeper than `outer_indent`."""
        while self.next < len(self.lines):
            indent, scanner = self.lines[self.next]
            if indent <= outer_indent:
                return
            self.next += 1
            self._node(block, indent, scanner)

    def _node(self, block: Block, indent: int, scanner: Scanner) -> None:
        results = self._results(scanner)
        op = self._op(scanner)
        node = block.append(Node(block.graph, op))
        if scanner.take("["):
            scanner.list_of(lambda: self._attribute(scanner, node), "]")
        scanner.expect("(")
        for value in scanner.list_of(lambda: self._operand(scanner), ")"):
            node.add_input(value)
        node.range = self._range(scanner)
        self._blocks(node, indent)
        types = [t for _, t in results if t is not None]
        if len(types) < len(results):
            types = self._inferred(scanner, node, len(results))
        for (name, _), type_ in zip(results, types, strict=True):
            self._define(scanner, name, node.add_output(type_))

    def _results(self, scanner: Scanner) -> list[tuple[str, Type | None]]:
        results: list[tuple[str, Type | None]] = []
        while scanner.text.startswith("%", scanner.at) or results:
            results.append(self._typed(scanner))
            if not scanner.take(","):
                scanner.expect("=")
                break
        return results

    def _op(self, scanner: Scanner) -> OpDef:
        for keyword, op in self.keywords.items():
            if scanner.skip(re.compile(re.escape(keyword) + r"(?=\s*\()")) is not None:
                return op
        found = scanner.skip(_OP)
        if found is None:
            raise scanner.error("an op's name wanted")
        if found.group() not in REGISTRY:
            raise scanner.error(f"there is no op {found.group()}")
        return REGISTRY[found.group()]

    def _attribute(self, scanner: Scanner, node: Node) -> None:
        found = scanner.skip(_ATTRIBUTE)
        if found is None:
            raise scanner.error("name=value wanted")
        name = found.group(1)
        if name == "depth":
            node.target = self._target(scanner)
        elif name == "proven":
            node.proven = self._names(scanner)
        elif name == "fast":
            node.is_fast = bool(scanner.literal())
        else:
            node.attrs[name] = scanner.type() if name == "type" else scanner.literal()

    def _names(self, scanner: Scanner) -> tuple[str, ...]:
        names = scanner.literal()
        if not isinstance(names, tuple):
            raise scanner.error("a tuple of names wanted")
        return tuple(map(str, names))

    def _target(self, scanner: Scanner) -> Node | None:
        found = scanner.skip(re.compile(r"\d+|\?"))
        if found is None:
            raise scanner.error("a depth wanted")
        if found.group() == "?":
            return None
        if int(found.group()) >= len(self.targets):
            raise scanner.error(
                f"there are only {len(self.targets)} Loops, Regions and Trys around this"
            )
        return self.targets[-1 - int(found.group())]

    def _operand(self, scanner: Scanner) -> Value:
        found = scanner.skip(_VALUE)
        if found is None:
            raise scanner.error("a value's name wanted")
        if found.group(1) not in self.values:
            raise scanner.error(f"%{found.group(1)} is not defined")
        return self.values[found.group(1)]

    def _blocks(self, node: Node, indent: int) -> None:
        if node.op.is_exit_target:
            self.targets.append(node)
        while self.next < len(self.lines) and self.lines[self.next][0] > indent:
            label_indent, scanner = self.lines[self.next]
            found = scanner.skip(_LABEL)
            if found is None or int(found.group(1)) != len(node.blocks):
                raise scanner.error(f"'block{len(node.blocks)}(' wanted")
            self.next += 1
            block = node.add_block()
            self._params(scanner, block)
            self._nodes(block, label_indent)
        if node.op.is_exit_target:
            self.targets.pop()

    def _inferred(self, scanner: Scanner, node: Node, count: int) -> list[Type]:
        """Give the types of results that are written without."""
        if node.op.infer is None:
            return [ANY] * count
        types = list(node.op.result_types(node))
        if len(types) != count:
            raise scanner.error(f"{node.op.name} has {len(types)} result(s)")
        return types

    def _range(self, scanner: Scanner) -> SourceRange | None:
        found = scanner.skip(_COMMENT)
        if found is None:
            if scanner.text[scanner.at :].strip():
                raise scanner.error("the end of the line wanted")
            return None
        place: SourceRange | None = None
        for part in reversed(found.group(1).split(" <- ")):
            match = _PLACE.match(part)
            if match is None:
                return None  # a remark of whoever wrote the text
            name, line, column = match.group(1), int(match.group(2)), int(match.group(3))
            source = self.sources.setdefault(name, Source(name, (), "?"))
            place = SourceRange(source, line, column, line, column + 1, place)
        return place
