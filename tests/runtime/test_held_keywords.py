"""Calls of functions that variables hold, and of methods, with keywords and with defaults left out."""

from __future__ import annotations

from functools import partial

import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE
from ljit.ops.members import CHECK_KIND, IS_KIND
from ljit.runtime import callees
from ljit.testing.chaos import fail_each_guard


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    """Compile without waiting."""
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield


@pytest.fixture(autouse=True, params=["inlined", "linked"])
def way(request, monkeypatch):
    """Small functions stand where they are called, or are called by links as large ones."""
    if request.param == "linked":
        monkeypatch.setattr(callees, "_function_to_inline", lambda _kind: None)


def scaled(x, scale=3):
    return x * scale


def by_name(x, *, scale=3, add=0.5):
    return x * scale + add


def positional(x, scale=2, /):
    return x - scale


@ljit.jit
def decorated(x, scale=3, *, add=1):
    return x * scale + add


class Line:
    def __init__(self, k, add=1, *, factor=1):
        self.k, self.add = k * factor, add

    def at(self, x, scale=3):
        return self.k * x * scale + self.add

    def named(self, x, *, scale=3):
        return self.k * x - scale


def make(k):
    return lambda x, scale=k: x * scale + k


def make_by_name(k):
    def inner(x, *, scale, add=None):
        return x * scale + k if add is None else add

    return inner


def left_out(f, n):
    total = 0
    for i in range(n):
        total += f(i)
    return total


def named(f, n):
    total = 0
    for i in range(n):
        total += f(x=i)
    return total


def given(f, n):
    total = 0
    for i in range(n):
        total += f(i, scale=i + 1)
    return total


def in_another_order(f, n):
    total = 0
    for i in range(n):
        total += f(scale=i + 1, x=i)
    return total


CALLERS = [left_out, named, given, in_another_order]
HELD = {
    "defaults": lambda: scaled,
    "by_name": lambda: by_name,
    "decorated": lambda: decorated,
    "method": lambda: Line(4).at,
    "method_by_name": lambda: Line(4).named,
    "made": lambda: make(4),
    "partial": lambda: partial(Line.at, Line(5)),
    "partial_by_name": lambda: partial(by_name, add=2),
    "partial_of_both": lambda: partial(Line.at, Line(5), scale=2),
}
of_callers = pytest.mark.parametrize("caller", CALLERS, ids=[f.__name__ for f in CALLERS])
of_held = pytest.mark.parametrize("get", HELD.values(), ids=HELD)


def native_calls(made, *args):
    """How many callables are called natively, or stand in the place of the call."""
    ops = [node.op for node in made.graph_for(*args).walk()]
    return ops.count(CALL_NATIVE) or ops.count(CHECK_KIND) + ops.count(IS_KIND)


def bailouts(made):
    return sum(info.bailouts for info in made.specializations)


def same(made, plain, *args):
    """Compare what both give, or raise, with its text and where."""
    outcomes = []
    for function in (made, plain):
        try:
            result = function(*args)
            outcomes.append((type(result), result))
        except Exception as error:
            frames, at = [], error.__traceback__
            while at is not None:
                frames.append((at.tb_frame.f_code.co_name, at.tb_lineno))
                at = at.tb_next
            outcomes.append((type(error), str(error), frames[1:]))
    assert outcomes[0] == outcomes[1]


@of_callers
@of_held
def test_held_functions_are_called_natively_with_keywords_and_defaults(caller, get):
    made = ljit.jit(caller)
    for _ in range(5):
        same(made, caller, get(), 10)
    assert native_calls(made, get(), 10)
    assert not bailouts(made)
    for site in fail_each_guard(made):
        assert made(get(), 10) == caller(get(), 10), site


def test_keyword_only_parameters_of_made_functions_are_given_by_name():
    made = ljit.jit(given)
    for k in (2, 3, 2, 3):
        with pytest.raises(TypeError) as caught:
            given(lambda x: x, 3)
        with pytest.raises(TypeError) as mine:
            made(lambda x: x, 3)
        assert str(mine.value) == str(caught.value)
        same(made, given, make_by_name(k), 10)

    def all_given(f, n):
        return [f(i, add=None, scale=2) for i in range(n)]

    made = ljit.jit(all_given)
    for k in (2, 3, 2, 3):
        same(made, all_given, make_by_name(k), 10)
    assert native_calls(made, make_by_name(2), 10)


@of_callers
@pytest.mark.parametrize(
    "wrong",
    [lambda: lambda y: y, lambda: lambda: 0, lambda: positional, lambda: abs, lambda: Line.at],
    ids=["other", "none", "positional", "builtin", "unbound"],
)
def test_wrong_arguments_raise_as_in_python(caller, wrong):
    made = ljit.jit(caller)
    for _ in range(4):
        same(made, caller, wrong(), 5)
    for _ in range(4):
        same(made, caller, scaled, 5)
    same(made, caller, wrong(), 5)


def test_arguments_that_are_given_twice_or_missing_raise_as_in_python():
    def twice(f, n):
        return [f(i, x=i) for i in range(n)]

    def missing(f, n):
        return [f(scale=i) for i in range(n)]

    def unknown(f, n):
        return [f(i, skale=i) for i in range(n)]

    for caller in (twice, missing, unknown):
        made = ljit.jit(caller)
        for get in HELD.values():
            for _ in range(4):
                same(made, caller, get(), 3)


def copy_of(function):
    copied = type(scaled)(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    copied.__kwdefaults__ = dict(function.__kwdefaults__ or {})
    return copied


CHANGES = {
    "defaults": lambda f: setattr(f, "__defaults__", (7,)),
    "other_types": lambda f: setattr(f, "__defaults__", (1.5,)),
    "no_defaults": lambda f: setattr(f, "__defaults__", None),
    "more_defaults": lambda f: setattr(f, "__defaults__", (1, 2)),
    "item": lambda f: f.__kwdefaults__.update(scale=9),
    "replaced": lambda f: setattr(f, "__kwdefaults__", {"scale": 2.5, "add": 1}),
    "deleted": lambda f: f.__kwdefaults__.clear(),
    "none": lambda f: setattr(f, "__kwdefaults__", None),
    "code": lambda f: setattr(f, "__code__", (lambda x, scale=1, *, add=0: x - scale).__code__),
}
of_changes = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@of_changes
@pytest.mark.parametrize("function", [scaled, by_name], ids=["defaults", "by_name"])
def test_defaults_may_be_replaced_between_calls(function, change):
    made = ljit.jit(left_out)
    held, other = copy_of(function), copy_of(function)
    for _ in range(4):
        same(made, left_out, held, 10)
    assert native_calls(made, held, 10)
    change(held), change(other)
    for _ in range(3):
        same(made, left_out, held, 10)
    assert held.__defaults__ == other.__defaults__


@of_changes
@pytest.mark.parametrize("function", [scaled, by_name], ids=["defaults", "by_name"])
def test_defaults_may_be_replaced_during_calls(function, change):
    def changing(f, n, change):
        total = 0
        for i in range(n):
            total += f(i)
            if i == n // 2:
                change(f)
        return total

    made = ljit.jit(changing)
    for _ in range(4):
        outcomes = []
        for caller in (made, changing):
            try:
                outcomes.append(caller(copy_of(function), 10, change))
            except TypeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_what_a_partial_gives_by_name_may_change():
    def changing(f, n):
        result = 0
        for i in range(n):
            result += f(i)
            if i == n // 2:
                f.keywords["add"] = 7
            if i == n // 2 + 1:
                f.keywords["add"] = 1.5
            if i == n // 2 + 2:
                f.keywords["scale"] = f.keywords.pop("add")
        return result

    def failing(f, n):
        result = 0
        for i in range(n):
            if i == 4:
                f.keywords["other"] = f.keywords.pop("add")
            result += f(i)
        return result

    for caller in (changing, failing):
        made = ljit.jit(caller)
        for _ in range(5):
            outcomes = []
            for function in (made, caller):
                try:
                    outcomes.append(function(partial(by_name, add=2), 10))
                except TypeError as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1]


def test_partials_with_other_names_come_to_one_place():
    made = ljit.jit(left_out)
    fixed = (
        partial(by_name, add=2),
        partial(by_name, scale=2),
        partial(by_name, add=1, scale=2),
        partial(by_name, add=1.5),
        partial(by_name),
        partial(by_name, wrong=1),
    )
    for _ in range(5):
        for f in fixed:
            same(made, left_out, f, 6)


def test_a_method_may_get_other_defaults():
    class Own:
        def at(self, x, scale=2, *, add=1):
            return x * scale + add

    def calls(line, n):
        return [line.at(i) for i in range(n)]

    made = ljit.jit(calls)
    for _ in range(4):
        same(made, calls, Own(), 5)
    Own.at.__defaults__ = (2.5,)
    same(made, calls, Own(), 5)
    Own.at.__kwdefaults__["add"] = 7
    same(made, calls, Own(), 5)
    del Own.at.__kwdefaults__["add"]
    same(made, calls, Own(), 5)


def test_objects_are_made_with_keywords_and_defaults():
    def lines(n):
        result = 0
        for i in range(n):
            result += Line(i).add + Line(i, factor=2).k + Line(add=i, k=2).add
        return result

    made = ljit.jit(lines)
    for _ in range(5):
        same(made, lines, 10)
    if not config.settings().quick_runs:
        assert native_calls(made, 10)


def large(x, *, scale=2, shift=1):
    total = 0
    for j in range(3):
        for k in range(2):
            total += x * scale - j * k
            if total > 1000:
                total -= shift
            elif total < -1000:
                total += shift
    return total if x < 1 else total + large(x - 1, scale=scale)


def test_keyword_only_parameters_of_functions_of_the_module():
    def calls(n):
        return [large(i, shift=3) + large(i) + by_name(i) + by_name(i, add=i) for i in range(n)]

    made = ljit.jit(calls)
    for _ in range(5):
        same(made, calls, 6)
    assert native_calls(made, 6)
    before = by_name.__kwdefaults__["add"]
    try:
        by_name.__kwdefaults__["add"] = 4
        same(made, calls, 6)
        del by_name.__kwdefaults__["add"]
        same(made, calls, 6)
    finally:
        by_name.__kwdefaults__["add"] = before
    same(made, calls, 6)
