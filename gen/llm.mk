# llm.mk -- loom-llm, which asks language models, and the server its tests talk to; included by the
# Makefile. A program of its own: loom stays free of libcurl and jansson. `make search MUTATOR=llm`
# and the tests build it, nothing else does.

LLM_SRC  := llm llm_answer llm_cmd llm_http llm_text
LLM_LIBS := -lcurl -ljansson

# $(call llm_rules,folder,flags): the objects' rule is that of loom_rules
define llm_rules
$(1)/loom-llm: $(LLM_SRC:%=$(1)/%.o) $(1)/buf.o $(1)/util.o
	@echo "  LINK    $$@"
	$$(Q)$$(CC) $(2) $$(LDFLAGS) -o $$@ $$^ $$(LLM_LIBS)
-include $(LLM_SRC:%=$(1)/%.d)
endef
$(eval $(call llm_rules,out/build,-O2))
$(eval $(call llm_rules,$(ASAN),$(ASAN_FLAGS)))

# Built like the C tests; tests/llm_kit.lua starts it.
out/build/ctest/llm_stub: tests/c/llm_stub.c | $(FIRST)
	@mkdir -p $(@D)
	@echo "  CC      $@"
	$(Q)$(CC) $(WARN) -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ $<
