# The rate of false positives: under the fpr that was asked for, right after a
# build and after growth through four layers and more; and the size.
#
# The seed of each index is random, so the counts below vary.  With N probes of
# absent keys and a true rate of at most p, the number that pass has mean N p and
# variance N p (1 - p); the bound is five standard deviations above the mean,
# which a right filter exceeds once in 3.5 million runs.

use strict;
use warnings FATAL => 'all';

use IndexTests;
use PostgreSQL::Test::Utils;
use Test::More;

my $probes = 200000;
my $node = new_node('rate');

sub query { return $node->safe_psql('postgres', $_[0]); }

# Keys that are in no table below.
sub passed
{
	my ($index) = @_;

	return query("SELECT count(*) FROM generate_series(1, $probes) AS i WHERE bloom_index_contains('$index', 'absent:' || i)");
}

sub bound { my ($p) = @_; return $probes * $p + 5 * sqrt($probes * $p * (1 - $p)); }

sub rate_is_kept
{
	my ($name, $index, $fpr) = @_;
	my $passed = passed($index);
	my $info = info($node, $index);

	cmp_ok($passed, '<=', bound($fpr), sprintf '%s: %d of %d absent keys pass, the bound for %g is %.0f', $name, $passed, $probes, $fpr, bound($fpr));
	note "$name: ", JSON::PP->new->canonical->encode($info);
	return ($passed, $info);
}

for my $fpr (0.1, 0.01, 0.001)
{
	(my $t = "t_$fpr") =~ s/\W/_/;
	query("CREATE TABLE $t AS SELECT 'key:' || i AS k FROM generate_series(1, 50000) AS i; CREATE INDEX ${t}_k ON $t USING bloomfilter (k) WITH (fpr = $fpr)");
	my ($passed, $info) = rate_is_kept("built, $fpr", "${t}_k", $fpr);
	is($info->{layers}, 1, "built, $fpr: one layer");

	# Size: a plain filter of the same keys is that many bits.
	my $size = query("SELECT pg_relation_size('${t}_k')");
	my $plain = query("SELECT (bloom_estimate(50000, $fpr)).bits / 8");
	cmp_ok($size, '<=', 1.5 * $plain + 2 * 8192, "built, $fpr: $size bytes, where a plain filter has $plain");

	# Up to sixteen times the keys: four layers and more.
	my $keys = 50000;
	while ($info->{layers} < 4 && $keys < 3000000)
	{
		query("INSERT INTO $t SELECT 'key:' || i FROM generate_series($keys + 1, 2 * $keys) AS i");
		$keys *= 2;
		$info = info($node, "${t}_k");
	}
	cmp_ok($info->{layers}, '>=', 4, "grown, $fpr: $info->{layers} layers for $keys keys");
	($passed, $info) = rate_is_kept("grown, $fpr", "${t}_k", $fpr);
	is(missing($node, "${t}_k", $t), '0', "grown, $fpr: every key");

	# What the index says of itself is what was measured: within five standard
	# deviations and a tenth for its own estimate.
	my $said = $info->{estimated_fpr};
	my $slack = 5 * sqrt($probes * $said) + 0.1 * $probes * $said + 5;
	cmp_ok(abs($passed - $probes * $said), '<=', $slack, sprintf 'grown, %g: it says %g, %g was measured', $fpr, $said, $passed / $probes);
	# A new key that passes the layers there are, a false positive, is not counted.
	cmp_ok(abs($info->{estimated_count} - $keys), '<=', (0.03 + $fpr) * $keys, "grown, $fpr: it estimates $info->{estimated_count} keys of $keys");

	# Proportional: layers of double size and ever lower rates need at most about
	# twice the keys' bits, and those at the rate of the last layer.
	$size = query("SELECT pg_relation_size('${t}_k')");
	my $last = query("SELECT (bloom_estimate($keys, $fpr * 0.5 ^ $info->{layers})).bits / 8");
	cmp_ok($size, '<=', 3 * $last + 4 * 8192, "grown, $fpr: $size bytes, where a plain filter of the last layer's rate has $last");

	query("REINDEX INDEX ${t}_k");
	($passed, $info) = rate_is_kept("rebuilt, $fpr", "${t}_k", $fpr);
	is($info->{layers}, 1, "rebuilt, $fpr: one layer again");
	query("DROP TABLE $t");
}

# From nothing: one page, and ten layers' worth of small steps.
query('CREATE TABLE s (k text); CREATE INDEX s_k ON s USING bloomfilter (k) WITH (capacity = 1, fpr = 0.01)');
for my $step (0 .. 39)
{
	query("INSERT INTO s SELECT 'small:' || i FROM generate_series($step * 5000 + 1, ($step + 1) * 5000) AS i");
}
my ($passed, $info) = rate_is_kept('from nothing', 's_k', 0.01);
cmp_ok($info->{layers}, '>=', 4, "from nothing: $info->{layers} layers");
is(missing($node, 's_k', 's'), '0', 'from nothing: every key');

# Integers one after the other are no worse than random keys.
query('CREATE TABLE n (k bigint); CREATE INDEX n_k ON n USING bloomfilter (k) WITH (capacity = 20000, fpr = 0.01); INSERT INTO n SELECT generate_series(1, 200000)');
$passed = query("SELECT count(*) FROM generate_series(10000000, 10000000 + $probes - 1) AS i WHERE bloom_index_contains('n_k', i)");
cmp_ok($passed, '<=', bound(0.01), "integers: $passed of $probes absent keys pass");
is(missing($node, 'n_k', 'n'), '0', 'integers: every key');

# The headroom: a build's first layer takes some more rows.  And none for a table
# that does not change is no matter of life: the next layer.
query(q{CREATE TABLE h AS SELECT 'h' || i AS k FROM generate_series(1, 100000) AS i; CREATE INDEX h_k ON h USING bloomfilter (k); INSERT INTO h SELECT 'i' || i FROM generate_series(1, 2000) AS i});
is(layers($node, 'h_k'), 1, 'headroom: two percent more rows are in the first layer');

# Two indexes on the same keys err on different ones: each has its own seed.
query('CREATE INDEX h_k1 ON h USING bloomfilter (k) WITH (fpr = 0.1); CREATE INDEX h_k2 ON h USING bloomfilter (k) WITH (fpr = 0.1)');
my ($one, $two, $both) = split /\|/, query(q{SELECT count(*) FILTER (WHERE a), count(*) FILTER (WHERE b), count(*) FILTER (WHERE a AND b)
	FROM (SELECT bloom_index_contains('h_k1', 'absent:' || i) AS a, bloom_index_contains('h_k2', 'absent:' || i) AS b FROM generate_series(1, 100000) AS i) AS x});
cmp_ok($one, '>', 1000, "seeds: one lets $one pass");
cmp_ok($both, '<', 0.5 * $one, "seeds: the other lets only $both of those pass");
# so a rebuild frees the keys that happened to pass
query('CREATE TABLE passing AS SELECT i FROM generate_series(1, 100000) AS i WHERE bloom_index_contains(\'h_k1\', \'absent:\' || i)');
query('REINDEX INDEX h_k1');
cmp_ok(query(q{SELECT count(*) FROM passing WHERE bloom_index_contains('h_k1', 'absent:' || i)}), '<', 0.5 * $one, 'seeds: a rebuild takes another');

# Deleted keys stay until REINDEX, and the info says how many there may be.
query('DELETE FROM h WHERE k LIKE \'h%5\'; VACUUM h; ANALYZE h');
is(query(q{SELECT bloom_index_contains('h_k', 'h15')}), 't', 'deleted keys stay');
note 'after deletes: ', JSON::PP->new->canonical->encode(info($node, 'h_k'));
query('REINDEX INDEX h_k');
cmp_ok(query(q{SELECT count(*) FROM generate_series(5, 100000, 10) AS i WHERE bloom_index_contains('h_k', 'h' || i)}), '<', 250, 'REINDEX forgets them');

$node->stop;
done_testing();
