# Everything happens in .venv; nothing outside this folder is touched. `make help` lists the targets.
PYTHON ?= python3
SEED ?=
ARGS ?=
TESTS ?=
# The versions of all packages that tests and linters use. PINS=/dev/null takes the newest that pyproject.toml allows.
PINS ?= tests/constraints.txt
MINUTES ?= 10

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet
# As pip does for packages: a program without byte code compiles itself at every start.
COMPILE := @$(PY) -m compileall -q parcahyd
# Stamps: what is installed is installed again only when its description changed.
RUNS := $(VENV)/.runs
DEVELOPS := $(VENV)/.develops
# What `make torture` tried, a line for each point.
TRIED := $(CURDIR)/build/torture.jsonl
DESCRIBED := pyproject.toml setup.py $(wildcard parcahyd/rules/html/native/*)

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help run test torture soak cluster-test bench profile lint check format docs picture pins clean

help:
	@echo "make run              crawl a small sample site and show what was stored (into ./sample-crawl)"
	@echo "make run SEED=URL     crawl URL into ./crawl; ARGS='--set Work.MaxPages=100' adds options"
	@echo "make test             run the tests; TESTS=tests/rules runs some of them"
	@echo "make torture          let every fallible call fail and kill the crawl at every commit, one after the other, and print a table"
	@echo "make soak MINUTES=n   crawl a synthetic web while faults strike at random, and compare with a crawl without faults"
	@echo "make cluster-test     crawl a synthetic web with three machines, strike them with one fault after the other, and print a table"
	@echo "make bench            crawl sites with PARCAHYD and other crawlers in turn, the short form; ARGS adds options"
	@echo "make profile          show where the time of a crawl goes; ARGS names the site"
	@echo "make lint             ruff, mypy, import contracts"
	@echo "make check            lint and test"
	@echo "make format           let ruff rewrite the sources"
	@echo "make docs             write the pages and conf files that follow from the code anew"
	@echo "make picture          crawl the sample site and draw the picture of README.md anew"
	@echo "make pins             write the versions of what is installed into tests/constraints.txt"
	@echo "make clean            remove .venv, caches and build results; crawls stay"

run: $(RUNS)
ifeq ($(strip $(SEED)),)
	@$(PY) -m parcahyd.sample tour --into sample-crawl
else
	@mkdir -p crawl
	@cd crawl && ../$(PY) -m parcahyd run --seed '$(subst ','\'',$(SEED))' $(ARGS)
	@cd crawl && ../$(PY) -m parcahyd status
endif

test: $(DEVELOPS)
	@$(PY) -m pytest -n 2 $(TESTS)

torture: $(DEVELOPS)
	@mkdir -p build && rm -f $(TRIED)
	@PARCAHYD_TORTURE=1 PARCAHYD_TORTURE_LOG=$(TRIED) PARCAHYD_KILLS=100 $(PY) -m pytest -n 2 --dist worksteal \
		tests/torture tests/storage/test_leases_model.py tests/cluster/test_hub_model.py tests/cluster/test_moves_at_random.py $(ARGS); code=$$?; $(PY) -m tests.torture.outcomes $(TRIED); exit $$code

soak: $(DEVELOPS)
	@$(PY) -m tests.torture.soak --minutes $(MINUTES) $(ARGS)

cluster-test: $(DEVELOPS)
	@$(PY) -m tests.cluster_lab.scenarios $(ARGS)

bench: $(DEVELOPS)
	@$(PY) bench/crawl.py --only parcahyd wget2 limit --rounds 3 --disk-rounds 0 $(ARGS)

profile: $(DEVELOPS)
	@$(PY) -c 'import importlib.metadata as m; m.version("py-spy")' 2>/dev/null || $(PIP) --constraint $(PINS) py-spy
	@$(PY) bench/sampling.py $(ARGS)

lint: $(DEVELOPS)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

check: lint
	@$(MAKE) --no-print-directory test

format: $(DEVELOPS)
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

docs: $(DEVELOPS)
	$(PY) -m parcahyd.cli.life_cycle_page > docs/life-of-a-url.md
	$(PY) -m parcahyd.config docs > docs/settings.md
	$(PY) -m parcahyd.cli.plugins_page docs/plugins.md
	$(PY) -m parcahyd.config conf Map > conf/MapConf.toml
	$(PY) -m parcahyd.config conf Work > conf/WorkConf.toml

picture: $(DEVELOPS)
	$(PY) bench/picture.py

pins: $(PY)
	@sed -n '/^#/p' tests/constraints.txt > $(VENV)/pins
	@$(PY) -m pip --disable-pip-version-check freeze --exclude-editable | tr 'A-Z_' 'a-z-' | LC_ALL=C sort >> $(VENV)/pins
	@mv $(VENV)/pins tests/constraints.txt

clean:
	rm -rf $(VENV) build dist *.egg-info parcahyd/rules/html/*.so .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(PY):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PARCAHYD needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(RUNS): $(PY) $(DESCRIBED)
	$(PIP) --editable .
	$(COMPILE)
	@touch $@

$(DEVELOPS): $(PY) $(DESCRIBED) $(PINS)
	$(PIP) --constraint $(PINS) --editable '.[test,lint,author-test]'
	$(COMPILE)
	@touch $(RUNS) $@
