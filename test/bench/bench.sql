-- Data and helpers of `make bench`.  :rows is the number of rows of the big
-- tables, :keys a tenth of it.

CREATE EXTENSION bloomfilter;
CREATE EXTENSION hll;
CREATE EXTENSION intarray;

-- Distinct pseudo-random bigints: multiplication modulo a prime is a bijection.
CREATE TABLE big AS
	SELECT x * 7919 % 1000000007 AS id FROM generate_series(1::bigint, :rows) x;
CREATE TABLE small AS
	SELECT x * 104729 % 1000000007 AS id FROM generate_series(1::bigint, :keys) x;
CREATE TABLE few AS
	SELECT x % 10000 AS id FROM generate_series(1::bigint, :rows) x;
CREATE TABLE big_text AS
	SELECT 'user:' || x AS k FROM generate_series(1, :rows) x;
-- Zipf: key n comes in proportion to 1 / n^1.1.
CREATE TABLE zipf AS
	SELECT 'key:' || x AS k FROM generate_series(1, 100000) x, generate_series(1, round(:rows * 0.13 / x ^ 1.1)::bigint) i
	ORDER BY hashint8extended(x, i);
CREATE TABLE groups AS
	SELECT x / 5 AS g, x AS id FROM generate_series(0, 99999) x;
CREATE TABLE looked_up AS SELECT id FROM big;
CREATE UNIQUE INDEX ON looked_up (id);

-- for the comparison of types
CREATE TABLE million AS
	SELECT x * 15485863 % 1000000007 AS id FROM generate_series(1::bigint, 1000000) x;
CREATE TABLE million_filters (bloom bloom, counting counting_bloom, cuckoo cuckoo_filter);

CREATE TABLE filters (name text PRIMARY KEY, f bloom);
INSERT INTO filters
	SELECT 'rows', bloom_agg(id, :rows, 0.01) FROM big
	UNION ALL
	SELECT 'keys', bloom_agg(id, :keys, 0.01) FROM small
	UNION ALL
	SELECT 'small', bloom_agg(id, :keys / 10, 0.01) FROM (SELECT id FROM small LIMIT :keys / 10) s
	UNION ALL
	SELECT 'thousand', bloom_agg(id, 1000, 0.01) FROM (SELECT id FROM small LIMIT 1000) s;
CREATE TABLE arrays AS SELECT array_agg(id::int) AS keys FROM (SELECT id FROM small LIMIT 1000) s;
VACUUM ANALYZE;
