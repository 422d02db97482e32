"""StopIteration in generators, `map` and `filter` whose loops stand in their place: Python makes another thing of it."""

from __future__ import annotations

import traceback

import pytest

import ljit
from ljit import config


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield


def stops(x):
    if x == 3:
        raise StopIteration(7)
    return x


@ljit.jit
def stops_too(x):
    return stops(x)


def large(x):
    total = 0
    for i in range(3):
        total += i
        for j in range(2):
            total -= j
    return stops(x) + total


def limit(n):
    return range(stops(n))


class Item:
    def get(self, x):
        return stops(x)


def items(n):
    for i in range(n):
        yield stops(i)


def raises(n):
    for i in range(n):
        if i == 3:
            raise StopIteration(7)
        yield i


def asks(n):
    source = iter(range(3))
    for _ in range(n):
        yield next(source)


def heads(n):
    for i in limit(n):  # noqa: UP028
        yield i


def conditions(n):
    while stops(n):
        n -= 1
        yield n


def delegates(n):
    yield from items(n)


def in_sum(n):
    return sum(stops(i) for i in range(n))


def in_search(n):
    return any(stops(i) > 100 for i in range(n)), all(large(i) >= 0 for i in range(n))


def in_condition(n):
    return max(stops_too(i) for i in range(n) if stops_too(i) >= 0)


def in_inner_loop(n):
    return min(i for _ in range(2) for i in limit(n))


def of_method(n):
    item = Item()
    return sum(item.get(i) for i in range(n))


def in_collections(n):
    return set(stops(i) for i in range(n)), ",".join(str(stops(i)) for i in range(n))  # noqa: C401


def caught(n):
    try:
        return sum(stops(i) for i in range(n))
    except RuntimeError as error:
        return repr(error), repr(error.__cause__), error.__cause__ is error.__context__


def in_comprehension(n):
    try:
        return [stops(i) for i in range(n)]
    except StopIteration as error:
        return repr(error)


def in_nested_function(n):
    def inner(k):
        return sum(stops(i) for i in range(k))

    return inner(n)


def in_map(n):
    return sum(map(stops_too, range(n))), list(map(large, range(n))), set(map(large, range(n)))


def in_map_of_lambda(n):
    source = iter(range(3))
    return [x for x in map(lambda y: large(y) + 1, range(n))], list(
        map(lambda _: next(source), range(n))
    )


def in_map_of_loop(n):
    total = 0
    for x in map(stops_too, range(n)):
        total += x
    else:
        total += 1000
    return total


def in_filter(n):
    return sum(filter(large, range(n))), list(filter(lambda x: stops(x) != 1, range(n)))


def in_both(n):
    return any(x == 2 for x in map(large, range(n))), sum(stops(x) for x in map(large, range(n)))


def loop_over_items(n):
    total = 0
    for x in items(n):
        total += x
    return total, [x for x in items(n)], sum(items(n))


def loop_over_raises(n):
    return [x for x in raises(n)]


def loop_over_asks(n):
    return sum(asks(n))


def loop_over_heads(n):
    return sum(heads(n))


def loop_over_conditions(n):
    return [x for x in conditions(n)]


def loop_over_delegates(n):
    return [x for x in delegates(n)]


def in_the_loop_s_own_body(n):
    result = []
    for x in items(2):
        try:
            result.append(stops(x + n))
        except StopIteration:
            result.append("stopped")
    for x in items(2):
        result.append(stops(x + n - 1))
    return result


def left_early(n):
    for x in items(10):
        if x == n:
            return x
    return None


PROGRAMS = [
    in_sum,
    in_search,
    in_condition,
    in_inner_loop,
    of_method,
    in_collections,
    caught,
    in_comprehension,
    in_nested_function,
    in_map,
    in_map_of_lambda,
    in_map_of_loop,
    in_filter,
    in_both,
    loop_over_items,
    loop_over_raises,
    loop_over_asks,
    loop_over_heads,
    loop_over_conditions,
    loop_over_delegates,
    in_the_loop_s_own_body,
    left_early,
]


def outcome(function, n):
    try:
        result = function(n)
    except Exception as error:
        return type(error), str(error), places(error), repr(error.__cause__), causes(error)
    return type(result), result


def causes(error):
    cause = error.__cause__
    return None if cause is None else (cause is error.__context__, places(cause))


def places(error):
    found = [(e.name, e.lineno) for e in traceback.extract_tb(error.__traceback__)]
    return [entry for entry in found if entry[0] != "outcome"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize(
    "numbers", [(3, 3, 3, 6, 6, 6, 6, 3, 8), (6, 6, 6, 6, 3, 3)], ids=["late", "early"]
)
def test_it_is_what_python_makes_of_it(program, numbers):
    made = ljit.jit(program)
    for n in numbers:
        assert outcome(made, n) == outcome(program, n)
    assert made._executor.refused is None
