-- counting_bloom and scalable_bloom as types: every way in and out, every way in
-- which input can be malformed, storage, equality, casts.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_other_types;
SET search_path = test_other_types, public;

-- What a statement answers, or the error it ends in.
CREATE FUNCTION attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	detail text;
BEGIN
	EXECUTE statement INTO answer;
	RETURN answer;
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(': ', SQLSTATE, SQLERRM, nullif(detail, ''));
END $$;

-- What becomes of bytes that are offered to a type, by the cast from bytea and as
-- text.  Both must agree; the binary protocol carries the bytes of the cast.
CREATE FUNCTION offer(type text, portable bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	text_answer text;
	message text;
	detail text;
BEGIN
	BEGIN
		EXECUTE format('SELECT $1::%s::bytea = $1', type) INTO answer USING portable;
	EXCEPTION WHEN invalid_binary_representation THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, answer = PG_EXCEPTION_DETAIL;
		ASSERT message = 'invalid binary data for type ' || type, message;
	END;
	BEGIN
		EXECUTE format('SELECT $1::%s::bytea = $2', type) INTO text_answer USING translate(encode(portable, 'base64'), E'\n', ''), portable;
	EXCEPTION WHEN invalid_text_representation THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, text_answer = PG_EXCEPTION_DETAIL;
		ASSERT message = 'invalid input for type ' || type, message;
	END;
	-- no text is shorter than 4 characters
	ASSERT answer = text_answer OR portable = '', format('bytea: %s text: %s', answer, text_answer);
	RETURN CASE answer WHEN 'true' THEN 'accepted' ELSE answer END;
END $$;

-- Big-endian numbers.  The bits of a float8 are in the order of the numbers, as
-- long as these are positive, so 0 < x < 1 is a range of integers.
CREATE FUNCTION number(portable bytea, start integer, length integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || lpad(encode(substr(portable, start + 1, length), 'hex'), 16, '0'))::bit(64)::bigint
$$;
CREATE FUNCTION is_rate(portable bytea, start integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT number(portable, start, 8) > 0 AND number(portable, start, 8) < x'3ff0000000000000'::bigint
$$;
CREATE FUNCTION bits_set(bytes bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT length(replace(('x' || encode(bytes, 'hex'))::varbit::text, '0', ''))
$$;

-- What is to be accepted, written anew from the format's description.  Numbers
-- from 2^63 on are negative here, and out of every range.
CREATE FUNCTION is_header(portable bytea, kind integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT length(portable) >= 60 AND number(portable, 0, 1) = kind AND number(portable, 1, 1) = 1 AND number(portable, 2, 1) IN (1, 2)
		AND number(portable, 3, 1) = 0 AND number(portable, 4, 4) BETWEEN 1 AND 255 AND number(portable, 12, 8) BETWEEN 1 AND 4294967296
		AND number(portable, 20, 8) >= 1 AND is_rate(portable, 28) AND number(portable, 36, 8) BETWEEN 0 AND number(portable, 12, 8)
$$;
CREATE FUNCTION is_counting_bloom(portable bytea) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	counters bigint;
	counter_bits bigint;
	at_most integer;
	above_zero bigint := 0;
	saturated bigint := 0;
	n integer;
BEGIN
	IF NOT is_header(portable, 2) OR number(portable, 8, 4) NOT IN (4, 8) THEN
		RETURN false;
	END IF;
	counters := number(portable, 12, 8);
	counter_bits := number(portable, 8, 4);
	at_most := 2 ^ counter_bits - 1;
	IF length(portable) - 60 <> (counters * counter_bits + 63) / 64 * 8 OR number(portable, 52, 8) <> 0 THEN
		RETURN false;
	END IF;
	FOR i IN 0 .. (length(portable) - 60) * 8 / counter_bits - 1 LOOP
		n := CASE counter_bits WHEN 8 THEN get_byte(portable, 60 + i) ELSE get_byte(portable, 60 + i / 2) >> (i % 2 * 4) & 15 END;
		IF i >= counters AND n <> 0 THEN
			RETURN false;
		END IF;
		above_zero := above_zero + (n > 0)::integer;
		saturated := saturated + (n = at_most)::integer;
	END LOOP;
	RETURN above_zero = number(portable, 36, 8) AND saturated = number(portable, 44, 8);
END $$;
CREATE FUNCTION is_scalable_bloom(portable bytea) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	layers bigint;
	at bigint;
	data bigint;
	bits bigint := 0;
	hashes bigint;
	all_set bigint := 0;
BEGIN
	IF NOT is_header(portable, 3) OR number(portable, 44, 8) NOT BETWEEN 1 AND 32768 OR NOT is_rate(portable, 52) THEN
		RETURN false;
	END IF;
	layers := number(portable, 8, 4);
	data := 60 + 48 * layers;
	IF layers NOT BETWEEN 1 AND 256 OR length(portable) <> data + number(portable, 12, 8) / 8 OR number(portable, 12, 8) % 64 <> 0 THEN
		RETURN false;
	END IF;
	FOR i IN 0 .. layers - 1 LOOP
		at := 60 + 48 * i;
		bits := number(portable, at::integer, 8);
		hashes := number(portable, at::integer + 40, 4);
		IF bits NOT BETWEEN 64 AND 4294967296 OR bits % 64 <> 0 OR data + bits / 8 > length(portable) OR number(portable, at::integer + 8, 8) < 1
			OR number(portable, at::integer + 16, 8) < 0 OR NOT is_rate(portable, at::integer + 24) OR hashes NOT BETWEEN 1 AND 255
			OR number(portable, at::integer + 44, 4) <> 0
			OR number(portable, at::integer + 32, 8) <> bits_set(substr(portable, data::integer + 1, (bits / 8)::integer)) THEN
			RETURN false;
		END IF;
		all_set := all_set + number(portable, at::integer + 32, 8);
		data := data + bits / 8;
	END LOOP;
	RETURN data = length(portable) AND all_set = number(portable, 36, 8) AND hashes = number(portable, 4, 4);
END $$;

--
-- Values to work with
--

-- 21 counters of 4 bits, so 11 halves of padding, some saturated; 13 of 8 bits, so
-- 3 bytes of padding; chains of 1 and 3 layers.
CREATE TABLE samples (name text PRIMARY KEY, type text, portable bytea);
INSERT INTO samples
VALUES ('4 bits', 'counting_bloom', bloom_add_all(counting_bloom_create_with_params(21, 3), array_fill('hot'::text, ARRAY[16]) || ARRAY['a', 'b'])::bytea),
	('8 bits', 'counting_bloom', bloom_add_all(counting_bloom_create_with_params(13, 2, 8, 'fnv1a'), ARRAY['a', 'b', 'b'])::bytea),
	('1 layer', 'scalable_bloom', bloom_add_all(scalable_bloom_create(5), ARRAY['a', 'b', 'c'])::bytea),
	('3 layers', 'scalable_bloom', bloom_add_all(scalable_bloom_create(3, 0.1, 2, 0.5, 'fnv1a'), ARRAY(SELECT generate_series(1, 12)))::bytea);
SELECT name, type, length(portable) AS bytes, number(portable, 8, 4) AS detail, CASE type WHEN 'counting_bloom' THEN is_counting_bloom(portable) ELSE is_scalable_bloom(portable) END AS valid,
	offer(type, portable) AS offered
FROM samples ORDER BY name;

--
-- Out and in again
--

SELECT count(*) AS filters, bool_and(f::bytea::counting_bloom = f) AS bytea, bool_and(f::text::counting_bloom = f) AS text,
	bool_and(f::text = translate(encode(f::bytea, 'base64'), E'\n', '')) AS text_is_base64, bool_and(counting_bloom_send(f) = f::bytea) AS binary_is_bytea,
	bool_and(is_counting_bloom(f::bytea)) AS valid
FROM (VALUES (4), (8)) AS v (counter_bits), generate_series(1, 100, 3) AS n,
	LATERAL (SELECT bloom_add_all(counting_bloom_create_with_params(n, 3, counter_bits), ARRAY(SELECT generate_series(1, n % 40))) AS f OFFSET 0) AS s;
SELECT count(*) AS filters, bool_and(f::bytea::scalable_bloom = f) AS bytea, bool_and(f::text::scalable_bloom = f) AS text,
	bool_and(f::text = translate(encode(f::bytea, 'base64'), E'\n', '')) AS text_is_base64, bool_and(scalable_bloom_send(f) = f::bytea) AS binary_is_bytea,
	bool_and(is_scalable_bloom(f::bytea)) AS valid, max((bloom_info(f)).layers) AS layers
FROM generate_series(0, 100, 3) AS n, LATERAL (SELECT bloom_add_all(scalable_bloom_create(n / 20 + 1, 0.02, n % 3 + 1), ARRAY(SELECT generate_series(1, n))) AS f OFFSET 0) AS s;

-- The binary protocol: a bytea is sent as its bytes, so a file of them is one of
-- filters too, good ones and others.
CREATE TABLE binary_counting (f counting_bloom);
CREATE TABLE binary_scalable (f scalable_bloom);
\copy (SELECT portable FROM samples WHERE type = 'counting_bloom' ORDER BY name) TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/counting.bin"' (FORMAT binary)
\copy (SELECT portable FROM samples WHERE type = 'scalable_bloom' ORDER BY name) TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/scalable.bin"' (FORMAT binary)
\copy binary_counting FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/counting.bin"' (FORMAT binary)
\copy binary_scalable FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/scalable.bin"' (FORMAT binary)
SELECT (SELECT count(*) FROM binary_counting JOIN samples ON f::bytea = portable) AS counting, (SELECT count(*) FROM binary_scalable JOIN samples ON f::bytea = portable) AS scalable;
\copy (SELECT f FROM binary_scalable) TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/scalable.bin"' (FORMAT binary)
\copy binary_scalable FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/scalable.bin"' (FORMAT binary)
SELECT count(*) AS sent_too FROM binary_scalable JOIN samples ON f::bytea = portable;
\copy binary_scalable FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/counting.bin"' (FORMAT binary)
\copy binary_counting FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/scalable.bin"' (FORMAT binary)
\copy (SELECT substr(portable, 1, 70) FROM samples WHERE name = '4 bits') TO PROGRAM 'cat >"$PG_ABS_BUILDDIR/results/counting.bin"' (FORMAT binary)
\copy binary_counting FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/counting.bin"' (FORMAT binary)
\! rm "$PG_ABS_BUILDDIR/results/counting.bin" "$PG_ABS_BUILDDIR/results/scalable.bin"

-- A filter of another type
SELECT type, name, offer(type, portable) AS answer
FROM unnest(ARRAY['bloom', 'counting_bloom', 'scalable_bloom']) AS type,
	(SELECT name, portable FROM samples UNION ALL SELECT 'plain', bloom_add(bloom_create(5), 'a')::bytea) AS s
WHERE name IN ('4 bits', '1 layer', 'plain') ORDER BY type, name;

--
-- Each field wrong
--

-- value: hexadecimal, over the bytes at start; nothing else is changed.
CREATE FUNCTION patched(portable bytea, start integer, value text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT overlay(portable PLACING decode(value, 'hex') FROM start + 1)
$$;

CREATE TABLE wrong (n serial, type text, field text, start integer, value text);
INSERT INTO wrong (type, field, start, value) VALUES
	('both', 'kind', 0, '00'), ('both', 'kind', 0, '04'), ('both', 'kind', 0, 'ff'), ('both', 'version', 1, '00'), ('both', 'version', 1, '02'),
	('both', 'scheme', 2, '00'), ('both', 'scheme', 2, '03'), ('both', 'flags', 3, '01'), ('both', 'flags', 3, '80'),
	('both', 'hashes', 4, '00000000'), ('both', 'hashes', 4, '00000100'), ('both', 'hashes', 4, 'ffffffff'),
	('both', 'bits', 12, '0000000000000000'), ('both', 'bits', 12, '0000000100000001'), ('both', 'bits', 12, 'ffffffffffffffff'), ('both', 'bits', 12, '0000000000000200'),
	('both', 'capacity', 20, '0000000000000000'), ('both', 'capacity', 20, '8000000000000000'),
	('both', 'rate 0', 28, '0000000000000000'), ('both', 'rate -0', 28, '8000000000000000'), ('both', 'rate 1', 28, '3ff0000000000000'),
	('both', 'rate NaN', 28, '7ff8000000000000'), ('both', 'rate Infinity', 28, '7ff0000000000000'), ('both', 'rate -0.5', 28, 'bfe0000000000000'),
	('both', 'bits set', 36, '0000000000000001'), ('both', 'bits set', 36, '0000000000000200'), ('both', 'bits set', 36, 'ffffffffffffffff');
-- there are 7 counters in use, 3 of them saturated; the last is number 21
INSERT INTO wrong (type, field, start, value) VALUES
	('counting_bloom', 'counter bits', 8, '00000000'), ('counting_bloom', 'counter bits', 8, '00000005'), ('counting_bloom', 'counter bits', 8, '00000010'), ('counting_bloom', 'counter bits', 8, '00000008'),
	('counting_bloom', 'more than 512 MB', 12, '0000000040000001'), ('counting_bloom', 'more than 512 MB', 12, '0000000100000000'), ('counting_bloom', 'one counter less', 12, '0000000000000014'),
	('counting_bloom', 'saturated', 44, '0000000000000000'), ('counting_bloom', 'saturated', 44, '0000000000000008'), ('counting_bloom', 'extra', 52, '0000000000000001'), ('counting_bloom', 'extra', 52, '8000000000000000'),
	('counting_bloom', 'padding', 70, '10'), ('counting_bloom', 'padding', 75, '80'),
	('counting_bloom', 'none in use', 60, repeat('00', 16)), ('counting_bloom', 'all in use', 60, repeat('11', 10) || '01' || repeat('00', 5));
-- 60 bytes of header, 3 times 48 of fields, then 64, 64 and 128 bits
INSERT INTO wrong (type, field, start, value) VALUES
	('scalable_bloom', 'layers', 8, '00000000'), ('scalable_bloom', 'layers', 8, '00000101'), ('scalable_bloom', 'layers', 8, 'ffffffff'),
	('scalable_bloom', 'layers', 8, '00000001'), ('scalable_bloom', 'layers', 8, '00000002'), ('scalable_bloom', 'layers', 8, '00000004'), ('scalable_bloom', 'layers', 8, '00000100'),
	('scalable_bloom', 'growth', 44, '0000000000000000'), ('scalable_bloom', 'growth', 44, '0000000000008001'), ('scalable_bloom', 'growth', 44, 'ffffffffffffffff'),
	('scalable_bloom', 'tightening 0', 52, '0000000000000000'), ('scalable_bloom', 'tightening 1', 52, '3ff0000000000000'),
	('scalable_bloom', 'tightening NaN', 52, '7ff8000000000000'), ('scalable_bloom', 'tightening -0.5', 52, 'bfe0000000000000'),
	('scalable_bloom', 'hashes of layer 1', 4, '00000005'),
	('scalable_bloom', 'layer bits', 60, '0000000000000000'), ('scalable_bloom', 'layer bits', 60, '0000000000000041'), ('scalable_bloom', 'layer bits', 60, '0000000100000040'),
	('scalable_bloom', 'layer bits', 60, 'ffffffffffffffc0'), ('scalable_bloom', 'layer bits', 60, '0000000000000080'),
	('scalable_bloom', 'layer capacity', 116, '0000000000000000'), ('scalable_bloom', 'layer capacity', 116, '8000000000000000'), ('scalable_bloom', 'layer keys', 124, '8000000000000000'),
	('scalable_bloom', 'layer rate 0', 132, '0000000000000000'), ('scalable_bloom', 'layer rate 1', 132, '3ff0000000000000'), ('scalable_bloom', 'layer rate NaN', 132, 'fff8000000000000'),
	('scalable_bloom', 'layer bits set', 140, '0000000000000041'), ('scalable_bloom', 'layer bits set', 140, '0000000000000000'), ('scalable_bloom', 'layer bits set', 140, 'ffffffffffffffff'),
	('scalable_bloom', 'layer hashes', 148, '00000000'), ('scalable_bloom', 'layer hashes', 148, '00000100'), ('scalable_bloom', 'layer reserved', 152, '00000001'),
	('scalable_bloom', 'last hashes', 196, '00000001'),
	('scalable_bloom', 'bits of layer 1', 204, 'ffffffffffffffff'), ('scalable_bloom', 'bits of layer 2', 212, '0000000000000000'), ('scalable_bloom', 'bits of layer 3', 220, repeat('00', 16));

SELECT field, start, value, offer('counting_bloom', patched(c.portable, start, value)) AS counting, offer('scalable_bloom', patched(s.portable, start, value)) AS scalable
FROM wrong AS w, samples AS c, samples AS s
WHERE w.type = 'both' AND c.name = '4 bits' AND s.name = '3 layers' ORDER BY n;
SELECT field, start, value, offer(w.type, patched(portable, start, value)) AS answer
FROM wrong AS w JOIN samples AS s ON s.name = CASE w.type WHEN 'counting_bloom' THEN '4 bits' WHEN 'scalable_bloom' THEN '3 layers' END ORDER BY n;

-- Every length but the right one; and not base64
SELECT type, name, count(*) AS tried, count(*) FILTER (WHERE offer(type, bytes) = 'accepted') AS accepted
FROM samples, LATERAL (SELECT substr(portable, 1, n) AS bytes FROM generate_series(0, length(portable) - 1) AS n
	UNION ALL SELECT portable || decode(repeat('00', n), 'hex') FROM generate_series(1, 130) AS n) AS s
GROUP BY type, name ORDER BY type, name;
SELECT type, offer(type, '') AS empty, offer(type, substr(portable, 1, 59)) AS less_than_header, offer(type, substr(portable, 1, 60)) AS header, offer(type, portable || '\x00') AS a_byte_more
FROM samples WHERE name IN ('4 bits', '3 layers') ORDER BY name;
SELECT offer(type, substr(portable, 1, 60 + 143)) AS less_than_fields FROM samples WHERE name = '3 layers';
SELECT type, attempt(format('SELECT %L::%s', input, type)) AS answer
FROM unnest(ARRAY['counting_bloom', 'scalable_bloom']) AS type, unnest(ARRAY['', 'AAA', 'AAAA', '!!!!', '====', 'AgEBAAAAAAMAAAAE', ' ']) WITH ORDINALITY AS i (input, n) ORDER BY type, n;
SELECT type, name, count(*) AS tried, count(*) FILTER (WHERE attempt(format('SELECT %L::%s', input, type)) LIKE '22P02: invalid input for type ' || type || ': %') AS refused
FROM samples, LATERAL (SELECT translate(encode(portable, 'base64'), E'\n', '') AS text) AS t,
	LATERAL (SELECT overlay(text PLACING c FROM n) AS input FROM generate_series(1, length(text)) AS n, unnest(ARRAY['!', ' ', E'\n']) AS c
		UNION ALL SELECT left(text, n) FROM generate_series(0, length(text) - 1) AS n
		UNION ALL SELECT text || c FROM unnest(ARRAY['A', '=', ' ', 'AAAA', '====']) AS c) AS i
GROUP BY type, name ORDER BY type, name;

--
-- Each byte changed in several ways
--

-- What a position is of.
CREATE FUNCTION field_at(type text, portable bytea, at integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN at >= 60 + CASE type WHEN 'scalable_bloom' THEN 48 * number(portable, 8, 4) ELSE 0 END THEN '20 data'
		WHEN at >= 60 THEN (ARRAY['13 layer bits', '14 layer capacity', '15 layer keys', '16 layer rate', '17 layer bits set', '18 layer hashes, reserved'])[(at - 60) % 48 / 8 + 1]
		WHEN at < 4 THEN (ARRAY['01 kind', '02 version', '03 scheme', '04 flags'])[at + 1]
		WHEN at < 12 THEN (ARRAY['05 hashes', '06 detail'])[at / 4]
		ELSE (ARRAY['07 bits', '08 capacity', '09 rate', '10 bits set', '11 extra', '12 extra'])[(at - 12) / 8 + 1] END
$$;
CREATE TABLE mutants AS
SELECT name, type, field_at(type, portable, at) AS field, set_byte(portable, at, get_byte(portable, at) # mask) AS portable
FROM samples, generate_series(0, length(portable) - 1) AS at, unnest(ARRAY[1, 3, 32, 128, 255]) AS mask;
ALTER TABLE mutants ADD accepted boolean, ADD valid boolean;
UPDATE mutants SET accepted = offer(type, portable) = 'accepted', valid = CASE type WHEN 'counting_bloom' THEN is_counting_bloom(portable) ELSE is_scalable_bloom(portable) END;
SELECT type, field, count(*) AS tried, count(*) FILTER (WHERE accepted) AS accepted, count(*) FILTER (WHERE accepted IS DISTINCT FROM valid) AS wrong
FROM mutants GROUP BY type, field ORDER BY type, field;

-- What was accepted is a filter, so everything works on it: no crash, no other
-- error than that a limit is reached or that two geometries differ, and every
-- filter that comes out is one that would be accepted.
CREATE FUNCTION exercise(type text, portable bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	expression text;
	good boolean;
	source text := format(' FROM CAST($1 AS %1$s) AS f, (SELECT portable::%1$s FROM test_other_types.samples WHERE type = %1$L ORDER BY name LIMIT 1) AS s (g)', type);
	many text := 'ARRAY(SELECT ''key:'' || i FROM generate_series(1, 20) AS i)';
	filters text[] := ARRAY['f', 'bloom_add_all(bloom_add(f, 1), ' || many || ')', 'bloom_clear(f)', 'f | f', 'bloom_add(f, 2) | bloom_add_all(f, ' || many || ')',
		'g | f', '(SELECT bloom_union_agg(h) FROM (VALUES (f), (g), (f)) AS v (h))'];
	others text := 'bloom_info(f), bloom_bits(f), bloom_hashes(f), bloom_capacity(f), bloom_fill(f), bloom_count(f), bloom_fpr(f), f @> 1, ''a'' <@ f, bloom_contains_each(f, '
		|| many || '), f = g, f <> g, f::text, %1$s_send(f), %1$s_hash(f), %1$s_hash_extended(f, 1), ';
BEGIN
	IF type = 'counting_bloom' THEN
		filters := filters || ARRAY['bloom_remove_all(bloom_remove(f, ''hot''), ARRAY[''a'', ''b'', ''c''])', 'f & f', 'bloom_add_all(g, ' || many || ') & f',
			'(SELECT counting_bloom_agg(i, f) FROM generate_series(1, 20) AS i)', '(SELECT bloom_intersect_agg(h) FROM (VALUES (f), (bloom_add(f, 3))) AS v (h))'];
		others := others || 'bloom_saturated(f), bloom_key_count(f, ''hot''), bloom_union_count(f, f), bloom_intersect_count(f, f), bloom_jaccard(f, f), f::bloom::bytea::bloom';
	ELSE
		others := others || '(SELECT array_agg(l) FROM bloom_layers(f) AS l)';
	END IF;
	FOREACH expression IN ARRAY filters LOOP
		BEGIN
			EXECUTE format('SELECT (r)::bytea::%s = r FROM (SELECT %s AS r %s OFFSET 0) AS s', type, expression, source) INTO good USING portable;
			ASSERT good, expression;
		EXCEPTION WHEN program_limit_exceeded OR datatype_mismatch THEN
			ASSERT expression <> 'f' AND SQLERRM IN ('scalable filter cannot grow any further', 'filters of different geometry cannot be combined'), SQLERRM;
		END;
	END LOOP;
	EXECUTE format('SELECT ROW(' || others || ')::text IS NOT NULL', type) || source INTO good USING portable;
	ASSERT good;
END $$;
SELECT type, count(*) > 100 AS many, count(exercise(type, portable)) = count(*) AS all_work
FROM (SELECT type, portable FROM mutants WHERE accepted UNION ALL SELECT type, portable FROM samples) AS m GROUP BY type ORDER BY type;
-- the largest numbers that are accepted: as many keys of a layer as it has bits
-- set, capacities that do not add up in 64 bits
SELECT exercise(type, patched(portable, 76, encode(substr(portable, 93, 8), 'hex'))) AS keys FROM samples WHERE name = '1 layer';
SELECT exercise(type, patched(patched(portable, 68, '7fffffffffffffff'), 116, '7fffffffffffffff')) AS capacities,
	bloom_capacity(patched(patched(portable, 68, '7fffffffffffffff'), 116, '7fffffffffffffff')::scalable_bloom) AS at_most
FROM samples WHERE name = '3 layers';
-- a chain of which every bit is set: any number of keys could be in it
SELECT bloom_count(f) AS count, bloom_fpr(f) AS fpr, (bloom_info(f)).fpr_bound AS bound, bloom_fill(f) AS fill, f @> 'any' AS present, bloom_add_all(f, ARRAY['a', 'b']) = f AS unchanged
FROM samples, CAST(patched(patched(patched(portable, 36, '0000000000000040'), 92, '0000000000000040'), 108, repeat('ff', 8)) AS scalable_bloom) AS f
WHERE name = '1 layer';

--
-- Stored values: inline with a short header, inline, compressed, out of line
--

SELECT typname, typstorage, typalign, typlen, typbyval FROM pg_type WHERE typname IN ('counting_bloom', 'scalable_bloom') ORDER BY typname;
CREATE TABLE stored (size text, c counting_bloom, s scalable_bloom, c_compressed counting_bloom, s_compressed scalable_bloom, n integer);
ALTER TABLE stored ALTER c_compressed SET STORAGE extended, ALTER s_compressed SET STORAGE extended;
INSERT INTO stored
SELECT size, c, s, c, s, n
FROM (VALUES ('tiny', 2), ('small', 100), ('page', 1700), ('large', 30000)) AS v (size, n),
	LATERAL (SELECT bloom_add_all(counting_bloom_create(n), keys) AS c, bloom_add_all(scalable_bloom_create(n), keys) AS s
		-- few keys, so that it compresses
		FROM (SELECT ARRAY(SELECT 'key:' || i FROM generate_series(1, least(n, 30)) AS i) AS keys OFFSET 0) AS k OFFSET 0) AS f;
-- a value has a header of 1 byte where it takes fewer than 127, then of 4; and
-- what is out of line has none
SELECT size, pg_column_size(c) - length(c::bytea) AS c_header, pg_column_size(s) - length(s::bytea) AS s_header,
	pg_column_size(c_compressed) < length(c::bytea) / 2 AS c_compressed, pg_column_size(s_compressed) < length(s::bytea) / 2 AS s_compressed
FROM stored ORDER BY n;
SELECT (SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'stored'::regclass) > sum(length(c::bytea) + length(s::bytea)) AS out_of_line
FROM stored WHERE size IN ('page', 'large');
-- They are the same values, to every function.
SELECT size, c = c_compressed AND s = s_compressed AND NOT c <> c_compressed AND NOT s <> s_compressed AS equal,
	counting_bloom_hash(c) = counting_bloom_hash(c_compressed) AND scalable_bloom_hash(s) = scalable_bloom_hash(s_compressed) AS hash,
	counting_bloom_hash_extended(c, 7) = counting_bloom_hash_extended(c_compressed, 7) AND scalable_bloom_hash_extended(s, 7) = scalable_bloom_hash_extended(s_compressed, 7) AS hash_extended,
	bloom_info(c) = bloom_info(c_compressed) AND bloom_info(s) = bloom_info(s_compressed) AND (bloom_info(c)).size_bytes = length(c::bytea) + 4 AND (bloom_info(s)).size_bytes = length(s::bytea) + 4 AS info,
	(SELECT array_agg(l) FROM bloom_layers(s) AS l) = (SELECT array_agg(l) FROM bloom_layers(s_compressed) AS l) AS layers,
	(SELECT bool_and(c @> ('key:' || i) AND s @> ('key:' || i) AND c_compressed @> ('key:' || i) AND s_compressed @> ('key:' || i)) FROM generate_series(1, least(n, 30)) AS i) AS present,
	(SELECT bool_and((c @> i) = (c_compressed @> i) AND (s @> i) = (s_compressed @> i)) AND bool_or(NOT c @> i AND NOT s @> i) FROM generate_series(1, 200) AS i) AS same_answers,
	bloom_key_count(c, 'key:1') = bloom_key_count(c_compressed, 'key:1') AS counts,
	bloom_add(c, 'x') = bloom_add(c_compressed, 'x') AND bloom_add(s, 'x') = bloom_add(s_compressed, 'x') AND bloom_remove(c, 'key:1') = bloom_remove(c_compressed, 'key:1') AS change,
	c | c_compressed = c_compressed | c AND c & c_compressed = c AND (s | s_compressed) = (s_compressed | s) AS combine, c::bloom = c_compressed::bloom AS cast,
	c::text = c_compressed::text AND s::bytea = s_compressed::bytea AS out
FROM stored ORDER BY n;
-- and in arrays and domains
CREATE DOMAIN small_counting AS counting_bloom CHECK (bloom_bits(VALUE) < 1000);
SELECT size, (ARRAY[c])[1] = c AND ARRAY[s] = ARRAY[s_compressed] AS equal,
	attempt(format('SELECT bloom_key_count(bloom_add(%L::test_other_types.small_counting, 1), 1)', c)) AS domain
FROM stored WHERE size IN ('tiny', 'page') ORDER BY n;

--
-- Equality, and what rests on it
--

SELECT counting_bloom_create(10) = counting_bloom_create(10) AS same, counting_bloom_create(10) = counting_bloom_create(10, 0.01, 8) AS width,
	counting_bloom_create(10) = counting_bloom_create(10, 0.01, 4, 'fnv1a') AS hash, bloom_add(counting_bloom_create(10), 1) = counting_bloom_create(10) AS content,
	counting_bloom_create(10) <> counting_bloom_create(11) AS differ, scalable_bloom_create(10) = scalable_bloom_create(10) AS same,
	scalable_bloom_create(10, 0.01, 3) = scalable_bloom_create(10) AS growth, scalable_bloom_create(10) <> scalable_bloom_create(10, 0.01, 2, 0.5, 'fnv1a') AS differ;
-- two keys that leave the same header and fields
SELECT substr(a::bytea, 1, 60) = substr(b::bytea, 1, 60) AS same_head, a = b AS equal, a <> b AS differ FROM counting_bloom_create(100) AS f, bloom_add(f, 'a') AS a, bloom_add(f, 'b') AS b;
SELECT substr(a::bytea, 1, 108) = substr(b::bytea, 1, 108) AS same_head, a = b AS equal, a <> b AS differ FROM scalable_bloom_create(100) AS f, bloom_add(f, 'a') AS a, bloom_add(f, 'b') AS b;
SELECT attempt('SELECT counting_bloom_create(10) = scalable_bloom_create(10)') AS two_types, attempt('SELECT counting_bloom_create(10) < counting_bloom_create(10)') AS no_order;
CREATE TABLE few (n integer, c counting_bloom, s scalable_bloom);
INSERT INTO few SELECT i, bloom_add(counting_bloom_create(50), i % 10), bloom_add_all(scalable_bloom_create(20), ARRAY(SELECT generate_series(1, i % 10))) FROM generate_series(1, 100) AS i;
SELECT (SELECT count(*) FROM (SELECT DISTINCT c FROM few) AS d) AS distinct_c, (SELECT count(*) FROM (SELECT DISTINCT s FROM few) AS d) AS distinct_s,
	(SELECT count(*) FROM (SELECT c, s FROM few GROUP BY c, s HAVING count(*) = 10) AS d) AS groups, (SELECT count(*) FROM few WHERE c IN (SELECT c FROM few WHERE n <= 3)) AS "in",
	(SELECT count(*) FROM (SELECT c FROM few EXCEPT SELECT c FROM few WHERE n % 10 < 4) AS d) AS except_;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM few AS a JOIN few AS b ON a.c = b.c AND a.s = b.s;
SELECT count(*), bool_and(a.n % 10 = b.n % 10) AS right_ones FROM few AS a JOIN few AS b ON a.c = b.c AND a.s = b.s;
RESET enable_nestloop;
-- the extended hash function
CREATE TABLE hashed (n integer, c counting_bloom, s scalable_bloom) PARTITION BY HASH (c, s);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT * FROM few;
SELECT (SELECT count(*) FROM hashed_0) > 0 AND (SELECT count(*) FROM hashed_1) > 0 AS both_used, (SELECT count(*) FROM hashed_0 AS a JOIN hashed_1 AS b USING (c, s)) AS split;
CREATE INDEX ON few USING hash (c);
CREATE INDEX ON few USING hash (s);
SET enable_seqscan = off;
SELECT count(*) FROM few WHERE c = bloom_add(counting_bloom_create(50), 3) AND s = bloom_add_all(scalable_bloom_create(20), ARRAY[1, 2, 3]);
RESET enable_seqscan;
-- for a subscriber that must find the row by all of its columns
ALTER TABLE few REPLICA IDENTITY FULL;
UPDATE few SET c = bloom_remove(c, n % 10) WHERE n > 90;
SELECT count(*) FROM few WHERE c = counting_bloom_create(50);

--
-- Casts, clear
--

SELECT format_type(castsource, NULL) AS source, format_type(casttarget, NULL) AS target, castcontext, castmethod FROM pg_cast
WHERE 'counting_bloom'::regtype IN (castsource, casttarget) OR 'scalable_bloom'::regtype IN (castsource, casttarget) ORDER BY 1, 2;
CREATE TABLE plain (f bloom);
SELECT attempt(statement) AS answer
FROM unnest(ARRAY['INSERT INTO test_other_types.plain SELECT c FROM test_other_types.few', 'SELECT bloom_create(10)::counting_bloom', 'SELECT counting_bloom_create(10)::scalable_bloom',
	'SELECT bloom_create(10) | counting_bloom_create(10)']) WITH ORDINALITY AS s (statement, n) ORDER BY n;
SELECT count(*) AS filters, bool_and(c::bloom = bloom_add(bloom_create(50), n % 10)) AS bloom FROM few WHERE n <= 90;
SELECT bool_and(bloom_clear(c) = counting_bloom_create(50)) AS counting, bool_and(bloom_clear(s) = scalable_bloom_create(20)) AS scalable FROM few;
SELECT bloom_clear(bloom_add(f, 1)) = f AS clear FROM unnest(ARRAY[counting_bloom_create(50, 0.1, 8, 'fnv1a'), counting_bloom_create_with_params(77, 5)]) AS f;
SELECT bloom_clear(bloom_add_all(f, ARRAY(SELECT generate_series(1, 500)))) = f AS clear FROM unnest(ARRAY[scalable_bloom_create(5, 0.1, 4, 0.9, 'fnv1a'), scalable_bloom_create(60)]) AS f;
