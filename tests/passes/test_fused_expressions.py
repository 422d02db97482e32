"""Random array expressions, fused and native, against NumPy bit for bit."""

from __future__ import annotations

import linecache
import random
import warnings

import numpy as np
import pytest

import ljit

DTYPES = ["float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.where({} > 1, {}, 2)"]
UNARY = ["-{}", "np.sqrt(np.abs({}))", "{} + 1", "2.5 * {}", "abs({})", "{}.copy()"]
UNARY += ["np.array({}, dtype=np.float64)"]
SHAPES = [((5, 4), (5, 4), (5, 4)), ((5, 4), (4,), (5, 1)), ((7,), (7,), (1,)), ((0,), (0,), (1,))]
SLICES = ["[1:]", "[:-1]", "[::-1]", "[...]", "[::2]", ""]


def expression(choose, depth):
    if depth == 0 or choose.random() < 0.15:
        name = choose.choice("abc")
        return f"{name}[{choose.choice([':', '::-1'])}]" if choose.random() < 0.3 else name
    if choose.random() < 0.35:
        return "(" + choose.choice(UNARY).format(expression(choose, depth - 1)) + ")"
    pattern = choose.choice(BINARY)
    parts = [expression(choose, depth - 1) for _ in range(pattern.count("{}"))]
    return "(" + pattern.format(*parts) + ")"


def statement(choose):
    kind = choose.random()
    value = expression(choose, 3)
    if kind < 0.5:
        return f"r = {value}"
    if kind < 0.75:
        return f"a {choose.choice(['+=', '-=', '*='])} {value}"
    part = choose.choice(SLICES[:-1])
    source = choose.choice(["a", "b"])
    return f"a{part} = {source}{part} * {source}{part} + {choose.choice(['a', 'b'])}{part}"


def chains(choose):
    """Statements whose results have several uses, with maxima and writes in between."""
    names, lines = ["a", "b", "c"], []
    for number in range(6):
        first, second = choose.choices(names, k=2)
        kind = choose.random()
        if kind < 0.2:
            value = choose.choice(["({0} * 2).max()", "{0}.max(keepdims=True)", "{0}.min() * 0.5"])
            lines.append(f"x{number} = {value.format(first)}")
            names.append(f"x{number}")
        elif kind < 0.3:
            lines.append(f"a *= {second}")
        elif kind < 0.4:
            lines.append(f"a[...] = {second} + {first}")
        else:
            text = choose.choice(BINARY + UNARY)
            lines.append(f"x{number} = {text.format(first, second)}")
            names.append(f"x{number}")
    return lines, names[3:] or ["a"]


def program(seed):
    choose = random.Random(seed)
    if seed % 2:
        body, results = chains(choose)
    else:
        body, results = [statement(choose) for _ in range(3)], ["r"]
    end = f"    return {', '.join(results)}, a"
    lines = ["def f(a, b, c):", "    r = a", *(f"    {line}" for line in body), end]
    source = "\n".join(lines) + "\n"
    name = f"<fused {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    shapes = choose.choice(SHAPES)
    dtypes = [choose.choice(DTYPES) for _ in shapes]
    return source, namespace["f"], shapes, dtypes


def arguments(seed, shapes, dtypes):
    generator = np.random.default_rng(seed)
    made = []
    for shape, dtype in zip(shapes, dtypes, strict=True):
        values = generator.integers(0, 9, size=shape) - (0 if dtype == "uint8" else 3)
        values = values * 1.25 if dtype.startswith("float") else values
        made.append(values.astype(dtype))
    return made


def outcome(function, seed, shapes, dtypes):
    values = arguments(seed, shapes, dtypes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*values)
        except Exception as error:
            return type(error), str(error), [v.tobytes() for v in values]
    described = [(type(x), x.dtype, x.shape, canonical(x)) for x in result]
    return described, [canonical(v) for v in values]


def canonical(array):
    """The bytes of the array, with one kind of NaN."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    if array.dtype.kind == "c":
        return [canonical(array.real), canonical(array.imag)]
    return array.tobytes()


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_fused_expressions_agree_with_numpy(first):
    for seed in range(first, first + 10):
        source, function, shapes, dtypes = program(seed)
        compiled = ljit.jit(function)
        for call in range(3):
            expected = outcome(function, seed, shapes, dtypes)
            found = outcome(compiled, seed, shapes, dtypes)
            assert found == expected, f"seed {seed}, call {call}: {dtypes} {shapes}\n{source}"
