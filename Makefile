# Everything a developer does, by name. Needs Python 3.11 or newer and make; builds the rest itself.

.DEFAULT_GOAL := help
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
PY := .venv/bin/python
RUNTIME := .venv/.runtime
DEV := .venv/.dev
REPLAY := .venv/.replay .venv/.scripts
ARGS ?=
SPREAD := -q -n auto --dist loadfile --no-loadscope-reorder
export PYTHON

# step NAME, COMMAND: one line when it passes, all that it said when it does not.
define step
	@if out=$$($(2) 2>&1); then printf '  ok      %-8s %s\n' '$(1)' "$$(printf '%s\n' "$$out" | tail -n 1)"; \
	else printf '  FAILED  %s\n%s\n' '$(1)' "$$out"; exit 1; fi
endef

.PHONY: help
help: ## show this list
	@printf 'asof: a web archive that can say what a site looked like as of a moment\n\n'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '%-18s %s\n' "$$name" "$$text"; done
	@printf '\n  ARGS=... is passed on:  make demo ARGS=--no-serve   make test ARGS="-k clock"\n'

.PHONY: demo
demo: $(RUNTIME) .venv/.scripts ## capture a small changing site twice, then serve it as of both moments
	@ASOF_REPLAY=$(CURDIR)/.venv/wabac .venv/bin/asof demo $(ARGS)

# A file's tests share a core and its servers; files start in the order that tests/conftest.py sets.
.PHONY: test
test: $(DEV) $(REPLAY) ## run all tests on all cores: ten minutes on two
	@$(PY) -m pytest $(SPREAD) $(ARGS)

.PHONY: test-long
test-long: $(DEV) $(REPLAY) ## the same with ten times the examples of each law, and all 500 kills
	@$(PY) -m pytest $(SPREAD) -m 'long or not long' --hypothesis-profile=long $(ARGS)

# What fails under measurement fails by time or memory: the figures are shown all the same.
.PHONY: coverage
coverage: $(DEV) $(REPLAY) ## lines and branches of src that tests reach: in all, and where the fewest
	@rm -rf build/coverage && mkdir -p build/coverage
	-@$(PY) -m coverage run -m pytest $(SPREAD) $(ARGS)
	@$(PY) -m coverage combine --quiet
	@$(PY) -m coverage report --sort=cover | awk 'NR <= 12; { last = $$0 } END { print last }'

.PHONY: check
check: format-check lint types imports shape ## format, lint, types, import law, shape

.PHONY: format-check lint types imports shape
format-check: $(DEV)
	$(call step,format,$(PY) -m ruff format --check --output-format concise .)
lint: $(DEV)
	$(call step,lint,$(PY) -m ruff check --quiet . && echo 'ruff: nothing to say')
types: $(DEV)
	$(call step,types,$(PY) -m mypy)
imports: $(DEV)
	$(call step,imports,.venv/bin/lint-imports --no-logo)
shape: $(DEV)
	$(call step,shape,$(PY) tools/shape.py)

.PHONY: fuzz
fuzz: $(DEV) ## hostile bytes through all C, under sanitizers and beside its Python: ARGS="--seconds 600"
	@sh tools/sanitized tools/fuzz.py $(ARGS)

.PHONY: format
format: $(DEV) ## format the code and mend what the linter can
	@$(PY) -m ruff check --quiet --fix-only .
	@$(PY) -m ruff format .

.PHONY: bench
bench: $(DEV) ## measure against other tools, as ratios in one interleaved run
	@$(PY) bench/spine.py $(ARGS)
	@$(PY) bench/catalog_lookup.py
	@$(PY) bench/crawl.py
	@$(PY) bench/serve.py
	@$(PY) bench/pages.py
	@$(PY) bench/frontier_scale.py
	@$(PY) bench/queue_memory.py
	@$(PY) bench/host_scheduler.py --virtual

.PHONY: bench-cover
bench-cover: $(DEV) ## the case study of covers beside the seed's tables: ARGS="--scale 0.1"
	@$(PY) bench/cover_case_study.py $(ARGS)

# All pages as they lie in the project, so that their links hold; a broken one fails the build.
.PHONY: docs
docs: .venv/.docs .venv/.scripts ## build the docs site: build/site/README.html
	@rm -rf build/pages && mkdir -p build/pages
	@git ls-files '*.md' docs/pictures | grep -v '^tests/' | tar cf - -T - | tar xf - -C build/pages
	@cp LICENSE build/pages/
	@# Marks for the tests, such as "console run", are no languages.
	@find build/pages -name '*.md' -exec sed -i -E 's/^```([a-z]+) .*/```\1/' {} +
	@ASOF_REPLAY=$(CURDIR)/.venv/wabac timeout 600 $(PY) tools/screenshots.py --docs build/pages
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --clean && echo 'build/site/index.html'

.PHONY: wheel
wheel: $(DEV) ## build the wheel and try it in a bare environment, without extras and without a compiler
	@sh tools/try_wheel

.PHONY: screenshots
screenshots: $(RUNTIME) .venv/.scripts ## pictures of our own pages for the documentation, by Chromium: docs/pictures
	@ASOF_REPLAY=$(CURDIR)/.venv/wabac timeout 400 $(PY) tools/screenshots.py $(ARGS)

.PHONY: clean
clean: ## remove .venv, caches and build output (never an archive)
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say that .venv holds what these files ask for. The second builds on the first, so that
# `make -j` never runs two installers at once.
$(RUNTIME): pyproject.toml constraints.txt setup.py $(wildcard src/asof/_*.c src/asof/*/_*.c src/asof/*/*/_*.c)
	@sh tools/bootstrap runtime
$(DEV): $(RUNTIME)
	@sh tools/bootstrap dev
.venv/.replay: $(DEV) tests/replay.txt
	@sh tools/bootstrap replay
.venv/.scripts: $(RUNTIME) src/asof/web/wabac.py
	@sh tools/bootstrap scripts
.venv/.docs: $(DEV)
	@sh tools/bootstrap docs
