"""Ints of 64 bits without a sign, as hashes, generators of random numbers and number theory have them.

Their products of 128 bits are taken apart at once, they lie in lists, and min and max are taken of them.
"""

from tests.programs.harness import program

MASK = 0xFFFFFFFFFFFFFFFF
GOLDILOCKS = 2**64 - 2**32 + 1


def _fraction_bits(number, root):
    """The first 64 bits behind the point of a prime's square or cube root."""
    low, high = 0, number << 64
    while high - low > 1:
        middle = (low + high) // 2
        if middle**root <= number << 64 * root:
            low = middle
        else:
            high = middle
    return low & MASK


_PRIMES = [n for n in range(2, 410) if all(n % d for d in range(2, n))]
SHA512_ROUNDS = tuple(_fraction_bits(p, 3) for p in _PRIMES)
SHA512_START = tuple(_fraction_bits(p, 2) for p in _PRIMES[:8])


@program(
    lambda: (b"", SHA512_ROUNDS, SHA512_START),
    lambda: (b"abc" * 50, SHA512_ROUNDS, SHA512_START),
    lambda: (b"\xff" * 112, list(SHA512_ROUNDS), list(SHA512_START)),
)
def sha512(message, rounds, start):
    state = list(start)
    padded = message + b"\x80" + bytes((-len(message) - 17) % 128)
    padded += (8 * len(message)).to_bytes(16, "big")
    for at in range(0, len(padded), 128):
        words = []
        for i in range(16):
            word = 0
            for k in range(8):
                word = (word << 8) | padded[at + 8 * i + k]
            words.append(word)
        for i in range(16, 80):
            x, y = words[i - 15], words[i - 2]
            p = ((x >> 1) | (x << 63)) ^ ((x >> 8) | (x << 56)) ^ (x >> 7)
            q = ((y >> 19) | (y << 45)) ^ ((y >> 61) | (y << 3)) ^ (y >> 6)
            words.append((words[i - 16] + (p & MASK) + words[i - 7] + (q & MASK)) & MASK)
        a, b, c, d, e, f, g, h = state
        for i in range(80):
            s = (((e >> 14) | (e << 50)) ^ ((e >> 18) | (e << 46)) ^ ((e >> 41) | (e << 23))) & MASK
            t = (h + s + ((e & f) ^ (~e & MASK & g)) + rounds[i] + words[i]) & MASK
            s = (((a >> 28) | (a << 36)) ^ ((a >> 34) | (a << 30)) ^ ((a >> 39) | (a << 25))) & MASK
            u = (s + ((a & b) ^ (a & c) ^ (b & c))) & MASK
            h, g, f, e, d, c, b, a = g, f, e, (d + t) & MASK, c, b, a, (t + u) & MASK
        state = [(x + y) & MASK for x, y in zip(state, [a, b, c, d, e, f, g, h], strict=True)]
    return state


@program(lambda: (5489, 20), lambda: (2**64 - 1, 400), lambda: (-3, 3))
def mersenne_twister_of_64_bits(seed, count):
    state = [0] * 312
    state[0] = seed & MASK
    for i in range(1, 312):
        last = state[i - 1]
        state[i] = (6364136223846793005 * (last ^ (last >> 62)) + i) & MASK
    drawn = []
    at = 312
    for _ in range(count):
        if at == 312:
            for k in range(312):
                x = (state[k] & 0xFFFFFFFF80000000) | (state[(k + 1) % 312] & 0x7FFFFFFF)
                state[k] = state[(k + 156) % 312] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
            at = 0
        x = state[at]
        at += 1
        x ^= (x >> 29) & 0x5555555555555555
        x ^= (x << 17) & 0x71D67FFFEDA60000
        x ^= (x << 37) & 0xFFF7EEE000000000
        drawn.append(x ^ (x >> 43))
    return drawn


@program(
    lambda: (42, 30, 10), lambda: (2**64 - 1, 30, 2**63), lambda: (2**80, 30, 7), lambda: (-1, 3, 2)
)
def draws_below_a_bound(seed, count, bound):
    """The wyrand generator; draws are the high halves of products, the least and largest are kept."""
    drawn, least, largest = [], MASK, 0
    for _ in range(count):
        seed = (seed + 0xA0761D6478BD642F) & MASK
        product = seed * (seed ^ 0xE7037ED1A0B428DB)
        x = (product >> 64) ^ (product & MASK)
        least, largest = min(least, x), max(largest, x)
        drawn.append(x * bound >> 64)
    return drawn, least, largest


@program(
    lambda: ([2**64 - 1, 5, 2**63, 17] * 4, 3),
    lambda: ([], 2**64 - 1),
    lambda: ([1, 2, 3], 1),
    lambda: ([2**64, -5, 2**200], 9),
    lambda: ([7, 2.5], 9),
)
def folded_multiplication_hash(words, seed):
    for word in words:
        product = (word ^ 0xA0761D6478BD642F) * (seed ^ 0xE7037ED1A0B428DB)
        seed = (product & MASK) ^ (product >> 64)
    return seed


@program(
    lambda: (2**64 - 59,),
    lambda: (18446744073709551557 - 2,),
    lambda: (3215031751,),
    lambda: (2**61 - 1,),
    lambda: (2**89 - 1,),
    lambda: (4,),
)
def is_prime_by_miller_and_rabin(n):
    if n % 2 == 0:
        return n == 2
    odd, twos = n - 1, 0
    while odd & 1 == 0:
        odd >>= 1
        twos += 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if n == base:
            return True
        x, power, exponent = 1, base % n, odd
        while exponent:
            if exponent & 1:
                x = x * power % n
            power = power * power % n
            exponent >>= 1
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def _numbers(count):
    return [(i * 0x9E3779B97F4A7C15 + 1) % GOLDILOCKS for i in range(count)]


@program(
    lambda: (_numbers(16), GOLDILOCKS, 7),
    lambda: (_numbers(64), GOLDILOCKS, 7),
    lambda: (list(range(8)), 998244353, 3),
    lambda: ([GOLDILOCKS + 5, -1, 2**64 - 1, 2**70], GOLDILOCKS, 7),
)
def number_theoretic_transform(values, modulus, generator):
    values = list(values)
    size = len(values)
    j = 0
    for i in range(1, size):
        bit = size >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            values[i], values[j] = values[j], values[i]
    length = 2
    while length <= size:
        step = pow(generator, (modulus - 1) // length, modulus)
        for at in range(0, size, length):
            w = 1
            for k in range(at, at + length // 2):
                u, v = values[k], values[k + length // 2] * w % modulus
                values[k] = (u + v) % modulus
                values[k + length // 2] = (u - v) % modulus
                w = w * step % modulus
        length *= 2
    return values


@program(
    lambda: ([2**63, 5, 2**64 - 1], 2**63 + 1),
    lambda: ([-1, 2**64 - 1], 0),
    lambda: ([2**64, 3.5, True], 2**63),
    lambda: ([], -5),
)
def clamped_to_a_limit(numbers, limit):
    least, largest, clamped = limit, limit, []
    for x in numbers:
        least, largest = min(least, x), max(x, largest)
        clamped.append(min(x & ~1 if isinstance(x, int) else x, limit))
    return least, largest, clamped
