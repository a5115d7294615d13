# Counts the triangles of a road map: towns of which each two are joined by a road. It looks at every three towns.
use strict;
use warnings;

my %road;
my @towns = map { "town $_" } 1 .. 120;

sub read_roads {
  my $seed = 7;
  for my $from (@towns) {
    for my $to (@towns) {
      $seed = ($seed * 1103515245 + 12345) % 2147483648;
      $road{$from}{$to} = $road{$to}{$from} = 1 if $from ne $to && $seed % 10 == 0;
    }
  }
}

sub is_joined {
  my ($from, $to) = @_;
  return $road{$from}{$to};
}

sub triangles {
  my $found = 0;
  for my $a (@towns) {
    for my $b (@towns) {
      for my $c (@towns) {
        $found++ if is_joined($a, $b) && is_joined($b, $c) && is_joined($a, $c);
      }
    }
  }
  return $found / 6;
}

while (1) {
  read_roads();
  printf "%d triangles\n", triangles();
}
