-- Measured false positive rates.
--
-- Of N = 1,000,000 absent keys a filter at rate p passes N p on average, with a
-- standard deviation of at most sqrt(N p) by these keys and of less than half a
-- percent of N p by which bits the 100,000 keys happen to set: for p = 0.001
-- sqrt(0.032^2 + 0.005^2) = 3.2% and for p = 0.01 1.1%.  0.9 to 1.1 is therefore at
-- least 3 of these away, and the keys are the same in every run.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_rates;
SET search_path = test_rates, public;

-- with the default, 4 MB, 100,000 keys would not be counted exactly
SET work_mem = '16MB';

CREATE TABLE filter(id serial, keys text, made text, p float8, f bloom);
INSERT INTO filter(keys, made, p, f)
SELECT keys, made, p, f
FROM (VALUES (0.01::float8), (0.001)) rate(p),
	LATERAL (SELECT bloom_agg(k, 100000, p) AS int_capacity, bloom_agg(k, p) AS int_self, bloom_agg('user:' || k, 100000, p) AS text_capacity,
			bloom_agg('user:' || k, p) AS text_self, bloom_agg(k, bloom_create(100000, p)) AS int_template, bloom_add_all(bloom_create(100000, p), array_agg(k)) AS int_all
		FROM generate_series(1, 100000) k) built,
	LATERAL (VALUES ('int', 'capacity', int_capacity), ('int', 'self-sized', int_self), ('int', 'template', int_template), ('int', 'bloom_add_all', int_all),
		('text', 'capacity', text_capacity), ('text', 'self-sized', text_self)) v(keys, made, f);

-- the four ways give the same filter for the same keys and rate, so that one
-- measurement is for all of them
SELECT keys, p, count(*) AS filters, count(DISTINCT f::text) AS different, count(DISTINCT made) AS ways FROM filter GROUP BY keys, p ORDER BY keys, p;

-- the filter is detoasted once, as 1,100,000 probes follow
CREATE FUNCTION measure(f bloom, keys text, OUT missing bigint, OUT passed bigint) LANGUAGE plpgsql AS $$
BEGIN
	f := f::bytea::bloom;
	IF keys = 'int' THEN
		missing := (SELECT count(*) FROM generate_series(1, 100000) k WHERE NOT f @> k);
		passed := (SELECT count(*) FROM generate_series(100001, 1100000) k WHERE f @> k);
	ELSE
		missing := (SELECT count(*) FROM generate_series(1, 100000) k WHERE NOT f @> ('user:' || k));
		passed := (SELECT count(*) FROM generate_series(100001, 1100000) k WHERE f @> ('user:' || k));
	END IF;
END $$;
SELECT keys, p, missing, passed > 0 AS some_passed, passed BETWEEN 0.9 * 1000000 * p AND 1.1 * 1000000 * p AS rate_as_asked,
	-- what the filter says about itself is what was measured
	passed BETWEEN 0.9 * 1000000 * bloom_fpr(f) AND 1.1 * 1000000 * bloom_fpr(f) AS rate_as_told
FROM (SELECT DISTINCT ON (keys, p) * FROM filter ORDER BY keys, p, id) one, measure(f, keys) ORDER BY keys, p;

-- Self-sized beyond work_mem: the size is within 5%, so the rate within p^0.95 and p^1.05.
SET work_mem = '64kB';
CREATE TABLE spilled AS
SELECT 'int' AS keys, bloom_agg(k, 0.01) AS f FROM generate_series(1, 100000) k
UNION ALL SELECT 'text', bloom_agg('user:' || k, 0.01) FROM generate_series(1, 100000) k;
SELECT keys, missing, abs(bloom_bits(f)::numeric / bloom_bits(bloom_create(100000, 0.01)) - 1) < 0.05 AS near_size,
	passed BETWEEN 0.9 * 1000000 * 0.01 ^ 1.05 AND 1.1 * 1000000 * 0.01 ^ 0.95 AS rate
FROM spilled, measure(f, keys) ORDER BY keys;
RESET work_mem;

-- A filter that is united from parts keeps the rate, one that is overfull does not:
-- twice the keys make it (1 - e^(-14/9.585))^7 = 15.7% instead of 1%.
SELECT missing, passed BETWEEN 0.9 * 10000 AND 1.1 * 10000 AS rate_as_asked
FROM (SELECT bloom_union_agg(f) AS f FROM (SELECT bloom_agg(k, 100000, 0.01) AS f FROM generate_series(1, 100000) k GROUP BY k % 7) part) one, measure(f, 'int');
SELECT missing, passed BETWEEN 0.95 * 157000 AND 1.05 * 157000 AS as_expected
FROM (SELECT bloom_agg(k, 50000, 0.01) AS f FROM generate_series(1, 100000) k) one, measure(f, 'int');
