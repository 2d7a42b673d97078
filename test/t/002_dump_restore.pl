# pg_dump and restore, in each format: every filter comes back equal, and what
# was defined with filters works in the new database.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE source');
$node->safe_psql('source', <<'SQL');
CREATE EXTENSION bloomfilter;
CREATE SCHEMA shop;

CREATE TABLE shop.filters (
	name text PRIMARY KEY,
	f bloom DEFAULT bloom_create(100),
	CONSTRAINT small CHECK (bloom_bits(f) < 100000000)
);
INSERT INTO shop.filters (name) VALUES ('default');
INSERT INTO shop.filters VALUES
	('nothing', NULL),
	('empty', bloom_create(1000)),
	('one bit', bloom_create_with_params(1, 1)),
	('full', bloom_add_all(bloom_create_with_params(8, 3), ARRAY(SELECT generate_series(1, 200)))),
	('same as default', bloom_create(100));
INSERT INTO shop.filters SELECT 'text', bloom_agg('user:' || i, 1000, 0.01) FROM generate_series(1, 1000) AS i;
INSERT INTO shop.filters SELECT 'fnv1a', bloom_agg(i, bloom_create_with_params(9585059, 7, 'fnv1a'))
	FROM generate_series(1, 5000) AS i;
-- 4.5 MB: kept in TOAST, in many pieces
INSERT INTO shop.filters SELECT 'large', bloom_agg('key:' || i, 2500000, 0.001) FROM generate_series(1, 100000) AS i;

-- the other types, each with a default and an index on its operator class
CREATE TABLE shop.others (
	name text PRIMARY KEY,
	k cuckoo_filter DEFAULT cuckoo_create(100, 4, 16)
);
INSERT INTO shop.others (name) VALUES ('default');
INSERT INTO shop.others VALUES ('nothing', NULL), ('removed from', cuckoo_remove(cuckoo_add_all(cuckoo_create(10), ARRAY['a', 'b']), 'a')),
	('one slot', cuckoo_create(1, 1, 32, 1, 0)), ('several', cuckoo_add_all(cuckoo_create(100, 2, 8, 20, 2), ARRAY(SELECT generate_series(1, 1000))));
INSERT INTO shop.others SELECT 'large', cuckoo_agg('key:' || i, 1000000, 4, 16) FROM generate_series(1, 50000) AS i;
CREATE INDEX others_k ON shop.others USING hash (k);
CREATE VIEW shop.known_to_cuckoo AS
	SELECT i FROM generate_series(1, 2000) AS i WHERE (SELECT k FROM shop.others WHERE name = 'several') @> i;
-- the other types
CREATE TABLE shop.sketches (name text PRIMARY KEY, s count_min_sketch DEFAULT cms_create(10, 3), t top_k DEFAULT top_k_create(5));
INSERT INTO shop.sketches (name) VALUES ('default');
INSERT INTO shop.sketches SELECT 'words', cms_agg('user:' || i % 1000, i, 0.0001, 0.01), top_k_agg('user:' || i % 1000, i, 20) FROM generate_series(1, 10000) AS i;
INSERT INTO shop.sketches VALUES ('full', cms_add(cms_create(1, 1), 'a', 9223372036854775807), top_k_add(top_k_create(1), E'\u00e4', 9223372036854775807));
CREATE INDEX sketches_s ON shop.sketches USING hash (s);
CREATE INDEX sketches_t ON shop.sketches USING hash (t);
CREATE VIEW shop.heaviest AS SELECT name, l.* FROM shop.sketches, top_k_list(t) l;
CREATE VIEW shop.day AS SELECT cms_union_agg(s | s) AS s, top_k_union_agg(t | t) AS t FROM shop.sketches WHERE name = 'words';

-- the operators = (hash operator class) and @> in definitions
CREATE INDEX filters_f ON shop.filters USING hash (f);
CREATE TABLE shop.words AS SELECT 'user:' || i AS word FROM generate_series(991, 1010) AS i;
DO $$ BEGIN
	EXECUTE format('CREATE INDEX words_known ON shop.words (word) WHERE %L::bloom @> word',
		(SELECT f FROM shop.filters WHERE name = 'text'));
END $$;
CREATE VIEW shop.known AS
	SELECT word FROM shop.words WHERE (SELECT f FROM shop.filters WHERE name = 'text') @> word;
CREATE VIEW shop.known_from_the_right AS
	SELECT word FROM shop.words WHERE word <@ (SELECT f FROM shop.filters WHERE name = 'text');
CREATE VIEW shop.geometries AS SELECT DISTINCT f FROM shop.filters;
CREATE MATERIALIZED VIEW shop.rebuilt AS SELECT bloom_agg(word, 1000, 0.01) AS f FROM shop.words;
CREATE FUNCTION shop.guard(wanted text) RETURNS boolean LANGUAGE sql STABLE AS
	$$ SELECT f @> wanted FROM shop.filters WHERE name = 'text' $$;
CREATE FUNCTION shop.guard_procedure(wanted text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF NOT (SELECT f @> wanted FROM shop.filters WHERE name = 'text') THEN
		RETURN 'absent';
	END IF;
	RETURN 'look';
END $$;
SQL

# Every filter by its bytes; then what stands on filters, one fact a line.
my %facts = (
	'filters' => q{SELECT string_agg(name || ' ' || coalesce(md5(f::bytea), 'NULL'), E'\n' ORDER BY name) FROM shop.filters},
	'info' => q{SELECT string_agg(name || ' ' || bloom_info(f)::text, E'\n' ORDER BY name) FROM shop.filters},
	'others' => q{SELECT string_agg(name || ' ' || coalesce(md5(k::bytea) || cuckoo_info(k)::text, 'NULL'), E'\n' ORDER BY name) FROM shop.others},
	'view of cuckoo' => 'SELECT count(*), sum(i) FROM shop.known_to_cuckoo',
	'sketches' => q{SELECT string_agg(name || ' ' || md5(s::bytea) || ' ' || md5(t::bytea) || ' ' || cms_info(s)::text || top_k_info(t)::text, E'\n' ORDER BY name) FROM shop.sketches},
	'heaviest' => q{SELECT string_agg(h::text, ' ' ORDER BY name, rank) FROM shop.heaviest h},
	'day' => q{SELECT md5(s::bytea), md5(t::bytea), cms_count(s, 'user:999'), top_k_count(t, 'user:999') FROM shop.day},
	'view with @>' => q{SELECT string_agg(word, ' ' ORDER BY word) FROM shop.known},
	'view with <@' => q{SELECT string_agg(word, ' ' ORDER BY word) FROM shop.known_from_the_right},
	'DISTINCT' => 'SELECT count(*) FROM shop.geometries',
	'materialized view' => 'SELECT md5(f::bytea) FROM shop.rebuilt',
	'sql function' => q{SELECT string_agg(shop.guard(word)::text, ' ' ORDER BY word) FROM shop.words},
	'plpgsql function' => q{SELECT string_agg(shop.guard_procedure(word), ' ' ORDER BY word) FROM shop.words},
	'hash index' => q{SET enable_seqscan = off; SELECT string_agg(name, ', ' ORDER BY name) FROM shop.filters
		WHERE f = (SELECT f FROM shop.filters WHERE name = 'large')},
	'partial index' => q{SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indexrelid = 'shop.words_known'::regclass},
	'default' => q{INSERT INTO shop.filters (name) VALUES ('new') RETURNING f = bloom_create(100)},
);

my %before = map { $_ => $node->safe_psql('source', $_ eq 'default' ? "BEGIN; $facts{$_}; ROLLBACK" : $facts{$_}) } keys %facts;

# What the comparisons below stand on.
cmp_ok(() = $before{'sql function'} =~ /true/g, '>=', 10, 'ten of the twenty words are known');
cmp_ok(() = $before{'sql function'} =~ /false/g, '>=', 8, 'and most of the others are not');
is($before{'view with @>'}, $before{'view with <@'}, 'both operators agree');
like($before{'view of cuckoo'}, qr/^1[0-9]{3}\|/, 'the cuckoo filter knows its 1000 keys and few others');
is($before{'DISTINCT'}, '8', 'nine filters, two of them equal, and NULL');
is($before{'hash index'}, 'large', 'the hash index finds the large filter');
like(
	$node->safe_psql('source', q{SET enable_seqscan = off; EXPLAIN (COSTS OFF)
		SELECT name FROM shop.filters WHERE f = (SELECT f FROM shop.filters WHERE name = 'large')}),
	qr/filters_f/,
	'through the index');
cmp_ok(
	$node->safe_psql('source', q{SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'shop.filters'::regclass}),
	'>', 4000000, 'the large filter is in TOAST');

my $folder = $node->basedir;

sub restored
{
	my ($name, $database) = @_;

	for my $fact (sort keys %facts)
	{
		my $query = $fact eq 'default' ? "BEGIN; $facts{$fact}; ROLLBACK" : $facts{$fact};
		is($node->safe_psql($database, $query), $before{$fact}, "$name: $fact");
	}
	is( $node->safe_psql($database, q{SELECT count(*) FROM generate_series(1, 100000) AS i, shop.filters
			WHERE name = 'large' AND NOT f @> ('key:' || i)}),
		'0', "$name: no key of the large filter is lost");
	my ($status, $out, $err) = $node->psql($database,
		q{INSERT INTO shop.filters VALUES ('too large', bloom_create_with_params(100000000, 7))});
	like($err, qr/violates check constraint "small"/, "$name: the constraint works");
	return;
}

# Plain text, as COPY and as INSERT
for my $style ([], ['--inserts'])
{
	my $name = "plain @$style";
	my $database = @$style ? 'plain_inserts' : 'plain';
	my $file = "$folder/$database.sql";

	$node->command_ok([ 'pg_dump', '-f', $file, @$style, $node->connstr('source') ], "$name: pg_dump");
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr($database) ],
		"$name: restore");
	restored($name, $database);

	my $text = slurp_file($file);
	like($text, qr/CREATE EXTENSION IF NOT EXISTS bloomfilter/, "$name: the extension is dumped as one");
	unlike($text, qr/CREATE (?:TYPE|OPERATOR|AGGREGATE)/, "$name: and not its parts");
}

# Custom and directory format, the latter restored by two processes
for my $format ([ 'custom', '-Fc' ], [ 'directory', '-Fd' ])
{
	my ($name, $option) = @$format;
	my $file = "$folder/$name.dump";

	$node->command_ok([ 'pg_dump', $option, '-f', $file, $node->connstr('source') ], "$name: pg_dump");
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	$node->command_ok(
		[ 'pg_restore', '--exit-on-error', ($name eq 'directory' ? '-j2' : ()), '-d', $node->connstr($name), $file ],
		"$name: restore");
	restored($name, $name);
}

# A dump of a restored database is the same dump.
my @dumps;
for my $database ('source', 'plain')
{
	my $file = "$folder/again_$database.sql";

	$node->command_ok([ 'pg_dump', '-f', $file, $node->connstr($database) ], "$database: dump again");
	my $text = slurp_file($file);
	# newer servers put a random word into a \restrict line
	$text =~ s/^\\(?:un)?restrict .*$//mg;
	push @dumps, $text;
}
ok($dumps[0] eq $dumps[1], 'a dump of the restored database is equal');

$node->stop;
done_testing();
