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
ALGORITHMS = hash params bits format filter bloom counting scalable count_min top_k
OBJS = $(patsubst %,src/%.o,$(ALGORITHMS) \
	aggregate bloom_sql bloomfilter callsite count_min_agg_sql count_min_sql counting_sql distinct errors \
	filter_sql gateway info_sql io key keytype scalable_sql selectivity_sql sizing_agg sketch_sql stored \
	tempfile toastreader top_k_agg_sql top_k_sql)

# The version is said once, in the control file.
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(EXTENSION).control)

# The install script is joined from parts: *.sql.in again for each type.
SCRIPT = sql/$(EXTENSION)--$(EXTVERSION).sql
FIXED_TYPES = bloom counting_bloom
BLOOM_TYPES = $(FIXED_TYPES) scalable_bloom
TYPES = $(BLOOM_TYPES) count_min_sketch top_k
DATA_built = $(SCRIPT)
DATA = $(filter-out $(SCRIPT),$(wildcard sql/$(EXTENSION)--*--*.sql))

REGRESS = types keys collations golden functions aggregates errors estimates rates \
	counting scalable scalable_golden other_types stored lifetimes count_min top_keys
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

$(SCRIPT): sql/$(EXTENSION).sql $(wildcard sql/*.sql.in) $(TYPES:%=sql/%.sql) $(EXTENSION).control Makefile
	{ cat sql/$(EXTENSION).sql; \
	  for type in $(TYPES); do \
	    echo; sed "s/@TYPE@/$$type/g" sql/type.sql.in; \
	    case " $(BLOOM_TYPES) " in \
	      *" $$type "*) echo; sed "s/@TYPE@/$$type/g" sql/filter.sql.in;; \
	    esac; \
	    echo; cat sql/$$type.sql; \
	    case " $(FIXED_TYPES) " in \
	      *" $$type "*) echo; sed "s/@TYPE@/$$type/g" sql/fixed.sql.in;; \
	    esac; \
	  done; } > $@.tmp && mv $@.tmp $@

endif

# for scripts: make -s print-REGRESS
print-%:
	@echo '$($*)'
