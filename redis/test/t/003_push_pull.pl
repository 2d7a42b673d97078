# Whole filters into Redis and back: the same bits, the same answers, and what
# is left after a failure.

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
my $node = RedisTest::postgres('push_pull', "max_stack_depth = '1MB'");

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

sub golden
{
	my ($name) = @_;

	open my $file, '<', dirname(__FILE__) . "/../../../test/data/$name.json" or die "$name: $!\n";
	local $/ = undef;
	return decode_json(<$file>);
}

# The dump of a key: (header, bits).
sub dump_of
{
	my ($key) = @_;
	my ($iterator, @parts) = (0);

	while (1)
	{
		my $reply = $client->command('BF.SCANDUMP', $key, $iterator);

		$iterator = $reply->[0];
		last if $iterator == 0;
		push @parts, $reply->[1];
	}
	return (shift @parts, join '', @parts);
}

# --- what RedisBloom itself made of the same keys -----------------------------------

my %golden = map { $_->{name} => $_ } @{ golden('redisbloom')->{filters} };

for my $name ('empty', 'one', 'fixed_500', 'integers', 'chain_default', 'chain_growth4')
{
	my $filter = $golden{$name};
	my ($rate, $capacity, @rest) = @{ $filter->{reserve} };
	my $expected = join '', map { decode_base64($_->[1]) } @{ $filter->{scandump} };
	my $scales = $name =~ /chain/;
	my $growth = $rest[1] // 2;
	my ($first, $last) = $filter->{items_rule} ? @{ $filter->{items_rule} }{ 'first', 'last' } : ();
	my $prefix = defined $first && $first =~ /^(\D+:)/ ? $1 : '';
	my $keys = $name eq 'empty' ? "ARRAY[]::text[]"
	  : $name eq 'one' ? "ARRAY['user:1']"
	  : sprintf "ARRAY(SELECT '%s' || i FROM generate_series(%d, %d) i ORDER BY i)", $prefix,
	  map { s/^\D+://r } $first, $last;
	my $create =
	  $scales ? "scalable_bloom_create($capacity, $rate, $growth)" : "bloom_create($capacity, $rate)";

	value("SELECT bloom_redis_push('redis', '$name', bloom_add_all($create, $keys))");
	my ($header, $bits) = dump_of($name);

	is(unpack('H*', $bits), unpack('H*', substr $expected, length $header), "$name: the bits of RedisBloom");
	# a plain filter does not count its keys, so only a chain's header is the same
	is(unpack('H*', $header), unpack('H*', substr $expected, 0, length $header), "$name: the header of RedisBloom")
	  if $scales || $name eq 'empty';
	is($client->command('BF.EXISTS', $name, $_), $filter->{exists}{$_}, "$name: $_")
	  for (sort keys %{ $filter->{exists} })[ 0 .. 3 ];
	my $pull = $scales ? 'scalable_bloom_redis_pull' : 'bloom_redis_pull';

	is(value("SELECT $pull('redis', '$name') = bloom_add_all($create, $keys)"), 't', "$name: comes back equal");
}

# and a filter that RedisBloom made comes equal to ours
$client->command('BF.RESERVE', 'theirs', '0.01', '1000', 'NONSCALING');
$client->command('BF.ADD', 'theirs', "user:$_") for 1 .. 500;
is(value("SELECT bloom_redis_pull('redis', 'theirs') = bloom_add_all(bloom_create(1000), ARRAY(SELECT 'user:' || i FROM generate_series(1, 500) i))"),
	't', 'a filter of RedisBloom is pulled equal to ours');
$client->command('BF.RESERVE', 'theirs_scaling', '0.01', '100');
$client->command('BF.ADD', 'theirs_scaling', "user:$_") for 1 .. 500;
is(value("SELECT scalable_bloom_redis_pull('redis', 'theirs_scaling') = bloom_add_all(scalable_bloom_create(100), ARRAY(SELECT 'user:' || i FROM generate_series(1, 500) i))"),
	't', 'and a chain');

# --- the same answer for every key ---------------------------------------------------

value(<<'SQL');
CREATE TABLE filters (name text PRIMARY KEY, f bloom, c counting_bloom, s scalable_bloom);
INSERT INTO filters (name, f) SELECT 'plain', bloom_agg(i, 100000, 0.01) FROM generate_series(1, 100000) i;
INSERT INTO filters (name, c) SELECT 'counting', counting_bloom_agg(i, 100000, 0.01) FROM generate_series(1, 100000) i;
INSERT INTO filters (name, s) SELECT 'scalable', scalable_bloom_agg(i, 10000, 0.01) FROM generate_series(1, 100000) i;
INSERT INTO filters (name, f) SELECT 'params', bloom_add_all(bloom_create_with_params(958504, 5), ARRAY(SELECT generate_series(1, 100000)));
SELECT bloom_redis_push('redis', name, f) FROM filters WHERE f IS NOT NULL;
SELECT bloom_redis_push('redis', name, c) FROM filters WHERE c IS NOT NULL;
SELECT bloom_redis_push('redis', name, s) FROM filters WHERE s IS NOT NULL;
SELECT bloom_redis_push('redis', name || '_bits', f, 'bitmap') FROM filters WHERE f IS NOT NULL;
SELECT bloom_redis_push('redis', name || '_bits', c, 'bitmap') FROM filters WHERE c IS NOT NULL;
CREATE TABLE keys AS SELECT generate_series(1, 200000) AS id;
SQL
for my $case (
	['plain', 'f', ''], ['counting', 'c', ''], ['scalable', 's', ''], ['params', 'f', ''],
	['plain', 'f', "format 'bitmap', capacity '100000'"],
	['counting', 'c', "format 'bitmap', capacity '100000'"],
	['params', 'f', "format 'bitmap', bits '958504', hashes '5'"])
{
	my ($name, $column, $options) = @$case;
	my $key = $options ? "${name}_bits" : $name;
	my $table = "t_$key";

	value("CREATE FOREIGN TABLE $table (id integer) SERVER redis OPTIONS (key '$key'" . ($options && ", $options") . ')');
	is(value(<<"SQL"), '200000|0', "$key: 200,000 keys, half of them absent, have the same answer");
WITH redis AS MATERIALIZED (SELECT id FROM $table WHERE id = ANY (ARRAY(SELECT id FROM keys)))
SELECT count(*), count(*) FILTER (WHERE ((SELECT $column FROM filters WHERE name = '$name') @> k.id) IS DISTINCT FROM (r.id IS NOT NULL))
FROM keys k LEFT JOIN redis r USING (id)
SQL
}
is(value("SELECT bloom_redis_pull('redis', 'params') = f FROM filters WHERE name = 'params'"), 't',
	'one that was made by bits and hashes comes back equal too');
is(value("SELECT bloom_redis_pull('redis', 'counting') = c::bloom FROM filters WHERE name = 'counting'"), 't', 'a counting filter as its bits');
is(value("SELECT bloom_redis_pull_bitmap('redis', 'params_bits', 958504, 5) = f FROM filters WHERE name = 'params'"), 't', 'a bitmap comes back equal');

# a scalable filter keeps scaling, exactly as it would here
$client->command('BF.ADD', 'scalable', $_) for 200001 .. 202000;
is(value(<<'SQL'), 't', 'a scalable filter goes on in Redis as it would have here');
SELECT scalable_bloom_redis_pull('redis', 'scalable') = bloom_add_all(s, ARRAY(SELECT generate_series(200001, 202000)))
FROM filters WHERE name = 'scalable'
SQL
like(error_of("SELECT bloom_redis_pull('redis', 'scalable')"), qr/ERROR:.*is no bloom.*chain of \d+ filters.*HINT:.*scalable_bloom_redis_pull/s, 'a chain is no bloom');
like(error_of("SELECT scalable_bloom_redis_pull('redis', 'plain')"), qr/ERROR:.*is no scalable_bloom.*HINT:.*bloom_redis_pull/s, 'and a fixed filter no scalable one');

# --- bitmaps of another program --------------------------------------------------------

my $ling = golden('ling-base')->{redis_string};
my $ling_bytes = decode_base64($ling->{value_base64});

value("SELECT bloom_redis_push('redis', 'ling', bloom_add_all(bloom_create_with_params($ling->{bits}, $ling->{hashes}, 'fnv1a'), ARRAY(SELECT 'user:' || i FROM generate_series(1, 500) i)), 'bitmap')");
is(unpack('H*', $client->command('GET', 'ling')), unpack('H*', $ling_bytes), 'ling-base: the same string');
$client->command('SET', 'theirs_ling', $ling_bytes);
is(value("SELECT bloom_redis_pull_bitmap('redis', 'theirs_ling', $ling->{bits}, $ling->{hashes}, 'fnv1a') = bloom_add_all(bloom_create_with_params($ling->{bits}, $ling->{hashes}, 'fnv1a'), ARRAY(SELECT 'user:' || i FROM generate_series(1, 500) i))"),
	't', 'ling-base: pulled equal');
value("CREATE FOREIGN TABLE ling_table (k text) SERVER redis OPTIONS (key 'ling_live', format 'bitmap', bits '$ling->{bits}', hashes '$ling->{hashes}', hash 'fnv1a')");
value("INSERT INTO ling_table SELECT 'user:' || i FROM generate_series(1, 500) i");
is($client->command('BITCOUNT', 'ling_live'), $client->command('BITCOUNT', 'ling'), 'ling-base: INSERT sets as many bits');
$client->command('BITOP', 'XOR', 'xor', 'ling_live', 'ling');
is($client->command('BITCOUNT', 'xor'), 0, 'and the same ones');

$client->command('SETBIT', 'three', 3, 1);
is(value("SELECT bloom_bits(b), (bloom_info(b)).bits_set FROM bloom_redis_pull_bitmap('redis', 'three', 1000, 2) b"), '1000|1', 'a short string is padded with zeros');
$client->command('SETBIT', 'three', 1000, 0);
like(error_of("SELECT bloom_redis_pull_bitmap('redis', 'three', 1000, 2)"), qr/ERROR:.*not a bitmap of that size.*126 bytes.*take 125/s, 'a longer one is refused');
$client->command('SETBIT', 'tail', 999, 1);
like(error_of("SELECT bloom_redis_pull_bitmap('redis', 'tail', 998, 2)"), qr/ERROR:.*Bits are set behind its end/s, 'bits behind the end');
$client->command('RPUSH', 'list', 'x');
like(error_of("SELECT bloom_redis_pull_bitmap('redis', 'list', 1000, 2)"), qr/ERROR:.*WRONGTYPE/s, 'another type');
like(error_of("SELECT bloom_redis_pull_bitmap('redis', 'nothing', 1000, 2)"), qr/ERROR:  there is no key "nothing"/, 'nothing at all');
like(error_of("SELECT bloom_redis_pull('redis', 'nothing')"), qr/ERROR:.*not found/s, 'no filter');
like(error_of("SELECT bloom_redis_pull('redis', 'list')"), qr/ERROR:.*WRONGTYPE/s, 'no filter but a list');
$client->command('SET', 'empty_string', '');
is(value("SELECT (bloom_info(bloom_redis_pull_bitmap('redis', 'empty_string', 1000, 2))).bits_set"), 0, 'an empty string is an empty bitmap');

# --- large filters, in chunks -----------------------------------------------------------

value(<<'SQL');
CREATE TABLE large AS SELECT bloom_add_all(bloom_create(90000000, 0.01), ARRAY(SELECT generate_series(1, 1000))) AS f;
SQL
is(value("SELECT bloom_bits(f) / 8 > 100000000 FROM large"), 't', 'a filter of more than 100 MB');
{
	my ($out, $error) = RedisTest::run($node, "SET client_min_messages = debug1; SELECT bloom_redis_push('redis', 'large', f) FROM large");
	my @progress = $error =~ /pushed (\d+) of (\d+) bytes/g;

	is(scalar(@progress) / 2, 7, 'pushed in chunks of 16 MiB, each told at debug1');
	is($progress[-1], $progress[-2], 'to the end');
}
is(value("SELECT bloom_redis_pull('redis', 'large') = f FROM large"), 't', 'and pulled');
value("SELECT bloom_redis_push('redis', 'large_bits', f, 'bitmap') FROM large");
is(value("SELECT bloom_contains_each(bloom_redis_pull_bitmap('redis', 'large_bits', bloom_bits(f), bloom_hashes(f)), ARRAY(SELECT generate_series(1, 1010))) = bloom_contains_each(f, ARRAY(SELECT generate_series(1, 1010))) FROM large"),
	't', 'also as a bitmap');
$client->command('DEL', 'large', 'large_bits');

# --- replacing, expiring, and failing ----------------------------------------------------

value("SELECT bloom_redis_push('redis', 'replaced', bloom_add(bloom_create(100), 'old'), ttl => '1 hour')");
my $ttl = $client->command('PTTL', 'replaced');
ok($ttl > 3_500_000 && $ttl <= 3_600_000, 'a time to live');
value("SELECT bloom_redis_push('redis', 'replaced', bloom_add(bloom_create(200), 'new'))");
is($client->command('PTTL', 'replaced'), -1, 'the next push without one lets it stay');
is($client->command('BF.EXISTS', 'replaced', 'new') . $client->command('BF.EXISTS', 'replaced', 'old'), '10', 'and replaces the whole filter');
is(value("SELECT bloom_redis_push('redis', 'replaced_bits', bloom_create(100), 'bitmap', '90 minutes'); SELECT bloom_redis_push('redis', 'replaced_bits', bloom_create(200), 'bitmap', '90 minutes')"), "\n", 'bitmaps too');
ok($client->command('PTTL', 'replaced_bits') > 5_000_000, 'with a time to live');

for my $key ('user:{42}:seen', 'a}b', '{}', 'x{}y', '{a}{b}', '{open', '用户')
{
	value("SELECT bloom_redis_push('redis', '$key', bloom_add(bloom_create(100), 'x'))");
	my $bytes = $key;

	is($client->command('BF.EXISTS', $bytes, 'x'), 1, 'a key with braces is found under its name');
}

for my $case (['a hash', 'HSET', 'k', 'a', 'b'], ['a string', 'SET', 'k', 'precious'])
{
	my ($what, @command) = @$case;

	$client->command('DEL', 'k');
	$client->command(@command);
	like(error_of("SELECT bloom_redis_push('redis', 'k', bloom_create(100))"),
		qr/ERROR:  key "k".* is not a filter of format "redisbloom".*HINT:.*bloom_redis_unlink/s, "$what in the place is not overwritten");
}
is($client->command('GET', 'k'), 'precious', 'it is still there');
like(error_of("SELECT bloom_redis_push('redis', 'replaced', bloom_create(100), 'bitmap')"), qr/not a filter of format "bitmap"/, 'nor is a filter of the other format');

# out of memory in the middle: the old filter stays and nothing else does
my $small = RedisServer->new(module => RedisServer::bloom_module(), maxmemory => '40mb');
RedisTest::add_server($node, 'small', $small);
for my $format ('redisbloom', 'bitmap')
{
	my $key = "kept_$format";

	value("SELECT bloom_redis_push('small', '$key', bloom_add(bloom_create(100), 'x'), '$format')");
	my $keys = join ' ', sort @{ $small->client->command('KEYS', '*') };
	like(error_of("SELECT bloom_redis_push('small', '$key', f, '$format') FROM large"), qr/ERROR:.*(OOM|Insufficient memory|bad data)/s, "$format: no memory for the new filter");
	is(join(' ', sort @{ $small->client->command('KEYS', '*') }), $keys, "$format: the temporary key is gone");
	is($format eq 'bitmap' ? $small->client->command('BITCOUNT', $key) > 0 : $small->client->command('BF.EXISTS', $key, 'x'), 1, "$format: and the old filter is as it was");
}

# canceled in the middle: what is left expires by itself
{
	my $stopped = RedisServer->new(module => RedisServer::bloom_module());

	RedisTest::add_server($node, 'stopped', $stopped);
	value("SELECT bloom_redis_push('stopped', 'k', bloom_add(bloom_create(100), 'x'))");
	$stopped->pause;
	like(error_of("SET statement_timeout = '1s'; SELECT bloom_redis_push('stopped', 'k', f) FROM large"), qr/ERROR:  canceling statement due to statement timeout/, 'a push to a server that stands still is canceled');
	$stopped->resume;
	is($stopped->client->command('BF.EXISTS', 'k', 'x'), 1, 'the old filter is as it was');
	for my $key (grep { $_ ne 'k' } @{ $stopped->client->command('KEYS', '*') })
	{
		cmp_ok($stopped->client->command('PTTL', $key), '>', 0, 'what is left will expire');
	}
	is(value("SELECT bloom_redis_push('stopped', 'k', bloom_add(bloom_create(100), 'y'))"), '', 'the next push works');
	is($stopped->client->command('BF.EXISTS', 'k', 'y'), 1, 'and is seen');
}

is(value("SELECT bloom_redis_unlink('redis', 'plain'), bloom_redis_unlink('redis', 'plain')"), 't|f', 'unlink');

done_testing();
