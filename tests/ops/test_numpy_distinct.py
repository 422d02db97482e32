"""`triu_indices`, `tril_indices`, `ix_`, `dstack`, `unique` and medians of numbers: NumPy's results, natively."""

import numpy as np
import pytest

import ljit

HOLES = np.array([3.0, np.nan, -2.0, 8.0, np.nan, 0.5, 7.0])


def alike(a, b):
    """Whether results are the same to the bit, and lie in the same way."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(alike, a, b))
    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    lie_alike = isinstance(a, np.generic) or a.size < 2 or a.strides == b.strides
    return lie_alike and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def check(function, *calls, is_native=True):
    compiled = ljit.jit(function)
    for args in calls:
        for _ in range(3):
            try:
                expected = function(*args)
            except (ValueError, TypeError, IndexError) as error:
                with pytest.raises(type(error)):
                    compiled(*args)
            else:
                assert alike(compiled(*args), expected), args
    if is_native:
        assert "calls Python" not in compiled.explain()


TRIANGLES = [(n, k, m) for n in (3, 0, -3) for k in (-7, -1, 0, 2, 9) for m in (0, 2, 6, -1)]


def test_places_of_upper_triangles():
    check(lambda n: np.triu_indices(n), (4,), (1,), (0,), (-3,))
    check(lambda n, k: np.triu_indices(n, k), *((5, k) for k in (-7, -2, 0, 1, 4, 5, 9)))
    check(lambda n, k, m: np.triu_indices(n, k=k, m=m), *TRIANGLES)


def test_places_of_lower_triangles():
    check(lambda n: np.tril_indices(n), (4,), (1,), (0,), (-3,))
    check(lambda n, k: np.tril_indices(n, k), *((5, k) for k in (-7, -2, 0, 1, 4, 5, 9)))
    check(lambda n, k, m: np.tril_indices(n, k=k, m=m), *TRIANGLES)


def test_pairs_of_points():
    def distances(points):
        i, j = np.triu_indices(len(points), 1)
        d = points[i] - points[j]
        return np.sqrt((d * d).sum(axis=1))

    check(distances, (np.arange(12.0).reshape(4, 3) ** 2,), (np.ones((1, 3)),))


def test_places_along_axes():
    def added(k, places, e):
        k[np.ix_(places, places)] += e
        return k, k[np.ix_(places, places[::-1])], np.ix_(places, places, places)

    places = np.array([4, 0, 2])
    compiled = ljit.jit(added)
    for _ in range(3):
        a, b = np.zeros((5, 5)), np.zeros((5, 5))
        e = np.arange(9.0).reshape(3, 3)
        assert alike(compiled(a, places, e), added(b, places, e))
    assert "calls Python" not in compiled.explain()
    check(
        lambda i: np.ix_(i, i),
        (np.array([1, 2], np.int32),),
        (np.zeros(0, np.int16),),
        (np.arange(3) > 0,),
        is_native=False,
    )
    check(lambda i: np.ix_(i), (np.zeros((2, 2), int),), is_native=False)


def test_planes_behind_one_another():
    m = np.arange(6.0).reshape(2, 3)
    check(lambda a, b: np.dstack((a, b, a)), (m, m + 1), (m.astype(np.uint8), m.astype(np.uint8)))
    check(lambda a, b: np.dstack([a, b]), (m, np.ones((2, 3, 2))), (np.ones((2, 3, 1)), m))
    mixed = [(m[0], m[1]), (m[:1], m[0]), (m, m[0]), (m, m[:1]), (m[0], np.ones((1, 3, 2)))]
    check(lambda a, b: np.dstack((a, b)), *mixed, is_native=False)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "u8", "f4", "f8"])
def test_different_elements(dtype):
    rng = np.random.default_rng(3)
    many = rng.integers(0, 9, 60).astype(dtype)
    calls = [(many,), (many[:1],), (many[:0],), (many[::-3],), (many.reshape(6, 10),), (many[:2],)]
    if dtype == "f8":
        calls += [(HOLES,), (np.array([np.nan, -np.inf, np.nan]),)]
    check(lambda a: np.unique(a), *calls, is_native=False)
    check(lambda a: np.unique(a, return_counts=True), *calls, is_native=False)
    compiled = ljit.jit(lambda a: np.unique(a, return_counts=True))
    for _ in range(3):
        compiled(many)
    assert "np::distinct" in str(compiled.graph_for(many))


def test_other_questions_of_different_elements_are_numpys():
    a = np.array([3, 1, 3, 2])
    check(lambda a: np.unique(a, return_index=True), (a,), is_native=False)
    check(lambda a: np.unique(a, return_inverse=True), (a,), is_native=False)
    check(lambda a: np.unique(a, axis=0), (a.reshape(2, 2),), is_native=False)
    check(
        lambda a: np.unique(a), (np.array(["b", "a", "b"]),), (a.astype(complex),), is_native=False
    )


def test_order_statistics_of_numbers():
    calls = [(HOLES,), (HOLES[2:4],), (np.array([HOLES, HOLES[::-1]]),), (HOLES.astype("f4"),)]
    check(lambda a: np.nanmedian(a), *calls, (HOLES[::2],), (np.arange(5),))
    check(lambda a: np.nanpercentile(a, 30), *calls[:3])
    check(lambda a: np.nanquantile(a, [0.25, 0.5]), *calls[:3])


@pytest.mark.filterwarnings("ignore:All-NaN", "ignore:Mean of empty")
def test_order_statistics_of_nothing():
    nothing = [(HOLES[1:2],), (HOLES[:0],)]
    check(lambda a: np.nanmedian(a), *nothing, is_native=False)
    check(lambda a: np.nanpercentile(a, 30.0), *nothing, is_native=False)
    check(lambda a: np.nanmedian(a, axis=1), (np.array([HOLES, HOLES]),), is_native=False)


def test_several_quantiles():
    a = np.concatenate([np.arange(50.0)[::-1] ** 1.5, [-3.0, 7.0, 7.0]])
    nine = [0.1, 0.25, 0.3, 0.0, 0.5, 0.75, 0.9, 1.0, 0.99]
    check(
        lambda a: np.percentile(a, [5, 25, 50, 75, 95]),
        (a,),
        (a[:1],),
        (a.astype(int),),
        (a[::-2],),
    )
    check(
        lambda a, q: np.quantile(a, [*q]),
        (a, tuple(nine)),
        (a, tuple(nine + [0.2])),
        is_native=False,
    )
    compiled = ljit.jit(lambda a: np.quantile(a, [0.1, 0.25, 0.3, 0.0, 0.5, 0.75, 0.9, 1.0, 0.99]))
    for _ in range(3):
        assert alike(compiled(a), np.quantile(a, nine))
    assert "calls Python" not in compiled.explain()
