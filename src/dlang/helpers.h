// Expressions of acu's language that translations are made of, beside those of the tables in providers.h: macros, of which Lowering::expand puts
// copies into the tree. Their variables are their own, so each argument is kept in one where it is used more than once.
#pragma once

#include <string_view>

namespace dlang {

inline constexpr std::string_view helpers = R"(
macro d_divide(a, b) {
  let $a = (int64)(a);
  let $b = (int64)(b);
  let $q = (uint64)($a < 0 ? -$a : $a) / (uint64)($b < 0 ? -$b : $b);
  ($a < 0) != ($b < 0) ? -(int64)$q : (int64)$q
}
macro d_modulo(a, b) {
  let $a = (int64)(a);
  let $b = (int64)(b);
  let $r = (uint64)($a < 0 ? -$a : $a) % (uint64)($b < 0 ? -$b : $b);
  $a < 0 ? -(int64)$r : (int64)$r
}
macro d_power_below(n) {
  let $n = (uint64)(n);
  let $m = $n;
  $m = $m | ($m >> 1);
  $m = $m | ($m >> 2);
  $m = $m | ($m >> 4);
  $m = $m | ($m >> 8);
  $m = $m | ($m >> 16);
  $m = $m | ($m >> 32);
  (int64)($m - ($m >> 1))
}
macro d_power_bucket(n) {
  let $v = (int64)(n);
  $v < 0 ? -d_power_below(-$v) : d_power_below($v)
}
macro d_without_slashes(s) {
  let $s = s;
  let $end = (int64)strlen($s);
  while ($end > 0) {
    if ((int64)$s[$end - 1] != 47) { break; }
    $end = $end - 1;
  }
  substr($s, 0, $end)
}
macro d_basename(s) {
  let $all = s;
  let $name = d_without_slashes($all);
  strlen($name) > 0 ? substr($name, strrstr($name, "/") + 1) : strlen($all) > 0 ? "/" : "."
}
macro d_dirname(s) {
  let $all = s;
  let $name = d_without_slashes($all);
  let $at = strrstr($name, "/");
  let $folder = d_without_slashes(substr($name, 0, $at < 0 ? (int64)0 : $at));
  strlen($folder) > 0 ? $folder : $at < 0 && (strlen($name) > 0 || strlen($all) == 0) ? "." : "/"
}
macro d_substr(s, index, length) {
  let $s = s;
  let $size = (int64)strlen($s);
  let $from = (int64)(index);
  let $left = (int64)(length);
  if ($from < 0) {
    $from = $from + $size;
    if ($from < 0 && $from + $left > 0) {
      $left = $left + $from;
      $from = 0;
    }
  }
  if ($from < 0 || $from >= $size) {
    $left = 0;
    $from = 0;
  } else if ($left < 0) {
    $left = $left + $size - $from;
  }
  substr($s, $from, $left < 0 ? (int64)0 : $left)
}
macro d_in_set(c, low, high) {
  let $c = (int64)(c);
  $c > 0 && $c < 128 ? (int64)((($c < 64 ? (uint64)(low) : (uint64)(high)) >> ($c & 63)) & 1) : (int64)0
}
macro d_token_start(s, low, high) {
  let $s = s;
  let $at = (int64)0;
  while ($at < 255) {
    if (d_in_set($s[$at], low, high) == 0) { break; }
    $at = $at + 1;
  }
  $at
}
macro d_token_end(s, from, low, high) {
  let $s = s;
  let $at = (int64)(from);
  while ($at < 255) {
    if ($s[$at] == 0 || d_in_set($s[$at], low, high) != 0) { break; }
    $at = $at + 1;
  }
  $at
}
macro d_path(place, of) {
  let $entry = place;
  let $mount = container_of(of, struct mount, mnt);
  let $text = str("", 256);
  let $i = (int64)0;
  while ($i < 48) {
    $i = $i + 1;
    let $is_root = (uint64)$entry == (uint64)$mount.mnt.mnt_root;
    if ($is_root && (uint64)$mount == (uint64)$mount.mnt_parent) { break; }
    if (!$is_root) {
      let $name = str($entry.d_name.name, 256);
      if ((uint64)$entry == (uint64)$entry.d_parent) {
        $text = strlen($name) == 0 ? str(($entry.d_inode.i_mode & 0xf000) == 0xc000 ? "socket" : "pipe", 256)
              : (int64)$name[0] == 91 ? str(str_concat("anon_inode:", $name), 256) : str(str_concat("/", $name), 256);
        break;
      }
      $text = str(str_concat(str_concat("/", $name), $text), 256);
    }
    $entry = $is_root ? $mount.mnt_mountpoint : $entry.d_parent;
    if ($is_root) { $mount = $mount.mnt_parent; }
  }
  strlen($text) > 0 ? $text : str("/", 256)
}
macro d_file(fd) {
  let $fd = (int64)(fd);
  let $is_open = (uint64)curtask.files != 0 && $fd >= 0 && $fd < (int64)curtask.files.fdt.max_fds;
  $is_open ? (uint64)(*(curtask.files.fdt.fd + $fd)) : (uint64)0
}
macro d_file_path(fd) {
  let $file = (struct file *)kptr(d_file(fd));
  let $text = str("<none>", 256);
  if ((uint64)$file != 0) { $text = d_path($file.f_path.dentry, $file.f_path.mnt); }
  $text
}
macro d_file_mount(fd) {
  let $file = (struct file *)kptr(d_file(fd));
  let $text = str("<none>", 256);
  if ((uint64)$file != 0) { $text = d_path($file.f_path.mnt.mnt_root, $file.f_path.mnt); }
  $text
}
macro d_file_system(fd) {
  let $file = (struct file *)kptr(d_file(fd));
  let $text = str("<none>", 64);
  if ((uint64)$file != 0) { $text = str($file.f_inode.i_sb.s_type.name, 64); }
  $text
}
macro d_file_offset(fd) {
  let $file = (struct file *)kptr(d_file(fd));
  (uint64)$file != 0 ? (int64)$file.f_pos : (int64)0
}
macro d_file_flags(fd) {
  let $file = (struct file *)kptr(d_file(fd));
  (uint64)$file != 0 ? (int64)$file.f_flags : (int64)0
}
macro d_return_address() { *(uint64 *)kptr(reg("sp")) }
macro d_user_return_address() { *(uint64 *)uptr(reg("sp")) }
macro d_arguments() {
  let $has_memory = (uint64)curtask.mm != 0; // a thread of the kernel has none
  let $at = $has_memory ? (uint64)curtask.mm.arg_start : (uint64)0;
  let $end = $has_memory ? (uint64)curtask.mm.arg_end : (uint64)0;
  let $text = str("", 81);
  if ($has_memory) { $text = str(uptr($at), 81); } else { $text = str(comm, 81); }
  $at = $at + strlen($text) + 1;
  let $i = (int64)0;
  while ($i < 15) {
    $i = $i + 1;
    if ($at >= $end || strlen($text) >= 79) { break; }
    let $next = str(uptr($at), 81);
    $at = $at + strlen($next) + 1;
    $text = str(str_concat(str_concat($text, " "), $next), 80);
  }
  $text
}
macro d_number_text(n, base, sign, prefix) {
  let $sign = sign;
  let $base = (uint64)(base);
  let $left = $sign ? (uint64)(-(int64)(n)) : (uint64)(n);
  let $text = str("", 67);
  let $i = (int64)0;
  while ($i < 65) {
    $i = $i + 1;
    $text = str(str_concat(substr("0123456789abcdefghijklmnopqrstuvwxyz", (int64)($left % $base), 1), $text), 67);
    $left = $left / $base;
    if ($left == 0) { break; }
  }
  $sign ? str(str_concat("-", $text), 67) : str(str_concat(prefix, $text), 67)
}
macro d_with_case(s, first, letters) {
  let $s = s;
  let $size = (int64)strlen($s);
  let $text = str("", 256);
  let $i = (int64)0;
  while ($i < 255) {
    if ($i >= $size) { break; }
    let $letter = (int64)$s[$i] - (int64)(first);
    $text = str(str_concat($text, $letter >= 0 && $letter < 26 ? substr(letters, $letter, 1) : substr($s, $i, 1)), 256);
    $i = $i + 1;
  }
  $text
}
macro d_clean_path(s) {
  let $rest = str(s, 256);
  let $text = str("", 256);
  let $is_absolute = (int64)$rest[0] == 47;
  let $i = (int64)0;
  while ($i < 128) {
    $i = $i + 1;
    let $slash = strstr($rest, "/");
    let $name = str($slash < 0 ? $rest : substr($rest, 0, $slash), 256);
    let $end = (int64)strrstr($text, "/");
    if ($name == "..") {
      if ($end >= 0) { $text = str(substr($text, 0, $end), 256); }
    } else if ($name != "" && $name != ".") {
      $text = str(str_concat(str_concat($text, $i > 1 || $is_absolute ? "/" : ""), $name), 256);
    }
    if ($slash < 0) { break; }
    $rest = str(substr($rest, $slash + 1), 256);
    if ($rest == "") {
      $text = str(str_concat($text, "/"), 256);
      break;
    }
  }
  $text == "" && $is_absolute ? str("/", 256) : $text
}
macro d_index_from(s, t, from) {
  let $from = (int64)(from);
  let $at = strstr(substr(s, $from < 0 ? (int64)0 : $from), t);
  $at < 0 ? (int64)-1 : $at + ($from < 0 ? (int64)0 : $from)
}
macro d_rindex_from(s, t, from) {
  let $from = (int64)(from);
  $from < 0 ? (int64)-1 : strrstr(substr(s, 0, $from + (int64)strlen(t)), t)
}
macro d_progeny(of) {
  let $of = (int64)(of);
  let $task = curtask;
  let $found = (int64)0;
  let $i = (int64)0;
  while ($i < 64) {
    $i = $i + 1;
    if ((int64)$task.tgid == $of) { $found = 1; break; }
    if ((int64)$task.tgid <= 1) { break; }
    $task = $task.real_parent;
  }
  $found
}
macro d_digit(c) { (c) >= 48 && (c) <= 57 ? (c) - 48 : (c) >= 97 && (c) <= 122 ? (c) - 87 : (c) >= 65 && (c) <= 90 ? (c) - 55 : (int64)99 }
macro d_strtoll(s, base) {
  let $s = s;
  let $base = (int64)(base);
  let $value = (int64)0;
  let $i = (int64)0;
  while ($i < 64) {
    if ((int64)$s[$i] != 32 && (int64)$s[$i] != 9) { break; }
    $i = $i + 1;
  }
  let $sign = (int64)$s[$i];
  if ($sign == 45 || $sign == 43) { $i = $i + 1; }
  if ((int64)$s[$i] == 48 && ((int64)$s[$i + 1] == 120 || (int64)$s[$i + 1] == 88) && $base == 16) { $i = $i + 2; }
  let $end = $i + 64;
  while ($i < $end) {
    let $digit = d_digit((int64)$s[$i]);
    if ($digit >= $base) { break; }
    $value = $value * $base + $digit;
    $i = $i + 1;
  }
  $sign == 45 ? -$value : $value
}
macro d_json_part(s, name, nth) {
  let $s = s;
  let $size = (int64)strlen($s);
  let $nth = (int64)(nth); // of an array; -1: the member of an object with this name
  let $depth = (int64)0;
  let $in_text = (int64)0;
  let $is_escaped = (int64)0;
  let $key = (int64)0;
  let $key_end = (int64)0;
  let $passed = (int64)0;
  let $is_value = (int64)0;
  let $from = (int64)-1;
  let $end = (int64)0;
  let $i = (int64)0;
  while ($i < $size) {
    let $c = (int64)$s[$i];
    let $was_value = $is_value;
    if ($in_text != 0) {
      if ($is_escaped != 0) {
        $is_escaped = 0;
      } else if ($c == 92) {
        $is_escaped = 1;
      } else if ($c == 34) {
        $in_text = 0;
        $key_end = $i;
      }
    } else if ($c == 34) {
      $in_text = 1;
      $key = $i + 1;
    } else if ($c == 123 || $c == 91) {
      if ($depth == 0 && ($c == 91) != ($nth >= 0)) { break; }
      $depth = $depth + 1;
      if ($depth == 1 && $nth == 0) { $is_value = 1; }
    } else if ($c == 125 || $c == 93) {
      $depth = $depth - 1;
      if ($depth <= 0) { break; }
    } else if ($c == 58 && $depth == 1 && $nth < 0) {
      if (substr($s, $key, $key_end - $key) == name) { $is_value = 1; }
    } else if ($c == 44 && $depth == 1) {
      if ($is_value != 0) { break; }
      $passed = $passed + 1;
      if ($passed == $nth) { $is_value = 1; }
    }
    if ($was_value != 0 && $c > 32) {
      if ($from < 0) { $from = $i; }
      $end = $i + 1;
    }
    $i = $i + 1;
  }
  substr($s, $from < 0 ? (int64)0 : $from, $from < 0 ? (int64)0 : $end - $from)
}
macro d_json_value(s) {
  let $s = s;
  let $is_text = (int64)$s[0] == 34;
  substr($s, $is_text ? (int64)1 : (int64)0, (int64)strlen($s) - ($is_text ? (int64)2 : (int64)0))
}
macro d_at_most(n, limit) {
  let $n = (int64)(n);
  let $limit = (int64)(limit);
  $n > 0 && $n < $limit ? $n : $limit
}
macro d_kernel_place() { usermode ? (uint64)0 : (uint64)reg("ip") }
macro d_user_place() { usermode ? (uint64)reg("ip") : (uint64)0 }
macro d_call() { args.id }
macro d_call_name() { syscall_name(args.id) }
macro d_call_result() { (int64)args.ret < 0 && (int64)args.ret > -4096 ? (int64)-1 : (int64)args.ret }
macro d_call_error() { (int64)args.ret < 0 && (int64)args.ret > -4096 ? -(int64)args.ret : (int64)0 }
macro d_call_argument(n) { args.args[n] }
macro d_function() { func }
macro d_result() { retval }
)";

} // namespace dlang
