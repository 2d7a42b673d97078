# Connections to Redis: how they are made and as whom, how long they are kept,
# and when they are given up.

use strict;
use warnings FATAL => 'all';

use File::Temp;
use IO::Select;
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use Socket;
use Test::More;
use Time::HiRes qw(sleep time);

use PsqlSession;
use RedisClient;
use RedisServer;
use RedisTest;
use ScriptedPeer;

plan skip_all => RedisServer->missing if RedisServer->missing;

# needs quoting wherever it might go
my $password = q{s3cret'"%s\\ word};
my $module = RedisServer::bloom_module();
my $redis = RedisServer->new(port => 1, module => $module);
my $other = RedisServer->new(port => 1, module => $module);
my $locked = RedisServer->new(port => 1, module => $module, password => $password);
my $acl = RedisServer->new(
	port => 1,
	module => $module,
	acl => [
		'user default off', 'user app on >app-secret ~* &* +@all',
		'user reader on >reader-secret ~* &* +@all -bf.insert -set'
	]);
my $node = RedisTest::postgres('connections', 'log_min_messages = debug5');
my $table_number = 0;

sub sql { my @result = RedisTest::run($node, @_); return $result[0]; }
sub error_of { my @result = RedisTest::run($node, @_); return $result[1]; }
sub quoted { return "'" . $_[0] =~ s/'/''/gr . "'"; }

# A server by that name, and a table by that name whose key is 'k'.
sub make
{
	my ($name, %options) = @_;
	my $list = join ', ', map { "$_ " . quoted($options{$_}) } sort keys %options;
	my $error = error_of(<<"SQL");
CREATE SERVER "$name" FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS ($list);
CREATE FOREIGN TABLE "$name" (id integer) SERVER "$name" OPTIONS (key 'k', missing 'empty');
SQL
	is($error, '', "server $name is made");
	return;
}

# Other clients of a server than us.
sub clients
{
	my ($client) = @_;
	my $own = $client->command('CLIENT', 'ID');

	return grep { !/^id=$own / } split /\n/, $client->command('CLIENT', 'LIST');
}

# Wait until there are so many, and say how many there are.
sub count_clients
{
	my ($client, $expected) = @_;
	my $count = -1;

	for (1 .. 500)
	{
		$count = scalar clients($client);
		last if $count == $expected;
		sleep 0.02;
	}
	return $count;
}

my $client = $redis->client;
my $other_client = $other->client;
my $locked_client = $locked->client;

$client->command('BF.ADD', 'k', 1);
$other_client->command('BF.ADD', 'k', 2);
my $which = 'SELECT id FROM tcp WHERE id = ANY (ARRAY[1, 2])';

# --- where ---------------------------------------------------------------------------

make('tcp', host => '127.0.0.1', port => $redis->port);
make('named', host => 'localhost', port => $redis->port);
make('unix', socket => $redis->socket);
is(sql("SELECT (SELECT count(*) FROM $_ WHERE id = 1), (SELECT count(*) FROM $_ WHERE id = 3)"),
	'1|0', "$_: is reached, without a user mapping")
  for 'tcp', 'named', 'unix';
make(q{we""ird'name}, host => '127.0.0.1', port => $redis->port);
is(sql(q{SELECT count(*) FROM "we""ird'name" WHERE id = 1}), 1, 'a name with quotes');

# an idle session, to be looked at when it has been idle for long
my $idle = PsqlSession->new($node);
my $idle_since = time;
is(($idle->run('SELECT count(*) FROM unix WHERE id = 1'))[0], 1, 'a session goes to sleep');
my ($idle_client) = clients($client);

make('db3', socket => $redis->socket, dbname => 3);
sql('INSERT INTO db3 VALUES (7)');
is($client->command('EXISTS', 'k') . sql('SELECT count(*) FROM db3 WHERE id = 7'), '11', 'the database is chosen');
is(sql('SELECT count(*) FROM unix WHERE id = 7'), 0, 'and is another one');
$client->command('SELECT', 3);
is($client->command('EXISTS', 'k'), 1, 'number 3');
$client->command('SELECT', 0);
make('db99', socket => $redis->socket, dbname => 99);
like(error_of('SELECT * FROM db99 WHERE id = 7'),
	qr/ERROR:  Redis server "db99" \(\S+\) refused SELECT\nDETAIL:.*range\nHINT:.*dbname/, 'a database that is not there');

my $free = RedisServer::free_port();
make('refused', host => '127.0.0.1', port => $free);
like(error_of('SELECT * FROM refused WHERE id = 1'),
	qr/ERROR:  could not connect to Redis server "refused" \(127\.0\.0\.1:$free\)\nDETAIL:  Connection refused/, 'nobody is there');
make('nosocket', socket => $redis->folder . '/nobody');
like(error_of('SELECT * FROM nosocket WHERE id = 1'),
	qr/ERROR:  could not connect to Redis server "nosocket" \(\S+nobody\)\nDETAIL:  No such file/, 'no socket');
like(error_of("CREATE SERVER long FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (socket '/" . 'x' x 107 . "')"),
	qr/ERROR:.*"socket".*HINT:  A path of a socket has at most 107 bytes/s, 'a path that is too long is not cut off');

# --- who --------------------------------------------------------------------------------

make('locked', host => '127.0.0.1', port => $locked->port);
make('acl', host => '127.0.0.1', port => $acl->port);
my $mapping = sub {
	my ($server, $user, %options) = @_;
	my $list = join ', ', map { "$_ " . quoted($options{$_}) } sort keys %options;

	return "CREATE USER MAPPING FOR $user SERVER $server OPTIONS ($list);";
};

for my $server ('locked', 'acl')
{
	like(error_of("SELECT * FROM $server WHERE id = 1"),
		qr/ERROR:  Redis server "$server" \(\S+\) refused \w+.*NOAUTH.*HINT:.*CREATE USER MAPPING/s, "$server: needs a password");
}
sql($mapping->('locked', 'CURRENT_USER', password => $password));
is(sql('SELECT count(*) FROM locked WHERE id = 1'), 0, 'a password');
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER locked OPTIONS (SET password 'WRONG-secret')});
my $wrong = error_of('SET client_min_messages = debug5; SELECT * FROM locked WHERE id = 1');
like($wrong, qr/ERROR:  Redis server "locked" \(\S+\) refused AUTH\nHINT:.*password/, 'a wrong password');
unlike($wrong, qr/WRONG-secret/, 'is not repeated');
sql($mapping->('acl', 'PUBLIC', username => 'app', password => 'app-secret'));
is(sql('SELECT count(*) FROM acl WHERE id = 1'), 0, 'a user name, by the public mapping');
sql($mapping->('acl', 'CURRENT_USER', username => 'reader', password => 'reader-secret'));
is(sql('SELECT count(*) FROM acl WHERE id = 1'), 0, "a user's own mapping comes first");
like(error_of('INSERT INTO acl VALUES (1)'),
	qr/ERROR:  Redis server "acl" \(\S+\) refused BF.INSERT for key "k"\nDETAIL:  NOPERM.*HINT:.*ACL SETUSER/s, 'a user who may not');
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER acl OPTIONS (SET username 'nobody')});
like(error_of('SELECT * FROM acl WHERE id = 1'), qr/ERROR:.*refused AUTH\nHINT:.*username/, 'an unknown user');
# a server without users repeats what it is sent
my $simple = ScriptedPeer->new([ [ answer => '*', "-ERR unknown command `AUTH`, with args beginning with: `app`, `app-secret`\r\n" ] ]);
make('simple', host => '127.0.0.1', port => $simple->port);
sql($mapping->('simple', 'PUBLIC', username => 'app', password => 'app-secret'));
my $repeated = error_of('SET client_min_messages = debug5; SELECT * FROM simple WHERE id = 1');
like($repeated, qr/ERROR:  Redis server "simple" \(\S+\) refused AUTH/, 'a server that repeats the password');
unlike($repeated, qr/app-secret/, 'is not quoted');

# more replies than there were keys are replies to something else
my $generous = ScriptedPeer->new([ [ answer => '*', "*3\r\n:1\r\n:1\r\n:1\r\n" ] ]);
make('generous', host => '127.0.0.1', port => $generous->port);
like(error_of('INSERT INTO generous VALUES (1), (2)'), qr/ERROR:  unexpected reply of Redis server "generous" \(\S+\) to BF.INSERT\nDETAIL:  Expected no more replies than keys\./, 'more replies than keys');

# a view searches as its owner
sql(<<"SQL");
CREATE ROLE owner LOGIN; CREATE ROLE guest LOGIN; CREATE ROLE stranger LOGIN;
GRANT USAGE ON FOREIGN SERVER locked TO owner;
@{[ $mapping->('locked', 'owner', password => $password) ]}
GRANT SELECT, INSERT ON locked TO owner, stranger;
GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE VIEW seen AS SELECT id FROM locked;
GRANT SELECT, INSERT ON seen TO guest;
SQL
is(sql('SELECT count(*) FROM seen WHERE id = 1', user => 'guest'), 0, "a view uses its owner's mapping");
is(error_of('INSERT INTO seen VALUES (4)', user => 'guest') . sql('SELECT count(*) FROM seen WHERE id = 4', user => 'guest'), '1', 'so does an INSERT into it');
like(error_of('SELECT * FROM locked WHERE id = 1', user => 'stranger'), qr/NOAUTH/, 'and no other user has it');
sql(<<"SQL");
CREATE TABLE parts (id integer) PARTITION BY LIST (id);
CREATE FOREIGN TABLE part PARTITION OF parts DEFAULT SERVER locked OPTIONS (key 'part');
GRANT INSERT ON parts TO owner;
SET ROLE owner;
CREATE VIEW routed AS SELECT id FROM parts;
GRANT INSERT ON routed TO guest;
SQL
is(error_of('INSERT INTO routed VALUES (5)', user => 'guest'), '', 'an INSERT through a view into a partition uses it too');
is(sql('SELECT count(*) FROM pg_user_mappings WHERE umoptions IS NOT NULL', user => 'guest'), 0, 'others do not see the options of mappings');

# --- how many, and how long ----------------------------------------------------------------

my $session = PsqlSession->new($node);
my $run = sub { my ($out, $error) = $session->run($_[0]); return $out . $error; };

is(count_clients($client, 1), 1, 'sessions that ended left no connection');
$run->("SELECT * FROM unix WHERE id = 1; SELECT * FROM unix WHERE id = 2");
sql("CREATE FOREIGN TABLE unix2 (id integer) SERVER unix OPTIONS (key 'k2'); GRANT ALL ON unix, unix2 TO owner, guest");
$run->('INSERT INTO unix2 VALUES (1); SELECT count(*) FROM unix2 u, unix v WHERE u.id = 1 AND v.id = 1');
is(count_clients($client, 2), 2, 'one connection for all tables of a server');
$run->('SET ROLE guest; SELECT * FROM unix WHERE id = 1; RESET ROLE; SELECT * FROM unix WHERE id = 1');
is(count_clients($client, 3), 3, 'and one for each user');
is($run->('SELECT bloom_redis_disconnect()'), 2, 'disconnect closes them');
is(count_clients($client, 1), 1, 'all of them');
is($run->('SELECT bloom_redis_disconnect()'), 0, 'once');

# the server closes it
is($run->($which), 1, 'a connection');
my ($before) = grep { $_ ne $idle_client } map { /id=(\d+)/ } clients($client);
$client->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
is($run->($which), 1, 'that was killed is made again, silently');
is($run->("BEGIN; SELECT 5; $which; COMMIT"), "5\n1", 'and stays');
my ($after) = map { /id=(\d+)/ } clients($client);
isnt($after, $before, 'it is another one');
$redis->restart;
$client = $redis->client;
$client->command('BF.ADD', 'k', 1);
is($run->($which), 1, 'a server that was started again is found, silently');
is($run->("BEGIN; $which; SELECT pg_sleep(0)"), 1 . "\n", 'in a transaction');
$client->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
is($run->("$which; COMMIT"), 1, 'too');
$redis->stop;
like($run->($which), qr/ERROR:  08001: could not connect to Redis server "tcp" \(127\.0\.0\.1:\d+\)\nDETAIL:  Connection refused/, 'one that is gone is an error');
$redis->start;
$client = $redis->client;
$client->command('BF.ADD', 'k', 1);
is($run->($which), 1, 'until it is back');

# --- changes of the catalogs -----------------------------------------------------------------

my $to_other = 'ALTER SERVER tcp OPTIONS (SET port ' . quoted($other->port) . ')';
my $to_first = 'ALTER SERVER tcp OPTIONS (SET port ' . quoted($redis->port) . ')';

sql($to_other);
is($run->($which), 2, 'ALTER SERVER in another session: the next statement goes to the new place');
is(count_clients($client, 0), 0, 'and the old connection is closed');
is($run->("BEGIN; $which; $to_first; $which; ROLLBACK; $which"), "2\n1\n2", 'the own ALTER SERVER counts at once, and not when it is rolled back');
is($run->("BEGIN; SAVEPOINT s; $to_first; $which; ROLLBACK TO s; $which; COMMIT"), "1\n2", 'in a subtransaction too');
sql($to_first);
is($run->($which), 1, 'back');

sql('DROP USER MAPPING FOR CURRENT_USER SERVER locked');
like($run->('SELECT * FROM locked WHERE id = 1'), qr/NOAUTH/, 'no mapping');
sql($mapping->('locked', 'CURRENT_USER', password => $password));
is($run->('SELECT * FROM locked WHERE id = 1'), '', 'CREATE USER MAPPING');
is(count_clients($locked_client, 1), 1, 'one connection');
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER locked OPTIONS (SET password 'other')});
like($run->('SELECT * FROM locked WHERE id = 1'), qr/refused AUTH/, 'ALTER USER MAPPING');
is(count_clients($locked_client, 0), 0, 'the connection of the old mapping is closed');
sql('DROP USER MAPPING FOR CURRENT_USER SERVER locked; ' . $mapping->('locked', 'PUBLIC', password => $password));
is($run->('SELECT * FROM locked WHERE id = 1'), '', 'DROP USER MAPPING: the public one is left');
sql($mapping->('locked', 'CURRENT_USER', password => 'other'));
like($run->('SELECT * FROM locked WHERE id = 1'), qr/refused AUTH/, 'an own mapping beside a public one');
sql('DROP USER MAPPING FOR CURRENT_USER SERVER locked');
is($run->('SELECT * FROM locked WHERE id = 1'), '', 'and without it again');

is(count_clients($locked_client, 1), 1, 'a connection to the server');
sql('DROP SERVER locked CASCADE');
$run->('SELECT 1');
is(count_clients($locked_client, 0), 0, 'that is dropped');
is($run->($which), 1, 'others stay');

# --- too slow ---------------------------------------------------------------------------------

# a listener that accepts nobody, with more at its door than have room there
{
	my $full = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die;
	my @waiting;

	for (1 .. 20)
	{
		my $socket = IO::Socket::INET->new(PeerHost => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0);

		push @waiting, $socket;
		last if !IO::Select->new($socket)->can_write(1);
	}
	make('full', host => '127.0.0.1', port => $full->sockport, connect_timeout => 300);
	like(error_of('SELECT * FROM full WHERE id = 1'), qr/ERROR:.*syntax/, 'full is a word of SQL');
	like(error_of('SELECT * FROM "full" WHERE id = 1'),
		qr/ERROR:  could not connect to Redis server "full" \(\S+\)\nDETAIL:  The server did not answer in time/, 'connect_timeout');
	sql(q{ALTER SERVER "full" OPTIONS (SET connect_timeout '300000')});
	like(error_of(q{SET statement_timeout = 300; SELECT * FROM "full" WHERE id = 1}),
		qr/ERROR:  canceling statement due to statement timeout/, 'connecting is canceled');
}
# one that accepts and does not answer AUTH
my $mute = ScriptedPeer->new([ ['silence'] ]);
make('mute', host => '127.0.0.1', port => $mute->port, connect_timeout => 300, dbname => 1);
sql($mapping->('mute', 'PUBLIC', username => 'app', password => 'app-secret'));
like(error_of('SELECT * FROM mute WHERE id = 1'),
	qr/ERROR:  lost connection to Redis server "mute" \(\S+\) during AUTH\nDETAIL:  The server did not answer in time/, 'connect_timeout is for AUTH too');
is_deeply([ map { [ @$_[ 1 .. $#$_ ] ] } $mute->received ], [ [ 'AUTH', 'app', 'app-secret' ], [ 'SELECT', '1' ] ], 'which goes first');

# --- TLS ----------------------------------------------------------------------------------------

my $no_tls = error_of(q{CREATE SERVER probe FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (tls 'true')});
SKIP:
{
	if ($no_tls ne '')
	{
		# or nobody would notice that nothing of TLS is tested
		ok(!-e '/usr/include/hiredis/hiredis_ssl.h', 'a build without TLS is for want of its library');
		like($no_tls, qr/ERROR:  TLS is not supported by this build\nHINT:.*hiredis/, 'a build without TLS says so');
		skip 'no TLS in this build', 1;
	}
	require TlsTests;
	TlsTests::run($node, \&make, \&sql, \&error_of);
}

# --- idle ---------------------------------------------------------------------------------------

{
	my $still = PsqlSession->new($node);
	my $pings = sub { return $client->command('INFO', 'commandstats') =~ /cmdstat_ping:calls=(\d+)/ ? $1 : 0; };

	$still->run($which);
	$idle->run($which);
	my ($id) = map { /id=(\d+)/ } clients($client);
	is($pings->(), 1, 'the test itself asked once whether the server is there');
	sleep 10.3;
	is(($still->run($which))[0], 1, 'after a long time');
	is($pings->(), 2, 'a connection is asked whether it still works');
	ok((grep { /^id=$id / } clients($client)), 'and is used again');
	is(($still->run($which))[0], 1, 'soon after');
	is($pings->(), 2, 'it is not asked');
}

# nothing of this was ever told
my $log = slurp_file($node->logfile);
unlike($log, qr/(?<!password ')(?<!password = ')WRONG-secret/, 'no password in the log but in the statement that sets it');
my @lines = grep { /app-secret|s3cret|reader-secret/ && !/USER MAPPING/ } split /\n/, $log;
is_deeply(\@lines, [], 'none of the others');

done_testing();
