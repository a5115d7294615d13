<?php
// Programs with known stacks, for php.py: shapes.php NAME [ARGUMENT]; a web server's request has the name in its query. It runs in PHP 7.4.

function descend($depth) {
  if ($depth) return descend($depth - 1);
  return posix_getppid();
}
function deep($depth) { descend((int)$depth); }

function delegates($left) {
  if ($left) {
    yield from delegates($left - 1);
  } else {
    yield posix_getppid();
  }
}
function chain($length) { foreach (delegates((int)$length) as $v) {} }

// None of these instructions can fail.
function spin($turns) {
  for ($i = 0, $x = 1, $y = 2; $i < $turns; $i++) {
    $x = $y ^ $i;
    $y = $x & 0xffffff;
    $x = $y | 1;
  }
}

// Of a CPU, in microseconds.
function spent() {
  $used = getrusage();
  return ($used["ru_utime.tv_sec"] + $used["ru_stime.tv_sec"]) * 1000000 + $used["ru_utime.tv_usec"] + $used["ru_stime.tv_usec"];
}
// That many hundredths of 104.3 ms: no multiple of a sampling period.
function busy($share) {
  $end = spent() + $share * 1043;
  while (spent() < $end);
}
function seventy() { busy(7); }
function twenty() { busy(2); }
function ten() { busy(1); }
function shares($seconds) {
  while (spent() < $seconds * 1000000) {
    seventy();
    twenty();
    ten();
  }
}

class Page {
  function answer() {
    usleep(100);
  }
}
function serves() { (new Page)->answer(); }

if (PHP_SAPI != "cli") $argv = ["", $_SERVER["QUERY_STRING"]];
if (isset($argv[2])) $argv[2] = (int)$argv[2];
$argv[1](...array_slice($argv, 2));
