// Functions of acu's language that a converted script gets where it needs them: what SystemTap's operators and functions do, and acu's do not.
#pragma once

#include <string_view>

namespace stap {

struct Helper {
  std::string_view name, comment, text; // which may call those above it
};

inline constexpr Helper helpers[] = {
    {"quotient", "a / b of numbers with signs", R"(
fn quotient($a : int64, $b : int64) : int64 {
  $size = (uint64)($a < 0 ? -$a : $a) / (uint64)($b < 0 ? -$b : $b);
  return ($a < 0) != ($b < 0) ? -(int64)$size : (int64)$size;
}
)"},
    {"remainder", "a % b of numbers with signs", R"(
fn remainder($a : int64, $b : int64) : int64 {
  $size = (uint64)($a < 0 ? -$a : $a) % (uint64)($b < 0 ? -$b : $b);
  return $a < 0 ? -(int64)$size : (int64)$size;
}
)"},
    {"number_text", "A number as text", R"(
fn number_text($n : int64) : string {
  $left = $n < 0 ? (uint64)(-$n) : (uint64)$n;
  $text = str("", 24);
  for ($i : 0..20) {
    $text = str(str_concat(substr("0123456789", (int64)($left % 10), 1), $text), 24);
    $left = $left / 10;
    if ($left == 0) {
      break;
    }
  }
  return $n < 0 ? str(str_concat("-", $text), 24) : $text;
}
)"},
    {"padded_number", "A number as text of at least so many characters, filled with zeros, or blanks on the left or (`-`) right", R"(
fn padded_number($n : int64, $base : int64, $width : int64, $fill : string) : string {
  $has_sign = $base == 10 && $n < 0;
  $left = $has_sign ? (uint64)(-$n) : (uint64)$n;
  $text = str("", 72);
  for ($i : 0..64) {
    $text = str(str_concat(substr("0123456789abcdef", (int64)($left % (uint64)$base), 1), $text), 72);
    $left = $left / (uint64)$base;
    if ($left == 0) {
      break;
    }
  }
  if ($fill == "0") {
    for ($i : 0..64) {
      if ((int64)strlen($text) >= ($has_sign ? $width - 1 : $width)) {
        break;
      }
      $text = str(str_concat("0", $text), 72);
    }
  }
  $text = $has_sign ? str(str_concat("-", $text), 72) : $text;
  for ($i : 0..64) {
    if ((int64)strlen($text) >= $width) {
      break;
    }
    $text = $fill == "-" ? str(str_concat($text, " "), 72) : str(str_concat(" ", $text), 72);
  }
  return $text;
}
)"},
    {"thread_indent", "Microseconds since the thread's first call, the thread, and a blank for each call in it", R"(
fn thread_indent($delta : int64) : string {
  $depth = (int64)@thread_indent_depth[tid];
  if ($depth == 0) {
    @thread_indent_begin[tid] = nsecs;
  }
  $shown = $delta > 0 ? $depth + $delta : $depth;
  @thread_indent_depth[tid] = $depth + $delta;
  $text = str(number_text((uint64)(nsecs - @thread_indent_begin[tid]) / 1000), 128);
  for ($i : 0..6) {
    if (strlen($text) >= 6) {
      break;
    }
    $text = str(str_concat(" ", $text), 128);
  }
  $text = str(str_concat(str_concat($text, " "), comm), 128);
  $text = str(str_concat(str_concat(str_concat($text, "("), number_text((int64)tid)), "):"), 128);
  for ($i : 1..64) {
    if ($i >= $shown) {
      break;
    }
    $text = str(str_concat($text, " "), 128);
  }
  return $text;
}
)"},
    {"tokenize", "The next part of a text between delimiters; of an empty text, of the one before", R"(
fn tokenize($text : string, $delimiters : string) : string {
  if (strlen($text) > 0) {
    @tokenize_rest[tid] = str($text, 256);
  }
  $rest = str(@tokenize_rest[tid], 256);
  $from = (int64)0;
  for ($i : 0..256) {
    if ($rest[$from] == 0 || !strcontains($delimiters, substr($rest, $from, 1))) {
      break;
    }
    $from++;
  }
  $end = $from;
  for ($i : 0..256) {
    if ($rest[$end] == 0 || strcontains($delimiters, substr($rest, $end, 1))) {
      break;
    }
    $end++;
  }
  @tokenize_rest[tid] = str(substr($rest, $end), 256);
  return substr($rest, $from, $end - $from);
}
)"},
    {"str_replace", "A text with each occurrence of another one replaced", R"(
fn str_replace($text : string, $old : string, $new : string) : string {
  $out = str("", 256);
  $at = (int64)0;
  for ($i : 0..64) {
    $rest = str(substr($text, $at), 256);
    $found = strstr($rest, $old);
    if ($found < 0 || strlen($old) == 0) {
      break;
    }
    $out = str(str_concat(str_concat($out, substr($rest, 0, $found)), $new), 256);
    $at = $at + $found + (int64)strlen($old);
  }
  return str(str_concat($out, substr($text, $at)), 256);
}
)"},
    {"text_number", "The number that a text begins with; base 0: as the text has it", R"(
fn text_number($text : string, $base : int64) : int64 {
  $at = (int64)0;
  $value = (int64)0;
  for ($i : 0..64) {
    if ($text[$at] != 32 && $text[$at] != 9) {
      break;
    }
    $at++;
  }
  $is_negative = $text[$at] == 45;
  if ($is_negative || $text[$at] == 43) {
    $at++;
  }
  $has_prefix = $text[$at] == 48 && ($text[$at + 1] == 120 || $text[$at + 1] == 88);
  $from = $base != 0 ? $base : $has_prefix ? (int64)16 : $text[$at] == 48 ? (int64)8 : (int64)10;
  if ($has_prefix && $from == 16) {
    $at = $at + 2;
  }
  for ($i : 0..64) {
    $c = (int64)$text[$at];
    $digit = $c >= 48 && $c <= 57 ? $c - 48 : $c >= 97 && $c <= 122 ? $c - 87 : $c >= 65 && $c <= 90 ? $c - 55 : (int64)99;
    if ($digit >= $from) {
      break;
    }
    $value = $value * $from + $digit;
    $at++;
  }
  return $is_negative ? -$value : $value;
}
)"},
};

} // namespace stap
