"""eye, diag, triangles, repeat, tile, pad, meshgrid and linspace give NumPy's values, types, shapes, strides and errors."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from tests.ops.test_numpy_manipulation import assert_same, outcome


def unit_matrices(a, n):
    return (
        np.eye(n),
        np.eye(n, n + 2, 1),
        np.eye(n + 1, n, k=-2, dtype=a.dtype),
        np.identity(n),
        np.eye(2, 3, n),
    )


def matrices_of_ones(a, n):
    return (
        np.tri(n),
        np.tri(n, 5),
        np.tri(n, n, -1, dtype=np.int32),
        np.tri(n, k=n),
        np.tri(2, 3, -n),
    )


def triangles(a, n):
    return np.triu(a), np.tril(a), np.triu(a, 1), np.tril(a, -2), np.tril(a, n), np.triu(a, k=-n)


def diagonal_matrices(a, n):
    return np.diag(a[0]), np.diag(a[:, 0], 2), np.diag(a[0], -1), np.diag(a), np.diag(a, k=1)


def repeated(a, n):
    return (
        np.repeat(a, n),
        a.repeat(3),
        np.repeat(a, 2, axis=0),
        np.repeat(a, n, axis=-1),
        np.repeat(a, 20, 0),
    )


def tiled(a, n):
    return (
        np.tile(a, 2),
        np.tile(a, (n, 2)),
        np.tile(a[0], n + 2),
        np.tile(a[0], (2, 1)),
        np.tile(a, (n, 0)),
    )


def tiled_once(a, n):
    return np.tile(a, 1), np.tile(a, (1, 1))


def padded(a, n):
    return (
        np.pad(a, 1),
        np.pad(a, ((1, n), (0, 2))),
        np.pad(a[0], (n, 2)),
        np.pad(a, (n, 1)),
        np.pad(a, ((n, 2),)),
        np.pad(a, ((n, 1), (0, 0))),
        np.pad(a, ((0, 0), (2, n))),
    )


def padded_cubes(a, n):
    cube = np.ascontiguousarray(a).reshape((2, -1, a.shape[-1]))
    return (
        np.pad(cube, ((1, n), (2, 1), (0, 0))),
        np.pad(cube, ((0, 1), (n, 1), (n * 0, 0))),
        np.pad(cube, ((n, 1), (0, 0), (0, 0)), constant_values=1),
        np.pad(cube, ((0, 0), (1, n), (2, 0))),
    )


def padded_with_other_numbers(a, n):
    return (
        np.pad(a, 2, constant_values=1),
        np.pad(a, 1, "constant", constant_values=2.5),
        np.pad(a, n, mode="edge"),
        np.pad(a, 1, "constant", constant_values=-7),
    )


def padded_by_less_than_nothing(a, n):
    return np.pad(a, n - 99)


def repeated_less_than_never(a, n):
    return np.repeat(a, n - 99)


def unit_matrix_of_negative_size(a, n):
    return np.eye(n - 99)


def grids(a, n):
    x, y = np.meshgrid(a[0], a[:, 0])
    p, q = np.meshgrid(a[0], np.arange(n), indexing="ij")
    return x, y, p, q, x * 2 + y


def evenly_spaced(a, n):
    return (
        np.linspace(0.0, 1.0, n),
        np.linspace(n, -2, 7),
        np.linspace(0.1, 3, n, endpoint=False),
        np.linspace(1.5, 1.5, n + 3),
        np.linspace(-1.0, n),
        np.linspace(0, 1, n, dtype=np.float32),
        np.linspace(2.0, 3.0, n * 0 + 1),
        np.linspace(2.0, 3.0, n * 0),
        np.linspace(0.0, np.inf, 3),
        np.linspace(0.0, 5e-324, n + 10),
        np.linspace(np.float64(1) / 3, 7.1, 1000),
    )


FUNCTIONS = [unit_matrices, matrices_of_ones, triangles, diagonal_matrices, repeated, tiled, tiled_once, padded, padded_cubes,
             padded_with_other_numbers, padded_by_less_than_nothing, repeated_less_than_never,
             unit_matrix_of_negative_size, grids, evenly_spaced]  # fmt: skip
LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, ::-3],
    "one row": lambda a: a[:1],
    "empty": lambda a: a[:, :0],
    "cube": lambda a: a.reshape(2, 6, 20),
}
MATRIX = np.random.default_rng(0).normal(size=(12, 20)) * 10
CASES = [(np.float64, layout) for layout in LAYOUTS]
CASES += [(t, "contiguous") for t in (np.float16, np.complex64, np.int8, np.uint64, np.bool_)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("dtype", "layout"), CASES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_patterns_are_numpy_s(function, dtype, layout):
    operand = LAYOUTS[layout](MATRIX.astype(dtype))
    compiled = ljit.jit(function)
    for n in (3, 3, 3, 1, 0, 8):
        wanted = outcome(lambda a, n=n: function(a, n), operand)
        found = outcome(lambda a, n=n: compiled(a, n), operand)
        assert_same(found, wanted, with_base=function is not evenly_spaced)


def distance_from_the_origin(x, y):
    p, q = np.meshgrid(x, y)
    return np.sqrt(p * p + q * q)


def test_what_is_computed_on_a_grid_needs_no_grid():
    compiled, x = ljit.jit(distance_from_the_origin), np.linspace(-1.0, 1.0, 50)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x, x[:20]), distance_from_the_origin(x, x[:20]))
    graph = str(compiled.graph_for(x, x))
    assert graph.count("prim::Map") == 1
    assert "meshgrid" not in graph


def test_none_of_it_calls_numpy():
    operand = MATRIX.copy()
    for function in (
        unit_matrices,
        matrices_of_ones,
        triangles,
        diagonal_matrices,
        repeated,
        tiled,
        padded,
        grids,
    ):
        compiled = ljit.jit(function)
        for _ in range(2):
            compiled(operand, 3)
        assert "calls Python: np" not in compiled.explain(), function.__name__
