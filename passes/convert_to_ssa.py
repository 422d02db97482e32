"""Turn local variables (`prim::Load`, `prim::Store`) into SSA values.

Contract: the frontend writes control flow without operands for variables; afterwards there is no
Load and no Store. A variable that is stored inside an If, Loop or Region and live behind it becomes
an output; Yield, Continue and Break carry it. A Loop carries a variable only if it is stored in the
loop and live at the header or behind it. What the body of a Try stores and its handler reads becomes a parameter of
the handler, and `prim::Catch` nodes say what it is from there on. Where a path does not bind a variable its value is
`prim::Uninitialized`; only reads that may see that go through `prim::check_bound`. Values take the
variables' names, without a suffix ``@N``. Code behind a terminator, or behind a node that no path
leaves, is removed.

Liveness is a backward walk with a fixpoint a loop; headers only grow, so the walks are few.
Renaming is one forward walk. A ``del`` is a Store of `prim::Uninitialized`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Block, Graph, Node, Value, get_op
from ljit.ops.control import (
    BREAK,
    CATCH,
    CONTINUE,
    IF,
    LOAD,
    LOOP,
    REGION,
    STORE,
    TRY,
    UNINITIALIZED,
    UNREACHABLE,
    YIELD,
)
from ljit.passes.manager import graph_pass
from ljit.records import Record, made_by
from ljit.types import ANY

__all__ = ["convert_to_ssa"]


@graph_pass("convert_to_ssa")
def convert_to_ssa(graph: Graph) -> bool:
    """Turn Load and Store into SSA values; whether there was anything to do."""
    before = graph.version
    _prune(graph.block)
    liveness = _Liveness()
    liveness.block(graph.block, set())
    _Renamer(graph, liveness).block(graph.block, {})
    return graph.version != before


def _prune(block: Block) -> bool:
    """Remove what cannot be reached; whether the block ends by falling through to its owner."""
    for node in block:
        falls_through = True
        inner = [_prune(b) for b in node.blocks]
        if node.op is IF or node.op is TRY:
            falls_through = any(inner)
        elif node.op is REGION:
            falls_through = inner[0] or _is_left_by_break(node)
        if node.op.is_terminator or not falls_through:
            _erase_behind(node)
            break
    last = block.last
    if last is not None and not last.op.is_terminator:
        block.create(UNREACHABLE)
    return last is not None and last.op is YIELD


def _is_left_by_break(region: Node) -> bool:
    return any(n.op is BREAK and n.target is region for n in region.blocks[0].walk())


def _erase_behind(node: Node) -> None:
    while node.next is not None:
        assert node.block is not None
        assert node.block.last is not None
        node.block.last.erase()


class _Liveness:
    """Which variables are read before they are stored again: behind nodes and at loop headers."""

    def __init__(self) -> None:
        self.after: dict[Node, set[str]] = {}
        self.header: dict[Node, set[str]] = {}
        self.caught: dict[Node, set[str]] = {}  # by Try: live at the start of its handler
        self._always: set[str] = set()  # live all over the bodies of Trys that are walked
        self._stored: dict[Node, dict[str, None]] = {}

    def stored(self, node: Node) -> dict[str, None]:
        """Give the variables that are stored at any depth of `node`, in textual order."""
        found = self._stored.get(node)
        if found is None:
            found = self._stored[node] = {}
            for block in node.blocks:
                found.update(self.stored_in(block))
        return found

    def stored_in(self, block: Block) -> dict[str, None]:
        """Give the variables that are stored at any depth of one block."""
        found: dict[str, None] = {}
        for node in block:
            if node.op is STORE:
                found[str(node.attrs["name"])] = None
            elif node.blocks:
                found.update(self.stored(node))
        return found

    def merged(self, node: Node) -> list[str]:
        """Give the variables that need an output (and, for a Loop, are carried)."""
        live = self.after[node] | self.header.get(node, set())
        return [name for name in self.stored(node) if name in live]

    def block(self, block: Block, live: set[str]) -> set[str]:
        """Walk a block backwards from `live`, the variables live where its Yield goes."""
        live = live | self._always
        for node in reversed(block):
            if node.op is LOAD:
                live.add(str(node.attrs["name"]))
            elif node.op is STORE:
                if node.attrs["name"] not in self._always:
                    live.discard(str(node.attrs["name"]))
            elif node.op.is_terminator:
                live = self._at_exit(node, live)
            elif node.blocks:
                live = self._at_structure(node, live)
        return live

    def _at_exit(self, node: Node, live: set[str]) -> set[str]:
        if node.op is YIELD:
            return live
        if node.target is None:
            return set(self._always)
        return self._always | (self.header if node.op is CONTINUE else self.after)[node.target]

    def _at_structure(self, node: Node, live: set[str]) -> set[str]:
        self.after[node] = live
        if node.op is TRY:
            return self._at_try(node, live)
        if node.op is not LOOP:
            return set().union(*(self.block(b, live) for b in node.blocks))
        exhausted = self.block(node.blocks[1], live) if len(node.blocks) == 2 else live
        header = self.header[node] = self.header.get(node, set()) | exhausted
        # Invariant: header holds only variables that are live at the start of a trip or behind it.
        while not (grown := self.block(node.blocks[0], header)) <= header:
            header = self.header[node] = header | grown
        return set(header)

    def _at_try(self, node: Node, live: set[str]) -> set[str]:
        """What its handler reads is live all over the body, which may be left for it anywhere."""
        body, handler = node.blocks
        caught = self.caught[node] = self.block(handler, live)
        outer, self._always = self._always, self._always | caught
        before = self.block(body, live)
        self._always = outer
        return before


class _Binding(Record, eq=True):
    """What a variable is at one place: its value, and whether it may be unbound."""

    value: Value
    may_be_unbound: bool = False


_Variables = dict[str, _Binding]


class _Try(Record, frozen=False):
    """A Try whose body is being renamed: what its handler gets, and what of it may be unbound."""

    node: Node
    names: list[str]
    unbound: set[str] = made_by(factory=set)

    @property
    def names_as_set(self) -> set[str]:
        return set(self.names)


class _Renamer:
    def __init__(self, graph: Graph, liveness: _Liveness) -> None:
        self.graph = graph
        self.liveness = liveness
        self.unbound: _Binding | None = None
        self.check_bound = get_op("prim::check_bound")
        #: variables that some Break out of the node leaves unbound
        self.unbound_breaks: dict[Node, set[str]] = {}
        self.merged: dict[Node, list[str]] = {}
        self.tries: list[_Try] = []  # whose bodies are being renamed, outermost first

    def block(self, block: Block, variables: _Variables) -> _Variables:
        """Rename the block with `variables` bound at its start; give those at its end."""
        for node in block:
            if node.op is LOAD:
                node.replace_with([self._read(node, variables)])
            elif node.op is STORE:
                self._store(node, variables)
            elif node.op is IF:
                self._if(node, variables)
            elif node.op is REGION:
                self._region(node, variables)
            elif node.op is LOOP:
                self._loop(node, variables)
            elif node.op is TRY:
                self._try(node, variables)
            elif node.target is not None and node.op is not CATCH:
                self._exit(node, variables)
        return variables

    def _store(self, node: Node, variables: _Variables) -> None:
        name, value = str(node.attrs["name"]), node.inputs[0]
        is_unbound = value.made_by(UNINITIALIZED) is not None
        if not value.name and not is_unbound:
            value.name = display_name(name)
        variables[name] = _Binding(value, is_unbound)
        if self.tries:
            self._catch((name,), variables, behind=node)
        node.erase()

    def _read(self, node: Node, variables: _Variables) -> Value:
        """Give the value of the variable that `node` loads, checked if it may be unbound."""
        name = str(node.attrs["name"])
        binding = self._get(name, variables)
        if not binding.may_be_unbound or node.attrs.get("optional"):
            return binding.value
        attrs = {**node.attrs, "name": display_name(name)}
        check = node.create_before(self.check_bound, [binding.value], attrs, outputs=1, like=node)
        check.output.name = display_name(name)
        variables[name] = _Binding(check.output)
        return check.output

    def _get(self, name: str, variables: _Variables) -> _Binding:
        return variables.get(name) or self._unbound_binding()

    def _unbound_binding(self) -> _Binding:
        """Give the one `prim::Uninitialized`, at the start of the graph."""
        if self.unbound is None:
            node = self.graph.create(UNINITIALIZED)
            first = self.graph.block.first
            assert first is not None
            node.insert_before(first)
            self.unbound = _Binding(node.output, may_be_unbound=True)
        return self.unbound

    def _give(self, exit_: Node, names: Iterable[str], variables: _Variables) -> set[str]:
        """Append the variables to the operands of an exit; give those that may be unbound."""
        unbound = set()
        for name in names:
            binding = self._get(name, variables)
            exit_.add_input(binding.value)
            if binding.may_be_unbound:
                unbound.add(name)
        return unbound

    def _exit(self, node: Node, variables: _Variables) -> None:
        assert node.target is not None
        unbound = self._give(node, self.merged[node.target], variables)
        if node.op is BREAK:
            self.unbound_breaks[node.target] |= unbound

    def _begin(self, node: Node) -> list[str]:
        names = self.merged[node] = self.liveness.merged(node)
        self.unbound_breaks[node] = set()
        return names

    def _fall_through(self, node: Node, block: Block, variables: _Variables) -> set[str]:
        """Rename one block of `node` and let its Yield give the merged variables."""
        variables = self.block(block, variables)
        if block.terminator.op is not YIELD:
            return set()
        return self._give(block.terminator, self.merged[node], variables)

    def _bind_outputs(self, node: Node, unbound: set[str], variables: _Variables) -> None:
        for name in self.merged[node]:
            out = node.add_output(ANY, display_name(name))
            variables[name] = _Binding(out, name in unbound)
        if self.tries:
            self._catch(self.merged[node], variables, behind=node)

    def _if(self, node: Node, variables: _Variables) -> None:
        self._begin(node)
        unbound = set()
        for block in node.blocks:
            unbound |= self._fall_through(node, block, dict(variables))
        self._bind_outputs(node, unbound, variables)

    def _region(self, node: Node, variables: _Variables) -> None:
        self._begin(node)
        unbound = self._fall_through(node, node.blocks[0], dict(variables))
        self._bind_outputs(node, unbound | self.unbound_breaks[node], variables)

    def _loop(self, node: Node, variables: _Variables) -> None:
        names = self._begin(node)
        unbound = self._give(node, names, variables) | _deleted(node, names)
        for i, block in enumerate(node.blocks):
            inner = dict(variables)
            for name in names:
                param = block.add_param(display_name(name))
                inner[name] = _Binding(param, name in unbound)
            if i == 0:
                self._note(node, inner)
            if self.tries:
                self._catch(names, inner, start=block)
            at_end = self._fall_through(node, block, inner)
            if i == 1:
                unbound = at_end
        self._bind_outputs(node, unbound | self.unbound_breaks[node], variables)

    def _note(self, loop: Node, variables: _Variables) -> None:
        """Note for those who enter the loop in its midst what its variables are at its header."""
        live = self.liveness.header[loop].union(self.merged[loop])
        own = (name for name in live if display_name(name) == name)
        found = {name: variables[name].value for name in own if name in variables}
        self.graph.variables.setdefault(loop, found)  # run again, the pass sees no variables

    def _try(self, node: Node, variables: _Variables) -> None:
        self._begin(node)
        body, handler = node.blocks
        live, stored = self.liveness.caught[node], self.liveness.stored_in(body)
        region = _Try(node, [name for name in stored if name in live])
        inner = dict(variables)
        self._insert_catch(region, inner, start=body)
        self.tries.append(region)
        unbound = self._fall_through(node, body, inner)
        self.tries.pop()
        inner = dict(variables)
        for name in region.names:
            param = handler.add_param(display_name(name))
            inner[name] = _Binding(param, name in region.unbound)
        if self.tries:
            self._catch(region.names, inner, start=handler)
        unbound |= self._fall_through(node, handler, inner)
        self._bind_outputs(node, unbound, variables)

    def _catch(
        self,
        names: Iterable[str],
        variables: _Variables,
        *,
        behind: Node | None = None,
        start: Block | None = None,
    ) -> None:
        """Tell the handlers around that these variables have new values."""
        for region in self.tries:
            if not region.names_as_set.isdisjoint(names):
                self._insert_catch(region, variables, behind=behind, start=start)

    def _insert_catch(
        self,
        region: _Try,
        variables: _Variables,
        *,
        behind: Node | None = None,
        start: Block | None,
    ) -> None:
        catch = self.graph.create(CATCH, like=behind or region.node)
        catch.target = region.node
        region.unbound |= self._give(catch, region.names, variables)
        if behind is not None:
            catch.insert_after(behind)
        else:
            assert start is not None and start.first is not None
            catch.insert_before(start.first)


def _deleted(loop: Node, names: Iterable[str]) -> set[str]:
    """Give the variables that a trip may unbind: by a `del`, nothing else does."""
    found = set()
    for node in loop.blocks[0].walk():
        value = node.inputs[0].node if node.op is STORE else None
        if value is not None and value.op is UNINITIALIZED:
            found.add(str(node.attrs["name"]))
    return found.intersection(names)


def display_name(name: str) -> str:
    """Give the user's name of a variable: ``x`` for ``x@2``.

    >>> display_name("x@2"), display_name("x"), display_name("@3")
    ('x', 'x', '')
    """
    return name.partition("@")[0]
