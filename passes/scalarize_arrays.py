"""Keep the elements of small arrays of known sizes in registers.

Contract: operations on arrays with at most `MAX_ELEMENTS` elements become operations on elements: what is
elementwise, writes in place, and ops that say they may be run on symbols (`OpDef.symbolic`): indexing, transposing,
stacking, sums, products. First each reads single elements (`np::element`) of its operands where it stands, and
makes its result of elements (`prim::Build`); stores are written element by element (`np::put_element`). That is
right whatever shares memory. Then `passes/containers/built_arrays.py` does away with the arrays that nobody else sees.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ljit.ir import Effect, Graph, Node, OddLayout, Value, get_op
from ljit.ir.trials import ExpansionError, evaluate_symbolically
from ljit.ops.control import BUILD, MAP
from ljit.ops.indexing.index import view_type
from ljit.passes.containers.built_arrays import dissolve_built_arrays
from ljit.passes.containers.symbols import Symbol, emit
from ljit.passes.eliminate_common_subexpression import eliminate_common_subexpression
from ljit.passes.eliminate_dead_code import eliminate_dead_code
from ljit.passes.fusion.fuse_nodes import element_inputs, element_op, element_type
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, replace_value
from ljit.sizes import is_small, small_shape
from ljit.types import ArrayType, ScalarType, TupleType, Type, is_number

__all__ = ["scalarize_arrays"]

NAME = "scalarize_arrays"


@graph_pass(NAME)
def scalarize_arrays(graph: Graph) -> bool:
    """Take small arrays apart; whether there were any."""
    if not any(is_small(out.type) for node in graph.walk() for out in node.outputs) and not any(
        is_small(param.type) for param in graph.params
    ):
        return False
    expander = _Expander()
    for node in list(graph.walk()):
        if node.block is not None and not _is_in_map(node):
            expander.visit(node)
    if not expander.changed:
        return False
    eliminate_dead_code(graph)
    dissolve_built_arrays(graph)
    eliminate_common_subexpression(graph)
    eliminate_dead_code(graph)
    return True


def _is_in_map(node: Node) -> bool:
    assert node.block is not None
    return node.block.owner is not None and node.block.owner.op is MAP


class _Expander:
    """Rewrites node by node, each in its place."""

    def __init__(self) -> None:
        self.changed = False
        #: of views: the array that they are part of, and where their elements lie in it, in C order
        self.views: dict[Value, tuple[Value, np.ndarray]] = {}

    def visit(self, node: Node) -> None:
        if not (node.op.elementwise or node.op.symbolic or node.op.schema.written):
            return
        if not _touches_small(node):
            return
        last = node.prev
        try:
            self._expand(node)
        except ExpansionError:
            _erase_between(last, node)

    def _expand(self, node: Node) -> None:
        if node.op.schema.written:
            self._expand_write(node)
        elif node.op.elementwise:
            self._finish(node, self._elementwise(node))
        elif _is_view(node):
            self._note_view(node)
        else:
            self._finish(node, self._symbolic(node))

    # -- reading -----------------------------------------------------------------------------------

    def places(self, value: Value) -> tuple[Value, np.ndarray]:
        """The array whose elements those of a small one are, and the places of these."""
        found = self.views.get(value)
        if found is None:
            shape = small_shape(value.type)
            found = value, np.arange(prod(shape)).reshape(shape)
        return found

    def _element(self, root: Value, place: int, before: Node) -> Symbol:
        assert isinstance(root.type, ArrayType)

        def read() -> Value:
            at = _at(root, place)
            types = [root.type.element]  # type: ignore[attr-defined]
            op = get_op("np::element")
            node = before.graph.create(op, [root], {"at": at}, outputs=types, like=before)
            return node.insert_before(before).output

        return Symbol(before, root.type.element, read)

    def _elements(self, value: Value, before: Node) -> np.ndarray:
        root, places = self.places(value)
        elements = np.empty(places.shape, object)
        for at, place in np.ndenumerate(places):
            elements[at] = self._element(root, int(place), before)
        return elements

    def _operand(self, value: Value, before: Node) -> object:
        """What NumPy's functions get for an operand."""
        if is_small(value.type):
            return self._elements(value, before)
        if value.is_constant:
            return value.constant
        maker = value.made_by(get_op("prim::TupleConstruct"))
        if maker is not None:
            return tuple(self._operand(item, before) for item in maker.inputs)
        if isinstance(value.type, ScalarType) or is_number(value.type):
            return Symbol(before, value.type, value)
        raise ExpansionError(str(value.type))

    # -- results -----------------------------------------------------------------------------------

    def _finish(self, node: Node, result: object) -> None:
        """Replace the node by an array made of elements, or by one element."""
        results = result if isinstance(result, tuple) else (result,)
        if len(node.outputs) != len(results):
            raise ExpansionError("another number of results")
        pairs = zip(node.outputs, results, strict=True)
        values = [self._result(node, out.type, x) for out, x in pairs]
        if not is_allowed(NAME, node):
            raise ExpansionError("not allowed")
        for out, value in zip(node.outputs, values, strict=True):
            replace_value(out, value)
        node.erase()
        self.changed = True

    def _result(self, node: Node, out: Type, result: object) -> Value:
        wraps = any(isinstance(v.type, ArrayType) for v in node.inputs)
        if isinstance(out, ScalarType):
            return _converted(result, out.dtype, node, wraps=wraps)
        return self._build(node, out, result, wraps=wraps)

    def _build(self, node: Node, out: Type, result: object, *, wraps: bool) -> Value:
        if not is_small(out) or not isinstance(result, np.ndarray):
            raise ExpansionError("no small array")
        assert isinstance(out, ArrayType)
        if result.shape != small_shape(out) or not out.writeable:
            raise ExpansionError("another shape")
        if sum(n > 1 for n in result.shape) > 1 and not self._is_in_c_order(node, out):
            raise ExpansionError("not in C order")
        elements = [_converted(x, out.dtype, node, wraps=wraps) for x in result.flat]
        made = node.create_before(BUILD, elements, {"type": _contiguous(out)}, like=node)
        made.output.name = node.output.name
        return made.output

    def _is_in_c_order(self, node: Node, out: ArrayType) -> bool:
        """Whether NumPy makes the result in C's order, which strides would show: it is asked for the same operands."""
        if out.layout == "C":
            return True
        arrays = [self.places(v) for v in node.inputs if is_small(v.type)]
        if not node.op.elementwise or any(_layout(root) != "C" for root, _ in arrays):
            return False
        if len(arrays) not in (1, 2):
            return False
        return bool(np.add(arrays[0][1], arrays[-1][1]).flags.c_contiguous)

    def _symbolic(self, node: Node) -> object:
        if node.effects & (Effect.WRITE | Effect.CALL):
            raise ExpansionError("has effects")
        operands = [self._operand(v, node) for v in node.inputs]
        if node.op.symbolic is True and isinstance(node.output.type, ArrayType | ScalarType):
            operands = [_in_dtype(x, node.output.type.dtype) for x in operands]
        return evaluate_symbolically(node.op, operands, node.attrs)

    def _elementwise(self, node: Node) -> np.ndarray:
        op = element_op(node)
        operands = [self._elementwise_operand(v, node) for v in node.inputs]
        try:
            shape = np.broadcast_shapes(*(x.shape for x in operands if isinstance(x, np.ndarray)))
        except ValueError as error:
            raise ExpansionError("shapes that do not broadcast") from error
        if not shape or not 0 < prod(shape) <= 16:
            raise ExpansionError("no small array")
        odd = op.odd_layouts(*(element_type(v.type) for v in element_inputs(node)))
        types = [v.type for v in node.inputs if isinstance(v.type, ArrayType)]
        if (OddLayout.ONE_ELEMENT in odd and prod(shape) == 1) or (
            OddLayout.BACKWARDS in odd and any(t.layout != "C" for t in types)
        ):
            raise ExpansionError("results that NumPy rounds otherwise")
        spread = [np.broadcast_to(x, shape) for x in operands]
        result = np.empty(shape, object)
        for at in np.ndindex(shape):
            values: list[Value] = [x[at].value for x in spread]  # type: ignore[attr-defined]
            result[at] = _symbol(emit(op, values, node.attrs, node), node)
        return result

    def _elementwise_operand(self, value: Value, before: Node) -> np.ndarray:
        if is_small(value.type):
            return self._elements(value, before)
        if not (isinstance(value.type, ScalarType) or is_number(value.type)):
            raise ExpansionError(str(value.type))
        made = np.empty((), object)
        made[()] = Symbol(before, value.type, value)
        return made

    # -- views -------------------------------------------------------------------------------------

    def _note_view(self, node: Node) -> None:
        """Remember what a view shows; the node stays for those who need an array."""
        base = node.inputs[0]
        if not is_small(base.type) or not is_small(node.output.type):
            raise ExpansionError("a view of many elements")
        root, places = self.places(base)
        rest = [self._operand(v, node) for v in node.inputs[1:]]
        result = evaluate_symbolically(node.op, [places, *rest], node.attrs)
        if not isinstance(result, np.ndarray) or result.shape != small_shape(node.output.type):
            raise ExpansionError("another shape")
        self.views[node.output] = root, result

    # -- writing -----------------------------------------------------------------------------------

    def _expand_write(self, node: Node) -> None:
        target, *_ = node.inputs
        if not isinstance(target.type, ArrayType) or not target.type.writeable:
            raise ExpansionError("not an array that can be written to")
        if node.op.elementwise:
            if not is_small(target.type) or node.effects & Effect.CALL:
                raise ExpansionError("a large target")
            root, places = self.places(target)
            values = self._elementwise(node)
            if values.shape != places.shape:
                raise ExpansionError("an operand is larger than the target")
            wraps = True
        else:
            if node.outputs or node.effects & Effect.CALL:
                raise ExpansionError("an unknown kind of write")
            root, places, values = self._assigned(node)
            wraps = isinstance(node.inputs[-1].type, ArrayType)
        if not is_allowed(NAME, node):
            raise ExpansionError("not allowed")
        self._put(node, root, places, values, wraps=wraps)
        if node.outputs:
            node.output.replace_all_uses_with(target)
        node.erase()
        self.changed = True

    def _assigned(self, node: Node) -> tuple[Value, np.ndarray, np.ndarray]:
        """Where a store to an element or a slice goes, and what it stores."""
        target, *index, value = node.inputs
        view = _stored_view(node)
        if view is not None and value.node is not None and _is_same_view(value.node, node):
            return (
                target,
                np.empty(0, int),
                np.empty(0, object),
            )  # ``a[i] += x`` stores what it has changed
        if is_small(target.type):
            root, places = self.places(target)
            if index:
                at = [self._operand(v, node) for v in index]
                places = evaluate_symbolically(get_op("np::getitem"), [places, *at], {})
            places = np.asarray(places)
        elif view is not None and is_small(view):
            made = node.graph.create(get_op("np::getitem"), [target, *index], like=node)
            root, places = self.places(made.insert_before(node).output)
        else:
            raise ExpansionError("a large target")
        if is_small(value.type) and _copies_sideways(self.places(value), root, places):
            raise ExpansionError("an overlap that NumPy copies in an order of its own")
        if not places.size and not isinstance(value.type, ArrayType):
            raise ExpansionError("a number that NumPy converts, though it goes nowhere")
        values = self._elementwise_operand(value, node)
        if view is None and values.ndim > places.ndim == 0:
            raise ExpansionError("NumPy puts no sequence into an element")
        while values.ndim > places.ndim and values.shape[0] == 1:
            values = values.reshape(values.shape[1:])
        try:
            return root, places, np.broadcast_to(values, places.shape)
        except ValueError as error:
            raise ExpansionError("another shape") from error

    def _put(
        self, node: Node, root: Value, places: np.ndarray, values: np.ndarray, *, wraps: bool
    ) -> None:
        """Write the elements, once all values are known: some may be read where others are written."""
        assert isinstance(root.type, ArrayType)
        dtype, known = root.type.dtype, {}
        for x in values.flat:
            if id(x) not in known:
                known[id(x)] = _converted(x, dtype, node, wraps=wraps)
        put = get_op("np::put_element")
        for place, x in zip(places.flat, values.flat, strict=True):
            attrs = {"at": _at(root, int(place))}
            node.create_before(put, [root, known[id(x)]], attrs, like=node)


# -- helpers -----------------------------------------------------------------------------------------


def _touches_small(node: Node) -> bool:
    values = (*node.inputs, *node.outputs)
    if any(is_small(v.type) for v in values):
        return True
    return any(
        is_small(item)
        for v in node.inputs
        if isinstance(v.type, TupleType)
        for item in v.type.items
    )


def _erase_between(last: Node | None, node: Node) -> None:
    """Take back what was written in front of `node`."""
    while node.prev is not last:
        assert node.prev is not None
        node.prev.erase()


def _is_view(node: Node) -> bool:
    """Whether the node gives a view of its first operand."""
    memory = Effect.READ | Effect.ALLOC | Effect.CALL
    is_array = len(node.outputs) == 1 and isinstance(node.output.type, ArrayType)
    return is_array and bool(node.inputs) and not node.effects & memory


def _at(root: Value, place: int) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(place, small_shape(root.type)))


def _symbol(value: Value, before: Node) -> Symbol:
    return Symbol(before, value.type, value)


def _converted(x: object, dtype: np.dtype, node: Node, *, wraps: bool) -> Value:
    """Give an element of a result (a symbol, or a number) as a value of the dtype."""
    if isinstance(x, Symbol):
        is_numpy = isinstance(x.type, ScalarType)
        return x.as_dtype(dtype, wraps=wraps and is_numpy).value
    if not isinstance(x, int | float | complex | np.generic):
        raise ExpansionError("an element that is no number")
    return insert_constant(dtype.type(x), node)


def _in_dtype(operand: object, dtype: np.dtype) -> object:
    """Convert the elements of an operand to the dtype of the result."""
    if not isinstance(operand, np.ndarray) or operand.dtype != object:
        return operand
    made = np.empty(operand.shape, object)
    for at, x in np.ndenumerate(operand):
        made[at] = x.as_dtype(dtype)
    return made


def _layout(root: Value) -> str:
    assert isinstance(root.type, ArrayType)
    return root.type.layout


def _contiguous(type_: ArrayType) -> Type:
    return ArrayType(type_.dtype, type_.shape)


def _stored_view(node: Node) -> Type | None:
    """The type of the view that a store fills; None if it fills an element, or places that are no view."""
    target, *index, _ = node.inputs
    if not index:
        return target.type
    view = view_type(target.type, index[0].type)
    return view if isinstance(view, ArrayType) else None


def _copies_sideways(source: tuple[Value, np.ndarray], root: Value, places: np.ndarray) -> bool:
    """Whether a vector is copied to another direction in the same array, over elements that are still to be read."""
    if source[0] is not root or places.ndim != 1 or source[1].ndim != 1:
        return False
    steps = {tuple(np.diff(x)) for x in (places, source[1])}
    return len(steps) > 1 and bool(np.intersect1d(places, source[1]).size)


def _is_same_view(maker: Node, store: Node) -> bool:
    """Whether a stored array is the very view that the store fills."""
    is_item = maker.op.reads_part and len(store.inputs) == 3
    is_view = is_item and not maker.effects & Effect.ALLOC  # a mask makes a copy
    return is_view and maker.inputs == store.inputs[:2]
