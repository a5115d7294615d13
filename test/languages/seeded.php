<?php
// As seeded.py: seeded.php FOLDER SEED COUNT TRIGGER [fork N] [wait]. Functions in C have no file, and are not written down.
class Program {
  public $out, $pull, $random, $depth;

  function __construct($path, $seed, $pull) { $this->out = fopen($path, "w"); $this->random = $seed; $this->pull = $pull; }

  function chance($n) { $this->random = ($this->random * 1103515245 + 12345) & 0x7fffffff; return ($this->random >> 8) % $n; }

  function mark() {
    $lines = ""; $at = null;
    foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $i => $e) {
      if ($i && $at) {
        $name = in_array($e["function"], ["include", "eval"]) ? "{main}" : (isset($e["class"]) ? $e["class"] . "::" : "") . $e["function"];
        $lines .= "$name|$at\n";
      }
      $at = isset($e["file"]) ? $e["file"] . "|" . $e["line"] : null;
    }
    fwrite($this->out, $lines . "{main}|$at\n\n");
    fflush($this->out);
  }

  function leaf() {
    $this->mark(); posix_getppid(); ($this->pull)(...PULLED);
  }

  function go($depth) {
    if ($depth <= 0) return $this->leaf();
    return WAYS[$this->chance(count(WAYS))]($this, $depth - 1);
  }

  function recurse($depth) {
    if ($depth > 0) return $this->recurse($depth - 1);
    return $this->leaf();
  }

  static function by_static_method($p, $depth) { return $p->go($depth); }
  function by_method($depth) { return $this->go($depth); }
  function __call($name, $arguments) { return $this->go(...$arguments); }
  function __get($name) { return $this->go($this->depth); }
  function __invoke($depth) { return $this->go($depth); }
  function __toString() { $this->go($this->depth); return ""; }
}

class Dying {
  public $p, $depth;
  function __construct($p, $depth) { $this->p = $p; $this->depth = $depth; }
  function __destruct() { $this->p->go($this->depth); }
}

class Walked implements IteratorAggregate {
  public $p, $depth;
  function __construct($p, $depth) { $this->p = $p; $this->depth = $depth; }
  function getIterator(): Iterator { $this->p->go($this->depth); return new ArrayIterator([]); }
}

function plain($p, $depth) { return $p->go($depth); }
function by_method($p, $depth) { return $p->by_method($depth); }
function by_static($p, $depth) { return Program::by_static_method($p, $depth); }
function by_closure($p, $depth) { $f = function () use ($p, $depth) { return $p->go($depth); }; return $f(); }
function by_arrow($p, $depth) { return (fn() => $p->go($depth))(); }
function by_map($p, $depth) { return array_map([$p, "go"], [$depth]); }
function by_map_of_closure($p, $depth) { return array_map(function ($d) use ($p) { return $p->go($d); }, [$depth]); }
function by_sort($p, $depth) {
  $done = false;
  $values = [2, 1];
  usort($values, function ($a, $b) use ($p, $depth, &$done) {
    if (!$done) { $done = true; $p->go($depth); }
    return $a <=> $b;
  });
}
function by_name($p, $depth) { return call_user_func("plain", $p, $depth); }
function by_array_of_arguments($p, $depth) { return call_user_func_array([$p, "by_method"], [$depth]); }
function by_regular_expression($p, $depth) { return preg_replace_callback("/a/", fn($m) => (string)$p->go($depth), "a"); }
function generated($p, $depth) { yield $p->go($depth); }
function by_generator($p, $depth) { foreach (generated($p, $depth) as $v) {} }
function by_magic_call($p, $depth) { return $p->no_such_method($depth); }
function by_magic_get($p, $depth) { $p->depth = $depth; return $p->{"no_such_property_$depth"}; }
function by_invocation($p, $depth) { return $p($depth); }
function by_text($p, $depth) { $p->depth = $depth; return "$p"; }
function by_destructor($p, $depth) { $d = new Dying($p, $depth); unset($d); }
function by_iteration($p, $depth) { foreach (new Walked($p, $depth) as $v) {} }
function by_eval($p, $depth) { return eval('return $p->go($depth);'); }
function by_include($p, $depth) { return include INCLUDED; }
function by_handler($p, $depth) {
  try { throw new Exception; } catch (Exception $e) { return $p->go($depth); }
}
function by_finally($p, $depth) {
  try { return 1; } finally { $p->go($depth); }
}
function by_reflection($p, $depth) { return (new ReflectionMethod($p, "by_method"))->invoke($p, $depth); }
function by_walk($p, $depth) { $values = [1]; array_walk($values, fn($v) => $p->go($depth)); }
function by_many_lines($p, $depth) {
  return max(
    0,
    strlen((string)
      $p->go(
        $depth)));
}

const WAYS = ["plain", "by_method", "by_static", "by_closure", "by_arrow", "by_map", "by_map_of_closure", "by_sort", "by_name", "by_array_of_arguments",
  "by_regular_expression", "by_generator", "by_magic_call", "by_magic_get", "by_invocation", "by_text", "by_destructor", "by_iteration",
  "by_eval", "by_include", "by_handler", "by_finally", "by_reflection", "by_walk", "by_many_lines"];

function run($folder, $seed, $count, $pull) {
  $p = new Program("$folder/" . getmypid(), $seed, $pull);
  for ($i = 0; $i < $count; $i++) {
    if ($p->chance(100) < 3) $p->recurse(100 + $p->chance(380));
    else $p->go(1 + $p->chance(24));
  }
}

[, $folder, $seed, $count, $trigger] = $argv;
file_put_contents("/proc/self/comm", "acu-seeded");
define("INCLUDED", tempnam(sys_get_temp_dir(), "acu-languages-"));
file_put_contents(INCLUDED, "<?php\nreturn\n  \$p->go(\$depth);\n");
$triggers = ["getppid" => ["intval", ["1"]], "sleep" => ["usleep", [50]], "spin" => ["crc32", [str_repeat("x", 16 << 20)]]];
define("PULLED", $triggers[$trigger][1]);
if (end($argv) == "wait") { echo "ready\n"; fgets(STDIN); }
if (($argv[5] ?? "") == "fork") {
  $children = [];
  for ($n = 0; $n < (int)$argv[6]; $n++) {
    $pid = pcntl_fork();
    if (!$pid) { run($folder, (int)$seed + $n, (int)$count, $triggers[$trigger][0]); exit(0); }
    $children[] = $pid;
  }
  foreach ($children as $child) pcntl_waitpid($child, $status);
} else {
  run($folder, (int)$seed, (int)$count, $triggers[$trigger][0]);
}
unlink(INCLUDED);
