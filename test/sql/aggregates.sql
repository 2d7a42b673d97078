-- Aggregates.  What each must be is built once more by functions.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_aggregates;
SET search_path = test_aggregates, public;

----------------------------------------------------------------------------
-- Every form
----------------------------------------------------------------------------

CREATE TABLE key AS SELECT i AS k, i % 3 AS g, CASE WHEN i % 2 = 0 THEN i END AS half FROM generate_series(1, 600) i;
CREATE FUNCTION built(f bloom, keys anyarray) RETURNS bloom LANGUAGE sql AS $$ SELECT bloom_add_all(f, keys) $$;
CREATE TABLE template AS SELECT bloom_add(bloom_create(300, 0.001, 'fnv1a'), 'not copied') AS f;

SELECT bloom_agg(k) = built(bloom_create(600, 0.01), array_agg(k)) AS self_sized,
	bloom_agg(k, 0.001) = built(bloom_create(600, 0.001), array_agg(k)) AS self_sized_with_rate,
	bloom_agg(k, 1000, 0.02) = built(bloom_create(1000, 0.02), array_agg(k)) AS with_capacity,
	bloom_agg(k, f) = built(bloom_create(300, 0.001, 'fnv1a'), array_agg(k)) AS with_template,
	bloom_agg(k, f) @> 'not copied' AS keys_of_template,
	bloom_agg(k) FILTER (WHERE k <= 10) = built(bloom_create(10, 0.01), array_agg(k) FILTER (WHERE k <= 10)) AS filter
FROM key, template GROUP BY f;

-- NULL keys are skipped, nor do they count
SELECT bloom_agg(half) = built(bloom_create(300), array_agg(half)) AS self_sized, bloom_agg(half, 0.001) = built(bloom_create(300, 0.001), array_agg(half)) AS rate,
	bloom_agg(half, 1000, 0.02) = built(bloom_create(1000, 0.02), array_agg(half)) AS capacity, bloom_agg(half, bloom_create(1000)) = built(bloom_create(1000), array_agg(half)) AS template
FROM key;
-- no key gives NULL: because all are NULL, or there is no row; then nobody looks at
-- the parameters either
SELECT bloom_agg(n) IS NULL, bloom_agg(n, 0.001) IS NULL, bloom_agg(n, 1000, 0.01) IS NULL, bloom_agg(n, bloom_create(10)) IS NULL,
	bloom_union_agg(NULL::bloom) IS NULL, bloom_intersect_agg(NULL::bloom) IS NULL, bloom_agg(n, 0, 5) IS NULL AS parameters
FROM (VALUES (NULL::int), (NULL)) v(n);
SELECT bloom_agg(k) IS NULL, bloom_agg(k, 0.001) IS NULL, bloom_agg(k, 1000, 0.01) IS NULL, bloom_agg(k, bloom_create(10)) IS NULL,
	bloom_union_agg(bloom_create(10)) IS NULL, bloom_intersect_agg(bloom_create(10)) IS NULL
FROM key WHERE false;
SELECT g, bloom_agg(half) FILTER (WHERE g = 1) IS NULL AS null FROM key GROUP BY g ORDER BY g;

-- the type of the key does not matter, nor do order and repetition
SELECT bloom_agg(k) = bloom_agg(k::text) AS text, bloom_agg(k) = bloom_agg(k::numeric) AS numeric, bloom_agg(k, 0.1) = bloom_agg(k::float8, 0.1) AS float8,
	bloom_agg(k, 1000, 0.01) = bloom_agg(k::text, 1000, 0.01) AS capacity, bloom_agg(k) = bloom_agg(k ORDER BY k DESC) AS order_by,
	bloom_agg(k) = bloom_agg(DISTINCT k) AS distinct_keys
FROM key;
SELECT bloom_agg(g) = built(bloom_create(3), ARRAY[0, 1, 2]) AS repeated, bloom_agg(DISTINCT g, 10, 0.01) = bloom_agg(g, 10, 0.01) AS distinct_keys,
	bloom_agg(g) = bloom_agg(g || '') AS text
FROM key;
-- sized exactly, from one key to thousands
SELECT n, f = built(bloom_create(n), keys) AS exact
FROM (VALUES (1), (2), (5), (6), (7), (8), (47), (48), (49), (1000), (20000)) v(n),
	LATERAL (SELECT bloom_agg(k) AS f, array_agg(DISTINCT k) AS keys FROM (SELECT i % n AS k FROM generate_series(1, 2 * n) i) k) a;

-- the template may come from a table, where it lies in TOAST
CREATE TABLE large_template AS SELECT bloom_agg(k, bloom_create_with_params(1000003, 5, 'fnv1a')) AS f FROM generate_series(1, 100000) k;
SELECT bloom_agg(k, f) = built(bloom_create_with_params(1000003, 5, 'fnv1a'), array_agg(k)) AS from_toast FROM key, large_template GROUP BY f;
SELECT bloom_agg(k, (SELECT f FROM large_template)) @> 600 AS subquery FROM key;

----------------------------------------------------------------------------
-- Union and intersection
----------------------------------------------------------------------------

CREATE TABLE part AS SELECT g, bloom_agg(k, 1000, 0.01) AS f FROM key GROUP BY g;
INSERT INTO part VALUES (3, NULL);
SELECT bloom_union_agg(f) = (SELECT bloom_agg(k, 1000, 0.01) FROM key) AS union_,
	bloom_union_agg(f) FILTER (WHERE g = 1) = (SELECT bloom_agg(k, 1000, 0.01) FROM key WHERE g = 1) AS of_one,
	bloom_intersect_agg(f) = (SELECT (a.f & b.f) & c.f FROM part a, part b, part c WHERE a.g = 0 AND b.g = 1 AND c.g = 2) AS intersection,
	bloom_intersect_agg(f) FILTER (WHERE g = 1) = (SELECT f FROM part WHERE g = 1) AS intersection_of_one,
	(SELECT bool_and(bloom_union_agg(f) @> k) FROM key) AS holds_all
FROM part;
-- made for different numbers at different rates, but alike: the larger of each
SELECT bloom_capacity(bloom_union_agg(f ORDER BY i)) AS capacity, (bloom_info(bloom_union_agg(f ORDER BY i))).target_fpr AS rate,
	bloom_capacity(bloom_union_agg(f ORDER BY i DESC)) AS capacity2, bloom_capacity(bloom_intersect_agg(f ORDER BY i)) AS capacity3,
	(bloom_info(bloom_intersect_agg(f ORDER BY i DESC))).target_fpr AS rate3
FROM (VALUES (1, bloom_create(5, 0.011)), (2, bloom_create(6, 0.01)), (3, bloom_create(5, 0.01))) v(i, f);

----------------------------------------------------------------------------
-- Groups and windows
----------------------------------------------------------------------------

SELECT g, bloom_agg(k) = built(bloom_create(count(*)), array_agg(k)) AS self_sized, bloom_agg(k, 1000, 0.01) = built(bloom_create(1000), array_agg(k)) AS capacity
FROM key GROUP BY g ORDER BY g;
SELECT g, half IS NULL AS odd, count(*), bloom_agg(k) = built(bloom_create(count(*)), array_agg(k)) AS self_sized,
	bloom_agg(k, 1000, 0.01) = built(bloom_create(1000), array_agg(k)) AS capacity
FROM key GROUP BY ROLLUP (g, half IS NULL) ORDER BY 1, 2, 3;
SELECT count(*) AS groups, bool_and(same) AS same
FROM (SELECT bloom_agg(k) = built(bloom_create(count(*)), array_agg(k)) AND bloom_agg(k, 10, 0.01) = built(bloom_create(10), array_agg(k)) AS same
	  FROM generate_series(1, 20000) k GROUP BY k % 5000) x;
SET enable_hashagg = off;
SELECT count(*) AS groups, bool_and(same) AS same
FROM (SELECT bloom_agg(k) = built(bloom_create(count(*)), array_agg(k)) AND bloom_agg(k, 10, 0.01) = built(bloom_create(10), array_agg(k)) AS same
	  FROM generate_series(1, 20000) k GROUP BY k % 5000) x;
RESET enable_hashagg;
SELECT g FROM key GROUP BY g HAVING bloom_agg(k) @> 5 ORDER BY g;

-- the state goes on after a final function has read it
CREATE FUNCTION prefix(n bigint, f bloom DEFAULT NULL) RETURNS bloom LANGUAGE sql AS $$
	SELECT bloom_add_all(coalesce(f, bloom_create(n)), array_agg(k)) FROM generate_series(1, n) k
$$;
SELECT count(*), bool_and(self_sized = prefix(k)) AS self_sized, bool_and(capacity = prefix(k, bloom_create(1000))) AS capacity,
	bool_and(template = prefix(k, bloom_create(50, 0.01, 'fnv1a'))) AS template
FROM (SELECT k, bloom_agg(k) OVER w AS self_sized, bloom_agg(k, 1000, 0.01) OVER w AS capacity,
		bloom_agg(k, bloom_create(50, 0.01, 'fnv1a')) OVER w AS template
	  FROM key WINDOW w AS (ORDER BY k)) x;
SELECT count(*), bool_and(moving = built(bloom_create(array_length(keys, 1)), keys)) AS moving, bool_and(of_group = built(bloom_create(200), group_keys)) AS of_group
FROM (SELECT bloom_agg(k) OVER w AS moving, array_agg(k) OVER w AS keys, bloom_agg(k) OVER (PARTITION BY g) AS of_group, array_agg(k) OVER (PARTITION BY g) AS group_keys
	  FROM key WINDOW w AS (ORDER BY k ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)) x;
SELECT bool_and(running = prefix(k, bloom_create(1000))) AS running_union
FROM (SELECT k, bloom_union_agg(bloom_add(bloom_create(1000), k)) OVER (ORDER BY k) AS running FROM key WHERE k <= 100) x;
-- keys of large filters wait in batches, integers as such and others as hashes: those
-- that wait are part of the result too
SELECT k, number = prefix(k, bloom_create_with_params(3000000, 7)) AS number, text = prefix(k, bloom_create_with_params(3000000, 7)) AS text,
	fnv1a = prefix(k, bloom_create_with_params(3000000, 7, 'fnv1a')) AS fnv1a, (bloom_info(number)).bits_set = bit_count(substring(number::bytea FROM 61)) AS bits_set
FROM (SELECT k, bloom_agg(k, bloom_create_with_params(3000000, 7)) OVER w AS number, bloom_agg(k::text, bloom_create_with_params(3000000, 7)) OVER w AS text,
		bloom_agg(k, bloom_create_with_params(3000000, 7, 'fnv1a')) OVER w AS fnv1a
	  FROM key WHERE k <= 520 WINDOW w AS (ORDER BY k) OFFSET 0) x
WHERE k IN (1, 2, 255, 256, 257, 511, 512, 513, 520) ORDER BY k;
-- one state, two results
SELECT bloom_agg(k, 1000, 0.01) = bloom_agg(k, 1000, 0.01) AS same, bloom_count(bloom_agg(k)) BETWEEN 580 AND 620 AS count FROM key;

----------------------------------------------------------------------------
-- More keys than work_mem holds
----------------------------------------------------------------------------

-- 300,000 keys take about 6 MB of memory, so with 64 kB they go to a file
CREATE FUNCTION my_temporary_files() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%'
$$;
-- a set-returning function here does not go to a file itself
CREATE VIEW many AS SELECT generate_series(1, 300000) AS k;

SET work_mem = '64kB';
CREATE TABLE spilled AS
SELECT 'keys' AS name, bloom_agg(k) AS f FROM many
UNION ALL SELECT 'rate', bloom_agg(k, 0.001) FROM many
UNION ALL SELECT 'text', bloom_agg('user:' || k) FROM many
-- each key three times, far apart
UNION ALL SELECT 'repeated', bloom_agg(k % 300000 + 1) FROM (SELECT generate_series(1, 900000) AS k) many
-- each key three times in a row
UNION ALL SELECT 'in a row', bloom_agg(k / 3) FROM (SELECT generate_series(3, 900002) AS k) many;
SET work_mem = '64MB';
INSERT INTO spilled SELECT 'in memory', bloom_agg(k) FROM many;

SELECT name, bloom_capacity(f) = 300000 AS exact_capacity, abs(bloom_bits(f) / bloom_bits(bloom_create(300000, (bloom_info(f)).target_fpr))::numeric - 1) < 0.05 AS near_size,
	(bloom_info(f)).bits_set = bit_count(substring(f::bytea FROM 61)) AS bits_set,
	(SELECT count(*) FROM many WHERE NOT CASE name WHEN 'text' THEN f @> ('user:' || k) ELSE f @> k END) AS absent
-- detoasted only once
FROM (SELECT name, f::bytea::bloom AS f FROM spilled OFFSET 0) x ORDER BY name;
-- what it is, the function builds from the same capacity
SELECT name, f = (SELECT bloom_agg(k, capacity, target_fpr) FROM many) AS same
FROM (SELECT name, f, i.* FROM spilled, bloom_info(f) i OFFSET 0) x WHERE name <> 'text' ORDER BY name;

-- the memory of a state, by how much the session's grows from the first key on
CREATE FUNCTION my_memory(key bigint) RETURNS numeric VOLATILE LANGUAGE sql AS $$
	SELECT sum(total_bytes) FROM pg_backend_memory_contexts
$$;
CREATE VIEW memory AS
SELECT bloom_agg(k) IS NOT NULL AS built, max(my_memory(k)) FILTER (WHERE k % 10000 = 0) - max(my_memory(k)) FILTER (WHERE k = 1) AS taken FROM many;
-- in memory, 300,000 pairs of 16 bytes
SELECT built, taken > 4.8e6 AS all_keys FROM memory;
SET work_mem = '1MB';
SELECT built, taken <= 1024 * 1024 AS below_work_mem FROM memory;

-- keys that fit into work_mem are counted exactly, however often they come
SET work_mem = '64kB';
SELECT bloom_agg(k % 1000) = prefix(1000) AS others, bloom_agg(k % 1000 + 1) = prefix(1000) AS exact FROM many;
-- in groups, and in a window
SELECT g, abs(bloom_capacity(f) / 100000.0 - 1) < 0.05 AS near_size, (SELECT count(*) FROM many WHERE k % 3 = g AND NOT f @> k) AS absent
FROM (SELECT k % 3 AS g, bloom_agg(k) AS f FROM many GROUP BY 1) x ORDER BY g;
SELECT k, abs(bloom_capacity(f)::numeric / k - 1) < 0.05 AS near_size, (SELECT count(*) FROM generate_series(1, k) i WHERE NOT f @> i) AS absent
FROM (SELECT k, bloom_agg(k) OVER (ORDER BY k / 20000 RANGE UNBOUNDED PRECEDING) AS f FROM (SELECT generate_series(0, 60000) AS k) x OFFSET 0) x
WHERE k IN (19999, 39999, 59999) ORDER BY k;

-- the file lives as long as the aggregate
BEGIN;
DECLARE c CURSOR FOR SELECT bloom_capacity(bloom_agg(k)) > 0 AS built FROM many;
FETCH c;
SELECT my_temporary_files() > 0 AS file_while_open;
CLOSE c;
SELECT my_temporary_files() AS files_after_close;
-- a savepoint that is rolled back, around the query and in the middle of it
SAVEPOINT s;
DECLARE c CURSOR FOR SELECT bloom_capacity(bloom_agg(k)) > 0 AS built FROM many;
FETCH c;
ROLLBACK TO s;
SELECT my_temporary_files() AS files_after_rollback;
SET LOCAL enable_hashagg = off;
DECLARE c CURSOR FOR SELECT k / 100001 AS g, abs(bloom_capacity(bloom_agg(k)) / 100000.0 - 1) < 0.05 AS near_size FROM many GROUP BY 1 ORDER BY 1;
FETCH c;
SAVEPOINT s;
FETCH c;
ROLLBACK TO s;
FETCH c;
CLOSE c;
SELECT my_temporary_files() AS files_after_close;
COMMIT;
-- a cursor that outlives its transaction
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT abs(bloom_capacity(bloom_agg(k)) / 300000.0 - 1) < 0.05 AS near_size FROM many;
COMMIT;
SELECT my_temporary_files() AS files_after_commit;
FETCH c;
CLOSE c;
-- an error in the middle, caught and not
DO $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		BEGIN
			PERFORM bloom_agg(1 / (200000 - k)) FROM many;
			RAISE 'no error';
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
		PERFORM bloom_agg(k) FROM many;
	END LOOP;
END $$;
SELECT my_temporary_files() AS files_after_caught_error;
SELECT bloom_agg(1000000 / (200000 - k)) FROM many;
SELECT my_temporary_files() AS files_after_error;
-- a query that is not read to its end
SELECT near_size FROM (SELECT k % 3, abs(bloom_capacity(bloom_agg(k)) / 100000.0 - 1) < 0.05 AS near_size FROM many GROUP BY 1) x LIMIT 1;
SELECT my_temporary_files() AS files_at_the_end;

----------------------------------------------------------------------------
-- Large filters, whose positions wait region by region after as many positions
-- as the filter has bits / 32: the bits are those of filters of fewer keys united
----------------------------------------------------------------------------

-- the smallest that has 256 whole regions; one with a part of a region at its
-- end; one whose regions hold less than their share; and one that has none
CREATE FUNCTION whole_is_union_of_parts(bits bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	build text := format('SELECT bloom_agg(k, bloom_create_with_params(%s, 64)) AS f FROM generate_series(1, 200000) k', bits);
	same_bits boolean;
BEGIN
	EXECUTE format('SELECT (%1$s) = (SELECT bloom_union_agg(f) FROM (%1$s GROUP BY k %% 8) parts)', build) INTO same_bits;
	RETURN same_bits;
END $$;
SELECT bits, whole_is_union_of_parts(bits) FROM (VALUES (67000000), (67108864), (70000001), (300000001)) v (bits);
DROP FUNCTION whole_is_union_of_parts;
-- few keys, again and again
SELECT bloom_agg(k % 10, bloom_create_with_params(70000001, 64)) = built(bloom_create_with_params(70000001, 64), ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) AS same_bits
FROM generate_series(1, 200000) k;
CREATE TABLE large_parts AS
SELECT g, bloom_agg(k, bloom_create_with_params(67108864, 32)) AS f
FROM generate_series(1, 240000) k, LATERAL (SELECT k % 6 AS g) g GROUP BY g;
-- the state is read in between and goes on
SELECT k, f = (SELECT bloom_agg(i, bloom_create_with_params(67108864, 32)) FROM generate_series(1, k) i) AS same_bits
FROM (SELECT k, bloom_agg(k, bloom_create_with_params(67108864, 32)) OVER (ORDER BY (k - 1) / 60000) AS f FROM generate_series(1, 240000) k) w
WHERE k % 60000 = 0;
-- states of one process are combined
CREATE TABLE parted (k bigint) PARTITION BY RANGE (k);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (120000);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (120000) TO (MAXVALUE);
INSERT INTO parted SELECT generate_series(1, 240000);
ANALYZE parted;
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT bloom_agg(k, bloom_create_with_params(67108864, 32)) FROM parted;
SELECT bloom_agg(k, bloom_create_with_params(67108864, 32)) = (SELECT bloom_union_agg(f) FROM large_parts) AS same_bits FROM parted;
-- and of several
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT bloom_agg(k, bloom_create_with_params(67108864, 32)) FROM parted_high;
SELECT bloom_agg(k, bloom_create_with_params(67108864, 32)) = (SELECT bloom_union_agg(f) FROM large_parts) AS same_bits FROM parted;
RESET enable_partitionwise_aggregate;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE large_parts, parted;

----------------------------------------------------------------------------
-- Sizing by itself beyond work_mem: whether tables find repetitions or are left
-- out for a while because they found none, no key is missing or counted twice
----------------------------------------------------------------------------

SET work_mem = '64kB';
SELECT name, abs(bloom_capacity(f) / distinct_keys::float8 - 1) < 0.05 AS near_size, (SELECT bool_and(f @> k) FROM generate_series(1, distinct_keys) k) AS holds_all
FROM (
	SELECT 'no repetition' AS name, 300000 AS distinct_keys, bloom_agg(k) AS f FROM generate_series(1, 300000) k
	UNION ALL SELECT 'each key again at once', 150000, bloom_agg((k + 1) / 2) FROM generate_series(1, 300000) k
	UNION ALL SELECT 'each key again much later', 150000, bloom_agg((k - 1) % 150000 + 1) FROM generate_series(1, 300000) k
	UNION ALL SELECT 'few keys after many', 150000, bloom_agg(CASE WHEN k <= 150000 THEN k ELSE k % 1000 + 1 END) FROM generate_series(1, 300000) k
	UNION ALL SELECT 'many keys after few', 150000, bloom_agg(CASE WHEN k > 150000 THEN k - 150000 ELSE k % 1000 + 1 END) FROM generate_series(1, 300000) k
) x ORDER BY name;
-- read while tables are left out, and continued
SELECT k, abs(bloom_capacity(f) / k::float8 - 1) < 0.05 AS near_size, (SELECT bool_and(f @> i) FROM generate_series(1, k) i) AS holds_all
FROM (SELECT k, bloom_agg(k) OVER (ORDER BY (k - 1) / 40000) AS f FROM generate_series(1, 200000) k) w WHERE k % 40000 = 0;
RESET work_mem;
