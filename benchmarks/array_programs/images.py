"""Images: float arrays of rows, columns and colours."""

from __future__ import annotations

import numpy as np

from array_programs.program import ArrayProgram


def grey_scale(image):
    return 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]


def grey_scale_loops(image):
    n, m, _ = image.shape
    result = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            r, g, b = image[i, j, 0], image[i, j, 1], image[i, j, 2]
            result[i, j] = 0.299 * r + 0.587 * g + 0.114 * b
    return result


def colours(n):
    side = max(int((n / 3) ** 0.5), 1)
    return (np.random.default_rng(1).random((side, side, 3)),)


def box_blur(image):
    total = np.zeros((image.shape[0] - 2, image.shape[1] - 2))
    for i in range(3):
        for j in range(3):
            total += image[i : i + total.shape[0], j : j + total.shape[1]]
    return total / 9.0


def box_blur_loops(image):
    n, m = image.shape
    result = np.empty((n - 2, m - 2))
    for i in range(n - 2):
        for j in range(m - 2):
            total = 0.0
            for a in range(3):
                for b in range(3):
                    total += image[i + a, j + b]
            result[i, j] = total / 9.0
    return result


def sobel(image):
    gx = (
        image[:-2, 2:] + 2.0 * image[1:-1, 2:] + image[2:, 2:]
        - image[:-2, :-2] - 2.0 * image[1:-1, :-2] - image[2:, :-2]
    )  # fmt: skip
    gy = (
        image[2:, :-2] + 2.0 * image[2:, 1:-1] + image[2:, 2:]
        - image[:-2, :-2] - 2.0 * image[:-2, 1:-1] - image[:-2, 2:]
    )  # fmt: skip
    magnitude = np.sqrt(gx**2 + gy**2)
    return magnitude / magnitude.max()


def sobel_loops(image):
    n, m = image.shape
    result = np.empty((n - 2, m - 2))
    largest = 0.0
    for i in range(n - 2):
        for j in range(m - 2):
            right = image[i, j + 2] + 2.0 * image[i + 1, j + 2] + image[i + 2, j + 2]
            left = image[i, j] + 2.0 * image[i + 1, j] + image[i + 2, j]
            low = image[i + 2, j] + 2.0 * image[i + 2, j + 1] + image[i + 2, j + 2]
            high = image[i, j] + 2.0 * image[i, j + 1] + image[i, j + 2]
            magnitude = np.sqrt((right - left) ** 2 + (low - high) ** 2)
            largest = max(largest, magnitude)
            result[i, j] = magnitude
    return result / largest


def grey(n):
    side = max(int(n**0.5), 3)
    return (np.random.default_rng(2).random((side, side)),)


def rgb_to_hsv(image):
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    high = np.maximum(np.maximum(r, g), b)
    low = np.minimum(np.minimum(r, g), b)
    delta = high - low
    safe = np.where(delta == 0, 1.0, delta)
    hue = np.where(
        high == r,
        ((g - b) / safe) % 6.0,
        np.where(high == g, (b - r) / safe + 2.0, (r - g) / safe + 4.0),
    )
    result = np.empty_like(image)
    result[..., 0] = np.where(delta == 0, 0.0, hue / 6.0)
    result[..., 1] = np.where(high == 0, 0.0, delta / np.where(high == 0, 1.0, high))
    result[..., 2] = high
    return result


def rgb_to_hsv_jax(jax):
    jnp = jax.numpy

    def rgb_to_hsv(image):
        r, g, b = image[..., 0], image[..., 1], image[..., 2]
        high = jnp.maximum(jnp.maximum(r, g), b)
        delta = high - jnp.minimum(jnp.minimum(r, g), b)
        safe = jnp.where(delta == 0, 1.0, delta)
        other = jnp.where(high == g, (b - r) / safe + 2.0, (r - g) / safe + 4.0)
        hue = jnp.where(high == r, ((g - b) / safe) % 6.0, other)
        hue = jnp.where(delta == 0, 0.0, hue / 6.0)
        saturation = jnp.where(high == 0, 0.0, delta / jnp.where(high == 0, 1.0, high))
        return jnp.stack((hue, saturation, high), axis=-1)

    return rgb_to_hsv


def rgb_to_hsv_loops(image):
    result = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            r, g, b = image[i, j, 0], image[i, j, 1], image[i, j, 2]
            high = max(r, g, b)
            delta = high - min(r, g, b)
            hue = 0.0
            if delta != 0:
                if high == r:
                    hue = ((g - b) / delta) % 6.0
                elif high == g:
                    hue = (b - r) / delta + 2.0
                else:
                    hue = (r - g) / delta + 4.0
            result[i, j, 0] = hue / 6.0
            result[i, j, 1] = delta / high if high != 0 else 0.0
            result[i, j, 2] = high
    return result


PROGRAMS = (
    ArrayProgram(grey_scale, colours, 750_000, loops=grey_scale_loops),
    ArrayProgram(box_blur, grey, 250_000, loops=box_blur_loops),
    ArrayProgram(sobel, grey, 250_000, loops=sobel_loops),
    ArrayProgram(rgb_to_hsv, colours, 300_000, loops=rgb_to_hsv_loops, in_jax=rgb_to_hsv_jax),
)
