// A call is told when it returns: then what it was given is in memory, and its registers are still there. Of
// execve(2) the path is taken at the entry, and the words come from the new program.
//
// Calls of 32-bit programs have other numbers; they are left out, and counted.
#include "trace/script.h"

#include "base/text.h"

#include <algorithm>

namespace trace {

namespace {

std::string argument(std::string_view number) {
  static constexpr const char* registers[] = {"di", "si", "dx", "r10", "r8", "r9"};
  std::string out, n(number);
  for (int i = 0; i < 5; i++) out += n + " == " + std::to_string(i) + " ? $r->" + registers[i] + " : ";
  return "(" + out + "$r->" + registers[5] + ")";
}

// One of the two parts of a plan: its address in $pN, how many bytes in $nN.
std::string slot(int n) {
  std::string text = R"(
  $sN = ($plan >> SHIFT) & 0xffffff;
  $iN = $sN & 7; $kN = ($sN >> 3) & 7;
  $pN = ADDRESS;
  $nN = ($sN >> 7) & 0xffff;
  if ($kN == 7) { $nN *= $ret > 0 ? (uint64)$ret : 0; }
  else if ($kN > 0) { $cN = $kN - 1; $nN *= COUNT; }
  if (($sN & 64 && $ret < 0) || !$pN) { $nN = 0; }
  $lN = $pN ? (uint64)COPIED : 0;
)";
  base::replace_all(text, "ADDRESS", argument("$iN"));
  base::replace_all(text, "COUNT", argument("$cN"));
  base::replace_all(text, "SHIFT", std::to_string(8 + 24 * (n - 1)));
  for (char name : {'s', 'i', 'k', 'p', 'n', 'c', 'l'})
    base::replace_all(text, std::string("$") + name + "N", std::string("$") + name + std::to_string(n));
  return text;
}

constexpr std::string_view frame = R"(
rawtracepoint:sys_enter {
  $r = args.regs; $nr = (int64)args.id; $ret = (int64)-1;
  if (CONDITION) {
    $plan = IS_FOREIGN ? (uint64)0 : @plan[$nr];
    if (IS_FOREIGN) { @foreign = count(); }
    if ($plan) {
      @start[tid] = nsecs;
      if ($plan & 16) { @entry[tid] = (str(uptr((uint8*)($nr == 322 ? $r->si : $r->di))), $r->di, $r->si, $r->dx, $r->r10, $r->r8); }
      if (!($plan & 8) && NO_RETURN) { $d = (uint64)-1; print((HEAD TAIL)); }
    }
  }
}
rawtracepoint:sys_exit {
  $start = @start[tid];
  if ($start) {
    $r = args.regs; $ret = (int64)args.ret; $nr = (int64)$r->orig_ax; $d = (uint64)nsecs - $start;
    delete(@start, tid);
    $plan = @plan[$nr];
    if ($plan && LEAST) {
      if ($plan & 16) {
        $n = $ret == 0 ? curtask.mm.arg_end - curtask.mm.arg_start : 0;
        $e = @entry[tid];
        print((HEAD_OF_ENTRY, $e.0, buf(uptr((uint8*)curtask.mm.arg_start), $n) TAIL));
        delete(@entry, tid);
      } else {
        $shape = $plan & 7;
        SLOT1
        SLOT2
        if ($shape == 0) { print((HEAD TAIL)); }
        else if ($shape == 1) { print((HEAD, str(uptr((uint8*)$p1), $l1) TAIL)); }
        else if ($shape == 2) { print((HEAD, buf(uptr((uint8*)$p1), $n1) TAIL)); }
        else if ($shape == 3) { print((HEAD, str(uptr((uint8*)$p1), $l1), str(uptr((uint8*)$p2), $l2) TAIL)); }
        else if ($shape == 4) { print((HEAD, str(uptr((uint8*)$p1), $l1), buf(uptr((uint8*)$p2), $n2) TAIL)); }
        else { print((HEAD, buf(uptr((uint8*)$p1), $n1), buf(uptr((uint8*)$p2), $n2) TAIL)); }
      }
    }
  }
}
)";

// Signals as they reach their thread, and the ends of threads.
constexpr std::string_view others = R"(
tracepoint:signal:signal_deliver /WATCHED/ { $d = (uint64)args.sig; $ret = (int64)args.code; $nr = (int64)SIGNAL; print((NOTE)); }
tracepoint:sched:sched_process_exit /WATCHED/ { $d = (uint64)0; $ret = (int64)curtask.exit_code; $nr = (int64)END; print((NOTE)); }
)";

constexpr std::string_view who = "$nr, $ret, $d, (uint32)tid, (uint32)pid, comm";
constexpr std::string_view registers = ", $r->di, $r->si, $r->dx, $r->r10, $r->r8, $r->r9";
constexpr std::string_view none = ", (uint64)0, (uint64)0, (uint64)0, (uint64)0, (uint64)0, (uint64)0";
constexpr std::string_view of_entry = ", $e.1, $e.2, $e.3, $e.4, $e.5, $r->r9";

constexpr std::string_view counting = R"(
rawtracepoint:sys_enter {
  $nr = (int64)args.id;
  if (CONDITION) {
    if (IS_FOREIGN) { @foreign = count(); }
    else if (IS_WANTED) { @start[tid] = nsecs; }
  }
}
rawtracepoint:sys_exit {
  $start = @start[tid];
  if ($start) {
    $r = args.regs; $ret = (int64)args.ret; $nr = (int64)$r->orig_ax; $d = (uint64)nsecs - $start;
    delete(@start, tid);
    if (LEAST) {
      @calls[$nr] = stats($d);
      if ($ret < 0) { @errors[$nr] = count(); }
      TIMES
    }
  }
}
)";

// What the condition of who asks may name.
constexpr std::string_view names = "#define retval $ret\n#define duration $d\n#define arg0 $r->di\n#define arg1 $r->si\n"
                                   "#define arg2 $r->dx\n#define arg3 $r->r10\n#define arg4 $r->r8\n#define arg5 $r->r9\n";

// Which calls are told, as they return.
std::string least_of(const Wanted& w) {
  std::string out = w.least_ns ? "$d >= " + std::to_string(w.least_ns) : "1";
  if (w.fails_only) out += " && $ret < 0";
  return w.chosen.empty() ? out : out + " && CHOSEN";
}

// The same of calls that do not return.
std::string no_return_of(const Wanted& w) {
  if (w.fails_only || w.least_ns) return "0";
  if (w.chosen.empty()) return "1";
  const bool asks_more = w.chosen.find("retval") != w.chosen.npos || w.chosen.find("duration") != w.chosen.npos;
  return asks_more ? "0" : "CHOSEN";
}

// The plans of calls are put there from outside; here they have their types.
std::string declarations(const Wanted& w) {
  return "config = { unstable_map_decl = enable; max_map_keys = 65536; max_strlen = " +
         std::to_string(w.copied) + " }\n" + "let @plan = hash(1024);\n" + w.before +
         (w.has_command ? "fn watch() : bool { @watches[tid] = 1; return true; }\n" : "") +
         "begin { @plan[(int64)-1] = (uint64)0; }\n";
}

std::string finished(std::string text, const Wanted& w) {
  // Of a command its own execve(2) counts too, which makes it one that is watched. Who was watched once is so
  // for good.
  base::replace_all(text, "CONDITION",
                    w.has_command ? "@watches[tid] || (((" + w.condition +
                                        ") || (pid == cpid && ($nr == 59 || $nr == 322))) && watch())"
                                  : w.condition);
  base::replace_all(text, "WATCHED", w.has_command ? "@watches[tid]" : w.condition);
  base::replace_all(text, "IS_FOREIGN", "(curtask.thread_info.status & 2)"); // TS_COMPAT
  base::replace_all(text, "CHOSEN", w.chosen.empty() ? "1" : w.chosen); // what people write stays as it is
  text = (w.chosen.empty() ? "" : std::string(names)) + declarations(w) + text;
  constexpr uint64_t us = 1000;
  if (w.duration_ns)
    text += "interval:us:" + std::to_string(std::max(w.duration_ns / us, uint64_t{1})) + " { exit() }\n";
  return text;
}

} // namespace

std::string call_script(const Wanted& w) {
  std::string text = std::string(frame) + (w.tells_signals ? std::string(others) : std::string());
  base::replace_all(text, "SLOT1", slot(1));
  base::replace_all(text, "SLOT2", slot(2));
  base::replace_all(text, "NO_RETURN", no_return_of(w));
  base::replace_all(text, "COPIED", std::to_string(w.copied));
  base::replace_all(text, "LEAST", least_of(w));
  base::replace_all(text, "HEAD_OF_ENTRY", std::string(who).append(of_entry));
  base::replace_all(text, "HEAD", std::string(who).append(registers));
  base::replace_all(text, "NOTE", std::string(who).append(none));
  base::replace_all(text, "SIGNAL", std::to_string(signal_record));
  base::replace_all(text, "END", std::to_string(end_record));
  base::replace_all(text, "TAIL", w.stacks ? ", ustack" : "");
  return finished(std::move(text), w);
}

std::string count_script(const Wanted& w) {
  std::string text(counting);
  base::replace_all(text, "LEAST", least_of(w));
  base::replace_all(text, "IS_WANTED", w.all_calls ? "1" : "@plan[$nr]");
  base::replace_all(text, "TIMES", w.histograms ? "@times[$nr] = hist($d);" : "");
  return finished(std::move(text), w);
}

} // namespace trace
