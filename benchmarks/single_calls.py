"""Calls of one NumPy function each, against NumPy: by dtype, layout and size. No cell should be below 0.95.

What is fast in a program is there because much happens at once; here nothing does, so the table shows what the
choice between native code and NumPy's own costs or gains. A cell that comes out low is measured again, for longer,
before it counts. Cells are NumPy's time over ljit's; those that are too slow are listed at the end, the worst first.
"""

from __future__ import annotations

import argparse
import json
import linecache
import math
import statistics
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pairing import measure, time_calls

import ljit
from ljit import config

LIMIT, SUSPECT = 0.95, 1.0
CALLS, LONGEST = 2000, 0.05  # calls and seconds after which a call is what it will be
DTYPES = ("float64", "float32", "int32", "int64", "bool", "complex128", "uint8")
MORE_DTYPES = (
    "float16",
    "int8",
    "int16",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
)  # for --dtypes
LAYOUTS = ("contiguous", "strided", "reversed", "transposed")
SIZES = (1, 10, 100, 1_000, 100_000, 1_000_000)
SHAPES = {
    1: ((1,), (10,), (100,), (1_000,), (100_000,), (1_000_000,)),
    2: ((1, 1), (2, 5), (10, 10), (25, 40), (250, 400), (1000, 1000)),
    3: ((1, 1, 1), (2, 2, 3), (4, 5, 5), (8, 10, 12), (40, 50, 50), (100, 100, 100)),
}
REAL, NUMBERS, FLOATS, ALL = "iuf", "iufc", "f", "biufc"


@dataclass(frozen=True)
class Group:
    """Expressions or statements of `a`: of arrays of some ranks, whose dtypes have some kinds."""

    texts: str  # one a line
    ranks: tuple[int, ...] = (1, 2)
    kinds: str = ALL
    layouts: tuple[str, ...] = LAYOUTS


GROUPS: dict[str, list[Group]] = {
    "reductions": [
        Group("a.sum()\na.prod()\na.mean()\na.any()\na.all()\nnp.count_nonzero(a)", (1, 2, 3)),
        Group("a.min()\na.max()\na.argmin()\na.argmax()\na.std()\nnp.ptp(a)", (1, 2), REAL),
        Group("np.nansum(a)\nnp.nanmax(a)\nnp.median(a)", (1,), FLOATS),
        Group("d.argmin()\nd.argmax()", (1,), REAL),
    ],
    "axes": [
        Group("a.sum(axis=0)\na.sum(axis=-1)\na.all(axis=0)\na.any(axis=-1)", (2, 3)),
        Group("a.mean(axis=0)\na.mean(axis=-1)", (2, 3), NUMBERS),
        Group("a.max(axis=0)\na.max(axis=-1)", (2, 3), REAL),
        Group("a.argmax(axis=0)\na.argmax(axis=-1)", (2,), REAL),
        Group("a.std(axis=0)\na.std(axis=-1)", (2,), "f"),
    ],
    "elementwise": [
        Group("a + b\na * b\na == b\na + 1", (1, 2)),
        Group("a - b\n-a\na / b\nabs(a)\na * a", (1, 2), NUMBERS),
        Group("a // b\na % b\na < b\nnp.maximum(a, b)\nnp.sign(a)\na ** 2", (1, 2), REAL),
        Group("a & b\n~a\nnp.logical_not(a)\nnp.logical_and(a, b)", (1, 2), "biu"),
        Group("a << 2\na ^ b\na // s\na % s\na // 7\na % 7", (1,), "iu"),
        Group("np.sqrt(a)\nnp.floor(a)\nnp.isnan(a)\nnp.round(a)\nnp.square(a)", (1, 2), FLOATS),
        Group(
            "np.exp(a)\nnp.log(a)\nnp.sin(a)\nnp.tanh(a)\na ** 1.5\nnp.arctan2(a, b)", (1, 2), "f"
        ),
        Group("np.hypot(a, b)\nnp.log1p(a)\nnp.cbrt(a)\nnp.fmod(a, b)", (1,), "f"),
        Group("np.exp(a)\nnp.sqrt(a)\na.conj()\na.real * 1\nnp.angle(a)", (1,), "c"),
        Group("a.astype(np.float64)\na.astype(np.int64)\na.astype(np.float32)", (1, 2), "biuf"),
        Group("a + r\na * r\na + r[0]", (2, 3), NUMBERS),
    ],
    "shapes": [  # of as many elements as `a`
        Group("a3.sum(axis=0)\na3.sum(axis=1)\na8.mean(axis=1)", (1,), NUMBERS, ("contiguous",)),
        Group(
            "a3.max(axis=0)\na3.min(axis=1)\na8.max(axis=1)\na8.argmax(axis=1)",
            (1,),
            REAL,
            ("contiguous",),
        ),
        Group("a3.any(axis=1)\na8.all(axis=0)\na8.all(axis=1)", (1,), "biuf", ("contiguous",)),
        Group("a3 + r3\na3 * a3\nc + w1\nc * w1\nx2 - c\nx2 / w1", (1,), NUMBERS, ("contiguous",)),
        Group("c == w1\nx2 < c", (1,), REAL, ("contiguous",)),
        Group(
            "x2 + x2.T\nx2.T.copy()\nx2[...] = y2.T\nx2.T.sum(axis=0)", (1,), ALL, ("contiguous",)
        ),
        Group("z + z\nz.sum()\nz.copy()\nnp.sqrt(z)", (1,), FLOATS, ("contiguous",)),
    ],
    "selections": [
        Group("np.take(a, i)\na[i]\na[m]\nnp.where(m, a, b)\nnp.compress(m, a)", (1,)),
        Group("np.take(a, i, axis=0)\na[i]\na[m]\nnp.where(m, a, b)\na[:, j]\na[i, j]", (2,)),
        Group("np.take(t, k, axis=0)\nt[k]", (1,), layouts=("contiguous",)),
        Group("np.nonzero(a)\nnp.flatnonzero(a)\nnp.argwhere(a)\nnp.where(m)", (1, 2)),
        Group("np.clip(a, 1, 50)", (1, 2), REAL),
        Group("np.searchsorted(p, a)\nnp.interp(a, p, p)\nnp.digitize(a, p)", (1,), REAL),
        Group("np.take_along_axis(a, o, axis=0)\nnp.isin(a, h)\nnp.bincount(i)", (1,), "iuf"),
        Group("np.extract(m, a)\nnp.choose(y, (a, b))\nnp.select([m], [a], 0)", (1,)),
    ],
    "stores": [
        Group("a[:] = b\na[m] = 1\na[i] = b\na.fill(1)\na[:] = 1\nnp.put(a, i, b)", (1,)),
        Group("a[:] = b\na[m] = 1\na[i] = b\na[:, 0] = 1\na[:, j] = b", (2,)),
        Group("a += b\na *= b\na += 1\nnp.add.at(a, i, 1)", (1,), "iuf"),
        Group("np.copyto(a, b)\nnp.putmask(a, m, b)\nnp.place(a, m, b)", (1,)),
        Group("np.add(a, b, out=a)", (1, 2)),
    ],
    "manipulation": [
        Group("np.concatenate((a, b))\nnp.stack((a, b))\nnp.hstack((a, b))\nnp.vstack((a, b))"),
        Group("np.roll(a, 1)\nnp.flip(a)\nnp.flip(a).copy()\nnp.pad(a, 1)\nnp.tile(a, 2)"),
        Group("np.repeat(a, 3)\na.copy()\nnp.ravel(a)\na.flatten()\na.reshape(-1)\na.T.copy()"),
        Group("np.zeros_like(a)\nnp.ones_like(a)\nnp.full_like(a, 1)\na.tolist()"),
        Group(
            "np.concatenate((a, b), axis=1)\nnp.stack((a, b), axis=-1)\nnp.roll(a, 1, axis=1)", (2,)
        ),
        Group(
            "np.tril(a)\nnp.triu(a, 1)\nnp.diag(a)\nnp.repeat(a, 3, axis=0)\nnp.tile(a, (1, 2))",
            (2,),
        ),
        Group("np.append(a, b)\nnp.split(a, 2)\nnp.delete(a, 1)\nnp.insert(a, 1, 1)", (1,)),
        Group(
            "np.zeros(n)\nnp.ones(n)\nnp.arange(n)\nnp.linspace(0, 1, n)",
            (1,),
            "f",
            ("contiguous",),
        ),
        Group(
            "np.eye(w)\nnp.indices((w, w))\nnp.meshgrid(v, v)\nnp.identity(w)",
            (1,),
            "f",
            ("contiguous",),
        ),
    ],
    "scans": [
        Group("np.cumsum(a)\nnp.cumprod(a)", (1, 2), NUMBERS),
        Group("np.diff(a)\nnp.ediff1d(a)", (1,), NUMBERS),
        Group(
            "np.cumsum(a, axis=0)\nnp.cumsum(a, axis=1)\nnp.diff(a, axis=0)\nnp.diff(a)",
            (2,),
            NUMBERS,
        ),
        Group("np.gradient(a)\nnp.trapezoid(a)", (1,), "f"),
        Group("np.maximum.accumulate(a)\nnp.add.accumulate(a)", (1,), REAL),
        Group("np.convolve(a, h)\nnp.correlate(a, h)", (1,), NUMBERS),
    ],
    "products": [
        Group("np.dot(a, b)\nnp.vdot(a, b)\na @ b\nnp.einsum('i,i', a, b)", (1,), NUMBERS),
        Group("np.outer(v, v)\nnp.multiply.outer(v, v)", (1,), "f", ("contiguous",)),
        Group("a @ l\nl2 @ a\nnp.einsum('ij,ij->i', a, b)\nnp.einsum('ij->j', a)", (2,), NUMBERS),
        Group("np.trace(a)\nnp.inner(a, h2)\nnp.linalg.norm(a)", (2,), "f"),
        Group("np.einsum('ij->ji', a)\nnp.kron(v2, v2)", (2,), "f"),
        Group("x @ x\nnp.tensordot(x, x)", (1,), NUMBERS, ("contiguous",)),
    ],
    "sorting": [
        Group("np.sort(a)\nnp.argsort(a)\nnp.unique(a)", (1,)),
        Group("np.sort(a, axis=0)\nnp.argsort(a)", (2,), "f"),
        Group(
            "np.partition(a, 3)\nnp.histogram(a)\nnp.array_equal(a, b)\nnp.allclose(a, b)",
            (1,),
            REAL,
        ),
        Group("np.median(a)\nnp.percentile(a, 30)\nnp.percentile(a, [25, 75])", (1,), REAL),
        Group("np.median(a, axis=0)\nnp.median(a, axis=1)", (2,), REAL),
        Group("np.histogram(a, p)\nnp.histogram(a, weights=a)", (1,), "f"),
    ],
}


@dataclass(frozen=True)
class Cell:
    group: str
    text: str
    dtype: str
    layout: str
    shape: tuple[int, ...]


class Operands(dict[str, Any]):
    """The names in the texts, made when they are asked for."""

    def __init__(self, dtype: str, layout: str, shape: tuple[int, ...]) -> None:
        self.dtype, self.layout, self.shape = np.dtype(dtype), layout, shape
        self.rng = np.random.default_rng(1)

    def __missing__(self, name: str) -> Any:
        self[name] = made = getattr(self, f"make_{name}")()
        return made

    def numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        if self.dtype.kind == "f":
            made = self.rng.uniform(0.1, 2.0, shape)
        elif self.dtype.kind == "c":
            made = self.rng.uniform(0.1, 2.0, shape) + 1j * self.rng.uniform(0.1, 2.0, shape)
        elif self.dtype.kind == "b":
            made = self.mask(shape)
        else:
            made = self.rng.integers(1, 100, shape)
        return np.asarray(made, self.dtype)

    def mask(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.rng.random(shape) < 0.5

    def laid_out(self, a: np.ndarray) -> np.ndarray:
        if self.layout == "strided":
            return np.repeat(a, 2, axis=-1)[..., ::2]
        if self.layout == "reversed":
            return np.ascontiguousarray(a[..., ::-1])[..., ::-1]
        return np.asfortranarray(a) if self.layout == "transposed" else a

    def make_a(self) -> np.ndarray:
        return self.laid_out(self.numbers(self.shape))

    make_b = make_a

    def make_s(self) -> Any:  # a number
        return self.numbers((1,))[0]

    def make_d(self) -> np.ndarray:  # descending
        return self.laid_out(np.sort(self.numbers(self.shape))[::-1].copy())

    def make_r(self) -> np.ndarray:  # a row
        return self.numbers(self.shape[-1:])

    def make_h(self) -> np.ndarray:  # a few
        return self.numbers((5,))

    def make_h2(self) -> np.ndarray:  # a few rows
        return self.numbers((3, self.shape[-1]))

    def make_l(self) -> np.ndarray:  # times the last axis
        return self.numbers(self.shape[-1:])

    def make_l2(self) -> np.ndarray:  # times the first axis
        return self.numbers(self.shape[:1])

    def make_v(self) -> np.ndarray:
        return self.numbers((self.make_w(),))

    def make_v2(self) -> np.ndarray:
        return self.numbers((2, math.isqrt(self.make_w())))

    def make_x(self) -> np.ndarray:  # a square matrix whose product is not too long
        width = min(self.make_w(), 400)
        return self.numbers((width, width))

    def make_m(self) -> np.ndarray:
        return self.mask(self.shape)

    def make_y(self) -> np.ndarray:  # choices
        return self.rng.integers(0, 2, self.shape)

    def make_o(self) -> np.ndarray:  # an order
        return self.rng.permutation(self.shape[0])

    def make_i(self) -> np.ndarray:
        return self.rng.integers(0, self.shape[0], self.shape[0])

    def make_j(self) -> np.ndarray:
        return self.rng.integers(0, self.shape[-1], self.shape[0])

    def make_t(self) -> np.ndarray:  # rows of four
        return self.numbers((self.shape[0] // 4 + 1, 4))

    def make_k(self) -> np.ndarray:
        return self.rng.integers(0, self.shape[0] // 4 + 1, self.shape[0] // 4 + 1)

    def make_a3(self) -> np.ndarray:  # rows of three
        return self.numbers((self.shape[0] // 3 + 1, 3))

    def make_r3(self) -> np.ndarray:
        return self.numbers((3,))

    def make_a8(self) -> np.ndarray:  # rows of eight
        return self.numbers((self.shape[0] // 8 + 1, 8))

    def make_c(self) -> np.ndarray:  # a column
        return self.numbers((self.make_w(), 1))

    def make_w1(self) -> np.ndarray:  # a row as long
        return self.numbers((1, self.make_w()))

    def make_x2(self) -> np.ndarray:  # a square
        return self.numbers((self.make_w(), self.make_w()))

    make_y2 = make_x2

    def make_z(self) -> np.ndarray:  # no axes
        return self.numbers(())

    def make_p(self) -> np.ndarray:  # sorted points
        return np.linspace(0, 100 if self.dtype.kind != "f" else 2, 100)

    def make_n(self) -> int:
        return math.prod(self.shape)

    def make_w(self) -> int:  # so wide is a square matrix of that size
        return math.isqrt(math.prod(self.shape))


NAMES = {name.removeprefix("make_") for name in dir(Operands) if name.startswith("make_")}


def cells(options: argparse.Namespace) -> Iterator[list[Cell]]:
    """All cells that are asked for; those in one list share a function."""
    for name, parts in GROUPS.items():
        for part in parts if name in options.groups else ():
            for text in filter(lambda t: options.only in t, part.texts.splitlines()):
                for dtype in (d for d in options.dtypes if np.dtype(d).kind in part.kinds):
                    for rank in part.ranks:
                        for layout in (x for x in options.layouts if x in part.layouts):
                            if rank == 1 and layout == "transposed":
                                continue
                            shapes = [SHAPES[rank][SIZES.index(n)] for n in options.sizes]
                            yield [Cell(name, text, dtype, layout, s) for s in shapes]


def function_of(text: str) -> tuple[Any, list[str]]:
    """The text as a Python function, and the names of its parameters."""
    try:
        code, is_statement = compile(text, "", "eval"), False
    except SyntaxError:
        code, is_statement = compile(text, "", "exec"), True
    names = [x for x in dict.fromkeys((*code.co_names, *code.co_varnames)) if x in NAMES]
    file = f"<{text}>"
    source = f"def call({', '.join(names)}):\n    {'' if is_statement else 'return '}{text}\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), scope)
    return scope["call"], names


def speeds(row: list[Cell]) -> Iterator[tuple[Cell, float, float]]:
    """For each cell of a function: how many times as fast it is as NumPy, and NumPy's time."""
    plain, names = function_of(row[0].text)
    native = ljit.jit(plain)
    for cell in row:
        operands = Operands(cell.dtype, cell.layout, cell.shape)
        args = [operands[name] for name in names]

        def by_numpy(args: list[Any] = args) -> Any:
            return plain(*args)

        def by_ljit(args: list[Any] = args) -> Any:
            return native(*args)

        try:
            by_numpy()
        except (TypeError, ValueError, AttributeError):  # not for this dtype
            continue
        taken = min(time_calls(by_numpy, 1) for _ in range(3))
        for _ in range(min(CALLS, 5 + round(LONGEST / max(taken, 1e-7)))):
            by_ljit()
        calls = max(1, round(2e-4 / max(taken, 2e-7)))
        found = measure(by_numpy, by_ljit, 5, (calls, calls))
        if found.ratio < SUSPECT:
            found = measure(by_numpy, by_ljit, 15, (3 * calls, 3 * calls))
        if found.ratio < LIMIT:
            found = max(
                found, measure(by_numpy, by_ljit, 15, (3 * calls, 3 * calls)), key=lambda x: x.ratio
            )
        yield cell, found.ratio, found.first


def load_compiler() -> None:
    """Load LLVM: in a process without it, thousands of calls that are left to CPython take a detour."""
    native = ljit.jit(lambda a: a + a)
    for _ in range(2):
        native(np.ones(3))


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def show(results: list[tuple[Cell, float, float]]) -> None:
    for cell, ratio, taken in sorted(results, key=lambda x: x[1]):
        shape = "x".join(map(str, cell.shape))
        what = f"{cell.text:32} {cell.dtype:10} {cell.layout:10} {shape:11}"
        print(f"{what} {ratio:6.2f}x  {taken * 1e6:10.1f} us")


def report(results: list[tuple[Cell, float, float]]) -> None:
    print(f"\n{'group':14} {'cells':>6} {'>= 0.95':>8} {'mean':>7} {'worst':>7}")
    for group in [*GROUPS, None]:
        found = [ratio for cell, ratio, _ in results if group in (cell.group, None)]
        if found:
            share = sum(x >= LIMIT for x in found) / len(found)
            mean, worst = geometric_mean(found), min(found)
            print(f"{group or 'all':14} {len(found):6} {share:8.1%} {mean:6.2f}x {worst:6.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--dtypes", nargs="*", default=list(DTYPES), choices=DTYPES + MORE_DTYPES)
    parser.add_argument("--layouts", nargs="*", default=list(LAYOUTS))
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--only", default="", help="calls whose text has this in it")
    parser.add_argument("--all", action="store_true", help="list every cell")
    parser.add_argument("--json", help="write the cells to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    results = []
    load_compiler()
    with config.overridden(quick_runs=0):
        for row in cells(options):
            results += speeds(row)
    show([x for x in results if x[1] < LIMIT or options.all])
    report(results)
    if options.json:
        rows = [[*vars(cell).values(), ratio, taken] for cell, ratio, taken in results]
        with open(options.json, "w") as file:
            json.dump(rows, file)


if __name__ == "__main__":
    main()
