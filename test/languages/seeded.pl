# As seeded.py: seeded.pl FOLDER SEED COUNT TRIGGER [fork N|threads N] [wait]. It writes what caller() tells. A sort block and code in a regular
# expression are no frames for caller(), but frames for acu, here on the line of the statement that they are in.
use strict;
use utf8;
use List::Util ();

# By file and line: the block there.
our %blocks;

package Program;

sub chance {
  my ($p, $n) = @_;
  $p->{random} = ($p->{random} * 1103515245 + 12345) & 0x7fffffff;
  return ($p->{random} >> 8) % $n;
}

sub mark {
  my ($p) = @_;
  my ($lines, $i) = ("", 0);
  my (undef, $file, $line) = caller(0);
  while (my @next = caller(++$i)) {
    my $name = $next[3] ne "(eval)" ? $next[3] : $next[7] ? "(require)" : "(eval)";
    if (my $block = $blocks{"$file:$line"}) {
      $lines .= "$block|$file|$line\n";
    }
    $lines .= "$name|$file|$line\n";
    (undef, $file, $line) = @next;
  }
  utf8::encode($lines);
  syswrite $p->{out}, "$lines(main)|$file|$line\n\n";
}

my $zeros = "\0" x (8 << 20);

sub leaf {
  my ($p) = @_;
  $p->mark; getppid(); $p->{trigger} eq "ask" ? print("ready\n") && scalar(<STDIN>) : $p->{trigger} eq "sleep" ? select(undef, undef, undef, 0.00005) : $p->{trigger} eq "spin" ? unpack("%32C*", $zeros) : 0;
  return 0;
}

our @ways;

sub go {
  my ($p, $depth) = @_;
  return $p->leaf if $depth <= 0;
  my $way = $ways[$p->chance(scalar @ways)];
  no strict "refs";
  return &{"main::$way"}($p, $depth - 1);
}

sub recurse {
  my ($p, $depth) = @_;
  return $depth > 0 ? $p->recurse($depth - 1) : $p->leaf;
}

sub class_method { my ($class, $p, $depth) = @_; return $p->go($depth); }
sub AUTOLOAD { my ($p, $depth) = @_; return our $AUTOLOAD =~ /DESTROY/ ? 0 : $p->go($depth); }

package Overloaded;
use overload '""' => sub { $_[0]{p}->go($_[0]{depth}); "" }, "+" => "add", "<=>" => sub { $_[0]{p}->go($_[0]{depth}); 0 },
  "&{}" => sub { my $o = shift; sub { $o->{p}->go($o->{depth}) } }, "bool" => sub { 1 };
sub add { my ($o) = @_; $o->{p}->go($o->{depth}); 0 }

package Tied;
sub TIESCALAR { my ($class, $p, $depth) = @_; bless {p => $p, depth => $depth}, $class }
sub FETCH { my ($t) = @_; $t->{p}->go($t->{depth}); }
sub STORE { my ($t) = @_; eval { die "here\n" }; $t->{p}->go($t->{depth}); }
sub TIEHASH { my ($class, $p, $depth) = @_; bless {p => $p, depth => $depth}, $class }
sub EXISTS { my ($t) = @_; eval { $t->{p}->go($t->{depth}) }; }
sub DELETE { my ($t) = @_; my $r = eval '$t->{p}->go($t->{depth})'; $r }

package Dying;
sub DESTROY { my ($d) = @_; $d->{p}->go($d->{depth}); }

package Dying::Within;
sub DESTROY { my ($d) = @_; local $@; eval { $d->{p}->go($d->{depth}) }; }

package main;
our @ways_here = ();

sub plain { my ($p, $depth) = @_; return $p->go($depth); }
sub by_class { my ($p, $depth) = @_; return Program->class_method($p, $depth); }
sub by_name { my ($p, $depth) = @_; my $name = "class_method"; return Program->$name($p, $depth); }
sub by_closure { my ($p, $depth) = @_; my $f = sub { return $p->go($depth) }; return $f->(); }
sub by_reference { my ($p, $depth) = @_; my $f = \&plain; return &$f($p, $depth); }
sub by_same_arguments { return &plain; }
sub by_goto { goto &plain; }
sub by_autoload { my ($p, $depth) = @_; return $p->no_such_method($depth); }
sub by_map { my ($p, $depth) = @_; return map { $p->go($depth) } 1; }
sub by_grep { my ($p, $depth) = @_; return grep { $p->go($_) } $depth; }
sub by_loops {
  my ($p, $depth) = @_;
  for my $i (1) {
    foreach (1, 2) {
      while (1) {
        if ($_ > 1) { return $p->go($depth); }
        last;
      }
    }
  }
}
sub by_eval { my ($p, $depth) = @_; return eval { $p->go($depth) }; }
sub by_nested_evals {
  my ($p, $depth) = @_;
  eval {
    eval { die "here\n" };
    eval { $p->go($depth); 1 } or die $@;
  };
}
sub by_text { my ($p, $depth) = @_; return eval '
  $p->go($depth)'; }
sub by_named_text { my ($p, $depth) = @_; return eval qq(\n#line 77 "/srv/page.tt"\n\$p->go(\$depth)); }
sub by_sub_in_text { my ($p, $depth) = @_; my $f = eval 'sub { return $p->go($depth) }'; return $f->(); }
sub by_begin { my ($p, $depth) = @_; local our @begin = ($p, $depth); return eval 'BEGIN { $main::begin[0]->go($main::begin[1]) } 0'; }
our ($included, @included);
sub by_do { local @included = @_; return do $included; }
sub by_require { local @included = @_; delete $INC{$included}; return require $included; }
sub by_overloaded_text { my ($p, $depth) = @_; my $o = bless {p => $p, depth => $depth}, "Overloaded"; return "$o"; }
sub by_overloaded_add { my ($p, $depth) = @_; my $o = bless {p => $p, depth => $depth}, "Overloaded"; return $o + 1; }
sub by_overloaded_call { my ($p, $depth) = @_; my $o = bless {p => $p, depth => $depth}, "Overloaded"; return $o->(1); }
sub by_overloaded_order { my ($p, $depth) = @_; my @o = map { bless {p => $p, depth => $depth}, "Overloaded" } 1, 2; return $o[0] <=> $o[1]; }
sub by_tied { my ($p, $depth) = @_; tie my $t, "Tied", $p, $depth; my $v = $t; return 0; }
sub by_tied_store { my ($p, $depth) = @_; tie my $t, "Tied", $p, $depth; $t = 1; return 0; }
sub by_tied_exists { my ($p, $depth) = @_; tie my %t, "Tied", $p, $depth; return exists $t{x}; }
sub by_tied_delete { my ($p, $depth) = @_; tie my %t, "Tied", $p, $depth; return delete $t{x}; }
sub by_destructor { my ($p, $depth) = @_; my $d = bless {p => $p, depth => $depth}, "Dying"; undef $d; return 0; }
sub by_destructor_within { my ($p, $depth) = @_; my $d = bless {p => $p, depth => $depth}, "Dying::Within"; undef $d; return 0; }
our @ordered;
sub order { my ($p, $depth, $done) = @ordered; $p->go($depth) if $done && !$$done++; return $a <=> $b; }
sub by_sort_by_name { my ($p, $depth) = @_; my $done = 0; local @ordered = ($p, $depth, \$done); my @s = sort order 2, 1; return 0; }
sub by_sort_by_reference { my ($p, $depth) = @_; my $done; my $f = sub { $p->go($depth) if !$done++; $a <=> $b }; my @s = sort $f 2, 1; return 0; }
sub by_sort {
  my ($p, $depth) = @_;
  my $done;
  BEGIN { $blocks{__FILE__ . ":" . (__LINE__ + 1)} = "(sort)"; }
  my @s = sort { $p->go($depth) if !$done++; $a <=> $b } 2, 1;
  return 0;
}
sub order_by { my ($p, $depth, $done) = @_; $p->go($depth) if !$$done++; return 0; }
sub by_sort_of_calls {
  my ($p, $depth) = @_;
  my $done;
  BEGIN { $blocks{__FILE__ . ":" . (__LINE__ + 1)} = "(sort)"; }
  my @s = sort { order_by($p, $depth, \$done) } 2, 1;
  return 0;
}
sub by_first { my ($p, $depth) = @_; return List::Util::first(sub { $p->go($depth); 1 }, 1, 2); }
sub by_reduce { my ($p, $depth) = @_; return List::Util::reduce(sub { $p->go($depth) }, 1, 2); }
sub by_any { my ($p, $depth) = @_; return List::Util::any(sub { return eval { $p->go($depth) } || 1 }, 1); }
sub by_sum { my ($p, $depth) = @_; return List::Util::sum(bless({p => $p, depth => $depth}, "Overloaded"), 1); }
sub by_pairs { my ($p, $depth) = @_; return List::Util::pairmap(sub { $p->go($depth) }, 1, 2); }
sub by_warning { my ($p, $depth) = @_; local $SIG{__WARN__} = sub { $p->go($depth) }; warn "here\n"; return 0; }
sub by_dying { my ($p, $depth) = @_; my $done; local $SIG{__DIE__} = sub { $p->go($depth) if !$done++ }; eval { die "here\n" }; return 0; }
our $is_handled; # until then further signals wait
sub by_signal {
  my ($p, $depth) = @_;
  return $p->go($depth) if $is_handled || $INC{"threads.pm"};
  local $is_handled = 1;
  local $SIG{USR1} = sub { $p->go($depth) };
  kill USR1 => $$;
  return 0;
}
sub by_substitution { my ($p, $depth) = @_; my $text = "a"; $text =~ s/a/$p->go($depth)/e; return 0; }
sub by_code_in_pattern {
  my ($p, $depth) = @_;
  BEGIN { $blocks{__FILE__ . ":" . (__LINE__ + 1)} = "(?{})"; }
  "a" =~ /a(?{ $p->go($depth); })/;
  return 0;
}
sub by_many_lines {
  my ($p, $depth) = @_;
  my $n = length(
    join "",
      $p->go(
        $depth));
  return $n;
}
sub block_of(&) { my ($f) = @_; return $f->(); }
sub by_block { my ($p, $depth) = @_; return block_of { $p->go($depth) }; }
my sub inner { my ($p, $depth) = @_; return $p->go($depth) }
sub by_lexical_sub { my ($p, $depth) = @_; return inner($p, $depth); }
sub by_größe { my ($p, $depth) = @_; return $p->go($depth); }
{
  no warnings "once";
  *by_alias = sub { my ($p, $depth) = @_; return $p->go($depth) };
}
# Of other files; `try` is later than 5.28.
BEGIN {
  my @parts = ("sub by_line { my (\$p, \$depth) = \@_;\n# line 500 \"/srv/other.pl\"\n  return \$p->go(\$depth);\n}");
  push @parts, 'use feature "try"; no warnings; sub by_try { my ($p, $depth) = @_; try { return $p->go($depth) } catch ($e) { } return 0 }' if $] >= 5.034;
  for (@parts) { eval "#line 1 \"/srv/later.pl\"\n$_; 1" or die $@; }
}

# ----------------------------------------------------------------------------------------------------

sub run {
  my ($folder, $seed, $count, $trigger, $id) = @_;
  open my $out, ">", "$folder/$id" or die $!;
  my $p = bless {out => $out, random => $seed, trigger => $trigger}, "Program";
  for my $i (1 .. $count) {
    if ($p->chance(100) < 3) { $p->recurse(100 + $p->chance(380)); }
    else { $p->go(1 + $p->chance(24)); }
  }
}

my ($folder, $seed, $count, $trigger, $way, $n) = @ARGV;
open my $comm, ">", "/proc/self/comm" or die $!;
print $comm "acu-seeded";
close $comm;
# Before 5.36 what calls a BEGIN block is at no line.
@Program::ways = sort grep { !($_ eq "by_begin" && $] < 5.036) && /^(by_|plain$)/ && defined &{"main::$_"} } keys %main::;
$included = "$folder/included.pl";
open my $file, ">", $included or die $!;
print $file "0;\nreturn\n  \$main::included[0]->go(\$main::included[1]) || 1;\n";
close $file;
$| = 1;
if ($ARGV[-1] eq "wait") { print "ready\n"; my $line = <STDIN>; }
my $get_thread = 186;
if (($way // "") eq "fork") {
  my @children;
  for my $i (1 .. $n) {
    my $pid = fork;
    if (!$pid) { run($folder, $seed + $i, $count, $trigger, $$); exit 0; }
    push @children, $pid;
  }
  waitpid $_, 0 for @children;
} elsif (($way // "") eq "threads") {
  require threads;
  my @threads = map { my $i = $_; threads->create(sub { run($folder, $seed + $i, $count, $trigger, syscall($get_thread)) }) } 1 .. $n;
  $_->join for @threads;
} else {
  run($folder, $seed, $count, $trigger, $$);
}
unlink $included;
