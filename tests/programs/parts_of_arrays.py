"""Fresh arrays of which a part is stored, and what is computed of them."""

import numpy as np

from tests.programs.harness import program


def field(n, m, dtype=float):
    return (np.arange(n * m).reshape(n, m) % 11 * 0.7 - 2.0).astype(dtype)


@program(
    lambda: (field(6, 7), field(6, 7) * 0.5, 3),
    lambda: (field(1, 1), field(1, 1), 2),
    lambda: (field(2, 5), field(2, 5), 2),
    lambda: (field(5, 2), field(5, 2), 1),
    lambda: (field(5, 0), field(5, 0), 1),
    lambda: (field(5, 6), field(1, 6), 2),
    lambda: (field(5, 6), field(5, 6)[0], 2),
    lambda: (field(5, 6), field(4, 6), 2),  # ValueError
    lambda: (np.asfortranarray(field(5, 6)), field(5, 6), 2),
    lambda: (field(10, 12)[::2, ::-2], field(5, 6), 2),
    lambda: (field(6, 7, np.float32), field(6, 7, np.float32), 2),
    lambda: (field(6, 7, np.int64), field(6, 7), 2),
)
def wave(u, before, steps):
    for _ in range(steps):
        second = np.zeros_like(u)
        second[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] - 3 * u[1:-1, 1:-1]
        u, before = 2 * u - before + 0.25 * second, u
    return u, before


@program(
    lambda: (np.linspace(0.0, 1.0, 9),),
    lambda: (np.ones(3),),
    lambda: (np.ones(2),),
    lambda: (np.ones(1),),
    lambda: (np.ones(0),),
)
def other_bounds(a):
    head = np.zeros(a.shape[0])
    head[:-3] = a[3:] * 2.0
    middle = np.ones_like(a)
    middle[-4:-2] = np.sqrt(a[1:3])
    tail = np.zeros_like(a)
    tail[2:] = a[:-2] - 1.0
    return head + a, a * middle - 1.0, (a - tail) * a


@program(lambda: (field(5, 6),), lambda: (field(1, 6),))
def rows(a):
    steps = np.zeros_like(a)
    steps[1:] = a[1:] - a[:-1]
    return np.abs(a * 0.5 - steps)


@program(lambda: (field(5, 6), 1), lambda: (field(5, 6), 3))
def seen_elsewhere(a, n):
    kept = np.zeros_like(a)
    kept[1:-1] = a[2:] * 2.0
    first = kept + a
    twice = np.zeros_like(a)
    twice[1:-1] = a[2:] * 2.0
    second = twice + a
    moved = np.zeros_like(a)
    moved[n:] = a[n:] * 2.0
    written = np.zeros_like(a)
    written[1:] = a[1:] * 2.0
    a[0] = 7.0
    return kept, first, twice * second, moved + a, written + a


@program(lambda: (field(5, 6), 0.0), lambda: (field(5, 6), 2.0))
def numbers_outside(a, x):
    inner = np.ones_like(a)
    inner[1:-1, 2:] = a[1:-1, 2:] * a[:-2, :-2]
    return np.sqrt(np.abs(inner * x - 3.0)) + a


@program(lambda: (field(5, 6),), lambda: (field(0, 6),))
def divided_outside(a):
    inner = np.ones_like(a)
    inner[1:-1, 1:-1] = np.abs(a[1:-1, 1:-1]) + 2.0
    return 1.0 / inner + a


@program(
    lambda: (field(6, 7), field(6, 7) * 0.5, 2),
    lambda: (field(2, 2), field(2, 2), 2),
    lambda: (field(1, 4), field(1, 4), 1),
    lambda: (field(4, 1), field(4, 1), 1),
    lambda: (field(0, 4), field(0, 4), 1),
    lambda: (field(5, 6), field(1, 6), 1),
    lambda: (field(5, 6), field(5, 6)[0], 1),
    lambda: (field(5, 6), field(4, 6), 1),  # ValueError
    lambda: (field(5, 6).T, field(6, 5), 1),
    lambda: (field(5, 6, np.int16), field(5, 6, np.float32), 1),
)
def periodic(h, u, steps):
    for _ in range(steps):
        u = u - 0.1 * (np.roll(h, -1, axis=0) - np.roll(h, 1, axis=0))
        flow = h * u
        change = np.roll(flow, -1, axis=0) - np.roll(flow, 1, axis=0)
        change += np.roll(flow, 1, axis=1) - flow
        h = h - 0.2 * change
    return h, u


@program(
    lambda: (np.linspace(0.0, 1.0, 9),),
    lambda: (np.ones(2),),
    lambda: (np.ones(1),),
    lambda: (np.ones(0),),
)
def rolled_vectors(a):
    back = a * np.roll(a, -1)
    forth = np.roll(a, 1) - a
    kept = np.roll(a, 1)
    far = np.roll(a, 2) + a
    return back, forth, kept, kept + np.roll(a, -1), far


@program(lambda: (field(4, 5),), lambda: (field(4, 5).astype(np.float32),))
def written_behind_rolls(a):
    before = np.roll(a, 1, axis=1)
    a += 1.0
    smooth = before + a
    return smooth, np.roll(smooth, -1, axis=0) * np.roll(smooth, 1, axis=0) + smooth


@program(
    lambda: (np.linspace(0.0, 1.0, 60).reshape(3, 4, 5),),
    lambda: (np.linspace(0.0, 1.0, 60).reshape(3, 4, 5).T,),
    lambda: (np.ones((2, 1, 3)),),
    lambda: (np.ones((4, 0, 3)),),
)
def of_three_axes(u):
    second = np.zeros(u.shape)
    second[1:-1, :-1, 2:] = u[2:, 1:, 1:-1] - u[1:-1, :-1, 2:]
    return u + 0.5 * second - np.ones(u.shape) * u


def prices(n):
    return np.arange(float(n)) % 7 + 1.0


WINDOWS = (3, 1, 0, -2, 9, 12, 2**62, -(2**63))


@program(
    *[lambda w=w: (prices(9), w) for w in WINDOWS], *[lambda n=n: (prices(n), 3) for n in range(4)]
)
def moving_averages(x, w):
    sums = np.cumsum(x)
    sums[w:] = sums[w:] - sums[:-w]
    return sums[w - 1 :] / w


@program(*[lambda w=w: (prices(9), w) for w in WINDOWS], lambda: (prices(9).astype(np.int16), 2))
def views_behind_stores(x, w):
    shifted = x * 2
    shifted[3:] = shifted[:-3]
    pairs = np.abs(shifted[1:] - x[1:])
    spread = x + x
    spread[w:] = x[:1] + 1  # one element, or as many
    later = spread[4:] * w  # often what was stored behind the first ones
    return pairs, later


@program(*[lambda w=w: (prices(9), w) for w in WINDOWS])
def seen_behind_stores(x, w):
    early = x * 2.0
    view = early[1:]
    early[w:] = early[w:] - early[:-w]
    kept = x * 3.0
    kept[w:] = kept[:-w]
    both = early[1:] + view
    changed = x * 4.0
    changed[2:] = x[2:]
    x[:] = 1.0
    return both, kept[1:] / 2.0, kept, changed[1:] * x[1:]


@program(*[lambda w=w: (prices(9), w) for w in WINDOWS], lambda: (prices(9).astype(np.int32), 2))
def views_behind_updates(x, w):
    sums = x + x
    sums[w:] -= sums[:-w]
    scaled = x * 2
    scaled[2:] *= 3
    narrow = x + 1
    narrow[w:] += x[:1]
    return sums[w - 1 :] / w, scaled[1:] - x[1:], np.abs(narrow[1:])


@program(*[lambda w=w: (prices(9), w) for w in WINDOWS])
def seen_behind_updates(x, w):
    early = x * 2.0
    view = early[2:]
    view += 1.0
    kept = x * 3.0
    part = kept[2:]
    part[w:] -= 1.0
    return early[1:] * view[:1], kept[1:] * 2.0


@program(*[lambda w=w: (prices(9), w) for w in WINDOWS])
def stores_in_loops(x, w):
    for i in range(3):
        step = x * 1.5
        step[w:] = step[w:] - step[:-w]
        x[w - 1 :] = step[w - 1 :] / w + i
    return x


@program(lambda: (prices(9), prices(6)), lambda: (prices(9), prices(5)))  # ValueError
def other_sizes(x, y):
    table = np.cumsum(x)
    table[3:] = y
    return np.sqrt(table[2:])


@program(
    lambda: (np.arange(20.0).reshape(4, 5), np.arange(5.0)),
    lambda: (np.arange(5.0).reshape(1, 5), np.ones(1)),
    lambda: (np.zeros((3, 1)), np.arange(1.0)),
)
def margins_times_a_row(u, row):
    """What has fewer axes is computed with the whole array."""
    z = np.zeros_like(u)
    z[1:-1, 1:-1] = u[2:, 1:-1] - u[:-2, 1:-1]
    return z * row, z * row + u


def waves(*shape, dtype=complex):
    return (np.arange(np.prod(shape)).reshape(shape) * (0.5 - 0.25j)).astype(dtype)


@program(
    lambda: (waves(6), np.arange(6.0), 2.5),
    lambda: (waves(6, dtype=np.complex64), np.arange(6.0) / 3, 7),
    lambda: (waves(4, 3), np.arange(3, dtype=np.float32), np.float32(0.1)),
    lambda: (waves(4, 3).T, np.arange(12).reshape(3, 4), True),
    lambda: (waves(12)[::-2], np.arange(6) > 2, np.int8(-3)),
    lambda: (waves(6), np.array(3.0), -0.0),
    lambda: (waves(6)[1], np.arange(6.0), 1),  # AttributeError
    lambda: (np.array(1 + 2j), np.float64(3.0), 10**30),
    lambda: (waves(6), np.arange(6.0), 10**400),  # OverflowError
    lambda: (waves(6), np.arange(5.0), 1.0),  # ValueError
    lambda: (waves(6), np.arange(6.0)[None], 1.0),
    lambda: (waves(6), [1, 2, 3, 4, 5, 6], (6, 5, 4, 3, 2, 1)),
    lambda: (waves(6), np.arange(6.0), None),  # TypeError
    lambda: (waves(6), "x", 1.0),  # ValueError
    lambda: (waves(0), np.zeros(0), 1.0),
    lambda: (np.arange(6.0), np.arange(6.0)[::-1], 1.0),  # TypeError
    lambda: (np.arange(6), np.arange(6.0)[::-1] / 4, 1.0),  # TypeError
    lambda: (np.broadcast_to(waves(1), 6), np.arange(6.0), 1.0),  # ValueError: read-only
)
def parts_that_are_stored(z, a, x):
    z.real = a
    w = z.copy()
    w.imag = x
    z.imag = z.real
    z.real = z.imag * 2
    return w, z


@program(
    lambda: (np.linspace(0, 3, 40), np.linspace(0, 9, 40)),
    lambda: (np.linspace(0, 3, 40, dtype=np.float32)[::2], np.linspace(0, 9, 20)),
    lambda: (np.linspace(0, 3, 40), np.linspace(0, 9, 41)),  # ValueError
)
def complex_of_computed_parts(r, phi):
    z = np.empty(len(r), dtype=complex)
    z.real = r * np.sqrt(phi)
    z.imag = r * np.abs(phi - 4)
    y = np.zeros_like(z)
    y[1:].real = z.imag[:-1]
    return z, y


@program(lambda: (waves(6), 5), lambda: (waves(6), 0))
def numbers_of_several_classes_stored_to_parts(z, n):
    s = 0
    for i in range(n):
        z.real = s
        s = s + 0.5 if i % 2 else i
        z[i:].imag = s
    return z
