# What is stored and defined in a database of an older server, with values of every
# type: restored from a dump, and taken over by pg_upgrade, it is the same in a
# newer one.  Run by test/upgrade, which says where the older server is.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old_installation = $ENV{OLD_INSTALLATION} or die 'run test/upgrade';
# newer servers have checksums by default, and pg_upgrade wants the same of both
my @init = ('--data-checksums', '--encoding=UTF8', '--locale=C.UTF-8');

my $old = PostgreSQL::Test::Cluster->new('old', install_path => $old_installation);
$old->init(extra => [@init]);
$old->start;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [@init]);

$old->safe_psql('postgres', 'CREATE DATABASE source');
$old->safe_psql('source', slurp_file("$FindBin::RealBin/data/samples.sql") . <<'SQL');
CREATE SCHEMA tools;
CREATE EXTENSION bloomfilter SCHEMA tools;
ALTER DATABASE source SET search_path = public, tools;
SQL
$old->safe_psql('source', <<'SQL');
CREATE VIEW stored_type AS
SELECT typname::text AS type
FROM pg_depend JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND typtype = 'b' AND typcategory <> 'A'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter');

-- Each type by itself, in arrays, domains and rows, with a hash index where it has
-- equality.
DO $$
DECLARE
	t text;
	s samples;
BEGIN
	FOR t IN SELECT type FROM stored_type LOOP
		EXECUTE format('CREATE TABLE %I (name text PRIMARY KEY, value %I, list %2$I[])', 'kept_' || t, t);
		EXECUTE format('CREATE DOMAIN %I AS %I', 'domain_' || t, t);
		EXECUTE format('CREATE TABLE %I (name text PRIMARY KEY, d %I, r %I)', 'inside_' || t, 'domain_' || t, 'kept_' || t);
		IF EXISTS (SELECT FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod
				WHERE amname = 'hash' AND opcdefault AND opcintype = to_regtype(quote_ident(t))) THEN
			EXECUTE format('CREATE INDEX ON %I USING hash (value)', 'kept_' || t);
		END IF;
	END LOOP;
	FOR s IN SELECT * FROM samples LOOP
		EXECUTE format('INSERT INTO %I SELECT %L, value, ARRAY[value, NULL] FROM (SELECT %s AS value) made', 'kept_' || s.type, s.name, s.build);
	END LOOP;
	FOR t IN SELECT type FROM stored_type LOOP
		EXECUTE format('INSERT INTO %I SELECT name, value, kept FROM %I kept', 'inside_' || t, 'kept_' || t);
	END LOOP;
END $$;

-- Operators, functions and aggregates in definitions, and an index that is a filter.
CREATE TABLE words AS SELECT 'user:' || n AS word FROM generate_series(1, 2000) n;
CREATE VIEW known AS SELECT word FROM words WHERE (SELECT value FROM kept_bloom WHERE name = 'texts') @> word;
CREATE VIEW different AS SELECT DISTINCT value FROM kept_bloom;
CREATE MATERIALIZED VIEW rebuilt AS SELECT bloom_agg(word, 1000, 0.01) AS value FROM words;
CREATE TABLE guards (f bloom DEFAULT bloom_create(100), CONSTRAINT small CHECK (bloom_bits(f) < 1000000));
CREATE FUNCTION guard(wanted text) RETURNS boolean LANGUAGE sql STABLE
	BEGIN ATOMIC SELECT value @> wanted FROM kept_bloom WHERE name = 'texts'; END;
DO $$ BEGIN
	EXECUTE format('CREATE INDEX words_known ON words (word) WHERE %L::bloom @> word',
		(SELECT value FROM kept_bloom WHERE name = 'texts'));
	IF EXISTS (SELECT FROM pg_am WHERE amname = 'bloomfilter') THEN
		CREATE INDEX words_filter ON words USING bloomfilter (word);
	END IF;
END $$;

-- One fact a line; the same in both servers.
CREATE FUNCTION facts() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	t text;
	s samples;
	fact text;
BEGIN
	FOR t IN SELECT type FROM stored_type ORDER BY 1 LOOP
		RETURN QUERY EXECUTE format($q$
			SELECT concat_ws(' ', %L, name, length(value::bytea), md5(value::bytea), md5(list::text), md5(inside::text))
			FROM %I JOIN %I AS inside USING (name) ORDER BY name $q$, t, 'kept_' || t, 'inside_' || t);
	END LOOP;
	FOR s IN SELECT * FROM samples ORDER BY type, name LOOP
		EXECUTE format($q$ SELECT count(*) || ' keys, lost ' || count(*) FILTER (WHERE (%s) IS NOT TRUE)
			FROM %I, unnest(%s) AS key WHERE name = %L $q$, s.knows, 'kept_' || s.type, s.keys, s.name) INTO fact;
		RETURN NEXT concat_ws(' ', s.type, s.name, fact);
		fact := NULL;
	END LOOP;
	RETURN QUERY SELECT 'known ' || count(*) || ' ' || md5(string_agg(word, ' ' ORDER BY word)) FROM known;
	RETURN QUERY SELECT 'different ' || count(*) FROM different;
	RETURN QUERY SELECT 'rebuilt ' || md5(value::bytea) FROM rebuilt;
	RETURN QUERY SELECT 'guarded ' || count(*) FROM words WHERE guard(word);
	-- servers differ in what they print around the filter
	RETURN QUERY SELECT 'index of ' || md5(substring(pg_get_expr(indpred, indrelid) FROM '''([^'']+)''')) || indisvalid FROM pg_index WHERE indexrelid = 'words_known'::regclass;
	IF EXISTS (SELECT FROM pg_am WHERE amname = 'bloomfilter') THEN
		RETURN QUERY SELECT 'words not in the index ' || count(*) FROM words WHERE bloom_index_contains('words_filter', word) IS NOT TRUE;
	END IF;
	SET LOCAL enable_seqscan = off;
	RETURN QUERY SELECT 'by hash index ' || string_agg(name, ', ' ORDER BY name)
		FROM kept_bloom WHERE value = (SELECT value FROM kept_bloom WHERE name = '4 MB');
END $$;
SQL

# What the comparisons below stand on.
is($old->safe_psql('source', 'SELECT type FROM stored_type EXCEPT SELECT type FROM samples'), '', 'every type has samples');
my $before = $old->safe_psql('source', 'SELECT facts()');
my @lost = $before =~ /lost (\d+)$/mg;
is(scalar @lost, $old->safe_psql('source', 'SELECT count(*) FROM samples'), 'every sample is looked at');
is(scalar(grep { $_ } @lost), 0, 'and knows its keys');
like($before, qr/^bloom texts 1000 keys, lost 0$/m, 'of which there are some');
like($before, qr/^by hash index 4 MB$/m, 'the hash index finds a filter');

# The text of a query's result, or how it fails.
sub answer
{
	my ($node, $database, $query) = @_;
	my ($status, $out, $err) = $node->psql($database, $query);
	return $status ? $err : $out;
}

sub same
{
	my ($database, $name) = @_;

	is(answer($new, $database, 'SELECT facts()'), $before, "$name: everything is equal");
	is( answer($new, $database, q{SELECT type || name FROM samples WHERE
			xpath_exists('//row', query_to_xml(format('SELECT FROM %I WHERE name = %L AND value::text IS DISTINCT FROM (%s)::text',
				'kept_' || type, name, build), false, false, ''))}),
		'', "$name: what the newer server builds is equal too");
	is( answer($new, $database, q{UPDATE kept_bloom SET value = bloom_add(value, 'new') WHERE name = '4 MB' RETURNING value @> 'new'}),
		't', "$name: a filter can be changed");
	is(answer($new, $database, 'INSERT INTO guards DEFAULT VALUES RETURNING f = bloom_create(100)'), 't', "$name: a default works");
	like(answer($new, $database, 'INSERT INTO guards VALUES (bloom_create_with_params(1000000, 7))'),
		qr/violates check constraint "small"/, "$name: a constraint works");
	is( answer($new, $database, q{BEGIN; DROP EXTENSION bloomfilter CASCADE; SELECT count(*) FROM pg_proc WHERE prosrc LIKE 'bf\_%'}),
		'0', "$name: the extension owns what is its own");
	return;
}

# --- dumps: by the newer server's pg_dump, as one should, and by the older's own

my $dump = $new->basedir . '/dump';
$new->start;
for my $by ($new, $old)
{
	my $name = 'dump by the ' . $by->name . ' pg_dump';
	my $database = 'by_' . $by->name;

	$by->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.$database", $old->connstr('source') ], $name);
	# with -C, for the settings of the database; it keeps the name
	$new->command_ok([ 'pg_restore', '--exit-on-error', '-C', '-d', $new->connstr('postgres'), "$dump.$database" ], "$name: restored");
	same('source', $name);
	$new->safe_psql('postgres', 'DROP DATABASE source');
}

# --- pg_upgrade

$old->stop;
$new->stop;
chdir $new->basedir; # for its logs
$new->command_ok(
	[
		'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir,
		'-b', "$old_installation/bin", '-B', $new->config_data('--bindir'),
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	],
	'pg_upgrade');
$new->start;
like($new->safe_psql('postgres', 'SELECT datname FROM pg_database'), qr/^source$/m, 'pg_upgrade brought the database');
same('source', 'pg_upgrade');

$new->stop;
done_testing();
