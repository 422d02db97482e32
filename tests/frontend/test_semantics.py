"""Translated functions do what CPython does: values, types, order of evaluation, exceptions and their places."""

from __future__ import annotations

import math

import pytest

from ljit.errors import UnsupportedSyntaxError
from tests.frontend.harness import Spy, check, function_of, translated


def spies(*names, items=None):
    return {n: Spy(n, items) for n in names}


def check_body(body, *calls, params="", **names):
    """Check a function with this body; `calls` are argument tuples."""
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    check(f"def f({params}):\n{lines}\n", *calls, **names)


ORDER = [
    "return a + b * c - d",
    "return -a, +b, ~c, not d, not A",
    "return a < b, a <= b, a > b, a >= b, a == b, a != b, a is b, a is not b, a in b, a not in B",
    "return a[b], a[b:c], a[b:c:d], a[:], a[b, c], a[b:c, ..., None], a[::d]",
    "return a.x.y.z",
    "a.x = b.y = c[d] = d.q(A)",
    "a[b], c.d, e = d",
    "x, (y, *z), [w] = 1, (2, 3, 4), [5]\nreturn x, y, z, w",
    "a[b] += c\na.x -= b[c]\nx = a\nx *= b\nx /= c\nx //= c\nx %= c\nx **= c\nx <<= c\nx >>= c\nx &= c\nx |= c\nx ^= c\nx @= c",
    "del a.x, a[b], (c[d], d.y)",
    "x = 1\ndel x",
    "return a(b, *c, d, k=A, **{'q': B})",
    "return a(*b)",
    "return a(**{'x': b(), 'y': c()}, z=d)",
    "return a.m(b, c.d, k=d())",
    "return a.m(1, 'x', k=(2, 3))",
    "return a.missing(b())",
    "return a.x.missing()",
    "return [a, *b, c], (a, *b), {1, *[2]}, [*c]",
    "return {a: b, c: d}, {'x': a(), **{'y': b()}, 'z': c()}",
    "return a and b, A and B and c, a or b or c, A or b, a and b or c, (A or b) and c, a or (B and C and d)",
    "return (a and B) or (c and D) or d",
    "if a and b or not C and (A or b):\n    return 1\nreturn 2",
    "if not (a and b):\n    return 1\nreturn 2",
    "x = not (a and b)\nreturn x",
    "return a < b < c, A < B < C, A < b < C <= d",
    "if a < b < c:\n    return 1\nif A < B < C:\n    return 2",
    "while a < b <= c:\n    return 1\nelse:\n    return 2",
    "return b if a else c, b if A else c, (a if A else b) if (C if a else D) else d",
    "return (x := a) + x, x",
    "return f'{a}', f'{a!r:>{b}} {c!s}{{}}', f'', f'q{a:x}', f'{a=}'",
    "return [x.y for x in a(b)], {x for x in [1, 2]}, {k(): v() for k, v in [(a, b), (c, d)]}",
    "return [x + y for x in [a, b] if x for y in [c, C] if y if A]",
    "return [[y for y in [x, c]] for x in [a, b]]",
    "for x in a:\n    b(x)\nelse:\n    c()\nreturn x",
    "for a.x, b[c] in [(1, 2), (3, 4)]:\n    d()",
    "x: int\ny: a = b\na.x: c = d\na[b]: c\n(z): int = c\nreturn y, z",
    "assert A, b()\nassert a, b()",
    "assert a",
    "raise a",
    "raise ValueError(a) from KeyError(b)",
    "raise ValueError from None",
    "print(a, b, sep=c('-') and '-')",
    "def g(x, y=a(), *, z=b()):\n    return x, y, z, c.q\nd()\nreturn g(1), g(2, z=d.x, y=d.y), g(x=3)",
    "g = lambda x, y=a(): x(y) or b\nreturn g(c), g(d, d)",
    "return (lambda x, y=a(): x + y)(b()), (lambda: c)()",
    "return (lambda x, y=a(), *z, k, **w: (x, k, w.keys()))(b(), *c, k=d(), **{'q': A})",
]


@pytest.mark.parametrize("body", ORDER)
def test_operations_happen_in_the_order_of_cpython(body):
    check_body(body, **spies(*"abcdeABCD"))


@pytest.mark.parametrize("body", ORDER)
def test_operations_on_local_variables_happen_in_the_order_of_cpython(body):
    params = list("abcdeABCD")
    check_body(body, tuple(lambda n=n: Spy(n, [1]) for n in params), params=", ".join(params))


LOOPS = [
    "for i in range(n):\n    if i == 2: continue\n    if i == 5: break\n    s += i\nelse:\n    s = -s",
    "while n:\n    n -= 1\n    if n == 3: continue\n    if n == 1: break\n    s += n\nelse:\n    s = -s",
    "while True:\n    n -= 1\n    if n < 0: break\n    s += n",
    "while n > 0: n -= 2\nelse: s = n",
    "for i in range(n):\n    for j in range(i):\n        if j == 2: break\n        s += j\n    else:\n        s += 100\n        continue\n    s += 1000",
    "for i in range(n):\n    for j in range(3):\n        pass\n    else:\n        if i == 2: break\n        s += 1\nelse: s += 50",
    "for i in range(n):\n    if i == 4: return i, s\n    s += i",
    "while True:\n    if n > 3: return n\n    n += 1",
    "for i in []: pass\nelse: return 'none'",
    "for i, (j, *k) in enumerate([(1, 2, 3)] * n): s += i + j + sum(k)",
    "for i, j in zip(range(n), 'abcdef'): s += i * ord(j)",
    "for i in reversed(range(n)): s = s * 2 + i",
    "for k in {'a': 1, 'b': 2}: s += len(k)",
    "for k, v in {'a': 1, 'b': 2}.items(): s += len(k) + v",
    "x = list(range(n))\nfor i in x:\n    s += i\n    if len(x) < 12: x.append(i)",
    "for i in range(n):\n    for i in range(2): s += i\n    s += i * 10",
    "for s in iter([1, 2]): pass",
    "for i in range(n):\n    def g(x):\n        for y in range(x):\n            if y > i: return y\n    s += g(4) or 0",
    "for i in range(n):\n    while i: \n        i -= 1\n        if i % 2: continue\n        s += 1\n        if s > 5: break",
    "for x in (y := [1, 2, 3]): s += x * len(y)",
    "while (m := n - s) > 0: s += 1\nreturn m",
    "if n:\n    pass\nelif s:\n    s = 1\nelse:\n    s = 2",
    "for i in 5: pass",
    "for i, j in [1]: pass",
    "for i, j in [(1, 2, 3)]: pass",
    "i, *j, k = (1,)",
]


@pytest.mark.parametrize("body", LOOPS)
def test_loops_mean_what_they_mean_in_cpython(body):
    check_body(f"s = 0\n{body}\nreturn s", (0,), (1,), (3,), (7,), params="n")


UNBOUND = [
    "return x\nx = 1",
    "if n: x = 1\nreturn x",
    "for x in range(n): pass\nreturn x",
    "x = 1\ndel x\nreturn x",
    "for i in range(n):\n    if i == 1: del x\n    else: x = i\nreturn x",
    "del x",
    "while n > 5:\n    x = 1\n    n -= 1\nx += 1\nreturn x",
    "return [y for y in range(n) if z > y for z in [1]]",
    "def g(a):\n    if a: q = a\n    return q\nreturn g(n), g(0)",
    "for i in (1, 0):\n    def g(a):\n        if a: q = a\n        return q\n    g(i)",
    "for i in range(n): y = i\ndef g(): return y\nreturn g()",
    "for i in range(n): y = i\nreturn [y + z for z in [1]]",
    "def g(x):\n    if x: y = x\n    def h(): return y\n    return h()\nreturn g(1), g(n)",
    "for i in (1, 0):\n    def g(x):\n        if x: y = x\n        return [y for z in [1]]\n    g(i)",
    "return nowhere",
    "nowhere.x = 1",
    "import_error = math.nowhere",
]


@pytest.mark.parametrize("body", UNBOUND)
def test_names_that_are_not_bound(body):
    check_body(body, (0,), (1,), (3,), (9,), params="n", math=math)


NESTED = [
    "def g(x):\n    if x > 2: return x\nreturn g(n), g(5)",
    "k = 1\ndef g(): return k\na = g()\nk = 2\nreturn a, g()",
    "def g(x):\n    y = x * 2\n    x += y\n    return x\nx = y = 7\nreturn g(n), x, y",
    "def g(x): return h(x) + 1\ndef h(x): return x * 2\nreturn g(n)",
    "def g(x):\n    def h(y): return x + y + n\n    return h(1) + h(x)\nreturn g(2) + g(3)",
    "def g():\n    for i in range(n):\n        for j in range(n):\n            if i * j == 2: return i, j\nreturn g()",
    "def g(x):\n    while True:\n        x += 1\n        if x > 10: return x\nreturn g(n)",
    "def g(x): raise ValueError(x)\nreturn g(n)",
    "def g(x):\n    assert x\n    return 1 // x\nreturn g(n - 1) + g(n - 3)",
    "sq = lambda x: x * x\nreturn [sq(i) for i in range(n)]",
    "def g(a, /, b, *, c=3): return a, b, c\nreturn g(1, 2), g(1, b=2), g(1, c=5, b=4)",
    "def g(x):\n    '''doc'''\n    [y for y in range(x)]\nreturn g(n)",
    "def g(x=n): return x\nn = 5\nreturn g(), n",
    "def g(x): return [x + i for i in range(x)]\nreturn [g(i) for i in range(n)]",
    "return (lambda x: (lambda y: x + y)(n))(2)",
    "w = n\nf = (lambda *x: lambda: (w, x))(*range(n))\nw = 7\nreturn f(), (lambda *x: (w, x))(*(w := [n]))",
    "return [(lambda *x, **y: (x, y, n))(1, *[n], z=3, **{'k': i}) for i in range(n)]",
    "kept = [\n    lambda: 5,\n    lambda n=n: None]\nreturn kept[0]() + n, kept[1]()",
    "def g(a, b): return a - b\nreturn g(b=n, a=10)",
    "if n:\n    def g(): return 1\n    return g()\nreturn 0",
    "for i in range(n):\n    def g(x=i): return x + i\n    n += g()\nreturn n",
]


@pytest.mark.parametrize("body", NESTED)
def test_nested_functions_mean_what_they_mean_in_cpython(body):
    check_body(body, (0,), (1,), (3,), params="n")


EXPRESSIONS = [
    "return [x for x in range(n)], {x % 3 for x in range(n)}, {x: x * x for x in range(n)}",
    "return [(i, j) for i in range(n) for j in range(i) if (i + j) % 2]",
    "return [y for x in range(n) if (y := x * 2) > 2], y",
    "x = 5\nr = [x for x in range(n)]\nreturn r, x",
    "return [i if i % 2 else -i for i in range(n)]",
    "return {8, 0, 16, 24}, {40, 3, 11, 19, 27, 5}, (1, (2, 'x'), None, ...), [1, -2.5, 3j, b'q']",
    "return 1 < n < 3, 1 < n != 2, n in (1, 2), n not in [0], 0 <= n <= 2 <= 3",
    "return n and n + 1, n or 'x', not n, n if n else None, (n and 0) or 7",
    "return f'{n}', f'{n:>5}|{n!r}|{n / 3:.2f}', f'a{n}b' 'c', f'{n:{n + 3}d}'",
    "a, b = n, n + 1\na, b = b, a\na, a = 1, 2\nreturn a, b",
    "a = b = c = [n]\na.append(2)\nreturn b, c is a",
    "x = [1, 2, 3, 4]\nx[1:3] = [9]\nx[0] += n\nx[-1] **= 2\ndel x[1]\nreturn x, x[::-1], x[:n]",
    "return 2 ** 100 + n, n // 3, -7 // 2, -7 % 3, 1 << n, n ^ 5, ~n, n / 1, -n, +n",
    "return max(n, 3, key=abs), sorted([3, 1, n], reverse=True), dict(a=n, **{'b': 1})",
    "return print(n, 'x', sep='-', end='!')",
    "return 1 / n, [][n]",
    "return int('x' * n)",
    "return '%s' % n, 'x' * n, 'a' + n",
    "d = {}\nd[n] = 1\nd[n] += 1\nreturn d, d.get(5, n), {**d, 'k': 2}, {*d}",
    "t = (1, 2, 3)\na, *b = t\n*c, d = t\nreturn a, b, c, d, [*t, *b], (*t, n)",
    "x = [0] * 3\ni = 0\ni, x[i] = 1, 5\nreturn x, i",
    "return len([1, 2]), abs(-n), f.__class__, __name__, True, ..., __debug__",
    "return f.__name__, (n).bit_length(), 'a b'.split()[0]",
    "pass",
    "return",
    "'doc'\nn\nreturn n",
    "if True: return 1\nelse: return 2",
    "if 0: x = 1\nreturn n",
    "x = y = 0\nx: int = 3\nreturn x + y",
    "return dict(**{'a': 1}, **{'a': 2})",
    "return dict(a=1, **{'b': 1}, **5)",
    "return f(*5)",
    "return f(n, *[1], *5)",
    "return dict(**5)",
    "return [*5]",
    "return {**5}",
    "return {*5}",
    "return {[]: 1}",
    "return {1, []}",
    "n.x = 1",
    "del n.x",
    "n[0] = 1",
    "del n[0]",
    "raise 5",
    "raise ValueError(n) from 5",
    "return n(2)",
]


@pytest.mark.parametrize("body", EXPRESSIONS)
def test_expressions_mean_what_they_mean_in_cpython(body):
    check_body(body, (0,), (1,), (2,), params="n")


PLACES = [
    "return (a +\n  b.missing\n  )",
    "return (a\n  .x\n  .missing)",
    "return (a\n  .x\n  .raises(\n  1,\n  b()\n  ))",
    "return fail(\n  a,\n  b\n  )",
    "x = [\n  a,\n  fail(\n   b),\n  ]",
    "x = [\n  fail(i)\n  for i in\n   [1]]",
    "x = {\n  i: fail(i)\n  for i in\n   [1]}",
    "for i in (\n   5):\n  pass",
    "for (\n   i, j) in [\n   5]:\n  pass",
    "for i in (\n   failing):\n  pass",
    "return [i for i in (\n  5)]",
    "return [i for i in (\n  failing)]",
    "return {i for j in [1] for i in (\n  5)}",
    "return {i: j for j in [1] for i in (\n  failing)}",
    "return [i for i in [1] if (\n  raising)]",
    "a[\n  b\n  ][\n  c\n  ] = fail(1\n  )",
    "none[\n  b\n  ] = (\n  c)",
    "none[\n  b\n  ] += (\n  c)",
    "x = none\nx += (\n  c)",
    "x, \\\n  y = (\n  5)",
    "assert (\n  not A), (\n  b)",
    "assert (\n  not A), (\n  fail(b))",
    "assert (\n  1 >\n  2), (\n  b)",
    "assert (\n  A and\n  1 > 2 or\n  1 < 1 < 2 or\n  not A), fail(\n  1)",
    "assert (\n  1 > 2 if\n  A > 1\n  else A), b",
    "raise (\n  ValueError(\n   1)) from (\n  None)",
    "if (\n  A and\n  fail(1)):\n  pass",
    "if (\n  raising):\n  pass",
    "while (\n  not raising):\n  pass",
    "return (\n  1 < \n  raising < 3)",
    "return (1 if\n  raising\n  else\n  2)",
    "return (A and\n  raising and\n  2)",
    "return f'''{a\n  }{fail(\n   1)}'''",
    "return (1,\n  none[\n  1:\n  fail(2)])",
    "del (a.x,\n  none[\n   1])",
    "def g(x):\n  return (1 +\n    none)\nreturn (\n  g(\n   1))",
    "g = lambda x: (\n  1 + none)\nreturn [\n   g(1) for i in [1]]",
    "return (lambda: (\n  1 + none))()",
    "return (-\n  none)",
    "é = 'äöü'; ñ = [fail(é) for ß in 'ä']",
    "return 'äöü' + fail('é') + 'ß'",
    "return print(*\n  5)",
    "return print(**\n  {'x': 1,\n  'sep': 5})",
    "with (\n  none):\n  pass",
    "with (\n  manager), (\n  none) as x:\n  pass",
    "with (\n  manager) as x:\n  pass",
    "with (\n  manager) as x:\n  fail(1)",
    "with (\n  manager) as (\n  x, y):\n  pass",
    "x = undefined + \\\n  1",
    "x = 1 + \\\n  undefined",
]


class Raising:
    def __bool__(self):
        raise ValueError("no truth")

    def __gt__(self, other):
        return self


class Failing:
    def __iter__(self):
        return self

    def __next__(self):
        raise KeyError("no next one")


class Manager:
    def __enter__(self):
        return 1

    def __exit__(self, *_error):
        raise KeyError("not left")


def fail(*_args):
    raise KeyError("fail")


@pytest.mark.parametrize("body", PLACES)
def test_exceptions_come_from_the_place_that_cpython_names(body):
    names = {**spies(*"abcA"), "none": None, "fail": fail, "raising": Raising()}
    names["failing"], names["manager"] = Failing(), Manager()
    names["a"].__dict__["x"] = type("X", (), {"raises": staticmethod(fail)})()
    check_body(body, **names)


def test_closures_and_private_names():
    text = """
class C:
    def __init__(self):
        self.__x = 3
    def method(self, __y=2):
        __z = [self.__x + i for i in range(__y)]
        return __z, self._C__x, dict(__k=1)
    def matched():
        match subject:
            case C(_C__x=__a, __x=__b):
                return __a, __b
subject = C()
setattr(subject, "__x", 4)
matched = C.matched
def make(k):
    if k < 0:
        def inner(x): return x + late
        def unused(): return late
        return inner
        late = 1
    def inner(x): return x * k
    return inner
one = lambda: C.method(C())
two = make(3)
three = make(-3)
"""
    check(text, (), name="one")
    check(text, (), name="matched")
    check(text, (5,), name="two")
    check(text, (5,), name="three")


def test_a_method_of_a_class_is_translated():
    text = """
class C:
    def __init__(self): self.__x = 3
    def __secret(self, __y=2):
        return self.__x * __y
    def m(self): return self.__secret(4)
C.__init__(obj := C())
f = C._C__secret
g = C.m
"""
    check(text, (lambda: type("D", (), {"_C__x": 5})(),), name="f")


def test_nested_functions_that_are_values_keep_their_annotations():
    body = """
def f(k):
    def g(x: int, y: "list[int]" = 2, *a: {1: k}, z: f"{k}" = 3, **kw: None) -> dict[str, int]:
        return x + k
    def h(x: float) -> float:
        return x * k
    names = g.__annotations__, list(g.__annotations__), h.__annotations__
    return names, [*map(h, (1, 2))], sorted((3, 1), key=h), sum(h(i) for i in range(3))
"""
    check(body, (2,), (0.5,))
    check("from __future__ import annotations\n" + body, (2,), (0.5,))


def test_annotations_that_nothing_evaluates_are_found_by_their_names():
    head = "from __future__ import annotations\n"
    body = (
        "def f(k):\n    def g(x: int): return x\n    def h(x: float): return x\n    return g, h\n"
    )
    with pytest.raises(UnsupportedSyntaxError, match="annotations are not translated"):
        translated(function_of(head + body))
    translated(function_of(body))
