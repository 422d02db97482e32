"""Random programs that call functions which something holds: each place x each kind of callable x a change in between.

A program is run twice, plain and decorated, each time in a module of its own, since the changes are made to functions,
cells and classes. The calls of one program get fresh callables of mostly the same kind.
"""

from __future__ import annotations

import linecache
import random
import traceback

import pytest

import ljit
from ljit import config

COMMON = """
import functools, math, types
import ljit

K = 3

class Holder:
    def __init__(self, f):
        self.f = f
    def m(self, x):
        return x * 2 - self.k
    k = 1
    @classmethod
    def of_class(cls, x):
        return x + cls.k
    @staticmethod
    def alone(x):
        return x + 2
    def run(self, n):
        {loop_self}

class Over(Holder):
    def f(self, x):
        return -x

class Slots:
    __slots__ = ("f",)
    def __init__(self, f):
        self.f = f

class Called:
    def __init__(self, a):
        self.a = a
    def __call__(self, x):
        return self.a * x

def plain(x):
    return x * 2 + K

def other(x, y=5):
    return x - y

@ljit.jit
def decorated(x):
    return x * x - K

def fails(x):
    return 12 // (6 - x)

def scaled(a, x):
    return a * x + 1

def make_lambda(a):
    return lambda x: x * a + 1

def make_other_lambda(a):
    return lambda x: x - a

def make_def(a):
    b = a + 1
    def inner(x):
        s = a
        for j in range(3):
            s += x * b - j
        return s
    return inner

def make_default(a):
    return lambda x, a=a: x + a

def make_counter(a):
    def inner(x):
        nonlocal a
        a += 1
        return x + a
    return inner

def make_pair(a):
    def inner(x):
        return x * a
    def change(v):
        nonlocal a
        a = v
    inner.change = change
    return inner

def make_late(a):
    def inner(x):
        return x + late
    if a != 2:
        late = a
    return inner

def make_changing(a):
    def steps():
        nonlocal a
        while True:
            a = a + 1
            yield a
    going = steps()
    return lambda x: next(going) + x * a

def make_in_generator(a):
    def steps():
        b = a
        while True:
            yield lambda x: (next(going), x * b)[1]
            b = b + 1
    going = steps()
    return next(going)

def make_recursive(a):
    def go(x):
        return a if x < 1 else x + go(x - 1)
    return go

def make_failing(a):
    def inner(x):
        return 12 // (x - 4 * a)
    return inner

def make_wrapping(a):
    f = make_lambda(a)
    return lambda x: f(x) + a

def make_table(a):
    table = [a, a * 2, a - 1]
    return lambda x: table[int(x) % 4 if x == 3 else 0] + x

def make_decorated(a):
    @ljit.jit
    def inner(x):
        return x * a - 1
    return inner

def build(kind, a):
    return {{
        "plain": lambda: plain, "other": lambda: other, "decorated": lambda: decorated, "fails": lambda: fails,
        "sqrt": lambda: math.sqrt, "abs": lambda: abs, "float": lambda: float,
        "partial": lambda: functools.partial(scaled, a), "method": lambda: Holder(None).m,
        "called": lambda: Called(a), "class": lambda: Called,
        "two": lambda: functools.partial(scaled, *([a] if a != 3 else [a, 5])),
        "named": lambda: functools.partial(other, y=a), "partial closure": lambda: functools.partial(make_def(a)),
        "of_class": lambda: Holder.of_class, "alone": lambda: Holder(None).alone,
        "bound": lambda: types.MethodType(scaled, a), "method of other": lambda: Over(None).m,
    }}.get(kind, lambda: globals()["make_" + kind](a))()

def hold(how, f):
    match how:
        case "Holder" | "Over" | "Slots":
            return globals()[how](f)
        case "space":
            return types.SimpleNamespace(f=f)
        case "outer":
            return types.SimpleNamespace(g=Holder(f), f=f)

def change(h, how, a):
    global K
    f = getattr(h, "f", None)
    match how:
        case "rebind":
            h.f = make_lambda(a)
        case "rebind other":
            h.f = make_other_lambda(a)
        case "rebind plain":
            h.f = plain
        case "code" if isinstance(f, types.FunctionType) and not f.__closure__:
            f.__code__ = (lambda x: x + 100).__code__
        case "code" if isinstance(f, types.FunctionType) and len(f.__closure__) == 1:
            f.__code__ = make_other_lambda(0).__code__
        case "defaults" if isinstance(f, types.FunctionType):
            f.__defaults__ = (a,) * len(f.__defaults__ or ())
        case "cell" if isinstance(f, types.FunctionType) and f.__closure__:
            f.__closure__[-1].cell_contents = a if f.__code__.co_name != "go" else f
        case "float cell" if isinstance(f, types.FunctionType) and f.__closure__:
            f.__closure__[0].cell_contents = a + 0.5
        case "set" if hasattr(f, "change"):
            f.change(a)
        case "global":
            K = K + 1
        case "delete":
            del h.f
        case "class":
            Holder.k = Holder.k + 1
            Holder.m = lambda self, x: x - self.k
            Called.__call__ = lambda self, x: x - self.a
        case "instance" if isinstance(f, Called):
            f.__call__ = plain
            f.a = f.a + 1
        case "keywords" if isinstance(f, functools.partial):
            f.keywords["y" if f.func is other else "z"] = a
"""

LOOP = """
        total = 0
        for i in range(n):
            {before}
            total = total + {call}
            if i == {when}:
                {change}
        return total
"""
PLACES = {
    "argument": ("f", "pass"),
    "attribute": ("h.f", "pass"),
    "local": ("g", "g = h.f"),
    "item": ("h_list[0]", "h_list = [h.f, abs]"),
    "key": ("h_dict['f']", "h_dict = {'f': h.f}"),
    "given list": ("fs[i % 2]", "pass"),
    "nested": ("h.g.f", "pass"),
}
ARGUMENTS = ["i", "i * 0.5", "i + 1", "x=i", "-i", "float(i)"]
KINDS = ["plain", "other", "decorated", "fails", "sqrt", "abs", "float", "class", "alone"]
KINDS += [
    "partial",
    "two",
    "named",
    "partial closure",
    "called",
    "bound",
    "method",
    "method of other",
    "of_class",
]
MADE = [
    "lambda",
    "other_lambda",
    "def",
    "default",
    "counter",
    "pair",
    "late",
    "changing",
    "in_generator",
]
MADE += ["recursive", "failing", "wrapping", "table", "decorated"]
CHANGES = [
    "rebind",
    "rebind other",
    "rebind plain",
    "code",
    "defaults",
    "cell",
    "float cell",
    "set",
    "global",
]
CHANGES += ["delete", "class", "instance", "keywords", "nothing", "nothing", "nothing"]


def program(r: random.Random) -> tuple[str, str]:
    """The text of a module, and where its function finds what it calls."""
    place = r.choice([*PLACES, "self", "attribute"])
    callee, before = PLACES.get(place, ("self.f", "pass"))
    call = f"{callee}({r.choice(ARGUMENTS)})"
    change = f"change({'self' if place == 'self' else 'h'}, {r.choice(CHANGES)!r}, {r.choice([2, 7, 1.5])})"
    loop = LOOP.format(before=before, call=call, when=r.choice([1, 2, 30]), change=change)
    if r.random() < 0.3:
        lines = loop.rstrip().splitlines()
        at = next(k for k, line in enumerate(lines) if "total = total" in line)
        caught = [
            "            try:",
            "    " + lines[at],
            "            except (ZeroDivisionError, TypeError):",
        ]
        lines[at : at + 1] = [*caught, "                total = total - 1"]
        loop = "\n".join(lines) + "\n"
    text = COMMON.format(loop_self=loop if place == "self" else "pass")
    return (
        text + f"\ndef run(h, f, fs, n):\n{loop if place != 'self' else '    return h.run(n)'}\n",
        place,
    )


def calls_of(r: random.Random, place: str):
    """Give what each call gets: the kind of its callable, a number, how it is held, whether it is the one before."""
    kinds = r.sample(KINDS, 2) + r.choices(MADE, k=2)
    main, how = r.choice(kinds), r.choice(["Holder", "Holder", "Over", "Slots", "space"])
    if place in ("nested", "self"):
        how = {"nested": "outer", "self": r.choice(["Holder", "Over"])}[place]
    for _ in range(8):
        kind = main if r.random() < 0.8 else r.choice(kinds)
        yield kind, r.choice([1, 2, 2, 3, 2.5]), how, r.random() < 0.3, r.choice([3, 5, 40])


def outcome(run, *args):
    try:
        result = run(*args)
    except Exception as error:
        entries = traceback.extract_tb(error.__traceback__)[1:]
        return (
            type(error),
            str(error),
            [(e.name, e.lineno) for e in entries if e.filename[0] == "<"],
        )
    return type(result), repr(result)


def outcomes(text: str, place: str, seed: int, *, is_decorated: bool):
    name = f"<callbacks{seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = {"__name__": "callbacks"}
    exec(compile(text, name, "exec"), module)
    if is_decorated:
        module["run"] = ljit.jit(module["run"])
        module["Holder"].run = ljit.jit(module["Holder"].run)
    found, last = [], None
    for kind, a, how, is_same, n in calls_of(random.Random(seed), place):
        if last is None or not is_same:
            last = module["build"](kind, a)
        held = module["hold"](how, last)
        fs = [last, module["build"](kind, a)]
        found.append((kind, a, outcome(module["run"], held, last, fs, n)))
    return found


def check(seed: int) -> None:
    text, place = program(random.Random(f"program {seed}"))
    expected = outcomes(text, place, seed, is_decorated=False)
    assert outcomes(text, place, seed, is_decorated=True) == expected


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_that_call_what_something_holds(seed):
    with config.overridden(cold_calls=False, quick_runs=0 if seed % 2 else 200_000, check=1):
        check(seed)
