-- The access method bloomfilter: an index that is one Bloom filter.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_index_use;
SET search_path = test_index_use, public;

-- The seed of an index is random, so which absent keys pass differs from run to
-- run.  Where single keys must be absent, the rate is a millionth.

----------------------------------------------------------------------------
-- Built from a table, then kept by it
----------------------------------------------------------------------------

CREATE TABLE users (id int, email text);
INSERT INTO users SELECT n, 'user:' || n FROM generate_series(1, 20000) n;
INSERT INTO users VALUES (NULL, NULL);
CREATE INDEX users_email_filter ON users USING bloomfilter (email) WITH (fpr = 0.01);
CREATE INDEX users_email_strict ON users USING bloomfilter (email) WITH (fpr = 0.000001);
CREATE INDEX users_id_filter ON users USING bloomfilter (id) WITH (fpr = 0.000001);

-- every key of the build is there
SELECT count(*) AS missing FROM users WHERE NOT bloom_index_contains('users_email_filter', email);
SELECT count(*) AS missing FROM users WHERE NOT bloom_index_contains('users_id_filter', id);

-- a layer has half the rate of the index, 0.005: of 20,000 keys that are absent
-- 100 +- 10 pass at the most; 160 is six standard deviations away
SELECT count(*) <= 160 AS rate_is_kept FROM users WHERE bloom_index_contains('users_email_filter', 'nobody' || email);

-- NULL is no key, and no answer
SELECT bloom_index_contains('users_email_filter', NULL::text) IS NULL AS of_null,
	bloom_index_contains(NULL, 'a') IS NULL AS in_null;
SELECT round(estimated_count) BETWEEN 19800 AND 20200 AS null_not_counted FROM bloom_index_info('users_id_filter');

-- an index on integers can be asked with other numbers and with text
SELECT bloom_index_contains('users_id_filter', 77::smallint), bloom_index_contains('users_id_filter', 77::bigint),
	bloom_index_contains('users_id_filter', 77.0), bloom_index_contains('users_id_filter', 77::float8),
	bloom_index_contains('users_id_filter', '77'), bloom_index_contains('users_id_filter', 'abc');

-- INSERT, UPDATE, COPY and INSERT ... ON CONFLICT
INSERT INTO users VALUES (20001, 'inserted');
UPDATE users SET email = 'updated' WHERE id = 1;
COPY users FROM STDIN;
20002	copied
\.
SELECT bloom_index_contains_each('users_email_filter', ARRAY['inserted', 'updated', 'copied', 'user:1']) AS there;

-- in the same transaction, before it commits; and an abort leaves the key behind
BEGIN;
INSERT INTO users VALUES (20003, 'uncommitted');
SELECT bloom_index_contains('users_email_filter', 'uncommitted');
ROLLBACK;
SELECT bloom_index_contains('users_email_filter', 'uncommitted');

-- deleted keys stay until REINDEX
DELETE FROM users WHERE id > 10000;
VACUUM (ANALYZE) users;
SELECT bloom_index_contains('users_id_filter', 15000) AS stays, live_rows, dead_keys BETWEEN 9800 AND 10200 AS dead_keys
FROM bloom_index_info('users_id_filter');
REINDEX INDEX users_id_filter;
SELECT live_rows, dead_keys < 300 AS no_dead_keys, layers, estimated_fpr < 0.0000005 AS kept FROM bloom_index_info('users_id_filter');

-- rows that neither VACUUM nor ANALYZE has counted are not guessed
CREATE TABLE uncounted (id int) WITH (autovacuum_enabled = off);
CREATE INDEX uncounted_filter ON uncounted USING bloomfilter (id);
SELECT live_rows, dead_keys FROM bloom_index_info('uncounted_filter');
INSERT INTO uncounted SELECT generate_series(1, 1000);
SELECT live_rows IS NULL AS no_rows, dead_keys IS NULL AS no_dead_keys FROM bloom_index_info('uncounted_filter');
ANALYZE uncounted;
SELECT live_rows, dead_keys < 30 AS no_dead_keys FROM bloom_index_info('uncounted_filter');

-- an array of any shape, with NULLs; of a domain of arrays; none
SELECT bloom_index_contains_each('users_id_filter', ARRAY[[1, NULL], [3, 4]]),
	bloom_index_contains_each('users_id_filter', '[5:6]={1,2}'::int[]),
	bloom_index_contains_each('users_id_filter', '{}'::int[]);

-- in a guard, as it is meant
CREATE FUNCTION is_user(wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF NOT bloom_index_contains('users_email_strict', wanted) THEN
		RETURN 'certainly not';
	END IF;
	RETURN 'maybe';
END $$;
SELECT is_user('user:2'), is_user('nobody at all');
-- one call site, another index each time
SELECT i::regclass, bloom_index_contains(i, k) FROM (VALUES ('users_email_strict'::regclass, '2'), ('users_id_filter', '2'),
	('users_email_strict', 'user:2'), ('users_id_filter', 'user:2')) v (i, k);

----------------------------------------------------------------------------
-- Options
----------------------------------------------------------------------------

CREATE TABLE options (id int);
CREATE INDEX ON options USING bloomfilter (id) WITH (fpr = 0);
CREATE INDEX ON options USING bloomfilter (id) WITH (fpr = 1);
CREATE INDEX ON options USING bloomfilter (id) WITH (fpr = 'NaN');
CREATE INDEX ON options USING bloomfilter (id) WITH (capacity = -1);
CREATE INDEX ON options USING bloomfilter (id) WITH (growth = 1);
CREATE INDEX ON options USING bloomfilter (id) WITH (growth = 17);
CREATE INDEX ON options USING bloomfilter (id) WITH (length = 80);
CREATE INDEX options_default ON options USING bloomfilter (id);
CREATE INDEX options_set ON options USING bloomfilter (id) WITH (fpr = 0.001, capacity = 100000, growth = 4);
SELECT layers, pages, target_fpr, capacity FROM bloom_index_info('options_default');
SELECT layers, pages, target_fpr, capacity >= 100000 AS capacity FROM bloom_index_info('options_set');
SELECT reloptions FROM pg_class WHERE relname = 'options_set';
-- a change takes effect when the index is built anew
ALTER INDEX options_set SET (fpr = 0.0001);
ALTER INDEX options_set SET (fpr = 2);
SELECT target_fpr FROM bloom_index_info('options_set');
REINDEX INDEX options_set;
SELECT target_fpr FROM bloom_index_info('options_set');
ALTER INDEX options_set RESET (fpr);
REINDEX INDEX options_set;
SELECT target_fpr FROM bloom_index_info('options_set');

-- as much as it was made for fits one layer, however small its rate; with 80 keys
-- below its capacity a layer of one page is 7 standard deviations from being full
CREATE TABLE filled (id int);
CREATE INDEX filled_5844 ON filled USING bloomfilter (id) WITH (capacity = 5844);
CREATE INDEX filled_25000 ON filled USING bloomfilter (id) WITH (capacity = 25000);
CREATE INDEX filled_strict ON filled USING bloomfilter (id) WITH (capacity = 25000, fpr = 0.000001);
INSERT INTO filled SELECT generate_series(1, 5764);
SELECT layers, pages, capacity FROM bloom_index_info('filled_5844');
INSERT INTO filled SELECT generate_series(5765, 25000);
SELECT layers, estimated_fpr < 0.005 AS kept FROM bloom_index_info('filled_25000');
SELECT layers, estimated_fpr < 0.0000005 AS kept FROM bloom_index_info('filled_strict');
SELECT layers FROM bloom_index_info('filled_5844');

----------------------------------------------------------------------------
-- What can be indexed
----------------------------------------------------------------------------

CREATE TABLE orders (shop int, number int, note text, open bool);
INSERT INTO orders SELECT n % 10, n, 'Note ' || n, n % 2 = 0 FROM generate_series(1, 1000) n;

-- one column; two of them as an expression
CREATE INDEX ON orders USING bloomfilter (shop, number);
CREATE INDEX ON orders USING bloomfilter (shop) INCLUDE (number);
CREATE UNIQUE INDEX ON orders USING bloomfilter (shop);
CREATE INDEX ON orders USING bloomfilter (number DESC);
CREATE INDEX orders_key_filter ON orders USING bloomfilter ((shop::text || '/' || number)) WITH (fpr = 0.000001);
SELECT count(*) AS missing FROM orders WHERE NOT bloom_index_contains('orders_key_filter', shop || '/' || number);
SELECT bloom_index_contains('orders_key_filter', '7/6') AS absent;
CREATE INDEX orders_note_filter ON orders USING bloomfilter (lower(note)) WITH (fpr = 0.000001);
SELECT bloom_index_contains('orders_note_filter', 'note 5'), bloom_index_contains('orders_note_filter', 'Note 5');

-- a partial index knows of its rows only, also when they come into it later
CREATE INDEX orders_open_filter ON orders USING bloomfilter (number) WITH (fpr = 0.000001) WHERE open;
SELECT bloom_index_contains('orders_open_filter', 4) AS open, bloom_index_contains('orders_open_filter', 5) AS closed;
UPDATE orders SET open = true WHERE number = 5;
SELECT bloom_index_contains('orders_open_filter', 5) AS opened;
-- rows outside it are not its deleted keys, so nothing is said of those
SELECT live_rows, dead_keys FROM bloom_index_info('orders_open_filter');

----------------------------------------------------------------------------
-- Scans
----------------------------------------------------------------------------

CREATE TABLE scanned (id int, k text, v float8, b bpchar, r int4range);
INSERT INTO scanned SELECT n, 'k' || n, n / 2.0, 'b' || n, int4range(n, n + 1) FROM generate_series(1, 5000) n;
CREATE INDEX scanned_filter ON scanned USING bloomfilter (id);
ANALYZE scanned;

-- what a plan reads; its shape differs between versions of the server
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	scans text[] := '{}';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		scans := scans || substring(line FROM '(?:Bitmap Index|Index|Index Only|Seq) Scan (?:on|using) (\w+)');
	END LOOP;
	RETURN (SELECT string_agg(DISTINCT s, ', ') FROM unnest(scans) s);
END $$;

-- never by itself, not even beside a table scan
SELECT plan_of('SELECT * FROM scanned WHERE id = 7');
CREATE INDEX scanned_btree ON scanned (id);
SELECT plan_of('SELECT * FROM scanned WHERE id = 7');
SELECT plan_of('SELECT * FROM scanned WHERE id = 7 OR id = 8');
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT plan_of('SELECT * FROM scanned WHERE id = 7');

-- forced, it is right
DROP INDEX scanned_btree;
SELECT plan_of('SELECT * FROM scanned WHERE id = 7');
SELECT id FROM scanned WHERE id = 7;
SELECT id FROM scanned WHERE id = 7000;
SELECT id FROM scanned WHERE id = NULL;
SELECT id FROM scanned WHERE id = 7 AND id = 8;
SELECT id FROM scanned WHERE id IN (8, 9, 7000) ORDER BY id;
SELECT id FROM scanned WHERE id = 7 OR id = 9000 ORDER BY id;
SELECT plan_of('SELECT id FROM scanned WHERE id = 7::bigint');
SELECT id FROM scanned WHERE id = 7::bigint;
SELECT id FROM scanned WHERE id = 7::smallint;
SELECT s.id FROM scanned s, (VALUES (7), (8), (9999)) v (id) WHERE s.id = v.id ORDER BY 1;
-- only equality
SELECT plan_of('SELECT id FROM scanned WHERE id < 7');

CREATE INDEX ON scanned USING bloomfilter (k);
CREATE INDEX ON scanned USING bloomfilter (v);
CREATE INDEX ON scanned USING bloomfilter (b);
CREATE INDEX ON scanned USING bloomfilter (r);
SELECT plan_of('SELECT id FROM scanned WHERE k = ''k5''::name AND v = 2.5::float4 AND b = ''b5  '' AND r = ''[5,6)''');
SELECT id FROM scanned WHERE k = 'k5';
SELECT id FROM scanned WHERE k = 'k5'::name;
SELECT id FROM scanned WHERE v = 2.5::float4;
SELECT id FROM scanned WHERE b = 'b5  ';
SELECT id FROM scanned WHERE r = '[5,5]';
SELECT id FROM scanned WHERE k = 'k5' AND v = 2.5;
SELECT id FROM scanned WHERE k = 'none' OR r = 'empty';
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- probes are counted as scans of the index
BEGIN;
SELECT pg_stat_get_xact_numscans('scanned_filter'::regclass) AS before \gset
SELECT count(bloom_index_contains('scanned_filter', id)) FROM generate_series(1, 10) id;
SELECT pg_stat_get_xact_numscans('scanned_filter'::regclass) - :before AS counted;
COMMIT;

----------------------------------------------------------------------------
-- Errors
----------------------------------------------------------------------------

SELECT bloom_index_contains('no_such_index', 1);
SELECT bloom_index_contains('scanned', 1);
CREATE INDEX scanned_btree ON scanned (id);
SELECT bloom_index_contains('scanned_btree', 1);
SELECT bloom_index_contains(0, 1);
SELECT bloom_index_info('scanned_btree');
-- types whose equal values have other bytes, or none that could be compared
CREATE TABLE times (d date, t timestamp, z timestamptz, j jsonb, m macaddr, b bool, i inet, c char(5));
INSERT INTO times VALUES ('2026-01-31', '2026-01-31', '2026-01-31', '{"a": 1}', '08:00:2b:01:02:03', true, '10.0.0.0/8', 'abc');
CREATE INDEX times_d ON times USING bloomfilter (d);
CREATE INDEX times_t ON times USING bloomfilter (t);
CREATE INDEX times_j ON times USING bloomfilter (j);
CREATE INDEX times_m ON times USING bloomfilter (m);
CREATE INDEX times_b ON times USING bloomfilter (b);
CREATE INDEX times_i ON times USING bloomfilter (i);
CREATE INDEX times_c ON times USING bloomfilter (c);
SELECT bloom_index_contains('times_d', timestamp '2026-01-31');
SELECT bloom_index_contains('times_t', date '2026-01-31');
SELECT bloom_index_contains('times_j', '{"a": 1}');
SELECT bloom_index_contains('times_j', 1);
SELECT bloom_index_contains('times_m', '08:00:2b:ff:fe:01:02:03'::macaddr8);
SELECT bloom_index_contains('times_b', 1);
SELECT bloom_index_contains_each('times_d', ARRAY[1]);
SELECT bloom_index_contains('times_d', '{1}'::int[]);
-- and those that go together
SELECT bloom_index_contains('times_d', date '2026-01-31'), bloom_index_contains('times_d', '2026-01-31'),
	bloom_index_contains('times_j', jsonb '{"a":1.0}'), bloom_index_contains('times_b', 'true'),
	bloom_index_contains('times_i', '10.0.0.0/8'::cidr), bloom_index_contains('times_c', 'abc  '),
	bloom_index_contains('times_c', 'abc'::text);

-- an error is not remembered as a success
CREATE FUNCTION ask_twice(i regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answers text := '';
BEGIN
	FOR n IN 1 .. 2 LOOP
		BEGIN
			answers := answers || bloom_index_contains(i, 1) || ' ';
		EXCEPTION WHEN OTHERS THEN
			answers := answers || sqlstate || ' ';
		END;
	END LOOP;
	RETURN answers;
END $$;
SELECT ask_twice('scanned_btree'), ask_twice('times_j'), ask_twice('scanned_filter');

-- our operator classes are sound
SELECT opcname, amvalidate(oid) FROM pg_opclass
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'bloomfilter') AND NOT amvalidate(oid);
-- others can be seen not to be
CREATE OPERATOR CLASS bad_ops FOR TYPE int4 USING bloomfilter AS OPERATOR 1 <;
CREATE OPERATOR CLASS worse_ops FOR TYPE int4 USING bloomfilter AS OPERATOR 2 =;
CREATE OPERATOR CLASS other_ops FOR TYPE int4 USING bloomfilter AS FUNCTION 1 int4eq(int4, int4);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_ops';

SET client_min_messages = warning;
DROP SCHEMA test_index_use CASCADE;
