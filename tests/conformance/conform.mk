# conform.mk -- conformance: the cases of tests/conformance on the CPU device and on a GPU; included by
# the Makefile after cpu.mk.
#   make conformance-check   runs them on the CPU device and compares with tests/conformance/vectors.txt
#   make conformance         runs them on the GPU present and writes that file anew (VECTORS=path: another)

CONF      := tests/conformance
CONF_OUT  := out/build/conformance
CONF_CU   := $(sort $(wildcard $(CONF)/*.cu))
CONF_ALL  := $(sort $(wildcard $(CONF)/*.h)) $(wildcard templates/lib/*)
VECTORS   ?= $(CONF)/vectors.txt
MAKE_VARS += VECTORS

# ---- on the CPU device ---------------------------------------------------------------------------
$(CONF_OUT)/%.o: $(CONF)/%.cu $(CONF_ALL) | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CXX     $@"
	$(Q)$(CXX) $(CPU_WARN) -Wno-unused-parameter -Wno-psabi -O1 -g $(CPU_INC) -I$(CONF) $(CXXFLAGS) -x c++ -c -o $@ $<
$(CONF_OUT)/run_cpu.o: $(CONF)/run_cpu.cpp $(CONF_ALL) $(wildcard bench/cpu/*.h) | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CXX     $@"
	$(Q)$(CXX) $(CPU_WARN) -Wno-psabi -O2 -g $(CPU_INC) -I$(CONF) $(CXXFLAGS) -c -o $@ $<
$(CONF_OUT)/%.o: $(CONF)/%.c $(CONF_ALL) | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CC      $@"
	$(Q)$(CC) $(WARN) -O2 -g $(CFLAGS) -c -o $@ $<
$(CONF_OUT)/run_cpu: $(CONF_OUT)/run_cpu.o $(CONF_OUT)/vectors.o \
                     $(patsubst $(CONF)/%.cu,$(CONF_OUT)/%.o,$(CONF_CU)) \
                     $(filter-out %/main.o,$(CPU_ALL:%=$(CPU)/%))
	@echo "  LINK    $@"
	$(Q)$(CXX) $(LDFLAGS) -rdynamic -o $@ $^ -ldl
$(CONF_OUT)/compare: $(CONF_OUT)/compare.o $(CONF_OUT)/vectors.o
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

.PHONY: conformance-check
conformance-check: $(CONF_OUT)/run_cpu $(CONF_OUT)/compare
	$(Q)timeout 600 $(CONF_OUT)/run_cpu > $(CONF_OUT)/cpu.txt
	$(Q)$(CONF_OUT)/compare $(CONF)/vectors.txt $(CONF_OUT)/cpu.txt

# ---- on a GPU --------------------------------------------------------------------------------------
CONF_CUBINS := $(patsubst $(CONF)/%.cu,$(CONF_OUT)/%.cubin,$(CONF_CU))
$(CONF_OUT)/%.cubin: $(CONF)/%.cu $(CONF_ALL) | $(FIRST)
	@mkdir -p $(@D)
	@echo "  NVCC    $@"
	$(Q)$(NVCC) -std=c++17 -O3 -cubin -gencode arch=compute_90a,code=sm_90a -Itemplates/lib -o $@ $<
$(CONF_OUT)/run_cuda: $(CONF)/run_cuda.c $(CONF)/vectors.c $(CONF_ALL) | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CC      $@"
	$(Q)$(CC) $(WARN) -D_GNU_SOURCE -O2 $(WORK_INC) $(CFLAGS) -o $@ $(filter %.c,$^) $(CUDART)

# The new file takes the old one's place only when every case has ended.
.PHONY: conformance
conformance: $(CONF_OUT)/run_cuda $(CONF_CUBINS)
	$(Q)CONFORM_DRIVER="$$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)" \
	  CONFORM_NVCC="$$($(NVCC) --version | sed -n 's/.*V\([0-9.]*\)$$/\1/p')" \
	  timeout 120 $(CONF_OUT)/run_cuda $(CONF_CUBINS) > $(CONF_OUT)/gpu.txt
	$(Q)mv -f $(CONF_OUT)/gpu.txt $(VECTORS)
	@echo "wrote $(VECTORS)"
