-- What only the type count_min_sketch has.

COMMENT ON TYPE count_min_sketch IS 'count-min sketch: how often each key occurred, never too low';

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

CREATE FUNCTION cms_create(width bigint, depth integer) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_count_min_create_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cms_create(bigint, integer) IS 'empty sketch of so many rows (depth) of so many counters (width)';

CREATE FUNCTION cms_create_by_error(error float8, probability float8) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_count_min_create_by_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cms_create_by_error(float8, float8) IS 'empty sketch whose counts exceed the truth by more than error * total with at most this probability';

----------------------------------------------------------------------------
-- Change: each returns a new sketch
----------------------------------------------------------------------------

-- Not strict: adding NULL changes nothing.
CREATE FUNCTION cms_add(sketch count_min_sketch, key anycompatible, count bigint DEFAULT 1) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_count_min_add_sql'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cms_add(count_min_sketch, anycompatible, bigint) IS 'sketch with one more key, counted so often';

CREATE FUNCTION cms_add_all(sketch count_min_sketch, keys anyarray) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_count_min_add_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cms_add_all(count_min_sketch, anyarray) IS 'sketch with all the keys in an array, each counted once';

----------------------------------------------------------------------------
-- Look
----------------------------------------------------------------------------

CREATE FUNCTION cms_count(sketch count_min_sketch, key anycompatible) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_count_min_count_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cms_count(count_min_sketch, anycompatible) IS 'how often the key was counted, at most';

CREATE FUNCTION cms_count_each(sketch count_min_sketch, keys anyarray) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'bf_count_min_count_each'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION cms_count_each(count_min_sketch, anyarray) IS 'for each key in the array how often it was counted, at most';

CREATE FUNCTION cms_inner_product(count_min_sketch, count_min_sketch) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_count_min_inner_product_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cms_inner_product(count_min_sketch, count_min_sketch) IS 'sum over all keys of the product of their counts, at most: the number of rows of a join';

CREATE FUNCTION cms_total(sketch count_min_sketch) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_count_min_total_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cms_total(count_min_sketch) IS 'sum of all counts; exact';

CREATE FUNCTION cms_error_bound(sketch count_min_sketch) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_count_min_error_bound'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cms_error_bound(count_min_sketch) IS 'error * total: by how much a count is above the truth at most, but for the probability';

CREATE FUNCTION cms_info(sketch count_min_sketch,
	OUT width bigint, OUT depth integer, OUT error float8, OUT probability float8,
	OUT total bigint, OUT error_bound float8, OUT size_bytes bigint)
	AS 'MODULE_PATHNAME', 'bf_count_min_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cms_info(count_min_sketch) IS 'what a sketch is and what its counts are worth; reads only the header';

----------------------------------------------------------------------------
-- Unite
----------------------------------------------------------------------------

CREATE FUNCTION cms_union(count_min_sketch, count_min_sketch) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_count_min_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cms_union(count_min_sketch, count_min_sketch) IS 'sketch of the keys of both, their counts added up';

CREATE OPERATOR | (
	LEFTARG = count_min_sketch, RIGHTARG = count_min_sketch, FUNCTION = cms_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (count_min_sketch, count_min_sketch) IS 'union';

----------------------------------------------------------------------------
-- Aggregates
----------------------------------------------------------------------------

CREATE FUNCTION cms_agg_transition(internal, anycompatible, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cms_agg_transition(internal, anycompatible, float8, float8) IS 'transition of cms_agg';

CREATE FUNCTION cms_agg_transition(internal, anycompatible, bigint, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_weight_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cms_agg_transition(internal, anycompatible, bigint, float8, float8) IS 'transition of cms_agg';

CREATE FUNCTION cms_union_agg_transition(internal, count_min_sketch) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_union_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cms_union_agg_transition(internal, count_min_sketch) IS 'transition of cms_union_agg';

CREATE FUNCTION cms_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cms_agg_combine(internal, internal) IS 'combine function of cms aggregates';

CREATE FUNCTION cms_agg_final(internal) RETURNS count_min_sketch
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cms_agg_final(internal) IS 'final function of cms aggregates';

CREATE FUNCTION cms_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_serialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cms_agg_serialize(internal) IS 'portable form of an aggregate state';

CREATE FUNCTION cms_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_count_min_agg_deserialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cms_agg_deserialize(bytea, internal) IS 'aggregate state from its portable form, checked';

-- SSPACE: a sketch of error 0.001 and probability 0.01.
CREATE AGGREGATE cms_agg(key anycompatible, error float8, probability float8) (
	SFUNC = cms_agg_transition,
	STYPE = internal,
	SSPACE = 110000,
	FINALFUNC = cms_agg_final,
	COMBINEFUNC = cms_agg_combine,
	SERIALFUNC = cms_agg_serialize,
	DESERIALFUNC = cms_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cms_agg(anycompatible, float8, float8) IS 'sketch of the keys, made as cms_create_by_error(error, probability)';

CREATE AGGREGATE cms_agg(key anycompatible, weight bigint, error float8, probability float8) (
	SFUNC = cms_agg_transition,
	STYPE = internal,
	SSPACE = 110000,
	FINALFUNC = cms_agg_final,
	COMBINEFUNC = cms_agg_combine,
	SERIALFUNC = cms_agg_serialize,
	DESERIALFUNC = cms_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cms_agg(anycompatible, bigint, float8, float8) IS 'sketch of the keys, each counted by its weight';

CREATE AGGREGATE cms_union_agg(sketch count_min_sketch) (
	SFUNC = cms_union_agg_transition,
	STYPE = internal,
	SSPACE = 110000,
	FINALFUNC = cms_agg_final,
	COMBINEFUNC = cms_agg_combine,
	SERIALFUNC = cms_agg_serialize,
	DESERIALFUNC = cms_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cms_union_agg(count_min_sketch) IS 'union of sketches';
