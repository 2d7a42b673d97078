# A session that goes on from one statement to the next, as connections to Redis
# do, and that can be left alone with a statement that hangs.
#
#   my $session = PsqlSession->new($node, user => 'alice');
#   my ($out, $error) = $session->run($sql);   # psql's, without the last newline
#   $session->pid;                             # of its backend
#   $session->start($sql);                     # send it, wait for nothing
#   my ($out, $error) = $session->finish;      # wait for the end of it
#
# Errors are verbose: ERROR lines have their SQLSTATE.  A session whose backend
# has gone ends with it.

package PsqlSession;

use strict;
use warnings FATAL => 'all';

use IPC::Run;

use constant TIMEOUT => 180;

sub new
{
	my ($class, $node, %options) = @_;
	my $self = bless { in => '', out => '', error => '', number => 0 }, $class;
	my @command = (
		'psql', '-X', '-A', '-t', '-q', '-w', '-v', 'VERBOSITY=verbose', '-d',
		$node->connstr($options{database} // 'postgres'));

	push @command, '-U', $options{user} if defined $options{user};
	$self->{timeout} = IPC::Run::timeout(TIMEOUT);
	$self->{run} = IPC::Run::start(
		\@command, '<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{error}, $self->{timeout});
	($self->{pid}) = $self->run('SELECT pg_backend_pid()');
	die "no session: $self->{pid}\n" if $self->{pid} !~ /^\d+$/;
	return $self;
}

sub pid { return $_[0]{pid}; }

sub start
{
	my ($self, $sql) = @_;

	$self->{number}++;
	$self->{timeout}->start(TIMEOUT);
	$self->{in} .= "$sql\n;\n\\echo end $self->{number}\n\\warn end $self->{number}\n";
	$self->{run}->pump_nb while length $self->{in} && $self->{run}->pumpable;
	return;
}

sub finish
{
	my ($self) = @_;
	my $end = qr/(?:\A|\n)end $self->{number}\n\z/;

	while ($self->{out} !~ $end || $self->{error} !~ $end)
	{
		last if !$self->{run}->pumpable;
		# psql that ends makes it die, and then all output is there
		last if !eval { $self->{run}->pump; 1 } && $@ !~ /timeout/;
		die "the session does not answer\n" if $self->{timeout}->is_expired;
	}
	my ($out, $error) = ($self->{out}, $self->{error});

	$self->{out} = $self->{error} = '';
	s/(?:\A|\n)end \d+\n\z// for $out, $error;
	return ($out, $error);
}

sub run
{
	my ($self, $sql) = @_;

	$self->start($sql);
	return $self->finish;
}

sub quit
{
	my ($self) = @_;
	my $run = delete $self->{run} // return;

	$self->{in} .= "\\q\n";
	eval { $run->finish; };
	return;
}

sub DESTROY
{
	my ($self) = @_;

	local ($?, $!, $@);
	$self->quit;
	return;
}

1;
