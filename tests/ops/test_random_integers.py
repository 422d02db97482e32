"""Integers from NumPy's streams: each one, its class and the state behind it are NumPy's."""

import random

import numpy as np
import pytest

import ljit


def integers(rng, low, high, n):
    out = []
    for _ in range(n):
        out.append(rng.integers(high))
        out.append(rng.integers(low, high))
        out.append(rng.integers(low, high, endpoint=True))
        out.append(rng.integers(low, high, dtype=int))
        out.append(rng.integers(low, high, None, np.int64))
        out.append(rng.integers(low=low, high=high, size=None))
        out.append(rng.random())
    return out


def small_integers(rng, low, high, n):
    out = []
    for _ in range(n):
        out.append(rng.integers(low, high, dtype=np.int32))
        out.append(rng.integers(low, high, dtype="uint32"))
        out.append(rng.integers(low, high, dtype=np.int16, endpoint=True))
        out.append(rng.integers(low, high, dtype=np.uint16))
        out.append(rng.integers(low, high, dtype=np.int8))
        out.append(rng.integers(low, high, dtype=np.dtype("uint8")))
        out.append(rng.integers(low, high, dtype=np.uint64))
        out.append(rng.integers(0, 2, dtype=bool))
    return out


def legacy(rng, low, high, n):
    out = []
    for _ in range(n):
        out.append(rng.randint(high))
        out.append(rng.randint(low, high))
        out.append(rng.randint(low, high, dtype=np.int32))
        out.append(rng.randint(low, high, dtype=np.uint8))
        out.append(rng.randint(low, high, dtype="int64"))
        out.append(rng.randn())
    return out


def outcome(function, make, *args):
    rng = make()
    try:
        result = function(rng, *args)
    except Exception as error:
        result = type(error), str(error)
    if isinstance(result, list):
        result = [(type(x), x) for x in result]
    return (
        result,
        rng.random(),
        rng.bit_generator.state if hasattr(rng, "integers") else rng.get_state()[2:],
    )


def new():
    return np.random.default_rng(11)


def old():
    return np.random.RandomState(11)


BOUNDS = [
    (0, 1), (0, 6), (3, 100), (5, 6), (0, 255), (-3, 7), (0, 2**32 - 1), (0, 2**32), (0, 2**32 + 1), (1, 2**40),
    (-(2**63), 2**63 - 1), (0, 2**63 - 1), (4, 4), (5, 3), (np.int32(2), np.int64(9)), (np.uint8(2), 100),
    (0.0, 5), (2**63, 2**64), (True, 5), (0, np.uint64(7)), (0, 2**31 + 2), (7, 3 * 2**30), (-(2**31), 2**31 - 1),
    (0, 2**32 - 2), (-(2**31), 2**31), (-5, 2**31 - 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "make"), [(integers, new), (small_integers, new), (legacy, old)]
)
def test_integers_are_numpys(function, make):
    compiled = ljit.jit(function, strict=True)
    for _ in range(3):
        assert outcome(compiled, make, 1, 10, 9) == outcome(function, make, 1, 10, 9)
    assert [info.bailouts for info in compiled.specializations] == [0]
    text = str(compiled.graph_for(make(), 1, 10, 9))
    assert text.count("py::call") == (3 if function is small_integers else 0)
    for low, high in BOUNDS:
        for _ in range(2):
            expected, found = (outcome(f, make, low, high, 9) for f in (function, compiled))
            assert found == expected, (low, high)


def shuffled(rng, a):
    n = len(a)
    for i in range(n - 1, 0, -1):
        j = rng.integers(0, i, endpoint=True)
        a[i], a[j] = a[j], a[i]


def shuffled_by_python(rng, a):
    n = len(a)
    for i in range(n - 1, 0, -1):
        j = random.randint(0, i)
        k = random.randrange(n)
        a[i], a[j], a[k] = a[j], a[k], a[i]


@pytest.mark.parametrize("function", [shuffled, shuffled_by_python])
def test_a_drawn_index_is_known_to_be_in_bounds(function):
    compiled = ljit.jit(function, strict=True)
    for size in (5, 5, 30, 1, 0):
        arrays = np.arange(size), np.arange(size)
        for f, a in zip((function, compiled), arrays, strict=True):
            random.seed(size)
            f(new(), a)
        assert arrays[0].tolist() == arrays[1].tolist()
    text = str(compiled.graph_for(new(), np.arange(5)))
    assert "from_start" in text
    stores = [line for line in text.splitlines() if "setitem" in line]
    assert stores and all("proven" in line for line in stores)


def arrays(rng, low, high, n):
    return [
        rng.integers(low, high, n),
        rng.integers(low, high, size=(n, 3)),
        rng.integers(high, size=n),
        rng.integers(low, high, n, endpoint=True),
        rng.integers(low, high, (2, n), dtype=np.int32),
        rng.integers(low, high, n, dtype="uint8"),
        rng.integers(low, high, n, dtype=np.int16, endpoint=True),
    ]


def float_arrays(rng, low, high, n):
    return [
        rng.random(n),
        rng.random(size=(n, high)),
        rng.standard_normal(n),
        rng.standard_exponential((low, n)),
    ]


def legacy_float_arrays(rng, low, high, n):
    return [rng.random(n), rng.rand(low, n), rng.rand(n), rng.random_sample((n, high)), rng.rand()]


def legacy_arrays(rng, low, high, n):
    return [
        rng.randint(low, high, n),
        rng.randint(high, size=(n, 2, 1)),
        rng.randint(low, high, n, dtype=np.int8),
        rng.randint(low, high, size=(n,), dtype=np.uint32),
        rng.randint(low, high, n, int),
    ]


def told(found):
    """What can be compared."""
    result, *state = found
    if isinstance(result, list):
        result = [
            (cls, np.asarray(x).dtype, np.shape(x), np.asarray(x).tolist()) for cls, x in result
        ]
    return result, *state


@pytest.mark.parametrize(("function", "make"), [(arrays, new), (legacy_arrays, old)])
def test_arrays_of_integers_are_numpys(function, make):
    compiled = ljit.jit(function, strict=True)
    for n in (5, 5, 5, 1, 300, 0, -1, np.int32(4)):
        expected, found = (told(outcome(f, make, 1, 100, n)) for f in (function, compiled))
        assert found == expected, n
    assert "py::call" not in str(compiled.graph_for(make(), 1, 100, 5))
    for low, high in BOUNDS:
        for n in (9, 0):
            expected, found = (told(outcome(f, make, low, high, n)) for f in (function, compiled))
            assert found == expected, (low, high, n)


@pytest.mark.parametrize(("function", "make"), [(float_arrays, new), (legacy_float_arrays, old)])
def test_arrays_of_floats_are_numpys(function, make):
    compiled = ljit.jit(function, strict=True)
    for n in (5, 5, 5, 1, 300, 0, -1, np.int32(4), 2.5, (2, 3), None):
        expected, found = (told(outcome(f, make, 2, 3, n)) for f in (function, compiled))
        assert found == expected, n
    assert "py::call" not in str(compiled.graph_for(make(), 2, 3, 5))


def test_a_stream_in_use_is_waited_for():
    def drawn(rng, n):
        return rng.integers(0, 10, n)

    compiled = ljit.jit(drawn, strict=True)
    for _ in range(3):
        compiled(new(), 10)
    rng, other = new(), new()
    expected = [other.integers(0, 10, 10).tolist() for _ in range(2)]
    found = [compiled(rng, 10).tolist()]
    with rng.bit_generator.lock:  # it is re-entrant
        found.append(compiled(rng, 10).tolist())
    assert found == expected
