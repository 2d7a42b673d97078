-- cuckoo_filter: create, add, remove, probe, overflow, aggregates, union.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_cuckoo;
SET search_path = test_cuckoo, public;
SET max_parallel_workers_per_gather = 0;

-- What a statement answers, or the error it ends in.
CREATE FUNCTION attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement INTO answer;
	RETURN coalesce(answer, 'NULL');
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;

--
-- Create
--

-- RedisBloom's geometry: capacity / bucket size, up to a power of two; the
-- expansion too
SELECT c, b, f, e, i.buckets, i.slots, i.expansion, i.max_iterations, i.sub_filters, i.keys, i.fill, i.size_bytes, i.size_bytes = 64 + i.slots * f / 8 AS payload,
	i.capacity = c AND i.bucket_size = b AND i.fingerprint_bits = f AS as_asked
FROM (VALUES (1, 2, 8, 1), (1, 4, 16, 1), (2, 2, 8, 1), (5, 2, 8, 1), (8, 2, 8, 0), (9, 2, 8, 2), (10, 2, 8, 3), (64, 2, 32, 32768), (1000, 255, 8, 5), (1025, 1, 16, 4), (1000000, 4, 8, 1))
	AS v (c, b, f, e), cuckoo_info(cuckoo_create(c, b, f, 500, e)) AS i;
-- defaults
SELECT cuckoo_create(100) = cuckoo_create(100, 2, 8, 20, 1) AS same, cuckoo_create(100) = cuckoo_create(100, max_iterations => 21) AS other;
-- the bound of a rate: 2 * bucket_size / (2^bits - 1), almost, and below 1
SELECT f, b, fpr_bound::numeric(12, 11), 2.0 * b / (2.0 ^ f - 1) >= fpr_bound AS within, estimated_fpr
FROM unnest(ARRAY[8, 16, 32]) AS f, unnest(ARRAY[1, 2, 4, 255]) AS b, cuckoo_info(cuckoo_create(1000, b, f)) ORDER BY f, b;

SELECT arguments, attempt(format('SELECT cuckoo_count(cuckoo_create(%s))', arguments)) AS answer
FROM unnest(ARRAY['0', '-1', '10, 0', '10, 256', '10, -2', '10, 2, 0', '10, 2, 9', '10, 2, 64', '10, 2, -8', '10, 2, 8, 0', '10, 2, 8, 65536', '10, 2, 8, 65535', '10, 2, 8, 20, -1',
	'10, 2, 8, 20, 32769', '10, 2, 8, 20, 32768', '10, 255', '9223372036854775807', '536870913, 1', '134217729, 1, 32', '4294967297, 1', '1000, NULL', 'NULL']) WITH ORDINALITY AS a (arguments, n) ORDER BY n;

--
-- Add, probe, remove
--

SELECT f @> 'a' AS a, 'b' <@ f AS b, f @> 'c' AS c, cuckoo_contains(f, 1) AS one, f @> 1::bigint AS bigint_one, f @> 1.0 AS numeric_one, f @> '1' AS text_one, f @> NULL::text AS null_key,
	cuckoo_contains_each(f, ARRAY['a', 'c', NULL, 'b']) AS each, cuckoo_count(f), cuckoo_key_count(f, 'a') AS count_a, cuckoo_key_count(f, 'c') AS count_c
FROM (SELECT cuckoo_add(cuckoo_add_all(cuckoo_create(100), ARRAY['a', NULL, 'b', 'a']), 1) AS f OFFSET 0) AS s;
-- NULL: nothing is changed; a NULL filter is NULL
SELECT cuckoo_add(f, NULL::text) = f AS add, cuckoo_add_all(f, NULL::text[]) = f AS add_all, cuckoo_remove(f, NULL::text) = f AS remove, cuckoo_remove_all(f, ARRAY[NULL, NULL]::text[]) = f AS remove_all,
	cuckoo_add(NULL::cuckoo_filter, 1) IS NULL AS add_null, cuckoo_remove(NULL::cuckoo_filter, 1) IS NULL AS remove_null, NULL::cuckoo_filter @> 1 AS probe, cuckoo_key_count(f, NULL::text) AS key_count,
	cuckoo_count(NULL) AS count, cuckoo_info(NULL) IS NULL AS info, (f | NULL) IS NULL AS unite
FROM cuckoo_add(cuckoo_create(10), 'a') AS f;
-- one copy is taken at a time; what is absent is not
SELECT cuckoo_key_count(f, 'a') AS before, cuckoo_key_count(cuckoo_remove(f, 'a'), 'a') AS one_less, cuckoo_remove_all(f, ARRAY['a', 'a']) @> 'a' AS after, cuckoo_remove(f, 'nobody') = f AS same,
	cuckoo_remove_all(f, ARRAY['a', 'a', 'a', 'a', 'b']) = cuckoo_remove_all(f, ARRAY['a', 'b', 'a']) AS no_further, cuckoo_count(cuckoo_remove(f, 'a')) AS count,
	(cuckoo_info(cuckoo_remove(f, 'a'))).removed, cuckoo_clear(f) = cuckoo_create(100, 4) AS clear, f @> 'a' AS unchanged
FROM (SELECT cuckoo_add_all(cuckoo_create(100, 4), ARRAY['a', 'a', 'b']) AS f OFFSET 0) AS s;
SELECT attempt('SELECT cuckoo_add(cuckoo_create(10), ARRAY[1])'), attempt('SELECT cuckoo_create(10) @> cuckoo_create(10)'), attempt('SELECT bloom_add(cuckoo_create(10), 1)');

-- No key is ever lost, and with fingerprints that are long enough every one can
-- be taken away: sizes of buckets and fingerprints, few and many, with overflow.
CREATE FUNCTION keys_kept(f cuckoo_filter, n integer, OUT kept bigint, OUT sub_filters integer, OUT after_removal bigint, OUT lost bigint, OUT removed_still_there bigint, OUT empty_again boolean) LANGUAGE plpgsql AS $$
DECLARE
	whole cuckoo_filter := cuckoo_add_all(f, ARRAY(SELECT x FROM generate_series(1, n) AS x));
	half cuckoo_filter := cuckoo_remove_all(whole, ARRAY(SELECT x FROM generate_series(1, n, 2) AS x));
	nothing cuckoo_filter := cuckoo_remove_all(half, ARRAY(SELECT x FROM generate_series(2, n, 2) AS x));
BEGIN
	SELECT count(*) FILTER (WHERE whole @> x), count(*) FILTER (WHERE x % 2 = 0 AND NOT half @> x), count(*) FILTER (WHERE x % 2 = 1 AND half @> x)
	INTO kept, lost, removed_still_there FROM generate_series(1, n) AS x;
	sub_filters := (cuckoo_info(whole)).sub_filters;
	after_removal := cuckoo_count(half);
	empty_again := cuckoo_count(nothing) = 0 AND (cuckoo_info(nothing)).sub_filters = 1 AND cuckoo_clear(nothing)::bytea = overlay(nothing::bytea PLACING '\x0000000000000000' FROM 53);
END $$;
SELECT b, f, capacity, e, kept, sub_filters, after_removal, lost, removed_still_there <= 1000 * sub_filters * 2.0 * b / 2 ^ f * CASE f WHEN 8 THEN 2 ELSE 1 END + 0.5 AS few_still_there, empty_again
FROM unnest(ARRAY[1, 2, 3, 4, 8]) AS b, unnest(ARRAY[8, 16, 32]) AS f, unnest(ARRAY[2000, 300]) AS capacity, LATERAL (SELECT CASE WHEN b % 2 = 0 THEN 2 ELSE 1 END AS e) AS e, keys_kept(cuckoo_create(capacity, b, f, 20, e), 2000)
ORDER BY b, f, capacity DESC;

--
-- A key is held 2 * bucket_size times and not more
--

SELECT b, f, cuckoo_key_count(held, 'dup') AS times, i.sub_filters, i.keys, attempt(format('SELECT cuckoo_add(%L::cuckoo_filter, ''dup'')', held)) AS once_more,
	attempt(format('SELECT cuckoo_add_all(%L::cuckoo_filter, ARRAY[''other'', ''dup''])', held)) = attempt(format('SELECT cuckoo_add(%L::cuckoo_filter, ''dup'')', held)) AS in_an_array
FROM (VALUES (1, 8), (2, 8), (4, 16), (2, 32)) AS v (b, f), LATERAL (SELECT cuckoo_add_all(cuckoo_create(100, b, f), array_fill('dup'::text, ARRAY[2 * b])) AS held OFFSET 0) AS h, cuckoo_info(held) AS i ORDER BY b, f;
-- removing one makes room for one; other keys go on
SELECT cuckoo_key_count(cuckoo_add(cuckoo_remove(f, 'dup'), 'dup'), 'dup') AS times, cuckoo_add_all(f, ARRAY['x', 'y']) @> 'x' AS others
FROM cuckoo_add_all(cuckoo_create(100), array_fill('dup'::text, ARRAY[4])) AS f;
-- of one bucket only, all keys are in it; a key in it fills it
SELECT cuckoo_key_count(f, 'dup') AS counted_twice, cuckoo_count(f), attempt(format('SELECT cuckoo_add(%L::cuckoo_filter, ''dup'')', f)) LIKE '54000: key is already held 4 times%' AS refused
FROM cuckoo_add_all(cuckoo_create(1), ARRAY['dup', 'dup']) AS f;

--
-- Overflow
--

-- sub-filters are as large as the first, larger by the expansion, or not there
SELECT e, n, sub_filters, slots, keys, round(fpr_bound::numeric, 4) AS fpr_bound, size_bytes, (SELECT count(*) FROM generate_series(1, n) AS x WHERE f @> x) = n AS all_there
FROM (VALUES (1), (2), (4)) AS v (e), unnest(ARRAY[20, 100, 400]) AS n, LATERAL (SELECT cuckoo_add_all(cuckoo_create(64, 2, 16, 20, e), ARRAY(SELECT generate_series(1, n))) AS f OFFSET 0) AS s, cuckoo_info(f) ORDER BY e, n;
SELECT attempt('SELECT cuckoo_count(cuckoo_add_all(cuckoo_create(64, 2, 8, 20, 0), ARRAY(SELECT generate_series(1, 100))))') AS full;
-- nothing is changed by what does not find a place: all that is there can go again
SELECT count(*) AS kept FROM generate_series(1, 40) AS x, cuckoo_add_all(cuckoo_create(64, 2, 16, 20, 0), ARRAY(SELECT generate_series(1, 40))) AS f WHERE f @> x;
-- 32 sub-filters of one bucket of two, then no more
SELECT sub_filters, keys, attempt(format('SELECT cuckoo_add(%L::cuckoo_filter, 65)', f)) AS one_more FROM cuckoo_add_all(cuckoo_create(1, 2, 32), ARRAY(SELECT generate_series(1, 64))) AS f, cuckoo_info(f);
-- 512 MB are the end, before they are allocated: 8 buckets, then 2^18, 2^33
SELECT attempt('SELECT cuckoo_agg(x, cuckoo_create(16, 2, 8, 20, 32768)) IS NULL FROM generate_series(1, 600000) AS x') AS too_large;

--
-- Aggregates
--

-- A key that is held, truly or not, is not added again.  The aggregate takes its
-- keys in batches, and compares whole buckets of some sizes at once.
CREATE FUNCTION one_by_one(f cuckoo_filter, n integer) RETURNS cuckoo_filter LANGUAGE plpgsql AS $$
BEGIN
	FOR x IN 1 .. n LOOP
		IF NOT f @> x THEN
			f := cuckoo_add(f, x);
		END IF;
	END LOOP;
	RETURN f;
END $$;
SELECT b, f, n, i.sub_filters, i.keys, (SELECT cuckoo_agg(x, c, b, f ORDER BY x) FROM generate_series(1, n) AS x) = one AS same, i.size_bytes > 16384 AS in_batches,
	(SELECT cuckoo_agg(x, cuckoo_create(c, b, f) ORDER BY x) FROM generate_series(1, n) AS x) = one AS template, (SELECT count(*) FROM generate_series(1, n) AS x WHERE one @> x) = n AS all_there
FROM (VALUES (2, 8, 16384), (4, 8, 16384), (2, 16, 8192), (4, 16, 8192), (2, 32, 4096), (4, 32, 4096), (3, 16, 6144), (1, 8, 8192), (2, 8, 1024)) AS v (b, f, c),
	LATERAL (SELECT (c * 0.92)::integer AS n) AS n, LATERAL (SELECT one_by_one(cuckoo_create(c, b, f), n) AS one OFFSET 0) AS o, cuckoo_info(one) AS i;
SELECT cuckoo_agg(k, 100) = cuckoo_agg(k, 100, 2, 8) AS same, cuckoo_count(cuckoo_agg(k, 100)) AS once_each, cuckoo_key_count(cuckoo_agg(k, 100), 'a') AS a
FROM unnest(ARRAY['a', 'b', NULL, 'a', 'a', 'a', 'a', 'a', 'b']) AS k;
SELECT cuckoo_agg(k, 100) IS NULL AS only_nulls, cuckoo_agg(k, cuckoo_create(5)) IS NULL AS template FROM (VALUES (NULL::text), (NULL)) AS v (k);
-- the keys of a template are not taken over, but its parameters are
SELECT cuckoo_agg(k, cuckoo_add(cuckoo_create(40, 4, 16, 7, 2), 'mine')) = cuckoo_add(cuckoo_create(40, 4, 16, 7, 2), 'a') AS same FROM (VALUES ('a')) AS v (k);
SELECT query, attempt(format('SELECT cuckoo_count(cuckoo_agg(%s)) FROM generate_series(1, 3) AS x', query)) AS answer
FROM unnest(ARRAY['x, x', 'x, 10, x, 8', 'x, 10, 2, 8 * x', 'x, NULL', 'x, 10, NULL, 8', 'x, 10, 2, NULL', 'x, 0', 'x, 10, 2, 12', 'x, cuckoo_create(10 * x)', 'x, NULL::cuckoo_filter', 'x, cuckoo_create(10, 2, 8, 20, x)']) WITH ORDINALITY AS q (query, n) ORDER BY n;
-- windows: the final function only reads
SELECT x, cuckoo_count(cuckoo_agg(x, 10000) OVER (ORDER BY x)) AS keys, cuckoo_agg(x, 10000) OVER (ORDER BY x) = cuckoo_add_all(cuckoo_create(10000), ARRAY(SELECT generate_series(1, x))) AS same FROM generate_series(1, 5) AS x;
SELECT x, cuckoo_count(cuckoo_agg(x, 20000) OVER (ORDER BY x)) AS keys FROM generate_series(1, 5) AS x;

--
-- Union: each key as often as in the filter that holds it more often
--

CREATE TABLE parts AS
SELECT cuckoo_add_all(cuckoo_create(1000, b, f), ARRAY(SELECT generate_series(1, 600))) AS l, cuckoo_add_all(cuckoo_create(1000, b, f), ARRAY(SELECT generate_series(401, 1000))) AS r, b, f
FROM unnest(ARRAY[1, 2, 4]) AS b, unnest(ARRAY[8, 16, 32]) AS f;
-- of 600 and 600 keys 1,000 are different; with 8 bits some match each other,
-- and a key that matches one of the other side is not added: at most 4 % of 400
SELECT b, f, cuckoo_count(u) BETWEEN CASE f WHEN 8 THEN 980 ELSE 1000 END AND 1000 AS as_many, (SELECT count(*) FROM generate_series(1, 1000) AS x WHERE u @> x) AS there, (l | l) = l AS with_itself,
	(l | cuckoo_create(1000, b, f)) = l AS with_nothing, cuckoo_clear(l) | l @> 5 AS nothing_with, cuckoo_count(u | l) = cuckoo_count(u) AND cuckoo_count(u | r) = cuckoo_count(u) AS nothing_new, u = cuckoo_union(l, r) AS function
FROM parts, LATERAL (SELECT l | r AS u OFFSET 0) AS u ORDER BY b, f;
-- whatever the order, the answers are the same
SELECT b, f, count(*) FILTER (WHERE (l | r) @> x <> (r | l) @> x) AS different, cuckoo_count(l | r) - cuckoo_count(r | l) AS more
FROM parts, generate_series(1, 3000) AS x WHERE b = 2 GROUP BY b, f, l, r ORDER BY f;
-- copies
SELECT cuckoo_key_count(l | r, 'a') AS a, cuckoo_key_count(l | r, 'b') AS b, cuckoo_key_count(l | r, 'c') AS c, cuckoo_count(l | r) AS count
FROM cuckoo_add_all(cuckoo_create(100, 2, 16), ARRAY['a', 'a', 'a', 'b']) AS l, cuckoo_add_all(cuckoo_create(100, 2, 16), ARRAY['a', 'a', 'b', 'b', 'c']) AS r;
-- overflow: sub-filters are added, with an expansion of 1 for any key
SELECT name, (cuckoo_info(u)).sub_filters, cuckoo_count(u), (SELECT count(*) FROM generate_series(1, 300) AS x WHERE u @> x) AS there
FROM (SELECT 'small and large' AS name, cuckoo_add_all(cuckoo_create(64, 2, 16), ARRAY(SELECT generate_series(1, 20))) AS l, cuckoo_add_all(cuckoo_create(64, 2, 16), ARRAY(SELECT generate_series(21, 300))) AS r
	UNION ALL SELECT 'two of 150', cuckoo_add_all(cuckoo_create(64, 2, 16), ARRAY(SELECT generate_series(1, 150))), cuckoo_add_all(cuckoo_create(64, 2, 16), ARRAY(SELECT generate_series(151, 300)))
	UNION ALL SELECT 'expansion 2, and there is room', cuckoo_add_all(cuckoo_create(256, 2, 16, 20, 2), ARRAY(SELECT generate_series(1, 40))), cuckoo_add_all(cuckoo_create(256, 2, 16, 20, 2), ARRAY(SELECT generate_series(41, 90)))) AS s,
	LATERAL (SELECT l | r AS u OFFSET 0) AS u;
SELECT attempt('SELECT cuckoo_add_all(cuckoo_create(64, 2, 8, 20, 2), ARRAY(SELECT generate_series(1, 50))) | cuckoo_add_all(cuckoo_create(64, 2, 8, 20, 2), ARRAY(SELECT generate_series(51, 100)))') AS expansion_2,
	attempt('SELECT cuckoo_add_all(cuckoo_create(64, 2, 8, 20, 0), ARRAY(SELECT generate_series(1, 50))) | cuckoo_add_all(cuckoo_create(64, 2, 8, 20, 0), ARRAY(SELECT generate_series(51, 100)))') AS expansion_0;
-- other geometries; other promises of one geometry
SELECT attempt(format('SELECT cuckoo_create(100) | cuckoo_create(%s)', other)) AS answer FROM unnest(ARRAY['1000', '100, 4', '100, 2, 16', '100, 2, 8, 20, 2']) AS other;
SELECT i.capacity, i.max_iterations, i.keys FROM cuckoo_info(cuckoo_add(cuckoo_create(100, 2, 8, 30), 1) | cuckoo_add(cuckoo_create(120, 2, 8, 10), 2)) AS i;
-- the aggregate; and with the parts that it was made of, nothing new
SELECT cuckoo_count(u) AS keys, (SELECT count(*) FROM generate_series(1, 5000) AS x WHERE u @> x) AS there, cuckoo_count(u | whole) AS and_whole
FROM (SELECT cuckoo_union_agg(f) AS u FROM (SELECT cuckoo_agg(x, 6000, 4, 32) AS f FROM generate_series(1, 5000) AS x GROUP BY x % 7 UNION ALL SELECT NULL) AS p) AS u, (SELECT cuckoo_agg(x, 6000, 4, 32) AS whole FROM generate_series(1, 5000) AS x) AS w;
SELECT cuckoo_union_agg(f) IS NULL AS nothing FROM (VALUES (NULL::cuckoo_filter)) AS v (f);
SELECT attempt('SELECT cuckoo_union_agg(cuckoo_create(x)) FROM unnest(ARRAY[10, 1000]) AS x') AS answer;

--
-- Estimates of the rate and of the planner
--

SELECT n, round(cuckoo_fpr(f)::numeric, 6) AS fpr, round((1 - (1 - 1 / 255.0) ^ (4 * n / 2048.0))::numeric, 6) AS expected, cuckoo_fpr(f) <= (cuckoo_info(f)).fpr_bound AS within
FROM unnest(ARRAY[0, 500, 1000, 1500]) AS n, LATERAL (SELECT cuckoo_add_all(cuckoo_create(2048), ARRAY(SELECT generate_series(1, n))) AS f OFFSET 0) AS s ORDER BY n;
CREATE TABLE looked_up AS SELECT x FROM generate_series(1, 10000) AS x;
ANALYZE looked_up;
CREATE FUNCTION planned_rows(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM looked_up WHERE ' || condition INTO plan;
	RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
-- 1,000 of 10,000 pass, and some by mistake
SELECT operator, planned_rows(format(operator, f)) BETWEEN 1000 AND 1100 AS near FROM (SELECT cuckoo_agg(x, 2000, 4, 16) AS f FROM generate_series(1, 1000) AS x) AS s,
	unnest(ARRAY['%L::cuckoo_filter @> x', 'x <@ %L::cuckoo_filter', 'cuckoo_contains(%L::cuckoo_filter, x)', 'cuckoo_contained(x, %L::cuckoo_filter)']) AS operator;
SELECT planned_rows('(SELECT cuckoo_create(10)) @> x') AS unknown_filter;

SET client_min_messages = warning;
DROP SCHEMA test_cuckoo CASCADE;
