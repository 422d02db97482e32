"""Random arguments of the random array programs: sizes, dtypes, layouts and values."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

__all__ = ["PARAMETERS", "is_exact", "random_array_arguments"]

PARAMETERS = ("a", "b", "c", "u", "v", "t", "m", "i", "x", "q", "z")

_REALS = ("float64", "float64", "float64", "float32")
_INTS = ("int64", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
_ODD_FLOATS = (0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324, -1.0)
_SIZES = (3, 4, 5, 7)
_ODD_SIZES = (0, 1, 2, 8, 17, 33, 130)


def is_exact(seed: int) -> bool:
    """Whether the results of the program are defined to the bit."""
    return seed % 2 == 0


class _Arguments:
    """Draws the arguments of one call; dtypes are those of the program, mostly."""

    def __init__(self, seed: int, call: int) -> None:
        kinds = random.Random(seed if call < 6 else seed + call)
        self.exact = is_exact(seed)
        self.random = r = random.Random(1_000_003 * seed + call)
        self.odd = call >= 3 and r.random() < 0.7
        self.real, self.integer = kinds.choice(_REALS), kinds.choice(_INTS)
        self.other = kinds.choice((*_REALS, "float16", "int32") if self.exact else _REALS)
        self.complex = kinds.choice(("complex128", "complex64", "float64"))
        self.scalar = kinds.choice(("float32", "float64", "int16", "int64"))
        self.layout = kinds.random() < 0.5
        sizes = random.Random(seed)
        self.n, self.p = sizes.choice(_SIZES), sizes.choice(_SIZES)
        if self.odd:
            self.n, self.p = (
                r.choice((size, size, *_ODD_SIZES, *_SIZES)) for size in (self.n, self.p)
            )

    def values(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """Quarters, so that sums are exact; odd values now and then."""
        count = int(np.prod(shape))
        kind = np.dtype(dtype).kind
        drawn = [self.random.randint(-12, 12) / 4 for _ in range(count)]
        if kind == "f" and self.exact and self.odd:
            drawn = [
                x if self.random.random() < 0.9 else self.random.choice(_ODD_FLOATS) for x in drawn
            ]
        made = np.array(drawn).reshape(shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind in "iu":
                made = (made * 4).astype(np.int64)
                if self.odd and self.exact and count:
                    made.ravel()[:1] = min(np.iinfo(dtype).max, 2**63 - 1)
            if kind == "u":
                made = abs(made)
            return made.astype(dtype) if kind != "b" else made > 0

    def array(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """An array in one of many layouts."""
        values = self.values(shape, dtype)
        kind = self.random.randint(0, 9) if self.layout or self.odd else 0
        if kind == 1:
            return np.asfortranarray(values)
        if kind == 2 and values.ndim:
            return np.ascontiguousarray(values[::-1])[::-1]
        if kind == 3 and values.ndim:
            room = np.zeros((*shape[:-1], 2 * shape[-1]), values.dtype)
            room[..., ::2] = values
            return room[..., ::2]
        if kind == 4:
            room = np.zeros(tuple(size + 2 for size in shape), values.dtype)
            inside = room[tuple(slice(1, size + 1) for size in shape)]
            inside[...] = values
            return inside
        if kind == 5 and values.ndim > 1:
            return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2)
        if self.odd and kind == 6:
            return self._rare(values)
        return values

    def _rare(self, values: np.ndarray) -> np.ndarray:
        kind = self.random.randint(0, 4)
        if kind == 0:
            values.flags.writeable = False
        if kind == 1:
            return values.astype(values.dtype.newbyteorder())
        if kind == 2:
            room = (
                np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
            )
            room[...] = values
            return room
        if kind == 3 and values.ndim:
            return np.broadcast_to(values[:1], values.shape) if len(values) else values
        return values

    def make(self) -> tuple[Any, ...]:
        r, n, p = self.random, self.n, self.p
        a = self.array((n, p), self.real)
        b = self.array((p,), self.other)
        if self.odd and r.random() < 0.3 and a.size:
            b = a[r.randrange(n)]  # an alias
        c = self.array((n, 1), self.real)
        u = self.array((n,), self.integer)
        v = self.array((p,), self.complex) if self.exact else self.array((p,), self.real)
        t = self.array((2, n, p), self.other)
        m = self.array((n, p), "bool")
        i = r.randint(-3, 6) if not self.odd else r.choice([0, 1, -1, 100, 300, 2**40, 2**63])
        x: Any = r.randint(-8, 8) / 4
        if self.odd and self.exact:
            x = r.choice([x, *_ODD_FLOATS, 1 + 2j, np.float64(x), True])
        q = np.dtype(self.scalar).type(r.randint(-12, 12) / 4)
        z = np.array(r.randint(-12, 12) / 4).astype(self.integer)
        return a, b, c, u, v, t, m, i, x, q, z


def random_array_arguments(seed: int, call: int = 0) -> tuple[Any, ...]:
    """Give fresh arguments of the given call for the program of this seed."""
    return _Arguments(seed, call).make()
