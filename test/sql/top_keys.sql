-- top_k: its bytes, every way in and out, what it lists, and how well.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_top_k;
SET search_path = test_top_k, public;

----------------------------------------------------------------------------
-- The portable form, written down by hand
----------------------------------------------------------------------------

-- One counter in one row, in which every key counts: 7 for b, 2 for a, 1 for the
-- empty key and 1 for ä, so that each is listed with 11.
SELECT top_k_add(top_k_add(top_k_add(top_k_add(top_k_create(2, 0.99, 0.5), 'b', 7), 'a', 2), ''), 'ä')::bytea = decode(
		'06'				-- kind
	||	'01'				-- format version
	||	'04'				-- scheme: murmur2
	||	'00'				-- flags
	||	'00000001'			-- depth
	||	'00000002'			-- k
	||	'0000000000000003'	-- width
	||	'0000000000000034'	-- bytes of the candidates
	||	'0000000000000000'	-- rate
	||	'0000000000000004'	-- candidates
	||	'000000000000000b'	-- total
	||	'0000000000000000',	-- extra
	'hex') || substring(cms_add(cms_add(cms_add(cms_add(cms_create(3, 1), 'b', 7), 'a', 2), ''), 'ä')::bytea FROM 61) || decode(
		'0100000000000000' || '00000000'
	||	'0200000000000000' || '01000000' || '61'
	||	'0700000000000000' || '01000000' || '62'
	||	'0100000000000000' || '02000000' || 'c3a4',
	'hex') AS whole;
SELECT top_k_create(3)::bytea = set_byte(decode('06010400000000050000000300', 'hex') || substring(cms_create(2719, 5)::bytea FROM 14), 7, 5) AS empty;

----------------------------------------------------------------------------
-- Create
----------------------------------------------------------------------------

SELECT k, width, depth, round(error::numeric, 7) AS error, round(probability::numeric, 4) AS probability, total, error_bound, candidates, size_bytes
FROM (VALUES (top_k_create(1)), (top_k_create(20)), (top_k_create(21)), (top_k_create(1000)), (top_k_create(10000)), (top_k_create(5, 0.1, 0.2))) v(t), top_k_info(t);
\set VERBOSITY terse
SELECT top_k_create(0);
SELECT top_k_create(-1, 0.1, 0.1);
SELECT top_k_create(10001);
SELECT top_k_create(1, 0, 0.1);
SELECT top_k_create(1, 'NaN', 0.1);
SELECT top_k_create(1, 0.1, 1);
SELECT top_k_create(1, 1e-9, 0.1);
\set VERBOSITY default
SELECT top_k_create(NULL) IS NULL AS k, top_k_create(1, NULL, 0.1) IS NULL AS error;

----------------------------------------------------------------------------
-- Add and list
----------------------------------------------------------------------------

CREATE TABLE top AS SELECT top_k_add_all(top_k_create(3), ARRAY['b', 'a', 'b', NULL, 'c', 'd', 'd', 'Ä', '', 'd']) AS t;
SELECT l.* FROM top, top_k_list(t) l;
SELECT top_k_count(t, 'd') AS d, top_k_count(t, 'Ä') AS not_listed, top_k_count(t, 'x') AS absent, (t::count_min_sketch)::bytea = cms_add_all(cms_create(2719, 5), ARRAY['b', 'a', 'b', 'c', 'd', 'd', 'Ä', '', 'd'])::bytea AS sketch
FROM top;
-- ordered by count, then by the bytes of the key
SELECT array_agg(key ORDER BY rank) FROM top_k_list(top_k_add_all(top_k_create(9), ARRAY['b', 'B', 'aa', 'a', 'ab', 'Ä', '', '_', '10', '9', 'z', 'z']));
SELECT count(*) AS of_nothing FROM top_k_list(top_k_create(5));
-- NULL
SELECT top_k_add(t, NULL::text) = t AS key, top_k_add(t, 'a', NULL) = t AS count, top_k_add(NULL, 'a') IS NULL AS top, top_k_add_all(t, NULL::int[]) = t AS keys,
	top_k_add_all(NULL, ARRAY[1]) IS NULL AS top2, top_k_add(t, 'x', 0) = t AS zero, top_k_count(t, NULL::text) IS NULL AS null_key, (t | NULL) IS NULL AS united,
	(SELECT count(*) FROM top_k_list(NULL)) AS listed
FROM top;
-- every type that has a text
SELECT key, count FROM top_k_list((SELECT top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_add(top_k_create(20),
	42), -7), 42.0), 1e20::float8), true), '2026-01-31 12:00:00+01'::timestamptz), '10.0.0.1'::inet), '10.0.0.1'::cidr), 'x  '::char(3)), 'name'::name), 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid)));
SELECT top_k_add(t, '\x61'::bytea) FROM top;
SELECT top_k_add(t, '{}'::jsonb) FROM top;
SELECT top_k_add_all(t, ARRAY[interval '1 day']) FROM top;
SELECT top_k_count(t, ROW(1, 2)) FROM top;
SELECT top_k_agg(interval '1 day', 5);
\set VERBOSITY terse
SELECT top_k_add(t, ARRAY[1]) FROM top;
SELECT top_k_add(t, 'a', -1) FROM top;
SELECT top_k_add(t, t) FROM top;
\set VERBOSITY default
-- keys of any length up to 65535 bytes, as they were
SELECT length(key), octet_length(key), key = repeat('Ä', 32767) AS same FROM top_k_list(top_k_add(top_k_create(1), repeat('Ä', 32767)));
SELECT octet_length(key) FROM top_k_list(top_k_add(top_k_create(1), repeat('x', 65535)));
SELECT top_k_add(top_k_create(1), repeat('Ä', 32768));
SELECT top_k_agg(repeat('x', 65536), 1);
-- counters stop where a bigint ends
SELECT l.*, v.t::bytea::top_k = v.t AS accepted, (v.t | v.t)::bytea::top_k = (v.t | v.t) AS united
FROM (SELECT top_k_add(top_k_add(top_k_add(top_k_create(2), 'a', 9223372036854775807), 'a', 5), 'b', 3) AS t) v, top_k_list(t) l;

-- More keys than are kept: at most 4 k candidates, and which ones does not depend on
-- the order, as long as the sketch tells them apart.
SELECT (top_k_info(t)).candidates, (SELECT array_agg(key || '=' || count || '-' || error_bound ORDER BY rank) FROM top_k_list(t)) AS list
FROM (SELECT top_k_agg(n, n, 2) AS t FROM generate_series(1, 100) n
	  UNION ALL SELECT top_k_agg(n, n, 2 ORDER BY n DESC) FROM generate_series(1, 100) n) x;

----------------------------------------------------------------------------
-- Combine
----------------------------------------------------------------------------

-- a in both, b only left, c only right
SELECT l.* FROM top_k_list(top_k_add_all(top_k_create(5), ARRAY['a', 'a', 'b']) | top_k_add_all(top_k_create(5), ARRAY['a', 'c', 'c', 'c', 'c'])) l;
SELECT top_k_union(t, u) = (t | u) AS same, (t | u) = (u | t) AS commutes, (t | top_k_create(3)) = t AS empty, (top_k_create(3) | t) = t AS empty2, ((t | u) | u) = (t | (u | u)) AS associates
FROM top, (SELECT top_k_add_all(top_k_create(3), ARRAY['x', 'b', 'b', 'b']) AS u) u;
SELECT top_k_create(3) | top_k_create(4);
SELECT top_k_create(3, 0.1, 0.1) | top_k_create(3, 0.1, 0.01);
SELECT top_k_union_agg(t) FROM (VALUES (top_k_create(3, 0.1, 0.1)), (top_k_create(3, 0.2, 0.1))) v(t);

----------------------------------------------------------------------------
-- Aggregates
----------------------------------------------------------------------------

CREATE TABLE key AS SELECT i AS id, i % 17 AS k, CASE WHEN i % 2 = 0 THEN i % 5 END AS half, (i % 3)::bigint AS w, i % 4 AS g FROM generate_series(1, 600) i;
CREATE FUNCTION made(keys anyarray) RETURNS top_k LANGUAGE sql AS $$ SELECT top_k_add_all(top_k_create(20), keys) $$;
SELECT top_k_agg(k, 20) = made(array_agg(k)) AS keys, top_k_agg(k::text, 20) = made(array_agg(k)) AS text,
	top_k_agg(half, 20) = made(array_agg(half)) AS nulls, top_k_agg(k, 1, 20) = made(array_agg(k)) AS weight_1,
	top_k_agg(k, w, 20) = (made(array_agg(k) FILTER (WHERE w >= 1)) | made(array_agg(k) FILTER (WHERE w >= 2))) AS weights,
	top_k_agg(k, nullif(w, 2), 20) = made(array_agg(k) FILTER (WHERE w = 1)) AS null_weights, top_k_agg(k, 0, 20) = top_k_create(20) AS zero_weights,
	top_k_agg(k, 1, 20, 0.001, 0.01) = made(array_agg(k)) AS with_error, top_k_agg(k, 20) = top_k_agg(k, 20 ORDER BY id DESC) AS order_by
FROM key;
SELECT top_k_agg(NULL::int, 5) IS NULL AS nulls, top_k_agg(k, NULL, 5) IS NULL AS null_weights, top_k_union_agg(NULL) IS NULL AS null_tops, top_k_agg(NULL::int, 0) IS NULL AS parameters_unread
FROM key;
SELECT top_k_agg(k, 5) IS NULL AS no_row FROM key WHERE false;
SELECT g, top_k_agg(k, 20) = made(array_agg(k)) AS grouped FROM key GROUP BY g ORDER BY g;
SELECT top_k_union_agg(t) = (SELECT top_k_agg(k, 20) FROM key) AS united, top_k_union_agg(t) FILTER (WHERE g = 1) = (SELECT top_k_agg(k, 20) FROM key WHERE g = 1) AS of_one
FROM (SELECT g, top_k_agg(k, 20) AS t FROM key GROUP BY g UNION ALL SELECT 9, NULL) x;
-- the state goes on after a final function has read it
SELECT bool_and(running = (SELECT top_k_agg(k, 2) FROM key WHERE id <= x.id)) AS running, count(*) AS rows
FROM (SELECT id, top_k_agg(k, 2) OVER (ORDER BY id) AS running FROM key WHERE id <= 100) x;
-- in a large sketch keys wait
SELECT bool_and(number = (SELECT top_k_agg(k, 1, 5, 0.0001, 0.01) FROM key WHERE id <= x.id)) AS number,
	bool_and(text = top_k_add_all(top_k_create(5, 0.0001, 0.01), keys)) AS text, count(*) AS rows
FROM (SELECT id, top_k_agg(k, 1, 5, 0.0001, 0.01) OVER w AS number, top_k_agg(repeat('x', k) || -k, 1, 5, 0.0001, 0.01) OVER w AS text, array_agg(repeat('x', k) || -k) OVER w AS keys
	  FROM key WHERE id <= 40 WINDOW w AS (ORDER BY id)) x;
SELECT top_k_agg(-k, w, 20, 0.0001, 0.01) = (SELECT top_k_agg(-k, w, 20, 0.0001, 0.01 ORDER BY id DESC) FROM key) AS order_by, (top_k_info(top_k_agg(k, w, 20, 0.0001, 0.01))).total = sum(w) AS total
FROM key;
SELECT bool_and(moving = made(keys)) AS moving
FROM (SELECT top_k_agg(k, 20) OVER w AS moving, array_agg(k) OVER w AS keys FROM key WINDOW w AS (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)) x;
SELECT bool_and(running = made(keys)) AS running_union
FROM (SELECT top_k_union_agg(made(ARRAY[k])) OVER w AS running, array_agg(k) OVER w AS keys FROM key WHERE id <= 30 WINDOW w AS (ORDER BY id)) x;
\set VERBOSITY terse
SELECT top_k_agg(k, 0) FROM key;
SELECT top_k_agg(k, NULL::int) FROM key;
SELECT top_k_agg(k, id) FROM key;
SELECT top_k_agg(k, -w, 5) FROM key;
SELECT top_k_agg(k, w, 5, 0.1, NULL) FROM key;
SELECT top_k_agg(k, w, 5, 2, 0.1) FROM key;
SELECT top_k_agg(k, w, 5, 0.1, 0.1 + id / 1000.0) FROM key;
\set VERBOSITY default

----------------------------------------------------------------------------
-- In and out
----------------------------------------------------------------------------

CREATE TABLE value AS SELECT top_k_create(1, 0.9, 0.9) AS t UNION ALL SELECT top_k_create(5) UNION ALL SELECT t FROM top UNION ALL SELECT top_k_agg(k, 20) FROM key
	UNION ALL SELECT top_k_agg(n, n, 1000) FROM generate_series(1, 10000) n;
SELECT (top_k_info(t)).candidates, (top_k_info(t)).size_bytes = octet_length(t::bytea) + 4 AS size_bytes,
	t::bytea::top_k = t AS by_bytea, t::text::top_k = t AS by_text, top_k_send(t) = t::bytea AS send, t <> top_k_create(5) AS ne
FROM value ORDER BY octet_length(t::bytea);
SELECT count(*), sum(n) AS twice, count(DISTINCT top_k_hash(t)) AS hashes, count(DISTINCT top_k_hash_extended(t, 1)) AS hashes64
FROM (SELECT t, count(*) AS n FROM (SELECT * FROM value UNION ALL SELECT * FROM value) v GROUP BY t) distinct_;
\getenv builddir PG_ABS_BUILDDIR
\set file :builddir '/results/top_keys.binary'
CREATE TABLE loaded(t top_k);
\set copy_out '\\copy value TO ' :'file' ' (FORMAT binary)'
\set copy_in '\\copy loaded FROM ' :'file' ' (FORMAT binary)'
:copy_out
:copy_in
SELECT count(*) FROM (SELECT t FROM value INTERSECT SELECT t FROM loaded) x;
-- toasted, compressed and in the row
ALTER TABLE loaded ALTER t SET STORAGE main;
TRUNCATE loaded;
INSERT INTO loaded SELECT top_k_add(top_k_create(3), 'a', 3) UNION ALL SELECT top_k_add(top_k_create(1, 0.9, 0.9), 'a', 4);
SELECT pg_column_size(t) < octet_length(t::bytea) AS smaller, top_k_count(t, 'a') AS a, l.*, (top_k_info(t)).total FROM loaded, top_k_list(t) l;
SELECT count(*) FILTER (WHERE key = (10001 - rank)::text AND count - error_bound <= 10001 - rank AND count >= 10001 - rank) AS right_ FROM value, top_k_list(t) WHERE (top_k_info(t)).k = 1000;

-- Every check has its own DETAIL.  The candidates a (2), b (1) and cc (1) follow the
-- three counters, which all have a row for themselves.
CREATE FUNCTION base() RETURNS bytea LANGUAGE sql AS $$ SELECT top_k_add_all(top_k_create(1, 0.9999, 0.5), ARRAY['a', 'b', 'cc', 'a'])::bytea $$;
CREATE FUNCTION problem(data bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	message text;
BEGIN
	PERFORM data::top_k;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, message = MESSAGE_TEXT;
	IF SQLSTATE <> '22P03' OR message <> 'invalid binary data for type top_k' THEN
		RAISE;
	END IF;
	RETURN detail;
END $$;
CREATE FUNCTION put(hex text, at int) RETURNS bytea LANGUAGE sql AS $$
	SELECT overlay(base() PLACING decode(hex, 'hex') FROM at + 1)
$$;
CREATE FUNCTION reverse_bytes(b bytea) RETURNS bytea LANGUAGE sql AS $$
	SELECT string_agg(substring(b FROM i FOR 1), '' ORDER BY i DESC) FROM generate_series(1, octet_length(b)) i
$$;
-- a payload of other candidates: key, observed; lengths may lie
CREATE FUNCTION of(candidates text[], observed int[], lengths int[] DEFAULT NULL, said int DEFAULT NULL) RETURNS bytea LANGUAGE sql AS $$
	SELECT overlay(overlay(substring(base() FOR 84) PLACING int8send(coalesce(said, cardinality(candidates))) FROM 37)
		PLACING int8send(octet_length(entries)) FROM 21) || entries
	FROM (SELECT coalesce(string_agg(substring(reverse_bytes(int8send(o)) FOR 8) || reverse_bytes(int4send(coalesce(l, octet_length(c)))) || convert_to(c, 'UTF8'), '' ORDER BY n), '') AS entries
		  FROM unnest(candidates, observed, lengths) WITH ORDINALITY u(c, o, l, n)) e
$$;
SELECT encode(substring(base() FROM 61), 'hex') AS payload, base() = of(ARRAY['a', 'b', 'cc'], ARRAY[2, 1, 1]) AS same;
SELECT what, problem(data) FROM (VALUES
	('unchanged', base()),
	('no candidates', of('{}', '{}')),
	('one candidate', of(ARRAY['b'], ARRAY[1])),
	('kind count_min_sketch', put('05', 0)),
	('kind bloom', put('01', 0)),
	('version 2', put('02', 1)),
	('scheme 1', put('01', 2)),
	('flag', put('01', 3)),
	('depth 0', put('00000000', 4)),
	('depth 2', put('00000002', 4)),
	('k 0', put('00000000', 8)),
	('k 10000', put('00002710', 8)),
	('k 10001', put('00002711', 8)),
	('width 0', put('0000000000000000', 12)),
	('width 2^26 + 1', put('0000000004000001', 12)),
	('candidate bytes one more', put('0000000000000029', 20)),
	('candidate bytes one less', put('0000000000000027', 20)),
	('candidate bytes 2^64 - 1', put('ffffffffffffffff', 20)),
	('candidate bytes 2^29 + 1', put('0000000020000001', 20)),
	('rate', put('3fc0000000000000', 28)),
	('candidates 2', put('0000000000000002', 36)),
	('candidates 4', put('0000000000000004', 36)),
	('candidates 5 of 4', put('0000000000000005', 36)),
	('candidates 2^63', put('8000000000000000', 36)),
	('total 3', put('0000000000000003', 44)),
	('total 2^63', put('8000000000000000', 44)),
	('extra', put('0000000000000001', 52)),
	('counter', set_byte(base(), 60, get_byte(base(), 60) + 1)),
	('not in order', of(ARRAY['b', 'a'], ARRAY[1, 2])),
	('longer before shorter', of(ARRAY['aa', 'a'], ARRAY[1, 1])),
	('twice', of(ARRAY['a', 'a'], ARRAY[1, 1])),
	('five', of(ARRAY['a', 'b', 'c', 'd', 'e'], ARRAY[1, 1, 1, 1, 1])),
	('observed 0', of(ARRAY['a'], ARRAY[0])),
	('observed more than counted', of(ARRAY['a'], ARRAY[5])),
	('observed negative', of(ARRAY['a'], ARRAY[-1])),
	('length over the end', of(ARRAY['a'], ARRAY[1], ARRAY[2])),
	('length before the end', of(ARRAY['aa'], ARRAY[1], ARRAY[1])),
	('length 65536', of(ARRAY['a'], ARRAY[1], ARRAY[65536])),
	('length 2^32 - 1', of(ARRAY['a'], ARRAY[1], ARRAY[-1])),
	('a null character', set_byte(base(), 96, 0)),
	('not UTF-8, which is told when it is listed', set_byte(of(ARRAY['c'], ARRAY[1]), 96, 255)),
	('one byte short', substring(base() FOR 123)),
	('one byte long', base() || '\x00'),
	('no payload', substring(base() FOR 60)),
	('nothing', '\x')
) case_(what, data);
-- which count the wrong key has depends on its hash, so look for one
CREATE FUNCTION list_error(t top_k) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM top_k_list(t);
	RETURN 'no error';
EXCEPTION WHEN character_not_in_repertoire THEN
	RETURN 'refused';
END $$;
SELECT (SELECT message FROM (SELECT 1) one, LATERAL list_error(data::top_k) message) AS listed
FROM (SELECT set_byte(of(ARRAY['c'], ARRAY[1]), 96, byte) AS data FROM generate_series(128, 255) byte) b WHERE problem(data) = 'accepted' LIMIT 1;
\set VERBOSITY terse
SELECT ''::top_k;
SELECT bloom_create(10)::text::top_k;
\set VERBOSITY default

-- Each byte becomes each other byte.  What is accepted is also right by SQL: another k
-- that allows as many candidates, less observed, or another key in the order, of which
-- the sketch counts enough: for cc this is b and all from d on as its first byte, and
-- all but null as its second one.
CREATE FUNCTION exercise(t top_k) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	before bytea := t::bytea;
	l record;
BEGIN
	BEGIN
		FOR l IN SELECT * FROM top_k_list(t) LOOP
			IF l.error_bound NOT BETWEEN 0 AND l.count - 1 OR top_k_count(t, l.key) <> l.count THEN
				RAISE 'a bound is wrong';
			END IF;
		END LOOP;
	EXCEPTION WHEN character_not_in_repertoire THEN NULL;
	END;
	PERFORM top_k_info(t), t | t, top_k_add(t, 'x'), top_k_add_all(t, ARRAY[1, 2, 3]), t::count_min_sketch, top_k_hash(t), top_k_hash_extended(t, 3);
	PERFORM top_k_union_agg(v) FROM (VALUES (t), (t)) x(v);
	IF t::bytea <> before OR t::text::top_k <> t THEN
		RAISE 'the value has changed';
	END IF;
END $$;
CREATE FUNCTION accepts(data bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	t top_k;
BEGIN
	BEGIN
		t := data::top_k;
	EXCEPTION WHEN invalid_binary_representation THEN
		RETURN false;
	END;
	PERFORM exercise(t);
	RETURN true;
END $$;
SELECT count(*) AS tried, count(*) FILTER (WHERE at BETWEEN 8 AND 11 AND accepted) AS other_k, count(*) FILTER (WHERE at BETWEEN 84 AND 91 AND accepted) AS other_observed,
	count(*) FILTER (WHERE at IN (96, 109) AND accepted) BETWEEN 1 AND 200 AS other_key, count(*) FILTER (WHERE at BETWEEN 122 AND 123 AND accepted) = 157 + 254 AS other_long_key,
	count(*) FILTER (WHERE at NOT BETWEEN 8 AND 11 AND at NOT BETWEEN 84 AND 91 AND at NOT IN (96, 109, 122, 123) AND accepted) AS wrong
FROM (SELECT at, accepts(set_byte(base(), at, get_byte(base(), at) # mask)) AS accepted FROM generate_series(0, 123) at, generate_series(1, 255) mask) x;
SELECT count(*) AS tried, count(*) FILTER (WHERE accepts(data)) AS accepted
FROM (SELECT substring(base() FOR length) AS data FROM generate_series(0, 123) length UNION ALL SELECT base() || decode(repeat('00', more), 'hex') FROM generate_series(1, 64) more) x;

-- A damaged value in memory is an error or a list, never a crash.
CREATE FUNCTION bytes_in_memory(top_k) RETURNS bytea LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION damaged(bytea) RETURNS top_k LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION survives(data bytea, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE 'SELECT ' || call USING damaged(data), base()::top_k;
	RETURN 'no error';
EXCEPTION
	WHEN data_corrupted THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN detail;
	WHEN datatype_mismatch THEN
		RETURN 'another geometry';
	WHEN character_not_in_repertoire THEN
		RETURN 'another encoding';
END $$;
CREATE TABLE call AS SELECT * FROM unnest(ARRAY['top_k_list($1)', 'top_k_count($1, 1)', 'top_k_add($1, 1)', 'top_k_add_all($1, ARRAY[1, 2])', '$1 | $1', '$2 | $1',
	'top_k_info($1)', '$1::text', '$1::bytea', '$1::count_min_sketch', 'top_k_union_agg($1)', 'top_k_union_agg(t) FROM (VALUES ($2), ($1)) v(t)']) WITH ORDINALITY call(call, number);
SELECT call, survives(data, call) AS whole, survives(set_byte(data, 0, 5), call) AS kind, survives(substring(data FOR 100), call) AS short, survives('', call) AS empty,
	survives(set_byte(data, 92, 100), call) AS length
FROM call, (SELECT bytes_in_memory(base()::top_k) AS data) one ORDER BY number;
SELECT count(*) AS tried, count(*) FILTER (WHERE answer = 'no error') > 1000 AS some_worked, count(*) FILTER (WHERE answer LIKE 'The %') > 100 AS some_refused,
	count(*) FILTER (WHERE answer = 'A candidate is not all there.') > 10 AS some_cut
FROM (SELECT survives(set_byte(data, at, get_byte(data, at) # mask), call) AS answer
	  FROM call, generate_series(0, 123) at, (VALUES (1), (2), (3), (4), (16), (128), (255)) m(mask), (SELECT bytes_in_memory(base()::top_k) AS data) one) x;

----------------------------------------------------------------------------
-- How well it lists
----------------------------------------------------------------------------

-- Zipf: key n comes in proportion to 1 / n^1.1; 100,000 keys, nearly a million rows in
-- an order that is the same every time.
CREATE TABLE truth AS SELECT 'key:' || k AS key, round(130000 / k ^ 1.1)::bigint AS n FROM generate_series(1, 100000) k WHERE round(130000 / k ^ 1.1) >= 1;
CREATE TABLE zipf AS SELECT key, row_number() OVER () AS id FROM truth, generate_series(1, n) i ORDER BY hashtextextended(key, i);
ALTER TABLE zipf SET (parallel_workers = 2);
SELECT sum(n) BETWEEN 900000 AND 1000000 AS about_a_million, (SELECT array_agg(n) FROM (SELECT n FROM truth ORDER BY n DESC LIMIT 11) x) FROM truth;
-- How many of the true first 10 are listed in their places, whether every bound is true,
-- and how much they are worth.
CREATE FUNCTION judge(t top_k, OUT total bigint, OUT listed bigint, OUT first_ten bigint, OUT bounds_true boolean, OUT largest_bound_of_ten bigint) LANGUAGE sql AS $$
	SELECT (top_k_info(t)).total, count(*), count(*) FILTER (WHERE rank <= 10 AND l.key = 'key:' || rank), bool_and(l.count - error_bound <= n AND n <= l.count),
		max(error_bound) FILTER (WHERE rank <= 10)
	FROM top_k_list(t) l JOIN truth USING (key)
$$;
CREATE TABLE built (name text, t top_k);
SET max_parallel_workers_per_gather = 0;
INSERT INTO built SELECT 'serial', top_k_agg(key, 20) FROM zipf;
-- the heaviest keys come last, when there are candidates enough already
INSERT INTO built SELECT 'lightest first', top_k_agg(key, 20 ORDER BY n, key) FROM zipf JOIN truth USING (key);
INSERT INTO built SELECT 'weights', top_k_agg(key, n, 20) FROM truth;
INSERT INTO built SELECT '16 random shards', top_k_union_agg(t) FROM (SELECT top_k_agg(key, 20) AS t FROM zipf GROUP BY hashtext(id::text) & 15) x;
INSERT INTO built SELECT 'shards in order', top_k_union_agg(t) FROM (SELECT top_k_agg(key, 20) AS t FROM zipf GROUP BY id / 50000) x;
INSERT INTO built SELECT 'shards by key', top_k_union_agg(t) FROM (SELECT top_k_agg(key, 20) AS t FROM zipf GROUP BY hashtext(key) & 7) x;
INSERT INTO built SELECT 'one by one', a | (b | c)
	FROM (SELECT top_k_agg(key, 20) FILTER (WHERE id % 3 = 0) AS a, top_k_agg(key, 20) FILTER (WHERE id % 3 = 1) AS b, top_k_agg(key, 20) FILTER (WHERE id % 3 = 2) AS c FROM zipf) x;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
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
SELECT is_parallel('SELECT top_k_agg(key, 20) FROM zipf') AS is_parallel, is_parallel('SELECT top_k_agg(key, 1, 20) FROM zipf') AS weights, is_parallel('SELECT top_k_union_agg(top_k_add(top_k_create(1), key)) FROM zipf') AS unite;
-- INSERT would not be parallel
CREATE TABLE parallel AS SELECT top_k_agg(key, 20) AS t FROM zipf;
INSERT INTO built SELECT 'parallel', t FROM parallel;
CREATE TABLE large AS SELECT top_k_agg(key, 1, 20, 0.0001, 0.01) AS t FROM zipf;
SELECT first_ten, bounds_true FROM large, judge(t);
RESET parallel_leader_participation;
SELECT name, total, listed, first_ten, bounds_true, largest_bound_of_ten < 0.001 * total AS better_than_the_sketch FROM built, judge(t) ORDER BY name;
-- the same counts, whatever the way, and the same sketch bit for bit
SELECT count(DISTINCT (t::count_min_sketch)::bytea) AS sketches, count(DISTINCT l.list) AS lists
FROM built, LATERAL (SELECT array_agg((key, count) ORDER BY rank) FILTER (WHERE rank <= 10) AS list FROM top_k_list(t)) l;

-- All keys alike: nobody is heavy, and the bounds say so.  A small sketch.
SELECT listed = 5 AS listed, right_ FROM (SELECT count(*) AS listed, bool_and(count - error_bound <= 1 AND count >= 1) AS right_
	FROM top_k_list((SELECT top_k_agg(n, 1, 5, 0.01, 0.1) FROM generate_series(1, 200000) n))) x;
-- the same with thousands of candidates that change all the time
SELECT count(*) AS listed, bool_and(count - error_bound <= 1 AND count >= 1) AS right_, count(DISTINCT key) AS keys
	FROM top_k_list((SELECT top_k_agg(n, 1, 2000, 0.01, 0.1) FROM generate_series(1, 100000) n));

----------------------------------------------------------------------------
-- The 20 source addresses with the most bytes
----------------------------------------------------------------------------

CREATE TABLE access_log (at timestamptz, source inet, bytes bigint);
INSERT INTO access_log SELECT '2026-01-31 00:00Z'::timestamptz + n * interval '1 second', '10.0.0.0'::inet + (100000 / (n * 7919::bigint % 50000 + 1)), 200 + n * 104729::bigint % 20000
FROM generate_series(0, 86399) n;
WITH heaviest AS (SELECT l.* FROM (SELECT top_k_agg(source, bytes, 20) AS t FROM access_log) x, top_k_list(t) l),
	exact AS (SELECT host(source) AS key, sum(bytes) AS bytes, row_number() OVER (ORDER BY sum(bytes) DESC, host(source) COLLATE "C") AS rank FROM access_log GROUP BY 1)
SELECT count(*), count(*) FILTER (WHERE h.key = e.key) AS same_place, bool_and(t.bytes BETWEEN h.count - h.error_bound AND h.count) AS bounds_true
FROM heaviest h JOIN exact e USING (rank) JOIN exact t ON t.key = h.key;

RESET ALL;
