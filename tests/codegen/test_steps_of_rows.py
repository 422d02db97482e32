"""Loops over rows of a few columns have vectors, or are unrolled, as they are: none is made for rows of one column."""

import numpy as np

import ljit


def near(points, radius):
    count = 0
    for i in range(len(points)):
        x = points[i, 0] - 0.5
        y = points[i, 1] - 0.5
        if x * x + y * y < radius * radius:
            count += 1
    return count


def test_steps_are_not_taken_for_one():
    f = ljit.jit(near)
    points = np.cos(np.arange(200.0)).reshape(-1, 2)
    for columns in (
        points,
        points,
        points,
        np.cos(np.arange(90.0)).reshape(-1, 3),
        points[:, ::-1],
    ):
        assert f(columns, 0.7) == near(columns, 0.7)
    assert "ident.check" not in f.dump_llvm(optimized=True)
    one = np.zeros((0, 1))
    assert f(one, 0.7) == near(one, 0.7)
