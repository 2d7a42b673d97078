-- scalable_bloom is RedisBloom's chain, bit for bit, when growth and tightening
-- are RedisBloom's: compared with what BF.RESERVE, BF.ADD, BF.SCANDUMP, BF.INFO
-- and BF.EXISTS of a RedisBloom answered, recorded in data/redisbloom.json.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_scalable_golden;
SET search_path = test_scalable_golden, public;

\set recorded `cat "$PG_ABS_SRCDIR/data/redisbloom.json"`
CREATE TABLE recorded AS
SELECT f ->> 'name' AS name, f AS filter,
	-- BF.RESERVE key error capacity [EXPANSION growth]
	(f #>> '{reserve,0}')::float8 AS error, (f #>> '{reserve,1}')::bigint AS capacity, coalesce((f #>> '{reserve,3}')::integer, 2) AS growth,
	ARRAY(SELECT regexp_replace(f #>> '{items_rule,first}', '\d+$', '') || i
		FROM generate_series(1, (f #>> '{items_rule,count}')::integer) AS i ORDER BY i) AS items
FROM json_array_elements(:'recorded'::json -> 'filters') AS f
WHERE f ->> 'name' LIKE 'chain%';
SELECT name, error, capacity, growth, cardinality(items) AS items, items[1] = filter #>> '{items_rule,first}' AS first,
	items[cardinality(items)] = filter #>> '{items_rule,last}' AS last
FROM recorded ORDER BY name;

-- Little-endian numbers, as in the header of BF.SCANDUMP.
CREATE FUNCTION reversed(bytes bytea, start integer, length integer) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT decode(string_agg(lpad(to_hex(get_byte(bytes, start + i)), 2, '0'), '' ORDER BY i DESC), 'hex') FROM generate_series(0, length - 1) AS i
$$;
CREATE FUNCTION number(bytes bytea, start integer, length integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || lpad(encode(reversed(bytes, start, length), 'hex'), 16, '0'))::bit(64)::bigint
$$;

-- The first chunk: u64 items, u32 links, u32 options, u32 growth; for each link
-- u64 bytes, u64 bits, u64 items, f64 error, f64 bits per entry, u32 hashes,
-- u64 entries, u8 n2.
CREATE TABLE headers AS
SELECT name, h AS header, number(h, 0, 8) AS items, number(h, 8, 4) AS links, number(h, 12, 4) AS options, number(h, 16, 4) AS growth
FROM recorded, decode(filter #>> '{scandump,0,1}', 'base64') AS h;
SELECT name, items, links, options, growth, length(header) = 20 + 53 * links AS whole FROM headers ORDER BY name;
CREATE TABLE links AS
SELECT name, link, number(header, at, 8) AS bytes, number(header, at + 8, 8) AS bits, number(header, at + 16, 8) AS items,
	reversed(header, at + 24, 8) AS error, number(header, at + 40, 4) AS hashes, number(header, at + 44, 8) AS entries,
	decode(filter #>> ARRAY['scandump', link::text, '1'], 'base64') AS data,
	(filter #>> ARRAY['scandump', link::text, '0'])::bigint AS iterator
FROM headers JOIN recorded USING (name), generate_series(1, links::integer) AS link, LATERAL (SELECT 20 + 53 * (link - 1) AS at) AS a;
-- each chunk is the bits of one link: this is what the comparison below rests on
SELECT name, count(*) AS links, bool_and(length(data) = bytes AND bits = bytes * 8) AS one_chunk_each,
	bool_and(iterator = 1 + sum_bytes) AS in_this_order, max(chunks) AS chunks
FROM (SELECT l.*, sum(bytes) OVER (PARTITION BY name ORDER BY link) AS sum_bytes, json_array_length(filter -> 'scandump') AS chunks
	FROM links AS l JOIN recorded USING (name)) AS s
GROUP BY name ORDER BY name;

--
-- Ours: item by item, in one array, and by the aggregate
--

CREATE TABLE ours (name text, how text, f scalable_bloom, newly_added integer);

-- BF.ADD answers 1 for an item that it did not find.
DO $$
DECLARE
	r recorded;
	f scalable_bloom;
	item text;
	newly_added integer;
BEGIN
	FOR r IN SELECT * FROM recorded LOOP
		f := scalable_bloom_create(r.capacity, r.error, r.growth);
		newly_added := 0;
		FOREACH item IN ARRAY r.items LOOP
			newly_added := newly_added + (NOT f @> item)::integer;
			f := bloom_add(f, item);
		END LOOP;
		INSERT INTO ours VALUES (r.name, 'one by one', f, newly_added);
	END LOOP;
END $$;
INSERT INTO ours SELECT name, 'array', bloom_add_all(scalable_bloom_create(capacity, error, growth), items) FROM recorded;
INSERT INTO ours
SELECT name, 'aggregate', (SELECT scalable_bloom_agg(item, capacity, error ORDER BY n) FROM unnest(items) WITH ORDINALITY AS i (item, n))
FROM recorded WHERE growth = 2;	-- what the aggregate makes

SELECT o.name, how, o.newly_added, o.newly_added = (r.filter ->> 'newly_added')::integer AS newly_added_same
FROM ours AS o JOIN recorded AS r USING (name) WHERE how = 'one by one' ORDER BY o.name;

-- Every field of every link; the rate to the last bit.  In the portable form the
-- layers' bits follow 60 bytes of header and 48 for each layer.
WITH layers AS (
	SELECT name, how, l.*, substr(f::bytea, (61 + 48 * count(*) OVER w + sum(size_bytes) OVER (w ORDER BY layer) - size_bytes)::integer, size_bytes::integer) AS data
	FROM ours, bloom_layers(f) AS l WINDOW w AS (PARTITION BY name, how)
)
SELECT name, how, link, l.size_bytes = k.bytes AND l.bits = k.bits AS bits, l.keys = k.items AS items, float8send(l.target_fpr) = k.error AS error,
	l.hashes = k.hashes AS hashes, l.capacity = k.entries AS entries, l.data = k.data AS data,
	l.bits_set = (SELECT length(replace(b::text, '0', '')) FROM CAST('x' || encode(k.data, 'hex') AS varbit) AS b) AS bits_set
FROM layers AS l JOIN links AS k USING (name) WHERE l.layer = k.link ORDER BY name, how, link;
SELECT name, how, i.layers = h.links AS layers, i.growth = h.growth AS growth, i.layers = (filter #>> '{info,Number of filters}')::integer AS filters,
	i.capacity, i.capacity = (filter #>> '{info,Capacity}')::bigint AND i.capacity = (SELECT sum(entries) FROM links AS l WHERE l.name = o.name) AS capacity_same,
	(SELECT sum(keys) FROM bloom_layers(f)) = h.items AND h.items = (filter #>> '{info,Number of items inserted}')::bigint AS items_same
FROM ours AS o JOIN recorded AS r USING (name) JOIN headers AS h USING (name), bloom_info(f) AS i ORDER BY name, how;
-- all bits behind the layers' fields, as one
SELECT name, how, substr(f::bytea, 61 + 48 * (bloom_info(f)).layers) = (SELECT string_agg(data, ''::bytea ORDER BY link) FROM links AS l WHERE l.name = o.name) AS identical
FROM ours AS o ORDER BY name, how;

--
-- Answers
--

SELECT name, how, count(*) AS asked, count(*) FILTER (WHERE answer::text::integer = 1) AS present, count(*) FILTER (WHERE f @> item <> (answer::text::integer = 1)) AS different,
	(SELECT bool_and(p) FROM unnest(bloom_contains_each(f, items)) AS p) AS all_items_present
FROM ours JOIN recorded USING (name), json_each(filter -> 'exists') AS e (item, answer)
GROUP BY name, how, f, items ORDER BY name, how;
