# Every SQL block of the README and of its translation runs, in order, and
# prints what is shown; every object of the extension is in the reference.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use Test::More;

use ReadmeTests;

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->start;

run_readme($node, 'README.md', 35);
run_readme($node, 'README.zh-CN.md', 20);
same_blocks();
links_lead_somewhere($_) for 'README.md', 'README.zh-CN.md';

$node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter');
objects_are_named($node, 'postgres', 'bloomfilter');

# the options of the index are not in the catalog
my ($code, $out, $error) = $node->psql('postgres', 'CREATE TABLE t (x int);
	CREATE INDEX ON t USING bloomfilter (x) WITH (fpr = 0.01, capacity = 1, growth = 2)');
is($error, '', 'the options of the index that the README names exist');

$node->stop;
done_testing();
