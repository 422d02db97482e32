"""What native code of a graph is worth: whether it is made at all, and after how much work it is optimised."""

from __future__ import annotations

from types import FunctionType

from ljit.ir import Block, Effect, Graph, Node
from ljit.ops.containers.keys import works_with_key
from ljit.ops.control import CALL_NATIVE, IF, LOOP
from ljit.types import ArrayType

__all__ = ["gains_by_a_call", "is_worthwhile", "may_lose", "quick_work", "runs_boxed"]

_COST_OF_BOXED = 20  # to optimise what stands around a boxed call, in nodes that are native
_NATIVES_OF_GAIN = 4  # nodes that work on no objects
_NODES_OF_CALL = 100  # as which one without loops counts beside its own, which gains as little as optimising takes long
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
        if node.op is CALL_NATIVE or _repeats(node):
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


def gains_by_a_call(graph: Graph) -> bool:
    """Whether a short call on objects, from CPython, takes clearly less time in native code.

    CPython runs a few attributes, comparisons and methods of containers as fast as native code is entered.
    """
    natives = 0
    for node in graph.walk():
        if node.op is CALL_NATIVE or _repeats(node):
            return True
        natives += node.op.lower is not None and not node.op.is_constant and not runs_boxed(node)
    return natives >= _NATIVES_OF_GAIN


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


def _repeats(node: Node) -> bool:
    return bool(node.blocks) and node.op is not IF


def _reads_variable(node: Node) -> bool:
    """Whether the node reads a variable that is none of the function's own."""
    return node.op.is_profiled and not node.inputs


def _is_call_of(node: Node, function: object) -> bool:
    callee = node.inputs[0] if node.inputs else None
    return callee is not None and callee.is_constant and callee.constant is function


def quick_work(graph: Graph, runs: int, *, is_called: bool = False) -> int:
    """How many nodes quick code of the graph may run: `runs` times all of them, more often if much of it is boxed.

    Optimising makes native nodes faster, boxed calls not; most of its time goes into what stands around those (counts
    of references, checks of results, ways out). A call without loops takes a few nanoseconds less, whatever it does:
    most of its time is that of its entry, which one from native code (`is_called`) has not got.
    """
    if not runs:
        return 0
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
    if not is_called and not any(node.op is CALL_NATIVE or _repeats(node) for node in graph.walk()):
        count += _NODES_OF_CALL
    return runs * count * (native + _COST_OF_BOXED * boxed) // max(native, 1)


def _loops_around(node: Node) -> int:
    return sum(owner.op is LOOP for owner in node.owners())
