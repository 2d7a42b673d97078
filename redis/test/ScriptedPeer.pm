# A peer that answers as a script says: the server that misbehaves.
#
#   my $peer = ScriptedPeer->new(@scripts);   # listens on 127.0.0.1: $peer->port
#   my $peer = ScriptedPeer->new({ socket => '/tmp/x/s' }, @scripts);
#   ... what is tested connects, the first time to the first script ...
#   $peer->received;       # ([connection number, argument ...], ...) up to now
#   $peer->connections;    # how many there were
#   $peer->wait_for(sub { $peer->connections >= 2 });   # false after 30 s
#   $peer->stop;           # else at the end of the test
#
# A script is a reference to an array of steps; connections beyond the last
# script follow the last.  At its end the connection is closed.  Steps:
#
#   [answer => N, BYTES]         read N commands and send BYTES for each
#   [answer => N, { AUTH => BYTES, '*' => BYTES }]   by name, '*' for others
#   [read => N]                  read N commands, answer none
#   [send => BYTES]              whatever was asked
#   [trickle => BYTES, MS]       one byte every MS milliseconds
#   [relay => N, $server]        N commands answered by a RedisServer
#   [relay => N, $server, { cut => BYTES }]     only so much of the last answer
#   [relay => N, $server, { trickle => MS }]    answers one byte at a time
#   [sleep => SECONDS]
#   ['stall']                    read nothing, say nothing, keep it open
#   ['silence']                  read and record everything, answer nothing
#   ['reset']                    close by RST instead of FIN
#   ['close']                    as at the end of the script
#
# N may be '*': until the client closes.  Every connection has a process of its
# own, so one that stalls keeps no other from being served.

package ScriptedPeer;

use strict;
use warnings FATAL => 'all';

use File::Temp;
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP;
use POSIX ();
use Socket qw(SOL_SOCKET SO_LINGER);
use Time::HiRes qw(sleep time);

use RedisClient;

my %running;

# bytes as code points below 256, so a line is ASCII
my $json = JSON::PP->new->ascii;

sub new
{
	my ($class, @scripts) = @_;
	my %options = ref $scripts[0] eq 'HASH' ? %{ shift @scripts } : ();
	my $listener =
	  defined $options{socket}
	  ? IO::Socket::UNIX->new(Local => $options{socket}, Listen => 16)
	  : IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16, ReuseAddr => 1);

	die "cannot listen: $!\n" if !$listener;
	my $self = bless {
		owner => $$,
		record => File::Temp->new(TEMPLATE => 'bf_peer_XXXXXX', TMPDIR => 1),
		socket => $options{socket},
		port => defined $options{socket} ? undef : $listener->sockport
	}, $class;
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0)
	{
		# a group of its own, so that it ends with all its connections
		setpgrp 0, 0;
		@SIG{ 'INT', 'TERM', 'HUP' } = ('DEFAULT') x 3;
		eval { $self->serve($listener, @scripts); };
		print STDERR "ScriptedPeer: $@" if $@;
		POSIX::_exit(0);
	}
	setpgrp $pid, $pid;    # whoever comes first
	close $listener;
	$self->{pid} = $pid;
	$running{$pid} = $$;
	return $self;
}

sub port { return $_[0]{port}; }
sub socket { return $_[0]{socket}; }

sub serve
{
	my ($self, $listener, @scripts) = @_;
	my $number = 0;

	local $SIG{CHLD} = 'IGNORE';
	while (my $socket = $listener->accept)
	{
		my $script = $scripts[ $number < @scripts ? $number : -1 ];

		$self->write_record(++$number);
		my $pid = fork // die "fork: $!\n";
		if ($pid == 0)
		{
			close $listener;
			eval { $self->follow($number, $socket, $script); };
			print STDERR "ScriptedPeer: $@" if $@ && $@ !~ /Broken pipe|reset by peer/;
			close $socket;
			POSIX::_exit(0);
		}
		close $socket;
	}
	return;
}

# One line for each connection and command, in one write.
sub write_record
{
	my ($self, @fields) = @_;

	open my $file, '>>', $self->{record}->filename or die "record: $!\n";
	syswrite $file, $json->encode(\@fields) . "\n";
	close $file;
	return;
}

sub trickle
{
	my ($client, $bytes, $milliseconds) = @_;

	for my $byte (split //, $bytes)
	{
		$client->send_bytes($byte);
		sleep $milliseconds / 1000;
	}
	return;
}

# Go on with the next step only if the client is still there.
sub follow
{
	my ($self, $number, $socket, $script) = @_;
	my $client = RedisClient->of_socket($socket);

	for my $step (@$script)
	{
		my ($what, @arguments) = @$step;

		if ($what eq 'answer' || $what eq 'read' || $what eq 'relay')
		{
			$self->converse($number, $client, $what, @arguments) or return;
		}
		elsif ($what eq 'silence')
		{
			$self->converse($number, $client, 'read', '*');
			return;
		}
		elsif ($what eq 'send') { $client->send_bytes($arguments[0]); }
		elsif ($what eq 'trickle') { trickle($client, @arguments); }
		elsif ($what eq 'sleep') { sleep $arguments[0]; }
		elsif ($what eq 'stall') { sleep 3600; }
		elsif ($what eq 'close') { return; }
		elsif ($what eq 'reset')
		{
			setsockopt $socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0);
			return;
		}
		else { die "there is no step '$what'\n"; }
	}
	return;
}

# Read commands and answer them; false when the client closed before the last.
sub converse
{
	my ($self, $number, $client, $what, $count, $how, $options) = @_;
	my $server = $what eq 'relay' ? $how->client : undef;

	for (my $i = 1; $count eq '*' || $i <= $count; $i++)
	{
		my $command = $client->receive_command // return 0;

		$self->write_record($number, @$command);
		next if $what eq 'read';
		if (!$server)
		{
			my $answer = ref $how ? $how->{ uc $command->[0] } // $how->{'*'} : $how;

			die "no answer for $command->[0]\n" if !defined $answer;
			$client->send_bytes($answer);
			next;
		}
		$server->send(@$command);
		my (undef, $bytes) = $server->receive;
		$bytes = substr $bytes, 0, $options->{cut} if defined $options->{cut} && $i eq $count;
		if ($options->{trickle}) { trickle($client, $bytes, $options->{trickle}); }
		else { $client->send_bytes($bytes); }
	}
	return 1;
}

sub records
{
	my ($self) = @_;

	open my $file, '<', $self->{record}->filename or die "record: $!\n";
	return map { $json->decode($_) } grep { /\n\z/ } <$file>;
}

sub received { return grep { @$_ > 1 } $_[0]->records; }
sub connections { return scalar grep { @$_ == 1 } $_[0]->records; }

sub wait_for
{
	my ($self, $condition, $seconds) = @_;
	my $end = time + ($seconds // 30);

	while (time < $end)
	{
		return 1 if $condition->();
		sleep 0.02;
	}
	return 0;
}

sub stop
{
	my ($self) = @_;
	my $pid = delete $self->{pid} // return;

	kill 'KILL', -$pid;
	waitpid $pid, 0;
	delete $running{$pid};
	return;
}

sub DESTROY
{
	my ($self) = @_;

	local ($?, $!, $@);
	$self->stop if $self->{owner} == $$;
	return;
}

END
{
	local ($?, $!);
	kill 'KILL', map { -$_ } grep { $running{$_} == $$ } keys %running;
}

1;
