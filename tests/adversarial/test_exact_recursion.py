"""The deepest call that returns in CPython returns, and the next one raises: in each call, however calls come about."""

from __future__ import annotations

import sys
from functools import cache

import pytest

import ljit
from ljit import config
from ljit.cpython.frame_count import thread
from tests.frontend.harness import function_of

pytestmark = pytest.mark.usefixtures("nothing_is_collected")

LIMIT = 200

KINDS = {
    "by its name": "@jit\ndef f(n):\n    return f(n - 1) + 1 if n else 0",
    "in a list": "@jit\ndef f(n):\n    return FS[0](n - 1) + 1 if n else 0\nFS = [f]",
    "in a dict": "@jit\ndef f(n):\n    return FS['f'](n - 1) + 1 if n else 0\nFS = {'f': f}",
    "an attribute": """
class Holder: pass
@jit
def f(n):
    return Holder.f(n - 1) + 1 if n else 0
Holder.f = f""",
    "a plain function": """
def plain(n):
    return f(n - 1)
@jit
def f(n):
    return plain(n) + 1 if n else 0""",
    "a plain function in a list": """
def plain(n):
    return f(n - 1)
PLAIN = [plain]
@jit
def f(n):
    return PLAIN[0](n) + 1 if n else 0""",
    "two functions": """
@jit
def g(n):
    return FS[0](n - 1) + 1 if n else 0
@jit
def f(n):
    return FS[1](n - 1) + 1 if n else 0
FS = [f, g]""",
    "a method": """
class A:
    @jit
    def f(self, n):
        return self.f(n - 1) + 1 if n else 0
f = A().f""",
    "a closure": """
def make():
    @jit
    def inner(n):
        return inner(n - 1) + 1 if n else 0
    return inner
f = make()""",
    "keywords": "@jit\ndef f(n=3, *, k=2):\n    return f(n=n - 1, k=k) + 1 if n else 0",
    "spread arguments": "@jit\ndef f(*n):\n    return FS[0](*[n[0] - 1]) + 1 if n[0] else 0\nFS = [f]",
    "a generator": "@jit\ndef f(n):\n    return sum(f(k) for k in [n - 1]) + 1 if n else 0",
    "a plain generator": """
def generate(n):
    yield f(n - 1)
@jit
def f(n):
    total = 1
    if n:
        for x in generate(n):
            total += x
    return total""",
    "a comprehension": "@jit\ndef f(n):\n    return [f(k) for k in [n - 1]][0] + 1 if n else 0",
    "map": "@jit\ndef f(n):\n    return list(map(f, [n - 1]))[0] + 1 if n else 0",
    "__getattr__": """
class A:
    def __init__(self, n): self.n = n
    def __getattr__(self, name): return f(self.n - 1)
@jit
def f(n):
    return A(n).x + 1 if n else 0""",
    "__next__": """
class A:
    def __init__(self, n): self.n, self.is_over = n, False
    def __iter__(self): return self
    def __next__(self):
        if self.is_over: raise StopIteration
        self.is_over = True
        return f(self.n - 1)
@jit
def f(n):
    total = 1
    if n:
        for x in A(n):
            total += x
    return total""",
    "a handler": """
@jit
def f(n):
    try:
        raise ValueError(n)
    except ValueError:
        return FS[0](n - 1) + 1 if n else 0
FS = [f]""",
    "finally": """
@jit
def f(n):
    LOG.append(n)
    try:
        return FS[0](n - 1) + 1 if n else 0
    finally:
        LOG.pop()
FS, LOG = [f], []""",
    "a loop": """
@jit
def f(n):
    total = 1
    if n:
        for i in range(2):
            if i == 1:
                total += FS[0](n - 1)
    return total
FS = [f]""",
}
# What CPython 3.11 counts of C functions in between, native code does not have; nor do operators of users' classes count
# for what they were inlined into, where they are interpreted.
COLD_KINDS = KINDS | {
    "sorted": "@jit\ndef f(n):\n    return sorted([n - 1], key=f)[0] + 1 if n else 0",
    "__add__": """
class A:
    def __init__(self, n): self.n = n
    def __add__(self, other): return f(self.n - 1) + other
@jit
def f(n):
    return A(n) + 1 if n else 0""",
    "__call__": """
class A:
    def __call__(self, n): return f(n - 1)
CALLED = A()
@jit
def f(n):
    return CALLED(n) + 1 if n else 0""",
}


def as_it_is(function):
    return function


@cache
def text_of(kind):
    return COLD_KINDS[kind].strip() + "\n"


def made(kind, jit):
    """A new function, and what it uses."""
    return function_of(text_of(kind), jit=jit)


def returns(function, n):
    try:
        function(n)
    except RecursionError:
        return False
    return True


def after(kind, jit, calls):
    """A function that was called so often."""
    function = made(kind, jit)
    for _ in range(calls):
        function(5)
    return function


def deepest(kind, calls):
    """How deep it goes in CPython: 3.11 counts less of C functions where it has run a while."""
    reached, failed = 0, 4 * sys.getrecursionlimit()
    while failed - reached > 1:
        middle = (reached + failed) // 2
        if returns(after(kind, as_it_is, calls), middle):
            reached = middle
        else:
            failed = middle
    return reached


@pytest.fixture(scope="module", autouse=True)
def _warm():
    """CPython 3.11 counts what C functions call as a frame more, until the code that calls them has run a while."""
    function = made("__next__", ljit.jit)
    for _ in range(20):
        function.run_interpreted(3)


@pytest.fixture
def limit(request):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(getattr(request, "param", LIMIT) + 100)
    yield
    assert sys.getrecursionlimit() == getattr(request, "param", LIMIT) + 100
    sys.setrecursionlimit(before)


def goes_as_deep(kind, calls, wanted, inlined):
    """Called as deep as `deepest`."""
    frames = thread.frames
    counts = frames.left.value, frames.depth, frames.called_at
    assert returns(after(kind, ljit.jit, calls), wanted)
    function = after(kind, ljit.jit, calls)
    assert not returns(function, wanted + 1 + inlined)
    assert not returns(function, 10**6)
    assert returns(function, wanted // 2)
    assert (frames.left.value, frames.depth, frames.called_at) == counts


def check(kind, calls, inlined=0):
    wanted = deepest(kind, calls)
    goes_as_deep(kind, calls, wanted, inlined)
    return wanted


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("calls", [0, 1, 4])
@pytest.mark.parametrize("kind", COLD_KINDS)
def test_calls_go_as_deep_as_in_cpython(kind, calls):
    with config.overridden(cold_calls=True):
        check(kind, calls)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("calls", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_interpreted_and_native_calls_go_as_deep_as_in_cpython(kind, calls):
    check(kind, calls, inlined=kind == "two functions")  # the last one, which calls nothing


@pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="calls from C nest less deep in CPython"
)
@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("limit", [120, 4000], indirect=True)
@pytest.mark.parametrize("cold_calls", [True, False])
@pytest.mark.parametrize("kind", ["by its name", "in a list", "a plain function", "a method"])
def test_other_limits_hold(kind, cold_calls):
    with config.overridden(cold_calls=cold_calls):
        assert check(kind, 0) > 3 * sys.getrecursionlimit() // 10


def below(frames, f, *args):
    return f(*args) if frames == 0 else below(frames - 1, f, *args)


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("cold_calls", [True, False])
@pytest.mark.parametrize("kind", ["by its name", "in a list", "a plain function", "a method"])
def test_it_does_not_matter_where_a_call_begins(kind, cold_calls):
    with config.overridden(cold_calls=cold_calls):
        plain = made(kind, as_it_is)
        for frames in (20, 100, 150, 180, 190):
            wanted = -1
            while returns_below(frames, plain, wanted + 1):
                wanted += 1
            for calls in (0, 1, 3):
                function = after(kind, ljit.jit, calls)
                assert wanted < 0 or returns_below(frames, function, wanted)
                assert not returns_below(frames, function, wanted + 1)


def returns_below(frames, function, n):
    try:
        below(frames, function, n)
    except RecursionError:
        return False
    return True


HANDLERS = {
    "a number": "@jit\ndef f(n):\n    try:\n        return f(n + 1)\n    except RecursionError:\n        return n",
    "a call": """
def g(k):
    return g(k - 1) if k else 1000
GS = [g]
@jit
def f(n):
    try:
        return FS[0](n + 1)
    except RecursionError:
        return GS[0](7) + n
FS = [f]""",
    "another error": """
@jit
def f(n):
    try:
        return FS[0](n + 1)
    except RecursionError:
        raise ValueError(n)
    except ValueError as error:
        return error.args[0] * 1000 + n
FS = [f]""",
    "a context manager": """
class Noted:
    def __enter__(self): LOG[0] += 1
    def __exit__(self, *_): LOG[1] += 1
LOG, NOTED = [0, 0], Noted()
@jit
def f(n):
    try:
        with NOTED:
            return FS[0](n + 1)
    except RecursionError:
        return (LOG[0] * 1000 + LOG[1]) * 1000 + n
FS = [f]""",
}


#: what native code does in line needs no frame, as it is with `__enter__`
EXACT_HANDLERS = [(kind, True) for kind in HANDLERS] + [
    (kind, False) for kind in HANDLERS if kind != "a context manager"
]


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize(("kind", "cold_calls"), EXACT_HANDLERS)
def test_handlers_run_where_they_run_in_cpython(kind, cold_calls):
    text = HANDLERS[kind].strip() + "\n"
    with config.overridden(cold_calls=cold_calls):
        native, plain = function_of(text, jit=ljit.jit), function_of(text, jit=as_it_is)
        for _ in range(5):
            assert native(0) == plain(0)


@pytest.mark.usefixtures("limit")
def test_a_depth_that_a_function_finds_is_that_of_cpython():
    """`sys.setrecursionlimit` refuses a limit that is reached, and says at which depth."""
    text = "@jit\ndef f(n):\n    return FS[0](n - 1) if n else SET(5)\nFS = [f]\n"
    native, plain = (
        function_of(text, jit=jit, SET=sys.setrecursionlimit) for jit in (ljit.jit, as_it_is)
    )
    for n in (0, 3, 40, 3, 0, 40):
        messages = []
        for function in (plain, native):
            with pytest.raises(RecursionError) as caught:
                function(n)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
