"""Records: frozen data without compiled methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest

from ljit.records import Record, made_by


class Point(Record):
    x: int
    y: int = 7
    shared: ClassVar[int] = 1


class Named(Point):
    name: str = "origin"


class Place(Record, eq=True):
    x: int
    y: int = 7


class Counter(Record, frozen=False):
    count: int
    seen: list[int] = made_by(factory=list)
    rule: Callable[[int], int] = lambda x: -x


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


def test_fields_cannot_be_set_unless_the_class_says_so():
    made = Point(1)
    with pytest.raises(AttributeError, match=r"Point\.x cannot be set"):
        made.x = 2
    assert made.x == 1
    changing = Counter(2)
    changing.count = 3
    assert changing.count == 3


def test_a_default_may_be_a_function_and_is_no_method():
    assert Counter(1).rule(2) == -2


def test_a_default_may_be_made_for_each_instance():
    first, second = Counter(1), Counter(1)
    first.seen.append(1)
    assert (first.seen, second.seen) == ([1], [])


def test_records_compare_by_identity_unless_the_class_says_so():
    assert Point(1) != Point(1)
    assert len({Point(1), Point(1)}) == 2
    assert Place(1, y=7) == Place(1)
    assert Place(1) != Place(2)
    assert Place(1) != Point(1)
    assert len({Place(1), Place(1)}) == 1


def test_a_copy_with_other_fields_leaves_the_first_as_it_was():
    made = Place(1)
    assert made.with_changes(y=2) == Place(1, 2)
    assert made == Place(1)
    with pytest.raises(TypeError, match="Place has the fields x, y"):
        made.with_changes(z=2)


def test_records_match_by_place():
    match Place(1, 2):
        case Place(x, y):
            assert (x, y) == (1, 2)


def test_a_record_prints_its_fields():
    assert repr(Named(1)) == "Named(x=1, y=7, name='origin')"
