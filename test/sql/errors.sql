-- What is refused, and what is said about it.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;
CREATE SCHEMA test_errors;
SET search_path = test_errors, public;

-- SQLSTATE, message, detail and hint of the error that a query ends in.  Shown
-- by a function, because what psql adds to them differs between versions.
CREATE FUNCTION error_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE command;
	RETURN command || E'\n  no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', command, SQLSTATE || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on

----------------------------------------------------------------------------
-- Sizes
----------------------------------------------------------------------------

SELECT error_of(query) FROM (VALUES
	('SELECT bloom_create(0)'),
	('SELECT bloom_create(-1)'),
	('SELECT bloom_create(-9223372036854775808)'),
	('SELECT bloom_create(9223372036854775807)'),
	('SELECT bloom_create(9223372036854775807, 0.999999)'),
	('SELECT bloom_create(9223372036854775808)'),
	-- 2^32 / 9.585058 bits for a key at 1%: 448,089,842 keys, and not one more
	('SELECT bloom_estimate(448089842, 0.01)'),
	('SELECT bloom_create(448089843)'),
	('SELECT bloom_create(10, 0)'),
	('SELECT bloom_create(10, -0.01)'),
	('SELECT bloom_create(10, 1)'),
	('SELECT bloom_create(10, 2)'),
	('SELECT bloom_create(10, ''NaN'')'),
	('SELECT bloom_create(10, ''Infinity'')'),
	('SELECT bloom_create(10, ''-Infinity'')'),
	-- 2^-255 needs 255 hashes and can be had
	('SELECT bloom_create(10, 1.8e-77)'),
	('SELECT bloom_create(10, 1.7e-77)'),
	('SELECT bloom_create(10, 5e-324)'),
	('SELECT bloom_create(10, 0.01, ''md5'')'),
	('SELECT bloom_create(10, 0.01, ''MURMUR64A'')'),
	('SELECT bloom_create(10, 0.01, '''')'),
	('SELECT bloom_create_with_params(0, 7)'),
	('SELECT bloom_create_with_params(-1, 7)'),
	('SELECT bloom_create_with_params(4294967297, 7)'),
	('SELECT bloom_create_with_params(9223372036854775807, 7)'),
	('SELECT bloom_create_with_params(100, 0)'),
	('SELECT bloom_create_with_params(100, -1)'),
	('SELECT bloom_create_with_params(100, 256)'),
	('SELECT bloom_create_with_params(100, 2147483647)'),
	('SELECT bloom_create_with_params(100, 7, ''sha1'')'),
	('SELECT bloom_estimate(0, 0.01)'),
	('SELECT bloom_estimate(10, 1)'),
	('SELECT bloom_estimate(10, ''NaN'')'),
	('SELECT bloom_estimate(448089843, 0.01)'),
	('SELECT bloom_estimate(10, 1e-100)'),
	('SELECT bloom_expected_fpr(0, 7, 10)'),
	('SELECT bloom_expected_fpr(100, 256, 10)'),
	('SELECT bloom_expected_fpr(100, 7, -1)'),
	('SELECT bloom_max_count(0, 7, 0.01)'),
	('SELECT bloom_max_count(100, 0, 0.01)'),
	('SELECT bloom_max_count(100, 7, 1)'),
	('SELECT bloom_max_count(100, 7, ''NaN'')')
) case_(query);

----------------------------------------------------------------------------
-- Filters that do not fit each other
----------------------------------------------------------------------------

CREATE TABLE misfit(a bloom, b bloom);
INSERT INTO misfit VALUES (bloom_create(1000), bloom_create(2000));
SELECT error_of(query) FROM (VALUES
	('SELECT a | b FROM misfit'),
	('SELECT bloom_union(b, a) FROM misfit'),
	('SELECT a & b FROM misfit'),
	('SELECT bloom_intersect(b, a) FROM misfit'),
	('SELECT bloom_union_count(a, b) FROM misfit'),
	('SELECT bloom_intersect_count(a, b) FROM misfit'),
	('SELECT bloom_jaccard(a, b) FROM misfit'),
	('SELECT bloom_union_agg(f) FROM (SELECT a FROM misfit UNION ALL SELECT b FROM misfit) both_(f)'),
	('SELECT bloom_intersect_agg(f) FROM (SELECT a FROM misfit UNION ALL SELECT b FROM misfit) both_(f)'),
	-- each of the three alone
	('SELECT bloom_create_with_params(100, 3) | bloom_create_with_params(101, 3)'),
	('SELECT bloom_create_with_params(100, 3) | bloom_create_with_params(100, 4)'),
	('SELECT bloom_create_with_params(100, 3) | bloom_create_with_params(100, 3, ''fnv1a'')')
) case_(query);

----------------------------------------------------------------------------
-- Parameters of aggregates
----------------------------------------------------------------------------

SELECT error_of('SELECT ' || call || ' FROM generate_series(1, 3) i') FROM (VALUES
	('bloom_agg(i, 0, 0.01)'),
	('bloom_agg(i, -5, 0.01)'),
	('bloom_agg(i, 9223372036854775807, 0.01)'),
	('bloom_agg(i, NULL, 0.01)'),
	('bloom_agg(i, 10, NULL)'),
	('bloom_agg(i, 10, 1)'),
	('bloom_agg(i, 10, ''NaN'')'),
	('bloom_agg(i, 10, 1e-100)'),
	('bloom_agg(i, 9 + i, 0.01)'),
	('bloom_agg(i, 10, 0.01 * i)'),
	('bloom_agg(i, 1.5)'),
	('bloom_agg(i, 0::float8)'),
	('bloom_agg(i, ''NaN''::float8)'),
	('bloom_agg(i, 1e-100)'),
	('bloom_agg(i, NULL::float8)'),
	('bloom_agg(i, 0.01 * i)'),
	('bloom_agg(i, NULL::bloom)'),
	('bloom_agg(i, CASE i WHEN 1 THEN bloom_create(10) END)'),
	('bloom_agg(i, bloom_create(9 + i))'),
	('bloom_agg(i, CASE i WHEN 1 THEN bloom_create(5) ELSE bloom_create(6) END)'),
	('bloom_agg(i, CASE i WHEN 1 THEN bloom_create(10) ELSE bloom_create(10, hash => ''fnv1a'') END)'),
	-- other keys in it do not matter
	('bloom_agg(i, bloom_add(bloom_create(10), i))')
) case_(call);

----------------------------------------------------------------------------
-- Types that cannot be keys
----------------------------------------------------------------------------

CREATE TABLE f AS SELECT bloom_create(10) AS f;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN good_mood AS mood CHECK (VALUE <> 'sad');
CREATE TYPE with_enum AS (a int, m mood);
CREATE TYPE with_enum_inside AS (a int, w with_enum);
CREATE TYPE with_enum_array AS (a int, m mood[]);
CREATE TYPE with_enum_domain AS (m good_mood);
CREATE DOMAIN good_with_enum AS with_enum CHECK ((VALUE).a > 0);
CREATE TYPE mood_range AS RANGE (subtype = mood);
CREATE TYPE with_class AS (c regclass);
CREATE TYPE with_json AS (j json);
CREATE DOMAIN ints AS int[];
CREATE DOMAIN word AS citext;
CREATE DOMAIN long_word AS word CHECK (length(VALUE) > 2);
CREATE TYPE with_citext AS (c citext);

-- arrays: what should be the key?
SELECT error_of('SELECT f @> ' || key || ' FROM f') FROM (VALUES
	('ARRAY[1, 2]'), ('ARRAY[''a'', ''b'']'), ('ARRAY[[1], [2]]'), ('''{}''::text[]'), ('ARRAY[1]::ints'),
	('ARRAY[''sad'']::mood[]'), ('ARRAY[ROW(1, 2)]'), ('''1 2''::int2vector'), ('''1 2''::oidvector')
) case_(key);
-- in every function that takes one key
SELECT error_of(query) FROM (VALUES
	('SELECT bloom_add(f, ARRAY[1]) FROM f'),
	('SELECT bloom_contains(f, ARRAY[1]) FROM f'),
	('SELECT ARRAY[1] <@ f FROM f'),
	('SELECT bloom_agg(ARRAY[i]) FROM generate_series(1, 3) i'),
	('SELECT bloom_agg(ARRAY[i], 10, 0.01) FROM generate_series(1, 3) i')
) case_(query);
-- and not an array where there must be one
SELECT error_of('SELECT bloom_add_all(f, 1) FROM f');
SELECT error_of('SELECT bloom_contains_each(f, ''a''::text) FROM f');

-- a filter is no key of a filter, not even one of another type
SELECT error_of(query) FROM (VALUES
	('SELECT f @> f FROM f'), ('SELECT f <@ f FROM f'), ('SELECT bloom_add(f, f) FROM f'), ('SELECT bloom_agg(f) FROM f'),
	('SELECT bloom_add_all(f, ARRAY[f]) FROM f')
) case_(query);

-- containers of enums, and of what else is an OID of a catalog, at any depth
SELECT error_of('SELECT f @> ' || key || ' FROM f') FROM (VALUES
	('ROW(1, ''sad'')::with_enum'),
	('ROW(1, ROW(1, ''sad''))::with_enum_inside'),
	('ROW(1, ''{sad}'')::with_enum_array'),
	('ROW(''ok'')::with_enum_domain'),
	('ROW(1, ''sad'')::good_with_enum'),
	('ROW(1, NULL)::with_enum'),
	('mood_range(''sad'', ''ok'')'),
	('mood_multirange(mood_range(''sad'', ''ok''))'),
	('ROW(1, ''sad''::mood)'),
	('ROW(1, ''ok''::good_mood)'),
	('ROW(1, NULL::mood)'),
	('ROW(1, ROW(2, ''sad''::mood))'),
	('ROW(1, ROW(2, ROW(1, ''sad'')::with_enum))'),
	('ROW(1, ARRAY[''sad'']::mood[])'),
	('ROW(1, ARRAY[ROW(''sad''::mood)])'),
	('ROW(1, ARRAY[ROW(1, ROW(''sad''::mood))])'),
	('ROW(mood_range(''sad'', ''ok''))'),
	('''pg_class''::regclass'),
	('''pg_catalog''::regnamespace'),
	('''int4''::regtype'),
	('''now()''::regprocedure'),
	('ROW(''pg_class'')::with_class'),
	('ROW(''pg_class''::regclass)'),
	('makeaclitem(10, 10, ''SELECT'', false)')
) case_(key);
-- the enum itself is fine, alone and in an array of keys
SELECT error_of('SELECT f @> ''sad''::mood, bloom_contains_each(f, ''{sad,ok}''::mood[]) FROM f');
-- not only the first record at a call site is looked at
SELECT error_of('SELECT bloom_agg(r, 10, 0.01) FROM (VALUES (1, ROW(1, 2)), (2, ROW(1, ''sad''::mood))) v(i, r)');
SELECT error_of('SELECT bloom_agg(r, 10, 0.01) FROM (VALUES (1, ROW(1, 2)), (2, ROW(''b''::text, 1)), (3, ROW(1, ARRAY[2]))) v(i, r)');
SELECT error_of('SELECT bloom_add_all(f, ARRAY[ROW(1, 2), ROW(1, ''sad''::mood)]) FROM f');
SELECT error_of('SELECT bloom_agg(w) FROM (VALUES (ROW(1, ''sad'')::with_enum)) v(w)');

-- types without a hash function
SELECT error_of('SELECT f @> ' || key || ' FROM f') FROM (VALUES
	('''{}''::json'), ('''(1,2)''::point'), ('B''101'''), ('''101''::varbit'), ('''((1,2),(3,4))''::box'),
	('1::money'), ('''a b''::tsvector'), ('ROW(''{}'')::with_json')
) case_(key);
-- in an anonymous record; inside of one the server does not hash another one
SELECT error_of('SELECT f @> ROW(''{}''::json) FROM f');
SELECT error_of('SELECT f @> ROW(ROW(1)) FROM f');
-- xml is one too, in a server that was built with it
SELECT error_of('SELECT f @> ''<a/>''::xml FROM f') IN (
	E'SELECT f @> ''<a/>''::xml FROM f\n  42883: cannot use a value of type xml as a filter key\n  The type has no 64-bit hash function.\n  Cast the value to text.',
	E'SELECT f @> ''<a/>''::xml FROM f\n  0A000: unsupported XML feature\n  This functionality requires the server to be built with libxml support.') AS xml;
-- with the cast that the hint names
SELECT error_of('SELECT f @> ''{}''::json::text, f @> ''(1,2)''::point::text, f @> B''101''::text, f @> ROW(1, ''sad''::mood)::text, f @> ''pg_class''::regclass::text FROM f');

----------------------------------------------------------------------------
-- citext, and what else turns into text but is equal in another way
----------------------------------------------------------------------------

CREATE TABLE words(w citext, d word, dd long_word);
INSERT INTO words VALUES ('ABC', 'ABC', 'ABC');

-- constants, columns, domains over it, in every function
SELECT error_of(query) FROM (VALUES
	('SELECT f @> ''ABC''::citext FROM f'),
	('SELECT f @> citext ''ABC'' FROM f'),
	('SELECT f @> ''ABC''::word FROM f'),
	('SELECT f @> ''ABC''::long_word FROM f'),
	('SELECT f @> w FROM f, words'),
	('SELECT f @> d FROM f, words'),
	('SELECT f @> dd FROM f, words'),
	('SELECT ''ABC''::citext <@ f FROM f'),
	('SELECT w <@ f FROM f, words'),
	('SELECT bloom_contains(f, w) FROM f, words'),
	('SELECT bloom_contains(key => w, filter => f) FROM f, words'),
	('SELECT bloom_add(f, ''ABC''::citext) FROM f'),
	('SELECT bloom_add(f, w) FROM f, words'),
	('SELECT bloom_add_all(f, ARRAY[w]) FROM f, words'),
	('SELECT bloom_add_all(f, ''{ABC}''::citext[]) FROM f'),
	('SELECT bloom_contains_each(f, ARRAY[d]) FROM f, words'),
	('SELECT f @> ANY (ARRAY[w]) FROM f, words'),
	('SELECT bloom_agg(w) FROM words'),
	('SELECT bloom_agg(w, 0.01) FROM words'),
	('SELECT bloom_agg(dd, 10, 0.01) FROM words'),
	('SELECT bloom_agg(w, f) FROM words, f GROUP BY f'),
	('SELECT bloom_agg(w) OVER () FROM words'),
	('SELECT bloom_agg(w, 10, 0.01) OVER (ORDER BY w) FROM words'),
	('SELECT FROM words, f WHERE f @> w'),
	('SELECT FROM words, f WHERE CASE WHEN f @> w THEN true ELSE false END')
) case_(query);

-- in a procedure
CREATE FUNCTION probe_variable(f bloom) RETURNS boolean LANGUAGE plpgsql AS $$ DECLARE v citext := 'ABC'; BEGIN RETURN f @> v; END $$;
CREATE FUNCTION probe_record(f bloom) RETURNS boolean LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN SELECT w INTO r FROM words; RETURN f @> r.w; END $$;
CREATE FUNCTION probe_parameter(f bloom, v citext) RETURNS boolean LANGUAGE sql AS $$ SELECT f @> v $$;
CREATE FUNCTION probe_any(f bloom, v anyelement) RETURNS boolean LANGUAGE sql AS $$ SELECT f @> v $$;
SELECT error_of('SELECT probe_variable(f) FROM f');
SELECT error_of('SELECT probe_record(f) FROM f');
SELECT error_of('SELECT probe_parameter(f, ''ABC'') FROM f');
SELECT error_of('SELECT probe_any(f, ''ABC''::citext) FROM f');

-- in a prepared statement, with and without its value known when planning
PREPARE probe(citext) AS SELECT f @> $1 FROM f;
SET plan_cache_mode = force_custom_plan;
SELECT error_of('EXECUTE probe(''ABC'')');
SET plan_cache_mode = force_generic_plan;
SELECT error_of('EXECUTE probe(''ABC'')');
RESET plan_cache_mode;

-- The hint works.  An explicit cast to text alone means the spelling.
SELECT error_of('SELECT f @> lower(w::text), f @> w::text FROM f, words');
SELECT bloom_add(f, lower(w::text)) @> 'abc', bloom_add(f, w::text) @> 'ABC', bloom_add(f, w::text) @> 'abc' FROM f, words;
-- in a row its equality is kept: by its hash function
SELECT bloom_add(f, ROW('ABC'::citext)) @> ROW('abc'::citext), bloom_add(f, ROW('ABC')::with_citext) @> ROW('abc')::with_citext,
	bloom_add(f, ROW('ABC')::with_citext) @> ROW('abd')::with_citext FROM f;

-- "char" becomes text too, and has a hash operator class of its own
SELECT error_of('SELECT f @> ''a''::"char" FROM f');
