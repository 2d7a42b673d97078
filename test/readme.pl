#!/usr/bin/perl
# Run every ```sql block of a Markdown file in order in one database, and
# compare what psql prints with the ```text block that follows, if one does.
#
#   readme.pl FILE [--tag TAG] [--replace TEXT=OTHER] [--write] -- psql and its arguments
#
# Prints TAP; --write puts the real output into the file instead, for review.
# With a tag, the blocks that begin with ```sql TAG are run instead; a text in
# them can be replaced by what it is in the test, and back in what it prints.
use strict;
use warnings;

use IPC::Open2;

my $file = shift @ARGV;
my ($write, $tag, %replace) = (0, '');
while (@ARGV && (my $option = shift @ARGV) ne '--')
{
	if ($option eq '--write') { $write = 1; }
	elsif ($option eq '--tag') { $tag = ' ' . shift @ARGV; }
	elsif ($option eq '--replace') { my ($text, $other) = split /=/, shift @ARGV; $replace{$text} = $other; }
	else { die "unknown option $option\n"; }
}
my @psql = (@ARGV, '-X', '-q', '-v', 'ON_ERROR_STOP=0');

open my $in, '<:encoding(UTF-8)', $file or die "$file: $!";
my @lines = <$in>;
close $in;

# One session for all blocks, as a reader has; a line of our own marks the end
# of each block's output.
my $pid = open2(my $out, my $session, "@{[map { quotemeta } @psql]} 2>&1");
binmode $session, ':encoding(UTF-8)';
binmode $out, ':encoding(UTF-8)';
$session->autoflush(1);

sub run_block
{
	my ($sql) = @_;
	my $mark = '---- end of block ----';
	my @result;

	print $session "$sql\n\\echo $mark\n";
	while (defined(my $line = <$out>))
	{
		last if $line =~ /^\Q$mark\E$/;
		$line =~ s/^psql:<stdin>:\d+: //;
		$line =~ s/\s+$//;
		push @result, $line;
	}
	pop @result while @result && $result[-1] eq '';
	return join "\n", @result;
}

my ($number, $failed) = (0, 0);
my @written;
for (my $i = 0; $i < @lines; $i++)
{
	push @written, $lines[$i];
	next unless $lines[$i] =~ /^```sql\Q$tag\E\s*$/;

	my ($start, $sql) = ($i + 1, '');
	while ($lines[++$i] !~ /^```\s*$/)
	{
		$sql .= $lines[$i];
		push @written, $lines[$i];
	}
	push @written, $lines[$i];

	$sql =~ s/\Q$_\E/$replace{$_}/g for keys %replace;
	my $result = run_block($sql);
	$result =~ s/\Q$replace{$_}\E/$_/g for keys %replace;
	my $expected;
	my $next = $i + 1;
	$next++ while $next < @lines && $lines[$next] =~ /^\s*$/;
	if ($next < @lines && $lines[$next] =~ /^```text\s*$/)
	{
		push @written, @lines[$i + 1 .. $next];
		$i = $next;
		$expected = '';
		$expected .= $lines[$i] while $lines[++$i] !~ /^```\s*$/;
		$expected =~ s/[ \t]+$//mg;
		$expected =~ s/\s+$//;
		push @written, "$result\n", $lines[$i];
	}

	$number++;
	my $good = defined $expected ? $expected eq $result : $result !~ /^(ERROR|FATAL|PANIC|WARNING)/m;
	$failed++ unless $good;
	print $good ? '' : 'not ', "ok $number - block at line $start\n";
	if (!$good)
	{
		print "# $_\n" for 'expected:', split(/\n/, $expected // 'no error'), 'got:', split(/\n/, $result);
	}
}
print "1..$number\n";
close $session;
waitpid $pid, 0;

if ($write)
{
	open my $back, '>:encoding(UTF-8)', $file or die "$file: $!";
	print $back @written;
	close $back;
}
exit($failed || !$number ? 1 : 0);
