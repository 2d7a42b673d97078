-- cuckoo_filter as a type: every way in and out, every way in which input can be
-- malformed, storage, equality, and probes of stored filters.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_cuckoo_types;
SET search_path = test_cuckoo_types, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- What becomes of bytes that are offered, by the cast from bytea and as text.  Both
-- must agree; the binary protocol carries the bytes of the cast.
CREATE FUNCTION offer(portable bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	text_answer text;
	message text;
BEGIN
	BEGIN
		answer := portable::cuckoo_filter::bytea = portable;
	EXCEPTION WHEN invalid_binary_representation THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, answer = PG_EXCEPTION_DETAIL;
		ASSERT message = 'invalid binary data for type cuckoo_filter', message;
	END;
	BEGIN
		text_answer := translate(encode(portable, 'base64'), E'\n', '')::cuckoo_filter::bytea = portable;
	EXCEPTION WHEN invalid_text_representation THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, text_answer = PG_EXCEPTION_DETAIL;
		ASSERT message = 'invalid input for type cuckoo_filter', message;
	END;
	-- no text is shorter than 4 characters
	ASSERT answer = text_answer OR portable = '', format('bytea: %s text: %s', answer, text_answer);
	RETURN CASE answer WHEN 'true' THEN 'accepted' ELSE answer END;
END $$;

-- What is to be accepted, written anew from the format's description: kind,
-- version, scheme, flags; u32 hashes; u16 iterations, u8 fingerprint bits, u8
-- bucket size; u64 bits; u64 capacity; f64 rate; u64 keys; u32 log2 of the buckets,
-- u16 sub-filters, u16 expansion; u64 removed; then the fingerprints.
CREATE FUNCTION number(portable bytea, start integer, length integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || lpad(encode(substr(portable, start + 1, length), 'hex'), 16, '0'))::bit(64)::bigint
$$;
CREATE FUNCTION is_cuckoo_filter(portable bytea) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	width integer;
	bucket_size integer;
	buckets numeric := 1;
	slots numeric := 0;
	used bigint := 0;
	expansion bigint;
	sub_filters bigint;
BEGIN
	IF length(portable) < 60 OR substr(portable, 1, 4) <> '\x04010300' OR number(portable, 4, 4) <> 2 THEN
		RETURN false;
	END IF;
	width := number(portable, 10, 1) / 8;
	bucket_size := number(portable, 11, 1);
	sub_filters := number(portable, 48, 2);
	expansion := number(portable, 50, 2);
	IF number(portable, 8, 2) < 1 OR number(portable, 10, 1) NOT IN (8, 16, 32) OR bucket_size < 1 OR number(portable, 20, 8) < 1 OR number(portable, 52, 8) < 0
		OR expansion NOT IN (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768) OR sub_filters NOT BETWEEN 1 AND 32 OR expansion = 0 AND sub_filters > 1
		OR substr(portable, 29, 8) <> float8send(least(2 * bucket_size, 2.0 ^ (8 * width) - 2)::float8 / (2.0 ^ (8 * width) - 1)::float8) THEN
		RETURN false;
	END IF;
	-- the power of two that is no less than capacity / bucket size
	WHILE buckets < number(portable, 20, 8) / bucket_size LOOP
		buckets := buckets * 2;
	END LOOP;
	IF number(portable, 44, 4) > 63 OR buckets <> 2::numeric ^ least(number(portable, 44, 4), 63) THEN
		RETURN false;
	END IF;
	FOR i IN 1 .. sub_filters LOOP
		slots := slots + buckets * bucket_size;
		buckets := buckets * expansion;
	END LOOP;
	IF number(portable, 12, 8) <> slots * width * 8 OR length(portable) <> 60 + slots * width THEN
		RETURN false;
	END IF;
	FOR i IN 0 .. slots - 1 LOOP
		used := used + (number(portable, 60 + i * width, width) <> 0)::integer;
	END LOOP;
	RETURN used = number(portable, 36, 8);
END $$;

-- Two sub-filters of 4 and 8 buckets of 16 bits; one of 3 buckets' worth of 8 bits;
-- one bucket of 32 bits that cannot grow.
CREATE TABLE samples (name text PRIMARY KEY, portable bytea);
INSERT INTO samples VALUES ('two', cuckoo_add_all(cuckoo_create(8, 2, 16, 20, 2), ARRAY(SELECT generate_series(1, 11)))::bytea),
	('one', cuckoo_remove(cuckoo_add_all(cuckoo_create(7, 3, 8), ARRAY['a', 'b', 'b']), 'a')::bytea),
	('least', cuckoo_add(cuckoo_create(1, 1, 32, 1, 0), 'a')::bytea),
	('empty', cuckoo_create(8)::bytea);
SELECT name, length(portable), number(portable, 48, 2) AS sub_filters, number(portable, 36, 8) AS keys, number(portable, 52, 8) AS removed, is_cuckoo_filter(portable) AS valid, offer(portable) AS offered FROM samples ORDER BY name;

--
-- Out and in again
--

SELECT count(*) AS filters, bool_and(f::bytea::cuckoo_filter = f) AS bytea, bool_and(f::text::cuckoo_filter = f) AS text,
	bool_and(f::text = translate(encode(f::bytea, 'base64'), E'\n', '')) AS text_is_base64, bool_and(cuckoo_filter_send(f) = f::bytea) AS binary_is_bytea, bool_and(is_cuckoo_filter(f::bytea)) AS valid,
	max((cuckoo_info(f)).sub_filters) AS sub_filters
FROM generate_series(0, 100, 5) AS n, unnest(ARRAY[8, 16, 32]) AS bits, LATERAL (SELECT cuckoo_add_all(cuckoo_create(n + 1, n % 7 + 1, bits, 20, n % 3 + 1), ARRAY(SELECT generate_series(1, n * 2))) AS f OFFSET 0) AS s;
CREATE TABLE binary_cuckoo (f cuckoo_filter);
\copy (SELECT portable FROM samples ORDER BY name) TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\copy binary_cuckoo FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\copy (SELECT f FROM binary_cuckoo) TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\copy binary_cuckoo FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
SELECT name, count(*) FROM binary_cuckoo JOIN samples ON f::bytea = portable GROUP BY name ORDER BY name;
\copy (SELECT substr(portable, 1, 70) FROM samples WHERE name = 'two') TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\copy binary_cuckoo FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\copy (SELECT bloom_create(10)) TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\copy binary_cuckoo FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/cuckoo.bin"' (FORMAT binary)
\! rm "$PG_ABS_BUILDDIR/results/cuckoo.bin"
-- a filter of another type, both ways; there is no cast
SELECT offer(bloom_create(10)::bytea), offer(counting_bloom_create(10)::bytea), offer(scalable_bloom_create(10)::bytea);
SELECT cuckoo_create(10)::bytea::bloom;
SELECT cuckoo_create(10)::bloom;

--
-- Each field wrong
--

CREATE FUNCTION patched(portable bytea, start integer, value text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT overlay(portable PLACING decode(value, 'hex') FROM start + 1)
$$;
SELECT field, value, offer(patched(portable, start, value)) AS answer, is_cuckoo_filter(patched(portable, start, value)) AS valid
FROM samples, (VALUES ('kind', 0, '00'), ('kind', 0, '01'), ('kind', 0, 'ff'), ('version', 1, '00'), ('version', 1, '02'), ('scheme', 2, '00'), ('scheme', 2, '01'), ('scheme', 2, '02'), ('scheme', 2, '04'), ('flags', 3, '01'),
	('hashes', 4, '00000000'), ('hashes', 4, '00000001'), ('hashes', 4, '00000003'), ('hashes', 4, 'ffffffff'),
	('iterations', 8, '0000'), ('iterations', 8, 'ffff'), ('fingerprint bits', 10, '00'), ('fingerprint bits', 10, '08'), ('fingerprint bits', 10, '18'), ('fingerprint bits', 10, '20'), ('fingerprint bits', 10, 'ff'),
	('bucket size', 11, '00'), ('bucket size', 11, '01'), ('bucket size', 11, '04'), ('bucket size', 11, 'ff'),
	('bits', 12, '0000000000000000'), ('bits', 12, '0000000000000180'), ('bits', 12, '0000000000000100'), ('bits', 12, '0000000100000001'), ('bits', 12, 'ffffffffffffffff'),
	('capacity', 20, '0000000000000000'), ('capacity', 20, '0000000000000007'), ('capacity', 20, '0000000000000009'), ('capacity', 20, '000000000000000a'), ('capacity', 20, '7fffffffffffffff'), ('capacity', 20, '8000000000000000'),
	('rate', 28, '0000000000000000'), ('rate', 28, '3ff0000000000000'), ('rate', 28, '7ff8000000000000'), ('rate', 28, '3f847ae147ae147b'),
	('keys', 36, '0000000000000000'), ('keys', 36, '000000000000000a'), ('keys', 36, '0000000000000019'), ('keys', 36, 'ffffffffffffffff'),
	('log2 of buckets', 44, '00000000'), ('log2 of buckets', 44, '00000003'), ('log2 of buckets', 44, '00000021'), ('log2 of buckets', 44, '00000102'), ('log2 of buckets', 44, 'ffffffff'),
	('sub-filters', 48, '0000'), ('sub-filters', 48, '0001'), ('sub-filters', 48, '0003'), ('sub-filters', 48, '0020'), ('sub-filters', 48, '0021'), ('sub-filters', 48, 'ffff'),
	('expansion', 50, '0000'), ('expansion', 50, '0001'), ('expansion', 50, '0003'), ('expansion', 50, '0004'), ('expansion', 50, '8000'), ('expansion', 50, 'ffff'),
	('removed', 52, '7fffffffffffffff'), ('removed', 52, '8000000000000000'), ('fingerprints', 60, repeat('00', 48)), ('fingerprints', 60, repeat('01', 48))) AS w (field, start, value)
WHERE name = 'two';
-- what a limit forbids, in filters that agree with themselves: as large as there
-- may be, and larger, without the bytes for it
SELECT offer('\x040103000000000200140802'::bytea || '\x0000000100000000000000002000000000000000000000000000000000000000'::bytea || '\x0000001c00010001'::bytea || '\x0000000000000000'::bytea) AS no_rate,
	offer(patched(patched(patched(portable, 12, '0000000100000000'), 20, '0000000020000000'), 44, '0000001c')) AS whole, offer(patched(patched(patched(portable, 12, '0000000200000000'), 20, '0000000040000000'), 44, '0000001d')) AS too_large,
	offer(patched(patched(patched(portable, 44, '00000020'), 20, '0000000200000000'), 12, '0000000100000000')) AS wrapped
FROM samples WHERE name = 'empty';

-- Every length but the right one; and not base64
SELECT name, count(*) AS tried, count(*) FILTER (WHERE offer(bytes) = 'accepted') AS accepted
FROM samples, LATERAL (SELECT substr(portable, 1, n) AS bytes FROM generate_series(0, length(portable) - 1) AS n
	UNION ALL SELECT portable || decode(repeat('00', n), 'hex') FROM generate_series(1, 70) AS n) AS s GROUP BY name ORDER BY name;
SELECT offer('') AS empty, offer(substr(portable, 1, 59)) AS less_than_header, offer(substr(portable, 1, 60)) AS header, offer(portable || '\x00') AS a_byte_more FROM samples WHERE name = 'two';
SELECT ''::cuckoo_filter;
SELECT 'BAEDAA=='::cuckoo_filter;
SELECT '!!!!'::cuckoo_filter;

-- Each bit and some more of each byte: accepted is what the description above accepts
SELECT name, count(*) AS tried, count(*) FILTER (WHERE accepted) AS accepted, count(*) FILTER (WHERE accepted <> is_cuckoo_filter(bytes)) AS different
FROM samples, LATERAL (SELECT set_byte(portable, at, get_byte(portable, at) # change) AS bytes FROM generate_series(0, length(portable) - 1) AS at, unnest(ARRAY[1, 2, 4, 8, 16, 32, 64, 128, 255, 127]) AS change) AS c,
	LATERAL (SELECT offer(bytes) = 'accepted' AS accepted) AS o GROUP BY name ORDER BY name;
-- Whatever is accepted can be worked with: no crash, no endless loop, and it is
-- still a filter that is accepted.
SELECT name, count(*) AS worked_with, bool_and(is_cuckoo_filter(changed::bytea)) AS valid
FROM samples, LATERAL (SELECT set_byte(portable, at, get_byte(portable, at) # change) AS bytes FROM generate_series(8, length(portable) - 1) AS at, unnest(ARRAY[1, 16, 128, 255]) AS change) AS c,
	LATERAL (SELECT cuckoo_add_all(cuckoo_remove_all(bytes::cuckoo_filter, ARRAY['a', 'b', '1', '2', '3', '4', '5', '6', '7', '8']), ARRAY[101, 102, 103]) AS changed OFFSET 0) AS d
WHERE offer(bytes) = 'accepted' AND name IN ('two', 'one') GROUP BY name ORDER BY name;

--
-- Equality
--

CREATE TABLE equal (i integer, f cuckoo_filter);
INSERT INTO equal SELECT i, cuckoo_add(cuckoo_create(10), i % 3) FROM generate_series(1, 9) AS i;
SELECT count(DISTINCT f::text) AS texts, (SELECT count(*) FROM (SELECT DISTINCT f FROM equal) AS d) AS different, (SELECT count(*) FROM equal AS a JOIN equal AS b ON a.f = b.f) AS joined, (SELECT count(*) FROM equal AS a JOIN equal AS b ON a.f <> b.f) AS others FROM equal;
CREATE INDEX ON equal USING hash (f);
SET enable_seqscan = off;
SELECT i FROM equal WHERE f = cuckoo_add(cuckoo_create(10), 2) ORDER BY i;
RESET enable_seqscan;

--
-- Stored filters
--

-- Filter i holds the keys i * 1000 .. i * 1000 + 199 and nothing else; of 8, 16 and
-- 32 bits, most with several sub-filters; out of line, compressed and inline.
CREATE TABLE stored (i integer PRIMARY KEY, f cuckoo_filter);
INSERT INTO stored SELECT i, cuckoo_add_all(cuckoo_create(40000, 2 + i % 3, (ARRAY[32, 16, 32])[i % 3 + 1]), ARRAY(SELECT i * 1000 + x FROM generate_series(0, 199) AS x)) FROM generate_series(1, 9) AS i;
INSERT INTO stored SELECT i, cuckoo_add_all(cuckoo_create(20, 2, 32, 20, 2), ARRAY(SELECT i * 1000 + x FROM generate_series(0, 199) AS x) || ARRAY(SELECT 1000000 + x FROM generate_series(1, 4000) AS x)) FROM generate_series(10, 12) AS i;
ALTER TABLE stored ALTER f SET STORAGE extended;
INSERT INTO stored SELECT 13, cuckoo_add_all(cuckoo_create(40000, 4, 32), ARRAY(SELECT 13000 + x FROM generate_series(0, 199) AS x));
ALTER TABLE stored ALTER f SET STORAGE main;
INSERT INTO stored SELECT 14, cuckoo_add_all(cuckoo_create(200, 4, 16), ARRAY(SELECT 14000 + x FROM generate_series(0, 199) AS x));
SELECT count(*) FILTER (WHERE pg_column_size(f) > 20000) AS out_of_line, count(*) FILTER (WHERE pg_column_size(f) < (cuckoo_info(f)).size_bytes - 4) AS compressed, max((cuckoo_info(f)).sub_filters) AS sub_filters FROM stored;
-- one probe of each, by chunks only; then so many that the whole is fetched
SELECT count(*) FILTER (WHERE f @> (i * 1000 + 7)) AS present, count(*) FILTER (WHERE f @> (i * 1000 + 500)) AS absent, count(*) FILTER (WHERE (i * 1000 + 7) <@ f) AS present_commuted FROM stored;
CREATE TABLE probes AS SELECT x AS k, x / 1000 AS owner FROM generate_series(1000, 14999) AS x WHERE x % 1000 < 400;
ANALYZE probes;
-- the answers are those of the same filters in memory; of 16 bits some absent keys may pass
SELECT owner = i AS own, k % 1000 < 200 AS added, count(*) FILTER (WHERE f @> k) >= CASE WHEN owner = i AND k % 1000 < 200 THEN 2800 ELSE 0 END AND count(*) FILTER (WHERE f @> k) <= CASE WHEN owner = i AND k % 1000 < 200 THEN 2800 ELSE 20 END AS found, count(*)
FROM stored CROSS JOIN probes GROUP BY 1, 2 ORDER BY 1, 2;
CREATE FUNCTION one_probe(wanted integer, k integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	-- planned anew, so that nothing is kept
	EXECUTE format('SELECT f @> %s FROM stored WHERE i = %s', k, wanted) INTO result;
	RETURN result;
END $$;
SELECT count(*) AS asked, count(*) FILTER (WHERE one_probe(i, k)) BETWEEN 700 AND 705 AS present, count(*) FILTER (WHERE one_probe(i, k) <> (memory @> k)) AS different
FROM (SELECT i, f::bytea::cuckoo_filter AS memory FROM stored OFFSET 0) AS s, LATERAL (SELECT i * 1000 + x * 4 AS k FROM generate_series(0, 99) AS x) AS keys;
-- many keys of one stored filter, and its figures
SELECT count(*) FILTER (WHERE f @> k) AS found, sum(cuckoo_key_count(f, k)) AS counted FROM stored, probes WHERE i = 12 AND owner = 12 AND k % 1000 < 200;
SELECT cuckoo_contains_each(f, ARRAY[12001, 12002, 12999, NULL]) AS each, cuckoo_count(f), cuckoo_fpr(f) < 1e-7 AS fpr FROM stored WHERE i = 12;
UPDATE stored SET f = cuckoo_remove(f, 12001) WHERE i = 12;
SELECT f @> 12001 AS removed, f @> 12002 AS other FROM stored WHERE i = 12;

SET client_min_messages = warning;
DROP SCHEMA test_cuckoo_types CASCADE;
