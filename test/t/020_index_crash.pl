# kill -9 of every process of the server while keys are inserted, layers are
# added and indexes are built.  After recovery, every row that a scan sees is in
# the filter, and every insert that was acknowledged is there.
#
#   INDEX_ROUNDS=200   more crashes than the default of 24

use strict;
use warnings FATAL => 'all';

use IndexTests;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $rounds = $ENV{INDEX_ROUNDS} // 24;
my $workers = 4;
my $seed = $ENV{INDEX_SEED} // time;

srand $seed;
note "INDEX_SEED=$seed";

# With wal_level = minimal, tables and indexes of the running transaction write no
# WAL; it changes after each eighth crash.
my $node = new_node('crash', conf => <<'CONF');
checkpoint_timeout = 30s
max_wal_size = 64MB
CONF

sub query { return $node->safe_psql('postgres', $_[0]); }

# Small first layers and low rates: layers are added often.
my @indexes = ('t_low', 't_lower', 't_lowest');

query(<<'SQL');
CREATE TABLE t (round int, worker int, statement int, k text);
CREATE INDEX t_low ON t USING bloomfilter (k) WITH (capacity = 1, fpr = 0.01);
CREATE INDEX t_lower ON t USING bloomfilter (k) WITH (capacity = 1, fpr = 0.0001);
CREATE INDEX t_lowest ON t USING bloomfilter (k) WITH (capacity = 1, fpr = 0.000001);
CREATE INDEX ON t (round, worker, statement);
CREATE TABLE big AS SELECT 'big:' || i AS k FROM generate_series(1, 200000) AS i;
SQL

# A worker's statement and the number of its rows: single rows, and now and then
# many at once or a COPY.
sub statement
{
	my ($round, $worker, $number) = @_;
	my $key = "$round:$worker:$number";

	if ($number % 10 == 0)
	{
		return (400, "INSERT INTO t SELECT $round, $worker, $number, '$key:' || i FROM generate_series(1, 400) AS i;\n");
	}
	if ($number % 10 == 5)
	{
		return (50, "COPY t FROM STDIN;\n" . join('', map { "$round\t$worker\t$number\t$key:$_\n" } 1 .. 50) . "\\.\n");
	}
	if ($number % 10 == 7)
	{
		return (2, "BEGIN; INSERT INTO t VALUES ($round, $worker, $number, '$key:1'); SAVEPOINT s;"
			  . " INSERT INTO t SELECT $round, $worker, $number, '$key:lost' || i FROM generate_series(1, 20) AS i; ROLLBACK TO s;"
			  . " INSERT INTO t VALUES ($round, $worker, $number, '$key:2'); COMMIT;\n");
	}
	return (1, "INSERT INTO t VALUES ($round, $worker, $number, '$key');\n");
}

my %rows_of;

sub worker_script
{
	my ($round, $worker) = @_;
	my $text = '';

	for my $number (1 .. 1500)
	{
		my ($rows, $sql) = statement($round, $worker, $number);
		$rows_of{$number} = $rows;
		# psql prints this when the statement's end has come back
		$text .= "$sql\\echo $number\n";
	}
	return $text;
}

# What runs beside the inserts, by the kind of the round, and when the server is
# killed.
my %beside = (
	moment => '',
	checkpoint => "CHECKPOINT;\n" x 200,
	vacuum => "DELETE FROM t WHERE worker = 1; VACUUM t; VACUUM t;\n" x 50,
	build => "CREATE INDEX big_k ON big USING bloomfilter (k);\nCREATE INDEX big_k2 ON big USING bloomfilter (k) WITH (fpr = 0.0001);\n",
	concurrently => "CREATE INDEX CONCURRENTLY t_new ON t USING bloomfilter (k);\n"
	  . "REINDEX INDEX CONCURRENTLY t_lower;\n" x 20,
	minimal => "BEGIN; CREATE TABLE minimal (k text); CREATE INDEX minimal_k ON minimal USING bloomfilter (k) WITH (capacity = 1);"
	  . " INSERT INTO minimal SELECT 'm' || i FROM generate_series(1, 20000) AS i; COMMIT;\n\\echo created\n"
	  . "BEGIN; TRUNCATE minimal; INSERT INTO minimal SELECT 'n' || i FROM generate_series(1, 15000) AS i;"
	  . " SAVEPOINT s; REINDEX INDEX minimal_k; ROLLBACK TO s; INSERT INTO minimal SELECT 'o' || i FROM generate_series(1, 15000) AS i; COMMIT;\n\\echo truncated\n",
	layer => '');
my @kinds = ('moment', 'layer', 'checkpoint', 'build', 'vacuum', 'layer', 'concurrently', 'minimal');

my (%crashes, $acknowledged_in_all, $added_in_all);

for my $round (1 .. $rounds)
{
	my $kind = $kinds[ ($round - 1) % @kinds ];
	my $name = "crash $round ($kind)";

	# a small filter again, so that layers are soon added
	query('TRUNCATE t') if $kind eq 'layer';

	my $watcher = session($node);
	my $layers = "SELECT (bloom_index_info('t_low')).layers + (bloom_index_info('t_lower')).layers + (bloom_index_info('t_lowest')).layers";
	my $before = $watcher->query_safe($layers);

	my @scripts = map { start_script($node, worker_script($round, $_)) } 1 .. $workers;
	my $beside = $beside{$kind} ? start_script($node, $beside{$kind}) : undef;

	# The inserts have begun, whatever the load of the machine.
	ok(wait_until(sub { $watcher->query_safe("SELECT EXISTS (SELECT FROM t WHERE round = $round)") eq 't' }),
		"$name: inserts have begun");
	if ($kind eq 'layer')
	{
		my $wanted = $before + 1 + int(rand 4);
		ok(wait_until(sub { $watcher->query_safe($layers) >= $wanted }), "$name: a layer was added");
		usleep(rand 20_000) if rand() < 0.5;
	}
	else
	{
		usleep(rand 700_000);
	}
	$added_in_all += $watcher->query_safe($layers) > $before;
	crash($node);
	$crashes{$kind}++;
	abandon($watcher);

	my @acknowledged = map { my ($out) = output_of($_); scalar(() = $out =~ /^\d+$/mg) } @scripts;
	my ($beside_out) = $beside ? output_of($beside) : ('');
	$node->adjust_conf('postgresql.conf', 'wal_level', $round / @kinds % 2 ? 'replica' : 'minimal') if $round % @kinds == 0;
	start_after_crash($node);

	# What was acknowledged is there, and whole.
	my $lost = 0;
	for my $worker (1 .. $workers)
	{
		next if $kind eq 'vacuum' && $worker == 1;    # deleted
		my $last = $acknowledged[ $worker - 1 ];
		my $expected = 0;
		$expected += $rows_of{$_} for 1 .. $last;
		$lost += $expected - query("SELECT count(*) FROM t WHERE round = $round AND worker = $worker AND statement <= $last");
		$acknowledged_in_all += $last;
	}
	is($lost, 0, "$name: no acknowledged row is lost");

	# Every fourth round all of them, else those of this round.
	my $rows = $round % 4 == 0 || $round == $rounds ? 't' : "(SELECT k FROM t WHERE round = $round OFFSET 0) AS r";
	is(missing($node, $_, $rows), '0', "$name: $_ has every key") for @indexes;
	ok(info($node, $_)->{layers} >= 1, "$name: $_ has layers") for @indexes;

	if ($kind eq 'build')
	{
		my @built = split /\n/, query(q{SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'big'::regclass});
		is(missing($node, $_, 'big'), '0', "$name: $_ was built in time") for @built;
		query('DROP INDEX IF EXISTS big_k, big_k2');
	}
	if ($kind eq 'concurrently')
	{
		my %valid = map { split /\|/ } split /\n/, query(q{SELECT indexrelid::regclass, indisvalid FROM pg_index
			WHERE indrelid = 't'::regclass AND indexrelid::regclass::text NOT IN ('t_low', 't_lowest', 't_round_worker_statement_idx')});
		for my $index (sort keys %valid)
		{
			# For the old index of a REINDEX CONCURRENTLY the new one answers.
			if ($valid{$index} eq 't' || $index =~ /_ccold/)
			{
				is(missing($node, $index, 't'), '0', "$name: $index has every key");
			}
			else
			{
				is(error_of($node, "SELECT bloom_index_contains('$index', 'x')"), '55000', "$name: half-made $index cannot be asked");
			}
			query("DROP INDEX $index") if $valid{$index} ne 't';
		}
		query('DROP INDEX IF EXISTS t_new');
	}
	if ($kind eq 'minimal')
	{
		if ($beside_out =~ /created/)
		{
			is(missing($node, 'minimal_k', 'minimal'), '0', "$name: minimal_k has every key");
			is(query('SELECT count(*) FROM minimal'), '30000', "$name: all rows are there") if $beside_out =~ /truncated/;
		}
		query('DROP TABLE IF EXISTS minimal');
	}

	# The filter that was recovered takes further keys.
	query("INSERT INTO t SELECT $round, 0, 0, 'after:$round:' || i FROM generate_series(1, 1000) AS i");
	is(missing($node, $_, "(SELECT k FROM t WHERE round = $round AND worker = 0 OFFSET 0) AS r"), '0', "$name: $_ takes further keys") for @indexes;
}

# Nobody but the insert that adds the layer: most of its pages have no key yet,
# and are there all the same.
for my $checkpoint (0, 1)
{
	my $name = 'crash right after a layer' . ($checkpoint ? ', after a checkpoint' : '');
	my $layers = q{(bloom_index_info('g_k')).layers};

	query('CREATE TABLE g (k text); CREATE INDEX g_k ON g USING bloomfilter (k) WITH (capacity = 1, growth = 16)');
	query(q{INSERT INTO g SELECT 'g' || i FROM generate_series(1, 4000) AS i});
	query('CHECKPOINT') if $checkpoint;
	query("DO \$\$ BEGIN FOR i IN 4001 .. 100000 LOOP INSERT INTO g VALUES ('g' || i); EXIT WHEN i % 5 = 0 AND $layers > 1; END LOOP; END \$\$");
	is(query("SELECT $layers"), '2', "$name: it was added");
	crash($node);
	start_after_crash($node);
	is(query("SELECT $layers"), '2', "$name: it is there");
	is(missing($node, 'g_k', 'g'), '0', "$name: every key");
	cmp_ok(query(q{SELECT count(*) FROM generate_series(1, 20000) AS i WHERE bloom_index_contains('g_k', 'absent' || i)}), '<=', 200 + 5 * sqrt(200), "$name: absent keys, on all of its pages");
	query(q{INSERT INTO g SELECT 'h' || i FROM generate_series(1, 30000) AS i});
	is(missing($node, 'g_k', 'g'), '0', "$name: further keys");
	query('DROP TABLE g');
}

# What the above stands on.
cmp_ok($rounds, '>=', 20, 'twenty crashes or more') unless defined $ENV{INDEX_ROUNDS};
cmp_ok($acknowledged_in_all, '>', 20 * $rounds, "$acknowledged_in_all statements were acknowledged");
cmp_ok($added_in_all, '>=', $crashes{layer}, "layers were added before $added_in_all crashes");
note join ', ', map { "$_ $crashes{$_}" } sort keys %crashes;

# Replay does nothing that the index does not say: each page belongs to it.
for my $index (@indexes)
{
	my $info = info($node, $index);
	my $pages = query("SELECT pg_relation_size('$index') / current_setting('block_size')::int");
	note "$index: $info->{layers} layers, $info->{pages} pages of $pages";
	cmp_ok($info->{pages}, '<=', $pages, "$index: no page beyond the end");
}

checksums_are_right($node, 'after all crashes');
done_testing();
