"""Effects are sets of bits, of which each is one object."""

from __future__ import annotations

from ljit.ir import Effect


def test_equal_sets_are_one_object():
    both = Effect.READ | Effect.CALL
    assert both is Effect.CALL | Effect.READ | Effect.PURE
    assert both.without(Effect.READ) is Effect.CALL
    assert both.without(both) is Effect.PURE
    assert both & Effect.READ
    assert not both & Effect.WRITE


def test_a_set_names_its_members():
    assert (Effect.READ | Effect.CALL).names == ("READ", "CALL")
    assert Effect.PURE.names == ()
    assert repr(Effect.RAISE | Effect.EXIT) == "Effect.RAISE|Effect.EXIT"
    assert repr(Effect.PURE) == "Effect.PURE"


def test_only_what_has_no_lasting_effects_is_dropped_or_repeated():
    facts = {e: (e.is_removable, e.is_repeatable) for e in map(Effect, range(64))}
    assert [e.names for e, (removable, _) in facts.items() if removable] == [
        (),
        ("READ",),
        ("ALLOC",),
        ("READ", "ALLOC"),
    ]
    done_once = Effect.WRITE | Effect.CALL
    assert all(repeatable == (not e & done_once) for e, (_, repeatable) in facts.items())


def test_members_are_plain_attributes():
    """Passes read them a thousand times a compile; a metaclass, as that of `enum`, would make each take fifty times as long."""
    assert type(Effect) is type
    assert vars(Effect)["CALL"] is Effect.CALL
