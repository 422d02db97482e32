"""Programs that ljit once got wrong; most were found by the fuzzer and then made small."""

import numpy as np

from tests.programs.harness import program

LOW, TOP = -(2**63), 2**63 - 1


@program(lambda: (LOW, TOP, 1), lambda: (TOP, LOW, -1), lambda: (0, 5, 1), lambda: (LOW, TOP, TOP))
def ranges_longer_than_len_can_say(start, stop, step):
    seen = []
    for k in range(start, stop, step):
        seen.append(k)
        if len(seen) > 3:
            break
    for k in reversed(range(start, stop, step)):
        seen.append(k)
        if len(seen) > 6:
            break
    for k, i in zip(range(start, stop, step), range(2), strict=False):
        seen.append((k, i))
    return seen


@program(
    lambda: (np.zeros(0, np.uint8), -1, 0),
    lambda: (np.zeros(3, np.uint8), 300, 0),
    lambda: (np.zeros(3, np.uint8), 3, 3),
)
def python_integers_must_fit_empty_arrays_too(a, i, stop):
    part = a[:stop]
    part *= i
    return a + 1 - i, a


@program(
    lambda: (np.arange(1, 4, dtype=np.uint64), np.arange(1, 13).reshape(3, 4)[:, :3]),
    lambda: (np.arange(3.0) + 1, np.ones((3, 3))),
)
def fresh_array_is_written_in_place(b, m):
    v = b % m[None]
    v /= b
    (b * m)[:] = m * 2.0
    return v


@program(
    lambda: (np.ones(3, np.int16), np.full((1, 1), 2)),
    lambda: (np.ones(1, np.int16), np.full(1, 2.0)),
    lambda: (np.ones(3), np.array(2)),
    lambda: (np.ones((3, 1)), np.full((1, 1), 2)),
)
def an_element_takes_no_array_of_one(a, b):
    a[0] = b
    return a
