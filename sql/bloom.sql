-- What only the type bloom has.

COMMENT ON TYPE bloom IS 'Bloom filter: a set of keys that may answer "present" for an absent key, never "absent" for a present one';

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

CREATE FUNCTION bloom_create(capacity bigint, fpr float8 DEFAULT 0.01, hash text DEFAULT 'murmur64a')
	RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_bloom_create_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_create(bigint, float8, text) IS 'empty filter that keeps the false positive rate up to this many keys';

CREATE FUNCTION bloom_create_with_params(bits bigint, hashes integer, hash text DEFAULT 'murmur64a')
	RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_bloom_create_with_params'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_create_with_params(bigint, integer, text) IS 'empty filter of exactly this geometry';

----------------------------------------------------------------------------
-- Aggregates that size themselves
----------------------------------------------------------------------------

CREATE FUNCTION bloom_agg_sizing_transition(internal, anycompatible) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_sizing_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_agg_sizing_transition(internal, anycompatible) IS 'transition of bloom_agg';

CREATE FUNCTION bloom_agg_sizing_transition(internal, anycompatible, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_sizing_fpr_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_agg_sizing_transition(internal, anycompatible, float8) IS 'transition of bloom_agg';

CREATE FUNCTION bloom_agg_sizing_final(internal) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_agg_sizing_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_agg_sizing_final(internal) IS 'final function of bloom_agg';

CREATE AGGREGATE bloom_agg(key anycompatible) (
	SFUNC = bloom_agg_sizing_transition,
	STYPE = internal,
	FINALFUNC = bloom_agg_sizing_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anycompatible) IS 'filter of the keys at a rate of 1%, sized for their distinct number';

CREATE AGGREGATE bloom_agg(key anycompatible, fpr float8) (
	SFUNC = bloom_agg_sizing_transition,
	STYPE = internal,
	FINALFUNC = bloom_agg_sizing_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anycompatible, float8) IS 'filter of the keys at this rate, sized for their distinct number';
