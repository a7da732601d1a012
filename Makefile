# refdesk: `make up` runs a desk on a folder of documents, `make test` runs the tests, `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DOCS ?= docs
PORT ?= 8080
MODEL ?= all-MiniLM-L6-v2
DATA ?=
REINDEX ?=
Q ?=

LOCKS := requirements.lock requirements-dev.lock

.PHONY: help up ask status doctor test check format generate lock eval bench faults simulate engines engines-stop setup setup-dev model clean wheels image cluster-programs test-cluster test-cluster-full

help: ## Lists the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'
	@echo
	@echo "  make up DOCS=path [DATA=path] [PORT=8080] [MODEL=all-MiniLM-L6-v2|multilingual-e5-small|folder] [REINDEX=1]"

up: setup model ## Runs a desk on DOCS (default: our own docs) and follows its changes until ctrl-C.
	@exec $(BIN)/refdesk up --docs "$(DOCS)" --port "$(PORT)" --model "$(MODEL)" $(if $(DATA),--data "$(DATA)") $(if $(REINDEX),--reindex)

ask: setup ## Asks the running desk: make ask Q="how do I …".
	@$(BIN)/refdesk ask "$(Q)"

status: setup ## Says what the running desk holds and does.
	@$(BIN)/refdesk status

doctor: setup ## Checks this machine and the desk, and says what to do.
	@$(BIN)/refdesk doctor

test: setup-dev model ## Runs all tests, files side by side: much of what they do is waiting.
	$(BIN)/python -m pytest -n $(or $(WORKERS),3) --dist loadfile

cluster-programs: setup-dev model # Makes ahead what the next takes longest to make, and takes nobody's time.
	@PYTHONPATH=tests nice -n 19 $(BIN)/python -m cluster.prepare

test-cluster: setup-dev model ## Tests the chart on a real Kubernetes, in namespaces of this machine: root, Debian and Go are needed.
	REFDESK_TEST_CLUSTER=ci $(BIN)/python -m pytest tests/cluster

test-cluster-full: setup-dev model ## The same, and what takes longer: rollouts, a drain, network policies, a restore.
	REFDESK_TEST_CLUSTER=full $(BIN)/python -m pytest tests/cluster

check: setup-dev ## Format, lint, types, import contracts, protos, generated code, what belongs together.
	$(BIN)/ruff format --check services tests protos
	$(BIN)/ruff check services tests protos
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint protos
	$(BIN)/buf format --diff --exit-code protos
	$(BIN)/python protos/generate.py --check
	$(BIN)/python charts/generate.py --check
	$(BIN)/yamllint -c charts/.yamllint.yaml charts skaffold.yaml deploy
	@diff -u docs/reference/settings.md <($(BIN)/refdesk config reference) || { echo "docs/reference/settings.md is not current: run make generate"; exit 1; }
	$(BIN)/python tests/promises.py
	$(BIN)/python -m pytest tests/monitoring/test_ties.py

format: setup-dev ## Formats code and protos.
	$(BIN)/ruff format services tests protos
	$(BIN)/ruff check --fix services tests protos
	$(BIN)/buf format -w protos

generate: setup-dev ## Writes services/refdesk/api from the protos, the settings reference, and the chart's schema and README.
	$(BIN)/python protos/generate.py
	@mkdir -p docs/reference
	$(BIN)/refdesk config reference > docs/reference/settings.md
	@$(BIN)/python charts/generate.py > /dev/null

eval: setup-dev model ## Asks our own questions of real documentation and prints the table.
	PYTHONPATH=tests $(BIN)/python -m eval.run

bench: setup-dev model ## Measures, and prints the table.
	PYTHONPATH=tests $(BIN)/python -m benchmarks.run

faults: setup-dev model ## Breaks a whole deployment in every way, 20 times each, and checks the invariants: make faults ROWS="kill stall" TIMES=2.
	PYTHONPATH=tests $(BIN)/python -m faults.run $(ROWS) --times $(or $(TIMES),20)

simulate: setup-dev ## Runs seeds of the simulations, 10,000 where nothing is said: make simulate KINDS=publish FIRST=10000 SEEDS=100000.
	PYTHONPATH=tests $(BIN)/python -m simulations.run $(KINDS) --first $(or $(FIRST),0) --seeds $(or $(SEEDS),0)

engines: setup-dev ## Starts an OpenSearch and a nats-server in the background, empty, and prints their URLs.
	@PYTHONPATH=tests $(BIN)/python -m servers.engines start

engines-stop: setup-dev ## Ends them; what they held is gone.
	@PYTHONPATH=tests $(BIN)/python -m servers.engines stop

lock: setup-dev ## Pins every package by hash.
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock

setup: $(VENV)/.ready
setup-dev: $(VENV)/.ready-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "refdesk needs Python 3.11 or newer: make up PYTHON=python3.12, say"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "this Python cannot make a virtual environment: install its venv package (python3-venv on Debian)"; exit 1; }

$(VENV)/.ready: requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV) …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock $(VENV)/.ready
	@echo "setting up the tools for tests …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

model: setup
	@$(BIN)/python -m refdesk.embedder.build --model "$(MODEL)"

IMAGE ?= refdesk:local
BASE_IMAGE ?= docker.io/library/python:3.11-slim-bookworm
ARCH ?= $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,amd64)
BUILDER ?= $(shell docker info >/dev/null 2>&1 && echo "docker build" || echo "buildah bud")

WHEELS ?= .cache/wheels/$(ARCH)

wheels: setup
	@$(BIN)/python deploy/fetch_wheels.py --arch $(ARCH) --model "$(MODEL)" --into $(WHEELS)

image: wheels ## Builds the image with docker or buildah: make image IMAGE=name:tag ARCH=amd64|arm64 BASE_IMAGE=a-python-3.11.
	$(BUILDER) --platform linux/$(ARCH) --build-arg BASE_IMAGE="$(BASE_IMAGE)" --build-arg WHEELS=$(WHEELS) --build-arg MODEL="$(MODEL)" -t "$(IMAGE)" -f deploy/Dockerfile .

clean: ## Removes the virtual environment and the desks' data in this folder.
	rm -rf $(VENV) .refdesk
