-- bloomfilter: probabilistic structures as PostgreSQL types

\echo Use "CREATE EXTENSION bloomfilter" to load this file. \quit

-- A key is declared anycompatible: a literal and an untyped parameter become
-- text, every other argument keeps its own type.  (With anyelement and text
-- declared side by side, a citext would reach the text function as text.)

----------------------------------------------------------------------------
-- The type bloom
----------------------------------------------------------------------------

CREATE TYPE bloom;

CREATE FUNCTION bloom_in(cstring) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_bloom_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_in(cstring) IS 'text input of bloom: base64 of its portable form';

CREATE FUNCTION bloom_out(bloom) RETURNS cstring
	AS 'MODULE_PATHNAME', 'bf_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_out(bloom) IS 'text output of bloom';

CREATE FUNCTION bloom_recv(internal) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_bloom_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_recv(internal) IS 'binary input of bloom: its portable form';

CREATE FUNCTION bloom_send(bloom) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bf_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_send(bloom) IS 'binary output of bloom';

CREATE TYPE bloom (
	INPUT = bloom_in,
	OUTPUT = bloom_out,
	RECEIVE = bloom_recv,
	SEND = bloom_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE bloom IS 'Bloom filter: a set of keys that may answer "present" for an absent key, never "absent" for a present one';

CREATE FUNCTION bloom_from_bytea(bytea) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_bloom_from_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_from_bytea(bytea) IS 'the filter whose portable form this is; anything else is an error';

CREATE FUNCTION bloom_to_bytea(bloom) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bf_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_to_bytea(bloom) IS 'portable form of a filter';

CREATE CAST (bytea AS bloom) WITH FUNCTION bloom_from_bytea(bytea);
COMMENT ON CAST (bytea AS bloom) IS 'checked: only the portable form of a bloom is accepted';

CREATE CAST (bloom AS bytea) WITH FUNCTION bloom_to_bytea(bloom);
COMMENT ON CAST (bloom AS bytea) IS 'portable form of a filter';

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
-- Change: each returns a new filter
----------------------------------------------------------------------------

-- Not strict: adding NULL changes nothing.
CREATE FUNCTION bloom_add(filter bloom, key anycompatible) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_add(bloom, anycompatible) IS 'filter with one more key';

CREATE FUNCTION bloom_add_all(filter bloom, keys anyarray) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_add_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_add_all(bloom, anyarray) IS 'filter with all the keys in an array';

CREATE FUNCTION bloom_clear(filter bloom) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_clear'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_clear(bloom) IS 'empty filter of the same geometry';

----------------------------------------------------------------------------
-- Probe
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

CREATE FUNCTION bloom_contains(filter bloom, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bf_contains'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
	SUPPORT bloom_contains_support;
COMMENT ON FUNCTION bloom_contains(bloom, anycompatible) IS 'whether the key may be in the filter; false is certain';

CREATE FUNCTION bloom_contained(key anycompatible, filter bloom) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bf_contained'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5
	SUPPORT bloom_contained_support;
COMMENT ON FUNCTION bloom_contained(anycompatible, bloom) IS 'implementation of <@ operator';

CREATE OPERATOR @> (
	LEFTARG = bloom, RIGHTARG = anycompatible, FUNCTION = bloom_contains,
	COMMUTATOR = <@,
	RESTRICT = bloom_contains_selectivity, JOIN = bloom_join_selectivity
);
COMMENT ON OPERATOR @> (bloom, anycompatible) IS 'may contain';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = bloom, FUNCTION = bloom_contained,
	COMMUTATOR = @>,
	RESTRICT = bloom_contained_selectivity, JOIN = bloom_join_selectivity
);
COMMENT ON OPERATOR <@ (anycompatible, bloom) IS 'may be contained in';

CREATE FUNCTION bloom_contains_each(filter bloom, keys anyarray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bf_contains_each'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;
COMMENT ON FUNCTION bloom_contains_each(bloom, anyarray) IS 'for each key in the array whether it may be in the filter';

----------------------------------------------------------------------------
-- Combine
----------------------------------------------------------------------------

CREATE FUNCTION bloom_union(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_union(bloom, bloom) IS 'filter of the keys in either, equal to one built from both';

CREATE FUNCTION bloom_intersect(bloom, bloom) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_intersect'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect(bloom, bloom) IS 'filter that holds the keys in both, with a higher rate than one built from them';

CREATE OPERATOR | (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (bloom, bloom) IS 'union';

CREATE OPERATOR & (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_intersect, COMMUTATOR = &
);
COMMENT ON OPERATOR & (bloom, bloom) IS 'intersection';

----------------------------------------------------------------------------
-- Equality, of the bytes
----------------------------------------------------------------------------

CREATE FUNCTION bloom_eq(bloom, bloom) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bf_eq'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_eq(bloom, bloom) IS 'implementation of = operator';

CREATE FUNCTION bloom_ne(bloom, bloom) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bf_ne'
	LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_ne(bloom, bloom) IS 'implementation of <> operator';

CREATE FUNCTION bloom_hash(bloom) RETURNS integer
	AS 'MODULE_PATHNAME', 'bf_hash_value'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_hash(bloom) IS 'hash of the bytes';

CREATE FUNCTION bloom_hash_extended(bloom, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_hash_value_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_hash_extended(bloom, bigint) IS '64-bit hash of the bytes';

CREATE OPERATOR = (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (bloom, bloom) IS 'equal byte for byte';

CREATE OPERATOR <> (
	LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bloom, bloom) IS 'not equal byte for byte';

CREATE OPERATOR CLASS bloom_ops DEFAULT FOR TYPE bloom USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 bloom_hash(bloom),
	FUNCTION 2 bloom_hash_extended(bloom, bigint);
COMMENT ON OPERATOR CLASS bloom_ops USING hash IS 'hash operator class of bloom';

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

CREATE FUNCTION bloom_union_agg_transition(internal, bloom) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_union_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_union_agg_transition(internal, bloom) IS 'transition of bloom_union_agg';

CREATE FUNCTION bloom_intersect_agg_transition(internal, bloom) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_intersect_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect_agg_transition(internal, bloom) IS 'transition of bloom_intersect_agg';

CREATE FUNCTION bloom_union_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_union_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_union_agg_combine(internal, internal) IS 'combine function of bloom_agg and bloom_union_agg';

CREATE FUNCTION bloom_intersect_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_intersect_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bloom_intersect_agg_combine(internal, internal) IS 'combine function of bloom_intersect_agg';

CREATE FUNCTION bloom_agg_final(internal) RETURNS bloom
	AS 'MODULE_PATHNAME', 'bf_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_agg_final(internal) IS 'final function of bloom aggregates';

CREATE FUNCTION bloom_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bf_agg_serialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_agg_serialize(internal) IS 'portable form of an aggregate state';

CREATE FUNCTION bloom_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bf_agg_deserialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bloom_agg_deserialize(bytea, internal) IS 'aggregate state from its portable form, checked';

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

----------------------------------------------------------------------------
-- Look
----------------------------------------------------------------------------

CREATE FUNCTION bloom_info(filter bloom,
	OUT kind text, OUT bits bigint, OUT hashes integer, OUT hash text,
	OUT capacity bigint, OUT target_fpr float8, OUT bits_set bigint,
	OUT fill float8, OUT estimated_count float8, OUT estimated_fpr float8,
	OUT size_bytes bigint, OUT layers integer)
	AS 'MODULE_PATHNAME', 'bf_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloom_info(bloom) IS 'what a filter is and how full; reads only the header';

CREATE FUNCTION bloom_bits(filter bloom) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_info_bits'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_bits(bloom) IS 'number of bits';

CREATE FUNCTION bloom_hashes(filter bloom) RETURNS integer
	AS 'MODULE_PATHNAME', 'bf_info_hashes'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_hashes(bloom) IS 'number of bits that a key sets';

CREATE FUNCTION bloom_capacity(filter bloom) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bf_info_capacity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_capacity(bloom) IS 'number of keys the filter was made for';

CREATE FUNCTION bloom_fill(filter bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_info_fill'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_fill(bloom) IS 'share of the bits that are set';

CREATE FUNCTION bloom_count(filter bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_info_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_count(bloom) IS 'estimated number of distinct keys; Infinity when the filter is full';

CREATE FUNCTION bloom_fpr(filter bloom) RETURNS float8
	AS 'MODULE_PATHNAME', 'bf_info_fpr'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION bloom_fpr(bloom) IS 'estimated share of absent keys that pass now';

----------------------------------------------------------------------------
-- Estimate
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
