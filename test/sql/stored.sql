-- Probes of stored filters: by chunk, then by the whole filter that a call site
-- keeps.  Both must answer as the same filter in memory does, and what is kept
-- must never be taken for another row's filter.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_stored;
SET search_path = test_stored, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- Filter i holds the keys i * 1000 .. i * 1000 + 199 and nothing else; each has
-- about 120 kB, that is 60 chunks.
CREATE TABLE stored (i int PRIMARY KEY, f bloom);
INSERT INTO stored
	SELECT i, bloom_agg(i * 1000 + x, 100000, 0.01)
	FROM generate_series(1, 12) i, generate_series(0, 199) x GROUP BY i;
SELECT count(*), min(pg_column_size(f)) > 100000 AS out_of_line FROM stored;

-- one probe of each: present and absent keys, by chunks only
SELECT count(*) FILTER (WHERE f @> (i * 1000 + 7)) AS present,
	count(*) FILTER (WHERE f @> (i * 1000 + 500)) AS absent,
	count(*) FILTER (WHERE (i * 1000 + 7) <@ f) AS present_commuted
FROM stored;

-- every key of every filter against every filter, both loop orders: more
-- filters than a call site keeps
CREATE TABLE probes AS
	SELECT x AS k, x / 1000 AS owner FROM generate_series(1000, 12999) x WHERE x % 1000 < 400;
ANALYZE probes;
SET enable_material = off;
SELECT owner = i AS own, k % 1000 < 200 AS added, count(*) FILTER (WHERE f @> k) AS found, count(*)
FROM stored CROSS JOIN probes GROUP BY 1, 2 ORDER BY 1, 2;
SELECT owner = i AS own, k % 1000 < 200 AS added, count(*) FILTER (WHERE f @> k) AS found, count(*)
FROM (SELECT * FROM probes ORDER BY k) p, LATERAL (SELECT * FROM stored ORDER BY i OFFSET 0) s GROUP BY 1, 2 ORDER BY 1, 2;
SET work_mem = '64kB';
SELECT owner = i AS own, k % 1000 < 200 AS added, count(*) FILTER (WHERE f @> k) AS found, count(*)
FROM (SELECT * FROM probes ORDER BY k) p, LATERAL (SELECT * FROM stored ORDER BY i OFFSET 0) s GROUP BY 1, 2 ORDER BY 1, 2;
RESET work_mem;
RESET enable_material;

-- a filter from a subquery, probed often enough to be fetched as a whole
SELECT count(*) FROM probes WHERE (SELECT f FROM stored WHERE i = 3) @> k;

-- in PL/pgSQL one expression sees another filter in each round, and a changed
-- one after each update of the same row in one transaction
CREATE FUNCTION rounds(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v bloom;
	wrong int := 0;
BEGIN
	FOR turn IN 1 .. 3 LOOP
		FOR n IN 1 .. 12 LOOP
			SELECT f INTO v FROM stored WHERE i = n;
			FOR x IN 0 .. 99 LOOP
				IF NOT v @> (n * 1000 + x) THEN wrong := wrong + 1; END IF;
				IF v @> (n * 1000 + 500 + x) THEN wrong := wrong + 1; END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	FOR x IN 1 .. 50 LOOP
		UPDATE stored SET f = bloom_add(f, name || x) WHERE i = 1;
		SELECT f INTO v FROM stored WHERE i = 1;
		IF NOT v @> (name || x) THEN wrong := wrong + 1; END IF;
		IF v @> (name || (x + 1)) THEN wrong := wrong + 1; END IF;
	END LOOP;
	RETURN wrong || ' wrong answers';
END $$;
SELECT rounds('first ');
-- again: what the expressions of the first call kept must not matter
SELECT rounds('second ');

-- recursion: each level has a filter of its own in the same expression
CREATE FUNCTION depth(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	v bloom;
	found int := 0;
BEGIN
	SELECT f INTO v FROM stored WHERE i = n;
	FOR x IN 0 .. 199 LOOP
		IF v @> (n * 1000 + x) THEN found := found + 1; END IF;
		IF x = 100 AND n > 2 THEN found := found + depth(n - 1); END IF;
	END LOOP;
	RETURN found;
END $$;
SELECT depth(12) AS found, 11 * 200 AS added;

-- an error half-way, and a subtransaction that is rolled back
DO $$
DECLARE
	v bloom;
	good int := 0;
BEGIN
	FOR turn IN 1 .. 20 LOOP
		BEGIN
			UPDATE stored SET f = bloom_add(f, 'rolled back ' || turn) WHERE i = 2;
			SELECT f INTO v FROM stored WHERE i = 2;
			IF v @> ('rolled back ' || turn) THEN good := good + 1; END IF;
			PERFORM 1 / 0;
		EXCEPTION WHEN division_by_zero THEN
			SELECT f INTO v FROM stored WHERE i = 2;
			IF NOT v @> ('rolled back ' || turn) THEN good := good + 1; END IF;
		END;
	END LOOP;
	RAISE NOTICE '% of 40 right', good;
END $$;

-- cursors: two over one filter each, read in turn, one held over a commit
BEGIN;
DECLARE one CURSOR FOR SELECT k FROM probes WHERE (SELECT f FROM stored WHERE i = 4) @> k ORDER BY k;
DECLARE two CURSOR WITH HOLD FOR SELECT k FROM probes WHERE (SELECT f FROM stored WHERE i = 5) @> k ORDER BY k;
FETCH 2 FROM one;
FETCH 2 FROM two;
UPDATE stored SET f = bloom_clear(f) WHERE i IN (4, 5);
FETCH 2 FROM one;
FETCH 2 FROM two;
COMMIT;
FETCH 2 FROM two;
CLOSE two;
SELECT count(*) FILTER (WHERE f @> (i * 1000 + 1)) AS left_after_clear FROM stored WHERE i IN (4, 5);

-- what is kept is released with the query, and with PL/pgSQL's transaction
BEGIN;
DECLARE keeping CURSOR FOR SELECT k FROM probes WHERE (SELECT f FROM stored WHERE i = 7) @> k ORDER BY k + 0;
FETCH 1 FROM keeping;
SELECT count(*) > 0 AS kept FROM pg_backend_memory_contexts WHERE name = 'bloomfilter kept filters';
CLOSE keeping;
SELECT count(*) AS kept FROM pg_backend_memory_contexts WHERE name = 'bloomfilter kept filters';
COMMIT;
SELECT depth(12) AS found;
SELECT count(*) AS kept FROM pg_backend_memory_contexts WHERE name = 'bloomfilter kept filters';

-- the other ways to store a value: compressed out of line and inline, inline
CREATE TABLE ways (way text, f bloom);
ALTER TABLE ways ALTER f SET STORAGE extended;
INSERT INTO ways SELECT 'compressed', bloom_add_all(bloom_create(100000), array_agg(x)) FROM generate_series(1, 30000) x;
INSERT INTO ways SELECT 'compressed inline', bloom_add_all(bloom_create(5000), ARRAY[1, 2]);
ALTER TABLE ways ALTER f SET STORAGE main;
INSERT INTO ways SELECT 'inline', bloom_add_all(bloom_create(100), ARRAY[1, 2]);
INSERT INTO ways SELECT 'short', bloom_add_all(bloom_create(1), ARRAY[1, 2]);
ALTER TABLE ways ALTER f SET STORAGE external;
INSERT INTO ways SELECT 'out of line', bloom_add_all(bloom_create(100000), ARRAY[1, 2]);
SELECT way, pg_column_size(f) < (bloom_info(f)).size_bytes AS smaller,
	f @> 1 AS one, f @> 2 AS two, f @> 1000003 AS absent, bloom_contains_each(f, ARRAY[1, 1000003, 2])
FROM ways ORDER BY way;

-- counting and scalable filters, also by chunk, with layers beyond the first
CREATE TABLE others (c counting_bloom, c8 counting_bloom, s scalable_bloom);
INSERT INTO others SELECT
	bloom_add_all(counting_bloom_create(100000), array_agg(x)),
	bloom_add_all(counting_bloom_create(100000, 0.01, 8), array_agg(x)),
	bloom_add_all(scalable_bloom_create(1000), array_agg(x))
FROM generate_series(1, 50000) x;
SELECT (bloom_info(s)).layers > 4 AS layers FROM others;
CREATE FUNCTION one_probe(column_name text, k int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format('SELECT %I @> %s FROM others', column_name, k) INTO result;
	RETURN result;
END $$;
-- a statement each, so that every probe begins anew; at 1% of 1,000 absent keys
-- no more than 10 + 5 * sqrt(10) are expected
SELECT name, count(*) FILTER (WHERE k <= 50000 AND one_probe(name, k)) AS present,
	count(*) FILTER (WHERE k > 50000 AND one_probe(name, k)) <= 26 AS few_absent
FROM unnest(ARRAY['c', 'c8', 's']) name, (SELECT x * 50 AS k FROM generate_series(1, 2000) x) keys
GROUP BY name ORDER BY name;
SELECT count(*) FILTER (WHERE c @> x) AS c, count(*) FILTER (WHERE c8 @> x) AS c8, count(*) FILTER (WHERE s @> x) AS s,
	sum(bloom_key_count(c, x)) >= 50000 AS counted
FROM others, generate_series(1, 50000) x;

-- a value whose chunks do not lie one behind the other: it fills what others left
CREATE TABLE holes (i int, f bloom);
INSERT INTO holes SELECT i, bloom_create(5000 + i % 7 * 500) FROM generate_series(1, 60) i;
DELETE FROM holes WHERE i % 3 <> 0;
VACUUM holes;
INSERT INTO holes SELECT 0, bloom_agg(x, 60000, 0.01) FROM generate_series(1, 30000) x;
CREATE FUNCTION probe_hole(k int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format('SELECT f @> %s FROM holes WHERE i = 0', k) INTO result;
	RETURN result;
END $$;
SELECT count(*) FILTER (WHERE probe_hole(k)) AS present, count(*) FILTER (WHERE probe_hole(k) <> bloom_contains((SELECT f | f FROM holes WHERE i = 0), k)) AS wrong,
	count(*) FILTER (WHERE probe_hole(k + 1000000) <> bloom_contains((SELECT f | f FROM holes WHERE i = 0), k + 1000000)) AS wrong_absent
FROM generate_series(1, 1000) k;

-- the info functions read only the head
SELECT bloom_bits(f) = (bloom_info(f)).bits AS bits, bloom_fill(f) > 0 AS fill FROM stored WHERE i = 6;

-- small groups have small states: 20,000 of 5 keys in one hash aggregate stay
-- below 64 MB, all told
CREATE FUNCTION hash_aggregate_kb() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT x / 5, bloom_agg(x) FROM generate_series(0, 99999) x GROUP BY 1'
	LOOP
		IF line ~ 'Memory Usage' THEN
			RETURN substring(line FROM 'Memory Usage: (\d+)kB');
		END IF;
	END LOOP;
END $$;
SET work_mem = '1GB';
SET enable_sort = off;
SELECT hash_aggregate_kb() BETWEEN 1 AND 64 * 1024 AS small;

SET client_min_messages = warning;
DROP SCHEMA test_stored CASCADE;
