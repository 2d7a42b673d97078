-- Who may ask a bloomfilter index.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfilter;
DROP ROLE IF EXISTS regress_bloom_owner, regress_bloom_reader, regress_bloom_group;
RESET client_min_messages;
CREATE SCHEMA test_index_rights;
SET search_path = test_index_rights, public;
CREATE ROLE regress_bloom_owner;
CREATE ROLE regress_bloom_reader;
CREATE ROLE regress_bloom_group;
GRANT USAGE ON SCHEMA test_index_rights TO regress_bloom_owner, regress_bloom_reader;

CREATE TABLE t (id int, secret text, open bool);
INSERT INTO t SELECT n, 's' || n, true FROM generate_series(1, 100) n;
ALTER TABLE t OWNER TO regress_bloom_owner;
CREATE INDEX t_id ON t USING bloomfilter (id);
CREATE INDEX t_both ON t USING bloomfilter ((id::text || secret));
CREATE INDEX t_part ON t USING bloomfilter (id) WHERE open;
CREATE INDEX t_row ON t USING bloomfilter (hashtextextended(secret, (t.*IS NOT NULL)::int));

-- One session and one call site, whose privileges change under it.
CREATE FUNCTION may_ask(index regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN bloom_index_contains(index, 1::text) IS NOT NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || sqlerrm;
END $$;
CREATE FUNCTION may_ask(role regrole, OUT id text, OUT both_columns text, OUT part text, OUT whole_row text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET LOCAL ROLE ' || role;
	id := may_ask('t_id'::regclass);
	both_columns := may_ask('t_both'::regclass);
	part := may_ask('t_part'::regclass);
	whole_row := may_ask('t_row'::regclass);
	RESET ROLE;
END $$;
\x on
SELECT * FROM may_ask('regress_bloom_owner'::regrole);
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
-- the indexed column is enough, but then all that take part
GRANT SELECT (id) ON t TO regress_bloom_reader;
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
GRANT SELECT (secret) ON t TO regress_bloom_reader;
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
GRANT SELECT (open) ON t TO regress_bloom_reader;
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
REVOKE SELECT (id, secret, open) ON t FROM regress_bloom_reader;
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
-- or the table; through a group, too
GRANT INSERT, UPDATE, DELETE, REFERENCES, TRIGGER ON t TO regress_bloom_reader;
GRANT SELECT ON t TO regress_bloom_group;
SELECT id FROM may_ask('regress_bloom_reader'::regrole);
GRANT regress_bloom_group TO regress_bloom_reader;
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
REVOKE regress_bloom_group FROM regress_bloom_reader;
SELECT id FROM may_ask('regress_bloom_reader'::regrole);
GRANT SELECT ON t TO PUBLIC;
SELECT * FROM may_ask('regress_bloom_reader'::regrole);
\x off

-- the other functions ask for the same
REVOKE SELECT ON t FROM PUBLIC;
SET ROLE regress_bloom_reader;
SELECT bloom_index_contains_each('t_id', ARRAY[1]);
SELECT bloom_index_info('t_id');
RESET ROLE;

-- a function of the owner may, for its callers
CREATE FUNCTION owner_asks(key int) RETURNS bool LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	RETURN bloom_index_contains('test_index_rights.t_id', key);
END $$;
ALTER FUNCTION owner_asks(int) OWNER TO regress_bloom_owner;
SET ROLE regress_bloom_reader;
SELECT owner_asks(1);
RESET ROLE;

-- row security: refused to those it applies to
GRANT SELECT ON t TO regress_bloom_reader;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON t USING (id < 50);
SELECT id FROM may_ask('regress_bloom_reader'::regrole);
SELECT id FROM may_ask('regress_bloom_owner'::regrole);
SET row_security = off;
SELECT id FROM may_ask('regress_bloom_reader'::regrole);
RESET row_security;
ALTER TABLE t FORCE ROW LEVEL SECURITY;
SELECT id FROM may_ask('regress_bloom_owner'::regrole);
ALTER ROLE regress_bloom_reader BYPASSRLS;
SELECT id FROM may_ask('regress_bloom_reader'::regrole);
ALTER ROLE regress_bloom_reader NOBYPASSRLS;
SELECT id FROM may_ask('regress_bloom_reader'::regrole);
-- to the superuser it does not apply
SELECT bloom_index_contains('t_id', 1);
ALTER TABLE t NO FORCE ROW LEVEL SECURITY;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
SELECT id FROM may_ask('regress_bloom_reader'::regrole);

-- of a partitioned table the parent decides
CREATE TABLE parts (id int) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE INDEX parts_id ON parts USING bloomfilter (id);
INSERT INTO parts VALUES (1);
CREATE FUNCTION may_ask_parts(OUT parent text, OUT partition text) LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL ROLE regress_bloom_reader;
	parent := may_ask('parts_id'::regclass);
	partition := may_ask('parts_1_id_idx'::regclass);
	RESET ROLE;
END $$;
SELECT * FROM may_ask_parts();
GRANT SELECT ON parts_1 TO regress_bloom_reader;
SELECT * FROM may_ask_parts();
REVOKE SELECT ON parts_1 FROM regress_bloom_reader;
GRANT SELECT ON parts TO regress_bloom_reader;
ALTER TABLE parts_1 ENABLE ROW LEVEL SECURITY;
SELECT * FROM may_ask_parts();
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
SELECT * FROM may_ask_parts();

-- the extension is trusted, so its access method and operator classes can be made
-- by somebody who is not superuser; whoever owns a table may index it
GRANT CREATE ON SCHEMA test_index_rights TO regress_bloom_owner;
SET ROLE regress_bloom_owner;
CREATE INDEX t_owned ON test_index_rights.t USING bloomfilter (id);
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA test_index_rights CASCADE;
DROP ROLE regress_bloom_owner, regress_bloom_reader, regress_bloom_group;
