"""Profiles join types, count, and know constants."""

from __future__ import annotations

import copy
import gc
import math
import sys
import weakref

import numpy as np
import pytest

from ljit.held import held_kind
from ljit.profile import NO_CONSTANT, NativeInts, Observation, Profile, is_new
from ljit.types import ANY, FLOAT, INT, NEVER, NONE, UnionType, join
from ljit.value_types import type_of

VALUES = [
    (1, 2, 3),
    (1.5, 2.5),
    (1, 2.5, 3),
    (True, 1),
    (None, 1.5, None),
    (2**70, 1),
    (1, 2**70),
    ("a", "b"),
    ("a", 1),
    (np.float64(1), np.float64(2)),
    (np.float32(1), np.float64(2)),
    (np.zeros(3), np.zeros(5)),
    (np.zeros((3, 2)), np.zeros((3, 2)).T),
    (np.zeros(3), np.zeros(3, np.float32)),
    (np.zeros(3), np.zeros((3, 3))),
    ((1, 2.0), (2, 3.0)),
    ((1, 2), (1, 2, 3)),
    ([1, 2], [2.5]),
    ([], [1]),
    (range(3), range(2**65)),
    (slice(1, 2), slice(None)),
    (object(), object()),
    (math.sqrt, math.sqrt),
    (1, "a", 2.5, None),
]


@pytest.mark.parametrize("values", VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_the_observed_type_is_the_join_of_the_types(values):
    expected = NEVER
    for value in values:
        expected = join(expected, type_of(value))
    profile = Profile()
    for _ in range(3):
        for value in values:
            profile.record(7, value)
    assert profile.observed(7) == expected
    assert profile.observation(7).count == 3 * len(values)


def test_nodes_that_never_ran_are_unknown():
    profile = Profile()
    profile.record(1, 2.5)
    assert profile.observed(2) is None
    assert profile.observation(2) is None
    assert profile.observation(2) is None
    assert len(profile) == 1


def test_a_new_type_after_many_equal_ones_is_seen():
    profile = Profile()
    for _ in range(100):
        profile.record(1, 0)
    assert profile.observed(1) == INT
    profile.record(1, 0.5)
    assert profile.observed(1) == UnionType((FLOAT, INT))
    for _ in range(3):
        profile.record(1, 2**64)
    assert profile.observed(1) == ANY
    profile.record(1, 1)
    assert profile.observed(1) == ANY


def test_arrays_whose_layout_changes_are_looked_at_again():
    profile = Profile()
    a = np.zeros((4, 4))
    profile.record(1, a)
    assert str(profile.observed(1)) == "Float64(*, *)"
    profile.record(1, a[::2])
    assert str(profile.observed(1)) == "Float64(*, *, strided)"
    a.flags.writeable = False
    profile.record(1, a)
    assert str(profile.observed(1)) == "Float64(*, *, strided, readonly)"


def test_the_same_object_each_time_is_a_constant():
    profile = Profile()
    for _ in range(3):
        profile.record(1, math)
        profile.record(2, math.sin)
        profile.record(3, 1000000)
    assert profile.observation(1).constant is math
    assert profile.observation(2).constant is math.sin
    assert profile.observation(3).constant == 1000000


@pytest.mark.parametrize(
    ("first", "second"),
    [(math.sin, math.cos), (1, 2), (1, 1.0), (True, 1), (None, 0), (1.5, 2.5), ("a", "b")],
)
def test_differing_objects_are_no_constant(first, second):
    for values in ((first, second), (first, first, second), (first, second, first)):
        profile = Profile()
        for value in values:
            profile.record(1, value)
        assert profile.observation(1).constant is NO_CONSTANT


def test_none_is_remembered_even_where_the_join_is_any():
    profile = Profile()
    for value in ("text", None, 1):
        profile.record(1, value)
    assert profile.observed(1) == ANY
    assert profile.observation(1).saw_none
    profile.record(2, None)
    assert profile.observed(2) == NONE
    assert profile.observation(2).constant is None


def test_a_profile_keeps_no_user_data_alive():
    class Thing:
        pass

    profile = Profile()
    thing, array = Thing(), np.zeros(3)
    alive = [weakref.ref(thing), weakref.ref(array)]
    for value in (thing, array, [thing], (array,)):
        profile.record(1, value)
        profile.record(id(value), value)
    del thing, array, value
    gc.collect()
    assert [ref() for ref in alive] == [None, None]


def test_the_text_has_a_line_for_each_node():
    profile = Profile()
    profile.record(3, 2.5)
    profile.record(3, 2)
    profile.record(1, math)
    assert str(profile).splitlines() == [
        f"1: {type_of(math)} (1 times, always {math!r:.60})",
        "3: Union[float, int] (2 times)",
    ]


def test_clearing_forgets_all():
    profile = Profile()
    profile.record(1, 5)
    profile.clear()
    assert len(profile) == 0


def test_of_many_containers_only_some_are_looked_into():
    profile = Profile()
    for i in range(2000):
        profile.record(1, [0.5, i] if i > 500 else [0.5])
    assert profile.observed(1) == type_of([0.5, 1])
    seen: list[object] = []

    class Counted(float):
        pass

    for i in range(100):
        profile.record(2, [0.5] if i % 16 else [Counted()])
        seen.append(profile.observed(2))
    assert seen[99] == type_of([0.5, Counted()])


@pytest.mark.parametrize("value", [(1, [0.5]), [0.5], range(9), slice(1, [])])
def test_of_containers_a_run_asks_for_no_more_than_some(value):
    profile = Profile()
    answers = [profile.record(1, copy.deepcopy(value)) for _ in range(100)]
    assert answers == [None] * 64 + [type(value)] * 36
    assert profile.observed(1) == type_of(value)


def test_arrays_are_asked_for_each_time_and_ints_if_they_are_long():
    profile = Profile()
    for i in range(100):
        assert profile.record(1, np.ones(2)) is None
    answers = [profile.record(2, x) for x in (1000, 1000, 1001, 2**63 - 1, 2**63, 5)]
    of_ints = answers[2]
    assert isinstance(of_ints, NativeInts)
    assert answers == [1000, 1000, of_ints, of_ints, None, None]
    assert profile.observed(2) == join(INT, type_of(2**63))


def test_of_ints_that_are_not_long_a_run_looks_at_no_more_than_some():
    profile = Profile()
    profile.record(1, 1000)
    settled = profile.record(1, 1001)
    assert is_new(2**63, settled) and is_new(-(2**63) - 1, settled) and is_new(0.5, settled)
    assert [is_new(x, settled) for x in range(65)] == [False] * 64 + [True]
    assert profile.record(1, 1002) is int
    assert profile.record(1, 2**63) is None


def test_a_profile_may_be_written_to_while_it_is_read():
    profile, seen = Profile(), Profile()
    seen.record(0, np.ones(70_000))

    class Seen:
        """Another thread sees something new whenever it is looked at."""

        def __getattr__(self, name):
            profile.record(len(profile), 1)
            return getattr(seen.observation(0), name)

    profile._observations.update({0: Seen(), 1: Seen()})
    assert list(profile.summary()) == [0, 1]
    assert profile.elements == 70_000
    assert not profile.has_sizes
    assert profile.has_arrays
    assert len(profile) > 10


class Bag(list):
    """A list that can be referred to weakly."""


def test_a_bound_method_of_c_code_does_not_keep_its_object():
    bag, profile = Bag(), Profile()
    assert profile.record(1, bag.append) is None
    assert profile.observation(1).summary_of_kinds()
    gone = weakref.ref(bag)
    del bag
    assert gone() is None
    (kind,) = profile.observation(1).kinds
    assert kind.function is None
    profile.record(1, Bag().append)
    assert profile.observation(1).kinds is None


def test_a_bound_method_that_the_program_holds_is_known():
    held, profile = Bag().append, Profile()
    for _ in range(3):
        profile.record(1, held)
    (kind,) = profile.observation(1).kinds
    assert kind.function is held


@pytest.mark.parametrize("size", [10, 100])
def test_a_profile_does_not_keep_texts(size):
    text, profile = b"x" * size, Profile()
    before = sys.getrefcount(text)
    for _ in range(size):
        profile.record(1, text)
    assert sys.getrefcount(text) == before


def test_another_thread_may_see_other_callables_meanwhile(monkeypatch):
    """It has seen too many kinds after this one has looked whether there are some."""
    observation = Observation()
    observation.see(math.sqrt)

    def kind_seen_at_once(value):
        observation.kinds = None
        return held_kind(value)

    monkeypatch.setattr("ljit.profile.held_kind", kind_seen_at_once)
    observation.see(math.sin)
    assert observation.type == type_of(math.sin)


def test_a_summary_may_be_made_while_another_thread_sees_callables():
    class Seen(Observation):
        looks = iter([(), None, None])
        kinds = property(lambda self: next(self.looks), lambda self, _: None)

    assert Seen().summary_of_kinds() == ()
