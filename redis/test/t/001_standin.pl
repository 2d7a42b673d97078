# The stand-in for RedisBloom, held to what the real module answered: the golden
# vectors, then replies and errors that the extension relies on.  Given
# REDISBLOOM_MODULE=/path/redisbloom.so, the same tests take that module.

use strict;
use warnings FATAL => 'all';

use Encode 'encode_utf8';
use File::Basename 'dirname';
use JSON::PP;
use MIME::Base64;
use Test::More;
use Time::HiRes 'sleep';

use lib dirname(__FILE__) . '/..';
use RedisClient;
use RedisServer;

plan skip_all => RedisServer->missing if RedisServer->missing;

my $data = dirname(__FILE__) . '/../../../test/data';
my $module = RedisServer::bloom_module();
die "$module is not there: make -C redis/test\n" if !-e $module;

my $server = RedisServer->new(module => $module, port => 1);
my $redis = $server->client;

sub golden
{
	my ($name) = @_;

	open my $file, '<:raw', "$data/$name" or die "$data/$name: $!\n";
	local $/ = undef;
	return JSON::PP->new->utf8->decode(<$file>);
}

# A list as it stands, or what 'user:1' to 'user:500' or 'k0..k39' means.
sub keys_of
{
	my ($list, $rule) = @_;

	return map { encode_utf8($_) } @$list if ref $list;
	my ($first, $last) = $rule ? ($rule->{first}, $rule->{last}) : split /\.\./, $list;
	my ($prefix, $from) = $first =~ /\A(.*?)(-?\d+)\z/;
	my ($to) = $last =~ /(-?\d+)\z/;
	return map { $prefix . $_ } $from .. $to;
}

# The replies to one command for each key.
sub for_each
{
	my ($command, $key, @keys) = @_;

	$redis->send($command, $key, $_) for @keys;
	return map { is_error($_) ? "$_->{message}" : $_ } map { scalar $redis->receive } @keys;
}

# All pieces but the last, which says that there are no more.
sub dump_of
{
	my ($family, $key, $from) = @_;
	my @pieces;
	my $iterator = 0;

	while (1)
	{
		my $reply = ($from // $redis)->command("$family.SCANDUMP", $key, $iterator);

		($iterator, my $piece) = @$reply;
		return \@pieces if $iterator == 0;
		push @pieces, [ $iterator, encode_base64($piece, '') ];
	}
}

sub load_dump
{
	my ($family, $key, $pieces) = @_;

	$redis->command("$family.LOADCHUNK", $key, $_->[0], decode_base64($_->[1])) for @$pieces;
	return;
}

sub info_of
{
	my ($family, $key) = @_;

	return { @{ $redis->command("$family.INFO", $key) } };
}

sub sum
{
	my $sum = 0;

	$sum += $_ for @_;
	return $sum;
}

# The same once more, by every way that a filter can go to another key.
sub check_copies
{
	my ($family, $filter, @more) = @_;
	my $dump = $filter->{scandump};
	my $next;

	load_dump($family, 'loaded', $dump);
	is_deeply(dump_of($family, 'loaded'), $dump, 'a dump that was loaded');
	is_deeply(info_of($family, 'loaded'), $filter->{info}, 'its information');
	$redis->command('RESTORE', 'restored', 0, $redis->command('DUMP', 'golden'));
	is_deeply(dump_of($family, 'restored'), $dump, 'restored');
	$redis->command('EXPIRE', 'restored', 1000);
	$redis->command('RENAME', 'restored', 'renamed');
	is_deeply(dump_of($family, 'renamed'), $dump, 'renamed');
	cmp_ok($redis->command('TTL', 'renamed'), '>', 900, 'with its expiry');

	for_each("$family.ADD", $_, @more) for 'golden', 'loaded', 'renamed';
	$next = dump_of($family, 'golden');
	isnt(encode_json($next), encode_json($dump), 'keys were added');
	is_deeply(dump_of($family, $_), $next, "to the one $_ too") for 'loaded', 'renamed';
	return;
}

for my $filter (@{ golden('redisbloom.json')->{filters} })
{
	subtest "BF: $filter->{name}" => sub {
		my @keys = keys_of($filter->{items}, $filter->{items_rule});
		my %exists = map { encode_utf8($_) => $filter->{exists}{$_} } keys %{ $filter->{exists} };
		my @probes = sort keys %exists;
		my @expected = @exists{@probes};
		my @added;

		$redis->command('FLUSHALL');
		is($redis->command('BF.RESERVE', 'golden', @{ $filter->{reserve} }), 'OK', 'reserved');
		@added = for_each('BF.ADD', 'golden', @keys);
		is(sum(@added), $filter->{newly_added}, 'newly added');
		is_deeply(info_of('BF', 'golden'), $filter->{info}, 'information');
		is($redis->command('BF.CARD', 'golden'), $filter->{newly_added}, 'cardinality');
		is_deeply(dump_of('BF', 'golden'), $filter->{scandump}, 'dump');
		is_deeply([ for_each('BF.EXISTS', 'golden', @probes) ], \@expected, 'exists');
		is_deeply($redis->command('BF.MEXISTS', 'golden', @probes), \@expected, 'all at once');

		if (@keys)
		{
			for my $how ([ 'BF.MADD' ], [ 'BF.INSERT', 'NOCREATE', 'ITEMS' ])
			{
				my ($command, @options) = @$how;

				$redis->command('BF.RESERVE', $command, @{ $filter->{reserve} });
				is_deeply($redis->command($command, $command, @options, @keys), \@added, $command);
				is_deeply(dump_of('BF', $command), $filter->{scandump}, 'the same dump');
			}
		}
		check_copies('BF', $filter, map { "more:$_" } 1 .. 50);
	};
}

subtest 'BF: geometry' => sub {
	for my $entry (@{ golden('redisbloom.json')->{geometry} })
	{
		$redis->command('FLUSHALL');
		$redis->command('BF.RESERVE', 'g', $entry->{error_rate}, $entry->{capacity}, 'NONSCALING');
		my $header = $redis->command('BF.SCANDUMP', 'g', 0)->[1];
		my (undef, $nfilters, $options, undef, $bytes, $bits, undef, undef, undef, $hashes, $entries) =
		  unpack 'Q< L< L< L< Q< Q< Q< d< d< L< Q<', $header;

		is_deeply(
			[ $nfilters, $options, $bytes, $bits, $hashes, $entries ],
			[ 1, 13, @$entry{qw(bytes bits hashes capacity)} ],
			"$entry->{capacity} at $entry->{error_rate}");
	}
};

for my $filter (@{ golden('redisbloom-cuckoo.json')->{filters} })
{
	subtest "CF: $filter->{name}" => sub {
		my @keys = keys_of($filter->{added});
		my @probes = sort keys %{ $filter->{exists} };

		$redis->command('FLUSHALL');
		is($redis->command('CF.RESERVE', 'golden', @{ $filter->{reserve} }), 'OK', 'reserved');
		is(sum(for_each('CF.ADD', 'golden', @keys)), scalar @keys, 'added');
		is(sum(for_each('CF.DEL', 'golden', @{ $filter->{deleted} })),
			scalar @{ $filter->{deleted} }, 'deleted');
		is_deeply(info_of('CF', 'golden'), $filter->{info}, 'information');
		is_deeply(dump_of('CF', 'golden'), $filter->{scandump}, 'dump');
		is_deeply([ for_each('CF.EXISTS', 'golden', @probes) ],
			[ @{ $filter->{exists} }{@probes} ], 'exists');
		is_deeply($redis->command('CF.MEXISTS', 'golden', @probes),
			[ @{ $filter->{exists} }{@probes} ], 'all at once');
		@probes = sort keys %{ $filter->{count} };
		is_deeply([ for_each('CF.COUNT', 'golden', @probes) ],
			[ @{ $filter->{count} }{@probes} ], 'count');
		check_copies('CF', $filter, map { "more:$_" } 1 .. 10);
	};
}

# A reply as it is compared: errors by their message.
sub plain
{
	my ($reply) = @_;

	return is_error($reply) ? "-$reply->{message}" : ref $reply ? [ map { plain($_) } @$reply ] : $reply;
}

# [ 'command and arguments' or [...], reply ], one after the other on no keys.
sub conversation
{
	my ($name, @exchanges) = @_;

	subtest $name => sub {
		$redis->command('FLUSHALL');
		for my $exchange (@exchanges)
		{
			my ($command, $expected) = @$exchange;
			my @arguments = ref $command ? @$command : split ' ', $command;

			is_deeply(plain($redis->try(@arguments)), $expected,
				join ' ', map { s/[^ -~]/./gr } @arguments);
		}
	};
	return;
}

my $wrong_type = '-WRONGTYPE Operation against a key holding the wrong kind of value';
my $not_found = '-ERR not found';
my $full = '-ERR non scaling filter is full';
my $bad_data = '-ERR received bad data';

sub wrong_arity { return "-ERR wrong number of arguments for '$_[0]' command"; }

conversation(
	'BF.RESERVE and BF.INSERT',
	[ 'BF.RESERVE a 0.01 1000 NONSCALING', 'OK' ],
	[ 'BF.RESERVE a 0.01 1000', '-ERR item exists' ],
	[ 'BF.RESERVE b 0.01 1000 NONSCALING EXPANSION 4', '-Nonscaling filters cannot expand' ],
	[ 'BF.RESERVE b 0.01 1000 EXPANSION', '-ERR no expansion' ],
	[ 'BF.RESERVE b 0.01 1000 EXPANSION x', '-ERR bad expansion' ],
	[ 'BF.RESERVE b 0.01 1000 EXPANSION 32769', '-ERR expansion must be in the range [0, 32768]' ],
	[ 'BF.RESERVE b x 1', '-ERR bad error rate' ],
	[ 'BF.RESERVE b 1 1', '-ERR error rate must be in the range (0.000000, 1.000000)' ],
	[ 'BF.RESERVE b 0 1', '-ERR error rate must be in the range (0.000000, 1.000000)' ],
	[ 'BF.RESERVE b 0.01 x', '-ERR bad capacity' ],
	[ 'BF.RESERVE b 0.01 0', '-ERR capacity must be in the range [1, 1073741824]' ],
	[ 'BF.RESERVE b 0.01 1073741825', '-ERR capacity must be in the range [1, 1073741824]' ],
	[ 'BF.RESERVE b 0.01', wrong_arity('bf.reserve') ],
	[ 'EXISTS b', 0 ],
	[ 'BF.RESERVE none 0.01 1000 EXPANSION 0', 'OK' ],
	[ 'BF.INFO none EXPANSION', [undef] ],
	[ 'BF.RESERVE four 0.01 1000 EXPANSION 4', 'OK' ],
	[ 'BF.INFO four expansion', [4] ],
	[ 'BF.INFO four capacity', [1000] ],
	[ 'BF.INFO four size', [1480] ],
	[ 'BF.INFO four filters', [1] ],
	[ 'BF.INFO four items', [0] ],
	[ 'BF.INFO four nothing', '-Invalid information value' ],
	[ 'BF.INSERT i ITEMS a b a', [ 1, 1, 0 ] ],
	[ 'BF.INFO i capacity', [100] ],
	[ 'BF.INSERT j NOCREATE ITEMS a', $not_found ],
	[ 'BF.INSERT j CAPACITY 0 ITEMS a', '-Bad capacity' ],
	[ 'BF.INSERT j CAPACITY 1073741825 ITEMS a', '-Bad capacity' ],
	[ 'BF.INSERT j ERROR 1 ITEMS a', '-Bad error rate' ],
	[ 'BF.INSERT j EXPANSION 32769 ITEMS a', '-Bad expansion' ],
	[ 'BF.INSERT j WHAT a', '-Unknown argument received' ],
	[ 'BF.INSERT j ITEMS', wrong_arity('bf.insert') ],
	[ 'BF.INSERT j CAPACITY', wrong_arity('bf.insert') ],
	[ 'BF.INSERT j NOCREATE CAPACITY 10', wrong_arity('bf.insert') ],
	[ 'EXISTS j', 0 ],
	[ 'BF.INSERT j CAPACITY 500 ERROR 0.001 EXPANSION 8 ITEMS a', [1] ],
	[ 'BF.INFO j capacity', [500] ],
	[ 'BF.INFO j expansion', [8] ],
	[ 'BF.INSERT j CAPACITY 5 ERROR 0.1 ITEMS b', [1] ],
	[ 'BF.INFO j capacity', [500] ],
	[ 'BF.INSERT k NONSCALING EXPANSION 4 ITEMS a', [1] ],
	[ 'BF.INFO k expansion', [undef] ],
	[ 'TYPE k', 'MBbloom--' ]);

conversation(
	'BF: keys that are full, missing or something else',
	[ 'BF.INSERT f CAPACITY 3 NONSCALING ITEMS a b c d e f', [ 1, 1, 1, $full ] ],
	[ 'BF.INSERT f ITEMS a d a', [ 0, $full ] ],
	[ 'BF.MADD f a b c d', [ 0, 0, 0, $full ] ],
	[ 'BF.ADD f d', $full ],
	[ 'BF.ADD f a', 0 ],
	[ 'BF.CARD f', 3 ],
	[ 'BF.EXISTS none x', 0 ],
	[ 'BF.MEXISTS none x y', [ 0, 0 ] ],
	[ 'BF.CARD none', 0 ],
	[ 'BF.INFO none', $not_found ],
	[ 'BF.SCANDUMP none 0', $not_found ],
	[ 'SET s hello', 'OK' ],
	[ 'BF.ADD s x', $wrong_type ],
	[ 'BF.MADD s x y', $wrong_type ],
	[ 'BF.INSERT s ITEMS x', $wrong_type ],
	[ 'BF.RESERVE s 0.01 10', $wrong_type ],
	[ 'BF.EXISTS s x', 0 ],
	[ 'BF.MEXISTS s x y', [ 0, 0 ] ],
	[ 'BF.CARD s', $wrong_type ],
	[ 'BF.INFO s', $wrong_type ],
	[ 'BF.SCANDUMP s 0', $wrong_type ],
	[ 'BF.LOADCHUNK s 1 abc', $wrong_type ],
	[ 'CF.ADD c x', 1 ],
	[ 'BF.ADD c x', $wrong_type ],
	[ 'CF.ADD f x', $wrong_type ],
	[ 'BF.ADD f', wrong_arity('bf.add') ],
	[ 'BF.MADD f', wrong_arity('bf.madd') ],
	[ 'BF.MEXISTS f', wrong_arity('bf.mexists') ]);

# A rate above a quarter is taken down to it, and keys may be any bytes.
conversation(
	'BF: capped rates and any bytes',
	[ 'BF.RESERVE loose 0.5 100 NONSCALING', 'OK' ],
	[ 'BF.RESERVE quarter 0.25 100 NONSCALING', 'OK' ],
	[ 'BF.INSERT inserted ERROR 0.9 CAPACITY 100 NONSCALING ITEMS x', [1] ],
	[ [ 'BF.MADD', 'loose', "a\0b", "a\r\nb", '', "\xff\xfe", '"' ], [ 1, 1, 1, 1, 1 ] ],
	[ [ 'BF.MEXISTS', 'loose', "a\0b", "a\r\nb", '', "\xff\xfe", '"' ], [ 1, 1, 1, 1, 1 ] ],
	[ [ 'BF.MADD', 'quarter', "a\0b", "a\r\nb", '', "\xff\xfe", '"' ], [ 1, 1, 1, 1, 1 ] ]);
is_deeply(dump_of('BF', 'loose'), dump_of('BF', 'quarter'), 'a rate of a half is a quarter');
is(unpack('x44 d<', $redis->command('BF.SCANDUMP', 'inserted', 0)->[1]), 0.25, 'in BF.INSERT too');

# A header with one field changed: offset, template, value.
my $header = do {
	$redis->command('FLUSHALL');
	$redis->command('BF.INSERT', 'h', 'CAPACITY', 10, 'ITEMS', 1 .. 25);
	$redis->command('BF.SCANDUMP', 'h', 0)->[1];
};
my $chunk = $redis->command('BF.SCANDUMP', 'h', 1)->[1];
my @hostile = (
	[ 'items more than the links have', 0, 'Q<', 26 ],
	[ 'no links', 8, 'L<', 0 ],
	[ 'more links than there are', 8, 'L<', 3 ],
	[ 'fewer links than there are', 8, 'L<', 1 ],
	[ 'four billion links', 8, 'L<', 0xffffffff ],
	[ 'an unknown option', 12, 'L<', 5 + 16 ],
	[ 'bytes that are not the bits', 20, 'Q<', 8 ],
	[ 'no bits', 20, 'Q< Q<', 0, 0 ],
	[ 'items of a link', 36, 'Q<', 0 ],
	[ 'items of a link that wrap around', 36, 'Q<', ~0 ],
	[ 'rate of 0', 44, 'd<', 0 ],
	[ 'rate of 1', 44, 'd<', 1 ],
	[ 'rate below 0', 44, 'd<', -0.5 ],
	[ 'bits per entry that are not the hashes', 52, 'd<', 20 ],
	[ 'hashes that are not the bits per entry', 60, 'L<', 9 ],
	[ 'n2 of more bits than there are', 72, 'C', 63 ]);

# RedisBloom asks for so much memory and Redis ends: an old server's allocator
# does not fail.
push @hostile, [ 'bits that wrap around', 20, 'Q<', (1 << 61) + 16 ] if !$ENV{REDISBLOOM_MODULE};

subtest 'BF.LOADCHUNK: hostile headers' => sub {
	is(length $header, 20 + 2 * 53, 'a header of two links');
	for my $case (@hostile)
	{
		my ($name, $offset, $template, @values) = @$case;
		my $bytes = pack $template, @values;
		my $changed = $header;

		substr($changed, $offset, length $bytes) = $bytes;
		is(plain($redis->try('BF.LOADCHUNK', 'n', 1, $changed)), $bad_data, $name);
	}
	for my $length (0, 1, 19, 20, 72, 73, length($header) - 1)
	{
		is(plain($redis->try('BF.LOADCHUNK', 'n', 1, substr $header, 0, $length)),
			$bad_data, "only $length bytes");
	}
	is(plain($redis->try('BF.LOADCHUNK', 'n', 1, $header . "\0")), $bad_data, 'a byte too many');
	is($redis->command('EXISTS', 'n'), 0, 'no key is left');
};

conversation(
	'BF.LOADCHUNK: hostile chunks',
	[ 'BF.LOADCHUNK l 2 abc', $not_found ],
	[ 'BF.LOADCHUNK l x abc', '-ERR Second argument must be numeric' ],
	[ [ 'BF.LOADCHUNK', 'l', 1, $header ], 'OK' ],
	[ [ 'BF.LOADCHUNK', 'l', 1, $header ], $bad_data ],
	[ 'BF.LOADCHUNK l 0 abc', $bad_data ],
	[ 'BF.LOADCHUNK l -4 abc', $bad_data ],
	[ 'BF.LOADCHUNK l 3 abc', '-ERR invalid offset - no link found' ],
	[ 'BF.LOADCHUNK l 99999 abc', '-ERR invalid offset - no link found' ],
	[ 'BF.LOADCHUNK l 9223372036854775807 abc', '-ERR invalid offset - no link found' ],
	[ [ 'BF.LOADCHUNK', 'l', 2 + length $chunk, "$chunk." ],
		'-ERR invalid chunk - Too big for current filter' ],
	[ [ 'BF.LOADCHUNK', 'l', 1 + length $chunk, $chunk ], 'OK' ],
	[ 'BF.SCANDUMP l x', '-Second argument must be numeric' ],
	[ 'BF.SCANDUMP l -1', [ 0, '' ] ],
	[ 'BF.SCANDUMP l 99999', [ 0, '' ] ],
	[ 'BF.SCANDUMP l 1', [ 1 + length $chunk, $chunk ] ]);

# The bits of a link need be whole bytes only, and its size no BF.RESERVE's.
conversation(
	'BF.LOADCHUNK: a link of 1000 bits',
	[
		[
			'BF.LOADCHUNK', 'b', 1,
			pack 'Q< L< L< L< Q< Q< Q< d< d< L< Q< C',
			0, 1, 13, 2, 125, 1000, 0, 0.25, 6.5 / 0.693147180559945, 7, 3, 0
		],
		'OK'
	],
	[ 'BF.MADD b x y z w', [ 1, 1, 1, $full ] ],
	[ 'BF.MEXISTS b x y z w', [ 1, 1, 1, 0 ] ],
	[ 'BF.INFO b size', [ 96 + 125 ] ]);

conversation(
	'CF.RESERVE and CF.INSERT',
	[ 'CF.RESERVE a 64', 'OK' ],
	[ 'CF.RESERVE a 64', '-ERR item exists' ],
	[ 'CF.RESERVE b 3', '-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]' ],
	[ 'CF.RESERVE b 1073741825', '-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]' ],
	[ 'CF.RESERVE b x', '-Bad capacity' ],
	[ 'CF.RESERVE b 100 BUCKETSIZE x', "-Couldn't parse BUCKETSIZE" ],
	[ 'CF.RESERVE b 100 BUCKETSIZE 256', '-BUCKETSIZE: value must be in the range [1, 255]' ],
	[ 'CF.RESERVE b 100 EXPANSION 32769', '-EXPANSION: value must be in the range [0, 32768]' ],
	[ 'CF.RESERVE b 100 MAXITERATIONS 0', '-MAXITERATIONS: value must be in the range [1, 65535]' ],
	[ 'CF.RESERVE b', wrong_arity('cf.reserve') ],
	[ 'EXISTS b', 0 ],
	[ 'CF.RESERVE b 100 BUCKETSIZE 4 EXPANSION 3 MAXITERATIONS 7', 'OK' ],
	[
		'CF.INFO b',
		[
			'Size', 184, 'Number of buckets', 32, 'Number of filters', 1, 'Number of items inserted', 0,
			'Number of items deleted', 0, 'Bucket size', 4, 'Expansion rate', 4, 'Max iterations', 7
		]
	],
	[ 'CF.INSERT i NOCREATE ITEMS a', $not_found ],
	[ 'CF.INSERT i CAPACITY x ITEMS a', '-Bad capacity' ],
	[ 'CF.INSERT i CAPACITY 3 ITEMS a', '-Capacity must be in the range [cf-bucket-size * 2, 1073741824]' ],
	[ 'CF.INSERT i WHAT a', '-Unknown argument received' ],
	[ 'CF.INSERT i ITEMS', wrong_arity('cf.insert') ],
	[ 'CF.INSERT i CAPACITY 10', wrong_arity('cf.insert') ],
	[ 'EXISTS i', 0 ],
	[ 'CF.INSERT i CAPACITY 1000 ITEMS a b a', [ 1, 1, 1 ] ],
	[ 'CF.INSERTNX i ITEMS a c c', [ 0, 1, 0 ] ],
	[ 'CF.ADDNX i c', 0 ],
	[ 'CF.ADDNX i d', 1 ],
	[ 'CF.ADD i d', 1 ],
	[ 'CF.COUNT i d', 2 ],
	[ 'CF.DEL i d', 1 ],
	[ 'CF.DEL i nothing', 0 ],
	[ 'CF.COUNT i d', 1 ],
	[ 'TYPE i', 'MBbloomCF' ],
	[ 'CF.RESERVE one 4 BUCKETSIZE 1 EXPANSION 0', 'OK' ],
	[ 'CF.INSERT one ITEMS x x x y', [ 1, 1, -1, 1 ] ],
	[ 'CF.ADD one x', '-Filter is full' ]);

# A key has no more slots in one sub-filter than its two buckets have.
conversation(
	'CF: one key again and again',
	[ [ 'CF.INSERT', 'd', 'CAPACITY', 64, 'ITEMS', ('x') x 4 ], [ (1) x 4 ] ],
	[ [ 'CF.INSERT', 'd', 'CAPACITY', 64, 'ITEMS', ('x') x 4 ], [ (1) x 4 ] ],
	[ 'CF.COUNT d x', 8 ],
	[ [ 'CF.INSERT', 'd', 'ITEMS', ('x') x (4 * 29 + 1) ], [ (1) x (4 * 29 + 1) ] ],
	[ 'CF.ADD d y', '-Maximum expansions reached' ],
	[ 'CF.DEL d x', 1 ],
	[ 'CF.ADD d y', '-Maximum expansions reached' ]);

my $cuckoo_header = do {
	$redis->command('FLUSHALL');
	$redis->command('CF.INSERT', 'h', 'CAPACITY', 8, 'ITEMS', 1 .. 20);
	$redis->command('CF.SCANDUMP', 'h', 0)->[1];
};
my $cuckoo_chunk = $redis->command('CF.SCANDUMP', 'h', 1)->[1];

conversation(
	'CF: keys that are missing or something else, hostile dumps',
	[ 'CF.EXISTS none x', 0 ],
	[ 'CF.MEXISTS none x y', [ 0, 0 ] ],
	[ 'CF.COUNT none x', 0 ],
	[ 'CF.DEL none x', '-Not found' ],
	[ 'CF.INFO none', $not_found ],
	[ 'CF.SCANDUMP none 0', $not_found ],
	[ 'SET s hello', 'OK' ],
	[ 'CF.ADD s x', $wrong_type ],
	[ 'CF.INSERT s ITEMS x', $wrong_type ],
	[ 'CF.EXISTS s x', 0 ],
	[ 'CF.DEL s x', '-Not found' ],
	[ 'CF.INFO s', $wrong_type ],
	[ 'CF.SCANDUMP s 0', $wrong_type ],
	[ 'CF.LOADCHUNK s 1 abc', $wrong_type ],
	[ 'CF.LOADCHUNK n 1 abc', '-Invalid header' ],
	[ 'CF.LOADCHUNK n 2 abc', $not_found ],
	[ 'CF.LOADCHUNK n 0 abc', '-Invalid position' ],
	(
		map {
			my ($offset, $bytes) = @$_;
			my $changed = $cuckoo_header;

			substr($changed, $offset, length $bytes) = $bytes;
			[ [ 'CF.LOADCHUNK', 'n', 1, $changed ], "-Couldn't create filter!" ]
		  }
		  # buckets, sub-filters, bucket size, iterations, expansion
		  [ 8, pack 'Q<', 0 ], [ 8, pack 'Q<', 3 ], [ 24, pack 'Q<', 0 ],
		[ 32, pack 'S<', 0 ], [ 32, pack 'S<', 256 ], [ 34, pack 'S<', 0 ], [ 36, pack 'S<', 0 ]
	),
	[ 'EXISTS n', 0 ],
	[ [ 'CF.LOADCHUNK', 'n', 1, $cuckoo_header ], 'OK' ],
	[ [ 'CF.LOADCHUNK', 'n', 1, $cuckoo_header ], '-ERR item exists' ],
	[ 'CF.LOADCHUNK n -4 abc', "-Couldn't load chunk!" ],
	[ 'CF.LOADCHUNK n 3 abc', "-Couldn't load chunk!" ],
	[ [ 'CF.LOADCHUNK', 'n', 5, '' ], "-Couldn't load chunk!" ],
	[ 'CF.LOADCHUNK n 99999 abc', "-Couldn't load chunk!" ],
	[ [ 'CF.LOADCHUNK', 'n', 1 + length $cuckoo_chunk, $cuckoo_chunk ], 'OK' ],
	[ 'CF.SCANDUMP n 1', [ 1 + length $cuckoo_chunk, $cuckoo_chunk ] ],
	[ 'CF.SCANDUMP n 99999', [ 0, undef ] ],
	[ 'CF.SCANDUMP n -1', '-Invalid position' ],
	[ 'CF.RESERVE empty 64', 'OK' ],
	[ 'CF.SCANDUMP empty 0', [ 0, undef ] ]);

subtest 'large filters go by chunks of 16 MiB' => sub {
	$redis->command('FLUSHALL');
	$redis->command('BF.RESERVE', 'large', 0.01, 20_000_000, 'NONSCALING');
	$redis->command('BF.MADD', 'large', 1 .. 10000);
	my $dump = dump_of('BF', 'large');

	is_deeply([ map { $_->[0] } @$dump ], [ 1, 1 + (1 << 24), 1 + 23962648 ], 'iterators');
	load_dump('BF', 'copy', $dump);
	is(sum(@{ $redis->command('BF.MEXISTS', 'copy', 1 .. 10000) }), 10000, 'all keys are there');
};

subtest 'a replica and an append-only file have the same' => sub {
	$redis->command('FLUSHALL');
	$redis->command('BF.INSERT', 'b', 'CAPACITY', 100, 'ITEMS', 1 .. 1000);
	$redis->command('CF.INSERT', 'c', 'CAPACITY', 100, 'ITEMS', 1 .. 1000);

	my $replica = RedisServer->new(
		module => $module,
		replica_of => $server,
		args => [ '--appendonly' => 'yes', '--aof-use-rdb-preamble' => 'no' ]);
	my $copy = $replica->client;
	my $wait = sub {
		for (1 .. 600)
		{
			return 1 if $_[0]->();
			sleep 0.1;
		}
		return 0;
	};
	my $same = sub {
		my ($name) = @_;

		is_deeply(dump_of('BF', 'b', $copy), dump_of('BF', 'b'), "BF: $name");
		is_deeply(dump_of('CF', 'c', $copy), dump_of('CF', 'c'), "CF: $name");
	};

	ok($wait->(sub { $redis->command('INFO', 'replication') =~ /state=online/ }), 'the replica is online');
	$same->('as it was');
	$redis->command('BF.ADD', 'b', 'new');
	$redis->command('CF.DEL', 'c', 5);
	is($redis->command('WAIT', 1, 60000), 1, 'the replica has it all');
	$same->('after a change');
	like(plain($copy->try('BF.ADD', 'b', 'x')), qr/^-READONLY /, 'a replica is not written');

	# rewritten: by the commands that load a dump, not those that made it; a first
	# rewrite follows what came from the master
	my $rewritten = sub {
		$copy->command('INFO', 'persistence') =~
		  /aof_rewrite_in_progress:0.*aof_rewrite_scheduled:0.*aof_last_bgrewrite_status:ok/s;
	};

	$copy->command('REPLICAOF', 'NO', 'ONE');
	ok($wait->($rewritten), 'no rewrite is under way');
	$copy->command('BGREWRITEAOF');
	ok($wait->($rewritten), 'the file is rewritten');
	$replica->{options}{replica_of} = undef;
	$replica->restart;
	$copy = $replica->client;
	ok($wait->(sub { !is_error($copy->try('BF.INFO', 'b')) }), 'it is read');
	$same->('from the file');
};

done_testing();
