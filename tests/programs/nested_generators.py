"""Generator functions within functions: run in the place of their loops, or values where their generators are kept."""

from collections import Counter

import numpy as np

from tests.programs.harness import program

GRID = ["..#.", "....", "#..#"]


@program(lambda: (GRID,), lambda: (["."],), lambda: ([],))
def neighbours_on_a_grid(grid):
    def around(x, y):
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (
                0 <= x + dx < len(grid[0])
                and 0 <= y + dy < len(grid)
                and grid[y + dy][x + dx] == "."
            ):
                yield x + dx, y + dy

    seen, queue, steps = {(0, 0)}, [(0, 0)], 0
    while queue:
        place = queue.pop()
        for other in around(*place):
            steps += 1
        for other in around(place[0], place[1]):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return sorted(seen), steps


@program(
    lambda: ([1, 5, 2, 9],),
    lambda: ([0.5, 2.5],),
    lambda: ([],),
    lambda: (np.arange(5),),
    lambda: (3,),
)
def variables_around_change_while_it_runs(xs):
    limit, seen = 1, []

    def above(offset=0):
        for x in xs:
            if x + offset > limit:
                yield x, limit

    for x, at in above():
        limit = x
        seen.append((x, at))
    for x, at in above(2):
        seen.append(at)
        limit -= 1
    return seen, limit, sum(a for a, _ in above(100))


@program(lambda: ([3, 1, 2],), lambda: ([],), lambda: ([1.5],), lambda: (["x", "y"],))
def kept_and_used_up(xs):
    def doubled():
        for x in xs:
            yield x + x

    first = doubled()
    got = [next(first, None)]
    for y in doubled():
        got.append(y)
    got.extend(first)
    return got, list(doubled()), Counter(doubled()), list(zip(doubled(), doubled(), strict=True))


@program(lambda: (6, 3), lambda: (3, 9), lambda: (0, 1), lambda: (2.5, 1))
def left_in_the_middle(n, wanted):
    log = []

    def counted():
        log.append("begins")
        for i in range(n):
            yield i
            log.append(i)
        log.append("ends")

    for i in counted():
        if i == wanted:
            break
        if i == 1:
            continue
        log.append(-i)
    else:
        log.append("else")
    for i in counted():
        for j in counted():
            if i + j == wanted:
                return log, i, j
    return log, any(i == wanted for i in counted()), all(i < wanted for i in counted())


@program(lambda: (3,), lambda: (0,), lambda: ("ab",))
def defaults_are_evaluated_once(n):
    calls = []

    def note(x):
        calls.append(x)
        return x

    def repeated(x, times=note(2), kept=[]):  # noqa: B006, B008
        kept.append(x)
        for _ in range(times):
            yield x
        yield len(kept)

    out = []
    for i in range(2):
        for x in repeated(n):
            out.append(x)
        out += repeated(i, 1)
    return out, sum(repeated(1)), calls


@program(lambda: ([4, 7],), lambda: ([4],), lambda: ([],))
def wrong_calls_of_nested_ones(xs):
    def pairs(a, b=1):
        yield a
        yield b

    total = 0
    for x in pairs(xs[0]):
        total += x
    for x in pairs(*xs):
        total += x
    for x in pairs(b=3, a=4):
        total += x
    return total, sum(pairs(1, 2, 3))


@program(lambda: (True,), lambda: (False,))
def perhaps_not_defined(is_defined):
    if is_defined:

        def ones():
            yield 1

    total = 0
    for x in ones():
        total += x
    return total


@program(lambda: (2,), lambda: (0,))
def defined_again(n):
    out = []
    for i in range(n):

        def some():
            yield i  # noqa: B023
            yield -1

        for x in some():
            out.append(x)
        out.append(sum(some()))
    if n:

        def some():
            yield "other"

    return out, [x for x in some()]


@program(lambda: ([5, 3, 8],), lambda: ([],), lambda: ([1, 1],))
def calls_itself(xs):
    def insert(node, x):
        if node is None:
            return [x, None, None]
        side = 1 if x < node[0] else 2
        node[side] = insert(node[side], x)
        return node

    def walk(node):
        if node is not None:
            yield from walk(node[1])
            yield node[0]
            yield from walk(node[2])

    def descend(n):
        if n:
            yield n
            for x in descend(n - 1):
                yield x

    root = None
    for x in xs:
        root = insert(root, x)
    out = []
    for x in walk(root):
        out.append(x)
    return out, sum(walk(root)), list(descend(len(xs)))


@program(lambda: (4,), lambda: (0,), lambda: (1.5,))
def call_one_another(n):
    def even(k):
        if k > 0:
            yield k
            yield from odd(k - 1)

    def odd(k):
        if k > 0:
            yield -k
            yield from even(k - 1)

    def numbers(k):
        for i in range(k):
            yield i

    def squares(k):
        for i in numbers(k):
            yield i * i

    def some():
        yield -1
        yield from squares(3)
        yield from (n, "end")

    return list(even(n)), list(some()), sum(squares(n))


@program(lambda: ([1, 2, 3],), lambda: ([],), lambda: ([2.5],))
def within_other_functions(xs):
    def values(k):
        for x in xs:
            yield x * k

    def total(k):
        t = 0
        for v in values(k):
            t += v
        return t

    later = lambda k: sum(values(k))  # noqa: E731
    kept = (max(values(i), default=0) for i in range(3))
    of_lists = [[v for v in values(i)] for i in range(2)]
    return total(2), total(3), list(map(later, xs)), list(kept), of_lists, sorted(values(-1))


@program(lambda: ([1, 2],), lambda: ([],))
def given_to_other_functions(xs):
    def values():
        for x in xs:
            yield x

    def twice(items):
        return [*items, *items]

    numbered = [(i, x) for i, x in enumerate(values())]
    text = ", ".join(str(x) for x in values())
    return twice(values()), numbered, text, dict(enumerate(values())), values


@program(lambda: ([1, 2, 0, 4],), lambda: ([1],), lambda: (["a"],))
def errors_in_nested_ones(xs):
    out = []

    def shares():
        for x in xs:
            yield 12 / x

    try:
        for y in shares():
            out.append(y)
    except ZeroDivisionError as error:
        out.append(str(error))
    for y in shares():
        out.append(y)
    return out


@program(lambda: ([1, 2],), lambda: ([],))
def stopped_in_nested_ones(xs):
    items = iter(xs)

    def three():
        yield next(items)
        yield next(items)
        yield next(items)

    out = []
    for x in three():
        out.append(x)
    return out


@program(lambda: ([2, 3],), lambda: ([],))
def count_what_they_give(xs):
    count = 0

    def counted():
        nonlocal count
        for x in xs:
            count += 1
            yield x

    total = sum(counted())
    for x in counted():
        total += x * count
    return total, count


@program(lambda: ([2, 3],), lambda: ([],))
def unbound_around(xs):
    def late():
        for x in xs:
            yield x + offset

    out = []
    for k in range(2):
        if k:
            offset = 10
        try:
            for x in late():
                out.append(x)
        except NameError as error:
            out.append(str(error))
    return out


@program(lambda: ([2, 3, 4],), lambda: ([],))
def own_function_that_uses_them_up(xs):
    def sum(items):
        return "own", [*items]

    def values():
        for x in xs:
            yield x

    limit = 1
    first = sum(values())
    limit += 1
    return first, sum(values()), max(values(), default=limit)


@program(lambda: (3,), lambda: (0,))
def what_is_sent_counts(n):
    def echo():
        got = yield n
        while got is not None:
            got = yield got

    generator = echo()
    out = [next(generator), generator.send(5), generator.send(6)]
    for x in echo():
        out.append(x)
    return out


@program(lambda: ([[1, 2], [3]],), lambda: ([[], []],), lambda: (["ab", range(3)],))
def delegates_to_many_things(rows):
    def flat():
        for row in rows:
            yield from row

    def made():
        yield from range(3)
        yield from (x + 1 for x in range(2))
        yield from sorted([2, 1])
        yield from map(str, zip("ab", "cd", strict=True))
        yield from [x for x in "xy"]

    def numbered():
        for i in range(3):
            yield i

    out = []
    for x in flat():
        out.append(x)
    for x in made():
        if x == "x":
            break
        out.append(x)
    return out, sum(numbered()), list(made())


class Tree:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def leaves(self, depth):
        def below(side):
            if isinstance(side, Tree):
                for leaf in side.leaves(depth + 1):
                    yield leaf
            else:
                yield side, depth

        for leaf in below(self.left):
            yield leaf
        yield from below(self.right)


@program(lambda: (Tree(1, Tree(2, 3)),), lambda: (Tree("a", 2.5),))
def of_methods(tree):
    def deep():
        for leaf, depth in tree.leaves(0):
            if depth:
                yield leaf

    return list(deep()), [leaf for leaf, _ in tree.leaves(5)]
