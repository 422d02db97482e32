"""``np.gradient`` by places gives NumPy's bits and errors."""

import numpy as np
import pytest

import ljit
from tests.ops.test_numpy_combined import assert_close
from tests.ops.test_numpy_manipulation import outcome

RNG = np.random.default_rng(3)


def by_places(given):
    f, x = given
    return np.gradient(f, x), np.gradient(f[::-1].copy(), x)


def along_axes(given):
    f, x = given
    return (
        np.gradient(f, x, axis=-1),
        np.gradient(f, np.arange(float(f.shape[0])) ** 2, axis=0),
        np.gradient(f, 0.5, x),
    )


PLACES = {
    "rising": np.cumsum(RNG.random(20)),
    "even": np.arange(20.0),
    "even but for the last": np.append(np.arange(19.0), 30.0),
    "whole": RNG.permutation(20),
    "the same twice": np.repeat(np.arange(10.0), 2),
    "unknown": np.where(np.arange(20) == 5, np.nan, np.arange(20.0)),
    "too few": np.arange(19.0),
    "small": np.cumsum(RNG.random(20)).astype(np.float32),
    "reversed": np.cumsum(RNG.random(20))[::-1],
    "a matrix": np.ones((4, 5)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_differences_by_places(places, dtype):
    x = PLACES[places]
    vector, matrix = (RNG.normal(size=shape).astype(dtype) * 9 for shape in (20, (6, 20)))
    with np.errstate(all="ignore"):
        for function, f in ((by_places, vector), (along_axes, matrix)):
            wanted, compiled = outcome(function, (f, x)), ljit.jit(function)
            for _ in range(3):
                assert_close(outcome(compiled, (f, x)), wanted)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_gradients_of_few_elements_raise_as_numpys_do(n):
    compiled = ljit.jit(lambda f, x: np.gradient(f, x))
    x = np.cumsum(RNG.random(9))
    for _ in range(3):
        compiled(x, x)
    for _ in range(2):
        try:
            wanted = np.gradient(x[:n] ** 2, x[:n])
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error), match=str(error)[:20]):
                compiled(x[:n] ** 2, x[:n])
        else:
            np.testing.assert_array_equal(compiled(x[:n] ** 2, x[:n]), wanted)


def test_they_are_native():
    compiled, x = ljit.jit(by_places), PLACES["rising"]
    for _ in range(3):
        compiled((x, x))
    assert "calls Python: np" not in compiled.explain()
