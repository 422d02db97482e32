"""Draws from NumPy's streams: each number, its class and the state behind it are NumPy's."""

import struct

import numpy as np
import pytest

import ljit
from ljit.ir import REGISTRY

GENERATOR = {
    "random": ((), (None,)),
    "standard_normal": ((),),
    "standard_exponential": ((),),
    "uniform": ((), (0.25,), (-3, 5), (1.5, 1.5), (np.float32(0.5), 7)),
    "normal": ((), (1.0,), (3, 0.5), (0.0, 0.0)),
    "laplace": ((1.0, 2.0),),
    "gumbel": ((1.0, 2.0),),
    "logistic": ((1.0, 2.0),),
    "lognormal": ((), (1.0, 0.25)),
    "exponential": ((), (2.5,), (3,)),
    "rayleigh": ((2.5,),),
    "standard_gamma": ((0.5,), (3.0,)),
    "gamma": ((0.5,), (3.0, 2.0)),
    "beta": ((0.5, 0.5), (2.0, 3.0)),
    "chisquare": ((3.0,),),
    "f": ((2.0, 3.0),),
    "standard_t": ((3.0,),),
    "standard_cauchy": ((),),
    "pareto": ((2.0,),),
    "power": ((2.0,),),
    "weibull": ((2.0,),),
    "wald": ((2.0, 1.0),),
    "vonmises": ((0.5, 2.0),),
    "poisson": ((), (3.5,), (100.0,)),
    "geometric": ((0.1,), (0.9,)),
}
LEGACY = {
    "random_sample": ((), (None,)),
    "random": ((),),
    "rand": ((),),
    "randn": ((),),
    "standard_normal": ((),),
    "standard_exponential": ((),),
    "uniform": ((), (2.0,), (-3, 5), (5.0, -3.0)),
    "normal": ((), (1.0,), (3, 0.5)),
    "exponential": ((), (2.5,)),
}
BIT_GENERATORS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


def drawing(method, count):
    """A function that draws 50 numbers by the method with as many arguments."""
    names = [f"x{i}" for i in range(count)]
    namespace = {}
    text = f"""def f(rng, {", ".join(names)}):
    out = []
    for i in range(50):
        out.append(rng.{method}({", ".join(names)}))
    return out
"""
    exec(text, namespace)
    return text, namespace["f"]


def bits(numbers):
    return [(type(x), struct.pack("d", x) if isinstance(x, float) else x) for x in numbers]


def state_of(rng):
    state = rng.get_state(legacy=False) if hasattr(rng, "randn") else rng.bit_generator.state
    return repr(state)


def jitted(tmp_path, text):
    """Compile from a file: what has no source is left to CPython."""
    path = tmp_path / "drawing.py"
    path.write_text(text)
    namespace = {}
    exec(compile(text, str(path), "exec"), namespace)
    return ljit.jit(namespace["f"], strict=True)


def check(tmp_path, make, method, args):
    text, plain = drawing(method, len(args))
    compiled = jitted(tmp_path, text)
    first, second = make(), make()
    for _ in range(4):
        assert bits(compiled(first, *args)) == bits(plain(second, *args)), (method, args)
        assert state_of(first) == state_of(second)
        assert bits([first.random()]) == bits([second.random()])
    assert f"::{method}" in str(compiled.graph_for(first, *args))
    assert [info.bailouts for info in compiled.specializations] == [0]


def test_every_distribution_is_tested():
    assert {f"Generator.{name}" for name in GENERATOR} | {
        f"RandomState.{name}" for name in LEGACY
    } <= {name for op in REGISTRY.values() for name in op.methods}


@pytest.mark.parametrize("method", GENERATOR)
def test_a_generator_draws_what_numpy_draws(tmp_path, method):
    for args in GENERATOR[method]:
        check(tmp_path, lambda: np.random.default_rng(7), method, args)


@pytest.mark.parametrize("method", LEGACY)
def test_a_legacy_stream_draws_what_numpy_draws(tmp_path, method):
    for args in LEGACY[method]:
        check(tmp_path, lambda: np.random.RandomState(7), method, args)


@pytest.mark.parametrize("name", BIT_GENERATORS)
def test_every_bit_generator_of_numpy_is_native(tmp_path, name):
    source = getattr(np.random, name)
    check(tmp_path, lambda: np.random.Generator(source(3)), "random", ())
    check(tmp_path, lambda: np.random.Generator(source(3)), "standard_normal", ())
    check(tmp_path, lambda: np.random.RandomState(source(3)), "randn", ())
