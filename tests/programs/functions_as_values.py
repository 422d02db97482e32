"""Lambdas, nested functions and generators that are values."""

import functools

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
