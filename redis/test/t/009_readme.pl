# The README's recipe and reference for Redis run, in both languages, and print
# what is shown; every object of the extension is in the reference.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use Test::More;

use ReadmeTests;
use RedisServer;

plan skip_all => RedisServer->missing if RedisServer->missing;

my $redis = RedisServer->new(module => RedisServer::bloom_module(), port => 1, password => 'secret');
my $node = PostgreSQL::Test::Cluster->new('readme');

$node->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->start;

for my $file ([ 'README.md', 8 ], [ 'README.zh-CN.md', 6 ])
{
	run_readme(
		$node, @$file, '--tag', 'redis', '--replace',
		"port '6379'=port '" . $redis->port . "'", '--replace', '127.0.0.1:6379=127.0.0.1:' . $redis->port);
}

$node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter_redis CASCADE');
objects_are_named($node, 'postgres', 'bloomfilter_redis');

# the options that the wrapper takes, by its own hint
my ($reference) = do { local (@ARGV, $/) = "$ENV{TESTDIR}/README.md"; <> } =~ /^### Redis\n(.*?)^### /ms;
for my $what ('SERVER s FOREIGN DATA WRAPPER bloomfilter_redis', 'USER MAPPING FOR CURRENT_USER SERVER r', 'FOREIGN TABLE t (x text) SERVER r')
{
	$node->psql('postgres', 'CREATE SERVER IF NOT EXISTS r FOREIGN DATA WRAPPER bloomfilter_redis');
	my ($code, $out, $error) = $node->psql('postgres', "CREATE $what OPTIONS (nonsense 'x')");
	my ($options) = $error =~ /Valid options.*?: (.*)/;
	is(join(' ', grep { $reference !~ /`$_`/ } split /, /, $options // 'no hint'), '', "the README names every option of $what");
}

$node->stop;
done_testing();
