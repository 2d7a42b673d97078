# Cuckoo filters in Redis: keys that can be deleted, but not before the deletion
# has committed.

use strict;
use warnings FATAL => 'all';

use File::Basename 'dirname';
use JSON::PP;
use MIME::Base64;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisClient;
use RedisServer;
use RedisTest;

plan skip_all => RedisServer->missing if RedisServer->missing;

my $redis = RedisServer->new(module => RedisServer::bloom_module());
my $client = $redis->client;
my $node = RedisTest::postgres('cuckoo', 'max_prepared_transactions = 5');

RedisTest::add_server($node, 'redis', $redis);

sub value
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# --- whole filters ------------------------------------------------------------------

open my $file, '<', dirname(__FILE__) . '/../../../test/data/redisbloom-cuckoo.json' or die $!;
my $golden = decode_json(do { local $/ = undef; <$file> });
my $whole = 0;

for my $filter (@{ $golden->{filters} })
{
	my ($capacity, @rest) = @{ $filter->{reserve} };
	my %options = (BUCKETSIZE => 2, MAXITERATIONS => 20, EXPANSION => 1, @rest);
	my ($prefix, $first, $last) = $filter->{added} =~ /^(\D*)(\d+)\.\.\D*(\d+)$/;

	next if !defined $last || @{ $filter->{deleted} };
	$whole++;
	my $create = "cuckoo_add_all(cuckoo_create($capacity, $options{BUCKETSIZE}, 8, $options{MAXITERATIONS}, $options{EXPANSION}), ARRAY(SELECT '$prefix' || i FROM generate_series($first, $last) i ORDER BY i))";

	value("SELECT bloom_redis_push('redis', '$filter->{name}', $create)");
	for my $part (@{ $filter->{scandump} })
	{
		my ($iterator, $bytes) = @$part;
		my $before = $iterator == 1 ? 0 : $iterator - length decode_base64($bytes);
		my $reply = $client->command('CF.SCANDUMP', $filter->{name}, $before);

		is(unpack('H*', $reply->[1] // ''), unpack('H*', decode_base64($bytes)), "$filter->{name}: the bytes of RedisBloom at $iterator");
	}
	is($client->command('CF.EXISTS', $filter->{name}, $_), $filter->{exists}{$_}, "$filter->{name}: $_")
	  for (sort keys %{ $filter->{exists} })[ 0 .. 3 ];
}
cmp_ok($whole, '>', 0, 'there were golden filters to push');
value("SELECT bloom_redis_push('redis', 'many', (SELECT cuckoo_agg(i, 20000) FROM generate_series(1, 100000) i), ttl => '1 hour')");
value("CREATE FOREIGN TABLE many (id integer) SERVER redis OPTIONS (key 'many', format 'cuckoo')");
is(value(<<'SQL'), '200000|0', 'a filter of several sub-filters: 200,000 keys have the same answer');
WITH f AS MATERIALIZED (SELECT cuckoo_agg(i, 20000) AS f FROM generate_series(1, 100000) i),
	redis AS MATERIALIZED (SELECT id FROM many WHERE id = ANY (ARRAY(SELECT generate_series(1, 200000))))
SELECT count(*), count(*) FILTER (WHERE ((SELECT f FROM f) @> k.id) IS DISTINCT FROM (r.id IS NOT NULL))
FROM generate_series(1, 200000) AS k(id) LEFT JOIN redis r USING (id)
SQL
cmp_ok($client->command('PTTL', 'many'), '>', 3_500_000, 'that expires');

# --- DELETE ---------------------------------------------------------------------------

value("CREATE FOREIGN TABLE seen (url text) SERVER redis OPTIONS (key 'seen', format 'cuckoo', capacity '100000', bucket_size '4')");
value("INSERT INTO seen SELECT 'url' || i FROM generate_series(1, 1000) i");
is($client->command('CF.INFO', 'seen')->[ 1 + 2 * 5 ], 4, 'the bucket size of the table');

sub held
{
	return join ',', map { $client->command('CF.EXISTS', 'seen', $_) } @_;
}

value(<<'SQL');
BEGIN;
DELETE FROM seen WHERE url = 'url1';
ROLLBACK;
SQL
is(held('url1'), '1', 'a deletion that was rolled back did nothing');
is(value(<<'SQL'), "url1\nurl1", 'RETURNING, and within the transaction the key is still there');
BEGIN;
DELETE FROM seen WHERE url = 'url1' RETURNING url;
SELECT url FROM seen WHERE url = 'url1';
COMMIT;
SQL
is(held('url1', 'url2'), '0,1', 'after the commit it is gone');
value(<<'SQL');
BEGIN;
DELETE FROM seen WHERE url = 'url2';
SAVEPOINT a;
DELETE FROM seen WHERE url = 'url3';
SAVEPOINT b;
DELETE FROM seen WHERE url = 'url4';
RELEASE b;
ROLLBACK TO a;
DELETE FROM seen WHERE url = 'url5';
SAVEPOINT c;
DELETE FROM seen WHERE url = ANY ('{url6,url7,nobody}');
RELEASE c;
COMMIT;
SQL
is(held(map { "url$_" } 2 .. 7), '0,1,1,0,0,0', 'rolled back subtransactions delete nothing');
value(<<'SQL');
INSERT INTO seen SELECT 'level' || i FROM generate_series(1, 7) i;
BEGIN;
DELETE FROM seen WHERE url = 'level1';
SAVEPOINT a;
DELETE FROM seen WHERE url = 'level2';
SAVEPOINT b;
DELETE FROM seen WHERE url = 'level3';
RELEASE b;
SAVEPOINT c;
DELETE FROM seen WHERE url = 'level4';
ROLLBACK TO c;
DELETE FROM seen WHERE url = 'level5';
ROLLBACK TO c;
RELEASE c;
RELEASE a;
SAVEPOINT d;
DELETE FROM seen WHERE url = 'level6';
ROLLBACK TO d;
COMMIT;
SQL
is(held(map { "level$_" } 1 .. 7), '0,0,0,1,1,1,1', 'and a subtransaction that was released within one that was released deletes');

# an UPDATE of two rows with one key, or two of their DELETEs, is two copies
value("INSERT INTO seen VALUES ('thrice'), ('thrice'), ('thrice')");
value("BEGIN; DELETE FROM seen WHERE url = 'thrice'; DELETE FROM seen WHERE url = 'thrice'; COMMIT");
is($client->command('CF.COUNT', 'seen', 'thrice'), 1, 'two statements that delete a key take out two copies');
value("DELETE FROM seen WHERE url IN ('thrice', 'thrice')");
is($client->command('CF.COUNT', 'seen', 'thrice'), 0, 'one that names it twice takes out one');

like((RedisTest::run($node, "INSERT INTO seen VALUES ('thrice') ON CONFLICT DO NOTHING"))[1],
	qr/ERROR:  cannot insert into foreign table "seen" with ON CONFLICT/, 'ON CONFLICT is refused: the key would be there once more');
like((RedisTest::run($node, <<'SQL'))[1], qr/ERROR:  cannot insert into foreign table "part" with ON CONFLICT/, 'also behind a partitioned table');
CREATE TABLE parted (url text) PARTITION BY LIST (url);
CREATE FOREIGN TABLE part PARTITION OF parted DEFAULT SERVER redis OPTIONS (key 'seen', format 'cuckoo');
INSERT INTO parted VALUES ('thrice') ON CONFLICT DO NOTHING;
SQL
is(held('thrice'), '0', 'and nothing was added');

value(<<'SQL');
CREATE TABLE pages (url text);
INSERT INTO pages SELECT 'url' || i FROM generate_series(1, 1000) i;
CREATE FUNCTION pages_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM seen s USING old_rows o WHERE s.url = o.url;
	RETURN NULL;
END $$;
CREATE TRIGGER pages_deleted AFTER DELETE ON pages
	REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION pages_deleted();
DELETE FROM pages WHERE url IN (SELECT 'url' || i FROM generate_series(101, 500) i);
SQL
# 4 * 2 / 255 of 400 are 12.5, of a filter that is nearly empty far fewer
cmp_ok(value("SELECT count(*) FROM seen WHERE url = ANY (ARRAY(SELECT 'url' || i FROM generate_series(101, 500) i))"), '<', 40, 'a trigger deletes what the table deletes');
is(value("SELECT count(*) FROM pages p WHERE url NOT IN ('url1', 'url2', 'url5', 'url6', 'url7') AND NOT EXISTS (SELECT FROM seen s WHERE s.url = p.url)"), 0, 'and no other key');

{
	my ($out, $error) = RedisTest::run($node, "BEGIN; DELETE FROM seen WHERE url = 'url10'; PREPARE TRANSACTION 'p'; SELECT 1");
	like($error, qr/ERROR:  cannot PREPARE a transaction that has deleted keys/, 'PREPARE TRANSACTION is refused');
	is(held('url10'), '1', 'and deletes nothing');
}

# the server is gone: before the commit that is an error, after it a warning
{
	my $session = RedisTest::session($node);

	$session->query("BEGIN; CREATE TEMP TABLE t (x int); DELETE FROM seen WHERE url = 'url11'");
	$client->command('ACL', 'SETUSER', 'default', '-cf.del');
	like($session->query('COMMIT'), qr/WARNING:  1 of 1 deleted keys could not be removed.*NOPERM/s, 'a deletion that Redis refuses is a warning');
	like($session->query('INSERT INTO t VALUES (1) RETURNING x'), qr/^1$/, 'and the transaction has committed');
	$client->command('ACL', 'SETUSER', 'default', '+@all');
	is(held('url11'), '1', 'the key is a false positive now');

	$session->query("BEGIN; DELETE FROM seen WHERE url = 'url11'; INSERT INTO t VALUES (2)");
	$redis->stop;
	like($session->query('COMMIT'), qr/ERROR:  could not connect to Redis server/, 'a server that is gone before the commit aborts it');
	is($session->query('SELECT count(*) FROM t'), '1', 'as a whole');
	$session->close;
}

done_testing();
