# bloomfilter: probabilistic structures as PostgreSQL types.
#
#   make && make install    for the PostgreSQL that pg_config belongs to
#   make check              all tests, on a throw-away server
#   make demo               a tour on real data, on a throw-away server
#   make bench              every operation beside its peer, and charts
#   make installcheck       the regression tests, on the server that runs

EXTENSION = bloomfilter
MODULE_big = bloomfilter

# free of the server: what the harnesses and the Redis extension link too
ALGORITHMS = hash params bits format filter bloom counting scalable
OBJS = $(patsubst %,src/%.o,$(ALGORITHMS) \
	aggregate bloom_sql bloomfilter callsite counting_sql distinct errors filter_sql gateway \
	index_access index_build index_handler index_insert index_page index_probe index_sql index_vacuum \
	info_sql io key keytype scalable_sql selectivity_sql sizing_agg stored tempfile toastreader)

# The version is said once, in the control file.
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(EXTENSION).control)

# The install script is joined from parts: *.sql.in again for each type.
SCRIPT = sql/$(EXTENSION)--$(EXTVERSION).sql
FIXED_TYPES = bloom counting_bloom
TYPES = $(FIXED_TYPES) scalable_bloom
DATA_built = $(SCRIPT)
DATA = $(filter-out $(SCRIPT),$(wildcard sql/$(EXTENSION)--*--*.sql))

REGRESS = types keys collations golden functions aggregates errors estimates rates \
	counting scalable scalable_golden other_types stored lifetimes \
	index_use index_types index_growth index_ddl index_rights
REGRESS_OPTS = --inputdir=test

# Our symbols stay our own: the postgres binary exports some of these names.
PG_CFLAGS = -fvisibility=hidden

PG_CONFIG ?= pg_config

# These work on a machine without PostgreSQL, and install it; PGXS has a check
# target of its own, so they are kept apart from it.
ALONE = check demo bench
ifneq ($(filter $(ALONE),$(MAKECMDGOALS)),)

.PHONY: $(ALONE)
$(ALONE):
	@PG_CONFIG='$(if $(filter-out undefined default file,$(origin PG_CONFIG)),$(PG_CONFIG))' MAKE='$(MAKE)' test/$(@:bench=benchmark)

else

PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(wildcard $(PGXS)),)
$(error '$(PG_CONFIG)' has no server headers: install postgresql-server-dev, or run 'make check', which does)
endif
include $(PGXS)
$(OBJS): $(wildcard src/*.h)

# Objects of one PostgreSQL must not be linked for another.
BUILT_FOR := $(PGXS) $(shell $(PG_CONFIG) --version)
ifneq ($(BUILT_FOR),$(shell cat .built-for 2>/dev/null))
$(shell echo '$(BUILT_FOR)' > .built-for)
endif
$(OBJS) $(OBJS:.o=.bc): .built-for
EXTRA_CLEAN += .built-for

$(SCRIPT): sql/$(EXTENSION).sql $(wildcard sql/*.sql.in) $(TYPES:%=sql/%.sql) sql/index.sql $(EXTENSION).control Makefile
	{ cat sql/$(EXTENSION).sql; \
	  for type in $(TYPES); do \
	    echo; sed "s/@TYPE@/$$type/g" sql/filter.sql.in; \
	    echo; cat sql/$$type.sql; \
	    case " $(FIXED_TYPES) " in \
	      *" $$type "*) echo; sed "s/@TYPE@/$$type/g" sql/fixed.sql.in;; \
	    esac; \
	  done; \
	  echo; cat sql/index.sql; } > $@.tmp && mv $@.tmp $@

endif

# for scripts: make -s print-REGRESS
print-%:
	@echo '$($*)'
