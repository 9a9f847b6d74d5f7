# Everything here sets itself up: a bare Python (3.11 or newer, with venv and pip), make and git are enough.
# Set-up is remembered by stamp files inside the virtual environments; `make clean` forgets it.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

VENV := .venv
BUILD := .venv-build
OLDEST := .venv-oldest
OLDEST_EXTRAS := .venv-oldest-extras
PEERS := .venv-peers
DOCS := .venv-docs
# The rooms that use extras. Engines are not among them: docs/testing.md says what old ones do.
OLDEST_ROOMS := tests/api tests/base tests/cli tests/drawing tests/input tests/paper tests/plot tests/report \
  tests/results tests/sources/files tests/sources/test_files.py tests/sources/test_open.py \
  tests/sources/test_streams.py tests/test_testing.py tests/test_torch.py
CORE_TESTS := tests/blocks tests/inference tests/input tests/metrics tests/test_null.py
# Simulations that run no line which others do not.
QUICK := not convergence and not false_interval and not fifty_digits
# -qq: errors only. Warnings about the machine's own pip settings are not our user's concern.
PIP_FLAGS := -qq --disable-pip-version-check --no-input
# Where there are hashes, pip wants one of every package: environments of which all are pinned have them.
PINS := -c hashes.txt

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test snapshots test-oldest test-oldest-numpy test-oldest-extras test-long test-cuda test-peers coverage mutants fuzz lint format hooks docs bench bench-check bench-peers alternatives build smoke hashes release clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 28
	@echo 'Variables: PYTHON=$(PYTHON)  WORKERS=$(WORKERS)  ARGS="extra arguments for pytest or the benchmarks"'

demo: $(VENV)/.demo ## assess two files of predictions, print the verdicts and write the reports
	@$(VENV)/bin/secant demo --out out

test: $(VENV)/.test ## run the tests and docstring examples; a missing library is a failure
	SECANT_REQUIRE_ALL=1 SECANT_HYPOTHESIS=ci $(VENV)/bin/python -m pytest -n $(WORKERS) -m "not long" $(ARGS)

test-long: $(VENV)/.test ## run the tests that take half a minute or more each: clusters that lose a worker, hostile names
	SECANT_REQUIRE_ALL=1 SECANT_HYPOTHESIS=ci $(VENV)/bin/python -m pytest -n $(WORKERS) -m long $(ARGS)

snapshots: $(VENV)/.test ## write anew what results print and what sources refuse, to be read before it is committed
	@PYTHONPATH=tests:tests/sources:tests/laws $(VENV)/bin/python tests/texts.py
	@PYTHONPATH=tests:tests/sources:tests/laws $(VENV)/bin/python tests/sources/refusals.py

test-oldest: test-oldest-numpy test-oldest-extras ## both of these: the oldest supported version of everything

test-oldest-numpy: $(OLDEST)/.test ## run the tests with numpy alone, at its oldest supported version
	@$(OLDEST)/bin/python -c 'import numpy, sys; print("numpy", numpy.__version__, "alone, Python", sys.version.split()[0])'
	SECANT_REQUIRE_ALL=0 SECANT_HYPOTHESIS=ci $(OLDEST)/bin/python -m pytest $(ARGS)

test-oldest-extras: $(OLDEST_EXTRAS)/.test ## run the tests of what uses extras, with the oldest of each
	SECANT_REQUIRE_ALL=1 SECANT_HYPOTHESIS=few $(OLDEST_EXTRAS)/bin/python -m pytest -n $(WORKERS) $(OLDEST_ROOMS) $(ARGS)

test-peers: $(PEERS)/.test ## run other libraries on the same predictions: where they agree, and where they are wrong
	$(PEERS)/bin/python -m pytest -m peers tests/peers $(ARGS)

coverage: $(VENV)/.coverage ## which lines and branches of the numerical code its own tests run; it fails below 99%
	SECANT_REQUIRE_ALL=1 SECANT_HYPOTHESIS=few $(VENV)/bin/coverage run -m pytest -q $(CORE_TESTS) -k "$(QUICK)" $(ARGS)
	$(VENV)/bin/coverage report

mutants: $(VENV)/.test ## change one thing at a time in the numerical code, and see whether a test notices
	$(VENV)/bin/python benchmarks/mutants.py $(ARGS)

test-cuda: ## run the tests that need a GPU, with the python that has torch, CuPy and pytest: make PYTHON=... test-cuda
	PYTHONPATH=src SECANT_REQUIRE_ALL=0 $(PYTHON) -m pytest -m cuda tests/sources/tensors $(ARGS)

lint: $(VENV)/.lint ## check style, layout, types, spelling, workflows and the rules of the house
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/codespell
	$(VENV)/bin/repo-review --show err .
	$(VENV)/bin/zizmor --offline --no-progress --quiet .github
	$(VENV)/bin/python -m pytest -q tests/house

format: $(VENV)/.lint ## lay out the code and apply the safe fixes
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

hooks: $(VENV)/.lint ## check before every commit what changed in it (pre-commit)
	$(VENV)/bin/pre-commit install

docs: $(DOCS)/.docs ## build the site into docs/_build/html; a warning or a broken link is an error
	$(DOCS)/bin/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(DOCS)/bin/python docs/check.py docs/_build/html
	@echo 'Open docs/_build/html/index.html'

fuzz: $(VENV)/.test ## damage files and forge states until interrupted; what is not handled is kept in fuzzed/
	@PYTHONPATH=tests:tests/sources $(VENV)/bin/python tests/forgeries.py & \
	trap 'kill %1' EXIT; PYTHONPATH=tests:tests/sources $(VENV)/bin/python tests/sources/files/test_fuzz.py fuzzed

bench: $(VENV)/.bench ## measure speed and memory as ratios within one process
	$(VENV)/bin/python benchmarks/run.py $(ARGS)

bench-check: $(VENV)/.bench ## say what became 1.3 times slower than the last line of benchmarks/history.json
	$(VENV)/bin/python benchmarks/run.py --quick --check $(ARGS)

alternatives: $(PEERS)/.bench ## what other libraries answer to the same predictions, and to faulty ones
	$(PEERS)/bin/python benchmarks/alternatives.py

bench-peers: $(PEERS)/.bench ## the same against MCGrad, MAPIE, torchmetrics and relplot too
	$(PEERS)/bin/python benchmarks/run.py $(ARGS)

build: $(BUILD)/.build ## build the wheel and the source archive into dist/
	@rm -rf dist
	@PIP_CONSTRAINT=hashes.txt $(BUILD)/bin/python -m build --outdir dist . >$(BUILD)/build.log || { cat $(BUILD)/build.log; exit 1; }
	@ls dist

smoke: build ## install the wheel into an empty environment for every extra, and use it there
	@$(BUILD)/bin/python .ci/smoke.py dist/*.whl $(ARGS)

hashes: $(VENV)/.core ## after pins were changed: write their hashes, which pip checks
	@$(VENV)/bin/python .ci/hashes.py

release: ## write a version into the files that state it: make release VERSION=0.2.0 [ARGS=--dry-run]
	@$(PYTHON) .ci/release.py $(VERSION) $(ARGS)

clean: ## remove the environments, caches and build products
	rm -rf $(DOCS) docs/_build docs/examples docs/reference/generated
	rm -rf $(VENV) $(BUILD) $(OLDEST) $(OLDEST_EXTRAS) $(PEERS) build dist out .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- environments --------------------------------------------------------------------------------

define make_venv
@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("secant needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another with: make PYTHON=...")'
@echo "Creating $(@D) with $$($(PYTHON) --version)"
@$(PYTHON) -m venv --clear $(@D)
@touch $@
endef

# Dependency groups need pip 25.1, and the machine's own may be older.
define new_pip
@sed -n '/^pip==/,/[^\\]$$/p' hashes.txt >$(@D)/pip.txt
@$(@D)/bin/python -m pip install $(PIP_FLAGS) -r $(@D)/pip.txt
endef

# There is no file of secant to check: it is installed alone first, and found there with its extras.
define secant_alone
@$(@D)/bin/python -m pip install $(PIP_FLAGS) --build-constraint hashes.txt --no-deps -e .
endef

$(VENV)/.made:
	$(make_venv)

$(VENV)/.core: $(VENV)/.made pyproject.toml hashes.txt
	$(new_pip)
	@echo "Installing secant and numpy into $(VENV)"
	$(secant_alone)
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) $(PINS) secant
	@touch $@

$(VENV)/.demo: $(VENV)/.core
	@echo "Installing the command and what reads files into $(VENV)"
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) $(PINS) 'secant[cli]'
	@touch $@

# The reports are opened in a real browser; a Debian machine of one's own, or of CI, can install it.
# Spark runs in Java. Use: $(call need_program,program,Debian package,purpose). Debian keeps the servers
# off the PATH.
define need_program
@PATH="$$PATH:/usr/sbin:$$(echo /usr/lib/postgresql/*/bin | tr ' ' :)"; command -v $(1) >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
  && echo "Installing $(2), $(3)" && apt-get update -qq \
  && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(2) >/dev/null; } \
  || echo "The tests need the program $(1), $(3): please install it."
endef

define programs
$(call need_program,chromium,chromium,to open reports in)
$(call need_program,java,default-jre-headless,to run Spark)
$(call need_program,postgres,postgresql,to ask a real server)
$(call need_program,mariadbd,mariadb-server,to ask a second one)
$(call need_program,mariadb_config,libmariadb-dev pkg-config gcc,to build what connects to it)
endef

$(VENV)/.test: $(VENV)/.core
	$(programs)
	@echo "Installing the test tools, oracles, data frame libraries, engines and torch into $(VENV)"
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) $(PINS) --build-constraint hashes.txt 'secant[all]' --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.core
	@echo "Installing the linters and the libraries whose types mypy reads into $(VENV)"
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) $(PINS) 'secant[all]' --group lint
	@touch $@

$(VENV)/.coverage: $(VENV)/.test
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) $(PINS) --group coverage
	@touch $@

$(VENV)/.bench: $(VENV)/.core
	@echo "Installing scikit-learn, to compare with, into $(VENV)"
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) $(PINS) --group bench
	@touch $@

$(BUILD)/.made:
	$(make_venv)

$(BUILD)/.build: $(BUILD)/.made pyproject.toml hashes.txt
	$(new_pip)
	@echo "Installing what builds wheels and reads their types into $(BUILD)"
	@$(BUILD)/bin/python -m pip install $(PIP_FLAGS) $(PINS) --group build
	@touch $@

# The site has an environment of its own: it needs many libraries, and none of those of the tests.
$(DOCS)/.made:
	$(make_venv)

$(DOCS)/.docs: $(DOCS)/.made pyproject.toml hashes.txt
	$(new_pip)
	@echo "Installing secant, Sphinx and its extensions into $(DOCS)"
	$(secant_alone)
	@$(DOCS)/bin/python -m pip install $(PIP_FLAGS) $(PINS) 'secant[cli,frames,plot]' --group docs
	@touch $@

# The peers bring torch, so they get an environment of their own.
$(PEERS)/.made:
	$(make_venv)

$(PEERS)/.bench: $(PEERS)/.made pyproject.toml constraints.txt
	$(new_pip)
	@echo "Installing secant and its peers into $(PEERS)"
	@$(PEERS)/bin/python -m pip install $(PIP_FLAGS) -c constraints.txt -e ".[fast,torch]" --group peers
	@touch $@

$(PEERS)/.test: $(PEERS)/.bench
	@$(PEERS)/bin/python -m pip install $(PIP_FLAGS) -c constraints.txt --group test-core
	@touch $@

$(OLDEST_EXTRAS)/.made:
	$(make_venv)

$(OLDEST_EXTRAS)/.test: $(OLDEST_EXTRAS)/.made pyproject.toml constraints-oldest-extras.txt
	$(programs)
	$(new_pip)
	@echo "Installing secant with the oldest of its extras into $(OLDEST_EXTRAS)"
	@$(OLDEST_EXTRAS)/bin/python -m pip install $(PIP_FLAGS) -c constraints-oldest-extras.txt -e '.[all]' --group test
	@touch $@

$(OLDEST)/.made:
	$(make_venv)

$(OLDEST)/.test: $(OLDEST)/.made pyproject.toml constraints.txt constraints-oldest.txt
	$(new_pip)
	@echo "Installing secant, the oldest numpy, pytest and hypothesis into $(OLDEST)"
	@$(OLDEST)/bin/python -m pip install $(PIP_FLAGS) -c constraints-oldest.txt -e . --group test-core
	@touch $@
