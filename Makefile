# Two commands for a fresh clone that has nothing but Python 3.11, 3.12 or 3.13:
#   make demo   runs the demonstration (writes mandelbrot.png and speedups.png)
#   make test   runs every check
# Both keep a virtual environment of their own in .venv.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && { echo $$p; break; }; done)
BIN = .venv/bin

.PHONY: demo test bench format docs clean

demo: .venv/run.stamp
	$(BIN)/python -m ljit demo

test: .venv/dev.stamp
	./check

bench: .venv/run.stamp
	$(BIN)/python benchmarks/scalar_loops.py
	$(BIN)/python benchmarks/call_overhead.py
	$(BIN)/python benchmarks/first_call.py
	$(BIN)/python benchmarks/leaks.py
	$(BIN)/python benchmarks/container_loops.py
	-$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/loops.py
	$(BIN)/python benchmarks/arrays.py
	$(BIN)/python benchmarks/random_draws.py
	$(BIN)/python benchmarks/long_loops.py

format: .venv/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/run.stamp
	$(BIN)/python -m ljit ops --markdown > docs/ops.md
	$(BIN)/python -m ljit ops --index

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "ljit needs Python 3.11, 3.12 or 3.13; say make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/dev.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ .venv/run.stamp

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
