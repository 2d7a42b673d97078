-- Measured false positive rates of cuckoo filters, beside 2 * bucket_size / 2^bits.
--
-- Of N = 1,000,000 absent keys a filter passes on average N times
-- 1 - (1 - 1 / (2^f - 1))^s, where s is the number of slots in use of the 2b slots
-- that a probe looks at: 2b times the fill, added up over the sub-filters.  That is
-- what cuckoo_fpr tells, and at most N * 2b / (2^f - 1) for each sub-filter.  (With
-- an expansion above 1 the header does not tell how full each sub-filter is, and
-- cuckoo_fpr is the most that it can be.)  The
-- number that pass has a standard deviation of sqrt(N p) by these keys; by which
-- fingerprints there are, less than 1% of N p with 100,000 keys.  So it is within
-- 5 sqrt(N p) + 0.03 N p of N p.  The keys are the same in every run.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_cuckoo_rates;
SET search_path = test_cuckoo_rates, public;

CREATE FUNCTION measure(f cuckoo_filter, prefix text, OUT missing bigint, OUT passed bigint) LANGUAGE plpgsql AS $$
BEGIN
	-- detoasted once, as 1,100,000 probes follow
	f := f::bytea::cuckoo_filter;
	missing := (SELECT count(*) FROM generate_series(1, 100000) AS k WHERE NOT f @> (prefix || k));
	passed := (SELECT count(*) FROM generate_series(100001, 1100000) AS k WHERE f @> (prefix || k));
END $$;

-- One sub-filter: room for twice the keys.
CREATE TABLE filters AS
SELECT 'one' AS kind, b, f, cuckoo_add_all(cuckoo_create(200000, b, f), ARRAY(SELECT 'k' || k FROM generate_series(1, 100000) AS k)) AS filter FROM unnest(ARRAY[2, 4]) AS b, unnest(ARRAY[8, 16, 32]) AS f;
-- Full: all slots of several sub-filters are wanted.
INSERT INTO filters SELECT 'several', b, f, cuckoo_add_all(cuckoo_create(32768, b, f), ARRAY(SELECT 'k' || k FROM generate_series(1, 100000) AS k)) FROM unnest(ARRAY[2, 4]) AS b, unnest(ARRAY[8, 16, 32]) AS f;
-- Of an aggregate, which leaves out what matches already; and sub-filters that grow.
INSERT INTO filters SELECT 'aggregate', 4, f, cuckoo_agg('k' || k, 131072, 4, f) FROM generate_series(1, 100000) AS k, unnest(ARRAY[8, 16]) AS f GROUP BY f;
INSERT INTO filters SELECT 'expansion 2', 2, f, cuckoo_add_all(cuckoo_create(16384, 2, f, 20, 2), ARRAY(SELECT 'k' || k FROM generate_series(1, 100000) AS k)) FROM unnest(ARRAY[8, 16]) AS f;

SELECT kind, b, f, i.sub_filters AS subs, round(i.fill::numeric, 2) AS fill, missing,
	passed - 1000000 * estimated_fpr <= 5 * sqrt(1000000 * estimated_fpr) + 0.03 * 1000000 * estimated_fpr AS as_estimated,
	passed - 1000000 * estimated_fpr >= -5 * sqrt(1000000 * estimated_fpr) - CASE i.expansion WHEN 1 THEN 0.03 ELSE 0.5 END * 1000000 * estimated_fpr AS no_less,
	passed <= 1000000 * fpr_bound + 5 * sqrt(1000000 * fpr_bound) AS within_bound,
	fpr_bound <= i.sub_filters * 2.0 * b / (2.0 ^ f - 1) AS textbook, passed > 0 AS some_passed
FROM filters, cuckoo_info(filter) AS i, measure(filter, 'k') ORDER BY kind, b, f;

-- A full table of 8 bits passes as many as the formula says: the bound is not idle.
SELECT passed > 0.9 * 1000000 * fpr_bound * fill AS near_bound FROM filters, cuckoo_info(filter), measure(filter, 'k') WHERE kind = 'aggregate' AND f = 8;

SET client_min_messages = warning;
DROP SCHEMA test_cuckoo_rates CASCADE;
