-- A changed cuckoo_filter is an expanded object, as those of the other types: see
-- expanded.sql.  It also grows and shrinks in place.  A WARNING would be a failure.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_cuckoo_expanded;
SET search_path = test_cuckoo_expanded, public;
-- in a custom plan a variable becomes a constant, which is flat
SET plan_cache_mode = force_generic_plan;

CREATE FUNCTION objects() RETURNS bigint LANGUAGE sql VOLATILE AS
	$$SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'bloomfilter expanded filter'$$;
CREATE FUNCTION expect(what text, is_so boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF is_so IS NOT TRUE THEN RAISE WARNING '%', what; END IF;
END $$;

----------------------------------------------------------------------------
-- Variables
----------------------------------------------------------------------------
CREATE FUNCTION change_in_function(f cuckoo_filter, k text) RETURNS cuckoo_filter LANGUAGE plpgsql AS $$
BEGIN
	f := cuckoo_add(f, k);
	f := cuckoo_remove(f, 'a');
	RETURN f;
END $$;
CREATE TYPE pair AS (n int, f cuckoo_filter);
DO $$
DECLARE
	f cuckoo_filter := cuckoo_create(2000, 2, 32);
	empty cuckoo_filter := f;
	g cuckoo_filter;
	h cuckoo_filter;
	r record;
	p pair;
	fs cuckoo_filter[];
BEGIN
	f := cuckoo_add(f, 'a');
	g := f;
	f := cuckoo_add(f, 'b');
	PERFORM expect('g := f', g @> 'a' AND NOT g @> 'b' AND f @> 'a' AND f @> 'b');
	g := cuckoo_remove(g, 'a');
	PERFORM expect('removed from g', cuckoo_count(g) = 0 AND cuckoo_count(f) = 2 AND cuckoo_count(empty) = 0);
	PERFORM expect('one of each', objects() = 2);

	-- what changes nothing; a copy that is taken away comes back
	h := f;
	f := cuckoo_remove(f, 'nobody');
	f := cuckoo_remove(f, NULL::text);
	f := cuckoo_add(f, NULL::text);
	PERFORM expect('unchanged', f = h);
	f := cuckoo_add(f, 'a');
	PERFORM expect('twice', cuckoo_key_count(f, 'a') = 2 AND cuckoo_key_count(h, 'a') = 1);
	f := cuckoo_remove(f, 'a');
	PERFORM expect('once', cuckoo_key_count(f, 'a') = 1 AND (cuckoo_info(f)).removed = 1);

	-- the rest of an expression, functions, records, composites, arrays
	f := cuckoo_add(f, 'size ' || length(f::text));
	PERFORM expect('by its own text', f @> ('size ' || length(f::text)));
	f := cuckoo_add(f, 'x') | cuckoo_remove(f, 'a');
	PERFORM expect('both sides', f @> 'x' AND f @> 'a' AND cuckoo_count(f) = 4);
	f := cuckoo_remove(cuckoo_add(f, 'inner'), CASE WHEN f @> 'inner' THEN 'a' ELSE 'x' END);
	PERFORM expect('nested', f @> 'inner' AND f @> 'a' AND NOT f @> 'x');
	g := f;
	h := change_in_function(f, 'function');
	PERFORM expect('argument', f = g AND h @> 'function' AND NOT h @> 'a');
	f := change_in_function(f, 'result');
	PERFORM expect('result', f @> 'result' AND NOT f @> 'a' AND NOT g @> 'result' AND g @> 'a');
	SELECT f AS f, 1 AS i INTO r;
	p := ROW(1, f);
	fs := ARRAY[f, f];
	g := f;
	f := cuckoo_add(f, 'p');
	r.f := cuckoo_add(r.f, 'q');
	p.f := cuckoo_remove(p.f, 'b');
	fs[1] := cuckoo_add(fs[1], 'r');
	PERFORM expect('record', r.f @> 'q' AND NOT r.f @> 'p' AND NOT f @> 'q');
	PERFORM expect('composite', NOT p.f @> 'b' AND NOT p.f @> 'p' AND f @> 'b' AND r.f @> 'b' AND g @> 'b');
	PERFORM expect('array', fs[1] @> 'r' AND NOT fs[2] @> 'r' AND fs[2] = g);

	-- an error after the change leaves what was assigned
	g := f;
	BEGIN
		f := cuckoo_remove(f, 'p');
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
		f := cuckoo_add(f, 'after the error');
	END;
	PERFORM expect('kept', NOT f @> 'p' AND f @> 'after the error' AND g @> 'p');
END $$;
SELECT objects() AS objects_left;

----------------------------------------------------------------------------
-- Growing and shrinking, one by one, is the same as in an array
----------------------------------------------------------------------------
CREATE FUNCTION key_by_key(f cuckoo_filter, OUT sub_filters_at_most int, OUT sub_filters_left int, OUT shared_as_it_was boolean, OUT as_in_an_array boolean) LANGUAGE plpgsql AS $$
DECLARE
	empty cuckoo_filter := f;
	added cuckoo_filter := cuckoo_add_all(f, ARRAY(SELECT generate_series(1, 3000)));
	left_over cuckoo_filter := cuckoo_remove_all(added, ARRAY(SELECT generate_series(1, 2500)));
	shared cuckoo_filter;
BEGIN
	FOR i IN 1 .. 3000 LOOP
		f := cuckoo_add(f, i);
		IF i = 1500 THEN shared := f; END IF;
	END LOOP;
	sub_filters_at_most := (cuckoo_info(f)).sub_filters;
	as_in_an_array := f = added AND f::text = added::text;
	FOR i IN 1 .. 2500 LOOP
		f := cuckoo_remove(f, i);
		f := cuckoo_remove(f, -i);
	END LOOP;
	sub_filters_left := (cuckoo_info(f)).sub_filters;
	-- of few bits, negative keys match others
	as_in_an_array := as_in_an_array AND (f = left_over OR (cuckoo_info(f)).fingerprint_bits < 32);
	shared_as_it_was := shared = cuckoo_add_all(empty, ARRAY(SELECT generate_series(1, 1500))) AND cuckoo_count(empty) = 0;
END $$;
SELECT bits, expansion, k.* FROM unnest(ARRAY[8, 16, 32]) AS bits, unnest(ARRAY[1, 2]) AS expansion, key_by_key(cuckoo_create(1024, 4, bits, 20, expansion)) AS k ORDER BY bits, expansion;

----------------------------------------------------------------------------
-- What fails leaves the filter as it was
----------------------------------------------------------------------------
DO $$
DECLARE
	f cuckoo_filter := cuckoo_create(1024, 2, 32, 20, 0);
	before cuckoo_filter;
	n int := 0;
BEGIN
	-- no second sub-filter, so that it gets full
	BEGIN
		LOOP
			before := f;
			f := cuckoo_add(f, n + 1);
			n := n + 1;
		END LOOP;
	EXCEPTION WHEN program_limit_exceeded THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	PERFORM expect('full', f = before AND cuckoo_count(f) = n AND n > 600);
	PERFORM expect('all there', (SELECT count(*) FROM generate_series(1, n) AS k WHERE NOT f @> k) = 0);
	-- a key too many
	f := cuckoo_create(1024);
	FOR i IN 1 .. 5 LOOP
		BEGIN
			before := f;
			f := cuckoo_add(f, 'dup');
		EXCEPTION WHEN program_limit_exceeded THEN
			RAISE NOTICE '%: %', i, SQLERRM;
			PERFORM expect('as it was', f = before);
		END;
	END LOOP;
	PERFORM expect('four', cuckoo_key_count(f, 'dup') = 4 AND (cuckoo_info(f)).sub_filters = 1);
END $$;

-- A removal that is cancelled while the filter shrinks: the request is there before
-- the function begins, and is seen where fingerprints are moved.
DO $$
DECLARE
	f cuckoo_filter := cuckoo_create(1024, 2, 32);
	before cuckoo_filter;
	after cuckoo_filter;
	tried int := 0;
	cancelled int := 0;
BEGIN
	FOR i IN 1 .. 3000 LOOP
		f := cuckoo_add(f, i);
	END LOOP;
	FOR i IN 1 .. 3000 LOOP
		before := f;
		after := cuckoo_remove(before, i);
		-- it has been tried when the number of removed keys begins anew
		IF (cuckoo_info(after)).removed = 0 THEN
			tried := tried + 1;
			BEGIN
				f := cuckoo_remove(f, CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN i END);
				PERFORM pg_sleep(0);
			EXCEPTION WHEN query_canceled THEN
				cancelled := cancelled + 1;
			END;
			PERFORM expect('before or after', f IN (before, after));
			f := before;
		END IF;
		f := cuckoo_remove(f, i);
		PERFORM expect('after', f = after);
	END LOOP;
	RAISE NOTICE '% left, tried more than 20 times: %, always cancelled: %', cuckoo_count(f), tried > 20, cancelled = tried;
END $$;

----------------------------------------------------------------------------
-- Every function reads an expanded filter as the flat one
----------------------------------------------------------------------------
CREATE TABLE flat (f cuckoo_filter);
CREATE FUNCTION readings(f cuckoo_filter) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT cuckoo_info(f)::text
	UNION ALL SELECT concat_ws(' ', cuckoo_count(f), cuckoo_fpr(f), cuckoo_key_count(f, 5), cuckoo_filter_hash(f), cuckoo_filter_hash_extended(f, 5))
	UNION ALL SELECT md5(f::text) || ' ' || md5(f::bytea) || ' ' || octet_length(f::bytea)
	UNION ALL SELECT concat_ws(' ', f @> 1, 2 <@ f, cuckoo_contains(f, 1003), cuckoo_contains_each(f, ARRAY[3, 1004]))
	UNION ALL SELECT md5((f | f)::text) || ' ' || md5(cuckoo_clear(f)::text) || ' ' || (f = f) || ' ' || (f <> f)
	UNION ALL SELECT md5(cuckoo_union_agg(f)::text) FROM generate_series(1, 3)
	UNION ALL SELECT md5(cuckoo_agg(k, f)::text) FROM generate_series(1, 3) AS k
	UNION ALL SELECT count(*)::text FROM (SELECT f UNION SELECT f | f UNION SELECT f FROM generate_series(1, 3)) d
	UNION ALL SELECT md5(cuckoo_add(f, 'new')::text) || ' ' || md5(cuckoo_add_all(f, ARRAY['new'])::text)
	UNION ALL SELECT md5(cuckoo_remove(f, 7)::text) || ' ' || md5(cuckoo_remove_all(f, ARRAY[7])::text)
$$;
CREATE FUNCTION compare() RETURNS TABLE (readings bigint, differ bigint) LANGUAGE plpgsql AS $$
DECLARE
	f cuckoo_filter := cuckoo_create(500, 4, 16);
BEGIN
	FOR i IN 1 .. 1500 LOOP
		f := cuckoo_add(f, i);
	END LOOP;
	PERFORM expect('object', objects() = 1);
	INSERT INTO flat VALUES (f);
	PERFORM expect('stored', (SELECT flat.f = compare.f FROM flat)) FROM (SELECT f) compare;
	RETURN QUERY SELECT count(*), count(*) FILTER (WHERE e IS DISTINCT FROM r) FROM
		ROWS FROM (readings(f), readings((SELECT flat.f FROM flat))) x (e, r);
END $$;
SELECT * FROM compare();

----------------------------------------------------------------------------
-- Queries, and aggregates of the user: alone, in groups and in windows
----------------------------------------------------------------------------
SELECT cuckoo_count(cuckoo_add(f, 'b')) AS two, cuckoo_count(cuckoo_remove(f, 'a')) AS none, cuckoo_count(f) AS one, cuckoo_count(cuckoo_add(cuckoo_add(f, 'd'), 'e')) AS three
FROM (SELECT cuckoo_add(cuckoo_create(2000), 'a') AS f OFFSET 0) AS s;
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE add_agg(text) (SFUNC = cuckoo_add, STYPE = cuckoo_filter, INITCOND = %L)', cuckoo_create(512, 4, 32));
	EXECUTE format('CREATE AGGREGATE remove_agg(text) (SFUNC = cuckoo_remove, STYPE = cuckoo_filter, INITCOND = %L)',
		cuckoo_add_all(cuckoo_create(512, 4, 32), ARRAY(SELECT generate_series(1, 3000))));
END $$;
SELECT add_agg(x::text ORDER BY x) = cuckoo_agg(x, cuckoo_create(512, 4, 32) ORDER BY x) AS added, cuckoo_count(remove_agg(x::text)) AS removed FROM generate_series(1, 3000) AS x;
SELECT count(*) FILTER (WHERE cuckoo_count(added) = n AND cuckoo_count(removed) = 3000 - n) AS right_, count(*)
FROM (SELECT add_agg(x::text) AS added, remove_agg(x::text) AS removed, count(*) AS n FROM generate_series(1, 3000) AS x GROUP BY x % 7) AS s;
SELECT count(*) FILTER (WHERE cuckoo_count(added) = n AND cuckoo_count(removed) = 3000 - n) AS right_, count(DISTINCT md5(added::text)) AS different, count(*)
FROM (SELECT add_agg(x::text) OVER w AS added, remove_agg(x::text) OVER w AS removed, count(*) OVER w AS n
	FROM generate_series(1, 60) AS x WINDOW w AS (ORDER BY x)) AS s;
SELECT objects() AS objects_left;

SET client_min_messages = warning;
DROP SCHEMA test_cuckoo_expanded CASCADE;
