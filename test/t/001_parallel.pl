# Aggregates in parallel plans: the plan is really parallel, and the filter is
# the same bit for bit as the one that a single process builds.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('parallel');
$node->init;
# Plans are parallel because it costs nothing, not because they are forced: what
# is not parallel safe would stay serial.
$node->append_conf('postgresql.conf', <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
max_parallel_workers_per_gather = 2
max_parallel_workers = 8
max_worker_processes = 8
jit = off
CONF
$node->start;

my $serial = 'SET max_parallel_workers_per_gather = 0;';
# Without the leader, every row goes through a worker, its serialized state and
# the combine function.
my $workers_only = 'SET parallel_leader_participation = off;';

sub query { return $node->safe_psql('postgres', $_[0]); }

query(<<'SQL');
CREATE EXTENSION bloomfilter;

-- 100000 distinct keys, each twice, and NULLs among them
CREATE TABLE keys AS
	SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i % 100000 END AS n,
		CASE WHEN i % 50 = 0 THEN NULL ELSE 'user:' || i % 100000 END AS t,
		i % 4 AS part
	FROM generate_series(0, 199999) AS i;
ALTER TABLE keys SET (parallel_workers = 2);

-- fewer keys than workers: some process ends with no filter at all
CREATE TABLE one_key AS
	SELECT CASE WHEN i = 2500 THEN 'the only one' END AS t FROM generate_series(1, 5000) AS i;
ALTER TABLE one_key SET (parallel_workers = 2);

CREATE TABLE only_nulls AS SELECT NULL::text AS t FROM generate_series(1, 5000);
ALTER TABLE only_nulls SET (parallel_workers = 2);

CREATE TABLE template AS
	SELECT bloom_add_all(bloom_create_with_params(9585059, 7, 'fnv1a'), ARRAY['a', 'b', 'c']) AS f;

-- 60 filters of one geometry, each with 1000 keys of its own and 500 common ones
CREATE TABLE shards AS
	SELECT s AS id, s % 3 AS part,
		(SELECT bloom_agg(CASE WHEN i <= 500 THEN 'common:' || i ELSE s || ':' || i END, 100000, 0.01)
			FROM generate_series(1, 1500) AS i) AS f
	FROM generate_series(1, 60) AS s;
INSERT INTO shards VALUES (61, 0, NULL);
ALTER TABLE shards SET (parallel_workers = 2);

CREATE TABLE serial (name text PRIMARY KEY, f bloom);
ANALYZE;
SQL

# Run "SELECT $call FROM $source" serially and in parallel and compare.
sub serial_is_parallel
{
	my ($name, $call, $source) = @_;

	query("$serial INSERT INTO serial SELECT '$name', $call FROM $source");

	my $compare = "SELECT $call = (SELECT f FROM serial WHERE name = '$name') FROM $source";
	for my $leader ('', $workers_only)
	{
		my $who = $leader ? 'workers only' : 'leader too';

		like(
			query("$leader EXPLAIN (COSTS OFF) $compare"),
			qr/Finalize Aggregate.*\bGather\b.*Partial Aggregate.*Parallel Seq Scan/s,
			"$name, $who: the plan aggregates in parallel");
		is(query("$leader $compare"), 't', "$name, $who: equal to the serial result");
	}
	unlike(query("$serial EXPLAIN (COSTS OFF) $compare"), qr/Gather/, "$name: the serial plan is serial");
	return;
}

serial_is_parallel('capacity_int', 'bloom_agg(n, 100000, 0.01)', 'keys');
serial_is_parallel('capacity_text', 'bloom_agg(t, 100000, 0.001)', 'keys');
serial_is_parallel('capacity_large', 'bloom_agg(t, 5000000, 0.01)', 'keys');
serial_is_parallel('template_literal', "bloom_agg(t, bloom_create_with_params(9585059, 7, 'fnv1a'))", 'keys');
serial_is_parallel('template_stored', 'bloom_agg(t, (SELECT f FROM template))', 'keys');
serial_is_parallel('filter_clause', 'bloom_agg(t, 100000, 0.01) FILTER (WHERE part = 1)', 'keys');
serial_is_parallel('union', 'bloom_union_agg(f)', 'shards');
serial_is_parallel('intersect', 'bloom_intersect_agg(f)', 'shards');
serial_is_parallel('one_key', 'bloom_agg(t, 10, 0.01)', 'one_key');

# The comparison above would not see two equal but wrong filters.
is( query('SELECT count(*) FROM keys WHERE n IS NOT NULL
		AND NOT (SELECT f FROM serial WHERE name = \'capacity_int\') @> n'),
	'0', 'every key is in the filter');
is( query('SELECT bool_and(bloom_capacity(f) = 100000 AND bloom_count(f) BETWEEN 97000 AND 99000)
		FROM serial WHERE name IN (\'capacity_int\', \'capacity_text\')'),
	't', 'and as many as there are');
is( query(q{SELECT (SELECT f FROM serial WHERE name = 'template_stored') =
		(SELECT f FROM serial WHERE name = 'template_literal')}),
	't', 'the keys of a template are not taken over');
is( query(q{SELECT bool_and(f @> ('common:' || i)) FROM serial, generate_series(1, 500) AS i WHERE name = 'intersect'}),
	't', 'the common keys are in the intersection');
is( query(q{SELECT bool_and(f @> (s || ':' || i)) FROM serial, generate_series(1, 60) AS s,
		generate_series(501, 1500) AS i WHERE name = 'union'}),
	't', 'all keys are in the union');
is( query(q{SELECT bool_and((f & u) = f) FROM shards,
		(SELECT f AS u FROM serial WHERE name = 'union') AS whole WHERE f IS NOT NULL}),
	't', 'each part is within the union');

# Workers that are planned but never start would prove nothing.
like(
	query("$workers_only EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT bloom_agg(n, 100000, 0.01) FROM keys"),
	qr/Workers Launched: 2/,
	'two workers were at work');

# No key at all, in any worker.
for my $call ('bloom_agg(t, 10, 0.01)', 'bloom_agg(t, bloom_create(10))')
{
	like(query("EXPLAIN (COSTS OFF) SELECT $call FROM only_nulls"), qr/Partial Aggregate/, "$call of NULLs only: parallel");
	is(query("SELECT $call IS NULL FROM only_nulls"), 't', "$call of NULLs only: NULL");
}

# Groups: one state per group and worker.
my $grouped = 'SELECT part, md5(bloom_agg(t, 50000, 0.01)::bytea) FROM keys GROUP BY part ORDER BY part';
like(query("EXPLAIN (COSTS OFF) $grouped"), qr/Finalize.*Gather.*Partial (?:Hash|Group)Aggregate/s, 'grouped: the plan aggregates in parallel');
is(query($grouped), query("$serial $grouped"), 'grouped: equal to the serial result');

# Filters of another geometry meet in the combine function as well.
my ($status, $out, $err) = $node->psql('postgres',
	"$workers_only SELECT bloom_union_agg(bloom_create(CASE WHEN part < 2 THEN 1000 ELSE 2000 END)) FROM keys");
isnt($status, 0, 'a union of two geometries fails in parallel too');
like($err, qr/ERROR:.*\n(?:.*\n)*DETAIL:/, 'with a message that names them');

# Aggregates that size themselves have no combine function: the scan may be
# parallel, the aggregate is above the Gather.
for my $call ('bloom_agg(t)', 'bloom_agg(t, 0.001)', 'bloom_agg(n)')
{
	my $name = "sized: $call";
	my $plan = query("EXPLAIN (COSTS OFF) SELECT $call FROM keys");

	query("$serial INSERT INTO serial SELECT '$name', $call FROM keys");
	like($plan, qr/Aggregate.*Gather.*Parallel Seq Scan/s, "$name: above a parallel scan");
	unlike($plan, qr/Partial|Finalize/, "$name: in one process");
	is(query("SELECT $call = (SELECT f FROM serial WHERE name = '$name') FROM keys"),
		't', "$name: equal to the serial result");
}

# A cuckoo filter depends on the order of its keys, so parallel and serial results
# need not have the same bytes.  They hold every key, each once: with 32 bits no two
# of 98000 keys match, up to a chance of 98000^2 / 2 * 4 / 131072 / 2^32 = 3e-5.
query(q{CREATE TABLE serial_cuckoo (name text PRIMARY KEY, f cuckoo_filter);
	CREATE TABLE cuckoo_shards AS SELECT s AS id, (SELECT cuckoo_agg(CASE WHEN i <= 500 THEN 'common:' || i ELSE s || ':' || i END, 40000, 4, 32)
		FROM generate_series(1, 1500) AS i) AS f FROM generate_series(1, 30) AS s;
	INSERT INTO cuckoo_shards VALUES (31, NULL);
	ALTER TABLE cuckoo_shards SET (parallel_workers = 2);
	ANALYZE cuckoo_shards});
for my $case (
	[ 'cuckoo', 'cuckoo_agg(t, 130000, 2, 32)', 'keys', 98000, q{SELECT t FROM keys WHERE t IS NOT NULL} ],
	[ 'cuckoo_overflow', 'cuckoo_agg(n, 20000, 4, 32)', 'keys', 98000, q{SELECT n FROM keys WHERE n IS NOT NULL} ],
	[ 'cuckoo_default', 'cuckoo_agg(t, 200000)', 'keys', undef, q{SELECT t FROM keys WHERE t IS NOT NULL} ],
	[ 'cuckoo_one_key', 'cuckoo_agg(t, 10)', 'one_key', 1, q{SELECT t FROM one_key WHERE t IS NOT NULL} ],
	[ 'cuckoo_union', 'cuckoo_union_agg(f)', 'cuckoo_shards', 30500,
		q{SELECT s || ':' || i FROM generate_series(1, 30) AS s, generate_series(501, 1500) AS i UNION ALL SELECT 'common:' || i FROM generate_series(1, 500) AS i} ])
{
	my ($name, $call, $source, $count, $keys) = @$case;

	query("$serial INSERT INTO serial_cuckoo SELECT '$name', $call FROM $source");
	for my $leader ('', $workers_only)
	{
		my $who = $leader ? 'workers only' : 'leader too';

		like(query("$leader EXPLAIN (COSTS OFF) SELECT $call FROM $source"),
			qr/Finalize Aggregate.*\bGather\b.*Partial Aggregate.*Parallel Seq Scan/s,
			"$name, $who: the plan aggregates in parallel");
		my ($got, $missing, $serially, $both) = split /\|/,
			query("$leader WITH f AS MATERIALIZED (SELECT $call AS f FROM $source)
				SELECT cuckoo_count(p.f), (SELECT count(*) FROM ($keys) AS k (k) WHERE NOT p.f @> k),
					cuckoo_count(s.f), cuckoo_count(p.f | s.f)
				FROM f AS p, serial_cuckoo AS s WHERE name = '$name'");
		is($missing, 0, "$name, $who: every key is there");
		# with 8 bits which keys match depends on the order
		if (defined $count)
		{
			is($got, $count, "$name, $who: and each once");
			is($serially, $count, "$name, $who: as in the serial result");
			is($both, $count, "$name, $who: which has the same keys");
		}
		else
		{
			cmp_ok(abs($got - $serially), '<', 500, "$name, $who: about as many as in the serial result");
		}
	}
}

# The aggregate with a template has no combine function.
unlike(query('EXPLAIN (COSTS OFF) SELECT cuckoo_agg(t, cuckoo_create(1000)) FROM keys'), qr/Partial|Finalize/, 'a cuckoo template: in one process');

# Probes are parallel safe: the filter goes to the workers.
my $probe = q{SELECT count(*) FROM keys WHERE (SELECT f FROM serial WHERE name = 'capacity_text') @> t};
like(query("EXPLAIN (COSTS OFF) $probe"), qr/Gather.*Partial Aggregate.*Parallel Seq Scan/s, 'probes run in workers');
is(query($probe), '196000', 'and find every key');

$node->stop;
done_testing();
