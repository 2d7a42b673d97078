-- Which types a bloomfilter index takes, and that equal values are one key.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;
CREATE SCHEMA test_index_types;
SET search_path = test_index_types, public;

CREATE DOMAIN word AS text;
CREATE DOMAIN long_word AS word;
CREATE TYPE pair AS (a int, b text);
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN moods AS mood;
CREATE TYPE with_mood AS (m mood);

----------------------------------------------------------------------------
-- Every type: values that are there when the index is built, values that are
-- inserted, and values that are not there
----------------------------------------------------------------------------

CREATE FUNCTION check_type(type text, built text, inserted text, absent text, OUT there bool[], OUT not_there bool, OUT through_scan bool[])
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE typed (v %s)', type);
	EXECUTE format('INSERT INTO typed VALUES (%L), (NULL)', built);
	CREATE INDEX typed_filter ON typed USING bloomfilter (v) WITH (fpr = 0.000001);
	EXECUTE format('INSERT INTO typed VALUES (%L), (NULL), (%L)', inserted, inserted);
	EXECUTE format('SELECT ARRAY[bloom_index_contains(''typed_filter'', %1$L::%4$s), bloom_index_contains(''typed_filter'', %2$L::%4$s)],
		NOT bloom_index_contains(''typed_filter'', %3$L::%4$s)', built, inserted, absent, type) INTO there, not_there;
	SET LOCAL enable_seqscan = off;
	EXECUTE format('SELECT ARRAY[EXISTS (SELECT 1 FROM typed WHERE v = %1$L::%4$s), EXISTS (SELECT 1 FROM typed WHERE v = %2$L::%4$s), EXISTS (SELECT 1 FROM typed WHERE v = %3$L::%4$s)]',
		built, inserted, absent, type) INTO through_scan;
	DROP TABLE typed;
END $$;

SELECT type, c.* FROM (VALUES
	('smallint', '1', '-2', '3'), ('integer', '1', '-2147483648', '3'), ('bigint', '9223372036854775807', '-2', '3'), ('oid', '1', '4294967295', '3'),
	('numeric', '1.50', '1e100', '1.51'), ('numeric(10,2)', '1.5', '-7', '3'), ('real', '0.1', '-0', '3'), ('double precision', 'NaN', 'Infinity', '3'),
	('boolean', 'true', 'true', 'false'), ('text', 'a', '', 'b'), ('varchar', 'a', 'ä', 'b'), ('varchar(5)', 'a', 'ä', 'b'), ('name', 'a', 'x', 'b'),
	('char(5)', 'a', 'b  ', 'c'), ('bpchar', 'a ', 'b', 'c'), ('bytea', '\x00', '\x', '\x01'), ('uuid', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc999c0b4ef8bb6d6bb9bd380a12}', 'a0eebc999c0b4ef8bb6d6bb9bd380a13'),
	('date', '2026-01-31', 'infinity', '2026-02-01'), ('timestamp', '2026-01-31 12:00', '-infinity', '2026-01-31'), ('timestamptz', '2026-01-31 12:00+02', '0044-03-15 BC', '2026-01-31'),
	('inet', '10.0.0.1', '::1', '10.0.0.2'), ('cidr', '10.0.0.0/8', '::/0', '11.0.0.0/8'), ('macaddr', '08:00:2b:01:02:03', '08-00-2b-01-02-04', '08:00:2b:01:02:05'),
	('macaddr8', '08:00:2b:01:02:03:04:05', '08:00:2b:01:02:03:04:06', '08:00:2b:01:02:03:04:07'),
	('jsonb', '{"a": 1}', '[]', '{"a": 2}'), ('interval', '1 day', '2 hours', '3 hours'), ('time', '12:00', '13:00', '14:00'), ('timetz', '12:00+00', '13:00+01', '14:00+00'),
	('pg_lsn', '0/1', '1/0', '2/0'), ('xid8', '1', '2', '3'), ('int4range', '[1,5)', 'empty', '[1,6)'), ('tstzrange', '[2026-01-01,)', 'empty', '(,)'),
	('int4multirange', '{[1,5)}', '{}', '{[1,6)}'), ('pair', '(1,a)', '(2,)', '(1,b)'), ('word', 'a', '', 'b'), ('long_word', 'a', '', 'b')
) t (type, built, inserted, absent), check_type(type, built, inserted, absent) c;

-- equal values that are spelled in other ways
CREATE TABLE spelled (n numeric, f float8, i interval, z timestamptz, j jsonb, t timetz);
CREATE INDEX spelled_n ON spelled USING bloomfilter (n) WITH (fpr = 0.000001);
CREATE INDEX spelled_f ON spelled USING bloomfilter (f) WITH (fpr = 0.000001);
CREATE INDEX spelled_i ON spelled USING bloomfilter (i) WITH (fpr = 0.000001);
CREATE INDEX spelled_z ON spelled USING bloomfilter (z) WITH (fpr = 0.000001);
CREATE INDEX spelled_j ON spelled USING bloomfilter (j) WITH (fpr = 0.000001);
INSERT INTO spelled VALUES (1.0, -0.0, '1 mon', '2026-01-31 12:00+00', '{"a": 1.0, "b": 2}');
SELECT bloom_index_contains('spelled_n', 1.000) AS n, bloom_index_contains('spelled_n', 1) AS n_int, bloom_index_contains('spelled_n', '1') AS n_text,
	bloom_index_contains('spelled_n', '1.0') AS not_n, bloom_index_contains('spelled_f', 0) AS f, bloom_index_contains('spelled_i', interval '30 days') AS i,
	bloom_index_contains('spelled_z', timestamptz '2026-01-31 14:00+02') AS z, bloom_index_contains('spelled_z', '2026-01-31T12:00:00Z') AS z_text,
	bloom_index_contains('spelled_j', jsonb '{"b": 2.00, "a": 1}') AS j;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German';
SELECT bloom_index_contains('spelled_z', timestamptz '31.01.2026 21:00') AS z, bloom_index_contains('spelled_z', '2026-01-31T12:00:00Z') AS z_text;
RESET timezone;
RESET datestyle;

-- long values, compressed and out of line
CREATE TABLE long_values (t text, b bytea, j jsonb);
CREATE INDEX long_t ON long_values USING bloomfilter (t) WITH (fpr = 0.000001);
INSERT INTO long_values
	SELECT repeat('x', 100000), convert_to(string_agg(md5(n::text), ''), 'UTF8'), jsonb_agg(md5(n::text)) FROM generate_series(1, 1000) n;
CREATE INDEX long_b ON long_values USING bloomfilter (b) WITH (fpr = 0.000001);
CREATE INDEX long_j ON long_values USING bloomfilter (j) WITH (fpr = 0.000001);
INSERT INTO long_values
	SELECT repeat('y', 100000), convert_to(string_agg(md5(n::text), ''), 'UTF8'), jsonb_agg(md5(n::text)) FROM generate_series(2, 1000) n;
SELECT bloom_index_contains('long_t', t), bloom_index_contains('long_b', b), bloom_index_contains('long_j', j),
	bloom_index_contains('long_t', t || 'x') AS absent FROM long_values;

-- anonymous records: the columns count, not the type's name
CREATE TABLE pairs (p pair);
CREATE INDEX pairs_filter ON pairs USING bloomfilter (p);
INSERT INTO pairs VALUES ((1, 'a'));
SELECT bloom_index_contains('pairs_filter', (1, 'a')::pair);
SELECT bloom_index_contains('pairs_filter', ROW(1, 'a'::text));
SET enable_seqscan = off;
SELECT * FROM pairs WHERE p = ROW(1, 'a'::text);
SELECT * FROM pairs WHERE p = ROW(2, 'a'::text);
RESET enable_seqscan;

----------------------------------------------------------------------------
-- Refused
----------------------------------------------------------------------------

CREATE TABLE refused (e mood, ed moods, a int[], j json, p point, m money, r regclass, c citext, ch "char", x xml, me with_mood, t text, b bpchar, v varchar, er int4range);
CREATE DOMAIN case_blind AS citext;
ALTER TABLE refused ADD cd case_blind;
CREATE INDEX ON refused USING bloomfilter (e);
CREATE INDEX ON refused USING bloomfilter (ed);
CREATE INDEX ON refused USING bloomfilter (a);
CREATE INDEX ON refused USING bloomfilter (j);
CREATE INDEX ON refused USING bloomfilter (p);
CREATE INDEX ON refused USING bloomfilter (m);
CREATE INDEX ON refused USING bloomfilter (ch);
CREATE INDEX ON refused USING bloomfilter (x);
-- (the server since 17 hides the search_path from what builds an index, and then
-- schemas are in the messages)
CREATE FUNCTION refusal(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
BEGIN
	EXECUTE 'CREATE INDEX ON refused ' || definition;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN regexp_replace(message, '(public|test_index_types)\.', '', 'g') || E'\n' || hint;
END $$;
\t on
\a
-- these look like text, oid or record to the server
SELECT refusal('USING bloomfilter (c)');
SELECT refusal('USING bloomfilter (c text_ops)');
SELECT refusal('USING bloomfilter (cd)');
SELECT refusal('USING bloomfilter (cd text_ops)');
SELECT refusal('USING bloomfilter ((c::text))');
SELECT refusal('USING bloomfilter ((cd::text::varchar))');
SELECT refusal('USING bloomfilter (r)');
SELECT refusal('USING bloomfilter (me)');
SELECT refusal('USING bloomfilter (t bpchar_ops)');
SELECT refusal('USING bloomfilter (v bpchar_ops)');
-- an operator class of one's own does not help
CREATE OPERATOR CLASS mood_ops FOR TYPE mood USING bloomfilter AS OPERATOR 1 = (anyenum, anyenum);
CREATE OPERATOR CLASS enum_ops FOR TYPE anyenum USING bloomfilter AS OPERATOR 1 = (anyenum, anyenum);
SELECT refusal('USING bloomfilter (e enum_ops)');
CREATE DOMAIN short_word AS text CHECK (length(VALUE) < 100);
SELECT refusal('USING bloomfilter ((c::short_word))');
SELECT refusal('USING bloomfilter ((c::bpchar))');
CREATE OPERATOR CLASS array_ops FOR TYPE anyarray USING bloomfilter AS OPERATOR 1 = (anyarray, anyarray);
SELECT refusal('USING bloomfilter (a array_ops)');
CREATE OPERATOR CLASS citext_ops FOR TYPE citext USING bloomfilter AS OPERATOR 1 = (citext, citext);
SELECT refusal('USING bloomfilter (c citext_ops)');
\a
\t off
-- nor is citext a key of an index on text
CREATE INDEX refused_t ON refused USING bloomfilter (t);
SELECT bloom_index_contains('refused_t', 'ABC'::citext);
SELECT bloom_index_contains_each('refused_t', '{ABC}'::citext[]);
-- but what the hint says is right
CREATE INDEX refused_c ON refused USING bloomfilter (lower(c::text));
INSERT INTO refused (c) VALUES ('ABC');
SELECT bloom_index_contains('refused_c', lower('aBc'::citext::text));

-- collations
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE collated (t text COLLATE blind, c text COLLATE "C");
CREATE INDEX ON collated USING bloomfilter (t);
CREATE INDEX ON collated USING bloomfilter (c COLLATE blind);
CREATE INDEX collated_t ON collated USING bloomfilter (t COLLATE "C");
CREATE INDEX collated_c ON collated USING bloomfilter (c);
INSERT INTO collated VALUES ('A', 'A');
SELECT bloom_index_contains('collated_t', 'A'), bloom_index_contains('collated_c', 'A'), bloom_index_contains('collated_c', 'A' COLLATE "C");
SELECT bloom_index_contains('collated_c', 'A' COLLATE blind);
-- a query by the column's own collation does not go through the other one
SET enable_seqscan = off;
SELECT t FROM collated WHERE t = 'a';
SELECT t FROM collated WHERE t COLLATE "C" = 'a';
RESET enable_seqscan;

SET client_min_messages = warning;
DROP SCHEMA test_index_types CASCADE;
