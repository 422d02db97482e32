"""Arrays for loop nests, and what is compared of their calls."""

import numpy as np

SIZE = 18


def arrays(dtype="f8"):
    rng = np.random.default_rng(7)
    made = (rng.normal(size=(SIZE, SIZE)) * 50 for _ in range(3))
    return tuple(a.astype(dtype) for a in made)


def outcome(function, *args):
    """What a call leaves of its arguments, bit by bit, and what it raises."""
    error = None
    try:
        with np.errstate(all="ignore"):
            function(*args)
    except Exception as raised:
        error = repr(raised)
    return error, [a.tobytes() for a in args if isinstance(a, np.ndarray)]
