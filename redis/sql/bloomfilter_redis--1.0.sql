/* bloomfilter_redis: filters of extension bloomfilter that live in Redis */

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomfilter_redis" to load this file. \quit

-- Everything here talks to another system: volatile, and for one process only,
-- because a connection belongs to the process that made it.

CREATE FUNCTION bloom_redis_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'bf_redis_handler'
LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_redis_handler() IS
'handler of foreign data wrapper bloomfilter_redis';

CREATE FUNCTION bloom_redis_validator(options text[], catalog oid)
RETURNS void
AS 'MODULE_PATHNAME', 'bf_redis_validator'
LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_redis_validator(text[], oid) IS
'option validator of foreign data wrapper bloomfilter_redis';

CREATE FOREIGN DATA WRAPPER bloomfilter_redis
HANDLER bloom_redis_handler
VALIDATOR bloom_redis_validator;
COMMENT ON FOREIGN DATA WRAPPER bloomfilter_redis IS
'filters in Redis as foreign tables with one column, the key';

CREATE FUNCTION bloom_redis_disconnect()
RETURNS integer
AS 'MODULE_PATHNAME', 'bf_redis_disconnect'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_redis_disconnect() IS
'close this session''s connections to Redis; how many were open';

CREATE FUNCTION bloom_redis_unlink(server name, key text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'bf_redis_unlink'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_redis_unlink(name, text) IS
'remove a key from Redis; whether it was there';

CREATE FUNCTION bloom_redis_push(server name, key text, filter bloom,
	format text DEFAULT 'redisbloom', ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'bf_redis_push'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_redis_push(name, text, bloom, text, interval) IS
'put a filter into Redis in one step, as format ''redisbloom'' or ''bitmap''';

CREATE FUNCTION bloom_redis_push(server name, key text, filter counting_bloom,
	format text DEFAULT 'redisbloom', ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'bf_redis_push'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_redis_push(name, text, counting_bloom, text, interval) IS
'put the bits of a counting filter into Redis in one step, as format ''redisbloom'' or ''bitmap''';

CREATE FUNCTION bloom_redis_push(server name, key text, filter scalable_bloom,
	format text DEFAULT 'redisbloom', ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'bf_redis_push'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_redis_push(name, text, scalable_bloom, text, interval) IS
'put a scalable filter into Redis in one step; it keeps scaling there';

CREATE FUNCTION bloom_redis_push(server name, key text, filter cuckoo_filter,
	format text DEFAULT 'cuckoo', ttl interval DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'bf_redis_push'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_redis_push(name, text, cuckoo_filter, text, interval) IS
'put a cuckoo filter with fingerprints of 8 bits into Redis in one step';

CREATE FUNCTION bloom_redis_pull(server name, key text)
RETURNS bloom
AS 'MODULE_PATHNAME', 'bf_redis_pull'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_redis_pull(name, text) IS
'get a filter of RedisBloom that has one layer';

CREATE FUNCTION scalable_bloom_redis_pull(server name, key text)
RETURNS scalable_bloom
AS 'MODULE_PATHNAME', 'bf_scalable_redis_pull'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scalable_bloom_redis_pull(name, text) IS
'get a filter of RedisBloom that scales';

CREATE FUNCTION bloom_redis_pull_bitmap(server name, key text, bits bigint, hashes integer,
	hash text DEFAULT 'murmur64a')
RETURNS bloom
AS 'MODULE_PATHNAME', 'bf_redis_pull_bitmap'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION bloom_redis_pull_bitmap(name, text, bigint, integer, text) IS
'get a filter that another program keeps in a Redis string';
