-- What happens to a bloomfilter index when its table changes.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
RESET client_min_messages;
CREATE SCHEMA test_index_ddl;
SET search_path = test_index_ddl, public;

-- One call site for all of it, so that what it keeps is put to the test; SQLSTATE
-- of an error.  Rates are a millionth, so that single keys are absent.
CREATE FUNCTION ask(index regclass, VARIADIC keys int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := '';
	key int;
BEGIN
	FOREACH key IN ARRAY keys LOOP
		answer := answer || left(bloom_index_contains(index, key)::text, 1);
	END LOOP;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || sqlerrm;
END $$;

CREATE TABLE t (id int, other int);
INSERT INTO t SELECT n, n FROM generate_series(1, 1000) n;
CREATE INDEX t_filter ON t USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT ask('t_filter', 1, 1000, 1001);

-- rewrites
VACUUM t;
VACUUM FULL t;
SELECT ask('t_filter', 1, 1000, 1001);
ALTER TABLE t ALTER id TYPE bigint;
SELECT ask('t_filter', 1, 1000, 1001);
ALTER TABLE t ALTER id TYPE text;
SELECT ask('t_filter', 1, 1000, 1001);
ALTER TABLE t ALTER id TYPE int USING id::int;
CREATE INDEX t_btree ON t (other);
CLUSTER t USING t_btree;
SELECT ask('t_filter', 1, 1000, 1001);
CLUSTER t USING t_filter;
ALTER TABLE t SET UNLOGGED;
SELECT ask('t_filter', 1, 1000, 1001);
ALTER TABLE t SET LOGGED;
SELECT ask('t_filter', 1, 1000, 1001);
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_bloomfilter LOCATION '';
ALTER TABLE t SET TABLESPACE regress_bloomfilter;
ALTER INDEX t_filter SET TABLESPACE regress_bloomfilter;
SELECT ask('t_filter', 1, 1000, 1001);
INSERT INTO t VALUES (1001);
SELECT ask('t_filter', 1, 1000, 1001);
ALTER INDEX t_filter SET TABLESPACE pg_default;
ALTER TABLE t SET TABLESPACE pg_default;
DROP TABLESPACE regress_bloomfilter;
SELECT ask('t_filter', 1, 1000, 1001);

-- built anew; in a transaction that is rolled back, too
DELETE FROM t WHERE id = 1001;
REINDEX INDEX t_filter;
SELECT ask('t_filter', 1, 1000, 1001);
BEGIN;
TRUNCATE t;
SELECT ask('t_filter', 1, 1000, 1001);
INSERT INTO t VALUES (1001);
SELECT ask('t_filter', 1, 1000, 1001);
ROLLBACK;
SELECT ask('t_filter', 1, 1000, 1001);
BEGIN;
SAVEPOINT a;
REINDEX TABLE t;
INSERT INTO t VALUES (1002);
ROLLBACK TO a;
INSERT INTO t VALUES (1003);
SELECT ask('t_filter', 1, 1000, 1001, 1003);
COMMIT;
SELECT ask('t_filter', 1, 1000, 1001, 1003);

-- concurrently
REINDEX INDEX CONCURRENTLY t_filter;
SELECT ask('t_filter', 1, 1000, 1001, 1003);
CREATE INDEX CONCURRENTLY t_filter2 ON t USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT ask('t_filter2', 1, 1000, 1001, 1003);
DROP INDEX CONCURRENTLY t_filter2;

-- a name that stays while the index does not
CREATE FUNCTION ask_by_name(key int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	RETURN bloom_index_contains('t_filter', key);
END $$;
SELECT ask_by_name(1), ask_by_name(1001);
REINDEX INDEX CONCURRENTLY t_filter;
SELECT ask_by_name(1), ask_by_name(1001);
DROP INDEX t_filter;
SELECT ask_by_name(1);
CREATE INDEX t_filter ON t USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT ask_by_name(1), ask_by_name(1001);

-- not valid, not ready, not live
CREATE FUNCTION ask_without(flag text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	EXECUTE format('UPDATE pg_index SET %I = false WHERE indexrelid = ''t_filter''::regclass', flag);
	answer := ask('t_filter', 1);
	EXECUTE format('UPDATE pg_index SET %I = true WHERE indexrelid = ''t_filter''::regclass', flag);
	RETURN answer;
END $$;
SELECT ask_without('indisvalid'), ask('t_filter', 1);
SELECT ask_without('indisready'), ask('t_filter', 1);
SELECT ask_without('indislive'), ask('t_filter', 1);

-- an index that was built behind a broken HOT chain is of no use to snapshots from before
CREATE TABLE hot (id int, v int) WITH (fillfactor = 50);
INSERT INTO hot VALUES (1, 1);
BEGIN;
UPDATE hot SET id = 2;
CREATE INDEX hot_filter ON hot USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'hot_filter'::regclass;
SELECT ask('hot_filter', 1);
COMMIT;
SELECT ask('hot_filter', 2, 3);

-- REINDEX does not set that mark, so it must find the old keys: since 16 the update
-- is HOT although it changes the key.  The cursor has the snapshot from before.
CREATE TABLE hot_key (id int) WITH (fillfactor = 50);
CREATE INDEX hot_key_filter ON hot_key USING bloomfilter (id) WITH (fpr = 0.000001);
INSERT INTO hot_key VALUES (1);
BEGIN;
DECLARE before CURSOR FOR SELECT bloom_index_contains_each('hot_key_filter', ARRAY[1, 2, 3]) FROM generate_series(1, 2);
FETCH before;
UPDATE hot_key SET id = 2;
REINDEX INDEX hot_key_filter;
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'hot_key_filter'::regclass;
FETCH before;
COMMIT;

-- deleted rows that a snapshot could still see are in it
BEGIN;
CREATE TABLE own (id int);
INSERT INTO own VALUES (1);
DELETE FROM own;
CREATE INDEX own_filter ON own USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT ask('own_filter', 1, 2);
COMMIT;

-- HOT updates: of a column that is not indexed, and of the key where the server
-- can (since 16); the new key is there in any case
CREATE TABLE updated (id int, v int);
CREATE INDEX updated_filter ON updated USING bloomfilter (id) WITH (fpr = 0.000001);
INSERT INTO updated VALUES (1, 1);
UPDATE updated SET v = 2;
UPDATE updated SET id = 5;
UPDATE updated SET id = 6;
SELECT ask('updated_filter', 1, 5, 6, 7);
SELECT pg_indexam_has_property(oid, 'can_order') AS can_order, pg_indexam_has_property(oid, 'can_unique') AS can_unique,
	pg_indexam_has_property(oid, 'can_multi_col') AS can_multi_col, pg_indexam_has_property(oid, 'can_exclude') AS can_exclude
FROM pg_am WHERE amname = 'bloomfilter';

-- unlogged and temporary tables, materialized views
CREATE UNLOGGED TABLE unlogged (id int);
CREATE INDEX unlogged_filter ON unlogged USING bloomfilter (id) WITH (fpr = 0.000001);
INSERT INTO unlogged SELECT generate_series(1, 10000);
SELECT ask('unlogged_filter', 1, 10000, 10001);
CREATE TEMPORARY TABLE temporary (id int) ON COMMIT DELETE ROWS;
CREATE INDEX temporary_filter ON temporary USING bloomfilter (id) WITH (fpr = 0.000001);
BEGIN;
INSERT INTO temporary VALUES (1);
SELECT ask('temporary_filter', 1, 2);
COMMIT;
SELECT ask('temporary_filter', 1, 2);
CREATE MATERIALIZED VIEW stored AS SELECT id FROM t;
CREATE INDEX stored_filter ON stored USING bloomfilter (id) WITH (fpr = 0.000001);
INSERT INTO t VALUES (2000);
SELECT ask('stored_filter', 1, 2000);
REFRESH MATERIALIZED VIEW stored;
SELECT ask('stored_filter', 1, 2000);

----------------------------------------------------------------------------
-- Partitioned tables
----------------------------------------------------------------------------

CREATE TABLE parts (id int, region text) PARTITION BY LIST (region);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b') PARTITION BY RANGE (id);
CREATE INDEX parts_filter ON parts USING bloomfilter (id) WITH (fpr = 0.000001);
CREATE TABLE parts_b1 PARTITION OF parts_b FOR VALUES FROM (0) TO (100);
SELECT ask('parts_filter', 1, 50, 150);
INSERT INTO parts VALUES (1, 'a'), (50, 'b');
SELECT ask('parts_filter', 1, 50, 150);
CREATE TABLE parts_b2 PARTITION OF parts_b FOR VALUES FROM (100) TO (200);
INSERT INTO parts VALUES (150, 'b');
SELECT ask('parts_filter', 1, 50, 150);
-- a level of it, and one partition
SELECT ask('parts_b_id_idx', 1, 50, 150), ask('parts_a_id_idx', 1, 50, 150);
SELECT layers, pages, round(estimated_count) AS keys FROM bloom_index_info('parts_filter');
-- attach, detach
CREATE TABLE parts_c (id int, region text);
INSERT INTO parts_c VALUES (300, 'c');
ALTER TABLE parts ATTACH PARTITION parts_c FOR VALUES IN ('c');
SELECT ask('parts_filter', 1, 50, 150, 300);
ALTER TABLE parts DETACH PARTITION parts_c;
SELECT ask('parts_filter', 1, 50, 150, 300);
ALTER TABLE parts ATTACH PARTITION parts_c FOR VALUES IN ('c');
DROP TABLE parts_c;
SELECT ask('parts_filter', 1, 50, 150, 300);
REINDEX INDEX parts_a_id_idx;
REINDEX INDEX CONCURRENTLY parts_b1_id_idx;
SELECT ask('parts_filter', 1, 50, 150, 300);
SELECT bloom_index_contains_each('parts_filter', ARRAY[1, 50, 150, 300, NULL]);
-- rows move from one partition to another
UPDATE parts SET id = 99 WHERE id = 150;
SELECT ask('parts_filter', 1, 50, 150, 99);

-- an index that not every partition has
CREATE INDEX parts_only ON ONLY parts USING bloomfilter (id) WITH (fpr = 0.000001);
SELECT ask('parts_only', 1);
ALTER INDEX parts_only ATTACH PARTITION parts_a_id_idx;
CREATE INDEX parts_a_second ON parts_a USING bloomfilter (id) WITH (fpr = 0.000001);
ALTER INDEX parts_only ATTACH PARTITION parts_a_second;
SELECT ask('parts_only', 1);
CREATE INDEX parts_b_second ON parts_b USING bloomfilter (id) WITH (fpr = 0.000001);
ALTER INDEX parts_only ATTACH PARTITION parts_b_second;
SELECT ask('parts_only', 1, 50, 300);

-- a foreign table could hold any key
CREATE FOREIGN DATA WRAPPER regress_nothing;
CREATE SERVER regress_nowhere FOREIGN DATA WRAPPER regress_nothing;
CREATE FOREIGN TABLE parts_f PARTITION OF parts FOR VALUES IN ('f') SERVER regress_nowhere;
SELECT ask('parts_filter', 1);
SELECT ask('parts_b_id_idx', 50, 300);
SELECT bloom_index_info('parts_filter');
ALTER TABLE parts DETACH PARTITION parts_f;
SELECT ask('parts_filter', 1, 50, 300);

-- without any partition there is no key
CREATE TABLE parts_none (id int) PARTITION BY HASH (id);
CREATE INDEX parts_none_filter ON parts_none USING bloomfilter (id);
SELECT ask('parts_none_filter', 1);

----------------------------------------------------------------------------
-- DDL as DDL
----------------------------------------------------------------------------

SELECT pg_get_indexdef('parts_filter'::regclass);
ALTER INDEX t_filter RENAME TO t_renamed;
SELECT ask('t_renamed', 1);
CREATE TABLE like_t (LIKE t INCLUDING INDEXES);
INSERT INTO like_t VALUES (5);
SELECT ask('like_t_id_idx', 5, 1);
DROP MATERIALIZED VIEW stored;
ALTER TABLE t DROP COLUMN id;
SELECT count(*) FROM pg_class WHERE relname = 't_renamed';

SET client_min_messages = warning;
DROP SCHEMA test_index_ddl CASCADE;
DROP SERVER regress_nowhere CASCADE;
DROP FOREIGN DATA WRAPPER regress_nothing;
