# Every SQL block of the README runs, in order, and prints what is shown.
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->start;

my $readme = "$FindBin::RealBin/../../README.md";
my ($out, $err) = ('', '');
my $ok = IPC::Run::run(
	[
		$^X, "$FindBin::RealBin/../readme.pl", $readme, '--', 'psql',
		'-h', $node->host, '-p', $node->port, 'postgres'
	],
	'>', \$out, '2>', \$err);
my $blocks = () = $out =~ /^ok /mg;
my @bad = $out =~ /^(not ok .*)$/mg;

cmp_ok($blocks, '>', 10, 'the README has blocks that were run');
is(scalar(@bad), 0, 'every block prints what is shown') or diag($out, $err);
ok($ok, 'the run ended well') or diag($err);

$node->stop;
done_testing();
