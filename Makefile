# `make install` once, then `make check`. To test from scratch without a set-up of your own: python3 scripts/test.py
PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)

.PHONY: install format generate format-check lint types contracts generated wheel test-engine test-debugger sizes test check bench screenshots clean

install:
	$(PYTHON) -m pip install --upgrade "pip>=25.1"
	$(PYTHON) -m pip install --editable . --group dev

format:
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

generate:
	$(PYTHON) scripts/generate_ops.py

# One command each; scripts/check.py has the list.
format-check lint types contracts generated wheel test-engine test-debugger sizes:
	$(PYTHON) scripts/check.py $@

test: test-engine test-debugger

check:
	$(PYTHON) scripts/check.py

bench:
	@set -e; for script in $(filter-out benchmarks/gpu.py,$(shell grep -l __main__ benchmarks/*.py)); do \
		echo "== $$script"; $(PYTHON) $$script; done

# The pictures in screenshots/, out of real sessions; the tests fail when they are stale.
screenshots:
	$(PYTHON) screenshots/make.py

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find agdbg engine ui tests examples benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +
