-- The type itself: its portable bytes, every way in and out, storage, equality.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_types;
SET search_path = test_types, public;

----------------------------------------------------------------------------
-- The portable form, written down by hand
----------------------------------------------------------------------------

-- 100 bits and 3 hashes: the capacity is floor(100 ln 2 / 3) = 23, the rate 2^-3
SELECT bloom_create_with_params(100, 3)::bytea = decode(
		'01'				-- kind
	||	'01'				-- format version
	||	'01'				-- scheme: murmur64a
	||	'00'				-- flags
	||	'00000003'			-- hashes
	||	'00000000'			-- detail
	||	'0000000000000064'	-- bits
	||	'0000000000000017'	-- capacity
	||	'3fc0000000000000'	-- rate
	||	'0000000000000000'	-- bits set
	||	'0000000000000000'	-- extra
	||	'0000000000000000'	-- extra
	||	repeat('00', 16),	-- 100 bits, padded to whole 64-bit words
	'hex') AS empty_filter;

-- 1000 keys at 1% are 9600 bits and 7 hashes; fnv1a is scheme 2
SELECT bloom_create(1000, 0.01, 'fnv1a')::bytea = decode(
	'01010200' || '00000007' || '00000000' || '0000000000002580' || '00000000000003e8'
	|| encode(float8send(0.01), 'hex') || repeat('00', 24) || repeat('00', 9600 / 8),
	'hex') AS other_scheme;

-- FNV-1a of the empty string is the offset basis, cbf29ce484222325, so with one
-- hash and 64 bits its position is 0x25 = 37: bit 5, from the least significant
-- one, of byte 4
SELECT substring(bloom_add(bloom_create_with_params(64, 1, 'fnv1a'), '')::bytea FROM 37)
	= decode('0000000000000001' || repeat('00', 16) || '0000000020000000', 'hex') AS bits_set_and_bit_order;

----------------------------------------------------------------------------
-- Round trips
----------------------------------------------------------------------------

-- sizes that leave 0, 1 and 2 characters of padding in base64, a full filter,
-- and ones around the pieces of 3 MiB in which base64 is coded
CREATE TABLE filter(name text, f bloom);
INSERT INTO filter VALUES
	('1 bit, empty', bloom_create_with_params(1, 1)),
	('1 bit, full', bloom_add(bloom_create_with_params(1, 255), 'a')),
	('64 bits', bloom_add(bloom_create_with_params(64, 3), 'a')),
	('65 bits', bloom_add(bloom_create_with_params(65, 3), 'a')),
	('129 bits', bloom_add(bloom_create_with_params(129, 3), 'a')),
	('fnv1a', bloom_add(bloom_create(100, 0.001, 'fnv1a'), 'a')),
	('500 keys', (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 500) i)),
	('almost 3 MiB', (SELECT bloom_agg(i, bloom_create_with_params(8 * (3 * 1024 * 1024 - 8), 7))
					  FROM generate_series(1, 1000) i)),
	('3 MiB', (SELECT bloom_agg(i, bloom_create_with_params(8 * 3 * 1024 * 1024, 7))
			   FROM generate_series(1, 1000) i)),
	('more than 6 MiB', (SELECT bloom_agg(i, bloom_create_with_params(8 * 6 * 1024 * 1024 + 1, 7))
						 FROM generate_series(1, 1000) i));

SELECT name,
	octet_length(f::bytea) = 60 + 8 * ceil(bloom_bits(f) / 64.0) AS portable_size,
	(bloom_info(f)).size_bytes = octet_length(f::bytea) + 4 AS size_bytes,
	f::bytea::bloom = f AS by_bytea,
	f::text::bloom = f AS by_text,
	bloom_send(f) = f::bytea AS send,
	f::text = replace(encode(f::bytea, 'base64'), E'\n', '') AS text_is_base64,
	(bloom_info(f)).bits_set = bit_count(substring(f::bytea FROM 61)) AS bits_set_true
FROM filter ORDER BY ctid;

-- an array and a row of filters
SELECT ARRAY[f, f]::text::bloom[] = ARRAY[f, f] AS in_array FROM filter WHERE name = '65 bits';
SELECT ROW(f.*)::text::filter = f.* AS in_row FROM filter f WHERE name = '65 bits';

-- The binary protocol, by way of binary COPY.  A bytea is sent as its bytes, so a
-- file of bytea values is also read into a column of filters, checked on the way.
\getenv builddir PG_ABS_BUILDDIR
\set file :builddir '/results/types.binary'
CREATE TABLE portable(name text, data bytea);
CREATE TABLE loaded(name text, f bloom);

\set copy_out '\\copy (SELECT name, f FROM filter) TO ' :'file' ' (FORMAT binary)'
\set copy_in '\\copy loaded FROM ' :'file' ' (FORMAT binary)'
:copy_out
:copy_in
SELECT count(*) AS loaded, count(*) FILTER (WHERE f.f = l.f) AS same
FROM filter f JOIN loaded l USING (name);

\set copy_out '\\copy (SELECT name, f::bytea FROM filter) TO ' :'file' ' (FORMAT binary)'
TRUNCATE loaded;
:copy_out
:copy_in
SELECT count(*) AS loaded, count(*) FILTER (WHERE f.f = l.f) AS same
FROM filter f JOIN loaded l USING (name);

-- casts are explicit only
INSERT INTO loaded SELECT 'x', f::bytea FROM filter;
INSERT INTO portable SELECT 'x', f FROM filter;

----------------------------------------------------------------------------
-- Input that is not a filter
----------------------------------------------------------------------------

\set VERBOSITY terse
SELECT ''::bloom;
SELECT 'AQ'::bloom;
SELECT 'AQE='::bloom;
SELECT 'not base64!!'::bloom;
SELECT ' AQEB'::bloom;
\set VERBOSITY default
SELECT 'AQE='::bloom;
SELECT '====' ::bloom;
SELECT '\x'::bytea::bloom;

-- the same through the binary protocol
\set SHOW_CONTEXT never
\set copy_out '\\copy portable TO ' :'file' ' (FORMAT binary)'
INSERT INTO portable VALUES ('empty', '');
:copy_out
:copy_in
UPDATE portable SET data = substring(bloom_create(10)::bytea FOR 59);
:copy_out
:copy_in
UPDATE portable SET data = set_byte(bloom_create(10)::bytea, 43, 1);
:copy_out
:copy_in
\set SHOW_CONTEXT errors
SELECT count(*) AS still_only_valid_ones FROM loaded;

-- Servers since 16 can ask without an error.  Older ones have nothing to test
-- here; the expected answer is the same.
CREATE FUNCTION soft(input text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	IF current_setting('server_version_num')::int >= 160000 THEN
		EXECUTE 'SELECT format(''%s: %s, %s'', sql_error_code, message, detail)
				 FROM pg_input_error_info($1, ''bloom'')' INTO answer USING input;
	ELSE
		BEGIN
			PERFORM input::bloom;
			answer := ': , ';
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS answer = PG_EXCEPTION_DETAIL;
			answer := format('%s: %s, %s', SQLSTATE, SQLERRM, answer);
		END;
	END IF;
	RETURN answer;
END $$;
SELECT soft(''), soft('####'), soft(bloom_create(1)::text);

-- Every check of the header has its own DETAIL.  The value that is changed has
-- 100 bits, 3 hashes, capacity 23, rate 2^-3 and two keys.
CREATE FUNCTION base() RETURNS bytea LANGUAGE sql AS $$
	SELECT bloom_add_all(bloom_create_with_params(100, 3), ARRAY['a', 'b'])::bytea
$$;

CREATE FUNCTION problem(data bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	message text;
BEGIN
	PERFORM data::bloom;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, message = MESSAGE_TEXT;
	IF SQLSTATE <> '22P03' OR message <> 'invalid binary data for type bloom' THEN
		RAISE;
	END IF;
	RETURN detail;
END $$;

CREATE FUNCTION put(hex text, at int) RETURNS bytea LANGUAGE sql AS $$
	SELECT overlay(base() PLACING decode(hex, 'hex') FROM at + 1)
$$;

SELECT what, problem(data) FROM (VALUES
	('unchanged', base()),
	('kind 0', put('00', 0)),
	('kind counting_bloom', put('02', 0)),
	('kind scalable_bloom', put('03', 0)),
	('kind 255', put('ff', 0)),
	('version 0', put('00', 1)),
	('version 2', put('02', 1)),
	('scheme 0', put('00', 2)),
	('scheme fnv1a', put('02', 2)),
	('scheme 3', put('03', 2)),
	('first flag', put('01', 3)),
	('last flag', put('80', 3)),
	('hashes 0', put('00000000', 4)),
	('hashes 255', put('000000ff', 4)),
	('hashes 256', put('00000100', 4)),
	('hashes 2^32 - 1', put('ffffffff', 4)),
	('detail 1', put('00000001', 8)),
	('detail 2^31', put('80000000', 8)),
	('bits 0', put('0000000000000000', 12)),
	('bits 64, of the next smaller size', put('0000000000000040', 12)),
	('bits 128, of the same size', put('0000000000000080', 12)),
	('bits 129, of the next larger size', put('0000000000000081', 12)),
	('bits 2^32, the most there can be', put('0000000100000000', 12)),
	('bits 2^32 + 1', put('0000000100000001', 12)),
	('bits 2^32 + 100, which is 100 in 32 bits', put('0000000100000064', 12)),
	('bits 2^64 - 28, which is 100 after padding', put('ffffffffffffffe4', 12)),
	('capacity 0', put('0000000000000000', 20)),
	('capacity 2^63 - 1', put('7fffffffffffffff', 20)),
	('capacity negative', put('8000000000000000', 20)),
	('capacity -1', put('ffffffffffffffff', 20)),
	('rate 0', put('0000000000000000', 28)),
	('rate -0', put('8000000000000000', 28)),
	('rate 1', put('3ff0000000000000', 28)),
	('rate next below 1', put('3fefffffffffffff', 28)),
	('rate negative', put('bfc0000000000000', 28)),
	('rate NaN', put('7ff8000000000000', 28)),
	('rate Infinity', put('7ff0000000000000', 28)),
	('bits set one more', set_byte(base(), 43, get_byte(base(), 43) + 1)),
	('bits set one less', set_byte(base(), 43, get_byte(base(), 43) - 1)),
	('bits set 0', set_byte(base(), 43, 0)),
	('bits set 101', put('0000000000000065', 36)),
	('bits set 2^64 - 1', put('ffffffffffffffff', 36)),
	('bits set plus 2^32', set_byte(base(), 39, 1)),
	('first extra 1', put('0000000000000001', 44)),
	('second extra 1', put('0000000000000001', 52)),
	('second extra 2^63', put('8000000000000000', 52)),
	('first bit of the padding, counted', set_byte(set_bit(base(), 8 * 60 + 100, 1), 43, get_byte(base(), 43) + 1)),
	('last bit of the padding, counted', set_byte(set_bit(base(), 8 * 60 + 127, 1), 43, get_byte(base(), 43) + 1)),
	('payload one byte short', substring(base() FOR 75)),
	('payload one byte long', base() || '\x00'),
	('payload one word long', base() || '\x0000000000000000'),
	('no payload', substring(base() FOR 60)),
	('half a header', substring(base() FOR 59)),
	('nothing', '\x')
) case_(what, data);

-- What is right, said once more in SQL and independently of the C code.
CREATE FUNCTION int8at(data bytea, at int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || encode(substring(data FROM at + 1 FOR 8), 'hex'))::bit(64)::bigint
$$;
CREATE FUNCTION is_right(data bytea) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE
		WHEN octet_length(data) < 60 THEN false
		WHEN get_byte(data, 0) <> 1 OR get_byte(data, 1) <> 1 OR
			 get_byte(data, 2) NOT IN (1, 2) OR get_byte(data, 3) <> 0 THEN false
		-- hashes and detail, as one number
		WHEN int8at(data, 4) NOT IN (SELECT i::bigint << 32 FROM generate_series(1, 255) i) THEN false
		WHEN int8at(data, 12) NOT BETWEEN 1 AND 4294967296 THEN false
		WHEN int8at(data, 20) < 1 THEN false
		-- doubles between 0 and 1 sort like their bits
		WHEN int8at(data, 28) <= 0 OR int8at(data, 28) >= x'3ff0000000000000'::bigint THEN false
		WHEN int8at(data, 44) <> 0 OR int8at(data, 52) <> 0 THEN false
		WHEN octet_length(data) <> 60 + (int8at(data, 12) + 63) / 64 * 8 THEN false
		WHEN int8at(data, 36) <> bit_count(substring(data FROM 61)) THEN false
		ELSE NOT EXISTS (
			SELECT FROM generate_series(int8at(data, 12), (octet_length(data) - 60) * 8 - 1) bit
			WHERE get_bit(data, 60 * 8 + bit) = 1)
	END
$$;

-- Everything accepted goes through every function, and must come out as it went in.
CREATE FUNCTION exercise(f bloom) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	before bytea := f::bytea;
	g bloom := bloom_clear(f);
BEGIN
	PERFORM bloom_info(f), bloom_bits(f), bloom_hashes(f), bloom_capacity(f), bloom_fill(f),
		bloom_count(f), bloom_fpr(f), bloom_hash(f), bloom_hash_extended(f, 7);
	PERFORM f @> 'a', 'a' <@ f, f @> 1, bloom_contains(f, 2.5), bloom_contained('x', f),
		bloom_contains_each(f, ARRAY['a', NULL, 'c']);
	PERFORM f | g, g & f, bloom_union(g, f), bloom_intersect(f, f), f = g, f <> g,
		bloom_union_count(f, g), bloom_intersect_count(f, f), bloom_jaccard(f, g);
	PERFORM bloom_agg(i, f), bloom_union_agg(f), bloom_intersect_agg(f) FROM generate_series(1, 3) i;
	g := bloom_add_all(bloom_add(f, 'c'), ARRAY[1, 2, 3]);
	IF NOT (g @> 'c' AND g @> 1 AND g @> 2 AND g @> 3) THEN
		RAISE 'a key that was added is absent';
	END IF;
	IF bit_count(substring(g::bytea FROM 61)) <> (bloom_info(g)).bits_set THEN
		RAISE 'bits set is wrong';
	END IF;
	IF f::bytea <> before OR f::text::bloom <> f THEN
		RAISE 'the value has changed';
	END IF;
END $$;

CREATE FUNCTION accepts(data bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	f bloom;
BEGIN
	BEGIN
		f := data::bloom;
	EXCEPTION WHEN invalid_binary_representation THEN
		RETURN false;
	END;
	PERFORM exercise(f);
	RETURN f::bytea = data;
END $$;

CREATE FUNCTION accepts(data text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	f bloom;
BEGIN
	BEGIN
		f := data::bloom;
	EXCEPTION WHEN invalid_text_representation THEN
		RETURN false;
	END;
	PERFORM exercise(f);
	RETURN f::bytea = decode(data, 'base64');
END $$;

CREATE FUNCTION is_right(data text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RETURN is_right(decode(data, 'base64'));
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN false;				-- not base64
END $$;

-- Each byte becomes each other byte.  Accepted is another scheme (1 change),
-- number of hashes (254), number of bits not below the highest one that is set, 74,
-- and in the same words (128 - 74 - 1), capacity (6 * 255 + 254 + 127), rate
-- (63 + 239 + 6 * 255), and as many bits elsewhere in the same byte, of which four
-- have 1 (8 - 1) and one has 2 (8 * 7 / 2 - 1).
SELECT count(*) AS tried,
	count(*) FILTER (WHERE accepts(data)) AS accepted,
	1 + 254 + 53 + 1911 + 1832 + 4 * 7 + 27 AS expected,
	count(*) FILTER (WHERE accepts(data) <> is_right(data)) AS wrong
FROM (SELECT set_byte(base(), at, get_byte(base(), at) # mask) AS data
	  FROM generate_series(0, 75) at, generate_series(1, 255) mask) change;

-- The same for each character of the text form and each other ASCII character.
-- What decode() takes beyond plain base64, such as blanks, may be refused.
SELECT count(*) AS tried,
	count(*) FILTER (WHERE accepts(data)) > 100 AS some_accepted,
	count(*) FILTER (WHERE accepts(data) AND NOT is_right(data)) AS wrongly_accepted,
	count(*) FILTER (WHERE NOT accepts(data) AND is_right(data) AND data ~ '^[A-Za-z0-9+/]*={0,2}$') AS wrongly_refused
FROM (SELECT overlay(base()::bloom::text PLACING chr(code) FROM at) AS data
	  FROM generate_series(1, 104) at, generate_series(1, 127) code
	  WHERE code <> ascii(substr(base()::bloom::text, at))) change;

-- every shorter value, and some longer ones
SELECT count(*) AS tried, count(*) FILTER (WHERE accepts(data)) AS accepted
FROM (SELECT substring(base() FOR length) FROM generate_series(0, 75) length
	  UNION ALL
	  SELECT base() || decode(repeat('00', more), 'hex') FROM generate_series(1, 64) more) change(data);
SELECT count(*) AS tried, count(*) FILTER (WHERE accepts(data)) AS accepted
FROM (SELECT left(base()::bloom::text, length) FROM generate_series(0, 103) length
	  UNION ALL
	  SELECT base()::bloom::text || repeat('A', more) FROM generate_series(1, 64) more) change(data);

-- A stored value that is damaged is checked again, as far as no access may leave it:
-- an error, never a crash.  Functions that only copy a varlena make a filter of
-- anything.  Its payload is not read again, so bits set may be wrong.
CREATE FUNCTION bytes_in_memory(bloom) RETURNS bytea LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION damaged(bytea) RETURNS bloom LANGUAGE internal STRICT AS 'byteasend';
CREATE FUNCTION survives(f bloom, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE 'SELECT ' || call USING f, base()::bloom;
	RETURN 'no error';
EXCEPTION
	WHEN data_corrupted THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN detail;
	WHEN datatype_mismatch THEN
		RETURN 'another geometry';
END $$;
CREATE TABLE call AS SELECT * FROM unnest(ARRAY[
	'$1 @> ''a''', '''a'' <@ $1', 'bloom_contains_each($1, ARRAY[1, 2])', 'bloom_add($1, 1)', 'bloom_add_all($1, ARRAY[1, 2])', 'bloom_clear($1)',
	'$1 | $1', '$1 | $2', '$2 & $1', '$1 = $2', 'bloom_hash($1)', 'bloom_hash_extended($1, 0)', 'bloom_info($1)', 'bloom_bits($1)', 'bloom_fill($1)',
	'bloom_count($1)', 'bloom_fpr($1)', 'bloom_union_count($1, $1)', 'bloom_intersect_count($2, $1)', 'bloom_jaccard($1, $1)', '$1::text', '$1::bytea',
	'bloom_agg(1, $1)', 'bloom_union_agg($1)', 'bloom_intersect_agg(f) FROM (VALUES ($1), ($1)) v(f)']) WITH ORDINALITY call(call, number);
SELECT damaged(bytes_in_memory(f)) = f AS same FROM (SELECT base()::bloom AS f) one;
-- each function notices that the kind is unknown, that the value is short or empty;
-- but '=' and hashing only look at the bytes
SELECT call, survives(damaged(set_byte(data, 0, 0)), call) = 'The kind of filter is unknown.' AS kind,
	survives(damaged(substring(data FOR 75)), call) IN ('The size of the value does not fit its header.', 'another geometry') AS short,
	survives(damaged(''), call) AS empty
FROM call, (SELECT bytes_in_memory(base()::bloom) AS data) one WHERE call <> '$1 = $2' AND call NOT LIKE 'bloom_hash%' ORDER BY number;
SELECT count(*) AS tried, count(*) FILTER (WHERE answer = 'no error') BETWEEN 1000 AND 20000 AS some_worked,
	count(*) FILTER (WHERE answer LIKE 'The %' OR answer LIKE 'Reserved%') > 1000 AS some_refused
FROM (SELECT survives(damaged(set_byte(data, at, get_byte(data, at) # mask)), call) AS answer
	  FROM call, generate_series(0, 75) at, (VALUES (1), (2), (3), (4), (16), (128), (255)) m(mask), (SELECT bytes_in_memory(base()::bloom) AS data) one) x;

----------------------------------------------------------------------------
-- Storage
----------------------------------------------------------------------------

SELECT typalign, typstorage FROM pg_type WHERE oid = 'bloom'::regtype;

-- short in the row, in TOAST, compressed in the row; 20,000 bytes of few keys
-- compress well, those of a half full filter do not
CREATE TABLE stored(name text, f bloom);
CREATE TABLE source AS
SELECT bloom_agg(i, bloom_create_with_params(300, 3)) AS small,
	bloom_agg(i, bloom_create_with_params(160000, 3)) AS large,
	(SELECT bloom_agg(k, 100000, 0.01) FROM generate_series(1, 50000) k) AS dense
FROM generate_series(1, 20) i;
INSERT INTO stored SELECT 'small, external', small FROM source;
INSERT INTO stored SELECT 'large, external', large FROM source;
INSERT INTO stored SELECT 'dense, external', dense FROM source;
ALTER TABLE stored ALTER f SET STORAGE extended;
INSERT INTO stored SELECT 'large, extended', large FROM source;
INSERT INTO stored SELECT 'dense, extended', dense FROM source;
ALTER TABLE stored ALTER f SET STORAGE main;
INSERT INTO stored SELECT 'large, main', large FROM source;

-- a short value has a length word of 1 byte instead of 4, one in TOAST has none
SELECT name,
	pg_column_size(s.f) - (bloom_info(s.f)).size_bytes AS size_difference,
	pg_column_compression(s.f) IS NOT NULL AS compressed
FROM stored s WHERE name LIKE '%external' ORDER BY ctid;
SELECT name,
	pg_column_size(s.f) < (bloom_info(s.f)).size_bytes / 2 AS much_smaller,
	pg_column_compression(s.f) IS NOT NULL AS compressed
FROM stored s WHERE name IN ('large, extended', 'large, main') ORDER BY ctid;

SELECT s.name, s.f = o.f AS equal, bloom_hash(s.f) = bloom_hash(o.f) AS same_hash,
	bloom_info(s.f) = bloom_info(o.f) AS same_info,
	bloom_bits(s.f) = bloom_bits(o.f) AND bloom_hashes(s.f) = bloom_hashes(o.f) AND
		bloom_capacity(s.f) = bloom_capacity(o.f) AND bloom_fill(s.f) = bloom_fill(o.f) AND
		bloom_count(s.f) = bloom_count(o.f) AND bloom_fpr(s.f) = bloom_fpr(o.f) AS same_scalars,
	(SELECT bool_and((s.f @> k) = (o.f @> k)) FROM generate_series(1, 500) k) AS same_answers,
	bloom_contains_each(s.f, ARRAY[1, 21]) = bloom_contains_each(o.f, ARRAY[1, 21]) AS same_each,
	bloom_add(s.f, 'new') = bloom_add(o.f, 'new') AND (s.f | o.f) = o.f AND
		bloom_clear(s.f) = bloom_clear(o.f) AS same_changes,
	s.f::text = o.f::text AND s.f::bytea = o.f::bytea AS same_output
FROM stored s,
	LATERAL (SELECT (CASE left(name, 5) WHEN 'small' THEN small WHEN 'large' THEN large ELSE dense END)
			 ::bytea::bloom AS f FROM source) o
ORDER BY s.ctid;

----------------------------------------------------------------------------
-- Equality, which is that of the bytes, and hashing
----------------------------------------------------------------------------

CREATE TABLE pair(name text, a bloom, b bloom);
INSERT INTO pair VALUES
	('same', bloom_add(bloom_create(100), 1), bloom_add(bloom_create(100), '1')),
	('another order', bloom_add_all(bloom_create(100), ARRAY[1, 2]), bloom_add_all(bloom_create(100), ARRAY[2, 1])),
	('one key more', bloom_add(bloom_create(100), 1), bloom_add_all(bloom_create(100), ARRAY[1, 2])),
	('another key', bloom_add(bloom_create(100), 1), bloom_add(bloom_create(100), 2)),
	('another size', bloom_create(100), bloom_create(200)),
	-- 5 and 6 keys at 1% both round up to 64 bits
	('another capacity of the same bits', bloom_create(5), bloom_create(6)),
	('another rate of the same bits', bloom_create(5, 0.01), bloom_create(5, 0.011)),
	('another number of hashes', bloom_create_with_params(64, 3), bloom_create_with_params(64, 4)),
	('another scheme', bloom_create(100), bloom_create(100, hash => 'fnv1a'));
SELECT name, a = b AS eq, b = a AS eq_back, a <> b AS ne, bloom_bits(a) = bloom_bits(b) AS same_bits,
	bloom_hash(a) = bloom_hash(b) AS same_hash,
	bloom_hash_extended(a, 0) = bloom_hash_extended(b, 0) AS same_hash_extended
FROM pair ORDER BY ctid;

-- the seed counts, and seed 0 agrees with the 32-bit hash, as for any type
SELECT bloom_hash_extended(a, 0) <> bloom_hash_extended(a, 1) AS seed_matters,
	bloom_hash_extended(a, 0) & x'ffffffff'::bigint = bloom_hash(a)::bigint & x'ffffffff'::bigint AS low_half
FROM pair WHERE name = 'same';

CREATE TABLE many AS
SELECT i, bloom_add(bloom_create(1000), i % 50) AS f FROM generate_series(1, 500) i;
SELECT count(*) FROM (SELECT DISTINCT f FROM many) d;
SELECT count(*) AS groups, min(n), max(n) FROM (SELECT count(*) AS n FROM many GROUP BY f) g;
SELECT count(*) FROM (SELECT f FROM many WHERE i <= 60 INTERSECT SELECT f FROM many WHERE i > 60) s;

-- a hash join and a hash index; only the node is looked at, as the rest of a
-- plan's text differs between servers
CREATE FUNCTION plan_has(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan LIKE '%"Node Type": "' || node || '"%';
END $$;
SET enable_nestloop = off;
SELECT plan_has('SELECT FROM many a JOIN many b ON a.f = b.f', 'Hash Join');
SELECT count(*) FROM many a JOIN many b ON a.f = b.f;
RESET enable_nestloop;
CREATE INDEX many_f ON many USING hash (f);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan_has('SELECT FROM many WHERE f = (SELECT a FROM pair LIMIT 1)', 'Index Scan');
SELECT count(*) FROM many WHERE f = (SELECT bloom_add(bloom_create(1000), 7));
RESET enable_seqscan;
RESET enable_bitmapscan;

-- there is no order
SELECT f FROM many ORDER BY f;
SELECT bloom_create(1) < bloom_create(2);

-- padding is only taken at the very end of the text
SELECT (left(t, -2) || '==')::bloom = t::bloom AS whole FROM (SELECT bloom_add(bloom_create_with_params(100, 3), 'a')::text AS t) v;
SELECT (left(t, -2) || '=A')::bloom FROM (SELECT bloom_add(bloom_create_with_params(100, 3), 'a')::text AS t) v;
SELECT (left(t, -2) || 'AA')::bloom FROM (SELECT bloom_add(bloom_create_with_params(100, 3), 'a')::text AS t) v;
