"""Lists that are stored into slices of lists: natively where nobody else sees them."""

from tests.programs.harness import program


@program(lambda: (4,), lambda: (5,), lambda: (1,))
def pancakes(n):
    first, count = list(range(n)), [0] * n
    most, total, r, k = 0, 0, n, 0
    while True:
        while r != 1:
            count[r - 1] = r
            r -= 1
        row, flips = first[:], 0
        while row[0]:
            row[: row[0] + 1] = row[row[0] :: -1]
            flips += 1
        most = max(most, flips)
        total += -flips if k % 2 else flips
        while True:
            if r == n:
                return total, most
            first.insert(r, first.pop(0))
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
        k += 1


@program(lambda: (90,), lambda: (2,), lambda: (24,))
def sieve_by_slices(n):
    is_prime = [True] * (n + 1)
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = [False] * len(range(i * i, n + 1, i))
    total = 0
    for i in range(2, n + 1):
        if is_prime[i]:
            total = total * 3 % 10007 + i
    return total


@program(
    *(
        lambda start=start, stop=stop, more=more: (9, start, stop, more)
        for start in (0, 3, -2, 9, 20, -20)
        for stop in (0, 5, -1, 20)
        for more in (0, 2, 7)
    )
)
def splices(n, start, stop, more):
    values = [i * 3 for i in range(n)]
    others = [-i for i in range(more)]
    values[start:stop] = others
    values[:2] = [100]
    values[len(values) :] = others
    values[-1:] = values[1:3]
    total = 0
    for k, x in enumerate(values):
        total += (k + 1) * x
    return total, values


@program(
    *(
        lambda step=step, count=count: (7, step, count)
        for step in (2, -2, 3, -1, 1, 0, 2**62, -(2**63))
        for count in (0, 1, 3, 4, 7)
    )
)
def every_few(n, step, count):
    values = [0.5 * i for i in range(n)]
    values[::step] = [-1.0 - k for k in range(count)]
    values[5:1:-2] = [8.0, 9.0]
    total = 0.0
    for x in values:
        total = total * 0.5 + x
    return total, values


@program(lambda: (6, 2), lambda: (6, 0), lambda: (1, 9))
def stored_into_itself(n, k):
    values = list(range(n))
    other = values if k % 2 == 0 else [k]
    values[1:2] = other
    values[k:] = values
    total = 0
    for x in values:
        total = total * 3 + x
    return total, len(values), other is values


@program(lambda: (5, 0.5), lambda: (5, 2), lambda: (5, None))
def items_of_other_classes(n, x):
    values = [1] * n
    values[1:3] = [x, x, 4]
    values[:0] = (7, 8)
    values[-1:] = range(2)
    return values, values[1:2]


@program(lambda: ([1, 2, 3], [4]), lambda: (["a", 2.5], ["b", "c"]), lambda: ([], []))
def slices_of_arguments(values, others):
    kept = values
    values[1:] = others
    others[::-1] = values[: len(others)]
    values[:1] = values
    return kept is values, values, others
