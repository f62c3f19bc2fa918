# Thin front door: everything real is in CMake. `make help` lists the targets.
BUILD ?= build/release
PREFIX ?= /usr/local
INSTALL ?= build/install
# Tests at a time: one more than there are cores, because some sleep or wait for each other.
JOBS ?= $(shell expr $$(nproc) + 1)

.PHONY: all build help deps mpi demo check check-landing check-night check-python check-matrix check-systems asan tsan fuzz cov bench docs lint fmt install uninstall dist deb wheel check-wheel clean

all: build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## install missing system packages (nothing missing = no package call)
	@tools/deps

build: deps ## build libsotto and the sotto program
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build --preset release

mpi: deps ## build the plug-in for MPI with the MPI library found here (mpicc; Debian: libopenmpi-dev)
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DSOTTO_MPI=ON >/dev/null
	@cmake --build --preset release --target sotto_mpi

demo: deps ## a complete example on real data, under 5 minutes; ends with a report
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build --preset release --target sotto
	@$(BUILD)/sotto demo -o runs/demo

check: build ## every test, 8 minutes with the build on two fast cores (docs/TESTS.md)
	@SOTTO_EFFORT=1 ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -LE '^(landing|night)$$'

check-landing: deps ## what a landing takes beside check: more draws, sanitizers, a cut of the matrix, lint, packaging (PARTS="...")
	@tools/deps lint && tools/check-landing $(BUILD) $(PARTS)

check-night: deps ## hours, in parts of at most an hour that go on where they stopped (PART=NAME; PART=list names them)
	@tools/check-night $(PART)

check-python: build ## the Python package with PyTorch, Opacus, scikit-learn and mypy (network, minutes)
	@tools/check-python-all $(BUILD)

check-matrix: build ## table of tests by instruction set, dtype and threads (CUT=1: a sixth of it)
	@tools/check-matrix $(BUILD) $(if $(CUT),cut)

asan: deps ## unit and property tests under AddressSanitizer and UBSan (CUT=1: without long sums)
	@cmake --preset asan -DSOTTO_SANITIZE_ALL=$(if $(CUT),OFF,ON) >/dev/null && cmake --build --preset asan
	@ctest --test-dir build/asan --output-on-failure -j $(JOBS) -L 'unit|known|property|fuzz' $(if $(CUT),-LE long-sums)

tsan: deps ## threaded tests under ThreadSanitizer (clang, libomp, reference kernels)
	@tools/deps tsan && cmake --preset tsan >/dev/null && cmake --build --preset tsan
	@TSAN_OPTIONS=ignore_noninstrumented_modules=1 ctest --test-dir build/tsan --output-on-failure -j 2 -L 'unit|property'

fuzz: deps ## fuzz every parser for FUZZ_SECONDS each (default 60)
	@tools/deps fuzz && cmake --preset fuzz >/dev/null && cmake --build --preset fuzz --target fuzzers
	@tools/fuzz build/fuzz $${FUZZ_SECONDS:-60}

cov: deps ## line and branch coverage of the privacy core (build/coverage/COVERAGE.md)
	@tools/deps cov && tools/coverage

check-systems: ## both README commands on bare Debian 12 and 13, cross-checks of aarch64 (as root)
	@tools/deps systems && tools/check-systems

bench: deps ## side by side with PyTorch (set up by bench/peers in a virtual environment)
	@cmake --preset release -DSOTTO_BENCH=ON >/dev/null && cmake --build --preset release
	@bench/run $(BUILD)

docs: build ## the documents as a site, with generated reference, in build/site (the first time: network, a minute)
	@tools/docs-tools
	@build/docs-tools/bin/python tools/docs-site $(BUILD) build/site
	@echo 'build/site/index.html'

lint: deps ## clang-format, clang-tidy, shellcheck and the binary interface
	@tools/deps lint && tools/lint build/release

fmt: ## clang-format in place
	@git ls-files '*.c' '*.h' | grep -vE '^tests/(lint/|known/.*_vectors\.h)' | xargs clang-format -i

# A build folder of its own, without tests; no package is fetched, and cmake says what is missing.
install: ## libraries, program, manual, completion, examples to PREFIX (default /usr/local); DESTDIR is honoured
	@cmake -S . -B $(INSTALL) $(if $(shell command -v ninja),-G Ninja) -DCMAKE_BUILD_TYPE=Release -DSOTTO_TESTS=OFF -DSOTTO_BENCH=OFF \
	  -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build $(INSTALL)
	@DESTDIR=$(DESTDIR) cmake --install $(INSTALL)

uninstall: ## remove what 'make install' installed, below the same DESTDIR
	@tools/uninstall $(INSTALL)/install_manifest.txt '$(DESTDIR)'

dist: ## source archive of HEAD, the same bytes each time, to build/sotto-VERSION.tar.xz
	@tools/dist build

deb: deps ## Debian packages of HEAD in build/deb: libsotto0.3, libsotto-dev, sotto, sotto-mpi; lintian must find nothing
	@tools/deps deb && tools/deb build/deb

wheel: deps ## wheel of the Python package in build/wheel, with its libraries and licences (the first time: half an hour, network)
	@tools/deps wheel && python/wheel/build build/wheel

check-wheel: wheel ## tests of the wheel alone, in a fresh virtual environment (network)
	@build/wheel/tools/bin/python -m pytest -q -p no:cacheprovider python/wheel
	@python/wheel/test build/wheel/*.whl

clean: ## remove build folders
	rm -rf build
