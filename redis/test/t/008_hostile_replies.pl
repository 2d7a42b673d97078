# Replies that no Redis would send: thousands of conversations that were good
# once and then got broken, and some that try to fill the memory.  All of them
# are errors that say so, or right answers; nothing crashes.

use strict;
use warnings FATAL => 'all';

use IO::Select;
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;

use PsqlSession;
use RedisClient;
use RedisServer;
use RedisTest;

plan skip_all => RedisServer->missing if RedisServer->missing;

# Conversations of each kind; the first is as it was.
use constant CASES => $ENV{HOSTILE_CASES} // 400;

my $redis = RedisServer->new(module => RedisServer::bloom_module());
my $client = $redis->client;
my $node = RedisTest::postgres('hostile');
my @peers;

END
{
	local ($?, $!);
	kill 'KILL', @peers;
}

# Serve one connection after the other by a function of its number and socket.
sub serve
{
	my ($function) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16) or die "listen: $!\n";
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0)
	{
		@peers = ();
		@SIG{ 'INT', 'TERM', 'HUP' } = ('DEFAULT') x 3;
		local $SIG{PIPE} = 'IGNORE';
		for (my $number = 0; my $socket = $listener->accept; $number++)
		{
			eval { $function->($number, $socket); 1 } or print STDERR "peer: $@";
			close $socket;
		}
		POSIX::_exit(0);
	}
	push @peers, $pid;
	return $listener->sockport;
}

# --- good conversations ----------------------------------------------------------------

# Pass everything on, and keep what the server says.
sub record_into
{
	my ($file) = @_;

	return sub {
		my ($number, $socket) = @_;
		my $server = IO::Socket::UNIX->new(Peer => $redis->socket) or die "redis: $!\n";
		my $both = IO::Select->new($socket, $server);

		open my $record, '>', $file or die "$file: $!\n";
		binmode $record;
		while (1)
		{
			for my $from ($both->can_read)
			{
				sysread($from, my $bytes, 1 << 20) or return;
				my $to = $from == $socket ? $server : $socket;
				while (length $bytes)
				{
					my $sent = syswrite($to, $bytes) // return;
					if ($from == $server) { syswrite $record, substr $bytes, 0, $sent; }
					substr $bytes, 0, $sent, '';
				}
			}
		}
	};
}

sub set_up
{
	my ($name, $port) = @_;

	$node->safe_psql('postgres', <<"SQL");
DROP SERVER IF EXISTS s CASCADE;
CREATE SERVER s FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (host '127.0.0.1', port '$port', dbname '1', command_timeout '60000');
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (username 'default', password 'x');
CREATE FOREIGN TABLE bf (id integer) SERVER s OPTIONS (key 'bf', capacity '10000');
CREATE FOREIGN TABLE bits (id integer) SERVER s OPTIONS (key 'bits', format 'bitmap', capacity '10000', ttl '1 hour');
CREATE FOREIGN TABLE cf (id integer) SERVER s OPTIONS (key 'cf', format 'cuckoo', capacity '10000', bucket_size '4');
SQL
	return;
}

# Values that were pulled and accepted must be good for everything.
my $used = <<'SQL';
SELECT row_to_json(bloom_info(f)), f::bytea::TYPE = f, f @> 'x', bloom_count(f), bloom_fill(f), bloom_fpr(f), bloom_contains_each(f, ARRAY[1, 2, 3]),
	bloom_add(f, 'x') @> 'x', bloom_info(bloom_clear(f)), bloom_add_all(f, ARRAY(SELECT generate_series(1, 300))) @> 300, f | f = f FROM PULL AS f OFFSET 0
SQL
sub pulled { my ($type, $pull) = @_; return $used =~ s/TYPE/$type/r =~ s/PULL/$pull/r; }

my @operations = (
	[ one => 'SELECT count(*) FROM bf WHERE id = 1' ],
	[ any => 'SELECT count(*) FROM bf WHERE id = ANY (ARRAY(SELECT generate_series(1, 20)))' ],
	[ insert => 'INSERT INTO bf SELECT generate_series(1, 1200)' ],
	[ bits_one => 'SELECT count(*) FROM bits WHERE id = 1' ],
	[ bits_any => 'SELECT count(*) FROM bits WHERE id = ANY (ARRAY[1, 2, 3])' ],
	[ bits_insert => 'INSERT INTO bits SELECT generate_series(1, 300)' ],
	[ cf_any => 'SELECT count(*) FROM cf WHERE id = ANY (ARRAY[1, 2])' ],
	[ cf_insert => 'INSERT INTO cf SELECT generate_series(1, 600)' ],
	[ push => "SELECT bloom_redis_push('s', 'p', bloom_create(100))" ],
	[ push_chain => "SELECT bloom_redis_push('s', 'c', bloom_add_all(scalable_bloom_create(10), ARRAY(SELECT generate_series(1, 100))), ttl => '1 hour')" ],
	[ push_bits => "SELECT bloom_redis_push('s', 'b', bloom_create(100), 'bitmap')" ],
	[ pull => pulled('bloom', "bloom_redis_pull('s', 'p')") ],
	[ pull_chain => pulled('scalable_bloom', "scalable_bloom_redis_pull('s', 'c')") . ', bloom_layers(f)' ],
	[ pull_bits => pulled('bloom', "bloom_redis_pull_bitmap('s', 'b', 960, 7)") ],
	[ unlink => "SELECT bloom_redis_unlink('s', 'nothing')" ]);
my %good;
my %statement;

$client->command('ACL', 'SETUSER', 'default', 'on', '>x', 'nopass');
{
	my $file = PostgreSQL::Test::Utils::tempdir() . '/record';

	set_up('record', serve(record_into($file)));
	# what the searches find
	$node->safe_psql('postgres', "INSERT INTO $_ VALUES (1)") for 'bf', 'bits', 'cf';
	for my $operation (@operations)
	{
		my ($name, $sql) = @$operation;

		$sql =~ s/ FROM (.*) OFFSET 0\n(.*)\z/$2 FROM $1 OFFSET 0/s;
		$statement{$name} = $sql;
		$node->safe_psql('postgres', $sql);
		$good{$name} = slurp_file($file);
		cmp_ok(length $good{$name}, '>', 5, "$name: a conversation");
	}
}

# --- bad ones -----------------------------------------------------------------------------

# Replies one after the other, an array's elements after its length.
sub tokens
{
	my ($bytes) = @_;
	my @tokens;

	while ($bytes =~ /\G(.)([^\r]*)\r\n/gcs)
	{
		my ($type, $rest) = ($1, $2);
		my $token = "$type$rest\r\n";

		if ($type eq '$' && $rest ne '-1')
		{
			my $at = pos $bytes;
			return (@tokens, $token) if $rest !~ /\A\d{1,9}\z/ || $at + $rest + 2 > length $bytes;
			$token .= substr $bytes, $at, $rest + 2;
			pos($bytes) = $at + $rest + 2;
		}
		push @tokens, $token;
	}
	return @tokens;
}

sub bulk { return '$' . length($_[0]) . "\r\n$_[0]\r\n"; }
sub one_of { return $_[ int rand @_ ]; }

my @strange = (
	"\$2147483647\r\n", "\$9223372036854775807\r\n", "\$-1\r\n", "\$-2\r\n", "\$0\r\n\r\n", "\$3\r\nabcde",
	"*2147483647\r\n", "*1000000000\r\n", "*1000001\r\n", "*4294967297\r\n", "*9223372036854775807\r\n", "*2305843009213693953\r\n",
	"*-1\r\n", "*-2\r\n", "*0\r\n", "*x\r\n", "*1\r\n" x 9 . ":1\r\n", "*2\r\n" x 40, "*1\r\n" x 200000,
	":9223372036854775807\r\n", ":-9223372036854775808\r\n", ":99999999999999999999\r\n", ":0\r\n", ":1\r\n", ":-1\r\n", ":\r\n",
	"+OK\r\n", "+QUEUED\r\n", "+none\r\n", "+string\r\n", "+MBbloom--\r\n", "+\r\n", '+' . 'x' x 100000 . "\r\n", "+O\0K\r\n",
	"-ERR not found\r\n", "-\r\n", "-OOM command not allowed\r\n", "-LOADING\r\n", '-' . "\xff\x00\x1b" x 1000 . "\r\n", "-EXECABORT x\r\n", "-MOVED 1 x:1\r\n",
	"_\r\n", "#t\r\n", "#\r\n", ",1.5\r\n", ",nan\r\n", ",\r\n", "(123\r\n", "=15\r\ntxt:Some string\r\n", "=1\r\nx\r\n", "%1\r\n+a\r\n:1\r\n", "%4611686018427387905\r\n",
	"~1\r\n:1\r\n", ">2\r\n+message\r\n+x\r\n", "|1\r\n+a\r\n:1\r\n", "!3\r\nERR\r\n", "\r\n", "\0", 'HTTP/1.1 400 Bad Request', "\r\r\n\n");

# What the fields of a dump's header might be.
my @fields = map { pack 'Q<', $_ } 0, 1, 2, 7, 8, 64, 255, 256, 4294967295, 4294967296, 4294967304, 1 << 40, 1 << 62, ~0, ~0 >> 1;
push @fields, map { pack 'd<', $_ } 0, -1, 1, 0.5, 0.25, 1e-300, 5e-324, 1e300, 9**9**9, -sin(9**9**9);

sub break_number
{
	my ($token) = @_;

	$token =~ s/(-?\d+)/one_of($1 + 1, $1 - 1, $1 * 2, -$1, 0, 1, 2147483648, 4294967296 + $1)/e;
	return $token;
}

# Other bytes, or more or fewer of them, with a length that is true.
sub break_bulk
{
	my ($token) = @_;
	my ($data) = $token =~ /\A\$\d+\r\n(.*)\r\n\z/s or return break_number($token);
	my $how = int rand 6;

	if ($how == 0 || length $data < 20) { $data .= "\xff" x one_of(1, 8, 53, 100000); }
	elsif ($how == 1) { $data = substr $data, 0, int rand length $data; }
	elsif ($how == 2) { substr($data, int rand length $data, 1) = chr int rand 256; }
	elsif ($how == 3) { substr($data, int rand(length($data) - 8), 8) = one_of(@fields); }
	else
	{
		# where the header's fields are
		my $at = one_of(0, 8, 12, 16, 20, 28, 36, 44, 52, 60, 64, 72);
		my $width = $at == 8 || $at == 12 || $at == 16 || $at == 60 ? 4 : $at == 72 ? 1 : 8;

		substr($data, $at, $width) = substr one_of(@fields), 0, $width if length $data >= $at + 8;
	}
	return bulk($data);
}

sub broken
{
	my ($good) = @_;

	for (1 .. one_of(1, 1, 1, 2, 3))
	{
		my @tokens = tokens($good);
		my $at = int rand @tokens;
		my $how = int rand 11;
		my @bulks = grep { $tokens[$_] =~ /\A\$\d/ } 0 .. $#tokens;

		return substr $good, 0, int rand(1 + length $good) if !@tokens || $how == 0;
		if ($how == 1) { substr($good, int rand length $good, 1) = chr int rand 256; next; }
		elsif ($how == 2) { splice @tokens, $at, 1; }
		elsif ($how == 3) { splice @tokens, $at, 0, $tokens[$at]; }
		elsif ($how == 4) { $tokens[$at] = one_of(@strange); }
		elsif ($how == 5) { splice @tokens, $at, 0, one_of(@strange); }
		elsif ($how == 6) { $tokens[$at] = break_number($tokens[$at]); }
		elsif ($how == 7) { my $other = int rand @tokens; @tokens[ $at, $other ] = @tokens[ $other, $at ]; }
		else { $at = @bulks ? one_of(@bulks) : $at; $tokens[$at] = break_bulk($tokens[$at]); }
		$good = join '', @tokens;
	}
	return $good;
}

# All of a conversation at once and then the end of it, so nobody waits.
sub say_all
{
	my ($socket, $bytes) = @_;

	while (length $bytes)
	{
		my $sent = syswrite($socket, $bytes) // return;
		substr $bytes, 0, $sent, '';
	}
	shutdown $socket, 1;
	while (sysread $socket, my $ignored, 1 << 20) { }
	return;
}

my $session = PsqlSession->new($node);
my $pid = $session->pid;
my $memory = sub {
	my ($what) = @_;

	return -r "/proc/$pid/status" && slurp_file("/proc/$pid/status") =~ /^$what:\s+(\d+) kB/m ? $1 / 1024 : 0;
};

$session->run(<<'SQL');
CREATE TABLE outcomes (operation text, number integer, state text, message text);
CREATE PROCEDURE try(operation text, cases integer, statement text) LANGUAGE plpgsql AS $$
BEGIN
	FOR number IN 0 .. cases - 1 LOOP
		PERFORM bloom_redis_disconnect();
		BEGIN
			EXECUTE statement;
			INSERT INTO outcomes VALUES (operation, number, '00000', '');
		EXCEPTION WHEN others THEN
			INSERT INTO outcomes VALUES (operation, number, SQLSTATE, SQLERRM);
		END;
	END LOOP;
END $$;
SQL

sub try
{
	my ($name, $cases, $function) = @_;

	set_up($name, serve($function));
	my ($out, $error) = $session->run("CALL try('$name', $cases, \$call\$$statement{$name}\$call\$)");
	is($error, '', "$name: the session survives");
	return;
}

# What a reply may be told to be; never an internal error.
my %sane = map { $_ => 1 } (
	'00000', '08006', 'HV000', 'HV004', '42704', '42809', '42501', '0A000', '53200', '54000', '55006', '57P03', '28000', '28P01');
my $name_number = 0;

for my $operation (@operations)
{
	my ($name) = @$operation;
	my $good = $good{$name};
	my $seed = 1000 * ++$name_number;

	try($name, CASES, sub {
		my ($number, $socket) = @_;

		srand $seed + $number;
		say_all($socket, $number == 0 ? $good : broken($good));
	});
	my ($out) = $session->run("SELECT number, state, message FROM outcomes WHERE operation = '$name' ORDER BY number");
	my @outcomes = map { [ split /\|/, $_, 3 ] } split /\n/, $out;

	is(scalar @outcomes, CASES, "$name: as many outcomes as cases");
	is($outcomes[0][1], '00000', "$name: the good conversation is good") or diag($outcomes[0][2]);
	cmp_ok(scalar(grep { $_->[1] ne '00000' } @outcomes), '>', CASES / 4, "$name: many others are errors");
	is_deeply([ grep { !$sane{ $_->[1] } } @outcomes ], [], "$name: errors are those of a server that cannot be trusted");
	diag("$name: " . join ' ', map { my $state = $_; "$state=" . grep { $_->[1] eq $state } @outcomes } sort keys %{ { map { $_->[1] => 1 } @outcomes } })
	  if $ENV{HOSTILE_SHOW};
}

# --- more than anybody wants ----------------------------------------------------------------

my $introduced = "+OK\r\n+OK\r\n";
my $before = $memory->('VmRSS');

# A header of one link of so many bytes.
sub header
{
	my ($bytes) = @_;

	return pack 'Q<L<L<L<Q<Q<Q<d<d<L<Q<C', 1, 1, 13, 2, $bytes, $bytes * 8, 1, 0.01, 9.585, 7, 1000, 0;
}

for my $case (
	[ one => 'numbers without end', '*1000000' . "\r\n", ":1\r\n" x 10000 ],
	[ one => 'an array of large strings', "*1000\r\n", bulk('x' x 1_000_000) ],
	[ one => 'arrays in arrays without end', "*1000\r\n", "*1000\r\n" . ":1\r\n" x 1000 ],
	[ one => 'a line without end', '+', 'x' x 100000 ],
	[ one => 'a string that is announced too long', "\$500000000\r\n", 'x' x 100000 ],
	[ one => 'depth without end', '', "*1\r\n" x 10000 ],
	[ push => 'statuses without end', '', "+none\r\n" x 10000 ],
	[ pull => 'a chunk that is longer than the filter', "*2\r\n:1\r\n" . bulk(header(1000)) . "*2\r\n:20000001\r\n", bulk('x' x 20_000_000) ],
	[ pull => 'chunks without end', "*2\r\n:1\r\n" . bulk(header(1000)), "*2\r\n:501\r\n" . bulk('x' x 500) . "*2\r\n:1001\r\n" . bulk('x' x 500) ],
	[ pull_bits => 'a range that is longer than asked for', ":1\r\n:120\r\n", bulk('x' x 1_000_000) ])
{
	my ($name, $what, $start, $rest) = @$case;

	set_up($name, serve(sub {
		my ($number, $socket) = @_;
		my $bytes = $introduced . $start;

		while (1)
		{
			while (length $bytes)
			{
				my $sent = syswrite($socket, $bytes) // return;
				substr $bytes, 0, $sent, '';
			}
			$bytes = $rest;
		}
	}));
	my ($out, $error) = $session->run("SELECT bloom_redis_disconnect(); $statement{$name}; SELECT bloom_redis_disconnect()");
	like($error, qr/ERROR:  (08006|HV004)/, "$what: an error");
}
SKIP:
{
	skip 'no /proc', 3 if !$before;

	# a reply of 32 MiB, a million elements, a chunk that is copied
	cmp_ok($memory->('VmHWM'), '<', $before + 400, 'no reply takes more memory than a reply may');
	cmp_ok($memory->('VmRSS'), '<', $before + 100, 'and it is given back');
	my $leaks = sub {
		try('any', 300, sub { my ($number, $socket) = @_; say_all($socket, substr $good{any}, 0, -1 - $number % 60); });
		return $memory->('VmRSS');
	};
	my $first = $leaks->();
	cmp_ok($leaks->(), '<', $first + 20, 'broken replies leave nothing behind');
}

is($session->pid, ($session->run('SELECT pg_backend_pid()'))[0], 'all of it in one session');
unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal|TRAP/, 'nothing crashed');
done_testing();
