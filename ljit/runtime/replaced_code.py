"""Functions that are translated anew: their `__code__` is replaced, as tools that reload modules do it.

Or more of what they do is to be watched, or functions are known that they call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ljit.runtime.executor import ProfilingExecutor

__all__ = ["up_to_date"]


def up_to_date(executor: ProfilingExecutor) -> ProfilingExecutor:
    """The executor, or a new one in its place if the function, or one that it has inlined, has got other code.

    Calls that are running go on with what they have begun.
    """
    if not executor.is_outdated:
        return executor
    with executor.lock:
        calls = executor.owner._calls  # type: ignore[attr-defined]
        if calls.executor is executor:
            for plan in list(executor.plans.values()):
                executor.refuse(plan, "it was translated anew")
            calls.executor = type(executor)(executor.fn, executor.options, executor.owner, executor)
            _go_on(executor, calls.executor)
            calls.executor.link_if_loaded()
        renewed: ProfilingExecutor = calls.executor
        return renewed


def _go_on(executor: ProfilingExecutor, renewed: ProfilingExecutor) -> None:
    """Let what was spent on calls of the same code count for the next translation, too."""
    if not executor.callees.are_lacking:
        return
    renewed.cold = executor.cold
    for plan in list(executor.plans.values()):
        follower = renewed.table.plan_of(plan.types)
        if follower is not None:
            follower.seconds = plan.seconds
            follower.feedback.is_hot = plan.feedback.is_hot
