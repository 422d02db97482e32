"""Rows of a few elements with gaps, which are put behind one another: what comes out is what each row gives."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.instructions import callee_of
from ljit.codegen.llvm.shared_code import PACKING, is_shared
from tests.codegen.harness import steps

SHAPES = [
    (40, 12),
    (1, 1),
    (600, 1),
    (513, 2),
    (90, 3),
    (33, 5),
    (9, 64),
    (5, 65),
    (7, 256),
    (4, 257),
    (0, 3),
]
LAYOUTS = {
    "gaps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "parts": lambda a: np.concatenate([a, a], axis=-1)[..., : a.shape[-1]],
    "the other way around": np.asfortranarray,
}


def add_in_place(a, b):
    a += b


def store(a, b):
    a[...] = a * b


def shift(a, b):
    a[:, 1:] = a[:, :-1] + b[:1]


FUNCTIONS = {
    "exp": lambda a, b: np.exp(a),
    "add": lambda a, b: a + b,
    "two results": lambda a, b: (a + b, a * b),
    "by columns": lambda a, b: a - b[:1],
    "remainder": lambda a, b: a % b,
}
STORES = {"in place": add_in_place, "store": store, "shift": shift}


def operands(shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    a = (np.arange(np.prod(shape)) % 11 + 1).astype(dtype).reshape(shape)
    return a, np.arange(1, 1 + shape[-1]).astype(dtype) % 7 + 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_short_rows_are_numpys(name, dtype, layout):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for shape in (SHAPES[0], *SHAPES):
            a, b = operands(shape, dtype)
            args = LAYOUTS[layout](a), LAYOUTS["gaps"](b)
            found, wanted = f(*args), function(*args)
            pairs = zip(found, wanted, strict=True) if name == "two results" else [(found, wanted)]
            for x, y in pairs:
                assert (x.dtype, x.shape, steps(x)) == (y.dtype, y.shape, steps(y))
                if name == "exp":
                    np.testing.assert_allclose(x, y, rtol=1e-2 if dtype == "uint8" else 1e-6)
                else:
                    np.testing.assert_array_equal(x, y)


def assert_written_over(function, shapes, dtype, view):
    """The function stores what NumPy stores, and nothing besides the elements that it is given."""
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for shape in (shapes[0], *shapes):
            a, b = operands(shape, dtype)
            found, wanted = (view(a.copy()) for _ in range(2))
            f(found, b)
            function(wanted, b)
            bases = [x if x.base is None else x.base for x in (found, wanted)]
            np.testing.assert_array_equal(*bases)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("name", STORES)
def test_short_rows_that_are_written_over(name, dtype, layout):
    assert_written_over(STORES[name], SHAPES, dtype, LAYOUTS[layout])


def test_short_rows_of_more_axes():
    f = ljit.jit(lambda a, b: a + b)
    with config.overridden(quick_runs=0):
        for shape in ((3, 40, 5), (3, 40, 5), (40, 3, 9), (2, 1, 70)):
            a, b = operands(shape, "uint8")
            for layout in LAYOUTS.values():
                np.testing.assert_array_equal(f(layout(a), b), layout(a) + b)


PLANES = [(300, 3, 3), (520, 2, 2), (1, 3, 3), (2, 4, 5), (3, 0, 2), (7, 30, 9), (2, 300, 3, 3)]
VIEWS = {
    "gaps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "parts": lambda a: np.concatenate([a, a], axis=-2)[..., : a.shape[-2], :],
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1],
    "turned": lambda a: np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2),
    "planes apart": lambda a: np.repeat(a, 3, axis=0)[::-3],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_planes_are_numpys(name, dtype, view):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for shape in (PLANES[0], *PLANES):
            a, b = operands(shape, dtype)
            args = VIEWS[view](a), b
            found, wanted = f(*args), function(*args)
            pairs = zip(found, wanted, strict=True) if name == "two results" else [(found, wanted)]
            for x, y in pairs:
                assert (x.dtype, x.shape, steps(x)) == (y.dtype, y.shape, steps(y))
                bound = 2 * np.finfo(x.dtype).eps if name == "exp" else 0  # the last bit may differ
                np.testing.assert_allclose(x, y, rtol=bound)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("name", ["in place", "store"])
def test_small_planes_that_are_written_over(name, dtype, view):
    assert_written_over(STORES[name], PLANES, dtype, VIEWS[view])


def scaled_in_place(a, b):
    a /= 1 + np.exp(-(a + b))


def of_rows_before(a, b):
    a[1:] = 1 / (1 + np.exp(-(a[:-1] + b)))


def of_elements_behind(a, b):
    a[:, :-1] = np.tanh(a[:, 1:] + b[1:])


MUCH = {
    "a function": lambda a, b: 1 / (1 + np.exp(-(a + b))),
    "a function of NumPy's": lambda a, b: np.tanh(a + b) * 2,
    "quotients": lambda a, b: np.sqrt(a * a + b) / (1 + a * b),
    "two results": lambda a, b: (np.log2(a + b), np.log2(a + b) > 1),
}
WIDTHS = (5, 1, 3, 16, 31, 32, 33, 63, 64, 100, 127, 128, 0)
LAYOUTS_OF_MUCH = {
    **LAYOUTS,
    "whole": lambda a: a,
    "rows backwards": lambda a: a[::-1].copy()[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS_OF_MUCH)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MUCH)
def test_short_rows_of_which_much_is_computed(name, dtype, layout):
    function = MUCH[name]
    f = ljit.jit(function)
    shapes = [(rows, width) for width in WIDTHS for rows in (70, 3)]
    with config.overridden(quick_runs=0):
        for shape in (shapes[0], *shapes, (4, 9, 7), (4, 9, 7), (2, 3, 5, 7), (2, 3, 5, 7)):
            a, b = operands(shape, dtype)
            args = LAYOUTS_OF_MUCH[layout](a), b
            found, wanted = f(*args), function(*args)
            pairs = zip(found, wanted, strict=True) if name == "two results" else [(found, wanted)]
            for x, y in pairs:
                assert (x.dtype, x.shape, steps(x)) == (y.dtype, y.shape, steps(y))
                # ljit's functions and NumPy's are one unit in the last place off, in different directions
                np.testing.assert_allclose(x, y, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("layout", LAYOUTS_OF_MUCH)
@pytest.mark.parametrize("function", [scaled_in_place, of_rows_before, of_elements_behind])
def test_short_rows_of_which_much_is_computed_in_place(function, layout):
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for shape in ((70, 5), (70, 5), (70, 32), (9, 100), (3, 128)):
            a, b = operands(shape, "float64")
            found, wanted = (LAYOUTS_OF_MUCH[layout](a.copy()) for _ in range(2))
            f(found, b)
            function(wanted, b)
            bases = [x if x.base is None else x.base for x in (found, wanted)]
            np.testing.assert_allclose(*bases, rtol=1e-15)  # functions, as above


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (MUCH["a function"], (np.ones((40, 7)), np.ones(7))),
        (MUCH["a function of NumPy's"], (np.ones((40, 7), "f"), np.ones(7, "f"))),
        (lambda a, b: a + b, (LAYOUTS["gaps"](operands((40, 12), "uint8")[0]), np.arange(12))),
        (lambda a, b: a + b.swapaxes(1, 2), (np.ones((40, 5, 5)), np.ones((40, 5, 5)))),
    ],
    ids=["a function", "a function of NumPy's", "gaps", "turned around"],
)
def test_rows_that_may_be_short_are_moved_together(function, args):
    f = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(*args)
    lines = f.dump_llvm(optimized=False).splitlines()
    assert any(is_shared(f"{PACKING}move", callee_of(line) or "") for line in lines)


def test_blocks_begin_at_a_line_of_the_cache():
    f = ljit.jit(lambda a: np.exp(a) + 1)
    a = LAYOUTS["gaps"](operands((40, 12), "float64")[0])
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(a)
        blocks = [line for line in f.dump_llvm().splitlines() if "alloca i8" in line]
    assert blocks
    assert all("align 64" in line for line in blocks)
