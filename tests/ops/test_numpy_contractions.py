"""einsum, tensordot, inner, outer, kron and trace give what NumPy gives, to the last bits of sums."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from tests.ops.test_numpy_manipulation import assert_same_strides

SIZES = dict(zip("ijklbhqdtf", range(2, 12), strict=True))


def make_einsum(subscripts, **attrs):
    """A function of its own for each, since subscripts have to be constants."""
    names = ", ".join("xyzuv"[: subscripts.count(",") + 1])
    options = "".join(f", {name}={value!r}" for name, value in attrs.items())
    return f"def contraction({names}):\n    return np.einsum({subscripts!r}, {names}{options})\n"


@pytest.fixture()
def compiled_source(tmp_path, monkeypatch):
    """Import the text of a function, as from a file that a user wrote."""
    count = iter(range(1000))

    def load(text):
        name = f"contractions_{next(count)}_{tmp_path.name.replace('-', '_')}"
        (tmp_path / f"{name}.py").write_text(f"import numpy as np\n\n\n{text}")
        monkeypatch.syspath_prepend(tmp_path)
        return __import__(name).contraction

    return load


def assert_like(found, wanted):
    assert type(found) is type(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert (getattr(found, "base", None) is None) == (getattr(wanted, "base", None) is None)
    assert_same_strides(found, wanted)
    # products and sums are made in another order than NumPy's own loops or BLAS
    rtol = 50 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * 100)


def operands_of(subscripts, dtype):
    rng = np.random.default_rng(len(subscripts))
    terms = subscripts.replace(" ", "").split("->")[0].split(",")
    return [(rng.normal(size=[SIZES[x] for x in term]) * 9).astype(dtype) for term in terms]


NATIVE = """ij,jk->ik ij,jk ij,kj->ik ji,jk->ik ki,kj->ij ij,j->i i,ij->j j,ij->i ji,j->i i,i i,i-> ij->j ij->i ij-> ijk->ik
 ij,ij-> ij,ij->ij ij,ij->i ij,ij->j i,j->ij bij,bjk->bik bij,bkj->bik bij,bj->bi btd,df->btf ni,ij,nj->n i,ij,j-> ij,jk,kl->il
 bi,bj->bij bi,bi->b ij,j->ij i,ij->ij ijk,jk->i ijk,kl->ijl ij,k->ik i,j,k->ijk ij,ij,ij->i ij,j->""".replace(
    "n", "t"
).split()
LEFT_TO_NUMPY = (
    """ij,jk->ki ij->ji ii ii->i ij,k->i ijk,ijl->kl hbqd,bhkd->bhqk bhqd,bhkd->bhqk""".split()
)


@pytest.mark.parametrize("subscripts", [*NATIVE, *LEFT_TO_NUMPY])
def test_einsum_gives_what_numpy_gives(subscripts, compiled_source):
    function = compiled_source(make_einsum(subscripts))
    for dtype in (np.int8, np.uint32, np.int64, np.float64, np.complex64):
        compiled = ljit.jit(function)
        operands = operands_of(subscripts, dtype)
        wanted = function(*operands)
        for _ in range(3):
            assert_like(compiled(*operands), wanted)
    runs = compiled.explain()
    assert subscripts in LEFT_TO_NUMPY or ("calls Python" not in runs and " 0 native" not in runs)


@pytest.mark.parametrize("subscripts", ["ij,ij->i", "ij->j", "i,i->", "ij,jk->ik"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32])
def test_einsum_of_small_ints(subscripts, dtype, compiled_source):
    """Sums are made natively, and wrap."""
    function = compiled_source(make_einsum(subscripts))
    compiled, operands = ljit.jit(function), [99 * x for x in operands_of(subscripts, dtype)]
    for _ in range(3):
        assert_like(compiled(*operands), function(*operands))
    assert any(s.state == "native" for s in compiled.specializations)


STRIDED = {
    "every-second": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "backwards": lambda x: x[::-1],
    "fortran": np.asfortranarray,
    "broadcast": lambda x: np.broadcast_to(x[..., :1], x.shape),
}


@pytest.mark.parametrize("view", STRIDED.values(), ids=STRIDED)
@pytest.mark.parametrize("subscripts", "ij,ij->i ij,j->i i,i-> ij,ij-> ij->j ij->".split())
def test_einsum_of_strided_arrays(subscripts, view, compiled_source):
    """Numbers and vectors lie in one order only."""
    function = compiled_source(make_einsum(subscripts))
    for dtype in (np.int64, np.float64, np.complex64):
        compiled, operands = ljit.jit(function), list(map(view, operands_of(subscripts, dtype)))
        for _ in range(3):
            assert_like(compiled(*operands), function(*operands))
        assert "calls Python" not in compiled.explain()


@pytest.mark.parametrize("subscripts", ["ij,jk->ik", "ij,j->i", "i,i->"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.bool_])
def test_einsum_of_other_dtypes(subscripts, dtype, compiled_source):
    function = compiled_source(make_einsum(subscripts))
    compiled, operands = ljit.jit(function), operands_of(subscripts, dtype)
    for _ in range(3):
        assert_like(compiled(*operands), function(*operands))


@pytest.mark.parametrize("optimize", [True, "greedy"])
def test_einsum_in_the_best_order(optimize, compiled_source):
    for subscripts in ("ij,jk,kl->il", "ij,ij->i", "ij,jk->ik"):
        function = compiled_source(make_einsum(subscripts, optimize=optimize))
        compiled, operands = ljit.jit(function), operands_of(subscripts, np.float64)
        for _ in range(3):
            assert_like(compiled(*operands), function(*operands))


def test_einsum_of_sizes_that_do_not_fit(compiled_source):
    function = compiled_source(make_einsum("ij,jk->ik"))
    compiled = ljit.jit(function)
    for _ in range(3):
        compiled(np.ones((2, 3)), np.ones((3, 4)))
    for operands in ((np.ones((2, 3)), np.ones((4, 4))), (np.ones((2, 1)), np.ones((3, 4)))):
        try:
            wanted = function(*operands)
        except ValueError as error:
            with pytest.raises(ValueError, match="einsum|operand") as found:
                compiled(*operands)
            assert str(found.value) == str(error)
        else:
            assert_like(compiled(*operands), wanted)


def test_einsum_broadcasts_an_axis_of_one_element(compiled_source):
    operands = (np.ones((1, 3)), np.arange(6.0).reshape(2, 3))
    for subscripts in ("ij,ij->ij", "ij,ij->i", "ij,ij->", "ij,ij->j"):
        function = compiled_source(make_einsum(subscripts))
        compiled = ljit.jit(function)
        for order in (operands, operands[::-1]):
            for _ in range(3):
                assert_like(compiled(*order), function(*order))


def tensordots(a):
    b = a.T.copy()
    return np.tensordot(a, b, axes=1), np.tensordot(a, a), np.tensordot(a, b, axes=((1,), (0,)))


def tensordot_of_a_cube(a):
    cube = np.stack((a, a + 1))
    return np.tensordot(cube, a, 2), np.tensordot(cube, a.T.copy(), axes=(2, 0))


def products(a):
    return np.inner(a, a), np.inner(a, a[0]), np.outer(a[0], a[:, 0]), np.outer(a, a)


def krons(a):
    return np.kron(a, a), np.kron(a[0], a[1]), np.kron(a, a[0])


def traces(a):
    return np.trace(a), a.trace(), a.trace(1), np.trace(a, offset=-1), np.trace(a, 99)


def tensordot_of_sizes_that_do_not_fit(a):
    return np.tensordot(a, a, axes=1)


def tensordot_of_nothing_that_does_not_fit(a):
    return np.tensordot(a[:0], a, axes=1)


def tensordot_of_as_many_elements(a):
    return np.tensordot(a, a.reshape(a.shape[::-1]), axes=2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.complex128, np.bool_])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "function",
    [
        tensordots,
        tensordot_of_a_cube,
        products,
        krons,
        traces,
        tensordot_of_sizes_that_do_not_fit,
        tensordot_of_nothing_that_does_not_fit,
        tensordot_of_as_many_elements,
    ],
)
def test_products_and_traces(function, dtype, order):
    operand = np.random.default_rng(1).normal(size=(4, 5)) * 5
    operand = np.asarray(operand.astype(dtype), order=order)
    compiled = ljit.jit(function)
    for _ in range(3):
        try:
            wanted = function(operand)
        except ValueError as error:
            with pytest.raises(ValueError, match="shape") as found:
                compiled(operand)
            assert str(found.value) == str(error)
            continue
        for x, y in zip(compiled(operand), wanted, strict=True):
            assert_like(x, y)


def distances(points, normal, offset):
    return points @ normal - offset, np.dot(points, normal)


def test_products_of_short_rows_and_vectors():
    rng, compiled = np.random.default_rng(1), ljit.jit(distances)
    for dtype in (np.float64, np.float32):
        for n, width in [(50, 3)] * 3 + [
            (0, 3),
            (1, 3),
            (7, 4),
            (7, 1),
            (3, 3),
            (50, 40),
            (900, 2),
        ]:
            points, normal = rng.random((n, width)).astype(dtype), rng.random(width).astype(dtype)
            for x in (points, np.asfortranarray(points), np.repeat(points, 2, axis=1)[:, ::2]):
                for found, wanted in zip(
                    compiled(x, normal, 0.5), distances(x, normal, 0.5), strict=True
                ):
                    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                    eps = np.finfo(dtype).eps
                    np.testing.assert_allclose(found, wanted, rtol=50 * eps, atol=8 * eps)
    with pytest.raises(ValueError, match="mismatch"):
        compiled(np.ones((5, 3)), np.ones(4), 0.5)
    points = np.full((5, 3), np.inf)
    assert np.isnan(compiled(points, np.array([1.0, 0.0, 1.0]), 0.5)[0]).all()


def mismatched(a, b):
    return np.einsum("i,i->", a, b)


def test_operands_whose_sizes_are_known_to_differ():
    compiled = ljit.jit(mismatched)
    for _ in range(3):
        with pytest.raises(ValueError, match="remapped shapes"):
            compiled(np.ones(6), np.ones(3))
    for _ in range(3):
        assert compiled(np.ones(6), np.ones(1)) == mismatched(np.ones(6), np.ones(1))


@pytest.mark.parametrize(
    "subscripts", ["i,j->ij", "i,i->i", "i,ij->ij", "i,i", "ij,j->i", "i,j,k->ijk"]
)
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int16])
def test_products_that_are_negative_zeros(subscripts, dtype, compiled_source):
    function = compiled_source(make_einsum(subscripts))
    compiled = ljit.jit(function)
    values = np.array([-1.0, 0.0, 1.0, -0.0, -2.0]).astype(dtype)
    terms = subscripts.split("->")[0].split(",")
    operands = [
        np.resize(values[::-1] if i else values, (5,) * len(t)) for i, t in enumerate(terms)
    ]
    for _ in range(3):
        assert (
            np.asarray(compiled(*operands)).tobytes() == np.asarray(function(*operands)).tobytes()
        )
