# What may happen to a table with such an index, in its life and in a dump: the
# filter has every key afterwards, or the server says why not.

use strict;
use warnings FATAL => 'all';

use IndexTests;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('ddl');

sub query { return $node->safe_psql('postgres', $_[0]); }
sub contains { return query("SELECT bloom_index_contains('$_[0]', $_[1])"); }

# --- unlogged tables ----------------------------------------------------------------

query(<<'SQL');
CREATE UNLOGGED TABLE u (k text);
CREATE INDEX u_k ON u USING bloomfilter (k) WITH (capacity = 1, fpr = 0.0001);
INSERT INTO u SELECT 'u' || i FROM generate_series(1, 20000) AS i;
CREATE UNLOGGED TABLE u_built AS SELECT 'b' || i AS k FROM generate_series(1, 20000) AS i;
CREATE INDEX u_built_k ON u_built USING bloomfilter (k);
SQL
cmp_ok(layers($node, 'u_k'), '>=', 3, 'unlogged: layers');
is(missing($node, 'u_k', 'u'), '0', 'unlogged: every key');
query('CHECKPOINT');
crash($node);
start_after_crash($node);
is(query('SELECT count(*) FROM u'), '0', 'a crash empties the table');
for my $table ('u', 'u_built')
{
	is(query("SELECT count(*) FROM generate_series(1, 20000) AS i WHERE bloom_index_contains('${table}_k', left('$table', 1) || i)"), '0', "$table: and the filter");
	query("INSERT INTO $table SELECT 'v' || i FROM generate_series(1, 20000) AS i");
	is(missing($node, "${table}_k", $table), '0', "$table: which is usable");
	cmp_ok(query("SELECT count(*) FROM generate_series(1, 10000) AS i WHERE bloom_index_contains('${table}_k', 'absent' || i)"), '<', 200, "$table: and tells absent keys");
}
query('ALTER TABLE u SET LOGGED');
is(missing($node, 'u_k', 'u'), '0', 'SET LOGGED: every key');
query(q{INSERT INTO u SELECT 'w' || i FROM generate_series(1, 20000) AS i});
crash($node);
start_after_crash($node);
is(query('SELECT count(*) FROM u'), '40000', 'logged: nothing is lost in a crash');
is(missing($node, 'u_k', 'u'), '0', 'logged: every key after a crash');
query('ALTER TABLE u SET UNLOGGED');
is(missing($node, 'u_k', 'u'), '0', 'SET UNLOGGED: every key');
crash($node);
start_after_crash($node);
query(q{INSERT INTO u VALUES ('x')});
is(contains('u_k', q{'x'}), 't', 'SET UNLOGGED, crash: usable');
# a clean stop keeps them
query(q{INSERT INTO u SELECT 'y' || i FROM generate_series(1, 1000) AS i});
$node->restart;
is(query('SELECT count(*) FROM u'), '1001', 'unlogged: a restart keeps the rows');
is(missing($node, 'u_k', 'u'), '0', 'unlogged: and the filter');

# --- rewrites and moves ---------------------------------------------------------------

my $folder = $node->basedir . '/space';
mkdir $folder or die "$folder: $!";
query("CREATE TABLESPACE space LOCATION '$folder'");
query(<<'SQL');
CREATE TABLE t (id serial PRIMARY KEY, k text, extra int);
INSERT INTO t (k) SELECT 'k' || i FROM generate_series(1, 15000) AS i;
CREATE INDEX t_k ON t USING bloomfilter (k) WITH (capacity = 5000, fpr = 0.001);
CREATE INDEX t_partial ON t USING bloomfilter (k) WHERE id % 2 = 0;
CREATE INDEX t_expression ON t USING bloomfilter ((k || ':' || id));
CREATE INDEX t_id ON t USING bloomfilter (id);
SQL

my $step = 0;
for my $command (
	'ALTER INDEX t_k SET TABLESPACE space', 'ALTER TABLE t SET TABLESPACE space', 'REINDEX (TABLESPACE pg_default) INDEX t_k',
	'ALTER TABLE t SET UNLOGGED', 'ALTER TABLE t SET LOGGED',
	'CLUSTER t USING t_pkey', 'VACUUM FULL t', 'REINDEX TABLE t', 'REINDEX TABLE CONCURRENTLY t', 'VACUUM t', 'VACUUM (FREEZE, INDEX_CLEANUP on) t', 'ANALYZE t',
	'ALTER TABLE t ALTER k TYPE varchar(200)', 'ALTER TABLE t ALTER id TYPE bigint', q{ALTER TABLE t ALTER k TYPE text USING k || '?'},
	'ALTER TABLE t ALTER id TYPE numeric', 'ALTER TABLE t ADD COLUMN more text DEFAULT clock_timestamp()::text', 'ALTER TABLE t DROP COLUMN extra',
	'ALTER TABLE t RENAME COLUMN k TO key; ALTER TABLE t RENAME COLUMN key TO k', 'ALTER INDEX t_k RENAME TO t_kk; ALTER INDEX t_kk RENAME TO t_k',
	'ALTER INDEX t_k SET (fpr = 0.01)', 'ALTER INDEX t_k RESET (fpr)', 'ALTER INDEX t_k SET (fpr = 0.05); REINDEX INDEX t_k',
	'DELETE FROM t WHERE id % 3 = 0; VACUUM t', 'TRUNCATE t', 'BEGIN; TRUNCATE t; ROLLBACK', 'BEGIN; REINDEX TABLE t; ROLLBACK')
{
	my $rows = query('SELECT count(*) FROM t');
	query($command);
	my $new = 'step ' . ++$step;
	query("INSERT INTO t (k) SELECT '$new:' || i FROM generate_series(1, 3000) AS i");
	cmp_ok(query('SELECT count(*) FROM t'), '>=', $command eq 'TRUNCATE t' ? 3000 : $rows / 2 + 3000, "$command: the rows are there");
	is( join(' ', map { missing($node, @$_) } [ 't_k', 't' ], [ 't_partial', '(SELECT k FROM t WHERE id % 2 = 0) AS e' ],
			[ 't_expression', 't', q{(k || ':' || id)} ], [ 't_id', 't', 'id' ]),
		'0 0 0 0', "$command: every key");
}
cmp_ok(query(q{SELECT count(*) FROM generate_series(1, 10000) AS i WHERE bloom_index_contains('t_id', -i)}), '<', 200, 'absent keys are told');
is(query(q{SELECT count(*) FROM pg_class WHERE relname = 't_k' AND reltablespace = 0}), '1', 'it was moved, and moved back');

# --- definitions --------------------------------------------------------------------------

query('CREATE TABLE copy (LIKE t INCLUDING ALL)');
is(query(q{SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
	WHERE indrelid = 'copy'::regclass AND amname = 'bloomfilter' AND (reloptions IS NOT NULL) = (pg_get_indexdef(indexrelid) LIKE '%WITH (%')}),
	'4', 'LIKE INCLUDING INDEXES makes them all');
query('INSERT INTO copy SELECT * FROM t');
is(missing($node, 'copy_k_idx', 'copy'), '0', 'and they are filled');
is(query(q{SELECT reloptions FROM pg_class WHERE oid = 'copy_k_idx'::regclass}), query(q{SELECT reloptions FROM pg_class WHERE oid = 't_k'::regclass}), 'with the options');

for my $refused (
	'CREATE UNIQUE INDEX ON t USING bloomfilter (k)', 'CREATE INDEX ON t USING bloomfilter (k, id)', 'CREATE INDEX ON t USING bloomfilter (k) INCLUDE (id)',
	'CREATE INDEX ON t USING bloomfilter (k DESC)', 'ALTER TABLE t ADD EXCLUDE USING bloomfilter (k WITH =)', 'CLUSTER t USING t_k',
	'CREATE INDEX ON t USING bloomfilter (k) WITH (fpr = 0)', 'CREATE INDEX ON t USING bloomfilter (k) WITH (fpr = 1)', 'CREATE INDEX ON t USING bloomfilter (k) WITH (fpr = 1.5)',
	q{CREATE INDEX ON t USING bloomfilter (k) WITH (fpr = 'NaN')}, 'CREATE INDEX ON t USING bloomfilter (k) WITH (fpr = -0.01)',
	'CREATE INDEX ON t USING bloomfilter (k) WITH (capacity = -5)', 'CREATE INDEX ON t USING bloomfilter (k) WITH (growth = 0)',
	'CREATE INDEX ON t USING bloomfilter (k) WITH (nonsense = 1)', 'CREATE INDEX ON t USING bloomfilter (ctid)')
{
	isnt(error_of($node, $refused), '', "refused: $refused");
}

# --- partitions ---------------------------------------------------------------------------

query(<<'SQL');
CREATE TABLE p (id int, k text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (id);
CREATE TABLE p2a PARTITION OF p2 FOR VALUES FROM (1000) TO (1500);
CREATE TABLE p2b PARTITION OF p2 FOR VALUES FROM (1500) TO (2000);
INSERT INTO p SELECT i, 'p' || i FROM generate_series(0, 1999) AS i;
CREATE INDEX p_k ON p USING bloomfilter (k);
SQL
is(missing($node, 'p_k', 'p'), '0', 'partitions: every key through the parent');
cmp_ok(query(q{SELECT count(*) FROM generate_series(1, 10000) AS i WHERE bloom_index_contains('p_k', 'absent' || i)}), '<', 500, 'partitions: absent keys are told');
is(contains('p2_k_idx', q{'p1700'}), 't', 'partitions: a parent in between');
is(query(q{SELECT bloom_index_contains('p1_k_idx', 'p5'), bloom_index_contains_each('p_k', ARRAY['p5', 'p1999', NULL])}), 't|{t,t,NULL}', 'partitions: a leaf, and many keys');
query(q{CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (2000) TO (3000); INSERT INTO p VALUES (2500, 'new partition')});
is(contains('p_k', q{'new partition'}), 't', 'partitions: a new one has its index');
query(q{CREATE TABLE attached (id int, k text); INSERT INTO attached VALUES (3500, 'attached'); ALTER TABLE p ATTACH PARTITION attached FOR VALUES FROM (3000) TO (4000)});
is(contains('p_k', q{'attached'}), 't', 'partitions: an attached one is built');
query(q{CREATE TABLE indexed (id int, k text); INSERT INTO indexed VALUES (4500, 'indexed'); CREATE INDEX indexed_k ON indexed USING bloomfilter (k);
	ALTER TABLE p ATTACH PARTITION indexed FOR VALUES FROM (4000) TO (5000)});
is(contains('p_k', q{'indexed'}), 't', 'partitions: one that has its index');
query('ALTER TABLE p DETACH PARTITION attached');
is(contains('p_k', q{'attached'}), 'f', 'partitions: a detached one is out');
is(contains('attached_k_idx', q{'attached'}), 't', 'partitions: and answers for itself');
query('DROP TABLE p3');
is(contains('p_k', q{'p1999'}), 't', 'partitions: one is dropped');
# rows that move
query(q{UPDATE p SET id = 1999 WHERE id = 5});
is(missing($node, 'p_k', 'p'), '0', 'partitions: a row that moved');

query(q{CREATE TABLE o (id int, k text) PARTITION BY RANGE (id); CREATE TABLE o1 PARTITION OF o FOR VALUES FROM (0) TO (1000);
	CREATE TABLE o2 PARTITION OF o FOR VALUES FROM (1000) TO (2000); INSERT INTO o VALUES (1, 'one'), (1001, 'two');
	CREATE INDEX o_k ON ONLY o USING bloomfilter (k)});
is(error_of($node, q{SELECT bloom_index_contains('o_k', 'one')}), '55000', 'ON ONLY: no leaf has an index');
query('CREATE INDEX o1_k ON o1 USING bloomfilter (k); ALTER INDEX o_k ATTACH PARTITION o1_k');
is(error_of($node, q{SELECT bloom_index_contains('o_k', 'one')}), '55000', 'ON ONLY: one has, the other not; the key is in the first');
is(error_of($node, q{SELECT bloom_index_contains('o_k', 'none')}), '55000', 'ON ONLY: nor for an absent key');
query('CREATE INDEX o2_k ON o2 USING bloomfilter (k); ALTER INDEX o_k ATTACH PARTITION o2_k');
is(missing($node, 'o_k', 'o'), '0', 'ON ONLY: all have');
is(error_of($node, 'DROP INDEX o2_k'), '2BP01', 'a leaf of it cannot be dropped');

query(q{CREATE TABLE nothing (id int, k text) PARTITION BY RANGE (id); CREATE INDEX nothing_k ON nothing USING bloomfilter (k)});
is(contains('nothing_k', q{'x'}), 'f', 'no partition, no key');

# DETACH CONCURRENTLY that was not finished: the partition is part of no new
# snapshot, but of old ones.
{
	my ($old, $other) = (session($node), session($node));
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM o');
	begin_query($other, 'ALTER TABLE o DETACH PARTITION o2 CONCURRENTLY');
	ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_inherits WHERE inhdetachpending)}), 'DETACH CONCURRENTLY waits');
	is($old->query(q{SELECT count(*) FROM o WHERE k = 'two'}), '1', 'an old snapshot sees the rows');
	my $answer = $old->query(q{SELECT bloom_index_contains('o_k', 'two')});
	ok($answer eq 't' || $old->{stderr} ne '', 'and the filter does not deny them');
	note "$answer $old->{stderr}";
	$old->{stderr} = '';
	$old->query('ROLLBACK');
	finished($other);
	$_->quit for $old, $other;
	is(contains('o_k', q{'one'}), 't', 'after DETACH CONCURRENTLY');
}

SKIP:
{
	skip 'file_fdw is not installed', 3 if error_of($node, 'CREATE EXTENSION file_fdw') ne '';
	my $file = script_of($node, "5000,foreign\n");
	query("CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
		CREATE FOREIGN TABLE f (id int, k text) SERVER files OPTIONS (filename '$file', format 'csv')");
	is(query('SELECT k FROM f'), 'foreign', 'a foreign table');
	my $attach = error_of($node, 'ALTER TABLE p ATTACH PARTITION f FOR VALUES FROM (5000) TO (6000)');
	note "ATTACH of a foreign table: '$attach'";
	isnt(error_of($node, q{SELECT bloom_index_contains('p_k', 'foreign')}), '', 'a foreign leaf has no index: an error') if $attach eq '';
	isnt(error_of($node, q{SELECT bloom_index_contains('p_k', 'p7')}), '', 'for a key of another leaf as well') if $attach eq '';
	query('ALTER TABLE p DETACH PARTITION f') if $attach eq '';
	is(contains('p_k', q{'p1999'}), 't', 'without it there are answers again');
}

# Inheritance is no partitioning: an index is of one table.
query(q{CREATE TABLE parent (k text); CREATE TABLE child () INHERITS (parent); CREATE INDEX parent_k ON parent USING bloomfilter (k);
	INSERT INTO parent VALUES ('mine'); INSERT INTO child VALUES ('inherited')});
is(contains('parent_k', q{'mine'}), 't', 'inheritance: the parent\'s own rows');

# Materialized views have indexes too.
query(q{CREATE MATERIALIZED VIEW m AS SELECT k FROM t; CREATE INDEX m_k ON m USING bloomfilter (k)});
is(missing($node, 'm_k', 'm'), '0', 'materialized view: every key');
query(q{INSERT INTO t (k) VALUES ('for m'); REFRESH MATERIALIZED VIEW m});
is(contains('m_k', q{'for m'}), 't', 'materialized view: refreshed');

# --- dumps ------------------------------------------------------------------------------------

my $definitions = q{SELECT string_agg(pg_get_indexdef(indexrelid) || ' ' || indisvalid, E'\n' ORDER BY indexrelid::regclass::text)
	FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am ON pg_am.oid = relam WHERE amname = 'bloomfilter'};
my $defined = query($definitions);
cmp_ok(() = $defined =~ /USING bloomfilter/g, '>=', 15, 'indexes to be dumped');
like($defined, qr/WITH \(capacity='?1'?, fpr='?0.0001'?\)/, 'with options');

# The foreign table's file is not for a restore.
for my $format ('plain', 'custom')
{
	my $file = $node->basedir . "/dump.$format";
	$node->command_ok([ 'pg_dump', "-F$format", '--no-tablespaces', '-f', $file, $node->connstr('postgres') ], "$format: pg_dump");
	query("CREATE DATABASE $format TEMPLATE template0");
	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr($format) ]
		: [ 'pg_restore', '--exit-on-error', '-j2', '-d', $node->connstr($format), $file ],
		"$format: restore");
	is($node->safe_psql($format, $definitions), $defined, "$format: the same definitions");
	is(missing($node, @$_, $format), '0', "$format: $_->[0] has every key")
	  for [ 't_k', 't', 'k' ], [ 't_expression', 't', q{(k || ':' || id)} ], [ 'p_k', 'p', 'k' ], [ 'u_k', 'u', 'k' ], [ 'm_k', 'm', 'k' ];
}

# A copy of a database is a copy of the filter.
query('CREATE DATABASE copied TEMPLATE plain');
is(missing($node, 't_k', 't', 'k', 'copied'), '0', 'CREATE DATABASE ... TEMPLATE: every key');

# --- dropping ---------------------------------------------------------------------------------

is(error_of($node, 'DROP EXTENSION bloomfilter'), '2BP01', 'the extension is needed');
$node->safe_psql('copied', 'DROP EXTENSION bloomfilter CASCADE');
is($node->safe_psql('copied', q{SELECT count(*) FROM pg_class WHERE relname = 't_k'}), '0', 'CASCADE drops the indexes');
is($node->safe_psql('copied', q{SELECT count(*) > 0 FROM t}), 't', 'and no rows');

# --- pg_upgrade to the same version: files are taken over as they are -------------------------

SKIP:
{
	my $pg_upgrade = $node->config_data('--bindir') . '/pg_upgrade';
	skip 'pg_upgrade is not installed', 3 unless -x $pg_upgrade;

	query("DROP DATABASE $_") for 'plain', 'custom', 'copied';
	query('ALTER TABLE t SET TABLESPACE pg_default');
	query('DROP TABLESPACE space');
	my $new = PostgreSQL::Test::Cluster->new('upgraded');
	$new->init(extra => [ '--data-checksums', '--encoding=UTF8', '--locale=C' ]);
	my $info = info($node, 't_k');
	$node->stop;
	my $binaries = $node->config_data('--bindir');
	my $here = $node->basedir;
	chdir $here or die "$here: $!";
	command_ok(
		[ $pg_upgrade, '-d', $node->data_dir, '-D', $new->data_dir, '-b', $binaries, '-B', $binaries, '-s', $new->host, '-p', $node->port, '-P', $new->port ],
		'pg_upgrade');
	$new->start;
	is(missing($new, @$_), '0', "upgraded: $_->[0] has every key") for [ 't_k', 't' ], [ 'p_k', 'p' ], [ 'm_k', 'm' ];
	is(info($new, 't_k')->{pages}, $info->{pages}, 'upgraded: the same pages');
	$new->safe_psql('postgres', q{INSERT INTO t (k) SELECT 'upgraded' || i FROM generate_series(1, 20000) AS i});
	is(missing($new, 't_k', 't'), '0', 'upgraded: it takes further keys');
	checksums_are_right($new, 'upgraded');
}

done_testing();
