"""Scalar loops in CPython and in native code: mandelbrot, n-body over floats, spectral norm.

Exits with status 1 if a program is less than 50 times as fast, or gives another result.
"""

from __future__ import annotations

import argparse
import math
import sys
from functools import partial

import numpy as np
from pairing import measure, settle

import ljit

TARGET = 50.0


def mandelbrot(xs, ys, limit):
    out = np.zeros((ys.size, xs.size), dtype=np.int64)
    for j in range(ys.size):
        for i in range(xs.size):
            z = c = complex(xs[i], ys[j])
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            out[j, i] = n
    return out


def n_body(steps, dt):
    """Sun, Jupiter and Saturn, every coordinate a float."""
    ms, mj, mt = 39.47841760435743, 0.03769367487038949, 0.011286326131968767
    xs, ys, zs, us, vs, ws = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    xj, yj, zj = 4.84143144246472, -1.16032004402742, -0.103622044471123
    uj, vj, wj = 0.606326392995832, 2.81198684491626, -0.0252183616598876
    xt, yt, zt = 8.34336671824458, 4.1247985641243, -0.403523417114321
    ut, vt, wt = -1.01077434617879, 1.82566237123041, 0.00841576137658415
    for _ in range(steps):
        dx = xs - xj
        dy = ys - yj
        dz = zs - zj
        d = dx * dx + dy * dy + dz * dz
        f = dt / (d * math.sqrt(d))
        us -= dx * mj * f
        vs -= dy * mj * f
        ws -= dz * mj * f
        uj += dx * ms * f
        vj += dy * ms * f
        wj += dz * ms * f
        dx = xs - xt
        dy = ys - yt
        dz = zs - zt
        d = dx * dx + dy * dy + dz * dz
        f = dt / (d * math.sqrt(d))
        us -= dx * mt * f
        vs -= dy * mt * f
        ws -= dz * mt * f
        ut += dx * ms * f
        vt += dy * ms * f
        wt += dz * ms * f
        dx = xj - xt
        dy = yj - yt
        dz = zj - zt
        d = dx * dx + dy * dy + dz * dz
        f = dt / (d * math.sqrt(d))
        uj -= dx * mt * f
        vj -= dy * mt * f
        wj -= dz * mt * f
        ut += dx * mj * f
        vt += dy * mj * f
        wt += dz * mj * f
        xs += dt * us
        ys += dt * vs
        zs += dt * ws
        xj += dt * uj
        yj += dt * vj
        zj += dt * wj
        xt += dt * ut
        yt += dt * vt
        zt += dt * wt
    return xs, ys, zs, xj, yj, zj, xt, yt, zt


def entry(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def spectral_norm(n, rounds):
    u = [1.0] * n
    v = [0.0] * n
    t = [0.0] * n
    for _ in range(rounds):
        for source, target in ((u, v), (v, u)):
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += entry(i, j) * source[j]
                t[i] = total
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += entry(j, i) * t[j]
                target[i] = total
    product = 0.0
    square = 0.0
    for i in range(n):
        product += u[i] * v[i]
        square += v[i] * v[i]
    return math.sqrt(product / square)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="pairs of runs")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs")
    options = parser.parse_args()
    size = round(80 * options.scale**0.5)
    view = (np.linspace(-2.0, 0.6, size), np.linspace(-1.2, 1.2, size), 500)
    cases = (
        (mandelbrot, view),
        (n_body, (round(60_000 * options.scale), 0.001)),
        (spectral_norm, (round(120 * options.scale**0.5), 5)),
    )
    print(f"{'program':15} {'CPython':>11}  {'ljit':>11}  {'ratio':>9}")
    too_slow = []
    for function, arguments in cases:
        compiled = ljit.jit(function)
        results = [compiled(*arguments) for _ in range(3)]  # profiled, compiled, native
        settle(compiled, partial(compiled, *arguments))
        expected = function(*arguments)
        if not all(np.array_equal(expected, result) for result in results):
            too_slow.append(f"{function.__name__} (wrong result)")
        plain, native = partial(function, *arguments), partial(compiled, *arguments)
        pair = measure(plain, native, options.rounds, calls=(1, 20))
        print(f"{function.__name__:15} {pair}")
        if pair.ratio < TARGET:
            too_slow.append(f"{function.__name__} ({pair.ratio:.1f}x)")
    if too_slow:
        print(f"below {TARGET:.0f}x: {', '.join(too_slow)}")
        return 1
    print(f"all at least {TARGET:.0f}x CPython")
    return 0


if __name__ == "__main__":
    sys.exit(main())
