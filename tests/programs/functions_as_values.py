"""Lambdas, nested functions and generators that are values."""

import functools
import operator

import numpy as np

from tests.programs.harness import program


@program(lambda: ([3, 1, 2], -1), lambda: ([], 2), lambda: ([1.5, 2], "x"))
def keys_and_maps(xs, k):
    return (
        sorted(xs, key=lambda p: p * k),
        list(map(lambda x, y=k: x + y, xs)),
        max(xs, key=lambda p: -p),
    )


@program(lambda: ([1, 2, 3],), lambda: ([2.5],), lambda: ([],))
def folded(xs):
    product = functools.reduce(lambda p, q: p * q, xs)
    return product, list(filter(lambda v: v > 1, xs)), dict(zip(map(str, xs), (v for v in xs)))


@program(lambda: (4,), lambda: (0.5,))
def a_nested_function_with_defaults(n):
    def scaled(x, y=n, *, z=2):
        return x * y + n * z

    return (
        list(map(scaled, [1, 2])),
        scaled(1, 2, z=3),
        scaled.__name__,
        scaled.__defaults__,
        scaled.__kwdefaults__,
    )


@program(lambda: (3,), lambda: (0,))
def made_in_a_loop(n):
    made = []
    for i in range(n):
        made.append(lambda x, i=i: x * i + n)
    return [f(2) for f in made]


@program(lambda: (3,), lambda: (2.5,))
def lambdas_as_defaults_of_lambdas(n):
    last = lambda *, f=lambda: lambda: n: lambda g=lambda: f()(): g() * 2  # noqa: E731
    made = [lambda f=lambda g=lambda y=1: y + n: g() * 2: f() - 1, last()]
    return [f() for f in made]


@program(lambda: ([1, 2, 3],), lambda: ([],))
def a_generator_that_is_kept(xs):
    doubled = (x * 2 for x in xs)
    return next(doubled), list(doubled)


@program(lambda: (1,), lambda: (0,))
def one_of_two(flag):
    if flag:

        def g(x):
            return x
    else:

        def g(x):
            return -x

    return g(5)


@program(lambda: ([0, 1],), lambda: ([2],))
def errors_within(xs):
    return sorted(xs, key=lambda x: 1 / x)


@program(lambda: ([4, 5],), lambda: ([],))
def called_by_name_and_passed_on(xs):
    square = lambda x: x * x  # noqa: E731
    return square(3), [*map(square, xs)]


@program(
    lambda: (7, 3),
    lambda: (7.5, -2.0),
    lambda: (np.arange(3.0), np.ones(3)),
    lambda: (np.uint8(200), np.int8(-3)),
    lambda: (True, 2),
    lambda: ("a", 2),
    lambda: (1, 0),
    lambda: ([1], [2]),
    lambda: (2**62, 3),
)
def operators_as_functions(x, y):
    order = operator.lt(x, y), operator.ge(x, y), operator.eq(x, y), operator.ne(x, y)
    signs = operator.neg(y), operator.pos(y), operator.not_(y is None)
    return order, signs, operator.mul(x, y), operator.sub(x, y), operator.mod(x, y), x, y


@program(lambda: (12, 10, True), lambda: (np.arange(4), 3, False), lambda: (1.5, 2, True))
def operators_on_bits_as_functions(x, y, b):
    found = operator.and_(x, y), operator.or_(x, y), operator.xor(x, y), operator.invert(y)
    return (
        found,
        operator.lshift(x, y),
        operator.rshift(x, 1),
        operator.is_(b, True),
        operator.truth(y),
    )


@program(lambda: (np.arange(3.0), 2.0), lambda: ([1, 2], [3]), lambda: (3, 4), lambda: (3, "a"))
def operators_in_place_as_functions(x, y):
    first = x
    x = operator.iadd(x, y)
    for _ in range(3):
        operator.imul(x, 2)
    return first, x


@program(lambda: (3, 4))
def an_operator_as_a_function_with_keywords(x, y):
    return operator.add(x=x, y=y)


@program(lambda: (3.5, 100))
def a_loop_of_operators_as_functions(x, n):
    total = 0.0
    for i in range(n):
        total = operator.add(
            total, operator.truediv(operator.pow(x, 2), operator.floordiv(i, 3) + 1)
        )
    return total


@program(lambda: (50, 30), lambda: (0.5, 2))
def a_lambda_that_is_all_another_lambda_gives(x, y):
    add = (lambda a: lambda b: b * 100 + a)(x)
    twice = (lambda f: lambda g: f(g(1000)))(lambda v: v + 50)(lambda w: w + 2000)
    return add(y), (lambda a: lambda b: lambda c: a + b + c)(x)(y)(1), twice


# -- variables that nested functions share with the function around ----------------------------------


@program(lambda: (4,))
def generator_result(n):
    def squares():
        for i in range(n):
            yield i * i

    n += 1
    return list(squares())


@program(lambda: (2,))
def escaping_closure(n):
    functions = []
    for i in range(n):
        functions.append(lambda x: x + i + n)  # noqa: B023  # which is the point
    return [f(10) for f in functions]


@program(lambda: ([1, 0, 2],))
def closures_over_what_a_comprehension_binds(xs):
    functions = [lambda: y for x in xs if (y := x)]
    return [f() for f in functions]


@program(lambda: (4,), lambda: (0,), lambda: (2.5,))
def looks_at_what_changes(n):
    total, seen = 0, []
    look = [lambda k=1: (total, k)]
    for i in range(int(n)):
        total += i * n
        seen.append(look[0](i))
    del look[0]
    return seen, total


@program(lambda: (200,), lambda: (3,))
def hot_loop_with_a_shared_variable(n):
    total, last = 0.0, 0
    peek = {"total": lambda: total, "last": lambda: last}
    for i in range(n):
        total = total * 0.5 + i
        if i % 50 == 0:
            last = peek["total"]()
    return total, peek["last"](), peek["total"]()


@program(lambda: (6,), lambda: (0,), lambda: ("a",))
def recursive_nested_functions(n):
    def factorial(k):
        return 1 if k < 1 else k * factorial(k - 1)

    def is_even(k):
        return True if k == 0 else is_odd(k - 1)

    def is_odd(k):
        return False if k == 0 else is_even(k - 1)

    return factorial(n), is_even(n), list(map(is_odd, range(n)))


@program(lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,))
def shared_variables_that_are_unbound(kind):
    def read():
        return value

    keep = read
    if kind > 0:
        value = kind
    first = keep()
    if kind == 2:
        del value
    elif kind == 3:
        del value
        value = 5
    return first, keep(), value


@program(lambda: (1,), lambda: (2,), lambda: (3,), lambda: (4,))
def calls_that_do_not_fit_nested_functions(kind):
    def scaled(x, /, y=2, *, z=1):
        return x * y * z + kind

    if kind == 1:
        return scaled()
    if kind == 2:
        return scaled(x=1)
    if kind == 3:
        return scaled(*[1, 2], **{"z": 3})
    return scaled(1, 2, 3)


@program(lambda: (True,), lambda: (False,))
def nested_functions_that_may_not_be_defined(wanted):
    if wanted:

        def g(x):
            return x + 1

    return g(1)


@program(lambda: ([1, 2, 3], 2), lambda: ([], 1))
def parameters_that_are_shared(xs, k):
    scaled = lambda x: x * k
    first = list(map(scaled, xs))
    k += 1
    for k in range(k, k + 2):
        first += map(scaled, xs)
    return first, (scaled(x) for x in xs).__name__, list(scaled(x) for x in xs)


@program(lambda: (np.arange(4.0),), lambda: (np.ones(1),))
def arrays_that_are_shared(a):
    total = lambda: a.sum()
    before = total()
    a = a * 2 + 1
    a[0] = 7
    return before, total(), a


def noting(log, name):
    log.append(name)

    def decorate(function):
        log.append((name, function.__name__))
        return lambda x: function(x) + 1

    return decorate


@program(lambda: ([1, 2, 1, 3],), lambda: ([],), lambda: ([0.5, "a"],))
def decorated_nested_functions(xs):
    log = []

    @noting(log, "outer")
    @noting(log, "inner")
    def doubled(x, y=len(log)):
        log.append(x)
        return x * 2 + y

    @functools.lru_cache
    def cached(x):
        log.append(("cached", x))
        return x

    return [doubled(x) for x in xs], [cached(x) for x in xs], cached.cache_info(), log


@program(lambda: (1,), lambda: (2,))
def decorators_that_fail(kind):
    decorator = None

    if kind == 1:

        @decorator
        def g(x):
            return x

    @missing_decorator  # noqa: F821
    def h(x):
        return x

    return h


@program(lambda: (0,), lambda: (2,), lambda: ("a",))
def shared_variable_of_a_handler(x):
    look, seen = None, []
    try:
        seen.append(1 / x)
    except ZeroDivisionError as error:
        look = lambda: error
        seen.append(str(look()))
    finally:
        seen.append("finally")
    try:
        look()
    except (NameError, TypeError) as problem:
        seen.append(str(problem))
    return seen


@program(lambda: ([1, 0, 2],), lambda: ([],), lambda: ([1, "a"],))
def handlers_in_nested_functions(xs):
    total = 0.0

    def inverse(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return total

    for x in xs:
        total += inverse(x)
    return total


@program(lambda: (3, 0))
def try_in_a_nested_function(a, b):
    def divided(x):
        try:
            return a / x
        except ZeroDivisionError:
            return None

    return divided(b), divided(a)


@program(lambda: (3,))
def added_up_by_a_function_that_is_a_value(n):
    total = 0

    def add(x):
        nonlocal total
        total += x

    list(map(add, range(n)))
    return total


@program(lambda: ([3, 1, 2],), lambda: ([],), lambda: ([2.5, 1] * 9,), lambda: (["b", "a"],))
def counted_by_a_key(xs):
    calls, last = 0, None

    def key(x):
        nonlocal calls, last
        calls += 1
        last = x
        return x

    ordered, before = sorted(xs, key=key), []
    for x in ordered:
        before.append((calls, last is x))
        if max(x, x, key=key) == ordered[0]:
            calls -= 1
    return ordered, before, calls, last


def called(function, *args):
    return function(*args)


@program(lambda: (1, 9), lambda: (1.5, 9), lambda: ("a", 7), lambda: (2**63 - 3, 9), lambda: (1, 0))
def bound_and_deleted_by_others(x, n):
    log = []

    def change(trip):
        nonlocal x
        if trip == 5:
            del x
        else:
            x = x + x

    def look():
        return x

    for trip in range(n):
        try:
            called(change, trip)
            log.append((x, called(look)))
        except NameError as error:
            log.append((type(error), str(error)))
            if trip == 6:
                x = trip
    return log, x


@program(lambda: (4,), lambda: (0,))
def bound_again_by_what_is_kept(n):
    total = 0.0
    kept = []
    for i in range(n):

        def add(x, i=i):
            nonlocal total
            total += x * i
            return total

        kept.append(add)
    sums = [add(0.5) for add in kept]
    for k in range(n * 3):
        total += k
    return sums, [add(2) for add in kept], total


# -- arguments that are called -----------------------------------------------------------------------


def square(x):
    return x * x


def below_three(x):
    if x >= 3:
        raise ValueError(x)
    return x


def half_of_many(x, y=2):
    return x / y


@program(
    lambda: (square, 5),
    lambda: (square, 5.5),
    lambda: (below_three, 5),
    lambda: (half_of_many, 4),
    lambda: (lambda x: x + 1, 4),
    lambda: (abs, 4),
    lambda: (float, 3),
    lambda: (None, 2),
    lambda: (square, 0),
)
def sums_of_calls(f, n):
    total = 0
    i = 0
    while i < n:
        total += f(i)
        i += 1
    return total


@program(lambda: (square, half_of_many, 6), lambda: (square, square, 3), lambda: (str, abs, 2))
def two_that_change_places(f, g, n):
    made = []
    for i in range(n):
        made.append(f(i))
        f, g = g, f
    return made, f is g


def cubic(x):
    return x**3 - 2 * x - 5


def slope_of_cubic(x):
    return 3 * x**2 - 2


@program(
    lambda: (cubic, slope_of_cubic, 2.0),
    lambda: (slope_of_cubic, lambda x: 6 * x, 1.0),
    lambda: (cubic, lambda x: 0.0, 2.0),
)
def roots(f, slope, x):
    for _ in range(30):
        step = f(x) / slope(x)
        x -= step
        if abs(step) < 1e-12:
            break
    return x


def factorial_by(itself, n):
    return 1 if n < 2 else n * itself(itself, n - 1)


@program(lambda: (factorial_by, 10), lambda: (factorial_by, 30), lambda: (factorial_by, "x"))
def fixed_point(f, n):
    return f(f, n)


@program(
    lambda: (operator.mul, [1, 2, 3]),
    lambda: (max, [1, 2.5, 3]),
    lambda: (np.hypot, [1, 2.5, 3]),
    lambda: (divmod, [7, 2, 3]),
    lambda: (operator.sub, ["a", "b"]),
    lambda: (operator.truediv, [1, 2, 0]),
)
def folded_by(op, xs):
    result = xs[0]
    for x in xs[1:]:
        result = op(result, x)
    return result


@program(lambda: (np.exp, np.ones(5)), lambda: (abs, -np.ones(5)), lambda: (float, np.ones(5)))
def applied(f, a):
    try:
        return f(a) + 1
    except TypeError as error:
        return str(error)
