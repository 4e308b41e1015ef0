# make          builds the release binary and runs the whole loop on the bundled games, in demo/
# make test     everything that CI runs at each push; a list of the tests that lacked a program closes it
# make test-long  the tests that take long, which CI runs nightly
# make bench    the benchmarks of the hot paths; bench-train only those of the network trainer
# make fuzz [MINUTES=10] [TARGETS="pgn csv"]
#               fuzzes each target in turn with AddressSanitizer; docs/fuzzing.md
# make study-NAME [DATA=GAMES] [QUICK=1] ...
#               a study of docs/studies, in runs/study-NAME; make study-quick runs all in their quick form
# make python   builds the Python package into target/wheels and tests it, in a virtual environment; docs/python.md
# make deb      a Debian package of portable programs, in target; docs/install.md
# make static   programs that need no C library, in target/MACHINE-unknown-linux-musl/release
# make clean    removes what was built and the demo's files
# make EXE=NAME [EVALFILE=NET] [PGO=1] [TUNE=1]
#               puts the engine here under that name, as OpenBench asks for it; NET is built in as its evaluation;
#               with PGO it is built twice, the second time for what `bench` does most; with TUNE it declares its
#               search parameters as UCI options

CARGO ?= cargo
# The binary built here runs here, so it may use all that this processor has. `cargo build` stays portable.
NATIVE = RUSTFLAGS="$(RUSTFLAGS) -C target-cpu=native $(GUIDED)"
PATZER = "$(TARGET)/release/patzer"

TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))
PYTHON ?= python3
VENV = $(TARGET)/python
VENV_BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP = "$(VENV_BIN)/pip" install --quiet --disable-pip-version-check

.PHONY: demo build test test-long bench bench-train fuzz python deb static clean

# 1 in a branch that OpenBench tunes: its workers give `make` no variable of their own.
TUNE ?=

# With a name given, the engine of that name is the first goal; without one that is the demo.
ifdef EXE
# The engine alone is optimised as one piece: it takes longer to build, and plays the faster for it.
ENGINE = $(if $(EVALFILE),EVALFILE="$(EVALFILE)") PATZER_TUNE=$(TUNE) CARGO_PROFILE_RELEASE_LTO=fat \
	CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 $(CARGO) build --release --locked --package patzer-engine
BUILT = $${CARGO_TARGET_DIR:-target}/$(if $(CARGO_BUILD_TARGET),$(CARGO_BUILD_TARGET)/)release/patzer-uci$(SUFFIX)

# Executables have a suffix on Windows.
SUFFIX = $(if $(filter Windows_NT,$(OS)),.exe)

.PHONY: engine profile
engine: GUIDED = $(if $(PGO),-C profile-use=$(PROFILE)/merged)
engine: $(if $(PGO),profile)
	$(NATIVE) $(ENGINE)
	@cp "$(BUILT)" "$(EXE)$(if $(filter %$(SUFFIX),$(EXE)),,$(SUFFIX))"

PROFILE = $(CURDIR)/target/profile
PROFDATA = $(firstword $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata$(SUFFIX)))

profile: GUIDED = -C profile-generate=$(PROFILE)
profile:
	$(if $(PROFDATA),,$(error PGO needs llvm-profdata: rustup component add llvm-tools))
	$(if $(word 2,$(CURDIR)),$(error PGO needs a path without spaces: RUSTFLAGS cannot hold others))
	rm -rf $(PROFILE)
	$(NATIVE) $(ENGINE)
	"$(BUILT)" bench
	"$(BUILT)" "setoption name EvalFile value default-hce" bench
	$(PROFDATA) merge -o $(PROFILE)/merged $(PROFILE)
endif

# Every step leaves its file and its result; the results together are the summary. The exit codes 10 and 11 of a
# sequential test are verdicts too, not faults. Fixed nodes make the run the same everywhere.
SPRT = --nodes 1000 --games 1000 --seed 1
verdict = code=$$?; test $$code = 0 -o $$code = 10 -o $$code = 11

demo: build
	rm -rf demo && mkdir demo
	cd demo && $(PATZER) extract --filter unique ../fixtures/games.pgn.zst ../fixtures/engine.pgn.zst > 1-extract.txt
	cd demo && $(PATZER) label > 2-label.txt
	cd demo && $(PATZER) wdl > 3-wdl.txt
	cd demo && $(PATZER) tune hce -o tuned.hce.toml > 4-tune-hce.txt
	cd demo && $(PATZER) net init -o base.nnue > 5-base.txt
	cd demo && $(PATZER) tune -o new.nnue > 6-tune-net.txt
	cd demo && $(PATZER) sprt tuned.hce.toml untuned-hce $(SPRT) -o hce.pgn > 7-sprt-hce.txt; $(verdict)
	cd demo && $(PATZER) sprt new.nnue base.nnue $(SPRT) -o net.pgn > 8-sprt-net.txt; $(verdict)
	@cd demo && for result in [1-8]-*.txt; do printf '\n== %s\n' "$${result%.txt}"; cat "$$result"; done > summary.txt
	@cat demo/summary.txt

build:
	$(NATIVE) $(CARGO) build --release --locked

# Many tests wait for a program that they run, so two share a core. Those of the Python package have its `python3` first.
# One selection of packages keeps the features of their dependencies, so that clippy, rustdoc and tests share them.
TEST = PATH="$(VENV_BIN):$$PATH" RUST_TEST_THREADS=$$((2 * $$(getconf _NPROCESSORS_ONLN))) \
	$(CARGO) test --locked --workspace
test:
	@test -e "$(VENV)/tests" || { $(PYTHON) -m venv --system-site-packages "$(VENV)" && \
		$(PIP) --retries 1 chess numpy pyarrow pytest && touch "$(VENV)/tests"; } || \
		echo "make test: no chess, numpy, pyarrow and pytest for Python: what needs them is skipped"
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --quiet
	@rm -f "$(TARGET)/tmp/skipped"
	$(TEST)
	@test ! -s "$(TARGET)/tmp/skipped" || { echo "skipped:" && sort -u "$(TARGET)/tmp/skipped"; }

test-long:
	$(TEST) -- --ignored long_

bench:
	$(NATIVE) $(CARGO) bench --locked

# Positions a second of the network trainer, on all threads.
bench-train:
	$(NATIVE) $(CARGO) bench --locked --bench train -- training

# Each target for so many minutes, on one core; what is found beside the committed corpus stays in target/fuzz-corpus.
# A failure names its input, which lies in fuzz/artifacts, and ends the run.
MINUTES ?= 10
TARGETS ?= $(patsubst fuzz/fuzz_targets/%.rs,%,$(wildcard fuzz/fuzz_targets/*.rs))
# The stable toolchain has the sanitizer, behind a flag of nightly.
FUZZ = RUSTC_BOOTSTRAP=1 RAYON_NUM_THREADS=1 LSAN_OPTIONS="suppressions='$(CURDIR)/fuzz/leaks.supp'" $(CARGO) fuzz
fuzz:
	@$(CARGO) fuzz --version > /dev/null 2>&1 || { echo "make fuzz: first cargo install --locked cargo-fuzz"; exit 1; }
	$(FUZZ) build --target-dir $${CARGO_TARGET_DIR:-target}/fuzz
	@for target in $(TARGETS); do \
		mkdir -p target/fuzz-corpus/$$target && \
		$(FUZZ) run --target-dir $${CARGO_TARGET_DIR:-target}/fuzz $$target target/fuzz-corpus/$$target fuzz/corpus/$$target -- \
			-max_total_time=$$(($(MINUTES) * 60)) -rss_limit_mb=2048 -malloc_limit_mb=2560 -timeout=10 -print_final_stats=1 || exit; \
	done

# The tests compare the package with the program, where that is built.
python:
	$(PYTHON) -m venv "$(VENV)"
	$(PIP) "maturin>=1.9,<2" chess numpy pyarrow pytest
	rm -rf "$(TARGET)/wheels"
	"$(VENV_BIN)/maturin" build --profile wheel --locked --manifest-path crates/python/Cargo.toml \
		--target-dir "$(TARGET)" --out "$(TARGET)/wheels"
	$(PIP) --no-deps --force-reinstall "$(TARGET)"/wheels/*.whl
	CARGO_TARGET_DIR="$(TARGET)" "$(VENV_BIN)/python" -m pytest -q -rs crates/python

# Portable programs have a folder of their own, so that the native ones need not be built again.
SYSROOT = $(shell rustc --print sysroot)
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
PORTABLE = $(CARGO) build --release --locked --bin patzer --bin patzer-uci --target
deb:
	$(PORTABLE) $(HOST)
	@sh tools/deb.sh "$(TARGET)/$(HOST)/release" "$(TARGET)"

MUSL = $(firstword $(subst -, ,$(HOST)))-unknown-linux-musl
static:
	@test -d "$(SYSROOT)/lib/rustlib/$(MUSL)" || { echo "make static: first rustup target add $(MUSL)"; exit 1; }
	@command -v musl-gcc > /dev/null || { echo "make static: needs musl-gcc (Debian: apt install musl-tools)"; exit 1; }
	$(PORTABLE) $(MUSL)
	@ls "$(TARGET)/$(MUSL)/release/patzer" "$(TARGET)/$(MUSL)/release/patzer-uci"

# Variables of the command line reach the scripts through the environment; each script says which it takes.
STUDIES = presets features pqr buckets views labels teachers distil generations search factorial nodes why playouts strength \
	embedded
.PHONY: $(STUDIES:%=study-%) study-quick

$(STUDIES:%=study-%): build
	sh studies/$(@:study-%=%).sh

study-quick: build
	for study in $(STUDIES); do QUICK=1 sh studies/$$study.sh || exit; done

clean:
	$(CARGO) clean
	rm -rf demo
