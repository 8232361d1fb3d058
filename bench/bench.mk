# bench.mk -- the bench worker, and the C tests of its parts; included by the Makefile.
# gcc compiles the C files, nvcc the .cu files. The CUDA runtime is linked in; cuBLAS is found at run
# time where it was found here (rpath).

WORK      := out/build/bench
# CUDA's headers are the system's: only our own code answers for its warnings.
WORK_INC   = -Igen -Ibench/cuda -isystem $(CUDA_HOME)/include
# 8.0 code runs on 8.x, 9.0 code on Hopper; anything newer takes the PTX. Their host halves do
# without libstdc++.
WORK_NVCC := -std=c++17 -O3 -gencode arch=compute_80,code=sm_80 \
             -gencode arch=compute_90,code=[sm_90,compute_90] \
             -Xcompiler -Wall,-Wextra,-fno-exceptions,-fno-threadsafe-statics
CUDART     = -L$(CUDA_HOME)/lib64 -lcudart_static -lrt -lpthread -ldl
WORK_LIBS  = -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcublas -lcublasLt $(CUDART) -lm
WORK_SRC  := gen/desc.c gen/legal.c gen/launch.c gen/stat.c $(wildcard bench/cuda/*.c)
WORK_CU   := $(wildcard bench/cuda/*.cu)

out/build/loom-bench: $(WORK_SRC:%.c=$(WORK)/%.o) $(WORK_CU:%.cu=$(WORK)/%.o)
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(WORK_LIBS)

$(WORK)/%.o: %.c | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CC      $@"
	$(Q)$(CC) $(WARN) -O2 -g $(WORK_INC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(WORK_CU:%.cu=$(WORK)/%.o): $(WORK)/%.o: %.cu bench/cuda/kernels.h bench/cuda/families.h bench/cuda/planted.h | $(FIRST)
	@mkdir -p $(@D)
	@echo "  NVCC    $@"
	$(Q)$(NVCC) $(WORK_NVCC) -c -o $@ $<

-include $(WORK_SRC:%.c=$(WORK)/%.d)

# C tests: no GPU, under ASan and UBSan. launch_test links the CUDA runtime, hostclock_test takes its
# headers, the others nothing.
CTEST       := out/build/ctest
CTEST_FLAGS  = $(WARN) -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all $(WORK_INC)
CTESTS      := $(addprefix $(CTEST)/,desc_test legal_test stat_test job_test clockplan_test)

$(CTEST)/desc_test: tests/c/desc_test.c gen/desc.c
$(CTEST)/legal_test: tests/c/legal_test.c gen/legal.c gen/desc.c
$(CTEST)/stat_test: tests/c/stat_test.c gen/stat.c
$(CTEST)/job_test: tests/c/job_test.c bench/cuda/job.c bench/cuda/fault.c
$(CTEST)/clockplan_test: tests/c/clockplan_test.c bench/cuda/clockplan.c gen/stat.c
$(CTEST)/launch_test: tests/c/launch_test.c gen/launch.c gen/legal.c gen/desc.c
$(CTEST)/launch_test: CTEST_LIBS = $(CUDART)
$(CTEST)/hostclock_test: tests/c/hostclock_test.c bench/cuda/hostclock.c bench/cuda/clockplan.c \
  bench/cuda/fault.c gen/stat.c
$(CTESTS) $(CTEST)/launch_test $(CTEST)/hostclock_test: tests/c/ok.h $(wildcard gen/desc.h gen/legal.h gen/launch.h gen/stat.h bench/cuda/*.h) | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CC      $@"
	$(Q)$(CC) $(CTEST_FLAGS) -o $@ $(filter %.c,$^) $(CTEST_LIBS) -lm

# Each program's count; on a failure its failing lines, and a non-zero exit.
define run_ctests
	$(Q)for t in $(1); do \
	  $$t > $$t.log 2>&1 || { grep -v '^ok' $$t.log; exit 1; }; \
	  echo "$${t##*/}: $$(tail -n 1 $$t.log)"; \
	done
endef

.PHONY: test-c test-launch
test-c: $(CTESTS)
	$(call run_ctests,$(CTESTS))

HAVE_CUDA := $(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h)
test-launch: $(if $(HAVE_CUDA),$(CTEST)/launch_test $(CTEST)/hostclock_test out/build/loom-bench)
ifneq ($(HAVE_CUDA),)
	$(call run_ctests,$(CTEST)/launch_test $(CTEST)/hostclock_test)
else
	@echo "launch_test, hostclock_test: skipped, no CUDA toolkit in $(CUDA_HOME)"
endif
