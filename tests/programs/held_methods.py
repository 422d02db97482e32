"""Bound methods that wait for their arguments: looked up before something that leaves native code."""

import random
from collections import deque

from tests.programs.harness import program


def noted(log, x):
    log.append(x)
    return x


@program(lambda: ([3, 1, 2], 4), lambda: ([3, "a", 2], 3), lambda: ([2.5], 2))
def appended_results_of_calls(xs, n):
    out, log = [], []
    random.seed(n)
    for i in range(n):
        out.append(noted(log, xs[i % len(xs)] * (i + random.getrandbits(3))))
        out.append(random.random())
    return out, log


@program(lambda: ([[1], [2, 3]], 5), lambda: ([[1], (2,)], 3))
def rows_that_take_draws(rows, n):
    random.seed(n)
    for i in range(n):
        rows[i % 2].append(random.randrange(10 + i))
    return rows


@program(lambda: ("abc", {"a": 1}, 6), lambda: ("", {}, 2))
def methods_of_text_and_dicts(text, table, n):
    random.seed(n)
    out = []
    for i in range(n):
        out.append(text.find("abc"[random.randrange(3)]))
        out.append(table.get("ab"[random.randrange(2)], random.random()))
    return out


@program(lambda: (2**61, 5))
def overflow_while_a_method_waits(x, n):
    random.seed(n)
    out = []
    for i in range(n):
        out.append(random.getrandbits(4) * x * (i + 1))
    return out


def running_mean(log):
    total, count, mean = 0.0, 0, None
    try:
        while count < 20:
            x = yield mean
            log.append(x)
            total += x
            count += 1
            mean = total / count
        return total
    finally:
        log.append("end")


@program(lambda: (5, []), lambda: (30, []), lambda: (5, [], "x"), lambda: (5, [], 2.5))
def sent_to_generators(n, log, last=None):
    means = running_mean(log)
    next(means)
    out = []
    try:
        for i in range(n):
            out.append(means.send(noted(log, float(i))))
        out.append(means.send(noted(log, last)))
    except StopIteration as stop:
        out.append(stop.value)
    means.close()
    return out


@program(lambda: ([3, 1, 2], 4, []), lambda: ([3, "a", 2], 3, []), lambda: ([], 2, []))
def deques(xs, size, log):
    waiting, out = deque(xs, maxlen=size), []
    for x in xs:
        waiting.append(noted(log, x * 2))
        waiting.appendleft(noted(log, waiting[-1]))
        out.append(waiting.popleft())
    waiting.extend(noted(log, [waiting.pop()]))
    return out, list(waiting)
