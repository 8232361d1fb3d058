# fuzz.mk -- libFuzzer targets (clang): the scanner of templates, the template engine, the readers of
# space files. `make fuzz` runs each for FUZZ_SECONDS, or FUZZ_RUNS runs where that is given; what it
# finds stays in out/build-fuzz/, as crash-*; once mended, it moves into tests/fuzz/corpus-*.

CLANG        ?= clang
FUZZ_SECONDS ?= 20
FUZZ_RUNS    ?=
FUZZ         := out/build-fuzz
FUZZ_TARGETS := scan tmpl spec
FUZZ_CFLAGS  := -std=c11 -D_GNU_SOURCE -I/usr/include/lua5.4 -Igen -DROOT='"$(CURDIR)"' -O1 -g \
  -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_OBJ     := $(filter-out $(FUZZ)/main.o,$(LOOM_SRC:%=$(FUZZ)/%.o))
MAKE_VARS    += CLANG FUZZ_SECONDS FUZZ_RUNS

# where the inputs of each come from, besides its corpus
FUZZ_DIRS_scan := templates tests/tmpl tests/tmpl/fail
FUZZ_DIRS_tmpl := templates tests/tmpl tests/tmpl/fail
FUZZ_DIRS_spec := spaces tests/fail
FUZZ_LEN_scan  := 4096
FUZZ_LEN_tmpl  := 2048
FUZZ_LEN_spec  := 1000

.PHONY: fuzz fuzz-build $(FUZZ_TARGETS:%=fuzz-%)

fuzz-build: $(FUZZ_TARGETS:%=$(FUZZ)/fuzz_%)
fuzz: $(FUZZ_TARGETS:%=fuzz-%)

$(FUZZ):
	@mkdir -p $@
$(FUZZ)/%.o: gen/%.c | $(FUZZ) $(FIRST)
	@echo "  CC      $@"
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<
$(FUZZ)/fuzz_%.o: tests/fuzz/fuzz_%.c | $(FUZZ) $(FIRST)
	@echo "  CC      $@"
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -Wall -Wextra -Werror -MMD -MP -c -o $@ $<
$(FUZZ)/fuzz_%: $(FUZZ)/fuzz_%.o $(FUZZ_OBJ)
	@echo "  LINK    $@"
	$(Q)$(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ $(LOOM_LIBS)
.SECONDARY: $(FUZZ_OBJ) $(FUZZ_TARGETS:%=$(FUZZ)/fuzz_%.o)
-include $(wildcard $(FUZZ)/*.d)

# The Lua state lives as long as the program, so leaks are not looked for. New inputs go to a folder
# of their own, which a second run starts from.
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: $(FUZZ)/fuzz_%
	@mkdir -p $(FUZZ)/found-$*
	$(Q)echo "  FUZZ    $*" && { ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 $< \
	  -artifact_prefix=$(FUZZ)/$*- -dict=tests/fuzz/$*.dict -max_len=$(FUZZ_LEN_$*) -timeout=20 \
	  -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
	  $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS),-max_total_time=$(FUZZ_SECONDS)) \
	  $(FUZZ)/found-$* tests/fuzz/corpus-$* $(wildcard $(FUZZ_DIRS_$*)) >$(FUZZ)/$*.log 2>&1 \
	  && grep -E 'Done|number_of_executed_units|average_exec_per_sec' $(FUZZ)/$*.log \
	  || { grep -vE '^(#|NEW_FUNC)' $(FUZZ)/$*.log | tail -40; exit 1; }; }
