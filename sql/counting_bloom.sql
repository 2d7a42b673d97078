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
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
	SUPPORT bloom_change_support;
COMMENT ON FUNCTION bloom_remove(counting_bloom, anycompatible) IS 'filter with this key taken away once; remove only keys that were added';

CREATE FUNCTION bloom_remove_all(filter counting_bloom, keys anyarray) RETURNS counting_bloom
	AS 'MODULE_PATHNAME', 'bf_counting_remove_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200
	SUPPORT bloom_change_support;
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
