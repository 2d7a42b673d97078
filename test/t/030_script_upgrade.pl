# ALTER EXTENSION UPDATE leaves what a fresh installation makes: every object with
# every attribute.  For each script from an older version, and, so that the test
# itself is tested, for made-up next versions whose scripts forget something.
#
# An update needs the install script of the older version.  It is taken from
# test/data/released, not from a tag of git: a release archive has no history.
# So what is released puts its script there: when the default version changes,
#     make sql/bloomfilter--OLD.sql && cp sql/bloomfilter--OLD.sql test/data/released/
# first.  The scripts run with the present library, as they do for somebody who
# restores a dump or runs pg_upgrade: it keeps the functions that they name.

use strict;
use warnings FATAL => 'all';

use File::Basename;
use File::Copy;
use File::Path qw(make_path);
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# --- an installation of our own, into which scripts can be put

# A server looks for its files beside its program, and follows symbolic links to
# that; so the programs are copied, and all else is linked.
my ($bindir, $sharedir, $pkglibdir) = map { my $path = `pg_config --$_`; chomp $path; $path } qw(bindir sharedir pkglibdir);
my $copy = PostgreSQL::Test::Utils::tempdir();
my $scripts = "$copy$sharedir/extension";
make_path("$copy$bindir", $scripts, dirname("$copy$pkglibdir"));
for my $program (glob "$bindir/*")
{
	my $place = "$copy$bindir/" . basename($program);
	if (basename($program) =~ /^(postgres|pg_ctl|initdb)$/)
	{
		copy($program, $place) or die "$program: $!";
		chmod 0755, $place;
	}
	else
	{
		symlink $program, $place or die "$place: $!";
	}
}
symlink $pkglibdir, "$copy$pkglibdir" or die $!;

my $project = "$FindBin::RealBin/../..";
my ($current) = slurp_file("$project/bloomfilter.control") =~ /^default_version *= *'(.*)'/m;
ok(defined $current, 'there is a default version');
# of our own scripts only these: others may be left of an earlier installation
my $installed = "$sharedir/extension/bloomfilter--$current.sql";
for my $file (glob("$sharedir/*"), glob("$sharedir/extension/*"))
{
	next if $file eq "$sharedir/extension" || $file =~ m{/extension/bloomfilter(_redis)?(--|\.)};
	symlink $file, "$copy$file" or die "$file: $!";
}
# the second extension is optional
my $has_redis = -e "$sharedir/extension/bloomfilter_redis.control" && -e "$sharedir/extension/bloomfilter_redis--$current.sql";
my @redis = $has_redis
  ? ("$sharedir/extension/bloomfilter_redis.control", "$sharedir/extension/bloomfilter_redis--$current.sql", glob("$project/redis/sql/bloomfilter_redis--*--*.sql"))
  : ();
for my $file ($installed, "$sharedir/extension/bloomfilter.control",
	glob("$project/test/data/released/*.sql"), glob("$project/sql/bloomfilter--*--*.sql"), @redis)
{
	copy($file, "$scripts/" . basename($file)) or die "$file: $!";
}

my $node = PostgreSQL::Test::Cluster->new('scripts', install_path => $copy . dirname($bindir));
$node->init;
$node->start;
is($node->safe_psql('postgres', q{SELECT setting FROM pg_config WHERE name = 'SHAREDIR'}), "$copy$sharedir", 'the server reads the scripts of the copy');

# --- what the catalog has

# A line for each row that belongs to a member of the extension, with the names of
# objects in place of their OIDs.  Which columns are OIDs, and of what, the
# server knows itself, so no attribute is left out.
$node->safe_psql('template1', <<'SQL');
CREATE SCHEMA look;
CREATE FUNCTION look.named(class regclass, object jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT CASE object #>> '{}' WHEN '0' THEN '-' ELSE (pg_identify_object(class, (object #>> '{}')::oid, 0)).identity END
$$;
CREATE FUNCTION look.rows(class regclass, condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	columns text;
	link record;
	one jsonb;
BEGIN
	-- an expression has places in the script inside
	SELECT string_agg(format(CASE atttypid::regtype::text
		WHEN 'regproc' THEN '%1$I::oid' WHEN 'oidvector' THEN '%1$I::oid[]'
		WHEN 'pg_node_tree' THEN 'pg_get_expr(%1$I, 0) AS %1$I' ELSE '%1$I' END, attname), ', ')
	INTO columns FROM pg_attribute WHERE attrelid = class AND attnum > 0 AND attname <> 'oid';
	FOR one IN EXECUTE format('SELECT to_jsonb(r) FROM (SELECT %s FROM %s WHERE %s) r', columns, class, condition) LOOP
		FOR link IN SELECT fkcols[1] AS name, pktable FROM pg_get_catalog_foreign_keys()
				WHERE fktable = class AND cardinality(fkcols) = 1 AND fkcols[1] <> 'oid' LOOP
			one := jsonb_set(one, ARRAY[link.name], CASE jsonb_typeof(one -> link.name)
				WHEN 'array' THEN (SELECT coalesce(jsonb_agg(look.named(link.pktable, o) ORDER BY n), '[]')
					FROM jsonb_array_elements(one -> link.name) WITH ORDINALITY e(o, n))
				WHEN 'null' THEN 'null' ELSE to_jsonb(look.named(link.pktable, one -> link.name)) END);
		END LOOP;
		RETURN NEXT one::text;
	END LOOP;
END $$;
CREATE FUNCTION look.catalog(extension name) RETURNS TABLE (line text) LANGUAGE sql AS $$
	WITH members AS (
		SELECT classid, objid, (pg_identify_object(classid, objid, 0)).*
		FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
			AND refobjid = (SELECT oid FROM pg_extension WHERE extname = extension))
	SELECT type || ' ' || identity || ': ' || look.rows(classid, 'oid = ' || objid) FROM members
	UNION ALL SELECT type || ' ' || identity || ' as aggregate: ' || look.rows('pg_aggregate', 'aggfnoid = ' || objid)
		FROM members WHERE classid = 'pg_proc'::regclass
	UNION ALL SELECT type || ' ' || identity || ' has: ' || look.rows(part, format('%s = %s', family, objid))
		FROM members, (VALUES ('pg_amop', 'amopfamily'), ('pg_amproc', 'amprocfamily')) p (part, family)
		WHERE classid = 'pg_opfamily'::regclass
	UNION ALL SELECT type || ' ' || identity || ' comment: ' || coalesce(obj_description(objid, classid::regclass::name), 'none') FROM members
	UNION ALL SELECT 'extension: ' || look.rows('pg_extension', format('extname = %L', extension))
$$;
SQL

my $databases = 0;

# The catalog's lines after these statements in a new database, or one line that
# says why there are none.
sub catalog
{
	my ($sql, $extension) = @_;
	my $database = 'look' . ++$databases;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$extension //= 'bloomfilter';
	my ($status, $out, $err) = $node->psql($database, $sql);
	return ("failed after: $sql: $err") if $status;
	my $lines = $node->safe_psql($database, "SELECT line FROM look.catalog('$extension') ORDER BY line COLLATE \"C\"");
	$lines =~ s/\bpg_catalog\.//g;
	return split /\n/, $lines;
}

# What is only in one of two catalogs.
sub differences
{
	my ($updated, $fresh) = @_;
	my %in_updated = map { $_ => 1 } @$updated;
	my %in_fresh = map { $_ => 1 } @$fresh;

	return ((map { "only updated: $_" } grep { !$in_fresh{$_} } @$updated), (map { "only fresh: $_" } grep { !$in_updated{$_} } @$fresh));
}

sub updated
{
	my ($from, $to, $extension) = @_;
	$extension //= 'bloomfilter';
	my @updated = catalog("CREATE EXTENSION $extension VERSION '$from' CASCADE; ALTER EXTENSION $extension UPDATE TO '$to'", $extension);
	my @fresh = catalog("CREATE EXTENSION $extension VERSION '$to' CASCADE", $extension);
	# a failure on both sides is no equality
	return @fresh if @fresh < 2;
	return differences(\@updated, \@fresh);
}

my @fresh = catalog('CREATE EXTENSION bloomfilter');
for my $object (
	'function public.bloom_add(public.bloom,anycompatible)', 'type public.bloom',
	'operator public.@>(public.bloom,anycompatible)', 'cast (bytea AS public.bloom)',
	'operator class public.bloom_ops USING hash', 'operator family public.bloom_ops USING hash has',
	'aggregate public.bloom_agg(anycompatible) as aggregate', 'extension')
{
	ok((grep { index($_, "$object: {") == 0 } @fresh), "the catalog of a fresh installation has: $object");
}
# operator families come with their class, and array types with their element
is(join("\n", grep { / comment: none$/ && !/^(?:operator family|type \S+\[\]) / } @fresh), '', 'and a comment on everything');
is(join("\n", differences([ catalog('CREATE EXTENSION bloomfilter') ], \@fresh)), '', 'it is the same in two databases');

# --- released versions

my @released = grep { $_ ne $current } slurp_file("$project/CHANGELOG.md") =~ /^## (\d[\w.]*)/mg;
for my $version (@released)
{
	ok(-e "$scripts/bloomfilter--$version.sql", "the install script of $version is in test/data/released");
	is(join("\n", updated($version, $current)), '', "from $version to $current");
}
for my $script (glob("$project/sql/bloomfilter--*--*.sql"), $has_redis ? glob("$project/redis/sql/bloomfilter_redis--*--*.sql") : ())
{
	my ($extension, $from, $to) = $script =~ m{/(bloomfilter(?:_redis)?)--(.*)--(.*)\.sql$};
	is(join("\n", updated($from, $to, $extension)), '', "$extension from $from to $to by its own script");
}

# --- made-up next versions

my $new = <<'SQL';
CREATE FUNCTION next(filter bloom, n integer DEFAULT 1) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 7 AS 'SELECT n = 1';
COMMENT ON FUNCTION next(bloom, integer) IS 'next';
CREATE OPERATOR >>> (LEFTARG = bloom, RIGHTARG = integer, FUNCTION = next, RESTRICT = contsel);
COMMENT ON OPERATOR >>> (bloom, integer) IS 'next';
CREATE AGGREGATE next_agg(bloom) (SFUNC = bloom_union, STYPE = bloom, COMBINEFUNC = bloom_union, PARALLEL = SAFE);
COMMENT ON AGGREGATE next_agg(bloom) IS 'next';
CREATE FUNCTION next_cast(bloom) RETURNS json LANGUAGE sql IMMUTABLE STRICT AS 'SELECT to_json($1::text)';
COMMENT ON FUNCTION next_cast(bloom) IS 'next';
CREATE CAST (bloom AS json) WITH FUNCTION next_cast(bloom);
COMMENT ON CAST (bloom AS json) IS 'next';
ALTER FUNCTION bloom_hashes(bloom) COST 55;
SQL
my $install = slurp_file("$scripts/bloomfilter--$current.sql");

# Arguments: name, and a regular expression with what is put for it in the script.
sub made_up
{
	my ($name, $from, $to) = @_;
	my $update = $new;

	$update =~ s/$from/$to/ or die "$name: nothing to spoil" if defined $from;
	for my $pair ([ "next-$name", "$install\n$new" ], [ "$current--next-$name", $update ])
	{
		open my $file, '>', "$scripts/bloomfilter--$pair->[0].sql" or die $!;
		print $file $pair->[1];
		close $file;
	}
	return join "\n", updated($current, "next-$name");
}

is(made_up('right'), '', 'a script that does all is right');
like(made_up('function', qr/CREATE FUNCTION next\(.*?(?=CREATE AGGREGATE)/s, ''), qr/only fresh: function public.next\(/, 'a missing function is found');
like(made_up('volatility', qr/IMMUTABLE/, 'STABLE'), qr/only updated: function public.next\(/, 'another volatility is found');
like(made_up('strictness', qr/IMMUTABLE STRICT/, 'IMMUTABLE'), qr/only updated: function public.next\(/, 'another strictness is found');
like(made_up('parallel', qr/PARALLEL SAFE COST/, 'COST'), qr/only updated: function public.next\(/, 'another parallel safety is found');
like(made_up('cost', qr/COST 55/, 'COST 54'), qr/only updated: function public.bloom_hashes\(/, 'another cost is found');
like(made_up('default', qr/DEFAULT 1/, 'DEFAULT 2'), qr/only updated: function public.next\(/, 'another default is found');
like(made_up('argument', qr/n integer/, 'm integer'), qr/only updated: function public.next\(/, 'another name of an argument is found');
like(made_up('comment', qr/IS 'next'/, "IS 'before'"), qr/only updated: function public.next.* comment: before/, 'another comment is found');
like(made_up('selectivity', qr/contsel/, 'eqsel'), qr/only updated: operator public.>>>/, 'another estimator is found');
like(made_up('combine', qr/COMBINEFUNC = bloom_union, /, ''), qr/only updated: aggregate public.next_agg.* as aggregate/, 'a missing combine function is found');
like(made_up('cast', qr/CREATE CAST .*?;\n.*?;\n/s, ''), qr/only fresh: cast \(public.bloom AS json\)/, 'a missing cast is found');
like(made_up('more', qr/\z/, 'CREATE FUNCTION more() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;'), qr/only updated: function public.more\(/, 'a function too many is found');
like(made_up('member', qr/\z/, 'ALTER EXTENSION bloomfilter DROP FUNCTION next_cast(bloom);'), qr/only fresh: function public.next_cast\(/, 'an object that is no member is found');
like(made_up('error', qr/\z/, 'SELECT 1 / 0;'), qr/only updated: failed after: .*division by zero/s, 'a script that fails is found');

# --- the same of the Redis extension

SKIP:
{
	skip 'bloomfilter_redis is not installed', 1 unless $has_redis;
	for my $version (@released)
	{
		ok(-e "$scripts/bloomfilter_redis--$version.sql", "the install script of bloomfilter_redis $version is in test/data/released");
		is(join("\n", updated($version, $current, 'bloomfilter_redis')), '', "bloomfilter_redis from $version to $current");
	}
	my @all = catalog('CREATE EXTENSION bloomfilter_redis CASCADE', 'bloomfilter_redis');
	for my $object ('foreign-data wrapper bloomfilter_redis', 'function public.bloom_redis_push(')
	{
		ok((grep { index($_, $object) == 0 } @all), "the catalog of bloomfilter_redis has: $object");
	}
	is(join("\n", grep { / comment: none$/ } @all), '', 'and a comment on everything');

	my $script = slurp_file("$scripts/bloomfilter_redis--$current.sql");
	my $more = <<'SQL';
CREATE FUNCTION next_redis(key text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT $1';
COMMENT ON FUNCTION next_redis(text) IS 'next';
CREATE FOREIGN DATA WRAPPER next_wrapper;
COMMENT ON FOREIGN DATA WRAPPER next_wrapper IS 'next';
SQL
	for my $case (
		[ 'right', sub { $_[0] }, qr/\A\z/ ],
		[ 'wrapper', sub { $_[0] =~ s/^.*FOREIGN DATA WRAPPER.*\n//mgr }, qr/only fresh: foreign-data wrapper next_wrapper/ ],
		[ 'strictness', sub { $_[0] =~ s/ STRICT//r }, qr/only updated: function public.next_redis/ ],
		[ 'comment', sub { $_[0] =~ s/\(text\) IS 'next'/(text) IS 'other'/r }, qr/only updated: function public.next_redis.* comment: other/ ])
	{
		my ($name, $spoil, $expected) = @$case;
		my $update = $spoil->($more);
		for my $pair ([ "next-$name", "$script\n$more" ], [ "$current--next-$name", $update ])
		{
			open my $file, '>', "$scripts/bloomfilter_redis--$pair->[0].sql" or die $!;
			print $file $pair->[1];
			close $file;
		}
		like(join("\n", updated($current, "next-$name", 'bloomfilter_redis')), $expected, "bloomfilter_redis: $name");
	}
}

$node->stop;
done_testing();
