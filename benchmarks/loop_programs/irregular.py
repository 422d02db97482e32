"""Loops whose way depends on the data: searching, sorting, counting, recursion, integer arithmetic."""

from __future__ import annotations

import numpy as np

from loop_programs.program import CLibrary, Program


def sparse_matvec(starts, columns, values, x):
    n = len(starts) - 1
    y = np.zeros(n)
    for i in range(n):
        s = 0.0
        for k in range(starts[i], starts[i + 1]):
            s += values[k] * x[columns[k]]
        y[i] = s
    return y


def sparse_matvec_c(lib: CLibrary, starts, columns, values, x):
    y = np.zeros(len(starts) - 1)
    lib.call("sparse_matvec", starts, columns, values, x, y, len(y))
    return y


def histogram(xs, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for x in xs:
        counts[int(x * bins)] += 1
    return counts


def histogram_c(lib: CLibrary, xs, bins):
    counts = np.zeros(bins, dtype=np.int64)
    lib.call("histogram", xs, counts, len(xs), bins)
    return counts


def binary_search(a, keys):
    found = np.empty(len(keys), dtype=np.int64)
    for q in range(len(keys)):
        key = keys[q]
        low = 0
        high = len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < key:
                low = middle + 1
            else:
                high = middle
        found[q] = low
    return found


def binary_search_c(lib: CLibrary, a, keys):
    found = np.empty(len(keys), dtype=np.int64)
    lib.call("binary_search", a, keys, found, len(a), len(keys))
    return found


def quicksort(a):
    """Sort with a stack of our own."""
    stack = np.empty(128, dtype=np.int64)
    stack[0] = 0
    stack[1] = len(a) - 1
    top = 2
    while top > 0:
        top -= 2
        low = stack[top]
        high = stack[top + 1]
        while low < high:
            pivot = a[(low + high) // 2]
            i = low
            j = high
            while i <= j:
                while a[i] < pivot:
                    i += 1
                while a[j] > pivot:
                    j -= 1
                if i <= j:
                    a[i], a[j] = a[j], a[i]
                    i += 1
                    j -= 1
            if j - low < high - i:
                stack[top] = i
                stack[top + 1] = high
                high = j
            else:
                stack[top] = low
                stack[top + 1] = j
                low = i
            top += 2
    return a


def quicksort_c(lib: CLibrary, a):
    lib.call("quicksort", a, len(a))
    return a


def quicksort_recursive(a, low, high):
    i = low
    j = high
    pivot = a[(low + high) // 2]
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    if low < j:
        quicksort_recursive(a, low, j)
    if i < high:
        quicksort_recursive(a, i, high)


def quicksort_recursive_c(lib: CLibrary, a, low, high):
    lib.call("quicksort_recursive", a, low, high)


def sieve(n):
    is_prime = np.ones(n + 1, dtype=np.bool_)
    count = 0
    for i in range(2, n + 1):
        if is_prime[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
    return count


def sieve_c(lib: CLibrary, n):
    return lib.integer("sieve", np.ones(n + 1, dtype=np.bool_), n)


def edit_distance(a, b):
    n = len(a)
    m = len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


def edit_distance_c(lib: CLibrary, a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    return np.int64(lib.integer("edit_distance", a, b, d, len(a), len(b)))


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(len(weights)):
        weight = weights[i]
        value = values[i]
        for c in range(capacity, weight - 1, -1):
            candidate = best[c - weight] + value
            if candidate > best[c]:
                best[c] = candidate
    return best


def knapsack_c(lib: CLibrary, weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    lib.call("knapsack", weights, values, best, len(weights), capacity)
    return best


def game_of_life(grid, steps):
    n, m = grid.shape
    other = np.zeros_like(grid)
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                alive = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            alive += grid[(i + di) % n, (j + dj) % m]
                if alive == 3 or (alive == 2 and grid[i, j] == 1):
                    other[i, j] = 1
                else:
                    other[i, j] = 0
        grid, other = other, grid
    return grid


def game_of_life_c(lib: CLibrary, grid, steps):
    other = np.zeros_like(grid)
    lib.call("game_of_life", grid, other, *grid.shape, steps)
    return other if steps % 2 else grid


def n_queens(full, columns, left, right):
    """Count the ways to fill the rows that remain; the masks say which columns are attacked."""
    if columns == full:
        return 1
    count = 0
    free = full & ~(columns | left | right)
    while free != 0:
        bit = free & -free
        free ^= bit
        count += n_queens(full, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def n_queens_c(lib: CLibrary, full, columns, left, right):
    return lib.integer("n_queens", full, columns, left, right)


def collatz(n):
    longest = 0
    best = 0
    for start in range(1, n):
        x = start
        steps = 0
        while x != 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        if steps > longest:
            longest = steps
            best = start
    return best


def collatz_c(lib: CLibrary, n):
    return lib.integer("collatz", n)


def lcg_pi(n):
    """Estimate pi with a linear congruential generator."""
    state = 12345
    inside = 0
    for _ in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        x = state / 2147483648
        state = (1103515245 * state + 12345) % 2147483648
        y = state / 2147483648
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / n


def lcg_pi_c(lib: CLibrary, n):
    return lib.real("lcg_pi", n)


def mandelbrot(xs, ys, limit):
    out = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for j in range(len(ys)):
        for i in range(len(xs)):
            a = 0.0
            b = 0.0
            n = 0
            while n < limit and a * a + b * b <= 4.0:
                a, b = a * a - b * b + xs[i], 2.0 * a * b + ys[j]
                n += 1
            out[j, i] = n
    return out


def mandelbrot_c(lib: CLibrary, xs, ys, limit):
    out = np.zeros((len(ys), len(xs)), dtype=np.int64)
    lib.call("mandelbrot", xs, ys, out, len(xs), len(ys), limit)
    return out


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


def _csr(n: int, degree: int):
    counts = _rng().integers(0, 2 * degree, n)
    starts = np.concatenate(([0], np.cumsum(counts)))
    columns = _rng().integers(0, n, starts[-1])
    return starts, columns, _rng().random(starts[-1]), _rng().random(n)


def _search(n: int, keys: int):
    return np.sort(_rng().random(n)), _rng().random(keys)


def _shuffled(n: int) -> np.ndarray:
    return _rng().random(n)


def _letters(n: int, m: int):
    return _rng().integers(0, 4, n, dtype=np.uint8), _rng().integers(0, 4, m, dtype=np.uint8)


def _items(n: int, capacity: int):
    return _rng().integers(1, capacity // 4, n), _rng().integers(1, 1000, n), capacity


def _life(n: int, m: int, steps: int):
    return (_rng().random((n, m)) < 0.4).astype(np.int64), steps


def _plane(n: int, limit: int):
    return np.linspace(-2.0, 0.5, n), np.linspace(-1.2, 1.2, n), limit


PROGRAMS = (
    Program(sparse_matvec, lambda: _csr(50_000, 8), lambda: _csr(8, 3), sparse_matvec_c),
    Program(histogram, lambda: (_rng().random(500_000), 64), lambda: (_rng().random(12), 4), histogram_c),
    Program(binary_search, lambda: _search(10_000, 20_000), lambda: _search(16, 8), binary_search_c),
    Program(quicksort, lambda: (_shuffled(30_000),), lambda: (_shuffled(20),), quicksort_c),
    Program(quicksort_recursive, lambda: (_shuffled(30_000), 0, 29_999),
            lambda: (_shuffled(20), 0, 19), quicksort_recursive_c),
    Program(sieve, lambda: (1_000_000,), lambda: (50,), sieve_c),
    Program(edit_distance, lambda: _letters(800, 800), lambda: _letters(9, 8), edit_distance_c),
    Program(knapsack, lambda: _items(100, 10_000), lambda: _items(8, 40), knapsack_c),
    Program(game_of_life, lambda: _life(100, 100, 10), lambda: _life(6, 6, 3), game_of_life_c),
    Program(n_queens, lambda: (2047, 0, 0, 0), lambda: (15, 0, 0, 0), n_queens_c),
    Program(collatz, lambda: (20_000,), lambda: (12,), collatz_c),
    Program(lcg_pi, lambda: (500_000,), lambda: (30,), lcg_pi_c),
    Program(mandelbrot, lambda: _plane(150, 100), lambda: _plane(7, 20), mandelbrot_c),
)  # fmt: skip
