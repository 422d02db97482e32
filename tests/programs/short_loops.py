"""Loops of a few trips: over whole arrays, each of which changes an array that was made in front of them; products."""

import numpy as np

from tests.programs.harness import program


def field(n, m, dtype=float):
    return (np.arange(n * m).reshape(n, m) % 11 * 0.7 - 2.0).astype(dtype)


@program(
    lambda: (field(6, 7),),
    lambda: (field(3, 3),),
    lambda: (field(2, 5),),  # nothing in it
    lambda: (field(5, 2),),
    lambda: (field(1, 5),),  # ValueError
    lambda: (np.asfortranarray(field(5, 6)),),
    lambda: (field(12, 10)[::2, ::-1],),
    lambda: (field(5, 6, np.float32),),
    lambda: (field(5, 6, np.int16),),
    lambda: (np.full((4, 4), -0.0),),
)
def blur(image):
    total = np.zeros((image.shape[0] - 2, image.shape[1] - 2))
    for i in range(3):
        for j in range(3):
            total += image[i : i + total.shape[0], j : j + total.shape[1]]
    return total / 9.0


@program(
    lambda: (field(5, 6),),
    lambda: (field(5, 1),),
    lambda: (field(1, 6),),
    lambda: (field(4, 6),),  # ValueError in the last trip
)
def blur_of_other_sizes(image):
    total = np.ones((3, 6), np.float32)
    for i in range(3):
        total *= image[i : i + 3]
    return total


@program(
    lambda: (field(4, 3), field(5, 3)),
    lambda: (field(0, 3), field(5, 3)),
    lambda: (field(4, 1), field(5, 3)),
    lambda: (field(4, 2), field(5, 3)),  # IndexError
)
def distances(p, q):
    squares = np.zeros((len(p), len(q)))
    for axis in range(3):
        difference = p[:, axis, None] - q[None, :, axis]
        squares += difference**2
    return np.sqrt(squares)


@program(
    lambda: (field(4, 3), 0.5),
    lambda: (field(4, 3).T, 0.5),
    lambda: (field(4, 3, np.float32), np.float32(0.5)),
    lambda: (field(4, 3, np.int64), 2),
)
def carried(x, factor):
    for k in range(4):
        x = x * factor + k
    return x


@program(lambda: (field(4, 3),), lambda: (field(4, 1),), lambda: (field(1, 1),))
def read_in_between(a):
    total = np.zeros_like(a)
    largest = []
    for k in range(2):
        total += a + k
        largest.append(total.max())
    return total, largest


@program(lambda: (field(4, 3),), lambda: (field(4, 3).T,), lambda: (field(4, 3, complex),))
def two_totals(a):
    total, product = np.zeros(a.shape, a.dtype), np.ones_like(a)
    for k in range(3):
        total += a * k
        product *= a
    return total, product, total + product


@program(lambda: (field(6, 6), 1), lambda: (field(6, 6), 0), lambda: (field(2, 6), 7))
def checked_in_between(a, divisor):
    total = np.zeros((4, 6))
    for k in range(3):
        total += a[k : k + 4] * (6 // divisor)
    return total


@program(lambda: (np.linspace(0.0, 1.0, 9),), lambda: (np.ones(5),), lambda: (np.ones(4),))
def weights(a):
    total = np.zeros(a.shape[0] - 4)
    for k, weight in enumerate((0.1, 0.2, 0.4, 0.2, 0.1)):
        total += weight * a[k : k + len(total)]
    for _ in range(0):
        total += 1.0
    return total


@program(lambda: (np.ones(3), np.ones((1, 3))), lambda: (np.ones(3), np.ones((2, 3))))
def larger_operand(a, b):
    total = np.zeros(3)
    for _ in range(2):
        total += a
        total += b
    return total


@program(lambda: (field(5, 4),), lambda: (field(5, 1),), lambda: (field(1, 1),), ulp=16)
def sums_along_either_axis(a):
    down, across = a.sum(axis=0, keepdims=True), a[:, ::-1].sum(axis=1, keepdims=True)
    doubled = down * 2.0
    return doubled, np.sqrt(np.abs(doubled)) + across


def text_of(characters, n=12):
    return np.frombuffer((characters * n).encode(), np.uint8)


@program(
    lambda: (text_of("07af3C"), 0),
    lambda: (text_of("zz"), 0),  # beyond a byte
    lambda: (text_of("00000000zz"), 4),  # the same after a few trips
    lambda: (text_of("f", 1), 0),
    lambda: (text_of("ff", 1), -3),  # from the end, where there are two
    lambda: (text_of("7a"), 12),  # IndexError in the middle
)
def bytes_of_hexadecimal_digits(text, begin):
    out = np.empty(len(text) // 2, np.uint8)
    for i in range(len(out)):
        v = 0
        for k in range(2):
            c = int(text[begin + 2 * i + k])
            if 48 <= c <= 57:
                d = c - 48
            elif 97 <= c <= 102:
                d = c - 87
            else:
                d = c - 55
            v = v * 16 + d
        out[i] = v
    return out


@program(
    lambda: (np.arange(-6, 7), 10),
    lambda: (np.arange(6) * 1000, 10**9),  # beyond 64 bits in some trips
    lambda: (np.zeros(0, int), 10),
    lambda: (np.arange(5, dtype=np.int8), -(2**40)),
)
def values_of_a_polynomial(xs, scale):
    total, last = 0, 1
    for x in xs:
        v = 0
        for c in (3, -2, 5, scale):
            v = v * int(x) + c
        for _ in range(3):
            last = last * 7 % 1000003
            v *= last
        total += v
    return total, last
