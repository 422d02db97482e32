"""Objects with finalizers live as long as CPython's variables have them, in the first call and in later ones."""

import itertools

import ljit
from ljit.ops.iteration_rules import is_view
from ljit.ops.python_iteration import HAS_NEXT

CALLS = 5


def numbers(log, name, n=5):
    log.append(f"{name} begins")
    try:
        yield from range(n)
    finally:
        log.append(f"{name} is closed")


def same(x):
    return x


def variables_keep_generators(k):
    log = []
    a, b, c, d, e = (numbers(log, name) for name in "abcde")
    for x in a:
        if x == k:
            break
    log.append("behind")
    for i, _ in enumerate(b):
        if i == k:
            break
    log.append("behind")
    for x in itertools.islice(c, 2):
        log.append(x)
    log.append("behind")
    for x in same(d):
        if x == k:
            break
    log.append("behind")
    for _, x in zip(range(3), e):
        if x == k:
            break
    log.append("behind")
    for x in (log_of_last := numbers(log, "f")):
        if x == k:
            break
    log.append("behind")
    return log[:], log_of_last.__name__


def test_variables_keep_the_generators_of_loops_that_are_left():
    compiled = ljit.jit(variables_keep_generators)
    for _ in range(CALLS):
        for k in (0, 3, 9):
            assert compiled(k) == variables_keep_generators(k)


class Resource:
    def __init__(self, log, name):
        self.log = log
        self.name = name

    def __del__(self):
        self.log.append(f"{self.name} is gone")


def test_objects_in_variables_that_nothing_reads_live_to_the_end():
    def work(log, n):
        _kept = Resource(log, "kept")
        for i in range(n):
            log.append(i)
        if n > 2:
            _inner = Resource(log, "inner")
        for i in range(n):
            log.append(i)
        return log[:]

    compiled = ljit.jit(work)
    for _ in range(CALLS):
        assert compiled([], 3) == [0, 1, 2, 0, 1, 2]


def test_functions_that_are_arguments_give_iterators_that_are_asked_natively():
    def total(make, n):
        result = 0.0
        for x in make(n):
            result += x
        return result

    compiled = ljit.jit(total)
    for make in (range, list_of, numbers_without_log, range):
        for _ in range(CALLS):
            assert compiled(make, 4) == total(make, 4)
    asked = [n for n in compiled.graph_for(numbers_without_log, 4).walk() if n.op is HAS_NEXT]
    assert asked and all(is_view(n.inputs[0].type) for n in asked)


def list_of(n):
    return [i * 0.5 for i in range(n)]


def numbers_without_log(n):
    for i in range(n):
        yield i * 2
