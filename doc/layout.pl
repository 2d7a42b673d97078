#!/usr/bin/perl
# The picture of how the code is laid out, from the files that are there:
#
#   doc/layout.pl > doc/layout.svg
#
# A file that has no room fails, so the picture cannot lag behind unseen.
use strict;
use warnings;

use File::Basename;

chdir dirname($0) . '/..' or die $!;

# The Makefile knows which files need no server.
my $makefile = do { local (@ARGV, $/) = 'Makefile'; <> };
my ($algorithms) = $makefile =~ /^ALGORITHMS = ((?:.*\\\n)*.*)/m or die 'the Makefile has no ALGORITHMS';
my %algorithm = map { $_ => 1 } grep { $_ ne '\\' } split ' ', $algorithms;

# Where a file belongs: the first pattern that fits.  Title, what it is for, pattern.
my @rooms = (
	[ 'functions', 'SQL functions and aggregates', 'thin: arguments in, result out; one body for all types', qr/_sql$|_agg$|^aggregate$|^bloomfilter$/ ],
	[ 'index', 'Index access method', 'a filter over a column, one file per phase', qr/^index_/ ],
	[ 'keys', 'From a value to a key', 'one canonical byte string', qr/^key/ ],
	[ 'values', 'From SQL to a value and back', 'detoast and check; slices of stored filters; text and binary', qr/^(?:gateway|expanded|stored|toastreader|callsite|io|errors|distinct|tempfile)$/ ],
);

my %files;
for my $file (sort glob 'src/*.[ch]')
{
	my $name = basename($file) =~ s/\.[ch]$//r;
	my ($room) = $algorithm{$name} ? 'algorithms' : $name eq 'compat' ? 'compat' : map { $_->[0] } grep { $name =~ $_->[3] } @rooms;
	die "$file has no room in doc/layout.pl\n" unless defined $room;
	push @{ $files{$room} }, $name unless grep { $_ eq $name } @{ $files{$room} };
}
# of the other folders the files are too many
sub names { join ' ', map { basename($_) } sort map { glob } @_ }

my $svg = '';
my $bottom = 0;

sub escaped { $_[0] =~ s/&/&amp;/gr =~ s/</&lt;/gr }

# A room at x, y; returns where it ends.
sub room
{
	my ($x, $y, $width, $colour, $title, $for, $list) = @_;
	my @lines = '';
	for my $word (split ' ', $list)
	{
		push @lines, '' if length($lines[-1]) + length($word) + 1 > ($width - 24) / 7.3;
		$lines[-1] .= ($lines[-1] eq '' ? '' : ' ') . $word;
	}
	my $height = 48 + 17 * (grep { $_ ne '' } @lines);
	$svg .= qq{<rect x="$x" y="$y" width="$width" height="$height" rx="6" fill="$colour" stroke="#444"/>\n};
	$svg .= sprintf qq{<text x="%d" y="%d" class="t">%s</text>\n<text x="%d" y="%d" class="f">%s</text>\n},
		$x + 12, $y + 20, escaped($title), $x + 12, $y + 37, escaped($for);
	my $line_y = $y + 56;
	for my $line (grep { $_ ne '' } @lines)
	{
		$svg .= sprintf qq{<text x="%d" y="%d" class="m">%s</text>\n}, $x + 12, $line_y, escaped($line);
		$line_y += 17;
	}
	$bottom = $y + $height if $y + $height > $bottom;
	return $y + $height;
}

sub arrow
{
	my ($x1, $y1, $x2, $y2) = @_;
	$svg .= qq{<line x1="$x1" y1="$y1" x2="$x2" y2="$y2" stroke="#444" marker-end="url(#a)"/>\n};
}

# What calls is above what is called.
my $top = room(20, 20, 560, '#eef3fb', 'sql/', 'what users see; the Makefile joins the parts, *.in again for each type', names('sql/*.sql.in', grep { !/--/ } glob 'sql/*.sql'));
my $previous = $top;
for my $room (grep { $files{ $_->[0] } } @rooms[ 0, 1 ])
{
	arrow(300, $previous, 300, $previous + 22);
	$previous = room(20, $previous + 24, 560, '#fbf3e6', "src/: $room->[1]", $room->[2], join ' ', @{ $files{ $room->[0] } });
}
my $y = $previous + 24;
arrow(155, $previous, 155, $y - 2);
arrow(440, $previous, 440, $y - 2);
my $keys = room(20, $y, 240, '#fbf3e6', "src/: $rooms[2][1]", $rooms[2][2], join ' ', @{ $files{keys} });
my $values = room(280, $y, 300, '#fbf3e6', "src/: $rooms[3][1]", 'detoast, check, slices, text, binary', join ' ', @{ $files{values} });
$y = ($keys > $values ? $keys : $values) + 24;
arrow(155, $keys, 155, $y - 2);
arrow(440, $values, 440, $y - 2);
my $algorithms_y = $y;
$y = room(20, $y, 560, '#e8f5e9', 'src/: algorithms', 'a pair of files each; build without a server, for tools and the Redis extension', join ' ', sort keys %algorithm);
arrow(300, $y, 300, $y + 22);
$y = room(20, $y + 24, 560, '#e8f5e9', 'src/compat.h', 'all that differs between server versions', '');

my $side = 20;
if (-d 'redis/src')
{
	my $redis = names('redis/src/*.c') =~ s/\.c\b//gr;
	$side = room(610, 20, 270, '#fdeaea', 'redis/', 'a second, optional extension', $redis);
	arrow(600, $algorithms_y + 24, 582, $algorithms_y + 24);
	$svg .= sprintf qq{<path d="M 600 %d V %d H 610" fill="none" stroke="#444"/>\n}, $algorithms_y + 24, $side - 20;
	$side += 24;
}
my @tests = (
	[ 'test/sql, expected/', 'regression tests', '' ],
	[ 'test/t', 'what needs servers: dumps, parallel', '' ],
	[ 'test/data', 'recorded bits and values, read for ever', '' ],
	[ 'test/bench, test/demo', 'measurements; a tour', '' ],
	[ 'test/versions, .ci/run', 'all of it on 15 to 18', '' ]);
for my $test (@tests)
{
	$side = room(610, $side, 270, '#f3f0f7', @$test) + 8;
}

$bottom += 20;
print <<"SVG";
<svg xmlns="http://www.w3.org/2000/svg" width="900" height="$bottom" viewBox="0 0 900 $bottom">
<title>How the code of bloomfilter is laid out: who calls is above who is called</title>
<!-- made by doc/layout.pl -->
<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>
<style>text{font-family:sans-serif;fill:#222}.t{font-size:14px;font-weight:bold}.f{font-size:12px}.m{font-size:12px;font-family:monospace}</style>
<rect width="900" height="$bottom" fill="#fff"/>
$svg</svg>
SVG
