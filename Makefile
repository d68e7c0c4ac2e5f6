# `make` alone lists the targets.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PEER := _build/diffprivlib
DPMM := _build/dpmm
READY := $(VENV)/.ready
# One BLAS thread per process: chapters and tests run side by side, one per core.
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Outcomes of the ledger's checks, shared by the tests and chapters of one build while nothing has changed.
export DPFAIR_LEDGER := $(CURDIR)/_build/ledger

# Chapters that show every entry. The ledger is judged before they run; at the same time, each would judge it for itself.
JUDGE_ALL := findings ledger witnesses which-method

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help check chapter lint test ledger further pytest again nbval book notebooks pages pdf peer dpmm record repeats proofs bench bench-solver bench-gpu mutants verify serve clean lock test-python wheel weights

# What a target needs is asked for before anything is set up or run.
ifneq ($(filter check,$(MAKECMDGOALS)),)
$(if $(CLAIM),,$(error check: CLAIM is missing; say make check CLAIM=isit.prop-1))
endif
ifneq ($(filter chapter,$(MAKECMDGOALS)),)
$(if $(NAME),,$(error chapter: NAME is missing; say make chapter NAME=isit-prop-1))
endif

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

$(READY): requirements.txt requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v == (3, 11) or sys.exit(f"The book is built with Python 3.11, found {v[0]}.{v[1]}; say make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.txt --constraint requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	$(BIN)/python -m pip check
	@touch $@

book: $(READY)  ## run what changed and build the book into _build/html (PARAMETERS=file.yml overrides parameters)
	$(BIN)/python -m dpfair_lib claims --faults --stored
	$(BIN)/python tools/execute.py --into _build/executed $(if $(STORED),--stored) $(if $(PARAMETERS),--parameters $(PARAMETERS))
	$(BIN)/python tools/render.py --executed _build/executed --into _build
	$(BIN)/python tools/publish.py --html _build/html --zip _build/book.zip
	@echo "The book: _build/html/index.html; all of it in one file: _build/book.zip"

check: $(READY)  ## judge one claim with its faults and its entry (CLAIM=isit.prop-1)
	$(BIN)/python -m dpfair_lib claims --only '$(CLAIM)' --faults --times
	$(BIN)/python -m pytest tests/claims/test_ledger.py tests/claims/test_rooms.py tests/claims/test_kinds.py tests/claims/test_card_texts.py tests/claims/test_coverage_of_arguments.py -k '$(CLAIM) or order or filled or list or universe or imports_another or library_s_own'

chapter: $(READY)  ## run one chapter and build its page alone (NAME=isit-prop-1)
	$(BIN)/python tools/execute.py --into _build/executed $(NAME)
	$(BIN)/python tools/render.py --executed _build/executed --into _build/page/_build --page $(NAME)
	@echo "The page: _build/page/_build/html/notebooks/$(NAME).html"

lint: $(READY)  ## ruff, types, chapter pairs, prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/pairs.py
	$(BIN)/python tools/prose.py

test: lint ledger pytest again nbval  ## lint, types, tests, every ledger check with its faults, stored notebooks

ledger: $(READY)  ## every check of the ledger with its faults
	$(BIN)/python -m dpfair_lib claims --faults --times

further: $(READY)  ## search theorems of our own longer, by random cases, into results/searched-further.json (about 5 minutes; CLAIM=ours.least-gap for one)
	$(BIN)/python -m dpfair_lib.claims.further.run $(CLAIM)

pytest: $(READY)  ## the tests of the library and the tools
	$(BIN)/python -m pytest --numprocesses 2

test-python:  ## the library's tests on each Python from 3.11 to 3.14 that is found (TESTS="files" for some)
	$(PYTHON) tools/pythons.py -- $(TESTS)

wheel: $(READY)  ## build the source distribution and the wheel, and try the wheel in a fresh environment (QUICK=1: with the packages at hand)
	$(BIN)/python tools/wheel.py $(if $(QUICK),--quick)

weights: $(READY)  ## measure what the core and each extra weigh on disk, into results/weights.json
	$(BIN)/python tools/weights.py

again: $(READY)  ## 80 recorded mutants: are they still killed?
	PYTHONHASHSEED=0 $(BIN)/python tools/mutants.py --again 80

nbval: $(READY)  ## run the stored notebooks and compare their outputs
	$(BIN)/python -m pytest --nbval --numprocesses 2 --dist loadfile -p no:cacheprovider -W default notebooks

notebooks: $(READY)  ## run chapters without data and store their .ipynb (NAME="isit-prop-1 ledger" for some; else all)
	$(if $(and $(NAME),$(if $(filter $(JUDGE_ALL),$(NAME)),,none)),,$(BIN)/python -m dpfair_lib claims --faults --stored)
	$(BIN)/python tools/execute.py --store $(NAME)

pages: $(READY)  ## open every built page in headless Chromium, offline (after make book)
	$(BIN)/python -m pytest tests/pages --override-ini addopts= --numprocesses 2 -rs

pdf: $(READY)  ## print the built book into _build/book.pdf with Chromium (after make book)
	$(BIN)/python tools/publish.py --html _build/html --pdf _build/book.pdf

$(PEER)/.ready: benchmarks/requirements-diffprivlib.txt
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/python -m pip install --quiet --requirement $<
	@touch $@

peer: $(PEER)/.ready  ## make diffprivlib's own environment, which the records private-learners-* need

$(DPMM)/.ready: benchmarks/requirements-dpmm.txt
	$(PYTHON) -m venv $(DPMM)
	$(DPMM)/bin/python -m pip install --quiet --requirement $<
	@touch $@

dpmm: $(DPMM)/.ready  ## make dpmm's own environment, which the records private-synthetic-* and privacy-audits-synthetic need

record: $(READY) peer dpmm  ## run the long experiments on the real data and refresh results/ (ONLY="name ..." for some, FORCE=1 for whole ones)
	$(BIN)/python -m dpfair_lib.experiments $(if $(FORCE),--force) $(ONLY)

repeats: $(READY) peer dpmm  ## run a task of each record again and compare its rows, into results/repeats.json (ONLY="name ..." for some, TASKS=3)
	$(BIN)/python tools/repeats.py $(if $(TASKS),--tasks $(TASKS)) $(ONLY)

proofs: $(READY)  ## build the Coq proofs and check them (STORE=1 records the result); without Coq: compare sources and record
	$(BIN)/python tools/proofs.py $(if $(STORE),--store)
	$(BIN)/python tools/proof_cases.py $(if $(STORE),--store)

bench: $(READY)  ## time the library side by side with its peers, into results/bench.json (about 5 minutes)
	$(BIN)/python -m benchmarks

bench-solver: $(READY)  ## time the k-ary solver on 1200 random instances, into results/solver.json (about 15 minutes; an interrupted run resumes)
	$(BIN)/python -m benchmarks solver_grid

bench-gpu: $(READY)  ## time a thousand DP-SGD runs, a coverage study, metrics and certificates on a GPU, if there is one
	$(BIN)/python -m benchmarks gpu gpu_coverage gpu_arrays

mutants: $(READY)  ## change the library in small ways and list the changes that no test notices, into results/mutants.json (hours)
	PYTHONHASHSEED=0 $(BIN)/python tools/mutants.py

verify: export DPFAIR_LEDGER :=
verify: $(READY)  ## run every chapter afresh and compare its numbers with the stored ones, with tolerances
	rm -rf _build/verify
	$(BIN)/python tools/execute.py --into _build/verify --without-data
	$(BIN)/python tools/verify.py _build/verify

serve: $(READY)  ## show the built book at http://localhost:8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html 8000

lock:  ## resolve requirements.txt afresh into requirements.lock, or, with another PYTHON, into that version's lock
	$(PYTHON) tools/lock.py

clean:  ## remove what the build made (not the environment)
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
