"""One function, several argument types: each gets native code of its own, side by side."""

import numpy as np

import ljit


@ljit.jit
def norm(xs):
    total = 0
    for x in xs:
        total += x * x
    return total


for _ in range(3):
    for xs in (
        [3, 4],
        (3.0, 4.0),
        np.array([3, 4]),
        np.array([3, 4], dtype=np.float32),
        [2**40, 1],
    ):
        result = norm(xs)
        assert result == norm.__wrapped__(xs)
        assert type(result) is type(norm.__wrapped__(xs))

for specialization in norm.specializations:
    print(specialization)
