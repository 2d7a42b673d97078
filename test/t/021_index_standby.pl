# A streaming standby: the same answers from the same pages, while rows arrive
# and after it was promoted.  Every page that replay changes is compared with the
# primary's (wal_consistency_checking).

use strict;
use warnings FATAL => 'all';

use IPC::Run;
use IndexTests;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = $ENV{INDEX_SECONDS} // 8;

my $primary = new_node('primary', streaming => 1, conf => <<'CONF');
wal_consistency_checking = 'generic'
wal_level = logical
max_standby_streaming_delay = -1
hot_standby_feedback = off
log_recovery_conflict_waits = on
CONF
$primary->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('standby', true)});

# Replay would also wait for old snapshots of the standby when the primary removes
# dead rows of a catalog.  As long as this slot is there it does not: it holds back
# what catalogs may lose, and no other table.
$primary->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('catalogs', 'pgoutput')});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', q{primary_slot_name = 'standby'});
$standby->start;

sub caught_up { $primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert')); return; }

# What both servers must say alike: the answers for keys that are not there, which
# only equal bits give, and the state of the filter.
sub same_answers
{
	my ($name, $index, $rows, $column) = @_;
	my $probes = "SELECT string_agg(i::text, ' ') FROM generate_series(1, 50000) AS i WHERE bloom_index_contains('$index', 'absent:' || i)";

	caught_up();
	is(missing($standby, $index, $rows, $column), '0', "$name: the standby has every key");
	my $wrong = $primary->safe_psql('postgres', $probes);
	note "$name: ", scalar(split / /, $wrong), ' of 50000 absent keys pass';
	is($standby->safe_psql('postgres', $probes), $wrong, "$name: the same absent keys pass");
	is_deeply(info($standby, $index), info($primary, $index), "$name: bloom_index_info is equal");
	return;
}

$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (id bigserial PRIMARY KEY, k text);
CREATE INDEX t_k ON t USING bloomfilter (k) WITH (capacity = 1, fpr = 0.01);
INSERT INTO t (k) SELECT 'first:' || i FROM generate_series(1, 3000) AS i;
SQL
same_answers('first keys', 't_k', 't');

$primary->safe_psql('postgres', "INSERT INTO t (k) SELECT 'grown:' || i FROM generate_series(1, 60000) AS i");
cmp_ok(layers($primary, 't_k'), '>=', 4, 'four layers or more');
same_answers('grown', 't_k', 't');

$primary->safe_psql('postgres', <<'SQL');
BEGIN;
INSERT INTO t (k) SELECT 'rolled back:' || i FROM generate_series(1, 10000) AS i;
ROLLBACK;
INSERT INTO t (k) SELECT 'after:' || i FROM generate_series(1, 2000) AS i;
SQL
same_answers('after a rollback', 't_k', 't');

$primary->safe_psql('postgres', <<'SQL');
DELETE FROM t WHERE id % 3 = 0;
VACUUM t;
INSERT INTO t (k) SELECT 'vacuumed:' || i FROM generate_series(1, 2000) AS i;
SQL
same_answers('vacuumed', 't_k', 't');

for my $command ('REINDEX INDEX t_k', 'REINDEX INDEX CONCURRENTLY t_k', 'VACUUM FULL t', 'ALTER TABLE t ALTER k TYPE varchar(100)',
	'CLUSTER t USING t_pkey')
{
	$primary->safe_psql('postgres', "$command; INSERT INTO t (k) VALUES ('$command')");
	same_answers($command, 't_k', 't');
}

$primary->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY t_k2 ON t USING bloomfilter (k) WITH (fpr = 0.2)');
same_answers('CREATE INDEX CONCURRENTLY', 't_k2', 't');

$primary->safe_psql('postgres', "TRUNCATE t; INSERT INTO t (k) SELECT 'again:' || i FROM generate_series(1, 5000) AS i");
same_answers('TRUNCATE', 't_k', 't');
same_answers('TRUNCATE, the other', 't_k2', 't');

# Unlogged tables are empty shells on a standby: no answer, above all not 'absent'.
$primary->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE u (k text);
CREATE INDEX u_k ON u USING bloomfilter (k);
INSERT INTO u VALUES ('here');
SQL
caught_up();
is(error_of($standby, q{SELECT bloom_index_contains('u_k', 'here')}), '0A000', 'an unlogged index cannot be asked on a standby');
is(error_of($standby, q{SELECT bloom_index_info('u_k')}), '0A000', 'nor looked into');
$primary->safe_psql('postgres', 'ALTER TABLE u SET LOGGED');
caught_up();
is($standby->safe_psql('postgres', q{SELECT bloom_index_contains('u_k', 'here')}), 't', 'once it is logged it can');

# A snapshot on the standby from before a HOT update, and an index of after it:
# the index lacks the key that the snapshot sees.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE hot (id int, k text) WITH (fillfactor = 50);
INSERT INTO hot VALUES (1, 'old');
SQL
caught_up();
my $old = session($standby);
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($old->query_safe('SELECT k FROM hot'), 'old', 'a snapshot on the standby sees the old key');
my $on_primary = session($primary);
$on_primary->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT k FROM hot');
$primary->safe_psql('postgres', q{UPDATE hot SET k = 'new'; CREATE INDEX hot_k ON hot USING bloomfilter (k)});
is($primary->safe_psql('postgres', q{SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'hot_k'::regclass}), 't', 'the index was built over a broken HOT chain');
caught_up();
is($old->query_safe('SELECT k FROM hot'), 'old', 'the snapshot sees it still');
is(session_error($old, q{SELECT bloom_index_contains('hot_k', 'old')}), '55000', 'the index refuses to answer it');
$old->query_safe('ROLLBACK');
$on_primary->query_safe('ROLLBACK');
is($old->query_safe(q{SELECT bloom_index_contains('hot_k', 'new')}), 't', 'a later snapshot gets its answer');
$old->quit;
$on_primary->quit;

# A row that is dead to every snapshot of the primary, so that builds leave it out,
# but not to one of the standby, which has not touched the table, or replay would
# wait for it.
sub old_snapshot
{
	caught_up();
	my $session = session($standby);
	$session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	return $session;
}

sub is_refused
{
	my ($name, $session, $table, $index) = @_;

	is($session->query_safe("SELECT count(*) FROM $table WHERE k = 'gone'"), '1', "$name: an old snapshot of the standby sees the row");
	for my $call ("bloom_index_contains('$index', 'gone')", "bloom_index_contains_each('$index', ARRAY['gone'])", "bloom_index_info('$index')")
	{
		$session->query_safe('SAVEPOINT s');
		is(session_error($session, "SELECT $call"), '55000', "$name: $call is refused");
		$session->query_safe('ROLLBACK TO s');
	}
	$session->query_safe('SET enable_seqscan = off');
	like($session->query_safe("EXPLAIN SELECT count(*) FROM $table WHERE k = 'gone'"), qr/Bitmap Index Scan on $index/, "$name: a scan can be forced through it");
	is($session->query_safe("SELECT count(*) FROM $table WHERE k = 'gone'"), '1', "$name: and finds the row");
	$session->query_safe('RESET enable_seqscan');
	return;
}

{
	my @builds = ([ 'REINDEX INDEX dead1_k', 1 ], [ 'DO $$ BEGIN BEGIN REINDEX INDEX dead2_k; EXCEPTION WHEN division_by_zero THEN END; END $$', 1 ],
		[ 'CREATE INDEX dead3_k ON dead3 USING bloomfilter (k)', 0 ]);

	for (1 .. 4)
	{
		$primary->safe_psql('postgres', "CREATE TABLE dead$_ (k text); INSERT INTO dead$_ VALUES ('kept'), ('gone')");
		$primary->safe_psql('postgres', "CREATE INDEX dead${_}_k ON dead$_ USING bloomfilter (k)") if $_ == 4 || $builds[ $_ - 1 ][1];
	}
	my $session = old_snapshot();
	for (1 .. @builds)
	{
		$primary->safe_psql('postgres', "DELETE FROM dead$_ WHERE k = 'gone'");
		$primary->safe_psql('postgres', $builds[ $_ - 1 ][0]);
	}
	caught_up();
	is_refused($builds[ $_ - 1 ][0], $session, "dead$_", "dead${_}_k") for 1 .. @builds;
	$session->query_safe('ROLLBACK');
	is($session->query_safe("SELECT bloom_index_contains('dead${_}_k', 'kept')"), 't', "$builds[ $_ - 1 ][0]: a later snapshot gets its answer") for 1 .. @builds;
	$session->quit;
}

# An open transaction of the primary does not make the standby refuse for ever.
{
	my $open = session($primary);
	$open->query_safe('BEGIN; CREATE TABLE never (k text)');
	$primary->safe_psql('postgres', 'REINDEX INDEX dead1_k');
	caught_up();
	is($standby->safe_psql('postgres', q{SELECT bloom_index_contains('dead1_k', 'kept')}), 't', 'beside an older transaction of the primary');
	$open->quit;
}

# While rows arrive and layers are added: what a snapshot of the standby sees, the
# filter on the standby has.
# (Without the images that make replay slow.)
$primary->safe_psql('postgres', 'ALTER SYSTEM SET wal_consistency_checking = \'\'');
$primary->reload;
$primary->safe_psql('postgres', 'TRUNCATE t RESTART IDENTITY');
my $insert = script_of($primary, "\\set many random(1, 20)\nINSERT INTO t (k) SELECT :client_id || ':' || random()::text || i FROM generate_series(1, :many) AS i;\n");
my $bench = IPC::Run::start([ 'pgbench', '-n', '-M', 'prepared', '-c', '4', '-T', $seconds, '-f', $insert, $primary->connstr('postgres') ],
	'<', \undef, '>', "$insert.out", '2>', "$insert.err");
my ($looks, $lost, $seen) = (0, 0, 0);
my $look = session($standby);
while ($bench->pumpable)
{
	eval { $bench->pump_nb }; # it may have ended just now
	my ($missing, $rows) = split /\|/, $look->query_safe(q{SELECT count(*) FILTER (WHERE bloom_index_contains('t_k', k) IS NOT TRUE), count(*)
		FROM (SELECT k FROM t ORDER BY id DESC LIMIT 2000) AS newest});
	$looks++;
	$lost += $missing;
	$seen = $rows if $rows > $seen;
}
$bench->finish;
is(slurp_file("$insert.err") =~ /ERROR|FATAL|aborted/ ? slurp_file("$insert.err") : '', '', 'pgbench had no error');
is($lost, 0, "no false negative on the standby in $looks looks");
cmp_ok($seen, '>', 0, 'rows had arrived');
$look->quit;
cmp_ok(layers($primary, 't_k'), '>=', 2, 'layers were added meanwhile');
same_answers('after concurrent inserts', 't_k', 't');

# Promoted, it goes on by itself.
$primary->safe_psql('postgres', q{CREATE TABLE small (k text); CREATE INDEX small_k ON small USING bloomfilter (k) WITH (capacity = 1);
	INSERT INTO small SELECT 'primary:' || i FROM generate_series(1, 7000) AS i});
my $outlives = old_snapshot();
$primary->safe_psql('postgres', q{DELETE FROM dead4 WHERE k = 'gone'});
$primary->safe_psql('postgres', 'REINDEX INDEX dead4_k');
caught_up();
$primary->stop('fast');
$standby->promote;
is_refused('promoted', $outlives, 'dead4', 'dead4_k');
$outlives->quit;
is(missing($standby, 't_k', 't'), '0', 'promoted: every key');
is(missing($standby, 'small_k', 'small'), '0', 'promoted: every key of the other');
my $before = layers($standby, 'small_k');
$standby->safe_psql('postgres', "INSERT INTO small SELECT 'promoted:' || i FROM generate_series(1, 30000) AS i");
is(missing($standby, 'small_k', 'small'), '0', 'promoted: every further key');
cmp_ok(layers($standby, 'small_k'), '>', $before, 'promoted: further layers');

checksums_are_right($standby, 'standby');
checksums_are_right($primary, 'primary');
done_testing();
