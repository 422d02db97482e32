"""Nodes that are no control flow: their op's own lowering, a loop nest if elementwise on arrays, or a boxed call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MethodDescriptorType
from typing import TYPE_CHECKING

from ljit.codegen.emitter import Emitter
from ljit.codegen.exits.convert import convert
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.c_api import method_of, takes_names
from ljit.errors import CodegenError
from ljit.ir import Effect, Node, OpDef, get_op
from ljit.types import ANY, INT, ArrayType, RangeType, ScalarType, Type

if TYPE_CHECKING:
    from ljit.codegen.nests.ufunc_loops import RowLoop

__all__ = ["boxed_call", "operation"]

_WITH_AXES = (ArrayType, RangeType)


def operation(e: Emitter, node: Node, operands: list[Native]) -> Sequence[Native]:
    """Emit a node that is no control flow; gives its outputs."""
    op = node.op
    e.result_types = tuple(out.type for out in node.outputs)
    e.proven = node.proven
    operands = _with_any_items(node, _as_taken(e, op, operands))
    types_ = [value.type for value in operands]
    if _has_lowering(op, types_, e.result_types, node.attrs):
        if op.elementwise and any(isinstance(t, _WITH_AXES) for t in types_):
            return _elementwise(e, node, operands)
        assert op.lower is not None
        results = op.lower(e, *operands, **node.attrs)
        return _as_sequence(results, len(node.outputs))
    if op.evaluate is None:
        msg = f"{op.name} has neither lower nor evaluate for {', '.join(map(str, types_))}"
        raise CodegenError(msg)
    return boxed_call(e, node, operands)


def _as_taken(e: Emitter, op: OpDef, operands: list[Native]) -> list[Native]:
    """The operands as the op takes them: characters as strs, mostly."""
    types_ = [value.type for value in operands]
    taken = op.operand_types(types_)
    if taken is types_:
        return operands
    pairs = zip(operands, taken, strict=True)
    return [x if x.type == t else convert(e, x, t) for x, t in pairs]


def boxed_call(e: Emitter, node: Node, operands: list[Native]) -> Sequence[Native]:
    """Let CPython run a node's op; gives its outputs."""
    function = _method_of_arrays(node, operands) or node.op.evaluate
    assert function is not None
    e.result_types = tuple(out.type for out in node.outputs)
    if node.attrs:
        function = node.op.bind(**node.attrs) if node.op.bind else partial(function, **node.attrs)
    return _as_sequence(e.call_boxed(function, operands), len(node.outputs))


def _method_of_arrays(node: Node, operands: Sequence[Native]) -> MethodDescriptorType | None:
    """The method that NumPy's function of the op looks up and calls in the end; None: there is none.

    Some take their arguments by position only.
    """
    name = node.op.array_method
    if name is None or node.op.evaluate not in node.op.callables:
        return None
    method = method_of(operands[0].type, name) if isinstance(operands[0].type, ArrayType) else None
    if method is None or (node.attrs and not takes_names(method)):
        return None
    return method


def _elementwise(e: Emitter, node: Node, operands: list[Native]) -> Sequence[Native]:
    """An elementwise op on arrays: a Map with one node."""
    from ljit.codegen.nests.mapnest import emit_map, length_of
    from ljit.codegen.nests.nest_elements import Kernel

    op = node.op
    element_op = get_op(op.element_op) if op.element_op is not None else op
    is_written = op.schema.written and isinstance(operands[0].type, ArrayType)
    into = operands[:1] if is_written else []
    if op.overwrites:
        operands = operands[1:]

    def body(elements: Sequence[Native]) -> list[Native]:
        types_ = [element.type for element in elements]
        e.result_types = element_op.infer_types(types_, node.attrs)
        assert element_op.lower is not None
        assert element_op.has_lowering(types_, node.attrs), element_op
        return list(_as_sequence(element_op.lower(e, *elements, **node.attrs), 1))

    out_types = [] if into else [out.type for out in node.outputs]
    elements = [_element_type(x.type) for x in operands]
    is_move = element_op.is_identity(elements, node.attrs)
    kernel = Kernel(
        body,
        may_leave=bool(element_op.effects_on(elements, node.attrs) & Effect.RAISE),
        length=length_of([] if is_move else [(element_op, elements)]),
        row_loop=_row_loop(element_op, operands, into),
        odd=element_op.odd_layouts(*elements),
    )
    made = emit_map(e, into, operands, out_types, kernel)
    return (into or made)[: len(node.outputs)]


def _row_loop(op: OpDef, operands: Sequence[Native], into: Sequence[Native]) -> RowLoop | None:
    """NumPy's loop for rows of the operands, if it is faster and gives what the arrays hold that take the results."""
    if op.row_loop is None:
        return None
    loop: RowLoop | None = op.row_loop(*(x.type for x in operands))
    if loop is None or any(_element_type(x.type) != ScalarType(loop[1][-1]) for x in into):
        return None
    return loop


def _element_type(type_: Type) -> Type:
    """The type of the elements of an array, or of a range; that of a number is its own."""
    if isinstance(type_, RangeType):
        return INT
    return type_.element if isinstance(type_, ArrayType) else type_


def _with_any_items(node: Node, operands: list[Native]) -> list[Native]:
    """The operands; of a node that was widened, lists that may hold anything, if that is enough."""
    op, outputs = node.op, tuple(out.type for out in node.outputs)
    types_ = [value.type for value in operands]
    if op.infer is None or outputs == op.infer_types(types_, node.attrs):
        return operands
    loose = op.types_of_any_items(types_, node.attrs)
    if loose is None or loose[1] != outputs:
        return operands
    return [Native(t, value.parts) for t, value in zip(loose[0], operands, strict=True)]


def _has_lowering(
    op: OpDef, types_: Sequence[Type], outputs: tuple[Type, ...], attrs: Mapping[str, object]
) -> bool:
    """Whether to emit `op.lower`: not for results that were widened, as the lowering bailed out."""
    if not op.has_lowering(types_, attrs):
        return False
    return op.infer is None or ANY not in outputs or ANY in op.infer_types(types_, attrs)


def _as_sequence(results: object, count: int) -> Sequence[Native]:
    if isinstance(results, Native):
        return (results,)
    if results is None:
        return ()
    assert isinstance(results, tuple | list)
    assert len(results) == count, f"{len(results)} results for {count} outputs"
    return results
