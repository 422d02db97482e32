"""Numbers drawn from Python's `random`: the module's functions, which are methods of a hidden `random.Random`.

The state of the stream lies in that object, so that `seed`, `setstate` and draws from elsewhere are seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.range_rules import RangeRules
from ljit.ops.python.numbers import condition_not, to_float
from ljit.ops.ranges.random_ranges import RANDINT, RANDRANGE
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ArrayType, ListType, ObjectType, Type

__all__: list[str] = []

_DRAW_ONLY = Effect.READ | Effect.WRITE
_DRAW = _DRAW_ONLY | Effect.RAISE
_RANDOM = {"random": "_random.Random.random"}
_BELOW = {
    "_randbelow": "random.Random._randbelow_with_getrandbits",
    "getrandbits": "_random.Random.getrandbits",
}


def _is_random(t: Type) -> bool:
    """Whether `t` is a class of objects that hold a Mersenne Twister."""
    cls = getattr(sys.modules.get("_random"), "Random", None)
    return cls is not None and isinstance(t, ObjectType) and issubclass(t.cls, cls)


def _declare(
    name: str,
    schema: str,
    doc: str,
    *,
    lower: Callable[..., V],
    takes: Callable[..., bool],
    looks_up: Mapping[str, str],
    type_: Type = FLOAT,
    effect: Effect = _DRAW,
    module: str = "random",
    ranges: RangeRules | None = None,
) -> None:
    """Declare a method of `random.Random`; `takes` says for which types of arguments it is drawn natively."""

    def evaluate(x: Any, *args: Any) -> Any:
        return getattr(sys.modules["random"].Random, name)(x, *args)

    def infer(x: Type, *args: Type) -> Type:
        return type_ if _is_random(x) and takes(*args) else ANY

    def effects(*types: Type) -> Effect:
        return Effect.CALL if infer(*types) == ANY else effect

    declare(
        OpDef(
            f"random::{name}",
            Schema(schema),
            doc,
            infer=infer,
            evaluate=evaluate,
            lower=lower,
            effects=effects,
            library=(f"{module}.Random.{name}",),
            looks_up=looks_up,
            ranges=ranges,
        )
    )


def _lower_random(e: Emitter, x: V) -> V:
    return e.draw(x, "mersenne.double", (), FLOAT)


def _difference(e: Emitter, x: V, y: V) -> V:
    """``x - y`` of two ints; beyond int64 it bails out."""
    result, overflow = e.sub_overflow(x, y)
    e.bail_if(overflow, "int overflow")
    return result


def _lower_uniform(e: Emitter, x: V, a: V, b: V) -> V:
    if a.type == b.type == INT:
        width = to_float(e, _difference(e, b, a))
    else:
        width = e.sub(to_float(e, b), to_float(e, a))
    return e.add(to_float(e, a), e.mul(width, _lower_random(e, x)))


def _lower_expovariate(e: Emitter, x: V, rate: V) -> V:
    rate = to_float(e, rate)
    e.bail_if(e.compare("eq", rate, 0.0), "division by zero")
    rest = e.sub(1.0, _lower_random(e, x))
    return e.div(e.neg(e.math("log", rest)), rate)


def _lower_gauss(e: Emitter, x: V, mu: V | None = None, sigma: V | None = None) -> V:
    can_draw = e.draw(x, "mersenne.can_gauss", (), BOOL)
    e.bail_if(condition_not(e, can_draw), "gauss_next is no float")
    mean = e.const(FLOAT, 0.0) if mu is None else to_float(e, mu)
    deviation = e.const(FLOAT, 1.0) if sigma is None else to_float(e, sigma)
    return e.add(mean, e.mul(e.draw(x, "mersenne.gauss", (), FLOAT), deviation))


def _below(e: Emitter, x: V, start: V, stop: V) -> V:
    width = _difference(e, stop, start)
    e.bail_if(e.compare("le", width, 0), "empty range")
    return e.add(start, e.draw(x, "mersenne.below", (width,), INT), fits=True)


def _lower_randrange(e: Emitter, x: V, start: V, stop: V | None = None) -> V:
    if stop is None or stop.type == NONE:
        return _below(e, x, e.const(INT, 0), start)
    return _below(e, x, start, stop)


def _lower_randint(e: Emitter, x: V, a: V, b: V) -> V:
    end, overflow = e.add_overflow(b, e.const(INT, 1))
    e.bail_if(overflow, "int overflow")
    return _below(e, x, a, end)


def _lower_getrandbits(e: Emitter, x: V, k: V) -> V:
    outside = e.bit_or(e.compare("le", k, 0), e.compare("gt", k, 63))
    e.bail_if(outside, "not a count of bits of an int64")
    return e.draw(x, "mersenne.bits", (k,), INT)


def _are_real(*types: Type) -> bool:
    return all(t in (INT, FLOAT) for t in types)


def _are_ints(*types: Type) -> bool:
    return all(t == INT for t in types)


def _is_range(start: Type, stop: Type = NONE, *step: Type) -> bool:
    return not step and start == INT and stop in (INT, NONE)


def _has_items(t: Type) -> bool:
    return isinstance(t, ListType) or (isinstance(t, ArrayType) and t.ndim == 1)


def _infer_choice(x: Type, seq: Type) -> Type:
    """An item of an array; one of a list can be any object: it is looked at behind the draw."""
    if not _is_random(x) or not isinstance(seq, ArrayType) or seq.ndim != 1:
        return ANY
    return seq.element


def _can_lower_choice(x: Type, seq: Type) -> bool:
    return _is_random(x) and _has_items(seq)


def _size(e: Emitter, seq: V) -> V:
    return e.list_size(seq) if isinstance(seq.type, ListType) else e.array_sizes(seq)[0]


def _lower_choice(e: Emitter, x: V, seq: V) -> V:
    is_list = isinstance(seq.type, ListType)
    size = _size(e, seq)
    index = _below(e, x, e.const(INT, 0), size)
    if is_list:
        return e.list_load(e.retype(seq, ListType(ANY)), index)
    return e.array_load(seq, [index])


declare(
    OpDef(
        "random::choice",
        Schema("(x!, seq)"),
        "An item of a list or of a one-dimensional array.",
        infer=_infer_choice,
        evaluate=lambda x, seq: sys.modules["random"].Random.choice(x, seq),
        lower=_lower_choice,
        can_lower=_can_lower_choice,
        effects=lambda x, seq: _DRAW if _can_lower_choice(x, seq) else Effect.CALL,
        library=("random.Random.choice",),
        looks_up=_BELOW,
        gives_objects=True,
    )
)


def _infer_shuffle(x: Type, seq: Type) -> Type:
    return NONE if _is_random(x) and (_has_items(seq) and _is_writable(seq)) else ANY


def _is_writable(t: Type) -> bool:
    return not isinstance(t, ArrayType) or t.writeable


def _lower_shuffle(e: Emitter, x: V, seq: V) -> V:
    is_list = isinstance(seq.type, ListType)
    size = _size(e, seq)

    def exchange(k: V) -> None:
        count = e.sub(size, k, fits=True)
        i, j = e.sub(count, 1, fits=True), e.draw(x, "mersenne.below", (count,), INT)
        if is_list:
            e.list_swap(seq, i, j)
            return
        first, second = e.array_load(seq, [i]), e.array_load(seq, [j])
        e.array_store(seq, [i], second)
        e.array_store(seq, [j], first)

    e.loop(e.sub(size, 1, fits=True), exchange)
    return e.const(NONE, None)


declare(
    OpDef(
        "random::shuffle",
        Schema("(x!, seq!, /)"),
        "Bring a list or a one-dimensional array into random order.",
        infer=_infer_shuffle,
        evaluate=lambda x, seq: sys.modules["random"].Random.shuffle(x, seq),
        lower=_lower_shuffle,
        effects=lambda x, seq: _DRAW if _infer_shuffle(x, seq) != ANY else Effect.CALL,
        library=("random.Random.shuffle",),
        looks_up=_BELOW,
    )
)
_declare(
    "random", "(x!, /)", "A float of [0, 1).",
    lower=_lower_random, takes=_are_real, looks_up={}, effect=_DRAW_ONLY, module="_random",
)  # fmt: skip
_declare(
    "getrandbits", "(x!, k, /)", "An int of `k` random bits.",
    lower=_lower_getrandbits, takes=_are_ints, looks_up={}, type_=INT, module="_random",
)  # fmt: skip
_declare(
    "uniform", "(x!, a, b)", "``a + (b - a) * random()``.",
    lower=_lower_uniform, takes=_are_real, looks_up=_RANDOM,
)  # fmt: skip
_declare(
    "gauss", "(x!, mu=0.0, sigma=1.0)", "A float of the normal distribution.",
    lower=_lower_gauss, takes=_are_real, looks_up={**_RANDOM, "gauss_next": ""},
)  # fmt: skip
_declare(
    "expovariate", "(x!, lambd)", "``-log(1 - random()) / lambd``.",
    lower=_lower_expovariate, takes=_are_real, looks_up=_RANDOM,
)  # fmt: skip
_declare(
    "randrange", "(x!, start, stop=None, step=1)", "An int of ``range(start, stop)``.",
    lower=_lower_randrange, takes=_is_range, looks_up=_BELOW, type_=INT, ranges=RANDRANGE,
)  # fmt: skip
_declare(
    "randint", "(x!, a, b)", "An int of [a, b].",
    lower=_lower_randint, takes=_are_ints, type_=INT, ranges=RANDINT,
    looks_up={**_BELOW, "randrange": "random.Random.randrange"},
)  # fmt: skip
