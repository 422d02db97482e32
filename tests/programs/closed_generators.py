"""Generators with a ``finally`` clause whose loops are left early: closed there."""

import contextlib

from tests.programs.harness import program

PLACES = (lambda: (0,), lambda: (3,), lambda: (9,))


def numbers(log, name, n=5):
    log.append(f"{name} begins")
    try:
        yield from range(n)
    finally:
        log.append(f"{name} is closed")


@program(*PLACES)
def left_by_break(k):
    log = []
    for x in numbers(log, "a"):
        if x == k:
            log.append("leaves")
            break
        log.append(x)
    else:
        log.append("else")
    log.append("behind")
    return log


@program(*PLACES)
def nested_loops_are_left(k):
    log = []
    for x in numbers(log, "a"):
        for y in numbers(log, f"b{x}"):
            if y == k:
                break
            log.append((x, y))
        log.append("behind the inner one")
        if x == 2:
            break
    log.append("behind")
    return log


def first(log, k):
    for x in numbers(log, "a"):
        if x == k:
            return x
        for y in numbers(log, "b"):
            if y == k + 1:
                return y
    return None


@program(*PLACES)
def callees_return_out_of_loops(k):
    log = []

    def nested():
        for x in numbers(log, "n"):
            if x == k:
                return x
        return -1

    for _ in range(3):
        log.append(first(log, k))
        log.append(nested())
    return log


@program(*PLACES)
def left_through_finally_clauses(k):
    log = []
    try:
        for x in numbers(log, "a"):
            try:
                if x == k:
                    return log
                if x == k + 1:
                    break
            finally:
                log.append("inner")
        for x in numbers(log, "b"):
            with contextlib.suppress(ValueError):
                if x == k - 9:
                    break
                if x > 2:
                    continue
                log.append(x)
    finally:
        log.append("outer")
    log.append("behind")
    return log


@program(*PLACES)
def builtins_know_early(k):
    log = []
    log.append(any(x == k for x in numbers(log, "a")))
    log.append(all(x != k for x in numbers(log, "b")))
    return log


def doubled(log, n):
    log.append("begins")
    for x in numbers(log, "inner", n):
        yield x * 2
    log.append("ends")


@program(*PLACES)
def generators_in_the_place_of_loops(k):
    log = []
    for x in doubled(log, 4):
        if x == 2:
            continue
        if x == 2 * k:
            break
        log.append(x)
    log.append("behind")
    return log


@program(lambda: (0,), lambda: (3,))
def many_generators(k):
    log = []
    for i in range(40):
        for x in numbers(log, i):
            if x == k:
                break
        log.append("behind")
    return log


@program(lambda: (50,), lambda: (9000,))
def left_after_many_trips(k):
    log, total = [], 0
    for x in numbers(log, "a", 20_000):
        if x == k:
            break
        total += x
    log.append("behind")
    return log, total


@program(*PLACES)
def left_for_a_handler(k):
    log = []
    try:
        for x in numbers(log, "a"):
            for y in numbers(log, "b", 3):
                if x + y == k:
                    raise ValueError(x)
    except ValueError as error:
        log.append(repr(error))
    log.append("behind")
    items = [1, 2]
    for i in range(3):
        try:
            for x in numbers(log, i):
                log.append(items[x + i])
                if x + i == k:
                    break
        except IndexError:
            log.append("handler")
            continue
        log.append("behind")
    return log


@program(*PLACES)
def left_for_a_finally_clause(k):
    log = []
    try:
        with contextlib.suppress(KeyError):
            for x in numbers(log, "a"):
                if x == k:
                    raise KeyError(x)
        try:
            for x in numbers(log, "b"):
                if x == k:
                    raise ValueError(x)
        finally:
            log.append("final")
    except ValueError:
        log.append("handler")
    log.append("behind")
    return log


@program(lambda: (0,), lambda: (3,))
def many_are_left_for_a_handler(k):
    log = []
    for i in range(40):
        try:
            for x in numbers(log, i):
                if x == k:
                    raise ValueError(x)
        except ValueError:
            log.append("handler")
    return log
