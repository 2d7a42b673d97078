# A client for Redis without anything between the test and the bytes.
#
#   my $redis = RedisClient->new(socket => '/tmp/x/redis.sock');
#   my $redis = RedisClient->new(port => 7000, host => '127.0.0.1', timeout => 10);
#   $redis->command('SET', 'key', $bytes);   # the reply; dies of an error reply
#   my $reply = $redis->try('GET', 'key');   # an error reply is a RedisClient::Error
#   print $reply->{message} if is_error($reply);
#   $redis->send(@$_) for @commands;         # a pipeline
#   my @replies = map { $redis->receive } @commands;
#
# A reply is a string (simple, bulk or integer), undef (nil) or a reference to an
# array of replies.  Arguments and replies are bytes: encode and decode text
# yourself.  Whatever goes wrong with the connection dies.

package RedisClient;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;

our @EXPORT = ('is_error');

sub new
{
	my ($class, %options) = @_;
	my $where = $options{socket} // ($options{host} // '127.0.0.1') . ":$options{port}";
	my $socket =
	  defined $options{socket}
	  ? IO::Socket::UNIX->new(Peer => $options{socket})
	  : IO::Socket::INET->new(
		PeerHost => $options{host} // '127.0.0.1',
		PeerPort => $options{port},
		Proto => 'tcp');

	die "no connection to Redis at $where: $!\n" if !$socket;
	binmode $socket;
	return bless {
		socket => $socket,
		where => $where,
		timeout => $options{timeout} // 60,
		buffer => '',
		at => 0
	}, $class;
}

# A command as Redis reads it.
sub encode
{
	my (@arguments) = @_;

	return join '', '*', scalar(@arguments), "\r\n", map { '$' . length($_) . "\r\n$_\r\n" } @arguments;
}

sub send
{
	my ($self, @arguments) = @_;

	return $self->send_bytes(encode(@arguments));
}

sub send_bytes
{
	my ($self, $bytes) = @_;

	local $SIG{PIPE} = 'IGNORE';
	while (length $bytes)
	{
		my $sent = syswrite $self->{socket}, $bytes;

		die "cannot write to Redis at $self->{where}: $!\n" if !defined $sent;
		substr($bytes, 0, $sent, '');
	}
	return;
}

# Wait for more bytes; dies at the end of the connection and after the timeout.
sub fill
{
	my ($self) = @_;

	# a signal, such as that of a server which goes on, is no end of waiting
	until (do { $! = 0; IO::Select->new($self->{socket})->can_read($self->{timeout}) })
	{
		die "Redis at $self->{where} does not answer\n" if !$!{EINTR};
	}

	my $got = sysread $self->{socket}, $self->{buffer}, 1 << 20, length $self->{buffer};

	die "Redis at $self->{where}: $!\n" if !defined $got;
	die "Redis at $self->{where} closed the connection\n" if $got == 0;
	return;
}

# Up to the next CRLF.
sub take_line
{
	my ($self) = @_;
	my $end;

	$self->fill while ($end = index $self->{buffer}, "\r\n", $self->{at}) < 0;
	my $line = substr $self->{buffer}, $self->{at}, $end - $self->{at};
	$self->{at} = $end + 2;
	return $line;
}

sub take_bytes
{
	my ($self, $length) = @_;

	$self->fill while length($self->{buffer}) - $self->{at} < $length + 2;
	my $bytes = substr $self->{buffer}, $self->{at}, $length;
	$self->{at} += $length + 2;
	return $bytes;
}

sub parse
{
	my ($self) = @_;
	my ($type, $rest) = $self->take_line =~ /\A(.)(.*)\z/s;

	return $rest if $type eq '+' || $type eq ':';
	return bless { message => $rest }, 'RedisClient::Error' if $type eq '-';
	return $rest < 0 ? undef : $self->take_bytes($rest) if $type eq '$';
	return $rest < 0 ? undef : [ map { $self->parse } 1 .. $rest ] if $type eq '*';
	die "Redis at $self->{where} sent a reply of type '$type'\n";
}

# The next reply, and its bytes where a list is wanted.
sub receive
{
	my ($self) = @_;
	my $reply = $self->parse;
	my $bytes = substr $self->{buffer}, 0, $self->{at}, '';

	$self->{at} = 0;
	return wantarray ? ($reply, $bytes) : $reply;
}

sub is_error
{
	return ref $_[0] eq 'RedisClient::Error';
}

sub try
{
	my ($self, @arguments) = @_;

	$self->send(@arguments);
	return scalar $self->receive;
}

sub command
{
	my ($self, @arguments) = @_;
	my $reply = $self->try(@arguments);

	die "$arguments[0]: $reply->{message}\n" if is_error($reply);
	return $reply;
}

# One command of a client, as a reference to its arguments; undef at the end.
sub receive_command
{
	my ($self) = @_;
	my $command = eval { $self->receive };

	return ref $command eq 'ARRAY' ? $command : undef;
}

# The other end of a connection that was accepted; see ScriptedPeer.
sub of_socket
{
	my ($class, $socket, %options) = @_;

	return bless {
		socket => $socket,
		where => 'a client',
		timeout => $options{timeout},
		buffer => '',
		at => 0
	}, $class;
}

1;
