"""Arrays in every layout that a user can make, and calls of NumPy ops on them, native and plain."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ljit.ir import REGISTRY, OpDef

NAN, INF = float("nan"), float("inf")
FLOATS = [0.5, 1.0, -2.5, 3.0, 0.0, -0.0, NAN, INF, -INF, 7.25, -1.0, 2.0, 100.0, 1e-3, -6.5]
VALUES: dict[str, list[Any]] = {
    "bool": [False, True, True],
    "int8": [0, 1, -1, 3, -128, 127, 7, 2, -5],
    "int16": [0, 1, -1, 3, -(2**15), 2**15 - 1, 7, 2],
    "int32": [0, 1, -1, 3, -(2**31), 2**31 - 1, 7, 2],
    "int64": [0, 1, -1, 3, -(2**63), 2**63 - 1, 64, 2, 63],
    "uint8": [0, 1, 255, 3, 7, 128, 8, 2],
    "uint16": [0, 1, 2**16 - 1, 16, 3],
    "uint32": [0, 1, 2**32 - 1, 32, 3],
    "uint64": [0, 1, 2, 65, 2**64 - 1, 2**63],
    "float16": [*FLOATS, 6e4, 1e-7],
    "float32": [*FLOATS, 1e-40, 3e38, 1.1],
    "float64": [*FLOATS, 5e-324, 1e300, 1.1],
    "complex64": [0j, 1.5 + 2.25j, -0.5j, complex(INF, 1), complex(NAN, 0), 3, -1 - 1j],
    "complex128": [0j, 1.1 + 2.3j, -0.7j, 1e300 + 1j, complex(INF, 1), complex(1, NAN), -2],
}
DTYPES = tuple(VALUES)
ODD_DTYPES = ("longdouble", "object", "datetime64[s]", "timedelta64[s]", "longlong", "U3", "S2")


def filled(shape: tuple[int, ...], dtype: str, shift: int = 0) -> np.ndarray:
    """An array of odd values; `shift` chooses where among them to begin."""
    values = VALUES[dtype]
    count = int(np.prod(shape))
    chosen = [values[(k * (1 + shift) + 3 * shift) % len(values)] for k in range(count)]
    return np.array(chosen, dtype).reshape(shape)


# -- layouts ---------------------------------------------------------------------------------------


def strided(a: np.ndarray) -> np.ndarray:
    room = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
    part = room[..., *(slice(None, None, 2) for _ in a.shape)]
    part[...] = a
    return part


def reversed_(a: np.ndarray) -> np.ndarray:
    back = (..., *(slice(None, None, -1) for _ in a.shape))
    return np.ascontiguousarray(a[back])[back]


def inner(a: np.ndarray) -> np.ndarray:
    """The inside of a larger array: rows with gaps between them."""
    room = np.zeros(tuple(n + 2 for n in a.shape), a.dtype)
    part = room[..., *(slice(1, n + 1) for n in a.shape)]
    part[...] = a
    return part


def swapped_axes(a: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(a.swapaxes(0, -1)).swapaxes(0, -1) if a.ndim > 1 else a


def repeated(a: np.ndarray) -> np.ndarray:
    """Stride 0 along the first axis."""
    return np.broadcast_to(a[:1], a.shape) if a.ndim and a.shape[0] else a


def columns(a: np.ndarray) -> np.ndarray:
    """Stride 0 along the last axis, and writable."""
    if not a.ndim:
        return a
    return np.lib.stride_tricks.as_strided(a.copy(), a.shape, (*a.strides[:-1], 0))


def unaligned(a: np.ndarray) -> np.ndarray:
    room = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    room[...] = a
    return room


def byte_swapped(a: np.ndarray) -> np.ndarray:
    return a.astype(a.dtype.newbyteorder())


def read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


def in_a_struct(a: np.ndarray) -> np.ndarray:
    room = np.zeros(a.shape, [("pad", "u1"), ("it", a.dtype)])
    room["it"] = a
    return room["it"]


Layout = Callable[[np.ndarray], np.ndarray]
LAYOUTS: tuple[Layout, ...] = (
    np.copy, np.asfortranarray, strided, reversed_, inner, swapped_axes, repeated, read_only, unaligned, byte_swapped, in_a_struct,
)  # fmt: skip
SHAPES = ((3, 5), (4,), (2, 3, 4), (1, 5), (3, 1), (1, 1), (0, 5), (3, 0), (0,), (), (1,), (17,))


# -- calls -----------------------------------------------------------------------------------------


def expression(op: OpDef, count: int, keywords: str = "") -> tuple[str, dict[str, object]] | None:
    """Give how a user writes the op on operands ``x0``, ``x1``..., with the names it needs; None: not at all."""
    operands = [f"x{k}" for k in range(count)]
    given = ", ".join([*operands, *([keywords] if keywords else [])])
    if op.callables:
        return f"return function({given})", {"function": op.callables[0]}
    for name in op.methods:
        if name.startswith("ndarray."):
            rest = ", ".join([*operands[1:], *([keywords] if keywords else [])])
            return f"return x0.{name[8:]}({rest})", {}
    for name in op.attributes:
        if name.startswith("ndarray."):
            return f"return x0.{name[8:]}", {}
    for other in REGISTRY.values():
        if other.numpy == op.name and other.statement:
            return f"{other.statement.format(*operands)}; return x0", {}
        if other.numpy == op.name and isinstance(other.syntax, str) and other.syntax:
            return f"return {other.syntax.format(*operands)}", {}
    return None


def function_of(op: OpDef, count: int, keywords: str = "") -> Callable[..., Any] | None:
    """A function that does what the op does, as a user writes it."""
    written = expression(op, count, keywords)
    if written is None:
        return None
    text, names = written
    source = f"def f({', '.join(f'x{k}' for k in range(count))}):\n    {text}\n"
    filename = f"<{op.name} {keywords}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np, "__name__": "layouts", **names}
    exec(compile(source, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def steps(a: np.ndarray) -> Iterator[int]:
    """The strides that can be told: of axes with more than one element."""
    for size, stride in zip(a.shape, a.strides, strict=True):
        yield stride if size > 1 and a.size else 0
