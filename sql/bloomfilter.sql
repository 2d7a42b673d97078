-- bloomfilter: probabilistic structures as PostgreSQL types
--
-- The Makefile joins this file and, for each type, type.sql.in, filter.sql.in (of
-- filters), look.sql.in (of Bloom filters), the type's own file and fixed.sql.in
-- (of Bloom filters of fixed size) to bloomfilter--VERSION.sql.

\echo Use "CREATE EXTENSION bloomfilter" to load this file. \quit

-- A key is declared anycompatible: a literal and an untyped parameter become
-- text, every other argument keeps its own type.  (With anyelement and text
-- declared side by side, a citext would reach the text function as text.)

----------------------------------------------------------------------------
-- Planner support of the probes of all types
----------------------------------------------------------------------------

CREATE FUNCTION bloom_contains_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_contains_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contains_support(internal) IS 'planner support of bloom_contains';

CREATE FUNCTION bloom_contained_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_contained_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contained_support(internal) IS 'planner support of bloom_contained';

CREATE FUNCTION bloom_contains_selectivity(internal, oid, internal, integer) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_contains_selectivity'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contains_selectivity(internal, oid, internal, integer) IS 'selectivity of filter @> key';

CREATE FUNCTION bloom_contained_selectivity(internal, oid, internal, integer) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_contained_selectivity'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_contained_selectivity(internal, oid, internal, integer) IS 'selectivity of key <@ filter';

CREATE FUNCTION bloom_join_selectivity(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_join_selectivity'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_join_selectivity(internal, oid, internal, smallint, internal) IS 'join selectivity of @> and <@';

----------------------------------------------------------------------------
-- Planner support of the functions that change a filter by keys
----------------------------------------------------------------------------

CREATE FUNCTION bloom_change_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_change_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_change_support(internal) IS 'planner support of bloom_add and its like: PL/pgSQL may change a variable in place';

----------------------------------------------------------------------------
-- What the aggregates of all types share
----------------------------------------------------------------------------

CREATE FUNCTION bloom_union_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_union_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_union_agg_combine(internal, internal) IS 'combine function of aggregates that unite';

CREATE FUNCTION bloom_intersect_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_intersect_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect_agg_combine(internal, internal) IS 'combine function of aggregates that intersect';

CREATE FUNCTION bloom_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bf_agg_serialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_agg_serialize(internal) IS 'portable form of an aggregate state';

CREATE FUNCTION bloom_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_deserialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_agg_deserialize(bytea, internal) IS 'aggregate state from its portable form, checked';

----------------------------------------------------------------------------
-- Estimates before there is a filter
----------------------------------------------------------------------------

CREATE FUNCTION bloom_estimate(n bigint, p float8,
	OUT bits bigint, OUT hashes integer,
	OUT allocated_bits bigint, OUT allocated_hashes integer, OUT size_bytes bigint)
	AS 'MODULE_PATHNAME', 'bf_estimate'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_estimate(bigint, float8) IS 'bits and hashes for n keys at rate p: the textbook values, and what bloom_create allocates';

CREATE FUNCTION bloom_expected_fpr(bits bigint, hashes integer, n bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_estimate_expected_fpr'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_expected_fpr(bigint, integer, bigint) IS 'false positive rate to expect with n keys';

CREATE FUNCTION bloom_max_count(bits bigint, hashes integer, p float8) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_estimate_max_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_max_count(bigint, integer, float8) IS 'number of keys up to which the false positive rate stays within p';
