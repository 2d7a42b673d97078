# Three servers: a coordinator and two shards that it reaches by postgres_fdw.
# Filters made on the shards are united at the coordinator, bit for bit the
# filter of all keys; a filter travels to the shards, and only the rows that it
# lets pass come back.  Then by hand what Citus does, and partial states that
# travel in their serialized form and are combined elsewhere.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @shards = map { PostgreSQL::Test::Cluster->new("shard$_") } 1, 2;
my $coordinator = PostgreSQL::Test::Cluster->new('coordinator');

for my $node ($coordinator, @shards)
{
	$node->init;
	$node->append_conf('postgresql.conf', 'jit = off');
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter');
}

if ($coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0')
{
	$_->stop for $coordinator, @shards;
	plan skip_all => 'this server comes without postgres_fdw';
}

sub query { return $coordinator->safe_psql('postgres', $_[0]); }

# Rows are spread by their id, so customers are on both shards.
query('CREATE EXTENSION postgres_fdw');
query('CREATE TABLE orders (id bigint, customer text) PARTITION BY HASH (id)');
query('CREATE TABLE all_orders AS SELECT n::bigint AS id, \'customer:\' || n % 30000 AS customer FROM generate_series(1, 100000) n');
for my $i (0, 1)
{
	my ($host, $port) = ($shards[$i]->host, $shards[$i]->port);

	$shards[$i]->safe_psql('postgres', 'CREATE TABLE orders (id bigint, customer text)');
	query("CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'bloomfilter');
		CREATE USER MAPPING FOR CURRENT_USER SERVER shard$i;
		CREATE FOREIGN TABLE orders_$i PARTITION OF orders FOR VALUES WITH (MODULUS 2, REMAINDER $i) SERVER shard$i OPTIONS (table_name 'orders')");
}
query('INSERT INTO orders SELECT * FROM all_orders; ANALYZE all_orders');
is(query('SELECT count(*) = 100000 AND count(DISTINCT tableoid) = 2 FROM orders'), 't', 'both shards hold rows');

# --- one filter for each shard, united at the coordinator -----------------------

# Each shard makes its filter from its own rows and keeps it in a table.
for my $kind ([ 'bloom', 'bloom_agg(customer, 50000, 0.001)' ],
	[ 'template', q{bloom_agg(customer, bloom_create_with_params(700001, 9, 'fnv1a'))} ],
	[ 'integers', 'bloom_agg(id, 200000, 0.01)' ],
	[ 'counting', 'counting_bloom_agg(customer, 50000, 0.001)' ],
	[ 'counting_8', 'counting_bloom_agg(customer, counting_bloom_create(50000, 0.001, 8))' ])
{
	my ($name, $call) = @$kind;
	my $type = $name =~ /counting/ ? 'counting_bloom' : 'bloom';

	$_->safe_psql('postgres', "CREATE TABLE made_$name AS SELECT $call AS filter FROM orders") for @shards;
	query("CREATE FOREIGN TABLE made_${name}_$_ (filter $type) SERVER shard$_ OPTIONS (table_name 'made_$name')") for 0, 1;
	my $parts = "(SELECT filter FROM made_${name}_0 UNION ALL SELECT filter FROM made_${name}_1) parts";

	is(query("SELECT count(*) FROM (SELECT DISTINCT filter FROM $parts) d"), q(2), "$name: the shards' filters differ");
	is(query("SELECT bloom_union_agg(filter) = (SELECT $call FROM all_orders) FROM $parts"),
		't', "$name: the union of the shards' filters is the filter of all rows");
}
is( query("WITH whole AS (SELECT bloom_union_agg(filter) AS f FROM (SELECT filter FROM made_counting_8_0 UNION ALL SELECT filter FROM made_counting_8_1) parts)
		SELECT bool_and(bloom_key_count(f, 'customer:' || n) >= 3), avg(bloom_key_count(f, 'customer:' || n)) BETWEEN 100000 / 30000.0 AND 1.01 * 100000 / 30000.0
		FROM whole, generate_series(0, 29999) n"),
	't|t', 'counting: keys on several shards are counted together');

# --- the operator travels, so that rows do not ------------------------------------

query(q{CREATE TABLE wanted AS SELECT 'customer:' || n AS customer FROM generate_series(0, 299) n;
	CREATE TABLE filters AS SELECT bloom_agg(customer, 0.0001) AS filter FROM wanted});

# with the filter as a parameter: of a subquery, once for the whole query
my $ship = 'FROM orders WHERE (SELECT filter FROM filters) @> customer';
my $plan = query("EXPLAIN (VERBOSE, COSTS OFF) SELECT id $ship");
my $shipped = () = $plan =~ /Remote SQL: SELECT id FROM public\.orders WHERE \(\(\$1::public\.bloom OPERATOR\(public\.@>\) customer\)\)/g;
is($shipped, 2, 'EXPLAIN VERBOSE: both shards probe the filter') or diag($plan);
unlike($plan, qr/Filter:/, 'and nothing is left to do here');

$plan = query("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id $ship");
my $travelled = 0;
$travelled += $1 while $plan =~ /Foreign Scan on public\.orders_\d.*?\(actual rows=(\d+)/g;
my $matching = query('SELECT count(*) FROM all_orders JOIN wanted USING (customer)');
cmp_ok($travelled, '>=', $matching, 'all matching rows travel');
cmp_ok($travelled, '<=', $matching + 50, "and hardly another: $travelled of 100000, $matching match") or diag($plan);
is(query("SELECT count(*) $ship"), $travelled, 'these are the rows of the query');
is(query("SELECT count(*) FROM (SELECT customer, count(*) FROM orders JOIN wanted USING (customer) WHERE (SELECT filter FROM filters) \@> customer GROUP BY customer) c"),
	'300', 'a join reduced by the filter loses nothing');

# as a constant, with the key on the left, of an integer, and as a function
for my $condition (q{bloom_add(bloom_create(10), 'customer:7') @> customer}, q{customer <@ bloom_add(bloom_create(10), 'customer:7')},
	q{bloom_contains(bloom_add(bloom_create(10), 'customer:7'), customer)}, q{bloom_add(bloom_create(10), 7) @> id},
	q{counting_bloom_create(10) @> customer}, q{scalable_bloom_create(10) @> id})
{
	$plan = query("EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM orders WHERE $condition");
	unlike($plan, qr/ Filter:/, "shipped: $condition") or diag($plan);
}
is(query(q{SELECT count(*) FROM orders WHERE bloom_add(bloom_create(10), 7) @> id AND id = 7}), '1', 'a filter in the text of a query arrives whole');

# Without the option the rows travel and are filtered here: the answer is the same.
my $answer = query("SELECT sum(id) $ship");
query("ALTER SERVER shard$_ OPTIONS (DROP extensions)") for 0, 1;
$plan = query("EXPLAIN (VERBOSE, COSTS OFF) SELECT id $ship");
like($plan, qr/Filter:/, 'without extensions the filter is probed here');
is(query("SELECT sum(id) $ship"), $answer, 'with the same answer');

# --- as with Citus ------------------------------------------------------------------

# Citus pushes down by itself only aggregates with a plain state and plain
# argument types, so ours are run on each shard by run_command_on_shards(), which
# answers a text for each: so does this view.
$_->safe_psql('postgres', 'CREATE VIEW on_shard AS SELECT true AS success, bloom_agg(customer, 50000, 0.001)::text AS result FROM orders') for @shards;
query("CREATE FOREIGN TABLE on_shard_$_ (success boolean, result text) SERVER shard$_ OPTIONS (table_name 'on_shard')") for 0, 1;
is( query('SELECT count(*), bloom_union_agg(result::bloom) = (SELECT bloom_agg(customer, 50000, 0.001) FROM all_orders)
		FROM (SELECT * FROM on_shard_0 UNION ALL SELECT * FROM on_shard_1) run_command_on_shards WHERE success'),
	'2|t', 'filters that come as text are united to the filter of all rows');

# For systems that move partial states: each aggregate that can be combined also
# has strict serialize and deserialize functions, and all are parallel safe.
is( query(q{SELECT count(*) > 5, string_agg(aggfnoid::regprocedure::text, ' ') FILTER (WHERE NOT coalesce(s.prorettype = 'bytea'::regtype
				AND d.proisstrict AND s.proisstrict AND c.proparallel = 's' AND s.proparallel = 's' AND d.proparallel = 's' AND f.proparallel = 's', false))
		FROM pg_aggregate a JOIN pg_proc f ON f.oid = aggfnoid JOIN pg_proc c ON c.oid = aggcombinefn
			LEFT JOIN pg_proc s ON s.oid = aggserialfn LEFT JOIN pg_proc d ON d.oid = aggdeserialfn
			JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = f.oid AND deptype = 'e'
		WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter') AND aggtranstype = 'internal'::regtype}),
	't|', 'aggregates that can be combined can move their states');

# Serialized states as values: an aggregate whose final function is the
# serialize function.
query(<<'SQL');
CREATE AGGREGATE worker_half(key anycompatible, capacity bigint, fpr float8) (SFUNC = bloom_agg_transition, STYPE = internal, FINALFUNC = bloom_agg_serialize);
CREATE AGGREGATE worker_half(f bloom) (SFUNC = bloom_union_agg_transition, STYPE = internal, FINALFUNC = bloom_agg_serialize);
SQL
for my $i (0, 1)
{
	$shards[$i]->safe_psql('postgres', <<'SQL');
CREATE AGGREGATE worker_half(key anycompatible, capacity bigint, fpr float8) (SFUNC = bloom_agg_transition, STYPE = internal, FINALFUNC = bloom_agg_serialize);
CREATE TABLE states AS SELECT id % 3 AS part, worker_half(customer, 50000, 0.001) AS state FROM orders GROUP BY 1
	UNION ALL SELECT 3, worker_half(customer, 50000, 0.001) FROM orders WHERE false;
SQL
	query("CREATE FOREIGN TABLE states_$i (part bigint, state bytea) SERVER shard$i OPTIONS (table_name 'states')");
}
my $states = '(SELECT * FROM states_0 UNION ALL SELECT * FROM states_1) states';
is(query("SELECT count(*), count(state) FROM $states"), '8|6', 'six states travel, and NULL where there was no row');
# A state of one filter is that filter in its portable form, so bloom_union_agg is the other half.
is(query("SELECT bloom_union_agg(state::bloom) = (SELECT bloom_agg(customer, 50000, 0.001) FROM all_orders) FROM $states"),
	't', 'states combined at the coordinator are the filter of all rows');
is( query("SELECT bool_and(same) FROM (SELECT bloom_union_agg(state::bloom) =
			(SELECT bloom_agg(customer, 50000, 0.001) FROM all_orders WHERE id % 3 = part) AS same
		FROM $states WHERE state IS NOT NULL GROUP BY part) parts"),
	't', 'and so they are for each group');
is( query("SELECT worker_half(state::bloom)::bloom = (SELECT bloom_agg(customer, 50000, 0.001) FROM all_orders) FROM $states"),
	't', 'states of the coordinator can travel on');

$_->stop for $coordinator, @shards;
done_testing();
