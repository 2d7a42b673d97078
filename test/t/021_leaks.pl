# No memory is left behind: every function of the extension, and the planner's
# support for it, is called many times within one statement, and what the
# process has in use does not grow by even a few bytes for each call.
#
# LEAK_CALLS=1000000 calls each as often as that.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('leaks');
$node->init;
# A sort or a spilled table would be memory, too, and a worker has its own.
$node->append_conf('postgresql.conf', "max_parallel_workers_per_gather = 0\njit = off");
$node->start;

my $folder = $node->basedir . '/files';
mkdir $folder or die "mkdir $folder: $!";
my $calls = $ENV{LEAK_CALLS} // 100000;

sub query { return $node->safe_psql('postgres', $_[0]); }

query('CREATE EXTENSION bloomfilter');
$node->command_ok(
	[
		'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-v', "folder=$folder", '-v', "calls=$calls",
		'-f', "$FindBin::RealBin/../data/samples.sql", '-f', "$FindBin::RealBin/../leaks.sql"
	],
	'every function was called');

# The smallest piece of memory there is takes 16 bytes.  Nine tenths of the calls
# are between the two looks; 100 kB are for what the server caches meanwhile.
is( query("SELECT string_agg(what || ' leaves ' || after - before || ' bytes after ' || calls || ' calls', E'\\n')
		FROM result WHERE after - before > 100000 + 2 * calls"),
	'', 'no function leaves memory behind');
is(query('SELECT count(*) FROM result WHERE before IS NULL OR after IS NULL OR calls < 10000'), '0', 'memory was looked at twice each time');
is( query("SELECT string_agg(signature, ' ') FROM own_functions WHERE 'internal'::regtype <> ALL (proargtypes)
		AND signature NOT IN (SELECT what FROM result)"),
	'', 'no function is missing');
is(query("SELECT string_agg(typname, ' ') FROM own_types WHERE typname || '_recv, _send' NOT IN (SELECT what FROM result)"),
	'', 'no type is missing');

# The looks would see a leak: what is collected here takes 9 bytes each.
is( query("SELECT cardinality(list) = 100000 AND after - before > 100000 + 2 * 100000
		FROM (SELECT array_agg(i) AS list, max(CASE i WHEN 10000 THEN memory_in_use() END) AS before,
				max(CASE i WHEN 100000 THEN memory_in_use() END) AS after
			FROM (SELECT generate_series(1, 100000) AS i OFFSET 0) n) looks"),
	't', 'a leak would be seen');

$node->stop;
done_testing();
