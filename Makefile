#: Warploom: search spaces of matrix multiplication kernels, woven into CUDA.
#:
#: make deps             install what the goals beside it need; alone, what all need (Debian; elsewhere: say what)
#: make gen SHAPE=MxNxK  write the kernels of the most promising candidates to out/kernels/
#: make build SHAPE=...  gen, then compile them with nvcc: registers, spills, warnings
#: make bench SHAPE=...  build, then verify every kernel on the GPU and rank it against cuBLAS;
#:                       without a GPU: verify on the CPU device, rank by predicted time; nothing is timed
#: make bench SHAPES=file BUDGET=1h   a campaign: ends after BUDGET, the same command goes on;  FRESH=1: all again
#: make bench KERNEL=my.cu SHAPE=...  a kernel that you changed, checked, then timed beside what its key gives
#: make verify KEY=... SHAPE=...    may this kernel be launched? Limits, then its threads run on the CPU device
#: make search SHAPE=...  edit a space's text towards what is fast, by measuring (on a GPU, or BACKEND=fake)
#: make baseline SHAPES=file   what NVIDIA's libraries take on each problem; ends after BUDGET, goes on; without
#:                       SHAPES: the table of what the store has
#: make rank [SHAPE=...] the measurements so far, best first
#: make release          the best measured kernels as a library of their own: out/release/<device>/
#: make count SHAPE=...  how many candidates each space has, and which rule removes how many
#: make sample SHAPE=...  keys of some candidates, drawn uniformly
#: make explain KEY=... SHAPE=...   every rule of one candidate with its numbers filled in
#: make neighbours KEY=... SHAPE=...   the candidates next to one
#: make space SPACE=...  statements of a space, and where they stand;  FLAT=1: all of it as one file
#: make devices          the presets of GPUs: every figure and where it comes from
#: make test             tests that need no GPU;  make check: those that need nvcc, fuzzers, 100,000 random edits
#: make fuzz             the fuzzers alone; FUZZ_SECONDS=20 each, or FUZZ_RUNS=1000000
#: make golden           kernels that cover every parameter's values, on the CPU device;  golden-write: their counters
#: make mutants          bugs planted in good kernels: the CPU device finds each one, and nothing in the good ones
#: make cheats           kernels that cheat: none may pass, on the GPU (or BACKEND=cpu, the CPU device)
#: make conformance      on a GPU: what every instruction of the vocabulary gives;
#:                       conformance-check: the CPU device must give the same
#: make test-gpu         tests on the GPU;  make faults: hangs, crashes and traps between good kernels, what each costs
#: make aa               what a verdict is worth, on a GPU: kernels against themselves (N=200, PROCESSES=10 more in
#:                       fresh ones), and against copies that are 1 % slower
#: make bench-gen        how fast candidates are counted, drawn and rendered
#: make loom | worker    loom alone; the bench worker alone;  make clean: remove what was built
#: make lint | format    luacheck, and clang-format over the templates | clang-format
#:
#: Knobs, on the command line:
#:   SHAPE=MxNxK | SHAPES=file   the problem, or a file with one a line
#:   LAYOUT=nn,tn,nt,tt          A and B as stored: n = as in the product, t = transposed; a list
#:   DTYPE=f16|bf16  ACC=f32     types of A, B, C and of the accumulators
#:   SPACE=hopper,mma,simt       default: all that the device can run
#:   DEVICE=h200|h100|a100|...   a preset, implies the architecture; default: the GPU present, else h200
#:   BACKEND=cuda|cpu|fake       where kernels run; default cuda where a GPU is, else cpu: verified, not timed;
#:                               fake invents figures, to try the flow out
#:   KERNEL=file SCHEDULES=4 CHECK=0   of verify: a .cu or a space, orders tried; of search, bench: launch unchecked
#:   N=16  KEY=...               how many candidates a problem; or the one with this key
#:   KEYS=file                   bench: the candidates, lines KEY, or MxNxK KEY for that problem alone
#:   JOBS=n  BUDGET=60s  TIMEOUT=60s    processes at a time; time for all; for one compilation or job
#:   PROCESSES=3  BASELINES=all|gemmex   of bench, search: fresh processes that measure the finalists; what beside
#:   FINALISTS=3  BLOCKS=32      bench: how many finalists; paired blocks of each in a process
#:   OPTIONS=gemmex,lt,autotune,exhaustive  SWEEP=20s   of baseline: which options; how long exhaustive looks for
#:                               algorithms; N=100 SEED=1: a sample of the file
#:   CLOCKS=hot,chain,call,server,server-graph  bench: the winner by other clocks too, a list
#:   SANITIZE=1                  bench: compute-sanitizer's tools on the winner, those that are shown to work here
#:   MUTATOR=random|llm  SEED=1  RUN=name   of a search: who edits, from what seed, its name (out/search/<name>)
#:   OUT=out  STORE=file  WORKER=path   where kernels/, cache/ and store.db go
#:   LINES=1                     gen, build: kernels tell the compiler the template's lines (#line)
#: A language model edits (MUTATOR=llm): LOOM_LLM_URL (an OpenAI-compatible server's base, http://host:port/v1),
#:   LOOM_LLM_MODEL, LOOM_LLM_KEY in the environment; or LOOM_LLM_CMD, a command: prompt in, answer out
#: Build variables:
#:   CC=gcc  NVCC=nvcc  CUDA_HOME=/usr/local/cuda  V=1 (show commands)
#:   STATIC=1   a loom that needs no Lua, PCRE2, SQLite or zlib: out/build-static/loom
#:   LOOM=path  use this loom instead of building one

NVCC      ?= nvcc
# where nvcc is, once somebody asks
CUDA_HOME ?= $(or $(patsubst %/bin/,%,$(dir $(realpath $(shell command -v $(NVCC) 2>/dev/null)))),/usr/local/cuda)
BUILD     := out/build$(if $(filter 1,$(STATIC)),-static)
ASAN      := out/build-asan
LOOM      ?= $(BUILD)/loom
Q         := $(if $(filter 1,$(V)),,@)
WARN      := -std=c11 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Werror

# What stands on the command line and is no build variable goes to loom, which refuses what it does
# not know.
MAKE_VARS := CC CFLAGS CXX CXXFLAGS LDFLAGS NVCC CUDA_HOME LOOM STATIC V LIMIT BUGS CHEATS
NAMES     := $(foreach o,$(MAKEOVERRIDES),$(if $(findstring =,$o),$(firstword $(subst =, ,$o))))
KNOBS      = $(foreach k,$(filter-out $(MAKE_VARS),$(NAMES)),'$k=$(subst ','\'',$($k))')
# `make -j deps gen`: nothing is compiled before the headers are there.
FIRST     := $(filter deps,$(MAKECMDGOALS))
# `make STATIC=1` alone builds that loom; `make` alone helps.
.DEFAULT_GOAL := $(if $(filter 1,$(STATIC)),loom,help)

VERBS := gen build bench search baseline rank release count sample explain neighbours space devices bench-gen
.PHONY: help deps loom worker test check test-gpu lint format clean $(VERBS)

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

deps:
	$(Q)sh gen/deps.sh $(filter-out deps,$(MAKECMDGOALS))

# A loom from elsewhere is used as it is; its path may have blanks, so it is no target.
OWN_LOOM := $(if $(filter-out $(BUILD)/loom,$(LOOM)),loom-elsewhere,$(BUILD)/loom)
loom: $(OWN_LOOM)
.PHONY: loom-elsewhere
loom-elsewhere:
	@test -x "$(LOOM)" || { echo "make: LOOM='$(LOOM)' is no program" >&2; exit 1; }

# The worker is built where it can be used: a GPU is there, and no other worker is named.
ifneq (,$(filter bench search baseline,$(MAKECMDGOALS)))
bench search baseline: $(if $(or $(WORKER),$(filter fake,$(BACKEND))),,$(if $(wildcard /dev/nvidia0 /dev/nvidiactl),worker))
endif
worker: out/build/loom-bench
search: $(if $(filter llm,$(MUTATOR)),out/build/loom-llm)
# BACKEND=cpu is the default without a GPU; a search checks edited specs before their first launch.
bench search: $(if $(or $(WORKER),$(filter fake,$(BACKEND))),,out/build/loom-cpu)
$(VERBS): $(OWN_LOOM)
	$(Q)"$(LOOM)" $@ $(KNOBS)

# ---- loom: the C host; then the bench worker ----------------------------------------------------
LOOM_SRC    := main host host_file host_gzip host_log host_proc host_tmpl proc tmpl buf db stat util
LOOM_CFLAGS := $(WARN) -D_GNU_SOURCE -I/usr/include/lua5.4
LOOM_LIBS   := -llua5.4 -lpcre2-8 -lsqlite3 -lmd -lz
LOOM_STATIC := -Wl,-Bstatic $(LOOM_LIBS) -Wl,-Bdynamic -lm -ldl -lpthread
ASAN_FLAGS  := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover

# $(call loom_rules,folder,flags,libraries): objects and program of one variant
define loom_rules
$(1)/%.o: gen/%.c | $(1) $(FIRST)
	@echo "  CC      $$@"
	$$(Q)$$(CC) $$(LOOM_CFLAGS) $(2) $$(CFLAGS) -MMD -MP -c -o $$@ $$<
$(1)/loom: $(LOOM_SRC:%=$(1)/%.o)
	@echo "  LINK    $$@"
	$$(Q)$$(CC) $(2) $$(LDFLAGS) -o $$@.new $$^ $(3) && mv -f $$@.new $$@
$(1):
	@mkdir -p $$@
-include $(LOOM_SRC:%=$(1)/%.d)
endef
$(eval $(call loom_rules,$(BUILD),-O2,$(if $(filter 1,$(STATIC)),$(LOOM_STATIC),$(LOOM_LIBS) -lm)))
$(eval $(call loom_rules,$(ASAN),$(ASAN_FLAGS),$(LOOM_LIBS) -lm))
include gen/llm.mk bench/bench.mk bench/cpu/cpu.mk tests/conformance/conform.mk tests/fuzz.mk

# ---- tests ---------------------------------------------------------------------------------------
NVCC_TESTS := $(sort $(wildcard tests/nvcc_*test.lua))
TESTS      := $(filter-out $(NVCC_TESTS),$(sort $(wildcard tests/*_test.lua)))
# The instrumented loom runs the tests, JOBS groups of files at a time; many wait more than they work, so there is one
# process more than cores. What takes long over Lua alone is run by the loom that is shipped: what it asks of C, the
# others ask too. A small quarantine keeps forks quick.
PLAIN_TESTS := $(patsubst %,tests/%_test.lua,repro aa golden check emit sandbox search edit edit_random edit_statement \
                 edit_verb points survey llm_search mutate_llm space lang settled race campaign keys bench)

test: lint $(BUILD)/loom $(ASAN)/loom $(BUILD)/loom-llm $(ASAN)/loom-llm out/build/ctest/llm_stub out/build/loom-cpu test-c \
      test-cpu-unit
	$(Q)ASAN_OPTIONS=quarantine_size_mb=16 LOOM_TEST_JOBS=$(or $(JOBS),$(shell expr $$(nproc) + 1)) \
	  $(ASAN)/loom test --with $(BUILD)/loom $(PLAIN_TESTS) --with $(ASAN)/loom $(filter-out $(PLAIN_TESTS),$(TESTS))

check: $(BUILD)/loom out/build/loom-cpu test-launch conformance-check fuzz
	$(Q)$(BUILD)/loom test $(NVCC_TESTS) tests/check/edits.lua tests/check/golden.lua tests/check/kill.lua
	$(Q)$(BUILD)/loom --script tests/mutants/run.lua
	$(Q)BACKEND=cpu $(BUILD)/loom --script tests/cheats/run.lua

golden: $(OWN_LOOM) out/build/loom-cpu
	$(Q)LIMIT=$(LIMIT) "$(LOOM)" test tests/check/golden.lua
golden-write: $(OWN_LOOM) out/build/loom-cpu
	$(Q)"$(LOOM)" test tests/golden/make.lua
mutants: $(OWN_LOOM) out/build/loom-cpu
	$(Q)"$(LOOM)" --script tests/mutants/run.lua $(BUGS)
cheats: $(OWN_LOOM) out/build/loom-cpu $(if $(filter cpu,$(BACKEND)),,$(if $(wildcard /dev/nvidia0 /dev/nvidiactl),worker))
	$(Q)BACKEND=$(BACKEND) "$(LOOM)" --script tests/cheats/run.lua $(CHEATS)
verify: $(OWN_LOOM) out/build/loom-cpu
	$(Q)"$(LOOM)" check $(KNOBS)
loom-cpu: out/build/loom-cpu
.PHONY: golden golden-write mutants cheats verify loom-cpu

test-gpu: $(OWN_LOOM) worker
	$(Q)out/build/loom-bench --selftest
	$(Q)BACKEND=cuda "$(LOOM)" --script tests/cheats/run.lua
	$(Q)"$(LOOM)" --script tests/gpu/faults.lua
	$(Q)"$(LOOM)" test tests/gpu/*_test.lua
faults: $(OWN_LOOM) worker
	$(Q)"$(LOOM)" --script tests/gpu/faults.lua
.PHONY: faults

# N, PROCESSES, BACKEND and WORKER of the command line stand in the environment.
aa: $(OWN_LOOM) $(if $(or $(WORKER),$(filter fake,$(BACKEND))),,worker)
	$(Q)"$(LOOM)" --script tests/gpu/aa.lua
.PHONY: aa

lint: $(FIRST)
	$(Q)luacheck -q --no-color lua spaces tests
	$(Q)clang-format --dry-run -Werror templates/*.cu templates/lib/* tests/mutants/*.cu bench/cpu/*.cpp bench/cpu/*.h \
	  tests/conformance/*.cu tests/conformance/*.[ch] tests/conformance/*.cpp

format:
	$(Q)clang-format -i gen/*.[ch] bench/cuda/*.[ch] bench/cuda/*.cu bench/cpu/*.cpp bench/cpu/*.h tests/c/*.[ch] \
	  tests/cpu/*.cpp tests/fuzz/*.[ch] tests/conformance/*.cu tests/conformance/*.[ch] tests/conformance/*.cpp tests/mutants/*.cu \
	  templates/*.cu templates/lib/* templates/release/*.h templates/release/*/*.[ch]

clean:
	$(Q)rm -rf out/build out/build-asan out/build-static out/build-fuzz out/cache
