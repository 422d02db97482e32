"""Write pictures: a PNG encoder of one function, and a canvas with rectangles and text.

This is as much as the demonstration needs, so that ljit needs no plotting library.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from ljit.cli.font import GLYPHS, WIDTH

__all__ = ["Canvas", "Color", "write_png"]

Color = tuple[int, int, int]

_DARK: Color = (40, 40, 40)  # of text
_SCALE = 2  # pixels along a dot of the font


def write_png(path: Path, pixels: np.ndarray) -> None:
    """Write an array of shape (height, width, 3) and dtype uint8 as an RGB picture."""
    height, width, channels = pixels.shape
    assert channels == 3 and pixels.dtype == np.uint8
    rows = np.zeros((height, 1 + width * 3), dtype=np.uint8)  # each row starts with filter type 0
    rows[:, 1:] = pixels.reshape(height, width * 3)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class Canvas:
    """A picture to draw on; x runs to the right, y downwards."""

    def __init__(self, width: int, height: int, background: Color = (255, 255, 255)) -> None:
        self.pixels = np.empty((height, width, 3), dtype=np.uint8)
        self.pixels[:] = background

    def rectangle(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        self.pixels[max(y, 0) : y + height, max(x, 0) : x + width] = color

    def text(self, x: int, y: int, text: str, color: Color = _DARK) -> None:
        """Write `text` with its upper left corner at (x, y); unknown characters stay blank."""
        for position, character in enumerate(text):
            left = x + position * (WIDTH + 1) * _SCALE
            for row, bits in enumerate(GLYPHS.get(character, GLYPHS[" "])):
                for column in range(WIDTH):
                    if bits >> (WIDTH - 1 - column) & 1:
                        self.rectangle(
                            left + column * _SCALE, y + row * _SCALE, _SCALE, _SCALE, color
                        )

    def text_right(self, x: int, y: int, text: str) -> None:
        """Write `text` so that it ends at x."""
        self.text(x - text_width(text), y, text)

    def save(self, path: Path) -> None:
        write_png(path, self.pixels)


def text_width(text: str) -> int:
    """Give the width of a text in pixels."""
    return len(text) * (WIDTH + 1) * _SCALE
