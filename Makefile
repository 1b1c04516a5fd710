# make rehearse [CONFIG=clusters/slurm-gpu.yaml] [KEEP=1] [FAULT=lifecycle]
#                 the example cluster on an embedded AWS: deploy, show, update, destroy; faults:
#                 capacity, conflict, foreign-cluster, lifecycle, rollback
# make rehearse NODES=real
#                 the same on nodes with real systemd, Slurm and MariaDB: needs root on Linux
# make nodes [MODE=extension] [COMPUTE=4] [SLURM=24.11]
#                 such a cluster alone, to play with, and a shell on its login node
# make nodes-test everything that may go wrong on such nodes, an hour of it
# make test [TESTS=tests/unit]
#                 every test, or those of some folders
# make fuzz       10,000 random lives each of a cluster and a quota under the handler, new ones each time
# make lint       formatter, linter, types, architecture, shell scripts
# make synth      the CloudFormation template of CONFIG
# make deploy     CONFIG in your own account: cdk bootstrap once, then cdk deploy
# make bench      the benchmarks, written to benchmarks/; make bench-nodes: of the node scripts, as root
.PHONY: help rehearse nodes nodes-test bench-nodes test fuzz lint format synth deploy destroy bench docs setup clean
.DEFAULT_GOAL := help

PYTHON ?= python3
CONFIG ?= clusters/slurm-minimal.yaml
VENV := .venv
BIN := $(VENV)/bin
# the venv's Node and the pinned CDK CLI come first, whatever the machine has
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export HYPERPOD_CONFIG := $(CONFIG)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@sed -n 's/^# //p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hyperpod-cdk needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt | $(BIN)/python
	@echo "installing the Python packages (about a minute, once)"
	@# most modules of the CDK are never imported: to compile them all takes longer than to fetch them
	$(BIN)/python -m pip install -q --no-compile -r requirements.txt
	$(BIN)/python -m pip install -q --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	$(BIN)/python -m pip install -q --no-compile -r requirements-dev.txt
	@# only its evaluator of log lines is used, which does without the PyTorch that the package asks for
	$(BIN)/python -m pip install -q --no-deps hyperpod-elastic-agent==1.1.3
	@touch $@

node_modules/.installed: package-lock.json $(VENV)/.runtime
	@echo "installing the CDK CLI"
	npm ci --silent
	@# so that an activated environment has cdk, too
	@ln -sf ../../node_modules/.bin/cdk $(BIN)/cdk
	@touch $@

setup: $(VENV)/.dev node_modules/.installed

rehearse: $(VENV)/.runtime node_modules/.installed
	@hyperpod-cdk rehearse $(CONFIG) $(if $(KEEP),--keep) $(if $(FAULT),--fault $(FAULT)) \
		$(if $(filter real,$(NODES)),--real-nodes)

nodes: $(VENV)/.runtime
	@python -m hyperpod_cdk.rehearsal.hosts up --mode $(or $(MODE),custom) --compute $(or $(COMPUTE),2) \
		--slurm $(or $(SLURM),22.05)

nodes-test: setup
	HYPERPOD_CDK_NODES_TESTS=all python -m pytest --durations=0 tests/lifecycle/sandbox

test: setup
	python -m pytest $(TESTS)

fuzz: setup
	HYPERPOD_CDK_LIVES=10000 python -m pytest tests/handler/test_lives.py tests/handler/quota/test_lives.py

lint: setup
	ruff format --check .
	ruff check .
	mypy
	MYPYPATH=constructs:constructs/hyperpod_cdk/cluster mypy $$(git ls-files 'tests/handler/*.py')
	mypy --python-version 3.10 lifecycle_scripts/hyperpod_node
	PYTHONPATH=lifecycle_scripts lint-imports --no-cache
	shellcheck $$(git ls-files '*.sh' .ci/run)

format: setup
	ruff format .
	ruff check --fix .

synth: $(VENV)/.runtime node_modules/.installed
	cdk synth

deploy: $(VENV)/.runtime node_modules/.installed
	cdk deploy

destroy: $(VENV)/.runtime node_modules/.installed
	cdk destroy

bench: setup
	python -m benchmarks

bench-nodes: setup
	python -m benchmarks.nodes

docs: setup
	python -m docs

clean:
	rm -rf cdk.out .rehearsal .mypy_cache .pytest_cache .ruff_cache
