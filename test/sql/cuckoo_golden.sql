-- cuckoo_filter with fingerprints of 8 bits is RedisBloom's filter, bit for bit:
-- compared with what CF.RESERVE, CF.ADD, CF.DEL, CF.SCANDUMP, CF.INFO, CF.EXISTS
-- and CF.COUNT of a RedisBloom answered, recorded in data/redisbloom-cuckoo.json.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_cuckoo_golden;
SET search_path = test_cuckoo_golden, public;

\set recorded `cat "$PG_ABS_SRCDIR/data/redisbloom-cuckoo.json"`
-- CF.RESERVE key capacity [BUCKETSIZE size] [EXPANSION rate]; "added" is a list or
-- a range like k0..k39.
CREATE TABLE recorded AS
SELECT f ->> 'name' AS name, f AS filter, (f #>> '{reserve,0}')::bigint AS capacity,
	coalesce((SELECT f #>> ARRAY['reserve', i::text] FROM generate_series(2, 4, 2) AS i WHERE f #>> ARRAY['reserve', (i - 1)::text] = 'BUCKETSIZE'), '2')::integer AS bucket_size,
	coalesce((SELECT f #>> ARRAY['reserve', i::text] FROM generate_series(2, 4, 2) AS i WHERE f #>> ARRAY['reserve', (i - 1)::text] = 'EXPANSION'), '1')::integer AS expansion,
	CASE json_typeof(f -> 'added') WHEN 'array' THEN ARRAY(SELECT json_array_elements_text(f -> 'added'))
		ELSE ARRAY(SELECT 'k' || i FROM generate_series(0, substring(f ->> 'added' FROM '\.\.k(\d+)$')::integer) AS i ORDER BY i) END AS added,
	ARRAY(SELECT json_array_elements_text(f -> 'deleted')) AS deleted
FROM json_array_elements(:'recorded'::json -> 'filters') AS f;
SELECT name, capacity, bucket_size, expansion, cardinality(added) AS added, cardinality(deleted) AS deleted FROM recorded ORDER BY name;

-- Little-endian numbers, as in the header of CF.SCANDUMP: u64 items, buckets,
-- deletes, filters; u16 bucket size, iterations, expansion.
CREATE FUNCTION number(bytes bytea, start integer, length integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT sum(get_byte(bytes, start + i)::bigint << (8 * i)) FROM generate_series(0, length - 1) AS i
$$;
CREATE TABLE headers AS
SELECT name, length(h) AS length, number(h, 0, 8) AS items, number(h, 8, 8) AS buckets, number(h, 16, 8) AS deletes, number(h, 24, 8) AS filters,
	number(h, 32, 2) AS bucket_size, number(h, 34, 2) AS iterations, number(h, 36, 2) AS expansion
FROM recorded, decode(filter #>> '{scandump,0,1}', 'base64') AS h;
SELECT * FROM headers ORDER BY name;
CREATE TABLE chunks AS
SELECT name, n, (chunk ->> 0)::bigint AS iterator, decode(chunk ->> 1, 'base64') AS data
FROM recorded, json_array_elements(filter -> 'scandump') WITH ORDINALITY AS c (chunk, n) WHERE n > 1;

--
-- Ours: key by key, in one array
--

CREATE TABLE ours (name text, how text, f cuckoo_filter);
DO $$
DECLARE
	r recorded;
	f cuckoo_filter;
	item text;
BEGIN
	FOR r IN SELECT * FROM recorded LOOP
		f := cuckoo_create(r.capacity, r.bucket_size, expansion => r.expansion);
		FOREACH item IN ARRAY r.added LOOP
			f := cuckoo_add(f, item);
		END LOOP;
		FOREACH item IN ARRAY r.deleted LOOP
			f := cuckoo_remove(f, item);
		END LOOP;
		INSERT INTO ours VALUES (r.name, 'one by one', f);
	END LOOP;
END $$;
INSERT INTO ours
SELECT name, 'array', cuckoo_remove_all(cuckoo_add_all(cuckoo_create(capacity, bucket_size, expansion => expansion), added), deleted) FROM recorded;

-- Every byte of every sub-filter: behind 60 bytes of header they follow each
-- other, and an iterator tells where its chunk ends.
SELECT name, how, length(f::bytea) - 60 AS bytes, chunks, substr(f::bytea, 61) = whole AS identical,
	(SELECT bool_and(substr(f::bytea, 61 + (iterator - 1)::integer - length(data), length(data)) = data) FROM chunks AS c WHERE c.name = o.name) AS each_in_its_place
FROM ours AS o JOIN (SELECT name, count(*) AS chunks, string_agg(data, ''::bytea ORDER BY n) AS whole FROM chunks GROUP BY name) AS w USING (name) ORDER BY name, how;

-- The figures, of the dump and of CF.INFO.  CF.INFO's size counts its own memory.
SELECT name, how, i.buckets = h.buckets AND i.buckets = (c ->> 'Number of buckets')::bigint AS buckets,
	i.sub_filters = h.filters AND i.sub_filters = (c ->> 'Number of filters')::integer AS filters,
	i.keys = h.items AND i.keys = (c ->> 'Number of items inserted')::bigint AND i.keys = cuckoo_count(f) AS items,
	i.removed = h.deletes AND i.removed = (c ->> 'Number of items deleted')::bigint AS deleted,
	i.bucket_size = h.bucket_size AND i.bucket_size = (c ->> 'Bucket size')::integer AS bucket_size,
	i.expansion = h.expansion AND i.expansion = (c ->> 'Expansion rate')::integer AS expansion,
	i.max_iterations = h.iterations AND i.max_iterations = (c ->> 'Max iterations')::integer AS iterations
FROM ours JOIN headers AS h USING (name) JOIN recorded USING (name), cuckoo_info(f) AS i, LATERAL (SELECT filter -> 'info' AS c) AS s ORDER BY name, how;

-- The answers
SELECT name, how, count(*) AS asked, count(*) FILTER (WHERE answer::text::integer = 1) AS present, count(*) FILTER (WHERE f @> item <> (answer::text::integer = 1)) AS different
FROM ours JOIN recorded USING (name), json_each(filter -> 'exists') AS e (item, answer) GROUP BY name, how ORDER BY name, how;
SELECT name, how, count(*) AS asked, count(*) FILTER (WHERE cuckoo_key_count(f, item) <> answer::text::integer) AS different, max(cuckoo_key_count(f, item)) AS greatest
FROM ours JOIN recorded USING (name), json_each(filter -> 'count') AS e (item, answer) GROUP BY name, how ORDER BY name, how;
