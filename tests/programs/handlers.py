"""``try`` and ``with``: handlers, ``finally``, ways out of them, and what of it a program can see."""

import contextlib
import sys
import traceback

import numpy as np

from tests.programs.harness import program


class Manager:
    """A context manager that keeps a record; it takes exceptions of the classes in `swallows`."""

    def __init__(self, log, swallows=()):
        self.log = log
        self.swallows = swallows

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, cls, error, trace):
        seen = sys.exc_info()[1]
        lines = [line for _, line in traceback.walk_tb(trace)]
        self.log.append((cls, error is seen, len(lines)))
        return cls is not None and issubclass(cls, self.swallows)


class FailingExit:
    def __enter__(self):
        return self

    def __exit__(self, cls, error, trace):
        raise ValueError("exit")


class NoManager:
    def __enter__(self):
        return self


class Meta(type):
    def __subclasscheck__(cls, other):
        return True


class Other(Exception, metaclass=Meta):
    pass


class Error(Exception):
    pass


def lines_of(error):
    return [
        (frame.f_code.co_name, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_name.endswith("comp>")
    ]


def fail(x):
    raise Error(x)


def check(x):
    if x > 100:
        raise Error(x)
    return x


@program(lambda: (1, 0), lambda: (6, 3), lambda: (1, "x"))
def try_except(a, b):
    try:
        return a / b
    except ZeroDivisionError as error:
        return str(error)
    finally:
        print("finally")


@program(lambda: (5,), lambda: (0,), lambda: (300,))
def try_in_a_loop(n):
    failures = 0
    for i in range(n):
        try:
            10 // (i - 2)
        except ZeroDivisionError:
            failures += 1
    return failures


@program(lambda: (2, 4), lambda: (2, 1), lambda: (2.5, 3))
def break_out_of_managers_that_fail(b, n):
    """The last exit fails, the one in front takes that, the first fails, the outer statement takes that."""
    log = []
    for _ in range(n):
        with Manager(log, ValueError):
            log.append(b * 2)
            with FailingExit(), Manager(log, ValueError), FailingExit():
                if n > 2:
                    break
                else:
                    b -= 1
    return b, log


@program(lambda: (np.array([1.0, 0.0]),))
def with_statement(a):
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):
        b = 1 / a
    return b


@program(
    lambda: ([1, 2, 3], {1: 1, 2: 2, 3: 3}),
    lambda: ([1, 2, 3], {1: 1, 2: 2}),
    lambda: ([], {}),
    lambda: ([1, [2]], {1: 1}),
    lambda: ([1, 2], {1: 1, 2: "x"}),
)
def loop_in_a_body(xs, d):
    total = 0
    last = None
    try:
        for x in xs:
            total += d[x]
            last = x
    except KeyError as error:
        last = repr(error), last
        total += 1000
    else:
        last = "fine", last
    return total, last


@program(
    lambda: (np.arange(50.0), 10),
    lambda: (np.arange(50.0), 100),
    lambda: (np.arange(50.0), None),
    lambda: (np.arange(0.0), 0),
)
def loop_that_raises_in_the_middle(a, k):
    total = 0.0
    i = -1
    try:
        for i in range(len(a)):
            if i == k:
                raise ValueError("at", i)
            total += a[i]
            a[i] = -1.0
    except ValueError as error:
        return total, i, error.args
    finally:
        total += 0.5
    return total, i, k + 1


@program(lambda: ([1, 2, 3], 2), lambda: ([1.5, 2, 3], 9), lambda: ([], 0))
def index_out_of_range(xs, n):
    total, i = 0, 0
    try:
        while True:
            total += xs[i]
            i += 1
            if i > n:
                break
    except IndexError as error:
        return total, i, str(error)
    return total, i


@program(lambda: ([1, 2, 300, 4],), lambda: ([1, 2],), lambda: (["x"],))
def exceptions_of_callees(xs):
    total = 0
    for x in xs:
        try:
            total += check(x)
        except Error as error:
            total += error.args[0] // 100
            print(lines_of(error))
        except TypeError as error:
            print(type(error), error.__context__)
            return error.args
    return total


@program(lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,), lambda: (4,))
def ways_out(way):
    log = []
    for i in range(3):
        try:
            log.append(i)
            if i == 1 and way == 0:
                continue
            if i == 1 and way == 1:
                break
            if i == 1 and way == 2:
                return log, "body"
            if i == 1 and way == 3:
                fail(i)
            log.append("through")
        except Error:
            log.append("error")
        finally:
            log.append("finally")
    else:
        log.append("else")
    return log


@program(lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,), lambda: (4,))
def ways_out_of_handlers(way):
    log = []
    for i in range(3):
        try:
            fail(i)
        except Error as error:
            log.append(error.args)
            if way == 0:
                continue
            if way == 1:
                break
            if way == 2:
                return log
            if way == 3:
                raise
            log.append("handled")
        finally:
            log.append("finally")
            print(log)
    try:
        return log, error
    except UnboundLocalError as unbound:
        return log, str(unbound), i


@program(lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,))
def finally_overrides(way):
    for i in range(2):
        try:
            if way == 0:
                return "body"
            fail(i)
        finally:
            if way == 1:
                return "finally", i
            if way == 2:
                continue
            if way == 3:
                break
    return "end", i


@program(lambda: (3,))
def nested_finally(n):
    log = []
    try:
        try:
            try:
                log.append(1)
                return log
            finally:
                log.append(2)
                n += 1
        finally:
            log.append(n)
    finally:
        log.append(4)


@program(lambda: (1,), lambda: (0,), lambda: ("x",))
def nested_handlers(x):
    log = []
    try:
        try:
            log.append(1 // x)
        except ZeroDivisionError as inner:
            log.append(repr(sys.exc_info()[1]))
            raise ValueError("inner") from inner
        except TypeError:
            log.append("type")
            raise
        log.append("body")
    except ValueError as outer:
        log.append((repr(outer.__cause__), repr(outer.__context__), len(lines_of(outer))))
        log.append(lines_of(outer))
        log.append(lines_of(outer.__cause__))
    finally:
        log.append(repr(sys.exc_info()[1]))
    return log, sys.exc_info()


@program(lambda: ([],), lambda: ([1],))
def contexts(xs):
    try:
        try:
            xs[3]
        except IndexError:
            {}[1]
    except KeyError as error:
        assert sys.exc_info()[1] is error
        return repr(error.__context__), error.__suppress_context__, lines_of(error)


@program(lambda: (IndexError,), lambda: ((KeyError, IndexError),), lambda: (LookupError,))
def classes_from_expressions(classes):
    def pick():
        print("picked")
        return classes

    try:
        [][1]
    except OSError:
        return "no"
    except pick():
        return "caught"


@program(lambda: (3,), lambda: ((KeyError, 3),), lambda: (Other,), lambda: (((KeyError,),),))
def classes_that_are_none(classes):
    try:
        try:
            [][1]
        except classes:
            return "caught"
    except TypeError as error:
        return str(error), repr(error.__context__)


@program(lambda: (0,), lambda: (1,), lambda: (2,))
def bare_except(n):
    try:
        10 // n
        [5][n]
    except ZeroDivisionError:
        return "zero"
    except:
        return repr(sys.exc_info()[1])
    else:
        return "else"


@program(lambda: (0,), lambda: (1,))
def errors_in_else(n):
    try:
        try:
            x = n
        except ZeroDivisionError:
            x = "inner"
        else:
            x = 1 // n
    except ZeroDivisionError:
        x = "outer"
    return x


@program(lambda: (True,), lambda: (False,))
def variables_of_handlers_are_unbound(flag):
    error = "before"
    try:
        if flag:
            fail(1)
    except Error as error:
        print(error)
    return error


@program(lambda: (True,), lambda: (False,))
def variables_that_may_be_unbound(flag):
    try:
        if flag:
            fail(1)
        x = 1
        fail(2)
    except Error:
        return x


@program(lambda: (0,), lambda: (1,))
def variable_of_an_inner_handler(n):
    try:
        try:
            fail(n)
        except Error as error:
            if n:
                {}[error.args[0]]
        x = error
    except KeyError as other:
        try:
            return error, other.args
        except UnboundLocalError as unbound:
            return str(unbound), lines_of(other)
    return x


@program(lambda: ([3, 1, 0, 2, 0, 5],), lambda: ([1, 2.5, 0],), lambda: ([0] * 8,))
def state_at_each_raise(xs):
    log = []
    a = b = c = 0
    for x in xs:
        try:
            a += x
            b = a
            1 / x
            c = b + x
            if c > 100:
                c = xs[c]
            a += 1 / (c - 1)
        except ZeroDivisionError:
            log.append((a, b, c))
            a -= 0.5
        log.append((a, b, c))
    return log


@program(lambda: (4,), lambda: (0,))
def reraised(n):
    for i in range(n + 1):
        try:
            try:
                10 // (i - n)
            except ZeroDivisionError:
                n += 1
                raise
        finally:
            print(i, n)
    return n


@program(lambda: (4,), lambda: (0,))
def raised_by_name(n):
    try:
        [][n]
    except IndexError as error:
        raise error


@program(lambda: (4,))
def raised_with_its_traceback(n):
    caught = []
    for i in range(3):
        try:
            try:
                fail(i)
            except Error as error:
                if i == 1:
                    raise error
                if i == 2:
                    raise
                caught.append(error)
        except Error as error:
            caught.append(error)
    return [lines_of(error) for error in caught]


@program(lambda: ((),), lambda: ((Error,),), lambda: ((KeyError,),))
def manager_sees(swallows):
    log = []
    for i in range(4):
        try:
            with Manager(log, swallows) as manager:
                if i == 1:
                    continue
                if i == 2:
                    fail(i)
                log.append(manager is not None)
                if i == 3:
                    return log
        except Error as error:
            log.append(lines_of(error))
    return log


@program(lambda: ([1.0, 2.0, 3.0], 5), lambda: ([1.0, 2.0, 3.0], 1))
def loop_in_a_manager(xs, k):
    log = []
    total = 0.0
    with Manager(log, ValueError), Manager(log):
        for i, x in enumerate(xs):
            if i == k:
                raise ValueError(i)
            total += x
    return total, log


@program(lambda: (NoManager(),), lambda: (3,), lambda: (Manager([]),))
def no_manager(manager):
    try:
        with manager as x:
            return x is manager
    except TypeError as error:
        return str(error), lines_of(error)


@program(lambda: ([1, 2],), lambda: ([1, 2, 3],), lambda: (5,))
def targets_of_with(items):
    log = []
    try:
        with contextlib.nullcontext(items) as (a, b), contextlib.nullcontext(a) as log[0:0]:
            pass
    except (TypeError, ValueError) as error:
        return str(error), lines_of(error)
    return log


@program(lambda: (2,), lambda: (0,))
def exit_that_raises(n):
    class_ = contextlib.ExitStack
    try:
        with class_() as stack:
            stack.callback(fail, n)
            10 // n
    except Error as error:
        return repr(error), repr(error.__context__)


@program(lambda: (np.ones(40), 0), lambda: (np.ones(40), 39), lambda: (np.ones(40), 40))
def array_stores_before_an_error(a, k):
    try:
        for i in range(a.shape[0]):
            a[i] += 2.0
            a[k] += 1.0
    except IndexError as error:
        return str(error)
    return i


@program(lambda: (["1", "x", "3", "4.5"],), lambda: (["1", "2"],))
def parsing(texts):
    numbers = []
    bad = 0
    for text in texts:
        try:
            numbers.append(int(text))
        except ValueError:
            try:
                numbers.append(float(text))
            except ValueError:
                bad += 1
    return numbers, bad


@program(lambda: ([2, 1, 0, 1],), lambda: ([1, 1],), lambda: ([0.5, 0.0],))
def while_with_retries(xs):
    tries = 0
    i = 0
    found = []
    while i < len(xs):
        tries += 1
        try:
            found.append(4 / xs[i])
        except ZeroDivisionError:
            xs[i] = 1
            continue
        i += 1
    return found, tries


@program(lambda: ({"a": 1}, ["a", "b"]), lambda: ({}, []))
def lookups(d, names):
    def value(name):
        return d[name]

    total = 0
    for name in names:
        try:
            total += value(name)
        except KeyError as error:
            total -= 1
            print(error.args, lines_of(error))
    return total


@program(lambda: ([1, 2, 3],), lambda: ([1, "x"],))
def comprehension_in_a_body(xs):
    try:
        ys = [x + 1 for x in xs]
        return sum(y * y for y in ys)
    except TypeError as error:
        return str(error), lines_of(error)


@program(lambda: (30,), lambda: (3,))
def mutation_in_loops_around(n):
    total = 0
    for i in range(n):
        kept = i
        try:
            for j in range(i):
                kept = j
                total += 10 // (j - 7)
        except ZeroDivisionError:
            total += 1000 * kept
        total += kept
    return total


@program(lambda: (3,), lambda: (0,))
def stop_of_an_iterator(n):
    it = iter(range(n))
    total = 0
    while True:
        try:
            total += next(it)
        except StopIteration:
            break
    return total


@program(lambda: (3,))
def finally_after_an_error_in_a_handler(n):
    log = []
    try:
        try:
            fail(1)
        except Error:
            log.append("handler")
            fail(2)
        finally:
            log.append(repr(sys.exc_info()[1]))
    except Error as error:
        log.append((repr(error), repr(error.__context__)))
    return log


@program(lambda: ("5",), lambda: ("x",))
def import_in_a_body(text):
    try:
        import no_module_of_this_name
    except ImportError:
        no_module_of_this_name = None
    try:
        value = int(text)
    except ValueError:
        value = -1
    return value, no_module_of_this_name


def numbers(n):
    for i in range(n):
        if i > 4:
            raise Error(i)
        yield i


@program(lambda: (3, 1), lambda: (8, 0), lambda: (8, 3), lambda: (2, 7))
def loops_over_generators(n, k):
    log = []
    try:
        for i in numbers(n):
            try:
                log.append(10 // (i - k))
                if i == k + 2:
                    break
                if i == 0:
                    continue
                log.append("through")
            except ZeroDivisionError:
                log.append("zero")
                continue
            finally:
                log.append(i)
        else:
            log.append("else")
    except Error as error:
        log.append(lines_of(error))
    return log


def quotient(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


@program(lambda: ([1.0, 0.0, 2.0],), lambda: ([1.0, 2.0],), lambda: ([0.0, "x"],))
def calls_of_functions_with_handlers(xs):
    total = 0.0
    for x in xs:
        total += quotient(1.0, x)
    return total


@program(lambda: ([1, (2, 0), "x"],), lambda: ([(3, 4)],))
def patterns_in_a_body(xs):
    found = []
    for x in xs:
        try:
            match x:
                case (a, b):
                    found.append(a // b)
                case int():
                    found.append(x)
                case _:
                    raise TypeError(x)
        except (TypeError, ZeroDivisionError) as error:
            found.append(repr(error))
    return found


# -- handlers that run in most trips ---------------------------------------------------------------


@program(
    lambda: ([1, 2, 3, 1] * 3, {1: 1}), lambda: ([5, 6] * 4, {1: 1}), lambda: ([1, []], {1: 2})
)
def missing_keys(xs, table):
    total = 0
    for x in xs:
        try:
            total += table[x]
        except KeyError:
            total -= 1
    return total


@program(lambda: (["1", "x", "2.5", "7"] * 3,), lambda: (["1", None],), lambda: (["9" * 30, "y"],))
def numbers_of_texts(texts):
    total, bad = 0, []
    for text in texts:
        try:
            number = int(text)
        except (ValueError, OverflowError):
            bad.append(text)
            continue
        total += number
    return total, bad


@program(lambda: ([1, 2, 3], [0, 7, -9, 2, 3] * 2), lambda: ([2**62], [0, 1, 0, 1]))
def items_that_may_be_missing(xs, places):
    total = 0
    for place in places:
        try:
            total += xs[place]
        except IndexError:
            total += 2**62
    return total


@program(lambda: ([1.5, 2.5, 3.5] * 3, [0.0, 2.0, 0.0] * 3), lambda: ([1, 2], [0, 1]))
def quotients(xs, ys):
    total = 0.0
    for i in range(len(xs)):
        try:
            total += xs[i] / ys[i]
        except ZeroDivisionError as error:
            total -= 1.0
            assert error is not None
    return total


@program(lambda: (9,), lambda: (0,), lambda: (3,))
def raised_and_caught(n):
    total = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ValueError
            if i % 3 == 1:
                raise KeyError(i)
            total += i
        except ValueError:
            total -= 1
        except LookupError:
            total -= 100
    return total


@program(lambda: ({1: 1}, [1, 2, 3, 1, 4]), lambda: ({}, [[], 1]))
def errors_that_are_kept(table, keys):
    errors = []
    for key in keys:
        try:
            table[key]
        except KeyError as error:
            errors.append(error)
    return [(type(e), e.args, lines_of(e), e.__context__) for e in errors]


@program(lambda: ({1: 1}, [1, 2, 3, 1, 4] * 2), lambda: ({}, [[], 1]))
def handlers_of_two_kinds(table, keys):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except TypeError:
                total += 1000
            total += table[key + 1]
        except KeyError:
            total -= 1
    return total


@program(lambda: ([3, 1, 2],), lambda: ([],), lambda: (["a"],))
def until_there_is_no_more(xs):
    total, more = 0, iter(xs)
    while True:
        try:
            x = next(more)
        except StopIteration:
            break
        total += x
    return total


@program(lambda: ({1: 1, 2: 2}, [1, 2, 3, 4]), lambda: ({}, [7]), lambda: ({}, []))
def first_missing_key(table, keys):
    for key in keys:
        try:
            table[key]
        except KeyError:
            return key
    return None


@program(lambda: ({1: 1, 2: 2}, [1, 2, 3, 4] * 2), lambda: ({1: 1.5}, [1, 3]))
def ways_behind_a_handler(table, keys):
    total, count = 0, 0
    for key in keys:
        try:
            value = table[key]
        except KeyError:
            value = -1
        else:
            count += 1
        finally:
            count += 100
        total += value
    return total, count


@program(lambda: ({1: 1}, [1, 2, 3] * 3), lambda: ({}, []))
def handler_that_looks(table, keys):
    seen = []
    for key in keys:
        try:
            table[key]
        except KeyError:
            seen.append(sys.exc_info()[1].args)
    return seen, sys.exc_info()


@program(lambda: ([1, 2, 3, 4], {2: 1, 4: 1}), lambda: ([1, 1], {}))
def variables_of_the_moment(xs, table):
    step, total = 0, 0.0
    for x in xs:
        try:
            step = 1
            if x > 1:
                step = 2
                table[x]
                step = 2.5
            table[x + 1]
            step = 4
        except KeyError:
            total += step
    return total, step


@program(lambda: ([1, 2, 3] * 3, {1: 1}), lambda: ([4, 4], {}))
def handler_that_reraises(xs, table):
    total = 0
    for x in xs:
        try:
            total += table[x]
        except KeyError:
            total += 1
            if total > 5:
                raise
    return total


class Key:
    """A key that notes what is being handled when it is asked for its hash, and fails the `fails`-th time."""

    def __init__(self, fails=0):
        self.fails = fails
        self.seen = []

    def __hash__(self):
        self.seen.append(repr(sys.exc_info()[1])[:8])
        if len(self.seen) == self.fails:
            raise Error("no hash")
        return 1

    def __repr__(self):
        return "Key"


@program(
    lambda: ([Key(), Key(), 5, 5, Key()], {5: 1}),
    lambda: ([Key(), 7, Key(fails=2), Key()], {}),
    lambda: ([8, 8, Key(fails=1)], {8: []}),
)
def handler_that_stores(keys, table):
    for key in keys:
        try:
            table[key] += 1
        except KeyError:
            table[key] = 1
    seen = [key.seen for key in keys if isinstance(key, Key)]
    return list(table.values()), seen, sys.exc_info()


@program(lambda: ([Key(), Key(fails=2)],), lambda: ([Key(fails=1)],))
def error_in_a_handler(keys):
    table = {}
    try:
        return stored(keys, table)
    except Error as error:
        return lines_of(error), repr(error.__context__)[:8], len(table)


def stored(keys, table):
    for key in keys:
        try:
            table[key]
        except KeyError:
            table[key] = 1


@program(lambda: ({1: 1}, [1, 2, 3, [], 4] * 2), lambda: ({}, [[], 1]))
def clauses_of_two_trys(table, keys):
    total = 0
    for key in keys:
        try:
            try:
                total += table[key]
            except TypeError:
                total += 1000
        except KeyError as error:
            total -= 1 if error.__context__ is None else 50
    return total


@program(lambda: ([1.0, 2.0, 3.0, 0.5],), lambda: ([1.0, 0.5],))
def small_arrays_are_written_around_native_handlers(xs):
    pair = np.array([0.0, 1.0])
    pair[0] = xs[0]
    pair[1] += pair[0]
    failed = 0
    for x in xs:
        try:
            if x > 1:
                raise ValueError(x)
        except ValueError:
            failed += 1
    return pair[0] * pair[1], failed


@program(lambda: ([1.0, 2.0, 3.0, 0.5],), lambda: ([1.0, 0.5],))
def small_arrays_are_written_where_native_handlers_take_over(xs):
    pair = np.array([0.0, 1.0])
    failed = 0
    for x in xs:
        try:
            pair[0] = x
            if x > 1:
                raise ValueError(x)
            pair[1] += pair[0]
        except ValueError:
            failed += 1
    return pair[0] * pair[1], failed


@program(lambda: (np.array([1.0, 0.0]),))
def settings_that_are_quiet_for_a_while(a):
    before = np.seterr(divide="ignore", over=None)
    try:
        return 1 / a
    finally:
        np.seterr(**before)


class Kept:
    """What a loop that is left makes."""


@program(lambda: (4, 5), lambda: (4, "x"), lambda: (1, 5))
def deleted_again(n, x):
    log = []
    for _ in range(5):
        try:
            for k in range(n):
                log.append(k)
                del x
        except UnboundLocalError as error:
            log.append(error.args)
            continue
        log.append(Kept())
    return log


@program(
    lambda: ([1, 2, 3], 9),
    lambda: ([1, 2], 1),
    lambda: ([1], 0),
    lambda: ([1], -1),
    lambda: ([], 0),
)
def items_taken_off_that_are_of_another_type(xs, k):
    """The list has got an item since the function was entered that is no int."""
    errors = []
    xs.insert(-1, len(xs) > 5)
    try:
        xs.append(xs.pop(k))
    except IndexError as error:
        errors.append(str(error))
    return xs, errors
