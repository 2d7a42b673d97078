# A PostgreSQL server with both extensions, for tests beside a Redis server.
#
#   my $node = RedisTest::postgres('name');
#   RedisTest::add_server($node, 'redis', $redis);   # CREATE SERVER, by socket
#   my ($out, $error) = RedisTest::run($node, $sql); # one session, stops at no error
#
# The error of run() is psql's: ERROR, DETAIL and HINT lines of every statement.

package RedisTest;

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;

sub postgres
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', "$_\n") for 'fsync = off', @settings;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter_redis CASCADE');
	return $node;
}

# Further options as text, say "command_timeout '2000'".
sub add_server
{
	my ($node, $name, $redis, @options) = @_;
	my $options = join ', ', "socket '" . $redis->socket . "'", @options;

	$node->safe_psql('postgres',
		"CREATE SERVER $name FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS ($options)");
	return;
}

sub run
{
	my ($node, $sql, %options) = @_;
	my ($out, $error) = ('', '');

	$node->psql(
		$options{database} // 'postgres', $sql,
		stdout => \$out,
		stderr => \$error,
		on_error_stop => 0,
		timeout => 300,
		extra_params => $options{user} ? [ '-U', $options{user} ] : []);
	return ($out, $error);
}

1;
