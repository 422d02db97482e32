"""Loops over bytes: indices from both ends, items that are too far away, iteration, sizes."""

import numpy as np

from tests.programs.harness import program


@program(
    lambda: (b"abracadabra \x00\xff" * 40,), lambda: (b"",), lambda: ("text",), lambda: ([1, 2],)
)
def adler(data):
    a, b = 1, 0
    for i in range(len(data)):
        a = (a + data[i]) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


@program(lambda: (b"abaababaab" * 30, b"ab"), lambda: (b"ab", b"abc"), lambda: (b"", b""))
def occurrences(text, pattern):
    n, m = len(text), len(pattern)
    found = []
    for i in range(n - m + 1):
        for j in range(m):
            if text[i + j] != pattern[j]:
                break
        else:
            found.append(i)
    return found


@program(
    lambda: (b"\xff\x00\x80" * 30, 90),
    lambda: (b"\xff\x00\x80" * 30, 91),
    lambda: (b"ab", -1),
    lambda: (b"", 1),
)
def beyond_the_end(data, n):
    total = 0
    for i in range(n):
        total = total * 3 % 1009 + data[i] - data[-1 - i]
    return total, data[n - 1], data[-n]


@program(
    lambda: (bytes(range(245, 256)),), lambda: (b"",), lambda: (b"\x07",), lambda: (np.arange(5),)
)
def iterated(data):
    total = 0
    for c in data:
        total += c
    for i, c in enumerate(data, 3):
        total += i * c
    for c, d in zip(data, reversed(data)):
        total += c * d
    return total, len(data), [c for c in data if c > 250]


@program(
    lambda: (bytes(range(256)), np.arange(0, 256, 5, dtype=np.uint8)),
    lambda: (b"a", np.ones(3, np.uint8)),
)
def chosen(data, places):
    counts = np.zeros(256, np.int32)
    for p in places:
        counts[data[p]] += 1
    return counts, data[True]
