"""Heaps and searches in sorted lists are those of `heapq` and `bisect`, item by item."""

from __future__ import annotations

import bisect
import heapq
import random
from bisect import bisect as search
from heapq import heappop, heappush

import pytest

import ljit
from ljit.testing.chaos import fail_each_guard

NAN = float("nan")


def through_heap(xs):
    heap = []
    out = []
    for i, x in enumerate(xs):
        heapq.heappush(heap, x)
        if i % 3 == 2:
            out.append(heapq.heappop(heap))
    while heap:
        out.append(heapq.heappop(heap))
    return out


def heap_of_pairs(xs):
    heap = [(xs[0], -1)]
    out = []
    for i, x in enumerate(xs):
        heappush(heap, (x, i % 4))
        if i % 5 == 4:
            out.append(heappop(heap))
    return out, len(heap), heap


def heap_of_others(heap, xs):
    for x in xs:
        heapq.heappush(heap, x)
    out = []
    for _ in range(len(xs) - 2):
        out.append(heapq.heappop(heap))
    return out


def places(a, xs):
    out = []
    for x in xs:
        out.append((bisect.bisect_left(a, x), bisect.bisect_right(a, x), search(a, x)))
    return out


def sorted_by_insertion(xs):
    made = [xs[0]]
    for x in xs[1:]:
        made.insert(search(made, x), x)
    return made


def numbers(kind, seed, count=60):
    r = random.Random(seed)
    if kind is int:
        return [r.randrange(-20, 20) for _ in range(count)]
    return [r.choice((r.random(), 0.0, -0.0, 0.5, float("inf"), -1.5)) for _ in range(count)]


def with_nans(seed):
    xs = numbers(float, seed)
    for k in random.Random(seed).sample(range(len(xs)), 7):
        xs[k] = float("nan")
    return xs


LISTS = [
    [1],
    [2, 1],
    *(numbers(kind, seed, count) for kind in (int, float) for seed, count in ((1, 60), (2, 9))),
]


def check(function, argument_lists):
    """Compare with CPython in each of several calls, values, their order and what is left in the arguments."""
    f = ljit.jit(function)
    for make in argument_lists:
        for _ in range(3):
            expected, given = make(), make()
            outcome = function(*expected)
            assert repr((f(*given), given)) == repr((outcome, expected))
    return f


@pytest.mark.parametrize("function", [through_heap, heap_of_pairs, sorted_by_insertion])
def test_lists_are_kept_in_order(function):
    check(function, [lambda xs=xs: (list(xs),) for xs in LISTS])


@pytest.mark.parametrize("function", [through_heap, heap_of_pairs])
@pytest.mark.parametrize("xs", [LISTS[2], LISTS[-1]])
def test_heaps_that_nobody_else_sees_have_no_objects(function, xs):
    f = check(function, [lambda: (list(xs),)])
    assert "prim::private_list" in str(f.graph_for(xs))


@pytest.mark.parametrize("function", [through_heap, heap_of_pairs, sorted_by_insertion])
def test_nans_are_where_the_library_puts_them(function):
    check(function, [lambda seed=seed: (with_nans(seed),) for seed in range(8)])


def test_heaps_of_others_are_changed_in_place():
    def cases():
        for kind in (int, float):
            for seed in range(4):
                heap = sorted(numbers(kind, seed, 20))
                yield lambda heap=heap, kind=kind, seed=seed: (
                    list(heap),
                    numbers(kind, seed + 9, 30),
                )
        yield lambda: (
            sorted((x, 1) for x in numbers(int, 3, 9)),
            [(x, 0) for x in numbers(int, 4)],
        )
        yield lambda: ([1, 2, 3], [0.5, 2, 7, 1])
        yield lambda: ([1, 2.5, 3], [2, 2, 7, 1])

    f = check(heap_of_others, cases())
    assert "py::heappop" in str(f.graph_for([1, 2], [3, 4]))


def pushed_and_popped(heap, x):
    heappush(heap, x)
    return heappop(heap)


@pytest.mark.parametrize("items", [[3, 5, 8], [0.5, 1.5, 2.5, 1.75], [(1, 2), (1, 3)]])
def test_no_check_of_a_heap_fails_behind_a_change(items):
    f = check(pushed_and_popped, [lambda: (list(items), items[0])])
    sites = 0
    for _site in fail_each_guard(f):
        heap, expected = list(items), list(items)
        popped = pushed_and_popped(expected, items[0])
        assert (f(heap, items[0]), heap) == (popped, expected)
        sites += 1
    assert sites > 2


def test_what_is_no_heap_becomes_what_it_becomes_in_the_library():
    check(
        heap_of_others,
        [lambda seed=seed: (numbers(int, seed, 20), numbers(int, 5, 20)) for seed in range(6)],
    )


def test_an_empty_heap_raises():
    def popped(xs):
        heap = [xs[0]]
        heappop(heap)
        return heappop(heap)

    f = ljit.jit(popped)
    for _ in range(4):
        with pytest.raises(IndexError, match="index out of range"):
            f([1, 2])


def test_items_that_cannot_be_compared_raise_with_the_heap_as_the_library_leaves_it():
    for function in (heap_of_others, ljit.jit(heap_of_others)):
        for _ in range(3):
            heap = [1, 2, 3]
            with pytest.raises(
                TypeError, match="not supported between instances of 'str' and 'int'"
            ):
                function(heap, [0, "a"])
            assert heap == [0, 1, 3, 2, "a"]
            if function is not heap_of_others:
                function([1, 2, 3], [0, 5, 4])


def test_searches_give_the_places_of_the_library():
    cases = []
    for kind in (int, float):
        for other in (int, float):
            for count in (0, 1, 2, 17):
                a, xs = numbers(kind, 5, count), numbers(other, 6)
                cases += [lambda a=a, xs=xs: (sorted(a), xs), lambda a=a, xs=xs: (list(a), xs)]
    cases += [lambda: ([1, 2.5, 3], [2, 2.5]), lambda: (sorted([0.5, 1.5, NAN]), [1.0, NAN])]
    cases += [lambda: ([2**53, 2**53 + 1], [2.0**53, 1e300])]
    f = check(places, cases)
    assert "py::bisect_left" in str(f.graph_for([1, 2], [3]))
