# cpu.mk -- the CPU device: its program, the same with sanitizers, and the tests of its parts; included
# by the Makefile. No GPU, no CUDA: g++ and the C files that the bench worker shares.

CXX       := $(if $(filter default,$(origin CXX)),g++,$(CXX))
CPU       := out/build/cpu
CPU_ASAN  := out/build-asan/cpu
CPU_SRC   := $(filter-out bench/cpu/entry.cpp,$(sort $(wildcard bench/cpu/*.cpp)))
CPU_C     := gen/desc.c gen/legal.c bench/cuda/job.c bench/cuda/fault.c
CPU_INC   := -Ibench/cpu -Itemplates/lib -Igen -Ibench/cuda -Itests/c
CPU_WARN  := -std=c++17 -Wall -Wextra -Wshadow -Werror
CPU_ALL   := $(CPU_SRC:%.cpp=%.o) $(CPU_C:%.c=%.o)

# $(call cpu_rules,folder,program,flags): kernels are loaded with dlopen and find the device's
# functions in the program.
define cpu_rules
$(1)/%.o: %.cpp | $(FIRST)
	@mkdir -p $$(@D)
	@echo "  CXX     $$@"
	$$(Q)$$(CXX) $$(CPU_WARN) $(3) $$(CPU_INC) $$(CXXFLAGS) -MMD -MP -c -o $$@ $$<
$(1)/%.o: %.c | $(FIRST)
	@mkdir -p $$(@D)
	@echo "  CC      $$@"
	$$(Q)$$(CC) $$(WARN) $(3) $$(CPU_INC) $$(CFLAGS) -MMD -MP -c -o $$@ $$<
$(2): $(CPU_ALL:%=$(1)/%)
	@echo "  LINK    $$@"
	$$(Q)$$(CXX) $(3) $$(LDFLAGS) -rdynamic -o $$@.new $$^ -ldl && mv -f $$@.new $$@
-include $(CPU_ALL:%.o=$(1)/%.d)
endef
$(eval $(call cpu_rules,$(CPU),out/build/loom-cpu,-O2 -g))
$(eval $(call cpu_rules,$(CPU_ASAN),out/build-asan/loom-cpu,$(ASAN_FLAGS)))

# The parts that stand alone, under the sanitizers.
CPU_TESTS := $(patsubst tests/cpu/%.cpp,$(CPU_ASAN)/%,$(sort $(wildcard tests/cpu/*_test.cpp)))
$(CPU_TESTS): $(CPU_ASAN)/%: $(CPU_ASAN)/tests/cpu/%.o $(filter-out %/main.o,$(CPU_ALL:%=$(CPU_ASAN)/%))
	@echo "  LINK    $@"
	$(Q)$(CXX) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $^ -ldl
.SECONDARY: $(CPU_TESTS:$(CPU_ASAN)/%=$(CPU_ASAN)/tests/cpu/%.o)
-include $(CPU_TESTS:$(CPU_ASAN)/%=$(CPU_ASAN)/tests/cpu/%.d)

.PHONY: test-cpu-unit
test-cpu-unit: $(CPU_TESTS)
	$(call run_ctests,$(CPU_TESTS))
