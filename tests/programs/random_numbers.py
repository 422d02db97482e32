"""Random numbers: streams of NumPy and Python, drawn from in loops, branches, helpers and after exceptions."""

import random

import numpy as np

from tests.programs.harness import program


def new(seed=1):
    return np.random.default_rng(seed)


def old(seed=1):
    return np.random.RandomState(seed)


@program(lambda: (100,), lambda: (0,))
def monte_carlo_pi(n):
    random.seed(n)
    inside = 0
    for _ in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return inside, random.random()


@program(lambda: (new(), 60), lambda: (old(), 60), lambda: (random.Random(1), 60))
def monte_carlo_with_a_stream(rng, n):
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        inside += x * x + y * y <= 1.0
    return inside


@program(lambda: (new(), 40, 0.3))
def random_walk(rng, n, p):
    path = np.zeros(n)
    position = 0.0
    for i in range(n):
        if rng.random() < p:
            position += rng.normal(0.0, 2.0)
        elif rng.random() < 0.5:
            position -= rng.exponential(1.5)
        else:
            position *= rng.uniform(0.5, 1)
        path[i] = position
    return path, position


@program(lambda: (new(), 30, 6), lambda: (new(), 30, 0), lambda: (new(), 5, 2**70))
def counts_of_dice(rng, n, sides):
    counts = [0, 0, 0, 0, 0, 0]
    for _ in range(n):
        counts[rng.integers(sides)] += 1
    return counts


@program(lambda: (5,), lambda: (3,))
def dice_of_python(n):
    random.seed(n)
    counts = [0] * 7
    for _ in range(n * 5):
        counts[random.randint(1, 6)] += 1
        counts[random.randrange(n)] += random.getrandbits(3)
    return counts, random.getstate()


@program(lambda: (new(), [1.5, 2, 3], 7), lambda: (new(), [], 3))
def index_error_after_draws(rng, xs, n):
    total = 0.0
    for _ in range(n):
        total += rng.random() + xs[rng.integers(0, 4)]
    return total


@program(lambda: (new(), 12, 3), lambda: (new(), 12, 0))
def overflow_after_draws(rng, n, k):
    x = 1
    total = 0.0
    for i in range(n):
        total += rng.standard_normal()
        x = x * (2**9 + k) + rng.integers(3, dtype=int)
        total += rng.random()
    return x, total


@program(lambda: (9,))
def legacy_functions(n):
    np.random.seed(n)
    out = []
    for i in range(n):
        out.append(np.random.rand())
        out.append(np.random.randn())
        out.append(np.random.random())
        out.append(np.random.uniform(-1, i))
        out.append(np.random.normal(i, 0.5))
        out.append(np.random.randint(0, i + 1))
        out.append(np.random.exponential(2.0))
        if i == 5:
            np.random.seed(3)
            out.append(np.random.rand(2))
    return out, np.random.random_sample(3)


@program(lambda: (new(), 1.0, 5), lambda: (new(), -1.0, 5), lambda: (new(), float("nan"), 2))
def refused_scale(rng, scale, n):
    total = rng.random()
    for i in range(n):
        total += rng.normal(0.0, scale + 2 - i) + rng.gamma(scale)
    return total


@program(lambda: (new(), 4))
def arrays_and_scalars(rng, n):
    out = []
    for i in range(n):
        out.append(rng.random(3))
        out.append(rng.random())
        out.append(rng.random(dtype=np.float32))
        out.append(rng.choice([1, 2, 3]))
        out.append(rng.permutation(4))
        out.append(rng.integers(5, size=2))
        x = np.arange(5)
        rng.shuffle(x)
        out.append(x)
    return out


def pick(rng, low, high):
    return low + (high - low) * rng.random()


@program(lambda: (new(), 10), lambda: (old(), 10))
def drawn_in_a_helper(rng, n):
    best = None
    for i in range(n):
        x = pick(rng, i, 2 * i + 1)
        if best is None or x > best:
            best = x
    return best


class Model:
    """An object that holds a stream."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __eq__(self, other):
        return isinstance(other, Model) and state_of(self.rng) == state_of(other.rng)

    __hash__ = None


def state_of(rng):
    return rng.bit_generator.state


@program(lambda: (Model(3), 6))
def stream_in_an_attribute(model, n):
    total = 0.0
    for _ in range(n):
        total += model.rng.random() * model.rng.integers(1, 7)
    return total, state_of(model.rng)


@program(lambda: ((new(1), new(2)), 6))
def streams_in_a_tuple(rngs, n):
    total = 0.0
    for i in range(n):
        for rng in rngs:
            total += rng.random()
        total -= rngs[i % 2].standard_normal()
    return total


@program(lambda: (new(), 5))
def a_method_held(rng, n):
    draw = rng.random
    return [draw() for _ in range(n)], draw is rng.random


@program(lambda: (6, 4), lambda: (6, 100))
def stopped_by_chance(n, limit):
    random.seed(n)
    draws = 0
    while random.uniform(0, 10) < 8.5:
        draws += 1
        if draws > limit:
            raise ValueError(draws)
        if random.expovariate(0.5) > 6 and random.choice((True, False)):
            break
    return draws, random.random()


@program(lambda: (1.5,), lambda: ("x",))
def wrong_arguments_of_streams(x):
    rng = np.random.default_rng(1)
    first = rng.random()
    return first, rng.uniform(0, x), rng.normal(scale=x), rng.integers(0, 10 * x)


@program(lambda: (new(), np.zeros((4, 5))))
def filling_an_array(rng, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = rng.standard_normal() if (i + j) % 2 else rng.poisson(3.5)
    return a.sum()


@program(lambda: (random.Random(4), 9), lambda: (random.Random(5), 0))
def gaussian_steps(rng, n):
    x = 0.0
    hits = []
    for i in range(n):
        x += rng.gauss(0.0, 1.5) - rng.choice([0.5, 0.25, i])
        if x < -1:
            hits.append(rng.getrandbits(60) * (i + 2))
    rng.shuffle(hits)
    return x, hits
