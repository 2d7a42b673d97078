# What the tests of the index access method share.

package IndexTests;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use IPC::Run;
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(usleep);

our @EXPORT = qw(new_node info missing error_of layers crash start_after_crash
  script_of start_script output_of wait_until session session_error begin_query finished abandon checksums_are_right);

# For everything that is waited for; the machine may be slow and shared.
use constant PATIENCE => 180;

# A server with page checksums.  Options: streaming, conf (further settings).
sub new_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(
		allows_streaming => $options{streaming} ? 1 : 0,
		extra => [ '--data-checksums', '--encoding=UTF8', '--locale=C' ]);
	$node->append_conf('postgresql.conf', <<"CONF");
full_page_writes = on
log_statement = none
log_error_verbosity = verbose
max_connections = 60
shared_buffers = 32MB
autovacuum = off
jit = off
@{[ $options{conf} // '' ]}
CONF
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter');
	return $node;
}

# bloom_index_info() as a hash.
sub info
{
	my ($node, $index, $database) = @_;

	return JSON::PP::decode_json(
		$node->safe_psql($database // 'postgres', "SELECT row_to_json(i) FROM bloom_index_info('$index') AS i"));
}

sub layers { return info(@_)->{layers}; }

# How many rows that a scan of the table sees the filter calls absent.  Anything
# but 0 is the one fault that this index must never have.
sub missing
{
	my ($node, $index, $rows, $column, $database) = @_;

	$column //= 'k';
	return $node->safe_psql($database // 'postgres',
		"SELECT count(*) FROM $rows WHERE $column IS NOT NULL AND bloom_index_contains('$index', $column) IS NOT TRUE");
}

# The SQLSTATE of the error that a script ends with; '' when there is none.
sub error_of
{
	my ($node, $sql, $database) = @_;
	my ($status, $out, $err) =
	  $node->psql($database // 'postgres', $sql, extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);

	return $err =~ /(?:ERROR|FATAL|PANIC):\s+([0-9A-Z]{5})/ ? $1 : $status == 0 ? '' : "status $status: $err";
}

# Polls until the sub says yes; the caller tests the answer.
sub wait_until
{
	my ($done) = @_;
	my $until = time + PATIENCE;

	while (time < $until)
	{
		return 1 if $done->();
		usleep(2_000);
	}
	return 0;
}

# A psql that stays connected, with a time limit for each query.
sub session
{
	my ($node, %options) = @_;
	my $session = $node->background_psql($options{database} // 'postgres', on_error_stop => 0);

	$session->set_query_timer_restart;
	$session->query_safe("SET statement_timeout = '@{[ PATIENCE ]}s'");
	return $session;
}

# The error that a query in a session ends with, as error_of says it.
sub session_error
{
	my ($session, $sql) = @_;

	$session->{stderr} = '';
	$session->query("\\set VERBOSITY sqlstate\n$sql");
	my $error = $session->{stderr} =~ /(?:ERROR|FATAL|PANIC):\s+([0-9A-Z]{5})/ ? $1 : $session->{stderr};
	$session->{stderr} = '';
	return $error;
}

# Starts a query in a session without waiting for it; finished() waits.
sub begin_query
{
	my ($session, $sql) = @_;

	$session->{timeout}->start;
	$session->{stdin} .= "$sql;\n\\echo finished\n\\warn finished\n";
	$session->{run}->pump_nb;
	return;
}

# The output of that query and its errors.
sub finished
{
	my ($session) = @_;

	$session->{timeout}->start;
	for my $stream ('stdout', 'stderr')
	{
		pump_until($session->{run}, $session->{timeout}, \$session->{$stream}, qr/^finished\n/m)
		  or die 'the query does not end';
	}
	my ($out, $err) = ($session->{stdout}, $session->{stderr});
	$session->{stdout} = $session->{stderr} = '';
	s/^finished\n//m for $out, $err;
	chomp $out;
	return ($out, $err);
}

# A session whose server may have died.
sub abandon
{
	my ($session) = @_;

	eval { $session->{run}->kill_kill; 1 } or eval { $session->{run}->finish };
	return;
}

# --- scripts that run on their own ------------------------------------------------

my $scripts = 0;

# Writes a psql script and returns its name.
sub script_of
{
	my ($node, $text) = @_;
	my $file = $node->basedir . '/script_' . ++$scripts;

	open my $handle, '>', $file or die "$file: $!";
	print $handle $text;
	close $handle or die "$file: $!";
	return $file;
}

# Starts psql on it.  It stops at the first error, and when the server is gone.
sub start_script
{
	my ($node, $text, $database) = @_;
	my $file = script_of($node, $text);
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr($database // 'postgres') ],
		'<', \undef, '>', "$file.out", '2>', "$file.err");

	return { run => $run, file => $file };
}

# Waits for its end; returns what it wrote, and its errors.
sub output_of
{
	my ($script) = @_;

	$script->{run}->finish;
	return (slurp_file("$script->{file}.out"), slurp_file("$script->{file}.err"));
}

# --- a crash ------------------------------------------------------------------------

# Process => [ parent, state ] of every process.
sub processes
{
	my %processes;

	if (-r '/proc/self/stat')
	{
		for my $file (glob '/proc/[0-9]*/stat')
		{
			# a process may end meanwhile
			open my $handle, '<', $file or next;
			my $line = <$handle>;
			close $handle;
			$processes{$1} = [ $3, $2 ] if defined $line && $line =~ /^(\d+) \(.*\) (\S) (\d+)/s;
		}
	}
	else
	{
		for (`ps -A -o pid= -o ppid= -o state=`)
		{
			$processes{$1} = [ $2, $3 ] if /(\d+)\s+(\d+)\s+(\S)/;
		}
	}
	return %processes;
}

# Are some of them still there?  A zombie is not: nobody may ever ask for it.
sub any_alive
{
	my %processes = processes();

	return scalar grep { $processes{$_} && $processes{$_}[1] !~ /^[ZX]/ } @_;
}

# kill -9 of every process of the server at once.  The postmaster is stopped
# first, so that it neither starts another process nor cleans up.
sub crash
{
	my ($node) = @_;
	my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');

	kill 'STOP', $postmaster or die "postmaster $postmaster: $!";
	my %processes = processes();
	my @children = grep { $processes{$_}[0] == $postmaster } keys %processes;
	kill 'KILL', @children;
	$node->kill9;
	wait_until(sub { !any_alive($postmaster, @children) }) or die 'the server does not die';
	return;
}

# The lock files name a process that is a zombie where nobody asks for it, or
# somebody else's by now.
sub start_after_crash
{
	my ($node) = @_;

	unlink $node->data_dir . '/postmaster.pid', $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	$node->start;
	return;
}

# Every page of a stopped server.
sub checksums_are_right
{
	my ($node, $name) = @_;

	$node->stop if defined $node->{_pid};
	$node->command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], "$name: page checksums are right");
	return;
}

1;
