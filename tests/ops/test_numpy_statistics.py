"""Histograms, covariances and correlations give NumPy's values, types, errors and warnings."""

import warnings

import numpy as np
import pytest

import ljit

RNG = np.random.default_rng(12)


def outcome(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            result = repr(error)
    return result, {str(w.message) for w in caught if "Degrees" in str(w.message)}


def compare(function, *args_list, exact):
    compiled = ljit.jit(function)
    for args in args_list:
        (wanted, noted), (found, heard) = outcome(function, *args), outcome(compiled, *args)
        assert heard == noted
        assert type(found) is type(wanted)
        if isinstance(wanted, str):
            assert found == wanted
            continue
        for x, y in (
            zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        ):
            assert (type(x), x.dtype, x.shape) == (type(y), y.dtype, y.shape)
            if exact or y.dtype.kind in "biu":
                np.testing.assert_array_equal(x, y)
            else:
                np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)
    return compiled


# -- histograms ----------------------------------------------------------------------------------------


def plain(a):
    return np.histogram(a)


def in_bins(a, n):
    return np.histogram(a, n)


def in_range(a, n, low, high):
    return np.histogram(a, bins=n, range=(low, high))


VECTORS = [
    RNG.normal(size=1000), RNG.integers(0, 20, 300) / 10, np.linspace(0, 1, 101), np.linspace(0, 1, 101)[::-1], RNG.normal(size=(7, 9)),
    RNG.normal(size=(6, 4)).T, RNG.integers(-100, 100, 500).astype(np.int8), RNG.integers(0, 256, (20, 30)).astype(np.uint8),
    RNG.integers(0, 2**32, 99).astype(np.uint32), np.full(5, 3.25), np.array([2.0]), np.array([]), np.array([1.0, np.nan]),
    np.array([0.0, np.inf, -np.inf, 1.0]), RNG.normal(size=20).astype(np.float32), np.arange(10), np.array([True, False]), np.array(2.5),
    np.array([-1e308, 1e308]), np.array([0.0, 5e-324]), np.array([-0.0, 0.0, 1.0]), RNG.random(50) * 1j,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("k", range(len(VECTORS)))
def test_histograms_in_equal_bins_are_those_of_numpy(k):
    a = VECTORS[k]
    compare(plain, *((a,),) * 3, exact=True)
    compare(in_bins, *((a, n) for n in (1, 7, 100, 7, 0, -1, 7)), exact=True)
    ranges = [
        (0, 1),
        (0.0, 0.7),
        (-0.3, 256),
        (0, 256),
        (2, 2),
        (3, 1),
        (0, float("nan")),
        (0.1, float("inf")),
        (0, 1),
    ]
    compare(in_range, *((a, 7, low, high) for low, high in ranges * 2), exact=True)
    compare(in_range, *((a, n, 0.0, 0.7) for n in (3, 49, 70, 3)), exact=True)


def test_numbers_at_edges():
    """Where rounding puts a number into the bin beside its own."""
    for n in (3, 7, 49, 10, 1000):
        edges = np.linspace(0.1, 0.8, n + 1)
        a = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)])
        compare(in_range, *((a, n, 0.1, 0.8),) * 3, exact=True)


def test_histograms_are_native():
    for function, *args in ((plain,), (in_bins, 5), (in_range, 5, 0, 1.5)):
        compiled = compare(function, *((VECTORS[0], *args),) * 3, exact=True)
        assert "calls Python: np" not in compiled.explain()


def test_histograms_with_other_arguments_are_those_of_numpy():
    a = VECTORS[0]
    for function in (
        lambda a: np.histogram(a, [0, 0.5, 1]),
        lambda a: np.histogram(a, 5, density=True),
        lambda a: np.histogram(a, 5, weights=a),
        lambda a: np.histogram(a, "auto"),
        lambda a: np.histogram(a, 5, [0, 1]),
        lambda a: np.histogram(a, np.int64(5), (np.float64(0.5), np.int64(1))),
    ):
        compare(function, *((a,),) * 3, exact=True)


# -- covariances ---------------------------------------------------------------------------------------

MATRICES = [
    RNG.normal(size=(4, 30)), RNG.normal(size=(30, 4)), RNG.normal(size=(30, 4)).T, RNG.normal(size=(1, 9)), RNG.normal(size=(9, 1)),
    RNG.normal(size=(3, 2)), RNG.normal(size=(3, 8)).astype(np.float32), RNG.integers(0, 9, (3, 8)), RNG.normal(size=(0, 4)),
    RNG.normal(size=(4, 0)), RNG.normal(size=20), RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 4)) * 1j, RNG.random((3, 9)) > 0.5,
    RNG.normal(size=(8, 24))[::2, ::-3], np.ones((3, 5)), np.array([[1.0, np.nan, 2.0], [1.0, 2.0, 3.0]]), RNG.normal(size=(4, 30)),
]  # fmt: skip
COVARIANCES = {
    "plain": lambda m: np.cov(m),
    "columns": lambda m: np.cov(m, rowvar=False),
    "bias": lambda m: np.cov(m, bias=True),
    "ddof": lambda m: np.cov(m, ddof=2),
    "correlations": lambda m: np.corrcoef(m),
    "of columns": lambda m: np.corrcoef(m, rowvar=False),
    "transposed": lambda m: np.corrcoef(m.T),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["plain", "columns", "correlations"])
def test_covariances_of_matrices_for_which_code_is_made(name):
    with np.errstate(all="ignore"):
        for m in MATRICES:
            compare(COVARIANCES[name], *((m,),) * 3, exact=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COVARIANCES)
def test_covariances_of_one_matrix_after_the_other(name):
    with np.errstate(all="ignore"):
        compare(COVARIANCES[name], *((m,) for m in MATRICES * 2), exact=False)


def of_two(x, y):
    return np.cov(x, y), np.corrcoef(x, y), np.cov(x, y, bias=True)


@pytest.mark.filterwarnings("ignore")
def test_covariances_of_vectors():
    x, y = RNG.normal(size=(2, 50))
    pairs = [
        (x, y),
        (x[::-2], y[:25]),
        (x.astype("f4"), np.arange(50)),
        (x, y[:9]),
        (x[:1], y[:1]),
        (x[:0], y[:0]),
        (x, x),
        (x * 0, y),
    ]
    with np.errstate(all="ignore"):
        for pair in pairs:
            compare(of_two, *(pair,) * 3, exact=False)
        compare(of_two, *pairs, *pairs, exact=False)
        compare(
            lambda x, y: np.cov(x, y), *((x.reshape(5, 10), y.reshape(5, 10)),) * 3, exact=False
        )


def test_covariances_are_native():
    m = MATRICES[0]
    for function, *args in (*((f, m) for f in COVARIANCES.values()), (of_two, m[0], m[1])):
        compiled = compare(function, *(args,) * 3, exact=False)
        assert "calls Python: np" not in compiled.explain()
