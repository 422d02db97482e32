"""Calls of native code by native code, without objects in between: `prim::call_native`.

As what another function is called, `link_to` says (the executor of that function, in the end). For a call of the
function by itself: its native code gives back what its returns have in common; that type is needed where it
calls itself. It is found by a fixpoint: specialise with what was observed (or with nothing: then a call of itself
does not come back), look at the returns, and begin again with their type if they do not have the expected one.
Likewise for the question whether unknown code runs in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType

from ljit.analysis.assumptions import python_function
from ljit.analysis.signatures import NativeLink, Signature, native_result
from ljit.held import MadeFunctions
from ljit.ir import Effect, Graph, Node
from ljit.ops.control import PROFILE, RETURN
from ljit.ops.members import refuse_result
from ljit.passes.observations import Observations
from ljit.types import ANY, NEVER, NONE, Type, join

__all__ = ["MAX_WALKS", "LinkTo", "NativeCalls", "no_link", "profile_of", "result_of"]

MAX_WALKS = 5  # specialisations of one function until its result type must be settled

#: gives the link to a callee that is called with the types, whose result was seen to be of a type (or Never)
LinkTo = Callable[[object, tuple[Type, ...], Type], NativeLink | None]


def no_link(_callee: object, _types: tuple[Type, ...], _seen: Type) -> NativeLink | None:
    return None


class NativeCalls:
    """The native calls of a function, and what is taken for granted about its own native code."""

    def __init__(
        self, function: FunctionType | None, params: Sequence[Type], link_to: LinkTo = no_link
    ) -> None:
        self.function = function  # None: a call of it is one of another unit
        self.link_to = link_to
        self.lacks_profiles = False  # of results of operators on objects of users' classes
        self.has_given_up = False
        self.params = tuple(params)
        self.result: Type | None = None  # not known yet
        self.is_clean = True
        self.is_used = False
        self.is_learnt = False  # the result type is that of returns

    def call(
        self, node: Node, callee: object, types_: tuple[Type, ...], seen: Observations
    ) -> Mapping[str, object] | None:
        """Give the attributes of the native call that a call is, with arguments of the types; None: it is none.

        A result Never: no call was seen to come back so far.
        """
        function = python_function(callee)
        if function is None and type(callee) is not MadeFunctions:
            return None
        if function is self.function is not None and Signature(self.params, NEVER).takes(types_):
            return self._call_itself(node, seen)
        link = self.link_to(callee, types_, native_result(_observed(node, seen)))
        if link is None:
            return None
        return {"callee": link, "result": link.signature.result, "is_clean": link.is_clean}

    def init(self, function: object, types_: tuple[Type, ...]) -> Mapping[str, object] | None:
        """Give the attributes of the native call that one of an ``__init__`` is; None: it is none."""
        if python_function(function) is self.function:
            return None
        link = self.link_to(function, types_, NONE)
        if link is None or link.signature.result != NONE:
            return None
        return {"callee": link, "result": NONE, "is_clean": False, "check": refuse_result}

    def _call_itself(self, node: Node, seen: Observations) -> Mapping[str, object] | None:
        if self.has_given_up:
            return None
        if self.result is None:
            self.result = native_result(_observed(node, seen))
        self.is_used = True
        # Of an object nobody can tell whether the callee has left native code.
        is_clean = self.is_clean and not self.result.is_boxed
        return {"callee": None, "result": self.result, "is_clean": is_clean}

    def are_right(self, graph: Graph) -> bool:
        """Whether the finished graph is as was taken for granted; else learn from it."""
        if not self.is_used:
            return True
        assert self.result is not None
        found = result_of(graph)
        is_clean = not any(n.op.effects_of(n) & Effect.CALL for n in graph.walk())
        wanted = native_result(join(self.result, found))
        if wanted == NEVER:  # no call of it comes back
            self.give_up()
            return False
        if wanted == self.result and is_clean >= self.is_clean:
            return True
        self.result = wanted if self.is_learnt else native_result(found)
        self.is_learnt, self.is_clean, self.is_used = True, self.is_clean and is_clean, False
        return False

    def give_up(self) -> None:
        """Specialise without native calls of itself."""
        self.has_given_up, self.is_used = True, False


def result_of(graph: Graph) -> Type:
    """The join of the types that a graph returns; Never if no return was reached so far."""
    result: Type = NEVER
    for node in graph.walk():
        if node.op is RETURN:
            result = join(result, node.inputs[0].type)
    return result


def _observed(call: Node, seen: Observations) -> Type:
    """The type of the call's result in profiled runs, Never if there was none; a guess if nobody looked."""
    profile = profile_of(call)
    if profile is not None:
        return seen.observed(profile.id) or NEVER
    is_used = any(value.uses for value in call.outputs)
    usual = call.op.special.result if call.op.special is not None else None
    return usual or (ANY if is_used else NONE)


def profile_of(call: Node) -> Node | None:
    """The node that watches the call's result."""
    uses = (use for value in call.outputs for use in value.uses)
    return next((user for user, _ in uses if user.op is PROFILE), None)
