"""Build a wheel, install it into a new environment and run one function there.

The environment sees NumPy and llvmlite of the running one through links, so nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import numpy as np
import ljit
assert "site-packages" in ljit.__file__, ljit.__file__

@ljit.jit
def total(values, limit):
    s = 0.0
    for i in range(values.size):
        if values[i] > limit:
            break
        s += values[i]
    return s

values = np.arange(100.0)
for _ in range(3):
    result = total(values, 10.0)
    assert result == 55.0 and type(result) is np.float64, result
import ljit.passes, ljit.codegen
print("wheel: one function ran on ljit", ljit.__version__)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = build_wheel(place)
        python = make_environment(place / "env")
        run(
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            str(wheel),
        )
        script = place / "program.py"
        script.write_text(PROGRAM)
        subprocess.run([python, "-I", script], check=True, cwd=place)


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True)


def build_wheel(place: Path) -> Path:
    """Build from a copy, so that no build folder is left in the tree."""
    copy = place / "source"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "tests")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=ignored)
    run(
        "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(place), str(copy)
    )
    (wheel,) = place.glob("*.whl")
    return wheel


def make_environment(env: Path) -> Path:
    venv.create(env, with_pip=False, symlinks=True)
    (site,) = env.glob("lib/python*/site-packages")
    for name in ("numpy", "llvmlite"):
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        package = Path(spec.origin).parent
        for found in (package, package.with_name(f"{name}.libs")):
            if found.exists():
                (site / found.name).symlink_to(found)
    return env / "bin" / "python"


if __name__ == "__main__":
    main()
