-- Data of the charts, measured: rate.dat and size.dat in the folder :results.

-- Keys 1 .. n in filters of 20,000 keys, and 200,000 absent ones.
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE rate AS
	SELECT p, n, bloom_fill(f) AS fill, bloom_expected_fpr(bloom_bits(f), bloom_hashes(f), n) AS expected,
		(SELECT count(*) FILTER (WHERE f @> ('absent:' || x)) / 200000.0 FROM generate_series(1, 200000) x) AS measured
	FROM (VALUES (0.1::float8), (0.01), (0.001)) AS rates(p),
		generate_series(4000, 40000, 4000) n,
		LATERAL (SELECT bloom_agg('key:' || x, 20000, p) AS f FROM generate_series(1, n) x) filter;
\o :results/rate.dat
SELECT p, fill, measured, expected FROM rate ORDER BY p DESC, fill;
\o

-- The scalable filter starts at a tenth of what it gets.
CREATE TEMP TABLE size AS
	SELECT n,
		(SELECT octet_length(bloom_create(n, 0.01)::bytea)) AS bloom,
		(SELECT octet_length(counting_bloom_create(n, 0.01)::bytea)) AS counting,
		(SELECT octet_length(scalable_bloom_agg(x, greatest(n / 10, 1), 0.01)::bytea) FROM generate_series(1, n) x) AS scalable
	FROM unnest(ARRAY[1000, 3000, 10000, 30000, 100000, 300000, 1000000]) n;
\o :results/size.dat
SELECT * FROM size ORDER BY n;
\o
