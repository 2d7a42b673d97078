-- What is stored today is read for ever: recorded values of each format version
-- in test/data keep their bytes and their answers, and every type has some.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_format;
SET search_path = test_format, public;

CREATE VIEW stored_type AS
SELECT typname::text AS type
FROM pg_depend JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND typtype = 'b' AND typcategory <> 'A'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter');
SELECT count(*) >= 3 AS there_are_types FROM stored_type;

-- the text of an expression, in which the names are parameters
CREATE FUNCTION evaluate(expression text, type text, value text DEFAULT NULL, key text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT (%s)::text FROM (SELECT $1::%I AS value, $2 AS key) input', expression, type) INTO result USING value, key;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN 'ERROR: ' || SQLERRM;
END $$;

----------------------------------------------------------------------------
-- Recorded values
----------------------------------------------------------------------------

\set recorded `cat "$PG_ABS_SRCDIR/data/format-1.json"`
CREATE TABLE recorded AS
SELECT v ->> 'type' AS type, v ->> 'name' AS name, v ->> 'made_by' AS made_by, v ->> 'value' AS value, v -> 'answers' AS answers
FROM jsonb_array_elements(:'recorded'::jsonb -> 'values') v;
SELECT count(*) >= 12 AS there_are_values, min(jsonb_array_length(jsonb_path_query_array(answers, '$.keyvalue()'))) > 1 AS each_with_answers FROM recorded;

-- a type without one
SELECT type FROM stored_type EXCEPT SELECT type FROM recorded;

-- Everything that should be, with what is; where it differs, a line.
CREATE FUNCTION differences(recorded) RETURNS TABLE (what text, wanted text, got text) LANGUAGE sql AS $$
	SELECT * FROM (
		SELECT 'format version', '1', get_byte(decode($1.value, 'base64'), 1)::text
		UNION ALL SELECT 'text', $1.value, evaluate('value', $1.type, $1.value)
		UNION ALL SELECT 'bytea', decode($1.value, 'base64')::text, evaluate('value::bytea', $1.type, $1.value)
		UNION ALL SELECT 'from bytea', $1.value,
			evaluate(format('decode(%L, ''base64'')::%I', $1.value, $1.type), $1.type, $1.value)
		UNION ALL SELECT 'binary', decode($1.value, 'base64')::text, evaluate($1.type || '_send(value)', $1.type, $1.value)
		UNION ALL SELECT 'made by', $1.value, evaluate($1.made_by, $1.type, $1.value) WHERE $1.made_by IS NOT NULL
		UNION ALL SELECT key, value, evaluate(key, $1.type, $1.value) FROM jsonb_each_text($1.answers)
	) facts (what, wanted, got)
	WHERE wanted IS DISTINCT FROM got
$$;
SELECT type, name, d.* FROM recorded r, differences(r) d ORDER BY type, name, what;

-- That finds a wrong bit, a wrong answer, a value that cannot be read, and nothing else.
CREATE TABLE spoiled AS SELECT * FROM recorded WHERE type = 'bloom' AND name = 'one bit';
UPDATE spoiled SET value = 'AQEBAAAAAAEAAAAAAAAAAAAAAAEAAAAAAAAAAT/gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
SELECT count(*) AS wrong_facts, bool_or(what = 'made by') AS bytes, bool_or(what LIKE 'bloom_contains_each%') AS answers
FROM spoiled s, differences(s::text::recorded) d;
UPDATE spoiled SET value = encode(set_byte(decode(value, 'base64'), 1, 2), 'base64');
SELECT what, got FROM spoiled s, differences(s::text::recorded) d WHERE what IN ('format version', 'text') ORDER BY what;

----------------------------------------------------------------------------
-- Samples, which the tests of dumps and upgrades take from the same file
----------------------------------------------------------------------------

\getenv folder PG_ABS_SRCDIR
\set samples :folder '/data/samples.sql'
\set ECHO none
\i :samples
\set ECHO all

-- a type without one, or without one that has keys
SELECT type FROM stored_type EXCEPT SELECT type FROM samples WHERE keys <> 'ARRAY[]::text[]';

-- Each can be made, survives text, binary and bytea, and knows its keys.
CREATE TABLE made AS SELECT type, name, keys, knows, evaluate(build, type) AS value FROM samples;
SELECT type, name, left(value, 200) AS value FROM made WHERE value IS NULL OR value LIKE 'ERROR%';
SELECT type, name FROM made
WHERE evaluate('value', type, value) <> value
	OR evaluate(format('value::bytea::%I', type), type, value) <> value
	OR evaluate(type || '_send(value) = value::bytea', type, value) IS DISTINCT FROM 'true';
SELECT type, name, lost FROM made,
	evaluate(format('(SELECT count(*) FROM unnest(%s) key WHERE (%s) IS NOT TRUE)', keys, knows), type, value) lost
WHERE lost <> '0';

SET client_min_messages = warning;
DROP SCHEMA test_format CASCADE;
