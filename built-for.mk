# Objects of one PostgreSQL must not be linked for another: they are made again
# when the one they are made for changes.  Included after PGXS.
BUILT_FOR := $(PGXS) $(shell $(PG_CONFIG) --version)
ifneq ($(BUILT_FOR),$(shell cat .built-for 2>/dev/null))
$(shell echo '$(BUILT_FOR)' > .built-for)
endif
$(OBJS) $(OBJS:.o=.bc): .built-for
.PHONY: clean-built-for
clean: clean-built-for
clean-built-for:
	rm -f .built-for
