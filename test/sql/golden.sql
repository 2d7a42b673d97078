-- The bits are those of RedisBloom and ling-base, as recorded from these programs
-- in test/data: no server, build or machine may ever set others.

SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_golden;
SET search_path = test_golden, public;

\set redisbloom `cat "$PG_ABS_SRCDIR/data/redisbloom.json"`
\set lingbase `cat "$PG_ABS_SRCDIR/data/ling-base.json"`
CREATE TABLE redisbloom AS SELECT :'redisbloom'::jsonb AS doc;
CREATE TABLE lingbase AS SELECT :'lingbase'::jsonb AS doc;

-- the bits of a filter, without its header
CREATE FUNCTION bits_of(f bloom) RETURNS bytea LANGUAGE sql AS $$ SELECT substring(f::bytea FROM 61) $$;
-- an unsigned little-endian number of n bytes
CREATE FUNCTION le(data bytea, at int, n int) RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(get_byte(data, at + i)::bigint << (8 * i))::bigint FROM generate_series(0, n - 1) i
$$;

----------------------------------------------------------------------------
-- RedisBloom: MurmurHash64A
----------------------------------------------------------------------------

-- filters that do not grow: first the header of BF.SCANDUMP, which is 20 bytes and
-- then for its one link 8 bytes each of size, bits, items, rate and bits per entry,
-- and 4 of hashes; then the bits
CREATE TABLE filter AS
SELECT number, filter ->> 'name' AS name, (filter #>> '{reserve,1}')::bigint AS capacity, (filter #>> '{reserve,0}')::float8 AS rate,
	filter -> 'items' AS items, filter -> 'items_rule' AS rule, (filter ->> 'newly_added')::int AS newly_added, filter -> 'exists' AS exists,
	decode(filter #>> '{scandump,0,1}', 'base64') AS header, decode(filter #>> '{scandump,1,1}', 'base64') AS bits
FROM redisbloom, jsonb_array_elements(doc -> 'filters') WITH ORDINALITY f(filter, number)
WHERE filter #>> '{reserve,2}' = 'NONSCALING';
SELECT count(*) AS filters FROM filter;

-- items are listed, or told by the first and last of them: PREFIXn
CREATE TABLE item AS
SELECT name, item, position FROM filter, jsonb_array_elements_text(nullif(items, 'null')) WITH ORDINALITY i(item, position)
UNION ALL
SELECT name, regexp_replace(rule ->> 'first', '-?\d+$', '') || n, n
FROM filter, generate_series(substring(rule ->> 'first' FROM '-?\d+$')::int, substring(rule ->> 'last' FROM '-?\d+$')::int) n
WHERE rule <> 'null';

-- Built by an aggregate, by a function, and one by one, counting the keys that
-- change the filter as BF.ADD tells it.  Without its first item no filter but the
-- empty one is the same.
CREATE FUNCTION count_changes(f bloom, keys text[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	changes int := 0;
	key text;
	g bloom;
BEGIN
	FOREACH key IN ARRAY keys LOOP
		g := bloom_add(f, key);
		changes := changes + (g <> f)::int;
		f := g;
	END LOOP;
	RETURN changes;
END $$;
SELECT f.name, k.n AS items, k.n = coalesce((rule ->> 'count')::int, jsonb_array_length(nullif(f.items, 'null'))) AS all_items,
	octet_length(f.bits) AS bytes,
	bloom_bits(empty) = le(header, 28, 8) AS same_size, bloom_hashes(empty) = le(header, 60, 4) AS same_hashes,
	bits_of(bloom_add_all(empty, k.keys)) = f.bits AS by_function,
	bits_of(coalesce((SELECT bloom_agg(item, capacity, rate) FROM item i WHERE i.name = f.name), empty)) = f.bits AS by_aggregate,
	bits_of(bloom_add_all(empty, k.keys[2:])) = f.bits AS without_first,
	count_changes(empty, k.keys) = newly_added AS newly_added
FROM filter f, LATERAL (SELECT bloom_create(capacity, rate) AS empty) e,
	LATERAL (SELECT array_agg(item ORDER BY position) AS keys, count(*) AS n FROM (SELECT item, position FROM item i WHERE i.name = f.name) own) k_,
	LATERAL (SELECT coalesce(k_.keys, '{}') AS keys, k_.n) k
ORDER BY number;

-- the integers also as integers
SELECT bits_of(bloom_agg(n, 1000, 0.001)) = (SELECT bits FROM filter WHERE name = 'integers') AS integer,
	bits_of(bloom_agg(n::smallint, 1000, 0.001)) = (SELECT bits FROM filter WHERE name = 'integers') AS smallint,
	bits_of(bloom_agg(n::numeric, 1000, 0.001)) = (SELECT bits FROM filter WHERE name = 'integers') AS numeric,
	bits_of(bloom_agg(n::float8, 1000, 0.001)) = (SELECT bits FROM filter WHERE name = 'integers') AS float8,
	bits_of(bloom_agg(n + 1, 1000, 0.001)) = (SELECT bits FROM filter WHERE name = 'integers') AS others
FROM generate_series(-250, 250) n;

-- BF.EXISTS: of keys that were added and of keys that were not, false positives included
SELECT f.name, count(*) AS probed, sum(answer::int) AS present, count(*) FILTER (WHERE (filter @> key)::int <> answer::int) AS differ,
	bloom_contains_each(filter, array_agg(key))::int[] = array_agg(answer::int) AS each_too
FROM (SELECT number, f.name, coalesce(bloom_agg(item, capacity, rate), bloom_create(capacity, rate)) AS filter
	  FROM filter f LEFT JOIN item USING (name) GROUP BY number, f.name, capacity, rate) f,
	LATERAL (SELECT key, answer FROM filter x, jsonb_each_text(x.exists) e(key, answer) WHERE x.name = f.name) e
GROUP BY number, f.name, filter ORDER BY number;

-- the sizes that RedisBloom chooses
SELECT capacity, error_rate, bits, hashes,
	bloom_bits(f) = bits AS same_bits, bloom_hashes(f) = hashes AS same_hashes, octet_length(bits_of(f)) = bytes AS same_bytes,
	(bloom_estimate(capacity, error_rate)).allocated_bits = bits AND (bloom_estimate(capacity, error_rate)).allocated_hashes = hashes AS estimate_too
FROM redisbloom, jsonb_to_recordset(doc -> 'geometry') g(capacity bigint, error_rate float8, bits bigint, hashes int, bytes bigint),
	LATERAL (SELECT bloom_create(capacity, error_rate) AS f) filter;

----------------------------------------------------------------------------
-- MurmurHash64A as its definition has it, for keys of every length
----------------------------------------------------------------------------

-- unsigned 64-bit numbers are numeric here
CREATE FUNCTION exclusive_or(a numeric, b numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT mod(2::numeric ^ 64 + ((a - CASE WHEN a >= 2::numeric ^ 63 THEN 2::numeric ^ 64 ELSE 0 END)::bigint #
		(b - CASE WHEN b >= 2::numeric ^ 63 THEN 2::numeric ^ 64 ELSE 0 END)::bigint), 2::numeric ^ 64)
$$;
CREATE FUNCTION little_endian(data bytea) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(sum(get_byte(data, i) * 256::numeric ^ i), 0) FROM generate_series(0, length(data) - 1) i
$$;
CREATE FUNCTION murmur64a(key bytea, seed numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	m constant numeric := 14313749767032793493;	-- 0xc6a4a7935bd1e995
	two64 constant numeric := 2::numeric ^ 64;
	two47 constant numeric := 2::numeric ^ 47;
	h numeric := exclusive_or(seed, mod(length(key) * m, two64));
	k numeric;
BEGIN
	FOR i IN 0 .. length(key) / 8 - 1 LOOP
		k := mod(little_endian(substring(key FROM 8 * i + 1 FOR 8)) * m, two64);
		k := mod(exclusive_or(k, div(k, two47)) * m, two64);
		h := mod(exclusive_or(h, k) * m, two64);
	END LOOP;
	IF length(key) % 8 > 0 THEN
		h := mod(exclusive_or(h, little_endian(substring(key FROM length(key) / 8 * 8 + 1))) * m, two64);
	END IF;
	h := mod(exclusive_or(h, div(h, two47)) * m, two64);
	RETURN exclusive_or(h, div(h, two47));
END $$;
CREATE FUNCTION murmur_positions(key bytea) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg(mod(mod(h1 + i * h2, 2::numeric ^ 64), 1000003)::bigint)
	FROM (SELECT murmur64a(key, 14313749767032793493) AS h1 OFFSET 0) first,
		LATERAL (SELECT murmur64a(key, h1) AS h2 OFFSET 0) second, generate_series(0, 6) i
$$;
-- keys of 0 to 80 bytes; of the digits among them also numbers, which have a way of
-- their own: as text, bytea, bigint and numeric
CREATE TABLE length_key AS
SELECT n, substring(repeat('9876543210123456', 5) FOR n) AS digits,
	substring(decode(repeat('00ff807f01fe', 14), 'hex') FOR n) AS bytes, bloom_create_with_params(1000003, 7) AS empty
FROM generate_series(0, 80) n;
-- the bits of a filter with one key are exactly these positions
CREATE FUNCTION has_positions(f bloom, positions bigint[]) RETURNS boolean LANGUAGE sql AS $$
	SELECT (bloom_info(f)).bits_set = count(DISTINCT position) AND bool_and(get_bit(bits_of(f), position) = 1)
	FROM unnest(positions) position
$$;
SELECT count(*) AS lengths,
	count(*) FILTER (WHERE has_positions(bloom_add(empty, digits), murmur_positions(digits::bytea))) AS text,
	count(*) FILTER (WHERE has_positions(bloom_add(empty, bytes), murmur_positions(bytes))) AS bytea,
	count(*) FILTER (WHERE n BETWEEN 1 AND 18 AND has_positions(bloom_add(empty, digits::bigint), murmur_positions(digits::bytea))) AS bigint,
	count(*) FILTER (WHERE n > 0 AND has_positions(bloom_add(empty, digits::numeric), murmur_positions(digits::bytea))) AS numeric,
	count(*) FILTER (WHERE has_positions(bloom_add(empty, digits), murmur_positions(bytes))) AS another_key
FROM length_key;

----------------------------------------------------------------------------
-- ling-base: FNV-1a
----------------------------------------------------------------------------

CREATE TABLE hash AS
SELECT number, hash ->> 'key' AS key,
	('x' || (hash ->> 'h1'))::bit(64)::bigint::numeric AS h1, ('x' || (hash ->> 'h2'))::bit(64)::bigint::numeric AS h2,
	ARRAY(SELECT jsonb_array_elements_text(hash -> 'positions_m9585059_k7')::bigint) AS positions
FROM lingbase, jsonb_array_elements(doc -> 'hashes') WITH ORDINALITY h(hash, number);
-- bigint is signed, the hashes are not
UPDATE hash SET h1 = mod(h1 + 2::numeric ^ 64, 2::numeric ^ 64), h2 = mod(h2 + 2::numeric ^ 64, 2::numeric ^ 64);

SELECT key, array_length(positions, 1) AS positions,
	has_positions(bloom_add(bloom_create_with_params(9585059, 7, 'fnv1a'), key), positions) AS same,
	has_positions(bloom_add(bloom_create_with_params(9585059, 7, 'fnv1a'), key || 'x'), positions) AS another_key,
	has_positions(bloom_add(bloom_create_with_params(9585059, 7, 'murmur64a'), key), positions) AS another_hash
FROM hash ORDER BY number;

-- The hashes themselves.  With one hash the position is h1 mod m, and three sizes m
-- without a common divisor, whose product is more than 2^64, leave one h1 only; the
-- second position then leaves one h2.
SELECT key, bool_and(has_positions(bloom_add(bloom_create_with_params(m, k, 'fnv1a'), key),
		ARRAY(SELECT mod(mod(h1 + i * h2, 2::numeric ^ 64), m)::bigint FROM generate_series(0, k - 1) i))) AS same,
	bool_or(k > 1 AND has_positions(bloom_add(bloom_create_with_params(m, k, 'fnv1a'), key),
		ARRAY(SELECT mod(mod(h1 + i * (h2 + 1), 2::numeric ^ 64), m)::bigint FROM generate_series(0, k - 1) i))) AS h2_plus_1
FROM hash, (VALUES (4194304), (4194303), (4194301)) size(m), (VALUES (1), (2), (20)) hashes(k) GROUP BY number, key ORDER BY number;

-- its estimates: the textbook values
SELECT n, p, m, k, e.bits = m AND e.hashes = k AS same
FROM lingbase, jsonb_to_recordset(doc -> 'estimates') x(n bigint, p float8, m bigint, k int), bloom_estimate(n, p) e;

-- A filter that it keeps in a Redis string, made by SETBIT: there the first bit of
-- a byte is the most significant one, and the string ends with the last bit set.
CREATE FUNCTION reverse_bits(data bytea) RETURNS bytea LANGUAGE sql AS $$
	WITH reversed AS (
		SELECT byte, lpad(to_hex(sum(((byte >> i) & 1) << (7 - i))), 2, '0') AS hex
		FROM generate_series(0, 255) byte, generate_series(0, 7) i GROUP BY byte)
	SELECT decode(string_agg(hex, '' ORDER BY at), 'hex')
	FROM generate_series(0, octet_length(data) - 1) at JOIN reversed ON byte = get_byte(data, at)
$$;
SELECT reverse_bits('\x0180a0ff00');
SELECT r.value ->> 'keys' AS keys, octet_length(string) AS bytes,
	bits_of(f) = string || decode(repeat('00', octet_length(bits_of(f)) - octet_length(string)), 'hex') AS same,
	bits_of(f) = bits_of(bloom_agg(key, bloom_create_with_params(9586, 7, 'murmur64a'))) AS another_hash,
	(bloom_info(f)).bits_set = bit_count(string) AS bits_set
FROM lingbase, LATERAL (SELECT doc -> 'redis_string' AS value) r,
	LATERAL (SELECT reverse_bits(decode(value ->> 'value_base64', 'base64')) AS string) s,
	LATERAL (SELECT bloom_agg('user:' || i, bloom_create_with_params((value ->> 'bits')::bigint, (value ->> 'hashes')::int, 'fnv1a')) AS f
			 FROM generate_series(1, 500) i) f,
	LATERAL (SELECT 'user:' || i AS key FROM generate_series(1, 500) i) key
GROUP BY r.value, string, f;
