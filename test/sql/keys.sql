-- Which bytes a value becomes.  A filter with a value in it must be the same as
-- one with the bytes that the value is documented to have.

SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_keys;
SET search_path = test_keys, public;

-- Whether a value, given as an expression, has these bytes, in every way in which
-- a key is given: as a constant and from a row, alone, in an array, to an aggregate.
CREATE FUNCTION has_bytes(expression text, bytes bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	empty bloom := bloom_create_with_params(10000, 20);
	right_one bloom := bloom_add(empty, bytes);
	same boolean;
BEGIN
	EXECUTE format('SELECT bloom_add($1, %s) = $2 AND $2 @> %1$s AND %1$s <@ $2', expression)
		INTO same USING empty, right_one;
	IF NOT same THEN
		RETURN false;
	END IF;
	EXECUTE format('SELECT bloom_add($1, k) = $2 AND bloom_add_all($1, ARRAY[k]) = $2
						AND bloom_contains_each($2, ARRAY[k, k]) = ''{t,t}''
						AND bloom_contains($2, k) AND bloom_contained(k, $2)
						AND bloom_agg(k, $1) OVER () = $2
						AND bloom_agg(k) OVER () @> $3
					FROM (SELECT %s AS k OFFSET 0) AS one', expression)
		INTO same USING empty, right_one, bytes;
	RETURN same;
END $$;

CREATE FUNCTION has_text(expression text, key text) RETURNS boolean LANGUAGE sql AS $$
	SELECT has_bytes(expression, convert_to(key, 'UTF8'))
$$;

-- the helpers can say no
SELECT has_text('1', '1'), has_text('1', '2'), has_text($$'a'::text$$, 'A'), has_bytes('1', '\x31'), has_bytes('1', '\x01');

----------------------------------------------------------------------------
-- The table of documented bytes
----------------------------------------------------------------------------

CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'HAPPY');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN more_positive AS positive CHECK (VALUE > 1);
CREATE DOMAIN code AS char(5);
CREATE DOMAIN good_mood AS mood CHECK (VALUE <> 'sad');
CREATE DOMAIN day AS date;

CREATE TABLE documented(id serial, value text, key text);
INSERT INTO documented(value, key) VALUES
	-- smallint, integer, bigint, oid: shortest decimal
	('0::smallint', '0'), ('42::smallint', '42'), ('(-32768)::smallint', '-32768'), ('32767::smallint', '32767'),
	('0::integer', '0'), ('-1', '-1'), ('2147483647', '2147483647'), ('(-2147483648)::integer', '-2147483648'),
	('0::bigint', '0'), ('9223372036854775807', '9223372036854775807'),
	('(-9223372036854775808)::bigint', '-9223372036854775808'), ('1000000000000', '1000000000000'),
	('0::oid', '0'), ('4294967295::oid', '4294967295'),
	-- numeric: plain decimal, no trailing zeros in the fraction
	('42.0', '42'), ('1.00', '1'), ('100::numeric', '100'), ('0.10', '0.1'), ('0.00', '0'), ('-0.0', '0'), ('-0.50', '-0.5'),
	('100.50', '100.5'), ('5::numeric(10,2)', '5'), ('1e30::numeric', '1' || repeat('0', 30)),
	('1e-20::numeric', '0.' || repeat('0', 19) || '1'), ('-1.5e3::numeric', '-1500'), ('1e1000::numeric', '1' || repeat('0', 1000)),
	('123456789012345678901234567890.0123456780', '123456789012345678901234567890.012345678'),
	('''NaN''::numeric', 'NaN'), ('''Infinity''::numeric', 'Infinity'), ('''-Infinity''::numeric', '-Infinity'),
	-- double precision: integers within 2^53, else shortest digits without an exponent
	('0::float8', '0'), ('''-0''::float8', '0'), ('1::float8', '1'), ('-42::float8', '-42'), ('0.1::float8', '0.1'),
	('-2.5::float8', '-2.5'), ('1234.5678::float8', '1234.5678'), ('1e15::float8', '1000000000000000'),
	('9007199254740991::float8', '9007199254740991'), ('9007199254740992::float8', '9007199254740992'),
	('-9007199254740992::float8', '-9007199254740992'), ('9007199254740994::float8', '9007199254740994'),
	('1e16::float8', '10000000000000000'), ('1.5e16::float8', '15000000000000000'),
	-- 2^63 is 9223372036854775808, but reads back from fewer digits
	('9223372036854775808::float8', '9223372036854776000'),
	('1e300::float8', '1' || repeat('0', 300)), ('-1e300::float8', '-1' || repeat('0', 300)),
	('1.7976931348623157e308::float8', '17976931348623157' || repeat('0', 292)),
	('1e-7::float8', '0.0000001'), ('-1.25e-7::float8', '-0.000000125'), ('0.001::float8', '0.001'),
	('5e-324::float8', '0.' || repeat('0', 323) || '5'), ('-2.2250738585072014e-308::float8', '-0.' || repeat('0', 307) || '22250738585072014'),
	('''NaN''::float8', 'NaN'), ('''Infinity''::float8', 'Infinity'), ('''-Infinity''::float8', '-Infinity'),
	-- real: the double of the same value
	('0::real', '0'), ('''-0''::real', '0'), ('1.5::real', '1.5'), ('0.1::real', '0.10000000149011612'), ('16777216::real', '16777216'),
	('3.4028235e38::real', '34028234663852886' || repeat('0', 22)), ('1e-45::real', '0.' || repeat('0', 44) || '1401298464324817'),
	('''NaN''::real', 'NaN'), ('''-Infinity''::real', '-Infinity'),
	-- boolean
	('true', 'true'), ('false', 'false'),
	-- text, varchar, name: as they are
	('''abc''::text', 'abc'), ('''''::text', ''), (''' a ''::text', ' a '), ('''äé用😀''::text', 'äé用😀'), ('''abc''', 'abc'),
	('''abc  ''::varchar', 'abc  '), ('''abcdef''::varchar(3)', 'abc'), ('''''::varchar', ''),
	('''abc''::name', 'abc'), ('''äé''::name', 'äé'), ('''''::name', ''), ('repeat(''x'', 63)::name', repeat('x', 63)),
	-- bpchar: without trailing blanks
	('''abc  ''::bpchar', 'abc'), ('''abc''::char(10)', 'abc'), (''' a b''::char(10)', ' a b'), ('''   ''::char(3)', ''), ('''ä''::char(5)', 'ä'),
	-- uuid
	('''A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11''::uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
	('''{a0eebc999c0b4ef8bb6d6bb9bd380a11}''::uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
	-- date, timestamp: ISO 8601
	('''2026-01-31''::date', '2026-01-31'), ('''0001-01-01''::date', '0001-01-01'), ('''12026-01-31''::date', '12026-01-31'),
	('''0044-03-15 BC''::date', '0044-03-15 BC'), ('''infinity''::date', 'infinity'), ('''-infinity''::date', '-infinity'),
	('''2026-01-31 12:34:56.789''::timestamp', '2026-01-31T12:34:56.789'), ('''2026-01-31''::timestamp', '2026-01-31T00:00:00'),
	('''2026-01-31 12:34:56.500000''::timestamp', '2026-01-31T12:34:56.5'), ('''2026-01-31 12:34:56.000001''::timestamp', '2026-01-31T12:34:56.000001'),
	('''2026-01-31 12:34:56.789''::timestamp(0)', '2026-01-31T12:34:57'), ('''0044-03-15 12:00 BC''::timestamp', '0044-03-15T12:00:00 BC'),
	('''infinity''::timestamp', 'infinity'), ('''-infinity''::timestamp', '-infinity'),
	('''4714-11-24 BC''::timestamp', '4714-11-24T00:00:00 BC'), ('''294276-12-31 23:59:59.999999''::timestamp', '294276-12-31T23:59:59.999999'),
	('''5874897-12-31''::date', '5874897-12-31'),
	-- timestamptz: ISO 8601 in UTC
	('''2026-01-31 12:34:56.789+02''::timestamptz', '2026-01-31T10:34:56.789Z'), ('''2026-01-31 23:00-05:30''::timestamptz', '2026-02-01T04:30:00Z'),
	('''1850-06-01 00:00:00+00''::timestamptz', '1850-06-01T00:00:00Z'), ('''0044-03-15 12:00+00 BC''::timestamptz', '0044-03-15T12:00:00Z BC'),
	('''infinity''::timestamptz', 'infinity'), ('''-infinity''::timestamptz', '-infinity'),
	-- inet, cidr, macaddr, macaddr8: the text, cidr as inet
	('''192.168.0.1''::inet', '192.168.0.1'), ('''192.168.0.1/32''::inet', '192.168.0.1'), ('''192.168.0.1/24''::inet', '192.168.0.1/24'),
	('''2001:DB8::1''::inet', '2001:db8::1'), ('''10.0.0.0/8''::cidr', '10.0.0.0/8'), ('''10.1.2.3/32''::cidr', '10.1.2.3'),
	('''2001:db8::/32''::cidr', '2001:db8::/32'), ('''::1/128''::cidr', '::1'),
	('''08002B:010203''::macaddr', '08:00:2b:01:02:03'), ('''08-00-2B-01-02-03-04-05''::macaddr8', '08:00:2b:01:02:03:04:05'),
	-- enum: the label
	('''sad''::mood', 'sad'), ('''it''''s ok''::mood', 'it''s ok'), ('''HAPPY''::mood', 'HAPPY'),
	-- a domain: as its base type
	('42::positive', '42'), ('42::more_positive', '42'), ('''ab''::code', 'ab'), ('''HAPPY''::good_mood', 'HAPPY'),
	('''2026-01-31''::day', '2026-01-31');

SELECT value, CASE WHEN length(key) > 40 THEN left(key, 20) || '...' || right(key, 20) ELSE key END AS key, has_text(value, key)
FROM documented ORDER BY id;

-- integers are hashed without writing their digits: every number of digits, both
-- signs, every type and hash, and as the text that each way of adding must agree with
CREATE TABLE number AS
SELECT DISTINCT (sign * (10::numeric ^ digits + more))::bigint AS v
FROM generate_series(0, 18) digits, generate_series(-2, 2) more, (VALUES (1), (-1)) s(sign)
UNION VALUES (32767::bigint), (-32768), (2147483647), (-2147483648), (4294967295), (9223372036854775807), (-9223372036854775808), (-9223372036854775807);
SELECT hash, count(*) AS numbers, bool_and(bloom_add(f, v) = bloom_add(f, v::text)) AS bigint,
	bool_and(bloom_add(f, v::int) = bloom_add(f, v::text)) FILTER (WHERE v BETWEEN -2147483648 AND 2147483647) AS integer,
	bool_and(bloom_add(f, v::smallint) = bloom_add(f, v::text)) FILTER (WHERE v BETWEEN -32768 AND 32767) AS smallint,
	bool_and(bloom_add(f, v::oid) = bloom_add(f, v::text)) FILTER (WHERE v BETWEEN 0 AND 4294967295) AS oid,
	bloom_add_all(f, array_agg(v)) = bloom_add_all(f, array_agg(v::text)) AS add_all, bloom_agg(v, f) = bloom_agg(v::text, f) AS agg,
	false <> ALL (bloom_contains_each(bloom_agg(v::text, f), array_agg(v))) AS each
FROM number, (VALUES ('murmur64a'), ('fnv1a')) h(hash), LATERAL (SELECT bloom_create_with_params(10000, 20, hash) AS f) e GROUP BY hash, f ORDER BY hash;
-- in filters so large that their keys wait for each other
SELECT hash, bloom_agg(v, f) = bloom_agg(v::text, f) AS bigint, bloom_agg(i, f) = bloom_agg(i::text, f) AS integer, bloom_agg(s, f) = bloom_agg(s::text, f) AS smallint,
	bloom_agg(o, f) = bloom_agg(o::text, f) AS oid, bloom_agg(v) = bloom_agg(v::text) AS self_sized
FROM (SELECT v, CASE WHEN v BETWEEN -2147483648 AND 2147483647 THEN v END::int AS i, CASE WHEN v BETWEEN -32768 AND 32767 THEN v END::smallint AS s,
		CASE WHEN v BETWEEN 0 AND 4294967295 THEN v END::oid AS o FROM number) n,
	(VALUES ('murmur64a'), ('fnv1a')) h(hash), LATERAL (SELECT bloom_create_with_params(3000000, 20, hash) AS f) e GROUP BY hash, f ORDER BY hash;

-- bytea: the raw bytes
SELECT has_bytes($$'\x616263'::bytea$$, 'abc'), has_text($$'\x616263'::bytea$$, 'abc'),
	has_bytes($$'\x00ff00'::bytea$$, '\x00ff00'), has_bytes($$''::bytea$$, ''), has_bytes($$'\x00ff'::bytea$$, '\x00ff00');

-- no setting of a session matters, neither of one that builds nor of one that probes
CREATE FUNCTION disagreeing(OUT tried bigint, OUT wrong bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE NOT has_text(value, key)) FROM documented
$$;
SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Kolkata'; SET extra_float_digits = 0; SET bytea_output = escape;
SELECT * FROM disagreeing();
SELECT has_bytes($$'\x00ff00'::bytea$$, '\x00ff00');
SET DateStyle = 'German'; SET TimeZone = 'America/St_Johns'; SET extra_float_digits = -15; SET IntervalStyle = iso_8601;
SELECT * FROM disagreeing();
SET DateStyle = 'Postgres, MDY'; SET TimeZone = 'UTC'; SET extra_float_digits = 3;
SELECT * FROM disagreeing();
RESET DateStyle; RESET TimeZone; RESET extra_float_digits; RESET bytea_output; RESET IntervalStyle;

-- an enum value that is renamed is another key: the filter must be built again
SELECT has_text($$'HAPPY'::mood$$, 'HAPPY') AS before;
ALTER TYPE mood RENAME VALUE 'HAPPY' TO 'glad';
SELECT has_text($$'glad'::mood$$, 'glad') AS label, has_text($$'glad'::mood$$, 'HAPPY') AS old_label;

----------------------------------------------------------------------------
-- Equal values have equal bytes
----------------------------------------------------------------------------

-- 42 in every type that can say it: each against each
CREATE FUNCTION same_key(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	same boolean;
BEGIN
	EXECUTE format('SELECT bloom_add(f, %s) @> %s AND bloom_add(f, %1$s) = bloom_add(f, %2$s)
					FROM (SELECT bloom_create_with_params(10000, 20) AS f) one', a, b) INTO same;
	RETURN same;
END $$;
WITH form(v) AS (VALUES ('42::smallint'), ('42'), ('42::bigint'), ('42::oid'), ('42.0'), ('42.000::numeric(10,3)'), ('42::real'), ('42::float8'),
	('''42'''), ('''42''::text'), ('''42''::varchar'), ('''42  ''::char(4)'), ('''42''::name'), ('''\x3432''::bytea'), ('42::positive'))
SELECT count(*) AS pairs, count(*) FILTER (WHERE NOT same_key(a.v, b.v)) AS differ FROM form a, form b;

-- the largest integer and the largest power of two that float8 shares with bigint
SELECT same_key('9007199254740992::bigint', '9007199254740992::float8'), same_key('9007199254740992::bigint', '9007199254740992.0'),
	same_key('-9007199254740991::bigint', '-9007199254740991::float8'), same_key('16777216', '16777216::real'),
	same_key('0.5', '0.5::float8'), same_key('0.5::real', '0.5::float8'), same_key('0', '''-0''::float8');

-- values that the server calls equal, and one that it does not
CREATE TYPE point3 AS (x float8, y numeric, label text);
SELECT a, b, same_key(a, b) AS same_key, same_key(a, other) AS other_key FROM (VALUES
	('1.0', '1.00', '1.01'),
	('0::float8', '''-0''::float8', '1e-300::float8'),
	('''a ''::char(3)', '''a''::char(2)', ''' a''::char(2)'),
	('''10.0.0.1/32''::cidr', '''10.0.0.1''::inet', '''10.0.0.1/31''::inet'),
	('''2026-01-31 12:00+00''::timestamptz', '''2026-01-31 13:00+01''::timestamptz', '''2026-01-31 12:00+01''::timestamptz'),
	('''infinity''::date', '''infinity''::timestamptz', '''-infinity''::date'),
	('interval ''24 hours''', 'interval ''1 day''', 'interval ''23 hours'''),
	('interval ''1 month''', 'interval ''30 days''', 'interval ''31 days'''),
	('time ''10:00''', 'time ''10:00:00.000''', 'time ''10:01'''),
	('timetz ''10:00+01''', 'timetz ''10:00:00+01:00''', 'timetz ''10:00+02'''),
	('jsonb ''{"a": 1.0, "b": [true]}''', 'jsonb ''{"b": [true], "a": 1.00}''', 'jsonb ''{"a": 1, "b": [false]}'''),
	('jsonb ''1''', 'jsonb ''1.0''', 'jsonb ''"1"'''),
	('int4range(1, 5)', '''[1,4]''::int4range', 'int4range(1, 6)'),
	('numrange(1.0, 2)', 'numrange(1, 2.00)', 'numrange(1, 2, ''[]'')'),
	('''{[1,3),[3,5)}''::int4multirange', '''{[1,5)}''::int4multirange', '''{[1,3),[4,5)}''::int4multirange'),
	('ROW(0::float8, 1.0, ''a''::text)', 'ROW(''-0''::float8, 1.00, ''a''::text)', 'ROW(0::float8, 1.0, ''b''::text)'),
	('ROW(0, 1.0, ''a'')::point3', 'ROW(''-0'', 1.00, ''a'')::point3', 'ROW(0, 1.0, NULL)::point3'),
	('ROW(1.0, ARRAY[1.0])', 'ROW(1.00, ARRAY[1.00])', 'ROW(1.0, ARRAY[1.0, NULL])'),
	('pg_lsn ''0/10''', 'pg_lsn ''00000000/00000010''', 'pg_lsn ''0/11''')
) equal(a, b, other);

-- those without a text of their own are the 64-bit hash with seed 0, the least
-- significant byte first
CREATE FUNCTION le8(hash bigint) RETURNS bytea LANGUAGE sql AS $$
	SELECT decode(string_agg(substr(encode(int8send(hash), 'hex'), 2 * i + 1, 2), '' ORDER BY i DESC), 'hex')
	FROM generate_series(0, 7) i
$$;
SELECT le8(1), le8(x'0102030405060708'::bigint);
SELECT value, has_bytes(value, le8(hash)) FROM (VALUES
	('jsonb ''{"a": [1, 2]}''', jsonb_hash_extended('{"a": [1, 2]}', 0)),
	('interval ''1 day''', interval_hash_extended('1 day', 0)),
	('time ''10:00''', time_hash_extended('10:00', 0)),
	('timetz ''10:00+01''', timetz_hash_extended('10:00+01', 0)),
	('ROW(1, ''a''::text)', hash_record_extended(ROW(1, 'a'::text), 0)),
	('ROW(1, 2, ''a'')::point3', hash_record_extended(ROW(1, 2, 'a')::point3, 0)),
	('int4range(1, 5)', hash_range_extended(int4range(1, 5), 0)),
	('''{[1,5)}''::int4multirange', hash_multirange_extended('{[1,5)}'::int4multirange, 0))
) hashed(value, hash);

----------------------------------------------------------------------------
-- NULL, the empty string, untyped parameters, long keys
----------------------------------------------------------------------------

SELECT bloom_add(f, NULL::int) = f, bloom_add(f, NULL::text) = f, bloom_add(f, NULL) = f,
	bloom_add_all(f, ARRAY[NULL, NULL]::text[]) = f,
	f @> NULL::int IS NULL, f @> NULL IS NULL, NULL <@ f IS NULL, bloom_contains(f, NULL) IS NULL
FROM (SELECT bloom_add(bloom_create(10), 'a') AS f) one;
SELECT f @> '' AS before, bloom_add(f, '') @> '' AS after, (bloom_info(bloom_add(f, ''))).bits_set AS bits_set
FROM (SELECT bloom_create(10) AS f) one;

-- an untyped parameter is text
PREPARE add_key AS SELECT bloom_add(bloom_create_with_params(10000, 20), $1);
PREPARE probe(bloom) AS SELECT $1 @> $2 AS found, $2 <@ $1 AS found_too, bloom_contains($1, $2) AS and_again;
PREPARE build AS SELECT bloom_agg($1, 10, 0.01) @> '42' AS built FROM generate_series(1, 3);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
EXECUTE add_key('42') \gset
EXECUTE probe(:'bloom_add', '42');
EXECUTE probe(:'bloom_add', 42);
EXECUTE build('42');
SELECT :'bloom_add'::bloom = bloom_add(bloom_create_with_params(10000, 20), 42) AS same;

-- long keys, compressed and in TOAST, against the same ones from memory
CREATE TABLE long_key(kind text, t text, b bytea, n numeric, c char(100000), j jsonb);
CREATE FUNCTION long_text() RETURNS text LANGUAGE sql AS $$ SELECT repeat('0123456789', 9000) $$;
CREATE FUNCTION long_number() RETURNS text LANGUAGE sql AS $$ SELECT '1' || repeat('123456789', 3000) $$;
CREATE FUNCTION add_long_key() RETURNS void LANGUAGE sql AS $$
	INSERT INTO long_key
	SELECT attstorage::text, long_text(), convert_to(long_text(), 'UTF8'), long_number()::numeric, long_text(), to_jsonb(long_text())
	FROM pg_attribute WHERE attrelid = 'long_key'::regclass AND attname = 't'
$$;
SELECT add_long_key();
ALTER TABLE long_key ALTER t SET STORAGE external, ALTER b SET STORAGE external, ALTER n SET STORAGE external,
	ALTER c SET STORAGE external, ALTER j SET STORAGE external;
SELECT add_long_key();
SELECT kind, pg_column_size(k.t) = 90000 AS t_as_long, pg_column_size(k.j) > 90000 AS j_as_long,
	bloom_add(f, k.t) = bloom_add(f, long_text()) AS t, bloom_add(f, k.b) = bloom_add(f, long_text()) AS b,
	bloom_add(f, k.n) = bloom_add(f, long_number()) AS n, bloom_add(f, k.c) = bloom_add(f, long_text()) AS c,
	bloom_add(f, k.j) = bloom_add(f, to_jsonb(long_text())) AS j, bloom_add(f, k.t || 'x') = bloom_add(f, k.t) AS other,
	bloom_add(f, long_text()) @> k.t AS t_found, bloom_contains_each(bloom_add(f, long_text()), ARRAY[k.t, 'x']) AS t_each
FROM long_key k, (SELECT bloom_create_with_params(10000, 20) AS f) one;

-- one call site, another type and another length each time
CREATE FUNCTION probe_any(f bloom, k anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN f @> k; END $$;
SELECT probe_any(f, 42), probe_any(f, 42::bigint), probe_any(f, '42'::text), probe_any(f, 42.0), probe_any(f, 43)
FROM (SELECT bloom_add(bloom_create_with_params(10000, 20), 42) AS f) one;
-- the operators with ANY and ALL of an array
SELECT f @> ANY (ARRAY[1, 42]), f @> ANY (ARRAY['1', '42']), f @> ANY (ARRAY[1, 41]), f @> ALL (ARRAY[42, 42]), f @> ALL (ARRAY[42, 43]), 42 <@ ANY (ARRAY[bloom_clear(f), f])
FROM (SELECT bloom_add(bloom_create_with_params(10000, 20), 42) AS f) one;

----------------------------------------------------------------------------
-- Server encodings: text is hashed as UTF-8, but in SQL_ASCII as it is
----------------------------------------------------------------------------

-- made here, in UTF-8, of the characters U+00E9 and U+7528
SELECT getdatabaseencoding() AS encoding, current_database() AS main_database \gset
SELECT :'encoding' = 'UTF8' AS is_utf8,
	has_bytes($$chr(x'e9'::int)$$, '\xc3a9') AS e_acute, has_bytes($$chr(x'7528'::int)$$, '\xe794a8') AS han;
SELECT bloom_add(bloom_create_with_params(10000, 20), chr(x'e9'::int))::bytea AS e_acute,
	bloom_add(bloom_create_with_params(10000, 20), chr(x'7528'::int))::bytea AS han \gset

SET client_min_messages = warning;
DROP DATABASE IF EXISTS bloomfilter_latin1;
DROP DATABASE IF EXISTS bloomfilter_euc_jp;
DROP DATABASE IF EXISTS bloomfilter_sql_ascii;
CREATE DATABASE bloomfilter_latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C';
CREATE DATABASE bloomfilter_euc_jp TEMPLATE template0 ENCODING 'EUC_JP' LOCALE_PROVIDER libc LOCALE 'C';
CREATE DATABASE bloomfilter_sql_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C';

\c bloomfilter_latin1
CREATE EXTENSION bloomfilter;
SELECT octet_length(chr(x'e9'::int)) AS bytes_here, f @> chr(x'e9'::int) AS text, f @> chr(x'e9'::int)::name AS name,
	f @> chr(x'e9'::int)::char(5) AS bpchar, f @> chr(x'e9'::int)::varchar AS varchar, f @> '\xc3a9'::bytea AS as_utf8,
	f @> '\xe9'::bytea AS raw, f = bloom_add(bloom_clear(f), chr(x'e9'::int)) AS same,
	f = (SELECT bloom_agg(k, bloom_clear(f)) FROM (VALUES (chr(x'e9'::int)), (chr(x'e9'::int)::text)) v(k)) AS by_agg
FROM (SELECT :'e_acute'::bytea::bloom AS f) one;
-- an enum label; characters of more than one byte in UTF-8 only; a long key
DO $$ BEGIN EXECUTE format('CREATE TYPE accent AS ENUM (%L)', chr(x'e9'::int)); END $$;
SELECT f @> enum_first(NULL::accent) AS enum FROM (SELECT :'e_acute'::bytea::bloom AS f) one;
SELECT bloom_add(f, repeat(chr(x'e9'::int), 100000)) = bloom_add(f, decode(repeat('c3a9', 100000), 'hex')) AS long_key
FROM (SELECT bloom_create_with_params(10000, 20) AS f) one;
SELECT bloom_add(f, '42') = bloom_add(f, 42) AND bloom_add(f, 'abc') = bloom_add(f, 'abc'::bytea) AS ascii
FROM (SELECT bloom_create_with_params(10000, 20) AS f) one;

\c bloomfilter_euc_jp
CREATE EXTENSION bloomfilter;
SELECT octet_length(k) AS bytes_here, f @> k AS text, f = bloom_add(bloom_clear(f), k) AS same, f @> k::name AS name, f @> k::char(5) AS bpchar
FROM (SELECT :'han'::bytea::bloom AS f, convert_from('\xe794a8', 'UTF8') AS k) one;

-- nothing is known about the bytes in SQL_ASCII
\c bloomfilter_sql_ascii
CREATE EXTENSION bloomfilter;
SELECT f @> (chr(x'c3'::int) || chr(x'a9'::int)) AS utf8_bytes, f @> chr(x'e9'::int) AS latin1_byte,
	f = bloom_add(bloom_clear(f), chr(x'c3'::int) || chr(x'a9'::int)) AS same
FROM (SELECT :'e_acute'::bytea::bloom AS f) one;

\c :main_database
DROP DATABASE bloomfilter_latin1;
DROP DATABASE bloomfilter_euc_jp;
DROP DATABASE bloomfilter_sql_ascii;
