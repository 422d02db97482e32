"""Put the bodies of small functions where they are called.

Contract: a `py::call` of what `prim::load_global` or `prim::load_closure` reads is rewritten if the
variable's value is now a plain Python function (or a decorated one) that `graph_of` gives a graph
for, that is small, does not look at its callers nor needs a frame itself, is not being inlined already (recursion) and
takes the arguments::

    %r = prim::If(py::is(%f, <the function>)) { prim::Region { its body } } { py::call(%f, ...) }

so a variable that changes later is seen. Arguments that are missing take the defaults as they are
now, under a check that these have not been replaced. The ranges of the body get the place of the
call as caller. Floats of a function that was decorated with `fastmath` are computed as it allows (`Node.is_fast`).

So are calls of variables to which functions came whose code is known (`HeldCallees`), with one If for each kind of
them. What these give in front of the arguments (`ljit/held.py`) is read from the function at hand.

A call of a function that is too large or recursive, or one of several that call each other
and are large together, becomes, in the place of its body, a call of its *twin* (a decorated function that does the
same), with all arguments by position, but for keyword-only ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType

from ljit.analysis.assumptions import may_reorder, python_function
from ljit.analysis.held_callees import HeldCallee, HeldCallees
from ljit.analysis.named_functions import leads_to
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
from ljit.held import HeldKind, MadeFunctions
from ljit.ir import Block, Graph, Node, OpDef, Value, copy_nodes, get_op
from ljit.ops.control import BREAK, CONSTANT, IF, LOOP, REGION, RETURN, YIELD
from ljit.ops.members import GIVEN_VALUE, IS_KIND
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import ANY

__all__ = ["inline"]

GraphOf = Callable[[FunctionType], Graph | None]
TwinOf = Callable[[FunctionType], object]
Attrs = Mapping[str, object]

_NO_NAMES: Mapping[str, int] = {}

MAX_CALLEE = 200  # nodes of one callee
MAX_IN_CYCLE = (
    200  # nodes added of functions that call each other: each of them would have all others in it
)
MAX_TOTAL = 1000  # nodes that the pass adds
MAX_DEPTH = 5
MAX_NESTING = 100  # blocks around a call


@graph_pass("inline")
def inline(
    graph: Graph,
    *,
    graph_of: GraphOf | None = None,
    twin_of: TwinOf | None = None,
    held: HeldCallees | None = None,
    around: object = None,
) -> bool:
    """Inline calls; whether any was changed. `graph_of` gives the SSA graph of a function, `around` is the graph's."""
    if graph_of is None:
        return False
    return _Inliner(graph, graph_of, twin_of, held or HeldCallees()).run(around)


_Defaults = tuple[tuple[str, object], ...]
_Given = Value | str | int


class _Called(Record):
    """What is called: a variable holds it, or one `kind` of callables with it, and its body is that of the function."""

    called: object
    runs: object
    kind: HeldKind | None = None

    def function(self) -> FunctionType:
        """The function whose body it is."""
        assert isinstance(self.runs, FunctionType)
        return self.runs


class _Arguments(Record):
    """The values of a callee's parameters: names of those that take their `defaults`, indices of what a kind gives.

    `rest` are the items of ``*args``, `keywords` what is in ``**kwargs``, None if there is none.
    """

    values: list[_Given]
    defaults: _Defaults
    rest: list[_Given] | None
    keywords: dict[str, _Given] | None

    @property
    def used(self) -> tuple[int, ...]:
        """Which of the values of its own the callable gives."""
        others = *(self.rest or ()), *(self.keywords or {}).values()
        return tuple(v for v in (*self.values, *others) if isinstance(v, int))


class _Inliner:
    def __init__(
        self, graph: Graph, graph_of: GraphOf, twin_of: TwinOf | None, held: HeldCallees
    ) -> None:
        self.graph = graph
        self.graph_of = graph_of
        self.twin_of = twin_of
        self.held = held
        self.call = get_op("py::call")
        self.is_ = get_op("py::is")
        self.loads = (get_op("prim::load_global"), get_op("prim::load_closure"))
        self.added = 0
        self.callees: dict[FunctionType, Graph | None] = {}

    def run(self, around: object) -> bool:
        stack = (around, *{_scope(n) for n in self.graph.walk() if n.op in self.loads})
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
            return self._call_held(node, stack, depth)
        called = _current_value(load)
        function = python_function(called)
        if function is None or asks_for_a_module(function):
            return False
        arguments = _bind(function, node)
        if arguments is None:
            return False
        target = _Called(called, function)
        if any(function is f for f in stack):
            return self._call_twin(node, target, arguments)
        callee = self._callee(function)
        if callee is None:
            return False
        is_too_large = self._is_too_large(node, callee, depth)
        if is_too_large or self._is_cycle_too_large(function, callee, stack):
            return self._call_twin(node, target, arguments)
        if not is_allowed("inline", node):
            return False
        self._inline(node, target, callee, arguments, stack, depth)
        return True

    def _call_held(self, node: Node, stack: tuple[object, ...], depth: int) -> bool:
        """Inline what came to the call of a variable, one after the other: the call is left for any other."""
        changed = False
        for held in self.held.of(node):
            function = held.function()
            callee = self._callee(function)
            arguments = _bind_held(held, node)
            if arguments is None or callee is None or _has_code(function, stack):
                continue
            if not self._is_too_large(node, callee, depth) and is_allowed("inline", node):
                target = _Called(held.kind.function, function, held.kind)
                self._inline(node, target, callee, arguments, stack, depth)
                changed = True
        return changed

    def _is_too_large(self, node: Node, callee: Graph, depth: int) -> bool:
        """Whether the body is, or all that was inlined would be, or too deep in calls or blocks."""
        size = _size(callee)
        is_large = size > MAX_CALLEE or self.added + size > MAX_TOTAL
        return is_large or depth >= MAX_DEPTH or sum(1 for _ in node.owners()) > MAX_NESTING

    def _is_cycle_too_large(
        self, function: FunctionType, callee: Graph, stack: Sequence[object]
    ) -> bool:
        """Whether the function may call one of those that it is called in, and these have much in them already."""
        return self.added + _size(callee) > MAX_IN_CYCLE and leads_to(function, stack)

    def _call_twin(self, node: Node, target: _Called, arguments: _Arguments) -> bool:
        """Call the twin of the function, with all arguments by position; whether that is a change."""
        code = target.function().__code__
        is_plain = target.called is target.runs
        if has_rest(code) or has_keywords(code) or (is_plain and self.twin_of is None):
            return False
        by_name = keyword_only(code)
        if not (is_plain or arguments.defaults or node.attrs.get("kwnames", ()) != by_name):
            return False
        if not is_allowed("inline", node):
            return False
        twin = target.called
        if is_plain and self.twin_of is not None:
            twin = self.twin_of(target.function())
        fast, values = self._choose(node, target, arguments)
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
        target: _Called,
        callee: Graph,
        arguments: _Arguments,
        stack: tuple[object, ...],
        depth: int,
    ) -> None:
        """Put the body in the place of the call, and in it the bodies of what it calls."""
        self.added += _size(callee)
        fast, values = self._choose(node, target, arguments)
        region = self.graph.create(REGION, outputs=1, like=node)
        region.origin = region.id
        fast.append(region)
        fast.create(YIELD, [region.output])
        copied = _copy_body(callee, region, values, node)
        if may_reorder(target.called):
            for inner in copied:
                inner.is_fast = not (inner.blocks or inner.op.is_terminator)
        self._visit(copied, (*stack, target.runs), depth + 1)

    def _choose(
        self, node: Node, target: _Called, arguments: _Arguments
    ) -> tuple[Block, list[Value]]:
        """Build the If around the call; give the block for what stands for the call, and the arguments."""
        same = self._test(node, target, arguments)
        choice = self.graph.create(IF, [same], outputs=1, like=node)
        choice.origin = choice.id
        choice.insert_before(node)
        choice.output.name = node.output.name
        node.output.replace_all_uses_with(choice.output)
        fast, slow = choice.add_block(), choice.add_block()
        defaults = dict(arguments.defaults)

        def value_of(given: _Given) -> Value:
            match given:
                case Value():
                    return given
                case str():
                    return self._constant(defaults[given], node, choice)
            attrs = {"kind": target.kind, "index": given}
            inputs = [node.inputs[0]]
            own = self.graph.create(GIVEN_VALUE, inputs, attrs, outputs=1, range=node.range)
            own.origin = own.id
            return fast.append(own).output

        values = [value_of(v) for v in arguments.values]
        if arguments.rest is not None:
            construct = get_op("prim::TupleConstruct")
            items = [value_of(v) for v in arguments.rest]
            rest = self.graph.create(construct, items, outputs=1, range=node.range)
            values.append(fast.append(rest).output)
        if arguments.keywords is not None:
            pairs = {name: value_of(v) for name, v in arguments.keywords.items()}
            values.append(self._dict(pairs, node, choice, fast))
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

    def _test(self, node: Node, target: _Called, arguments: _Arguments) -> Value:
        """Make the condition under which something else stands for the call."""
        if target.kind is None:
            wanted = insert_constant(target.called, node)
            same = self._insert(self.is_, [node.inputs[0], wanted], node)
        else:
            attrs = {"kind": target.kind, "used": arguments.used}
            same = self._insert(IS_KIND, [node.inputs[0]], node, attrs)
        if not arguments.defaults:
            return same
        both = node.create_before(IF, [same], outputs=[same.type], range=node.range)
        attrs = {"function": target.function(), "defaults": arguments.defaults}
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


def _has_code(function: FunctionType, others: tuple[object, ...]) -> bool:
    """Whether one of the others is the function, or another one that was made of its code."""
    functions = (f for f in others if isinstance(f, FunctionType))
    return any(function.__code__ is f.__code__ for f in functions)


def _loops_around(node: Node) -> int:
    """In how many loops the node lies: calls in loops are the first to be inlined."""
    return sum(owner.op is LOOP for owner in node.owners())


def _size(graph: Graph) -> int:
    return sum(1 for _ in graph.walk())


def _scope(load: Node) -> object:
    return load.attrs["scope"]


def _current_value(load: Node) -> object:
    assert load.op.evaluate is not None
    try:
        return load.op.evaluate(**load.attrs)
    except NameError:
        return None


def _bind_held(held: HeldCallee, call: Node) -> _Arguments | None:
    """The same for a callable that gives values of its own, and has defaults of its own if a function has made it."""
    kind = held.kind
    has_own = isinstance(kind, MadeFunctions)
    front = range(len(kind.given))
    arguments = _bind(held.function(), call, front, kind.keywords, may_miss=has_own)
    if arguments is None or not isinstance(kind, MadeFunctions):
        return arguments
    own = {v: kind.default_of(v) for v in arguments.values if isinstance(v, str)}
    if None in own.values():
        return None
    return arguments.with_changes(
        values=[own[v] if isinstance(v, str) else v for v in arguments.values]
    )


def _bind(
    function: FunctionType,
    call: Node,
    front: Sequence[int] = (),
    by_name: Mapping[str, int] = _NO_NAMES,
    *,
    may_miss: bool = False,
) -> _Arguments | None:
    """Give a value to each parameter, as the call would; None if it would raise.

    `front` is given in front of the arguments, `by_name` for those that the call does not give. `may_miss`: defaults
    are looked for elsewhere.
    """
    code = function.__code__
    kwnames = call.attrs.get("kwnames", ())
    assert isinstance(kwnames, tuple)
    split = len(call.inputs) - len(kwnames)
    positional: list[_Given] = [*front, *call.inputs[1:split]]
    rest = positional[code.co_argcount :]
    keywords: dict[str, _Given] = {
        **by_name,
        **dict(zip(kwnames, call.inputs[split:], strict=True)),
    }
    by_keyword = named_parameters(code)[code.co_posonlyargcount :]
    others = {name: keywords.pop(name) for name in list(keywords) if name not in by_keyword}
    if (rest and not has_rest(code)) or (others and not has_keywords(code)):
        return None
    arranged = arrange(code, positional[: code.co_argcount], keywords)
    if arranged is None:
        return None
    defaults, missing = defaults_of(function), [n for n, v in arranged.items() if v is None]
    if not (may_miss or defaults.keys() >= set(missing)):
        return None
    return _Arguments(
        [name if value is None else value for name, value in arranged.items()],
        () if may_miss else tuple((name, defaults[name]) for name in missing),
        rest if has_rest(code) else None,
        others if has_keywords(code) else None,
    )
