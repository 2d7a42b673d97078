# Redis servers that live as long as a test.
#
#   my $server = RedisServer->new(%options);   # started and answering
#   my $redis = $server->client;               # a RedisClient, logged in
#   $server->stop;                             # else at the end of the test
#
# Options, all optional:
#   port => 1            listen on 127.0.0.1 too, at a free port: $server->port
#   password => 'text'   requirepass
#   acl => [ lines ]     an ACL file: 'user app on >secret ~* +@all'
#   module => 'file'     loaded at the start; RedisServer::bloom_module gives it
#   maxmemory => '8mb'   with noeviction, or maxmemory_policy => '...'
#   replica_of => $other a replica of a server with a port
#   tls => 1             TLS at a second free port: $server->tls_port; files
#                        $server->tls_file('ca.crt', 'server.crt', 'server.key',
#                        'client.crt' or 'client.key'); tls_auth => 'yes' asks
#                        clients for a certificate
#   args => [ '--x' ]    what else the command line should have
#
# Always: a unix socket, $server->socket; nothing is written to disk.  Also:
#   $server->pause, $server->resume   SIGSTOP and SIGCONT
#   $server->kill('KILL')             any signal; ->restart starts it again, empty
#   $server->log                      what it wrote
#   RedisServer->missing              why there can be none, or ''
#
# Each server has a folder of its own below /tmp, since paths of sockets must be
# short.  The machine's own Redis is never touched.

package RedisServer;

use strict;
use warnings FATAL => 'all';

use File::Basename 'dirname';
use File::Spec;
use File::Temp;
use IO::Socket::INET;
use POSIX ':sys_wait_h';
use Time::HiRes 'sleep';

use RedisClient;

use constant START_TIMEOUT => 60;

my %running;

sub in_path
{
	my ($program) = @_;

	return grep { -x "$_/$program" } File::Spec->path;
}

sub missing
{
	return in_path('redis-server') ? '' : 'there is no redis-server';
}

# The real RedisBloom if the environment names it, else the stand-in.
sub bloom_module
{
	return $ENV{REDISBLOOM_MODULE} || File::Spec->rel2abs(dirname(__FILE__)) . '/standin.so';
}

sub new
{
	my ($class, %options) = @_;
	my $self = bless {
		options => \%options,
		owner => $$,
		folder => File::Temp->newdir('bf_redis_XXXXXX', TMPDIR => 1, CLEANUP => 1)
	}, $class;

	make_certificates($self->folder) if $options{tls};
	$self->start;
	return $self;
}

sub folder { return $_[0]{folder}->dirname; }
sub socket { return $_[0]->folder . '/s'; }
sub port { return $_[0]{port}; }
sub tls_port { return $_[0]{tls_port}; }
sub tls_file { return $_[0]->folder . "/$_[1]"; }

sub free_port
{
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
	  or die "no free port: $!\n";

	return $socket->sockport;
}

sub write_file
{
	my ($path, @lines) = @_;

	open my $file, '>', $path or die "$path: $!\n";
	print {$file} map { "$_\n" } @lines or die "$path: $!\n";
	close $file or die "$path: $!\n";
	return;
}

sub read_file
{
	my ($path) = @_;

	open my $file, '<', $path or return '';
	local $/ = undef;
	return <$file> // '';
}

# An authority, and a key and certificate of it for the server and for a client.
sub make_certificates
{
	my ($folder) = @_;

	die "TLS needs openssl\n" if !in_path('openssl');
	my $run = sub {
		my $output = qx{cd '$folder' && openssl $_[0] 2>&1};

		die "openssl $_[0]: $output\n" if $? != 0;
	};
	my $key = 'req -newkey rsa:2048 -nodes -sha256 -days 3650';

	write_file("$folder/server.ext", 'subjectAltName=DNS:localhost,IP:127.0.0.1');
	$run->("$key -x509 -subj '/CN=test authority' -keyout ca.key -out ca.crt");
	for my $name ('server', 'client')
	{
		my $extension = $name eq 'server' ? '-extfile server.ext' : '';

		$run->("$key -subj /CN=$name -keyout $name.key -out $name.csr");
		$run->("x509 -req -sha256 -days 3650 -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial "
			  . "$extension -out $name.crt");
	}
	return;
}

sub arguments
{
	my ($self) = @_;
	my %o = %{ $self->{options} };
	my $folder = $self->folder;
	my @arguments = (
		'--dir' => $folder, '--unixsocket' => $self->socket, '--unixsocketperm' => 700,
		'--logfile' => "$folder/log", '--bind' => '127.0.0.1',
		'--save' => '', '--appendonly' => 'no', '--daemonize' => 'no',
		'--port' => $self->{port} // 0);

	push @arguments, '--requirepass' => $o{password} if defined $o{password};
	push @arguments, '--loadmodule' => $o{module} if defined $o{module};
	push @arguments, '--maxmemory' => $o{maxmemory},
	  '--maxmemory-policy' => $o{maxmemory_policy} // 'noeviction'
	  if defined $o{maxmemory};
	push @arguments, '--replicaof' => "127.0.0.1 " . $o{replica_of}->port if $o{replica_of};
	if ($o{acl})
	{
		write_file("$folder/users.acl", @{ $o{acl} });
		push @arguments, '--aclfile' => "$folder/users.acl";
	}
	if ($o{tls})
	{
		push @arguments, '--tls-port' => $self->{tls_port},
		  '--tls-cert-file' => "$folder/server.crt", '--tls-key-file' => "$folder/server.key",
		  '--tls-ca-cert-file' => "$folder/ca.crt", '--tls-auth-clients' => $o{tls_auth} // 'no';
	}
	return (@arguments, @{ $o{args} // [] });
}

# Start, at other ports if somebody took those that were free.
sub start
{
	my ($self) = @_;

	for my $attempt (1 .. 3)
	{
		$self->{port} = free_port() if $self->{options}{port} && ($attempt > 1 || !$self->{port});
		$self->{tls_port} = free_port() if $self->{options}{tls} && ($attempt > 1 || !$self->{tls_port});
		return if $self->launch;
	}
	die 'redis-server does not start: ' . $self->log . "\n";
}

# False when it ended before it answered.
sub launch
{
	my ($self) = @_;
	my @command = ('redis-server', $self->arguments);
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0)
	{
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', $self->folder . '/output';
		open STDERR, '>&', \*STDOUT;
		{ no warnings; exec @command; }
		POSIX::_exit(127);
	}
	$self->{pid} = $pid;
	$running{$pid} = $self->{owner};
	for (1 .. START_TIMEOUT * 50)
	{
		if (waitpid($pid, WNOHANG) == $pid)
		{
			$self->forget;
			return 0;
		}
		my $reply = eval { RedisClient->new(socket => $self->socket, timeout => 5)->try('PING') };

		# a server that wants a password or loads its data is there all the same
		return 1 if defined $reply && (!is_error($reply) || $reply->{message} =~ /^NOAUTH/);
		sleep 0.02;
	}
	$self->kill('KILL');
	die "redis-server does not answer\n";
}

sub client
{
	my ($self, %options) = @_;
	my $redis = RedisClient->new(socket => $self->socket, %options);

	$redis->command('AUTH', $self->{options}{password}) if defined $self->{options}{password};
	return $redis;
}

sub log
{
	my ($self) = @_;

	return read_file($self->folder . '/log') . read_file($self->folder . '/output');
}

sub forget
{
	my ($self) = @_;

	delete $running{ $self->{pid} };
	delete $self->{pid};
	unlink $self->socket;
	return;
}

# Send a signal; of one that ends the server, wait for the end.
sub kill
{
	my ($self, $signal) = @_;
	my $pid = $self->{pid} // return;

	CORE::kill($signal, $pid);
	return if $signal =~ /^(STOP|CONT)$/;
	waitpid $pid, 0;
	$self->forget;
	return;
}

sub pause { return $_[0]->kill('STOP'); }
sub resume { return $_[0]->kill('CONT'); }

# Nothing of a test's server is worth saving.
sub stop { return $_[0]->kill('KILL'); }

sub restart
{
	my ($self) = @_;

	$self->stop;
	return $self->start;
}

sub DESTROY
{
	my ($self) = @_;

	local ($?, $!, $@);
	$self->stop if $self->{owner} == $$;
	return;
}

# A signal must not leave servers behind.
for my $signal ('INT', 'TERM', 'HUP')
{
	$SIG{$signal} //= sub { exit 1; };
}

END
{
	local ($?, $!);
	CORE::kill('KILL', grep { $running{$_} == $$ } keys %running);
}

1;
