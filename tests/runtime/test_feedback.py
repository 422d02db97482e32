"""What plans learn of variables that change."""

from __future__ import annotations

from ljit.runtime.feedback import PlanFeedback


def test_changes_of_global_variables_are_known_to_other_functions_of_the_module():
    variables = {"a": object(), "b": object()}
    first, second = PlanFeedback(), PlanFeedback()
    first.see_changes(["a"], variables)
    second.see_changes(["a"], variables)  # the same change
    other = PlanFeedback()
    other.know_changes(["a", "b"], variables)
    assert not other.is_unstable("a")
    variables["a"] = object()
    second.see_changes(["a"], variables)
    other.know_changes(["a", "b"], variables)
    assert other.is_unstable("a")
    assert not other.is_unstable("b")
    without = PlanFeedback()
    without.know_changes(["b"], variables)
    without.know_changes(["a"], {"a": 1})
    assert not without.is_unstable("a")
