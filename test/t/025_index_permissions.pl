# A filter answers "does it exist": who may ask, and who may not.

use strict;
use warnings FATAL => 'all';

use IndexTests;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('permissions');

sub query { return $node->safe_psql('postgres', $_[0]); }

# The three ways to ask, as a role: their errors, '' for an answer.
sub asked
{
	my ($role, $index, $key) = @_;

	return join ' ', map { my $error = error_of($node, "SET ROLE $role; SELECT $_"); $error eq '' ? 'yes' : $error }
	  "bloom_index_contains('$index', $key)", "bloom_index_contains_each('$index', ARRAY[$key])";
}

sub allowed { my ($name, @asked) = @_; is(asked(@asked), 'yes yes', $name); return; }
sub denied { my ($name, @asked) = @_; is(asked(@asked), '42501 42501', $name); return; }

query(<<'SQL');
CREATE ROLE owner; CREATE ROLE reader; CREATE ROLE column_reader; CREATE ROLE other_column; CREATE ROLE writer;
CREATE ROLE nobody_at_all; CREATE ROLE member IN ROLE reader; CREATE ROLE all_data IN ROLE pg_read_all_data; CREATE ROLE bypass BYPASSRLS;
GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE TABLE t (id int, k text, secret text);
INSERT INTO t SELECT i, 'k' || i, 's' || i FROM generate_series(1, 100) AS i;
CREATE INDEX t_k ON t USING bloomfilter (k);
CREATE INDEX t_two ON t USING bloomfilter ((k || '/' || secret));
CREATE INDEX t_partial ON t USING bloomfilter (k) WHERE secret <> 's1';
GRANT SELECT ON t TO reader, bypass;
GRANT SELECT (k) ON t TO column_reader;
GRANT SELECT (id) ON t TO other_column;
GRANT INSERT, UPDATE, DELETE ON t TO writer;
SQL

allowed('the owner', 'owner', 't_k', q{'k1'});
allowed('SELECT on the table', 'reader', 't_k', q{'k1'});
allowed('SELECT on the column', 'column_reader', 't_k', q{'k1'});
allowed('a member of such a role', 'member', 't_k', q{'k1'});
allowed('pg_read_all_data', 'all_data', 't_k', q{'k1'});
denied('SELECT on another column', 'other_column', 't_k', q{'k1'});
denied('INSERT, UPDATE and DELETE only', 'writer', 't_k', q{'k1'});
denied('nothing', 'nobody_at_all', 't_k', q{'k1'});
denied('nothing, for an absent key', 'nobody_at_all', 't_k', q{'none'});
allowed('expression: SELECT on the table', 'reader', 't_two', q{'k1/s1'});
denied('expression: SELECT on one of its columns', 'column_reader', 't_two', q{'k1/s1'});
denied('expression: SELECT on another column', 'other_column', 't_two', q{'k1/s1'});
allowed('partial: SELECT on the table', 'reader', 't_partial', q{'k2'});
denied('partial: nothing', 'nobody_at_all', 't_partial', q{'k2'});
query('GRANT SELECT (secret) ON t TO column_reader');
allowed('expression: SELECT on both columns', 'column_reader', 't_two', q{'k1/s1'});
query('REVOKE SELECT ON t FROM reader');
denied('revoked', 'reader', 't_k', q{'k1'});
denied('revoked, for a member', 'member', 't_k', q{'k1'});
query('GRANT SELECT ON t TO PUBLIC');
allowed('granted to PUBLIC', 'nobody_at_all', 't_k', q{'k1'});
query('REVOKE SELECT ON t FROM PUBLIC; GRANT SELECT ON t TO reader');

# What bloom_index_info tells is about the rows as a whole: not for everybody.
is(error_of($node, q{SET ROLE reader; SELECT * FROM bloom_index_info('t_k')}), '', 'info: SELECT on the table');
is(error_of($node, q{SET ROLE nobody_at_all; SELECT * FROM bloom_index_info('t_k')}), '42501', 'info: nothing');

# A kept call site does not keep the right: checked at each call.
{
	my $session = session($node);
	$session->query_safe('SET ROLE reader');
	$session->query_safe(q{PREPARE p AS SELECT bloom_index_contains('t_k', 'k1')});
	is($session->query_safe('EXECUTE p'), 't', 'prepared: allowed') for 1 .. 6;
	query('REVOKE SELECT ON t FROM reader');
	is(session_error($session, 'EXECUTE p'), '42501', 'prepared: revoked meanwhile');
	query('GRANT SELECT ON t TO reader');
	is($session->query_safe('EXECUTE p'), 't', 'prepared: granted again');
	$session->query_safe('RESET ROLE; SET ROLE nobody_at_all');
	is(session_error($session, 'EXECUTE p'), '42501', 'prepared: another role');
	$session->quit;
}

# A guard that is a security definer is the owner's to give.
query(<<'SQL');
SET ROLE owner;
CREATE FUNCTION guard(key text) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS
	$$ BEGIN RETURN bloom_index_contains('t_k', key); END $$;
CREATE FUNCTION invoker(key text) RETURNS boolean LANGUAGE plpgsql STABLE AS
	$$ BEGIN RETURN bloom_index_contains('t_k', key); END $$;
SQL
is(query(q{SET ROLE nobody_at_all; SELECT guard('k1'), guard('certainly absent')}), 't|f', 'security definer: anybody may ask');
is(error_of($node, q{SET ROLE nobody_at_all; SELECT invoker('k1')}), '42501', 'security invoker: as the caller');
is(error_of($node, q{SET ROLE nobody_at_all; SELECT guard('k1'); SELECT invoker('k1')}), '42501', 'one does not open the way for the other');

# The opclass does not leak through a caller's operator: a scan obeys the table's rights.
is(error_of($node, q{SET ROLE nobody_at_all; SET enable_seqscan = off; SELECT * FROM t WHERE k = 'k1'}), '42501', 'a scan of the table');

# --- row security -------------------------------------------------------------------

query(q{SET ROLE owner; ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON t FOR SELECT TO PUBLIC USING (id < 10)});
isnt(asked('reader', 't_k', q{'k50'}), 'yes yes', 'row security: refused');
unlike(asked('reader', 't_k', q{'k5'}), qr/yes/, 'row security: also for a key that the policy shows');
unlike(asked('reader', 't_k', q{'none'}), qr/yes/, 'row security: and for none');
unlike(asked('reader', 't_two', q{'k5/s5'}), qr/yes/, 'row security: expression');
allowed('row security: not for the owner', 'owner', 't_k', q{'k50'});
allowed('row security: nor with BYPASSRLS', 'bypass', 't_k', q{'k50'});
allowed('row security: nor for a superuser', 'postgres', 't_k', q{'k50'});
is(query(q{SET ROLE nobody_at_all; SELECT guard('k50')}), 't', 'row security: a security definer is its owner');
query('ALTER TABLE t FORCE ROW LEVEL SECURITY');
unlike(asked('owner', 't_k', q{'k50'}), qr/yes/, 'FORCE ROW LEVEL SECURITY: the owner too');
isnt(error_of($node, q{SET ROLE nobody_at_all; SELECT guard('k50')}), '', 'FORCE ROW LEVEL SECURITY: and the guard');
isnt(error_of($node, q{SET ROLE reader; SET row_security = off; SELECT bloom_index_contains('t_k', 'k5')}), '', 'row_security = off does not open it');
# no policy at all means no rows
query('ALTER TABLE t NO FORCE ROW LEVEL SECURITY; DROP POLICY few ON t');
unlike(asked('reader', 't_k', q{'k5'}), qr/yes/, 'row security without a policy: refused');
query('ALTER TABLE t DISABLE ROW LEVEL SECURITY');
allowed('row security disabled', 'reader', 't_k', q{'k5'});

{
	my $session = session($node);
	$session->query_safe(q{SET ROLE reader; PREPARE p AS SELECT bloom_index_contains('t_k', 'k1')});
	$session->query_safe('EXECUTE p') for 1 .. 6;
	query('ALTER TABLE t ENABLE ROW LEVEL SECURITY');
	isnt(session_error($session, 'EXECUTE p'), '', 'row security enabled meanwhile: a kept plan is refused');
	query('ALTER TABLE t DISABLE ROW LEVEL SECURITY');
	$session->quit;
}

# --- partitions: judged on the parent -------------------------------------------------

query(<<'SQL');
SET ROLE owner;
CREATE TABLE p (id int, k text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000);
INSERT INTO p SELECT i, 'p' || i FROM generate_series(0, 1999) AS i;
CREATE INDEX p_k ON p USING bloomfilter (k);
RESET ROLE;
CREATE ROLE of_parent; CREATE ROLE of_leaves;
GRANT SELECT ON p TO of_parent;
GRANT SELECT ON p1, p2 TO of_leaves;
SQL
allowed('SELECT on the parent, its index', 'of_parent', 'p_k', q{'p1500'});
denied('SELECT on the parent, a leaf\'s index', 'of_parent', 'p1_k_idx', q{'p5'});
denied('SELECT on the leaves, the parent\'s index', 'of_leaves', 'p_k', q{'p5'});
allowed('SELECT on the leaves, a leaf\'s index', 'of_leaves', 'p1_k_idx', q{'p5'});
query('ALTER TABLE p1 ENABLE ROW LEVEL SECURITY');
allowed('row security of a leaf, through the parent', 'of_parent', 'p_k', q{'p5'});
unlike(asked('of_leaves', 'p1_k_idx', q{'p5'}), qr/yes/, 'row security of a leaf, directly');
query('ALTER TABLE p1 DISABLE ROW LEVEL SECURITY; ALTER TABLE p ENABLE ROW LEVEL SECURITY');
unlike(asked('of_parent', 'p_k', q{'p5'}), qr/yes/, 'row security of the parent');
allowed('row security of the parent, a leaf directly', 'of_leaves', 'p1_k_idx', q{'p5'});
query('ALTER TABLE p DISABLE ROW LEVEL SECURITY');

# --- temporary tables -------------------------------------------------------------------

{
	my $session = session($node);
	$session->query_safe(q{CREATE TEMP TABLE mine (k text); CREATE INDEX mine_k ON mine USING bloomfilter (k) WITH (capacity = 1);
		INSERT INTO mine SELECT 'm' || i FROM generate_series(1, 20000) AS i});
	is($session->query_safe(q{SELECT count(*) FROM mine WHERE bloom_index_contains('mine_k', k) IS NOT TRUE}), '0', 'an own temporary table');
	my $oid = $session->query_safe(q{SELECT 'mine_k'::regclass::oid});
	for my $call ("bloom_index_contains($oid, 'm1')", "bloom_index_contains_each($oid, ARRAY['m1'])", "(bloom_index_info($oid)).layers")
	{
		is(error_of($node, "SELECT $call"), '0A000', "one of another session is refused: $call");
	}
	$session->query_safe(q{BEGIN; CREATE TEMP TABLE short (k text) ON COMMIT DELETE ROWS; CREATE INDEX short_k ON short USING bloomfilter (k); INSERT INTO short VALUES ('x')});
	is($session->query_safe(q{SELECT bloom_index_contains('short_k', 'x')}), 't', 'ON COMMIT DELETE ROWS: before');
	$session->query_safe('COMMIT');
	is($session->query_safe(q{SELECT bloom_index_contains('short_k', 'x')}), 'f', 'ON COMMIT DELETE ROWS: after');
	$session->query_safe(q{INSERT INTO short VALUES ('y')});
	$session->quit;
}

# --- what is no such index ----------------------------------------------------------------

query('CREATE INDEX t_btree ON t (k)');
for my $wrong ('t', 't_btree', 'pg_class', 'pg_class_oid_index')
{
	isnt(error_of($node, "SELECT bloom_index_contains('$wrong', 'x')"), '', "$wrong is refused");
	isnt(error_of($node, "SELECT * FROM bloom_index_info('$wrong')"), '', "$wrong is refused for info");
	unlike(error_of($node, "SELECT bloom_index_contains('$wrong', 'x')"), qr/XX000/, "$wrong is refused in good words");
}
for my $oid ('0', '4294967295', '999999')
{
	isnt(error_of($node, "SELECT bloom_index_contains(${oid}::oid::regclass, 'x')"), '', "OID $oid is refused");
	unlike(error_of($node, "SELECT bloom_index_contains(${oid}::oid::regclass, 'x')"), qr/XX000/, "OID $oid is refused in good words");
}
is(query(q{SELECT bloom_index_contains('t_k', NULL::text) IS NULL, bloom_index_contains(NULL, 'x') IS NULL}), 't|t', 'NULL gives NULL');

$node->stop;
done_testing();
