"""Integers that leave 64 bits, in all ways, and those that stay just inside."""

from tests.programs.harness import program

TOP = 2**63 - 1


@program(lambda: (20,), lambda: (21,), lambda: (30,))
def factorial(n):
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


@program(lambda: (90,), lambda: (93,), lambda: (200,))
def big_fibonacci(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a


@program(lambda: (TOP, 1), lambda: (TOP, 0), lambda: (-TOP - 1, -1), lambda: (1, 2))
def sums_at_the_edge(x, y):
    return x + y, x - y, y - x, x * 2, -x, abs(x)


@program(lambda: (2**32, 2**31), lambda: (2**32, 2**30), lambda: (-(2**32), 2**31), lambda: (3, 5))
def products_at_the_edge(x, y):
    p = x * y
    return p, p + 1, p - 1, p // 3, p % 7


@program(
    lambda: (2**62, 3),
    lambda: (1, 62),
    lambda: (1, 63),
    lambda: (-1, 63),
    lambda: (1, 100),
    lambda: (5, 0),
)
def shifts_at_the_edge(x, n):
    return x << n, x >> n, (x << n) >> n


@program(lambda: (-(2**63),), lambda: (2**63,), lambda: (5,))
def smallest_integer(x):
    return -x, abs(x), x // -1, x % -1, ~x, x - 1, x * -1


@program(lambda: (10**30, 7), lambda: (7, 10**30), lambda: (10**30, 10**29))
def operands_are_big(x, y):
    return x + y, x * y, x // y, x % y, x > y, x == y, x & y, x / y, -x


@program(lambda: (60,), lambda: (70,), lambda: (5,))
def grows_out_and_comes_back(n):
    x = 1
    for _ in range(n):
        x *= 3
    for _ in range(n):
        x //= 3
    return x


@program(lambda: (3, 100, 1000007), lambda: (2**40, 5, 2**61 - 1), lambda: (7, 0, 13))
def modular_power(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result, pow(3, 5, 7)


@program(lambda: (b"hello world",), lambda: (b"",), lambda: (bytes(range(100)),))
def fnv_hash(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h ^= byte
        h = (h * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


@program(lambda: (10, 3), lambda: (10, 40), lambda: (2, 63), lambda: (2, 64), lambda: (-2, 63))
def integer_powers(x, n):
    return x**n, x**n + 1, x**n > 0


@program(lambda: (400,), lambda: (50,))
def harmonic_numerator(n):
    p, q = 0, 1
    for i in range(1, n // 10 + 1):
        p, q = p * i + q, q * i
    return p, q


@program(lambda: (1000,), lambda: (10,))
def overflow_in_the_middle_of_effects(n):
    log = []
    x = 1
    for i in range(n // 10):
        x = x * 5 + i
        log.append(x)
    return log


@program(lambda: (2**70,), lambda: (2**62,), lambda: (-(2**65),))
def counts_bits(x):
    n = 0
    y = abs(x)
    while y:
        n += y & 1
        y >>= 1
    return n, x.bit_length(), float(x), x > 2.5, x == float(x)


@program(lambda: (TOP - 3,), lambda: (0,))
def loop_over_a_range_at_the_edge(start):
    total = 0
    for i in range(start, start + 6):
        total += i
    return total
