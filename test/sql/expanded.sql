-- A changed filter is an expanded object, which may be changed again in place:
-- by nested calls, by aggregates with bloom_add as their transition and, since
-- PostgreSQL 18, by PL/pgSQL's f := bloom_add(f, key).  None of it may be seen
-- through another variable, and each function must read an expanded filter as it
-- reads a flat one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_expanded;
SET search_path = test_expanded, public;
SET extra_float_digits = 0;
-- in a custom plan a variable becomes a constant, which is flat
SET plan_cache_mode = force_generic_plan;

CREATE FUNCTION objects() RETURNS bigint LANGUAGE sql VOLATILE AS
	$$SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'bloomfilter expanded filter'$$;
CREATE FUNCTION expect(what text, is_so boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF is_so IS NOT TRUE THEN RAISE WARNING '%', what; END IF;
END $$;

-- an enum in an anonymous record is refused only when its key is hashed
CREATE TYPE mood AS ENUM ('fine');

----------------------------------------------------------------------------
-- Variables, for each type; a WARNING would be a failure
----------------------------------------------------------------------------
CREATE FUNCTION add_in_function(f anyelement, k text) RETURNS anyelement LANGUAGE plpgsql AS $$
BEGIN
	f := bloom_add(f, k);
	f := bloom_add(f, k || ' too');
	RETURN f;
END $$;
CREATE FUNCTION each_turn(f anyelement) RETURNS SETOF anyelement LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		f := bloom_add(f, i);
		RETURN NEXT f;
	END LOOP;
END $$;

CREATE FUNCTION variables(f anyelement, fs anyarray) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	empty f%TYPE := f;
	g f%TYPE;
	h f%TYPE;
	r record;
	seen int := 0;
	looked text;
	rows CURSOR FOR SELECT n FROM generate_series(1, 2000) n WHERE NOT f @> n ORDER BY n;
BEGIN
	f := bloom_add(f, 'a');
	g := f;
	f := bloom_add(f, 'b');
	PERFORM expect('g := f', g @> 'a' AND NOT g @> 'b' AND f @> 'a' AND f @> 'b');
	g := bloom_add(g, 'c');
	PERFORM expect('of g', g @> 'c' AND NOT f @> 'c');
	PERFORM expect('empty', bloom_count(empty) = 0);
	PERFORM expect('one of each', objects() = 2);

	-- nothing to change
	h := f;
	f := bloom_add(f, 'a');
	f := bloom_add(f, NULL::text);
	f := bloom_add_all(f, NULL::int[]);
	f := bloom_add_all(f, '{NULL}'::int[]);
	IF f::text NOT LIKE 'Ag%' THEN	-- a counter counts a key again
		PERFORM expect('unchanged', f = h);
	END IF;
	f := h;

	-- the other argument, and the rest of the expression, may refer to it
	f := bloom_add(f, 'size ' || length(f::text));
	PERFORM expect('by its own text', f @> ('size ' || length(f::text)));
	h := bloom_add(f, 'x') | bloom_add(f, 'y');
	PERFORM expect('both sides', h @> 'x' AND h @> 'y' AND NOT f @> 'x' AND NOT f @> 'y');
	f := bloom_add(f, 'x') | bloom_add(f, 'y');
	PERFORM expect('both sides, assigned', f @> 'x' AND f @> 'y');
	f := bloom_add(bloom_add(f, 'inner'), CASE WHEN f @> 'inner' THEN 'visible' ELSE 'outer' END);
	PERFORM expect('nested', f @> 'inner' AND f @> 'outer' AND NOT f @> 'visible');

	-- functions and their arguments
	g := f;
	h := add_in_function(f, 'function');
	PERFORM expect('argument', f = g AND h @> 'function' AND h @> 'function too');
	f := add_in_function(f, 'result');
	PERFORM expect('result', f @> 'result too' AND NOT g @> 'result');

	-- an error after the change leaves what was assigned; one in it, nothing
	g := f;
	BEGIN
		f := bloom_add(f, 'before the error');
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		f := bloom_add(f, 'after the error');
	END;
	PERFORM expect('kept', f @> 'before the error' AND f @> 'after the error' AND NOT g @> 'before the error');
	g := f;
	BEGIN
		f := bloom_add_all(f, ARRAY[ROW(1), ROW('fine'::mood)]);
	EXCEPTION WHEN OTHERS THEN
		looked := SQLERRM;
	END;
	PERFORM expect('half of an array', f = g AND looked LIKE 'cannot use%');
	BEGIN
		f := bloom_add(f, (1 / bloom_count(empty))::text);
	EXCEPTION WHEN division_by_zero THEN
		f := bloom_add(f, 'next');
	END;
	PERFORM expect('next', f @> 'next' AND NOT g @> 'next');

	-- records, arrays, parameters
	SELECT f AS f, 1 AS i INTO r;
	fs := ARRAY[f, f];
	g := f;
	f := bloom_add(f, 'p');
	r.f := bloom_add(r.f, 'q');
	fs[1] := bloom_add(fs[1], 'r');
	PERFORM expect('record', r.f @> 'q' AND NOT r.f @> 'p' AND NOT f @> 'q');
	PERFORM expect('array', fs[1] @> 'r' AND NOT fs[2] @> 'r' AND fs[2] = g AND NOT fs[1] @> 'p');
	EXECUTE 'SELECT $1 @> ''p'' AND $2' INTO looked USING f, NOT g @> 'p';
	PERFORM expect('parameter', looked::boolean);
	SELECT count(*) INTO seen FROM each_turn(empty) t (turn) WHERE (turn @> 1)::int + (turn @> 2)::int + (turn @> 3)::int = round(bloom_count(turn));
	PERFORM expect('RETURN NEXT', seen = 3);

	-- a cursor and a loop go on with the filter that they began with
	f := bloom_add(empty, 'some');
	OPEN rows;
	FETCH rows INTO r;
	f := bloom_add_all(f, ARRAY[2, 3, 4]);
	FETCH rows INTO r;
	PERFORM expect('cursor', r.n = 2);
	CLOSE rows;
	seen := 0;
	FOR r IN SELECT n FROM generate_series(101, 200) n WHERE NOT f @> n LOOP
		f := bloom_add(f, r.n + 1);
		seen := seen + 1;
	END LOOP;
	PERFORM expect('loop', seen >= 95);

	-- an expression that sees the variable again and again
	f := empty;
	seen := 0;
	FOR i IN 1 .. 500 LOOP
		IF f @> i THEN seen := seen + 1; END IF;
		f := bloom_add(f, i);
		IF NOT f @> i OR NOT i <@ f THEN RAISE WARNING '% is not there', i; END IF;
	END LOOP;
	g := bloom_add_all(empty, ARRAY(SELECT generate_series(1, 500)));
	PERFORM expect('false positives', seen <= 5);
	PERFORM expect('one by one as all at once', f = g AND f::text = g::text AND NOT f <> g);
	RETURN pg_typeof(f) || ': ' || round(bloom_count(f)) || ' keys';
END $$;
SELECT variables(bloom_create(2000, 0.0001), NULL::bloom[]);
SELECT variables(counting_bloom_create(2000, 0.0001), NULL::counting_bloom[]);
SELECT variables(scalable_bloom_create(2000, 0.0001), NULL::scalable_bloom[]);
SELECT objects() AS objects_left;

----------------------------------------------------------------------------
-- Every function reads an expanded filter as the flat one
----------------------------------------------------------------------------
CREATE TABLE flat (f bloom, c counting_bloom, s scalable_bloom);
CREATE FUNCTION readings(f anyelement) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT bloom_info(f)::text
	UNION ALL SELECT concat_ws(' ', bloom_bits(f), bloom_hashes(f), bloom_capacity(f), bloom_fill(f), bloom_count(f), bloom_fpr(f))
	UNION ALL SELECT md5(f::text) || ' ' || md5(f::bytea) || ' ' || octet_length(f::bytea)
	UNION ALL SELECT concat_ws(' ', f @> 1, 2 <@ f, bloom_contains(f, 1003), bloom_contains_each(f, ARRAY[3, 1004]))
	UNION ALL SELECT md5((f | f)::text) || ' ' || md5(bloom_clear(f)::text) || ' ' || (f = f) || ' ' || (f <> f)
	UNION ALL SELECT md5(bloom_union_agg(f)::text) FROM generate_series(1, 3)
	UNION ALL SELECT count(*)::text FROM (SELECT f UNION SELECT f | f UNION SELECT f FROM generate_series(1, 3)) d
	UNION ALL SELECT md5(bloom_add(f, 'new')::text) || ' ' || md5(bloom_add_all(f, ARRAY['new'])::text)
$$;
CREATE FUNCTION readings_fixed(f anyelement) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT md5((f & f)::text) || ' ' || round(bloom_union_count(f, f)) || ' ' || round(bloom_intersect_count(f, f)) || ' ' || bloom_jaccard(f, f)
	UNION ALL SELECT md5(bloom_intersect_agg(f)::text) FROM generate_series(1, 3)
$$;
CREATE FUNCTION compare() RETURNS TABLE (type text, readings bigint, differ bigint) LANGUAGE plpgsql AS $$
DECLARE
	f bloom := bloom_create(2000);
	c counting_bloom := counting_bloom_create(2000);
	s scalable_bloom := scalable_bloom_create(200);
BEGIN
	FOR i IN 1 .. 800 LOOP
		f := bloom_add(f, i);
		c := bloom_add(c, i);
		s := bloom_add(s, i);
	END LOOP;
	PERFORM expect('objects', objects() = 3);
	INSERT INTO flat VALUES (f, c, s);
	PERFORM expect('stored', (SELECT flat.f = compare.f AND flat.c = compare.c AND flat.s = compare.s FROM flat)) FROM (SELECT f, c, s) compare;
	RETURN QUERY SELECT 'bloom', count(*), count(*) FILTER (WHERE e IS DISTINCT FROM r) FROM
		ROWS FROM (readings(f), readings((SELECT flat.f FROM flat))) x (e, r);
	RETURN QUERY SELECT 'bloom', count(*), count(*) FILTER (WHERE e IS DISTINCT FROM r) FROM
		ROWS FROM (readings_fixed(f), readings_fixed((SELECT flat.f FROM flat))) x (e, r);
	RETURN QUERY SELECT 'counting_bloom', count(*), count(*) FILTER (WHERE e IS DISTINCT FROM r) FROM
		ROWS FROM (readings(c), readings((SELECT flat.c FROM flat))) x (e, r);
	RETURN QUERY SELECT 'counting_bloom', count(*), count(*) FILTER (WHERE e IS DISTINCT FROM r) FROM
		ROWS FROM (readings_fixed(c), readings_fixed((SELECT flat.c FROM flat))) x (e, r);
	RETURN QUERY SELECT 'scalable_bloom', count(*), count(*) FILTER (WHERE e IS DISTINCT FROM r) FROM
		ROWS FROM (readings(s), readings((SELECT flat.s FROM flat))) x (e, r);
	-- what not all of them have, in expressions of the variables themselves
	PERFORM expect('key count', bloom_key_count(c, 7) = 1 AND bloom_saturated(c) = 0);
	PERFORM expect('cast', c::bloom = f AND md5(f::bytea) = (SELECT md5(flat.f::bytea) FROM flat));
	PERFORM expect('layers', (SELECT sum(keys) FROM bloom_layers(s)) BETWEEN 780 AND 800 AND bloom_count(s) > 700);
	PERFORM expect('templates', (SELECT bloom_agg(k, f) = bloom_agg(k, (SELECT flat.f FROM flat)) FROM generate_series(1, 9) k));
	PERFORM expect('templates', (SELECT counting_bloom_agg(k, c) = counting_bloom_agg(k, (SELECT flat.c FROM flat)) FROM generate_series(1, 9) k));
	PERFORM expect('hash', bloom_hash(f) = (SELECT bloom_hash(flat.f) FROM flat) AND bloom_hash_extended(f, 5) = (SELECT bloom_hash_extended(flat.f, 5) FROM flat));
	-- removed again one by one, the last but one by an array
	FOR i IN 1 .. 790 LOOP
		c := bloom_remove(c, i);
		c := bloom_remove(c, i + 5000);
	END LOOP;
	c := bloom_remove_all(c, ARRAY(SELECT generate_series(791, 799)));
	PERFORM expect('removed', c = bloom_add(counting_bloom_create(2000), 800));
END $$;
SELECT * FROM compare();
SELECT objects() AS objects_left;

----------------------------------------------------------------------------
-- A filter that cannot take all keys stays as it was
----------------------------------------------------------------------------
-- a second layer at a rate of 1e-302 would need more than 255 hashes
DO $$
DECLARE
	f scalable_bloom := scalable_bloom_create(1000, 0.01, 2, 1e-300);
	before scalable_bloom;
	first int[] := ARRAY(SELECT generate_series(1, 900));
	more int[] := ARRAY(SELECT generate_series(901, 1200));
	added int := 0;
BEGIN
	-- of a plain expression, so that the variable holds an object
	f := bloom_add_all(f, first);
	before := f;
	BEGIN
		f := bloom_add_all(f, more);
	EXCEPTION WHEN program_limit_exceeded THEN
		RAISE NOTICE 'all: %', SQLERRM;
	END;
	PERFORM expect('as it was', f = before);
	BEGIN
		FOR i IN 901 .. 1200 LOOP
			before := f;
			f := bloom_add(f, i);
			added := added + (f <> before)::int;
		END LOOP;
	EXCEPTION WHEN program_limit_exceeded THEN
		RAISE NOTICE 'one by one: %', SQLERRM;
	END;
	PERFORM expect('with all that fitted', f = before AND (SELECT sum(keys) FROM bloom_layers(f)) = 1000 AND added > 90);
END $$;

----------------------------------------------------------------------------
-- A change that is cancelled leaves the filter as it was, or is done
----------------------------------------------------------------------------
-- The request is there before the function begins, and is seen at the first look
-- for it: where a layer is made, the filter is at a new place already.
DO $$
DECLARE
	f scalable_bloom := scalable_bloom_create(1000, 0.01, 1);
	before scalable_bloom;
	after scalable_bloom;
	cancelled int := 0;
	layers bigint;
BEGIN
	f := bloom_add(f, 0);
	FOR i IN 1 .. 3000 LOOP
		before := f;
		after := bloom_add(before, i);
		layers := (bloom_info(before)).layers;
		IF (bloom_info(after)).layers > layers THEN
			BEGIN
				f := bloom_add(f, CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN i END);
				PERFORM pg_sleep(0);
			EXCEPTION WHEN query_canceled THEN
				cancelled := cancelled + 1;
			END;
			PERFORM expect('before or after', f IN (before, after));
		END IF;
		f := bloom_add(f, i);
		PERFORM expect('after', f = after);
	END LOOP;
	RAISE NOTICE '% layers, % cancelled', (bloom_info(f)).layers, cancelled;
END $$;

-- a domain, whose check refuses what the function made
CREATE DOMAIN few AS bloom CHECK (bloom_count(VALUE) < 3);
DO $$
DECLARE
	f few := bloom_create(2000);
	n bloom NOT NULL := bloom_create(2000);
BEGIN
	FOR i IN 1 .. 4 LOOP
		BEGIN
			f := bloom_add(f, i);
		EXCEPTION WHEN check_violation THEN
			RAISE NOTICE '% is one too many', i;
		END;
	END LOOP;
	RAISE NOTICE '1: %, 2: %, 3: %, 4: %', f @> 1, f @> 2, f @> 3, f @> 4;
	n := bloom_add(n, 1);
	BEGIN
		n := bloom_add(CASE WHEN n @> 1 THEN NULL ELSE n END, 2);
	EXCEPTION WHEN null_value_not_allowed THEN
		n := bloom_add(n, 3);
	END;
	RAISE NOTICE '1: %, 2: %, 3: %', n @> 1, n @> 2, n @> 3;
END $$;

----------------------------------------------------------------------------
-- Transactions, triggers, procedures
----------------------------------------------------------------------------
CREATE TABLE filters (i int PRIMARY KEY, f bloom);
CREATE FUNCTION note_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.f := bloom_add(NEW.f, 'trigger');
	NEW.f := bloom_add(NEW.f, NEW.i);
	RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE INSERT OR UPDATE ON filters FOR EACH ROW EXECUTE FUNCTION note_key();
CREATE PROCEDURE fill(INOUT f bloom, keys int) LANGUAGE plpgsql AS $$
DECLARE
	mine bloom := f;
BEGIN
	FOR i IN 1 .. keys LOOP
		mine := bloom_add(mine, i);
		f := bloom_add(f, -i);
		INSERT INTO filters VALUES (i, mine);
		IF i % 3 = 0 THEN COMMIT; END IF;
		IF i % 7 = 0 THEN ROLLBACK; END IF;
	END LOOP;
END $$;
DO $$
DECLARE
	f bloom := bloom_create(10000);
	empty bloom := f;
BEGIN
	CALL fill(f, 10);
	PERFORM expect('INOUT', f @> -10 AND NOT f @> 10 AND bloom_count(empty) = 0);
END $$;
SELECT i, round(bloom_count(f)) AS keys, f @> 'trigger' AS trigger, f @> i AS last, f @> (i + 1) AS next FROM filters ORDER BY i;
UPDATE filters SET f = bloom_add_all(bloom_add(f, 'x'), ARRAY['y', 'z']) WHERE i < 4;
SELECT i, round(bloom_count(f)) AS keys, bloom_contains_each(f, ARRAY['x', 'y', 'z']) FROM filters WHERE i < 5 ORDER BY i;
-- one key changes nothing in a stored filter: the value itself comes back
UPDATE filters SET f = bloom_add(f, 'x') WHERE i = 3 RETURNING f = (SELECT f FROM filters WHERE i = 3) AS same;

----------------------------------------------------------------------------
-- Queries
----------------------------------------------------------------------------
-- a column that is used twice
SELECT round(bloom_count(bloom_add(f, 'b'))) AS two, round(bloom_count(bloom_add(f, 'c'))) AS two_too, round(bloom_count(f)) AS one,
	round(bloom_count(bloom_add(bloom_add(f, 'd'), 'e'))) AS three
FROM (SELECT bloom_add(bloom_create(2000), 'a') AS f OFFSET 0) s;
WITH s AS MATERIALIZED (SELECT bloom_add(bloom_create(2000), 'a') AS f)
SELECT round(bloom_count(bloom_add(s.f, 'b'))) AS two, round(bloom_count(bloom_add(t.f, 'c'))) AS two_too, s.f = t.f AS same FROM s, s t;
SELECT CASE f WHEN bloom_add(f, 'b') THEN 'changed' ELSE 'as it was' END FROM (SELECT bloom_add(bloom_create(2000), 'a') AS f OFFSET 0) s;
-- a function of SQL, inlined or not, that uses its argument twice
CREATE FUNCTION twice(f bloom) RETURNS bloom LANGUAGE sql IMMUTABLE AS $$SELECT bloom_add(f, 'left') | bloom_add(f, 'right')$$;
CREATE FUNCTION twice_strict(f bloom) RETURNS bloom LANGUAGE sql IMMUTABLE STRICT AS $$SELECT bloom_add(f, 'left') | bloom_add(f, 'right') LIMIT 1$$;
SELECT round(bloom_count(twice(f))) AS three, round(bloom_count(twice_strict(f))) AS three_too, round(bloom_count(f)) AS one
FROM (SELECT bloom_add(bloom_create(2000), 'a') AS f OFFSET 0) s;
DO $$
DECLARE
	f bloom := bloom_add(bloom_create(2000), 'a');
	g bloom := f;
BEGIN
	f := twice(f);
	f := twice_strict(f);
	RAISE NOTICE '% and %', round(bloom_count(f)), round(bloom_count(g));
END $$;

-- aggregates of the user, alone, in groups and in windows that move
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE add_agg(text) (SFUNC = bloom_add, STYPE = bloom, INITCOND = %L)', bloom_create(2000));
END $$;
SELECT add_agg(x::text) = bloom_agg(x::text, bloom_create(2000)) AS same FROM generate_series(1, 1500) x;
SELECT count(*) FILTER (WHERE added = built) AS same, count(*) FROM (
	SELECT add_agg(x::text) AS added, bloom_agg(x::text, bloom_create(2000)) AS built FROM generate_series(1, 1500) x GROUP BY x % 7) s;
SELECT count(*) FILTER (WHERE added = built) AS same, count(DISTINCT md5(added::text)) AS different, count(*) FROM (
	SELECT add_agg(x::text) OVER w AS added, bloom_agg(x::text, bloom_create(2000)) OVER w AS built
	FROM generate_series(1, 60) x WINDOW w AS (ORDER BY x ROWS BETWEEN 5 PRECEDING AND CURRENT ROW)) s;
SELECT count(*) FILTER (WHERE added = built) AS same, count(DISTINCT md5(added::text)) AS different, count(*) FROM (
	SELECT add_agg(x::text) OVER w AS added, bloom_agg(x::text, bloom_create(2000)) OVER w AS built
	FROM generate_series(1, 60) x WINDOW w AS (ORDER BY x)) s;
SELECT objects() AS objects_left;

----------------------------------------------------------------------------
-- In place
----------------------------------------------------------------------------
-- On 18 no copy is made: 40,000 copies of 60 MB would take far longer than
-- this limit, adding in place takes well below a second.  Before, each turn
-- makes one copy, so only few are made.
SET statement_timeout = '120s';
CREATE FUNCTION turns(f anyelement, many boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	g f%TYPE;
BEGIN
	f := bloom_add(f, 0);
	g := f;
	BEGIN
		FOR i IN 1 .. CASE WHEN many THEN 40000 ELSE 4 END LOOP
			f := bloom_add(f, i);
		END LOOP;
	EXCEPTION WHEN division_by_zero THEN NULL;
	END;
	RETURN concat_ws(' ', bloom_contains_each(f, ARRAY[0, 1, 2, 3, 4, -5]), bloom_contains_each(g, ARRAY[0, 1]));
END $$;
SELECT turns(bloom_create(50000000), current_setting('server_version_num')::int >= 180000);
SELECT turns(counting_bloom_create(12500000), current_setting('server_version_num')::int >= 180000);
SELECT turns(scalable_bloom_create(50000000), current_setting('server_version_num')::int >= 180000);
RESET statement_timeout;

SET client_min_messages = warning;
DROP SCHEMA test_expanded CASCADE;
