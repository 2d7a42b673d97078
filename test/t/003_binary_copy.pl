# COPY BINARY out and in, and with files that are damaged: every damage is an
# error or gives a whole, usable value; the server never goes down.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('copy');
$node->init;
$node->start;

my $folder = $node->basedir . '/copies';
mkdir $folder or die "mkdir $folder: $!";

sub query { return $node->safe_psql('postgres', $_[0]); }

query(<<'SQL');
CREATE EXTENSION bloomfilter;
CREATE TABLE filters (id int PRIMARY KEY, f bloom);
INSERT INTO filters VALUES (1, NULL), (2, bloom_create(1000)), (3, bloom_create_with_params(1, 1)),
	(4, bloom_add_all(bloom_create_with_params(8, 3), ARRAY(SELECT generate_series(1, 200))));
INSERT INTO filters SELECT 5, bloom_agg('user:' || i, 1000, 0.01) FROM generate_series(1, 1000) AS i;
INSERT INTO filters SELECT 6, bloom_agg(i, bloom_create_with_params(9585059, 7, 'fnv1a')) FROM generate_series(1, 5000) AS i;
INSERT INTO filters SELECT 7, bloom_agg('key:' || i, 2500000, 0.001) FROM generate_series(1, 100000) AS i;
CREATE TABLE copied (LIKE filters);
SQL
my $started = query('SELECT pg_postmaster_start_time()');

# --- round trips --------------------------------------------------------------

for my $format ('binary', 'text', 'csv')
{
	query("COPY filters TO '$folder/all.$format' (FORMAT $format); TRUNCATE copied;
		COPY copied FROM '$folder/all.$format' (FORMAT $format)");
	is( query('SELECT count(*), count(*) FILTER (WHERE a.f = b.f), count(*) FILTER (WHERE a.f IS NULL AND b.f IS NULL)
			FROM filters a JOIN copied b USING (id)'),
		'7|6|1', "$format: seven rows come back equal");
}
is(query(q{SELECT bool_and(f::bytea::bloom = f AND f::text::bloom = f) FROM filters WHERE f IS NOT NULL}),
	't', 'so they do through bytea and text');
query("COPY copied TO '$folder/again.binary' (FORMAT binary)");
is(-s "$folder/again.binary", -s "$folder/all.binary", 'a second copy has the same size');
ok(slurp_file("$folder/again.binary") eq slurp_file("$folder/all.binary"), 'and the same bytes');

# --- damaged files ------------------------------------------------------------

# A file of one row with one column, whose value is these bytes.
sub copy_file
{
	my ($value) = @_;
	return "PGCOPY\n\377\r\n\0" . pack('NN', 0, 0) . pack('n', 1) . pack('N', length $value) . $value . pack('n', 0xffff);
}

sub portable
{
	my ($id) = @_;
	return pack('H*', query("SELECT encode(f::bytea, 'hex') FROM filters WHERE id = $id"));
}

query(<<'SQL');
CREATE TABLE target (f bloom);
CREATE TABLE outcome (n int, state text, message text, f bloom);
-- Load each file; note the error, or the value after using it in every way.
CREATE PROCEDURE load_files(folder text, n_files int) LANGUAGE plpgsql AS $$
DECLARE
	loaded bloom;
BEGIN
	TRUNCATE outcome;
	FOR n IN 0 .. n_files - 1 LOOP
		BEGIN
			TRUNCATE target;
			EXECUTE format('COPY target FROM %L (FORMAT binary)', folder || '/' || n);
			SELECT f INTO loaded FROM target;
			PERFORM loaded @> 'user:1', bloom_info(loaded), bloom_add(loaded, 'x'), loaded | loaded,
				loaded & loaded, loaded::text::bloom = loaded, bloom_count(loaded), bloom_clear(loaded);
			INSERT INTO outcome VALUES (n, '00000', NULL, loaded);
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO outcome VALUES (n, SQLSTATE, SQLERRM, NULL);
		END;
	END LOOP;
END $$;
SQL

# Load the files; answers rows [n, state, message, equal to the original].
my $batch = 0;
sub load
{
	my ($id, @files) = @_;
	my $place = "$folder/" . $batch++;

	mkdir $place or die "mkdir $place: $!";
	for my $n (0 .. $#files)
	{
		open my $handle, '>:raw', "$place/$n" or die "open: $!";
		print $handle $files[$n];
		close $handle or die "close: $!";
	}
	query("CALL load_files('$place', " . scalar(@files) . ')');
	return map { [ split /\|/, $_, -1 ] }
	  split /\n/, query("SELECT n, state, replace(message, '|', '/'), f = (SELECT f FROM filters WHERE id = $id) FROM outcome ORDER BY n");
}

# Internal errors (XX...) are no way to refuse input.
sub refused_properly
{
	my ($name, @rows) = @_;
	my @bad = grep { $_->[1] ne '00000' && $_->[1] !~ /^(?:22|08|0A|54)/ } @rows;

	is(scalar(@bad), 0, "$name: each error is about the data")
	  or diag(map { "@{$_}[0 .. 2]\n" } @bad);
	return;
}

my $small = portable(5);
my $header = 60;    # bytes before the bits in the portable form
cmp_ok(length $small, '>', 1000, 'there is something to damage');
my ($intact) = load(5, copy_file($small));
is("@$intact[1, 3]", '00000 t', 'an intact file is loaded');

# The value cut anywhere, in a file that is otherwise whole
my @rows = load(5, map { copy_file(substr $small, 0, $_) } 0 .. length($small) - 1);
is(scalar(grep { $_->[1] eq '00000' } @rows), 0, 'no truncated value is accepted');
refused_properly('truncated values', @rows);

# The file cut anywhere.  The server takes the end of a file between rows for the
# end of the data: after 19 or 20 bytes of header, and before or within the marker.
my $file = copy_file($small);
@rows = load(5, map { substr $file, 0, $_ } 0 .. length($file) - 1);
is( scalar(grep { $_->[1] eq '00000' && $_->[0] > 20 && $_->[0] < length($file) - 2 } @rows),
	0, 'no file that ends within a row is accepted');
refused_properly('truncated files', @rows);

# Too long
@rows = load(5, map { copy_file($small . $_) } "\0", "\0" x 8, "\377" x 64, $small);
is(scalar(grep { $_->[1] eq '00000' } @rows), 0, 'no value with bytes after its end is accepted');
refused_properly('long values', @rows);

# One bit flipped, each bit of the header and of the first and last 64 bytes of bits
sub flipped
{
	my ($value, $bit) = @_;
	vec($value, $bit, 1) ^= 1;
	return $value;
}
my @bits = (0 .. ($header + 64) * 8 - 1, (length($small) - 64) * 8 .. length($small) * 8 - 1);
@rows = load(5, map { copy_file(flipped($small, $_)) } @bits);
refused_properly('flipped bits', @rows);
is(scalar(grep { $_->[1] eq '00000' && $_->[3] eq 't' } @rows), 0, 'a flipped bit is never overlooked');
# Capacity, rate and number of hashes say nothing about the bits: another
# number there is another filter, not a broken one.
my @taken = grep { $rows[$_]->[1] eq '00000' } 0 .. $#rows;
my @wrong = grep {
	my $byte = int($bits[$_] / 8);
	!(($byte >= 4 && $byte < 8) || ($byte >= 20 && $byte < 36))
} @taken;
is(scalar(@wrong), 0, 'only in capacity, rate and hashes may another value be meant')
  or diag('bits ' . join ' ', map { $bits[$_] } @wrong);

# Whole bytes of the header, at their extremes
my @bytes;
for my $at (0 .. $header - 1)
{
	for my $byte ("\0", "\177", "\200", "\377")
	{
		my $value = $small;
		substr($value, $at, 1) = $byte;
		push @bytes, copy_file($value);
	}
}
@rows = load(5, @bytes);
refused_properly('overwritten bytes', @rows);

# A header that promises much more than there is must not be believed
my @promises;
for my $at ([ 4, 4 ], [ 12, 8 ], [ 20, 8 ], [ 28, 8 ], [ 36, 8 ])
{
	my ($from, $size) = @$at;
	for my $byte ("\0", "\1", "\177", "\377")
	{
		my $value = $small;
		substr($value, $from, $size) = $byte x $size;
		push @promises, copy_file($value);
		push @promises, copy_file(substr $value, 0, $header);
	}
}
@rows = load(5, @promises);
refused_properly('overwritten fields', @rows);

# The large one, at places spread over it
my $large = portable(7);
@rows = load(7, map { copy_file(flipped($large, $_ * 8999 * 31 + 480)) } 0 .. 99);
is(scalar(grep { $_->[1] eq '00000' } @rows), 0, 'one flipped bit in 4.5 MB is noticed');
refused_properly('flipped bits of the large filter', @rows);
@rows = load(7, map { copy_file(substr $large, 0, $_) } map { int($_ * length($large) / 50) } 0 .. 49);
is(scalar(grep { $_->[1] eq '00000' } @rows), 0, 'the large filter is not accepted cut');
refused_properly('large filter cut', @rows);

# Text, with one character changed
is( query(q{
	CREATE FUNCTION reads(t text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM bloom_info(t::bloom);
		RETURN 'taken';
	EXCEPTION WHEN OTHERS THEN
		RETURN CASE WHEN SQLSTATE ~ '^22' THEN 'refused' ELSE SQLSTATE || SQLERRM END;
	END $$;
	SELECT string_agg(DISTINCT reads(changed), ' ')
	FROM (SELECT f::text AS t FROM filters WHERE id = 5) AS original,
		LATERAL (SELECT left(t, n) FROM generate_series(0, length(t) - 1) AS n
			UNION ALL SELECT overlay(t PLACING c FROM n)
			FROM generate_series(90, length(t) - 4) AS n, unnest(ARRAY['=', '!', E'\u00e4', ' ']) AS c) AS variant(changed)}),
	'refused', 'text that is cut or holds a stray character is refused');

# --- the server ---------------------------------------------------------------

is(query('SELECT pg_postmaster_start_time()'), $started, 'the server is the one that was started');
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|TRAP:/, 'and no process of it went down');

$node->stop;
done_testing();
