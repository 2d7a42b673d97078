-- Collations of text keys.  Strings that a nondeterministic collation calls equal
-- differ in their bytes, so a filter cannot hold them.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
-- such collations need ICU: a server without it ends here (collations_1.out)
SELECT count(*) = 0 AS no_icu FROM pg_collation WHERE collprovider = 'i' \gset
\if :no_icu
\quit
\endif
CREATE SCHEMA test_collations;
SET search_path = test_collations, public;

SET client_min_messages = warning;
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION exact (provider = icu, locale = 'und');
RESET client_min_messages;
CREATE TABLE f AS SELECT bloom_create(10) AS f;
CREATE DOMAIN any_case_word AS text COLLATE any_case;
CREATE TABLE words(any_case text COLLATE any_case, d any_case_word, v varchar COLLATE any_case, c char(5) COLLATE any_case,
	n name COLLATE any_case, exact text COLLATE exact, plain text COLLATE "C");
INSERT INTO words VALUES ('ABC', 'ABC', 'ABC', 'ABC', 'ABC', 'ABC', 'ABC');
SELECT 'abc' = any_case AS equal_but_not_same FROM words;

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

SELECT error_of(query) FROM (VALUES
	('SELECT f @> any_case FROM f, words'),
	('SELECT f @> v FROM f, words'),
	('SELECT f @> c FROM f, words'),
	('SELECT f @> n FROM f, words'),
	('SELECT f @> d FROM f, words'),
	('SELECT any_case <@ f FROM f, words'),
	('SELECT f @> ''abc'' COLLATE any_case FROM f'),
	('SELECT f @> plain COLLATE any_case FROM f, words'),
	('SELECT f @> lower(any_case) FROM f, words'),
	('SELECT bloom_add(f, any_case) FROM f, words'),
	('SELECT bloom_add_all(f, ARRAY[any_case]) FROM f, words'),
	('SELECT bloom_contains_each(f, ARRAY[any_case]) FROM f, words'),
	('SELECT bloom_agg(any_case) FROM words'),
	('SELECT bloom_agg(any_case, 10, 0.01) FROM words'),
	('SELECT bloom_agg(any_case) OVER () FROM words')
) case_(query);

-- what is accepted: the collation of the hint, any other deterministic one, and
-- types that are not text
SELECT f @> any_case COLLATE "C", bloom_add(f, any_case COLLATE "C") @> 'ABC', bloom_add(f, any_case COLLATE "C") @> 'abc',
	bloom_add(f, exact) = bloom_add(f, plain), bloom_add(f, exact COLLATE "und-x-icu") @> 'ABC',
	bloom_add_all(f, ARRAY[any_case COLLATE "C"]) @> 'ABC', bloom_add(f, convert_to(any_case, 'UTF8')) @> 'ABC'
FROM f, words;
SELECT bloom_agg(any_case COLLATE "C") @> 'ABC' FROM words;

-- a row keeps its columns' equality, by its hash function
CREATE TYPE with_any_case AS (t text COLLATE any_case);
SELECT bloom_add(f, ROW('ABC')::with_any_case) @> ROW('abc')::with_any_case,
	bloom_add(f, ROW('ABC')::with_any_case) @> ROW('abd')::with_any_case FROM f;

-- two columns whose collations conflict give none: one could be nondeterministic
SELECT error_of(query) FROM (VALUES
	('SELECT bloom_agg(any_case || exact) FROM words'),
	('SELECT f @> (any_case || exact) FROM f, words'),
	('SELECT f @> (any_case || exact) COLLATE "C" FROM f, words')
) case_(query);
