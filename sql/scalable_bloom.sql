-- What only the type scalable_bloom has.

COMMENT ON TYPE scalable_bloom IS 'Bloom filter that grows with its keys and keeps its false positive rate';

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

CREATE FUNCTION scalable_bloom_create(initial_capacity bigint, fpr float8 DEFAULT 0.01, growth integer DEFAULT 2,
	tightening float8 DEFAULT 0.5, hash text DEFAULT 'murmur64a')
	RETURNS scalable_bloom
	AS 'MODULE_PATHNAME', 'bf_scalable_create_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION scalable_bloom_create(bigint, float8, integer, float8, text) IS 'empty filter that grows and keeps the false positive rate however many keys are added';

----------------------------------------------------------------------------
-- Look at the layers
----------------------------------------------------------------------------

CREATE FUNCTION bloom_layers(filter scalable_bloom,
	OUT layer integer, OUT bits bigint, OUT hashes integer, OUT capacity bigint,
	OUT keys bigint, OUT target_fpr float8, OUT bits_set bigint, OUT fill float8,
	OUT estimated_count float8, OUT estimated_fpr float8, OUT size_bytes bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bf_info_layers'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 5;
COMMENT ON FUNCTION bloom_layers(scalable_bloom) IS 'the plain filters a scalable one consists of, oldest first';

----------------------------------------------------------------------------
-- Aggregates, without combine functions: united chains would add up their rates
----------------------------------------------------------------------------

CREATE FUNCTION scalable_bloom_agg_transition(internal, anycompatible, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_scalable_bloom_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION scalable_bloom_agg_transition(internal, anycompatible, bigint, float8) IS 'transition of scalable_bloom_agg';

CREATE AGGREGATE scalable_bloom_agg(key anycompatible, initial_capacity bigint, fpr float8) (
	SFUNC = scalable_bloom_agg_transition,
	STYPE = internal,
	FINALFUNC = scalable_bloom_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE scalable_bloom_agg(anycompatible, bigint, float8) IS 'scalable filter of the keys, made as scalable_bloom_create(initial_capacity, fpr)';

CREATE AGGREGATE bloom_union_agg(filter scalable_bloom) (
	SFUNC = bloom_union_agg_transition,
	STYPE = internal,
	FINALFUNC = scalable_bloom_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_union_agg(scalable_bloom) IS 'union of scalable filters';
