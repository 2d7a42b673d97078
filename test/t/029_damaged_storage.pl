# A stored filter whose chunks were damaged on disk: a probe that needs such a chunk
# reports it as corrupted data, all others answer as before, and no process goes down.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('damaged');
$node->init;
# pages are damaged on purpose; servers from 18 on have checksums
$node->append_conf('postgresql.conf', "restart_after_crash = off\nignore_checksum_failure = on");
$node->start;

sub query { return $node->safe_psql('postgres', $_[0]); }

# 60 kB in 31 chunks; each key is probed in a query of its own, by chunk
query(<<'SQL');
CREATE EXTENSION bloomfilter;
CREATE TABLE filters (f bloom);
INSERT INTO filters SELECT bloom_agg(k, 50000, 0.01) FROM generate_series(1, 50000) k;
CREATE FUNCTION probe(k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT f @> %s FROM filters', k) INTO answer;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, 'toast value \d+ in pg_toast_\d+', 'a value');
END $$;
CREATE VIEW outcome AS SELECT probe(k) AS answer, count(*) FROM generate_series(1, 2000) k GROUP BY 1 ORDER BY 1;
SQL

my $toast = query("SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'filters'::regclass");
my $value = query("SELECT DISTINCT chunk_id FROM $toast");
my $file = $node->data_dir . '/' . query("SELECT pg_relation_filepath('$toast')");
is(query("SELECT count(*) FROM $toast"), '31', 'the filter is stored in chunks');
is(query('SELECT * FROM outcome'), 'true|2000', 'all keys are there');

# Change bytes of a chunk's row, counted from its columns: the value's identifier,
# the number of the chunk, the length of its data, the data.
sub damage
{
	my ($chunk, $at, $bytes) = @_;

	$node->stop;
	my $content = slurp_file($file);
	my $place = index($content, pack('Ll', $value, $chunk));
	die "chunk $chunk is not in $file" if $place < 0;
	my $old = substr($content, $place + $at, length $bytes, $bytes);
	open my $handle, '>:raw', $file or die "$file: $!";
	print $handle $content or die "$file: $!";
	close $handle or die "$file: $!";
	$node->start;
	return $old;
}

# of 7 positions of a key, one in 31 is in a given chunk: 1 - (30 / 31)^7 = 20%
sub is_reported
{
	my ($message, $name) = @_;
	my %count = map { split /\|/ } split /\n/, query('SELECT * FROM outcome');

	is_deeply([ sort keys %count ], [ $message, 'true' ], $name);
	cmp_ok($count{$message} // 0, '>', 300, "$name: by the probes that need it");
	cmp_ok($count{$message} // 0, '<', 510, "$name: and by no others");
}

my $old = damage(5, 4, pack('l', 1000005));
is_reported('XX001 missing or damaged chunk number 5 for a value', 'another number');
damage(1000005, 4, $old);

$old = damage(5, 0, pack('L', $value + 1));
is_reported('XX001 missing or damaged chunk number 5 for a value', 'another value');
$value++;
damage(5, 0, $old);
$value--;

# 4 bytes less, and more than the page has; where the lowest byte comes first, the
# length with its own 4 bytes stands two bits higher
my $is_little_endian = unpack('C', pack('S', 1));
for my $length (1992, 1 << 29)
{
	$old = damage(6, 8, pack('L', $is_little_endian ? ($length + 4) << 2 : $length + 4));
	is_reported('XX001 missing or damaged chunk number 6 for a value', "a length of $length");
	damage(6, 8, $old);
}
is(query('SELECT * FROM outcome'), 'true|2000', 'mended, all keys are there again');

# the head of the filter is in the first chunk: it has more hashes than any may have
$old = damage(0, 12 + 4, pack('L', 1 << 20));
is(query('SELECT * FROM outcome'), 'XX001 invalid value of type filter|2000', 'a damaged head');
damage(0, 12 + 4, $old);
is(query('SELECT * FROM outcome'), 'true|2000', 'mended, all keys are there again');

unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|TRAP:/, 'no process went down');

$node->stop;
done_testing();
