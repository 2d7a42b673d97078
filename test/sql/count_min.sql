-- count_min_sketch: its bytes, every way in and out, what it counts, and how well.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_count_min_sketch;
SET search_path = test_count_min_sketch, public;
SET extra_float_digits = 0;

----------------------------------------------------------------------------
-- The portable form, written down by hand
----------------------------------------------------------------------------

SELECT cms_create(3, 2)::bytea = decode(
		'05'				-- kind
	||	'01'				-- format version
	||	'04'				-- scheme: murmur2
	||	'00'				-- flags
	||	'00000002'			-- depth
	||	'00000000'			-- detail
	||	'0000000000000003'	-- width
	||	'0000000000000000'	-- capacity
	||	'0000000000000000'	-- rate
	||	'0000000000000000'	-- bits set
	||	'0000000000000000'	-- total
	||	'0000000000000000'	-- extra
	||	repeat('00', 3 * 2 * 8),
	'hex') AS empty_sketch;

-- What MurmurHash2 is, and so where a key counts, said once more in SQL.
CREATE FUNCTION murmur2(key bytea, seed bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	m constant bigint := x'5bd1e995'::bigint;
	mask constant bigint := x'ffffffff'::bigint;
	length int := octet_length(key);
	h bigint := seed # length;
	k numeric;
	block bigint;
	at int := 0;
BEGIN
	WHILE length - at >= 4 LOOP
		block := get_byte(key, at) + (get_byte(key, at + 1)::bigint << 8)
			+ (get_byte(key, at + 2)::bigint << 16) + (get_byte(key, at + 3)::bigint << 24);
		block := mod(block::numeric * m, 4294967296)::bigint;
		block := block # (block >> 24);
		block := mod(block::numeric * m, 4294967296)::bigint;
		h := mod(h::numeric * m, 4294967296)::bigint # block;
		at := at + 4;
	END LOOP;
	IF length > at THEN
		FOR i IN REVERSE length - 1 .. at LOOP
			h := h # (get_byte(key, i)::bigint << (8 * (i - at)));
		END LOOP;
		h := mod(h::numeric * m, 4294967296)::bigint;
	END IF;
	h := h # (h >> 13);
	h := mod(h::numeric * m, 4294967296)::bigint;
	RETURN h # (h >> 15);
END $$;
-- the counters, row by row, that these keys and weights must give
CREATE FUNCTION model(width int, depth int, keys text[], weights bigint[]) RETURNS bigint[] LANGUAGE sql AS $$
	SELECT array_agg(coalesce(weight, 0) ORDER BY r, c)
	FROM generate_series(0, depth - 1) r CROSS JOIN generate_series(0, width - 1) c
		LEFT JOIN (SELECT r, murmur2(convert_to(key, 'UTF8'), r) % width AS c, sum(weight)::bigint AS weight
				   FROM generate_series(0, depth - 1) r, unnest(keys, weights) k(key, weight) GROUP BY 1, 2) w USING (r, c)
$$;
CREATE FUNCTION counters(s count_min_sketch) RETURNS bigint[] LANGUAGE sql AS $$
	SELECT array_agg((SELECT sum(get_byte(data, 60 + 8 * n + i)::numeric * 2::numeric ^ (8 * i)) FROM generate_series(0, 7) i)::bigint ORDER BY n)
	FROM (SELECT s::bytea AS data) d, generate_series(0, (cms_info(s)).width::int * (cms_info(s)).depth - 1) n
$$;
-- of every length around the blocks of 4 bytes and the 16 that are mixed at once
SELECT length, counters(cms_add(cms_create(97, 3), key, 5)) = model(97, 3, ARRAY[key], ARRAY[5]) AS same
FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 7, 8, 11, 63, 64, 65, 67, 68, 69, 100]) length, LATERAL left(repeat('abcdefg.', 20), length) key;
-- numbers of every length, hashed without being written first; others by way of text
SELECT count(*), bool_and(counters(cms_add(cms_create(97, 3), n, 5)) = model(97, 3, ARRAY[n::text], ARRAY[5])) AS same
FROM (SELECT (10::numeric ^ e)::bigint + d AS n FROM generate_series(0, 18) e, generate_series(-1, 1) d
	  UNION ALL SELECT unnest(ARRAY[-1, -10, 9223372036854775807, -9223372036854775808])) x;
SELECT bool_and(counters(cms_add(cms_create(97, 3), 'Äß漢🙂')) = model(97, 3, ARRAY['Äß漢🙂'], ARRAY[1])) AS utf8;
SELECT counters(cms_add_all(cms_create(10, 4), ARRAY[1, 2, 2, 3, NULL, 3, 3])) = model(10, 4, ARRAY['1', '2', '3'], ARRAY[1, 2, 3]) AS some_keys;
-- equal keys of different types are one key
SELECT cms_add(cms_create(100, 5), 42) = cms_add(cms_create(100, 5), '42') AS text, cms_add(cms_create(100, 5), 42) = cms_add(cms_create(100, 5), 42.0) AS numeric,
	cms_add(cms_create(100, 5), 42) = cms_add(cms_create(100, 5), 42::smallint) AS smallint, cms_add(cms_create(100, 5), 42) = cms_add(cms_create(100, 5), '\x3432'::bytea) AS bytea;

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

SELECT (cms_info(s)).* FROM (VALUES (cms_create(1, 1)), (cms_create(2719, 5)), (cms_create(1, 255)), (cms_create_by_error(0.001, 0.01)),
	(cms_create_by_error(0.5, 0.5)), (cms_create_by_error(0.999999, 0.999999)), (cms_create_by_error(0.01, 1e-110))) v(s);
\set VERBOSITY terse
SELECT cms_create(0, 1);
SELECT cms_create(-1, 1);
SELECT cms_create(1, 0);
SELECT cms_create(1, -1);
SELECT cms_create(1, 256);
\set VERBOSITY default
SELECT cms_create(67108865, 1);
SELECT cms_create(9223372036854775807, 255);
SELECT cms_create_by_error(0, 0.01);
SELECT cms_create_by_error(1, 0.01);
SELECT cms_create_by_error('NaN', 0.01);
SELECT cms_create_by_error(0.01, 0);
SELECT cms_create_by_error(0.01, 1);
SELECT cms_create_by_error(0.01, 'NaN');
SELECT cms_create_by_error(0.01, 1e-111);
SELECT cms_create_by_error(1e-7, 0.01);
SELECT cms_create_by_error(1e-300, 1e-100);
SELECT cms_create(NULL, 1) IS NULL AS width, cms_create(1, NULL) IS NULL AS depth, cms_create_by_error(NULL, 0.1) IS NULL AS error;

----------------------------------------------------------------------------
-- Count
----------------------------------------------------------------------------

CREATE TABLE sketch AS SELECT cms_add(cms_add(cms_add(cms_create(1000, 5), 'a', 7), 'b'), '', 2) AS s;
SELECT cms_count(s, 'a') AS a, cms_count(s, 'b') AS b, cms_count(s, '') AS empty, cms_count(s, 'c') AS absent, cms_total(s) AS total,
	cms_count_each(s, ARRAY['b', NULL, 'a']) AS each, cms_count_each(s, '[0:1][2:2]={{a},{b}}'::text[]) AS shape,
	cms_count_each(s, '{}'::int[]) AS none, round(cms_error_bound(s)::numeric, 6) AS bound
FROM sketch;
-- the argument is not changed
SELECT cms_add(s, 'a') <> s AS changed, cms_count(s, 'a') AS still FROM sketch;
-- NULL
SELECT cms_add(s, NULL::text) = s AS key, cms_add(s, 'a', NULL) = s AS count, cms_add(NULL, 'a') IS NULL AS sketch, cms_add_all(s, NULL::int[]) = s AS keys,
	cms_add_all(NULL, ARRAY[1]) IS NULL AS sketch2, cms_add(s, 'a', 0) = s AS zero, cms_count(s, NULL::text) IS NULL AS count_null, cms_count(NULL, 'a') IS NULL AS null_count,
	cms_total(NULL) IS NULL AS total, (s | NULL) IS NULL AS united
FROM sketch;
SELECT cms_add(s, 'a', -1) FROM sketch;
SELECT cms_add(s, ARRAY['a']) FROM sketch;
SELECT cms_add(s, s) FROM sketch;

-- counters stop where a bigint ends
CREATE TABLE full_ AS SELECT cms_add(cms_add(cms_create(10, 3), 'a', 9223372036854775806), 'b', 5) AS s;
SELECT cms_count(s, 'a') AS a, cms_count(cms_add(s, 'a'), 'a') AS one_more, cms_count(cms_add(s, 'a', 9223372036854775807), 'a') AS many_more,
	cms_count(s, 'b') AS b, cms_total(s) AS total, cms_total(s | s) AS united, cms_count(s | s, 'a') AS a_united, cms_count(s | s, 'b') AS b_united,
	s::bytea::count_min_sketch = s AS accepted, (s | s)::bytea::count_min_sketch = (s | s) AS united_accepted
FROM full_;

----------------------------------------------------------------------------
-- Combine
----------------------------------------------------------------------------

SELECT counters(cms_add_all(cms_create(10, 4), ARRAY[1, 2]) | cms_add_all(cms_create(10, 4), ARRAY[2, 3])) = model(10, 4, ARRAY['1', '2', '3'], ARRAY[1, 2, 1]) AS union_,
	cms_union(s, s) = (s | s) AS same, cms_total(s | s) = 2 * cms_total(s) AS total, (s | cms_create(1000, 5)) = s AS empty
FROM sketch;
-- sum over keys: 7 * 7 + 1 * 1 + 2 * 2; no two keys share their counter in every row
SELECT cms_inner_product(s, s) AS self, cms_inner_product(s, cms_add(cms_create(1000, 5), 'b', 100)) AS one, cms_inner_product(s, cms_create(1000, 5)) AS none FROM sketch;
SELECT cms_create(10, 4) | cms_create(10, 5);
SELECT cms_union(cms_create(11, 4), cms_create(10, 4));
SELECT cms_inner_product(cms_create(11, 4), cms_create(10, 4));
SELECT cms_union_agg(s) FROM (VALUES (cms_create(11, 4)), (cms_create(10, 4))) v(s);

----------------------------------------------------------------------------
-- Aggregates
----------------------------------------------------------------------------

CREATE TABLE key AS SELECT i AS id, i % 17 AS k, CASE WHEN i % 2 = 0 THEN i % 5 END AS half, (i % 3)::bigint AS w, i % 4 AS g FROM generate_series(1, 600) i;
CREATE FUNCTION made(keys anyarray) RETURNS count_min_sketch LANGUAGE sql AS $$ SELECT cms_add_all(cms_create_by_error(0.01, 0.01), keys) $$;
SELECT cms_agg(k, 0.01, 0.01) = made(array_agg(k)) AS keys, cms_agg(k::text, 0.01, 0.01) = made(array_agg(k)) AS text,
	cms_agg(half, 0.01, 0.01) = made(array_agg(half)) AS nulls, cms_agg(k, 1, 0.01, 0.01) = made(array_agg(k)) AS weight_1,
	cms_agg(k, w, 0.01, 0.01) = (made(array_agg(k) FILTER (WHERE w >= 1)) | made(array_agg(k) FILTER (WHERE w >= 2))) AS weights,
	cms_agg(k, nullif(w, 2), 0.01, 0.01) = made(array_agg(k) FILTER (WHERE w = 1)) AS null_weights,
	cms_agg(k, 0, 0.01, 0.01) = cms_create_by_error(0.01, 0.01) AS zero_weights
FROM key;
SELECT cms_agg(NULL::int, 0.01, 0.01) IS NULL AS nulls, cms_agg(k, NULL, 0.01, 0.01) IS NULL AS null_weights, cms_union_agg(NULL) IS NULL AS null_sketches,
	cms_agg(NULL::int, 7, 7) IS NULL AS parameters_unread
FROM key;
SELECT cms_agg(k, 0.01, 0.01) IS NULL AS no_row FROM key WHERE false;
SELECT g, cms_agg(k, 0.01, 0.01) = made(array_agg(k)) AS grouped FROM key GROUP BY g ORDER BY g;
SELECT cms_union_agg(s) = (SELECT cms_agg(k, 0.01, 0.01) FROM key) AS united, cms_union_agg(s) FILTER (WHERE g = 1) = (SELECT cms_agg(k, 0.01, 0.01) FROM key WHERE g = 1) AS of_one
FROM (SELECT g, cms_agg(k, 0.01, 0.01) AS s FROM key GROUP BY g UNION ALL SELECT 9, NULL) x;
-- the state goes on after a final function has read it; in a large sketch keys wait
SELECT bool_and(small = (SELECT cms_agg(k, 0.01, 0.01) FROM key WHERE id <= x.id)) AS small, bool_and(large = (SELECT cms_agg(k, 0.0001, 0.01) FROM key WHERE id <= x.id)) AS large,
	count(*) AS rows
FROM (SELECT id, cms_agg(k, 0.01, 0.01) OVER w AS small, cms_agg(k, 0.0001, 0.01) OVER w AS large
	  FROM key WHERE id <= 40 WINDOW w AS (ORDER BY id)) x;
SELECT cms_total(large) AS total, cms_count_each(large, ARRAY[0, 1, 17]) AS counts, large = cms_add_all(cms_create_by_error(0.0001, 0.01), keys) AS same
FROM (SELECT cms_agg(k, 0.0001, 0.01) AS large, array_agg(k) AS keys FROM key) x;
SELECT bool_and(moving = made(keys)) AS moving
FROM (SELECT cms_agg(k, 0.01, 0.01) OVER w AS moving, array_agg(k) OVER w AS keys FROM key WINDOW w AS (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)) x;
\set VERBOSITY terse
SELECT cms_agg(k, 0, 0.01) FROM key;
SELECT cms_agg(k, 0.01, NULL) FROM key;
SELECT cms_agg(k, NULL, 0.01) FROM key;
SELECT cms_agg(k, CASE WHEN id < 10 THEN 0.01 ELSE 0.02 END, 0.01) FROM key;
SELECT cms_agg(k, 1, 0.01, CASE WHEN id < 10 THEN 0.01 ELSE 0.02 END) FROM key;
SELECT cms_agg(k, -w, 0.01, 0.01) FROM key;
SELECT cms_agg(ARRAY[k], 0.01, 0.01) FROM key;
SELECT cms_agg_combine(NULL, NULL);
\set VERBOSITY default

-- in parallel, and every state through its serialized form: the same bytes
CREATE TABLE many AS SELECT i % 1000 AS k, i % 7 AS w FROM generate_series(1, 50000) i;
ALTER TABLE many SET (parallel_workers = 2);
CREATE TABLE parts AS SELECT i AS id, cms_agg(k, 0.01, 0.01) AS s FROM many, generate_series(1, 30) i WHERE k % 30 = i - 1 GROUP BY i;
ALTER TABLE parts SET (parallel_workers = 2);
CREATE FUNCTION is_parallel(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	whole text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		whole := whole || line || E'\n';
	END LOOP;
	RETURN whole ~ 'Finalize.*Gather.*Partial.*Parallel Seq Scan';
END $$;
CREATE TABLE serial AS SELECT cms_agg(k, 0.01, 0.01) AS keys, cms_agg(k, w, 0.001, 0.01) AS weights, cms_agg(k, 0.0001, 0.01) AS large, (SELECT cms_union_agg(s) FROM parts) AS united FROM many;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT is_parallel('SELECT cms_agg(k, 0.01, 0.01) FROM many') AS keys, is_parallel('SELECT cms_agg(k, w, 0.01, 0.01) FROM many') AS weights, is_parallel('SELECT cms_union_agg(s) FROM parts') AS unite;
SELECT (SELECT cms_agg(k, 0.01, 0.01) FROM many) = keys AS keys, (SELECT cms_agg(k, w, 0.001, 0.01) FROM many) = weights AS weights,
	(SELECT cms_agg(k, 0.0001, 0.01) FROM many) = large AS large, (SELECT cms_union_agg(s) FROM parts) = united AS united, united = keys AS union_is_whole
FROM serial;
-- sketches of different dimensions also meet in the combine function
\set VERBOSITY terse
SELECT cms_union_agg(cms_create(10 + id % 2, 3)) FROM parts;
\set VERBOSITY default
RESET parallel_leader_participation;

----------------------------------------------------------------------------
-- In and out
----------------------------------------------------------------------------

CREATE TABLE value AS SELECT cms_create(1, 1) AS s UNION ALL SELECT cms_create(1000, 3) UNION ALL SELECT s FROM sketch UNION ALL SELECT large FROM serial;
SELECT octet_length(s::bytea) = 60 + 8 * (cms_info(s)).width * (cms_info(s)).depth AS size, (cms_info(s)).size_bytes = octet_length(s::bytea) + 4 AS size_bytes,
	s::bytea::count_min_sketch = s AS by_bytea, s::text::count_min_sketch = s AS by_text, count_min_sketch_send(s) = s::bytea AS send, s <> cms_create(1000, 3) AS ne
FROM value ORDER BY 3, octet_length(s::bytea);
SELECT count(*), sum(n) AS twice, count(DISTINCT count_min_sketch_hash(s)) AS hashes, count(DISTINCT count_min_sketch_hash_extended(s, 1)) AS hashes64
FROM (SELECT s, count(*) AS n FROM (SELECT * FROM value UNION ALL SELECT * FROM value) v GROUP BY s) distinct_;
SELECT count(*) FROM value a JOIN value b USING (s);
\getenv builddir PG_ABS_BUILDDIR
\set file :builddir '/results/count_min.binary'
CREATE TABLE loaded(s count_min_sketch);
\set copy_out '\\copy value TO ' :'file' ' (FORMAT binary)'
\set copy_in '\\copy loaded FROM ' :'file' ' (FORMAT binary)'
:copy_out
:copy_in
SELECT count(*) FROM (SELECT s FROM value INTERSECT SELECT s FROM loaded) x;
-- toasted, compressed and in the row
ALTER TABLE loaded ALTER s SET STORAGE main;
TRUNCATE loaded;
INSERT INTO loaded SELECT cms_add(cms_create(1000, 3), 'a', 3) UNION ALL SELECT cms_add(cms_create(5, 1), 'a', 4);
INSERT INTO value SELECT cms_agg(k, k, 0.0001, 0.01) FROM generate_series(1, 100) k;
SELECT pg_column_size(s) < octet_length(s::bytea) AS smaller, cms_count(s, 'a') AS a, cms_total(s) AS total, (cms_info(s)).size_bytes AS bytes FROM loaded;
SELECT count(*) FILTER (WHERE cms_count(s, k) = k) AS right_, max(cms_count(s | s, 100)) AS twice, max((cms_count_each(s, ARRAY[99]))[1]) AS each FROM value, generate_series(1, 100) k WHERE cms_total(s) = 5050;

-- Every check has its own DETAIL.
CREATE FUNCTION base() RETURNS bytea LANGUAGE sql AS $$ SELECT cms_add_all(cms_create(3, 2), ARRAY['a', 'b', 'c'])::bytea $$;
CREATE FUNCTION problem(data bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	message text;
BEGIN
	PERFORM data::count_min_sketch;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, message = MESSAGE_TEXT;
	IF SQLSTATE <> '22P03' OR message <> 'invalid binary data for type count_min_sketch' THEN
		RAISE;
	END IF;
	RETURN detail;
END $$;
CREATE FUNCTION put(hex text, at int) RETURNS bytea LANGUAGE sql AS $$
	SELECT overlay(base() PLACING decode(hex, 'hex') FROM at + 1)
$$;
SELECT counters(base()::count_min_sketch);
SELECT what, problem(data) FROM (VALUES
	('unchanged', base()),
	('kind 0', put('00', 0)),
	('kind bloom', put('01', 0)),
	('kind top_k', put('06', 0)),
	('kind 255', put('ff', 0)),
	('a bloom', bloom_create(10)::bytea),
	('version 2', put('02', 1)),
	('scheme 0', put('00', 2)),
	('scheme murmur64a', put('01', 2)),
	('flag', put('01', 3)),
	('depth 0', put('00000000', 4)),
	('depth 1', put('00000001', 4)),
	('depth 3', put('00000003', 4)),
	('depth 256', put('00000100', 4)),
	('depth 2^32 - 1', put('ffffffff', 4)),
	('detail', put('00000001', 8)),
	('width 0', put('0000000000000000', 12)),
	('width 2', put('0000000000000002', 12)),
	('width 4', put('0000000000000004', 12)),
	('width 2^25', put('0000000002000000', 12)),
	('width 2^25 + 1', put('0000000002000001', 12)),
	('width 2^63 + 3, which is 3 in bytes', put('8000000000000003', 12)),
	('width 2^64 - 1', put('ffffffffffffffff', 12)),
	('capacity', put('0000000000000001', 20)),
	('rate', put('3fc0000000000000', 28)),
	('rate -0', put('8000000000000000', 28)),
	('bits set', put('0000000000000001', 36)),
	('total 2', put('0000000000000002', 44)),
	('total 4', put('0000000000000004', 44)),
	('total 2^63', put('8000000000000000', 44)),
	('extra', put('0000000000000001', 52)),
	('counter one more', set_byte(base(), 60, get_byte(base(), 60) + 1)),
	('counter of the last row one more', set_byte(base(), 100, get_byte(base(), 100) + 1)),
	('counter 2^63', set_byte(base(), 67, 128)),
	('payload one byte short', substring(base() FOR 107)),
	('payload one byte long', base() || '\x00'),
	('no payload', substring(base() FOR 60)),
	('half a header', substring(base() FOR 59)),
	('nothing', '\x')
) case_(what, data);
\set VERBOSITY terse
SELECT ''::count_min_sketch;
SELECT 'not base64!!'::count_min_sketch;
\set VERBOSITY default
SELECT 'BQE='::count_min_sketch;
SELECT bloom_create(10)::text::count_min_sketch;

-- Each byte becomes each other byte: accepted is nothing, because all fields and
-- rows depend on each other.  Every shorter and some longer value, likewise.
SELECT count(*) AS tried, count(*) FILTER (WHERE problem(data) = 'accepted') AS accepted
FROM (SELECT set_byte(base(), at, get_byte(base(), at) # mask) AS data FROM generate_series(0, 107) at, generate_series(1, 255) mask
	  UNION ALL SELECT substring(base() FOR length) FROM generate_series(0, 107) length
	  UNION ALL SELECT base() || decode(repeat('00', more), 'hex') FROM generate_series(1, 64) more) change;

-- A damaged value in memory is an error or a count, never a crash; nor can one
-- function's type be taken for another's.
CREATE FUNCTION bytes_in_memory(count_min_sketch) RETURNS bytea LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION damaged(bytea) RETURNS count_min_sketch LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION damaged_bloom(bytea) RETURNS bloom LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION survives(data bytea, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE 'SELECT ' || call USING damaged(data), base()::count_min_sketch, damaged_bloom(data);
	RETURN 'no error';
EXCEPTION
	WHEN data_corrupted THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN detail;
	WHEN datatype_mismatch THEN
		RETURN 'another geometry';
END $$;
CREATE TABLE call AS SELECT * FROM unnest(ARRAY[
	'cms_count($1, 1)', 'cms_count_each($1, ARRAY[1])', 'cms_add($1, 1)', 'cms_add_all($1, ARRAY[1, 2])', '$1 | $1', '$2 | $1', 'cms_inner_product($1, $2)',
	'cms_info($1)', 'cms_total($1)', 'cms_error_bound($1)', '$1::text', '$1::bytea', 'cms_union_agg($1)',
	'$3 @> 1', 'bloom_add($3, 1)', 'bloom_add_all($3, ARRAY[1])', 'bloom_clear($3)', 'bloom_info($3)', '$3 | $3', '$3 & $3', 'bloom_union_agg($3)', 'bloom_agg(1, $3)',
	'bloom_jaccard($3, $3)', 'bloom_contains_each($3, ARRAY[1])']) WITH ORDINALITY call(call, number);
SELECT call, survives(data, call) AS whole, survives(set_byte(data, 0, 1), call) AS kind, survives(substring(data FOR 100), call) AS short, survives('', call) AS empty
FROM call, (SELECT bytes_in_memory(base()::count_min_sketch) AS data) one ORDER BY number;
SELECT count(*) AS tried, count(*) FILTER (WHERE answer = 'no error') > 1000 AS some_worked, count(*) FILTER (WHERE answer LIKE 'The %') > 1000 AS some_refused
FROM (SELECT survives(set_byte(data, at, get_byte(data, at) # mask), call) AS answer
	  FROM call, generate_series(0, 107) at, (VALUES (1), (2), (3), (4), (16), (128), (255)) m(mask), (SELECT bytes_in_memory(base()::count_min_sketch) AS data) one) x;

----------------------------------------------------------------------------
-- How well it counts
----------------------------------------------------------------------------

-- A stream's true counts, and how many of the sketch's are too low (none), and too
-- high by more than error * total.  At most a share of `probability` may be; by more
-- than four standard deviations above it, sqrt(keys * p * (1 - p)), is a fault.
CREATE FUNCTION judge(stream text, error float8, probability float8,
	OUT distinct_keys bigint, OUT total_right boolean, OUT too_low bigint, OUT too_high bigint, OUT allowed int) LANGUAGE plpgsql AS $$
DECLARE
	s count_min_sketch;
BEGIN
	EXECUTE format('SELECT cms_agg(k, n, %L, %L) FROM %I', error, probability, stream) INTO s;
	EXECUTE format('SELECT count(*), sum(n) = cms_total($1), count(*) FILTER (WHERE cms_count($1, k) < n), count(*) FILTER (WHERE cms_count($1, k) > n + $2)
		FROM (SELECT k, sum(n)::bigint AS n FROM %I GROUP BY k) truth', stream) INTO distinct_keys, total_right, too_low, too_high USING s, cms_error_bound(s);
	allowed := floor(distinct_keys * probability + 4 * sqrt(distinct_keys * probability * (1 - probability)));
END $$;
-- Zipf: key n comes in proportion to 1 / n^1.1, 100,000 keys, a million rows
CREATE TABLE zipf AS SELECT k, round(130000 / k ^ 1.1)::bigint AS n FROM generate_series(1, 100000) k WHERE round(130000 / k ^ 1.1) >= 1;
SELECT sum(n) BETWEEN 900000 AND 1000000 AS about_a_million FROM zipf;
INSERT INTO zipf SELECT 1000000 + k, 1 FROM generate_series(1, 1000000 - (SELECT sum(n)::int FROM zipf)) k;
SELECT error, probability, j.* FROM (VALUES (0.001, 0.01), (0.001, 0.4), (0.01, 0.1), (0.1, 0.4)) p(error, probability), judge('zipf', error, probability) j;
-- Uniform: no key stands out, and in a small sketch each collides with hundreds
CREATE TABLE uniform AS SELECT k * 7919::bigint % 1000003 AS k, 1 AS n FROM generate_series(1, 1000000) k;
SELECT error, probability, j.* FROM (VALUES (0.001, 0.01), (0.000002, 0.1)) p(error, probability), judge('uniform', error, probability) j;
-- The worst case: 1 / error keys just above the bound, the others hardly there.  Then
-- one row fails with 1 - (1 - 1 / width)^1000, which is 0.31 of the allowed 0.37.
CREATE TABLE worst AS SELECT k, CASE WHEN k <= 1000 THEN 1000000 ELSE 1 END AS n FROM generate_series(1, 21000) k;
SELECT error, probability, j.* FROM (VALUES (0.001, 0.3679), (0.001, 0.1), (0.001, 0.01), (0.001, 0.001)) p(error, probability), judge('worst', error, probability) j;
-- one row at a time through the aggregate, in the order of a stream
SELECT cms_agg(k, 0.001, 0.01) = (SELECT cms_agg(k, n, 0.001, 0.01) FROM zipf) AS same_as_weights
FROM (SELECT k FROM zipf, generate_series(1, n)) stream;
-- the inner product: the number of rows of the join, at most by error * total * total more
SELECT product >= truth AS not_below, product <= truth + 0.001 * 1e12 AS within
FROM (SELECT cms_inner_product(s, s) AS product, (SELECT sum(n * n) FROM zipf) AS truth FROM (SELECT cms_agg(k, n, 0.001, 0.01) AS s FROM zipf) x) y;

----------------------------------------------------------------------------
-- Hourly sketches merged to a day
----------------------------------------------------------------------------

CREATE TABLE request (at timestamptz, url text);
INSERT INTO request SELECT '2026-01-31 00:00Z'::timestamptz + n * interval '8 seconds', '/page/' || round(1000 / (n * 7919 % 1000 + 1))
FROM generate_series(0, 10799) n;
CREATE TABLE hourly AS
	SELECT date_trunc('hour', at, 'UTC') AS hour, cms_agg(url, 0.001, 0.01) AS sketch FROM request GROUP BY 1;
SELECT count(*) AS hours, cms_total(cms_union_agg(sketch)) AS requests, cms_count(cms_union_agg(sketch), '/page/10') AS page_10,
	(SELECT count(*) FROM request WHERE url = '/page/10') AS truth, cms_union_agg(sketch) = (SELECT cms_agg(url, 0.001, 0.01) FROM request) AS same_as_one_build
FROM hourly;

RESET ALL;
