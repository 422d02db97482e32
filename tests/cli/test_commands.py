"""The commands of ``python -m ljit``."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import ljit
from ljit.__main__ import main
from ljit.cli import ops
from ljit.cli.chart import draw_speedups
from ljit.cli.demo import agree
from ljit.cli.png import Canvas, write_png
from ljit.ir import REGISTRY, OpDef, Schema
from ljit.ops.index import text_of


def read_png(path: Path) -> np.ndarray:
    """Decode what write_png writes: RGB, 8 bits, filter type 0."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    position, chunks = 8, {}
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        kind = data[position + 4 : position + 8]
        body = data[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, position + 8 + length)
        assert checksum == zlib.crc32(kind + body)
        chunks[kind] = body
        position += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert form == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_a_written_picture_reads_back(tmp_path: Path) -> None:
    pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    write_png(tmp_path / "a.png", pixels)
    assert np.array_equal(read_png(tmp_path / "a.png"), pixels)


def test_text_and_rectangles_that_leave_the_canvas_are_cut_off() -> None:
    canvas = Canvas(20, 10)
    canvas.rectangle(-5, -5, 8, 8, (1, 2, 3))
    canvas.text(10, 2, "XYZ")
    assert tuple(canvas.pixels[0, 0]) == (1, 2, 3)
    assert tuple(canvas.pixels[9, 0]) == (255, 255, 255)
    assert (canvas.pixels[:, 10:] == 40).any()


def test_longer_bars_for_larger_speedups(tmp_path: Path) -> None:
    draw_speedups(tmp_path / "s.png", "title", [("slow", 2.0), ("fast", 200.0)])
    blue = (read_png(tmp_path / "s.png") == (52, 106, 179)).all(axis=2)
    slow, fast = blue[60:100].any(axis=0).sum(), blue[100:140].any(axis=0).sum()
    assert fast > 5 * slow > 0


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "verdict"),
    [
        (1.0, 1.0, 0.0, True),
        (1, 1.0, 0.0, False),
        ((1, 2), (1, 3), 0.0, False),
        (np.ones(2), np.ones(2, dtype=np.float32), 1e-3, False),
        (np.ones(2), np.ones(2) + 1e-14, 0.0, False),
        (np.ones(2), np.ones(2) + 1e-14, 1e-12, True),
    ],
)
def test_demonstration_compares_class_and_bits(expected, actual, tolerance, verdict) -> None:
    assert agree(expected, actual, tolerance) is verdict


def test_ops_lists_all_ops(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in REGISTRY)


def test_ops_describes_one_op(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "py::add"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("py::add(")
    assert "on NumPy:" in text


def test_the_page_of_ops_has_families_that_nothing_is_said_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ops, "_FAMILIES", {"prim": "Structure."})
    assert "## cmath\n" in ops.markdown()
    assert "`cmath::phase(" in ops.markdown()


def test_an_index_without_the_module_of_a_function_is_not_written() -> None:
    op = OpDef("demo::read_png", Schema("(path)"), "Read.", infer=None, callables=(read_png,))
    with pytest.raises(LookupError, match=r"read_png.*ljit/ops/index\.py"):
        text_of({op: "ljit.ops.demo"})


def test_ops_fails_for_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "no such op"]) == 1
    assert "no such op" in capsys.readouterr().err


def test_info_names_versions_and_processor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert np.__version__ in text
    assert "LLVM" in text


SOURCE = """
import numpy as np

def total(xs, factor=1.0):
    s = 0.0
    for x in xs:
        s += x * factor
    return s

def refused(x):
    class C:
        pass
    return C
"""


@pytest.fixture
def program_file(tmp_path: Path) -> Path:
    path = tmp_path / "inspected_program.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("view", "part"),
    [
        ("graph", "graph total("),
        ("specialized", "Float64(*)"),
        ("code", "def total("),
        ("llvm", "define "),
        ("asm", ".text"),
        ("bytecode", "return"),
        ("explain", "s += x * factor"),
    ],
)
def test_inspect_shows_each_view(view: str, part: str, program_file: Path, capsys) -> None:
    target = f"{program_file}:total"
    assert main(["inspect", target, "--args", "np.ones(5), factor=2.0", "--show", view]) == 0
    assert part in capsys.readouterr().out


def test_inspect_explains_a_refused_function(program_file: Path, capsys) -> None:
    assert main(["inspect", f"{program_file}:refused", "--args", "__file__"]) == 0
    assert "class" in capsys.readouterr().out


@pytest.mark.parametrize(
    "target", ["nothing.py:f", "no_colon", "{file}:", ":f", "{file}:missing", "{broken}:f"]
)
def test_inspect_says_what_cannot_be_loaded(target: str, program_file: Path, capsys) -> None:
    broken = program_file.with_name("broken_program.py")
    broken.write_text("def f(:\n")
    assert main(["inspect", target.format(file=program_file, broken=broken)]) == 1
    assert "cannot load" in capsys.readouterr().err


def test_inspect_says_what_is_no_function(program_file: Path, capsys) -> None:
    assert main(["inspect", f"{program_file}:__name__"]) == 1
    assert "is no Python function: it is a str" in capsys.readouterr().err


def test_inspect_says_what_to_name_in_a_class_and_takes_properties(tmp_path: Path, capsys) -> None:
    file = tmp_path / "with_a_class.py"
    file.write_text("class Line:\n    @property\n    def end(self):\n        return 2.0\n")
    assert main(["inspect", f"{file}:Line"]) == 1
    assert "is a class: name one of its methods" in capsys.readouterr().err
    assert main(["inspect", f"{file}:Line.end", "--args", "Line()"]) == 0
    assert "return 2.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nothing + 1", "NameError: name 'nothing' is not defined"),
        ("1, 2, 3", "TypeError: too many"),
    ],
)
@pytest.mark.parametrize("view", ["explain", "specialized"])
def test_inspect_says_what_arguments_are_wrong(
    arguments: str, message: str, view: str, program_file: Path, capsys
) -> None:
    target = f"{program_file}:total"
    assert main(["inspect", target, "--args", arguments, "--show", view]) == 1
    shown = capsys.readouterr().err
    assert f'cannot call total(xs, factor=1.0) with --args "{arguments}": {message}' in shown


def test_demo_of_no_program_says_which_there_are(capsys) -> None:
    assert main(["demo", "--only", "no such program"]) == 1
    assert "'no such program' in its name; there are mandelbrot, " in capsys.readouterr().err


def test_demo_says_that_it_cannot_write_its_pictures(program_file: Path, capsys) -> None:
    assert main(["demo", "--output", str(program_file)]) == 1
    assert f"cannot write pictures to {program_file}: File exists" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_ends_a_command() -> None:
    command = f"{sys.executable} -m ljit ops | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_the_version_is_shown(capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"ljit {ljit.__version__}\n"


def test_inspect_shows_what_the_function_raises(program_file: Path, capsys) -> None:
    assert main(["inspect", f"{program_file}:total", "--args", "None"]) == 1
    shown = capsys.readouterr()
    assert "TypeError: 'NoneType' object is not iterable" in shown.err
    assert f'File "{program_file}"' in shown.err
    assert "ljit/cli" not in shown.err
    assert "1 profiled run" in shown.out


def test_demo_of_one_program_agrees_and_draws(tmp_path: Path, monkeypatch, capsys) -> None:
    from ljit.cli import demo

    monkeypatch.setattr(demo, "PICTURE", (60, 40, 50))
    assert main(["demo", "--output", str(tmp_path), "--only", "Collatz"]) == 0
    shown = capsys.readouterr().out
    assert "All results agree." in shown
    assert "prim::Loop" in shown
    assert "fmul" in shown
    assert read_png(tmp_path / "mandelbrot.png").shape == (40, 60, 3)
    assert read_png(tmp_path / "speedups.png").shape[1] == 1000
