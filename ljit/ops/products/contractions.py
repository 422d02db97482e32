"""``einsum``, ``tensordot``, ``outer``, ``kron`` and ``trace`` as products, sums and views of operands.

A contraction is a matrix product where it has the form of one, else a product of views that is summed as it is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function, is_flag
from ljit.records import Record
from ljit.types import ANY, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_MATRIX = np.arange(9.0).reshape(3, 3) + np.eye(3)
_VECTOR = np.arange(3.0)
_DTYPES = frozenset(map(np.dtype, "fdFDbBhHiIlL"))
_FULL = slice(None)


class _Term(Record):
    """An array with a label for each axis."""

    value: Value
    labels: str


# -- what is asked for -------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _subscripts(text: str) -> tuple[tuple[str, ...], str] | None:
    """Labels of the operands and of the result; None for what is not letters only."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = tuple(inputs.split(","))
    letters = "".join(terms)
    if not (letters + output).isalpha() and (letters + output):
        return None
    if not letters.isascii() or not all(terms):
        return None
    if not arrow:
        output = "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    if len(set(output)) < len(output) or not set(output) <= set(letters):
        return None
    return None if any(len(set(t)) < len(t) for t in terms) else (terms, output)


@lru_cache(maxsize=256)
def _is_ordered(text: str, optimize: object) -> bool:
    """Whether of operands in C order the result is an array of its own in C order, or a scalar: NumPy is asked."""
    found = _subscripts(text)
    assert found is not None
    sizes = {label: 2 + i for i, label in enumerate(sorted(set("".join(found[0]))))}
    trial = [np.zeros([sizes[x] for x in term], np.int8) for term in found[0]]
    if math.prod(sizes.values()) > 2**16:
        return False
    result = np.einsum(text, *trial, optimize=optimize)  # type: ignore[call-overload]
    if isinstance(result, np.generic):
        return True
    return result.ndim > 0 and result.base is None and result.flags.c_contiguous


def _known(types: Sequence[Type], subscripts: object, optimize: object) -> Type:
    """The type of the result; `Any` where it is left to NumPy."""
    found = _subscripts(subscripts) if isinstance(subscripts, str) else None
    arrays = [t for t in types if isinstance(t, ArrayType)]
    if found is None or not is_flag(optimize) or len(arrays) < len(types):
        return ANY
    terms, output = found
    if [t.ndim for t in arrays] != list(map(len, terms)) or len({t.dtype for t in arrays}) > 1:
        return ANY
    if arrays[0].dtype not in _DTYPES:
        return ANY
    if len(output) > 1 and any(t.layout != "C" for t in arrays):
        return ANY  # the order of the result follows theirs
    if len(arrays) == 1 and len(output) == len(terms[0]):
        return ANY  # a view
    if not _may_fit(arrays, terms):
        return ANY  # it raises
    assert isinstance(subscripts, str)
    if not _is_ordered(subscripts, optimize):
        return ANY
    if not output:
        return ScalarType(arrays[0].dtype)
    return ArrayType(arrays[0].dtype, (None,) * len(output))


def _may_fit(arrays: Sequence[ArrayType], terms: Sequence[str]) -> bool:
    """Whether no axes with the same label are known to differ in size."""
    sizes: dict[str, set[int]] = {}
    for array, term in zip(arrays, terms, strict=True):
        for label, size in zip(term, array.shape, strict=True):
            if size is not None and size != 1:
                sizes.setdefault(label, set()).add(size)
    return all(len(found) < 2 for found in sizes.values())


# -- einsum ------------------------------------------------------------------------------------------


def _infer_einsum(
    a: Type, b: Type = NONE, c: Type = NONE, *, subscripts: object, optimize: object = False
) -> Type:
    return _known([t for t in (a, b, c) if t != NONE], subscripts, optimize)


def _einsum(
    a: object, b: object = None, c: object = None, *, subscripts: str, optimize: object = False
) -> object:
    operands = [x for x in (a, b, c) if x is not None]
    return np.einsum(subscripts, *operands, optimize=optimize)  # type: ignore[call-overload]


def _einsum_of(
    parts: Parts,
    a: Value,
    b: Value | None = None,
    c: Value | None = None,
    *,
    subscripts: str,
    optimize: object = False,
) -> Value | None:
    operands = [x for x in (a, b, c) if x is not None and x.type != NONE]
    found = _subscripts(subscripts)
    if found is None or _known([x.type for x in operands], subscripts, optimize) == ANY:
        return None
    terms, output = found
    if not _is_feasible(terms, output):
        return None
    left, *others = [_Term(x, labels) for x, labels in zip(operands, terms, strict=True)]
    for i, right in enumerate(others):
        kept = output if i == len(others) - 1 else _needed(left, right, others[i + 1 :], output)
        left = _contracted(parts, left, right, kept)
    return left.value if others else _summed(parts, left, output).value


def _needed(left: _Term, right: _Term, others: Sequence[_Term], output: str) -> str:
    """The labels of a product of two that are asked for later, in order."""
    later = set(output).union(*(x.labels for x in others))
    both = left.labels + "".join(x for x in right.labels if x not in left.labels)
    return "".join(x for x in both if x in later)


def _is_feasible(terms: Sequence[str], output: str) -> bool:
    """Whether there is a good way for each product, and the result lies as it should."""
    labels = terms[0]
    if len(terms) == 1:
        return _is_within(output, labels)
    for i, right in enumerate(terms[1:], start=2):
        later = set(output).union(*terms[i:])
        both = labels + "".join(x for x in right if x not in labels)
        kept = output if i == len(terms) else "".join(x for x in both if x in later)
        if _plan(labels, right, kept) is None:
            return False
        labels = kept
    return True


def _is_within(part: str, whole: str) -> bool:
    """Whether the labels are in the same order there."""
    return "".join(x for x in whole if x in part) == part


@lru_cache(maxsize=256)
def _plan(left: str, right: str, output: str) -> tuple[str, str] | None:
    """How two terms become one: the order of both's axes for a matrix product, or twice the order of a nest."""
    shared = [x for x in left if x in right and x not in output]
    rows = [x for x in output if x not in right]
    columns = [x for x in output if x not in left]
    single = [
        [x for x in own if x not in other + output] for own, other in ((left, right), (right, left))
    ]
    stack = [x for x in output if x in left and x in right]
    if len(shared) == 1 and not any(single):
        if not stack and right == shared[0]:
            return f"{output}{right}", right
        if not stack and left == shared[0] and len(columns) == 1:
            return left, f"{left}{output}"
        if rows and columns:
            return _matrix_plan(left, right, output, shared[0])
    order = _merged(left, right)
    is_large = bool(shared and rows and columns) or all(single)
    if order is None or is_large or not _is_within(output, order):
        return None
    return order, order


def _matrix_plan(left: str, right: str, output: str, inner: str) -> tuple[str, str] | None:
    """Stacks of matrices: all labels of the result but the last two are the stack's."""
    batch, row, column = output[:-2], output[-2], output[-1]
    stack = "".join(x for x in batch if x in right)
    if row in right or column in left or not batch.endswith(stack):
        return None
    if any(x not in left for x in batch):
        return None
    first, second = f"{batch}{row}{inner}", f"{stack}{inner}{column}"
    if len(output) > 3 and (left[:-2] != batch or right[:-2] != stack):
        return None
    return first, second


def _merged(left: str, right: str) -> str | None:
    """All labels, in the order of both."""
    found, rest = "", right
    for label in left:
        if label in rest:
            before, _, rest = rest.partition(label)
            found += before
        elif label in right:
            return None
        found += label
    found += rest
    return found if _is_within(left, found) and len(set(found)) == len(found) else None


def _contracted(parts: Parts, left: _Term, right: _Term, output: str) -> _Term:
    plan = _plan(left.labels, right.labels, output)
    assert plan is not None
    if plan[0] != plan[1]:
        operands = [
            _ordered(parts, x, labels) for x, labels in zip((left, right), plan, strict=True)
        ]
        return _Term(parts.apply("np::matmul", *operands), output)
    factors = [_spread(parts, x, plan[0]) for x in (left, right)]
    product = parts.apply("np::multiply", *factors)
    if len(output) == len(plan[0]) and product.type.dtype.kind in "fc":  # type: ignore[attr-defined]
        zero = parts.constant(0.0)  # NumPy begins with it: -0.0 is 0.0
        product = parts.apply("np::add", product, zero)
    return _summed(parts, _Term(product, plan[0]), output)


def _ordered(parts: Parts, term: _Term, labels: str) -> Value:
    if term.labels == labels:
        return term.value
    axes = [parts.constant(term.labels.index(x)) for x in labels]
    return parts.apply("np::permute", term.value, *axes)


def _spread(parts: Parts, term: _Term, labels: str) -> Value:
    """A view with an axis for each label; of new axes, first ones need not be."""
    index = tuple(_FULL if x in term.labels else None for x in labels)
    while index and index[0] is None:
        index = index[1:]
    return (
        term.value
        if None not in index
        else parts.apply("np::getitem", term.value, parts.constant(index))
    )


def _summed(parts: Parts, term: _Term, output: str) -> _Term:
    axes = tuple(i for i, x in enumerate(term.labels) if x not in output)
    if not axes:
        return term
    assert isinstance(term.value.type, ArrayType)
    dtype = term.value.type.dtype
    attrs: dict[str, object] = {"dtype": dtype} if dtype.kind in "iu" else {}  # sums wrap
    if len(axes) < len(term.labels):
        attrs["axis"] = axes if len(axes) > 1 else axes[0]
    return _Term(parts.apply("np::sum", term.value, **attrs), output)


declare_function(
    "einsum",
    "(a, b=None, c=None, /, *, subscripts, optimize=False)",
    _infer_einsum,
    _einsum,
    callables=(np.einsum,),
    decompose=_einsum_of,
    parameters=("subscripts", "a", "b", "c", "optimize"),
)


# -- tensordot ---------------------------------------------------------------------------------------


def _contracted_axes(a: Type, b: Type, axes: object) -> int | None:
    """How many last axes of `a` meet as many first ones of `b`, if it is that; of arrays in C order."""
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType) or a.dtype != b.dtype:
        return None
    if a.dtype not in _DTYPES or "strided" in (a.layout, b.layout):
        return None
    if isinstance(axes, tuple) and len(axes) == 2:
        pairs = tuple((x,) if isinstance(x, int) else x for x in axes)
        count = len(pairs[0]) if isinstance(pairs[0], tuple) else 0
        last = tuple(range(a.ndim - count, a.ndim))
        if pairs[0] not in (last, tuple(range(-count, 0))) or pairs[1] != tuple(range(count)):
            return None
    else:
        count = axes if type(axes) is int else 0
    return count if 0 < count <= min(a.ndim, b.ndim) else None


def _infer_tensordot(a: Type, b: Type, *, axes: object = 2) -> Type:
    count = _contracted_axes(a, b, axes)
    if count is None or not isinstance(a, ArrayType) or not isinstance(b, ArrayType):
        return ANY
    return ArrayType(a.dtype, (None,) * (a.ndim + b.ndim - 2 * count))


def _tensordot_of(parts: Parts, a: Value, b: Value, *, axes: object = 2) -> Value | None:
    count = _contracted_axes(a.type, b.type, axes)
    if count is None:
        return None
    assert isinstance(a.type, ArrayType)
    rows = [_size(parts, a, i) for i in range(a.type.ndim - count)]
    columns = [_size(parts, b, i) for i in range(count, b.type.ndim)]  # type: ignore[attr-defined]
    shared = [_size(parts, b, i) for i in range(count)]
    for i, size in enumerate(shared, start=a.type.ndim - count):
        differs = parts.apply("py::ne", _size(parts, a, i), size)
        parts.apply("np::unless", parts.constant(1.0), differs)
    inner = _product(parts, shared)
    left = parts.apply("np::reshape", a, _product(parts, rows), inner)
    right = parts.apply("np::reshape", b, inner, _product(parts, columns))
    product = parts.apply("np::dot", left, right)
    return parts.apply("np::reshape", product, parts.apply("prim::TupleConstruct", *rows, *columns))


def _size(parts: Parts, a: Value, axis: int) -> Value:
    return parts.apply("prim::TupleIndex", parts.apply("np::shape", a), index=axis)


def _product(parts: Parts, sizes: Sequence[Value]) -> Value:
    if not sizes:
        return parts.constant(1)
    first, *others = sizes
    for size in others:
        first = parts.apply("py::mul", first, size)
    return first


declare_function(
    "tensordot",
    "(a, b, *, axes=2)",
    _infer_tensordot,
    np.tensordot,
    decompose=_tensordot_of,
    parameters=("a", "b", "axes"),
    samples=((_MATRIX, _MATRIX),),
)


# -- kron and trace ----------------------------------------------------------------------------------


def _infer_kron(a: Type, b: Type) -> Type:
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType) or not 1 <= a.ndim <= 2:
        return ANY
    (product,) = get_op("np::multiply").infer_types([a, b], {})
    if a.ndim != b.ndim or not isinstance(product, ArrayType) or "strided" in (a.layout, b.layout):
        return ANY
    return ArrayType(product.dtype, (None,) * a.ndim)


def _kron_of(parts: Parts, a: Value, b: Value) -> Value | None:
    if _infer_kron(a.type, b.type) == ANY:
        return None
    assert isinstance(a.type, ArrayType)
    rank = a.type.ndim
    left = parts.apply("np::getitem", a, parts.constant((_FULL, None) * rank))
    right = parts.apply("np::getitem", b, parts.constant((None, _FULL) * rank))
    sizes = [parts.apply("py::mul", _size(parts, a, i), _size(parts, b, i)) for i in range(rank)]
    return parts.apply("np::reshape", parts.apply("np::multiply", left, right), *sizes)


def _infer_trace(a: Type, *, offset: object = 0) -> Type:
    if not isinstance(a, ArrayType) or a.ndim != 2 or a.dtype == np.float16:
        return ANY
    (diagonal,) = get_op("np::diagonal").infer_types([a], {"offset": offset})
    if diagonal == ANY:
        return ANY
    return get_op("np::sum").infer_types([diagonal], {})[0]


def _trace_of(parts: Parts, a: Value, *, offset: object = 0) -> Value | None:
    if _infer_trace(a.type, offset=offset) == ANY:
        return None
    return parts.apply("np::sum", parts.apply("np::diagonal", a, offset=offset))


declare_function(
    "kron",
    "(a, b)",
    _infer_kron,
    np.kron,
    decompose=_kron_of,
    symbolic=True,
    samples=((_VECTOR, _VECTOR), (_MATRIX, _MATRIX)),
)
declare_function(
    "trace",
    "(a, *, offset=0)",
    _infer_trace,
    np.trace,
    decompose=_trace_of,
    symbolic=True,
    parameters=("a", "offset"),
    methods=("ndarray.trace",),
    samples=((_MATRIX,),),
)
