-- What test/t/021_leaks.pl runs: every function of the extension is called
-- :calls times within one statement, and the memory that this process has in
-- use after a tenth of them is compared with that at the end.

CREATE FUNCTION memory_in_use() RETURNS bigint LANGUAGE sql VOLATILE AS
	'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
SELECT memory_in_use() > 0;

CREATE VIEW own_types AS
	SELECT t.oid, t.typname FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')
		AND t.typtype = 'b' AND t.typcategory <> 'A';
CREATE VIEW own_functions AS
	SELECT p.oid, p.oid::regprocedure::text AS signature, proname, prokind, proretset, prorettype, proargtypes
	FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter');

-- Values: for each type two small ones, and a table of stored ones, more than a
-- call site keeps.
CREATE TABLE small (only_row boolean PRIMARY KEY DEFAULT true);
INSERT INTO small VALUES (true);
DO $$
DECLARE
	t record;
	build_small text;
	build_stored text;
BEGIN
	FOR t IN SELECT * FROM own_types LOOP
		SELECT build INTO STRICT build_small FROM samples WHERE type = t.typname AND name = 'small';
		SELECT build INTO STRICT build_stored FROM samples WHERE type = t.typname AND name = 'texts' OR type = t.typname AND name = 'one layer';
		EXECUTE format('ALTER TABLE small ADD %I_0 %I, ADD %1$I_1 %2$I', t.typname, t.typname);
		EXECUTE format('UPDATE small SET %I_0 = %s, %1$I_1 = %2$s', t.typname, build_small);
		EXECUTE format('CREATE TABLE stored_%s (n int PRIMARY KEY, v %I)', t.typname, t.typname);
		EXECUTE format('ALTER TABLE stored_%s ALTER v SET STORAGE external', t.typname);
		EXECUTE format('INSERT INTO stored_%s SELECT n, v FROM generate_series(0, 15) n, (SELECT %s) b (v)', t.typname, build_stored);
		EXECUTE format('ANALYZE stored_%s', t.typname);
	END LOOP;
END $$;

CREATE TABLE indexed (k text);
INSERT INTO indexed SELECT 'key:' || n FROM generate_series(1, 1000) n;
CREATE INDEX indexed_a ON indexed USING bloomfilter (k);
CREATE INDEX indexed_b ON indexed USING bloomfilter (k);
ANALYZE indexed;

-- Arguments by type: i is the number of the call, so nothing is computed once.
-- Keys repeat, so that what is counted or collected does not grow.
CREATE TABLE arguments (type regtype PRIMARY KEY, expression text);
INSERT INTO arguments VALUES
	('anycompatible', '(''key:'' || i % 10)'), ('anyelement', 'i % 10'), ('anyarray', 'ARRAY[i % 10, NULL, 3]'),
	('anycompatiblearray', 'ARRAY[i % 10, NULL, 3]'), ('double precision', '0.1'),
	-- a constant, because an aggregate wants the same in all rows, but none to the planner
	('bigint', '(3 + i - i)'), ('integer', '(8 + i - i)::int'), ('text', '''murmur64a''::text'), ('boolean', '(i % 2 = 0)'),
	('regclass', '(CASE i % 2 WHEN 0 THEN ''indexed_a'' ELSE ''indexed_b'' END)::regclass');

CREATE FUNCTION call_of(function own_functions, stored boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	parameter regtype;
	argument text;
	list text[] := '{}';
	result_type name := (SELECT typname FROM own_types WHERE oid = function.prorettype);
BEGIN
	FOREACH parameter IN ARRAY function.proargtypes LOOP
		argument := CASE
			WHEN parameter = 'cstring'::regtype THEN format('%s_out(%1$s_0)', result_type)
			WHEN parameter = 'bytea'::regtype THEN format('%s_0::bytea', result_type)
			ELSE (SELECT expression FROM arguments WHERE type = parameter) END;
		IF parameter IN (SELECT oid FROM own_types) THEN
			argument := CASE WHEN stored THEN 'v' ELSE format('CASE i %% 2 WHEN 0 THEN %s_0 ELSE %1$s_1 END', parameter) END;
		END IF;
		IF argument IS NULL THEN
			RAISE 'no argument of type % for %', parameter, function.signature;
		END IF;
		list := list || argument;
	END LOOP;
	IF function.proretset THEN
		RETURN format('count((SELECT count(*) FROM %I(%s)))', function.proname, array_to_string(list, ', '));
	ELSIF function.prokind = 'a' THEN
		RETURN format('%I(%s) IS NULL', function.proname, array_to_string(list, ', '));
	END IF;
	RETURN format('count(%I(%s))', function.proname, array_to_string(list, ', '));
END $$;

CREATE TABLE result (what text, calls bigint, result text, before bigint, after bigint);

-- Every function that can be called in SQL: nothing can be given to a parameter
-- of type internal, so parts of aggregates are called by the aggregates.
SELECT format('INSERT INTO result SELECT %L, %s, (%s)::text,
		max(CASE i WHEN %2$s / 10 THEN memory_in_use() END), max(CASE i WHEN %2$s THEN memory_in_use() END)
	FROM small, (SELECT generate_series(1, %2$s) AS i OFFSET 0) n', signature, :calls, call_of(f, false))
FROM own_functions f WHERE 'internal'::regtype <> ALL (proargtypes) \gexec

-- The same of stored values, a tenth as often.
SELECT format('INSERT INTO result SELECT %L, %s, (%s)::text,
		max(CASE i WHEN %2$s / 10 THEN memory_in_use() END), max(CASE i WHEN %2$s THEN memory_in_use() END)
	FROM (SELECT generate_series(1, %2$s) AS i OFFSET 0) n, LATERAL (SELECT v FROM stored_%4$s s WHERE s.n = i %% 16 OFFSET 0) stored',
	signature || ' of stored values', :calls / 10, call_of(f, true), typname)
FROM own_functions f JOIN own_types t ON t.oid = ANY (proargtypes)
WHERE 'internal'::regtype <> ALL (proargtypes) \gexec

-- Binary input and output, which only the protocol can call: the trigger takes
-- the value and drops the row.
CREATE TABLE copied_at (n bigint, memory bigint);
CREATE SEQUENCE copied;
CREATE FUNCTION take_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	n bigint := nextval('copied');
BEGIN
	IF n = TG_ARGV[0]::bigint / 10 OR n = TG_ARGV[0]::bigint THEN
		INSERT INTO copied_at VALUES (n, memory_in_use());
	END IF;
	RETURN NULL;
END $$;
SELECT format('CREATE TABLE copied_%s (v %1$I)', typname),
	format('CREATE TRIGGER take BEFORE INSERT ON copied_%s FOR EACH ROW EXECUTE FUNCTION take_row(%s)', typname, :calls),
	format('COPY (SELECT CASE i %% 2 WHEN 0 THEN %s_0 ELSE %1$s_1 END FROM small, generate_series(1, %s) i) TO %L (FORMAT binary)',
		typname, :calls, :'folder' || '/' || typname),
	'TRUNCATE copied_at', 'ALTER SEQUENCE copied RESTART',
	format('COPY copied_%s FROM %L (FORMAT binary)', typname, :'folder' || '/' || typname),
	format('INSERT INTO result SELECT %L, %s, ''copied'', min(memory) FILTER (WHERE n < %2$s), min(memory) FILTER (WHERE n = %2$s) FROM copied_at',
		typname || '_recv, _send', :calls)
FROM own_types \gexec

-- A loop in PL/pgSQL, with an error now and then.
SELECT format($f$DO $$
DECLARE
	f %I;
	before bigint;
BEGIN
	SELECT %1$s_0 INTO f FROM small;
	FOR i IN 1 .. %s LOOP
		BEGIN
			f := CASE WHEN i %% 100 = 0 THEN convert_from('\x80', 'UTF8')::%1$I ELSE %3$s END;
		EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
			NULL;
		END;
		IF i = %2$s / 10 THEN
			before := memory_in_use();
		END IF;
	END LOOP;
	INSERT INTO result VALUES (%4$L, %2$s, 'loop', before, memory_in_use());
END $$$f$, typname, :calls / 10,
	(SELECT format('%I(f, ''key:'' || i %% 10)', proname) FROM own_functions WHERE prorettype = t.oid
		AND proargtypes[0] = t.oid AND proargtypes[1] = 'anycompatible'::regtype AND proname LIKE '%add'),
	typname || ' in PL/pgSQL')
FROM own_types t \gexec

-- Planning, which calls the support functions: no value of theirs may stay.
DO $$
DECLARE
	plan text;
	before bigint;
	t name;
	calls int := 10000;
BEGIN
	FOR t IN SELECT typname FROM own_types
		WHERE EXISTS (SELECT FROM pg_operator WHERE oprname = '@>' AND oprleft = own_types.oid)
	LOOP
		FOR i IN 1 .. calls LOOP
			EXECUTE format('EXPLAIN SELECT FROM stored_%s s, generate_series(1, 10) k WHERE v @> k AND k <@ (SELECT %1$s_0 FROM small) AND ''key'' <@ v', t) INTO plan;
			IF i = calls / 10 THEN
				before := memory_in_use();
			END IF;
		END LOOP;
		INSERT INTO result VALUES (t || ' planned', calls, plan, before, memory_in_use());
	END LOOP;
END $$;
