# Foreign tables over a real Redis: every format, filling and searching, and
# what Redis may answer instead.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Utils;
use Test::More;

use PsqlSession;
use RedisClient;
use RedisServer;
use RedisTest;
use ScriptedPeer;

plan skip_all => RedisServer->missing if RedisServer->missing;

my $redis = RedisServer->new(module => RedisServer::bloom_module());
my $client = $redis->client;
my $node = RedisTest::postgres('tables');

RedisTest::add_server($node, 'redis', $redis);

sub value
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

sub error_of
{
	my ($sql) = @_;
	my ($out, $error) = RedisTest::run($node, $sql);

	return $error;
}

# --- filling and searching, in each format --------------------------------------

value(<<'SQL');
CREATE FOREIGN TABLE plain (id bigint) SERVER redis OPTIONS (key 'plain', capacity '20000', error_rate '0.001');
CREATE FOREIGN TABLE bitmap (id bigint) SERVER redis OPTIONS (key 'bitmap', format 'bitmap', capacity '20000', error_rate '0.001');
CREATE FOREIGN TABLE fnv (id bigint) SERVER redis OPTIONS (key 'fnv', format 'bitmap', bits '287552', hashes '10', hash 'fnv1a');
CREATE FOREIGN TABLE cuckoo (id bigint) SERVER redis OPTIONS (key 'cuckoo', format 'cuckoo', capacity '40000', bucket_size '4');
CREATE TABLE numbers AS SELECT generate_series(1, 20000)::bigint AS id;
SQL

for my $table ('plain', 'bitmap', 'fnv', 'cuckoo')
{
	# several batches and a rest
	value("INSERT INTO $table SELECT id FROM numbers WHERE id <= 10000");
	is(value("SELECT count(*) FROM $table WHERE id = ANY (ARRAY(SELECT id FROM numbers WHERE id <= 10000))"),
		10000, "$table: every key is found by ANY");
	# 10 expected at 0.1 %, fewer bits set than that; cuckoo: 2 * 4 / 255 of 10000 is 314
	cmp_ok(
		value("SELECT count(*) FROM $table WHERE id = ANY (ARRAY(SELECT id FROM numbers WHERE id > 10000))"),
		'<', $table eq 'cuckoo' ? 450 : 40, "$table: few others are");
	is(value("SELECT * FROM $table WHERE id = 77"), 77, "$table: one key");
	is(value("SELECT count(*) FROM numbers n JOIN $table f ON f.id = n.id WHERE n.id <= 300"),
		300, "$table: a join");
	is( value("SELECT count(*) FROM numbers n WHERE n.id <= 300 AND NOT EXISTS (SELECT FROM $table f WHERE f.id = n.id)"),
		0, "$table: an anti-join");
	is(value("SELECT * FROM $table WHERE id = ANY ('{5,3,NULL,5,4,3}')"),
		"5\n3\n4", "$table: a key that is asked for twice is one row");
	is(value("SELECT count(*) FROM $table WHERE id = ANY ('{}')"), 0, "$table: no key is asked for");
	is(value("SELECT count(*) FROM $table WHERE id = NULL::bigint"), 0, "$table: NULL is no key");
	is(value("SELECT * FROM $table WHERE id = 77::smallint"), 77, "$table: an integer of another width");
	is(value("INSERT INTO $table VALUES (NULL), (999999) RETURNING id"),
		"\n999999", "$table: RETURNING, and NULL is not added");
	is(value("SELECT * FROM $table WHERE id = 999999"), 999999, "$table: that key was");
}
is($client->command('TYPE', 'plain'), 'MBbloom--', 'a filter of RedisBloom');
is($client->command('BF.EXISTS', 'plain', '77'), 1, 'that others can ask');
is($client->command('TYPE', 'bitmap'), 'string', 'a plain string');

# a bitmap has the bits of bloom_agg, in Redis' order
value("SELECT bloom_redis_push('redis', 'expected', (SELECT bloom_agg(id, 20000, 0.001) FROM numbers), 'bitmap')");
value('INSERT INTO bitmap SELECT id FROM numbers');
$client->command('DEL', 'bitmap');
value('INSERT INTO bitmap SELECT id FROM numbers');
is($client->command('BITCOUNT', 'bitmap'), $client->command('BITCOUNT', 'expected'), 'INSERT sets the bits of bloom_agg');
$client->command('BITOP', 'XOR', 'difference', 'bitmap', 'expected');
is($client->command('BITCOUNT', 'difference'), 0, 'and no others');

# the plan's cache and prepared statements
is(value('PREPARE p(bigint) AS SELECT * FROM plain WHERE id = $1; SET plan_cache_mode = force_generic_plan; EXECUTE p(5); EXECUTE p(6)'),
	"5\n6", 'prepared statements');
is(value('SELECT (SELECT f.id FROM plain f WHERE f.id = n.id) FROM numbers n ORDER BY id LIMIT 3'),
	"1\n2\n3", 'a correlated subquery');
is(value(<<'SQL'), 't', 'a guard in PL/pgSQL');
CREATE FUNCTION guard(k bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RETURN EXISTS (SELECT FROM plain WHERE id = k);
END $$;
SELECT bool_and(guard(i)) FROM generate_series(1, 50) i;
SQL

# --- keys of any bytes ------------------------------------------------------------

value("CREATE FOREIGN TABLE texts (k text) SERVER redis OPTIONS (key 'texts', format 'bitmap', capacity '1000')");
value("CREATE FOREIGN TABLE raw (k bytea) SERVER redis OPTIONS (key E'odd \"key\"\\r\\n''{x}')");
value(q{INSERT INTO raw VALUES ('\x00'), ('\x0d0a24300d0a'), ('\x'), ('\x22275c'), ('\xff00fe'), (convert_to(E'*1\r\n$8\r\nFLUSHALL\r\n', 'UTF8'))});
is(value(q{SELECT k FROM raw WHERE k = ANY (ARRAY['\x00', '\x0000', '\x0d0a24300d0a', '', '\x22275c', '\xff00fe', '\xff']::bytea[])}),
	join("\n", '\x00', '\x0d0a24300d0a', '\x', '\x22275c', '\xff00fe'), 'keys with NUL, CRLF and quotes');
is($client->command('BF.EXISTS', qq{odd "key"\r\n'{x}}, "\0"), 1, 'also in the name of the filter');
is($client->command('EXISTS', 'plain'), 1, 'nothing in a key is a command');
value(q{INSERT INTO texts VALUES ('naïve'), ('用户'), (''), (' a ')});
is(value(q{SELECT count(*) FROM texts WHERE k = ANY ('{naïve,用户,""," a "}')}), 4, 'text as UTF-8');
is(value(q{SELECT count(*) FROM texts WHERE k = ANY ('{naive,用,a}')}), 0, 'and nothing else');
value("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
$node->safe_psql('latin', 'CREATE EXTENSION bloomfilter_redis CASCADE');
$node->safe_psql('latin', "CREATE SERVER redis FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (socket '" . $redis->socket . "')");
$node->safe_psql('latin', "CREATE FOREIGN TABLE texts (k text) SERVER redis OPTIONS (key 'texts', format 'bitmap', capacity '1000')");
is($node->safe_psql('latin', q{SET client_encoding = 'UTF8'; SELECT k FROM texts WHERE k = E'na\u00efve'}),
	'naïve', 'a key of a LATIN1 database is the same key');

value(<<'SQL');
CREATE FOREIGN TABLE days (d date) SERVER redis OPTIONS (key 'days');
INSERT INTO days VALUES ('2026-01-31'), ('infinity');
CREATE FOREIGN TABLE amounts (n numeric) SERVER redis OPTIONS (key 'amounts');
INSERT INTO amounts VALUES (1.50), (100);
CREATE FOREIGN TABLE uuids (u uuid) SERVER redis OPTIONS (key 'uuids');
INSERT INTO uuids VALUES ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11');
SQL
is($client->command('BF.EXISTS', 'days', '2026-01-31'), 1, 'a date as an application writes it');
is($client->command('BF.EXISTS', 'amounts', '1.5'), 1, 'a numeric without trailing zeros');
is($client->command('BF.EXISTS', 'uuids', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), 1, 'a uuid in lower case');
is(value("SELECT * FROM amounts WHERE n = 1.5000"), '1.5000', 'equal values are one key');

# --- COPY, partitions, views ------------------------------------------------------

value('CREATE FOREIGN TABLE copied (k text) SERVER redis OPTIONS (key \'copied\')');
{
	my $lines = join '', map { "line $_\n" } 1 .. 3000;
	my ($out, $error) = ('', '');

	$node->psql('postgres', "COPY copied FROM STDIN;\n$lines\\.\n", stdout => \$out, stderr => \$error);
	is($error, '', 'COPY');
}
is(value("SELECT count(*) FROM copied WHERE k = ANY (ARRAY(SELECT 'line ' || i FROM generate_series(1, 3000) i))"), 3000, 'COPY added all of it');
value(<<'SQL');
CREATE TABLE parted (id bigint) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (100) SERVER redis OPTIONS (key 'low');
CREATE TABLE high PARTITION OF parted FOR VALUES FROM (100) TO (1000);
INSERT INTO parted SELECT generate_series(0, 199);
SQL
is(value('SELECT count(*) FROM low WHERE id = ANY (ARRAY(SELECT generate_series(0, 199)))'), 100, 'rows routed to a partition');
is(value('SELECT id FROM parted WHERE id = 5'), 5, 'and found through its parent');
like(error_of('UPDATE high SET id = 5 WHERE id = 150; UPDATE parted SET id = 5 WHERE id = 150;'),
	qr/cannot move rows into foreign table "low"|new row for relation "high" violates/, 'rows cannot be moved there');
value(<<'SQL');
CREATE ROLE reader LOGIN;
CREATE VIEW bloom_view AS SELECT * FROM plain;
GRANT SELECT ON bloom_view TO reader;
SQL
is((RedisTest::run($node, 'SELECT * FROM bloom_view WHERE id = 5', user => 'reader'))[0], 5, 'a view uses the connection of its owner');

# --- transactions -----------------------------------------------------------------

value("CREATE FOREIGN TABLE rolled (id bigint) SERVER redis OPTIONS (key 'rolled')");
error_of('BEGIN; INSERT INTO rolled VALUES (1); ROLLBACK;');
is(value('SELECT * FROM rolled WHERE id = 1'), 1, 'a rolled back key stays: never a false negative');
error_of('INSERT INTO rolled SELECT CASE WHEN i = 3000 THEN 1 / (i - 3000) ELSE i END FROM generate_series(1, 3000) i;');
is(value('SELECT * FROM rolled WHERE id = 1'), 1, 'a statement that failed leaves extra bits');
is(value('INSERT INTO rolled VALUES (5000); SELECT * FROM rolled WHERE id = 5000'), 5000, 'and a connection that works');
is( value(<<'SQL'), "2\n3", 'a savepoint rolled back in the middle of batches');
BEGIN;
INSERT INTO rolled VALUES (2);
SAVEPOINT s;
DO $$ BEGIN INSERT INTO rolled SELECT 1 / (500 - i) FROM generate_series(1, 600) i; EXCEPTION WHEN division_by_zero THEN NULL; END $$;
ROLLBACK TO s;
INSERT INTO rolled VALUES (3);
SELECT * FROM rolled WHERE id = ANY ('{2,3}');
COMMIT;
SQL
is(value(<<'SQL'), 1500, 'a statement that fills a table and asks another on one connection');
CREATE FOREIGN TABLE selected (id bigint) SERVER redis OPTIONS (key 'selected');
INSERT INTO selected SELECT n.id FROM numbers n JOIN plain b ON b.id = n.id WHERE n.id <= 1500;
SELECT count(*) FROM selected WHERE id = ANY (ARRAY(SELECT id FROM numbers WHERE id <= 1500));
SQL
is(value(<<'SQL'), 2000, 'two tables filled by one statement');
CREATE FOREIGN TABLE left_half (id bigint) SERVER redis OPTIONS (key 'left_half');
CREATE FOREIGN TABLE right_half (id bigint) SERVER redis OPTIONS (key 'right_half', format 'bitmap', capacity '2000');
WITH l AS (INSERT INTO left_half SELECT generate_series(1, 1000) RETURNING id),
	r AS (INSERT INTO right_half SELECT id + 1000 FROM l RETURNING id)
SELECT count(*) FROM (SELECT * FROM l UNION ALL SELECT * FROM r) x;
SQL
is(value('SELECT count(*) FROM right_half WHERE id = ANY (ARRAY(SELECT generate_series(1, 2000)))'), 1000, 'and both are right');

# --- creation and expiry ----------------------------------------------------------

value("CREATE FOREIGN TABLE existing (id bigint) SERVER redis OPTIONS (key 'existing', create 'false')");
value("CREATE FOREIGN TABLE existing_bits (id bigint) SERVER redis OPTIONS (key 'existing_bits', create 'false', format 'bitmap', bits '1000', hashes '3')");
for my $table ('existing', 'existing_bits')
{
	like(error_of("INSERT INTO $table VALUES (1)"), qr/ERROR:.*"$table".*HINT:.*create/s, "$table: INSERT does not create it");
	is($client->command('EXISTS', $table), 0, "$table: indeed");
}
$client->command('BF.RESERVE', 'existing', '0.01', '100');
$client->command('SETBIT', 'existing_bits', '999', '0');
value("INSERT INTO $_ VALUES (1)") for 'existing', 'existing_bits';
is($client->command('BF.CARD', 'existing'), 1, 'but fills it when it is there');
is($client->command('BF.INFO', 'plain', 'CAPACITY')->[0], 20000, 'capacity of the table');

value("CREATE FOREIGN TABLE short (id bigint) SERVER redis OPTIONS (key 'short', ttl '1 hour')");
value("CREATE FOREIGN TABLE short_bits (id bigint) SERVER redis OPTIONS (key 'short_bits', ttl '1 hour', format 'bitmap', bits '1000', hashes '3')");
for my $table ('short', 'short_bits')
{
	value("INSERT INTO $table SELECT generate_series(1, 2000)");
	my $ttl = $client->command('PTTL', $table);
	ok($ttl > 3_500_000 && $ttl <= 3_600_000, "$table: INSERT lets it expire");
}

# --- a filter that is gone, or is something else -----------------------------------

my %searches = (
	'one key' => 'SELECT * FROM %s WHERE id = 1',
	'ANY' => "SELECT * FROM %s WHERE id = ANY ('{1,2}')",
	'a join' => 'SELECT count(*) FROM numbers n JOIN %s f ON f.id = n.id WHERE n.id < 10',
	'a guard' => 'SELECT NOT EXISTS (SELECT FROM %s WHERE id = 1)');
for my $table ('short', 'short_bits')
{
	$client->command('PEXPIRE', $table, 1);
	ok($node->poll_query_until('postgres', "SELECT NOT bloom_redis_unlink('redis', '$table')"), "$table expired");
	for my $name (sort keys %searches)
	{
		like(error_of(sprintf $searches{$name}, $table),
			qr/ERROR:  there is no filter "$table".*HINT:.*missing 'empty'/s, "$table: $name is an error, never absent");
	}
	$client->command('HSET', $table, 'a', 'b');
	like(error_of(sprintf $searches{$_}, $table), qr/ERROR:.*(not a filter of format|WRONGTYPE)/s, "$table: $_ of a key of another type")
	  for sort keys %searches;
	like(error_of("INSERT INTO $table VALUES (1)"), qr/ERROR:.*WRONGTYPE.*HINT:.*another type/s, "$table: INSERT into it");
	$client->command('DEL', $table);
}
value("ALTER FOREIGN TABLE short OPTIONS (ADD missing 'empty')");
is(value('SELECT count(*) FROM short WHERE id = ANY (\'{1,2}\')'), 0, 'unless the table says that a missing filter is empty');
$client->command('SET', 'short', 'text');
like(error_of('SELECT * FROM short WHERE id = 1'), qr/not a filter of format "redisbloom".*Its type is "string"/s, 'another type is an error even so');

# --- a filter that is full ----------------------------------------------------------

value("CREATE FOREIGN TABLE full_one (id bigint) SERVER redis OPTIONS (key 'full', capacity '1000', nonscaling 'true')");
like(error_of('INSERT INTO full_one SELECT generate_series(1, 5000)'),
	qr/ERROR:  filter "full" .* took only (\d+) of \d+ keys\nDETAIL:.*full/, 'a filter that is full');
is($client->command('BF.CARD', 'full'), 1000, 'it holds what it can');
value("CREATE FOREIGN TABLE scaling (id bigint) SERVER redis OPTIONS (key 'scaling', capacity '100', expansion '4')");
value('INSERT INTO scaling SELECT generate_series(1, 1000)');
is($client->command('BF.INFO', 'scaling', 'EXPANSION')->[0], 4, 'one that scales, as the table says');
cmp_ok($client->command('BF.INFO', 'scaling', 'FILTERS')->[0], '>', 1, 'and has');

# --- servers that refuse ------------------------------------------------------------

my $plain = RedisServer->new(maxmemory => '20mb', port => 1);
RedisTest::add_server($node, 'small', $plain);
value("CREATE FOREIGN TABLE no_module (id bigint) SERVER small OPTIONS (key 'x')");
value("CREATE FOREIGN TABLE no_memory (id bigint) SERVER small OPTIONS (key 'y', format 'bitmap', bits '1000000000', hashes '4')");
like(error_of('INSERT INTO no_module VALUES (1)'), qr/ERROR:.*refused BF.INSERT.*unknown command.*HINT:.*RedisBloom module.*'bitmap'/s, 'no module: INSERT');
like(error_of('SELECT * FROM no_module WHERE id = 1'), qr/ERROR:.*refused BF.EXISTS.*unknown command.*HINT:.*RedisBloom module/s, 'no module: SELECT');
like(error_of("SELECT bloom_redis_push('small', 'x', bloom_create(10))"), qr/ERROR:.*refused BF.LOADCHUNK.*HINT:.*RedisBloom module/s, 'no module: push');
like(error_of('INSERT INTO no_memory SELECT generate_series(1, 5000)'), qr/ERROR:.*refused BITFIELD.*OOM.*HINT:.*maxmemory/s, 'out of memory');

my $replica = RedisServer->new(replica_of => $plain);
RedisTest::add_server($node, 'replica', $replica);
value("CREATE FOREIGN TABLE read_only (id bigint) SERVER replica OPTIONS (key 'z', format 'bitmap', bits '1000', hashes '4')");
like(error_of('INSERT INTO read_only VALUES (1)'), qr/ERROR:.*READONLY.*HINT:.*replica/s, 'a replica');

# what a server says only for moments: by a peer that says it for ever
my %moments = (
	LOADING => [ 'Redis is loading the dataset in memory', qr/try again later/ ],
	MASTERDOWN => [ "Link with MASTER is down and replica-serve-stale-data is set to 'no'.", qr/lost its master/ ],
	CLUSTERDOWN => [ 'The cluster is down', qr/cluster is down/ ],
	MISCONF => [ 'Redis is configured to save RDB snapshots', qr/see its log/ ]);
for my $code (sort keys %moments)
{
	my ($text, $hint) = @{ $moments{$code} };
	my $peer = ScriptedPeer->new([ [ answer => '*', "-$code $text\r\n" ] ]);
	my $server = lc $code;
	value("CREATE SERVER $server FOREIGN DATA WRAPPER bloomfilter_redis OPTIONS (host '127.0.0.1', port '" . $peer->port . "')");
	value("CREATE FOREIGN TABLE ${server}_t (id bigint) SERVER $server OPTIONS (key 'x', format 'bitmap', bits '1000', hashes '4')");
	for my $sql ("SELECT * FROM ${server}_t WHERE id = 1", "INSERT INTO ${server}_t VALUES (1)")
	{
		like(error_of($sql), qr/ERROR:.*refused.*\Q$code $text\E.*HINT:.*$hint/s, "$code: $sql");
	}
}

# --- memory: the next batch is filled while the server works on the last, so what is
# kept is a few batches and not a million keys, which took 16 MB and more as hashes

my $writer = PsqlSession->new($node);
my $status = '/proc/' . $writer->pid . '/status';
SKIP:
{
	skip "no $status", 2 unless -r $status;
	value("CREATE FOREIGN TABLE many_$_ (id bigint) SERVER redis OPTIONS (key 'many_$_', format '$_', capacity '1000000', error_rate '0.01')")
	  for 'redisbloom', 'bitmap';
	for my $format ('redisbloom', 'bitmap')
	{
		my $peak = sub { slurp_file($status) =~ /^VmHWM:\s+(\d+) kB/m or die $status; $1 / 1024 };

		$writer->run("INSERT INTO many_$format SELECT generate_series(1, 20000)");
		my $before = $peak->();
		my ($out, $error) = $writer->run("INSERT INTO many_$format SELECT generate_series(1, 1000000)");
		is($error, '', "$format: a million keys are sent");
		cmp_ok($peak->() - $before, '<', 4, "$format: in flat memory (MB)");
	}
}
$writer->run('SELECT bloom_redis_disconnect()');

is(value('SELECT bloom_redis_disconnect()'), 0, 'a session that used no server has no connection');
is((split /\n/, value('SELECT count(*) FROM plain WHERE id = 1; SELECT bloom_redis_disconnect(); SELECT bloom_redis_disconnect()'))[1], 1, 'one that did closes it');

done_testing();
