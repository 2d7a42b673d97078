-- What only the type top_k has.

COMMENT ON TYPE top_k IS 'the heaviest keys of a stream, with their counts';

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

CREATE FUNCTION top_k_create(k integer) RETURNS top_k
	AS 'MODULE_PATHNAME', 'bf_top_k_create_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION top_k_create(integer) IS 'empty, for a list of k keys, with an error of 0.02 / k or 0.001, the smaller, and a probability of 0.01';

CREATE FUNCTION top_k_create(k integer, error float8, probability float8) RETURNS top_k
	AS 'MODULE_PATHNAME', 'bf_top_k_create_by_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION top_k_create(integer, float8, float8) IS 'empty, for a list of k keys, with the sketch of cms_create_by_error(error, probability)';

----------------------------------------------------------------------------
-- Change: each returns a new value
----------------------------------------------------------------------------

-- Not strict: adding NULL changes nothing.
CREATE FUNCTION top_k_add(top top_k, key anycompatible, count bigint DEFAULT 1) RETURNS top_k
	AS 'MODULE_PATHNAME', 'bf_top_k_add_sql'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_k_add(top_k, anycompatible, bigint) IS 'with one more key, counted so often';

CREATE FUNCTION top_k_add_all(top top_k, keys anyarray) RETURNS top_k
	AS 'MODULE_PATHNAME', 'bf_top_k_add_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 300;
COMMENT ON FUNCTION top_k_add_all(top_k, anyarray) IS 'with all the keys in an array, each counted once';

----------------------------------------------------------------------------
-- Look
----------------------------------------------------------------------------

CREATE FUNCTION top_k_list(top top_k,
	OUT rank integer, OUT key text, OUT count bigint, OUT error_bound bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bf_top_k_list'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 20;
COMMENT ON FUNCTION top_k_list(top_k) IS 'the k heaviest keys; the true count is between count - error_bound and count';

CREATE FUNCTION top_k_count(top top_k, key anycompatible) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_top_k_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION top_k_count(top_k, anycompatible) IS 'how often any key was counted, at most';

CREATE FUNCTION top_k_info(top top_k,
	OUT k integer, OUT width bigint, OUT depth integer, OUT error float8, OUT probability float8,
	OUT total bigint, OUT error_bound float8, OUT candidates integer, OUT size_bytes bigint)
	AS 'MODULE_PATHNAME', 'bf_top_k_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION top_k_info(top_k) IS 'what a top_k is and what its counts are worth; reads only the header';

CREATE FUNCTION top_k_to_count_min_sketch(top top_k) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_top_k_to_count_min'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_k_to_count_min_sketch(top_k) IS 'sketch of all the keys, with the same counts';

CREATE CAST (top_k AS count_min_sketch) WITH FUNCTION top_k_to_count_min_sketch(top_k);
COMMENT ON CAST (top_k AS count_min_sketch) IS 'sketch of all the keys, with the same counts';

----------------------------------------------------------------------------
-- Unite
----------------------------------------------------------------------------

CREATE FUNCTION top_k_union(top_k, top_k) RETURNS top_k
	AS 'MODULE_PATHNAME', 'bf_top_k_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 300;
COMMENT ON FUNCTION top_k_union(top_k, top_k) IS 'heaviest keys of both, their counts added up';

CREATE OPERATOR | (
	LEFTARG = top_k, RIGHTARG = top_k, FUNCTION = top_k_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (top_k, top_k) IS 'union';

----------------------------------------------------------------------------
-- Aggregates
----------------------------------------------------------------------------

CREATE FUNCTION top_k_agg_transition(internal, anycompatible, integer) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION top_k_agg_transition(internal, anycompatible, integer) IS 'transition of top_k_agg';

CREATE FUNCTION top_k_agg_transition(internal, anycompatible, bigint, integer) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_weight_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION top_k_agg_transition(internal, anycompatible, bigint, integer) IS 'transition of top_k_agg';

CREATE FUNCTION top_k_agg_transition(internal, anycompatible, bigint, integer, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_error_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION top_k_agg_transition(internal, anycompatible, bigint, integer, float8, float8) IS 'transition of top_k_agg';

CREATE FUNCTION top_k_union_agg_transition(internal, top_k) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_union_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 300;
COMMENT ON FUNCTION top_k_union_agg_transition(internal, top_k) IS 'transition of top_k_union_agg';

CREATE FUNCTION top_k_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 300;
COMMENT ON FUNCTION top_k_agg_combine(internal, internal) IS 'combine function of top_k aggregates';

CREATE FUNCTION top_k_agg_final(internal) RETURNS top_k
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_k_agg_final(internal) IS 'final function of top_k aggregates';

CREATE FUNCTION top_k_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_serialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_k_agg_serialize(internal) IS 'portable form of an aggregate state';

CREATE FUNCTION top_k_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_top_k_agg_deserialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION top_k_agg_deserialize(bytea, internal) IS 'aggregate state from its portable form, checked';

-- SSPACE: for k up to 20, keys of some 20 bytes.
CREATE AGGREGATE top_k_agg(key anycompatible, k integer) (
	SFUNC = top_k_agg_transition,
	STYPE = internal,
	SSPACE = 125000,
	FINALFUNC = top_k_agg_final,
	COMBINEFUNC = top_k_agg_combine,
	SERIALFUNC = top_k_agg_serialize,
	DESERIALFUNC = top_k_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE top_k_agg(anycompatible, integer) IS 'the k most frequent keys, made as top_k_create(k)';

CREATE AGGREGATE top_k_agg(key anycompatible, weight bigint, k integer) (
	SFUNC = top_k_agg_transition,
	STYPE = internal,
	SSPACE = 125000,
	FINALFUNC = top_k_agg_final,
	COMBINEFUNC = top_k_agg_combine,
	SERIALFUNC = top_k_agg_serialize,
	DESERIALFUNC = top_k_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE top_k_agg(anycompatible, bigint, integer) IS 'the k keys of the largest sums of weights, made as top_k_create(k)';

CREATE AGGREGATE top_k_agg(key anycompatible, weight bigint, k integer, error float8, probability float8) (
	SFUNC = top_k_agg_transition,
	STYPE = internal,
	SSPACE = 125000,
	FINALFUNC = top_k_agg_final,
	COMBINEFUNC = top_k_agg_combine,
	SERIALFUNC = top_k_agg_serialize,
	DESERIALFUNC = top_k_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE top_k_agg(anycompatible, bigint, integer, float8, float8) IS 'the k keys of the largest sums of weights, made as top_k_create(k, error, probability)';

CREATE AGGREGATE top_k_union_agg(top top_k) (
	SFUNC = top_k_union_agg_transition,
	STYPE = internal,
	SSPACE = 125000,
	FINALFUNC = top_k_agg_final,
	COMBINEFUNC = top_k_agg_combine,
	SERIALFUNC = top_k_agg_serialize,
	DESERIALFUNC = top_k_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE top_k_union_agg(top_k) IS 'union of top_k values';
