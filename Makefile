# make demo     a first picture: the plume in a window, or as a film where there is no display
# make test     lint, types and all tests
# make validate the long flows against published numbers; writes docs/validation.md (a quarter of an hour)
# make bench    milliseconds per step and per pass on this machine; writes docs/performance.md (some minutes)
# make soak     200 lives, 10,000 steps, 100,000 steps of decay, random scenes: nothing grows, slows or breaks
# make fuzz     random scenes and pictures, others each time: what must hold in every one (some minutes); SEED=n SCENES=n tell which
# make lint     ruff and mypy alone
# make docs     the pages and the API reference as HTML, in build/docs
# make clean    removes what builds, tests and the demo made (not .venv)
#
# Each installs what it misses: system packages with apt (nothing where all is there), the rest in .venv.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := demo
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: demo test validate soak fuzz bench lint docs clean system-demo system-test system-lint

demo: system-demo $(VENV)/.demo-ready
	@$(PY) -m gpufluid demo plume --overwrite $(ARGS)

bench: system-test $(VENV)/.test-ready
	@$(PY) -m gpufluid bench --cells 64 64 64 $(ARGS)
	@$(PY) -m gpufluid bench --page docs/performance.md

# A file's tests stay together: what they share (programs, a session in a window, a wheel) is made once, not on both cores.
# The package is compiled once, not by each of the processes that tests start: more than half of their start.
test: system-test lint
	@$(PY) -m compileall -q gpufluid
	$(PY) -m pytest -n 2 --dist loadfile $(ARGS)

validate: system-test $(VENV)/.test-ready
	$(PY) -m pytest -m validation $(ARGS)

soak: system-test $(VENV)/.test-ready
	$(PY) -m pytest -m soak -s $(ARGS)

fuzz: system-test $(VENV)/.test-ready
	FUZZ_SEED=$(or $(SEED),$(shell date +%s)) FUZZ_SCENES=$(SCENES) $(PY) -m pytest -m fuzz $(ARGS)

lint: system-lint $(VENV)/.test-ready
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

docs: system-lint $(VENV)/.test-ready
	$(PY) -m sphinx -b html -W --keep-going -n -q docs build/docs
	@echo "wrote $(CURDIR)/build/docs/index.html"

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis plume.mp4 plume.png
	find gpufluid demos tests -name __pycache__ -type d -prune -exec rm -rf {} +

system-demo:
	@PYTHON=$(PYTHON) tools/system-packages.sh venv gl

system-test:
	@PYTHON=$(PYTHON) tools/system-packages.sh venv gl xvfb
	@PYTHON=$(PYTHON) tools/system-packages.sh wayland || echo "tests of windows on Wayland will be skipped"
	@PYTHON=$(PYTHON) tools/system-packages.sh qt || echo "the test of a window of Qt will be skipped"
	@PYTHON=$(PYTHON) tools/system-packages.sh vdb || echo "tests that read OpenVDB files back will be skipped"
	@PYTHON=$(PYTHON) tools/system-packages.sh glsl || echo "shaders will not be held to Khronos' compiler"

system-lint:
	@PYTHON=$(PYTHON) tools/system-packages.sh venv

# The two stamps say which extras the environment holds for this pyproject.toml.
$(VENV)/pyvenv.cfg: | system-lint
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo-ready: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing gpufluid and what it needs into $(VENV)"
	@$(PIP) --editable '.[all]'
	@touch $@

$(VENV)/.test-ready: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing gpufluid, what it needs and the tools for its tests into $(VENV)"
	@$(PIP) --editable '.[all,test]'
	@touch $@ $(VENV)/.demo-ready
