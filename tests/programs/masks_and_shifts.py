"""Sums of what masks, remainders, ors, shifts and absolute values leave, at the ends of their bounds."""

from tests.programs.harness import program


@program(
    lambda: (70, 2**62),
    lambda: (70, -1),
    lambda: (3, 2**63 - 1),
    lambda: (0, 5),
    lambda: (70, -(2**63)),
)
def mixed_bits(n, x):
    total = 0
    for i in range(n):
        a = (x + i if x < 0 else x - i) & 0x5555555555555555
        total += (a | (a >> 1)) & 0x3333333333333333
    return total


@program(lambda: (9, 2**63 - 1), lambda: (9, -(2**63)), lambda: (1, 2**62))
def sums_that_outgrow_a_word(n, x):
    total = 0
    for i in range(n):
        total += (x | i) ^ 1
        total += (x & -2) // 2
    return total


@program(
    lambda: (40, 1000, -7), lambda: (40, 2**63 - 1, 2**62), lambda: (40, -5, 3), lambda: (5, 5, 0)
)
def remainders_and_quotients(n, x, y):
    total = 0
    for i in range(n):
        total = total ^ (x % y) ^ ((x + 1 - i) // y if x > 0 else abs(x))
        total += max(x, 3) % 7 - min(y, 2) % 5
    return total


@program(lambda: (bytes(range(256)) * 3, 12), lambda: (b"\xff" * 9, 55), lambda: (b"", 1))
def packed_bytes(data, bits):
    total = 0
    for c in data:
        total = (total << 3 | c) & ((1 << bits) - 1)
        total ^= c << 2 | c >> 1
    return total
