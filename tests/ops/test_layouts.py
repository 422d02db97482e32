"""Each NumPy op on arrays of every dtype and layout gives what NumPy gives, as users write it.

Ops are taken from the registry. Dtypes and shapes are drawn with a fixed seed; `FUZZ_SEEDS=N` draws N times as many.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ljit
import ljit.ops.library  # noqa: F401  # the ops that load late
from ljit.ir import REGISTRY, OpDef
from tests.ops.layouts import DTYPES, LAYOUTS, SHAPES, VALUES, Layout, filled, function_of
from tests.ops.test_numpy_native import TRANSCENDENTAL
from tests.programs.harness import Args, Bound, Outcome, Ulps, difference, run

pytestmark = pytest.mark.filterwarnings("ignore")

OPS = [  # an iterator is another object each time
    op
    for op in REGISTRY.values()
    if op.name.startswith("np::") and op.evaluate is not None and not op.iterated
]
MORE = int(os.environ.get("FUZZ_SEEDS", "1").split(":")[0])
RELATIVE = {"e": 2e-2, "f": 1e-5, "d": 1e-12, "F": 1e-5, "D": 1e-12}
AXES = ("", "axis=0", "axis=-1", "axis=1", "axis=(0, 1)", "axis=None", "axis=7")
COPIES = ("np::nan_to_num",)
Operands = tuple[Any, ...]


def shapes_of(op: OpDef, r: random.Random) -> list[tuple[int, ...]]:
    return [(3, 5), *r.sample(SHAPES, 1 + MORE)]


def keywords_of(op: OpDef, r: random.Random) -> list[str]:
    """Keywords of one call, then of others: axes, and what goes with them."""
    if "axis" not in op.schema.keyword_only:
        return [""]
    drawn = r.sample(AXES[1:], min(MORE, len(AXES) - 1))
    if "keepdims" in op.schema.keyword_only:
        drawn = [f"{x}, keepdims=True" if r.random() < 0.4 else x for x in drawn]
    return ["", *drawn]


def values_of(op: OpDef, dtype: str, shape: tuple[int, ...], shift: int) -> np.ndarray:
    """Odd values; tame ones where rounding is not what is tested."""
    if op.elementwise or dtype[0] in "biu":
        return filled(shape, dtype, shift)
    tame = [x for x in VALUES[dtype] if not np.isfinite(x) or abs(x) < 10]
    count = int(np.prod(shape))
    return np.array([tame[(k * 3 + shift) % len(tame)] for k in range(count)], dtype).reshape(shape)


def other_operand(first: np.ndarray, dtype: str, layout: Layout, kind: int) -> Any:
    """A second operand that goes with the first one."""
    shape = first.shape
    if kind == 0:
        return layout(filled(shape, dtype, 2))
    if kind == 1:
        return LAYOUTS[len(shape) % len(LAYOUTS)](filled(shape, dtype, 1))
    if kind == 2:
        return layout(filled(shape[-1:], dtype, 2))
    if kind == 3:
        return layout(filled((*shape[:-1], 1) if shape else (), dtype, 3))
    if kind == 4:
        return filled((), dtype, 3)
    if kind == 5:
        return np.dtype(dtype).type(VALUES[dtype][-1])
    if kind == 6:
        return (2, True, 1.5, -1, 0)[len(shape) + len(dtype) - 7 & 3]
    return first[..., ::-1] if first.ndim else first


def drawn_operands(op: OpDef, dtype: str, r: random.Random) -> Iterator[Any]:
    """Factories of operands for an op of numbers."""
    arity = len(op.schema.positional)
    others = [dtype if r.random() < 0.7 else r.choice(DTYPES) for _ in range(arity)]
    for shape in shapes_of(op, r):
        layouts = LAYOUTS if shape == (3, 5) and arity == 1 else r.sample(LAYOUTS, 3)
        for layout in layouts:
            kinds = [r.randrange(8) for _ in range(arity)]

            def make(shape: Any = shape, layout: Layout = layout, kinds: Any = kinds) -> Operands:
                first = layout(values_of(op, dtype, shape, 0))
                rest = zip(others[1:], kinds[1:], strict=True)
                return first, *(other_operand(first, d, layout, kind) for d, kind in rest)

            yield make


def sample_operands(op: OpDef, r: random.Random) -> Iterator[Any]:
    """The op's own samples with their arrays in other layouts."""
    for sample in op.operand_samples():
        if not any(isinstance(x, np.ndarray) for x in sample):
            continue
        for layout in r.sample(LAYOUTS, 4):

            def make(sample: Any = sample, layout: Layout = layout) -> Operands:
                return tuple(layout(x.copy()) if isinstance(x, np.ndarray) else x for x in sample)

            yield make


def bound(op: OpDef, expected: Outcome) -> Ulps:
    if op.elementwise:
        return 8 if op.name.removeprefix("np::") in TRANSCENDENTAL else 0
    results = expected.value if isinstance(expected.value, tuple) else (expected.value,)
    arrays = [np.asarray(x) for x in (*results, *expected.args.positional) if x is not None]
    numbers = [x for x in arrays if x.dtype.char in RELATIVE]
    sizes = [float(np.abs(x[np.isfinite(x)]).max(initial=1.0)) for x in numbers]
    return Bound(max([RELATIVE[x.dtype.char] for x in numbers] or [0.0]) * max(sizes or [1.0]))


def is_repeated(operands: Operands) -> bool:
    """Whether one has axes that are not in memory: the documentation says that their copies lie otherwise."""
    return any(isinstance(x, np.ndarray) and 0 in x.strides for x in operands)


def check(op: OpDef, plain: Any, factories: Iterator[Any]) -> int:
    compiled = ljit.jit(plain)
    done = 0
    for make in factories:
        if op.name in COPIES and is_repeated(make()):
            continue
        for call in range(2):  # profiled, native
            expected, actual = run(plain, Args(make())), run(compiled, Args(make()))
            found = difference(expected, actual, bound(op, expected))
            assert found is None, f"{op.name}, call {call} of {describe(make())}: {found}"
            done += expected.failure is None
    return done


def describe(operands: Operands) -> str:
    texts = []
    for x in operands:
        is_array = isinstance(x, np.ndarray)
        texts.append(f"{x.dtype}{x.shape}, strides {x.strides}" if is_array else repr(x))
    return "; ".join(texts)


def is_of_numbers(op: OpDef) -> bool:
    return op.elementwise or (len(op.schema.positional) == 1 and op.schema.positional[0] in "aminx")


CRASHES = np.lib.NumpyVersion(np.__version__) < "2.2.0"  # which cannot be asked
COMPARISONS = [
    f"np::{name}_into"
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_layout_gives_what_numpy_gives(op: OpDef) -> None:
    if CRASHES and op.name in COMPARISONS:
        pytest.skip(
            "NumPy itself crashes: np.equal(a, -1, out) of unsigned a, where out is reversed"
        )
    r = random.Random(op.name)
    done = called = 0
    for keywords in keywords_of(op, r):
        plain = function_of(op, len(op.schema.positional), keywords)
        if plain is None:
            continue
        if is_of_numbers(op):
            for dtype in r.sample(DTYPES, min(len(DTYPES), MORE)):
                called += 1
                done += check(op, plain, drawn_operands(op, dtype, r))
    if not is_of_numbers(op):
        for arity in {len(sample) for sample in op.operand_samples()}:
            plain = function_of(op, arity)
            if plain is not None:
                factories = [f for f in sample_operands(op, r) if len(f()) == arity]
                check(op, plain, iter(factories))
    assert done or called < 3, "raises for all operands"
