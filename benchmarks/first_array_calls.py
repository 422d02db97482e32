"""What array functions take in their first calls, compiles among it, against NumPy: sums of processor seconds.

Each of some forty functions of one to three lines is new, and is called with arrays of one size. Nothing is warmed up
but the compiler, which is loaded.
"""

from __future__ import annotations

import argparse
import linecache
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ljit

SIZES = (100, 1_000, 3_000, 10_000, 30_000)
CALLS = (10, 100, 1_000)

#: statements; `a`, `b` and `c` are floats, `s` has both signs, `i` ... are of other kinds (`operands`)
PROGRAMS = """
return 2.0 * a + b
return a * b + a * c - b * c * 2.0
return np.sqrt((a * a).sum())
return (a - a.mean()) / a.std()
e = np.exp(a - a.max()); return e / e.sum()
return np.maximum(s, 0.0)
return 1.0 / (1.0 + np.exp(-s))
return np.clip(s, -1.5, 1.5) * 2
return np.where(s > 0, s, 0.1 * s)
return s[s > 0.5].sum()
r = s.copy(); r[r < 0] = 0; return r
return a[1:] - a[:-1]
return (a[:-2] + a[1:-1] + a[2:]) / 3
return m[1:-1, :-2] + m[1:-1, 2:] + m[:-2, 1:-1] + m[2:, 1:-1] - 4 * m[1:-1, 1:-1]
return p / np.sqrt((p * p).sum(axis=1))[:, None]
d = p - p[::-1]; return np.sqrt((d**2).sum(axis=-1))
return m - m.mean(axis=0)
return m + t
return t.sum(axis=1)
return f * f + f
return i // j
return (i % 7) * 3
return (u.astype(np.uint16) + u[::-1]) // 2
return u.astype(np.float32) / 255
return (k & ~k[::-1]) | k
return k.sum()
return z * z
return abs(z)
return g * g - 1
return a[x] * 2
return np.cumsum(a) / len(a)
return np.sin(s) ** 2 + np.cos(s) ** 2
return np.log(a + 1.0).mean()
return (s * 10).astype(np.int64)
return a[::-1].copy()
return s.min(), s.max(), s.argmax()
return m.T @ m
b *= 0.5; b += a; return b
return np.floor(a * 8) / 8
return (i >> 2) & 15
return (s > 9).any() or (s < -9).all()
return np.isnan(a) | np.isinf(b)
return a + 1.0
return a.sum()
"""


def operands(size: int) -> dict[str, np.ndarray]:
    """Arrays of about so many elements."""
    rng, width = np.random.default_rng(1), math.isqrt(size)
    floats, ints = rng.random((3, size)), rng.integers(1, 100, (2, size))
    matrix = rng.random((width, width))
    made = {"a": floats[0], "b": floats[1], "c": floats[2], "s": rng.standard_normal(size)}
    made |= {"m": matrix, "t": matrix.T, "p": rng.random((size // 3, 3)), "i": ints[0] - 50}
    made |= {"j": ints[1], "f": floats[0].astype(np.float32), "u": ints[0].astype(np.uint8)}
    made |= {"k": floats[0] < 0.5, "z": floats[0] + 1j * floats[1]}
    return made | {"g": rng.random(2 * size)[::2], "x": rng.integers(0, size, size)}


def functions(names: Sequence[str]) -> list[tuple[Callable[..., Any], list[str]]]:
    """The programs as Python functions, with the names of their parameters."""
    made = []
    for number, line in enumerate(PROGRAMS.strip().splitlines()):
        code = compile(line.replace("return ", ""), "", "exec")
        params = [x for x in names if x in code.co_names]
        lines = [f"def program({', '.join(params)}):", *(f"    {x}" for x in line.split("; "))]
        file, source = f"<program {number}>", "\n".join(lines) + "\n"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        scope: dict[str, Any] = {"np": np}
        exec(compile(source, file, "exec"), scope)
        made.append((scope["program"], params))
    return made


def seconds(f: Callable[..., Any], args: Sequence[Any], calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        f(*args)
    return time.thread_time() - start


def totals(size: int) -> tuple[list[float], list[float]]:
    """Seconds of all functions for each number of calls: in NumPy, and native."""
    plain, native = [0.0] * len(CALLS), [0.0] * len(CALLS)
    given = operands(size)
    for f, names in functions(list(given)):
        compiled = ljit.jit(f)
        for sums, run in ((plain, f), (native, compiled)):
            args = [given[name].copy(order="K") if name != "g" else given[name] for name in names]
            taken, so_far = 0.0, 0
            for index, calls in enumerate(CALLS):
                taken += seconds(run, args, calls - so_far)
                so_far = calls
                sums[index] += taken
    return plain, native


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    options = parser.parse_args()
    load = ljit.jit(lambda a: a * 2 + 1)
    for _ in range(3):
        load(np.ones(1000))
    print(f"{'elements':>9}" + "".join(f"{f'{n} calls: NumPy, ljit':>28}" for n in CALLS))
    for size in options.sizes:
        pairs = zip(*totals(size), strict=True)
        print(f"{size:9}" + "".join(f"{x * 1e3:17.1f} {y * 1e3:7.1f} ms" for x, y in pairs))


if __name__ == "__main__":
    main()
