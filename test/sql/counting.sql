-- counting_bloom: a counter where the plain filter has a bit, so that keys can be removed.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_counting;
SET search_path = test_counting, public;

-- What a statement answers, or the error it ends in.
CREATE FUNCTION attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement INTO answer;
	RETURN answer;
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;

-- The counters, read from the portable form: behind 60 bytes of header, of two
-- in a byte the low half first.
CREATE FUNCTION counters(filter counting_bloom) RETURNS integer[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	portable bytea := filter::bytea;
	wide boolean := (bloom_info(filter)).counter_bits = 8;
	answer integer[];
BEGIN
	FOR i IN 0 .. bloom_bits(filter) - 1 LOOP
		answer[i + 1] := CASE WHEN wide THEN get_byte(portable, 60 + i)
			ELSE get_byte(portable, 60 + i / 2) >> (i % 2 * 4) & 15 END;
	END LOOP;
	RETURN answer;
END $$;

-- The distinct positions of a key, counted from 1, by the bits it sets in a
-- plain filter of the same geometry.  Those are compared with RedisBloom's in
-- the test golden, so this does not rest on the code that is tested here.
CREATE FUNCTION places(key text, template counting_bloom) RETURNS integer[] LANGUAGE sql STABLE AS $$
	WITH plain AS MATERIALIZED (
		SELECT bloom_add(bloom_create_with_params(bits, hashes, hash), key)::bytea AS portable, bits
		FROM bloom_info(template))
	SELECT array_agg(i + 1 ORDER BY i)
	FROM plain, generate_series(0, bits::integer - 1) AS i
	WHERE get_bit(portable, 60 * 8 + i) = 1
$$;

-- The nodes of a plan, without tables.
CREATE FUNCTION plan(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		RETURN NEXT regexp_replace(line, ' on .*', '');
	END LOOP;
END $$;

--
-- Create
--

-- 100 counters of 4 bits, 3 hashes: capacity floor(100 ln 2 / 3) = 23, rate 2^-3
SELECT counting_bloom_create_with_params(100, 3)::bytea = decode(
		'02'				-- kind
	||	'01'				-- format version
	||	'01'				-- scheme: murmur64a
	||	'00'				-- flags
	||	'00000003'			-- hashes
	||	'00000004'			-- detail: bits of a counter
	||	'0000000000000064'	-- counters
	||	'0000000000000017'	-- capacity
	||	'3fc0000000000000'	-- rate
	||	'0000000000000000'	-- counters above 0
	||	'0000000000000000'	-- extra: saturated counters
	||	'0000000000000000'	-- extra
	||	repeat('00', 56),	-- 50 bytes, padded to words
	'hex') AS as_designed;
SELECT counting_bloom_create_with_params(100, 3, 8, 'fnv1a')::bytea = decode(
	'02010200' || '00000003' || '00000008' || '0000000000000064' || '0000000000000017'
	|| '3fc0000000000000' || repeat('00', 24) || repeat('00', 104), 'hex') AS as_designed;

-- The geometry is that of the plain filter; size_bytes is 64 + 9600 / 2, and 64 + 9600.
SELECT i.* FROM unnest(ARRAY[counting_bloom_create(1000), counting_bloom_create(1000, 0.01, 8, 'fnv1a')]) AS f, bloom_info(f) AS i;
SELECT bloom_bits(c) = bloom_bits(b) AND bloom_hashes(c) = bloom_hashes(b) AND bloom_capacity(c) = bloom_capacity(b) AS same
FROM (SELECT counting_bloom_create(12345, 0.003) AS c, bloom_create(12345, 0.003) AS b) AS s;

SELECT statement, attempt('SELECT bloom_bits(counting_bloom_create' || statement || ')') AS answer
FROM unnest(ARRAY[
	'(1000, 0.01, 0)', '(1000, 0.01, 1)', '(1000, 0.01, 2)', '(1000, 0.01, 5)', '(1000, 0.01, 16)', '(1000, 0.01, -4)',
	'(1000, 0.01, 4, ''sha1'')',
	'(0)', '(-1)', '(1000, 0)', '(1000, 1)', '(1000, 5)', '(1000, -0.01)', '(1000, ''NaN'')', '(1000, ''Infinity'')',
	'(1000, 1e-77)',				-- -log2(1e-77) = 255.8 hashes
	'(1000, 2e-77)',				-- 254.8 hashes
	'(500000000)',					-- 4.8e9 counters
	'(9223372036854775807)',
	'(100000000, 0.01, 8)',			-- 9.6e8 counters of a byte are more than 512 MB
	'_with_params(0, 3)', '_with_params(-1, 3)', '_with_params(4294967297, 3)',
	'_with_params(100, 0)', '_with_params(100, 256)', '_with_params(100, 255)', '_with_params(1, 1)',
	'_with_params(100, 3, 6)', '_with_params(100, 3, 4, '''')',
	'_with_params(1073741825, 3, 4)',	-- 2^30 + 1 halves of a byte
	'_with_params(536870913, 3, 8)',	-- 2^29 + 1 bytes
	'(NULL)', '(1000, NULL)', '(1000, 0.01, NULL)', '_with_params(100, NULL)'])
	WITH ORDINALITY AS s (statement, n) ORDER BY n;

--
-- Add, remove, count
--

-- Every key: adding it adds 1 at each of its positions in the plain filter and
-- nowhere else, even where positions coincide; removing it takes that away again.
SELECT counter_bits, hash, hashes, n_counters,
	count(*) AS keys,
	count(*) FILTER (WHERE cardinality(places) < hashes) > 0 AS some_coincide,
	bool_and(counters(once) = ARRAY(SELECT (i = ANY (places))::integer FROM generate_series(1, n_counters) AS i ORDER BY i)) AS added,
	bool_and(counters(twice) = ARRAY(SELECT (i = ANY (places))::integer * 2 FROM generate_series(1, n_counters) AS i ORDER BY i)) AS added_twice,
	bool_and(bloom_key_count(once, key) = 1 AND bloom_key_count(twice, key) = 2) AS counted,
	bool_and((bloom_info(twice)).bits_set = cardinality(places)) AS bits_set,
	bool_and(bloom_remove(twice, key) = once AND bloom_remove(once, key) = f) AS removed
FROM (VALUES (4, 'murmur64a', 3, 5), (4, 'fnv1a', 3, 5), (8, 'murmur64a', 3, 5), (4, 'murmur64a', 1, 5),
		(4, 'murmur64a', 101, 4), (8, 'fnv1a', 101, 4)) AS v (counter_bits, hash, n_counters, hashes),
	LATERAL (SELECT counting_bloom_create_with_params(n_counters, hashes, counter_bits, hash) AS f OFFSET 0) AS e,
	LATERAL (SELECT 'key:' || i AS key, bloom_add(f, 'key:' || i) AS once, bloom_add(bloom_add(f, 'key:' || i), 'key:' || i) AS twice,
				places('key:' || i, f) AS places
			FROM generate_series(1, 50) AS i OFFSET 0) AS k
GROUP BY counter_bits, hash, hashes, n_counters
ORDER BY counter_bits, hash, n_counters;

-- A key that is certainly absent: nothing changes, not even a byte.
WITH f AS MATERIALIZED (
	SELECT counting_bloom_agg(i, 1000, 0.01) AS f FROM generate_series(1, 1000) AS i)
SELECT count(*) FILTER (WHERE NOT f @> i) > 19000 AS mostly_absent,
	bool_and(bloom_remove(f, i) = f AND bloom_key_count(f, i) = 0) FILTER (WHERE NOT f @> i) AS unchanged,
	bool_and(bloom_key_count(f, i) > 0) FILTER (WHERE f @> i) AS the_others_count
FROM f, generate_series(1001, 21000) AS i;
SELECT bloom_remove_all(f, ARRAY['x', 'y']) = f AS unchanged, bloom_remove(f, 'x') = f AS unchanged
FROM counting_bloom_create(100) AS f;

-- One key has one spelling, whatever its type.
SELECT bloom_remove(bloom_add(f, 42), '42') = f AS removed, bloom_key_count(bloom_add_all(f, ARRAY[42.0, 42.00]), 42::bigint) AS counted,
	bloom_add(f, 42) @> '42' AS present, 42::smallint <@ bloom_add(f, '42') AS present,
	bloom_contains(bloom_add(f, ''), '') AS empty_string, bloom_contained('a', f) AS absent,
	bloom_contains_each(bloom_add(f, 'a'), ARRAY['a', NULL, 'b']) AS each
FROM counting_bloom_create(100) AS f;
SELECT split_part(attempt('SELECT bloom_add(counting_bloom_create(10), ARRAY[1, 2])'), E'\n', 1) AS add,
	split_part(attempt('SELECT bloom_remove(counting_bloom_create(10), ARRAY[1, 2])'), E'\n', 1) AS remove,
	split_part(attempt('SELECT bloom_remove_all(counting_bloom_create(10), ARRAY[point(1, 2)])'), E'\n', 1) AS remove_all;

-- NULL adds and removes nothing; a filter that is NULL stays NULL.
SELECT bloom_add(f, NULL::text) = f AND bloom_remove(f, NULL::text) = f AS unchanged,
	bloom_add_all(f, NULL::text[]) = f AND bloom_remove_all(f, NULL::text[]) = f AND bloom_remove_all(f, '{}'::text[]) = f AS unchanged,
	bloom_add_all(f, ARRAY[NULL, 'b', NULL]) = bloom_add(f, 'b') AS nulls_skipped,
	bloom_remove_all(f, ARRAY[NULL, 'a', NULL]) = counting_bloom_create(100) AS nulls_skipped,
	f @> NULL::text AS probe, bloom_key_count(f, NULL::text) AS counted
FROM (SELECT bloom_add(counting_bloom_create(100), 'a') AS f) AS s;
SELECT num_nulls(bloom_add(f, 'a'), bloom_remove(f, 'a'), bloom_add_all(f, ARRAY['a']), bloom_remove_all(f, ARRAY['a']),
	f @> 'a', bloom_key_count(f, 'a'), bloom_saturated(f), f::bloom, f | f, f & f, bloom_clear(f)) AS of_11
FROM (SELECT NULL::counting_bloom AS f) AS s;

-- All keys of an array, each as often as it is there, is one after the other.
SELECT added = bloom_add(bloom_add(bloom_add(f, 'a'), 'b'), 'a') AS added, bloom_remove_all(added, ARRAY['b', 'a', 'a']) = f AS removed
FROM (SELECT f, bloom_add_all(f, ARRAY['a', 'b', 'a']) AS added FROM counting_bloom_create(100) AS f) AS s;

--
-- Saturation: at 15 or 255 a counter no longer knows its value and stays
--

WITH step AS (
	SELECT counter_bits, most, f, bloom_add_all(f, array_fill('hot'::text, ARRAY[most - 1])) AS below,
		cardinality(places('hot', f)) AS n_places
	FROM (VALUES (4, 15), (8, 255)) AS v (counter_bits, most),
		LATERAL (SELECT counting_bloom_create(100, 0.01, counter_bits) AS f OFFSET 0) AS e
), full_ AS (
	SELECT *, bloom_add(below, 'hot') AS at FROM step
)
SELECT counter_bits, most,
	bloom_key_count(below, 'hot') AS below, bloom_saturated(below) AS saturated,
	bloom_key_count(bloom_remove(below, 'hot'), 'hot') AS one_less,
	bloom_remove_all(below, array_fill('hot'::text, ARRAY[most - 1])) = f AS all_removed,
	bloom_key_count(at, 'hot') AS at,
	bloom_saturated(at) = n_places AND (bloom_info(at)).saturated = n_places AND n_places > 1 AS all_saturated,
	bloom_add(at, 'hot') = at AS add_changes_nothing,
	bloom_remove(at, 'hot') = at AND bloom_remove_all(at, array_fill('hot'::text, ARRAY[2 * most])) = at AS nor_does_remove
FROM full_ ORDER BY counter_bits;

-- Others around the stuck counters come and go: their own counters are exact
-- again, and none of those that stay is lost, however often the hot key goes.
WITH filters AS MATERIALIZED (
	SELECT counter_bits, most, f,
		bloom_add_all(bloom_add_all(f, array_fill('hot'::text, ARRAY[most + 5])), ARRAY(SELECT 'other:' || i FROM generate_series(1, 60) AS i)) AS added
	FROM (VALUES (4, 15), (8, 255)) AS v (counter_bits, most),
		LATERAL (SELECT counting_bloom_create(100, 0.01, counter_bits) AS f OFFSET 0) AS e
), removed AS MATERIALIZED (
	SELECT *, bloom_remove_all(bloom_remove_all(added, array_fill('hot'::text, ARRAY[most + 5])),
			ARRAY(SELECT 'other:' || i FROM generate_series(1, 30) AS i)) AS left_
	FROM filters
)
SELECT counter_bits,
	(SELECT bool_and(p) FROM unnest(bloom_contains_each(left_, ARRAY(SELECT 'other:' || i FROM generate_series(31, 60) AS i))) AS p) AS none_lost,
	left_ @> 'hot' AS hot_stays,
	counters(left_) = ARRAY(
		SELECT CASE WHEN i = ANY (places('hot', f)) THEN most ELSE n END
		FROM unnest(counters(bloom_add_all(f, ARRAY(SELECT 'other:' || i FROM generate_series(31, 60) AS i)))) WITH ORDINALITY AS c (n, i)
		ORDER BY i) AS others_exact,
	bloom_saturated(left_) = cardinality(places('hot', f)) AS stuck
FROM removed ORDER BY counter_bits;

-- Halves of a byte do not spill: a full low half next to an empty high one, and
-- the other way round.
SELECT counters(bloom_add_all(f, array_fill(key, ARRAY[20]))) AS counters
FROM counting_bloom_create_with_params(2, 1) AS f,
	LATERAL (SELECT DISTINCT ON (places(i::text, f)) i::text AS key FROM generate_series(1, 20) AS i ORDER BY places(i::text, f), i) AS k
ORDER BY counters;

-- When every counter is in use, any number of keys could be behind it.
SELECT bloom_fill(f) AS fill, bloom_count(f) AS count, bloom_fpr(f) AS fpr, (bloom_info(f)).estimated_count AS info
FROM (SELECT bloom_add_all(counting_bloom_create_with_params(8, 2), ARRAY(SELECT generate_series(1, 100))) AS f) AS s;

--
-- Half of 20,000 keys removed: the other half is still there
--

-- Made for the 10,000 that stay, so those that went must now pass at the rate
-- asked: 1% is 100, and 4 standard deviations are 40.  They were added when the
-- filter was twice as full, so a decrement that is missed anywhere shows here.
WITH f AS MATERIALIZED (
	SELECT counter_bits, counting_bloom_create(10000, 0.01, counter_bits) AS f FROM unnest(ARRAY[4, 8]) AS counter_bits
), half AS MATERIALIZED (
	SELECT counter_bits, f,
		bloom_remove_all(bloom_add_all(f, ARRAY(SELECT 'user:' || i FROM generate_series(1, 20000) AS i)),
			ARRAY(SELECT 'user:' || i FROM generate_series(1, 20000, 2) AS i)) AS half
	FROM f
)
SELECT counter_bits, bloom_saturated(half) AS saturated,
	(SELECT count(*) FILTER (WHERE p) FROM unnest(bloom_contains_each(half, ARRAY(SELECT 'user:' || i FROM generate_series(2, 20000, 2) AS i))) AS p) AS present,
	(SELECT count(*) FILTER (WHERE p) BETWEEN 60 AND 140
		FROM unnest(bloom_contains_each(half, ARRAY(SELECT 'user:' || i FROM generate_series(1, 20000, 2) AS i))) AS p) AS rate_kept,
	half = bloom_add_all(f, ARRAY(SELECT 'user:' || i FROM generate_series(2, 20000, 2) AS i)) AS as_if_never_added,
	bloom_count(half) BETWEEN 9500 AND 10500 AS estimate
FROM half ORDER BY counter_bits;

--
-- Random sequences of adds and removes against an exact multiset
--

-- The model holds how often each key is there, and what each counter must be by
-- the rules: add 1 at each distinct position of a key below the maximum, take 1
-- away at each one that is above 0 and below the maximum.  The positions are
-- those of the plain filter.  Every 5,000 operations all of it is compared.
CREATE FUNCTION random_walk(template counting_bloom, keys integer, most_copies integer, operations integer, seed bigint,
	OUT adds integer, OUT removes integer, OUT absent_removes integer, OUT checks integer,
	OUT saturated boolean, OUT lost bigint, OUT undercounted bigint, OUT wrong_counters bigint,
	OUT wrong_headers integer, OUT differs_from_agg integer) LANGUAGE plpgsql AS $$
DECLARE
	filter counting_bloom := template;
	largest integer := CASE (bloom_info(template)).counter_bits WHEN 8 THEN 255 ELSE 15 END;
	hashes integer := bloom_hashes(template);
	copies integer[] := array_fill(0, ARRAY[keys]);
	model integer[] := array_fill(0, ARRAY[bloom_bits(template)::integer]);
	place integer[] := array_fill(0, ARRAY[keys * hashes]);	-- 0 where positions coincide
	names text[] := ARRAY(SELECT 'key:' || i FROM generate_series(1, keys) AS i);
	some_places integer[];
	random bigint := seed;
	key integer;
	at integer;
	is_add boolean;
BEGIN
	adds := 0; removes := 0; absent_removes := 0; checks := 0; saturated := false;
	lost := 0; undercounted := 0; wrong_counters := 0; wrong_headers := 0; differs_from_agg := 0;
	FOR k IN 1 .. keys LOOP
		some_places := places(names[k], template);
		FOR j IN 1 .. cardinality(some_places) LOOP
			place[(k - 1) * hashes + j] := some_places[j];
		END LOOP;
	END LOOP;

	FOR operation IN 1 .. operations LOOP
		-- a generator of our own: random() is not the same in every version
		random := (random * 1103515245 + 12345) & 2147483647;
		key := (random >> 12) % keys + 1;
		random := (random * 1103515245 + 12345) & 2147483647;
		is_add := (random >> 12) % 100 < 55;
		IF is_add AND copies[key] < most_copies THEN
			filter := bloom_add(filter, names[key]);
			copies[key] := copies[key] + 1;
			adds := adds + 1;
			FOR j IN (key - 1) * hashes + 1 .. key * hashes LOOP
				at := place[j];
				CONTINUE WHEN at = 0 OR model[at] = largest;
				model[at] := model[at] + 1;
			END LOOP;
		ELSIF copies[key] > 0 THEN
			filter := bloom_remove(filter, names[key]);
			copies[key] := copies[key] - 1;
			removes := removes + 1;
			FOR j IN (key - 1) * hashes + 1 .. key * hashes LOOP
				at := place[j];
				CONTINUE WHEN at = 0 OR model[at] = 0 OR model[at] = largest;
				model[at] := model[at] - 1;
			END LOOP;
		ELSIF NOT filter @> names[key] THEN
			-- certainly absent: the model does not change, and neither may the filter
			filter := bloom_remove(filter, names[key]);
			absent_removes := absent_removes + 1;
		END IF;

		CONTINUE WHEN operation % 5000 <> 0;
		checks := checks + 1;
		lost := lost + (SELECT count(*) FILTER (WHERE n > 0 AND NOT p)
			FROM unnest(copies, bloom_contains_each(filter, names)) AS c (n, p));
		undercounted := undercounted + (SELECT count(*) FILTER (WHERE bloom_key_count(filter, name) < least(n, largest))
			FROM unnest(copies, names) AS c (n, name));
		wrong_counters := wrong_counters + (SELECT count(*) FILTER (WHERE is_ IS DISTINCT FROM must)
			FROM unnest(counters(filter), model) AS c (is_, must));
		-- what the header says of the counters is recounted when a value is read
		IF filter::bytea::counting_bloom <> filter
			OR (bloom_info(filter)).bits_set <> (SELECT count(*) FROM unnest(model) AS n WHERE n > 0)
			OR bloom_saturated(filter) <> (SELECT count(*) FROM unnest(model) AS n WHERE n = largest) THEN
			wrong_headers := wrong_headers + 1;
		END IF;
		saturated := saturated OR bloom_saturated(filter) > 0;
		IF NOT saturated AND filter IS DISTINCT FROM (SELECT counting_bloom_agg(name, template)
			FROM unnest(copies, names) AS c (n, name), generate_series(1, n)) THEN
			differs_from_agg := differs_from_agg + 1;
		END IF;
	END LOOP;
END $$;

-- 4 and 8 bits, with counters that saturate and without: 220,000 operations
SELECT w.* FROM random_walk(counting_bloom_create(300, 0.01), 300, 3, 100000, 1) AS w;
SELECT w.* FROM random_walk(counting_bloom_create(50, 0.05, 4, 'fnv1a'), 80, 25, 40000, 2) AS w;
SELECT w.* FROM random_walk(counting_bloom_create(100, 0.01, 8), 100, 60, 40000, 3) AS w;
SELECT w.* FROM random_walk(counting_bloom_create(10, 0.1, 8, 'fnv1a'), 12, 300, 40000, 4) AS w;

--
-- Union, intersection, cast to bloom
--

CREATE TABLE filters AS
SELECT counter_bits, hash, bloom_add_all(f, a) AS a, bloom_add_all(f, b) AS b, bloom_add_all(f, a || b) AS ab, a AS keys_a, b AS keys_b, f AS empty
FROM (VALUES (4, 'murmur64a'), (4, 'fnv1a'), (8, 'murmur64a'), (8, 'fnv1a')) AS v (counter_bits, hash),
	-- copies: i % 11 in one and i % 7 in the other, so that some sums pass 15; and 200 of one key pass 255
	LATERAL (SELECT counting_bloom_create(200, 0.02, counter_bits, hash) AS f,
			ARRAY(SELECT i FROM generate_series(1, 150) AS i, generate_series(1, i % 11)) || array_fill(0, ARRAY[200]) AS a,
			ARRAY(SELECT i FROM generate_series(100, 250) AS i, generate_series(1, i % 7)) || array_fill(0, ARRAY[200]) AS b OFFSET 0) AS k;

-- The union is the sum of the counters, up to their maximum, as if all keys had
-- been added to one; the intersection is the minimum.
SELECT counter_bits, hash,
	counters(a | b) = ARRAY(SELECT least(x + y, CASE counter_bits WHEN 4 THEN 15 ELSE 255 END)
		FROM unnest(counters(a), counters(b)) WITH ORDINALITY AS c (x, y, i) ORDER BY i) AS sum,
	bloom_saturated(a) > 0 AS saturated_before, bloom_saturated(a | b) > bloom_saturated(a) AS more_after,
	a | b = ab AND b | a = ab AND bloom_union(a, b) = ab AS as_if_added, a | empty = a AS with_empty,
	(SELECT bool_and(p) FROM unnest(bloom_contains_each(a | b, keys_a || keys_b)) AS p) AS all_present
FROM filters ORDER BY counter_bits, hash;
SELECT counter_bits, hash,
	counters(a & b) = ARRAY(SELECT least(x, y) FROM unnest(counters(a), counters(b)) WITH ORDINALITY AS c (x, y, i) ORDER BY i) AS minimum,
	a & b = b & a AND bloom_intersect(a, b) = a & b AND a & a = a AS symmetric, a & empty = empty AS with_empty,
	(a & b)::bytea::counting_bloom = a & b AND (a | b)::bytea::counting_bloom = a | b AS headers_true,
	-- i % 77 = 0 is in neither
	(SELECT bool_and(p) FROM unnest(bloom_contains_each(a & b, ARRAY(SELECT unnest(keys_a) INTERSECT SELECT unnest(keys_b)))) AS p) AS shared_present
FROM filters ORDER BY counter_bits, hash;

-- The same geometry made for other numbers: the larger promise, whatever the order.
SELECT i.capacity, i.target_fpr, a | b = b | a AS symmetric
FROM counting_bloom_create(1000, 0.01) AS a, counting_bloom_create_with_params(9600, 7) AS b,
	LATERAL (VALUES (a | b), (a & b), (b & a)) AS v (f), bloom_info(f) AS i;

-- Another geometry, hash or width of counters: refused, both sides named.
SELECT attempt('SELECT counting_bloom_create(100) ' || operation || ' counting_bloom_create' || other) AS answer
FROM (VALUES (1, '|', '(101, 0.001)'), (2, '&', '(100, 0.01, 8)'), (3, '|', '(100, 0.01, 4, ''fnv1a'')')) AS v (n, operation, other) ORDER BY n;
SELECT attempt('SELECT bloom_union_agg(f) FROM (VALUES (counting_bloom_create(100)), (counting_bloom_create(200))) AS v (f)') AS answer;

-- The plain filter of the keys that are left, bit for bit.
WITH f AS (
	SELECT counter_bits, bloom_remove_all(bloom_add_all(counting_bloom_create(1000, 0.01, counter_bits), ARRAY(SELECT generate_series(1, 1500))),
		ARRAY(SELECT generate_series(1, 1500, 3))) AS f
	FROM unnest(ARRAY[4, 8]) AS counter_bits
)
SELECT counter_bits, bloom_saturated(f) AS saturated,
	f::bloom = (SELECT bloom_agg(i, 1000, 0.01) FROM generate_series(1, 1500) AS i WHERE i % 3 <> 1) AS as_if_built,
	(SELECT bool_and(f @> i = f::bloom @> i) FROM generate_series(1, 5000) AS i) AS same_answers
FROM f ORDER BY counter_bits;
SELECT count(*) AS filters, bool_and(a::bloom = bloom_add_all(bloom_create(200, 0.02, hash), keys_a)) AS as_if_built,
	bool_and(empty::bloom = bloom_create(200, 0.02, hash)) AS empty, bool_and(bloom_clear(ab) = empty) AS clear
FROM filters;

-- Estimates: of the distinct keys, so those of the plain filter.
SELECT hash, counter_bits,
	bloom_union_count(a, b) = bloom_union_count(a::bloom, b::bloom) AND bloom_intersect_count(a, b) = bloom_intersect_count(a::bloom, b::bloom)
		AND bloom_jaccard(a, b) = bloom_jaccard(a::bloom, b::bloom) AND bloom_count(a) = bloom_count(a::bloom)
		AND bloom_fpr(a) = bloom_fpr(a::bloom) AND bloom_fill(a) = bloom_fill(a::bloom) AS as_plain,
	bloom_jaccard(a, a) AS jaccard_1, bloom_jaccard(a, empty) AS jaccard_0, bloom_union_count(empty, empty) AS nothing
FROM filters ORDER BY hash, counter_bits;
SELECT n_a, abs(bloom_count(a) / n_a - 1) < 0.05 AS close,
	n_union, abs(bloom_union_count(a, b) / n_union - 1) < 0.05 AS close,
	n_shared, abs(bloom_intersect_count(a, b) / n_shared - 1) < 0.3 AS close,
	abs(bloom_jaccard(a, b) / (n_shared / n_union::float8) - 1) < 0.3 AS close
FROM filters,
	LATERAL (SELECT count(DISTINCT k) AS n_a FROM unnest(keys_a) AS k) AS x,
	LATERAL (SELECT count(DISTINCT k) AS n_union FROM unnest(keys_a || keys_b) AS k) AS y,
	LATERAL (SELECT count(*) AS n_shared FROM (SELECT unnest(keys_a) INTERSECT SELECT unnest(keys_b)) AS s) AS z
WHERE counter_bits = 4 AND hash = 'murmur64a';

--
-- Aggregates
--

SELECT counting_bloom_agg(i, 100, 0.01) = bloom_add_all(counting_bloom_create(100), array_agg(i)) AS default_is_4_bits,
	counting_bloom_agg(i % 10, counting_bloom_create(50, 0.1, 8, 'fnv1a'))
		= bloom_add_all(counting_bloom_create(50, 0.1, 8, 'fnv1a'), array_agg(i % 10)) AS template,
	-- only its geometry counts, not what is in it
	counting_bloom_agg(i, bloom_add(counting_bloom_create(100), 'x')) = counting_bloom_agg(i, counting_bloom_create(100)) AS template_empty,
	counting_bloom_agg(nullif(i, 5), 100, 0.01) = counting_bloom_agg(i, 100, 0.01) FILTER (WHERE i <> 5) AS nulls_skipped,
	counting_bloom_agg(NULL::text, 100, 0.01) IS NULL AND counting_bloom_agg(i, 100, 0.01) FILTER (WHERE false) IS NULL AS nothing
FROM generate_series(1, 100) AS i;
SELECT bloom_union_agg(f) = (SELECT counting_bloom_agg(i, 100, 0.01) FROM generate_series(1, 60) AS i) AS sum,
	bloom_union_agg(NULL::counting_bloom) IS NULL AND bloom_intersect_agg(NULL::counting_bloom) IS NULL AS nothing
FROM (SELECT i % 3, counting_bloom_agg(i, 100, 0.01) FROM generate_series(1, 60) AS i GROUP BY 1 UNION ALL SELECT 9, NULL) AS s (n, f);
SELECT bloom_intersect_agg(f) = (SELECT a & b & c) AS minimum
FROM (SELECT counting_bloom_agg(i, 100, 0.01) AS a FROM generate_series(1, 50) AS i) AS a,
	(SELECT counting_bloom_agg(i, 100, 0.01) AS b FROM generate_series(10, 60) AS i, generate_series(1, 3)) AS b,
	(SELECT counting_bloom_agg(i, 100, 0.01) AS c FROM generate_series(30, 80) AS i) AS c,
	LATERAL (VALUES (a), (b), (NULL), (c)) AS v (f) GROUP BY a, b, c;
SELECT attempt('SELECT counting_bloom_agg(1, ' || arguments || ') FROM generate_series(1, 2) AS i') AS answer
FROM unnest(ARRAY['NULL, 0.01', '10, NULL', '0, 0.01', '10, 2', 'i, 0.01', 'NULL::counting_bloom']) WITH ORDINALITY AS s (arguments, n) ORDER BY n;

-- A final function only reads the state: each row of a window has the keys so far.
SELECT bool_and(f = bloom_add_all(counting_bloom_create(40), ARRAY(SELECT generate_series(1, i)))) AS so_far
FROM (SELECT i, counting_bloom_agg(i, 40, 0.01) OVER (ORDER BY i) AS f FROM generate_series(1, 40) AS i) AS s;

-- Serial and parallel results are the same, bit for bit, with counters that
-- saturate in one worker, in the sum of two, and not at all.
CREATE TABLE keys AS SELECT i % 20000 AS key FROM generate_series(1, 60000) AS i;
INSERT INTO keys SELECT -1 FROM generate_series(1, 600) AS i;
INSERT INTO keys SELECT -2 FROM generate_series(1, 16) AS i;
ALTER TABLE keys SET (parallel_workers = 2);
CREATE TABLE parts AS
	SELECT i, (SELECT counting_bloom_agg(k, counting_bloom_create(300, 0.01, 8)) FROM generate_series(i, i + 60) AS k) AS f
	FROM generate_series(1, 200) AS i;
ALTER TABLE parts SET (parallel_workers = 2);
ANALYZE keys, parts;

SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT counting_bloom_agg(key, 20000, 0.01) FROM keys;
CREATE TABLE serial AS
SELECT counting_bloom_agg(key, 20000, 0.01) AS f4, counting_bloom_agg(key, counting_bloom_create(20000, 0.01, 8, 'fnv1a')) AS f8 FROM keys;
CREATE TABLE serial_parts AS SELECT bloom_union_agg(f) AS u, bloom_intersect_agg(f) FILTER (WHERE i <= 20) AS i FROM parts;

SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET parallel_leader_participation = off;	-- so that states must travel
EXPLAIN (COSTS OFF) CREATE TABLE parallel AS
SELECT counting_bloom_agg(key, 20000, 0.01) AS f4, counting_bloom_agg(key, counting_bloom_create(20000, 0.01, 8, 'fnv1a')) AS f8 FROM keys;
CREATE TABLE parallel AS
SELECT counting_bloom_agg(key, 20000, 0.01) AS f4, counting_bloom_agg(key, counting_bloom_create(20000, 0.01, 8, 'fnv1a')) AS f8 FROM keys;
EXPLAIN (COSTS OFF) CREATE TABLE parallel_parts AS SELECT bloom_union_agg(f) AS u, bloom_intersect_agg(f) FILTER (WHERE i <= 20) AS i FROM parts;
CREATE TABLE parallel_parts AS SELECT bloom_union_agg(f) AS u, bloom_intersect_agg(f) FILTER (WHERE i <= 20) AS i FROM parts;

-- It may be that one worker takes all rows; partitions make two states for sure.
SET max_parallel_workers_per_gather = 0;
SET enable_partitionwise_aggregate = on;
CREATE TABLE parted (part integer, key integer) PARTITION BY LIST (part);
CREATE TABLE even PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE odd PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT row_number() OVER () % 2, key FROM keys;
ANALYZE parted;
-- (not EXPLAIN itself: what it calls the partitions depends on the version)
SELECT plan('SELECT counting_bloom_agg(key, 20000, 0.01), counting_bloom_agg(key, counting_bloom_create(20000, 0.01, 8, ''fnv1a'')) FROM parted');
CREATE TABLE partitions AS
SELECT counting_bloom_agg(key, 20000, 0.01) AS f4, counting_bloom_agg(key, counting_bloom_create(20000, 0.01, 8, 'fnv1a')) AS f8 FROM parted;

SELECT p.f4 = s.f4 AND p.f8 = s.f8 AS parallel_same, q.f4 = s.f4 AND q.f8 = s.f8 AS partitions_same,
	bloom_key_count(s.f4, -1) AS "600", bloom_key_count(s.f8, -1) AS "600", bloom_key_count(s.f4, -2) AS "16",
	bloom_key_count(s.f8, -2) BETWEEN 16 AND 20 AS "16", bloom_saturated(s.f4) > bloom_saturated(s.f8) AS saturated
FROM serial AS s, parallel AS p, partitions AS q;
-- 50 is in parts 1 to 50, and so in all of the first 20; 100 is in none of those
SELECT p.u = s.u AS same_union, p.i = s.i AS same_intersection, bloom_key_count(s.u, 50) BETWEEN 50 AND 60 AS "50 or more",
	s.i @> 50 AND NOT s.i @> 100 AS minimum
FROM serial_parts AS s, parallel_parts AS p;
RESET ALL;
