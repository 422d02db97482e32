"""Lists that begin empty hold numbers unboxed as well: what they hold later was seen."""

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def stack(n):
    made = []
    made.append(n)
    total = 0
    while len(made) > 0:
        k = made.pop()
        total += k
        if k > 1:
            made.append(k // 2)
            made.append(k - k // 2)
    return total


def comprehension(n):
    made = [i * 0.5 for i in range(n)]
    for k in range(1, n):
        made[k] += made[k - 1]
    return made[n - 1]


def grid(n):
    made = [[0] * n for _ in range(n)]
    for i in range(1, n):
        for j in range(1, n):
            made[i][j] = made[i - 1][j - 1] + i
    return made


def neighbours(n):
    made = [[] for _ in range(n)]
    for i in range(n):
        made[i * i % n].append(i)
        made[i].append(i // 2)
    total = 0
    for i in range(n):
        for k in made[i]:
            total = total * 7 % 1009 + k
    return total


def pairs(n):
    made = []
    made.append((n, 0.5))
    while made:
        k, x = made.pop()
        if k > 0:
            made.append((k - 1, x * 0.5))
    return x


ITEMS = {
    stack: "int",
    comprehension: "float",
    grid: "PrivateList[int]",
    neighbours: "PrivateList[int]",
    pairs: "(int, float)",
}


@pytest.mark.parametrize("function", ITEMS)
def test_lists_that_begin_empty_are_private(function):
    compiled = ljit.jit(function)
    for _ in range(3):
        assert compiled(9) == function(9)
    assert f"PrivateList[{ITEMS[function]}]" in str(compiled.graph_for(9))


def test_another_item_than_those_seen_leaves_for_the_interpreter():
    def last(n, x):
        made = []
        for i in range(n):
            made.append(i)
        made.append(x)
        total = 0
        for v in made:
            total += v
        return total

    compiled = ljit.jit(last)
    for x in (1, 1, 1, 2.5, 1, True, 2.5, 2**70):
        assert compiled(5, x) == last(5, x)
        assert type(compiled(5, x)) is type(last(5, x))


def test_a_row_that_is_in_a_grid_twice_is_one_list():
    def rows(n, k):
        row = [0] * n
        made = [row, row, [1] * n]
        try:
            for i in range(k):
                made[i % 3][i] += i
        except IndexError:
            made[0].append(-1)
        return made

    compiled = ljit.jit(rows)
    for n, k in ((5, 5), (5, 5), (5, 5), (5, 9), (7, 2)):
        made = compiled(n, k)
        assert made == rows(n, k)
        assert made[0] is made[1] is not made[2]


def test_a_part_of_a_list_is_no_item_of_it():
    def differences(n):
        made = []
        for i in range(n):
            made.append(i * i % 7)
        total = 0
        for x in made[1:]:
            total += x - made[0]
        return total

    compiled = ljit.jit(differences)
    for _ in range(5):
        assert compiled(9) == differences(9)
    assert [made.bailouts for made in compiled.specializations] == [0]


def test_a_list_that_is_made_of_nothing_stands_beside_others():
    def parts(n):
        made = [0]
        others = list() if n > 2 else [1.5]  # noqa: C408  # not the same op
        for i in range(n):
            made.append(i)
            others.append(i)
        return sum(made), others, list()  # noqa: C408

    compiled = ljit.jit(parts)
    for n in (3, 3, 3, 1, 1, 4):
        assert compiled(n) == parts(n)
    assert all(made.state == "native" for made in compiled.specializations)


def test_a_list_in_itself_is_no_private_one():
    def knot(n):
        inner = [[n]]
        made = [inner]
        for _ in range(n):
            inner.append(inner)
        return len(made[0]), made[0][0][0]

    compiled = ljit.jit(knot)
    for _ in range(4):
        assert compiled(5) == knot(5)


def summed(n):
    made = []
    for i in range(n):
        made.append(i * 3)
    return sum(made)


def sliced(n):
    made = [i * i % 7 for i in range(n)]
    total = 0
    for i in range(n - 2):
        total += max(made[i : i + 3])
    return total


@pytest.mark.parametrize("function", [summed, sliced])
def test_what_is_computed_of_items_or_parts_tells_what_a_list_holds(function):
    compiled = ljit.jit(function)
    for _ in range(3):
        assert compiled(9) == function(9)
    assert "PrivateList" in str(compiled.graph_for(9))
    assert [made.bailouts for made in compiled.specializations] == [0]


def numbered(n):
    made = [i * 0.5 for i in range(n)]
    total = 0.0
    for i, x in enumerate(made):
        total += i * x
    return total


def side_by_side(n):
    first = [(i, i * 0.5) for i in range(n)]
    second = [i * 3 for i in range(n)]
    total = 0.0
    for (i, x), y in zip(first, second):
        total += i * x - y
    for k, ((i, x), y) in enumerate(zip(first, second)):
        total += i * x - k * y
    return total


def from_the_end(n):
    made = [[i, i * i] for i in range(n)]
    total = 0
    for row in reversed(made):
        total = total * 3 % 1009 + row[1]
    return total


def assert_private(function):
    """All lists of the function are private, and it gives what CPython gives."""
    compiled = ljit.jit(function)
    for _ in range(3):
        assert compiled(9) == function(9)
    text = str(compiled.graph_for(9))
    assert "PrivateList" in text
    assert ": List[" not in text
    assert [made.bailouts for made in compiled.specializations] == [0]


@pytest.mark.parametrize("function", [numbered, side_by_side, from_the_end])
def test_lists_that_are_gone_through_with_numbers_or_others_are_private(function):
    assert_private(function)


def behind_one_another(n):
    made = []
    more = [n, 1]
    for i in range(n):
        made += more
        made.extend([i, i])
    total = 0
    for x in made + more:
        total = total * 3 % 1009 + x
    return total


def moved(n):
    made = [i * i % 7 for i in range(n)]
    made.insert(1, n)
    made.reverse()
    copy = made.copy()
    total = made.pop(0)
    for x in copy:
        total = total * 3 % 1009 + x
    copy.clear()
    return total


def in_order(n):
    made = [(i * 7 % 5) * 0.5 for i in range(n)]
    falling = sorted(made, reverse=True)
    made.sort()
    total = 0.0
    for x, y in zip(made, falling):
        total += total * 0.5 + x - y
    return total


@pytest.mark.parametrize("function", [behind_one_another, moved, in_order])
def test_lists_whose_items_are_moved_are_private(function):
    assert_private(function)


def depth_first(starts, targets):
    seen = [0] * (len(starts) - 1)
    stack = [0]
    last = -1
    while len(stack) > 0:
        v = stack.pop()
        if seen[v]:
            continue
        seen[v] = 1
        last = v
        for p in range(starts[v], starts[v + 1]):
            if not seen[targets[p]]:
                stack.append(targets[p])
    return last


def merged_sets(starts, targets):
    parent = list(range(len(starts) - 1))
    for i in range(len(targets)):
        a = i % 20
        while parent[a] != a:
            a = parent[a]
        b = targets[i]
        while parent[b] != b:
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    return parent[7]


def running(starts, targets):
    sums = [0]
    halves = [0] * len(targets)
    for i in range(len(targets)):
        sums.append(sums[-1] + targets[i])
        halves[i] += i * 0.5
    return sums[-1], halves[3] + halves[0]


MIXED = {
    depth_first: "Union[int, np.int64]",
    merged_sets: "Union[int, np.int64]",
    running: "Union[float, int]",
}


@pytest.mark.parametrize("function", MIXED)
def test_lists_of_numbers_of_several_classes_are_private(function):
    starts, targets = np.arange(0, 85, 4), (np.arange(80) * 7 + 3) % 20
    compiled = ljit.jit(function)
    for _ in range(4):
        assert compare(function(starts, targets), compiled(starts, targets)) is None
    text = str(compiled.graph_for(starts, targets))
    assert f"PrivateList[{MIXED[function]}]" in text
    assert ": List[" not in text
    assert [made.bailouts for made in compiled.specializations] == [0]


def test_items_of_several_classes_keep_them_wherever_native_code_is_left():
    def kept(n, x, k):
        made = [0]
        pairs = [(0, 0)]
        flags = [n > 2] * 2
        for i in range(n):
            made.append(x if i % 2 else i)
            made.insert(0, 0.5 if i % 3 else x)
            pairs.append((i, x) if i % 2 else (x, i))
            flags[i % 2] = x > i
            if i == k:
                made.append("text")
        total = 0
        for v in made * 2:
            if type(v) is not str:
                total += v
        for v, w in pairs:
            total = total * 2 - v + w
        return total, made, pairs, flags, made[::-2]

    compiled = ljit.jit(kept)
    for n, k in ((9, -1), (9, -1), (9, -1), (7, 3), (0, 0), (9, 8)):
        for x in (np.int64(3), np.int64(-5)):
            assert compare(kept(n, x, k), compiled(n, x, k)) is None
    for _ in fail_each_guard(compiled):
        assert compare(kept(8, np.int64(3), 5), compiled(8, np.int64(3), 5)) is None


def test_a_list_that_is_repeated_is_a_new_one():
    def repeated(n, k):
        made = [n, 2, 3]
        more = made * k
        if len(more) > 4:
            more[4] = 7
        total = 0
        for x in more:
            total = total * 3 % 1009 + x
        return total, made[1]

    compiled = ljit.jit(repeated)
    for k in (3, 3, 3, 0, -2, 1, True):
        assert compiled(5, k) == repeated(5, k)
    assert "prim::private_product" in str(compiled.graph_for(5, 3))
    with pytest.raises(MemoryError):
        compiled(5, 2**60)


def test_items_of_numpy_have_their_class_where_native_code_is_left():
    def elements(x, k):
        made = []
        for i in range(len(x)):
            made.append(x[i])
            made[i] += made[0]
        made[k] += made[0]
        return made

    compiled = ljit.jit(elements)
    for dtype in (np.int64, np.uint64, np.int32, np.float32):
        x = np.arange(5, dtype=dtype)
        for _ in range(4):
            assert compare(elements(x, 1), compiled(x, 1)) is None
        for _ in fail_each_guard(compiled):
            made = compiled(x, 1)
            assert [type(item) for item in made] == [dtype] * 5
            assert made == elements(x, 1)


def deleted(n):
    made = [i * i % 7 for i in range(n)]
    total = 0
    while len(made) > 3:
        total = total * 3 % 1009 + made[1]
        del made[len(made) // 2]
        del made[1:2]
        del made[5:2]
    del made[-1]
    return total + made[-1]


def counted(n):
    made = [i * i % 7 for i in range(n * 9)]
    total = 0
    for k in range(7):
        total = total * 3 % 1009 + made.count(k)
        if k in made:
            total += made.index(k)
    return total


def compared(n):
    made = [0] * n
    other = [0] * n
    total = 0
    for i in range(n):
        made[i] = i % 3
        total = total * 2 + (made == other)
        other[i] = made[i]
        total = total * 2 + (made != other)
        if i % 4 == 0:
            other.append(i)
    return total


@pytest.mark.parametrize("function", [deleted, counted, compared])
def test_lists_that_are_searched_compared_and_deleted_from_are_private(function):
    assert_private(function)


def test_what_is_not_there_is_said_as_in_cpython():
    def missing(n, k):
        made = [i * 2 for i in range(n)]
        place = made.index(k)
        del made[place + 3]
        return made

    compiled = ljit.jit(missing)
    for n, k in ((9, 4), (9, 4), (9, 4), (9, 5), (9, 16), (2, 0), (40, 72), (70, 64)):
        outcomes = []
        for f in (missing, compiled):
            try:
                outcomes.append(f(n, k))
            except (ValueError, IndexError) as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]


def median(x, y):
    found = []
    for i in range(1, len(x) - 1):
        window = []
        for k in range(i - 1, i + 2):
            window.append(x[k])
        window.sort()
        found.append(window[1])
    return found[0], found[-1]


def searched(x, y):
    made = []
    for i in range(len(x)):
        made.append(y[i])
    place = made.index(y[2])
    count = made.count(y[1])
    falling = sorted(made, reverse=True)
    total = 0
    for v in made:
        total += 3 in falling
        total += v in falling
    return place, count, total, falling == made, falling[0]


@pytest.mark.parametrize("function", [median, searched])
def test_numbers_of_numpy_are_sorted_and_searched_unboxed(function):
    x, y = np.sin(np.arange(9.0)), np.arange(9) * 7 % 5
    compiled = ljit.jit(function)
    for _ in range(3):
        assert compare(function(x, y), compiled(x, y)) is None
    text = str(compiled.graph_for(x, y))
    assert "PrivateList[np." in text
    assert ": List[" not in text
    assert [made.bailouts for made in compiled.specializations] == [0]
    x[4] = np.nan
    assert compare(function(x, y), compiled(x, y)) is None


def test_items_of_other_classes_that_come_later_are_unboxed_as_well():
    def highest(x):
        best = [0]
        for value in x:
            if best[-1] + value > 0:
                best.append(best[-1] + value)
            else:
                best.append(0)
        found = 0
        for b in best:
            if b > found:
                found = b
        return found

    compiled = ljit.jit(highest)
    falling, mixed = np.full(40, -0.5), np.sin(np.arange(40.0))
    for x in (falling,) * 5 + (mixed,) * 40:
        assert compare(highest(x), compiled(x)) is None
    assert ": List[" not in str(compiled.graph_for(mixed))


def test_characters_are_strs_in_lists_that_are_not_unboxed():
    def first_is_small(text):
        for c in text:
            if not (c.isdigit() or c in ["-", ".", ",", " "]):
                return False
        try:
            first = float(text.split(", ")[0])
        except ValueError:
            return False
        return first < 3

    compiled = ljit.jit(first_is_small)
    for text in ("hello", "12 + 3", "hello", "1.5, x", "1.5, 2"):
        assert compiled(text) == first_is_small(text)
    assert " : List[str] = prim::ListConstruct" in str(compiled.graph_for("1.5, 2"))
