"""Arithmetic on float16 gives NumPy's bits: all 65536 numbers of each function of one operand, and drawn pairs."""

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ir import REGISTRY
from ljit.ops.ufuncs.ufuncs import UFUNCS
from ljit.types import ArrayType
from tests.ops.layouts import LAYOUTS, filled, function_of
from tests.ops.test_numpy_native import TRANSCENDENTAL
from tests.programs.harness import Args, difference, run

pytestmark = pytest.mark.filterwarnings("ignore")

HALF = np.dtype(np.float16)
ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
RNG = np.random.default_rng(5)
OPS = [
    name
    for name, rule in UFUNCS.items()
    if rule.body is not None
    and REGISTRY[name].callables
    and HALF in (rule.loop_of_kinds((HALF,) * rule.function.nin) or ())
    and REGISTRY[name].can_lower(*(ArrayType(HALF, (None,)),) * rule.function.nin)
]


def operands(count):
    if count == 1:
        return (ALL,)
    drawn = [RNG.choice(ALL, 30_000) for _ in range(count)]
    near = RNG.integers(-600, 600, (count, 30_000)).astype(np.float16) / np.float16(16)
    special = np.array([0, 1, 3, 6e-8, 0.1, 65504, np.inf, np.nan], HALF)
    grid = [x.ravel() for x in np.meshgrid(*[np.append(special, -special)] * count)]
    return tuple(np.concatenate(parts) for parts in zip(drawn, near, grid, strict=True))


@pytest.mark.parametrize("function", [np.remainder, np.floor_divide, np.fmod])
def test_remainders_are_vectors(function):
    f = ljit.jit(lambda a, b: function(a, b))
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(np.ones(100, HALF), np.ones(100, HALF))
    text = f.dump_llvm(optimized=True)
    assert "<8 x double>" in text or "<4 x double>" in text or "<2 x double>" in text
    assert "@fmod" not in text


def test_all_arithmetic_is_native():
    assert {"np::add", "np::divide", "np::exp", "np::floor_divide", "np::less", "np::sign"} < {*OPS}
    assert len(OPS) > 60


@pytest.mark.parametrize("name", OPS)
def test_each_op_gives_numpys_bits(name):
    plain = function_of(REGISTRY[name], UFUNCS[name].function.nin)
    compiled = ljit.jit(plain)
    given = operands(UFUNCS[name].function.nin)
    expected = plain(*given)
    is_rounded = name.removeprefix("np::") in TRANSCENDENTAL and expected.dtype == HALF
    for call in range(3):
        found = compiled(*given)
        kinds = [(type(x), x.dtype, x.shape) for x in (found, expected)]
        assert kinds[0] == kinds[1]
        differ = (found != expected) & ~((found != found) & (expected != expected))
        if expected.dtype.kind == "f":
            differ |= (np.signbit(found) != np.signbit(expected)) & (expected == expected)
        places = np.flatnonzero(differ)
        assert places.size <= (60 if is_rounded else 0), (call, [x[places[:5]] for x in given])
        steps = found[places].view(np.int16) - expected[places].view(np.int16) if is_rounded else 0
        assert np.all(np.abs(steps) <= 1), [x[places] for x in given]


def chain(a, b, c):
    return np.where(a < b, a * b + c, a / 2.0 - 3) ** 2 - np.sqrt(abs(c))


def update(a, b, c):
    a += b * 3
    a[...] = a - c
    np.multiply(a, c, out=a)
    return a.sum(dtype=np.float32)


def wide(a, b, c):
    a += b.astype(np.float64)
    return a.astype(np.float32) * c, a.astype(np.float64), (a.astype(np.float64) * 1.1).astype(HALF)


def reduced(a, b, c):
    total = (a * b).mean(axis=-1)
    return total, a.mean(), b.max(axis=0), c.min(), np.ptp(a), a.any()


def scalars(a, b, c):
    x = a.ravel()[0] * b.ravel()[1]
    return x, x + 1, x + 1.5, x / np.float32(3), -x, x > 1, x // 2, x % 2, np.exp(x), float(x), [c]


def stored(a, b, c):
    a[0] = 1.1
    a[..., 1] = b[..., 1].astype(np.int8)
    a[:, 2] = c[:, 2].astype(np.float64) * 1.1
    return a


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", [chain, update, wide, reduced, scalars, stored])
def test_programs_on_halves_agree(function, layout):
    compiled = ljit.jit(function)

    def make():
        first, *rest = (filled((4, 6), "float16", k) for k in range(3))
        tame = np.where(np.abs(first) < 100, first, 1).astype(HALF)
        return Args((tame, *(layout(np.nan_to_num(x, posinf=2, neginf=-3)) for x in rest)))

    for _ in range(3):
        expected, actual = run(function, make()), run(compiled, make())
        ulp = 2 if function is reduced else 0
        assert (found := difference(expected, actual, ulp)) is None, found
