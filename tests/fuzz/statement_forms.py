"""Forms of expressions of NumPy arrays, for random programs: what letters in them stand for.

`$` and a letter is an operand, `#` and a letter a word. Two blanks between forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["DISCRETE", "EXACT", "HOLE", "INEXACT", "OPERANDS", "SLICES", "WORDS", "is_number"]


def _forms(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"  |\n", text.strip()))


#: of small multiples of powers of two these are exact
EXACT = _forms("""
$A #o $X  $A #o $A  $A #o #f  #f #o $A  -$A  $S #o $S  $S * #f  $A ** 2  np.logical_not($M)  np.where($M, $X, $X)
np.where($M, $A, #f)  np.maximum($A, $X)  np.minimum($A, #f)  np.clip($A, -1, 2)  np.abs($A)  np.sign($N)  $A.T
$A[#s]  $A[#s, #s]  $3[#s, #s]  $A[#i]  $3[:, #i]  $3[#s, #i]  $A[..., #s]  $3[#i, #s]  $A[None]  $A[:, None]
$A[..., None]  $A.sum()  $A.sum(axis=#x)  $A.sum(axis=#x, keepdims=True)  $A.max(axis=#x)  $A.min()  np.prod($R[:2])
$A.cumsum(axis=#x)  np.cumsum($A)  np.sort($A, axis=#x)  np.diff($A, axis=#x)  np.diff($A)  np.roll($A, #p)
np.roll($A, #i, axis=#x)  np.roll($A, -1, axis=0)  np.flip($A)  np.flip($A, axis=#x)  $A.ravel()  $A.reshape(-1)
$A.copy()  $A.flatten()  np.transpose($A)  np.swapaxes($3, 0, -1)  $3.T[#s]  np.concatenate(($A, $A))
np.concatenate(($A, $A), axis=-1)  np.stack(($A, $A))  np.stack(($A, $A), axis=-1)  np.vstack(($A, $A))
np.hstack(($A, $A))  np.array([$S, $S, $S])  np.array([$S, #f])  np.zeros(#n)  np.zeros((#n, #n))  np.ones((#n, #n))
np.ones_like($A)  np.zeros_like($A)  np.full((#n, 2), #f)  np.full_like($A, #p)  np.arange(#n)  np.arange(#n) * #f
np.arange(#n * 2).reshape(#n, 2)  np.eye(#n)  np.linspace(0, 1, 5)  np.outer($1, $1)  $A @ $A  $2 @ $2.T  $2 @ $1
np.dot($A, $A)  np.dot($1, $1)  np.tile($A, 2)  np.tile($1, (2, 1))  np.repeat($A, 2)  np.repeat($A, 2, axis=#x)
np.pad($1, 1)  np.pad($2, 1)  np.pad($2, ((1, 0), (0, 2)))  np.pad($A, 1, mode='edge')  np.take($A, [0, 1], axis=#x)
$A[[0, -1]]  $A[np.array([1, 0, 1])]  $3[:, [1, 0]]  $A[$M]  np.squeeze($A)  np.expand_dims($A, #x)
np.broadcast_to($A, (2,) + $A.shape)  np.diag($2)  np.diag($1)  np.trace($2)  np.triu($2)  np.tril($2, #i)
np.einsum('ij->j', $2)  np.einsum('ij,ij->i', $2, $2)  np.einsum('i,j->ij', $1, $1)  np.median($R, axis=#x)
np.median($A)  np.ptp($A)  np.square($A)  np.isnan($R)  np.isfinite($A)  np.real($A)  np.conj($A)  $A.real  $A.imag
len($A)  $A.shape[0]  $A.size  float($S)  abs($S)  max($S, $S)  $S ** 2  sum($1)  $1[0]  $2[0, -1]  $A.item(0)
$A[0].sum()  np.interp($R, np.arange(4), np.arange(4) * 2.0)  np.convolve($1, $1)
np.convolve($1, [1, 2, 1], mode='same')  np.correlate($1, $1, mode='full')  np.meshgrid($1, $1)[0]
np.split($A, 1)[0]  np.rot90($2)  np.fliplr($2)  np.kron($1, $1)  np.cross($2[:, :3], $2[:, :3])  np.nansum($A)
np.nanmax($R)  np.add.reduce($A)  #u($A, $X)  #u.accumulate($1)  np.add.outer($1, $1)  np.maximum.reduce($A, axis=#x)
np.where($M)[0]  np.lib.stride_tricks.sliding_window_view($1, 2)  np.moveaxis($A, 0, -1)  np.vdot($1, $1)
np.lib.stride_tricks.sliding_window_view($1, 3).sum(axis=-1)  np.inner($A, $A)  np.tensordot($2, $2.T, axes=1)
np.trapezoid($1)  np.nan_to_num($A)  np.ravel($A)[#s]  np.atleast_2d($A)  np.column_stack(($1, $1))
$A.reshape(2, -1)  $A.reshape(-1, 1)  $A.reshape($A.shape[::-1])  $A.T.ravel()  $A.swapaxes(0, -1)[#s]
np.select([$M], [$A], #f)  np.identity(#n)  np.minimum.accumulate($A)  np.fmax($A, $X)  np.ix_([0, 1], [1, 0])[0]
$3[np.ix_([0, 1], [1, 0])]  $A.max() - $A.min()  ($A - $A.min(axis=0)) * #f  $A / 4
$A * $A.sum(axis=-1, keepdims=True)  $A[#s] + $A[#s]  $A[1:] - $A[:-1]  $3[1:, 1:] - $3[:-1, :-1]
$3[1:-1, 1:-1] + $3[:-2, 1:-1] + $3[2:, 1:-1]
""")

#: what is rounded, mostly, and need not be to the same number
INEXACT = _forms("""
$A / (np.abs($A) + 1)  np.exp(-np.abs($A))  np.sqrt(np.abs($A))  np.sin($A)  np.tanh($A)  np.log(np.abs($A) + 1)
np.cos($R)  $R.mean(axis=#x)  $A.mean()  $R.std(axis=#x)  $R.var()  np.linalg.norm($1)  np.linalg.norm($2, axis=#x)
np.percentile($R, 30)  np.hypot($R, $R)  np.arctan2($R, $R)  np.power(np.abs($A), 1.5)  np.gradient($1)
np.average($A, axis=#x)  $A - $A.mean()
""")

#: what a little more or less makes another number of: not for rounded operands
DISCRETE = _forms("""
$A // 2  $A % 3  $R // $X  $A #c $X  $A #c 0  $M #b $M  np.argmax($A, axis=#x)  np.argmin($A)  np.any($A, axis=#x)
np.argsort($A, axis=-1, kind='stable')  np.all($A)  np.count_nonzero($A)  np.nonzero($1)[0]  np.flatnonzero($A)
$A.astype(#d)  $A.astype(int)  $1[np.argsort($1, kind='stable')]  $A[$A > 0]  np.round($R, 1)  np.floor($R)
np.ceil($R)  int($S)  $S // 2  $S % 2  np.searchsorted(np.sort($1), $X)  np.array_equal($A, $A)  np.allclose($A, $A)
np.bincount(np.abs($N.ravel()).astype(np.int64) % 5)  np.unique($A)  np.digitize($R, np.array([-1.0, 0.0, 1.0]))
np.fmod($A, 3)  np.mod($A, 2)  $N & 3  $N | 1  $N ^ $N  $N << 1  $N >> 1  np.invert($N)  np.heaviside($A, 0.5)
np.cumprod(np.sign($A) * 0.5 + 1)  np.copysign(1.5, $A)
""")

HOLE = re.compile(r"([$#])(\w)")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _arrays(is_wanted: Callable[[np.ndarray], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, np.ndarray) and is_wanted(value)


#: by letter: what may stand there, and what else does if there is nothing such
OPERANDS: dict[str, tuple[Callable[[Any], bool], tuple[str, ...]]] = {
    "A": (_arrays(lambda a: True), ()),
    "1": (_arrays(lambda a: a.ndim == 1), ()),
    "2": (_arrays(lambda a: a.ndim == 2), ()),
    "3": (_arrays(lambda a: a.ndim >= 2), ()),
    "M": (_arrays(lambda a: a.dtype == bool), ()),
    "R": (_arrays(lambda a: a.dtype.kind == "f"), ()),
    "N": (_arrays(lambda a: a.dtype.kind in "iu"), ()),
    "S": (is_number, ("2", "0.5", "3", "-1.5")),
    "X": (lambda value: isinstance(value, np.ndarray) or is_number(value), ("2", "0.5", "3")),
}
SLICES = ("1:", "::2", "::-1", ":-1", "1:-1", ":2", ":3", "-2:", "::-2", "2::-1", ":", "1::2")
WORDS = {
    "i": ("0", "1", "-1", "2", "-2"),
    "p": ("1", "2", "3"),
    "x": ("0", "-1", "1"),
    "n": ("2", "3", "4", "5"),
    "s": SLICES,
    "o": ("+", "-", "*"),
    "c": ("<", ">", "<=", "==", "!="),
    "b": ("&", "|", "^"),
    "f": ("0.5", "2.0", "-1.25", "3", "0.0", "1"),
    "d": (
        *("np.float64", "np.float32", "np.int64", "float", "int", "np.int32", "bool"),
        *("np.complex128", "np.uint8"),
    ),
    "u": ("np.add", "np.multiply", "np.maximum", "np.minimum", "np.subtract"),
}
