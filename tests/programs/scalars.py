"""Numbers of Python: arithmetic, comparison, conversion, selection."""

import cmath
import math

import numpy as np

from tests.programs.harness import program


@program(lambda: (2.0, 3.0), lambda: (2, 3), lambda: (-0.0, 0.0), lambda: (1e308, 1e308))
def arithmetic(x, y):
    s = x + y
    d = x - y
    p = x * y
    return s * d - p, s, d, p, -x, +y


@program(
    lambda: (7.5, 2.0),
    lambda: (-7.5, 2.0),
    lambda: (7, -2),
    lambda: (-7, 2),
    lambda: (7.0, -0.5),
    lambda: (-0.0, 3.0),
)
def floor_division_and_remainder(x, y):
    return x // y, x % y, x / y, divmod(x, y)


@program(lambda: (10.0,), lambda: (2,), lambda: (0.25,))
def newton_square_root(x):
    guess = x
    for _ in range(30):
        guess = 0.5 * (guess + x / guess)
    return guess


@program(lambda: (1071, 462), lambda: (0, 5), lambda: (2**40, 2**33 * 3))
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@program(lambda: (27,), lambda: (97,), lambda: (1,))
def collatz(n):
    steps = 0
    highest = n
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        if n > highest:
            highest = n
        steps += 1
    return steps, highest


@program(lambda: (20,), lambda: (0,), lambda: (50,))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program(
    lambda: (2, 10),
    lambda: (2, -1),
    lambda: (2.0, 0.5),
    lambda: (-8, 3),
    lambda: (3, 0),
    lambda: (True, 2),
)
def powers(x, y):
    return x**y, x**2, x**0.5 if x > 0 else None, pow(x, 3)


@program(lambda: (True, False), lambda: (True, True), lambda: (False, 3))
def bool_arithmetic(p, q):
    return p + q, p & q, p | q, p ^ q, -p, p * 2.5, not p, p == q, p < q, p // 1, int(p), bool(q)


@program(lambda: (12, 10), lambda: (-12, 10), lambda: (2**62, -1), lambda: (0, 0))
def bit_operations(x, y):
    return x & y, x | y, x ^ y, ~x, x >> 2, x << 1, (x ^ y) & 0xFF


@program(
    lambda: (3, 2.0),
    lambda: (2**53 + 1, 2.0**53),
    lambda: (5, math.nan),
    lambda: (2**63 - 1, 2.0**63),
    lambda: (1, 1.0),
)
def comparisons_of_int_and_float(i, x):
    return i < x, i <= x, i > x, i >= x, i == x, i != x, x < i, x == i


@program(
    lambda: (2.5,), lambda: (-3.5,), lambda: (0.49999999999999994,), lambda: (7,), lambda: (1e18,)
)
def rounding(x):
    return round(x), int(x), math.floor(x), math.ceil(x), math.trunc(x), round(x, 1), abs(x)


@program(lambda: (0.7,), lambda: (1.0,), lambda: (123.456,), lambda: (3,))
def math_functions(x):
    a = math.sqrt(x) + math.exp(-x) * math.sin(x) + math.cos(x)
    b = math.log(x) + math.atan2(x, 2.0) + math.hypot(x, 1.0)
    return a, b, math.fabs(x), math.copysign(x, -1.0), math.isnan(x), math.isinf(x), math.pi * x


@program(lambda: (0, 0.5), lambda: (3, 0.0), lambda: (0.0, 0), lambda: ("", 1), lambda: (None, [1]))
def and_or_give_operands(x, y):
    return x and y, x or y, not x, (x or y) and x, x and y or 7


@program(
    lambda: (1, 2, 3), lambda: (3, 2, 1), lambda: (1.0, 1.0, 2.0), lambda: (math.nan, 1.0, 2.0)
)
def chained_comparison(a, b, c):
    calls = 0
    if a < b < c:
        calls += 1
    if a <= b <= c != a:
        calls += 10
    if a == b == c or c > b > a:
        calls += 100
    return calls, a < b < c


@program(
    lambda: (5, -2, 9.5),
    lambda: (1.0, 1, True),
    lambda: (-0.0, 0.0, 0),
    lambda: (math.nan, 1.0, 2.0),
)
def minimum_and_maximum(a, b, c):
    return min(a, b), max(a, b), min(a, b, c), max(a, b, c), min(c, a), max(c, b, a), abs(b)


@program(lambda: (0.3, 0.5, 50), lambda: (-0.7, 0.1, 100), lambda: (2.0, 2.0, 10))
def mandelbrot_point(x, y, limit):
    z = c = complex(x, y)
    n = 0
    while n < limit and abs(z) <= 2.0:
        z = z * z + c
        n += 1
    return n, z


@program(
    lambda: (1 + 2j, 3 - 4j),
    lambda: (0j, 1j),
    lambda: (2.0, 1j),
    lambda: (complex(-0.0, 0.0), complex(0.0, -0.0)),
)
def complex_arithmetic(z, w):
    total = z + w, z - w, z * w, z / w if w else None
    return total, -z, abs(z * w), w.real, w.imag, w.conjugate(), z == w, z != w, complex(w)


@program(lambda: (0.3 + 0.4j,), lambda: (-1.0 + 0j,), lambda: (2.5,))
def complex_functions(z):
    return cmath.exp(z), cmath.sqrt(z), cmath.phase(z), z**2


@program(lambda: (3,), lambda: (3.7,), lambda: (-3.7,), lambda: (True,), lambda: ("12",))
def conversions(x):
    i = int(x)
    f = float(x)
    return i, f, bool(x), complex(f), int(f) + i, float(i), str(x), int(True)


@program(lambda: (None, 3.0), lambda: (2.0, 3.0), lambda: (0, 1))
def none_as_default(x, y):
    if x is None:
        x = y * 2
    result = None
    if x is not None and x > 1:
        result = x
    return result, x is y, x is None


@program(lambda: (10,), lambda: (0,), lambda: (3.5,))
def walrus(n):
    total = 0
    while (n := n - 1) > 0:
        if (square := n * n) > 10:
            total += square
    return total, n


@program(lambda: (5.0,), lambda: (5,), lambda: (-1.5,))
def float_then_int_variable(x):
    y = x
    if y > 2:
        y = 1
    else:
        y = 2.5
    z = y * 2
    return y, z


@program(lambda: (100,), lambda: (3,), lambda: (1000.0,))
def integer_becomes_float(n):
    total = 0
    i = 0
    while i < n:
        total += i * 0.5
        i += 1
    return total, i


@program(lambda: (12345, 1000), lambda: (1, 100), lambda: (2**31, 64))
def random_numbers(seed, n):
    state = seed
    total = 0.0
    for _ in range(n):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        total += state / 2147483648.0
    return state, total / n


@program(lambda: (0.1, 1000), lambda: (1, 10))
def compensated_sum(step, n):
    total = 0.0
    lost = 0.0
    for i in range(n):
        y = step * i - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total, lost


@program(
    lambda: (2.0, 1.0, -3.0), lambda: (1, 2, 5), lambda: (0.0, 2.0, 1.0), lambda: (1.0, -2.0, 1.0)
)
def quadratic_roots(a, b, c):
    if a == 0:
        return (-c / b,)
    d = b * b - 4 * a * c
    if d < 0:
        return ()
    if d == 0:
        return (-b / (2 * a),)
    r = math.sqrt(d)
    return (-b - r) / (2 * a), (-b + r) / (2 * a)


@program(
    lambda: (math.inf, 1.0),
    lambda: (math.nan, 1.0),
    lambda: (-math.inf, math.inf),
    lambda: (0.0, -0.0),
)
def special_values(x, y):
    return x + y, x - y, x * y, x * 0.0, x == x, x > y, -x, min(x, y), x if x else y, abs(x)


@program(lambda: (365, 400), lambda: (1, 2024))
def days_of_year(first, last):
    leap = 0
    for year in range(first, last):
        if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
            leap += 1
    return leap


@program(lambda: (1.5, 3), lambda: (2, 0), lambda: (0, -4))
def nested_ternaries(x, n):
    sign = 1 if n > 0 else -1 if n < 0 else 0
    return sign * x if sign else x, "pos" if sign > 0 else None


@program(
    lambda: ([1 + 2j, -3.5 + 0j, 0j, complex(-1.0, -0.0), 1e-3 - 50j],),
    lambda: ([1.5, -2.0, 0.0],),
    lambda: ([complex(710, 1)],),
    lambda: ([complex("inf"), complex("nan")],),
    lambda: ([5e-324j],),
)
def functions_of_cmath(zs):
    total = 0j
    angles = 0.0
    for z in zs:
        r, phi = cmath.polar(z)
        total += cmath.exp(z) + cmath.sqrt(z) * cmath.rect(r, phi)
        angles += cmath.phase(z)
    return total, angles


_LIMITS = np.array([0.0, -0.0, 0.5, 1.0, 2.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324])


@program(lambda: (_LIMITS.copy(), np.zeros(11)), lambda: (_LIMITS.astype("f4"), np.zeros(11, "f4")))
def clips_at_one_limit_with_and_without_nan(xs, out):
    for i in range(len(xs)):
        v = xs[i]
        if v < 1.0:
            v = 1.0
        if not v >= 1.0:
            v = 1.0
        out[i] = v
    return out


@program(
    lambda: (_LIMITS.copy(), np.zeros((4, 11), "f4")),
    lambda: (_LIMITS.astype("f4"), np.zeros((4, 11))),
    lambda: (_LIMITS.astype("f2"), np.zeros((4, 11))),
)
def signs_of_zeros_that_are_clipped_and_converted(xs, out):
    for i in range(len(xs)):
        v = xs[i]
        if v < 0.0:
            v = 0.0
        out[0, i] = v
        w = float(xs[i])
        if not w <= 0.0:
            w = 0.0
        out[1, i] = w
        out[2, i] = 0.0 if v > 0.0 else v
        out[3, i] = 0.0 if not w >= 0.0 else w
    return out


@program(
    lambda: (np.array([2.5]), 1),
    lambda: (np.array([2.5]), 0),
    lambda: (np.array([1e300]), 1),
    lambda: (np.array([np.nan]), 1),
)
def whole_parts_in_a_loop_of_a_float_of_two_cases(a, c):
    y = 1.0 + (a[0] if c > 0 else 65504.0)
    total = 0
    for _ in range(3):
        total += int(y)
    return total
