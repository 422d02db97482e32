"""`np.pad` with elements of the array itself: NumPy's values, layouts and errors, natively."""

import numpy as np
import pytest

import ljit

MODES = ("edge", "wrap", "symmetric", "reflect")


def made(mode):
    """A function that pads in a mode, which is a constant in it."""

    @ljit.jit
    def padded(a, width):
        return np.pad(a, width, mode=mode)

    return padded


def same(a, b):
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.strides == b.strides
        and np.array_equal(a, b)
        and np.array_equal(np.signbit(a.real), np.signbit(b.real))
    )


WIDTHS = {
    1: (0, 1, 3, (2, 0), ((0, 3),)),
    2: (0, 1, 2, (1, 2), ((1, 0), (0, 2)), ((2, 1), (0, 0)), ((0, 0), (2, 1)), ((0, 0), (0, 0))),
    3: (1, ((1, 1), (1, 1), (0, 0)), ((0, 1), (2, 0), (1, 2)), ((2, 2), (0, 0), (0, 0))),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "a",
    [
        np.arange(5.0),
        np.arange(4) > 1,
        np.arange(12, dtype=np.uint8).reshape(3, 4),
        (np.arange(12) * 1j).reshape(4, 3),
        np.linspace(-1, 1, 12, dtype=np.float16).reshape(3, 4),
        np.arange(60.0).reshape(5, 4, 3),
        np.arange(36, dtype=np.int16).reshape(4, 3, 3),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_elements_are_repeated_as_numpy_does(mode, a):
    padded = made(mode)
    for width in WIDTHS[a.ndim]:
        for _ in range(3):
            assert same(padded(a, width), np.pad(a, width, mode=mode)), width
    assert "calls Python" not in padded.explain()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(1,), (2,), (0,), (1, 3), (3, 1), (0, 2), (2, 0), (1, 1, 2)])
def test_arrays_with_less_elements_than_that_are_numpys(mode, shape):
    padded, a = made(mode), np.arange(float(np.prod(shape))).reshape(shape)
    for width in (0, 1, 2, 7):
        for _ in range(3):
            try:
                expected = np.pad(a, width, mode=mode)
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error).replace("(", r"\(")[:20]):
                    padded(a, width)
            else:
                assert same(padded(a, width), expected), width


def test_a_mode_takes_no_constant():
    @ljit.jit
    def padded(a):
        return np.pad(a, 1, mode="edge", constant_values=0)

    for _ in range(3):
        with pytest.raises(ValueError, match="unsupported keyword"):
            padded(np.arange(3.0))


def test_a_width_that_is_negative_raises_as_in_numpy():
    padded = made("wrap")
    for width in (1, -1, 2):
        if width < 0:
            with pytest.raises(ValueError, match="negative"):
                padded(np.arange(3.0), width)
        else:
            assert same(padded(np.arange(3.0), width), np.pad(np.arange(3.0), width, mode="wrap"))


def test_a_stencil_on_padded_elements():
    def laplacian(u):
        p = np.pad(u, 1, mode="wrap")
        return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u

    compiled, u = ljit.jit(laplacian), np.arange(30.0).reshape(5, 6) ** 2
    for _ in range(3):
        assert same(compiled(u), laplacian(u))
