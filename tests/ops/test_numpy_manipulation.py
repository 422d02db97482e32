"""Functions that move elements about (views, joins, splits) give NumPy's values, types, shapes, strides and errors."""

from __future__ import annotations

import numpy as np
import pytest

import ljit


def flips(a):
    return np.flip(a), np.flip(a, 0), np.flip(a, axis=-1), np.flipud(a)


def flips_of_matrices(a):
    return np.fliplr(a), np.flip(a, (0, 1)), np.rot90(a), np.rot90(a, 2), np.rot90(a, k=-1)


def new_axes(a):
    return np.expand_dims(a, 0), np.expand_dims(a, axis=-1), np.expand_dims(a, (0, -1))


def at_least(a):
    return np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a)


def squeezed(a):
    return np.squeeze(a[None]), a[..., None].squeeze(axis=-1), np.squeeze(a[None], 0)


def squeezed_of_unknown_size(a):
    return np.squeeze(a), a.squeeze(axis=0)


def squeezed_of_nothing(a):
    return np.squeeze(a)


def diagonals(a):
    return a.diagonal(), np.diagonal(a, 1), np.diagonal(a, offset=-2), a.diagonal(100)


def diagonals_of_other_axes(a):
    return np.diagonal(a, 0, -1, 0), a.diagonal(axis1=1, axis2=0) + 1


def broadcasts(a):
    return (
        np.broadcast_to(a, a.shape),
        np.broadcast_to(a, (2, *a.shape)),
        np.broadcast_to(a[:1], a.shape),
    )


def broadcast_to_another_size(a):
    return np.broadcast_to(a, 7)


def splits(a):
    x, y = np.split(a, 2)
    p, q, r = np.array_split(a, 3, axis=-1)
    return x + 1, y, p, q, r, np.split(a, 1, -1)


def split_that_is_not_equal(a):
    x, *_ = np.split(a, 7)
    return x


def joins(a):
    return np.concatenate((a, a)), np.concatenate((a, a), axis=-1), np.concatenate([a, a[1:], a])


def more_joins(a):
    return (
        np.stack((a, a)),
        np.stack([a, a], axis=-1),
        np.stack([a, a], 1),
        np.concatenate([a, a], None),
    )


def joins_by_rank(a):
    return np.hstack((a, a)), np.vstack([a, a + 1]), np.column_stack((a, a))


def joins_of_vectors_and_matrices(a):
    column, row = a[..., 0], a[0]
    return np.column_stack((a, column)), np.vstack((row, a)), np.column_stack([column, column])


def joins_of_dtypes(a):
    return np.concatenate((a, a.astype(np.float64))), np.stack([a.astype(bool), a], axis=-1)


def joins_of_lists(a):
    return (
        np.concatenate(([0.0], a, [1, 2])),
        np.append(a, 2.5),
        np.append(a, [a[0]]),
        np.hstack(([1], a)),
    )


def joins_that_differ_in_size(a):
    return np.concatenate((a, a[:, 1:]))


def stacks_that_differ_in_size(a):
    return np.stack((a, a[1:]))


def joins_of_other_ranks(a):
    return np.concatenate((a, a[0]))


def arrays_of_arrays(a):
    return (
        np.array([a, a + 1]),
        np.asarray((a, a)),
        np.array([a, a], dtype=np.complex128),
        np.array([a * 2]),
    )


def array_of_arrays_that_differ_in_size(a):
    return np.array([a, a[1:]])


def both_parts_of_quotients(a):
    return *divmod(a, 3), *np.divmod(a, a[:1] + 1), np.divmod(a, -2.5)


def appended(a):
    return np.append(a, a), np.append(a, a, axis=0)


def number_appended_along_an_axis(a):
    return np.append(a, 2.5, axis=0)


FUNCTIONS = [flips, flips_of_matrices, new_axes, at_least, squeezed, squeezed_of_unknown_size, diagonals,
             diagonals_of_other_axes, broadcasts, broadcast_to_another_size, splits, split_that_is_not_equal, joins,
             more_joins, joins_by_rank, joins_of_vectors_and_matrices, joins_of_dtypes, joins_of_lists,
             joins_that_differ_in_size, stacks_that_differ_in_size, joins_of_other_ranks, appended,
             number_appended_along_an_axis, arrays_of_arrays, array_of_arrays_that_differ_in_size, both_parts_of_quotients]  # fmt: skip
VALUES = np.random.default_rng(0).normal(size=240) * 10
LAYOUTS = {
    "vector": lambda a: a,
    "strided": lambda a: a[::2],
    "matrix": lambda a: a.reshape(12, 20),
    "transposed": lambda a: a.reshape(12, 20).T,
    "cube": lambda a: a.reshape(4, 6, 10),
    "empty": lambda a: a[:0].reshape(0, 3),
    "row": lambda a: a[:20].reshape(1, 20),
}


def read_only(a):
    b = a.copy()
    b.setflags(write=False)
    return b


CASES = [(np.float64, layout) for layout in LAYOUTS]
CASES += [
    (np.int16, "matrix"),
    (np.complex64, "matrix"),
    (np.float16, "vector"),
    (np.bool_, "vector"),
]


def outcome(function, operand):
    try:
        return function(operand)
    except Exception as error:
        return error


def assert_same(found, wanted, *, with_base=True):
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            assert_same(x, y, with_base=with_base)
    elif isinstance(wanted, Exception):
        assert str(found) == str(wanted)
    elif isinstance(wanted, np.ndarray):
        same = (found.dtype, found.shape, found.flags.writeable)
        assert same == (wanted.dtype, wanted.shape, wanted.flags.writeable)
        assert not with_base or (found.base is None) == (wanted.base is None)
        assert_same_strides(found, wanted)
        np.testing.assert_array_equal(found, wanted)
    else:
        assert found == wanted


def assert_same_strides(found, wanted):
    """Of axes with one element, and of empty arrays, strides say nothing."""
    if wanted.size:
        pairs = zip(found.strides, wanted.strides, wanted.shape, strict=True)
        assert [s for s, _, n in pairs if n > 1] == [
            s for s, n in zip(wanted.strides, wanted.shape, strict=True) if n > 1
        ]


@pytest.mark.parametrize(("dtype", "layout"), CASES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_everything_is_as_numpy_gives_it(function, dtype, layout):
    operand = LAYOUTS[layout](VALUES.astype(dtype))
    wanted = outcome(function, operand)
    compiled = ljit.jit(function)
    for _ in range(4):
        assert_same(outcome(compiled, operand), wanted)


@pytest.mark.parametrize("function", [flips, squeezed, new_axes, splits, at_least])
def test_views_are_views(function):
    compiled = ljit.jit(function)
    operand = VALUES.copy()
    for _ in range(3):
        wanted, found = function(operand), compiled(operand)
    shared = [np.shares_memory(x, operand) for x in wanted if isinstance(x, np.ndarray)]
    assert [np.shares_memory(x, operand) for x in found if isinstance(x, np.ndarray)] == shared


@pytest.mark.parametrize("function", [flips, at_least, broadcasts, splits])
def test_views_of_what_is_read_only_are(function):
    operand = read_only(VALUES)
    wanted, compiled = function(operand), ljit.jit(function)
    for _ in range(3):
        assert_same(compiled(operand), wanted)


def test_an_array_of_enough_axes_is_given_back_itself():
    compiled = ljit.jit(at_least)
    for _ in range(3):
        assert compiled(VALUES)[0] is VALUES
    compiled = ljit.jit(squeezed_of_nothing)
    for _ in range(3):
        assert compiled(VALUES) is VALUES


def test_none_of_it_calls_numpy():
    cube = VALUES.reshape(4, 6, 10)
    for function in (flips, new_axes, squeezed, at_least, diagonals, joins_by_rank):
        compiled = ljit.jit(function)
        for _ in range(2):
            compiled(cube)
        assert "calls Python" not in compiled.explain(), function.__name__
