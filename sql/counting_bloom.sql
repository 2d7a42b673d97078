-- What only the type counting_bloom has.

COMMENT ON TYPE counting_bloom IS 'Bloom filter of counters, from which keys can be removed';

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

CREATE FUNCTION counting_bloom_create(capacity bigint, fpr float8 DEFAULT 0.01, counter_bits integer DEFAULT 4,
	hash text DEFAULT 'murmur64a')
	RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bf_counting_create_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_create(bigint, float8, integer, text) IS 'empty counting filter that keeps the false positive rate up to this many keys';

CREATE FUNCTION counting_bloom_create_with_params(counters bigint, hashes integer, counter_bits integer DEFAULT 4,
	hash text DEFAULT 'murmur64a')
	RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bf_counting_create_with_params'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION counting_bloom_create_with_params(bigint, integer, integer, text) IS 'empty counting filter of exactly this geometry';

----------------------------------------------------------------------------
-- Remove and count
----------------------------------------------------------------------------

-- Not strict: removing NULL changes nothing.
CREATE FUNCTION bloom_remove(filter counting_bloom, key anycompatible) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bf_counting_remove_sql'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_remove(counting_bloom, anycompatible) IS 'filter with this key taken away once; remove only keys that were added';

CREATE FUNCTION bloom_remove_all(filter counting_bloom, keys anyarray) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bf_counting_remove_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_remove_all(counting_bloom, anyarray) IS 'filter with all the keys in an array taken away once';

CREATE FUNCTION bloom_key_count(filter counting_bloom, key anycompatible) RETURNS integer
	AS 'MODULE_PATHNAME', 'bf_counting_key_count_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_key_count(counting_bloom, anycompatible) IS 'how often the key was added: at least that, up to the counters'' maximum';

CREATE FUNCTION bloom_saturated(filter counting_bloom) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_info_saturated'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_saturated(counting_bloom) IS 'number of counters at their maximum, which no removal changes';

----------------------------------------------------------------------------
-- As a plain filter
----------------------------------------------------------------------------

CREATE FUNCTION counting_bloom_to_bloom(filter counting_bloom) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_counting_to_bloom_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION counting_bloom_to_bloom(counting_bloom) IS 'plain filter with the same answers';

CREATE CAST (counting_bloom AS bloom) WITH FUNCTION counting_bloom_to_bloom(counting_bloom);
COMMENT ON CAST (counting_bloom AS bloom) IS 'plain filter with the same answers';

----------------------------------------------------------------------------
-- Intersect and compare
----------------------------------------------------------------------------

CREATE FUNCTION bloom_intersect(counting_bloom, counting_bloom) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bf_intersect'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect(counting_bloom, counting_bloom) IS 'filter that holds the keys in both, with a higher rate than one built from them';

CREATE OPERATOR & (
	LEFTARG = counting_bloom, RIGHTARG = counting_bloom, FUNCTION = bloom_intersect, COMMUTATOR = &
);
COMMENT ON OPERATOR & (counting_bloom, counting_bloom) IS 'intersection';

CREATE FUNCTION bloom_union_count(counting_bloom, counting_bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_pair_union_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_union_count(counting_bloom, counting_bloom) IS 'estimated number of distinct keys in either';

CREATE FUNCTION bloom_intersect_count(counting_bloom, counting_bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_pair_intersect_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_intersect_count(counting_bloom, counting_bloom) IS 'estimated number of distinct keys in both';

CREATE FUNCTION bloom_jaccard(counting_bloom, counting_bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_pair_jaccard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_jaccard(counting_bloom, counting_bloom) IS 'estimated share of the keys in either that are in both';

----------------------------------------------------------------------------
-- Aggregates
----------------------------------------------------------------------------

CREATE FUNCTION counting_bloom_agg_transition(internal, anycompatible, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_counting_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION counting_bloom_agg_transition(internal, anycompatible, bigint, float8) IS 'transition of counting_bloom_agg';

CREATE FUNCTION counting_bloom_agg_template_transition(internal, anycompatible, counting_bloom) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_template_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION counting_bloom_agg_template_transition(internal, anycompatible, counting_bloom) IS 'transition of counting_bloom_agg';

CREATE FUNCTION bloom_intersect_agg_transition(internal, counting_bloom) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_intersect_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect_agg_transition(internal, counting_bloom) IS 'transition of bloom_intersect_agg';

CREATE AGGREGATE counting_bloom_agg(key anycompatible, capacity bigint, fpr float8) (
	SFUNC = counting_bloom_agg_transition,
	STYPE = internal,
	FINALFUNC = counting_bloom_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE counting_bloom_agg(anycompatible, bigint, float8) IS 'counting filter of the keys, made as counting_bloom_create(capacity, fpr)';

CREATE AGGREGATE counting_bloom_agg(key anycompatible, template counting_bloom) (
	SFUNC = counting_bloom_agg_template_transition,
	STYPE = internal,
	FINALFUNC = counting_bloom_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE counting_bloom_agg(anycompatible, counting_bloom) IS 'counting filter of the keys, with the geometry and hash of the template';

CREATE AGGREGATE bloom_union_agg(filter counting_bloom) (
	SFUNC = bloom_union_agg_transition,
	STYPE = internal,
	FINALFUNC = counting_bloom_agg_final,
	COMBINEFUNC = bloom_union_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_union_agg(counting_bloom) IS 'union of counting filters: the counters'' sums';

CREATE AGGREGATE bloom_intersect_agg(filter counting_bloom) (
	SFUNC = bloom_intersect_agg_transition,
	STYPE = internal,
	FINALFUNC = counting_bloom_agg_final,
	COMBINEFUNC = bloom_intersect_agg_combine,
	SERIALFUNC = bloom_agg_serialize,
	DESERIALFUNC = bloom_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_intersect_agg(counting_bloom) IS 'intersection of counting filters: the counters'' minimum';
