"""Calls: helpers, closures, lambdas, recursion, defaults, keywords, methods, globals."""

import math

import numpy as np

from tests.programs.harness import Args, program

GRAVITY = 9.81
TABLE = (1, 2, 4, 8)
WEIGHTS = np.array([0.5, 0.25, 0.25])


def square(x):
    return x * x


def clamp(x, low=0, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


def first_above(xs, limit):
    for i, x in enumerate(xs):
        if x > limit:
            return i
    return -1


@program(lambda: (3,), lambda: (2.5,), lambda: (-4,))
def helper_functions(x):
    return square(x) + clamp(square(x), high=8) + clamp(x, -2) + square(square(x))


@program(lambda: ([1, 5, 10, 50],), lambda: ([],))
def helper_with_loop_and_return(xs):
    return first_above(xs, 4), first_above(xs, 100), [first_above(xs, x) for x in xs]


@program(lambda: (2.0,), lambda: (3,))
def global_constants(t):
    return 0.5 * GRAVITY * t * t, TABLE[1], len(TABLE), WEIGHTS[0] * t, math.tau


@program(lambda: (12,), lambda: (1,))
def recursive_fibonacci(n):
    if n < 2:
        return n
    return recursive_fibonacci(n - 1) + recursive_fibonacci(n - 2)


@program(lambda: (2, 3), lambda: (1, 4), lambda: (0, 0))
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program(lambda: ([1, [2, [3, 4]], 5],), lambda: ([],))
def recursive_flatten(xs):
    out = []
    for x in xs:
        if isinstance(x, list):
            out.extend(recursive_flatten(x))
        else:
            out.append(x)
    return out


@program(
    lambda: (1,),
    lambda: Args((1, 2)),
    lambda: Args((1,), {"c": 5}),
    lambda: Args((), {"a": 1, "b": 2.5}),
    lambda: Args((1, 2, 3)),
)
def defaults_and_keywords(a, b=10, c=20):
    return a + 2 * b + 3 * c


@program(
    lambda: Args((1,), {"scale": 2}),
    lambda: Args((1,)),
    lambda: Args((1,), {"scale": 2, "shift": 0.5}),
)
def keyword_only(x, *, scale=1, shift=0):
    return x * scale + shift


@program(
    lambda: (),
    lambda: (1.5,),
    lambda: (1, 2.5, np.float32(3)),
    lambda: tuple(range(30)),
    lambda: (np.arange(3.0), 2),
    lambda: ("a", "b"),
)
def any_number_of_arguments(*values):
    total = 0
    for value in values:
        total += value
    return total, len(values), values[-1:], values


@program(
    lambda: (2,),
    lambda: (2, 3, 4.5),
    lambda: Args((2, 3), {"scale": 0.5}),
    lambda: Args((2,), {"rest": 3}),
    lambda: Args((2, 3), {"first": 1}),
    lambda: Args((), {"first": 1}),
    lambda: (),
)
def rest_behind_others(first, /, second=1, *rest, scale=2):
    for value in rest:
        first += value * scale
    return first, second, rest


def largest_of(first, *others):
    for other in others:
        if other > first:
            first = other
    return first


def spread(*values, by=1):
    return (max(values) - min(values)) * by


@program(lambda: (4, 2.5), lambda: (1.0, 2), lambda: ("a", "b"))
def calls_with_any_number_of_arguments(x, y):
    values = x, y, x
    inner = lambda *parts: len(parts)
    return (
        largest_of(x),
        largest_of(x, y),
        spread(x, y, 2),
        largest_of(*values),
        inner(),
        inner(x, y),
    )


@program(lambda: (50,), lambda: (0,))
def any_number_of_arguments_in_a_loop(n):
    total = 0.0
    for i in range(n):
        total += largest_of(i * 0.5, 3.0, total / 8) - spread(i, total, by=0.25)
    return total


@program(lambda: (5, 1.5), lambda: (0, 2))
def recursion_with_any_number_of_arguments(n, *rest):
    if n <= 0:
        return len(rest), sum(rest)
    return recursion_with_any_number_of_arguments(n - 1, n, *rest)


@program(
    lambda: (2,),
    lambda: Args((2,), {"b": 3.5, "a": 1}),
    lambda: Args((2, 4), {"first": 1, "others": 2, "scale": 2}),
    lambda: Args((2, 4), {"second": 1}),
    lambda: Args((2, 4, 5)),
    lambda: Args((2,), {"": [1], "not a name": None, "scale": 0.5}),
    lambda: Args((), {"first": 1}),
)
def any_keywords(first, /, second=1, *, scale=2, **others):
    for name in others:
        second += len(name) * scale
    return first * second, others, list(others)


@program(lambda: Args((1, 2, 3)), lambda: Args((), {"a": 1}), lambda: Args((1,), {"b": 2.5}))
def any_arguments(*args, **kwargs):
    return sum(args), sorted(kwargs.items())


@program(
    lambda: (), lambda: Args((1, 2.5), {"n": 3}), lambda: Args((1,), {"values": 3, "options": 2})
)
def any_arguments_at_all(*values, **options):
    options["more"] = options.pop("n", 0) + len(values)
    return values, options


@program(lambda: ({"a": 1, "b": 2.5}, 3), lambda: ({"n": 1}, 3), lambda: ({1: 2}, 3))
def keywords_are_a_dict_of_their_own(given, n):
    def counted(*, n=2, **options):
        options["n"] = n
        return options

    return keyword_names(**given, z=n), changed(**given), given, counted(x=n), counted(n=n, y=1)


def keyword_names(*positional, **named):
    return list(named), len(positional)


def changed(**named):
    named["changed"] = True
    return named


def weighted(x, /, y=1.0, **options):
    if "scale" in options:
        return x * y * options["scale"]
    return x * y


@program(lambda: (40,), lambda: (0,))
def keywords_in_a_loop(n):
    total = 0.0
    for i in range(n):
        total += weighted(i, 0.5, scale=0.25) - weighted(total, x=i) + weighted(i, y=2, other=total)
    return total


@program(lambda: (5, 1.5), lambda: (0, 2))
def recursion_with_keywords(n, x, **options):
    if n <= 0:
        return x, options
    return recursion_with_keywords(n - 1, x + 1, **options, **{f"n{n}": x})


def wrong_by_keyword(x, y=1, /, z=2, **options):
    return x, y, z, options


@program(lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,))
def wrong_calls_with_keywords(kind):
    if kind == 0:
        return wrong_by_keyword(x=1, y=2)
    if kind == 1:
        return wrong_by_keyword(1, 2, 3, z=4)
    if kind == 2:
        return wrong_by_keyword(1, 2, 3, 4)
    return wrong_by_keyword(kind, x=1, y=kind, w=3)


@program(lambda: (), lambda: Args((1, 2)), lambda: Args((), {"q": 1}), lambda: Args((1,), {"x": 2}))
def wrong_arguments(x):
    return x


@program(lambda: (4, 3), lambda: (0.5, 2))
def nested_function(x, n):
    def step(y):
        return y * 2 + x

    for _ in range(n):
        x = step(x)
    return x


@program(lambda: (5,), lambda: (1.5,))
def lambdas(x):
    double = lambda v: v * 2
    add = lambda v, w=3: v + w
    return double(x), add(double(x)), (lambda: x)(), add(x, w=1)


@program(lambda: ([3, 1, 2],))
def lambda_as_key(xs):
    return (
        sorted(xs, key=lambda v: -v),
        max(xs, key=lambda v: v % 3),
        list(map(lambda v: v + 1, xs)),
    )


def make_scaled(factor, offset):
    def scaled(x):
        return x * factor + offset

    return scaled


@program(lambda: (3,), lambda: (2.5,))
def calls_a_closure(x):
    return scaled_by_two(x) + scaled_by_half(x)


scaled_by_two = make_scaled(2, 1)
scaled_by_half = make_scaled(0.5, 0)
is_a_closure = program(lambda: (3,), lambda: (2.5,), lambda: ("ab",))(make_scaled(3, 0))


class Counter:
    """A class whose objects the programs use."""

    step = 2

    def __init__(self, start):
        self.value = start

    def advance(self, n):
        self.value += n * self.step
        return self.value

    def __eq__(self, other):
        return isinstance(other, Counter) and vars(self) == vars(other)

    __hash__ = None


@program(lambda: (Counter(1), 3), lambda: (Counter(0.5), 2))
def methods_and_attributes(counter, n):
    for i in range(n):
        counter.advance(i)
    counter.extra = counter.value * 2
    before = counter.extra
    del counter.extra
    return counter.value, before, counter.step, hasattr(counter, "extra")


@program(lambda: (4,))
def makes_objects(n):
    counters = [Counter(i) for i in range(n)]
    total = 0
    for c in counters:
        total += c.advance(1)
    return counters, total


@program(lambda: ([1, 2, 3],), lambda: ((1.5,),))
def star_arguments(xs):
    return max(*xs, 0), clamp(*[5, 1, 3]), "{}-{}".format(*[xs[0], 2]), clamp(1, **{"low": 2})


def cubic(x, a, b=1.0):
    return x**3 - a * b


def slope(x, *_others):
    return 3.0 * x**2


def root_near(function, derivative, x, others=(), tolerance=1e-9):
    for _ in range(50):
        step = function(x, *others) / derivative(x, *others)
        x = x - step
        if abs(step) < tolerance:
            break
    return x


@program(
    lambda: (np.linspace(1.0, 9.0, 60),), lambda: ([2.0, 5.5],), lambda: ([1, 0],), lambda: (["a"],)
)
def roots_of_a_function_with_more_arguments(values):
    found = [root_near(cubic, slope, 2.0, (a,)) for a in values]
    return (
        found,
        [root_near(cubic, slope, 2.0, (a, 3)) for a in values],
        root_near(slope, slope, 1.0),
    )


@program(
    lambda: ((1, 2.5), (3,), 4),
    lambda: ([1, 2], (3,), 4),
    lambda: ((1,), "ab", 4),
    lambda: ((), range(3), 4.5),
    lambda: ((1, 2.5), 5, 4),
    lambda: (None, (3,), 4),
    lambda: (np.arange(3), {2: 3}, np.float32(4)),
)
def tuples_with_stars(xs, ys, z):
    made = (*xs, z, *ys), (z, *ys), (*xs,), (*xs, *ys), (z, z, *xs, z, *xs, z)
    return made, [clamp(z, *t[:2]) for t in (xs, (1, 2))], clamp(*ys[:1], *xs[:1], high=3)


@program(lambda: ([1, 2],), lambda: ((1, 2),))
def stars_are_iterated_before_what_follows(xs):
    log = []

    def seen(name):
        log.append(name)
        return name

    def items(name):
        for x in xs:
            yield seen((name, x))

    made = (seen(1), *items("a"), seen(2), *items("b"), *items("c"), seen(3))
    return made, log


@program(lambda: (10,), lambda: (3.0,))
def builtins_of_all_kinds(n):
    return (
        abs(-n),
        divmod(n, 3),
        isinstance(n, int),
        type(n) is float,
        len(range(int(n))),
        sum(range(int(n))),
        round(n / 3, 2),
        list(reversed([1, n])),
        any([n > 5, False]),
        callable(n),
        repr(n),
    )


@program(lambda: (5, 7), lambda: (5.0, 2))
def local_shadows_builtin(max, len):
    sum = max + len
    return sum * 2


def apply(function, x):
    return function(x) + 1


@program(lambda: (3,), lambda: (2.0,))
def function_as_argument(x):
    return apply(square, x), apply(math.sqrt, x), apply(lambda v: v - 1, x), apply(abs, -x)


@program(lambda: (4,), lambda: (0,))
def even_by_mutual_recursion(n):
    return is_even(n)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@program(lambda: (3,), lambda: (1,))
def order_of_evaluation(n):
    log = []

    def note(x):
        log.append(x)
        return x

    values = [note(1), note(2) + note(3)], {note(4): note(5)}, (note(6) if note(n > 2) else note(7))
    note(8) < note(7) < note(9)
    values[0][note(0)] = note(10)
    return values, log


@program(lambda: ("0", None), lambda: ("1f", 16))
def base_that_is_none(text, base):
    return int(text, base)


@program(lambda: (np.arange(3.0),))
def operand_by_name(a):
    return np.sqrt(x=a)


@program(lambda: (np.arange(3.0),))
def operand_by_name_beside_out(a):
    return np.add(a, x2=a, out=a)


@program(lambda: (5,))
def stop_given_as_start(n):
    return np.arange(start=n)


@program(lambda: (np.arange(3.0),))
def choice_by_names(a):
    return np.where(condition=a > 1, x=1, y=2)
