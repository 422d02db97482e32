"""Put the bodies of small functions where they are called.

Contract: a `py::call` of what `prim::load_global` or `prim::load_closure` reads is rewritten if the
variable's value is now a plain Python function (or a decorated one) that `graph_of` gives a graph
for, that is small, does not look at its callers nor needs a frame itself, is not being inlined already (recursion) and
takes the arguments::

    %r = prim::If(py::is(%f, <the function>)) { prim::Region { its body } } { py::call(%f, ...) }

so a variable that changes later is seen. Arguments that are missing take the defaults as they are
now, under a check that these have not been replaced. The ranges of the body get the place of the
call as caller. Floats of a function that was decorated with `fastmath` are computed as it allows (`Node.is_fast`).

A call of a function that is too large or recursive becomes, in the place of its body, a call of its *twin* (a
decorated function that does the same), with all arguments by position, but for keyword-only ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType

from ljit.analysis.assumptions import may_reorder, python_function
from ljit.characters import constant_type
from ljit.cpython.frames import asks_for_a_module
from ljit.cpython.parameters import (
    arrange,
    defaults_of,
    has_keywords,
    has_rest,
    keyword_only,
    named_parameters,
)
from ljit.ir import Block, Graph, Node, OpDef, Value, copy_nodes, get_op
from ljit.ops.control import BREAK, CONSTANT, IF, LOOP, REGION, RETURN, YIELD
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import ANY

__all__ = ["inline"]

GraphOf = Callable[[FunctionType], Graph | None]
TwinOf = Callable[[FunctionType], object]
Attrs = Mapping[str, object]

MAX_CALLEE = 200  # nodes of one callee
MAX_TOTAL = 1000  # nodes that the pass adds
MAX_DEPTH = 5
MAX_NESTING = 100  # blocks around a call


@graph_pass("inline")
def inline(graph: Graph, *, graph_of: GraphOf | None = None, twin_of: TwinOf | None = None) -> bool:
    """Inline calls; whether any was changed. `graph_of` gives the SSA graph of a function."""
    if graph_of is None:
        return False
    return _Inliner(graph, graph_of, twin_of).run()


_Defaults = tuple[tuple[str, object], ...]


class _Arguments(Record):
    """The values of a callee's parameters; of those that take their `defaults`, the names.

    `rest` are the items of ``*args``, `keywords` what is in ``**kwargs``, None if there is none.
    """

    values: list[Value | str]
    defaults: _Defaults
    rest: list[Value] | None
    keywords: dict[str, Value] | None


class _Inliner:
    def __init__(self, graph: Graph, graph_of: GraphOf, twin_of: TwinOf | None) -> None:
        self.graph = graph
        self.graph_of = graph_of
        self.twin_of = twin_of
        self.call = get_op("py::call")
        self.is_ = get_op("py::is")
        self.loads = (get_op("prim::load_global"), get_op("prim::load_closure"))
        self.added = 0
        self.callees: dict[FunctionType, Graph | None] = {}

    def run(self) -> bool:
        stack = tuple({_scope(n) for n in self.graph.walk() if n.op in self.loads})
        calls = [node for node in self.graph.walk() if node.op is self.call]
        return self._visit(sorted(calls, key=_loops_around, reverse=True), stack, 0)

    def _visit(self, nodes: list[Node], stack: tuple[object, ...], depth: int) -> bool:
        changed = False
        for node in nodes:
            if node.op is self.call:
                changed |= self._call(node, stack, depth)
        return changed

    def _call(self, node: Node, stack: tuple[object, ...], depth: int) -> bool:
        load = node.inputs[0].node
        if load is None or load.op not in self.loads:
            return False
        called = _current_value(load)
        function = python_function(called)
        if function is None or asks_for_a_module(function):
            return False
        arguments = _bind(function, node)
        if arguments is None:
            return False
        if any(function is f for f in stack):
            return self._call_twin(node, called, function, arguments)
        callee = self._callee(function)
        if callee is None:
            return False
        size = sum(1 for _ in callee.walk())
        is_too_large = size > MAX_CALLEE or self.added + size > MAX_TOTAL
        if is_too_large or depth >= MAX_DEPTH or sum(1 for _ in node.owners()) > MAX_NESTING:
            return self._call_twin(node, called, function, arguments)
        if not is_allowed("inline", node):
            return False
        self.added += size
        copied = self._inline(node, called, function, callee, arguments)
        self._visit(copied, (*stack, function), depth + 1)
        return True

    def _call_twin(
        self, node: Node, called: object, function: FunctionType, arguments: _Arguments
    ) -> bool:
        """Call the twin of the function, with all arguments by position; whether that is a change."""
        is_plain = called is function
        code = function.__code__
        if has_rest(code) or has_keywords(code) or (is_plain and self.twin_of is None):
            return False
        by_name = keyword_only(code)
        if not (is_plain or arguments.defaults or node.attrs.get("kwnames", ()) != by_name):
            return False
        if not is_allowed("inline", node):
            return False
        twin = self.twin_of(function) if is_plain and self.twin_of is not None else called
        fast, values = self._choose(node, called, function, arguments)
        callee = self.graph.create(CONSTANT, attrs={"value": twin}, range=node.range)
        callee.output.type = ANY
        fast.append(callee)
        inputs, attrs = [callee.output, *values], {"kwnames": by_name} if by_name else {}
        call = self.graph.create(self.call, inputs, attrs, outputs=1, range=node.range)
        call.origin = call.id
        fast.append(call)
        fast.create(YIELD, [call.output])
        return True

    def _callee(self, function: FunctionType) -> Graph | None:
        if function not in self.callees:
            graph = self.graph_of(function)
            if graph is not None and any(node.op.looks_at_callers for node in graph.walk()):
                graph = None
            self.callees[function] = graph
        return self.callees[function]

    def _inline(
        self,
        node: Node,
        called: object,
        function: FunctionType,
        callee: Graph,
        arguments: _Arguments,
    ) -> list[Node]:
        """Put the body in the place of the call; give the nodes of the copied body."""
        fast, values = self._choose(node, called, function, arguments)
        region = self.graph.create(REGION, outputs=1, like=node)
        region.origin = region.id
        fast.append(region)
        fast.create(YIELD, [region.output])
        copied = _copy_body(callee, region, values, node)
        if may_reorder(called):
            for inner in copied:
                inner.is_fast = not (inner.blocks or inner.op.is_terminator)
        return copied

    def _choose(
        self, node: Node, called: object, function: FunctionType, arguments: _Arguments
    ) -> tuple[Block, list[Value]]:
        """Build the If around the call; give the block for what stands for the call, and the arguments."""
        same = self._test(node, called, function, arguments.defaults)
        choice = self.graph.create(IF, [same], outputs=1, like=node)
        choice.origin = choice.id
        choice.insert_before(node)
        choice.output.name = node.output.name
        node.output.replace_all_uses_with(choice.output)
        fast, slow = choice.add_block(), choice.add_block()
        defaults = dict(arguments.defaults)
        values = [
            v if isinstance(v, Value) else self._constant(defaults[v], node, choice)
            for v in arguments.values
        ]
        if arguments.rest is not None:
            construct = get_op("prim::TupleConstruct")
            rest = self.graph.create(construct, arguments.rest, outputs=1, range=node.range)
            values.append(fast.append(rest).output)
        if arguments.keywords is not None:
            values.append(self._dict(arguments.keywords, node, choice, fast))
        node.unlink()
        slow.append(node)
        slow.create(YIELD, [node.output])
        return fast, values

    def _dict(self, pairs: dict[str, Value], node: Node, choice: Node, block: Block) -> Value:
        """Make the dict of the keyword arguments, each time the call runs."""
        construct = get_op("prim::DictConstruct")
        items = [
            x for name, value in pairs.items() for x in (self._constant(name, node, choice), value)
        ]
        return block.create(construct, items, outputs=1, range=node.range).output

    def _test(
        self, node: Node, called: object, function: FunctionType, defaults: _Defaults
    ) -> Value:
        """Make the condition under which something else stands for the call."""
        wanted = insert_constant(called, node)
        same = self._insert(self.is_, [node.inputs[0], wanted], node)
        if not defaults:
            return same
        both = node.create_before(IF, [same], outputs=[same.type], range=node.range)
        attrs = {"function": function, "defaults": defaults}
        check = self.graph.create(get_op("prim::has_defaults"), (), attrs, range=node.range)
        yes, no = both.add_block(), both.add_block()
        yes.append(check)
        yes.create(YIELD, [check.output])
        no.create(YIELD, [same])
        return both.output

    def _insert(
        self, op: OpDef, inputs: list[Value], before: Node, attrs: Attrs | None = None
    ) -> Value:
        node = self.graph.create(op, inputs, attrs, range=before.range)
        return node.insert_before(before).output

    def _constant(self, value: object, node: Node, before: Node) -> Value:
        types = [constant_type(value)]
        made = self.graph.create(CONSTANT, attrs={"value": value}, outputs=types, range=node.range)
        return made.insert_before(before).output


def _copy_body(callee: Graph, region: Node, arguments: list[Value], call: Node) -> list[Node]:
    body = region.add_block()
    values = dict(zip(callee.params, arguments, strict=True))
    copy_nodes(callee.block, body, values, {})
    copied = list(body.walk())
    for node in copied:
        node.origin = node.id
        if node.range is not None and call.range is not None:
            node.range = node.range.called_from(call.range)
        if node.op is RETURN:
            leave = region.graph.create(BREAK, list(node.inputs), like=node)
            leave.target = region
            leave.insert_before(node)
            node.erase()
    return [node for node in copied if node.block is not None]


def _loops_around(node: Node) -> int:
    """In how many loops the node lies: calls in loops are the first to be inlined."""
    return sum(owner.op is LOOP for owner in node.owners())


def _scope(load: Node) -> object:
    return load.attrs["scope"]


def _current_value(load: Node) -> object:
    assert load.op.evaluate is not None
    try:
        return load.op.evaluate(**load.attrs)
    except NameError:
        return None


def _bind(function: FunctionType, call: Node) -> _Arguments | None:
    """Give a value to each parameter, as the call would; None if it would raise."""
    code = function.__code__
    kwnames = call.attrs.get("kwnames", ())
    assert isinstance(kwnames, tuple)
    given = call.inputs[1:]
    positional = given[: len(given) - len(kwnames)]
    rest = positional[code.co_argcount :]
    keywords = dict(zip(kwnames, given[len(positional) :], strict=True))
    by_keyword = named_parameters(code)[code.co_posonlyargcount :]
    others = {name: keywords.pop(name) for name in kwnames if name not in by_keyword}
    if (rest and not has_rest(code)) or (others and not has_keywords(code)):
        return None
    arranged = arrange(code, positional[: code.co_argcount], keywords)
    if arranged is None:
        return None
    defaults, missing = defaults_of(function), [n for n, v in arranged.items() if v is None]
    if not defaults.keys() >= set(missing):
        return None
    return _Arguments(
        [name if value is None else value for name, value in arranged.items()],
        tuple((name, defaults[name]) for name in missing),
        rest if has_rest(code) else None,
        others if has_keywords(code) else None,
    )
