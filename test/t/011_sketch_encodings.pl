# top_k keeps its keys in UTF-8 and lists them in the encoding of the database:
# values travel between databases of different encodings.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('encodings');
$node->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->start;
for my $encoding ('LATIN1', 'SQL_ASCII', 'UTF8')
{
	$node->safe_psql('postgres', "CREATE DATABASE \L$encoding\E ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
	$node->safe_psql(lc $encoding, 'CREATE EXTENSION bloomfilter');
}

# The character U+00E4 twice, and perhaps one that LATIN1 does not have.
my $small = $node->safe_psql('utf8', q{SELECT top_k_add(top_k_create(3), U&'\00E4', 2)});
my $large = $node->safe_psql('utf8', qq{SELECT top_k_add('$small'::top_k, U&'\\6F22')});

for my $case ([ 'latin1', 'e4' ], [ 'sql_ascii', 'c3a4' ], [ 'utf8', 'c3a4' ])
{
	my ($database, $bytes) = @$case;
	my $key = "convert_from('\\x$bytes', getdatabaseencoding())";

	is( $node->safe_psql($database, "SELECT textsend(key), count FROM top_k_list('$small'::top_k)"),
		"\\x$bytes|2", "$database: the key is listed in the encoding of the database");
	is($node->safe_psql($database, "SELECT top_k_count('$small'::top_k, $key)"), '2', "$database: and it is the same key");
	is( $node->safe_psql($database, "SELECT top_k_add_all(top_k_create(3), ARRAY[$key, $key])"),
		$small, "$database: the same value is built there");
}

is( $node->safe_psql('sql_ascii', "SELECT string_agg(encode(textsend(key), 'hex'), ' ') FROM top_k_list('$large'::top_k)"),
	'c3a4 e6bca2', 'sql_ascii: any key can be listed');
my ($status, $out, $err) = $node->psql('latin1', "SELECT * FROM top_k_list('$large'::top_k)");
like($err, qr/character with byte sequence 0xe6 0xbc 0xa2 in encoding "UTF8" has no equivalent in encoding "LATIN1"/,
	'latin1: a character that it does not have is an error that names it');

# Bytes that are no UTF-8 can only be a key in SQL_ASCII.
my $raw = $node->safe_psql('sql_ascii', q{SELECT top_k_add(top_k_create(3), convert_from('\xff41', 'SQL_ASCII'))});
is($node->safe_psql('sql_ascii', "SELECT textsend(key) FROM top_k_list('$raw'::top_k)"), '\xff41', 'sql_ascii: raw bytes are listed as added');
($status, $out, $err) = $node->psql('utf8', "SELECT * FROM top_k_list('$raw'::top_k)");
like($err, qr/invalid byte sequence for encoding "UTF8": 0xff/, 'utf8: such a key is an error, not an invalid text');

$node->stop;
done_testing();
