"""Loops over arrays of the module `array`: items that do not fit, arrays that grow, and memory that others share."""

from array import array

import numpy as np

from tests.programs.harness import program


def numbers(typecode, count=9):
    return array(typecode, [k * 3 - (5 if typecode in "bhilqfd" else 0) + 5 for k in range(count)])


@program(
    *[lambda t=t: (numbers(t), numbers(t), 2) for t in "bBhHiIlLqQfd"], lambda: ([1, 2], [3, 4], 1)
)
def combined(xs, ys, factor):
    total = 0
    for i in range(len(xs)):
        total += xs[i] * ys[-1 - i]
        xs[i] = ys[i] * factor
    return total, xs


@program(
    lambda: (array("b", [0] * 3), [127, -128, True], 0),
    lambda: (array("b", [0] * 3), [1, 128, 2], 0),
    lambda: (array("b", [0] * 3), [1, -129, 2], 0),
    lambda: (array("B", [0] * 3), [1, 256, 2], 0),
    lambda: (array("B", [0] * 3), [1, -1, 2], 0),
    lambda: (array("h", [0] * 3), [2**15 - 1, -(2**15), 2**15], 0),
    lambda: (array("H", [0] * 3), [2**16 - 1, 2**16, 0], 0),
    lambda: (array("i", [0] * 3), [-(2**31), 2**31 - 1, 2**31], 0),
    lambda: (array("I", [0] * 3), [2**32 - 1, 2**32, 0], 0),
    lambda: (array("q", [0] * 3), [-(2**63), 2**63 - 1, 2**63], 0),
    lambda: (array("l", [0] * 3), [1, 0.5, 2], 0),
    lambda: (array("f", [0] * 3), [0.1, 7, 1e300], 0),
    lambda: (array("d", [0] * 3), [0.1, 2**63 - 1, True], 0),
    lambda: (array("d", [0] * 3), [0.1, 2**70, 1], 0),
    lambda: (array("d", [0] * 3), [0.1, "text", 1], 0),
    lambda: (array("d", [0] * 3), [0.1, None], -3),
    lambda: (array("d", [0] * 3), [0.1, 0.2], -4),
    lambda: (array("d", [0] * 3), [0.1, np.float64(0.2), np.int8(3)], 0),
    lambda: (array("i", [0] * 3), [1, np.int64(2), np.float32(3)], 0),
)
def items_that_do_not_fit(data, items, start):
    for i in range(len(items)):
        data[start + i] = items[i]
    return data


@program(
    lambda: (array("d", [1.5, 2.5, 0.5]), 12),
    lambda: (array("i", [1, 2, 3]), 12),
    lambda: (array("i"), 3),
    lambda: (array("Q", [1, 2**63]), 9),
)
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


@program(lambda: (numbers("d"), 0.5), lambda: (numbers("q"), 3), lambda: (array("d"), 1.0))
def shared_with_an_array(data, step):
    view = np.frombuffer(data, data.typecode) if len(data) else np.zeros(0)
    total = 0
    for i in range(len(data)):
        before = data[i]
        view[i] = before + step
        total += data[i] * 10 + before
        data[i] = 7
        total += view[i]
    return total, data


@program(
    lambda: ("d", [1.5, 2, True]),
    lambda: ("d", [0.5] * 40),
    lambda: ("f", [0.1, 1e300, -0.0]),
    lambda: ("b", [1, -128, 127, 128]),
    lambda: ("H", [1, 65535, -1]),
    lambda: ("q", [2**63 - 1, 2**63]),
    lambda: ("q", [1, 2.5]),
    lambda: ("Q", [2**64 - 1]),
    lambda: ("i", []),
)
def grows_by_items(typecode, values):
    out = array(typecode)
    for v in values:
        out.append(v)
    return out, len(out)


@program(lambda: ([1.5, 2.5],), lambda: ([],))
def cannot_grow_while_others_look(values):
    out = array("d", [0.5])
    out.append(1.0)
    view = memoryview(out)
    try:
        for v in values:
            out.append(v)
    except BufferError as error:
        return str(error), view.tolist()
    return view.tolist(), out


@program(lambda: (30,), lambda: (2,), lambda: (0,))
def sieve(n):
    flags = array("b", [1]) * (n + 1)
    for i in range(2, n + 1):
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = 0
    return sum(flags[2:]), flags


@program(
    lambda: ([numbers("d"), numbers("d", 3)],),
    lambda: ([numbers("d"), numbers("i", 3)],),
    lambda: ([numbers("f"), [1, 2.5], b"ab"],),
)
def arrays_of_several_kinds(rows):
    totals = []
    for row in rows:
        total = 0
        for x in row:
            total += x
        totals.append((total, len(row), max(row)))
    return totals


class Histogram:
    def __init__(self, size):
        self.counts = array("l", [0]) * size

    def add(self, values):
        counts = self.counts
        for v in values:
            counts[v % len(counts)] += 1


@program(lambda: ([3, 1, 4, 1, 5, 9, 2, 6], 4), lambda: ([], 3), lambda: ([1], 0))
def in_an_attribute(values, size):
    histogram = Histogram(size)
    histogram.add(values)
    for v in values:
        histogram.counts[v % size] -= 2
    return histogram.counts
