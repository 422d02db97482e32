"""Products of vectors and matrices; of mixed dtypes by casts.

Those of floats are NumPy's inner loop, which calls its BLAS, or ljit's own where that was seen to be faster; those of
ints are ljit's own, or sums of products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.rules import both_arrays, broadcast_shapes, kinds_of, layout_like, loop_dtypes
from ljit.ops.reductions.few import vdot_of_few
from ljit.types import ANY, BOOL, INT, ArrayType, ScalarType, Type

__all__: list[str] = []

_VECTOR, _MATRIX = np.arange(3.0), np.arange(9.0).reshape(3, 3) + np.eye(3)
_FEW_PRODUCTS = 16  # for each row: of more, registers run out
_CAST_NDIM = 3  # axes of operands, whose product is in C order
_PAIRS = ((_VECTOR, _VECTOR), (_MATRIX, _VECTOR), (_MATRIX, _MATRIX))


# -- types -----------------------------------------------------------------------------------------


def _product_dtype(x: Type, y: Type) -> np.dtype | None:
    kinds = kinds_of((x, y))
    loop = loop_dtypes(np.matmul, kinds) if kinds is not None else None
    return None if loop is None else loop[-1]


def _infer_matmul(x: Type, y: Type) -> Type:
    return _infer_product(x, y, keeps_order=True)


def _infer_product(x: Type, y: Type, *, keeps_order: bool) -> Type:
    """`keeps_order`: several axes of a stack of matrices have the order that they have in the operands."""
    arrays, dtype = both_arrays(x, y), _product_dtype(x, y)
    if arrays is None or dtype is None:
        return ANY
    a, b = arrays
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if b.ndim > 1 else ()
    batch = broadcast_shapes((a.shape[:-2], b.shape[:-2]))
    inner = (a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[-1])
    if batch is None or (None not in inner and inner[0] != inner[1]):
        return ANY
    shape = batch + rows + columns
    if not shape:
        return ScalarType(dtype)
    layout = layout_like((a, b), len(shape)) if keeps_order and len(batch) > 1 else "C"
    return ArrayType(dtype, shape, layout)


def _infer_dot(x: Type, y: Type) -> Type:
    arrays = both_arrays(x, y)
    if arrays is None or (max(a.ndim for a in arrays) > 2 and arrays[1].ndim > 1):
        return ANY
    return _infer_product(x, y, keeps_order=False)


def _infer_outer(x: Type, y: Type) -> Type:
    arrays, kinds = both_arrays(x, y), kinds_of((x, y))
    loop = loop_dtypes(np.multiply, kinds) if kinds is not None else None
    return ANY if arrays is None or loop is None else ArrayType(loop[-1], (None, None))


def _outer_of(parts: Parts, a: Value, b: Value) -> Value | None:
    """The product of a column and a row."""
    if _infer_outer(a.type, b.type) == ANY or a.type.ndim != 1 or b.type.ndim != 1:  # type: ignore[attr-defined]
        return None
    column = parts.apply("np::getitem", a, parts.constant((slice(None), None)))
    row = parts.apply("np::getitem", b, parts.constant((None, slice(None))))
    return parts.apply("np::multiply", column, row)


def _infer_vdot(x: Type, y: Type) -> Type:
    dtype = _product_dtype(x, y)
    return ANY if dtype is None or both_arrays(x, y) is None else ScalarType(dtype)


def _infer_inner(x: Type, y: Type) -> Type:
    arrays = both_arrays(x, y)
    if arrays is None or max(a.ndim for a in arrays) > 2:
        return ANY
    if arrays[1].ndim == 2:
        (y,) = get_op("np::transpose").infer_types([y], {})
    return _infer_matmul(x, y)


def _inner_of(parts: Parts, x: Value, y: Value) -> Value | None:
    """The product with the vector, or with the transposed matrix."""
    if _infer_inner(x.type, y.type) == ANY:
        return None
    is_vector = y.type.ndim == 1  # type: ignore[attr-defined]
    return parts.apply("np::dot", x, y if is_vector else parts.apply("np::transpose", y))


def _vdot_of(parts: Parts, x: Value, y: Value) -> Value | None:
    """The product of vectors of real numbers."""
    dtype = _product_dtype(x.type, y.type)
    if dtype is None or dtype.kind == "c" or _infer_dot(x.type, y.type) != ScalarType(dtype):
        return None
    return parts.apply("np::dot", x, y)


# -- products that are sums --------------------------------------------------------------------------


def _sums_of(parts: Parts, x: Value, y: Value) -> Value | None:
    """The product with a vector as sums of products: of ints, and of some vectors and matrices of floats.

    NumPy's loop over ints has no vectors. A BLAS takes longer for rows of a few elements than for work, and needs what
    is computed as an array in memory, which takes longer to write and to read than the sums to compute.
    """
    arrays, dtype = both_arrays(x.type, y.type), _product_dtype(x.type, y.type)
    if arrays is None or dtype is None or any(a.dtype != dtype for a in arrays):
        return None
    a, b = arrays
    if dtype.kind in "iu" and sorted((a.ndim, b.ndim)) in ([1, 1], [1, 2]):
        return _sums_of_any(parts, x, y, dtype, is_left=b.ndim == 1)
    keeps_dtype = dtype.kind in "iu" or dtype.char in "fd"  # NumPy sums float16 up as float32
    if keeps_dtype and a.ndim > 1 and b.ndim == 2:
        return _product_by_columns(parts, x, y) or _product_by_sums(parts, x, y, dtype)
    if dtype.char not in "fd":
        return None
    if a.shape == b.shape == (None,) and (parts.is_computed(x) or parts.is_computed(y)):
        return _sums_of_any(parts, x, y, dtype, is_left=True)
    if sorted((a.ndim, b.ndim)) == [1, 2]:
        sums = _sums_of_computed(parts, x, y, dtype)
        if sums is not None:
            return sums
    # NumPy puts the rows of each matrix side by side, in whatever order those of a stack lie
    are_rows = (
        b.ndim == 1 and a.shape[0] is None and (a.ndim == 2 or (a.ndim > 2 and a.layout == "C"))
    )
    if not are_rows or a.shape[-1:] != b.shape or None in b.shape:
        return None
    return parts.apply("np::sum", parts.apply("np::multiply", x, y), axis=a.ndim - 1)


def _product_by_columns(parts: Parts, x: Value, y: Value) -> Value | None:
    """The product of many short rows, as points or colours, and a few columns: a nest with a target a column."""
    a, b = x.type, y.type
    assert isinstance(a, ArrayType)
    assert isinstance(b, ArrayType)
    terms, count = b.shape
    if terms is None or count is None or terms * count > _FEW_PRODUCTS or not terms * count:
        return None
    if a.shape[0] is not None or a.shape[-1] != terms or a.ndim > _CAST_NDIM:
        return None
    if a.ndim > 2 and a.layout != "C":
        return None
    if a.ndim > 2:
        sizes = [_size(parts, x, axis) for axis in range(a.ndim - 1)]
        rows = reduce(partial(parts.apply, "py::mul"), sizes)
        x = parts.apply("np::reshape", x, rows, parts.constant(terms))
    joined = parts.apply("np::stack", _columns_of(parts, x, y, terms, count), axis=1)
    if a.ndim == 2:
        return joined
    return parts.apply("np::reshape", joined, *sizes, parts.constant(count))


def _product_by_sums(parts: Parts, x: Value, y: Value, dtype: np.dtype) -> Value | None:
    """The product of a few rows and a few columns, as ``points.T @ points``: sums that one nest makes."""
    a, b = x.type, y.type
    assert isinstance(a, ArrayType)
    assert isinstance(b, ArrayType)
    if a.ndim > 2 or a.shape[1] is not None or b.shape[0] is not None:
        return None
    rows, columns = a.shape[0], b.shape[1]
    if rows is None or columns is None or not 0 < rows * columns <= _FEW_PRODUCTS:
        return None
    left = [_part(parts, x, row, slice(None)) for row in range(rows)]
    right = [_part(parts, y, slice(None), column) for column in range(columns)]
    made = [[_sums_of_any(parts, u, v, dtype, is_left=True) for v in right] for u in left]
    if any(total is None for row in made for total in row):
        return None
    tuples = [parts.apply("prim::TupleConstruct", *row) for row in made]  # type: ignore[arg-type]
    return parts.apply("np::array", parts.apply("prim::TupleConstruct", *tuples))


def _columns_of(parts: Parts, x: Value, y: Value, terms: int, count: int) -> Value:
    """The columns of a product, in a tuple: each the sum of so many products."""
    multiply, add = (partial(parts.apply, op) for op in ("np::multiply", "np::add"))
    given = [_part(parts, x, slice(None), k) for k in range(terms)]
    made = []
    for column in range(count):
        factors = [_part(parts, y, k, column) for k in range(terms)]
        made.append(reduce(add, map(multiply, given, factors)))
    return parts.apply("prim::TupleConstruct", *made)


def _part(parts: Parts, a: Value, *place: int | slice) -> Value:
    return parts.apply("np::getitem", a, parts.constant(place))


def _size(parts: Parts, a: Value, axis: int) -> Value:
    return parts.apply("prim::TupleIndex", parts.apply("np::shape", a), index=axis)


def _sums_of_computed(parts: Parts, x: Value, y: Value, dtype: np.dtype) -> Value | None:
    """The product of a vector and a matrix that a few instructions compute, or its transpose, as sums of products."""
    is_left = x.type.ndim == 2  # type: ignore[attr-defined]
    matrix, vector = (x, y) if is_left else (y, x)
    turned = parts.source_of("np::transpose", matrix)
    if turned is not None:
        matrix, is_left = turned, not is_left
    type_ = matrix.type
    assert isinstance(type_, ArrayType)
    if type_.layout != "C" or type_.shape[0] is not None or not parts.is_computed(matrix):
        return None
    x, y = (matrix, vector) if is_left else (vector, matrix)
    return _sums_of_any(parts, x, y, dtype, is_left=is_left)


def _sums_of_any(
    parts: Parts, x: Value, y: Value, dtype: np.dtype, *, is_left: bool
) -> Value | None:
    """Rows (or one) times a vector, if they are `is_left`, or a vector times columns; those of ints wrap."""
    if _infer_dot(x.type, y.type) == ANY:
        return None
    last = x.type.ndim - 1  # type: ignore[attr-defined]
    if x is not y:
        size, other = _size(parts, x, last), _size(parts, y, 0)
        parts.apply("np::unless", parts.constant(1.0), parts.apply("py::ne", size, other))
    if not is_left:
        x = parts.apply("np::getitem", x, parts.constant((slice(None), None)))
    products = parts.apply("np::multiply", x, y)
    return parts.apply("np::sum", products, axis=last if is_left else 0, dtype=dtype)


def _of_one_dtype(parts: Parts, x: Value, y: Value) -> tuple[Value, Value] | None:
    """Operands cast to the dtype of their product, as NumPy does it; None if there is nothing to cast."""
    arrays, dtype = both_arrays(x.type, y.type), _product_dtype(x.type, y.type)
    if arrays is None or dtype is None or dtype.kind not in "iufc":
        return None
    if all(a.dtype == dtype for a in arrays) or max(a.ndim for a in arrays) > _CAST_NDIM:
        return None
    a, b = (
        value if array.dtype == dtype else parts.apply("np::astype", value, dtype=dtype)
        for value, array in zip((x, y), arrays, strict=True)
    )
    return a, b


def _decompose(name: str) -> Callable[[Parts, Value, Value], Value | None]:
    """The rule of a product: of one dtype, and as sums where these take less time."""

    def decompose(parts: Parts, x: Value, y: Value) -> Value | None:
        same = _of_one_dtype(parts, x, y)
        return _sums_of(parts, x, y) if same is None else parts.apply(name, *same)

    return decompose


# -- native code -----------------------------------------------------------------------------------


def _can_lower(infer: Callable[[Type, Type], Type]) -> Callable[[Type, Type], bool]:
    """Whether both operands have the dtype that the product is made in, and the result is in C order."""

    def can_lower(x: Type, y: Type) -> bool:
        result, arrays = infer(x, y), both_arrays(x, y)
        if arrays is None or not isinstance(result, ScalarType | ArrayType):
            return False
        in_order = isinstance(result, ScalarType) or result.layout == "C"
        return in_order and all(a.dtype == result.dtype for a in arrays)

    return can_lower


class _Operand:
    """One side of a product: batch sizes and strides, then those of its rows and columns, 0 where it has none."""

    def __init__(self, e: Emitter, a: V, *, is_left: bool) -> None:
        sizes, strides = list(e.array_sizes(a)), list(e.array_strides(a))
        if len(sizes) == 1:
            place = 0 if is_left else 1  # where a vector has an axis of size 1
            sizes.insert(place, e.const(INT, 1))
            strides.insert(place, e.const(INT, 0))
        self.array = a
        self.batch, self.rows, self.columns = sizes[:-2], sizes[-2], sizes[-1]
        self.batch_strides, self.steps = strides[:-2], strides[-2:]


def _lower_dot(e: Emitter, x: V, y: V) -> V:
    """As NumPy does, a matrix with gaps along both axes is copied for the BLAS."""
    if x.type.dtype.kind in "fc":
        x, y = (a if a.type.layout == "C" else _with_near_elements(e, a) for a in (x, y))
    return _lower_matmul(e, x, y)


def _with_near_elements(e: Emitter, a: V) -> V:
    """The array, or a copy of a matrix that has gaps along both axes."""
    if a.type.ndim != 2:
        return a
    zero, item = (e.const(INT, n) for n in (0, a.type.dtype.itemsize))
    sizes, strides = e.array_sizes(a), e.array_strides(a)
    (rows, columns), (row, column) = sizes, strides
    is_near = e.const(BOOL, False)
    for near, far, count in ((column, row, columns), (row, column, rows)):
        is_beyond = e.compare("ge", far, e.mul(count, item))
        is_near = e.bit_or(is_near, e.bit_and(e.compare("eq", near, item), is_beyond))
    copied = [e.select(is_near, zero, rows), columns]
    dtype, seen = a.type.dtype, ArrayType(a.type.dtype, (None, None), "strided")
    copy = e.array_new(ArrayType(dtype, (None, None)), copied, None)
    source = e.array_view(a, seen, zero, copied, strides)
    e.array_assign(copy, source, lambda x: x, may_bail=False, is_apart=True)
    there, here = (
        e.array_view(x, seen, zero, sizes, steps)
        for x, steps in ((a, strides), (copy, [e.mul(columns, item), item]))
    )
    return e.select(is_near, there, here)


def _lower_matmul(e: Emitter, x: V, y: V) -> V:
    left, right = _Operand(e, x, is_left=True), _Operand(e, y, is_left=False)
    e.bail_if(e.compare("ne", left.columns, right.rows), "matrices whose sizes do not fit")
    core = [left.rows, left.columns, right.columns]
    type_ = _infer_product(x.type, y.type, keeps_order=False)
    zero = e.const(INT, 0)
    if isinstance(type_, ScalarType):
        strides = [zero, zero, zero, *left.steps, *right.steps, zero, zero]
        return e.inner_loop(
            np.matmul, [(x, zero), (y, zero)], [e.const(INT, 1), *core], strides, type_
        )
    batch = _broadcast(e, left, right)
    kept = [left.rows] * (x.type.ndim > 1) + [right.columns] * (y.type.ndim > 1)
    made = e.array_new(type_, [*batch, *kept], None)
    steps = list(e.array_strides(made))
    own = steps[len(batch) :]
    row = own[0] if x.type.ndim > 1 else zero
    column = own[-1] if y.type.ndim > 1 else zero
    all_steps = [*left.steps, *right.steps, row, column]
    _each(e, (left, right), made, batch, steps, core, all_steps)
    return made


def _broadcast(e: Emitter, left: _Operand, right: _Operand) -> list[V]:
    """Batch sizes of the result; an operand's stride becomes 0 where it is repeated."""
    one, zero = e.const(INT, 1), e.const(INT, 0)
    rank = max(len(left.batch), len(right.batch))
    for side in (left, right):
        missing = rank - len(side.batch)
        side.batch[:0] = [one] * missing
        side.batch_strides[:0] = [zero] * missing
    sizes = []
    for axis, (m, n) in enumerate(zip(left.batch, right.batch)):
        size = e.select(e.compare("eq", m, one), n, m)
        for side in (left, right):
            own = side.batch[axis]
            is_single = e.compare("eq", own, one)
            fits = e.bit_or(is_single, e.compare("eq", own, size))
            e.bail_if(e.bit_not(fits), "stacks of matrices that do not broadcast")
            stride = side.batch_strides[axis]
            side.batch_strides[axis] = e.select(is_single, zero, stride)
        sizes.append(size)
    return sizes


def _each(
    e: Emitter,
    sides: tuple[_Operand, _Operand],
    made: V,
    batch: Sequence[V],
    steps: Sequence[V],
    core: Sequence[V],
    core_steps: Sequence[V],
) -> None:
    """Run the loop for the last batch axis, within loops over the others."""
    outer = [*(side.batch_strides for side in sides), steps[: len(batch)]]
    arrays = [side.array for side in sides] + [made]
    zero = e.const(INT, 0)

    def run(offsets: Sequence[V]) -> None:
        times = batch[-1] if batch else e.const(INT, 1)
        strides = [s[-1] if batch else zero for s in outer]
        pairs = list(zip(arrays, offsets))
        all_sizes, all_steps = [times, *core], [*strides, *core_steps]
        e.products(pairs, all_sizes, all_steps)

    _in_loops(e, batch[:-1], outer, [zero] * 3, run)


def _in_loops(
    e: Emitter,
    sizes: Sequence[V],
    outer: Sequence[Sequence[V]],
    offsets: Sequence[V],
    run: Callable[[Sequence[V]], None],
) -> None:
    """Call `run` in loops over axes of these sizes, with offsets that move by the strides `outer`."""
    if not sizes:
        run(offsets)
        return

    def inside(k: V) -> None:
        moved = [e.add(offset, e.mul(k, strides[0])) for offset, strides in zip(offsets, outer)]
        _in_loops(e, sizes[1:], [strides[1:] for strides in outer], moved, run)

    e.loop(sizes[0], inside)


# -- the ops ---------------------------------------------------------------------------------------


declare_function(
    "matmul",
    "(x1, x2, /)",
    _infer_matmul,
    np.matmul,
    symbolic=True,
    lower=_lower_matmul,
    can_lower=_can_lower(_infer_matmul),
    decompose=_decompose("np::matmul"),
    takes_lists=True,
    samples=_PAIRS,
)
declare_function(
    "dot",
    "(a, b)",
    _infer_dot,
    np.dot,
    symbolic=True,
    lower=_lower_dot,
    can_lower=_can_lower(_infer_dot),
    decompose=_decompose("np::dot"),
    methods=("ndarray.dot",),
    takes_lists=True,
    samples=_PAIRS,
)
declare_function(
    "vdot",
    "(a, b, /)",
    _infer_vdot,
    np.vdot,
    decompose=_vdot_of,
    symbolic=vdot_of_few,
    takes_lists=True,
    samples=_PAIRS[:1],
)
declare_function(
    "inner",
    "(a, b, /)",
    _infer_inner,
    np.inner,
    decompose=_inner_of,
    symbolic=True,
    takes_lists=True,
    samples=_PAIRS[:1],
)
declare_function(
    "outer",
    "(a, b)",
    _infer_outer,
    np.outer,
    decompose=_outer_of,
    symbolic=True,
    takes_lists=True,
    samples=_PAIRS[:1],
)
