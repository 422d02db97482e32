"""Ints in [0, 2**64): random numbers, hashes, rotations, sets of bits; and what leaves that range in all ways."""

from tests.programs.harness import program

MASK = 0xFFFFFFFFFFFFFFFF
TOP, BIG = 2**63, 2**64 - 1
SEEDS = [lambda s=s: (s, 40) for s in (0, 1, TOP - 1, TOP, BIG, 88172645463325252)]
OUTSIDE = [lambda s=s: (s, 5) for s in (-1, 2**64, -TOP, 2**200, -(2**70), True)]


@program(*SEEDS, *OUTSIDE)
def xorshift(x, n):
    for _ in range(n):
        x ^= (x << 13) & MASK
        x ^= x >> 7
        x ^= (x << 17) & MASK
    return x


@program(*SEEDS, *OUTSIDE)
def splitmix(x, n):
    total = 0
    for _ in range(n):
        x = (x + 0x9E3779B97F4A7C15) & MASK
        z = x
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        total ^= z ^ (z >> 31)
    return total


@program(*SEEDS, *OUTSIDE)
def floats_of_a_congruential_generator(x, n):
    total = 0.0
    for _ in range(n):
        x = (6364136223846793005 * x + 1442695040888963407) % (1 << 64)
        total += (x >> 11) * (1.0 / (1 << 53)) - x / 2**64
        if x / 3.0 < 2.5 * x:
            total -= float(x) * 1e-19
    return total, x


def rotated(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


@program(
    lambda: ([1, 2, 3, 4], 30),
    lambda: ([TOP, BIG, 5, 0], 30),
    lambda: ([0, -1, 7, 2**65], 4),
    lambda: ([1.5, 2, 3, 4], 4),
)
def xoshiro(s, n):
    total = 0
    for _ in range(n):
        result = (rotated((s[1] * 5) & MASK, 7) * 9) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotated(s[3], 45)
        total = (total + result) & MASK
    return total


@program(lambda: (b"",), lambda: (b"a",), lambda: (bytes(range(200)),))
def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h ^= b
        h = (h * 0x100000001B3) & MASK
    return h


@program(
    lambda: ([1, TOP, BIG, 0, 5],), lambda: ([5, -1, BIG],), lambda: ([3, 4],), lambda: ([2**64],)
)
def finalised(hashes):
    out = []
    for h in hashes:
        h ^= h >> 33
        h = h * 0xFF51AFD7ED558CCD & MASK
        h ^= h >> 33
        out.append(h * 0xC4CEB9FE1A85EC53 & MASK)
    return out, tuple(out[:2])


@program(*SEEDS, *OUTSIDE)
def sets_of_bits(x, n):
    count = places = 0
    for i in range(n):
        y = (x * (i + 1)) & MASK
        while y:
            lowest = y & -y
            places ^= lowest
            y &= y - 1
            count += 1
    return count, places, ~places & MASK


@program(lambda: (10,), lambda: (63,), lambda: (64,), lambda: (200,))
def single_bits(n):
    board = 0
    for square in range(n):
        bit = 1 << (square % 64)
        board ^= bit
        board = (board << 1) & MASK | (bit >> 1)
    return board


@program(lambda: (1, 2, 12), lambda: (BIG, BIG, 12), lambda: (TOP, TOP + 1, 12), lambda: (-5, 3, 4))
def products_of_halves(a, b, n):
    for _ in range(n):
        al, ah = a & 0xFFFFFFFF, a >> 32
        bl, bh = b & 0xFFFFFFFF, b >> 32
        ll, lh, hl, hh = al * bl, al * bh, ah * bl, ah * bh
        mid = (ll >> 32) + (lh & 0xFFFFFFFF) + (hl & 0xFFFFFFFF)
        high = hh + (lh >> 32) + (hl >> 32) + (mid >> 32)
        a, b = (a * b + 1) & MASK, high ^ b
    return a, b


PAIRS = [
    lambda x=x, y=y: (x, y)
    for x in (TOP, BIG, 5)
    for y in (0, 1, 3, TOP - 1, TOP, BIG, -1, -TOP, 2**64, 64)
]


@program(*PAIRS)
def sums_at_the_edge(x, y):
    return x + y, x - y, y - x, x * y, x + -3, x - -3, -x, ~x, +x, abs(x), 2 * x


@program(*PAIRS)
def quotients(x, y):
    y = y or 7
    return (
        x // y,
        x % y,
        y % x,
        x // 8,
        x % 8,
        x // 10,
        x % 10,
        x % 2**64,
        x // 2**64,
        x % BIG,
        x % -5,
    )


@program(*PAIRS)
def divisions_by_zero(x, y):
    try:
        return x // y + x % y
    except ZeroDivisionError as error:
        return str(error), x


@program(*PAIRS)
def comparisons(x, y):
    return (
        x < y,
        x <= y,
        x == y,
        x != y,
        x > y,
        x >= y,
        x < 1.8e19,
        x == 2.0**63,
        bool(x),
        not x,
        x is x,
    )


@program(*PAIRS)
def bits_of_pairs(x, y):
    return (
        x & y,
        x | y,
        x ^ y,
        x & -8,
        x | -8,
        x ^ -1,
        x & 7,
        x & 2**63,
        y & BIG,
        x & 2**65 - 1,
        x | 2**70,
    )


@program(
    lambda: (BIG, 1), lambda: (BIG, 0), lambda: (BIG, 64), lambda: (TOP, 63), lambda: (BIG, -1)
)
def shifts(x, n):
    low = x >> 63, x >> 64, x << 1, (x << 63) & BIG, (x << 64) & BIG, x >> 0, x << 0
    return low, x >> n, x << n, (x << n) & BIG, 1 << n


@program(lambda: (BIG, [1, 2, 3]), lambda: (TOP, [1, 2, 3]), lambda: (2, [1, 2, 3]))
def as_other_things(x, items):
    found = {x: 1, 5: 2}
    text = f"{x} {x:x} {str(x)} {x!r}", "%d" % x, hash(x), isinstance(x, int), type(x), int(x)
    items.append(x)
    try:
        item = items[x]
    except IndexError as error:
        item = str(error)
    return (
        text,
        found[x],
        x in items,
        item,
        max(x, 3),
        min(x, 3),
        sum(items),
        sorted(items),
        x**2,
        pow(x, 3, 7),
    )


@program(lambda: (TOP, True), lambda: (BIG, False), lambda: (3, True), lambda: (3, False))
def either(x, flag):
    y = x if flag else 5
    z = -1
    if flag:
        z = x
    total = 0
    for i in range(5):
        total = y if i == 3 else i
        z ^= i
    return y, z, total, (y & MASK) + (z & 7)


@program(lambda: (TOP, 10), lambda: (1, 10), lambda: (BIG, 0))
def left_with_a_value(x, n):
    for i in range(n):
        x = (x * 31 + i) & MASK
        if x & 0xFF == 0x55:
            break
    else:
        x = -1
    while x > 1000:
        x //= 3
        if x % 5 == 4:
            return x
    return x, n


@program(lambda: (BIG, 30), lambda: (1, 100), lambda: (TOP, 3))
def growing_beyond(x, n):
    total = 0
    for i in range(n):
        total += x
        total -= i
    down = x
    for i in range(n):
        down -= 3
    return total, down


@program(lambda: (1, 90), lambda: (2**40, 30), lambda: (TOP, 2))
def doubled(x, n):
    for _ in range(n):
        x *= 2
    return x


class State:
    def __init__(self, seed):
        self.seed = seed


def advanced(x):
    return (x * 6364136223846793005 + 1) & MASK


@program(lambda: (1, 20), lambda: (BIG, 20), lambda: (-1, 3))
def in_attributes(seed, n):
    state = State(seed)
    pair = seed, 1
    for _ in range(n):
        state.seed = advanced(state.seed)
        pair = pair[1], advanced(pair[0] ^ state.seed)
    return state.seed, pair


@program(lambda: (1, 20), lambda: (BIG, 20), lambda: (-1, 3))
def in_cells(seed, n):
    x = seed

    def step():
        nonlocal x
        x = (x * 6364136223846793005 + 1) & MASK
        return x >> 33

    return [step() for _ in range(n)], x


@program(*SEEDS, *OUTSIDE, lambda: (2.5, 3), lambda: (False, 3))
def counted_bits(x, n):
    lengths = [0] * 65
    for k in range(n):
        lengths[(x >> k).bit_length()] += (x >> k).bit_count()
        lengths[(k - 3).bit_length()] -= (k - 3).bit_count()
    return lengths, x.bit_length(), (x == 1).bit_count()
