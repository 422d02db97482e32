"""Exceptions of each kind in the middle of work, with effects in front that must be seen once."""

import math

import numpy as np

from tests.programs.harness import program


class ModelError(Exception):
    """An exception of the user's own."""

    def __init__(self, step, value):
        super().__init__(step, value)
        self.step = step


@program(lambda: ([4, 2, 0, 1],), lambda: ([4.0, 0.0],), lambda: ([1, 2],))
def zero_division(xs):
    for i in range(len(xs)):
        xs[i] = 12 / xs[i]
    return xs


@program(lambda: (5, 0), lambda: (5.0, 0), lambda: (5, 0.0), lambda: (5, 2))
def zero_floor_division(a, b):
    print("before")
    q = a // b
    print("after")
    return q


@program(lambda: (7, 0), lambda: (7.5, 0.0), lambda: (7, 4))
def zero_remainder(a, b):
    return a % b


@program(
    lambda: ([1, 2, 3], 3), lambda: ([1, 2, 3], -4), lambda: ([1, 2, 3], -3), lambda: ((1, 2), 2)
)
def index_error_of_a_list(xs, i):
    log = [0]
    log.append(i)
    y = xs[i]
    return y, log


@program(lambda: (10,), lambda: (11,))
def index_error_of_an_array(n):
    a = np.arange(10)
    total = 0
    for i in range(n):
        total += a[i]
    return total


@program(lambda: (np.zeros(5), 7), lambda: (np.zeros(5), 3))
def mutation_before_index_error(a, n):
    for i in range(n):
        a[i] = i * i
    return a


@program(
    lambda: (np.zeros((2, 3)), 2, 0),
    lambda: (np.zeros((2, 3)), 0, -4),
    lambda: (np.zeros((2, 3)), 1, 2),
)
def index_error_in_two_dimensions(a, i, j):
    a[0, 0] = 1.0
    return a[i, j]


@program(lambda: ("12",), lambda: ("1x",), lambda: ("",))
def value_error_of_int(s):
    log = []
    for c in s:
        log.append(int(c))
    return int(s), log


@program(lambda: (2.0,), lambda: (-1.0,), lambda: (0,))
def value_error_of_math(x):
    y = math.sqrt(x)
    return y + math.log(x)


@program(lambda: (1, "a"), lambda: (1.5, None), lambda: ([1], 2), lambda: (1, 2))
def type_error_of_plus(x, y):
    print(x)
    return x + y


@program(lambda: ({"a": 1}, "b"), lambda: ({"a": 1}, "a"))
def key_error(d, key):
    d["seen"] = True
    return d[key]


@program(lambda: (5,), lambda: (-1,), lambda: (0,))
def assertion(n):
    assert n, "n is zero"
    assert n > 0
    return n


@program(lambda: (400.0,), lambda: (1000.0,))
def overflow_error_of_exp(x):
    total = 0.0
    for i in range(1, 3):
        total += math.exp(x * i)
    return total


@program(lambda: (10.0, 400), lambda: (10.0, 2))
def overflow_error_of_power(x, n):
    return x**n


@program(lambda: (math.inf,), lambda: (math.nan,), lambda: (2.5,))
def overflow_error_of_int(x):
    return int(x) + round(x)


@program(lambda: (0,), lambda: (3,))
def unbound_local(n):
    for i in range(n):
        last = i
    return last


@program(lambda: (True,), lambda: (False,))
def unbound_after_del(flag):
    x = 1
    if flag:
        del x
    return x


@program(lambda: (1,), lambda: (-1,))
def name_error(n):
    total = n + 1
    if n > 0:
        total += missing_global_name
    return total


@program(lambda: (1,), lambda: ("a",), lambda: ([],))
def attribute_error(x):
    return x.upper()


@program(lambda: (10, 4), lambda: (3, 4))
def custom_exception(n, limit):
    value = 1.0
    for step in range(n):
        value *= 1.5
        if step == limit:
            raise ModelError(step, value)
    return value


@program(lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,), lambda: (4,))
def raises_of_all_forms(kind):
    if kind == 0:
        raise ValueError
    if kind == 1:
        raise KeyError("key", kind)
    if kind == 2:
        raise RuntimeError("outer") from ValueError("inner")
    if kind == 3:
        raise IndexError("no context") from None
    raise 5


@program(lambda: ((1, 2),), lambda: ((1, 2, 3),), lambda: ((1,),), lambda: (5,))
def unpacking_errors(t):
    a, b = t
    return a + b


def reciprocal(x):
    y = 1 / x
    return y


@program(lambda: ([1, 2, 0],), lambda: ([1.0, 4.0],))
def error_in_an_inlined_helper(xs):
    total = 0
    for x in xs:
        total += reciprocal(x)
    return total


def outer_helper(xs, i):
    xs.append(i)
    return inner_helper(xs, i) + 1


def inner_helper(xs, i):
    return xs[i * 2]


@program(lambda: ([1, 2, 3],), lambda: ([],))
def error_two_calls_deep(xs):
    s = 0
    for i in range(4):
        s += outer_helper(xs, i)
    return s


@program(lambda: (5000, 4000), lambda: (5000, 9000))
def error_in_a_hot_loop(n, bad):
    total = 0.0
    for i in range(n):
        total += 1.0 / (i - bad)
    return total


@program(
    lambda: (np.ones(3), np.ones(4)),
    lambda: (np.ones(3), np.ones(3)),
    lambda: (np.ones((2, 1)), np.ones(3)),
)
def broadcast_error(a, b):
    a[0] = 7.0
    c = a + b
    return c


@program(lambda: (np.zeros(3), [1, 2]), lambda: (np.zeros(3), [1, 2, 3]))
def slice_assignment_error(a, values):
    a[1] = 5.0
    a[:] = values
    return a


@program(lambda: (3, 0), lambda: (3, 2), lambda: (-3, 2))
def negative_shift(x, n):
    return x << (n - 1), x >> (n - 1)


@program(lambda: ([3, 4],), lambda: ((3, 4),), lambda: ("ab",))
def item_assignment_error(xs):
    xs[0] = 10
    return xs


@program(lambda: (np.array([2, 0]),), lambda: (np.array([2.0, 0.0]),))
def numpy_division_by_zero_is_no_error(a):
    return 1 / a, a[0] / a[1], a[0] // a[1], a[1] % a[1]


@program(lambda: (np.arange(3.0),), lambda: (np.array([1.0]),), lambda: (np.array([]),))
def truth_of_an_array(a):
    if a:
        return "true"
    return "false"


@program(lambda: (3,), lambda: (60,))
def recursion_with_error(n):
    if n == 1:
        return 1 // (n - 1)
    if n > 50:
        return n
    return recursion_with_error(n - 1)


@program(lambda: (3,), lambda: (0,))
def error_in_a_comprehension(n):
    return [10 // (2 - i) for i in range(n)]


@program(
    lambda: (np.zeros(4, dtype=np.int8), 300),
    lambda: (np.zeros(4, dtype=np.int8), -5),
    lambda: (np.zeros(4, dtype=np.uint8), -1),
)
def stored_value_out_of_bounds(a, x):
    a[0] = 1
    a[1] = x
    return a


@program(lambda: (5, "x"), lambda: (5, 2))
def type_error_of_comparison(a, b):
    return a < b
