"""What runs within handlers, natively once they were seen to run: loops, calls, handlers, and what these raise."""

import sys
import traceback

import numpy as np

from tests.programs.harness import program


class Error(Exception):
    pass


def seen(error):
    """What a handler can tell of an exception: its frames, its cause and its context."""
    if error is None:
        return None
    frames = [
        (frame.f_code.co_name, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    chain = seen(error.__cause__), seen(error.__context__), error.__suppress_context__
    return type(error), str(error), frames, *chain


KEYS = [1, 2, 1, 3, 4] * 4
TABLE = {1: 2}


@program(
    lambda: (dict(TABLE), KEYS, 3),
    lambda: (dict(TABLE), KEYS, 2**62),
    lambda: (dict(TABLE), KEYS, 2.5),
)
def loops(table, keys, step):
    total = 0
    for key in keys:
        try:
            total += table[key]
        except KeyError:
            for i in range(3):
                total += step * i
                if total > 10**15:
                    break
    return total


@program(
    lambda: (dict(TABLE), KEYS, []),
    lambda: (dict(TABLE), [*KEYS, 2**70, "x"], []),
    lambda: (dict(TABLE), [*KEYS, 2.5], []),
)
def sums_behind_calls(table, keys, log):
    total = 0
    for key in keys:
        try:
            total += table[key]
        except KeyError as error:
            log.append(key)
            total += key
            log.append((total, sys.exc_info()[1] is error))
            total += len(log)
    return total, sys.exc_info()


@program(
    lambda: (dict(TABLE), {2: 7}, KEYS, []),
    lambda: (dict(TABLE), {2: 7}, [*KEYS, 2**70], []),
    lambda: (dict(TABLE), {2: 2**62, 3: 2**62}, KEYS, []),
)
def handlers_in_handlers(table, others, keys, log):
    total = 0
    for key in keys:
        try:
            total += table[key]
        except KeyError:
            log.append(sys.exc_info()[1].args)
            try:
                total += others[key]
            except KeyError as error:
                log.append(seen(error))
                total += key
                log.append(sys.exc_info()[1].args)
            log.append(sys.exc_info()[1].args)
            total += key
    return total, sys.exc_info()


@program(lambda: (dict(TABLE), KEYS, []), lambda: (dict(TABLE), [*KEYS, 2**70], []))
def raised_again_behind_a_call(table, keys, log):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except KeyError as error:
                log.append(seen(error))
                total += key
                raise
        except KeyError as error:
            log.append((seen(error), sys.exc_info()[1] is error))
            total -= 1
    return total


@program(lambda: (dict(TABLE), KEYS, []), lambda: (dict(TABLE), [*KEYS, 2**70], []))
def other_errors(table, keys, log):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except KeyError as error:
                total += key
                if key == 2:
                    raise Error(key) from error
                if key == 3:
                    raise Error(key) from None
                raise Error(key)
        except Error as error:
            log.append(seen(error))
            total -= 1
    return total


@program(lambda: (dict(TABLE), KEYS, []), lambda: (dict(TABLE), [*KEYS, 5, 6, 2**70], []))
def built_in_classes(table, keys, log):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except KeyError:
                if key == 2:
                    raise ValueError
                if key == 3:
                    raise ValueError from None
                if key == 5:
                    raise ValueError(key) from TypeError
                if key == 6:
                    raise KeyboardInterrupt from Error("six")
                raise ValueError(key)
        except (ValueError, KeyboardInterrupt) as error:
            log.append(seen(error))
            total -= 1
    return total


def number_or_error(table, key):
    try:
        return table[key]
    except KeyError as error:
        raise Error(key) from error


def number_or_note(table, key, log):
    try:
        return number_or_error(table, key)
    except ValueError:
        return 0
    except Error as error:
        log.append(key)
        error.add_note(f"key {key}")
        raise


@program(lambda: (dict(TABLE), KEYS, []), lambda: (dict(TABLE), [*KEYS, 2**70, "x", None], []))
def errors_of_callees(table, keys, log):
    total = 0
    for key in keys:
        try:
            total += number_or_note(table, key, log)
        except Error as error:
            log.append((seen(error), error.__notes__))
            total += key
    return total


@program(lambda: (dict(TABLE), KEYS, [], 2**70), lambda: (dict(TABLE), KEYS, [], 4))
def errors_that_leave(table, keys, log, last):
    total = 0
    for key in keys * 2:
        try:
            total += table[key]
        except KeyError:
            log.append(key)
            if len(log) == last:
                raise ValueError(key)
            total += table.get(key, last)
    return total


@program(
    lambda: (np.arange(5.0), [0, 9, 1, 8, 7] * 4, []),
    lambda: (np.arange(5.0), [0, 9, 1, -8, 7] * 4, []),
)
def arrays(a, places, log):
    for i in places:
        try:
            a[i] += 1
        except IndexError as error:
            log.append(str(error))
            a += 0.5
            a[0] -= len(log)
    return a.sum()


class Resizing:
    """A key that is missing, and makes an array smaller."""

    def __init__(self, a, size):
        self.a = a
        self.size = size

    def __hash__(self):
        self.resize()
        return 1

    def resize(self):
        if self.a.size > self.size:
            self.a.resize(self.size, refcheck=False)


def resizing(sizes):
    a = np.arange(9.0)
    return a, {}, [Resizing(a, size) for size in sizes]


@program(lambda: resizing([9] * 9), lambda: resizing([9, 9, 9, 9, 4, 4, 2]))
def arrays_that_shrink(a, table, keys):
    total, last = 0.0, a.size - 1
    for key in keys:
        try:
            total += table[key]
        except KeyError:
            if last >= a.size:
                last = a.size - 1
            total += a[last]
    return total


class Missing(KeyError):
    def __init__(self, a, size):
        super().__init__(size)
        self.resizing = Resizing(a, size)


def missing(sizes):
    a = np.arange(9.0)
    return a, [Missing(a, size) for size in sizes]


@program(lambda: missing([9] * 9), lambda: missing([9, 9, 9, 9, 4, 4, 2]))
def arrays_that_shrink_at_the_end(a, errors):
    total = 0.0
    for error in errors:
        try:
            raise error
        except:  # noqa: E722 - nothing stands behind the call
            error.resizing.resize()
        total += a.size + a[-1]
    return total


class Swallows:
    def __init__(self, classes, log):
        self.classes = classes
        self.log = log

    def __enter__(self):
        return 3

    def __exit__(self, cls, error, entries):
        self.log.append((seen(error), sys.exc_info()[1] is error))
        return cls in self.classes


@program(
    lambda: (dict(TABLE), KEYS, Swallows((KeyError,), [])),
    lambda: (dict(TABLE), [*KEYS, [], 2**70], Swallows((KeyError,), [])),
)
def managers(table, keys, manager):
    total = 0
    for key in keys:
        try:
            with manager as value:
                total += table[key] * value
            total += key
        except TypeError as error:
            with manager as value:
                total += value
            manager.log.append(seen(error))
    return total, manager.log


@program(lambda: (dict(TABLE), KEYS, []), lambda: (dict(TABLE), [*KEYS, 2**70, []], []))
def final_clauses(table, keys, log):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except KeyError:
                log.append(key)
                total += key
                if key == 3:
                    continue
                if key == 4:
                    raise
            else:
                total += 1
            finally:
                log.append(sys.exc_info()[0])
                total += len(log)
        except KeyError as error:
            log.append(seen(error))
    return total


def while_it_fails(table, key, log):
    while True:
        try:
            return table[key]
        except KeyError:
            log.append(key)
            key -= 1


@program(lambda: (dict(TABLE), KEYS, []), lambda: (dict(TABLE), [*KEYS, 2.0, 3.5], []))
def tries_again(table, keys, log):
    table = {**table, 0.5: 1}
    return sum([while_it_fails(table, key, log) for key in keys])


@program(lambda: (np.arange(6.0), np.arange(3.0)), lambda: (np.arange(2.0), np.arange(2.0)))
def messages_of_functions_made_of_others(a, b):
    """What such a function raises says what NumPy's says, not what its parts would."""
    log = []
    for _ in range(3):
        try:
            log.append(np.vstack((a, b)))
        except ValueError as error:
            log.append(str(error))
        try:
            log.append(np.column_stack((b, a)))
        except ValueError as error:
            log.append(str(error))
        try:
            log.append(np.einsum("i,i", a, b))
        except ValueError as error:
            log.append(str(error))
    return log
