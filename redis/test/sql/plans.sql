-- How scans of a foreign table are planned, and what they refuse.  No Redis is
-- needed: nothing here connects.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
CREATE EXTENSION IF NOT EXISTS bloomfilter_redis;
RESET client_min_messages;
CREATE SERVER redis FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (port '1');
CREATE FOREIGN TABLE ids (id bigint) SERVER redis OPTIONS (key 'ids');
CREATE FOREIGN TABLE smalls (id smallint) SERVER redis OPTIONS (key 'smalls', format 'bitmap', capacity '1000');
CREATE FOREIGN TABLE names (name text) SERVER redis OPTIONS (key 'names', format 'cuckoo');
CREATE FOREIGN TABLE varchars (name varchar(20)) SERVER redis OPTIONS (key 'varchars');
CREATE TABLE orders (id bigint, customer text);
-- those lines of a plan that do not differ between server versions
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Foreign Scan|Redis Command|Join|Nested|Insert on|Delete on|Seq Scan' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

-- one key
SELECT plan($$SELECT * FROM ids WHERE id = 42$$);
SELECT plan($$SELECT * FROM ids WHERE 42::smallint = id$$);
SELECT plan($$SELECT * FROM smalls WHERE id = 42$$);
SELECT plan($$SELECT * FROM names WHERE name = 'x' AND name <> 'y'$$);
SELECT plan($$SELECT * FROM varchars WHERE name = 'x'$$);
SELECT plan($$SELECT * FROM ids WHERE id = (SELECT max(id) FROM orders)$$);
PREPARE one(bigint) AS SELECT * FROM ids WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
SELECT plan($$EXECUTE one(42)$$);
RESET plan_cache_mode;

-- several
SELECT plan($$SELECT * FROM ids WHERE id IN (1, 2, 3)$$);
SELECT plan($$SELECT * FROM smalls WHERE id = ANY (ARRAY[1, 2])$$);
SELECT plan($$SELECT * FROM names WHERE name = ANY (ARRAY(SELECT customer FROM orders))$$);

-- joins
SELECT plan($$SELECT * FROM orders o JOIN ids i ON i.id = o.id$$);
SELECT plan($$SELECT * FROM orders o WHERE EXISTS (SELECT FROM ids i WHERE i.id = o.id)$$);
SELECT plan($$SELECT * FROM orders o WHERE NOT EXISTS (SELECT FROM ids i WHERE i.id = o.id)$$);
SELECT plan($$SELECT * FROM orders o LEFT JOIN names n ON n.name = lower(o.customer)$$);
SELECT plan($$SELECT * FROM orders o, LATERAL (SELECT id FROM ids i WHERE i.id = o.id + 1 OFFSET 0) x$$);
-- a server's planner that turns the other joins on finds the same
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT plan($$SELECT * FROM orders o JOIN ids i ON i.id = o.id$$);

-- anything else is an error when it runs, and only then
SELECT plan($$SELECT * FROM ids$$);
SELECT * FROM ids;
SELECT * FROM ids WHERE id > 42;
SELECT * FROM ids WHERE id <> 42;
SELECT * FROM ids WHERE id = 42 OR id = 43;
SELECT * FROM ids WHERE id = random();
SELECT * FROM ids WHERE id = 42.0;
SELECT * FROM ids WHERE id IS NULL;
SELECT * FROM ids WHERE id <> ALL ('{1,2}');
SELECT count(*) FROM ids;
-- no row is asked for, so none is searched
SELECT * FROM ids WHERE false;
SELECT * FROM ids WHERE id = NULL;
SELECT * FROM ids LIMIT 0;

-- writing
SELECT plan($$INSERT INTO ids SELECT id FROM orders$$);
SELECT plan($$INSERT INTO smalls VALUES (1)$$);
SELECT plan($$DELETE FROM names WHERE name = 'x'$$);
UPDATE ids SET id = 1 WHERE id = 2;
UPDATE names SET name = 'x' WHERE name = 'y';
DELETE FROM ids WHERE id = 1;
DELETE FROM smalls WHERE id = 1;
TRUNCATE ids;
INSERT INTO ids VALUES (1) ON CONFLICT (id) DO NOTHING;
MERGE INTO ids USING orders ON orders.id = ids.id WHEN MATCHED THEN DELETE;

-- what a table must be
CREATE FOREIGN TABLE two (a bigint, b bigint) SERVER redis OPTIONS (key 'two');
SELECT * FROM two WHERE a = 1;
INSERT INTO two VALUES (1, 2);
ALTER FOREIGN TABLE two DROP COLUMN a;
SELECT plan($$SELECT * FROM two WHERE b = 1$$);
CREATE FOREIGN TABLE none () SERVER redis OPTIONS (key 'none');
SELECT FROM none;

-- keys that have no form another program could write
CREATE FOREIGN TABLE documents (d jsonb) SERVER redis OPTIONS (key 'd');
SELECT * FROM documents WHERE d = '{}';
INSERT INTO documents VALUES ('{}');
CREATE FOREIGN TABLE arrays (a int[]) SERVER redis OPTIONS (key 'a');
INSERT INTO arrays VALUES ('{1}');
CREATE FOREIGN TABLE times (t time) SERVER redis OPTIONS (key 't');
INSERT INTO times VALUES ('12:00');
CREATE FOREIGN TABLE filters (f bloom) SERVER redis OPTIONS (key 'f');
INSERT INTO filters VALUES (bloom_create(1));

-- nothing of this leaves a row or a connection behind
SELECT bloom_redis_disconnect();
DROP SERVER redis CASCADE;
DROP TABLE orders;
DROP FUNCTION plan(text);
