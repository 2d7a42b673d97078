# A PostgreSQL server with both extensions, for tests beside a Redis server.
#
#   my $node = RedisTest::postgres('name');
#   RedisTest::add_server($node, 'redis', $redis);   # CREATE SERVER, by socket
#   my ($out, $error) = RedisTest::run($node, $sql); # one session, stops at no error
#
#   my $session = RedisTest::session($node);         # one that stays open
#   my $out = $session->query($sql);                 # waits for the result
#   $session->send($sql);                            # does not; ->wait does
#   $session->close;
#
# The error of run() is psql's: ERROR, DETAIL and HINT lines of every statement.

package RedisTest;

use strict;
use warnings FATAL => 'all';

use IPC::Run ();
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

# Sessions: psql with its standard error joined to its output.

my $marks = 0;

sub session
{
	my ($node) = @_;
	my $self = bless { in => '', out => '', timer => IPC::Run::timeout(180) }, 'RedisTest::Session';

	$self->{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', '-' ],
		'<', \$self->{in}, '>', \$self->{out}, '2>&1', $self->{timer});
	return $self;
}

sub RedisTest::Session::send
{
	my ($self, $sql) = @_;

	$self->{mark} = 'mark ' . ++$marks;
	$self->{in} .= "$sql;\n\\echo '$self->{mark}'\n";
	$self->{run}->pump_nb;
	return;
}

sub RedisTest::Session::wait
{
	my ($self) = @_;

	$self->{timer}->start;
	$self->{run}->pump until $self->{out} =~ /^\Q$self->{mark}\E\n/m;
	my $result = $self->{out} =~ s/^\Q$self->{mark}\E\n//mr;

	$self->{out} = '';
	chomp $result;
	return $result;
}

sub RedisTest::Session::query
{
	my ($self, $sql) = @_;

	$self->send($sql);
	return $self->wait;
}

sub RedisTest::Session::close
{
	my ($self) = @_;

	$self->{in} .= "\\q\n";
	$self->{run}->finish;
	return;
}

1;
