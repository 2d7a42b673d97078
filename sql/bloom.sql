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
-- Intersect and compare
----------------------------------------------------------------------------

CREATE FUNCTION bloom_intersect(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_intersect'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect(bloom, bloom) IS 'filter that holds the keys in both, with a higher rate than one built from them';

CREATE OPERATOR & (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_intersect, COMMUTATOR = &
);
COMMENT ON OPERATOR & (bloom, bloom) IS 'intersection';

CREATE FUNCTION bloom_union_count(bloom, bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_pair_union_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_union_count(bloom, bloom) IS 'estimated number of distinct keys in either';

CREATE FUNCTION bloom_intersect_count(bloom, bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_pair_intersect_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_intersect_count(bloom, bloom) IS 'estimated number of distinct keys in both';

CREATE FUNCTION bloom_jaccard(bloom, bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_pair_jaccard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_jaccard(bloom, bloom) IS 'estimated share of the keys in either that are in both';

----------------------------------------------------------------------------
-- Aggregates
----------------------------------------------------------------------------

CREATE FUNCTION bloom_agg_capacity_transition(internal, anycompatible, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_capacity_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_agg_capacity_transition(internal, anycompatible, bigint, float8) IS 'transition of bloom_agg';

CREATE FUNCTION bloom_agg_template_transition(internal, anycompatible, bloom) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_template_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_agg_template_transition(internal, anycompatible, bloom) IS 'transition of bloom_agg';

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

CREATE FUNCTION bloom_intersect_agg_transition(internal, bloom) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_intersect_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect_agg_transition(internal, bloom) IS 'transition of bloom_intersect_agg';

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

CREATE AGGREGATE bloom_agg(key anycompatible, capacity bigint, fpr float8) (
	SFUNC = bloom_agg_capacity_transition,
	STYPE = internal,
	FINALFUNC = bloom_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anycompatible, bigint, float8) IS 'filter of the keys, made as bloom_create(capacity, fpr)';

CREATE AGGREGATE bloom_agg(key anycompatible, template bloom) (
	SFUNC = bloom_agg_template_transition,
	STYPE = internal,
	FINALFUNC = bloom_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_agg(anycompatible, bloom) IS 'filter of the keys, with the geometry and hash of the template';

CREATE AGGREGATE bloom_union_agg(filter bloom) (
	SFUNC = bloom_union_agg_transition,
	STYPE = internal,
	FINALFUNC = bloom_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_union_agg(bloom) IS 'union of filters';

CREATE AGGREGATE bloom_intersect_agg(filter bloom) (
	SFUNC = bloom_intersect_agg_transition,
	STYPE = internal,
	FINALFUNC = bloom_agg_final,
	COMBINEFUNC = bloom_intersect_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_intersect_agg(bloom) IS 'intersection of filters';
