"""Ufuncs of complex numbers in native code: NumPy's bits where the C library's functions are called, else three units."""

import linecache

import numpy as np
import pytest

import ljit

pytestmark = pytest.mark.filterwarnings("ignore")

INF, NAN = float("inf"), float("nan")
REAL = [0.0, -0.0, 1.0, 1.5, -2.5, 1e-30, INF, -INF, NAN, 80.0, -800.0, 1e30]
IMAG = [0.0, -0.0, 1.0, 2.25, -0.5, INF, -INF, NAN, 700.0, 1e-20]
RNG = np.random.default_rng(3)
DRAWN = RNG.normal(size=300) * 2 + 1j * RNG.normal(size=300)
NUMBERS = np.array([*(complex(x, y) for x in REAL for y in IMAG), *DRAWN])
EXACT = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh expm1 log1p reciprocal"
)
#: until NumPy 2.2 the inverses are its own, and left to it
INVERSES_ARE_NATIVE = not np.isnan(np.arccosh(complex(0.0, NAN)).imag)
MADE_OF_REAL_ONES = "exp log sqrt exp2 log2 log10"


def function(name):
    source = f"def f(z):\n    return np.{name}(z)\n"
    filename = f"<complex {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"np": np}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["f"]


def native(plain, z, is_native=True):
    compiled = ljit.jit(plain)
    for _ in range(3):
        found = compiled(z)
    assert "boxed" not in compiled.explain() or not is_native
    return found


def parts(z):
    return np.stack([z.real, z.imag])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", EXACT.split())
def test_functions_of_the_c_library_give_numpys_bits(name, dtype):
    z, plain = NUMBERS.astype(dtype), function(name)
    is_native = INVERSES_ARE_NATIVE or not name.startswith("arc")
    found, wanted = native(plain, z, is_native=is_native), plain(z)
    assert found.dtype == wanted.dtype
    found, wanted = parts(found), parts(wanted)
    same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    places = ~(same | (np.isnan(found) & np.isnan(wanted)))
    assert not places.any(), z[places.any(axis=0)]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", MADE_OF_REAL_ONES.split())
def test_functions_made_of_real_ones_are_near(name, dtype):
    """Each within three units of the exact result: of each other within a few more."""
    z, plain = NUMBERS.astype(dtype), function(name)
    found, wanted = native(plain, z), plain(z)
    assert found.dtype == wanted.dtype
    found, wanted = parts(found), parts(wanted)
    is_number = np.isfinite(wanted)
    assert np.array_equal(found[~is_number], wanted[~is_number], equal_nan=True)
    limit = 6 * np.spacing(np.abs(wanted[is_number]))
    far = np.abs(found[is_number] - wanted[is_number]) > limit
    assert not far.any(), (found[is_number][far], wanted[is_number][far])


def spectrum(z, w):
    return (
        np.abs(np.sin(z) * w + np.tanh(w) - 1 / np.cos(z + 2j)) ** 2,
        np.sin(z[0]),
        np.cos(1j * w[-1]),
    )


def test_they_are_parts_of_loop_nests():
    z = DRAWN[:100]
    w = z[::-1].copy()
    compiled = ljit.jit(spectrum)
    for _ in range(3):
        for found, wanted in zip(compiled(z, w), spectrum(z, w), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)
            assert type(found) is type(wanted)
    text = str(compiled.graph_for(z, w))
    assert text.count("prim::Map") == 1


def modulus(z):
    return abs(z)


def moduli(z):
    sizes = []
    for i in range(z.size):
        sizes.append(abs(z[i]))
    return sizes


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_modulus_of_one_number_is_numpys_to_the_last_bit(dtype):
    """Those of arrays are made with vectors, which round other than the C library in one of a hundred."""
    z = NUMBERS.astype(dtype)
    one, many = ljit.jit(modulus), ljit.jit(moduli)
    for _ in range(3):
        found = many(z), [one(x) for x in z]
    wanted = [abs(x) for x in z]
    assert all(info.state.startswith("native") for info in one.specializations)
    for sizes in found:
        assert {type(x) for x in sizes} == {type(wanted[0])}
        assert np.array(sizes).tobytes() == np.array(wanted).tobytes()
