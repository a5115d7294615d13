# The two commands a new user needs are `make run` and `make test`; both do all the set-up (scripts/setup.sh).
PRESET ?= release
ACU := build/$(PRESET)/acu

.PHONY: run test package test-packages test-anywhere test-long test-kernels test-sanitize bench bench-overhead fuzz build setup docs clean format

run: setup-run
	@$(MAKE) --no-print-directory build TARGET=acu
	@scripts/survey.sh $(ACU)

test: setup-test
	@$(MAKE) --no-print-directory build
	@python3 test/run_all.py $(PRESET)

# All tests of the kernel engine on Debian's kernels 5.10, 6.1 and 6.12, in virtual machines, and on this one (an hour or more).
test-kernels: setup-test
	@$(MAKE) --no-print-directory build
	@python3 test/kernels/run.py $(ACU) --all --keep build/kernels.json --write docs/kernels.md

# All tests but those in virtual machines under the conditions of other hosts (hours): test/anywhere.py names them.
test-anywhere: setup-test
	@$(MAKE) --no-print-directory build
	@python3 test/anywhere.py $(PRESET) $(ANYWHERE_ARGS)

# What takes hours: also 10,000 random programs on both engines, and every builtin with all values.
test-long: setup-test
	@$(MAKE) --no-print-directory build
	@python3 test/arguments/run.py $(ACU) --all
	@for language in python php perl lua java ruby node go; do python3 test/languages/$$language.py $(ACU) --all || exit 1; done
	@python3 test/languages/python_values.py $(ACU) --all
	@python3 test/languages/suites.py $(ACU) --all
	@python3 test/why/planted.py $(ACU) --all
	@python3 test/waits/run.py $(ACU) --all
	@python3 test/systemtap/run.py $(ACU)
	@python3 test/faults/run.py $(ACU) --all
	@ACU_DIFFERENTIAL=1:10000 build/$(PRESET)/test/test_session --gtest_filter='Differential.*'
	@$(MAKE) --no-print-directory test-anywhere
	@$(MAKE) --no-print-directory test-kernels

test-sanitize: setup-test
	@$(MAKE) --no-print-directory build PRESET=sanitize
	@python3 test/run_all.py sanitize --only ctest,runtime

# Every section of bench/results.md in one go, but for the overhead on servers: an hour and a half, with nothing else running.
BENCHES = symbols unwind cores stacks profile trace trace_nginx http_requests waits slow flight sockets page timeline keys large languages events why
bench: setup-bench
	@$(MAKE) --no-print-directory build TARGET="acu bench_unwind"
	@python3 bench/run.py --acu $(ACU) $(BENCH_ARGS)
	@failed=; for bench in $(BENCHES); do echo "== $$bench"; python3 bench/$$bench.py --acu $(ACU) --out bench/results.md || failed="$$failed $$bench"; done; \
	 test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

# What recording costs servers, in pairs of runs (three hours); OVERHEAD_ARGS='--servers nginx --kinds net --pairs 3' takes less.
bench-overhead: setup-bench
	@$(MAKE) --no-print-directory build TARGET=acu
	@python3 bench/overhead.py --acu $(ACU) --out bench/results.md $(OVERHEAD_ARGS)

# What people install, into build/packages (packaging/README.md).
package: setup-package
	@cmake --preset package >/dev/null
	@cmake --build --preset package --target acu acu_static
	@packaging/package.sh build/package build/packages

# Builds them twice, compares, installs and runs them in folders of three Debian releases (half an hour).
test-packages: package
	@python3 test/packaging/run.py build/packages

build: setup-build
	@test -f build/$(PRESET)/build.ninja || cmake --preset $(PRESET) >/dev/null
	@cmake --build --preset $(PRESET) $(if $(TARGET),--target $(TARGET))

setup-%:
	@scripts/setup.sh $*

setup: setup-build

# One fuzzer for a while; new findings land in build/fuzz, their cause in test/fuzz/corpus.
FUZZ ?= script
SECONDS ?= 1800
fuzz: setup-fuzz
	@test -f build/fuzz/build.ninja || cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz --target fuzz_$(FUZZ)
	@mkdir -p build/fuzz/found/$(FUZZ)
	build/fuzz/test/fuzz_$(FUZZ) -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=4096 -max_len=4096 \
	  -artifact_prefix=build/fuzz/crash- build/fuzz/found/$(FUZZ) $(wildcard test/fuzz/corpus/$(FUZZ) \
	  $(if $(filter script,$(FUZZ)),test/runtime test/diagnostics tools))

# The reference manual from the tables.
docs: build
	$(ACU) help reference > docs/reference.md
	$(ACU) why --causes > docs/causes.md

clean:
	rm -rf build/release build/sanitize build/fuzz

format:
	clang-format -style=file -i $$(git ls-files '*.cc' '*.h')
