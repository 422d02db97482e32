"""Inverses, determinants, equations and Cholesky's factors are NumPy's, bit for bit; so are its errors."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from tests.ops.layouts import strided


def inv(a):
    return np.linalg.inv(a)


def det(a):
    return np.linalg.det(a)


def cholesky(a):
    return np.linalg.cholesky(a)


def upper_cholesky(a):
    return np.linalg.cholesky(a, upper=True)


def solve(a, b):
    return np.linalg.solve(a, b)


DTYPES = ("f8", "f4", "c16", "c8", "i4", "?")


def attempt(f, *args):
    """Give the result, or what is raised."""
    try:
        return f(*args)
    except Exception as error:
        return type(error), str(error)


def assert_same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        assert found == wanted
        return
    assert found.dtype == wanted.dtype
    assert np.shape(found) == np.shape(wanted)
    assert np.asarray(found).strides == np.asarray(wanted).strides or wanted.size == 0
    assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


def assert_like_numpy(f, *arguments, calls=3):
    """Compare all calls of one decorated function."""
    compiled = ljit.jit(f)
    for args in arguments:
        wanted = attempt(f, *args)
        for _ in range(calls):
            assert_same(attempt(compiled, *args), wanted)
    return compiled


def positive(n, dtype):
    """A matrix that all of the functions take: symmetric, with a large diagonal."""
    if dtype in ("?", "u1"):
        return (np.eye(n) * 3).astype(dtype)
    random = np.random.default_rng(n)
    a = random.random((n, n)) * 10
    if dtype in ("c16", "c8"):
        a = a + 1j * random.random((n, n))
    return (a + a.conj().T + n * 20 * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_numpy(dtype):
    matrices = [positive(n, dtype) for n in (1, 2, 3, 4, 7, 12)]
    flipped = [a[::-1, ::-1] for a in matrices]
    for f in (inv, det, cholesky, upper_cholesky):
        assert_like_numpy(f, *((a,) for a in matrices))
    for f in (inv, det, cholesky):
        compiled = assert_like_numpy(f, *((strided(a),) for a in (*matrices, *flipped)))
        assert "calls Python" not in str(compiled.explain())
    assert_like_numpy(solve, *((a, a[0]) for a in matrices), *((a, a[::-1]) for a in matrices))
    assert_like_numpy(solve, *((a, a.T[:, :1]) for a in matrices))
    assert_like_numpy(solve, *((a, a[0].real.astype("f4")) for a in matrices))


@pytest.mark.parametrize("dtype", ("f8", "f4", "c16"))
def test_stacks_of_matrices(dtype):
    a = positive(4, dtype)
    stack = np.stack([a, a[::-1, ::-1], 2 * a])
    for f in (inv, det, cholesky):
        assert_like_numpy(f, (stack,), (stack[::-2],), (stack[:0],))
        assert_like_numpy(f, (np.moveaxis(stack, 0, 2).copy().transpose(2, 1, 0),))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # native code gives none
def test_what_has_no_result_raises_what_numpy_raises():
    zeros, eye = np.zeros((3, 3)), np.eye(3)
    wrong = [(zeros,), (np.zeros((3, 2)),), (np.zeros((0, 0)),), (np.full((3, 3), np.nan),)]
    wrong += [(-eye,), (np.stack([eye, zeros]),), (eye.astype("f2"),), (eye[0],)]
    for args in wrong:
        for f in (inv, det, cholesky):
            assert_like_numpy(f, (np.eye(3),), args, (np.eye(3) * 2,))
    for b in (np.ones(4), np.ones((3, 0)), np.ones((4, 1)), np.ones((1, 3, 1))):
        assert_like_numpy(solve, (eye, eye[0]), (eye, b))
    assert_like_numpy(solve, (eye, eye[0]), (zeros, eye[0]), (eye[:2], eye[0]))


def test_an_error_comes_in_the_call_where_it_belongs():
    def inverses(stack, out):
        for i in range(len(stack)):
            out[i] = np.linalg.inv(stack[i])
        return out

    stack = np.stack([np.eye(3) * (i + 1) for i in range(6)])
    compiled = ljit.jit(inverses)
    for _ in range(3):
        assert_same(compiled(stack, np.zeros_like(stack)), inverses(stack, np.zeros_like(stack)))
    stack[4] = 0
    for f in (compiled, inverses):
        out = np.zeros_like(stack)
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            f(stack, out)
        assert out[3, 0, 0] == 0.25
        assert not out[4:].any()
