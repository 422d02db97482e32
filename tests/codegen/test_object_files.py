"""Object files that are kept with numbers for addresses are those that LLVM makes of the addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm import engine
from tests.object_files import number_of, with_addresses, without_addresses


class Thing:
    def __init__(self) -> None:
        self.size = 2


def reads_objects(things: list[Any], table: dict[str, int]) -> int:
    total = 0
    for thing in things:
        if thing is not None and thing.size in (1, 2):
            thing.size = total + table["a"]
            total += len(str(thing.size))
    for key in table:
        total += table.get(key, 0)
    return total


def adds_rows(a: np.ndarray, n: int) -> Any:
    b = np.zeros(a.shape)
    for i in range(n):
        b += np.exp(a) * a[i] + i
    return b.sum(axis=0), sorted([n, 2]), f"{n}"


@pytest.mark.parametrize("quick_runs", [0, 10**9])
@pytest.mark.parametrize(
    ("function", "make"),
    [
        (reads_objects, lambda: ([Thing(), None, Thing()], {"a": 1})),
        (adds_rows, lambda: (np.ones((3, 4)), 3)),
    ],
)
def test_code_is_the_same_as_with_addresses(
    function: Any, make: Any, quick_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    compile_parts = engine._Host.object_files

    def object_files(host: Any, parts: Any, passes: Any) -> Any:
        compiled.append((host, parts, passes))
        return compile_parts(host, parts, passes)

    monkeypatch.setattr(engine._Host, "object_files", object_files)
    with config.overridden(quick_runs=quick_runs):
        native = ljit.jit(function)
        for _ in range(3):
            native(*make())
    assert compiled
    original = getattr(compile_parts, "original", compile_parts)
    count = 0
    for host, parts, passes in compiled:
        wanted, _ = original(host, parts, passes)
        found = []
        for main, quick in ((parts[0], ""), ("", parts[1])):
            text, addresses = without_addresses(main or quick)
            made, _ = original(host, (text, "") if main else ("", text), passes)
            put_in = [with_addresses(image, addresses) for image in made]
            assert not addresses or made != put_in
            found += put_in
            count += len(addresses)
        assert found == wanted
    assert count > 10


def test_numbers_stand_for_places_near_an_address_too() -> None:
    text, addresses = without_addresses("load ptr, ptr inttoptr (i64 140247191359136 to ptr)")
    (number,) = addresses
    assert str(number) in text and addresses == {number: 140247191359136}
    for offset in (0, 24, -16):
        image = b"\x48\xb8" + (number + offset).to_bytes(8, "little") + b"\xc3"
        wanted = (140247191359136 + offset).to_bytes(8, "little")
        assert with_addresses(image, addresses) == b"\x48\xb8" + wanted + b"\xc3"
    assert len({number_of(k, 0) for k in range(5000)}) == 5000


def test_numbers_of_tables_are_as_far_into_a_page_as_their_addresses():
    table = "inttoptr (i64 140247191359136 to ptr)"
    text = f"%a = getelementptr inbounds i8, ptr {table}, i64 %v1\n%b = load ptr, ptr {table}"
    (number,) = without_addresses(text)[1]
    assert number & 0xFFF == 140247191359136 & 0xFFF
    assert number >> 12 != 140247191359136 >> 12


def test_an_offset_is_never_put_into_zero_bits_of_a_number():
    number = number_of(3, 0x7F0012345670)
    assert all(number & (16 << k) for k in range(17))  # else LLVM may write `or` for `+`
    assert (number + 2**21) >> 24 == number >> 24


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
def test_numbers_of_addresses_that_are_compared_are_in_their_order(order: tuple[int, ...]) -> None:
    places = [140247191359136 + 1088 * k for k in order]
    lines = [f"%{k} = icmp ne ptr %x, inttoptr (i64 {a} to ptr)" for k, a in enumerate(places)]
    for _ in range(2):  # alone, and beside one that is not compared
        _, addresses = without_addresses("\n".join(lines))
        numbers = {address: number for number, address in addresses.items()}
        assert sorted(places) == sorted(places, key=numbers.__getitem__)
        lines.insert(0, "load ptr, ptr inttoptr (i64 140247191351111 to ptr)")
    assert len(numbers) == 5
