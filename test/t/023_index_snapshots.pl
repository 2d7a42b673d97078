# When a filter may not answer: snapshots older than what it holds, indexes that
# are not valid; and what has to wait for a transaction that probed.

use strict;
use warnings FATAL => 'all';

use IndexTests;
use PostgreSQL::Test::Utils;
use Test::More;

# An UPDATE of k stays on its page, and so is HOT as long as no index is on k.
my $node = new_node('snapshots', conf => 'deadlock_timeout = 10s');

sub query { return $node->safe_psql('postgres', $_[0]); }

# --- an index that was built after a HOT update -------------------------------------

query(<<'SQL');
CREATE TABLE hot (id int, k text) WITH (fillfactor = 50);
INSERT INTO hot SELECT i, 'old:' || i FROM generate_series(1, 10) AS i;
SQL

for my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	my $old = session($node);
	$old->query_safe("BEGIN ISOLATION LEVEL $level");
	is($old->query_safe(q{SELECT count(*) FROM hot WHERE k = 'old:3'}), '1', "$level: the snapshot sees the old key");

	query(q{UPDATE hot SET k = 'new:' || id; CREATE INDEX hot_k ON hot USING bloomfilter (k)});
	is(query(q{SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'hot_k'::regclass}), 't', "$level: the index was built over a broken HOT chain");
	is($old->query_safe(q{SELECT count(*) FROM hot WHERE k = 'old:3'}), '1', "$level: the snapshot still sees the old key");
	# Each error ends the transaction: savepoints keep the snapshot.
	for my $probe ("bloom_index_contains('hot_k', 'old:3')", "bloom_index_contains_each('hot_k', ARRAY['old:3'])", "bloom_index_contains('hot_k', 'new:3')")
	{
		$old->query_safe('SAVEPOINT s');
		is(session_error($old, "SELECT $probe"), '55000', "$level: $probe is refused");
		$old->query_safe('ROLLBACK TO s');
	}
	# The planner knows the rule too.
	$old->query_safe('SET enable_seqscan = off');
	is($old->query_safe(q{SELECT count(*) FROM hot WHERE k = 'old:3'}), '1', "$level: a forced scan finds it all the same");
	# in a read committed transaction of another session, begun before the old one ends
	my $other = session($node);
	$other->query_safe('BEGIN');
	my $answer = session_error($other, q{SELECT bloom_index_contains('hot_k', 'new:3')});
	ok($answer eq '' || $answer eq '55000', "$level: a younger transaction gets an answer or an error");
	$other->query_safe('ROLLBACK');
	$other->quit;
	$old->query_safe('COMMIT');
	$old->quit;
	is(query(q{SELECT bloom_index_contains('hot_k', 'new:3')}), 't', "$level: afterwards it answers");
	query(q{DROP INDEX hot_k; UPDATE hot SET k = 'old:' || id; VACUUM hot});
}

# The same through REINDEX, over a chain that broke when the index was not there.
{
	my $old = session($node);
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM hot');
	query(q{UPDATE hot SET k = 'newer:' || id});
	query('CREATE INDEX hot_k ON hot USING bloomfilter (k)');
	query('REINDEX INDEX hot_k');
	is(session_error($old, q{SELECT bloom_index_contains('hot_k', 'old:3')}), '55000', 'after REINDEX it is refused still');
	$old->quit;
	is(query(q{SELECT bloom_index_contains('hot_k', 'newer:3')}), 't', 'afterwards it answers');
	query('DROP INDEX hot_k');
}

# CREATE INDEX CONCURRENTLY waits for such snapshots instead.
{
	query(q{UPDATE hot SET k = 'old:' || id; VACUUM hot});
	my ($old, $builder) = (session($node), session($node));
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM hot');
	query(q{UPDATE hot SET k = 'new:' || id});
	begin_query($builder, 'CREATE INDEX CONCURRENTLY hot_k ON hot USING bloomfilter (k)');
	ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'}),
		'CREATE INDEX CONCURRENTLY waits for an old snapshot');
	is(error_of($node, q{SELECT bloom_index_contains('hot_k', 'new:3')}), '55000', 'and until then it cannot be asked');
	# rows that come meanwhile
	query(q{INSERT INTO hot VALUES (11, 'meanwhile')});
	$old->query_safe('COMMIT');
	my ($out, $err) = finished($builder);
	is($err, '', 'CREATE INDEX CONCURRENTLY ends');
	is(missing($node, 'hot_k', 'hot'), '0', 'with every key');
	$_->quit for $old, $builder;
}

# An UPDATE of a key that the index is on, HOT or not.
query(q{UPDATE hot SET k = 'changed:' || id});
is(missing($node, 'hot_k', 'hot'), '0', 'updated keys are in the filter');
query(q{UPDATE hot SET id = id + 100; UPDATE hot SET k = k || '!', id = id + 1});
is(missing($node, 'hot_k', 'hot'), '0', 'and again');

# An old snapshot and an index that held all that it sees: no reason to refuse.
{
	my $old = session($node);
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM hot');
	query(q{UPDATE hot SET k = 'later:' || id; DELETE FROM hot WHERE id % 2 = 0});
	query(q{VACUUM hot; INSERT INTO hot SELECT i, 'latest:' || i FROM generate_series(1, 20000) AS i});
	is($old->query_safe(q{SELECT count(*) FROM hot WHERE bloom_index_contains('hot_k', k) IS NOT TRUE}), '0', 'an old snapshot has all its keys, in layers as they are now');
	$old->quit;
}

# --- the transaction that makes the index ---------------------------------------------

is(query(<<'SQL'), "t\nt", 'the index of the running transaction answers');
BEGIN;
CREATE TABLE fresh (k text);
INSERT INTO fresh VALUES ('before');
CREATE INDEX fresh_k ON fresh USING bloomfilter (k);
SELECT bloom_index_contains('fresh_k', 'before');
INSERT INTO fresh VALUES ('after');
SELECT bloom_index_contains('fresh_k', 'after');
COMMIT;
SQL
isnt(error_of($node, "BEGIN; SAVEPOINT s; CREATE INDEX gone ON fresh USING bloomfilter (k); ROLLBACK TO s; SELECT bloom_index_contains('gone', 'before')"),
	'', 'one of a subtransaction that was rolled back is gone');

# --- invalid indexes ------------------------------------------------------------------

query('CREATE TABLE numbers (n int); INSERT INTO numbers SELECT generate_series(0, 1000)');
isnt(error_of($node, 'CREATE INDEX CONCURRENTLY numbers_n ON numbers USING bloomfilter ((1000 / n))'), '', 'a build that fails');
is(query(q{SELECT indisvalid FROM pg_index WHERE indexrelid = 'numbers_n'::regclass}), 'f', 'leaves an invalid index');
is(error_of($node, q{SELECT bloom_index_contains('numbers_n', 1)}), '55000', 'which cannot be asked');
is(error_of($node, q{SELECT bloom_index_contains_each('numbers_n', ARRAY[1, 2])}), '55000', 'nor for many keys');
query('DELETE FROM numbers WHERE n = 0; INSERT INTO numbers VALUES (-5)');
query('REINDEX INDEX CONCURRENTLY numbers_n');
is(query(q{SELECT bloom_index_contains('numbers_n', -200), bloom_index_contains('numbers_n', 500)}), 't|t', 'rebuilt, it answers');

# A build that is stopped after its first phase leaves one that is kept up, and is not complete.
{
	my ($holder, $builder) = (session($node), session($node));
	$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM numbers LIMIT 1');
	begin_query($builder, 'CREATE INDEX CONCURRENTLY stopped ON numbers USING bloomfilter (n)');
	ok($node->poll_query_until('postgres', q{SELECT indisready AND EXISTS (SELECT FROM pg_stat_activity
			WHERE query LIKE 'CREATE INDEX CONCURRENTLY stopped%' AND wait_event_type = 'Lock')
		FROM pg_index JOIN pg_class ON indexrelid = pg_class.oid WHERE relname = 'stopped'}), 'a build is past its first phase');
	query(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY stopped%' AND pid <> pg_backend_pid()});
	my ($out, $err) = finished($builder);
	like($err, qr/canceling statement/, 'and is cancelled');
	$_->quit for $holder, $builder;
}
is(query(q{SELECT indisready, indisvalid FROM pg_index WHERE indexrelid = 'stopped'::regclass}), 't|f', 'ready, but not valid');
query('INSERT INTO numbers VALUES (2000)');
is(error_of($node, q{SELECT bloom_index_contains('stopped', 2000)}), '55000', 'it cannot be asked');
query('DROP INDEX stopped');

# --- what waits for a probe ------------------------------------------------------------

query(<<'SQL');
CREATE TABLE w (k text);
INSERT INTO w SELECT 'w' || i FROM generate_series(1, 100) AS i;
SQL

for my $command ('DROP INDEX CONCURRENTLY w_k', 'REINDEX INDEX CONCURRENTLY w_k', 'DROP INDEX w_k', 'REINDEX INDEX w_k', 'TRUNCATE w', 'DROP TABLE w')
{
	query('CREATE INDEX IF NOT EXISTS w_k ON w USING bloomfilter (k)');
	my ($prober, $other) = (session($node), session($node));
	$prober->query_safe('BEGIN');
	is($prober->query_safe(q{SELECT bloom_index_contains('w_k', 'w1')}), 't', "$command: a transaction probes");
	begin_query($other, $command);
	ok( $node->poll_query_until('postgres', qq{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '$command%' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()}),
		"$command: it waits for that transaction");
	# Whatever it says now, a key that was there is not denied.
	my $answer = $prober->query(q{SELECT bloom_index_contains('w_k', 'w2')});
	my $error = $prober->{stderr};
	$prober->{stderr} = '';
	ok($answer eq 't' || $error ne '', "$command: no wrong answer meanwhile");
	note "$command: $answer $error";
	if ($command =~ /REINDEX INDEX CONCURRENTLY/)
	{
		query(q{INSERT INTO w VALUES ('inserted while it waits')});
	}
	$prober->query_safe('COMMIT') if $error eq '';
	$prober->query_safe('ROLLBACK') if $error ne '';
	my ($out, $err) = finished($other);
	is($err, '', "$command: then it goes on");
	is(missing($node, 'w_k', 'w'), '0', "$command: every key is there") if $command =~ /REINDEX/;
	query(q{INSERT INTO w SELECT 'w' || i FROM generate_series(1, 100) AS i}) if $command =~ /TRUNCATE/;
	$_->quit for $prober, $other;
}

# A probe that comes while the table is locked waits, and then sees what is there.
{
	query('CREATE TABLE w (k text)');
	query('CREATE INDEX w_k ON w USING bloomfilter (k)');
	my ($locker, $prober) = (session($node), session($node));
	$locker->query_safe(q{BEGIN; TRUNCATE w; INSERT INTO w VALUES ('fresh')});
	begin_query($prober, q{SELECT bloom_index_contains('w_k', 'fresh')});
	ok( $node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'SELECT bloom_index_contains%' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()}),
		'a probe waits for TRUNCATE');
	$locker->query_safe('COMMIT');
	my ($out, $err) = finished($prober);
	is("$out$err", 't', 'and sees the new file');
	$_->quit for $locker, $prober;
}

# A session that knows the layers of before asks after others have added some.
{
	query('CREATE TABLE g (k text); CREATE INDEX g_k ON g USING bloomfilter (k) WITH (capacity = 1)');
	my $prober = session($node);
	is($prober->query_safe(q{SELECT bloom_index_contains('g_k', 'none')}), 'f', 'an empty filter');
	for my $step (1 .. 4)
	{
		query("INSERT INTO g SELECT '$step:' || i FROM generate_series(1, 12000) AS i");
		is($prober->query_safe("SELECT count(*) FROM generate_series(1, 12000) AS i WHERE bloom_index_contains('g_k', '$step:' || i) IS NOT TRUE"),
			'0', "step $step: layers of another session are seen");
	}
	cmp_ok(layers($node, 'g_k'), '>=', 3, 'there are layers');
	# and in one statement, one transaction
	$prober->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM g');
	query("INSERT INTO g SELECT '5:' || i FROM generate_series(1, 30000) AS i");
	is($prober->query_safe("SELECT count(*) FROM generate_series(1, 30000) AS i WHERE bloom_index_contains('g_k', '5:' || i) IS NOT TRUE"),
		'0', 'and within a transaction that was there before');
	$prober->quit;
	for my $command ('REINDEX INDEX g_k', 'TRUNCATE g', 'VACUUM FULL g', 'ALTER TABLE g ALTER k TYPE varchar(50)')
	{
		my $kept = session($node);
		$kept->query_safe(q{PREPARE p(text) AS SELECT bloom_index_contains('g_k', $1)});
		$kept->query_safe(q{EXECUTE p('1:1')}) for 1 .. 7;
		query("$command; INSERT INTO g VALUES ('$command')");
		is($kept->query_safe("EXECUTE p('$command')"), 't', "$command: a kept plan sees the new file");
		$kept->quit;
	}
	my $kept = session($node);
	$kept->query_safe(q{PREPARE p(text) AS SELECT bloom_index_contains('g_k', $1)});
	$kept->query_safe(q{EXECUTE p('1:1')}) for 1 .. 7;
	query("REINDEX INDEX CONCURRENTLY g_k; INSERT INTO g VALUES ('concurrently')");
	is($kept->query_safe(q{EXECUTE p('concurrently')}), 't', 'REINDEX CONCURRENTLY: a kept plan sees the new index');
	$kept->quit;
}

$node->stop;
done_testing();
