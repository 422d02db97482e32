"""Whether a function is specialised for the sizes of small arrays, or for any.

Known sizes keep elements in registers and make loops short; but each size is compiled for anew. So both graphs are
made where there are sizes to know, and the one with sizes is taken only if it is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.ir import Effect, Graph, Node, Value, get_op
from ljit.ops.control import BUILD, MAP
from ljit.passes import run_passes
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.waiting import loading
from ljit.runtime.worth import runs_boxed
from ljit.sizes import without_sizes
from ljit.types import NONE, ArrayType, SliceType, TupleType, Type

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize import Specialization

__all__ = ["choose_sizes", "optimize"]

_ALL = SliceType(NONE, NONE, NONE)


def choose_sizes(
    types_: Sequence[Type],
    feedback: PlanFeedback,
    make: Callable[[Sequence[Type], PlanFeedback], Specialization],
    pipeline: str,
) -> Specialization:
    """Use the sizes of small arrays in `types_` only where that keeps elements in registers or makes loops shorter."""
    general = without_sizes(types_)
    made = make(general, feedback)
    has_sizes = general != tuple(types_) or feedback.profile.has_sizes
    sized: Specialization | None = None
    if has_sizes and _works_on_arrays(made.graph):  # then sizes mostly are better
        sized = _make_sized(types_, feedback, make, pipeline)
        if _is_better_with_sizes(sized.graph):
            made.graph.block.clear()
            return sized
    optimize(made.graph, feedback, pipeline)
    if not has_sizes or not _works_on_arrays(made.graph):
        return made
    if sized is None:
        sized = _make_sized(types_, feedback, make, pipeline)
    is_better = _is_better_with_sizes(sized.graph) or _unknown(sized.graph) < _unknown(made.graph)
    chosen, other = (sized, made) if is_better else (made, sized)
    other.graph.block.clear()  # its nodes know one another: nothing else would free them
    return chosen


def _make_sized(
    types_: Sequence[Type],
    feedback: PlanFeedback,
    make: Callable[[Sequence[Type], PlanFeedback], Specialization],
    pipeline: str,
) -> Specialization:
    made = make(types_, feedback.with_changes(with_sizes=True))
    optimize(made.graph, feedback, pipeline)
    return made


def _is_better_with_sizes(graph: Graph) -> bool:
    """Whether known sizes keep elements in registers or make loops shorter."""
    return _has_elements(graph) or _has_short_rows(graph)


def _works_on_arrays(graph: Graph) -> bool:
    """Whether there is work on whole arrays, or on single elements at known places of such as the graph makes.

    Making an array, or a view of one, is none, nor is anything with elements at places that are computed.
    """
    return any(_is_array_work(node) for node in graph.walk())


def _is_array_work(node: Node) -> bool:
    if node.op is MAP or node.op is BUILD or _stores_columns(node):
        return True
    made = [*node.outputs, *(param for block in node.blocks for param in block.params)]
    arrays = [value for value in made if _is_array(value)]
    takes_arrays = any(map(_is_array, node.inputs))
    effects = node.op.effects_of(node) if arrays or takes_arrays else Effect.PURE
    if takes_arrays and runs_boxed(node):
        return True
    return bool(arrays) and (bool(effects & Effect.READ) or any(map(_has_known_places, arrays)))


def _is_array(value: Value) -> bool:
    return isinstance(value.type, ArrayType)


def _has_known_places(array: Value) -> bool:
    """Whether elements of the array are used by constant indices."""
    for user, position in array.uses:
        index = user.inputs[1:-1] if user.op.schema.written else user.inputs[1:]
        if position == 0 and index and all(v.is_constant for v in index):
            return True
    return False


def _unknown(graph: Graph) -> int:
    """How many nodes may run unknown code."""
    return sum(bool(node.op.effects_of(node) & Effect.CALL) for node in graph.walk())


def _has_elements(graph: Graph) -> bool:
    """Whether arrays were taken apart."""
    element = get_op("np::element")
    return any(node.op is BUILD or node.op is element for node in graph.walk())


def _has_short_rows(graph: Graph) -> bool:
    """Whether loop nests have a last axis of a few elements, or take columns of such arrays.

    Rows of one element count where an argument has such: sums of any rows that are kept as columns have them, too.
    """
    least = 1 if any(_has_rows(v.type, 1) for v in graph.params) else 2
    return any(
        _goes_along_rows(node, least) or any(map(_is_of_rows, node.inputs))
        for node in graph.walk()
        if node.op is MAP or node.op.elementwise or node.op.copies
    ) or any(_stores_columns(node, 2) for node in graph.walk())


def _stores_columns(node: Node, least: int = 0) -> bool:
    """Whether a node stores to some columns of an array, as ``a[..., 1:] = x``, which has at least so many."""
    if not node.op.schema.written or len(node.inputs) < 3:
        return False
    array, index = node.inputs[0].type, node.inputs[1].type
    if not isinstance(index, TupleType) or not index.items:
        return False
    if least and not _has_rows(array, least):
        return False
    last = index.items[-1]
    return isinstance(array, ArrayType) and isinstance(last, SliceType) and last != _ALL


def _goes_along_rows(node: Node, least: int) -> bool:
    """Whether a nest is more than one run through the elements of arrays with short rows.

    Those with rows of one element may have gaps: then their other axes are gone through in the order of memory.
    """
    types_ = [v.type for v in node.inputs if isinstance(v.type, ArrayType)]
    shapes = {t.shape for t in types_}
    is_one_run = len(shapes) == 1 and not node.attrs.get("reduce")
    is_one_run &= not any(
        t.layout == "strided" and _has_rows(t, 1) and t.shape[-1] == 1 for t in types_
    )
    return any(_has_rows(t, least) for t in types_) and not is_one_run


def _is_of_rows(value: Value) -> bool:
    """Whether a value is a view with gaps of an array with short rows, or a view of such a view."""
    is_strided = isinstance(value.type, ArrayType) and value.type.layout == "strided"
    if not is_strided or value.node is None:
        return False
    return any(_has_rows(v.type, 2) or _is_of_rows(v) for v in value.node.inputs)


def _has_rows(type_: Type, least: int) -> bool:
    """Whether the last of several sizes is known, and not less than this."""
    return isinstance(type_, ArrayType) and type_.ndim > 1 and (type_.shape[-1] or 0) >= least


def optimize(graph: Graph, feedback: PlanFeedback, pipeline: str) -> None:
    """Run a pipeline of passes, which leave alone what failed before, for this machine."""
    with loading():
        from ljit.codegen import vector_bytes

    run_passes(
        graph,
        pipeline,
        failed=feedback.failed_tests,
        vector_bytes=vector_bytes(),
        fastmath=feedback.fastmath,
        erratic=feedback.erratic_branches(),
        steady=feedback.steady_branches(),
    )
