"""Which modules a registry loads when it is asked for an op."""

import pytest

from ljit.ir import OpDef, Schema
from ljit.ir.registry import Fact, Registry


def registry_of(*names, index=()):
    """A registry whose modules declare the ops of these names; `index` names those with a line in the index."""
    made = Registry()

    def load_all():
        for name in names:
            made.loaded.setdefault(name, OpDef(name, Schema("()")))

    made.load_all = load_all
    made.index = lambda: SmallIndex(index)
    return made


class SmallIndex:
    """An index of ops that stand for a method of their name, in a module that does not declare them."""

    def __init__(self, names):
        self.names = names

    def modules(self):
        return dict.fromkeys(self.names, "math")

    def facts(self):
        return (Fact("methods", f"method of {name}", name) for name in self.names)


def test_an_op_that_the_index_lacks_is_found_among_all():
    assert registry_of("demo::new")["demo::new"].name == "demo::new"


def test_an_op_that_has_moved_since_the_index_was_made_is_found_among_all():
    assert registry_of("demo::moved", index=["demo::moved"])["demo::moved"].name == "demo::moved"


def test_a_name_of_no_op_is_in_no_registry():
    registry = registry_of("demo::other")
    assert "demo::none" not in registry
    with pytest.raises(KeyError):
        registry["demo::none"]


def test_what_ops_stand_for_is_asked_of_the_index_without_loading_them():
    registry = registry_of("demo::a", "demo::b", index=["demo::a"])
    registry.declare(OpDef("demo::c", Schema("()"), callables=(len,)))
    assert [*registry.facts()] == [
        ("callables", len, "demo::c"),
        ("methods", "method of demo::a", "demo::a"),
    ]
    assert list(registry.loaded) == ["demo::c"]


DECLARATION = "registry.declare(OpDef('demo::op', Schema('()')))"


def scope_of(registry, module):
    return {"registry": registry, "OpDef": OpDef, "Schema": Schema, "__name__": module}


def test_a_declaration_notes_its_module():
    registry = Registry()
    exec(DECLARATION, scope_of(registry, "demo"))
    assert registry.module_of("demo::op") == "demo"


def test_a_module_whose_import_was_interrupted_declares_its_ops_again():
    registry = Registry()
    with pytest.raises(KeyboardInterrupt):
        exec(f"{DECLARATION}\nraise KeyboardInterrupt", scope_of(registry, "demo"))
    first = registry["demo::op"]
    exec(DECLARATION, scope_of(registry, "demo"))
    assert registry["demo::op"] is not first


def test_a_name_is_declared_once():
    registry = Registry()
    with pytest.raises(AssertionError, match="declared twice"):
        exec(f"{DECLARATION}\n{DECLARATION}", scope_of(registry, "demo"))
    with pytest.raises(AssertionError, match="declared twice"):
        exec(DECLARATION, scope_of(registry, "other"))
