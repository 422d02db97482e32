"""The package list, the links and the guards that keep one copy of each module."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ljit

ROOT = Path(__file__).resolve().parent.parent
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLACES = {"ljit.passes": "passes", "ljit.codegen": "codegen"}


def test_every_folder_with_an_init_file_is_a_listed_package() -> None:
    found = {"ljit", *PLACES}
    for init in (ROOT / "ljit").rglob("__init__.py"):
        found.add(".".join(init.parent.relative_to(ROOT).parts))
    for package, place in PLACES.items():
        for init in (ROOT / place).rglob("__init__.py"):
            found.add(".".join((package, *init.parent.relative_to(ROOT / place).parts)))
    assert sorted(found) == sorted(CONFIG["tool"]["setuptools"]["packages"])


def test_every_listed_package_has_an_init_file() -> None:
    for package in CONFIG["tool"]["setuptools"]["packages"]:
        place = PLACES.get(package, package.replace(".", "/"))
        assert (ROOT / place / "__init__.py").is_file(), package


@pytest.mark.parametrize("package", sorted(PLACES))
def test_links_are_relative_and_lead_to_the_real_folder(package: str) -> None:
    link = ROOT / package.replace(".", "/")
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{PLACES[package]}"


@pytest.mark.parametrize("package", sorted(PLACES))
def test_importing_a_top_level_folder_says_the_right_name(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {PLACES[package]}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert f"import {package}" in done.stderr or f"{package}" in done.stderr.splitlines()[-1]


def test_version_is_the_same_everywhere() -> None:
    assert ljit.__version__ == CONFIG["project"]["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {ljit.__version__}" in changes


def test_package_says_that_it_is_typed() -> None:
    assert (ROOT / "ljit" / "py.typed").is_file()
    assert CONFIG["tool"]["setuptools"]["package-data"]["ljit"] == ["py.typed"]


def test_importing_ljit_does_not_load_llvmlite() -> None:
    code = "import sys, ljit; print('llvmlite' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_no_module_has_more_than_500_lines() -> None:
    sizes = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for folder in ("ljit", *PLACES.values(), "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert len(sizes) > 100
    assert {path: size for path, size in sizes.items() if size > 500} == {}
