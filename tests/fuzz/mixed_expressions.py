"""Random expressions of all kinds, over the variables that `mixed_programs` gives its functions."""

from __future__ import annotations

import random
from functools import partial

__all__ = ["DTYPES", "MixedExpressions"]

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
INTS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "-5",
    "2**31",
    "2**62",
    "-2**63",
    "2**63 - 1",
    "2**63",
    "10**20",
    "True",
]


_BOUNDS = ["", "", "1", "2", "-1", "k", "n", "k % 4", "-3", "100", "None"]


class MixedExpressions:
    """Gives expressions; `put` adds lines."""

    def __init__(self, seed):
        self.random = random.Random(f"mixed {seed}")
        self.lines = []
        self.count = 0
        self.functions = []

    def put(self, d, t):
        self.lines.append("    " * d + t)

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # expressions
    def integer(self, d=0):
        r = self.random
        if d > 2 or r.random() < 0.3:
            return r.choice(
                [
                    "n",
                    "k",
                    "k",
                    "c",
                    "j",
                    str(r.randint(-3, 9)),
                    str(r.randint(0, 3)),
                    r.choice(INTS),
                ]
            )
        p, q = (lambda: self.integer(d + 1)), (lambda: self.integer(d + 1))
        return r.choice(
            [
                lambda: f"({p()} {r.choice('+ - *'.split())} {q()})",
                lambda: f"({p()} {r.choice('// % & | ^'.split())} {q()})",
                lambda: f"({p()} {r.choice('<< >>'.split())} ({q()} % {r.choice([5, 70])}))",
                lambda: f"{r.choice('-~+')}{p()}",
                lambda: f"abs({p()})",
                lambda: f"divmod({p()}, {q()})[{r.choice('01')}]",
                lambda: f"len({r.choice(['xs', 'a', 'text', 'table', 'v', 'seen', 'out', 'm'])})",
                lambda: f"({p()} if {self.condition(d + 1)} else {q()})",
                lambda: (
                    f"pow({p()}, {r.choice(['2', '3', 'k % 5'])}, {r.choice(['7', 'n', '1000003'])})"
                ),
                lambda: f"int({self.number(d + 1)})",
                lambda: f"helper({p()}, {q()})",
                lambda: f"helper({p()}, *({q()},), w={q()})",
                lambda: f"gcd({p()}, {q()})",
                lambda: f"fact({p()} % 25)",
                lambda: f"({p()}).bit_length()",
                lambda: f"(c := {p()})",
                lambda: f"ord(text[{self.index('text')}])",
                lambda: f"text.{r.choice(['count', 'find', 'index'])}({self.text_value(d + 1)})",
                lambda: f"sum({self.generator(d)})",
                lambda: f"({self.condition(d + 1)}) + {p()}",
                lambda: f"hash({p()}) % 7",
                lambda: f"note({p()})",
                lambda: f"xs.index({p()})",
                lambda: (
                    f"range({p()}, {q()}, {r.choice(['1', '2', '-1', 'k'])})[{self.index('xs')}]"
                ),
                lambda: f"len(range({p()}, {q()}))",
                lambda: f"{self.call(d)}",
                lambda: f"min({p()}, {q()})",
                lambda: f"max({p()}, {q()}, {p()})",
                lambda: f"{p()} ** ({q()} % 4)",
                lambda: f"reduce(lambda p, q: p + q * {p()}, xs[:3], {q()})",
                lambda: f"(lambda p, q={p()}: p - q)({q()})",
                lambda: f"Slim({p()}).v",
                lambda: f"math.isqrt(abs({p()}))",
            ]
        )()

    def generator(self, d):
        r = self.random
        return r.choice(
            [
                f"({self.number(2)} for w in xs)",
                f"((c := w) + {self.integer(2)} for w in xs[:4])",
                f"(c := c + w for w in range({r.randint(0, 6)}))",
                f"(w * {self.integer(2)} for w in range(k % 7) if w != {self.integer(2)})",
                "(p * q for p in range(3) for q in range(p))",
                f"(w for w in steps({r.randint(0, 5)}))",
                f"(p + q for p, q in zip(xs, range({r.randint(0, 5)})))",
            ]
        )

    def call(self, d):
        if not self.functions:
            return self.integer(d + 1)
        return f"{self.random.choice(self.functions)}({self.integer(d + 1)})"

    def number(self, d=0):
        r = self.random
        if d > 2 or r.random() < 0.3:
            return r.choice(
                ["x", "s", "s", "t", "n", "k", "0.5", "-0.0", "1e300", "2.5", "3", "1j", "True"]
            )
        p = partial(self.number, d + 1)
        return r.choice(
            [
                lambda: f"({p()} {r.choice('+ - * /'.split())} {p()})",
                lambda: f"({p()} {r.choice('+ - *'.split())} {p()})",
                lambda: f"({p()} {r.choice('// %'.split())} {p()})",
                lambda: f"-{p()}",
                lambda: f"abs({p()})",
                lambda: f"xs[{self.index('xs')}]",
                lambda: f"a[{self.index('a')}]",
                lambda: f"m[{self.index('m')}][{self.index('m')}]",
                lambda: f"m[{self.index('m')}, {self.index('m')}]",
                lambda: f"table[{self.key()}]",
                lambda: f"table.get({self.key()}, {p()})",
                lambda: f"float({self.integer(d + 1)})",
                lambda: f"complex({r.choice(['1.5', 'k', 'n'])}, {r.choice(['0.5', 'k'])})",
                lambda: (
                    f"np.{r.choice(['float64', 'float32', 'int64', 'int32', 'uint8', 'int8', 'bool_', 'complex128', 'uint64'])}({r.choice(['3', '1', 'k % 5', '2.5', '0'])})"
                ),
                lambda: f"({p()} if {self.condition(d + 1)} else {p()})",
                lambda: f"({p()} {r.choice(['and', 'or'])} {p()})",
                lambda: f"v.{r.choice(['x', 'y', 'norm', 'z'])}",
                lambda: f"v[{r.choice(['0', '1', 'k', '2', 'k % 2'])}]",
                lambda: f"v({self.integer(d + 1)})",
                lambda: f"abs({self.vector(d + 1)})",
                lambda: f"{self.vector(d + 1)}.x",
                lambda: f"round({p()}, {r.choice(['0', '1', 'k'])})",
                lambda: f"{r.choice(['min', 'max'])}({p()}, {p()})",
                lambda: (
                    f"{r.choice(['min', 'max'])}(xs, key=lambda w: {r.choice(['-w', 'w * w', 'abs(w - 2)'])}, default={p()})"
                ),
                lambda: f"math.{r.choice(['floor', 'fabs', 'sqrt', 'ceil', 'trunc'])}({p()})",
                lambda: (
                    f"{self.array(d + 1)}.{r.choice(['max()', 'min()', 'any()', 'all()', 'argmax()', 'size', 'ndim', 'item(0)', 'real[0]', 'tolist()[0]'])}"
                ),
                lambda: f"note({p()})",
                lambda: self.integer(d + 1),
                lambda: f"Vec.twice({p()})",
            ]
        )()

    def key(self):
        return self.random.choice(
            ["k", "k % 3", "0", "1", "text[:1]", "(k % 2, 1)", "c", "'a'", "n"]
        )

    def index(self, name):
        r = self.random
        return (
            r.choice(
                [
                    "0",
                    "-1",
                    "1",
                    "k",
                    f"k % max(len({name}), 1)",
                    "k % 3",
                    "n",
                    "-k",
                    "True",
                    "Slim(1)",
                    "np.int64(0)",
                ]
            )
            if r.random() < 0.9
            else self.integer(2)
        )

    def slice(self):
        r = self.random
        e = partial(r.choice, _BOUNDS)
        step = r.choice(["", "", ":", ":2", ":-1", ":-2", ":3", ":k", ":n", ":-3"])
        return f"{e()}:{e()}{step}"

    def text_value(self, d=0):
        r = self.random
        if d > 1 or r.random() < 0.3:
            return r.choice(["text", "text", "'ab'", "'a'", "''", "'é'", "str(k)", "text[0]"])
        p = partial(self.text_value, d + 1)
        return r.choice(
            [
                lambda: f"({p()} + {p()})",
                lambda: f"text[{self.slice()}]",
                lambda: f"text[{self.index('text')}]",
                lambda: (
                    'f"{%s}%s{%s:%s}"'
                    % (
                        self.random.choice(["k", "s", "x", "n", "text", "v"]),
                        r.choice(["", "-", " "]),
                        r.choice(["k", "n"]),
                        r.choice([">4", "03d", "x", "+", ",", "d"]),
                    )
                ),
                lambda: (
                    f"{p()}.{r.choice(['upper()', 'lower()', 'strip()', 'title()', 'swapcase()', 'zfill(5)'])}"
                ),
                lambda: f"{p()}.replace({p()}, {p()})",
                lambda: f"({p()} * (k % 3))",
                lambda: f"{p()}.join([{p()}, {p()}])",
                lambda: f"'%s|%r' % ({r.choice(['k', 's', 'n', 'x'])}, {p()})",
                lambda: (
                    f"''.join({r.choice(['sorted(text)', 'reversed(text)', '[ch for ch in text if ch != chr(97)]', '(ch * 2 for ch in text)'])})"
                ),
                lambda: f"chr(97 + ({self.integer(2)}) % 26)",
                lambda: f"max({p()}, {p()})",
                lambda: f"repr({self.number(2)})",
                lambda: f"str({self.integer(1)})",
            ]
        )()

    def vector(self, d=0):
        r = self.random
        if d > 1 or r.random() < 0.3:
            return r.choice(["v", "v", "Vec(k, 1)", "Far(n, k)", "Vec.of(k)"])
        p = partial(self.vector, d + 1)
        return r.choice(
            [
                lambda: f"({p()} {r.choice('+ -'.split())} {p()})",
                lambda: f"({p()} * {self.number(d + 1)})",
                lambda: f"({self.number(d + 1)} {r.choice('+ *'.split())} {p()})",
                lambda: f"(-{p()})",
                lambda: f"{p()}.step({self.integer(d + 1)})",
                lambda: f"max({p()}, {p()})",
                lambda: f"Vec({self.number(d + 1)}, {self.number(d + 1)})",
                lambda: f"({p()} if {self.condition(d + 1)} else {p()})",
            ]
        )()

    def array(self, d=0):
        r = self.random
        if d > 1 or r.random() < 0.3:
            return r.choice(
                [
                    "a",
                    "a",
                    "m[0]",
                    f"a[{self.slice()}]",
                    "m.T[0]",
                    f"m[{self.index('m')}]",
                    "b",
                    "b",
                ]
            )
        p = partial(self.array, d + 1)
        return r.choice(
            [
                lambda: f"({p()} {r.choice('+ - *'.split())} {p()})",
                lambda: (
                    f"({p()} {r.choice('+ - * // %'.split())} {r.choice(['2', 'k', 'True', '0.5', 's', 'np.float32(1.5)', 'n'])})"
                ),
                lambda: f"({r.choice(['2', 'k', '1.5', 'x'])} {r.choice('+ - *'.split())} {p()})",
                lambda: f"{p()}[{self.slice()}]",
                lambda: (
                    f"({p()} {r.choice(['<', '<=', '==', '!=', '>'])} {r.choice(['k', '1', p(), 'x'])})"
                ),
                lambda: (
                    f"np.{r.choice(['minimum', 'maximum'])}({p()}, {r.choice(['k', '1', p()])})"
                ),
                lambda: (
                    f"np.where({p()} > {r.choice(['k', '1'])}, {p()}, {r.choice(['0', 'k', p()])})"
                ),
                lambda: (
                    f"{p()}.astype(np.{r.choice(DTYPES[1:])})"
                    if r.random() < 0.5
                    else f"np.abs({p()})"
                ),
                lambda: f"m[{self.slice()}, {self.index('m')}]",
                lambda: f"np.{r.choice(['zeros_like', 'ones_like'])}({p()})",
                lambda: f"a[[0, {r.choice(['1', '-1', 'k'])}]]",
                lambda: f"a[{p()} > {r.choice(['k', '1'])}]",
                lambda: (
                    f"np.arange({r.choice(['4', 'k', 'n % 6'])}, dtype=a.dtype)"
                    if r.random() < 0.5
                    else "np.arange(k, n % 9)"
                ),
                lambda: f"{p()}.copy()",
                lambda: f"-{p()}",
                lambda: (
                    f"({p()} {r.choice(['&', '|', '^', '<<', '>>'])} {r.choice(['1', 'k', p()])})"
                ),
            ]
        )()

    def condition(self, d=0):
        r = self.random
        i, num = (lambda: self.integer(d + 1)), (lambda: self.number(d + 1))
        return r.choice(
            [
                lambda: f"{i()} {r.choice(['<', '<=', '==', '!=', '>', '>='])} {i()}",
                lambda: f"{num()} {r.choice(['<', '<=', '==', '!=', '>'])} {num()}",
                lambda: f"note({i()}) < note({i()}) <= note({i()})",
                lambda: (
                    f"{i()} {r.choice(['<', '==', '!='])} {num()} {r.choice(['>', '<='])} {i()}"
                ),
                lambda: f"not {num()}",
                lambda: (
                    f"{num()} {r.choice(['in', 'not in'])} {r.choice(['xs', 'table', 'seen', 'v', '(1, 2, s)', 'range(k, n)', 'text'])}"
                ),
                lambda: (
                    f"{self.text_value(d + 1)} {r.choice(['in', '==', '<', 'not in'])} {r.choice(['text', self.text_value(d + 1)])}"
                ),
                lambda: (
                    f"isinstance({num()}, {r.choice(['int', 'float', '(int, float)', 'complex', 'np.floating', 'bool', 'Vec'])})"
                ),
                lambda: (
                    f"{self.vector(d + 1)} {r.choice(['==', '!=', '<', '>'])} {self.vector(d + 1)}"
                ),
                lambda: (
                    f"({self.condition(d + 1) if d < 2 else 'k'} {r.choice(['and', 'or'])} {self.condition(d + 1) if d < 2 else 'n'})"
                ),
                lambda: f"{r.choice(['any', 'all'])}({self.generator(d)})",
                lambda: f"{r.choice(['s', 't', 'v'])} is {r.choice(['None', 't', 'v'])}",
                lambda: f"({r.choice('ck')} := {i()}) > {i()}",
                lambda: "xs",
                lambda: "v",
                lambda: "table",
                lambda: "text",
            ]
        )()
