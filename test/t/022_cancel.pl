# Whatever takes long can be cancelled in its middle.  Each operation is run
# once to the end, then with a statement_timeout that ends at two fifths of it:
# it must stop there, not when it is done.  Times are compared with each other,
# not with a clock, and a few attempts allow for a busy machine.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init;
$node->append_conf('postgresql.conf', "max_parallel_workers_per_gather = 0\njit = off\nwork_mem = '64MB'");
$node->start;

sub query { return $node->safe_psql('postgres', $_[0]); }

query(<<'SQL');
CREATE EXTENSION bloomfilter;
-- a filter of half a gigabyte, stored
CREATE TABLE stored (f bloom);
INSERT INTO stored VALUES (bloom_create_with_params(4294967296, 7));
-- keys for an index, and one that is built and dropped again
CREATE TABLE many AS SELECT n FROM generate_series(1, 4000000) n;
CREATE FUNCTION build_index(with_options text) RETURNS boolean STRICT LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE INDEX built ON many USING bloomfilter (n) WITH (' || with_options || ')';
	DROP INDEX built;
	RETURN true;
END $$;
SQL

# Run an operation, an expression of f, on a value.  The value must be there
# before the statement begins that is cancelled: it is a constant in the plan of
# a function, which the session keeps.
my $attempts = 6;

sub can_be_cancelled
{
	my ($name, $type, $value, $operation) = @_;
	my $script = <<"SQL";
SET plan_cache_mode = force_generic_plan;
CREATE OR REPLACE FUNCTION pg_temp.run(f $type, OUT took int, OUT state text) LANGUAGE plpgsql AS \$\$
DECLARE
	ignored boolean;
	started timestamptz := clock_timestamp();
BEGIN
	BEGIN
		ignored := ($operation) IS NULL;
		state := 'done';
	EXCEPTION WHEN query_canceled THEN
		state := SQLSTATE;
	END;
	took := 1000 * extract(epoch FROM clock_timestamp() - started);
END \$\$;
CREATE FUNCTION pg_temp.call(i int, OUT took int, OUT state text) LANGUAGE plpgsql AS \$\$
BEGIN
	SELECT r.took, r.state INTO took, state FROM pg_temp.run(CASE WHEN i > 0 THEN $value END) r;
END \$\$;
SELECT FROM pg_temp.call(0);
SELECT took AS whole FROM pg_temp.call(1) \\gset
\\set good f
\\echo whole: :whole ms
SQL
	# one that is done before its time says better how long all of it takes
	$script .= <<'SQL' x $attempts;
\if :good
\else
SELECT (0.4 * :whole)::int + 1 AS timeout \gset
SET statement_timeout = :timeout;
SELECT * FROM pg_temp.call(1) \gset
SET statement_timeout = 0;
\echo :state after :took ms
SELECT :'state' = '57014' AND :took < 0.75 * :whole AS good,
	CASE :'state' WHEN 'done' THEN least(:took, :whole) ELSE :whole END AS whole \gset
\endif
SQL
	my $log = query("$script\\echo good: :good\n");

	like($log, qr/^good: t$/m, "$name: cancelled in the middle");
	note($log);
	return;
}

my $million = 'array_fill(1, ARRAY[2000000])';
my $bloom = 'bloom_create_with_params(1073741824, 7)';
my $counting = 'counting_bloom_create_with_params(268435456, 7)';
my $scalable = q{bloom_add(scalable_bloom_create(60000000), 'x')};

can_be_cancelled('creating 500 MB', 'int', '7', 'bloom_create_with_params(4294967296, f)');
can_be_cancelled('union of 500 MB', 'bloom', 'bloom_create_with_params(4294967296, 7)', 'f | f');
can_be_cancelled('fetching 500 MB', 'int', '1', '(SELECT bloom_clear(s.f) | s.f FROM stored s)');
can_be_cancelled('text output', 'bloom', $bloom, 'bloom_out(f)');
can_be_cancelled('text input', 'text', "$bloom\::text", 'f::bloom');
can_be_cancelled('cast to bytea', 'bloom', $bloom, 'f::bytea');
can_be_cancelled('cast from bytea', 'bytea', "$bloom\::bytea", 'f::bloom');
can_be_cancelled('hash', 'bloom', $bloom, 'bloom_hash_extended(f, 1)');
can_be_cancelled('estimates', 'bloom', $bloom, 'bloom_jaccard(f, f)');
can_be_cancelled('union of counters', 'counting_bloom', $counting, 'f | f');
can_be_cancelled('counters to bits', 'counting_bloom', $counting, 'f::bloom');
can_be_cancelled('union of layers', 'scalable_bloom', $scalable, 'f | f');
can_be_cancelled('many keys', 'int[]', $million, 'bloom_add_all(bloom_create(10000000), f)');
can_be_cancelled('many probes', 'int[]', $million, 'bloom_contains_each(bloom_create(10000000), f)');
can_be_cancelled('aggregate', 'int', '1', '(SELECT bloom_agg(n, 10000000, 0.01) FROM generate_series(1, 2000000) n)');
can_be_cancelled('aggregate of filters', 'bloom', $bloom, '(SELECT bloom_union_agg(f) FROM generate_series(1, 5))');
can_be_cancelled('aggregate that sizes itself', 'int', '1', '(SELECT bloom_agg(n) FROM generate_series(1, 2000000) n)');
can_be_cancelled('index build', 'text', q{'fpr = 0.01'}, 'build_index(f)');
# Little memory makes as many passes over the keys as there are parts of the index,
# so that hardly any of the time is the table's scan.
can_be_cancelled(
	'writing an index', 'text',
	q{'capacity = 50000000'}, q{(SELECT build_index(f) FROM set_config('maintenance_work_mem', '4MB', false))});

# sketches and cuckoo filters: keys so long that each takes a while in 255 rows
my $sketch = 'cms_create(13107200, 5)';
my $long_keys = q{array_fill(repeat('x', 60000), ARRAY[500])};

# immutable, so that a call is a constant in a plan
query(<<'SQL');
CREATE FUNCTION heavy() RETURNS top_k IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	RETURN top_k_agg(repeat('x', 60000) || n, 1, 30, 0.5, 1e-110) FROM generate_series(1, 120) n;
END $$;
CREATE FUNCTION cuckoo() RETURNS cuckoo_filter IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	RETURN cuckoo_agg(n, 200000, 2, 16) FROM generate_series(1, 1000000) n;
END $$;
SQL

can_be_cancelled('union of sketches', 'count_min_sketch', $sketch, 'f | f');
can_be_cancelled('inner product', 'count_min_sketch', $sketch, 'cms_inner_product(f, f)');
can_be_cancelled('sketch from bytea', 'bytea', "$sketch\::bytea", 'f::count_min_sketch');
can_be_cancelled('a long key in many rows', 'text', q{repeat('x', 20000000)}, 'cms_add(cms_create(1, 255), f)');
can_be_cancelled('long keys in many rows', 'text[]', $long_keys, 'cms_add_all(cms_create(1, 255), f)');
can_be_cancelled('counts of long keys', 'text[]', $long_keys, 'cms_count_each(cms_create(1, 255), f)');
can_be_cancelled('long keys of a top_k', 'text[]', $long_keys, 'top_k_add_all(top_k_create(1, 0.5, 1e-110), f)');
can_be_cancelled('union of long keys', 'top_k', 'heavy()', 'f | f');
can_be_cancelled('list of long keys', 'top_k', 'heavy()', '(SELECT count(*) FROM top_k_list(f))');
can_be_cancelled('top_k from bytea', 'bytea', 'heavy()::bytea', 'f::top_k');
can_be_cancelled('union of fingerprints', 'cuckoo_filter', 'cuckoo()', 'f | f');
can_be_cancelled('shrinking', 'cuckoo_filter', 'cuckoo()', 'cuckoo_remove_all(f, ARRAY(SELECT generate_series(1, 400000)))');
can_be_cancelled('fingerprints from bytea', 'bytea', 'cuckoo_create(400000000)::bytea', 'f::cuckoo_filter');

# Outside of a procedure, too, the error is that of the timeout.
my ($status, $out, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET statement_timeout = '50ms'; SELECT bloom_agg(n, 100000000, 0.01) FROM generate_series(1, 1000000000) n");
like($err, qr/ERROR:  57014: canceling statement due to statement timeout/, 'the error is that of a timeout');

$node->stop;
done_testing();
