# What the other tests stand on: throw-away servers and the scripted peer.

use strict;
use warnings FATAL => 'all';

use File::Basename 'dirname';
use Test::More;
use Time::HiRes 'time';

use lib dirname(__FILE__) . '/..';
use RedisClient;
use RedisServer;
use ScriptedPeer;

plan skip_all => RedisServer->missing if RedisServer->missing;

sub error_of
{
	my ($redis, @command) = @_;
	my $reply = eval { $redis->try(@command) };

	return $@ || (is_error($reply) ? $reply->{message} : "no error: $reply");
}

my $server = RedisServer->new(password => 'secret', port => 1);

subtest 'a server with a password and a port' => sub {
	my $redis = RedisClient->new(port => $server->port);

	like(error_of($redis, 'PING'), qr/^NOAUTH /, 'the password is wanted');
	is($redis->command('AUTH', 'secret'), 'OK', 'and taken');
	is($redis->command('SET', 'a', "x\r\n\0y"), 'OK', 'any bytes');
	is($server->client->command('GET', 'a'), "x\r\n\0y", 'come back');
	$redis->send('ECHO', $_) for 1 .. 1000;
	is_deeply([ map { scalar $redis->receive } 1 .. 1000 ], [ 1 .. 1000 ], 'a pipeline');
	is_deeply($redis->command('EVAL', 'return {1, {"a", false}, {}}', 0), [ 1, [ 'a', undef ], [] ], 'nested');
};

subtest 'users, memory, replicas' => sub {
	my $acl = RedisServer->new(
		acl => [ 'user default on nopass ~* +@all', 'user app on >word ~app:* +get +set' ]);
	my $redis = $acl->client;

	like(error_of($redis, 'AUTH', 'app', 'wrong'), qr/^WRONGPASS /, 'a wrong password');
	is($redis->command('AUTH', 'app', 'word'), 'OK', 'the right one');
	like(error_of($redis, 'GET', 'b'), qr/^NOPERM /, 'not every key');
	is($redis->command('GET', 'app:b'), undef, 'a key of its own');

	my $small = RedisServer->new(maxmemory => '100kb');
	like(error_of($small->client, 'SET', 'a', 'b'), qr/^OOM /, 'no memory');

	my $master = RedisServer->new(port => 1);
	my $replica = RedisServer->new(replica_of => $master);
	like(error_of($replica->client, 'SET', 'a', 'b'), qr/^READONLY /, 'a replica');
};

subtest 'a server that stops' => sub {
	my $other = RedisServer->new;

	$other->client->command('SET', 'a', 'b');
	$other->pause;
	like(error_of(RedisClient->new(socket => $other->socket, timeout => 0.5), 'PING'),
		qr/does not answer/, 'paused');
	$other->resume;
	is($other->client->command('DBSIZE'), 1, 'resumed');
	$other->restart;
	is($other->client->command('DBSIZE'), 0, 'restarted, empty');
	$other->kill('KILL');
	ok(!eval { $other->client }, 'killed');
	my $folder = $other->folder;
	undef $other;
	ok(!-e $folder, 'nothing is left');
};

SKIP:
{
	my @programs = grep { !RedisServer::in_path($_) } 'openssl', 'redis-cli';

	skip "there is no $programs[0]", 1 if @programs;
	subtest 'TLS' => sub {
		my $tls = eval { RedisServer->new(tls => 1, tls_auth => 'yes') };

		plan skip_all => 'redis-server is without TLS' if !$tls && $@ =~ /tls-port/;
		my $command = 'redis-cli --tls -p ' . $tls->tls_port . ' --cacert ' . $tls->tls_file('ca.crt');
		my $certificate = ' --cert ' . $tls->tls_file('client.crt') . ' --key ' . $tls->tls_file('client.key');

		is(qx{$command $certificate PING 2>&1}, "PONG\n", 'with a certificate');
		isnt(qx{$command PING 2>&1}, "PONG\n", 'without');
	};
}

subtest 'the scripted peer' => sub {
	my $peer = ScriptedPeer->new(
		[ [ answer => 2, { AUTH => "+OK\r\n", '*' => ":7\r\n" } ], ['stall'] ],
		[ [ relay => 2, $server, { cut => 4 } ] ],
		[ [ relay => 1, $server, { trickle => 5 } ], [ read => 1 ], ['reset'] ],
		[ [ trickle => "+PONG\r\n", 20 ], ['silence'] ]);
	my $connect = sub { return RedisClient->new(port => $peer->port, timeout => 2); };

	my $redis = $connect->();
	is($redis->command('AUTH', "a\0b"), 'OK', 'answered by name');
	is($redis->command('SELECT', 3), 7, 'answered else');
	like(error_of($redis, 'PING'), qr/does not answer/, 'stalled');

	# the first one still stalls
	$redis = $connect->();
	is($redis->command('SET', 'k', 'value'), 'OK', 'relayed');
	like(error_of($redis, 'GET', 'k'), qr/closed the connection/, 'cut');

	$redis = $connect->();
	my $start = time;
	is($redis->command('GET', 'k'), 'value', 'relayed slowly');
	cmp_ok(time - $start, '>=', 0.05, 'indeed');
	like(error_of($redis, 'PING'), qr/reset by peer/, 'reset');

	$redis = $connect->();
	$start = time;
	is($redis->command('PING'), 'PONG', 'a byte at a time');
	cmp_ok(time - $start, '>=', 0.1, 'indeed');
	like(error_of($redis, 'PING'), qr/does not answer/, 'silent');

	ok($peer->wait_for(sub { $peer->received == 8 }), 'all is recorded');
	is($peer->connections, 4, 'connections');
	is_deeply(
		[ sort { $a->[0] <=> $b->[0] } $peer->received ],
		[
			[ 1, 'AUTH', "a\0b" ], [ 1, 'SELECT', 3 ], [ 2, 'SET', 'k', 'value' ], [ 2, 'GET', 'k' ],
			[ 3, 'GET', 'k' ], [ 3, 'PING' ], [ 4, 'PING' ], [ 4, 'PING' ]
		],
		'what was received');
	$peer->stop;
	ok(!eval { $connect->() }, 'stopped');
};

done_testing();
