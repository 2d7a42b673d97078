# Damaged values of every type of the extension: each byte changed in several
# ways, each length, each field at its extremes, fields exchanged; through text,
# binary COPY and the cast from bytea.  Then every function that takes the type is
# called with whatever was accepted.  Types and functions come from the catalog, so
# a new one is tested as soon as test/data/samples.sql has a value of it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hostile');
$node->init;
$node->append_conf('postgresql.conf', "restart_after_crash = off\nmax_parallel_workers_per_gather = 0");
$node->start;

my $folder = $node->basedir . '/files';
mkdir $folder or die "mkdir $folder: $!";

sub query { return $node->safe_psql('postgres', $_[0]); }

query('CREATE EXTENSION bloomfilter');
$node->command_ok(
	[
		'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-v', "folder=$folder", '-f',
		"$FindBin::RealBin/../data/samples.sql", '-f', "$FindBin::RealBin/../hostile.sql"
	],
	'all damages were tried');

is(query('SELECT string_agg(typname, \' \') FROM own_types WHERE oid NOT IN (SELECT type FROM calls)'),
	'', 'every type has a small sample');
is(query("SELECT string_agg(e, E'\\n') FROM calls, unnest(errors) e"), '', 'no call fails on a whole value');

# What may be said about a value or a call: data exceptions, limits, what is not
# supported, two filters that do not fit.  Never an internal error.
my $proper = '^(22|54|0A|42804)';
is(query("SELECT string_agg(DISTINCT concat_ws(' ', type, way, state, message), E'\\n') FROM outcome WHERE state NOT IN ('00000', 'changed') AND state !~ '^22'"),
	'', 'a value is refused as data');
is(query("SELECT string_agg(DISTINCT concat_ws(' ', type, e), E'\\n') FROM outcome, unnest(errors) e WHERE e !~ '$proper'"),
	'', 'no function fails in an improper way on a value that was accepted');
is(query("SELECT string_agg(DISTINCT concat_ws(' ', type, way), E'\\n') FROM outcome WHERE state = 'changed'"),
	'', 'what is accepted keeps its bytes');
is( query("SELECT count(*) FROM (SELECT type, damaged FROM outcome WHERE way <> 'characters'
		GROUP BY type, damaged HAVING count(*) <> 3 OR count(DISTINCT state = '00000') <> 1) differ"),
	'0', 'the three ways in accept the same');

# The tests above would also pass if nothing were accepted, or nothing refused.
# In a sketch the rows and the total depend on each other, so that hardly anything
# is accepted but the counters of a row exchanged.
my %at_least = (count_min_sketch => 31, top_k => 16);
for my $type (split /\n/, query('SELECT typname FROM own_types ORDER BY 1'))
{
	my ($accepted, $refused) = split /\|/, query("SELECT count(*) FILTER (WHERE state = '00000'), count(*) FILTER (WHERE state <> '00000')
		FROM outcome WHERE type = '$type'::regtype AND way = 'through_bytea'");

	cmp_ok($accepted, '>=', $at_least{$type} // 51, "$type: other values of the type were accepted ($accepted)");
	cmp_ok($refused, '>', 400, "$type: damaged values were refused ($refused)");
}

unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|TRAP:/, 'no process went down');

$node->stop;
done_testing();
