# Servers that stall, trickle, break off or talk nonsense, at every place where
# something is waited for: statements end, and the next one works.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

use PsqlSession;
use RedisClient;
use RedisServer;
use RedisTest;
use ScriptedPeer;

plan skip_all => RedisServer->missing if RedisServer->missing;

# Where nothing else ends a statement, the command's timeout of 300 s would.
use constant { LONG => 300_000, SOON => 20 };

my $redis = RedisServer->new(port => 1, module => RedisServer::bloom_module());
my $client = $redis->client;
my $node = RedisTest::postgres('faults');

sub sql { my @result = RedisTest::run($node, @_); return $result[0] . $result[1]; }

sql(<<"SQL");
CREATE SERVER s FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (host '127.0.0.1', port '1', connect_timeout '@{[LONG]}', command_timeout '@{[LONG]}');
CREATE SERVER real FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (socket '@{[$redis->socket]}', command_timeout '@{[LONG]}');
CREATE FOREIGN TABLE t (id integer) SERVER s OPTIONS (key 'k', capacity '100000');
CREATE FOREIGN TABLE bits (id integer) SERVER s OPTIONS (key 'bits', format 'bitmap', capacity '10000');
CREATE FOREIGN TABLE cf (id integer) SERVER s OPTIONS (key 'cf', format 'cuckoo', capacity '10000');
CREATE FOREIGN TABLE real_t (id integer) SERVER real OPTIONS (key 'k', capacity '100000');
CREATE FOREIGN TABLE real_u (id integer) SERVER real OPTIONS (key 'u', capacity '100000');
CREATE FOREIGN TABLE real_cf (id integer) SERVER real OPTIONS (key 'cf', format 'cuckoo', capacity '10000');
CREATE TABLE filters AS SELECT bloom_add_all(bloom_create(100000), ARRAY(SELECT generate_series(1, 1000))) AS f;
INSERT INTO real_t SELECT generate_series(1, 1000);
SELECT bloom_redis_push('real', 'whole', f), bloom_redis_push('real', 'whole_bits', f, 'bitmap') FROM filters;
INSERT INTO real_u VALUES (1);
INSERT INTO real_cf SELECT generate_series(1, 1000);
SQL

# What is asked, how many commands are answered before it goes wrong, the one
# that is waited for then, and the right answer.
my %operations = (
	one => [ 'SELECT count(*) FROM t WHERE id = 1', 3, 'EXEC', 1 ],
	any => [ 'SELECT count(*) FROM t WHERE id = ANY (ARRAY(SELECT generate_series(1, 900)))', 2, 'BF.MEXISTS', 900 ],
	bits => [ 'SELECT count(*) FROM bits WHERE id = -1', 4, 'GETBIT', 0 ],
	insert => [ 'INSERT INTO t SELECT generate_series(1, 5000); SELECT 1', 3, 'BF.INSERT', 1 ],
	bits_insert => [ 'INSERT INTO bits SELECT generate_series(1, 5000); SELECT 1', 3, 'BITFIELD', 1 ],
	push => [ "SELECT bloom_redis_push('s', 'pushed', f) FROM filters", 6, 'BF.LOADCHUNK', '' ],
	pull => [ "SELECT bloom_redis_pull('s', 'whole') = f FROM filters", 1, 'BF.SCANDUMP', 't' ],
	pull_bits => [ "SELECT bloom_bits(bloom_redis_pull_bitmap('s', 'whole_bits', bloom_bits(f), 7)) = bloom_bits(f) FROM filters", 2, 'GETRANGE', 't' ]);
my $session = PsqlSession->new($node);
my $bystander = PsqlSession->new($node);

$client->command('SETBIT', 'bits', 7, 0);

# Rows, then errors.
sub text { my ($sql) = @_; return join "\n", grep { length } $session->run($sql); }

# A server that goes wrong at that place of the first connection and nowhere else.
sub broken_at
{
	my ($operation, @steps) = @_;
	my $good = $operations{$operation}[1];
	my $peer = ScriptedPeer->new([ ($good ? [ relay => $good, $redis ] : ()), @steps ], [ [ relay => '*', $redis ] ]);

	is(text("ALTER SERVER s OPTIONS (SET port '" . $peer->port . "')"), '', "$operation: a server") or die;
	return $peer;
}

sub next_works
{
	my ($test, $operation, $peer) = @_;
	my ($sql, undef, undef, $answer) = @{ $operations{$operation} };
	my $pid = $session->pid;

	is(text("RESET statement_timeout; $sql"), $answer, "$test: the next statement works");
	is($peer->connections, 2, "$test: by a connection of its own");
	is(text('SELECT pg_backend_pid()'), $pid, "$test: in the same session");
	return;
}

my %waiting = (
	silence => [ ['silence'] ],
	stall => [ ['stall'] ],
	trickle => [ [ trickle => '$1000000' . "\r\n" . 'x' x 10000, 20 ] ]);

# --- setting up a connection ----------------------------------------------------------

sql("CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (username 'u', password 'secret')");
for my $case (
	[ 'trickles', 'The server did not answer in time', [ read => 1 ], [ trickle => '+OKOKOK' x 1000, 20 ] ],
	[ 'closes', 'The server closed the connection|Connection reset', ['close'] ],
	[ 'is reset', 'Connection reset by peer|Broken pipe|The server closed', [ read => 1 ], ['reset'] ],
	[ 'talks nonsense', 'Protocol error', [ send => "SSH-2.0-OpenSSH_9.2p1\r\n" ], ['silence'] ])
{
	my ($fault, $reason, @steps) = @$case;
	my $peer = ScriptedPeer->new([@steps]);

	text("ALTER SERVER s OPTIONS (SET port '@{[$peer->port]}', SET connect_timeout '200')");
	my $error = text('SELECT * FROM t WHERE id = 1');
	like($error, qr/ERROR:  08006: lost connection to Redis server "s" \(\S+\) during AUTH\nDETAIL:  .*($reason)/, "a server that $fault when we introduce ourselves");
	unlike($error, qr/secret/, 'no password is told');
}
text("ALTER SERVER s OPTIONS (SET connect_timeout '@{[LONG]}')");
# sessions without a mapping look for a new one after this, so idle ones come later
sql('DROP USER MAPPING FOR PUBLIC SERVER s');

# --- connections that are left idle, for the end of the test ---------------------------

my @sleepers;
for my $case (
	[ 'does not answer', ['silence'], 1 ],
	[ 'trickles', [ trickle => '+PONGPONG' x 1000, 20 ], 1 ],
	[ 'closes when asked', [ read => 1 ], 1 ],
	[ 'closed long ago', ['close'], 1 ],
	[ 'talks nonsense', [ answer => 1, "PONG\r\n" ], 1 ],
	[ 'refuses PING', [ answer => 1, "-NOPERM ping\r\n" ], 1 ],
	[ 'says something unasked', [ send => "+OK\r\n" ], 1 ],
	[ 'does not answer soon', ['silence'], 0 ])
{
	my ($what, $step, $works) = @$case;
	my $peer = ScriptedPeer->new([ [ relay => 4, $redis ], $step, [ sleep => $what =~ /clos/ ? 0 : 100 ] ], [ [ relay => '*', $redis ] ]);
	my $number = @sleepers;

	sql("CREATE SERVER sleeper$number FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (host '127.0.0.1', port '@{[$peer->port]}', "
		  . "connect_timeout '" . ($works ? 300 : LONG) . "', command_timeout '@{[LONG]}');"
		  . "CREATE FOREIGN TABLE sleeper$number (id integer) SERVER sleeper$number OPTIONS (key 'u')");
	my $sleeper = PsqlSession->new($node);
	is(($sleeper->run("SELECT id FROM sleeper$number WHERE id = 1"))[0], 1, "a server that $what");
	push @sleepers, [ $what, $sleeper, $works, $peer ];
}
my $asleep_since = time;

for my $operation (sort keys %operations)
{
	my ($sql, undef, $command) = @{ $operations{$operation} };

	for my $fault (sort keys %waiting)
	{
		# reading nothing matters where much is written
		next if $fault eq 'stall' && $operation !~ /insert|push/;
		my $test = "$operation, $fault";
		my $peer = broken_at($operation, @{ $waiting{$fault} });
		my $start = time;

		like(text("SET statement_timeout = 200; $sql"), qr/ERROR:  57014: canceling statement due to statement timeout/, "$test: statement_timeout");
		cmp_ok(time - $start, '<', SOON, "$test: soon");
		next_works($test, $operation, $peer);
	}
	for my $fault ('silence', 'trickle')
	{
		my $test = "$operation, $fault";
		my $peer = broken_at($operation, @{ $waiting{$fault} });

		text("ALTER SERVER s OPTIONS (SET command_timeout '200')");
		like(text($sql), qr/ERROR:  08006: lost connection to Redis server "s" \(127\.0\.0\.1:@{[$peer->port]}\) during \Q$command\E\nDETAIL:  The server did not answer in time\./, "$test: command_timeout");
		text("ALTER SERVER s OPTIONS (SET command_timeout '@{[LONG]}')");
		next_works($test, $operation, $peer);
	}
	for my $case (
		[ 'breaks off', 'The server closed the connection|Connection reset', [ send => '+' ], ['close'] ],
		[ 'is reset', 'Connection reset by peer|The server closed', [ read => 1 ], ['reset'] ],
		[ 'talks nonsense', 'Protocol error', [ send => "HTTP/1.1 400 Bad Request\r\n" ], ['silence'] ],
		[ 'says too much', 'The reply has more parts', [ send => "*2147483647\r\n" ], ['silence'] ])
	{
		my ($fault, $reason, @steps) = @$case;
		my $peer = broken_at($operation, @steps);

		like(text($sql), qr/ERROR:  08006: lost connection to Redis server "s" \(127\.0\.0\.1:@{[$peer->port]}\) during [A-Z.]+\nDETAIL:  .*($reason)/, "$operation, $fault: an error");
		next_works("$operation, $fault", $operation, $peer);
	}

	# somebody else ends it
	my $peer = broken_at($operation, ['silence']);
	my $waits = sub {
		my ($session) = @_;
		my $event = "SELECT count(*) FROM pg_stat_activity WHERE pid = @{[$session->pid]} AND wait_event_type = 'Extension'";

		return $peer->wait_for(sub { ($bystander->run($event))[0] && $peer->received >= $operations{$operation}[1] });
	};
	$session->start($sql);
	ok($waits->($session), "$operation: waits as an extension");
	$bystander->run("SELECT pg_cancel_backend(@{[$session->pid]})");
	like(($session->finish)[1], qr/ERROR:  57014: canceling statement due to user request/, "$operation: pg_cancel_backend");
	next_works("$operation, canceled", $operation, $peer);

	$peer = broken_at($operation, ['silence']);
	my $victim = PsqlSession->new($node);
	my $start = time;
	$victim->start($sql);
	ok($waits->($victim), "$operation: waits again");
	$bystander->run("SELECT pg_terminate_backend(@{[$victim->pid]}, 60000)");
	like(($victim->finish)[1], qr/FATAL:  57P01: terminating connection/, "$operation: pg_terminate_backend");
	cmp_ok(time - $start, '<', SOON, "$operation: soon");
}

# --- a server that is stopped -----------------------------------------------------------

text("ALTER SERVER s OPTIONS (SET port '@{[$redis->port]}', SET connect_timeout '@{[LONG]}')");
for my $operation (sort keys %operations)
{
	my ($sql, undef, undef, $answer) = @{ $operations{$operation} };

	is(text($sql), $answer, "$operation: works") for 1 .. 2;
	$redis->pause;
	my $start = time;
	like(text("SET statement_timeout = 200; $sql"), qr/ERROR:  57014: canceling statement due to statement timeout/, "$operation: a server that is stopped");
	cmp_ok(time - $start, '<', SOON, "$operation: soon");
	$redis->resume;
	is(text("RESET statement_timeout; $sql"), $answer, "$operation: and goes on");
}
# more than all buffers hold
$redis->pause;
like(text("SET statement_timeout = 500; INSERT INTO t SELECT generate_series(1, 3000000)"), qr/57014/, 'a long INSERT');
like(text("SELECT bloom_redis_push('s', 'pushed', bloom_create(30000000))"), qr/57014/, 'a long push');
$redis->resume;
is(text('RESET statement_timeout; SELECT count(*) FROM t WHERE id = ANY (ARRAY[1, -5])'), 1, 'after them');

# --- no reply is another's -------------------------------------------------------------------

text('SELECT bloom_redis_disconnect()');
$client->command('DEL', 'k');
is(text(<<'SQL') =~ s/\n(ERROR|LOCATION).*//gr, "0\n0\n\n1", 'an INSERT that is aborted in the middle, more than once');
INSERT INTO real_t VALUES (0);
BEGIN;
SAVEPOINT a;
INSERT INTO real_t SELECT CASE WHEN i = 3000 THEN 1 / (i - 3000) ELSE i END FROM generate_series(1, 5000) i;
ROLLBACK TO a;
SELECT id FROM real_t WHERE id = ANY (ARRAY[0, -1, -2]);
INSERT INTO real_t SELECT CASE WHEN i = 3000 THEN 1 / (i - 3000) ELSE i END FROM generate_series(1, 5000) i;
ROLLBACK TO a;
SELECT id FROM real_t WHERE id = ANY (ARRAY[0, -1]);
SELECT bloom_redis_push('real', 'pushed', bloom_create(100));
INSERT INTO real_t VALUES (5001);
COMMIT;
SELECT count(*) FROM real_t WHERE id = ANY (ARRAY[5001, -7]);
SQL
text(<<'SQL');
CREATE FUNCTION insert_some(n integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO real_t SELECT CASE WHEN i = n THEN 1 / (i - n) ELSE n * 10000 + i END FROM generate_series(1, 5000) i;
	RETURN 'done';
EXCEPTION WHEN division_by_zero THEN
	RETURN (SELECT count(*) FROM real_t WHERE id = ANY (ARRAY[n * 10000 + 1, n * 10000 + n - 1, -1, -2]));
END $$;
SQL
is(text('SELECT insert_some(600), insert_some(2000), insert_some(6000)'), '1|1|done', 'and in a block that catches it: the first batch was sent, the last was not');

# --- two statements and one connection ---------------------------------------------------------

is(text("INSERT INTO real_t SELECT i FROM generate_series(10001, 12000) i WHERE (SELECT count(*) FROM real_u WHERE id = i) >= 0; SELECT count(*) FROM real_t WHERE id = ANY (ARRAY(SELECT generate_series(10001, 12000)))"),
	2000, 'a query that asks another filter about each row that it inserts');
is(text('INSERT INTO real_t SELECT i + 0 * bloom_redis_disconnect() FROM generate_series(20001, 23000) i; SELECT count(*) FROM real_t WHERE id = ANY (ARRAY(SELECT generate_series(20001, 23000)))'),
	3000, 'a load keeps its connection');
is(text(<<'SQL') =~ s/\n(ERROR|LOCATION).*//gr, "1\n2\n3\n4\n5\n900", 'a cursor beside other statements');
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM real_t WHERE id = ANY (ARRAY(SELECT generate_series(1, 900)));
FETCH 2 FROM c;
INSERT INTO real_t SELECT generate_series(30001, 32000);
FETCH 1 FROM c;
SAVEPOINT a;
INSERT INTO real_t SELECT i / (i - 31000) FROM generate_series(30001, 32000) i;
ROLLBACK TO a;
FETCH 2 FROM c;
MOVE ALL FROM c;
SELECT count(*) FROM real_t WHERE id = ANY (ARRAY(SELECT generate_series(1, 900)));
COMMIT;
SQL
is(text(<<'SQL'), '5000|5000', 'two loads take turns');
CREATE TABLE parts (id integer) PARTITION BY LIST ((id % 2));
ALTER FOREIGN TABLE real_t OPTIONS (SET key 'even');
CREATE FOREIGN TABLE even PARTITION OF parts FOR VALUES IN (0) SERVER real OPTIONS (key 'even', capacity '100000');
CREATE FOREIGN TABLE odd PARTITION OF parts FOR VALUES IN (1) SERVER real OPTIONS (key 'odd', capacity '100000');
INSERT INTO parts SELECT generate_series(1, 10000);
SELECT (SELECT count(*) FROM even WHERE id = ANY (ARRAY(SELECT generate_series(2, 10000, 2)))),
	(SELECT count(*) FROM odd WHERE id = ANY (ARRAY(SELECT generate_series(1, 10000, 2))));
SQL

# a filter fills up while a function asks for something else and hides the error
text(<<'SQL');
CREATE FOREIGN TABLE small (id integer) SERVER real OPTIONS (key 'small', capacity '600', nonscaling 'true');
CREATE FUNCTION look(n integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF n = 1000 THEN
		PERFORM 1 FROM real_u WHERE id = n;
	END IF;
	RETURN n;
EXCEPTION WHEN others THEN
	RETURN n;
END $$;
SQL
like(text('INSERT INTO small SELECT look(i) FROM generate_series(1, 1010) i'),
	qr/ERROR:  HV000: cannot go on filling filter "small"\nDETAIL:  An error of an earlier command was caught/, 'keys are not lost in silence');
is(text('SELECT count(*) FROM real_u WHERE id = ANY (ARRAY[1, 2])'), 1, 'and the connection is good');

# --- deletes are sent when nothing can be undone ---------------------------------------------------

sub delete_case
{
	my ($test, $timeout, @steps) = @_;
	my $peer = ScriptedPeer->new([ [ relay => 4, $redis ], @steps ], [ [ relay => '*', $redis ] ]);

	text("ALTER SERVER s OPTIONS (SET port '@{[$peer->port]}', SET command_timeout '$timeout')");
	text('CREATE TABLE IF NOT EXISTS done (test text)');
	$session->start("BEGIN; DELETE FROM cf WHERE id = 5; INSERT INTO done VALUES ('$test'); COMMIT");
	if ($test =~ /canceled/)
	{
		$peer->wait_for(sub { $peer->received >= 5 });
		$bystander->run("SELECT pg_cancel_backend(@{[$session->pid]})");
	}
	my ($out, $error) = $session->finish;
	like($error, qr/WARNING:.*1 of 1 deleted keys could not be removed from their filters in Redis/, "$test: a warning");
	unlike($error, qr/ERROR/, "$test: no error");
	is(text("SELECT count(*) FROM done WHERE test = '$test'"), 1, "$test: the transaction has committed");
	is(text('SELECT count(*) FROM cf WHERE id = 5'), 1, "$test: and the connection is a new one");
	return;
}
delete_case('no answer to a delete', 200, ['silence']);
delete_case('a delete that is canceled', LONG, ['silence']);
delete_case('a delete that breaks off', LONG, [ read => 1 ]);
delete_case('nonsense for a delete', LONG, [ answer => 1, "+OK\r\n" ], ['silence']);

# --- after a long time -------------------------------------------------------------------------------

{
	my $rest = 10.3 - (time - $asleep_since);

	sleep $rest if $rest > 0;
}
for my $number (0 .. $#sleepers)
{
	my ($what, $sleeper, $works, $peer) = @{ $sleepers[$number] };
	my ($out, $error) = $sleeper->run(($works ? '' : 'SET statement_timeout = 300; ') . "SELECT id FROM sleeper$number WHERE id = 1");

	if ($works) { is("$out$error", 1, "after a long time, a server that $what: a new connection"); }
	else { like($error, qr/57014: canceling statement due to statement timeout/, "after a long time, a server that $what: is not waited for"); }
	is($peer->connections, $works ? 2 : 1, 'how many connections there were');
}

unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal|TRAP/, 'nothing crashed');
done_testing();
