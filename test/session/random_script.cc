// A script is a few functions and one `begin` probe of random statements over a fixed set of variables and
// maps; each has one type, so that scripts compile. Depth and loops are bounded, so that they end.
#include "session/random_script.h"

#include <random>
#include <vector>

namespace {

class Writer {
public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string script() {
    out_ = "config = { max_map_keys = 64 }\n"
           "fn twice($a : int64) : int64 { return $a * 2 - 1; }\n"
           "fn pick($a : uint64, $b : uint64) : uint64 { if ($a > $b) { return $a & 0xffff; } return $b >> "
           "3; }\n"
           "begin {\n";
    for (int i = 0; i < 3; i++) line("$i" + std::to_string(i) + " = (int64)" + literal() + ";");
    for (int i = 0; i < 3; i++) line("$u" + std::to_string(i) + " = (uint64)" + literal() + ";");
    line("$s0 = \"" + word() + "\"; $s1 = str(\"" + word() + "\");");
    line("$t = ((int64)1, \"" + word() + "\", (int64)2);");
    // Every map gets its type and exists.
    line("@a[(int64)0] = (int64)0; @b[\"k\"] = (uint64)1; @c[(int64)1, \"k\"] = (int64)3; @n = (int64)0;");
    int statements = 6 + number(14);
    for (int i = 0; i < statements; i++) statement(0);
    for (int i = 0; i < 3; i++)
      line("printf(\"%ld %lx\\n\", $i" + std::to_string(i) + ", $u" + std::to_string(i) + ");");
    line("printf(\"%s %s\\n\", $s0, $s1); print($t);");
    return out_ + "}\n";
  }

private:
  int number(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }
  bool chance(int percent) { return number(100) < percent; }
  std::string index(int n) { return std::to_string(number(n)); }
  void line(const std::string& text) {
    out_ += std::string(2 + 2 * static_cast<size_t>(depth_), ' ') + text + "\n";
  }

  std::string literal() {
    switch (number(7)) {
    case 0: return std::to_string(number(3));
    case 1: return std::to_string(number(1000));
    case 2: return "0x" + hex(random_());
    case 3: return "0x" + hex(random_() >> 33);
    case 4: return "(-" + std::to_string(1 + number(100)) + ")";
    case 5: return std::to_string(1ULL << number(63));
    default: return number(2) ? "18446744073709551615" : "9223372036854775807";
    }
  }
  static std::string hex(uint64_t n) {
    char text[20];
    snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(n));
    return text;
  }
  std::string word() {
    static const char* words[] = {"",      "a",      "ab",       "abc",       "nginx",
                                  "nginy", "worker", "12345678", "123456789", "a b"};
    return words[number(10)];
  }
  std::string size() {
    static const char* sizes[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
    return sizes[number(8)];
  }

  // A number of either sign.
  std::string expr(int depth) {
    if (depth > 3 || chance(25)) return leaf();
    static const char* binary[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
    switch (number(12)) {
    case 0: return "(" + size() + ")(" + expr(depth + 1) + ")";
    case 1: return "(-(" + expr(depth + 1) + "))";
    case 2: return "(~(" + expr(depth + 1) + "))";
    case 3: return "((" + expr(depth + 1) + ") << " + index(64) + ")";
    case 4: return "((" + expr(depth + 1) + ") >> " + index(64) + ")";
    case 5:
      return "(" + condition(depth + 1) + " ? (int64)" + expr(depth + 1) + " : (int64)" + expr(depth + 1) +
             ")";
    case 6: return "twice((int64)(" + expr(depth + 1) + "))";
    case 7: return "pick((uint64)(" + expr(depth + 1) + "), (uint64)(" + expr(depth + 1) + "))";
    case 8: return "{ let $x = (int64)(" + expr(depth + 1) + "); $x + " + index(5) + " }";
    default: {
      std::string op = binary[number(8)];
      return "((int64)(" + expr(depth + 1) + ") " + op + " (int64)(" + expr(depth + 1) + "))";
    }
    }
  }
  std::string leaf() {
    switch (number(11)) {
    case 0:
    case 1: return "$i" + index(3);
    case 2:
    case 3: return "$u" + index(3);
    case 4: return "@a[(int64)" + index(4) + "]";
    case 5: return "@b[" + text() + "]";
    case 6: return "@n";
    case 7: return "$t.0";
    case 8: return chance(50) ? "(int64)strlen(" + text() + ")" : "bswap((uint32)$u" + index(3) + ")";
    default: return literal();
    }
  }
  std::string text() {
    switch (number(5)) {
    case 0:
    case 1: return "$s0";
    case 2: return "$s1";
    case 3: return "$t.1";
    default: return "\"" + word() + "\"";
    }
  }
  std::string condition(int depth) {
    static const char* compare[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth > 3) return "$i" + index(3) + " > " + index(9);
    switch (number(9)) {
    case 0: return "(" + condition(depth + 1) + " && " + condition(depth + 1) + ")";
    case 1: return "(" + condition(depth + 1) + " || " + condition(depth + 1) + ")";
    case 2: return "!(" + condition(depth + 1) + ")";
    case 3: return text() + (chance(50) ? " == " : " != ") + text();
    case 4: return "has_key(@a, (int64)" + index(5) + ")";
    case 5: return "strncmp(" + text() + ", " + text() + ", " + std::to_string(1 + number(9)) + ") == 0";
    case 6: return "strcontains(" + text() + ", \"" + word() + "\")";
    default:
      return "(int64)(" + expr(depth + 1) + ") " + compare[number(6)] + " (int64)(" + expr(depth + 1) + ")";
    }
  }

  void block(const std::string& head, bool in_loop) {
    line(head + " {");
    depth_++;
    int n = 1 + number(3);
    for (int i = 0; i < n; i++) statement(depth_);
    if (in_loop && chance(30))
      line("if (" + condition(2) + ") { " + (chance(50) ? "break" : "continue") + "; }");
    depth_--;
    line("}");
  }

  void statement(int depth) {
    std::string e = expr(1);
    switch (number(depth > 2 ? 17 : 22)) {
    case 0:
    case 1: return line("$i" + index(3) + " = (int64)(" + e + ");");
    case 2: return line("$u" + index(3) + " = (uint64)(" + e + ");");
    case 3: return line("$i" + index(3) + (chance(50) ? "++" : "--") + ";");
    case 4: return line("$i" + index(3) + " += (int64)(" + e + ");");
    case 5: return line("@a[(int64)" + index(6) + "] = (int64)(" + e + ");");
    case 6: return line("@b[" + text() + "] = (uint64)(" + e + ");");
    case 7: return line("@c[(int64)" + index(4) + ", " + text() + "] = (int64)(" + e + ");");
    case 8: return line(chance(50) ? "@n = (int64)(" + e + ");" : "@n++;");
    case 9: return line("@count[(int64)" + index(4) + "] = count(); @sum = sum((int64)" + index(1000) + ");");
    case 10: return line("@h = hist((int64)(" + e + ")); @l = lhist((int64)(" + e + "), 0, 100, 10);");
    case 11: return line("@min[" + text() + "] = min((int64)(" + e + ")); @max = max((uint64)(" + e + "));");
    case 12:
      return line("@avg = avg((int64)" + index(500) + "); @stats[(int64)" + index(2) + "] = stats((int64)" +
                  index(99) + ");");
    case 13:
      return line("printf(\"%d %u %lx %s|%5d|%-4x\\n\", " + e + ", $u0, $u1, " + text() +
                  ", $i0, (uint8)$u2);");
    case 14: return line("print(((int64)(" + e + "), " + text() + ", " + condition(2) + "));");
    case 15: return line("_ = delete(@a, (int64)" + index(5) + ");");
    case 16: return line(chance(50) ? "$t = ((int64)(" + e + "), $s0, $i1);" : "print(len(@a) + len(@b));");
    case 17: return block("if (" + condition(1) + ")", false);
    case 18: {
      block("if (" + condition(1) + ")", false);
      return block("else", false);
    }
    case 19: return block("unroll(" + std::to_string(1 + number(3)) + ")", true);
    case 20: return block("for ($k" + std::to_string(depth) + " : 0.." + index(6) + ")", true);
    default: {
      std::string v = "$w" + std::to_string(depth);
      line("{");
      depth_++;
      line("let " + v + " = (int64)0;");
      line("while (" + v + " < " + index(6) + ") {");
      depth_++;
      line(v + "++;");
      statement(depth_);
      if (chance(20)) line("if (" + condition(2) + ") { break; }");
      depth_--;
      line("}");
      depth_--;
      return line("}");
    }
    }
  }

  std::mt19937_64 random_;
  std::string out_;
  int depth_ = 0;
};

} // namespace

std::string random_script(uint64_t seed) { return Writer(seed).script(); }
