# bloomfilter: probabilistic structures as PostgreSQL types.
#
#   make && make install    for the PostgreSQL that pg_config belongs to
#   make check              all tests, on a throw-away server
#   make demo               a tour on real data, on a throw-away server
#   make bench              every operation beside its peer, and charts
#   make installcheck       the regression tests, on the server that runs
#   make dist               the archive of the last commit for PGXN
#
# WITH_REDIS=auto|yes|no    build extension bloomfilter_redis too: auto is when
#                           hiredis is there

EXTENSION = bloomfilter
MODULE_big = bloomfilter

# free of the server: what the harnesses and the Redis extension link too
ALGORITHMS = hash params bits format filter bloom regions counting scalable cuckoo cuckoo_table cuckoo_batch count_min top_k
OBJS = $(patsubst %,src/%.o,$(ALGORITHMS) \
	aggregate bloom_sql bloomfilter callsite count_min_agg_sql count_min_sql counting_sql cuckoo_sql distinct \
	errors expanded filter_sql gateway \
	index_access index_build index_handler index_insert index_page index_probe index_sql index_vacuum \
	info_sql io key keytype scalable_sql selectivity_sql sizing_agg sketch_sql stored \
	tempfile toastreader top_k_agg_sql top_k_sql)

# The version is said once, in the control file.
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(EXTENSION).control)

# The install script is joined from parts: *.sql.in again for each type.
SCRIPT = sql/$(EXTENSION)--$(EXTVERSION).sql
FIXED_TYPES = bloom counting_bloom
BLOOM_TYPES = $(FIXED_TYPES) scalable_bloom
FILTER_TYPES = $(BLOOM_TYPES) cuckoo_filter
TYPES = $(FILTER_TYPES) count_min_sketch top_k
DATA_built = $(SCRIPT)
DATA = $(filter-out $(SCRIPT),$(wildcard sql/$(EXTENSION)--*--*.sql))

REGRESS = types keys collations golden functions aggregates errors estimates rates \
	counting scalable scalable_golden other_types stored lifetimes format expanded \
	cuckoo cuckoo_golden cuckoo_types cuckoo_rates cuckoo_crawl cuckoo_expanded \
	index_use index_types index_growth index_ddl index_rights \
	count_min top_keys
REGRESS_OPTS = --inputdir=test

# Our symbols stay our own: the postgres binary exports some of these names.
PG_CFLAGS = -fvisibility=hidden

PG_CONFIG ?= pg_config

# These work on a machine without PostgreSQL, and install it; PGXS has a check
# target of its own, so they are kept apart from it.
ALONE = check demo bench
ifneq ($(filter $(ALONE) dist,$(MAKECMDGOALS)),)

# PGXN wants three numbers, and has them from META.json.
DISTVERSION = $(shell perl -MJSON::PP -0777 -ne 'print decode_json($$_)->{version}' META.json)

.PHONY: $(ALONE) dist
$(ALONE):
	@PG_CONFIG='$(if $(filter-out undefined default file,$(origin PG_CONFIG)),$(PG_CONFIG))' MAKE='$(MAKE)' test/$(@:bench=benchmark)
dist:
	@test -n '$(DISTVERSION)' # perl says why not
	git archive --format=zip --prefix=$(EXTENSION)-$(DISTVERSION)/ -o $(EXTENSION)-$(DISTVERSION).zip HEAD

else

PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(wildcard $(PGXS)),)
$(error '$(PG_CONFIG)' has no server headers: install postgresql-server-dev, or run 'make check', which does)
endif
include $(PGXS)
$(OBJS): $(wildcard src/*.h)

include built-for.mk

$(SCRIPT): sql/$(EXTENSION).sql $(wildcard sql/*.sql.in) $(TYPES:%=sql/%.sql) sql/index.sql $(EXTENSION).control Makefile
	{ cat sql/$(EXTENSION).sql; \
	  for type in $(TYPES); do \
	    case " $(BLOOM_TYPES) " in *" $$type "*) name=bloom;; *) name=$${type%%_*};; esac; \
	    echo; sed "s/@TYPE@/$$type/g" sql/type.sql.in; \
	    case " $(FILTER_TYPES) " in \
	      *" $$type "*) echo; sed "s/@TYPE@/$$type/g; s/@NAME@/$$name/g" sql/filter.sql.in;; \
	    esac; \
	    if [ $$name = bloom ]; then echo; sed "s/@TYPE@/$$type/g" sql/look.sql.in; fi; \
	    echo; cat sql/$$type.sql; \
	    case " $(FIXED_TYPES) " in \
	      *" $$type "*) echo; sed "s/@TYPE@/$$type/g" sql/fixed.sql.in;; \
	    esac; \
	  done; \
	  echo; cat sql/index.sql; } > $@.tmp && mv $@.tmp $@

# The optional extension has a Makefile of its own.
WITH_REDIS ?= auto
ifeq ($(WITH_REDIS),auto)
override WITH_REDIS := $(shell $(CC) $(CPPFLAGS) -E -include hiredis/hiredis.h -x c /dev/null >/dev/null 2>&1 && echo yes || echo no)
endif
ifeq ($(WITH_REDIS),yes)
.PHONY: redis-all redis-install redis-uninstall redis-clean
all: redis-all
install: redis-install
uninstall: redis-uninstall
clean: redis-clean
redis-all: $(OBJS)
redis-install: redis-all
redis-all redis-install redis-uninstall redis-clean:
	$(MAKE) -C redis $(@:redis-%=%) PG_CONFIG='$(PG_CONFIG)'
endif

endif

# for scripts: make -s print-REGRESS
print-%:
	@echo '$($*)'
