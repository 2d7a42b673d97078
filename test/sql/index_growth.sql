-- A bloomfilter index grows with its table and keeps its rate.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_index_growth;
SET search_path = test_index_growth, public;

----------------------------------------------------------------------------
-- What blocking by page costs
----------------------------------------------------------------------------

-- A layer of 100,000 keys against one classic filter of as many bits, hashes
-- and keys.  Its first layer is for half the rate, with 7 hashes.  By the formula
-- in index_page.c it is worse by k (k - 2) ln(2)^2 / (2 c) = 0.15% with c = 5,400
-- keys a page; that is of page loads by chance, whose variance over 19 pages
-- scatters by a factor of 1 +- sqrt(2 / 18), so 1% is more than 15 deviations off.
CREATE TABLE blocked AS SELECT n AS id FROM generate_series(1, 100000) n;
CREATE INDEX blocked_filter ON blocked USING bloomfilter (id) WITH (fpr = 0.01);
SELECT layers, estimated_count BETWEEN 99700 AND 100300 AS all_keys,
	estimated_fpr / bloom_expected_fpr((pages - 1) * 65280, 7, estimated_count::bigint) BETWEEN 0.999 AND 1.01 AS loss_below_1_percent
FROM bloom_index_info('blocked_filter');
-- and that is what is measured: of 300,000 absent keys the share that passes is
-- within five standard deviations of what the bits say
SELECT passed BETWEEN expected - 5 * sqrt(expected) AND expected + 5 * sqrt(expected) AS as_measured
FROM (SELECT 300000 * estimated_fpr AS expected FROM bloom_index_info('blocked_filter')) e,
	(SELECT count(*) AS passed FROM generate_series(1000001, 1300000) n WHERE bloom_index_contains('blocked_filter', n)) p;

-- space right after the build, headroom and metapage included
SELECT pg_relation_size('blocked_filter') <= 1.5 * (bloom_info(bloom_agg(id))).size_bytes AS size_within_1_5,
	pg_relation_size('blocked_filter') = size_bytes AND size_bytes = pages * 8192 AS size_told
FROM blocked, bloom_index_info('blocked_filter') GROUP BY size_bytes, pages;

-- a rate of a millionth is kept, too: positions in a page are independent
CREATE INDEX blocked_strict ON blocked USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT count(*) <= 4 AS strict FROM generate_series(1000001, 1300000) n WHERE bloom_index_contains('blocked_strict', n);

----------------------------------------------------------------------------
-- Growth through five layers
----------------------------------------------------------------------------

CREATE TABLE grown (id int);
CREATE INDEX grown_filter ON grown USING bloomfilter (id) WITH (fpr = 0.01, capacity = 5800);
CREATE FUNCTION grow(up_to int, OUT layers int, OUT missing bigint, OUT rate_kept bool, OUT measured_kept bool) LANGUAGE plpgsql AS $$
DECLARE
	measured int;
	info record;
BEGIN
	INSERT INTO grown SELECT generate_series(coalesce((SELECT max(id) FROM grown), 0) + 1, up_to);
	SELECT * INTO info FROM bloom_index_info('grown_filter');
	layers := info.layers;
	SELECT count(*) INTO missing FROM grown WHERE NOT bloom_index_contains('grown_filter', id);
	-- the bound of all layers; 0.01 is that of ever so many full ones
	rate_kept := info.estimated_fpr < 0.01;
	-- of 100,000 keys 1,000 +- 32 pass at a rate of 0.01
	SELECT count(*) INTO measured FROM generate_series(1000001, 1100000) n WHERE bloom_index_contains('grown_filter', n);
	measured_kept := measured < 1160;
END $$;
SELECT up_to, g.* FROM (VALUES (5800), (17000), (40000), (87000), (150000)) v (up_to), grow(up_to) g ORDER BY up_to;
-- each layer is for twice the keys at half the rate, in whole pages
SELECT layers, capacity, pages, estimated_count BETWEEN 147000 AND 150500 AS keys FROM bloom_index_info('grown_filter');
-- its metapage is a page header of 24 bytes, 48 of its own, 32 for each layer, and
-- zeros up to the special space: nothing of a session's memory goes to the file
CHECKPOINT;
SELECT layers, pg_read_binary_file(pg_relation_filepath('grown_filter'), used, 8176 - used) =
	decode(repeat('00', 8176 - used), 'hex') AS rest_is_zero
FROM bloom_index_info('grown_filter'), LATERAL (SELECT 24 + 48 + 32 * layers AS used) u;

-- keys that are there already write nothing and make nothing grow
SELECT pages, fill, estimated_count FROM bloom_index_info('grown_filter') \gset
INSERT INTO grown SELECT id FROM grown;
SELECT pages = :pages AND fill = :fill AS unchanged FROM bloom_index_info('grown_filter');

-- new keys that an older layer takes for its own are counted, too: here up to 44%
CREATE TABLE loose (id int);
CREATE INDEX loose_filter ON loose USING bloomfilter (id) WITH (capacity = 20000, fpr = 0.5);
INSERT INTO loose SELECT generate_series(1, 200000);
SELECT layers > 1 AS grown, estimated_count BETWEEN 196000 AND 204000 AS all_counted FROM bloom_index_info('loose_filter');

-- keys that collide whatever the seed (blocks that differ in the highest bit once
-- they are mixed, twice in a row): they are one key, and fill no page
CREATE TABLE colliding (k bytea);
CREATE INDEX colliding_filter ON colliding USING bloomfilter (k) WITH (capacity = 100, fpr = 0.000001);
INSERT INTO colliding SELECT (SELECT string_agg(CASE n >> i & 1 WHEN 0 THEN '\x68676665646362616867666564636261'::bytea ELSE '\x6867a94bc97dbad26867a94bc97dbad2' END, '' ORDER BY i) FROM generate_series(0, 13) i)
FROM generate_series(0, 16383) n;
SELECT count(DISTINCT k) AS keys, count(*) FILTER (WHERE NOT bloom_index_contains('colliding_filter', k)) AS missing FROM colliding;
SELECT layers, pages, round(estimated_count) AS counted, bloom_index_contains('colliding_filter', '\x00'::bytea) AS other FROM bloom_index_info('colliding_filter');
REINDEX INDEX colliding_filter;
SELECT layers, pages, round(estimated_count) AS counted FROM bloom_index_info('colliding_filter');

-- REINDEX makes one layer of them
REINDEX INDEX grown_filter;
SELECT layers, estimated_count BETWEEN 149500 AND 150500 AS keys, estimated_fpr < 0.005 AS rate_kept FROM bloom_index_info('grown_filter');
SELECT count(*) AS missing FROM grown WHERE NOT bloom_index_contains('grown_filter', id);

-- growth = 16
CREATE TABLE fast (id int);
CREATE INDEX fast_filter ON fast USING bloomfilter (id) WITH (capacity = 5800, growth = 16);
INSERT INTO fast SELECT generate_series(1, 20000);
SELECT layers, capacity, pages FROM bloom_index_info('fast_filter');
SELECT count(*) AS missing FROM fast WHERE NOT bloom_index_contains('fast_filter', id);

-- growth in one transaction that is rolled back: the layers stay, the next ones use them
CREATE TABLE aborted (id int);
CREATE INDEX aborted_filter ON aborted USING bloomfilter (id) WITH (capacity = 5800);
BEGIN;
INSERT INTO aborted SELECT generate_series(1, 20000);
ROLLBACK;
SELECT layers FROM bloom_index_info('aborted_filter');
INSERT INTO aborted SELECT generate_series(1, 20000);
SELECT layers FROM bloom_index_info('aborted_filter');

----------------------------------------------------------------------------
-- Builds larger than maintenance_work_mem
----------------------------------------------------------------------------

SET maintenance_work_mem = '1MB';
CREATE TABLE large AS SELECT n AS id FROM generate_series(1, 500000) n;
CREATE INDEX large_filter ON large USING bloomfilter (id);
RESET maintenance_work_mem;
SELECT layers, estimated_count BETWEEN 499000 AND 501000 AS all_keys, pg_relation_size('large_filter') <= 1.5 * 599112 AS size_within_1_5
FROM bloom_index_info('large_filter');
SELECT count(*) AS missing FROM large WHERE NOT bloom_index_contains('large_filter', id);

-- sized for the distinct keys
CREATE TABLE repeated AS SELECT n % 1000 AS id FROM generate_series(1, 200000) n;
CREATE INDEX repeated_filter ON repeated USING bloomfilter (id);
SELECT layers, pages FROM bloom_index_info('repeated_filter');

SET client_min_messages = warning;
DROP SCHEMA test_index_growth CASCADE;
