// Random integers and conditions.
#include "session/random_writer.h"

namespace {

std::string hex(uint64_t n) {
  char text[20];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}

} // namespace

std::string RandomWriter::literal() {
  switch (number(8)) {
  case 0: return index(3);
  case 1: return index(1000);
  case 2: return hex(random_());
  case 3: return hex(random_() >> 33);
  case 4: return "(-" + std::to_string(1 + number(100)) + ")";
  case 5: return std::to_string(1ULL << number(63));
  case 6: return one_of({"$1", "$3", "$#", "$9"});
  default:
    return one_of({"18446744073709551615", "9223372036854775807", "(-9223372036854775808)", "4294967295"});
  }
}

// As a value of some width: only literals can be out of range when they meet each other.
std::string RandomWriter::typed_literal() {
  if (chance(15)) return "(int64)(" + index(100) + one_of({" + ", " - ", " * ", " & ", " | ", " ^ ", " << ", " >> "}) + index(60) + ")";
  return "(" + (chance(70) ? one_of({"int64", "uint64"}) : integer_type()) + ")" + literal();
}

// A number of a small type, or one that takes the type of what it meets.
std::string RandomWriter::narrow() {
  switch (number(6)) {
  case 0: return index(300);
  case 1: return "-" + index(200);
  case 2: return "(" + integer_type() + ")(" + leaf() + ")";
  default: return "(" + one_of({"int8", "uint8", "int16", "uint16"}) + ")(" + leaf() + ")";
  }
}

std::string RandomWriter::integer_type() {
  return one_of({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"});
}

std::string RandomWriter::expr(int depth) {
  if (depth > 3 || chance(25)) return leaf();
  switch (number(15)) {
  case 0: return "(" + integer_type() + ")(" + expr(depth + 1) + ")";
  case 1: return "(-(" + expr(depth + 1) + "))";
  case 2: return "(~(" + expr(depth + 1) + "))";
  case 3:
    return "((" + expr(depth + 1) + ") << " + (chance(80) ? index(64) : "(" + expr(depth + 1) + " & 63)") +
           ")";
  case 4:
    return "((" + expr(depth + 1) + ") >> " + (chance(80) ? index(64) : "(" + expr(depth + 1) + " & 63)") +
           ")";
  case 5: return "(" + condition(depth + 1) + " ? " + wide(depth + 1) + " : " + wide(depth + 1) + ")";
  case 6:
    return "(int64)if (" + condition(depth + 1) + ") { " + wide(depth + 1) + " } else { " + wide(depth + 1) +
           " }";
  case 7: {
    std::string v = fresh("$x");
    return "{ let " + v + " = " + wide(depth + 1) + "; " + v + " + " + index(5) + " }";
  }
  case 8:
    if (!plain_functions_.empty() && chance(60))
      return one_of(plain_functions_) + "(" + wide(depth + 1) + ", " + unsigned_wide(depth + 2) + ")";
    if (numeric_functions_.empty()) return leaf();
    return one_of(numeric_functions_) + "(" + wide(depth + 1) + ", " + unsigned_wide(depth + 2) + ", " +
           text() + ")";
  case 9:
    if (!macros_) return leaf();
    if (chance(30)) return "TWICE((" + expr(depth + 1) + "))";
    if (chance(50) && scope_.names_values)
      return "bump(" + one_of(scope_.signed_numbers) + ", " + wide(3) + ")";
    return "clip(" + wide(depth + 1) + ", (int64)" + literal() + ", (int64)BASE)";
  case 10: return number_of_text(depth);
  case 11: return "(" + wide(depth + 1) + " " + one_of({"/", "%"}) + " " + wide(depth + 1) + ")";
  case 12:
    return "(" + expr(depth + 1) + " " + one_of({"+", "-", "*", "&", "|", "^"}) + " " + expr(depth + 1) + ")";
  default:
    return "(" + wide(depth + 1) + " " + one_of({"+", "-", "*", "&", "|", "^"}) + " " + wide(depth + 1) + ")";
  }
}

std::string RandomWriter::leaf() {
  switch (number(12)) {
  case 0:
  case 1: return one_of(scope_.signed_numbers);
  case 2:
  case 3: return one_of(scope_.unsigned_numbers);
  case 4:
  case 5: return map_number();
  case 6: return !scope_.names_values ? typed_literal() : "$t." + one_of({"0", "2"});
  case 7:
    return chance(50) ? "(int64)strlen(" + text() + ")"
                      : "bswap((" + integer_type() + ")" + one_of(scope_.unsigned_numbers) + ")";
  case 8: return c_types_ ? member_number() : typed_literal();
  case 9: return values_ ? array_element() : typed_literal();
  default: return typed_literal();
  }
}

std::string RandomWriter::condition(int depth) {
  if (depth > 3) return one_of(scope_.signed_numbers) + " > " + index(9);
  switch (number(10)) {
  case 0: return "(" + condition(depth + 1) + " && " + condition(depth + 1) + ")";
  case 1: return "(" + condition(depth + 1) + " || " + condition(depth + 1) + ")";
  case 2: return "!(" + condition(depth + 1) + ")";
  case 3: return text() + (chance(50) ? " == " : " != ") + text();
  case 4: return "has_key(@a, (int64)" + index(5) + ")";
  case 5:
  case 6: return condition_of_text();
  case 7: return comparison_of_values(depth);
  default: return wide(depth + 1) + " " + one_of({"<", "<=", ">", ">=", "==", "!="}) + " " + wide(depth + 1);
  }
}

std::string RandomWriter::comparison_of_values(int depth) {
  std::string compare = one_of({" == ", " != "});
  if (!values_ || !scope_.names_values)
    return unsigned_wide(depth + 1) + one_of({" < ", " >= ", " != "}) + unsigned_wide(depth + 1);
  switch (number(6)) {
  case 4: return "$w" + compare + (chance(50) ? "@w[(int64)" + index(3) + "]" : narrow_tuple());
  case 5: return record(3) + compare + (chance(50) ? "$r" : record(3));
  case 0: return "$q" + compare + (chance(50) ? "@q[(int64)" + index(3) + "]" : small_tuple(3));
  case 1: return "$r" + compare + (chance(50) ? "@r" : record(3));
  case 2: return "$bytes" + compare + "(uint8[8])" + unsigned_wide(3);
  default: return "($i0, " + text() + ")" + compare + "($i1, " + text() + ")";
  }
}
