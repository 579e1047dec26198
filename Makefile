# Aglet. `make demo` and `make test` do everything on a fresh machine; see README.md.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_FILES := $(shell find crates Cargo.toml Cargo.lock -type f 2>/dev/null)
# maturin installs into this environment, whatever else is activated.
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin

.PHONY: help build demo test test-rust test-python test-long test-ifma clean toolchain

help:
	@echo "make demo       build and install into .venv, then refresh a real ciphertext"
	@echo "make build      build and install into .venv; the command is .venv/bin/aglet"
	@echo "make test       format, lints, Rust and Python tests (quick)"
	@echo "make test-long  the real size: precision, drift, every backend"
	@echo "make test-ifma  the AVX-512 IFMA kernels, under an emulator where this CPU has none (Debian, root)"
	@echo "make clean      remove what was built"

toolchain:
	@PYTHON=$(PYTHON) sh tools/check_toolchain.sh

$(VENV)/.created: | toolchain
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "maturin>=1.9.4,<2"
	@touch $@

# With matplotlib, for `aglet reproduce --plot`.
$(VENV)/.built: $(VENV)/.created pyproject.toml $(RUST_FILES) | toolchain
	$(MATURIN) develop --release --extras plot
	@touch $@

# The tools for tests; the package is already built, so this only installs.
$(VENV)/.dev: pyproject.toml | $(VENV)/.built
	$(MATURIN) develop --release --extras dev
	@touch $@

build: $(VENV)/.built

demo: build
	$(BIN)/aglet demo

test: test-rust test-python

# The test profile keeps debug assertions, which check the lazy ranges of the kernels.
test-rust: build
	cargo fmt --all --check
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace --exclude aglet-py

test-python: build $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/python

# One test at a time: each holds the keys of a real bootstrap.
test-long: build $(VENV)/.dev
	cargo test --release -p aglet --features long -- --test-threads=1
	$(BIN)/pytest -q tests/python/long --durations=0

# Exits with 0 where it cannot run if AGLET_IFMA_OPTIONAL=1, and says so.
test-ifma: | toolchain
	tools/ifma/check.sh

clean:
	rm -rf $(VENV) target build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests examples tools -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/aglet/_core*.so python/aglet/_core*.pyd
