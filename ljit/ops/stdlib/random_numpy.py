"""Numbers drawn from NumPy's random streams: methods of `Generator` and `RandomState`.

Native code calls the C functions that NumPy calls, on the stream that the object holds; so the numbers, and
the stream behind them, are NumPy's. Arrays of numbers (``size=``) are left to NumPy, but for those that one of
its functions fills; so are other dtypes and arguments that NumPy refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.cpython.classes import is_open
from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.python.numbers import condition_not, is_real_scalar, to_float
from ljit.ops.stdlib.random_arrays import drawn_array, new_array
from ljit.records import Record
from ljit.types import ANY, FLOAT, INT, NONE, ArrayType, ObjectType, TupleType, Type

__all__ = ["DRAWS", "is_stream", "method_of_stream"]

#: A draw changes the stream: it is not repeated. It may leave: the stream can be in use, the arguments wrong.
DRAWS = Effect.READ | Effect.WRITE | Effect.RAISE
_FLOAT64 = np.dtype(np.float64)
_MODULES = {"Generator": "numpy.random._generator", "RandomState": "numpy.random.mtrand"}


def is_stream(t: Type, name: str) -> bool:
    """Whether `t` is NumPy's class of that name (and not one that somebody else has called so)."""
    if not isinstance(t, ObjectType) or t.cls.__name__ != name:
        return False
    return t.cls.__module__ == _MODULES[name] and not is_open(t.cls)


def method_of_stream(name: str) -> Callable[..., Any]:
    """Give `evaluate` of an op that is a method."""

    def evaluate(rng: Any, *args: Any, **attrs: Any) -> Any:
        return getattr(rng, name)(*args, **attrs)

    return evaluate


class Parameter(Record):
    """A float parameter of a distribution: its default (None: it has none) and what it must be."""

    name: str
    default: float | None = None
    fits: Callable[[Emitter, V], V] | None = None


def _at_least_zero(e: Emitter, x: V) -> V:
    sign = e.intrinsic("copysign", e.const(FLOAT, 1.0), x)  # NumPy refuses -0.0
    return e.bit_and(e.compare("ge", x, 0.0), e.compare("gt", sign, 0.0))


def _above_zero(e: Emitter, x: V) -> V:
    return e.compare("gt", x, 0.0)


def _probability(e: Emitter, x: V) -> V:
    return e.bit_and(_above_zero(e, x), e.compare("le", x, 1.0))


def _poisson_mean(e: Emitter, x: V) -> V:
    return e.bit_and(_at_least_zero(e, x), e.compare("le", x, 2.0**62))


def _range(e: Emitter, low: V, high: V) -> V:
    """The width of the range of a uniform distribution, which must be finite."""
    width = e.sub(high, low)
    finite = e.compare("lt", e.intrinsic("fabs", width), math.inf)
    e.bail_if(condition_not(e, finite), "the range is not finite")
    return width


def _uniform(e: Emitter, rng: V, low: V, high: V) -> V:
    width = _range(e, low, high)
    e.bail_if(condition_not(e, _at_least_zero(e, width)), "high < low")
    return e.draw(rng, "random_uniform", (low, width), FLOAT)


def _legacy_uniform(e: Emitter, rng: V, low: V, high: V) -> V:
    return e.draw(rng, "random_uniform", (low, _range(e, low, high)), FLOAT)


def _next_double(e: Emitter, rng: V) -> V:
    return e.draw(rng, "next_double", (), FLOAT)


def _legacy_normal(e: Emitter, rng: V, mean: V, deviation: V) -> V:
    return e.add(mean, e.mul(deviation, e.draw(rng, "legacy_gauss", (), FLOAT)))


def _legacy_exponential(e: Emitter, rng: V, scale: V) -> V:
    rest = e.sub(1.0, _next_double(e, rng))
    return e.mul(scale, e.neg(e.math("log", rest)))


def _of_numpy(function: str, type_: Type = FLOAT) -> Callable[..., V]:
    return lambda e, rng, *args: e.draw(rng, function, args, type_)


def _declare(
    cls: str,
    name: str,
    doc: str,
    parameters: tuple[Parameter, ...] = (),
    draw: Callable[..., V] | None = None,
    type_: Type = FLOAT,
    schema: str = "",
    fill: str = "",
) -> None:
    """Declare a method that draws a number with the float `parameters`; `fill`: what fills an array with such numbers.

    Without parameters, a schema of its own takes the sizes one by one.
    """
    count = len(parameters)

    def size_of(args: tuple[Type, ...]) -> Type:
        return TupleType(args) if schema and args else args[0] if args else NONE

    def infer(rng: Type, *args: Type) -> Type:
        if not is_stream(rng, cls) or not all(map(is_real_scalar, args[:count])):
            return ANY
        size = size_of(args[count:])
        if size == NONE:
            return type_
        return drawn_array(_FLOAT64, size) if fill else ANY

    def effects(*types: Type) -> Effect:
        result = infer(*types)
        made = Effect.ALLOC if isinstance(result, ArrayType) else Effect.PURE
        return Effect.CALL if result == ANY else DRAWS | made

    def lower(e: Emitter, rng: V, *args: V) -> V:
        size = size_of(tuple(x.type for x in args[count:]))
        if size != NONE:
            asked = e.tuple_make(args) if schema else args[0]
            array, numbers = new_array(e, drawn_array(_FLOAT64, size), asked)
            e.draw_all(rng, fill, ((), ()), array, numbers)
            return array
        given = [to_float(e, x) for x in args[:count]]
        given += [e.const(FLOAT, p.default) for p in parameters[len(given) :]]
        for parameter, x in zip(parameters, given, strict=True):
            if parameter.fits is not None:
                wrong = condition_not(e, parameter.fits(e, x))
                e.bail_if(wrong, f"{parameter.name} is out of range")
        return (draw or _of_numpy(f"random_{name}", type_))(e, rng, *given)

    names = (p.name if p.default is None else f"{p.name}={p.default}" for p in parameters)
    declare(
        OpDef(
            f"{cls}::{name}",
            Schema(schema or f"({', '.join(('rng!', *names, 'size=None'))})"),
            f"{doc} from a `numpy.random.{cls}`.",
            infer=infer,
            evaluate=method_of_stream(name),
            lower=lower,
            effects=effects,
            methods=(f"{cls}.{name}",),
        )
    )


def _any(name: str, default: float | None = None) -> Parameter:
    return Parameter(name, default)


def _not_negative(name: str, default: float | None = None) -> Parameter:
    return Parameter(name, default, _at_least_zero)


def _positive(name: str) -> Parameter:
    return Parameter(name, None, _above_zero)


_LOCATED = (_any("loc", 0.0), _not_negative("scale", 1.0))
_UNIFORM = (_any("low", 0.0), _any("high", 1.0))

_UNIFORM_FILL = "random_standard_uniform_fill"

# -- Generator -------------------------------------------------------------------------------------

_declare("Generator", "random", "A float of [0, 1)", draw=_next_double, fill=_UNIFORM_FILL)
_declare("Generator", "standard_normal", "A float of the standard normal distribution",
         fill="random_standard_normal_fill")  # fmt: skip
_declare("Generator", "standard_exponential", "A float of the exponential distribution",
         fill="random_standard_exponential_fill")  # fmt: skip
_declare("Generator", "uniform", "A float of [low, high)", _UNIFORM, _uniform)
_declare("Generator", "poisson", "An int of the Poisson distribution",
         (Parameter("lam", 1.0, _poisson_mean),), type_=INT)  # fmt: skip
_declare("Generator", "geometric", "An int of the geometric distribution",
         (Parameter("p", None, _probability),), type_=INT)  # fmt: skip
for _name, _doc, _parameters in (
    ("normal", "normal", _LOCATED),
    ("laplace", "Laplace", _LOCATED),
    ("gumbel", "Gumbel", _LOCATED),
    ("logistic", "logistic", _LOCATED),
    ("lognormal", "log-normal", (_any("mean", 0.0), _not_negative("sigma", 1.0))),
    ("exponential", "exponential", (_not_negative("scale", 1.0),)),
    ("rayleigh", "Rayleigh", (_not_negative("scale", 1.0),)),
    ("standard_gamma", "standard gamma", (_not_negative("shape"),)),
    ("gamma", "gamma", (_not_negative("shape"), _not_negative("scale", 1.0))),
    ("beta", "beta", (_positive("a"), _positive("b"))),
    ("chisquare", "chi-square", (_positive("df"),)),
    ("f", "F", (_positive("dfnum"), _positive("dfden"))),
    ("standard_t", "standard t", (_positive("df"),)),
    ("standard_cauchy", "standard Cauchy", ()),
    ("pareto", "Pareto", (_positive("a"),)),
    ("power", "power", (_positive("a"),)),
    ("weibull", "Weibull", (_not_negative("a"),)),
    ("wald", "Wald", (_positive("mean"), _positive("scale"))),
    ("vonmises", "von Mises", (_any("mu"), _not_negative("kappa"))),
):
    _declare("Generator", _name, f"A float of the {_doc} distribution", _parameters)

# -- RandomState, whose streams never change -----------------------------------------------------------

for _name in ("random_sample", "random", "rand"):
    _declare("RandomState", _name, "A float of [0, 1)", draw=_next_double, fill=_UNIFORM_FILL,
             schema="(rng!, *sizes)" if _name == "rand" else "")  # fmt: skip
for _name in ("standard_normal", "randn"):
    _declare("RandomState", _name, "A float of the standard normal distribution",
             draw=_of_numpy("legacy_gauss"), schema="(rng!, *sizes)" if _name == "randn" else "")  # fmt: skip
_declare("RandomState", "uniform", "A float of [low, high)", _UNIFORM, _legacy_uniform)
_declare("RandomState", "normal", "A float of the normal distribution", _LOCATED, _legacy_normal)
_declare("RandomState", "exponential", "A float of the exponential distribution",
         (_not_negative("scale", 1.0),), _legacy_exponential)  # fmt: skip
_declare("RandomState", "standard_exponential", "A float of the exponential distribution",
         draw=lambda e, rng: _legacy_exponential(e, rng, e.const(FLOAT, 1.0)))  # fmt: skip
