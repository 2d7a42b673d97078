-- Functions and operators, one subject after another.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_functions;
SET search_path = test_functions, public;

----------------------------------------------------------------------------
-- What the extension brings
----------------------------------------------------------------------------

-- everything has a comment
SELECT pg_describe_object(classid, objid, 0) AS without_comment
FROM pg_depend JOIN pg_extension e ON refobjid = e.oid
WHERE refclassid = 'pg_extension'::regclass AND extname = 'bloomfilter' AND deptype = 'e'
	AND obj_description(objid, classid::regclass::name) IS NULL
	-- what comes by itself with an operator class or a type
	AND classid <> 'pg_opfamily'::regclass
	AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT oid FROM pg_type WHERE typcategory = 'A'))
ORDER BY 1;

-- nothing is volatile but the handler of the access method, as the server's are,
-- and everything may run in a parallel worker but what asks an index, which may
-- be of a temporary table
CREATE VIEW member AS
SELECT p.* FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
JOIN pg_extension e ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass
WHERE extname = 'bloomfilter' AND d.deptype = 'e';
SELECT oid::regprocedure AS volatile FROM member WHERE provolatile = 'v' ORDER BY proname;
SELECT oid::regprocedure AS stable FROM member WHERE provolatile = 's' ORDER BY proname;
SELECT oid::regprocedure AS not_parallel_safe FROM member WHERE proparallel <> 's' ORDER BY proname;
-- what is not strict takes NULL for something, and says so below or in aggregates.sql
SELECT oid::regprocedure AS not_strict FROM member
WHERE NOT proisstrict AND prokind = 'f' AND 'internal'::regtype <> ALL (proargtypes) AND 'bloom'::regtype = ANY (proargtypes) ORDER BY proname;

-- operators know each other
SELECT o.oid::regoperator, c.oid::regoperator AS commutator, n.oid::regoperator AS negator, o.oprrest, o.oprjoin
FROM pg_operator o LEFT JOIN pg_operator c ON c.oid = o.oprcom LEFT JOIN pg_operator n ON n.oid = o.oprnegate
WHERE 'bloom'::regtype IN (o.oprleft, o.oprright) ORDER BY o.oprname, o.oprleft;
-- there must never be filter @> filter: it would take f @> 'x'
SELECT count(*) AS containment_of_filters FROM pg_operator
WHERE oprname IN ('@>', '<@') AND oprleft = 'bloom'::regtype AND oprright = 'bloom'::regtype;

----------------------------------------------------------------------------
-- Create, look
----------------------------------------------------------------------------

\x on
SELECT * FROM bloom_info(bloom_create(1000));
SELECT * FROM bloom_info(bloom_create_with_params(9585059, 7, 'fnv1a'));
\x off

SELECT bloom_create(1000) = bloom_create(1000, 0.01, 'murmur64a') AS defaults,
	bloom_create(capacity => 1000, hash => 'fnv1a') = bloom_create(1000, 0.01, 'fnv1a') AS named,
	bloom_create_with_params(100, 3) = bloom_create_with_params(bits => 100, hashes => 3, hash => 'murmur64a') AS params,
	bloom_create(NULL) IS NULL AND bloom_create(10, NULL) IS NULL AND bloom_create(10, 0.1, NULL) IS NULL AS strict;

-- floor(n * -ln p / ln(2)^2) bits, rounded up to 64, and ceil(log2(1/p)) hashes; at least 64 bits and 1 hash;
-- 167 keys at 1% and 49 at 0.1% need whole words, 1600 and 704 bits, and get no more
SELECT n, p, bloom_bits(f), bloom_bits(f) = ceil(greatest(floor(n * -ln(p) / ln(2::float8) ^ 2), 1) / 64) * 64 AS bits,
	bloom_hashes(f) = greatest(ceil(-ln(p) / ln(2::float8)), 1) AS hashes, bloom_capacity(f) = n AND (bloom_info(f)).target_fpr = p AS promise
FROM (VALUES (1, 0.01::float8), (1, 0.9), (1, 0.9999999), (1, 1e-70), (6, 0.01), (7, 0.01), (167, 0.01), (49, 0.001), (1000, 0.3), (12345, 0.001), (1000000, 1e-9)) v(n, p),
	LATERAL (SELECT bloom_create(n, p) AS f) filter;

-- given geometries are kept; capacity is max(1, floor(m ln 2 / k)), the rate 2^-k
SELECT m, k, bloom_bits(f) = m AND bloom_hashes(f) = k AS kept, (bloom_info(f)).size_bytes = 64 + 8 * ((m + 63) / 64) AS size,
	bloom_capacity(f) = greatest(floor(m * ln(2::float8) / k), 1) AS capacity, (bloom_info(f)).target_fpr = 2 ^ -k AS rate
FROM (VALUES (1, 1), (1, 255), (63, 3), (64, 3), (65, 3), (100, 255), (9585059, 7)) v(m, k), LATERAL (SELECT bloom_create_with_params(m, k) AS f) filter;

-- the functions say what the columns say
SELECT bloom_bits(f) = i.bits AND bloom_hashes(f) = i.hashes AND bloom_capacity(f) = i.capacity AND bloom_fill(f) = i.fill AND
	bloom_count(f) = i.estimated_count AND bloom_fpr(f) = i.estimated_fpr AS same
FROM (SELECT bloom_agg(k, 100, 0.01) AS f FROM generate_series(1, 50) k) one, bloom_info(f) i;

----------------------------------------------------------------------------
-- Change and probe
----------------------------------------------------------------------------

SELECT f @> 'a' AS a, 'a' <@ f AS a_commuted, bloom_contains(f, 'a') AS a_function, f @> 'b' AS b, 'b' <@ f AS b_commuted, bloom_contains(f, 'b') AS b_function
FROM (SELECT bloom_add(bloom_create(1000), 'a') AS f) one;
-- a key again changes nothing
SELECT bloom_add(bloom_add(f, 'a'), 'a') = bloom_add(f, 'a') FROM (SELECT bloom_create(1000) AS f) one;
-- one by one, all at once, by an aggregate, in any order
SELECT bloom_add(bloom_add(bloom_add(f, 1), 2), 3) = bloom_add_all(f, ARRAY[3, 2, 1]) AS all_at_once,
	bloom_add_all(f, ARRAY[1, 2, 3]) = (SELECT bloom_agg(k, 1000, 0.01) FROM generate_series(1, 3) k) AS aggregate
FROM (SELECT bloom_create(1000) AS f) one;

-- arrays of any shape: several dimensions, other lower bounds, NULLs, nothing
SELECT bloom_add_all(f, '{{1,2},{3,NULL}}'::int[]) = g AS two_dimensions, bloom_add_all(f, '[5:7]={1,2,3}'::int[]) = g AS lower_bound,
	bloom_add_all(f, ARRAY[[[1], [2]], [[3], [3]]]) = g AS three_dimensions, bloom_add_all(f, ARRAY[NULL, NULL]::int[]) = f AS only_null,
	bloom_add_all(f, '{}'::int[]) = f AS empty, bloom_add_all(f, NULL::int[]) = f AS null, bloom_add_all(NULL::bloom, ARRAY[1]) IS NULL AS null_filter
FROM (SELECT bloom_create(1000) AS f, bloom_add_all(bloom_create(1000), ARRAY['1', '2', '3']) AS g) one;
SELECT keys, bloom_contains_each(f, keys)
FROM (SELECT bloom_add_all(bloom_create(1000), ARRAY[1, 2, 3]) AS f) one,
	(VALUES ('{1,2,9}'::int[]), ('{}'), ('{NULL}'), ('{9,NULL,1}'), ('{{1,9},{9,3}}'), ('[5:6]={9,1}'), ('[0:1][-1:0]={{1,NULL},{3,9}}')) v(keys);
SELECT bloom_contains_each(f, NULL::int[]) IS NULL AS null_keys, bloom_contains_each(NULL::bloom, ARRAY[1]) IS NULL AS null_filter,
	bloom_contains_each(f, ARRAY['1', 'x', '']) AS text, bloom_contains_each(f, ARRAY[1.0, 1.5]) AS numeric,
	bloom_contains_each(f, '{1,9}'::float8[]) AS float8, bloom_contains_each(f, ARRAY[true, NULL]) AS boolean
FROM (SELECT bloom_add_all(bloom_create(1000), ARRAY[1, 2, 3]) AS f) one;
CREATE DOMAIN id AS int CHECK (VALUE > 0);
CREATE DOMAIN ids AS int[];
SELECT bloom_contains_each(f, ARRAY[1, 9]::id[]), bloom_contains_each(f, ARRAY[1, 9]::ids), bloom_contains_each(f, '1 9'::int2vector),
	bloom_add_all(f, ARRAY[9]::ids) @> 9
FROM (SELECT bloom_add_all(bloom_create(1000), ARRAY[1, 2, 3]) AS f) one;
-- many keys: none is missing, and the array is as long
SELECT array_length(bloom_contains_each(f, keys), 1), true = ALL (bloom_contains_each(f, keys)) AS all_found, f = g AS same
FROM (SELECT array_agg(k) AS keys, bloom_agg(k, 20000, 0.01) AS g FROM generate_series(1, 20000) k) one,
	LATERAL (SELECT bloom_add_all(bloom_create(20000), keys) AS f) filter;

SELECT bloom_clear(f) = bloom_create(1000, 0.001, 'fnv1a') AS as_new, bloom_clear(bloom_clear(f)) = bloom_clear(f) AS twice,
	bloom_clear(NULL::bloom) IS NULL AS null, bloom_add(NULL::bloom, 1) IS NULL AS add_to_null, NULL::bloom @> 1 IS NULL AS null_contains
FROM (SELECT bloom_agg(k, bloom_create(1000, 0.001, 'fnv1a')) AS f FROM generate_series(1, 50) k) one;

-- no function changes its argument: a variable, a row of a table
CREATE FUNCTION keeps_argument() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f bloom := bloom_add(bloom_create(1000), 'kept');
	g bloom := bloom_add(bloom_create(1000), 'other');
	f_before bytea := f::bytea;
	g_before bytea := g::bytea;
	h bloom;
BEGIN
	h := bloom_add(f, 'new');
	IF f @> 'new' OR f::bytea <> f_before THEN RETURN 'bloom_add'; END IF;
	h := bloom_add_all(f, ARRAY['new', 'newer']);
	IF f @> 'new' OR f::bytea <> f_before THEN RETURN 'bloom_add_all'; END IF;
	h := bloom_clear(f);
	IF NOT f @> 'kept' OR f::bytea <> f_before THEN RETURN 'bloom_clear'; END IF;
	h := f | g;
	IF f::bytea <> f_before OR g::bytea <> g_before THEN RETURN 'union'; END IF;
	h := f & g;
	IF f::bytea <> f_before OR g::bytea <> g_before THEN RETURN 'intersection'; END IF;
	SELECT bloom_union_agg(v) INTO h FROM (VALUES (f), (g), (f)) x(v);
	IF f::bytea <> f_before OR g::bytea <> g_before THEN RETURN 'bloom_union_agg'; END IF;
	SELECT bloom_intersect_agg(v) INTO h FROM (VALUES (f), (g), (f)) x(v);
	IF f::bytea <> f_before OR g::bytea <> g_before THEN RETURN 'bloom_intersect_agg'; END IF;
	SELECT bloom_agg(i, f) INTO h FROM generate_series(1, 3) i;
	IF f::bytea <> f_before THEN RETURN 'bloom_agg'; END IF;
	-- one that changes nothing may return its argument, but no part of it
	h := bloom_add(f, 'kept');
	h := bloom_add(h, 'new');
	IF f @> 'new' OR f::bytea <> f_before THEN RETURN 'bloom_add of what was there'; END IF;
	-- and assigning to the variable works
	f := bloom_add(f, 'new');
	f := bloom_add_all(f, ARRAY['newer']);
	IF NOT (f @> 'kept' AND f @> 'new' AND f @> 'newer') THEN RETURN 'assignment'; END IF;
	RETURN 'kept';
END $$;
SELECT keeps_argument();
CREATE TABLE stored AS SELECT i, bloom_agg(k, 1000 * i, 0.01) AS f FROM (VALUES (1), (10)) v(i), generate_series(1, 500) k GROUP BY i;
SELECT count(*) FROM stored s, LATERAL (SELECT bloom_add(s.f, 'new'), bloom_clear(s.f), s.f | bloom_clear(s.f), s.f & bloom_clear(s.f)) x WHERE bloom_bits(x.bloom_add) > 0;
SELECT i, f = (SELECT bloom_agg(k, 1000 * i, 0.01) FROM generate_series(1, 500) k) AS unchanged FROM stored ORDER BY i;
UPDATE stored SET f = bloom_add(f, 'new');
SELECT i, f @> 'new' AS new, f @> 1 AS old FROM stored ORDER BY i;

----------------------------------------------------------------------------
-- Union and intersection
----------------------------------------------------------------------------

CREATE TABLE two AS
SELECT (SELECT bloom_agg(k, 1000, 0.01) FROM generate_series(1, 400) k) AS a, (SELECT bloom_agg(k, 1000, 0.01) FROM generate_series(301, 700) k) AS b,
	(SELECT bloom_agg(k, 1000, 0.01) FROM generate_series(1, 700) k) AS a_or_b, bloom_create(1000) AS empty;
SELECT a | b = a_or_b AS built_from_both, b | a = a_or_b AS commutes, bloom_union(a, b) = a_or_b AS function, a | a = a AS itself, a | empty = a AS empty,
	(a | b) | empty = a | (b | empty) AS associates, (a | NULL) IS NULL AS null
FROM two;
SELECT a & b = b & a AS commutes, bloom_intersect(a, b) = (a & b) AS function, (a & a) = a AS itself, (a & empty) = empty AS empty, (a & a_or_b) = a AS of_more,
	(SELECT bool_and((a & b) @> k) FROM generate_series(301, 400) k) AS holds_common_keys,
	((a & b) | a) = a AND ((a & b) | b) = b AS no_bit_of_one_alone, (a & NULL) IS NULL AS null
FROM two;
-- A key of one side alone passes if the other side has its 7 bits by chance.  400
-- keys set 1 - exp(-7 * 400 / 9600) = 25% of the bits, so 300 * 0.25^7 = 0.02 pass.
SELECT count(*) < 3 AS few_pass FROM two, generate_series(1, 300) k WHERE (a & b) @> k;

-- made for different numbers at different rates, but alike: the larger of each
SELECT (SELECT array_agg(bloom_bits(f) || '/' || bloom_hashes(f)) FROM unnest(ARRAY[x, y]) f) AS geometries,
	bloom_capacity(x | y), bloom_capacity(y | x), bloom_capacity(x & y), bloom_capacity(y & x),
	(bloom_info(x | y)).target_fpr AS u, (bloom_info(y | x)).target_fpr AS u2, (bloom_info(x & y)).target_fpr AS i, (bloom_info(y & x)).target_fpr AS i2
FROM (SELECT bloom_create(6, 0.01) AS x, bloom_create(5, 0.011) AS y) one;
SELECT x | y = y | x AS union, (x & y) = (y & x) AS intersection
FROM (SELECT bloom_add(bloom_create(6, 0.01), 1) AS x, bloom_add(bloom_create(5, 0.011), 2) AS y) one;

----------------------------------------------------------------------------
-- How many rows the planner expects
----------------------------------------------------------------------------

CREATE FUNCTION expected_rows(condition text, source text DEFAULT 't') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM %s WHERE %s', source, condition) INTO plan;
	RETURN (plan #>> '{0,Plan,Plan Rows}')::bigint;
END $$;
-- 10,000 numbers, 10,000 rows of 100 numbers, 10,000 rows half NULL, and texts
CREATE TABLE t AS SELECT i AS id, i % 100 AS few, CASE WHEN i % 2 = 0 THEN i END AS half, 'key' || i AS name FROM generate_series(1, 10000) i;
ANALYZE t;
-- filters of 500 of the numbers, written into the query as constants
SELECT bloom_agg(i, 500, 0.01)::text AS f500 FROM generate_series(1, 500) i \gset
SELECT bloom_agg('key' || i, 500, 0.01)::text AS names FROM generate_series(1, 500) i \gset
SELECT bloom_agg(i, 10, 0.01)::text AS f10 FROM generate_series(0, 9) i \gset
SELECT bloom_agg(i, 500, 0.5)::text AS loose FROM generate_series(1, 500) i \gset
SELECT bloom_agg(i, 10000, 0.01)::text AS all_keys FROM generate_series(1, 10000) i \gset
SELECT bloom_create(500)::text AS empty \gset

CREATE FUNCTION actual_rows(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM t WHERE ' || condition INTO rows;
	RETURN rows;
END $$;
-- k keys, a column with d values, rate p: k / d + (1 - k / d) p of the rows
CREATE TABLE condition(id serial, condition text, filter text, formula int);
INSERT INTO condition(condition, filter, formula) VALUES
	('%L::bloom @> id', :'f500', 500 + 9500 * 0.01), ('id <@ %L::bloom', :'f500', 500 + 9500 * 0.01),
	('bloom_contains(%L::bloom, id)', :'f500', 500 + 9500 * 0.01), ('bloom_contained(id, %L::bloom)', :'f500', 500 + 9500 * 0.01),
	('%L::bloom @> name', :'names', 500 + 9500 * 0.01),
	('%L::bloom @> few', :'f10', 100 * (10 + 90 * 0.01)),
	('%L::bloom @> id', :'loose', 500 + 9500 * 0.5),
	('%L::bloom @> id', :'empty', 1), ('%L::bloom @> id', :'all_keys', 10000),
	('NOT %L::bloom @> id', :'f500', 9500 - 9500 * 0.01),
	-- only 5000 rows are not NULL, of 5000 values; that 250 of the 500 keys are no
	-- values at all cannot be known
	('%L::bloom @> half', :'f500', 500 + 4500 * 0.01);
SELECT condition, formula, expected BETWEEN formula * 0.9 AND formula * 1.1 AS as_formula, abs(expected - actual) <= 1 + actual * 0.1 AS near_truth
FROM condition, LATERAL (SELECT expected_rows(format(condition, filter)) AS expected, actual_rows(format(condition, filter)) AS actual) r
ORDER BY id;
SELECT expected_rows('NULL::bloom @> id') AS null_filter;

-- not known when planning: a tenth of the rows
CREATE TABLE filter AS SELECT :'f500'::bloom AS f;
SELECT expected_rows('(SELECT f FROM filter) @> id') AS subquery, expected_rows('id <@ (SELECT f FROM filter)') AS commuted,
	expected_rows('bloom_contains((SELECT f FROM filter), id)') AS function, expected_rows('f @> id', 't, (SELECT f FROM filter LIMIT 1) one') AS join_,
	expected_rows('id <@ f', 't, (SELECT f FROM filter LIMIT 1) one') AS join_commuted, expected_rows('bloom_contains(f, id)', 't, (SELECT f FROM filter LIMIT 1) one') AS join_function;
-- a parameter is known in a custom plan only
PREPARE probe(bloom) AS SELECT FROM t WHERE $1 @> id;
CREATE FUNCTION expected_of(command text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || command INTO plan;
	RETURN (plan #>> '{0,Plan,Plan Rows}')::bigint;
END $$;
SET plan_cache_mode = force_custom_plan;
SELECT expected_of(format('EXECUTE probe(%L)', :'f500')) BETWEEN 595 * 0.9 AND 595 * 1.1 AS near;
SET plan_cache_mode = force_generic_plan;
SELECT expected_of(format('EXECUTE probe(%L)', :'f500'));
RESET plan_cache_mode;
-- nothing is known about the values of an expression
SELECT expected_rows(format('%L::bloom @> (id + 1)', :'f500')) AS expression;
-- one that is computed of constants is known as well
SELECT expected_rows('bloom_add(bloom_create(500), 1) @> id') AS one_key;
