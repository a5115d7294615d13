// Random statements: assignments, output, branches and loops.
#include "session/random_writer.h"

// Without blocks: also inside functions.
void RandomWriter::simple_statement() {
  std::string e = expr(1);
  switch (number(7)) {
  case 0:
  case 1: return line(one_of(scope_.signed_numbers) + " = (int64)(" + e + ");");
  case 2: return line(one_of(scope_.unsigned_numbers) + " = (uint64)(" + e + ");");
  case 3: return line(one_of(scope_.signed_numbers) + (chance(50) ? "++" : "--") + ";");
  case 4:
    return line(one_of(scope_.signed_numbers) +
                one_of({" += ", " -= ", " *= ", " /= ", " %= ", " <<= ", " >>= ", " ^= "}) + "(int64)(" + e + ")" +
                ";");
  case 5: return line("@a[(int64)" + index(6) + "] = (int64)(" + e + ");");
  default: return line("@n += (int64)(" + e + ");");
  }
}

void RandomWriter::print_statement() {
  std::string e = expr(1);
  switch (number(7)) {
  case 0:
  case 1:
    return line("printf(\"%d %u %lx %s|%5d|%-4x\\n\", " + e + ", $u0, $u1, " + text() +
                ", $i0, (uint8)$u2);");
  case 2: return line("print((" + wide(1) + ", " + text() + ", " + condition(2) + "));");
  case 3:
    return line("printf(\"%s|%-10s|%8s|%c\\n\", " + text() + ", " + text() + ", " + long_text(0) +
                ", (uint8)(65 + ($u0 & 15)));");
  case 4: return line("print(" + text() + "); print((" + integer_type() + ")(" + e + "));");
  case 5: return line("print(buf(" + one_of(scope_.texts) + ", " + length() + "));");
  default: return line("printf(\"%lld %hhx %o %%\\n\", " + wide(2) + ", " + e + ", (uint32)$u1);");
  }
}

void RandomWriter::block(const std::string& head, bool in_loop) {
  open(head);
  for (int i = 1 + number(3); i > 0; i--) statement(static_cast<int>(depth_) - 1);
  if (in_loop && chance(40))
    line("if (" + condition(2) + ") { " + (chance(50) ? "break" : "continue") + "; }");
  if (in_loop && chance(30)) simple_statement();
  close();
}

void RandomWriter::loop(int depth) {
  std::string v = fresh("$w");
  switch (loops_ ? number(5) : 0) {
  case 0: return block("unroll(" + std::to_string(1 + number(3)) + ")", true);
  case 1:
    return block("for (" + v + " : 0.." +
                     (chance(60) ? index(6) : "(" + one_of(scope_.signed_numbers) + " & 7)") + ")",
                 true);
  case 2: return block("for (let " + v + " = (int64)0; " + v + " < " + index(6) + "; " + v + "++)", true);
  case 3: return map_loop();
  default: {
    open("");
    line("let " + v + " = (int64)0;");
    open("while (" + v + " < " + index(6) + ")");
    line(v + "++;");
    statement(depth + 2);
    if (chance(30)) line("if (" + condition(2) + ") { " + (chance(50) ? "break" : "continue") + "; }");
    simple_statement();
    close();
    return close();
  }
  }
}

// The kernel has eight frames in all for loops inside each other and the functions that are called in them.
void RandomWriter::statement(int depth) {
  switch (number(depth > (functions_ ? 1 : 2) ? 10 : 14)) {
  case 0:
  case 1:
  case 2: return simple_statement();
  case 3:
  case 4: return map_statement(depth);
  case 5:
  case 6: return print_statement();
  case 7:
    return line(chance(50) ? "$t = (" + wide(1) + ", " + text() + ", $i1);"
                           : one_of({"$s0", "$s1"}) + " = " + long_text(0) + ";");
  case 8: return aggregations_ ? aggregate_statement(depth) : map_statement(depth);
  case 9:
    return c_types_ || values_ ? value_statement()
           : macros_ && loops_ ? line("add_up($i1, " + index(6) + ");")
                               : simple_statement();
  case 10: {
    block("if (" + condition(1) + ")", false);
    if (chance(30)) block("else if (" + condition(1) + ")", false);
    if (chance(60)) block("else", false);
    return;
  }
  default: return loop(depth);
  }
}
