"""Loops with divisions that some trips leave out: LLVM is not to make vectors of them."""

import numpy as np
import pytest

import ljit


@ljit.jit
def move_down(m, k):
    h, w = m.shape
    n = m.copy()
    count = 0
    for y in range(h):
        for x in range(w):
            if m[y, x] == 2 and m[(y + k) % h, x] == 0:
                n[y, x] = 0
                n[(y + k) % h, x] = 2
                count += 1
    return count, n


@ljit.jit
def add_neighbours(a, b):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            b[y, x] = a[(y + h // 2) % h, x] + a[y - 1, x]


@pytest.mark.parametrize("seed", range(4))
def test_a_division_that_some_trips_leave_out_is_done_where_one_of_them_needs_it(seed):
    m = np.random.default_rng(seed).integers(0, 3, (40, 60)).astype(np.uint8)
    for call in range(4):
        if call == 2:
            move_down.dump_llvm(m, 1, optimized=True)  # the following calls run that
        expected, found = move_down.__wrapped__(m, 1), move_down(m, 1)
        assert found[0] == expected[0]
        assert found[1].tobytes() == expected[1].tobytes()


def test_only_loops_with_such_a_division_have_no_vectors():
    a = np.ones((40, 60))
    m = a.astype(np.uint8)
    for _ in range(3):
        add_neighbours(a, a.copy())
        move_down(m, 1)
    assert "vector.body" in add_neighbours.dump_llvm(a, a.copy(), optimized=True)
    assert "pred.srem" not in move_down.dump_llvm(m, 1, optimized=True)
