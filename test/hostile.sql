-- What test/t/020_hostile_input.pl runs: damaged values of every type through
-- every way in, and every function on what was accepted.  :folder is a place
-- for files.

-- The extension's own types and the functions that take one of them.
CREATE VIEW own_types AS
	SELECT t.oid, t.typname FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')
		AND t.typtype = 'b' AND t.typcategory <> 'A';
CREATE VIEW own_functions AS
	SELECT p.* FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter');

-- An argument for a parameter; in each call $1 is the damaged value, $2 the whole one.
CREATE TABLE arguments (type regtype PRIMARY KEY, expression text);
INSERT INTO arguments VALUES
	('anycompatible', '''key''::text'), ('anyelement', '42'), ('anyarray', 'ARRAY[1, NULL, 7]'),
	('anycompatiblearray', 'ARRAY[1, NULL, 7]'), ('bigint', '3'), ('integer', '3'), ('double precision', '0.5'),
	('text', '''murmur64a'''), ('bytea', '''\x00'''), ('boolean', 'true');

-- A call of a function: all values of the type are the damaged one, or (whole)
-- all but the first are the whole one.
CREATE FUNCTION call_of(function oid, value_type oid, whole boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p pg_proc;
	list text := '';
	argument text;
	seen boolean := false;
	parameter oid;
BEGIN
	SELECT * INTO p FROM pg_proc WHERE oid = function;
	FOREACH parameter IN ARRAY p.proargtypes LOOP
		IF parameter = value_type THEN
			argument := CASE WHEN seen AND whole THEN '$2' ELSE '$1' END;
			seen := true;
		ELSE
			SELECT expression INTO argument FROM arguments WHERE type = parameter;
			IF argument IS NULL THEN
				RAISE 'no argument of type % for %', parameter::regtype, function::regprocedure;
			END IF;
		END IF;
		list := concat_ws(', ', nullif(list, ''), argument);
	END LOOP;
	IF p.proretset THEN
		RETURN format('(SELECT count(*) FROM %I(%s))', p.proname, list);
	ELSIF p.prokind = 'a' THEN
		RETURN format('(SELECT %I(%s) FROM generate_series(1, 2))', p.proname, list);
	END IF;
	RETURN format('%I(%s)', p.proname, list);
END $$;

-- (A parameter of type internal cannot be given a value in SQL, not even NULL.)
--
-- For each type a function use_TYPE(value, whole) that makes all the calls and
-- answers the errors there were; one statement each, so that one error hides no other.
DO $$
DECLARE
	t record;
	f record;
	body text;
BEGIN
	FOR t IN SELECT * FROM own_types LOOP
		body := '';
		FOR f IN SELECT DISTINCT call_of(p.oid, t.oid, whole) AS call
			FROM own_functions p, (VALUES (true), (false)) w (whole)
			WHERE t.oid = ANY (p.proargtypes) AND 'internal'::regtype <> ALL (p.proargtypes) ORDER BY 1
		LOOP
			body := body || format(E'BEGIN\nPERFORM %s;\nEXCEPTION WHEN OTHERS THEN errors := errors || concat_ws('' '', SQLSTATE, %L, SQLERRM);\nEND;\n', f.call, f.call);
		END LOOP;
		EXECUTE format('CREATE FUNCTION use_%s(%s, %s, OUT errors text[]) LANGUAGE plpgsql AS $f$ BEGIN %s END $f$',
			t.typname, t.oid::regtype, t.oid::regtype, body);
	END LOOP;
END $$;

-- All damages of some bytes: every length, every byte with several values, every
-- aligned field at its extremes, and every two fields of 8 bytes exchanged, as the
-- rows of a sketch must still sum up to be accepted.
CREATE FUNCTION damages(whole bytea) RETURNS SETOF bytea LANGUAGE sql AS $$
	SELECT substring(whole FROM 1 FOR n) FROM generate_series(0, length(whole) - 1) n
	UNION SELECT whole || extra FROM (VALUES ('\x00'::bytea), ('\xffffffffffffffff'), (whole)) e (extra)
	UNION SELECT set_byte(whole, n, damaged & 255) FROM generate_series(0, length(whole) - 1) n,
		LATERAL (SELECT get_byte(whole, n)) b (old),
		unnest(ARRAY[0, 255, old # 255, old + 1, old - 1, old # 1, old # 2, old # 4, old # 8, old # 16, old # 32, old # 64, old # 128]) damaged
	UNION SELECT substring(whole FROM 1 FOR n) || field || substring(whole FROM n + length(field) + 1)
	FROM generate_series(0, length(whole) - 1, 4) n,
		-- integers, then doubles: next to 0 and 1, denormal, above 1, infinite, NaN, negative
		unnest(ARRAY['\x00000000', '\x00000001', '\x7fffffff', '\x80000000', '\xffffffff',
			'\x0000000000000000', '\x0000000000000001', '\x7fffffffffffffff', '\x8000000000000000', '\xffffffffffffffff',
			'\x0000000100000000', '\x0000000100000001', '\x0000000000000040', '\x3fefffffffffffff', '\x3ff0000000000000',
			'\x0010000000000000', '\x7ff0000000000000', '\x7ff8000000000000', '\xbfe0000000000000']::bytea[]) field
	WHERE n + length(field) <= length(whole)
	UNION SELECT overlay(overlay(whole PLACING substring(whole FROM m + 1 FOR 8) FROM n + 1)
		PLACING substring(whole FROM n + 1 FOR 8) FROM m + 1)
	FROM generate_series(4, length(whole) - 16, 8) n, generate_series(n + 8, length(whole) - 8, 8) m
$$;

-- The ways in.  Each answers the value, or raises.
CREATE FUNCTION through_bytea(damaged bytea, type regtype, folder text, INOUT value anyelement) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT $1::%s', type) INTO value USING damaged;
END $$;
CREATE FUNCTION through_text(damaged bytea, type regtype, folder text, INOUT value anyelement) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT $1::%s', type) INTO value USING replace(encode(damaged, 'base64'), E'\n', '');
END $$;
CREATE FUNCTION through_binary_copy(damaged bytea, type regtype, folder text, INOUT value anyelement) LANGUAGE plpgsql AS $$
BEGIN
	-- what goes out as bytea comes in as the type's binary form
	EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', damaged, folder || '/damaged');
	EXECUTE format('DELETE FROM arrived_%s', type);
	EXECUTE format('COPY arrived_%s FROM %L (FORMAT binary)', type, folder || '/damaged');
	EXECUTE format('SELECT v FROM arrived_%s', type) INTO value;
END $$;

-- Send all damages of a value in by one way; use what is accepted.
CREATE TABLE outcome (type regtype, way text, damaged bytea, state text, message text, errors text[]);
CREATE PROCEDURE attack(type regtype, way text, whole anyelement, folder text) LANGUAGE plpgsql AS $$
DECLARE
	damaged bytea;
	value whole%TYPE;
	back bytea;
	errors text[];
BEGIN
	FOR damaged IN EXECUTE 'SELECT damages($1::bytea)' USING whole LOOP
		BEGIN
			EXECUTE format('SELECT %s($1, $2, $3, $4)', way) INTO value USING damaged, type, folder, whole;
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO outcome VALUES (type, way, damaged, SQLSTATE, SQLERRM);
			CONTINUE;
		END;
		EXECUTE 'SELECT $1::bytea' INTO back USING value;
		EXECUTE format('SELECT use_%s($1, $2)', type) INTO errors USING value, whole;
		INSERT INTO outcome VALUES (type, way, damaged, CASE WHEN back = damaged THEN '00000' ELSE 'changed' END, NULL, errors);
	END LOOP;
END $$;

-- The same of its text, character by character; text that is taken is another value.
CREATE PROCEDURE attack_text(type regtype, whole anyelement) LANGUAGE plpgsql AS $$
DECLARE
	damaged text;
	value whole%TYPE;
	errors text[];
BEGIN
	FOR damaged IN SELECT left(t, n) FROM (SELECT whole::text) w (t), generate_series(0, length(t) - 1) n
		UNION SELECT overlay(t PLACING c FROM n FOR 1) FROM (SELECT whole::text) w (t), generate_series(1, length(t)) n,
			unnest(ARRAY['=', '+', 'A', '/', ' ', E'\n', '%', E'\u00e9', E'\u20ac']) c
		UNION SELECT t || c FROM (SELECT whole::text) w (t), unnest(ARRAY['=', '==', '====', 'AAAA', E'\n', ' ', t]) c
		UNION SELECT repeat('=', n) FROM generate_series(1, 8) n
	LOOP
		BEGIN
			EXECUTE format('SELECT $1::%s', type) INTO value USING damaged;
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO outcome VALUES (type, 'characters', convert_to(damaged, 'UTF8'), SQLSTATE, SQLERRM);
			CONTINUE;
		END;
		EXECUTE format('SELECT use_%s($1, $2)', type) INTO errors USING value, whole;
		INSERT INTO outcome VALUES (type, 'characters', convert_to(damaged, 'UTF8'), '00000', NULL, errors);
	END LOOP;
END $$;

SELECT format('CREATE TABLE arrived_%s (v %s)', typname, oid::regtype) FROM own_types \gexec
-- One small sample of each type.
CREATE TABLE whole (type regtype PRIMARY KEY, build text);
DO $$
DECLARE
	s record;
	size int;
BEGIN
	FOR s IN SELECT * FROM samples LOOP
		EXECUTE format('SELECT length((%s)::bytea)', s.build) INTO size;
		IF size <= 300 AND s.name <> 'one bit' THEN
			INSERT INTO whole VALUES (s.type::regtype, s.build);
		END IF;
	END LOOP;
END $$;

-- The calls themselves are right: none fails on a whole value.
CREATE TABLE calls (type regtype, errors text[]);
SELECT format('INSERT INTO calls SELECT %L, use_%s(v, v) FROM (SELECT %s) s (v)', type, type, build) FROM whole \gexec
SELECT format('CALL attack(%L, %L, %s, %L)', type, way, build, :'folder')
FROM whole, unnest(ARRAY['through_bytea', 'through_text', 'through_binary_copy']) way \gexec
SELECT format('CALL attack_text(%L, %s)', type, build) FROM whole \gexec
