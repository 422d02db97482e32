"""Loops over lists, tuples, dicts, strs and temporary arrays, against CPython.

Times are CPU times. Exits with status 1 if a result is not CPython's, or a program is clearly slower than CPython.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from functools import partial

import numpy as np
import table_programs
from pairing import measure, settle

import ljit

TARGET = 0.9  # not below 1, but for what measuring is worth


def small_list(n):
    p = [0.0, 1.0, 2.0]
    for _ in range(n):
        p[0] += p[1] * 0.5
        p[1] = p[2] - p[0] * 1e-3
        p[2] += 1e-6
    return p[0] + p[1] + p[2]


def lookup(n):
    dx = [0, 1, 0, -1]
    dy = [1, 0, -1, 0]
    x, y = 0, 0
    d = 0
    for i in range(n):
        d = (d + (i % 3)) % 4
        x += dx[d]
        y += dy[d]
    return x, y


def neighbours_list(g):
    n, m = g.shape
    t = 0
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for dx, dy in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
                t += g[i + dx, j + dy]
    return t


def temp_zeros(n):
    s = 0.0
    for i in range(n):
        tmp = np.zeros(3)
        tmp[0] = i
        tmp[1] += i * 0.5
        tmp[2] = tmp[0] * tmp[1]
        s += tmp[0] + tmp[1] + tmp[2]
    return s


def temp_array_literal(n):
    s = 0.0
    for i in range(n):
        v = np.array([i, 1.0, 2.0])
        s += v[0] * v[1] + v[2]
    return s


def vector_expr(p):
    s = 0.0
    for i in range(p.shape[0]):
        d = p[i] - p[0]
        s += d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    return s


def rows(a):
    s = 0.0
    for row in a:
        for x in row:
            s += x
    return s


def zipped(a, b):
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    return s


def list_sum(xs):
    s = 0.0
    for x in xs:
        s += x
    return s


def grid_life(g):
    n, m = len(g), len(g[0])
    new = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            c = 0
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    if a or b:
                        c += g[(i + a) % n][(j + b) % m]
            new[i][j] = 1 if c == 3 or (c == 2 and g[i][j]) else 0
    return new


def comprehension(n, m):
    s = 0
    for i in range(n):
        xs = [k * k + i for k in range(m)]
        s += xs[m - 1] + len(xs)
    return s


def sieve_list(n):
    f = [True] * (n + 1)
    c = 0
    for i in range(2, n + 1):
        if f[i]:
            c += 1
            for j in range(i * i, n + 1, i):
                f[j] = False
    return c


def insertion(xs):
    xs = xs[:]
    for i in range(1, len(xs)):
        v = xs[i]
        j = i - 1
        while j >= 0 and xs[j] > v:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = v
    return xs[0]


def member(xs, n):
    c = 0
    for i in range(n):
        if i in xs:
            c += 1
    return c


def words_counted(ws):
    d = {}
    t = 0.0
    for i in range(len(ws)):
        w = ws[i]
        if w in d:
            d[w] += 1
        else:
            d[w] = 1
        t += i * 0.5
    return len(d), t


def memo(n):
    cache = {}
    best = 0
    for i in range(1, n):
        x = i
        c = 0
        while x != 1 and x >= i:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            c += 1
        if x < i:
            c += cache[x]
        cache[i] = c
        if c > best:
            best = c
    return best


def memo_tuple(n):
    cache = {}
    s = 0
    for i in range(n):
        key = (i % 50, i % 7)
        if key in cache:
            s += cache[key]
        else:
            cache[key] = i
    return s


def str_ord(s):
    h = 0
    for i in range(len(s)):
        h = (h * 31 + ord(s[i])) % 1000000007
    return h


def str_build(n):
    out = ""
    for i in range(n):
        out += chr(97 + i % 26)
    return len(out)


def str_join(n):
    parts = []
    for i in range(n):
        parts.append(str(i))
    return len(",".join(parts))


def set_loop(xs):
    seen = set()
    c = 0
    for x in xs:
        if x in seen:
            c += 1
        seen.add(x)
    return c


def queue_bfs(n):
    dist = [-1] * n
    dist[0] = 0
    q = [0]
    h = 0
    while h < len(q):
        u = q[h]
        h += 1
        for v in (u * 2 + 1, u * 3 + 1, u - 1):
            if 0 <= v < n and dist[v] < 0:
                dist[v] = dist[u] + 1
                q.append(v)
    return dist[n - 1], len(q)


def np_index_list(xs, idx):
    s = 0.0
    for k in range(len(idx)):
        s += xs[idx[k]]
    return s


def dict_numeric(n):
    d = {}
    for i in range(n):
        d[i] = i * 0.5
    s = 0.0
    for i in range(n):
        s += d[i]
    return s


def slices(xs, n):
    s = 0.0
    for i in range(n):
        part = xs[i % 50 : i % 50 + 10]
        s += part[3] + len(part)
    return s


def sorting(n):
    t = 0
    for i in range(n):
        xs = [(j * 7919 + i) % 101 for j in range(20)]
        xs.sort()
        t += xs[3]
    return t


def heap(n):
    h = []
    for i in range(n):
        heapq.heappush(h, (i * 7919) % 1009)
    t = 0
    while h:
        t = (t * 31 + heapq.heappop(h)) % 1000007
    return t


def dijkstra(adj, n):
    dist = [1e18] * n
    dist[0] = 0.0
    h = [(0.0, 0)]
    while h:
        d, u = heapq.heappop(h)
        if d > dist[u]:
            continue
        for v, w in adj[u]:
            nd = d + w
            if nd < dist[v]:
                dist[v] = nd
                heapq.heappush(h, (nd, v))
    return sum(dist)


def extend_list(n):
    xs = []
    for i in range(n):
        xs.extend([i, i * 2])
    return len(xs)


def split_loop(s):
    t = 0
    for line in s.split("\n"):
        for w in line.split(","):
            t += int(w)
    return t


def lcs(a, b):
    n, m = len(a), len(b)
    t = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                t[i + 1][j + 1] = t[i][j] + 1
            else:
                t[i + 1][j + 1] = max(t[i][j + 1], t[i + 1][j])
    return t[n][m]


def stack_machine(n):
    st = []
    for i in range(n):
        st.append(i)
        if i % 3 == 2:
            a, b = st.pop(), st.pop()
            st.append((a * 31 + b) % 1000003)
    return len(st), st[-1]


def fstring(n):
    t = 0
    for i in range(n):
        t += len(f"{i}:{i * 0.5:.2f}")
    return t


def cases(scale):
    """Each program with its arguments."""
    n = round(20_000 * scale)
    draw = np.random.default_rng(3)
    numbers = draw.random(n).tolist()
    vertices = round(1000 * scale)
    ends = draw.integers(0, vertices, (vertices, 6)).tolist()
    edges = [[(v, numbers[v]) for v in row] for row in ends]
    words = [f"word{k}" for k in draw.integers(0, 200, n)]
    cells = draw.integers(0, 2, (50, 50))
    return (
        (small_list, (n,)),
        (lookup, (n,)),
        (neighbours_list, (draw.integers(0, 9, (90, 90)),)),
        (temp_zeros, (n,)),
        (temp_array_literal, (n // 4,)),
        (vector_expr, (draw.random((n // 4, 3)),)),
        (rows, (draw.random((100, 100)),)),
        (zipped, (draw.random(n), draw.random(n))),
        (list_sum, (numbers,)),
        (np_index_list, (numbers, draw.integers(0, n, n))),
        (grid_life, (cells.tolist(),)),
        (comprehension, (n // 20, 20)),
        (sieve_list, (n,)),
        (insertion, (draw.integers(0, n, 200).tolist(),)),
        (member, (list(range(0, 90, 3)), n // 10)),
        (slices, (numbers, n)),
        (sorting, (n // 20,)),
        (stack_machine, (n,)),
        (queue_bfs, (n,)),
        (heap, (n // 4,)),
        (dijkstra, (edges, vertices)),
        (extend_list, (n,)),
        (lcs, ("abcbdab" * 15, "bdcabac" * 15)),
        (dict_numeric, (n,)),
        (words_counted, (words,)),
        (memo, (n // 2,)),
        (memo_tuple, (n,)),
        (set_loop, (draw.integers(0, n, n).tolist(),)),
        (str_ord, ("abcdefghij" * (n // 10),)),
        (str_build, (n,)),
        (str_join, (n,)),
        (split_loop, ("\n".join(["1,22,333,4"] * (n // 10)),)),
        (fstring, (n // 4,)),
        *table_programs.cases(n, words, draw.integers(0, 2**60, n).tolist()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="pairs of runs")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs")
    parser.add_argument("--only", default="", help="part of a program's name")
    options = parser.parse_args()
    print(f"{'program':20} {'CPython':>11}  {'ljit':>11}  {'ratio':>9}")
    wrong = []
    ratios = []
    for function, arguments in cases(options.scale):
        if options.only not in function.__name__:
            continue
        compiled = ljit.jit(function)
        results = [compiled(*arguments) for _ in range(3)]  # profiled, compiled, native
        settle(compiled, partial(compiled, *arguments))
        if not all(result == function(*arguments) for result in results):
            wrong.append(f"{function.__name__} (wrong result)")
        plain, native = partial(function, *arguments), partial(compiled, *arguments)
        pair = measure(plain, native, options.rounds, calls=(1, 3))
        ratios.append(pair.ratio)
        print(f"{function.__name__:20} {pair}", flush=True)
        if pair.ratio < TARGET:
            wrong.append(f"{function.__name__} ({pair.ratio:.2f}x)")
    print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.1f}x CPython")
    if wrong:
        print(f"below {TARGET:.1f}x: {', '.join(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
