# The README's chapter on Redis runs, and prints what is shown.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use Test::More;

use RedisServer;

plan skip_all => RedisServer->missing if RedisServer->missing;

my $redis = RedisServer->new(module => RedisServer::bloom_module(), port => 1, password => 'secret');
my $node = PostgreSQL::Test::Cluster->new('readme');

$node->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->start;

my $root = "$FindBin::RealBin/../../..";
my @write = $ENV{README_WRITE} ? '--write' : ();
my ($out, $error) = ('', '');
my $ok = IPC::Run::run(
	[
		$^X, "$root/test/readme.pl", "$root/README.md", '--tag', 'redis', '--replace',
		"port '6379'=port '" . $redis->port . "'", '--replace', '127.0.0.1:6379=127.0.0.1:' . $redis->port, @write, '--', 'psql',
		'-h', $node->host, '-p', $node->port, 'postgres'
	],
	'>', \$out, '2>', \$error);
my $blocks = () = $out =~ /^ok /mg;
my @bad = $out =~ /^(not ok .*)$/mg;

cmp_ok($blocks, '>', 5, 'the chapter has blocks that were run');
is(scalar(@bad), 0, 'every block prints what is shown') or diag($out, $error);
ok($ok, 'the run ended well') or diag($error);

done_testing();
