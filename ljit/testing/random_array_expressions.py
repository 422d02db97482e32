"""Random array expressions as source text, each of which runs on the variables that there are.

`ExpressionWriter` tries what it has written on sample values; simpler expressions are tried if one does not run.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["ExpressionWriter", "InvalidError"]

_LARGEST = 600  # elements of an intermediate result

# templates of expressions; {0} and {1} are operands, {2} is a new name
_UNARY = """
-{0} | +{0} | ~{0} | abs({0}) | np.floor({0}) | np.rint({0}) | np.sign({0}) | np.sqrt(abs({0})) |
np.isnan({0}) | np.square({0}) | np.trunc({0}) | np.signbit({0}) | np.isfinite({0}) | np.conj({0}) |
np.logical_not({0}) | np.reciprocal({0})
"""
_SMOOTH = """
np.exp(-np.abs({0})) | np.sin({0}) | np.cos({0}) | np.tanh({0}) | np.log1p(np.abs({0})) |
np.sqrt(np.abs({0})) | np.exp({0} - np.max({0})) | np.arctan({0}) | 1.0 / (1.0 + np.exp(-{0})) |
np.log(np.abs({0}) + 1.0) | np.hypot({0}, 1.0) | np.expm1(-np.abs({0})) | np.cbrt({0})
"""
_SHAPED = """
{0}.T | {0}.ravel() | {0}.reshape(-1) | {0}.reshape(-1, 1) | {0}.copy() | {0}.transpose() |
{0}.flatten() | np.swapaxes({0}, 0, -1) | {0}[::-1] | np.squeeze({0}) | {0}.reshape({0}.shape[::-1])
| np.flip({0}, 0) | np.roll({0}, 1) | np.concatenate(({0}, {1})) | np.stack(({0}, {1})) |
np.broadcast_to({0}, (2,) + {0}.shape) | np.expand_dims({0}, 0) | np.hstack(({0}, {1})) |
np.repeat({0}, 2) | np.diff({0}) | np.atleast_2d({0}) | np.tile({0}, 2) | {0}.real | {0}.imag |
np.vstack(({0}, {1})) | np.moveaxis({0}, 0, -1) | {0}.diagonal() | np.triu({0}) | np.outer({0}, {1})
"""
_FUNCTIONS = """
blend({0}, {1}) | blend({0}, {1}, 0.25) | shifted({0}) | np.add({0}, {1}) | np.zeros_like({0}) |
np.arange(len({0})) | np.full({0}.shape, 2.5) | np.full({0}.shape, x) | np.full({0}.shape, i) |
np.ones((0, 3)) | np.ones((2, 1)) | np.ones((3, 2), np.float32) | np.empty_like({0}) * 0 == 5 |
np.multiply({0}, {1}) | np.array([{1}, {1}]) | np.linspace(0, 1, 5) | np.zeros(({0}).shape,
{0}.dtype)
"""
_INEXACT = """
({0} @ {1}) | np.dot({0}, {1}) | np.sum({0} * {1}, axis=-1) | np.exp({0}).sum() | {0} /
{0}.sum(axis=-1, keepdims=True)
"""
_EXACT = """
{0}[{1} > 0] | {0}[[0, -1, 1]] | np.sort({0}) | np.nonzero({0})[0] | {0}[u % {0}.shape[0]] |
{0}.size | {0}.shape[0] | divmod({0}, {1})[0] | np.fmod({0}, {1}) | np.argsort({0}, kind='stable') |
np.take({0}, [1, 0], axis=0) | len({0}) | np.count_nonzero({0}) | {0}.item(0) | float({0}.max()) |
np.bincount(abs({0}) % 5) | np.isclose({0}, {1}) | np.searchsorted(np.sort({0}, axis=None), {1}) |
np.interp({0}, np.arange(4.0), np.arange(4.0) ** 2) | np.digitize({0}, np.arange(4)) |
({0} * 1j) ** 3 | np.take({0}, u % {0}.size) * 2 | {0}[u % {0}.shape[0], u % {0}.shape[-1]] * 2
"""


class InvalidError(Exception):
    """What was written does not run on the sample values."""


class ExpressionWriter:
    """Writes expressions over the variables of `env`, which holds them as they are there.

    `exact`: only of ops whose results NumPy defines to the bit.
    """

    def __init__(self, random: random.Random, *, exact: bool) -> None:
        self.random = random
        self.exact = exact
        self.env: dict[str, Any] = {}

    def run(self, text: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(text, self.env)
            except Exception as error:
                raise InvalidError from error
        if not self.exact and not all(map(_is_tame, self.env.values())):
            raise InvalidError

    def value(self, text: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = eval(text, self.env)
            except Exception as error:
                raise InvalidError from error
        if isinstance(found, np.ndarray) and (found.size > _LARGEST or found.ndim > 4):
            raise InvalidError
        if isinstance(found, int) and abs(found) > 2**64:
            raise InvalidError
        return found

    # -- expressions -------------------------------------------------------------------------------

    def variables(self, test: Callable[[Any], bool]) -> list[str]:
        return [
            n
            for n, v in self.env.items()
            if n not in ("np", "__builtins__") and not callable(v) and test(v)
        ]

    def array_name(self, test: Callable[[Any], bool] = lambda v: True) -> str:
        found = self.variables(lambda v: isinstance(v, np.ndarray) and test(v))
        if not found:
            raise InvalidError
        return self.random.choice(found)

    def leaf(self) -> str:
        r = self.random
        kind = r.random()
        if kind < 0.75:
            return self.array_name(lambda v: self.exact or v.dtype.kind != "b")
        if kind < 0.9:
            return r.choice(self.variables(np.isscalar))
        return r.choice(
            ["2", "0.5", "-1", "1.5", "3", "np.float32(0.25)", "0", "True", "np.int8(3)"]
        )

    def expression(self, depth: int = 0) -> str:
        """An expression that runs; simpler ones are tried if one does not."""
        r = self.random
        for _ in range(4):
            if depth > 2 or r.random() < 0.15:
                break
            writers = (
                self.binary, self.binary, self.binary, self.unary, self.view, self.choice, self.reduction, self.shaped,
                self.function, self.cast, self.comparison if self.exact else self.smooth,
            )  # fmt: skip
            text = r.choice(writers)(depth + 1)
            try:
                self.value(text)
            except InvalidError:
                continue
            return text
        return self.leaf()

    def array(self, depth: int) -> str:
        for _ in range(5):
            text = self.expression(depth)
            if isinstance(self.value(text), np.ndarray):
                return text
        return self.array_name()

    def binary(self, depth: int) -> str:
        p, q = self.expression(depth), self.expression(depth)
        ops = "+ - * + - * / // % & | ^ ** << >>" if self.exact else "+ - * + - *"
        op = self.random.choice(ops.split())
        if op == "**":
            q = self.random.choice(["2", "3", "0.5", "2.0", q])
            q = q if q != "0.5" else "2"
        if not self.exact and self.random.random() < 0.2:
            return f"({p} / (abs({q}) + 1.0))"
        return f"({p} {op} {q})"

    def fill(self, templates: str, *operands: str) -> str:
        return self.random.choice(" ".join(templates.split()).split(" | ")).format(*operands)

    def unary(self, depth: int) -> str:
        p = self.expression(depth)
        return f"({self.fill(_UNARY if self.exact else '-{0} | np.abs({0}) | np.square({0})', p)})"

    def smooth(self, depth: int) -> str:
        return f"({self.fill(_SMOOTH, self.expression(depth))})"

    def comparison(self, depth: int) -> str:
        p, q = self.expression(depth), self.expression(depth)
        return f"({p} {self.random.choice('< <= > >= == !='.split())} {q})"

    def choice(self, depth: int) -> str:
        r = self.random
        p, q = self.expression(depth), self.expression(depth)
        mask = (
            self.comparison(depth)
            if self.exact and r.random() < 0.6
            else r.choice(["m", "~m", "m[0]", "m[:, :1]"])
        )
        texts = [f"np.where({mask}, {p}, {q})", f"np.minimum({p}, {q})", f"np.maximum({p}, {q})"]
        texts += [
            f"np.clip({p}, {r.choice(['-1', '0', '-0.5', 'None'])}, {r.choice(['1', '2', '1.5'])})"
        ]
        if self.exact:
            texts += [
                f"np.fmin({p}, {q})",
                f"np.copysign({p}, {q})",
                f"np.logical_and({p}, {q})",
                f"{p}.clip({q}, 2)",
            ]
        return r.choice(texts)

    def reduction(self, depth: int) -> str:
        r = self.random
        p = self.array(depth)
        exact = "max min any all argmax argmin ptp" if self.exact else "max min"
        names = exact.split()
        if not self.exact or self.value(p).dtype.kind in "biu":
            names += "sum sum sum prod mean cumsum".split()
        if not self.exact:
            names += "mean var std".split()
        axis = r.choice(["", "", "axis=0", "axis=-1", "axis=1", "axis=(0, 1)"])
        keep = r.choice(["", "", "keepdims=True"])
        name = r.choice(names)
        given = ", ".join(x for x in (axis, keep if name != "cumsum" else "") if x)
        if name == "ptp" or r.random() < 0.3:
            return f"np.{name}({', '.join(x for x in (p, given) if x)})"
        return f"{p}.{name}({given})"

    def view(self, depth: int) -> str:
        """A view of an array: basic indices."""
        p = self.array(depth)
        return f"{p}[{self.index(self.value(p))}]"

    def index(self, value: np.ndarray) -> str:
        r = self.random
        if r.random() < 0.1:
            return "..."
        parts = []
        for size in value.shape[: r.randint(0, value.ndim)]:
            parts.append(self.index_part(size))
        if r.random() < 0.25:
            parts.insert(r.randint(0, len(parts)), "None")
        if r.random() < 0.1 and len(parts) < value.ndim:
            parts.insert(0, "...")
        return ", ".join(parts) or ":"

    def index_part(self, size: int) -> str:
        r = self.random
        if r.random() < 0.25:
            return str(r.choice([0, -1, 1, size // 2]))
        bounds = ["", "", "", "1", "-1", "2", "-2", "i"]
        step = r.choice(["", "", "", ":2", ":-1", ":-2", ":3"])
        return f"{r.choice(bounds)}:{r.choice(bounds)}{step}"

    def shaped(self, depth: int) -> str:
        return self.fill(_SHAPED, self.array(depth), self.array(depth))

    def function(self, depth: int) -> str:
        special = _EXACT if self.exact else _INEXACT
        chosen = self.random.choice([_FUNCTIONS, special])
        return self.fill(chosen, self.expression(depth), self.expression(depth))

    def cast(self, depth: int) -> str:
        r = self.random
        dtypes = (
            "float64 float32 int64 int32 int8 uint8 bool complex128 float16 uint64"
            if self.exact
            else "float64 float32"
        )
        dtype = r.choice(dtypes.split())
        p = self.expression(depth)
        return r.choice(
            [
                f"{p}.astype(np.{dtype})",
                f"np.asarray({p})",
                f"np.{dtype}({p})",
                f"np.array({p}, dtype=np.{dtype})",
            ]
        )


def _is_tame(value: Any) -> bool:
    """Whether rounding errors stay small: of a program that is not exact."""
    if isinstance(value, np.ndarray | np.generic | float) and np.asarray(value).dtype.kind in "fc":
        found = np.asarray(value)
        return bool(np.isfinite(found).all() and (np.abs(found) < 1e4).all())
    return True
