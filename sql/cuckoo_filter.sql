-- What only the type cuckoo_filter has.

COMMENT ON TYPE cuckoo_filter IS 'cuckoo filter: a table of short fingerprints, from which keys can be removed';

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

CREATE FUNCTION cuckoo_create(capacity bigint, bucket_size integer DEFAULT 2, fingerprint_bits integer DEFAULT 8,
	max_iterations integer DEFAULT 20, expansion integer DEFAULT 1)
	RETURNS cuckoo_filter
	AS 'MODULE_PATHNAME', 'bf_cuckoo_create_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoo_create(bigint, integer, integer, integer, integer) IS 'empty cuckoo filter with slots for so many keys, in buckets whose number is rounded up to a power of two';

----------------------------------------------------------------------------
-- Remove and count
----------------------------------------------------------------------------

-- Not strict: removing NULL changes nothing.
CREATE FUNCTION cuckoo_remove(filter cuckoo_filter, key anycompatible) RETURNS cuckoo_filter
	AS 'MODULE_PATHNAME', 'bf_cuckoo_remove_sql'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoo_remove(cuckoo_filter, anycompatible) IS 'filter with one copy of this key taken away; remove only keys that were added';

CREATE FUNCTION cuckoo_remove_all(filter cuckoo_filter, keys anyarray) RETURNS cuckoo_filter
	AS 'MODULE_PATHNAME', 'bf_cuckoo_remove_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoo_remove_all(cuckoo_filter, anyarray) IS 'filter with one copy of each key in an array taken away';

CREATE FUNCTION cuckoo_key_count(filter cuckoo_filter, key anycompatible) RETURNS integer
	AS 'MODULE_PATHNAME', 'bf_cuckoo_key_count_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoo_key_count(cuckoo_filter, anycompatible) IS 'how often the key is held: no less than it was added, false matches included';

----------------------------------------------------------------------------
-- Look: all of these read only the head of a stored filter
----------------------------------------------------------------------------

CREATE FUNCTION cuckoo_info(filter cuckoo_filter,
	OUT capacity bigint, OUT buckets bigint, OUT bucket_size integer,
	OUT fingerprint_bits integer, OUT max_iterations integer, OUT expansion integer,
	OUT sub_filters integer, OUT slots bigint, OUT keys bigint, OUT removed bigint,
	OUT fill float8, OUT estimated_fpr float8, OUT fpr_bound float8, OUT size_bytes bigint)
	AS 'MODULE_PATHNAME', 'bf_cuckoo_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoo_info(cuckoo_filter) IS 'what a filter is and how full; reads only the header';

CREATE FUNCTION cuckoo_count(filter cuckoo_filter) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_cuckoo_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoo_count(cuckoo_filter) IS 'number of keys held, each as often as it is held: exact';

CREATE FUNCTION cuckoo_fpr(filter cuckoo_filter) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_cuckoo_fpr'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoo_fpr(cuckoo_filter) IS 'expected share of absent keys that pass now; with an expansion above 1 the most it can be';

----------------------------------------------------------------------------
-- Aggregates; each adds a key only if the filter does not hold it
----------------------------------------------------------------------------

CREATE FUNCTION cuckoo_agg_transition(internal, anycompatible, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_cuckoo_filter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoo_agg_transition(internal, anycompatible, bigint) IS 'transition of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_transition(internal, anycompatible, bigint, integer, integer) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_cuckoo_filter_agg_params_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoo_agg_transition(internal, anycompatible, bigint, integer, integer) IS 'transition of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_template_transition(internal, anycompatible, cuckoo_filter) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_template_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoo_agg_template_transition(internal, anycompatible, cuckoo_filter) IS 'transition of cuckoo_agg';

CREATE AGGREGATE cuckoo_agg(key anycompatible, capacity bigint) (
	SFUNC = cuckoo_agg_transition,
	STYPE = internal,
	FINALFUNC = cuckoo_filter_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, bigint) IS 'cuckoo filter of the keys, made as cuckoo_create(capacity)';

CREATE AGGREGATE cuckoo_agg(key anycompatible, capacity bigint, bucket_size integer, fingerprint_bits integer) (
	SFUNC = cuckoo_agg_transition,
	STYPE = internal,
	FINALFUNC = cuckoo_filter_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, bigint, integer, integer) IS 'cuckoo filter of the keys, made as cuckoo_create(capacity, bucket_size, fingerprint_bits)';

-- Without a combine function: with an expansion above 1 a union can fail where
-- adding the keys would not.
CREATE AGGREGATE cuckoo_agg(key anycompatible, template cuckoo_filter) (
	SFUNC = cuckoo_agg_template_transition,
	STYPE = internal,
	FINALFUNC = cuckoo_filter_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, cuckoo_filter) IS 'cuckoo filter of the keys, made as the template';

CREATE AGGREGATE cuckoo_union_agg(filter cuckoo_filter) (
	SFUNC = cuckoo_union_agg_transition,
	STYPE = internal,
	FINALFUNC = cuckoo_filter_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_union_agg(cuckoo_filter) IS 'union of cuckoo filters: each key as often as in the filter that holds it most often';
