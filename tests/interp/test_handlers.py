"""Handlers in the interpreter: which are part of a step, and what a program can see of how it is done."""

from __future__ import annotations

import copy
import sys
import traceback
import weakref

import pytest

import ljit


class Missing(KeyError):
    """An exception that can be watched."""


def code_behind_a_body(d, e, k):
    while True:
        try:
            x = d[k]
            break
        except KeyError:
            return "handled"
    return x + e[k]


def final_behind_a_return(d, e, k):
    try:
        return d[k]
    finally:
        e.append(d[k] + e[0])


def states_on_ways(d, keys):
    a = b = 0
    seen = []
    for k in keys:
        try:
            if k % 2:
                a = k
                d[k]
            else:
                b = d[k + 1]
            if k % 3:
                a = -k
            d[k - 1]
        except KeyError:
            seen.append((a, b))
    return seen


def region_in_a_handler(d, keys):
    def sign(x):
        if x < 0:
            return -1
        return 1

    seen = []
    for k in keys:
        try:
            d[k]
        except KeyError as error:
            seen.append(sign(k))
            seen.append(repr(error))
    return seen


def states_of_variables(d, keys):
    a = b = c = 0
    seen = []
    for k in keys:
        try:
            a += 1
            if k % 2:
                b += d[k]
                c = a
            elif k % 3:
                c = -k
            a += d[k + 1]
        except KeyError as error:
            seen.append((a, b, c, str(error)))
            continue
        seen.append(a)
    return seen


def nested(d, keys):
    seen = []
    for k in keys:
        last = k
        try:
            try:
                last = d[k]
            except KeyError as error:
                seen.append((last, sys.exc_info()[1] is error))
                last = d[k + 1]
            finally:
                seen.append(last)
        except KeyError as error:
            context = error.__context__
            lines = traceback.format_tb(error.__traceback__)
            seen.append((last, str(error), str(context), lines))
        seen.append(sys.exc_info()[1])
    return seen


def loop_in_a_handler(d, keys):
    total = 0
    for k in keys:
        try:
            total += d[k]
        except KeyError as error:
            for i in range(3):
                total += i
                if sys.exc_info()[1] is not error:
                    return None
            try:
                total += d[k + 1]
            except KeyError as again:
                total -= again.__context__ is error
    return total


TABLE = {k: k for k in range(0, 40, 3)}
KEYS = list(range(24))
CASES = [
    (code_behind_a_body, TABLE, {}, 3),
    (code_behind_a_body, TABLE, {3: 4}, 3),
    (code_behind_a_body, TABLE, {}, 2),
    (region_in_a_handler, TABLE, [k - 10 for k in KEYS]),
    (states_of_variables, TABLE, KEYS),
    (final_behind_a_return, TABLE, [1], 3),
    (final_behind_a_return, TABLE, ["text"], 3),
    (states_on_ways, TABLE, KEYS),
    (nested, TABLE, KEYS),
    (loop_in_a_handler, TABLE, KEYS),
]


def outcome(f, *args):
    args = copy.deepcopy(args)
    try:
        return repr((f(*args), args))
    except (KeyError, TypeError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        return (
            repr(error),
            repr(error.__context__),
            [(f.name, f.lineno) for f in frames if f.filename == __file__][1:],
        )


@pytest.mark.parametrize(("function", "args"), [(f, args) for f, *args in CASES])
def test_handlers_in_steps_do_what_cpython_does(function, args):
    f = ljit.jit(function)
    assert outcome(f.run_interpreted, *args) == outcome(function, *args)


def steps_of(function, *args):
    f = ljit.jit(function)
    f.run_interpreted(*args)
    code = f._executor.baseline.code
    in_handlers = [pc for pc in code.steps if any(t.handler <= pc < t.end for t in code.tries)]
    return [step.text for step in code.steps.values()], in_handlers


def test_a_handler_is_part_of_the_step_of_its_body():
    texts, in_handlers = steps_of(nested, TABLE, KEYS)
    assert not in_handlers
    assert any(text.count("except BaseException:") > 2 for text in texts)


def test_a_handler_with_a_loop_has_steps_of_its_own():
    texts, in_handlers = steps_of(loop_in_a_handler, TABLE, KEYS)
    assert in_handlers
    assert not any("caught" in text and "enter" in text for text in texts)


def handled(keys, fail, count):
    seen = []
    for k in keys:
        try:
            fail(k)
        except Missing:
            pass
        seen.append(count())
    return seen


def handled_with_continue(keys, fail, count):
    seen = []
    for k in keys:
        seen.append(count())
        try:
            if k % 3:
                fail(k)
        except Missing:
            continue
        seen.append(k)
    return seen


def handled_with_else(keys, fail, count):
    seen = []
    for k in keys:
        try:
            fail(k)
        except Missing:
            seen.append(k)
        else:
            seen.append(-k)
        seen.append(count())
    return seen


def failed_handlers(keys, fail, count):
    seen = []
    for k in keys:
        try:
            try:
                fail(k)
            except Missing:
                fail(-k)
        except KeyError as error:
            error.__context__ = None
            seen.append(count())
        seen.append(count())
    return seen


@pytest.mark.parametrize(
    "function", [handled, handled_with_continue, handled_with_else, failed_handlers]
)
def test_exceptions_die_where_their_handlers_end(function):
    def run_with(f):
        made = weakref.WeakSet()

        def make(k):
            error = Missing(k)
            made.add(error)
            return error

        def fail(k):
            raise make(k)

        return f(KEYS, fail, lambda: len(made))

    assert run_with(ljit.jit(function).run_interpreted) == run_with(function)
