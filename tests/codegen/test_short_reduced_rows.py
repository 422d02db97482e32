"""Short rows of which much is computed and then combined: some are done together, what comes out is what each gives."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config

SHAPES = [
    (40, 7),
    (600, 1),
    (513, 2),
    (90, 3),
    (3, 5),
    (4, 9),
    (9, 64),
    (5, 129),
    (7, 256),
    (4, 257),
    (0, 3),
]
LAYOUTS = {
    "dense": lambda a: a,
    "gaps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "parts": lambda a: np.concatenate([a, a], axis=-1)[..., : a.shape[-1]],
    "the other way around": np.asfortranarray,
    "repeated": lambda a: np.broadcast_to(a[:1], a.shape),
}
#: of complex numbers that are multiples of 3 + 4j, whose sums are exact in any order
OF_COMPLEX = {
    "rows": lambda a, b: np.abs(a).sum(axis=1),
    "columns": lambda a, b: np.abs(a).sum(axis=0),
    "all": lambda a, b: (np.abs(a) * b.real).sum(),
    "beside a row": lambda a, b: (np.abs(a) + np.abs(b[:1])).max(axis=1),
    "beside a column": lambda a, b: (np.abs(a) - np.abs(b[:, :1])).min(axis=0),
    "kept axis": lambda a, b: (np.abs(a) * np.abs(b)).sum(axis=-1, keepdims=True),
    "two results": lambda a, b: (np.abs(a - b).sum(axis=0), np.abs(a - b).max(axis=0)),
}
OF_INTS = {
    "rows": lambda a, b: (a // 3 * b % 7).sum(axis=1),
    "columns": lambda a, b: (a // 3 * b % 7).max(axis=0),
    "all": lambda a, b: (a // 3 * b % 7).sum(),
    "one is less": lambda a, b: (a // 3 < b % 7).any(axis=1),
    "all are less": lambda a, b: (a // 3 * b < b % 7).all(axis=0),
}
OF_FLOATS = {
    "rows": lambda a, b: np.exp(a - b).sum(axis=1),
    "columns": lambda a, b: np.exp(a - b).prod(axis=0),
    "all": lambda a, b: (np.sin(a) * b).sum(),
    "in stages": lambda a, b: np.tanh(a - b).max(axis=1),
    "columns in stages": lambda a, b: (np.tanh(a) * b).sum(axis=0),
    "casts": lambda a, b: (np.exp(a - b) * 9).astype(np.int64).sum(axis=1),
    "casts of all": lambda a, b: (np.exp(a - b) * 9).astype(np.int32).max(),
}


def operands(shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    a = (np.arange(np.prod(shape)) % 11 + 1).astype(dtype).reshape(shape)
    b = np.ascontiguousarray(a[::-1]) % 5 + 1 if np.dtype(dtype).kind != "c" else a[::-1] * 2
    return (a * (3 + 4j), b * (3 + 4j)) if np.dtype(dtype).kind == "c" else (a, b)


def assert_numpys(function, shapes, dtype, layout, *, is_exact):
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for shape in (shapes[0], *shapes):
            a, b = operands(shape, dtype)
            for args in ((layout(a), layout(b)), (layout(a), b)):
                try:
                    wanted = function(*args)
                except ValueError:  # no elements
                    with pytest.raises(ValueError, match="zero-size"):
                        f(*args)
                    continue
                found = f(*args)
                pairs = (
                    zip(found, wanted, strict=True)
                    if isinstance(wanted, tuple)
                    else [(found, wanted)]
                )
                for x, y in pairs:
                    assert (x.dtype, x.shape) == (y.dtype, y.shape)
                    if is_exact:
                        np.testing.assert_array_equal(x, y)
                    else:
                        np.testing.assert_allclose(x, y, rtol=1e-12 if dtype == "float64" else 1e-4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OF_COMPLEX)
def test_complex_numbers(name, layout):
    assert_numpys(OF_COMPLEX[name], SHAPES, "complex128", LAYOUTS[layout], is_exact=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
@pytest.mark.parametrize("name", OF_INTS)
def test_ints(name, dtype, layout):
    assert_numpys(OF_INTS[name], SHAPES, dtype, LAYOUTS[layout], is_exact=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OF_FLOATS)
def test_floats(name, dtype, layout):
    assert_numpys(OF_FLOATS[name], SHAPES, dtype, LAYOUTS[layout], is_exact=False)


def test_rows_of_planes():
    function = lambda a, b: (np.abs(a) + b.real).sum(axis=(0, 2))  # noqa: E731
    shapes = [(3, 40, 5), (40, 3, 9), (2, 1, 70), (5, 6, 1)]
    for layout in LAYOUTS.values():
        assert_numpys(function, shapes, "complex128", layout, is_exact=True)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_what_is_computed_of_short_rows_is_kept_in_lines_of_the_cache(axis):
    f = ljit.jit(lambda a: np.abs(a).sum(axis=axis))
    a, _ = operands((40, 7), "complex128")
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(a)
        kept = [line for line in f.dump_llvm().splitlines() if "alloca i8" in line]
    assert bool(kept) == (axis is not None)  # all is one row
    assert all("align 64" in line for line in kept)
