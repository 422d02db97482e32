"""At CPython's recursion limit handlers run as often as what they stand behind: once for each frame."""

import sys

import pytest

import ljit
from ljit import config

pytestmark = pytest.mark.usefixtures("nothing_is_collected")

ENDLESS = 10**6
LIMIT = 400


class Level:
    """How many frames are open, which are counted in and out."""

    def __init__(self):
        self.depth = 0

    def __enter__(self):
        self.depth += 1

    def __exit__(self, *_):
        self.depth -= 1
        return False


LEVEL = Level()


def closed(n):
    LEVEL.depth += 1
    try:
        return closed(n - 1) + 1 if n else 0
    finally:
        LEVEL.depth -= 1


def managed(n):
    with LEVEL:
        return managed(n - 1) * 2 if n else 1


def listed(n, numbers=[]):  # noqa: B006
    numbers.append(n)
    try:
        return listed(n - 1) + numbers[-1] if n else 0
    except ValueError:
        return 5
    finally:
        if numbers[-1] != n:
            LEVEL.depth += 1
        del numbers[-1]


def apply(f, n):
    return f(n)


def through_plain_functions(n):
    with LEVEL:
        return apply(through_plain_functions, n - 1) * 2 if n else 1


def caught(n):
    LEVEL.depth += 1
    more = 0
    try:
        return caught(n - 1) if n else 1
    except RecursionError:
        LEVEL.depth += 1
        more = 1
        raise
    finally:
        LEVEL.depth -= 1 + more


@pytest.fixture
def limit():
    LEVEL.depth, before = 0, sys.getrecursionlimit()
    sys.setrecursionlimit(LIMIT)
    yield
    assert sys.getrecursionlimit() == LIMIT
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    "function", [closed, managed, listed, through_plain_functions, caught], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("calls", [0, 1, 4])
@pytest.mark.usefixtures("limit")
def test_handlers_of_all_frames_run(function, calls, monkeypatch):
    native = ljit.jit(function)
    monkeypatch.setitem(globals(), function.__name__, native)
    for _ in range(calls):
        native(5)
    for _ in range(4):
        with pytest.raises(RecursionError):
            native(ENDLESS)
        assert LEVEL.depth == 0


def levels(error):
    count, entry = 0, error.__traceback__
    while entry is not None:
        count, entry = count + 1, entry.tb_next
    return count


FUNCTIONS = []


def through_a_list(n):
    return FUNCTIONS[0](n - 1) + 1 if n else 0


@pytest.mark.usefixtures("limit")
def test_native_calls_through_objects_nest_no_deeper_than_the_limit(monkeypatch):
    native = ljit.jit(through_a_list)
    monkeypatch.setitem(globals(), "FUNCTIONS", [native])
    with config.overridden(cold_calls=False, quick_runs=200_000):
        for call in range(5):
            with pytest.raises(RecursionError) as caught_error:
                native(ENDLESS)
            if call >= 2:  # the interpreter's own frames made room before
                assert levels(caught_error.value) < LIMIT + 10


def below(frames, f, *args):
    return f(*args) if frames == 0 else below(frames - 1, f, *args)


def down(n):
    return 0 if n == 0 else down(n - 1)


def makers():
    def closed(n):
        LEVEL.depth += 1
        try:
            return down(n)
        finally:
            LEVEL.depth -= 1

    def managed(n):
        with LEVEL:
            return down(n)

    def divided(n):
        LEVEL.depth += 1
        try:
            return 1 // (n - n)
        except ZeroDivisionError:
            return 5
        finally:
            LEVEL.depth -= 1

    return [ljit.jit(f) for f in (closed, managed, divided)]


@pytest.mark.usefixtures("limit")
def test_handlers_run_in_the_first_calls_whatever_is_left_of_the_limit():
    for left in range(1, 80):
        for function in makers():
            for n in (0, 6, 0):
                try:
                    result = below(LIMIT - left, function, n)
                except RecursionError:
                    result = None
                assert LEVEL.depth == 0, (left, function, n)
                assert result in (None, 5 if function.__name__ == "divided" else 0)
