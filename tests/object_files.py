"""Object files that an earlier test, or an earlier run of the tests, compiled are used again.

Compiling is most of the time of the tests. Units that are written anew mostly differ from earlier ones in nothing but
the addresses of objects. So the text is compiled with a number instead of each address, and the addresses are put into
the machine code: the object file that comes out is the one that LLVM makes of the addresses themselves
(`tests/codegen/test_object_files.py` compares them). It is kept under all that it depends on: the text, `engine.py`,
LLVM and the CPU. ``TEST_OBJECTS=0`` compiles everything, another value is the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import struct
import time
import zlib
from pathlib import Path
from typing import Any

from ljit.codegen.llvm import engine
from ljit.codegen.llvm.engine import Passes, _Host, host_description

__all__ = ["forget_old_ones", "keep_object_files", "with_addresses", "without_addresses"]

FOLDER = Path(__file__).parent.parent / ".pytest_cache" / "objects"
KEPT_SECONDS = 3 * 24 * 3600  # without use

_ADDRESS = re.compile(r"inttoptr (\(?i64) (\d{12,15}) to ptr")
_TABLE = re.compile(r"getelementptr [^\n]*?ptr inttoptr \(i64 (\d{12,15}) to ptr\), i64 %")
_COMPARED = re.compile(r"icmp [a-z]+ ptr [^\n,]*, inttoptr \(i64 (\d{12,15}) to ptr\)")
_MARK = 0x5A << 56
_MIDDLE = 1 << 35
_LOW_BITS = 0x9FFFF0  # no sum with an offset below 2**21 reaches bit 24
_PAGE = 0xFFF
_FEW_COMPARED = 3  # with more constants, LLVM compares a value with the one in the middle first
_FARTHEST = 1 << 24  # from an object to what native code reads of it

Images = tuple[list[bytes], tuple[float, float, float]]


def number_of(index: int, address: int, *, is_table: bool = False) -> int:
    """What stands for an address: as well aligned, far from all others, and at no round distance from them.

    Bits that are zero would let LLVM set those of an offset where the address itself needs an addition. To that of a
    table an index is added, and then a number: it has the place in its page, which is the same in each process.
    """
    true = address & (_PAGE if is_table else 15)
    low_bits = _LOW_BITS & ~_PAGE if is_table else _LOW_BITS
    return _MARK | (index * 0x9E377 % (1 << 20)) << 36 | _MIDDLE | low_bits | true


def without_addresses(text: str) -> tuple[str, dict[int, int]]:
    """Give the text with numbers for addresses, and the address of each number."""
    tables = set(_TABLE.findall(text))
    known: dict[str, int] = {}
    addresses: dict[int, int] = {}

    def know(digits: str, index: int) -> None:
        known[digits] = number_of(index, int(digits), is_table=digits in tables)
        addresses[known[digits]] = int(digits)

    def replace(found: re.Match[str]) -> str:
        digits = found[2]
        if digits not in known:
            know(digits, len(known))
        return f"inttoptr {found[1]} {known[digits]} to ptr"

    compared = sorted(set(_COMPARED.findall(text)), key=int)
    if len(compared) > _FEW_COMPARED:  # their numbers are in the order of the addresses
        indices = sorted(range(len(compared)), key=lambda index: number_of(index, 0))
        for digits, index in zip(compared, indices, strict=True):
            know(digits, index)
    return _ADDRESS.sub(replace, text), addresses


def with_addresses(image: bytes, addresses: dict[int, int]) -> bytes:
    """Put the addresses where their numbers are in an object file, or numbers a little off."""
    made = bytearray(image)
    for number, address in addresses.items():
        for high in {number >> 24, (number - _FARTHEST) >> 24}:
            wanted = high.to_bytes(5, "little")
            at = image.find(wanted)
            while at >= 0:
                (found,) = struct.unpack_from("<Q", image, at - 3)
                struct.pack_into("<Q", made, at - 3, found - number + address)
                at = image.find(wanted, at + 1)
    return bytes(made)


def keep_object_files() -> None:
    """Have the engine look for object files of the same code before it compiles."""
    wanted = os.environ.get("TEST_OBJECTS", "")
    if wanted == "0" or hasattr(_Host.object_files, "original"):
        return
    folder = Path(wanted) if wanted else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    compile_parts = _Host.object_files
    engine_text = Path(engine.__file__).read_bytes()

    def object_files(host: Any, parts: tuple[str, str], passes: Passes) -> Images:
        """Look for each part alone: units often differ from earlier ones in one of the two."""
        images, times = [], [(0.0, 0.0, 0.0)]
        about = f"{host_description()} {host.feature_map.flatten()} {passes} "
        for place_of_part, part in enumerate(parts):
            text, addresses = without_addresses(part)
            key = hashlib.sha256(f"{place_of_part} {about}{text}".encode() + engine_text)
            place = folder / key.hexdigest()
            made = _read(place) if part else []
            if made is None:
                alone = (text, "") if place_of_part == 0 else ("", text)
                made, seconds = compile_parts(host, alone, passes)
                times.append(seconds)
                _write(place, made)
            images += [with_addresses(image, addresses) for image in made]
        parsing, optimizing, emitting = map(sum, zip(*times, strict=True))
        return images, (parsing, optimizing, emitting)

    object_files.original = compile_parts  # type: ignore[attr-defined]
    _Host.object_files = object_files  # type: ignore[method-assign]


def _read(place: Path) -> list[bytes] | None:
    try:
        data = place.read_bytes()
        if time.time() - place.stat().st_mtime > KEPT_SECONDS / 3:
            os.utime(place)
        images: list[bytes] = pickle.loads(zlib.decompress(data))
    except (OSError, zlib.error, pickle.UnpicklingError, EOFError):
        return None
    return images


def _write(place: Path, images: list[bytes]) -> None:
    """By way of another name: others may read and write at the same time."""
    part = place.with_suffix(f".{os.getpid()}")
    part.write_bytes(zlib.compress(pickle.dumps(images), 1))
    part.replace(place)


def forget_old_ones(folder: Path) -> None:
    """Remove what no test has used for days."""
    limit = time.time() - KEPT_SECONDS
    for place in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another run was faster
            if place.stat().st_mtime < limit:
                place.unlink()
