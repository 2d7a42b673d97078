# Eight inserters and eight probers, and beside them VACUUM and everything that
# builds an index concurrently: no false negative for a key that is committed, no
# deadlock.
#
#   INDEX_SECONDS=60   how long; 20 by default, so that the tests end soon

use strict;
use warnings FATAL => 'all';

use IPC::Run;
use IndexTests;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = $ENV{INDEX_SECONDS} // 20;
my $node = new_node('concurrency', conf => 'deadlock_timeout = 100ms');

sub query { return $node->safe_psql('postgres', $_[0]); }

# One page, and room for few keys: many layers.  The second index is the one that
# is rebuilt and dropped; the first only grows, so that a probe of it can fail for
# no reason at all.
query(<<'SQL');
CREATE TABLE t (id bigserial PRIMARY KEY, client int, k text);
CREATE INDEX t_k ON t USING bloomfilter (k) WITH (capacity = 1, fpr = 0.0001);
CREATE INDEX t_rebuilt ON t USING bloomfilter (k) WITH (capacity = 1, fpr = 0.001);

-- an exception that pgbench stops at
CREATE FUNCTION must_have(key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF bloom_index_contains('t_k', key) IS NOT TRUE THEN
		RAISE EXCEPTION 'false negative: %', key;
	END IF;
END $$;

-- an index that is being rebuilt may refuse, but not deny
CREATE FUNCTION may_refuse(key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF bloom_index_contains('t_rebuilt', key) IS NOT TRUE THEN
		RAISE EXCEPTION 'false negative: %', key;
	END IF;
EXCEPTION
	-- found by name, and gone before it was locked; or not valid any more
	WHEN object_not_in_prerequisite_state OR undefined_table OR undefined_object THEN
		INSERT INTO refused (code, message) VALUES (SQLSTATE, SQLERRM);
END $$;
CREATE TABLE refused (code text, message text);
SQL

# Each inserter also asks for what it has just put in, before and after commit.
my %scripts = (
	insert => <<'SQL',
\set many random(1, 30)
\set id random(1, 1000000000)
INSERT INTO t SELECT i, :client_id, 'id:' || i FROM nextval('t_id_seq') AS i;
INSERT INTO t (client, k) VALUES (:client_id, 'one:' || :client_id || ':' || :id);
SELECT must_have('one:' || :client_id || ':' || :id);
BEGIN;
INSERT INTO t (client, k) SELECT :client_id, 'many:' || :client_id || ':' || :id || ':' || i FROM generate_series(1, :many) AS i;
SELECT must_have('many:' || :client_id || ':' || :id || ':' || :many);
COMMIT;
SELECT must_have('many:' || :client_id || ':' || :id || ':' || :many);
SQL
	insert_roll_back => <<'SQL',
\set id random(1, 1000000000)
BEGIN;
INSERT INTO t (client, k) SELECT :client_id, 'lost:' || :client_id || ':' || :id || ':' || i FROM generate_series(1, 50) AS i;
SAVEPOINT s;
INSERT INTO t (client, k) SELECT :client_id, 'lost:' || :client_id || ':' || :id || ':' || i FROM generate_series(51, 60) AS i;
ROLLBACK TO s;
ROLLBACK;
SQL
	# the newest rows of all, as a snapshot sees them
	probe_newest => <<'SQL',
SELECT must_have(k) FROM (SELECT k FROM t ORDER BY id DESC LIMIT 30) AS newest;
SQL
	probe_any => <<'SQL',
\set part random(0, 1000)
SELECT must_have(k) FROM (SELECT k FROM t WHERE id >= (SELECT coalesce(max(id), 0) FROM t) * :part / 1000 ORDER BY id LIMIT 100) AS part;
SELECT 1 / (count(*) = 0)::int FROM (SELECT bloom_index_contains_each('t_k', array_agg(k)) AS found
	FROM (SELECT k FROM t WHERE id >= (SELECT coalesce(max(id), 0) FROM t) * :part / 1000 ORDER BY id LIMIT 100) AS part) AS each
	WHERE false = ANY (found);
SQL
	# without any lock on the table but the probe's own: the keys come first
	probe_rebuilt => <<'SQL',
SELECT id FROM t WHERE k LIKE 'id:%' ORDER BY id DESC LIMIT 1 \gset
SELECT may_refuse('id:' || :id);
SQL
	# the statement's own lock on the table makes the rebuild wait for it
	probe_rebuilt_in_scan => <<'SQL',
SELECT 1 / (count(*) = 0)::int FROM (SELECT k FROM t ORDER BY id DESC LIMIT 50) AS newest WHERE bloom_index_contains('t_rebuilt', k) IS NOT TRUE;
SQL
);
query("INSERT INTO t SELECT i, -1, 'id:' || i FROM nextval('t_id_seq') AS i");
my %file = map { $_ => script_of($node, $scripts{$_}) } keys %scripts;

my %running;

sub start_bench
{
	my ($name, $clients, @files) = @_;
	my $log = $node->basedir . "/$name";

	$running{$name} = [
		IPC::Run::start(
			[ 'pgbench', '-n', '-c', $clients, '-j', 2, '-T', $seconds, (map { ('-f', $_) } @files), $node->connstr('postgres') ],
			'<', \undef, '>', "$log.out", '2>', "$log.err"),
		$log ];
	return;
}

start_bench('inserters', 8, "$file{insert}\@3", "$file{insert_roll_back}\@1");
start_bench('probers', 8, "$file{probe_newest}\@3", "$file{probe_any}\@2");
start_bench('probers of the rebuilt index', 2, $file{probe_rebuilt});
start_bench('probers of the rebuilt index in a scan', 1, $file{probe_rebuilt_in_scan});

# The maintenance, one after the other until the benches end.
my @maintenance = (
	'REINDEX INDEX CONCURRENTLY t_rebuilt',
	'VACUUM t',
	'CREATE INDEX CONCURRENTLY t_other ON t USING bloomfilter (k)',
	'DELETE FROM t WHERE id % 50 = 7 AND id < (SELECT max(id) - 1000 FROM t)',
	'VACUUM (FREEZE) t',
	'DROP INDEX CONCURRENTLY t_other',
	'ANALYZE t',
	q{SELECT * FROM bloom_index_info('t_k')},
	'CHECKPOINT');
my ($rounds, @failed) = (0);
my $maintainer = session($node);
while (grep { $_->[0]->pumpable } values %running)
{
	my $command = $maintenance[ $rounds++ % @maintenance ];
	my ($out, $failed) = $maintainer->query($command);
	push @failed, "$command: $maintainer->{stderr}" if $failed;
	$maintainer->{stderr} = '';
	# one may have ended just now, which pumping takes for an error
	eval { $_->[0]->pump_nb } for grep { $_->[0]->pumpable } values %running;
}
$maintainer->quit;

for my $name (sort keys %running)
{
	my ($run, $log) = @{ $running{$name} };

	$run->finish;
	my ($out, $err) = (slurp_file("$log.out"), slurp_file("$log.err"));
	is(join('', grep { /error|fatal|aborted/i } split /^/, $err), '', "$name: no error");
	my ($transactions) = $out =~ /transactions actually processed: (\d+)/;
	cmp_ok($transactions // 0, '>', 20, "$name: transactions were processed");
	note "$name: $transactions transactions";
}
is("@failed", '', "maintenance without an error, $rounds commands");
cmp_ok($rounds, '>', @maintenance, 'each of them ran');

my $log = slurp_file($node->logfile);
unlike($log, qr/deadlock detected/, 'no deadlock');
unlike($log, qr/false negative|PANIC|TRAP|terminated by signal/, 'nor anything worse');
note 'refused: ' . query(q{SELECT coalesce(string_agg(code || ' ' || n, ', '), 'never') FROM (SELECT code, count(*) AS n FROM refused GROUP BY code) AS r});
note query('SELECT DISTINCT code || message FROM refused LIMIT 10');

is(missing($node, $_, 't'), '0', "$_ has every key") for 't_k', 't_rebuilt';
cmp_ok(layers($node, 't_k'), '>=', 3, 'layers were added');
note 'keys: ' . query('SELECT count(*) FROM t') . ', layers: ' . layers($node, 't_k');

# Growth is for keys: two processes that find the same page full add one layer.
my $info = info($node, 't_k');
query('CREATE TABLE serial AS SELECT k FROM t WHERE false');
query('CREATE INDEX serial_k ON serial USING bloomfilter (k) WITH (capacity = 1, fpr = 0.0001)');
query("INSERT INTO serial SELECT k FROM t ORDER BY id");
my $serial = info($node, 'serial_k');
cmp_ok($info->{layers}, '<=', $serial->{layers} + 2, "$info->{layers} layers, where one process makes $serial->{layers}");

checksums_are_right($node, 'after it all');
done_testing();
