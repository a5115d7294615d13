// Random text, and what is asked about text.
#include "session/random_writer.h"

std::string RandomWriter::word() {
  return one_of({"", "a", "ab", "abc", "nginx", "nginy", "worker", "12345678", "123456789", "a b", "aab",
                 "bab", "abababac", "a*c", "the quick brown fox jumps over",
                 "0123456789012345678901234567890123456789"});
}

std::string RandomWriter::text() {
  switch (number(8)) {
  case 0:
  case 1: return one_of(scope_.texts);
  case 2: return !scope_.names_values ? quoted() : "$t.1";
  case 3: return more_text_ ? long_text(0) : one_of(scope_.texts);
  case 4: return c_types_ ? member_text() : quoted();
  case 5: return one_of(scope_.texts);
  default: return quoted();
  }
}

std::string RandomWriter::long_text(int depth) {
  switch (number(depth > 1 ? 4 : 9)) {
  case 0: return one_of(scope_.texts);
  case 1: return "str(" + one_of(scope_.texts) + ", " + length() + ")";
  case 2:
    return one_of({"strerror", "signal_name", "syscall_name"}) + "(" +
           (chance(60) ? "(int32)" + index(140) : "(int32)" + one_of(scope_.signed_numbers)) + ")";
  case 3: return "@text[(int64)" + index(3) + "]";
  case 4: return "(" + condition(2) + " ? " + long_text(depth + 1) + " : " + quoted() + ")";
  case 5: return "(if (" + condition(2) + ") { " + quoted() + " } else { " + long_text(depth + 1) + " })";
  case 6:
    if (text_functions_.empty()) return quoted();
    return one_of(text_functions_) + "(" + wide(3) + ", " + unsigned_wide(3) + ", " + quoted() + ")";
  case 7: return macros_ ? "describe(" + wide(3) + ")" : quoted();
  default: return chance(50) ? "str($2)" : "str($2, " + length() + ")";
  }
}

std::string RandomWriter::length() {
  switch (number(3)) {
  case 0: return index(12);
  case 1: return "(" + one_of(scope_.unsigned_numbers) + " & " + one_of({"3", "7", "31"}) + ")";
  default: return "(uint64)strlen(" + one_of(scope_.texts) + ")";
  }
}

std::string RandomWriter::number_of_text(int depth) {
  switch (loops_ ? number(6) : 1 + number(3)) {
  case 0: return "(int64)strstr(" + text() + ", " + text() + ")";
  case 1: return "(int64)strncmp(" + text() + ", " + text() + ", " + length() + ")";
  case 2: return "(int64)memcmp(" + quoted() + ", " + one_of(scope_.texts) + ", " + index(2) + ")";
  case 3: return "(int64)strlen(" + long_text(1) + ")";
  case 4:
    return "(int64)globmatch(" + text() + ", " +
           one_of({"\"a*\"", "\"*b*\"", "\"?b*\"", "\"[a-n]*[!a]\"", "\"*\"", "\"\""}) + ")";
  default: return "(int64)(" + condition(depth + 1) + ")";
  }
}

std::string RandomWriter::condition_of_text() {
  switch (loops_ ? number(7) : 5 * number(2)) {
  case 5: return (chance(50) ? "!!" : "(bool)") + text();
  case 6: return text() + one_of({" < ", " <= ", " > ", " >= "}) + text();
  case 0: return "strncmp(" + text() + ", " + text() + ", " + std::to_string(1 + number(9)) + ") == 0";
  case 1: return "strcontains(" + text() + ", " + quoted() + ")";
  case 2: return "strcontains(" + text() + ", " + one_of(scope_.texts) + ")";
  case 3: return "globmatch(" + one_of(scope_.texts) + ", " + text() + ")";
  default: return "strstr(" + text() + ", " + text() + ") " + one_of({"<", ">", "=="}) + " " + index(4);
  }
}
