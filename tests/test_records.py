"""Records: frozen data without compiled methods."""

from __future__ import annotations

from typing import ClassVar

import pytest

from ljit.records import Record


class Point(Record):
    x: int
    y: int = 7
    shared: ClassVar[int] = 1


class Named(Point):
    name: str = "origin"


def test_fields_are_given_by_place_by_name_or_by_default():
    made = Named(1, name="p")
    assert (made.x, made.y, made.name) == (1, 7, "p")
    assert Named.fields_of_record == {"x": "int", "y": "int", "name": "str"}


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((1,), {"shared": 2})],
)
def test_missing_doubled_and_unknown_fields_are_refused(values, named):
    with pytest.raises(TypeError, match="Point has the fields x, y"):
        Point(*values, **named)


def test_fields_cannot_be_set():
    made = Point(1)
    with pytest.raises(AttributeError, match=r"Point\.x cannot be set"):
        made.x = 2
    assert made.x == 1


def test_records_compare_by_identity():
    assert Point(1) != Point(1)
    assert len({Point(1), Point(1)}) == 2


def test_a_record_prints_its_fields():
    assert repr(Named(1)) == "Named(x=1, y=7, name='origin')"
