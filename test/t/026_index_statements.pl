# Every way in which rows come, and every way in which a probe runs.

use strict;
use warnings FATAL => 'all';

use IndexTests;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('statements', conf => <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
max_parallel_workers_per_gather = 2
max_parallel_workers = 8
max_worker_processes = 8
CONF

sub query { return $node->safe_psql('postgres', $_[0]); }
sub all_there { my ($name, @rest) = @_; is(missing($node, @rest), '0', "$name: every key"); return; }

query(<<'SQL');
CREATE TABLE t (id bigserial PRIMARY KEY, k text UNIQUE, n int);
CREATE INDEX t_k ON t USING bloomfilter (k) WITH (capacity = 1000, fpr = 0.001);
CREATE INDEX t_n ON t USING bloomfilter (n) WITH (capacity = 1000);
SQL

# --- rows come ------------------------------------------------------------------------

query("COPY t (k, n) FROM STDIN;\n" . join('', map { "copy:$_\t$_\n" } 1 .. 30000) . "\\.\n");
all_there('COPY', 't_k', 't');
all_there('COPY', 't_n', 't', 'n');
is(query(q{SELECT count(*) FROM generate_series(1, 30000) AS i WHERE bloom_index_contains('t_k', 'copy:' || i)}), '30000', 'COPY: all are there by name');
isnt(error_of($node, "COPY t (k, n) FROM STDIN;\nbroken:1\t1\nbroken:2\tno number\n\\.\n"), '', 'a COPY that fails in the middle');
query("COPY t (k, n) FROM STDIN;\nafter\t1\n\\.\n");
all_there('COPY after it', 't_k', 't');

query(q{INSERT INTO t (k, n) SELECT 'select:' || i, i FROM generate_series(1, 5000) AS i});
query(q{INSERT INTO t (k, n) VALUES ('select:1', 0), ('conflict:new', -77) ON CONFLICT (k) DO NOTHING});
query(q{INSERT INTO t (k, n) VALUES ('select:2', 0), ('conflict:newer', -78) ON CONFLICT (k) DO UPDATE SET k = 'conflict:' || excluded.k, n = -79});
query(q{UPDATE t SET k = 'updated:' || k, n = -n WHERE id % 10 = 0});
query(q{UPDATE t SET n = n WHERE id % 7 = 0});
query(q{WITH gone AS (DELETE FROM t WHERE id % 11 = 0 RETURNING k, n) INSERT INTO t (k, n) SELECT 'moved:' || k, n FROM gone});
query(q{MERGE INTO t USING (VALUES ('select:3'), ('merged')) AS s (k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET k = 'merged:' || s.k WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.k, -80)});
query(q{INSERT INTO t (k, n) VALUES (NULL, NULL), (NULL, 5), ('', NULL)});
all_there('INSERT, UPDATE, MERGE, ON CONFLICT', 't_k', 't');
all_there('INSERT, UPDATE, MERGE, ON CONFLICT', 't_n', 't', 'n');
is(query(join ', ', "SELECT bloom_index_contains('t_k', 'conflict:select:2')", map { "bloom_index_contains('t_k', '$_')" } 'merged:select:3', 'merged', 'conflict:new', ''),
	't|t|t|t|t', 'those by name, the empty string among them');

query(<<'SQL');
CREATE TABLE source (v text);
CREATE FUNCTION copies() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO t (k, n) VALUES ('trigger:' || NEW.v, length(NEW.v)); RETURN NEW; END $$;
CREATE TRIGGER copies AFTER INSERT ON source FOR EACH ROW EXECUTE FUNCTION copies();
CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.k := upper(NEW.k); RETURN NEW; END $$;
INSERT INTO source SELECT 's' || i FROM generate_series(1, 3000) AS i;
CREATE TRIGGER changes BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION changes();
INSERT INTO t (k) VALUES ('made upper');
DROP TRIGGER changes ON t;
CREATE TABLE generated (a int, b text GENERATED ALWAYS AS ('g' || a) STORED);
CREATE INDEX generated_b ON generated USING bloomfilter (b);
INSERT INTO generated SELECT generate_series(1, 1000);
SQL
all_there('triggers', 't_k', 't');
is(query(q{SELECT bloom_index_contains('t_k', 'trigger:s3000'), bloom_index_contains('t_k', 'MADE UPPER')}), 't|t', 'triggers: by name');
all_there('generated column', 'generated_b', 'generated', 'b');

# Large keys, out of line ones too.
query(q{INSERT INTO t (k, n) SELECT string_agg(md5(i::text || j), ''), 1 FROM generate_series(1, 60) AS i, generate_series(1, 5) AS j GROUP BY j});
query(q{CREATE TABLE large (k text); ALTER TABLE large ALTER k SET STORAGE EXTERNAL; CREATE INDEX large_k ON large USING bloomfilter (k);
	INSERT INTO large SELECT repeat(md5(i::text), 1000 * i) FROM generate_series(1, 20) AS i});
all_there('large keys', 't_k', 't');
all_there('keys out of line', 'large_k', 'large');
query('REINDEX INDEX large_k');
all_there('keys out of line, built', 'large_k', 'large');

# --- what is rolled back -----------------------------------------------------------------

query(<<'SQL');
CREATE TABLE r (k text);
CREATE INDEX r_k ON r USING bloomfilter (k) WITH (capacity = 1, fpr = 0.0001);
BEGIN;
INSERT INTO r VALUES ('before');
SAVEPOINT a;
INSERT INTO r SELECT 'lost:' || i FROM generate_series(1, 20000) AS i;
SAVEPOINT b;
INSERT INTO r SELECT 'lost too:' || i FROM generate_series(1, 20000) AS i;
ROLLBACK TO a;
INSERT INTO r SELECT 'kept:' || i FROM generate_series(1, 3000) AS i;
COMMIT;
SQL
all_there('savepoints', 'r_k', 'r');
is(query('SELECT count(*) FROM r'), '3001', 'savepoints: the rows');
cmp_ok(layers($node, 'r_k'), '>=', 2, 'savepoints: layers that were added stay');
query(q{INSERT INTO r SELECT 'lost:' || i FROM generate_series(1, 20000) AS i});
all_there('the same keys again', 'r_k', 'r');

# A layer that is added in a transaction that fails, or is ended from outside.
query(q{CREATE TABLE e (k text, n int); CREATE INDEX e_k ON e USING bloomfilter (k) WITH (capacity = 1, fpr = 0.0001)});
is(error_of($node, q{INSERT INTO e SELECT 'e' || i, 1 / (30000 - i) FROM generate_series(1, 40000) AS i}), '22012', 'a statement that fails late');
query(q{INSERT INTO e SELECT 'f' || i, 0 FROM generate_series(1, 10000) AS i});
all_there('after an error', 'e_k', 'e');
{
	my $session = session($node);
	begin_query($session, q{INSERT INTO e SELECT 'endless' || i, 0 FROM generate_series(1, 100000000) AS i});
	ok(wait_until(sub { layers($node, 'e_k') >= 4 }), 'a long INSERT adds layers');
	query(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO e%' AND pid <> pg_backend_pid()});
	abandon($session);
}
is(query('SELECT count(*) FROM e'), '10000', 'it was ended');
query(q{INSERT INTO e SELECT 'g' || i, 0 FROM generate_series(1, 10000) AS i});
all_there('after a terminated backend', 'e_k', 'e');

# --- keys of one type, asked as another ----------------------------------------------------

is(query(q{SELECT bloom_index_contains('t_n', 77::smallint), bloom_index_contains('t_n', '77'), bloom_index_contains('t_n', 77::bigint),
	bloom_index_contains('t_n', 77.0::numeric), bloom_index_contains('t_n', 77::float8), bloom_index_contains('t_n', '77'::varchar), bloom_index_contains('t_n', '77'::text)}),
	't|t|t|t|t|t|t', 'an integer index is asked in every type');
is(query(q{SELECT bloom_index_contains_each('t_n', ARRAY['77', NULL, '123456789']), bloom_index_contains_each('t_n', '{}'::int[]), bloom_index_contains_each('t_n', NULL::int[])}),
	'{t,NULL,f}|{}|', 'and for many keys');
isnt(error_of($node, q{SELECT bloom_index_contains('t_n', ARRAY[77])}), '', 'an array is not a key');

# Every type of key: built, inserted, asked with its own type.
my %values = (
	smallint => q{i::smallint}, integer => 'i', bigint => 'i * 10000000000', oid => 'i::oid', numeric => 'i / 7.0', real => '(i / 7.0)::real', 'double precision' => 'i / 7.0::float8',
	text => q{'t' || i}, 'varchar(20)' => q{'t' || i}, 'char(10)' => q{'t' || i}, name => q{('t' || i)::name}, bytea => q{decode(md5(i::text), 'hex')}, uuid => 'md5(i::text)::uuid',
	date => q{date '2000-01-01' + i}, timestamp => q{timestamp '2000-01-01' + i * interval '1.001 s'}, timestamptz => q{timestamptz '2000-01-01' + i * interval '1.001 s'},
	time => q{time '00:00' + i * interval '1 s'}, interval => q{i * interval '1 h'}, inet => q{inet '10.0.0.0' + i}, cidr => q{set_masklen((inet '10.0.0.0' + i)::cidr, 32)},
	macaddr => q{trunc(macaddr '08:00:2b:01:02:03')}, macaddr8 => q{macaddr8 '08:00:2b:01:02:03:04:05'}, boolean => 'i % 2 = 0', jsonb => q{jsonb_build_object('a', i)},
	int4range => 'int4range(i, i + 5)');
for my $type (sort keys %values)
{
	my $value = $values{$type};
	my $create = "CREATE TABLE y (k $type); INSERT INTO y SELECT $value FROM generate_series(1, 500) AS i; CREATE INDEX y_k ON y USING bloomfilter (k);"
	  . " INSERT INTO y SELECT $value FROM generate_series(501, 1000) AS i";
	my $error = error_of($node, $create);
	is($error, '', "$type: an index");
	all_there($type, 'y_k', 'y') if $error eq '';
	is(query(q{SELECT count(*) FROM y WHERE bloom_index_contains_each('y_k', ARRAY[k]) <> '{t}'}), '0', "$type: through an array") if $error eq '';
	query('DROP TABLE IF EXISTS y');
}

# What must not slip in.
query(q{CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN moody AS mood; CREATE DOMAIN word AS text; CREATE DOMAIN words AS text[]});
my @refused = ([ 'mood' => 'an enum' ], [ 'moody' => 'a domain over an enum' ], [ 'text[]' => 'an array' ], [ 'words' => 'a domain over an array' ], [ 'point' => 'a type without a hash' ]);
if (error_of($node, 'CREATE EXTENSION citext') eq '')
{
	query('CREATE DOMAIN nocase AS citext');
	push @refused, [ 'citext' => 'citext' ], [ 'nocase' => 'a domain over citext' ];
	query(q{CREATE TABLE ci (k citext); INSERT INTO ci VALUES ('Mixed')});
	isnt(error_of($node, 'CREATE INDEX ON ci USING bloomfilter (k text_ops)'), '', 'citext with an operator class of text');
	isnt(error_of($node, "CREATE INDEX ON ci USING bloomfilter (k bloomfilter_text_ops)"), '', 'citext with a named operator class');
	query('CREATE INDEX ci_k ON ci USING bloomfilter (lower(k::text))');
	is(query(q{SELECT bloom_index_contains('ci_k', 'mixed')}), 't', 'citext as the hint says');
	isnt(error_of($node, q{SELECT bloom_index_contains('ci_k', 'MIXED'::citext)}), '', 'a probe with citext is refused');
}
for (@refused)
{
	my ($type, $name) = @$_;
	query("CREATE TABLE no (k $type)");
	isnt(error_of($node, 'CREATE INDEX ON no USING bloomfilter (k)'), '', "$name is refused");
	query('DROP TABLE no');
}
query(q{CREATE TABLE d (k word); INSERT INTO d VALUES ('a word'); CREATE INDEX d_k ON d USING bloomfilter (k); INSERT INTO d VALUES ('another')});
all_there('a domain over text', 'd_k', 'd');
SKIP:
{
	skip 'no ICU', 1 if error_of($node, q{CREATE COLLATION nodet (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) ne '';
	query('CREATE TABLE c (k text COLLATE nodet)');
	isnt(error_of($node, 'CREATE INDEX ON c USING bloomfilter (k)'), '', 'a nondeterministic collation is refused');
	is(error_of($node, 'CREATE INDEX ON c USING bloomfilter (k COLLATE "C")'), '', 'the hint works');
}

# --- probes run ---------------------------------------------------------------------------

query(<<'SQL');
CREATE FUNCTION guard(wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF NOT bloom_index_contains('t_k', wanted) THEN
		RETURN 'absent';
	END IF;
	RETURN coalesce((SELECT 'row ' || n FROM t WHERE k = wanted), 'false positive');
END $$;
CREATE PROCEDURE guarded(wanted text, INOUT answer text) LANGUAGE plpgsql AS $$
BEGIN
	answer := 'absent';
	IF NOT bloom_index_contains('t_k', wanted) THEN RETURN; END IF;
	COMMIT;
	answer := 'looked';
END $$;
SQL
is(query(q{SELECT count(*) FROM generate_series(1, 100) AS i WHERE guard('none:' || i) = 'absent'}) >= 95, 1, 'guard: absent keys');
is(query(q{SELECT guard('select:77')}), 'row 77', 'guard: a present one');
is(query(q{INSERT INTO t (k, n) VALUES ('just now', 9); SELECT guard('just now')}), 'row 9', 'guard: at once');
is(query(q{CALL guarded('select:77', NULL)}), 'looked', 'guard in a procedure that commits');
is(query(q{SELECT count(*) FROM t WHERE k IS NOT NULL AND guard(k) = 'absent'}), '0', 'guard: no false negative');

# Prepared, past the switch to a generic plan; and a name that changes its index.
is(query(q{PREPARE p(text) AS SELECT bloom_index_contains('t_k', $1);} . join('', map { "EXECUTE p('select:77'); EXECUTE p('none at all');" } 1 .. 8)), join("\n", ('t', 'f') x 8), 'prepared');
is(query(q{PREPARE q(regclass, text) AS SELECT bloom_index_contains($1, $2);} . join('', map { "EXECUTE q('t_k', 'select:77'); EXECUTE q('t_n', '77'); EXECUTE q('d_k', 'select:77');" } 1 .. 8)),
	join("\n", ('t', 't', 'f') x 8), 'prepared, with the index as a parameter');
is(query(q{SELECT string_agg(bloom_index_contains(i::regclass, k)::text, ' ' ORDER BY ord) FROM (VALUES (1, 't_k', 'select:77'), (2, 'd_k', 'a word'), (3, 't_k', 'a word'), (4, 't_n', '77'), (5, 'd_k', 'select:77')) AS v (ord, i, k)}),
	'true true false true false', 'one call site, many indexes');
{
	my $session = session($node);
	$session->query_safe(q{CREATE FUNCTION by_name(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN bloom_index_contains('d_k', key); END $$});
	is($session->query_safe(q{SELECT by_name('a word')}), 't', 'by name') for 1 .. 7;
	query(q{DROP INDEX d_k; CREATE INDEX d_k ON d USING bloomfilter (k) WITH (fpr = 0.001)});
	is($session->query_safe(q{SELECT by_name('a word')}), 't', 'by name, after it was made anew');
	query('DROP INDEX d_k');
	isnt(session_error($session, q{SELECT by_name('a word')}), '', 'by name, after it was dropped');
	$session->quit;
}

# In a WHERE, over a parallel scan.  The probe itself stays with the leader: the
# index may be of a temporary table, which workers cannot read.
query('ALTER TABLE t SET (parallel_workers = 2); ANALYZE t');
my $probe = q{SELECT count(*) FROM (SELECT k FROM t WHERE k IS NOT NULL OFFSET 0) AS s WHERE bloom_index_contains('t_k', k)};
like(query("EXPLAIN (COSTS OFF) $probe"), qr/Gather.*Parallel/s, 'parallel: a probe above a parallel scan');
is(query($probe), query('SELECT count(k) FROM t'), 'parallel: every key');
is(query("SET parallel_leader_participation = off; $probe"), query('SELECT count(k) FROM t'), 'parallel: rows from workers only');
is(query(q{SELECT count(*) FROM t WHERE bloom_index_contains('t_k', k)}), query('SELECT count(k) FROM t'), 'parallel: in the scan itself');
query(q{CREATE TABLE wanted AS SELECT CASE WHEN i % 2 = 0 THEN 'select:' || i ELSE 'absent:' || i END AS k FROM generate_series(4, 5003) AS i; ALTER TABLE wanted SET (parallel_workers = 2); ANALYZE wanted});
my $join = q{SELECT count(*) FROM wanted JOIN t USING (k)};
is(query("$join WHERE bloom_index_contains('t_k', k)"), query($join), 'a join that is reduced by the filter');
cmp_ok(query(q{SELECT count(*) FROM wanted WHERE bloom_index_contains('t_k', k)}), '<', 2650, 'and reduced it is');

# Scans by an operator, where nothing else serves: right, whatever the plan.
for my $settings ('', 'SET enable_seqscan = off;', 'SET enable_seqscan = off; SET enable_bitmapscan = off;', 'SET enable_seqscan = off; SET enable_indexscan = off;')
{
	is(query("$settings SELECT count(*) FROM r WHERE k = 'kept:77'"), '1', "scan '$settings': present");
	is(query("$settings SELECT count(*) FROM r WHERE k = 'absent'"), '0', "scan '$settings': absent");
	is(query("$settings SELECT count(*) FROM r WHERE k = 'lost:5' OR k = 'kept:77'"), '2', "scan '$settings': either");
	is(query("$settings SELECT count(*) FROM r WHERE k IN ('kept:1', 'kept:2', 'absent')"), '2', "scan '$settings': some");
	is(query("$settings SELECT count(*) FROM r WHERE k = NULL"), '0', "scan '$settings': NULL");
	is(query("$settings SELECT count(*) FROM r WHERE k IS NULL"), '0', "scan '$settings': IS NULL");
	is(query("$settings SELECT count(*) FROM r WHERE k LIKE 'kept:%'"), '3000', "scan '$settings': another operator");
	is(query("$settings SELECT count(*) FROM r AS a JOIN r AS b USING (k) WHERE a.k LIKE 'kept:1%'"), '1111', "scan '$settings': a join");
	is(query("$settings SELECT count(*) FROM r"), '23001', "scan '$settings': all");
}
note query(q{SET enable_seqscan = off; EXPLAIN SELECT * FROM r WHERE k = 'absent'});
query('ANALYZE r; CREATE INDEX r_btree ON r (k)');
like(query(q{EXPLAIN (COSTS OFF) SELECT * FROM r WHERE k = 'kept:77'}), qr/r_btree/, 'another index that serves is chosen');
like(query(q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM r WHERE k = 'kept:77'}), qr/r_btree/, 'also when a sequential scan is forbidden');
unlike(query(q{EXPLAIN (COSTS OFF) SELECT * FROM r}), qr/r_k/, 'a whole scan does not use it');
unlike(query(q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM r ORDER BY k}), qr/r_k\b/, 'nor an order');
unlike(query(q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT count(*) FROM r}), qr/r_k\b/, 'nor a count');

# Cursors, SQL functions, subqueries, COPY (query).
is(query(q{BEGIN; DECLARE c CURSOR FOR SELECT bloom_index_contains('t_k', 'select:' || i) FROM generate_series(4, 6) AS i; FETCH 2 FROM c; SAVEPOINT s; FETCH 1 FROM c; ROLLBACK TO s; COMMIT}), "t\nt\nt", 'a cursor');
is(query(q{CREATE FUNCTION in_sql(x text) RETURNS boolean STABLE LANGUAGE sql AS $$ SELECT bloom_index_contains('t_k', x) $$; SELECT in_sql('select:77'), in_sql('none at all')}), 't|f', 'an SQL function');
is(query(q{COPY (SELECT bloom_index_contains('t_k', 'select:77')) TO STDOUT}), 't', 'COPY of a query');
isnt(error_of($node, q{CREATE INDEX ON wanted (bloom_index_contains('t_k', k))}), '', 'it is not immutable');

checksums_are_right($node, 'statements');
done_testing();
