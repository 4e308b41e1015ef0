# make                  builds the release binary and runs the whole loop on the bundled games
# make test             everything that CI runs
# make bench            the benchmarks of the hot paths
# make EXE=name [EVALFILE=net.nnue]
#                       builds the engine alone under that name, as OpenBench asks for it

CARGO ?= cargo
# The binary built here runs here, so it may use all that this CPU has. `cargo build` stays portable.
NATIVE = RUSTFLAGS="$(RUSTFLAGS) -C target-cpu=native"
PATZER = target/release/patzer

ifdef EXE
.DEFAULT_GOAL := engine
else
.DEFAULT_GOAL := demo
endif

.PHONY: build demo test bench engine clean

build:
	$(NATIVE) $(CARGO) build --release --locked

demo: build
	PATZER="$(abspath $(PATZER))" sh demo.sh

test:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) test --locked

bench:
	$(NATIVE) $(CARGO) bench --locked

engine:
	$(NATIVE) $(if $(EVALFILE),PATZER_EVALFILE="$(abspath $(EVALFILE))") $(CARGO) build --release --locked --bin patzer-uci
	cp target/release/patzer-uci $(EXE)

clean:
	$(CARGO) clean
	rm -rf demo
