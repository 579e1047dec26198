# Aglet. `make demo` and `make test` do everything on a fresh machine; see README.md.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_FILES := $(shell find crates Cargo.toml Cargo.lock -type f 2>/dev/null)
# maturin installs into this environment, whatever else is activated.
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin

.PHONY: help build demo lint test test-rust test-python test-long test-torch test-assertions test-by-hand test-programs test-ifma test-arm test-nvrtc test-sanitizers test-wheel wheel docs workload fuzz constant-time clean toolchain

help:
	@echo "make demo       build and install into .venv, then refresh a real ciphertext"
	@echo "make build      build and install into .venv; the command is .venv/bin/aglet"
	@echo "make test       format, lints, Rust and Python tests (quick); make lint, test-rust, test-python are its parts"
	@echo "make test-long  the real size: precision, drift, every backend"
	@echo "make test-torch  tensors of the real torch, which is 5 GB"
	@echo "make test-assertions  the floors above the ring, and bootstraps of toys, with debug assertions"
	@echo "make test-by-hand  what is longer than that: published programs with small keys, thousands of refreshes"
	@echo "make test-programs  random programs beside numpy, SECONDS=60 more of a million, PROCESSES=2 at a time"
	@echo "make fuzz       hostile bytes to every reader, SECONDS=60 in all"
	@echo "make constant-time  traces what touches secrets, for different secrets"
	@echo "make test-ifma  the AVX-512 IFMA kernels, under an emulator where this CPU has none (Debian, root)"
	@echo "make test-arm   the kernels of 64-bit ARM under an emulator (Debian, root)"
	@echo "make test-nvrtc the kernels of cards, compiled by NVIDIA's NVRTC: registers, local memory, unfused quotients"
	@echo "make test-sanitizers  emulated cards under GCC's checks of addresses and of undefined behaviour"
	@echo "make wheel      the wheels for Linux, in dist"
	@echo "make test-wheel the wheels in a bare environment"
	@echo "make workload   a public workload, NAME=zn|zn_carried|mnist|similarity|resnet20|face|transciphering SIZE=single, small, ...: its stages, timed and checked"
	@echo "make docs       the documentation site, in docs/_build/html; nothing is fetched, a warning is an error"
	@echo "make clean      remove what was built"

toolchain:
	@PYTHON=$(PYTHON) sh tools/check_toolchain.sh

$(VENV)/.created: | toolchain
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "maturin>=1.9.4,<2"
	@touch $@

# The second package, pure Python and editable as the first, with matplotlib for `aglet reproduce --plot`.
BENCH = $(BIN)/python -m pip install --quiet --editable "python/bench[plot]"

$(VENV)/.built: $(VENV)/.created pyproject.toml python/bench/pyproject.toml $(RUST_FILES) | toolchain
	$(MATURIN) develop --release
	$(BENCH)
	@rm -f $(VENV)/.dev
	@touch $@

# For tests, with their tools: in the profile of the Rust tests, which share it. What stands in the environment is what was built last.
$(VENV)/.dev: $(VENV)/.created pyproject.toml python/bench/pyproject.toml $(RUST_FILES) | toolchain
	$(MATURIN) develop --profile long --extras dev
	$(BENCH)
	@rm -f $(VENV)/.built
	@touch $@

build: $(VENV)/.built

demo: build
	$(BIN)/aglet demo

test: lint test-rust test-python

# mypy takes one core, and clippy little more, as it goes from crate to crate.
lint: $(VENV)/.dev
	cargo fmt --all --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	$(BIN)/python tools/licences.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy & types=$$!; \
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --workspace --all-targets -- -D warnings; lints=$$?; \
	wait $$types && exit $$lints

# The module for Python and these tests share what they are built of: with the lowest floor, whose tests have proptest, the features of
# what it stands on would be others. That floor has the test profile: assertions in the lazy ranges of kernels and in all arithmetic.
test-rust: $(VENV)/.dev
	cargo test --profile long --workspace --exclude aglet-ring
	cargo test -p aglet-ring --lib

# In the order of names: files of few tests, which are the longest, would come last and keep one process waiting.
test-python: $(VENV)/.dev
	$(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder tests/python

# The modules of tests with something that only the feature `long` has. Emulated cards take 5 minutes at the real size: by hand.
LONG = $(call modules,$(filter-out crates/cuda/%,$(wildcard crates/*/tests/*.rs)))
CARDS = $(call modules,$(wildcard crates/cuda/tests/*.rs))
modules = $(patsubst %,%::,$(basename $(notdir $(shell grep -l 'feature = "long"' $(1)))))
TESTS = cargo test --profile long --workspace --exclude aglet-ring --test all

# One Rust test at a time, where each holds the keys of a real bootstrap.
test-long: $(VENV)/.dev
	$(TESTS) --exclude aglet-cuda --features aglet-bootstrap/long,aglet/long -- --test-threads=1 $(LONG)
	$(MAKE) fuzz SECONDS=40
	$(BIN)/pytest -q -n 2 tests/python/long/test_fuzz.py
	$(BIN)/pytest -q tests/python/long --ignore tests/python/long/test_fuzz.py --ignore tests/python/long/test_torch.py --durations=0

# Tensors of the torch that people install. On Linux it comes with the CUDA of its default build, 5.4 GB: .ci/run leaves it out.
test-torch: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --no-cache-dir "torch>=2.1"
	$(BIN)/pytest -q tests/python/long/test_torch.py

# Assertions above the lowest floor: each floor alone, then whole bootstraps of toys. The ring is named there for the features of what it
# stands on, without which every floor would be built again.
test-assertions: $(VENV)/.dev
	cargo test -p aglet-ring -p aglet-rlwe -p aglet-wire -p aglet-schemes -p aglet-circuits
	cargo test -p aglet-ring -p aglet-bootstrap -p aglet --test all -- ciphertext_steps:: integer_steps:: toy:: integer_bootstrap::

# What an hour has no room for. What it printed last stands in repro/record/by-hand.md.
test-by-hand: $(VENV)/.dev
	$(TESTS) --features aglet-cuda/long -- $(CARDS)
	$(TESTS) --features aglet/by-hand -- --test-threads=1 --nocapture by_hand::
	$(BIN)/pytest -q -s tests/python/by_hand --durations=0

# Random programs of the Python front beside numpy, on from the count in repro/record/programs.json.
test-programs: $(VENV)/.dev
	cd tests/python && nice -n 19 $(CURDIR)/$(BIN)/python -m fuzz $(SECONDS) $(PROCESSES)

# A counter on every edge and a call at every comparison: LLVM's SanitizerCoverage, which stable Rust has as a pass. The target
# is named so that build scripts and macros stay without.
SECONDS ?= 60
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
COVERAGE := -C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=3 \
	-C llvm-args=-sanitizer-coverage-inline-8bit-counters -C llvm-args=-sanitizer-coverage-trace-compares -C codegen-units=4

fuzz: | toolchain
	RUSTFLAGS="$(COVERAGE)" cargo run --quiet --release --manifest-path fuzz/Cargo.toml --target $(HOST) -- \
		$(SECONDS) $(TARGET)

# A call on every edge and at every load and store, in code that is otherwise as shipped: no assertions.
TRACE := -C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=3 -C llvm-args=-sanitizer-coverage-trace-pc-guard \
	-C llvm-args=-sanitizer-coverage-trace-loads -C llvm-args=-sanitizer-coverage-trace-stores -C codegen-units=4

constant-time: | toolchain
	RUSTFLAGS="$(TRACE)" cargo run --quiet --release --manifest-path fuzz/Cargo.toml --target $(HOST) --target-dir fuzz/target/traced \
		--bin constant-time --config profile.release.debug-assertions=false --config profile.release.overflow-checks=false

# Linked by zig against the C library of manylinux2014, whatever the machine has; no path of it stays in what is built.
WHEEL := target/wheel
wheel: $(VENV)/.created
	$(BIN)/python -m pip install --quiet ziglang
	rm -rf $(WHEEL)/out
	PATH=$(CURDIR)/$(BIN):$$PATH CARGO_TARGET_DIR=$(WHEEL) \
		RUSTFLAGS="--cfg chacha20_avx512 --remap-path-prefix=$(CURDIR)=aglet --remap-path-prefix=$(HOME)/.cargo=cargo" \
		$(MATURIN) build --release --locked --quiet --zig --compatibility manylinux2014 --out $(WHEEL)/out
	$(BIN)/python tools/wheel.py finish $(WHEEL)/out/*.whl
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(WHEEL)/out ./python/bench
	mkdir -p dist && cp $(WHEEL)/out/*.whl dist

test-wheel: wheel
	$(BIN)/python tools/wheel.py check $(WHEEL)/out/aglet_fhe-*.whl $(WHEEL)/out/aglet_fhe_bench-*.whl

# Tutorials are run, pictures and tables drawn from code and records.
$(VENV)/.docs: pyproject.toml | $(VENV)/.built
	$(MATURIN) develop --release --extras docs
	@touch $@

docs: build $(VENV)/.docs
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

# The stages of a public workload in the order of its harness; RUNS, OPTIONS="--count-only --json FILE".
NAME ?= zn
SIZE ?= small
RUNS ?= 1
workload: build
	$(BIN)/python workloads/standin.py $(NAME) $(SIZE) --runs $(RUNS) $(OPTIONS)

test-ifma: | toolchain
	tools/ifma/check.sh

test-arm: | toolchain
	tools/arm/check.sh

# No card is wanted, but NVIDIA's compiler, a wheel of 88 MB.
test-nvrtc: $(VENV)/.created
	$(BIN)/python -m pip install --quiet nvidia-cuda-nvrtc-cu12==12.8.93
	$(BIN)/python tools/nvrtc.py

# Emulated cards: their kernels, fibers and driver with GCC's checks of addresses, those of the card included, and of undefined behaviour.
CHECKS := -fsanitize=address,undefined,float-cast-overflow,float-divide-by-zero -fno-sanitize=vptr -fno-sanitize-recover=all -g1
test-sanitizers: | toolchain
	AGLET_EMULATOR_OPTIONS="$(CHECKS)" CXX=g++ ASAN_OPTIONS=detect_leaks=0 cargo test --profile long -p aglet-cuda \
		--features checks --test all --config "target.'cfg(unix)'.runner = ['env', 'LD_PRELOAD=$(shell g++ -print-file-name=libasan.so)']"

clean:
	rm -rf $(VENV) target fuzz/target build dist docs/_build docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests examples tools -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/aglet/_core*.so python/aglet/_core*.pyd
