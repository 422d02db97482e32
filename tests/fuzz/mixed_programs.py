"""Random programs of everyday statements: classes with operators, closures, `match`, handlers, loops that change what they read.

`random_mixed_program(seed)` gives the text of a module with a function ``f`` of `PARAMETERS`; `random_mixed_arguments`
gives arguments for it: those of the first calls have the same types.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import warnings

import numpy as np

from tests.fuzz.mixed_expressions import DTYPES, MixedExpressions
from tests.fuzz.mixed_module import COMMON

__all__ = ["random_mixed_arguments", "random_mixed_program"]

PARAMETERS = ("n", "x", "a", "m", "xs", "table", "text", "v")
_CAUGHT = [
    "ZeroDivisionError",
    "IndexError",
    "(TypeError, ValueError)",
    "Exception",
    "ArithmeticError",
    "LookupError",
    "KeyError",
    "OverflowError",
    "AttributeError",
]


class _MixedWriter(MixedExpressions):
    """Adds statements."""

    def block(self, d, loop, depth, n=3):
        for _ in range(self.random.randint(1, n)):
            self.statement(d, loop, depth)

    def statement(self, d, loop, depth):
        r, q = self.random, self.random.random()
        if q < 0.5 or depth > 2:
            self.put(d, self.simple())
            if r.random() < 0.15:
                self.put(d, "s, k, c = cut(s), cut(k), cut(c)")
        elif q < 0.56 and loop:
            self.put(d, f"if {self.condition()}:")
            self.put(
                d + 1,
                r.choice(["break", "continue", "continue", "return s, k", "raise ValueError(k)"]),
            )
        elif q < 0.58:
            self.put(d, f"if {self.condition()}:")
            self.put(d + 1, f"return {self.number()}, {self.text_value()}")
        else:
            r.choice(
                [
                    self.loop,
                    self.loop,
                    self.loop,
                    self.branch,
                    self.attempt,
                    self.attempt,
                    self.match,
                    self.within,
                    self.function,
                    self.comprehension,
                ]
            )(d, loop, depth)

    def simple(self):
        r = self.random
        return r.choice(
            [
                lambda: f"s = {self.number()}",
                lambda: f"s {r.choice(['+=', '-=', '*=', '//=', '%=', '/='])} {self.number()}",
                lambda: f"t = {self.number()}",
                lambda: f"{r.choice(['k', 'c'])} = {self.integer()}",
                lambda: (
                    f"{r.choice(['k', 'c'])} {r.choice(['+=', '-=', '*=', '//=', '^=', '<<=', '>>=', '|='])} {r.choice(['1', '3', 'n % 4', 'k % 5', self.integer()])}"
                ),
                lambda: f"text {r.choice(['=', '+='])} {self.text_value()}",
                lambda: f"parts.append({self.text_value()})",
                lambda: f"a[{self.index('a')}] {r.choice(['=', '+=', '*=', '-='])} {self.number()}",
                lambda: (
                    f"a[{self.slice()}] {r.choice(['=', '+=', '*=', '-='])} {r.choice([self.number(1), self.array(1), 'a', 'a[::-1]'])}"
                ),
                lambda: (
                    f"m[{self.index('m')}, {self.index('m')}] {r.choice(['=', '+=', '*='])} {self.number()}"
                ),
                lambda: f"m[{self.slice()}, {self.index('m')}] = {self.number()}",
                lambda: f"b = {self.array()}",
                lambda: (
                    f"b {r.choice(['+=', '*=', '-='])} {r.choice(['1', 'k', '2.5', 'a', self.array(1)])}"
                ),
                lambda: (
                    f"np.{r.choice(['dot', 'matmul'])}(m, m{r.choice(['', '.T'])}, out={r.choice(['mo', 'm', 'mo.T', 'mo[::-1]', 'mo[:2]'])})"
                ),
                lambda: f"mo = m @ {r.choice(['m', 'm.T', 'mo'])}",
                lambda: (
                    f"np.{r.choice(['add', 'multiply', 'subtract', 'maximum'])}(a, {r.choice(['1', 'a', 'k', 'b'])}, out={r.choice(['a', 'b', 'a[::-1]'])})"
                ),
                lambda: f"xs[{self.index('xs')}] {r.choice(['=', '+=', '='])} {self.number()}",
                lambda: f"xs.{r.choice(['append', 'append', 'remove'])}({self.number()})",
                lambda: f"xs.insert({self.index('xs')}, {self.number()})",
                lambda: f"s = xs.pop({r.choice(['', '0', 'k', '-1'])})",
                lambda: (
                    f"xs[{self.slice()}] = {r.choice(['xs[:2]', '[k]', 'range(k % 4)', 'v', 'text', 'a[:2]'])}"
                ),
                lambda: f"del xs[{r.choice([self.slice(), self.index('xs')])}]",
                lambda: "xs = xs[:9]",
                lambda: (
                    f"xs.{r.choice(['reverse()', 'sort()', 'clear()', 'copy()', 'sort(key=abs)', 'extend(xs[:3])'])}"
                ),
                lambda: f"table[{self.key()}] {r.choice(['=', '=', '+='])} {self.number()}",
                lambda: f"table.{r.choice(['pop', 'setdefault'])}({self.key()}, {self.number()})",
                lambda: f"del table[{self.key()}]",
                lambda: f"seen.{r.choice(['add', 'discard', 'remove'])}({self.key()})",
                lambda: f"seen {r.choice(['|=', '&=', '^=', '-='])} {{{self.key()}, {self.key()}}}",
                lambda: (
                    f"{r.choice(['first, *rest', '*rest, last', 'first, *rest, last', '(first, *rest), last'])} = {r.choice(['xs', 'text', 'range(k)', 'v', 'a', '(k, n, s)', 'm', 'table'])}"
                ),
                lambda: (
                    f"s, t = {r.choice(['t, s', 'xs', 'v', '(k, s)', 'divmod(n, k)', '*xs[:1], 2', 'a[:2]'])}"
                ),
                lambda: f"k, xs[{self.index('xs')}] = {self.integer()}, k",
                lambda: f"v = {self.vector()}",
                lambda: (
                    f"v.{r.choice(['x', 'y', 'norm'])} {r.choice(['=', '+=', '*='])} {self.number()}"
                ),
                lambda: (
                    f"v {r.choice(['+=', '-=', '*='])} {r.choice(['1', 'k', 'v', 'Vec(1, s)'])}"
                ),
                lambda: f"v[{r.choice(['0', '1', 'k'])}] {r.choice(['=', '+='])} {self.number()}",
                lambda: f"v.step({self.integer()})",
                lambda: f"out.append(({self.number()}, {self.integer()}))",
                lambda: f"out.append({r.choice([self.text_value(), self.vector(), self.array()])})",
                lambda: f"assert {self.condition()}, {r.choice(['k', 's', repr('wrong')])}",
                lambda: (
                    f"K = {self.integer()}" if self.uses_global else f"k = K + {self.integer()}"
                ),
                lambda: f"first = last = {self.integer()}",
                lambda: f"note({self.number()})",
                lambda: f"del {r.choice(['t', 'first', 'rest'])}",
                lambda: "LOG.append(first)",
            ]
        )()

    def branch(self, d, loop, depth):
        self.put(d, f"if {self.condition()}:")
        self.block(d + 1, loop, depth + 1)
        while self.random.random() < 0.3:
            self.put(d, f"elif {self.condition()}:")
            self.block(d + 1, loop, depth + 1)
        if self.random.random() < 0.4:
            self.put(d, "else:")
            self.block(d + 1, loop, depth + 1)

    def loop(self, d, loop, depth):
        r = self.random
        head = r.choice(
            [
                lambda: (
                    f"for {r.choice('kkcj')} in range({r.choice(['3', '5', 'n % 7', '40', '2, 9, 2', '5, -1, -1', 'k % 9', 'len(xs)', 'len(text)'])}):"
                ),
                lambda: (
                    f"for s in {r.choice(['xs', 'a', 'xs[:5]', 'v', 'a[::2]', 'reversed(xs)', 'm[0]', 'list(table.values())', 'steps(4)', 'sorted(xs)', '(1, 2.5, 1j)', 'map(abs, xs)', 'filter(None, xs)'])}:"
                ),
                lambda: (
                    f"for ch in {r.choice(['text', 'text[:3]', 'sorted(text)', 'parts', 'text.split()'])}:"
                ),
                lambda: (
                    f"for k, {r.choice(['s', 't', 'last'])} in enumerate({r.choice(['xs', 'a', 'text', 'xs, 1', 'm', 'v'])}):"
                ),
                lambda: (
                    f"for s, t in {r.choice(['zip(xs, a)', 'table.items()', 'zip(xs, xs[1:])', 'zip(a, m[0])', 'out', 'zip(text, xs)'])}:"
                ),
                lambda: (
                    f"for c in {r.choice(['table', 'seen', 'list(table)', 'sorted(seen, key=str)', 'a', 'table.keys()'])}:"
                ),
                lambda: f"while {self.condition()}:",
                lambda: f"while (k := k - 1) > {r.choice(['0', '-5', 'c'])}:",
                lambda: "while True:",
                lambda: f"for xs[{r.choice(['0', '-1', 'k'])}] in range(4):",
                lambda: "for v.x in range(3):",
            ]
        )()
        fuel = self.name("fuel")
        self.put(d, f"{fuel} = 0")
        self.put(d, head)
        self.put(d + 1, f"{fuel} += 1")
        self.put(d + 1, f"if {fuel} > {r.choice([6, 12, 45])} or len(LOG) > 200: break")
        self.block(d + 1, True, depth + 1, 4)
        if r.random() < 0.25:
            self.put(d, "else:")
            self.block(d + 1, loop, depth + 1)

    def attempt(self, d, loop, depth):
        r = self.random
        self.put(d, "try:")
        self.block(d + 1, loop, depth + 1)
        if loop and r.random() < 0.3:
            self.put(
                d + 1,
                r.choice(["break", "continue", "return s", f"if {self.condition(1)}: continue"]),
            )
        handled = r.random() < 0.75
        if handled:
            for _ in range(r.choice([1, 1, 2])):
                self.put(d, f"except {r.choice(_CAUGHT)}{r.choice(['', ' as e', ' as e'])}:")
                if r.random() < 0.6:
                    self.put(
                        d + 1,
                        r.choice(
                            [
                                "LOG.append(str(sys_exc()))",
                                "out.append(str(sys_exc()))",
                                "k += 1",
                                "raise",
                                "raise KeyError(k) from None",
                                "raise ValueError('again')",
                                "pass",
                            ]
                        ),
                    )
                self.block(d + 1, loop, depth + 1, 2)
            if r.random() < 0.2:
                self.put(d, "else:")
                self.block(d + 1, loop, depth + 1, 2)
        if not handled or r.random() < 0.3:
            self.put(d, "finally:")
            self.block(d + 1, loop, depth + 1, 2)
            if r.random() < 0.2:
                self.put(
                    d + 1, r.choice(["return k", *(["break", "continue"] if loop else ["k += 2"])])
                )

    def match(self, d, loop, depth):
        r = self.random
        self.put(
            d,
            f"match {r.choice(['k', 's', 'xs', 'v', '(k, n)', 'text', 'table', 'a', '[k, *xs]', 'Slim(k, s)', 'n % 3', 'out', '(s, [k, t])'])}:",
        )
        pats = [
            "0",
            "1 | 2",
            "-1",
            "[]",
            "[p]",
            "[p, q]",
            "[p, *rest]",
            "[*_, last]",
            "(p, (q | [q, _]))",
            "Vec(x=p)",
            "Far()",
            "Slim(p, q)",
            "Slim(0)",
            "{'a': p}",
            "{0: p, **others}",
            "{}",
            "int(p)",
            "float()",
            "str(p)",
            "int() | float() as p",
            "complex()",
            "'ab'",
            "None",
            "True",
            "[int(p), float(q)]",
            "[[p, q], *rest]",
            "p",
            "bool()",
            "np.float64()",
            "2.5",
            "1j",
        ]
        for _ in range(r.randint(1, 4)):
            pat = r.choice(pats)
            guard = f" if {self.condition()}" if r.random() < 0.3 or pat == "p" else ""
            self.put(d, f"    case {pat}{guard}:")
            names = [
                x
                for x in ("p", "q", "rest", "last", "others")
                if x in pat.replace("Slim", "").replace("np", "").replace("complex", "")
            ]
            if names and "|" not in pat:
                self.put(d + 2, f"out.append({r.choice(names)})")
            self.block(d + 2, loop, depth + 1, 2)
        if r.random() < 0.5:
            self.put(d, "    case _:")
            self.block(d + 2, loop, depth + 1, 2)

    def within(self, d, loop, depth):
        self.put(d, f"with Slim({self.integer(1)}){self.random.choice(['', ' as sl'])}:")
        self.block(d + 1, loop, depth + 1)

    def comprehension(self, d, loop, depth):
        r = self.random
        self.put(
            d,
            r.choice(
                [
                    lambda: (
                        f"xs = [{self.number(1)} for w in {r.choice(['xs[:8]', 'range(6)', 'a[:5]', 'v'])}]"
                    ),
                    lambda: f"xs = [w for w in xs if {self.condition(1)}]",
                    lambda: (
                        f"table = {{w: {self.number(1)} for w in {r.choice(['xs[:5]', 'range(4)', 'text'])}}}"
                    ),
                    lambda: f"seen = {{w for w in {r.choice(['xs', 'text', 'range(5)'])}}}",
                    lambda: "out.append([[p * q + k for p in range(3)] for q in xs[:3]])",
                    lambda: f"out.append(list({self.generator(0)}))",
                    lambda: (
                        f"xs = sorted(xs, key=lambda w: {r.choice(['-w', '(w > 1, w)', 'str(w)', 'abs(w)'])})[:9]"
                    ),
                    lambda: "out.append(dict(zip(text, xs)))",
                    lambda: (
                        f"fs = [lambda w, k=k: w + k for k in range(3)]; s = fs[{r.choice(['0', '-1', 'k % 3'])}]({self.number(1)})"
                    ),
                    lambda: f"s = sum(map(lambda w: w * {self.integer(1)}, xs))",
                    lambda: (
                        f"s = [f(n) for f in ({', '.join(self.functions[:2] + ['abs', 'float'])})][{r.choice('01')}]"
                    ),
                ]
            )(),
        )

    def function(self, d, loop, depth):
        r = self.random
        name = self.name("g")
        self.put(d, f"def {name}(p, q={self.integer(1)}):")
        kind = r.choice(["pure", "nonlocal", "read", "loop", "gen"])
        if kind == "nonlocal":
            self.put(d + 1, f"nonlocal {r.choice(['k', 's', 'c', 'text, k'])}")
        if kind == "loop":
            self.put(d + 1, "u = 0")
            self.put(d + 1, f"for j2 in range({r.choice(['3', 'n % 5', '6'])}):")
            self.put(d + 2, f"u += {r.choice(['p * j2', 'p - q', 'k + j2', 'xs[j2]', 'p // j2'])}")
            self.put(d + 1, "return u")
        elif kind == "nonlocal":
            which = self.lines[-1].split()[1].rstrip(",")
            self.put(
                d + 1,
                {
                    "k": "k = k + p",
                    "s": "s = p * 2",
                    "c": "c -= q",
                    "text": "text, k = text + 'z', k + 1",
                }[which],
            )
            self.put(d + 1, f"return p {r.choice('+-*')} {r.choice(['q', 'n', 'k'])}")
        elif kind == "gen":
            self.put(d + 1, f"return sum(w * p for w in range({r.choice(['4', 'n % 5'])}))")
        elif kind == "read":
            self.put(d + 1, f"return p + {r.choice(['k', 's', 'len(xs)', 'v.x', 'c * q'])}")
        else:
            self.put(
                d + 1,
                f"return {r.choice(['p * q', 'p // q', '-p', 'p if p > q else q', f'{name}(p - 1) + 1 if 0 < p < 9 else 0'])}",
            )
        self.functions.append(name)
        self.put(d, f"{r.choice(['k', 's'])} = {name}({self.integer(1)})")
        if d > 1:
            self.functions.remove(name) if r.random() < 0.5 else None

    def text(self):
        r = self.random
        self.uses_global = r.random() < 0.2
        self.put(0, f"def f({', '.join(PARAMETERS)}):")
        if self.uses_global:
            self.put(1, "global K")
        self.put(1, "k, c, j, s, t = 1, 0, 2, 0, 0.5")
        self.put(1, "out, parts, seen, b, mo = [], [], {1, 2}, a.copy(), np.zeros_like(m)")
        for _ in range(r.randint(2, 5)):
            if r.random() < 0.6:
                self.put(1, "try:")
                self.block(2, False, 0)
                self.put(1, "except Exception as e:")
                self.put(2, "out.append(str(sys_exc()))")
            else:
                self.block(1, False, 0)
        self.put(1, "return s, t, k, c, text, xs, table, seen, parts, out, v, b, mo")
        return COMMON + "\n".join(self.lines) + "\n"


def random_mixed_arguments(seed, call, ns):
    """Give fresh arguments, with objects of the classes of the module `ns`."""
    r = random.Random(f"{seed} {call if call > 2 else call // 2}")
    base = random.Random(f"{seed} base")
    plain = call <= 2
    dt = base.choice(DTYPES) if plain or r.random() < 0.6 else r.choice(DTYPES)
    kind = base.randint(0, 3) if plain else r.randint(0, 4)
    n = r.choice([0, 1, 2, 5, 9]) if not plain else r.choice([4, 5])
    if not plain and r.random() < 0.25:
        n = r.choice([2**62, 2**63 - 1, -(2**63), 2**64, 2.0, np.int64(5), True, np.int32(3), -1])
    x = [
        lambda: 1.5,
        lambda: r.uniform(-3, 3),
        lambda: np.float64(2.5),
        lambda: 2,
        lambda: r.choice(
            [float("nan"), float("inf"), -0.0, 1j, np.float32(1.5), 2**62, None, np.uint8(200)]
        ),
    ][kind]()
    size = r.choice([4, 6]) if plain else r.choice([0, 1, 3, 7])
    with np.errstate(all="ignore"):
        a = np.array([r.choice([0, 1, 2, 3, 5, 100]) for _ in range(2 * size)]).astype(dt)
        if not plain:
            a = r.choice([a[:size].copy(), a[::2], a[::-1][:size], a[:size]])
        m = np.array([[r.randint(0, 4) for _ in range(3)] for _ in range(3)]).astype(
            base.choice(["float64", "int64", "float32", dt])
            if plain
            else r.choice(["float64", dt, "complex128"])
        )
    if not plain and r.random() < 0.4:
        m = m.T
    mk = [
        lambda: r.randint(-3, 9),
        lambda: r.randint(-8, 20) * 0.25,
        lambda: r.choice([1, 2.5, True, 0, 1j]),
        lambda: r.choice([2**62, -(2**63), 2**70, 3, 1]),
        lambda: r.choice([np.float64(1.5), np.int64(3), None, "a", 2]),
    ]
    which = base.randint(0, 1) if plain else r.randint(0, 4)
    xs = [mk[which]() for _ in range(size)]
    table = (
        {0: 1, 1: mk[which](), "a": 2}
        if plain
        else r.choice([{}, {0: mk[which](), (0, 1): 2}, {k: mk[which]() for k in range(4)}])
    )
    text = r.choice(["abcab", "a b"]) if plain else r.choice(["", "é1", "zz top", "日本", "A" * 9])
    v = (
        ns["Vec"](1, 2)
        if plain
        else r.choice(
            [
                ns["Vec"](0.5, r.randint(0, 3)),
                ns["Far"](1, 2.0),
                ns["Vec"](2**62, 2**62),
                ns["Vec"](0, 0),
            ]
        )
    )
    return n, x, a, m, xs, table, text, v


def random_mixed_program(seed):
    """Give the text of a module: of the first random one that is Python (`nonlocal` may come too late, say)."""
    for attempt in itertools.count():
        text = _MixedWriter(1000 * seed + attempt).text()
        with contextlib.suppress(SyntaxError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<mixed>", "exec")
            return text
