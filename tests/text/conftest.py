"""Collect the cases of *.ljir files as tests."""

from __future__ import annotations

import pytest

import ljit.ops  # noqa: F401 - the parser needs the ops
from ljit import config
from ljit.passes import run_passes
from ljit.testing.text_tests import parse_cases, run_case


def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".ljir":
        return TextFile.from_parent(parent, path=file_path)
    return None


class TextFile(pytest.File):
    def collect(self):
        for case in parse_cases(self.path.read_text()):
            yield TextItem.from_parent(self, name=case.name, case=case)


class TextItem(pytest.Item):
    def __init__(self, *, case, **kwargs):
        super().__init__(**kwargs)
        self.case = case

    def runtest(self):
        with config.overridden(check=config.CHECK_PASSES):
            run_case(self.case, run_passes)

    def repr_failure(self, excinfo):
        return f"{self.path.name}:{self.case.line}: {excinfo.value}"

    def reportinfo(self):
        return self.path, self.case.line - 1, self.name
