"""Small vectors and matrices, whose elements native code keeps in registers."""

import numpy as np

from tests.programs.harness import program


def _vector(*numbers, dtype=float):
    return np.array(numbers, dtype)


def _shared(change):
    def make():
        v = np.arange(12.0)
        return change(v)

    return make


@program(
    lambda: (_vector(1, 2, 3), _vector(0.5, -1, 4)),
    lambda: (_vector(1, 2, 3), _vector(0.5, -1, 4)),
    lambda: (_vector(1, 2), _vector(0.5, -1)),
    lambda: (np.arange(40.0), np.ones(40)),
    lambda: (_vector(1, 2, 3), _vector(1)),
    lambda: (_vector(1, 2, 3), _vector(1, 2)),
    lambda: (_vector(1, 2, 3, dtype=np.int32), _vector(1, 2, 4, dtype=np.float32)),
    ulp=2,
)
def force(p, q):
    d = p - q
    r = np.sqrt((d * d).sum())
    return d / (r * r * r), r, d.sum(), d


@program(
    lambda: (_vector(1, 2, 3), 0.5),
    lambda: (_vector(1, 2, 3, dtype=np.float32), 0.5),
    lambda: (_vector(1, 2, 3, dtype=np.int8), 2),
    lambda: (_vector(1, 2, 3, dtype=np.int8), 200),
    lambda: (_vector(1, 0, 1, dtype=bool), 2.5),
    lambda: (_vector(1, 2j, 3, dtype=complex), 2.5),
    lambda: (_vector(), 1.5),
    lambda: (np.float64(2), 1.5),
)
def promotes(v, x):
    return v * x, v + 1, (v * x).sum(), -(v * x), v * v, v.copy()


@program(lambda: (1.5,), lambda: (2,), lambda: (np.float32(0.1),), lambda: (2j,), lambda: ("x",))
def fills_one_element_after_another(x):
    v = np.zeros(3)
    v[0] = x
    v[-1] = 2
    v[1] += v[0] * 2
    w = np.array([v[0], 1, 2.5])
    w[1:] = v[:2]
    w *= 2
    return v, w, v.sum(), w[::-1] + v


@program(lambda: (1.5,), lambda: (float("nan"),), lambda: (1e30,), lambda: (300,))
def stores_into_integers(x):
    v = np.zeros(3, np.int8)
    v[1] = 7
    v[0] = x
    v += 3
    return v


@program(lambda: (7, 0.01), lambda: (0, 0.5), lambda: (1, 0.5), lambda: (60, 0.01))
def lorenz(n, dt):
    state = np.array([1.0, 1.0, 1.0])
    for _ in range(n):
        x, y, z = state[0], state[1], state[2]
        state = state + dt * np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - z * (8.0 / 3.0)])
    return state


def _pendulum(t, y):
    return np.array([y[1], -np.sin(y[0]) + 0.1 * t])


@program(
    lambda: (_vector(0.5, 0), 9),
    lambda: (_vector(0.5, 0), 0),
    lambda: (_vector(0.5, 0), 1),
    lambda: (_vector(0.5, 0, 1), 3),
    ulp=64,
)
def runge_kutta(y, n):
    h = 0.125
    t = 0.0
    for _ in range(n):
        k1 = _pendulum(t, y)
        k2 = _pendulum(t + h / 2, y + h / 2 * k1)
        k3 = _pendulum(t + h / 2, y + h / 2 * k2)
        k4 = _pendulum(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@program(
    lambda: (np.arange(15.0).reshape(5, 3) ** 2, np.ones(5)),
    lambda: (np.arange(6.0).reshape(2, 3), np.ones(2)),
    lambda: (np.arange(10.0).reshape(5, 2) ** 2, np.ones(5)),
    lambda: (np.arange(25.0).reshape(5, 5) ** 2, np.ones(5)),
    lambda: (np.arange(15.0).reshape(3, 5).T ** 2, np.ones(5)),
    lambda: (np.zeros((0, 3)), np.ones(0)),
    ulp=64,
)
def bodies(position, mass):
    n = len(mass)
    acc = np.zeros_like(position)
    for i in range(n):
        for j in range(n):
            if i != j:
                d = position[j] - position[i]
                acc[i] += mass[j] * d / (d @ d) ** 1.5
    return acc


@program(
    lambda: (np.arange(15.0).reshape(5, 3),),
    lambda: (np.arange(18.0).reshape(6, 3)[::2],),
    lambda: (np.arange(15.0).reshape(3, 5).T,),
    lambda: (np.arange(10).reshape(5, 2),),
)
def rows_in_place(rows):
    for i in range(1, len(rows)):
        rows[i] += rows[i - 1]
        rows[i, 0] = rows[i][1]
        row = rows[i]
        row[1:] = row[:-1]
        row *= 2
    rows[0] = rows[-1] * 2
    rows[1] = 7
    return rows[0] + rows[1]


@program(
    lambda: (np.arange(9.0).reshape(3, 3), _vector(1, 2, 3)),
    lambda: (np.arange(9.0).reshape(3, 3).T, _vector(1, 2, 3)),
    lambda: (np.arange(16.0).reshape(4, 4), _vector(1, 2, 3, 4)),
    lambda: (np.arange(6.0).reshape(2, 3), _vector(1, 2, 3)),
    lambda: (np.arange(6).reshape(2, 3), _vector(1, 2, 3)),
    lambda: (np.arange(6.0).reshape(2, 3), _vector(1, 2)),
    lambda: (np.ones((30, 30)), np.ones(30)),
    ulp=4,
)
def products(m, v):
    return m @ v, m @ m.T, np.dot(m, v), v @ v, m.T @ m, np.outer(v, v), np.inner(v, v)


@program(
    lambda: (np.arange(9.0).reshape(3, 3),),
    lambda: (np.arange(9.0).reshape(3, 3).T,),
    lambda: (np.arange(16).reshape(4, 4),),
    lambda: (np.arange(6.0).reshape(2, 3),),
    lambda: (np.arange(100.0).reshape(10, 10),),
    ulp=4,
)
def views(m):
    first, column = m[0], m[:, 1]
    m[1, 1] = 50
    turned = m.T
    turned[0, 1] = 7
    corner = m[:2, :2].copy()
    corner[0, 0] = -1
    return first.sum(), column + 1, turned.sum(), corner, m[-1] * 2, first, m[1] - m[0]


@program(
    lambda: (np.arange(9.0).reshape(3, 3) - 4,),
    lambda: (np.arange(4).reshape(2, 2),),
    lambda: (np.arange(12.0, dtype=np.float32).reshape(3, 4),),
    lambda: (np.arange(16.0).reshape(4, 4).T / 7,),
    lambda: (_vector(1, np.nan, 3),),
    lambda: (_vector(1, 2, 3, 4, 5, 6, 7, 8, 9, 0.1, 0.2),),
    lambda: (np.arange(50.0),),
    ulp=8,
)
def reductions(a):
    return (
        a.sum(),
        a.sum(axis=0),
        a.mean(),
        a.max(),
        a.min(axis=-1),
        np.prod(a),
        np.linalg.norm(a),
        a.sum(axis=0, keepdims=True),
    )


@program(lambda: (1.0, 0.5, 3), lambda: (1.0, 0.5, 0), lambda: (2, 1, 3))
def both_names_are_one_array(x, y, n):
    a = np.array([x, y])
    b = a
    c = a
    for i in range(n):
        b = a
        if i == 1:
            c = a + b
            a = c
        c[0] += 1
    return a, b, c, a is c, b is c


@program(
    lambda: (_vector(1, 2, 3), 4, 2),
    lambda: (_vector(1, 2, 3), 4, 9),
    lambda: (_vector(1, 2, 3), 0, 0),
    lambda: (_vector(1, 2, 3, 4), 3, 1),
)
def leaves_with_the_vector(state, n, stop):
    for i in range(n):
        if i == stop:
            return state, [state]
        state = state * 2 + i
    kept = [state]
    state[0] = 100
    return state, kept


@program(
    lambda: (_vector(1, 2, 3), 5), lambda: (_vector(1, 2, 3), 0), lambda: (_vector(1, 2, 3, 4), 3)
)
def changed_behind_the_loop(state, n):
    start = state
    for i in range(n):
        if i % 2:
            state = state + 1
    state[0] = -1
    return start, state


@program(lambda: (_vector(1, 2, 3), 3), lambda: (_vector(1, 2, 3), 0))
def is_read_while_it_is_carried(state, n):
    first = state
    trace = []
    for i in range(n):
        first[1] = i * 10
        trace.append(state.sum())
        if i:
            state = state + 1
    return state, first, trace


@program(
    _shared(lambda v: (v[:3], v[3:6])),
    _shared(lambda v: (v[:3], v[:3])),
    _shared(lambda v: (v[:3], v[1:4])),
    _shared(lambda v: (v[1:4], v[:3])),
    _shared(lambda v: (v[::-1][:3], v[9:12])),
)
def overlapping(a, b):
    a += b
    b[1:] = a[:-1]
    a[:] = b * 2
    return a.sum(), b.copy()


@program(lambda: (_vector(1, 2, 3),), lambda: (np.arange(20.0),), lambda: (_vector(1, 2, 3, 4),))
def read_by_variable_index(v):
    w = np.zeros(4)
    total = 0.0
    for k in range(len(v)):
        w[k % 4] += v[k] * 2
        total += w[k % 3]
    return total, w


@program(lambda: (3, 4.0), lambda: (2, 4.0), lambda: (0, 1.0))
def kept_in_a_list(n, x):
    found = []
    for i in range(n):
        v = np.array([x, i, 1.0])
        w = v * 2
        found.append(v)
        w[0] = v[1]
        found.append(w)
    return found


@program(
    lambda: (np.arange(6.0).reshape(2, 3), np.float64(2)),
    lambda: (np.arange(4.0), 1),
    lambda: (np.arange(2.0), 1.0),
)
def creates(a, x):
    return (
        np.eye(3) * x,
        np.zeros((2, 2)) + x,
        np.ones(3, np.float32) * x,
        np.full((2,), x),
        np.zeros_like(a) + 1,
        np.identity(2)[0],
        np.empty(3).shape,
        np.ones((2, 3)).T * x,
    )


@program(
    lambda: (_vector(0.5, 0.5, 0.5, 0.5), _vector(1, 2, 3)),
    lambda: (_vector(1, 0, 0, 0), _vector(1, 2, 3)),
    lambda: (_vector(1, 0, 0), _vector(1, 2, 3)),
    ulp=4,
)
def quaternion(q, v):
    w, u = q[0], q[1:]
    t = 2.0 * np.array(
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    )
    s = np.array([u[1] * t[2] - u[2] * t[1], u[2] * t[0] - u[0] * t[2], u[0] * t[1] - u[1] * t[0]])
    return v + w * t + s


@program(lambda: (5,), lambda: (0,), lambda: (3,))
def matrix_power(n):
    m = np.array([[1.0, 1.0], [1.0, 0.0]])
    result = np.eye(2)
    for _ in range(n):
        result = result @ m
    return result[0, 1], result


@program(lambda: (6, 3), lambda: (6, 9), lambda: (2, 0))
def not_a_float_any_more(n, stop):
    v = np.array([1.0, 2.0])
    w = np.zeros(2)
    s = 1
    for i in range(n):
        w[1] += i
        v = v * 2
        if i == stop:
            s = "text"
        s = s * 2
    return v, w, s


@program(
    lambda: (np.arange(15.0).reshape(5, 3), np.ones(5)),
    lambda: (np.arange(30.0).reshape(10, 3), np.ones(10)),
    lambda: (np.arange(10.0).reshape(5, 2), np.ones(5)),
    ulp=64,
)
def sums_in_place_in_a_branch(position, mass):
    acc = np.zeros_like(position)
    for i in range(len(mass)):
        total = np.zeros(position.shape[1])
        part = np.zeros(3)
        for j in range(len(mass)):
            if i != j:
                d = position[i] - position[j]
                total += mass[j] * d / (1 + d @ d)
                part += total.sum()
        acc[i] = total + part[0]
    return acc


@program(
    lambda: (_vector(1, 2, 3),),
    lambda: (_vector(1, 2, 3, dtype=np.int16),),
    lambda: (_vector(1, 2),),
    lambda: (np.arange(9.0).reshape(3, 3),),
    lambda: ([1, 2, 3],),
)
def unpacks(v):
    x, y, z = v
    w = np.array([1.0, 2.0])
    a, b = w
    w[0] = 5
    return x + y * z, a, b, w


@program(
    lambda: (_vector(1, 2, 3), _vector(3, -1, 2)),
    lambda: (_vector(1, 2, 3, dtype=np.int32), _vector(3, -1, 2)),
    lambda: (_vector(1, 2, 3), np.arange(12.0).reshape(4, 3)),
    lambda: (np.arange(12.0).reshape(4, 3) + 1, np.arange(12.0).reshape(4, 3).T[:3].T),
    lambda: (_vector(1, 2), _vector(3, 4)),
    lambda: (_vector(1, 2, 3, dtype=bool), _vector(3, 4, 5, dtype=bool)),
    ulp=4,
)
def cross_products(a, b):
    n = np.cross(a, b)
    return n, np.cross(b, n) * 2, n.sum()


@program(
    lambda: (np.arange(9.0).reshape(3, 3),),
    lambda: (np.arange(9.0).reshape(3, 3).T,),
    lambda: (np.arange(4.0).reshape(2, 2),),
    lambda: (np.arange(36.0).reshape(6, 6),),
    ulp=4,
)
def turned(m):
    m[1] = m.T[0].copy()
    s = (m + m.T) * 0.5
    t = m.T * 2 - 1
    u = m.T + 1.0
    u[0, 1] = 99
    return (
        s,
        t,
        u,
        t.strides,
        u.strides,
        m.T @ m,
        (m.T @ m).strides,
        m.std(),
        m.any(),
        (m > 0).all(),
    )


@program(
    lambda: (_vector(1, 2, 3), _vector(3, -1, 2)),
    lambda: (_vector(1, 2, 3, dtype=np.int32), _vector(3, -1)),
    lambda: (np.arange(20.0), np.arange(20)),
    ulp=4,
)
def joins(a, b):
    c = np.concatenate((a, b))
    d = np.stack((a, a * 2))
    d[1, 0] = 50
    r = d.reshape(-1)
    r[0] = 7
    return c, d, r.sum(), d.ravel(), d.flatten(), np.stack((a, a), axis=1)


@program(lambda: (np.arange(9.0).reshape(3, 3),), lambda: (np.arange(9.0).reshape(3, 3).T,))
def sideways_within_itself(m):
    m[2] = m.T[1] + 0
    m[1] = m[1][::-1]
    m[0] = m[0][::-1]
    return m.sum()


@program(lambda: (3, 99), lambda: (3, 1), lambda: (3, 0))
def kept_and_returned_early(n, stop):
    v = np.zeros(3)
    kept = []
    kept.append(v)
    for i in range(n):
        if i == stop:
            return v, kept
        v[2] = -1.0 - i
    return kept, v


GRAVITY = np.array([0.0, 0.0, -9.8])


class _Body:
    def __init__(self, size):
        self.position = np.zeros(size)
        self.speed = np.ones(size)


@program(
    lambda: ([_Body(3)], 0.1),
    lambda: ([_Body(3), _Body(3)], 0.1),
    lambda: ([_Body(3), _Body(1)], 0.1),
)
def attributes_and_globals(bodies, dt):
    for body in bodies:
        body.speed = body.speed + GRAVITY * dt
        body.position += body.speed * dt
    return [(body.position, body.speed) for body in bodies]


@program(
    lambda: (_vector(1, 2, 3), _vector(3, -1, 2)),
    lambda: (_vector(1, 2, 3, dtype=np.int32), _vector(3, -1, 2)),
    lambda: (_vector(1, 2, 3), _vector(3, -1)),
    lambda: (_vector(1, 2j, 3, dtype=complex), _vector(3, -1, 1j, dtype=complex)),
    lambda: (np.arange(30.0), np.arange(30.0)),
    ulp=4,
)
def rows_of_vectors(a, b):
    dot = np.vdot(a, b)
    m = np.array([a, b])
    m[0, 1] = 9
    n = np.array((b, b, a * 2))
    return m, n[2] + n[0], dot, m.sum(), a


@program(
    lambda: (np.zeros(4, np.int16), np.uint64(3)),
    lambda: (np.zeros(4, np.int16), np.uint64(2**64 - 2)),
    lambda: (np.zeros(4, np.int8), 300),
    lambda: (np.zeros(4), 1j),
)
def a_number_stored_nowhere_is_converted_all_the_same(a, number):
    a[0] += 1
    a[5:1] = number
    return a


def _halved(n):
    return 1.0 if n < 1 else _halved(n - 1) / 2


@program(lambda: (3.0, 5), lambda: (-1.5, 2))
def elements_that_native_calls_give(x, n):
    u = np.zeros(3)
    u[0] = x
    for i in range(n):
        u[2] = _halved(i)
        u[1] += u[2]
    return u, u.sum()


@program(lambda: (np.arange(5.0), 0.5), lambda: (np.zeros(0), 2.0))
def rows_under_the_name_of_a_number(a, x):
    w = np.array([[1.0, 2.0], [0.5, x]])
    y = 1.0
    for y in a:
        x += y
    else:
        y = w[0]
    return x, y
