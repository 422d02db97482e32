"""Loops over bytearrays: they change, they grow, and arrays may share their memory."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (30,), lambda: (2,), lambda: (1,), lambda: (0,))
def sieve(n):
    flags = bytearray([1]) * (n + 1)
    flags[0] = flags[1] = 0
    for i in range(2, n + 1):
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = 0
    return sum(flags), flags


@program(
    lambda: (bytearray(b"abc\xff"), 90),
    lambda: (bytearray(b"abc\xff"), 255),
    lambda: (bytearray(b"abc\xff"), True),
    lambda: (bytearray(), 7),
    lambda: ([1, 2, 3], 7),
    lambda: (np.arange(5, dtype=np.uint8), 7),
)
def combined_in_place(data, mask):
    for i in range(len(data)):
        data[i] ^= mask
    for i in range(1, len(data) + 1):
        data[-i] = (data[-i] + i) % 256
    return data


@program(
    lambda: (bytearray(5), [1, 255, 0], 0),
    lambda: (bytearray(5), [1, 256, 0], 0),
    lambda: (bytearray(5), [1, -1, 0], 0),
    lambda: (bytearray(5), [1, 2, 3], 3),
    lambda: (bytearray(5), [1, 2, 3], -5),
    lambda: (bytearray(5), [1, 2, 3], -6),
    lambda: (bytearray(5), [1, 2**70, 3], 0),
    lambda: (bytearray(5), [1, 0.5, 3], 0),
    lambda: (b"bytes", [1, 2, 3], 0),
)
def items_that_do_not_fit(data, items, start):
    for i in range(len(items)):
        data[start + i] = items[i]
    return data


@program(lambda: (bytearray(b"\x01\x02\x03"), 40), lambda: (bytearray(), 3), lambda: (b"ab", 1))
def grows_in_its_loop(data, most):
    total = 0
    for k, c in enumerate(data):
        total += k * c
        if len(data) < most:
            data.append(c + 1)
            data[0] = len(data)
    for c in reversed(data):
        total = total * 3 % 1009 + c
        if len(data) > 2:
            del data[-1]
    for c, d in zip(data, data[1:]):
        total += c * d
    return total, len(data)


@program(lambda: (bytearray(range(8)), 3), lambda: (bytearray(2), 2))
def shared_with_an_array(data, step):
    view = np.frombuffer(data, np.uint8)
    total = 0
    for i in range(len(data)):
        before = data[i]
        view[i] = (before + step) % 256
        total += data[i] * 10 + before
        data[i] = 7
        total += view[i]
    return int(total), data


@program(
    lambda: ([1, 2, 255],), lambda: ([0] * 40,), lambda: ([],), lambda: ([3, 256],), lambda: ([-1],)
)
def grows_by_bytes(values):
    out = bytearray()
    for v in values:
        out.append(v)
    return out, len(out)


@program(lambda: ([1, 2],), lambda: ([],))
def cannot_grow_while_others_look(values):
    out = bytearray(b"ab")
    view = memoryview(out)
    try:
        for v in values:
            out.append(v)
    except BufferError as error:
        return str(error), bytes(view)
    return bytes(view), out
