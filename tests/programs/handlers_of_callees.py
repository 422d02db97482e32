"""Functions with ``try`` and ``with`` that are called: what their handlers, and those of their callers, see."""

import contextlib
import sys
import threading
import traceback

import numpy as np

from tests.programs.harness import program


class Error(Exception):
    pass


def seen(error):
    """What a handler can tell of an exception: its frames and its context."""
    frames = [
        (frame.f_code.co_name, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    context = error.__context__
    return type(error), str(error), frames, context if context is None else seen(context)


def number_of(text):
    try:
        return int(text)
    except ValueError:
        return -1


@program(lambda: (["1", "x", "20", "", "3"] * 9,), lambda: (["1", None],))
def numbers_of_texts(texts):
    total = 0
    for text in texts:
        total += number_of(text)
    return total


def safe_quotient(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


@program(
    lambda: (np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])),
    lambda: ([1.0, 2.0, 3.0] * 9, [1.0, 0.0, 2.0] * 9),
    lambda: ([1, 2], [2, "x"]),
)
def quotients(xs, ys):
    total = 0.0
    for i in range(len(xs)):
        total += safe_quotient(xs[i], ys[i])
    return total


def item(table, key, log):
    try:
        return table[key]
    except KeyError as error:
        log.append(seen(error))
        raise


def item_or_error(table, key, log):
    try:
        return item(table, key, log)
    except KeyError as error:
        log.append(seen(error))
        raise Error(key) from error


@program(
    lambda: ({1: 2}, [1, 2, 1, 3, 4], []),
    lambda: ({1: 2}, [1] * 20, []),
    lambda: ([1, 2], [0, 1, 5], []),
)
def raised_again_through_callees(table, keys, log):
    total = 0
    for key in keys:
        try:
            total += item_or_error(table, key, log)
        except Error as error:
            log.append(seen(error))
            total -= 1
    return total


@program(lambda: ({1: 2}, [1, 2], []), lambda: ({}, [1], []))
def raised_out_of_callees(table, keys, log):
    return sum([item_or_error(table, key, log) for key in keys])


def other_class(table, key):
    try:
        return table[key]
    except IndexError:
        return 0


@program(lambda: ({1: 2}, [1, 2, 1, 3, 4] * 9, []), lambda: ({}, [], []))
def not_caught_in_the_callee(table, keys, log):
    total = 0
    for key in keys:
        try:
            total += other_class(table, key)
        except KeyError as error:
            log.append(seen(error))
    return total


@program(lambda: ({1: 2}, [1, 2, 3] * 9), lambda: ({1: 2}, [1] * 20))
def errors_that_are_kept(table, keys):
    errors = []
    for key in keys:
        try:
            other_class(table, key)
        except KeyError as error:
            errors.append(error)
    return [seen(error) for error in errors]


def counted(table, key, log):
    try:
        return table[key]
    finally:
        log.append((key, sys.exc_info()[0]))


@program(lambda: ({1: 2}, [1, 2, 1, 3, 4], []), lambda: ({1: 2}, [1] * 20, []))
def final_clauses_of_callees(table, keys, log):
    total = 0
    for key in keys:
        try:
            total += counted(table, key, log)
        except KeyError as error:
            log.append((seen(error), sys.exc_info()[1] is error))
    return total, sys.exc_info()


def first_number(texts):
    for text in texts:
        try:
            return int(text)
        except ValueError:
            continue
    return None


@program(lambda: ([["x", "1"], ["2"], [], ["y", "z"]] * 5,), lambda: ([["1"], [None]],))
def loops_in_callees(rows):
    return [first_number(row) for row in rows]


def in_a_manager(table, key):
    with contextlib.suppress(KeyError):
        return table[key]
    return None


@program(lambda: ({1: 2}, [1, 2, 1, 3, 4] * 5), lambda: ([1], [0, 0, 2]))
def managers_of_callees(table, keys):
    found = []
    for key in keys:
        found.append(in_a_manager(table, key))
    return found


def handled_twice(table, key, log):
    try:
        return table[key]
    except KeyError:
        log.append(number_of("x"))
        log.append(seen(sys.exc_info()[1]))
        return table[-key]


@program(lambda: ({1: 2, -2: 3}, [1, 2, 1, 3], []), lambda: ({1: 2, -2: 3}, [1, 2] * 9, []))
def errors_in_handlers_of_callees(table, keys, log):
    total = 0
    for key in keys:
        total += handled_twice(table, key, log)
    return total


@program(lambda: ({1: 2, -2: 3}, [1, 2, 1, 3], []), lambda: ({1: 2, -2: 3}, [1, 2] * 9, []))
def callees_in_handlers(table, keys, log):
    total = 0
    for key in keys:
        try:
            total += table[key]
        except KeyError as error:
            total += number_of("x")
            total += other_class(table, -key)
            log.append(sys.exc_info()[1] is error)
    return total


def array_item(a, i):
    try:
        return a[i]
    except IndexError:
        return -1.0


@program(lambda: (np.arange(5.0), range(9)), lambda: (np.arange(5.0), range(-7, 3)))
def items_of_arrays(a, places):
    total = 0.0
    for i in places:
        total += array_item(a, i)
    return total


class WithoutExit:
    def __enter__(self):
        return self


class Broken:
    @property
    def __enter__(self):
        raise Error("looked up")


class BrokenExit:
    def __init__(self):
        self.seen = 0

    def __enter__(self):
        self.seen += 1

    @property
    def __exit__(self):
        raise KeyError("looked up")


class OwnMethods:
    """Has methods of its own, which ``with`` does not look at, and a static one."""

    def __init__(self):
        self.seen = []
        self.__enter__ = None

    @staticmethod
    def __enter__():
        return 2

    def __exit__(self, *what):
        self.seen.append(what)


@program(
    lambda: ([WithoutExit, Broken, BrokenExit, int, type(None)] * 5, []),
    lambda: ([OwnMethods, contextlib.nullcontext] * 5, []),
    lambda: ([OwnMethods] * 20, []),
)
def lookups_of_managers(classes, log):
    total = 0
    for cls in classes:
        manager = cls()
        try:
            with manager as k:
                total += k or 1
        except (Error, KeyError, TypeError, AttributeError) as error:
            log.append(seen(error))
        log.append(getattr(manager, "seen", None))
    return total


@program(lambda: ([1] * 20,), lambda: (range(9),))
def locks_in_loops(xs):
    lock = threading.Lock()
    total = 0
    for x in xs:
        with lock:
            total += x
    return total, lock.locked()
