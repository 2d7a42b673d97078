-- Estimates: each against its formula, written beside it, and against what is counted.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_estimates;
SET search_path = test_estimates, public;

-- equal up to rounding: how the C library rounds the last digits is its own affair
CREATE FUNCTION close_to(a float8, b float8, tolerance float8 DEFAULT 1e-9) RETURNS boolean LANGUAGE sql AS $$
	SELECT a = b OR abs(a - b) <= tolerance * least(abs(a), abs(b))
$$;
SELECT close_to(1, 1), close_to(0, 0), close_to(1, 1 + 1e-12), close_to(1, 1.001), close_to('Infinity', 'Infinity'), close_to(1, 'Infinity'), close_to('NaN', 1);

----------------------------------------------------------------------------
-- Before there is a filter
----------------------------------------------------------------------------

-- m = ceil(-n ln p / ln(2)^2), k = ceil(m / n ln 2), as textbooks have it; and what
-- bloom_create makes of it, with 64 bytes of header
SELECT n, p, e.bits, e.hashes, e.bits = ceil(-n * ln(p) / ln(2::float8) ^ 2) AS m, e.hashes = ceil(e.bits / n * ln(2::float8)) AS k,
	e.allocated_bits, e.allocated_bits = bloom_bits(f) AND e.allocated_hashes = bloom_hashes(f) AND e.size_bytes = (bloom_info(f)).size_bytes AS allocated
FROM (VALUES (1::float8, 0.01::float8), (1, 0.9), (1000, 0.01), (1000, 0.5), (123457, 0.0123), (1000000, 0.001)) v(n, p),
	bloom_estimate(n::bigint, p) e, LATERAL (SELECT bloom_create(n::bigint, p) AS f) filter;
-- the largest there can be; nothing is allocated
SELECT * FROM bloom_estimate(448089842, 0.01);
SELECT bloom_estimate(NULL, 0.01) IS NULL AS null, bloom_expected_fpr(100, NULL, 1) IS NULL AS null2, bloom_max_count(100, 7, NULL) IS NULL AS null3;

-- (1 - e^(-kn/m))^k
SELECT m, k, n, close_to(bloom_expected_fpr(m, k, n), (1 - exp(-k::float8 * n / m)) ^ k) AS same
FROM (VALUES (9600, 7, 0), (9600, 7, 1), (9600, 7, 1000), (9600, 7, 2000), (100, 1, 50), (64, 255, 10), (4294967296, 7, 448089842)) v(m, k, n);
-- a filter holds its rate when it has as many keys as it was made for
SELECT n, p, bloom_expected_fpr(bits, hashes, n) BETWEEN p * 0.95 AND p * 1.02 AS about_p
FROM (VALUES (100000, 0.01::float8), (100000, 0.001), (1000000, 1e-6), (1000000, 1e-9)) v(n, p), LATERAL bloom_info(bloom_create(n, p));
-- beyond everything: 1, not more
SELECT bloom_expected_fpr(64, 7, 9223372036854775807) AS full;

-- -m/k ln(1 - p^(1/k)), rounded down
SELECT m, k, p, bloom_max_count(m, k, p), bloom_max_count(m, k, p) = floor(-m::float8 / k * ln(1 - p ^ (1::float8 / k))) AS same,
	bloom_expected_fpr(m, k, bloom_max_count(m, k, p)) <= p AND bloom_expected_fpr(m, k, bloom_max_count(m, k, p) + 1) > p AS last_that_holds
FROM (VALUES (9600, 7, 0.01::float8), (9600, 7, 0.5), (9600, 7, 0.0001), (9585059, 7, 0.01), (64, 1, 0.001), (100, 255, 0.9)) v(m, k, p);

----------------------------------------------------------------------------
-- Of one filter
----------------------------------------------------------------------------

-- fill X / m, count -m/k ln(1 - X/m), rate (X/m)^k; bits set X is the number of bits
-- that are set, and the count is near the true one.  The rate also counts in that a
-- key's positions are not independent: sum of phi(d)/m (X/m)^d over d below k that
-- divide m, and 2n/m^2 (1 + X/m) / (1 - X/m), here together below 12/m.
CREATE TABLE filled AS
SELECT n, bloom_agg(k, 10000, 0.01) AS f FROM (VALUES (1), (100), (1000), (5000), (10000), (20000)) v(n), generate_series(1, n) k GROUP BY n;
SELECT n, x = i.bits_set AS bits_set, close_to(bloom_fill(f), x::float8 / m) AS fill, close_to(bloom_count(f), -m::float8 / 7 * ln(1 - x::float8 / m)) AS count,
	bloom_fpr(f) - (x::float8 / m) ^ 7 BETWEEN 0 AND 12.0 / m AS rate, close_to(i.fpr_bound, greatest(0.01, bloom_fpr(f))) AS bound,
	abs(bloom_count(f) / n - 1) < 0.02 AS near_n, abs(bloom_fpr(f) - bloom_expected_fpr(m, 7, n)) < 0.1 * bloom_expected_fpr(m, 7, n) + 12.0 / m AS near_expected
FROM filled, bloom_info(f) i, LATERAL (SELECT bit_count(substring(f::bytea FROM 61)) AS x, bloom_bits(f) AS m) b ORDER BY n;

-- empty and full
SELECT bloom_fill(f) AS fill, bloom_count(f) AS count, bloom_fpr(f) AS rate FROM (SELECT bloom_create(10) AS f) one;
CREATE TABLE full_filter AS
SELECT 'one bit' AS name, bloom_add(bloom_create_with_params(1, 3), 'a') AS f
UNION ALL SELECT 'few bits', bloom_agg(k, bloom_create_with_params(100, 3)) FROM generate_series(1, 1000) k
UNION ALL SELECT 'as created', bloom_agg(k, 100, 0.01) FROM generate_series(1, 10000) k
UNION ALL SELECT 'fnv1a', bloom_agg(k, bloom_create(100, 0.01, 'fnv1a')) FROM generate_series(1, 10000) k;
SELECT name, i.bits_set = i.bits AS full, fill, estimated_count, estimated_fpr, fpr_bound, bloom_fill(f), bloom_count(f), bloom_fpr(f),
	f @> 'never added' AS contains_anything
FROM full_filter, bloom_info(f) i ORDER BY name;
-- one bit less than full is a number again
SELECT bloom_count(f) AS full, close_to(bloom_count(almost), -64 * ln(1 / 64::float8)) AS almost
FROM (SELECT bloom_agg(k, bloom_create_with_params(64, 1)) AS f FROM generate_series(1, 2000) k) x,
	LATERAL (SELECT set_byte(set_bit(f::bytea, 480, 0), 43, 63)::bloom AS almost) y;

-- bits set stays true whatever is done
CREATE FUNCTION is_true(f bloom) RETURNS boolean LANGUAGE sql AS $$ SELECT (bloom_info(f)).bits_set = bit_count(substring(f::bytea FROM 61)) $$;
CREATE FUNCTION random_walk(bits bigint, hashes int, steps int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f bloom := bloom_create_with_params(bits, hashes);
	g bloom := f;
	what int;
BEGIN
	FOR i IN 1 .. steps LOOP
		-- always the same walk
		what := ('x' || left(md5(i::text), 2))::bit(8)::int % 8;
		f := CASE what
			WHEN 0 THEN bloom_add(f, i)
			WHEN 1 THEN bloom_add_all(f, ARRAY[i, i + 1, i])
			WHEN 2 THEN f | bloom_add(g, 'x' || i)
			WHEN 3 THEN bloom_union(g, f)
			WHEN 4 THEN f & (g | bloom_add_all(g, ARRAY[i, i + 2]))
			WHEN 5 THEN f::text::bloom
			WHEN 6 THEN (SELECT bloom_union_agg(x) FROM (VALUES (f), (g)) v(x))
			ELSE (SELECT bloom_intersect_agg(x) FROM (VALUES (f), (f | g)) v(x)) END;
		IF NOT is_true(f) THEN
			RETURN 'wrong after step ' || i || ', ' || what;
		END IF;
		IF i % 10 = 0 THEN g := f; END IF;
		IF i % 50 = 0 THEN f := bloom_clear(f); END IF;
	END LOOP;
	RETURN 'true, with ' || CASE WHEN (bloom_info(f | g)).bits_set > 0 THEN 'some' ELSE 'no' END || ' bits set';
END $$;
SELECT random_walk(1, 1, 100), random_walk(64, 3, 500), random_walk(1000, 7, 1000), random_walk(9999, 5, 1000), random_walk(100, 255, 300);
SELECT bool_and(is_true(f)) AS filled FROM filled;
SELECT bool_and(is_true(f)) AS full_filter FROM full_filter;

----------------------------------------------------------------------------
-- Of two filters
----------------------------------------------------------------------------

CREATE TABLE pair(name text, a bloom, b bloom, either int, both_ int);
INSERT INTO pair
SELECT name, (SELECT bloom_agg(k, 10000, 0.01) FROM generate_series(a1, a2) k), (SELECT bloom_agg(k, 10000, 0.01) FROM generate_series(b1, b2) k), either, both_
FROM (VALUES ('overlap', 1, 6000, 4001, 10000, 10000, 2000), ('same', 1, 5000, 1, 5000, 5000, 5000), ('inside', 1, 8000, 1, 100, 8000, 100),
	('apart', 1, 4000, 4001, 8000, 8000, 0),
	-- here |A| + |B| - |A or B| is below 0
	('far apart', 1, 5000, 5001, 10000, 10000, 0)) v(name, a1, a2, b1, b2, either, both_);
-- The count behind the union's bits; |A| + |B| - |A or B|, not below 0; one in relation
-- to the other.  Each count errs by less than 1% of the union here.
SELECT name, close_to(bloom_union_count(a, b), bloom_count(a | b)) AS union_formula, abs(bloom_union_count(a, b) - either) < 0.01 * either AS union_near,
	close_to(bloom_intersect_count(a, b), greatest(0, bloom_count(a) + bloom_count(b) - bloom_count(a | b))) AS both_formula,
	abs(bloom_intersect_count(a, b) - both_) < 0.03 * either AS both_near,
	close_to(bloom_jaccard(a, b), bloom_intersect_count(a, b) / bloom_union_count(a, b)) AS jaccard_formula,
	abs(bloom_jaccard(a, b) - both_::float8 / either) < 0.03 AS jaccard_near,
	bloom_union_count(a, b) = bloom_union_count(b, a) AND bloom_intersect_count(a, b) = bloom_intersect_count(b, a) AND bloom_jaccard(a, b) = bloom_jaccard(b, a) AS symmetric
FROM pair ORDER BY name;
SELECT bloom_count(a) + bloom_count(b) - bloom_count(a | b) < 0 AS below_0, bloom_intersect_count(a, b) AS both_, bloom_jaccard(a, b) AS jaccard FROM pair WHERE name = 'far apart';
SELECT bloom_jaccard(a, a) AS itself, bloom_intersect_count(a, a) = bloom_count(a) AS both_, bloom_union_count(a, NULL) IS NULL AS null FROM pair WHERE name = 'overlap';

-- empty and full: two empty sets are the same one, a full filter holds everything
SELECT name, CASE name WHEN 'empty, one' THEN round(bloom_union_count(a, b)) ELSE bloom_union_count(a, b) END AS either,
	bloom_intersect_count(a, b) AS both_, bloom_jaccard(a, b) AS jaccard
FROM (SELECT bloom_create_with_params(100, 3) AS empty, bloom_add(bloom_create_with_params(100, 3), 1) AS one, f AS full_ FROM full_filter WHERE name = 'few bits') x,
	LATERAL (VALUES ('empty, empty', empty, empty), ('empty, one', empty, one), ('full, empty', full_, empty), ('empty, full', empty, full_),
		('full, full', full_, full_)) v(name, a, b);
SELECT close_to(bloom_intersect_count(full_, one), bloom_count(one)) AS both_, close_to(bloom_intersect_count(one, full_), bloom_count(one)) AS both_too,
	bloom_union_count(one, full_) AS either, bloom_jaccard(one, full_) AS jaccard
FROM (SELECT bloom_add(bloom_create_with_params(100, 3), 1) AS one, f AS full_ FROM full_filter WHERE name = 'few bits') x;
