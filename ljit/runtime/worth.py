"""What native code of a graph is worth: whether it is made at all, and after how much work it is optimised."""

from __future__ import annotations

from types import FunctionType

from ljit.ir import Block, Effect, Graph, Node
from ljit.ops.containers.keys import works_with_key
from ljit.ops.control import CALL_NATIVE, IF, LOOP
from ljit.types import ArrayType

__all__ = ["is_worthwhile", "may_lose", "quick_work", "runs_boxed"]

_COST_OF_BOXED = 20  # to optimise what stands around a boxed call, in nodes that are native
_RUNS_OF_METHODS = (
    2  # they are compiled as well, but each call takes far longer than a native node so far
)
_TRIPS = 10  # that a loop is taken to have
_MOST_DEPTH = 3


def is_worthwhile(graph: Graph, *, is_alone: bool = True, is_long_in_use: bool = False) -> bool:
    """Whether anything but boxed calls happens in it; CPython makes functions faster.

    Calls of native code that come from CPython need no frame there: what is long in use gains by that alone.

    Boxed calls on arrays take no longer in native code than in CPython's. So if the function has native code for other
    types, that is better than to come to the executor until calls jump to CPython (`is_alone`: it has none).
    """
    has_boxed = has_gain = makes_functions = False
    for node in graph.walk():
        if node.op is CALL_NATIVE or (node.blocks and node.op is not IF):
            return True
        if has_gain and not _is_call_of(node, FunctionType):  # it would tell nothing new
            continue
        if _works_on_objects(node) or _reads_variable(node):
            has_boxed = True
            makes_functions |= _is_call_of(node, FunctionType)
        elif node.blocks or node.op.lower is not None:
            has_gain = True
    has_arrays = any(isinstance(v.type, ArrayType) for v in graph.params)
    is_cheaper = is_long_in_use or (has_arrays and not is_alone)
    return not makes_functions and (has_gain or not has_boxed or is_cheaper)


def may_lose(graph: Graph) -> bool:
    """Whether CPython may be faster at it than native code: only NumPy is, where array statements stand in a row."""
    has_arrays = any(isinstance(v.type, ArrayType) and None in v.type.shape for v in graph.params)
    return has_arrays and not any(
        node.op in (LOOP, CALL_NATIVE) or node.op.effects_of(node) & Effect.CALL
        for node in graph.walk()
    )


def runs_boxed(node: Node) -> bool:
    """Whether the node does its work on objects, in CPython's code or unknown code, more often than not."""
    return _works_on_objects(node) and not works_with_key(node)


def _works_on_objects(node: Node) -> bool:
    return bool(node.op.effects_of(node) & Effect.CALL) or _is_boxed_call(node)


def _is_boxed_call(node: Node) -> bool:
    """Whether the node is a call of `OpDef.evaluate` on boxed operands."""
    op = node.op
    if op.evaluate is None or op.is_constant:
        return False
    return not op.has_lowering([v.type for v in node.inputs], node.attrs)


def _reads_variable(node: Node) -> bool:
    """Whether the node reads a variable that is none of the function's own."""
    return node.op.is_profiled and not node.inputs


def _is_call_of(node: Node, function: object) -> bool:
    callee = node.inputs[0] if node.inputs else None
    return callee is not None and callee.is_constant and callee.constant is function


def quick_work(graph: Graph, runs: int, *, leaves_methods: bool = False) -> int:
    """How many nodes quick code of the graph may run: `runs` times all of them, more often if much of it is boxed.

    Optimising makes native nodes faster, boxed calls not; most of its time goes into what stands around those (counts
    of references, checks of results, ways out). Methods that were left to CPython are called natively then.
    """
    if not runs:
        return 0
    if leaves_methods:
        return runs * _RUNS_OF_METHODS * sum(1 for _ in graph.walk())
    count = native = boxed = 0
    frequency: dict[Block, int] = {}
    for node in graph.walk():
        count += 1
        assert node.block is not None
        often = frequency.get(node.block)
        if often is None:
            often = frequency[node.block] = _TRIPS ** min(_loops_around(node), _MOST_DEPTH)
        if runs_boxed(node):
            boxed += often
        else:
            native += often
    return runs * count * (native + _COST_OF_BOXED * boxed) // max(native, 1)


def _loops_around(node: Node) -> int:
    return sum(owner.op is LOOP for owner in node.owners())
