"""Handlers that run often are native, whatever kind of exception; what the interpreter has to run is left to it."""

from __future__ import annotations

import gc
import sys
import traceback
import weakref

import pytest

import ljit
from ljit.config import overridden


@pytest.fixture(autouse=True)
def no_call_waits():
    with overridden(cold_calls=False):
        yield


def compiled(function, *args):
    """The function after some calls, and what became of the exits of its native code in one more."""
    f = ljit.jit(function)
    for _ in range(5):
        f(*args)
    (plan,) = f._executor.plans.values()
    assert plan.unit is not None, f.explain()
    before = plan.unit.bailouts.total()
    assert repr(f(*args)) == repr(function(*args))
    return f, plan, plan.unit.bailouts.total() - before


def missing_keys(xs, table):
    total = 0
    for x in xs:
        try:
            total += table[x]
        except KeyError:
            total -= 1
    return total


def bad_texts(texts):
    bad = []
    for text in texts:
        try:
            int(text)
        except (TypeError, ValueError):
            bad.append(text)
            continue
    return bad


def missing_items(xs, places):
    total = 0
    for place in places:
        try:
            total += xs[place]
        except IndexError:
            pass
    return total


def divided(xs):
    total = 0.0
    for x in xs:
        try:
            total += 1.0 / x
        except ZeroDivisionError:
            total -= 1.0
    return total


def raised(n):
    total = 0
    for i in range(n):
        try:
            if i % 2:
                raise ValueError
            total += i
        except ValueError:
            total -= 1
    return total


def taken(xs):
    total, more = 0, iter(xs)
    while True:
        try:
            total += next(more)
        except StopIteration:
            return total


def counted(xs):
    counts = {}
    for x in xs:
        try:
            counts[x] += 1
        except KeyError:
            counts[x] = 1
    return counts


def of_two_kinds(table, keys):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except TypeError:
                total += 1000
        except KeyError:
            total -= 1
    return total


def of_another_class(table, key):
    try:
        return table[key]
    except IndexError:
        return 0


def with_a_loop(xs, table):
    total = 0
    for x in xs:
        try:
            total += table[x]
        except KeyError:
            for i in range(x):
                total -= i
    return total


def of_two_tables(xs, table, others):
    total = 0
    for x in xs:
        try:
            total += table[x]
        except KeyError:
            try:
                total += others[x]
            except KeyError:
                total -= 1
    return total


def called_for(xs, table):
    log = []
    for x in xs:
        try:
            try:
                table[x]
            except KeyError as error:
                log.append(str(error))
                raise ValueError(x) from error
        except ValueError as error:
            log.append((str(error), type(error.__cause__), error.__context__ is error.__cause__))
    return log


def further_in(table, key):
    try:
        return of_another_class(table, key) + 1
    except ValueError:
        return 0


def raised_again(table, key):
    try:
        return table[key]
    except KeyError:
        raise


def through_callees(table, keys):
    total = 0
    for key in keys:
        try:
            total += of_another_class(table, key)
        except KeyError:
            total -= 1
    return total


def through_several_callees(table, keys):
    errors = []
    for key in keys:
        try:
            further_in(table, key)
        except KeyError as error:
            errors.append(error)
    return [places_in(error) for error in errors]


def through_callees_again(table, keys):
    errors = []
    for key in keys:
        try:
            raised_again(table, key)
        except KeyError as error:
            errors.append(error)
    return [places_in(error) for error in errors]


def places_in(error):
    """The functions and lines of the traceback, and what the exception was raised for."""
    context = error.__context__
    entries = traceback.extract_tb(error.__traceback__)
    places = [(entry.name, entry.lineno) for entry in entries if entry.filename == __file__]
    return places, context if context is None else places_in(context)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (missing_keys, ([1, 2, 3] * 9, {1: 1})),
        (bad_texts, (["1", "x"] * 9,)),
        (missing_items, ([1, 2], [0, 1, 2] * 9)),
        (divided, ([0.0, 2.0] * 9,)),
        (raised, (20,)),
        (taken, ([1, 2, 3],)),
        (counted, ([1, 2, 1] * 9,)),
        (of_two_kinds, ({1: 1}, [1, 2] * 9)),
        (with_a_loop, ([1, 2, 3] * 9, {1: 1})),
        (of_two_tables, ([1, 2, 3] * 9, {1: 1}, {2: 1})),
        (called_for, ([1, 2, 3] * 9, {1: 1})),
        (through_callees, ({1: 1}, [1, 2] * 9)),
        (through_several_callees, ({1: 1}, [1, 2] * 9)),
        (through_callees_again, ({1: 1}, [1, 2] * 9)),
    ],
)
def test_native_code_is_not_left_for_handlers_that_run_often(function, args):
    _f, _plan, bailouts = compiled(function, *args)
    assert bailouts == 0


def test_a_handler_that_runs_late_becomes_native_then():
    f = ljit.jit(missing_keys)
    for _ in range(4):
        assert f([1] * 9, {1: 1}) == 9
    (plan,) = f._executor.plans.values()
    assert plan.compiles == 1
    for _ in range(4):
        assert f([1, 2], {1: 1}) == 0
    assert plan.compiles == 2
    assert plan.unit is not None
    assert plan.unit.bailouts.total() == 0


def test_bodies_that_never_raised_have_no_handlers():
    _f, plan, _bailouts = compiled(missing_keys, [1] * 9, {1: 1})
    assert "prim::Try" not in str(plan.unit.graph)


def test_a_failing_guard_in_a_handler_runs_the_handler_again_in_the_interpreter():
    f, _plan, _bailouts = compiled(missing_keys, [2] * 9, {1: 1})
    big = -(2**63) + 1
    assert f([1, 2, 2, 2], {1: big}) == big - 3


def test_what_no_clause_takes_goes_on_as_in_cpython():
    f, _plan, _bailouts = compiled(missing_keys, [1, 2], {1: 1})
    with pytest.raises(TypeError) as info:
        f([1, 2, []], {1: 1})
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(info.value.__traceback__)]
    assert names == [info.traceback[0].name, "missing_keys"]
    assert info.value.__context__ is None
    assert sys.exc_info() == (None, None, None)


def test_what_goes_through_callees_keeps_the_exception_of_the_caller_as_context():
    f, _, _ = compiled(through_several_callees, {1: 1}, [1, 2] * 9)

    def within_handler(function):
        try:
            raise ValueError
        except ValueError:
            return function({1: 1}, [1, 2] * 2)

    (places, context), _ = within_handler(f)
    assert (places, context) == within_handler(through_several_callees)[0]
    assert context[0][0][0] == "within_handler"
    assert [name for name, _ in places] == [
        "through_several_callees",
        "further_in",
        "of_another_class",
    ]


def test_full_tracebacks_have_the_entries_of_callees():
    def names(function):
        (error,) = function({1: 1}, [1, 2])
        entries = traceback.extract_tb(error.__traceback__)
        return [entry.name for entry in entries if entry.filename == __file__]

    f = ljit.jit(kept_in_the_callee)
    for _ in range(3):
        assert f({1: 1}, [1]) == []
    with overridden(full_traceback=True):
        assert names(f) == names(kept_in_the_callee) == ["kept", "item"]


def item(table, key):
    return table[key]


def kept(table, key):
    try:
        item(table, key)
    except KeyError as error:
        return error
    return None


def kept_in_the_callee(table, keys):
    errors = [kept(table, key) for key in keys]
    return [error for error in errors if error is not None]


def test_an_exception_that_a_native_handler_took_is_freed():
    class Key:
        def __hash__(self):
            raise KeyError(self)

    f, _plan, _bailouts = compiled(missing_keys, [1, 2], {1: 1})
    f([Key()] * 9, {1: 1})
    f([Key()] * 9, {1: 1})
    key = Key()
    alive = weakref.ref(key)
    for _ in range(3):
        f([key], {1: 1})
    del key
    gc.collect()
    assert alive() is None


def test_what_a_native_handler_calls_may_look_at_the_exception():
    def look(xs, table):
        seen = []
        for x in xs:
            try:
                table[x]
            except KeyError:
                seen.append(sys.exc_info()[1].args)
        return seen

    f, _, bailouts = compiled(look, [1, 2, 3], {1: 1})
    assert f([1, 2, 3], {1: 1}) == [(2,), (3,)]
    assert bailouts == 0
    assert sys.exc_info() == (None, None, None)


def test_a_check_that_fails_behind_a_call_in_a_handler_does_not_call_again():
    log = []

    def noted(keys, table):
        total = 0
        for key in keys:
            try:
                total += table[key]
            except KeyError as error:
                log.append(key)
                total += key
                log.append(sys.exc_info()[1] is error)
        return total

    f, plan, bailouts = compiled(noted, [1, 2, 3], {1: 1})
    assert bailouts == 0
    log.clear()
    assert f([2**62, 2**62], {}) == 2**63
    assert log == [2**62, True] * 2
    assert plan.unit.bailouts.total() == 1
    assert sys.exc_info() == (None, None, None)


class Spy:
    """A key that notes the exception that is being handled."""

    def __init__(self):
        self.seen = []

    def __hash__(self):
        self.seen.append(sys.exc_info()[0])
        if len(self.seen) == 4:
            raise ValueError
        return 1


def test_what_a_native_handler_calls_finds_the_exception_and_raises_with_it_as_context():
    def store(keys, table):
        for key in keys:
            try:
                table[key]
            except KeyError:
                table[key] = 1

    f = ljit.jit(store)
    for _ in range(5):
        f([Spy(), Spy()], {})
    (plan,) = f._executor.plans.values()
    bailouts = plan.unit.bailouts.total()
    keys = [Spy(), Spy()]
    f(keys, {})
    assert [key.seen for key in keys] == [[None, KeyError]] * 2
    with pytest.raises(ValueError) as info:
        f(keys, {})
    assert isinstance(info.value.__context__, KeyError)
    assert [entry.name for entry in info.traceback][1:] == ["store", "__hash__"]
    assert sys.exc_info() == (None, None, None)
    assert plan.unit.bailouts.total() == bailouts


def test_explain_says_what_of_a_native_handler_is_interpreted():
    f, _, bailouts = compiled(missing_keys, [1, 2, 3], {1: 5})
    assert bailouts == 0
    (line,) = {text for text in f.explain().splitlines() if "except KeyError:" in text}
    assert line.endswith("| interpreted: what no clause catches")
