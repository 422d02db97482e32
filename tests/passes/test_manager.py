"""Pipelines, checks, limits and logs of the pass manager."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import ljit.ops  # noqa: F401
from ljit import config
from ljit.errors import InputError, InternalError, VerifyError
from ljit.ir import parse
from ljit.passes import PASSES, PassManager, run_passes
from ljit.passes import manager as manager_module
from ljit.passes.manager import NAMES, find_pass, graph_pass

TEXT = """\
graph():
  %0 : int = prim::Constant[value=1]()
  %1 : int = py::add(%0, %0)
  %2 : int = py::mul(%1, %1)
  return (%2)
"""


@pytest.fixture
def broken(monkeypatch):
    """Passes that say and do wrong things."""

    def says_nothing(graph):
        graph.block.first.attrs["value"] = 2
        return False

    def says_too_much(graph):
        return True

    def breaks(graph):
        graph.block.terminator.erase()
        return True

    for function in (says_nothing, says_too_much, breaks):
        monkeypatch.setitem(PASSES, function.__name__, function)


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_is_in_the_module_of_its_name(name):
    assert find_pass(name).__module__ == f"ljit.passes.{name}"


def test_a_pipeline_runs_its_passes_in_order():
    graph = parse(TEXT)
    manager = PassManager("constant_propagation, eliminate_dead_code")
    assert manager.run(graph)
    assert [run.name for run in manager.runs] == ["constant_propagation", "eliminate_dead_code"]
    assert all(run.changed and run.seconds >= 0 for run in manager.runs)
    assert str(graph).count("\n") == 3


def test_a_starred_group_runs_until_nothing_changes():
    graph = parse(TEXT)
    manager = PassManager("(constant_propagation,eliminate_dead_code)*,constant_pooling")
    assert manager.run(graph)
    assert [run.changed for run in manager.runs] == [True, True, False, False]
    names = [run.name for run in manager.runs]  # dead code: nothing has changed since it ran
    assert names.count("eliminate_dead_code") == 1
    assert not manager.run(graph)


@pytest.mark.parametrize("text", ["nothing", "(inline", "inline)*", "inline,(unknown)*", "inline;"])
def test_a_pipeline_that_does_not_read_is_an_input_error(text):
    with pytest.raises(InputError, match="pipeline"):
        PassManager(text)


def test_options_go_to_the_passes_that_have_parameters_for_them(monkeypatch):
    seen = []
    monkeypatch.setitem(PASSES, "takes_x", lambda graph, *, x=0: bool(seen.append(x)))
    monkeypatch.setitem(PASSES, "takes_both", lambda graph, x=0, y=0: bool(seen.append((x, y))))
    monkeypatch.setitem(PASSES, "takes_none", lambda graph: bool(seen.append(None)))
    run_passes(parse(TEXT), "takes_x,takes_both,takes_none", x=1, z=3)
    assert seen == [1, (1, 0), None]


def test_with_checks_a_pass_that_breaks_the_graph_is_named(broken):
    with (
        config.overridden(check=config.CHECK_PASSES),
        pytest.raises(VerifyError, match="after the pass breaks"),
    ):
        run_passes(parse(TEXT), "breaks")


@pytest.mark.parametrize("name", ["says_nothing", "says_too_much"])
def test_with_checks_a_wrong_report_of_change_is_an_error(broken, name):
    with config.overridden(check=config.CHECK_PASSES), pytest.raises(InternalError, match=name):
        run_passes(parse(TEXT), name)


def test_without_checks_nothing_is_verified(broken):
    with config.overridden(check=config.CHECK_NOTHING):
        assert run_passes(parse(TEXT), "breaks")


@pytest.mark.parametrize(("limit", "left"), [(0, ["add", "mul"]), (1, ["mul"]), (2, [])])
def test_a_limit_stops_after_so_many_rewrites(limit, left):
    graph = parse(TEXT)
    manager_module.reset_limits()
    with config.overridden(opt_limits={"constant_propagation": limit}):
        run_passes(graph, "constant_propagation")
    assert [name for name in ("add", "mul") if f"py::{name}" in str(graph)] == left


def test_stop_after_counts_runs_of_passes_in_the_process():
    manager_module.reset_limits()
    graph = parse(TEXT)
    with config.overridden(stop_after=1):
        run_passes(graph, "constant_pooling,constant_propagation")
        run_passes(graph, "constant_propagation")
    assert "py::add" in str(graph)
    manager_module.reset_limits()
    with config.overridden(stop_after=2):
        run_passes(graph, "constant_pooling,constant_propagation")
    assert "py::add" not in str(graph)


def test_the_log_of_a_pass_has_the_graph_behind_its_head(capsys):
    with config.overridden(log_levels=config.parse_log_levels("constant_propagation")):
        run_passes(parse(TEXT), "constant_propagation,eliminate_dead_code")
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert {line.split("]")[0] for line in lines} == {"[DUMP constant_propagation"}
    assert any("prim::Constant[value=4]" in line for line in lines)


def test_update_level_shows_each_rewrite_and_the_graph_before(capsys):
    with config.overridden(log_levels=config.parse_log_levels(">constant_propagation")):
        run_passes(parse(TEXT), "constant_propagation")
    text = capsys.readouterr().err
    assert "[UPDATE constant_propagation] before:" in text
    assert text.count("rewrites") == 2


def test_a_log_that_is_off_makes_no_text():
    class Loud:
        def __str__(self):
            raise AssertionError

    log = config.logger("some_component")
    log.dump(Loud())
    with config.overridden(log_levels={"some_component": config.DUMP}):
        log.update(Loud())
        log.debug(Loud())
        with pytest.raises(AssertionError):
            log.dump(Loud())
    log.dump(Loud())


def test_levels_are_read_from_the_environments_text():
    settings = config.Settings.from_environment(
        {
            "LJIT_LOG_LEVEL": "a:>b:>>c:>>>d",
            "LJIT_OPT_LIMIT": "fuse=3,inline=0:dce=7",
            "LJIT_STOP_AFTER": "17",
            "LJIT_CHECK": "1",
            "LJIT": "0",
        }
    )
    assert settings.log_levels == {"a": 0, "b": 1, "c": 2, "d": 2}
    assert settings.opt_limits == {"fuse": 3, "inline": 0, "dce": 7}
    assert (settings.stop_after, settings.check, settings.enabled) == (17, config.CHECK_ENDS, False)


@pytest.mark.parametrize(
    ("text", "level"), [("", 0), (" ", 0), ("0", 0), ("1", 1), (" 2 ", 2), ("9", 2)]
)
def test_checks_have_a_level(text, level):
    assert config.Settings.from_environment({"LJIT_CHECK": text}).check == level


def test_an_empty_environment_gives_the_defaults():
    assert config.Settings.from_environment({}) == config.Settings()


def test_a_malformed_setting_is_warned_about_and_left_out():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        settings = config.Settings.from_environment(
            {
                "LJIT_OPT_LIMIT": "fuse=many",
                "LJIT_STOP_AFTER": "-1",
                "LJIT_COLD_CALLS": "off",
                "LJIT_CHECK": "yes",
            }
        )
    assert settings == config.Settings()
    assert [w.category for w in caught] == [RuntimeWarning] * 4


def test_a_variable_that_ljit_does_not_have_is_named():
    with pytest.warns(RuntimeWarning, match="LJIT_QUICKRUNS: ljit has no such variable") as caught:
        config.Settings.from_environment({"LJIT_QUICKRUNS": "0", "HOME": "/"})
    assert len(caught) == 1
    assert "ljit" not in caught[0].filename  # no line of ljit is at fault


def test_variables_are_those_of_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "debugging.md").read_text()
    assert {*re.findall(r"^\| `(LJIT_\w+)=", text, re.MULTILINE)} == config.VARIABLES


UNREADABLE = """
import ljit

@ljit.jit
def total(n):
    result = 0
    for i in range(n):
        result += i
    return result

assert [total(5) for _ in range(4)] == [10] * 4
assert "internal error" not in total.explain()
"""
GIVEN = {"LJIT_COLD_CALLS": "0", "LJIT_STOP_AFTER": "no", "LJIT_LOG_LEVEL": ">>fusee:>inline"}


@pytest.mark.parametrize("closed", ["", "2>&-"], ids=["open", "closed"])
def test_a_setting_that_cannot_be_read_stops_no_program(tmp_path, closed):
    """Not where warnings are errors, nor where stderr is closed."""
    (tmp_path / "program.py").write_text(UNREADABLE)
    command = f'"{sys.executable}" -W error "{tmp_path}/program.py" {closed}'
    environment = {**os.environ, **GIVEN}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("RuntimeWarning: LJIT_")]
    assert len(told) == (0 if closed else 2)


@pytest.mark.parametrize("variable", ["LJIT", "LJIT_FULL_TRACEBACK", "LJIT_PROFILED_SIZES"])
def test_a_switch_is_0_or_1(variable):
    field = {"LJIT": "enabled"}.get(variable, variable.removeprefix("LJIT_").lower())
    read = config.Settings.from_environment
    default = getattr(config.Settings(), field)
    assert getattr(read({variable: "0"}), field) is False
    assert getattr(read({variable: "1"}), field) is True
    assert getattr(read({variable: ""}), field) is default
    with pytest.warns(RuntimeWarning, match=f"{variable}: 'no' is neither 0 nor 1; ignored"):
        assert getattr(read({variable: "no"}), field) is default


def test_names_that_nothing_has_are_warned_about():
    given = {"LJIT_OPT_LIMIT": "fusee=3,fuse=3", "LJIT_LOG_LEVEL": ">inlin:profiling_executor:fuse"}
    with (
        config.overridden(**vars(config.Settings.from_environment(given))),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        config.warn_of_unknown(NAMES)
    first, second = (str(w.message) for w in caught)
    assert first.startswith("LJIT_OPT_LIMIT: there is no 'fusee'")
    assert second.startswith("LJIT_LOG_LEVEL: there is no 'inlin'")


def test_a_pass_whose_module_was_interrupted_is_loaded_again(monkeypatch):
    name, module = "fuse_rows", "ljit.passes.fuse_rows"
    monkeypatch.setitem(PASSES, name, find_pass(name))
    complete = sys.modules[module]
    monkeypatch.delitem(sys.modules, module)  # as an import does that ends with an exception
    assert find_pass(name) is sys.modules[module].fuse_rows
    assert sys.modules[module] is not complete


def test_a_name_of_a_pass_belongs_to_one_module():
    def fuse(graph):
        return False

    find_pass("fuse")
    with pytest.raises(AssertionError, match="pass fuse is declared twice"):
        graph_pass("fuse")(fuse)
