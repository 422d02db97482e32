"""Random calls of NumPy's functions and methods, as statements of small functions, and odd operands for them.

In a form single letters stand for operands: parameters of the function, or literals. What kind of operand a letter
stands for, `_ARRAYS` and `_LITERALS` say: arrays of any dtype and layout, and much that is none. Most calls fit, many
raise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.ops.layouts import LAYOUTS

__all__ = ["random_call"]

# each word in braces is a kind of names, each of which makes a form of its own
_NAMES = {
    "unary": "negative absolute sign rint floor sqrt square reciprocal exp log1p isnan logical_not invert conjugate",
    "binary": "add subtract multiply divide floor_divide remainder power arctan2 maximum fmin copysign bitwise_and"
    " left_shift logical_or equal less gcd divmod matmul",
    "folded": "add multiply maximum logical_and bitwise_or",
    "reduced": "sum prod mean std max min any all ptp argmax nansum nanmean nanmax cumsum median count_nonzero average",
    "total": "sum prod mean std max any",
    "typed": "sum mean var cumsum",
    "made": "zeros ones",
    "operator": "+ - * / // % ** @ & << == <",
    "changing": "+ - * / // % ** @ & <<",
    "index": "i|i, j|e|i, e|e, e|h|i:j|::-1|...|i, None|i, ...|()|a > 0|[0, 1]|:, 0, None|slice(i, j)",
}

#: two blanks between forms
_FORMS = """
np.{unary}(a)  np.{unary}(x)  np.{unary}(a, out=b)  np.{unary}(a, dtype=d)  np.{unary}(a, b, where=h); return b
np.{binary}(a, b)  np.{binary}(a, x)  np.{binary}(x, y)  np.{binary}(a, b, out=c)  np.{binary}(a, b, dtype=d)
np.{folded}.reduce(a, axis=k)  np.{folded}.reduce(a, k, d)  np.{folded}.reduce(a, axis=k, keepdims=p, initial=x)
np.{folded}.accumulate(a, axis=i)  np.{folded}.outer(a, b)  np.{folded}.reduceat(a, e)  np.{folded}.at(a, e, x); return a
np.{reduced}(a)  np.{reduced}(a, axis=k)  np.{reduced}(a, k, out=b)  np.{reduced}([x, y, 1])
np.{total}(a, axis=k, keepdims=p)  np.{total}(a, axis=k, where=h)  a.{total}(axis=k, keepdims=True)
np.{typed}(a, axis=k, dtype=d)  a.{typed}(k)  np.sum(a, where=h, initial=x)  a.max(k, initial=x, where=h)
np.{made}(s)  np.{made}(s, d)  np.{made}(s, dtype=d, order=o)  np.{made}_like(a, d, o, p, s)
a {operator} b  a {operator} x  x {operator} a  a {changing}= b; return a  a[1:] {changing}= x; return a
a[{index}]  a[{index}] = x; return a  a[{index}] = b; return a  a[{index}] + 1  a[{index}] += x; return a
np.full(s, a, dtype=d)  np.full(s, x)  np.full(s, x, d, order=o)  np.full_like(a, x)  np.full_like(a, b, dtype=d)
np.full_like(a, x, shape=s)  np.empty(s, d, o).strides  np.arange(x)  np.arange(i, j, x)  np.arange(x, y, dtype=d)
np.linspace(x, y, i)  np.linspace(x, y, num=i, endpoint=p)  np.linspace(a, x, 4, axis=k)  np.eye(i, j, k=i)
np.eye(3, dtype=d, order=o)  np.identity(i)  np.diag(a, i)  np.tri(i, j, i, d)  np.tril(a, k=i)  np.vander(v, i, p)
np.diagonal(a, i, k, i)  np.trace(a, i)  np.array(a, d)  np.array(a, copy=p, ndmin=i)  np.array([a, b])
np.array([x, y], d)  np.array([[x, y], [1, 2]])  np.array([a.sum(), x])  np.asarray(a, dtype=d, order=o)
np.ascontiguousarray(a)  np.copy(a, order=o)  a.copy(o)  np.fromiter(v, d)  np.meshgrid(v, w, indexing='ij')
np.meshgrid(v, w, sparse=p)  np.r_[v, w]  np.ix_(e, e)  np.reshape(a, s, order=o)  a.reshape(i, j)  a.reshape(s)
np.ravel(a, o)  a.flatten(o)  a.T  a.mT  a.transpose(i, j)  np.transpose(a, k)  np.swapaxes(a, i, j)
np.moveaxis(a, i, j)  np.squeeze(a, k)  np.expand_dims(a, k)  np.atleast_2d(a)  np.broadcast_to(a, s)
np.broadcast_arrays(a, b)  np.concatenate((a, b), k)  np.concatenate((v, w), dtype=d)  np.concatenate((v, [x]))
np.stack((a, b), axis=i)  np.hstack((a, b))  np.vstack((a, b))  np.column_stack((a, b))  np.block([[m, q], [q, m]])
np.append(a, b, axis=k)  np.insert(v, e, w)  np.delete(a, i, axis=k)  np.split(a, i)  np.array_split(a, 2, axis=k)
np.tile(a, s)  np.repeat(a, i, axis=k)  np.repeat(v, e)  np.roll(a, i, axis=k)  np.flip(a, k)  np.rot90(a, i)
np.pad(v, (1, 2), constant_values=x)  np.pad(a, 1, mode='edge')  np.resize(a, s)  np.where(h, a, b)  np.where(h, x, y)
np.where(a > 0, a, x)  np.choose(e, (a, b))  np.select([h, a > 0], [a, b], default=y)  np.take(a, e, axis=k)
np.take(a, e, mode='clip')  a.take(e, k)  np.put(a, e, x); return a  a.fill(x); return a
np.putmask(a, h, x); return a  np.copyto(a, b); return a  np.copyto(a, x, where=h); return a
np.fill_diagonal(m, x); return m  np.compress(h, a, axis=k)  np.extract(h, a)  np.nonzero(a)  np.argwhere(a)
np.searchsorted(v, w, side='right')  np.digitize(a, v, right=p)  np.interp(a, v, w)  np.clip(a, x, y)
np.clip(a, b, c)  a.clip(x, out=b)  np.nan_to_num(a, nan=x)  np.isclose(a, b)  np.allclose(a, x, atol=5)
np.array_equal(a, b)  np.isin(a, b)  np.unique(a, return_counts=True)  np.sort(a, axis=k)  a.sort(k); return a
np.argsort(a, axis=k, kind='stable')  np.diff(a, n=i, axis=k)  np.diff(a, prepend=x)  np.gradient(v, x)
np.gradient(a, axis=k)  np.trapezoid(v, w)  np.cross(a, b)  np.dot(a, b)  np.dot(m, q, out=t)  np.vdot(a, b)
np.inner(a, b)  np.outer(a, b)  np.kron(a, b)  np.tensordot(a, b, axes=i)  np.einsum('ij,jk->ik', m, q)
np.einsum('ij,ij->i', m, q)  m @ q  m @ v  np.convolve(v, w, 'same')  np.correlate(v, w)  np.histogram(v, 4, (0, 3))
np.histogram(v, bins=w)  np.bincount(e, v, i)  np.cov(a, rowvar=p)  np.corrcoef(v, w)  np.polyval(v, a)  np.unwrap(v)
np.angle(a, deg=p)  np.real(a)  a.imag  np.round(a, i)  a.round(decimals=i, out=b)  np.sinc(a)  np.packbits(h)
np.unravel_index(e, (3, 4))  np.tril_indices(i)  np.linalg.norm(a, axis=k)  np.linalg.norm(v, ord=1)
np.linalg.norm(a, None, k, p)  np.linalg.det(m)  np.linalg.solve(m, v)  np.linalg.matrix_power(m, i)  np.fft.fft(v)
np.fft.fftshift(a, k)  np.hamming(i)  a.astype(d)  a.astype(d, o, copy=p)  a.view(d)  a.item(i)  a.tolist()
a.flat[i] = x; return a  a.real = x; return a  a.shape = s; return a  len(a)  float(a)  int(a)  abs(a)  x in a
divmod(a, x)  round(x, i)  sum(a, x)  max(a)  min(x, y, i)  sorted(v)  list(zip(v, w))  x + y  x // y  x ** y  x % y
np.float32(x)  np.int8(a)  np.float16(x) * y  np.result_type(a, x)  np.ndim(x)  np.size(a, i)  del a[i]; return a
np.einsum('ij->j', m, optimize=p)  np.add.reduceat(v, e, axis=k)  np.round(a, x)  np.allclose(a, b, rtol=x)
np.average(a, weights=b, axis=k)  np.quantile(a, 0.25, axis=k)  np.std(a, axis=k, ddof=i)  np.percentile(v, w)
"""

_DTYPES = ("f8",) * 4 + ("i8", "i8", "f4", "?", "u1", "i4", "c16", "f2", "u8", "i2", "c8")
_SHAPES = (
    (3,),
    (3, 3),
    (3,),
    (3, 3),
    (4,),
    (4, 3),
    (2, 3),
    (17,),
    (2, 3, 3),
    (),
    (0,),
    (1,),
    (0, 3),
    (3, 1),
    (1, 3),
    (40,),
)
_VECTORS, _MATRICES = (
    ((3,), (4,), (3,), (17,), (0,), (1,)),
    ((3, 3), (3, 3), (2, 2), (2, 3), (0, 0), (3,)),
)
_INDICES = (
    "np.array([0, 2, 1])", "[0, 1]", "np.array([0, -1])", "np.array([], int)", "np.array([[0, 1], [2, 0]])", "2", "-1",
    "np.array([5])", "np.array([1.0])", "np.array([True, False, True])", "slice(None)", "None", "np.array([2, 1, 0])[::-1]",
    "np.array([0, 1], 'u1')", "np.array([0, 2], '>i8')", "(0, 1)", "np.int32(1)",
)  # fmt: skip

#: letters for arrays: their shapes and dtypes
_ARRAYS = {
    **dict.fromkeys("abc", (_SHAPES, _DTYPES)),
    "t": (_SHAPES, ("f8", "f8", "f4", "i8", "c16")),
    **dict.fromkeys("vw", (_VECTORS, _DTYPES)),
    **dict.fromkeys("mq", (_MATRICES, ("f8", "f8", "f4", "c16", "i8", "?"))),
    "h": (_SHAPES, ("?",)),
}
_NUMBERS = (
    "0", "1", "2.5", "-1.5", "3", "-0.0", "float('nan')", "float('inf')", "True", "1 + 2j", "np.float32(1.5)", "np.int8(3)",
    "np.float64(2)", "np.array(2.0)", "np.bool_(1)", "None", "'a'", "2**70", "300", "-1",
)  # fmt: skip
_WHOLE = (
    "0",
    "1",
    "2",
    "-1",
    "3",
    "np.int64(1)",
    "-2",
    "True",
    "np.uint8(2)",
    "np.array(1)",
    "None",
    "1.0",
    "2**63",
    "5",
)

#: letters for other operands, the usual ones first
_LITERALS = {
    "e": _INDICES,
    **dict.fromkeys("ij", _WHOLE),
    **dict.fromkeys("xy", _NUMBERS),
    "k": ("0", "1", "-1", "None", "(0, 1)", "2", "()", "(0,)", "np.int64(0)", "-3", "True", "1.0", "(0, 0)", "[0, 1]"),
    "s": ("3", "(2, 3)", "(3,)", "()", "(0, 3)", "-1", "[2, 2]", "(np.int64(2), 3)", "(3, -1)", "2.0", "None", "(3, 3)"),
    "d": (
        "float", "np.float32", "int", "'f4'", "bool", "None", "object", "np.dtype('i2')", "'>f8'", "complex", "'U4'", "np.uint8",
        "[('a', 'f8')]", "'m8[s]'", "np.float16", "'nonsense'",
    ),
    "o": ("'C'", "'F'", "'K'", "'A'", "None", "'x'"),
    "p": ("True", "False", "1", "np.True_", "None"),
}  # fmt: skip
_OPERAND = re.compile(rf"(?<![\w.'])([{''.join(_ARRAYS)}{''.join(_LITERALS)}])(?![\w'(=])")


def _forms() -> Iterator[str]:
    """The forms, with each name in the place of its kind."""
    for form in re.split(r"  +|\n", _FORMS.strip()):
        kind = re.search(r"{(\w+)}", form)
        if kind is None:
            yield form
            continue
        names = _NAMES[kind[1]]
        for name in names.split("|" if "|" in names else None):
            yield form.replace(kind[0], name)


_ALL = tuple(_forms())


class _Odd(np.ndarray):
    """A class of arrays of its own."""


_RARE: tuple[Callable[[np.ndarray], object], ...] = (
    np.ndarray.tolist,
    lambda a: tuple(a.tolist()) if a.ndim else a.item(),
    lambda a: a.view(_Odd),
    lambda a: np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) % 3 == 0),
    lambda a: a.astype(object),
    lambda a: a.astype(np.result_type(a, np.longdouble)),
    lambda a: a.view(np.matrix) if a.ndim <= 2 else a,
    lambda a: a.reshape(-1)[0] if a.size else None,
    lambda a: a.reshape(-1)[0].item() if a.size else None,
    lambda a: [a, a],
    lambda a: np.rec.fromarrays([a, a]),
    lambda a: range(5),
)


def _array(
    chosen: random.Random, shapes: tuple[tuple[int, ...], ...], dtypes: tuple[str, ...]
) -> Any:
    """Small quarters, whose sums and products are exact, in any layout; now and then something else than an array."""
    shape = chosen.choice(shapes)
    values = [chosen.randint(-20, 20) / 4 for _ in range(int(np.prod(shape)))]
    dtype = np.dtype(chosen.choice(dtypes))
    if dtype.kind in "iu":
        values = [abs(int(x)) for x in values]
    if values and dtype.kind == "f" and chosen.random() < 0.3:
        values[chosen.randrange(len(values))] = chosen.choice((np.nan, np.inf, -np.inf, -0.0, 0.0))
    array = np.array(values).astype(dtype).reshape(shape)
    kind = chosen.random()
    if kind < 0.5:
        return array
    return chosen.choice(LAYOUTS if kind < 0.85 else _RARE)(array)


def _operand(letter: str, chosen: random.Random) -> Any:
    if letter in _ARRAYS:
        return _array(chosen, *_ARRAYS[letter])
    return eval(_literal(letter, chosen), {"np": np})


def _literal(letter: str, chosen: random.Random) -> str:
    literals = _LITERALS[letter]
    return chosen.choice(literals if chosen.random() < 0.5 else literals[:5])


def random_call(number: int) -> tuple[str, Callable[[], tuple[Any, ...]]]:
    """Give the text of a function, and what makes its arguments, the same ones for each call.

    Numbers in a row go through all forms.
    """
    chosen = random.Random(number)
    letters: dict[str, str] = {}

    def written(found: re.Match[str]) -> str:
        letter = found[1]
        if letter in _LITERALS and chosen.random() < 0.5:
            return _literal(letter, chosen)
        letters.setdefault(letter, f"{number} {letter}")
        return letter

    form = _ALL[number % len(_ALL)]
    statement, _, result = _OPERAND.sub(written, form).partition("; ")
    lines = [statement, result] if result else [f"return {statement}"]
    if not result and chosen.random() < 0.3:
        lines = ["z = 0", "for g in range(3):", f"    z = {statement}", "return z, g"]
    text = f"def f({', '.join(letters)}):\n" + "".join(f"    {line}\n" for line in lines)
    return text, lambda: tuple(_operand(x, random.Random(s)) for x, s in letters.items())
