// A call is told when it returns: then what it was given is in memory, and its registers are still there. Of
// execve(2) the path and the first word are taken at the entry, and the words come from the new program.
//
// Calls of 32-bit programs have other numbers and registers. The bits of a plan are those of Plan::pack().
#include "trace/script.h"

#include "base/text.h"
#include "trace/call.h"
#include "trace/plan.h"

#include <algorithm>
#include <utility>

namespace trace {

namespace {

// $a0 … $a5; those of 32-bit programs are in other registers. Without branches, each of which the kernel's verifier would
// follow both ways through all that comes behind.
std::string take_arguments() {
  std::string out = "$all = 0xffffffff | ($f - 1);\n"; // the bits that count
  for (size_t i = 0; i < 6; i++) {
    // The verifier wants to see that it is one of the sixteen.
    const uint64_t of_64 = register_of(i, false), differ = of_64 ^ register_of(i, true);
    out += "$a" + std::to_string(i) + " = $regs.r[(" + std::to_string(of_64) + " ^ ($f * " + std::to_string(differ) + ")) & 15] & $all;\n";
  }
  return out;
}

// One of the two parts of a plan: its address in $pN, how many bytes in $nN.
std::string slot(int n) {
  std::string text = R"(
  $sN = ($plan >> SHIFT) & 0xffffff;
  $kN = ($sN >> 4) & 15;
  $pN = $regs.r[$sN & 15] & $all;
  $nN = ($sN >> 9) & 0x7fff;
  if ($kN == 15) { $nN *= $ret > 0 ? (uint64)$ret : 0; }
  else if ($kN > 0) { $nN *= $regs.r[$kN & 15] & $all; }
  if (($sN & 256 && $ret < 0) || !$pN) { $nN = 0; }
  $lN = $pN ? (uint64)COPIED : 0;
)";
  base::replace_all(text, "SHIFT", std::to_string(8 + 24 * (n - 1)));
  for (char name : {'s', 'k', 'p', 'n', 'l'})
    base::replace_all(text, std::string("$") + name + "N", std::string("$") + name + std::to_string(n));
  return text;
}

// The path of execve(2) may not be in memory at the entry. Later the kernel has read it, and put it behind the environment of the
// new program. The lowest bit of @start tells that the call is of a 32-bit program: what execve(2) began as, the new one need not be.
constexpr std::string_view frame = R"(
rawtracepoint:sys_enter {
  $r = args.regs; $f = (uint64)IS_32; $nr = (int64)args.id + (int64)($f * FIRST_OF_32); $ret = (int64)-1;
  if (CONDITION) {
    $plan = @plan[$nr];
    UNKNOWN
    if ($plan) {
      @start[tid] = ((uint64)nsecs & 0xfffffffffffffffe) | $f;
      PACK_TIMEOUT
      PACK_MASK
      if (($plan & 24) != 8 || IS_SELECT) {
        COPY_REGISTERS
        ARGUMENTS
        PACK_SETS
        if ($plan & 16) {
          $words = $nr == 322 || $nr == FIRST_OF_32 + 358 ? $a2 : $a1;
          $word = $words ? *(uint64*)uptr((uint8*)$words) & $all : (uint64)0;
          COUNT_VARIABLES
          @entry[tid] = (str(uptr((uint8*)($nr == 322 || $nr == FIRST_OF_32 + 358 ? $a1 : $a0))), $a0, $a1, $a2, $a3, $a4,
                                       str(uptr((uint8*)$word)), $variables);
        }
        if (!($plan & 8) && NO_RETURN) { $d = (uint64)-1; $now = (uint64)nsecs; print((HEAD TAIL)); }
      }
    }
  }
}
rawtracepoint:sys_exit {
  $start = @start[tid];
  if ($start) {
    COPY_REGISTERS
    $f = (uint64)$start & 1; $ret = (int64)args.ret; $nr = (int64)$regs.r[15] + (int64)($f * FIRST_OF_32);
    $now = (uint64)nsecs; $d = ($now & 0xfffffffffffffffe) - ($start & 0xfffffffffffffffe);
    delete(@start, tid);
    UNPACK_NUMBER
    $plan = @plan[$nr];
    UNKNOWN
    ARGUMENTS
    UNPACK_MASK
    if ($plan && LEAST) {
      if ($plan & 16) {
        $e = @entry[tid];
        $a5 = $e.7;
        if ($ret == 0) {
          if (!$a5 && curtask.mm.env_end != curtask.mm.env_start) { $a5 = 0xffffffff; } // they were not in memory
          print((HEAD_OF_ENTRY, $e.0, str(uptr((uint8*)curtask.mm.env_end)),
                 buf(uptr((uint8*)curtask.mm.arg_start), curtask.mm.arg_end - curtask.mm.arg_start), $e.6 TAIL));
        } else {
          $v = $nr == 322 || $nr == FIRST_OF_32 + 358 ? $e.3 : $e.2;
          WORDS
          print((HEAD_OF_ENTRY, $e.0, str(uptr((uint8*)($nr == 322 || $nr == FIRST_OF_32 + 358 ? $e.2 : $e.1))) STRINGS TAIL));
        }
        delete(@entry, tid);
      } SETS else {
        DESCRIPTOR
        TAKE_TIMEOUT
        TAKE_WORD
        $shape = $plan & 7;
        if ($shape == 0) { print((HEAD TAIL)); } else {
        SLOT1
        SLOT2
        if ($shape == 1) { print((HEAD, str(uptr((uint8*)$p1), $l1) TAIL)); }
        else if ($shape == 2) { ENTRIES print((HEAD, buf(uptr((uint8*)$p1), $n1) TAIL)); }
        else if ($shape == 3) { print((HEAD, str(uptr((uint8*)$p1), $l1), str(uptr((uint8*)$p2), $l2) TAIL)); }
        else if ($shape == 4) { print((HEAD, str(uptr((uint8*)$p1), $l1), buf(uptr((uint8*)$p2), $n2) TAIL)); }
        else if ($shape == 5) { print((HEAD, buf(uptr((uint8*)$p1), $n1), buf(uptr((uint8*)$p2), $n2) TAIL)); }
        VECTORS
        }
      }
    }
  }
}
)";

// An iovec with what it points to, or a message with its parts.
constexpr std::string_view vectors = R"(
        else {
          $left = $s2 & 256 ? ($ret > 0 ? (uint64)$ret : 0) : 0xffffffff;
          $v = $p1; $vn = $n1;
          $name = (uint64)0; $namen = (uint64)0; $control = (uint64)0; $controln = (uint64)0;
          if ($shape == 7) {
            $v = (uint64)0; $vn = (uint64)0;
            if ($n1 && ($left || $ret == 0)) {
              if ($n1 == 64 && $s2 & 256) { $left = (uint64)*(uint32*)uptr((uint8*)($p1 + 56)); }
              $name = *(uint64*)uptr((uint8*)$p1); $namen = (uint64)*(uint32*)uptr((uint8*)($p1 + 8));
              $v = *(uint64*)uptr((uint8*)($p1 + 16)); $vn = 16 * *(uint64*)uptr((uint8*)($p1 + 24));
              $control = *(uint64*)uptr((uint8*)($p1 + 32)); $controln = *(uint64*)uptr((uint8*)($p1 + 40));
            }
            if (!$name) { $namen = 0; }
            if (!$control) { $controln = 0; }
          }
          if (!$v) { $vn = 0; }
          NO_CONTENTS
          if ($vn) {
            CONTENTS
          }
          if ($shape == 6) { print((HEAD, buf(uptr((uint8*)$v), $vn) PIECES TAIL)); }
          else {
            print((HEAD, buf(uptr((uint8*)$p1), $n1), buf(uptr((uint8*)$name), $namen), buf(uptr((uint8*)$v), $vn),
                   buf(uptr((uint8*)$control), $controln) PIECES TAIL));
          }
        }
)";

// Where the first parts of an iovec at $v are ($bN), and how much of each ($mN) of the $left bytes there are. Without branches,
// too; $h: there is such a part, all bits.
std::string contents() {
  std::string out;
  for (size_t i = 0; i < most_contents; i++) {
    std::string text = R"(
            $h = (uint64)0 - ((uint64)(AT - (int64)$vn) >> 63);
            $bN = *(uint64*)uptr((uint8*)($v + (AT & $h))); $mN = *(uint64*)uptr((uint8*)($v + (AT & $h) + 8)) & $h;
            $x = $mN - $left;
            $mN = $left + ($x & ((uint64)0 - ($x >> 63)));
            $left = $left - $mN;
)";
    base::replace_all(text, "AT", std::to_string(16 * i));
    for (char name : {'b', 'm'}) base::replace_all(text, std::string("$") + name + "N", std::string("$") + name + std::to_string(i));
    out += text;
  }
  return out;
}

std::string no_contents() {
  std::string out;
  for (size_t i = 0; i < most_contents; i++) out += "$b" + std::to_string(i) + " = (uint64)0; $m" + std::to_string(i) + " = (uint64)0; ";
  return out;
}

std::string pieces() {
  std::string out;
  for (size_t i = 0; i < most_contents; i++) out += ", buf(uptr((uint8*)$b" + std::to_string(i) + "), $m" + std::to_string(i) + ")";
  return out;
}

// How many entries of a folder were read: the length of each stands in it.
constexpr std::string_view count_entries = R"(
        if ($plan & 64 && $ret > 0) {
          $at = (uint64)0; $a5 = 0;
          for ($i : 0..2048) {
            if ($at >= (uint64)$ret) { break; }
            $size = (uint64)*(uint16*)uptr((uint8*)($a1 + $at + 16));
            if (!$size) { break; }
            $at += $size;
            $a5++;
          }
        } else if ($plan & 64) { $a5 = 0; }
)";

// Poll(2) and its like write over a timeout what is left of it. An address that no program can have stays what it is, as does one that
// the kernel could not read. 12 and 7: the registers of the third and the fourth argument.
constexpr std::string_view pack_timeout = R"(
      if (($plan >> 56) & 15) {
        $t = *(uint64*)kptr((uint64)$r + 8 * (($plan >> 56) & 15));
        $seconds = $t ? *(uint64*)uptr((uint8*)$t) : (uint64)0;
        $fraction = $t ? *(uint64*)uptr((uint8*)($t + 8)) : (uint64)0;
        if ($t > 4095 && ($t >> 47) == 0 && $seconds < 0x200000000 && $fraction < 1000000000) { @timeout[tid] = ((uint64)1 << 63) | ($seconds << 30) | $fraction; }
      }
)";
constexpr std::string_view take_timeout = R"(
        if (($plan >> 56) & 15) {
          $t = @timeout[tid];
          if ($t) {
            $is_kept = $ret == -14 && !($t << 1); // EFAULT
            if ($is_kept) {} else if ((($plan >> 56) & 15) == 12) { $a2 = $t } else if ((($plan >> 56) & 15) == 7) { $a3 = $t } else { $a4 = $t }
            delete(@timeout, tid);
          }
        }
)";

constexpr std::string_view take_word = R"(
        if ($plan >> 60) {
          $t = $regs.r[($plan >> 60) & 15];
          $a5 = $t && $ret >= 0 ? *(uint64*)uptr((uint8*)$t) : (uint64)0;
        }
)";

// rt_sigreturn puts all registers back as they were before the signal; what it takes is on the stack (struct rt_sigframe). The
// 32-bit ones are 173 and 119.
constexpr std::string_view pack_mask = R"(
      if ($nr == 15 || $nr == FIRST_OF_32 + 173 || $nr == FIRST_OF_32 + 119) {
        @returning[tid] = ((uint64)$nr, $f ? (uint64)0 : *(uint64*)uptr((uint8*)((uint64)$r->sp + 296)));
      }
)";
constexpr std::string_view unpack_number = R"(
    $mask = (uint64)0;
    if ((int64)$regs.r[15] == -1) {
      $m = @returning[tid];
      $nr = (int64)$m.0; $mask = $m.1;
      delete(@returning, tid);
    }
)";
constexpr std::string_view unpack_mask = "if ($nr == 15) { $a0 = $mask; }\n";

// The sets of select(2), before and after, of 1024 descriptors at most. And the mask of pselect6(2), which is one pointer further.
constexpr std::string_view pack_sets = R"(
        if (IS_SELECT) {
          $n = (($a0 & 0xffff) + 63) / 64 * 8;
          if ($n > 128) { $n = 128; }
          @sets[tid] = (buf(uptr((uint8*)$a1), $a1 ? $n : 0), buf(uptr((uint8*)$a2), $a2 ? $n : 0), buf(uptr((uint8*)$a3), $a3 ? $n : 0));
        }
)";
constexpr std::string_view sets = R"( else if (IS_SELECT) {
        $t = $a4;
        TAKE_TIMEOUT
        $n = $ret > 0 ? (($a0 & 0xffff) + 63) / 64 * 8 : (uint64)0;
        if ($n > 128) { $n = 128; }
        $t = $regs.r[9];
        $mask = $nr == 270 && $a5 ? *(uint64*)uptr((uint8*)$a5) : (uint64)0;
        $g = @sets[tid];
        print((HEAD, buf(uptr((uint8*)$t), $t ? 16 : 0), buf(uptr((uint8*)$mask), $mask ? 8 : 0), $g.0, $g.1, $g.2,
               buf(uptr((uint8*)$a1), $a1 ? $n : 0), buf(uptr((uint8*)$a2), $a2 ? $n : 0), buf(uptr((uint8*)$a3), $a3 ? $n : 0) TAIL));
        delete(@sets, tid);
      })";

// How many variables the environment has; where the kernel has the words of the new program already, all ones.
constexpr std::string_view count_variables = R"(
          $variables = (uint64)0; $v = $nr == 322 ? $a3 : $a2;
          if ($v && !$f) {
            for ($i : 0..4096) {
              if (!*(uint64*)uptr((uint8*)($v + 8 * (uint64)$i))) { break; }
              $variables++;
            }
          } else { $variables = 0xffffffff; }
)";

// The first words of an execve(2) that failed, and in the upper half of $a5 how many there are, one more if they are more than these.
std::string words() {
  std::string out = "$h = (uint64)1; $count = (uint64)0; $size = 8 - 4 * $f;\n";
  for (size_t i = 0; i <= most_words; i++) {
    std::string text = "$wN = *(uint64*)uptr((uint8*)(($v + N * $size) & ((uint64)0 - $h))) & $all & ((uint64)0 - $h);\n"
                       "$h = ((uint64)0 - $wN) >> 63; $count += $h;\n";
    base::replace_all(text, "N", std::to_string(i));
    out += text;
  }
  return out + "$a5 |= $count << 32;\n";
}
std::string strings() {
  std::string out;
  for (size_t i = 0; i < most_words; i++) out += ", str(uptr((uint8*)$w" + std::to_string(i) + "))";
  return out;
}

// Of a new descriptor (of socketpair(2) of both) the type of its file and the inode's number.
constexpr std::string_view descriptor = R"(
        if ($plan & 128 && $ret >= 0) {
          $made = $nr == 22 || $nr == 293 ? (uint64)*(uint32*)uptr((uint8*)$a0) : $nr == 53 ? (uint64)*(uint32*)uptr((uint8*)$a3) : (uint64)$ret;
          $inode = (*(curtask.files.fdt.fd + $made)).f_inode;
          $a5 = ((uint64)($inode.i_mode & 0xf000) << 48) | ((uint64)$inode.i_ino & 0xffffffffffff);
          if ($nr == 53) {
            $made = (uint64)*(uint32*)uptr((uint8*)($a3 + 4));
            $inode = (*(curtask.files.fdt.fd + $made)).f_inode;
            $a4 = ((uint64)($inode.i_mode & 0xf000) << 48) | ((uint64)$inode.i_ino & 0xffffffffffff);
          }
        }
)";

// What sockets are (-yy) is sent before the call that made or changed one: session/sockets.h has the meaning of the words.
// 42, 49 and 50: connect, bind, listen.
constexpr std::string_view details = R"(
        if ($plan & 128 && $ret >= 0) {
          $made = $nr == 53 ? (uint64)*(uint32*)uptr((uint8*)$a3) : (uint64)$ret;
          DETAIL
          if ($nr == 53) {
            $made = (uint64)*(uint32*)uptr((uint8*)($a3 + 4));
            DETAIL
          }
        } else if ($nr == 42 || $nr == 49 || $nr == 50) {
          $made = $a0 & 0xffffffff;
          DETAIL
        }
)";
constexpr std::string_view detail = R"(
          $file = *(curtask.files.fdt.fd + $made);
          if (($file.f_inode.i_mode & 0xf000) == 0xc000) {
            $sk = ((struct socket*)$file.private_data).sk;
            $family = (uint64)$sk.__sk_common.skc_family;
            $i0 = $family | ((uint64)$sk.sk_type << 16) | ((uint64)$sk.sk_protocol << 32);
            $i1 = (uint64)$sk.__sk_common.skc_num | ((uint64)$sk.__sk_common.skc_dport << 16);
            $i2 = (uint64)$sk.__sk_common.skc_rcv_saddr; $i3 = (uint64)0;
            $i4 = (uint64)$sk.__sk_common.skc_daddr; $i5 = (uint64)0;
            if ($family == 10) {
              $i2 = (uint64)$sk.__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[0] | ((uint64)$sk.__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[1] << 32);
              $i3 = (uint64)$sk.__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[2] | ((uint64)$sk.__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[3] << 32);
              $i4 = (uint64)$sk.__sk_common.skc_v6_daddr.in6_u.u6_addr32[0] | ((uint64)$sk.__sk_common.skc_v6_daddr.in6_u.u6_addr32[1] << 32);
              $i5 = (uint64)$sk.__sk_common.skc_v6_daddr.in6_u.u6_addr32[2] | ((uint64)$sk.__sk_common.skc_v6_daddr.in6_u.u6_addr32[3] << 32);
            } else if ($family == 1) {
              $peer = ((struct unix_sock*)$sk).peer;
              $i4 = (uint64)$peer && (uint64)$peer.sk_socket ? (uint64)((struct socket_alloc*)$peer.sk_socket).vfs_inode.i_ino : (uint64)0;
            }
            print(((int64)DETAIL_NUMBER, (int64)$made, (uint64)$file.f_inode.i_ino, $now, (uint32)tid, (uint32)pid, comm, $i0, $i1, $i2, $i3, $i4, $i5));
          }
)";

// Signals as they reach their thread, with their struct kernel_siginfo in place of arguments, and the ends of threads. A signal that ends the process reaches each of its threads as SIGKILL; which
// one it was stands in the exit code.
constexpr std::string_view others = R"(
rawtracepoint:signal_deliver /WATCHED/ {
  $i = (uint64)args.info; $now = (uint64)nsecs;
  $d = (uint64)args.sig; $ret = (int64)*(int32*)kptr($i + 8); $nr = (int64)SIGNAL;
  if ($d == 9) { $d = (uint64)curtask.signal.group_exit_code & 127; $ret = (int64)NO_CODE; }
  $a0 = *(uint64*)kptr($i); $a1 = *(uint64*)kptr($i + 8); $a2 = *(uint64*)kptr($i + 16); $a3 = *(uint64*)kptr($i + 24);
  $a4 = *(uint64*)kptr($i + 32); $a5 = *(uint64*)kptr($i + 40);
  if ((int64)args.sig != 9 || (pid == tid && $d && $d != 9)) { print((SIGNALLED)); }
}
tracepoint:sched:sched_process_exit /WATCHED/ { $d = (uint64)0; $ret = (int64)curtask.exit_code; $nr = (int64)END; $now = (uint64)nsecs; print((NOTE)); }
)";

constexpr std::string_view who = "$nr, $ret, $d, $now, (uint32)tid, (uint32)pid, comm";
constexpr std::string_view registers = ", $a0, $a1, $a2, $a3, $a4, $a5";
constexpr std::string_view none = ", (uint64)0, (uint64)0, (uint64)0, (uint64)0, (uint64)0, (uint64)0";
constexpr std::string_view of_entry = ", $e.1, $e.2, $e.3, $e.4, $e.5, $a5";

constexpr std::string_view counting = R"(
rawtracepoint:sys_enter {
  $f = (uint64)IS_32; $nr = (int64)args.id + (int64)($f * FIRST_OF_32);
  if (CONDITION) {
    if (IS_WANTED) { @start[tid] = ((uint64)nsecs & 0xfffffffffffffffe) | $f; }
  }
}
rawtracepoint:sys_exit {
  $start = @start[tid];
  if ($start) {
    $r = args.regs; $f = (uint64)$start & 1; $ret = (int64)args.ret; $nr = (int64)$r->orig_ax;
    $nr = $nr == -1 ? (int64)($f ? 173 : 15) : $nr; // rt_sigreturn has put it back
    $nr += (int64)($f * FIRST_OF_32);
    $d = ((uint64)nsecs & 0xfffffffffffffffe) - ($start & 0xfffffffffffffffe);
    delete(@start, tid);
    COPY_OF_CHOICE
    ARGUMENTS_OF_CHOICE
    if (LEAST) {
      @calls[$nr] = stats($d);
      if ($ret < 0) { @errors[$nr] = count(); }
      TIMES
    }
  }
}
)";

// What the condition of who asks may name.
constexpr std::string_view names = "#define retval $ret\n#define duration $d\n#define arg0 $a0\n#define arg1 $a1\n"
                                   "#define arg2 $a2\n#define arg3 $a3\n#define arg4 $a4\n#define arg5 $a5\n";

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
  return "struct first_registers { uint64 r[16]; }\n" // of struct pt_regs, up to orig_ax: copied at once, which takes less than one by one
         "config = { unstable_map_decl = enable; max_map_keys = 65536; max_strlen = " +
         std::to_string(w.copied) + " }\n" + "let @plan = hash(2048);\n" + w.before +
         (w.has_command ? "fn watch() : bool { @watches[tid] = 1; return true; }\n" : "") +
         "begin { @plan[(int64)-1] = (uint64)0; }\n";
}

std::string finished(std::string text, const Wanted& w) {
  // Of a command its own execve(2) counts too, which makes it one that is watched. Who was watched once is so
  // for good.
  base::replace_all(text, "CONDITION",
                    w.has_command ? "@watches[tid] || (((" + w.condition +
                                        ") || (pid == cpid && !$f && ($nr == 59 || $nr == 322))) && watch())"
                                  : w.condition);
  base::replace_all(text, "WATCHED", w.has_command ? "@watches[tid]" : w.condition);
  base::replace_all(text, "IS_32", "((curtask.thread_info.status & 2) >> 1)"); // TS_COMPAT
  base::replace_all(text, "FIRST_OF_32", std::to_string(Call::first_of_32));
  base::replace_all(text, "COPY_OF_CHOICE", w.chosen.empty() ? "" : "COPY_REGISTERS");
  base::replace_all(text, "COPY_REGISTERS", "$regs = *(struct first_registers*)args.regs;");
  base::replace_all(text, "ARGUMENTS_OF_CHOICE", w.chosen.empty() ? "" : take_arguments());
  base::replace_all(text, "ARGUMENTS", take_arguments());
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
  base::replace_all(text, "UNPACK_NUMBER", w.sigreturn ? unpack_number : "");
  base::replace_all(text, "UNPACK_MASK", w.sigreturn ? unpack_mask : "");
  base::replace_all(text, "PACK_MASK", w.sigreturn ? pack_mask : "");
  base::replace_all(text, "PACK_SETS", w.sets ? pack_sets : "");
  base::replace_all(text, "SETS", w.sets ? sets : "");
  base::replace_all(text, "IS_SELECT", w.sets ? "$nr == 23 || $nr == 270" : "0");
  base::replace_all(text, "COUNT_VARIABLES", w.counts_entries ? count_variables : "$variables = (uint64)0xffffffff;");
  base::replace_all(text, "WORDS", words());
  base::replace_all(text, "STRINGS", strings());
  base::replace_all(text, "TAKE_WORD", w.words ? take_word : "");
  base::replace_all(text, "UNKNOWN", w.all_calls ? "if (!$plan && $nr >= 0) { $plan = (uint64)PLAIN; }" : "");
  base::replace_all(text, "PLAIN", std::to_string(Plan().pack()));
  base::replace_all(text, "PACK_TIMEOUT", w.timeouts ? pack_timeout : "");
  base::replace_all(text, "TAKE_TIMEOUT", w.timeouts ? take_timeout : "");
  std::string about_descriptors(w.names_descriptors ? descriptor : "");
  if (w.describes_sockets) about_descriptors += details;
  base::replace_all(about_descriptors, "DETAIL\n", detail);
  base::replace_all(about_descriptors, "DETAIL_NUMBER", std::to_string(detail_record));
  base::replace_all(text, "DESCRIPTOR", about_descriptors);
  base::replace_all(text, "ENTRIES", w.counts_entries ? count_entries : "if ($plan & 64) { $a5 = (uint64)-1; }");
  base::replace_all(text, "VECTORS", w.vectors ? vectors : "");
  base::replace_all(text, "NO_CONTENTS", no_contents());
  base::replace_all(text, "CONTENTS", contents());
  base::replace_all(text, "PIECES", pieces());
  base::replace_all(text, "SLOT1", slot(1));
  base::replace_all(text, "SLOT2", slot(2));
  base::replace_all(text, "NO_RETURN", no_return_of(w));
  base::replace_all(text, "COPIED", std::to_string(w.copied));
  base::replace_all(text, "LEAST", least_of(w));
  base::replace_all(text, "HEAD_OF_ENTRY", std::string(who).append(of_entry));
  base::replace_all(text, "HEAD", std::string(who).append(registers));
  base::replace_all(text, "SIGNALLED", std::string(who).append(registers));
  base::replace_all(text, "NOTE", std::string(who).append(none));
  base::replace_all(text, "NO_CODE", std::to_string(unknown_code));
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
