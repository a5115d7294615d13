<?php
// As seeded.py: seeded.php FOLDER SEED COUNT TRIGGER [fork N] [wait]. Functions in C have no file, and line 0. No new syntax: it runs in PHP 7.4.
class Program {
  public $out, $pull, $random, $depth;

  function __construct($path, $seed, $pull) { $this->out = fopen($path, "w"); $this->random = $seed; $this->pull = $pull; }

  function chance($n) { $this->random = ($this->random * 1103515245 + 12345) & 0x7fffffff; return ($this->random >> 8) % $n; }

  // Each entry has a function and where it was called; the file is missing if a function in C called it.
  function mark() {
    $lines = INNERMOST . "||0\n"; $at = "";
    foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $i => $e) {
      if ($i) {
        $class = isset($e["class"]) ? strtok($e["class"], "\0") . $e["type"] : "";
        $lines .= $class . $e["function"] . "|$at\n";
      }
      $at = isset($e["file"]) ? $e["file"] . "|" . $e["line"] : "|0";
    }
    fwrite($this->out, $lines . "{main}|$at\n\n");
    fflush($this->out);
    if (INNERMOST == "fgets") echo "ready\n";
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
  static function __callStatic($name, $arguments) { return $arguments[0]->go($arguments[1]); }
  function __set($name, $value) { $this->go($this->depth); }
  function __invoke($depth) { return $this->go($depth); }
  function __toString() { $this->go($this->depth); return ""; }
}

trait Shared {
  function by_trait($p, $depth) { return $p->go($depth); }
  static function by_static_trait($p, $depth) { return $p->go($depth); }
}
class Base {
  use Shared;
  function inherited($p, $depth) { return $p->go($depth); }
  static function overridden($p, $depth) { return $p->go($depth); }
}
class Derived extends Base implements ArrayAccess, Countable, JsonSerializable {
  use Shared { by_trait as renamed; }
  public $p, $depth;
  static function overridden($p, $depth) { return parent::overridden($p, $depth); }
  #[ReturnTypeWillChange]
  function offsetGet($depth) { return $this->p->go($depth); }
  #[ReturnTypeWillChange]
  function offsetSet($depth, $v) { $this->p->go($depth); }
  #[ReturnTypeWillChange]
  function offsetExists($depth) { $this->p->go($depth); return true; }
  #[ReturnTypeWillChange]
  function offsetUnset($depth) { $this->p->go($depth); }
  #[ReturnTypeWillChange]
  function count() { $this->p->go($this->depth); return 1; }
  #[ReturnTypeWillChange]
  function jsonSerialize() { $this->p->go($this->depth); return 1; }
}
function derived($p, $depth) { $d = new Derived; $d->p = $p; $d->depth = $depth; return $d; }

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
function by_next($p, $depth) { $g = generated($p, $depth); $g->current(); $g->next(); }
function delegating($p, $depth, $chain) {
  if ($chain) {
    yield from delegating($p, $depth, $chain - 1);
  } else {
    yield 1;
    yield $p->go($depth);
  }
}
function by_delegation($p, $depth) { foreach (delegating($p, $depth, 1) as $v) {} }
function by_long_delegation($p, $depth) {
  $g = delegating($p, $depth, 2 + $p->chance(5));
  $g->rewind();
  $g->next();
}
function by_shared_delegation($p, $depth) {
  $inner = delegating($p, $depth, 1);
  $outer = (function () use ($inner) { yield from $inner; })();
  foreach ($outer as $v) {}
}
function by_delegation_to_array($p, $depth) {
  foreach ((function () use ($p, $depth) { yield from [1]; $p->go($depth); })() as $v) {}
}
function by_trait($p, $depth) { return (new Base)->by_trait($p, $depth); }
// PHP 7.4's backtraces look up the other name, which is not in the function.
function by_renamed_trait($p, $depth) { return PHP_VERSION_ID < 80000 ? $p->go($depth) : derived($p, $depth)->renamed($p, $depth); }
function by_static_trait($p, $depth) { return Derived::by_static_trait($p, $depth); }
function by_inheritance($p, $depth) { return derived($p, $depth)->inherited($p, $depth); }
function by_parent($p, $depth) { return Derived::overridden($p, $depth); }
function by_static_call($p, $depth) { return Program::no_such_function($p, $depth); }
function by_magic_set($p, $depth) { $p->depth = $depth; $p->{"no_such_property_$depth"} = 1; }
function by_item($p, $depth) { return derived($p, $depth)[$depth]; }
function by_item_written($p, $depth) { $d = derived($p, $depth); $d[$depth] = 1; }
function by_item_removed($p, $depth) { $d = derived($p, $depth); unset($d[$depth]); }
function by_item_asked($p, $depth) { return isset(derived($p, $depth)[$depth]); }
function by_count($p, $depth) { return count(derived($p, $depth)); }
function by_json($p, $depth) { return json_encode([derived($p, $depth)]); }
function by_anonymous_class($p, $depth) { return (new class { function call($p, $depth) { return $p->go($depth); } })->call($p, $depth); }
function by_static_closure($p, $depth) { return (static function () use ($p, $depth) { return $p->go($depth); })(); }
function by_bound_closure($p, $depth) { return Closure::bind(function () use ($depth) { return $this->go($depth); }, $p, Program::class)(); }
function by_closure_of_function($p, $depth) { return Closure::fromCallable("plain")($p, $depth); }
function by_closure_of_c($p, $depth) { return Closure::fromCallable("array_map")([$p, "go"], [$depth]); }
function by_many_closures($p, $depth) {
  $f = null;
  foreach ([1, 2, 3] as $n) $f = function () use ($p, $depth, $n) { return $p->go($depth); };
  return $f();
}
function by_error($p, $depth) {
  set_error_handler(function ($number, $text) use ($p, $depth) { $p->go($depth); return true; });
  $x = $undefined . "";
  restore_error_handler();
}
function by_autoload($p, $depth) {
  $load = function ($name) use ($p, $depth, &$load) { spl_autoload_unregister($load); $p->go($depth); };
  spl_autoload_register($load);
  class_exists("NoSuchClass" . $depth);
}
function by_constant_class($p, $depth) {
  $load = function ($name) use ($p, $depth, &$load) { spl_autoload_unregister($load); $p->go($depth); };
  spl_autoload_register($load);
  try { $name = "NoSuchClass$depth"; new $name; } catch (Error $e) {}
}
function throws($p, $depth) { $d = new Dying($p, $depth); throw new Exception; }
function by_destructor_of_thrown($p, $depth) {
  try { throws($p, $depth); } catch (Exception $e) {}
}
function by_fiber($p, $depth) {
  if (!class_exists("Fiber")) return $p->go($depth);
  $f = new Fiber(function () use ($p, $depth) { Fiber::suspend(); $p->go($depth); });
  try {
    $f->start();
    $f->resume();
  } catch (FiberError $e) { // destructors may not switch
    $p->go($depth);
  }
}
function by_require($p, $depth) { return require INCLUDED; }
function by_evaluated_function($p, $depth) {
  static $n = 0;
  $name = "evaluated_" . ++$n;
  eval("function $name(\$p, \$depth) {\n return \$p->go(\$depth); }");
  return $name($p, $depth);
}
function by_filter($p, $depth) { return array_filter([1], function ($v) use ($p, $depth) { $p->go($depth); return true; }); }
function by_iterator_function($p, $depth) { return iterator_to_array(delegating($p, $depth, 0)); }
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

define("WAYS", array_values(array_filter(get_defined_functions()["user"], fn($name) => $name == "plain" || strncmp($name, "by_", 3) == 0)));

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
$triggers = ["getppid" => ["intval", ["1"]], "sleep" => ["usleep", [50]], "spin" => ["md5", [str_repeat("x", 4 << 20)]], "ask" => ["fgets", [STDIN]]];
define("INNERMOST", $trigger == "getppid" ? "posix_getppid" : $triggers[$trigger][0]);
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
