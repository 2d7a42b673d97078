# What the tests of README.md and README.zh-CN.md share.

package ReadmeTests;

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename;
use IPC::Run;
use Test::More;

our @EXPORT = qw(run_readme same_blocks links_lead_somewhere objects_are_named);

my $root = dirname(dirname(abs_path(__FILE__)));

sub text_of
{
	my ($file) = @_;

	open my $in, '<:encoding(UTF-8)', "$root/$file" or die "$file: $!";
	local $/;
	return <$in>;
}

# Run the blocks of a file in a new database and compare what they print.
# README_WRITE=1 writes the real output into the file instead, for review.
sub run_readme
{
	my ($node, $file, $least, @options) = @_;
	my $database = $file =~ s/\W/_/gr;
	my ($out, $error) = ('', '');

	$node->safe_psql('postgres', "CREATE DATABASE \"$database\"");
	push @options, '--write' if $ENV{README_WRITE};
	my $ok = IPC::Run::run(
		[
			$^X, "$root/test/readme.pl", "$root/$file", @options, '--', 'psql',
			'-h', $node->host, '-p', $node->port, $database
		],
		'>', \$out, '2>', \$error);
	my $blocks = () = $out =~ /^ok /mg;
	my @bad = $out =~ /^(not ok .*)$/mg;

	cmp_ok($blocks, '>=', $least, "$file: its blocks were run");
	is(scalar(@bad), 0, "$file: every block prints what is shown") or diag($out, $error);
	ok($ok, "$file: the run ended well") or diag($error);
	return;
}

# The SQL blocks, each with the output shown, in the order of the file.
sub blocks
{
	my ($text) = @_;

	return $text =~ /^(```sql[^\n]*\n.*?^```\n(?:\n```text\n.*?^```\n)?)/msg;
}

# The translation has the same blocks as the chapters it translates.
sub same_blocks
{
	my ($chapters) = text_of('README.md') =~ /^(## Quick start\n.*?)^## Reference\n/ms;
	my @blocks = blocks($chapters // '');
	my @translated = blocks(text_of('README.zh-CN.md'));

	cmp_ok(scalar(@blocks), '>', 20, 'the chapters that are translated have blocks');
	is_deeply(\@translated, \@blocks, 'README.zh-CN.md has the same SQL and the same output');
	return;
}

# The names by which links find the headings of a file, and how often each comes.
sub anchors
{
	my ($file) = @_;
	my $text = text_of($file) =~ s/^```.*?^```$//msgr;
	my %anchors;

	$anchors{ lc($_) =~ s/[^\w\- ]//gr =~ tr/ /-/r }++ for $text =~ /^#+ (.*)$/mg;
	return %anchors;
}

sub leads_nowhere
{
	my ($file, $link) = @_;
	my ($path, $anchor) = split /#/, $link;

	return 0 if $link =~ /^\w+:/;
	$path = $file if $path eq '';
	return 1 unless -e "$root/$path";
	return 0 unless defined $anchor;
	my %anchors = anchors($path);
	return !$anchors{$anchor};
}

# Each link to a heading has that heading, each link to a file has that file.
sub links_lead_somewhere
{
	my ($file) = @_;
	my $text = text_of($file) =~ s/^```.*?^```$//msgr;
	my %anchors = anchors($file);
	is(join(' ', grep { $anchors{$_} > 1 } sort keys %anchors), '', "$file: no heading comes twice");

	my @links = $text =~ /\]\(([^)\s]+)\)/g;
	cmp_ok(scalar(@links), '>', 20, "$file: there are links");
	is(join(' ', grep { leads_nowhere($file, $_) } @links), '', "$file: every link leads somewhere");
	return;
}

# Every member of an extension is named in the reference: types, functions,
# aggregates and their columns, operators with each type, casts, operator
# classes, the access method and the foreign data wrapper.  And no function is
# named there that does not exist.
sub objects_are_named
{
	my ($node, $database, @extensions) = @_;
	my ($reference) = text_of('README.md') =~ /^(## Reference\n.*?)^## Performance\n/ms;
	my $list = join ', ', map { "'$_'" } @extensions;
	my $members = "FROM pg_depend JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND deptype = 'e', pg_identify_object(classid, objid, objsubid) i
		WHERE extname IN ($list)";
	my (%functions, @missing);
	my $count = 0;
	my %rows;

	$reference =~ s/^```.*?^```$//msg;
	my $code = join "\n", $reference =~ /`([^`\n]+)`/g;

	while ($reference =~ /^\| `(\S+)`(?:, `(\S+)`)? \| [^|]*: ((?:`\w+`(?:, )?)+) \|$/mg)
	{
		my ($one, $two, $types) = ($1, $2, $3);
		push @{ $rows{ s/\\//r } }, $types for grep { defined } $one, $two;
	}

	for my $line (split /\n/, $node->safe_psql($database, "SELECT i.type || ' ' || i.identity $members ORDER BY 1"))
	{
		my ($kind, $identity) = $line =~ /^(function|aggregate|operator class|operator family|operator|cast|type|access method|foreign-data wrapper) (.*)$/
		  or die "what is $line?";
		my $found;

		$count++;
		$identity =~ s/\b(?:public|pg_catalog)\.//g;
		if ($kind eq 'operator')
		{
			my ($name, @types) = $identity =~ /^([^(]+)\((\w+),(\w+)\)$/;
			$found = !grep { my $type = $_; $type ne 'anycompatible' && !grep { /`$type`/ } @{ $rows{$name} // [] } } @types;
		}
		elsif ($kind eq 'cast')
		{
			my ($from, $to) = $identity =~ /^\((\w+) AS (\w+)\)$/;
			$found = $reference =~ /`${from}::$to`/;
		}
		else
		{
			my ($name) = $identity =~ /^(\w+)/;
			$functions{$name} = 1 if $kind =~ /function|aggregate/;
			$found = $code =~ /\b$name\b/;
		}
		push @missing, $line unless $found;
	}
	is(join("\n", @missing), '', "README.md names every member of @extensions") or diag(join ' ', keys %rows);
	cmp_ok($count, '>', 5, 'there are members');

	# the columns of rows, and the names of arguments that have a default
	my @names = split /\n/, $node->safe_psql($database, "SELECT DISTINCT name FROM (SELECT proname, unnest(proargnames[CASE WHEN proallargtypes IS NULL THEN pronargs - pronargdefaults + 1 ELSE pronargs + 1 END:]) AS name
			FROM pg_proc WHERE oid IN (SELECT objid $members AND classid = 'pg_proc'::regclass)) n WHERE name <> '' ORDER BY 1");
	is(join(' ', grep { $reference !~ /\b\Q$_\E\b/ } @names), '', 'and every column and optional argument');

	my @stale = grep { !$functions{$_} } $reference =~ /`((?:bloom|counting_bloom|scalable_bloom|cuckoo|cms|top_k)_\w+)\(/g;
	@stale = grep { !/redis/ } @stale unless grep { /redis/ } @extensions;
	@stale = grep { /redis/ } @stale unless grep { $_ eq 'bloomfilter' } @extensions;
	is(join(' ', @stale), '', 'and no function that does not exist');
	return;
}

1;
