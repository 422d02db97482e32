"""What a plan has learnt: observed types, failed guards, variables that change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ljit.analysis.branch_histories import BranchHistories
from ljit.ops.python.types import NO_ATTRIBUTE, is_users_object, own_attribute
from ljit.profile import Observation, Profile
from ljit.records import Record, made_by
from ljit.sizes import MANY
from ljit.types import INT_MAX, INT_MIN, UINT_MAX, Type

__all__ = ["PlanFeedback"]


CHANGES_OF_UNSTABLE = 2  # changes of a global variable after which it is no longer a constant


class _Changes(Record, frozen=False):
    """How often the global variables of a module changed under native code, and what they were then."""

    times: Counter[str] = made_by(factory=Counter)
    last: dict[str, int] = made_by(factory=dict)  # the values' ids


#: by the ids of the dictionaries, which live as long as their functions: who takes another one's place is one compile
_changes_of: dict[int, _Changes] = {}


class PlanFeedback(Record, frozen=False):
    """The `Feedback` that the specialiser reads, filled by the interpreter and by bailouts."""

    profile: Profile = made_by(factory=Profile)
    widened: set[int] = made_by(factory=set)
    #: nodes that read items of other types than expected, or may have
    other_items: set[int] = made_by(factory=set)
    met_items: set[int] = made_by(factory=set)  # those that did
    no_uints: set[int] = made_by(factory=set)  # nodes with ints outside of [0, 2**64)
    negatives: set[int] = made_by(
        factory=set
    )  # nodes that gave negative ints while they were watched
    failed_tests: set[int] = made_by(factory=set)  # nodes whose test in front of a loop failed
    changes: Counter[str] = made_by(factory=Counter)
    with_sizes: bool = False  # of small arrays
    broadcasts: bool = False  # arrays of one element along an axis of unknown size were seen
    single_rows: bool = False  # rows that are combined, or with each other, had one element
    is_hot: bool = False  # there is so much to run that optimising pays
    fastmath: bool = False  # floats are not always computed as the program says
    #: how branches went in the interpreter and in quick code
    branches: list[BranchHistories] = made_by(factory=list)
    elements_passed: int = 0  # of the largest array among the arguments, or that is searched for

    @property
    def elements(self) -> int:
        """How many elements the largest array had."""
        return max(self.elements_passed, self.profile.elements)

    def add_branches(self, histories: BranchHistories) -> None:
        """Have optimised code know how branches went, from now on too."""
        if histories not in self.branches:
            self.branches.append(histories)

    def erratic_branches(self) -> set[int]:
        """Origins of branches that go either way."""
        return set().union(*(each.erratic() for each in self.branches))

    def steady_branches(self) -> dict[int, bool]:
        """Origins of branches that nearly always go one way, and which."""
        found = set().union(*(each.steady() for each in self.branches))
        return {origin: usual for origin, usual in found if (origin, not usual) not in found}

    def observed(self, node_id: int) -> Type | None:
        return self.profile.observed(node_id, with_sizes=self.with_sizes)

    def observation(self, node_id: int) -> Observation | None:
        return self.profile.observation(node_id)

    def held(self, node_id: int) -> Observation | None:
        return self.profile.held(node_id)

    def see_method(self, node_id: int, receiver: object, name: str) -> None:
        """Learn what a `py::call_method` calls: what the object itself has, or a method of a user's class."""
        found = own_attribute(receiver, name)
        if found is not NO_ATTRIBUTE:
            self.profile.record_held(node_id, found)
        elif is_users_object(receiver):
            self.profile.record_receiver(node_id, receiver, name)

    def is_widened(self, node_id: int) -> bool:
        return node_id in self.widened

    def was_no_uint(self, node_id: int) -> bool:
        return node_id in self.no_uints

    def was_negative(self, node_id: int) -> bool:
        return node_id in self.negatives

    def see_long_int(self, node_id: int, value: int) -> None:
        """Learn of an int that a node gave while it was watched: negative, or beyond int64."""
        if value < 0:
            self.negatives.add(node_id)
        if not INT_MIN <= value <= INT_MAX:
            self.widened.add(node_id)
        is_signed = node_id in self.negatives and node_id in self.widened
        if is_signed or value > UINT_MAX:
            self.no_uints.add(node_id)

    def had_other_items(self, node_id: int) -> bool:
        return node_id in self.other_items

    def see_changes(self, names: Iterable[str], variables: Mapping[str, object]) -> None:
        """Note that some variables are not what native code took them for; global ones concern other functions, too."""
        shared = _changes_of.setdefault(id(variables), _Changes())
        for name in names:
            self.changes[name] += 1
            now = id(variables.get(name))
            if shared.last.get(name) != now:
                shared.last[name] = now
                shared.times[name] += 1

    def know_changes(self, names: Iterable[str], variables: Mapping[str, object]) -> None:
        """Take over what code of other functions has met, before the first compile."""
        shared = _changes_of.get(id(variables))
        if shared is not None:
            self.changes |= Counter({name: shared.times[name] for name in names})

    def summary(self) -> object:
        """What is known of the program, to compare with what will be known later."""
        nodes = (
            frozenset(s) for s in (self.widened, self.other_items, self.no_uints, self.failed_tests)
        )
        learnt = (*nodes, frozenset(self.negatives), dict(self.changes))
        layout = self.broadcasts, self.single_rows
        return self.profile.summary(), learnt, layout, self.elements >= MANY

    def is_unstable(self, name: str) -> bool:
        return self.changes[name] >= CHANGES_OF_UNSTABLE
