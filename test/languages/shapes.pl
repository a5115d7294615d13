# Programs with known stacks, for perl.py: shapes.pl NAME [ARGUMENT]
use strict;
use warnings;
use Time::HiRes ();

# That many hundredths of 104.3 ms: no multiple of a sampling period.
sub busy {
  my $end = Time::HiRes::clock() + $_[0] * 0.001043;
  1 while Time::HiRes::clock() < $end;
}
sub seventy { busy(7); return }
sub twenty { busy(2); return }
sub ten { busy(1); return }

sub shares {
  my $end = Time::HiRes::time() + $_[0];
  while (Time::HiRes::time() < $end) {
    seventy();
    twenty();
    ten();
  }
}

my $name = shift;
no strict "refs";
&$name(@ARGV);
